//! Which way code will go that is being compiled.
//!
//! Compilation goes on at a stub when code gets there, so the values are at hand that it
//! comes with. What is generated next is computed with them on the side, as far as it is
//! computed at all: reads see memory as it is, and writes are only noted. After a call memory is unknown but for fields that
//! never or seldom change. So the side of a branch that code is about to take, and the value that a promotion is about to
//! see, are mostly known while they are compiled, and a unit extends as far as a tracing compiler's trace would, until the
//! result of a call decides.
//!
//! A prediction says what is compiled first, and nothing else: if it is wrong, code takes
//! the side that is a stub.

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use taipan_graph::{BlockId, ExitCase, ExitSwitch, Operation, VarId};
use taipan_lltype::{
    Access, Accessed, EFFECT, FOLD, LLConst, LLGraph, LLOperand, LLType, LowLevel, NamedOperands,
    Program, View, VoidConst, word_of_u64,
};

use super::Specializer;
use super::ops::fold_words;
use crate::notes::note_number;
use crate::purity::{is_immutable_field, is_quasi_immutable, operand_ty};
use crate::state::Word;
use crate::touches::Touches;
use crate::world::World;

/// So many operations are computed ahead before code has to get there.
const MOST_AHEAD: usize = 4_000;

/// The values of variables that are known.
struct Values {
    /// The first variable that was not there when prediction began.
    first: usize,
    /// Those from that one on. Most of them are.
    new: Vec<Option<Word>>,
    old: FxHashMap<VarId, Word>,
}

impl Values {
    fn get(&self, v: VarId) -> Option<Word> {
        match v.index().checked_sub(self.first) {
            Some(i) => *self.new.get(i)?,
            None => self.old.get(&v).copied(),
        }
    }

    fn set(&mut self, v: VarId, value: Option<Word>) {
        match (v.index().checked_sub(self.first), value) {
            (Some(i), value) => {
                if i >= self.new.len() {
                    self.new.resize(i + 1, None);
                }
                self.new[i] = value;
            }
            (None, Some(w)) => {
                self.old.insert(v, w);
            }
            (None, None) => {
                self.old.remove(&v);
            }
        }
    }
}

/// Code that is computed ahead.
pub(super) struct Predictor {
    block: BlockId,
    op: usize,
    values: Values,
    /// What was written where, as far as that is known.
    written: FxHashMap<u64, Option<Word>>,
    /// Objects that it makes.
    new: FxHashSet<VarId>,
    /// Memory is what it is now, but for what was written.
    memory: bool,
    /// When objects moved last: pointers are wrong after that.
    moves: u64,
    left: usize,
}

impl Predictor {
    /// At the start of a block, with the values of some variables; so many there are.
    pub(super) fn new(
        block: BlockId,
        known: impl IntoIterator<Item = (VarId, Word)>,
        variables: usize,
        moves: u64,
    ) -> Predictor {
        let mut values = Values {
            first: variables,
            new: Vec::new(),
            old: FxHashMap::default(),
        };
        known.into_iter().for_each(|(v, w)| values.set(v, Some(w)));
        Predictor {
            block,
            op: 0,
            values,
            written: FxHashMap::default(),
            new: FxHashSet::default(),
            memory: true,
            moves,
            left: MOST_AHEAD,
        }
    }

    /// Goes on to the end of a block that is being generated. False if code does not get
    /// there for certain.
    fn advance(
        &mut self,
        graph: &LLGraph,
        program: &dyn Program,
        world: &mut dyn World,
        touches: Option<&Touches<'_>>,
        until: BlockId,
    ) -> bool {
        loop {
            let block = graph.block(self.block);
            while let Some(op) = block.operations.get(self.op) {
                if self.left == 0 {
                    return false;
                }
                self.left -= 1;
                self.operation(graph, program, world, touches, op);
                self.op += 1;
            }
            if self.block == until {
                return true;
            }
            let link = match (&block.exitswitch, &block.exits[..]) {
                (_, []) => return false,
                (ExitSwitch::None, [only, ..]) => only,
                (ExitSwitch::Value(on), links) => {
                    let Some(on) = self.value(world, on) else {
                        return false;
                    };
                    let is_it = |case: &ExitCase<LowLevel>, world: &mut dyn World| match case {
                        ExitCase::Bool(b) => Word::from(*b) == on,
                        ExitCase::Value(c) => world.word(c) == on,
                        _ => true,
                    };
                    match links.iter().find(|l| is_it(&l.case, world)) {
                        Some(link) => link,
                        None => return false,
                    }
                }
                (_, [ok, ..]) => {
                    let result = block.operations.last().map(|op| op.result);
                    if result.and_then(|v| self.values.get(v)).is_none() {
                        return false;
                    }
                    ok
                }
            };
            let inputs = &graph.block(link.target).inputargs;
            let passed = link.args.iter().map(|a| self.value(world, a));
            let passed: SmallVec<[_; 16]> = passed.collect();
            for (v, w) in inputs.iter().zip(passed) {
                self.values.set(*v, w);
            }
            (self.block, self.op) = (link.target, 0);
        }
    }

    fn value(&self, world: &mut dyn World, o: &LLOperand) -> Option<Word> {
        match o {
            LLOperand::Var(v) => self.values.get(*v),
            LLOperand::Const(LLConst::Void(_)) => Some(0),
            LLOperand::Const(c) => Some(world.word(c)),
        }
    }

    fn operation(
        &mut self,
        graph: &LLGraph,
        program: &dyn Program,
        world: &mut dyn World,
        touches: Option<&Touches<'_>>,
        op: &Operation<LowLevel>,
    ) {
        // What is noted for the log does nothing.
        if note_number(op).is_some() {
            return;
        }
        let view = op.view();
        let result = match view {
            View::Getarraysize { array } => self.length(graph, world, array, &[]),
            View::Getinteriorarraysize { object, path } => self.length(graph, world, object, path),
            View::Malloc { .. } | View::MallocVarsize { .. } => {
                self.new.insert(op.result);
                None
            }
            View::DirectCall { callee, .. } => {
                let writes = match (callee, touches) {
                    (LLOperand::Const(LLConst::Func(f)), Some(touches)) => {
                        touches.of(f).writes_something()
                    }
                    _ => true,
                };
                if writes {
                    self.anything_happens();
                }
                None
            }
            View::ExcOccurred {} | View::ExcClear {} | View::ExcType {} | View::ExcValue {} => None,
            // Code that was just made takes nothing for granted that is not so.
            View::JitInvalidated { .. } => Some(0),
            View::JitForceQuasiImmutable { .. } => None,
            View::SameAs { value }
            | View::CastPointer { value }
            | View::CastOpaquePtr { value } => {
                if self.is_new(value) {
                    self.new.insert(op.result);
                }
                self.value(world, value)
            }
            _ => match view.access() {
                Some(access) => self.access(graph, program, world, access),
                None if op.op.flags() & FOLD != 0 => self.computed(graph, world, op),
                None => {
                    if op.op.flags() & EFFECT != 0 {
                        self.anything_happens();
                    }
                    None
                }
            },
        };
        self.values.set(op.result, result);
    }

    fn is_new(&self, object: &LLOperand) -> bool {
        object.as_var().is_some_and(|v| self.new.contains(&v))
    }

    /// The result of a load; notes a store.
    fn access(
        &mut self,
        graph: &LLGraph,
        program: &dyn Program,
        world: &mut dyn World,
        access: Accessed<'_, LLOperand>,
    ) -> Option<Word> {
        let at = self.place(graph, world, access.object, access.path);
        match (access.stored, at) {
            (None, at) => {
                let is_as_it_was = || self.memory || seldom_changes(graph, program, access);
                return self.read(world, at?, is_as_it_was);
            }
            (Some(value), Some((at, _))) => {
                let value = self.value(world, value);
                self.written.insert(at, value);
            }
            (Some(_), None) if self.is_new(access.object) => {}
            (Some(_), None) => self.anything_happens(),
        }
        None
    }

    /// The result of an operation that depends on its operands only.
    fn computed(
        &self,
        graph: &LLGraph,
        world: &mut dyn World,
        op: &Operation<LowLevel>,
    ) -> Option<Word> {
        let mut operands = Vec::with_capacity(op.args.len());
        for o in &op.args {
            operands.push((self.value(world, o)?, operand_ty(graph, o)));
        }
        fold_words(op.op, &operands, *graph.ty(op.result))
    }

    /// Address and type of what a path leads to.
    fn place(
        &self,
        graph: &LLGraph,
        world: &mut dyn World,
        pointer: &LLOperand,
        path: &[LLOperand],
    ) -> Option<(u64, LLType)> {
        let object = self.value(world, pointer)?;
        if object == 0 {
            return None;
        }
        let mut at = (object as u64, operand_ty(graph, pointer).pointee()?);
        for step in path {
            at = match step {
                LLOperand::Const(LLConst::Void(VoidConst::Field(name))) => {
                    world.memory().field(at.0, at.1, name).ok()?
                }
                step => {
                    let index = u64::try_from(self.value(world, step)?).ok()?;
                    world.memory().item(at.0, at.1, index).ok()?
                }
            };
        }
        Some(at)
    }

    fn length(
        &self,
        graph: &LLGraph,
        world: &mut dyn World,
        pointer: &LLOperand,
        path: &[LLOperand],
    ) -> Option<Word> {
        let (at, ty) = self.place(graph, world, pointer, path)?;
        world.memory().array_length(at, ty).ok().map(Word::from)
    }

    /// The value at an address: the one that was written there, or the one that memory has if it `is_as_it_was`.
    fn read(
        &self,
        world: &mut dyn World,
        (at, ty): (u64, LLType),
        is_as_it_was: impl FnOnce() -> bool,
    ) -> Option<Word> {
        if let Some(written) = self.written.get(&at) {
            return *written;
        }
        let access = Access::of(ty).filter(|a| *a != Access::W128)?;
        if !is_as_it_was() {
            return None;
        }
        let bytes = world.memory().bytes(at, access.size()).ok()?;
        Some(word_of_u64(access.decode(bytes), ty))
    }

    /// Nobody knows what memory is like after it.
    fn anything_happens(&mut self) {
        self.memory = false;
        self.written.clear();
    }
}

/// Whether an access is to a field that never or seldom changes. The prediction is that a call does not change it.
fn seldom_changes(graph: &LLGraph, program: &dyn Program, access: Accessed<'_, LLOperand>) -> bool {
    let [LLOperand::Const(LLConst::Void(VoidConst::Field(name)))] = access.path else {
        return false;
    };
    operand_ty(graph, access.object).pointee().is_some_and(|t| {
        is_quasi_immutable(program, t, name) || is_immutable_field(program, t, name)
    })
}

impl Specializer<'_> {
    /// The value that a variable is going to have, at the end of a block that is being
    /// generated.
    pub(super) fn predicted(
        &mut self,
        world: &mut dyn World,
        at: BlockId,
        v: VarId,
    ) -> Option<Word> {
        let mut predictor = self.predictor.take()?;
        if predictor.moves != world.moves() {
            return None;
        }
        let touches = self.touches.clone();
        if !predictor.advance(
            self.residual.graph(),
            self.program,
            world,
            touches.as_deref(),
            at,
        ) {
            return None;
        }
        let value = predictor.values.get(v);
        self.predictor = Some(predictor);
        value
    }
}
