//! Code for shared objects.
//!
//! Code is compiled once for every use. What it needs an absolute address for is an instruction
//! that loads a constant; in a shared object the address is read from the table that the linker
//! makes, relative to the instruction:
//!
//! ```text
//! movabs $rpy_state, %rax     =>  mov rpy_state@GOTPCREL(%rip), %rax; nop
//! ```

use taipan_codegen::{CodegenError, Image, RelocKind, SectionId, Target};

/// What stands behind the shorter instruction: a nop of three bytes.
const NOP: [u8; 3] = [0x0f, 0x1f, 0x00];

/// Rewrites the code of an image so that it has no absolute addresses. Returns the places of the
/// relocations that are by the table of addresses, in ascending order.
pub(crate) fn position_independent(image: &mut Image) -> Result<Vec<u64>, CodegenError> {
    let text = &mut image.sections[SectionId::Text as usize];
    let mut by_table = Vec::new();
    for r in &mut text.relocs {
        if r.kind != RelocKind::Abs64 {
            continue;
        }
        let at = r.offset as usize;
        let unknown = || {
            CodegenError::new(
                "shared object",
                "an absolute address that is no operand of mov",
            )
        };
        // REX.W, with the high bit of the register, and 0xb8 with its low bits.
        let start = at.checked_sub(2).ok_or_else(unknown)?;
        let code = text.bytes.get_mut(start..at + 8).ok_or_else(unknown)?;
        let (rex, opcode) = (code[0], code[1]);
        if rex & !1 != 0x48 || opcode & !7 != 0xb8 {
            return Err(unknown());
        }
        let in_table = matches!(r.target, Target::External(_)) && r.addend == 0;
        code[0] = 0x48 | (rex & 1) << 2;
        code[1] = if in_table { 0x8b } else { 0x8d };
        // The address is relative to the end of the instruction.
        code[2] = 0x05 | (opcode & 7) << 3;
        code[3..7].fill(0);
        code[7..].copy_from_slice(&NOP);
        r.kind = RelocKind::PcRel32;
        r.offset += 1;
        r.addend -= 4;
        if in_table {
            by_table.push(r.offset);
        } else if matches!(r.target, Target::External(_)) {
            return Err(CodegenError::new(
                "shared object",
                "a place inside of something that is not in the image",
            ));
        }
    }
    Ok(by_table)
}
