//! Pure operations on constants (RPython: `PureOperation.constfold`).
//!
//! Only what decides which code exists has to be folded here: arithmetic and
//! comparison of plain values, tests on classes and on types, strings that name
//! attributes, reads of constant containers. The rest is left to the annotator,
//! which knows constants too.

use std::cmp::Ordering;
use std::sync::Arc;

use taipan_graph::{Const, HlOp};
use taipan_interp::{Complex, ObjData, named_id};

use crate::spelling::{repr_of, str_of};
use crate::value::Value;
use crate::world::{Folded, World};

/// The result of an operation on constants.
pub(crate) fn fold(world: World<'_>, op: HlOp, args: &[Const]) -> Folded {
    if op == HlOp::GetAttr {
        return match args {
            [obj, name] => match name.as_str() {
                Some(name) => world.getattr(obj, name),
                None => Folded::Unknown,
            },
            _ => Folded::Unknown,
        };
    }
    let plain: Vec<Const>;
    let args = match op {
        HlOp::Is | HlOp::Type | HlOp::IsInstance | HlOp::NewTuple | HlOp::SameAs => args,
        _ => {
            plain = args.iter().map(|a| world.plain(a)).collect();
            &plain
        }
    };
    let foldable = op.is_pure() && op != HlOp::Id && op != HlOp::Hash && op != HlOp::NewSlice;
    if !foldable || !args.iter().all(|a| world.foldable(a)) {
        return Folded::Unknown;
    }
    match args {
        _ if op == HlOp::NewTuple => Folded::To(Const::Tuple(args.into())),
        [a @ Const::Complex(..)] => known(Complex::of(a).and_then(|a| complex_unary(op, a))),
        [a] => unary(world, op, a),
        [a, b] => binary(world, op, a, b),
        [a, start, stop] if op == HlOp::GetSlice => slice(a, start, stop),
        _ => Folded::Unknown,
    }
}

fn known(c: Option<Const>) -> Folded {
    c.map_or(Folded::Unknown, Folded::To)
}

fn bool(b: bool) -> Folded {
    Folded::To(Const::Bool(b))
}

/// A result that must stay a plain int: a long would confuse the annotator, so the
/// operation is recorded instead.
fn int(i: Option<i64>) -> Folded {
    known(i.map(Const::Int))
}

fn as_int(c: &Const) -> Option<i64> {
    match c {
        Const::Int(i) => Some(*i),
        Const::Bool(b) => Some(i64::from(*b)),
        _ => None,
    }
}

fn as_float(c: &Const) -> Option<f64> {
    match c {
        Const::Float(b) => Some(f64::from_bits(*b)),
        c => as_int(c).map(|i| i as f64),
    }
}

fn unary(world: World<'_>, op: HlOp, a: &Const) -> Folded {
    match op {
        HlOp::Bool => truth(world, a).map_or(Folded::Unknown, bool),
        HlOp::Len => match length(world, a) {
            Some(n) => Folded::To(Const::Int(n as i64)),
            None => Folded::Unknown,
        },
        HlOp::Type => known(world.class_of(a).map(Const::Obj)),
        HlOp::Str => known(str_of(world, a).map(|s| Const::Str(s.into()))),
        HlOp::Repr => known(repr_of(world, a).map(|s| Const::str(&s))),
        HlOp::Ord => match a {
            Const::Str(s) if s.len() == 1 => Folded::To(Const::Int(i64::from(s[0]))),
            Const::Unicode(s) if s.len() == 1 => Folded::To(Const::Int(i64::from(s[0]))),
            Const::Str(_) | Const::Unicode(_) => Folded::Raises("TypeError"),
            _ => Folded::Unknown,
        },
        HlOp::Int => int(as_int(a)),
        HlOp::Float => known(as_float(a).map(Const::float)),
        HlOp::SameAs => Folded::To(a.clone()),
        HlOp::Pos | HlOp::Neg | HlOp::Abs | HlOp::Invert => match (a, as_int(a)) {
            (_, Some(i)) => int(match op {
                HlOp::Pos => Some(i),
                HlOp::Neg => i.checked_neg(),
                HlOp::Abs => i.checked_abs(),
                _ => Some(!i),
            }),
            (Const::Float(b), _) => {
                let f = f64::from_bits(*b);
                known(match op {
                    HlOp::Pos => Some(Const::float(f)),
                    HlOp::Neg => Some(Const::float(-f)),
                    HlOp::Abs => Some(Const::float(f.abs())),
                    _ => None,
                })
            }
            _ => Folded::Unknown,
        },
        _ => Folded::Unknown,
    }
}

/// The truth of a constant.
fn truth(world: World<'_>, c: &Const) -> Option<bool> {
    Some(match c {
        Const::None => false,
        Const::Bool(b) => *b,
        Const::Int(i) => *i != 0,
        Const::Long(i) => **i != 0.into(),
        Const::Float(b) => f64::from_bits(*b) != 0.0,
        Const::Complex(..) => !Complex::of(c)?.is_zero(),
        Const::RInt(..) | Const::SingleFloat(_) | Const::Shape(_) => return None,
        Const::Obj(id) => match world.object(*id)? {
            ObjData::Instance(i) => {
                let special = |name| world.class_attr(i.class, name).is_some();
                if special("__nonzero__") || special("__len__") {
                    return None;
                }
                true
            }
            ObjData::List(_) | ObjData::Dict(_) | ObjData::Set { .. } => length(world, c)? != 0,
            ObjData::Other(_) => return None,
            _ => true,
        },
        c => length(world, c)? != 0,
    })
}

/// Operations on a complex number. All of them are folded: there are none at run time.
fn complex_unary(op: HlOp, a: Complex) -> Option<Const> {
    Some(match op {
        HlOp::Bool => Const::Bool(!a.is_zero()),
        HlOp::Str => Const::str(&a.str()),
        HlOp::Repr => Const::str(&a.repr()),
        HlOp::Abs => Const::float(a.abs()),
        HlOp::Pos | HlOp::SameAs => a.to_const(),
        HlOp::Neg => a.negated().to_const(),
        HlOp::Type => Const::Obj(named_id("__builtin__.complex")),
        _ => return None,
    })
}

fn length(world: World<'_>, c: &Const) -> Option<usize> {
    match c {
        Const::Str(s) => Some(s.len()),
        Const::Unicode(s) => Some(s.len()),
        Const::Tuple(t) => Some(t.len()),
        Const::Obj(id) => match world.object(*id)? {
            ObjData::List(items) => Some(items.len()),
            ObjData::Dict(items) => Some(items.len()),
            ObjData::Set { items, .. } => Some(items.len()),
            _ => Some(world.bytearray(c)?.len()),
        },
        _ => None,
    }
}

fn binary(world: World<'_>, op: HlOp, a: &Const, b: &Const) -> Folded {
    if op != HlOp::Is
        && op != HlOp::Mod
        && let (Const::Unicode(_), Const::Str(s)) | (Const::Str(s), Const::Unicode(_)) = (a, b)
    {
        // As in Python, which takes the byte string for ASCII.
        if !s.is_ascii() {
            return Folded::Unknown;
        }
        let (a, b) = (as_unicode(a), as_unicode(b));
        return binary(world, op, &a, &b);
    }
    match op {
        HlOp::Is => identical(world, a, b).map_or(Folded::Unknown, bool),
        HlOp::IsSubtype => match (a, b) {
            (Const::Obj(a), Const::Obj(b)) => {
                world.is_subclass(*a, *b).map_or(Folded::Unknown, bool)
            }
            _ => Folded::Unknown,
        },
        HlOp::IsInstance => isinstance(world, a, b).map_or(Folded::Unknown, bool),
        HlOp::Eq | HlOp::Ne => match equal(world, a, b) {
            Some(e) => bool(e == (op == HlOp::Eq)),
            None => Folded::Unknown,
        },
        HlOp::Lt | HlOp::Le | HlOp::Gt | HlOp::Ge => match compare(a, b) {
            Some(order) => bool(match op {
                HlOp::Lt => order == Ordering::Less,
                HlOp::Le => order != Ordering::Greater,
                HlOp::Gt => order == Ordering::Greater,
                _ => order != Ordering::Less,
            }),
            None => Folded::Unknown,
        },
        HlOp::GetItem => getitem(world, a, b),
        HlOp::Contains => contains(world, a, b).map_or(Folded::Unknown, bool),
        _ => arithmetic(world, op, a, b),
    }
}

/// A byte string as unicode.
fn as_unicode(c: &Const) -> Const {
    match c {
        Const::Str(s) => Const::Unicode(s.iter().map(|b| u32::from(*b)).collect()),
        other => other.clone(),
    }
}

fn identical(world: World<'_>, a: &Const, b: &Const) -> Option<bool> {
    match (a, b) {
        (Const::Obj(a), Const::Obj(b)) => Some(a == b),
        (Const::None | Const::Bool(_), _) | (_, Const::None | Const::Bool(_)) => Some(a == b),
        (Const::Str(_), Const::Str(_)) | (Const::Int(_), Const::Int(_)) if a == b => Some(true),
        _ if world.class_of(a)? != world.class_of(b)? => Some(false),
        _ => None,
    }
}

fn isinstance(world: World<'_>, c: &Const, class: &Const) -> Option<bool> {
    match class {
        Const::Tuple(classes) => {
            let mut any = false;
            for class in classes.iter() {
                any |= isinstance(world, c, class)?;
            }
            Some(any)
        }
        Const::Obj(class) => world.is_subclass(world.class_of(c)?, *class),
        _ => None,
    }
}

fn equal(world: World<'_>, a: &Const, b: &Const) -> Option<bool> {
    match (a, b) {
        (Const::Obj(x), Const::Obj(y)) if x == y => Some(true),
        (Const::Obj(x), Const::Obj(y)) => {
            let (x, y) = (world.object(*x)?, world.object(*y)?);
            (by_identity(world, x) || by_identity(world, y)).then_some(false)
        }
        (Const::Tuple(x), Const::Tuple(y)) => {
            if x.len() != y.len() {
                return Some(false);
            }
            for (x, y) in x.iter().zip(y.iter()) {
                if !equal(world, x, y)? {
                    return Some(false);
                }
            }
            Some(true)
        }
        (Const::None, Const::Obj(_)) | (Const::Obj(_), Const::None) => {
            let Const::Obj(id) = (if *a == Const::None { b } else { a }) else {
                return None;
            };
            let data = world.object(*id)?;
            (!matches!(data, ObjData::Instance(_)) || by_identity(world, data)).then_some(false)
        }
        (Const::None, _) | (_, Const::None) => Some(a == b),
        (Const::Obj(id), _) | (_, Const::Obj(id)) => {
            by_identity(world, world.object(*id)?).then_some(false)
        }
        (Const::Str(x), Const::Str(y)) => Some(x == y),
        (Const::Unicode(x), Const::Unicode(y)) => Some(x == y),
        (Const::Complex(..), _) | (_, Const::Complex(..)) => {
            Some(Complex::of(a)? == Complex::of(b)?)
        }
        _ => match numbers(a, b) {
            Some(order) => Some(order == Some(Ordering::Equal)),
            None => (world.class_of(a)? != world.class_of(b)?
                && !matches!(
                    (a, b),
                    (Const::Unicode(_), Const::Str(_)) | (Const::Str(_), Const::Unicode(_))
                ))
            .then_some(false),
        },
    }
}

/// Whether an object equals itself and nothing else.
fn by_identity(world: World<'_>, data: &ObjData) -> bool {
    match data {
        ObjData::Class(_)
        | ObjData::Function(_)
        | ObjData::Module { .. }
        | ObjData::Builtin { .. }
        | ObjData::LLType(_) => true,
        ObjData::Instance(i) => {
            let defines = |name| {
                (world.class_attr(i.class, name))
                    .and_then(|(origin, _)| world.class(origin))
                    .is_some_and(|c| !c.builtin)
            };
            i.frozen && !["__eq__", "__ne__", "__cmp__"].into_iter().any(defines)
        }
        _ => false,
    }
}

fn compare(a: &Const, b: &Const) -> Option<Ordering> {
    match (a, b) {
        (Const::Str(x), Const::Str(y)) => Some(x.cmp(y)),
        (Const::Unicode(x), Const::Unicode(y)) => Some(x.cmp(y)),
        (Const::Tuple(x), Const::Tuple(y)) => {
            for (x, y) in x.iter().zip(y.iter()) {
                match compare(x, y)? {
                    Ordering::Equal => {}
                    order => return Some(order),
                }
            }
            Some(x.len().cmp(&y.len()))
        }
        _ => numbers(a, b)?,
    }
}

/// Order of two numbers; None inside where there is none (NaN).
fn numbers(a: &Const, b: &Const) -> Option<Option<Ordering>> {
    if let (Some(x), Some(y)) = (as_int(a), as_int(b)) {
        return Some(Some(x.cmp(&y)));
    }
    let long = |c: &Const| match c {
        Const::Long(l) => Some((**l).clone()),
        c => as_int(c).map(Into::into),
    };
    if let (Some(x), Some(y)) = (long(a), long(b)) {
        return Some(Some(x.cmp(&y)));
    }
    Some(as_float(a)?.partial_cmp(&as_float(b)?))
}

/// The place of a Python index in a sequence.
fn index(i: i64, len: usize) -> Option<usize> {
    let i = if i < 0 { i + len as i64 } else { i };
    usize::try_from(i).ok().filter(|i| *i < len)
}

fn getitem(world: World<'_>, c: &Const, key: &Const) -> Folded {
    let at = |len| as_int(key).map(|i| index(i, len));
    let item = |items: &[Const]| match at(items.len()) {
        Some(Some(i)) => Folded::To(items[i].clone()),
        Some(None) => Folded::Raises("IndexError"),
        None => Folded::Unknown,
    };
    match c {
        Const::Tuple(items) => item(items),
        Const::Str(s) => match at(s.len()) {
            Some(Some(i)) => Folded::To(Const::Str([s[i]].into())),
            Some(None) => Folded::Raises("IndexError"),
            None => Folded::Unknown,
        },
        Const::Unicode(s) => match at(s.len()) {
            Some(Some(i)) => Folded::To(Const::Unicode([s[i]].into())),
            Some(None) => Folded::Raises("IndexError"),
            None => Folded::Unknown,
        },
        Const::Obj(id) => match world.object(*id) {
            Some(ObjData::List(items)) => item(items),
            Some(ObjData::Dict(items)) => {
                for (k, v) in items {
                    match equal(world, k, key) {
                        Some(true) => return Folded::To(v.clone()),
                        Some(false) => {}
                        None => return Folded::Unknown,
                    }
                }
                Folded::Raises("KeyError")
            }
            _ => world.bytearray(c).map_or(Folded::Unknown, item),
        },
        _ => Folded::Unknown,
    }
}

fn contains(world: World<'_>, c: &Const, item: &Const) -> Option<bool> {
    let any = |items: &mut dyn Iterator<Item = &Const>| {
        for i in items {
            if equal(world, i, item)? {
                return Some(true);
            }
        }
        Some(false)
    };
    match (c, item) {
        (Const::Tuple(items), _) => any(&mut items.iter()),
        (Const::Str(s), Const::Str(part)) => {
            Some(part.is_empty() || s.windows(part.len()).any(|w| w == &**part))
        }
        (Const::Obj(id), _) => match world.object(*id)? {
            ObjData::List(items) | ObjData::Set { items, .. } => any(&mut items.iter()),
            ObjData::Dict(items) => any(&mut items.iter().map(|(k, _)| k)),
            _ => None,
        },
        _ => None,
    }
}

fn slice(c: &Const, start: &Const, stop: &Const) -> Folded {
    let bounds = |len: usize| {
        let clamp = |c: &Const, default: usize| match c {
            Const::None => Some(default),
            c => {
                let i = as_int(c)?;
                let i = if i < 0 { i + len as i64 } else { i };
                Some(usize::try_from(i).unwrap_or(0).min(len))
            }
        };
        let (start, stop) = (clamp(start, 0)?, clamp(stop, len)?);
        Some(start..stop.max(start))
    };
    known(match c {
        Const::Str(s) => bounds(s.len()).map(|r| Const::Str(s[r].into())),
        Const::Unicode(s) => bounds(s.len()).map(|r| Const::Unicode(s[r].into())),
        Const::Tuple(t) => bounds(t.len()).map(|r| Const::Tuple(t[r].into())),
        _ => None,
    })
}

/// What `buffer(s[, offset[, size]])` of constants shows. Buffers exist while compiling
/// only: the byte string stands for one.
pub(crate) fn buffer(args: &[Value]) -> Option<Arc<[u8]>> {
    let (Const::Str(s), bounds) = (args.first()?.as_const()?, &args[1..]) else {
        return None;
    };
    let bound = |i: usize, default: usize| match bounds.get(i) {
        Some(v) => usize::try_from(as_int(v.as_const()?)?).ok(),
        None => Some(default),
    };
    let start = bound(0, 0)?.min(s.len());
    let size = bound(1, s.len())?.min(s.len() - start);
    (bounds.len() <= 2).then(|| s[start..start + size].into())
}

fn arithmetic(world: World<'_>, op: HlOp, a: &Const, b: &Const) -> Folded {
    if let (Some(x), Some(y)) = (as_int(a), as_int(b)) {
        let both_bools = matches!((a, b), (Const::Bool(_), Const::Bool(_)));
        let folded = int_arithmetic(op, x, y);
        return match (op, folded) {
            (HlOp::And | HlOp::Or | HlOp::Xor, Folded::To(Const::Int(i))) if both_bools => {
                bool(i != 0)
            }
            (_, folded) => folded,
        };
    }
    match (op, a, b) {
        (HlOp::Add, Const::Str(x), Const::Str(y)) => {
            Folded::To(Const::Str([&**x, y].concat().into()))
        }
        (HlOp::Add, Const::Unicode(x), Const::Unicode(y)) => {
            Folded::To(Const::Unicode([&**x, y].concat().into()))
        }
        (HlOp::Add, Const::Tuple(x), Const::Tuple(y)) => {
            Folded::To(Const::Tuple([&**x, y].concat().into()))
        }
        (HlOp::Mul, Const::Str(s), n) | (HlOp::Mul, n, Const::Str(s)) => {
            known(times(n, s.len()).map(|n| Const::Str(s.repeat(n).into())))
        }
        (HlOp::Mul, Const::Tuple(t), n) | (HlOp::Mul, n, Const::Tuple(t)) => {
            known(times(n, t.len()).map(|n| Const::Tuple(vec![&**t; n].concat().into())))
        }
        (HlOp::Mod, Const::Str(_) | Const::Unicode(_), _) if too_many(a, b) => {
            Folded::Raises("TypeError")
        }
        (HlOp::Mod, Const::Str(_) | Const::Unicode(_), _) => known(percent(world, a, b)),
        (_, Const::Complex(..), _) | (_, _, Const::Complex(..)) => {
            let folded = Complex::of(a)
                .zip(Complex::of(b))
                .and_then(|(x, y)| x.binary(op, y));
            known(folded.map(Complex::to_const))
        }
        _ => match (as_float(a), as_float(b)) {
            (Some(x), Some(y)) => float_arithmetic(op, x, y),
            _ => Folded::Unknown,
        },
    }
}

/// How often a sequence of this length is repeated; none where it gets too long to fold.
fn times(n: &Const, len: usize) -> Option<usize> {
    let n = usize::try_from(as_int(n)?.max(0)).ok()?;
    (n.checked_mul(len)? <= 4096).then_some(if len == 0 { 0 } else { n })
}

fn int_arithmetic(op: HlOp, x: i64, y: i64) -> Folded {
    match op {
        HlOp::Add => int(x.checked_add(y)),
        HlOp::Sub => int(x.checked_sub(y)),
        HlOp::Mul => int(x.checked_mul(y)),
        HlOp::And => int(Some(x & y)),
        HlOp::Or => int(Some(x | y)),
        HlOp::Xor => int(Some(x ^ y)),
        HlOp::Div | HlOp::FloorDiv | HlOp::Mod if y == 0 => Folded::Raises("ZeroDivisionError"),
        HlOp::TrueDiv if y == 0 => Folded::Raises("ZeroDivisionError"),
        HlOp::Div | HlOp::FloorDiv => int(x.checked_div(y).map(|_| floor_div(x, y))),
        HlOp::Mod => int(x.checked_rem(y).map(|r| {
            if r != 0 && (r < 0) != (y < 0) {
                r + y
            } else {
                r
            }
        })),
        HlOp::TrueDiv => Folded::To(Const::float(x as f64 / y as f64)),
        HlOp::LShift | HlOp::RShift if y < 0 => Folded::Raises("ValueError"),
        HlOp::LShift => int((y < 64 && x << y >> y == x).then(|| x << y)),
        HlOp::RShift => int(Some(x >> y.min(63))),
        HlOp::Pow if y < 0 => float_arithmetic(op, x as f64, y as f64),
        HlOp::Pow => int(u32::try_from(y).ok().and_then(|y| x.checked_pow(y))),
        HlOp::Cmp => int(Some(x.cmp(&y) as i64)),
        _ => Folded::Unknown,
    }
}

fn floor_div(x: i64, y: i64) -> i64 {
    let q = x / y;
    if x % y != 0 && (x < 0) != (y < 0) {
        q - 1
    } else {
        q
    }
}

fn float_arithmetic(op: HlOp, x: f64, y: f64) -> Folded {
    let float = |f| Folded::To(Const::float(f));
    match op {
        HlOp::Add => float(x + y),
        HlOp::Sub => float(x - y),
        HlOp::Mul => float(x * y),
        HlOp::Div | HlOp::TrueDiv if y == 0.0 => Folded::Raises("ZeroDivisionError"),
        HlOp::Div | HlOp::TrueDiv => float(x / y),
        // What is no number raises, and so does what is too large.
        HlOp::Pow if x.is_finite() && y.is_finite() && x.powf(y).is_finite() => float(x.powf(y)),
        _ => Folded::Unknown,
    }
}

/// Whether a text without any code is asked to format something. What may be a mapping
/// is not among what is formatted.
fn too_many(format: &Const, args: &Const) -> bool {
    let code = match format {
        Const::Str(s) => s.contains(&b'%'),
        Const::Unicode(s) => s.contains(&u32::from(b'%')),
        _ => true,
    };
    !code && !matches!(args, Const::Obj(_)) && !matches!(args, Const::Tuple(t) if t.is_empty())
}

/// `format % args` with `%s`, `%r`, `%d`, `%f`, `%x`, `%c` and `%%` alone: the way names of
/// attributes are made. Unicode if the format or one of the arguments is.
fn percent(world: World<'_>, format: &Const, args: &Const) -> Option<Const> {
    let args = match args {
        Const::Tuple(t) => t,
        one => std::slice::from_ref(one),
    };
    let codes = |c: &Const| match c {
        Const::Unicode(s) => Some(s.to_vec()),
        Const::Str(s) => Some(s.iter().map(|b| u32::from(*b)).collect()),
        _ => None,
    };
    let ascii = |c: &Const| !matches!(c, Const::Str(s) if !s.is_ascii());
    let is_unicode = |c: &Const| matches!(c, Const::Unicode(_));
    let unicode = is_unicode(format) || args.iter().any(is_unicode);
    if unicode && !(ascii(format) && args.iter().all(ascii)) {
        return None;
    }
    let mut args = args.iter();
    let mut out: Vec<u32> = Vec::new();
    let mut text = codes(format)?.into_iter();
    while let Some(c) = text.next() {
        if c != u32::from(b'%') {
            out.push(c);
            continue;
        }
        match u8::try_from(text.next()?).ok()? {
            b'%' => out.push(c),
            b's' => match args.next()? {
                Const::Unicode(s) => out.extend(&**s),
                other => out.extend(str_of(world, other)?.into_iter().map(u32::from)),
            },
            b'r' => {
                let text = repr_of(world, args.next()?)?;
                out.extend(text.bytes().map(u32::from));
            }
            b'd' => {
                let i = match args.next()? {
                    Const::Float(bits) => truncated(f64::from_bits(*bits))?,
                    other => as_int(other)?,
                };
                out.extend(i.to_string().bytes().map(u32::from));
            }
            b'f' => {
                let x = as_float(args.next()?).filter(|x| x.is_finite())?;
                out.extend(format!("{x:.6}").bytes().map(u32::from));
            }
            b'x' => {
                let i = as_int(args.next()?)?;
                let sign = if i < 0 { "-" } else { "" };
                let digits = format!("{sign}{:x}", i.unsigned_abs());
                out.extend(digits.bytes().map(u32::from));
            }
            b'c' => out.push(u32::try_from(as_int(args.next()?)?).ok()?),
            _ => return None,
        }
    }
    if args.next().is_some() {
        return None;
    }
    if unicode {
        return Some(Const::Unicode(out.into()));
    }
    let bytes: Option<Arc<[u8]>> = out.into_iter().map(|c| u8::try_from(c).ok()).collect();
    bytes.map(Const::Str)
}

/// A float's integral part, if it fits.
fn truncated(x: f64) -> Option<i64> {
    let limit = -(i64::MIN as f64);
    (-limit..limit).contains(&x).then_some(x as i64)
}
