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

    /// Calls a function; `Err` if the program itself is at fault.
    fn call(&mut self, f: Word, args: &[(Word, LLType)], result: LLType) -> Result<Called, String>;
}
