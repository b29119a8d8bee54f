//! What callers and transforms need to know of a function
//! (RPython: `canraise.py`, `collectanalyze.py`, parts of `inline.py`).

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use taipan_graph::{BlockId, ExitSwitch, find_loops};
use taipan_lltype::{FuncSym, GC, LLGraph, LLOp, PlainOp, Program};

use crate::calls::{self, Callees, callees, external_effects, given_away};

/// What a pass may ask about other functions.
pub trait Summaries {
    /// The program, for struct bodies and builtin exceptions.
    fn program(&self) -> &dyn Program;

    /// Summary of the simplified graph of a function; none for external ones.
    fn summary(&self, f: &FuncSym) -> Option<Arc<Summary>>;

    /// The simplified graph of a function (see [`crate::simplify_graph`]), asked for
    /// only when it is going to be inlined.
    fn simplified(&self, f: &FuncSym) -> Option<Arc<LLGraph>>;

    /// What calling a function may do: see [`effects`].
    fn effects(&self, f: &FuncSym) -> Effects;
}

/// What a graph does by itself, and whom it calls.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Summary {
    /// Weighted number of operations.
    pub size: u32,
    /// Weighted number of operations that one call executes, if every way is equally
    /// likely, in tenths (RPython: `median_execution_cost`).
    pub cost: u32,
    /// Functions that it may call, each once, in order of first mention.
    pub callees: Vec<FuncSym>,
    /// Calls through pointers of unknown targets.
    pub calls_unknown: bool,
    /// Functions that C code is given to call.
    pub callbacks: Vec<FuncSym>,
    /// Raises by itself.
    pub raises: bool,
    /// Allocates GC memory by itself.
    pub collects: bool,
    /// Contains a loop.
    pub has_loop: bool,
    /// What the program says of inlining the function. Graphs do not tell: who knows the function
    /// adds it.
    pub inlining: Inlining,
}

/// What a program says of inlining a function.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub enum Inlining {
    /// Nothing: its size decides.
    #[default]
    BySize,
    /// `@always_inline` and `@try_inline` (`_always_inline_`): whatever its size.
    Always,
    /// `@dont_inline` (`_dont_inline_`): never.
    Never,
}

impl Summary {
    /// Whether the function calls nothing.
    pub(crate) fn is_leaf(&self) -> bool {
        self.callees.is_empty() && !self.calls_unknown
    }
}

/// What calling a function may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Effects {
    /// It may raise.
    pub can_raise: bool,
    /// It may run the collector.
    pub can_collect: bool,
    /// It checks the depth of the stack when entered: every cycle of calls goes
    /// through such a function.
    pub stack_check: bool,
}

/// Summarises a graph.
pub fn summary(g: &LLGraph) -> Summary {
    let mut s = Summary {
        has_loop: !find_loops(g).is_empty(),
        ..Summary::default()
    };
    let mut seen = FxHashSet::default();
    let mut weights = vec![0; g.blocks.len()];
    let order = g.reachable();
    for b in &order {
        let block = g.block(*b);
        for (i, op) in block.operations.iter().enumerate() {
            weights[b.index()] += weight(op.op, op.args.len());
            let caught = block.canraise() && i + 1 == block.operations.len();
            match callees(op) {
                Callees::Known(fs) => {
                    s.callbacks.extend(given_away(op).cloned());
                    s.callees
                        .extend(fs.iter().filter(|f| seen.insert((*f).clone())).cloned());
                }
                Callees::Unknown => s.calls_unknown = true,
                Callees::None => {
                    s.raises |= (op.op.can_raise() || calls::allocates(op)) && !caught;
                    s.collects |= op.op.flags() & GC != 0 && !calls::is_raw_malloc(op);
                }
            }
        }
        if !matches!(block.exitswitch, ExitSwitch::None) {
            weights[b.index()] += 10;
        }
        // An exception link to the except block passes on what a callee raised.
        s.raises |= (block.exits.iter()).any(|l| {
            l.target == g.exceptblock && (l.last_exception.is_none() || block_raises_itself(g, *b))
        });
    }
    // What a switch with many exits takes in code is mostly the ways to them.
    let ways = |b: &BlockId| (g.block(*b).exits.len() as u32).saturating_sub(2) * 5;
    s.size = (order.iter().map(|b| weights[b.index()] + ways(b))).sum::<u32>() / 10;
    s.cost = execution_cost(g, &order, &weights);
    s
}

fn block_raises_itself(g: &LLGraph, b: BlockId) -> bool {
    let last = g.block(b).operations.last();
    last.is_some_and(|op| {
        (op.op.can_raise() || calls::allocates(op)) && matches!(callees(op), Callees::None)
    })
}

/// Weight of an operation, in tenths.
fn weight(op: LLOp, args: usize) -> u32 {
    let args = args as u32;
    match op {
        LLOp::Num(..) => 10,
        LLOp::Plain(p) => match p {
            PlainOp::SameAs | PlainOp::CastPointer | PlainOp::Keepalive | PlainOp::Hint => 0,
            PlainOp::Likely | PlainOp::Unlikely | PlainOp::JitMarker => 0,
            PlainOp::JitNote | PlainOp::JitForceQuasiImmutable => 0,
            PlainOp::DirectCall => 15 + 5 * args,
            PlainOp::IndirectCall => 20 + 5 * args,
            PlainOp::Malloc | PlainOp::MallocVarsize => 20,
            _ => 10,
        },
    }
}

/// Expected cost of one run; where a block has several exits, each is as likely.
fn execution_cost(g: &LLGraph, order: &[BlockId], weights: &[u32]) -> u32 {
    let mut cost = vec![0.0f64; g.blocks.len()];
    // Enough rounds for the contribution of loops, which falls geometrically.
    for _ in 0..24 {
        let mut change = 0.0f64;
        for b in order.iter().rev() {
            let exits: Vec<BlockId> = (g.block(*b).exits.iter())
                .map(|l| l.target)
                .filter(|t| *t != g.exceptblock)
                .collect();
            let rest: f64 = exits.iter().map(|t| cost[t.index()]).sum();
            let new = f64::from(weights[b.index()]) + rest / exits.len().max(1) as f64;
            change = change.max((new - cost[b.index()]).abs());
            cost[b.index()] = new;
        }
        if change < 1.0 {
            break;
        }
    }
    cost[g.startblock.index()] as u32
}

/// What calling each function of a program may do, from the summaries of all of them:
/// the least fixpoint over the call graph. Functions that are called but not listed
/// may do anything.
pub fn effects(functions: &[(FuncSym, Arc<Summary>)]) -> FxHashMap<FuncSym, Effects> {
    let index: FxHashMap<&FuncSym, usize> = functions
        .iter()
        .enumerate()
        .map(|(i, (f, _))| (f, i))
        .collect();
    let mut calls: Vec<Vec<usize>> = Vec::with_capacity(functions.len());
    let mut all: Vec<Effects> = Vec::with_capacity(functions.len());
    for (_, s) in functions {
        let mut e = Effects {
            can_raise: s.raises || s.calls_unknown,
            can_collect: s.collects || s.calls_unknown,
            stack_check: false,
        };
        let mut known = Vec::new();
        for f in &s.callees {
            match (index.get(f), external_effects(f)) {
                (Some(i), _) => known.push(*i),
                (None, Some(x)) => {
                    e.can_raise |= x.can_raise;
                    e.can_collect |= x.can_collect;
                }
                (None, None) => (e.can_raise, e.can_collect) = (true, true),
            }
        }
        calls.push(known);
        all.push(e);
    }
    let mut breakers = cycle_breakers(&calls);
    // Cycles that are not seen here: through pointers that may be anything, and through C
    // code. Each goes through one of these.
    breakers.extend((0..functions.len()).filter(|i| functions[*i].1.calls_unknown));
    let callbacks = functions.iter().flat_map(|(_, s)| &s.callbacks);
    breakers.extend(callbacks.filter_map(|f| index.get(f)));
    for i in breakers {
        all[i].stack_check = true;
        all[i].can_raise = true;
    }
    let mut callers: Vec<Vec<usize>> = vec![Vec::new(); functions.len()];
    for (i, cs) in calls.iter().enumerate() {
        for c in cs {
            callers[*c].push(i);
        }
    }
    let mut pending: Vec<usize> = (0..functions.len()).collect();
    while let Some(i) = pending.pop() {
        let e = all[i];
        for c in &callers[i] {
            let to = &mut all[*c];
            let before = *to;
            to.can_raise |= e.can_raise;
            to.can_collect |= e.can_collect;
            if *to != before {
                pending.push(*c);
            }
        }
    }
    functions.iter().map(|(f, _)| f.clone()).zip(all).collect()
}

/// Functions that every cycle of calls goes through: the targets of back edges of a
/// depth-first walk.
fn cycle_breakers(calls: &[Vec<usize>]) -> Vec<usize> {
    #[derive(Clone, Copy, PartialEq)]
    enum Seen {
        Not,
        Open,
        Done,
    }
    let mut seen = vec![Seen::Not; calls.len()];
    let mut breakers = FxHashSet::default();
    for start in 0..calls.len() {
        if seen[start] != Seen::Not {
            continue;
        }
        let mut stack = vec![(start, 0)];
        seen[start] = Seen::Open;
        while let Some((f, i)) = stack.last_mut() {
            match calls[*f].get(*i) {
                None => {
                    seen[*f] = Seen::Done;
                    stack.pop();
                }
                Some(&c) => {
                    *i += 1;
                    match seen[c] {
                        Seen::Open => {
                            breakers.insert(c);
                        }
                        Seen::Not => {
                            seen[c] = Seen::Open;
                            stack.push((c, 0));
                        }
                        Seen::Done => {}
                    }
                }
            }
        }
    }
    let mut breakers: Vec<usize> = breakers.into_iter().collect();
    breakers.sort_unstable();
    breakers
}
