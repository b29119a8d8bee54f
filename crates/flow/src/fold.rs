//! Pure operations on constants (RPython: `PureOperation.constfold`).
//!
//! Import time's space computes them; here is which ones are folded. What is told by the
//! classes and attributes of image objects alone is asked of the image.

use taipan_graph::{Const, HlOp, ObjId};
use taipan_interp::ObjData;
use taipan_interp::constants::{Computed, ConstantSpace, Raised};

use crate::world::World;

/// The result of an operation on constants.
pub(crate) fn fold(
    world: World<'_>,
    space: &mut ConstantSpace<'_>,
    op: HlOp,
    args: &[Const],
) -> Computed {
    let known = |c: Option<Const>| c.map_or(Computed::Unknown, Computed::To);
    let told = |b: Option<bool>| known(b.map(Const::Bool));
    match (op, args) {
        (HlOp::GetAttr, [obj, name]) => match (name, name.as_str()) {
            (_, Some(name)) => world.getattr(space, obj, name),
            (Const::Unicode(name), _) if name.iter().all(|c| *c < 0x80) => {
                let name: String = name.iter().map(|c| *c as u8 as char).collect();
                world.getattr(space, obj, &name)
            }
            (Const::Str(_) | Const::Unicode(_), _) => Computed::Unknown,
            _ if both_foldable(world, obj, name) => {
                type_error("getattr(): attribute name must be string")
            }
            _ => Computed::Unknown,
        },
        (HlOp::NewTuple, items) => {
            if items.iter().all(|c| world.foldable(c)) {
                Computed::To(Const::Tuple(items.into()))
            } else {
                Computed::Unknown
            }
        }
        (HlOp::SameAs, [a]) => Computed::To(a.clone()),
        (HlOp::Type, [a]) => {
            if world.foldable(a) {
                known(world.class_of(a).map(Const::Obj))
            } else {
                Computed::Unknown
            }
        }
        (HlOp::Is, [a, b]) if both_foldable(world, a, b) => told(identical(world, a, b)),
        (HlOp::IsInstance, [a, class]) if both_foldable(world, a, class) => {
            let Some(of) = world.class_of(a) else {
                return Computed::Unknown;
            };
            match within(world, of, class) {
                None if is_no_class(world, of, class) => type_error(
                    "isinstance() arg 2 must be a class, type, or tuple of classes and types",
                ),
                told_so => told(told_so),
            }
        }
        (HlOp::IsSubtype, [Const::Obj(a), class]) if may_be_class(class) => {
            told(within(world, *a, class))
        }
        (HlOp::IsSubtype, [a, class]) if both_foldable(world, a, class) => {
            let which = if may_be_class(a) { 2 } else { 1 };
            type_error(&format!("issubclass() arg {which} must be a class"))
        }
        (HlOp::LShift, [x, Const::Int(TOO_FAR..)])
            if matches!(x, Const::Int(_) | Const::Bool(_))
                && !matches!(x, Const::Int(0) | Const::Bool(false)) =>
        {
            raises("MemoryError", "")
        }
        _ if is_folded(op) => {
            let args: Vec<Const> = args.iter().map(|a| world.plain(a)).collect();
            if !args.iter().all(|a| world.foldable(a)) {
                return Computed::Unknown;
            }
            match space.op(op, &args) {
                // The result is probably meant for intmask(), and variables hold no longs.
                Computed::To(Const::Long(_)) if can_overflow(op) => Computed::Unknown,
                computed => computed,
            }
        }
        _ => Computed::Unknown,
    }
}

/// The result of a builtin function that is an operation to RPython and none here.
pub(crate) fn fold_call(
    world: World<'_>,
    space: &mut ConstantSpace<'_>,
    function: &str,
    args: &[Const],
) -> Computed {
    let args: Vec<Const> = args.iter().map(|a| world.plain(a)).collect();
    if args.iter().all(|a| world.foldable(a)) {
        space.call(function, &args)
    } else {
        Computed::Unknown
    }
}

/// Shifts to the left by so much are beyond the memory of any machine.
const TOO_FAR: i64 = 1 << 50;

/// A `TypeError`, always.
fn type_error(message: &str) -> Computed {
    raises("TypeError", message)
}

fn raises(class: &str, message: &str) -> Computed {
    Computed::Raises(Raised {
        class: class.into(),
        message: message.into(),
    })
}

fn both_foldable(world: World<'_>, a: &Const, b: &Const) -> bool {
    world.foldable(a) && world.foldable(b)
}

/// Whether an operation is one for the space.
fn is_folded(op: HlOp) -> bool {
    let by_class = matches!(
        op,
        HlOp::GetAttr | HlOp::Is | HlOp::Type | HlOp::IsInstance | HlOp::IsSubtype
    );
    let by_identity = matches!(op, HlOp::Id | HlOp::Hash | HlOp::NewSlice);
    op.is_pure() && !by_class && !by_identity && !op.name().ends_with("_ovf")
}

/// Operations with an overflow-checking variant (RPython: `OverflowingOperation`).
fn can_overflow(op: HlOp) -> bool {
    use HlOp::*;
    matches!(
        op,
        Neg | Abs | Add | Sub | Mul | FloorDiv | Div | Mod | LShift
    )
}

fn identical(world: World<'_>, a: &Const, b: &Const) -> Option<bool> {
    match (a, b) {
        (Const::Obj(a), Const::Obj(b)) => Some(a == b),
        (Const::None | Const::Bool(_), _) | (_, Const::None | Const::Bool(_)) => Some(a == b),
        (Const::Str(_), Const::Str(_)) | (Const::Int(_), Const::Int(_)) => Some(a == b),
        (Const::Float(_), Const::Float(_))
        | (Const::Unicode(_), Const::Unicode(_))
        | (Const::Tuple(_), Const::Tuple(_))
            if a != b =>
        {
            Some(false)
        }
        _ if world.class_of(a)? != world.class_of(b)? => Some(false),
        _ => None,
    }
}

/// Whether a class is a subclass of another one, or of one of several.
fn within(world: World<'_>, of: ObjId, class: &Const) -> Option<bool> {
    match class {
        Const::Tuple(classes) => {
            for class in classes.iter() {
                if within(world, of, class)? {
                    return Some(true);
                }
            }
            Some(false)
        }
        Const::Obj(class) => world.is_subclass(of, *class),
        _ => None,
    }
}

/// Whether it is certain that a constant is no class; of a tuple, that one is come to before
/// a class of which this is a subclass.
fn is_no_class(world: World<'_>, of: ObjId, c: &Const) -> bool {
    match c {
        Const::Tuple(items) => (items.iter())
            .find(|c| within(world, of, c) != Some(false))
            .is_some_and(|c| is_no_class(world, of, c)),
        Const::Obj(id) => match world.object(*id) {
            Some(ObjData::Instance(i)) => ["__instancecheck__", "__bases__", "__getattr__"]
                .iter()
                .all(|name| i.get(name).is_none() && world.class_attr(i.class, name).is_none()),
            Some(data) => matches!(
                data,
                ObjData::List(_) | ObjData::Dict(_) | ObjData::Function(_) | ObjData::Module { .. }
            ),
            None => false,
        },
        _ => true,
    }
}

fn may_be_class(c: &Const) -> bool {
    matches!(c, Const::Obj(_) | Const::Tuple(_))
}
