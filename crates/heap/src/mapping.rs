//! Going on with the memory of an earlier process.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use crate::format::{BlockRow, BlockTag, Contents, Head, MemoryKey, block_tag, take_word};
use crate::region::{
    BLOCK, GENERATIONS, ROOM, base, note_mapped, own_generation, release_generation,
    reserve_generation,
};

/// The addresses of the blocks that are mapped. Most of their pages were never touched by this
/// process, so that the system does not tell of them.
static BLOCKS: OnceLock<Vec<usize>> = OnceLock::new();

/// The addresses of the blocks that are mapped, rising.
pub(crate) fn mapped_blocks() -> &'static [usize] {
    BLOCKS.get().map_or(&[], |blocks| blocks)
}

/// What is known of a file that memory was saved to.
pub struct Mapped {
    head: Head,
}

impl Mapped {
    /// Looks at a file that was written with this key, without taking anything from it. None for
    /// any other file, and for one that is not complete.
    pub fn look_at(file: &File, key: &MemoryKey) -> Option<Mapped> {
        Mapped::new(Contents::read(file, key)?.head)
    }

    fn new(head: Head) -> Option<Mapped> {
        let sound = (1..=GENERATIONS as u64).contains(&head.generations);
        sound.then_some(Mapped { head })
    }

    /// What the writer noted.
    pub fn note(&self) -> u64 {
        self.head.note
    }

    /// The address of the writer's data. There is something at it after [`map`].
    pub fn root(&self) -> usize {
        self.head.root as usize
    }

    /// The last generation in the file.
    pub fn last_generation(&self) -> usize {
        self.head.generations as usize - 1
    }
}

/// Neighbouring blocks, which are one mapping.
struct Run {
    address: usize,
    blocks: usize,
    /// Where it begins in the file.
    offset: u64,
}

/// The first so many generations, while nobody uses them: they are given back with it.
#[derive(Default)]
struct Place(usize);

impl Drop for Place {
    fn drop(&mut self) {
        for generation in 0..self.0 {
            // SAFETY: nobody has been told of what is there.
            unsafe { release_generation(generation) };
        }
    }
}

/// Maps the memory in a file, puts statics back, and compares all of it with its tags, on as many
/// threads as there are cores.
///
/// # Errors
/// A file that is damaged or was not written with this key, or addresses that are taken: nothing is
/// changed then.
///
/// # Safety
/// This process has one thread, and nobody has looked at the statics that were saved. The key is of
/// this executable, and nobody writes to the file from here on.
pub unsafe fn map(file: &File, key: &MemoryKey) -> io::Result<Mapped> {
    let bad = |why: &str| io::Error::new(io::ErrorKind::InvalidData, why);
    let contents = Contents::read(file, key).ok_or_else(|| bad("not a file of this key"))?;
    let mapped = Mapped::new(contents.head).ok_or_else(|| bad("generations"))?;
    let head = &mapped.head;
    if own_generation() != Some(head.generations as usize) {
        return Err(bad("not the generations before this process"));
    }
    let (statics, rows) = contents.table().ok_or_else(|| bad("table"))?;
    let rows = block_rows(rows, head.generations as usize).ok_or_else(|| bad("addresses"))?;
    let blocks_at = head.blocks_at().ok_or_else(|| bad("sizes"))?;
    let generations = head.generations as usize;
    let mut place = Place::default();
    for generation in 0..generations {
        // What was allocated and never written to is in no block of the file.
        if !reserve_generation(generation) {
            return Err(io::Error::other("the addresses are taken"));
        }
        place.0 = generation + 1;
    }
    for run in runs(&rows, blocks_at) {
        map_run(file, &run)?;
    }
    if !is_sound(&rows, key) {
        return Err(bad("a block is not what was written"));
    }
    // SAFETY: the tag says that these are the statics of this build.
    unsafe { put_back(statics) }.ok_or_else(|| bad("statics"))?;
    note_mapped(generations);
    std::mem::forget(place);
    let _ = BLOCKS.set(rows.into_iter().map(|(address, _)| address).collect());
    Ok(mapped)
}

/// The blocks, in rising order; none if one lies outside of the generations.
fn block_rows(bytes: &[u8], generations: usize) -> Option<Vec<(usize, BlockTag)>> {
    let mut rows = Vec::with_capacity(bytes.len() / size_of::<BlockRow>());
    let mut last = 0;
    for row in bytes.chunks_exact(size_of::<BlockRow>()) {
        let (address, rest) = take_word(row)?;
        let tag = BlockTag::try_from(rest).ok()?;
        let address = address as usize;
        let inside =
            (0..generations).any(|g| address >= base(g) && address <= base(g) + ROOM - BLOCK);
        if !inside || !address.is_multiple_of(BLOCK) || address <= last {
            return None;
        }
        last = address;
        rows.push((address, tag));
    }
    Some(rows)
}

fn runs(rows: &[(usize, BlockTag)], mut offset: u64) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (address, _) in rows {
        match runs.last_mut() {
            Some(run) if run.address + run.blocks * BLOCK == *address => run.blocks += 1,
            _ => runs.push(Run {
                address: *address,
                blocks: 1,
                offset,
            }),
        }
        offset += BLOCK as u64;
    }
    runs
}

/// Puts a part of the file in its place.
fn map_run(file: &File, run: &Run) -> io::Result<()> {
    let flags = libc::MAP_PRIVATE | libc::MAP_FIXED | libc::MAP_NORESERVE;
    let both = libc::PROT_READ | libc::PROT_WRITE;
    let len = run.blocks * BLOCK;
    // SAFETY: the addresses are reserved, and nothing is there.
    let at = unsafe {
        let fd = file.as_raw_fd();
        libc::mmap(
            run.address as *mut _,
            len,
            both,
            flags,
            fd,
            run.offset as i64,
        )
    };
    match at == libc::MAP_FAILED {
        true => Err(io::Error::last_os_error()),
        false => Ok(()),
    }
}

/// Whether all blocks are what was written.
fn is_sound(rows: &[(usize, BlockTag)], key: &MemoryKey) -> bool {
    const PIECE: usize = 64;
    let next = AtomicUsize::new(0);
    let sound = AtomicBool::new(true);
    let check = || {
        while sound.load(Relaxed) {
            let from = next.fetch_add(PIECE, Relaxed);
            let Some(rows) = rows.get(from..) else { break };
            for (address, tag) in rows.iter().take(PIECE) {
                // SAFETY: the block was mapped, and nobody writes to it.
                let bytes = unsafe { std::slice::from_raw_parts(*address as *const u8, BLOCK) };
                if block_tag(key, bytes) != *tag {
                    sound.store(false, Relaxed);
                }
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 1..threads.min(rows.len() / PIECE + 1) {
            scope.spawn(check);
        }
        check();
    });
    sound.into_inner()
}

/// Puts the bytes of statics where they were.
///
/// # Safety
/// They are what this build has written, and nobody has looked at the statics.
unsafe fn put_back(mut bytes: &[u8]) -> Option<()> {
    while !bytes.is_empty() {
        let (address, rest) = take_word(bytes)?;
        let (len, rest) = take_word(rest)?;
        let len = len as usize;
        let (value, rest) = rest.split_at_checked(len.next_multiple_of(8))?;
        // SAFETY: as the caller promises.
        unsafe { std::ptr::copy_nonoverlapping(value.as_ptr(), address as *mut u8, len) };
        bytes = rest;
    }
    Some(())
}
