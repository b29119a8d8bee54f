//! Executables: the program's object file, the runtime's and the C libraries that the
//! program brings, put together by the C compiler.

use std::ffi::OsString;
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
    let options: Vec<&str> = ["-no-pie"].iter().chain(options).copied().collect();
    link(objects, foreign, &options, out, |_| Ok(Vec::new()))
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
pub fn link_extension(
    object: &[u8],
    foreign: &[FuncSym],
    extension: &Extension<'_>,
    out: &Path,
) -> io::Result<()> {
    let options = [
        "-shared",
        "-fPIC",
        "-fvisibility=hidden",
        "-Wl,-Bsymbolic",
        "-Wl,-z,relro,-z,now",
    ];
    link(&[object], foreign, &options, out, |dir| {
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

/// Links object files, and what `more` puts into the folder or says of options.
fn link(
    objects: &[&[u8]],
    foreign: &[FuncSym],
    options: &[&str],
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
    for (i, object) in objects.iter().chain([&RUNTIME]).enumerate() {
        let file = dir.path().join(format!("{i}.o"));
        std::fs::write(&file, object)?;
        files.push(file);
    }
    let (compile, link) = match foreign {
        [] => (vec![], vec![]),
        functions => write_sources(functions, dir.path())?,
    };
    let more = more(dir.path())?;
    run_compiler(|c| {
        c.args(["-O2", "-o"])
            .arg(&new)
            .args(options)
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
