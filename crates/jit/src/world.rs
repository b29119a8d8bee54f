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

    /// A new word for what code is going to take for granted: fields that seldom change. It is 0
    /// until one of them is written. None where nobody notices such writes.
    fn assumptions(&mut self) -> Option<u64> {
        None
    }

    /// Whether a word of [`World::assumptions`] is 0.
    fn holds(&mut self, _assumptions: u64) -> bool {
        false
    }

    /// Takes for granted that the field at an address, in an object that stays where it is, keeps
    /// its value. False if it has not done so before.
    fn assume(&mut self, _assumptions: u64, _field: u64) -> bool {
        false
    }

    /// Whether [`World::assume`] would do so.
    fn may_assume(&mut self, _field: u64) -> bool {
        false
    }

    /// A new word that code counts down where it leaves the rest to the interpreter, until that was
    /// often enough for more code. None where code cannot leave.
    fn leave_counter(&mut self) -> Option<u64> {
        None
    }

    /// Calls a function; `Err` if the program itself is at fault.
    fn call(&mut self, f: Word, args: &[(Word, LLType)], result: LLType) -> Result<Called, String>;
}
