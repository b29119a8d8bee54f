//! Executables: the program's object file, the runtime's and the C libraries that the
//! program brings, put together by the C compiler.

use std::io;
use std::path::Path;

use taipan_lltype::FuncSym;

use crate::foreign::{run_compiler, write_sources};

/// The runtime as an object file (see the build script).
static RUNTIME: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/runtime.o"));

/// The runtime that executables contain, as an object file.
pub fn runtime_object() -> &'static [u8] {
    RUNTIME
}

/// Writes the executable of a program whose object files are given, with the functions of
/// C libraries that it calls. The C compiler is `$CC`, or `cc`, with these options besides its own.
/// Whoever looks at `out` sees the executable of before or the new one.
pub fn link_executable(
    objects: &[&[u8]],
    foreign: &[FuncSym],
    options: &[&str],
    out: &Path,
) -> io::Result<()> {
    let folder = match out.parent() {
        Some(p) if p != Path::new("") => p,
        _ => Path::new("."),
    };
    let dir = tempfile::Builder::new()
        .prefix(".taipan-link-")
        .tempdir_in(folder)?;
    let new = dir.path().join("out");
    let mut files = Vec::new();
    for (i, object) in objects.iter().chain([&RUNTIME]).enumerate() {
        let file = dir.path().join(format!("{i}.o"));
        std::fs::write(&file, object)?;
        files.push(file);
    }
    let (compile, link) = match foreign {
        [] => (vec![], vec![]),
        functions => write_sources(functions, dir.path())?,
    };
    run_compiler(|c| {
        c.args(["-no-pie", "-O2", "-o"])
            .arg(&new)
            .args(options)
            .args(files)
            .args(compile)
            .args(link)
            .args(LIBRARIES);
    })?;
    std::fs::rename(new, out)
}

/// What executables are linked with.
pub const LIBRARIES: &[&str] = &["-lm", "-lpthread", "-Wl,--gc-sections"];
