//! Levels of warnings: those of the project that a file belongs to, and comments that suppress a warning.
//!
//! ```text
//! if a == b:  # noqa: TP0430      no such warning in this line; without codes none at all
//! # taipan: noqa: TP0430          no such warning in the file
//! ```

use camino::Utf8Path;
use taipan_base::{Db, Diagnostic, ErrorCode, Level, Severity, Span};

use crate::config::find_config;

/// Leaves out warnings that are ignored, and makes errors of those that the project calls errors.
pub(crate) fn with_levels(db: &dyn Db, found: &mut Vec<Diagnostic>) {
    found.retain_mut(|d| {
        if d.severity == Severity::Error {
            return true;
        }
        let folder = d.primary.and_then(|s| s.file.path(db).parent());
        let level = folder.and_then(|f| level_in(db, f, d.code));
        match level.or(d.code.level()) {
            Some(Level::Ignore) => return false,
            Some(Level::Error) => d.severity = Severity::Error,
            Some(Level::Warn) | None => {}
        }
        !d.primary
            .is_some_and(|s| is_suppressed(s.file.text(db), s, d.code))
    });
}

fn level_in(db: &dyn Db, folder: &Utf8Path, code: ErrorCode) -> Option<Level> {
    let (_, read) = find_config(db, folder)?;
    let rules = &read.config.as_ref()?.rules;
    rules
        .iter()
        .find(|(c, _)| *c == code)
        .map(|(_, level)| *level)
}

/// Whether a comment in the first or last line of a place, or one for the whole file, suppresses warnings with a code.
fn is_suppressed(text: &str, span: Span, code: ErrorCode) -> bool {
    let line_at = |at: u32| {
        let at = (at as usize).min(text.len());
        let start = text.as_bytes()[..at].iter().rposition(|b| *b == b'\n');
        let rest = &text[start.map_or(0, |i| i + 1)..];
        rest.split('\n').next().unwrap_or("")
    };
    let end = span.range.end.saturating_sub(1).max(span.range.start);
    let in_line = |line: &str| {
        let comments = line.match_indices('#').map(|(i, _)| &line[i + 1..]);
        comments.filter_map(noqa).any(|codes| names(codes, code))
    };
    in_line(line_at(span.range.start))
        || in_line(line_at(end))
        || text
            .lines()
            .filter_map(of_file)
            .any(|codes| names(codes, code))
}

/// The text after `noqa` in a comment for the whole file.
fn of_file(line: &str) -> Option<&str> {
    let comment = line.trim_start().strip_prefix('#')?.trim_start();
    noqa(comment.strip_prefix("taipan:")?)
}

/// The text after `noqa` at the start of a comment.
fn noqa(comment: &str) -> Option<&str> {
    let comment = comment.trim_start();
    let word = comment.get(..4)?;
    let rest = &comment[4..];
    let ends = !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    (word.eq_ignore_ascii_case("noqa") && ends).then_some(rest)
}

/// Whether codes behind `noqa` contain one; all do where there are none.
fn names(codes: &str, code: ErrorCode) -> bool {
    match codes.trim_start().strip_prefix(':') {
        None => true,
        Some(list) => list
            .split([',', ' '])
            .any(|c| c.trim().eq_ignore_ascii_case(code.as_str())),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::Database;
    use taipan_base::{MemorySystem, TextRange};

    /// Severities of a warning of each kind in the second line of a file, after the project's say.
    fn told(config: &str, text: &str) -> Vec<(ErrorCode, Severity)> {
        let system = MemorySystem::new(&[]);
        system.write("/p/pyproject.toml", config);
        system.write("/p/lib/a.py", text);
        let db = Database::new(Arc::new(system));
        let file = db.files().get(&db, Utf8Path::new("/p/lib/a.py"));
        let at = text.find('\n').unwrap() as u32 + 1;
        let range = TextRange::new(at, at + 1);
        let codes = [ErrorCode::IgnoredComparison, ErrorCode::DeadOperation];
        let warning = |code: ErrorCode| {
            let mut d = Diagnostic::error(code, Some(Span { file, range }), "x");
            d.severity = Severity::Warning;
            d
        };
        let mut found: Vec<Diagnostic> = codes.map(warning).to_vec();
        with_levels(&db, &mut found);
        found.iter().map(|d| (d.code, d.severity)).collect()
    }

    #[test]
    fn levels_of_a_project() {
        use Severity::{Error, Warning};
        let (compared, dead) = (ErrorCode::IgnoredComparison, ErrorCode::DeadOperation);
        let table = |rules: &str| format!("[tool.taipan.rules]\n{rules}\n");
        let plain = "import os\nx = 1\n";
        assert_eq!(told("", plain), [(compared, Warning), (dead, Warning)]);
        assert_eq!(
            told(&table("TP0317 = 'ignore'"), plain),
            [(compared, Warning)]
        );
        assert_eq!(
            told(&table("TP0317 = 'error'\nTP0430 = 'warn'"), plain),
            [(compared, Warning), (dead, Error)]
        );
    }

    #[test]
    fn comments_suppress() {
        let codes = |text: &str| {
            let all = told("", text).into_iter().map(|(code, _)| code);
            all.map(ErrorCode::as_str).collect::<Vec<_>>()
        };
        let both = ["TP0430", "TP0317"];
        assert_eq!(codes("\nx = 1  # noqa\n"), [""; 0]);
        assert_eq!(codes("\nx = 1  # NOQA: tp0430\n"), ["TP0317"]);
        assert_eq!(codes("\nx = 1  # why # noqa: E501, TP0317\n"), ["TP0430"]);
        assert_eq!(codes("\nx = 1  # noqa: E501\n"), both);
        assert_eq!(codes("# noqa\nx = 1  # noqability\n"), both);
        assert_eq!(codes("# taipan: noqa\nx = 1\n"), [""; 0]);
        assert_eq!(codes("\nx = 1\n# taipan: noqa: TP0317\n"), ["TP0430"]);
    }
}
