//! What runs executables of a machine.

use std::path::Path;
use std::process::Command;

use taipan_language::Machine;

use crate::on_path;

/// What starts programs for 32-bit x86.
const I386_LOADER: &str = "/lib/ld-linux.so.2";

/// A command that runs an executable which was built for a machine, given as its first argument. If
/// there is no emulator for it, what is to be installed.
pub fn runner(machine: Machine, executable: &Path) -> Result<Command, String> {
    if machine == Machine::HOST {
        return Ok(Command::new(executable));
    }
    let name = match machine {
        Machine::Wasm32 => return wasi_runtime(executable),
        // Processors and kernels that run its successor run this.
        Machine::I386 if Machine::HOST == Machine::X86_64 => {
            return match Path::new(I386_LOADER).exists() {
                true => Ok(Command::new(executable)),
                false => Err(format!(
                    "there is no {I386_LOADER}, which loads programs for {machine} (Debian's package is libc6-i386)"
                )),
            };
        }
        Machine::I386 => "qemu-i386".to_owned(),
        _ => format!("qemu-{}", machine.name()),
    };
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
