//! Executables: the program's object file, the runtime's and the C libraries that the
//! program brings, put together by the C compiler.

use std::io;
use std::path::Path;

use taipan_lltype::FuncSym;

use crate::foreign::{run_compiler, write_sources};

/// The runtime as an object file (see the build script).
static RUNTIME: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/runtime.o"));

/// Writes the executable of a program whose object file is given, with the functions of
/// C libraries that it calls. The C compiler is `$CC`, or `cc`. Whoever looks at `out`
/// sees the executable of before or the new one.
pub fn link_executable(object: &[u8], foreign: &[FuncSym], out: &Path) -> io::Result<()> {
    let folder = match out.parent() {
        Some(p) if p != Path::new("") => p,
        _ => Path::new("."),
    };
    let dir = tempfile::Builder::new()
        .prefix(".taipan-link-")
        .tempdir_in(folder)?;
    let new = dir.path().join("out");
    let program_file = dir.path().join("program.o");
    let runtime_file = dir.path().join("runtime.o");
    std::fs::write(&program_file, object)?;
    std::fs::write(&runtime_file, RUNTIME)?;
    let (compile, link) = match foreign {
        [] => (vec![], vec![]),
        functions => write_sources(functions, dir.path())?,
    };
    run_compiler(|c| {
        c.args(["-no-pie", "-O2", "-o"])
            .arg(&new)
            .args([&program_file, &runtime_file])
            .args(compile)
            .args(link)
            .args(["-lm", "-lpthread", "-Wl,--gc-sections"]);
    })?;
    std::fs::rename(new, out)
}
