//! `taipan call`

mod batch;

use std::fmt::Display;
use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd;

use camino::Utf8Path;
use serde_json::{Value, json};
use taipan_driver::{CallOutcome, CallRequest, Failure, call as call_function, parse_literal};

use crate::args::{CallArgs, Engine};
use crate::output::{Context, put, tell, written};
use crate::progress;

pub(crate) fn call(args: &CallArgs) -> i32 {
    if let Some(file) = &args.batch {
        return batch::batch(args, file);
    }
    let context = match Context::once(&args.common, args.function.as_deref().map(Into::into)) {
        Ok(context) => context,
        Err(code) if args.json => {
            let answer = json!({"error": "the configuration of the project cannot be read"});
            return put(&format!("{answer}\n")).max(code);
        }
        Err(code) => return code,
    };
    if let Err(f) = supported(args) {
        return context.fail(&f);
    }
    context.consent();
    prepare(args, context);
    if !args.json {
        progress::begin(context.db.log());
    }
    let answers = match Answers::new(args.json) {
        Ok(a) => a,
        Err(e) => return context.fail(&Failure::Usage(format!("standard output: {e}"))),
    };
    let code = single(args, context, answers);
    context.finish(&args.common, code)
}

/// Refuses a collector that the calls cannot be made with.
fn supported(args: &CallArgs) -> Result<(), Failure> {
    match args.engine {
        Engine::Python => args.collector.supports_python(),
        _ => args.collector.supports(args.jit),
    }
}

/// Has code made as the options say.
fn prepare(args: &CallArgs, context: &mut Context) {
    context.load.checked = args
        .checks
        .lldebug
        .unwrap_or(!matches!(args.engine, Engine::Llinterp | Engine::Ootype));
    context.load.collector = args.collector.gc();
    context.load.passes = args.passes.at(None);
    context.load.translation.jit = args.jit;
    context.db.generate_jit(args.jit);
}

/// Where answers go: standard output. Where programs read it, what the called function
/// itself prints goes to standard error.
struct Answers(Option<File>);

impl Answers {
    fn new(for_programs: bool) -> std::io::Result<Answers> {
        if !for_programs {
            return Ok(Answers(None));
        }
        let saved = std::io::stdout().as_fd().try_clone_to_owned()?;
        // SAFETY: both descriptors are open, and nobody owns number 1.
        if unsafe { libc::dup2(libc::STDERR_FILENO, libc::STDOUT_FILENO) } < 0 {
            return Err(std::io::Error::last_os_error());
        }
        Ok(Answers(Some(saved.into())))
    }

    /// Writes a line at once.
    fn line(&mut self, line: &impl Display) -> std::io::Result<()> {
        match &mut self.0 {
            Some(out) => writeln!(out, "{line}"),
            None => progress::aside(|| writeln!(std::io::stdout(), "{line}")),
        }
    }
}

/// The engine of that name.
pub(crate) fn engine(engine: Engine) -> taipan_driver::Engine {
    match engine {
        Engine::Llinterp => taipan_driver::Engine::LLInterp,
        Engine::Ootype => taipan_driver::Engine::Ootype,
        Engine::Native => taipan_driver::Engine::Native,
        Engine::C => taipan_driver::Engine::C,
        Engine::Python => taipan_driver::Engine::Python,
    }
}

/// Splits `FILE.py:FUNC`.
pub(crate) fn split_function(text: &str) -> Result<(&Utf8Path, &str), Failure> {
    match text.rsplit_once(':') {
        Some((file, func)) if !file.is_empty() && !func.is_empty() => Ok((file.into(), func)),
        _ => Err(Failure::Usage(format!(
            "`{text}` is not of the form FILE.py:FUNC"
        ))),
    }
}

fn single(args: &CallArgs, context: &mut Context, mut answers: Answers) -> i32 {
    let request =
        split_function(args.function.as_deref().unwrap_or_default()).map(|(file, func)| {
            CallRequest {
                file: file.to_owned(),
                func: func.to_owned(),
                args: args.args.iter().map(|a| parse_literal(a)).collect(),
                engine: engine(args.engine),
                jit: args.jit_args.options(args.jit),
            }
        });
    let outcome = request.and_then(|r| {
        let outcome = call_function(&context.db, &context.load, &r, &mut context.timings);
        args.jit_args.tell(r.file.as_str(), r.jit.as_ref());
        outcome
    });
    if args.json {
        let (line, code) = answer(&outcome);
        let written = written(answers.line(&line.to_string()));
        if let Err(f) = &outcome {
            context.fail(f);
        }
        return code.max(written);
    }
    match outcome {
        Ok(CallOutcome::Returned(v)) => written(answers.line(&taipan_driver::python_text(&v))),
        Ok(CallOutcome::Raised { class, traceback }) => {
            for frame in traceback.iter().rev() {
                tell(&format!("  in {frame}\n"));
            }
            tell(&format!("{class}\n"));
            1
        }
        // That it could not be compiled is the caller's fault here, not the program's.
        Err(f) => context.fail(&f).max(2),
    }
}

/// The line of JSON and the exit code of an outcome.
fn answer(outcome: &Result<CallOutcome, Failure>) -> (Value, i32) {
    match outcome {
        Ok(CallOutcome::Returned(v)) => (json!({"ok": v}), 0),
        Ok(CallOutcome::Raised { class, .. }) => (json!({"raises": class}), 1),
        Err(Failure::Diagnostics(all)) => {
            let first = all
                .iter()
                .find(|d| d.severity == taipan_base::Severity::Error)
                .or_else(|| all.first());
            let text = first.map_or_else(
                || "unknown error".to_owned(),
                |d| format!("[{}] {}", d.code, d.message),
            );
            (json!({"error": text}), 2)
        }
        Err(Failure::Usage(text) | Failure::Fatal(text)) => (json!({"error": text}), 2),
        Err(Failure::Internal(e)) => (json!({"error": e.to_string()}), 2),
    }
}
