//! The operation behind `run`.

use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};

use camino::{Utf8Path, Utf8PathBuf};
use taipan_annotator::Roots;
use taipan_codegen_cranelift::{LoadedImage, run_program};
use taipan_language::Machine;
use taipan_llinterp::{LLError, LLInterpreter};
use taipan_lltype::{FuncSym, LLGraph, LLValue, Memory};
use taipan_platform::runner;

use crate::LoadOptions;
use crate::build::{build, program_image};
use crate::bundle::has_compiler;
use crate::c::{COptions, build_c};
use crate::db::Database;
use crate::engine::{Engine, residual_text, with_interpreter, without_jit};
use crate::fault::{Failure, guarded};
use crate::native_jit::{JitOptions, jit_image, with_native_jit};
use crate::ootype::{evaluated, with_oo_interpreter};
use crate::program::load;
use crate::python::run_python;
use crate::stages::lowlevel_errors;
use crate::stages::lowlevel_errors::codegen_failure;
use crate::stages::native::ImageUse;
use crate::timing::Timings;
use crate::typed::typed_program;
use crate::value::{Literal, short_name, to_lowlevel};

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
    /// The file for samples of the running functions. With it the program runs in a separate process.
    pub profile: Option<Utf8PathBuf>,
}

/// Compiles a program in memory and runs it; answers its exit code.
pub fn run(
    db: &Database,
    options: &LoadOptions,
    request: &RunRequest,
    timings: &mut Timings,
) -> Result<i32, Failure> {
    match request.engine {
        Engine::C => run_c(db, options, request, timings),
        Engine::Native if request.profile.is_some() => {
            run_built(options, request, timings, |program, timings| {
                build(db, options, &request.target, program, timings)
            })
        }
        Engine::LLInterp => guarded(|| {
            let program = load(db, &request.target, options)?;
            let (roots, root) = typed_program(db, program, timings)?;
            timings.phase("execute", || {
                with_interpreter(db, roots, request.jit.as_ref(), |i| {
                    interpret_program((db, roots), i, &root, &request.argv)
                })
            })
        })?,
        Engine::Ootype => guarded(|| {
            without_jit(request.jit.as_ref())?;
            let program = load(db, &request.target, options)?;
            let (roots, root) = typed_program(db, program, timings)?;
            timings.phase("execute", || {
                with_oo_interpreter(db, roots, |interp| {
                    let args = program_args(interp.memory(), &root, &request.argv)?;
                    let result = evaluated(db, roots, interp, &root, &args)?;
                    exit_code((db, roots), result)
                })
            })
        })?,
        Engine::Python => run_python(db, options, &request.target, &request.argv, timings),
        Engine::Native => {
            let argv: Vec<Vec<u8>> = request
                .argv
                .iter()
                .map(|a| a.clone().into_bytes())
                .collect();
            if options.machine != Machine::HOST {
                if request.jit.is_some() {
                    has_compiler(options.machine)?;
                }
                if options.machine.needs_c() {
                    return run_c(db, options, request, timings);
                }
                return run_built(options, request, timings, |program, timings| {
                    build(db, options, &request.target, program, timings)
                });
            }
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

/// Builds a program by way of C and runs it, as a process of its own.
fn run_c(
    db: &Database,
    options: &LoadOptions,
    request: &RunRequest,
    timings: &mut Timings,
) -> Result<i32, Failure> {
    let c = COptions {
        optimize: request.optimize,
        debug: options.debug,
        ..COptions::default()
    };
    run_built(options, request, timings, |program, timings| {
        build_c(db, options, &request.target, program, &c, timings)
    })
}

/// Has an executable built and runs it, as a process of its own; an emulator runs those of other
/// machines. Returns its exit code, or 128 and the number of the signal that ended it.
pub(crate) fn run_built(
    options: &LoadOptions,
    request: &RunRequest,
    timings: &mut Timings,
    build: impl FnOnce(&Utf8Path, &mut Timings) -> Result<(), Failure>,
) -> Result<i32, Failure> {
    let failed = |e: io::Error| Failure::Usage(format!("{}: {e}", request.target));
    let folder = tempfile::Builder::new()
        .prefix("taipan-run-")
        .tempdir()
        .map_err(failed)?;
    let program = Utf8PathBuf::from_path_buf(folder.path().join("program"))
        .map_err(|p| Failure::Usage(format!("{} is not UTF-8", p.display())))?;
    let mut command = runner(options.machine, program.as_std_path()).map_err(Failure::Usage)?;
    build(&program, timings)?;
    if let Some(file) = &request.profile {
        command.env("TAIPAN_PROFILE", file);
    }
    if let Some((name, arguments)) = request.argv.split_first() {
        if options.machine == Machine::HOST {
            command.arg0(name);
        }
        command.args(arguments);
    }
    let status = timings
        .phase("execute", || command.status())
        .map_err(failed)?;
    Ok(status
        .code()
        .unwrap_or_else(|| 128 + status.signal().unwrap_or(0)))
}

fn interpret_program(
    (db, roots): (&Database, Roots),
    interp: &mut LLInterpreter<'_>,
    root: &FuncSym,
    argv: &[String],
) -> Result<i32, Failure> {
    let args = program_args(&mut interp.heap, root, argv)?;
    exit_code((db, roots), interp.eval(root, args))
}

/// The arguments of a program's entry point.
fn program_args(
    memory: &mut dyn Memory,
    root: &FuncSym,
    argv: &[String],
) -> Result<Vec<LLValue>, Failure> {
    let argv = Literal::List(
        argv.iter()
            .map(|a| Literal::Str(a.clone().into_bytes()))
            .collect(),
    );
    let mut args = Vec::new();
    for ty in &root.ty().args {
        args.push(to_lowlevel(memory, &argv, *ty).map_err(Failure::Usage)?);
    }
    Ok(args)
}

/// The exit code of a program in an interpreter.
fn exit_code(
    (db, roots): (&Database, Roots),
    result: Result<LLValue, LLError>,
) -> Result<i32, Failure> {
    match result {
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
