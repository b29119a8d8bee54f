//! Hints that cannot be fulfilled, and why.

use std::fmt;

use taipan_graph::VarId;
use taipan_lltype::{CodePlace, LLOp, LLOperand, NamedOperands, PlainOp, View};

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

    /// A hint needs a value green that is red.
    pub(crate) fn cannot_be_green(a: &Annotator<'_>, place: Place, hint: &str) -> HintError {
        let (s, b, i) = place;
        let op = &a.spec(s).graph.block(b).operations[i];
        let v = match op.view() {
            View::Hint { value, .. } => value.as_var(),
            _ => None,
        };
        let what = v.and_then(|v| named(a, s, v));
        let what = what.unwrap_or_else(|| "this value".into());
        let path = v.map_or_else(Vec::new, |v| path_to_red(a, s, v));
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
        let red = from.filter(|f| is_red(a, s, *f)).unwrap_or(v);
        let name = named(a, s, v).unwrap_or_else(|| "a value".into());
        HintError {
            message: format!(
                "{name} has to be known while compiling because of `hint(concrete=True)`, \
                 and is not on every way that leads here"
            ),
            place,
            label: String::new(),
            path: path_to_red(a, s, red),
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

fn is_red(a: &Annotator<'_>, s: SpecIx, v: VarId) -> bool {
    matches!(a.spec(s).bindings[v.index()], Binding::Variable { .. })
}

/// The name that a variable has in the source, in quotes.
fn named(a: &Annotator<'_>, s: SpecIx, v: VarId) -> Option<String> {
    let name = &a.spec(s).graph.vars[v.index()].name;
    (!name.is_empty()).then(|| format!("`{name}`"))
}

fn name_of(a: &Annotator<'_>, s: SpecIx, v: VarId) -> String {
    named(a, s, v).unwrap_or_else(|| format!("v{}", v.0))
}

/// The way from a red variable back to where it becomes red.
pub(crate) fn path_to_red(a: &Annotator<'_>, s: SpecIx, v: VarId) -> Vec<Step> {
    let mut path = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    let (mut s, mut v) = (s, v);
    while seen.insert((s, v)) {
        let Some((step, next)) = step(a, s, v) else {
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
fn step(a: &Annotator<'_>, s: SpecIx, v: VarId) -> Option<(Step, Option<(SpecIx, VarId)>)> {
    let spec = a.spec(s);
    let graph = &spec.graph;
    let red = |o: &LLOperand| o.as_var().filter(|v| is_red(a, s, *v));
    for b in graph.reachable() {
        let block = graph.block(b);
        for (i, op) in block.operations.iter().enumerate() {
            if op.result != v {
                continue;
            }
            let name = name_of(a, s, v);
            let here = |what: String| {
                let it = named(a, s, v).unwrap_or_else(|| "it".into());
                Some((format!("{it} {what}"), code_place(a, (s, b, i))))
            };
            let mut found = Step {
                text: format!("{name} = {} in {}", op.op, graph.name),
                value: match named(a, s, v) {
                    Some(name) => format!("{name} ({} in {})", op.op, graph.name),
                    None => format!("the result of {} in {}", op.op, graph.name),
                },
                note: here(comes_from(op.op)),
            };
            if hint_of(op) == Some(Hint::Variable) {
                found.text += " (variable=True)";
                found.note = here("is made red here".into());
                return Some((found, None));
            }
            if let Some((_, callee)) = spec.calls.get(&(b, i)).and_then(|c| c.first()) {
                let returned = a.spec(*callee).graph.returnvar();
                found.note = here("is what this call returns".into());
                return Some((found, Some((*callee, returned))));
            }
            return Some((found, op.args.iter().find_map(red).map(|v| (s, v))));
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
                    let text = format!("{} in {}", name_of(a, s, v), graph.name);
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
    let argument = graph.args().iter().position(|x| *x == v)?;
    let name = name_of(a, s, v);
    let mut found = Step {
        text: format!("argument {name} of {}", graph.name),
        value: format!("the argument {name} of {}", graph.name),
        note: None,
    };
    if s == PORTAL {
        return Some((found, None));
    }
    for (i, caller) in a.specs.iter().enumerate() {
        for ((b, at), targets) in &caller.calls {
            let op = &caller.graph.block(*b).operations[*at];
            let caller = SpecIx(i as u32);
            if targets.iter().any(|t| t.1 == s)
                && let Some(call) = op.view().call()
                && let Some(from) = call.args.get(argument).and_then(|o| o.as_var())
                && is_red(a, caller, from)
            {
                let note = format!("{name} is an argument of this call");
                found.note = Some((note, code_place(a, (caller, *b, *at))));
                return Some((found, Some((caller, from))));
            }
        }
    }
    Some((found, None))
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
