//! What the flow space says of a function.

use std::sync::Arc;

use taipan_base::{ErrorCode, Help, Problem};
use taipan_graph::{FunctionGraph, ObjId};

use crate::DeadOperation;

/// The flow graph of a function, or why there is none. Holds no source positions:
/// [`crate::flow_diagnostics`] has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowResult {
    /// The graph, or what is wrong with the function. Its input arguments are the
    /// parameters in order, `*args` and `**kwargs` included.
    pub graph: Result<Arc<FunctionGraph>, FlowError>,
    /// All that is wrong with the function, that first.
    pub errors: Arc<[FlowError]>,
    /// The graph in which calls of [`ERROR_VALUE`] stand for what is wrong: to look for more
    /// mistakes, never to be compiled.
    pub recovered: Option<Arc<FunctionGraph>>,
    /// Operations that are left out of the graph because nothing needs their results.
    pub dead: Arc<[DeadOperation]>,
    /// How it is called.
    pub signature: Signature,
}

/// The name of an object that does not exist: calls of it, in a recovered graph, give values
/// of which nothing is known because an operation is wrong.
pub const ERROR_VALUE: &str = "taipan.error";

/// The name of an object that does not exist: a call of it, with the text and the remedy as
/// arguments, is where a module is imported that fails while it loads. The annotator tells
/// of it where the call is reached.
pub const FAILED_IMPORT: &str = "taipan.failed_import";

impl FlowResult {
    /// What was made of the function, or where it starts to be wrong.
    pub(crate) fn new(
        graph: Option<FunctionGraph>,
        errors: Vec<FlowError>,
        signature: Signature,
    ) -> Self {
        let graph = graph.map(Arc::new);
        let missing = || {
            FlowError::new(
                ErrorCode::Untranslatable,
                "this is no function written in Python",
            )
        };
        let (graph, recovered) = match (errors.first(), graph) {
            (None, Some(graph)) => (Ok(graph), None),
            (None, None) => (Err(missing()), None),
            (Some(first), recovered) => (Err(first.clone()), recovered),
        };
        FlowResult {
            errors: match &graph {
                Err(e) if errors.is_empty() => Arc::new([e.clone()]),
                _ => errors.into(),
            },
            graph,
            recovered,
            dead: Arc::new([]),
            signature,
        }
    }

    /// The graph, even if something is wrong with the function.
    pub fn any_graph(&self) -> Option<&Arc<FunctionGraph>> {
        self.graph.as_ref().ok().or(self.recovered.as_ref())
    }
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
    pub code: ErrorCode,
    /// What is wrong, on one line.
    pub message: String,
    /// The instruction it is about; none: the function as a whole.
    pub at: Option<u32>,
    /// The usual remedy.
    pub help: Option<Help>,
    /// The name that is missing, for which a similar one may have been meant.
    pub lacks: Option<Lacks>,
    /// The module that there is not, or that fails.
    pub module: Option<Problem>,
}

/// The error for raising a value that is no exception.
pub fn no_exception(what: &str) -> String {
    format!("{what} is no exception, so it cannot be raised")
}

/// The remedy for raising such a value.
pub const INSTEAD_OF_RAISING: &str =
    "raise an instance of an exception class, as in `raise ValueError(\"...\")`";

/// A name that is missing, and the object that should have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lacks {
    /// A global of these globals, a builtin, or a local variable.
    Variable(ObjId, Box<str>),
    /// An attribute of a module, class or instance.
    Attribute(ObjId, Box<str>),
}

impl FlowError {
    /// An error at an instruction yet to be filled in by the space.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        FlowError {
            code,
            message: message.into(),
            at: None,
            help: None,
            lacks: None,
            module: None,
        }
    }

    /// With the usual remedy.
    pub fn with_help(mut self, help: impl Into<Help>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Because of a module.
    pub fn with_module(mut self, problem: Option<Problem>) -> Self {
        self.module = problem;
        self
    }

    /// Because a name is missing.
    pub fn with_lacking(mut self, lacks: Lacks) -> Self {
        self.lacks = Some(lacks);
        self
    }
}
