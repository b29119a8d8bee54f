//! x86-64.

use taipan_codegen::RelocKind;

use super::{Alu, Cond, FloatCond, FloatOp, FloatReg, Label, Labels, Mem, Reg, Shift, Width};

const RAX: Reg = Reg(0);
const RCX: Reg = Reg(1);
const RDX: Reg = Reg(2);
const RSP: Reg = Reg(4);
const RBP: Reg = Reg(5);
const RSI: Reg = Reg(6);
const RDI: Reg = Reg(7);
const R8: Reg = Reg(8);
const R9: Reg = Reg(9);
const R10: Reg = Reg(10);
const R11: Reg = Reg(11);

pub(in super::super) const ACC: Reg = RAX;
pub(in super::super) const TEMP: Reg = RCX;
pub(in super::super) const MORE: Reg = RDX;
pub(in super::super) const FAR: Reg = R11;
pub(in super::super) const FRAME: Reg = RBP;
pub(in super::super) const STACK: Reg = RSP;
pub(in super::super) const CELL: Reg = RDI;
pub(in super::super) const RESULT: Reg = RAX;
pub(in super::super) const UNIT_RESULT: Reg = RAX;
pub(in super::super) const INTS: [Reg; 6] = [RDI, RSI, RDX, RCX, R8, R9];
pub(in super::super) const POOL: [Reg; 5] = [RSI, RDI, R8, R9, R10];

/// The relocation of a call, and its addend.
pub(in super::super) const CALL: (RelocKind, i64) = (RelocKind::PcRel32, -4);

/// Conditions, by their numbers in instructions.
#[derive(Clone, Copy)]
enum Code {
    Overflow = 0,
    Below = 2,
    AboveEqual = 3,
    Equal = 4,
    NotEqual = 5,
    BelowEqual = 6,
    Above = 7,
    Sign = 8,
    Parity = 10,
    NoParity = 11,
    Less = 12,
    GreaterEqual = 13,
    LessEqual = 14,
    Greater = 15,
}

impl From<Cond> for Code {
    fn from(cond: Cond) -> Code {
        match cond {
            Cond::Overflow => Code::Overflow,
            Cond::Below => Code::Below,
            Cond::AboveEqual => Code::AboveEqual,
            Cond::Equal => Code::Equal,
            Cond::NotEqual => Code::NotEqual,
            Cond::BelowEqual => Code::BelowEqual,
            Cond::Above => Code::Above,
            Cond::Sign => Code::Sign,
            Cond::Less => Code::Less,
            Cond::GreaterEqual => Code::GreaterEqual,
            Cond::LessEqual => Code::LessEqual,
            Cond::Greater => Code::Greater,
        }
    }
}

/// The opcode of the form that has a register as destination.
fn opcode(op: Alu) -> u8 {
    match op {
        Alu::Add => 0x03,
        Alu::Or => 0x0b,
        Alu::And => 0x23,
        Alu::Sub => 0x2b,
        Alu::Xor => 0x33,
        Alu::Cmp => 0x3b,
    }
}

/// The number of a shift in instructions.
fn number(shift: Shift) -> u8 {
    match shift {
        Shift::Left => 4,
        Shift::Right => 5,
        Shift::SignedRight => 7,
    }
}

/// Code under construction.
#[derive(Default)]
pub(in super::super) struct Assembler {
    pub(in super::super) code: Vec<u8>,
    labels: Labels,
}

impl Assembler {
    fn byte(&mut self, b: u8) {
        self.code.push(b);
    }

    fn four(&mut self, n: i32) {
        self.code.extend(n.to_le_bytes());
    }

    /// The prefix for 64 bits, with the upper bits of three registers.
    fn rex(&mut self, wide: bool, reg: u8, index: u8, base: u8, always: bool) {
        let rex = 0x40 | u8::from(wide) << 3 | (reg >> 3) << 2 | (index >> 3) << 1 | (base >> 3);
        if rex != 0x40 || always {
            self.byte(rex);
        }
    }

    fn modrm_reg(&mut self, reg: u8, rm: u8) {
        self.byte(0xc0 | (reg & 7) << 3 | (rm & 7));
    }

    fn modrm_mem(&mut self, reg: u8, Mem(base, at): Mem) {
        let short = i8::try_from(at);
        let form = if short.is_ok() { 0x40 } else { 0x80 };
        self.byte(form | (reg & 7) << 3 | (base.0 & 7));
        if base.0 & 7 == 4 {
            self.byte(0x24);
        }
        match short {
            Ok(at) => self.byte(at as u8),
            Err(_) => self.four(at),
        }
    }

    /// An instruction of 64 bits with a register and a place in memory.
    fn with_mem(&mut self, opcode: &[u8], reg: u8, m: Mem) {
        self.rex(true, reg, 0, m.0.0, false);
        self.code.extend(opcode);
        self.modrm_mem(reg, m);
    }

    /// The same with two registers.
    fn with_reg(&mut self, opcode: &[u8], reg: u8, rm: u8) {
        self.rex(true, reg, 0, rm, false);
        self.code.extend(opcode);
        self.modrm_reg(reg, rm);
    }

    pub(in super::super) fn mov(&mut self, to: Reg, from: Reg) {
        if to != from {
            self.with_reg(&[0x8b], to.0, from.0);
        }
    }

    pub(in super::super) fn mov_imm(&mut self, to: Reg, n: i64) {
        if n == 0 {
            // It changes flags, as nothing between a comparison and its use may: callers do not
            // load constants there.
            self.rex(false, to.0, 0, to.0, false);
            self.byte(0x33);
            self.modrm_reg(to.0, to.0);
        } else if let Ok(n) = u32::try_from(n) {
            self.rex(false, 0, 0, to.0, false);
            self.byte(0xb8 | (to.0 & 7));
            self.four(n as i32);
        } else if let Ok(n) = i32::try_from(n) {
            self.rex(true, 0, 0, to.0, false);
            self.byte(0xc7);
            self.modrm_reg(0, to.0);
            self.four(n);
        } else {
            self.rex(true, 0, 0, to.0, false);
            self.byte(0xb8 | (to.0 & 7));
            self.code.extend(n.to_le_bytes());
        }
    }

    pub(in super::super) fn load(&mut self, to: Reg, m: Mem) {
        self.with_mem(&[0x8b], to.0, m);
    }

    /// Loads less than a word, or a word.
    pub(in super::super) fn load_as(&mut self, to: Reg, m: Mem, width: Width) {
        match width {
            Width::Unsigned8 => self.with_mem(&[0x0f, 0xb6], to.0, m),
            Width::Signed8 => self.with_mem(&[0x0f, 0xbe], to.0, m),
            Width::Unsigned16 => self.with_mem(&[0x0f, 0xb7], to.0, m),
            Width::Signed16 => self.with_mem(&[0x0f, 0xbf], to.0, m),
            Width::Unsigned32 => {
                self.rex(false, to.0, 0, m.0.0, false);
                self.byte(0x8b);
                self.modrm_mem(to.0, m);
            }
            Width::Signed32 => self.with_mem(&[0x63], to.0, m),
            Width::Word => self.load(to, m),
        }
    }

    /// Fills the bits of a register beyond a width.
    pub(in super::super) fn extend(&mut self, r: Reg, width: Width) {
        match width {
            Width::Unsigned8 => self.with_reg(&[0x0f, 0xb6], r.0, r.0),
            Width::Signed8 => self.with_reg(&[0x0f, 0xbe], r.0, r.0),
            Width::Unsigned16 => self.with_reg(&[0x0f, 0xb7], r.0, r.0),
            Width::Signed16 => self.with_reg(&[0x0f, 0xbf], r.0, r.0),
            Width::Unsigned32 => {
                self.rex(false, r.0, 0, r.0, false);
                self.byte(0x8b);
                self.modrm_reg(r.0, r.0);
            }
            Width::Signed32 => self.with_reg(&[0x63], r.0, r.0),
            Width::Word => {}
        }
    }

    pub(in super::super) fn store(&mut self, m: Mem, from: Reg) {
        self.with_mem(&[0x89], from.0, m);
    }

    /// Stores the low bits of a register, as many as a width has.
    pub(in super::super) fn store_as(&mut self, m: Mem, from: Reg, width: Width) {
        match width {
            Width::Unsigned8 | Width::Signed8 => {
                self.rex(false, from.0, 0, m.0.0, true);
                self.byte(0x88);
                self.modrm_mem(from.0, m);
            }
            Width::Unsigned16 | Width::Signed16 => {
                self.byte(0x66);
                self.rex(false, from.0, 0, m.0.0, false);
                self.byte(0x89);
                self.modrm_mem(from.0, m);
            }
            Width::Unsigned32 | Width::Signed32 => {
                self.rex(false, from.0, 0, m.0.0, false);
                self.byte(0x89);
                self.modrm_mem(from.0, m);
            }
            Width::Word => self.store(m, from),
        }
    }

    pub(in super::super) fn lea(&mut self, to: Reg, m: Mem) {
        self.with_mem(&[0x8d], to.0, m);
    }

    pub(in super::super) fn alu(&mut self, op: Alu, to: Reg, from: Reg) {
        self.with_reg(&[opcode(op)], to.0, from.0);
    }

    pub(in super::super) fn alu_mem(&mut self, op: Alu, to: Reg, m: Mem) {
        self.with_mem(&[opcode(op)], to.0, m);
    }

    pub(in super::super) fn alu_imm(&mut self, op: Alu, to: Reg, n: i32) {
        self.rex(true, 0, 0, to.0, false);
        let number = opcode(op) >> 3;
        match i8::try_from(n) {
            Ok(n) => {
                self.byte(0x83);
                self.modrm_reg(number, to.0);
                self.byte(n as u8);
            }
            Err(_) => {
                self.byte(0x81);
                self.modrm_reg(number, to.0);
                self.four(n);
            }
        }
    }

    /// A comparison of a word in memory with a number.
    pub(in super::super) fn cmp_mem_imm8(&mut self, m: Mem, n: i8) {
        self.with_mem(&[0x83], 7, m);
        self.byte(n as u8);
    }

    /// Subtracts one from the word that a register points to.
    pub(in super::super) fn count_down(&mut self, at: Reg) {
        self.with_mem(&[0x83], 5, Mem(at, 0));
        self.byte(1);
    }

    /// Tests bits of a byte in memory.
    pub(in super::super) fn test_byte(&mut self, m: Mem, bits: u8) {
        self.rex(false, 0, 0, m.0.0, false);
        self.byte(0xf6);
        self.modrm_mem(0, m);
        self.byte(bits);
    }

    pub(in super::super) fn test(&mut self, r: Reg) {
        self.with_reg(&[0x85], r.0, r.0);
    }

    pub(in super::super) fn imul(&mut self, to: Reg, from: Reg) {
        self.with_reg(&[0x0f, 0xaf], to.0, from.0);
    }

    pub(in super::super) fn imul_imm(&mut self, to: Reg, n: i32) {
        self.with_reg(&[0x69], to.0, to.0);
        self.four(n);
    }

    pub(in super::super) fn neg(&mut self, r: Reg) {
        self.with_reg(&[0xf7], 3, r.0);
    }

    pub(in super::super) fn not(&mut self, r: Reg) {
        self.with_reg(&[0xf7], 2, r.0);
    }

    /// The product as signed numbers; the flag for overflow is set.
    pub(in super::super) fn mul_overflowing(&mut self, to: Reg, from: Reg) {
        self.imul(to, from);
    }

    /// The high word of the product of `ACC` and a register, in `MORE`, without signs.
    pub(in super::super) fn mul_high(&mut self, r: Reg) {
        self.with_reg(&[0xf7], 4, r.0);
    }

    /// Divides `ACC` by a register that is not zero: the quotient in `ACC`, the rest in `MORE`. The one overflow wraps.
    pub(in super::super) fn divide(&mut self, signed: bool, by: Reg) {
        if !signed {
            self.mov_imm(RDX, 0);
            self.with_reg(&[0xf7], 6, by.0);
            return;
        }
        let (usual, done) = (self.label(), self.label());
        self.alu_imm(Alu::Cmp, by, -1);
        self.jump_if(Cond::NotEqual, usual);
        self.neg(RAX);
        self.mov_imm(RDX, 0);
        self.jump(done);
        self.bind(usual);
        // The sign of rax fills rdx.
        self.code.extend([0x48, 0x99]);
        self.with_reg(&[0xf7], 7, by.0);
        self.bind(done);
    }

    /// A shift by a number.
    pub(in super::super) fn shift_imm(&mut self, shift: Shift, r: Reg, n: u8) {
        self.with_reg(&[0xc1], number(shift), r.0);
        self.byte(n);
    }

    /// The same by the low six bits of `TEMP`.
    pub(in super::super) fn shift(&mut self, shift: Shift, r: Reg) {
        self.with_reg(&[0xd3], number(shift), r.0);
    }

    /// The truth of a condition, in a whole register.
    pub(in super::super) fn set(&mut self, cond: Cond, r: Reg) {
        self.set_code(cond.into(), r);
    }

    fn set_code(&mut self, cond: Code, r: Reg) {
        self.rex(false, 0, 0, r.0, true);
        self.code.extend([0x0f, 0x90 | cond as u8]);
        self.modrm_reg(0, r.0);
        self.rex(false, r.0, 0, r.0, true);
        self.code.extend([0x0f, 0xb6]);
        self.modrm_reg(r.0, r.0);
    }

    /// Moves if a condition holds.
    pub(in super::super) fn cmov(&mut self, cond: Cond, to: Reg, from: Reg) {
        self.with_reg(&[0x0f, 0x40 | Code::from(cond) as u8], to.0, from.0);
    }

    pub(in super::super) fn push(&mut self, r: Reg) {
        self.rex(false, 0, 0, r.0, false);
        self.byte(0x50 | (r.0 & 7));
    }

    pub(in super::super) fn pop(&mut self, r: Reg) {
        self.rex(false, 0, 0, r.0, false);
        self.byte(0x58 | (r.0 & 7));
    }

    /// Begins a function with a frame. Returns where its size is to be filled in.
    pub(in super::super) fn enter(&mut self) -> usize {
        self.push(RBP);
        self.mov(RBP, RSP);
        // sub rsp, imm32
        self.code.extend([0x48, 0x81, 0xec, 0, 0, 0, 0]);
        self.code.len() - 4
    }

    /// Fills in the size of a frame. False if it is too large.
    pub(in super::super) fn set_frame_size(&mut self, at: usize, size: i64) -> bool {
        let Ok(size) = i32::try_from(size) else {
            return false;
        };
        self.code[at..at + 4].copy_from_slice(&size.to_le_bytes());
        true
    }

    /// Gives the frame back.
    pub(in super::super) fn leave(&mut self) {
        self.mov(RSP, RBP);
        self.pop(RBP);
    }

    pub(in super::super) fn ret(&mut self) {
        self.byte(0xc3);
    }

    /// Calls code at an address that is filled in later; where that goes.
    pub(in super::super) fn call(&mut self) -> usize {
        self.byte(0xe8);
        self.four(0);
        self.code.len() - 4
    }

    pub(in super::super) fn call_reg(&mut self, r: Reg) {
        self.rex(false, 0, 0, r.0, false);
        self.byte(0xff);
        self.modrm_reg(2, r.0);
    }

    pub(in super::super) fn jump_mem(&mut self, m: Mem) {
        self.rex(false, 0, 0, m.0.0, false);
        self.byte(0xff);
        self.modrm_mem(4, m);
    }

    // Floats.

    pub(in super::super) fn load_float(&mut self, to: FloatReg, m: Mem) {
        self.byte(0xf2);
        self.rex(false, to.0, 0, m.0.0, false);
        self.code.extend([0x0f, 0x10]);
        self.modrm_mem(to.0, m);
    }

    pub(in super::super) fn store_float(&mut self, m: Mem, from: FloatReg) {
        self.byte(0xf2);
        self.rex(false, from.0, 0, m.0.0, false);
        self.code.extend([0x0f, 0x11]);
        self.modrm_mem(from.0, m);
    }

    /// The float with the bits of a register.
    pub(in super::super) fn float_of_bits(&mut self, to: FloatReg, from: Reg) {
        self.byte(0x66);
        self.with_reg(&[0x0f, 0x6e], to.0, from.0);
    }

    /// The bits of a float.
    pub(in super::super) fn bits_of_float(&mut self, to: Reg, from: FloatReg) {
        self.byte(0x66);
        self.with_reg(&[0x0f, 0x7e], from.0, to.0);
    }

    /// The float that an integer is.
    pub(in super::super) fn float_of_int(&mut self, to: FloatReg, from: Reg) {
        self.byte(0xf2);
        self.with_reg(&[0x0f, 0x2a], to.0, from.0);
    }

    pub(in super::super) fn float(&mut self, op: FloatOp, to: FloatReg, from: FloatReg) {
        let opcode = match op {
            FloatOp::Add => 0x58,
            FloatOp::Mul => 0x59,
            FloatOp::Sub => 0x5c,
            FloatOp::Div => 0x5e,
        };
        self.byte(0xf2);
        self.code.extend([0x0f, opcode]);
        self.modrm_reg(to.0, from.0);
    }

    /// The truth of a condition of two floats, in `ACC`. `TEMP` is overwritten.
    pub(in super::super) fn float_set(&mut self, cond: FloatCond, a: FloatReg, b: FloatReg) {
        // ucomisd: above, below, equal, or parity if one is no number.
        self.byte(0x66);
        self.code.extend([0x0f, 0x2e]);
        self.modrm_reg(a.0, b.0);
        let (cond, parity, join) = match cond {
            FloatCond::Greater => return self.set(Cond::Above, RAX),
            FloatCond::GreaterEqual => return self.set(Cond::AboveEqual, RAX),
            FloatCond::Equal => (Code::Equal, Code::NoParity, Alu::And),
            FloatCond::NotEqual => (Code::NotEqual, Code::Parity, Alu::Or),
        };
        // Moves leave flags as they are.
        self.set_code(cond, RAX);
        self.set_code(parity, RCX);
        self.alu(join, RAX, RCX);
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
        self.byte(0xe9);
        self.four(0);
        self.labels.jumps.push((self.code.len() - 4, label));
    }

    pub(in super::super) fn jump_if(&mut self, cond: Cond, label: Label) {
        self.code.extend([0x0f, 0x80 | Code::from(cond) as u8]);
        self.four(0);
        self.labels.jumps.push((self.code.len() - 4, label));
    }

    /// Fills in all distances of jumps. False if a label was never bound, or is too far away.
    pub(in super::super) fn finish(&mut self) -> bool {
        let code = &mut self.code;
        self.labels.finish(|at, to| {
            let distance = (to as i64 - (at as i64 + 4)) as i32;
            code[at..at + 4].copy_from_slice(&distance.to_le_bytes());
            true
        })
    }
}
