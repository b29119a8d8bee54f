//! `taipan timeshift`

use serde_json::{Value, json};
use taipan_driver::{
    Engine, Failure, JitPolicy, Splits, TimeshiftOutcome, TimeshiftRequest, parse_literal,
    python_text, timeshift as specialize,
};

use crate::args::{TimeshiftArgs, TimeshiftEngine};
use crate::call::split_function;
use crate::output::{Context, put, tell};
use crate::progress;

pub(crate) fn timeshift(args: &TimeshiftArgs) -> i32 {
    let context = match Context::once(&args.common, Some(args.function.as_str().into())) {
        Ok(context) => context,
        Err(code) => return code,
    };
    context.consent();
    if !args.json {
        progress::begin(context.db.log());
    }
    let outcome = request(args)
        .and_then(|r| specialize(&context.db, &context.load, &r, &mut context.timings));
    let code = match outcome {
        Ok(outcome) if args.json => print_json(outcome),
        Ok(outcome) => print(&outcome),
        Err(f) => {
            if args.json {
                put(&format!("{}\n", json!({"error": first_line(&f)})));
            }
            context.fail(&f).max(2)
        }
    };
    context.finish(&args.common, code)
}

fn request(args: &TimeshiftArgs) -> Result<TimeshiftRequest, Failure> {
    let (file, func) = split_function(&args.function)?;
    Ok(TimeshiftRequest {
        file: file.to_owned(),
        func: func.to_owned(),
        args: args.args.iter().map(|a| parse_literal(a)).collect(),
        is_static: args.is_static.clone(),
        portal: args.portal.clone(),
        policy: policy(&args.policy)?,
        engine: match args.engine {
            TimeshiftEngine::Llinterp => Engine::LLInterp,
            TimeshiftEngine::Native => Engine::Native,
        },
        inline: args.inline,
        optimize: args.optimize,
        splits: match &*args.policy {
            "lazy" => Splits::Lazy,
            _ => Splits::Eager,
        },
    })
}

fn policy(name: &str) -> Result<JitPolicy, Failure> {
    match (name, name.strip_prefix("stop-at=")) {
        (_, Some(names)) => Ok(JitPolicy {
            stop_at: names.split(',').map(str::to_owned).collect(),
            // As the policy of that name in the design documents.
            oopspec: true,
            ..JitPolicy::default()
        }),
        ("heap-cache", _) => Ok(JitPolicy {
            heap_cache: true,
            ..JitPolicy::default()
        }),
        ("oopspec", _) => Ok(JitPolicy {
            oopspec: true,
            ..JitPolicy::default()
        }),
        ("novirtual", _) => Ok(JitPolicy {
            real_arrays: true,
            ..JitPolicy::default()
        }),
        ("default" | "eager" | "lazy", _) => Ok(JitPolicy::default()),
        _ => Err(Failure::Usage(format!("there is no policy `{name}` yet"))),
    }
}

fn first_line(f: &Failure) -> String {
    match f {
        Failure::Diagnostics(all) => {
            (all.first()).map_or_else(String::new, |d| format!("[{}] {}", d.code, d.message))
        }
        Failure::Usage(text) => text.clone(),
        other => format!("{other:?}"),
    }
}

fn print_json(outcome: TimeshiftOutcome) -> i32 {
    let (mut line, code) = match outcome.result {
        Ok(v) => (json!({"ok": v}), 0),
        Err(class) => (json!({"raises": class}), 1),
    };
    if let (Value::Object(line), Value::Object(counts)) = (&mut line, outcome.counts) {
        line.extend(counts);
    }
    put(&format!("{line}\n")).max(code)
}

fn print(outcome: &TimeshiftOutcome) -> i32 {
    let code = match &outcome.result {
        Ok(v) => put(&python_text(v)),
        Err(class) => {
            tell(&format!("{class}\n"));
            1
        }
    };
    put("\n")
        .max(put(&format!("{}\n", outcome.counts)))
        .max(code)
}
