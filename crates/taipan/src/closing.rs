//! The line that closes a command.

use std::time::{Duration, Instant};

use taipan_base::{Diagnostic, Severity};
use taipan_driver::Extent;

use crate::output::painted;

/// So many of something, in words.
pub(crate) fn count(n: usize, what: &str) -> String {
    match n {
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    }
}

/// How many errors and warnings there are; none if there is nothing wrong.
pub(crate) fn problems(found: &[Diagnostic]) -> Option<String> {
    let of = |s| found.iter().filter(|d| d.severity == s).count();
    match (of(Severity::Error), of(Severity::Warning)) {
        (0, 0) => None,
        (0, w) => Some(count(w, "warning")),
        (e, 0) => Some(count(e, "error")),
        (e, w) => Some(format!("{}, {}", count(e, "error"), count(w, "warning"))),
    }
}

/// `checked 12 files, 340 functions in 0.12 s: 2 warnings`, where `checked` is what was done
/// with the whole.
pub(crate) fn closing_line(
    (done, with): (&str, &str),
    extent: &Extent,
    since: Instant,
    problems: Option<&str>,
    ok: bool,
) -> String {
    let mut out = painted(ok, done);
    out.push_str(with);
    out.push_str(&counted(extent, since.elapsed()));
    if let Some(problems) = problems {
        out.push_str(": ");
        out.push_str(problems);
    }
    out.push('\n');
    out
}

fn counted(extent: &Extent, took: Duration) -> String {
    let mut out = format!(" {}", count(extent.files(), "file"));
    if extent.functions() > 0 {
        out.push_str(&format!(", {}", count(extent.functions(), "function")));
    }
    out.push_str(&format!(" in {:.2} s", took.as_secs_f64()));
    out
}
