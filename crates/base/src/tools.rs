//! The C compilers and emulators of the machine that Taipan runs on.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use taipan_language::Machine;

/// The C compiler that makes code for a machine. For the one that Taipan runs on that is `$CC`, or
/// `cc`; for another one `$CC` if it makes code for that, or GNU's. If there is none, what is to be
/// installed.
pub fn c_compiler(machine: Machine) -> Result<OsString, String> {
    let own = std::env::var_os("CC");
    if machine == Machine::HOST {
        return Ok(own.unwrap_or_else(|| "cc".into()));
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

/// A program's file, if one of the folders in `$PATH` has it.
pub fn on_path(name: impl AsRef<Path>) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders)
        .map(|folder| folder.join(&name))
        .find(|p| p.is_file())
}
