//! Executables of programs that compile loops while they run.
//!
//! Such a program needs the specialiser and the code generator. They are an executable of their
//! own, crate `jit-runtime`, which is a part of this one and which programs are put behind (crate
//! `jit-file`). In watch mode the process that runs the program is a copy of this one; it gets the program as
//! a [`Payload`].

use std::sync::LazyLock;

use camino::Utf8Path;
use serde::{Deserialize, Serialize};
use taipan_base::Diagnostic;
use taipan_codegen::{CodegenError, Image, Place, SymbolRef, c_libraries};
use taipan_codegen_cranelift::{LoadedImage, run_program};
use taipan_jit_file::{Attached, Runtime, executable};
use taipan_jit_native::JitTables;
use taipan_language::Machine;
use taipan_lltype::{from_bytes, to_bytes};
use taipan_platform::{load_library, shared_library};

use crate::LoadOptions;
use crate::db::Database;
use crate::fault::{Failure, guarded};
use crate::jit_runtime::runtime;
use crate::link::{folder_of, write};
use crate::native_jit::{JitOptions, JitProgramImage, jit_image, with_native_jit};
use crate::program::load;
use crate::stages::late_writes::late_write_warnings;
use crate::stages::lowlevel_errors::codegen_failure;
use crate::stages::native::ImageUse;
use crate::timing::Timings;
use crate::typed::typed_program;

/// The executable that programs are put behind, with its symbols.
static RUNTIME: LazyLock<Option<Runtime<'static>>> = LazyLock::new(|| Runtime::new(runtime()));

/// A program for a process that is a copy of this one.
#[derive(Serialize, Deserialize)]
struct Payload {
    image: Image,
    places: Vec<(SymbolRef, Place)>,
    tables: JitTables,
    /// The functions of C libraries that it brings, as a shared object.
    library: Option<Vec<u8>>,
}

/// Where an executable optimises code while it runs. Without a second processor, or if the variable
/// `TAIPAN_JIT_BACKGROUND` is 0, that is the foreground.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Optimising {
    /// The thread of the program, which waits for it.
    Foreground,
    /// A second thread.
    Background,
}

/// What [`build_with_jit`] made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Built {
    /// An executable that compiles loops while it runs, and warnings about what its classes
    /// say to the compiler.
    WithJit(Vec<Diagnostic>),
    /// The program has no driver, so there is nothing to compile while it runs: an
    /// executable as without a just-in-time compiler.
    WithoutDrivers,
}

/// Compiles a program to an executable that compiles its loops while it runs.
pub fn build_with_jit(
    db: &Database,
    options: &LoadOptions,
    target: &Utf8Path,
    output: &Utf8Path,
    optimising: Optimising,
    timings: &mut Timings,
) -> Result<Built, Failure> {
    let Some(bundled) = bundle(db, options, target, ImageUse::Run, timings)? else {
        crate::build(db, options, target, output, timings)?;
        return Ok(Built::WithoutDrivers);
    };
    timings.phase("link", || {
        write_executable(&bundled.executable(optimising)?, output)
    })?;
    Ok(Built::WithJit(bundled.warnings))
}

/// Refuses programs with a just-in-time compiler for other machines than this: that compiler is
/// Taipan itself.
pub(crate) fn has_compiler(machine: Machine) -> Result<(), Failure> {
    if machine == Machine::HOST {
        Ok(())
    } else {
        Err(Failure::Usage(format!(
            "a just-in-time compiler is a part of Taipan, which runs on {} here and cannot make \
             itself for {machine}: leave out --jit",
            Machine::HOST
        )))
    }
}

/// A program with all that it needs besides the compiler.
pub struct Bundled {
    program: JitProgramImage,
    library: Option<Vec<u8>>,
    /// What the compiler does not believe.
    warnings: Vec<Diagnostic>,
}

impl Bundled {
    /// The file of its executable.
    pub fn executable(&self, optimising: Optimising) -> Result<Vec<u8>, Failure> {
        let runtime = RUNTIME.as_ref();
        let runtime = runtime.ok_or_else(|| {
            let why = "no executable: Taipan has to be built with GCC as the C compiler";
            CodegenError::new("runtime of programs with a just-in-time compiler", why)
        });
        let program = Attached {
            image: &self.program.image,
            symbols: &self.program.symbols,
            tables: &self.program.tables,
            library: self.library.as_deref(),
            background: optimising == Optimising::Background,
        };
        runtime
            .and_then(|runtime| executable(runtime, &program))
            .map_err(|e| codegen_failure(&e))
    }

    /// What [`run_payload`] takes.
    pub fn into_payload(self) -> Result<Vec<u8>, Failure> {
        let payload = Payload {
            library: self.library,
            places: self.program.image.places(&self.program.symbols),
            image: self.program.image,
            tables: self.program.tables,
        };
        let failed = || codegen_failure(&CodegenError::new("program", "it cannot be serialized"));
        to_bytes(&payload).ok_or_else(failed)
    }
}

/// That of a program; none if it has no driver.
pub fn bundle(
    db: &Database,
    options: &LoadOptions,
    target: &Utf8Path,
    usage: ImageUse,
    timings: &mut Timings,
) -> Result<Option<Bundled>, Failure> {
    has_compiler(options.machine)?;
    let (mut program, warnings) = guarded(|| {
        let program = load(db, target, options)?;
        let (roots, root) = typed_program(db, program, timings)?;
        let made = jit_image(db, roots, &root, usage, timings)?;
        Ok::<_, Failure>((made, late_write_warnings(db, roots)))
    })??;
    if program.tables.drivers.is_empty() {
        return Ok(None);
    }
    timings.phase("link", || {
        let libraries = c_libraries(&std::mem::take(&mut program.image.foreign));
        let library = if libraries.is_empty() {
            None
        } else {
            Some(
                shared_library(&libraries)
                    .map_err(|e| codegen_failure(&CodegenError::c_library(e)))?,
            )
        };
        Ok(Some(Bundled {
            program,
            library,
            warnings,
        }))
    })
}

/// Writes the executable.
pub fn write_executable(file: &[u8], output: &Utf8Path) -> Result<(), Failure> {
    folder_of(output)
        .and_then(|folder| write(folder, output, file))
        .map_err(|e| Failure::Usage(format!("{output}: {e}")))
}

/// Runs a program in this process; none if it is damaged.
pub fn run_payload(
    payload: Vec<u8>,
    argv: &[Vec<u8>],
    options: &JitOptions,
) -> Option<Result<i32, String>> {
    let bundle = from_bytes::<Payload>(&payload)?;
    drop(payload);
    if let Some(library) = &bundle.library
        && let Err(e) = load_library(library)
    {
        return Some(Err(CodegenError::c_library(e).to_string()));
    }
    let program = JitProgramImage {
        image: bundle.image.with_places(bundle.places),
        symbols: Vec::new(),
        tables: bundle.tables,
    };
    let run = |image: &LoadedImage| run_program(image, argv);
    let timings = &mut Timings::default();
    let ended = with_native_jit(program, options, |_| String::new(), timings, run);
    Some(ended.map_err(text))
}

fn text(f: Failure) -> String {
    match f {
        Failure::Diagnostics(found) => {
            let messages: Vec<_> = found.into_iter().map(|d| d.message).collect();
            messages.join("\n")
        }
        Failure::Usage(why) | Failure::Fatal(why) => why,
        Failure::Internal(e) => e.to_string(),
    }
}
