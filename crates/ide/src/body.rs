//! From places in the text of a body to variables of its graphs.
//!
//! ```text
//! y = self.x + n        LoadAttr x     getattr(self_5, 'x') @19      spans[19] = `self.x`
//!                       Binary add     total_26 = add(v25, n_24) @21 spans[21] = `self.x + n`
//! ```
//!
//! An expression that is an operation is found by the place of its instruction; a
//! variable by its name, near the instruction that reads or writes it.

use std::sync::Arc;

use taipan_annotator::{CallInfo, FunctionAnnotation, SomeKind, SomeValue, Spec, annotation};
use taipan_base::TextRange;
use taipan_code::{Code, CodeId, CodeSpans, code, code_spans};
use taipan_graph::{BlockId, ExitSwitch, HighLevel, HlOp, Operand, Operation, VarId};

use crate::program::Home;

/// The annotated graphs of a body.
pub(crate) struct Body {
    pub(crate) code: Arc<Code>,
    pub(crate) spans: Arc<CodeSpans>,
    /// One per specialisation.
    pub(crate) graphs: Vec<(Spec, Arc<FunctionAnnotation>)>,
}

/// An operation of one of the graphs.
pub(crate) struct Found<'a> {
    pub(crate) annotation: &'a FunctionAnnotation,
    pub(crate) op: &'a Operation<HighLevel>,
    pub(crate) call: Option<&'a CallInfo>,
}

impl Found<'_> {
    /// Annotation of the result.
    pub(crate) fn result(&self) -> &SomeValue {
        self.annotation.var(self.op.result)
    }

    /// Annotation of an operand; none for a constant.
    pub(crate) fn operand(&self, i: usize) -> Option<&SomeValue> {
        let v = self.op.args.get(i)?.as_var()?;
        Some(self.annotation.var(v))
    }
}

impl Body {
    /// The body of a code that the program reaches.
    pub(crate) fn of(home: &Home<'_>, id: CodeId) -> Option<Body> {
        let graphs: Vec<_> = home
            .specs(id)
            .into_iter()
            .map(|s| (s, annotation(home.db, s)))
            .collect();
        let own = home.own_code(id);
        (!graphs.is_empty()).then(|| Body {
            code: code(home.db, own),
            spans: code_spans(home.db, own),
            graphs,
        })
    }

    fn instructions(&self, range: TextRange) -> Vec<u32> {
        let all = self.spans.instrs.iter().enumerate();
        all.filter(|(_, r)| **r == range)
            .map(|(i, _)| i as u32)
            .collect()
    }

    /// The operation that computes the expression at a place, in every graph where
    /// control gets there.
    pub(crate) fn operations(&self, range: TextRange) -> Vec<Found<'_>> {
        let at = self.instructions(range);
        let mut out = Vec::new();
        for (_, annotation) in &self.graphs {
            let mut best: Option<Found<'_>> = None;
            for (b, block) in annotation.graph.blocks.iter().enumerate() {
                if !annotation.reached[b] {
                    continue;
                }
                for (i, op) in block.operations.iter().enumerate() {
                    let wanted = at.contains(&op.at) && op.op != HlOp::Bool;
                    if wanted && best.as_ref().is_none_or(|f| f.op.at <= op.at) {
                        best = Some(Found {
                            annotation,
                            op,
                            call: annotation.calls.get(BlockId(b as u32), i as u32),
                        });
                    }
                }
            }
            out.extend(best);
        }
        out
    }

    /// Annotations of the expression at a place that is an operation: the different
    /// ones, in the order of specialisations.
    pub(crate) fn expression(&self, range: TextRange) -> Vec<SomeValue> {
        distinct(self.operations(range).iter().map(|f| f.result().clone()))
    }

    /// Annotations of a local variable that is read (or, with `write`, assigned) at a
    /// place.
    pub(crate) fn variable(&self, name: &str, range: TextRange, write: bool) -> Vec<SomeValue> {
        let at = self.instructions(range);
        let at = if write { at.last() } else { at.first() };
        distinct(self.graphs.iter().flat_map(|(_, a)| {
            let near = at.and_then(|at| match write {
                true => written(a, name, *at),
                false => read(a, name, *at),
            });
            match near {
                Some(v) => vec![a.var(v).clone()],
                None => variables(a, name).map(|v| a.var(v).clone()).collect(),
            }
        }))
    }

    /// Annotations of the argument of that name.
    pub(crate) fn argument(&self, name: &str) -> Vec<SomeValue> {
        let position = self.code.locals.iter().position(|l| &**l == name);
        distinct(self.graphs.iter().filter_map(|(_, a)| {
            let args = a.graph.args();
            let named = args
                .iter()
                .position(|v| &*a.graph.vars[v.index()].name == name);
            a.signature.args.get(named.or(position)?).cloned()
        }))
    }
}

fn named(a: &FunctionAnnotation, operand: &Operand<HighLevel>, name: &str) -> Option<VarId> {
    let v = operand.as_var()?;
    (&*a.graph.vars[v.index()].name == name).then_some(v)
}

/// The variable of that name that the first operation after an instruction uses.
fn read(a: &FunctionAnnotation, name: &str, at: u32) -> Option<VarId> {
    let mut best: Option<(u32, VarId)> = None;
    let mut take = |place: u32, v: VarId| {
        if place >= at && best.is_none_or(|(p, _)| place < p) {
            best = Some((place, v));
        }
    };
    for (b, block) in a.graph.blocks.iter().enumerate() {
        if !a.reached[b] {
            continue;
        }
        for op in &block.operations {
            if let Some(v) = op.args.iter().find_map(|x| named(a, x, name)) {
                take(op.at, v);
            }
        }
        let Some(end) = block.operations.last().map(|o| o.at.max(at)) else {
            continue;
        };
        if let ExitSwitch::Value(x) = &block.exitswitch
            && let Some(v) = named(a, x, name)
        {
            take(end + 1, v);
        }
    }
    best.map(|(_, v)| v).or_else(|| returned(a, name))
}

/// The variable of that name that is returned; where several ways through the function
/// meet, what they return together.
fn returned(a: &FunctionAnnotation, name: &str) -> Option<VarId> {
    let blocks = a.graph.blocks.iter().enumerate();
    let links = blocks
        .filter(|(b, _)| a.reached[*b])
        .flat_map(|(_, block)| &block.exits)
        .filter(|l| l.target == a.graph.returnblock);
    let mut found = links.filter_map(|l| l.args.iter().find_map(|x| named(a, x, name)));
    let first = found.next()?;
    Some(match found.next() {
        Some(_) => a.graph.returnvar(),
        None => first,
    })
}

/// The variable of that name that the last operation before an instruction makes.
fn written(a: &FunctionAnnotation, name: &str, at: u32) -> Option<VarId> {
    let blocks = a.graph.blocks.iter().enumerate();
    blocks
        .filter(|(b, _)| a.reached[*b])
        .flat_map(|(_, block)| &block.operations)
        .filter(|op| op.at < at && &*a.graph.vars[op.result.index()].name == name)
        .max_by_key(|op| op.at)
        .map(|op| op.result)
}

fn variables<'a>(a: &'a FunctionAnnotation, name: &'a str) -> impl Iterator<Item = VarId> + 'a {
    let all = (0..a.graph.vars.len() as u32).map(VarId);
    all.filter(move |v| &*a.graph.vars[v.index()].name == name)
}

/// The different annotations, in order; those of places that nothing gets to left out.
pub(crate) fn distinct(all: impl Iterator<Item = SomeValue>) -> Vec<SomeValue> {
    let mut out: Vec<SomeValue> = Vec::new();
    for s in all {
        if s.kind != SomeKind::Impossible && !out.contains(&s) {
            out.push(s);
        }
    }
    out
}
