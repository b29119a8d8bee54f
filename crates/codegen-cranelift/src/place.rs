//! Images at addresses of this process.

use std::collections::HashMap;
use std::ffi::CString;
use std::ptr;
use std::sync::LazyLock;

use taipan_codegen::{CodegenError, Image, ImageReloc, Place, RelocKind, SectionId, Target};

/// Size of a page of memory.
pub(crate) const PAGE: usize = 4096;
/// Size of a stub: `jmp *[rip]` and the address.
pub const STUB: usize = 16;

/// Addresses of the runtime's functions and variables in this process.
static RUNTIME: LazyLock<HashMap<&'static str, usize>> = LazyLock::new(|| {
    let mut table = HashMap::new();
    taipan_runtime::start::symbols(|name, address| {
        table.insert(name, address as usize);
    });
    table
});

/// The address of a function or variable of the runtime or the C library.
pub fn external_address(name: &str) -> Result<usize, CodegenError> {
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

/// The code of a stub that goes on at an address.
pub fn stub(address: usize) -> [u8; STUB] {
    let mut stub = [0xff, 0x25, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xcc, 0xcc];
    stub[6..14].copy_from_slice(&(address as u64).to_le_bytes());
    stub
}

/// Where the parts of an image come to lie:
///
/// ```text
/// code, stubs to functions elsewhere     read-only data, data
/// ▲ start                       ▲ code_end                  ▲ data_end
/// ```
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placement {
    stubs: usize,
    sections: [usize; 3],
    pub(crate) code_end: usize,
    pub(crate) data_end: usize,
}

impl Placement {
    /// Code from `code` on; `data` answers where data start if code ends at its
    /// argument. Both are at multiples of 16.
    pub(crate) fn new(image: &Image, code: usize, data: impl FnOnce(usize) -> usize) -> Placement {
        let len = |id| image.section(id).bytes.len();
        let stubs = code + len(SectionId::Text).next_multiple_of(STUB);
        let code_end = stubs + image.externals.len() * STUB;
        let rodata = data(code_end);
        let data = rodata + len(SectionId::Rodata).next_multiple_of(16);
        Placement {
            stubs,
            sections: [code, rodata, data],
            code_end,
            data_end: data + len(SectionId::Data),
        }
    }

    pub(crate) fn address(&self, p: Place) -> usize {
        self.sections[p.section as usize] + p.offset as usize
    }

    /// Writes the image.
    ///
    /// # Safety
    /// Everything up to `code_end` and `data_end` is this process's to write, within a
    /// distance of 32 bits.
    pub(crate) unsafe fn fill(&self, image: &Image) -> Result<(), CodegenError> {
        for (i, name) in image.externals.iter().enumerate() {
            write(self.stubs + i * STUB, &stub(external_address(name)?));
        }
        for id in SectionId::ALL {
            let section = image.section(id);
            let start = self.sections[id as usize];
            write(start, &section.bytes);
            for r in &section.relocs {
                self.relocate(image, start, r)?;
            }
        }
        Ok(())
    }

    fn relocate(&self, image: &Image, section: usize, r: &ImageReloc) -> Result<(), CodegenError> {
        let at = section + r.offset as usize;
        let to = match (r.target, r.kind) {
            (Target::Place(p), _) => self.address(p),
            (Target::External(i), RelocKind::PcRel32) => self.stubs + i * STUB,
            (Target::External(i), RelocKind::Abs64) => external_address(&image.externals[i])?,
        };
        relocate(at, r.kind, to, r.addend);
        Ok(())
    }
}

/// Writes the address of something at a place.
pub(crate) fn relocate(at: usize, kind: RelocKind, to: usize, addend: i64) {
    let value = (to as i64).wrapping_add(addend);
    match kind {
        RelocKind::Abs64 => write(at, &value.to_le_bytes()),
        RelocKind::PcRel32 => write(at, &((value - at as i64) as i32).to_le_bytes()),
    }
}

/// Writes into a mapping that the caller has laid out.
pub(crate) fn write(at: usize, bytes: &[u8]) {
    // SAFETY: callers stay within the sections they have laid out.
    unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), at as *mut u8, bytes.len()) };
}
