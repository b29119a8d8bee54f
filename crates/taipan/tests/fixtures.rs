//! Every program in fixtures/ on every engine: what it prints must be the same in the
//! low-level interpreter, as machine code in memory, as an executable, and where
//! CPython 2.7 is installed, there too.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

/// Target file below fixtures/programs, and arguments of a short run.
const PROGRAMS: &[(&str, &[&str])] = &[
    ("richards.py", &["1"]),
    ("deltablue.py", &["20"]),
    ("nbody.py", &["100"]),
    ("spectralnorm.py", &["20"]),
    ("fannkuch.py", &["6"]),
    ("binarytrees.py", &["6"]),
    ("wordcount.py", &["50"]),
    ("raising.py", &["60"]),
    ("shapes.py", &["20"]),
    ("brainfuck.py", &["1"]),
    ("life.py", &["15"]),
    ("lisp.py", &["1"]),
    ("huffman.py", &["100"]),
    ("graphs.py", &["6"]),
    ("scanner.py", &["2"]),
    ("grammar.py", &[]),
    ("erased.py", &["30"]),
    ("files.py", &[]),
    ("bignums.py", &["40"]),
    ("quill/targetquill.py", &[]),
    ("quill/targetquill.py", &["quill/demo/closures.ql"]),
    ("quill/targetquill.py", &["quill/demo/sieve.ql"]),
    ("quill/targetquill.py", &["quill/demo/errors.ql"]),
    ("quill/targetquill.py", &["quill/demo/missing.ql"]),
];

fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/programs")
}

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

/// What a process printed, and how it ended.
fn outcome(o: &Output) -> (String, Option<i32>) {
    (
        String::from_utf8_lossy(&o.stdout).into_owned(),
        o.status.code(),
    )
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

fn check(engine: &str, run: impl Fn(&str, &[&str]) -> Option<Output>) {
    let mut wrong = Vec::new();
    for ((target, args), expected) in PROGRAMS.iter().zip(NATIVE.iter()) {
        let Some(found) = run(target, args) else {
            return;
        };
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

#[test]
fn llinterp_agrees() {
    check("llinterp", |target, args| {
        let all: Vec<&str> = ["run", "--engine", "llinterp", target]
            .iter()
            .chain(args)
            .copied()
            .collect();
        Some(taipan(&all))
    });
}

#[test]
fn executables_agree() {
    let folder = tempfile::tempdir().unwrap();
    check("built", |target, args| {
        let out = folder.path().join(target.replace('/', "_"));
        if !out.exists() {
            let built = taipan(&["build", target, "-o", out.to_str().unwrap()]);
            assert!(
                built.status.success(),
                "{target}: {}",
                String::from_utf8_lossy(&built.stderr)
            );
        }
        Some(
            Command::new(&out)
                .current_dir(programs())
                .args(args)
                .output()
                .unwrap(),
        )
    });
}

#[test]
fn cpython_agrees() {
    let python = std::env::var("PYTHON2").unwrap_or_else(|_| "python2.7".to_owned());
    if Command::new(&python).arg("--version").output().is_err() {
        eprintln!("CPython 2.7 is not installed: nothing to compare with");
        return;
    }
    check("CPython", |target, args| {
        let o = Command::new(&python)
            .current_dir(programs())
            // Taipan's own `rpython` package is Python as well.
            .env("PYTHONPATH", programs().join("../../crates/prelude/src"))
            .arg("-B")
            .arg(target)
            .args(args)
            .output()
            .unwrap();
        // A stub that finds no interpreter behind it.
        if o.status.code() == Some(127) {
            None
        } else {
            Some(o)
        }
    });
}
