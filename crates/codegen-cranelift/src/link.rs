//! Executables: the program's object file and the runtime's, put together by the C
//! compiler.

use std::io;
use std::path::Path;
use std::process::Command;

/// The runtime as an object file (see the build script).
static RUNTIME: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/runtime.o"));

/// Writes the executable of a program whose object file is given. The C compiler is
/// `$CC`, or `cc`. Whoever looks at `out` sees the executable of before or the new one.
pub fn link_executable(object: &[u8], out: &Path) -> io::Result<()> {
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
    let cc = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let output = Command::new(&cc)
        .arg("-no-pie")
        .arg("-o")
        .arg(&new)
        .args([&program_file, &runtime_file])
        .args(["-lm", "-Wl,--gc-sections"])
        .output()
        .map_err(|e| io::Error::new(e.kind(), format!("{}: {e}", cc.to_string_lossy())))?;
    if output.status.success() {
        return std::fs::rename(new, out);
    }
    let messages = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(format!(
        "{} cannot link the program:\n{messages}",
        cc.to_string_lossy()
    )))
}
