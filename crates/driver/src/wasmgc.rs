//! Programs as WebAssembly with the host's garbage collector: the operation behind `build --backend wasmgc`.

use std::sync::Arc;

use camino::Utf8Path;
use rustc_hash::{FxHashMap, FxHashSet};
use taipan_annotator::Roots;
use taipan_base::{Diagnostic, ErrorCode};
use taipan_codegen_wasmgc::{FunctionCode, Linker, program_module};
use taipan_lltype::FuncSym;
use taipan_ootype::{Lack, Unsupported};

use crate::LoadOptions;
use crate::db::Database;
use crate::fault::{Failure, guarded};
use crate::function::LLFunction;
use crate::link::{folder_of, write};
use crate::parallel::par_steps;
use crate::program::load;
use crate::stages::linked::optimize_all;
use crate::stages::wasmgc::wasmgc_code;
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
    let module = wasmgc_module(db, options, target, timings)?;
    let name = output.file_name().unwrap_or("program.wasm");
    let script = program_module(name);
    let script_path = output.with_extension("mjs");
    folder_of(output)
        .and_then(|folder| {
            write(folder, output, &module)?;
            write(folder, &script_path, script.as_bytes())
        })
        .map_err(|e| Failure::Usage(format!("{output}: {e}")))
}

/// The module of a program.
pub fn wasmgc_module(
    db: &Database,
    options: &LoadOptions,
    target: &Utf8Path,
    timings: &mut Timings,
) -> Result<Vec<u8>, Failure> {
    guarded(|| module(db, options, target, timings))?
}

fn module(
    db: &Database,
    options: &LoadOptions,
    target: &Utf8Path,
    timings: &mut Timings,
) -> Result<Vec<u8>, Failure> {
    let program = load(db, target, options)?;
    let (roots, root) = typed_program(db, program, timings)?;
    optimize_all(db, roots, timings);
    timings.phase("codegen", || linked(db, roots, &root, options.debug))
}

fn linked(db: &Database, roots: Roots, root: &FuncSym, names: bool) -> Result<Vec<u8>, Failure> {
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
