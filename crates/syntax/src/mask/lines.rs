//! Logical lines: their indentation, and replacements for those that are wrong.
//!
//! ```text
//! while (x:              while 1:
//!     y = )                  0
//!       z = 1                z = 1
//! ```
//!
//! A wrong statement is replaced by one of the same kind that the grammar accepts, so
//! that it takes no other down with it.

use taipan_base::TextRange;

use super::{Insertion, LexError, Masked};

/// More levels of indentation than CPython accepts are refused.
const MAX_INDENT: usize = 100;

/// The word that a line starts with, where it opens a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Keyword {
    If,
    Elif,
    Else,
    For,
    While,
    Try,
    Except,
    Finally,
    With,
    Def,
    Class,
}

impl Keyword {
    pub(super) fn from_word(word: &[u8]) -> Option<Keyword> {
        Some(match word {
            b"if" => Keyword::If,
            b"elif" => Keyword::Elif,
            b"else" => Keyword::Else,
            b"for" => Keyword::For,
            b"while" => Keyword::While,
            b"try" => Keyword::Try,
            b"except" => Keyword::Except,
            b"finally" => Keyword::Finally,
            b"with" => Keyword::With,
            b"def" => Keyword::Def,
            b"class" => Keyword::Class,
            _ => return None,
        })
    }

    /// What stands for a wrong line that starts with it.
    fn replacement(self) -> &'static str {
        match self {
            Keyword::If | Keyword::With => "if 1:",
            Keyword::Elif => "elif 1:",
            Keyword::Else => "else:",
            Keyword::For | Keyword::While => "while 1:",
            Keyword::Try => "try:",
            Keyword::Except => "except:",
            Keyword::Finally => "finally:",
            Keyword::Def => "def _():",
            Keyword::Class => "class _:",
        }
    }
}

/// A logical line that is not blank.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Line {
    /// From its first token up to its line break.
    pub(crate) range: TextRange,
    /// Where its indentation starts.
    pub(crate) indent_start: u32,
    /// Width of its indentation.
    pub(crate) width: u32,
    /// The keyword that it starts with.
    pub(crate) keyword: Option<Keyword>,
    /// Whether its keyword's colon is there.
    pub(crate) colon: bool,
    /// Whether something follows the colon.
    pub(crate) inline: bool,
    /// Whether it is wrong and has to be replaced.
    pub(crate) bad: bool,
    /// Whether an error was reported about it.
    pub(crate) reported: bool,
}

/// A change to the text of the same length, with what does not fit.
struct Edit {
    range: TextRange,
    text: Vec<u8>,
}

/// A level of indentation.
struct Level {
    /// Width in the original.
    width: u32,
    /// Width that the grammar gets.
    emitted: u32,
    /// What the last statement of the level was, as far as a clause may follow.
    last: Last,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    If,
    Loop,
    Try,
    Except,
    TryElse,
    Other,
}

/// Checks the lines' indentation and clauses, and replaces what is wrong.
pub(crate) fn replace_bad(m: &mut Masked) {
    let mut r = Replacer {
        levels: vec![Level {
            width: 0,
            emitted: 0,
            last: Last::Other,
        }],
        edits: Vec::new(),
        errors: Vec::new(),
        open: None,
        too_deep: false,
        lenient: false,
    };
    let mut lines = std::mem::take(&mut m.lines);
    for line in &mut lines {
        r.line(line, &m.text);
    }
    r.close_open();
    m.lines = lines;
    m.errors.append(&mut r.errors);
    apply(m, r.edits);
}

struct Replacer {
    levels: Vec<Level>,
    edits: Vec<Edit>,
    errors: Vec<LexError>,
    /// End of the line before, if a block must follow it, and whether an error was
    /// reported about it.
    open: Option<(u32, bool)>,
    /// Whether lines are left out for being nested too deeply.
    too_deep: bool,
    /// Whether lines may be indented more than the block around them: the first one
    /// was reported, or a wrong line stands before them.
    lenient: bool,
}

impl Replacer {
    fn error(&mut self, line: &mut Line, range: TextRange, message: impl Into<String>) {
        if !line.reported {
            line.reported = true;
            self.errors.push(LexError {
                range,
                message: message.into(),
            });
        }
    }

    /// Gives the block that a line asks for and that is not there.
    fn close_open(&mut self) {
        if let Some((end, reported)) = self.open.take() {
            if !reported {
                self.errors.push(LexError {
                    range: TextRange::new(end, end),
                    message: "expected an indented block".to_owned(),
                });
            }
            self.insert(end, " 0");
        }
    }

    fn insert(&mut self, at: u32, text: &str) {
        self.edits.push(Edit {
            range: TextRange::new(at, at),
            text: text.as_bytes().to_vec(),
        });
    }

    fn line(&mut self, line: &mut Line, text: &[u8]) {
        let emitted = match self.indent(line) {
            Some(emitted) => emitted,
            None => {
                let range = TextRange::new(line.indent_start, line.range.end);
                self.edits.push(Edit {
                    range,
                    text: Vec::new(),
                });
                return;
            }
        };
        if emitted != line.width {
            let range = TextRange::new(line.indent_start, line.range.start);
            let text = vec![b' '; emitted as usize];
            self.edits.push(Edit { range, text });
        }
        self.clause(line);
        let end = line.range.end;
        if line.keyword.is_some() && !line.colon {
            self.error(line, TextRange::new(end, end), "expected `:`");
            if !line.bad {
                self.insert(end, ":");
            }
        }
        if line.bad {
            self.replace(line, text);
            self.lenient |= line.keyword.is_none();
        }
        if line.keyword.is_some() && !line.inline {
            self.open = Some((end, line.reported));
        }
    }

    /// Finds the level of a line, and answers the width of indentation that the
    /// grammar is to see; `None` to leave the line out.
    fn indent(&mut self, line: &mut Line) -> Option<u32> {
        let current = self.levels.last().map_or(0, |l| l.width);
        let start = TextRange::new(line.range.start, line.range.start + 1);
        if line.width > current {
            if self.open.is_some() {
                if self.levels.len() > MAX_INDENT {
                    if !self.too_deep {
                        self.error(line, start, "nested too deeply");
                        self.too_deep = true;
                    }
                    return None;
                }
                self.open = None;
                let outer = self.levels.last().map_or(0, |l| l.emitted);
                // Where an outer level was moved this one may have to be too.
                let emitted = line.width.max(outer + 1);
                self.levels.push(Level {
                    width: line.width,
                    emitted,
                    last: Last::Other,
                });
            } else if !self.lenient {
                self.error(line, start, "unexpected indent");
                self.lenient = true;
            }
        } else {
            self.lenient = false;
            if self.too_deep {
                // The block that was left out.
                self.too_deep = false;
                if let Some((end, _)) = self.open.take() {
                    self.insert(end, " 0");
                }
            }
            self.close_open();
            while self.levels.len() > 1 && self.levels.last().is_some_and(|l| l.width > line.width)
            {
                self.levels.pop();
            }
            if self.levels.last().is_some_and(|l| l.width != line.width) {
                self.error(
                    line,
                    start,
                    "this indentation is none of the blocks around it",
                );
            }
        }
        self.levels.last().map(|l| l.emitted)
    }

    /// Checks that a clause follows a statement that may have it.
    fn clause(&mut self, line: &mut Line) {
        let last = self.levels.last().map_or(Last::Other, |l| l.last);
        let (fits, next, needs) = match line.keyword {
            Some(Keyword::If) => (true, Last::If, ""),
            Some(Keyword::For | Keyword::While) => (true, Last::Loop, ""),
            Some(Keyword::Try) => (true, Last::Try, ""),
            Some(Keyword::Elif) => (last == Last::If, Last::If, "`elif` has no `if` before it"),
            Some(Keyword::Else) => (
                matches!(last, Last::If | Last::Loop | Last::Except),
                if last == Last::Except {
                    Last::TryElse
                } else {
                    Last::Other
                },
                "`else` has no `if`, loop or `except` before it",
            ),
            Some(Keyword::Except) => (
                matches!(last, Last::Try | Last::Except),
                Last::Except,
                "`except` has no `try` before it",
            ),
            Some(Keyword::Finally) => (
                matches!(last, Last::Try | Last::Except | Last::TryElse),
                Last::Other,
                "`finally` has no `try` before it",
            ),
            _ => (true, Last::Other, ""),
        };
        if !fits {
            self.error(line, line.range, needs);
            line.keyword = Some(Keyword::If);
            line.bad = true;
        }
        if let Some(level) = self.levels.last_mut() {
            level.last = next;
        }
    }

    fn replace(&mut self, line: &Line, text: &[u8]) {
        let mut new = match line.keyword {
            None => b"0".to_vec(),
            Some(keyword) => {
                let mut new = keyword.replacement().as_bytes().to_vec();
                if matches!(keyword, Keyword::Def | Keyword::Class)
                    && let Some(name) = defined_name(text, line.range)
                {
                    new = text[line.range.start as usize..name].to_vec();
                    new.extend(if keyword == Keyword::Def { "():" } else { ":" }.bytes());
                }
                new
            }
        };
        if line.inline {
            new.extend(b" 0");
        }
        self.edits.push(Edit {
            range: line.range,
            text: new,
        });
    }
}

/// End of the name in `def NAME` or `class NAME`.
fn defined_name(text: &[u8], range: TextRange) -> Option<usize> {
    let end = range.end as usize;
    let mut at = range.start as usize;
    while at < end && text[at].is_ascii_alphabetic() {
        at += 1;
    }
    let gap = at;
    while at < end && text[at] == b' ' {
        at += 1;
    }
    let start = at;
    while at < end && (text[at].is_ascii_alphanumeric() || text[at] == b'_') {
        at += 1;
    }
    (start > gap && at > start && !text[start].is_ascii_digit()).then_some(at)
}

/// Rewrites the text. An edit's place is filled up with blanks, or grows.
fn apply(m: &mut Masked, mut edits: Vec<Edit>) {
    if edits.is_empty() {
        return;
    }
    edits.sort_by_key(|e| e.range.start);
    let mut out = Vec::with_capacity(m.text.len() + edits.len());
    let mut at = 0;
    for e in edits {
        let (start, end) = (e.range.start as usize, e.range.end as usize);
        if start < at {
            continue; // an insertion into what was replaced
        }
        out.extend_from_slice(&m.text[at..start]);
        let room = end - start;
        out.extend_from_slice(&e.text);
        if e.text.len() < room {
            out.resize(out.len() + room - e.text.len(), b' ');
        } else if e.text.len() > room {
            let n = (e.text.len() - room) as u32;
            let total = m.inserted.last().map_or(0, |i| i.total) + n;
            m.inserted.push(Insertion {
                at: e.range.end,
                n,
                total,
            });
        }
        at = end;
    }
    out.extend_from_slice(&m.text[at..]);
    m.text = out;
}
