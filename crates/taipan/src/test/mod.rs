//! `taipan test`

pub(crate) mod coverage;
mod failure;
pub(crate) mod junit;
mod terminal;
mod told;

use std::io::IsTerminal;
use std::time::Duration;

use camino::Utf8Path;
use serde_json::json;
use taipan_base::render_json;
use taipan_driver::{Database, Failure, LoadOptions};
use taipan_testing::{
    CollectError, Collected, Selection, TestEngine, TestFailure, TestOptions, TestOutcome,
    TestReport, TestReporter, TestResult, run,
};

use crate::args::{self, TestArgs};
use crate::output::{Context, put, tell};
use terminal::Terminal;
pub(crate) use terminal::{Style, details, lines, summary};

pub(crate) fn test(args: &TestArgs) -> i32 {
    let context = match Context::once(&args.common, target(args)) {
        Ok(context) => context,
        Err(code) => return code,
    };
    context.consent();
    let paths: Vec<&str> = args.paths.iter().map(|p| p.as_str()).collect();
    context.go_on("test", &paths);
    let code = match options(args, context) {
        Ok(options) => run_tests(args, &options, context),
        Err(f) => failed(context, &f),
    };
    let code = context.finish(&args.common, code);
    context.leave();
    code
}

/// What the project is found by: the first file or folder that is named.
pub(crate) fn target(args: &TestArgs) -> Option<&Utf8Path> {
    args.paths.first().map(|p| {
        let file = p.as_str().split("::").next().unwrap_or_default();
        Utf8Path::new(file)
    })
}

/// The options of a run, as the driver wants them.
pub(crate) fn options(args: &TestArgs, context: &Context) -> Result<TestOptions, Failure> {
    let parse = |name: &str, text: &Option<String>| {
        let parsed = text.as_ref().map(|text| {
            Selection::parse(text)
                .map_err(|e| Failure::Usage(format!("wrong expression `{name} {text}`: {e}")))
        });
        parsed.transpose()
    };
    let select = parse("-k", &args.select)?;
    let marks = parse("-m", &args.marks)?;
    if !(args.timeout > 0.0 && args.timeout.is_finite()) {
        return Err(Failure::Usage(
            "--timeout takes a number of seconds".to_owned(),
        ));
    }
    let covers = !args.coverage.is_empty();
    if covers
        && matches!(
            args.engine,
            args::TestEngine::Native | args::TestEngine::Llinterp
        )
    {
        return Err(Failure::Usage(
            "--cov interprets tests as Python: use --engine auto or interp".to_owned(),
        ));
    }
    for line in args.without_effect() {
        tell(&format!("note: {line}\n"));
    }
    let plugins = args.plugins.iter().filter_map(|p| match p {
        args::Plugin::Module(name) => Some(name.clone()),
        args::Plugin::Off(_) => None,
    });
    let defaults = TestOptions::default();
    Ok(TestOptions {
        paths: args.paths.clone(),
        select,
        marks,
        deselected: args.deselect.clone(),
        ignored: args.ignore.clone(),
        all: args.all,
        last_failed: args.last_failed,
        failed_first: args.failed_first,
        show_locals: args.show_locals,
        coverage: covers,
        collect_only: args.collect_only,
        max_failures: match (args.exit_first, args.max_failures) {
            (true, _) => Some(1),
            (false, n) => n.filter(|n| *n > 0),
        },
        timeout: Duration::from_secs_f64(args.timeout),
        engine: match args.engine {
            args::TestEngine::Auto => TestEngine::Auto,
            args::TestEngine::Native => TestEngine::Native,
            args::TestEngine::Llinterp => TestEngine::LLInterp,
            args::TestEngine::Interp => TestEngine::Interp,
        },
        trust: args.trust,
        jobs: args.common.threads.unwrap_or(defaults.jobs),
        load: LoadOptions {
            checked: args.checks.lldebug.unwrap_or(true),
            collector: args.collector.gc(),
            // Those of the project are for `target()`.
            target_options: args.common.target_option.clone(),
            conftest_options: args.conftest_options(),
            test_plugins: plugins.collect(),
            ..context.load.clone()
        },
    })
}

fn run_tests(args: &TestArgs, options: &TestOptions, context: &mut Context) -> i32 {
    let color = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let style = Style::new(args, color);
    let (report, written) = if args.json {
        let mut lines = JsonLines::default();
        let report = run(&context.db, options, &mut context.timings, &mut lines);
        if let Ok(report) = &report {
            for e in &report.collected.errors {
                lines.print(&error_line(&context.db, e));
            }
        }
        (report, lines.code)
    } else {
        let mut terminal = Terminal::new(style, options);
        let report = run(&context.db, options, &mut context.timings, &mut terminal);
        if let Ok(report) = &report {
            let coverage = coverage::section(&context.db, args, style, report);
            terminal.finish(&context.db, options, report, &coverage);
        }
        (report, terminal.code())
    };
    let report = match report {
        Ok(report) => report,
        Err(f) => return failed(context, &f),
    };
    if let Some(file) = &args.junit_xml
        && let Err(e) = junit::write(&context.db, &report, file)
    {
        return failed(context, &Failure::Usage(format!("{file}: {e}")));
    }
    if let Err(e) = coverage::write_files(&context.db, args, &report) {
        return failed(context, &Failure::Usage(e));
    }
    exit_code(&report).max(written)
}

/// The exit code of wrong usage, as in pytest.
pub(crate) const USAGE: u8 = 4;

/// Reports a failure of the run as a whole. Returns the exit code.
fn failed(context: &Context, failure: &Failure) -> i32 {
    let code = context.fail(failure);
    match failure {
        Failure::Usage(_) => USAGE.into(),
        _ => code,
    }
}

/// The exit code of a run that a test has ended without naming one, as in pytest.
const ENDED: i32 = 2;

/// The exit codes of pytest: 1 where anything failed, 5 where there was nothing to do.
pub(crate) fn exit_code(report: &TestReport) -> i32 {
    let found = &report.collected;
    if let Some(exit) = &report.exit {
        exit.code.unwrap_or(ENDED)
    } else if report.failures() > 0 {
        1
    } else if found.ids.is_empty() && found.skipped.is_empty() {
        5
    } else {
        0
    }
}

/// One line of JSON per test.
#[derive(Default)]
struct JsonLines {
    /// The exit code, if something could not be written.
    code: i32,
}

impl JsonLines {
    fn print(&mut self, line: &str) {
        // Once is enough to say that it cannot be written.
        if self.code == 0 {
            self.code = put(&format!("{line}\n"));
        }
    }
}

impl TestReporter for JsonLines {
    fn collected(&mut self, collected: &Collected) {
        for (file, reason) in &collected.skipped {
            self.print(&skipped_line(file, reason));
        }
    }

    fn finished(&mut self, r: &TestResult) {
        self.print(&result_line(r));
    }
}

/// All lines of a report.
pub(crate) fn json_lines(db: &Database, report: &TestReport) -> Vec<String> {
    let found = &report.collected;
    let skipped = found.skipped.iter().map(|(f, why)| skipped_line(f, why));
    let results = report.results.iter().map(result_line);
    let errors = found.errors.iter().map(|e| error_line(db, e));
    skipped.chain(results).chain(errors).collect()
}

/// A file that skips itself.
fn skipped_line(file: &str, reason: &str) -> String {
    json!({"file": file, "outcome": "skipped", "reason": reason}).to_string()
}

/// A file that cannot be imported.
fn error_line(db: &Database, e: &CollectError) -> String {
    let diagnostics = render_json(db, &e.diagnostics);
    json!({"file": e.file, "outcome": "error", "diagnostics": diagnostics}).to_string()
}

/// A test.
fn result_line(r: &TestResult) -> String {
    let (outcome, reason) = match &r.outcome {
        TestOutcome::Passed => ("passed", None),
        TestOutcome::Failed(f) => ("failed", Some(reason(f))),
        TestOutcome::Skipped(why) => ("skipped", Some(why.clone())),
        TestOutcome::ExpectedFailure(why) => ("xfailed", Some(why.clone())),
        TestOutcome::UnexpectedPass(why) => ("xpassed", Some(why.clone())),
    };
    let frames: Vec<_> = (r.traceback.iter())
        .map(|f| json!({"file": f.file, "line": f.line, "function": f.function}))
        .collect();
    json!({
        "id": r.id,
        "file": r.file,
        "line": r.line,
        "outcome": outcome,
        "unchanged": r.unchanged,
        "seconds": r.duration.as_secs_f64(),
        "reason": reason,
        "interpreted": r.interpreted,
        "note": r.note,
        "traceback": frames,
        "output": String::from_utf8_lossy(&r.output),
    })
    .to_string()
}

/// All that a failure says, without places.
fn reason(f: &TestFailure) -> String {
    f.lines().join("\n")
}
