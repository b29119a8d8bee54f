//! `_sre`: regular expressions of byte strings, on the `regex` crate. What that
//! engine does not have (look-around, back references) it does not compile.

use std::sync::Arc;

use crate::space::builtin::{Args, Builtin};
use crate::space::heap::{Kind, Ref};
use crate::space::types::ty;
use crate::space::value::Value;
use crate::space::{Interp, R};

/// A compiled expression.
#[derive(Debug)]
pub(crate) struct Regex {
    pattern: Arc<[u8]>,
    flags: i64,
    anywhere: regex::bytes::Regex,
    here: regex::bytes::Regex,
}

/// A match.
#[derive(Clone, Debug)]
pub(crate) struct Match {
    regex: Arc<Regex>,
    text: Arc<[u8]>,
    groups: Vec<Option<(usize, usize)>>,
}

/// About what a compiled expression takes, whose two automata have caches.
pub(crate) const SIZE: u64 = 1 << 16;

impl Match {
    /// The text that was searched.
    pub(crate) fn subject(&self) -> Value {
        Value::Str(self.text.clone())
    }

    /// Bytes that it takes, without the text.
    pub(crate) fn size(&self) -> u64 {
        (size_of::<Match>() + size_of_val(&self.groups[..])) as u64
    }
}

/// Python's spelling of a pattern in the engine's: there a brace that counts nothing,
/// and some characters inside brackets, have to be escaped.
fn translate(p: &str) -> String {
    let mut out = String::with_capacity(p.len());
    let mut rest = p;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        rest = match c {
            '\\' => escape(after, &mut out),
            '[' => class(after, &mut out),
            '{' if !is_count(after) => {
                out.push_str("\\{");
                after
            }
            '{' if after.starts_with(',') => {
                out.push_str("{0");
                after
            }
            _ => {
                out.push(c);
                after
            }
        };
    }
    out
}

/// What follows a backslash; answers the rest.
fn escape<'p>(rest: &'p str, out: &mut String) -> &'p str {
    let Some(c) = rest.chars().next() else {
        out.push('\\');
        return rest;
    };
    match c {
        // The very end has another name.
        'Z' => out.push_str("\\z"),
        // Any other character may be escaped in Python, and is itself then.
        c if c.is_ascii_alphanumeric() => out.extend(['\\', c]),
        c => out.push_str(&regex::escape(c.encode_utf8(&mut [0; 4]))),
    }
    &rest[c.len_utf8()..]
}

/// What follows an opening bracket, up to the closing one; answers the rest.
fn class<'p>(mut rest: &'p str, out: &mut String) -> &'p str {
    out.push('[');
    if let Some(r) = rest.strip_prefix('^') {
        out.push('^');
        rest = r;
    }
    let mut first = true;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        rest = match c {
            ']' if !first => {
                out.push(']');
                return after;
            }
            '\\' => escape(after, out),
            '[' | ']' | '&' | '~' => {
                out.extend(['\\', c]);
                after
            }
            _ => {
                out.push(c);
                after
            }
        };
        first = false;
    }
    rest
}

/// Whether an opening brace and this text count repetitions: `3}`, `1,}`, `,5}`.
fn is_count(rest: &str) -> bool {
    let Some((inside, _)) = rest.split_once('}') else {
        return false;
    };
    let (low, high) = inside.split_once(',').unwrap_or((inside, "0"));
    let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    digits(low) && digits(high) && (!low.is_empty() || inside.contains(','))
}

/// The compiled expression, None where the engine cannot compile it.
fn compile(it: &mut Interp, args: Args<'_>) -> R {
    let v = args.need(it, 0, "compile")?;
    if let Value::Ref(r) = v
        && matches!(it.heap.kind(*r), Kind::Regex(_))
    {
        return Ok(v.clone());
    }
    let pattern = it.bytes_of(v)?;
    let flags = match args.named(1, "flags") {
        Some(f) => it.index_of(f)?,
        None => 0,
    };
    let text = translate(&String::from_utf8_lossy(&pattern));
    let build = |p: &str| {
        regex::bytes::RegexBuilder::new(p)
            .unicode(false)
            .case_insensitive(flags & 2 != 0)
            .multi_line(flags & 8 != 0)
            .dot_matches_new_line(flags & 16 != 0)
            .ignore_whitespace(flags & 64 != 0)
            .build()
    };
    match (build(&text), build(&format!("\\A(?:{text})"))) {
        (Ok(anywhere), Ok(here)) => {
            let regex = Regex {
                pattern,
                flags,
                anywhere,
                here,
            };
            Ok(Value::Ref(
                it.heap.alloc(ty::REGEX, Kind::Regex(Arc::new(regex))),
            ))
        }
        _ => Ok(Value::None),
    }
}

fn regex(it: &mut Interp, args: Args<'_>) -> R<Arc<Regex>> {
    if let Some(Value::Ref(r)) = args.get(0)
        && let Kind::Regex(x) = it.heap.kind(*r)
    {
        return Ok(x.clone());
    }
    it.type_error("descriptor requires a regular expression")
}

fn found(
    it: &mut Interp,
    regex: &Arc<Regex>,
    text: &Arc<[u8]>,
    captures: Option<(regex::bytes::Captures<'_>, usize)>,
) -> Value {
    let Some((captures, offset)) = captures else {
        return Value::None;
    };
    let groups = captures
        .iter()
        .map(|g| g.map(|m| (m.start() + offset, m.end() + offset)))
        .collect();
    let m = Match {
        regex: regex.clone(),
        text: text.clone(),
        groups,
    };
    Value::Ref(it.heap.alloc(ty::MATCH, Kind::Match(Box::new(m))))
}

fn subject(it: &mut Interp, args: Args<'_>) -> R<(Arc<Regex>, Arc<[u8]>, usize)> {
    let re = regex(it, args)?;
    let arg = args.need(it, 1, "match")?;
    let text = it.bytes_of(arg)?;
    let pos = match args.get(2) {
        Some(v) => it.index_of(v)?.clamp(0, text.len() as i64) as usize,
        None => 0,
    };
    Ok((re, text, pos))
}

fn match_(it: &mut Interp, args: Args<'_>) -> R {
    let (re, text, pos) = subject(it, args)?;
    let captures = re.here.captures(&text[pos..]).map(|c| (c, pos));
    Ok(found(it, &re, &text, captures))
}

fn search(it: &mut Interp, args: Args<'_>) -> R {
    let (re, text, pos) = subject(it, args)?;
    let captures = re.anywhere.captures_at(&text, pos).map(|c| (c, 0));
    let whole = captures.as_ref().and_then(|(c, _)| c.get(0));
    it.work_items(whole.map_or(text.len(), |m| m.end()) - pos)?;
    Ok(found(it, &re, &text, captures))
}

fn finditer(it: &mut Interp, args: Args<'_>) -> R {
    let (re, text, _) = subject(it, args)?;
    let mut items = Vec::new();
    it.work_items(text.len())?;
    for c in re.anywhere.captures_iter(&text) {
        it.work(1)?;
        items.push(found(it, &re, &text, Some((c, 0))));
    }
    let list = it.heap.list(items);
    it.iter(&list)
}

fn findall(it: &mut Interp, args: Args<'_>) -> R {
    let (re, text, _) = subject(it, args)?;
    let mut items = Vec::new();
    it.work_items(text.len())?;
    for c in re.anywhere.captures_iter(&text) {
        it.work(1)?;
        let group = |i: usize| Value::bytes(c.get(i).map_or(&[][..], |m| m.as_bytes()));
        items.push(match c.len() {
            1 => group(0),
            2 => group(1),
            n => Value::tuple((1..n).map(group).collect()),
        });
    }
    Ok(it.heap.list(items))
}

fn split(it: &mut Interp, args: Args<'_>) -> R {
    let (re, text, _) = subject(it, Args::new(&args.pos[..args.pos.len().min(2)]))?;
    let limit = match args.named(2, "maxsplit") {
        Some(v) => it.index_of(v)?,
        None => 0,
    };
    let mut items = Vec::new();
    let mut last = 0;
    let mut n = 0;
    for c in re.anywhere.captures_iter(&text) {
        let Some(whole) = c.get(0).filter(|m| !m.is_empty()) else {
            continue;
        };
        if limit > 0 && n >= limit {
            break;
        }
        it.work_items(whole.end() - last + 32)?;
        items.push(Value::bytes(&text[last..whole.start()]));
        for g in c.iter().skip(1) {
            items.push(g.map_or(Value::None, |m| Value::bytes(m.as_bytes())));
        }
        last = whole.end();
        n += 1;
    }
    items.push(Value::bytes(&text[last..]));
    Ok(it.heap.list(items))
}

fn substitute(it: &mut Interp, args: Args<'_>) -> R<(Vec<u8>, i64)> {
    let re = regex(it, args)?;
    let replacement = args.need(it, 1, "sub")?.clone();
    let arg = args.need(it, 2, "sub")?;
    let text = it.bytes_of(arg)?;
    let limit = match args.named(3, "count") {
        Some(v) => it.index_of(v)?,
        None => 0,
    };
    let mut out = Vec::new();
    let mut last = 0;
    let mut n = 0;
    for c in re.anywhere.captures_iter(&text) {
        if limit > 0 && n >= limit {
            break;
        }
        let Some(whole) = c.get(0) else { continue };
        it.work_items(whole.end() - last)?;
        it.check_text(out.len())?;
        out.extend_from_slice(&text[last..whole.start()]);
        last = whole.end();
        n += 1;
        let m = found(it, &re, &text, Some((c, 0)));
        let part = match &replacement {
            Value::Str(_) | Value::Unicode(_) => {
                let template = it.bytes_of(&replacement)?;
                expand(it, &template, &m)?
            }
            f => {
                let v = it.call(f, &[m])?;
                it.bytes_of(&v)?.to_vec()
            }
        };
        out.extend(part);
    }
    out.extend_from_slice(&text[last..]);
    Ok((out, n))
}

fn expand(it: &mut Interp, template: &[u8], m: &Value) -> R<Vec<u8>> {
    let mut out = Vec::new();
    let mut i = 0;
    while i < template.len() {
        let c = template[i];
        i += 1;
        if c != b'\\' || i >= template.len() {
            out.push(c);
            continue;
        }
        let c = template[i];
        i += 1;
        let key = match c {
            b'0'..=b'9' => Value::Int(i64::from(c - b'0')),
            b'g' => {
                let end = template[i..].iter().position(|c| *c == b'>');
                let Some(end) = end.filter(|end| *end > 0) else {
                    return it.value_error("missing group name");
                };
                let name = String::from_utf8_lossy(&template[i + 1..i + end]).into_owned();
                i += end + 1;
                match name.parse::<i64>() {
                    Ok(n) => Value::Int(n),
                    Err(_) => Value::str(&name),
                }
            }
            b'n' => {
                out.push(b'\n');
                continue;
            }
            b't' => {
                out.push(b'\t');
                continue;
            }
            b'\\' => {
                out.push(b'\\');
                continue;
            }
            other => {
                out.extend_from_slice(&[b'\\', other]);
                continue;
            }
        };
        if let Value::Str(s) = group_value(it, m, &key)? {
            out.extend_from_slice(&s);
        }
    }
    Ok(out)
}

fn sub(it: &mut Interp, args: Args<'_>) -> R {
    let (out, _) = substitute(it, args)?;
    Ok(Value::bytes(&out))
}

fn subn(it: &mut Interp, args: Args<'_>) -> R {
    let (out, n) = substitute(it, args)?;
    Ok(Value::tuple(vec![Value::bytes(&out), Value::Int(n)]))
}

/// Functions of `_sre`.
pub(crate) const SRE: &[Builtin] = &[Builtin::function("_sre.compile", compile)];

/// Methods of compiled expressions.
pub(crate) const REGEX: &[Builtin] = &[
    Builtin::method("SRE_Pattern.match", match_),
    Builtin::method("SRE_Pattern.search", search),
    Builtin::method("SRE_Pattern.finditer", finditer),
    Builtin::method("SRE_Pattern.findall", findall),
    Builtin::method("SRE_Pattern.split", split),
    Builtin::method("SRE_Pattern.sub", sub),
    Builtin::method("SRE_Pattern.subn", subn),
];

fn this(it: &mut Interp, v: &Value) -> R<Match> {
    if let Value::Ref(r) = v
        && let Kind::Match(m) = it.heap.kind(*r)
    {
        return Ok((**m).clone());
    }
    it.type_error("descriptor requires a match")
}

fn group_span(it: &mut Interp, v: &Value, key: &Value) -> R<Option<(usize, usize)>> {
    let m = this(it, v)?;
    let index = match key {
        Value::Str(_) => {
            let name = it.name_of(key, "group name")?;
            m.regex
                .anywhere
                .capture_names()
                .position(|n| n == Some(&name))
        }
        _ => usize::try_from(it.index_of(key)?).ok(),
    };
    match index.and_then(|i| m.groups.get(i)) {
        Some(span) => Ok(*span),
        None => it.index_error("no such group"),
    }
}

fn group_value(it: &mut Interp, v: &Value, key: &Value) -> R {
    let m = this(it, v)?;
    Ok(match group_span(it, v, key)? {
        Some((a, b)) => Value::bytes(&m.text[a..b]),
        None => Value::None,
    })
}

fn group(it: &mut Interp, args: Args<'_>) -> R {
    let m = args.need(it, 0, "group")?;
    match &args.pos[1..] {
        [] => group_value(it, m, &Value::Int(0)),
        [key] => group_value(it, m, key),
        keys => {
            let mut out = Vec::new();
            for k in keys {
                out.push(group_value(it, m, k)?);
            }
            Ok(Value::tuple(out))
        }
    }
}

fn groups(it: &mut Interp, args: Args<'_>) -> R {
    let v = args.need(it, 0, "groups")?;
    let default = args.named(1, "default").cloned().unwrap_or(Value::None);
    let m = this(it, v)?;
    Ok(Value::tuple(
        m.groups[1..]
            .iter()
            .map(|g| g.map_or(default.clone(), |(a, b)| Value::bytes(&m.text[a..b])))
            .collect(),
    ))
}

fn groupdict(it: &mut Interp, args: Args<'_>) -> R {
    let arg = args.need(it, 0, "groupdict")?;
    let m = this(it, arg)?;
    let names: Vec<(Box<str>, Value)> = m
        .regex
        .anywhere
        .capture_names()
        .zip(&m.groups)
        .filter_map(|(n, g)| {
            let v = g.map_or(Value::None, |(a, b)| Value::bytes(&m.text[a..b]));
            Some((n?.into(), v))
        })
        .collect();
    Ok(Value::Ref(it.namespace(names)))
}

fn span_part(it: &mut Interp, args: Args<'_>) -> R<(i64, i64)> {
    let m = args.need(it, 0, "span")?;
    let key = args.get(1).cloned().unwrap_or(Value::Int(0));
    Ok(match group_span(it, m, &key)? {
        Some((a, b)) => (a as i64, b as i64),
        None => (-1, -1),
    })
}

fn start(it: &mut Interp, args: Args<'_>) -> R {
    Ok(Value::Int(span_part(it, args)?.0))
}

fn end(it: &mut Interp, args: Args<'_>) -> R {
    Ok(Value::Int(span_part(it, args)?.1))
}

fn span(it: &mut Interp, args: Args<'_>) -> R {
    let (a, b) = span_part(it, args)?;
    Ok(Value::tuple(vec![Value::Int(a), Value::Int(b)]))
}

/// Methods of matches.
pub(crate) const MATCH: &[Builtin] = &[
    Builtin::method("SRE_Match.group", group),
    Builtin::method("SRE_Match.groups", groups),
    Builtin::method("SRE_Match.groupdict", groupdict),
    Builtin::method("SRE_Match.start", start),
    Builtin::method("SRE_Match.end", end),
    Builtin::method("SRE_Match.span", span),
];

/// Members that are no methods.
pub(crate) fn member(it: &mut Interp, r: Ref, name: &str) -> Option<Value> {
    match (it.heap.kind(r), name) {
        (Kind::Regex(x), "pattern") => Some(Value::Str(x.pattern.clone())),
        (Kind::Regex(x), "flags") => Some(Value::Int(x.flags)),
        (Kind::Regex(x), "groups") => Some(Value::from(x.anywhere.captures_len() - 1)),
        (Kind::Match(m), "string") => Some(Value::Str(m.text.clone())),
        (Kind::Match(m), "lastindex") => Some(
            m.groups[1..]
                .iter()
                .rposition(Option::is_some)
                .map_or(Value::None, |i| Value::from(i + 1)),
        ),
        (Kind::Match(m), "lastgroup") => {
            let last = m.groups.iter().rposition(Option::is_some)?;
            let name = m.regex.anywhere.capture_names().nth(last).flatten();
            Some(name.map_or(Value::None, Value::str))
        }
        (Kind::Match(m), "re") => {
            let regex = m.regex.clone();
            Some(Value::Ref(it.heap.alloc(ty::REGEX, Kind::Regex(regex))))
        }
        _ => None,
    }
}
