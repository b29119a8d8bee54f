//! Addresses in code of this process's machine, and the few instructions that lead elsewhere.
//!
//! | | x86-64 | aarch64 |
//! | --- | --- | --- |
//! | a call reaches | 2 GB | 128 MB |
//! | an address of data reaches | 2 GB | 4 GB, by its page |
//! | caches of instructions | follow writes | are flushed after writes |
//!
//! Everything here is for the machine that this process runs on. Images for other machines are given to a linker.

use taipan_codegen::{CodegenError, RelocKind};

/// Size of a stub: a jump, and the address that it goes to.
pub const STUB: usize = 16;

/// Largest distance of a call, in bytes.
pub const CALL_REACH: usize = if AARCH64 { 1 << 27 } else { 1 << 31 };

/// Largest page of memory that systems have on this machine. Data that needs its own pages begins at
/// a multiple of this, so that the layout does not depend on the system.
pub const LARGEST_PAGE: usize = if AARCH64 { 64 << 10 } else { 4 << 10 };

const AARCH64: bool = cfg!(target_arch = "aarch64");

/// A page in the distance of an instruction of aarch64, whatever pages the system has.
const AARCH64_PAGE: i64 = 4096;

/// Whether relocations of that kind are in code for the machine of this process.
pub(crate) fn is_own(kind: RelocKind) -> bool {
    match kind {
        RelocKind::Abs64 => true,
        RelocKind::PcRel32 => cfg!(target_arch = "x86_64"),
        RelocKind::Aarch64Call | RelocKind::Aarch64Page | RelocKind::Aarch64PageOffset => AARCH64,
        RelocKind::RiscvCall | RelocKind::RiscvHigh | RelocKind::RiscvLow => false,
    }
}

/// Whether a relocation is that of a call, which may go by way of a stub.
pub fn is_call(kind: RelocKind) -> bool {
    matches!(kind, RelocKind::PcRel32 | RelocKind::Aarch64Call)
}

/// The bytes at a relocation with the address in them.
#[derive(Clone, Copy)]
pub struct Patch {
    bytes: [u8; 8],
    size: usize,
}

impl Patch {
    /// Changes bytes of code, of which the first ones lie at `at`, so that they refer to `to`.
    ///
    /// # Errors
    /// An address out of reach, and a relocation for another machine.
    pub fn new(code: &[u8], at: usize, kind: RelocKind, to: i64) -> Result<Patch, CodegenError> {
        let from = at as i64;
        let far = || CodegenError::new("code", format!("{to:#x} is out of reach of {from:#x}"));
        let instruction = || {
            let mut word = [0; 4];
            word.copy_from_slice(&code[..4]);
            u32::from_le_bytes(word)
        };
        match kind {
            RelocKind::Abs64 => Ok(Patch {
                bytes: to.to_le_bytes(),
                size: 8,
            }),
            RelocKind::PcRel32 => {
                let distance = i32::try_from(to - from).map_err(|_| far())?;
                Ok(Patch::word(distance as u32))
            }
            RelocKind::Aarch64Call => {
                let distance = in_bits(to - from, 28).ok_or_else(far)?;
                let field = (distance >> 2) & 0x03ff_ffff;
                Ok(Patch::word(instruction() & !0x03ff_ffff | field))
            }
            RelocKind::Aarch64Page => {
                let pages = to.div_euclid(AARCH64_PAGE) - from.div_euclid(AARCH64_PAGE);
                let pages = in_bits(pages, 21).ok_or_else(far)?;
                let field = (pages & 3) << 29 | ((pages >> 2) & 0x7ffff) << 5;
                Ok(Patch::word(instruction() & !0x60ff_ffe0 | field))
            }
            RelocKind::Aarch64PageOffset => {
                let field = (to.rem_euclid(AARCH64_PAGE) as u32) << 10;
                Ok(Patch::word(instruction() & !0x003f_fc00 | field))
            }
            kind => {
                let message = format!("relocation {kind:?} is not for this machine");
                Err(CodegenError::new("code", message))
            }
        }
    }

    fn word(word: u32) -> Patch {
        let mut bytes = [0; 8];
        bytes[..4].copy_from_slice(&word.to_le_bytes());
        Patch { bytes, size: 4 }
    }

    /// The changed bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.size]
    }
}

/// A signed number if it has no more than that many bits.
fn in_bits(value: i64, bits: u32) -> Option<u32> {
    let largest = 1_i64 << (bits - 1);
    (-largest..largest).contains(&value).then_some(value as u32)
}

/// The filling between functions, and of free memory for code: it traps on both machines.
pub const TRAP: u8 = 0xcc;

/// The code of a stub that jumps to an address.
pub fn stub(address: usize) -> [u8; STUB] {
    let address = (address as u64).to_le_bytes();
    let mut stub = [TRAP; STUB];
    if AARCH64 {
        // ldr x16, 8; br x16
        stub[..8].copy_from_slice(&words([0x5800_0050, BRANCH]));
        stub[8..].copy_from_slice(&address);
    } else {
        // jmp [rip]
        stub[..6].copy_from_slice(&[0xff, 0x25, 0, 0, 0, 0]);
        stub[6..14].copy_from_slice(&address);
    }
    stub
}

/// The code of a jump by way of a word in the same image or region.
///
/// # Errors
/// A word out of reach.
pub(crate) fn jump_by(at: usize, word: usize) -> Result<[u8; STUB], CodegenError> {
    let mut code = [TRAP; STUB];
    if AARCH64 {
        // adrp x16, 0; ldr x16, [x16]; br x16
        code[..12].copy_from_slice(&words([0x9000_0010, 0xf940_0210, BRANCH]));
        let page = Patch::new(&code, at, RelocKind::Aarch64Page, word as i64)?;
        code[..4].copy_from_slice(page.bytes());
        // The offset of a word counts words.
        let offset = (word as i64).rem_euclid(AARCH64_PAGE) as u32 / 8;
        code[4..8].copy_from_slice(&words([0xf940_0210 | offset << 10]));
    } else {
        code[..2].copy_from_slice(&[0xff, 0x25]);
        let distance = word as i64 - 4;
        let distance = Patch::new(&code[2..], at + 2, RelocKind::PcRel32, distance)?;
        code[2..6].copy_from_slice(distance.bytes());
    }
    Ok(code)
}

/// `br x16`
const BRANCH: u32 = 0xd61f_0200;

/// The code of cells without a unit. It calls the `extern "C" fn(usize) -> usize` at that address with the cell, and jumps by the
/// cell that the function returns. Cranelift's `tail` convention says where the cell is.
pub(crate) fn arrival(function: usize) -> Vec<u8> {
    let function = (function as u64).to_le_bytes();
    if AARCH64 {
        let mut code = words([
            0xa9bf_7bfd, // stp x29, x30, [sp, #-16]!
            0x9100_03fd, // mov x29, sp
            0xaa02_03e0, // mov x0, x2
            0x5800_00d0, // ldr x16, function
            0xd63f_0200, // blr x16
            0xaa00_03e2, // mov x2, x0
            0xa8c1_7bfd, // ldp x29, x30, [sp], #16
            0xf940_0050, // ldr x16, [x2]
            BRANCH,
        ]);
        code.extend(function);
        return code;
    }
    let mut code = vec![
        0x55, // push rbp
        0x48, 0x89, 0xe5, // mov rbp, rsp
        0x48, 0xb8, // mov rax, function
    ];
    code.extend(function);
    code.extend([
        0xff, 0xd0, // call rax
        0x48, 0x89, 0xc7, // mov rdi, rax
        0x5d, // pop rbp
        0xff, 0x27, // jmp [rdi]
    ]);
    code
}

/// Instructions of aarch64 as bytes.
fn words<const N: usize>(words: [u32; N]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

/// Has later jumps to this memory of the process run the code that is in it now. All processors see it; a
/// thread that is running at the time does so once it has entered the system or has been interrupted, and no
/// code is written where other code was.
///
/// # Safety
/// The memory can be read.
pub unsafe fn flush(start: usize, size: usize) {
    #[cfg(target_arch = "aarch64")]
    // SAFETY: the instructions change no memory; the caller says that it can be read.
    unsafe {
        use std::arch::asm;
        let sizes: usize;
        asm!("mrs {}, ctr_el0", out(reg) sizes, options(nomem, nostack, preserves_flags));
        let line = |shift: usize| 4_usize << (sizes >> shift & 15);
        let (data, instructions) = (line(16), line(0));
        let end = start + size;
        for at in (start / data * data..end).step_by(data) {
            asm!("dc cvau, {}", in(reg) at, options(nostack, preserves_flags));
        }
        asm!("dsb ish", options(nostack, preserves_flags));
        for at in (start / instructions * instructions..end).step_by(instructions) {
            asm!("ic ivau, {}", in(reg) at, options(nostack, preserves_flags));
        }
        asm!("dsb ish", "isb", options(nostack, preserves_flags));
    }
    #[cfg(not(target_arch = "aarch64"))]
    let _ = (start, size);
}

#[cfg(test)]
mod tests {
    use taipan_codegen::RelocKind::{self, Aarch64Call, Aarch64Page, Aarch64PageOffset, PcRel32};

    use super::Patch;

    fn patched(code: u32, at: usize, kind: RelocKind, to: i64) -> Option<u32> {
        let patch = Patch::new(&code.to_le_bytes(), at, kind, to).ok()?;
        let bytes = patch.bytes().try_into().expect("an instruction");
        Some(u32::from_le_bytes(bytes))
    }

    /// The instructions are those of GNU's assembler.
    #[test]
    fn addresses_in_instructions() {
        const BL: u32 = 0x9400_0000;
        const ADRP_X1: u32 = 0x9000_0001;
        const ADD_X1_X1: u32 = 0x9100_0021;
        let mib = 1 << 20;
        let at = 0x4000_0123;
        for (code, kind, to, expected) in [
            (BL, Aarch64Call, 0x4000_1123, Some(0x9400_0400)),
            (BL, Aarch64Call, at as i64 - 4, Some(0x97ff_ffff)),
            (BL, Aarch64Call, at as i64 - 128 * mib, Some(0x9600_0000)),
            (BL, Aarch64Call, at as i64 + 128 * mib, None),
            (ADRP_X1, Aarch64Page, 0x4020_0456, Some(0x9000_1001)),
            (ADRP_X1, Aarch64Page, 0x4000_0fff, Some(0x9000_0001)),
            (ADRP_X1, Aarch64Page, 0x3fff_ffff, Some(0xf0ff_ffe1)),
            (ADRP_X1, Aarch64Page, at as i64 + 4096 * mib, None),
            (ADD_X1_X1, Aarch64PageOffset, 0x4020_0456, Some(0x9111_5821)),
            (0, PcRel32, at as i64 + 16, Some(16)),
            (0, PcRel32, at as i64 + 2048 * mib, None),
        ] {
            assert_eq!(patched(code, at, kind, to), expected, "{kind:?} {to:#x}");
        }
    }
}
