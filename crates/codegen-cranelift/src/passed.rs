//! How units pass values to each other, and the code that hands them to a compiler.
//!
//! A unit is entered with the address of its cell in a register. All other values are in the words of one area of the process: the
//! unit that leaves stores them, and the unit that is entered reads them before anything else. Nothing runs in between that could
//! use the area. Registers would be of no help: Cranelift splits the live range of a value twice at most, and each exit that wants the
//! value in a certain register costs a split. The values of a loop with several exits were on the stack in the whole loop.
//!
//! All cells without a unit lead to one piece of code. It calls a function with the cell, and jumps by the cell that the function
//! returns, with the same values.

use std::sync::atomic::AtomicU64;

use cranelift_codegen::ir::Type;
use cranelift_codegen::ir::types::I128;
use taipan_codegen::CompiledFunction;
use taipan_lltype::LLType;

use crate::emit::clif_type;
use crate::patch::arrival;

/// Number of words in the area. A unit with more values is refused. Memory is taken for those words only that are used.
const MOST_WORDS: usize = 1 << 16;

static AREA: [AtomicU64; MOST_WORDS] = [const { AtomicU64::new(0) }; MOST_WORDS];

/// Address of the first word.
pub fn passed_values() -> *mut u64 {
    AREA[0].as_ptr()
}

/// The word of each of these values, none for Void, and the number of words in use. None if there are too many values.
pub fn words_of_values(
    types: impl IntoIterator<Item = LLType>,
) -> Option<(Vec<Option<usize>>, usize)> {
    let mut used = 0;
    let words = types.into_iter().map(|ty| {
        let ty = clif_type(ty)?;
        let word = used;
        used += words_of_type(ty);
        Some(word)
    });
    let words = words.collect();
    (used <= MOST_WORDS).then_some((words, used))
}

/// Number of words that a value takes.
fn words_of_type(ty: Type) -> usize {
    match ty {
        I128 => 2,
        _ => 1,
    }
}

/// The code of cells without a unit. It calls the `extern "C" fn(usize) -> usize` at that address with the cell, and jumps by the
/// cell that the function returns.
pub fn arrival_code(function: usize) -> CompiledFunction {
    CompiledFunction {
        code: arrival(function),
        relocs: Vec::new(),
        locations: Vec::new(),
        lines: Vec::new(),
        keeps_frames: false,
        debug: None,
    }
}
