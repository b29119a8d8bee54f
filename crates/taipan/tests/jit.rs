//! Interpreters with a `JitDriver` print the same with the just-in-time compiler as
//! without, in every way of running it. `TAIPAN_PROGRAMS=n` tries n random programs of the
//! interpreted language instead of a few, `TAIPAN_SEED=n` starts with another one.

mod support {
    pub(crate) mod programs;
    pub(crate) mod quill;
    pub(crate) mod text;
}

use std::ffi::OsStr;
use std::process::Command;

use support::programs::{PROGRAMS, outcome, programs};
use support::quill;
use support::text::seeds;

/// How the compiler is run: loops are compiled when they have come by that often.
const WAYS: &[&[&str]] = &[
    &["--engine", "llinterp", "--jit-threshold", "1"],
    &["--jit-threshold", "1"],
    &["--jit-threshold", "7"],
];

fn run(options: &[&str], target: &str, args: &[&OsStr]) -> (String, Option<i32>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_taipan"));
    command.current_dir(programs()).arg("run").args(options);
    let o = command.arg(target).args(args).output().expect("it starts");
    let stderr = String::from_utf8_lossy(&o.stderr);
    assert!(
        !stderr.contains("error["),
        "{target} {args:?} {options:?}\n{stderr}"
    );
    outcome(&o)
}

#[track_caller]
fn check(target: &str, args: &[&OsStr], what: &str) {
    let expected = run(&[], target, args);
    for way in WAYS {
        let options = [&["--jit"], *way].concat();
        let got = run(&options, target, args);
        assert_eq!(got, expected, "{target} {args:?} {options:?}\n{what}");
    }
}

#[test]
fn all_programs() {
    // Most of them have nothing to compile just in time.
    for (target, args) in PROGRAMS {
        let args: Vec<&OsStr> = args.iter().map(OsStr::new).collect();
        let expected = run(&[], target, &args);
        let got = run(&["--jit", "--jit-threshold", "5"], target, &args);
        assert_eq!(got, expected, "{target} {args:?}");
    }
}

#[test]
fn interpreters() {
    for (target, args) in [
        ("jit/plusminus.py", &["60"][..]),
        ("jit/registers.py", &["collatz", "20"]),
        ("jit/stack.py", &["fib", "8"]),
        ("jit/stack.py", &["mixed", "40"]),
        ("jit/stack.py", &["fails", "40"]),
        ("jit/lisp.py", &["lists", "6"]),
        ("jit/lisp.py", &["while", "60"]),
        ("quill/targetquill.py", &["quill/demo/closures.ql"]),
    ] {
        let args: Vec<&OsStr> = args.iter().map(OsStr::new).collect();
        check(target, &args, "");
    }
}

#[test]
fn random_quill_programs() {
    let folder = tempfile::tempdir().unwrap();
    for seed in seeds(4) {
        let program = quill::program(seed);
        let file = folder.path().join(format!("{seed}.ql"));
        std::fs::write(&file, &program).unwrap();
        check("quill/targetquill.py", &[file.as_os_str()], &program);
    }
}

#[test]
fn executables() {
    let folder = tempfile::tempdir().unwrap();
    let build = |target: &str| {
        let executable = folder.path().join("program");
        let mut command = Command::new(env!("CARGO_BIN_EXE_taipan"));
        command.current_dir(programs()).args(["build", "--jit"]);
        let command = command.arg(target).arg("-o").arg(&executable);
        let o = command.output().expect("it starts");
        let stderr = String::from_utf8_lossy(&o.stderr).into_owned();
        assert!(o.status.success(), "{target}\n{stderr}");
        (executable, stderr)
    };
    // Nothing but the file is needed, and it takes arguments as any program does.
    let (stack, stderr) = build("jit/stack.py");
    assert_eq!(stderr, "");
    for args in [&["mixed", "3000"][..], &["fails", "3000"], &["--help"], &[]] {
        let mut command = Command::new(&stack);
        command.current_dir(folder.path()).env_clear().args(args);
        let args: Vec<&OsStr> = args.iter().map(OsStr::new).collect();
        let expected = run(&["jit/stack.py"], "--", &args);
        assert_eq!(outcome(&command.output().unwrap()), expected, "{args:?}");
    }
    let mut damaged = std::fs::read(&stack).unwrap();
    let at = damaged.len() - 1000;
    damaged[at] ^= 1;
    std::fs::write(&stack, damaged).unwrap();
    let o = Command::new(&stack).output().unwrap();
    assert_eq!(o.status.code(), Some(2));
    let stderr = String::from_utf8_lossy(&o.stderr);
    assert_eq!(stderr, "this executable: the program in it is damaged\n");

    let (shapes, stderr) = build("shapes.py");
    assert!(stderr.contains("shapes.py has no JitDriver"), "{stderr}");
    let o = Command::new(&shapes).arg("20").output().unwrap();
    assert_eq!(outcome(&o), run(&[], "shapes.py", &[OsStr::new("20")]));
}
