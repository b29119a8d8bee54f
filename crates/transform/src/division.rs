//! Division by constants, with Python's rounding.
//!
//! ```text
//! v1 = direct_call(&rint.ll_int_py_div, v0, 8)      v1 = int_rshift(v0, 3)
//! v2 = direct_call(&rint.ll_int_py_mod, v0, 8)      v2 = int_and(v0, 7)
//! ```
//!
//! By another positive constant: the machine's division, whose result is corrected
//! without a branch. The variants that check for zero and overflow have nothing to check.

use taipan_graph::{ExitCase, ExitSwitch, Operation};
use taipan_lltype::{
    ConstantOperand, FuncKind, LLConst, LLGraph, LLOperand, LowLevel, NamedOperands, NumFamily,
    NumOp, PlainOp, SIGNED, View,
};

use crate::ssa::constant;

/// Expands the divisions of a graph whose divisor is known.
pub(crate) fn expand_divisions(g: &mut LLGraph) {
    for b in g.reachable() {
        let count = g.block(b).operations.len();
        if !g
            .block(b)
            .operations
            .iter()
            .any(|op| division(op).is_some())
        {
            continue;
        }
        let operations = std::mem::take(&mut g.block_mut(b).operations);
        let mut new = Vec::with_capacity(count + 4);
        for (i, op) in operations.into_iter().enumerate() {
            let Some((dividend, is_mod, divisor)) = division(&op) else {
                new.push(op);
                continue;
            };
            expand(g, &mut new, &op, dividend, is_mod, divisor);
            let block = g.block_mut(b);
            if i + 1 == count && block.canraise() {
                block.exits.truncate(1);
                block.exits[0].case = ExitCase::None;
                block.exitswitch = ExitSwitch::None;
            }
        }
        g.block_mut(b).operations = new;
    }
}

/// If an operation is a division by a positive constant: the dividend, whether the result is
/// the remainder, and the divisor.
fn division(op: &Operation<LowLevel>) -> Option<(&LLOperand, bool, i64)> {
    let View::DirectCall {
        callee,
        args: [dividend, divisor],
    } = op.view_among(&[PlainOp::DirectCall])?
    else {
        return None;
    };
    let f = callee.as_function()?;
    let FuncKind::Helper { name, .. } = f.kind() else {
        return None;
    };
    let (is_mod, variant) = match name.strip_prefix("rint.ll_int_py_div") {
        Some(variant) => (false, variant),
        None => (true, name.strip_prefix("rint.ll_int_py_mod")?),
    };
    // What is not negative needs no correction: then shifts alone are better than what is there.
    let truncates = variant == "_nonnegargs";
    let rounds = matches!(variant, "" | "_zer" | "_ovf" | "_ovf_zer");
    if !(rounds || truncates) || f.ty().result != *SIGNED {
        return None;
    }
    match divisor.as_const() {
        Some(LLConst::Int(_, d)) if d.get() > 0 => {
            let divisor = i64::try_from(d.get()).ok()?;
            let expands = rounds || divisor & (divisor - 1) == 0;
            expands.then_some((dividend, is_mod, divisor))
        }
        _ => None,
    }
}

fn expand(
    g: &mut LLGraph,
    new: &mut Vec<Operation<LowLevel>>,
    op: &Operation<LowLevel>,
    dividend: &LLOperand,
    is_mod: bool,
    divisor: i64,
) {
    let x = dividend.clone();
    let int = |v: i64| constant(LLConst::signed(v));
    let mut emit = |num: NumOp, a: LLOperand, b: LLOperand, last: bool| {
        let result = if last {
            op.result
        } else {
            g.new_var("", *SIGNED)
        };
        let new_op = View::Binary {
            family: NumFamily::Int,
            op: num,
            left: &a,
            right: &b,
        };
        new.push(new_op.operation(result, op.at));
        LLOperand::Var(result)
    };
    match (is_mod, divisor & (divisor - 1) == 0) {
        (false, true) => {
            emit(
                NumOp::RShift,
                x,
                int(i64::from(divisor.trailing_zeros())),
                true,
            );
        }
        (true, true) => {
            emit(NumOp::And, x, int(divisor - 1), true);
        }
        (false, false) => {
            let q = emit(NumOp::FloorDiv, x.clone(), int(divisor), false);
            let product = emit(NumOp::Mul, q.clone(), int(divisor), false);
            let r = emit(NumOp::Sub, x, product, false);
            let correction = emit(NumOp::RShift, r, int(63), false);
            emit(NumOp::Add, q, correction, true);
        }
        (true, false) => {
            let r = emit(NumOp::Mod, x, int(divisor), false);
            let sign = emit(NumOp::RShift, r.clone(), int(63), false);
            let correction = emit(NumOp::And, sign, int(divisor), false);
            emit(NumOp::Add, r, correction, true);
        }
    }
}
