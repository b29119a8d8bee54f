//! The graph of a unit: a region of residual code.
//!
//! A unit starts at one place of a residual function and extends to where compilation has
//! stopped, and to the blocks that are entered by way of a cell. Leaving it is a
//! `jit_exit` with the values that are needed there.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use taipan_graph::{Block, BlockId, ExitCase, ExitSwitch, Link, Operation, VarId, find_loops};
use taipan_jit::engine::{PortalCall, ResidualFunction};
use taipan_jit::{Built, Stub, Word, is_note};
use taipan_lltype::{
    BOOL, CHAR, Called, FuncSym, FuncType, LLConst, LLGraph, LLOperand, LLType, LowLevel,
    NamedOperands, NumFamily, NumOp, OBJECT, OBJECT_VTABLE, PlainOp, SIGNED, TypeKind, UNICHAR,
    VOID, View,
};
use taipan_runtime::jit::left_words;

use crate::costs::is_tally;

const _: () = assert!(taipan_jit::MOST_LEFT <= taipan_runtime::jit::MOST_LEFT);

/// Where a unit is left.
pub(crate) trait Exits {
    /// The cell by which a block is entered that is not a part of the unit. None if it
    /// becomes one.
    fn entry(&mut self, b: BlockId) -> Option<usize>;

    /// The cell by which a call of the portal goes on for known greens, where that is the last
    /// thing that code does; `fixed` are the greens as operands of the call.
    fn portal(&mut self, greens: &[Word], callee: &LLOperand, fixed: &[LLOperand]) -> usize;

    /// What is called in the place of the portal of a driver for greens.
    fn called_portal(&mut self, driver: u32, greens: &[Word]) -> CalledPortal;

    /// Whether calls of the portal with these greens may pass virtual arguments.
    fn wants_virtual_arguments(&self, driver: u32, greens: &[Word]) -> bool;

    /// The variant of a portal for the virtual arguments of a call. None if no variant may be added.
    fn virtual_portal(&mut self, call: VirtualCall<'_>) -> Option<CalledPortal>;

    /// The cell by which the values of a merge point, the arguments of the portal, are left to the
    /// interpreter; none if its code cannot be made.
    fn interpreter(&mut self) -> Option<usize>;

    /// The cell of a stub.
    fn stub(&mut self, stub: &Stub) -> usize;

    /// Word with the remaining attempts of an `@elidable` call that returned null, by its result.
    fn tries(&mut self, result: VarId) -> usize;

    /// What counts how often a loop or a unit of so many operations is entered that starts with the
    /// block, and the cell by which it goes on when that was often. None if nobody counts.
    fn counter(&mut self, b: BlockId, operations: usize) -> Option<(usize, usize)>;

    /// The same for the unit as a whole: what counts how often it is entered.
    fn entered(&self) -> Option<(usize, usize)>;

    /// A word that the unit counts down whenever it is entered, if somebody wants to know.
    fn tally(&mut self) -> Option<usize>;
}

/// Compiled code that is called in the place of a portal.
pub(crate) struct CalledPortal {
    /// The word that leads to it, or is 0.
    pub(crate) entry: usize,
    /// Its type.
    pub(crate) ty: FuncType,
    /// What goes on if it has left values to the interpreter; none if it leaves none.
    pub(crate) rest: Option<FuncSym>,
}

/// A call of a portal with virtual arguments.
pub(crate) struct VirtualCall<'a> {
    pub(crate) driver: u32,
    pub(crate) greens: &'a [Word],
    pub(crate) built: &'a Built,
    /// The operations at [`Built::operations`], which allocate and fill the objects.
    making: Vec<Operation<LowLevel>>,
    pub(crate) callee: &'a LLOperand,
    args: &'a [LLOperand],
}

impl VirtualCall<'_> {
    /// A unit that allocates the objects from the passed values and calls the portal.
    pub(crate) fn interpreted(&self, from: &LLGraph, result: LLType) -> LLGraph {
        let (mut g, _, values) = new_unit("the interpreter", result, self.built.arguments.types());
        let start = g.startblock;
        let passed = self.built.values.iter().copied();
        let mut vars: FxHashMap<VarId, VarId> = passed.zip(values).collect();
        let operand = |vars: &FxHashMap<VarId, VarId>, o: &LLOperand| match o {
            LLOperand::Var(v) => LLOperand::Var(vars.get(v).copied().unwrap_or(*v)),
            c => c.clone(),
        };
        for op in &self.making {
            let args = op.args.iter().map(|o| operand(&vars, o)).collect();
            let new = g.new_var("", *from.ty(op.result));
            vars.insert(op.result, new);
            let op = Operation {
                op: op.op,
                args,
                result: new,
                at: op.at,
            };
            g.block_mut(start).operations.push(op);
        }
        let args: Vec<LLOperand> = self.args.iter().map(|o| operand(&vars, o)).collect();
        let call = View::DirectCall {
            callee: self.callee,
            args: &args,
        };
        let returned = push(&mut g, start, call, result);
        return_value(&mut g, returned, result);
        g
    }
}

/// Number of operations of a block without the notes and counters of the log.
pub(crate) fn size(block: &Block<LowLevel>) -> usize {
    let operations = block.operations.iter();
    operations
        .filter(|op| !is_note(op) && !is_tally(block, op))
        .count()
}

/// No variable.
const NONE: VarId = VarId(u32::MAX);

struct Builder<'a> {
    from: &'a LLGraph,
    function: &'a ResidualFunction<'a>,
    exits: &'a mut dyn Exits,
    g: LLGraph,
    /// Variables of the unit, indexed by variables of the residual graph; [`NONE`] where there is none.
    vars: Vec<VarId>,
    blocks: BTreeMap<BlockId, BlockId>,
    waiting: Vec<BlockId>,
    /// Use counts of the residual graph, computed on demand.
    uses: Option<FxHashMap<VarId, usize>>,
}

/// The unit that starts at a block and needs these values, in SSA form.
pub(crate) fn region(
    function: &ResidualFunction<'_>,
    start: BlockId,
    live: &[VarId],
    exits: &mut dyn Exits,
) -> LLGraph {
    let from = function.graph();
    let mut b = Builder {
        from,
        function,
        exits,
        g: new_graph(&from.name, *from.ty(from.returnvar())),
        vars: vec![NONE; from.vars.len()],
        blocks: BTreeMap::new(),
        waiting: Vec::new(),
        uses: None,
    };
    let cell = b.g.new_var("cell", *SIGNED);
    let mut inputs = vec![cell];
    let mut first = b.g.startblock;
    let counted = b.exits.entered();
    if counted.is_some() {
        first = b.g.new_block(Vec::new());
    }
    if from.block(start).inputargs.is_empty() {
        inputs.extend(live.iter().map(|v| b.var(*v)));
        let to = b.block(start);
        goto(&mut b.g, first, to, Vec::new());
    } else {
        inputs.extend(live.iter().map(|v| b.g.new_var("", *from.ty(*v))));
        let args = inputs[1..].iter().map(|v| LLOperand::Var(*v)).collect();
        let to = b.block(start);
        goto(&mut b.g, first, to, args);
    }
    let begin = b.g.startblock;
    if let Some(tally) = b.exits.tally() {
        let counter = &word(tally);
        push(&mut b.g, begin, View::JitCount { counter }, *BOOL);
    }
    if let Some((counter, cell)) = counted {
        let counter = &word(counter);
        let often = push(&mut b.g, begin, View::JitCount { counter }, *BOOL);
        let out = b.g.new_block(Vec::new());
        let values = inputs[1..].iter().map(|v| LLOperand::Var(*v)).collect();
        leave(&mut b.g, out, word(cell), values);
        let (out, first) = (Link::new(out, Vec::new()), Link::new(first, Vec::new()));
        branch(&mut b.g, begin, often, out, first);
    }
    b.g.block_mut(begin).inputargs = inputs;
    while let Some(block) = b.waiting.pop() {
        b.fill(block);
    }
    b.count(start);
    b.g
}

fn new_graph(name: &str, result: LLType) -> LLGraph {
    LLGraph::new(name, result, OBJECT_VTABLE.ptr(), OBJECT.ptr())
}

/// A unit that is made up, with its cell and its values.
fn new_unit(name: &str, result: LLType, types: &[LLType]) -> (LLGraph, VarId, Vec<VarId>) {
    let mut g = new_graph(name, result);
    let start = g.startblock;
    let cell = g.new_var("cell", *SIGNED);
    let values: Vec<VarId> = types.iter().map(|t| g.new_var("", *t)).collect();
    let inputs = &mut g.block_mut(start).inputargs;
    inputs.push(cell);
    inputs.extend(&values);
    (g, cell, values)
}

fn goto(g: &mut LLGraph, at: BlockId, target: BlockId, args: Vec<LLOperand>) {
    g.block_mut(at).exits = vec![Link::new(target, args)];
}

fn word(address: usize) -> LLOperand {
    LLOperand::Const(LLConst::signed(address as i64))
}

fn push(g: &mut LLGraph, at: BlockId, op: View<'_, LLOperand>, ty: LLType) -> VarId {
    let result = g.new_var("", ty);
    g.block_mut(at).operations.push(op.operation(result, 0));
    result
}

/// Ends a block by going on elsewhere for good.
fn leave(g: &mut LLGraph, at: BlockId, cell: LLOperand, values: Vec<LLOperand>) {
    let ty = *g.ty(g.returnvar());
    let exit = View::JitExit {
        cell: &cell,
        values: &values,
    };
    // Most of these blocks have no other operation.
    g.block_mut(at).operations.reserve_exact(1);
    let result = push(g, at, exit, ty);
    let target = g.returnblock;
    goto(g, at, target, vec![LLOperand::Var(result)]);
}

/// Ends a block with a test.
fn branch(g: &mut LLGraph, at: BlockId, on: VarId, yes: Link<LowLevel>, no: Link<LowLevel>) {
    let case = |link, value| Link {
        case: ExitCase::Bool(value),
        ..link
    };
    let block = g.block_mut(at);
    block.exitswitch = ExitSwitch::Value(LLOperand::Var(on));
    block.exits = vec![case(no, false), case(yes, true)];
}

/// Jumps to `on`, which takes the result as its argument unless the result is Void.
fn go_on(g: &mut LLGraph, at: BlockId, on: BlockId, result: VarId) {
    let count = g.block(on).inputargs.len();
    goto(g, at, on, vec![LLOperand::Var(result); count]);
}

/// Calls the compiled code of a portal and passes its result to `on`. If the code left values to the interpreter, the
/// interpreter's result is passed. Jumps to `otherwise` if the portal is not compiled.
fn enter_code(
    g: &mut LLGraph,
    at: BlockId,
    (portal, args): (&CalledPortal, &[LLOperand]),
    on: BlockId,
    otherwise: BlockId,
) {
    let CalledPortal { entry, ty, rest } = portal;
    let load = View::RawLoad {
        address: &word(*entry),
        offset: &LLOperand::Const(LLConst::signed(0)),
    };
    let value = &LLOperand::Var(push(g, at, load, *SIGNED));
    let code_type = LLType::new(TypeKind::Func(ty.clone())).ptr();
    let code = &LLOperand::Var(push(g, at, View::CastIntToPtr { value }, code_type));
    let is_there = push(g, at, View::PtrNonzero { value: code }, *BOOL);
    let enter = g.new_block(Vec::new());
    let (yes, no) = (
        Link::new(enter, Vec::new()),
        Link::new(otherwise, Vec::new()),
    );
    branch(g, at, is_there, yes, no);
    let compiled = View::IndirectCall {
        callee: code,
        args,
        targets: &LLOperand::Const(LLConst::void()),
    };
    let entered = push(g, enter, compiled, ty.result);
    let Some(rest) = rest else {
        go_on(g, enter, on, entered);
        return;
    };
    let load = View::RawLoad {
        address: &word(left_words()),
        offset: &LLOperand::Const(LLConst::signed(0)),
    };
    let left = &LLOperand::Var(push(g, enter, load, *SIGNED));
    let is_left = View::Binary {
        family: NumFamily::Int,
        op: NumOp::Ne,
        left,
        right: &LLOperand::Const(LLConst::signed(0)),
    };
    let left = push(g, enter, is_left, *BOOL);
    let (returned, interprets) = (g.new_block(Vec::new()), g.new_block(Vec::new()));
    let (yes, no) = (
        Link::new(interprets, Vec::new()),
        Link::new(returned, Vec::new()),
    );
    branch(g, enter, left, yes, no);
    let interpreted = View::DirectCall {
        callee: &LLOperand::Const(LLConst::Func(rest.clone())),
        args: &[],
    };
    let value = push(g, interprets, interpreted, ty.result);
    go_on(g, interprets, on, value);
    go_on(g, returned, on, entered);
}

/// A portal call with virtual arguments.
struct WithoutObjects {
    portal: CalledPortal,
    /// Indexes of the operations in the block that allocate and fill the objects.
    made: Vec<usize>,
    /// The values passed instead of the objects.
    values: Vec<VarId>,
    block: BlockId,
}

impl Builder<'_> {
    fn var(&mut self, v: VarId) -> VarId {
        let known = &mut self.vars[v.index()];
        if *known == NONE {
            *known = self.g.new_var("", *self.from.ty(v));
        }
        *known
    }

    fn operand(&mut self, o: &LLOperand) -> LLOperand {
        match o {
            LLOperand::Var(v) => LLOperand::Var(self.var(*v)),
            c => c.clone(),
        }
    }

    fn operands(&mut self, all: &[LLOperand]) -> Vec<LLOperand> {
        all.iter().map(|o| self.operand(o)).collect()
    }

    /// The copy of a block, which is filled in later.
    fn block(&mut self, b: BlockId) -> BlockId {
        if let Some(copy) = self.blocks.get(&b) {
            return *copy;
        }
        let from = self.from;
        let inputs: Vec<VarId> = (from.block(b).inputargs.iter())
            .map(|v| self.var(*v))
            .collect();
        let copy = self.g.new_block(inputs);
        self.blocks.insert(b, copy);
        self.waiting.push(b);
        copy
    }

    /// Emits a block at whose end control leaves the function, to the interpreter or to a portal. False for other
    /// blocks.
    fn leave(&mut self, b: BlockId, copy: BlockId) -> bool {
        let Some((call, before)) = self.from.block(b).operations.split_last() else {
            return false;
        };
        let interpreter = match self.function.is_left(b) {
            true => self.exits.interpreter(),
            false => None,
        };
        let greens = self.function.leaves(b);
        let Some(Called { callee, args, .. }) = call.view().call() else {
            return false;
        };
        if interpreter.is_none() && greens.is_none() {
            return false;
        }
        for op in before {
            self.operation(copy, op);
        }
        let (cell, values) = match (interpreter, greens) {
            (Some(cell), _) => {
                let values = args.iter().filter(|a| !self.is_void(a));
                (cell, values.cloned().collect::<Vec<LLOperand>>())
            }
            (None, greens) => {
                let greens = greens.unwrap_or_default();
                let (fixed, reds) = args.split_at(greens.len());
                (self.exits.portal(greens, callee, fixed), reds.to_vec())
            }
        };
        let values = self.operands(&values);
        leave(&mut self.g, copy, word(cell), values);
        true
    }

    fn fill(&mut self, b: BlockId) {
        let copy = self.blocks[&b];
        let block = self.from.block(b);
        if self.leave(b, copy) {
            return;
        }
        let mut at = copy;
        let mut virtual_calls = self.virtual_calls(b);
        let later = virtual_calls.values().flat_map(|v| &v.made);
        let later: FxHashSet<usize> = later.copied().collect();
        for (i, op) in block.operations.iter().enumerate() {
            match self.function.portal_call(op.result) {
                Some(call) => {
                    let without = virtual_calls.remove(&i);
                    at = self.portal_call(at, op, call, without);
                }
                None if later.contains(&i) => {}
                None if self.function.found_nothing(op.result) => at = self.look(at, op),
                None => self.operation(at, op),
            }
        }
        let links = self.links(&block.exits);
        let on = match &block.exitswitch {
            ExitSwitch::Value(on) => self.operand(on),
            other => {
                let block = self.g.block_mut(at);
                block.exitswitch = other.clone();
                block.exits = links;
                return;
            }
        };
        switch(&mut self.g, at, on, links);
    }

    /// The portal calls of a block that can pass virtual arguments, by index of the operation.
    fn virtual_calls(&mut self, b: BlockId) -> BTreeMap<usize, WithoutObjects> {
        let mut found = BTreeMap::new();
        let block = self.from.block(b);
        for (i, op) in block.operations.iter().enumerate() {
            let of = self.function.portal_call(op.result).filter(|of| of.begins);
            let Some(PortalCall { driver, greens, .. }) = of else {
                continue;
            };
            if !self.exits.wants_virtual_arguments(*driver, greens) {
                continue;
            }
            let Some(Called { callee, args, .. }) = op.view().call() else {
                continue;
            };
            let reds = self.exits.called_portal(*driver, greens).ty.args.len();
            let from = self.from;
            let uses = self.uses.get_or_insert_with(|| from.count_uses());
            let Some(built) = self.function.built_arguments((b, i), reds, uses) else {
                continue;
            };
            let call = VirtualCall {
                driver: *driver,
                greens,
                making: (built.operations.iter())
                    .map(|i| block.operations[*i].clone())
                    .collect(),
                built: &built,
                callee,
                args,
            };
            if let Some(portal) = self.exits.virtual_portal(call) {
                let (made, values) = (built.operations, built.values);
                found.insert(
                    i,
                    WithoutObjects {
                        portal,
                        made,
                        values,
                        block: b,
                    },
                );
            }
        }
        found
    }

    /// Emits a portal call: compiled code if it exists, else the interpreter. Virtual arguments are allocated only
    /// for the interpreter. Returns the block after the call.
    fn portal_call(
        &mut self,
        at: BlockId,
        op: &Operation<LowLevel>,
        call: &PortalCall,
        without: Option<WithoutObjects>,
    ) -> BlockId {
        let portal = self.exits.called_portal(call.driver, &call.greens);
        let Some(Called { callee, args, .. }) = op.view().call() else {
            return at;
        };
        let result = self.var(op.result);
        let of = portal.ty.result;
        let passed: Vec<VarId> = (!of.is_void()).then_some(result).into_iter().collect();
        let on = self.g.new_block(passed);
        // Functions of the interpreter notice by themselves that there is no more stack.
        let (look, call) = (self.g.new_block(Vec::new()), self.g.new_block(Vec::new()));
        let used_up = push(&mut self.g, at, View::StackCheck {}, *BOOL);
        let (yes, no) = (Link::new(call, Vec::new()), Link::new(look, Vec::new()));
        branch(&mut self.g, at, used_up, yes, no);
        match without {
            Some(without) => {
                let values = without.values.iter().map(|v| LLOperand::Var(self.var(*v)));
                let values: Vec<LLOperand> = values.collect();
                enter_code(&mut self.g, look, (&without.portal, &values), on, call);
                let block = self.from.block(without.block);
                for i in without.made {
                    self.operation(call, &block.operations[i]);
                }
            }
            None => {
                let args = self.operands(args);
                let reds = &args[args.len() - portal.ty.args.len()..];
                enter_code(&mut self.g, look, (&portal, reds), on, call);
            }
        }
        let (callee, args) = (self.operand(callee), self.operands(args));
        let interpreted = View::DirectCall {
            callee: &callee,
            args: &args,
        };
        let called = push(&mut self.g, call, interpreted, of);
        go_on(&mut self.g, call, on, called);
        on
    }

    /// Emits an `@elidable` call that returned null so far. Once its attempts are used up, the call is skipped and its
    /// result is null. Returns the block after the call.
    fn look(&mut self, at: BlockId, op: &Operation<LowLevel>) -> BlockId {
        let tries = self.exits.tries(op.result);
        let result = self.var(op.result);
        let ty = *self.from.ty(op.result);
        let (looks, on) = (self.g.new_block(Vec::new()), self.g.new_block(vec![result]));
        let counter = &word(tries);
        let enough = push(&mut self.g, at, View::JitCount { counter }, *BOOL);
        let nothing = vec![LLOperand::Const(LLConst::Null(ty))];
        let (yes, no) = (Link::new(on, nothing), Link::new(looks, Vec::new()));
        branch(&mut self.g, at, enough, yes, no);
        let found = self.g.new_var("", ty);
        let call = Operation {
            op: op.op,
            args: op.args.iter().map(|a| self.operand(a)).collect(),
            result: found,
            at: op.at,
        };
        self.g.block_mut(looks).operations.push(call);
        goto(&mut self.g, looks, on, vec![LLOperand::Var(found)]);
        on
    }

    fn is_void(&self, o: &LLOperand) -> bool {
        match o {
            LLOperand::Var(v) => self.from.ty(*v).is_void(),
            LLOperand::Const(c) => c.ty().is_void(),
        }
    }

    fn operation(&mut self, at: BlockId, op: &Operation<LowLevel>) {
        let op = Operation {
            op: op.op,
            args: op.args.iter().map(|a| self.operand(a)).collect(),
            result: self.var(op.result),
            at: op.at,
        };
        self.g.block_mut(at).operations.push(op);
    }

    /// Links as the unit has them. Those that lead to one stub lead to one block.
    fn links(&mut self, exits: &[Link<LowLevel>]) -> Vec<Link<LowLevel>> {
        let mut links: Vec<Link<LowLevel>> = Vec::with_capacity(exits.len());
        for (i, l) in exits.iter().enumerate() {
            let before = exits[..i].iter().position(|b| b.target == l.target);
            let link = match before.filter(|_| l.args.is_empty()) {
                Some(before) => Link::with_case(links[before].target, Vec::new(), l.case.clone()),
                None => self.link(l),
            };
            links.push(link);
        }
        links
    }

    fn link(&mut self, l: &Link<LowLevel>) -> Link<LowLevel> {
        let link = match self.function.stub(l.target) {
            None => self.enter(l.target, &l.args),
            Some(stub) => {
                let at = self.g.new_block(Vec::new());
                for op in &stub.casts {
                    self.operation(at, op);
                }
                let args = self.operands(&stub.args);
                if stub.value.is_some() || self.from.block(stub.target).exits.is_empty() {
                    let cell = self.exits.stub(&stub);
                    let value = stub.value.map(|v| LLOperand::Var(self.var(v)));
                    let values = args.into_iter().chain(value).collect();
                    leave(&mut self.g, at, word(cell), values);
                } else {
                    // Compilation went on there.
                    let link = self.enter(stub.target, &stub.args);
                    self.g.block_mut(at).exits = vec![link];
                }
                Link::new(at, Vec::new())
            }
        };
        Link {
            case: l.case.clone(),
            ..link
        }
    }

    /// The way into a block, or out of the unit if it is not a part of it.
    fn enter(&mut self, target: BlockId, args: &[LLOperand]) -> Link<LowLevel> {
        let args = self.operands(args);
        if target == self.from.returnblock {
            return Link::new(self.g.returnblock, args);
        }
        if self.function.is_entry(target)
            && !self.blocks.contains_key(&target)
            && let Some(cell) = self.exits.entry(target)
        {
            let at = self.g.new_block(Vec::new());
            leave(&mut self.g, at, word(cell), args);
            return Link::new(at, Vec::new());
        }
        Link::new(self.block(target), args)
    }

    /// Has the heads of loops counted, and the start if it can be entered from elsewhere: it may be
    /// a part of a loop through other units.
    fn count(&mut self, start: BlockId) {
        let size = |g: &LLGraph, b: &BlockId| size(g.block(*b));
        let loops = find_loops(&self.g).into_iter();
        let heads: FxHashMap<BlockId, usize> = loops
            .map(|l| (l.header, l.blocks.iter().map(|b| size(&self.g, b)).sum()))
            .collect();
        let all = self.g.reachable();
        let leaves = |op: &Operation<LowLevel>| op.op == PlainOp::JitCount.into();
        let leaves = |b: &BlockId| self.from.block(*b).operations.iter().any(leaves);
        let only_leaves = heads.is_empty() && self.blocks.keys().any(leaves);
        let operations = all.iter().map(|b| size(&self.g, b)).sum();
        let mut counted: FxHashMap<BlockId, BlockId> = FxHashMap::default();
        for (old, copy) in self.blocks.clone() {
            let operations = match heads.get(&copy) {
                Some(operations) => *operations,
                // What leaves to the interpreter counts that.
                None if old != start || only_leaves => continue,
                None => operations,
            };
            if !self.function.is_entry(old) {
                continue;
            }
            let Some((counter, cell)) = self.exits.counter(old, operations) else {
                continue;
            };
            let g = &mut self.g;
            let types: Vec<LLType> = (g.block(copy).inputargs.iter())
                .map(|v| *g.ty(*v))
                .collect();
            let inputs: Vec<VarId> = types.iter().map(|t| g.new_var("", *t)).collect();
            let values: Vec<LLOperand> = inputs.iter().map(|v| LLOperand::Var(*v)).collect();
            let head = g.new_block(inputs);
            counted.insert(copy, head);
            let counter = &word(counter);
            let often = push(g, head, View::JitCount { counter }, *BOOL);
            let out = g.new_block(Vec::new());
            leave(g, out, word(cell), values.clone());
            branch(
                g,
                head,
                often,
                Link::new(out, Vec::new()),
                Link::new(copy, values),
            );
        }
        let counting: FxHashSet<BlockId> = counted.values().copied().collect();
        for (i, block) in self.g.blocks.iter_mut().enumerate() {
            if counting.contains(&BlockId(i as u32)) {
                continue;
            }
            for link in &mut block.exits {
                if let Some(head) = counted.get(&link.target) {
                    link.target = *head;
                }
            }
        }
    }
}

/// Ends a block with a switch. On what machines do not switch, values are compared one
/// after the other.
fn switch(g: &mut LLGraph, at: BlockId, on: LLOperand, mut links: Vec<Link<LowLevel>>) {
    let ty = match &on {
        LLOperand::Var(v) => *g.ty(*v),
        LLOperand::Const(c) => c.ty(),
    };
    if let [only] = &mut links[..] {
        // A promotion that has seen no value.
        only.case = ExitCase::None;
        g.block_mut(at).exits = links;
        return;
    }
    let pointer = matches!(ty.kind(), TypeKind::Ptr(_) | TypeKind::Address);
    if !pointer && *ty.kind() != TypeKind::Float {
        let block = g.block_mut(at);
        block.exitswitch = ExitSwitch::Value(on);
        block.exits = links;
        return;
    }
    let mut at = at;
    let last = links.len() - 1;
    for (i, mut link) in links.into_iter().enumerate() {
        match std::mem::replace(&mut link.case, ExitCase::None) {
            ExitCase::Value(c) if i < last => {
                let equal = equals(g, at, &on, c);
                let next = g.new_block(Vec::new());
                branch(g, at, equal, link, Link::new(next, Vec::new()));
                at = next;
            }
            // The one for all other values is the last.
            _ => {
                g.block_mut(at).exits = vec![link];
                return;
            }
        }
    }
}

/// Whether a pointer or the bits of a float are these.
fn equals(g: &mut LLGraph, at: BlockId, on: &LLOperand, case: LLConst) -> VarId {
    if let LLConst::Float(bits) = case {
        let own = View::ConvertFloatBytesToLonglong { value: on };
        let is_it = View::Binary {
            family: NumFamily::Int,
            op: NumOp::Eq,
            left: &LLOperand::Var(push(g, at, own, *SIGNED)),
            right: &LLOperand::Const(LLConst::signed(bits as i64)),
        };
        return push(g, at, is_it, *BOOL);
    }
    let case = LLOperand::Const(case);
    let is_it = View::PtrEq {
        left: on,
        right: &case,
    };
    push(g, at, is_it, *BOOL)
}

/// A unit that only decides by a promoted value where to go on: one cell for each, with
/// the values that are needed there, and one for all others, which may get the value too.
pub(crate) fn dispatcher(
    name: &str,
    result: LLType,
    types: &[LLType],
    value: LLType,
    cases: Vec<(ExitCase<LowLevel>, usize)>,
    (default, waits): (usize, bool),
) -> LLGraph {
    let (mut g, _, live) = new_unit(name, result, types);
    let start = g.startblock;
    let value = g.new_var("", value);
    g.block_mut(start).inputargs.push(value);
    let operands = |values: &[VarId]| {
        values
            .iter()
            .map(|v| LLOperand::Var(*v))
            .collect::<Vec<_>>()
    };
    let mut links = Vec::new();
    for (case, cell) in cases {
        let at = g.new_block(Vec::new());
        leave(&mut g, at, word(cell), operands(&live));
        links.push(Link::with_case(at, Vec::new(), case));
    }
    let at = g.new_block(Vec::new());
    let mut all = operands(&live);
    if waits {
        all.push(LLOperand::Var(value));
    }
    leave(&mut g, at, word(default), all);
    links.push(Link::with_case(at, Vec::new(), ExitCase::Default));
    switch(&mut g, start, LLOperand::Var(value), links);
    g
}

/// The unit that calls the portal, whose first arguments are given, with the values that it gets.
pub(crate) fn interpreted(
    name: &str,
    result: LLType,
    types: &[LLType],
    callee: &LLOperand,
    greens: &[LLOperand],
) -> LLGraph {
    let (mut g, _, values) = new_unit(name, result, types);
    let start = g.startblock;
    let mut args = greens.to_vec();
    args.extend(values.into_iter().map(LLOperand::Var));
    let call = View::DirectCall {
        callee,
        args: &args,
    };
    let returned = push(&mut g, start, call, result);
    return_value(&mut g, returned, result);
    g
}

/// Ends the first block of a unit with the result of a call.
fn return_value(g: &mut LLGraph, returned: VarId, result: LLType) {
    let value = match result.is_void() {
        true => LLOperand::Const(LLConst::void()),
        false => LLOperand::Var(returned),
    };
    let (start, target) = (g.startblock, g.returnblock);
    goto(g, start, target, vec![value]);
}

/// The unit that leaves values to the interpreter, which goes on when it has returned.
pub(crate) fn left(name: &str, result: LLType, types: &[LLType]) -> LLGraph {
    let (mut g, _, values) = new_unit(name, result, types);
    let start = g.startblock;
    let all = values.into_iter().map(LLOperand::Var);
    let all = std::iter::once(LLOperand::Const(LLConst::signed(1))).chain(all);
    for (i, value) in all.enumerate() {
        // Each value takes a whole word.
        let ty = match &value {
            LLOperand::Var(v) => *g.ty(*v),
            LLOperand::Const(c) => c.ty(),
        };
        let widened = match ty {
            t if t == *BOOL => Some(View::CastBoolToInt { value: &value }),
            t if t == *CHAR => Some(View::CastCharToInt { value: &value }),
            t if t == *UNICHAR => Some(View::CastUnicharToInt { value: &value }),
            _ => None,
        };
        let value = match widened {
            Some(widened) => LLOperand::Var(push(&mut g, start, widened, *SIGNED)),
            None => value,
        };
        let store = View::RawStore {
            address: &word(left_words()),
            offset: &LLOperand::Const(LLConst::signed((i * size_of::<u64>()) as i64)),
            value: &value,
        };
        push(&mut g, start, store, *VOID);
    }
    return_nothing(&mut g, result);
    g
}

/// Ends the first block of a unit whose result is of no use.
fn return_nothing(g: &mut LLGraph, result: LLType) {
    let zero = match taipan_lltype::word_const(0, result) {
        Some(c) => c,
        None => LLConst::Null(result),
    };
    let (start, target) = (g.startblock, g.returnblock);
    goto(g, start, target, vec![LLOperand::Const(zero)]);
}

/// The unit that cells lead to once the compiler has given up: the function raises.
pub(crate) fn failing(
    name: &str,
    result: LLType,
    types: &[LLType],
    exception: [LLConst; 2],
) -> LLGraph {
    let (mut g, ..) = new_unit(name, result, types);
    let start = g.startblock;
    let [class, value] = &exception.map(LLOperand::Const);
    push(&mut g, start, View::ExcSet { class, value }, *VOID);
    return_nothing(&mut g, result);
    g
}
