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

/// The C part of a shared object.
pub struct SharedPart<'a> {
    /// Names of the functions that others see.
    pub exports: &'a [&'a str],
    /// The C text.
    pub text: &'a str,
    /// The name by which executables that are linked with the shared object look for it.
    pub name: Option<&'a str>,
}

/// Writes a shared object: a library, or a module for Python. Its symbols are those of the C part that
/// are exported: programs in one process do not see each other's.
pub fn link_shared(parts: &Parts<'_>, part: &SharedPart<'_>, out: &Path) -> io::Result<()> {
    let kind = [
        "-shared",
        "-fPIC",
        "-fvisibility=hidden",
        "-Wl,-Bsymbolic",
        "-Wl,-z,relro,-z,now",
    ];
    link(parts, &kind, out, |dir| {
        let source = dir.join("module.c");
        std::fs::write(&source, part.text)?;
        let script = dir.join("symbols.map");
        let text = format!("{{ global: {}; local: *; }};\n", part.exports.join("; "));
        std::fs::write(&script, text)?;
        let mut option = OsString::from("-Wl,--version-script=");
        option.push(script);
        let name = part
            .name
            .map(|name| OsString::from(format!("-Wl,-soname,{name}")));
        let files = [source.into_os_string(), option];
        Ok(files.into_iter().chain(name).collect())
    })
}

/// Writes an executable that calls the entry point of a library beside it.
pub fn link_starter(compiler: &OsStr, library: &Path, out: &Path) -> io::Result<()> {
    const MAIN: &str = "int pypy_main_startup(int argc, char **argv);\n\
                        int main(int argc, char **argv) { return pypy_main_startup(argc, argv); }\n";
    let dir = tempfile::tempdir()?;
    let source = dir.path().join("main.c");
    std::fs::write(&source, MAIN)?;
    run_compiler(compiler, |c| {
        c.args(["-O2", "-o"])
            .arg(out)
            .arg(source)
            .arg(library)
            .arg("-Wl,-rpath,$ORIGIN");
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
