//! Graphs written as text, transformed, compiled, run natively, and compared with the
//! LLInterpreter.

mod agreement;
mod contract;
mod executables;
mod graphs;
mod hot;
mod machines;
mod templates;

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use taipan_llinterp::{LLError, LLInterpreter};
use taipan_lltype::{FuncSym, LLGraph, LLValue, Program, TableProgram};
use taipan_transform::{
    Effects, Passes, Summaries, Summary, effects, exception_transform, gc_transform, summary,
};

use crate::{FunctionCompiler, LoadedImage, OptLevel, call_function, call_roots, compile_all};

/// What the transforms ask, answered for a program of tables without optimisations.
struct Stage {
    program: TableProgram,
    effects: FxHashMap<FuncSym, Effects>,
}

impl Summaries for Stage {
    fn program(&self) -> &dyn Program {
        &self.program
    }

    fn summary(&self, f: &FuncSym) -> Option<Arc<Summary>> {
        Some(Arc::new(summary(self.program.graphs.get(f.name())?)))
    }

    fn simplified(&self, f: &FuncSym) -> Option<Arc<LLGraph>> {
        self.program.graphs.get(f.name()).cloned()
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
fn ends(text: &str) -> String {
    let end = "return(result: Signed)
        except(etype: *Struct object_vtable, evalue: *GcStruct object)";
    text.replace("END", end)
}

fn parse(text: &str) -> TableProgram {
    TableProgram::parse(&ends(text)).expect("parses")
}

/// The program as back ends see it.
fn transformed(program: &TableProgram) -> TableProgram {
    let summaries: Vec<_> = (program.functions.iter())
        .map(|f| (f.clone(), Arc::new(summary(&program.graphs[f.name()]))))
        .collect();
    let stage = Stage {
        program: program.clone(),
        effects: effects(&summaries),
    };
    let graphs: BTreeMap<_, _> = (program.functions.iter())
        .map(|f| {
            let g = exception_transform(&program.graphs[f.name()], stage.effects(f), &stage);
            (
                f.name().to_string(),
                Arc::new(gc_transform(&g, &stage, &mut Passes::default())),
            )
        })
        .collect();
    TableProgram {
        graphs,
        ..program.clone()
    }
}

/// Compiles the last function of the program and calls it.
fn run_native(program: &TableProgram, args: &[LLValue]) -> String {
    let program = transformed(program);
    describe(&program);
    let f = program.functions.last().expect("a function");
    let roots = call_roots(&program, f);
    let image = compile_all(&program, &roots, None, OptLevel::Speed).expect("compiles");
    let image = LoadedImage::new(image).expect("loads");
    call_function(
        &program,
        &image,
        f,
        |_| Ok(args.to_vec()),
        |_, r| outcome(r.map_err(|e| e.class)),
    )
    .expect("runs")
}

/// What debuggers are told of code does not change it.
fn describe(program: &TableProgram) {
    let mut compiler = FunctionCompiler::new(OptLevel::Speed).expect("a compiler");
    for f in &program.functions {
        let graph = &program.graphs[f.name()];
        let plain = compiler.compile(program, f, graph).expect("compiles");
        let described = compiler.compile_described(program, f, graph);
        let described = described.expect("compiles");
        assert!(described.debug.is_some());
        assert_eq!(
            (plain.code, plain.relocs, plain.locations),
            (described.code, described.relocs, described.locations)
        );
    }
}

fn run_llinterp(program: &TableProgram, args: &[LLValue]) -> String {
    let mut interp = LLInterpreter::new(program);
    let f = program.functions.last().expect("a function");
    match interp.eval(f, args.to_vec()) {
        Ok(v) => outcome(Ok(v)),
        Err(LLError::Raised(e)) => outcome(Err(e.name)),
        Err(e) => e.to_string(),
    }
}

fn outcome(r: Result<LLValue, String>) -> String {
    match r {
        Ok(LLValue::Int(_, v)) => v.to_string(),
        Ok(LLValue::Float(f)) => format!("{f:?}"),
        Ok(v) => format!("{v:?}"),
        Err(name) => name,
    }
}

/// Runs the last function on integers with both engines, which must agree.
fn run(text: &str, args: &[i64]) -> String {
    let program = parse(text);
    let args: Vec<LLValue> = args.iter().map(|a| LLValue::signed(*a)).collect();
    let native = run_native(&program, &args);
    assert_eq!(native, run_llinterp(&program, &args), "llinterp disagrees");
    native
}
