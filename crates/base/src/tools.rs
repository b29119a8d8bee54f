//! The C compilers and emulators of the machine that Taipan runs on.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use taipan_language::Machine;

/// The C compiler that makes code for a machine. For the one that Taipan runs on that is `$CC`, or
/// `cc`; for another one `$CC` if it makes code for that, or GNU's. If there is none, what is to be
/// installed.
pub fn c_compiler(machine: Machine) -> Result<OsString, String> {
    let own = std::env::var_os("CC");
    if machine == Machine::HOST {
        return Ok(own.unwrap_or_else(|| "cc".into()));
    }
    if machine.is_wasm() {
        return clang_for_wasm(own);
    }
    if let Some(cc) = own
        && makes_code_for(&cc, machine)
    {
        return Ok(cc);
    }
    let name = format!("{}-gcc", machine.gnu_triple());
    match on_path(&name) {
        Some(_) => Ok(name.into()),
        None => Err(format!(
            "there is no C compiler for {machine}: neither {name} nor a $CC that makes code for it \
             (Debian's package is {})",
            machine.c_compiler_package()
        )),
    }
}

/// What clang has to be told to make WebAssembly.
pub const WASM_TARGET: &str = "--target=wasm32-wasi";

/// The newest clang that is looked for by its number, and the oldest that will do.
const CLANGS: std::ops::RangeInclusive<u32> = 14..=30;

/// A clang with all that it takes to make WebAssembly: `$CC`, `$CLANG`, `clang`, or the newest `clang-N`.
fn clang_for_wasm(own: Option<OsString>) -> Result<OsString, String> {
    let named = [own, std::env::var_os("CLANG"), Some("clang".into())];
    let numbered = CLANGS.rev().map(|n| OsString::from(format!("clang-{n}")));
    let mut lacking = None;
    for cc in named.into_iter().flatten().chain(numbered) {
        match lacking_for_wasm(&cc) {
            None => continue,
            Some(missing) if missing.is_empty() => return Ok(cc),
            Some(missing) => lacking.get_or_insert((cc, missing)),
        };
    }
    let what = match &lacking {
        Some((cc, missing)) => format!("{} lacks {}", cc.display(), missing.join(", ")),
        None => "there is no clang".to_owned(),
    };
    Err(format!(
        "no WebAssembly can be made: {what} (Debian's packages are {})",
        Machine::Wasm32.c_compiler_package()
    ))
}

/// What a clang lacks to make WebAssembly; none if it is no clang.
fn lacking_for_wasm(cc: &OsStr) -> Option<Vec<&'static str>> {
    let said = |option: &str| {
        let output = Command::new(cc)
            .args([WASM_TARGET, option])
            .stderr(Stdio::null())
            .output()
            .ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    if !said("-dumpmachine")?.starts_with("wasm32") {
        return None;
    }
    // What is not there is told by its name alone.
    let parts = [
        ("-print-prog-name=wasm-ld", "the linker wasm-ld"),
        ("-print-file-name=libc.a", "the C library wasi-libc"),
        ("-print-libgcc-file-name", "compiler-rt for wasm32"),
    ];
    let is_there = |option: &str| {
        said(option)
            .is_some_and(|path| Path::new(&path).is_absolute() && Path::new(&path).is_file())
    };
    let missing = parts.into_iter().filter(|(option, _)| !is_there(option));
    Some(missing.map(|(_, what)| what).collect())
}

fn makes_code_for(cc: &OsString, machine: Machine) -> bool {
    let output = Command::new(cc).arg("-dumpmachine").output();
    let name = output.map(|o| String::from_utf8_lossy(&o.stdout).into_owned());
    name.is_ok_and(|n| n.split('-').next() == Some(machine.name()))
}

/// A command that runs an executable which was built for a machine, given as its first argument. If
/// there is no emulator for it, what is to be installed.
pub fn runner(machine: Machine, executable: &Path) -> Result<Command, String> {
    if machine == Machine::HOST {
        return Ok(Command::new(executable));
    }
    if machine.is_wasm() {
        return wasi_runtime(executable);
    }
    let name = format!("qemu-{}", machine.name());
    let Some(emulator) = on_path(&name) else {
        return Err(format!(
            "there is no {name} that runs programs for {machine} (Debian's package is qemu-user)"
        ));
    };
    let mut command = Command::new(emulator);
    // Where Debian's packages for other machines have their C library.
    let root = format!("/usr/{}", machine.gnu_triple());
    if std::env::var_os("QEMU_LD_PREFIX").is_none() && Path::new(&root).is_dir() {
        command.args(["-L", &root]);
    }
    command.arg(executable);
    Ok(command)
}

/// How Node is told to run a program for WASI.
const NODE: &str = include_str!("wasi.js");

fn wasi_runtime(executable: &Path) -> Result<Command, String> {
    if let Some(wasmtime) = on_path("wasmtime") {
        let mut command = Command::new(wasmtime);
        command.args(["run", "--dir", "/", "-S", "inherit-env=y"]);
        // Where the program goes: the variable may say something else.
        if let Ok(folder) = std::env::current_dir() {
            command.env("PWD", folder);
        }
        command.arg(executable);
        return Ok(command);
    }
    let Some(node) = on_path("node") else {
        return Err(
            "there is neither wasmtime nor node, which run programs for wasm32-wasi (Debian's package is \
             nodejs, of version 20 or later)"
                .to_owned(),
        );
    };
    let mut command = Command::new(node);
    // Its fast calls use memory that is gone once a program has grown its own.
    command.args([
        "--no-warnings",
        "--no-turbo-fast-api-calls",
        "-e",
        NODE,
        "--",
    ]);
    command.arg(executable);
    Ok(command)
}

/// A program's file, if one of the folders in `$PATH` has it.
pub fn on_path(name: impl AsRef<Path>) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders)
        .map(|folder| folder.join(&name))
        .find(|p| p.is_file())
}
