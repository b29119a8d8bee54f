//! Code for shared objects.
//!
//! Code is compiled once for every use. Absolute addresses are in it as instructions
//! that load a constant; in a shared object the address is read from the table that the linker
//! makes, relative to the instruction:
//!
//! ```text
//! x86-64   movabs $rpy_state, %rax     =>  mov rpy_state@GOTPCREL(%rip), %rax; nop
//! aarch64  ldr x0, 8; b 12; rpy_state  =>  adrp x0, :got:rpy_state; ldr x0, [x0, :got_lo12:rpy_state]; nop; nop
//! ```

use taipan_codegen::{CodegenError, Image, ImageReloc, RelocKind, SectionId, Target};
use taipan_language::Machine;

/// What stands behind the shorter instruction: a nop of three bytes.
const NOP: [u8; 3] = [0x0f, 0x1f, 0x00];

/// Whether code for a machine can be made position-independent.
pub fn makes_shared_objects(machine: Machine) -> bool {
    matches!(machine, Machine::X86_64 | Machine::Aarch64)
}

/// Rewrites the code of an image for that machine so that it has no absolute addresses. Returns the places of the
/// relocations that are by the table of addresses, in ascending order.
pub(crate) fn position_independent(
    image: &mut Image,
    machine: Machine,
) -> Result<Vec<u64>, CodegenError> {
    let text = &mut image.sections[SectionId::Text as usize];
    let (mut relocs, mut by_table) = (Vec::with_capacity(text.relocs.len()), Vec::new());
    for r in std::mem::take(&mut text.relocs) {
        match (r.kind, machine) {
            (RelocKind::Abs64, Machine::X86_64) => {
                let relative = relative_x86_64(&mut text.bytes, &r)?;
                if matches!(r.target, Target::External(_)) {
                    by_table.push(relative.offset);
                }
                relocs.push(relative);
            }
            (RelocKind::Abs64, Machine::Aarch64) => {
                for relative in by_table_aarch64(&mut text.bytes, &r)? {
                    by_table.push(relative.offset);
                    relocs.push(relative);
                }
            }
            (RelocKind::Abs64, _) => return Err(refused("shared objects are not made for it")),
            _ => relocs.push(r),
        }
    }
    text.relocs = relocs;
    Ok(by_table)
}

fn refused(message: &str) -> CodegenError {
    CodegenError::new("shared object", message)
}

fn unknown() -> CodegenError {
    refused("an absolute address that is no operand of a load")
}

/// The table has addresses of functions and variables, and none of places inside of them.
fn check_in_table(r: &ImageReloc) -> Result<(), CodegenError> {
    match r.addend {
        0 => Ok(()),
        _ => Err(refused(
            "a place inside of something that is not in the image",
        )),
    }
}

/// Rewrites an instruction of x86-64 that loads an absolute address, and returns its relocation.
fn relative_x86_64(bytes: &mut [u8], r: &ImageReloc) -> Result<ImageReloc, CodegenError> {
    let at = r.offset as usize;
    // REX.W, with the high bit of the register, and 0xb8 with its low bits.
    let start = at.checked_sub(2).ok_or_else(unknown)?;
    let code = bytes.get_mut(start..at + 8).ok_or_else(unknown)?;
    let (rex, opcode) = (code[0], code[1]);
    if rex & !1 != 0x48 || opcode & !7 != 0xb8 {
        return Err(unknown());
    }
    let is_external = matches!(r.target, Target::External(_));
    if is_external {
        check_in_table(r)?;
    }
    code[0] = 0x48 | (rex & 1) << 2;
    code[1] = if is_external { 0x8b } else { 0x8d };
    // The address is relative to the end of the instruction.
    code[2] = 0x05 | (opcode & 7) << 3;
    code[3..7].fill(0);
    code[7..].copy_from_slice(&NOP);
    Ok(ImageReloc {
        offset: r.offset + 1,
        kind: RelocKind::PcRel32,
        addend: r.addend - 4,
        ..*r
    })
}

/// Rewrites the instructions of aarch64 that load an absolute address, and returns their relocations.
fn by_table_aarch64(bytes: &mut [u8], r: &ImageReloc) -> Result<[ImageReloc; 2], CodegenError> {
    const LOAD: u32 = 0x5800_0040;
    const OVER: u32 = 0x1400_0003;
    const NOP: u32 = 0xd503_201f;
    let at = r.offset as usize;
    let start = at.checked_sub(8).ok_or_else(unknown)?;
    let code = bytes.get_mut(start..at + 8).ok_or_else(unknown)?;
    let word = |i: usize| u32::from_le_bytes([code[i], code[i + 1], code[i + 2], code[i + 3]]);
    let (load, over) = (word(0), word(4));
    let is_external = matches!(r.target, Target::External(_));
    if load & !31 != LOAD || over != OVER || !is_external {
        return Err(unknown());
    }
    check_in_table(r)?;
    let register = load & 31;
    // adrp, ldr
    let new = [
        0x9000_0000 | register,
        0xf940_0000 | register << 5 | register,
        NOP,
        NOP,
    ];
    for (bytes, word) in code.chunks_exact_mut(4).zip(new) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    let relative = |offset, kind| ImageReloc { offset, kind, ..*r };
    Ok([
        relative(r.offset - 8, RelocKind::Aarch64Page),
        relative(r.offset - 4, RelocKind::Aarch64PageOffset),
    ])
}
