//! From a coloured graph to a timeshifted one (RPython, 2008: `HintGraphTransformer`).
//!
//! First the control flow: blocks that several links lead to begin with a merge point,
//! switches on red numbers become trees of tests, calls get a color. Then every
//! operation gets the form that its operands' colors ask for, and where states may wait,
//! the slots that they need afterwards.

use std::collections::{BTreeMap, BTreeSet};

use taipan_graph::{BlockId, ExitCase, ExitSwitch, Link, Operation, VarId};
use taipan_lltype::{
    BOOL, CodePlace, ConstantOperand, FuncSym, LLConst, LLGraph, LLOp, LLOperand, LLType, LowLevel,
    NamedOperands, NumFamily, NumOp, PlainOp, SIGNED, STR, TypeKind, UNICODE, View, VoidConst,
    const_word, has_destructor,
};

use crate::annotator::{Annotator, SpecIx, is_call};
use crate::code::{Arg, Slot, SlotInfo, TsBlock, TsExit, TsGraph, TsKind, TsLink, TsOp};
use crate::colors::{CallColor, CallKind, Colors};
use crate::drivers::{MarkerKind, marker_kind, marker_values};
use crate::explain::HintError;
use crate::hints::{Hint, hint_of};
use crate::layout::Shape;
use crate::program::JitProgram;
use crate::purity::{
    field_of, is_helper, is_immutable_array, is_immutable_field, is_quasi_immutable, operand_ty,
    pointee, reads_immutable,
};

/// What timeshifting wants to know about a graph.
pub(crate) trait Coloring {
    fn program(&self) -> &dyn JitProgram;

    /// Whether a variable is green.
    fn green(&self, v: VarId) -> bool;

    /// Whether what a pointer points to never changes.
    fn deepfrozen(&self, pointer: &LLOperand) -> bool;

    /// Emits a call: pushes the operations that it becomes.
    fn call(
        &self,
        place: (BlockId, usize),
        op: &Operation<LowLevel>,
        args: Vec<Arg>,
        t: &mut NewOps<'_>,
    );

    /// Nothing is green, and the specialiser goes by what it knows of values.
    fn online(&self) -> bool;
}

/// Where the operations of a block go.
pub(crate) struct NewOps<'t> {
    pub(crate) ops: &'t mut Vec<TsOp>,
    slots: &'t mut Vec<SlotInfo>,
}

impl NewOps<'_> {
    pub(crate) fn push(&mut self, kind: TsKind, args: Vec<Arg>, result: Option<Slot>) {
        self.ops.push(TsOp {
            kind,
            args,
            result: result.unwrap_or(NO_SLOT),
            live: Vec::new(),
            at: 0,
        });
    }

    /// A red variable that no variable of the graph stands for.
    pub(crate) fn slot(&mut self, ty: LLType) -> Slot {
        self.slots.push(SlotInfo {
            ty,
            green: false,
            name: "".into(),
        });
        self.slots.len() as Slot - 1
    }
}

/// The colors of a function copy.
struct Colored<'a, 'p> {
    a: &'a Annotator<'p>,
    colors: &'a Colors,
    s: SpecIx,
}

impl Coloring for Colored<'_, '_> {
    fn program(&self) -> &dyn JitProgram {
        self.a.program
    }

    fn green(&self, v: VarId) -> bool {
        self.colors.green(self.s, v)
    }

    fn deepfrozen(&self, pointer: &LLOperand) -> bool {
        self.a.binding(self.s, pointer).frozen().reads_constant()
    }

    fn call(
        &self,
        place: (BlockId, usize),
        op: &Operation<LowLevel>,
        args: Vec<Arg>,
        t: &mut NewOps<'_>,
    ) {
        let kind = match self.colors.call_kind(self.a, self.s, place, op) {
            CallKind::Green => TsKind::GreenCall,
            CallKind::Residual => TsKind::ResidualCall,
            CallKind::Inside(color) => {
                TsKind::Call(color, self.a.spec(self.s).calls[&place].clone())
            }
        };
        let merges = matches!(kind, TsKind::Call(CallColor::Yellow, _));
        t.push(kind, args, Some(op.result.0));
        if merges {
            // Some of the states that return may agree after all.
            t.push(TsKind::MergePoint { global: false }, Vec::new(), None);
        }
    }

    fn online(&self) -> bool {
        false
    }
}

/// The helper of dicts that makes the index of a prebuilt one, if it is not there yet.
pub(crate) const ENSURE_INDEX: &str = "rdict.ensure_index";

/// Timeshifts one function copy.
pub(crate) fn timeshift(
    a: &Annotator<'_>,
    colors: &Colors,
    s: SpecIx,
) -> Result<TsGraph, HintError> {
    let graph = &a.spec(s).graph;
    let name = match &*a.spec(s).key {
        "" => graph.name.to_string(),
        key => format!("{}_H{key}", graph.name),
    };
    let colored = Colored { a, colors, s };
    let func = a.spec(s).func.clone();
    timeshift_graph(&colored, graph, name, func, colors.graph(s))
}

/// Timeshifts a graph.
pub(crate) fn timeshift_graph(
    coloring: &dyn Coloring,
    graph: &LLGraph,
    name: String,
    func: FuncSym,
    color: CallColor,
) -> Result<TsGraph, HintError> {
    let slots = graph.vars.iter().enumerate().map(|(i, v)| SlotInfo {
        ty: v.ty,
        green: coloring.green(VarId(i as u32)),
        name: v.name.clone(),
    });
    let mut t = Timeshifter {
        coloring,
        graph,
        out: TsGraph {
            name,
            func,
            color,
            slots: slots.collect(),
            blocks: Vec::new(),
            start: graph.startblock.0,
        },
        merges: BTreeMap::new(),
    };
    t.find_merge_points()?;
    for b in (0..graph.blocks.len()).map(|i| BlockId(i as u32)) {
        let block = t.block(b)?;
        t.out.blocks.push(block);
    }
    if !coloring.online() {
        t.lower_red_switches();
    }
    liveness(&mut t.out);
    t.out.find_loop_heads();
    Ok(t.out)
}

struct Timeshifter<'a> {
    coloring: &'a dyn Coloring,
    graph: &'a LLGraph,
    out: TsGraph,
    /// Blocks where states meet, and whether that is a global merge point.
    merges: BTreeMap<BlockId, bool>,
}

impl Timeshifter<'_> {
    fn find_merge_points(&mut self) -> Result<(), HintError> {
        let mut entries: BTreeMap<BlockId, Vec<BlockId>> = BTreeMap::new();
        for b in self.graph.reachable() {
            for link in &self.graph.block(b).exits {
                entries.entry(link.target).or_default().push(b);
            }
        }
        let several = |b: BlockId| entries.get(&b).is_some_and(|e| e.len() > 1);
        for b in self.graph.reachable() {
            let returns = b == self.graph.returnblock && !self.coloring.online();
            let operations = &self.graph.block(b).operations;
            let of_driver = |op| marker_kind(op) == Some(MarkerKind::MergePoint);
            // There states meet by the greens.
            let by_greens = operations.first().is_some_and(of_driver);
            if several(b) && !returns && !by_greens {
                self.merges.entry(b).or_insert(false);
            }
            let global = |op: &Operation<LowLevel>| hint_of(op) == Some(Hint::GlobalMergePoint);
            if self.coloring.online() {
                // Drivers have merge points of another kind.
                continue;
            }
            if let Some(inside) = operations.iter().skip(1).find(|op| global(op)) {
                return Err(self.stranded(inside.at));
            }
            let Some(first) = operations.first().filter(|op| global(op)) else {
                continue;
            };
            let before = entries.get(&b).and_then(|e| e.first()).copied();
            let at = match before {
                _ if b == self.graph.startblock || several(b) => b,
                Some(before) if several(before) => before,
                _ => return Err(self.stranded(first.at)),
            };
            self.merges.insert(at, true);
        }
        Ok(())
    }

    fn stranded(&self, at: u32) -> HintError {
        HintError {
            message: "a global merge point has to stand at the head of a loop".into(),
            place: Some(CodePlace {
                func: self.out.func.clone(),
                at,
            }),
            label: String::new(),
            path: Vec::new(),
            remedy: Some(
                "make `hint(None, global_merge_point=True)` the first statement of a loop",
            ),
        }
    }

    fn block(&mut self, b: BlockId) -> Result<TsBlock, HintError> {
        let block = self.graph.block(b);
        let mut ops = Vec::new();
        if let Some(global) = self.merges.get(&b) {
            ops.push(self.op(TsKind::MergePoint { global: *global }, Vec::new(), None));
        }
        for (i, op) in block.operations.iter().enumerate() {
            let before = ops.len();
            self.operation((b, i), op, &mut ops);
            for new in &mut ops[before..] {
                new.at = op.at;
            }
        }
        let exit = match &block.exitswitch {
            _ if block.exits.is_empty() => {
                TsExit::Return(block.inputargs.first().map_or(0, |v| v.0))
            }
            ExitSwitch::None => TsExit::Goto(self.link(&block.exits[0])),
            ExitSwitch::LastException => {
                TsExit::Overflow(self.link(&block.exits[0]), self.link(&block.exits[1]))
            }
            ExitSwitch::Value(v) => {
                let links: Vec<TsLink> = block.exits.iter().map(|l| self.link(l)).collect();
                let truth = |l: &TsLink, b: bool| matches!(&l.case, ExitCase::Bool(x) if *x == b);
                let on = self.arg(v);
                let green = self.operand_green(v);
                match &links[..] {
                    [x, y] if !green && truth(x, true) && truth(y, false) => {
                        TsExit::Split(on, x.clone(), y.clone())
                    }
                    [x, y] if !green && truth(x, false) && truth(y, true) => {
                        TsExit::Split(on, y.clone(), x.clone())
                    }
                    _ => TsExit::Switch(on, links),
                }
            }
        };
        Ok(TsBlock {
            inputs: block.inputargs.iter().map(|v| v.0).collect(),
            live: Vec::new(),
            is_head: false,
            ops,
            exit,
        })
    }

    fn op(&self, kind: TsKind, args: Vec<Arg>, result: Option<Slot>) -> TsOp {
        TsOp {
            kind,
            args,
            result: result.unwrap_or(NO_SLOT),
            live: Vec::new(),
            at: 0,
        }
    }

    fn arg(&self, o: &LLOperand) -> Arg {
        match o {
            LLOperand::Var(v) => Arg::Slot(v.0),
            LLOperand::Const(c) => Arg::Const(c.clone()),
        }
    }

    fn link(&self, l: &Link<LowLevel>) -> TsLink {
        TsLink {
            target: l.target.0,
            args: l.args.iter().map(|a| self.arg(a)).collect(),
            case: l.case.clone(),
        }
    }

    fn operation(
        &mut self,
        place: (BlockId, usize),
        op: &Operation<LowLevel>,
        ops: &mut Vec<TsOp>,
    ) {
        let mut args: Vec<Arg> = op.args.iter().map(|o| self.arg(o)).collect();
        let kind = match hint_of(op) {
            Some(Hint::GlobalMergePoint) => return,
            Some(Hint::ReverseSplitQueue) => TsKind::ReverseSplitQueue,
            Some(hint) => {
                let View::Hint { value, .. } = op.view() else {
                    return;
                };
                args = vec![self.arg(value)];
                let ty = operand_ty(self.graph, value);
                let promote = match hint {
                    Hint::Promote => true,
                    Hint::PromoteString => self.coloring.online(),
                    _ => false,
                };
                let string = [STR.ptr(), UNICODE.ptr()].contains(&ty);
                if promote && hint == Hint::PromoteString && string {
                    let mut t = NewOps {
                        ops,
                        slots: &mut self.out.slots,
                    };
                    let unique = t.slot(ty);
                    t.push(TsKind::UniqueString, args, Some(unique));
                    args = vec![Arg::Slot(unique)];
                }
                if promote && !self.operand_green(value) {
                    TsKind::Promote
                } else if hint == Hint::Forget && !self.coloring.online() {
                    TsKind::RevealConst
                } else if hint == Hint::ForceVirtualizable {
                    TsKind::ForceVirtualizable
                } else {
                    TsKind::SameAs
                }
            }
            None if self.makes_index(op) => TsKind::GreenCall,
            None if is_call(op.op) => {
                let mut t = NewOps {
                    ops,
                    slots: &mut self.out.slots,
                };
                self.coloring.call(place, op, args, &mut t);
                return;
            }
            None => match self.special(op, &mut args) {
                Some(kind) => kind,
                None => self.kind(op),
            },
        };
        let View::Getfield { object, field } = op.view() else {
            ops.push(self.op(kind, args, Some(op.result.0)));
            return;
        };
        let program = self.coloring.program();
        let seldom_changes = field_of(self.graph, object, field)
            .is_some_and(|(t, name)| is_quasi_immutable(program, t, name));
        if !seldom_changes || self.coloring.green(op.result) {
            ops.push(self.op(kind, args, Some(op.result.0)));
            return;
        }
        // The specialiser skips the other two after the first.
        if self.coloring.online() {
            ops.push(self.op(TsKind::AssumeField, args.clone(), Some(op.result.0)));
        }
        let promoted = vec![Arg::Slot(op.result.0), self.arg(object), self.arg(field)];
        ops.push(self.op(kind, args, Some(op.result.0)));
        ops.push(self.op(TsKind::PromoteField, promoted, Some(op.result.0)));
    }

    /// Whether an operation makes the index of a prebuilt dict that never changes. That is
    /// left to the first lookup, which may come while compiling.
    fn makes_index(&self, op: &Operation<LowLevel>) -> bool {
        let View::DirectCall {
            callee: LLOperand::Const(LLConst::Func(f)),
            args: [dict, ..],
        } = op.view()
        else {
            return false;
        };
        is_helper(f, ENSURE_INDEX)
            && op.args.iter().all(|o| self.operand_green(o))
            && self.coloring.deepfrozen(dict)
    }

    /// What is an operation of the specialiser in any graph.
    fn special(&self, op: &Operation<LowLevel>, args: &mut Vec<Arg>) -> Option<TsKind> {
        Some(match op.view() {
            View::WeAreJitted {} => {
                *args = vec![Arg::Const(LLConst::Bool(true))];
                TsKind::SameAs
            }
            View::JitIsConstant { .. } => TsKind::IsConstant,
            View::JitIsVirtual { .. } => TsKind::IsVirtual,
            View::JitAssertGreen { .. } => TsKind::AssertGreen,
            View::JitRecordExactClass { .. } => TsKind::RecordExactClass,
            View::JitRecordExactValue { .. } => TsKind::RecordExactValue,
            View::DebugAssert { message: None, .. } => TsKind::RecordNonNull,
            View::DebugAssert { condition, .. } => {
                *args = vec![self.arg(condition)];
                TsKind::CheckIndex
            }
            View::JitTraceLength {} => {
                *args = vec![Arg::Const(LLConst::signed(0))];
                TsKind::SameAs
            }
            View::JitMarker { .. } => match marker_kind(op)? {
                MarkerKind::MergePoint => {
                    let (values, greens) = marker_values(self.graph, op);
                    *args = values.iter().map(|o| self.arg(o)).collect();
                    TsKind::DriverMergePoint { greens }
                }
                MarkerKind::CanEnterJit => {
                    args.clear();
                    TsKind::LoopCloses
                }
            },
            _ => return None,
        })
    }

    fn operand_green(&self, o: &LLOperand) -> bool {
        o.as_var().is_none_or(|v| self.coloring.green(v))
    }

    fn kind(&self, op: &Operation<LowLevel>) -> TsKind {
        let program = self.coloring.program();
        let read = |object: &LLOperand, constant: bool| TsKind::Read {
            op: op.op,
            constant: constant
                || self.coloring.deepfrozen(object)
                || self.coloring.green(op.result),
        };
        let is_gc = |o: &LLOperand| operand_ty(self.graph, o).is_gc_ptr();
        let is_of_gc = |flavor: &LLOperand| {
            let flavor = flavor.as_const();
            matches!(
                flavor,
                Some(LLConst::Void(VoidConst::Flavor { gc: true, .. }))
            )
        };
        match op.view() {
            View::Getfield { object, field } => {
                let field = field_of(self.graph, object, field);
                let constant = field.is_some_and(|(t, name)| is_immutable_field(program, t, name));
                read(object, constant)
            }
            View::Getarrayitem { array, .. } => read(
                array,
                pointee(self.graph, array).is_some_and(is_immutable_array),
            ),
            View::Getinteriorfield { object, path } => {
                read(object, reads_immutable(program, self.graph, object, path))
            }
            View::Getarraysize { array: object } | View::Getinteriorarraysize { object, .. } => {
                read(object, true)
            }
            View::SameAs { .. } => TsKind::SameAs,
            View::CastPointer { .. } => TsKind::Cast,
            // An object that is erased is the same object.
            View::CastOpaquePtr { value }
                if is_gc(value) && self.graph.ty(op.result).is_gc_ptr() =>
            {
                TsKind::Cast
            }
            View::Malloc { ty, flavor, .. } if !has_destructor(op) => match ty.as_type() {
                Some(ty) if is_of_gc(flavor) && Shape::of(program, ty).is_some() => {
                    TsKind::Malloc(ty)
                }
                _ => TsKind::Plain(op.op),
            },
            View::MallocVarsize { ty, flavor, .. } => match ty.as_type() {
                Some(ty) if is_of_gc(flavor) && ty.is_gc_container() => TsKind::MallocVarsize(ty),
                _ => TsKind::Plain(op.op),
            },
            View::ExcOccurred {} => TsKind::ExcOccurred,
            View::ExcType {} => TsKind::ExcType,
            View::ExcValue {} => TsKind::ExcValue,
            View::ExcSet { .. } => TsKind::ExcSet,
            View::ExcClear {} => TsKind::ExcClear,
            _ => TsKind::Plain(op.op),
        }
    }

    // Switches on red numbers.

    /// Turns them into trees of tests.
    fn lower_red_switches(&mut self) {
        for b in 0..self.out.blocks.len() as u32 {
            let TsExit::Switch(Arg::Slot(on), links) = &self.out.blocks[b as usize].exit else {
                continue;
            };
            let (on, links) = (*on, links.clone());
            let info = self.out.slots[on as usize].clone();
            if info.green || info.ty == *BOOL {
                continue;
            }
            let mut cases: Vec<(i128, LLConst, TsLink)> = Vec::new();
            let mut default = None;
            for link in links {
                match &link.case {
                    ExitCase::Value(c) => {
                        let word = const_word(c).unwrap_or_default();
                        let plain = TsLink::to(link.target, link.args.clone());
                        cases.push((word, c.clone(), plain));
                    }
                    _ => default = Some(TsLink::to(link.target, link.args.clone())),
                }
            }
            cases.sort_by_key(|c| c.0);
            let on = self.as_signed(b, on, info.ty);
            self.search(b, on, &cases, default.as_ref());
        }
    }

    /// The number that a switch is on, as a Signed.
    fn as_signed(&mut self, b: u32, on: Slot, ty: LLType) -> Slot {
        let cast = match ty.kind() {
            TypeKind::Char => PlainOp::CastCharToInt,
            TypeKind::UniChar => PlainOp::CastUnicharToInt,
            _ if ty == *SIGNED => return on,
            _ => PlainOp::CastPrimitive,
        };
        self.emit(b, cast.into(), vec![Arg::Slot(on)], *SIGNED)
    }

    fn emit(&mut self, b: u32, op: LLOp, args: Vec<Arg>, ty: LLType) -> Slot {
        let slot = self.out.slots.len() as Slot;
        self.out.slots.push(SlotInfo {
            ty,
            green: false,
            name: "".into(),
        });
        let op = self.op(TsKind::Plain(op), args, Some(slot));
        self.out.blocks[b as usize].ops.push(op);
        slot
    }

    fn search(
        &mut self,
        b: u32,
        on: Slot,
        cases: &[(i128, LLConst, TsLink)],
        default: Option<&TsLink>,
    ) {
        let exit = match (cases, default) {
            ([], None) => return,
            ([], Some(default)) => TsExit::Goto(default.clone()),
            ([only], None) => TsExit::Goto(only.2.clone()),
            _ => {
                // Few cases are tested one by one, from the largest.
                let few = cases.len() <= 3;
                let at = if few {
                    cases.len() - 1
                } else {
                    cases.len() / 2
                };
                let test = LLOp::Num(NumFamily::Int, if few { NumOp::Eq } else { NumOp::Ge });
                let limit = Arg::Const(LLConst::signed(cases[at].0 as i64));
                let truth = self.emit(b, test, vec![Arg::Slot(on), limit], *BOOL);
                let no = self.new_block();
                self.search(no, on, &cases[..at], default);
                let yes = if few {
                    cases[at].2.clone()
                } else {
                    let yes = self.new_block();
                    self.search(yes, on, &cases[at..], default);
                    TsLink::to(yes, Vec::new())
                };
                TsExit::Split(Arg::Slot(truth), yes, TsLink::to(no, Vec::new()))
            }
        };
        self.out.blocks[b as usize].exit = exit;
    }

    fn new_block(&mut self) -> u32 {
        self.out.blocks.push(TsBlock {
            inputs: Vec::new(),
            live: Vec::new(),
            is_head: false,
            ops: Vec::new(),
            exit: TsExit::Return(0),
        });
        self.out.blocks.len() as u32 - 1
    }
}

/// The result of operations that have none.
pub(crate) const NO_SLOT: Slot = Slot::MAX;

/// Whether an operation reads or writes an item of an array.
pub(crate) fn is_item_access(kind: &TsKind) -> bool {
    match kind {
        TsKind::Read { op, .. } => *op == PlainOp::Getarrayitem.into(),
        TsKind::Plain(op) => *op == PlainOp::Setarrayitem.into(),
        _ => false,
    }
}

/// Notes at each operation where states wait or meet which slots are used afterwards.
fn liveness(g: &mut TsGraph) {
    let mut live_in: Vec<BTreeSet<Slot>> = vec![BTreeSet::new(); g.blocks.len()];
    let used = |set: &mut BTreeSet<Slot>, args: &[Arg]| {
        for a in args {
            if let Arg::Slot(s) = a {
                set.insert(*s);
            }
        }
    };
    loop {
        let mut changed = false;
        for b in (0..g.blocks.len()).rev() {
            let mut live = BTreeSet::new();
            let mut leave = |link: &TsLink| {
                let target = &g.blocks[link.target as usize];
                let inner = &live_in[link.target as usize];
                for (arg, input) in link.args.iter().zip(&target.inputs) {
                    if inner.contains(input) {
                        used(&mut live, std::slice::from_ref(arg));
                    }
                }
                live.extend(inner.iter().filter(|s| !target.inputs.contains(s)));
            };
            g.blocks[b].exit.links().for_each(&mut leave);
            match &g.blocks[b].exit {
                TsExit::Switch(on, _) | TsExit::Split(on, ..) => {
                    used(&mut live, std::slice::from_ref(on));
                }
                TsExit::Return(s) => {
                    live.insert(*s);
                }
                _ => {}
            }
            for op in g.blocks[b].ops.iter_mut().rev() {
                live.remove(&op.result);
                if is_item_access(&op.kind)
                    || matches!(
                        op.kind,
                        TsKind::MergePoint { .. }
                            | TsKind::Call(..)
                            | TsKind::Inline(_)
                            | TsKind::ElidableCall
                            | TsKind::Promote
                            | TsKind::PromoteField
                            | TsKind::AssumeField
                            | TsKind::DriverMergePoint { .. }
                    )
                {
                    op.live = live.iter().copied().collect();
                    if matches!(
                        op.kind,
                        TsKind::Promote
                            | TsKind::PromoteField
                            | TsKind::AssumeField
                            | TsKind::DriverMergePoint { .. }
                    ) {
                        // The value is asked for again once it is known.
                        used(&mut live, &op.args);
                        op.live = live.iter().copied().collect();
                    }
                }
                used(&mut live, &op.args);
            }
            if live_in[b] != live {
                live_in[b] = live;
                changed = true;
            }
        }
        if !changed {
            for (block, live) in g.blocks.iter_mut().zip(live_in) {
                block.live = live.into_iter().collect();
            }
            return;
        }
    }
}
