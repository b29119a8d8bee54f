//! A portal in the form in which calls of it enter compiled code.

use taipan_graph::{BlockId, Link};
use taipan_lltype::{FuncSym, LLConst, LLGraph, LLOperand, LLType, OBJECT, OBJECT_VTABLE, View};

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
    let [greens, reds] = [true, false].map(|c| of_color(c).map(|(o, _)| o).collect::<Vec<_>>());
    let enter = View::JitEnter {
        driver: &number,
        greens: &greens,
    };
    let call = View::IndirectCall {
        callee: &LLOperand::Var(code),
        args: &reds,
        // Nobody knows what may be called.
        targets: &LLOperand::Const(LLConst::void()),
    };
    let (enter, call) = (enter.operation(code, 0), call.operation(result, 0));
    let exit = Link::new(g.returnblock, vec![LLOperand::Var(result)]);
    let block = g.block_mut(BlockId(0));
    block.inputargs = args;
    block.operations = vec![enter, call];
    block.exits.push(exit);
    g
}
