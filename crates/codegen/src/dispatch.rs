//! Tables of the addresses of handlers, by which loops over bytecodes jump.

use taipan_graph::{BlockId, ExitCase, ExitSwitch, VarId};
use taipan_lltype::{LLGraph, LLOperand, TypeKind, const_word, is_large_switch};

/// Tables have at most so many entries.
const MAX_TABLE: i128 = 1024;
/// What a byte can be. A switch on such values has them all in its table, so that compilers see where none
/// is outside.
const BYTES: i128 = 256;

/// The table of a block that does nothing but jump to one of many others, as `thread_dispatch`
/// leaves them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DispatchTable {
    /// What decides where the block jumps to.
    pub on: VarId,
    /// The value that the first entry is for.
    pub first: i128,
    /// For each entry the number of the exit, if there is one for its value.
    pub exits: Vec<Option<usize>>,
    /// The exit for all other values.
    pub otherwise: Option<usize>,
    /// Whether there is an entry for each value that can be.
    pub complete: bool,
}

impl DispatchTable {
    /// The table of a block that so many links lead to, if it has one.
    pub fn of(graph: &LLGraph, id: BlockId, entries: usize) -> Option<DispatchTable> {
        let block = graph.block(id);
        let ExitSwitch::Value(LLOperand::Var(on)) = block.exitswitch else {
            return None;
        };
        if !block.operations.is_empty() || entries < 2 || !is_large_switch(block) {
            return None;
        }
        let is_char = match graph.ty(on).kind() {
            TypeKind::Char => true,
            TypeKind::Int(k) if k.bits <= 64 => false,
            _ => return None,
        };
        let mut cases = Vec::with_capacity(block.exits.len());
        let mut otherwise = None;
        for (i, link) in block.exits.iter().enumerate() {
            match &link.case {
                ExitCase::Value(c) => cases.push((const_word(c)?, i)),
                ExitCase::Default => otherwise = Some(i),
                _ => return None,
            }
        }
        let values = cases.iter().map(|(v, _)| *v);
        let (mut first, mut last) = (values.clone().min()?, values.max()?);
        if first >= 0 && last < BYTES {
            (first, last) = (0, BYTES - 1);
        }
        let count = last - first + 1;
        if count > MAX_TABLE {
            return None;
        }
        let mut exits = vec![None; count as usize];
        for (v, i) in cases {
            // Of exits for the same value the first one counts.
            exits[(v - first) as usize].get_or_insert(i);
        }
        Some(DispatchTable {
            on,
            first,
            exits,
            otherwise,
            complete: is_char && count == BYTES,
        })
    }
}
