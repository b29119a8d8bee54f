//! A function's text, and the marks in it for what a module numbers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use taipan_codegen::SymbolRef;
use taipan_lltype::LLType;

/// The text of one function. Where metadata is referred to there are marks, for which the
/// module that it becomes a part of has numbers.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct FunctionText {
    /// The definition.
    pub(crate) text: String,
    /// The function's symbol.
    pub(crate) symbol: SymbolRef,
    /// What the text refers to, each once.
    pub(crate) symbols: Vec<SymbolRef>,
    /// Declarations of what it refers to, by name.
    pub(crate) declarations: BTreeMap<String, String>,
    /// Metadata by number in marks.
    pub(crate) metadata: Vec<Metadata>,
    /// Places in the source that traceback entries name, as positions in the function's
    /// bytecode (`Operation::at`).
    pub locations: Vec<u32>,
    /// Places that instructions come from.
    pub places: Vec<u32>,
    /// The variables of the source that marks tell the values of.
    pub variables: Vec<TextVariable>,
}

/// A variable of a function.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct TextVariable {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: LLType,
    /// Its number among the arguments, from 1; 0 for others.
    pub argument: u32,
}

impl FunctionText {
    /// What the text refers to, each once, in an order that follows from it.
    pub fn symbols(&self) -> &[SymbolRef] {
        &self.symbols
    }
}

/// Metadata that functions use.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub(crate) enum Metadata {
    /// What an access is to: a class of memory, which is a part of the one before.
    Access(Vec<String>),
    /// The first way of a branch is rarely taken.
    FirstIsRare,
    /// The second one is.
    SecondIsRare,
    /// A length.
    Length,
    /// The name of the stack pointer.
    StackPointer,
    /// Nothing, where something has to stand.
    Empty,
}

/// Starts a mark.
pub(crate) const START: char = '\u{1}';
/// Ends one.
pub(crate) const END: char = '\u{2}';

/// The place of an instruction: `, !dbg !7`.
pub(crate) fn place_mark(number: usize) -> String {
    format!("{START}p{number}{END}")
}

/// The number of metadata: `!7`.
pub(crate) fn metadata_mark(number: usize) -> String {
    format!("{START}m{number}{END}")
}

/// What a variable is from here on, at one of the places.
pub(crate) fn variable_mark(number: usize, place: usize, value: &str) -> String {
    format!("{START}v{number} {place} {value}{END}")
}

/// The function's own place: ` !dbg !7`.
pub(crate) fn function_mark() -> String {
    format!("{START}f{END}")
}
