//! What C compilers are told for the C of a program, and calling them.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;
use std::{fs, io};

use taipan_language::Machine;

use crate::command::run;

/// What every C compiler is told: integers wrap, nothing is assumed of null pointers nor of what
/// pointers of different types point to (which makes no program faster, see docs/benchmarks/code.md), and floats are
/// those of IEEE 754. gcc makes two loops of one with a branch that does not change at `-O3` only, and spectralnorm
/// takes 8% less time by it. Warnings about generated text help nobody.
pub const FLAGS: &[&str] = &[
    "-std=gnu11",
    "-fwrapv",
    "-fno-strict-aliasing",
    "-fno-delete-null-pointer-checks",
    "-ffp-contract=off",
    "-fvisibility=hidden",
    "-fno-pie",
    "-fno-math-errno",
    "-funswitch-loops",
    "-w",
];

/// What C compilers are told of checked code: who called is found by frame pointers, and functions
/// show as themselves, not as a part of their callers.
const CHECKED: [&str; 7] = [
    "-fno-omit-frame-pointer",
    "-fno-shrink-wrap",
    "-fno-optimize-sibling-calls",
    "-fno-inline-functions",
    "-fno-inline-small-functions",
    "-fno-inline-functions-called-once",
    "-fno-partial-inlining",
];

/// What the C compiler for a machine is to be told wherever it is called.
pub fn compiler_options(machine: Machine) -> &'static [&'static str] {
    match machine {
        Machine::Wasm32 => &["--target=wasm32-wasi"],
        // Floats are computed as elsewhere, in registers of SSE2, which have no bits more.
        Machine::I386 => &["-m32", "-march=pentium4", "-mtune=generic", "-mfpmath=sse"],
        Machine::X86_64 | Machine::Aarch64 | Machine::Riscv64 => &[],
    }
}

/// What clang is told besides for WebAssembly. All engines have had these instructions for years.
const WASM_FLAGS: &[&str] = &["-msign-ext", "-mnontrapping-fptoint"];

/// What is told to the linker of WebAssembly. The stack comes first: what goes beyond it traps. Functions
/// whose types do not match would trap when they are called. An address is never that of the end of memory.
const WASM_LINK: &[&str] = &[
    "-Wl,-z,stack-size=2097152",
    "-Wl,--stack-first",
    "-Wl,--fatal-warnings",
    "-Wl,--max-memory=4294901760",
];

/// How the C of a program is compiled.
#[derive(Clone, Copy, Debug)]
pub struct CFlags {
    /// The machine.
    pub machine: Machine,
    /// Optimisation level.
    pub optimize: u8,
    /// Optimise all files together when they are linked.
    pub lto: bool,
    /// Information for debuggers.
    pub debug: bool,
    /// The program is checked: who called is found by frame pointers.
    pub checked: bool,
}

impl CFlags {
    /// What the C compiler is told where it compiles and where it links, besides [`FLAGS`].
    pub fn compile(&self) -> Vec<String> {
        let is_wasm = self.machine.is_wasm();
        let optimize = match is_wasm {
            // Without optimisation functions have so many variables that the host's stack is too small.
            true => self.optimize.max(1),
            false => self.optimize,
        };
        let mut flags = vec![format!("-O{optimize}")];
        if self.lto {
            flags.push(if is_wasm { "-flto" } else { "-flto=auto" }.to_owned());
        }
        if self.has_names() {
            flags.push("-g".to_owned());
        }
        let more: &[&str] = match (is_wasm, self.checked) {
            (true, _) => WASM_FLAGS,
            (false, true) => &CHECKED,
            (false, false) => &[],
        };
        let own = compiler_options(self.machine);
        flags.extend(own.iter().chain(more).map(|f| (*f).to_owned()));
        flags
    }

    /// What it is told where it links alone.
    pub fn link(&self) -> Vec<&'static str> {
        let mut flags = Vec::new();
        if self.machine.is_wasm() {
            flags.extend(WASM_LINK);
            if !self.has_names() {
                // The C library's.
                flags.push("-Wl,--strip-debug");
            }
        }
        flags
    }

    /// Whether there is information for debuggers. WebAssembly has the names of functions from it.
    fn has_names(&self) -> bool {
        self.debug || self.machine.is_wasm() && (self.checked || self.optimize == 0)
    }
}

/// The object file of a C text. It and its headers are in that folder meanwhile, of which the object says nothing: it is
/// the same from whatever folder it is made in. (Those of gcc that are optimised together say it in their lines.)
pub fn compile_file(
    cc: &OsStr,
    dir: &Path,
    name: &str,
    text: &str,
    flags: &[String],
) -> io::Result<Vec<u8>> {
    let source = dir.join(name);
    let object = source.with_extension("o");
    fs::write(&source, text)?;
    // The compiler's own folder is another one then.
    let cc = match Path::new(cc).components().count() {
        0 | 1 => cc.to_owned(),
        _ => std::path::absolute(cc)?.into_os_string(),
    };
    let mut unnamed = OsString::from("-ffile-prefix-map=");
    unnamed.push(dir);
    unnamed.push("=/taipan-c");
    run_compiler(&cc, |c| {
        c.current_dir(dir)
            .arg("-c")
            .args(FLAGS)
            .args(flags)
            .arg(unnamed)
            .arg("-o")
            .arg(&object)
            .arg(&source);
    })?;
    let bytes = fs::read(&object)?;
    // The folder holds what is worked on, not all that there is.
    fs::remove_file(&object)?;
    Ok(bytes)
}

/// Runs a C compiler; an error has its messages.
pub fn run_compiler(cc: &OsStr, configure: impl FnOnce(&mut Command)) -> io::Result<()> {
    let mut command = Command::new(cc);
    configure(&mut command);
    match run(&mut command) {
        Ok(_) => Ok(()),
        Err(e) if e.kind() == io::ErrorKind::Other => Err(e),
        Err(e) => Err(not_run(cc, &e)),
    }
}

/// Why there is no C compiler, and what to do about it.
fn not_run(cc: &OsStr, e: &io::Error) -> io::Error {
    let name = cc.to_string_lossy();
    let text = match e.kind() {
        io::ErrorKind::NotFound => format!(
            "there is no C compiler `{name}`: install gcc or clang, or name another one in $CC"
        ),
        _ => format!("{name}: {e}"),
    };
    io::Error::new(e.kind(), text)
}
