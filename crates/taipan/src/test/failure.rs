//! One failed test: the source up to where it failed, what went wrong, what it printed.

use std::fmt::Write as _;

use camino::Utf8Path;
use taipan_base::{Db, Diagnostic, render_text, shown_path};
use taipan_driver::Database;
use taipan_testing::{CollectError, TestFailure, TestFrame, TestOutcome, TestResult};

use super::terminal::{Style, color};
use crate::args::Traceback;

/// Cycles of so many calls are told of once they repeat.
const LONGEST_CYCLE: usize = 4;

/// Least width of the names of local variables.
const NAME_WIDTH: usize = 10;

/// More lines of a function than this are not shown.
const MOST_LINES: usize = 30;

/// The section of a failed test.
pub(super) fn section(db: &Database, style: Style, r: &TestResult) -> String {
    let TestOutcome::Failed(failure) = &r.outcome else {
        return String::new();
    };
    if let TestFailure::NotCompiled(problems) = failure {
        return not_compiled(style, r, &diagnostics(db, style, problems));
    }
    let mut out = title(style, r) + &traceback(db, style, r, failure);
    if let Some(note) = &r.note {
        let _ = writeln!(out, "note: {note}");
    }
    if !r.output.is_empty() && !style.shows_output {
        let _ = writeln!(out, "{}", style.rule('-', "Captured output"));
        out += &String::from_utf8_lossy(&r.output);
        if !r.output.ends_with(b"\n") {
            out.push('\n');
        }
    }
    out
}

/// A failed test in a line.
pub(super) fn line(style: Style, r: &TestResult) -> String {
    let TestOutcome::Failed(failure) = &r.outcome else {
        return String::new();
    };
    let (file, line) = match r.traceback.last() {
        Some(f) if f.line > 0 && f.file == absolute(&r.file) => (r.file.as_str(), f.line),
        _ => (r.file.as_str(), r.line),
    };
    format!("{}: {}\n", place(style, file, line), failure.headline())
}

/// The section of a test that cannot be compiled, with what is wrong.
pub(super) fn not_compiled(style: Style, r: &TestResult, problems: &str) -> String {
    format!(
        "{}The test cannot be compiled:\n\n{problems}",
        title(style, r)
    )
}

fn title(style: Style, r: &TestResult) -> String {
    let title = style.rule('_', &r.name.replace("::", "."));
    format!("{}\n\n", style.paint(color::RED, &title))
}

/// The section of a file in which tests cannot be looked for.
pub(super) fn collect_error(db: &Database, style: Style, e: &CollectError) -> String {
    let title = style.rule('_', &format!("ERROR collecting {}", e.file));
    let title = style.paint(color::RED, &title);
    format!("{title}\n{}", diagnostics(db, style, &e.diagnostics))
}

/// Diagnostics one after the other.
pub(super) fn diagnostics(db: &Database, style: Style, all: &[Diagnostic]) -> String {
    all.iter()
        .map(|d| format!("{}\n\n", render_text(db, d, style.color)))
        .collect()
}

/// The functions that the failure went through, with what went wrong at the last line.
fn traceback(db: &Database, style: Style, r: &TestResult, failure: &TestFailure) -> String {
    let mut out = String::new();
    let explained: String = failure
        .lines()
        .iter()
        .map(|l| {
            format!(
                "{}\n",
                style.paint(color::RED, format!("E       {l}").trim_end())
            )
        })
        .collect();
    let own = absolute(&r.file);
    let frames: Vec<&TestFrame> = (r.traceback.iter())
        .filter(|f| f.line > 0 && !f.file.starts_with(taipan_base::SHIPPED))
        .collect();
    if frames.is_empty() {
        let failing = source(db, &own, r.line, None);
        let _ = write!(out, "{failing}{explained}\n{}:{}", r.file, r.line);
        let functions: Vec<&str> = r.traceback.iter().map(|f| &*f.function).collect();
        if !functions.is_empty() {
            let _ = write!(out, ": in {}", functions.join(", "));
        }
        out.push('\n');
        return out;
    }
    if frames[0].file != own {
        // Where in the test the call is, is not known.
        let _ = writeln!(
            out,
            "{}{}\n",
            source(db, &own, r.line, None),
            place(style, &r.file, r.line)
        );
    }
    let mut repeated = 0;
    for (i, f) in frames.iter().enumerate() {
        let is_last = i + 1 == frames.len();
        // Of functions that call each other again and again the first calls tell it all.
        if !is_last && is_repeated(&frames[..=i]) {
            repeated += 1;
            continue;
        }
        if repeated > 0 {
            let s = if repeated == 1 { "" } else { "s" };
            let _ = writeln!(out, "    ... {repeated} more call{s} of this kind");
            repeated = 0;
        }
        let shown = if f.file == own {
            r.file.as_str()
        } else {
            shown_path(db, Utf8Path::new(&*f.file)).as_str()
        };
        if i > 0 {
            let _ = writeln!(out, "{}", "_ ".repeat(40).trim_end());
        }
        // The test itself at length, what it called by the line.
        let start = match i {
            _ if style.traceback == Traceback::Short => f.line,
            0 if f.file == own && r.line > 0 && r.line <= f.line => r.line,
            _ => f.line,
        };
        out += &source(db, &f.file, start, Some(f.line));
        if is_last {
            out += &explained;
        }
        out += &variables(&f.locals);
        let what = match (is_last, failure) {
            (true, TestFailure::Assertion(_)) => ": AssertionError".to_owned(),
            (true, TestFailure::Exception { class, .. }) => format!(": {class}"),
            (true, _) => String::new(),
            (false, _) => format!(": in {}", f.function),
        };
        let _ = writeln!(out, "\n{}{what}", place(style, shown, f.line));
    }
    out
}

/// Local variables, a line each.
fn variables(locals: &[(String, String)]) -> String {
    let width = locals.iter().map(|(name, _)| name.chars().count()).max();
    let width = width.unwrap_or(0).max(NAME_WIDTH);
    let line = |(name, value): &(String, String)| format!("{name:width$} = {value}\n");
    let text: String = locals.iter().map(line).collect();
    if text.is_empty() {
        text
    } else {
        format!("\n{text}")
    }
}

/// Whether the last call belongs to a cycle of calls that has been shown twice.
fn is_repeated(frames: &[&TestFrame]) -> bool {
    let n = frames.len();
    let call = |i: usize| {
        let f = frames[i];
        (&f.file, &f.function, f.line)
    };
    (1..=LONGEST_CYCLE).any(|p| n > 2 * p && (n - p - 1..n).all(|j| call(j) == call(j - p)))
}

fn place(style: Style, file: &str, line: u32) -> String {
    format!("{}:{line}", style.paint(color::RED, file))
}

/// The path under which a file is known to the database.
fn absolute(path: &str) -> String {
    camino::absolute_utf8(Utf8Path::new(path)).map_or_else(|_| path.to_owned(), |p| p.to_string())
}

/// Lines of a file, from 1; the last one is marked as where it failed.
fn source(db: &Database, file: &str, start: u32, failed: Option<u32>) -> String {
    let text = db.files().get(db, Utf8Path::new(file)).text(db);
    let end = failed.unwrap_or(start) as usize;
    let start = (start as usize).max(1);
    let mut out = String::new();
    let mut skipped = false;
    for (i, line) in text
        .lines()
        .enumerate()
        .skip(start - 1)
        .take(end + 1 - start)
    {
        let n = i + 1;
        if end - start >= MOST_LINES && n > start + 2 && n + MOST_LINES - 4 < end {
            if !std::mem::replace(&mut skipped, true) {
                out += "    ...\n";
            }
            continue;
        }
        let mark = if failed == Some(n as u32) { '>' } else { ' ' };
        let shown = format!("{mark}   {line}");
        let _ = writeln!(out, "{}", shown.trim_end());
    }
    out
}
