//! The builtin functions.

use num_traits::ToPrimitive;
use taipan_code::CallDesc;
use taipan_graph::HlOp;

use super::{file, frames};
use crate::space::builtin::{Args, Builtin};
use crate::space::heap::Kind;
use crate::space::iter::Iter;
use crate::space::types::ty;
use crate::space::value::Value;
use crate::space::{Interp, R};

fn abs(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "abs", 1, 1)?;
    it.operation(HlOp::Abs, args.pos)
}

fn all(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "all", 1, 1)?;
    let iter = it.iter(&args.pos[0])?;
    while let Some(v) = it.next_item(&iter)? {
        if !it.truth(&v)? {
            return Ok(Value::Bool(false));
        }
    }
    Ok(Value::Bool(true))
}

fn any(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "any", 1, 1)?;
    let iter = it.iter(&args.pos[0])?;
    while let Some(v) = it.next_item(&iter)? {
        if it.truth(&v)? {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}

fn in_base(it: &mut Interp, args: Args<'_>, base: u32, prefix: &str, hook: &str) -> R {
    args.expect(it, hook, 1, 1)?;
    let v = &args.pos[0];
    if let Some(s) = it.call_special(v, hook, &[])? {
        return Ok(s);
    }
    let Some(n) = it.big_int(v) else {
        return it.type_error(format!(
            "{}() argument can't be converted",
            hook.trim_matches('_')
        ));
    };
    let digits = it.digits(&n, base)?;
    let suffix = match it.unboxed(v) {
        Value::Long(_) if base != 2 => "L",
        _ => "",
    };
    let (sign, digits) = match digits.strip_prefix('-') {
        Some(d) => ("-", d),
        None => ("", &digits[..]),
    };
    let prefix = if base == 8 && digits == "0" {
        ""
    } else {
        prefix
    };
    Ok(Value::str(&format!("{sign}{prefix}{digits}{suffix}")))
}

fn bin(it: &mut Interp, args: Args<'_>) -> R {
    in_base(it, args, 2, "0b", "__bin__")
}

fn hex(it: &mut Interp, args: Args<'_>) -> R {
    in_base(it, args, 16, "0x", "__hex__")
}

fn oct(it: &mut Interp, args: Args<'_>) -> R {
    in_base(it, args, 8, "0", "__oct__")
}

fn callable(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "callable", 1, 1)?;
    let v = &args.pos[0];
    let yes = match v {
        Value::Bound(_) | Value::Method(_) => true,
        Value::Ref(r) => match it.heap.kind(*r) {
            Kind::Function(_) | Kind::Builtin(_) | Kind::Class(_) | Kind::WeakRef(_) => true,
            _ => it.special(v, "__call__")?.is_some(),
        },
        _ => false,
    };
    Ok(Value::Bool(yes))
}

fn chr(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "chr", 1, 1)?;
    match u8::try_from(it.index_of(&args.pos[0])?) {
        Ok(b) => Ok(Value::bytes(&[b])),
        Err(_) => it.value_error("chr() arg not in range(256)"),
    }
}

fn unichr(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "unichr", 1, 1)?;
    match u32::try_from(it.index_of(&args.pos[0])?) {
        Ok(c) if c < 0x11_0000 => Ok(Value::Unicode([c].into())),
        _ => it.value_error("unichr() arg not in range(0x110000) (wide Python build)"),
    }
}

fn ord(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "ord", 1, 1)?;
    match it.unboxed(&args.pos[0]) {
        Value::Str(s) if s.len() == 1 => Ok(Value::Int(i64::from(s[0]))),
        Value::Unicode(s) if s.len() == 1 => Ok(Value::Int(i64::from(s[0]))),
        Value::Str(_) | Value::Unicode(_) => {
            let n = it.len(&args.pos[0])?;
            it.type_error(format!(
                "ord() expected a character, but string of length {n} found"
            ))
        }
        other => {
            let t = it.heap.type_name(&other).to_owned();
            it.type_error(format!("ord() expected string of length 1, but {t} found"))
        }
    }
}

fn cmp(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "cmp", 2, 2)?;
    Ok(Value::Int(it.cmp(&args.pos[0], &args.pos[1])? as i64))
}

fn coerce(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "coerce", 2, 2)?;
    let (a, b) = (it.unboxed(&args.pos[0]), it.unboxed(&args.pos[1]));
    let pair = match (it.as_kind_of(&a, &b)?, it.as_kind_of(&b, &a)?) {
        (Some(a), Some(b)) => vec![a, b],
        // Others are left alone if they are of one class that is no class of numbers.
        _ if it.heap.type_of(&a) == it.heap.type_of(&b)
            && !matches!(a, Value::Str(_) | Value::Unicode(_)) =>
        {
            args.pos.to_vec()
        }
        _ => return it.type_error("number coercion failed"),
    };
    Ok(Value::tuple(pair))
}

fn dir(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "dir", 0, 1)?;
    let mut names: Vec<Value> = Vec::new();
    if let Some(v) = args.get(0) {
        if let Some(list) = it.call_special(v, "__dir__", &[])? {
            names = it.list_of(&list)?;
        } else {
            let mut sources = Vec::new();
            if let Value::Ref(r) = v {
                sources.extend(it.heap.get(*r).attrs);
            }
            let class = match v {
                Value::Ref(r) if it.heap.class(*r).is_some() => *r,
                _ => it.heap.type_of(v),
            };
            if !matches!(v, Value::Ref(r) if matches!(it.heap.kind(*r), Kind::Module(_))) {
                for c in it.heap.the_class(class).mro.clone() {
                    sources.extend(it.heap.get(c).attrs);
                }
            }
            for d in sources {
                for k in it.heap.the_dict(d).keys() {
                    if !names.iter().any(|n| n.as_text() == k.as_text()) {
                        names.push(k.clone());
                    }
                }
            }
        }
    }
    let names = it.sorted(names, &Args::new(&[]))?;
    Ok(it.heap.list(names))
}

fn divmod(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "divmod", 2, 2)?;
    it.operation(HlOp::DivMod, args.pos)
}

fn enumerate(it: &mut Interp, args: Args<'_>) -> R {
    let arg = args.need(it, 0, "enumerate")?;
    let iter = it.iter(arg)?;
    let start = match args.named(1, "start") {
        Some(v) => it.index_of(v)?,
        None => 0,
    };
    Ok(it.new_iter(Iter::Enumerate(iter, start)))
}

fn filter(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "filter", 2, 2)?;
    let mut kept = Vec::new();
    for v in it.list_of(&args.pos[1])? {
        it.work(1)?;
        let keep = match &args.pos[0] {
            Value::None => it.truth(&v)?,
            f => {
                let r = it.call(f, std::slice::from_ref(&v))?;
                it.truth(&r)?
            }
        };
        if keep {
            kept.push(v);
        }
    }
    match it.unboxed(&args.pos[1]) {
        Value::Str(_) => {
            let sep = Value::str("");
            let list = it.heap.list(kept);
            it.call_method(&sep, "join", &[list])
        }
        Value::Tuple(_) => Ok(Value::tuple(kept)),
        _ => Ok(it.heap.list(kept)),
    }
}

fn format(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "format", 1, 2)?;
    let spec = match args.get(1) {
        Some(s) => it.name_of(s, "format spec")?,
        None => String::new(),
    };
    it.format_value(&args.pos[0], &spec)
}

fn getattr(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "getattr", 2, 3)?;
    let name = it.name_of(&args.pos[1], "getattr(): attribute name")?;
    let Some(default) = args.get(2) else {
        return it.getattr(&args.pos[0], &name);
    };
    let got = it.getattr_opt(&args.pos[0], &name);
    Ok(it
        .catch(got, ty::ATTRIBUTE_ERROR)?
        .flatten()
        .unwrap_or_else(|| default.clone()))
}

fn setattr(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "setattr", 3, 3)?;
    let name = it.name_of(&args.pos[1], "attribute name")?;
    it.setattr(&args.pos[0], &name, args.pos[2].clone())?;
    Ok(Value::None)
}

fn delattr(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "delattr", 2, 2)?;
    let name = it.name_of(&args.pos[1], "attribute name")?;
    it.delattr(&args.pos[0], &name)?;
    Ok(Value::None)
}

fn hasattr(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "hasattr", 2, 2)?;
    let name = it.name_of(&args.pos[1], "hasattr(): attribute name")?;
    let got = it.getattr_opt(&args.pos[0], &name);
    Ok(Value::Bool(
        it.catch(got, ty::EXCEPTION)?.flatten().is_some(),
    ))
}

fn globals(it: &mut Interp, _: Args<'_>) -> R {
    Ok(Value::Ref(
        it.stack.last().map_or(it.builtins, |a| a.globals),
    ))
}

fn locals(it: &mut Interp, args: Args<'_>) -> R {
    globals(it, args)
}

fn vars(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "vars", 1, 1)?;
    match it.getattr_opt(&args.pos[0], "__dict__")? {
        Some(d) => Ok(d),
        None => it.type_error("vars() argument must have __dict__ attribute"),
    }
}

fn hash(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "hash", 1, 1)?;
    Ok(Value::Int(it.hash(&args.pos[0])? as i64))
}

fn id(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "id", 1, 1)?;
    Ok(Value::Int(it.id(&args.pos[0])))
}

fn intern(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "intern", 1, 1)?;
    Ok(args.pos[0].clone())
}

fn isinstance(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "isinstance", 2, 2)?;
    Ok(Value::Bool(it.isinstance(&args.pos[0], &args.pos[1])?))
}

fn issubclass(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "issubclass", 2, 2)?;
    Ok(Value::Bool(it.issubclass(&args.pos[0], &args.pos[1])?))
}

fn iter(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "iter", 1, 2)?;
    match args.get(1) {
        Some(sentinel) => Ok(it.new_iter(Iter::Call(args.pos[0].clone(), sentinel.clone()))),
        None => it.iter(&args.pos[0]),
    }
}

fn len(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "len", 1, 1)?;
    Ok(Value::from(it.len(&args.pos[0])?))
}

/// Items of several iterables side by side, up to the longest.
fn columns(it: &mut Interp, iterables: &[Value]) -> R<Vec<Vec<Value>>> {
    let mut all = Vec::new();
    for v in iterables {
        all.push(it.list_of(v)?);
    }
    let n = all.iter().map(Vec::len).max().unwrap_or(0);
    Ok((0..n)
        .map(|i| {
            all.iter()
                .map(|l| l.get(i).cloned().unwrap_or(Value::None))
                .collect()
        })
        .collect())
}

fn map(it: &mut Interp, args: Args<'_>) -> R {
    if args.pos.len() < 2 {
        return it.type_error("map() requires at least two args");
    }
    let f = &args.pos[0];
    let mut out = Vec::new();
    if let [_, one] = args.pos {
        let iter = it.iter(one)?;
        while let Some(v) = it.next_item(&iter)? {
            let v = if f.is_none() { v } else { it.call(f, &[v])? };
            it.gather(&v)?;
            out.push(v);
        }
    } else {
        for row in columns(it, &args.pos[1..])? {
            out.push(if f.is_none() {
                Value::tuple(row)
            } else {
                it.call(f, &row)?
            });
        }
    }
    Ok(it.heap.list(out))
}

fn zip(it: &mut Interp, args: Args<'_>) -> R {
    let mut iterators = Vec::new();
    for v in args.pos {
        iterators.push(it.iter(v)?);
    }
    let mut rows = Vec::new();
    // An item of each in turn: the others may be without end.
    while !iterators.is_empty() {
        let mut row = Vec::with_capacity(iterators.len());
        for i in &iterators {
            match it.next_item(i)? {
                Some(v) => {
                    it.gather(&v)?;
                    row.push(v);
                }
                None => return Ok(it.heap.list(rows)),
            }
        }
        rows.push(Value::tuple(row));
    }
    Ok(it.heap.list(rows))
}

fn extreme(it: &mut Interp, args: Args<'_>, op: HlOp, name: &str) -> R {
    let items = match args.pos {
        [one] => it.list_of(one)?,
        [] => return it.type_error(format!("{name} expected 1 arguments, got 0")),
        many => many.to_vec(),
    };
    let key = args.keyword("key").cloned();
    let mut best: Option<(Value, Value)> = None;
    for v in items {
        it.work(1)?;
        let k = match &key {
            Some(f) => it.call(f, std::slice::from_ref(&v))?,
            None => v.clone(),
        };
        let better = match &best {
            None => true,
            Some((b, _)) => {
                let r = it.compare(op, &k, b)?;
                it.truth(&r)?
            }
        };
        if better {
            best = Some((k, v));
        }
    }
    match best {
        Some((_, v)) => Ok(v),
        None => it.value_error(format!("{name}() arg is an empty sequence")),
    }
}

fn max(it: &mut Interp, args: Args<'_>) -> R {
    extreme(it, args, HlOp::Gt, "max")
}

fn min(it: &mut Interp, args: Args<'_>) -> R {
    extreme(it, args, HlOp::Lt, "min")
}

fn next(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "next", 1, 2)?;
    match (it.next_item(&args.pos[0])?, args.get(1)) {
        (Some(v), _) => Ok(v),
        (None, Some(default)) => Ok(default.clone()),
        (None, None) => it.raise_args(ty::STOP_ITERATION, vec![]),
    }
}

/// Whether `pow` of three integers is an int: CPython goes over to longs, for good, where a
/// product on the way is one.
fn power_of_ints(args: &[Value]) -> bool {
    let int = |v: &Value| match v {
        Value::Bool(b) => Some(i64::from(*b)),
        Value::Int(i) => Some(*i),
        _ => None,
    };
    let args: Option<Vec<i64>> = args.iter().map(int).collect();
    let Some([base, exponent, modulus]) = args.as_deref() else {
        return false;
    };
    let (mut power, mut square, mut left) = (1i64, *base, *exponent);
    while left > 0 {
        if left & 1 != 0 {
            match power.checked_mul(square) {
                Some(_) if square == 0 => break,
                Some(p) => power = p,
                None => return false,
            }
        }
        left >>= 1;
        if left == 0 {
            break;
        }
        match square.checked_mul(square) {
            Some(s) => square = s.wrapping_rem(*modulus),
            None => return false,
        }
        power = power.wrapping_rem(*modulus);
    }
    true
}

fn pow(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "pow", 2, 3)?;
    let Some(modulus) = args.get(2).filter(|v| !v.is_none()) else {
        return it.operation(HlOp::Pow, args.pos.get(..2).unwrap_or(args.pos));
    };
    match (
        it.big_int(&args.pos[0]),
        it.big_int(&args.pos[1]),
        it.big_int(modulus),
    ) {
        (Some(b), Some(e), Some(m)) if m.to_i64() != Some(0) => {
            let long = !power_of_ints(args.pos);
            if crate::space::number::is_negative(&e) {
                return it.type_error(
                    "pow() 2nd argument cannot be negative when 3rd argument specified",
                );
            }
            let power = it.power_modulo(&b, &e, &m)?;
            Ok(match long {
                true => Value::long(power),
                false => Value::int_or_long(power),
            })
        }
        (Some(_), Some(_), Some(_)) => it.value_error("pow() 3rd argument cannot be 0"),
        // Of the first that is no integer, if all are numbers.
        _ if args.pos.iter().all(|v| v.as_complex().is_some())
            && (args.pos.iter())
                .find(|v| matches!(v, Value::Float(_) | Value::Complex(_)))
                .is_some_and(|v| matches!(v, Value::Complex(_))) =>
        {
            it.value_error("complex modulo")
        }
        _ => it.type_error("pow() 3rd argument not allowed unless all arguments are integers"),
    }
}

fn range_parts(it: &mut Interp, args: Args<'_>, name: &str) -> R<(i64, i64, i64)> {
    args.expect(it, name, 1, 3)?;
    let mut parts = Vec::new();
    for v in args.pos {
        if matches!(v, Value::Float(_)) {
            return it.type_error(format!("{name}() integer argument expected, got float."));
        }
        parts.push(it.index_of(v)?);
    }
    let (start, stop, step) = match parts[..] {
        [stop] => (0, stop, 1),
        [start, stop] => (start, stop, 1),
        _ => (parts[0], parts[1], parts[2]),
    };
    if step == 0 {
        return it.value_error(format!("{name}() arg 3 must not be zero"));
    }
    let (start, stop, step) = (i128::from(start), i128::from(stop), i128::from(step));
    let n = if step > 0 {
        (stop - start + step - 1) / step
    } else {
        (start - stop - step - 1) / -step
    };
    Ok((
        start as i64,
        i64::try_from(n.max(0)).unwrap_or(i64::MAX),
        step as i64,
    ))
}

/// Start, number of items and step of a list that `range` returns.
fn list_parts(it: &mut Interp, args: Args<'_>) -> R<(i64, i64, i64)> {
    let (start, n, step) = range_parts(it, args, "range")?;
    if n > 1 << 26 {
        return it.raise(ty::OVERFLOW_ERROR, "range() result has too many items");
    }
    it.check_items(n as usize)?;
    it.reserve(n as u64 * size_of::<Value>() as u64)?;
    it.work_items(n as usize)?;
    Ok((start, n, step))
}

/// The name of `range`.
pub(crate) const RANGE: &str = "__builtin__.range";

/// `range` for a loop over the result, which nothing else refers to. No list is made: nothing of the heap is freed while a
/// program is imported.
pub(crate) fn iterated_range(it: &mut Interp, args: Args<'_>) -> R {
    let (start, n, step) = list_parts(it, args)?;
    let range = Kind::XRange(start, n, step);
    Ok(Value::Ref(it.heap.alloc(ty::XRANGE, range)))
}

fn range(it: &mut Interp, args: Args<'_>) -> R {
    let (start, n, step) = list_parts(it, args)?;
    let items = (0..n).map(|i| Value::Int(start + i * step)).collect();
    Ok(it.heap.list(items))
}

fn reduce(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "reduce", 2, 3)?;
    let iter = it.iter(&args.pos[1])?;
    let mut acc = match args.get(2) {
        Some(v) => v.clone(),
        None => match it.next_item(&iter)? {
            Some(v) => v,
            None => {
                return it.type_error("reduce() of empty sequence with no initial value");
            }
        },
    };
    while let Some(v) = it.next_item(&iter)? {
        acc = it.call(&args.pos[0], &[acc, v])?;
    }
    Ok(acc)
}

fn repr(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "repr", 1, 1)?;
    Ok(Value::bytes(&it.repr(&args.pos[0])?))
}

fn reversed(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "reversed", 1, 1)?;
    let v = &args.pos[0];
    if let Some(r) = it.call_special(v, "__reversed__", &[])? {
        return Ok(r);
    }
    if let Value::Ref(r) = v
        && let Kind::List(l) = it.heap.kind(*r)
    {
        let n = l.len();
        return Ok(it.new_iter(Iter::Reversed(*r, n)));
    }
    let n = it.len(v)?;
    let mut items = Vec::with_capacity(n);
    for i in (0..n).rev() {
        it.work(1)?;
        items.push(it.getitem(v, &Value::from(i))?);
    }
    Ok(it.new_iter(Iter::Values(items.into_iter())))
}

fn round(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "round", 1, 2)?;
    let f = it.float_of(&args.pos[0])?;
    let digits = match args.get(1) {
        Some(v) => it.index_of(v)?,
        None => 0,
    };
    if !f.is_finite() || digits > 300 {
        return Ok(Value::Float(f));
    }
    if digits > 0 {
        // Half away from zero on the decimal text, as CPython does.
        let exact = format!("{:.*}", digits as usize + 25, f.abs());
        let cut = exact.len() - 25;
        let half = exact.as_bytes()[cut] >= b'5';
        let mut down: f64 = exact[..cut].parse().unwrap_or(f);
        if half {
            let up = format!(
                "{:.*}",
                digits as usize,
                down + 10f64.powi(-(digits as i32))
            );
            down = up.parse().unwrap_or(down);
        }
        return Ok(Value::Float(down.copysign(f)));
    }
    let p = 10f64.powi((-digits) as i32);
    Ok(Value::Float((f / p).round() * p))
}

fn slice(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "slice", 1, 3)?;
    let part = |i: usize| args.get(i).cloned().unwrap_or(Value::None);
    let parts = match args.pos.len() {
        1 => [Value::None, part(0), Value::None],
        _ => [part(0), part(1), part(2)],
    };
    Ok(Value::Ref(
        it.heap.alloc(ty::SLICE, Kind::Slice(Box::new(parts))),
    ))
}

fn sorted(it: &mut Interp, args: Args<'_>) -> R {
    let arg = args.need(it, 0, "sorted")?;
    let all = it.list_of(arg)?;
    let items = it.sorted(
        all,
        &Args {
            pos: &args.pos[1..],
            kw: args.kw,
        },
    )?;
    Ok(it.heap.list(items))
}

fn sum(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "sum", 1, 2)?;
    let mut acc = args.get(1).cloned().unwrap_or(Value::Int(0));
    let iter = it.iter(&args.pos[0])?;
    while let Some(v) = it.next_item(&iter)? {
        acc = match (&acc, &v) {
            (Value::Int(x), Value::Int(y)) if x.checked_add(*y).is_some() => Value::Int(x + y),
            _ => it.binary(HlOp::Add, &acc, &v)?,
        };
    }
    Ok(acc)
}

fn import(it: &mut Interp, args: Args<'_>) -> R {
    let name = args.need(it, 0, "__import__")?;
    let name = it.name_of(name, "__import__() argument 1")?;
    let globals = match args.named(1, "globals") {
        Some(Value::Ref(g)) if it.heap.dict_of(*g).is_some() => *g,
        _ => it.stack.last().map_or(it.builtins, |a| a.globals),
    };
    let from = match args.named(3, "fromlist") {
        Some(v) if !v.is_none() => it.list_of(v)?,
        _ => vec![],
    };
    let level = match args.named(4, "level") {
        Some(v) => it.index_of(v)? as i32,
        None => -1,
    };
    let mut names = Vec::new();
    for n in &from {
        names.push(it.name_of(n, "fromlist item")?.into_boxed_str());
    }
    let desc = taipan_code::ImportDesc {
        name: name.into(),
        level,
        from: (!names.is_empty()).then_some(names),
        bind_leaf: false,
    };
    it.import_statement(globals, &desc)
}

fn reload(it: &mut Interp, args: Args<'_>) -> R {
    Ok(args.need(it, 0, "reload")?.clone())
}

fn apply(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "apply", 1, 3)?;
    // `f(*args, **keywords)`
    let desc = CallDesc {
        positional: 0,
        keywords: Vec::new(),
        star: args.pos.len() > 1,
        dstar: args.pos.len() > 2,
    };
    it.call_desc(&args.pos[0], &desc, &args.pos[1..])
}

fn raw_input(it: &mut Interp, _: Args<'_>) -> R {
    it.raise(ty::EOF_ERROR, "EOF when reading a line")
}

fn print(it: &mut Interp, args: Args<'_>) -> R {
    let sep = match args.keyword("sep") {
        Some(v) if !v.is_none() => it.bytes_of(v)?,
        _ => b" "[..].into(),
    };
    let end = match args.keyword("end") {
        Some(v) if !v.is_none() => it.bytes_of(v)?,
        _ => b"\n"[..].into(),
    };
    let file = args.keyword("file").cloned();
    let mut out = Vec::new();
    for (i, v) in args.pos.iter().enumerate() {
        if i > 0 {
            out.extend_from_slice(&sep);
        }
        let s = it.str_of(v)?;
        out.extend_from_slice(&it.bytes_of(&s)?);
    }
    out.extend_from_slice(&end);
    it.write_to(file.as_ref(), &out)?;
    Ok(Value::None)
}

/// `xrange(..)`, which is a class.
pub(crate) fn xrange(it: &mut Interp, args: Args<'_>) -> R {
    let (start, n, step) = range_parts(it, args, "xrange")?;
    Ok(Value::Ref(
        it.heap.alloc(ty::XRANGE, Kind::XRange(start, n, step)),
    ))
}

/// The builtin functions.
pub(crate) const FUNCTIONS: &[Builtin] = &[
    Builtin::function("__builtin__.abs", abs),
    Builtin::function("__builtin__.all", all),
    Builtin::function("__builtin__.any", any),
    Builtin::function("__builtin__.bin", bin),
    Builtin::function("__builtin__.callable", callable),
    Builtin::function("__builtin__.chr", chr),
    Builtin::function("__builtin__.cmp", cmp),
    Builtin::function("__builtin__.coerce", coerce),
    Builtin::function("__builtin__.compile", frames::compile),
    Builtin::function("__builtin__.delattr", delattr),
    Builtin::of_frame("__builtin__.dir", dir),
    Builtin::function("__builtin__.divmod", divmod),
    Builtin::function("__builtin__.enumerate", enumerate),
    Builtin::of_frame("__builtin__.eval", frames::eval),
    Builtin::function("__builtin__.execfile", frames::execfile),
    Builtin::function("__builtin__.filter", filter),
    Builtin::function("__builtin__.format", format),
    Builtin::function("__builtin__.getattr", getattr),
    Builtin::function("__builtin__.globals", globals),
    Builtin::function("__builtin__.hasattr", hasattr),
    Builtin::function("__builtin__.hash", hash),
    Builtin::function("__builtin__.hex", hex),
    Builtin::function("__builtin__.id", id),
    Builtin::function("__builtin__.intern", intern),
    Builtin::function("__builtin__.isinstance", isinstance),
    Builtin::function("__builtin__.issubclass", issubclass),
    Builtin::function("__builtin__.iter", iter),
    Builtin::function("__builtin__.len", len),
    Builtin::of_frame("__builtin__.locals", locals),
    Builtin::function("__builtin__.map", map),
    Builtin::function("__builtin__.max", max),
    Builtin::function("__builtin__.min", min),
    Builtin::function("__builtin__.next", next),
    Builtin::function("__builtin__.oct", oct),
    Builtin::function("__builtin__.open", file::open),
    Builtin::function("__builtin__.ord", ord),
    Builtin::function("__builtin__.pow", pow),
    Builtin::function("__builtin__.print", print),
    Builtin::function("__builtin__.range", range),
    Builtin::function("__builtin__.apply", apply),
    Builtin::function("__builtin__.input", raw_input),
    Builtin::function("__builtin__.raw_input", raw_input),
    Builtin::function("__builtin__.reduce", reduce),
    Builtin::function("__builtin__.reload", reload),
    Builtin::function("__builtin__.repr", repr),
    Builtin::function("__builtin__.reversed", reversed),
    Builtin::function("__builtin__.round", round),
    Builtin::function("__builtin__.setattr", setattr),
    Builtin::function("__builtin__.slice", slice),
    Builtin::function("__builtin__.sorted", sorted),
    Builtin::function("__builtin__.sum", sum),
    Builtin::function("__builtin__.unichr", unichr),
    Builtin::of_frame("__builtin__.vars", vars),
    Builtin::function("__builtin__.xrange", xrange),
    Builtin::function("__builtin__.zip", zip),
    Builtin::function("__builtin__.__import__", import),
];
