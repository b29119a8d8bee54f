//! Programs whose loops are compiled while they run.

use taipan_driver::{
    CallOutcome, CallRequest, Database, Engine, Failure, JitOptions, LoadOptions, Timings, call,
    parse_literal,
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

pub(crate) fn database(source: &str) -> Database {
    Workbench::of(source).db
}
