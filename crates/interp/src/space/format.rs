//! The `%` operator and number formatting.

use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive};

use super::heap::Kind;
use super::number;
use super::types::ty;
use super::value::Value;
use super::{Interp, R};

/// One conversion specifier.
#[derive(Default)]
struct Spec {
    minus: bool,
    plus: bool,
    blank: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
}

impl Interp<'_> {
    /// `fmt % args`
    pub(crate) fn format_percent(&mut self, fmt: &Value, args: &Value) -> R {
        let unicode = matches!(fmt, Value::Unicode(_));
        let fmt: Vec<u32> = match fmt {
            Value::Unicode(u) => u.to_vec(),
            Value::Str(s) => s.iter().map(|c| u32::from(*c)).collect(),
            _ => vec![],
        };
        let mut out: Vec<u32> = Vec::with_capacity(fmt.len() + 16);
        let mut unicode_out = unicode;
        let positional: Vec<Value> = match args {
            Value::Tuple(t) => t.to_vec(),
            other => vec![other.clone()],
        };
        let mut next = 0;
        let mut used_mapping = false;
        let mut i = 0;
        while i < fmt.len() {
            if fmt[i] != u32::from('%') {
                out.push(fmt[i]);
                i += 1;
                continue;
            }
            i += 1;
            let mut key = None;
            if fmt.get(i) == Some(&u32::from('(')) {
                let mut depth = 1;
                let start = i + 1;
                i += 1;
                while i < fmt.len() && depth > 0 {
                    match char::from_u32(fmt[i]) {
                        Some('(') => depth += 1,
                        Some(')') => depth -= 1,
                        _ => {}
                    }
                    i += 1;
                }
                if depth > 0 {
                    return self.value_error("incomplete format key");
                }
                let name = number::text_of(&fmt[start..i - 1]);
                key = Some(self.getitem(args, &Value::str(&name))?);
                used_mapping = true;
            }
            let mut spec = Spec::default();
            loop {
                match fmt.get(i).and_then(|c| char::from_u32(*c)) {
                    Some('-') => spec.minus = true,
                    Some('+') => spec.plus = true,
                    Some(' ') => spec.blank = true,
                    Some('#') => spec.alternate = true,
                    Some('0') => spec.zero = true,
                    _ => break,
                }
                i += 1;
            }
            let mut number = |it: &mut Self, i: &mut usize| -> R<Option<i64>> {
                if fmt.get(*i) == Some(&u32::from('*')) {
                    *i += 1;
                    let Some(v) = positional.get(next) else {
                        return it.type_error("not enough arguments for format string");
                    };
                    next += 1;
                    return match it.unboxed(v) {
                        Value::Bool(b) => Ok(Some(i64::from(b))),
                        Value::Int(i) => Ok(Some(i.clamp(-(1 << 24), 1 << 24))),
                        _ => it.type_error("* wants int"),
                    };
                }
                let mut n = None;
                while let Some(d) = fmt
                    .get(*i)
                    .and_then(|c| char::from_u32(*c))
                    .and_then(|c| c.to_digit(10))
                {
                    n = Some((n.unwrap_or(0) * 10 + i64::from(d)).min(1 << 24));
                    *i += 1;
                }
                Ok(n)
            };
            if let Some(w) = number(self, &mut i)? {
                spec.minus |= w < 0;
                spec.width = w.unsigned_abs() as usize;
            }
            if fmt.get(i) == Some(&u32::from('.')) {
                i += 1;
                spec.precision = Some(number(self, &mut i)?.unwrap_or(0).max(0) as usize);
            }
            while matches!(
                fmt.get(i).and_then(|c| char::from_u32(*c)),
                Some('l' | 'h' | 'L')
            ) {
                i += 1;
            }
            let Some(c) = fmt.get(i).and_then(|c| char::from_u32(*c)) else {
                return self.value_error("incomplete format");
            };
            i += 1;
            if c == '%' {
                pad(&mut out, vec![u32::from('%')], &spec);
                continue;
            }
            let value = match key {
                Some(v) => v,
                None => {
                    let Some(v) = positional.get(next) else {
                        return self.type_error("not enough arguments for format string");
                    };
                    next += 1;
                    v.clone()
                }
            };
            let text = self.convert_one(c, &value, &mut spec, &mut unicode_out, i - 1)?;
            pad(&mut out, text, &spec);
        }
        let leftover =
            next < positional.len() && !used_mapping && !(next == 0 && self.is_mapping(args));
        if leftover {
            return self.type_error("not all arguments converted during string formatting");
        }
        if unicode_out {
            return Ok(Value::Unicode(out.into()));
        }
        Ok(Value::Str(out.iter().map(|c| *c as u8).collect()))
    }

    fn is_mapping(&mut self, v: &Value) -> bool {
        match v {
            Value::Ref(r) => {
                matches!(self.heap.kind(*r), Kind::Dict(_) | Kind::List(_))
                    || matches!(self.special(v, "__getitem__"), Ok(Some(_)))
            }
            _ => false,
        }
    }

    fn convert_one(
        &mut self,
        c: char,
        v: &Value,
        spec: &mut Spec,
        unicode: &mut bool,
        at: usize,
    ) -> R<Vec<u32>> {
        match c {
            's' | 'r' => {
                let mut text: Vec<u32> = if c == 'r' {
                    self.repr(v)?.into_iter().map(u32::from).collect()
                } else if *unicode || matches!(self.unboxed(v), Value::Unicode(_)) {
                    *unicode = true;
                    match self.unicode_of(v, None, None)? {
                        Value::Unicode(u) => u.to_vec(),
                        _ => vec![],
                    }
                } else {
                    match self.str_of(v)? {
                        Value::Str(s) => s.iter().map(|c| u32::from(*c)).collect(),
                        _ => vec![],
                    }
                };
                if let Some(p) = spec.precision {
                    text.truncate(p);
                }
                spec.zero = false;
                Ok(text)
            }
            'c' => {
                spec.zero = false;
                match self.unboxed(v) {
                    Value::Str(s) if s.len() == 1 => Ok(vec![u32::from(s[0])]),
                    Value::Unicode(u) if u.len() == 1 => {
                        *unicode = true;
                        Ok(u.to_vec())
                    }
                    n @ (Value::Bool(_) | Value::Int(_) | Value::Long(_)) => {
                        let limit = if *unicode { 0x11_0000 } else { 256 };
                        let c = number::integer(&n).and_then(|n| n.to_u32());
                        match c.filter(|c| *c < limit) {
                            Some(c) => Ok(vec![c]),
                            None => self.raise(
                                ty::OVERFLOW_ERROR,
                                format!("%c arg not in range({limit:#x})"),
                            ),
                        }
                    }
                    _ => self.type_error("%c requires int or char"),
                }
            }
            'd' | 'i' | 'u' | 'x' | 'X' | 'o' => {
                let n = match self.unboxed(v) {
                    Value::Float(f) if !f.is_finite() => {
                        return self
                            .type_error(format!("%{c} format: a number is required, not float"));
                    }
                    Value::Float(_) | Value::Int(_) | Value::Long(_) | Value::Bool(_) => {
                        self.int_of(v, None)?
                    }
                    Value::Ref(_) if self.special(v, "__int__")?.is_some() => {
                        self.int_of(v, None)?
                    }
                    other => {
                        let t = self.heap.type_name(&other).to_owned();
                        return self
                            .type_error(format!("%{c} format: a number is required, not {t}"));
                    }
                };
                let n = self.big_int(&n).unwrap_or_default();
                integer(self, &n, c, spec)
            }
            'e' | 'E' | 'f' | 'F' | 'g' | 'G' => {
                let text = matches!(self.unboxed(v), Value::Str(_) | Value::Unicode(_));
                let got = match text {
                    true => None,
                    false => {
                        let got = self.float_of(v);
                        self.catch(got, ty::TYPE_ERROR)?
                    }
                };
                let Some(f) = got else {
                    let t = self.heap.type_name(v).to_owned();
                    return self.type_error(format!("float argument required, not {t}"));
                };
                let p = spec.precision.unwrap_or(6).min(1000);
                let mut s = if !f.is_finite() {
                    spec.zero = false;
                    super::repr::float_repr(f)
                } else {
                    match c.to_ascii_lowercase() {
                        'f' => format!("{f:.p$}"),
                        'e' => scientific(f, p),
                        _ => general(f, p, spec.alternate, false),
                    }
                };
                if c.is_ascii_uppercase() {
                    s = s.to_ascii_uppercase();
                }
                Ok(signed(s, spec))
            }
            _ => self.value_error(format!(
                "unsupported format character '{c}' (0x{:x}) at index {at}",
                u32::from(c)
            )),
        }
    }
}

fn integer(it: &mut Interp, n: &BigInt, c: char, spec: &Spec) -> R<Vec<u32>> {
    let base = match c {
        'x' | 'X' => 16,
        'o' => 8,
        _ => 10,
    };
    let mut digits = it.digits(&n.abs(), base)?;
    if let Some(p) = spec.precision
        && digits.len() < p
    {
        digits.insert_str(0, &"0".repeat(p - digits.len()));
    }
    let prefix = match (spec.alternate, c) {
        (true, 'x' | 'X') => "0x",
        (true, 'o') if !digits.starts_with('0') => "0",
        _ => "",
    };
    let minus = if n.is_negative() { "-" } else { "" };
    let mut s = if spec.zero && !spec.minus {
        let room = spec
            .width
            .saturating_sub(prefix.len() + usize::from(n.is_negative() || spec.plus || spec.blank));
        let fill = "0".repeat(room.saturating_sub(digits.len()));
        format!("{minus}{prefix}{fill}{digits}")
    } else {
        format!("{minus}{prefix}{digits}")
    };
    if c == 'X' {
        s = s.to_ascii_uppercase();
    }
    Ok(signed(s, spec))
}

/// With the sign that the flags ask for.
fn signed(s: String, spec: &Spec) -> Vec<u32> {
    let s = if s.starts_with('-') {
        s
    } else if spec.plus {
        format!("+{s}")
    } else if spec.blank {
        format!(" {s}")
    } else {
        s
    };
    s.chars().map(u32::from).collect()
}

fn pad(out: &mut Vec<u32>, text: Vec<u32>, spec: &Spec) {
    let missing = spec.width.saturating_sub(text.len());
    let blank = u32::from(' ');
    if spec.minus {
        out.extend(text);
        out.extend(std::iter::repeat_n(blank, missing));
    } else if spec.zero {
        let sign = usize::from(
            text.first()
                .is_some_and(|c| [u32::from('-'), u32::from('+'), blank].contains(c)),
        );
        out.extend(&text[..sign]);
        out.extend(std::iter::repeat_n(u32::from('0'), missing));
        out.extend(&text[sign..]);
    } else {
        out.extend(std::iter::repeat_n(blank, missing));
        out.extend(text);
    }
}

/// `%e`
pub(crate) fn scientific(f: f64, precision: usize) -> String {
    let s = format!("{f:.precision$e}");
    let (m, e) = s.split_once('e').unwrap_or((&s, "0"));
    let e: i32 = e.parse().unwrap_or(0);
    format!("{m}e{}{:02}", if e < 0 { '-' } else { '+' }, e.abs())
}

/// `%g`; `keep` keeps trailing zeros, `dot` adds `.0` (and makes room for it).
pub(crate) fn general(f: f64, precision: usize, keep: bool, dot: bool) -> String {
    let p = precision.max(1);
    if f == 0.0 {
        let zero = if f.is_sign_negative() { "-0" } else { "0" };
        return format!("{zero}{}", if dot { ".0" } else { "" });
    }
    let sci = format!("{f:.*e}", p - 1);
    let exponent: i32 = sci
        .split_once('e')
        .and_then(|(_, e)| e.parse().ok())
        .unwrap_or(0);
    let trim = |s: String| {
        if keep || !s.contains('.') {
            s
        } else {
            s.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
    };
    if exponent < -4 || exponent >= p as i32 - i32::from(dot) {
        let s = scientific(f, p - 1);
        let (m, e) = s.split_once('e').unwrap_or((&s, "+00"));
        format!("{}e{e}", trim(m.to_owned()))
    } else {
        let s = trim(format!("{f:.*}", (p as i32 - 1 - exponent).max(0) as usize));
        if dot && !s.contains('.') { s + ".0" } else { s }
    }
}
