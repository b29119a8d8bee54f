//! The operations behind `run`, `build`, `call` and `emit`.

use std::rc::Rc;
use std::sync::{Arc, Mutex, OnceLock};

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;
use taipan_annotator::{RootSet, Roots};
use taipan_base::{Diagnostic, ErrorCode, Program, shown_path};
use taipan_codegen::{CodegenError, Image, Lister, Listing};
use taipan_codegen_cranelift::{LoadedImage, call_function, object_file, run_program};
use taipan_graph::ObjId;
use taipan_graph::text::print_graph;
use taipan_jit::Splits;
use taipan_jit::llgraph::{DriversJit, WithJit};
use taipan_llinterp::{LLError, LLInterpreter};
use taipan_lltype::{FuncSym, HeapError, LLGraph, LLValue, Memory};
use taipan_rtyper::TyperError;

use crate::drivers::{jit_drivers, jit_is_on};
use crate::link::link_with_cache;
use crate::linked::compile_entries;
use crate::lowlevel_errors;
use crate::names::lowlevel_names;
use crate::native::ImageUse;
use crate::native_jit::{jit_image, with_native_jit};
use crate::prefetch;
use crate::reach::reachable;
use crate::result_cache::{Question, remember};
use crate::session::{
    compile_diagnostics, entry_roots, has_errors, import_diagnostics, load, placed,
};
use crate::stages::{GraphStage, StageProgram, root_syms};
use crate::timeshift::counts_json;
use crate::value::{to_json, to_lowlevel};
use crate::whole::typing_diagnostics;
use crate::{Database, Failure, Literal, LoadOptions, Timings, guarded, native};

/// What executes a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Engine {
    /// The interpreter of low-level graphs.
    LLInterp,
    /// Machine code in memory.
    Native,
}

/// How a just-in-time compiler compiles the loops of interpreters.
#[derive(Clone, Debug, Default)]
pub struct JitOptions {
    /// When the sides of branches are compiled.
    pub splits: Splits,
    /// How often code comes by before it is compiled, whatever the program says.
    pub threshold: Option<i64>,
    /// How many blocks a residual function has before what comes is left to others.
    pub most_blocks: Option<usize>,
    /// How many bytes of machine code there are before nothing is added any more.
    pub most_code: Option<usize>,
    /// How many bytes of machine code are compiled at once before it is done in pieces.
    pub largest_unit: Option<usize>,
    /// Where to say what was compiled.
    pub report: Option<Arc<Mutex<JitReport>>>,
    /// Where to say how many drivers the program has.
    pub drivers: Arc<OnceLock<usize>>,
}

/// What a just-in-time compiler made.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct JitReport {
    /// How many residual functions there are.
    pub functions: usize,
    /// What they consist of: `residual`, `oops`, `flexswitches` and `blocks`.
    pub counts: Value,
    /// How many bytes of machine code there are.
    pub code_bytes: usize,
    /// How many pieces of machine code there are.
    pub units: usize,
    /// Why loops stay interpreted.
    pub refused: Vec<String>,
    /// The residual functions as text.
    pub graphs: Vec<String>,
}

/// One call of one function.
#[derive(Clone, Debug)]
pub struct CallRequest {
    /// The module's file.
    pub file: Utf8PathBuf,
    /// The function, or `Class.method` for a static one.
    pub func: String,
    /// Its arguments.
    pub args: Vec<Literal>,
    /// What executes it.
    pub engine: Engine,
    /// Compiles loops of interpreters.
    pub jit: Option<JitOptions>,
}

/// How a call ended.
#[derive(Clone, PartialEq, Debug)]
pub enum CallOutcome {
    /// With a value, as JSON.
    Returned(Value),
    /// With an RPython exception.
    Raised {
        /// Name of its class.
        class: String,
        /// Functions that it went through, innermost first.
        traceback: Vec<String>,
    },
}

/// Compiles a function for the types of its arguments and calls it.
pub fn call(
    db: &Database,
    options: &LoadOptions,
    request: &CallRequest,
    timings: &mut Timings,
) -> Result<CallOutcome, Failure> {
    guarded(|| {
        let program = load(db, &request.file, options)?;
        let func = timings.phase("import", || find_function(db, program, &request.func))?;
        let mut types = Vec::new();
        for a in &request.args {
            types.push(a.argument_type().map_err(Failure::Usage)?);
        }
        let set = RootSet::Call {
            func,
            args: types.into(),
        };
        let roots = Roots::new(db, program, set, jit_is_on(db));
        let root = typed(db, roots, timings)?;
        // Memory of the interpreter is none that C code could use.
        let engine = match request.engine {
            Engine::LLInterp if calls_c(db, roots, &root) => Engine::Native,
            engine => engine,
        };
        match engine {
            Engine::LLInterp => timings.phase("execute", || match &request.jit {
                Some(jit) => with_jit(db, roots, jit, |i| {
                    interpret((db, roots), i, &root, &request.args)
                }),
                None => {
                    let program = StageProgram::new(db, roots, GraphStage::Rtyped);
                    let mut i = LLInterpreter::new(&program);
                    interpret((db, roots), &mut i, &root, &request.args)
                }
            }),
            Engine::Native => {
                if let Some(jit) = &request.jit {
                    let program = jit_image(db, roots, &root, ImageUse::Call, timings)?;
                    let print = |g: &LLGraph| residual_text(db, roots, g);
                    return with_native_jit(program, jit, print, timings, |image| {
                        call_native(db, roots, &root, image, &request.args)
                    })?;
                }
                let image = native_image(db, roots, &root, ImageUse::Call, timings)?;
                timings.phase("execute", || {
                    let image = LoadedImage::new(image).map_err(|e| codegen_failure(&e))?;
                    call_native(db, roots, &root, &image, &request.args)
                        .map_err(|e| codegen_failure(&e))?
                })
            }
        }
    })?
}

/// The function of that name in the target module.
pub(crate) fn find_function(db: &Database, program: Program, name: &str) -> Result<ObjId, Failure> {
    let found = import_diagnostics(db, program);
    if has_errors(&found) {
        return Err(Failure::Diagnostics(found));
    }
    // The module is fine: asking for what is not in it is the caller's mistake.
    taipan_interp::named_function(db, program, name)
        .clone()
        .map_err(|d| {
            let target = shown_path(db, program.target(db));
            let mut text = format!("{target}: {} [{}]", d.message, d.code);
            if let Some(help) = d.help {
                text += &format!("; {help}");
            }
            Failure::Usage(text)
        })
}

/// Annotates and rtypes everything that the roots reach; answers the root function.
pub(crate) fn typed(
    db: &Database,
    roots: Roots,
    timings: &mut Timings,
) -> Result<FuncSym, Failure> {
    let [root] = <[FuncSym; 1]>::try_from(typed_entries(db, roots, timings)?)
        .map_err(|all| Failure::Usage(format!("{} entry points instead of one", all.len())))?;
    Ok(root)
}

/// Annotates and rtypes everything that the roots reach; answers the functions that
/// they are.
pub(crate) fn typed_entries(
    db: &Database,
    roots: Roots,
    timings: &mut Timings,
) -> Result<Vec<FuncSym>, Failure> {
    let found = timings.phase("annotate", || compile_diagnostics(db, roots));
    if has_errors(&found) {
        return Err(Failure::Diagnostics(found));
    }
    timings.phase("rtype", || {
        let entries = root_syms(db, roots).map_err(typer_failure)?;
        let wrong = typing_diagnostics(db, roots);
        if wrong.is_empty() {
            Ok(entries)
        } else {
            Err(Failure::Diagnostics(wrong))
        }
    })
}

/// Whether a program calls functions of C libraries other than those that the runtime
/// offers.
fn calls_c(db: &Database, roots: Roots, root: &FuncSym) -> bool {
    reachable(db, roots, GraphStage::Rtyped, std::slice::from_ref(root)).calls_c
}

pub(crate) fn typer_failure(e: TyperError) -> Failure {
    typer_diagnostic(e).into()
}

pub(crate) fn typer_diagnostic(e: TyperError) -> Diagnostic {
    e.diagnostic(None)
}

pub(crate) fn codegen_failure(e: &CodegenError) -> Failure {
    Diagnostic::error(
        ErrorCode::NoCode,
        None,
        format!("no code can be generated: {e}"),
    )
    .into()
}

fn bad_result(e: HeapError) -> Failure {
    Diagnostic::error(
        ErrorCode::UnreadableResult,
        None,
        format!("bad result: {e}"),
    )
    .into()
}

/// Calls and jumps that one interpreted call may execute, some ten seconds: a batch goes
/// on after a function that never ends.
pub(crate) const CALL_FUEL: u64 = 1_000_000_000;

/// The arguments of a call as low-level values.
pub(crate) fn lowlevel_args(
    memory: &mut dyn Memory,
    root: &FuncSym,
    args: &[Literal],
) -> Result<Vec<LLValue>, String> {
    let types = &root.ty().args;
    if types.len() != args.len() {
        return Err(format!(
            "{} takes {} arguments, not {}",
            root.name(),
            types.len(),
            args.len()
        ));
    }
    (args.iter().zip(types))
        .map(|(a, ty)| to_lowlevel(memory, a, *ty))
        .collect()
}

fn call_native(
    db: &Database,
    roots: Roots,
    root: &FuncSym,
    image: &LoadedImage,
    args: &[Literal],
) -> Result<Result<CallOutcome, Failure>, CodegenError> {
    let program = StageProgram::new(db, roots, GraphStage::Gc);
    call_function(
        &program,
        image,
        root,
        |memory| lowlevel_args(memory, root, args),
        |memory, result| match result {
            Ok(v) => to_json(memory, v, root.ty().result)
                .map(CallOutcome::Returned)
                .map_err(bad_result),
            Err(raised) => Ok(CallOutcome::Raised {
                class: short_name(&raised.class).to_owned(),
                traceback: (raised.traceback.into_iter().rev())
                    .map(|place| place.function)
                    .collect(),
            }),
        },
    )
}

fn residual_text(db: &Database, roots: Roots, g: &LLGraph) -> String {
    print_graph(g, lowlevel_names(db, roots.program(db), g))
}

/// Runs something in an interpreter that compiles the loops of interpreters.
fn with_jit<T>(
    db: &Database,
    roots: Roots,
    options: &JitOptions,
    run: impl FnOnce(&mut LLInterpreter<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let drivers = jit_drivers(db, roots).map_err(Failure::from)?;
    let _ = options.drivers.set(drivers.len());
    let hinted = StageProgram::new(db, roots, GraphStage::Jit);
    let entered = StageProgram::new(db, roots, GraphStage::Entered);
    let program = WithJit::of_drivers(&entered);
    let mut interp = LLInterpreter::new(&program);
    let (splits, threshold) = (options.splits, options.threshold);
    let mut jit = DriversJit::new(&hinted, &program, &drivers, splits, threshold);
    if let Some(most) = options.most_blocks {
        jit = jit.with_bound(most);
    }
    let jit = Rc::new(jit);
    interp.hook = Some(jit.clone());
    let result = run(&mut interp);
    if let Some(report) = &options.report {
        let graphs = jit.residual_graphs();
        *report.lock().unwrap_or_else(|e| e.into_inner()) = JitReport {
            functions: graphs.len(),
            counts: counts_json(&jit.counts()),
            code_bytes: 0,
            units: 0,
            refused: jit.refused(),
            graphs: graphs.iter().map(|g| residual_text(db, roots, g)).collect(),
        };
    }
    result
}

fn interpret(
    (db, roots): (&Database, Roots),
    interp: &mut LLInterpreter<'_>,
    root: &FuncSym,
    args: &[Literal],
) -> Result<CallOutcome, Failure> {
    interp.fuel = Some(CALL_FUEL);
    let values = lowlevel_args(&mut interp.heap, root, args).map_err(Failure::Usage)?;
    match interp.eval(root, values) {
        Ok(v) => {
            let json = to_json(&mut interp.heap, v, root.ty().result);
            json.map(CallOutcome::Returned).map_err(bad_result)
        }
        Err(LLError::Raised(e)) => Ok(CallOutcome::Raised {
            class: short_name(&e.name).to_owned(),
            traceback: e.traceback,
        }),
        Err(LLError::Exit(code)) => Ok(CallOutcome::Raised {
            class: format!("SystemExit({code})"),
            traceback: Vec::new(),
        }),
        Err(LLError::Fault(f)) => Err(lowlevel_errors::fault(db, roots, &f).into()),
    }
}

/// `IndexError` of `exceptions.IndexError`.
pub(crate) fn short_name(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// A run of a whole program.
#[derive(Clone, Debug)]
pub struct RunRequest {
    /// The target file.
    pub target: Utf8PathBuf,
    /// The program's arguments, the first of which is its own name.
    pub argv: Vec<String>,
    /// What executes it.
    pub engine: Engine,
    /// Optimisation level.
    pub optimize: u8,
    /// Compiles loops of interpreters.
    pub jit: Option<JitOptions>,
}

/// Compiles a program in memory and runs it; answers its exit code.
pub fn run(
    db: &Database,
    options: &LoadOptions,
    request: &RunRequest,
    timings: &mut Timings,
) -> Result<i32, Failure> {
    match request.engine {
        Engine::LLInterp => guarded(|| {
            let program = load(db, &request.target, options)?;
            let (roots, root) = typed_program(db, program, timings)?;
            timings.phase("execute", || match &request.jit {
                Some(jit) => with_jit(db, roots, jit, |i| {
                    interpret_program((db, roots), i, &root, &request.argv)
                }),
                None => {
                    let program = StageProgram::new(db, roots, GraphStage::Rtyped);
                    let mut i = LLInterpreter::new(&program);
                    interpret_program((db, roots), &mut i, &root, &request.argv)
                }
            })
        })?,
        Engine::Native => {
            let argv: Vec<Vec<u8>> = request
                .argv
                .iter()
                .map(|a| a.clone().into_bytes())
                .collect();
            if let Some(jit) = &request.jit {
                let (roots, program) = guarded(|| {
                    let program = load(db, &request.target, options)?;
                    let (roots, root) = typed_program(db, program, timings)?;
                    let image = jit_image(db, roots, &root, ImageUse::Run, timings)?;
                    Ok::<_, Failure>((roots, image))
                })??;
                let print = |g: &LLGraph| residual_text(db, roots, g);
                let run = |image: &LoadedImage| run_program(image, &argv);
                return with_native_jit(program, jit, print, timings, run);
            }
            let image =
                guarded(|| program_image(db, options, &request.target, ImageUse::Run, timings))??;
            let image = timings
                .phase("load", || LoadedImage::new(image))
                .map_err(|e| codegen_failure(&e))?;
            timings
                .phase("execute", || run_program(&image, &argv))
                .map_err(|e| codegen_failure(&e))
        }
    }
}

/// Compiles a program for a process of its own.
pub(crate) fn compile_for_process(
    db: &Database,
    options: &LoadOptions,
    target: &Utf8Path,
    timings: &mut Timings,
) -> Result<Image, Failure> {
    guarded(|| program_image(db, options, target, ImageUse::Run, timings))?
}

/// The image of a program.
fn program_image(
    db: &Database,
    options: &LoadOptions,
    target: &Utf8Path,
    usage: ImageUse,
    timings: &mut Timings,
) -> Result<Image, Failure> {
    let program = load(db, target, options)?;
    let question = Question {
        what: match usage {
            ImageUse::Build => "image_to_build",
            _ => "image_to_run",
        },
        program,
        options: &[],
        extent: usage == ImageUse::Build,
    };
    // What C libraries do is known to them alone.
    let keeps = |image: &Image| image.foreign.is_empty();
    remember(db, &question, keeps, || {
        let (roots, root) = typed_program(db, program, timings)?;
        native_image(db, roots, &root, usage, timings)
    })
}

/// As [`compile_for_process`], in parts that can be replaced.
pub(crate) fn list_for_process(
    db: &Database,
    options: &LoadOptions,
    target: &Utf8Path,
    lister: &mut Lister,
    timings: &mut Timings,
) -> Result<Listing, Failure> {
    guarded(|| {
        let program = load(db, target, options)?;
        let (roots, root) = typed_program(db, program, timings)?;
        compile_entries(db, roots, &[], timings);
        timings.phase("link", || {
            native::listing(db, roots, &root, lister).map_err(|e| codegen_failure(&e))
        })
    })?
}

/// Makes an executable.
pub fn build(
    db: &Database,
    options: &LoadOptions,
    target: &Utf8Path,
    output: &Utf8Path,
    _optimize: u8,
    timings: &mut Timings,
) -> Result<(), Failure> {
    let image = guarded(|| build_image(db, options, target, timings))??;
    let object = image_object(&image, timings)?;
    link(db, &image, &object, output, timings)
}

/// Makes an executable of an image and its object file.
pub(crate) fn link(
    db: &Database,
    image: &Image,
    object: &[u8],
    output: &Utf8Path,
    timings: &mut Timings,
) -> Result<(), Failure> {
    timings
        .phase("link", || {
            link_with_cache(&db.cache(), object, &image.foreign, output)
        })
        .map_err(|e| Failure::Usage(format!("{output}: {e}")))
}

/// The object file of a program.
pub fn compile_native(
    db: &Database,
    options: &LoadOptions,
    target: &Utf8Path,
    timings: &mut Timings,
) -> Result<Vec<u8>, Failure> {
    guarded(|| {
        let image = build_image(db, options, target, timings)?;
        image_object(&image, timings)
    })?
}

pub(crate) fn build_image(
    db: &Database,
    options: &LoadOptions,
    target: &Utf8Path,
    timings: &mut Timings,
) -> Result<Image, Failure> {
    program_image(db, options, target, ImageUse::Build, timings)
}

pub(crate) fn image_object(image: &Image, timings: &mut Timings) -> Result<Vec<u8>, Failure> {
    timings.phase("object", || {
        object_file(image).map_err(|e| codegen_failure(&e))
    })
}

/// Types a program from its entry point on.
pub(crate) fn typed_program(
    db: &Database,
    program: Program,
    timings: &mut Timings,
) -> Result<(Roots, FuncSym), Failure> {
    timings.phase("parse", || prefetch::compile_files(db, program));
    let roots = timings.phase("import", || {
        let found = import_diagnostics(db, program);
        if has_errors(&found) {
            return Err(Failure::Diagnostics(found));
        }
        entry_roots(db, program).map_err(|d| placed(db, program, d).into())
    })?;
    timings.phase("flow", || prefetch::flow_graphs(db, roots));
    let root = typed(db, roots, timings)?;
    Ok((roots, root))
}

fn native_image(
    db: &Database,
    roots: Roots,
    root: &FuncSym,
    usage: ImageUse,
    timings: &mut Timings,
) -> Result<Image, Failure> {
    let entries = std::slice::from_ref(root);
    compile_entries(db, roots, &[], timings);
    timings.phase("link", || {
        native::image(db, roots, entries, usage).map_err(|e| codegen_failure(&e))
    })
}

fn interpret_program(
    (db, roots): (&Database, Roots),
    interp: &mut LLInterpreter<'_>,
    root: &FuncSym,
    argv: &[String],
) -> Result<i32, Failure> {
    let argv = Literal::List(
        argv.iter()
            .map(|a| Literal::Str(a.clone().into_bytes()))
            .collect(),
    );
    let mut args = Vec::new();
    for ty in &root.ty().args {
        args.push(to_lowlevel(&mut interp.heap, &argv, *ty).map_err(Failure::Usage)?);
    }
    match interp.eval(root, args) {
        Ok(v) => Ok(v.as_i64().unwrap_or(0) as i32),
        Err(LLError::Exit(code)) => Ok(code),
        Err(LLError::Raised(e)) => {
            let mut text = String::from("RPython traceback:\n");
            for f in e.traceback.iter().rev() {
                text.push_str(&format!("  in {f}\n"));
            }
            text.push_str(&format!("Fatal RPython error: {}", short_name(&e.name)));
            Err(Failure::Fatal(text))
        }
        Err(LLError::Fault(f)) => Err(lowlevel_errors::fault(db, roots, &f).into()),
    }
}
