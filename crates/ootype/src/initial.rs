//! Fields that get their value right behind the allocation of an object become operands of the allocation.
//!
//! ```text
//! v1: Instance(B) = oonew(<type B>)
//! v2: Instance(A) = oocast(v1)                 v3: Signed = int_add(n_0, 1)
//! v3: Signed = int_add(n_0, 1)                 v1: Instance(B) = oonew(<type B>, .x, v3, .y, 5)
//! v4: Void = oosetfield(v2, .x, v3)            v2: Instance(A) = oocast(v1)
//! v5: Void = oosetfield(v1, .y, 5)
//! ```
//!
//! A host makes such an object at once, without writing zeroes first. The allocation moves behind operations without
//! effects that stand in between.

use taipan_graph::{Block, Operation, VarId};
use taipan_lltype::{ConstantOperand, EFFECT, GC, LLOperand, Program, RAISE};

use crate::{OOGraph, OOOp, OOOperand, OOType, ObjectOp, ObjectOriented, inherited};

/// Gives allocations the values of fields.
pub fn initialize_at_once(graph: &mut OOGraph, program: &dyn Program) {
    let vars = &graph.vars;
    let ty = |v: VarId| vars[v.index()].ty;
    for block in &mut graph.blocks {
        let mut i = 0;
        while i < block.operations.len() {
            if block.operations[i].op == OOOp::Object(ObjectOp::New) {
                i = initialized(block, i, &ty, program);
            }
            i += 1;
        }
    }
}

/// Moves the fields of the object that operation `new` allocates. Returns the new place of the allocation.
fn initialized(
    block: &mut Block<ObjectOriented>,
    new: usize,
    ty: &dyn Fn(VarId) -> OOType,
    program: &dyn Program,
) -> usize {
    let mut names = vec![block.operations[new].result];
    let made = ty(names[0]);
    // A field of a base may have the name of one of the class.
    let is_same = |set: &Operation<ObjectOriented>| {
        let class = set.args[0].as_var().map(ty);
        let field = match &set.args[1] {
            OOOperand::Const(c) => LLOperand::Const(c.clone()),
            OOOperand::Var(v) => LLOperand::Var(*v),
        };
        let number = |ty: OOType| inherited(ty.container()?, field.as_field()?, program);
        let (found, wanted) = (number(made), class.and_then(number));
        found.is_some() && found == wanted
    };
    let (mut set, mut last) = (Vec::new(), new);
    for (i, op) in block.operations.iter().enumerate().skip(new + 1) {
        let of_object = |o: &OOOperand| o.as_var().is_some_and(|v| names.contains(&v));
        let is_mentioned = op.args.iter().any(of_object);
        match op.op {
            OOOp::Object(ObjectOp::Cast) if is_mentioned => names.push(op.result),
            OOOp::Object(ObjectOp::SetField)
                if of_object(&op.args[0]) && !of_object(&op.args[2]) && is_same(op) =>
            {
                // The first value of a field that is set twice is of no use, but its order is.
                if set
                    .iter()
                    .any(|s: &usize| block.operations[*s].args[1] == op.args[1])
                {
                    break;
                }
                set.push(i);
                last = i;
            }
            _ if is_mentioned || op.op.flags() & (EFFECT | RAISE | GC) != 0 => break,
            _ => {}
        }
    }
    if set.is_empty() {
        return new;
    }
    let between = block.operations.drain(new..=last).collect::<Vec<_>>();
    let (mut allocation, mut before, mut behind) = (None, Vec::new(), Vec::new());
    for (i, op) in (new..).zip(between) {
        if i == new {
            allocation = Some(op);
        } else if set.contains(&i) {
            if let Some(new) = &mut allocation {
                new.args.extend(op.args.into_iter().skip(1));
            }
        } else if is_cast(&op, &names) {
            behind.push(op);
        } else {
            before.push(op);
        }
    }
    let at = new + before.len();
    let rest = block.operations.split_off(new);
    block.operations.extend(before);
    block.operations.extend(allocation);
    block.operations.extend(behind);
    block.operations.extend(rest);
    at
}

/// Whether an operation gives the object another type.
fn is_cast(op: &Operation<ObjectOriented>, names: &[VarId]) -> bool {
    op.op == OOOp::Object(ObjectOp::Cast) && names.contains(&op.result)
}
