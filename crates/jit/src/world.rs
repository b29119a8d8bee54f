//! Where the specialiser runs: the memory and the functions of the program.

use taipan_lltype::{FuncSym, LLConst, LLType, Memory};

use crate::state::Word;

/// What a call returned: a value, or class and instance of an exception.
pub type Called = Result<Word, (Word, Word)>;

/// The running program, as the specialiser sees it.
pub trait World {
    /// Whether somebody reads what is noted of residual code.
    fn wants_notes(&self) -> bool {
        false
    }

    /// Its memory.
    fn memory(&mut self) -> &mut dyn Memory;

    /// The word of a constant of a graph.
    fn word(&mut self, c: &LLConst) -> Word;

    /// A constant for residual code.
    fn constant(&mut self, w: Word, ty: LLType) -> LLConst;

    /// The function that a pointer points to.
    fn function(&mut self, w: Word) -> Option<FuncSym>;

    /// The same value as a part of code: an object that stays where it is, and alive.
    fn keep(&mut self, w: Word, _ty: LLType) -> Word {
        w
    }

    /// A number that changes when objects may have moved.
    fn moves(&self) -> u64 {
        0
    }

    /// Calls a function; `Err` if the program itself is at fault.
    fn call(&mut self, f: Word, args: &[(Word, LLType)], result: LLType) -> Result<Called, String>;
}
