//! Graphs as the JIT generator wants them.
//!
//! What only helps to find mistakes goes: assertions, traceback records, `keepalive`. An
//! assertion that a pointer is not null stays, as `debug_assert(pointer)`: it is believed.
//! So do the checks of indices that checked builds make.
//! The interpreter's stack checks go as well; residual code has its own.

use taipan_graph::{BlockId, ExitCase, ExitSwitch, Link, Operation, cleanup};
use taipan_language::Exc;
use taipan_lltype::{
    FuncSym, LLConst, LLGraph, LLOp, LLOperand, LowLevel, NamedOperands, OBJECT, OBJECT_VTABLE,
    PlainOp, Program, StaticSym, View, is_index_check,
};

use crate::drivers::marker_kind;
use crate::purity::is_silent;

/// Drops what residual code does not need; markers of drivers only on demand.
pub(crate) fn prepare(graph: &LLGraph, markers: bool) -> LLGraph {
    let mut g = graph.clone();
    for block in &mut g.blocks {
        assert_pointers(&mut block.operations);
        block.operations.retain(|op| match op.op {
            LLOp::Plain(PlainOp::JitMarker) => markers && marker_kind(op).is_some(),
            LLOp::Plain(PlainOp::DebugAssert) => is_of_pointer(op) || is_index_check(op),
            LLOp::Plain(p) => !is_silent(p),
            LLOp::Num(..) => true,
        });
        let value = &LLOperand::Const(LLConst::Bool(false));
        for op in &mut block.operations {
            if op.op == PlainOp::StackCheck.into() {
                *op = View::SameAs { value }.operation(op.result, op.at);
            }
        }
        let is_no = |op: &&Operation<LowLevel>| match op.view_among(&[PlainOp::SameAs]) {
            Some(View::SameAs { value: of }) => of == value,
            _ => false,
        };
        let no_check: Vec<_> = (block.operations.iter().filter(is_no))
            .map(|op| (op.result, value.clone()))
            .collect();
        if !no_check.is_empty() {
            block.substitute(&no_check.into_iter().collect());
        }
    }
    cleanup(&mut g);
    g.compact();
    g
}

/// Has assertions say which pointer is not null:
///
/// ```text
/// v1 = ptr_nonzero(p)                 v1 = ptr_nonzero(p)
/// debug_assert(v1, "text")            debug_assert(p)
/// ```
fn assert_pointers(operations: &mut [Operation<LowLevel>]) {
    for i in 0..operations.len() {
        let op = &operations[i];
        let Some(View::DebugAssert { condition, .. }) = op.view_among(&[PlainOp::DebugAssert])
        else {
            continue;
        };
        let test = operations[..i]
            .iter()
            .find(|op| LLOperand::Var(op.result) == *condition);
        if let Some(View::PtrNonzero { value }) = test.map(NamedOperands::view) {
            let assert = View::DebugAssert {
                condition: value,
                message: None,
            };
            operations[i] = assert.operation(op.result, op.at);
        }
    }
}

/// Whether an assertion is of that form.
fn is_of_pointer(op: &Operation<LowLevel>) -> bool {
    matches!(op.view(), View::DebugAssert { message: None, .. })
}

/// Drops assertions, as RPython does for its tracing compiler (`remove_asserts`): a branch
/// to nothing but `raise AssertionError` goes the other way. Interpreters rely on that with
/// `assert not we_are_jitted()`.
///
/// ```text
/// switch v1 {True: block1, False: block2}     goto block1
/// block2: exc_set(AssertionError), return
/// ```
pub(crate) fn remove_assertions(g: &mut LLGraph, program: &dyn Program) {
    let failed = program.exception_instance(Exc::AssertionError);
    let fails: Vec<bool> = (0..g.blocks.len())
        .map(|i| raises_only(g, BlockId(i as u32), &failed))
        .collect();
    for block in &mut g.blocks {
        let [a, b] = &block.exits[..] else {
            continue;
        };
        let boolean = |l: &Link<_>| matches!(l.case, ExitCase::Bool(_));
        if !boolean(a) || !boolean(b) {
            continue;
        }
        let fails = |l: &Link<_>| fails[l.target.index()];
        let taken = match (fails(a), fails(b)) {
            (true, false) => 1,
            (false, true) => 0,
            _ => continue,
        };
        let mut link = block.exits.swap_remove(taken);
        link.case = ExitCase::None;
        block.exits = vec![link];
        block.exitswitch = ExitSwitch::None;
    }
    cleanup(g);
    g.compact();
}

/// Whether a block does nothing but return with this prebuilt exception.
fn raises_only(g: &LLGraph, b: BlockId, exception: &StaticSym) -> bool {
    let block = g.block(b);
    let mut instance = Vec::new();
    let is_instance = |instance: &[_], o: &LLOperand| match o {
        LLOperand::Const(LLConst::Static(s, _)) => **s == *exception,
        LLOperand::Const(_) => false,
        LLOperand::Var(v) => instance.contains(v),
    };
    let mut raised = false;
    for op in &block.operations {
        match op.view() {
            View::CastPointer { value } if is_instance(&instance, value) => {
                instance.push(op.result);
            }
            View::Getfield { object, .. } if is_instance(&instance, object) => {}
            View::ExcSet { value, .. } => raised |= is_instance(&instance, value),
            _ => return false,
        }
    }
    raised && matches!(&block.exits[..], [only] if only.target == g.returnblock)
}

/// A graph that does nothing but call a function.
pub(crate) fn call_stub(f: &FuncSym) -> LLGraph {
    let ty = f.ty();
    let mut g = LLGraph::new(f.name(), ty.result, OBJECT_VTABLE.ptr(), OBJECT.ptr());
    let args: Vec<_> = ty.args.iter().map(|t| g.new_var("", *t)).collect();
    let result = g.new_var("", ty.result);
    let callee = LLOperand::Const(LLConst::Func(f.clone()));
    let start = BlockId(0);
    let operands: Vec<_> = args.iter().map(|v| LLOperand::Var(*v)).collect();
    let call = View::DirectCall {
        callee: &callee,
        args: &operands,
    };
    let call = call.operation(result, 0);
    let exit = Link::new(g.returnblock, vec![LLOperand::Var(result)]);
    let block = g.block_mut(start);
    block.inputargs = args;
    block.operations.push(call);
    block.exits.push(exit);
    g
}
