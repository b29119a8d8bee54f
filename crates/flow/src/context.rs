//! Abstract interpretation of a body: pending blocks, forks and joins
//! (RPython: `FlowContext`).
//!
//! Blocks are of two kinds. One that starts at a join point (RPython: `SpamBlock`) has
//! the variables of its frame state as input arguments. One that starts after a fork
//! (RPython: `EggBlock`) has none, except for a caught exception: it uses the variables
//! of the blocks before it, until SSI form is made of the finished graph.
//!
//! States are merged where control can come from several places, but only when
//! something is recorded: until then constants keep the ways apart. An exception
//! handler thus sees each class of exception by itself. So the state is merged at the
//! first instruction behind a join that records, and later states are merged wherever
//! one was merged before. `not` asks for a truth value but jumps nowhere: there is a join
//! behind it.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use taipan_base::ErrorCode;
use taipan_code::{Code, CodeConst, Handler, Instr, Pc};
use taipan_engine::{Frame, Step, step, unwind};
use taipan_graph::{BlockId, Const, ExitCase, ExitSwitch, FunctionGraph, HlOp, Link, ObjId, VarId};
use taipan_interp::{Complex, named_id};
use taipan_language::Exc;

use crate::FlowError;
use crate::construct::Construct;
use crate::framestate::{FrameState, copy, matches, output_args, union, variables};
use crate::space::{Event, FlowSpace, Stop, not_rpython};
use crate::value::{Operand, Value};

/// Instructions that may be executed for one function, all ways together.
const STEP_LIMIT: u32 = 1_000_000;
/// Instructions in a row without any operation before a loop is taken for endless.
const IDLE_LIMIT: u32 = 10_000;

/// The code of functions that are not flowed to their end.
const TOO_BIG: ErrorCode = ErrorCode::FunctionTooBig;

/// Builds the graph of a body. What it returns is in SSA form.
pub(crate) struct FlowContext<'a> {
    code: &'a Code,
    space: FlowSpace<'a>,
    /// Whether control can come to an instruction from several places.
    joins: Vec<bool>,
    /// Instructions around which a handler names MemoryError.
    memory_handlers: Vec<Range<Pc>>,
    kinds: FxHashMap<BlockId, Kind>,
    joinpoints: FxHashMap<Pc, Vec<BlockId>>,
    pending: VecDeque<Pending>,
    /// Where exceptions go that are taken not to occur.
    implicit: Option<BlockId>,
    steps: u32,
    idle: u32,
    /// The last instruction that does more than to jump on the way to the current one, or to
    /// where that way has met others.
    last: Pc,
    errors: Vec<FlowError>,
}

enum Kind {
    /// Starts at a join point with this state.
    Spam { state: FrameState, dead: bool },
    /// Starts after a fork. The path comes from the join point at which this block starts.
    Egg(BlockId),
}

/// A block to be filled.
struct Pending {
    block: BlockId,
    frame: FrameState,
    /// What the instruction at which it starts has done in the blocks before.
    log: Vec<Event>,
}

/// A finished graph, and the block that stands for exceptions that do not occur.
pub(crate) struct Built {
    pub(crate) graph: FunctionGraph,
    pub(crate) implicit: Option<BlockId>,
}

impl<'a> FlowContext<'a> {
    pub(crate) fn new(code: &'a Code, space: FlowSpace<'a>) -> Self {
        FlowContext {
            code,
            space,
            joins: find_joins(code),
            memory_handlers: memory_handlers(code),
            kinds: FxHashMap::default(),
            joinpoints: FxHashMap::default(),
            pending: VecDeque::new(),
            implicit: None,
            steps: 0,
            idle: 0,
            last: 0,
            errors: Vec::new(),
        }
    }

    /// Flows the body of a function with these globals and contents of closure cells. Where
    /// something is wrong, it goes on with a value of which nothing is known; with all that
    /// is wrong.
    pub(crate) fn build(
        mut self,
        globals: ObjId,
        closure: &[Option<Const>],
    ) -> (Option<Built>, Vec<FlowError>) {
        let code = self.code;
        let params = code.argcount + u32::from(code.varargs) + u32::from(code.varkeywords);
        let start = self.space.graph.startblock;
        let mut locals = Vec::new();
        for name in &code.locals[..params as usize] {
            let v = self.space.graph.new_var(name, ());
            self.space.graph.block_mut(start).inputargs.push(v);
            locals.push(Some(Value::Var(v)));
        }
        let closure: Vec<Value> = closure.iter().map(|c| Value::Cell(c.clone())).collect();
        let globals = Value::Const(Const::Obj(globals));
        self.space.consts = code.consts.iter().map(constant).collect();
        let frame = Frame::enter(&mut self.space, code, globals, locals, Vec::new(), &closure);
        self.add_spam(start, frame.clone(), frame);
        while let Some(pending) = self.pending.pop_front() {
            if self.is_dead(pending.block) {
                continue;
            }
            if let Err(e) = self.fill(pending) {
                let endless = e.code == TOO_BIG;
                self.found(e);
                if endless {
                    return (None, self.errors);
                }
                let target = self.implicit_block();
                self.close(Link::new(target, vec![]));
            }
        }
        let built = Built {
            graph: self.space.graph,
            implicit: self.implicit,
        };
        (Some(built), self.errors)
    }

    /// Something is wrong at the current instruction: told once, however often control
    /// comes there.
    fn found(&mut self, mut e: FlowError) {
        e.at.get_or_insert(self.space.at);
        if !self.errors.contains(&e) {
            self.errors.push(e);
        }
    }

    /// Whether an instruction works on what is wrong elsewhere.
    fn follows(&self, instr: Instr, before: &FrameState) -> bool {
        let (pops, _) = instr.stack_effect(&self.code.calls, &self.code.functions);
        let operands = before.stack.iter().rev().take(pops as usize);
        let mut vars = operands.filter_map(Value::as_var);
        vars.any(|v| self.space.errors.contains(&v))
    }

    /// The frame behind an instruction that is wrong: values of which nothing is known lie
    /// where it would have left its results.
    /// None where the state has to be merged first.
    fn recovered(&mut self, instr: Instr, before: &FrameState) -> Option<FrameState> {
        let (pops, pushes) = instr.stack_effect(&self.code.calls, &self.code.functions);
        let mut frame = before.clone();
        let left = frame.stack.len().saturating_sub(pops as usize);
        frame.stack.truncate(left);
        if pushes > 0 {
            let error = self.space.error_value()?;
            frame.stack.extend((0..pushes).map(|_| error.clone()));
            if let Instr::LoadFast(local) = instr {
                frame.locals[local as usize] = Some(error);
            }
        }
        frame.pc = self.space.at + 1;
        Some(frame)
    }

    fn add_spam(&mut self, block: BlockId, state: FrameState, frame: FrameState) {
        self.kinds.insert(block, Kind::Spam { state, dead: false });
        self.pending.push_back(Pending {
            block,
            frame,
            log: Vec::new(),
        });
    }

    /// The block at the join point that a block descends from.
    fn join_point_of(&self, block: BlockId) -> BlockId {
        match self.kinds[&block] {
            Kind::Spam { .. } => block,
            Kind::Egg(join_point) => join_point,
        }
    }

    /// Whether the join point that a block descends from has been replaced by a more
    /// general one.
    fn is_dead(&self, block: BlockId) -> bool {
        matches!(
            self.kinds[&self.join_point_of(block)],
            Kind::Spam { dead: true, .. }
        )
    }

    /// Executes instructions until the block ends.
    fn fill(&mut self, pending: Pending) -> Result<(), FlowError> {
        let mut frame = pending.frame;
        let fresh = pending.log.is_empty();
        self.space.block = pending.block;
        self.space.log = pending.log;
        self.space.replayed = 0;
        // The function's first block is no join point, but may be the target of jumps.
        let start = self.space.graph.startblock;
        self.space.merge_due = fresh && pending.block == start && self.joins[0];
        let mut first = true;
        self.last = frame.pc;
        let mut met = false;
        loop {
            self.count_step()?;
            let pc = frame.pc;
            // Somebody who knew more came past what lies between here and the join.
            self.space.merge_due |= !first && self.joinpoints.contains_key(&pc);
            first = false;
            self.space.at = pc;
            if self.own_instruction(&mut frame) {
                if !met {
                    self.last = pc;
                }
                met |= self.arrive(&frame);
                continue;
            }
            let instr = self.code.instrs[pc as usize];
            self.space.protected = matches!(instr, Instr::ForIter(_)) || self.is_protected(pc);
            self.space.catches_memory_error =
                (self.memory_handlers.iter()).any(|range| range.contains(&pc));
            self.space.literal_operands =
                instr == Instr::Binary(HlOp::Pow) && has_literal_operands(self.code, pc);
            let before = (!is_stack_only(instr)).then(|| frame.clone());
            let mut outcome = step(&mut self.space, self.code, &mut frame);
            if let Step::Yield = outcome {
                let v = frame.take();
                outcome = self.yield_value(v, &mut frame);
            }
            let raised = matches!(outcome, Step::Raise(_));
            match outcome {
                Step::Continue => {}
                Step::Return => {
                    let v = self.returned(&frame.take())?;
                    let target = self.space.graph.returnblock;
                    self.close(Link::new(target, vec![v]).with_at(self.last));
                    return Ok(());
                }
                Step::Raise(raised) => {
                    let (class, value) = *raised;
                    frame.pc = pc;
                    if let Err((class, value)) = unwind(self.code, &mut frame, class, value) {
                        return self.raise(class, value);
                    }
                }
                Step::Stop(stop) => {
                    let before = before.unwrap_or(frame);
                    let recovered = match &stop {
                        Stop::Error(e) if instr.jump_target().is_some() || leaves(instr) => {
                            return Err(e.clone());
                        }
                        Stop::Error(e) => {
                            if !self.follows(instr, &before) {
                                self.found(e.clone());
                            }
                            self.recovered(instr, &before)
                        }
                        _ => None,
                    };
                    match (recovered, stop) {
                        (Some(recovered), _) => frame = recovered,
                        (None, stop) => {
                            match stop {
                                Stop::ForkBool(on) => self.fork_bool(on, &before),
                                Stop::ForkException(all) => self.fork_exception(&all, &before),
                                Stop::Merge | Stop::Error(_) => self.merge(before),
                            }
                            return Ok(());
                        }
                    }
                }
                Step::Yield | Step::Fork(_) => {
                    return Err(FlowError::new(
                        ErrorCode::NotRPython,
                        "an instruction that cannot be flowed",
                    ));
                }
            }
            if !met && !matches!(instr, Instr::Jump(_)) {
                self.last = pc;
            }
            if !self.space.log.is_empty() {
                self.idle = 0;
            }
            // A truth value was asked for, and yet control goes on at the same place.
            let forked = self.space.log.iter().any(|e| matches!(e, Event::Bool(_)));
            self.space.merge_due |= forked && instr.jump_target().is_none();
            self.space.log.clear();
            self.space.replayed = 0;
            // A handler is a join, but no ways meet at its start.
            let join = self.arrive(&frame);
            met |= join && !raised;
            if join && self.idle > IDLE_LIMIT {
                self.merge(frame);
                return Ok(());
            }
        }
    }

    fn count_step(&mut self) -> Result<(), FlowError> {
        self.steps += 1;
        self.idle += 1;
        if self.steps > STEP_LIMIT {
            return Err(FlowError::new(
                TOO_BIG,
                "this function is too big to be flowed, or a loop over constants does not end",
            ));
        }
        Ok(())
    }

    /// Control has come to the next instruction: answers whether that is a join point.
    fn arrive(&mut self, frame: &FrameState) -> bool {
        let join = self.joins[frame.pc as usize];
        self.space.merge_due |= join;
        join
    }

    fn is_protected(&self, pc: Pc) -> bool {
        self.code
            .handlers
            .iter()
            .any(|h| h.start <= pc && pc < h.end)
    }

    /// Instructions that mean something else to the flow space than to the engine.
    fn own_instruction(&mut self, frame: &mut FrameState) -> bool {
        match self.code.instrs[frame.pc as usize] {
            Instr::StoreFast(i) => {
                let Some(v) = frame.stack.pop() else {
                    return false;
                };
                if let Some(var) = v.as_var() {
                    let name = &mut self.space.graph.vars[var.index()].name;
                    if name.is_empty() {
                        *name = self.code.locals[i as usize].clone();
                    }
                }
                frame.locals[i as usize] = Some(v.normalized());
                frame.pc += 1;
                true
            }
            Instr::ForIter(end) => {
                let Some(Value::Unroller(items, next)) = frame.stack.last_mut() else {
                    return false;
                };
                match items.get(*next).cloned() {
                    Some(item) => {
                        *next += 1;
                        frame.stack.push(Value::Const(item));
                        frame.pc += 1;
                    }
                    None => {
                        frame.stack.pop();
                        frame.pc = end;
                    }
                }
                true
            }
            _ => false,
        }
    }

    /// Suspends a generator. Returns an error unless the next instruction drops the value of the `yield`, since RPython has no `send()`.
    fn yield_value(&mut self, v: Value, frame: &mut FrameState) -> Step<Value, Stop> {
        use taipan_engine::{ObjectSpace, Unwind};
        let dropped = self.code.instrs.get(frame.pc as usize) == Some(&Instr::Pop);
        let result = self.space.op(HlOp::Yield, &[v]);
        match result.and_then(|_| {
            if dropped {
                Ok(())
            } else {
                not_rpython(Construct::SentValue)
            }
        }) {
            Ok(()) => {
                frame.stack.push(Value::Const(Const::None));
                Step::Continue
            }
            Err(Unwind::Raise(raised)) => Step::Raise(raised),
            Err(Unwind::Stop(s)) => Step::Stop(s),
        }
    }

    fn returned(&self, v: &Value) -> Result<Operand, FlowError> {
        v.operand().ok_or_else(|| {
            FlowError::new(
                ErrorCode::NotRPython,
                "returning an unrolling iterator is not RPython",
            )
        })
    }

    /// Ends the current block.
    fn close(&mut self, link: Link<taipan_graph::HighLevel>) {
        let block = self.space.graph.block_mut(self.space.block);
        block.exitswitch = ExitSwitch::None;
        block.exits = vec![link];
    }

    /// An exception leaves the function.
    fn raise(&mut self, class: Value, value: Value) -> Result<(), FlowError> {
        if let Value::Implicit(_) = class {
            let target = self.implicit_block();
            self.close(Link::new(target, vec![]));
            return Ok(());
        }
        let import_error = Const::Obj(named_id("exceptions.ImportError"));
        match (class.operand(), value.operand()) {
            (Some(Operand::Const(c)), _) if c == import_error => {
                Err(FlowError::new(ErrorCode::FailedImport, "this import fails"))
            }
            (Some(class), Some(value)) => {
                let target = self.space.graph.exceptblock;
                let mut link = Link::new(target, vec![class, value]);
                // What passes a handler or `finally` was raised at what is called there.
                if let Instr::Raise(_) = self.code.instrs[self.space.at as usize] {
                    link.at = Some(self.space.at);
                }
                self.close(link);
                Ok(())
            }
            _ => Err(FlowError::new(
                ErrorCode::NotRPython,
                "raising this value is not RPython",
            )),
        }
    }

    /// The block that stands for exceptions that do not occur. It raises
    /// AssertionError, for where it cannot be removed.
    fn implicit_block(&mut self) -> BlockId {
        if let Some(b) = self.implicit {
            return b;
        }
        let b = self.space.graph.new_block(vec![]);
        raise_new(&mut self.space.graph, b, "exceptions.AssertionError");
        self.implicit = Some(b);
        b
    }

    fn fork(&mut self, inputargs: Vec<VarId>, before: &FrameState, event: Event) -> BlockId {
        let egg = self.space.graph.new_block(inputargs);
        let join_point = self.join_point_of(self.space.block);
        self.kinds.insert(egg, Kind::Egg(join_point));
        let mut log = self.space.log.clone();
        log.push(event);
        self.pending.push_back(Pending {
            block: egg,
            frame: before.clone(),
            log,
        });
        egg
    }

    fn fork_bool(&mut self, condition: Operand, before: &FrameState) {
        let exits = [false, true]
            .map(|case| {
                let egg = self.fork(vec![], before, Event::Bool(case));
                Link::with_case(egg, vec![], ExitCase::Bool(case))
            })
            .into();
        let block = self.space.graph.block_mut(self.space.block);
        block.exitswitch = ExitSwitch::Value(condition);
        block.exits = exits;
    }

    fn fork_exception(&mut self, classes: &[ObjId], before: &FrameState) {
        let normal = self.fork(vec![], before, Event::Exception(None));
        let mut exits = vec![Link::new(normal, vec![])];
        for class in classes {
            let graph = &mut self.space.graph;
            let last_exception = graph.new_var("last_exception", ());
            let last_exc_value = graph.new_var("last_exc_value", ());
            let (etype, evalue) = (graph.new_var("", ()), graph.new_var("", ()));
            let constant = Operand::Const(Const::Obj(*class));
            // Any exception at all: its class is known only when the program runs.
            let (passed, seen) = if *class == named_id("exceptions.Exception") {
                (Operand::Var(last_exception), Operand::Var(etype))
            } else {
                (constant.clone(), constant)
            };
            let event = Event::Exception(Some((seen, evalue)));
            let egg = self.fork(vec![etype, evalue], before, event);
            let args = vec![passed, Operand::Var(last_exc_value)];
            let case = ExitCase::Exception(Const::Obj(*class));
            let mut link = Link::with_case(egg, args, case);
            link.last_exception = Some(last_exception);
            link.last_exc_value = Some(last_exc_value);
            exits.push(link);
        }
        let block = self.space.graph.block_mut(self.space.block);
        block.exitswitch = ExitSwitch::LastException;
        block.exits = exits;
    }

    /// Ends the current block with a link to a join point at the state's place.
    fn merge(&mut self, state: FrameState) {
        self.idle = 0;
        let candidates = self.joinpoints.entry(state.pc).or_default().clone();
        for (i, candidate) in candidates.iter().enumerate() {
            let Kind::Spam { state: old, .. } = &self.kinds[candidate] else {
                continue;
            };
            // Variables of the union are made once it is known to be needed.
            let placeholder = VarId(u32::MAX);
            let world = self.space.world;
            let is_tag = |v: &Value| v.as_const().is_some_and(|c| world.is_spec_tag(c));
            let Some(merged) = union(old, &state, |_| placeholder, is_tag) else {
                continue;
            };
            if matches(&merged, old) {
                let args = output_args(&state, old);
                self.close(Link::new(*candidate, args).with_at(self.last));
                return;
            }
            let old = old.clone();
            let new = self.next_block(&state, merged);
            self.joinpoints.entry(state.pc).or_default()[i] = new;
            let args = match &self.kinds[&new] {
                Kind::Spam { state: general, .. } => output_args(&old, general),
                Kind::Egg(_) => Vec::new(),
            };
            // The more special block becomes a way to the more general one.
            let block = self.space.graph.block_mut(*candidate);
            block.operations.clear();
            block.exitswitch = ExitSwitch::None;
            block.exits = vec![Link::new(new, args)];
            let replaced = Kind::Spam {
                state: old,
                dead: true,
            };
            self.kinds.insert(*candidate, replaced);
            return;
        }
        let pc = state.pc;
        let new = self.next_block(&state, state.clone());
        self.joinpoints.entry(pc).or_default().insert(0, new);
    }

    /// Links the current block to a new one with a fresh copy of a state.
    fn next_block(&mut self, from: &FrameState, like: FrameState) -> BlockId {
        let graph = &mut self.space.graph;
        let mut new = copy(&like, |v| match graph.vars.get(v.index()) {
            Some(_) => graph.copy_var(v),
            None => graph.new_var("", ()),
        });
        for (name, v) in self.code.locals.iter().zip(&new.locals) {
            if let Some(Value::Var(v)) = v {
                graph.vars[v.index()].name = name.clone();
            }
        }
        let loaded = loaded_names(self.code, from.pc);
        for (i, v) in new.stack.iter().rev().enumerate() {
            if let Value::Var(v) = v {
                graph.vars[v.index()].name = loaded.get(i).copied().unwrap_or("").into();
            }
        }
        new.pc = from.pc;
        let block = graph.new_block(variables(&new));
        let link = Link::new(block, output_args(from, &new));
        self.close(link.with_at(self.last));
        self.add_spam(block, new.clone(), new);
        block
    }
}

/// The variables that lie on the stack in front of an instruction because the instructions
/// before it load them, from the top of the stack on; nothing is said of constants.
fn loaded_names(code: &Code, pc: Pc) -> Vec<&str> {
    let before = code.instrs[..pc as usize].iter().rev();
    let loads = before.map_while(|instr| match instr {
        Instr::LoadFast(l) => Some(&*code.locals[*l as usize]),
        Instr::LoadConst(_) => Some(""),
        _ => None,
    });
    loads.collect()
}

/// Lets a block raise a new instance of a builtin exception class.
pub(crate) fn raise_new(graph: &mut FunctionGraph, block: BlockId, class: &str) {
    let (value, class_var) = (graph.new_var("", ()), graph.new_var("", ()));
    let class = Operand::Const(Const::Obj(named_id(class)));
    let exceptblock = graph.exceptblock;
    let op = |op, arg, result| taipan_graph::Operation {
        op,
        args: [arg].into_iter().collect(),
        result,
        at: 0,
    };
    let b = graph.block_mut(block);
    b.operations.push(op(HlOp::SimpleCall, class, value));
    b.operations
        .push(op(HlOp::Type, Operand::Var(value), class_var));
    let args = vec![Operand::Var(class_var), Operand::Var(value)];
    b.exits = vec![Link::new(exceptblock, args)];
}

/// Whether control never goes on behind an instruction.
fn leaves(instr: Instr) -> bool {
    matches!(instr, Instr::Return | Instr::Raise(_) | Instr::Reraise)
}

/// Whether an instruction only moves values about: nothing is recorded then, and
/// nothing forks.
fn is_stack_only(instr: Instr) -> bool {
    use Instr::*;
    matches!(
        instr,
        LoadConst(_) | LoadFast(_) | Pop | Dup | Dup2 | Dup3 | Rot2 | Rot3 | Rot4 | Jump(_)
    )
}

/// Whether both operands of an operation are literals, or operations on literals: these
/// CPython's compiler computes. To it `True` and `False` are names.
fn has_literal_operands(code: &Code, pc: Pc) -> bool {
    let mut wanted = 2;
    for instr in code.instrs[..pc as usize].iter().rev() {
        match instr {
            Instr::LoadConst(c) => match &code.consts[*c as usize] {
                CodeConst::Bool(_) | CodeConst::Ellipsis | CodeConst::Code(_) => return false,
                _ => wanted -= 1,
            },
            Instr::Unary(_) => {}
            Instr::Binary(_) => wanted += 1,
            _ => return false,
        }
        if wanted == 0 {
            return true;
        }
    }
    false
}

/// Instructions that control can come to from several places: targets of jumps that
/// something else leads to too, and all exception handlers. What comes to the head of an
/// interpreter's loop with constants only, past tests that are folded, comes to the same
/// merge point as all others: a function must not have two of them.
fn find_joins(code: &Code) -> Vec<bool> {
    let mut ways = vec![0u8; code.instrs.len() + 1];
    let mut add = |pc: Pc, n: u8| ways[pc as usize] = ways[pc as usize].saturating_add(n);
    add(0, 1);
    for (pc, instr) in code.instrs.iter().enumerate() {
        let next = pc as Pc + 1;
        if let Some(t) = instr.jump_target() {
            add(t, 1);
        }
        if let Instr::LoadAttr(name) = instr
            && &*code.names[*name as usize] == "jit_merge_point"
        {
            add(pc as Pc, 2);
        }
        if !matches!(
            instr,
            Instr::Jump(_) | Instr::Return | Instr::Raise(_) | Instr::Reraise
        ) {
            add(next, 1);
        }
    }
    for h in &code.handlers {
        add(h.target, 2);
    }
    ways.into_iter().map(|n| n > 1).collect()
}

/// The protected ranges with an except clause that names MemoryError.
fn memory_handlers(code: &Code) -> Vec<Range<Pc>> {
    let names = |h: &&Handler| {
        // Each clause starts with the test of the class.
        let mut clause = h.target as usize;
        while let Some(test) = code.instrs[clause..]
            .strip_prefix(&[Instr::Dup])
            .and_then(|rest| rest.split(|i| *i == Instr::ExcMatch).next())
        {
            if test.iter().any(|i| names_memory_error(code, *i)) {
                return true;
            }
            match code.instrs.get(clause + test.len() + 2) {
                Some(Instr::JumpIfFalse(next)) => clause = *next as usize,
                _ => break,
            }
        }
        false
    };
    let ranges = code.handlers.iter().filter(names);
    ranges.map(|h| h.start..h.end).collect()
}

fn names_memory_error(code: &Code, instr: Instr) -> bool {
    match instr {
        Instr::LoadGlobal(name) | Instr::LoadName(name) | Instr::LoadAttr(name) => {
            &*code.names[name as usize] == Exc::MemoryError.name()
        }
        _ => false,
    }
}

/// A constant of the code. What stands for a nested body is never loaded; `...` has no
/// operand, so that its use is an error.
pub(crate) fn constant(c: &CodeConst) -> Value {
    fn plain(c: &CodeConst) -> Option<Const> {
        Some(match c {
            CodeConst::None => Const::None,
            CodeConst::Bool(b) => Const::Bool(*b),
            CodeConst::Int(i) => Const::Int(*i),
            CodeConst::Long(i) => Const::Long(i.clone()),
            CodeConst::Float(f) => Const::Float(*f),
            CodeConst::Str(s) => Const::Str(s.clone()),
            CodeConst::Unicode(s) => Const::Unicode(s.clone()),
            CodeConst::Tuple(items) => {
                let items: Option<Vec<Const>> = items.iter().map(plain).collect();
                Const::Tuple(Arc::from(items?))
            }
            CodeConst::Imaginary(f) => Complex::imaginary(f64::from_bits(*f)).to_const(),
            CodeConst::Ellipsis | CodeConst::Code(_) => return None,
        })
    }
    plain(c).map_or(Value::Cell(None), Value::Const)
}
