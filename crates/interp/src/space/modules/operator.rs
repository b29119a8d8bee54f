//! `operator`.

use taipan_graph::HlOp;

use crate::space::builtin::{Args, Builtin};
use crate::space::heap::Ref;
use crate::space::value::Value;
use crate::space::{Interp, R};

macro_rules! operations {
    ($($name:literal $f:ident = $op:ident, $n:literal;)*) => {
        $(fn $f(it: &mut Interp, args: Args<'_>) -> R {
            args.expect(it, $name, $n, $n)?;
            it.operation(HlOp::$op, args.pos)
        })*

        /// Functions of `operator`.
        pub(crate) const OPERATOR: &[Builtin] = &[
            $(Builtin::function(concat!("operator.", $name), $f),)*
            Builtin::function("operator.not_", not_),
            Builtin::function("operator.is_not", is_not),
            Builtin::function("operator.concat", add),
            Builtin::function("operator.attrgetter", attrgetter),
            Builtin::function("operator.itemgetter", itemgetter),
        ];
    };
}
operations! {
    "add" add = Add, 2;
    "sub" sub = Sub, 2;
    "mul" mul = Mul, 2;
    "div" div = Div, 2;
    "truediv" truediv = TrueDiv, 2;
    "floordiv" floordiv = FloorDiv, 2;
    "mod" modulo = Mod, 2;
    "pow" pow = Pow, 2;
    "lshift" lshift = LShift, 2;
    "rshift" rshift = RShift, 2;
    "and_" and_ = And, 2;
    "or_" or_ = Or, 2;
    "xor" xor = Xor, 2;
    "neg" neg = Neg, 1;
    "pos" pos = Pos, 1;
    "abs" abs = Abs, 1;
    "invert" invert = Invert, 1;
    "inv" inv = Invert, 1;
    "lt" lt = Lt, 2;
    "le" le = Le, 2;
    "eq" eq = Eq, 2;
    "ne" ne = Ne, 2;
    "gt" gt = Gt, 2;
    "ge" ge = Ge, 2;
    "is_" is_ = Is, 2;
    "truth" truth = Bool, 1;
    "contains" contains = Contains, 2;
    "getitem" getitem = GetItem, 2;
    "setitem" setitem = SetItem, 3;
    "delitem" delitem = DelItem, 2;
    "getslice" getslice = GetSlice, 3;
    "index" index = Pos, 1;
    "setslice" setslice = SetSlice, 4;
    "delslice" delslice = DelSlice, 3;
    "iadd" iadd = InplaceAdd, 2;
    "isub" isub = InplaceSub, 2;
    "imul" imul = InplaceMul, 2;
    "idiv" idiv = InplaceDiv, 2;
    "itruediv" itruediv = InplaceTrueDiv, 2;
    "ifloordiv" ifloordiv = InplaceFloorDiv, 2;
    "imod" imod = InplaceMod, 2;
    "ipow" ipow = InplacePow, 2;
    "ilshift" ilshift = InplaceLShift, 2;
    "irshift" irshift = InplaceRShift, 2;
    "iand" iand = InplaceAnd, 2;
    "ior" ior = InplaceOr, 2;
    "ixor" ixor = InplaceXor, 2;
}

fn not_(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "not_", 1, 1)?;
    Ok(Value::Bool(!it.truth(&args.pos[0])?))
}

fn is_not(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "is_not", 2, 2)?;
    Ok(Value::Bool(!args.pos[0].is(&args.pos[1])))
}

/// The functions under the names of the methods, too: `operator.__lt__`.
pub(crate) fn init(it: &mut Interp, module: Ref) {
    for f in OPERATOR {
        let name = f.short_name();
        if !matches!(
            name,
            "is_" | "is_not" | "truth" | "attrgetter" | "itemgetter"
        ) && let Some(v) = it.heap.attr(module, name).cloned()
        {
            let method = format!("__{}__", name.trim_end_matches('_'));
            it.heap.set_attr(module, &method, v);
        }
    }
}

/// The getters are classes written in Python.
fn python_class(it: &mut Interp, name: &str, args: Args<'_>) -> R {
    let m = it.load("_operator")?;
    let class = it.getattr(&Value::Ref(m), name)?;
    it.call_args(&class, args)
}

fn attrgetter(it: &mut Interp, args: Args<'_>) -> R {
    python_class(it, "attrgetter", args)
}

fn itemgetter(it: &mut Interp, args: Args<'_>) -> R {
    python_class(it, "itemgetter", args)
}
