//! What the flow space says of a function.

use std::sync::Arc;

use taipan_graph::FunctionGraph;

/// The flow graph of a function, or why there is none. Holds no source positions:
/// [`crate::flow_diagnostics`] has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowResult {
    /// The graph, or what is wrong with the function. Its input arguments are the
    /// parameters in order, `*args` and `**kwargs` included.
    pub graph: Result<Arc<FunctionGraph>, FlowError>,
    /// How it is called.
    pub signature: Signature,
}

/// Parameters of a function (RPython: `Signature`).
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Signature {
    /// Names of the positional ones. Default values are those of the function object.
    pub argnames: Vec<Box<str>>,
    /// Whether `*args` follows.
    pub varargs: bool,
    /// Whether `**kwargs` follows.
    pub varkeywords: bool,
}

/// Why a function has no graph (RPython: `FlowingError`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowError {
    /// `TP02xx`
    pub code: &'static str,
    /// What is wrong, on one line.
    pub message: String,
    /// The instruction it is about; none: the function as a whole.
    pub at: Option<u32>,
    /// The usual remedy.
    pub help: Option<String>,
}

impl FlowError {
    /// An error at an instruction yet to be filled in by the space.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        FlowError {
            code,
            message: message.into(),
            at: None,
            help: None,
        }
    }

    /// With the usual remedy.
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}
