//! Operations whose results only exits of a unit need, moved into these exits (LLVM: `Sink`).
//!
//! ```text
//! block1(p):                              block1(p):
//!     v = getfield(p, .vtable)                v = getfield(p, .vtable)
//!     f = getfield(v, .method)                c = ptr_eq(v, &cls)
//!     c = ptr_eq(v, &cls)                     switch c
//!     switch c                                    False: block2(p, v)
//!         False: block2(p, v, f)                  True: block3(p)
//!         True: block3(p)                 block2(p, v):
//! block2(p, v, f):                            f = getfield(v, .method)
//!     jit_exit(4096, p, v, f)                 jit_exit(4096, p, v, f)
//! ```
//!
//! Control leaves a unit seldom, so the operation costs nothing where it was, and no register or slot of the frame is
//! occupied for its result.

use rustc_hash::FxHashMap;
use taipan_graph::{BlockId, ExitSwitch, Operand, Operation, Substitution, VarId};
use taipan_lltype::{EFFECT, LLGraph, LowLevel, PlainOp};

/// Maximum number of uses, in exits, of the result of an operation that is moved.
const MOST_USES: usize = 4;

/// Moves operations into the exits of the unit that use their results, if nothing else does. The graph is in SSA form, and
/// stays in it. An operation that reads memory is moved only over the end of its block, and not over a write.
pub(crate) fn sink_into_exits_ssa(g: &mut LLGraph) {
    let order = g.reachable();
    let exits = Exits::of(g, &order);
    if exits.before.is_empty() {
        return;
    }
    let mut uses = uses(g, &order);
    for b in order.into_iter().rev() {
        let mut may_write = false;
        let raises = g.block(b).canraise();
        for i in (0..g.block(b).operations.len()).rev() {
            let op = &g.block(b).operations[i];
            let is_last = raises && i + 1 == g.block(b).operations.len();
            let goes = !is_last
                && op.op.is_removable()
                && exits.takes(b, op, uses.get(&op.result), may_write);
            if goes {
                let op = g.block_mut(b).operations.remove(i);
                move_into(g, b, op, &mut uses);
            } else {
                may_write |= writes(op);
            }
        }
    }
}

/// Whether an operation may write memory that loads read.
fn writes(op: &Operation<LowLevel>) -> bool {
    let is_note = op.op == PlainOp::JitNote.into() || op.op == PlainOp::JitCount.into();
    op.op.flags() & EFFECT != 0 && !is_note
}

/// The blocks with a use of each variable, one entry for each use.
type Uses = FxHashMap<VarId, Vec<BlockId>>;

fn uses(g: &LLGraph, order: &[BlockId]) -> Uses {
    let mut uses = Uses::default();
    for b in order {
        let block = g.block(*b);
        let operands = block.operations.iter().flat_map(|op| &op.args);
        let passed = block.exits.iter().flat_map(|l| &l.args);
        let switch = match &block.exitswitch {
            ExitSwitch::Value(v) => Some(v),
            _ => None,
        };
        for v in operands.chain(passed).chain(switch) {
            if let Operand::Var(v) = v {
                uses.entry(*v).or_default().push(*b);
            }
        }
    }
    uses
}

/// The exits of a unit that one block leads to, with that block.
pub(crate) struct Exits {
    before: FxHashMap<BlockId, BlockId>,
}

impl Exits {
    /// The exits of a graph; `order` has its reachable blocks.
    pub(crate) fn of(g: &LLGraph, order: &[BlockId]) -> Exits {
        let mut entries = vec![0u32; g.blocks.len()];
        for l in order.iter().flat_map(|b| &g.block(*b).exits) {
            entries[l.target.index()] += 1;
        }
        let is_exit = |b: BlockId| {
            let mut operations = g.block(b).operations.iter();
            entries[b.index()] == 1 && operations.any(|op| op.op == PlainOp::JitExit.into())
        };
        let mut before = FxHashMap::default();
        for b in order {
            let targets = g.block(*b).exits.iter().map(|l| l.target);
            before.extend(targets.filter(|t| is_exit(*t)).map(|t| (t, *b)));
        }
        Exits { before }
    }

    /// Whether a block is an exit of the unit.
    pub(crate) fn contains(&self, b: BlockId) -> bool {
        self.before.contains_key(&b)
    }

    /// Whether an operation of a block may be made in the blocks that use its result, `used`. `may_write`: an operation behind it
    /// in its block may write memory.
    fn takes(
        &self,
        b: BlockId,
        op: &Operation<LowLevel>,
        used: Option<&Vec<BlockId>>,
        may_write: bool,
    ) -> bool {
        let Some(used) = used.filter(|used| used.len() <= MOST_USES) else {
            return false;
        };
        let reads = !op.op.can_fold();
        used.iter().all(|t| match self.before.get(t) {
            Some(before) => *t != b && (!reads || (*before == b && !may_write)),
            None => false,
        })
    }
}

/// Makes an operation that was taken from a block in each block that uses its result.
fn move_into(g: &mut LLGraph, from: BlockId, op: Operation<LowLevel>, uses: &mut Uses) {
    let mut targets = uses.remove(&op.result).unwrap_or_default();
    targets.sort_unstable();
    targets.dedup();
    for v in op.args.iter().filter_map(Operand::as_var) {
        let used = uses.entry(v).or_default();
        if let Some(i) = used.iter().position(|b| *b == from) {
            used.swap_remove(i);
        }
        used.extend(&targets);
    }
    for (i, t) in targets.into_iter().enumerate() {
        let mut copy = op.clone();
        if i > 0 {
            copy.result = g.copy_var(op.result);
            let map = Substitution::<LowLevel>::from_iter([(op.result, copy.result.into())]);
            g.block_mut(t).substitute(&map);
        }
        g.block_mut(t).operations.insert(0, copy);
    }
}
