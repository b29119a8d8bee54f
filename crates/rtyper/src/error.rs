//! What goes wrong while typing (RPython: `rpython/rtyper/error.py`).

use std::fmt;

/// Why an operation or a value cannot be given a low-level form.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct TyperError {
    /// `TP04xx`.
    pub code: &'static str,
    /// What is wrong, on one line.
    pub message: String,
    /// Index of the bytecode instruction it is about, once known.
    pub at: Option<u32>,
}

impl TyperError {
    /// The construct is not supported, or not RPython: `TP0401`.
    pub fn new(message: impl Into<String>) -> TyperError {
        TyperError::with_code("TP0401", message)
    }

    /// There is no such operation on values of this kind: `TP0402`.
    pub fn missing(op: &str, on: impl fmt::Display) -> TyperError {
        TyperError::with_code("TP0402", format!("no low-level form of '{op}' on {on}"))
    }

    /// Two stages disagree; a bug of the compiler and not of the program: `TP0499`.
    pub fn internal(message: impl Into<String>) -> TyperError {
        TyperError::with_code("TP0499", message)
    }

    /// With a code of its own.
    pub fn with_code(code: &'static str, message: impl Into<String>) -> TyperError {
        TyperError {
            code,
            message: message.into(),
            at: None,
        }
    }
}

impl fmt::Display for TyperError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Shorthand for results in this crate.
pub type Typed<T> = Result<T, TyperError>;

/// What an `rtype_*` method returns: the value of the operation, or none for an
/// operation that never returns.
pub type RType = Typed<Option<taipan_lltype::LLOperand>>;
