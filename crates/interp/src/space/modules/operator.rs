//! `operator`.

use taipan_graph::HlOp;

use crate::space::builtin::{Args, Builtin};
use crate::space::heap::Ref;
use crate::space::value::Value;
use crate::space::{Interp, R};

macro_rules! operations {
    ($($name:ident = $op:ident;)*) => {
        /// Functions of `operator`.
        pub(crate) const OPERATOR: &[Builtin] = &[
            $(Builtin::function(concat!("operator.", stringify!($name)), |it, args| {
                operation(it, stringify!($name), HlOp::$op, args)
            }),)*
            Builtin::function("operator.concat", |it, args| {
                operation(it, "concat", HlOp::Add, args)
            }),
            Builtin::function("operator.index", |it, args| {
                operation(it, "index", HlOp::Pos, args)
            }),
            Builtin::function("operator.not_", not_),
            Builtin::function("operator.is_not", is_not),
            Builtin::function("operator.attrgetter", attrgetter),
            Builtin::function("operator.itemgetter", itemgetter),
        ];
    };
}
taipan_language::for_each_operator!(operations);

fn operation(it: &mut Interp, name: &str, op: HlOp, args: Args<'_>) -> R {
    // The third operand of `pow()` is not one of the operator's.
    let operands = *op.operands().start();
    args.expect(it, name, operands, operands)?;
    it.operation(op, args.pos)
}

fn not_(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "not_", 1, 1)?;
    Ok(Value::Bool(!it.truth(&args.pos[0])?))
}

fn is_not(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "is_not", 2, 2)?;
    Ok(Value::Bool(!it.identical(&args.pos[0], &args.pos[1])))
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
