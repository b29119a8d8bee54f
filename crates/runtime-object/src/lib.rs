//! The runtime as an object file: for the machine that Taipan runs on it comes with Taipan (see the
//! build script), for others it is compiled when it is needed first.
//!
//! The runtime wants nothing but `core` of the machine that it is compiled for. rustc has that as a
//! library, or as sources which are compiled before the runtime.
//!
//! **Architecture invariants.** It has the runtime's sources as texts and does not use the crate `runtime`: what is
//! in the object is none of its business. It keeps nothing: who calls does, under [`RuntimeCompiler::key`].
//! It stands apart from `platform` so that a change of the runtime rebuilds what is made of it, and no
//! stage of the compiler.

use std::ffi::OsString;
use std::hash::{Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use taipan_language::Machine;
use taipan_platform::{run, said, with_variables};

include!("options.rs");

/// The runtime for the machine that Taipan runs on.
pub static HOST_RUNTIME: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/runtime.o"));

/// Names and texts of its source files.
static SOURCES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/runtime_sources.rs"));

/// Stands for rustc's library of helpers where that has to be compiled: the C compiler's has them
/// as well.
const NO_HELPERS: &str = "#![feature(compiler_builtins)]
#![compiler_builtins]
#![no_std]
";

/// The C file that stands between the runtime and WASI's C library.
pub fn wasi_source() -> &'static str {
    let found = SOURCES.iter().find(|(name, _)| *name == "wasm/wasi.c");
    found.map_or("", |(_, text)| text)
}

/// A rustc that can compile the runtime for another machine.
pub struct RuntimeCompiler {
    machine: Machine,
    rustc: OsString,
    /// What it says of itself.
    version: String,
    /// Sources of `core`, unless rustc has it as a library.
    core: Option<PathBuf>,
}

impl RuntimeCompiler {
    /// The one to be taken: `$RUSTC`, rustc on the path, or Debian's, whichever has `core` of that
    /// machine; else the first that has the sources.
    pub fn find(machine: Machine) -> io::Result<RuntimeCompiler> {
        let mut candidates: Vec<OsString> = std::env::var_os("RUSTC").into_iter().collect();
        candidates.extend(["rustc".into(), "/usr/bin/rustc".into()]);
        let found: Vec<_> = (candidates.into_iter())
            .filter_map(|rustc| Candidate::new(machine, rustc))
            .collect();
        let best = (found.iter())
            .position(|c| c.has_library)
            .or_else(|| found.iter().position(|c| c.sources.is_some()));
        match best.and_then(|i| found.into_iter().nth(i)) {
            Some(c) => Ok(RuntimeCompiler {
                machine,
                rustc: c.rustc,
                version: c.version,
                core: c.sources.filter(|_| !c.has_library),
            }),
            None => Err(io::Error::other(format!(
                "Taipan's runtime has to be compiled for {machine}, and there is no rustc {} or \
                 later with the core library of {target} or its sources\n\
                 With rustup: `rustup target add {target}`; with Debian: `apt-get install rustc-web \
                 rust-web-src`. $RUSTC says which rustc to take.",
                env!("CARGO_PKG_RUST_VERSION"),
                target = machine.rust_target(),
            ))),
        }
    }

    /// Everything that the result depends on.
    pub fn key(&self) -> String {
        let mut h = rustc_hash::FxHasher::default();
        (SOURCES, OPTIONS, NO_HELPERS).hash(&mut h);
        let Self { core, version, .. } = self;
        format!("{} {core:?} {version} {:x}", self.machine, h.finish())
    }

    /// The object file.
    pub fn compile(&self) -> io::Result<Vec<u8>> {
        let dir = tempfile::tempdir()?;
        let source = dir.path().join("runtime");
        for (name, text) in SOURCES {
            let file = source.join(name);
            file.parent().map_or(Ok(()), std::fs::create_dir_all)?;
            std::fs::write(file, text)?;
        }
        if let Some(core) = &self.core {
            self.compile_library(dir.path(), "core", core)?;
            let helpers = dir.path().join("helpers.rs");
            std::fs::write(&helpers, NO_HELPERS)?;
            self.compile_library(dir.path(), "compiler_builtins", &helpers)?;
        }
        let archive = dir.path().join("libtaipan_runtime.a");
        let mut command = self.command();
        command.arg(source.join("lib.rs")).args(OPTIONS);
        if self.machine.is_wasm() {
            // Programs are linked where they stay.
            command.args(["-C", "relocation-model=static"]);
        }
        command.arg("-L").arg(dir.path()).arg("-o").arg(&archive);
        run(&mut command)?;
        let archive = std::fs::read(archive)?;
        match largest_object(&archive) {
            Some(object) => Ok(object.to_vec()),
            None => Err(io::Error::other("rustc has written no object file")),
        }
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.rustc);
        command.args(["--target", self.machine.rust_target()]);
        command
    }

    /// Compiles a library of rustc's own into a folder.
    fn compile_library(&self, dir: &Path, name: &str, source: &Path) -> io::Result<()> {
        // Such libraries use what rustc allows nobody else.
        let mut command = with_variables(&self.rustc, &[("RUSTC_BOOTSTRAP", "1".as_ref())]);
        command
            .args(["--target", self.machine.rust_target()])
            .arg(source);
        command.args(["--crate-name", name, "--crate-type", "rlib"]);
        command.args(["--edition", "2024", "--cap-lints", "allow"]);
        command.args(["-C", "opt-level=3", "-C", "panic=abort"]);
        command.args(["-C", "relocation-model=pic", "-L"]).arg(dir);
        command.arg("-o").arg(dir.join(format!("lib{name}.rlib")));
        run(&mut command).map(drop)
    }
}

/// A rustc that may do.
struct Candidate {
    rustc: OsString,
    version: String,
    has_library: bool,
    sources: Option<PathBuf>,
}

impl Candidate {
    fn new(machine: Machine, rustc: OsString) -> Option<Candidate> {
        let version = said(Command::new(&rustc).arg("-vV"))?;
        if !is_recent(&version) {
            return None;
        }
        let sysroot = said(Command::new(&rustc).args(["--print", "sysroot"]))?;
        let libraries = Path::new(sysroot.trim()).join("lib/rustlib");
        let folder = libraries.join(machine.rust_target()).join("lib");
        let mut files = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let is_core = |name: &str| name.starts_with("libcore-") && name.ends_with(".rlib");
        let core = libraries.join("src/rust/library/core/src/lib.rs");
        Some(Candidate {
            has_library: files.any(|f| f.file_name().to_str().is_some_and(is_core)),
            sources: core.is_file().then_some(core),
            rustc,
            version,
        })
    }
}

/// Whether rustc is not older than the one that the runtime is written for.
fn is_recent(version: &str) -> bool {
    let numbers = |text: &str| -> Option<(u32, u32)> {
        let mut parts = text.split('.').map(|n| n.parse().ok());
        Some((parts.next()??, parts.next()??))
    };
    let release = version.lines().find_map(|l| l.strip_prefix("release: "));
    match (
        release.and_then(numbers),
        numbers(env!("CARGO_PKG_RUST_VERSION")),
    ) {
        (Some(this), Some(least)) => this >= least,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        let is = |release: &str| is_recent(&format!("rustc\nrelease: {release}\nLLVM: 1\n"));
        assert!(is(env!("CARGO_PKG_RUST_VERSION")));
        assert!(is("1.100.2-nightly"));
        assert!(!is("1.9.0"));
        assert!(!is("1.63.0"));
        assert!(!is_recent("gcc 12"));
    }
}
