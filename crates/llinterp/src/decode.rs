//! From graphs to instructions: types, fields and names are resolved here, once.

mod memory;

use std::sync::Arc;

use rustc_hash::FxHashMap;
use taipan_graph::{Block, BlockId, ExitCase, ExitSwitch, Link, Operation, VarId};
use taipan_lltype::{
    Access, FuncSym, Heap, LLConst, LLGraph, LLOp, LLOperand, LLType, LowLevel, NumFamily, NumOp,
    PlainOp, TypeKind, VOID, VoidConst, conversion, has_destructor,
};

use crate::code::{CONSTANT, Code, Handler, Inst, LinkCode, Opnd, OpndList, SwitchTable};

/// A reason why an operation cannot be run.
type Bad = String;

pub(crate) fn decode(func: &FuncSym, graph: Arc<LLGraph>, heap: &mut Heap<'_>) -> Code {
    let mut slots = 0;
    let mut slot_of = Vec::with_capacity(graph.vars.len());
    for v in &graph.vars {
        slot_of.push(slots);
        slots += if is_wide(v.ty) { 2 } else { 1 };
    }
    let args = graph
        .args()
        .iter()
        .map(|v| (slot_of[v.index()], *graph.ty(*v)))
        .collect();
    let code = Code {
        slots,
        slot_of,
        args,
        result: *graph.ty(graph.returnvar()),
        func: func.clone(),
        graph,
        constants: Vec::new(),
        insts: Vec::new(),
        places: Vec::new(),
        lists: Vec::new(),
        links: Vec::new(),
        switches: Vec::new(),
        handlers: Vec::new(),
        shapes: Vec::new(),
        types: Vec::new(),
        faults: Vec::new(),
    };
    let mut d = Decoder {
        code,
        heap,
        constant_ids: FxHashMap::default(),
        place: (BlockId(0), 0),
    };
    d.graph();
    d.code
}

/// Whether a block ends in an allocation that may find the nursery full.
fn is_nursery(block: &Block<LowLevel>) -> bool {
    let last = block.operations.last();
    last.is_some_and(|op| op.op == PlainOp::GcMallocNursery.into()) && block.exits.len() == 2
}

fn is_wide(ty: LLType) -> bool {
    Access::of(ty) == Some(Access::W128)
}

struct Decoder<'a, 'p> {
    code: Code,
    heap: &'a mut Heap<'p>,
    constant_ids: FxHashMap<(u64, u64), u32>,
    place: (BlockId, u32),
}

impl Decoder<'_, '_> {
    fn graph(&mut self) {
        let graph = self.code.graph.clone();
        let mut start_of = vec![u32::MAX; graph.blocks.len()];
        let mut order = graph.reachable();
        // Of graphs that grow, code may still be where nothing leads to any more.
        let mut left: Vec<bool> = graph.blocks.iter().map(|b| !b.exits.is_empty()).collect();
        for b in &order {
            left[b.index()] = false;
        }
        let blocks = (0..graph.blocks.len()).map(|i| BlockId(i as u32));
        order.extend(blocks.filter(|b| left[b.index()]));
        for b in order {
            start_of[b.index()] = self.code.insts.len() as u32;
            self.block(&graph, b);
        }
        for link in &mut self.code.links {
            link.target = start_of[link.target as usize];
        }
    }

    fn emit(&mut self, inst: Inst) {
        self.code.insts.push(inst);
        self.code.places.push(self.place);
    }

    fn block(&mut self, graph: &LLGraph, id: BlockId) {
        let block = graph.block(id);
        for (i, op) in block.operations.iter().enumerate() {
            self.place = (id, i as u32);
            if let Err(message) = self.operation(graph, op) {
                self.code.faults.push(message);
                let message = self.code.faults.len() as u32 - 1;
                self.emit(Inst::Fault { message });
            }
        }
        self.place = (id, block.operations.len() as u32);
        if id == graph.exceptblock {
            let [etype, evalue] = [0, 1].map(|i| Opnd(self.slot(block.inputargs[i])));
            return self.emit(Inst::Raise { etype, evalue });
        }
        if block.exits.is_empty() {
            let v = block.inputargs.first().map_or(0, |v| self.slot(*v));
            return self.emit(Inst::Return { v: Opnd(v) });
        }
        let links: Vec<u32> = block.exits.iter().map(|l| self.link(l)).collect();
        match &block.exitswitch {
            ExitSwitch::None => self.emit(Inst::Goto { link: links[0] }),
            ExitSwitch::LastException if is_nursery(block) => {
                if let Some(Inst::Malloc { ty, dst, .. }) = self.code.insts.pop() {
                    self.code.insts.push(Inst::Nursery {
                        ty,
                        full: links[1],
                        dst,
                    });
                }
                self.emit(Inst::Goto { link: links[0] });
            }
            ExitSwitch::LastException => {
                let handlers = (block.exits[1..].iter().zip(&links[1..]))
                    .filter_map(|(l, link)| self.handler(l, *link))
                    .collect();
                let at = (self.code.insts.len() as u32).saturating_sub(1);
                self.code.handlers.push((at, handlers));
                self.emit(Inst::Goto { link: links[0] });
            }
            ExitSwitch::Value(v) => self.switch(graph, v, &block.exits, &links),
        }
    }

    fn handler(&mut self, l: &Link<LowLevel>, link: u32) -> Option<Handler> {
        let ExitCase::Exception(class) = &l.case else {
            return None;
        };
        Some(Handler {
            class: self.heap.const_value(class) as u64,
            etype: l.last_exception.map(|v| self.slot(v)),
            evalue: l.last_exc_value.map(|v| self.slot(v)),
            link,
        })
    }

    fn switch(&mut self, g: &LLGraph, v: &LLOperand, exits: &[Link<LowLevel>], links: &[u32]) {
        let wide = is_wide(self.ty(g, v));
        let v = self.opnd(v);
        if let [ExitCase::Bool(first), ExitCase::Bool(second)] =
            [&exits[0].case, &exits[exits.len() - 1].case]
            && first != second
        {
            let (yes, no) = if *first {
                (links[0], links[1])
            } else {
                (links[1], links[0])
            };
            return self.emit(Inst::Branch { cond: v, yes, no });
        }
        let mut table = SwitchTable {
            cases: Vec::new(),
            default: None,
        };
        for (l, link) in exits.iter().zip(links) {
            match &l.case {
                ExitCase::Bool(b) => table.cases.push((i128::from(*b), *link)),
                ExitCase::Value(c) => table.cases.push((self.heap.const_value(c), *link)),
                _ => table.default = Some(*link),
            }
        }
        table.cases.sort_by_key(|c| c.0);
        self.code.switches.push(table);
        let table = self.code.switches.len() as u32 - 1;
        self.emit(Inst::Switch { v, wide, table });
    }

    fn link(&mut self, l: &Link<LowLevel>) -> u32 {
        let graph = self.code.graph.clone();
        let mut moves = Vec::new();
        for (arg, to) in l.args.iter().zip(&graph.block(l.target).inputargs) {
            let ty = *graph.ty(*to);
            if ty.is_void() {
                continue;
            }
            let (from, to) = (self.opnd(arg), self.slot(*to));
            if from.0 != to {
                moves.push((from, to));
                if is_wide(ty) {
                    moves.push((from.high(), to + 1));
                }
            }
        }
        let overlapping = (1..moves.len()).any(|i| moves[..i].iter().any(|m| m.1 == moves[i].0.0));
        // The target is a block here; `graph` turns it into an instruction.
        self.code.links.push(LinkCode {
            target: l.target.0,
            moves,
            overlapping,
        });
        self.code.links.len() as u32 - 1
    }

    // Operands.

    fn slot(&self, v: VarId) -> u32 {
        self.code.slot_of[v.index()]
    }

    fn scratch(&mut self) -> u32 {
        self.code.slots += 1;
        self.code.slots - 1
    }

    fn constant(&mut self, w: i128) -> Opnd {
        let (low, high) = (w as u64, (w >> 64) as u64);
        let constants = &mut self.code.constants;
        let i = *self.constant_ids.entry((low, high)).or_insert_with(|| {
            constants.extend([low, high]);
            constants.len() as u32 - 2
        });
        Opnd(CONSTANT | i)
    }

    fn opnd(&mut self, o: &LLOperand) -> Opnd {
        match o {
            LLOperand::Var(v) => Opnd(self.slot(*v)),
            LLOperand::Const(c) => {
                let w = self.heap.const_value(c);
                self.constant(w)
            }
        }
    }

    fn opnds<'a>(&mut self, os: impl IntoIterator<Item = &'a LLOperand>) -> OpndList {
        let opnds: Vec<Opnd> = os.into_iter().map(|o| self.opnd(o)).collect();
        let start = self.code.lists.len() as u32;
        let len = opnds.len() as u32;
        self.code.lists.extend(opnds);
        OpndList { start, len }
    }

    fn ty(&self, g: &LLGraph, o: &LLOperand) -> LLType {
        match o {
            LLOperand::Var(v) => *g.ty(*v),
            LLOperand::Const(c) => c.ty(),
        }
    }

    fn type_id(&mut self, ty: LLType) -> u32 {
        match self.code.types.iter().position(|t| *t == ty) {
            Some(i) => i as u32,
            None => {
                self.code.types.push(ty);
                self.code.types.len() as u32 - 1
            }
        }
    }

    fn pointee(&self, g: &LLGraph, o: &LLOperand) -> Result<LLType, Bad> {
        let ty = self.ty(g, o);
        ty.pointee()
            .ok_or_else(|| format!("{ty} where a pointer is needed"))
    }

    // Operations.

    fn operation(&mut self, g: &LLGraph, op: &Operation<LowLevel>) -> Result<(), Bad> {
        let dst = self.slot(op.result);
        match op.op {
            LLOp::Num(family, num) => self.num(family, num, op, dst),
            LLOp::Plain(p) => self.plain(g, p, op, dst),
        }
    }

    fn num(
        &mut self,
        family: NumFamily,
        num: NumOp,
        op: &Operation<LowLevel>,
        dst: u32,
    ) -> Result<(), Bad> {
        let a = self.opnd(arg(op, 0)?);
        let b = op.args.get(1).map_or(a, |b| self.opnd(b));
        if matches!(family, NumFamily::Lllong | NumFamily::Ulllong) {
            let signed = family == NumFamily::Lllong;
            let b_wide = !matches!(num, NumOp::LShift | NumOp::RShift);
            let dst_wide = !is_comparison(num);
            self.emit(Inst::Wide {
                signed,
                op: num,
                a,
                b,
                b_wide,
                dst,
                dst_wide,
            });
        } else {
            self.emit(Inst::Num {
                family,
                op: num,
                a,
                b,
                dst,
            });
        }
        Ok(())
    }

    fn plain(
        &mut self,
        g: &LLGraph,
        p: PlainOp,
        op: &Operation<LowLevel>,
        dst: u32,
    ) -> Result<(), Bad> {
        use PlainOp::*;
        let uint = |family_op, a, b| Inst::Num {
            family: NumFamily::Uint,
            op: family_op,
            a,
            b,
            dst,
        };
        match p {
            DirectCall | IndirectCall => self.call(g, p, op, dst)?,
            JitConditionalCall | JitConditionalCallValue => self.conditional_call(g, p, op, dst)?,
            BoolNot | PtrIszero => {
                let (a, zero) = (self.opnd(arg(op, 0)?), self.constant(0));
                self.emit(uint(NumOp::Eq, a, zero));
            }
            PtrNonzero => {
                let a = self.opnd(arg(op, 0)?);
                self.emit(uint(NumOp::IsTrue, a, a));
            }
            PtrEq | AdrEq | PtrNe | AdrNe | AdrLt | AdrLe | AdrGt | AdrGe => {
                let (a, b) = (self.opnd(arg(op, 0)?), self.opnd(arg(op, 1)?));
                let num = match p {
                    PtrEq | AdrEq => NumOp::Eq,
                    PtrNe | AdrNe => NumOp::Ne,
                    AdrLt => NumOp::Lt,
                    AdrLe => NumOp::Le,
                    AdrGt => NumOp::Gt,
                    _ => NumOp::Ge,
                };
                self.emit(uint(num, a, b));
            }
            AdrAdd | AdrSub | AdrDelta => {
                let (a, b) = (self.opnd(arg(op, 0)?), self.opnd(arg(op, 1)?));
                self.emit(uint(
                    if p == AdrAdd { NumOp::Add } else { NumOp::Sub },
                    a,
                    b,
                ));
            }
            IntBetween => {
                let [a, b, c] = [
                    self.opnd(arg(op, 0)?),
                    self.opnd(arg(op, 1)?),
                    self.opnd(arg(op, 2)?),
                ];
                self.emit(Inst::Between { a, b, c, dst });
            }
            IntForceGeZero => {
                let a = self.opnd(arg(op, 0)?);
                self.emit(Inst::ForceGeZero { a, dst });
            }
            UintMulHigh => {
                let (a, b) = (self.opnd(arg(op, 0)?), self.opnd(arg(op, 1)?));
                self.emit(Inst::MulHigh { a, b, dst });
            }
            IntAddOvf | IntAddNonnegOvf | IntSubOvf | IntMulOvf => {
                let (a, b) = (self.opnd(arg(op, 0)?), self.opnd(arg(op, 1)?));
                self.emit(Inst::Ovf { op: p, a, b, dst });
            }
            conversion!() | ForceCast => self.convert(g, op, dst)?,
            SameAs
            | Likely
            | Unlikely
            | Hint
            | JitForceVirtual
            | CastPtrToInt
            | CastIntToPtr
            | CastPtrToAdr
            | CastAdrToPtr
            | CastAdrToInt
            | CastIntToAdr
            | ConvertFloatBytesToLonglong
            | ConvertLonglongBytesToFloat => {
                let ty = *g.ty(op.result);
                let a = self.opnd(arg(op, 0)?);
                self.move_value(a, dst, ty);
            }
            CastPointer | CastOpaquePtr => {
                let to = *g.ty(op.result);
                let to = to.pointee().ok_or_else(|| format!("cast to {to}"))?;
                let a = self.opnd(arg(op, 0)?);
                if matches!(to.kind(), TypeKind::Struct(_)) {
                    let to = self.type_id(to);
                    self.emit(Inst::CheckCast { a, to, dst });
                } else {
                    self.emit(Inst::Move { a, dst });
                }
            }
            Malloc | MallocVarsize | GcMallocFilled | GcMallocNursery => self.malloc(p, op, dst)?,
            Getfield | Getsubstruct | DirectFieldptr => {
                let ty = self.pointee(g, arg(op, 0)?)?;
                let (offset, field) = self.field(ty, arg(op, 1)?)?;
                let p0 = self.opnd(arg(op, 0)?);
                match Access::of(field) {
                    Some(access) if p == Getfield => self.load(p0, offset, access, dst),
                    _ => self.offset(p0, offset, dst),
                }
            }
            Setfield | BareSetfield => {
                let ty = self.pointee(g, arg(op, 0)?)?;
                let (offset, field) = self.field(ty, arg(op, 1)?)?;
                let (p0, v) = (self.opnd(arg(op, 0)?), self.opnd(arg(op, 2)?));
                self.store(p0, offset, field, v)?;
            }
            Getarrayitem | Getarraysubstruct => {
                let shape = self.item_shape(self.pointee(g, arg(op, 0)?)?)?;
                let (p0, index) = (self.opnd(arg(op, 0)?), self.opnd(arg(op, 1)?));
                self.get_item(p0, index, shape, dst);
            }
            Setarrayitem | BareSetarrayitem => {
                let shape = self.item_shape(self.pointee(g, arg(op, 0)?)?)?;
                let [p0, index, v] = [
                    self.opnd(arg(op, 0)?),
                    self.opnd(arg(op, 1)?),
                    self.opnd(arg(op, 2)?),
                ];
                self.set_item(p0, index, shape, v)?;
            }
            Getarraysize => {
                let ty = self.pointee(g, arg(op, 0)?)?;
                let p0 = self.opnd(arg(op, 0)?);
                self.array_size(p0, 0, ty, dst)?;
            }
            Getinteriorfield | Setinteriorfield | BareSetinteriorfield | Getinteriorarraysize => {
                self.interior(g, p, op, dst)?;
            }
            DirectArrayitems => {
                let shape = self.item_shape(self.pointee(g, arg(op, 0)?)?)?;
                let p0 = self.opnd(arg(op, 0)?);
                self.offset(p0, shape.start, dst);
            }
            DirectPtradd => {
                let mut shape = self.item_shape(self.pointee(g, arg(op, 0)?)?)?;
                (shape.length, shape.fixed, shape.start) = (None, None, 0);
                let (p, index) = (self.opnd(arg(op, 0)?), self.opnd(arg(op, 1)?));
                let shape = self.shape_id(shape);
                self.emit(Inst::ItemAddr {
                    p,
                    index,
                    shape,
                    dst,
                });
            }
            RawLoad => {
                let access = access_of(*g.ty(op.result))?;
                let at = self.address_sum(arg(op, 0)?, arg(op, 1)?);
                self.load(at, 0, access, dst);
            }
            RawStore => {
                let ty = self.ty(g, arg(op, 2)?);
                let at = self.address_sum(arg(op, 0)?, arg(op, 1)?);
                let v = self.opnd(arg(op, 2)?);
                self.store(at, 0, ty, v)?;
            }
            GcLoadIndexed => {
                let access = access_of(*g.ty(op.result))?;
                let at = self.indexed(arg(op, 0)?, arg(op, 1)?, arg(op, 2)?, arg(op, 3)?);
                self.load(at, 0, access, dst);
            }
            GcStoreIndexed => {
                let ty = self.ty(g, arg(op, 2)?);
                let at = self.indexed(arg(op, 0)?, arg(op, 1)?, arg(op, 3)?, arg(op, 4)?);
                let v = self.opnd(arg(op, 2)?);
                self.store(at, 0, ty, v)?;
            }
            JitMarker
            | JitAssertGreen
            | JitSetParam
            | JitForceVirtualizable
            | JitForceQuasiImmutable
            | JitRecordExactClass
            | JitRecordExactValue
            | JitRecordKnownResult
            | Keepalive
            | DebugPrintTraceback
            | GcCollectMinor
            | GcWritebarrier
            | ZeroGcPointersInside
            | DebugStartTraceback
            | DebugRecordTraceback
            | DebugCatchException
            | DebugReraiseTraceback
            | DebugPrint => {}
            WeAreJitted | JitIsConstant | JitIsVirtual => {
                let a = self.constant(0);
                self.emit(Inst::Move { a, dst });
            }
            JitTraceLength => {
                let a = self.constant(-1);
                self.emit(Inst::Move { a, dst });
            }
            GcCanMove => {
                // Objects stay where they are here, but new ones move as machine code.
                let a = self.constant(1);
                self.emit(Inst::Move { a, dst });
            }
            GcWritebarrierBeforeCopy => {
                let a = self.constant(1);
                self.emit(Inst::Move { a, dst });
            }
            ShrinkArray | Free | RawMalloc | RawMallocUsage | RawFree | RawMemclear | RawMemset
            | RawMemcopy | RawMemmove | JitEnter | JitExit | JitCount | JitInvalidated
            | GcCollect | GcFqRegister | GcFqNextDead | GcIdentityhash | GcId | GcSaveRoot
            | GcRestoreRoot | GcEnterRootsFrame | GcLeaveRootsFrame | GcCopyArray
            | WeakrefCreate | WeakrefDeref | StackCheck | ThreadlocalrefGet
            | ThreadlocalrefStore | LlReadTimestamp | LlGetTimestampUnit | DebugAssert
            | DebugFatalerror | ExcType | ExcValue | ExcOccurred | ExcSet | ExcClear => {
                // Done by name, on the words of the operands.
                let ty = match op.args.first() {
                    Some(a) => self.ty(g, a),
                    None => *VOID,
                };
                let ty = self.type_id(ty);
                let args = self.opnds(&op.args);
                self.emit(Inst::Other {
                    op: p,
                    args,
                    ty,
                    dst,
                });
            }
        }
        Ok(())
    }

    fn move_value(&mut self, a: Opnd, dst: u32, ty: LLType) {
        self.emit(Inst::Move { a, dst });
        if is_wide(ty) {
            self.emit(Inst::Move {
                a: a.high(),
                dst: dst + 1,
            });
        }
    }

    fn convert(&mut self, g: &LLGraph, op: &Operation<LowLevel>, dst: u32) -> Result<(), Bad> {
        let (from, to) = (self.ty(g, arg(op, 0)?), *g.ty(op.result));
        let a = self.opnd(arg(op, 0)?);
        let (Some(fa), Some(ta)) = (Access::of(from), Access::of(to)) else {
            return Err(format!("cast from {from} to {to}"));
        };
        let is_float = |t: LLType| matches!(t.kind(), TypeKind::Float | TypeKind::SingleFloat);
        let same = fa == ta || ta == Access::W64 && fa.size() < 8;
        if same && !is_float(from) && !is_float(to) && !matches!(to.kind(), TypeKind::Bool) {
            self.move_value(a, dst, to);
        } else {
            let (from, to) = (self.type_id(from), self.type_id(to));
            self.emit(Inst::Convert { a, from, to, dst });
        }
        Ok(())
    }

    fn call(
        &mut self,
        g: &LLGraph,
        p: PlainOp,
        op: &Operation<LowLevel>,
        dst: u32,
    ) -> Result<(), Bad> {
        let mut args = &op.args[1..];
        if p == PlainOp::IndirectCall
            && matches!(
                args.last(),
                Some(LLOperand::Const(LLConst::Void(
                    VoidConst::Targets(_) | VoidConst::None
                )))
            )
            && self
                .pointee(g, arg(op, 0)?)?
                .as_func()
                .is_some_and(|f| f.args.len() < args.len())
        {
            args = &args[..args.len() - 1];
        }
        self.call_of(g, arg(op, 0)?, args, dst)
    }

    /// Arguments of calls: those that exist at run time, in two places each where wide.
    fn call_of(
        &mut self,
        g: &LLGraph,
        f: &LLOperand,
        args: &[LLOperand],
        dst: u32,
    ) -> Result<(), Bad> {
        let mut opnds = Vec::new();
        for a in args {
            let ty = self.ty(g, a);
            if ty.is_void() {
                continue;
            }
            let o = self.opnd(a);
            opnds.push(o);
            if is_wide(ty) {
                opnds.push(o.high());
            }
        }
        let list = OpndList {
            start: self.code.lists.len() as u32,
            len: opnds.len() as u32,
        };
        self.code.lists.extend(opnds);
        match f {
            LLOperand::Const(LLConst::Func(f) | LLConst::Void(VoidConst::Func(f))) => {
                let func = (self.heap.func_addr(f) >> 32) as u32 & !CONSTANT;
                self.emit(Inst::Call {
                    func,
                    args: list,
                    dst,
                });
            }
            _ => {
                let func = self.opnd(f);
                self.emit(Inst::CallIndirect {
                    func,
                    args: list,
                    dst,
                });
            }
        }
        Ok(())
    }

    /// `jit_conditional_call(condition, f, ...)`, and `.._value(value, f, ...)`, whose
    /// result is `value` unless that is zero or null.
    fn conditional_call(
        &mut self,
        g: &LLGraph,
        p: PlainOp,
        op: &Operation<LowLevel>,
        dst: u32,
    ) -> Result<(), Bad> {
        let mut cond = self.opnd(arg(op, 0)?);
        if p == PlainOp::JitConditionalCallValue {
            self.emit(Inst::Move { a: cond, dst });
            let (zero, flag) = (self.constant(0), self.scratch());
            self.emit(Inst::Num {
                family: NumFamily::Uint,
                op: NumOp::Eq,
                a: cond,
                b: zero,
                dst: flag,
            });
            cond = Opnd(flag);
        }
        let skip = self.code.insts.len();
        self.emit(Inst::SkipIfZero { cond, to: 0 });
        self.call_of(g, arg(op, 1)?, &op.args[2..], dst)?;
        // Handlers belong to the last instruction, so the call must be it.
        let to = self.code.insts.len() as u32;
        self.code.insts[skip] = Inst::SkipIfZero { cond, to };
        Ok(())
    }

    fn malloc(&mut self, p: PlainOp, op: &Operation<LowLevel>, dst: u32) -> Result<(), Bad> {
        let LLOperand::Const(LLConst::Void(VoidConst::Type(ty))) = arg(op, 0)? else {
            return Err("malloc of what is no constant type".into());
        };
        let zero = match op.args.get(1) {
            Some(LLOperand::Const(LLConst::Void(VoidConst::Flavor { zero, .. }))) => *zero,
            _ => false,
        };
        let length = match p {
            PlainOp::MallocVarsize | PlainOp::GcMallocFilled => self.opnd(arg(op, 2)?),
            _ => self.constant(0),
        };
        let ty = self.type_id(*ty);
        self.emit(Inst::Malloc {
            ty,
            length,
            zero,
            dst,
        });
        if has_destructor(op) {
            self.emit(Inst::Finalize { p: Opnd(dst) });
        }
        Ok(())
    }
}

fn arg(op: &Operation<LowLevel>, i: usize) -> Result<&LLOperand, Bad> {
    op.args
        .get(i)
        .ok_or_else(|| format!("{} has too few operands", op.op))
}

fn access_of(ty: LLType) -> Result<Access, Bad> {
    Access::of(ty).ok_or_else(|| format!("{ty} is not loaded or stored as one value"))
}

fn is_comparison(op: NumOp) -> bool {
    use NumOp::*;
    matches!(op, IsTrue | Lt | Le | Eq | Ne | Gt | Ge)
}
