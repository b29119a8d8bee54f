//! Functions that are specialised, and compared with what every engine computes.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the driver keeps panics quiet"
)]

use taipan_driver::{
    CallOutcome, CallRequest, Database, Engine, JitPolicy, LoadOptions, Splits, TimeshiftOutcome,
    TimeshiftRequest, Timings, call, parse_literal, timeshift,
};
use taipan_workbench::Workbench;

use crate::arguments::split;

/// Specialises functions of a source and compares with what is written:
/// `f(1, 2) leaves int_add=1`, one per line. Before the function may stand `static(0)`,
/// the positions of constants, `portal(name)`, `inline(100)` and `optimize()`. The operations are all that are left,
/// `flexswitches=1` if promotions made any. What residual code returns or raises must be
/// what every engine gets by calling the function.
#[track_caller]
pub(crate) fn check(source: &str, cases: &str) {
    check_with(source, cases, &JitPolicy::default());
}

#[track_caller]
pub(crate) fn check_with(source: &str, cases: &str, policy: &JitPolicy) {
    let db = database(source);
    let mut wrong = Vec::new();
    for line in cases.lines().map(str::trim).filter(|l| !l.is_empty()) {
        let (head, want) = line.split_once(" leaves").expect("what is left");
        let mut request = request(head, policy);
        let mut run = |engine| {
            request.engine = engine;
            let options = LoadOptions::default();
            timeshift(&db, &options, &request, &mut Timings::default())
        };
        let got = match run(Engine::LLInterp) {
            Ok(outcome) => {
                let native = run(Engine::Native);
                if native.as_ref().ok() != Some(&outcome) {
                    wrong.push(format!("{head}: {outcome:?}, as machine code {native:?}"));
                }
                for engine in [Engine::LLInterp, Engine::Native] {
                    let called = called(&db, &request, engine);
                    if outcome.result != called {
                        let got = &outcome.result;
                        wrong.push(format!("{head}: {got:?}, not {called:?} as on {engine:?}"));
                    }
                }
                left(&outcome)
            }
            Err(e) => format!("error {e:?}"),
        };
        if got != want.trim() {
            wrong.push(format!("{head} leaves {got}, not{want}"));
        }
    }
    eprintln!("{}", wrong.join("\n"));
    assert!(wrong.is_empty());
}

pub(crate) fn database(source: &str) -> Database {
    Workbench::of(source).db
}

pub(crate) fn request(head: &str, policy: &JitPolicy) -> TimeshiftRequest {
    let mut request = TimeshiftRequest {
        file: "/main.py".into(),
        func: String::new(),
        args: Vec::new(),
        is_static: Vec::new(),
        portal: None,
        policy: policy.clone(),
        engine: Engine::LLInterp,
        splits: Splits::Eager,
        inline: None,
        optimize: false,
    };
    for word in head.split_inclusive(") ") {
        let (name, args) = word.trim().split_once('(').expect("arguments");
        let args = split(args.strip_suffix(')').expect("a parenthesis"));
        match name {
            "static" => {
                request.is_static = args.iter().map(|a| a.trim().parse().unwrap()).collect()
            }
            "portal" => request.portal = Some(args[0].clone()),
            "inline" => request.inline = args[0].parse().ok(),
            "optimize" => request.optimize = true,
            func => {
                request.func = func.to_owned();
                request.args = args.iter().map(|a| parse_literal(a)).collect();
            }
        }
    }
    request
}

/// What a call of the function itself gives.
pub(crate) fn called(
    db: &Database,
    request: &TimeshiftRequest,
    engine: Engine,
) -> Result<serde_json::Value, String> {
    let request = CallRequest {
        file: request.file.clone(),
        func: request.func.clone(),
        args: request.args.clone(),
        engine,
        jit: None,
    };
    match call(
        db,
        &LoadOptions::default(),
        &request,
        &mut Timings::default(),
    ) {
        Ok(CallOutcome::Returned(v)) => Ok(v),
        Ok(CallOutcome::Raised { class, .. }) => Err(class),
        Err(e) => Err(format!("{e:?}")),
    }
}

fn left(outcome: &TimeshiftOutcome) -> String {
    let number = |v: &serde_json::Value| v.as_u64().unwrap_or(0);
    let mut parts = Vec::new();
    for (name, n) in outcome.counts["residual"].as_object().expect("counts") {
        parts.push(format!("{name}={}", number(n)));
    }
    let switches = number(&outcome.counts["flexswitches"]);
    if switches > 0 {
        parts.push(format!("flexswitches={switches}"));
    }
    parts.join(" ")
}
