//! Logical lines: their indentation, and replacements for those that are wrong.
//!
//! ```text
//! while (x:              while 0:
//!     y = )               0
//!       z = 1             a=0
//! ```
//!
//! A wrong statement is replaced by one of the same kind that the grammar accepts, so
//! that it takes no other down with it.

use taipan_base::TextRange;

use super::lex::Item;
use super::{Mark, Masked, Token};
use crate::SyntaxError;

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
            Keyword::If | Keyword::With => "if 0:",
            Keyword::Elif => "elif 0:",
            Keyword::Else => "else:",
            Keyword::For | Keyword::While => "while 0:",
            Keyword::Try => "try:",
            Keyword::Except => "except:",
            Keyword::Finally => "finally:",
            Keyword::Def => "def a():",
            Keyword::Class => "class a:",
        }
    }
}

/// A logical line that is not blank.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Line {
    /// From its first token to its last.
    pub(crate) range: TextRange,
    /// Where it stands in the written text.
    pub(crate) text: (u32, u32),
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

/// A level of indentation.
struct Level {
    width: u32,
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

/// Checks the lines' indentation and clauses, and writes the text.
pub(super) struct Writer {
    levels: Vec<Level>,
    /// Place of the line before, if a block must follow it, and whether an error was
    /// reported about it.
    open: Option<(u32, bool)>,
    /// Whether lines are left out for being nested too deeply.
    too_deep: bool,
    /// Whether lines may be indented more than the block around them: the first one
    /// was reported, or a wrong line stands before them.
    lenient: bool,
}

impl Writer {
    pub(super) fn new() -> Writer {
        Writer {
            levels: vec![Level {
                width: 0,
                last: Last::Other,
            }],
            open: None,
            too_deep: false,
            lenient: false,
        }
    }

    /// Writes a line with its tokens.
    pub(super) fn line(&mut self, m: &mut Masked, mut line: Line, items: &[Item<'_>]) {
        if let Some(level) = self.indent(m, &mut line) {
            self.clause(m, &mut line);
            let end = TextRange::new(line.range.end, line.range.end);
            if line.keyword.is_some() && !line.colon {
                error(m, &mut line, end, "expected `:`");
            }
            m.text.resize(m.text.len() + level, b' ');
            let start = m.text.len();
            if line.bad {
                write_replacement(m, &line, items);
                self.lenient |= line.keyword.is_none();
            } else {
                for item in items {
                    if item.space {
                        m.text.push(b' ');
                    }
                    put(m, item.text, item.range, item.mark);
                }
                if line.keyword.is_some() && !line.colon {
                    put(m, b":", end, Mark::Replacement);
                }
            }
            line.text = (start as u32, m.text.len() as u32);
            m.text.push(b'\n');
            if line.keyword.is_some() && !line.inline {
                self.open = Some((line.range.end, line.reported));
            }
        }
        m.lines.push(line);
    }

    /// Ends the text.
    pub(super) fn finish(mut self, m: &mut Masked) {
        self.close_open(m);
        fill(m);
    }

    /// Writes the block that a line asks for and that is not there.
    fn close_open(&mut self, m: &mut Masked) {
        let Some((end, reported)) = self.open.take() else {
            return;
        };
        let range = TextRange::new(end, end);
        if !reported {
            m.errors.push(SyntaxError {
                range,
                problem: "expected an indented block".into(),
            });
        }
        m.text.pop(); // the line break
        put(m, b" 0", range, Mark::Replacement);
        m.text.push(b'\n');
    }

    /// The level of a line, or `None` to leave the line out.
    fn indent(&mut self, m: &mut Masked, line: &mut Line) -> Option<usize> {
        let current = self.levels.last().map_or(0, |l| l.width);
        let start = TextRange::new(line.range.start, line.range.start + 1);
        if line.width > current {
            if self.open.is_some() {
                if self.levels.len() > MAX_INDENT {
                    if !self.too_deep {
                        error(m, line, start, "nested too deeply");
                        self.too_deep = true;
                        // The block that is left out was not forgotten.
                        self.open = self.open.map(|(end, _)| (end, true));
                    }
                    return None;
                }
                self.open = None;
                self.levels.push(Level {
                    width: line.width,
                    last: Last::Other,
                });
            } else if !self.lenient {
                error(m, line, start, "unexpected indent");
                self.lenient = true;
            }
        } else {
            self.lenient = false;
            self.too_deep = false;
            self.close_open(m);
            while self.levels.len() > 1 && self.levels.last().is_some_and(|l| l.width > line.width)
            {
                self.levels.pop();
            }
            if self.levels.last().is_some_and(|l| l.width != line.width) {
                error(
                    m,
                    line,
                    start,
                    "this indentation is none of the blocks around it",
                );
            }
        }
        Some(self.levels.len() - 1)
    }

    /// Checks that a clause follows a statement that may have it.
    fn clause(&mut self, m: &mut Masked, line: &mut Line) {
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
            let range = line.range;
            error(m, line, range, needs);
            line.keyword = Some(Keyword::If);
            line.bad = true;
        }
        if let Some(level) = self.levels.last_mut() {
            level.last = next;
        }
    }
}

/// Reports the first problem of a line.
fn error(m: &mut Masked, line: &mut Line, range: TextRange, message: &str) {
    if !line.reported {
        line.reported = true;
        m.errors.push(SyntaxError {
            range,
            problem: message.into(),
        });
    }
}

/// Writes a token.
fn put(m: &mut Masked, text: &[u8], range: TextRange, mark: Mark) {
    fill(m);
    m.tokens.push(Token { range, mark });
    m.text.extend_from_slice(text);
    fill(m);
}

/// Gives the bytes written since to the last token.
fn fill(m: &mut Masked) {
    let last = m.tokens.len().saturating_sub(1) as u32;
    m.token_of.resize(m.text.len(), last);
}

/// Writes what stands for a wrong line.
fn write_replacement(m: &mut Masked, line: &Line, items: &[Item<'_>]) {
    match line.keyword {
        None => put(m, b"0", line.range, Mark::Replacement),
        Some(keyword) => {
            let named = matches!(keyword, Keyword::Def | Keyword::Class);
            match items {
                [word, name, ..] if named && name.text == super::lex::NAME => {
                    put(m, word.text, word.range, Mark::Plain);
                    m.text.push(b' ');
                    put(m, name.text, name.range, Mark::Plain);
                    let rest: &[u8] = match keyword {
                        Keyword::Def => b"():",
                        _ => b":",
                    };
                    put(m, rest, line.range, Mark::Replacement);
                }
                _ => {
                    let text = keyword.replacement().as_bytes();
                    put(m, text, line.range, Mark::Replacement);
                }
            }
        }
    }
    if line.inline {
        put(m, b" 0", line.range, Mark::Replacement);
    }
}
