//! What of an interpreter is known while compiling its loops: the colors of the variables of all
//! that the portal of a driver reaches.
//!
//! Compilers of drivers compute what they happen to know, state by state, and have no colors. So this
//! is what the hint-annotator finds if the greens are known at the merge point and the reds are
//! not: a green variable is known wherever it is used. A red one may be known at times, by promotion
//! of a class, or since the object that it comes from is virtual.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashSet};
use taipan_graph::{Operation, VarId};
use taipan_lltype::{
    FuncSym, LLConst, LLGraph, LLOperand, LowLevel, NamedOperands, View, VoidConst,
};

use crate::annotator::{Annotator, SpecIx};
use crate::colors::Colors;
use crate::drivers::{DriverInfo, MarkerKind, marker_kind, marker_values, portal_of};
use crate::explain::{HintError, path_to_red};
use crate::hints::{Hint, hint_of};
use crate::prepare::prepare;
use crate::program::{JitProgram, Policy};

/// The color of a variable of the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NameColor {
    /// Known wherever it is used.
    Green,
    /// Not known; the way from it to where it becomes red, a step each.
    Red(Vec<String>),
    /// Known in some places; the same for one of the others.
    Both(Vec<String>),
}

/// By function the colors of its variables, by their names.
pub type KnownNames = IndexMap<FuncSym, BTreeMap<String, NameColor>, FxBuildHasher>;

/// Colors all that the portal of a driver reaches. An error is one of the program's hints.
pub fn known_names(program: &dyn JitProgram, driver: &DriverInfo) -> Result<KnownNames, HintError> {
    let graph =
        (program.graph(&driver.portal)).ok_or_else(|| HintError::no_graph(driver.portal.name()))?;
    let graph = prepare(&promote_greens(&graph), false);
    let policy = Policy {
        driver: true,
        ..Policy::default()
    };
    let is_red = |i: usize| i >= driver.greens.len();
    let mut a = Annotator::run(program, &driver.portal, graph, &is_red, policy)?;
    let colors = Colors::compute(&mut a);
    let mut known = KnownNames::default();
    for s in (0..a.specs.len()).map(|i| SpecIx(i as u32)) {
        let spec = a.spec(s);
        let function = portal_of(&spec.func).unwrap_or(&spec.func);
        let names = known.entry(function.clone()).or_default();
        let passing = promoted(&spec.graph);
        for b in spec.graph.reachable() {
            for v in spec.graph.block(b).definitions() {
                let name = &spec.graph.vars[v.index()].name;
                if name.is_empty() || spec.graph.ty(v).is_void() || passing.contains(&v) {
                    continue;
                }
                let color = match colors.green(s, v) {
                    true => NameColor::Green,
                    false => {
                        let path = path_to_red(&a, s, v);
                        NameColor::Red(path.into_iter().map(|step| step.text).collect())
                    }
                };
                let together = match names.remove(&**name) {
                    None => color,
                    Some(before) => both(before, color),
                };
                names.insert(name.to_string(), together);
            }
        }
    }
    Ok(known)
}

/// Variables that are promoted: what counts is what becomes of them. Those that only pass such a
/// value on are among them.
fn promoted(g: &LLGraph) -> FxHashSet<VarId> {
    let mut all: FxHashSet<VarId> = FxHashSet::default();
    for op in g.blocks.iter().flat_map(|b| &b.operations) {
        if let View::Hint { value, .. } = op.view()
            && hint_of(op) == Some(Hint::Promote)
        {
            all.extend(value.as_var());
        }
    }
    // An argument that does nothing but lead there.
    for v in g.args() {
        let only = g.reachable().into_iter().all(|b| {
            let block = g.block(b);
            let used = block
                .operations
                .iter()
                .any(|op| op.args.contains(&LLOperand::Var(*v)));
            let mut links = block.exits.iter().flat_map(|l| {
                let inputs = &g.block(l.target).inputargs;
                l.args
                    .iter()
                    .zip(inputs)
                    .filter(|(a, _)| a.as_var() == Some(*v))
            });
            !used && links.all(|(_, input)| all.contains(input))
        });
        if only {
            all.insert(*v);
        }
    }
    all
}

/// The color of a name for variables of both.
fn both(a: NameColor, b: NameColor) -> NameColor {
    use NameColor::*;
    match (a, b) {
        (Green, Green) => Green,
        (Red(path), Red(_)) => Red(path),
        (Green | Both(_), Red(path)) | (Both(path), Green) | (Red(path), _) => Both(path),
        (Green, Both(path)) => Both(path),
        (Both(path), Both(_)) => Both(path),
    }
}

/// At the merge point greens are known, whatever they came from.
fn promote_greens(graph: &LLGraph) -> LLGraph {
    let mut g = graph.clone();
    for b in 0..g.blocks.len() {
        let operations = &g.blocks[b].operations;
        let is_point = |op: &Operation<LowLevel>| marker_kind(op) == Some(MarkerKind::MergePoint);
        let Some(at) = operations.iter().position(is_point) else {
            continue;
        };
        let (values, greens) = marker_values(&g, &operations[at]);
        let rest = g.blocks[b].operations.split_off(at + 1);
        let mut map = taipan_graph::Substitution::<LowLevel>::default();
        let mut promotions = Vec::new();
        for v in values[..greens].iter().filter_map(LLOperand::as_var) {
            let result = g.copy_var(v);
            let hint = LLOperand::Const(LLConst::Void(VoidConst::Field("promote".into())));
            let hint = View::Hint {
                value: &LLOperand::Var(v),
                names: &[hint],
            };
            promotions.push(hint.operation(result, 0));
            map.insert(v, LLOperand::Var(result));
        }
        let block = &mut g.blocks[b];
        let before = std::mem::replace(&mut block.operations, rest);
        block.substitute(&map);
        let after = std::mem::take(&mut block.operations);
        block.operations = before.into_iter().chain(promotions).chain(after).collect();
    }
    g
}
