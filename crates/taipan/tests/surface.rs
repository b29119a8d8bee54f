//! The public names of the toolchain's modules: `tests/oracle/declined.txt` lists those that are not
//! there, and why. With a checkout (`PYPY`) and CPython 2.7 (`PYTHON2`), `tests/oracle/surface.py`
//! finds all others.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// Prints the names of a module that are there.
const PROGRAM: &str = r"
import sys

def tell(module, names):
    try:
        __import__(module)
    except ImportError:
        return
    for name in names.split():
        value = sys.modules[module]
        for part in name.split('.'):
            if not hasattr(value, part):
                break
            value = getattr(value, part)
        else:
            print 'there:', module, name

def target(*args):
    return (lambda argv: 0), None
";

fn oracle() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/oracle"))
}

/// The lines of the list: a module and its declined names.
fn declined() -> Vec<(String, Vec<String>)> {
    let text = fs::read_to_string(oracle().join("declined.txt")).expect("the list is there");
    (text
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#')))
    .map(|line| {
        let (module, names) = line.split_once(' ').expect("a module and names");
        (
            module.to_owned(),
            names.split(' ').map(str::to_owned).collect(),
        )
    })
    .collect()
}

/// Output of `taipan check` for a correct program.
fn told(program: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("targetsurface.py"), program).expect("written");
    let o = Command::new(env!("CARGO_BIN_EXE_taipan"))
        .current_dir(folder.path())
        .env_remove("TAIPANPATH")
        .args(["check", "--no-cache", "targetsurface.py"])
        .output()
        .expect("taipan runs");
    let text = format!(
        "{}{}",
        String::from_utf8_lossy(&o.stdout),
        String::from_utf8_lossy(&o.stderr)
    );
    assert!(o.status.success(), "{text}");
    text
}

#[test]
fn declined_names_are_not_there() {
    let mut program = PROGRAM.to_owned();
    for (module, names) in declined() {
        let absent: Vec<&str> = (names.iter().map(String::as_str))
            .filter(|name| !name.ends_with("()"))
            .collect();
        writeln!(program, "tell('{module}', '{}')", absent.join(" ")).expect("a string");
    }
    let said = told(&program);
    let there: Vec<&str> = said
        .lines()
        .filter(|line| line.starts_with("there:"))
        .collect();
    assert!(
        there.is_empty(),
        "declined and there:\n{}",
        there.join("\n")
    );
}

#[test]
fn names_that_are_there_would_be_told() {
    let said = told(&format!(
        "{PROGRAM}tell('rpython.rlib.rposix', 'no_such open')\n"
    ));
    assert!(said.contains("there: rpython.rlib.rposix open"), "{said}");
    assert!(!said.contains("no_such"), "{said}");
}

#[test]
fn all_other_names_of_a_checkout_are_there() {
    let (Some(pypy), Some(python)) = (env::var_os("PYPY"), env::var_os("PYTHON2")) else {
        return;
    };
    let o = Command::new(python)
        .arg(oracle().join("surface.py"))
        .arg("compare")
        .args(["--taipan", env!("CARGO_BIN_EXE_taipan")])
        .arg(pypy)
        .output()
        .expect("CPython runs");
    let said = String::from_utf8_lossy(&o.stdout);
    assert!(
        o.status.success(),
        "{said}{}",
        String::from_utf8_lossy(&o.stderr)
    );
}
