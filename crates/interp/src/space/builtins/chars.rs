//! Strings of both kinds as slices of characters: the bytes of a `str`, the code points of a `unicode`.

use std::borrow::Cow;

use crate::space::builtin::Args;
use crate::space::value::Value;
use crate::space::{Interp, R};

/// A character of one kind of string.
pub(super) trait Char: Copy + PartialEq + From<u8> + 'static {
    /// The character as a `char`, for tests of letters and digits; None for bytes above ASCII.
    fn character(self) -> Option<char>;

    /// Whether it is white space.
    fn is_space(self) -> bool;

    /// The upper-case letter.
    fn upper(self) -> Self;

    /// The lower-case letter.
    fn lower(self) -> Self;

    /// A string.
    fn value(s: &[Self]) -> Value;
}

impl Char for u8 {
    fn character(self) -> Option<char> {
        self.is_ascii().then_some(char::from(self))
    }

    fn is_space(self) -> bool {
        matches!(self, 9..=13 | 32)
    }

    fn upper(self) -> u8 {
        self.to_ascii_uppercase()
    }

    fn lower(self) -> u8 {
        self.to_ascii_lowercase()
    }

    fn value(s: &[u8]) -> Value {
        Value::bytes(s)
    }
}

impl Char for u32 {
    fn character(self) -> Option<char> {
        char::from_u32(self)
    }

    fn is_space(self) -> bool {
        matches!(self, 9..=13 | 32)
            || (self > 127 && char::from_u32(self).is_some_and(char::is_whitespace))
    }

    fn upper(self) -> u32 {
        char::from_u32(self).map_or(self, |c| simple(self, c.to_uppercase()))
    }

    fn lower(self) -> u32 {
        char::from_u32(self).map_or(self, |c| simple(self, c.to_lowercase()))
    }

    fn value(s: &[u32]) -> Value {
        Value::Unicode(s.into())
    }
}

/// The letter that a letter is mapped to: itself if it becomes several.
fn simple(c: u32, mut mapped: impl ExactSizeIterator<Item = char>) -> u32 {
    match mapped.len() {
        1 => mapped.next().map_or(c, u32::from),
        _ => c,
    }
}

/// A string of either kind.
pub(super) enum Text<'a> {
    /// A byte string.
    Bytes(Cow<'a, [u8]>),
    /// A unicode string.
    Points(Cow<'a, [u32]>),
}

impl Text<'_> {
    /// The characters as code points.
    pub(super) fn points(&self) -> Cow<'_, [u32]> {
        match self {
            Text::Bytes(s) => s.iter().map(|c| u32::from(*c)).collect(),
            Text::Points(s) => Cow::Borrowed(s),
        }
    }

    /// Whether it is a unicode string.
    pub(super) fn is_unicode(&self) -> bool {
        matches!(self, Text::Points(_))
    }

    /// Number of characters.
    pub(super) fn len(&self) -> usize {
        match self {
            Text::Bytes(s) => s.len(),
            Text::Points(s) => s.len(),
        }
    }
}

/// The string that a value is.
pub(super) fn text<'a>(it: &mut Interp, v: &'a Value) -> R<Text<'a>> {
    let boxed;
    let text = match v {
        Value::Str(s) => Text::Bytes(Cow::Borrowed(&s[..])),
        Value::Unicode(s) => Text::Points(Cow::Borrowed(&s[..])),
        v => {
            boxed = it.unboxed(v);
            match &boxed {
                Value::Str(s) => Text::Bytes(Cow::Owned(s.to_vec())),
                Value::Unicode(s) => Text::Points(Cow::Owned(s.to_vec())),
                other => {
                    let t = it.heap.type_name(other).to_owned();
                    return it.type_error(format!("expected a character buffer object, got {t}"));
                }
            }
        }
    };
    // The buffer is read in full.
    it.work_items(text.len())?;
    Ok(text)
}

/// The string that an argument of a method is.
pub(super) fn argument<'a>(it: &mut Interp, args: Args<'a>, i: usize, f: &str) -> R<Text<'a>> {
    let v = args.need(it, i, f)?;
    text(it, v)
}

/// Works on the bytes of strings if all of them are byte strings, and on their code points otherwise.
macro_rules! on_chars {
    ($t:ident => $work:expr) => {
        match &$t {
            Text::Bytes($t) => $work,
            Text::Points($t) => $work,
        }
    };
    ($($t:ident),+ => $work:expr) => {
        match ($(&$t),+) {
            ($(Text::Bytes($t)),+) => $work,
            _ => {
                $(let $t = &$t.points();)+
                $work
            }
        }
    };
}
pub(super) use on_chars;
