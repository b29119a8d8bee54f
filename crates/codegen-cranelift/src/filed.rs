//! Images in files that are mapped as they are.
//!
//! An image is laid out for [`HOME`] when its file is written, with the addresses of all functions and
//! variables that are known then: its own, and those of the executable that runs it.
//!
//! ```text
//! HOME: code, stubs to functions elsewhere │ data, words that stubs lead by
//!       execute                            │ read, and write to a copy
//! ```
//!
//! After mapping, only addresses of functions in shared objects remain to be filled in.

use std::fs::File;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use taipan_codegen::{CodegenError, Image, Place, SymbolRef};
use taipan_language::Collector;
use taipan_lltype::FuncSym;

use crate::patch::LARGEST_PAGE;
use crate::place::{OpenAddress, Placement, external_address, own_code, write_address};

/// Where such an image lies: above the executable that runs it, which is linked to fixed addresses, and
/// near enough that calls reach both. The system puts the heap of C libraries into the first
/// gigabyte behind the executable, wherever it likes. Above that and below the image is room for residual code.
const HOME: usize = 0x6000_0000;
/// Largest size of one: it ends below 2 GB.
const LARGEST: usize = 0x1800_0000;

/// An image as a file has it: bytes that are mapped, and what is known of them.
pub struct FiledImage {
    /// Code. Its length is a multiple of the size of a page.
    pub code: Vec<u8>,
    /// Data, likewise.
    pub data: Vec<u8>,
    /// Where everything is.
    pub layout: FiledLayout,
}

/// Where the parts of a [`FiledImage`] are.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FiledLayout {
    placement: Placement,
    code_size: usize,
    data_size: usize,
    collector: Collector,
    program_table: Option<Place>,
    places: Option<Place>,
    /// Functions and variables of shared objects.
    externals: Vec<Arc<str>>,
    /// Where an address belongs, of which of them, and what is added to it.
    open: Vec<OpenAddress>,
}

/// What is known by name of an image that a file has.
pub trait ImageNames {
    /// Where a symbol lies; none if the image has no such one.
    fn place(&self, symbol: &SymbolRef) -> Option<Place>;

    /// The function that starts at a place.
    fn function_at(&self, place: Place) -> Option<FuncSym>;
}

impl FiledImage {
    /// Lays an image out. `known` has the addresses of the functions and variables that the executable
    /// consists of.
    pub fn new(
        image: &Image,
        known: impl Fn(&str) -> Option<usize>,
    ) -> Result<FiledImage, CodegenError> {
        own_code(image)?;
        let placement = Placement::new(image, HOME, |end| end.next_multiple_of(LARGEST_PAGE));
        let code_size = (placement.code_end - HOME).next_multiple_of(LARGEST_PAGE);
        let late = placement.data_end.next_multiple_of(8);
        let size = (late - HOME + image.externals.len() * 8).next_multiple_of(LARGEST_PAGE);
        if size > LARGEST {
            return Err(CodegenError::new("image", "too large"));
        }
        let addresses: Vec<Option<usize>> = image.externals.iter().map(|n| known(n)).collect();
        let mut code = vec![0; size];
        let open = placement.fill_by(image, &addresses, late, &mut |at, bytes| {
            code[at - HOME..][..bytes.len()].copy_from_slice(bytes);
        })?;
        let data = code.split_off(code_size);
        let layout = FiledLayout {
            placement,
            code_size,
            data_size: data.len(),
            collector: image.collector,
            program_table: image.place(&SymbolRef::ProgramTable),
            places: image.place(&SymbolRef::Places),
            externals: image.externals.clone(),
            open,
        };
        Ok(FiledImage { code, data, layout })
    }
}

/// A [`FiledImage`] in memory.
pub(crate) struct Filed {
    layout: FiledLayout,
    names: Box<dyn ImageNames>,
}

impl Filed {
    /// Maps one whose code and data are at these offsets of a file.
    pub(crate) fn map(
        layout: FiledLayout,
        file: &File,
        (code, data): (u64, u64),
        names: Box<dyn ImageNames>,
    ) -> Result<Filed, CodegenError> {
        // What was written for this process by the same executable fits.
        let fits = layout.code_size.is_multiple_of(LARGEST_PAGE)
            && layout.code_size + layout.data_size <= LARGEST
            && (layout.open.iter()).all(|(at, name, _)| {
                (HOME..HOME + layout.code_size + layout.data_size - 7).contains(at)
                    && *name < layout.externals.len()
            });
        if !fits {
            return Err(CodegenError::new("image", "it cannot be mapped"));
        }
        let both = libc::PROT_READ | libc::PROT_WRITE;
        let execute = libc::PROT_READ | libc::PROT_EXEC;
        // The image gives its memory back if the rest fails.
        map(HOME, layout.code_size, execute, file, code)?;
        let filed = Filed { layout, names };
        map(filed.data_start(), filed.layout.data_size, both, file, data)?;
        for (at, name, addend) in &filed.layout.open {
            let address = external_address(&filed.layout.externals[*name])?;
            let is_code = *at < filed.data_start();
            // An address in code, which is never executed while it can be written to.
            if is_code {
                protect(*at, both)?;
            }
            write_address(*at, address, *addend);
            if is_code {
                protect(*at, execute)?;
            }
        }
        Ok(filed)
    }

    fn data_start(&self) -> usize {
        HOME + self.layout.code_size
    }

    pub(crate) fn data(&self) -> Range<usize> {
        self.data_start()..self.layout.placement.data_end
    }

    pub(crate) fn start(&self) -> usize {
        HOME
    }

    pub(crate) fn collector(&self) -> Collector {
        self.layout.collector
    }

    pub(crate) fn address(&self, place: Place) -> usize {
        self.layout.placement.address(place)
    }

    pub(crate) fn place(&self, symbol: &SymbolRef) -> Option<Place> {
        match symbol {
            SymbolRef::ProgramTable => self.layout.program_table,
            SymbolRef::Places => self.layout.places,
            other => self.names.place(other),
        }
    }

    pub(crate) fn function_at(&self, address: usize) -> Option<FuncSym> {
        let place = self.layout.placement.code_at(address)?;
        self.names.function_at(place)
    }
}

impl Drop for Filed {
    fn drop(&mut self) {
        if taipan_runtime::threads::left_behind() {
            // They return to the code when the C functions that they wait in do.
            return;
        }
        let size = self.layout.code_size + self.layout.data_size;
        // SAFETY: the mapping is this value's own.
        unsafe { libc::munmap(HOME as *mut _, size) };
    }
}

/// Maps a part of a file at an address where nothing is mapped yet.
fn map(
    at: usize,
    size: usize,
    access: libc::c_int,
    file: &File,
    offset: u64,
) -> Result<(), CodegenError> {
    let flags = libc::MAP_PRIVATE | libc::MAP_FIXED_NOREPLACE;
    let fd = file.as_raw_fd();
    // SAFETY: a new mapping that replaces none.
    let mapped = unsafe {
        let at = at as *mut libc::c_void;
        libc::mmap(at, size, access, flags, fd, offset as libc::off_t)
    };
    match mapped as usize == at {
        true => Ok(()),
        false => Err(CodegenError::new("image", "its addresses are taken")),
    }
}

/// Changes the access to the pages of a word.
fn protect(at: usize, access: libc::c_int) -> Result<(), CodegenError> {
    let start = at / LARGEST_PAGE * LARGEST_PAGE;
    let size = (at + 8).next_multiple_of(LARGEST_PAGE) - start;
    // SAFETY: the pages belong to the image, and none of its code has run yet.
    match unsafe { libc::mprotect(start as *mut _, size, access) } {
        0 => Ok(()),
        _ => Err(CodegenError::new("image", "its memory cannot be protected")),
    }
}
