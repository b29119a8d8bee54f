//! Instructions of x86-64 as bytes.

/// A general register, by its number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Reg(pub(super) u8);

pub(super) const RAX: Reg = Reg(0);
pub(super) const RCX: Reg = Reg(1);
pub(super) const RDX: Reg = Reg(2);
pub(super) const RSP: Reg = Reg(4);
pub(super) const RBP: Reg = Reg(5);
pub(super) const RSI: Reg = Reg(6);
pub(super) const RDI: Reg = Reg(7);
pub(super) const R8: Reg = Reg(8);
pub(super) const R9: Reg = Reg(9);
pub(super) const R10: Reg = Reg(10);
pub(super) const R11: Reg = Reg(11);

/// A floating-point register, by its number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Xmm(pub(super) u8);

/// A place in memory: a register and a distance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Mem(pub(super) Reg, pub(super) i32);

/// Operations of two operands, by the opcode of the form that has a register as destination.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Alu {
    Add = 0x03,
    Or = 0x0b,
    And = 0x23,
    Sub = 0x2b,
    Xor = 0x33,
    Cmp = 0x3b,
}

/// Conditions, by their numbers in instructions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Cond {
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

/// How many bits a load reads, and what it fills the others with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Width {
    Unsigned8,
    Signed8,
    Unsigned16,
    Signed16,
    Unsigned32,
    Signed32,
    Word,
}

/// A place in code that is jumped to, perhaps before it is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Label(usize);

/// Code under construction.
#[derive(Default)]
pub(super) struct Assembler {
    pub(super) code: Vec<u8>,
    /// Where labels are.
    labels: Vec<Option<usize>>,
    /// Distances of four bytes that are to be filled in, and to which labels.
    jumps: Vec<(usize, Label)>,
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

    pub(super) fn mov(&mut self, to: Reg, from: Reg) {
        if to != from {
            self.with_reg(&[0x8b], to.0, from.0);
        }
    }

    pub(super) fn mov_imm(&mut self, to: Reg, n: i64) {
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

    pub(super) fn load(&mut self, to: Reg, m: Mem) {
        self.with_mem(&[0x8b], to.0, m);
    }

    /// Loads less than a word, or a word.
    pub(super) fn load_as(&mut self, to: Reg, m: Mem, width: Width) {
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
    pub(super) fn extend(&mut self, r: Reg, width: Width) {
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

    pub(super) fn store(&mut self, m: Mem, from: Reg) {
        self.with_mem(&[0x89], from.0, m);
    }

    /// Stores the low bits of a register, as many as a width has.
    pub(super) fn store_as(&mut self, m: Mem, from: Reg, width: Width) {
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

    pub(super) fn lea(&mut self, to: Reg, m: Mem) {
        self.with_mem(&[0x8d], to.0, m);
    }

    pub(super) fn alu(&mut self, op: Alu, to: Reg, from: Reg) {
        self.with_reg(&[op as u8], to.0, from.0);
    }

    pub(super) fn alu_mem(&mut self, op: Alu, to: Reg, m: Mem) {
        self.with_mem(&[op as u8], to.0, m);
    }

    pub(super) fn alu_imm(&mut self, op: Alu, to: Reg, n: i32) {
        self.rex(true, 0, 0, to.0, false);
        let number = op as u8 >> 3;
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
    pub(super) fn cmp_mem_imm8(&mut self, m: Mem, n: i8) {
        self.with_mem(&[0x83], 7, m);
        self.byte(n as u8);
    }

    /// Subtracts one from a word in memory.
    pub(super) fn count_down(&mut self, m: Mem) {
        self.with_mem(&[0x83], 5, m);
        self.byte(1);
    }

    /// Tests bits of a byte in memory.
    pub(super) fn test_byte(&mut self, m: Mem, bits: u8) {
        self.rex(false, 0, 0, m.0.0, false);
        self.byte(0xf6);
        self.modrm_mem(0, m);
        self.byte(bits);
    }

    pub(super) fn test(&mut self, r: Reg) {
        self.with_reg(&[0x85], r.0, r.0);
    }

    pub(super) fn imul(&mut self, to: Reg, from: Reg) {
        self.with_reg(&[0x0f, 0xaf], to.0, from.0);
    }

    pub(super) fn imul_imm(&mut self, to: Reg, n: i32) {
        self.with_reg(&[0x69], to.0, to.0);
        self.four(n);
    }

    pub(super) fn neg(&mut self, r: Reg) {
        self.with_reg(&[0xf7], 3, r.0);
    }

    pub(super) fn not(&mut self, r: Reg) {
        self.with_reg(&[0xf7], 2, r.0);
    }

    /// The product of `rax` and a register, in `rdx` and `rax`, without signs.
    pub(super) fn mul(&mut self, r: Reg) {
        self.with_reg(&[0xf7], 4, r.0);
    }

    /// Divides `rdx` and `rax`, without signs: the quotient in `rax`, the rest in `rdx`.
    pub(super) fn div(&mut self, r: Reg) {
        self.with_reg(&[0xf7], 6, r.0);
    }

    /// The same with signs.
    pub(super) fn idiv(&mut self, r: Reg) {
        self.with_reg(&[0xf7], 7, r.0);
    }

    /// Fills `rdx` with the sign of `rax`.
    pub(super) fn cqo(&mut self) {
        self.code.extend([0x48, 0x99]);
    }

    /// A shift by a number: 4 to the left, 5 to the right, 7 with the sign.
    pub(super) fn shift_imm(&mut self, kind: u8, r: Reg, n: u8) {
        self.with_reg(&[0xc1], kind, r.0);
        self.byte(n);
    }

    /// The same by `cl`.
    pub(super) fn shift(&mut self, kind: u8, r: Reg) {
        self.with_reg(&[0xd3], kind, r.0);
    }

    /// The truth of a condition, in a whole register.
    pub(super) fn set(&mut self, cond: Cond, r: Reg) {
        self.rex(false, 0, 0, r.0, true);
        self.code.extend([0x0f, 0x90 | cond as u8]);
        self.modrm_reg(0, r.0);
        self.rex(false, r.0, 0, r.0, true);
        self.code.extend([0x0f, 0xb6]);
        self.modrm_reg(r.0, r.0);
    }

    /// Moves if a condition holds.
    pub(super) fn cmov(&mut self, cond: Cond, to: Reg, from: Reg) {
        self.with_reg(&[0x0f, 0x40 | cond as u8], to.0, from.0);
    }

    pub(super) fn push(&mut self, r: Reg) {
        self.rex(false, 0, 0, r.0, false);
        self.byte(0x50 | (r.0 & 7));
    }

    pub(super) fn pop(&mut self, r: Reg) {
        self.rex(false, 0, 0, r.0, false);
        self.byte(0x58 | (r.0 & 7));
    }

    pub(super) fn ret(&mut self) {
        self.byte(0xc3);
    }

    /// Calls code at an address that is filled in later; where that goes.
    pub(super) fn call(&mut self) -> usize {
        self.byte(0xe8);
        self.four(0);
        self.code.len() - 4
    }

    pub(super) fn call_reg(&mut self, r: Reg) {
        self.rex(false, 0, 0, r.0, false);
        self.byte(0xff);
        self.modrm_reg(2, r.0);
    }

    pub(super) fn jump_mem(&mut self, m: Mem) {
        self.rex(false, 0, 0, m.0.0, false);
        self.byte(0xff);
        self.modrm_mem(4, m);
    }

    // Floats.

    pub(super) fn load_float(&mut self, to: Xmm, m: Mem) {
        self.byte(0xf2);
        self.rex(false, to.0, 0, m.0.0, false);
        self.code.extend([0x0f, 0x10]);
        self.modrm_mem(to.0, m);
    }

    pub(super) fn store_float(&mut self, m: Mem, from: Xmm) {
        self.byte(0xf2);
        self.rex(false, from.0, 0, m.0.0, false);
        self.code.extend([0x0f, 0x11]);
        self.modrm_mem(from.0, m);
    }

    /// The float with the bits of a register.
    pub(super) fn float_of_bits(&mut self, to: Xmm, from: Reg) {
        self.byte(0x66);
        self.with_reg(&[0x0f, 0x6e], to.0, from.0);
    }

    /// The bits of a float.
    pub(super) fn bits_of_float(&mut self, to: Reg, from: Xmm) {
        self.byte(0x66);
        self.with_reg(&[0x0f, 0x7e], from.0, to.0);
    }

    /// The float that an integer is.
    pub(super) fn float_of_int(&mut self, to: Xmm, from: Reg) {
        self.byte(0xf2);
        self.with_reg(&[0x0f, 0x2a], to.0, from.0);
    }

    /// Arithmetic: 0x58 adds, 0x59 multiplies, 0x5c subtracts, 0x5e divides.
    pub(super) fn float(&mut self, opcode: u8, to: Xmm, from: Xmm) {
        self.byte(0xf2);
        self.code.extend([0x0f, opcode]);
        self.modrm_reg(to.0, from.0);
    }

    /// Compares two floats: above, below, equal, or parity if one is no number.
    pub(super) fn float_cmp(&mut self, a: Xmm, b: Xmm) {
        self.byte(0x66);
        self.code.extend([0x0f, 0x2e]);
        self.modrm_reg(a.0, b.0);
    }

    // Jumps.

    pub(super) fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    /// Binds a label to the current position.
    pub(super) fn bind(&mut self, label: Label) {
        self.labels[label.0] = Some(self.code.len());
    }

    pub(super) fn jump(&mut self, label: Label) {
        self.byte(0xe9);
        self.four(0);
        self.jumps.push((self.code.len() - 4, label));
    }

    pub(super) fn jump_if(&mut self, cond: Cond, label: Label) {
        self.code.extend([0x0f, 0x80 | cond as u8]);
        self.four(0);
        self.jumps.push((self.code.len() - 4, label));
    }

    /// Fills in all distances of jumps. False if a label was never bound.
    pub(super) fn finish(&mut self) -> bool {
        for (at, label) in std::mem::take(&mut self.jumps) {
            let Some(to) = self.labels[label.0] else {
                return false;
            };
            let distance = (to as i64 - (at as i64 + 4)) as i32;
            self.code[at..at + 4].copy_from_slice(&distance.to_le_bytes());
        }
        true
    }
}
