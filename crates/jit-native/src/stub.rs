//! A portal in the form in which calls of it enter compiled code.

use taipan_graph::{BlockId, Link, Operation};
use taipan_lltype::{FuncSym, LLConst, LLGraph, LLOperand, LLType, OBJECT, OBJECT_VTABLE, PlainOp};

/// A graph that takes the arguments of a portal and calls the code for the green ones with
/// the others. It is to be transformed like any other.
pub fn enter_stub(portal: &FuncSym, driver: usize, green: &[bool]) -> LLGraph {
    let ty = portal.ty();
    let mut g = LLGraph::new(portal.name(), ty.result, OBJECT_VTABLE.ptr(), OBJECT.ptr());
    let args: Vec<_> = ty.args.iter().map(|t| g.new_var("", *t)).collect();
    let of_color = |color: bool| {
        (args.iter().zip(&ty.args).zip(green))
            .filter(move |((_, t), green)| !t.is_void() && **green == color)
            .map(|((v, t), _)| (LLOperand::Var(*v), *t))
    };
    let reds: Vec<LLType> = of_color(false).map(|(_, t)| t).collect();
    let code_type = LLType::func(reds, ty.result).ptr();
    let (code, result) = (g.new_var("", code_type), g.new_var("", ty.result));
    let number = LLOperand::Const(LLConst::signed(driver as i64));
    let enter = Operation {
        op: PlainOp::JitEnter.into(),
        args: std::iter::once(number)
            .chain(of_color(true).map(|(o, _)| o))
            .collect(),
        result: code,
        at: 0,
    };
    // Nobody knows what may be called: there are no targets.
    let nobody = LLOperand::Const(LLConst::void());
    let call = Operation {
        op: PlainOp::IndirectCall.into(),
        args: std::iter::once(LLOperand::Var(code))
            .chain(of_color(false).map(|(o, _)| o))
            .chain([nobody])
            .collect(),
        result,
        at: 0,
    };
    let exit = Link::new(g.returnblock, vec![LLOperand::Var(result)]);
    let block = g.block_mut(BlockId(0));
    block.inputargs = args;
    block.operations = vec![enter, call];
    block.exits.push(exit);
    g
}
