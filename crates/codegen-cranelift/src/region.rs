//! Memory for a program that another process runs.
//!
//! A region is made before the processes part by `fork`, so it has the same addresses
//! in all of them, and so have the runtime's functions: who has made it writes code and
//! data that is ready to run, and a process forked from a sibling enters it.
//!
//! ```text
//!           code          slots         data            more data
//! writer    write         write         write           write
//! runner    execute       read          its own copy    read and write
//! ```
//!
//! What the writer changes in code, slots and more data after a process has entered,
//! that process sees.

use std::io;
use std::ops::Range;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr;

use taipan_codegen::{CodegenError, Image, SymbolRef};
use taipan_lltype::FuncSym;

use crate::place::Placement;
use crate::run::run_table;

/// Address space is free, and everything is within a distance of 32 bits.
const CODE: usize = 512 << 20;
const SLOTS: usize = 64 << 20;
const DATA: usize = 512 << 20;
const MORE_DATA: usize = 128 << 20;

/// Memory shared with processes that are forked later. It stays mapped as long as the
/// value lives.
pub struct Region {
    memory: OwnedFd,
    base: usize,
}

impl Region {
    /// Reserves one. Its pages come into being when they are written to.
    pub fn new() -> io::Result<Region> {
        // SAFETY: the name ends in a zero byte; the descriptor is this value's own.
        let memory = unsafe {
            let fd = libc::memfd_create(c"taipan program".as_ptr(), libc::MFD_CLOEXEC);
            if fd < 0 {
                return Err(io::Error::last_os_error());
            }
            OwnedFd::from_raw_fd(fd)
        };
        let size = CODE + SLOTS + DATA + MORE_DATA;
        // SAFETY: a new mapping of the whole file.
        let base = unsafe {
            if libc::ftruncate(memory.as_raw_fd(), size as libc::off_t) != 0 {
                return Err(io::Error::last_os_error());
            }
            libc::mmap(
                ptr::null_mut(),
                size,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_NORESERVE,
                memory.as_raw_fd(),
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Region {
            memory,
            base: base as usize,
        })
    }

    /// Addresses for code.
    pub(crate) fn code(&self) -> Range<usize> {
        self.base..self.base + CODE
    }

    /// Addresses for words that code jumps by.
    pub(crate) fn slots(&self) -> Range<usize> {
        self.code().end..self.code().end + SLOTS
    }

    /// Addresses for data of which every process has its own copy.
    pub(crate) fn data(&self) -> Range<usize> {
        self.slots().end..self.slots().end + DATA
    }

    /// Addresses for data that are added while a process runs.
    pub(crate) fn more_data(&self) -> Range<usize> {
        self.data().end..self.data().end + MORE_DATA
    }

    /// Writes an image that was built with an entry point; answers the address of its
    /// program table. No process that has entered may still run.
    pub fn load(&self, image: &Image) -> Result<usize, CodegenError> {
        let table = (image.place(&SymbolRef::ProgramTable))
            .ok_or_else(|| CodegenError::new("run", "the image has no entry point"))?;
        if let Some(f) = image.foreign.first() {
            return Err(no_library(f));
        }
        let placement = Placement::new(image, self.code().start, |_| self.data().start);
        if placement.code_end > self.code().end || placement.data_end > self.data().end {
            return Err(CodegenError::new("image", "too large"));
        }
        // SAFETY: within the mapping.
        unsafe { placement.fill(image)? };
        Ok(placement.address(table))
    }

    /// Makes this process one that runs what the region holds. It can no longer write
    /// into it.
    pub fn enter(&self) -> io::Result<()> {
        let protect = |range: Range<usize>, access| {
            // SAFETY: the pages belong to the mapping.
            match unsafe { libc::mprotect(range.start as *mut _, range.len(), access) } {
                0 => Ok(()),
                _ => Err(io::Error::last_os_error()),
            }
        };
        protect(self.code(), libc::PROT_READ | libc::PROT_EXEC)?;
        protect(self.slots(), libc::PROT_READ)?;
        let data = self.data();
        // SAFETY: takes the place of a part of the mapping.
        let copy = unsafe {
            libc::mmap(
                data.start as *mut _,
                data.len(),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_FIXED | libc::MAP_NORESERVE,
                self.memory.as_raw_fd(),
                (data.start - self.base) as libc::off_t,
            )
        };
        match copy {
            libc::MAP_FAILED => Err(io::Error::last_os_error()),
            _ => Ok(()),
        }
    }

    /// Runs the program whose table is at that address: its exit code.
    ///
    /// # Safety
    /// The writer has loaded a program with that table, and this process has entered.
    pub unsafe fn run(&self, table: usize, argv: &[Vec<u8>]) -> Result<i32, CodegenError> {
        // SAFETY: by contract.
        unsafe { run_table(table, argv) }
    }
}

/// A library would be loaded into this process, not into those that have parted from it.
pub(crate) fn no_library(f: &FuncSym) -> CodegenError {
    let message = "a watched program cannot call functions of C libraries that it brings";
    CodegenError::new(f.name(), message)
}

impl Drop for Region {
    fn drop(&mut self) {
        let size = CODE + SLOTS + DATA + MORE_DATA;
        // SAFETY: the mapping is this value's own.
        unsafe { libc::munmap(self.base as *mut _, size) };
    }
}
