//! What a graph is decoded into before it runs: instructions over numbered slots.

use std::sync::Arc;

use taipan_graph::BlockId;
use taipan_lltype::{Access, FuncSym, LLGraph, LLType, NumFamily, NumOp, PlainOp};

use crate::by_name::Run;

/// An operand: a slot of the frame, or with the top bit set a constant of the code.
/// 128-bit values take two neighbouring places.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Opnd(pub(crate) u32);

pub(crate) const CONSTANT: u32 = 1 << 31;

impl Opnd {
    /// The place of the upper half of a 128-bit value.
    pub(crate) fn high(self) -> Opnd {
        Opnd(self.0 + 1)
    }
}

/// Where the items of an array are, for an access by index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ItemShape {
    pub(crate) start: u64,
    pub(crate) step: u64,
    /// Offset of the length word.
    pub(crate) length: Option<u64>,
    /// Number of items of a fixed-size array.
    pub(crate) fixed: Option<u64>,
    pub(crate) ty: LLType,
}

/// A run of operands in [`Code::lists`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpndList {
    pub(crate) start: u32,
    pub(crate) len: u32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Inst {
    Num {
        family: NumFamily,
        op: NumOp,
        a: Opnd,
        b: Opnd,
        dst: u32,
    },
    Wide {
        signed: bool,
        op: NumOp,
        a: Opnd,
        b: Opnd,
        b_wide: bool,
        dst: u32,
        dst_wide: bool,
    },
    Ovf {
        op: PlainOp,
        a: Opnd,
        b: Opnd,
        dst: u32,
    },
    Between {
        a: Opnd,
        b: Opnd,
        c: Opnd,
        dst: u32,
    },
    ForceGeZero {
        a: Opnd,
        dst: u32,
    },
    MulHigh {
        a: Opnd,
        b: Opnd,
        dst: u32,
    },
    Move {
        a: Opnd,
        dst: u32,
    },
    /// Between types of [`Code::types`].
    Convert {
        a: Opnd,
        from: u32,
        to: u32,
        dst: u32,
    },
    CheckCast {
        a: Opnd,
        to: u32,
        dst: u32,
    },
    Load {
        p: Opnd,
        offset: u32,
        access: Access,
        dst: u32,
    },
    Store {
        p: Opnd,
        offset: u32,
        access: Access,
        v: Opnd,
    },
    LoadItem {
        p: Opnd,
        index: Opnd,
        shape: u32,
        access: Access,
        dst: u32,
    },
    StoreItem {
        p: Opnd,
        index: Opnd,
        shape: u32,
        access: Access,
        v: Opnd,
    },
    ItemAddr {
        p: Opnd,
        index: Opnd,
        shape: u32,
        dst: u32,
    },
    Malloc {
        ty: u32,
        length: Opnd,
        zero: bool,
        dst: u32,
    },
    /// Notes a new object that has a destructor.
    Finalize {
        p: Opnd,
    },
    /// An allocation that may find the nursery full.
    Nursery {
        ty: u32,
        full: u32,
        dst: u32,
    },
    Call {
        func: u32,
        args: OpndList,
        dst: u32,
    },
    CallIndirect {
        func: Opnd,
        args: OpndList,
        dst: u32,
    },
    /// Between arrays of a type.
    CopyItems {
        ty: u32,
        args: OpndList,
    },
    Collect,
    JitEnter {
        args: OpndList,
        dst: u32,
    },
    /// Any other operation.
    Run {
        run: Run,
        args: OpndList,
        dst: u32,
    },
    Goto {
        link: u32,
    },
    Branch {
        cond: Opnd,
        yes: u32,
        no: u32,
    },
    /// To an instruction, if the operand is zero.
    SkipIfZero {
        cond: Opnd,
        to: u32,
    },
    /// By a table of [`Code::switches`].
    Switch {
        v: Opnd,
        wide: bool,
        table: u32,
    },
    Return {
        v: Opnd,
    },
    Raise {
        etype: Opnd,
        evalue: Opnd,
    },
    /// The graph is malformed here; which way, by number in [`Code::faults`].
    Fault {
        message: u32,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct LinkCode {
    pub(crate) target: u32,
    pub(crate) moves: Vec<(Opnd, u32)>,
    /// Whether a source is overwritten by an earlier move.
    pub(crate) overlapping: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct SwitchTable {
    pub(crate) cases: Vec<(i128, u32)>,
    pub(crate) default: Option<u32>,
}

/// What catches the exceptions of an instruction.
#[derive(Clone, Debug)]
pub(crate) struct Handler {
    /// Address of the vtable.
    pub(crate) class: u64,
    pub(crate) etype: Option<u32>,
    pub(crate) evalue: Option<u32>,
    pub(crate) link: u32,
}

/// A decoded graph.
#[derive(Debug)]
pub(crate) struct Code {
    pub(crate) func: FuncSym,
    pub(crate) graph: Arc<LLGraph>,
    pub(crate) slots: u32,
    /// The slot of each variable of the graph.
    pub(crate) slot_of: Vec<u32>,
    /// Slots of the arguments and their types.
    pub(crate) args: Vec<(u32, LLType)>,
    pub(crate) result: LLType,
    pub(crate) constants: Vec<u64>,
    pub(crate) insts: Vec<Inst>,
    /// Block and operation of each instruction.
    pub(crate) places: Vec<(BlockId, u32)>,
    pub(crate) lists: Vec<Opnd>,
    pub(crate) links: Vec<LinkCode>,
    pub(crate) switches: Vec<SwitchTable>,
    /// By instruction, ascending.
    pub(crate) handlers: Vec<(u32, Vec<Handler>)>,
    pub(crate) shapes: Vec<ItemShape>,
    pub(crate) types: Vec<LLType>,
    pub(crate) faults: Vec<String>,
}

impl Code {
    pub(crate) fn list(&self, l: OpndList) -> &[Opnd] {
        &self.lists[l.start as usize..(l.start + l.len) as usize]
    }

    pub(crate) fn handlers(&self, pc: usize) -> &[Handler] {
        match self.handlers.binary_search_by_key(&(pc as u32), |h| h.0) {
            Ok(i) => &self.handlers[i].1,
            Err(_) => &[],
        }
    }
}
