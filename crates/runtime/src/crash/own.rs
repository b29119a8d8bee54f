//! What the file of an executable says of its own code: symbols and lines.
//!
//! C and LLVM's code comes with no table of lines of ours, and functions in C have no order that is known
//! before they are linked. But an executable has a table of symbols, and with information for debuggers
//! DWARF's table of lines. Both are read when the program has faulted: from its file, which is
//! mapped for that. A file that does not make sense says nothing.

use core::ffi::{c_int, c_void};

use super::lines;
use crate::sys;

/// The file of the executable that runs.
pub(super) struct OwnFile {
    format: &'static Format,
    symbols: &'static [u8],
    names: &'static [u8],
    /// `.debug_line`
    lines: &'static [u8],
    /// `.debug_line_str`
    line_names: &'static [u8],
    /// From the first function to the end of the last one.
    code: (usize, usize),
}

/// Where the words are that ELF's structures have, in files of 64 bits and of 32.
struct Format {
    /// Bytes of a word.
    word: usize,
    /// In the file's header: where the section headers are, their number, and which one has the names.
    sections: [usize; 3],
    /// Bytes of a section header; where it has the place in the file, the size, and the link.
    section: (usize, [usize; 3]),
    /// Bytes of a symbol; where it has the value, the size, and what it is.
    symbol: (usize, [usize; 3]),
}

const WIDE: Format = Format {
    word: 8,
    sections: [0x28, 0x3c, 0x3e],
    section: (64, [0x18, 0x20, 0x28]),
    symbol: (24, [8, 16, 4]),
};

const NARROW: Format = Format {
    word: 4,
    sections: [0x20, 0x30, 0x32],
    section: (40, [0x10, 0x14, 0x18]),
    symbol: (16, [4, 8, 12]),
};

impl Format {
    fn word(&self, bytes: &[u8], at: usize) -> Option<usize> {
        let n = match self.word {
            4 => number::<4>(bytes, at),
            _ => number::<8>(bytes, at),
        };
        usize::try_from(n?).ok()
    }
}

/// A table of symbols.
const SYMTAB: u32 = 2;
/// A section whose contents are compressed.
const COMPRESSED: usize = 0x800;
/// A symbol of a function.
const FUNC: u8 = 2;

pub(super) fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(N)?)?;
    Some((bytes.iter().rev()).fold(0, |n, b| n << 8 | u64::from(*b)))
}

/// The bytes up to a zero byte.
pub(super) fn text(bytes: &[u8], at: usize) -> Option<&[u8]> {
    let rest = bytes.get(at..)?;
    let end = rest.iter().position(|b| *b == 0)?;
    Some(&rest[..end])
}

impl OwnFile {
    /// Maps the file.
    pub(super) fn open() -> Option<OwnFile> {
        const READ: c_int = 1;
        const PRIVATE: c_int = 2;
        const END: c_int = 2;
        // SAFETY: a fresh mapping that nobody writes to, which stays.
        let file = unsafe {
            let fd = sys::open(c"/proc/self/exe".as_ptr(), 0);
            if fd < 0 {
                return None;
            }
            let len = sys::lseek(fd, 0, END);
            let len = usize::try_from(len).ok().filter(|n| *n > 0);
            let start = len
                .map(|len| sys::mmap(core::ptr::null_mut::<c_void>(), len, READ, PRIVATE, fd, 0));
            sys::close(fd);
            let start = start.filter(|s| *s as isize != -1)?;
            core::slice::from_raw_parts(start as *const u8, len?)
        };
        OwnFile::of(file)
    }

    /// What that file says, an ELF file, lowest byte first.
    fn of(file: &'static [u8]) -> Option<OwnFile> {
        let format = match file.get(..6)? {
            b"\x7fELF\x02\x01" => &WIDE,
            b"\x7fELF\x01\x01" => &NARROW,
            _ => return None,
        };
        let [start, count, names] = format.sections;
        let start = format.word(file, start)?;
        let count = number::<2>(file, count)? as usize;
        let names = number::<2>(file, names)? as usize;
        let (section, [place, size, link]) = format.section;
        let header = |i: usize| {
            let at = start.checked_add(i.checked_mul(section)?)?;
            file.get(at..at.checked_add(section)?)
        };
        let contents = |header: &[u8]| -> Option<&'static [u8]> {
            if format.word(header, 8)? & COMPRESSED != 0 {
                return None;
            }
            let at = format.word(header, place)?;
            file.get(at..at.checked_add(format.word(header, size)?)?)
        };
        let section_names = contents(header(names)?)?;
        let nothing: &'static [u8] = &[];
        let mut own = OwnFile {
            format,
            symbols: nothing,
            names: nothing,
            lines: nothing,
            line_names: nothing,
            code: (0, 0),
        };
        for i in 0..count {
            let this = header(i)?;
            let Some(bytes) = contents(this) else {
                continue;
            };
            if number::<4>(this, 4)? as u32 == SYMTAB {
                own.symbols = bytes;
                own.names = contents(header(number::<4>(this, link)? as usize)?)?;
            }
            match text(section_names, number::<4>(this, 0)? as usize) {
                Some(b".debug_line") => own.lines = bytes,
                Some(b".debug_line_str") => own.line_names = bytes,
                _ => {}
            }
        }
        let start = own.functions().map(|(start, ..)| start).min();
        let end = own
            .functions()
            .map(|(start, size, _)| start.saturating_add(size));
        own.code = (start.unwrap_or(0), end.max().unwrap_or(0));
        Some(own)
    }

    /// Where functions start, their sizes, and where their names are.
    fn functions(&self) -> impl Iterator<Item = (usize, usize, usize)> {
        let format = self.format;
        let (symbol, [value, size, what]) = format.symbol;
        let functions = self.symbols.chunks_exact(symbol);
        let functions = functions.filter(move |s| s[what] & 15 == FUNC);
        functions.filter_map(move |s| {
            let start = format.word(s, value).filter(|start| *start != 0)?;
            let size = format.word(s, size)?;
            Some((start, size, number::<4>(s, 0)? as usize))
        })
    }

    fn function_at(&self, pc: usize) -> Option<(usize, usize, usize)> {
        if !(self.code.0..self.code.1).contains(&pc) {
            return None;
        }
        (self.functions()).find(|(start, size, _)| pc.wrapping_sub(*start) < *size)
    }

    /// The name of the function that the code at an address belongs to, without what C compilers append
    /// to the names of parts and copies: `f.cold`, `f.part.0`.
    pub(super) fn function(&self, pc: usize) -> Option<&'static [u8]> {
        let (.., name) = self.function_at(pc)?;
        let name = text(self.names, name)?;
        let end = name.iter().position(|b| *b == b'.');
        Some(&name[..end.unwrap_or(name.len())])
    }

    /// The line of that file that the code at an address comes from.
    pub(super) fn line(&self, pc: usize, file: &[u8]) -> Option<u32> {
        let (start, ..) = self.function_at(pc)?;
        lines::find(
            self.lines,
            self.line_names,
            start,
            pc,
            lines::last_part(file),
        )
    }
}

/// The hash by which the table of places of a program in C knows a function: FNV-1a of its name.
pub(super) fn hash(name: &[u8]) -> u64 {
    (name.iter()).fold(0xcbf2_9ce4_8422_2325, |h, b| {
        (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "Miri keeps programs from files")]
    fn the_own_file_has_functions() {
        let own = OwnFile::open().unwrap();
        let (start, size, _) = own.functions().find(|(_, size, _)| *size > 1).unwrap();
        let name = own.function(start).unwrap();
        assert!(!name.is_empty());
        assert_eq!(own.function(start + size - 1), Some(name));
        assert_eq!(own.function(0), None);
    }

    #[test]
    fn hashes_as_fnv_does() {
        assert_eq!(hash(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(hash(b"a"), 0xaf63_dc4c_8601_ec8c);
    }

    #[test]
    fn what_makes_no_sense_says_nothing() {
        assert!(OwnFile::of(b"\x7fELF\x02\x01").is_none());
        assert!(OwnFile::of(b"no file").is_none());
    }
}
