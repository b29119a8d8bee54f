//! The graphs of `tests/flow`: one pass each, over the last function of the file.

use taipan_graph::text::print_graph;
use taipan_graph::{cleanup, remove_identical_vars_ssa, ssa_to_ssi, transform_dead_op_vars};
use taipan_lltype::text::LLNames;
use taipan_lltype::{FuncSym, LLGraph, StructType, TableProgram, check_operations};

use super::{Pipeline, ends};
use crate::around::Around;
use crate::asserts::remove_asserts;
use crate::cse::merge_common;
use crate::dispatch::thread_dispatch;
use crate::division::expand_divisions;
use crate::fold::{fold_operations, thread_links};
use crate::inline::inline_calls;
use crate::loops::{hoist_invariants, rotate_loops};
use crate::malloc::remove_mallocs;
use crate::peel::peel_loops;
use crate::ranges::narrow_ranges;
use crate::rematerialize::repeat_casts;
use crate::switch::merge_if_blocks;
use crate::variables::keep_in_variables;
use crate::zeroing::mark_filled;
use crate::{Passes, Summaries};

#[test]
fn passes() {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/flow");
    taipan_testkit::check_flow_files(dir, |passes, text| {
        let program = TableProgram::parse(&ends(text)).expect("parses");
        let f = program.functions.last().expect("a function").clone();
        let mut g = LLGraph::clone(&program.graphs[f.name()]);
        let p = Pipeline::of(program);
        for pass in passes {
            run(pass, &f, &mut g, &p);
        }
        g.compact();
        let wrong = check_operations(&g, &StructType::known_body);
        assert!(wrong.is_empty(), "{wrong:?}");
        print_graph(&g, LLNames::default())
    });
}

fn run(pass: &str, f: &FuncSym, g: &mut LLGraph, p: &Pipeline) {
    let program = p.program();
    match pass {
        "cleanup" => cleanup(g),
        "exception_transform" => *g = crate::exception_transform(g, p.effects(f), p),
        "expand_divisions" => expand_divisions(g),
        "fold_operations" => _ = fold_operations(g, program),
        "gc_transform" => *g = crate::gc_transform(g, p, &mut Passes::default()),
        "hoist_invariants" => hoist_invariants(g, program),
        "inline_calls" => inline_calls(f, g, p),
        "keep_in_variables" => keep_in_variables(g, Around::program(program)),
        "mark_filled" => mark_filled(g, p),
        "merge_common" => merge_common(g, program),
        "merge_if_blocks" => merge_if_blocks(g),
        "narrow_ranges" => _ = narrow_ranges(g),
        "peel_loops" => peel_loops(g, Around::program(program)),
        "remove_asserts" => remove_asserts(g, program),
        "remove_identical_vars_ssa" => remove_identical_vars_ssa(g),
        "remove_mallocs" => _ = remove_mallocs(g),
        "repeat_casts" => repeat_casts(g, p),
        "rotate_loops" => rotate_loops(g),
        "simplify_graph" => *g = crate::simplify_graph(g, program, &mut Passes::default()),
        "ssa_to_ssi" => ssa_to_ssi(g),
        "thread_dispatch" => *g = thread_dispatch(g, &mut Passes::default()).into_owned(),
        "thread_links" => _ = thread_links(g),
        "transform_dead_op_vars" => transform_dead_op_vars(g),
        other => panic!("no pass {other}"),
    }
}
