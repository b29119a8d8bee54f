//! WebAssembly with the host's collector: the code of one function as a query.

use std::sync::Arc;

use taipan_base::noted;
use taipan_codegen_wasmgc::{FunctionCode, function_code};
use taipan_lltype::{LLType, TypeKind};
use taipan_ootype::{OOGraph, Unsupported, initialize_at_once, lower};

use crate::function::LLFunction;
use crate::stages::{GraphStage, StageProgram, exceptions};

noted! {
    /// The graph of a function on object-oriented types, after the exception transform. None where the function has
    /// no graph.
    pub(crate) fn oo_graph(db, f: LLFunction) -> Option<Result<Arc<OOGraph>, Vec<Unsupported>>> {
        let _timed = taipan_base::timed(db);
        let traced = exceptions(db, f)?;
        let program = StageProgram::new(db, f.roots(db), GraphStage::Optimized);
        let graph = lower(&traced.graph, &program).map(|mut graph| {
            initialize_at_once(&mut graph, &program);
            graph
        });
        if cfg!(debug_assertions) && let Ok(graph) = &graph {
            let wrong = taipan_ootype::check_graph(graph, &program);
            assert!(wrong.is_empty(), "{}: {wrong:#?}", graph.name);
        }
        Some(graph.map(Arc::new))
    }
}

noted! {
    /// The code of a function; types, functions and data in it go by symbols, so it stays the same when another
    /// function changes.
    pub(crate) fn wasmgc_code(db, f: LLFunction) -> Option<Result<Arc<FunctionCode>, Vec<Unsupported>>> {
        let _timed = taipan_base::timed(db);
        let program = StageProgram::new(db, f.roots(db), GraphStage::Optimized);
        let ty = LLType::new(TypeKind::Func(f.sym(db).ty().clone()));
        Some(oo_graph(db, f)?.and_then(|graph| function_code(&graph, ty, &program).map(Arc::new)))
    }
}
