//! Values of literals.

use std::sync::Arc;

use num_bigint::BigInt;
use taipan_base::TextRange;

use crate::ast::Expr;
use crate::mask::Literal;
use crate::{Habit, SyntaxError, SyntaxProblem};

/// How a file's string literals are read.
#[derive(Clone, Copy)]
pub(crate) struct Reading {
    /// `from __future__ import unicode_literals`.
    pub(crate) unicode_literals: bool,
    /// Characters of byte strings are single bytes, as the file declares.
    pub(crate) latin1: bool,
}

impl Reading {
    /// Appends text as bytes of the file's encoding.
    fn encode(self, text: &str, bytes: &mut Vec<u8>) {
        if self.latin1 {
            // Only an editor can hold a character here that the file cannot.
            bytes.extend(text.chars().map(|c| u8::try_from(c).unwrap_or(b'?')));
        } else {
            bytes.extend_from_slice(text.as_bytes());
        }
    }
}

/// The value of adjacent string literals: unicode if one of them is.
pub(crate) fn string(
    source: &str,
    literals: &[Literal],
    reading: Reading,
    errors: &mut Vec<SyntaxError>,
) -> Expr {
    let prefix = |l: &Literal| {
        let start = l.range.start as usize;
        source.as_bytes()[start..start + l.prefix as usize].to_ascii_lowercase()
    };
    let is_unicode = |l: &Literal| {
        let p = prefix(l);
        p.contains(&b'u') || (reading.unicode_literals && !p.contains(&b'b'))
    };
    let unicode = literals.iter().any(is_unicode);
    let mut bytes = Vec::new();
    let mut chars = Vec::new();
    for l in literals {
        let quotes = if l.triple { 3 } else { 1 };
        let start = l.range.start as usize + l.prefix as usize + quotes;
        let end = (l.range.end as usize).saturating_sub(quotes).max(start);
        let Some(body) = source.get(start..end) else {
            continue; // not terminated: told already
        };
        let raw = prefix(l).contains(&b'r');
        let mut decoder = Decoder {
            body,
            offset: start as u32,
            raw,
            unicode: is_unicode(l),
            errors,
        };
        if unicode {
            decoder.decode(&mut |c| chars.push(c));
        } else if raw || !body.contains(['\\', '\r']) {
            push_text(body, reading, &mut bytes);
        } else {
            decoder.decode(&mut |c| match c {
                Unit::Byte(b) => bytes.push(b),
                Unit::Char(c) => reading.encode(c.encode_utf8(&mut [0; 4]), &mut bytes),
                Unit::Surrogate(_) => {}
            });
        }
    }
    if unicode {
        let code = |u: &Unit| match *u {
            Unit::Byte(b) => u32::from(b),
            Unit::Char(c) => c as u32,
            Unit::Surrogate(s) => s,
        };
        Expr::Unicode(chars.iter().map(code).collect())
    } else {
        Expr::Str(bytes.into())
    }
}

/// Appends text with its line breaks made `\n`, as bytes of the file's encoding.
fn push_text(body: &str, reading: Reading, bytes: &mut Vec<u8>) {
    if body.contains('\r') {
        let text = body.replace("\r\n", "\n").replace('\r', "\n");
        reading.encode(&text, bytes);
    } else {
        reading.encode(body, bytes);
    }
}

/// One unit of a decoded literal.
#[derive(Clone, Copy)]
enum Unit {
    /// From an escape such as `\xff`.
    Byte(u8),
    /// A character, written or escaped.
    Char(char),
    /// A code point that is no character.
    Surrogate(u32),
}

struct Decoder<'a> {
    body: &'a str,
    /// Offset of the body in the file.
    offset: u32,
    raw: bool,
    unicode: bool,
    errors: &'a mut Vec<SyntaxError>,
}

impl Decoder<'_> {
    fn decode(&mut self, push: &mut dyn FnMut(Unit)) {
        let body = self.body;
        let mut rest = body;
        while let Some(c) = rest.chars().next() {
            if c == '\r' {
                rest = rest.strip_prefix("\r\n").unwrap_or(&rest[1..]);
                push(Unit::Char('\n'));
            } else if c == '\\' {
                let at = body.len() - rest.len();
                let used = if self.raw {
                    self.raw_escape(rest, at, push)
                } else {
                    self.escape(rest, at, push)
                };
                rest = &rest[used..];
            } else {
                push(Unit::Char(c));
                rest = &rest[c.len_utf8()..];
            }
        }
    }

    /// In `ur''` only `\u` and `\U` after an odd number of backslashes are escapes.
    fn raw_escape(&mut self, rest: &str, at: usize, push: &mut dyn FnMut(Unit)) -> usize {
        let backslashes = rest.bytes().take_while(|b| *b == b'\\').count();
        if self.unicode && backslashes % 2 == 1 {
            for _ in 1..backslashes {
                push(Unit::Char('\\'));
            }
            let tail = &rest[backslashes - 1..];
            let digits = match tail.as_bytes().get(1) {
                Some(b'u') => 4,
                Some(b'U') => 8,
                _ => 0,
            };
            if digits > 0 {
                return backslashes - 1 + self.hex(tail, at, digits, push);
            }
            push(Unit::Char('\\'));
            return backslashes;
        }
        for _ in 0..backslashes {
            push(Unit::Char('\\'));
        }
        backslashes
    }

    /// Handles the escape at the start of `rest`; answers its length.
    fn escape(&mut self, rest: &str, at: usize, push: &mut dyn FnMut(Unit)) -> usize {
        let simple = |b: u8| Unit::Byte(b);
        let Some(c) = rest[1..].chars().next() else {
            push(Unit::Char('\\'));
            return 1;
        };
        let unit = match c {
            '\n' => return 2,
            '\r' => return if rest[2..].starts_with('\n') { 3 } else { 2 },
            '\\' | '\'' | '"' => simple(c as u8),
            'a' => simple(7),
            'b' => simple(8),
            'f' => simple(12),
            'n' => simple(b'\n'),
            'r' => simple(b'\r'),
            't' => simple(b'\t'),
            'v' => simple(11),
            '0'..='7' => {
                let n = rest[1..]
                    .bytes()
                    .take(3)
                    .take_while(|b| matches!(b, b'0'..=b'7'))
                    .count();
                let v = u32::from_str_radix(&rest[1..1 + n], 8).unwrap_or(0);
                push(if self.unicode {
                    Unit::Char(char::from_u32(v).unwrap_or('\0'))
                } else {
                    Unit::Byte(v as u8)
                });
                return 1 + n;
            }
            'x' => {
                let digits = rest.get(2..4).and_then(|d| u8::from_str_radix(d, 16).ok());
                let Some(v) = digits else {
                    self.error(at, 2, "\\x needs two hexadecimal digits");
                    return 2;
                };
                push(Unit::Byte(v));
                return 4;
            }
            'u' if self.unicode => return self.hex(rest, at, 4, push),
            'U' if self.unicode => return self.hex(rest, at, 8, push),
            'N' if self.unicode => return self.named(rest, at, push),
            _ => {
                push(Unit::Char('\\'));
                push(Unit::Char(c));
                return 1 + c.len_utf8();
            }
        };
        push(unit);
        2
    }

    /// `\uXXXX` or `\UXXXXXXXX`.
    fn hex(&mut self, rest: &str, at: usize, digits: usize, push: &mut dyn FnMut(Unit)) -> usize {
        let value = rest
            .get(2..2 + digits)
            .filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()))
            .and_then(|d| u32::from_str_radix(d, 16).ok());
        match value {
            Some(v) => {
                match char::from_u32(v) {
                    Some(c) => push(Unit::Char(c)),
                    None if v < 0x11_0000 => push(Unit::Surrogate(v)),
                    None => self.error(at, 2 + digits, "no such unicode character"),
                }
                2 + digits
            }
            None => {
                let what = if digits == 4 {
                    "\\u needs four hexadecimal digits"
                } else {
                    "\\U needs eight hexadecimal digits"
                };
                self.error(at, 2, what);
                2
            }
        }
    }

    /// `\N{NAME}`.
    fn named(&mut self, rest: &str, at: usize, push: &mut dyn FnMut(Unit)) -> usize {
        let name = rest[2..].strip_prefix('{').and_then(|r| r.split_once('}'));
        let Some((name, _)) = name else {
            self.error(at, 2, "\\N needs a character's name in braces");
            return 2;
        };
        match unicode_names2::character(name) {
            Some(c) => push(Unit::Char(c)),
            None => self.error(at, name.len() + 4, "no unicode character has this name"),
        }
        name.len() + 4
    }

    fn error(&mut self, at: usize, len: usize, message: &str) {
        let start = self.offset + at as u32;
        self.errors.push(SyntaxError {
            range: TextRange::new(start, start + len as u32),
            problem: message.into(),
        });
    }
}

/// The value of a number literal, or why it has none.
pub(crate) fn number(text: &str) -> Result<Expr, SyntaxProblem> {
    let lower = text.to_ascii_lowercase();
    let (digits, long) = match lower.strip_suffix('l') {
        Some(d) => (d, true),
        None => (lower.as_str(), false),
    };
    let (digits, radix) = if let Some(d) = digits.strip_prefix("0x") {
        (d, 16)
    } else if let Some(d) = digits.strip_prefix("0o") {
        (d, 8)
    } else if let Some(d) = digits.strip_prefix("0b") {
        (d, 2)
    } else if digits.len() > 1
        && digits.starts_with('0')
        && digits.bytes().all(|b| b.is_ascii_digit())
    {
        (&digits[1..], 8)
    } else {
        (digits, 10)
    };
    if digits.contains('_') {
        return Err(Habit::Underscore.into());
    }
    if radix == 10 && !digits.bytes().all(|b| b.is_ascii_digit()) {
        let (float, imaginary) = match digits.strip_suffix('j') {
            Some(d) => (d, true),
            None => (digits, false),
        };
        let value: f64 = float.parse().map_err(|_| "invalid number")?;
        return Ok(if imaginary {
            Expr::Imaginary(value.to_bits())
        } else {
            Expr::Float(value.to_bits())
        });
    }
    if !long && let Ok(v) = i64::from_str_radix(digits, radix) {
        return Ok(Expr::Int(v));
    }
    let value = BigInt::parse_bytes(digits.as_bytes(), radix).ok_or(match radix {
        8 => "invalid digit in an octal number",
        2 => "invalid digit in a binary number",
        _ => "invalid number",
    })?;
    Ok(Expr::Long(Arc::new(value)))
}
