//! The operation behind `call`.

use camino::Utf8PathBuf;
use taipan_annotator::{RootSet, Roots};
use taipan_base::{Diagnostic, ErrorCode};
use taipan_codegen::CodegenError;
use taipan_codegen_cranelift::{LoadedImage, call_function};
use taipan_llinterp::{LLError, LLInterpreter};
use taipan_lltype::{FuncSym, HeapError, LLGraph, LLValue, Memory};

use crate::LoadOptions;
use crate::build::native_image;
use crate::c::load_c;
use crate::db::Database;
use crate::engine::{CallOutcome, Engine, residual_text, with_interpreter, without_jit};
use crate::fault::{Failure, guarded};
use crate::modes::jit_is_on;
use crate::native_jit::{JitOptions, jit_image, with_native_jit};
use crate::ootype::{evaluated, with_oo_interpreter};
use crate::program::load;
use crate::python::call_python;
use crate::stages::lowlevel_errors::codegen_failure;
use crate::stages::native::ImageUse;
use crate::stages::reach::reachable;
use crate::stages::{GraphStage, StageProgram, lowlevel_errors};
use crate::timing::Timings;
use crate::typed::{find_function, typed};
use crate::value::{CALL_FUEL, Literal, lowlevel_args, short_name, to_json};

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
            Engine::LLInterp => timings.phase("execute", || {
                with_interpreter(db, roots, request.jit.as_ref(), |i| {
                    interpret((db, roots), i, &root, &request.args)
                })
            }),
            Engine::Ootype => {
                without_jit(request.jit.as_ref())?;
                timings.phase("execute", || {
                    with_oo_interpreter(db, roots, |interp| {
                        interp.fuel = Some(CALL_FUEL);
                        let values = lowlevel_args(interp.memory(), &root, &request.args);
                        let values = values.map_err(Failure::Usage)?;
                        let result = evaluated(db, roots, interp, &root, &values)?;
                        outcome((db, roots), interp.memory(), &root, result)
                    })
                })
            }
            Engine::C if request.jit.is_some() => Err(Failure::Usage(
                "a just-in-time compiler makes its code by Cranelift, not by way of C".to_owned(),
            )),
            Engine::C => {
                let checked = program.options(db).checked;
                let image = load_c(db, roots, &root, checked, timings)?;
                timings.phase("execute", || {
                    call_native(db, roots, &root, &image, &request.args)
                        .map_err(|e| codegen_failure(&e))?
                })
            }
            Engine::Python => call_python((db, roots), &root, &request.args, timings),
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

/// Whether a program calls functions of C libraries other than those that the runtime
/// offers.
fn calls_c(db: &Database, roots: Roots, root: &FuncSym) -> bool {
    reachable(db, roots, GraphStage::Rtyped, std::slice::from_ref(root)).calls_c
}

fn bad_result(e: HeapError) -> Failure {
    Diagnostic::error(
        ErrorCode::UnreadableResult,
        None,
        format!("bad result: {e}"),
    )
    .into()
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

fn interpret(
    (db, roots): (&Database, Roots),
    interp: &mut LLInterpreter<'_>,
    root: &FuncSym,
    args: &[Literal],
) -> Result<CallOutcome, Failure> {
    interp.fuel = Some(CALL_FUEL);
    let values = lowlevel_args(&mut interp.heap, root, args).map_err(Failure::Usage)?;
    let result = interp.eval(root, values);
    outcome((db, roots), &mut interp.heap, root, result)
}

/// How a call in an interpreter ended.
fn outcome(
    (db, roots): (&Database, Roots),
    memory: &mut dyn Memory,
    root: &FuncSym,
    result: Result<LLValue, LLError>,
) -> Result<CallOutcome, Failure> {
    match result {
        Ok(v) => {
            let json = to_json(memory, v, root.ty().result);
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
