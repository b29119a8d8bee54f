//! Files of many entries, written once and never changed.
//!
//! ```text
//! MAGIC │ values, one after the other │ rows, sorted by key │ where the rows start,
//! their number, their tag, MAGIC
//! ```
//!
//! A row has the tag of its value, a keyed hash, so a damaged or forged value costs one entry, and
//! damaged or forged rows cost the file. Nothing is mapped: a file that somebody truncates meanwhile
//! gives short reads, not signals.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use taipan_platform::open_regular;

use super::Key;
use crate::secret::{CacheSecret, Purpose, Tag};

const MAGIC: &[u8; 8] = b"TaipanP2";
const ROW: usize = 56;
const TRAILER: usize = 8 + 8 + 16 + 8;

/// Values shorter than this are not worth compressing.
const COMPRESS_FROM: usize = 128;

/// A value as it stands in a file.
#[derive(Clone)]
pub(super) struct Stored {
    pub(super) bytes: Vec<u8>,
    /// Length once decompressed; 0 for what is not compressed.
    raw_len: u32,
    tag: Tag,
}

impl Stored {
    /// Compresses the value of a key if it gets at least an eighth shorter. None for values that
    /// are too long for the format.
    pub(super) fn new(secret: CacheSecret, key: Key, value: Vec<u8>) -> Option<Stored> {
        let raw_len = u32::try_from(value.len()).ok()?;
        let (bytes, raw_len) = if value.len() < COMPRESS_FROM {
            (value, 0)
        } else {
            let small = lz4_flex::block::compress(&value);
            if small.len() < value.len() - value.len() / 8 {
                (small, raw_len)
            } else {
                (value, 0)
            }
        };
        let tag = value_tag(secret, key, raw_len, &bytes);
        Some(Stored {
            bytes,
            raw_len,
            tag,
        })
    }

    /// The value of that key; none if the bytes are not those that were stored.
    pub(super) fn value(self, secret: CacheSecret, key: Key) -> Option<Vec<u8>> {
        if value_tag(secret, key, self.raw_len, &self.bytes) != self.tag {
            return None;
        }
        match self.raw_len {
            0 => Some(self.bytes),
            n => lz4_flex::block::decompress(&self.bytes, n as usize).ok(),
        }
    }
}

fn value_tag(secret: CacheSecret, key: Key, raw_len: u32, bytes: &[u8]) -> Tag {
    secret.tag(Purpose::Value, &[&key.0, &raw_len.to_le_bytes(), bytes])
}

/// An entry of a pack: where its value is and when it was last used.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub(super) key: Key,
    offset: u64,
    len: u32,
    raw_len: u32,
    tag: Tag,
    /// Seconds since 1970.
    pub(super) used: u32,
    /// Whether the row has a value, or only tells that the entry was used.
    pub(super) has_value: bool,
}

impl Row {
    fn encode(&self) -> [u8; ROW] {
        let mut out = [0; ROW];
        out[..16].copy_from_slice(&self.key.0);
        out[16..24].copy_from_slice(&self.offset.to_le_bytes());
        out[24..28].copy_from_slice(&self.len.to_le_bytes());
        out[28..32].copy_from_slice(&self.raw_len.to_le_bytes());
        out[32..48].copy_from_slice(&self.tag);
        out[48..52].copy_from_slice(&self.used.to_le_bytes());
        out[52] = u8::from(self.has_value);
        out
    }

    fn decode(b: &[u8]) -> Row {
        let u32_at = |i: usize| u32::from_le_bytes(b[i..i + 4].try_into().expect("four bytes"));
        let u64_at = |i: usize| u64::from_le_bytes(b[i..i + 8].try_into().expect("eight bytes"));
        Row {
            key: Key(b[..16].try_into().expect("sixteen bytes")),
            offset: u64_at(16),
            len: u32_at(24),
            raw_len: u32_at(28),
            tag: b[32..48].try_into().expect("sixteen bytes"),
            used: u32_at(48),
            has_value: b[52] != 0,
        }
    }

    /// Bytes that the entry takes in a file.
    pub(super) fn size(&self) -> u64 {
        ROW as u64 + u64::from(self.len)
    }
}

/// A pack that is open. It can be read even after its file was deleted.
pub(super) struct Pack {
    pub(super) path: PathBuf,
    file: File,
    rows: Vec<u8>,
    /// Size of the file.
    pub(super) size: u64,
}

impl Pack {
    /// Opens a pack; none if the file is no pack, is damaged, or was made with another secret.
    pub(super) fn open(path: &Path, secret: CacheSecret) -> io::Result<Option<Pack>> {
        let file = open_regular(path)?;
        let size = file.metadata()?.len();
        let Some(trailer_at) = size.checked_sub(TRAILER as u64) else {
            return Ok(None);
        };
        let mut trailer = [0; TRAILER];
        file.read_exact_at(&mut trailer, trailer_at)?;
        let number = |i: usize| u64::from_le_bytes(trailer[i..i + 8].try_into().expect("eight"));
        let (start, count) = (number(0), number(8));
        let expected = count
            .checked_mul(ROW as u64)
            .and_then(|n| n.checked_add(start));
        if trailer[32..] != MAGIC[..] || expected != Some(trailer_at) {
            return Ok(None);
        }
        let mut rows = vec![0; (trailer_at - start) as usize];
        file.read_exact_at(&mut rows, start)?;
        if trailer[16..32] != table_tag(secret, start, &rows) {
            return Ok(None);
        }
        Ok(Some(Pack {
            path: path.to_owned(),
            file,
            rows,
            size,
        }))
    }

    /// All rows, by key.
    pub(super) fn rows(&self) -> impl Iterator<Item = Row> {
        self.rows.chunks_exact(ROW).map(Row::decode)
    }

    /// The row of a key that has a value.
    pub(super) fn find(&self, key: Key) -> Option<Row> {
        let at = |i: usize| &self.rows[i * ROW..(i + 1) * ROW];
        let (mut low, mut high) = (0, self.rows.len() / ROW);
        while low < high {
            let middle = low.midpoint(high);
            match at(middle)[..16].cmp(&key.0) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => {
                    return Some(Row::decode(at(middle))).filter(|r| r.has_value);
                }
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// The stored form of a row's value, unchecked.
    pub(super) fn stored(&self, row: &Row) -> io::Result<Stored> {
        let mut bytes = vec![0; row.len as usize];
        self.file.read_exact_at(&mut bytes, row.offset)?;
        Ok(Stored {
            bytes,
            raw_len: row.raw_len,
            tag: row.tag,
        })
    }

    /// Notes in the file system that the pack is in use, at most once an hour.
    pub(super) fn mark_used(&self) {
        let now = std::time::SystemTime::now();
        let fresh = self
            .file
            .metadata()
            .and_then(|m| m.modified())
            .is_ok_and(|t| now.duration_since(t).is_ok_and(|d| d.as_secs() < 3600));
        if !fresh {
            // Read-only for us: then others look after it.
            let _ = self.file.set_modified(now);
        }
    }
}

fn table_tag(secret: CacheSecret, start: u64, rows: &[u8]) -> Tag {
    secret.tag(Purpose::Table, &[&start.to_le_bytes(), rows])
}

/// Writes a pack.
pub(super) struct PackWriter<W: Write> {
    out: BufWriter<W>,
    secret: CacheSecret,
    at: u64,
    rows: Vec<Row>,
}

impl<W: Write> PackWriter<W> {
    pub(super) fn new(out: W, secret: CacheSecret) -> io::Result<PackWriter<W>> {
        let mut out = BufWriter::with_capacity(1 << 18, out);
        out.write_all(MAGIC)?;
        Ok(PackWriter {
            out,
            secret,
            at: MAGIC.len() as u64,
            rows: Vec::new(),
        })
    }

    /// Adds an entry; keys must differ.
    pub(super) fn add(&mut self, key: Key, value: &Stored, used: u32) -> io::Result<()> {
        self.out.write_all(&value.bytes)?;
        self.rows.push(Row {
            key,
            offset: self.at,
            len: value.bytes.len() as u32,
            raw_len: value.raw_len,
            tag: value.tag,
            used,
            has_value: true,
        });
        self.at += value.bytes.len() as u64;
        Ok(())
    }

    /// Notes that an entry of another pack was used.
    pub(super) fn touch(&mut self, key: Key, used: u32) {
        self.rows.push(Row {
            key,
            offset: 0,
            len: 0,
            raw_len: 0,
            tag: Tag::default(),
            used,
            has_value: false,
        });
    }

    pub(super) fn finish(mut self) -> io::Result<W> {
        self.rows.sort_by_key(|r| r.key);
        let rows: Vec<u8> = self.rows.iter().flat_map(Row::encode).collect();
        self.out.write_all(&rows)?;
        self.out.write_all(&self.at.to_le_bytes())?;
        self.out
            .write_all(&(self.rows.len() as u64).to_le_bytes())?;
        (self.out).write_all(&table_tag(self.secret, self.at, &rows))?;
        self.out.write_all(MAGIC)?;
        self.out.into_inner().map_err(|e| e.into_error())
    }
}
