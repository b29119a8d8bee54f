//! C: one text per function as a query, programs from them.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use taipan_annotator::Roots;
use taipan_base::{Diagnostic, ErrorCode, File, Span, noted};
use taipan_codegen::CodegenError;
use taipan_codegen_c::{
    CFunction, CProgram, CSource, CodePlaces, EmitOptions, Extent, emit_function, program_files,
};
use taipan_language::Machine;
use taipan_lltype::{FuncSym, Program as _, find_external, missing_on, shown_name, unlike_c};
use taipan_transform::thread_dispatch;

use crate::db::Database;
use crate::fault::Failure;
use crate::function::LLFunction;
use crate::parallel::par_steps;
use crate::stages::lowlevel_errors::codegen_failure;
use crate::stages::native::{emitted, kept_emission, line_of, source_of, written_as};
use crate::stages::pass_counts::with_passes;
use crate::stages::stage_cache::Search;
use crate::stages::ways::{mention, way, with_way};
use crate::stages::{GraphStage, StageProgram, search_of};

noted! {
    /// The C of a function. Lines of the source are not in it, and calls go by name: it stays the same
    /// when the function moves, or a callee changes.
    pub fn c_code(db, f: LLFunction) -> Result<Arc<CFunction>, Arc<CodegenError>> {
        let kept = search_of(db, f, kept_c);
        emitted(db, f, C_CODE, &kept, |program, graph| {
            let checked = f.roots(db).program(db).options(db).checked;
            let graph = with_passes(db, f, |passes| thread_dispatch(graph, passes));
            emit_function(program, f.sym(db), &graph, EmitOptions { checked })
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
    let checked = roots.program(db).options(db).checked;
    let options = EmitOptions { checked };
    program_files(&program, &mut Source::new(db, roots), extent, options)
}

/// The files of an executable, or of a part of one. What the program reaches that its machine does not have is
/// an error.
pub(crate) fn c_executable(
    db: &Database,
    roots: Roots,
    extent: Extent<'_>,
) -> Result<CProgram, Failure> {
    let program = StageProgram::new(db, roots, GraphStage::Gc);
    let mut source = Source::new(db, roots);
    let checked = roots.program(db).options(db).checked;
    let options = EmitOptions { checked };
    let made = program_files(&program, &mut source, extent, options);
    let missing = source.missing(&program);
    if missing.is_empty() {
        made.map_err(|e| codegen_failure(&e))
    } else {
        Err(Failure::Diagnostics(missing))
    }
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
    /// The functions so far, with what they refer to. A function comes behind one that refers to it.
    uses: Vec<(FuncSym, Arc<CFunction>)>,
}

impl<'db> Source<'db> {
    fn new(db: &'db Database, roots: Roots) -> Self {
        Source {
            db,
            roots,
            files: FxHashMap::default(),
            uses: Vec::new(),
        }
    }

    /// What the program reaches that its machine does not have: each function where it is reached first, and
    /// one at a place of the program.
    fn missing(&self, program: &StageProgram<'_>) -> Vec<Diagnostic> {
        let db = self.db;
        let machine = self.roots.program(db).options(db).machine;
        let mut callers: FxHashMap<&FuncSym, &FuncSym> = FxHashMap::default();
        for (f, text) in &self.uses {
            for callee in &text.functions {
                callers.entry(callee).or_insert(f);
            }
        }
        let mut out = Vec::new();
        let (mut seen, mut places) = (FxHashSet::default(), FxHashSet::default());
        for (user, text) in &self.uses {
            for f in &text.externals {
                let Some(lack) = Lack::of(machine, f, program) else {
                    continue;
                };
                if !seen.insert(f.name()) {
                    continue;
                }
                let at = program.graph(user).and_then(|g| mention(&g, f));
                let way = way(db, self.roots, program, &callers, user, at);
                if way.last().is_none_or(|place| places.insert(*place)) {
                    out.push(not_there(machine, f.name(), &lack, way));
                }
            }
        }
        out
    }
}

/// Why a function cannot be called on a machine.
enum Lack {
    /// The machine has none of these.
    Has(&'static str),
    /// Its arguments or its result are not what C has there.
    Takes(String),
}

impl Lack {
    fn of(machine: Machine, f: &FuncSym, program: &StageProgram<'_>) -> Option<Lack> {
        if let Some(what) = missing_on(machine, f.name()) {
            return Some(Lack::Has(what));
        }
        let is_own = f.name().starts_with("rpy_") || find_external(f.name()).is_some();
        let differs = machine.has_narrow_addresses() && !is_own;
        let why = differs.then(|| unlike_c(f, program)).flatten()?;
        Some(Lack::Takes(why))
    }
}

/// That a machine does not have what a function needs: told where the program's own code leads to it.
fn not_there(machine: Machine, name: &str, lack: &Lack, mut way: Vec<Span>) -> Diagnostic {
    let first = way.pop();
    let name = shown_name(name);
    let message = match lack {
        Lack::Has(what) => format!("{machine} has no {what}: {name}() cannot be called"),
        Lack::Takes(why) => format!("{name}() cannot be called on {machine}: {why}"),
    };
    let d = Diagnostic::error(ErrorCode::NotOnTheTarget, first, message);
    let d = with_way(d, way, "it is called here");
    d.with_help("keep it out of what the program can reach on this target")
}

impl CSource for Source<'_> {
    fn functions(&mut self, functions: &[FuncSym]) -> Vec<Result<Arc<CFunction>, CodegenError>> {
        let texts = par_steps(self.db, functions, |db, f| {
            let f = LLFunction::new(db, self.roots, f.clone());
            c_code(db, f).map_err(|e| (*e).clone())
        });
        let made = functions.iter().zip(&texts);
        let made = made.filter_map(|(f, text)| Some((f.clone(), text.as_ref().ok()?.clone())));
        self.uses.extend(made);
        texts
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
