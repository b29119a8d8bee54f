//! Green or red: the largest set of values that can be green (RPython, 2008:
//! `HintBookkeeper.compute_at_fixpoint`).
//!
//! Every origin starts green. One becomes red if an operand of its operation is red; the
//! arguments of a function are as red as what any call passes, and those of functions
//! that are called at the same places are equally red. A call whose operands are green
//! is made while compiling if the function is pure; the result of any other is as red as
//! what the function returns.

use std::collections::BTreeMap;

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
        match redness(a, b) {
            Redness::Never => true,
            Redness::Always => false,
            Redness::As(origin) => self.green_origins[origin.0 as usize],
        }
    }

    fn propagate(&mut self, a: &Annotator<'_>) {
        let mut work = Work {
            green: &mut self.green_origins,
            followers: vec![Vec::new(); a.origins.len()],
            pending: Vec::new(),
        };
        // Arguments of the portal are red from the start.
        work.pending
            .extend((0..a.origins.len() as u32).filter(|o| !work.green[*o as usize]));
        let by_kind: BTreeMap<OriginKind, OriginId> = (a.origins.iter().enumerate())
            .map(|(i, o)| (o.kind, OriginId(i as u32)))
            .collect();
        for (kind, id) in &by_kind {
            a.program.check_cancelled();
            match *kind {
                OriginKind::Entry(_) => {}
                OriginKind::Arg(s, i) => {
                    // The arguments of functions that are called at the same places depend on
                    // each other.
                    let family = &a.families[a.spec(s).family];
                    for other in family.iter().filter(|o| **o != s) {
                        if let Some(v) = a.spec(*other).graph.args().get(i) {
                            work.depends(a, *id, *other, &LLOperand::Var(*v));
                        }
                    }
                }
                OriginKind::Op(s, b, i) => {
                    let op = &a.spec(s).graph.block(b).operations[i];
                    let target = a.spec(s).calls.get(&(b, i)).and_then(|c| c.first());
                    match target.zip(op.view().call()) {
                        Some(((_, target), call)) => {
                            // The result of calling a red function pointer is red.
                            work.depends(a, *id, s, call.callee);
                            for callee in &a.families[a.spec(*target).family] {
                                for (i, arg) in call.args.iter().enumerate() {
                                    if let Some(o) = by_kind.get(&OriginKind::Arg(*callee, i)) {
                                        work.depends(a, *o, s, arg);
                                    }
                                }
                            }
                            work.call(a, *id);
                        }
                        _ => op.args.iter().for_each(|v| work.depends(a, *id, s, v)),
                    }
                }
            }
        }
        while let Some(red) = work.pending.pop() {
            a.program.check_cancelled();
            for follower in std::mem::take(&mut work.followers[red as usize]) {
                match follower {
                    Follower::Origin(id) => work.redden(id),
                    Follower::Call(id) => work.returns(a, id),
                }
            }
        }
    }
}

/// When a value is red.
enum Redness {
    Never,
    Always,
    /// When an origin is.
    As(OriginId),
}

fn redness(a: &Annotator<'_>, b: &Binding) -> Redness {
    match b {
        // Never reached.
        Binding::Unknown => Redness::Never,
        Binding::Variable { .. } => Redness::Always,
        Binding::Constant(c) => {
            let fixed = |o: &OriginId| a.origins[o.0 as usize].fixed;
            match c.myorigin {
                _ if c.eager_concrete || c.origins.iter().all(fixed) => Redness::Never,
                Some(origin) => Redness::As(origin),
                None => Redness::Always,
            }
        }
    }
}

/// The dependents of an origin: values that become red or are reconsidered when it does.
#[derive(Clone, Copy)]
enum Follower {
    Origin(OriginId),
    /// A call of a pure function.
    Call(OriginId),
}

/// The propagation of red: every dependency is looked at once.
struct Work<'c> {
    green: &'c mut [bool],
    /// By origin.
    followers: Vec<Vec<Follower>>,
    /// Red origins whose followers were not looked at yet.
    pending: Vec<u32>,
}

impl Work<'_> {
    fn redden(&mut self, id: OriginId) {
        if std::mem::replace(&mut self.green[id.0 as usize], false) {
            self.pending.push(id.0);
        }
    }

    /// An origin is red if an operand is.
    fn depends(&mut self, a: &Annotator<'_>, id: OriginId, s: SpecIx, on: &LLOperand) {
        if !self.green[id.0 as usize] {
            return;
        }
        match redness(a, &a.binding(s, on)) {
            Redness::Never => {}
            Redness::As(o) if self.green[o.0 as usize] => {
                self.followers[o.0 as usize].push(Follower::Origin(id));
            }
            Redness::Always | Redness::As(_) => self.redden(id),
        }
    }

    /// The result of a call is as red as what is returned, unless the call is made while
    /// compiling: the function is pure and all operands are green.
    fn call(&mut self, a: &Annotator<'_>, id: OriginId) {
        let OriginKind::Op(s, b, i) = a.origins[id.0 as usize].kind else {
            return;
        };
        let graph = &a.spec(s).graph;
        let op = &graph.block(b).operations[i];
        if !a.purity.operation_is_pure(graph, op) {
            return self.returns(a, id);
        }
        for arg in &op.args {
            match redness(a, &a.binding(s, arg)) {
                Redness::Never => {}
                Redness::As(o) if self.green[o.0 as usize] => {
                    self.followers[o.0 as usize].push(Follower::Call(id));
                }
                Redness::Always | Redness::As(_) => return self.returns(a, id),
            }
        }
    }

    fn returns(&mut self, a: &Annotator<'_>, id: OriginId) {
        let OriginKind::Op(s, b, i) = a.origins[id.0 as usize].kind else {
            return;
        };
        if let Some((_, target)) = a.spec(s).calls.get(&(b, i)).and_then(|c| c.first()) {
            for callee in &a.families[a.spec(*target).family] {
                let returned = LLOperand::Var(a.spec(*callee).graph.returnvar());
                self.depends(a, id, *callee, &returned);
            }
        }
    }
}
