//! Generated programs behave the same on every engine; cpython.rs compares them with
//! CPython 2.7. A program that fails is printed.

mod support {
    pub(crate) mod generated;
    pub(crate) mod text;
}

use std::path::Path;
use std::process::{Command, Output};

use support::generated::{self, Generated};
use taipan_fuzz::Target;

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

/// Runs a program on every engine.
fn check(program: Generated) {
    let folder = program.write();
    let (folder, target, name) = (folder.path(), program.target, &program.name);
    let native = taipan(&["run", "--no-cache", target], folder);
    let native = printed(&native, &format!("{name}, native"));
    assert!(!native.is_empty(), "{name} printed nothing");
    let args = ["run", "--no-cache", "--engine", "llinterp", target];
    let interpreted = printed(&taipan(&args, folder), &format!("{name}, llinterp"));
    assert_eq!(native, interpreted, "{name}");
    let args = ["run", "--no-cache", "--engine", "c", target];
    let by_way_of_c = printed(&taipan(&args, folder), &format!("{name}, C"));
    assert_eq!(native, by_way_of_c, "{name}");
    let args = ["run", "--no-cache", "--engine", "python", target];
    let python = printed(&taipan(&args, folder), &format!("{name}, Python"));
    assert_eq!(native, python, "{name}");
}

#[test]
fn projects() {
    generated::projects().for_each(check);
}

#[test]
fn random_programs() {
    let target = Target::new(generated::PROGRAMS)
        .cases(6)
        .bytes(generated::BYTES);
    target.run(|choices| check(generated::random_program(choices.take())));
}

#[test]
fn programs_of_classes() {
    let target = Target::new(generated::CLASSES)
        .cases(1)
        .bytes(generated::BYTES);
    target.run(|choices| check(generated::program_of_classes(choices.take())));
}
