//! Residual code as low-level graphs (RPython, 2008: `codegen/llgraph`).
//!
//! While a function grows its graph is in SSA form: blocks use what the blocks that
//! dominate them define, and have input arguments only where code joins. Nothing is ever
//! taken away, so code that runs already stays valid when a promotion adds to it: a call
//! whose result has become known makes way for that result, in its place.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashSet};
use taipan_graph::{BlockId, ExitCase, ExitSwitch, Link, Operation, VarId, cleanup, ssa_to_ssi};
use taipan_lltype::{
    FuncKind, FuncSym, FuncType, LLConst, LLGraph, LLOp, LLOperand, LLType, LowLevel,
    NamedOperands, OBJECT, OBJECT_VTABLE, PlainOp, SIGNED, VOID, View,
};

use crate::notes::{Notes, note_number};
use crate::program::JitProgram;
use crate::state::Word;

/// The function that residual code calls where a promoted value is new.
pub(crate) const CONTINUE: &str = "rpy_jit_continue";

/// The function that gives one object for all strings with the same characters.
pub(crate) const UNIQUE_STRING: &str = "rpy_jit_unique_string";

/// That function for strings of a type; the second operand is 1 if they are unicode.
pub(crate) fn unique_string_sym(ty: LLType) -> FuncSym {
    FuncSym::new(
        FuncKind::External {
            name: UNIQUE_STRING.into(),
            can_collect: true,
            can_raise: false,
            releases_gil: false,
            library: None,
        },
        FuncType {
            args: vec![ty, *SIGNED],
            result: ty,
        },
    )
}

/// A residual function under construction.
pub(crate) struct Residual {
    graph: LLGraph,
    /// Tells its promotions from those of other functions.
    number: usize,
    /// How many switches promotions made.
    pub(crate) flexswitches: u32,
    /// Blocks whose input arguments are all that is used from there on.
    entries: FxHashSet<BlockId>,
    /// Blocks that end with a call of the portal for known greens, whose result is
    /// returned: the words of the greens.
    leaves: BTreeMap<BlockId, Vec<Word>>,
    /// Those of them after which the interpreter goes on in any case.
    left: BTreeSet<BlockId>,
    /// Calls of portals that may enter compiled code without asking the program, by their
    /// results.
    portal_calls: BTreeMap<VarId, PortalCall>,
    /// Results of `@elidable` calls that returned null at compile time.
    found_nothing: BTreeSet<VarId>,
    pub(crate) notes: Notes,
    /// What operations come from that are appended from now on: number of the timeshifted
    /// graph, and instruction.
    pub(crate) here: (u32, u32),
    /// All such places. Operations have the number of theirs, from 1 on.
    places: IndexSet<(u32, u32), FxBuildHasher>,
}

/// A call of a portal that may enter compiled code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PortalCall {
    /// The number of the driver.
    pub driver: u32,
    /// The words of the greens.
    pub greens: Vec<Word>,
    /// The call starts a function of the interpreted program. False if it resumes one at a loop.
    pub begins: bool,
}

/// A place in residual code where compilation has stopped.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stub {
    /// Its number in the function.
    pub number: usize,
    /// The value that it waits for, if it is a promotion.
    pub value: Option<VarId>,
    /// Casts of what is passed.
    pub casts: Vec<Operation<LowLevel>>,
    /// What is passed to where code goes on.
    pub args: Vec<LLOperand>,
    /// Where that is. Without a value, the block is empty until then.
    pub target: BlockId,
}

/// What residual code consists of.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ResidualCounts {
    /// How often each operation stands there; pointer casts and what promotions need
    /// are left out.
    pub operations: BTreeMap<String, u32>,
    /// Those that call list and dict helpers, by their oopspec name.
    pub oops: BTreeMap<String, u32>,
    /// How many growing switches promotions made.
    pub flexswitches: u32,
    /// How many blocks there are.
    pub blocks: u32,
}

impl ResidualCounts {
    /// Adds those of another function.
    pub fn add(&mut self, other: &ResidualCounts) {
        for (mine, others) in [
            (&mut self.operations, &other.operations),
            (&mut self.oops, &other.oops),
        ] {
            for (name, n) in others {
                *mine.entry(name.clone()).or_default() += n;
            }
        }
        self.flexswitches += other.flexswitches;
        self.blocks += other.blocks;
    }
}

impl Residual {
    pub(crate) fn new(
        name: &str,
        number: usize,
        args: &[LLType],
        result: LLType,
    ) -> (Residual, Vec<VarId>) {
        let mut graph = LLGraph::new(name, result, OBJECT_VTABLE.ptr(), OBJECT.ptr());
        let inputs: Vec<VarId> = args.iter().map(|t| graph.new_var("", *t)).collect();
        let start = graph.startblock;
        graph.block_mut(start).inputargs = inputs.clone();
        (
            Residual {
                graph,
                number,
                flexswitches: 0,
                entries: FxHashSet::from_iter([start]),
                leaves: BTreeMap::new(),
                left: BTreeSet::new(),
                portal_calls: BTreeMap::new(),
                found_nothing: BTreeSet::new(),
                notes: Notes::default(),
                here: (0, 0),
                places: IndexSet::default(),
            },
            inputs,
        )
    }

    pub(crate) fn start(&self) -> BlockId {
        self.graph.startblock
    }

    pub(crate) fn block_count(&self) -> usize {
        self.graph.blocks.len()
    }

    /// The input arguments of a block.
    pub(crate) fn inputs(&self, b: BlockId) -> Vec<VarId> {
        self.graph.block(b).inputargs.clone()
    }

    pub(crate) fn ty(&self, v: VarId) -> LLType {
        *self.graph.ty(v)
    }

    /// A block with input arguments of these types.
    pub(crate) fn new_block(&mut self, types: &[LLType]) -> (BlockId, Vec<VarId>) {
        let inputs: Vec<VarId> = types.iter().map(|t| self.graph.new_var("", *t)).collect();
        (self.graph.new_block(inputs.clone()), inputs)
    }

    /// As [`Residual::new_block`], for one that can be entered from other code: nothing
    /// else that exists is used after it.
    pub(crate) fn new_entry(&mut self, types: &[LLType]) -> (BlockId, Vec<VarId>) {
        let new = self.new_block(types);
        self.entries.insert(new.0);
        new
    }

    /// Notes that a block ends with a call of the portal for these greens.
    pub(crate) fn leaves_for(&mut self, b: BlockId, greens: Vec<Word>) {
        self.leaves.insert(b, greens);
    }

    /// Notes that the interpreter goes on after such a block.
    pub(crate) fn leaves_to_interpreter(&mut self, b: BlockId) {
        self.left.insert(b);
    }

    /// Whether the interpreter goes on after a block that ends with a call of the portal.
    pub(crate) fn is_left(&self, b: BlockId) -> bool {
        self.left.contains(&b)
    }

    /// Notes that a call of a portal with these greens may enter compiled code.
    pub(crate) fn calls_portal(&mut self, result: VarId, call: PortalCall) {
        self.portal_calls.insert(result, call);
    }

    /// Data about a call that may enter compiled code.
    pub(crate) fn portal_call(&self, result: VarId) -> Option<&PortalCall> {
        self.portal_calls.get(&result)
    }

    /// The greens for which a block calls the portal, as the last thing that it does.
    pub(crate) fn leaves(&self, b: BlockId) -> Option<&[Word]> {
        self.leaves.get(&b).map(|w| &**w)
    }

    /// The graph as far as it goes, in SSA form.
    pub(crate) fn graph(&self) -> &LLGraph {
        &self.graph
    }

    /// Whether a block can be entered from other code.
    pub(crate) fn is_entry(&self, b: BlockId) -> bool {
        self.entries.contains(&b)
    }

    /// The number of the stub that a block is, and what the value is that it waits for.
    fn asks(&self, b: BlockId) -> Option<(usize, Option<VarId>)> {
        let block = self.graph.block(b);
        let ([op, ..], [_]) = (&block.operations[..], &block.exits[..]) else {
            return None;
        };
        let View::DirectCall {
            callee: LLOperand::Const(LLConst::Func(f)),
            args: [LLOperand::Const(LLConst::Int(_, number)), value @ ..],
        } = op.view()
        else {
            return None;
        };
        (f.name() == CONTINUE).then(|| {
            let number = number.get() as u32 as usize;
            (number, value.first().and_then(LLOperand::as_var))
        })
    }

    /// Whether a block is the stub of a promotion.
    pub(crate) fn promotes(&self, b: BlockId) -> bool {
        self.asks(b).is_some_and(|(_, value)| value.is_some())
    }

    /// What a block stands for that calls the specialiser.
    pub(crate) fn stub(&self, b: BlockId) -> Option<Stub> {
        let (number, value) = self.asks(b)?;
        let block = self.graph.block(b);
        let link = &block.exits[0];
        Some(Stub {
            number,
            value,
            casts: block.operations[1..].to_vec(),
            args: link.args.clone(),
            target: link.target,
        })
    }

    /// Appends an operation.
    pub(crate) fn op(&mut self, at: BlockId, op: View<'_, LLOperand>, ty: LLType) -> VarId {
        let result = self.graph.new_var("", ty);
        let (place, _) = self.places.insert_full(self.here);
        let op = op.operation(result, place as u32 + 1);
        self.graph.block_mut(at).operations.push(op);
        result
    }

    /// The timeshifted graph and the instruction that an operation comes from.
    pub(crate) fn place(&self, at: u32) -> Option<(u32, u32)> {
        let number = at.checked_sub(1)?;
        self.places.get_index(number as usize).copied()
    }

    /// Records that an `@elidable` call returned null. It may return something else later.
    pub(crate) fn finds_nothing(&mut self, result: VarId) {
        self.found_nothing.insert(result);
    }

    /// Whether the call with that result returned null so far.
    pub(crate) fn found_nothing(&self, result: VarId) -> bool {
        self.found_nothing.contains(&result)
    }

    /// Puts a value in the place of a call that gives it from now on. Code that is compiled
    /// already goes on calling.
    pub(crate) fn replace_call(&mut self, at: BlockId, result: VarId, value: LLConst) {
        self.found_nothing.remove(&result);
        let mut operations = self.graph.block_mut(at).operations.iter_mut();
        if let Some(call) = operations.find(|op| op.result == result) {
            call.op = PlainOp::SameAs.into();
            call.args = [LLOperand::Const(value)].into_iter().collect();
        }
    }

    pub(crate) fn goto(&mut self, at: BlockId, target: BlockId, args: Vec<LLOperand>) {
        self.graph.block_mut(at).exits = vec![Link::new(target, args)];
    }

    pub(crate) fn return_(&mut self, at: BlockId, value: LLOperand) {
        let target = self.graph.returnblock;
        self.goto(at, target, vec![value]);
    }

    /// Ends a block with a branch and returns the blocks for true and for false.
    pub(crate) fn branch(&mut self, at: BlockId, on: VarId) -> (BlockId, BlockId) {
        let (yes, _) = self.new_block(&[]);
        let (no, _) = self.new_block(&[]);
        let block = self.graph.block_mut(at);
        block.exitswitch = ExitSwitch::Value(LLOperand::Var(on));
        block.exits = vec![
            Link::with_case(no, Vec::new(), ExitCase::Bool(false)),
            Link::with_case(yes, Vec::new(), ExitCase::Bool(true)),
        ];
        (yes, no)
    }

    /// Ends a block after an operation that checks for overflow; returns the blocks for
    /// going on and for the overflow.
    pub(crate) fn overflow(&mut self, at: BlockId, overflow: &LLConst) -> (BlockId, BlockId) {
        let (ok, _) = self.new_block(&[]);
        let (raised, _) = self.new_block(&[]);
        let block = self.graph.block_mut(at);
        block.exitswitch = ExitSwitch::LastException;
        block.exits = vec![
            Link::new(ok, Vec::new()),
            Link::with_case(raised, Vec::new(), ExitCase::Exception(overflow.clone())),
        ];
        (ok, raised)
    }

    /// Makes a block call the specialiser, with the number of the stub and perhaps a value.
    fn call_specializer(&mut self, at: BlockId, stub: usize, value: Option<VarId>) {
        let number = (self.number as i64) << 32 | stub as i64;
        let number = LLOperand::Const(LLConst::signed(number));
        let types = value.iter().map(|v| self.ty(*v));
        let types: Vec<LLType> = std::iter::once(*SIGNED).chain(types).collect();
        let callee = LLOperand::Const(LLConst::Func(continue_sym(types)));
        let mut args = vec![number];
        args.extend(value.map(LLOperand::Var));
        let call = View::DirectCall {
            callee: &callee,
            args: &args,
        };
        self.op(at, call, *VOID);
    }

    /// Makes a block call the specialiser, which has nothing in it yet.
    pub(crate) fn ask_for_more(&mut self, at: BlockId, stub: usize) {
        self.call_specializer(at, stub, None);
    }

    /// Makes the links of a block that lead to a stub lead where that leads.
    pub(crate) fn leave_out(&mut self, from: BlockId, stub: BlockId) {
        let Some(mut beyond) = self.graph.block(stub).exits.first().cloned() else {
            return;
        };
        let casts: Vec<_> = self.graph.block(stub).operations[1..].to_vec();
        let leads = |l: &&Link<LowLevel>| l.target == stub;
        let count = self.graph.block(from).exits.iter().filter(leads).count();
        if !casts.is_empty() || count > 1 {
            // Casts of the stub are done on the way, which all cases of a switch share.
            let way = self.graph.new_block(Vec::new());
            for cast in casts {
                let result = self.graph.copy_var(cast.result);
                for arg in &mut beyond.args {
                    if *arg == LLOperand::Var(cast.result) {
                        *arg = LLOperand::Var(result);
                    }
                }
                let block = self.graph.block_mut(way);
                block.operations.push(Operation { result, ..cast });
            }
            self.graph.block_mut(way).exits = vec![beyond];
            beyond = Link::new(way, Vec::new());
        }
        for link in &mut self.graph.block_mut(from).exits {
            if link.target == stub {
                (link.target, link.args) = (beyond.target, beyond.args.clone());
            }
        }
    }

    /// Ends a block with a switch by constants; returns the blocks for them, and the one
    /// for all other values if there is to be one.
    pub(crate) fn switch(
        &mut self,
        at: BlockId,
        on: VarId,
        cases: Vec<ExitCase<LowLevel>>,
    ) -> Vec<BlockId> {
        let targets: Vec<BlockId> = cases.iter().map(|_| self.new_block(&[]).0).collect();
        let cases = cases.into_iter().zip(targets.iter().copied());
        self.switch_to(at, on, cases.collect());
        targets
    }

    /// Ends a block with a switch by constants to blocks without input arguments. The one for all other values is the last.
    pub(crate) fn switch_to(
        &mut self,
        at: BlockId,
        on: VarId,
        cases: Vec<(ExitCase<LowLevel>, BlockId)>,
    ) {
        let links = cases.into_iter();
        let links = links.map(|(case, target)| Link::with_case(target, Vec::new(), case));
        let block = self.graph.block_mut(at);
        block.exits = links.collect();
        block.exitswitch = ExitSwitch::Value(LLOperand::Var(on));
    }

    /// Ends a block with a switch that grows: where the value is new, code calls the
    /// specialiser, with the number of the stub, and tries again.
    pub(crate) fn flexswitch(&mut self, at: BlockId, on: VarId, stub: usize) {
        self.flexswitches += 1;
        let (fallback, _) = self.new_block(&[]);
        self.call_specializer(fallback, stub, Some(on));
        // The input arguments keep the values that they have.
        let inputs = self.graph.block(at).inputargs.clone();
        let again = inputs.into_iter().map(LLOperand::Var).collect();
        self.goto(fallback, at, again);
        let block = self.graph.block_mut(at);
        block.exitswitch = ExitSwitch::Value(LLOperand::Var(on));
        block.exits = vec![Link::with_case(fallback, Vec::new(), ExitCase::Default)];
    }

    /// Adds a case to such a switch and returns the block for it.
    pub(crate) fn add_case(&mut self, at: BlockId, value: LLConst) -> BlockId {
        let (target, _) = self.new_block(&[]);
        let case = match value {
            LLConst::Bool(b) => ExitCase::Bool(b),
            other => ExitCase::Value(other),
        };
        let exits = &mut self.graph.block_mut(at).exits;
        let last = exits.len() - 1;
        exits.insert(last, Link::with_case(target, Vec::new(), case));
        target
    }

    /// Makes such a switch go to a new block with all values that have no case, and
    /// returns that.
    pub(crate) fn close_switch(&mut self, at: BlockId) -> BlockId {
        let (target, _) = self.new_block(&[]);
        if let Some(last) = self.graph.block_mut(at).exits.last_mut() {
            last.target = target;
        }
        target
    }

    /// The graph as it is now, to be run.
    pub(crate) fn snapshot(&self) -> Arc<LLGraph> {
        Arc::new(self.graph.clone())
    }

    /// The graph for people: in SSI form, without blocks that do nothing.
    pub(crate) fn finished(&self) -> LLGraph {
        let mut g = self.graph.clone();
        ssa_to_ssi(&mut g);
        cleanup(&mut g);
        g.compact();
        g
    }

    /// What its operations are.
    pub(crate) fn counts(&self, program: &dyn JitProgram) -> ResidualCounts {
        let g = &self.graph;
        let mut counts = ResidualCounts {
            flexswitches: self.flexswitches,
            ..ResidualCounts::default()
        };
        for b in g.reachable() {
            counts.blocks += 1;
            for op in &g.block(b).operations {
                let callee = match op.view() {
                    View::DirectCall {
                        callee: LLOperand::Const(LLConst::Func(f)),
                        ..
                    } => Some(f),
                    _ => None,
                };
                if let Some(oop) = callee.and_then(|f| program.hints(f).oopspec) {
                    *counts.oops.entry(oop).or_default() += 1;
                }
                let ours = callee.is_some_and(|f| f.name() == CONTINUE);
                let ours = ours || note_number(op).is_some();
                let cast = matches!(
                    op.op,
                    LLOp::Plain(PlainOp::CastPointer | PlainOp::CastOpaquePtr | PlainOp::SameAs)
                );
                if ours || cast {
                    continue;
                }
                *counts.operations.entry(op.op.to_string()).or_default() += 1;
            }
        }
        counts
    }
}

fn continue_sym(args: Vec<LLType>) -> FuncSym {
    FuncSym::new(
        FuncKind::External {
            name: CONTINUE.into(),
            can_collect: true,
            can_raise: false,
            releases_gil: false,
            library: None,
        },
        FuncType {
            args,
            result: *VOID,
        },
    )
}

/// The operand that stands for nothing.
pub(crate) fn void_operand() -> LLOperand {
    taipan_graph::Operand::<LowLevel>::Const(LLConst::void())
}
