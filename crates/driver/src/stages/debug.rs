//! What debuggers are told of a program.
//!
//! ```text
//! machine_code ─► code_debug ─► image_debug    by function, then with addresses and numbers of types
//! ```

use std::sync::Arc;

use taipan_annotator::Roots;
use taipan_base::Db;
use taipan_codegen::{
    CodeDebug, CodegenError, DebugFunction, DebugTypes, DebugVariable, Image, ImageDebug,
};

use crate::db::Database;
use crate::function::LLFunction;
use crate::parallel::par_map;
use crate::stages::native::{line_of, machine_code, owns_variables, source_of, written_as};
use crate::stages::{GraphStage, StageProgram};

/// What debuggers are told of the code of a function, wherever it lies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct FunctionDebug {
    /// See [`DebugFunction::size`].
    size: u64,
    /// See [`DebugFunction::name`].
    name: Arc<str>,
    /// See [`DebugFunction::file`].
    file: Option<Arc<str>>,
    /// See [`DebugFunction::lines`].
    lines: Vec<(u32, u32)>,
    /// Its frame, and the variables that are its own.
    debug: CodeDebug,
}

/// What debuggers are told of the code of a function that was made for that.
#[salsa::tracked(returns(clone))]
pub(crate) fn code_debug(
    db: &dyn Db,
    f: LLFunction,
) -> Result<Arc<FunctionDebug>, Arc<CodegenError>> {
    let _timed = taipan_base::timed(db);
    let code = machine_code(db, f)?;
    let (roots, written_as) = (f.roots(db), written_as(f.sym(db)));
    let source = source_of(db, roots, written_as);
    let line = |at: u32| match &source {
        Some((file, spans, lines)) => line_of(db, *file, spans, lines, at),
        None => 0,
    };
    let mut debug = code.debug.as_deref().cloned().unwrap_or_default();
    let is_own = owns_variables(db, roots, written_as);
    debug.variables.retain(|v| v.is_argument || is_own(&v.name));
    Ok(Arc::new(FunctionDebug {
        size: code.code.len() as u64,
        name: written_as.name().into(),
        file: (source.as_ref()).map(|(file, ..)| file.path(db).as_str().into()),
        lines: (code.lines.iter())
            .map(|(offset, at)| (*offset, line(*at)))
            .collect(),
        debug,
    }))
}

/// What is told of an image whose code was made for that.
pub(crate) fn image_debug(
    db: &Database,
    roots: Roots,
    image: &Image,
) -> Result<ImageDebug, CodegenError> {
    let program = StageProgram::new(db, roots, GraphStage::Gc);
    let mut types = DebugTypes::default();
    let mut functions = Vec::new();
    let placed: Vec<_> = image.functions().collect();
    let all = par_map(db, &placed, |db, (f, _)| {
        code_debug(db, LLFunction::new(db, roots, (*f).clone()))
    });
    for ((_, place), told) in placed.into_iter().zip(all) {
        let told = told.map_err(|e| (*e).clone())?;
        let FunctionDebug { debug, .. } = &*told;
        let variables = debug.variables.iter().filter_map(|v| {
            Some(DebugVariable {
                ty: types.number(v.ty, &program)?,
                name: v.name.clone(),
                is_argument: v.is_argument,
                places: v.places.clone(),
            })
        });
        functions.push(DebugFunction {
            start: place.offset,
            size: told.size,
            name: told.name.clone(),
            file: told.file.clone(),
            lines: told.lines.clone(),
            frame: debug.frame.clone(),
            variables: variables.collect(),
        });
    }
    Ok(ImageDebug {
        types: types.finish(),
        functions,
    })
}
