//! Byte strings and unicode strings: searching, encoding, decoding.

use std::sync::Arc;

use taipan_language::Codec;

use super::types::ty;
use super::value::Value;
use super::{Interp, R};

/// Items that are compared between two counts of steps.
const STRIDE: usize = 1 << 14;

/// For each length of a matching start of a needle, the length of the longest shorter one that
/// ends there as well (Knuth, Morris and Pratt).
fn borders<'n, T: PartialEq + 'n>(len: usize, needle: impl Fn(usize) -> &'n T) -> Vec<u32> {
    let mut borders = vec![0; len];
    let mut k = 0;
    for i in 1..len {
        while k > 0 && needle(i) != needle(k) {
            k = borders[k - 1] as usize;
        }
        k += usize::from(needle(i) == needle(k));
        borders[i] = k as u32;
    }
    borders
}

/// Maximum length of needles that are compared at each position. Longer ones take quadratic time on near matches.
const SHORT: usize = 8;

/// Position of the first `needle`, a short one, in `hay`.
fn find_short<T: PartialEq>(hay: &[T], needle: &[T]) -> Option<usize> {
    let (first, rest) = needle.split_first()?;
    let last = hay.len().checked_sub(rest.len())?;
    let mut at = 0;
    loop {
        at += hay[at..last].iter().position(|c| c == first)?;
        if hay[at + 1..].starts_with(rest) {
            return Some(at);
        }
        at += 1;
    }
}

impl Interp<'_> {
    /// Position of the first `needle` in `hay`.
    pub(crate) fn find<T: PartialEq>(&mut self, hay: &[T], needle: &[T]) -> R<Option<usize>> {
        let [first, ..] = needle else {
            return Ok(Some(0));
        };
        if needle.len() <= SHORT {
            let mut from = 0;
            loop {
                let part = &hay[from..hay.len().min(from + STRIDE + needle.len())];
                let found = find_short(part, needle);
                self.work_items(found.unwrap_or(part.len()))?;
                match found {
                    Some(i) => return Ok(Some(from + i)),
                    None if from + part.len() == hay.len() => return Ok(None),
                    None => from += STRIDE,
                }
            }
        }
        let borders = borders(needle.len(), |i| &needle[i]);
        let (mut at, mut k) = (0, 0);
        while at < hay.len() {
            self.work_items(STRIDE.min(hay.len() - at))?;
            for c in &hay[at..hay.len().min(at + STRIDE)] {
                at += 1;
                if k == 0 && c != first {
                    continue;
                }
                while k > 0 && *c != needle[k] {
                    k = borders[k - 1] as usize;
                }
                k += usize::from(*c == needle[k]);
                if k == needle.len() {
                    return Ok(Some(at - k));
                }
            }
        }
        Ok(None)
    }

    /// Position of the last `needle` in `hay`.
    pub(crate) fn rfind<T: PartialEq>(&mut self, hay: &[T], needle: &[T]) -> R<Option<usize>> {
        let Some(last) = needle.len().checked_sub(1) else {
            return Ok(Some(hay.len()));
        };
        let borders = borders(needle.len(), |i| &needle[last - i]);
        let (mut at, mut k) = (hay.len(), 0);
        while at > 0 {
            self.work_items(STRIDE.min(at))?;
            for c in hay[at.saturating_sub(STRIDE)..at].iter().rev() {
                at -= 1;
                while k > 0 && *c != needle[last - k] {
                    k = borders[k - 1] as usize;
                }
                k += usize::from(*c == needle[last - k]);
                if k == needle.len() {
                    return Ok(Some(at));
                }
            }
        }
        Ok(None)
    }

    /// The code points of a string; a byte string is decoded as ASCII.
    pub(crate) fn code_points(&mut self, v: &Value) -> R<Arc<[u32]>> {
        match self.unboxed(v) {
            Value::Unicode(u) => Ok(u),
            Value::Str(s) => Ok(self.decode(&s, "ascii", "strict")?.into()),
            other => {
                let t = self.heap.type_name(&other).to_owned();
                self.type_error(format!(
                    "coercing to Unicode: need string or buffer, {t} found"
                ))
            }
        }
    }

    /// The bytes of a byte string (or of a unicode string that is ASCII).
    pub(crate) fn bytes_of(&mut self, v: &Value) -> R<Arc<[u8]>> {
        match self.unboxed(v) {
            Value::Str(s) => Ok(s),
            Value::Unicode(u) => Ok(self.encode(&u, "ascii", "strict")?.into()),
            other => {
                let t = self.heap.type_name(&other).to_owned();
                self.type_error(format!("expected a character buffer object, got {t}"))
            }
        }
    }

    /// The text of a string that names something.
    pub(crate) fn name_of(&mut self, v: &Value, what: &str) -> R<String> {
        match self.unboxed(v) {
            Value::Str(s) => Ok(String::from_utf8_lossy(&s).into_owned()),
            Value::Unicode(u) => Ok(super::number::text_of(&u)),
            _ => self.type_error(format!("{what} must be string")),
        }
    }

    /// `bytes.decode(encoding, errors)`
    pub(crate) fn decode(&mut self, s: &[u8], encoding: &str, errors: &str) -> R<Vec<u32>> {
        match Codec::named(encoding) {
            Some(Codec::Latin1) => Ok(s.iter().map(|c| u32::from(*c)).collect()),
            Some(Codec::Ascii) => {
                let mut out = Vec::with_capacity(s.len());
                for (i, c) in s.iter().enumerate() {
                    match (c, errors) {
                        (0..=127, _) => out.push(u32::from(*c)),
                        (_, "ignore") => {}
                        (_, "replace") => out.push(0xfffd),
                        _ => {
                            return self.decode_error("ascii", s, i, "ordinal not in range(128)");
                        }
                    }
                }
                Ok(out)
            }
            Some(Codec::Utf8) => {
                let mut out = Vec::with_capacity(s.len());
                let mut rest = s;
                loop {
                    match std::str::from_utf8(rest) {
                        Ok(t) => {
                            out.extend(t.chars().map(u32::from));
                            return Ok(out);
                        }
                        Err(e) => {
                            let (good, bad) = rest.split_at(e.valid_up_to());
                            out.extend(String::from_utf8_lossy(good).chars().map(u32::from));
                            match errors {
                                "ignore" => {}
                                "replace" => out.push(0xfffd),
                                _ => {
                                    let at = s.len() - bad.len();
                                    return self.decode_error("utf8", s, at, "invalid start byte");
                                }
                            }
                            rest = &bad[e.error_len().unwrap_or(bad.len()).max(1)..];
                        }
                    }
                }
            }
            None => match &*encoding.to_ascii_lowercase().replace(['-', ' '], "_") {
                "unicode_escape" | "string_escape" => Ok(s.iter().map(|c| u32::from(*c)).collect()),
                _ => self.raise(ty::LOOKUP_ERROR, format!("unknown encoding: {encoding}")),
            },
        }
    }

    fn decode_error<T>(&mut self, codec: &str, s: &[u8], at: usize, why: &str) -> R<T> {
        let text = format!(
            "'{codec}' codec can't decode byte 0x{:02x} in position {at}: {why}",
            s.get(at).copied().unwrap_or(0)
        );
        self.raise(ty::UNICODE_DECODE_ERROR, text)
    }

    /// `unicode.encode(encoding, errors)`
    pub(crate) fn encode(&mut self, u: &[u32], encoding: &str, errors: &str) -> R<Vec<u8>> {
        let limit = match Codec::named(encoding) {
            Some(Codec::Ascii) => 128,
            Some(Codec::Latin1) => 256,
            Some(Codec::Utf8) => return Ok(super::number::text_of(u).into_bytes()),
            None => {
                return self.raise(ty::LOOKUP_ERROR, format!("unknown encoding: {encoding}"));
            }
        };
        let mut out = Vec::with_capacity(u.len());
        for (i, c) in u.iter().enumerate() {
            match errors {
                _ if *c < limit => out.push(*c as u8),
                "ignore" => {}
                "replace" => out.push(b'?'),
                _ => {
                    let shown = super::repr::quote_unicode(&[*c]);
                    let codec = if limit == 128 { "ascii" } else { "latin-1" };
                    return self.raise(
                        ty::UNICODE_ENCODE_ERROR,
                        format!(
                            "'{codec}' codec can't encode character {shown} in position {i}: ordinal not in range({limit})"
                        ),
                    );
                }
            }
        }
        Ok(out)
    }

    /// `unicode(v, encoding, errors)`
    pub(crate) fn unicode_of(
        &mut self,
        v: &Value,
        encoding: Option<&Value>,
        errors: Option<&Value>,
    ) -> R {
        let v = match self.call_special(v, "__unicode__", &[])? {
            Some(u) => u,
            None => self.unboxed(v),
        };
        if let Value::Unicode(_) = v {
            return Ok(v);
        }
        let encoding = match encoding {
            Some(e) => self.name_of(e, "encoding")?,
            None => "ascii".to_owned(),
        };
        let errors = match errors {
            Some(e) => self.name_of(e, "errors")?,
            None => "strict".to_owned(),
        };
        let s = match self.str_of(&v)? {
            Value::Str(s) => s,
            _ => [].into(),
        };
        Ok(Value::Unicode(self.decode(&s, &encoding, &errors)?.into()))
    }
}
