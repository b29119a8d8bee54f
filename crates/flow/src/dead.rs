//! Operations that are left out because nothing needs their results.
//!
//! RPython drops them before it annotates, so it says nothing of `n + "x"` where the sum is
//! not used. The annotator tries those that only compute with numbers and strings once it
//! knows their operands, and warns of what cannot succeed. An operand is a variable of the
//! finished graph: found again by an operation that stayed, which instruction it comes from
//! and which kind it is. What is not found for certain is not tried.

use rustc_hash::{FxHashMap, FxHashSet};
use taipan_graph::{
    BlockId, Const, Dialect, FunctionGraph, HighLevel, HlOp, Operand, Operation, VarId,
};

/// An operation that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadOperation {
    /// What it computes.
    pub op: HlOp,
    /// Its instruction.
    pub at: u32,
    /// Its operands; none if the kind of its result does not depend on them, as with `len`.
    pub args: Vec<DeadOperand>,
    /// A variable that has a value if the operation is reached. None where it always is.
    pub after: Option<VarId>,
}

/// An operand of an operation that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeadOperand {
    /// A constant.
    Const(Const),
    /// A variable of the finished graph.
    Var(VarId),
    /// The result of an earlier one of these operations.
    Dead(usize),
}

/// Where a variable is found in the finished graph.
#[derive(Clone, Copy)]
enum Place {
    Param(usize),
    /// The result of the operation of this kind and instruction.
    Result(HlOp, u32),
    /// An operand of it.
    Arg(HlOp, u32, usize),
}

enum Found {
    Const(Const),
    Place(Place),
    Dead(usize),
}

/// An operation that was left out, in terms of places.
struct Lost {
    op: HlOp,
    at: u32,
    args: Vec<Found>,
    after: Option<Place>,
}

/// What is left out of a graph by a first pass over it.
pub(crate) struct Leftovers(Vec<Lost>);

/// Computes with numbers and strings, and has no other effect.
fn computes(op: HlOp) -> bool {
    use HlOp::*;
    let op = op.not_inplace();
    let binary = [
        Add, Sub, Mul, Div, TrueDiv, FloorDiv, Mod, DivMod, LShift, RShift, And, Or, Xor,
    ];
    let others = [GetItem, Pos, Neg, Invert, Abs];
    HighLevel::is_removable(op) && (binary.contains(&op) || others.contains(&op))
}

/// Gives a value of the same kind whatever it works on.
fn has_one_kind(op: HlOp) -> bool {
    matches!(op, HlOp::Len | HlOp::Str | HlOp::Repr)
}

/// Runs a pass that removes operations, and finds out which it has removed.
pub(crate) fn removed_by(
    graph: &mut FunctionGraph,
    pass: impl FnOnce(&mut FunctionGraph),
) -> Leftovers {
    let mut before: Vec<(BlockId, usize, Operation<HighLevel>)> = Vec::new();
    for b in graph.reachable() {
        for (i, op) in graph.block(b).operations.iter().enumerate() {
            if computes(op.op) || has_one_kind(op.op) {
                before.push((b, i, op.clone()));
            }
        }
    }
    let mut old: FxHashMap<BlockId, Vec<VarId>> = FxHashMap::default();
    for (b, ..) in &before {
        old.entry(*b).or_insert_with(|| results(graph, *b));
    }
    pass(graph);
    let kept = |b: &BlockId| (*b, results(graph, *b).into_iter().collect());
    let kept: FxHashMap<BlockId, FxHashSet<VarId>> = old.keys().map(kept).collect();
    before.retain(|(b, _, op)| !kept[b].contains(&op.result));
    if before.is_empty() {
        return Leftovers(Vec::new());
    }
    let mut live = Live::of(graph);
    let mut stayed: FxHashMap<BlockId, Stayed> = FxHashMap::default();
    let mut lost: Vec<Lost> = Vec::new();
    let mut dead: FxHashMap<VarId, usize> = FxHashMap::default();
    for (b, i, op) in before {
        let mut find = |a: &Operand<HighLevel>| match a {
            Operand::Const(c) => Some(Found::Const(c.clone())),
            Operand::Var(v) => (dead.get(v).map(|d| Found::Dead(*d)))
                .or_else(|| live.place(graph, b, *v).map(Found::Place)),
        };
        let looked_at = if has_one_kind(op.op) {
            &[]
        } else {
            &op.args[..]
        };
        let Some(args) = looked_at.iter().map(&mut find).collect() else {
            continue;
        };
        // The last operation before it that stayed, or else the first behind it.
        let stayed = (stayed.entry(b)).or_insert_with(|| Stayed::of(&old[&b], &live));
        let after = stayed.before[i].or(stayed.first);
        if after.is_none() && b != graph.startblock {
            continue;
        }
        dead.insert(op.result, lost.len());
        lost.push(Lost {
            op: op.op,
            at: op.at,
            args,
            after,
        });
    }
    Leftovers(lost)
}

/// The operations of a block that stayed.
struct Stayed {
    /// For each that the block had, the last one before it.
    before: Vec<Option<Place>>,
    first: Option<Place>,
}

impl Stayed {
    fn of(results: &[VarId], live: &Live) -> Stayed {
        let mut last = None;
        let before = |v: &VarId| {
            let before = last;
            last = live.result(*v).or(last);
            before
        };
        Stayed {
            before: results.iter().map(before).collect(),
            first: results.iter().find_map(|v| live.result(*v)),
        }
    }
}

fn results(graph: &FunctionGraph, b: BlockId) -> Vec<VarId> {
    let operations = &graph.block(b).operations;
    operations.iter().map(|o| o.result).collect()
}

/// The operations that stayed.
struct Live {
    /// By result: kind and instruction. Only where no other is of the same.
    results: FxHashMap<VarId, (HlOp, u32)>,
    /// By block and operand, the first that works on it.
    args: FxHashMap<BlockId, FxHashMap<VarId, Place>>,
}

impl Live {
    fn of(graph: &FunctionGraph) -> Live {
        let mut all: FxHashMap<(HlOp, u32), Option<VarId>> = FxHashMap::default();
        for b in graph.reachable() {
            for op in &graph.block(b).operations {
                let only = |v: &mut Option<VarId>| *v = None;
                (all.entry((op.op, op.at)).and_modify(only)).or_insert(Some(op.result));
            }
        }
        let unique = |(key, v): ((HlOp, u32), Option<VarId>)| Some((v?, key));
        Live {
            results: all.into_iter().filter_map(unique).collect(),
            args: FxHashMap::default(),
        }
    }

    fn result(&self, v: VarId) -> Option<Place> {
        let (op, at) = self.results.get(&v)?;
        Some(Place::Result(*op, *at))
    }

    /// What a variable of a block is, elsewhere it may be known to be less.
    fn place(&mut self, graph: &FunctionGraph, b: BlockId, v: VarId) -> Option<Place> {
        let param = || graph.args().iter().position(|a| *a == v).map(Place::Param);
        let Live { results, args } = self;
        let mut arg = || {
            let args = args.entry(b).or_insert_with(|| {
                let mut places = FxHashMap::default();
                for op in &graph.block(b).operations {
                    let Some((kind, at)) = results.get(&op.result) else {
                        continue;
                    };
                    for (n, a) in op.args.iter().enumerate() {
                        if let Some(v) = a.as_var() {
                            (places.entry(v)).or_insert(Place::Arg(*kind, *at, n));
                        }
                    }
                }
                places
            });
            args.get(&v).copied()
        };
        let result = results.get(&v);
        let result = result.map(|(op, at)| Place::Result(*op, *at));
        result.or_else(param).or_else(&mut arg)
    }
}

impl Leftovers {
    /// The operations in terms of the finished graph.
    pub(crate) fn in_graph(self, graph: &FunctionGraph) -> Vec<DeadOperation> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let mut ops: FxHashMap<(HlOp, u32), Vec<&Operation<HighLevel>>> = FxHashMap::default();
        for b in graph.reachable() {
            for op in &graph.block(b).operations {
                ops.entry((op.op, op.at)).or_default().push(op);
            }
        }
        let find = |kind: HlOp, at: u32| match ops.get(&(kind, at)).map(Vec::as_slice) {
            Some([op]) => Some(*op),
            _ => None,
        };
        let var = |place: Place| match place {
            Place::Param(i) => graph.args().get(i).copied(),
            Place::Result(op, at) => find(op, at).map(|o| o.result),
            Place::Arg(op, at, n) => find(op, at).and_then(|o| o.args.get(n)?.as_var()),
        };
        let mut out: Vec<DeadOperation> = Vec::new();
        let mut kept: Vec<Option<usize>> = Vec::new();
        for lost in self.0 {
            let arg = |found: &Found| match found {
                Found::Const(c) => Some(DeadOperand::Const(c.clone())),
                Found::Place(p) => var(*p).map(DeadOperand::Var),
                Found::Dead(i) => kept[*i].map(DeadOperand::Dead),
            };
            let args: Option<Vec<DeadOperand>> = lost.args.iter().map(arg).collect();
            let after = lost.after.map(var);
            let (Some(args), None | Some(Some(_))) = (args, after) else {
                kept.push(None);
                continue;
            };
            kept.push(Some(out.len()));
            out.push(DeadOperation {
                op: lost.op,
                at: lost.at,
                args,
                after: after.flatten(),
            });
        }
        out
    }
}
