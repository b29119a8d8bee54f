//! C: one text per function as a query, programs from them.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use taipan_annotator::Roots;
use taipan_base::{File, noted};
use taipan_codegen::CodegenError;
use taipan_codegen_c::{
    CFunction, CProgram, CSource, CodePlaces, EmitOptions, Extent, emit_function, program_files,
};
use taipan_lltype::FuncSym;

use crate::db::Database;
use crate::function::LLFunction;
use crate::parallel::par_steps;
use crate::stages::native::{emitted, kept_emission, line_of, source_of, written_as};
use crate::stages::stage_cache::Search;
use crate::stages::{GraphStage, StageProgram, search_of};

noted! {
    /// The C of a function. Lines of the source are not in it, and calls go by name: it stays the same
    /// when the function moves, or a callee changes.
    pub fn c_code(db, f: LLFunction) -> Result<Arc<CFunction>, Arc<CodegenError>> {
        let kept = search_of(db, f, kept_c);
        emitted(db, f, C_CODE, &kept, |program, graph| {
            let checked = f.roots(db).program(db).checked(db);
            emit_function(program, f.sym(db), graph, EmitOptions { checked })
        })
    }
}

const C_CODE: &str = "c_code";

noted! {
    /// What is kept of [`c_code`].
    fn kept_c(db, f: LLFunction) -> Search<Arc<CFunction>> {
        kept_emission(db, f, C_CODE)
    }
}

/// The files of a program.
pub(crate) fn c_program(
    db: &Database,
    roots: Roots,
    extent: Extent<'_>,
) -> Result<CProgram, CodegenError> {
    let program = StageProgram::new(db, roots, GraphStage::Gc);
    let checked = roots.program(db).checked(db);
    let options = EmitOptions { checked };
    program_files(&program, &mut Source::new(db, roots), extent, options)
}

/// Where the code of a function comes from.
pub(crate) fn places_of(db: &Database, roots: Roots, f: &FuncSym) -> Option<CodePlaces> {
    Source::new(db, roots).places(f)
}

/// C by query.
struct Source<'db> {
    db: &'db Database,
    roots: Roots,
    /// One for each file: its path, and the name of its module.
    files: FxHashMap<File, (Arc<str>, Arc<str>)>,
}

impl<'db> Source<'db> {
    fn new(db: &'db Database, roots: Roots) -> Self {
        Source {
            db,
            roots,
            files: FxHashMap::default(),
        }
    }
}

impl CSource for Source<'_> {
    fn functions(&mut self, functions: &[FuncSym]) -> Vec<Result<Arc<CFunction>, CodegenError>> {
        par_steps(self.db, functions, |db, f| {
            let f = LLFunction::new(db, self.roots, f.clone());
            c_code(db, f).map_err(|e| (*e).clone())
        })
    }

    fn places(&mut self, f: &FuncSym) -> Option<CodePlaces> {
        let db = self.db;
        let written_as = written_as(f);
        let (file, spans, lines) = source_of(db, self.roots, written_as)?;
        let (path, module) = self.files.entry(file).or_insert_with(|| {
            let path = file.path(db);
            (path.as_str().into(), module_of(path).into())
        });
        let all = 0..spans.instrs.len() as u32;
        Some(CodePlaces {
            file: path.clone(),
            module: module.clone(),
            function: written_as.name().into(),
            lines: all
                .map(|at| line_of(db, file, &spans, &lines, at))
                .collect(),
        })
    }
}

/// The dotted name of a module: of the file, and of the packages that it is in.
pub(crate) fn module_of(path: &camino::Utf8Path) -> String {
    let mut names: Vec<&str> = Vec::new();
    match path.file_stem() {
        Some("__init__") | None => {}
        Some(name) => names.push(name),
    }
    let packages = path.ancestors().skip(1);
    for folder in packages.take_while(|f| *f != "" && f.join("__init__.py").is_file()) {
        names.extend(folder.file_name());
    }
    names.reverse();
    names.join(".")
}
