//! Methods of `str` and `unicode` that search, split and join strings.

use std::sync::Arc;

use super::chars::{Char, Text, argument, on_chars, text};
use crate::space::builtin::Args;
use crate::space::heap::Kind;
use crate::space::sizes::MOST_BYTES;
use crate::space::types::ty;
use crate::space::value::Value;
use crate::space::{Interp, R};

/// The string itself, and an argument that is a string.
fn self_and<'a>(it: &mut Interp, args: Args<'a>, i: usize, f: &str) -> R<(Text<'a>, Text<'a>)> {
    let a = argument(it, args, 0, f)?;
    let b = argument(it, args, i, f)?;
    Ok((a, b))
}

fn strip_with(it: &mut Interp, args: Args<'_>, left: bool, right: bool) -> R {
    let t = argument(it, args, 0, "strip")?;
    match args.get(1) {
        None | Some(Value::None) => Ok(on_chars!(t => stripped(t, |c| c.is_space(), left, right))),
        Some(set) => {
            let set = text(it, set)?;
            Ok(on_chars!(t, set => stripped(t, |c| set.contains(&c), left, right)))
        }
    }
}

fn stripped<T: Char>(mut s: &[T], gone: impl Fn(T) -> bool, left: bool, right: bool) -> Value {
    while left
        && let [first, rest @ ..] = s
        && gone(*first)
    {
        s = rest;
    }
    while right
        && let [rest @ .., last] = s
        && gone(*last)
    {
        s = rest;
    }
    T::value(s)
}

pub(super) fn strip(it: &mut Interp, args: Args<'_>) -> R {
    strip_with(it, args, true, true)
}

pub(super) fn lstrip(it: &mut Interp, args: Args<'_>) -> R {
    strip_with(it, args, true, false)
}

pub(super) fn rstrip(it: &mut Interp, args: Args<'_>) -> R {
    strip_with(it, args, false, true)
}

/// The part of a string of this length that `start` and `stop` arguments select, and where it
/// begins; None where start is past the end.
fn window(it: &mut Interp, args: Args<'_>, len: usize) -> R<Option<(usize, usize)>> {
    let start = args.get(2).unwrap_or(&Value::None);
    let stop = args.get(3).unwrap_or(&Value::None);
    if matches!(start, Value::Int(i) if *i > len as i64) {
        return Ok(None);
    }
    let (a, b) = it.bounds(start, stop, len)?;
    // An empty window behind its stop matches nothing.
    if let (Value::Int(_), Value::Int(stop)) = (start, stop) {
        let stop = if *stop < 0 { stop + len as i64 } else { *stop };
        if stop < a as i64 {
            return Ok(None);
        }
    }
    Ok(Some((a, b)))
}

/// The direction of a search.
#[derive(Clone, Copy, PartialEq, Eq)]
enum From {
    Start,
    End,
}

fn position<T: Char>(it: &mut Interp, s: &[T], part: &[T], from: From) -> R<Option<usize>> {
    match from {
        From::Start => it.find(s, part),
        From::End => it.rfind(s, part),
    }
}

fn search(it: &mut Interp, args: Args<'_>, from: From) -> R<Option<usize>> {
    let (t, part) = self_and(it, args, 1, "find")?;
    let Some((a, b)) = window(it, args, t.len())? else {
        return Ok(None);
    };
    let found = on_chars!(t, part => position(it, &t[a..b], part, from)?);
    Ok(found.map(|i| i + a))
}

fn found(r: Option<usize>) -> Value {
    Value::Int(r.map_or(-1, |i| i as i64))
}

pub(super) fn find(it: &mut Interp, args: Args<'_>) -> R {
    Ok(found(search(it, args, From::Start)?))
}

pub(super) fn rfind(it: &mut Interp, args: Args<'_>) -> R {
    Ok(found(search(it, args, From::End)?))
}

pub(super) fn index(it: &mut Interp, args: Args<'_>) -> R {
    match search(it, args, From::Start)? {
        Some(i) => Ok(Value::from(i)),
        None => it.value_error("substring not found"),
    }
}

pub(super) fn rindex(it: &mut Interp, args: Args<'_>) -> R {
    match search(it, args, From::End)? {
        Some(i) => Ok(Value::from(i)),
        None => it.value_error("substring not found"),
    }
}

pub(super) fn count(it: &mut Interp, args: Args<'_>) -> R {
    let (t, part) = self_and(it, args, 1, "count")?;
    let Some((a, b)) = window(it, args, t.len())? else {
        return Ok(Value::Int(0));
    };
    on_chars!(t, part => count_in(it, &t[a..b], part))
}

fn count_in<T: Char>(it: &mut Interp, mut s: &[T], part: &[T]) -> R {
    if part.is_empty() {
        return Ok(Value::from(s.len() + 1));
    }
    let mut times = 0i64;
    while let Some(i) = it.find(s, part)? {
        times += 1;
        s = &s[i + part.len()..];
    }
    Ok(Value::Int(times))
}

/// Whether a string begins or ends with another one.
fn has_affix(it: &mut Interp, args: Args<'_>, from: From) -> R {
    let t = argument(it, args, 0, "startswith")?;
    let what = args.need(it, 1, "startswith")?;
    let Some((a, b)) = window(it, args, t.len())? else {
        return Ok(Value::Bool(false));
    };
    let options = match what {
        Value::Tuple(options) => &options[..],
        other => std::slice::from_ref(other),
    };
    for part in options {
        let part = text(it, part)?;
        let has = on_chars!(t, part => match from {
            From::Start => t[a..b].starts_with(part),
            From::End => t[a..b].ends_with(part),
        });
        if has {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}

pub(super) fn startswith(it: &mut Interp, args: Args<'_>) -> R {
    has_affix(it, args, From::Start)
}

pub(super) fn endswith(it: &mut Interp, args: Args<'_>) -> R {
    has_affix(it, args, From::End)
}

pub(super) fn replace(it: &mut Interp, args: Args<'_>) -> R {
    let (t, old) = self_and(it, args, 1, "replace")?;
    let new = argument(it, args, 2, "replace")?;
    let most = match args.get(3) {
        Some(v) => it.index_of(v)?,
        None => -1,
    };
    on_chars!(t, old, new => replaced(it, t, old, new, most))
}

/// Replaces the first `left` occurrences, or all occurrences if `left` is negative.
fn replaced<T: Char>(it: &mut Interp, mut s: &[T], old: &[T], new: &[T], mut left: i64) -> R {
    let mut out = Vec::with_capacity(s.len());
    if old.is_empty() {
        for c in s {
            if left != 0 {
                it.check_text(out.len())?;
                out.extend_from_slice(new);
                left -= 1;
            }
            out.push(*c);
        }
        if left != 0 {
            out.extend_from_slice(new);
        }
        return Ok(T::value(&out));
    }
    while left != 0 {
        let Some(i) = it.find(s, old)? else {
            break;
        };
        it.check_text(out.len())?;
        out.extend_from_slice(&s[..i]);
        out.extend_from_slice(new);
        s = &s[i + old.len()..];
        left -= 1;
    }
    out.extend_from_slice(s);
    Ok(T::value(&out))
}

fn split_limit(it: &mut Interp, args: Args<'_>) -> R<usize> {
    Ok(match args.named(2, "maxsplit") {
        Some(v) => usize::try_from(it.index_of(v)?).unwrap_or(usize::MAX),
        None => usize::MAX,
    })
}

fn split_from(it: &mut Interp, args: Args<'_>, from: From) -> R {
    let t = argument(it, args, 0, "split")?;
    let most = split_limit(it, args)?;
    let mut items = match args.named(1, "sep") {
        None | Some(Value::None) => on_chars!(t => words(t, most, from)),
        Some(sep) => {
            let sep = text(it, sep)?;
            on_chars!(t, sep => parts(it, t, sep, most, from)?)
        }
    };
    if from == From::End {
        items.reverse();
    }
    Ok(it.heap.list(items))
}

/// Splits a string at white space. The parts are in search order.
fn words<T: Char>(mut s: &[T], mut limit: usize, from: From) -> Vec<Value> {
    let mut items = Vec::new();
    loop {
        let (word, rest) = match from {
            From::Start => {
                let start = s.iter().position(|c| !c.is_space()).unwrap_or(s.len());
                s = &s[start..];
                s.split_at(s.iter().position(|c| c.is_space()).unwrap_or(s.len()))
            }
            From::End => {
                let end = s.iter().rposition(|c| !c.is_space()).map_or(0, |i| i + 1);
                s = &s[..end];
                let start = s.iter().rposition(|c| c.is_space()).map_or(0, |i| i + 1);
                let (rest, word) = s.split_at(start);
                (word, rest)
            }
        };
        if s.is_empty() {
            return items;
        }
        if limit == 0 {
            items.push(T::value(s));
            return items;
        }
        items.push(T::value(word));
        s = rest;
        limit -= 1;
    }
}

/// Splits a string at a separator. The parts are in search order.
fn parts<T: Char>(
    it: &mut Interp,
    mut s: &[T],
    sep: &[T],
    limit: usize,
    from: From,
) -> R<Vec<Value>> {
    if sep.is_empty() {
        return it.value_error("empty separator");
    }
    let mut items = Vec::new();
    for _ in 0..limit {
        let Some(i) = position(it, s, sep, from)? else {
            break;
        };
        let (before, after) = (&s[..i], &s[i + sep.len()..]);
        let (part, rest) = match from {
            From::Start => (before, after),
            From::End => (after, before),
        };
        items.push(T::value(part));
        s = rest;
    }
    items.push(T::value(s));
    Ok(items)
}

pub(super) fn split(it: &mut Interp, args: Args<'_>) -> R {
    split_from(it, args, From::Start)
}

pub(super) fn rsplit(it: &mut Interp, args: Args<'_>) -> R {
    split_from(it, args, From::End)
}

pub(super) fn splitlines(it: &mut Interp, args: Args<'_>) -> R {
    let t = argument(it, args, 0, "splitlines")?;
    let keep = match args.named(1, "keepends") {
        Some(v) => it.truth(v)?,
        None => false,
    };
    let items = on_chars!(t => lines(t, keep));
    Ok(it.heap.list(items))
}

fn lines<T: Char>(mut s: &[T], keep: bool) -> Vec<Value> {
    let (feed, carriage) = (T::from(b'\n'), T::from(b'\r'));
    let mut items = Vec::new();
    while !s.is_empty() {
        let ends = |c: &T| *c == feed || *c == carriage;
        let end = s.iter().position(ends).unwrap_or(s.len());
        let width = match &s[end..] {
            [] => 0,
            [a, b, ..] if *a == carriage && *b == feed => 2,
            _ => 1,
        };
        items.push(T::value(&s[..if keep { end + width } else { end }]));
        s = &s[end + width..];
    }
    items
}

fn partition_from(it: &mut Interp, args: Args<'_>, from: From) -> R {
    let (t, sep) = self_and(it, args, 1, "partition")?;
    on_chars!(t, sep => partitioned(it, t, sep, from))
}

fn partitioned<T: Char>(it: &mut Interp, s: &[T], sep: &[T], from: From) -> R {
    if sep.is_empty() {
        return it.value_error("empty separator");
    }
    let parts = match (position(it, s, sep, from)?, from) {
        (Some(i), _) => [&s[..i], sep, &s[i + sep.len()..]],
        (None, From::Start) => [s, &[], &[]],
        (None, From::End) => [&[], &[], s],
    };
    Ok(Value::tuple(parts.map(T::value).to_vec()))
}

pub(super) fn partition(it: &mut Interp, args: Args<'_>) -> R {
    partition_from(it, args, From::Start)
}

pub(super) fn rpartition(it: &mut Interp, args: Args<'_>) -> R {
    partition_from(it, args, From::End)
}

pub(super) fn join(it: &mut Interp, args: Args<'_>) -> R {
    let sep = argument(it, args, 0, "join")?;
    let items = args.need(it, 1, "join")?;
    if let Text::Bytes(sep) = &sep
        && let Some(joined) = join_bytes(it, sep, items)?
    {
        return Ok(joined);
    }
    let items = it.list_of(items)?;
    let mut out = Vec::new();
    let mut unicode = sep.is_unicode();
    let sep = sep.points();
    for (i, x) in items.iter().enumerate() {
        it.check_text(out.len())?;
        if i > 0 {
            out.extend_from_slice(&sep);
        }
        match it.unboxed(x) {
            Value::Str(s) => out.extend(s.iter().map(|c| u32::from(*c))),
            Value::Unicode(u) => {
                unicode = true;
                out.extend_from_slice(&u);
            }
            other => {
                let t = it.heap.type_name(&other).to_owned();
                return it.type_error(format!("sequence item {i}: expected string, {t} found"));
            }
        }
    }
    if unicode {
        return Ok(Value::Unicode(out.into()));
    }
    Ok(Value::Str(out.iter().map(|c| *c as u8).collect()))
}

/// Joins a list or tuple of byte strings; None for anything else.
fn join_bytes(it: &mut Interp, sep: &[u8], items: &Value) -> R<Option<Value>> {
    fn list<'i>(it: &'i Interp, items: &'i Value) -> Option<&'i [Value]> {
        match items {
            Value::Tuple(items) => Some(items),
            Value::Ref(r) => match it.heap.kind(*r) {
                Kind::List(items) if it.heap.get(*r).class == ty::LIST => Some(items),
                _ => None,
            },
            _ => None,
        }
    }
    let Some(parts) = list(it, items) else {
        return Ok(None);
    };
    let mut size = sep.len() * parts.len().saturating_sub(1);
    for part in parts {
        match part {
            Value::Str(s) => size += s.len(),
            _ => return Ok(None),
        }
    }
    let steps = parts.len() as u64;
    it.work(steps)?;
    if size > MOST_BYTES {
        return it.too_large();
    }
    let mut whole: Arc<[u8]> = std::iter::repeat_n(0, size).collect();
    let (Some(out), Some(parts)) = (Arc::get_mut(&mut whole), list(it, items)) else {
        return Ok(None);
    };
    let mut at = 0;
    let mut put = |s: &[u8]| {
        out[at..at + s.len()].copy_from_slice(s);
        at += s.len();
    };
    for (i, part) in parts.iter().enumerate() {
        if i > 0 {
            put(sep);
        }
        if let Value::Str(s) = part {
            put(s);
        }
    }
    Ok(Some(Value::Str(whole)))
}
