//! `lltype`, `llop` and the runtime's functions: low-level types are real objects at
//! import time, the operations on low-level values are names for the compiler.

use std::sync::Arc;

use taipan_graph::IntKind;
use taipan_lltype::{
    ArrayType, Field, LLType, MARKERS, NumFamily, NumOp, PlainOp, StructBody, StructId, StructType,
    Tie, TypeKind,
};

use super::adtmeths;
use crate::space::builtin::{Args, Builtin};
use crate::space::heap::{Heap, Kind, Ref};
use crate::space::lowmem::Target;
use crate::space::types::ty;
use crate::space::value::Value;
use crate::space::{Interp, R};

/// The module of low-level types.
pub(crate) const LLTYPE: &str = "rpython.rtyper.lltypesystem.lltype";
/// The module of low-level operations.
pub(crate) const LLOPERATION: &str = "rpython.rtyper.lltypesystem.lloperation";

impl Interp<'_> {
    /// A low-level type as an object.
    pub(crate) fn lltype(&mut self, t: LLType) -> Value {
        Value::Ref(self.heap.alloc(ty::LLTYPE, Kind::LLType(t)))
    }

    /// A function that only the compiler knows, by its qualified name.
    pub(crate) fn opaque(&mut self, name: String) -> Value {
        Value::Ref(self.heap.alloc(ty::BUILTIN, Kind::Opaque(name.into())))
    }
}

/// The low-level type that an object is.
pub(crate) fn type_arg(it: &mut Interp, v: &Value) -> R<LLType> {
    if let Value::Ref(r) = v
        && let Kind::LLType(t) = it.heap.kind(*r)
    {
        return Ok(*t);
    }
    it.type_error("a low-level type is required")
}

/// `hints={..}` as a test for one of them.
fn hint(it: &mut Interp, args: Args<'_>, name: &str) -> R<bool> {
    match args.keyword("hints") {
        Some(Value::Ref(d)) => match it.dict_get(*d, &Value::str(name))? {
            Some(v) => it.truth(&v),
            None => Ok(false),
        },
        _ => Ok(false),
    }
}

fn ptr(it: &mut Interp, args: Args<'_>) -> R {
    let arg = args.need(it, 0, "Ptr")?;
    let t = type_arg(it, arg)?;
    Ok(it.lltype(t.ptr()))
}

fn struct_of(it: &mut Interp, args: Args<'_>, gc: bool) -> R {
    let name = args.need(it, 0, "Struct")?;
    let name = it.name_of(name, "name of a struct")?;
    let mut body = StructBody::default();
    for pair in &args.pos[1..] {
        let pair = it.list_of(pair)?;
        let [n, t] = &pair[..] else {
            return it.type_error("a field is a pair of name and type");
        };
        let n = it.name_of(n, "name of a field")?;
        let ty = type_arg(it, t)?;
        body.fields.push(Field {
            name: n.as_str().into(),
            ty,
        });
    }
    body.adtmeths = adtmeths::table(it, args)?;
    body.union = hint(it, args, "union")?;
    if hint(it, args, "immutable")? {
        body.immutable = body.fields.iter().map(|f| f.name.clone()).collect();
    }
    Ok(it.lltype(LLType::new(TypeKind::Struct(StructType {
        name: name.as_str().into(),
        gc,
        id: StructId::Inline(Arc::new(body)),
    }))))
}

fn gc_struct(it: &mut Interp, args: Args<'_>) -> R {
    struct_of(it, args, true)
}

fn raw_struct(it: &mut Interp, args: Args<'_>) -> R {
    struct_of(it, args, false)
}

fn array_of(it: &mut Interp, args: Args<'_>, gc: bool) -> R {
    let of = match args.pos {
        [Value::Ref(r)] if matches!(it.heap.kind(*r), Kind::LLType(_)) => {
            type_arg(it, &args.pos[0])?
        }
        // `Array(('x', Signed), ..)` is an array of inlined structs.
        _ => {
            let mut all = vec![Value::str("item")];
            all.extend_from_slice(args.pos);
            let s = struct_of(it, Args::new(&all), false)?;
            type_arg(it, &s)?
        }
    };
    let nolength = hint(it, args, "nolength")?;
    let immutable = hint(it, args, "immutable")?;
    let extra_item = hint(it, args, "extra_item_after_alloc")?;
    let adtmeths = adtmeths::table(it, args)?;
    Ok(it.lltype(LLType::new(TypeKind::Array(ArrayType {
        gc,
        of,
        nolength,
        immutable,
        extra_item,
        adtmeths,
    }))))
}

fn gc_array(it: &mut Interp, args: Args<'_>) -> R {
    array_of(it, args, true)
}

fn raw_array(it: &mut Interp, args: Args<'_>) -> R {
    array_of(it, args, false)
}

fn fixed_array(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "FixedSizeArray", 2, 2)?;
    let of = type_arg(it, &args.pos[0])?;
    let n = it.index_of(&args.pos[1])?;
    Ok(it.lltype(LLType::new(TypeKind::FixedArray(of, n.max(0) as u64))))
}

fn func_type(it: &mut Interp, args: Args<'_>) -> R {
    let mut arg_types = Vec::new();
    let arg = args.need(it, 0, "FuncType")?;
    for t in it.list_of(arg)? {
        arg_types.push(type_arg(it, &t)?);
    }
    let result = match args.get(1) {
        Some(t) => type_arg(it, t)?,
        None => *taipan_lltype::VOID,
    };
    Ok(it.lltype(LLType::func(arg_types, result)))
}

fn opaque_of(it: &mut Interp, args: Args<'_>, gc: bool) -> R {
    let name = args.need(it, 0, "OpaqueType")?;
    let name = it.name_of(name, "name of an opaque type")?;
    Ok(it.lltype(LLType::new(TypeKind::Opaque {
        name: name.as_str().into(),
        gc,
    })))
}

fn opaque_type(it: &mut Interp, args: Args<'_>) -> R {
    opaque_of(it, args, false)
}

fn gc_opaque_type(it: &mut Interp, args: Args<'_>) -> R {
    opaque_of(it, args, true)
}

fn type_of(it: &mut Interp, args: Args<'_>) -> R {
    let v = args.need(it, 0, "typeOf")?;
    if let Some(p) = it.as_pointer(v) {
        return Ok(it.lltype(p.ty));
    }
    let t = match v {
        Value::None => *taipan_lltype::VOID,
        Value::Bool(_) => *taipan_lltype::BOOL,
        Value::Int(_) => *taipan_lltype::SIGNED,
        Value::Float(_) => *taipan_lltype::FLOAT,
        Value::Str(s) if s.len() == 1 => *taipan_lltype::CHAR,
        Value::Unicode(s) if s.len() == 1 => *taipan_lltype::UNICHAR,
        _ => match v.as_ref().and_then(|r| int_kind(&it.heap, r)) {
            Some(k) => LLType::new(TypeKind::Int(k)),
            None => return it.type_error("typeOf() of a value without low-level type"),
        },
    };
    Ok(it.lltype(t))
}

/// `build_number(name, class)`: the type of that class's numbers.
fn build_number(it: &mut Interp, args: Args<'_>) -> R {
    let kind = match args.need(it, 1, "build_number")? {
        Value::Ref(c) if *c == ty::INT => Some(IntKind::SIGNED),
        Value::Ref(c) => class_kind(&it.heap, *c),
        _ => None,
    };
    match kind {
        Some(k) => Ok(it.lltype(LLType::new(TypeKind::Int(k)))),
        None => it.value_error("No matching lowlevel type"),
    }
}

/// The kind of a `r_uint` and the like.
pub(crate) fn int_kind(heap: &Heap, r: Ref) -> Option<IntKind> {
    let o = heap.get(r);
    match &o.kind {
        Kind::Boxed(Value::Int(_) | Value::Long(_)) => class_kind(heap, o.class),
        _ => None,
    }
}

/// The kind of numbers of a class that tells `BITS` and `SIGNED`.
fn class_kind(heap: &Heap, class: Ref) -> Option<IntKind> {
    let bits = match heap.lookup(class, "BITS")? {
        Value::Int(b) => u8::try_from(*b).ok()?,
        _ => return None,
    };
    let signed = match heap.lookup(class, "SIGNED")? {
        Value::Bool(b) => *b,
        _ => return None,
    };
    Some(IntKind { signed, bits })
}

/// Functions of `lltype` that make types.
pub(crate) const FUNCTIONS: &[Builtin] = &[
    Builtin::function("rpython.rtyper.lltypesystem.lltype.Ptr", ptr),
    Builtin::function("rpython.rtyper.lltypesystem.lltype.GcStruct", gc_struct),
    Builtin::function("rpython.rtyper.lltypesystem.lltype.Struct", raw_struct),
    Builtin::function("rpython.rtyper.lltypesystem.lltype.GcArray", gc_array),
    Builtin::function("rpython.rtyper.lltypesystem.lltype.Array", raw_array),
    Builtin::function(
        "rpython.rtyper.lltypesystem.lltype.FixedSizeArray",
        fixed_array,
    ),
    Builtin::function("rpython.rtyper.lltypesystem.lltype.FuncType", func_type),
    Builtin::function("rpython.rtyper.lltypesystem.lltype.OpaqueType", opaque_type),
    Builtin::function(
        "rpython.rtyper.lltypesystem.lltype.GcOpaqueType",
        gc_opaque_type,
    ),
    Builtin::function("rpython.rtyper.lltypesystem.lltype.typeOf", type_of),
    Builtin::function(
        "rpython.rtyper.lltypesystem.lltype.build_number",
        build_number,
    ),
    Builtin::function("rpython.rtyper.lltypesystem.lltype.Typedef", typedef),
    Builtin::function(
        "rpython.rtyper.lltypesystem.lltype.ForwardReference",
        forward_reference,
    ),
    Builtin::function(
        "rpython.rtyper.lltypesystem.lltype.GcForwardReference",
        gc_forward_reference,
    ),
];

/// Functions of `lltype` that only the compiler knows.
const COMPILED: &[&str] = &[
    "identityhash",
    "length_of_simple_gcarray_from_opaque",
    "scoped_alloc",
    "runtime_type_info",
];

/// Kinds of types that are no functions; for `isinstance`.
const KINDS: &[&str] = &["Number", "Primitive", "ContainerType"];

fn int(signed: bool, bits: u8) -> LLType {
    LLType::new(TypeKind::Int(IntKind { signed, bits }))
}

/// The types of `lltype`.
pub(crate) fn init(it: &mut Interp, m: Ref) {
    for (name, t) in [
        ("Void", *taipan_lltype::VOID),
        ("Bool", *taipan_lltype::BOOL),
        ("Char", *taipan_lltype::CHAR),
        ("UniChar", *taipan_lltype::UNICHAR),
        ("Signed", *taipan_lltype::SIGNED),
        ("Unsigned", *taipan_lltype::UNSIGNED),
        ("SignedLongLong", *taipan_lltype::SIGNED),
        ("UnsignedLongLong", *taipan_lltype::UNSIGNED),
        ("SignedLongLongLong", int(true, 128)),
        ("UnsignedLongLongLong", int(false, 128)),
        ("Float", *taipan_lltype::FLOAT),
        ("SingleFloat", *taipan_lltype::SINGLEFLOAT),
        ("LongFloat", *taipan_lltype::FLOAT),
        ("Address", *taipan_lltype::ADDRESS),
        ("GCREF", *taipan_lltype::GCREF),
    ] {
        let t = it.lltype(t);
        it.heap.set_attr(m, name, t);
    }
    for name in COMPILED.iter().chain(KINDS) {
        let f = it.opaque(format!("{LLTYPE}.{name}"));
        it.heap.set_attr(m, name, f);
    }
    it.heap.set_attr(m, "LowLevelType", Value::Ref(ty::LLTYPE));
}

/// `llop`: a module object with one function per low-level operation.
pub(crate) fn init_llop(it: &mut Interp, m: Ref) {
    let name = format!("{LLOPERATION}.llop");
    let llop = it
        .heap
        .alloc(ty::MODULE, Kind::Module(name.as_str().into()));
    let plain = PlainOp::ALL.iter().map(|p| p.name().to_owned());
    let numeric = NumFamily::ALL.iter().flat_map(|f| {
        NumOp::ALL
            .iter()
            .map(|o| format!("{}_{}", f.name(), o.name()))
    });
    let markers = MARKERS.iter().map(|&m| m.to_owned());
    for op in plain.chain(numeric).chain(markers).collect::<Vec<_>>() {
        let f = it.opaque(format!("{name}.{op}"));
        it.heap.set_attr(llop, &op, f);
    }
    it.heap.set_attr(m, "llop", Value::Ref(llop));
}

/// `taipan_lowlevel`: what prelude helpers use besides.
pub(crate) fn init_lowlevel(it: &mut Interp, m: Ref) {
    for (name, t) in [
        ("STR", *taipan_lltype::STR),
        ("UNICODE", *taipan_lltype::UNICODE),
        ("OBJECT", *taipan_lltype::OBJECT),
        ("INT", int(true, 32)),
    ] {
        let t = it.lltype(t);
        it.heap.set_attr(m, name, t);
    }
    it.heap
        .set_attr(m, "StackOverflow", Value::Ref(ty::STACK_OVERFLOW));
    let externals = taipan_lltype::EXTERNALS.iter().map(|e| e.name);
    for name in externals.chain(["has_field", "empty_array", "is_array", "is_pointer"]) {
        let f = it.opaque(format!("taipan_lowlevel.{name}"));
        it.heap.set_attr(m, name, f);
    }
}

/// Attributes of low-level types.
pub(crate) fn type_attr(it: &mut Interp, r: Ref, name: &str) -> R<Option<Value>> {
    let Kind::LLType(t) = it.heap.kind(r) else {
        return Ok(None);
    };
    let t = *t;
    let found = match (t.kind(), name) {
        (TypeKind::Ptr(to), "TO") => Some(*to),
        (TypeKind::Array(a), "OF") => Some(a.of),
        (TypeKind::FixedArray(of, _), "OF") => Some(*of),
        (TypeKind::Func(f), "RESULT") => Some(f.result),
        (TypeKind::Func(f), "ARGS") => {
            let args = f.args.iter().map(|a| it.lltype(*a)).collect();
            return Ok(Some(Value::tuple(args)));
        }
        (TypeKind::Struct(s), _) => s
            .known_body()
            .and_then(|b| b.fields.iter().find(|f| &*f.name == name).map(|f| f.ty)),
        _ => None,
    };
    if let Some(t) = found {
        return Ok(Some(it.lltype(t)));
    }
    Ok(match (t.kind(), name) {
        (TypeKind::Struct(s), "_name") => Some(Value::str(&s.name)),
        (TypeKind::Struct(s), "_names") => s
            .known_body()
            .map(|b| Value::tuple(b.fields.iter().map(|f| Value::str(&f.name)).collect())),
        (TypeKind::FixedArray(_, n), "length") => Some(Value::Int(*n as i64)),
        (_, "__name__" | "_name") if t.as_struct().is_none() => Some(Value::str(&t.to_string())),
        (_, "_type") => return it.number_class(t),
        (TypeKind::Struct(s), "_flds") => match s.known_body() {
            Some(b) => {
                let fields: Vec<_> = b.fields.iter().map(|f| (f.name.clone(), f.ty)).collect();
                return Ok(Some(it.fields_of(&fields)?));
            }
            None => None,
        },
        (TypeKind::Array(_) | TypeKind::Struct(_) | TypeKind::FixedArray(..), "_hints") => {
            return Ok(Some(it.hints_of(t)?));
        }
        (_, "_gckind") => Some(Value::str(if t.is_gc_container() { "gc" } else { "raw" })),
        _ => return it.type_adtmeth(t, name),
    })
}

impl Interp<'_> {
    /// `T._flds`: a new dict, so that changes to it do not reach the type.
    fn fields_of(&mut self, fields: &[(impl AsRef<str>, LLType)]) -> R {
        let d = self.heap.dict(Default::default());
        for (name, t) in fields {
            let t = self.lltype(*t);
            self.dict_set(d, Value::str(name.as_ref()), t)?;
        }
        Ok(Value::Ref(d))
    }

    /// `T._hints`, limited to the hints that types store: a new dict, so that changes to it do not reach the type.
    fn hints_of(&mut self, t: LLType) -> R {
        let d = self.heap.dict(Default::default());
        if t.as_array().is_some_and(|a| a.nolength) {
            self.dict_set(d, Value::str("nolength"), Value::Bool(true))?;
        }
        Ok(Value::Ref(d))
    }
}

/// `isinstance(T, lltype.Struct)`: none if `kind` is no kind of types.
pub(crate) fn is_type_of_kind(it: &Interp, v: &Value, kind: &Value) -> Option<bool> {
    let name = match it.heap.kind(kind.as_ref()?) {
        Kind::Builtin(b) => b.name,
        Kind::Opaque(n) => n,
        _ => return None,
    };
    match v.as_ref().map(|r| it.heap.kind(r)) {
        Some(Kind::LLType(t)) => is_of_kind(*t, name),
        _ => is_of_kind(*taipan_lltype::VOID, name).map(|_| false),
    }
}

/// Whether a low-level type is one of those that a name of `lltype` stands for, such as
/// `rpython.rtyper.lltypesystem.lltype.Ptr`. None if it stands for no kind of types.
pub fn is_of_kind(t: LLType, name: &str) -> Option<bool> {
    use TypeKind::{Address, Bool, Char, FixedArray, Float, Int, Opaque, Ptr, SingleFloat};
    use TypeKind::{UniChar, Void};
    let name = name.strip_prefix(LLTYPE)?.strip_prefix('.')?;
    let number = matches!(t.kind(), Int(_) | Float | SingleFloat);
    let primitive = number || matches!(t.kind(), Void | Bool | Char | UniChar | Address);
    Some(match name {
        "Number" => number,
        "Primitive" => primitive,
        "Ptr" => matches!(t.kind(), Ptr(_)),
        "Struct" => t.as_struct().is_some(),
        "GcStruct" => t.as_struct().is_some_and(|s| s.gc),
        "Array" => t.as_array().is_some(),
        "GcArray" => t.as_array().is_some_and(|a| a.gc),
        "FixedSizeArray" => matches!(t.kind(), FixedArray(..)),
        "FuncType" => t.as_func().is_some(),
        "OpaqueType" | "GcOpaqueType" => matches!(t.kind(), Opaque { .. }),
        "ContainerType" => !primitive && t.pointee().is_none(),
        // Types are what they are defined as.
        "Typedef" => false,
        _ => return None,
    })
}

fn forward_reference_of(it: &mut Interp, gc: bool) -> R {
    let name = format!("forward {}", it.heap.new_number());
    Ok(it.lltype(LLType::new(TypeKind::Opaque {
        name: name.as_str().into(),
        gc,
    })))
}

fn forward_reference(it: &mut Interp, _: Args<'_>) -> R {
    forward_reference_of(it, false)
}

fn gc_forward_reference(it: &mut Interp, _: Args<'_>) -> R {
    forward_reference_of(it, true)
}

/// `reference.become(T)`
fn become_type(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "become", 2, 2)?;
    let from = type_arg(it, &args.pos[0])?;
    let to = type_arg(it, &args.pos[1])?;
    if !matches!(from.kind(), TypeKind::Opaque { name, .. } if name.starts_with("forward ")) {
        return it.type_error("only a forward reference can become another type");
    }
    match Tie::new(from, to) {
        Some(tie) => {
            it.replace_types(&|t| tie.apply(t));
            Ok(Value::None)
        }
        None => it.type_error("a type that consists of pointers to itself only"),
    }
}

/// Methods of low-level types.
pub(crate) const TYPE_METHODS: &[Builtin] = &[
    Builtin::method("LowLevelType.become", become_type),
    Builtin::method("LowLevelType._defl", default_value),
];

/// `T._defl()`: the value that variables of the type start with.
fn default_value(it: &mut Interp, args: Args<'_>) -> R {
    let arg = args.need(it, 0, "_defl")?;
    let t = type_arg(it, arg)?;
    Ok(match t.kind() {
        TypeKind::Int(_) => it.typed_number(t, &Value::Int(0))?,
        TypeKind::Bool => Value::Bool(false),
        TypeKind::Char => Value::bytes(b"\0"),
        TypeKind::UniChar => Value::unicode("\0"),
        TypeKind::Float => Value::Float(0.0),
        TypeKind::Ptr(_) | TypeKind::Address => it.pointer(t, Target::Null),
        _ => Value::None,
    })
}

/// `Typedef(T, name)`: the C name of a type, which nothing here depends on.
fn typedef(it: &mut Interp, args: Args<'_>) -> R {
    args.need(it, 0, "Typedef").cloned()
}

/// Calls a low-level type: `Signed(x)` casts in RPython, at import time too.
pub(crate) fn call_type(it: &mut Interp, r: Ref, args: Args<'_>) -> R {
    let Kind::LLType(t) = it.heap.kind(r) else {
        return Ok(Value::None);
    };
    let t = *t;
    let v = args.need(it, 0, "low-level type")?;
    match t.kind() {
        TypeKind::Int(k) => {
            let k = *k;
            let n = it.int_of(v, None)?;
            let n = it.big_int(&n).unwrap_or_default();
            let n = num_traits::ToPrimitive::to_i128(&n).unwrap_or(0);
            Ok(Value::int_or_long(k.wrap(n).into()))
        }
        TypeKind::Float => Ok(Value::Float(it.float_of(v)?)),
        TypeKind::Bool => Ok(Value::Bool(it.truth(v)?)),
        _ => it.type_error(format!("'{t}' object is not callable")),
    }
}

/// Low-level types have no items.
pub(crate) fn getitem(it: &mut Interp, _: Ref, _: &Value) -> R {
    it.type_error("'LowLevelType' object has no attribute '__getitem__'")
}
