//! Code for units that is made in one pass over the graph, for x86-64 and aarch64: an instruction or a few
//! for each operation.
//!
//! Every value has a frame slot and is stored there once computed. The most recent values also stay in
//! registers, so that most operands need no load. A block with one predecessor takes its arguments from
//! the slots of that predecessor. Callee-saved registers are not used, so none is saved.
//!
//! ```text
//! v3 = int_add(v1, v2)                mov rsi, [rbp - 16]     ; v1, if it is in no register
//!                                     mov rdi, rsi
//!                                     add rdi, r8             ; v2 is in r8
//!                                     mov [rbp - 40], rdi     ; v3
//! ```
//!
//! Values narrower than a word are extended by their sign. [`crate::emit`] defines the meaning of each
//! operation. A unit with an operation without a template is compiled by Cranelift.

mod assembler;
mod memory;
mod operations;

use std::rc::Rc;

use taipan_codegen::{CompiledFunction, Layouts, Reloc, RootsFrame, SymbolRef, abi};
use taipan_graph::{BlockId, ExitCase, ExitSwitch, Link, VarId};
use taipan_language::Machine;
use taipan_lltype::{
    LLConst, LLGraph, LLOperand, LLType, Layout, LowLevel, NamedOperands, Program, TypeKind, View,
    const_word,
};

use crate::Addresses;
use crate::passed::{passed_values, words_of_values};
use assembler::{
    ACC, Alu, Assembler, CALL, CELL, Cond, FAR, FRAME, FloatReg, Label, Mem, POOL, Reg,
    UNIT_RESULT, Width,
};

/// Error: the unit has an operation without a template.
struct Unknown;

type Done<T> = Result<T, Unknown>;

/// How many floats are passed in registers.
const FLOATS: usize = 8;
/// The return address and the caller's frame pointer.
const LINKAGE: i64 = 16;

/// Buffers and caches reused across the units of a program.
#[derive(Default)]
pub(crate) struct Templates {
    layouts: Layouts,
}

impl Templates {
    /// Whether there are templates for a machine.
    pub(crate) fn are_for(machine: Machine) -> bool {
        matches!(machine, Machine::X86_64 | Machine::Aarch64)
    }

    /// The code of a unit of the program; none if it is left to Cranelift.
    pub(crate) fn compile(
        &mut self,
        program: &dyn Program,
        graph: &LLGraph,
        addresses: &dyn Addresses,
    ) -> Option<CompiledFunction> {
        let state = addresses.address(&SymbolRef::External(abi::STATE.into()))?;
        let mut t = Template {
            a: Assembler::default(),
            program,
            graph,
            addresses,
            layouts: &mut self.layouts,
            state: state as i64,
            places: vec![Place::None; graph.vars.len()],
            entries: vec![0; graph.blocks.len()],
            labels: vec![None; graph.blocks.len()],
            made: vec![false; graph.blocks.len()],
            hot: Vec::new(),
            cold: Vec::new(),
            homes: 0,
            outgoing: 0,
            roots: None,
            cached: [None; POOL.len()],
            next: 0,
            pinned: 0,
            relocs: Vec::new(),
        };
        t.unit().ok()?;
        Some(CompiledFunction {
            code: t.a.code,
            relocs: t.relocs,
            locations: Vec::new(),
            lines: Vec::new(),
            keeps_frames: false,
            debug: None,
        })
    }
}

/// Where a value is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    /// It is Void, or not there yet.
    None,
    /// At this distance from the frame pointer.
    Home(i32),
    /// It is known.
    Known(i64),
}

/// Code that is still to be made.
enum Work {
    Block(BlockId),
    /// A label where the values are passed on that an exit of a block has for its target.
    Exit(Label, BlockId, usize),
}

struct Template<'a> {
    a: Assembler,
    program: &'a dyn Program,
    graph: &'a LLGraph,
    addresses: &'a dyn Addresses,
    layouts: &'a mut Layouts,
    /// The address of the state shared with the runtime.
    state: i64,
    places: Vec<Place>,
    /// How many links lead to each block.
    entries: Vec<u32>,
    labels: Vec<Option<Label>>,
    made: Vec<bool>,
    hot: Vec<Work>,
    /// Cold code emitted after the blocks: exits of the unit.
    cold: Vec<Work>,
    /// Bytes of the frame below the frame pointer that are in use.
    homes: i32,
    /// Bytes of arguments on the stack that calls get, at most.
    outgoing: i32,
    /// The frame on the shadow stack, and where its address is kept.
    roots: Option<(RootsFrame, i32)>,
    /// The place whose value is in each register of the pool.
    cached: [Option<i32>; POOL.len()],
    /// The register of the pool that is given out next.
    next: usize,
    /// Bits of those that the instruction under way needs.
    pinned: u8,
    relocs: Vec<Reloc>,
}

impl<'a> Template<'a> {
    fn unit(&mut self) -> Done<()> {
        let graph = self.graph;
        let order = graph.reachable();
        self.entries[graph.startblock.index()] = 1;
        for b in &order {
            for l in &graph.block(*b).exits {
                self.entries[l.target.index()] += 1;
            }
        }
        let size_at = self.a.enter();
        let args = graph.args();
        for b in &order {
            if self.entries[b.index()] > 1 || *b == graph.startblock {
                for v in &graph.block(*b).inputargs {
                    if !graph.ty(*v).is_void() {
                        self.checked_type(*graph.ty(*v))?;
                        let home = self.new_home();
                        self.places[v.index()] = Place::Home(home);
                    }
                }
            }
        }
        self.arguments(args)?;
        self.blocks(graph.startblock)?;
        while let Some(work) = self.hot.pop().or_else(|| self.cold.pop()) {
            self.forget();
            match work {
                Work::Block(b) if self.made[b.index()] => {}
                Work::Block(b) => self.blocks(b)?,
                Work::Exit(label, b, exit) => {
                    self.a.bind(label);
                    let link = &graph.block(b).exits[exit];
                    let next = self.follow(link)?;
                    if let Some(b) = next {
                        self.blocks(b)?;
                    }
                }
            }
        }
        let roots = self
            .roots
            .map_or(0, |(frame, _)| frame.machine_bytes(LINKAGE));
        let size = i64::from(self.homes + self.outgoing).max(roots);
        let fits = self.a.set_frame_size(size_at, (size + 15) & !15);
        match fits && self.a.finish() {
            true => Ok(()),
            false => Err(Unknown),
        }
    }

    /// Stores what the unit gets: the cell is in a register, the other values are where units pass them.
    fn arguments(&mut self, args: &[VarId]) -> Done<()> {
        let [cell, passed @ ..] = args else {
            return Err(Unknown);
        };
        let Place::Home(home) = self.places[cell.index()] else {
            return Err(Unknown);
        };
        self.a.store(Mem(FRAME, home), CELL);
        self.a.mov_imm(FAR, passed_values() as i64);
        let types = passed.iter().map(|v| *self.graph.ty(*v));
        let (words, _) = words_of_values(types).ok_or(Unknown)?;
        for (v, word) in passed.iter().zip(words) {
            let (Place::Home(home), Some(word)) = (self.places[v.index()], word) else {
                continue;
            };
            self.pinned = 0;
            let r = self.fresh();
            let width = self.width_of_bits(*self.graph.ty(*v))?;
            self.a.load_as(r, Mem(FAR, word as i32 * 8), width);
            self.keep(home, r);
        }
        Ok(())
    }

    /// Blocks from one on, as they follow each other.
    fn blocks(&mut self, first: BlockId) -> Done<()> {
        let mut next = Some(first);
        while let Some(b) = next.filter(|b| !self.made[b.index()]) {
            self.made[b.index()] = true;
            if self.entries[b.index()] > 1 {
                self.forget();
            }
            let label = self.label(b);
            self.a.bind(label);
            next = self.block(b)?;
        }
        // It was reached otherwise before.
        if let Some(b) = next {
            let label = self.label(b);
            self.a.jump(label);
        }
        Ok(())
    }

    /// One block; the one that follows it.
    fn block(&mut self, b: BlockId) -> Done<Option<BlockId>> {
        let graph = self.graph;
        let block = graph.block(b);
        if b == graph.returnblock {
            let result = self.place(&LLOperand::Var(block.inputargs[0]))?;
            self.leave(result, *graph.ty(block.inputargs[0]))?;
            return Ok(None);
        }
        if b == graph.exceptblock {
            return Err(Unknown);
        }
        for op in &block.operations {
            self.pinned = 0;
            if self.operation(b, op)? {
                // A jump to another unit: nothing follows.
                return Ok(None);
            }
        }
        self.pinned = 0;
        match (&block.exitswitch, &block.exits[..]) {
            (ExitSwitch::None, [link]) => self.follow(link),
            (ExitSwitch::LastException, [ok, raised])
                if raised.last_exception.is_none()
                    && block.operations.last().is_some_and(operations::overflows) =>
            {
                let label = self.branch(b, 1)?;
                self.a.jump_if(Cond::Overflow, label);
                self.follow(ok)
            }
            (ExitSwitch::Value(on), exits) => self.switch(b, on, exits),
            _ => Err(Unknown),
        }
    }

    fn switch(
        &mut self,
        b: BlockId,
        on: &LLOperand,
        exits: &[Link<LowLevel>],
    ) -> Done<Option<BlockId>> {
        let [others @ .., last] = exits else {
            return Err(Unknown);
        };
        let on = self.get(on)?;
        if let ([first], ExitCase::Bool(truth)) = (others, &last.case) {
            // The fall-through is the exit that is not cold.
            self.a.test(on);
            let stays = self.is_way_out(last.target) || !self.is_way_out(first.target);
            let (away, next, jumps_if) = match stays {
                true => (1, first, *truth),
                false => (0, last, !*truth),
            };
            let label = self.branch(b, away)?;
            let cond = if jumps_if {
                Cond::NotEqual
            } else {
                Cond::Equal
            };
            self.a.jump_if(cond, label);
            return self.follow(next);
        }
        for (i, link) in others.iter().enumerate() {
            let case = match &link.case {
                ExitCase::Bool(truth) => i64::from(*truth),
                ExitCase::Value(c) => const_word(c).ok_or(Unknown)? as i64,
                _ => return Err(Unknown),
            };
            match i32::try_from(case) {
                Ok(case) => self.a.alu_imm(Alu::Cmp, on, case),
                Err(_) => {
                    self.a.mov_imm(FAR, case);
                    self.a.alu(Alu::Cmp, on, FAR);
                }
            }
            let label = self.branch(b, i)?;
            self.a.jump_if(Cond::Equal, label);
        }
        self.follow(last)
    }

    /// Whether a block does nothing but leave the unit.
    fn is_way_out(&self, b: BlockId) -> bool {
        let operations = &self.graph.block(b).operations;
        let mut exits = operations.iter().map(|op| op.view());
        exits.any(|op| matches!(op, View::JitExit { .. }))
    }

    fn label(&mut self, b: BlockId) -> Label {
        match self.labels[b.index()] {
            Some(label) => label,
            None => {
                let label = self.a.label();
                self.labels[b.index()] = Some(label);
                label
            }
        }
    }

    /// Label of an exit of a block; its code is emitted later.
    fn branch(&mut self, b: BlockId, exit: usize) -> Done<Label> {
        let graph = self.graph;
        let link = &graph.block(b).exits[exit];
        let target = link.target;
        let away = self.is_way_out(target);
        let passes = self.entries[target.index()] > 1 && !link.args.is_empty();
        let (label, work) = match passes {
            true => {
                let label = self.a.label();
                (label, Work::Exit(label, b, exit))
            }
            false => {
                self.rename(link)?;
                (self.label(target), Work::Block(target))
            }
        };
        match away {
            true => self.cold.push(work),
            false => self.hot.push(work),
        }
        Ok(label)
    }

    /// Moves the arguments of a link into place. Returns the block that has to follow.
    fn follow(&mut self, link: &Link<LowLevel>) -> Done<Option<BlockId>> {
        match self.entries[link.target.index()] > 1 {
            true => self.pass(link)?,
            false => self.rename(link)?,
        }
        Ok(Some(link.target))
    }

    /// The variables of a block with one entry are names of the values.
    fn rename(&mut self, link: &Link<LowLevel>) -> Done<()> {
        let graph = self.graph;
        if self.entries[link.target.index()] > 1 {
            return Ok(());
        }
        for (arg, v) in link.args.iter().zip(&graph.block(link.target).inputargs) {
            if !graph.ty(*v).is_void() {
                self.places[v.index()] = self.place(arg)?;
            }
        }
        Ok(())
    }

    /// Stores values where a block with several entries has them.
    fn pass(&mut self, link: &Link<LowLevel>) -> Done<()> {
        let graph = self.graph;
        let mut moves: Vec<(Place, i32)> = Vec::with_capacity(link.args.len());
        for (arg, v) in link.args.iter().zip(&graph.block(link.target).inputargs) {
            if let Place::Home(home) = self.places[v.index()] {
                let from = self.place(arg)?;
                if from != Place::Home(home) {
                    moves.push((from, home));
                }
            }
        }
        let clash =
            (moves.iter()).any(|(from, _)| moves.iter().any(|(_, to)| *from == Place::Home(*to)));
        if clash {
            for (from, _) in &moves {
                self.read(ACC, *from);
                self.a.push(ACC);
            }
            for (_, to) in moves.iter().rev() {
                self.a.pop(ACC);
                self.a.store(Mem(FRAME, *to), ACC);
            }
        } else {
            for (from, to) in &moves {
                let r = match from {
                    Place::Home(home) => self.in_register(*home),
                    _ => None,
                };
                let r = r.unwrap_or_else(|| {
                    self.read(ACC, *from);
                    ACC
                });
                self.a.store(Mem(FRAME, *to), r);
            }
        }
        self.forget();
        Ok(())
    }

    /// Returns from the function.
    fn leave(&mut self, result: Place, ty: LLType) -> Done<()> {
        if !ty.is_void() {
            self.read(UNIT_RESULT, result);
            if self.is_float(ty)? {
                self.a.float_of_bits(FloatReg(0), UNIT_RESULT);
            }
        }
        self.a.leave();
        self.a.ret();
        Ok(())
    }

    /// Jumps to the unit of a cell.
    fn exit(&mut self, cell: &LLOperand, values: &[LLOperand]) -> Done<()> {
        let (words, _) = words_of_values(values.iter().map(|o| self.ty(o))).ok_or(Unknown)?;
        self.a.mov_imm(FAR, passed_values() as i64);
        for (o, word) in values.iter().zip(words) {
            let Some(word) = word else { continue };
            self.checked_type(self.ty(o))?;
            let at = Mem(FAR, word as i32 * 8);
            let from = self.place(o)?;
            let held = match from {
                Place::Home(home) => self.in_register(home),
                Place::Known(_) | Place::None => None,
            };
            let r = held.unwrap_or_else(|| {
                self.read(ACC, from);
                ACC
            });
            self.a.store(at, r);
        }
        let cell = self.place(cell)?;
        self.read(CELL, cell);
        self.a.leave();
        self.a.jump_mem(Mem(CELL, 0));
        Ok(())
    }

    // Values.

    fn ty(&self, o: &LLOperand) -> LLType {
        match o {
            LLOperand::Var(v) => *self.graph.ty(*v),
            LLOperand::Const(c) => c.ty(),
        }
    }

    /// Whether values of a type are floats, which are passed in other registers.
    fn is_float(&self, ty: LLType) -> Done<bool> {
        self.checked_type(ty)?;
        Ok(*ty.kind() == TypeKind::Float)
    }

    fn checked_type(&self, ty: LLType) -> Done<()> {
        self.width_of_bits(ty).map(|_| ())
    }

    /// How the bits of values of a type are extended to a word, floats as well.
    fn width_of_bits(&self, ty: LLType) -> Done<Width> {
        match ty.kind() {
            TypeKind::Float => Ok(Width::Word),
            _ => self.width(ty),
        }
    }

    /// How integers and pointers of a type are extended to a word.
    fn width(&self, ty: LLType) -> Done<Width> {
        Ok(match ty.kind() {
            TypeKind::Bool | TypeKind::Char => Width::Unsigned8,
            TypeKind::UniChar => Width::Unsigned32,
            TypeKind::Int(k) => match (k.bits, k.signed) {
                (8, true) => Width::Signed8,
                (8, false) => Width::Unsigned8,
                (16, true) => Width::Signed16,
                (16, false) => Width::Unsigned16,
                (32, true) => Width::Signed32,
                (32, false) => Width::Unsigned32,
                (64, _) => Width::Word,
                _ => return Err(Unknown),
            },
            TypeKind::Address | TypeKind::Ptr(_) => Width::Word,
            _ => return Err(Unknown),
        })
    }

    fn layout(&mut self, ty: LLType) -> Rc<Layout> {
        self.layouts.get(ty, self.program)
    }

    fn address(&self, symbol: &SymbolRef) -> Done<i64> {
        Ok(self.addresses.address(symbol).ok_or(Unknown)? as i64)
    }

    /// Where the value of an operand is.
    fn place(&self, o: &LLOperand) -> Done<Place> {
        let c = match o {
            LLOperand::Var(v) => match self.places[v.index()] {
                Place::None if !self.graph.ty(*v).is_void() => return Err(Unknown),
                place => return Ok(place),
            },
            LLOperand::Const(c) => c,
        };
        Ok(match c {
            LLConst::Void(_) => Place::None,
            LLConst::Int(k, _) if k.bits > 64 => return Err(Unknown),
            LLConst::SingleFloat(_) => return Err(Unknown),
            LLConst::Null(_) => Place::Known(0),
            LLConst::Func(f) => Place::Known(self.address(&SymbolRef::function(f))?),
            LLConst::Static(s, _) => Place::Known(self.address(&SymbolRef::Static((**s).clone()))?),
            c => Place::Known(const_word(c).ok_or(Unknown)? as i64),
        })
    }

    fn new_home(&mut self) -> i32 {
        self.homes += 8;
        -self.homes
    }

    /// Loads a value into a register of the caller's, whatever is known of it.
    fn read(&mut self, to: Reg, from: Place) {
        match from {
            Place::Home(home) => match self.in_register(home) {
                Some(r) => self.a.mov(to, r),
                None => self.a.load(to, Mem(FRAME, home)),
            },
            Place::Known(n) => self.a.mov_imm(to, n),
            Place::None => {}
        }
        // Another value is there now.
        self.overwritten(to);
    }

    fn read_float(&mut self, to: FloatReg, from: Place, by: Reg) {
        match from {
            Place::Home(home) => self.a.load_float(to, Mem(FRAME, home)),
            Place::Known(n) => {
                self.a.mov_imm(by, n);
                self.a.float_of_bits(to, by);
            }
            Place::None => {}
        }
    }

    // Registers.

    /// No register holds a value any more.
    fn forget(&mut self) {
        self.cached = [None; POOL.len()];
    }

    /// A register holds another value than before.
    fn overwritten(&mut self, r: Reg) {
        if let Some(i) = POOL.iter().position(|p| *p == r) {
            self.cached[i] = None;
        }
    }

    fn in_register(&self, home: i32) -> Option<Reg> {
        let i = self.cached.iter().position(|c| *c == Some(home))?;
        Some(POOL[i])
    }

    /// A register of the pool that the instruction under way may write to.
    fn fresh(&mut self) -> Reg {
        loop {
            let i = self.next;
            self.next = (i + 1) % POOL.len();
            if self.pinned & (1 << i) == 0 {
                self.pinned |= 1 << i;
                self.cached[i] = None;
                return POOL[i];
            }
        }
    }

    /// The register that a value is in, or is loaded into.
    fn get(&mut self, o: &LLOperand) -> Done<Reg> {
        let place = self.place(o)?;
        if let Place::Home(home) = place
            && let Some(i) = self.cached.iter().position(|c| *c == Some(home))
        {
            self.pinned |= 1 << i;
            return Ok(POOL[i]);
        }
        let r = self.fresh();
        match place {
            Place::Home(home) => {
                self.a.load(r, Mem(FRAME, home));
                let i = POOL.iter().position(|p| *p == r).unwrap_or_default();
                self.cached[i] = Some(home);
            }
            Place::Known(n) => self.a.mov_imm(r, n),
            Place::None => return Err(Unknown),
        }
        Ok(r)
    }

    /// Stores a value that is in a register, which may go on holding it.
    fn keep(&mut self, home: i32, r: Reg) {
        self.a.store(Mem(FRAME, home), r);
        if let Some(i) = POOL.iter().position(|p| *p == r) {
            self.cached[i] = Some(home);
        }
    }

    /// Gives a variable the value of a register.
    fn define(&mut self, v: VarId, r: Reg) -> Done<()> {
        self.checked_type(*self.graph.ty(v))?;
        let home = self.new_home();
        self.places[v.index()] = Place::Home(home);
        self.keep(home, r);
        Ok(())
    }

    /// Gives a variable the value of a floating-point register.
    fn define_float(&mut self, v: VarId, x: FloatReg) {
        let home = self.new_home();
        self.places[v.index()] = Place::Home(home);
        self.a.store_float(Mem(FRAME, home), x);
    }

    /// A number that an instruction has room for.
    fn small(&self, o: &LLOperand) -> Done<Option<i32>> {
        Ok(match self.place(o)? {
            Place::Known(n) => i32::try_from(n).ok(),
            _ => None,
        })
    }

    /// Calls a function of this name.
    fn call_symbol(&mut self, symbol: SymbolRef) {
        let offset = self.a.call() as u64;
        self.relocs.push(Reloc {
            offset,
            kind: CALL.0,
            target: symbol,
            addend: CALL.1,
        });
    }

    /// The base of the frame on the shadow stack.
    fn roots_home(&self) -> Done<i32> {
        self.roots.map(|(_, home)| home).ok_or(Unknown)
    }
}
