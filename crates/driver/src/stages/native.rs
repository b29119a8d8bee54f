//! Machine code: one artifact per function as a query, images from them.

use std::cell::RefCell;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde::Serialize;
use serde::de::DeserializeOwned;
use taipan_annotator::{Roots, Spec};
use taipan_base::{ArtifactStore, Db, File, LineIndex, line_index, noted};
use taipan_code::{CodeId, CodeSpans, code_spans};
use taipan_codegen::{
    CodeSource, CodegenError, CompiledFunction, Glue, Image, Lister, Listing, Positions, SymbolRef,
};
use taipan_codegen_cranelift::{CodeLine, FunctionCompiler, OptLevel, call_roots};
use taipan_interp::{ObjData, Object};
use taipan_language::{Machine, PassStage};
use taipan_lltype::{FuncKind, FuncSym, LLGraph};

use crate::KeyHasher;
use crate::db::Database;
use crate::function::LLFunction;
use crate::stages::linked::{Known, KnownPositions, linked_image};
use crate::stages::stage_cache::{Recorder, Search, keep, search, start};
use crate::stages::{GraphStage, StageProgram, gc_once, optimized_key, search_of};

/// Which compiler: for a machine, of code with checks or without.
type CompilerKey = (Machine, bool);

thread_local! {
    /// Making one costs more than compiling a small function.
    static COMPILERS: RefCell<FxHashMap<CompilerKey, FunctionCompiler>> = RefCell::default();
}

/// Runs `f` with this thread's compiler for the machine that Taipan runs on.
pub(crate) fn with_compiler<T>(
    f: impl FnOnce(&mut FunctionCompiler) -> Result<T, CodegenError>,
) -> Result<T, CodegenError> {
    with_compiler_of((Machine::HOST, false), f)
}

/// Runs `f` with this thread's compiler for a program.
fn with_compiler_for<T>(
    db: &dyn Db,
    roots: Roots,
    f: impl FnOnce(&mut FunctionCompiler) -> Result<T, CodegenError>,
) -> Result<T, CodegenError> {
    let program = roots.program(db);
    with_compiler_of(
        (program.options(db).machine, program.options(db).checked),
        f,
    )
}

fn with_compiler_of<T>(
    key: CompilerKey,
    f: impl FnOnce(&mut FunctionCompiler) -> Result<T, CodegenError>,
) -> Result<T, CodegenError> {
    COMPILERS.with(|compilers| {
        // Taken out meanwhile: after a panic there is none, and the next one is new.
        let known = compilers.borrow_mut().remove(&key);
        let mut compiler = match (known, key) {
            (Some(c), _) => c,
            (None, (machine, false)) => FunctionCompiler::for_machine(machine, OptLevel::Speed)?,
            (None, (machine, true)) => FunctionCompiler::for_checked(machine, OptLevel::Speed)?,
        };
        let result = f(&mut compiler);
        compilers.borrow_mut().insert(key, compiler);
        result
    })
}

noted! {
    /// The machine code of a function; calls in it go to symbols, so it stays the same
    /// when a callee changes.
    pub fn machine_code(db, f: LLFunction) -> Result<Arc<CompiledFunction>, Arc<CodegenError>> {
        emit(db, f)
    }
}

fn emit(db: &dyn Db, f: LLFunction) -> Result<Arc<CompiledFunction>, Arc<CodegenError>> {
    let kept = search_of(db, f, kept_code);
    let described = f.roots(db).program(db).options(db).debug;
    emitted(db, f, code_name(db, f), &kept, |program, graph| {
        with_compiler_for(db, f.roots(db), |c| {
            if described {
                c.compile_described(program, f.sym(db), graph)
            } else {
                c.compile(program, f.sym(db), graph)
            }
        })
    })
}

/// What code is kept as: with what debuggers are told of it, or without.
fn code_name(db: &dyn Db, f: LLFunction) -> &'static str {
    if f.roots(db).program(db).options(db).debug {
        "described_code"
    } else {
        "machine_code"
    }
}

noted! {
    /// What is kept of [`machine_code`].
    fn kept_code(db, f: LLFunction) -> Search<Arc<CompiledFunction>> {
        kept_emission(db, f, code_name(db, f))
    }
}

/// Looks for what a back end has made of a function. It says all that was asked since the
/// optimised graph, so the graphs between the two need not be made.
pub(crate) fn kept_emission<T: DeserializeOwned>(
    db: &dyn Db,
    f: LLFunction,
    name: &str,
) -> Search<Arc<T>> {
    let _timed = taipan_base::timed(db);
    let collector = f.roots(db).program(db).options(db).collector;
    let start = optimized_key(db, f).and_then(|input| {
        // Graphs are the same for every collector up to here.
        let input = KeyHasher::new(collector.name())
            .bytes(input.as_bytes())
            .finish();
        start(db, f.roots(db), name, PassStage::Collect, f.sym(db), input)
    });
    search(db, f.roots(db), name, start)
}

/// What a back end makes of a function: what is kept, or what it makes now of the graph after the
/// GC transform, which is then kept.
pub(crate) fn emitted<T: Serialize + PartialEq>(
    db: &dyn Db,
    f: LLFunction,
    name: &'static str,
    kept: &Search<Arc<T>>,
    make: impl FnOnce(&dyn taipan_lltype::Program, &LLGraph) -> Result<T, CodegenError>,
) -> Result<Arc<T>, Arc<CodegenError>> {
    let _timed = taipan_base::timed(db);
    let sym = f.sym(db);
    let verifies = db.artifacts().is_some_and(ArtifactStore::verifies);
    if let Some(found) = kept.found()
        && !verifies
    {
        if let Some(store) = db.artifacts() {
            store.restored(name, &|| sym.name().to_owned());
        }
        return Ok(found.clone());
    }
    let traced = gc_once(db, f)
        .ok_or_else(|| Arc::new(CodegenError::new(sym.name(), "the function has no graph")))?;
    let recorder = Recorder::new(db, f.roots(db), &traced.asked);
    let made = make(&recorder, &traced.graph)
        .map(Arc::new)
        .map_err(Arc::new)?;
    if let Some(found) = kept.found() {
        assert!(*found == made, "the cached {name} differs");
    }
    keep(db, f.roots(db), name, kept, recorder.asked(), &*made);
    Ok(made)
}

/// The code of a piece of glue for a program.
pub(crate) fn glue_code(
    db: &dyn Db,
    roots: Roots,
    glue: &Glue,
) -> Result<Arc<CompiledFunction>, CodegenError> {
    let machine = roots.program(db).options(db).machine;
    with_compiler_of((machine, false), |c| c.compile_glue(glue)).map(Arc::new)
}

/// Cranelift's form of a function, or its machine code, as text.
pub(crate) fn code_text(
    db: &dyn Db,
    roots: Roots,
    sym: &FuncSym,
    graph: &LLGraph,
    asm: bool,
) -> Result<String, CodegenError> {
    let program = StageProgram::new(db, roots, GraphStage::Gc);
    with_compiler_for(db, roots, |c| {
        if asm {
            c.asm(&program, sym, graph)
        } else {
            c.clif(&program, sym, graph)
        }
    })
}

/// The same line by line, with where each line comes from.
pub(crate) fn code_lines(
    db: &dyn Db,
    roots: Roots,
    sym: &FuncSym,
    graph: &LLGraph,
    asm: bool,
) -> Result<Vec<CodeLine>, CodegenError> {
    let program = StageProgram::new(db, roots, GraphStage::Gc);
    let mut compiler =
        FunctionCompiler::for_listings(roots.program(db).options(db).machine, OptLevel::Speed)?;
    if asm {
        compiler.placed_asm(&program, sym, graph)
    } else {
        compiler.placed_clif(&program, sym, graph)
    }
}

/// What an image is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ImageUse {
    /// An executable.
    Build,
    /// A part of another program.
    Library,
    /// Running the entry point in this process.
    Run,
    /// Calling the entries with arguments of any type in this process.
    Call,
}

/// The image of everything that a program needs which is entered by these functions:
/// by one, unless they are to be called.
pub fn image(
    db: &Database,
    roots: Roots,
    entries: &[FuncSym],
    usage: ImageUse,
) -> Result<Image, CodegenError> {
    image_with(db, roots, entries, usage, Vec::new())
}

/// As [`image`], with more that is to be in it.
pub(crate) fn image_with(
    db: &Database,
    roots: Roots,
    entries: &[FuncSym],
    usage: ImageUse,
    more: Vec<SymbolRef>,
) -> Result<Image, CodegenError> {
    let program = StageProgram::new(db, roots, GraphStage::Gc);
    let (mut symbols, entry) = match usage {
        ImageUse::Build => (vec![SymbolRef::Glue(Glue::Main)], entries.first()),
        ImageUse::Library => (vec![SymbolRef::Glue(Glue::Library)], entries.first()),
        ImageUse::Run => (Vec::new(), entries.first()),
        ImageUse::Call => {
            let needed = entries.iter().flat_map(|f| call_roots(&program, f));
            (needed.collect(), None)
        }
    };
    symbols.extend(more);
    linked_image(db, roots, &symbols, entry)
}

/// As [`image`] for a run, not placed yet.
pub fn listing(
    db: &dyn Db,
    roots: Roots,
    root: &FuncSym,
    lister: &mut Lister,
) -> Result<Listing, CodegenError> {
    let program = StageProgram::new(db, roots, GraphStage::Gc);
    lister.list(&program, &mut QuerySource::new(db, roots), root)
}

/// The function whose source a function is made from: another one for portals of just-in-time
/// compilers.
pub(crate) fn written_as(f: &FuncSym) -> &FuncSym {
    let called = taipan_jit::runner_of(f).or_else(|| taipan_jit::rest_of(f));
    let portal = called.unwrap_or(f);
    taipan_jit::portal_of(portal).unwrap_or(portal)
}

/// Where the source of a function is: its file, and which text and lines its bytecode comes from.
pub(crate) fn source_of(
    db: &dyn Db,
    roots: Roots,
    f: &FuncSym,
) -> Option<(File, Arc<CodeSpans>, Arc<LineIndex>)> {
    let code = code_of(db, roots, f)?;
    let file = code.file(db)?;
    Some((file, code_spans(db, code), line_index(db, file)))
}

/// The bytecode of a function of the program.
fn code_of(db: &dyn Db, roots: Roots, f: &FuncSym) -> Option<CodeId> {
    let FuncKind::User { func, spec, .. } = f.kind() else {
        return None;
    };
    let spec = Spec::new(db, roots, *func, spec.clone());
    let object = Object::new(db, roots.program(db), spec.func(db));
    match taipan_interp::object(db, object).as_deref() {
        Some(ObjData::Function(data)) => Some(data.code),
        _ => None,
    }
}

/// Whether a variable of a function's graph is one of the function: others are of functions that were
/// inlined.
pub(crate) fn owns_variables(db: &dyn Db, roots: Roots, f: &FuncSym) -> impl Fn(&str) -> bool {
    let code = code_of(db, roots, f).map(|code| taipan_code::code(db, code));
    move |name| {
        code.as_ref().is_none_or(|code| {
            let captured = code.cells.iter().map(|(name, _)| name).chain(&code.frees);
            code.locals.iter().chain(captured).any(|n| **n == *name)
        })
    }
}

/// The line that a position in bytecode comes from; 0 if that is unknown.
pub(crate) fn line_of(
    db: &dyn Db,
    file: File,
    spans: &CodeSpans,
    lines: &LineIndex,
    at: u32,
) -> u32 {
    match spans.instrs.get(at as usize) {
        Some(range) => lines.line_column(file.text(db), range.start).0,
        None => 0,
    }
}

/// Code by query.
pub(crate) struct QuerySource<'db> {
    db: &'db dyn Db,
    roots: Roots,
    /// One for each file.
    paths: FxHashMap<File, Arc<str>>,
}

impl<'db> QuerySource<'db> {
    /// The code of the program with these roots.
    pub(crate) fn new(db: &'db dyn Db, roots: Roots) -> Self {
        QuerySource {
            db,
            roots,
            paths: FxHashMap::default(),
        }
    }

    /// What tracebacks say of a function: what is known of it already, or what is worked out now.
    pub(crate) fn positions_from(
        &mut self,
        f: &FuncSym,
        code: &Arc<CompiledFunction>,
        known: &mut KnownPositions,
    ) -> Option<Arc<Positions>> {
        let db = self.db;
        let written_as = written_as(f);
        let Some((file, spans, lines)) = source_of(db, self.roots, written_as) else {
            return Some(Arc::new(Positions::unknown(written_as, code)));
        };
        if let Some(k) = known.get(f)
            && Arc::ptr_eq(&k.code, code)
            && Arc::ptr_eq(&k.spans, &spans)
            && Arc::ptr_eq(&k.lines, &lines)
        {
            return Some(k.positions.clone());
        }
        let path = || file.path(db).as_str().into();
        let line = |at: u32| line_of(db, file, &spans, &lines, at);
        let positions = Arc::new(Positions {
            file: self.paths.entry(file).or_insert_with(path).clone(),
            function: written_as.name().into(),
            locations: code.locations.iter().map(|at| line(*at)).collect(),
            lines: code.lines.iter().map(|(_, at)| line(*at)).collect(),
        });
        let made = Known {
            code: code.clone(),
            spans,
            lines,
            positions: positions.clone(),
        };
        known.insert(f.clone(), made);
        Some(positions)
    }
}

impl CodeSource for QuerySource<'_> {
    fn compiled(&mut self, f: &FuncSym) -> Result<Arc<CompiledFunction>, CodegenError> {
        let key = LLFunction::new(self.db, self.roots, f.clone());
        machine_code(self.db, key).map_err(|e| (*e).clone())
    }

    fn glue(&mut self, glue: &Glue) -> Result<Arc<CompiledFunction>, CodegenError> {
        glue_code(self.db, self.roots, glue)
    }

    fn positions(&mut self, f: &FuncSym, code: &Arc<CompiledFunction>) -> Option<Arc<Positions>> {
        self.positions_from(f, code, &mut KnownPositions::default())
    }
}
