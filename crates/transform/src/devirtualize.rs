//! Virtual calls of few functions, as tests for those worth inlining
//! (RPython: `SmallFunctionSetPBCRepr`, which `-O2` uses for up to five functions).
//!
//! ```text
//! v1 = indirect_call(v0, v2, {A, B, C})       v3 = ptr_eq(v0, &A)
//!                                             switch v3
//!                                                 False: block2()
//!                                                 True: block1()
//!                                             block1():
//!                                             v4 = direct_call(&A, v2)
//!                                             goto block3(v4)
//!                                             block2():
//!                                             v5 = indirect_call(v0, v2, {B, C})
//!                                             goto block3(v5)
//!                                             block3(v1): ...
//! ```
//!
//! The pointers stay what they are; only the call is expanded, where that lets the
//! inliner go on.

use taipan_graph::{BlockId, ExitSwitch, Link, Operation};
use taipan_lltype::{
    BOOL, FuncSym, LLConst, LLGraph, LLOperand, LowLevel, NamedOperands, PlainOp, StructId, View,
    VoidConst,
};

use crate::ssa::{CutCall, branch, constant, copy_handler, cut_out_call, goto, push, type_of};

/// Number of functions up to which a call is looked at.
const MAX_TARGETS: usize = 5;

/// The functions of an indirect call that are worth a test; empty if it is to stay.
pub(crate) fn tested_targets(
    g: &LLGraph,
    op: &Operation<LowLevel>,
    is_worth_it: impl Fn(&FuncSym) -> bool,
) -> Vec<FuncSym> {
    if op.op != PlainOp::IndirectCall.into() {
        return Vec::new();
    }
    let View::IndirectCall {
        callee,
        targets: LLOperand::Const(LLConst::Void(VoidConst::Targets(targets))),
        ..
    } = op.view()
    else {
        return Vec::new();
    };
    let ty = type_of(g, callee);
    if targets.len() > MAX_TARGETS || targets.iter().any(|f| f.ptr_type() != ty) {
        return Vec::new();
    }
    targets.iter().filter(|f| is_worth_it(f)).cloned().collect()
}

/// Expands the indirect call at that place of a block into tests for these functions,
/// in SSA form. Returns the block with the rest, and those with direct calls.
pub(crate) fn expand_call(
    g: &mut LLGraph,
    b: BlockId,
    index: usize,
    tested: &[FuncSym],
) -> Vec<BlockId> {
    let is_method = comes_from_vtable(g, b, index);
    let (tail, cut) = cut_out_call(g, b, index);
    let Some(CutCall { call, handlers }) = cut else {
        return vec![tail];
    };
    let View::IndirectCall {
        callee,
        args,
        targets,
    } = call.view()
    else {
        return vec![tail];
    };
    let mut others = match targets {
        LLOperand::Const(LLConst::Void(VoidConst::Targets(t))) => t.to_vec(),
        _ => Vec::new(),
    };
    others.retain(|f| !tested.contains(f));
    let mut tested = tested.to_vec();
    // A vtable holds one of the functions: the last needs no test.
    if is_method && others.is_empty() {
        others.extend(tested.pop());
    }
    let at = call.at;
    let mut made = vec![tail];
    let mut block = b;
    let mut call_in = |g: &mut LLGraph, block, new: View<'_, LLOperand>| {
        if let View::DirectCall { .. } = new {
            made.push(block);
        }
        let result = g.copy_var(call.result);
        g.block_mut(block)
            .operations
            .push(new.operation(result, at));
        goto(g, block, Link::new(tail, vec![result.into()]));
        if !handlers.is_empty() {
            g.block_mut(block).exitswitch = ExitSwitch::LastException;
            for h in &handlers {
                let link = copy_handler(g, h);
                g.block_mut(block).exits.push(link);
            }
        }
    };
    for f in &tested {
        let f = &constant(LLConst::Func(f.clone()));
        let is_it = View::PtrEq {
            left: callee,
            right: f,
        };
        let found = push(g, block, is_it, *BOOL, at);
        let (yes, no) = (g.new_block(Vec::new()), g.new_block(Vec::new()));
        let [to_no, to_yes] = [no, yes].map(|b| Link::new(b, Vec::new()));
        branch(g, block, found, to_no, to_yes);
        call_in(g, yes, View::DirectCall { callee: f, args });
        block = no;
    }
    match &others[..] {
        [f] if is_method => {
            let callee = &constant(LLConst::Func(f.clone()));
            call_in(g, block, View::DirectCall { callee, args });
        }
        // Who calls no function at all still calls one of these.
        _ => call_in(g, block, call.view()),
    }
    made
}

/// Whether the function that is called was read from a vtable in the same block.
fn comes_from_vtable(g: &LLGraph, b: BlockId, index: usize) -> bool {
    let operations = &g.block(b).operations[..=index];
    let call = operations.last().and_then(|op| op.view().call());
    let Some(function) = call.and_then(|call| call.callee.as_var()) else {
        return false;
    };
    let from = operations.iter().find(|op| op.result == function);
    match from.map(NamedOperands::view) {
        Some(View::Getfield { object, .. }) => (type_of(g, object).pointee())
            .and_then(|t| Some(matches!(t.as_struct()?.id, StructId::Vtable(_))))
            .unwrap_or(false),
        _ => false,
    }
}
