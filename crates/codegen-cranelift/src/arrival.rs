//! Where a unit's values are when it is entered, and the code that hands them to a compiler.
//!
//! A cell whose code is not made yet leads to one piece of code, the same for all: it saves
//! the registers in which values may be, calls a function with where they are, and goes on
//! by the cell that the function returns, with the same values. Values that are on the
//! machine stack stay there.
//!
//! Cranelift's `tail` convention passes values as the System V ABI does, but for 128-bit
//! integers, whose halves are passed like two values.

use cranelift_codegen::ir::types::I128;
use taipan_codegen::CompiledFunction;
use taipan_lltype::LLType;

use crate::emit::clif_type;

/// Registers that values are passed in.
const INTS: usize = 6;
const FLOATS: usize = 8;

/// The registers with which a cell was entered. The first integer is the cell.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Saved {
    ints: [u64; INTS],
    floats: [u64; FLOATS],
}

/// Where a value is, or the lower half of one that takes two words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    Int(usize),
    Float(usize),
    Stack(usize),
}

/// Where the values of a unit are when it is entered.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Arrivals(Vec<Option<Place>>);

impl Arrivals {
    /// For values of these types, after the cell.
    pub fn new(types: &[LLType]) -> Arrivals {
        let (mut ints, mut floats, mut stack) = (1, 0, 0);
        let mut word = |is_int: bool| {
            let (next, most) = match is_int {
                true => (&mut ints, INTS),
                false => (&mut floats, FLOATS),
            };
            if *next == most {
                stack += 1;
                return Place::Stack(stack - 1);
            }
            *next += 1;
            match is_int {
                true => Place::Int(*next - 1),
                false => Place::Float(*next - 1),
            }
        };
        let places = types.iter().map(|ty| {
            let ty = clif_type(*ty)?;
            let first = word(ty.is_int());
            if ty == I128 {
                word(true);
            }
            Some(first)
        });
        Arrivals(places.collect())
    }

    /// The address of the value with that number, whose bits beyond its type are undefined.
    /// None if it is Void.
    ///
    /// # Safety
    /// The registers and the values on the stack are those that [`arrival_code`] passes on.
    pub unsafe fn at(&self, i: usize, saved: *mut Saved, stack: *mut u64) -> Option<*mut u64> {
        // SAFETY: by contract; within the fields.
        Some(unsafe {
            match (*self.0.get(i)?)? {
                Place::Int(n) => (&raw mut (*saved).ints).cast::<u64>().add(n),
                Place::Float(n) => (&raw mut (*saved).floats).cast::<u64>().add(n),
                Place::Stack(n) => stack.add(n),
            }
        })
    }
}

impl Saved {
    /// The cell that was entered.
    pub fn cell(&self) -> usize {
        self.ints[0] as usize
    }
}

/// The code that cells lead to first, which calls an `extern "C" fn(*mut Saved, *mut u64) ->
/// usize` at that address: the second argument is where values on the stack begin, what it
/// returns is the cell to go on by.
pub fn arrival_code(function: usize) -> CompiledFunction {
    const FRAME: u8 = ((INTS + FLOATS) * 8) as u8;
    let mut code = vec![
        0x55, // push rbp
        0x48, 0x89, 0xe5, // mov rbp, rsp
        0x48, 0x83, 0xec, FRAME, // sub rsp, FRAME
    ];
    // rdi, rsi, rdx, rcx, r8, r9: the bit of the prefix, and the number.
    let ints = [(0, 7), (0, 6), (0, 2), (0, 1), (4, 0), (4, 1)];
    let move_ints = |code: &mut Vec<u8>, op: u8, from: usize| {
        for (i, (prefix, number)) in ints.iter().enumerate().skip(from) {
            code.extend([0x48 | prefix, op, 0x44 | number << 3, 0x24, i as u8 * 8]);
        }
    };
    let move_floats = |code: &mut Vec<u8>, op: u8| {
        for i in 0..FLOATS as u8 {
            let at = (INTS as u8 + i) * 8;
            code.extend([0xf2, 0x0f, op, 0x44 | i << 3, 0x24, at]);
        }
    };
    move_ints(&mut code, 0x89, 0);
    move_floats(&mut code, 0x11);
    code.extend([
        0x48, 0x89, 0xe7, // mov rdi, rsp
        0x48, 0x8d, 0x75, 0x10, // lea rsi, [rbp + 16]
        0x48, 0xb8, // mov rax, function
    ]);
    code.extend((function as u64).to_le_bytes());
    code.extend([0xff, 0xd0]); // call rax
    move_ints(&mut code, 0x8b, 1);
    move_floats(&mut code, 0x10);
    code.extend([
        0x48, 0x89, 0xc7, // mov rdi, rax
        0xc9, // leave
        0xff, 0x27, // jmp [rdi]
    ]);
    CompiledFunction {
        code,
        relocs: Vec::new(),
        locations: Vec::new(),
        lines: Vec::new(),
        keeps_frames: false,
        debug: None,
    }
}
