//! Questions to the system's tools about libraries: pkg-config and the like, and the file of a library.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use taipan_language::Machine;

use crate::sandbox::{Confinement, Limits, run_bounded};
use crate::{CAnswer, c_compiler, said};

/// A question to a program that knows how a library is used.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ToolQuestion {
    /// The program's name.
    pub tool: String,
    /// Its options.
    pub options: Vec<String>,
    /// The package that it is asked about, if it knows several.
    pub package: Option<String>,
    /// The folder that asks: a program in it is none of the system's.
    pub folder: PathBuf,
    /// Programs may be run that the folder has chosen.
    pub trusted: bool,
}

/// Limits of a tool.
const TOOL: Limits = Limits {
    time: Duration::from_secs(20),
    memory: 4 << 30,
    output: 1 << 20,
};

/// The program that any folder may ask.
const PKG_CONFIG: &str = "pkg-config";

/// Runs a tool of the system and returns what it prints.
pub fn ask_tool(question: &ToolQuestion) -> CAnswer {
    let ToolQuestion { tool, package, .. } = question;
    let cannot_find = || CAnswer::Refused(format!("cannot find '{tool}'"));
    if !is_name(tool) {
        return cannot_find();
    }
    if let Some(package) = package
        && (!is_name(package) || package.ends_with(".pc"))
    {
        return CAnswer::Refused(format!("'{package}' is no name of a package"));
    }
    let Some(program) = system_program(tool, &question.folder) else {
        return cannot_find();
    };
    if tool != PKG_CONFIG && !question.trusted {
        return CAnswer::Forbidden(format!("`{tool}` is run"));
    }
    let mut command = Command::new(program);
    // A file of the folder's is no package.
    command
        .current_dir("/")
        .args(&question.options)
        .args(package);
    match run_bounded(command, TOOL, Confinement::None, &|| true) {
        Ok(ended) if ended.status.success() && ended.exceeded.is_none() => {
            CAnswer::Said(String::from_utf8_lossy(&ended.stdout).into_owned())
        }
        Ok(ended) => {
            let messages = String::from_utf8_lossy(&ended.stderr).into_owned();
            CAnswer::Refused(format!("'{tool}' failed: {} {messages}", ended.status))
        }
        Err(e) => CAnswer::Refused(format!("'{tool}': {e}")),
    }
}

/// Whether it is the name of a program or package: no path and no option.
fn is_name(name: &str) -> bool {
    let first = name.bytes().next().unwrap_or(b'-');
    let named = |c: u8| c.is_ascii_alphanumeric() || b"+-._".contains(&c);
    first.is_ascii_alphanumeric() && name.bytes().all(named)
}

/// The program of that name on `$PATH`, unless it is in a folder.
fn system_program(name: &str, folder: &Path) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let all = std::env::split_paths(&path).filter(|p| p.is_absolute());
    let found = all.map(|p| p.join(name)).find(|p| p.is_file())?;
    let real = fs::canonicalize(&found).ok()?;
    let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    (!real.starts_with(folder)).then_some(found)
}

/// The name under which programs of a machine load a library at run time (CPython:
/// `ctypes.util.find_library`).
pub fn find_library(machine: Machine, name: &str) -> Option<String> {
    if !is_name(name) {
        return None;
    }
    let known = || said(Command::new("/sbin/ldconfig").arg("-p"));
    if machine == Machine::HOST
        && let Some(found) = known().and_then(|list| in_list(&list, machine, name))
    {
        return Some(found);
    }
    let cc = c_compiler(machine).ok()?;
    let path = said(Command::new(cc).arg(format!("-print-file-name=lib{name}.so")))?;
    let path = Path::new(path.trim());
    match path.is_absolute() {
        true => own_name(path),
        false => None,
    }
}

/// The library in what `ldconfig -p` prints.
fn in_list(list: &str, machine: Machine, name: &str) -> Option<String> {
    let start = format!("lib{name}.so");
    let tag = match machine {
        Machine::X86_64 => "libc6,x86-64",
        Machine::Aarch64 => "libc6,AArch64",
        Machine::Riscv64 | Machine::I386 | Machine::Wasm32 => "libc6",
    };
    let of_line = |line: &str| {
        let (file, rest) = line.trim().split_once(" (")?;
        (file.starts_with(&start) && rest.starts_with(tag)).then(|| file.to_owned())
    };
    list.lines().find_map(of_line)
}

/// The name that a shared object has in itself.
fn own_name(path: &Path) -> Option<String> {
    use object::read::elf::{Dyn as _, FileHeader as _};
    let bytes: io::Result<Vec<u8>> = fs::read(path);
    let bytes = bytes.ok()?;
    let header = object::elf::FileHeader64::<object::Endianness>::parse(&*bytes).ok()?;
    let endian = header.endian().ok()?;
    let sections = header.sections(endian, &*bytes).ok()?;
    let (entries, strings) = sections.dynamic(endian, &*bytes).ok()??;
    let strings = sections.strings(endian, &*bytes, strings).ok()?;
    let entry = entries
        .iter()
        .find(|entry| entry.tag(endian) == object::elf::DT_SONAME)?;
    let text = entry.string(endian, strings).ok()?;
    String::from_utf8(text.to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(tool: &str, package: Option<&str>, folder: &Path) -> ToolQuestion {
        ToolQuestion {
            tool: tool.to_owned(),
            options: vec!["--version".to_owned()],
            package: package.map(str::to_owned),
            folder: folder.to_owned(),
            trusted: false,
        }
    }

    #[test]
    fn tools_are_asked_by_name() {
        let folder = Path::new("/nowhere");
        let ask = |tool: &str| ask_tool(&question(tool, None, folder));
        assert!(matches!(ask("no-such-config"), CAnswer::Refused(_)));
        assert!(matches!(ask("/bin/sh"), CAnswer::Refused(_)));
        assert!(matches!(ask("-c"), CAnswer::Refused(_)));
        assert!(matches!(ask("cat"), CAnswer::Forbidden(_)));
        let mut trusted = question("cat", None, folder);
        trusted.trusted = true;
        assert!(matches!(ask_tool(&trusted), CAnswer::Said(_)));
        // Its own programs are not the system's.
        trusted.folder = fs::canonicalize("/bin").unwrap();
        assert!(matches!(ask_tool(&trusted), CAnswer::Refused(_)));
        for package in ["--define-variable=x=y", "../x.pc", "x.pc", "", "a b"] {
            let answer = ask_tool(&question("pkg-config", Some(package), folder));
            assert!(matches!(answer, CAnswer::Refused(_)), "{package}");
        }
    }

    #[test]
    fn libraries_are_found_by_name() {
        assert_eq!(
            find_library(Machine::HOST, "c").as_deref(),
            Some("libc.so.6")
        );
        assert_eq!(
            find_library(Machine::HOST, "m").as_deref(),
            Some("libm.so.6")
        );
        assert_eq!(find_library(Machine::HOST, "no-such-thing"), None);
        assert_eq!(find_library(Machine::HOST, "../c"), None);
        let list = "\tlibz.so.1 (libc6,x86-64) => /lib/libz.so.1\n\tlibzz.so (libc6) => /x\n";
        assert_eq!(
            in_list(list, Machine::X86_64, "z").as_deref(),
            Some("libz.so.1")
        );
        assert_eq!(in_list(list, Machine::X86_64, "zz"), None);
    }
}
