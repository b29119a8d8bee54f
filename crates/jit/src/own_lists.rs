//! Which lists of virtualizables nothing else in the program has (RPython: `vable_array_vars` of
//! `jtransform.py`, which refuses a program where such a list is passed around).
//!
//! A field `x[*]` of `_virtualizable_` owns its lists if every list stored there is new, and every list read
//! from there is only used for access to its items and length:
//!
//! ```text
//! self.stack = [None] * size      ; fine: new, and not used any more here
//! w = self.stack[i]               ; fine
//! self.stack = stack              ; an argument: somebody else has it
//! args = self.stack               ; fine, as long as only items of it are asked for
//! return self.stack               ; somebody else gets it
//! ```
//!
//! Then a write to an item of such a list changes no other list, and the other way round. What a
//! function does by itself is found out here; the driver puts that together.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use taipan_graph::{BlockId, ObjId, Operation, VarId};
use taipan_lltype::{
    LLConst, LLGraph, LLOperand, LLType, LowLevel, NamedOperands, Program, StructId, View,
};

use crate::purity::{field_of, handed_on, operand_ty};

/// How deep calls are followed that get such a list.
const MOST_DEPTH: u32 = 8;

/// A field of a class with the lists of a virtualizable.
pub type ListField = (ObjId, Arc<str>);

/// The fields with lists of virtualizables whose lists a function gives to others, or takes from
/// them. The program has the graphs of what it calls, as the RTyper made them.
pub fn leaked_lists(program: &dyn Program, graph: &LLGraph) -> BTreeSet<ListField> {
    let mut leaked = BTreeSet::new();
    let mut read: FxHashMap<VarId, ListField> = FxHashMap::default();
    for b in graph.reachable() {
        for (i, op) in graph.block(b).operations.iter().enumerate() {
            match op.view() {
                View::Getfield { object, field } => {
                    if let Some(list) = list_field(program, graph, object, field) {
                        read.insert(op.result, list);
                    }
                }
                View::Setfield {
                    object,
                    field,
                    value,
                }
                | View::BareSetfield {
                    object,
                    field,
                    value,
                } => {
                    if let Some(list) = list_field(program, graph, object, field)
                        && !is_new(program, graph, (b, i), value)
                    {
                        leaked.insert(list);
                    }
                }
                _ => {}
            }
        }
    }
    let fields: BTreeSet<ListField> = read.values().cloned().collect();
    for field in fields {
        let of_field = read.iter().filter(|r| *r.1 == field);
        let sources: FxHashSet<VarId> = of_field.map(|r| *r.0).collect();
        if !stays_here(program, graph, sources, 0) {
            leaked.insert(field);
        }
    }
    leaked
}

/// The fields with lists of virtualizables that a prebuilt object of a type has: others may have
/// been built with its lists.
pub fn prebuilt_lists(program: &dyn Program, ty: LLType) -> BTreeSet<ListField> {
    let mut all = BTreeSet::new();
    let mut next = Some(ty);
    while let Some(ty) = next {
        let Some(s) = ty.as_struct() else { break };
        let StructId::Instance(class) = s.id else {
            break;
        };
        let body = program.body(s);
        let lists = body.virtualizable_lists.iter();
        all.extend(lists.map(|name| (class, name.clone())));
        next = body.fields.first().map(|f| f.ty);
    }
    all
}

/// The field with lists of a virtualizable that an access is to.
fn list_field(
    program: &dyn Program,
    graph: &LLGraph,
    object: &LLOperand,
    field: &LLOperand,
) -> Option<ListField> {
    let (container, name) = field_of(graph, object, field)?;
    is_own_list_name(program, container, name, false).then_some(())?;
    match container.as_struct()?.id {
        StructId::Instance(class) => Some((class, name.into())),
        _ => None,
    }
}

/// Whether a field of a struct holds the lists of a virtualizable; with `own`, whether it is known
/// to have them for itself.
fn is_own_list_name(program: &dyn Program, container: LLType, name: &str, own: bool) -> bool {
    let Some(s) = container.as_struct() else {
        return false;
    };
    let body = program.body(s);
    let lists = match own {
        true => &body.own_lists,
        false => &body.virtualizable_lists,
    };
    lists.iter().any(|n| &**n == name)
}

/// The variables of a graph that hold a list which a virtualizable has for itself.
pub(crate) fn own_lists(program: &dyn Program, graph: &LLGraph) -> FxHashSet<VarId> {
    let mut held = FxHashSet::default();
    for b in graph.reachable() {
        for op in &graph.block(b).operations {
            if let View::Getfield { object, field } = op.view()
                && let Some((container, name)) = field_of(graph, object, field)
                && is_own_list_name(program, container, name, true)
            {
                held.insert(op.result);
            }
        }
    }
    if !held.is_empty() {
        spread(program, graph, &mut held, 0);
    }
    held
}

/// Adds the variables that get their values from these, through calls as well.
fn spread(program: &dyn Program, graph: &LLGraph, held: &mut FxHashSet<VarId>, depth: u32) {
    let holds =
        |held: &FxHashSet<VarId>, o: &LLOperand| o.as_var().is_some_and(|v| held.contains(&v));
    let order = graph.reachable();
    loop {
        let before = held.len();
        for b in &order {
            let block = graph.block(*b);
            for op in &block.operations {
                let same = match called_with(program, op, &|o| holds(held, o)) {
                    Some((callee, sources)) => returns_one(program, &callee, sources, depth + 1),
                    None => handed_on(op).is_some_and(|o| holds(held, o)),
                };
                if same {
                    held.insert(op.result);
                }
            }
            for link in &block.exits {
                let inputs = &graph.block(link.target).inputargs;
                for (arg, input) in link.args.iter().zip(inputs) {
                    if holds(held, arg) {
                        held.insert(*input);
                    }
                }
            }
        }
        if held.len() == before {
            return;
        }
    }
}

/// The graph that a call reaches which passes such lists, and the arguments that they become there.
fn called_with(
    program: &dyn Program,
    op: &Operation<LowLevel>,
    holds: &dyn Fn(&LLOperand) -> bool,
) -> Option<(Arc<LLGraph>, FxHashSet<VarId>)> {
    let View::DirectCall {
        callee: LLOperand::Const(LLConst::Func(f)),
        args,
    } = op.view()
    else {
        return None;
    };
    if !args.iter().any(holds) {
        return None;
    }
    let callee = program.graph(f).filter(|g| g.args().len() == args.len())?;
    let passed = args.iter().zip(callee.args()).filter(|(a, _)| holds(a));
    let sources = passed.map(|(_, v)| *v).collect();
    Some((callee, sources))
}

/// Whether a call that passes such lists may write items of them.
pub(crate) fn call_writes(
    program: &dyn Program,
    op: &Operation<LowLevel>,
    holds: &dyn Fn(&LLOperand) -> bool,
    depth: u32,
) -> bool {
    let Some((callee, mut held)) = called_with(program, op, holds).filter(|_| depth <= MOST_DEPTH)
    else {
        return true;
    };
    spread(program, &callee, &mut held, depth);
    let holds = |o: &LLOperand| o.as_var().is_some_and(|v| held.contains(&v));
    let operations = callee.reachable().into_iter();
    let mut operations = operations.flat_map(|b| &callee.block(b).operations);
    operations.any(|op| match op.view() {
        View::Setarrayitem { array, .. } | View::BareSetarrayitem { array, .. } => holds(array),
        View::GcCopyArray { dest, .. } => holds(dest),
        View::DirectCall { args, .. } | View::IndirectCall { args, .. } => {
            args.iter().any(holds) && call_writes(program, op, &holds, depth + 1)
        }
        _ => false,
    })
}

/// Whether a function may return one of the lists in these variables of its own.
fn returns_one(
    program: &dyn Program,
    graph: &LLGraph,
    mut held: FxHashSet<VarId>,
    depth: u32,
) -> bool {
    if depth > MOST_DEPTH || !graph.ty(graph.returnvar()).is_gc_ptr() {
        return false;
    }
    spread(program, graph, &mut held, depth);
    held.contains(&graph.returnvar())
}

/// Whether the lists in these variables are only used for access to items and lengths, in the function and
/// its callees.
fn stays_here(
    program: &dyn Program,
    graph: &LLGraph,
    sources: FxHashSet<VarId>,
    depth: u32,
) -> bool {
    let is_array = |v: &VarId| {
        graph
            .ty(*v)
            .pointee()
            .is_some_and(|t| t.as_array().is_some())
    };
    if depth > MOST_DEPTH || !sources.iter().all(is_array) {
        return false;
    }
    let mut held = sources;
    spread(program, graph, &mut held, depth);
    let holds = |o: &LLOperand| o.as_var().is_some_and(|v| held.contains(&v));
    let leaves = &graph.block(graph.exceptblock).inputargs;
    // Who calls it has the list already.
    let returned = depth == 0 && held.contains(&graph.returnvar());
    if returned || leaves.iter().any(|v| held.contains(v)) {
        return false;
    }
    for b in graph.reachable() {
        let block = graph.block(b);
        let fine = |op: &Operation<LowLevel>| {
            !op.args.iter().any(holds) || is_harmless(program, op, &holds, depth)
        };
        if !block.operations.iter().all(fine) {
            return false;
        }
        for link in &block.exits {
            let inputs = &graph.block(link.target).inputargs;
            let mut pairs = link.args.iter().zip(inputs);
            // One of these lists, or another one.
            if pairs.any(|(arg, input)| held.contains(input) && !holds(arg) && !is_null(arg)) {
                return false;
            }
        }
    }
    true
}

fn is_null(o: &LLOperand) -> bool {
    matches!(o, LLOperand::Const(LLConst::Null(_)))
}

/// Whether an operation on such lists creates no further reference to them.
fn is_harmless(
    program: &dyn Program,
    op: &Operation<LowLevel>,
    holds: &dyn Fn(&LLOperand) -> bool,
    depth: u32,
) -> bool {
    match op.view() {
        View::Getarrayitem { .. }
        | View::Getarraysize { .. }
        | View::GcCopyArray { .. }
        | View::SameAs { .. }
        | View::CastPointer { .. }
        | View::CastOpaquePtr { .. }
        | View::Hint { .. }
        | View::PtrEq { .. }
        | View::PtrNe { .. }
        | View::PtrNonzero { .. }
        | View::PtrIszero { .. }
        | View::DebugAssert { .. }
        | View::Keepalive { .. } => true,
        View::Setarrayitem { value, .. } | View::BareSetarrayitem { value, .. } => !holds(value),
        View::DirectCall { .. } => {
            let called = called_with(program, op, holds);
            called.is_some_and(|(callee, sources)| stays_here(program, &callee, sources, depth + 1))
        }
        _ => false,
    }
}

/// Whether the list stored by an operation is new: no other reference to it exists, and it is not used after
/// the store.
fn is_new(
    program: &dyn Program,
    graph: &LLGraph,
    (block, store): (BlockId, usize),
    value: &LLOperand,
) -> bool {
    if is_null(value) {
        return true;
    }
    let Some(mut v) = value.as_var() else {
        return false;
    };
    let is_array = |t: LLType| t.as_array().is_some();
    if !operand_ty(graph, value).pointee().is_some_and(is_array) {
        return false;
    }
    let operations = &graph.block(block).operations;
    // The names that it has in the block.
    let mut names = vec![v];
    let made = loop {
        let Some(at) = operations[..store].iter().position(|op| op.result == v) else {
            return false;
        };
        match handed_on(&operations[at]) {
            Some(before) => match before.as_var() {
                Some(before) => {
                    names.push(before);
                    v = before;
                }
                None => return false,
            },
            None => break at,
        }
    };
    if !makes_list(program, &operations[made], 0) {
        return false;
    }
    // Others that it is handed on to would be names as well.
    let holds = |o: &LLOperand| o.as_var().is_some_and(|v| names.contains(&v));
    let uses = operations.iter().enumerate();
    let mut uses = uses.filter(|(i, op)| *i != store && op.args.iter().any(holds));
    let only_names = uses.all(|(_, op)| names.contains(&op.result) && handed_on(op).is_some());
    let passed = graph
        .block(block)
        .exits
        .iter()
        .any(|l| l.args.iter().any(holds));
    only_names && !passed
}

/// Whether an operation makes a new list that nothing else has.
fn makes_list(program: &dyn Program, op: &Operation<LowLevel>, depth: u32) -> bool {
    match op.view() {
        View::MallocVarsize { .. } => true,
        View::DirectCall {
            callee: LLOperand::Const(LLConst::Func(f)),
            ..
        } => {
            depth < MOST_DEPTH
                && program
                    .graph(f)
                    .is_some_and(|g| returns_new(program, &g, depth))
        }
        _ => false,
    }
}

/// Whether a function returns a new list that nothing else has.
fn returns_new(program: &dyn Program, graph: &LLGraph, depth: u32) -> bool {
    let mut made = FxHashSet::default();
    for b in graph.reachable() {
        for op in &graph.block(b).operations {
            if makes_list(program, op, depth + 1) {
                made.insert(op.result);
            }
        }
    }
    spread(program, graph, &mut made, depth);
    let result = graph.returnvar();
    if !made.contains(&result) {
        return false;
    }
    let holds = |o: &LLOperand| o.as_var().is_some_and(|v| made.contains(&v));
    graph.reachable().into_iter().all(|b| {
        let block = graph.block(b);
        let operations = block.operations.iter();
        let mut used = operations.filter(|op| op.args.iter().any(holds));
        let harmless = used.all(|op| is_harmless(program, op, &holds, depth + 1));
        let links = block.exits.iter().all(|link| {
            let inputs = &graph.block(link.target).inputargs;
            let pairs = link.args.iter().zip(inputs);
            let mut mixed = pairs.filter(|(arg, input)| made.contains(input) != holds(arg));
            mixed.all(|(arg, _)| is_null(arg))
        });
        harmless && links
    })
}
