//! Generated programs behave the same on every engine, and under CPython 2.7 where it is
//! installed (`PYTHON2` names it). `TAIPAN_PROGRAMS=n` tries n programs of each kind
//! instead of a few, `TAIPAN_SEED=n` starts with another one than the first; a program
//! that fails is printed.

mod random;

use std::path::Path;
use std::process::{Command, Output};

use taipan_benches::Project;

/// How many functions a program has.
const SIZE: usize = 30;

fn run(command: &mut Command, folder: &Path) -> Output {
    command.current_dir(folder).output().expect("it starts")
}

fn taipan(args: &[&str], folder: &Path) -> Output {
    run(
        Command::new(env!("CARGO_BIN_EXE_taipan")).args(args),
        folder,
    )
}

/// What a run printed, if it ended well.
#[track_caller]
fn printed(o: &Output, what: &str) -> String {
    let stderr = String::from_utf8_lossy(&o.stderr);
    assert!(o.status.success(), "{what}: {:?}\n{stderr}", o.status);
    String::from_utf8_lossy(&o.stdout).into_owned()
}

fn number(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(n) => n.parse().expect("a number"),
        Err(_) => default,
    }
}

/// The numbers of the programs to try.
fn seeds(few: u64) -> std::ops::Range<u64> {
    let first = number("TAIPAN_SEED", 1);
    first..first + number("TAIPAN_PROGRAMS", few)
}

/// Runs a program on every engine and under CPython.
fn check(folder: &Path, target: &str, name: &str) {
    let native = taipan(&["run", "--no-cache", target], folder);
    let native = printed(&native, &format!("{name}, native"));
    assert!(!native.is_empty(), "{name} printed nothing");
    let args = ["run", "--no-cache", "--engine", "llinterp", target];
    let interpreted = printed(&taipan(&args, folder), &format!("{name}, llinterp"));
    assert_eq!(native, interpreted, "{name}");
    // Taipan's own `rpython` package is Python as well.
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../prelude/src");
    let python = std::env::var("PYTHON2").unwrap_or_else(|_| "python2.7".to_owned());
    let mut command = Command::new(&python);
    command.current_dir(folder).env("PYTHONPATH", package);
    if let Ok(o) = command.args(["-B", target]).output()
        // A stub that finds no interpreter behind it.
        && o.status.code() != Some(127)
    {
        let expected = printed(&o, &format!("{name}, CPython"));
        assert_eq!(native, expected, "{name}, CPython");
    }
}

#[test]
fn projects() {
    for seed in seeds(3) {
        let project = Project::generate(seed, SIZE);
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in project.files() {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        check(folder.path(), Project::TARGET, &format!("project {seed}"));
    }
}

#[test]
fn random_programs() {
    for seed in seeds(6) {
        let program = random::program(seed);
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("main.py"), &program).unwrap();
        check(
            folder.path(),
            "main.py",
            &format!("program {seed}\n{program}"),
        );
    }
}
