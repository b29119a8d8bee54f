//! Who called: the registers of a caller, from those of the function that it called.
//!
//! C compilers, rustc and LLVM describe at each place of the code where the caller's registers are
//! (`.eh_frame`, found by the program headers of the loaded files). This module reads the part of DWARF that these
//! compilers write for functions. Any other instruction makes the caller unknown, never wrong.

use core::ffi::{c_char, c_int, c_void};

use super::reader::Reader;
use crate::platform::Registers;

/// A caller, or why there is none.
#[expect(
    clippy::large_enum_variant,
    reason = "there is one at a time, on the stack of a signal handler, which cannot allocate"
)]
pub(super) enum Caller {
    /// Its registers, and `pc` in the call.
    Known(Registers),
    /// The function is the first one of its thread.
    Outermost,
    /// The code is not described.
    Unknown,
    /// The code is in no loaded file.
    NoFile,
}

/// The caller of a function, by the description of its code.
pub(super) fn caller(at: &Registers) -> Caller {
    let Some(header) = header_of(at.pc) else {
        return Caller::NoFile;
    };
    // SAFETY: descriptions of loaded files stay while these are loaded.
    header
        .and_then(|header| unsafe { Description::find(header, at.pc) })
        .and_then(|d| d.rules(at.pc))
        .map_or(Caller::Unknown, |rules| rules.apply(at))
}

/// Where a caller's register is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// It was not changed.
    Same,
    /// It cannot be known. For the return address: there is no caller.
    Undefined,
    /// In memory, that far from the frame's address.
    At(isize),
    /// It is the frame's address and that number.
    Is(isize),
    /// In another register.
    In(usize),
    /// By an expression.
    Computed,
}

/// The rules of a place in the code.
#[derive(Clone, Copy)]
struct Rules {
    /// The frame's address: a register and a distance.
    frame: Option<(usize, isize)>,
    registers: [Rule; Registers::COUNT],
    return_address: usize,
}

impl Rules {
    fn set(&mut self, register: u64, rule: Rule) {
        // Vector registers do not matter.
        let register = usize::try_from(register).ok();
        if let Some(slot) = register.and_then(|r| self.registers.get_mut(r)) {
            *slot = rule;
        }
    }

    fn apply(&self, at: &Registers) -> Caller {
        let frame = (self.frame).and_then(|(register, distance)| {
            let base = (*at.values.get(register)?)?;
            Some(base.wrapping_add_signed(distance))
        });
        let Some(frame) = frame else {
            return Caller::Unknown;
        };
        let mut caller = Registers {
            pc: 0,
            values: [None; Registers::COUNT],
        };
        for (i, rule) in self.registers.iter().enumerate() {
            caller.values[i] = match *rule {
                Rule::Same => at.values[i],
                Rule::Undefined | Rule::Computed => None,
                Rule::At(distance) => {
                    let mut word = [0];
                    let n = super::read(frame.wrapping_add_signed(distance), &mut word);
                    (n == 1).then_some(word[0])
                }
                Rule::Is(distance) => Some(frame.wrapping_add_signed(distance)),
                Rule::In(other) => at.values.get(other).copied().flatten(),
            };
        }
        caller.values[Registers::SP] = Some(frame);
        let back = self.return_address;
        match (self.registers.get(back), caller.values.get(back).copied()) {
            (Some(Rule::Undefined), _) | (_, Some(Some(0))) => Caller::Outermost,
            (_, Some(Some(pc))) => {
                caller.pc = pc.wrapping_sub(1);
                Caller::Known(caller)
            }
            _ => Caller::Unknown,
        }
    }
}

/// What is said of the code of one function.
struct Description {
    /// Where the code starts.
    start: usize,
    /// Both factors of numbers in instructions.
    code_factor: usize,
    data_factor: isize,
    return_address: usize,
    /// Instructions that all functions of a group have in common, and those of the function.
    instructions: [Reader<'static>; 2],
    /// How addresses are written.
    encoding: u8,
}

/// A pointer is relative to its own place.
const RELATIVE: u8 = 0x10;
/// Addresses in the table of a header: relative to the header, of four bytes.
const TABLE: u8 = 0x3b;

impl Description {
    /// That of the function with the code at an address, in a file with that header of descriptions.
    unsafe fn find(header: usize, pc: usize) -> Option<Description> {
        // SAFETY: `caller` passes the header of a loaded file, whose rows and descriptions are
        // mapped as long as it is loaded.
        unsafe {
            let mut r = bytes(header, 12);
            let known = [r.byte()?, r.byte()?, r.byte()?, r.byte()?];
            // Version; the pointer to the section, which has four bytes; the number of functions.
            if known != [1, 0x1b, 0x03, TABLE] {
                return None;
            }
            r.skip(4)?;
            let count = r.take::<4>()? as usize;
            let rows = header + 12;
            let entry = |i: usize, column: usize| {
                let distance = ((rows + 8 * i + 4 * column) as *const i32).read_unaligned();
                header.wrapping_add_signed(distance as isize)
            };
            let (mut low, mut high) = (0, count);
            while low < high {
                let middle = usize::midpoint(low, high);
                if entry(middle, 0) <= pc {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            Description::of(entry(low.checked_sub(1)?, 1), pc)
        }
    }

    /// The one that stands there, if it is of the function with that code.
    unsafe fn of(at: usize, pc: usize) -> Option<Description> {
        // SAFETY: the table has the addresses of descriptions, and each of these the address of its common part.
        unsafe {
            let mut own = record(at)?;
            let back = own.take::<4>()? as usize;
            let mut common = record((at + 4).wrapping_sub(back))?;
            if common.take::<4>()? != 0 {
                return None;
            }
            let version = common.byte()?;
            let (mut sized, mut encoding) = (false, 0);
            let augmentation = common.text()?;
            let code_factor = common.unsigned()? as usize;
            let data_factor = common.signed()? as isize;
            let return_address = match version {
                1 => usize::from(common.byte()?),
                _ => common.unsigned()? as usize,
            };
            for c in augmentation {
                match c {
                    b'z' => {
                        sized = true;
                        common.unsigned()?;
                    }
                    b'R' => encoding = common.byte()?,
                    b'L' => common.skip(1)?,
                    b'P' => {
                        let encoding = common.byte()?;
                        pointer(&mut common, encoding)?;
                    }
                    // Frames that the system makes for signals interrupt no call.
                    _ => return None,
                }
            }
            let start = pointer(&mut own, encoding)?;
            let size = pointer(&mut own, encoding & 0x0f)?;
            if pc.wrapping_sub(start) >= size {
                return None;
            }
            if sized {
                let n = own.unsigned()?;
                own.skip(n)?;
            }
            Some(Description {
                start,
                code_factor,
                data_factor,
                return_address,
                instructions: [common, own],
                encoding,
            })
        }
    }

    /// The rules at an address of the function.
    fn rules(&self, pc: usize) -> Option<Rules> {
        let mut initial = Rules {
            frame: None,
            registers: [Rule::Same; Registers::COUNT],
            return_address: self.return_address,
        };
        let [common, own] = self.instructions;
        let everywhere = initial;
        self.run(common, pc, &mut initial, &everywhere)?;
        let mut rules = initial;
        self.run(own, pc, &mut rules, &initial)?;
        Some(rules)
    }

    /// Executes instructions up to an address.
    fn run(&self, mut r: Reader<'_>, pc: usize, rules: &mut Rules, initial: &Rules) -> Option<()> {
        const DEPTH: usize = 4;
        let mut kept = [*rules; DEPTH];
        let mut depth = 0;
        let mut here = self.start;
        while r.at < r.bytes.len() {
            let opcode = r.byte()?;
            let low = u64::from(opcode & 0x3f);
            let mut step = None;
            match opcode >> 6 {
                1 => step = Some(low as usize),
                2 => {
                    let n = r.unsigned()?;
                    rules.set(low, Rule::At(self.scaled(n)));
                }
                3 => rules.set(low, initial.rule(low)),
                _ => match opcode {
                    // nop, and two about the stack of arguments and signatures of addresses
                    0x00 | 0x2d => {}
                    0x2e => r.unsigned().map(|_| ())?,
                    // set_loc
                    0x01 => {
                        let to = pointer(&mut r, self.encoding)?;
                        if to > pc {
                            return Some(());
                        }
                        here = to;
                    }
                    // advance_loc1, 2, 4
                    0x02 => step = Some(r.take::<1>()? as usize),
                    0x03 => step = Some(r.take::<2>()? as usize),
                    0x04 => step = Some(r.take::<4>()? as usize),
                    // offset_extended, restore_extended
                    0x05 => {
                        let (register, n) = (r.unsigned()?, r.unsigned()?);
                        rules.set(register, Rule::At(self.scaled(n)));
                    }
                    0x06 => {
                        let register = r.unsigned()?;
                        rules.set(register, initial.rule(register));
                    }
                    // undefined, same_value, register
                    0x07 => rules.set(r.unsigned()?, Rule::Undefined),
                    0x08 => rules.set(r.unsigned()?, Rule::Same),
                    0x09 => {
                        let (register, other) = (r.unsigned()?, r.unsigned()?);
                        rules.set(register, Rule::In(other as usize));
                    }
                    // remember_state, restore_state
                    0x0a => {
                        *kept.get_mut(depth)? = *rules;
                        depth += 1;
                    }
                    0x0b => {
                        depth = depth.checked_sub(1)?;
                        *rules = kept[depth];
                    }
                    // def_cfa, def_cfa_register, def_cfa_offset, def_cfa_expression
                    0x0c => rules.frame = Some((r.unsigned()? as usize, r.unsigned()? as isize)),
                    0x0d => rules.frame = Some((r.unsigned()? as usize, rules.frame?.1)),
                    0x0e => rules.frame = Some((rules.frame?.0, r.unsigned()? as isize)),
                    0x0f => {
                        rules.frame = None;
                        let n = r.unsigned()?;
                        r.skip(n)?;
                    }
                    // expression, val_expression
                    0x10 | 0x16 => {
                        let (register, n) = (r.unsigned()?, r.unsigned()?);
                        rules.set(register, Rule::Computed);
                        r.skip(n)?;
                    }
                    // The forms with signs of offset_extended, def_cfa and def_cfa_offset
                    0x11 => {
                        let (register, n) = (r.unsigned()?, r.signed()?);
                        rules.set(register, Rule::At(n as isize * self.data_factor));
                    }
                    0x12 => {
                        let (register, n) = (r.unsigned()?, r.signed()?);
                        rules.frame = Some((register as usize, n as isize * self.data_factor));
                    }
                    0x13 => {
                        let n = r.signed()?;
                        rules.frame = Some((rules.frame?.0, n as isize * self.data_factor));
                    }
                    // val_offset, val_offset_sf
                    0x14 => {
                        let (register, n) = (r.unsigned()?, r.unsigned()?);
                        rules.set(register, Rule::Is(self.scaled(n)));
                    }
                    0x15 => {
                        let (register, n) = (r.unsigned()?, r.signed()?);
                        rules.set(register, Rule::Is(n as isize * self.data_factor));
                    }
                    _ => return None,
                },
            }
            if let Some(n) = step {
                here = here.wrapping_add(n.wrapping_mul(self.code_factor));
                if here > pc {
                    return Some(());
                }
            }
        }
        Some(())
    }

    fn scaled(&self, n: u64) -> isize {
        (n as isize).wrapping_mul(self.data_factor)
    }
}

impl Rules {
    fn rule(&self, register: u64) -> Rule {
        let register = usize::try_from(register).ok();
        let rule = register.and_then(|r| self.registers.get(r));
        rule.copied().unwrap_or(Rule::Same)
    }
}

/// Bytes of a loaded file.
unsafe fn bytes(start: usize, len: usize) -> Reader<'static> {
    // SAFETY: the callers pass an address in descriptions of a loaded file, which are mapped as
    // long as it is loaded, and a length from there.
    let bytes = unsafe { core::slice::from_raw_parts(start as *const u8, len) };
    Reader { bytes, at: 0 }
}

/// The contents of a record, which begins with its length.
unsafe fn record(at: usize) -> Option<Reader<'static>> {
    // SAFETY: `at` is the address of a record in a loaded file, which begins with its length.
    unsafe {
        let len = (at as *const u32).read_unaligned();
        // 0 ends a section, and the largest number announces a length of eight bytes.
        (len != 0 && len != u32::MAX).then(|| bytes(at + 4, len as usize))
    }
}

/// A pointer, or a length in the same format.
fn pointer(r: &mut Reader<'_>, encoding: u8) -> Option<usize> {
    let place = r.bytes.as_ptr() as usize + r.at;
    let n = match encoding & 0x0f {
        0x00 if usize::BITS == 32 => r.take::<4>()? as usize,
        0x00 | 0x04 | 0x0c => r.take::<8>()? as usize,
        0x02 => r.take::<2>()? as usize,
        0x03 => r.take::<4>()? as usize,
        0x0a => r.take::<2>()? as i16 as usize,
        0x0b => r.take::<4>()? as i32 as usize,
        _ => return None,
    };
    // A pointer to the pointer, which personalities are, is not followed: its value does not matter.
    match encoding & 0x70 {
        0 => Some(n),
        RELATIVE => Some(n.wrapping_add(place)),
        _ => None,
    }
}

/// A loaded file, as the C library tells of it.
#[repr(C)]
struct LoadedFile {
    base: usize,
    name: *const c_char,
    headers: *const ProgramHeader,
    count: u16,
}

#[cfg(target_pointer_width = "64")]
#[repr(C)]
struct ProgramHeader {
    kind: u32,
    flags: u32,
    offset: usize,
    address: usize,
    physical: usize,
    in_file: usize,
    size: usize,
    align: usize,
}

#[cfg(target_pointer_width = "32")]
#[repr(C)]
struct ProgramHeader {
    kind: u32,
    offset: usize,
    address: usize,
    physical: usize,
    in_file: usize,
    size: usize,
    flags: u32,
    align: usize,
}

unsafe extern "C" {
    fn dl_iterate_phdr(
        f: extern "C" fn(&LoadedFile, usize, *mut c_void) -> c_int,
        data: *mut c_void,
    ) -> c_int;
}

/// The header of the descriptions of the loaded file that has the code at an address, if there is such a
/// file and it has descriptions.
fn header_of(pc: usize) -> Option<Option<usize>> {
    const LOAD: u32 = 1;
    const EH_FRAME: u32 = 0x6474_e550;
    extern "C" fn look(file: &LoadedFile, _: usize, search: *mut c_void) -> c_int {
        // SAFETY: the address and the result of the search below, and headers of the file.
        unsafe {
            let search = &mut *search.cast::<(usize, Option<Option<usize>>)>();
            let headers = core::slice::from_raw_parts(file.headers, usize::from(file.count));
            let start = |h: &ProgramHeader| file.base.wrapping_add(h.address);
            let has =
                |h: &ProgramHeader| h.kind == LOAD && search.0.wrapping_sub(start(h)) < h.size;
            if !headers.iter().any(has) {
                return 0;
            }
            search.1 = Some(headers.iter().find(|h| h.kind == EH_FRAME).map(start));
            1
        }
    }
    let mut search: (usize, Option<Option<usize>>) = (pc, None);
    // SAFETY: the function has that type.
    unsafe { dl_iterate_phdr(look, (&raw mut search).cast()) };
    search.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::current_registers;

    #[inline(never)]
    fn callers_of_here(pcs: &mut [usize]) -> usize {
        let mut at = current_registers();
        for (i, slot) in pcs.iter_mut().enumerate() {
            *slot = at.pc;
            match caller(&at) {
                Caller::Known(next) => at = next,
                _ => return i + 1,
            }
        }
        pcs.len()
    }

    #[inline(never)]
    fn recursive(n: usize, pcs: &mut [usize]) -> usize {
        match n {
            0 => callers_of_here(pcs),
            n => core::hint::black_box(recursive(n - 1, pcs)),
        }
    }

    /// Each call of a recursion is found, and the walk ends where the thread starts.
    #[test]
    #[cfg_attr(miri, ignore = "Miri has no machine code")]
    fn finds_all_callers() {
        let mut pcs = [0; 400];
        let short = recursive(3, &mut pcs);
        let long = recursive(203, &mut pcs);
        assert_eq!(long - short, 200);
        assert!(long < pcs.len());
        assert!(pcs[3..200].iter().all(|pc| *pc == pcs[3]));
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no machine code")]
    fn code_without_description_has_no_known_caller() {
        let heap = Box::new(0u8);
        let mut at = current_registers();
        static DATA: u64 = 0;
        at.pc = &raw const DATA as usize;
        assert!(matches!(caller(&at), Caller::Unknown));
        at.pc = &raw const *heap as usize;
        assert!(matches!(caller(&at), Caller::NoFile));
    }
}
