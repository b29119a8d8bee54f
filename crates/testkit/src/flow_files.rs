//! Tests that are files: a graph, the passes that it goes through, and what they make of it.
//!
//! ```text
//! # What the passes are about.
//! pass: eliminate_empty_blocks
//!
//! graph f
//! block0(v0): goto block1(v0)
//! ..
//! ====
//! graph f
//! ..
//! ```
//!
//! What stands below the line is written anew by `UPDATE_EXPECT=1`.

use std::fs;
use std::path::{Path, PathBuf};

const LINE: &str = "====\n";

/// Compares what `run` makes of the graph in each `.flow` file of a folder, given the names of the
/// passes and the text of the graph, with what the file says.
///
/// # Panics
/// If there is no such file, or one of them is not of the form that the head of this module shows.
#[track_caller]
pub fn check_flow_files(dir: impl AsRef<Path>, run: impl Fn(&[&str], &str) -> String) {
    let dir = dir.as_ref();
    let entries = fs::read_dir(dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display()));
    let mut files: Vec<PathBuf> = entries
        .map(|e| e.expect("an entry").path())
        .filter(|p| p.extension().is_some_and(|e| e == "flow"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no .flow file in {}", dir.display());
    for path in files {
        let text = fs::read_to_string(&path).expect("readable");
        let before = text.split(LINE).next().unwrap_or_default();
        let head = before
            .lines()
            .find(|l| !l.starts_with('#') && !l.is_empty());
        let passes = head.and_then(|l| l.strip_prefix("pass: "));
        let passes: Vec<&str> = passes
            .unwrap_or_else(|| panic!("{}: no line `pass: ..`", path.display()))
            .split(", ")
            .collect();
        let graph: String = before
            .lines()
            .filter(|l| !l.starts_with('#') && !l.starts_with("pass: "))
            .map(|l| format!("{l}\n"))
            .collect();
        let after = run(&passes, &graph);
        let before = before.trim_end();
        expect_test::expect_file![path].assert_eq(&format!("{before}\n{LINE}{after}"));
    }
}
