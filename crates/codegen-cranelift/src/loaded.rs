//! Images in the memory of this process.
//!
//! ```text
//! code, stubs to functions elsewhere │ data
//! execute                            │ read and write
//! ```

use std::collections::HashMap;
use std::ffi::CString;
use std::ptr;
use std::sync::LazyLock;

use taipan_codegen::{
    CodegenError, Image, ImageReloc, Place, RelocKind, SectionId, SymbolRef, Target,
};

const PAGE: usize = 4096;
/// `jmp *[rip]` and the address.
const STUB: usize = 16;

/// Code and data ready to run. They stay mapped as long as the value lives.
pub struct LoadedImage {
    image: Image,
    base: usize,
    size: usize,
    /// Start of each section.
    sections: [usize; 3],
}

/// Addresses of the runtime's functions and variables in this process.
static RUNTIME: LazyLock<HashMap<&'static str, usize>> = LazyLock::new(|| {
    let mut table = HashMap::new();
    taipan_runtime::start::symbols(|name, address| {
        table.insert(name, address as usize);
    });
    table
});

fn external_address(name: &str) -> Result<usize, CodegenError> {
    if let Some(address) = RUNTIME.get(name) {
        return Ok(*address);
    }
    let missing = || CodegenError::new(name, "no such function in the runtime or the C library");
    let c_name = CString::new(name).map_err(|_| missing())?;
    // SAFETY: the name ends in a zero byte.
    match unsafe { libc::dlsym(libc::RTLD_DEFAULT, c_name.as_ptr()) } as usize {
        0 => Err(missing()),
        address => Ok(address),
    }
}

impl LoadedImage {
    /// Maps an image.
    pub fn new(image: Image) -> Result<LoadedImage, CodegenError> {
        let externals = image.externals.len();
        let text = image
            .section(SectionId::Text)
            .bytes
            .len()
            .next_multiple_of(STUB);
        let code_size = (text + externals * STUB).next_multiple_of(PAGE);
        let rodata = code_size;
        let rodata_len = image.section(SectionId::Rodata).bytes.len();
        let data = rodata + rodata_len.next_multiple_of(16);
        let size = data + image.section(SectionId::Data).bytes.len();
        let size = size.next_multiple_of(PAGE);
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
        let loaded = LoadedImage {
            image,
            base,
            size,
            sections: [base, base + rodata, base + data],
        };
        loaded.fill(text, code_size)?;
        Ok(loaded)
    }

    fn fill(&self, text: usize, code_size: usize) -> Result<(), CodegenError> {
        let stubs = self.base + text;
        for (i, name) in self.image.externals.iter().enumerate() {
            let address = external_address(name)?;
            let mut stub = [0xff, 0x25, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xcc, 0xcc];
            stub[6..14].copy_from_slice(&(address as u64).to_le_bytes());
            write(stubs + i * STUB, &stub);
        }
        for id in SectionId::ALL {
            let section = self.image.section(id);
            let start = self.sections[id as usize];
            write(start, &section.bytes);
            for r in &section.relocs {
                self.relocate(start, r, stubs)?;
            }
        }
        // SAFETY: the pages belong to this mapping.
        let result = unsafe {
            libc::mprotect(
                self.base as *mut _,
                code_size,
                libc::PROT_READ | libc::PROT_EXEC,
            )
        };
        match result {
            0 => Ok(()),
            _ => Err(CodegenError::new(
                "image",
                "memory cannot be made executable",
            )),
        }
    }

    fn relocate(&self, section: usize, r: &ImageReloc, stubs: usize) -> Result<(), CodegenError> {
        let at = section + r.offset as usize;
        let to = match (r.target, r.kind) {
            (Target::Place(p), _) => self.address(p),
            (Target::External(i), RelocKind::PcRel32) => stubs + i * STUB,
            (Target::External(i), RelocKind::Abs64) => external_address(&self.image.externals[i])?,
        };
        let value = (to as i64).wrapping_add(r.addend);
        match r.kind {
            RelocKind::Abs64 => write(at, &value.to_le_bytes()),
            _ => write(at, &((value - at as i64) as i32).to_le_bytes()),
        }
        Ok(())
    }

    fn address(&self, p: Place) -> usize {
        self.sections[p.section as usize] + p.offset as usize
    }

    /// The address of a function or object of the image.
    pub fn symbol(&self, symbol: &SymbolRef) -> Option<usize> {
        self.image.place(symbol).map(|p| self.address(p))
    }
}

impl Drop for LoadedImage {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's own.
        unsafe { libc::munmap(self.base as *mut _, self.size) };
    }
}

/// Writes into the mapping that is being filled.
fn write(at: usize, bytes: &[u8]) {
    // SAFETY: callers stay within the sections they have laid out.
    unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), at as *mut u8, bytes.len()) };
}
