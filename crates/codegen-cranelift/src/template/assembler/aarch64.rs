//! aarch64.
//!
//! Most instructions are words with the numbers of registers in them:
//!
//! ```text
//! bits 20 to 16: second operand    bits 9 to 5: first operand    bits 4 to 0: destination
//! ```

use taipan_codegen::RelocKind;

use super::{Alu, Cond, FloatCond, FloatOp, FloatReg, Label, Labels, Mem, Reg, Shift, Width};

pub(in super::super) const ACC: Reg = Reg(14);
pub(in super::super) const TEMP: Reg = Reg(15);
pub(in super::super) const MORE: Reg = Reg(17);
pub(in super::super) const FAR: Reg = Reg(8);
pub(in super::super) const FRAME: Reg = Reg(29);
pub(in super::super) const STACK: Reg = Reg(31);
pub(in super::super) const CELL: Reg = Reg(2);
pub(in super::super) const RESULT: Reg = Reg(0);
pub(in super::super) const UNIT_RESULT: Reg = Reg(2);
pub(in super::super) const INTS: [Reg; 8] = [
    Reg(0),
    Reg(1),
    Reg(2),
    Reg(3),
    Reg(4),
    Reg(5),
    Reg(6),
    Reg(7),
];
pub(in super::super) const POOL: [Reg; 5] = [Reg(9), Reg(10), Reg(11), Reg(12), Reg(13)];

/// The relocation of a call, and its addend.
pub(in super::super) const CALL: (RelocKind, i64) = (RelocKind::Aarch64Call, 0);

/// Used within an instruction of this file only. Stubs overwrite it as well.
const SCRATCH: Reg = Reg(16);
/// Reads as zero where an instruction does not take the stack pointer for it.
const ZERO: Reg = Reg(31);

/// The number of a condition in instructions.
fn number(cond: Cond) -> u32 {
    match cond {
        Cond::Equal => 0,
        Cond::NotEqual => 1,
        Cond::AboveEqual => 2,
        Cond::Below => 3,
        Cond::Sign => 4,
        Cond::Overflow => 6,
        Cond::Above => 8,
        Cond::BelowEqual => 9,
        Cond::GreaterEqual => 10,
        Cond::Less => 11,
        Cond::Greater => 12,
        Cond::LessEqual => 13,
    }
}

/// Load and store of a width: the instructions with a distance that is scaled, and the logarithm of its scale.
/// Floats are loaded as words.
fn load_of(width: Width) -> (u32, u32) {
    match width {
        Width::Unsigned8 => (0x3940_0000, 0),
        Width::Signed8 => (0x3980_0000, 0),
        Width::Unsigned16 => (0x7940_0000, 1),
        Width::Signed16 => (0x7980_0000, 1),
        Width::Unsigned32 => (0xb940_0000, 2),
        Width::Signed32 => (0xb980_0000, 2),
        Width::Word => (0xf940_0000, 3),
    }
}

fn store_of(width: Width) -> (u32, u32) {
    match width {
        Width::Unsigned8 | Width::Signed8 => (0x3900_0000, 0),
        Width::Unsigned16 | Width::Signed16 => (0x7900_0000, 1),
        Width::Unsigned32 | Width::Signed32 => (0xb900_0000, 2),
        Width::Word => (0xf900_0000, 3),
    }
}

const LOAD_FLOAT: (u32, u32) = (0xfd40_0000, 3);
const STORE_FLOAT: (u32, u32) = (0xfd00_0000, 3);

/// Code under construction.
#[derive(Default)]
pub(in super::super) struct Assembler {
    pub(in super::super) code: Vec<u8>,
    labels: Labels,
}

impl Assembler {
    fn word(&mut self, word: u32) {
        self.code.extend(word.to_le_bytes());
    }

    /// An instruction with a destination and two operands.
    fn three(&mut self, code: u32, to: Reg, a: Reg, b: Reg) {
        self.word(code | u32::from(b.0) << 16 | u32::from(a.0) << 5 | u32::from(to.0));
    }

    /// An instruction with a destination and one operand.
    fn two(&mut self, code: u32, to: Reg, a: Reg) {
        self.word(code | u32::from(a.0) << 5 | u32::from(to.0));
    }

    /// A load or store of the register of that number. The distance may be computed in `SCRATCH`.
    fn access(&mut self, (code, scale): (u32, u32), r: u8, Mem(base, at): Mem) {
        let (r, scaled) = (Reg(r), at >> scale);
        if scaled << scale == at && (0..4096).contains(&scaled) {
            self.two(code | (scaled as u32) << 10, r, base);
        } else if (-256..256).contains(&at) {
            // The form without a scale has the same bits but for one.
            self.two(code & !0x0100_0000 | (at as u32 & 0x1ff) << 12, r, base);
        } else {
            self.mov_imm(SCRATCH, i64::from(at));
            self.three(code & !0x0100_0000 | 0x0020_6800, r, base, SCRATCH);
        }
    }

    pub(in super::super) fn mov(&mut self, to: Reg, from: Reg) {
        if to != from {
            // orr to, xzr, from
            self.three(0xaa00_0000, to, ZERO, from);
        }
    }

    pub(in super::super) fn mov_imm(&mut self, to: Reg, n: i64) {
        let to = u32::from(to.0);
        let part = |n: i64, i: u32| (n >> (16 * i)) as u32 & 0xffff;
        let fewer = |value: u32| (0..4).filter(|i| part(n, *i) == value).count();
        let negated = fewer(0xffff) > fewer(0);
        let rest = if negated { 0xffff } else { 0 };
        let mut parts = (0..4).filter(|i| part(n, *i) != rest);
        let first = parts.next().unwrap_or(0);
        // movz or movn, then movk
        match negated {
            false => self.word(0xd280_0000 | first << 21 | part(n, first) << 5 | to),
            true => self.word(0x9280_0000 | first << 21 | part(!n, first) << 5 | to),
        }
        for i in parts {
            self.word(0xf280_0000 | i << 21 | part(n, i) << 5 | to);
        }
    }

    pub(in super::super) fn load(&mut self, to: Reg, m: Mem) {
        self.load_as(to, m, Width::Word);
    }

    /// Loads less than a word, or a word.
    pub(in super::super) fn load_as(&mut self, to: Reg, m: Mem, width: Width) {
        self.access(load_of(width), to.0, m);
    }

    /// Fills the bits of a register beyond a width.
    pub(in super::super) fn extend(&mut self, r: Reg, width: Width) {
        match width {
            Width::Unsigned8 => self.two(0x5300_1c00, r, r),
            Width::Signed8 => self.two(0x9340_1c00, r, r),
            Width::Unsigned16 => self.two(0x5300_3c00, r, r),
            Width::Signed16 => self.two(0x9340_3c00, r, r),
            Width::Unsigned32 => self.three(0x2a00_0000, r, ZERO, r),
            Width::Signed32 => self.two(0x9340_7c00, r, r),
            Width::Word => {}
        }
    }

    pub(in super::super) fn store(&mut self, m: Mem, from: Reg) {
        self.store_as(m, from, Width::Word);
    }

    /// Stores the low bits of a register, as many as a width has.
    pub(in super::super) fn store_as(&mut self, m: Mem, from: Reg, width: Width) {
        self.access(store_of(width), from.0, m);
    }

    pub(in super::super) fn lea(&mut self, to: Reg, Mem(base, at): Mem) {
        match at {
            0..4096 => self.two(0x9100_0000 | (at as u32) << 10, to, base),
            -4095..0 => self.two(0xd100_0000 | (-at as u32) << 10, to, base),
            _ => {
                self.mov_imm(SCRATCH, i64::from(at));
                self.three(0x8b00_0000, to, base, SCRATCH);
            }
        }
    }

    pub(in super::super) fn alu(&mut self, op: Alu, to: Reg, from: Reg) {
        match op {
            Alu::Add => self.three(0xab00_0000, to, to, from),
            Alu::Sub => self.three(0xeb00_0000, to, to, from),
            // The form that takes the stack pointer.
            Alu::Cmp if to == STACK => self.three(0xeb20_6000, ZERO, to, from),
            Alu::Cmp => self.three(0xeb00_0000, ZERO, to, from),
            Alu::Or => self.three(0xaa00_0000, to, to, from),
            Alu::And => self.three(0x8a00_0000, to, to, from),
            Alu::Xor => self.three(0xca00_0000, to, to, from),
        }
    }

    pub(in super::super) fn alu_mem(&mut self, op: Alu, to: Reg, m: Mem) {
        self.load(SCRATCH, m);
        self.alu(op, to, SCRATCH);
    }

    pub(in super::super) fn alu_imm(&mut self, op: Alu, to: Reg, n: i32) {
        const ADDS: u32 = 0xb100_0000;
        const SUBS: u32 = 0xf100_0000;
        let (positive, negative, result) = match op {
            Alu::Add => (ADDS, SUBS, to),
            Alu::Sub => (SUBS, ADDS, to),
            Alu::Cmp => (SUBS, ADDS, ZERO),
            Alu::Or | Alu::And | Alu::Xor => {
                self.mov_imm(SCRATCH, i64::from(n));
                return self.alu(op, to, SCRATCH);
            }
        };
        match n {
            0..4096 => self.two(positive | (n as u32) << 10, result, to),
            // The flags are those of the number itself, as it is not 0.
            -4095..0 => self.two(negative | (-n as u32) << 10, result, to),
            _ => {
                self.mov_imm(SCRATCH, i64::from(n));
                self.alu(op, to, SCRATCH);
            }
        }
    }

    /// A comparison of a word in memory with a number.
    pub(in super::super) fn cmp_mem_imm8(&mut self, m: Mem, n: i8) {
        self.load(SCRATCH, m);
        self.alu_imm(Alu::Cmp, SCRATCH, i32::from(n));
    }

    /// Subtracts one from the word that a register points to.
    pub(in super::super) fn count_down(&mut self, at: Reg) {
        self.load(SCRATCH, Mem(at, 0));
        self.alu_imm(Alu::Sub, SCRATCH, 1);
        self.store(Mem(at, 0), SCRATCH);
    }

    /// Tests bits of a byte in memory, which are next to each other.
    pub(in super::super) fn test_byte(&mut self, m: Mem, bits: u8) {
        self.load_as(SCRATCH, m, Width::Unsigned8);
        let (low, count) = (bits.trailing_zeros(), bits.count_ones());
        // ands wzr, w16, bits
        let rotation = (32 - low) % 32;
        self.two(
            0x7200_0000 | rotation << 16 | (count - 1) << 10,
            ZERO,
            SCRATCH,
        );
    }

    pub(in super::super) fn test(&mut self, r: Reg) {
        self.three(0xea00_0000, ZERO, r, r);
    }

    pub(in super::super) fn imul(&mut self, to: Reg, from: Reg) {
        self.three(0x9b00_7c00, to, to, from);
    }

    pub(in super::super) fn imul_imm(&mut self, to: Reg, n: i32) {
        self.mov_imm(SCRATCH, i64::from(n));
        self.imul(to, SCRATCH);
    }

    /// The product as signed numbers; the flag for overflow is set.
    pub(in super::super) fn mul_overflowing(&mut self, to: Reg, from: Reg) {
        // smulh x16, to, from
        self.three(0x9b40_7c00, SCRATCH, to, from);
        self.imul(to, from);
        // cmp x16, to, asr 63
        self.three(0xeb80_fc00, ZERO, SCRATCH, to);
        // ccmp xzr, 0, V, eq: it clears V if both are equal, and sets it otherwise.
        self.word(0xfa40_0be1);
    }

    pub(in super::super) fn neg(&mut self, r: Reg) {
        self.three(0xcb00_0000, r, ZERO, r);
    }

    pub(in super::super) fn not(&mut self, r: Reg) {
        self.three(0xaa20_0000, r, ZERO, r);
    }

    /// The high word of the product of `ACC` and a register, in `MORE`, without signs.
    pub(in super::super) fn mul_high(&mut self, r: Reg) {
        self.three(0x9bc0_7c00, MORE, ACC, r);
    }

    /// Divides `ACC` by a register that is not zero: the quotient in `ACC`, the rest in `MORE`. The one overflow wraps.
    pub(in super::super) fn divide(&mut self, signed: bool, by: Reg) {
        // cbnz by, 8; udf 0xc11f, as Cranelift has it for a division by zero
        self.word(0xb500_0040 | u32::from(by.0));
        self.word(0x0000_c11f);
        self.three(
            if signed { 0x9ac0_0c00 } else { 0x9ac0_0800 },
            SCRATCH,
            ACC,
            by,
        );
        // msub x17, x16, by, x14
        let acc = u32::from(ACC.0) << 10;
        self.three(0x9b00_8000 | acc, MORE, SCRATCH, by);
        self.mov(ACC, SCRATCH);
    }

    /// A shift by a number.
    pub(in super::super) fn shift_imm(&mut self, shift: Shift, r: Reg, n: u8) {
        let n = u32::from(n);
        match shift {
            Shift::Left => {
                let code = 0xd340_0000 | ((64 - n) % 64) << 16 | (63 - n) << 10;
                self.two(code, r, r);
            }
            Shift::Right => self.two(0xd340_fc00 | n << 16, r, r),
            Shift::SignedRight => self.two(0x9340_fc00 | n << 16, r, r),
        }
    }

    /// The same by the low six bits of `TEMP`.
    pub(in super::super) fn shift(&mut self, shift: Shift, r: Reg) {
        let code = match shift {
            Shift::Left => 0x9ac0_2000,
            Shift::Right => 0x9ac0_2400,
            Shift::SignedRight => 0x9ac0_2800,
        };
        self.three(code, r, r, TEMP);
    }

    /// The truth of a condition, in a whole register.
    pub(in super::super) fn set(&mut self, cond: Cond, r: Reg) {
        // csinc r, xzr, xzr, not cond
        self.three(0x9a80_0400 | (number(cond) ^ 1) << 12, r, ZERO, ZERO);
    }

    /// Moves if a condition holds.
    pub(in super::super) fn cmov(&mut self, cond: Cond, to: Reg, from: Reg) {
        self.three(0x9a80_0000 | number(cond) << 12, to, from, to);
    }

    pub(in super::super) fn push(&mut self, r: Reg) {
        // str r, [sp, #-16]!
        self.two(0xf81f_0c00, r, STACK);
    }

    pub(in super::super) fn pop(&mut self, r: Reg) {
        // ldr r, [sp], #16
        self.two(0xf841_0400, r, STACK);
    }

    /// Begins a function with a frame. Returns where its size is to be filled in.
    pub(in super::super) fn enter(&mut self) -> usize {
        // stp x29, x30, [sp, #-16]!; mov x29, sp
        self.word(0xa9bf_7bfd);
        self.word(0x9100_03fd);
        // sub sp, sp, 0, lsl 12; sub sp, sp, 0
        self.word(0xd140_03ff);
        self.word(0xd100_03ff);
        self.code.len() - 8
    }

    /// Fills in the size of a frame. False if it is too large.
    pub(in super::super) fn set_frame_size(&mut self, at: usize, size: i64) -> bool {
        let Some(size) = u32::try_from(size).ok().filter(|size| *size < 1 << 24) else {
            return false;
        };
        for (at, part) in [(at, size >> 12), (at + 4, size & 0xfff)] {
            or_into(&mut self.code, at, part << 10);
        }
        true
    }

    /// Gives the frame back.
    pub(in super::super) fn leave(&mut self) {
        // mov sp, x29; ldp x29, x30, [sp], #16
        self.word(0x9100_03bf);
        self.word(0xa8c1_7bfd);
    }

    pub(in super::super) fn ret(&mut self) {
        self.word(0xd65f_03c0);
    }

    /// Calls code at an address that is filled in later; where that goes.
    pub(in super::super) fn call(&mut self) -> usize {
        self.word(0x9400_0000);
        self.code.len() - 4
    }

    pub(in super::super) fn call_reg(&mut self, r: Reg) {
        self.two(0xd63f_0000, Reg(0), r);
    }

    pub(in super::super) fn jump_mem(&mut self, m: Mem) {
        self.load(SCRATCH, m);
        self.two(0xd61f_0000, Reg(0), SCRATCH);
    }

    // Floats.

    pub(in super::super) fn load_float(&mut self, to: FloatReg, m: Mem) {
        self.access(LOAD_FLOAT, to.0, m);
    }

    pub(in super::super) fn store_float(&mut self, m: Mem, from: FloatReg) {
        self.access(STORE_FLOAT, from.0, m);
    }

    /// The float with the bits of a register.
    pub(in super::super) fn float_of_bits(&mut self, to: FloatReg, from: Reg) {
        self.two(0x9e67_0000, Reg(to.0), from);
    }

    /// The bits of a float.
    pub(in super::super) fn bits_of_float(&mut self, to: Reg, from: FloatReg) {
        self.two(0x9e66_0000, to, Reg(from.0));
    }

    /// The float that an integer is.
    pub(in super::super) fn float_of_int(&mut self, to: FloatReg, from: Reg) {
        self.two(0x9e62_0000, Reg(to.0), from);
    }

    pub(in super::super) fn float(&mut self, op: FloatOp, to: FloatReg, from: FloatReg) {
        let code = match op {
            FloatOp::Add => 0x1e60_2800,
            FloatOp::Mul => 0x1e60_0800,
            FloatOp::Sub => 0x1e60_3800,
            FloatOp::Div => 0x1e60_1800,
        };
        self.three(code, Reg(to.0), Reg(to.0), Reg(from.0));
    }

    /// The truth of a condition of two floats, in `ACC`. `TEMP` is overwritten.
    pub(in super::super) fn float_set(&mut self, cond: FloatCond, a: FloatReg, b: FloatReg) {
        // fcmp a, b: if one is no number, C and V are set, the others are clear.
        self.three(0x1e60_2000, Reg(0), Reg(a.0), Reg(b.0));
        let cond = match cond {
            FloatCond::Greater => Cond::Greater,
            FloatCond::GreaterEqual => Cond::GreaterEqual,
            FloatCond::Equal => Cond::Equal,
            FloatCond::NotEqual => Cond::NotEqual,
        };
        self.set(cond, ACC);
    }

    // Jumps.

    pub(in super::super) fn label(&mut self) -> Label {
        self.labels.label()
    }

    /// Binds a label to the current position.
    pub(in super::super) fn bind(&mut self, label: Label) {
        self.labels.bind(label, self.code.len());
    }

    pub(in super::super) fn jump(&mut self, label: Label) {
        self.labels.jumps.push((self.code.len(), label));
        self.word(JUMP);
    }

    pub(in super::super) fn jump_if(&mut self, cond: Cond, label: Label) {
        self.labels.jumps.push((self.code.len(), label));
        self.word(0x5400_0000 | number(cond));
    }

    /// Fills in all distances of jumps. False if a label was never bound, or is too far away.
    pub(in super::super) fn finish(&mut self) -> bool {
        let code = &mut self.code;
        self.labels.finish(|at, to| {
            let distance = (to as i64 - at as i64) / 4;
            let (bits, shift) = match code[at + 3] == (JUMP >> 24) as u8 {
                true => (26, 0),
                false => (19, 5),
            };
            let most = 1_i64 << (bits - 1);
            let field = (distance as u32 & ((1 << bits) - 1)) << shift;
            or_into(code, at, field);
            (-most..most).contains(&distance)
        })
    }
}

/// `b`
const JUMP: u32 = 0x1400_0000;

/// Sets bits of the instruction at a place.
fn or_into(code: &mut [u8], at: usize, bits: u32) {
    for (byte, bits) in code[at..at + 4].iter_mut().zip(bits.to_le_bytes()) {
        *byte |= bits;
    }
}
