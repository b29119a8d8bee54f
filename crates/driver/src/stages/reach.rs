//! What a program consists of: functions and prebuilt data that its entries refer to.

#![allow(missing_docs, reason = "salsa generates undocumented accessors")]

use rustc_hash::{FxHashMap, FxHashSet};
use taipan_annotator::Roots;
use taipan_base::{Db, Diagnostic};
use taipan_codegen::{Reference, graph_references, static_references};
use taipan_lltype::{FuncKind, FuncSym, Program, StaticSym, find_external};
use taipan_rtyper::{StaticKey, func_key, static_data};

use crate::db::Database;
use crate::function::LLFunction;
use crate::parallel::{par_map, par_steps};
use crate::stages::{GraphStage, StageProgram, optimized_mentions, rtyped, simplified_mentions};

/// What a program consists of at a stage.
#[derive(Default)]
pub(crate) struct Reachable {
    /// Functions that have graphs, in breadth-first order from the entries.
    pub(crate) functions: Vec<FuncSym>,
    /// Prebuilt data, likewise.
    pub(crate) statics: Vec<StaticSym>,
    /// What cannot be typed, in the order in which it is reached.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// It calls functions of C libraries other than those that the runtime offers.
    pub(crate) calls_c: bool,
}

/// Walks over everything that some functions refer to, directly or not, on all threads.
/// Never to be called from within a query.
pub(crate) fn reachable(
    db: &Database,
    roots: Roots,
    stage: GraphStage,
    entries: &[FuncSym],
) -> Reachable {
    walk(db, roots, References::to(entries), |functions, statics| {
        let mut found = par_steps(db, functions, |db, sym| {
            function_references(db, roots, stage, sym)
        });
        found.extend(par_map(db, statics, |db, sym| {
            data_references(db, roots, sym)
        }));
        found
    })
}

/// The same on this thread alone, for queries.
pub(crate) fn reachable_here(
    db: &dyn Db,
    roots: Roots,
    stage: GraphStage,
    entries: &[FuncSym],
) -> Reachable {
    walk(db, roots, References::to(entries), |functions, statics| {
        let functions = functions.iter();
        let functions = functions.map(|sym| function_references(db, roots, stage, sym));
        let statics = statics.iter().map(|sym| data_references(db, roots, sym));
        functions.chain(statics).collect()
    })
}

/// Those of some functions that reach one that is wanted, by calls or through prebuilt data,
/// before functions are inlined.
pub fn reaching(
    db: &dyn Db,
    roots: Roots,
    entries: &[FuncSym],
    wanted: impl Fn(&FuncSym) -> bool,
) -> FxHashSet<FuncSym> {
    #[derive(Clone, PartialEq, Eq, Hash)]
    enum Node {
        Func(FuncSym),
        Static(StaticSym),
    }
    let stage = GraphStage::Simplified;
    let all = reachable_here(db, roots, stage, entries);
    let mut found: Vec<Node> = (all.functions.iter())
        .filter(|f| wanted(f))
        .map(|f| Node::Func(f.clone()))
        .collect();
    if found.is_empty() {
        return FxHashSet::default();
    }
    let mut users: FxHashMap<Node, Vec<Node>> = FxHashMap::default();
    let mut note = |user: Node, used: References| {
        let functions = used.functions.into_iter().map(Node::Func);
        for n in functions.chain(used.statics.into_iter().map(Node::Static)) {
            users.entry(n).or_default().push(user.clone());
        }
    };
    for f in &all.functions {
        note(
            Node::Func(f.clone()),
            function_references(db, roots, stage, f),
        );
    }
    for s in &all.statics {
        note(Node::Static(s.clone()), data_references(db, roots, s));
    }
    let mut seen: FxHashSet<Node> = found.iter().cloned().collect();
    while let Some(n) = found.pop() {
        for user in users.remove(&n).into_iter().flatten() {
            if seen.insert(user.clone()) {
                found.push(user);
            }
        }
    }
    let reach = |f: &&FuncSym| seen.contains(&Node::Func((*f).clone()));
    entries.iter().filter(reach).cloned().collect()
}

/// Wave by wave: `look` answers what some functions and data refer to, in order.
fn walk(
    db: &dyn Db,
    roots: Roots,
    first: References,
    look: impl Fn(&[FuncSym], &[StaticSym]) -> Vec<References>,
) -> Reachable {
    let mut out = Reachable::default();
    let mut functions = FxHashSet::default();
    let mut statics = FxHashSet::default();
    let mut add = |out: &mut Reachable, found: References| {
        for f in found.functions {
            out.calls_c |= matches!(f.kind(), FuncKind::External { name, .. }
                if find_external(name).is_none());
            if func_key(db, roots, &f).is_some() && functions.insert(f.clone()) {
                out.functions.push(f);
            }
        }
        for s in found.statics {
            if statics.insert(s.clone()) {
                out.statics.push(s);
            }
        }
        out.diagnostics.extend(found.diagnostic);
    };
    add(&mut out, first);
    let (mut f, mut s) = (0, 0);
    while f < out.functions.len() || s < out.statics.len() {
        let found = look(&out.functions[f..], &out.statics[s..]);
        (f, s) = (out.functions.len(), out.statics.len());
        for found in found {
            add(&mut out, found);
        }
    }
    out
}

/// What one function or one piece of data refers to.
#[derive(Default)]
pub(crate) struct References {
    pub(crate) functions: Vec<FuncSym>,
    pub(crate) statics: Vec<StaticSym>,
    /// Why it cannot be typed.
    pub(crate) diagnostic: Option<Diagnostic>,
}

impl References {
    fn to(entries: &[FuncSym]) -> References {
        References {
            functions: entries.to_vec(),
            ..References::default()
        }
    }

    fn add(&mut self, r: Reference<'_>) {
        match r {
            Reference::Func(f) => self.functions.push(f.clone()),
            Reference::Static(s) => self.statics.push(s.clone()),
        }
    }
}

/// What a function refers to.
pub(crate) fn function_references(
    db: &dyn Db,
    roots: Roots,
    stage: GraphStage,
    sym: &FuncSym,
) -> References {
    let mut out = References::default();
    // May be known without the graph.
    let key = LLFunction::new(db, roots, sym.clone());
    let mentioned = match stage {
        GraphStage::Simplified => simplified_mentions(db, key),
        GraphStage::Optimized => optimized_mentions(db, key),
        GraphStage::Rtyped
        | GraphStage::Entered
        | GraphStage::Jit
        | GraphStage::JitOptimized(_)
        | GraphStage::Gc => None,
    };
    if let Some(mentioned) = mentioned {
        out.functions.extend(mentioned.functions.iter().cloned());
        out.statics.extend(mentioned.statics.iter().cloned());
        return out;
    }
    if let Some(Err(d)) = rtyped(db, roots, sym) {
        out.diagnostic = Some(d);
    } else if let Some(graph) = StageProgram::new(db, roots, stage).graph(sym) {
        graph_references(&graph, &mut |r| out.add(r));
    }
    out
}

/// What prebuilt data refers to.
pub(crate) fn data_references(db: &dyn Db, roots: Roots, sym: &StaticSym) -> References {
    let mut out = References::default();
    match static_data(db, StaticKey::new(db, roots, sym.clone())) {
        Ok(data) => static_references(&data.value, &mut |r| out.add(r)),
        Err(d) => out.diagnostic = Some(d),
    }
    out
}
