//! Executables of programs that compile loops while they run.
//!
//! Such a program needs the specialiser and the code generator, which this executable
//! has. So it is a copy of this executable with the program behind it:
//!
//! ```text
//! taipan │ program, serialized │ its hash (32 bytes) │ its length (8) │ MARK (16)
//! ```
//!
//! When it is started it looks for a program behind itself before anything else.

use std::fs::File;
use std::io::Seek as _;
use std::io::{self, Read, SeekFrom};
use std::os::unix::ffi::OsStringExt;

use camino::Utf8Path;
use serde::{Deserialize, Serialize};
use taipan_base::Diagnostic;
use taipan_codegen::{CodegenError, Image, Place, SymbolRef, c_libraries};
use taipan_codegen_cranelift::{LoadedImage, run_program};
use taipan_jit_native::JitTables;
use taipan_language::Machine;
use taipan_lltype::{from_bytes, to_bytes};
use taipan_platform::{load_library, shared_library};
use taipan_runtime::exc::set_standalone;

use crate::Splits;
use crate::db::{Database, LoadOptions};
use crate::fault::{Failure, guarded};
use crate::link::{folder_of, write};
use crate::native_jit::{JitOptions, JitProgramImage, jit_image, with_native_jit};
use crate::program::load;
use crate::stages::late_writes::late_write_warnings;
use crate::stages::lowlevel_errors::codegen_failure;
use crate::stages::native::ImageUse;
use crate::timing::Timings;
use crate::typed::typed_program;

/// What the file of such an executable ends with.
const MARK: &[u8; 16] = b"taipan program 1";
const DAMAGED: &str = "the program in it is damaged";
const HASH: usize = 32;
const TRAILER: usize = HASH + 8 + MARK.len();

/// A program as it stands behind the executable.
#[derive(Serialize, Deserialize)]
struct Bundle {
    image: Image,
    places: Vec<(SymbolRef, Place)>,
    tables: JitTables,
    /// The functions of C libraries that it brings, as a shared object.
    library: Option<Vec<u8>>,
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
    timings: &mut Timings,
) -> Result<Built, Failure> {
    let Some(Bundled { payload, warnings }) = bundle(db, options, target, ImageUse::Run, timings)?
    else {
        crate::build(db, options, target, output, timings)?;
        return Ok(Built::WithoutDrivers);
    };
    timings.phase("link", || write_bundle(&payload, output))?;
    Ok(Built::WithJit(warnings))
}

/// Refuses programs with a just-in-time compiler for other machines than this: that compiler is
/// Taipan itself.
pub(crate) fn has_compiler(machine: Machine) -> Result<(), Failure> {
    match machine == Machine::HOST {
        true => Ok(()),
        false => Err(Failure::Usage(format!(
            "a just-in-time compiler is a part of Taipan, which runs on {} here and cannot make \
             itself for {machine}: leave out --jit",
            Machine::HOST
        ))),
    }
}

/// A program as it stands behind the executable.
pub struct Bundled {
    /// What the executable runs: code, tables of the generator, and what they need.
    pub payload: Vec<u8>,
    /// What the compiler does not believe.
    pub(crate) warnings: Vec<Diagnostic>,
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
        let library = match libraries.is_empty() {
            true => None,
            false => Some(
                shared_library(&libraries)
                    .map_err(|e| codegen_failure(&CodegenError::c_library(e)))?,
            ),
        };
        let bundle = Bundle {
            library,
            places: program.image.places(&program.symbols),
            image: program.image,
            tables: program.tables,
        };
        match to_bytes(&bundle) {
            Some(payload) => Ok(Some(Bundled { payload, warnings })),
            None => Err(Failure::Usage(format!(
                "{target}: the program cannot be serialized"
            ))),
        }
    })
}

/// Writes the executable.
pub fn write_bundle(payload: &[u8], output: &Utf8Path) -> Result<(), Failure> {
    let made = || {
        let folder = folder_of(output)?;
        let mut file = std::fs::read("/proc/self/exe")?;
        file.extend_from_slice(payload);
        file.extend_from_slice(blake3::hash(payload).as_bytes());
        file.extend_from_slice(&(payload.len() as u64).to_le_bytes());
        file.extend_from_slice(MARK);
        write(folder, output, &file)
    };
    made().map_err(|e: io::Error| Failure::Usage(format!("{output}: {e}")))
}

/// Runs the program behind this executable: its exit code, or why it cannot run. None if
/// there is none.
pub fn run_bundle() -> Option<Result<i32, String>> {
    let payload = match payload() {
        Ok(payload) => payload?,
        Err(e) => return Some(Err(format!("this executable: {e}"))),
    };
    // This process is the program: it ends as executables without a compiler do.
    set_standalone();
    let argv: Vec<Vec<u8>> = std::env::args_os().map(OsStringExt::into_vec).collect();
    let options = JitOptions {
        splits: Splits::Lazy,
        threshold: threshold(),
        ..JitOptions::default()
    };
    Some(match run_payload(payload, &argv, &options) {
        Some(ended) => ended,
        None => Err(format!("this executable: {DAMAGED}")),
    })
}

/// What the variable `TAIPAN_JIT_THRESHOLD` says, as `--jit-threshold` of `run`.
fn threshold() -> Option<i64> {
    std::env::var("TAIPAN_JIT_THRESHOLD").ok()?.parse().ok()
}

/// Runs a program as it stands behind an executable; none if it is damaged.
pub fn run_payload(
    payload: Vec<u8>,
    argv: &[Vec<u8>],
    options: &JitOptions,
) -> Option<Result<i32, String>> {
    let bundle = from_bytes::<Bundle>(&payload)?;
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

/// The bytes of the program behind this executable.
fn payload() -> io::Result<Option<Vec<u8>>> {
    let mut file = File::open("/proc/self/exe")?;
    let end = file.seek(SeekFrom::End(0))?;
    let Some(at) = end.checked_sub(TRAILER as u64) else {
        return Ok(None);
    };
    let mut trailer = [0; TRAILER];
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(&mut trailer)?;
    let (hash, rest) = trailer.split_at(HASH);
    let (length, mark) = rest.split_at(8);
    if mark != MARK {
        return Ok(None);
    }
    let mut word = [0; 8];
    word.copy_from_slice(length);
    let length = u64::from_le_bytes(word);
    let wrong = || io::Error::new(io::ErrorKind::InvalidData, DAMAGED);
    let start = at.checked_sub(length).ok_or_else(wrong)?;
    file.seek(SeekFrom::Start(start))?;
    let mut payload = vec![0; length as usize];
    file.read_exact(&mut payload)?;
    match blake3::hash(&payload).as_bytes() == hash {
        true => Ok(Some(payload)),
        false => Err(wrong()),
    }
}
