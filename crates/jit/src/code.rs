//! Timeshifted graphs: what the specialiser runs (RPython, 2008: the output of
//! `timeshifter/transform.py` and `hrtyper.py`).
//!
//! A timeshifted graph is the graph of a function copy whose control flow has become
//! that of a compiler. It works on *slots*, one per variable. Operations on green slots
//! are computed while compiling; those on red ones generate code, or are computed if
//! their operands happen to be known. What is special about compiling is explicit:
//!
//! ```text
//! block2:
//!     merge_point live(v3, v4)          ; states that agree on green slots meet
//!     v5 = int_add(v3, v4)              ; red: generates int_add
//!     red_call f(v5) live(v3)           ; compiles f into this function
//!     v6 = promote(v5) live(v3)         ; stops until the value is known
//!     split v7 block3, block4           ; generates a branch, goes on with both sides
//! ```

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};
use taipan_graph::ExitCase;
use taipan_lltype::{FuncKind, FuncSym, LLConst, LLOp, LLType, LowLevel, PlainOp, View};

use crate::annotator::SpecIx;
use crate::colors::CallColor;

/// A variable of a timeshifted graph.
pub(crate) type Slot = u32;

/// An operand.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Arg {
    /// A variable.
    Slot(Slot),
    /// A constant.
    Const(LLConst),
}

/// The functions that a call may reach, and the timeshifted graph of each.
pub(crate) type Targets = Vec<(FuncSym, SpecIx)>;

/// What an operation does.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum TsKind {
    /// Without effects, or one that only generates code.
    Plain(LLOp),
    /// A read of a field or an item; `constant` if what is read never changes.
    Read { op: LLOp, constant: bool },
    /// Passes its operand on.
    SameAs,
    /// A pointer cast: the same value at another type.
    Cast,
    /// A new object of a fixed size, which stays virtual until it escapes.
    Malloc(LLType),
    /// A new array, or a struct that ends in one: virtual if its length is known and small.
    MallocVarsize(LLType),
    /// States meet.
    MergePoint { global: bool },
    /// The value is made known.
    Promote,
    /// A string that is the same object for the same characters.
    UniqueString,
    /// A field that seldom changes is about to be read. If the object is known, what is there
    /// now may be assumed to stay, and the read and the promotion that follow are left out.
    AssumeField,
    /// A value that was read from a field that seldom changes is made known, if the object
    /// that it was read from is.
    PromoteField,
    /// Passes a virtualizable on, with what belongs there written.
    ForceVirtualizable,
    /// The value is known here.
    RevealConst,
    /// A call that is made while compiling.
    GreenCall,
    /// A call of what is compiled into the caller.
    Call(CallColor, Targets),
    /// A call that is compiled into the caller if it is known which of these it is; for
    /// compilers of drivers.
    Inline(Vec<FuncSym>),
    /// A call that is made while compiling if its arguments are known.
    ElidableCall,
    /// A call that stays one.
    ResidualCall,
    /// The head of the interpreter's loop: the greens, then the reds.
    DriverMergePoint { greens: usize },
    /// Where a loop of the interpreted program closes.
    LoopCloses,
    /// Whether the value is known; with a second operand, and at most that.
    IsConstant,
    /// Whether the object is virtual.
    IsVirtual,
    /// The value must be known.
    AssertGreen,
    /// The class of an object, by its vtable.
    RecordExactClass,
    /// The value is the constant that is the second operand.
    RecordExactValue,
    /// The pointer is not null.
    RecordNonNull,
    /// An index is known to be one of the array only if this holds.
    CheckIndex,
    /// Whether an exception is set.
    ExcOccurred,
    /// Its class.
    ExcType,
    /// The exception.
    ExcValue,
    /// Sets the exception.
    ExcSet,
    /// There is no exception any more.
    ExcClear,
    /// States that wait go on in the order in which they were left.
    ReverseSplitQueue,
}

/// An operation of a timeshifted graph.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct TsOp {
    pub(crate) kind: TsKind,
    pub(crate) args: Vec<Arg>,
    pub(crate) result: Slot,
    /// Where states may wait or meet: the slots that are used afterwards.
    pub(crate) live: Vec<Slot>,
    /// The instruction of the function's bytecode that it comes from.
    pub(crate) at: u32,
}

impl TsOp {
    /// The value that it passes on, makes known or asks about: its first operand.
    pub(crate) fn operand(&self) -> &Arg {
        match &self.args[..] {
            [operand, ..] => operand,
            [] => unreachable!("an operation on nothing"),
        }
    }

    /// The low-level operation that it does, with its operands by name; none if it does something
    /// that is not one.
    pub(crate) fn view(&self) -> Option<View<'_, Arg>> {
        let op = match &self.kind {
            TsKind::Plain(op) | TsKind::Read { op, .. } => *op,
            TsKind::SameAs => PlainOp::SameAs.into(),
            TsKind::Malloc(_) => PlainOp::Malloc.into(),
            TsKind::MallocVarsize(_) => PlainOp::MallocVarsize.into(),
            TsKind::AssumeField => PlainOp::Getfield.into(),
            TsKind::IsConstant => PlainOp::JitIsConstant.into(),
            TsKind::IsVirtual => PlainOp::JitIsVirtual.into(),
            TsKind::AssertGreen => PlainOp::JitAssertGreen.into(),
            TsKind::RecordExactClass => PlainOp::JitRecordExactClass.into(),
            TsKind::RecordExactValue => PlainOp::JitRecordExactValue.into(),
            TsKind::RecordNonNull | TsKind::CheckIndex => PlainOp::DebugAssert.into(),
            TsKind::ExcOccurred => PlainOp::ExcOccurred.into(),
            TsKind::ExcType => PlainOp::ExcType.into(),
            TsKind::ExcValue => PlainOp::ExcValue.into(),
            TsKind::ExcSet => PlainOp::ExcSet.into(),
            TsKind::ExcClear => PlainOp::ExcClear.into(),
            TsKind::Cast
            | TsKind::MergePoint { .. }
            | TsKind::Promote
            | TsKind::UniqueString
            | TsKind::PromoteField
            | TsKind::ForceVirtualizable
            | TsKind::RevealConst
            | TsKind::GreenCall
            | TsKind::Call(..)
            | TsKind::Inline(_)
            | TsKind::ElidableCall
            | TsKind::ResidualCall
            | TsKind::DriverMergePoint { .. }
            | TsKind::LoopCloses
            | TsKind::ReverseSplitQueue => return None,
        };
        View::of(op, &self.args)
    }

    /// The pointer and the path to what it reads, if it reads a field, an item or a length.
    pub(crate) fn read_place(&self) -> Option<(&Arg, &[Arg])> {
        match self.view()? {
            View::Getarraysize { array } => Some((array, &[])),
            View::Getinteriorarraysize { object, path } => Some((object, path)),
            other => (other.access().filter(|a| a.stored.is_none())).map(|a| (a.object, a.path)),
        }
    }
}

/// An edge.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct TsLink {
    pub(crate) target: u32,
    pub(crate) args: Vec<Arg>,
    pub(crate) case: ExitCase<LowLevel>,
}

/// How a block ends.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum TsExit {
    Goto(TsLink),
    /// On a green value, by cases.
    Switch(Arg, Vec<TsLink>),
    /// On a red truth value: if true, if false.
    Split(Arg, TsLink, TsLink),
    /// After an operation that checks for overflow: without, with.
    Overflow(TsLink, TsLink),
    Return(Slot),
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct TsBlock {
    pub(crate) inputs: Vec<Slot>,
    /// What is used in it or after it, inputs among it.
    pub(crate) live: Vec<Slot>,
    /// The block is the head of a loop.
    pub(crate) is_head: bool,
    pub(crate) ops: Vec<TsOp>,
    pub(crate) exit: TsExit,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct SlotInfo {
    pub(crate) ty: LLType,
    pub(crate) green: bool,
    pub(crate) name: Box<str>,
}

/// The timeshifted graph of a function copy.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TsGraph {
    pub(crate) name: String,
    pub(crate) func: FuncSym,
    pub(crate) color: CallColor,
    pub(crate) slots: Vec<SlotInfo>,
    pub(crate) blocks: Vec<TsBlock>,
    /// Where it starts; the inputs are the arguments.
    pub(crate) start: u32,
}

impl TsGraph {
    /// The slots that are used by the exit of a block, which is on a value, or after it, in order.
    pub(crate) fn live_at_exit(&self, block: u32, on: &Arg) -> Vec<Slot> {
        let exit = &self.blocks[block as usize].exit;
        let args = exit.links().flat_map(|l| &l.args).chain([on]);
        let slots = args.filter_map(|a| match a {
            Arg::Slot(s) => Some(*s),
            Arg::Const(_) => None,
        });
        let mut live: Vec<Slot> = slots.collect();
        for link in exit.links() {
            let target = &self.blocks[link.target as usize];
            live.extend(target.live.iter().filter(|s| !target.inputs.contains(s)));
        }
        live.sort_unstable();
        live.dedup();
        live
    }

    /// The same with all arrays made at run time.
    pub(crate) fn with_real_arrays(mut self) -> TsGraph {
        for op in self.blocks.iter_mut().flat_map(|b| &mut b.ops) {
            if let TsKind::MallocVarsize(_) = op.kind {
                op.kind = TsKind::Plain(PlainOp::MallocVarsize.into());
            }
        }
        self
    }
}

impl TsGraph {
    /// Source instructions of its operations, in order.
    pub fn instructions(&self) -> BTreeSet<u32> {
        let operations = self.blocks.iter().flat_map(|b| &b.ops);
        operations.map(|op| op.at).collect()
    }

    /// The instruction of the driver's merge point.
    pub fn merge_point(&self) -> Option<u32> {
        let mut operations = self.blocks.iter().flat_map(|b| &b.ops);
        let point = operations.find(|op| matches!(op.kind, TsKind::DriverMergePoint { .. }));
        point.map(|op| op.at)
    }

    /// The runtime arguments that are used as an index or passed to a function, directly or after arithmetic. Code may
    /// depend on their values.
    pub fn deciding_arguments(&self) -> Vec<bool> {
        let inputs = self.blocks[self.start as usize].inputs.iter();
        let inputs = inputs.filter(|s| !self.slots[**s as usize].ty.is_void());
        inputs.map(|s| self.decides(*s)).collect()
    }

    fn decides(&self, argument: Slot) -> bool {
        let mut from = FxHashSet::from_iter([argument]);
        loop {
            let before = from.len();
            let is_in =
                |a: &Arg, from: &FxHashSet<Slot>| matches!(a, Arg::Slot(s) if from.contains(s));
            for b in &self.blocks {
                for op in &b.ops {
                    let used = op.args.iter().position(|a| is_in(a, &from));
                    match (&op.kind, used) {
                        (_, None) | (TsKind::DriverMergePoint { .. }, _) => {}
                        (TsKind::Read { .. }, _) => return true,
                        (
                            TsKind::Call(..)
                            | TsKind::Inline(_)
                            | TsKind::GreenCall
                            | TsKind::ElidableCall
                            | TsKind::ResidualCall,
                            _,
                        ) => {
                            // Helpers only format numbers and the like.
                            let helper = matches!(op.operand(), Arg::Const(LLConst::Func(f))
                                if matches!(f.kind(), FuncKind::Helper { .. }));
                            if !helper {
                                return true;
                            }
                        }
                        _ if op.read_place().is_some() => return true,
                        _ => _ = from.insert(op.result),
                    }
                }
                for link in b.exit.links() {
                    let inputs = self.blocks[link.target as usize].inputs.iter();
                    let passed = inputs.zip(&link.args).filter(|(_, a)| is_in(a, &from));
                    let passed: Vec<Slot> = passed.map(|(s, _)| *s).collect();
                    from.extend(passed);
                }
            }
            if from.len() == before {
                return false;
            }
        }
    }

    /// Names of its runtime arguments.
    pub fn argument_names(&self) -> Vec<&str> {
        let inputs = self.blocks[self.start as usize].inputs.iter();
        let slots = inputs.map(|s| &self.slots[*s as usize]);
        let slots = slots.filter(|s| !s.ty.is_void());
        slots.map(|s| &*s.name).collect()
    }

    /// Marks the blocks that are heads of loops.
    pub(crate) fn find_loop_heads(&mut self) {
        let mut seen = vec![false; self.blocks.len()];
        let mut open = vec![false; self.blocks.len()];
        // A block with the targets of its links that are still to be visited.
        let mut path: Vec<(u32, Vec<u32>)> = Vec::new();
        let targets = |blocks: &[TsBlock], b: u32| {
            let exit = &blocks[b as usize].exit;
            exit.links().map(|l| l.target).collect::<Vec<u32>>()
        };
        (seen[self.start as usize], open[self.start as usize]) = (true, true);
        path.push((self.start, targets(&self.blocks, self.start)));
        while let Some((b, left)) = path.last_mut() {
            let Some(to) = left.pop() else {
                open[*b as usize] = false;
                path.pop();
                continue;
            };
            self.blocks[to as usize].is_head |= open[to as usize];
            if !std::mem::replace(&mut seen[to as usize], true) {
                open[to as usize] = true;
                path.push((to, targets(&self.blocks, to)));
            }
        }
    }
}

impl TsLink {
    pub(crate) fn to(target: u32, args: Vec<Arg>) -> TsLink {
        TsLink {
            target,
            args,
            case: ExitCase::None,
        }
    }
}

impl TsExit {
    /// Where it may lead.
    pub(crate) fn links(&self) -> impl Iterator<Item = &TsLink> {
        let (one, two, many): (_, _, &[TsLink]) = match self {
            TsExit::Goto(l) => (Some(l), None, &[]),
            TsExit::Split(_, a, b) | TsExit::Overflow(a, b) => (Some(a), Some(b), &[]),
            TsExit::Switch(_, links) => (None, None, links),
            TsExit::Return(_) => (None, None, &[]),
        };
        one.into_iter().chain(two).chain(many)
    }
}
