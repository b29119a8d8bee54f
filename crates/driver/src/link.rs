//! Executables from object files.

use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::PathBuf;
use std::{env, fs, io};

use camino::Utf8Path;
use taipan_codegen_cranelift::link_executable;
use taipan_lltype::FuncSym;

use crate::{Cache, KeyHasher};

/// Kind of the cache entries.
const EXECUTABLE: &str = "executable";

/// Writes the executable of an object file: from the cache, or by the C compiler. For
/// a small program the C compiler takes longer than everything else together.
pub(crate) fn link_with_cache(
    cache: &Cache,
    object: &[u8],
    foreign: &[FuncSym],
    output: &Utf8Path,
) -> io::Result<()> {
    // Without knowing the compiler, and all files that it reads, nothing can be kept.
    let compiler = c_compiler().filter(|_| cache.is_on() && foreign.is_empty());
    let Some(compiler) = compiler else {
        return link_executable(object, foreign, output.as_std_path());
    };
    let key = KeyHasher::new(EXECUTABLE)
        .bytes(object)
        .text(&compiler)
        .finish();
    if let Some(executable) = cache.get(EXECUTABLE, key) {
        return write(output, &executable);
    }
    link_executable(object, foreign, output.as_std_path())?;
    if let Ok(executable) = fs::read(output) {
        cache.put(EXECUTABLE, key, executable);
    }
    Ok(())
}

/// Writes an executable file, as a new one: an old one may be running.
fn write(output: &Utf8Path, executable: &[u8]) -> io::Result<()> {
    match fs::remove_file(output) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
        _ => {}
    }
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o777)
        .open(output)?;
    io::Write::write_all(&mut file, executable)
}

/// Which C compiler links, as far as its file tells.
fn c_compiler() -> Option<String> {
    let name = PathBuf::from(env::var_os("CC").unwrap_or_else(|| "cc".into()));
    let path = if name.components().count() > 1 {
        name
    } else {
        env::split_paths(&env::var_os("PATH")?)
            .map(|folder| folder.join(&name))
            .find(|p| p.is_file())?
    };
    let path = path.canonicalize().ok()?;
    let m = path.metadata().ok()?;
    Some(format!(
        "{} {} {}.{}",
        path.display(),
        m.size(),
        m.mtime(),
        m.mtime_nsec()
    ))
}
