//! The Python of functions: one text per function as a query.

use std::sync::Arc;

use taipan_base::noted;
use taipan_codegen_python::{FunctionText, Unsupported, function_text};
use taipan_lltype::Program;

use crate::function::LLFunction;
use crate::stages::{GraphStage, StageProgram};

noted! {
    /// The Python of a function, with numbers of instructions and references in place of lines and
    /// names. None where the function has no graph.
    pub(crate) fn python_text(db, f: LLFunction) -> Option<Result<Arc<FunctionText>, Unsupported>> {
        let _timed = taipan_base::timed(db);
        let program = StageProgram::new(db, f.roots(db), GraphStage::Rtyped);
        let graph = program.graph(f.sym(db))?;
        Some(function_text(&graph, &program).map(Arc::new))
    }
}
