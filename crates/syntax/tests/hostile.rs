//! Texts that are meant to break a parser: each gets a diagnostic, soon, on a thread
//! with the stack that every thread of the compiler has.

use std::time::{Duration, Instant};

use taipan_syntax::parse;

/// Parses a text and answers the first error. Far more time than it needs is given,
/// so that only what is not linear fails.
fn first_error(source: String) -> Option<String> {
    let start = Instant::now();
    let thread = std::thread::Builder::new().stack_size(16 << 20);
    let errors = thread
        .spawn(move || parse(&source).errors)
        .unwrap()
        .join()
        .expect("no panic");
    assert!(start.elapsed() < Duration::from_secs(60));
    errors.first().map(|e| e.problem.to_string())
}

fn check(source: String, message: &str) {
    assert_eq!(first_error(source).as_deref(), Some(message));
}

const DEEP: usize = 10_000;
const LARGE: usize = 10_000_000;

#[test]
fn brackets() {
    for open in ["(", "[", "{", "f(", "x[", "`("] {
        check(open.repeat(DEEP), "nested too deeply");
    }
    check("[".repeat(LARGE), "nested too deeply");
    check("(\n".repeat(LARGE / 2), "nested too deeply");
    check("([{".repeat(LARGE / 3), "nested too deeply");
    check("]".repeat(LARGE), "`]` closes nothing");
    check("]\n".repeat(LARGE / 2), "`]` closes nothing");
    check("()".repeat(LARGE / 2), "this statement is too long");
    check("(".repeat(DEEP) + &")".repeat(DEEP), "nested too deeply");
}

#[test]
fn nested_operators() {
    for word in ["not ", "-", "lambda: ", "a if b else ", "a ** ", "~"] {
        check(format!("x = {}1\n", word.repeat(DEEP)), "nested too deeply");
    }
}

#[test]
fn nested_blocks() {
    let mut source = String::new();
    let depth = DEEP / 4;
    for depth in 0..depth {
        source += &" ".repeat(depth);
        source += "if x:\n";
    }
    source += &" ".repeat(depth);
    source += "pass\n";
    check(source, "nested too deeply");
}

#[test]
fn long_chains_are_fine() {
    for piece in [" + a", ".a", "()", "[0]", " and a", " < a", ", a", " or a"] {
        let source = format!("x = a{}\n", piece.repeat(DEEP));
        assert_eq!(first_error(source), None, "{piece}");
    }
    let source = format!("{}1\n", "x = ".repeat(DEEP));
    assert_eq!(first_error(source), None);
    let source = format!("if x: pass\n{}", "elif x: pass\n".repeat(DEEP));
    assert_eq!(first_error(source), None);
}

#[test]
fn wrong_lines() {
    check("x = = 1\n".repeat(DEEP), "an assignment is no expression");
    check("\"\n".repeat(LARGE / 20), "this string is never closed");
    check("\0".repeat(DEEP), "unexpected control character");
    check(
        "else:\n".repeat(DEEP),
        "`else` has no `if`, loop or `except` before it",
    );
    check(
        format!("\"\"\"{}", "a\n".repeat(LARGE / 2)),
        "this string is never closed",
    );
    check("\\".to_owned(), "unexpected character `\\`");
    check("\"\\".to_owned(), "this string is never closed");
    check("'".to_owned(), "this string is never closed");
    check("u'".to_owned(), "this string is never closed");
}

#[test]
fn nothing() {
    for source in ["", "\n", " ", "\t\n", "#", "# a", "\r\n", "\x0c", "\\\n"] {
        assert_eq!(first_error(source.to_owned()), None, "{source:?}");
    }
}
