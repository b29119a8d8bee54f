//! The helpers of `taipan_prelude` are tested in RPython, by what calls them: the files of
//! crates/prelude/tests, as machine code, in the low-level interpreter, by way of C and as Python 3.
//! `cpython.rs` runs those that say what the language does under CPython 2.7, `llvm.rs` all of them by
//! LLVM, and `collectors.rs` with each collector.

mod support {
    pub(crate) mod prelude;
}

use std::collections::BTreeMap;
use std::process::Command;

use support::prelude;

/// Runs all tests and fails if one does, or if a file has none.
fn check(engine: &str) {
    let o = Command::new(env!("CARGO_BIN_EXE_taipan"))
        .current_dir(prelude::folder())
        .args(["test", "--no-cache", "--json", "--engine", engine])
        .output()
        .expect("taipan runs");
    let (stdout, stderr) = (
        String::from_utf8_lossy(&o.stdout),
        String::from_utf8_lossy(&o.stderr),
    );
    let mut passed: BTreeMap<&str, usize> = BTreeMap::new();
    let tests: Vec<serde_json::Value> = (stdout.lines())
        .map(|line| serde_json::from_str(line).expect("a line for each test"))
        .collect();
    let mut failed = Vec::new();
    for test in &tests {
        let field = |name: &str| test[name].as_str().unwrap_or_default();
        if field("outcome") == "passed" && test["interpreted"].is_null() {
            *passed.entry(field("file")).or_default() += 1;
        } else {
            failed.push(format!("{test:#}"));
        }
    }
    assert!(failed.is_empty(), "{}\n{stderr}", failed.join("\n"));
    assert!(o.status.success(), "{stdout}{stderr}");
    for file in prelude::test_files() {
        assert!(passed.contains_key(&*file), "{file} has no test\n{stderr}");
    }
}

#[test]
fn as_machine_code() {
    check("native");
}

#[test]
fn in_the_interpreter() {
    check("llinterp");
}

/// Runs all tests in one program.
#[track_caller]
fn check_program(backend: &str) {
    let o = Command::new(env!("CARGO_BIN_EXE_taipan"))
        .current_dir(prelude::folder())
        .args(["run", "--no-cache", "--backend", backend, prelude::PROGRAM])
        .output()
        .expect("taipan runs");
    let (stdout, stderr) = (
        String::from_utf8_lossy(&o.stdout),
        String::from_utf8_lossy(&o.stderr),
    );
    assert!(o.stdout.ends_with(prelude::ALL_PASSED), "{stdout}{stderr}");
}

#[test]
fn by_way_of_c() {
    check_program("c");
}

#[test]
fn as_python() {
    check_program("python");
}
