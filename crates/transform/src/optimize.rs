//! The order of the optimisations (RPython: `backendopt/all.py`).

use taipan_graph::{cleanup, find_loops, join_blocks_ssa, ssa_to_ssi, transform_dead_op_vars};
use taipan_language::Pass;
use taipan_lltype::{
    FuncSym, LLConst, LLGraph, LLOp, LLOperand, NamedOperands, PlainOp, Program, View,
};

use crate::Summaries;
use crate::around::{Around, CallFacts};
use crate::asserts::remove_asserts;
use crate::check::check;
use crate::cse::{merge_common, merge_common_ssa};
use crate::dead_stores::remove_dead_stores_ssa;
use crate::division::expand_divisions;
use crate::fold::{fold_operations, thread_links};
use crate::inline::{inline_below, inline_calls, inline_small};
use crate::loops::{hoist_invariants, hoist_invariants_ssa, rotate_loops};
use crate::malloc::remove_mallocs;
use crate::passes::Passes;
use crate::peel::peel_loops;
use crate::ranges::{narrow_ranges, narrow_ranges_ssa};
use crate::sink::sink_into_exits_ssa;
use crate::switch::merge_if_blocks;
use crate::variables::keep_in_variables;

/// Simplifies a graph as far as that needs no other function.
pub fn simplify_graph(graph: &LLGraph, program: &dyn Program, passes: &mut Passes<'_>) -> LLGraph {
    check("rtyping", graph);
    let mut g = graph.clone();
    remove_hints(&mut g);
    passes.run(Pass::Divisions, &mut g, expand_divisions);
    fold(&mut g, program, passes);
    g.compact();
    check("simplification", &g);
    g
}

/// Optimises a function. `graph` is its simplified graph.
pub fn optimize(
    f: &FuncSym,
    graph: &LLGraph,
    s: &dyn Summaries,
    passes: &mut Passes<'_>,
) -> LLGraph {
    let mut g = graph.clone();
    let program = s.program();
    passes.run(Pass::Inlining, &mut g, |g| inline_calls(f, g, s));
    passes.run(Pass::Asserts, &mut g, |g| remove_asserts(g, program));
    fold(&mut g, program, passes);
    passes.run(Pass::CommonOperations, &mut g, |g| merge_common(g, program));
    fold(&mut g, program, passes);
    if passes.run(Pass::Allocations, &mut g, remove_mallocs) {
        fold(&mut g, program, passes);
        passes.run(Pass::CommonOperations, &mut g, |g| merge_common(g, program));
        fold(&mut g, program, passes);
    }
    passes.run(Pass::Switches, &mut g, |g| {
        merge_if_blocks(g);
        cleanup(g);
    });
    passes.run(Pass::LoopRotation, &mut g, rotate_loops);
    passes.run(Pass::Invariants, &mut g, |g| hoist_invariants(g, program));
    if passes.run(Pass::Ranges, &mut g, narrow_ranges) {
        fold(&mut g, program, passes);
    }
    passes.run(Pass::CommonOperations, &mut g, |g| merge_common(g, program));
    fold(&mut g, program, passes);
    g.compact();
    check("optimisation", &g);
    g
}

/// Folds and tidies up; without folding, only tidies up behind the pass before it.
fn fold(g: &mut LLGraph, program: &dyn Program, passes: &mut Passes<'_>) {
    match passes.contains(Pass::Folding) {
        true => passes.run(Pass::Folding, g, |g| tidy(g, program)),
        false => cleanup(g),
    }
}

/// Optimises a function that the JIT generator is going to read, so that its hints stay:
/// with what is not larger than `inline` inlined, and, if `rest`, with the optimisations
/// that make no code larger (RPython: `backend_optimizations` before the hint-annotator).
pub fn optimize_hinted(
    f: &FuncSym,
    graph: &LLGraph,
    s: &dyn Summaries,
    inline: Option<u32>,
    rest: bool,
) -> LLGraph {
    let mut g = graph.clone();
    let program = s.program();
    if let Some(threshold) = inline {
        inline_below(threshold, f, &mut g, s);
    }
    if rest {
        tidy(&mut g, program);
        if remove_mallocs(&mut g) {
            tidy(&mut g, program);
        }
        merge_if_blocks(&mut g);
    }
    cleanup(&mut g);
    g.compact();
    check("optimisation for the JIT", &g);
    g
}

/// Inlines helpers into a function that compilers of drivers follow. Entering a function costs such a compiler more
/// than the few operations of a typical helper. `graph` is the RTyper's graph of the function, and `helpers` has the
/// graphs of the helpers.
pub fn inline_helpers(f: &FuncSym, graph: &LLGraph, helpers: &dyn Summaries) -> LLGraph {
    let mut g = graph.clone();
    inline_small(f, &mut g, helpers);
    check("inlining for compilers of drivers", &g);
    g
}

/// Optimises a function that compilers of drivers follow: constants are folded, and chains of comparisons become
/// switches (RPython: `prejit_optimizations` in `jit/metainterp/warmspot.py`). Hints, markers and calls stay.
pub fn optimize_followed(graph: &LLGraph, program: &dyn Program) -> LLGraph {
    let mut g = graph.clone();
    tidy(&mut g, program);
    merge_if_blocks(&mut g);
    cleanup(&mut g);
    g.compact();
    check("optimisation for compilers of drivers", &g);
    g
}

/// Optimises code that is made while a program runs: what of the above costs little. The graph
/// is in SSA form, and in SSI form afterwards; in between it is in SSA form as long as it can
/// be, since in large graphs most of what SSI form adds is values on their way to the exits.
pub fn optimize_residual(g: &mut LLGraph, program: &dyn Program, calls: &dyn CallFacts) {
    let around = Around {
        program,
        calls: Some(calls),
        initialised: None,
    };
    join_blocks_ssa(g);
    fold_operations(g, program);
    merge_common_ssa(g, around);
    remove_dead_stores_ssa(g, around);
    transform_dead_op_vars(g);
    sink_into_exits_ssa(g);
    ssa_to_ssi(g);
    g.compact();
    thread_links(g);
    cleanup(g);
    if !find_loops(g).is_empty() {
        rotate_loops(g);
        peel_loops(g, around);
        hoist_invariants_ssa(g, around);
        merge_common_ssa(g, around);
        narrow_ranges_ssa(g);
        fold_operations(g, program);
        keep_in_variables(g, around);
        ssa_to_ssi(g);
        thread_links(g);
        cleanup(g);
    }
    g.compact();
    check("optimisation of residual code", g);
}

/// What is only for the JIT generator, which reads the graphs of the RTyper, goes: this
/// is code of the interpreter.
fn remove_hints(g: &mut LLGraph) {
    use PlainOp::*;
    for block in &mut g.blocks {
        block.operations.retain(|op| {
            !matches!(
                op.op,
                LLOp::Plain(
                    JitMarker
                        | JitAssertGreen
                        | JitSetParam
                        | JitRecordExactClass
                        | JitRecordExactValue
                )
            )
        });
        for op in &mut block.operations {
            let value = match op.view() {
                View::Hint { value, .. } => value.clone(),
                View::WeAreJitted {} | View::JitIsConstant { .. } | View::JitIsVirtual { .. } => {
                    LLOperand::Const(LLConst::Bool(false))
                }
                View::JitTraceLength {} => LLOperand::Const(LLConst::signed(-1)),
                _ => continue,
            };
            *op = View::SameAs { value: &value }.operation(op.result, op.at);
        }
    }
}

/// Folds and cleans up until there is nothing more to fold, or for a few rounds.
fn tidy(g: &mut LLGraph, program: &dyn Program) {
    for round in 0..4 {
        let folded = fold_operations(g, program);
        if folded {
            ssa_to_ssi(g);
        }
        let threaded = thread_links(g);
        if round == 0 || folded || threaded {
            cleanup(g);
        }
        if !folded && !threaded {
            break;
        }
    }
}
