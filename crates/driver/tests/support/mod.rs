//! Tables of calls, for tests of what whole functions answer.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the driver keeps panics quiet"
)]

mod arguments;

use std::sync::Arc;

use arguments::split;

use taipan_base::MemorySystem;
use taipan_driver::{
    CallOutcome, CallRequest, Database, Engine, Failure, LoadOptions, Timings, call, parse_literal,
};

/// Calls functions of a source on every engine and compares what comes out:
/// `f(1, 'a') == 3`, `f() raises ValueError`, one per line.
#[track_caller]
pub(crate) fn check(source: &str, calls: &str) {
    check_files(&[("/main.py", source)], calls);
}

/// The same with functions of `/main.py`, which other files are beside.
#[track_caller]
pub(crate) fn check_files(files: &[(&str, &str)], calls: &str) {
    let system = MemorySystem::new(taipan_prelude::SHIPPED);
    for (path, text) in files {
        system.write(path, text);
    }
    let db = Database::new(Arc::new(system));
    let mut wrong = Vec::new();
    for line in calls.lines().map(str::trim).filter(|l| !l.is_empty()) {
        let (head, want) = line
            .split_once(") ")
            .expect("a call and what comes out of it");
        let (name, args) = head.split_once('(').expect("arguments in parentheses");
        for engine in [Engine::LLInterp, Engine::Native] {
            let got = outcome(&db, name, args, engine);
            if got != want {
                wrong.push(format!("{head}) on {engine:?}: {got}, not {want}"));
            }
        }
    }
    // The driver keeps panics quiet.
    eprintln!("{}", wrong.join("\n"));
    assert!(wrong.is_empty());
}

fn outcome(db: &Database, name: &str, args: &str, engine: Engine) -> String {
    let request = CallRequest {
        file: "/main.py".into(),
        func: name.to_owned(),
        args: split(args).iter().map(|a| parse_literal(a)).collect(),
        engine,
        jit: None,
    };
    match call(
        db,
        &LoadOptions::default(),
        &request,
        &mut Timings::default(),
    ) {
        Ok(CallOutcome::Returned(v)) => format!("== {v}"),
        Ok(CallOutcome::Raised { class, .. }) => format!("raises {class}"),
        Err(Failure::Diagnostics(d)) => {
            let first = d.first().map_or("?", |d| &d.message);
            format!("error {first}")
        }
        Err(e) => format!("error {e:?}"),
    }
}
