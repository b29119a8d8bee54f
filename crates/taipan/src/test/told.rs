//! What has been told of a run: a mistake that several tests come upon is shown once, and
//! the others refer to it in a line.

use std::collections::HashMap;
use std::fmt::Write as _;

use taipan_base::{Diagnostic, ErrorCode, Span, position, shown_path};
use taipan_driver::Database;
use taipan_testing::{CollectError, TestFailure, TestOutcome, TestResult};

use super::failure::{self, diagnostics};
use super::terminal::{Style, color};
use crate::args::Traceback;

/// What makes two mistakes the same one.
#[derive(PartialEq, Eq, Hash)]
enum Mistake {
    /// Its notes may differ: they tell the way from a test to the mistake.
    Diagnostic(ErrorCode, Option<Span>, String),
    /// An exception of a test that could not be translated, and the line that raises it.
    Exception(String, String),
    /// A reason for not running.
    Reason(String),
}

/// The mistakes so far, with the test or file that they were shown for.
#[derive(Default)]
pub(super) struct Told {
    shown: HashMap<Mistake, String>,
}

impl Told {
    /// The section of a file in which tests cannot be looked for, or a line if it has been
    /// told for another file.
    pub(super) fn collect_error(
        &mut self,
        db: &Database,
        style: Style,
        e: &CollectError,
    ) -> String {
        let (new, references) = self.divided(db, &e.diagnostics, &e.file);
        if new.is_empty() {
            return named(style, &e.file, &references);
        }
        let shown = CollectError {
            diagnostics: new,
            ..e.clone()
        };
        failure::collect_error(db, style, &shown) + &lines(&references)
    }

    /// The section of a failed test, or a line if another test has failed for the same
    /// reason.
    pub(super) fn section(&mut self, db: &Database, style: Style, r: &TestResult) -> String {
        if style.traceback == Traceback::Line {
            return failure::line(style, r);
        }
        if let TestOutcome::Failed(TestFailure::NotCompiled(all)) = &r.outcome {
            let (new, references) = self.divided(db, all, &r.id);
            if new.is_empty() {
                return named(style, &r.id, &references);
            }
            return failure::not_compiled(style, r, &diagnostics(db, style, &new))
                + &lines(&references);
        }
        let Some((mistake, place)) = mistake(db, r) else {
            return failure::section(db, style, r);
        };
        match self.shown.get(&mistake) {
            Some(first) => {
                let what = failure_of(r).map_or_else(String::new, TestFailure::headline);
                named(style, &r.id, &[format!("{what} ({place}see {first})")])
            }
            None => {
                self.shown.insert(mistake, r.id.clone());
                failure::section(db, style, r)
            }
        }
    }

    /// Diagnostics that have not been shown yet, and references to the others.
    fn divided(
        &mut self,
        db: &Database,
        all: &[Diagnostic],
        owner: &str,
    ) -> (Vec<Diagnostic>, Vec<String>) {
        let (mut new, mut references) = (Vec::new(), Vec::new());
        for d in all {
            let mistake = Mistake::Diagnostic(d.code, d.primary, d.message.clone());
            match self.shown.get(&mistake) {
                Some(first) if first != owner => {
                    let place = d.primary.map_or_else(String::new, |s| {
                        let line = position(db, s).start.0;
                        format!("{}:{line}, ", shown_path(db, s.file.path(db)))
                    });
                    let text = format!("[{}] {} ({place}see {first})", d.code, d.message);
                    references.push(text);
                }
                _ => {
                    self.shown.insert(mistake, owner.to_owned());
                    new.push(d.clone());
                }
            }
        }
        (new, references)
    }
}

fn failure_of(r: &TestResult) -> Option<&TestFailure> {
    match &r.outcome {
        TestOutcome::Failed(failure) => Some(failure),
        _ => None,
    }
}

/// What a test failed of, if others can fail of the same, and where that is.
fn mistake(db: &Database, r: &TestResult) -> Option<(Mistake, String)> {
    // What a test printed is shown with it.
    if !r.output.is_empty() {
        return None;
    }
    match failure_of(r)? {
        TestFailure::NotRun(why) => Some((Mistake::Reason(why.clone()), String::new())),
        failure @ TestFailure::Exception { .. } => {
            // Where a test is RPython, each way to an exception may be of interest.
            r.interpreted.as_ref().filter(|why| !why.is_empty())?;
            let frame = r.traceback.last()?;
            let file = shown_path(db, frame.file.as_str().into());
            let place = format!("{file}:{}, ", frame.line);
            Some((Mistake::Exception(failure.headline(), place.clone()), place))
        }
        _ => None,
    }
}

fn lines(references: &[String]) -> String {
    references.iter().map(|r| format!("{r}\n")).collect()
}

/// A test or file, with what is shown elsewhere, a line each.
fn named(style: Style, name: &str, references: &[String]) -> String {
    let name = style.paint(color::RED, name);
    let mut out = String::new();
    for r in references {
        let _ = writeln!(out, "{name}: {r}");
    }
    out
}
