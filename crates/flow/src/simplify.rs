//! Simplification of flow graphs right after they are built
//! (RPython: `simplify_graph` of `rpython/translator/simplify.py`).

use taipan_base::ErrorCode;
use taipan_graph::{
    BlockId, Const, ExitCase, ExitSwitch, FunctionGraph, HighLevel, HlOp, Link, ObjId,
    Substitution, VarId, constfold_exitswitch, eliminate_empty_blocks, entry_map, join_blocks,
    remove_identical_vars_ssa, ssa_to_ssi, transform_dead_op_vars_with,
};
use taipan_interp::{Builtin, named_id};
use taipan_language::KnownFunction;

use crate::FlowError;
use crate::comprehension::detect_list_comprehension;
use crate::context::Built;
use crate::dead::{DeadOperation, removed_by};
use crate::value::Operand;
use crate::world::World;

/// Makes a proper graph of what the flow context built. With it, the operations that were left
/// out.
pub(crate) fn simplify(
    world: World<'_>,
    built: Built,
) -> Result<(FunctionGraph, Vec<DeadOperation>), FlowError> {
    let Built {
        mut graph,
        implicit,
    } = built;
    let g = &mut graph;
    let leftovers = removed_by(g, |g| transform_dead_ops(world, g));
    eliminate_empty_blocks(g);
    if let Some(implicit) = implicit {
        remove_assertion_errors(g, implicit);
    }
    remove_identical_vars_ssa(g);
    constfold_exitswitch(g);
    ssa_to_ssi(g);
    join_blocks(g);
    coalesce_bool(g);
    transform_ovfcheck(world, g)?;
    simplify_exceptions(world, g);
    remove_dead_exceptions(world, g);
    eliminate_empty_blocks(g);
    transform_dead_ops(world, g);
    join_blocks(g);
    detect_list_comprehension(g);
    g.compact();
    let dead = leftovers.in_graph(&graph);
    Ok((graph, dead))
}

/// Calls of `hasattr` have no effect either.
fn transform_dead_ops(world: World<'_>, graph: &mut FunctionGraph) {
    transform_dead_op_vars_with(graph, |op| {
        use taipan_graph::Dialect;
        HighLevel::is_removable(op.op)
            || op.op == HlOp::SimpleCall
                && op.args[0].as_const().and_then(|c| world.builtin(c))
                    == Some(Builtin::Known(KnownFunction::Hasattr))
    });
}

/// Removes exits to the block that stands for exceptions taken not to occur.
fn remove_assertion_errors(graph: &mut FunctionGraph, implicit: BlockId) {
    for b in graph.reachable() {
        let block = graph.block_mut(b);
        for i in (0..block.exits.len()).rev() {
            let exit = &block.exits[i];
            if exit.target != implicit {
                continue;
            }
            if block.exits.len() < 2 || block.canraise() && exit.case == ExitCase::None {
                break;
            }
            block.exits.remove(i);
            if let [exit] = &mut block.exits[..] {
                exit.case = ExitCase::None;
                block.exitswitch = ExitSwitch::None;
            }
        }
    }
}

/// Where a branch leads to a second test of the same truth, jumps past that.
///
/// ```text
/// v1 = bool(v0) switch v1             v1 = bool(v0) switch v1
///     True: block1(v0)                    True: block2(..)
/// block1(v2): v3 = bool(v2) switch v3
///     True: block2(..)
/// ```
fn coalesce_bool(graph: &mut FunctionGraph) {
    for b in graph.reachable() {
        // Each jump past a test may lead to another test.
        for _ in 0..graph.blocks.len() {
            if !coalesce_exits(graph, b) {
                break;
            }
        }
    }
}

fn coalesce_exits(graph: &mut FunctionGraph, b: BlockId) -> bool {
    let block = graph.block(b);
    let Some(test) = block.operations.last().filter(|op| op.op == HlOp::Bool) else {
        return false;
    };
    let (tested, result) = (test.args[0].clone(), test.result);
    if block.exitswitch != ExitSwitch::Value(Operand::Var(result)) {
        return false;
    }
    let mut changed = false;
    for i in 0..block.exits.len() {
        let exit = &graph.block(b).exits[i];
        let target = graph.block(exit.target);
        let [again] = &target.operations[..] else {
            continue;
        };
        let mut map: Substitution<HighLevel> = target
            .inputargs
            .iter()
            .copied()
            .zip(exit.args.iter().cloned())
            .collect();
        let same = again.op == HlOp::Bool
            && exit.target != b
            && target.exitswitch == ExitSwitch::Value(Operand::Var(again.result))
            && replaced(&again.args[0], &map) == tested;
        let Some(next) = target.exits.iter().find(|l| same && l.case == exit.case) else {
            continue;
        };
        map.insert(again.result, Operand::Var(result));
        let mut link = next.clone();
        replace_args(&mut link, &map);
        graph.block_mut(b).exits[i] = link;
        changed = true;
    }
    changed
}

fn replaced(o: &Operand, map: &Substitution<HighLevel>) -> Operand {
    match o {
        Operand::Var(v) => map.get(v).unwrap_or(o).clone(),
        Operand::Const(_) => o.clone(),
    }
}

fn replace_args(link: &mut Link<HighLevel>, map: &Substitution<HighLevel>) {
    for a in &mut link.args {
        *a = replaced(a, map);
    }
}

/// Turns `ovfcheck(x + y)` into `add_ovf(x, y)`.
///
/// ```text
/// v2 = add(v0, v1)                    v2 = add_ovf(v0, v1)
/// v3 = simple_call(ovfcheck, v2)
/// ```
fn transform_ovfcheck(world: World<'_>, graph: &mut FunctionGraph) -> Result<(), FlowError> {
    for b in graph.reachable() {
        let mut i = graph.block(b).operations.len();
        while i > 0 {
            i -= 1;
            let op = &graph.block(b).operations[i];
            let is_ovfcheck = op.op == HlOp::SimpleCall
                && op.args[0].as_const().is_some_and(|c| world.is_ovfcheck(c));
            if !is_ovfcheck {
                continue;
            }
            let (at, result) = (op.at, op.result);
            let Some(Operand::Var(checked)) = op.args.get(1).cloned() else {
                return Err(ovf_error(at, "a constant"));
            };
            if i == 0 {
                join_to_raising_predecessor(graph, b, at)?;
                return transform_ovfcheck(world, graph);
            }
            let block = graph.block_mut(b);
            let previous = &mut block.operations[i - 1];
            match ovf_variant(previous.op).filter(|_| previous.result == checked) {
                Some(ovf) => previous.op = ovf,
                None => return Err(ovf_error(at, previous.op.name())),
            }
            block.operations.remove(i);
            let mut map = Substitution::<HighLevel>::default();
            map.insert(result, Operand::Var(checked));
            block.substitute(&map);
        }
    }
    Ok(())
}

fn ovf_error(at: u32, what: &str) -> FlowError {
    let mut e = FlowError::new(
        ErrorCode::InvalidOvfcheck,
        format!("ovfcheck() of {what} is not RPython"),
    )
    .with_help("ovfcheck() takes one arithmetic operation, as in ovfcheck(x + y)");
    e.at = Some(at);
    e
}

/// The operation that is checked ends the block before, because it raises other
/// exceptions too: the handling around `ovfcheck()` serves for all of them.
fn join_to_raising_predecessor(
    graph: &mut FunctionGraph,
    b: BlockId,
    at: u32,
) -> Result<(), FlowError> {
    let entries = &entry_map(graph)[b.index()];
    let [link] = &entries[..] else {
        return Err(ovf_error(at, "a value from several places"));
    };
    let before = graph.block_mut(link.source);
    if link.exit != 0 || !before.canraise() {
        return Err(ovf_error(at, "a value from elsewhere"));
    }
    before.exitswitch = ExitSwitch::None;
    before.exits.truncate(1);
    join_blocks(graph);
    Ok(())
}

/// The operation with overflow check, if there is one.
fn ovf_variant(op: HlOp) -> Option<HlOp> {
    Some(match op {
        HlOp::Neg => HlOp::NegOvf,
        HlOp::Abs => HlOp::AbsOvf,
        HlOp::Add => HlOp::AddOvf,
        HlOp::Sub => HlOp::SubOvf,
        HlOp::Mul => HlOp::MulOvf,
        HlOp::FloorDiv => HlOp::FloorDivOvf,
        HlOp::Div => HlOp::DivOvf,
        HlOp::Mod => HlOp::ModOvf,
        HlOp::LShift => HlOp::LShiftOvf,
        _ => return None,
    })
}

fn exception_class(link: &Link<HighLevel>) -> Option<ObjId> {
    match &link.case {
        ExitCase::Exception(Const::Obj(id)) => Some(*id),
        _ => None,
    }
}

/// Makes exits of their own of the tests that follow a link for all exceptions.
///
/// ```text
/// #Exception(t, v): block1(t, v)      #KeyError(t, v): block2(..)
/// block1(v0, v1):                     #Exception(t, v): except(t, v)
///     v2 = issubtype(v0, #KeyError)
///     switch v2
///         True: block2(..)
///         False: except(v0, v1)
/// ```
fn simplify_exceptions(world: World<'_>, graph: &mut FunctionGraph) {
    let exception = named_id("exceptions.Exception");
    for b in graph.reachable() {
        let block = graph.block(b);
        let Some(last) = block.exits.last().filter(|_| block.canraise()) else {
            continue;
        };
        if exception_class(last) != Some(exception) {
            continue;
        }
        let Some(last_exception) = last.last_exception else {
            continue;
        };
        let mut exc = last.clone();
        let preserve = block.exits[..block.exits.len() - 1].to_vec();
        let covered: Vec<ObjId> = preserve.iter().filter_map(exception_class).collect();
        let mut map = Substitution::<HighLevel>::default();
        let mut seen = Vec::new();
        let mut switches: Vec<(ObjId, Link<HighLevel>)> = Vec::new();
        loop {
            let query = graph.block(exc.target);
            let mut inner = Substitution::<HighLevel>::default();
            for (a, v) in exc.args.iter().zip(&query.inputargs) {
                inner.insert(*v, replaced(a, &map));
            }
            let ([no, yes], [test]) = (&query.exits[..], &query.operations[..]) else {
                break;
            };
            let on_class = matches!(test.op, HlOp::Is | HlOp::IsSubtype)
                && test.args.first().map(|a| replaced(a, &inner))
                    == Some(Operand::Var(last_exception))
                && query.exitswitch == ExitSwitch::Value(Operand::Var(test.result));
            let class = test.args.get(1).filter(|_| on_class);
            let Some(Const::Obj(case)) = class.and_then(Operand::as_const) else {
                break;
            };
            map.extend(inner);
            if !seen.contains(case) {
                let is_covered = |c: &ObjId| world.is_subclass(*case, *c) == Some(true);
                if !covered.iter().any(is_covered) {
                    switches.push((*case, yes.clone()));
                }
                seen.push(*case);
            }
            exc = no.clone();
        }
        if !seen.contains(&exception) {
            switches.push((exception, exc));
        }
        let last_exc_value = last.last_exc_value;
        let mut exits = preserve;
        for (case, mut link) in switches {
            replace_args(&mut link, &map);
            let mut unique = Substitution::<HighLevel>::default();
            let mut fresh = |graph: &mut FunctionGraph, v: VarId| {
                let new = graph.copy_var(v);
                unique.insert(v, Operand::Var(new));
                new
            };
            link.last_exception = Some(fresh(graph, last_exception));
            link.last_exc_value = last_exc_value.map(|v| fresh(graph, v));
            replace_args(&mut link, &unique);
            link.case = ExitCase::Exception(Const::Obj(case));
            exits.push(link);
        }
        graph.block_mut(b).exits = exits;
    }
}

/// Drops exception exits that an earlier one shadows, and those whose next one does
/// the same for a base class.
fn remove_dead_exceptions(world: World<'_>, graph: &mut FunctionGraph) {
    for b in graph.reachable() {
        let block = graph.block_mut(b);
        if !block.canraise() {
            continue;
        }
        let mut exits: Vec<Link<HighLevel>> = Vec::new();
        let mut seen: Vec<ObjId> = Vec::new();
        for link in std::mem::take(&mut block.exits) {
            if let Some(case) = exception_class(&link) {
                if seen
                    .iter()
                    .any(|s| world.is_subclass(case, *s) == Some(true))
                {
                    continue;
                }
                while exits.len() > 1
                    && exits.last().is_some_and(|prev| {
                        exception_class(prev)
                            .is_some_and(|p| world.is_subclass(p, case) == Some(true))
                            && prev.target == link.target
                            && prev.args == link.args
                    })
                {
                    exits.pop();
                }
                seen.push(case);
            }
            exits.push(link);
        }
        block.exits = exits;
    }
}
