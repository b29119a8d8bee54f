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
use std::path::PathBuf;
use std::ptr;
use std::sync::Arc;

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};
use taipan_codegen::{CodegenError, Image, SymbolRef, c_libraries};
use taipan_lltype::foreign_symbol;
use taipan_platform::{open, shared_object};

use crate::patch::CALL_REACH;
use crate::place::{OpenAddress, Placement, external_address, own_code, write_address};
use crate::run::run_table;

/// Address space is free, and everything is within a distance of 32 bits. Calls reach all code.
const CODE: usize = if CALL_REACH < 512 << 20 {
    CALL_REACH
} else {
    512 << 20
};
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

    /// Writes an image that was built with an entry point. No process that has entered may still
    /// run.
    pub fn load(&self, image: &Image) -> Result<LoadedProgram, CodegenError> {
        own_code(image)?;
        let table = (image.place(&SymbolRef::ProgramTable))
            .ok_or_else(|| CodegenError::new("run", "the image has no entry point"))?;
        let placement = Placement::new(image, self.code().start, |_| self.data().start);
        let late = placement.data_end.next_multiple_of(8);
        let end = late + image.foreign.len() * 8;
        if placement.code_end > self.code().end || end > self.data().end {
            return Err(CodegenError::new("image", "too large"));
        }
        let foreign: FxHashSet<String> = image.foreign.iter().map(foreign_symbol).collect();
        let names = image.externals.iter();
        let addresses = names.map(|name| match foreign.contains(&**name) {
            true => Ok(None),
            false => external_address(name).map(Some),
        });
        let addresses = addresses.collect::<Result<Vec<_>, _>>()?;
        // SAFETY: within the mapping.
        let open = unsafe { placement.fill(image, &addresses, late)? };
        let library = match image.foreign.is_empty() {
            true => None,
            false => Some(LateLibrary {
                file: shared_object(&c_libraries(&image.foreign))
                    .map_err(CodegenError::c_library)?,
                names: image.externals.clone(),
                places: open,
            }),
        };
        Ok(LoadedProgram {
            table: placement.address(table),
            library,
        })
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
        // SAFETY: the writer has loaded a program with its table at that address, and `enter` has
        // mapped code and data in this process.
        unsafe { run_table(table, 0..0, argv) }
    }
}

/// A program that a region holds.
#[derive(Clone, Debug)]
pub struct LoadedProgram {
    /// The address of its program table.
    pub table: usize,
    /// The C libraries that it brings.
    pub library: Option<LateLibrary>,
}

/// C libraries that a program brings, compiled: only the process that runs the program loads them, and
/// only there their addresses are known.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LateLibrary {
    /// The shared object.
    file: PathBuf,
    /// Names of functions.
    names: Vec<Arc<str>>,
    /// Where addresses belong: of which name, and what is added.
    places: Vec<OpenAddress>,
}

impl LateLibrary {
    /// Loads the libraries into this process, and writes their addresses into its copy of the data.
    ///
    /// # Safety
    /// This process has entered the region that holds the program.
    pub unsafe fn load(&self) -> Result<(), CodegenError> {
        open(&self.file).map_err(CodegenError::c_library)?;
        for (at, name, addend) in &self.places {
            let address = external_address(&self.names[*name])?;
            write_address(*at, address, *addend);
        }
        Ok(())
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        let size = CODE + SLOTS + DATA + MORE_DATA;
        // SAFETY: the mapping is this value's own.
        unsafe { libc::munmap(self.base as *mut _, size) };
    }
}
