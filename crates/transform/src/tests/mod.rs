//! Passes are tested as text in, text out, and by running graphs before and after.

mod exceptions;
mod flow;
mod frames;
mod gc;
mod optimizations;
mod random;
mod refcount;
mod residual;
mod stores;

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use taipan_graph::text::print_graph;
use taipan_graph::{VarId, assert_valid, remove_identical_vars_ssa, ssa_to_ssi};
use taipan_llinterp::{LLError, LLInterpreter};
use taipan_lltype::text::LLNames;
use taipan_lltype::{ADDRESS, FuncSym, LLGraph, LLOperand, LLValue, Program, TableProgram};

use crate::calls::can_collect;
use crate::{
    CallAccess, CallFacts, Effects, Part, Passes, Summaries, Summary, effects, exception_transform,
    gc_transform, gc_transform_quickly, gc_transform_residual, optimize, optimize_residual,
    simplify_graph, summary,
};

/// What the driver does with queries, done at once for a program of tables.
pub(crate) struct Pipeline {
    program: TableProgram,
    simplified: TableProgram,
    optimized: TableProgram,
    effects: FxHashMap<FuncSym, Effects>,
}

/// Functions whose names say what they do: those of `pure_x` and `find_x` are elidable, and the
/// latter may raise; `reads_x` and `writes_x` access the field `x`, and `other` does anything.
struct ByName;

impl CallFacts for ByName {
    fn is_elidable(&self, f: &FuncSym) -> bool {
        f.name().starts_with("pure_") || f.name().starts_with("find_")
    }

    fn is_search(&self, f: &FuncSym) -> bool {
        f.name().starts_with("search_")
    }

    fn can_raise(&self, f: &FuncSym) -> bool {
        !f.name().starts_with("pure_")
    }

    fn access(&self, f: &FuncSym, part: Part<'_>) -> CallAccess {
        let field = match part {
            Part::Field(_, name) => name,
            _ => "items",
        };
        match f.name().split_once('_') {
            Some(("writes", of)) if of == field => CallAccess::Writes,
            Some(("reads", of)) if of == field => CallAccess::Reads,
            Some(_) => CallAccess::None,
            None => CallAccess::Writes,
        }
    }
}

impl Summaries for Pipeline {
    fn program(&self) -> &dyn Program {
        &self.program
    }

    fn summary(&self, f: &FuncSym) -> Option<Arc<Summary>> {
        Some(Arc::new(summary(self.simplified.graphs.get(f.name())?)))
    }

    fn simplified(&self, f: &FuncSym) -> Option<Arc<LLGraph>> {
        self.simplified.graphs.get(f.name()).cloned()
    }

    fn effects(&self, f: &FuncSym) -> Effects {
        self.effects.get(f).copied().unwrap_or(Effects {
            can_raise: true,
            can_collect: true,
            stack_check: false,
        })
    }
}

/// The text of a graph whose ends are spelled `END`, one whose result is a Signed.
pub(crate) fn ends(text: &str) -> String {
    let end = "return(result: Signed)
        except(etype: *Struct object_vtable, evalue: *GcStruct object)";
    text.replace("END", end)
}

impl Pipeline {
    pub(crate) fn new(text: &str) -> Pipeline {
        Self::of(TableProgram::parse(&ends(text)).expect("parses"))
    }

    pub(crate) fn of(program: TableProgram) -> Pipeline {
        program.graphs.values().for_each(|g| assert_valid(&**g));
        let mut p = Pipeline {
            simplified: program.clone(),
            optimized: program.clone(),
            program,
            effects: FxHashMap::default(),
        };
        p.simplified = p.map(&p.program, |_, g| {
            simplify_graph(g, &p.program, &mut Passes::default())
        });
        p.optimized = p.map(&p.simplified, |f, g| {
            optimize(f, g, &p, &mut Passes::default())
        });
        let summaries: Vec<_> = (p.program.functions.iter())
            .map(|f| (f.clone(), Arc::new(summary(&p.optimized.graphs[f.name()]))))
            .collect();
        p.effects = effects(&summaries);
        p
    }

    fn map(
        &self,
        from: &TableProgram,
        pass: impl Fn(&FuncSym, &LLGraph) -> LLGraph,
    ) -> TableProgram {
        let mut graphs = BTreeMap::new();
        for f in &from.functions {
            let g = pass(f, &from.graphs[f.name()]);
            assert_valid(&g);
            graphs.insert(f.name().to_string(), Arc::new(g));
        }
        TableProgram {
            graphs,
            ..from.clone()
        }
    }

    pub(crate) fn exceptions(&self, from: &TableProgram) -> TableProgram {
        self.map(from, |f, g| exception_transform(g, self.effects(f), self))
    }

    pub(crate) fn gc(&self, from: &TableProgram) -> TableProgram {
        self.map(from, |_, g| {
            let g = gc_transform(g, self, &mut Passes::default());
            self.check_roots(&g);
            frames::check(&g, self);
            g
        })
    }

    /// As [`Pipeline::gc`], quickly: of graphs in SSA form, whose blocks use what is defined
    /// before them.
    pub(crate) fn quick_gc(&self, from: &TableProgram) -> TableProgram {
        let quickly = |g: &LLGraph| {
            let mut g = g.clone();
            remove_identical_vars_ssa(&mut g);
            let mut g = gc_transform_quickly(g, self);
            self.check_roots(&g);
            frames::check(&g, self);
            ssa_to_ssi(&mut g);
            g
        };
        self.map(from, |_, g| quickly(g))
    }

    /// Optimised as code that is made while a program runs.
    pub(crate) fn residual(&self, from: &TableProgram) -> TableProgram {
        self.map(from, |_, g| {
            let mut g = g.clone();
            optimize_residual(&mut g, &self.program, &ByName);
            g
        })
    }

    /// As [`Pipeline::gc`], for code that is made while a program runs.
    pub(crate) fn residual_gc(&self, from: &TableProgram) -> TableProgram {
        self.map(from, |_, g| {
            let g = gc_transform_residual(g, self, &mut Passes::default());
            self.check_roots(&g);
            frames::check(&g, self);
            g
        })
    }

    /// No GC pointer from before a collection is used after it, nor memory that was taken before.
    fn check_roots(&self, g: &LLGraph) {
        for (i, block) in g.blocks.iter().enumerate() {
            let mut moved = FxHashSet::default();
            let mut known: Vec<VarId> = block.inputargs.clone();
            let check = |args: &[LLOperand], moved: &FxHashSet<VarId>| {
                let bad = args
                    .iter()
                    .filter_map(LLOperand::as_var)
                    .find(|v| moved.contains(v));
                assert_eq!(bad, None, "block{i} of {} uses what has moved", g.name);
            };
            for op in &block.operations {
                check(&op.args, &moved);
                if can_collect(op, self) {
                    let moves = |v: &VarId| g.ty(*v).is_gc_ptr() || *g.ty(*v) == *ADDRESS;
                    moved.extend(known.iter().copied().filter(moves));
                }
                known.push(op.result);
            }
            block.exits.iter().for_each(|l| check(&l.args, &moved));
        }
    }

    /// Runs the last function at every stage; all must agree.
    pub(crate) fn run(&self, args: &[i64]) -> String {
        self.run_named(args, "")
    }

    /// The same, with a name for messages.
    pub(crate) fn run_named(&self, args: &[i64], name: &str) -> String {
        let result = run(&self.program, args);
        assert_eq!(run(&self.simplified, args), result, "{name} simplified");
        assert_eq!(run(&self.optimized, args), result, "{name} optimized");
        for from in [&self.program, &self.optimized] {
            let exceptions = self.exceptions(from);
            assert_eq!(run(&exceptions, args), result, "{name} exceptions");
            assert_eq!(run(&self.gc(&exceptions), args), result, "{name} gc");
            let quick = self.quick_gc(&exceptions);
            assert_eq!(run(&quick, args), result, "{name} quick gc");
            let residual = self.residual(&exceptions);
            assert_eq!(run(&residual, args), result, "{name} residual");
            for gc in [self.gc(&residual), self.residual_gc(&residual)] {
                assert_eq!(run(&gc, args), result, "{name} residual, gc");
            }
        }
        result
    }
}

fn run(program: &TableProgram, args: &[i64]) -> String {
    let mut interp = LLInterpreter::new(program);
    interp.host.set_max_depth(200);
    let f = program.functions.last().expect("a function");
    let args = args.iter().map(|a| LLValue::signed(*a)).collect();
    match interp.eval(f, args) {
        Ok(LLValue::Int(_, v)) => v.to_string(),
        Ok(v) => format!("{v:?}"),
        Err(LLError::Raised(e)) => e.name,
        Err(e) => e.to_string(),
    }
}

/// The text of the last function.
pub(crate) fn text(program: &TableProgram) -> String {
    let f = program.functions.last().expect("a function");
    print_graph(&program.graphs[f.name()], LLNames::default())
}

/// What makes an invalid graph is found behind the pass that makes it.
#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "f is not valid behind rtyping:\n\
    block0: int_add(Signed, Float) -> Signed: Float where Signed is needed")]
fn graphs_are_checked_behind_passes() {
    Pipeline::new(
        "graph f
        block0(n: Signed, x: Float):
            v: Signed = int_add(n, x)
            goto return(v)
        END",
    );
}
