//! Sections, and how they are found and checked.

use std::cell::Cell;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::slice;

use serde::{Deserialize, Serialize};
use taipan_codegen_cranelift::{FiledLayout, LARGEST_PAGE};
use taipan_jit::DriverInfo;
use taipan_lltype::{StaticSym, from_bytes, to_bytes};

/// Mark at the end of an executable's file.
const MARK: &[u8; 16] = b"taipan program 2";
const HASH: usize = 32;
/// Offset and length of the header, its hash, the mark.
const TRAILER: usize = 8 + 8 + HASH + MARK.len();
/// Message for a damaged file.
pub(crate) const DAMAGED: &str = "the program in it is damaged";

/// Sections behind the runtime, in file order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SectionId {
    /// Machine code, mapped.
    Code,
    /// Data, mapped.
    Data,
    /// The functions of C libraries that the program brings, as a shared object.
    Library,
    /// Names of types and functions that the other tables mention.
    Names,
    /// The functions that compiled code may call.
    Functions,
    /// Kinds of memory that the touch sets refer to.
    TouchKinds,
    /// Index of the next.
    TouchIndex,
    /// What functions do to memory.
    Touches,
    /// Index of the next.
    GraphIndex,
    /// Timeshifted graphs.
    Graphs,
    /// Bodies of structs.
    Bodies,
    /// Where functions and prebuilt data are.
    Places,
    /// The functions among them, in the order of their places.
    PlaceOrder,
    /// Source lines and facts that only the log needs.
    Sources,
}

impl SectionId {
    pub(crate) const COUNT: usize = SectionId::Sources as usize + 1;
}

/// Position and hash of a section.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct Section {
    offset: u64,
    length: u64,
    /// None for mapped sections and for sections whose records are checked separately. For a section that is checked in
    /// pieces, the hash of the list of hashes behind it.
    hash: Option<[u8; HASH]>,
}

/// Header: the only part read at start.
#[derive(Serialize, Deserialize)]
pub(crate) struct Header {
    pub(crate) layout: FiledLayout,
    pub(crate) sections: Vec<Section>,
    /// The address of the runtime's state in the executable that the program was laid out for.
    pub(crate) state: u64,
    pub(crate) drivers: Vec<DriverInfo>,
    pub(crate) exceptions: Vec<(StaticSym, StaticSym)>,
    /// Regions are optimised on a second thread, unless the environment says otherwise.
    pub(crate) background: bool,
}

/// A file that is being written.
pub(crate) struct Writer {
    bytes: Vec<u8>,
    pub(crate) sections: Vec<Section>,
}

impl Writer {
    /// One that begins with an executable.
    pub(crate) fn new(executable: &[u8]) -> Writer {
        Writer {
            bytes: executable.to_vec(),
            sections: Vec::new(),
        }
    }

    /// Adds the next section, which is mapped.
    pub(crate) fn mapped(&mut self, id: SectionId, bytes: &[u8]) {
        self.bytes
            .resize(self.bytes.len().next_multiple_of(LARGEST_PAGE), 0);
        self.unchecked(id, bytes);
    }

    /// Adds the next section, whose parts are checked one by one.
    pub(crate) fn unchecked(&mut self, id: SectionId, bytes: &[u8]) {
        debug_assert_eq!(self.sections.len(), id as usize);
        self.sections.push(Section {
            offset: self.bytes.len() as u64,
            length: bytes.len() as u64,
            hash: None,
        });
        self.bytes.extend_from_slice(bytes);
    }

    /// Adds the next section, which is checked as a whole.
    pub(crate) fn checked(&mut self, id: SectionId, bytes: &[u8]) {
        self.unchecked(id, bytes);
        if let Some(section) = self.sections.last_mut() {
            section.hash = Some(*blake3::hash(bytes).as_bytes());
        }
    }

    /// Adds the next section, which is checked in pieces.
    pub(crate) fn pieces(&mut self, id: SectionId, bytes: &[u8]) {
        self.unchecked(id, bytes);
        let checks: Vec<u8> = bytes.chunks(PIECE).flat_map(check).collect();
        if let Some(section) = self.sections.last_mut() {
            section.hash = Some(*blake3::hash(&checks).as_bytes());
        }
        self.bytes.extend(checks);
    }

    /// Adds the next two sections: records that are read and checked one by one, and their index.
    pub(crate) fn records(&mut self, index: SectionId, id: SectionId, records: &[Vec<u8>]) {
        let mut ends = Vec::new();
        let mut end = 0;
        for record in records {
            end += record.len() as u64;
            ends.extend_from_slice(&end.to_le_bytes());
            ends.extend_from_slice(&check(record));
        }
        self.pieces(index, &ends);
        self.unchecked(id, &records.concat());
    }

    /// The file with its header. None if that cannot be serialized.
    pub(crate) fn finish(mut self, header: &Header) -> Option<Vec<u8>> {
        let header = to_bytes(header)?;
        let offset = self.bytes.len() as u64;
        self.bytes.extend_from_slice(&header);
        self.bytes.extend_from_slice(&offset.to_le_bytes());
        self.bytes
            .extend_from_slice(&(header.len() as u64).to_le_bytes());
        self.bytes
            .extend_from_slice(blake3::hash(&header).as_bytes());
        self.bytes.extend_from_slice(MARK);
        Some(self.bytes)
    }
}

/// Size of a piece in bytes.
const PIECE: usize = 4096;

/// Size of an index entry in bytes: end of the record, and its hash.
const ENTRY: usize = 8 + CHECK;
const CHECK: usize = 8;

/// Hash of a record or of a piece.
fn check(record: &[u8]) -> [u8; CHECK] {
    let mut check = [0; CHECK];
    check.copy_from_slice(&blake3::hash(record).as_bytes()[..CHECK]);
    check
}

/// The program behind an executable, in memory page by page, as it is read.
#[derive(Clone)]
pub(crate) struct Container {
    mapping: &'static [u8],
    sections: Vec<Section>,
}

impl Container {
    /// Opens that of a file.
    pub(crate) fn open(file: &File) -> io::Result<(Header, Container)> {
        let damaged = || io::Error::new(io::ErrorKind::InvalidData, DAMAGED);
        let size = file.metadata()?.len();
        let at = size.checked_sub(TRAILER as u64).ok_or_else(damaged)?;
        let mut trailer = [0; TRAILER];
        file.read_exact_at(&mut trailer, at)?;
        let (lengths, rest) = trailer.split_at(16);
        let (hash, mark) = rest.split_at(HASH);
        let (offset, length) = (word(lengths, 0), word(lengths, 8));
        if mark != MARK || offset.checked_add(length) != Some(at) {
            return Err(damaged());
        }
        let mut header = vec![0; length as usize];
        file.read_exact_at(&mut header, offset)?;
        if blake3::hash(&header).as_bytes() != hash {
            return Err(damaged());
        }
        let mut header: Header = from_bytes(&header).ok_or_else(damaged)?;
        let sections = std::mem::take(&mut header.sections);
        let is_inside = |s: &Section| s.offset.checked_add(s.length).is_some_and(|e| e <= offset);
        if sections.len() != SectionId::COUNT || !sections.iter().all(is_inside) {
            return Err(damaged());
        }
        let container = Container {
            mapping: map(file, size as usize)?,
            sections,
        };
        Ok((header, container))
    }

    /// Where a section begins in the file.
    pub(crate) fn offset(&self, id: SectionId) -> u64 {
        self.sections[id as usize].offset
    }

    /// A section that is checked as a whole; none if it is damaged.
    pub(crate) fn section(&self, id: SectionId) -> Option<&'static [u8]> {
        let bytes = self.bytes(id);
        let hash = self.sections[id as usize].hash?;
        (blake3::hash(bytes) == hash).then_some(bytes)
    }

    /// A section that is checked in pieces; none if their hashes are damaged.
    pub(crate) fn pieces(&self, id: SectionId) -> Option<Pieces> {
        let bytes = self.bytes(id);
        let start = self.sections[id as usize].offset as usize + bytes.len();
        let count = bytes.len().div_ceil(PIECE);
        let checks = self.mapping.get(start..start + count * CHECK)?;
        let hash = self.sections[id as usize].hash?;
        (blake3::hash(checks) == hash).then(|| Pieces {
            bytes,
            checks,
            checked: vec![Cell::new(false); count].into(),
        })
    }

    /// The record of that number; none if it is damaged.
    pub(crate) fn record(&self, index: &Pieces, id: SectionId, number: usize) -> Option<&[u8]> {
        let entry = |n: usize| index.get(n * ENTRY..(n + 1) * ENTRY);
        let start = match number.checked_sub(1) {
            Some(before) => word(entry(before)?, 0) as usize,
            None => 0,
        };
        let entry = entry(number)?;
        let record = self.bytes(id).get(start..word(entry, 0) as usize)?;
        (entry[8..] == check(record)).then_some(record)
    }

    fn bytes(&self, id: SectionId) -> &'static [u8] {
        let section = &self.sections[id as usize];
        let range: Range<usize> =
            section.offset as usize..(section.offset + section.length) as usize;
        &self.mapping[range]
    }
}

/// A section whose pieces are checked at their first read.
pub(crate) struct Pieces {
    bytes: &'static [u8],
    checks: &'static [u8],
    /// For each piece.
    checked: Box<[Cell<bool>]>,
}

impl Pieces {
    /// The pieces of a section.
    #[cfg(test)]
    pub(crate) fn of(bytes: Vec<u8>) -> Pieces {
        let checks: Vec<u8> = bytes.chunks(PIECE).flat_map(check).collect();
        Pieces {
            checked: vec![Cell::new(false); checks.len() / CHECK].into(),
            bytes: bytes.leak(),
            checks: checks.leak(),
        }
    }

    /// The bytes of a range. None if the range is outside of the section, or the bytes are damaged.
    pub(crate) fn get(&self, range: Range<usize>) -> Option<&'static [u8]> {
        let found = self.bytes.get(range.clone())?;
        for piece in range.start / PIECE..range.end.div_ceil(PIECE) {
            let checked = self.checked.get(piece)?;
            if !checked.get() {
                let start = piece * PIECE;
                let bytes = &self.bytes[start..self.bytes.len().min(start + PIECE)];
                let hash = &self.checks[piece * CHECK..(piece + 1) * CHECK];
                if check(bytes) != hash {
                    return None;
                }
                checked.set(true);
            }
        }
        Some(found)
    }
}

fn word(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(word)
}

/// Maps a file for good. Nothing is read of it yet, and no descriptor is needed.
fn map(file: &File, size: usize) -> io::Result<&'static [u8]> {
    // SAFETY: a new mapping, which nobody ever unmaps. The system lets nobody write to the file of an
    // executable that runs.
    unsafe {
        let (access, flags) = (libc::PROT_READ, libc::MAP_PRIVATE);
        let at = libc::mmap(
            std::ptr::null_mut(),
            size,
            access,
            flags,
            file.as_raw_fd(),
            0,
        );
        match at {
            libc::MAP_FAILED => Err(io::Error::last_os_error()),
            at => Ok(slice::from_raw_parts(at.cast(), size)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use taipan_codegen::Image;
    use taipan_codegen_cranelift::FiledImage;

    use super::{Container, Header, SectionId, Writer};

    const RUNTIME: &[u8] = b"an executable";
    const NAMES: &[u8] = b"names";
    /// Number of repetitions of the names, so that the section has several pieces.
    const TIMES: usize = 1000;
    const PIECES: &[SectionId] = &[
        SectionId::Names,
        SectionId::Functions,
        SectionId::TouchKinds,
        SectionId::TouchIndex,
        SectionId::GraphIndex,
        SectionId::Bodies,
        SectionId::Places,
        SectionId::PlaceOrder,
    ];

    fn file() -> Vec<u8> {
        let filed = FiledImage::new(&Image::default(), |_| None).expect("an image");
        let mut out = Writer::new(RUNTIME);
        out.mapped(SectionId::Code, b"code");
        out.mapped(SectionId::Data, b"data");
        out.checked(SectionId::Library, b"library");
        out.pieces(SectionId::Names, &NAMES.repeat(TIMES));
        out.pieces(SectionId::Functions, b"functions");
        out.pieces(SectionId::TouchKinds, b"kinds");
        let records = ["one", "", "three"].map(|r| r.as_bytes().to_vec());
        out.records(SectionId::TouchIndex, SectionId::Touches, &records);
        out.records(SectionId::GraphIndex, SectionId::Graphs, &records);
        out.pieces(SectionId::Bodies, b"bodies");
        out.pieces(SectionId::Places, b"");
        out.pieces(SectionId::PlaceOrder, b"order");
        out.checked(SectionId::Sources, b"sources");
        let header = Header {
            layout: filed.layout,
            sections: std::mem::take(&mut out.sections),
            state: 7,
            drivers: Vec::new(),
            exceptions: Vec::new(),
            background: false,
        };
        out.finish(&header).expect("a file")
    }

    /// All that is checked of a file, in order; none for what is damaged.
    fn read(bytes: &[u8]) -> Option<Vec<Option<Vec<u8>>>> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        std::fs::write(&path, bytes).expect("it is written");
        let file = File::open(path).expect("it is there");
        let (_, container) = Container::open(&file).ok()?;
        let whole = [SectionId::Library, SectionId::Sources].map(|id| container.section(id));
        let mut all: Vec<_> = whole.map(|s| s.map(<[u8]>::to_vec)).to_vec();
        for id in PIECES {
            let pieces = container.pieces(*id)?;
            let length = container.bytes(*id).len();
            let parts = (0..length).step_by(1000);
            all.extend(parts.map(|at| {
                let part = pieces.get(at..length.min(at + 1000));
                part.map(<[u8]>::to_vec)
            }));
            assert!(pieces.get(length..length + 1).is_none());
        }
        for (index, id) in [
            (SectionId::TouchIndex, SectionId::Touches),
            (SectionId::GraphIndex, SectionId::Graphs),
        ] {
            let index = container.pieces(index)?;
            let record = |n| container.record(&index, id, n).map(<[u8]>::to_vec);
            all.extend((0..4).map(record));
        }
        Some(all)
    }

    #[test]
    fn what_was_written_is_read() {
        let all = read(&file()).expect("a program");
        assert_eq!(all[0].as_deref(), Some(&b"library"[..]));
        assert_eq!(all[1].as_deref(), Some(&b"sources"[..]));
        let names: Vec<u8> = all[2..7].iter().flatten().flatten().copied().collect();
        assert_eq!(names, NAMES.repeat(TIMES));
        assert_eq!(all[7].as_deref(), Some(&b"functions"[..]));
        let records = all[all.len() - 8..].iter();
        let records: Vec<_> = records.map(Option::as_deref).collect();
        let expected = [Some(&b"one"[..]), Some(b""), Some(b"three"), None];
        assert_eq!(records, [expected, expected].concat());
    }

    /// Whatever byte is another one, nothing is read that was not written.
    #[test]
    fn damage_is_found() {
        let whole = file();
        let expected = read(&whole).expect("a program");
        // Before is the executable, and what is mapped.
        let first = whole.windows(7).position(|w| w == b"library");
        let first = first.expect("the first section that is checked");
        let names = NAMES.repeat(TIMES);
        let names = whole.windows(names.len()).position(|w| w == names);
        let names = names.expect("the names");
        let names = names + 10..names + NAMES.len() * TIMES - 10;
        let places =
            (first - 8..whole.len()).filter(|at| !names.contains(at) || at.is_multiple_of(97));
        let (mut found, mut wanted) = (0, 0);
        for at in places {
            wanted += usize::from(at >= first);
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            let Some(all) = read(&damaged) else {
                found += 1;
                continue;
            };
            found += usize::from(all != expected);
            for (got, expected) in all.iter().zip(&expected) {
                assert!(got.is_none() || got == expected, "{at}");
            }
        }
        assert_eq!(found, wanted);
        for length in (0..whole.len()).step_by(97) {
            assert!(read(&whole[..length]).is_none(), "{length}");
        }
    }
}
