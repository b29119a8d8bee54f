//! Executables from object files.

use std::borrow::Cow;
use std::os::unix::fs::PermissionsExt as _;
use std::{fs, io};

use camino::Utf8Path;
use taipan_codegen::c_libraries;
use taipan_language::Machine;
use taipan_lltype::FuncSym;
use taipan_platform::{Parts, SharedPart, c_compiler, file_identity, link_executable, link_shared};
use taipan_runtime_object::{HOST_RUNTIME, RuntimeCompiler};

use crate::{Cache, KeyHasher};

/// Kind of the cache entries.
const EXECUTABLE: &str = "executable";
/// What distinguishes those of shared objects.
const SHARED: &str = "shared object";

/// Kind of the cache entries of the runtime for other machines.
const RUNTIME: &str = "runtime";

/// Writes the executable of object files for a machine: from the cache, or by the C compiler. For
/// a small program the C compiler takes longer than everything else together.
pub(crate) fn link_with_cache(
    cache: &Cache,
    machine: Machine,
    objects: &[&[u8]],
    foreign: &[FuncSym],
    options: &[&str],
    output: &Utf8Path,
) -> io::Result<()> {
    let parts = Parts {
        compiler: &c_compiler(machine).map_err(io::Error::other)?,
        objects,
        runtime: &runtime(cache, machine)?,
        libraries: &c_libraries(foreign),
        options,
    };
    let key = KeyHasher::new(EXECUTABLE);
    linked(cache, key, &parts, output, || {
        link_executable(&parts, output.as_std_path())
    })
}

/// The parts of a shared object beside its C part.
pub(crate) struct SharedObjects<'a> {
    /// The program's object files.
    pub(crate) objects: &'a [&'a [u8]],
    /// Functions of C libraries that the program brings.
    pub(crate) foreign: &'a [FuncSym],
    /// Further options of the C compiler.
    pub(crate) options: &'a [String],
}

/// The same of a shared object on this machine.
pub(crate) fn link_shared_with_cache(
    cache: &Cache,
    shared: &SharedObjects<'_>,
    part: &SharedPart<'_>,
    output: &Utf8Path,
) -> io::Result<()> {
    let parts = Parts {
        compiler: &c_compiler(Machine::HOST).map_err(io::Error::other)?,
        objects: shared.objects,
        runtime: HOST_RUNTIME,
        libraries: &c_libraries(shared.foreign),
        options: &shared
            .options
            .iter()
            .map(String::as_str)
            .collect::<Vec<_>>(),
    };
    let mut key = KeyHasher::new(SHARED);
    key.text(&part.exports.join(" ")).text(part.text);
    key.text(part.name.unwrap_or(""));
    linked(cache, key, &parts, output, || {
        link_shared(&parts, part, output.as_std_path())
    })
}

fn linked(
    cache: &Cache,
    mut key: KeyHasher,
    parts: &Parts<'_>,
    output: &Utf8Path,
    link: impl FnOnce() -> io::Result<()>,
) -> io::Result<()> {
    let folder = folder_of(output)?;
    // Without knowing the compiler, and all files that it reads, nothing can be kept.
    let compiler =
        file_identity(parts.compiler).filter(|_| cache.is_on() && parts.libraries.is_empty());
    let Some(compiler) = compiler else {
        return link();
    };
    key.text(&compiler).text(&parts.options.join(" "));
    for object in parts.objects.iter().chain([&parts.runtime]) {
        key.bytes(object);
    }
    let key = key.finish();
    if let Some(executable) = cache.get(EXECUTABLE, key) {
        return write(folder, output, &executable);
    }
    link()?;
    if let Ok(executable) = fs::read(output) {
        cache.put(EXECUTABLE, key, executable);
    }
    Ok(())
}

/// The runtime's object file for a machine: compiled by rustc, unless the cache has it.
pub(crate) fn runtime(cache: &Cache, machine: Machine) -> io::Result<Cow<'static, [u8]>> {
    if machine == Machine::HOST {
        return Ok(HOST_RUNTIME.into());
    }
    let compiler = RuntimeCompiler::find(machine)?;
    let key = KeyHasher::new(RUNTIME).text(&compiler.key()).finish();
    if let Some(object) = cache.get(RUNTIME, key) {
        return Ok(object.to_vec().into());
    }
    let object = compiler.compile()?;
    cache.put(RUNTIME, key, object.clone());
    Ok(object.into())
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
            Err(io::Error::other("it exists and is not a file"))
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
