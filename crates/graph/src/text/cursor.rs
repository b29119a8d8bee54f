//! A position in text, with what every dialect's parser needs.

use std::fmt;

/// Why a text is no graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Line, from 1.
    pub line: usize,
    /// What is wrong there.
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for ParseError {}

/// A position in a text. Blanks, newlines and comments are skipped before
/// everything that is read.
#[derive(Clone)]
pub struct Cursor<'a> {
    text: &'a str,
    pos: usize,
}

impl<'a> Cursor<'a> {
    /// At the start of a text.
    pub fn new(text: &'a str) -> Self {
        Cursor { text, pos: 0 }
    }

    /// What is left, after blanks and comments.
    pub fn rest(&mut self) -> &'a str {
        loop {
            let rest = &self.text[self.pos..];
            let trimmed = rest.trim_start();
            self.pos += rest.len() - trimmed.len();
            if !trimmed.starts_with(';') {
                return trimmed;
            }
            self.pos += trimmed.find('\n').unwrap_or(trimmed.len());
        }
    }

    /// Whether nothing is left.
    pub fn at_end(&mut self) -> bool {
        self.rest().is_empty()
    }

    /// An error at this place.
    pub fn error<T>(&self, message: impl Into<String>) -> Result<T, ParseError> {
        Err(ParseError {
            line: self.text[..self.pos].matches('\n').count() + 1,
            message: message.into(),
        })
    }

    /// Whether this comes next.
    pub fn peek(&mut self, token: &str) -> bool {
        self.rest().starts_with(token)
    }

    /// Reads this if it comes next.
    pub fn eat(&mut self, token: &str) -> bool {
        let found = self.peek(token);
        if found {
            self.pos += token.len();
        }
        found
    }

    /// Gives back the last `n` bytes read.
    pub fn back(&mut self, n: usize) {
        self.pos -= n;
    }

    /// Reads this word if it comes next and no longer word does.
    pub fn eat_word(&mut self, word: &str) -> bool {
        let found = self.peek_word() == word;
        found && self.eat(word)
    }

    /// Reads this, which must come next.
    pub fn expect(&mut self, token: &str) -> Result<(), ParseError> {
        if self.eat(token) {
            return Ok(());
        }
        let found: String = self.rest().chars().take(20).collect();
        self.error(format!("expected `{token}`, found `{found}`"))
    }

    /// The letters, digits, dots and underscores that come next (perhaps none).
    pub fn peek_word(&mut self) -> &'a str {
        self.peek_while(|c| c.is_alphanumeric() || c == '_' || c == '.')
    }

    /// A word, at least one character long.
    pub fn word(&mut self) -> Result<&'a str, ParseError> {
        let word = self.peek_word();
        if word.is_empty() {
            let found: String = self.rest().chars().take(20).collect();
            return self.error(format!("expected a word, found `{found}`"));
        }
        self.pos += word.len();
        Ok(word)
    }

    /// The characters that come next while they are of this kind.
    pub fn peek_while(&mut self, of_kind: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        &rest[..rest.find(|c| !of_kind(c)).unwrap_or(rest.len())]
    }

    /// Reads characters while they are of this kind.
    pub fn take_while(&mut self, of_kind: impl Fn(char) -> bool) -> &'a str {
        let taken = self.peek_while(of_kind);
        self.pos += taken.len();
        taken
    }

    /// The rest of the line or up to a comment, without blanks at its ends.
    pub fn line(&mut self) -> &'a str {
        let rest = self.rest();
        let line = rest.split(['\n', ';']).next().unwrap_or("");
        self.pos += line.len();
        line.trim_end()
    }

    /// An integer, perhaps negative.
    pub fn int<T: std::str::FromStr>(&mut self) -> Result<T, ParseError> {
        let rest = self.rest();
        let digits = usize::from(rest.starts_with('-'));
        let len = digits
            + rest[digits..]
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(rest.len() - digits);
        match rest[..len].parse() {
            Ok(i) => {
                self.pos += len;
                Ok(i)
            }
            Err(_) => self.error("expected an integer in range"),
        }
    }

    /// What stands between single quotes, with its escapes, as code points: `\n`,
    /// `\r`, `\t`, `\\`, `\'`, `\"`, `\x41`, `\u0041`, `\u{41}`.
    pub fn quoted(&mut self) -> Result<Vec<u32>, ParseError> {
        self.expect("'")?;
        let mut out = Vec::new();
        let mut chars = self.text[self.pos..].char_indices();
        while let Some((i, c)) = chars.next() {
            match c {
                '\'' => {
                    self.pos += i + 1;
                    return Ok(out);
                }
                '\\' => {
                    let rest = &self.text[self.pos + i + 1..];
                    let Some((value, len)) = escape(rest) else {
                        return self.error("unknown escape sequence");
                    };
                    out.push(value);
                    for _ in 0..len {
                        chars.next();
                    }
                }
                c => out.push(c as u32),
            }
        }
        self.error("string without an end")
    }

    /// `open item, item, .. close`, where the opening one has been read.
    pub fn list<T>(
        &mut self,
        close: &str,
        mut item: impl FnMut(&mut Self) -> Result<T, ParseError>,
    ) -> Result<Vec<T>, ParseError> {
        let mut items = Vec::new();
        while !self.eat(close) {
            items.push(item(self)?);
            if !self.eat(",") {
                self.expect(close)?;
                break;
            }
        }
        Ok(items)
    }
}

/// The code point that an escape stands for (the backslash has been read), and its
/// length in ASCII characters.
fn escape(rest: &str) -> Option<(u32, usize)> {
    let hex = |digits: &str| u32::from_str_radix(digits, 16).ok();
    Some(match rest.as_bytes().first()? {
        b'n' => (10, 1),
        b'r' => (13, 1),
        b't' => (9, 1),
        b @ (b'\\' | b'\'' | b'"') => (u32::from(*b), 1),
        b'x' => (hex(rest.get(1..3)?)?, 3),
        b'u' if rest[1..].starts_with('{') => {
            let end = rest.find('}')?;
            (hex(&rest[2..end])?, end + 1)
        }
        b'u' => (hex(rest.get(1..5)?)?, 5),
        _ => return None,
    })
}
