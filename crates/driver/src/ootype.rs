//! Programs on object-oriented low-level types, in their interpreter: the engine `ootype`.

use taipan_annotator::Roots;
use taipan_llinterp::{LLError, OOError, OOInterpreter};
use taipan_lltype::{FuncSym, LLValue};

use crate::db::Database;
use crate::fault::Failure;
use crate::function::LLFunction;
use crate::stages::wasmgc::oo_graph;
use crate::stages::{GraphStage, StageProgram, lowlevel_errors};

/// The option that chooses it.
const OPTION: &str = "--engine ootype";

/// Runs something in an interpreter of object-oriented graphs.
pub(crate) fn with_oo_interpreter<T>(
    db: &Database,
    roots: Roots,
    run: impl FnOnce(&mut OOInterpreter<'_>) -> T,
) -> T {
    let program = StageProgram::new(db, roots, GraphStage::Optimized);
    let graph_of = |f: &FuncSym| oo_graph(db, LLFunction::new(db, roots, f.clone()));
    run(&mut OOInterpreter::new(&program, Box::new(graph_of)))
}

/// Calls a function in that interpreter.
pub(crate) fn evaluated(
    db: &Database,
    roots: Roots,
    interp: &mut OOInterpreter<'_>,
    root: &FuncSym,
    args: &[LLValue],
) -> Result<Result<LLValue, LLError>, Failure> {
    match interp.eval(root, args) {
        Ok(v) => Ok(Ok(v)),
        Err(OOError::Low(e)) => Ok(Err(e)),
        Err(OOError::Lacks { lack, calls }) => {
            let message = format!(
                "the interpreter of object-oriented graphs has {}",
                lack.what()
            );
            let d = lowlevel_errors::lack(db, roots, &calls, &message);
            Err(d.with_help(lack.instead(OPTION)).into())
        }
    }
}
