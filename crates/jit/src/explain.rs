//! Hints that cannot be fulfilled, and why.

use std::fmt;

use taipan_graph::VarId;
use taipan_lltype::LLOperand;

use crate::annotator::{Annotator, PORTAL, Place, SpecIx};
use crate::binding::Binding;
use crate::hints::{Hint, hint_of};

/// Why no JIT can be generated (RPython: `HintError`).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HintError {
    /// What is wrong: the variable, the hint, the red value that it depends on.
    pub message: String,
    /// The way from the variable to that value, a step each.
    pub path: Vec<String>,
}

impl fmt::Display for HintError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        for step in &self.path {
            write!(f, "\n  {step}")?;
        }
        Ok(())
    }
}

impl std::error::Error for HintError {}

impl HintError {
    pub(crate) fn no_graph(name: &str) -> HintError {
        HintError {
            message: format!("{name} has no graph to generate a compiler from"),
            path: Vec::new(),
        }
    }

    /// A hint needs a value green that is red.
    pub(crate) fn cannot_be_green(a: &Annotator<'_>, place: Place, hint: &str) -> HintError {
        let (s, b, i) = place;
        let op = &a.spec(s).graph.block(b).operations[i];
        let v = op.args[0].as_var();
        Self::about(a, s, v, format!("hint({hint}=True)"))
    }

    /// Paths join, and only on one of them a value is what a hint needs.
    pub(crate) fn contradiction(
        a: &Annotator<'_>,
        s: SpecIx,
        v: VarId,
        from: Option<VarId>,
    ) -> HintError {
        let red = from.filter(|f| is_red(a, s, *f)).unwrap_or(v);
        Self::about(
            a,
            s,
            Some(red),
            "a value with hint(concrete=True)".to_owned(),
        )
    }

    fn about(a: &Annotator<'_>, s: SpecIx, v: Option<VarId>, hint: String) -> HintError {
        let graph = &a.spec(s).graph;
        let Some(v) = v else {
            return HintError {
                message: format!("{hint} in {}", graph.name),
                path: Vec::new(),
            };
        };
        let path = path_to_red(a, s, v);
        let source = path.last().cloned().unwrap_or_default();
        HintError {
            message: format!(
                "{hint} in {}: {} cannot be green, since it depends on {source}",
                graph.name,
                name_of(a, s, v)
            ),
            path,
        }
    }
}

fn is_red(a: &Annotator<'_>, s: SpecIx, v: VarId) -> bool {
    matches!(a.spec(s).bindings[v.index()], Binding::Variable { .. })
}

fn name_of(a: &Annotator<'_>, s: SpecIx, v: VarId) -> String {
    match &*a.spec(s).graph.vars[v.index()].name {
        "" => format!("v{}", v.0),
        name => format!("`{name}`"),
    }
}

/// The way from a red variable back to where it becomes red.
pub(crate) fn path_to_red(a: &Annotator<'_>, s: SpecIx, v: VarId) -> Vec<String> {
    let mut path = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    let (mut s, mut v) = (s, v);
    while seen.insert((s, v)) {
        let Some((text, next)) = step(a, s, v) else {
            break;
        };
        path.push(text);
        match next {
            Some(next) => (s, v) = next,
            None => break,
        }
    }
    path
}

/// How a red variable came about, and the red one that it comes from.
fn step(a: &Annotator<'_>, s: SpecIx, v: VarId) -> Option<(String, Option<(SpecIx, VarId)>)> {
    let spec = a.spec(s);
    let graph = &spec.graph;
    let red = |o: &LLOperand| o.as_var().filter(|v| is_red(a, s, *v));
    for b in graph.reachable() {
        let block = graph.block(b);
        for (i, op) in block.operations.iter().enumerate() {
            if op.result != v {
                continue;
            }
            let text = format!("{} = {} in {}", name_of(a, s, v), op.op, graph.name);
            if hint_of(op) == Some(Hint::Variable) {
                return Some((format!("{text} (variable=True)"), None));
            }
            if let Some((_, callee)) = spec.calls.get(&(b, i)).and_then(|c| c.first()) {
                let returned = a.spec(*callee).graph.returnvar();
                return Some((text, Some((*callee, returned))));
            }
            return Some((text, op.args.iter().find_map(red).map(|v| (s, v))));
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
                    return Some((text, Some((s, from))));
                }
            }
        }
    }
    let argument = graph.args().iter().position(|x| *x == v)?;
    let text = format!("argument {} of {}", name_of(a, s, v), graph.name);
    if s == PORTAL {
        return Some((text, None));
    }
    for (i, caller) in a.specs.iter().enumerate() {
        for ((b, at), targets) in &caller.calls {
            let op = &caller.graph.block(*b).operations[*at];
            let at = SpecIx(i as u32);
            if targets.iter().any(|t| t.1 == s)
                && let Some(from) = op.args.get(argument + 1).and_then(|o| o.as_var())
                && is_red(a, at, from)
            {
                return Some((text, Some((at, from))));
            }
        }
    }
    Some((text, None))
}
