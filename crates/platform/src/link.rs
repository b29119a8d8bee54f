//! Executables: the program's object file, the runtime's and the C libraries that the
//! program brings, put together by the C compiler.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;

use crate::Libraries;
use crate::c::run_compiler;

/// What executables are made of.
pub struct Parts<'a> {
    /// The C compiler, which links and compiles the program's C libraries.
    pub compiler: &'a OsStr,
    /// The program's object files.
    pub objects: &'a [&'a [u8]],
    /// The runtime's, for the same machine.
    pub runtime: &'a [u8],
    /// The C libraries that the program brings.
    pub libraries: &'a Libraries,
    /// Further options of the C compiler.
    pub options: &'a [&'a str],
}

/// Writes an executable. Whoever looks at `out` sees the one of before or the new one.
pub fn link_executable(parts: &Parts<'_>, out: &Path) -> io::Result<()> {
    link(parts, &["-no-pie"], out, |_| Ok(Vec::new()))
}

/// The C part of a module for Python.
pub struct Extension<'a> {
    /// Name of the function that Python calls first.
    pub init: &'a str,
    /// The C text.
    pub text: &'a str,
}

/// Writes the shared object of a module for Python. Its one symbol is the function that Python
/// calls first: modules in one process do not see each other's.
pub fn link_extension(parts: &Parts<'_>, extension: &Extension<'_>, out: &Path) -> io::Result<()> {
    let kind = [
        "-shared",
        "-fPIC",
        "-fvisibility=hidden",
        "-Wl,-Bsymbolic",
        "-Wl,-z,relro,-z,now",
    ];
    link(parts, &kind, out, |dir| {
        let source = dir.join("module.c");
        std::fs::write(&source, extension.text)?;
        let script = dir.join("symbols.map");
        let text = format!("{{ global: {}; local: *; }};\n", extension.init);
        std::fs::write(&script, text)?;
        let mut option = OsString::from("-Wl,--version-script=");
        option.push(script);
        Ok(vec![source.into_os_string(), option])
    })
}

/// Links a file of some kind, and what `more` puts into the folder or says of options.
fn link(
    parts: &Parts<'_>,
    kind: &[&str],
    out: &Path,
    more: impl FnOnce(&Path) -> io::Result<Vec<OsString>>,
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
    for (i, object) in parts.objects.iter().chain([&parts.runtime]).enumerate() {
        let file = dir.path().join(format!("{i}.o"));
        std::fs::write(&file, object)?;
        files.push(file);
    }
    let (compile, link) = parts.libraries.write(dir.path())?;
    let more = more(dir.path())?;
    run_compiler(parts.compiler, |c| {
        c.args(["-O2", "-o"])
            .arg(&new)
            .args(kind)
            .args(parts.options)
            .args(files)
            .args(more)
            .args(compile)
            .args(link)
            .args(LIBRARIES);
    })?;
    std::fs::rename(new, out)
}

/// What executables are linked with.
pub const LIBRARIES: &[&str] = &["-lm", "-lpthread", "-ldl", "-Wl,--gc-sections"];
