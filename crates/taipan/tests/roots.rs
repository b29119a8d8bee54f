//! What a program does not need any more is found dead by the next collection, on every engine:
//! no slot of a frame of roots keeps it, none of a caller's, none of compiled loops, and no
//! container that it was taken out of.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const FOUND: &str = "0 found alive\n";

fn program(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/roots/{name}.py"))
}

fn check(what: &str, o: &Output) {
    assert_eq!(
        String::from_utf8_lossy(&o.stdout),
        FOUND,
        "{what}: {}",
        String::from_utf8_lossy(&o.stderr)
    );
}

fn run(name: &str, options: &[&str], variable: Option<(&str, &str)>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_taipan"));
    command
        .args(["run", "--no-cache"])
        .args(options)
        .arg(program(name));
    command.envs(variable);
    let what = format!("{name} {options:?} {variable:?}");
    check(&what, &command.output().expect("taipan runs"));
}

#[test]
fn in_the_low_level_interpreter() {
    run("program", &["--engine", "llinterp"], None);
    run("containers", &["--engine", "llinterp"], None);
}

#[test]
fn in_memory() {
    // Stacklets and threads need machine code.
    for name in ["program", "containers", "suspended"] {
        run(name, &[], None);
        run(name, &[], Some(("TAIPAN_GC_STRESS", "1")));
    }
}

#[test]
fn in_an_executable() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("program");
    let mut command = Command::new(env!("CARGO_BIN_EXE_taipan"));
    command
        .args(["build", "--no-cache"])
        .arg(program("program"));
    let built = command.arg("-o").arg(&out).output().expect("taipan runs");
    assert!(built.status.success(), "{built:?}");
    for variable in [
        None,
        Some(("PYPY_GC_NURSERY", "1")),
        Some(("TAIPAN_GC_STRESS", "1")),
    ] {
        let run = Command::new(&out).envs(variable).output();
        check(&format!("{variable:?}"), &run.expect("it runs"));
    }
}

#[test]
fn in_loops_that_are_compiled() {
    for threshold in ["1", "3", "100"] {
        let options = ["--jit", "--jit-threshold", threshold];
        run("program", &options, None);
        run("program", &options, Some(("TAIPAN_GC_STRESS", "1")));
    }
}
