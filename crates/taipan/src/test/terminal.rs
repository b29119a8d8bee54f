//! The run on a terminal, as pytest shows it: a line of letters per file, the failures
//! with their sources, a summary.

use std::fmt::Write as _;

use indexmap::IndexMap;
use taipan_driver::Database;
use taipan_testing::{
    Collected, TestEngine, TestOptions, TestOutcome, TestReport, TestReporter, TestResult,
};

use super::told::Told;
use crate::args::{TestArgs, Traceback};
use crate::output::put;

/// Width of the lines.
const WIDTH: usize = 80;

/// How things are printed.
#[derive(Clone, Copy)]
pub(crate) struct Style {
    pub(crate) color: bool,
    /// Number of `-v` minus number of `-q`.
    pub(crate) verbosity: i32,
    /// How much of a failure is shown.
    pub(crate) traceback: Traceback,
    /// The output of a test follows its result.
    pub(crate) shows_output: bool,
    /// Results that the summary lists.
    pub(crate) listed: Listed,
    /// Number of slowest tests that are listed; 0 for all.
    pub(crate) durations: Option<usize>,
}

/// Results that the summary lists, by the letters of `-r`.
#[derive(Clone, Copy)]
pub(crate) struct Listed {
    failed: bool,
    errors: bool,
    skipped: bool,
    expected_failures: bool,
    unexpected_passes: bool,
    passed: bool,
}

impl Listed {
    /// Failed tests.
    pub(crate) const FAILED: Listed = Listed {
        failed: true,
        errors: true,
        skipped: false,
        expected_failures: false,
        unexpected_passes: false,
        passed: false,
    };

    fn new(letters: &str) -> Listed {
        Listed {
            failed: letters.contains('f'),
            errors: letters.contains('E'),
            skipped: letters.contains('s'),
            expected_failures: letters.contains('x'),
            unexpected_passes: letters.contains('X'),
            passed: letters.contains('p'),
        }
    }

    /// The word for a result, if it is listed, and its text.
    fn word(self, r: &TestResult) -> Option<(&'static str, u8, String)> {
        Some(match &r.outcome {
            TestOutcome::Failed(f) if self.failed => ("FAILED", color::RED, f.headline()),
            TestOutcome::Skipped(why) if self.skipped => ("SKIPPED", color::YELLOW, why.clone()),
            TestOutcome::ExpectedFailure(why) if self.expected_failures => {
                ("XFAIL", color::YELLOW, why.clone())
            }
            TestOutcome::UnexpectedPass(why) if self.unexpected_passes => {
                ("XPASS", color::YELLOW, why.clone())
            }
            TestOutcome::Passed if self.passed => ("PASSED", color::GREEN, String::new()),
            _ => return None,
        })
    }
}

/// Colours by their codes.
pub(super) mod color {
    pub(crate) const RED: u8 = 31;
    pub(crate) const GREEN: u8 = 32;
    pub(crate) const YELLOW: u8 = 33;
    pub(crate) const CYAN: u8 = 36;
}

impl Style {
    pub(crate) fn new(args: &TestArgs, color: bool) -> Style {
        Style {
            color,
            verbosity: i32::from(args.verbose) - i32::from(args.quiet),
            traceback: args.tb,
            shows_output: args.shows_output(),
            listed: Listed::new(&args.report),
            durations: args.durations,
        }
    }

    pub(super) fn paint(self, code: u8, text: &str) -> String {
        if self.color {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }

    /// A line with a title in its middle.
    pub(super) fn rule(self, fill: char, title: &str) -> String {
        let length = title.chars().count() + 2;
        let left = WIDTH.saturating_sub(length) / 2;
        let right = WIDTH.saturating_sub(length + left);
        let (left, right) = (left.max(1), right.max(1));
        let side = |n: usize| String::from(fill).repeat(n);
        format!("{} {title} {}", side(left), side(right))
    }
}

/// Prints a run while it goes on.
pub(super) struct Terminal {
    style: Style,
    /// Only looking.
    quiet_run: bool,
    header: String,
    total: usize,
    done: usize,
    /// The file whose line is open, and the length of the line.
    line: Option<(String, usize)>,
    /// The exit code, if something could not be written.
    code: i32,
}

impl Terminal {
    pub(super) fn new(style: Style, options: &TestOptions) -> Terminal {
        let engine = match options.engine {
            TestEngine::Auto if options.coverage => "interpreted as Python",
            TestEngine::Auto | TestEngine::Native => "machine code",
            TestEngine::LLInterp => "interpreted graphs",
            TestEngine::Interp => "interpreted as Python",
        };
        let jobs = match options.jobs {
            1 => "1 test at a time".to_owned(),
            n => format!("{n} tests at a time"),
        };
        Terminal {
            style,
            quiet_run: options.collect_only,
            header: format!("taipan {}, {engine}, {jobs}", env!("CARGO_PKG_VERSION")),
            total: 0,
            done: 0,
            line: None,
            code: 0,
        }
    }

    /// The exit code, as far as writing is concerned.
    pub(super) fn code(&self) -> i32 {
        self.code
    }

    fn print(&mut self, text: &str) {
        // Once is enough to say that it cannot be written.
        if self.code == 0 {
            self.code = put(text);
        }
    }

    fn close_line(&mut self) {
        let Some((_, length)) = self.line.take() else {
            return;
        };
        let percent = format!("[{:>3}%]", self.done * 100 / self.total.max(1));
        let gap = WIDTH.saturating_sub(length + percent.len()).max(1);
        let percent = self.style.paint(color::CYAN, &percent);
        let percent = match self.style.verbosity {
            v if v < 0 => String::new(),
            _ => format!("{}{percent}", " ".repeat(gap)),
        };
        self.print(&format!("{percent}\n"));
    }

    /// Prints the details, the table of coverage and the summary behind the tests.
    pub(super) fn finish(
        &mut self,
        db: &Database,
        options: &TestOptions,
        report: &TestReport,
        coverage: &str,
    ) {
        self.close_line();
        let style = self.style;
        let mut out = details(db, style, report);
        out += coverage;
        let code = match report.failures() {
            0 => color::GREEN,
            _ => color::RED,
        };
        let text = summary(options, report);
        let line = match style.verbosity {
            v if v < 0 => text,
            _ => style.rule('=', &text),
        };
        let _ = write!(out, "\n{}\n", style.paint(code, &line));
        self.print(&out);
    }
}

impl TestReporter for Terminal {
    fn collected(&mut self, c: &Collected) {
        self.total = c.ids.len();
        let mut out = String::new();
        if self.style.verbosity >= 0 {
            let plural = |n: usize| if n == 1 { "" } else { "s" };
            let found = c.ids.len() + c.deselected;
            out += &format!("{}\n", self.style.rule('=', "test session starts"));
            out += &format!("{}\ncollected {found} item{}", self.header, plural(found));
            for (n, what) in [
                (c.errors.len(), "error"),
                (c.deselected, "deselected"),
                (c.skipped.len(), "skipped"),
            ] {
                if n > 0 {
                    let s = if what == "error" { plural(n) } else { "" };
                    out += &format!(" / {n} {what}{s}");
                }
            }
            out += "\n\n";
        }
        if self.quiet_run {
            for id in &c.ids {
                out += &format!("{id}\n");
            }
        }
        self.print(&out);
    }

    fn finished(&mut self, r: &TestResult) {
        self.result(r);
        if self.style.shows_output && !r.output.is_empty() {
            self.close_line();
            let mut text = String::from_utf8_lossy(&r.output).into_owned();
            if !text.ends_with('\n') {
                text.push('\n');
            }
            self.print(&text);
        }
    }
}

impl Terminal {
    /// Prints the result of a test.
    fn result(&mut self, r: &TestResult) {
        self.done += 1;
        let (letter, _, code) = marks(r);
        if self.style.verbosity > 0 {
            let plain = Style {
                color: false,
                ..self.style
            };
            let length = result_line(plain, r).chars().count();
            self.print(&result_line(self.style, r));
            self.line = Some((r.file.clone(), length));
            self.close_line();
            return;
        }
        if self.style.verbosity < -1 {
            return;
        }
        if self.line.as_ref().is_none_or(|(file, _)| *file != r.file) {
            self.close_line();
            let start = match self.style.verbosity {
                0 => format!("{} ", r.file),
                _ => String::new(),
            };
            self.line = Some((r.file.clone(), start.chars().count()));
            self.print(&start);
        }
        let letter = self.style.paint(code, letter);
        self.print(&letter);
        let mut full = false;
        if let Some((_, length)) = &mut self.line {
            *length += 1;
            full = *length >= WIDTH - 7;
        }
        if full {
            self.close_line();
        }
    }
}

/// What went wrong, with sources.
pub(crate) fn details(db: &Database, style: Style, report: &TestReport) -> String {
    let mut out = String::new();
    let mut told = Told::default();
    let errors = &report.collected.errors;
    if !errors.is_empty() {
        out += &format!("\n{}\n", style.rule('=', "ERRORS"));
        for e in errors {
            out += &told.collect_error(db, style, e);
        }
    }
    let failed: Vec<_> = report
        .results
        .iter()
        .filter(|r| r.outcome.is_failure())
        .collect();
    if !failed.is_empty() && style.traceback != Traceback::No {
        out += &format!("\n{}\n", style.rule('=', "FAILURES"));
        for r in &failed {
            out += &told.section(db, style, r);
        }
    }
    out += &slowest(style, report);
    let listed = listed(style, report);
    if !listed.is_empty() && style.verbosity > -2 {
        out += &format!("\n{}\n", style.rule('=', "short test summary info"));
        out += &listed;
    }
    out += &interpreted(style, report);
    if report.stopped {
        let stop = match (&report.exit, report.failures()) {
            (Some(exit), _) => format!("Exit: {}", exit.reason),
            (None, 1) => "stopping after 1 failure".to_owned(),
            (None, n) => format!("stopping after {n} failures"),
        };
        out += &format!("{}\n", style.rule('!', &stop));
    }
    out
}

/// The lines of the summary: files without tests, and the results that are listed.
fn listed(style: Style, report: &TestReport) -> String {
    let mut out = String::new();
    if style.listed.errors {
        for e in &report.collected.errors {
            let _ = writeln!(out, "{} {}", style.paint(color::RED, "ERROR"), e.file);
        }
    }
    if style.listed.skipped {
        for (file, why) in &report.collected.skipped {
            let _ = writeln!(
                out,
                "{} {file} - {why}",
                style.paint(color::YELLOW, "SKIPPED")
            );
        }
    }
    for r in &report.results {
        if let Some((word, code, why)) = style.listed.word(r) {
            let dash = if why.is_empty() { "" } else { " - " };
            let _ = writeln!(out, "{} {}{dash}{why}", style.paint(code, word), r.id);
        }
    }
    out
}

/// The tests that took longest, of those that ran.
fn slowest(style: Style, report: &TestReport) -> String {
    let Some(most) = style.durations else {
        return String::new();
    };
    let mut ran: Vec<&TestResult> = report.results.iter().filter(|r| !r.unchanged).collect();
    ran.sort_by_key(|r| std::cmp::Reverse(r.duration));
    let title = match most {
        0 => "slowest durations".to_owned(),
        n => format!("slowest {n} durations"),
    };
    if most > 0 {
        ran.truncate(most);
    }
    if ran.is_empty() {
        return String::new();
    }
    let mut out = format!("\n{}\n", style.rule('=', &title));
    for r in ran {
        let _ = writeln!(out, "{:.3}s {}", r.duration.as_secs_f64(), r.id);
    }
    out
}

/// Which tests ran in the interpreter, and why: what is translated is what counts, so
/// nobody should miss that a test is not.
fn interpreted(style: Style, report: &TestReport) -> String {
    let mut reasons: IndexMap<&str, Vec<&str>> = IndexMap::new();
    for r in &report.results {
        if let Some(why) = r.interpreted.as_deref().filter(|why| !why.is_empty()) {
            reasons.entry(why).or_default().push(&r.id);
        }
    }
    let mut out = String::new();
    if reasons.is_empty() || style.verbosity < 0 {
        return out;
    }
    out += &format!("\n{}\n", style.rule('=', "not translated, run as Python"));
    for (why, tests) in reasons {
        let _ = writeln!(out, "{:>4}  {why}", tests.len());
        if style.verbosity > 0 {
            tests
                .iter()
                .for_each(|id| out += &format!("          {id}\n"));
        }
    }
    out
}

/// The result of each test, or its name if none ran.
pub(crate) fn lines(style: Style, report: &TestReport) -> Vec<String> {
    if report.results.is_empty() {
        report.collected.ids.clone()
    } else {
        (report.results.iter())
            .map(|r| result_line(style, r))
            .collect()
    }
}

/// A test, and what became of it.
fn result_line(style: Style, r: &TestResult) -> String {
    let (_, word, code) = marks(r);
    let reason = match &r.outcome {
        TestOutcome::Skipped(why) | TestOutcome::ExpectedFailure(why) if !why.is_empty() => {
            format!(" ({why})")
        }
        _ => String::new(),
    };
    let how = match &r.interpreted {
        // Chosen by the user: nothing to tell of each test.
        Some(why) if !why.is_empty() => " (interpreted)".to_owned(),
        _ if r.unchanged => " (unchanged)".to_owned(),
        _ => String::new(),
    };
    format!("{} {}{reason}{how}", r.id, style.paint(code, word))
}

/// Letter, word and colour of a result.
fn marks(r: &TestResult) -> (&'static str, &'static str, u8) {
    match &r.outcome {
        TestOutcome::Passed if r.unchanged => ("u", "PASSED", color::GREEN),
        TestOutcome::Passed if r.interpreted.is_some() => (",", "PASSED", color::GREEN),
        TestOutcome::Passed => (".", "PASSED", color::GREEN),
        TestOutcome::Failed(_) => ("F", "FAILED", color::RED),
        TestOutcome::Skipped(_) => ("s", "SKIPPED", color::YELLOW),
        TestOutcome::ExpectedFailure(_) => ("x", "XFAIL", color::YELLOW),
        TestOutcome::UnexpectedPass(_) => ("X", "XPASS", color::YELLOW),
    }
}

/// Counts and time in a line.
pub(crate) fn summary(options: &TestOptions, report: &TestReport) -> String {
    let collected = &report.collected;
    let mut parts = Vec::new();
    let mut add = |n: usize, what: &str| {
        if n > 0 {
            parts.push(format!("{n} {what}"));
        }
    };
    add(report.count(|r| r.outcome.is_failure()), "failed");
    let passed = |unchanged: bool| {
        report.count(|r| r.outcome == TestOutcome::Passed && r.unchanged == unchanged)
    };
    add(passed(false), "passed");
    add(passed(true), "unchanged");
    let skipped = report.count(|r| matches!(r.outcome, TestOutcome::Skipped(_)));
    add(skipped + collected.skipped.len(), "skipped");
    add(
        report.count(|r| matches!(r.outcome, TestOutcome::ExpectedFailure(_))),
        "xfailed",
    );
    add(
        report.count(|r| matches!(r.outcome, TestOutcome::UnexpectedPass(_))),
        "xpassed",
    );
    let interpreted = |r: &TestResult| r.interpreted.as_ref().is_some_and(|why| !why.is_empty());
    add(report.count(interpreted), "interpreted");
    add(collected.deselected, "deselected");
    let errors = collected.errors.len();
    add(errors, if errors == 1 { "error" } else { "errors" });
    if options.collect_only {
        let n = collected.ids.len();
        let plural = if n == 1 { "" } else { "s" };
        parts = vec![format!("{n} test{plural} collected")];
    } else if parts.is_empty() || collected.ids.is_empty() && errors == 0 && skipped == 0 {
        parts.insert(0, "no tests ran".to_owned());
    }
    format!(
        "{} in {:.2}s",
        parts.join(", "),
        report.duration.as_secs_f64()
    )
}
