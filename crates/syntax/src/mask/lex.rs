//! The part of the pre-pass that goes over the text once: strings, comments,
//! brackets, words.

use taipan_base::TextRange;

use super::lines::Writer;
use super::{Keyword, Line, Literal, Mark, Masked, Wrong};
use crate::{Habit, SyntaxError, SyntaxProblem};

/// More brackets inside each other than this are refused.
const MAX_BRACKETS: usize = 200;

/// A longer statement is refused: the tree would take gigabytes.
const MAX_TOKENS: usize = 1_000_000;

/// After so many errors the rest of a text is not looked at.
const MAX_ERRORS: usize = 1_000;

/// What is written for every name.
pub(super) const NAME: &[u8] = b"a";

/// A token of a line that is not yet written.
pub(super) struct Item<'a> {
    pub(super) range: TextRange,
    pub(super) mark: Mark,
    /// What is written for it.
    pub(super) text: &'a [u8],
    /// Whether a blank must stand before it.
    pub(super) space: bool,
}

/// Splits a text into tokens and logical lines, and writes the text for the grammar.
pub(crate) fn lex(source: &str, wrong: &Wrong) -> Masked {
    let mut l = Lexer {
        src: source.as_bytes(),
        pos: 0,
        out: Masked::default(),
        writer: Writer::new(),
        wrong,
        items: Vec::new(),
        brackets: Vec::new(),
        bad: false,
        reported: false,
        print_function: false,
    };
    l.out.text.reserve(source.len() / 2);
    while l.pos < l.src.len() && l.out.errors.len() < MAX_ERRORS {
        l.logical_line();
    }
    l.writer.finish(&mut l.out);
    l.out
}

struct Lexer<'a> {
    src: &'a [u8],
    pos: usize,
    out: Masked,
    writer: Writer,
    wrong: &'a Wrong,
    /// Tokens of the logical line.
    items: Vec<Item<'a>>,
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

/// Words that the grammar must see. (`nonlocal` is told about.)
fn is_keyword(word: &[u8]) -> bool {
    matches!(
        word,
        b"and"
            | b"as"
            | b"assert"
            | b"break"
            | b"class"
            | b"continue"
            | b"def"
            | b"del"
            | b"elif"
            | b"else"
            | b"except"
            | b"finally"
            | b"for"
            | b"from"
            | b"global"
            | b"if"
            | b"import"
            | b"in"
            | b"is"
            | b"nonlocal"
            | b"not"
            | b"or"
            | b"pass"
            | b"raise"
            | b"return"
            | b"try"
            | b"while"
            | b"with"
            | b"yield"
            | b"None"
            | b"True"
            | b"False"
    )
}

/// Length of the operator at the start of a text, 0 if there is none.
fn operator(text: &[u8]) -> usize {
    let at = |i: usize| text.get(i).copied().unwrap_or(0);
    match (at(0), at(1), at(2)) {
        (b'*', b'*', b'=') | (b'/', b'/', b'=') | (b'<', b'<', b'=') | (b'>', b'>', b'=') => 3,
        (b'.', b'.', b'.') => 3,
        (b'*', b'*', _) | (b'/', b'/', _) | (b'<', b'<', _) | (b'>', b'>', _) => 2,
        (b'<', b'>', _) | (b'-', b'>', _) => 2,
        (b'=' | b'!' | b'<' | b'>' | b'+' | b'-' | b'*' | b'/', b'=', _) => 2,
        (b'%' | b'&' | b'|' | b'^' | b'@', b'=', _) => 2,
        (b'=' | b'<' | b'>' | b'+' | b'-' | b'*' | b'/' | b'%', ..) => 1,
        (b'&' | b'|' | b'^' | b'@' | b'~' | b'.' | b',', ..) => 1,
        _ => 0,
    }
}

impl<'a> Lexer<'a> {
    fn peek(&self, ahead: usize) -> u8 {
        self.src.get(self.pos + ahead).copied().unwrap_or(0)
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

    fn skip_comment(&mut self) {
        let rest = &self.src[self.pos..];
        let end = rest.iter().position(|b| matches!(b, b'\n' | b'\r'));
        self.pos += end.unwrap_or(rest.len());
    }

    /// Reads the blanks at the start of a line and answers their width.
    fn indentation(&mut self) -> u32 {
        let mut width = 0u32;
        loop {
            match self.peek(0) {
                b' ' => width += 1,
                b'\t' => width = (width / 8 + 1) * 8,
                b'\x0c' => width = 0,
                _ => return width,
            }
            self.pos += 1;
        }
    }

    fn logical_line(&mut self) {
        let width = self.indentation();
        match self.peek(0) {
            b'#' => self.skip_comment(),
            b'\n' | b'\r' => {}
            _ if self.pos < self.src.len() => {
                self.statements(width);
                return;
            }
            _ => {}
        }
        // A blank line, with or without a comment.
        self.pos += self.newline_at(self.pos);
    }

    /// Marks the logical line as wrong. Only the first problem is told.
    fn error(&mut self, start: usize, end: usize, problem: impl Into<SyntaxProblem>) {
        self.bad = true;
        if !self.reported {
            self.reported = true;
            self.out.errors.push(SyntaxError {
                range: TextRange::new(start as u32, end as u32),
                problem: problem.into(),
            });
        }
    }

    /// Adds the token from `start` to `pos`, for which `text` is written.
    fn item(&mut self, start: usize, text: &'a [u8], mark: Mark) {
        let range = TextRange::new(start as u32, self.pos as u32);
        let space = match self.items.last() {
            None => false,
            Some(before) => {
                let word = |b: Option<&u8>| b.is_some_and(|b| b.is_ascii_alphanumeric());
                before.range.end < range.start
                    || (word(before.text.last()) && word(text.first()))
                    || (before.text == b"0" && text.starts_with(b"."))
            }
        };
        // One more than allowed lets the line be refused.
        if self.items.len() <= MAX_TOKENS {
            self.items.push(Item {
                range,
                mark,
                text,
                space,
            });
        }
    }

    /// The rest of a logical line.
    fn statements(&mut self, width: u32) {
        self.items.clear();
        self.brackets.clear();
        let index = self.out.lines.len();
        self.bad = self.wrong.lines.contains(&index);
        self.reported = self.wrong.reported.contains(&index);
        let mut start = self.pos;
        let mut line = Line {
            range: TextRange::default(),
            text: (0, 0),
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
        while self.pos < self.src.len() {
            let b = self.peek(0);
            // First what is no token.
            match b {
                b' ' | b'\t' | b'\x0c' => {
                    self.pos += 1;
                    continue;
                }
                b'\n' | b'\r' => {
                    if !self.brackets.is_empty() && self.statement_follows() {
                        self.never_closed();
                    }
                    self.pos += self.newline_at(self.pos);
                    if self.brackets.is_empty() {
                        break;
                    }
                    continue;
                }
                b'\\' if self.newline_at(self.pos + 1) > 0 => {
                    self.pos += 1 + self.newline_at(self.pos + 1);
                    continue;
                }
                b'#' => {
                    self.skip_comment();
                    continue;
                }
                _ => {}
            }
            let at_start = std::mem::replace(&mut statement_start, false);
            line.inline |= line.colon;
            let token = self.pos;
            match b {
                b'"' | b'\'' => self.string_group(0),
                b'(' | b'[' | b'{' | b')' | b']' | b'}' | b'`' => self.bracket(b),
                b';' => {
                    statement_start = self.brackets.is_empty();
                    self.symbol(1);
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
                    self.symbol(1);
                }
                b'0'..=b'9' => self.number(),
                b'.' if self.peek(1).is_ascii_digit() => self.number(),
                _ if is_ident_start(b) => {
                    while is_ident(self.peek(0)) {
                        self.pos += 1;
                    }
                    let word = &self.src[token..self.pos];
                    if let Some(habit) = self.coroutine_word(word) {
                        // What it stands before is told about, too.
                        self.out.errors.push(SyntaxError {
                            range: TextRange::new(token as u32, self.pos as u32),
                            problem: habit.into(),
                        });
                        if token == start {
                            while matches!(self.peek(0), b' ' | b'\t') {
                                self.pos += 1;
                            }
                            start = self.pos;
                        }
                        statement_start = at_start;
                        continue;
                    }
                    if token == start {
                        line.keyword = Keyword::from_word(word);
                    }
                    match word {
                        b"print" if at_start && !self.print_function => self.print(token),
                        b"exec" if at_start => self.item(token, b"del", Mark::Exec),
                        b"lambda" => {
                            lambdas += usize::from(self.brackets.is_empty());
                            self.item(token, word, Mark::Plain);
                        }
                        b"__future__" => {
                            future = self.src[start..].starts_with(b"from");
                            self.item(token, NAME, Mark::Plain);
                        }
                        b"print_function" if future => {
                            self.print_function = true;
                            self.item(token, NAME, Mark::Plain);
                        }
                        // `x.None` is an attribute like any other.
                        b"None" | b"True" | b"False" if self.src[..token].ends_with(b".") => {
                            self.item(token, NAME, Mark::Plain);
                        }
                        _ if is_keyword(word) => self.item(token, word, Mark::Plain),
                        _ if matches!(self.peek(0), b'"' | b'\'') && is_prefix(word) => {
                            self.pos = token;
                            self.string_group(word.len());
                        }
                        _ => self.name(token),
                    }
                }
                _ => match operator(&self.src[token..]) {
                    0 => {
                        self.pos += 1;
                        self.unexpected(b, token);
                    }
                    n => self.symbol(n),
                },
            }
            end = self.pos;
        }
        if !self.brackets.is_empty() {
            self.never_closed();
        }
        if self.items.len() > MAX_TOKENS {
            self.error(start, start + 1, "this statement is too long");
        }
        line.range = TextRange::new(start as u32, end as u32);
        line.bad = self.bad;
        line.reported = self.reported;
        self.writer.line(&mut self.out, line, &self.items);
    }

    /// Whether a word that ends here is the `async` or `await` of Python 3, and no name.
    fn coroutine_word(&self, word: &[u8]) -> Option<Habit> {
        let rest = &self.src[self.pos..];
        let blanks = rest
            .iter()
            .take_while(|b| matches!(b, b' ' | b'\t'))
            .count();
        let next = &rest[blanks..];
        let next = &next[..next.iter().take_while(|b| is_ident(**b)).count()];
        match word {
            b"async" => matches!(next, b"def" | b"with" | b"for").then_some(Habit::Async),
            b"await" => {
                let is_operand = blanks > 0
                    && next.first().is_some_and(|b| is_ident_start(*b))
                    && !matches!(
                        next,
                        b"and" | b"or" | b"in" | b"is" | b"not" | b"if" | b"else" | b"for" | b"as"
                    );
                is_operand.then_some(Habit::Await)
            }
            _ => None,
        }
    }

    /// At the end of a name. The attributes that follow it are part of the token.
    fn name(&mut self, start: usize) {
        let mut mark = Mark::Plain;
        if !self.items.last().is_some_and(|i| i.text.ends_with(b".")) {
            while self.peek(0) == b'.' && is_ident_start(self.peek(1)) {
                let rest = &self.src[self.pos + 1..];
                let len = rest.iter().position(|b| !is_ident(*b));
                let len = len.unwrap_or(rest.len());
                let constant = matches!(&rest[..len], b"None" | b"True" | b"False");
                if is_keyword(&rest[..len]) && !constant {
                    break;
                }
                self.pos += 1 + len;
                mark = Mark::Dotted;
            }
        }
        if !self.src[start..self.pos].is_ascii() {
            self.error(start, self.pos, "a name in Python 2 is plain ASCII");
        }
        self.item(start, NAME, mark);
    }

    /// A token of that length that is written as it is.
    fn symbol(&mut self, len: usize) {
        let start = self.pos;
        self.pos += len;
        self.item(start, &self.src[start..start + len], Mark::Plain);
    }

    fn unexpected(&mut self, b: u8, token: usize) {
        let message = if b.is_ascii_control() {
            "unexpected control character".to_owned()
        } else {
            format!("unexpected character `{}`", b as char)
        };
        self.error(token, self.pos, message);
    }

    fn bracket(&mut self, b: u8) {
        let at = self.pos;
        let closes = match b {
            b')' => b'(',
            b']' => b'[',
            b'}' => b'{',
            b'`' if self.brackets.last().is_some_and(|o| o.0 == b'`') => b'`',
            _ => {
                self.brackets.push((b, at as u32));
                if self.brackets.len() > MAX_BRACKETS {
                    self.error(at, at + 1, "nested too deeply");
                }
                if b == b'`' {
                    self.pos += 1;
                    self.item(at, b"(", Mark::Backquote);
                } else {
                    self.symbol(1);
                }
                return;
            }
        };
        let close = b as char;
        match self.brackets.pop() {
            Some((open, _)) if open == closes => {}
            Some((open, _)) => {
                let open = open as char;
                let message = format!("`{close}` does not close the `{open}` before it");
                self.error(at, at + 1, message);
            }
            None => self.error(at, at + 1, format!("`{close}` closes nothing")),
        }
        if b == b'`' {
            self.pos += 1;
            self.item(at, b")", Mark::Plain);
        } else {
            self.symbol(1);
        }
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
                    next += 1 + self.newline_at(next + 1);
                }
                _ => break,
            }
        }
        let rest = &self.src[next..];
        match rest.first() {
            None | Some(b'\n' | b'\r' | b'#' | b';') => self.item(start, b"pass", Mark::PrintEmpty),
            _ if rest.starts_with(b">>") => {
                self.pos = next + 2;
                self.item(start, b"del", Mark::PrintTo);
            }
            _ => self.item(start, b"del", Mark::Print),
        }
    }

    fn number(&mut self) {
        let start = self.pos;
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
            self.digits();
            if self.peek(0) == b'.' {
                self.pos += 1;
                self.digits();
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
        self.item(start, b"0", Mark::Plain);
    }

    /// Decimal digits, with Python 3's underscores to say that those are not possible.
    fn digits(&mut self) {
        while self.peek(0).is_ascii_digit()
            || (self.peek(0) == b'_' && self.peek(1).is_ascii_digit())
        {
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
        let group = self.out.strings.len() as u32;
        let past = self.out.literals.len() as u32;
        self.out.strings.push((first, past));
        self.item(start, b"()", Mark::String(group));
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
