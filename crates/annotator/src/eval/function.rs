//! Annotation inside a function: values flow along links until nothing changes
//! (RPython: `annrpython.py`).

use std::sync::Arc;

use smallvec::SmallVec;
use taipan_base::ErrorCode;
use taipan_flow::{INSTEAD_OF_RAISING, no_exception};
use taipan_graph::{
    Block, BlockId, Const, ExitCase, ExitSwitch, FunctionGraph, HighLevel, HlOp, Link, VarId,
};

use super::exceptions::{Raises, catches_memory_error};
use super::flow::{BlockOutcome, Flow, Pass};
use super::operations::{Operand, special_method};
use super::passing::{Passed, default_of, star_count};
use super::{Cx, FunctionState, Local, OpRecord, Problem, Write};
use crate::facts::{Known, Missing};
use crate::project::is_conflict;
use crate::store::{SlotKey, SpecIx};
use crate::val::{Atom, Val};

/// How a pass ends.
pub(super) enum PassEnd {
    /// There is no more to say of the block now.
    Done,
    /// The operation that the pass has come to comes to nothing, and what follows it neither.
    Stops,
    /// The operation that the pass has come to waits.
    Waits,
}

/// What follows an operation.
enum Next {
    /// The next one.
    Operation,
    /// The exits for exceptions alone.
    Raising,
    /// Nothing.
    Nothing,
    /// The same once more, when it finds what it has asked for.
    Again,
}

/// What a function is evaluated on.
pub(super) enum Input {
    /// Values of its arguments, and its flow graph.
    Values(Vec<Val>, Arc<FunctionGraph>),
    /// It is not called yet, or cannot be evaluated.
    Nothing(Option<FunctionState>),
}

impl Cx<'_> {
    /// Evaluates a function. Returns what is known inside it, unless [`Cx::progress`] holds
    /// that.
    pub(super) fn function_node(&mut self, spec: SpecIx) -> Known<Option<FunctionState>> {
        let mut again = false;
        if let Some(progress) = self.progress.take() {
            if self.take_up(spec, progress)? {
                return Ok(None);
            }
            again = true;
        }
        loop {
            if again {
                self.writes.clear();
                self.met.clear();
                self.problems.clear();
                self.read.clear();
            }
            let (values, graph) = match self.function_input(spec)? {
                Input::Values(values, graph) => (values, graph),
                Input::Nothing(state) => return Ok(state),
            };
            let key = self.store.specs[spec].clone();
            self.place.owner = format!("{:?} {}", key.func, key.key);
            let shape = self.facts.shape(key.func, &graph);
            if self.begin(spec, Flow::new(graph, shape), values, again)? {
                break;
            }
            again = true;
        }
        let complete = self.progress.take_if(|_| !self.lazy);
        Ok(complete.map(|p| p.into_state()))
    }

    /// What a function is evaluated on as of now.
    pub(super) fn function_input(&mut self, spec: SpecIx) -> Known<Input> {
        let nothing = || Ok(Input::Nothing(Some(FunctionState::default())));
        if self.read(SlotKey::Called(spec)).is_bottom() {
            return nothing();
        }
        let key = self.store.specs[spec].clone();
        let Some(info) = self.facts.function(key.func)? else {
            return Ok(Input::Nothing(None));
        };
        let flow = self.facts.flow(key.func)?;
        let graph = match &flow.graph {
            Err(_) if self.facts.recovering => flow.recovered.clone(),
            graph => graph.as_ref().ok().cloned(),
        };
        let Some(graph) = graph else {
            if self.facts.recovering {
                self.write(SlotKey::Ret(spec), Val::error());
            }
            return Ok(Input::Nothing(Some(FunctionState {
                problems: vec![flow_failed()],
                ..FunctionState::default()
            })));
        };
        let inputs = graph.args().len();
        let named = if info.params.varargs {
            inputs - 1
        } else {
            inputs
        };
        let passed = Passed::of_key(&key.key);
        let mut values = Vec::with_capacity(inputs);
        for i in 0..named {
            match passed.argument_of(i) {
                Some(arg) => values.push(self.read(SlotKey::Arg(spec, arg as u32))),
                None => match default_of(&info.data.defaults, named, i) {
                    Some(d) => values.push(self.const_val(d)?),
                    None => values.push(Val::default()),
                },
            }
        }
        if info.params.varargs {
            let given = passed.count(named);
            let stars = star_count(&key.key);
            let items = (0..stars)
                .map(|i| self.read(SlotKey::Arg(spec, (given + i) as u32)))
                .collect();
            values.push(Val::tuple(items));
        }
        if values.iter().any(Val::is_bottom) {
            return nothing();
        }
        Ok(Input::Values(values, graph))
    }

    /// Goes on with a pass over a block. If its operation has asked already, that may wait
    /// again, but where it [gives up](super::Solving::gives_up).
    pub(super) fn flow_block(
        &mut self,
        flow: &mut Flow,
        pass: &mut Pass,
        mut asked: bool,
    ) -> Known<PassEnd> {
        let graph = flow.graph.clone();
        let block = graph.block(pass.block);
        let mut only_raises = false;
        while pass.op < block.operations.len() {
            pass.before = (self.writes.len(), self.met.len());
            let problems = self.problems.len();
            if self.tracks {
                pass.outcome.read.append(&mut self.read);
            }
            let next = self.flow_operation(flow, pass, block, asked);
            (self.impatient, self.gives_up) = (false, false);
            let waits = match &next {
                Err(_) => self.lazy,
                Ok(Next::Again) => true,
                _ => false,
            };
            if waits {
                self.read.clear();
                self.problems.truncate(problems);
                let ops = &mut pass.outcome.ops;
                ops.pop_if(|(i, _)| *i as usize == pass.op);
            }
            match next {
                Err(missing) => {
                    self.writes.truncate(pass.before.0);
                    self.met.truncate(pass.before.1);
                    self.fetches = self.lazy;
                    return Err(missing);
                }
                Ok(Next::Again) => return Ok(PassEnd::Waits),
                Ok(Next::Nothing) => return Ok(PassEnd::Stops),
                Ok(Next::Raising) => {
                    only_raises = true;
                    break;
                }
                Ok(Next::Operation) => {}
            }
            asked = false;
            pass.op += 1;
        }
        let outcome = &mut pass.outcome;
        self.place.at = block.operations.last().map(|o| o.at);
        if block.canraise() {
            let raises = std::mem::replace(&mut pass.raises, Raises::Any);
            self.follow_raising(flow, pass.block, &raises, only_raises, outcome)?;
        } else {
            self.follow_exits(flow, pass.block, outcome)?;
        }
        Ok(PassEnd::Done)
    }

    /// One operation of a pass.
    fn flow_operation(
        &mut self,
        flow: &mut Flow,
        pass: &mut Pass,
        block: &Block<HighLevel>,
        asked: bool,
    ) -> Known<Next> {
        let i = pass.op;
        let op = &block.operations[i];
        let mut args: SmallVec<[Operand; 3]> = SmallVec::new();
        // A constant that is no value is a mistake of this operation.
        self.place.at = Some(op.at);
        self.literals = 0;
        for (i, a) in op.args.iter().enumerate() {
            let literal = u64::from(a.as_const().is_some());
            self.literals |= literal.checked_shl(i as u32).unwrap_or(0);
            args.push(self.operand(flow, a)?);
        }
        self.from_the_end = is_slice(op.op)
            && (block.operations[..i].iter()).any(|negation| {
                negation.op == HlOp::Neg
                    && op.args.iter().any(|a| a.as_var() == Some(negation.result))
            });
        self.place.op = Some((op.op, flow.shape.ordinals[pass.block.index()][i]));
        self.place.made = 0;
        self.record = OpRecord::default();
        self.harmless = false;
        self.unreturned = false;
        let ready = !args.iter().any(|a| a.val().is_bottom());
        let known = self.problems.len();
        let unknown = self.facts.recovering && ready && self.works_on_error(op.op, &mut args);
        let mut result = if unknown {
            Val::error().into()
        } else if ready {
            self.operation(op.op, &args, &flow.vars)?
        } else {
            Local::default()
        };
        if self.premature && !self.missing {
            return Ok(Next::Again);
        }
        let wrong = std::mem::take(&mut self.tainted) || self.problems.len() > known;
        if wrong && self.facts.recovering && result.val.is_bottom() {
            result = Val::error().into();
        }
        let raises_here = block.canraise() && i + 1 == block.operations.len();
        if raises_here {
            pass.raises = if unknown {
                Raises::Any
            } else {
                self.raises(op.op, &args)
            };
            if catches_memory_error(block) {
                pass.raises.add_memory_error(op.op, &args);
            }
        }
        if self.lazy && self.missing {
            self.missing = false;
            return Err(Missing);
        }
        let record = std::mem::take(&mut self.record);
        if record != OpRecord::default() {
            pass.outcome.ops.push((i as u32, record));
        }
        let unfinished = result.val.is_bottom() || self.unreturned;
        if unfinished && self.lazy && ready && !wrong && !self.harmless {
            let waits = if asked {
                !self.gives_up
            } else {
                self.asks_first(pass.before.0)
            };
            if waits {
                return Ok(Next::Again);
            }
        }
        if result.val.is_bottom() {
            // An instance without the method that the operation calls raises nothing either.
            let lacks_method = special_method(op.op).is_some()
                && args.first().is_some_and(is_instance)
                && !special(&pass.outcome, i);
            if raises_here && !(ready && lacks_method) {
                return Ok(Next::Raising);
            }
            if std::mem::take(&mut self.harmless) {
                return Ok(Next::Nothing);
            }
            let call = match op.op {
                HlOp::SimpleCall | HlOp::CallArgs => true,
                // An iterator may have nothing to give; an instance lacks a method.
                HlOp::Next if !args.iter().any(is_instance) => true,
                _ => special(&pass.outcome, i),
            };
            let blocked = !(ready && call);
            if !(blocked && self.facts.recovering) {
                pass.outcome.blocked = blocked.then_some(i as u32);
                return Ok(Next::Nothing);
            }
            // What it waits for may still come, until nothing else is left to do; then it is
            // kept back by what is wrong, perhaps.
            if self.lazy && !self.impatient {
                self.premature = true;
                return Ok(Next::Again);
            }
            result = Val::error().into();
        }
        flow.set(op.result, result, self);
        Ok(Next::Operation)
    }

    /// Whether one of the contributions from a position on is the first to its slot: somebody
    /// is about to look at it.
    fn asks_first(&self, from: usize) -> bool {
        let new = |w: &Write| self.store.slots[w.slot].current().is_bottom();
        self.writes[from..].iter().any(new)
    }

    /// Whether an operation has no other outcome than that of a wrong one, because of what it
    /// works on. What else is known of its operands counts.
    fn works_on_error(&mut self, op: HlOp, args: &mut [Operand]) -> bool {
        for a in args.iter_mut() {
            a.local.val.drop_error();
        }
        self.tainted = (args.iter()).any(|a| a.val().has_error() || is_conflict(a.val()));
        if !self.tainted {
            return false;
        }
        let error = |a: &Operand| a.val().is_error();
        match op {
            HlOp::NewList | HlOp::NewTuple | HlOp::Yield => false,
            HlOp::SetAttr | HlOp::SetItem => args.first().is_some_and(error),
            HlOp::SimpleCall | HlOp::CallArgs => {
                let builtin = |a: &Operand| matches!(a.val().single(), Some(Atom::Builtin(_)));
                args.first().is_some_and(error)
                    || args.first().is_some_and(builtin) && args.iter().any(error)
            }
            _ => args.iter().any(error),
        }
    }

    fn operand(&mut self, flow: &Flow, a: &taipan_graph::Operand<HighLevel>) -> Known<Operand> {
        Ok(match a {
            taipan_graph::Operand::Var(v) => Operand {
                local: flow.vars[v.index()].clone(),
                var: Some(*v),
            },
            taipan_graph::Operand::Const(c @ Const::Shape(_)) => Operand {
                local: Val::event().with_const(Some(c.clone())).into(),
                var: None,
            },
            taipan_graph::Operand::Const(c) => Operand {
                local: self.const_val(c)?.into(),
                var: None,
            },
        })
    }

    fn follow_exits(
        &mut self,
        flow: &mut Flow,
        from: BlockId,
        outcome: &mut BlockOutcome,
    ) -> Known<()> {
        let graph = flow.graph.clone();
        let block = graph.block(from);
        let switch = match &block.exitswitch {
            ExitSwitch::Value(v) => Some(self.operand(flow, v)?),
            _ => None,
        };
        for (i, link) in block.exits.iter().enumerate() {
            let mut known: Vec<(VarId, Val)> = Vec::new();
            if let Some(s) = &switch {
                if !may_be(s.val(), link, block) {
                    continue;
                }
                if let (ExitCase::Bool(b), Some(k)) = (&link.case, &s.local.knows) {
                    known.clone_from(&k[usize::from(*b)]);
                }
            }
            if self.follow(flow, link, (from, i as u32), &known)? {
                outcome.followed.push(i as u32);
            }
        }
        Ok(())
    }

    fn follow_raising(
        &mut self,
        flow: &mut Flow,
        from: BlockId,
        raises: &Raises,
        only_raises: bool,
        outcome: &mut BlockOutcome,
    ) -> Known<()> {
        let graph = flow.graph.clone();
        let block = graph.block(from);
        let mut raised = self.exception_val(raises)?;
        for (i, link) in block.exits.iter().enumerate() {
            let ExitCase::Exception(class) = &link.case else {
                if !only_raises && self.follow(flow, link, (from, i as u32), &[])? {
                    outcome.followed.push(i as u32);
                }
                continue;
            };
            if raised.is_bottom() {
                break;
            }
            let Const::Obj(class) = class else { continue };
            let caught = self.caught(&raised, *class)?;
            if !caught.is_bottom() {
                if let Some(v) = link.last_exc_value {
                    flow.catch(v, caught, self);
                }
                if let Some(t) = link.last_exception {
                    flow.vars[t.index()] = Local {
                        val: Atom::Type.into(),
                        knows: None,
                        type_of: link.last_exc_value.map(|v| Arc::from([v])),
                    };
                }
                if self.follow(flow, link, (from, i as u32), &[])? {
                    outcome.followed.push(i as u32);
                }
            }
            raised = self.uncaught(&raised, *class)?;
        }
        Ok(())
    }

    /// Passes values along an exit of a block. Returns false if what is known of the case says
    /// that it is never taken.
    fn follow(
        &mut self,
        flow: &mut Flow,
        link: &Link<HighLevel>,
        (from, exit): (BlockId, u32),
        known: &[(VarId, Val)],
    ) -> Known<bool> {
        let target = flow.graph.block(link.target).inputargs.clone();
        let mut incoming = Vec::with_capacity(link.args.len());
        for (i, a) in link.args.iter().enumerate() {
            let mut operand = match exception_type(link, a) {
                Some(local) => Operand { local, var: None },
                None => self.operand(flow, a)?,
            };
            if let Some(v) = operand.var {
                // The last one said of a variable counts, as in RPython.
                if let Some((_, k)) = known.iter().rev().find(|(x, _)| *x == v) {
                    operand.local.val = self.improve(&operand.local.val, k);
                    if self.tracks {
                        flow.narrow((from, exit, i as u32), operand.val(), self);
                    }
                }
                if operand.val().is_bottom() {
                    return Ok(false);
                }
            }
            incoming.push(self.rename(operand.local, link, &target));
        }
        if link.target == flow.graph.exceptblock
            && let [_, raised] = &incoming[..]
            && !self.may_be_raised(&raised.val)
        {
            return Ok(false);
        }
        flow.arrive(link.target, incoming, self);
        Ok(true)
    }

    /// Whether a value is an exception. Where it is not, that is a mistake.
    fn may_be_raised(&mut self, raised: &Val) -> bool {
        let fits = |a: &Atom| {
            matches!(
                a,
                Atom::Instance(_) | Atom::Exception(_) | Atom::Ptr(_) | Atom::Error
            )
        };
        let may_be = raised.atoms.iter().all(fits);
        if !may_be {
            let message = no_exception(&self.facts.describe(raised));
            self.problem_help(ErrorCode::NotRPython, message, Some(INSTEAD_OF_RAISING));
        }
        may_be
    }

    /// What a value says of variables, in terms of the variables of the next block.
    fn rename(&mut self, local: Local, link: &Link<HighLevel>, target: &[VarId]) -> Local {
        if local.knows.is_none() && local.type_of.is_none() {
            return local;
        }
        let new_names = |v: VarId| {
            link.args
                .iter()
                .zip(target)
                .filter(move |(a, _)| a.as_var() == Some(v))
                .map(|(_, t)| *t)
        };
        Local {
            val: local.val,
            knows: local.knows.map(|k| {
                let side = |i: usize| {
                    k[i].iter()
                        .flat_map(|(v, val)| new_names(*v).map(|t| (t, val.clone())))
                        .collect::<Vec<_>>()
                };
                Arc::new([side(0), side(1)])
            }),
            type_of: local
                .type_of
                .map(|vars| vars.iter().flat_map(|v| new_names(*v)).collect()),
        }
    }

    /// What is known of a value that also lies in `known` (RPython: `improve`).
    fn improve(&mut self, val: &Val, known: &Val) -> Val {
        if let (Some(Atom::Instance(Some(a))), Some(Atom::Instance(Some(b)))) =
            (val.single(), known.single())
            && known.const_.is_none()
        {
            use crate::val::Joiner;
            let (a, b) = (*a, *b);
            let both_none = val.none && known.none;
            let class = match self.common_base(a, b) {
                Some(c) if c == a => b,
                Some(c) if c == b => a,
                _ if both_none => return Val::none(),
                _ => return Val::default(),
            };
            // One object, whose class is known, is of no subclass of that.
            if class != a && val.const_.is_some() && !val.none {
                return Val::default();
            }
            let mut v = Val::instance(class);
            v.none = both_none;
            if class == a {
                v.const_ = val.const_.clone().filter(|_| !val.none);
            }
            return v;
        }
        if let (Some(Atom::Exception(classes)), Some(Atom::Instance(Some(b)))) =
            (val.single(), known.single())
        {
            use crate::val::Joiner;
            let kept: Vec<_> = classes
                .iter()
                .copied()
                .filter(|c| self.is_subclass(*c, *b))
                .collect();
            return if kept.is_empty() {
                Val::default()
            } else {
                Atom::Exception(kept.into()).into()
            };
        }
        // As in RPython `'\0'` does not count here, but for what is known of it alone.
        let (loose, loose_known) = (val.with_nul(), known.with_nul());
        let better = if loose == loose_known {
            val.contains(known, self)
        } else {
            !loose_known.contains(&loose, self) && loose.contains(&loose_known, self)
        };
        if better { known.clone() } else { val.clone() }
    }
}

/// Whether an operation is about slices.
fn is_slice(op: HlOp) -> bool {
    matches!(op, HlOp::GetSlice | HlOp::SetSlice | HlOp::DelSlice)
}

/// The class that a link catches, passed on as a constant along with the exception: it
/// is the type of that, whichever else may come to the block.
fn exception_type(link: &Link<HighLevel>, arg: &taipan_graph::Operand<HighLevel>) -> Option<Local> {
    let (ExitCase::Exception(class), Some(value)) = (&link.case, link.last_exc_value) else {
        return None;
    };
    let passed = link.args.iter().any(|a| a.as_var() == Some(value));
    (passed && arg.as_const() == Some(class)).then(|| Local {
        val: Atom::Type.into(),
        knows: None,
        type_of: Some(Arc::from([value])),
    })
}

/// The problem of a function without flow graph; the diagnostic is that of the flow graph.
pub(super) fn flow_failed() -> Problem {
    Problem {
        code: None,
        at: None,
        message: String::new(),
        help: None,
        about: None,
        subject: None,
    }
}

fn is_instance(operand: &Operand) -> bool {
    let mut atoms = operand.val().atoms.iter();
    atoms.any(|a| matches!(a, Atom::Instance(_)))
}

/// Whether the operation called a special method: one that is there.
fn special(outcome: &BlockOutcome, op: usize) -> bool {
    outcome.ops.last().is_some_and(|(i, r)| {
        *i as usize == op && r.special.as_ref().is_some_and(|(_, m)| !m.is_bottom())
    })
}

/// Whether a switch on this value can take a link.
fn may_be(switch: &Val, link: &Link<HighLevel>, block: &Block<HighLevel>) -> bool {
    let Some(c) = &switch.const_ else { return true };
    match &link.case {
        ExitCase::Bool(b) => match c {
            Const::Bool(v) => v == b,
            _ => true,
        },
        ExitCase::Value(v) => v == c,
        ExitCase::Default => !block
            .exits
            .iter()
            .any(|l| matches!(&l.case, ExitCase::Value(v) if v == c)),
        ExitCase::None | ExitCase::Exception(_) => true,
    }
}
