//! The environment as programs see it while they are imported: a folder of its own, in which each
//! variable is a file.
//!
//! A variable is an input by its name, as a file is: a program that asks for none depends on none, and
//! the values of others are nowhere in this process's heap, which may be saved (`taipan_heap`). So
//! nothing here uses [`std::env::vars`] or its like, which copy all of them.

use std::ffi::{CStr, c_char};
use std::sync::atomic::{AtomicBool, Ordering};

use camino::{Utf8Path, Utf8PathBuf};

use crate::FileContents;

/// The path of the folder of variables.
pub const ENVIRONMENT: &str = "<environment>";

/// Names that begin so are meant for Taipan, and none of the program's business.
const OWN: &str = "TAIPAN";

static LISTED: AtomicBool = AtomicBool::new(false);

unsafe extern "C" {
    /// The variables of this process, each as `NAME=value`; the last pointer is null.
    static mut environ: *const *const c_char;
}

/// The path of a variable. None for names that cannot be the last part of a path: programs see no
/// such variable.
pub fn variable_path(name: &str) -> Option<Utf8PathBuf> {
    is_plain(name).then(|| Utf8Path::new(ENVIRONMENT).join(name))
}

/// Whether this process has listed the variables, and so may hold the values of all of them.
pub fn listed_environment() -> bool {
    LISTED.load(Ordering::Relaxed)
}

/// What is at the path of the environment or in it.
pub(crate) fn read(path: &Utf8Path) -> FileContents {
    let Ok(name) = path.strip_prefix(ENVIRONMENT) else {
        return FileContents::Missing;
    };
    match name.as_str() {
        "" => {
            LISTED.store(true, Ordering::Relaxed);
            FileContents::Directory(names().into())
        }
        name => match value(name) {
            Some(value) => FileContents::Text(value.into()),
            None => FileContents::Missing,
        },
    }
}

fn is_plain(name: &str) -> bool {
    !name.starts_with(OWN) && !matches!(name, "" | "." | "..") && !name.contains(['/', '=', '\0'])
}

/// A value that is not UTF-8 is left out: no program could contain it.
fn value(name: &str) -> Option<String> {
    if is_plain(name) {
        std::env::var_os(name)?.into_string().ok()
    } else {
        None
    }
}

/// The names of all variables that programs see, sorted.
fn names() -> Vec<Box<str>> {
    let mut names = Vec::new();
    // SAFETY: no thread changes the environment, so that the strings stay where they are.
    unsafe {
        let mut at = environ;
        while !at.is_null() && !(*at).is_null() {
            let variable = CStr::from_ptr(*at).to_str();
            if let Ok(Some((name, _))) = variable.map(|v| v.split_once('='))
                && is_plain(name)
            {
                names.push(name.into());
            }
            at = at.add(1);
        }
    }
    names.sort();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_files_by_name() {
        // Cargo sets it.
        let name = "CARGO_PKG_NAME";
        let path = variable_path(name).unwrap();
        assert_eq!(read(&path), FileContents::Text("taipan-base".into()));
        for missing in ["TAIPAN_NO_SUCH", "NO_SUCH_VARIABLE_HERE"] {
            let path = Utf8Path::new(ENVIRONMENT).join(missing);
            assert_eq!(read(&path), FileContents::Missing);
        }
        for name in ["", ".", "..", "/etc/passwd", "a/b", "A=B", "TAIPAN_LOG"] {
            assert_eq!(variable_path(name), None, "{name}");
        }
        assert!(!listed_environment());
        let FileContents::Directory(names) = read(Utf8Path::new(ENVIRONMENT)) else {
            panic!("it is a folder");
        };
        assert!(names.iter().any(|n| **n == *name));
        assert!(names.is_sorted() && !names.iter().any(|n| n.starts_with(OWN)));
        assert!(listed_environment());
    }
}
