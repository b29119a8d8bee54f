//! Executables from object files.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::PathBuf;
use std::{env, fs, io};

use camino::Utf8Path;
use taipan_codegen_cranelift::{Extension, link_executable, link_extension};
use taipan_lltype::FuncSym;

use crate::{Cache, KeyHasher};

/// Kind of the cache entries.
const EXECUTABLE: &str = "executable";
/// What distinguishes those of modules for Python.
const EXTENSION: &str = "extension";

/// Writes the executable of object files: from the cache, or by the C compiler. For
/// a small program the C compiler takes longer than everything else together.
pub(crate) fn link_with_cache(
    cache: &Cache,
    objects: &[&[u8]],
    foreign: &[FuncSym],
    options: &[&str],
    output: &Utf8Path,
) -> io::Result<()> {
    let mut key = KeyHasher::new(EXECUTABLE);
    key.text(&options.join(" "));
    for object in objects {
        key.bytes(object);
    }
    linked(cache, key, foreign, output, || {
        link_executable(objects, foreign, options, output.as_std_path())
    })
}

/// The same of a module for Python.
pub(crate) fn link_extension_with_cache(
    cache: &Cache,
    object: &[u8],
    foreign: &[FuncSym],
    extension: &Extension<'_>,
    output: &Utf8Path,
) -> io::Result<()> {
    let mut key = KeyHasher::new(EXTENSION);
    key.bytes(object).text(extension.init).text(extension.text);
    linked(cache, key, foreign, output, || {
        link_extension(object, foreign, extension, output.as_std_path())
    })
}

fn linked(
    cache: &Cache,
    mut key: KeyHasher,
    foreign: &[FuncSym],
    output: &Utf8Path,
    link: impl FnOnce() -> io::Result<()>,
) -> io::Result<()> {
    let folder = folder_of(output)?;
    // Without knowing the compiler, and all files that it reads, nothing can be kept.
    let compiler = c_compiler().filter(|_| cache.is_on() && foreign.is_empty());
    let Some(compiler) = compiler else {
        return link();
    };
    let key = key.text(&compiler).finish();
    if let Some(executable) = cache.get(EXECUTABLE, key) {
        return write(folder, output, &executable);
    }
    link()?;
    if let Ok(executable) = fs::read(output) {
        cache.put(EXECUTABLE, key, executable);
    }
    Ok(())
}

/// The folder in which an executable is to be put together and then take its place.
pub(crate) fn folder_of(output: &Utf8Path) -> io::Result<&Utf8Path> {
    let folder = match output.parent() {
        Some(p) if p != "" => p,
        _ => Utf8Path::new("."),
    };
    if !folder.is_dir() {
        let text = format!("there is no folder {folder}");
        return Err(io::Error::new(io::ErrorKind::NotFound, text));
    }
    // What takes the place of a device is no device any more.
    match fs::symlink_metadata(output) {
        Ok(m) if !m.is_file() && !m.is_symlink() => {
            Err(io::Error::other("it is there and no file"))
        }
        _ => Ok(folder),
    }
}

/// Writes an executable file. Whoever looks at it sees the one of before or the new one.
pub(crate) fn write(folder: &Utf8Path, output: &Utf8Path, executable: &[u8]) -> io::Result<()> {
    let mut file = tempfile::Builder::new()
        .prefix(".taipan-link-")
        .permissions(fs::Permissions::from_mode(0o777))
        .tempfile_in(folder)?;
    io::Write::write_all(&mut file, executable)?;
    file.persist(output)?;
    Ok(())
}

/// Which C compiler links, as far as its file tells.
pub(crate) fn c_compiler() -> Option<String> {
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
