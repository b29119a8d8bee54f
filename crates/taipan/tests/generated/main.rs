//! Generated programs behave the same on every engine, and under CPython 2.7 where it is
//! installed (`PYTHON2` names it). `TAIPAN_PROGRAMS=n` tries n programs instead of a few.

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

#[test]
fn engines_agree() {
    let programs = match std::env::var("TAIPAN_PROGRAMS") {
        Ok(n) => n.parse().expect("a number of programs"),
        Err(_) => 3,
    };
    let python = std::env::var("PYTHON2").unwrap_or_else(|_| "python2.7".to_owned());
    for seed in 1..=programs {
        let project = Project::generate(seed, SIZE);
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in project.files() {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let native = taipan(&["run", "--no-cache", Project::TARGET], folder.path());
        let native = printed(&native, &format!("program {seed}, native"));
        assert!(!native.is_empty(), "program {seed} printed nothing");
        let args = ["run", "--no-cache", "--engine", "llinterp", Project::TARGET];
        let interpreted = taipan(&args, folder.path());
        let interpreted = printed(&interpreted, &format!("program {seed}, llinterp"));
        assert_eq!(native, interpreted, "program {seed}");
        // Taipan's own `rpython` package is Python as well.
        let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../prelude/src");
        let mut command = Command::new(&python);
        command
            .current_dir(folder.path())
            .env("PYTHONPATH", package);
        if let Ok(o) = command.args(["-B", Project::TARGET]).output()
            // A stub that finds no interpreter behind it.
            && o.status.code() != Some(127)
        {
            let expected = printed(&o, &format!("program {seed}, CPython"));
            assert_eq!(native, expected, "program {seed}, CPython");
        }
    }
}
