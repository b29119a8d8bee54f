//! Tables of calls as one executable of a compiler's.
//!
//! ```text
//! f(1, 'ab') == 3       def case_0(zero):
//! g() raises KeyError       result = f(1 + zero, 'ab' * (1 + zero))
//!                           if int(result) != 3: return OTHER
//!                           return 0
//! ```
//!
//! The executable runs the case of its argument, in a process of its own: memory is as the program was loaded. Calls that
//! are errors while compiling are no cases. Arguments are no constants, as in calls of one function.

use std::fmt::Write as _;
use std::process::Command;

use camino::Utf8PathBuf;
use serde_json::Value;
use taipan_driver::{COptions, Failure, Timings, build_c, build_llvm};
use taipan_platform::Llvm;
use taipan_workbench::Workbench;

use super::arguments::split;

/// The exit code of a case with another result, with another exception, or with none.
const OTHER: i32 = 100;

/// A maker of executables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Compiler {
    C,
    Llvm,
}

impl Compiler {
    /// The reason why it cannot be used on this machine, if there is one.
    pub(crate) fn missing(self) -> Option<String> {
        match self {
            Compiler::C => None,
            Compiler::Llvm => Llvm::find().err().map(|e| e.to_string()),
        }
    }

    fn build(self, bench: &Workbench, output: &Utf8PathBuf) -> Result<(), Failure> {
        let options = COptions {
            optimize: 1,
            ..COptions::default()
        };
        let timings = &mut Timings::default();
        let build = match self {
            Compiler::C => build_c,
            Compiler::Llvm => build_llvm,
        };
        let Workbench { db, target, .. } = bench;
        build(db, &bench.options, target, output, &options, timings)
    }
}

/// Compiles functions of a source once, calls them, and compares the results with the table.
///
/// # Panics
/// A result is another one; or the table has a result that is no literal of RPython.
#[track_caller]
pub(crate) fn check_compiled(by: Compiler, source: &str, calls: &str) {
    let lines = calls.lines().map(str::trim).filter(|l| !l.is_empty());
    let cases: Vec<&str> = lines.filter(|l| !l.contains(") error ")).collect();
    let bench = Workbench::of(&format!("{source}{}", program(&cases)));
    let folder = tempfile::tempdir().expect("a folder for the executable");
    let output = Utf8PathBuf::from_path_buf(folder.path().join("table")).expect("a path in UTF-8");
    if let Err(e) = by.build(&bench, &output) {
        panic!("by {by:?}: {e:?}");
    }
    let mut wrong = String::new();
    for (i, case) in cases.iter().enumerate() {
        let ended = Command::new(&output).arg(i.to_string()).output();
        let ended = ended.expect("an executable that runs");
        match ended.status.code() {
            Some(0) => {}
            Some(OTHER) => {
                let _ = writeln!(wrong, "{case}: another result");
            }
            _ => {
                let said = String::from_utf8_lossy(&ended.stderr);
                let _ = writeln!(wrong, "{case}: {}: {said}", ended.status);
            }
        }
    }
    assert!(wrong.is_empty(), "by {by:?}:\n{wrong}");
}

/// A function for each case, and an entry point that calls them.
fn program(cases: &[&str]) -> String {
    let mut text = String::new();
    let mut entry =
        String::from("def run_case(argv):\n    case, zero = int(argv[1]), len(argv) - 2\n");
    for (i, case) in cases.iter().enumerate() {
        let (call, wanted) = case.split_once(") ").expect("a call and its outcome");
        let (name, args) = call.split_once('(').expect("arguments in parentheses");
        let args: Vec<String> = split(args).iter().map(|a| argument(a.trim())).collect();
        let call = format!("{name}({})", args.join(", "));
        let _ = writeln!(text, "def case_{i}(zero):");
        if let Some(class) = wanted.strip_prefix("raises ") {
            let _ = writeln!(text, "    try: {call}");
            let _ = writeln!(text, "    except {class}: return 0");
            let _ = writeln!(text, "    return {OTHER}");
        } else {
            let value = wanted.strip_prefix("== ").expect("`==` or `raises`");
            let value: Value = serde_json::from_str(value).expect("a result in JSON");
            let _ = writeln!(text, "    result = {call}");
            compare(&mut text, "result", &value);
            let _ = writeln!(text, "    return 0");
        }
        let _ = writeln!(entry, "    if case == {i}: return case_{i}(zero)");
    }
    format!("{text}{entry}    return {OTHER}\ndef target(driver, args): return run_case, None\n")
}

/// An argument that is no constant, if it is a number or a string.
fn argument(literal: &str) -> String {
    match literal.as_bytes() {
        [b'-' | b'0'..=b'9', ..] => format!("{literal} + zero"),
        [b'\'', _, _, .., b'\''] => format!("{literal} * (1 + zero)"),
        _ => literal.to_owned(),
    }
}

/// Returns from a case unless a value is that one.
fn compare(text: &mut String, value: &str, wanted: &Value) {
    let (value, literal) = match wanted {
        Value::Null => {
            let _ = writeln!(text, "    if {value} is not None: return {OTHER}");
            return;
        }
        Value::Array(items) => {
            let length = items.len();
            let _ = writeln!(text, "    if len({value}) != {length}: return {OTHER}");
            for (i, item) in items.iter().enumerate() {
                compare(text, &format!("{value}[{i}]"), item);
            }
            return;
        }
        Value::Bool(true) => (value.to_owned(), "True".to_owned()),
        Value::Bool(false) => (value.to_owned(), "False".to_owned()),
        // Of any type of integers.
        Value::Number(n) if n.is_i64() => (format!("int({value})"), n.to_string()),
        Value::Number(n) => (value.to_owned(), n.to_string()),
        Value::String(s) => (value.to_owned(), format!("{s:?}")),
        Value::Object(_) => panic!("no literal of RPython: {wanted}"),
    };
    let _ = writeln!(text, "    if {value} != {literal}: return {OTHER}");
}
