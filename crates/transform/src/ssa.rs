//! Small tools for passes that build code in SSA form.

use taipan_graph::{BlockId, ExitCase, ExitSwitch, Link, Operation, Substitution, VarId};
use taipan_lltype::{LLConst, LLGraph, LLOperand, LLType, LowLevel, TypeKind, View, word_const};

/// Appends an operation to a block and answers its result.
pub(crate) fn push(
    g: &mut LLGraph,
    b: BlockId,
    op: View<'_, LLOperand>,
    result: LLType,
    at: u32,
) -> VarId {
    let result = g.new_var("", result);
    g.block_mut(b).operations.push(op.operation(result, at));
    result
}

/// Makes a block end in an unconditional link.
pub(crate) fn goto(g: &mut LLGraph, b: BlockId, link: Link<LowLevel>) {
    let block = g.block_mut(b);
    block.exitswitch = ExitSwitch::None;
    block.exits = vec![Link {
        case: ExitCase::None,
        last_exception: None,
        last_exc_value: None,
        ..link
    }];
}

/// Makes a block end in a branch on a Bool.
pub(crate) fn branch(
    g: &mut LLGraph,
    b: BlockId,
    cond: impl Into<LLOperand>,
    no: Link<LowLevel>,
    yes: Link<LowLevel>,
) {
    let exit = |link: Link<LowLevel>, case| Link {
        case: ExitCase::Bool(case),
        last_exception: None,
        last_exc_value: None,
        ..link
    };
    let block = g.block_mut(b);
    block.exitswitch = ExitSwitch::Value(cond.into());
    block.exits = vec![exit(no, false), exit(yes, true)];
}

/// Moves the operations from `index` on and the exits to a new block without input
/// arguments, which the old one links to: what it uses dominates it.
pub(crate) fn split_ssa(g: &mut LLGraph, b: BlockId, index: usize) -> BlockId {
    let new = g.new_block(Vec::new());
    let block = g.block_mut(b);
    let operations = block.operations.split_off(index);
    let exitswitch = std::mem::replace(&mut block.exitswitch, ExitSwitch::None);
    let exits = std::mem::replace(&mut block.exits, vec![Link::new(new, Vec::new())]);
    let tail = g.block_mut(new);
    (tail.operations, tail.exitswitch, tail.exits) = (operations, exitswitch, exits);
    new
}

/// A call that [`cut_out_call`] took out of its block.
pub(crate) struct CutCall {
    pub(crate) call: Operation<LowLevel>,
    /// Where its exceptions went.
    pub(crate) handlers: Vec<Link<LowLevel>>,
}

/// Takes the call at `index` out of its block, in SSA form. Returns the block with what follows it,
/// which takes its result as an argument, and the call; no call where there is no operation.
pub(crate) fn cut_out_call(
    g: &mut LLGraph,
    b: BlockId,
    index: usize,
) -> (BlockId, Option<CutCall>) {
    let tail = split_ssa(g, b, index + 1);
    let Some(call) = g.block_mut(b).operations.pop() else {
        return (tail, None);
    };
    let rest = g.block_mut(tail);
    rest.inputargs = vec![call.result];
    let mut handlers = Vec::new();
    if rest.operations.is_empty() && rest.canraise() {
        handlers = rest.exits.split_off(1);
        rest.exitswitch = ExitSwitch::None;
    }
    (tail, Some(CutCall { call, handlers }))
}

/// Type of an operand.
pub(crate) fn type_of(g: &LLGraph, o: &LLOperand) -> LLType {
    match o {
        LLOperand::Var(v) => *g.ty(*v),
        LLOperand::Const(c) => c.ty(),
    }
}

/// The zero, null or Void of a type; none for containers.
pub(crate) fn zero(ty: LLType) -> Option<LLConst> {
    match ty.kind() {
        TypeKind::Ptr(_) | TypeKind::Address => Some(LLConst::Null(ty)),
        _ => word_const(0, ty),
    }
}

/// A constant as operand.
pub(crate) fn constant(c: LLConst) -> LLOperand {
    LLOperand::Const(c)
}

/// The arguments of a link after substitution.
pub(crate) fn substituted(args: &[LLOperand], map: &Substitution<LowLevel>) -> Vec<LLOperand> {
    (args.iter())
        .map(|a| a.as_var().and_then(|v| map.get(&v)).unwrap_or(a).clone())
        .collect()
}

/// What a handler link passes, given the exception.
pub(crate) fn handler_args(
    h: &Link<LowLevel>,
    etype: LLOperand,
    evalue: LLOperand,
) -> Vec<LLOperand> {
    let mut map = Substitution::<LowLevel>::default();
    for (v, o) in [(h.last_exception, etype), (h.last_exc_value, evalue)] {
        if let Some(v) = v {
            map.insert(v, o);
        }
    }
    substituted(&h.args, &map)
}

/// An exception link of its own, to where another one leads.
pub(crate) fn copy_handler(g: &mut LLGraph, h: &Link<LowLevel>) -> Link<LowLevel> {
    let mut link = h.clone();
    let mut fresh = |v: Option<_>| v.map(|v| g.copy_var(v));
    link.last_exception = fresh(h.last_exception);
    link.last_exc_value = fresh(h.last_exc_value);
    let operand = |v: Option<_>| v.map_or(constant(LLConst::void()), LLOperand::Var);
    link.args = handler_args(
        h,
        operand(link.last_exception),
        operand(link.last_exc_value),
    );
    link
}
