//! What graphs and prebuilt data refer to, for stages that need to know the whole
//! program before code is emitted.

use taipan_graph::{ExitCase, ExitSwitch};
use taipan_lltype::{FuncSym, LLConst, LLGraph, LLOperand, StaticSym, StaticValue, VoidConst};

/// Something that a graph or prebuilt data refers to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Reference<'a> {
    /// A function that is called or whose address is taken.
    Func(&'a FuncSym),
    /// Prebuilt data.
    Static(&'a StaticSym),
}

/// Calls `f` with every reference in the reachable part of a graph. What code
/// generation adds by itself (the exceptions of overflow and stack checks, type
/// information) is not among them.
pub fn graph_references<'a>(graph: &'a LLGraph, f: &mut dyn FnMut(Reference<'a>)) {
    for b in graph.reachable() {
        let block = graph.block(b);
        let args = block.operations.iter().flat_map(|op| &op.args);
        let link_args = block.exits.iter().flat_map(|l| &l.args);
        let switch = match &block.exitswitch {
            ExitSwitch::Value(v) => Some(v),
            _ => None,
        };
        for operand in args.chain(link_args).chain(switch) {
            if let LLOperand::Const(c) = operand {
                const_reference(c, f);
            }
        }
        for l in &block.exits {
            if let ExitCase::Exception(c) = &l.case {
                const_reference(c, f);
            }
        }
    }
}

/// Calls `f` with every reference in prebuilt data.
pub fn static_references<'a>(value: &'a StaticValue, f: &mut dyn FnMut(Reference<'a>)) {
    match value {
        StaticValue::Const(c) => const_reference(c, f),
        StaticValue::Struct(values) | StaticValue::Array(values) => {
            values.iter().for_each(|v| static_references(v, f));
        }
        StaticValue::Bytes(_) | StaticValue::Zero => {}
    }
}

fn const_reference<'a>(c: &'a LLConst, f: &mut dyn FnMut(Reference<'a>)) {
    match c {
        LLConst::Func(func) | LLConst::Void(VoidConst::Func(func)) => f(Reference::Func(func)),
        LLConst::Static(s, _) => f(Reference::Static(s.root())),
        _ => {}
    }
}
