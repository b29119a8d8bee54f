//! `taipan test`

mod failure;
mod junit;
mod terminal;

use std::io::{IsTerminal, Write};
use std::time::Duration;

use camino::Utf8Path;
use serde_json::json;
use taipan_base::render_json;
use taipan_driver::Failure;
use taipan_driver::testing::{
    Collected, Selection, TestFailure, TestOptions, TestOutcome, TestReport, TestReporter,
    TestResult, run,
};

use crate::args::{Engine, TestArgs};
use crate::output::Context;
use terminal::{Style, Terminal};

pub(crate) fn test(args: &TestArgs) -> i32 {
    let target = args.paths.first().map(|p| {
        let file = p.as_str().split("::").next().unwrap_or_default();
        Utf8Path::new(file)
    });
    let context = &mut Context::new(&args.common, target);
    let code = match options(args, context) {
        Ok(options) => run_tests(args, &options, context),
        Err(f) => context.fail(&f),
    };
    context.finish(&args.common);
    code
}

/// The options of a run, as the driver wants them.
fn options(args: &TestArgs, context: &Context) -> Result<TestOptions, Failure> {
    let select = match &args.select {
        Some(text) => Some(
            Selection::parse(text)
                .map_err(|e| Failure::Usage(format!("wrong expression `-k {text}`: {e}")))?,
        ),
        None => None,
    };
    if !(args.timeout > 0.0 && args.timeout.is_finite()) {
        return Err(Failure::Usage(
            "--timeout takes a number of seconds".to_owned(),
        ));
    }
    let defaults = TestOptions::default();
    Ok(TestOptions {
        paths: args.paths.clone(),
        select,
        all: args.all,
        last_failed: args.last_failed,
        collect_only: args.collect_only,
        max_failures: match (args.exit_first, args.max_failures) {
            (true, _) => Some(1),
            (false, n) => n.filter(|n| *n > 0),
        },
        timeout: Duration::from_secs_f64(args.timeout),
        engine: match args.engine {
            Engine::Native => taipan_driver::Engine::Native,
            Engine::Llinterp => taipan_driver::Engine::LLInterp,
            Engine::C => return Err(Failure::Usage("the C engine is not there yet".to_owned())),
        },
        trust: args.trust,
        jobs: args.common.threads.unwrap_or(defaults.jobs),
        load: context.load.clone(),
    })
}

fn run_tests(args: &TestArgs, options: &TestOptions, context: &mut Context) -> i32 {
    let style = Style {
        color: std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none(),
        verbosity: i32::from(args.verbose) - i32::from(args.quiet),
    };
    let report = if args.json {
        run(&context.db, options, &mut context.timings, &mut JsonLines)
    } else {
        let mut terminal = Terminal::new(style, options);
        let report = run(&context.db, options, &mut context.timings, &mut terminal);
        report.inspect(|report| terminal.finish(&context.db, options, report))
    };
    let report = match report {
        Ok(report) => report,
        Err(f) => return context.fail(&f),
    };
    if args.json {
        for e in &report.collected.errors {
            let diagnostics = render_json(&context.db, &e.diagnostics);
            let line = json!({"file": e.file, "outcome": "error", "diagnostics": diagnostics});
            print_line(&line.to_string());
        }
    }
    if let Some(file) = &args.junit_xml
        && let Err(e) = junit::write(&context.db, &report, file)
    {
        return context.fail(&Failure::Usage(format!("{file}: {e}")));
    }
    exit_code(&report)
}

/// 1 where anything failed; 2 where there was nothing to do, which is hardly meant.
fn exit_code(report: &TestReport) -> i32 {
    let found = &report.collected;
    if report.failures() > 0 {
        1
    } else if found.ids.is_empty() && found.skipped.is_empty() {
        2
    } else {
        0
    }
}

/// Prints a line; whoever reads along may have gone.
fn print_line(line: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}

/// One line of JSON per test.
struct JsonLines;

impl TestReporter for JsonLines {
    fn collected(&mut self, collected: &Collected) {
        for (file, reason) in &collected.skipped {
            print_line(&json!({"file": file, "outcome": "skipped", "reason": reason}).to_string());
        }
    }

    fn finished(&mut self, r: &TestResult) {
        let (outcome, reason) = match &r.outcome {
            TestOutcome::Passed => ("passed", None),
            TestOutcome::Failed(f) => ("failed", Some(details(f))),
            TestOutcome::Skipped(why) => ("skipped", Some(why.clone())),
            TestOutcome::ExpectedFailure(why) => ("xfailed", Some(why.clone())),
            TestOutcome::UnexpectedPass(why) => ("xpassed", Some(why.clone())),
        };
        let frames: Vec<_> = (r.traceback.iter())
            .map(|f| json!({"file": f.file, "line": f.line, "function": f.function}))
            .collect();
        let line = json!({
            "id": r.id,
            "file": r.file,
            "line": r.line,
            "outcome": outcome,
            "unchanged": r.unchanged,
            "seconds": r.duration.as_secs_f64(),
            "reason": reason,
            "traceback": frames,
            "output": String::from_utf8_lossy(&r.output),
        });
        print_line(&line.to_string());
    }
}

/// All that a failure says, without places.
fn details(f: &TestFailure) -> String {
    f.lines().join("\n")
}
