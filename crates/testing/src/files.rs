//! The files that hold tests, and test ids given on the command line.

use std::collections::BTreeSet;
use std::path::PathBuf;

use camino::{Utf8Path, Utf8PathBuf};

use taipan_driver::parts::{clean, files_below};
use taipan_driver::{Failure, Reader};

/// A test file with the tests of it that are wanted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct TestFile {
    /// Its path for people: relative if it was given so.
    pub(super) path: Utf8PathBuf,
    /// Prefixes of test names that are wanted, in whole parts; none: all tests.
    pub(super) names: Option<BTreeSet<String>>,
}

impl TestFile {
    /// Whether a test of that name is wanted.
    pub(super) fn wants(&self, name: &str) -> bool {
        let Some(names) = &self.names else {
            return true;
        };
        names.iter().any(|n| {
            name.strip_prefix(n.as_str()).is_some_and(|rest| {
                rest.is_empty() || rest.starts_with("::") || rest.starts_with('[')
            })
        })
    }
}

/// Whether files of that name are looked for in folders.
pub(super) fn is_test_file(name: &str) -> bool {
    name.strip_suffix(".py")
        .is_some_and(|stem| stem.starts_with("test_") || stem.ends_with("_test"))
}

/// Folders that are not searched.
fn is_skipped_folder(name: &str) -> bool {
    name.starts_with('.')
        || matches!(
            name,
            "__pycache__" | "build" | "dist" | "venv" | "node_modules"
        )
        || name.ends_with(".egg")
}

/// The test files that arguments stand for: `file.py`, `file.py::TestX::test_y`, or
/// folders. Without arguments, this folder. Folders are searched without the ignored files and folders.
pub(super) fn find(
    reader: &dyn Reader,
    arguments: &[Utf8PathBuf],
    ignored: &[Utf8PathBuf],
) -> Result<Vec<TestFile>, Failure> {
    let here = [Utf8PathBuf::from(".")];
    let arguments = if arguments.is_empty() {
        &here[..]
    } else {
        arguments
    };
    let ignored: Vec<_> = ignored.iter().filter_map(absolute).collect();
    let is_ignored = |path: &Utf8PathBuf| {
        absolute(path).is_some_and(|path| ignored.iter().any(|i| path.starts_with(i)))
    };
    let mut out: Vec<TestFile> = Vec::new();
    for argument in arguments {
        let (path, name) = match argument.as_str().split_once("::") {
            Some((path, name)) => (Utf8Path::new(path), Some(name)),
            None => (argument.as_path(), None),
        };
        let found = if path.is_dir() {
            if name.is_some() {
                return Err(Failure::Usage(format!("{argument}: {path} is a folder")));
            }
            let mut found = files_below(reader, path, &|n| !is_skipped_folder(n), &is_test_file)?;
            found.retain(|path| !is_ignored(path));
            found
        } else if path.exists() {
            vec![clean(path)]
        } else {
            return Err(Failure::Usage(format!("{path}: no such file or folder")));
        };
        for path in found {
            add(&mut out, path, name);
        }
    }
    Ok(out)
}

/// A path from the root, without `.` and doubled separators; None if this folder is unknown.
fn absolute(path: &Utf8PathBuf) -> Option<PathBuf> {
    std::path::absolute(clean(path)).ok()
}

/// Adds a file, or what is wanted of it, in the order of arguments.
fn add(out: &mut Vec<TestFile>, path: Utf8PathBuf, name: Option<&str>) {
    let old = out.iter_mut().find(|f| f.path == path);
    match (old, name) {
        (None, name) => out.push(TestFile {
            path,
            names: name.map(|n| BTreeSet::from([n.to_owned()])),
        }),
        (Some(old), None) => old.names = None,
        (Some(old), Some(name)) => {
            if let Some(names) = &mut old.names {
                names.insert(name.to_owned());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_and_tests() {
        for (name, expected) in [
            ("test_a.py", true),
            ("a_test.py", true),
            ("test_a.txt", false),
            ("testa.py", false),
            ("contest.py", false),
        ] {
            assert_eq!(is_test_file(name), expected, "{name}");
        }
        let file = |name: &str| TestFile {
            path: "t.py".into(),
            names: Some(BTreeSet::from([name.to_owned()])),
        };
        for (given, name, expected) in [
            ("TestX", "TestX::test_a", true),
            ("TestX::test_a", "TestX::test_a[1]", true),
            ("TestX::test_a", "TestX::test_ab", false),
            ("test_a[1]", "test_a[1]", true),
            ("test_a[1]", "test_a[12]", false),
        ] {
            assert_eq!(file(given).wants(name), expected, "{given} {name}");
        }
    }
}
