//! What a check of a program says.

use taipan_base::{Diagnostic, File, TextRange};

/// What a check of a program says.
#[derive(Clone, Debug)]
pub struct Checked {
    /// Everything that is wrong with it, in the order of stages; warnings too.
    pub diagnostics: Vec<Diagnostic>,
    /// The files of its own modules.
    pub files: Vec<File>,
    /// The functions in them that the target does not reach, with what is wrong with those:
    /// another target may reach them ([`crate::unreached_by_all`]). None where errors leave
    /// that open.
    pub unreached: Option<Vec<UnreachedFunction>>,
}

/// A function that a target does not reach: neither when it runs nor while it is loaded.
#[derive(Clone, Debug)]
pub struct UnreachedFunction {
    /// The file that it stands in.
    pub file: File,
    /// All of its definition.
    pub whole: TextRange,
    /// What is wrong with it: warnings.
    pub findings: Vec<Diagnostic>,
}
