//! Images in the memory of this process.
//!
//! ```text
//! code, stubs to functions elsewhere │ data
//! execute                            │ read and write
//! ```

use std::ptr;

use taipan_codegen::{CodegenError, Image, Place, SymbolRef};
use taipan_lltype::FuncSym;
use taipan_runtime::{crash, threads};

use crate::foreign;
use crate::place::{PAGE, Placement, external_address};

/// Code and data ready to run. They stay mapped as long as the value lives.
pub struct LoadedImage {
    image: Image,
    base: usize,
    size: usize,
    placement: Placement,
}

impl LoadedImage {
    /// Maps an image.
    pub fn new(image: Image) -> Result<LoadedImage, CodegenError> {
        foreign::load(&image.foreign)?;
        let place = |base| Placement::new(&image, base, |end| end.next_multiple_of(PAGE));
        let size = place(0).data_end.next_multiple_of(PAGE);
        if size > i32::MAX as usize {
            return Err(CodegenError::new("image", "too large"));
        }
        // SAFETY: a fresh anonymous mapping.
        let base = unsafe {
            libc::mmap(
                ptr::null_mut(),
                size,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(CodegenError::new("image", "out of memory"));
        }
        let base = base as usize;
        let placement = place(base);
        let loaded = LoadedImage {
            image,
            base,
            size,
            placement,
        };
        let names = loaded.image.externals.iter();
        let addresses = names.map(|name| external_address(name).map(Some));
        let addresses = addresses.collect::<Result<Vec<_>, _>>()?;
        // SAFETY: the mapping is as large as the placement said, and no external is late.
        unsafe { placement.fill(&loaded.image, &addresses, 0) };
        let code_size = (placement.code_end - base).next_multiple_of(PAGE);
        // SAFETY: the pages belong to this mapping.
        let result = unsafe {
            let access = libc::PROT_READ | libc::PROT_EXEC;
            libc::mprotect(base as *mut _, code_size, access)
        };
        match result {
            0 => Ok(loaded),
            _ => Err(CodegenError::new(
                "image",
                "memory cannot be made executable",
            )),
        }
    }

    /// The address of a function or object of the image.
    pub fn symbol(&self, symbol: &SymbolRef) -> Option<usize> {
        self.image.place(symbol).map(|p| self.address(p))
    }

    /// The functions that have graphs, with their addresses, in no order.
    pub fn functions(&self) -> impl Iterator<Item = (&FuncSym, usize)> {
        (self.image.functions()).map(|(f, p)| (f, self.address(p)))
    }

    /// From now on faults of this process are shown as those of the image's program.
    pub(crate) fn expect_faults(&self) {
        let places = self.symbol(&SymbolRef::Places).unwrap_or(0);
        crash::set_places(places as *const _);
        crash::install();
    }

    /// Where its code starts.
    pub fn start(&self) -> usize {
        self.base
    }

    /// The address of a place of the image.
    pub(crate) fn address(&self, place: Place) -> usize {
        self.placement.address(place)
    }
}

impl Drop for LoadedImage {
    fn drop(&mut self) {
        if threads::left_behind() {
            // They return to the code when the C functions that they wait in do.
            return;
        }
        // SAFETY: the mapping is this value's own.
        unsafe { libc::munmap(self.base as *mut _, self.size) };
    }
}
