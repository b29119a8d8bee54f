//! Strings, comments, brackets and words: the part of the pre-pass that goes over
//! the text once.

use taipan_base::TextRange;

use super::{Keyword, LexError, Line, Literal, Mark, Masked, StringGroup};

/// More brackets inside each other than this are refused.
const MAX_BRACKETS: usize = 200;

/// A longer statement is refused: the tree would take gigabytes.
const MAX_TOKENS: u32 = 1_000_000;

/// Rewrites a text, and collects its logical lines.
pub(crate) fn lex(source: &str) -> Masked {
    let mut l = Lexer {
        src: source.as_bytes(),
        pos: 0,
        out: Masked {
            text: source.as_bytes().to_vec(),
            ..Masked::default()
        },
        brackets: Vec::new(),
        bad: false,
        reported: false,
        print_function: false,
    };
    while l.pos < l.src.len() {
        l.logical_line();
    }
    l.out
}

struct Lexer<'a> {
    src: &'a [u8],
    pos: usize,
    out: Masked,
    /// Open brackets of the logical line, with their offsets.
    brackets: Vec<(u8, u32)>,
    /// Whether the logical line is wrong.
    bad: bool,
    /// Whether that was reported.
    reported: bool,
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

impl Lexer<'_> {
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
            // Wider than before only after a form feed between blanks.
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
        let width = self.indentation();
        match self.peek(0) {
            b'#' => self.skip_comment(),
            b'\n' | b'\r' => {}
            _ if self.pos < self.src.len() => {
                self.statements(start, width);
                return;
            }
            _ => {}
        }
        // A blank line, with or without a comment.
        self.blank(start, self.pos);
        if self.pos < self.src.len() {
            self.newline(true);
        }
    }

    /// Marks the logical line as wrong. Only the first problem is told.
    fn error(&mut self, start: usize, end: usize, message: impl Into<String>) {
        self.bad = true;
        if !self.reported {
            self.reported = true;
            self.out.errors.push(LexError {
                range: TextRange::new(start as u32, end as u32),
                message: message.into(),
            });
        }
    }

    /// The rest of a logical line.
    fn statements(&mut self, indent_start: usize, width: u32) {
        self.brackets.clear();
        self.bad = false;
        self.reported = false;
        let start = self.pos;
        let mut line = Line {
            range: TextRange::default(),
            indent_start: indent_start as u32,
            width,
            keyword: None,
            colon: false,
            inline: false,
            bad: false,
            reported: false,
        };
        let mut end = start;
        let mut statement_start = true;
        // Lambdas at depth 0 whose colon is still to come.
        let mut lambdas = 0;
        let mut future = false;
        let mut tokens = 0;
        while self.pos < self.src.len() {
            let b = self.peek(0);
            let at_start = std::mem::replace(&mut statement_start, false);
            // First what is no token.
            match b {
                b' ' => {
                    statement_start = at_start;
                    self.pos += 1;
                    continue;
                }
                b'\t' | b'\x0c' => {
                    statement_start = at_start;
                    self.blank(self.pos, self.pos + 1);
                    self.pos += 1;
                    continue;
                }
                b'\n' | b'\r' => {
                    if !self.brackets.is_empty() && self.statement_follows() {
                        self.never_closed();
                    }
                    let inside = !self.brackets.is_empty();
                    self.newline(!inside);
                    if inside {
                        continue;
                    }
                    break;
                }
                b'\\' if self.newline_at(self.pos + 1) > 0 => {
                    statement_start = at_start;
                    self.blank(self.pos, self.pos + 1);
                    self.pos += 1;
                    self.newline(false);
                    continue;
                }
                b'#' => {
                    self.skip_comment();
                    continue;
                }
                _ => {}
            }
            line.inline |= line.colon;
            let token = self.pos;
            tokens += 1;
            if tokens == MAX_TOKENS {
                self.error(start, start + 1, "this statement is too long");
            }
            match b {
                b'"' | b'\'' => self.string_group(0),
                b'(' | b'[' | b'{' => self.open(b),
                b')' | b']' | b'}' => self.close(b),
                b'`' => {
                    if self.brackets.last().is_some_and(|o| o.0 == b'`') {
                        self.brackets.pop();
                        self.out.text[self.pos] = b')';
                        self.pos += 1;
                    } else {
                        self.out.text[self.pos] = b'(';
                        self.out.marks.push((self.pos as u32, Mark::Backquote));
                        self.open(b);
                    }
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
                            line.colon = line.keyword.is_some();
                        }
                    }
                    self.pos += 1;
                }
                b'0'..=b'9' => self.number(),
                b'.' if self.peek(1).is_ascii_digit() => self.number(),
                _ if is_ident_start(b) => {
                    while is_ident(self.peek(0)) {
                        self.pos += 1;
                    }
                    let src = self.src;
                    let word = &src[token..self.pos];
                    if token == start {
                        line.keyword = Keyword::from_word(word);
                    }
                    match word {
                        b"print" if at_start && !self.print_function => self.print(token),
                        b"exec" if at_start => {
                            self.out.text[token..self.pos].copy_from_slice(b"del ");
                            self.out.marks.push((token as u32, Mark::Exec));
                        }
                        b"print" | b"exec" | b"match" | b"type" | b"async" | b"await" | b"case" => {
                            self.out.text[token] = b'_';
                        }
                        // `x.None` is an attribute like any other.
                        b"None" | b"True" | b"False" if src[..token].ends_with(b".") => {
                            self.out.text[token] = b'_';
                        }
                        b"lambda" if self.brackets.is_empty() => lambdas += 1,
                        b"__future__" => future = src[start..].starts_with(b"from"),
                        b"print_function" if future => self.print_function = true,
                        _ if matches!(self.peek(0), b'"' | b'\'') && is_prefix(word) => {
                            self.pos = token;
                            self.string_group(word.len());
                        }
                        _ if !word.is_ascii() => {
                            self.error(token, self.pos, "a name in Python 2 is plain ASCII");
                        }
                        _ => {}
                    }
                }
                b'$' | b'?' | b'\\' | b'\0'..=b'\x1f' | b'\x7f' => {
                    let what = if b.is_ascii_control() {
                        "unexpected control character".to_owned()
                    } else {
                        format!("unexpected character `{}`", b as char)
                    };
                    self.error(token, token + 1, what);
                    self.blank(token, token + 1);
                    self.pos += 1;
                }
                _ => self.pos += 1,
            }
            end = self.pos;
        }
        if !self.brackets.is_empty() {
            self.never_closed();
        }
        line.range = TextRange::new(start as u32, end as u32);
        line.bad = self.bad;
        line.reported = self.reported;
        self.out.lines.push(line);
    }

    fn open(&mut self, bracket: u8) {
        self.brackets.push((bracket, self.pos as u32));
        if self.brackets.len() > MAX_BRACKETS {
            self.error(self.pos, self.pos + 1, "nested too deeply");
        }
        self.pos += 1;
    }

    fn close(&mut self, bracket: u8) {
        let closes = match bracket {
            b')' => b'(',
            b']' => b'[',
            _ => b'{',
        };
        let bracket = bracket as char;
        match self.brackets.pop() {
            Some((open, _)) if open == closes => {}
            Some((open, _)) => {
                let open = open as char;
                let message = format!("`{bracket}` does not close the `{open}` before it");
                self.error(self.pos, self.pos + 1, message);
            }
            None => {
                let message = format!("`{bracket}` closes nothing");
                self.error(self.pos, self.pos + 1, message);
            }
        }
        self.pos += 1;
    }

    /// Reports the innermost open bracket, and forgets all.
    fn never_closed(&mut self) {
        if let Some((open, at)) = self.brackets.pop() {
            let at = at as usize;
            self.error(
                at,
                at + 1,
                format!("this `{}` is never closed", open as char),
            );
        }
        self.brackets.clear();
    }

    /// Whether the line after the line break at `pos` starts with a word that no
    /// expression goes on with.
    fn statement_follows(&self) -> bool {
        let blank = |b: &u8| matches!(b, b' ' | b'\t' | b'\x0c' | b'\n' | b'\r');
        let rest = &self.src[self.pos..];
        let rest = &rest[rest.iter().position(|b| !blank(b)).unwrap_or(rest.len())..];
        let word = rest
            .iter()
            .position(|b| !is_ident(*b))
            .unwrap_or(rest.len());
        matches!(
            &rest[..word],
            b"def"
                | b"class"
                | b"return"
                | b"import"
                | b"while"
                | b"try"
                | b"except"
                | b"finally"
                | b"with"
                | b"del"
                | b"pass"
                | b"raise"
                | b"assert"
                | b"global"
                | b"break"
                | b"continue"
                | b"elif"
        )
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
        if end - start < 2 {
            return; // not terminated
        }
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
            let end = if triple { start + prefix + 3 } else { self.pos };
            self.error(start, end, "this string is never closed");
            // What follows is probably no part of the statement.
            self.brackets.clear();
        }
        self.out.literals.push(Literal {
            range,
            prefix: prefix as u8,
            triple,
        });
    }
}
