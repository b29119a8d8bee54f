//! Taipan itself on aarch64: a build for that machine runs under QEMU, with the results of the build for this machine.
//!
//! `TAIPAN_AARCH64` names the executable, made by
//!
//! ```sh
//! cargo build --profile emulated --target aarch64-unknown-linux-gnu -p taipan
//! ```
//!
//! Without the variable the tests are reported as ignored. With it, whatever is missing fails them.

#[path = "lsp/client.rs"]
#[allow(dead_code, reason = "the tests of the server use all of it")]
mod client;
#[path = "support/programs.rs"]
mod programs;
#[allow(dead_code, reason = "the tests of `watch` use all of it")]
mod watching;

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output, Stdio};
use std::sync::LazyLock;

use client::Client;
use libtest_mimic::{Arguments, Completion, Failed};
use programs::{PROGRAMS, outcome, programs};
use serde_json::{Value, json};
use taipan_testkit::timed_trial;
use watching::{Watched, project};

type Done = Result<(), Failed>;

const VARIABLE: &str = "TAIPAN_AARCH64";

/// The folder of all runs.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("aarch64");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
});

/// The emulator with the C library of that machine.
fn emulator() -> Vec<&'static str> {
    vec!["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]
}

/// A script that runs an executable in the emulator.
fn script(executable: &Path) -> PathBuf {
    let script = FOLDER.join("taipan");
    // The addresses that saved memory lies at take the emulator long to reserve, and no copy of the process can be
    // started there.
    let text = format!(
        "#!/bin/sh\nTAIPAN_HEAP=9: exec {} {} \"$@\"\n",
        emulator().join(" "),
        executable.display()
    );
    std::fs::write(&script, text).expect("a file");
    let all = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&script, all).expect("a file of this process");
    script
}

/// A build of Taipan.
#[derive(Clone, Copy)]
enum Build {
    Here,
    Aarch64,
}

use Build::{Aarch64, Here};

impl Build {
    fn command(self, folder: &Path, args: &[&str]) -> Command {
        let (executable, cache) = match self {
            Here => (PathBuf::from(env!("CARGO_BIN_EXE_taipan")), "cache-here"),
            Aarch64 => (FOLDER.join("taipan"), "cache-aarch64"),
        };
        let mut command = Command::new(executable);
        command.current_dir(folder).arg(args[0]).arg("--cache-dir");
        command.arg(FOLDER.join(cache)).args(&args[1..]);
        if let Aarch64 = self {
            command.env("CC", "aarch64-linux-gnu-gcc");
        }
        command.stdin(Stdio::null());
        command
    }

    fn run(self, folder: &Path, args: &[&str]) -> Output {
        self.command(folder, args).output().expect("taipan runs")
    }
}

fn stderr(o: &Output) -> String {
    String::from_utf8_lossy(&o.stderr).into_owned()
}

/// Fails if two runs differ.
fn same(what: &str, here: &Output, there: &Output) -> Done {
    if outcome(here) == outcome(there) {
        return Ok(());
    }
    Err(format!(
        "{what}\n--- here\n{:?}\n{}\n--- aarch64\n{:?}\n{}",
        outcome(here),
        stderr(here),
        outcome(there),
        stderr(there)
    )
    .into())
}

/// Runs both builds with the same arguments.
fn compare(folder: &Path, args: &[&str]) -> Done {
    let (here, there) = (Here.run(folder, args), Aarch64.run(folder, args));
    same(&format!("{args:?}"), &here, &there)
}

/// Each program of fixtures/ as machine code in memory.
fn fixtures() -> Done {
    for (target, args) in PROGRAMS {
        compare(&programs(), &[&["run", *target], *args].concat())?;
    }
    Ok(())
}

/// Stages of a program, its C, and results of interpreted and compiled functions.
fn analysis() -> Done {
    for args in [
        &["check", "quill/targetquill.py"][..],
        &["emit", "c", "life.py"],
        &["run", "--engine", "llinterp", "grammar.py"],
        &["call", "fannkuch.py:fannkuch", "5"],
    ] {
        let here = Here.run(&programs(), args);
        assert!(here.status.success(), "{args:?}: {}", stderr(&here));
        same(&format!("{args:?}"), &here, &Aarch64.run(&programs(), args))?;
    }
    Ok(())
}

/// Programs with a driver.
const LOOPS: &[(&str, &[&str])] = &[
    ("jit/plusminus.py", &["60"]),
    ("jit/registers.py", &["collatz", "20"]),
    ("jit/stack.py", &["fib", "8"]),
    ("jit/stack.py", &["mixed", "40"]),
    ("jit/stack.py", &["fails", "40"]),
    ("jit/steps/plain.py", &["60"]),
    ("jit/steps/virtualizable.py", &["60"]),
    ("jit/lisp.py", &["lists", "6"]),
    ("jit/lisp.py", &["while", "60"]),
    ("quill/targetquill.py", &["quill/demo/closures.ql"]),
];

/// Loops are compiled to machine code after that many rounds.
fn just_in_time(threshold: Option<&str>) -> Done {
    let option = threshold.map(|n| ["--jit-threshold", n]);
    for (target, args) in LOOPS {
        let here = Here.run(&programs(), &[&["run", *target], *args].concat());
        let options = option.as_ref().map_or(&[][..], |o| o);
        let with = [&["run", "--jit"], options, &[*target], *args].concat();
        same(
            &format!("{with:?}"),
            &here,
            &Aarch64.run(&programs(), &with),
        )?;
    }
    Ok(())
}

/// Builds a program with these options, and runs it in the emulator.
fn built(name: &str, options: &[&str], target: &str, args: &[&str]) -> Result<Output, Failed> {
    let executable = FOLDER.join(name);
    let path = executable.to_str().expect("a path in UTF-8");
    let all = [&["build", "--quiet", "-o", path], options, &[target]].concat();
    let o = Aarch64.run(&programs(), &all);
    if !o.status.success() {
        return Err(format!("{all:?}: {}", stderr(&o)).into());
    }
    let [program, options @ ..] = &emulator()[..] else {
        return Err("no emulator".into());
    };
    let mut command = Command::new(program);
    command.args(options).arg(&executable).args(args);
    command.current_dir(programs());
    command.env("TAIPAN_JIT_THRESHOLD", "3");
    Ok(command.output()?)
}

fn executables() -> Done {
    for (target, args) in PROGRAMS.iter().filter(|(_, args)| args.len() == 1).take(6) {
        let here = Here.run(&programs(), &[&["run", *target], *args].concat());
        same(target, &here, &built("plain", &[], target, args)?)?;
    }
    for (target, args) in [&LOOPS[1], &LOOPS[3], &LOOPS[8]] {
        let here = Here.run(&programs(), &[&["run", *target], *args].concat());
        same(target, &here, &built("jit", &["--jit"], target, args)?)?;
    }
    Ok(())
}

const TESTS: &str = "\
import pytest

def double(n):
    return n + n

class Problem(Exception):
    pass

def fail(n):
    if n > 2:
        raise Problem()
    return n

def test_passes():
    assert double(2) == 4

def test_raises():
    with pytest.raises(Problem):
        fail(3)

def test_fails():
    assert double(3) == 7
";

/// `taipan test`.
fn tests() -> Done {
    let dir = project(&[("test_numbers.py", TESTS)]);
    let run = |build: Build| {
        let mut o = build.run(dir.path(), &["test", "--json"]);
        // Times differ.
        let text = String::from_utf8_lossy(&o.stdout).into_owned();
        let lines = text.lines().map(|line| {
            let mut value: Value = serde_json::from_str(line).expect("JSON");
            if let Some(map) = value.as_object_mut() {
                map.retain(|key, _| matches!(&**key, "id" | "outcome" | "message" | "line"));
            }
            value.to_string()
        });
        o.stdout = lines.collect::<Vec<_>>().join("\n").into_bytes();
        o
    };
    let (here, there) = (run(Here), run(Aarch64));
    assert!(outcome(&here).0.contains("passed"), "{}", stderr(&here));
    same("test", &here, &there)
}

const LIB: &str = "def value(n):\n    return n * 10\n";
const MAIN: &str = "\
from lib import value

def entry_point(argv):
    print value(len(argv))
    return 0
";

/// A session of an editor.
fn language_server() -> Done {
    let mut client = Client::start(&[("main.py", MAIN), ("lib.py", LIB)]);
    client.open("main.py");
    client.open("lib.py");
    let hover = client.at("textDocument/hover", "main.py", "value", 1);
    assert!(hover.to_string().contains("def value(n: "), "{hover}");
    let definition = client.at("textDocument/definition", "main.py", "value", 1);
    assert!(definition.to_string().contains("lib.py"), "{definition}");
    client.replace("lib.py", "n * 10", 0, "n.nothing");
    let uri = json!({"textDocument": {"uri": client.url("lib.py")}});
    let pulled = client.request("textDocument/diagnostic", uri);
    assert!(pulled.to_string().contains("nothing"), "{pulled}");
    Ok(())
}

/// Says its process number and then something at every turn.
const TURNS: &str = "\
import os
import time

class Counter(object):
    def __init__(self):
        self.turns = 0

def text(counter):
    return 'old %d' % counter.turns

def entry_point(argv):
    counter = Counter()
    os.write(1, 'pid %d\\n' % os.getpid())
    while True:
        counter.turns += 1
        os.write(1, 'turn %s\\n' % text(counter))
        time.sleep(0.05)
";

/// A program that is run again, and one whose code is replaced while it runs.
fn watch() -> Done {
    let dir = project(&[("main.py", MAIN), ("lib.py", LIB)]);
    let mut w = Watched::start(&dir, &["run", "main.py"]);
    w.prints("10\n");
    w.save("lib.py", "def value(n):\n    return n + 7\n");
    w.prints("8\n");
    w.save("lib.py", "def value(n):\n    return n.nothing\n");
    w.tells("error[");
    drop(w);
    let dir = project(&[("main.py", TURNS)]);
    let mut w = Watched::start(&dir, &["run", "--hot", "main.py"]);
    let pid = w.pid();
    w.prints("turn old 2");
    w.save("main.py", &TURNS.replace("'old %d'", "'new %d'"));
    w.tells("replaced main.text");
    w.prints("turn new ");
    assert!(watching::is_alive(pid));
    Ok(())
}

/// A test with its name.
type Case = (&'static str, fn() -> Done);

const CASES: &[Case] = &[
    ("fixtures", fixtures),
    ("analysis", analysis),
    ("jit_threshold_1", || just_in_time(Some("1"))),
    ("jit_threshold_3", || just_in_time(Some("3"))),
    ("jit_default", || just_in_time(None)),
    ("executables", executables),
    ("tests", tests),
    ("language_server", language_server),
    ("watch", watch),
];

fn main() -> ExitCode {
    let args = Arguments::from_args();
    let executable = std::env::var_os(VARIABLE).map(PathBuf::from);
    if let Some(executable) = executable.as_ref().filter(|_| !args.list) {
        assert!(executable.is_file(), "{VARIABLE} names no file");
        // SAFETY: there is no other thread yet.
        unsafe { std::env::set_var("TAIPAN_TESTED", script(executable)) };
    }
    let is_there = executable.is_some();
    let trials = CASES.iter().map(|(name, test)| {
        timed_trial(*name, move || match is_there {
            true => test().map(|()| Completion::Completed),
            false => Ok(Completion::ignored_with(format!("{VARIABLE} is not set"))),
        })
    });
    libtest_mimic::run(&args, trials.collect()).exit_code()
}
