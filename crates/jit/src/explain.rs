//! Hints that cannot be fulfilled, and why.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use taipan_graph::{BlockId, VarId};
use taipan_lltype::{CodePlace, FuncSym, LLGraph, LLOp, LLOperand, NamedOperands, PlainOp, View};

use crate::annotator::{Annotator, PORTAL, Place, SpecIx};
use crate::binding::Binding;
use crate::hints::{Hint, hint_of};

/// Why no JIT can be generated (RPython: `HintError`).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HintError {
    /// What is wrong, in a line.
    pub message: String,
    /// Where, if that is known.
    pub place: Option<CodePlace>,
    /// What is there, in a few words.
    pub label: String,
    /// The way from the variable to the red value that it depends on.
    pub path: Vec<Step>,
    /// What helps.
    pub remedy: Option<&'static str>,
}

/// A step on the way from a red variable to where it becomes red.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The variable and what it comes from, in words of the graph.
    pub text: String,
    /// The value, for the middle of a sentence.
    pub value: String,
    /// What stands at a place of the source, if the step is one there.
    pub note: Option<(String, CodePlace)>,
}

impl fmt::Display for HintError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        for step in &self.path {
            write!(f, "\n  {}", step.text)?;
        }
        Ok(())
    }
}

impl std::error::Error for HintError {}

/// What makes a value green.
const PROMOTE: &str =
    "put `promote()` around the value, or make the field that it comes from immutable";

impl HintError {
    pub(crate) fn no_graph(name: &str) -> HintError {
        HintError {
            message: format!("{name} has no graph to generate a compiler from"),
            place: None,
            label: String::new(),
            path: Vec::new(),
            remedy: None,
        }
    }

    /// The analysis would evaluate more blocks than it may.
    pub(crate) fn too_large(name: &str) -> HintError {
        HintError {
            message: format!("what {name} reaches is too large to be colored"),
            place: None,
            label: String::new(),
            path: Vec::new(),
            remedy: None,
        }
    }

    /// A hint needs a value green that is red.
    pub(crate) fn cannot_be_green(a: &Annotator<'_>, place: Place, hint: &str) -> HintError {
        let (s, b, i) = place;
        let op = &a.spec(s).graph.block(b).operations[i];
        let v = match op.view() {
            View::Hint { value, .. } => value.as_var(),
            _ => None,
        };
        let trails = Trails::new(a);
        let what = v.and_then(|v| trails.named(s, v));
        let what = what.unwrap_or_else(|| "this value".into());
        let path = v.map_or_else(Vec::new, |v| trails.path_to_red(s, v, usize::MAX));
        let source = match path.last() {
            Some(last) => format!(", but it depends on {}", last.value),
            None => String::new(),
        };
        HintError {
            message: format!("`hint({hint}=True)` needs {what} while compiling{source}"),
            place: Some(code_place(a, place)),
            label: format!("{what} is known at run time only"),
            path,
            remedy: Some(PROMOTE),
        }
    }

    /// Paths join, and only on one of them a value is what a hint needs.
    pub(crate) fn contradiction(
        a: &Annotator<'_>,
        s: SpecIx,
        v: VarId,
        from: Option<VarId>,
        place: Option<CodePlace>,
    ) -> HintError {
        let trails = Trails::new(a);
        let red = from.filter(|f| trails.is_red(s, *f)).unwrap_or(v);
        let name = trails.named(s, v).unwrap_or_else(|| "a value".into());
        HintError {
            message: format!(
                "{name} has to be known while compiling because of `hint(concrete=True)`, \
                 and is not on every way that leads here"
            ),
            place,
            label: String::new(),
            path: trails.path_to_red(s, red, usize::MAX),
            remedy: Some(PROMOTE),
        }
    }
}

/// Where an operation comes from.
pub(crate) fn code_place(a: &Annotator<'_>, (s, b, i): Place) -> CodePlace {
    let spec = a.spec(s);
    CodePlace {
        func: spec.func.clone(),
        at: spec.graph.block(b).operations[i].at,
    }
}

/// Where red values come from: the part of the analysis that paths are made of, without its
/// bindings.
pub(crate) struct Trails(Vec<Trail>);

/// A function copy.
struct Trail {
    func: FuncSym,
    graph: Arc<LLGraph>,
    /// By variable.
    red: Vec<bool>,
    /// The first copy that each call reaches.
    calls: BTreeMap<(BlockId, usize), SpecIx>,
    /// The calls that reach this copy, in the order of the callers.
    callers: Vec<Place>,
}

impl Trails {
    pub(crate) fn new(a: &Annotator<'_>) -> Trails {
        let mut all: Vec<Trail> = (a.specs.iter())
            .map(|spec| Trail {
                func: spec.func.clone(),
                graph: spec.graph.clone(),
                red: (spec.bindings.iter())
                    .map(|b| matches!(b, Binding::Variable { .. }))
                    .collect(),
                calls: (spec.calls.iter())
                    .filter_map(|(at, targets)| Some((*at, targets.first()?.1)))
                    .collect(),
                callers: Vec::new(),
            })
            .collect();
        for (i, caller) in a.specs.iter().enumerate() {
            for ((b, at), targets) in &caller.calls {
                let targets: BTreeSet<SpecIx> = targets.iter().map(|t| t.1).collect();
                for target in targets {
                    let place = (SpecIx(i as u32), *b, *at);
                    all[target.0 as usize].callers.push(place);
                }
            }
        }
        Trails(all)
    }

    fn trail(&self, s: SpecIx) -> &Trail {
        &self.0[s.0 as usize]
    }

    pub(crate) fn graph(&self, s: SpecIx) -> &LLGraph {
        &self.trail(s).graph
    }

    fn is_red(&self, s: SpecIx, v: VarId) -> bool {
        self.trail(s).red[v.index()]
    }

    /// The name that a variable has in the source, in quotes.
    fn named(&self, s: SpecIx, v: VarId) -> Option<String> {
        let name = &self.graph(s).vars[v.index()].name;
        (!name.is_empty()).then(|| format!("`{name}`"))
    }

    fn name_of(&self, s: SpecIx, v: VarId) -> String {
        self.named(s, v).unwrap_or_else(|| format!("v{}", v.0))
    }

    fn place(&self, (s, b, i): Place) -> CodePlace {
        let trail = self.trail(s);
        CodePlace {
            func: trail.func.clone(),
            at: trail.graph.block(b).operations[i].at,
        }
    }

    /// The path from a red variable back to where it becomes red. Maximum number of steps:
    /// `most`.
    pub(crate) fn path_to_red(&self, s: SpecIx, v: VarId, most: usize) -> Vec<Step> {
        let mut path = Vec::new();
        let mut seen = BTreeSet::new();
        let (mut s, mut v) = (s, v);
        while path.len() < most && seen.insert((s, v)) {
            let Some((step, next)) = self.step(s, v) else {
                break;
            };
            path.push(step);
            match next {
                Some(next) => (s, v) = next,
                None => break,
            }
        }
        path
    }

    /// How a red variable came about, and the red one that it comes from.
    fn step(&self, s: SpecIx, v: VarId) -> Option<(Step, Option<(SpecIx, VarId)>)> {
        let graph = self.graph(s);
        let red = |o: &LLOperand| o.as_var().filter(|v| self.is_red(s, *v));
        for b in graph.reachable() {
            let operations = &graph.block(b).operations;
            if let Some(i) = operations.iter().position(|op| op.result == v) {
                return Some(self.operation_step((s, b, i)));
            }
        }
        for b in graph.reachable() {
            for link in &graph.block(b).exits {
                let inputs = &graph.block(link.target).inputargs;
                for (arg, input) in link.args.iter().zip(inputs) {
                    if *input == v
                        && let Some(from) = red(arg)
                        && from != v
                    {
                        let text = format!("{} in {}", self.name_of(s, v), graph.name);
                        let found = Step {
                            value: text.clone(),
                            text,
                            note: None,
                        };
                        return Some((found, Some((s, from))));
                    }
                }
            }
        }
        self.argument_step(s, v)
    }

    /// The result of an operation.
    fn operation_step(&self, place: Place) -> (Step, Option<(SpecIx, VarId)>) {
        let (s, b, i) = place;
        let graph = self.graph(s);
        let op = &graph.block(b).operations[i];
        let v = op.result;
        let name = self.name_of(s, v);
        let here = |what: String| {
            let it = self.named(s, v).unwrap_or_else(|| "it".into());
            Some((format!("{it} {what}"), self.place(place)))
        };
        let mut found = Step {
            text: format!("{name} = {} in {}", op.op, graph.name),
            value: match self.named(s, v) {
                Some(name) => format!("{name} ({} in {})", op.op, graph.name),
                None => format!("the result of {} in {}", op.op, graph.name),
            },
            note: here(comes_from(op.op)),
        };
        if hint_of(op) == Some(Hint::Variable) {
            found.text += " (variable=True)";
            found.note = here("is made red here".into());
            return (found, None);
        }
        if let Some(callee) = self.trail(s).calls.get(&(b, i)) {
            let returned = self.graph(*callee).returnvar();
            found.note = here("is what this call returns".into());
            return (found, Some((*callee, returned)));
        }
        let red = |o: &LLOperand| o.as_var().filter(|v| self.is_red(s, *v));
        (found, op.args.iter().find_map(red).map(|v| (s, v)))
    }

    /// An argument of a function: red where the first call that passes a red value is.
    fn argument_step(&self, s: SpecIx, v: VarId) -> Option<(Step, Option<(SpecIx, VarId)>)> {
        let graph = self.graph(s);
        let argument = graph.args().iter().position(|x| *x == v)?;
        let name = self.name_of(s, v);
        let mut found = Step {
            text: format!("argument {name} of {}", graph.name),
            value: format!("the argument {name} of {}", graph.name),
            note: None,
        };
        if s == PORTAL {
            return Some((found, None));
        }
        for place in &self.trail(s).callers {
            let (caller, b, at) = *place;
            let op = &self.graph(caller).block(b).operations[at];
            if let Some(call) = op.view().call()
                && let Some(from) = call.args.get(argument).and_then(|o| o.as_var())
                && self.is_red(caller, from)
            {
                let note = format!("{name} is an argument of this call");
                found.note = Some((note, self.place(*place)));
                return Some((found, Some((caller, from))));
            }
        }
        Some((found, None))
    }
}

/// How an operation gives a value that is known at run time only.
fn comes_from(op: LLOp) -> String {
    use PlainOp::*;
    match op {
        LLOp::Plain(Malloc | MallocVarsize) => "is a new object, made here".into(),
        LLOp::Plain(Getfield | Getinteriorfield) => "is read from a field here".into(),
        LLOp::Plain(Getarrayitem) => "is read from an array here".into(),
        LLOp::Plain(DirectCall | IndirectCall) => "is what this call returns".into(),
        _ => "is computed here".into(),
    }
}
