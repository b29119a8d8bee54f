//! The hint-annotator: which values depend on what (RPython, 2008:
//! `pypy/jit/hintannotator`).
//!
//! An abstract interpretation of the low-level graphs that the portal reaches. Every value
//! starts as one that may be known while compiling, with the operations and arguments
//! that it depends on, its *origins*. A value becomes red where it comes from memory that
//! may change, from a new object or from a call that is not followed. The hint `concrete`
//! fixes all origins of a value, backwards through calls, and a function is copied for
//! call sites whose arguments differ in what is certain about them.
//!
//! What is left open here, [`crate::colors`] decides.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use indexmap::IndexMap;
use taipan_graph::{BlockId, Operation, VarId};
use taipan_lltype::{
    Called, FuncSym, LLConst, LLGraph, LLOp, LLOperand, LLType, LowLevel, NamedOperands, PlainOp,
    View,
};

use crate::binding::{AbstractConstant, Binding, Frozen, OriginId};
use crate::explain::{HintError, code_place};
use crate::hints::{Hint, hint_of};
use crate::prepare::{call_stub, prepare};
use crate::program::{JitProgram, Policy};
use crate::purity::{
    Purity, call_targets, field_of, has_frozen_list, is_immutable_array, is_immutable_field,
    pointee, reads_immutable,
};

/// A copy of a function for one kind of call site.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Serialize, serde::Deserialize,
)]
pub(crate) struct SpecIx(pub(crate) u32);

/// Where something is: function copy, block, operation.
pub(crate) type Place = (SpecIx, BlockId, usize);

/// What an origin is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum OriginKind {
    /// An argument of the portal: it comes from outside.
    Entry(usize),
    /// An argument of a function copy.
    Arg(SpecIx, usize),
    /// The result of an operation.
    Op(SpecIx, BlockId, usize),
}

pub(crate) struct Origin {
    pub(crate) kind: OriginKind,
    /// A hint needs it green.
    pub(crate) fixed: bool,
    /// Blocks that asked whether it is fixed.
    readers: BTreeSet<(SpecIx, BlockId)>,
}

pub(crate) struct Spec {
    pub(crate) func: FuncSym,
    pub(crate) key: String,
    pub(crate) graph: Arc<LLGraph>,
    pub(crate) bindings: Vec<Binding>,
    /// Which copies the calls here reach.
    pub(crate) calls: BTreeMap<(BlockId, usize), Vec<(FuncSym, SpecIx)>>,
    callers: BTreeSet<(SpecIx, BlockId)>,
    /// The copies that are called where this one is.
    pub(crate) family: usize,
}

/// The state of the analysis; complete once [`Annotator::run`] has returned.
pub(crate) struct Annotator<'p> {
    pub(crate) program: &'p dyn JitProgram,
    pub(crate) policy: Policy,
    pub(crate) purity: Purity<'p>,
    pub(crate) specs: Vec<Spec>,
    by_key: IndexMap<(FuncSym, String), SpecIx>,
    pub(crate) origins: Vec<Origin>,
    origin_ids: BTreeMap<OriginKind, OriginId>,
    pub(crate) families: Vec<BTreeSet<SpecIx>>,
    pending: VecDeque<(SpecIx, BlockId)>,
    queued: BTreeSet<(SpecIx, BlockId)>,
    reached: BTreeSet<(SpecIx, BlockId)>,
    /// There is a hint `concrete`.
    pub(crate) has_concrete: bool,
}

/// The copy of the portal.
pub(crate) const PORTAL: SpecIx = SpecIx(0);

impl<'p> Annotator<'p> {
    /// Analyses all that a portal with that graph reaches. Some of its arguments are red.
    pub(crate) fn run(
        program: &'p dyn JitProgram,
        portal: &FuncSym,
        graph: LLGraph,
        is_red: &dyn Fn(usize) -> bool,
        policy: Policy,
    ) -> Result<Annotator<'p>, HintError> {
        let mut a = Annotator {
            program,
            policy,
            purity: Purity::new(program),
            specs: Vec::new(),
            by_key: IndexMap::new(),
            origins: Vec::new(),
            origin_ids: BTreeMap::new(),
            families: Vec::new(),
            pending: VecDeque::new(),
            queued: BTreeSet::new(),
            reached: BTreeSet::new(),
            has_concrete: false,
        };
        a.add_spec(portal, String::new(), Arc::new(graph));
        let args = a.specs[0].graph.args().to_vec();
        for (i, v) in args.into_iter().enumerate() {
            let entry = a.origin(OriginKind::Entry(i));
            let binding = match is_red(i) {
                true => Binding::red(),
                false => Binding::Constant(AbstractConstant {
                    origins: BTreeSet::from([entry]),
                    ..AbstractConstant::default()
                }),
            };
            a.join(PORTAL, v, &binding)
                .map_err(|()| HintError::no_graph(portal.name()))?;
        }
        let start = a.specs[0].graph.startblock;
        a.schedule(PORTAL, start);
        let mut left = a.policy.most_evaluations;
        while let Some((s, b)) = a.pending.pop_front() {
            program.check_cancelled();
            if let Some(left) = &mut left {
                *left = (left.checked_sub(1)).ok_or_else(|| HintError::too_large(portal.name()))?;
            }
            a.queued.remove(&(s, b));
            a.flow(s, b)?;
        }
        Ok(a)
    }

    fn add_spec(&mut self, func: &FuncSym, key: String, graph: Arc<LLGraph>) -> SpecIx {
        let ix = SpecIx(self.specs.len() as u32);
        self.by_key.insert((func.clone(), key.clone()), ix);
        self.specs.push(Spec {
            func: func.clone(),
            key,
            bindings: vec![Binding::Unknown; graph.vars.len()],
            graph,
            calls: BTreeMap::new(),
            callers: BTreeSet::new(),
            family: self.families.len(),
        });
        self.families.push(BTreeSet::from([ix]));
        ix
    }

    pub(crate) fn origin(&mut self, kind: OriginKind) -> OriginId {
        let next = OriginId(self.origins.len() as u32);
        let id = *self.origin_ids.entry(kind).or_insert(next);
        if id == next {
            self.origins.push(Origin {
                kind,
                fixed: false,
                readers: BTreeSet::new(),
            });
        }
        id
    }

    fn schedule(&mut self, s: SpecIx, b: BlockId) {
        if self.queued.insert((s, b)) {
            self.pending.push_back((s, b));
        }
    }

    fn set_fixed(&mut self, o: OriginId) {
        let origin = &mut self.origins[o.0 as usize];
        if !std::mem::replace(&mut origin.fixed, true) {
            for (s, b) in origin.readers.clone() {
                self.schedule(s, b);
            }
        }
    }

    fn read_fixed(&mut self, o: OriginId, place: Place) -> bool {
        let origin = &mut self.origins[o.0 as usize];
        origin.readers.insert((place.0, place.1));
        origin.fixed
    }

    pub(crate) fn spec(&self, s: SpecIx) -> &Spec {
        &self.specs[s.0 as usize]
    }

    /// What is known of an operand.
    pub(crate) fn binding(&self, s: SpecIx, o: &LLOperand) -> Binding {
        match o {
            LLOperand::Var(v) => self.spec(s).bindings[v.index()].clone(),
            LLOperand::Const(c) => Binding::Constant(AbstractConstant {
                // Nothing is reached through a null pointer.
                frozen: match c {
                    LLConst::Null(_) => Frozen::Deep,
                    _ => Frozen::No,
                },
                ..AbstractConstant::default()
            }),
        }
    }

    /// Adds to what is known of a variable. `Err` if a hint forbids it.
    fn join(&mut self, s: SpecIx, v: VarId, binding: &Binding) -> Result<bool, ()> {
        let spec = &mut self.specs[s.0 as usize];
        let binding = match spec.graph.ty(v).is_void() {
            true => &Binding::green(),
            false => binding,
        };
        let old = &spec.bindings[v.index()];
        let mut new = old.union(binding).map_err(|_| ())?;
        if self.policy.single_origin {
            new.keep_origin_of(old);
        }
        if new == *old {
            return Ok(false);
        }
        spec.bindings[v.index()] = new;
        Ok(true)
    }

    fn flow(&mut self, s: SpecIx, b: BlockId) -> Result<(), HintError> {
        let graph = self.spec(s).graph.clone();
        let block = graph.block(b);
        for (i, op) in block.operations.iter().enumerate() {
            let args: Vec<Binding> = op.args.iter().map(|a| self.binding(s, a)).collect();
            if args.contains(&Binding::Unknown) {
                return Ok(());
            }
            let Some(result) = self.operation((s, b, i), &graph, op, &args)? else {
                return Ok(());
            };
            if self.join(s, op.result, &result).is_err() {
                let here = code_place(self, (s, b, i));
                return Err(HintError::contradiction(
                    self,
                    s,
                    op.result,
                    None,
                    Some(here),
                ));
            }
        }
        for link in &block.exits {
            let inputs = graph.block(link.target).inputargs.clone();
            let mut changed = false;
            for (arg, input) in link.args.iter().zip(inputs) {
                let binding = self.binding(s, arg);
                match self.join(s, input, &binding) {
                    Ok(c) => changed |= c,
                    Err(()) => {
                        let last = block.operations.len().checked_sub(1);
                        let here = last.map(|i| code_place(self, (s, b, i)));
                        let from = arg.as_var();
                        return Err(HintError::contradiction(self, s, input, from, here));
                    }
                }
            }
            let first = self.reached.insert((s, link.target));
            if changed || first {
                self.schedule(s, link.target);
            }
            if changed && link.target == graph.returnblock {
                for (s, b) in self.spec(s).callers.clone() {
                    self.schedule(s, b);
                }
            }
        }
        Ok(())
    }

    /// The result of an operation; none if it is not known yet.
    fn operation(
        &mut self,
        place: Place,
        graph: &LLGraph,
        op: &Operation<LowLevel>,
        args: &[Binding],
    ) -> Result<Option<Binding>, HintError> {
        let (s, b, i) = place;
        if let Some(hint) = hint_of(op) {
            let View::Hint { value, .. } = op.op.view(args) else {
                return Ok(None);
            };
            return self.hint(place, op, hint, value).map(Some);
        }
        let own = |a: &mut Self| a.origin(OriginKind::Op(s, b, i));
        let frozen = args.first().map_or(Frozen::No, Binding::frozen);
        let memory = |a: &mut Self, immutable: bool, result: Frozen| -> Binding {
            if immutable || frozen.reads_constant() {
                let origin = own(a);
                combine(args, origin, result)
            } else {
                Binding::red().with_frozen(result)
            }
        };
        // Deep promises are for what is read as well; those about a list only for its array.
        let inner = match frozen {
            Frozen::Deep => Frozen::Deep,
            _ => Frozen::No,
        };
        Ok(Some(match op.view() {
            _ if graph.ty(op.result).is_void() && !is_call(op.op) => Binding::green(),
            View::DirectCall { .. } | View::IndirectCall { .. } => {
                return self.call(place, graph, op, args);
            }
            View::SameAs { value } => self.binding(s, value),
            View::WeAreJitted {} | View::JitTraceLength {} => Binding::green(),
            View::Getfield { object, field } => {
                let field = field_of(graph, object, field);
                let says = |what: fn(&dyn JitProgram, LLType, &str) -> bool| {
                    field.is_some_and(|(t, name)| what(self.program, t, name))
                };
                let immutable = says(|p, t, name| is_immutable_field(p, t, name));
                let array = graph
                    .ty(op.result)
                    .pointee()
                    .is_some_and(|t| t.as_array().is_some());
                let result = if says(|p, t, name| has_frozen_list(p, t, name))
                    || frozen == Frozen::List && array
                {
                    inner.max(Frozen::List)
                } else {
                    inner
                };
                memory(self, immutable, result)
            }
            View::Getarrayitem { array, .. } => {
                let immutable = pointee(graph, array).is_some_and(is_immutable_array);
                memory(self, immutable, inner)
            }
            View::Getinteriorfield { object, path } => {
                let immutable = reads_immutable(self.program, graph, object, path);
                memory(self, immutable, inner)
            }
            View::CastPointer { .. }
            | View::CastOpaquePtr { .. }
            | View::Getsubstruct { .. }
            | View::Getarraysubstruct { .. } => {
                let origin = own(self);
                combine(args, origin, frozen)
            }
            _ if op.op.flags() & taipan_lltype::FOLD != 0 => {
                let origin = own(self);
                combine(args, origin, Frozen::No)
            }
            _ => Binding::red(),
        }))
    }

    fn hint(
        &mut self,
        (s, b, i): Place,
        op: &Operation<LowLevel>,
        hint: Hint,
        arg: &Binding,
    ) -> Result<Binding, HintError> {
        let void = self.spec(s).graph.ty(op.result).is_void();
        Ok(match (hint, arg) {
            _ if void => Binding::green(),
            (Hint::Concrete, Binding::Constant(c)) => {
                self.has_concrete = true;
                for o in c.origins.clone() {
                    self.set_fixed(o);
                }
                let origin = self.origin(OriginKind::Op(s, b, i));
                Binding::Constant(AbstractConstant {
                    origins: BTreeSet::from([origin]),
                    eager_concrete: true,
                    myorigin: None,
                    frozen: c.frozen,
                })
            }
            (Hint::Concrete, _) => {
                return Err(HintError::cannot_be_green(self, (s, b, i), "concrete"));
            }
            (Hint::Variable, _) => Binding::red(),
            (Hint::Forget, _) => {
                let origin = self.origin(OriginKind::Op(s, b, i));
                Binding::Constant(AbstractConstant {
                    origins: BTreeSet::from([origin]),
                    ..AbstractConstant::default()
                })
            }
            (Hint::Promote, _) => Binding::green(),
            (Hint::DeepFreeze, arg) => arg.clone().with_frozen(Frozen::Deep),
            (_, arg) => arg.clone(),
        })
    }

    // Calls.

    fn call(
        &mut self,
        place: Place,
        graph: &LLGraph,
        op: &Operation<LowLevel>,
        args: &[Binding],
    ) -> Result<Option<Binding>, HintError> {
        let Some(Called {
            callee: callable,
            args: passed,
            targets,
        }) = op.op.view(args).call()
        else {
            return Ok(None);
        };
        let direct = targets.is_none();
        let red = |graph: &LLGraph| match graph.ty(op.result).is_void() {
            true => Binding::green(),
            false => Binding::red(),
        };
        let Some(targets) = call_targets(op) else {
            return Ok(Some(red(graph)));
        };
        let followed: Vec<(FuncSym, Option<Arc<LLGraph>>)> = targets
            .into_iter()
            .map(|f| {
                let graph = self.policy.look_inside(self.program, &f);
                (f, graph)
            })
            .collect();
        if followed.iter().all(|(_, g)| g.is_none()) {
            let pure = direct
                && (followed.iter()).all(|(f, _)| self.purity.is_pure(f))
                && args.iter().all(|a| matches!(a, Binding::Constant(_)));
            if !pure {
                return Ok(Some(red(graph)));
            }
            let origin = self.origin(OriginKind::Op(place.0, place.1, place.2));
            return Ok(Some(combine(args, origin, Frozen::No)));
        }
        let portal = self.specs[0].func.clone();
        if direct && followed[0].0 == portal {
            // The portal calls itself: a call of what is compiled for it.
            return Ok(Some(red(graph)));
        }
        let myorigin = self.origin(OriginKind::Op(place.0, place.1, place.2));
        let fixed = self.read_fixed(myorigin, place);
        let mut result = Binding::Unknown;
        let mut reached = Vec::new();
        for (f, target) in followed {
            let spec = self.specialize(&f, target, fixed, passed);
            reached.push((f, spec));
            let one = self.call_spec(place, spec, fixed, passed, (!direct).then_some(callable))?;
            result = (result.union(&one)).map_err(|_| {
                let here = Some(code_place(self, place));
                HintError::contradiction(self, place.0, op.result, None, here)
            })?;
        }
        let first = reached[0].1;
        for (_, other) in &reached[1..] {
            self.join_families(first, *other);
        }
        self.specs[place.0.0 as usize]
            .calls
            .insert((place.1, place.2), reached);
        Ok(match result {
            Binding::Unknown => None,
            Binding::Constant(c) => Some(Binding::Constant(AbstractConstant {
                myorigin: Some(myorigin),
                ..c
            })),
            red => Some(red),
        })
    }

    /// The copy of a function for arguments of this kind.
    fn specialize(
        &mut self,
        f: &FuncSym,
        graph: Option<Arc<LLGraph>>,
        fixed: bool,
        args: &[Binding],
    ) -> SpecIx {
        let key = specialization_key(fixed, args);
        if let Some(ix) = self.by_key.get(&(f.clone(), key.clone())) {
            return *ix;
        }
        let graph = match graph {
            Some(graph) => prepare(&graph, false),
            None => call_stub(f),
        };
        self.add_spec(f, key, Arc::new(graph))
    }

    fn call_spec(
        &mut self,
        place: Place,
        spec: SpecIx,
        fixed: bool,
        args: &[Binding],
        callable: Option<&Binding>,
    ) -> Result<Binding, HintError> {
        let callee = self.spec(spec).graph.clone();
        let mut inputs = Vec::new();
        let mut changed = self.specs[spec.0 as usize]
            .callers
            .insert((place.0, place.1));
        for (i, (arg, v)) in args.iter().zip(callee.args().to_vec()).enumerate() {
            let mut passed = arg.clone();
            inputs.push(None);
            if let Binding::Constant(c) = arg
                && !callee.ty(v).is_void()
            {
                let own = self.origin(OriginKind::Arg(spec, i));
                inputs[i] = Some(own);
                passed = Binding::Constant(AbstractConstant {
                    origins: BTreeSet::from([own]),
                    eager_concrete: c.eager_concrete,
                    myorigin: Some(own),
                    frozen: c.frozen,
                });
                if self.read_fixed(own, place) {
                    for o in c.origins.clone() {
                        self.set_fixed(o);
                    }
                }
            }
            match self.join(spec, v, &passed) {
                Ok(c) => changed |= c,
                Err(()) => {
                    let here = Some(code_place(self, place));
                    return Err(HintError::contradiction(self, spec, v, None, here));
                }
            }
        }
        if changed {
            self.schedule(spec, callee.startblock);
        }
        if callee.ty(callee.returnvar()).is_void() {
            return Ok(match self.spec(spec).bindings[callee.returnvar().index()] {
                Binding::Unknown => Binding::Unknown,
                _ => Binding::green(),
            });
        }
        let result = self.spec(spec).bindings[callee.returnvar().index()].clone();
        let Binding::Constant(c) = &result else {
            return Ok(result);
        };
        let mut origins = BTreeSet::new();
        match callable {
            Some(Binding::Constant(f)) => origins.extend(&f.origins),
            Some(_) => {
                return Ok(Binding::Variable { frozen: c.frozen });
            }
            None => {}
        }
        origins.insert(self.origin(OriginKind::Op(place.0, place.1, place.2)));
        for (own, arg) in inputs.iter().zip(args) {
            if own.is_some_and(|o| c.origins.contains(&o))
                && let Binding::Constant(arg) = arg
            {
                origins.extend(&arg.origins);
            }
        }
        if fixed {
            origins.extend(&c.origins);
        }
        Ok(Binding::Constant(AbstractConstant {
            origins,
            eager_concrete: c.eager_concrete,
            myorigin: None,
            frozen: c.frozen,
        }))
    }

    fn join_families(&mut self, a: SpecIx, b: SpecIx) {
        let (a, b) = (self.spec(a).family, self.spec(b).family);
        if a == b {
            return;
        }
        let (keep, gone) = (a.min(b), a.max(b));
        for s in std::mem::take(&mut self.families[gone]) {
            self.specs[s.0 as usize].family = keep;
            self.families[keep].insert(s);
        }
    }
}

pub(crate) fn is_call(op: LLOp) -> bool {
    matches!(op, LLOp::Plain(PlainOp::DirectCall | PlainOp::IndirectCall))
}

/// The result of an operation that can be computed while compiling if all operands are
/// known.
fn combine(args: &[Binding], own: OriginId, frozen: Frozen) -> Binding {
    let mut origins = BTreeSet::from([own]);
    let mut eager = Vec::new();
    for a in args {
        match a {
            Binding::Constant(c) => {
                origins.extend(&c.origins);
                // A literal is what the others are.
                if c.eager_concrete || !c.origins.is_empty() {
                    eager.push(c.eager_concrete);
                }
            }
            _ => return Binding::Variable { frozen },
        }
    }
    Binding::Constant(AbstractConstant {
        origins,
        eager_concrete: !eager.is_empty() && eager.iter().all(|e| *e),
        myorigin: Some(own),
        frozen,
    })
}

/// What a function is copied by (RPython: `specialization_key`).
fn specialization_key(fixed: bool, args: &[Binding]) -> String {
    if fixed {
        return "fixed".to_owned();
    }
    let mut key = String::new();
    for a in args {
        match a {
            Binding::Constant(c) => {
                key.push(if c.eager_concrete { 'E' } else { 'x' });
                key.push(match c.frozen {
                    Frozen::No => 'x',
                    Frozen::List => 'L',
                    Frozen::Deep => 'D',
                });
            }
            other if other.frozen() == Frozen::List => key.push('l'),
            _ => key.push('v'),
        }
    }
    match key.bytes().all(|c| c == b'x') {
        true => String::new(),
        false => key,
    }
}
