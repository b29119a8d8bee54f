//! What the JIT generator reads of a program besides its graphs.

use std::sync::Arc;

use taipan_lltype::{CodePlace, FuncSym, LLGraph, Program, StructId};

use crate::code::TsGraph;
use crate::drivers::DriverInfo;
use crate::online::StaysCall;
use crate::touches::{Kind as TouchKind, OwnTouches};

/// A line of the source.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SourceLine {
    /// Path of the file.
    pub file: Arc<str>,
    /// Line number, starting at 1.
    pub line: u32,
}

/// What the attributes of a function say to the JIT generator.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FunctionHints {
    /// `elidable`: the result depends on the arguments only.
    pub elidable: bool,
    /// `dont_look_inside` and `look_inside`, if one of them is there: whether calls stay
    /// calls.
    pub look_inside: Option<bool>,
    /// `unroll_safe`: loops may be unrolled.
    pub unroll_safe: bool,
    /// `elidable_promote`: the arguments that are promoted first.
    pub promote_args: Option<PromotedArguments>,
    /// The merge point of a driver stands in it.
    pub has_merge_point: bool,
    /// The name in its `oopspec`: `list.append`.
    pub oopspec: Option<String>,
}

/// The arguments of a function that are promoted at a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PromotedArguments {
    /// All.
    All,
    /// Those at these positions.
    Some(Vec<usize>),
}

/// A program to generate a JIT for. Its graphs are those after the exception transform,
/// with the operations `hint` still in them.
pub trait JitProgram: Program {
    /// What is said of a function.
    fn hints(&self, f: &FuncSym) -> FunctionHints;

    /// Whether compilers of drivers follow its calls: see [`crate::looks_inside`].
    fn looks_inside(&self, f: &FuncSym) -> bool;

    /// Whether a call of it may leave an exception.
    fn can_raise(&self, f: &FuncSym) -> bool;

    /// Whether calls of it that stay calls can be merged with others: see [`crate::is_elidable`].
    fn is_elidable(&self, f: &FuncSym) -> bool;

    /// Whether calls of it are searches of a dict: see [`crate::is_search`].
    fn is_search(&self, f: &FuncSym) -> bool;

    /// The driver that a function has a merge point of; the same for its portal.
    fn driver(&self, f: &FuncSym) -> Option<DriverInfo>;

    /// The function as they read it: see [`crate::timeshift_function`].
    fn timeshifted(&self, f: &FuncSym) -> Option<Arc<TsGraph>>;

    /// What it does to memory.
    fn touches(&self, f: &FuncSym) -> Arc<OwnTouches>;

    /// The number of a kind of places in the sets of [`OwnTouches::tabled`]. None if no set has the kind.
    fn touch_number(&self, _: &TouchKind) -> Option<u32> {
        None
    }

    /// File and line of an instruction, for the log. None if unknown.
    fn line(&self, _: &CodePlace) -> Option<SourceLine> {
        None
    }

    /// Why calls of a function are not followed, for the log. None if they are, or if unknown.
    fn stays_call(&self, _: &FuncSym) -> Option<StaysCall> {
        None
    }

    /// File and line of the first loop of a function, for the log.
    fn loop_line(&self, _: &FuncSym) -> Option<SourceLine> {
        None
    }

    /// Whether a field of a class is only written while its object is constructed, for the log.
    fn is_settled(&self, _: &StructId, _field: &str) -> bool {
        false
    }

    /// Called in every loop that may take long. Unwinds if the result is not needed any more.
    fn check_cancelled(&self) {}
}

/// Which calls are followed (RPython: `HintAnnotatorPolicy`).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Policy {
    /// Names of functions whose calls stay calls, without their modules: `f`,
    /// `Class.method`.
    pub stop_at: Vec<String>,
    /// Calls of functions with an `oopspec` stay calls.
    pub oopspec: bool,
    /// What is known of memory is kept, so that it is read and written less often.
    pub heap_cache: bool,
    /// Arrays are never virtual, whether their length is known or not.
    pub real_arrays: bool,
    /// Calls are followed as compilers of drivers follow them.
    pub driver: bool,
    /// Maximum number of blocks that the hint-annotator evaluates; none if it may take as long as
    /// it takes.
    pub most_evaluations: Option<usize>,
    /// Of all that a value depends on, one operation or argument is kept: enough to tell colors as long
    /// as there is no hint `concrete`, and much faster.
    pub single_origin: bool,
}

impl Policy {
    /// The graph of a function that is followed; none where a call of it stays a call.
    pub(crate) fn look_inside(
        &self,
        program: &dyn JitProgram,
        f: &FuncSym,
    ) -> Option<Arc<LLGraph>> {
        let is_named = |name: &String| {
            let rest = f.name().strip_suffix(&**name);
            rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        };
        if self.stop_at.iter().any(is_named) || self.driver && !program.looks_inside(f) {
            return None;
        }
        let hints = program.hints(f);
        let oopspec = self.oopspec && hints.oopspec.is_some();
        if hints.elidable || hints.look_inside == Some(false) || oopspec {
            return None;
        }
        program.graph(f)
    }
}
