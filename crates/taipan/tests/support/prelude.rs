//! Where the tests of `taipan_prelude` are.

use std::path::PathBuf;

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
