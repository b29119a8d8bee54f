//! Every program in fixtures/ on every engine: what it prints must be the same in the
//! low-level interpreters, as machine code in memory and as an executable. cpython.rs
//! compares them with CPython 2.7.

mod support {
    pub(crate) mod programs;
}

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

use taipan_language::Pass;

use support::programs::{PROGRAMS, outcome, programs};

/// The cache of all runs here.
static CACHE: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fixtures-cache");
    let _ = std::fs::remove_dir_all(&folder);
    folder
});

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_taipan"));
    command
        .current_dir(programs())
        .arg(args[0])
        .arg("--cache-dir")
        .arg(&*CACHE)
        .args(&args[1..]);
    command
}

/// Works out everything although the cache may have it, and fails where that differs
/// from what an earlier process left.
fn taipan(args: &[&str]) -> Output {
    command(args)
        .env("TAIPAN_CACHE_VERIFY", "1")
        .output()
        .expect("taipan runs")
}

/// What each program does as machine code in memory; run once for all tests. A program
/// that is run again comes from the cache.
static NATIVE: LazyLock<Vec<Output>> = LazyLock::new(|| {
    PROGRAMS
        .iter()
        .map(|(target, args)| {
            let all: Vec<&str> = ["run", target].iter().chain(*args).copied().collect();
            command(&all).output().expect("taipan runs")
        })
        .collect()
});

fn check(engine: &str, chosen: impl Fn(&str) -> bool, run: impl Fn(&str, &[&str]) -> Output) {
    let mut wrong = Vec::new();
    let programs = PROGRAMS.iter().zip(NATIVE.iter());
    for ((target, args), expected) in programs.filter(|((target, _), _)| chosen(target)) {
        let found = run(target, args);
        if outcome(expected) != outcome(&found) {
            wrong.push(format!(
                "{target} {args:?}\n--- native\n{:?}\n{}\n--- {engine}\n{:?}\n{}",
                outcome(expected),
                String::from_utf8_lossy(&expected.stderr),
                outcome(&found),
                String::from_utf8_lossy(&found.stderr),
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong.join("\n\n")
    );
}

#[test]
fn programs_end_as_they_should() {
    for ((target, args), o) in PROGRAMS.iter().zip(NATIVE.iter()) {
        // The demonstration of uncaught errors, and a file that is not there.
        let expected = match args {
            ["quill/demo/errors.ql"] => 1,
            ["quill/demo/missing.ql"] => 2,
            _ => 0,
        };
        let stderr = String::from_utf8_lossy(&o.stderr);
        assert_eq!(
            o.status.code(),
            Some(expected),
            "{target} {args:?}:\n{stderr}"
        );
        assert!(!o.stdout.is_empty(), "{target} printed nothing");
    }
}

/// Compares with an interpreter.
fn interpreter_agrees(engine: &str) {
    check(
        engine,
        |_| true,
        |target, args| {
            let all = [&["run", "--engine", engine, target], args].concat();
            taipan(&all)
        },
    );
}

#[test]
fn llinterp_agrees() {
    interpreter_agrees("llinterp");
}

#[test]
fn ootype_agrees() {
    interpreter_agrees("ootype");
}

#[test]
fn python_agrees() {
    executables(&["--backend", "python"]);
}

#[test]
fn executables_agree() {
    executables(&[]);
}

#[test]
fn executables_by_way_of_c_agree() {
    executables(&["--backend", "c"]);
}

/// Builds every program with these options, and compares what the executables do.
fn executables(options: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    check(
        "built",
        |_| true,
        |target, args| {
            let out = folder.path().join(target.replace('/', "_"));
            if !out.exists() {
                let all = ["build", target, "-o", out.to_str().unwrap()];
                let built = taipan(&[&all, options].concat());
                assert!(
                    built.status.success(),
                    "{target}: {}",
                    String::from_utf8_lossy(&built.stderr)
                );
            }
            Command::new(&out)
                .current_dir(programs())
                .args(args)
                .output()
                .unwrap()
        },
    );
}

/// Programs that together make every pass do something.
const WITH_SWITCHES: &[&str] = &[
    "richards.py",
    "deltablue.py",
    "spectralnorm.py",
    "wordcount.py",
    "raising.py",
    "erased.py",
    "bignums.py",
    "quill/targetquill.py",
];

#[test]
fn programs_do_the_same_with_each_pass_switched_off() {
    for pass in Pass::ALL {
        with_passes(&format!("--passes=-{pass}"), |target| {
            WITH_SWITCHES.contains(&target)
        });
    }
}

#[test]
fn programs_do_the_same_without_passes_and_with_all() {
    with_passes("--passes=-all", |_| true);
    with_passes("--passes=+all", |target| WITH_SWITCHES.contains(&target));
    executables(&["--backend", "c", "--passes=-all"]);
}

/// Runs programs as machine code in memory with these passes.
fn with_passes(option: &str, chosen: impl Fn(&str) -> bool) {
    check(option, &chosen, |target, args| {
        command(&[&["run", option, target], args].concat())
            .output()
            .expect("taipan runs")
    });
}
