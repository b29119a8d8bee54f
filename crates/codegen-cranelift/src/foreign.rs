//! C libraries that a program brings: compiled by the C compiler, which for this process is
//! `$CC`, or `cc`.

use std::ffi::{CString, OsStr, OsString, c_int, c_void};
use std::fs::File;
use std::hash::{Hash, Hasher};
use std::io::{self, Write};
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use rustc_hash::FxHashSet;
use taipan_codegen::CodegenError;
use taipan_lltype::{CLibrary, FuncSym, SHIPPED_HEADERS, library_of};

/// Options that let sources pass that C compilers of the time accepted: prototypes may
/// be missing, pointers are converted.
const LENIENT: &[&str] = &[
    "-w",
    "-Wno-error",
    "-Wno-implicit-function-declaration",
    "-Wno-int-conversion",
    "-Wno-incompatible-pointer-types",
];

fn host_compiler() -> OsString {
    std::env::var_os("CC").unwrap_or_else(|| "cc".into())
}

/// Runs a C compiler; an error has its messages.
pub fn run_compiler(cc: &OsStr, configure: impl FnOnce(&mut Command)) -> io::Result<()> {
    let mut command = Command::new(cc);
    configure(&mut command);
    let output = command.output().map_err(|e| not_run(cc, &e))?;
    if output.status.success() {
        return Ok(());
    }
    let messages = String::from_utf8_lossy(&output.stderr);
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<_> = words.map(OsStr::to_string_lossy).collect();
    Err(io::Error::other(format!(
        "{} failed:\n{messages}the command was: {}",
        cc.to_string_lossy(),
        words.join(" ")
    )))
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

/// The functions of each library.
fn by_library(functions: &[FuncSym]) -> Vec<(&CLibrary, Vec<&FuncSym>)> {
    let mut out: Vec<(&CLibrary, Vec<&FuncSym>)> = Vec::new();
    for f in functions {
        let Some(library) = library_of(f) else {
            continue;
        };
        match out.iter_mut().find(|(l, _)| *l == library) {
            Some((_, fs)) => fs.push(f),
            None => out.push((library, vec![f])),
        }
    }
    out
}

/// Writes a header where sources in a folder find it; one that would be elsewhere is left to
/// the compiler.
fn write_header(dir: &Path, name: &str, text: &str) -> io::Result<()> {
    if !(Path::new(name).components()).all(|c| matches!(c, Component::Normal(_))) {
        return Ok(());
    }
    let file = dir.join(name);
    file.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    std::fs::write(file, text)
}

/// Writes the sources of the libraries of these functions into a folder, and answers
/// how to compile and link them there.
pub fn write_sources(
    functions: &[FuncSym],
    dir: &Path,
) -> io::Result<(Vec<OsString>, Vec<OsString>)> {
    let (mut compile, mut link) = (Vec::<OsString>::new(), Vec::<OsString>::new());
    let mut sources = Vec::new();
    for (name, text) in SHIPPED_HEADERS {
        write_header(dir, name, text)?;
    }
    compile.push("-I".into());
    compile.push(dir.into());
    // Descriptions of a library that differ (in the declaration of a variable, say) may
    // bring the same sources.
    let mut brought = FxHashSet::default();
    for (library, functions) in by_library(functions) {
        for (name, text) in &library.headers {
            write_header(dir, name, text)?;
        }
        let own = (library.sources.iter()).filter(|s| brought.insert(*s));
        let texts: Vec<String> = (own.map(|s| library.with_header(s)))
            .chain([library.stubs(&functions)])
            .collect();
        for text in texts {
            let file = dir.join(format!("module{}.c", sources.len()));
            std::fs::write(&file, text)?;
            sources.push(file);
        }
        let files = library.files.iter().filter(|f| brought.insert(*f));
        sources.extend(files.map(PathBuf::from));
        let option = |o: &str, values: &[String], to: &mut Vec<OsString>| {
            to.extend(values.iter().map(|v| format!("{o}{v}").into()));
        };
        option("-I", &library.include_dirs, &mut compile);
        option("", &library.compile_extra, &mut compile);
        option("-L", &library.library_dirs, &mut link);
        option("-Wl,-rpath,", &library.library_dirs, &mut link);
        option("-l", &library.libraries, &mut link);
        option("", &library.link_extra, &mut link);
    }
    compile.extend(LENIENT.iter().map(Into::into));
    compile.extend(sources.into_iter().map(Into::into));
    Ok((compile, link))
}

/// Makes the functions of C libraries known in this process. Shared objects are kept in
/// a folder of the user's, by content.
pub(crate) fn load(functions: &[FuncSym]) -> Result<(), CodegenError> {
    if functions.is_empty() {
        return Ok(());
    }
    let file =
        shared_object(functions).map_err(|e| CodegenError::new("C library", e.to_string()))?;
    open(&file)
}

/// The functions of C libraries as a shared object, which can be brought to another
/// process: see [`load_library`].
pub fn shared_library(functions: &[FuncSym]) -> io::Result<Vec<u8>> {
    std::fs::read(shared_object(functions)?)
}

/// Makes the functions of a shared object known in this process. No file of it is needed.
pub fn load_library(library: &[u8]) -> Result<(), CodegenError> {
    let failed = |e: io::Error| CodegenError::new("C library", e.to_string());
    // SAFETY: the name ends in a zero byte.
    let fd = unsafe { libc::memfd_create(c"c-library".as_ptr(), libc::MFD_CLOEXEC) };
    if fd < 0 {
        return Err(failed(io::Error::last_os_error()));
    }
    // SAFETY: it was made here, and belongs to nobody else.
    let mut file = File::from(unsafe { OwnedFd::from_raw_fd(fd) });
    file.write_all(library).map_err(failed)?;
    open(&PathBuf::from(format!("/proc/self/fd/{fd}")))
}

/// Makes the functions of a shared object known in this process.
pub(crate) fn open(file: &Path) -> Result<(), CodegenError> {
    open_with(file, libc::RTLD_NOW | libc::RTLD_GLOBAL).map(|_| ())
}

/// Opens a shared object whose functions are known to who has its handle alone.
pub(crate) fn open_own(file: &Path) -> Result<*mut c_void, CodegenError> {
    open_with(file, libc::RTLD_NOW | libc::RTLD_LOCAL)
}

fn open_with(file: &Path, flags: c_int) -> Result<*mut c_void, CodegenError> {
    let name = CString::new(file.as_os_str().as_bytes())
        .map_err(|_| CodegenError::new("C library", "a file name with a zero byte"))?;
    // SAFETY: the name ends in a zero byte. What initialises a library is its own affair.
    let handle = unsafe { libc::dlopen(name.as_ptr(), flags) };
    if !handle.is_null() {
        return Ok(handle);
    }
    // SAFETY: dlopen() has just failed, so there is a message that ends in a zero byte.
    let message = unsafe { std::ffi::CStr::from_ptr(libc::dlerror()) };
    Err(CodegenError::new(
        "C library",
        message.to_string_lossy().into_owned(),
    ))
}

/// Options that make a shared object. In it a function of the program is that one, even if the C
/// library has another of its name: as it is in an executable.
const SHARED: &[&str] = &["-shared", "-fPIC", "-O2", "-Wl,-Bsymbolic"];

/// The shared object with the functions of these libraries.
pub(crate) fn shared_object(functions: &[FuncSym]) -> io::Result<PathBuf> {
    let mut h = rustc_hash::FxHasher::default();
    SHARED.hash(&mut h);
    for f in functions {
        (f.kind(), f.ty()).hash(&mut h);
        for file in library_of(f).iter().flat_map(|l| &l.files) {
            std::fs::read(file)?.hash(&mut h);
        }
    }
    let dir = own_folder()?;
    let file = dir.join(format!("{:016x}.so", h.finish()));
    if file.exists() {
        return Ok(file);
    }
    let work = tempfile::tempdir_in(&dir)?;
    let (compile, link) = write_sources(functions, work.path())?;
    let made = work.path().join("library.so");
    run_compiler(&host_compiler(), |c| {
        c.args(SHARED).arg("-o").arg(&made).args(compile).args(link);
    })?;
    std::fs::rename(&made, &file)?;
    Ok(file)
}

/// A folder that only this user can write to.
fn own_folder() -> io::Result<PathBuf> {
    // SAFETY: getuid() cannot fail.
    let user = unsafe { libc::getuid() };
    let dir = std::env::temp_dir().join(format!("taipan-c-{user}"));
    match std::fs::DirBuilder::new().mode(0o700).create(&dir) {
        Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return Err(e),
        _ => {}
    }
    let meta = std::fs::symlink_metadata(&dir)?;
    if meta.is_dir() && meta.uid() == user && meta.mode() & 0o022 == 0 {
        return Ok(dir);
    }
    Err(io::Error::other(format!(
        "{} belongs to somebody else",
        dir.display()
    )))
}
