//! Programs whose loops are compiled while they run.

use std::sync::{Arc, Mutex};

use taipan_driver::{
    CallOutcome, CallRequest, Database, Engine, Failure, JitOptions, JitReport, LoadOptions,
    Splits, Timings, call, parse_literal,
};
use taipan_workbench::Workbench;

/// Calls a function; what came out, as text.
pub(crate) fn outcome(
    db: &Database,
    func: &str,
    args: &[i64],
    engine: Engine,
    jit: Option<JitOptions>,
) -> String {
    let request = CallRequest {
        file: "/main.py".into(),
        func: func.to_owned(),
        args: args.iter().map(|n| parse_literal(&n.to_string())).collect(),
        engine,
        jit,
    };
    match call(
        db,
        &LoadOptions::default(),
        &request,
        &mut Timings::default(),
    ) {
        Ok(CallOutcome::Returned(v)) => v.to_string(),
        Ok(CallOutcome::Raised { class, .. }) => class,
        Err(Failure::Diagnostics(found)) => {
            let texts = found.iter().map(|d| format!("{}: {}", d.code, d.message));
            texts.collect::<Vec<_>>().join("; ")
        }
        Err(e) => format!("{e:?}"),
    }
}

/// Asserts that `main` of a program returns the same without a compiler and with one at these thresholds.
#[allow(dead_code, reason = "other test binaries share this module")]
#[track_caller]
pub(crate) fn agrees(source: &str, args: &[i64], thresholds: &[i64]) {
    let mut db = database(source);
    let expected = outcome(&db, "main", args, Engine::LLInterp, None);
    db.generate_jit(true);
    for threshold in thresholds {
        let options = JitOptions {
            splits: Splits::Lazy,
            threshold: Some(*threshold),
            ..JitOptions::default()
        };
        let got = outcome(&db, "main", args, Engine::Native, Some(options));
        assert_eq!(got, expected, "{threshold}");
    }
}

/// The report of a run of `main` with lazy splits. Its result has to be the interpreter's.
#[track_caller]
pub(crate) fn report_of(source: &str, args: &[i64], threshold: i64, engine: Engine) -> JitReport {
    let mut db = database(source);
    let expected = outcome(&db, "main", args, Engine::LLInterp, None);
    db.generate_jit(true);
    let (got, report) = reported(&db, ("main", args), threshold, engine);
    assert_eq!(got, expected, "{args:?}, {threshold}");
    report
}

/// The result and the report of a call with lazy splits, by which nothing may be refused.
#[track_caller]
pub(crate) fn reported(
    db: &Database,
    (func, args): (&str, &[i64]),
    threshold: i64,
    engine: Engine,
) -> (String, JitReport) {
    let report = Arc::new(Mutex::new(JitReport::default()));
    let options = JitOptions {
        splits: Splits::Lazy,
        threshold: Some(threshold),
        report: Some(report.clone()),
        ..JitOptions::default()
    };
    let got = outcome(db, func, args, engine, Some(options));
    let report = report.lock().expect("nothing panicked").clone();
    assert_eq!(report.refused, [""; 0]);
    (got, report)
}

pub(crate) fn database(source: &str) -> Database {
    Workbench::of(source).db
}
