//! Diagnostics as data: rendered late, into text, JSON or SARIF.

use std::fmt;

use serde::{Deserialize, Serialize};
use taipan_codes::ErrorCode;

use crate::Span;

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Severity {
    /// The program cannot be compiled.
    Error,
    /// It can, but probably not as meant.
    Warning,
}

/// A secondary place with what it has to do with the matter.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Note {
    /// Where; a note may be about no place.
    pub span: Option<Span>,
    /// What.
    pub message: String,
    /// The label of the diagnostic says the same, so text shows the note once.
    pub in_label: bool,
}

/// The usual remedy of a finding.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Help {
    /// A sentence.
    Text(Box<str>),
    /// The name at the end of the place is probably a slip of this one.
    Similar(Box<str>),
}

impl<T: Into<Box<str>>> From<T> for Help {
    fn from(text: T) -> Help {
        Help::Text(text.into())
    }
}

impl fmt::Display for Help {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Help::Text(text) => f.write_str(text),
            Help::Similar(name) => write!(f, "did you mean `{name}`?"),
        }
    }
}

/// The data of a finding. Code that depends on a finding reads this, never the message, which is
/// for people.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Problem {
    /// A global variable that a module lacks, which is no builtin either.
    Undefined {
        /// The module, by its dotted name.
        module: Box<str>,
        /// The variable.
        name: Box<str>,
    },
    /// An attribute that a module lacks, or a name that it cannot give to an import.
    ModuleAttribute {
        /// The module, by its dotted name.
        module: Box<str>,
        /// The attribute.
        name: Box<str>,
    },
    /// An attribute that a class or an instance lacks.
    Attribute {
        /// The attribute.
        name: Box<str>,
    },
    /// No module has this name.
    NoModule {
        /// The dotted name.
        name: Box<str>,
    },
    /// A module fails while it is loaded because a function is about to import it.
    FailedModule {
        /// The dotted name.
        name: Box<str>,
    },
}

/// One finding.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Diagnostic {
    /// What kind of mistake it is.
    pub code: ErrorCode,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, on one line.
    pub message: String,
    /// Where; unset only for what has no place (a missing target file).
    pub primary: Option<Span>,
    /// What the primary span is, in a few words, printed under it.
    pub label: String,
    /// The chain of how it came about, in order.
    pub notes: Vec<Note>,
    /// The usual remedy.
    pub help: Option<Help>,
    /// Its data, if a later stage depends on it. Set by the stage that reports the finding; findings
    /// from the cache have none.
    pub problem: Option<Problem>,
}

impl Diagnostic {
    /// An error at a place.
    pub fn error(code: ErrorCode, span: Option<Span>, message: impl Into<String>) -> Self {
        Diagnostic {
            code,
            severity: Severity::Error,
            message: message.into(),
            primary: span,
            label: String::new(),
            notes: Vec::new(),
            help: None,
            problem: None,
        }
    }

    /// With the words under the primary span.
    pub fn with_label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// With one more step of the chain.
    pub fn with_note(mut self, span: Option<Span>, message: impl Into<String>) -> Self {
        self.notes.push(Note {
            span,
            message: message.into(),
            in_label: false,
        });
        self
    }

    /// Attaches the data of the problem.
    pub fn about(mut self, problem: impl Into<Option<Problem>>) -> Self {
        self.problem = problem.into();
        self
    }

    /// With a remedy.
    pub fn with_help(mut self, help: impl Into<Help>) -> Self {
        self.help = Some(help.into());
        self
    }
}
