//! Other programs: where they are, which they are, and running them.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The program of that name, as its path, if a folder in `$PATH` has it. A path stands for
/// itself.
pub fn on_path(name: impl AsRef<Path>) -> Option<PathBuf> {
    let name = name.as_ref();
    let found = match name.components().count() {
        1 => std::env::split_paths(&std::env::var_os("PATH")?)
            .map(|folder| folder.join(name))
            .find(|p| p.is_file())?,
        _ => name.to_owned(),
    };
    found.is_file().then_some(found)
}

/// Which program it is, as far as its file tells.
pub fn file_identity(program: &OsStr) -> Option<String> {
    let path = on_path(program)?.canonicalize().ok()?;
    let m = path.metadata().ok()?;
    Some(format!(
        "{} {} {}.{}",
        path.display(),
        m.size(),
        m.mtime(),
        m.mtime_nsec()
    ))
}

/// A command that runs a program with some variables of the environment set. [`Command::env`] would
/// copy the whole environment to the heap, from where it would get into the memory that processes
/// save.
pub fn with_variables(program: impl AsRef<OsStr>, variables: &[(&str, &OsStr)]) -> Command {
    let mut command = Command::new("/usr/bin/env");
    for (name, value) in variables {
        let mut variable = OsString::from(name);
        variable.push("=");
        variable.push(value);
        command.arg(variable);
    }
    command.arg(program);
    command
}

/// Runs a command and returns what it printed. The error of one that fails has its messages and its
/// words.
pub fn run(command: &mut Command) -> io::Result<Vec<u8>> {
    let output = command.stdin(Stdio::null()).output()?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let mut messages = String::from_utf8_lossy(&output.stderr).into_owned();
    messages.push_str(&String::from_utf8_lossy(&output.stdout));
    if messages.trim().is_empty() {
        messages = output.status.to_string();
    }
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<_> = words.map(OsStr::to_string_lossy).collect();
    Err(io::Error::other(format!(
        "{} failed:\n{}\nthe command was: {}",
        words[0],
        messages.trim_end(),
        words.join(" ")
    )))
}

/// What a program prints of itself, if it is one and succeeds.
pub fn said(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output();
    let output = output.ok().filter(|o| o.status.success())?;
    String::from_utf8(output.stdout).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_fails_is_told_with_its_messages() {
        let printed = run(Command::new("sh").args(["-c", "echo said"])).unwrap();
        assert_eq!(printed, b"said\n");
        let error = run(Command::new("sh").args(["-c", "echo wrong >&2; exit 3"])).unwrap_err();
        assert_eq!(
            error.to_string(),
            "sh failed:\nwrong\nthe command was: sh -c echo wrong >&2; exit 3"
        );
        let error = run(Command::new("sh").args(["-c", "exit 3"])).unwrap_err();
        assert!(error.to_string().contains("exit status: 3"), "{error}");
    }

    #[test]
    fn variables_are_set_for_a_program() {
        let mut command = with_variables("sh", &[("SOME_NAME", "a b=c".as_ref())]);
        let printed = run(command.args(["-c", "echo \"$SOME_NAME\""])).unwrap();
        assert_eq!(printed, b"a b=c\n");
    }

    #[test]
    fn programs_are_found_by_name_and_by_path() {
        let sh = on_path("sh").unwrap();
        assert!(sh.is_absolute());
        assert_eq!(on_path(&sh), Some(sh.clone()));
        assert_eq!(on_path("no-such-program"), None);
        assert_eq!(on_path("./no-such-program"), None);
        assert_eq!(file_identity("sh".as_ref()), file_identity(sh.as_os_str()));
    }
}
