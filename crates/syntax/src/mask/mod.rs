//! The pre-pass: rewrites a Python 2 text, byte for byte at the same length, into
//! one that the tree-sitter grammar reads without ambiguity, and remembers what
//! stood there.
//!
//! ```text
//! print >>f, `x`, ur"a" "b"   # why
//! del      f, (x), (       )
//! ```
//!
//! - A group of adjacent string literals becomes `(   )`; [`Masked::strings`] has
//!   the literals. The grammar's own strings know neither `ur''` nor Python 2's
//!   escapes, and quotes are where its error recovery goes astray.
//! - Statement `print` becomes `del` or `pass`, `exec` becomes `del`: keywords that
//!   take a list of expressions. [`Masked::marks`] tells them apart.
//! - Backquotes become parentheses.
//! - Words that newer grammars know as soft keywords (`match`, `type`, `async`, ...)
//!   lose their first letter to `_`; names are read from the original text.
//! - Comments, joined lines and line breaks inside brackets become blanks.
//! - Indentation by tabs is rewritten so that the grammar's scanner, which counts 8
//!   for a tab wherever it stands, finds the width that Python 2 gives it.
//!
//! It also finds what is wrong with brackets, strings, indentation and the clauses
//! of compound statements, and replaces the statements in question ([`lines`]): what
//! is left for the grammar to find is wrong within one line. Only such replacements
//! make the text longer; [`Masked::original`] maps offsets back.

mod lex;
mod lines;

use taipan_base::TextRange;

pub(crate) use lex::lex;
pub(crate) use lines::{Keyword, Line, replace_bad};

/// What a rewritten place was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mark {
    /// `print` with values.
    Print,
    /// `print >>`.
    PrintTo,
    /// `print` alone.
    PrintEmpty,
    /// `exec`
    Exec,
    /// An opening backquote.
    Backquote,
}

/// One string literal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Literal {
    /// All of it, prefix and quotes included.
    pub(crate) range: TextRange,
    /// Length of the prefix.
    pub(crate) prefix: u8,
    /// Whether it has three quotes on each side.
    pub(crate) triple: bool,
}

/// Adjacent string literals.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct StringGroup {
    /// Offset of the first.
    pub(crate) start: u32,
    /// First of its literals, as an index into [`Masked::literals`].
    pub(crate) first: u32,
    /// One past the last.
    pub(crate) end: u32,
}

/// A problem with its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct LexError {
    pub(crate) range: TextRange,
    pub(crate) message: String,
}

/// The rewritten text.
#[derive(Default)]
pub(crate) struct Masked {
    /// For tree-sitter.
    pub(crate) text: Vec<u8>,
    /// String groups, by original offset.
    strings: Vec<StringGroup>,
    /// Their literals.
    literals: Vec<Literal>,
    /// What was rewritten, by original offset.
    marks: Vec<(u32, Mark)>,
    /// The logical lines.
    pub(crate) lines: Vec<Line>,
    /// Problems.
    pub(crate) errors: Vec<LexError>,
    /// Where bytes were put in that the original does not have, by offset.
    inserted: Vec<Insertion>,
}

/// Bytes that the original does not have.
struct Insertion {
    /// Offset in the original that they stand before.
    at: u32,
    /// Their number.
    n: u32,
    /// The number of all up to these.
    total: u32,
}

impl Insertion {
    /// Offset in the rewritten text.
    fn start(&self) -> u32 {
        self.at + self.total - self.n
    }
}

impl Masked {
    /// The string group that starts there.
    pub(crate) fn string_at(&self, offset: u32) -> Option<&[Literal]> {
        let i = self
            .strings
            .binary_search_by_key(&offset, |g| g.start)
            .ok()?;
        let g = self.strings[i];
        Some(&self.literals[g.first as usize..g.end as usize])
    }

    /// What the place was rewritten from.
    pub(crate) fn mark_at(&self, offset: u32) -> Option<Mark> {
        let i = self.marks.binary_search_by_key(&offset, |m| m.0).ok()?;
        Some(self.marks[i].1)
    }

    /// Offset in the original text of an offset in [`Masked::text`].
    pub(crate) fn original(&self, offset: usize) -> u32 {
        let offset = offset as u32;
        let i = self.inserted.partition_point(|i| i.start() < offset);
        match i.checked_sub(1).map(|i| &self.inserted[i]) {
            None => offset,
            Some(i) if offset <= i.start() + i.n => i.at,
            Some(i) => offset - i.total,
        }
    }

    /// The line that covers an original offset, as an index.
    pub(crate) fn line_at(&self, offset: u32) -> Option<usize> {
        self.lines
            .partition_point(|l| l.range.start <= offset)
            .checked_sub(1)
    }

    /// Whether what stands there is no part of the original: of a replaced line, or
    /// inserted.
    pub(crate) fn is_replacement(&self, range: TextRange) -> bool {
        range.start == range.end
            || self
                .line_at(range.start)
                .is_some_and(|i| self.lines[i].bad && range.start < self.lines[i].range.end)
    }
}
