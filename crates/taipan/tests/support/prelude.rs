//! Where the tests of `taipan_prelude` are.

#![allow(dead_code, reason = "each test binary has this module of its own")]

use std::path::PathBuf;

/// The program that runs all of them.
pub(crate) const PROGRAM: &str = "as_program.py";

/// The test that does not hold with libgc: stacks may still have the address of what is gone.
pub(crate) const EXACT: &str = "test_weak_reference_to_what_is_gone";

/// The end of what the program prints.
pub(crate) const ALL_PASSED: &[u8] = b"all passed\n";

pub(crate) fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../prelude/tests"))
}

/// The files with tests, in order.
pub(crate) fn test_files() -> Vec<String> {
    let entries = std::fs::read_dir(folder()).expect("part of the repository");
    let names = entries.map(|e| e.expect("readable").file_name());
    let mut names: Vec<String> = names
        .map(|n| n.into_string().expect("our own names are UTF-8"))
        .filter(|n| n.starts_with("test_") && n.ends_with(".py"))
        .collect();
    names.sort();
    assert!(!names.is_empty(), "no tests in {}", folder().display());
    names
}
