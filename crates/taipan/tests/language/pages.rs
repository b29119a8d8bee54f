//! The examples of docs/language, as they stand in the pages.

use std::fmt::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A program and calls of its functions.
pub(crate) struct Example {
    /// The line of its fence.
    pub(crate) line: usize,
    pub(crate) program: String,
    pub(crate) calls: Vec<Call>,
    /// Where all that stands in the page.
    at: Range<usize>,
}

/// `>>> FUNCTION(ARGUMENTS)  # Python: RESULT`, and what comes of it.
#[derive(Clone)]
pub(crate) struct Call {
    pub(crate) text: String,
    /// What CPython gives, where that is something else.
    pub(crate) python: Option<String>,
    /// A value, `raises CLASS` or `error[CODE]: MESSAGE`.
    pub(crate) outcome: String,
}

impl Call {
    pub(crate) fn function(&self) -> &str {
        self.text.split('(').next().unwrap_or_default()
    }

    /// The arguments, each by itself.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let (_, rest) = self.text.split_once('(').unwrap_or_default();
        let inside = rest.strip_suffix(')').unwrap_or(rest);
        let mut out = vec![String::new()];
        let (mut depth, mut quote, mut escaped) = (0, None, false);
        for c in inside.chars() {
            if quote.is_none() && depth == 0 && c == ',' {
                out.push(String::new());
                continue;
            }
            match (quote, c) {
                (None, '\'' | '"') => quote = Some(c),
                (None, '(' | '[') => depth += 1,
                (None, ')' | ']') => depth -= 1,
                (Some(q), c) if c == q && !escaped => quote = None,
                _ => {}
            }
            escaped = c == '\\' && !escaped;
            if let Some(last) = out.last_mut() {
                last.push(c);
            }
        }
        out.retain(|a| !a.trim().is_empty());
        out
    }

    pub(crate) fn is_refused(&self) -> bool {
        self.outcome.starts_with("error[")
    }
}

pub(crate) fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// The names of the pages.
pub(crate) fn names() -> Vec<String> {
    let files = std::fs::read_dir(docs().join("language")).expect("there is a reference");
    let mut names: Vec<String> = files
        .filter_map(|f| f.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".md"))
        .collect();
    names.sort();
    names
}

pub(crate) fn read(name: &str) -> String {
    std::fs::read_to_string(docs().join("language").join(name)).expect("a page")
}

/// The blocks of Python of a page; or what is wrong with one.
pub(crate) fn examples(page: &str) -> Result<Vec<Example>, String> {
    const FENCE: &str = "```python\n";
    let mut out = Vec::new();
    let mut from = 0;
    while let Some(i) = page[from..].find(FENCE) {
        let start = from + i + FENCE.len();
        let line = page[..start].matches('\n').count();
        let length = page[start..].find("\n```\n").ok_or("a block without end")? + 1;
        from = start + length;
        let body = &page[start..from];
        let first = body
            .find("\n>>> ")
            .ok_or_else(|| format!("line {line}: an example without calls"))?;
        let mut calls: Vec<Call> = Vec::new();
        for text in body[first + 1..].lines() {
            match (text.strip_prefix(">>> "), calls.last_mut()) {
                (Some(call), _) => {
                    let (text, python) = match call.split_once("  # Python: ") {
                        Some((text, python)) => (text, Some(python.to_owned())),
                        None => (call, None),
                    };
                    let text = text.to_owned();
                    let outcome = String::new();
                    calls.push(Call {
                        text,
                        python,
                        outcome,
                    });
                }
                (None, Some(call)) => call.outcome += text,
                (None, None) => {}
            }
        }
        out.push(Example {
            line,
            program: body[..=first].to_owned(),
            calls,
            at: start..from,
        });
    }
    Ok(out)
}

/// The page with examples as they are now.
pub(crate) fn with_examples(page: &str, examples: &[Example]) -> String {
    let mut out = page.to_owned();
    for e in examples.iter().rev() {
        let mut body = e.program.clone();
        for c in &e.calls {
            let _ = write!(body, ">>> {}", c.text);
            if let Some(python) = &c.python {
                let _ = write!(body, "  # Python: {python}");
            }
            let _ = write!(body, "\n{}\n", c.outcome);
        }
        out.replace_range(e.at.clone(), &body);
    }
    out
}
