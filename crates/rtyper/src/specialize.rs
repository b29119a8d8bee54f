//! From an annotated graph to a low-level one (RPython: `specialize_block`,
//! `insert_link_conversions`).
//!
//! ```text
//! b0(v0: SomeInteger, v1: SomeBool)         b0(v0: Signed, v1: Bool)
//!   v2 = add(v0, v1)                   =>     v3 = cast_bool_to_int(v1)
//!   goto b1(v2)                               v2 = int_add(v0, v3)
//!                                             goto b1(v2)
//! ```
//!
//! Every variable gets the low-level type of its annotation's Repr. Where a link
//! passes a value to an input argument of another Repr, the conversion goes to the
//! end of the source block if the link is its only exit, else to a new block on the
//! link.

use std::cell::Cell;

use rustc_hash::FxHashMap;
use taipan_annotator::{FunctionAnnotation, HelperKey, SomeKind, SomeValue, Spec};
use taipan_base::{Db, Diagnostic, ErrorCode, Span};
use taipan_code::Origin;
use taipan_graph::{
    Block, BlockId, Const, ExitCase, ExitSwitch, FunctionGraph, HighLevel, HlOp, Link, ObjId,
    Operand, Operation, VarId,
};
use taipan_interp::{ObjData, Object};
use taipan_language::Exc;
use taipan_lltype::{
    HelperArg, LLConst, LLGraph, LLOperand, LLType, LowLevel, OBJECT, OBJECT_VTABLE, StaticSym,
    VOID, VoidConst,
};

use crate::exceptions::exception_id;
use crate::guarded::{GuardedAllocation, allocations, guard_allocation};
use crate::hop::{ArgValue, InteriorValue, cvoid};
use crate::llops::{Raising, Vars};
use crate::reprs::InstanceRepr;
use crate::{Hop, LLOps, RTyper, Repr, Typed, TyperError, Universe};

/// Types a function of the user's program.
pub(crate) fn user_graph(db: &dyn Db, spec: Spec) -> Result<LLGraph, Diagnostic> {
    let annotation = taipan_annotator::annotation(db, spec);
    if let Some(d) = &annotation.broken {
        return Err((**d).clone());
    }
    let mut rt = RTyper::new(db, Universe::User(spec.roots(db)));
    rt.in_test = is_of_test_module(db, spec);
    specialize(&rt, &annotation, &[]).map_err(|e| {
        let span = match e.at {
            Some(at) => instruction_span(db, spec, at),
            None => taipan_flow::span_at(db, spec.function(db), None),
        };
        e.diagnostic(span)
    })
}

/// Which operation of a block makes an AssertionError, if one does.
pub(crate) fn makes_assertion_error(graph: &FunctionGraph, b: BlockId) -> Option<usize> {
    let class = Operand::Const(Const::Obj(exception_id(Exc::AssertionError)));
    let makes =
        |op: &Operation<HighLevel>| op.op == HlOp::SimpleCall && op.args.first() == Some(&class);
    graph.block(b).operations.iter().position(makes)
}

fn is_of_test_module(db: &dyn Db, spec: Spec) -> bool {
    let program = spec.roots(db).program(db);
    let origin = || {
        let object = Object::new(db, program, spec.func(db));
        match taipan_interp::object(db, object).as_deref()? {
            ObjData::Function(f) => Some(f.code.origin(db)),
            _ => None,
        }
    };
    program.options(db).tests && matches!(origin(), Some(Origin::Test(_)))
}

/// Types a prelude helper.
pub(crate) fn helper_graph(db: &dyn Db, key: HelperKey) -> Result<LLGraph, Diagnostic> {
    let annotation = taipan_annotator::annotate_helper(db, key);
    if let Some(d) = &annotation.broken {
        return Err((**d).clone());
    }
    if !annotation.reached[annotation.graph.startblock.index()] {
        let name = key.name(db);
        return Err(Diagnostic::error(
            ErrorCode::StagesDisagree,
            None,
            format!("there is no prelude helper {name}"),
        ));
    }
    let rt = RTyper::new(db, Universe::Prelude(key.prelude(db)));
    specialize(&rt, &annotation, key.args(db)).map_err(|e| {
        Diagnostic::error(
            e.code,
            None,
            format!("in prelude helper {}: {}", key.name(db), e.message),
        )
    })
}

/// Where an instruction of a function is in the source.
pub fn instruction_span(db: &dyn Db, spec: Spec, at: u32) -> Option<Span> {
    let f = spec.function(db);
    let key = taipan_interp::Object::new(db, f.program(db), f.obj(db));
    let code = match &**taipan_interp::object(db, key).as_ref()? {
        taipan_interp::ObjData::Function(f) => f.code,
        _ => return None,
    };
    let spans = taipan_code::code_spans(db, code);
    Some(Span {
        file: code.file(db)?,
        range: *spans.instrs.get(at as usize)?,
    })
}

/// Types an annotated graph. A helper comes with what it is specialised by: its
/// constant arguments are Void.
pub(crate) fn specialize(
    rt: &RTyper<'_>,
    annotation: &FunctionAnnotation,
    helper: &[HelperArg],
) -> Typed<LLGraph> {
    let vars = Vars::default();
    let at = Cell::new(None);
    let result = Specializer::new(rt, annotation, &vars, &at).and_then(|s| s.run(helper));
    let blocks = result.map_err(|mut e| {
        if e.code == crate::rtyper::INFINITE {
            e.at = passed_to_itself(rt, annotation).or(e.at);
        }
        e.at = e.at.or(at.get());
        e
    })?;
    let Built {
        blocks,
        startblock,
        returnblock,
        exceptblock,
        guarded,
    } = blocks;
    let mut graph = LLGraph {
        name: annotation.graph.name.clone(),
        vars: vars.into_inner(),
        blocks,
        startblock,
        returnblock,
        exceptblock,
    };
    for allocation in guarded.into_iter().rev() {
        guard_allocation(&mut graph, allocation);
    }
    graph.compact();
    Ok(graph)
}

/// The operation that brings a value together with one of its own kind, whose type would be a
/// part of itself: `f(n, f)`, `items.append(items)`.
fn passed_to_itself(rt: &RTyper<'_>, annotation: &FunctionAnnotation) -> Option<u32> {
    let is_infinite = |operand: &Operand<HighLevel>| match operand {
        Operand::Var(v) => {
            let repr = rt.getrepr(annotation.var(*v));
            repr.is_err_and(|e| e.code == crate::rtyper::INFINITE)
        }
        Operand::Const(_) => false,
    };
    let reached = |b: &BlockId| annotation.reached[b.index()];
    let blocks = annotation.graph.reachable().into_iter().filter(reached);
    let mut operations = blocks.flat_map(|b| &annotation.graph.block(b).operations);
    let found = operations.find(|op| op.args.iter().filter(|a| is_infinite(a)).count() > 1)?;
    Some(found.at)
}

struct Built {
    /// Allocations that get exception links of their own, in order.
    guarded: Vec<GuardedAllocation>,
    blocks: Vec<Block<LowLevel>>,
    startblock: BlockId,
    returnblock: BlockId,
    exceptblock: BlockId,
}

/// A list of operations with a link after it, to be moved to a block of its own.
type Tail = (Vec<Operation<LowLevel>>, Link<LowLevel>);

struct Specializer<'a> {
    rt: &'a RTyper<'a>,
    ann: &'a FunctionAnnotation,
    graph: &'a FunctionGraph,
    vars: &'a Vars,
    at: &'a Cell<Option<u32>>,
    r_result: Repr,
    blocks: Vec<Block<LowLevel>>,
    /// Low-level input arguments of every high-level block.
    inputs: Vec<Vec<VarId>>,
    guarded: Vec<GuardedAllocation>,
}

/// `Ptr(OBJECT_VTABLE)`, the type of exception classes.
pub(crate) fn exception_type() -> LLType {
    OBJECT_VTABLE.ptr()
}

/// `Ptr(OBJECT)`, the type of exception instances.
pub(crate) fn exception_value() -> LLType {
    OBJECT.ptr()
}

fn root() -> Repr {
    Repr::Instance(InstanceRepr::root())
}

impl<'a> Specializer<'a> {
    fn new(
        rt: &'a RTyper<'a>,
        ann: &'a FunctionAnnotation,
        vars: &'a Vars,
        at: &'a Cell<Option<u32>>,
    ) -> Typed<Self> {
        let graph = &*ann.graph;
        let mut s = Specializer {
            rt,
            ann,
            graph,
            vars,
            at,
            r_result: rt.getrepr(&ann.signature.result)?,
            blocks: vec![Block::default(); graph.blocks.len()],
            inputs: Vec::with_capacity(graph.blocks.len()),
            guarded: Vec::new(),
        };
        for i in 0..graph.blocks.len() {
            let b = BlockId(i as u32);
            let reached = ann.reached.get(i).copied().unwrap_or(false);
            let special = b == graph.returnblock || b == graph.exceptblock;
            let mut inputs = Vec::new();
            if reached || special {
                for (v, r) in graph.block(b).inputargs.iter().zip(s.input_reprs(b)?) {
                    inputs.push(vars.fresh(&graph.vars[v.index()].name, r.lowleveltype()));
                }
            }
            s.blocks[i].inputargs = inputs.clone();
            s.inputs.push(inputs);
        }
        Ok(s)
    }

    /// The instruction that first uses an input argument of a block; else the block's first.
    fn first_use(&self, b: BlockId, v: VarId) -> Option<u32> {
        let operations = &self.graph.block(b).operations;
        let uses = |op: &&Operation<_>| op.args.iter().any(|a| a.as_var() == Some(v));
        let first = operations.iter().find(uses).or(operations.first())?;
        Some(first.at)
    }

    /// Reprs of a block's input arguments.
    fn input_reprs(&self, b: BlockId) -> Typed<Vec<Repr>> {
        if b == self.graph.exceptblock {
            return Ok(vec![Repr::Type, root()]);
        }
        if b == self.graph.returnblock {
            return Ok(vec![self.r_result.clone()]);
        }
        let args = &self.graph.block(b).inputargs;
        let mut reprs = Vec::with_capacity(args.len());
        for v in args {
            reprs.push(self.bindingrepr(*v).map_err(|mut e| {
                e.at = e.at.or_else(|| self.first_use(b, *v));
                e
            })?);
        }
        Ok(reprs)
    }

    fn bindingrepr(&self, v: VarId) -> Typed<Repr> {
        self.rt.getrepr(self.ann.var(v))
    }

    fn run(mut self, helper: &[HelperArg]) -> Typed<Built> {
        for i in 0..self.graph.blocks.len() {
            let b = BlockId(i as u32);
            if self.ann.reached[i] && b != self.graph.returnblock && b != self.graph.exceptblock {
                self.block(b)?;
            }
        }
        let startblock = self.entry(helper)?;
        Ok(Built {
            blocks: self.blocks,
            startblock,
            returnblock: self.graph.returnblock,
            exceptblock: self.graph.exceptblock,
            guarded: self.guarded,
        })
    }

    /// The start block as callers see it: where the signature was generalised over a
    /// call family, or arguments are Void because they are constant, a block in front
    /// converts the arguments.
    fn entry(&mut self, helper: &[HelperArg]) -> Typed<BlockId> {
        let start = self.graph.startblock;
        let own = self.input_reprs(start)?;
        let mut seen = Vec::with_capacity(own.len());
        for s in &self.ann.signature.args {
            seen.push(self.rt.getrepr(s)?);
        }
        let constant = |i: usize| match helper.get(i) {
            Some(HelperArg::Const(VoidConst::Hl(c))) => Some(c),
            _ => None,
        };
        let constants = (0..own.len()).any(|i| constant(i).is_some());
        if (own == seen && !constants) || !self.ann.reached[start.index()] {
            return Ok(start);
        }
        if own.len() != seen.len() {
            return Err(TyperError::internal("signature and graph disagree"));
        }
        let (rt, vars) = (self.rt, self.vars);
        let llops = LLOps::new(rt, vars);
        let mut inputs = Vec::new();
        let mut args = Vec::new();
        let pairs = own.iter().zip(&seen).zip(&self.inputs[start.index()]);
        for (i, ((r_own, r_seen), v)) in pairs.enumerate() {
            let name = self.vars_name(*v);
            if let Some(c) = constant(i) {
                inputs.push(self.vars.fresh(&name, *VOID));
                args.push(Operand::Const(r_own.convert_const(rt, c)?));
                continue;
            }
            let input = self.vars.fresh(&name, r_seen.lowleveltype());
            inputs.push(input);
            args.push(llops.convertvar(Operand::Var(input), r_seen, r_own)?);
        }
        let (operations, _) = llops.finish();
        self.blocks.push(Block {
            inputargs: inputs,
            operations,
            exitswitch: ExitSwitch::None,
            exits: vec![Link::new(start, args)],
        });
        Ok(BlockId(self.blocks.len() as u32 - 1))
    }

    fn vars_name(&self, v: VarId) -> Box<str> {
        self.vars.name(v)
    }

    fn block(&mut self, b: BlockId) -> Typed<()> {
        let (rt, vars, graph) = (self.rt, self.vars, self.graph);
        let hl = graph.block(b);
        let llops = LLOps::new(rt, vars);
        let mut env = Env::default();
        for (v, low) in hl.inputargs.iter().zip(&self.inputs[b.index()]) {
            env.low.insert(*v, Operand::Var(*low));
        }
        let followed: Vec<usize> = (0..hl.exits.len())
            .filter(|i| self.ann.is_followed(b, *i))
            .collect();
        let caught: Vec<ObjId> = if hl.canraise() {
            let classes = followed.iter().filter_map(|i| match &hl.exits[*i].case {
                ExitCase::Exception(Const::Obj(c)) => Some(*c),
                _ => None,
            });
            classes.collect()
        } else {
            Vec::new()
        };
        let mut dead = followed.is_empty();
        // Where the low-level operations of what may raise start.
        let mut first_of_last = 0;
        let failure = self
            .rt
            .in_test
            .then(|| makes_assertion_error(graph, b))
            .flatten();
        for (i, op) in hl.operations.iter().enumerate() {
            self.rt.before_failure.set(failure.is_some_and(|f| i < f));
            self.at.set(Some(op.at));
            llops.set_at(op.at);
            let impossible = |a: &Operand<HighLevel>| match a {
                Operand::Var(v) => self.ann.var(*v).kind == SomeKind::Impossible,
                Operand::Const(_) => false,
            };
            if op.args.iter().any(impossible) {
                dead = true;
                break;
            }
            let last = i + 1 == hl.operations.len();
            if last {
                first_of_last = llops.len();
            }
            let links: &[ObjId] = if last { &caught } else { &[] };
            let v = self.operation(&llops, &env, b, i, links)?;
            if let Some(i) = llops.interior().take() {
                env.interior.insert(op.result, i);
            }
            env.low.insert(op.result, v);
            // What never gives a value ends the block: the annotator has not looked at the
            // rest.
            if !last && self.ann.var(op.result).kind == SomeKind::Impossible {
                dead = true;
                break;
            }
        }
        if llops.raising() == Raising::Unknown && !caught.is_empty() {
            llops.set_raising(llops.last_raising());
        }
        let (mut operations, mut raising) = llops.finish();
        let mut guarded = Vec::new();
        let memory_error = exception_id(Exc::MemoryError);
        if caught.iter().any(|c| self.rt.is_subclass(memory_error, *c)) {
            let by_name = caught.contains(&memory_error);
            guarded = allocations(&operations, first_of_last, raising, by_name);
            if raising == Raising::Removed
                && let Some(i) = guarded.pop()
            {
                raising = Raising::At(i);
            }
        }

        let normal = followed
            .iter()
            .copied()
            .find(|i| !matches!(hl.exits[*i].case, ExitCase::Exception(_)));
        if dead || (normal.is_none() && (!hl.canraise() || raising == Raising::Removed)) {
            // Control never gets to an exit.
            let link = self.unreachable_link();
            self.blocks[b.index()].operations = operations;
            self.blocks[b.index()].exits = vec![link];
            return Ok(());
        }

        if !hl.canraise() {
            return self.plain_exits(b, &env, operations, &followed);
        }
        let keep = !caught.is_empty() && raising != Raising::Removed;
        let mut normal_link = match normal {
            Some(i) => self.link(&env, &hl.exits[i])?,
            None => (Vec::new(), self.unreachable_link()),
        };
        if !keep {
            operations.append(&mut normal_link.0);
            self.blocks[b.index()].operations = operations;
            self.blocks[b.index()].exits = vec![normal_link.1];
            return Ok(());
        }
        if let Raising::At(pos) = raising
            && pos + 1 < operations.len()
        {
            let mut extra = operations.split_off(pos + 1);
            extra.append(&mut normal_link.0);
            normal_link.0 = extra;
        }
        let mut exits = vec![self.isolate(normal_link)];
        for i in &followed {
            let ExitCase::Exception(class) = &hl.exits[*i].case else {
                continue;
            };
            let case = self.vtable_const(class)?;
            let (ops, mut link) = self.link(&env, &hl.exits[*i])?;
            link.case = ExitCase::Exception(case);
            exits.push(self.isolate((ops, link)));
        }
        let block = &mut self.blocks[b.index()];
        block.operations = operations;
        block.exitswitch = ExitSwitch::LastException;
        block.exits = exits;
        self.guarded.extend(guarded.into_iter().map(|i| (b, i)));
        Ok(())
    }

    /// Exits of a block that does not end in an operation that may raise.
    fn plain_exits(
        &mut self,
        b: BlockId,
        env: &Env,
        mut operations: Vec<Operation<LowLevel>>,
        followed: &[usize],
    ) -> Typed<()> {
        let hl = self.graph.block(b);
        let switch = match &hl.exitswitch {
            ExitSwitch::Value(v) if followed.len() > 1 => Some(v),
            _ => None,
        };
        let Some(switch) = switch else {
            let (mut ops, mut link) = self.link(env, &hl.exits[followed[0]])?;
            link.case = ExitCase::None;
            operations.append(&mut ops);
            let block = &mut self.blocks[b.index()];
            block.operations = operations;
            block.exits = vec![link];
            return Ok(());
        };
        let (r_switch, v_switch) = match switch {
            Operand::Var(v) => (self.bindingrepr(*v)?, env.get(*v)?),
            Operand::Const(_) => {
                return Err(TyperError::internal("a switch on a constant"));
            }
        };
        let mut exits = Vec::new();
        for i in followed {
            let hl_link = &hl.exits[*i];
            let case = match &hl_link.case {
                ExitCase::Bool(x) => ExitCase::Bool(*x),
                ExitCase::Default => ExitCase::Default,
                ExitCase::Value(c) => ExitCase::Value(r_switch.convert_const(self.rt, c)?),
                ExitCase::None | ExitCase::Exception(_) => {
                    return Err(TyperError::internal("exit without a case on a switch"));
                }
            };
            let (ops, mut link) = self.link(env, hl_link)?;
            link.case = case;
            exits.push((ops, link));
        }
        if let Operand::Const(LLConst::Bool(known)) = v_switch {
            exits.retain(|(_, l)| l.case == ExitCase::Bool(known));
            if let Some((mut ops, mut link)) = exits.pop() {
                link.case = ExitCase::None;
                operations.append(&mut ops);
                let block = &mut self.blocks[b.index()];
                block.operations = operations;
                block.exits = vec![link];
                return Ok(());
            }
        }
        let exits = exits.into_iter().map(|e| self.isolate(e)).collect();
        let block = &mut self.blocks[b.index()];
        block.operations = operations;
        block.exitswitch = ExitSwitch::Value(v_switch);
        block.exits = exits;
        Ok(())
    }

    /// Types one operation and answers its value.
    fn operation(
        &self,
        llops: &LLOps<'_>,
        env: &Env,
        b: BlockId,
        i: usize,
        exceptionlinks: &[ObjId],
    ) -> Typed<LLOperand> {
        let op = &self.graph.block(b).operations[i];
        let mut hop = Hop {
            rt: self.rt,
            llops,
            op: op.op,
            args_v: Vec::with_capacity(op.args.len()),
            args_s: Vec::with_capacity(op.args.len()),
            args_r: Vec::with_capacity(op.args.len()),
            s_result: self.ann.var(op.result).clone(),
            r_result: self.bindingrepr(op.result)?,
            exceptionlinks,
            call: self.ann.calls.get(b, i as u32),
            keywords: Vec::new(),
        };
        for a in &op.args {
            match a {
                Operand::Var(v) => {
                    let s = self.ann.var(*v).clone();
                    hop.args_r.push(self.rt.getrepr(&s)?);
                    hop.args_s.push(s);
                    hop.args_v.push(match env.interior.get(v) {
                        Some(i) => ArgValue::Interior(i.clone()),
                        None => ArgValue::Low(env.get(*v)?),
                    });
                }
                Operand::Const(c) => {
                    let s = crate::annotate::immutablevalue(self.rt, c)?;
                    hop.args_r.push(self.rt.getrepr(&s)?);
                    hop.args_s.push(s);
                    hop.args_v.push(ArgValue::Const(c.clone()));
                }
            }
        }
        if self.rt.in_test {
            crate::equality::check(self.rt, hop.op, &hop.args_s)?;
        }
        let result = hop.dispatch()?;
        if llops.interior().borrow().is_some() {
            return Ok(cvoid());
        }
        let want = hop.r_result.lowleveltype();
        let v = match result {
            None => return Ok(cvoid()),
            Some(_) if want.is_void() => cvoid(),
            Some(v) => v,
        };
        let got = llops.ty(&v);
        if got != want {
            return Err(TyperError::internal(format!(
                "'{}' gives a {got} where its annotation calls for a {want}",
                op.op
            )));
        }
        if let Operand::Var(low) = &v {
            self.vars
                .set_name(*low, &self.graph.vars[op.result.index()].name);
        }
        Ok(v)
    }

    /// A link with its arguments converted, and the operations that convert them.
    fn link(&self, env: &Env, link: &Link<HighLevel>) -> Typed<Tail> {
        let llops = LLOps::new(self.rt, self.vars);
        let mut local = Env::default();
        let mut low = |v: Option<VarId>, ty: LLType| {
            v.map(|v| {
                let name = &self.graph.vars[v.index()].name;
                let low = self.vars.fresh(name, ty);
                local.low.insert(v, Operand::Var(low));
                low
            })
        };
        let last_exception = low(link.last_exception, exception_type());
        let last_exc_value = low(link.last_exc_value, exception_value());
        let mut args = Vec::with_capacity(link.args.len());
        for (a, r_to) in link.args.iter().zip(self.input_reprs(link.target)?) {
            args.push(match a {
                Operand::Const(c) => Operand::Const(r_to.convert_const(self.rt, c)?),
                Operand::Var(v) => {
                    if let Some(low) = local.low.get(v) {
                        let r_from = if Some(*v) == link.last_exception {
                            Repr::Type
                        } else {
                            root()
                        };
                        llops.convertvar(low.clone(), &r_from, &r_to)?
                    } else {
                        self.converted(&llops, env, *v, &r_to)?
                    }
                }
            });
        }
        let (ops, _) = llops.finish();
        let mut out = Link::new(link.target, args);
        out.last_exception = last_exception;
        out.last_exc_value = last_exc_value;
        if link.target == self.graph.exceptblock {
            out.at = link.at;
        }
        Ok((ops, out))
    }

    fn converted(&self, llops: &LLOps<'_>, env: &Env, v: VarId, r_to: &Repr) -> Typed<LLOperand> {
        let s: &SomeValue = self.ann.var(v);
        let r_from = self.rt.getrepr(s)?;
        if let (Some(i), Repr::InteriorPtr(r)) = (env.interior.get(&v), r_to) {
            return Ok(r.make_box(llops, i));
        }
        if r_from == *r_to {
            return env.get(v);
        }
        if let Some(c) = &s.const_ {
            return Ok(Operand::Const(r_to.convert_const(self.rt, c)?));
        }
        llops.convertvar(env.get(v)?, &r_from, r_to)
    }

    /// Moves operations of a link to a block of their own, which receives what they
    /// and the link use.
    fn isolate(&mut self, (mut ops, mut link): Tail) -> Link<LowLevel> {
        if ops.is_empty() {
            return link;
        }
        let mut map: FxHashMap<VarId, VarId> = FxHashMap::default();
        let mut inputs = Vec::new();
        let mut passed = Vec::new();
        let defined: Vec<VarId> = ops.iter().map(|o| o.result).collect();
        let mut rename = |v: &mut VarId| {
            if defined.contains(v) {
                return;
            }
            *v = *map.entry(*v).or_insert_with(|| {
                let fresh = self.vars.fresh(&self.vars.name(*v), self.vars.ty(*v));
                inputs.push(fresh);
                passed.push(Operand::Var(*v));
                fresh
            });
        };
        for op in &mut ops {
            for a in &mut op.args {
                if let Operand::Var(v) = a {
                    rename(v);
                }
            }
        }
        for a in &mut link.args {
            if let Operand::Var(v) = a {
                rename(v);
            }
        }
        let id = BlockId(self.blocks.len() as u32);
        let mut inner = Link::new(link.target, std::mem::take(&mut link.args));
        inner.at = link.at.take();
        self.blocks.push(Block {
            inputargs: inputs,
            operations: ops,
            exitswitch: ExitSwitch::None,
            exits: vec![inner],
        });
        link.target = id;
        link.args = passed;
        link
    }

    fn vtable_const(&self, class: &Const) -> Typed<LLConst> {
        match class {
            Const::Obj(c) => Ok(LLConst::data(StaticSym::Vtable(*c), exception_type())),
            other => Err(TyperError::internal(format!("{other} is not a class"))),
        }
    }

    /// A link for control that never comes: raises AssertionError.
    fn unreachable_link(&self) -> Link<LowLevel> {
        let class = exception_id(Exc::AssertionError);
        let args = vec![
            Operand::Const(LLConst::data(StaticSym::Vtable(class), exception_type())),
            Operand::Const(crate::statics::standard_instance(self.rt, class)),
        ];
        Link::new(self.graph.exceptblock, args)
    }
}

/// Low-level operands of the high-level variables of one block.
#[derive(Default)]
struct Env {
    low: FxHashMap<VarId, LLOperand>,
    interior: FxHashMap<VarId, InteriorValue>,
}

impl Env {
    fn get(&self, v: VarId) -> Typed<LLOperand> {
        self.low
            .get(&v)
            .cloned()
            .ok_or_else(|| TyperError::internal(format!("{v:?} is used before it is defined")))
    }
}
