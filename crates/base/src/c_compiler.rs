//! Questions to the C compiler of a machine: a small program is compiled and run, and
//! what it prints is the answer (RPython: `rffi_platform`). Answers are kept in a folder
//! of the user's, by question.

use std::ffi::OsStr;
use std::fs;
use std::hash::{Hash, Hasher};
use std::io;
use std::path::{Component, Path};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use taipan_heap::StaticTable;
use taipan_language::Machine;
use taipan_platform::c::compiler_options;
use taipan_platform::{c_compiler, own_folder, runner};

/// What a C program printed, or the messages of the compiler that refuses it.
pub type CAnswer = Result<String, String>;

/// Where answers are kept.
const FOLDER: &str = "taipan-answers";

static ASKED: AtomicBool = AtomicBool::new(false);

/// Where it stands whether this process has asked anything: part of what databases are about.
pub fn asked_table() -> StaticTable {
    StaticTable::of(&ASKED)
}

/// Whether this process has asked anything: then what it works out depends on more than
/// the files of programs.
pub fn asked_c_compiler() -> bool {
    ASKED.load(Ordering::Relaxed)
}

/// Compiles a C program for a machine with these options, runs it (by an emulator, if it is another
/// machine than this), and returns what it prints. Headers are files that only the compiler sees:
/// what sources include them by, and their text.
pub(crate) fn ask(
    machine: Machine,
    source: &str,
    options: &[String],
    headers: &[(String, String)],
) -> CAnswer {
    ASKED.store(true, Ordering::Relaxed);
    // What programs for WebAssembly see of the system is what Linux has.
    let machine = match machine.is_wasm() {
        true => Machine::HOST,
        false => machine,
    };
    let cc = c_compiler(machine)?;
    let mut h = rustc_hash::FxHasher::default();
    (machine, &cc, source, options, headers).hash(&mut h);
    let dir = own_folder(FOLDER).map_err(|e| e.to_string())?;
    let known = dir.join(format!("{:016x}.answer", h.finish()));
    if let Ok(answer) = std::fs::read_to_string(&known) {
        return Ok(answer);
    }
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let work = dir.join(format!("{}-{number}", std::process::id()));
    let answer = (|| {
        std::fs::create_dir(&work).map_err(|e| e.to_string())?;
        let folder = work.join("include");
        write_headers(headers, &folder).map_err(|e| e.to_string())?;
        let mut options = options.to_vec();
        if !headers.is_empty() {
            options.insert(0, format!("-I{}", folder.display()));
        }
        compile_and_run(machine, &cc, source, &options, &work)
    })();
    if let Ok(text) = &answer {
        // Without the copy the next process asks again.
        let made = work.join("answer");
        let _ = std::fs::write(&made, text).and_then(|()| std::fs::rename(&made, &known));
    }
    let _ = std::fs::remove_dir_all(&work);
    answer
}

/// Writes headers into a folder. Their names must not lead out of it.
fn write_headers(headers: &[(String, String)], folder: &Path) -> io::Result<()> {
    for (name, text) in headers {
        let name = Path::new(name);
        if !name.components().all(|c| matches!(c, Component::Normal(_))) {
            continue;
        }
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap_or(folder))?;
        fs::write(path, text)?;
    }
    Ok(())
}

fn compile_and_run(
    machine: Machine,
    cc: &OsStr,
    source: &str,
    options: &[String],
    work: &Path,
) -> CAnswer {
    let (file, program) = (work.join("question.c"), work.join("question"));
    std::fs::write(&file, source).map_err(|e| e.to_string())?;
    let compiled = Command::new(cc)
        .args(["-w", "-o"])
        .arg(&program)
        .arg(&file)
        .args(compiler_options(machine))
        .args(options)
        .stdin(Stdio::null())
        .output()
        .map_err(|e| format!("{}: {e}", cc.display()))?;
    if !compiled.status.success() {
        return Err(String::from_utf8_lossy(&compiled.stderr).into_owned());
    }
    let ran = runner(machine, &program)?
        .stdin(Stdio::null())
        .output()
        .map_err(|e| e.to_string())?;
    if !ran.status.success() {
        return Err(format!("the compiled question failed: {}", ran.status));
    }
    Ok(String::from_utf8_lossy(&ran.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_answers_or_is_refused() {
        let say = |value: &str| {
            format!("#include <stdio.h>\nint main(void) {{ printf(\"%d\", {value}); return 0; }}\n")
        };
        assert_eq!(
            ask(Machine::HOST, &say("6 * 7"), &[], &[]),
            Ok("42".to_owned())
        );
        assert_eq!(
            ask(Machine::HOST, &say("N"), &["-DN=5".to_owned()], &[]),
            Ok("5".to_owned())
        );
        let header = ("sub/n.h".to_owned(), "#define N 7\n".to_owned());
        let outside = ("../n.h".to_owned(), "#define N 8\n".to_owned());
        let source = format!("#include <sub/n.h>\n{}", say("N"));
        assert_eq!(
            ask(Machine::HOST, &source, &[], &[header, outside]),
            Ok("7".to_owned())
        );
        let messages = ask(Machine::HOST, &say("no_such_thing"), &[], &[]).unwrap_err();
        assert!(messages.contains("no_such_thing"), "{messages}");
    }
}
