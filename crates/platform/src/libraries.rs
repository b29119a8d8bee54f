//! C libraries that a program brings: compiled by the C compiler, which for this process is
//! `$CC`, or `cc`.

use std::ffi::{CStr, CString, OsString, c_int, c_void};
use std::fs::File;
use std::hash::{Hash, Hasher};
use std::io::{self, Write};
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use taipan_language::Machine;

use crate::c::run_compiler;
use crate::{c_compiler, file_identity, user_cache_folder};

/// The C libraries of a program, as the C compiler gets them.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Libraries {
    /// Headers: what sources include them by, and their text.
    pub headers: Vec<(String, String)>,
    /// What is compiled.
    pub sources: Vec<Source>,
    /// Options of the compiler.
    pub compile: Vec<String>,
    /// Options of the linker.
    pub link: Vec<String>,
    /// The state of the files that are included, by library: another text if one has changed.
    pub states: Vec<String>,
}

/// A source of a C library.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Source {
    /// Its text.
    Text(String),
    /// A file.
    File(PathBuf),
}

/// Options that let sources pass that C compilers of the time accepted: prototypes may
/// be missing, pointers are converted.
const LENIENT: &[&str] = &[
    "-w",
    "-Wno-error",
    "-Wno-implicit-function-declaration",
    "-Wno-int-conversion",
    "-Wno-incompatible-pointer-types",
];

impl Libraries {
    /// Whether the program brings none.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// Writes headers and sources into a folder, and returns how to compile and link them.
    pub fn write(&self, dir: &Path) -> io::Result<(Vec<OsString>, Vec<OsString>)> {
        self.write_as(dir, dir)
    }

    /// The same, for a compiler that is called where the folder has another path.
    pub fn write_as(&self, dir: &Path, path: &Path) -> io::Result<(Vec<OsString>, Vec<OsString>)> {
        if self.is_empty() {
            return Ok((Vec::new(), Vec::new()));
        }
        for (name, text) in &self.headers {
            write_header(dir, name, text)?;
        }
        let mut compile: Vec<OsString> = vec!["-I".into(), path.into()];
        compile.extend(self.compile.iter().map(Into::into));
        compile.extend(LENIENT.iter().map(Into::into));
        for (i, source) in self.sources.iter().enumerate() {
            compile.push(match source {
                Source::Text(text) => {
                    let name = format!("module{i}.c");
                    std::fs::write(dir.join(&name), text)?;
                    path.join(name).into()
                }
                Source::File(file) => file.into(),
            });
        }
        Ok((compile, self.link.iter().map(Into::into).collect()))
    }
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

/// Makes the functions of C libraries known in this process. Shared objects are kept in
/// the user's cache, by content.
pub fn load(libraries: &Libraries) -> io::Result<()> {
    if libraries.is_empty() {
        return Ok(());
    }
    open(&shared_object(libraries)?)
}

/// C libraries as a shared object, which can be brought to another process: see [`load_library`].
pub fn shared_library(libraries: &Libraries) -> io::Result<Vec<u8>> {
    std::fs::read(shared_object(libraries)?)
}

/// Makes the functions of a shared object known in this process. No file of it is needed.
pub fn load_library(library: &[u8]) -> io::Result<()> {
    // SAFETY: the name ends in a zero byte.
    let fd = unsafe { libc::memfd_create(c"c-library".as_ptr(), libc::MFD_CLOEXEC) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it was made here, and belongs to nobody else.
    let mut file = File::from(unsafe { OwnedFd::from_raw_fd(fd) });
    file.write_all(library)?;
    open(&PathBuf::from(format!("/proc/self/fd/{fd}")))
}

/// Makes the functions of a shared object known in this process.
pub fn open(file: &Path) -> io::Result<()> {
    open_with(file, libc::RTLD_NOW | libc::RTLD_GLOBAL).map(|_| ())
}

/// Opens a shared object whose functions are known to who has its handle alone.
pub fn open_own(file: &Path) -> io::Result<*mut c_void> {
    open_with(file, libc::RTLD_NOW | libc::RTLD_LOCAL)
}

fn open_with(file: &Path, flags: c_int) -> io::Result<*mut c_void> {
    let name = CString::new(file.as_os_str().as_bytes())?;
    // SAFETY: the name ends in a zero byte. What initialises a library is its own affair.
    let handle = unsafe { libc::dlopen(name.as_ptr(), flags) };
    if !handle.is_null() {
        return Ok(handle);
    }
    // SAFETY: dlopen() has just failed, so there is a message that ends in a zero byte.
    let message = unsafe { CStr::from_ptr(libc::dlerror()) };
    Err(io::Error::other(message.to_string_lossy().into_owned()))
}

/// Options that make a shared object. In it a function of the program is that one, even if the C
/// library has another of its name: as it is in an executable.
const SHARED: &[&str] = &["-shared", "-fPIC", "-O2", "-Wl,-Bsymbolic"];

/// A collision-resistant hash of a text.
pub struct Blake3(pub blake3::Hasher);

impl Hasher for Blake3 {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        let hash = self.0.finalize();
        let start = hash.as_bytes().first_chunk().copied();
        u64::from_le_bytes(start.unwrap_or_default())
    }
}

/// The folder in which shared objects of C libraries are kept.
pub fn library_folder() -> io::Result<PathBuf> {
    let dir = user_cache_folder()?.join("libraries");
    match std::fs::create_dir(&dir) {
        Err(e) if e.kind() != io::ErrorKind::AlreadyExists => Err(e),
        _ => Ok(dir),
    }
}

/// The file of a shared object with these libraries.
pub fn shared_object(libraries: &Libraries) -> io::Result<PathBuf> {
    let compiler = c_compiler(Machine::HOST).map_err(io::Error::other)?;
    let mut h = Blake3(blake3::Hasher::new());
    (SHARED, libraries, file_identity(&compiler)).hash(&mut h);
    for source in &libraries.sources {
        if let Source::File(file) = source {
            std::fs::read(file)?.hash(&mut h);
        }
    }
    let dir = library_folder()?;
    let file = dir.join(format!("{}.so", h.0.finalize().to_hex()));
    if file.exists() {
        return Ok(file);
    }
    let work = tempfile::tempdir_in(&dir)?;
    let (compile, link) = libraries.write(work.path())?;
    let made = work.path().join("library.so");
    run_compiler(&compiler, |c| {
        c.args(SHARED).arg("-o").arg(&made).args(compile).args(link);
    })?;
    std::fs::rename(&made, &file)?;
    Ok(file)
}
