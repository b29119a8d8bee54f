//! What of an interpreter is known while compiling its loops: the colors of the variables of all
//! that the portal of a driver reaches.
//!
//! Compilers of drivers compute what they happen to know, state by state, and have no colors. So this
//! is what the hint-annotator finds if the greens are known at the merge point and the reds are
//! not: a green variable is known wherever it is used. A red one may be known at times, by promotion
//! of a class, or since the object that it comes from is virtual.

use std::collections::BTreeMap;
use std::fmt;

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashSet};
use taipan_graph::{Operation, VarId};
use taipan_lltype::{
    FuncSym, LLConst, LLGraph, LLOperand, LowLevel, NamedOperands, View, VoidConst,
};

use crate::annotator::{Annotator, SpecIx};
use crate::colors::Colors;
use crate::drivers::{DriverInfo, MarkerKind, marker_kind, marker_values, portal_of};
use crate::explain::{HintError, Trails};
use crate::hints::{Hint, hint_of};
use crate::prepare::prepare;
use crate::program::{JitProgram, Policy};

/// The color of a variable of the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NameColor {
    /// Known wherever it is used.
    Green,
    /// Not known; the path from it to where it becomes red, a step each.
    Red(Vec<String>),
    /// Known in some places; the path of one of the others.
    Both(Vec<String>),
}

impl fmt::Display for NameColor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (before, path) = match self {
            NameColor::Green => return f.write_str("green: known while compiling"),
            NameColor::Red(path) => ("red", path),
            NameColor::Both(path) => ("green in some places, in others red", path),
        };
        write!(f, "{before}: {}", path.join(", from "))
    }
}

/// The colors of all variables that the portal of a driver reaches, by function and name. Paths
/// to where a variable becomes red are made for the one variable that is asked for.
pub struct KnownNames {
    names: IndexMap<FuncSym, BTreeMap<String, Known>, FxBuildHasher>,
    trails: Trails,
}

/// The facts about the variables of one name in one function.
#[derive(Default)]
struct Known {
    green: bool,
    /// The first red one, if there is one.
    red: Option<(SpecIx, VarId)>,
}

/// Longest path that is shown.
const MOST_STEPS: usize = 12;

/// Maximum number of evaluated blocks, over all copies of functions.
const MOST_EVALUATIONS: usize = 4_000_000;

impl KnownNames {
    /// The color of the variables of that name in a function, if the driver reaches it.
    pub fn color(&self, function: &FuncSym, name: &str) -> Option<NameColor> {
        let known = self.names.get(function)?.get(name)?;
        let Some((s, v)) = known.red else {
            return Some(NameColor::Green);
        };
        let steps = self.trails.path_to_red(s, v, MOST_STEPS + 1);
        let mut path: Vec<String> = steps.into_iter().map(|step| step.text).collect();
        if path.len() > MOST_STEPS {
            path[MOST_STEPS] = "further values".to_owned();
        }
        Some(if known.green {
            NameColor::Both(path)
        } else {
            NameColor::Red(path)
        })
    }
}

/// Colors all that the portal of a driver reaches. An error is one of the program's hints.
pub fn known_names(program: &dyn JitProgram, driver: &DriverInfo) -> Result<KnownNames, HintError> {
    let graph =
        (program.graph(&driver.portal)).ok_or_else(|| HintError::no_graph(driver.portal.name()))?;
    let graph = prepare(&promote_greens(&graph), false);
    let is_red = |i: usize| i >= driver.greens.len();
    let run = |single_origin: bool| {
        let policy = Policy {
            driver: true,
            most_evaluations: Some(MOST_EVALUATIONS),
            single_origin,
            ..Policy::default()
        };
        Annotator::run(program, &driver.portal, graph.clone(), &is_red, policy)
    };
    // The hint is seldom used with drivers.
    let mut a = match run(true) {
        Ok(a) if !a.has_concrete => a,
        _ => run(false)?,
    };
    let colors = Colors::compute(&mut a);
    let trails = Trails::new(&a);
    let mut names = IndexMap::<FuncSym, BTreeMap<String, Known>, FxBuildHasher>::default();
    for s in (0..a.specs.len()).map(|i| SpecIx(i as u32)) {
        program.check_cancelled();
        let spec = a.spec(s);
        let function = portal_of(&spec.func).unwrap_or(&spec.func);
        let names = names.entry(function.clone()).or_default();
        let passing = promoted(&spec.graph);
        for b in spec.graph.reachable() {
            for v in spec.graph.block(b).definitions() {
                let name = &spec.graph.vars[v.index()].name;
                if name.is_empty() || spec.graph.ty(v).is_void() || passing.contains(&v) {
                    continue;
                }
                let known = match names.get_mut(&**name) {
                    Some(known) => known,
                    None => names.entry(name.to_string()).or_default(),
                };
                if colors.green(s, v) {
                    known.green = true;
                } else {
                    known.red = known.red.or(Some((s, v)));
                }
            }
        }
    }
    Ok(KnownNames { names, trails })
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
