//! Tables of calls, for tests of what whole functions answer.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the driver keeps panics quiet"
)]

mod arguments;
#[allow(dead_code, reason = "not every binary has a harness for it")]
pub(crate) mod compiled;

use arguments::split;

use taipan_driver::{CallOutcome, Engine, Failure};
use taipan_workbench::Workbench;

/// Calls functions of a source on every engine and compares what comes out:
/// `f(1, 'a') == 3`, `f() raises ValueError`, one per line.
#[track_caller]
#[allow(dead_code, reason = "not every file needs it")]
pub(crate) fn check(source: &str, calls: &str) {
    check_files(&[("/main.py", source)], calls);
}

/// The same with functions of `/main.py`, which other files are beside.
#[track_caller]
#[allow(dead_code, reason = "not every file needs it")]
pub(crate) fn check_files(files: &[(&str, &str)], calls: &str) {
    let engines: Vec<Engine> = taipan_workbench::engines()
        .chain([Engine::Python])
        .collect();
    check_on(files, calls, &engines);
}

/// The same as [`check`], but for what Python does otherwise (docs/as-python.md).
#[track_caller]
#[allow(dead_code, reason = "not every file needs it")]
pub(crate) fn check_without_python(source: &str, calls: &str) {
    let engines: Vec<Engine> = taipan_workbench::engines().collect();
    check_on(&[("/main.py", source)], calls, &engines);
}

#[track_caller]
fn check_on(files: &[(&str, &str)], calls: &str, engines: &[Engine]) {
    let bench = Workbench::with(files);
    let mut wrong = Vec::new();
    for line in calls.lines().map(str::trim).filter(|l| !l.is_empty()) {
        let (head, want) = line
            .split_once(") ")
            .expect("a call and what comes out of it");
        let (name, args) = head.split_once('(').expect("arguments in parentheses");
        for engine in engines.iter().copied() {
            let got = outcome(&bench, name, args, engine);
            if got != want {
                wrong.push(format!("{head}) on {engine:?}: {got}, not {want}"));
            }
        }
    }
    // The driver keeps panics quiet.
    eprintln!("{}", wrong.join("\n"));
    assert!(wrong.is_empty());
}

fn outcome(bench: &Workbench, name: &str, args: &str, engine: Engine) -> String {
    match bench.call(name, &split(args), engine) {
        Ok(CallOutcome::Returned(v)) => format!("== {v}"),
        Ok(CallOutcome::Raised { class, .. }) => format!("raises {class}"),
        Err(Failure::Diagnostics(d)) => {
            let first = d.first().map_or("?", |d| &d.message);
            format!("error {first}")
        }
        Err(e) => format!("error {e:?}"),
    }
}
