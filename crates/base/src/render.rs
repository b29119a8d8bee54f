//! Diagnostics as text, JSON and SARIF.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet, renderer::DecorStyle};
use camino::Utf8Path;
use serde_json::{Value, json};

use crate::{Db, Diagnostic, LineIndex, Note, Severity, Span, TextRange};

/// Lines longer than this are cut around the place that matters (generated and
/// minified files).
const LONGEST_LINE: usize = 300;

/// A path as text for people has it: relative for what is below the current folder. What
/// programs read (JSON, SARIF) has absolute paths.
pub fn shown_path<'p>(db: &dyn Db, path: &'p Utf8Path) -> &'p Utf8Path {
    let below = db
        .system()
        .current_folder()
        .and_then(|f| path.strip_prefix(f).ok());
    below.filter(|p| !p.as_str().is_empty()).unwrap_or(path)
}

/// A message about files, with the paths of those below the current folder as they are shown.
fn shown_text(db: &dyn Db, text: &str) -> String {
    match db.system().current_folder() {
        Some(folder) if folder.as_str() != "/" => text.replace(&format!("{folder}/"), ""),
        _ => text.to_owned(),
    }
}

/// The diagnostic as rustc would print it, with colours if asked for.
pub fn render_text(db: &dyn Db, d: &Diagnostic, color: bool) -> String {
    let renderer = if color {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    let renderer = renderer.decor_style(DecorStyle::Ascii);
    let level = match d.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let message = shown_text(db, &d.message);
    let mut groups = Vec::new();
    let beside = other_side(db, d);
    let excerpt = d.primary.map(|span| match beside {
        Some((_, other)) => Excerpt::of_both(db, span, other),
        None => Excerpt::new(db, span),
    });
    let mut first =
        (level.primary_title(message.as_str()).id(d.code.as_str())).elements(excerpt.map(|e| {
            let other = e.other.clone();
            let snippet = e.snippet(AnnotationKind::Primary, &d.label);
            match (other, beside) {
                (Some(other), Some((note, _))) => {
                    let annotation = AnnotationKind::Context.span(other);
                    snippet.annotation(annotation.label(note.message.as_str()))
                }
                _ => snippet,
            }
        }));
    let notes = shown_notes(d, beside.is_some());
    for (span, message) in &notes {
        match span {
            None => first = first.element(Level::NOTE.message(message.as_str())),
            Some(span) => {
                groups.push(std::mem::replace(
                    &mut first,
                    Group::with_title(Level::NOTE.secondary_title(message.as_str()))
                        .element(Excerpt::new(db, *span).snippet(AnnotationKind::Primary, "")),
                ));
            }
        }
    }
    let help = d.help.as_ref().map(ToString::to_string);
    if let Some(help) = &help {
        first = first.element(Level::HELP.message(help.as_str()));
    }
    groups.push(first);
    renderer.render(&groups)
}

/// The notes of a diagnostic as text shows them. Each place is shown once: notes about the primary place are below it, and
/// those about another place are one note. `beside`: notes with places are in the excerpt already.
fn shown_notes(d: &Diagnostic, beside: bool) -> Vec<(Option<Span>, String)> {
    let own = |n: &Note| n.span.is_some() && n.span == d.primary;
    let (here, elsewhere): (Vec<&Note>, Vec<&Note>) = (d.notes.iter())
        .filter(|n| !(n.in_label || beside && n.span.is_some()))
        .partition(|n| own(n));
    let mut notes: Vec<(Option<Span>, Vec<&str>)> = Vec::new();
    for (note, span) in here
        .into_iter()
        .map(|n| (n, None))
        .chain(elsewhere.into_iter().map(|n| (n, n.span)))
    {
        let message = note.message.as_str();
        let same = |(at, _): &&mut (Option<Span>, Vec<&str>)| span.is_some() && *at == span;
        match notes.iter_mut().find(same) {
            Some((_, messages)) if messages.contains(&message) => {}
            Some((_, messages)) => messages.push(message),
            None => notes.push((span, vec![message])),
        }
    }
    let joined = |(span, messages): (_, Vec<&str>)| (span, messages.join("; "));
    notes.into_iter().map(joined).collect()
}

/// The note about the other one of two places that do not go together, if the two can stand
/// in one excerpt. The note about the place of the diagnostic itself says no more than its label.
fn other_side<'d>(db: &dyn Db, d: &'d Diagnostic) -> Option<(&'d Note, Span)> {
    let primary = d.primary.filter(|_| !d.label.is_empty())?;
    let mut placed = d.notes.iter().filter_map(|n| Some((n, n.span?)));
    let (a, b) = (placed.next()?, placed.next()?);
    let (own, other) = if b.1 == primary { (b, a) } else { (a, b) };
    let text = primary.file.text(db);
    let one_line = |s: Span| {
        let (start, end) = (s.range.start as usize, s.range.end as usize);
        text.get(start..end).is_some_and(|t| !t.contains('\n'))
    };
    let near = other.1.file == primary.file
        && other.1 != primary
        && placed.next().is_none()
        && own.1 == primary
        && own.0.in_label
        && one_line(primary)
        && one_line(other.1)
        && text.lines().all(|l| l.len() <= LONGEST_LINE);
    near.then_some(other)
}

/// The lines around a span, as much of them as is worth showing.
struct Excerpt {
    path: String,
    source: String,
    line: usize,
    span: Range<usize>,
    /// A second place in the same lines.
    other: Option<Range<usize>>,
}

impl Excerpt {
    fn new(db: &dyn Db, span: Span) -> Excerpt {
        let text = span.file.text(db);
        let floor = |mut i: usize| {
            i = i.min(text.len());
            while !text.is_char_boundary(i) {
                i -= 1;
            }
            i
        };
        let (start, mut end) = (
            floor(span.range.start as usize),
            floor(span.range.end as usize),
        );
        let mut from = text[..start].rfind('\n').map_or(0, |i| i + 1);
        // Of a long span only the first line is shown.
        let line_end = text[start..].find('\n').map_or(text.len(), |i| start + i);
        end = end.clamp(start, line_end);
        let mut to = line_end;
        if start - from > LONGEST_LINE {
            from = floor(start - LONGEST_LINE / 2);
        }
        if to > start + LONGEST_LINE {
            to = floor(start + LONGEST_LINE);
            end = end.min(to);
        }
        Excerpt {
            path: shown_path(db, span.file.path(db)).to_string(),
            source: text[from..to].to_owned(),
            line: text[..start].bytes().filter(|b| *b == b'\n').count() + 1,
            span: start - from..end - from,
            other: None,
        }
    }

    /// The lines of two places, each on one line.
    fn of_both(db: &dyn Db, span: Span, other: Span) -> Excerpt {
        let text = span.file.text(db);
        let range = |s: Span| s.range.start as usize..s.range.end as usize;
        let (a, b) = (range(span), range(other));
        let from = text[..a.start.min(b.start)]
            .rfind('\n')
            .map_or(0, |i| i + 1);
        let last = a.end.max(b.end);
        let to = text[last..].find('\n').map_or(text.len(), |i| last + i);
        Excerpt {
            path: shown_path(db, span.file.path(db)).to_string(),
            source: text[from..to].to_owned(),
            line: text[..from].bytes().filter(|b| *b == b'\n').count() + 1,
            span: a.start - from..a.end - from,
            other: Some(b.start - from..b.end - from),
        }
    }

    fn snippet<'a>(
        self,
        kind: AnnotationKind,
        label: &'a str,
    ) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
        let annotation = kind.span(self.span);
        let annotation = if label.is_empty() {
            annotation
        } else {
            annotation.label(label)
        };
        Snippet::source(self.source)
            .line_start(self.line)
            .path(self.path)
            .annotation(annotation)
    }
}

/// A span as lines and columns, 1-based, columns in characters.
pub struct Position {
    /// Path of the file.
    pub file: String,
    /// Line and column of the first character.
    pub start: (u32, u32),
    /// Line and column one past the last character.
    pub end: (u32, u32),
}

/// Where a span is.
pub fn position(db: &dyn Db, span: Span) -> Position {
    let text = span.file.text(db);
    let index = LineIndex::new(text);
    let TextRange { start, end } = span.range;
    Position {
        file: span.file.path(db).to_string(),
        start: index.line_column(text, start),
        end: index.line_column(text, end.max(start)),
    }
}

/// The array that `taipan check --format json` prints.
pub fn render_json(db: &dyn Db, diagnostics: &[Diagnostic]) -> Value {
    Value::Array(
        diagnostics
            .iter()
            .map(|d| {
                let place = d.primary.map(|s| position(db, s));
                let (start, end) = place
                    .as_ref()
                    .map_or(((1, 1), (1, 1)), |p| (p.start, p.end));
                let notes: Vec<Value> = d
                    .notes
                    .iter()
                    .map(|n| {
                        let at = n.span.map(|s| position(db, s));
                        json!({
                            "file": at.as_ref().map(|p| p.file.clone()),
                            "line": at.as_ref().map(|p| p.start.0),
                            "column": at.as_ref().map(|p| p.start.1),
                            "message": n.message,
                        })
                    })
                    .collect();
                json!({
                    "code": d.code.as_str(),
                    "severity": severity(d),
                    "file": place.map(|p| p.file),
                    "line": start.0,
                    "column": start.1,
                    "end_line": end.0,
                    "end_column": end.1,
                    "message": d.message,
                    "notes": notes,
                    "help": d.help.as_ref().map(ToString::to_string),
                })
            })
            .collect(),
    )
}

fn severity(d: &Diagnostic) -> &'static str {
    match d.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

/// A SARIF 2.1.0 log of one run.
pub fn render_sarif(db: &dyn Db, diagnostics: &[Diagnostic]) -> Value {
    let location = |span: Span, message: Option<&str>| {
        let p = position(db, span);
        let mut value = json!({"physicalLocation": {
            "artifactLocation": {"uri": p.file},
            "region": {
                "startLine": p.start.0, "startColumn": p.start.1,
                "endLine": p.end.0, "endColumn": p.end.1,
            },
        }});
        if let Some(m) = message {
            value["message"] = json!({"text": m});
        }
        value
    };
    let results: Vec<Value> = diagnostics
        .iter()
        .map(|d| {
            let related: Vec<Value> = d
                .notes
                .iter()
                .filter_map(|n| Some(location(n.span?, Some(&n.message))))
                .collect();
            json!({
                "ruleId": d.code.as_str(),
                "level": severity(d),
                "message": {"text": d.message},
                "locations": d.primary.iter().map(|s| location(*s, None)).collect::<Vec<_>>(),
                "relatedLocations": related,
            })
        })
        .collect();
    json!({
        "version": "2.1.0",
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "runs": [{
            "tool": {"driver": {"name": "taipan", "version": env!("CARGO_PKG_VERSION")}},
            "results": results,
        }],
    })
}
