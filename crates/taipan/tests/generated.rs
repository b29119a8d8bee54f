//! Generated programs behave the same on every engine, by every back end and with every collector;
//! cpython.rs compares them with CPython 2.7. A program that fails is printed.
//!
//! LLVM and libgc are left out where they are missing: `llvm.rs` and `collectors.rs` say so.

mod support {
    pub(crate) mod generated;
    pub(crate) mod text;
}

use std::path::Path;
use std::process::{Command, Output};

use support::generated::{self, Generated};
use taipan_driver::missing_library;
use taipan_fuzz::Target;
use taipan_language::Collector;
use taipan_platform::Llvm;

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
    check_collectors(&program, folder, &native);
}

/// Builds a program by each back end for one collector, and runs it with and without stress. Which
/// one that is depends on the program, so that many programs have all pairs.
fn check_collectors(program: &Generated, folder: &Path, expected: &str) {
    let llvm = Llvm::find().is_ok().then_some("llvm");
    let collectors = Collector::ALL.iter().copied();
    let collectors: Vec<Collector> = collectors
        .filter(|c| missing_library(*c).is_none())
        .collect();
    let number: usize = program.name.bytes().map(usize::from).sum();
    for (i, backend) in ["cranelift", "c"].into_iter().chain(llvm).enumerate() {
        let collector = collectors[(number + i) % collectors.len()].name();
        let what = format!("{}, {backend} with {collector}", program.name);
        let args = ["build", "--no-cache", "--backend", backend, "-O1"];
        let args = [
            &args[..],
            &["--gc", collector, program.target, "-o", "built"],
        ]
        .concat();
        let built = taipan(&args, folder);
        let stderr = String::from_utf8_lossy(&built.stderr);
        assert!(built.status.success(), "{what}: {stderr}");
        for stress in ["0", "1"] {
            let mut command = Command::new(folder.join("built"));
            let found = run(command.env("TAIPAN_GC_STRESS", stress), folder);
            let found = printed(&found, &format!("{what}, stress {stress}"));
            assert_eq!(found, expected, "{what}, stress {stress}");
        }
    }
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
fn programs_of_families() {
    let target = Target::new(generated::FAMILIES)
        .cases(2)
        .bytes(generated::BYTES);
    target.run(|choices| check(generated::program_of_families(choices.take())));
}

#[test]
fn programs_of_classes() {
    let target = Target::new(generated::CLASSES)
        .cases(1)
        .bytes(generated::BYTES);
    target.run(|choices| check(generated::program_of_classes(choices.take())));
}
