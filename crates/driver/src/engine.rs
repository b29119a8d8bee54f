//! What executes programs, and the interpreter of low-level graphs with a just-in-time compiler.

use std::rc::Rc;

use serde_json::Value;

use taipan_annotator::Roots;
use taipan_graph::text::print_graph;
use taipan_jit::llgraph::{DriversJit, WithJit};
use taipan_llinterp::LLInterpreter;
use taipan_lltype::LLGraph;

use crate::db::Database;
use crate::fault::Failure;
use crate::names::lowlevel_names;
use crate::native_jit::{JitOptions, JitReport};
use crate::stages::drivers::jit_drivers;
use crate::stages::{GraphStage, StageProgram};
use crate::value::counts_json;

/// What executes a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Engine {
    /// The interpreter of low-level graphs.
    LLInterp,
    /// The interpreter of object-oriented low-level graphs.
    Ootype,
    /// Machine code in memory.
    Native,
    /// Machine code in memory that the C compiler made.
    C,
    /// CPython, on the Python that is made of low-level graphs.
    Python,
}

/// How a call ended.
#[derive(Clone, PartialEq, Debug)]
pub enum CallOutcome {
    /// With a value, as JSON.
    Returned(Value),
    /// With an RPython exception.
    Raised {
        /// Name of its class.
        class: String,
        /// Functions that it went through, innermost first.
        traceback: Vec<String>,
    },
}

pub(crate) fn residual_text(db: &Database, roots: Roots, g: &LLGraph) -> String {
    print_graph(g, lowlevel_names(db, roots.program(db), g))
}

/// There is no just-in-time compiler for object-oriented graphs.
pub(crate) fn without_jit(jit: Option<&JitOptions>) -> Result<(), Failure> {
    match jit {
        None => Ok(()),
        Some(_) => Err(Failure::Usage(
            "there is no just-in-time compiler for object-oriented graphs: leave out --jit"
                .to_owned(),
        )),
    }
}

/// Runs something in an interpreter of low-level graphs; with options, in one that compiles the loops
/// of interpreters.
pub(crate) fn with_interpreter<T>(
    db: &Database,
    roots: Roots,
    jit: Option<&JitOptions>,
    run: impl FnOnce(&mut LLInterpreter<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    match jit {
        Some(jit) => with_jit(db, roots, jit, run),
        None => {
            let program = StageProgram::new(db, roots, GraphStage::Rtyped);
            run(&mut LLInterpreter::new(&program))
        }
    }
}

fn with_jit<T>(
    db: &Database,
    roots: Roots,
    options: &JitOptions,
    run: impl FnOnce(&mut LLInterpreter<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let drivers = jit_drivers(db, roots).map_err(Failure::from)?;
    let _ = options.drivers.set(drivers.len());
    let hinted = StageProgram::new(db, roots, GraphStage::Jit);
    let entered = StageProgram::new(db, roots, GraphStage::Entered);
    let program = WithJit::of_drivers(&entered);
    let mut interp = LLInterpreter::new(&program);
    let (splits, threshold) = (options.splits, options.threshold);
    let mut jit = DriversJit::new(&hinted, &program, &drivers, splits, threshold);
    if let Some(most) = options.most_blocks {
        jit = jit.with_bound(most);
    }
    let jit = Rc::new(jit);
    interp.hook = Some(jit.clone());
    let result = run(&mut interp);
    if let Some(report) = &options.report {
        let graphs = jit.residual_graphs();
        *report.lock().unwrap_or_else(|e| e.into_inner()) = JitReport {
            functions: graphs.len(),
            counts: counts_json(&jit.counts()),
            code_bytes: 0,
            units: 0,
            optimised: 0,
            refused: jit.refused(),
            graphs: graphs.iter().map(|g| residual_text(db, roots, g)).collect(),
        };
    }
    result
}
