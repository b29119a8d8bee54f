//! Programs as WebAssembly with the host's garbage collector: the operation behind `build --backend wasmgc`.

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use rustc_hash::{FxHashMap, FxHashSet};
use taipan_annotator::Roots;
use taipan_base::{Diagnostic, ErrorCode};
use taipan_codegen_wasmgc::{FunctionCode, Linked, Linker, function_module, program_module};
use taipan_lltype::FuncSym;
use taipan_ootype::{Lack, OOGraph, Unsupported};

use crate::LoadOptions;
use crate::db::Database;
use crate::fault::{Failure, guarded};
use crate::function::LLFunction;
use crate::link::{folder_of, write};
use crate::parallel::par_steps;
use crate::program::load;
use crate::source_map::source_map;
use crate::stages::linked::optimize_all;
use crate::stages::wasmgc::{oo_graph, wasmgc_code};
use crate::stages::ways::{way, with_way};
use crate::stages::{GraphStage, StageProgram};
use crate::timing::Timings;
use crate::typed::typed_program;

/// The name of the target in diagnostics.
const TARGET: &str = "WebAssembly with the host's collector";

/// The option that chooses it.
const OPTION: &str = "--backend wasmgc";

/// Makes a module of a program, and beside it the script that runs it.
pub fn build_wasmgc(
    db: &Database,
    options: &LoadOptions,
    target: &Utf8Path,
    output: &Utf8Path,
    timings: &mut Timings,
) -> Result<(), Failure> {
    wasmgc_module(db, options, target, output, timings)?.write(output)?;
    wasmgc_script(output)
}

/// Writes the script that runs a module, beside it.
///
/// # Errors
/// The file cannot be written.
pub fn wasmgc_script(module: &Utf8Path) -> Result<(), Failure> {
    let script = program_module(name_of(module));
    let path = module.with_extension("mjs");
    folder_of(&path)
        .and_then(|folder| write(folder, &path, script.as_bytes()))
        .map_err(|e| Failure::Usage(format!("{path}: {e}")))
}

fn name_of(module: &Utf8Path) -> &str {
    module.file_name().unwrap_or("program.wasm")
}

/// The file of a module's source map.
fn map_of(module: &Utf8Path) -> Utf8PathBuf {
    format!("{module}.map").into()
}

/// A program as WebAssembly.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WasmgcModule {
    /// The module.
    pub module: Vec<u8>,
    /// Its source map, if it is made for debuggers.
    pub source_map: Option<String>,
}

impl WasmgcModule {
    /// Writes the module, and the map beside it.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write(&self, output: &Utf8Path) -> Result<(), Failure> {
        let written = folder_of(output).and_then(|folder| {
            if let Some(map) = &self.source_map {
                write(folder, &map_of(output), map.as_bytes())?;
            }
            write(folder, output, &self.module)
        });
        written.map_err(|e| Failure::Usage(format!("{output}: {e}")))
    }
}

/// The module of a program, which will be that file.
pub fn wasmgc_module(
    db: &Database,
    options: &LoadOptions,
    target: &Utf8Path,
    output: &Utf8Path,
    timings: &mut Timings,
) -> Result<WasmgcModule, Failure> {
    guarded(|| module(db, options, target, name_of(output), timings))?
}

fn module(
    db: &Database,
    options: &LoadOptions,
    target: &Utf8Path,
    name: &str,
    timings: &mut Timings,
) -> Result<WasmgcModule, Failure> {
    let program = load(db, target, options)?;
    let (roots, root) = typed_program(db, program, timings)?;
    optimize_all(db, roots, timings);
    timings.phase("codegen", || {
        let mut linked = linked(db, roots, &root, options.debug)?;
        let source_map = options.debug.then(|| {
            linked.set_source_map(&url(&map_of(name.into())));
            source_map(db, roots, &linked)
        });
        Ok(WasmgcModule {
            module: linked.module,
            source_map,
        })
    })
}

/// A program as a module. With `names`, it has names for people.
pub(crate) fn linked(
    db: &Database,
    roots: Roots,
    root: &FuncSym,
    names: bool,
) -> Result<Linked, Failure> {
    let program = StageProgram::new(db, roots, GraphStage::Optimized);
    let mut linker = Linker::new(&program, root).map_err(|lack| plain(&lack))?;
    let mut found = Found::default();
    let mut lacks = Vec::new();
    loop {
        let missing = linker.missing();
        if missing.is_empty() {
            break;
        }
        let codes = par_steps(db, &missing, |db, f| {
            wasmgc_code(db, LLFunction::new(db, roots, f.clone()))
        });
        for (f, code) in missing.iter().zip(codes) {
            match code {
                Some(Ok(code)) => {
                    if let Err(lack) = linker.add(f, code.clone()) {
                        lacks.push((f.clone(), None, lack));
                    }
                    found.0.push((f.clone(), code));
                }
                Some(Err(found)) => {
                    let found = found.into_iter();
                    lacks.extend(found.map(|Unsupported { lack, at }| (f.clone(), Some(at), lack)));
                }
                None => lacks.push((f.clone(), None, Lack::Function(f.name().to_owned()))),
            }
        }
    }
    match lacks.is_empty() {
        true => linker.finish(names).map_err(|lack| plain(&lack)),
        false => Err(found.failure(db, roots, &program, lacks)),
    }
}

/// A file name in an address.
fn url(name: &Utf8Path) -> String {
    taipan_codegen_wasmgc::escaped(name.as_str())
}

/// The graph of a function on object-oriented types. None for functions without one.
pub(crate) fn object_graph(db: &Database, f: LLFunction) -> Result<Option<Arc<OOGraph>>, Failure> {
    oo_graph(db, f)
        .transpose()
        .map_err(|lacks| lacking(db, f, lacks))
}

/// The code of a function as a module of its own. None for functions without a graph.
pub(crate) fn function_alone(db: &Database, f: LLFunction) -> Result<Option<Linked>, Failure> {
    let code = wasmgc_code(db, f).transpose();
    let Some(code) = code.map_err(|lacks| lacking(db, f, lacks))? else {
        return Ok(None);
    };
    let program = StageProgram::new(db, f.roots(db), GraphStage::Optimized);
    let linked = function_module(f.sym(db), &code, &program);
    linked.map(Some).map_err(|lack| plain(&lack))
}

/// The needs of a function that the target lacks, at their places.
fn lacking(db: &Database, f: LLFunction, lacks: Vec<Unsupported>) -> Failure {
    let roots = f.roots(db);
    let program = StageProgram::new(db, roots, GraphStage::Optimized);
    let lacks = lacks.into_iter();
    let lacks = lacks.map(|Unsupported { lack, at }| (f.sym(db).clone(), Some(at), lack));
    Found::default().failure(db, roots, &program, lacks.collect())
}

/// The needs of a program that the target lacks, where no place is known.
fn plain(lack: &Lack) -> Failure {
    let message = format!("{TARGET} has {}", lack.what());
    let d = Diagnostic::error(ErrorCode::NotOnTheTarget, None, message);
    d.with_help(lack.instead(OPTION)).into()
}

/// The functions so far. A function comes behind one that refers to it.
#[derive(Default)]
struct Found(Vec<(FuncSym, Arc<FunctionCode>)>);

impl Found {
    /// Diagnostics about the needs of a program that the target lacks: one for each place of the program.
    fn failure(
        &self,
        db: &Database,
        roots: Roots,
        program: &StageProgram<'_>,
        lacks: Vec<(FuncSym, Option<u32>, Lack)>,
    ) -> Failure {
        let mut callers: FxHashMap<&FuncSym, &FuncSym> = FxHashMap::default();
        for (f, code) in &self.0 {
            for callee in code.functions() {
                callers.entry(callee).or_insert(f);
            }
        }
        let (mut out, mut places) = (Vec::new(), FxHashSet::default());
        for (f, at, lack) in lacks {
            let mut way = way(db, roots, program, &callers, &f, at);
            let first = way.pop();
            if !places.insert((first, first.is_none().then(|| lack.clone()))) {
                continue;
            }
            let message = format!("{TARGET} has {}", lack.what());
            let d = Diagnostic::error(ErrorCode::NotOnTheTarget, first, message);
            out.push(with_way(d, way, "it is needed here").with_help(lack.instead(OPTION)));
        }
        Failure::Diagnostics(out)
    }
}
