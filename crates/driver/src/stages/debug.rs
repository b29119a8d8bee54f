//! What debuggers are told of a program.

use taipan_annotator::Roots;
use taipan_base::Db;
use taipan_codegen::{
    CodeSource as _, CodegenError, DebugFunction, DebugTypes, DebugVariable, Image, ImageDebug,
    UNKNOWN_FILE,
};

use crate::stages::linked::KnownPositions;
use crate::stages::native::{QuerySource, owns_variables, written_as};
use crate::stages::{GraphStage, StageProgram};

/// What is told of an image whose code was made for that.
pub(crate) fn image_debug(
    db: &dyn Db,
    roots: Roots,
    image: &Image,
    known: &mut KnownPositions,
) -> Result<ImageDebug, CodegenError> {
    let program = StageProgram::new(db, roots, GraphStage::Gc);
    let mut source = QuerySource::new(db, roots);
    let mut types = DebugTypes::default();
    let mut functions = Vec::new();
    for (f, place) in image.functions() {
        let code = source.compiled(f)?;
        let Some(positions) = source.positions_from(f, &code, known) else {
            continue;
        };
        let debug = code.debug.as_deref().cloned().unwrap_or_default();
        let is_own = owns_variables(db, roots, written_as(f));
        let own = debug.variables.into_iter();
        let own = own.filter(|v| v.is_argument || is_own(&v.name));
        let variables = own.filter_map(|v| {
            Some(DebugVariable {
                ty: types.number(v.ty, &program)?,
                name: v.name,
                is_argument: v.is_argument,
                places: v.places,
            })
        });
        let lines = code.lines.iter().zip(&positions.lines);
        functions.push(DebugFunction {
            start: place.offset,
            size: code.code.len() as u64,
            name: positions.function.clone(),
            file: (*positions.file != *UNKNOWN_FILE).then(|| positions.file.clone()),
            lines: lines.map(|((offset, _), line)| (*offset, *line)).collect(),
            frame: debug.frame,
            variables: variables.collect(),
        });
    }
    Ok(ImageDebug {
        types: types.finish(),
        functions,
    })
}
