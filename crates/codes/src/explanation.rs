//! An explanation, and how it is written down.

use crate::ErrorCode;

/// What a code means.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Explanation {
    /// Of what.
    pub code: ErrorCode,
    /// What is wrong, in a few words.
    pub title: &'static str,
    /// All that there is to say, in order.
    pub pieces: Vec<Piece>,
}

/// A part of an explanation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Piece {
    /// A paragraph of Markdown.
    Text(&'static str),
    /// ErrorCode.
    Example(Example),
}

/// A program, or a file of configuration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Example {
    /// Whether it has the mistake; else it shows how to do it.
    pub is_wrong: bool,
    /// `python` or `toml`
    pub language: &'static str,
    /// The arguments of `taipan` that show it, for what `taipan check` does not report. The
    /// program is called `main.py` there.
    pub command: Option<&'static str>,
    /// The text.
    pub source: &'static str,
}

impl Explanation {
    /// The examples.
    pub fn examples(&self) -> impl Iterator<Item = &Example> {
        self.pieces.iter().filter_map(|p| match p {
            Piece::Example(e) => Some(e),
            Piece::Text(_) => None,
        })
    }
}

const FENCE: &str = "```";

/// Reads a file: a title, paragraphs, and blocks of code whose first line is
/// `LANGUAGE wrong` or `LANGUAGE right`, maybe with `taipan="ARGUMENTS"`. What does not look
/// so is text: a test says that nothing of an explanation is lost or misplaced.
pub(crate) fn parse(code: ErrorCode, text: &'static str) -> Explanation {
    let (title, mut rest) = text.split_once('\n').unwrap_or((text, ""));
    let mut pieces = Vec::new();
    while let Some((before, from)) = rest.split_once(FENCE) {
        pieces.extend(paragraphs(before));
        let (head, from) = from.split_once('\n').unwrap_or((from, ""));
        let (source, after) = from.split_once(FENCE).unwrap_or((from, ""));
        let (language, head) = head.split_once(' ').unwrap_or((head, ""));
        let (kind, options) = head.split_once(' ').unwrap_or((head, ""));
        let command = options.strip_prefix("taipan=\"");
        pieces.push(Piece::Example(Example {
            is_wrong: kind == "wrong",
            language,
            command: command.and_then(|c| c.strip_suffix('"')),
            source,
        }));
        rest = after;
    }
    pieces.extend(paragraphs(rest));
    Explanation {
        code,
        title: title.strip_prefix("# ").unwrap_or(title),
        pieces,
    }
}

fn paragraphs(text: &'static str) -> impl Iterator<Item = Piece> {
    let paragraphs = text.split("\n\n").map(str::trim);
    paragraphs.filter(|p| !p.is_empty()).map(Piece::Text)
}
