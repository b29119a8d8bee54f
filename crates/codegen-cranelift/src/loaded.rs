//! Images in the memory of this process.
//!
//! ```text
//! code, stubs to functions elsewhere │ data
//! execute                            │ read and write
//! ```

use std::cell::OnceCell;
use std::ffi::{CStr, c_void};
use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::ptr;

use rustc_hash::FxHashMap;
use taipan_codegen::{CodegenError, Image, Place, SymbolRef, c_libraries};
use taipan_language::Collector;
use taipan_lltype::FuncSym;
use taipan_platform::{load, open_own};
use taipan_runtime::{crash, gc, threads};

use crate::filed::{Filed, FiledLayout, ImageNames};
use crate::patch::LARGEST_PAGE;
use crate::place::{Placement, external_address, own_code};

/// Code and data ready to run. They stay mapped as long as the value lives.
pub struct LoadedImage(Loaded);

enum Loaded {
    Image(Box<Mapped>),
    Filed(Box<Filed>),
    Library(Library),
}

/// An image in memory.
struct Mapped {
    image: Image,
    base: usize,
    size: usize,
    placement: Placement,
    /// The functions that have graphs, by address, once somebody has asked for one.
    functions: OnceCell<FxHashMap<usize, FuncSym>>,
}

/// A shared object that the C compiler made of a program.
struct Library {
    handle: *mut c_void,
    symbols: FxHashMap<SymbolRef, usize>,
    collector: Collector,
}

impl LoadedImage {
    /// Maps an image.
    pub fn new(image: Image) -> Result<LoadedImage, CodegenError> {
        own_code(&image)?;
        load(&c_libraries(&image.foreign)).map_err(CodegenError::c_library)?;
        // The mapping begins with a page of the system, which may be smaller.
        let place = |base: usize| {
            let data = |end: usize| base + (end - base).next_multiple_of(LARGEST_PAGE);
            Placement::new(&image, base, data)
        };
        let size = place(0).data_end.next_multiple_of(LARGEST_PAGE);
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
        let loaded = Mapped {
            image,
            base,
            size,
            placement,
            functions: OnceCell::new(),
        };
        let names = loaded.image.externals.iter();
        let addresses = names.map(|name| external_address(name).map(Some));
        let addresses = addresses.collect::<Result<Vec<_>, _>>()?;
        // SAFETY: the mapping is as large as the placement said, and no external is late.
        unsafe { placement.fill(&loaded.image, &addresses, 0)? };
        let code_size = (placement.code_end - base).next_multiple_of(LARGEST_PAGE);
        // SAFETY: the pages belong to this mapping.
        let result = unsafe {
            let access = libc::PROT_READ | libc::PROT_EXEC;
            libc::mprotect(base as *mut _, code_size, access)
        };
        match result {
            0 => Ok(LoadedImage(Loaded::Image(Box::new(loaded)))),
            _ => Err(CodegenError::new(
                "image",
                "memory cannot be made executable",
            )),
        }
    }

    /// Maps an image whose code and data are at these offsets of a file, laid out for this process.
    pub fn filed(
        layout: FiledLayout,
        file: &File,
        offsets: (u64, u64),
        names: Box<dyn ImageNames>,
    ) -> Result<LoadedImage, CodegenError> {
        let filed = Filed::map(layout, file, offsets, names)?;
        Ok(LoadedImage(Loaded::Filed(Box::new(filed))))
    }

    /// Opens a shared object that consists of the C of a program (`Extent::Library` of
    /// `codegen-c`): it takes the addresses of these variables and functions of the runtime, and gives those of
    /// these symbols. Its code is made for this collector.
    pub fn shared(
        file: &Path,
        imports: &[String],
        exports: Vec<SymbolRef>,
        collector: Collector,
    ) -> Result<LoadedImage, CodegenError> {
        let addresses = imports.iter().map(|name| external_address(name));
        let addresses = addresses.collect::<Result<Vec<usize>, _>>()?;
        let handle = open_own(file).map_err(CodegenError::c_library)?;
        let find = |name: &CStr| {
            // SAFETY: the handle is that of an open library, and the name ends in a zero byte.
            let found = unsafe { libc::dlsym(handle, name.as_ptr()) };
            match found.is_null() {
                true => Err(CodegenError::new(
                    "C library",
                    format!("{name:?} is missing"),
                )),
                false => Ok(found),
            }
        };
        let bind = find(c"rpy_bind")?;
        let table = find(c"rpy_exports")?.cast::<usize>();
        // SAFETY: they are what the emitter of C says.
        let symbols = unsafe {
            let bind: extern "C" fn(*const usize) = std::mem::transmute(bind);
            bind(addresses.as_ptr());
            let address = |(i, symbol)| (symbol, *table.add(i));
            exports.into_iter().enumerate().map(address).collect()
        };
        Ok(LoadedImage(Loaded::Library(Library {
            handle,
            symbols,
            collector,
        })))
    }

    /// The address of a function or object of the image.
    pub fn symbol(&self, symbol: &SymbolRef) -> Option<usize> {
        match &self.0 {
            Loaded::Image(mapped) => mapped.image.place(symbol).map(|p| mapped.address(p)),
            Loaded::Filed(filed) => filed.place(symbol).map(|p| filed.address(p)),
            Loaded::Library(library) => library.symbols.get(symbol).copied(),
        }
    }

    /// The function with a graph whose code starts at an address; none where that is not known.
    pub fn function_at(&self, address: usize) -> Option<FuncSym> {
        match &self.0 {
            Loaded::Image(mapped) => mapped.functions().get(&address).cloned(),
            Loaded::Filed(filed) => filed.function_at(address),
            Loaded::Library(_) => None,
        }
    }

    /// From now on faults of this process are shown as those of the image's program.
    pub(crate) fn expect_faults(&self) {
        let places = self.symbol(&SymbolRef::Places).unwrap_or(0);
        crash::set_places(places as *const _);
        crash::install();
    }

    /// The collector that its code is made for.
    pub(crate) fn collector(&self) -> gc::Collector {
        let collector = match &self.0 {
            Loaded::Image(mapped) => mapped.image.collector,
            Loaded::Filed(filed) => filed.collector(),
            Loaded::Library(library) => library.collector,
        };
        gc::Collector::numbered(collector.number())
    }

    /// Where its data lie, prebuilt objects among them. Of a library the loader knows.
    pub(crate) fn data(&self) -> Range<usize> {
        match &self.0 {
            Loaded::Image(mapped) => mapped.data(),
            Loaded::Filed(filed) => filed.data(),
            Loaded::Library(_) => 0..0,
        }
    }

    /// Where its code starts; 0 where that is not known.
    pub fn start(&self) -> usize {
        match &self.0 {
            Loaded::Image(mapped) => mapped.base,
            Loaded::Filed(filed) => filed.start(),
            Loaded::Library(_) => 0,
        }
    }

    /// The address of a place of the image, which is none of a library.
    pub(crate) fn address(&self, place: Place) -> usize {
        match &self.0 {
            Loaded::Image(mapped) => mapped.address(place),
            Loaded::Filed(filed) => filed.address(place),
            Loaded::Library(_) => 0,
        }
    }
}

impl Mapped {
    fn data(&self) -> Range<usize> {
        let start = (self.placement.code_end - self.base).next_multiple_of(LARGEST_PAGE);
        self.base + start..self.placement.data_end
    }

    fn address(&self, place: Place) -> usize {
        self.placement.address(place)
    }

    fn functions(&self) -> &FxHashMap<usize, FuncSym> {
        self.functions.get_or_init(|| {
            let functions = self.image.functions();
            functions
                .map(|(f, p)| (self.address(p), f.clone()))
                .collect()
        })
    }
}

impl Drop for LoadedImage {
    fn drop(&mut self) {
        if threads::left_behind() {
            // They return to the code when the C functions that they wait in do.
            return;
        }
        match &self.0 {
            // SAFETY: the mapping is this value's own.
            Loaded::Image(mapped) => unsafe {
                libc::munmap(mapped.base as *mut _, mapped.size);
            },
            Loaded::Filed(_) => {}
            // SAFETY: this value is the only one that refers to the library.
            Loaded::Library(library) => unsafe {
                libc::dlclose(library.handle);
            },
        }
    }
}
