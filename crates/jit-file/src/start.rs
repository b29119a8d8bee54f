//! Running a program with its compiler.

use std::convert::Infallible;
use std::fs::File;
use std::os::unix::ffi::OsStringExt;
use std::process::exit;
use std::sync::Arc;

use taipan_codegen::CodegenError;
use taipan_codegen_cranelift::{LoadedImage, run_program};
use taipan_jit::Splits;
use taipan_jit::engine::{DriverCompiler, Drivers};
use taipan_jit_native::{MakeTables, NativeJit, Options, Tabled};
use taipan_platform::load_library;
use taipan_runtime::exc::set_standalone;
use taipan_runtime::state::rpy_state;

use crate::container::{Container, DAMAGED, Header, SectionId};
use crate::parts::FileParts;

/// How loops are compiled.
#[derive(Clone, Copy, Default, Debug)]
pub struct Choices {
    /// When the sides of branches are compiled.
    pub splits: Splits,
    /// Maximum number of blocks of a residual function.
    pub most_blocks: Option<usize>,
    /// The rest.
    pub options: Options,
}

/// Runs something in a loaded program with a compiler of its loops, or without one where there is no
/// memory for code. Regions are optimised on a second thread if there are tables for it, and a second processor.
pub fn with_compiler<T>(
    program: &Tabled,
    image: &LoadedImage,
    choices: Choices,
    background: Option<MakeTables>,
    run: impl FnOnce(Option<&NativeJit<'_>>) -> T,
) -> T {
    let mut compiler = DriverCompiler::new(program);
    if let Some(most) = choices.most_blocks {
        compiler = compiler.with_bound(most);
    }
    let portals = Drivers {
        compiler,
        infos: program.drivers().to_vec(),
        splits: choices.splits,
    };
    match NativeJit::new(&portals, program, program, image, choices.options) {
        Ok(jit) => {
            if let Some(tables) = background.filter(|_| has_processors()) {
                jit.optimise_in_background(tables);
            }
            run(Some(&jit))
        }
        Err(_) => run(None),
    }
}

/// Runs the program behind the executable of this process, and ends the process with its exit code. Returns why it
/// cannot run.
pub fn run_own() -> Result<Infallible, String> {
    run_file().map_err(|e| format!("this executable: {e}"))
}

fn run_file() -> Result<Infallible, String> {
    let file = File::open("/proc/self/exe").map_err(|e| e.to_string())?;
    let (header, container) = Container::open(&file).map_err(|e| e.to_string())?;
    if header.state != &raw const rpy_state as u64 {
        return Err(DAMAGED.to_owned());
    }
    let library = container.section(SectionId::Library).ok_or(DAMAGED)?;
    if !library.is_empty() {
        load_library(library).map_err(|e| CodegenError::c_library(e).to_string())?;
    }
    let offsets = [SectionId::Code, SectionId::Data].map(|s| container.offset(s));
    let background = background(&header).then(|| tables_of(&header, &container));
    let parts = FileParts::new(container);
    let names = Box::new(parts.clone());
    let image = LoadedImage::filed(header.layout, &file, offsets.into(), names);
    let image = image.map_err(|e| e.to_string())?;
    drop(file);
    let program = Tabled::of_parts(header.drivers, header.exceptions, Box::new(parts));
    // This process is the program: it ends as executables without a compiler do.
    set_standalone();
    let argv: Vec<Vec<u8>> = std::env::args_os().map(OsStringExt::into_vec).collect();
    let choices = Choices {
        splits: Splits::Lazy,
        options: Options {
            threshold: threshold(),
            ..Options::default()
        },
        ..Choices::default()
    };
    let run = || run_program(&image, &argv);
    with_compiler(&program, &image, choices, background, |jit| {
        let code = match jit {
            Some(jit) => jit.run(run),
            None => run(),
        };
        // Everything is written. The memory of the compiler is freed by the system: that is quicker.
        exit(code.map_err(|e| e.to_string())?)
    })
}

/// Makes the tables of a program for a second thread.
fn tables_of(header: &Header, container: &Container) -> MakeTables {
    let (drivers, exceptions) = (header.drivers.clone(), header.exceptions.clone());
    let container = container.clone();
    Arc::new(move || {
        let parts = FileParts::new(container.clone());
        Tabled::of_parts(drivers.clone(), exceptions.clone(), Box::new(parts))
    })
}

/// Whether regions are to be optimised on a second thread: by the variable `TAIPAN_JIT_BACKGROUND`, otherwise as the
/// program was built.
fn background(header: &Header) -> bool {
    match std::env::var("TAIPAN_JIT_BACKGROUND").as_deref() {
        Ok("0") => false,
        Ok("1") => true,
        _ => header.background,
    }
}

/// Whether a second thread can run beside the program.
fn has_processors() -> bool {
    std::thread::available_parallelism().is_ok_and(|n| n.get() > 1)
}

/// What the variable `TAIPAN_JIT_THRESHOLD` says, as `--jit-threshold` of `run`.
fn threshold() -> Option<i64> {
    std::env::var("TAIPAN_JIT_THRESHOLD").ok()?.parse().ok()
}
