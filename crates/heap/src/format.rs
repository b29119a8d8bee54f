//! What stands in the file: a head, a table, and blocks of memory one after the other.
//!
//! ```text
//! head      one block: identity, address of the root, sizes, checksum of itself and the table
//! table     the statics (address, length, bytes, padded to words), then for each block its
//!           address and checksum; padded to whole blocks
//! blocks    in the order of the table
//! ```
//!
//! All numbers are the machine's: no other one reads them.

use crate::region::BLOCK;

/// What the file begins with: which format this is.
const MAGIC: [u8; 16] = *b"taipan memory 1\n";

/// Identifies the executable that wrote a file.
pub(crate) type Build = [u8; 16];

/// The head of a file.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Head {
    pub(crate) magic: [u8; 16],
    pub(crate) build: Build,
    /// Whatever the caller wants to know without mapping anything.
    pub(crate) note: u64,
    /// Where the caller's data begin.
    pub(crate) root: u64,
    /// Generations in the file.
    pub(crate) generations: u64,
    /// Bytes of statics.
    pub(crate) statics: u64,
    /// How many blocks follow.
    pub(crate) blocks: u64,
    /// Checksum of the table.
    pub(crate) table: u32,
    /// Checksum of the head up to here.
    pub(crate) own: u32,
}

/// A block in the table.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct BlockRow {
    /// Its address; a multiple of the size of blocks, so that its lower bits are free.
    pub(crate) address: u64,
    pub(crate) checksum: u64,
}

impl Head {
    pub(crate) fn new(build: Build, note: u64, root: usize, generations: usize) -> Head {
        Head {
            magic: MAGIC,
            build,
            note,
            root: root as u64,
            generations: generations as u64,
            statics: 0,
            blocks: 0,
            table: 0,
            own: 0,
        }
    }

    /// The head as bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: a plain struct without padding.
        unsafe { std::slice::from_raw_parts(std::ptr::from_ref(self).cast(), size_of::<Head>()) }
    }

    /// The head in these bytes, if they are one of this build.
    pub(crate) fn read(bytes: &[u8], build: Build) -> Option<Head> {
        if bytes.len() < size_of::<Head>() {
            return None;
        }
        // SAFETY: there are enough bytes, and any bytes are a head.
        let head: Head = unsafe { std::ptr::read_unaligned(bytes.as_ptr().cast()) };
        (head.magic == MAGIC && head.build == build && head.own == head.checksum()).then_some(head)
    }

    /// The checksum of all but itself.
    pub(crate) fn checksum(&self) -> u32 {
        crc32fast::hash(&self.bytes()[..size_of::<Head>() - 4])
    }

    /// Bytes of the table.
    pub(crate) fn table_len(&self) -> Option<u64> {
        let rows = self.blocks.checked_mul(size_of::<BlockRow>() as u64)?;
        self.statics.checked_add(rows)
    }

    /// Where the blocks begin in the file.
    pub(crate) fn blocks_at(&self) -> Option<u64> {
        (BLOCK as u64)
            .checked_add(self.table_len()?)?
            .checked_next_multiple_of(BLOCK as u64)
    }

    /// The length of the file.
    pub(crate) fn file_len(&self) -> Option<u64> {
        let blocks = self.blocks.checked_mul(BLOCK as u64)?;
        self.blocks_at()?.checked_add(blocks)
    }
}

/// A number of the table's statics, and what follows it.
pub(crate) fn take_word(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (word, rest) = bytes.split_first_chunk::<8>()?;
    Some((u64::from_ne_bytes(*word), rest))
}
