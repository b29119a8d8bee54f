//! Methods of `str` and `unicode`: letters, padding, codecs and formats. [`super::search`] has the others.

use super::chars::{Char, Text, argument, on_chars, text};
use super::search::*;
use crate::space::builtin::{Args, Builtin};
use crate::space::types::ty;
use crate::space::value::Value;
use crate::space::{Interp, R};

/// A string of these characters.
fn make(chars: &[u32], unicode: bool) -> Value {
    if unicode {
        Value::Unicode(chars.into())
    } else {
        Value::Str(chars.iter().map(|c| *c as u8).collect())
    }
}

fn map_chars<T: Char>(s: &[T], f: impl Fn(usize, &[T]) -> T) -> Value {
    let chars: Vec<T> = (0..s.len()).map(|i| f(i, s)).collect();
    T::value(&chars)
}

fn upper(it: &mut Interp, args: Args<'_>) -> R {
    let t = argument(it, args, 0, "method")?;
    Ok(on_chars!(t => map_chars(t, |i, s| s[i].upper())))
}

fn lower(it: &mut Interp, args: Args<'_>) -> R {
    let t = argument(it, args, 0, "method")?;
    Ok(on_chars!(t => map_chars(t, |i, s| s[i].lower())))
}

fn swapped<T: Char>(i: usize, s: &[T]) -> T {
    let up = s[i].upper();
    if up == s[i] { s[i].lower() } else { up }
}

fn swapcase(it: &mut Interp, args: Args<'_>) -> R {
    let t = argument(it, args, 0, "method")?;
    Ok(on_chars!(t => map_chars(t, swapped)))
}

fn capitalized<T: Char>(i: usize, s: &[T]) -> T {
    if i == 0 { s[i].upper() } else { s[i].lower() }
}

fn capitalize(it: &mut Interp, args: Args<'_>) -> R {
    let t = argument(it, args, 0, "method")?;
    Ok(on_chars!(t => map_chars(t, capitalized)))
}

fn titled<T: Char>(i: usize, s: &[T]) -> T {
    let letter = |c: T| c.character().is_some_and(char::is_alphabetic);
    if i > 0 && letter(s[i - 1]) {
        s[i].lower()
    } else {
        s[i].upper()
    }
}

fn title(it: &mut Interp, args: Args<'_>) -> R {
    let t = argument(it, args, 0, "method")?;
    Ok(on_chars!(t => map_chars(t, titled)))
}

fn all_chars(it: &mut Interp, args: Args<'_>, f: impl Fn(char) -> bool) -> R {
    let t = argument(it, args, 0, "method")?;
    let holds = on_chars!(t => t.iter().all(|c| c.character().is_some_and(&f)));
    Ok(Value::Bool(holds && t.len() > 0))
}

fn isdigit(it: &mut Interp, args: Args<'_>) -> R {
    all_chars(it, args, |c| {
        c.is_ascii_digit() || (c > '\x7f' && c.is_numeric())
    })
}

fn isalpha(it: &mut Interp, args: Args<'_>) -> R {
    all_chars(it, args, char::is_alphabetic)
}

fn isalnum(it: &mut Interp, args: Args<'_>) -> R {
    all_chars(it, args, char::is_alphanumeric)
}

fn isspace(it: &mut Interp, args: Args<'_>) -> R {
    all_chars(it, args, |c| u32::from(c).is_space())
}

fn cased(it: &mut Interp, args: Args<'_>, up: bool) -> R {
    let t = argument(it, args, 0, "method")?;
    let mut any = false;
    for c in t.points().iter().filter(|c| t.is_unicode() || **c < 128) {
        let Some(c) = c.character() else { continue };
        match (c.is_uppercase(), c.is_lowercase()) {
            (true, _) if !up => return Ok(Value::Bool(false)),
            (_, true) if up => return Ok(Value::Bool(false)),
            (false, false) => {}
            _ => any = true,
        }
    }
    Ok(Value::Bool(any))
}

fn isupper(it: &mut Interp, args: Args<'_>) -> R {
    cased(it, args, true)
}

fn islower(it: &mut Interp, args: Args<'_>) -> R {
    cased(it, args, false)
}

fn istitle(it: &mut Interp, args: Args<'_>) -> R {
    let t = argument(it, args, 0, "method")?;
    Ok(Value::Bool(on_chars!(t => is_title(t))))
}

/// Whether each word begins with its only upper-case letter.
fn is_title<T: Char>(s: &[T]) -> bool {
    let (mut any, mut inside) = (false, false);
    for c in s {
        let c = c.character();
        let upper = c.is_some_and(char::is_uppercase);
        let cased = upper || c.is_some_and(char::is_lowercase);
        if cased && upper == inside {
            return false;
        }
        any |= cased;
        inside = cased;
    }
    any
}

/// Pads a string to a width. `place` maps the number of fill characters and the width to the numbers on the left
/// and on the right.
fn justify(it: &mut Interp, args: Args<'_>, place: fn(usize, usize) -> (usize, usize)) -> R {
    let t = argument(it, args, 0, "ljust")?;
    let arg = args.need(it, 1, "ljust")?;
    let width = it.index_of(arg)?.clamp(0, 1 << 24) as usize;
    let fill = match args.get(2) {
        Some(v) => text(it, v)?.points().first().copied().unwrap_or(32),
        None => 32,
    };
    let (left, right) = place(width.saturating_sub(t.len()), width);
    let mut out = vec![fill; left];
    out.extend_from_slice(&t.points());
    out.extend(std::iter::repeat_n(fill, right));
    Ok(make(&out, t.is_unicode()))
}

fn ljust(it: &mut Interp, args: Args<'_>) -> R {
    justify(it, args, |n, _| (0, n))
}

fn rjust(it: &mut Interp, args: Args<'_>) -> R {
    justify(it, args, |n, _| (n, 0))
}

fn center(it: &mut Interp, args: Args<'_>) -> R {
    justify(it, args, |n, width| {
        let left = n / 2 + (n & width & 1);
        (left, n - left)
    })
}

fn zfill(it: &mut Interp, args: Args<'_>) -> R {
    let t = argument(it, args, 0, "zfill")?;
    let arg = args.need(it, 1, "zfill")?;
    let width = it.index_of(arg)?.clamp(0, 1 << 24) as usize;
    Ok(on_chars!(t => zero_filled(t, width)))
}

fn zero_filled<T: Char>(s: &[T], width: usize) -> Value {
    let is_sign = |c: &T| *c == T::from(b'+') || *c == T::from(b'-');
    let sign = usize::from(s.first().is_some_and(is_sign));
    let mut out = s[..sign].to_vec();
    out.extend(std::iter::repeat_n(
        T::from(b'0'),
        width.saturating_sub(s.len()),
    ));
    out.extend_from_slice(&s[sign..]);
    T::value(&out)
}

fn expandtabs(it: &mut Interp, args: Args<'_>) -> R {
    let t = argument(it, args, 0, "expandtabs")?;
    let size = match args.get(1) {
        Some(v) => it.index_of(v)?.clamp(0, 256) as usize,
        None => 8,
    };
    let mut out = Vec::new();
    let mut column = 0;
    for c in t.points().iter().copied() {
        match c {
            9 => {
                let n = if size == 0 { 0 } else { size - column % size };
                it.check_text(out.len())?;
                out.extend(std::iter::repeat_n(32, n));
                column += n;
            }
            _ => {
                out.push(c);
                column = if c == 10 || c == 13 { 0 } else { column + 1 };
            }
        }
    }
    Ok(make(&out, t.is_unicode()))
}

fn translate(it: &mut Interp, args: Args<'_>) -> R {
    let t = argument(it, args, 0, "translate")?;
    let table = args.need(it, 1, "translate")?;
    let s = match &t {
        Text::Bytes(s) => s,
        Text::Points(s) => return translate_points(it, s, table),
    };
    let gone = match args.get(2) {
        Some(v) => text(it, v)?.points().into_owned(),
        None => vec![],
    };
    let kept = s.iter().filter(|c| !gone.contains(&u32::from(**c)));
    let out: Vec<u8> = match table {
        Value::None => kept.copied().collect(),
        v => {
            let map = text(it, v)?.points().into_owned();
            if map.len() != 256 {
                return it.value_error("translation table must be 256 characters long");
            }
            kept.map(|c| map[usize::from(*c)] as u8).collect()
        }
    };
    Ok(Value::bytes(&out))
}

fn translate_points(it: &mut Interp, s: &[u32], table: &Value) -> R {
    let mut out = Vec::new();
    for c in s {
        let got = it.getitem(table, &Value::Int(i64::from(*c)));
        match it.catch(got, ty::LOOKUP_ERROR)? {
            None => out.push(*c),
            Some(Value::None) => {}
            Some(Value::Int(i)) => out.push(i as u32),
            Some(v) => {
                it.check_text(out.len())?;
                out.extend_from_slice(&text(it, &v)?.points());
            }
        }
    }
    Ok(Value::Unicode(out.into()))
}

fn codec_args(it: &mut Interp, args: Args<'_>, default: &str) -> R<(String, String)> {
    let encoding = match args.named(1, "encoding") {
        Some(v) => it.name_of(v, "encoding")?,
        None => default.to_owned(),
    };
    let errors = match args.named(2, "errors") {
        Some(v) => it.name_of(v, "errors")?,
        None => "strict".to_owned(),
    };
    Ok((encoding, errors))
}

fn encode(it: &mut Interp, args: Args<'_>) -> R {
    let (encoding, errors) = codec_args(it, args, "ascii")?;
    let slf = args.need(it, 0, "encode")?;
    match (it.unboxed(slf), &*encoding) {
        (Value::Str(s), "hex") => {
            let hex: String = s.iter().map(|b| format!("{b:02x}")).collect();
            Ok(Value::str(&hex))
        }
        (Value::Str(s), "string_escape" | "string-escape") => {
            let quoted = crate::space::repr::quote_bytes(&s);
            Ok(Value::str(&quoted[1..quoted.len() - 1]))
        }
        _ => {
            let u = it.code_points(slf)?;
            Ok(Value::bytes(&it.encode(&u, &encoding, &errors)?))
        }
    }
}

fn decode(it: &mut Interp, args: Args<'_>) -> R {
    let (encoding, errors) = codec_args(it, args, "ascii")?;
    let arg = args.need(it, 0, "decode")?;
    let s = it.bytes_of(arg)?;
    match &*encoding {
        "hex" => {
            let digits: Vec<u8> = s
                .iter()
                .filter_map(|c| (*c as char).to_digit(16))
                .map(|d| d as u8)
                .collect();
            if digits.len() != s.len() || digits.len() % 2 == 1 {
                return it.type_error("Non-hexadecimal digit found");
            }
            let bytes: Vec<u8> = digits.chunks(2).map(|p| p[0] << 4 | p[1]).collect();
            Ok(Value::bytes(&bytes))
        }
        _ => Ok(Value::Unicode(it.decode(&s, &encoding, &errors)?.into())),
    }
}

fn format(it: &mut Interp, args: Args<'_>) -> R {
    let t = argument(it, args, 0, "format")?;
    let mut out: Vec<u32> = Vec::new();
    let mut auto = 1usize;
    let mut unicode = t.is_unicode();
    let s = t.points();
    let mut i = 0;
    let (open, close) = (u32::from('{'), u32::from('}'));
    while i < s.len() {
        if s[i] == open || s[i] == close {
            if s.get(i + 1) == Some(&s[i]) {
                out.push(s[i]);
                i += 2;
                continue;
            }
            let Some(end) = s[i..]
                .iter()
                .position(|c| *c == close)
                .filter(|_| s[i] == open)
            else {
                return it.value_error("Single '}' encountered in format string");
            };
            let field = crate::space::number::text_of(&s[i + 1..i + end]);
            i += end + 1;
            let (name, spec) = field.split_once(':').unwrap_or((&field, ""));
            let (name, conv) = name.split_once('!').unwrap_or((name, ""));
            let v = format_field(it, name, args, &mut auto)?;
            let v = match conv {
                "r" => Value::bytes(&it.repr(&v)?),
                "s" => it.str_of(&v)?,
                _ => v,
            };
            let shown = it.format_value(&v, spec)?;
            let shown = text(it, &shown)?;
            unicode |= shown.is_unicode();
            it.check_text(out.len())?;
            out.extend_from_slice(&shown.points());
        } else {
            out.push(s[i]);
            i += 1;
        }
    }
    Ok(make(&out, unicode))
}

fn format_field(it: &mut Interp, name: &str, args: Args<'_>, auto: &mut usize) -> R {
    let split = name.find(['.', '[']).unwrap_or(name.len());
    let (head, mut rest) = name.split_at(split);
    let mut v = if head.is_empty() {
        *auto += 1;
        args.get(*auto - 1).cloned()
    } else if let Ok(i) = head.parse::<usize>() {
        args.get(i + 1).cloned()
    } else {
        match args.keyword(head) {
            Some(v) => Some(v.clone()),
            None => return it.key_error(&Value::str(head)),
        }
    };
    while !rest.is_empty() {
        let Some(obj) = v else { break };
        if let Some(r) = rest.strip_prefix('.') {
            let end = r.find(['.', '[']).unwrap_or(r.len());
            v = Some(it.getattr(&obj, &r[..end])?);
            rest = &r[end..];
        } else {
            let Some(end) = rest.find(']') else {
                return it.value_error("Missing ']' in format string");
            };
            let key = &rest[1..end];
            let key = match key.parse::<i64>() {
                Ok(i) => Value::Int(i),
                Err(_) => Value::str(key),
            };
            v = Some(it.getitem(&obj, &key)?);
            rest = &rest[end + 1..];
        }
    }
    match v {
        Some(v) => Ok(v),
        None => it.index_error("tuple index out of range"),
    }
}

impl Interp<'_> {
    /// `format(v, spec)`
    pub(crate) fn format_value(&mut self, v: &Value, spec: &str) -> R {
        if let Some(r) = self.call_special(v, "__format__", &[Value::str(spec)])? {
            return Ok(r);
        }
        if spec.is_empty() {
            return match self.unboxed(v) {
                u @ Value::Unicode(_) => Ok(u),
                _ => self.str_of(v),
            };
        }
        let mut chars: Vec<char> = spec.chars().collect();
        let (mut fill, mut align) = (' ', None);
        if chars.len() > 1 && "<>^=".contains(chars[1]) {
            (fill, align) = (chars[0], Some(chars[1]));
            chars.drain(..2);
        } else if chars.first().is_some_and(|c| "<>^=".contains(*c)) {
            align = Some(chars.remove(0));
        }
        let mut flags = String::new();
        while chars.first().is_some_and(|c| "+- #".contains(*c)) {
            flags.push(chars.remove(0));
        }
        if chars.first() == Some(&'0') {
            (fill, align) = ('0', align.or(Some('=')));
            chars.remove(0);
        }
        let take = |chars: &mut Vec<char>| {
            let n = chars.iter().take_while(|c| c.is_ascii_digit()).count();
            let s: String = chars.drain(..n).collect();
            s.parse::<usize>().ok().map(|n| n.min(1 << 24))
        };
        let width = take(&mut chars).unwrap_or(0);
        let comma = chars.first() == Some(&',');
        if comma {
            chars.remove(0);
        }
        let precision = if chars.first() == Some(&'.') {
            chars.remove(0);
            take(&mut chars)
        } else {
            None
        };
        let plain = self.unboxed(v);
        let numeric = matches!(
            plain,
            Value::Int(_) | Value::Long(_) | Value::Float(_) | Value::Bool(_)
        );
        let kind = match (chars.first().copied(), &plain) {
            (Some(c), _) => c,
            (None, Value::Int(_) | Value::Long(_) | Value::Bool(_)) => 'd',
            (None, Value::Float(_)) => 'g',
            (None, _) => 's',
        };
        let body = match kind {
            'b' => {
                let n = self.big_int(&plain).unwrap_or_default();
                let digits = self.digits(&n, 2)?;
                if flags.contains('#') {
                    format!("0b{digits}")
                } else {
                    digits
                }
            }
            '%' => {
                let f = self.float_of(&plain)? * 100.0;
                format!("{f:.*}%", precision.unwrap_or(6))
            }
            'g' if chars.is_empty() && precision.is_none() => {
                let s = self.str_of(&plain)?;
                s.as_text().unwrap_or("").to_owned()
            }
            _ => {
                let p = precision.map_or(String::new(), |p| format!(".{p}"));
                let f = Value::str(&format!("%{flags}{p}{kind}"));
                let s = self.format_percent(&f, &Value::tuple(vec![plain.clone()]))?;
                match s {
                    Value::Unicode(u) => crate::space::number::text_of(&u),
                    other => other.as_text().unwrap_or("").to_owned(),
                }
            }
        };
        let body = if comma { with_commas(&body) } else { body };
        let missing = width.saturating_sub(body.chars().count());
        let pad = |n: usize| fill.to_string().repeat(n);
        let out = match align.unwrap_or(if numeric { '>' } else { '<' }) {
            '<' => body + &pad(missing),
            '^' => pad(missing / 2) + &body + &pad(missing - missing / 2),
            '=' => {
                let sign = usize::from(body.starts_with(['-', '+', ' ']));
                format!("{}{}{}", &body[..sign], pad(missing), &body[sign..])
            }
            _ => pad(missing) + &body,
        };
        Ok(match plain {
            Value::Unicode(_) => Value::unicode(&out),
            _ => Value::str(&out),
        })
    }
}

fn with_commas(s: &str) -> String {
    let sign = usize::from(s.starts_with(['-', '+']));
    let end = s.find('.').unwrap_or(s.len());
    let digits = &s[sign..end];
    let mut out = s[..sign].to_owned();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out + &s[end..]
}

fn getnewargs(it: &mut Interp, args: Args<'_>) -> R {
    let v = args.need(it, 0, "__getnewargs__")?;
    Ok(Value::tuple(vec![it.unboxed(v)]))
}

macro_rules! string_methods {
    ($name:ident, $t:literal, $($extra:expr),*) => {
        /// Methods of the class.
        pub(crate) const $name: &[Builtin] = &[
            Builtin::method(concat!($t, ".upper"), upper),
            Builtin::method(concat!($t, ".lower"), lower),
            Builtin::method(concat!($t, ".swapcase"), swapcase),
            Builtin::method(concat!($t, ".capitalize"), capitalize),
            Builtin::method(concat!($t, ".title"), title),
            Builtin::method(concat!($t, ".isdigit"), isdigit),
            Builtin::method(concat!($t, ".isalpha"), isalpha),
            Builtin::method(concat!($t, ".isalnum"), isalnum),
            Builtin::method(concat!($t, ".isspace"), isspace),
            Builtin::method(concat!($t, ".isupper"), isupper),
            Builtin::method(concat!($t, ".islower"), islower),
            Builtin::method(concat!($t, ".istitle"), istitle),
            Builtin::method(concat!($t, ".strip"), strip),
            Builtin::method(concat!($t, ".lstrip"), lstrip),
            Builtin::method(concat!($t, ".rstrip"), rstrip),
            Builtin::method(concat!($t, ".find"), find),
            Builtin::method(concat!($t, ".rfind"), rfind),
            Builtin::method(concat!($t, ".index"), index),
            Builtin::method(concat!($t, ".rindex"), rindex),
            Builtin::method(concat!($t, ".count"), count),
            Builtin::method(concat!($t, ".startswith"), startswith),
            Builtin::method(concat!($t, ".endswith"), endswith),
            Builtin::method(concat!($t, ".replace"), replace),
            Builtin::method(concat!($t, ".split"), split),
            Builtin::method(concat!($t, ".rsplit"), rsplit),
            Builtin::method(concat!($t, ".splitlines"), splitlines),
            Builtin::method(concat!($t, ".partition"), partition),
            Builtin::method(concat!($t, ".rpartition"), rpartition),
            Builtin::method(concat!($t, ".join"), join),
            Builtin::method(concat!($t, ".ljust"), ljust),
            Builtin::method(concat!($t, ".rjust"), rjust),
            Builtin::method(concat!($t, ".center"), center),
            Builtin::method(concat!($t, ".zfill"), zfill),
            Builtin::method(concat!($t, ".expandtabs"), expandtabs),
            Builtin::method(concat!($t, ".translate"), translate),
            Builtin::method(concat!($t, ".encode"), encode),
            Builtin::method(concat!($t, ".decode"), decode),
            Builtin::method(concat!($t, ".format"), format),
            Builtin::method(concat!($t, ".__getnewargs__"), getnewargs),
            Builtin::method(concat!($t, ".__add__"), super::object::operator_add),
            Builtin::method(concat!($t, ".__mul__"), super::object::operator_mul),
            Builtin::method(concat!($t, ".__mod__"), super::object::operator_mod),
            Builtin::method(concat!($t, ".__len__"), super::object::operator_len),
            Builtin::method(concat!($t, ".__contains__"), super::object::operator_contains),
            Builtin::method(concat!($t, ".__getitem__"), super::object::operator_getitem),
            Builtin::method(concat!($t, ".__getslice__"), super::object::operator_getslice),
            Builtin::method(concat!($t, ".__eq__"), super::object::operator_eq),
            Builtin::method(concat!($t, ".__ne__"), super::object::operator_ne),
            Builtin::method(concat!($t, ".__lt__"), super::object::operator_lt),
            $($extra,)*
        ];
    };
}
string_methods!(STR, "str",);
string_methods!(
    UNICODE,
    "unicode",
    Builtin::method("unicode.isdecimal", isdigit),
    Builtin::method("unicode.isnumeric", isdigit)
);
