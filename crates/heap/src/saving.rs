//! Writing all memory to a file, from a copy of the process, while the process goes on or ends.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::StaticTable;
use crate::format::{BlockRow, Head, MemoryKey, block_tag};
use crate::mapping::mapped_blocks;
use crate::pages::page_size;
use crate::region::{BLOCK, ROOM, base, is_reserved, own_generation};

/// What is saved, and where.
pub struct Saving<'a> {
    /// The file that is written; it holds a lock as long as it is (`flock`).
    pub file: &'a File,
    /// Its path.
    pub path: &'a Path,
    /// The path that it gets when it is complete.
    pub complete: &'a Path,
    /// The key of the file's tags.
    pub key: &'a MemoryKey,
    /// What [`Mapped::note`](crate::Mapped::note) tells.
    pub note: u64,
    /// Address of what [`Mapped::root`](crate::Mapped::root) tells.
    pub root: usize,
    /// What belongs to it besides the heap.
    pub statics: &'a [StaticTable],
}

/// Has a copy of this process write its memory to a file, and comes back at once. What goes
/// wrong in there leaves no complete file.
///
/// # Errors
/// Memory that cannot be saved, and what the system says of the copy.
///
/// # Safety
/// The heap and the statics refer to nothing that is gone with the process, and no other thread
/// changes them during the call.
pub unsafe fn save(what: &Saving<'_>) -> io::Result<()> {
    let Some(generation) = own_generation().filter(|_| is_reserved()) else {
        return Err(io::Error::other("memory lies outside of what was reserved"));
    };
    let path = CString::new(what.path.as_os_str().as_bytes())?;
    let complete = CString::new(what.complete.as_os_str().as_bytes())?;
    let head = Head::new(what.note, what.root, generation + 1);
    // SAFETY: the copy calls nothing but the system, and ends.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            let fd = what.file.as_raw_fd();
            // SAFETY: this is the copy's only thread.
            let done = unsafe { write_all(fd, head, what.key, what.statics) };
            // SAFETY: plain system calls on strings that have an end.
            unsafe {
                match done {
                    Some(()) => libc::rename(path.as_ptr(), complete.as_ptr()),
                    None => libc::unlink(path.as_ptr()),
                };
                libc::_exit(0)
            }
        }
        _ => Ok(()),
    }
}

/// Lets go of the terminal and of pipes that somebody reads to their end.
unsafe fn detach(keep: RawFd) {
    // SAFETY: closes descriptors of the copy.
    unsafe {
        libc::setsid();
        let keep = keep as u32;
        if keep > 0 {
            libc::syscall(libc::SYS_close_range, 0u32, keep - 1, 0u32);
        }
        libc::syscall(libc::SYS_close_range, keep + 1, u32::MAX, 0u32);
    }
}

/// Scratch memory outside of the heap, empty.
unsafe fn scratch(len: usize) -> Option<*mut u8> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    let both = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping.
    let at = unsafe { libc::mmap(std::ptr::null_mut(), len, both, flags, -1, 0) };
    (at != libc::MAP_FAILED).then_some(at.cast())
}

/// Writes everything. Runs in the copy of a process that had other threads: nothing may be
/// allocated here.
unsafe fn write_all(
    fd: RawFd,
    mut head: Head,
    key: &MemoryKey,
    statics: &[StaticTable],
) -> Option<()> {
    let statics_len: usize = statics.iter().map(|s| 16 + s.len.next_multiple_of(8)).sum();
    let most = statics_len + head.generations as usize * (ROOM / BLOCK) * size_of::<BlockRow>();
    // SAFETY: all pointers stay within the scratch memory, which is long enough for every block
    // there can be; what is read are this process's own statics and pages that exist.
    unsafe {
        // Which pages exist is read by descriptor, so before others are closed.
        let pages = libc::open(
            c"/proc/self/pagemap".as_ptr(),
            libc::O_RDONLY | libc::O_CLOEXEC,
        );
        if pages < 0 {
            return None;
        }
        // All that stands before the blocks.
        let start = scratch((BLOCK + most).next_multiple_of(BLOCK))?;
        let table = start.add(BLOCK);
        let mut at = 0;
        for s in statics {
            table
                .add(at)
                .cast::<u64>()
                .write_unaligned(s.address as u64);
            table
                .add(at + 8)
                .cast::<u64>()
                .write_unaligned(s.len as u64);
            std::ptr::copy_nonoverlapping(s.address as *const u8, table.add(at + 16), s.len);
            at += 16 + s.len.next_multiple_of(8);
        }
        let rows = table.add(at).cast::<BlockRow>();
        let mut blocks = 0;
        let mut add = |address: usize| {
            let bytes = std::slice::from_raw_parts(address as *const u8, BLOCK);
            let row = BlockRow {
                address: address as u64,
                tag: block_tag(key, bytes),
            };
            rows.add(blocks).write_unaligned(row);
            blocks += 1;
        };
        let mut mapped = mapped_blocks();
        for generation in 0..head.generations as usize {
            each_block_in_use(pages, base(generation), &mut mapped, &mut add)?;
        }
        detach(fd);
        head.statics = statics_len as u64;
        head.blocks = blocks as u64;
        let before = std::slice::from_raw_parts_mut(start, head.blocks_at()? as usize);
        head.tag = *head.tag_with(key, &before[size_of::<Head>()..]).as_bytes();
        before[..size_of::<Head>()].copy_from_slice(head.bytes());
        write_at(fd, before, 0)?;
        let mut to = head.blocks_at()?;
        let mut first = 0;
        while first < blocks {
            // Neighbours in one call.
            let start = rows.add(first).read_unaligned().address;
            let mut n = 1;
            while first + n < blocks
                && rows.add(first + n).read_unaligned().address == start + (n * BLOCK) as u64
            {
                n += 1;
            }
            let bytes = std::slice::from_raw_parts(start as *const u8, n * BLOCK);
            write_at(fd, bytes, to)?;
            to += (n * BLOCK) as u64;
            first += n;
        }
        Some(())
    }
}

/// Calls `f` with the address of every block of a generation that is mapped from a file, or of which
/// some page exists. Takes the addresses of those that are mapped from the front of `mapped`.
unsafe fn each_block_in_use(
    pages: RawFd,
    base: usize,
    mapped: &mut &[usize],
    mut f: impl FnMut(usize),
) -> Option<()> {
    const AT_ONCE: usize = 4096;
    // A page is in memory, or it is swapped out.
    const EXISTS: u64 = 1 << 63 | 1 << 62;
    let page = page_size()?;
    if !BLOCK.is_multiple_of(page) || !ROOM.is_multiple_of(AT_ONCE * page) {
        return None;
    }
    let mut entries = [0u64; AT_ONCE];
    for chunk in (0..ROOM).step_by(AT_ONCE * page) {
        let offset = (base + chunk) / page * 8;
        // SAFETY: as many bytes as the array has.
        let got = unsafe {
            libc::pread(
                pages,
                entries.as_mut_ptr().cast(),
                AT_ONCE * 8,
                offset as i64,
            )
        };
        if got != (AT_ONCE * 8) as isize {
            return None;
        }
        for (i, block) in entries.chunks_exact(BLOCK / page).enumerate() {
            let address = base + chunk + i * BLOCK;
            let is_mapped = mapped.first() == Some(&address);
            if is_mapped {
                *mapped = &mapped[1..];
            }
            if is_mapped || block.iter().any(|e| e & EXISTS != 0) {
                f(address);
            }
        }
    }
    Some(())
}

fn write_at(fd: RawFd, mut bytes: &[u8], mut at: u64) -> Option<()> {
    while !bytes.is_empty() {
        // SAFETY: as many bytes as the slice has.
        let done = unsafe { libc::pwrite(fd, bytes.as_ptr().cast(), bytes.len(), at as i64) };
        if done <= 0 {
            return None;
        }
        bytes = &bytes[done as usize..];
        at += done as u64;
    }
    Some(())
}
