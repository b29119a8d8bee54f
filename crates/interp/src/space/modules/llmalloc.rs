//! `lltype`'s functions on containers and pointers, as they work while a program loads.
//! In translated code the compiler knows them by the same names.

use taipan_graph::IntKind;
use taipan_lltype::{ADDRESS, LLType, NoProgram, TypeKind, layout};

use super::lltype::type_arg;
use crate::space::builtin::{Args, Builtin};
use crate::space::heap::Kind;
use crate::space::lowmem::{LLFunction, Pointer, Target};
use crate::space::types::ty;
use crate::space::value::Value;
use crate::space::{Interp, R};

/// The pointer that an argument is.
fn pointer_arg(it: &mut Interp, args: Args<'_>, i: usize, f: &str) -> R<Pointer> {
    let v = args.need(it, i, f)?;
    match it.as_pointer(v) {
        Some(p) => Ok(p),
        None => {
            let t = it.heap.type_name(v).to_owned();
            it.type_error(format!("{f}() needs a low-level pointer, not {t}"))
        }
    }
}

fn malloc(it: &mut Interp, args: Args<'_>) -> R {
    let t = args.need(it, 0, "malloc")?;
    let t = type_arg(it, t)?;
    let n = match args.named(1, "n") {
        None | Some(Value::None) => None,
        Some(n) => Some(it.index_of(n)?),
    };
    let r = it.new_container(t, n, None)?;
    Ok(it.pointer(t.ptr(), Target::Object(r)))
}

/// Nothing is freed while a program loads: who frees does not look again.
fn free(it: &mut Interp, args: Args<'_>) -> R {
    pointer_arg(it, args, 0, "free")?;
    Ok(Value::None)
}

fn render_immortal(_: &mut Interp, _: Args<'_>) -> R {
    Ok(Value::None)
}

fn nullptr(it: &mut Interp, args: Args<'_>) -> R {
    let t = args.need(it, 0, "nullptr")?;
    let t = type_arg(it, t)?;
    Ok(it.pointer(t.ptr(), Target::Null))
}

fn function_pointer(it: &mut Interp, args: Args<'_>) -> R {
    let t = args.need(it, 0, "functionptr")?;
    let t = type_arg(it, t)?;
    let name = args.need(it, 1, "functionptr")?;
    let name = it.name_of(name, "name of a function")?;
    let attribute = |name| args.keyword(name).cloned().unwrap_or(Value::None);
    let f = LLFunction {
        name: name.as_str().into(),
        ty: t,
        callable: attribute("_callable"),
        external: attribute("external"),
    };
    let r = it
        .heap
        .alloc(ty::LLCONTAINER, Kind::LLFunction(Box::new(f)));
    Ok(it.pointer(t.ptr(), Target::Object(r)))
}

fn cast_pointer(it: &mut Interp, args: Args<'_>) -> R {
    let to = args.need(it, 0, "cast_pointer")?;
    let to = type_arg(it, to)?;
    let p = pointer_arg(it, args, 1, "cast_pointer")?;
    it.cast_pointer(to, p)
}

fn cast_opaque_ptr(it: &mut Interp, args: Args<'_>) -> R {
    let to = args.need(it, 0, "cast_opaque_ptr")?;
    let to = type_arg(it, to)?;
    let p = pointer_arg(it, args, 1, "cast_opaque_ptr")?;
    Ok(it.pointer(to, p.to))
}

fn cast_ptr_to_int(it: &mut Interp, args: Args<'_>) -> R {
    let p = pointer_arg(it, args, 0, "cast_ptr_to_int")?;
    match p.to {
        Target::Null => Ok(Value::Int(0)),
        Target::Int(i) => Ok(Value::Int(i)),
        _ => it.type_error("addresses are not known while a program is imported"),
    }
}

fn cast_int_to_ptr(it: &mut Interp, args: Args<'_>) -> R {
    let to = args.need(it, 0, "cast_int_to_ptr")?;
    let to = type_arg(it, to)?;
    let i = args.need(it, 1, "cast_int_to_ptr")?;
    let to_what = match it.index_of(i)? {
        0 => Target::Null,
        i => Target::Int(i),
    };
    Ok(it.pointer(to, to_what))
}

fn cast_ptr_to_adr(it: &mut Interp, args: Args<'_>) -> R {
    let p = pointer_arg(it, args, 0, "cast_ptr_to_adr")?;
    Ok(it.pointer(*ADDRESS, p.to))
}

fn cast_adr_to_ptr(it: &mut Interp, args: Args<'_>) -> R {
    let p = pointer_arg(it, args, 0, "cast_adr_to_ptr")?;
    let to = args.need(it, 1, "cast_adr_to_ptr")?;
    let to = type_arg(it, to)?;
    Ok(it.pointer(to, p.to))
}

fn direct_fieldptr(it: &mut Interp, args: Args<'_>) -> R {
    let p = pointer_arg(it, args, 0, "direct_fieldptr")?;
    let name = args.need(it, 1, "direct_fieldptr")?;
    let name = it.name_of(name, "name of a field")?;
    it.direct_part(p, Some(&name))
}

fn direct_arrayitems(it: &mut Interp, args: Args<'_>) -> R {
    let p = pointer_arg(it, args, 0, "direct_arrayitems")?;
    it.direct_part(p, None)
}

fn direct_ptradd(it: &mut Interp, args: Args<'_>) -> R {
    let p = pointer_arg(it, args, 0, "direct_ptradd")?;
    let n = args.need(it, 1, "direct_ptradd")?;
    let n = it.index_of(n)?;
    it.direct_ptradd(p, n)
}

fn cast_primitive(it: &mut Interp, args: Args<'_>) -> R {
    let t = args.need(it, 0, "cast_primitive")?;
    let t = type_arg(it, t)?;
    let v = args.need(it, 1, "cast_primitive")?.clone();
    it.cast_primitive(t, &v)
}

/// `rffi.cast`: among numbers and pointers.
fn rffi_cast(it: &mut Interp, args: Args<'_>) -> R {
    let t = args.need(it, 0, "cast")?;
    let t = type_arg(it, t)?;
    let v = args.need(it, 1, "cast")?.clone();
    match (it.as_pointer(&v), t.kind()) {
        (Some(p), TypeKind::Ptr(_) | TypeKind::Address) => Ok(it.pointer(t, p.to)),
        (Some(p), TypeKind::Int(_)) => {
            let i = match p.to {
                Target::Null => 0,
                Target::Int(i) => i,
                _ => {
                    return it.type_error("addresses are not known while a program is imported");
                }
            };
            it.cast_primitive(t, &Value::Int(i))
        }
        (None, TypeKind::Ptr(_) | TypeKind::Address) => {
            let to = match it.index_of(&v)? {
                0 => Target::Null,
                i => Target::Int(i),
            };
            Ok(it.pointer(t, to))
        }
        _ => it.cast_primitive(t, &v),
    }
}

impl Interp<'_> {
    /// A primitive value as one of another primitive type.
    fn cast_primitive(&mut self, t: LLType, v: &Value) -> R {
        let number = match v {
            Value::Str(s) if s.len() == 1 => Value::Int(i64::from(s[0])),
            Value::Unicode(s) if s.len() == 1 => Value::Int(i64::from(s[0])),
            Value::Ref(_) if self.big_int(v).is_none() => Value::Float(self.float_of(v)?),
            v => v.clone(),
        };
        Ok(match t.kind() {
            TypeKind::Int(k) => {
                let wide = self.int_of(&number, None)?;
                let n = self.big_int(&wide).unwrap_or_default();
                let low = num_traits::ToPrimitive::to_i128(&n).unwrap_or(0);
                let n = Value::int_or_long(k.wrap(low).into());
                return self.typed_number(t, &n);
            }
            TypeKind::Char => Value::bytes(&[self.low_bits(&number)? as u8]),
            TypeKind::UniChar => Value::Unicode([self.low_bits(&number)? as u32].as_slice().into()),
            TypeKind::Bool => Value::Bool(self.truth(&number)?),
            TypeKind::Float => Value::Float(self.float_of(&number)?),
            TypeKind::SingleFloat => return self.typed_number(t, &number),
            TypeKind::Void => Value::None,
            _ => return self.type_error(format!("a cast to {t}, which is not primitive")),
        })
    }

    fn low_bits(&mut self, v: &Value) -> R<i128> {
        let wide = self.int_of(v, None)?;
        let n = self.big_int(&wide).unwrap_or_default();
        Ok(num_traits::ToPrimitive::to_i128(&n).unwrap_or(0))
    }
}

/// `sizeof(T, n=None)`: bytes.
fn sizeof(it: &mut Interp, args: Args<'_>) -> R {
    let t = args.need(it, 0, "sizeof")?;
    let t = type_arg(it, t)?;
    let l = layout(t, &NoProgram);
    let n = args.named(1, "n").filter(|n| !matches!(n, Value::None));
    let size = match (n, &l.var) {
        (Some(n), Some(var)) => var.size_with(it.index_of(n)?.max(0) as u64),
        _ => Some(l.size),
    };
    Ok(Value::Int(size.unwrap_or(0) as i64))
}

/// `offsetof(T, field)`
fn offsetof(it: &mut Interp, args: Args<'_>) -> R {
    let t = args.need(it, 0, "offsetof")?;
    let t = type_arg(it, t)?;
    let name = args.need(it, 1, "offsetof")?;
    let name = it.name_of(name, "name of a field")?;
    match taipan_lltype::offset_of(t, &name, &NoProgram) {
        Some(offset) => Ok(Value::Int(offset as i64)),
        None => it.type_error(format!("{t} has no field {name}")),
    }
}

/// `itemoffsetof(T, n=0)`: from the start of an array to an item.
fn itemoffsetof(it: &mut Interp, args: Args<'_>) -> R {
    let t = args.need(it, 0, "itemoffsetof")?;
    let t = type_arg(it, t)?;
    let n = match args.get(1) {
        None => 0,
        Some(n) => it.index_of(n)?,
    };
    match taipan_lltype::item_offset(t, n, &NoProgram) {
        Some(offset) => Ok(Value::Int(offset)),
        None => it.type_error(format!("{t} has no items")),
    }
}

/// `int_type(signed, bits)`
fn int_type(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "int_type", 2, 2)?;
    let signed = it.truth(&args.pos[0])?;
    let bits = it.index_of(&args.pos[1])? as u8;
    Ok(it.lltype(LLType::new(TypeKind::Int(IntKind { signed, bits }))))
}

/// Functions of `lltype`, `llmemory` and `rffi`.
pub(crate) const FUNCTIONS: &[Builtin] = &[
    Builtin::function("rpython.rtyper.lltypesystem.lltype.malloc", malloc),
    Builtin::function("rpython.rtyper.lltypesystem.lltype.free", free),
    Builtin::function(
        "rpython.rtyper.lltypesystem.lltype.render_immortal",
        render_immortal,
    ),
    Builtin::function("rpython.rtyper.lltypesystem.lltype.nullptr", nullptr),
    Builtin::function(
        "rpython.rtyper.lltypesystem.lltype.functionptr",
        function_pointer,
    ),
    Builtin::function(
        "rpython.rtyper.lltypesystem.lltype.cast_pointer",
        cast_pointer,
    ),
    Builtin::function(
        "rpython.rtyper.lltypesystem.lltype.cast_opaque_ptr",
        cast_opaque_ptr,
    ),
    Builtin::function(
        "rpython.rtyper.lltypesystem.lltype.cast_ptr_to_int",
        cast_ptr_to_int,
    ),
    Builtin::function(
        "rpython.rtyper.lltypesystem.lltype.cast_int_to_ptr",
        cast_int_to_ptr,
    ),
    Builtin::function(
        "rpython.rtyper.lltypesystem.lltype.cast_primitive",
        cast_primitive,
    ),
    Builtin::function(
        "rpython.rtyper.lltypesystem.lltype.direct_fieldptr",
        direct_fieldptr,
    ),
    Builtin::function(
        "rpython.rtyper.lltypesystem.lltype.direct_arrayitems",
        direct_arrayitems,
    ),
    Builtin::function(
        "rpython.rtyper.lltypesystem.lltype.direct_ptradd",
        direct_ptradd,
    ),
    Builtin::function(
        "rpython.rtyper.lltypesystem.llmemory.cast_ptr_to_adr",
        cast_ptr_to_adr,
    ),
    Builtin::function(
        "rpython.rtyper.lltypesystem.llmemory.cast_adr_to_ptr",
        cast_adr_to_ptr,
    ),
    Builtin::function("rpython.rtyper.lltypesystem.llmemory.sizeof", sizeof),
    Builtin::function("rpython.rtyper.lltypesystem.llmemory.offsetof", offsetof),
    Builtin::function(
        "rpython.rtyper.lltypesystem.llmemory.itemoffsetof",
        itemoffsetof,
    ),
    Builtin::function("rpython.rtyper.lltypesystem.rffi.cast", rffi_cast),
    Builtin::function("rpython.rtyper.lltypesystem.rffi.int_type", int_type),
];
