//! Green or red: the largest set of values that can be green (RPython, 2008:
//! `HintBookkeeper.compute_at_fixpoint`).
//!
//! Every origin starts green. One becomes red if an operand of its operation is red; the
//! arguments of a function are as red as what any call passes, and those of functions
//! that are called at the same places are equally red. A call whose operands are green
//! is made while compiling if the function is pure; the result of any other is as red as
//! what the function returns.

use std::collections::{BTreeMap, BTreeSet};

use taipan_graph::Operation;
use taipan_graph::VarId;
use taipan_lltype::{LLOperand, LowLevel, NamedOperands};

use crate::annotator::{Annotator, OriginKind, PORTAL, SpecIx};
use crate::binding::{Binding, OriginId};

/// The color of a function, by what it returns.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Serialize, serde::Deserialize,
)]
pub enum CallColor {
    /// It returns nothing.
    Gray,
    /// It returns a green value.
    Yellow,
    /// It returns a red value.
    Red,
}

/// How a call is treated.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum CallKind {
    /// It is made while compiling.
    Green,
    /// What is called is compiled into the caller.
    Inside(CallColor),
    /// It stays a call.
    Residual,
}

/// What is green, of all function copies.
pub(crate) struct Colors {
    green_origins: Vec<bool>,
    /// By copy, then by variable.
    green: Vec<Vec<bool>>,
    graphs: Vec<CallColor>,
}

type Dep = (SpecIx, LLOperand);

impl Colors {
    pub(crate) fn compute(a: &mut Annotator<'_>) -> Colors {
        let portal = &mut a.specs[PORTAL.0 as usize];
        let returned = portal.graph.returnvar();
        if !portal.graph.ty(returned).is_void() {
            portal.bindings[returned.index()] = Binding::red();
        }
        let mut colors = Colors {
            green_origins: (a.origins.iter())
                .map(|o| !matches!(o.kind, OriginKind::Entry(_)))
                .collect(),
            green: Vec::new(),
            graphs: Vec::new(),
        };
        colors.propagate(a);
        for family in &a.families {
            let returns = |s: &SpecIx| (*s, a.spec(*s).graph.returnvar());
            let red = family.len() > 1
                && family
                    .iter()
                    .map(returns)
                    .any(|(s, v)| !colors.is_green(a, s, v));
            if red {
                for (s, v) in family.iter().map(returns).collect::<Vec<_>>() {
                    a.specs[s.0 as usize].bindings[v.index()] = Binding::red();
                }
            }
        }
        for s in (0..a.specs.len()).map(|i| SpecIx(i as u32)) {
            let graph = &a.spec(s).graph;
            let vars = (0..graph.vars.len()).map(|v| VarId(v as u32));
            let green: Vec<bool> = vars.map(|v| colors.is_green(a, s, v)).collect();
            let returned = graph.returnvar();
            colors.graphs.push(match () {
                () if graph.ty(returned).is_void() => CallColor::Gray,
                () if green[returned.index()] => CallColor::Yellow,
                () => CallColor::Red,
            });
            colors.green.push(green);
        }
        colors
    }

    /// Whether a variable of a copy is green.
    pub(crate) fn green(&self, s: SpecIx, v: VarId) -> bool {
        self.green[s.0 as usize][v.index()]
    }

    /// Whether an operand is green; constants are.
    pub(crate) fn operand_green(&self, s: SpecIx, o: &LLOperand) -> bool {
        o.as_var().is_none_or(|v| self.green(s, v))
    }

    /// The color of a copy.
    pub(crate) fn graph(&self, s: SpecIx) -> CallColor {
        self.graphs[s.0 as usize]
    }

    /// How a call is treated.
    pub(crate) fn call_kind(
        &self,
        a: &Annotator<'_>,
        s: SpecIx,
        place: (taipan_graph::BlockId, usize),
        op: &Operation<LowLevel>,
    ) -> CallKind {
        let green = op.args.iter().all(|o| self.operand_green(s, o));
        if green && a.purity.operation_is_pure(&a.spec(s).graph, op) {
            return CallKind::Green;
        }
        match a.spec(s).calls.get(&place).and_then(|c| c.first()) {
            Some((_, target)) => CallKind::Inside(self.graph(*target)),
            None => CallKind::Residual,
        }
    }

    fn is_green(&self, a: &Annotator<'_>, s: SpecIx, v: VarId) -> bool {
        self.binding_is_green(a, &a.spec(s).bindings[v.index()])
    }

    fn binding_is_green(&self, a: &Annotator<'_>, b: &Binding) -> bool {
        match b {
            // Never reached.
            Binding::Unknown => true,
            Binding::Variable { .. } => false,
            Binding::Constant(c) => {
                let origin = |o: &OriginId| &a.origins[o.0 as usize];
                c.eager_concrete
                    || c.origins.iter().all(|o| origin(o).fixed)
                    || (c.myorigin).is_some_and(|o| self.green_origins[o.0 as usize])
            }
        }
    }

    fn propagate(&mut self, a: &Annotator<'_>) {
        let mut deps: BTreeMap<OriginId, Vec<Dep>> = BTreeMap::new();
        // Calls, the copies whose results they return.
        let mut returns: BTreeMap<OriginId, BTreeSet<SpecIx>> = BTreeMap::new();
        let by_kind: BTreeMap<OriginKind, OriginId> = (a.origins.iter().enumerate())
            .map(|(i, o)| (o.kind, OriginId(i as u32)))
            .collect();
        for (kind, id) in &by_kind {
            match *kind {
                OriginKind::Entry(_) => {}
                OriginKind::Arg(s, i) => self.equal_arguments(a, &by_kind, &mut deps, s, i),
                OriginKind::Op(s, b, i) => {
                    let op = &a.spec(s).graph.block(b).operations[i];
                    let target = a.spec(s).calls.get(&(b, i)).and_then(|c| c.first());
                    let own = deps.entry(*id).or_default();
                    match target.zip(op.view().call()) {
                        Some(((_, target), call)) => {
                            // The result of calling a red function pointer is red.
                            own.push((s, call.callee.clone()));
                            let family = &a.families[a.spec(*target).family];
                            returns.insert(*id, family.clone());
                            for callee in family {
                                for (i, arg) in call.args.iter().enumerate() {
                                    let Some(o) = by_kind.get(&OriginKind::Arg(*callee, i)) else {
                                        continue;
                                    };
                                    deps.entry(*o).or_default().push((s, arg.clone()));
                                }
                            }
                        }
                        _ => own.extend(op.args.iter().map(|v| (s, v.clone()))),
                    }
                }
            }
        }
        loop {
            let mut progress = false;
            returns.retain(|id, family| {
                let OriginKind::Op(s, b, i) = a.origins[id.0 as usize].kind else {
                    return false;
                };
                let op = &a.spec(s).graph.block(b).operations[i];
                let green = (op.args.iter()).all(|o| self.binding_is_green(a, &a.binding(s, o)));
                if green && a.purity.operation_is_pure(&a.spec(s).graph, op) {
                    return true;
                }
                let results = family
                    .iter()
                    .map(|s| (*s, LLOperand::Var(a.spec(*s).graph.returnvar())));
                deps.entry(*id).or_default().extend(results);
                progress = true;
                false
            });
            let found: Vec<OriginId> = (deps.iter())
                .filter(|(_, on)| {
                    (on.iter()).any(|(s, o)| !self.binding_is_green(a, &a.binding(*s, o)))
                })
                .map(|(id, _)| *id)
                .collect();
            for id in found {
                self.green_origins[id.0 as usize] = false;
                deps.remove(&id);
                progress = true;
            }
            if !progress {
                return;
            }
        }
    }

    /// The arguments of functions that are called at the same places depend on each other.
    fn equal_arguments(
        &self,
        a: &Annotator<'_>,
        by_kind: &BTreeMap<OriginKind, OriginId>,
        deps: &mut BTreeMap<OriginId, Vec<Dep>>,
        s: SpecIx,
        i: usize,
    ) {
        let family = &a.families[a.spec(s).family];
        let own = by_kind[&OriginKind::Arg(s, i)];
        for other in family.iter().filter(|o| **o != s) {
            if let Some(v) = a.spec(*other).graph.args().get(i) {
                deps.entry(own)
                    .or_default()
                    .push((*other, LLOperand::Var(*v)));
            }
        }
    }
}
