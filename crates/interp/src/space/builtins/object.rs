//! Methods of `object`, `type` and `property`, and the special methods that builtin
//! classes share.

use taipan_graph::HlOp;

use crate::space::builtin::{Args, Builtin};
use crate::space::heap::Kind;
use crate::space::types::{self, ty};
use crate::space::value::Value;
use crate::space::{Interp, R};

macro_rules! arithmetic {
    ($($name:ident = $op:ident;)*) => {
        $(pub(crate) fn $name(it: &mut Interp, args: Args<'_>) -> R {
            args.expect(it, stringify!($op), 2, 2)?;
            let (a, b) = (it.unboxed(&args.pos[0]), it.unboxed(&args.pos[1]));
            Ok(it
                .binary_builtin(HlOp::$op, &a, &b)?
                .unwrap_or(Value::Ref(types::NOT_IMPLEMENTED)))
        })*
    };
}
arithmetic! {
    operator_add = Add;
    operator_sub = Sub;
    operator_mul = Mul;
    operator_div = Div;
    operator_truediv = TrueDiv;
    operator_floordiv = FloorDiv;
    operator_mod = Mod;
    operator_divmod = DivMod;
    operator_pow = Pow;
    operator_lshift = LShift;
    operator_rshift = RShift;
    operator_and = And;
    operator_or = Or;
    operator_xor = Xor;
}

macro_rules! reflected {
    ($($name:ident = $op:ident;)*) => {
        $(pub(crate) fn $name(it: &mut Interp, args: Args<'_>) -> R {
            args.expect(it, stringify!($op), 2, 2)?;
            let (a, b) = (it.unboxed(&args.pos[0]), it.unboxed(&args.pos[1]));
            Ok(it
                .binary_builtin(HlOp::$op, &b, &a)?
                .unwrap_or(Value::Ref(types::NOT_IMPLEMENTED)))
        })*
    };
}
reflected! {
    operator_radd = Add;
    operator_rsub = Sub;
    operator_rmul = Mul;
    operator_rdiv = Div;
    operator_rtruediv = TrueDiv;
    operator_rfloordiv = FloorDiv;
    operator_rmod = Mod;
    operator_rpow = Pow;
    operator_rlshift = LShift;
    operator_rrshift = RShift;
    operator_rand = And;
    operator_ror = Or;
    operator_rxor = Xor;
}

macro_rules! plain_operations {
    ($($name:ident = $op:ident, $n:literal;)*) => {
        $(pub(crate) fn $name(it: &mut Interp, args: Args<'_>) -> R {
            args.expect(it, stringify!($op), $n, $n)?;
            it.plainly(&args.pos[0]);
            let v = it.operation(HlOp::$op, args.pos);
            it.plainly = None;
            v
        })*
    };
}
plain_operations! {
    operator_len = Len, 1;
    operator_contains = Contains, 2;
    operator_getitem = GetItem, 2;
    operator_setitem = SetItem, 3;
    operator_delitem = DelItem, 2;
    operator_getslice = GetSlice, 3;
    operator_iter = Iter, 1;
    operator_eq = Eq, 2;
    operator_ne = Ne, 2;
    operator_lt = Lt, 2;
    operator_le = Le, 2;
    operator_gt = Gt, 2;
    operator_ge = Ge, 2;
    operator_neg = Neg, 1;
    operator_pos = Pos, 1;
    operator_abs = Abs, 1;
    operator_invert = Invert, 1;
    operator_repr = Repr, 1;
    operator_str = Str, 1;
    operator_nonzero = Bool, 1;
}

/// `__setslice__`, whose operands come in another order.
pub(crate) fn operator_setslice(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "__setslice__", 4, 4)?;
    it.plainly(&args.pos[0]);
    let v = it.setslice(&args.pos[0], &args.pos[1], &args.pos[2], Some(&args.pos[3]));
    it.plainly = None;
    v.map(|()| Value::None)
}

/// `__hash__`
pub(crate) fn operator_hash(it: &mut Interp, args: Args<'_>) -> R {
    let v = args.need(it, 0, "__hash__")?;
    it.plainly(v);
    let h = it.hash(v);
    it.plainly = None;
    Ok(Value::Int(h? as i64))
}

fn new(it: &mut Interp, args: Args<'_>) -> R {
    let Some(Value::Ref(class)) = args.get(0) else {
        return it.type_error("object.__new__(X): X is not a type object");
    };
    if it.heap.class(*class).is_none() {
        return it.type_error("object.__new__(X): X is not a type object");
    }
    let rest = Args {
        pos: &args.pos[1..],
        kw: args.kw,
    };
    it.builtin_new(*class, rest, true)
}

fn init(it: &mut Interp, args: Args<'_>) -> R {
    let Some(obj) = args.get(0) else {
        return it.type_error("__init__ needs an argument");
    };
    let rest = Args {
        pos: &args.pos[1..],
        kw: args.kw,
    };
    it.builtin_init(&obj.clone(), rest)?;
    Ok(Value::None)
}

fn getattribute(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "__getattribute__", 2, 2)?;
    let name = it.name_of(&args.pos[1], "attribute name")?;
    match it.generic_getattr(&args.pos[0], &name)? {
        Some(v) => Ok(v),
        None => it.no_attribute(&args.pos[0], &name),
    }
}

fn setattr(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "__setattr__", 3, 3)?;
    let name = it.name_of(&args.pos[1], "attribute name")?;
    it.generic_setattr(&args.pos[0], &name, args.pos[2].clone())?;
    Ok(Value::None)
}

fn delattr(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "__delattr__", 2, 2)?;
    let name = it.name_of(&args.pos[1], "attribute name")?;
    it.generic_delattr(&args.pos[0], &name)?;
    Ok(Value::None)
}

fn object_eq(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "__eq__", 2, 2)?;
    if it.identical(&args.pos[0], &args.pos[1]) {
        return Ok(Value::Bool(true));
    }
    Ok(Value::Ref(types::NOT_IMPLEMENTED))
}

fn reduce(it: &mut Interp, _: Args<'_>) -> R {
    it.type_error("import-time code cannot pickle objects")
}

/// Methods of `object`.
pub(crate) const OBJECT: &[Builtin] = &[
    Builtin::static_method("object.__new__", new),
    Builtin::method("object.__init__", init),
    Builtin::method("object.__getattribute__", getattribute),
    Builtin::method("object.__setattr__", setattr),
    Builtin::method("object.__delattr__", delattr),
    Builtin::method("object.__repr__", operator_repr),
    Builtin::method("object.__str__", operator_str),
    Builtin::method("object.__hash__", operator_hash),
    Builtin::method("object.__eq__", object_eq),
    Builtin::method("object.__reduce__", reduce),
];

fn type_new(it: &mut Interp, args: Args<'_>) -> R {
    let Some(Value::Ref(meta)) = args.get(0) else {
        return it.type_error("type.__new__(X): X is not a type object");
    };
    let meta = *meta;
    it.make_type(meta, Args::new(&args.pos[1..]))
}

fn type_init(_: &mut Interp, _: Args<'_>) -> R {
    Ok(Value::None)
}

fn type_call(it: &mut Interp, args: Args<'_>) -> R {
    let Some(Value::Ref(class)) = args.get(0) else {
        return it.type_error("type.__call__ needs a class");
    };
    let class = *class;
    it.instantiate(
        class,
        Args {
            pos: &args.pos[1..],
            kw: args.kw,
        },
    )
}

fn mro(it: &mut Interp, args: Args<'_>) -> R {
    let v = args.need(it, 0, "mro")?;
    let m = it.getattr(v, "__mro__")?;
    let items = it.list_of(&m)?;
    Ok(it.heap.list(items))
}

fn subclasses(it: &mut Interp, args: Args<'_>) -> R {
    let subs = match args.get(0) {
        Some(Value::Ref(c)) => it.heap.subclasses(*c),
        _ => Vec::new(),
    };
    let items = subs.into_iter().map(Value::Ref).collect();
    Ok(it.heap.list(items))
}

/// Methods of `type`.
pub(crate) const TYPE: &[Builtin] = &[
    Builtin::static_method("type.__new__", type_new),
    Builtin::method("type.__init__", type_init),
    Builtin::method("type.__call__", type_call),
    Builtin::method("type.mro", mro),
    Builtin::method("type.__subclasses__", subclasses),
];

fn with_part(it: &mut Interp, args: Args<'_>, at: usize) -> R {
    args.expect(it, "property method", 2, 2)?;
    let Value::Ref(r) = &args.pos[0] else {
        return it.type_error("descriptor requires a property");
    };
    let Kind::Property(p) = it.heap.kind(*r) else {
        return it.type_error("descriptor requires a property");
    };
    let mut p = p.clone();
    p[at] = args.pos[1].clone();
    let class = it.heap.get(*r).class;
    Ok(Value::Ref(it.heap.alloc(class, Kind::Property(p))))
}

fn getter(it: &mut Interp, args: Args<'_>) -> R {
    with_part(it, args, 0)
}

fn setter(it: &mut Interp, args: Args<'_>) -> R {
    with_part(it, args, 1)
}

fn deleter(it: &mut Interp, args: Args<'_>) -> R {
    with_part(it, args, 2)
}

/// `descriptor.__get__(obj, class)`, where either may be None, though not both.
fn descriptor_get(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "__get__", 2, 3)?;
    let obj = &args.pos[1];
    match args.get(2) {
        Some(Value::Ref(class)) => {
            it.bind(&args.pos[0], Some(obj).filter(|v| !v.is_none()), *class)
        }
        None | Some(Value::None) if obj.is_none() => {
            it.type_error("__get__(None, None) is invalid")
        }
        _ => {
            let class = it.heap.type_of(obj);
            it.bind(&args.pos[0], Some(obj), class)
        }
    }
}

/// Methods of functions, static methods and class methods.
pub(crate) const DESCRIPTOR: &[Builtin] = &[Builtin::method("object.__get__", descriptor_get)];

/// Methods of `property`.
pub(crate) const PROPERTY: &[Builtin] = &[
    Builtin::method("property.getter", getter),
    Builtin::method("property.setter", setter),
    Builtin::method("property.deleter", deleter),
    Builtin::method("property.__get__", descriptor_get),
];

/// Makes methods out of functions (`types.MethodType`).
pub(crate) fn make_method(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "instancemethod", 2, 3)?;
    let slf = Some(&args.pos[1]).filter(|v| !v.is_none()).cloned();
    let class = match (args.get(2), &slf) {
        (Some(Value::Ref(c)), _) => *c,
        (_, Some(s)) => it.heap.type_of(s),
        _ => ty::OBJECT,
    };
    Ok(Value::Method(std::sync::Arc::new(
        crate::space::value::Method {
            func: args.pos[0].clone(),
            slf,
            class,
        },
    )))
}
