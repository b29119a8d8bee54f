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

use taipan_base::TextRange;

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

/// A problem found before parsing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct LexError {
    pub(crate) range: TextRange,
    pub(crate) message: String,
}

/// The rewritten text.
#[derive(Default)]
pub(crate) struct Masked {
    /// For tree-sitter; offsets are those of the original.
    pub(crate) text: Vec<u8>,
    /// String groups, by offset.
    pub(crate) strings: Vec<StringGroup>,
    /// Their literals.
    pub(crate) literals: Vec<Literal>,
    /// What was rewritten, by offset.
    pub(crate) marks: Vec<(u32, Mark)>,
    /// Problems.
    pub(crate) errors: Vec<LexError>,
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
}

/// Rewrites a text.
pub(crate) fn mask(source: &str) -> Masked {
    let mut m = Masker {
        src: source.as_bytes(),
        pos: 0,
        out: Masked {
            text: source.as_bytes().to_vec(),
            ..Masked::default()
        },
        brackets: Vec::new(),
        print_function: false,
    };
    while m.pos < m.src.len() {
        m.logical_line();
    }
    m.out
}

struct Masker<'a> {
    src: &'a [u8],
    pos: usize,
    out: Masked,
    /// Open brackets of the logical line.
    brackets: Vec<u8>,
    print_function: bool,
}

fn is_ident_start(b: u8) -> bool {
    b.is_ascii_alphabetic() || b == b'_' || b >= 0x80
}

fn is_ident(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_' || b >= 0x80
}

/// Whether a word before a quote is a string prefix.
fn is_prefix(word: &[u8]) -> bool {
    matches!(
        word.to_ascii_lowercase().as_slice(),
        b"r" | b"u" | b"b" | b"ur" | b"br" | b"rb"
    )
}

impl Masker<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.src.get(self.pos + ahead).copied().unwrap_or(0)
    }

    fn blank(&mut self, from: usize, to: usize) {
        self.out.text[from..to].fill(b' ');
    }

    /// Length of the line break at an offset, 0 if there is none.
    fn newline_at(&self, at: usize) -> usize {
        match self.src.get(at) {
            Some(b'\n') => 1,
            Some(b'\r') if self.src.get(at + 1) == Some(&b'\n') => 2,
            Some(b'\r') => 1,
            _ => 0,
        }
    }

    /// Makes the line break at `pos` one that the grammar sees, or a blank.
    fn newline(&mut self, visible: bool) {
        let n = self.newline_at(self.pos);
        self.blank(self.pos, self.pos + n);
        if visible {
            self.out.text[self.pos + n - 1] = b'\n';
        }
        self.pos += n;
    }

    fn skip_comment(&mut self) {
        let start = self.pos;
        while self.pos < self.src.len() && self.newline_at(self.pos) == 0 {
            self.pos += 1;
        }
        self.blank(start, self.pos);
    }

    /// Reads the blanks at the start of a line and answers their width.
    fn indentation(&mut self) -> u32 {
        let start = self.pos;
        let (mut width, mut tabs) = (0u32, false);
        loop {
            match self.peek(0) {
                b' ' => width += 1,
                b'\t' => {
                    width = (width / 8 + 1) * 8;
                    tabs = true;
                }
                b'\x0c' => {
                    width = 0;
                    tabs = true;
                }
                _ => break,
            }
            self.pos += 1;
        }
        if tabs {
            // The scanner adds 8 for a tab and starts at 0 again after a form feed.
            let room = self.pos - start;
            let spaces = width as usize % 8;
            let used = width as usize / 8 + spaces;
            let out = &mut self.out.text[start..self.pos];
            if used <= room {
                out.fill(b'\x0c');
                out[room - used..room - spaces].fill(b'\t');
                out[room - spaces..].fill(b' ');
            }
        }
        width
    }

    fn logical_line(&mut self) {
        let start = self.pos;
        self.indentation();
        match self.peek(0) {
            b'#' => self.skip_comment(),
            b'\n' | b'\r' => {}
            _ => {
                self.statements();
                return;
            }
        }
        // A blank line, with or without a comment.
        self.blank(start, self.pos);
        if self.pos < self.src.len() {
            self.newline(true);
        }
    }

    /// The rest of a logical line.
    fn statements(&mut self) {
        self.brackets.clear();
        let line = self.pos;
        let mut statement_start = true;
        // Lambdas at depth 0 whose colon is still to come.
        let mut lambdas = 0;
        let mut future = false;
        while self.pos < self.src.len() {
            let b = self.peek(0);
            let at_start = std::mem::replace(&mut statement_start, false);
            match b {
                b' ' => {
                    statement_start = at_start;
                    self.pos += 1;
                }
                b'\t' | b'\x0c' => {
                    statement_start = at_start;
                    self.blank(self.pos, self.pos + 1);
                    self.pos += 1;
                }
                b'\n' | b'\r' => {
                    let inside = !self.brackets.is_empty();
                    self.newline(!inside);
                    if !inside {
                        return;
                    }
                }
                b'\\' if self.newline_at(self.pos + 1) > 0 => {
                    statement_start = at_start;
                    self.blank(self.pos, self.pos + 1);
                    self.pos += 1;
                    self.newline(false);
                }
                b'#' => self.skip_comment(),
                b'"' | b'\'' => self.string_group(0),
                b'(' | b'[' | b'{' => {
                    self.brackets.push(b);
                    self.pos += 1;
                }
                b')' | b']' | b'}' => {
                    self.brackets.pop();
                    self.pos += 1;
                }
                b'`' => {
                    if self.brackets.last() == Some(&b'`') {
                        self.brackets.pop();
                        self.out.text[self.pos] = b')';
                    } else {
                        self.brackets.push(b'`');
                        self.out.text[self.pos] = b'(';
                        self.out.marks.push((self.pos as u32, Mark::Backquote));
                    }
                    self.pos += 1;
                }
                b';' => {
                    statement_start = self.brackets.is_empty();
                    self.pos += 1;
                }
                b':' => {
                    if self.brackets.is_empty() {
                        if lambdas > 0 {
                            lambdas -= 1;
                        } else {
                            statement_start = true;
                        }
                    }
                    self.pos += 1;
                }
                b'0'..=b'9' => self.number(),
                b'.' if self.peek(1).is_ascii_digit() => self.number(),
                _ if is_ident_start(b) => {
                    let start = self.pos;
                    while is_ident(self.peek(0)) {
                        self.pos += 1;
                    }
                    let src = self.src;
                    let word = &src[start..self.pos];
                    match word {
                        b"print" if at_start && !self.print_function => self.print(start),
                        b"exec" if at_start => {
                            self.out.text[start..self.pos].copy_from_slice(b"del ");
                            self.out.marks.push((start as u32, Mark::Exec));
                        }
                        b"print" | b"exec" | b"match" | b"type" | b"async" | b"await" | b"case" => {
                            self.out.text[start] = b'_';
                        }
                        // `x.None` is an attribute like any other.
                        b"None" | b"True" | b"False" if self.src[..start].ends_with(b".") => {
                            self.out.text[start] = b'_';
                        }
                        b"lambda" if self.brackets.is_empty() => lambdas += 1,
                        b"__future__" => future = src[line..].starts_with(b"from"),
                        b"print_function" if future => self.print_function = true,
                        _ if matches!(self.peek(0), b'"' | b'\'') && is_prefix(word) => {
                            self.pos = start;
                            self.string_group(word.len());
                        }
                        _ => {}
                    }
                }
                _ => self.pos += 1,
            }
        }
    }

    /// At the end of a statement's `print`.
    fn print(&mut self, start: usize) {
        let mut next = self.pos;
        loop {
            match self.src.get(next) {
                Some(b' ' | b'\t' | b'\x0c') => next += 1,
                Some(b'\\') if self.newline_at(next + 1) > 0 => {
                    next += 1 + self.newline_at(next + 1)
                }
                _ => break,
            }
        }
        let rest = &self.src[next..];
        let (text, mark) = match rest.first() {
            None | Some(b'\n' | b'\r' | b'#' | b';') => (b"pass ", Mark::PrintEmpty),
            _ if rest.starts_with(b">>") => {
                // Joined lines up to there are blanked here, where they are skipped.
                self.blank(self.pos, next + 2);
                self.pos = next + 2;
                (b"del  ", Mark::PrintTo)
            }
            _ => (b"del  ", Mark::Print),
        };
        self.out.text[start..start + 5].copy_from_slice(text);
        self.out.marks.push((start as u32, mark));
    }

    fn number(&mut self) {
        if self.peek(0) == b'0' && matches!(self.peek(1), b'x' | b'X') {
            self.pos += 2;
            while self.peek(0).is_ascii_hexdigit() {
                self.pos += 1;
            }
        } else if self.peek(0) == b'0' && matches!(self.peek(1), b'o' | b'O' | b'b' | b'B') {
            self.pos += 2;
            while self.peek(0).is_ascii_digit() {
                self.pos += 1;
            }
        } else {
            while self.peek(0).is_ascii_digit() || self.peek(0) == b'.' {
                self.pos += 1;
            }
            if matches!(self.peek(0), b'e' | b'E') {
                let sign = usize::from(matches!(self.peek(1), b'+' | b'-'));
                if self.peek(1 + sign).is_ascii_digit() {
                    self.pos += 1 + sign;
                    while self.peek(0).is_ascii_digit() {
                        self.pos += 1;
                    }
                }
            }
        }
        if matches!(self.peek(0), b'l' | b'L' | b'j' | b'J') {
            self.pos += 1;
        }
    }

    /// Reads the literal at `pos` and those that follow it.
    fn string_group(&mut self, prefix: usize) {
        let start = self.pos;
        let first = self.out.literals.len() as u32;
        self.literal(prefix);
        let mut end = self.pos;
        while let Some(prefix) = self.next_literal() {
            self.literal(prefix);
            end = self.pos;
        }
        self.pos = end;
        self.blank(start, end);
        self.out.text[start] = b'(';
        self.out.text[end - 1] = b')';
        self.out.strings.push(StringGroup {
            start: start as u32,
            first,
            end: self.out.literals.len() as u32,
        });
    }

    /// Moves to the next literal of the same group and answers its prefix' length.
    fn next_literal(&mut self) -> Option<usize> {
        loop {
            match self.peek(0) {
                b' ' | b'\t' | b'\x0c' => self.pos += 1,
                b'\\' if self.newline_at(self.pos + 1) > 0 => {
                    self.pos += 1 + self.newline_at(self.pos + 1);
                }
                b'\n' | b'\r' if !self.brackets.is_empty() => {
                    self.pos += self.newline_at(self.pos);
                }
                b'#' if !self.brackets.is_empty() => {
                    while self.pos < self.src.len() && self.newline_at(self.pos) == 0 {
                        self.pos += 1;
                    }
                }
                _ => break,
            }
        }
        let mut n = 0;
        while n < 3 && self.peek(n).is_ascii_alphabetic() {
            n += 1;
        }
        let word = &self.src[self.pos..(self.pos + n).min(self.src.len())];
        (matches!(self.peek(n), b'"' | b'\'') && (n == 0 || is_prefix(word))).then_some(n)
    }

    fn literal(&mut self, prefix: usize) {
        let start = self.pos;
        self.pos += prefix;
        let quote = self.peek(0);
        let triple = self.peek(1) == quote && self.peek(2) == quote;
        self.pos += if triple { 3 } else { 1 };
        let mut closed = false;
        while self.pos < self.src.len() {
            let b = self.peek(0);
            if b == b'\\' {
                self.pos += 1 + self.newline_at(self.pos + 1).max(1);
            } else if b == quote && (!triple || (self.peek(1) == quote && self.peek(2) == quote)) {
                self.pos += if triple { 3 } else { 1 };
                closed = true;
                break;
            } else if !triple && self.newline_at(self.pos) > 0 {
                break;
            } else {
                self.pos += 1;
            }
        }
        self.pos = self.pos.min(self.src.len());
        let range = TextRange::new(start as u32, self.pos as u32);
        if !closed {
            self.out.errors.push(LexError {
                range,
                message: "string literal is not terminated".to_owned(),
            });
        }
        self.out.literals.push(Literal {
            range,
            prefix: prefix as u8,
            triple,
        });
    }
}
