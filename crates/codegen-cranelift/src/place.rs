//! Images at addresses of this process.

use std::collections::HashMap;
use std::ffi::CString;
use std::ptr;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use taipan_codegen::{CodegenError, Image, Place, RelocKind, SectionId, Target};

use crate::patch::{CALL_REACH, LARGEST_PAGE, Patch, STUB, flush, is_own, jump_by, stub};

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

/// Refuses images of code for other machines than this one.
pub(crate) fn own_code(image: &Image) -> Result<(), CodegenError> {
    let mut relocs = (image.sections.iter()).flat_map(|s| &s.relocs);
    match relocs.all(|r| is_own(r.kind)) {
        true => Ok(()),
        false => Err(CodegenError::new("image", "it is for another machine")),
    }
}

/// Where the parts of an image come to lie:
///
/// ```text
/// code, stubs to functions elsewhere     read-only data, data
/// ▲ start                       ▲ code_end                  ▲ data_end
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
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

    /// The place of code at an address; none elsewhere.
    pub(crate) fn code_at(&self, address: usize) -> Option<Place> {
        let start = self.sections[SectionId::Text as usize];
        (start..self.stubs).contains(&address).then(|| Place {
            section: SectionId::Text,
            offset: (address - start) as u64,
        })
    }

    /// Writes the image into this process's memory: see [`Placement::fill_by`].
    ///
    /// # Safety
    /// Everything up to `code_end` and `data_end`, and a word for each late external, is this process's
    /// to write.
    pub(crate) unsafe fn fill(
        &self,
        image: &Image,
        addresses: &[Option<usize>],
        late: usize,
    ) -> Result<Vec<OpenAddress>, CodegenError> {
        let open = self.fill_by(image, addresses, late, &mut write)?;
        let code = self.sections[SectionId::Text as usize];
        // SAFETY: the code was written just now.
        unsafe { flush(code, self.code_end - code) };
        Ok(open)
    }

    /// Writes the image through a function that takes an address and its bytes. `addresses` maps externals
    /// to their addresses. For an external without an address, the relocations are returned, each with the
    /// number of the external and the addend. Words at `late` hold the targets of stubs.
    ///
    /// # Errors
    /// An image that is too large for the distances in its code.
    pub(crate) fn fill_by(
        &self,
        image: &Image,
        addresses: &[Option<usize>],
        late: usize,
        write: &mut impl FnMut(usize, &[u8]),
    ) -> Result<Vec<OpenAddress>, CodegenError> {
        let mut open = Vec::new();
        for (i, address) in addresses.iter().enumerate() {
            let at = self.stubs + i * STUB;
            match address {
                Some(address) => write(at, &stub(*address)),
                None => {
                    let word = late + open.len() * 8;
                    write(at, &jump_by(at, word)?);
                    open.push((word, i, 0));
                }
            }
        }
        for id in SectionId::ALL {
            let section = image.section(id);
            let start = self.sections[id as usize];
            write(start, &section.bytes);
            for r in &section.relocs {
                let at = start + r.offset as usize;
                let to = match (r.target, r.kind) {
                    (Target::Place(p), _) => self.address(p),
                    (Target::External(i), RelocKind::Abs64) => match addresses[i] {
                        Some(address) => address,
                        None => {
                            open.push((at, i, r.addend));
                            continue;
                        }
                    },
                    (Target::External(i), _) => match addresses[i] {
                        Some(address) if is_near(address, at) => address,
                        _ => self.stubs + i * STUB,
                    },
                };
                let code = &section.bytes[r.offset as usize..];
                let to = (to as i64).wrapping_add(r.addend);
                write(at, Patch::new(code, at, r.kind, to)?.bytes());
            }
        }
        Ok(open)
    }
}

/// A word without its address: its place, the number of the external, and the addend.
pub(crate) type OpenAddress = (usize, usize, i64);

/// Whether a call at a place reaches an address, with room for what is added to it.
fn is_near(address: usize, at: usize) -> bool {
    address.abs_diff(at) < CALL_REACH - LARGEST_PAGE
}

/// Writes an address of 64 bits at a place in this process's memory.
pub(crate) fn write_address(at: usize, to: usize, addend: i64) {
    let value = (to as i64).wrapping_add(addend);
    write(at, &value.to_le_bytes());
}

/// Writes into a mapping that the caller has laid out.
pub(crate) fn write(at: usize, bytes: &[u8]) {
    // SAFETY: callers stay within the sections they have laid out.
    unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), at as *mut u8, bytes.len()) };
}
