//! The pre-pass: splits a Python 2 text into tokens and writes from them a text that
//! the tree-sitter grammar reads without ambiguity, and fast.
//!
//! ```text
//! print >>out, `x`, ur"a" "b"   # why
//! del a, (a), ()
//! ```
//!
//! - Every name, with the attributes after it, becomes `a`, and every number `0`: the
//!   grammar needs to know that there is one, and [`Masked::range`] leads back. Words that are keywords
//!   only in newer Pythons (`match`, `type`, `async`, ...) are names.
//! - A group of adjacent string literals becomes `()`, marked with its literals. The
//!   grammar's own strings know neither `ur''` nor Python 2's escapes, and quotes are
//!   where its error recovery goes astray.
//! - Statement `print` becomes `del` or `pass`, `exec` becomes `del`: keywords that
//!   take a list of expressions. A [`Mark`] tells them apart.
//! - Backquotes become parentheses.
//! - Comments, joined lines and line breaks inside brackets are left out.
//! - Indentation becomes one blank per level, counted as Python 2 counts tabs.
//!
//! It also finds what is wrong with brackets, strings, indentation and the clauses
//! of compound statements, and writes other statements in place of those ([`lines`]):
//! what is left for the grammar to find is wrong within one line.

mod lex;
mod lines;

use rustc_hash::FxHashSet;
use taipan_base::TextRange;

pub(crate) use lex::lex;
pub(crate) use lines::{Keyword, Line};

use crate::SyntaxError;

/// What a token stands for, where the written text does not say it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mark {
    /// What it looks like.
    Plain,
    /// A name with attributes: `a.b.c`.
    Dotted,
    /// A group of string literals, as an index into [`Masked::strings`].
    String(u32),
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
    /// Nothing of the original: part of what was written in place of a wrong statement.
    Replacement,
}

/// A token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Token {
    /// Where it stands in the original.
    pub(crate) range: TextRange,
    /// What it stands for.
    pub(crate) mark: Mark,
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

/// Lines to replace beyond those that the pre-pass finds itself: their indexes, and
/// of which of them an error was reported.
#[derive(Default)]
pub(crate) struct Wrong {
    pub(crate) lines: FxHashSet<usize>,
    pub(crate) reported: FxHashSet<usize>,
}

/// The written text.
#[derive(Default)]
pub(crate) struct Masked {
    /// For tree-sitter.
    pub(crate) text: Vec<u8>,
    /// The tokens in it.
    tokens: Vec<Token>,
    /// The token that each byte of the text belongs to; blanks belong to the one
    /// before.
    token_of: Vec<u32>,
    /// Groups of string literals, as ranges of `literals`.
    strings: Vec<(u32, u32)>,
    /// The string literals.
    literals: Vec<Literal>,
    /// The logical lines.
    pub(crate) lines: Vec<Line>,
    /// Problems.
    pub(crate) errors: Vec<SyntaxError>,
}

impl Masked {
    /// The token at an offset of the text.
    pub(crate) fn token(&self, offset: usize) -> Token {
        let token = self.token_of.get(offset).or(self.token_of.last());
        token
            .and_then(|t| self.tokens.get(*t as usize))
            .copied()
            .unwrap_or(Token {
                range: TextRange::default(),
                mark: Mark::Plain,
            })
    }

    /// What the token at an offset of the text stands for.
    pub(crate) fn mark(&self, offset: usize) -> Mark {
        self.token(offset).mark
    }

    /// The literals of a group.
    pub(crate) fn string(&self, group: u32) -> &[Literal] {
        let (first, end) = self.strings[group as usize];
        &self.literals[first as usize..end as usize]
    }

    /// The place in the original of a piece of the text.
    pub(crate) fn range(&self, start: usize, end: usize) -> TextRange {
        if start < end {
            TextRange::new(self.token(start).range.start, self.token(end - 1).range.end)
        } else {
            // After the token before.
            let at = start.checked_sub(1).map_or(0, |i| self.token(i).range.end);
            TextRange::new(at, at)
        }
    }

    /// The line that covers an offset of the original, as an index.
    pub(crate) fn line_at(&self, offset: u32) -> Option<usize> {
        self.lines
            .partition_point(|l| l.range.start <= offset)
            .checked_sub(1)
    }
}
