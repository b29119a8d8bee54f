//! Chains of comparisons with constants become switches
//! (RPython: `merge_if_blocks.py`).
//!
//! ```text
//! v1 = int_eq(v0, 1)                  switch v0
//! switch v1                               1: block1()
//!     True: block1()                      2: block3()
//!     False: block2()                     default: block4()
//! block2():
//! v2 = int_eq(v0, 2)
//! switch v2 True: block3() False: block4()
//! ```

use rustc_hash::FxHashMap;
use taipan_graph::{
    BlockId, ExitCase, ExitSwitch, Link, VarId, entry_map, remove_identical_vars_ssa, ssa_to_ssi,
};
use taipan_lltype::{LLConst, LLGraph, LLOperand, LowLevel, NamedOperands, NumOp, View};

/// Number of cases from which on a switch is better.
const MIN_CASES: usize = 3;

/// Makes switches of chains.
pub(crate) fn merge_if_blocks(g: &mut LLGraph) {
    let tests = (g.reachable().iter())
        .filter(|b| test_of(g, **b).is_some())
        .count();
    if tests < MIN_CASES {
        return;
    }
    remove_identical_vars_ssa(g);
    let entries = entry_map(g);
    let uses = g.count_uses();
    for b in g.reachable() {
        let Some((v, ..)) = test_of(g, b) else {
            continue;
        };
        let mut cases: Vec<Link<LowLevel>> = Vec::new();
        let mut at = b;
        let default = loop {
            let Some((w, value, equal, other)) = test_of(g, at) else {
                break None;
            };
            debug_assert_eq!(v, w);
            let case = ExitCase::Value(value);
            // The first of equal tests decides.
            if cases.iter().all(|l| l.case != case) {
                cases.push(Link { case, ..equal });
            }
            let next = other.target;
            // The outcome of a test that is left out is known behind its own exits
            // only.
            let chained = entries[next.index()].len() == 1
                && g.block(next).inputargs.is_empty()
                && g.block(next).operations.len() == 1
                && test_of(g, next).is_some_and(|(w, ..)| w == v)
                && outcome_stays(g, next, &uses);
            if !chained {
                break Some(other);
            }
            at = next;
        };
        let Some(default) = default.filter(|_| cases.len() >= MIN_CASES) else {
            continue;
        };
        cases.push(Link {
            case: ExitCase::Default,
            ..default
        });
        let block = g.block_mut(b);
        block.exitswitch = ExitSwitch::Value(v.into());
        block.exits = cases;
    }
    ssa_to_ssi(g);
}

/// Whether what a block branches on goes nowhere but into its own exits.
fn outcome_stays(g: &LLGraph, b: BlockId, uses: &FxHashMap<VarId, usize>) -> bool {
    let block = g.block(b);
    let ExitSwitch::Value(LLOperand::Var(c)) = &block.exitswitch else {
        return true;
    };
    let args = block.exits.iter().flat_map(|l| &l.args);
    let own = args.filter(|a| **a == LLOperand::Var(*c)).count();
    uses.get(c).copied().unwrap_or_default() == own + 1
}

/// If a block ends in a test of a variable for a constant: the variable, the constant,
/// and the exits for equal and for other values.
#[allow(clippy::type_complexity, reason = "a local tuple")]
fn test_of(g: &LLGraph, b: BlockId) -> Option<(VarId, LLConst, Link<LowLevel>, Link<LowLevel>)> {
    let block = g.block(b);
    let ExitSwitch::Value(LLOperand::Var(c)) = &block.exitswitch else {
        return None;
    };
    let op = block.operations.last().filter(|op| op.result == *c)?;
    let View::Binary {
        op: num @ (NumOp::Eq | NumOp::Ne),
        left,
        right,
        ..
    } = op.view()
    else {
        return None;
    };
    let (v, constant) = match (left, right) {
        (LLOperand::Var(v), LLOperand::Const(k)) | (LLOperand::Const(k), LLOperand::Var(v)) => {
            (*v, k)
        }
        _ => return None,
    };
    if !matches!(
        constant,
        LLConst::Int(..) | LLConst::Char(_) | LLConst::UniChar(_)
    ) {
        return None;
    }
    let exit = |truth| {
        let mut link = (block.exits.iter())
            .find(|l| l.case == ExitCase::Bool(truth))?
            .clone();
        for arg in &mut link.args {
            if *arg == LLOperand::Var(*c) {
                *arg = LLOperand::Const(LLConst::Bool(truth));
            }
        }
        Some(link)
    };
    let equal = num == NumOp::Eq;
    Some((v, constant.clone(), exit(equal)?, exit(!equal)?))
}
