//! Methods of `str` and `unicode`. Both work on code points; a byte string's are
//! its bytes.

use crate::space::builtin::{Args, Builtin};
use crate::space::types::ty;
use crate::space::value::Value;
use crate::space::{Interp, R};

/// A string of either kind.
struct Text {
    chars: Vec<u32>,
    unicode: bool,
}

impl Text {
    fn value(self) -> Value {
        make(self.chars, self.unicode)
    }
}

fn make(chars: Vec<u32>, unicode: bool) -> Value {
    if unicode {
        Value::Unicode(chars.into())
    } else {
        Value::Str(chars.iter().map(|c| *c as u8).collect())
    }
}

fn text(it: &mut Interp, v: &Value) -> R<Text> {
    let v = it.unboxed(v);
    // All of it is copied.
    if let Value::Str(_) | Value::Unicode(_) = v {
        let len = it.len(&v)?;
        it.work_items(len)?;
    }
    match v {
        Value::Str(s) => Ok(Text {
            chars: s.iter().map(|c| u32::from(*c)).collect(),
            unicode: false,
        }),
        Value::Unicode(u) => Ok(Text {
            chars: u.to_vec(),
            unicode: true,
        }),
        other => {
            let t = it.heap.type_name(&other).to_owned();
            it.type_error(format!("expected a character buffer object, got {t}"))
        }
    }
}

/// The string itself, and an argument that is a string.
fn self_and(it: &mut Interp, args: Args<'_>, i: usize, f: &str) -> R<(Text, Text)> {
    let arg = args.need(it, 0, f)?;
    let a = text(it, arg)?;
    let arg = args.need(it, i, f)?;
    let b = text(it, arg)?;
    Ok((a, b))
}

fn is_space(c: u32) -> bool {
    matches!(c, 9..=13 | 32) || (c > 127 && char::from_u32(c).is_some_and(char::is_whitespace))
}

fn character(c: u32, unicode: bool) -> Option<char> {
    if c < 128 || unicode {
        char::from_u32(c)
    } else {
        None
    }
}

fn upper_one(c: u32, unicode: bool) -> u32 {
    match character(c, unicode) {
        Some(c) => u32::from(c.to_uppercase().next().unwrap_or(c)),
        None => c,
    }
}

fn lower_one(c: u32, unicode: bool) -> u32 {
    match character(c, unicode) {
        Some(c) => u32::from(c.to_lowercase().next().unwrap_or(c)),
        None => c,
    }
}

fn map_chars(it: &mut Interp, args: Args<'_>, f: impl Fn(usize, &[u32], bool) -> u32) -> R {
    let arg = args.need(it, 0, "method")?;
    let t = text(it, arg)?;
    let chars = (0..t.chars.len())
        .map(|i| f(i, &t.chars, t.unicode))
        .collect();
    Ok(make(chars, t.unicode))
}

fn upper(it: &mut Interp, args: Args<'_>) -> R {
    map_chars(it, args, |i, s, u| upper_one(s[i], u))
}

fn lower(it: &mut Interp, args: Args<'_>) -> R {
    map_chars(it, args, |i, s, u| lower_one(s[i], u))
}

fn swapcase(it: &mut Interp, args: Args<'_>) -> R {
    map_chars(it, args, |i, s, u| {
        let up = upper_one(s[i], u);
        if up == s[i] { lower_one(s[i], u) } else { up }
    })
}

fn capitalize(it: &mut Interp, args: Args<'_>) -> R {
    map_chars(it, args, |i, s, u| {
        if i == 0 {
            upper_one(s[i], u)
        } else {
            lower_one(s[i], u)
        }
    })
}

fn title(it: &mut Interp, args: Args<'_>) -> R {
    map_chars(it, args, |i, s, u| {
        let letter = |c| character(c, u).is_some_and(char::is_alphabetic);
        if i > 0 && letter(s[i - 1]) {
            lower_one(s[i], u)
        } else {
            upper_one(s[i], u)
        }
    })
}

fn all_chars(it: &mut Interp, args: Args<'_>, f: impl Fn(char) -> bool) -> R {
    let arg = args.need(it, 0, "method")?;
    let t = text(it, arg)?;
    let ok = !t.chars.is_empty()
        && t.chars
            .iter()
            .all(|c| character(*c, t.unicode).is_some_and(&f));
    Ok(Value::Bool(ok))
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
    all_chars(it, args, |c| is_space(u32::from(c)))
}

fn cased(it: &mut Interp, args: Args<'_>, up: bool) -> R {
    let arg = args.need(it, 0, "method")?;
    let t = text(it, arg)?;
    let mut any = false;
    for c in t.chars.iter().filter_map(|c| character(*c, t.unicode)) {
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
    let same = title(it, args)?;
    let eq = it.eq(&same, &args.pos[0])?;
    Ok(Value::Bool(eq))
}

fn strip_with(it: &mut Interp, args: Args<'_>, left: bool, right: bool) -> R {
    let arg = args.need(it, 0, "strip")?;
    let t = text(it, arg)?;
    let mut unicode = t.unicode;
    let set = match args.get(1) {
        None | Some(Value::None) => None,
        Some(v) => {
            let s = text(it, v)?;
            unicode |= s.unicode;
            Some(s.chars)
        }
    };
    let gone = |c: &u32| match &set {
        Some(s) => s.contains(c),
        None => is_space(*c),
    };
    let mut s = &t.chars[..];
    while left && s.first().is_some_and(gone) {
        s = &s[1..];
    }
    while right && s.last().is_some_and(gone) {
        s = &s[..s.len() - 1];
    }
    Ok(make(s.to_vec(), unicode))
}

fn strip(it: &mut Interp, args: Args<'_>) -> R {
    strip_with(it, args, true, true)
}

fn lstrip(it: &mut Interp, args: Args<'_>) -> R {
    strip_with(it, args, true, false)
}

fn rstrip(it: &mut Interp, args: Args<'_>) -> R {
    strip_with(it, args, false, true)
}

/// The part of the string that `start` and `stop` arguments select, and where it
/// begins; None where start is past the end.
fn window(it: &mut Interp, args: Args<'_>, t: &Text) -> R<Option<(usize, usize)>> {
    let start = args.get(2).cloned().unwrap_or(Value::None);
    let stop = args.get(3).cloned().unwrap_or(Value::None);
    let past = match &start {
        Value::Int(i) => *i > t.chars.len() as i64,
        _ => false,
    };
    if past {
        return Ok(None);
    }
    let (a, b) = it.bounds(&start, &stop, t.chars.len())?;
    // An empty window behind its stop matches nothing.
    if let (Value::Int(_), Value::Int(stop)) = (&start, &stop) {
        let stop = if *stop < 0 {
            stop + t.chars.len() as i64
        } else {
            *stop
        };
        if stop < a as i64 {
            return Ok(None);
        }
    }
    Ok(Some((a, b)))
}

type Search = fn(&mut Interp<'_>, &[u32], &[u32]) -> R<Option<usize>>;

fn search(it: &mut Interp, args: Args<'_>, how: Search) -> R<Option<usize>> {
    let (t, n) = self_and(it, args, 1, "find")?;
    let Some((a, b)) = window(it, args, &t)? else {
        return Ok(None);
    };
    Ok(how(it, &t.chars[a..b], &n.chars)?.map(|i| i + a))
}

fn found(r: Option<usize>) -> Value {
    Value::Int(r.map_or(-1, |i| i as i64))
}

fn find_method(it: &mut Interp, args: Args<'_>) -> R {
    Ok(found(search(it, args, |it, s, n| it.find(s, n))?))
}

fn rfind_method(it: &mut Interp, args: Args<'_>) -> R {
    Ok(found(search(it, args, |it, s, n| it.rfind(s, n))?))
}

fn index(it: &mut Interp, args: Args<'_>) -> R {
    match search(it, args, |it, s, n| it.find(s, n))? {
        Some(i) => Ok(Value::from(i)),
        None => it.value_error("substring not found"),
    }
}

fn rindex(it: &mut Interp, args: Args<'_>) -> R {
    match search(it, args, |it, s, n| it.rfind(s, n))? {
        Some(i) => Ok(Value::from(i)),
        None => it.value_error("substring not found"),
    }
}

fn count(it: &mut Interp, args: Args<'_>) -> R {
    let (t, n) = self_and(it, args, 1, "count")?;
    let Some((a, b)) = window(it, args, &t)? else {
        return Ok(Value::Int(0));
    };
    let mut s = &t.chars[a..b];
    if n.chars.is_empty() {
        return Ok(Value::from(s.len() + 1));
    }
    let mut times = 0i64;
    while let Some(i) = it.find(s, &n.chars)? {
        times += 1;
        s = &s[i + n.chars.len()..];
    }
    Ok(Value::Int(times))
}

fn affix(it: &mut Interp, args: Args<'_>, test: fn(&[u32], &[u32]) -> bool) -> R {
    let arg = args.need(it, 0, "startswith")?;
    let t = text(it, arg)?;
    let what = args.need(it, 1, "startswith")?.clone();
    let Some((a, b)) = window(it, args, &t)? else {
        return Ok(Value::Bool(false));
    };
    let options = match &what {
        Value::Tuple(t) => t.to_vec(),
        other => vec![other.clone()],
    };
    for o in options {
        let o = text(it, &o)?;
        if test(&t.chars[a..b], &o.chars) {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}

fn startswith(it: &mut Interp, args: Args<'_>) -> R {
    affix(it, args, |s, p| s.starts_with(p))
}

fn endswith(it: &mut Interp, args: Args<'_>) -> R {
    affix(it, args, |s, p| s.ends_with(p))
}

fn replace(it: &mut Interp, args: Args<'_>) -> R {
    let (t, old) = self_and(it, args, 1, "replace")?;
    let arg = args.need(it, 2, "replace")?;
    let new = text(it, arg)?;
    let mut left = match args.get(3) {
        Some(v) => it.index_of(v)?,
        None => -1,
    };
    let mut out = Vec::new();
    let mut s = &t.chars[..];
    if old.chars.is_empty() {
        for c in s {
            if left != 0 {
                it.check_text(out.len())?;
                out.extend(&new.chars);
                left -= 1;
            }
            out.push(*c);
        }
        if left != 0 {
            out.extend(&new.chars);
        }
        return Ok(make(out, t.unicode || old.unicode || new.unicode));
    }
    while left != 0 {
        let Some(i) = it.find(s, &old.chars)? else {
            break;
        };
        it.check_text(out.len())?;
        out.extend(&s[..i]);
        out.extend(&new.chars);
        s = &s[i + old.chars.len()..];
        left -= 1;
    }
    out.extend(s);
    Ok(make(out, t.unicode || old.unicode || new.unicode))
}

fn split_limit(it: &mut Interp, args: Args<'_>) -> R<usize> {
    Ok(match args.named(2, "maxsplit") {
        Some(v) => usize::try_from(it.index_of(v)?).unwrap_or(usize::MAX),
        None => usize::MAX,
    })
}

fn split(it: &mut Interp, args: Args<'_>) -> R {
    let arg = args.need(it, 0, "split")?;
    let t = text(it, arg)?;
    let mut limit = split_limit(it, args)?;
    let mut unicode = t.unicode;
    let mut parts: Vec<Vec<u32>> = Vec::new();
    let mut s = &t.chars[..];
    match args.named(1, "sep") {
        None | Some(Value::None) => loop {
            while s.first().is_some_and(|c| is_space(*c)) {
                s = &s[1..];
            }
            if s.is_empty() {
                break;
            }
            if limit == 0 {
                parts.push(s.to_vec());
                break;
            }
            let end = s.iter().position(|c| is_space(*c)).unwrap_or(s.len());
            parts.push(s[..end].to_vec());
            s = &s[end..];
            limit -= 1;
        },
        Some(sep) => {
            let sep = text(it, sep)?;
            unicode |= sep.unicode;
            if sep.chars.is_empty() {
                return it.value_error("empty separator");
            }
            while limit > 0 {
                let Some(i) = it.find(s, &sep.chars)? else {
                    break;
                };
                parts.push(s[..i].to_vec());
                s = &s[i + sep.chars.len()..];
                limit -= 1;
            }
            parts.push(s.to_vec());
        }
    }
    let items = parts.into_iter().map(|p| make(p, unicode)).collect();
    Ok(it.heap.list(items))
}

fn rsplit(it: &mut Interp, args: Args<'_>) -> R {
    let arg = args.need(it, 0, "rsplit")?;
    let t = text(it, arg)?;
    let mut limit = split_limit(it, args)?;
    let mut parts: Vec<Vec<u32>> = Vec::new();
    let mut s = &t.chars[..];
    match args.named(1, "sep") {
        None | Some(Value::None) => loop {
            while s.last().is_some_and(|c| is_space(*c)) {
                s = &s[..s.len() - 1];
            }
            if s.is_empty() {
                break;
            }
            if limit == 0 {
                parts.push(s.to_vec());
                break;
            }
            let start = s.iter().rposition(|c| is_space(*c)).map_or(0, |i| i + 1);
            parts.push(s[start..].to_vec());
            s = &s[..start];
            limit -= 1;
        },
        Some(sep) => {
            let sep = text(it, sep)?;
            if sep.chars.is_empty() {
                return it.value_error("empty separator");
            }
            while limit > 0 {
                let Some(i) = it.rfind(s, &sep.chars)? else {
                    break;
                };
                parts.push(s[i + sep.chars.len()..].to_vec());
                s = &s[..i];
                limit -= 1;
            }
            parts.push(s.to_vec());
        }
    }
    parts.reverse();
    let items = parts.into_iter().map(|p| make(p, t.unicode)).collect();
    Ok(it.heap.list(items))
}

fn splitlines(it: &mut Interp, args: Args<'_>) -> R {
    let arg = args.need(it, 0, "splitlines")?;
    let t = text(it, arg)?;
    let keep = match args.named(1, "keepends") {
        Some(v) => it.truth(&v.clone())?,
        None => false,
    };
    let mut items = Vec::new();
    let s = &t.chars;
    let mut i = 0;
    while i < s.len() {
        let mut end = i;
        while end < s.len() && s[end] != 10 && s[end] != 13 {
            end += 1;
        }
        let mut next = end;
        if next < s.len() {
            next += if s[next] == 13 && s.get(next + 1) == Some(&10) {
                2
            } else {
                1
            };
        }
        items.push(make(
            s[i..if keep { next } else { end }].to_vec(),
            t.unicode,
        ));
        i = next;
    }
    Ok(it.heap.list(items))
}

fn partition_with(it: &mut Interp, args: Args<'_>, how: Search, last: bool) -> R {
    let (t, sep) = self_and(it, args, 1, "partition")?;
    if sep.chars.is_empty() {
        return it.value_error("empty separator");
    }
    let u = t.unicode || sep.unicode;
    Ok(Value::tuple(match how(it, &t.chars, &sep.chars)? {
        Some(i) => vec![
            make(t.chars[..i].to_vec(), u),
            make(sep.chars.clone(), u),
            make(t.chars[i + sep.chars.len()..].to_vec(), u),
        ],
        None if last => vec![make(vec![], u), make(vec![], u), t.value()],
        None => vec![t.value(), make(vec![], u), make(vec![], u)],
    }))
}

fn partition(it: &mut Interp, args: Args<'_>) -> R {
    partition_with(it, args, |it, s, n| it.find(s, n), false)
}

fn rpartition(it: &mut Interp, args: Args<'_>) -> R {
    partition_with(it, args, |it, s, n| it.rfind(s, n), true)
}

fn join(it: &mut Interp, args: Args<'_>) -> R {
    let arg = args.need(it, 0, "join")?;
    let sep = text(it, arg)?;
    let arg = args.need(it, 1, "join")?;
    let items = it.list_of(arg)?;
    let mut out = Vec::new();
    let mut unicode = sep.unicode;
    for (i, x) in items.iter().enumerate() {
        it.check_text(out.len())?;
        if i > 0 {
            out.extend(&sep.chars);
        }
        match it.unboxed(x) {
            Value::Str(s) => out.extend(s.iter().map(|c| u32::from(*c))),
            Value::Unicode(u) => {
                unicode = true;
                out.extend(u.iter());
            }
            other => {
                let t = it.heap.type_name(&other).to_owned();
                return it.type_error(format!("sequence item {i}: expected string, {t} found"));
            }
        }
    }
    Ok(make(out, unicode))
}

fn justify(it: &mut Interp, args: Args<'_>, place: fn(usize) -> (usize, usize)) -> R {
    let arg = args.need(it, 0, "ljust")?;
    let t = text(it, arg)?;
    let arg = args.need(it, 1, "ljust")?;
    let width = it.index_of(arg)?.clamp(0, 1 << 24) as usize;
    let fill = match args.get(2) {
        Some(v) => text(it, v)?.chars.first().copied().unwrap_or(32),
        None => 32,
    };
    let (left, right) = place(width.saturating_sub(t.chars.len()));
    let mut out = vec![fill; left];
    out.extend(&t.chars);
    out.extend(std::iter::repeat_n(fill, right));
    Ok(make(out, t.unicode))
}

fn ljust(it: &mut Interp, args: Args<'_>) -> R {
    justify(it, args, |n| (0, n))
}

fn rjust(it: &mut Interp, args: Args<'_>) -> R {
    justify(it, args, |n| (n, 0))
}

fn center(it: &mut Interp, args: Args<'_>) -> R {
    justify(it, args, |n| (n / 2, n - n / 2))
}

fn zfill(it: &mut Interp, args: Args<'_>) -> R {
    let arg = args.need(it, 0, "zfill")?;
    let t = text(it, arg)?;
    let arg = args.need(it, 1, "zfill")?;
    let width = it.index_of(arg)?.clamp(0, 1 << 24) as usize;
    let sign = usize::from(t.chars.first().is_some_and(|c| *c == 43 || *c == 45));
    let mut out = t.chars[..sign].to_vec();
    out.extend(std::iter::repeat_n(48, width.saturating_sub(t.chars.len())));
    out.extend(&t.chars[sign..]);
    Ok(make(out, t.unicode))
}

fn expandtabs(it: &mut Interp, args: Args<'_>) -> R {
    let arg = args.need(it, 0, "expandtabs")?;
    let t = text(it, arg)?;
    let size = match args.get(1) {
        Some(v) => it.index_of(v)?.clamp(0, 256) as usize,
        None => 8,
    };
    let mut out = Vec::new();
    let mut column = 0;
    for c in t.chars {
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
    Ok(make(out, t.unicode))
}

fn translate(it: &mut Interp, args: Args<'_>) -> R {
    let arg = args.need(it, 0, "translate")?;
    let t = text(it, arg)?;
    let table = args.need(it, 1, "translate")?.clone();
    if t.unicode {
        let mut out = Vec::new();
        for c in t.chars {
            let got = it.getitem(&table, &Value::Int(i64::from(c)));
            match it.catch(got, ty::LOOKUP_ERROR)? {
                None => out.push(c),
                Some(Value::None) => {}
                Some(Value::Int(i)) => out.push(i as u32),
                Some(v) => {
                    it.check_text(out.len())?;
                    out.extend(text(it, &v)?.chars);
                }
            }
        }
        return Ok(make(out, true));
    }
    let gone = match args.get(2) {
        Some(v) => text(it, v)?.chars,
        None => vec![],
    };
    let kept = t.chars.into_iter().filter(|c| !gone.contains(c));
    let out = match &table {
        Value::None => kept.collect(),
        v => {
            let map = text(it, v)?.chars;
            if map.len() != 256 {
                return it.value_error("translation table must be 256 characters long");
            }
            kept.map(|c| map[c as usize]).collect()
        }
    };
    Ok(make(out, false))
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
    let arg = args.need(it, 0, "format")?;
    let t = text(it, arg)?;
    let mut out: Vec<u32> = Vec::new();
    let mut auto = 1usize;
    let mut unicode = t.unicode;
    let s = &t.chars;
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
            unicode |= shown.unicode;
            it.check_text(out.len())?;
            out.extend(shown.chars);
        } else {
            out.push(s[i]);
            i += 1;
        }
    }
    Ok(make(out, unicode))
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
            Builtin::method(concat!($t, ".find"), find_method),
            Builtin::method(concat!($t, ".rfind"), rfind_method),
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
