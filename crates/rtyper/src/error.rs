//! What goes wrong while typing (RPython: `rpython/rtyper/error.py`).

use std::fmt;

use taipan_base::{Diagnostic, ErrorCode, Help, Span};

/// Why an operation or a value cannot be given a low-level form.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct TyperError {
    /// `TP04xx`.
    pub code: ErrorCode,
    /// What is wrong, on one line.
    pub message: String,
    /// What to write instead.
    pub help: Option<Help>,
    /// Index of the bytecode instruction it is about, once known.
    pub at: Option<u32>,
}

impl TyperError {
    /// The construct is not supported, or not RPython: `TP0401`.
    pub fn new(message: impl Into<String>) -> TyperError {
        TyperError::with_code(ErrorCode::NotSupportedByRTyper, message)
    }

    /// There is no such operation on values of this kind: `TP0402`. The operation as it is
    /// written, and what it works on.
    pub fn missing(op: impl fmt::Display, of: impl fmt::Display) -> TyperError {
        TyperError::not_rpython(format_args!("{op} of {of}"))
    }

    /// There is no such operation on values of this kind: `TP0402`.
    pub fn not_rpython(what: impl fmt::Display) -> TyperError {
        TyperError::with_code(
            ErrorCode::MissingRTypeOperation,
            format!("{what} is not RPython"),
        )
    }

    /// Two stages disagree; a bug of the compiler and not of the program: `TP0499`.
    pub fn internal(message: impl Into<String>) -> TyperError {
        TyperError::with_code(ErrorCode::StagesDisagree, message)
    }

    /// With a code of its own.
    pub fn with_code(code: ErrorCode, message: impl Into<String>) -> TyperError {
        TyperError {
            code,
            message: message.into(),
            help: None,
            at: None,
        }
    }

    /// With what to write instead.
    pub fn with_help(mut self, help: impl Into<Help>) -> TyperError {
        self.help = Some(help.into());
        self
    }

    /// What another query found.
    pub(crate) fn of(d: Diagnostic) -> TyperError {
        TyperError {
            code: d.code,
            message: d.message,
            help: d.help,
            at: None,
        }
    }

    /// As a diagnostic about that place.
    pub fn diagnostic(self, span: Option<Span>) -> Diagnostic {
        let mut d = Diagnostic::error(self.code, span, self.message);
        d.help = self.help;
        d
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
pub(crate) type RType = Typed<Option<taipan_lltype::LLOperand>>;
