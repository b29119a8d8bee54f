//! What stands in the file: a head, a table, and blocks of memory one after the other.
//!
//! ```text
//! head      one block: address of the root, sizes, tag
//! table     the statics (address, length, bytes, padded to words), then for each block its
//!           address and tag; padded to whole blocks
//! blocks    in the order of the table
//! ```
//!
//! Tags are keyed hashes (BLAKE3), by a key of whoever writes and reads. That of the head is about
//! head and table with all that fills them up, and so, by way of the table, about every byte of the
//! file. Each block has its own, so that all cores compare them. The messages of the two kinds
//! cannot be taken for each other: one is a block long, the other two or more.
//!
//! All numbers are the machine's: no other one reads them.

use std::fs::File;
use std::os::unix::fs::FileExt;

use crate::region::BLOCK;

/// What the file begins with: which format this is.
const MAGIC: [u8; 16] = *b"taipan memory 2\n";

/// The key that files are authenticated by: of one user, one executable and one purpose.
pub type MemoryKey = [u8; 32];

/// The head of a file.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Head {
    pub(crate) magic: [u8; 16],
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
    /// Keyed hash of all before the blocks, with zeros in its own place.
    pub(crate) tag: [u8; 32],
}

/// A block in the table.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct BlockRow {
    pub(crate) address: u64,
    pub(crate) tag: BlockTag,
}

/// 128 bits of the keyed hash of a block.
pub(crate) type BlockTag = [u8; 16];

/// The tag of a block.
pub(crate) fn block_tag(key: &MemoryKey, block: &[u8]) -> BlockTag {
    let hash = blake3::keyed_hash(key, block);
    let mut tag = BlockTag::default();
    tag.copy_from_slice(&hash.as_bytes()[..size_of::<BlockTag>()]);
    tag
}

impl Head {
    pub(crate) fn new(note: u64, root: usize, generations: usize) -> Head {
        Head {
            magic: MAGIC,
            note,
            root: root as u64,
            generations: generations as u64,
            statics: 0,
            blocks: 0,
            tag: [0; 32],
        }
    }

    /// The head as bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: a plain struct without padding.
        unsafe { std::slice::from_raw_parts(std::ptr::from_ref(self).cast(), size_of::<Head>()) }
    }

    /// The head in these bytes, if they are one.
    fn read(bytes: &[u8]) -> Option<Head> {
        if bytes.len() < size_of::<Head>() {
            return None;
        }
        // SAFETY: there are enough bytes, and any bytes are a head.
        let head: Head = unsafe { std::ptr::read_unaligned(bytes.as_ptr().cast()) };
        (head.magic == MAGIC).then_some(head)
    }

    /// The tag of a head with this table. `rest` is what follows the head, up to the blocks.
    /// Allocates nothing.
    pub(crate) fn tag_with(&self, key: &MemoryKey, rest: &[u8]) -> blake3::Hash {
        let untagged = Head {
            tag: [0; 32],
            ..*self
        };
        let mut h = blake3::Hasher::new_keyed(key);
        h.update(untagged.bytes());
        h.update(rest);
        h.finalize()
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
    fn file_len(&self) -> Option<u64> {
        let blocks = self.blocks.checked_mul(BLOCK as u64)?;
        self.blocks_at()?.checked_add(blocks)
    }
}

/// All of a file that stands before the blocks, authenticated.
pub(crate) struct Contents {
    pub(crate) head: Head,
    bytes: Vec<u8>,
}

impl Contents {
    /// None for a file that is not complete, or was not written with this key.
    pub(crate) fn read(file: &File, key: &MemoryKey) -> Option<Contents> {
        let mut start = [0; size_of::<Head>()];
        file.read_exact_at(&mut start, 0).ok()?;
        let head = Head::read(&start)?;
        // The sizes are anybody's so far, but no larger than the file.
        if head.file_len()? != file.metadata().ok()?.len() {
            return None;
        }
        let mut bytes = vec![0; usize::try_from(head.blocks_at()?).ok()?];
        file.read_exact_at(&mut bytes, 0).ok()?;
        let head = Head::read(&bytes)?;
        let tag = head.tag_with(key, &bytes[size_of::<Head>()..]);
        // The comparison takes as long wherever they differ.
        let same = tag == head.tag && bytes.len() as u64 == head.blocks_at()?;
        same.then_some(Contents { head, bytes })
    }

    /// The statics and the rows of blocks.
    pub(crate) fn table(&self) -> Option<(&[u8], &[u8])> {
        let len = usize::try_from(self.head.table_len()?).ok()?;
        let table = self.bytes.get(BLOCK..)?.get(..len)?;
        table.split_at_checked(usize::try_from(self.head.statics).ok()?)
    }
}

/// A number of the table's statics, and what follows it.
pub(crate) fn take_word(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (word, rest) = bytes.split_first_chunk::<8>()?;
    Some((u64::from_ne_bytes(*word), rest))
}
