//! From graphs to instructions: types, fields and names are resolved here, once.

mod memory;

use std::sync::Arc;

use rustc_hash::FxHashMap;
use taipan_graph::{Block, BlockId, ExitCase, ExitSwitch, Link, Operation, VarId};
use taipan_lltype::{
    Access, ConstantOperand, FuncSym, Heap, LLConst, LLGraph, LLOperand, LLType, LowLevel,
    NumFamily, NumOp, PlainOp, TIMESTAMP_UNIT, TypeKind, View, VoidConst, has_destructor,
};

use crate::by_name::{self, Run};
use crate::code::{CONSTANT, Code, Handler, Inst, LinkCode, Opnd, OpndList, SwitchTable};
use memory::Interior;

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
    let takes = [PlainOp::GcMallocNursery, PlainOp::GcReserve];
    last.is_some_and(|op| takes.iter().any(|p| op.op == (*p).into())) && block.exits.len() == 2
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

    #[expect(
        clippy::too_many_lines,
        reason = "a table: an arm per operation, with few lines each"
    )]
    fn operation(&mut self, g: &LLGraph, op: &Operation<LowLevel>) -> Result<(), Bad> {
        let dst = self.slot(op.result);
        let ty = *g.ty(op.result);
        let view = View::of(op.op, &op.args)
            .ok_or_else(|| format!("{} of {} operands", op.op, op.args.len()))?;
        match view {
            View::Unary { family, op, value } => self.num(family, op, [value, value], dst),
            View::Binary {
                family,
                op,
                left,
                right,
            } => self.num(family, op, [left, right], dst),
            View::DirectCall { callee, args } | View::IndirectCall { callee, args, .. } => {
                self.call(g, callee, args, dst)?;
            }
            View::JitConditionalCall {
                condition,
                callee,
                args,
            } => {
                let condition = self.opnd(condition);
                self.conditional_call(g, condition, callee, args, dst)?;
            }
            View::JitConditionalCallValue {
                value,
                callee,
                args,
            } => {
                let condition = self.value_is_zero(value, dst);
                self.conditional_call(g, condition, callee, args, dst)?;
            }
            View::BoolNot { value } | View::PtrIszero { value } => {
                let (a, zero) = (self.opnd(value), self.constant(0));
                self.uint(NumOp::Eq, a, zero, dst);
            }
            View::PtrNonzero { value } => {
                let a = self.opnd(value);
                self.uint(NumOp::IsTrue, a, a, dst);
            }
            View::PtrEq { left, right } | View::AdrEq { left, right } => {
                self.words(NumOp::Eq, left, right, dst);
            }
            View::PtrNe { left, right } | View::AdrNe { left, right } => {
                self.words(NumOp::Ne, left, right, dst);
            }
            View::AdrLt { left, right } => self.words(NumOp::Lt, left, right, dst),
            View::AdrLe { left, right } => self.words(NumOp::Le, left, right, dst),
            View::AdrGt { left, right } => self.words(NumOp::Gt, left, right, dst),
            View::AdrGe { left, right } => self.words(NumOp::Ge, left, right, dst),
            View::AdrAdd { address, offset } => self.words(NumOp::Add, address, offset, dst),
            View::AdrSub { address, offset } => self.words(NumOp::Sub, address, offset, dst),
            View::AdrDelta { left, right } => self.words(NumOp::Sub, left, right, dst),
            View::IntBetween { low, value, high } => {
                let [a, b, c] = [low, value, high].map(|o| self.opnd(o));
                self.emit(Inst::Between { a, b, c, dst });
            }
            View::IntForceGeZero { value } => {
                let a = self.opnd(value);
                self.emit(Inst::ForceGeZero { a, dst });
            }
            View::UintMulHigh { left, right } => {
                let (a, b) = (self.opnd(left), self.opnd(right));
                self.emit(Inst::MulHigh { a, b, dst });
            }
            View::IntAddOvf { left, right } => self.ovf(PlainOp::IntAddOvf, left, right, dst),
            View::IntAddNonnegOvf { left, right } => {
                self.ovf(PlainOp::IntAddNonnegOvf, left, right, dst);
            }
            View::IntSubOvf { left, right } => self.ovf(PlainOp::IntSubOvf, left, right, dst),
            View::IntMulOvf { left, right } => self.ovf(PlainOp::IntMulOvf, left, right, dst),
            taipan_lltype::conversion!(value) | View::ForceCast { value } => {
                self.convert(g, value, ty, dst)?
            }
            View::SameAs { value }
            | View::Likely { value }
            | View::Unlikely { value }
            | View::Hint { value, .. }
            | View::JitForceVirtual { value }
            | View::CastPtrToInt { value }
            | View::CastIntToPtr { value }
            | View::CastPtrToAdr { value }
            | View::CastAdrToPtr { value }
            | View::CastAdrToInt { value }
            | View::CastIntToAdr { value }
            | View::ConvertFloatBytesToLonglong { value }
            | View::ConvertLonglongBytesToFloat { value } => {
                let a = self.opnd(value);
                self.move_value(a, dst, ty);
            }
            View::CastPointer { value } | View::CastOpaquePtr { value } => {
                let to = ty.pointee().ok_or_else(|| format!("cast to {ty}"))?;
                let a = self.opnd(value);
                if matches!(to.kind(), TypeKind::Struct(_)) {
                    let to = self.type_id(to);
                    self.emit(Inst::CheckCast { a, to, dst });
                } else {
                    self.emit(Inst::Move { a, dst });
                }
            }
            View::Malloc { ty, flavor, .. } | View::GcMallocNursery { ty, flavor } => {
                self.malloc(ty, flavor, None, dst)?;
                if has_destructor(op) {
                    self.emit(Inst::Finalize { p: Opnd(dst) });
                }
            }
            View::MallocVarsize { ty, flavor, length }
            | View::GcMallocFilled { ty, flavor, length } => {
                self.malloc(ty, flavor, Some(length), dst)?;
            }
            // This interpreter has no nursery: each object gets memory of its own.
            View::GcReserve { .. } | View::GcReserveSlowly { .. } => self.result(0, dst),
            View::GcMallocReserved {
                ty, flavor, length, ..
            } => self.malloc(ty, flavor, length, dst)?,
            View::Getfield { object, field } => {
                let (offset, ty) = self.field(self.pointee(g, object)?, field)?;
                let p = self.opnd(object);
                match Access::of(ty) {
                    Some(access) => self.load(p, offset, access, dst),
                    None => self.offset(p, offset, dst),
                }
            }
            View::Getsubstruct { object, field } | View::DirectFieldptr { object, field } => {
                let (offset, _) = self.field(self.pointee(g, object)?, field)?;
                let p = self.opnd(object);
                self.offset(p, offset, dst);
            }
            View::Setfield {
                object,
                field,
                value,
            }
            | View::BareSetfield {
                object,
                field,
                value,
            } => {
                let (offset, ty) = self.field(self.pointee(g, object)?, field)?;
                let (p, v) = (self.opnd(object), self.opnd(value));
                self.store(p, offset, ty, v)?;
            }
            View::Getarrayitem { array, index } | View::Getarraysubstruct { array, index } => {
                let shape = self.item_shape(self.pointee(g, array)?)?;
                let (p, index) = (self.opnd(array), self.opnd(index));
                self.get_item(p, index, shape, dst);
            }
            View::Setarrayitem {
                array,
                index,
                value,
            }
            | View::BareSetarrayitem {
                array,
                index,
                value,
            } => {
                let shape = self.item_shape(self.pointee(g, array)?)?;
                let [p, index, v] = [array, index, value].map(|o| self.opnd(o));
                self.set_item(p, index, shape, v)?;
            }
            View::Getarraysize { array } => {
                let ty = self.pointee(g, array)?;
                let p = self.opnd(array);
                self.array_size(p, 0, ty, dst)?;
            }
            View::Getinteriorfield { object, path } => {
                self.interior(g, object, path, Interior::Read, dst)?;
            }
            View::Setinteriorfield {
                object,
                path,
                value,
            }
            | View::BareSetinteriorfield {
                object,
                path,
                value,
            } => self.interior(g, object, path, Interior::Write(value), dst)?,
            View::Getinteriorarraysize { object, path } => {
                self.interior(g, object, path, Interior::Length, dst)?;
            }
            View::DirectArrayitems { array } => {
                let shape = self.item_shape(self.pointee(g, array)?)?;
                let p = self.opnd(array);
                self.offset(p, shape.start, dst);
            }
            View::DirectPtradd { items, count } => {
                let mut shape = self.item_shape(self.pointee(g, items)?)?;
                (shape.length, shape.fixed, shape.start) = (None, None, 0);
                let (p, index) = (self.opnd(items), self.opnd(count));
                let shape = self.shape_id(shape);
                self.emit(Inst::ItemAddr {
                    p,
                    index,
                    shape,
                    dst,
                });
            }
            View::RawLoad { address, offset } => {
                let at = self.address_sum(address, offset);
                self.load(at, 0, access_of(ty)?, dst);
            }
            View::RawStore {
                address,
                offset,
                value,
            } => {
                let ty = self.ty(g, value);
                let at = self.address_sum(address, offset);
                let v = self.opnd(value);
                self.store(at, 0, ty, v)?;
            }
            View::GcLoadIndexed {
                object,
                index,
                scale,
                offset,
            } => {
                let at = self.indexed(object, index, scale, offset);
                self.load(at, 0, access_of(ty)?, dst);
            }
            View::GcStoreIndexed {
                object,
                index,
                value,
                scale,
                offset,
            } => {
                let ty = self.ty(g, value);
                let at = self.indexed(object, index, scale, offset);
                let v = self.opnd(value);
                self.store(at, 0, ty, v)?;
            }
            taipan_lltype::note!()
            | View::JitAssertGreen { .. }
            | View::JitSetParam { .. }
            | View::JitForceQuasiImmutable { .. }
            | View::GcCollectMinor {}
            | View::GcWritebarrier { .. }
            | View::ZeroGcPointersInside { .. }
            | View::DebugStartTraceback { .. }
            | View::DebugRecordTraceback {}
            | View::DebugCatchException { .. }
            | View::DebugReraiseTraceback { .. }
            | View::DebugPrint { .. } => {}
            View::WeAreJitted {} | View::JitIsConstant { .. } | View::JitIsVirtual { .. } => {
                self.result(0, dst);
            }
            View::JitTraceLength {} => self.result(-1, dst),
            // Objects stay where they are here, but new ones move as machine code.
            View::GcCanMove { .. } | View::GcWritebarrierBeforeCopy { .. } => self.result(1, dst),
            View::LlGetTimestampUnit {} => self.result(TIMESTAMP_UNIT.into(), dst),
            View::RawMallocUsage { size } => {
                let a = self.opnd(size);
                self.emit(Inst::Move { a, dst });
            }
            View::GcCollect { .. } => self.emit(Inst::Collect),
            View::JitEnter { driver, greens } => {
                let args = self.opnds([driver].into_iter().chain(greens));
                self.emit(Inst::JitEnter { args, dst });
            }
            View::GcCopyArray {
                source,
                dest,
                source_start,
                dest_start,
                length,
            } => {
                let ty = self.pointee(g, source)?;
                let ty = self.type_id(ty);
                let args = self.opnds([source, dest, source_start, dest_start, length]);
                self.emit(Inst::CopyItems { ty, args });
            }
            View::Free { object, .. } => self.run(Run::One(by_name::free), [object], dst),
            View::RawFree { address } => self.run(Run::One(by_name::free), [address], dst),
            View::RawMalloc { size, zero } => {
                let no = LLOperand::Const(LLConst::Bool(false));
                let operands = [size, zero.unwrap_or(&no)];
                self.run(Run::Two(by_name::raw_malloc), operands, dst);
            }
            View::RawMemclear { address, size } => {
                self.run(Run::Two(by_name::clear), [address, size], dst);
            }
            View::RawMemset {
                address,
                byte,
                size,
            } => self.run(Run::Three(by_name::fill), [address, byte, size], dst),
            View::RawMemcopy { source, dest, size } | View::RawMemmove { source, dest, size } => {
                self.run(Run::Three(by_name::copy_bytes), [source, dest, size], dst);
            }
            View::ShrinkArray { array, length } => {
                self.run(Run::Two(by_name::shrink), [array, length], dst);
            }
            View::WeakrefCreate { object } => {
                self.run(Run::One(by_name::weakref_create), [object], dst);
            }
            View::WeakrefDeref { weakref } => {
                self.run(Run::One(by_name::weakref_deref), [weakref], dst);
            }
            View::GcIdentityhash { object } | View::GcId { object } => {
                self.run(Run::One(by_name::id), [object], dst);
            }
            View::GcFqRegister { queue, object } => {
                self.run(Run::Two(by_name::fq_register), [queue, object], dst);
            }
            View::GcFqNextDead { queue } => {
                self.run(Run::One(by_name::fq_next_dead), [queue], dst);
            }
            View::GcRawrefcountInit { trigger } => {
                self.run(Run::One(by_name::rawrefcount_init), [trigger], dst);
            }
            View::GcRawrefcountCreateLinkPypy { object, pyobject } => {
                self.run(Run::Two(by_name::create_link_pypy), [object, pyobject], dst);
            }
            View::GcRawrefcountCreateLinkPyobj { object, pyobject } => {
                self.run(
                    Run::Two(by_name::create_link_pyobj),
                    [object, pyobject],
                    dst,
                );
            }
            View::GcRawrefcountMarkDeallocating { marker, pyobject } => {
                self.run(
                    Run::Two(by_name::mark_deallocating),
                    [marker, pyobject],
                    dst,
                );
            }
            View::GcRawrefcountFromObj { object } => {
                self.run(Run::One(by_name::from_obj), [object], dst);
            }
            View::GcRawrefcountToObj { pyobject } => {
                self.run(Run::One(by_name::to_obj), [pyobject], dst);
            }
            View::GcRawrefcountNextDead {} => {
                self.run(Run::None(by_name::next_dead_pyobject), [], dst);
            }
            View::GcEnterRootsFrame { slots } => {
                self.run(Run::One(by_name::enter_roots), [slots], dst);
            }
            View::GcLeaveRootsFrame { slots } => {
                self.run(Run::One(by_name::leave_roots), [slots], dst);
            }
            View::GcSaveRoot { slot, root } => {
                self.run(Run::Two(by_name::save_root), [slot, root], dst);
            }
            View::GcRestoreRoot { slot } => {
                self.run(Run::One(by_name::restore_root), [slot], dst);
            }
            View::StackCheck {} => self.run(Run::None(by_name::stack_check), [], dst),
            View::ExcType {} => self.run(Run::None(by_name::exc_type), [], dst),
            View::ExcValue {} => self.run(Run::None(by_name::exc_value), [], dst),
            View::ExcOccurred {} => self.run(Run::None(by_name::exc_occurred), [], dst),
            View::ExcSet { class, value } => {
                self.run(Run::Two(by_name::exc_set), [class, value], dst);
            }
            View::ExcClear {} => self.run(Run::None(by_name::exc_clear), [], dst),
            View::ThreadlocalrefGet { offset } => {
                self.run(Run::One(by_name::thread_local), [offset], dst);
            }
            View::ThreadlocalrefStore { offset, value } => {
                self.run(Run::Two(by_name::set_thread_local), [offset, value], dst);
            }
            View::LlReadTimestamp {} => self.run(Run::None(by_name::timestamp), [], dst),
            View::DebugAssert { condition, .. } => {
                self.run(Run::One(by_name::debug_assert), [condition], dst);
            }
            View::DebugFatalerror { .. } => {
                self.run(Run::None(by_name::debug_fatalerror), [], dst);
            }
            // Residual code is run here before it is cut into units.
            View::JitExit { .. } | View::JitCount { .. } | View::JitInvalidated { .. } => {
                return Err(format!("{} is for machine code", op.op));
            }
        }
        Ok(())
    }

    fn num(&mut self, family: NumFamily, num: NumOp, operands: [&LLOperand; 2], dst: u32) {
        let [a, b] = operands.map(|o| self.opnd(o));
        if matches!(family, NumFamily::Lllong | NumFamily::Ulllong) {
            let signed = family == NumFamily::Lllong;
            let b_wide = !matches!(num, NumOp::LShift | NumOp::RShift);
            let dst_wide = !num.is_comparison();
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
    }

    /// Arithmetic on words.
    fn uint(&mut self, op: NumOp, a: Opnd, b: Opnd, dst: u32) {
        self.emit(Inst::Num {
            family: NumFamily::Uint,
            op,
            a,
            b,
            dst,
        });
    }

    fn words(&mut self, op: NumOp, left: &LLOperand, right: &LLOperand, dst: u32) {
        let (a, b) = (self.opnd(left), self.opnd(right));
        self.uint(op, a, b, dst);
    }

    fn ovf(&mut self, op: PlainOp, left: &LLOperand, right: &LLOperand, dst: u32) {
        let (a, b) = (self.opnd(left), self.opnd(right));
        self.emit(Inst::Ovf { op, a, b, dst });
    }

    /// An operation whose result is always the same.
    fn result(&mut self, word: i128, dst: u32) {
        let a = self.constant(word);
        self.emit(Inst::Move { a, dst });
    }

    /// An operation that a function of the interpreter does.
    fn run<const N: usize>(&mut self, run: Run, operands: [&LLOperand; N], dst: u32) {
        let args = self.opnds(operands);
        self.emit(Inst::Run { run, args, dst });
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

    fn convert(&mut self, g: &LLGraph, value: &LLOperand, to: LLType, dst: u32) -> Result<(), Bad> {
        let from = self.ty(g, value);
        let a = self.opnd(value);
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

    /// Arguments of calls: those that exist at run time, in two places each where wide.
    fn call(
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

    /// Makes the value the result for now; whether it is zero or null.
    fn value_is_zero(&mut self, value: &LLOperand, dst: u32) -> Opnd {
        let a = self.opnd(value);
        self.emit(Inst::Move { a, dst });
        let (zero, flag) = (self.constant(0), self.scratch());
        self.uint(NumOp::Eq, a, zero, flag);
        Opnd(flag)
    }

    /// Calls a function on condition.
    fn conditional_call(
        &mut self,
        g: &LLGraph,
        cond: Opnd,
        callee: &LLOperand,
        args: &[LLOperand],
        dst: u32,
    ) -> Result<(), Bad> {
        let skip = self.code.insts.len();
        self.emit(Inst::SkipIfZero { cond, to: 0 });
        self.call(g, callee, args, dst)?;
        // Handlers belong to the last instruction, so the call must be it.
        let to = self.code.insts.len() as u32;
        self.code.insts[skip] = Inst::SkipIfZero { cond, to };
        Ok(())
    }

    fn malloc(
        &mut self,
        ty: &LLOperand,
        flavor: &LLOperand,
        length: Option<&LLOperand>,
        dst: u32,
    ) -> Result<(), Bad> {
        let ty = ty.as_type().ok_or("malloc of what is no constant type")?;
        let zero = match flavor {
            LLOperand::Const(LLConst::Void(VoidConst::Flavor { zero, .. })) => *zero,
            _ => false,
        };
        let length = match length {
            Some(length) => self.opnd(length),
            None => self.constant(0),
        };
        let ty = self.type_id(ty);
        self.emit(Inst::Malloc {
            ty,
            length,
            zero,
            dst,
        });
        Ok(())
    }
}

fn access_of(ty: LLType) -> Result<Access, Bad> {
    Access::of(ty).ok_or_else(|| format!("{ty} is not loaded or stored as one value"))
}
