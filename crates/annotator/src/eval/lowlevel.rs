//! Low-level values: pointers, types, functions of `lltype` (RPython:
//! `llannotation.py` and the annotation half of `lltype.py`, `lloperation.py`).

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use rustc_hash::FxHasher;
use taipan_base::ErrorCode;
use taipan_graph::{Const, ObjId};
use taipan_interp::{Builtin, ObjData, named_id, number_class};
use taipan_language::KnownFunction;
use taipan_lltype::{
    ArrayType, FuncSym, LLOp, LLType, NoProgram, StructType, TypeKind, adtmeths, check_types,
    layout,
};

use super::Cx;
use super::args::Arguments;
use crate::facts::Known;
use crate::val::{Atom, Val};
use crate::{ArgSource, Desc, InteriorStep};

/// The annotation of values of a low-level type.
pub(crate) fn lltype_to_annotation(t: LLType) -> Val {
    match t.kind() {
        TypeKind::Void => Val::none(),
        TypeKind::Bool => Val::bool_(),
        TypeKind::Char => Val::char_(false),
        TypeKind::UniChar => Val::unichar(false),
        TypeKind::Int(k) => Val::int(*k, false),
        TypeKind::Float => Atom::Float.into(),
        TypeKind::SingleFloat => Atom::SingleFloat.into(),
        TypeKind::Address => Atom::Address.into(),
        _ => Atom::Ptr(t).into(),
    }
}

/// The low-level type of values of an annotation; None if it is a high-level one.
pub(crate) fn annotation_to_lltype(v: &Val) -> Option<LLType> {
    use taipan_lltype as ll;
    if v.none {
        return v.is_none().then_some(*ll::VOID);
    }
    Some(match v.single()? {
        Atom::Int(i) if i.is_bool() => *ll::BOOL,
        Atom::Int(i) => LLType::new(TypeKind::Int(i.kind()?)),
        Atom::Float => *ll::FLOAT,
        Atom::SingleFloat => *ll::SINGLEFLOAT,
        Atom::Str { char_: true, .. } => *ll::CHAR,
        Atom::Uni { char_: true, .. } => *ll::UNICHAR,
        Atom::Str { .. } => ll::STR.ptr(),
        Atom::Uni { .. } => ll::UNICODE.ptr(),
        Atom::Address => *ll::ADDRESS,
        Atom::Ptr(t) => *t,
        _ => return None,
    })
}

/// A type as a value.
pub(crate) fn ll_type_val(t: LLType) -> Val {
    Atom::LLType(t).into()
}

/// A low-level function known while compiling.
pub(crate) fn ll_func_val(f: &FuncSym) -> Val {
    Atom::LLFunc(f.clone()).into()
}

/// Text of a type that tells it from all others.
pub(crate) fn type_text(t: LLType) -> String {
    let mut h = FxHasher::default();
    t.hash(&mut h);
    match t.kind() {
        TypeKind::Ptr(_) | TypeKind::Struct(_) | TypeKind::Array(_) => {
            format!("{t}#{:x}", h.finish())
        }
        _ => t.to_string(),
    }
}

/// Text of a function that tells it from all others, which may have the same name.
pub(crate) fn func_text(f: &FuncSym) -> String {
    let mut h = FxHasher::default();
    f.hash(&mut h);
    format!("{}#{:x}", f.name(), h.finish())
}

/// An attribute of a type that is a type: `.TO` of a pointer type, `.OF` of an array
/// type.
fn part_type(t: LLType, name: &str) -> Option<LLType> {
    match (name, t.kind()) {
        ("TO", TypeKind::Ptr(to)) => Some(*to),
        ("OF", TypeKind::Array(a)) => Some(a.of),
        ("OF", TypeKind::FixedArray(of, _)) => Some(*of),
        ("RESULT", TypeKind::Func(f)) => Some(f.result),
        (field, TypeKind::Struct(s)) => inline_field(s, field),
        _ => None,
    }
}

fn inline_field(s: &StructType, name: &str) -> Option<LLType> {
    let body = s.known_body()?;
    body.fields.iter().find(|f| *f.name == *name).map(|f| f.ty)
}

/// The constant type that a value is.
pub(super) fn type_of(v: &Val) -> Option<LLType> {
    match v.single() {
        Some(Atom::LLType(t)) => Some(*t),
        _ => None,
    }
}

/// `has_field(ptr, 'name')` of the prelude.
pub(super) fn has_field(args: &[Val]) -> bool {
    let container = match args.first().and_then(Val::single) {
        Some(Atom::Ptr(t)) => t.pointee().and_then(LLType::as_struct),
        _ => None,
    };
    let name = args.get(1).and_then(Val::const_str).unwrap_or_default();
    container.is_some_and(|s| inline_field(s, name).is_some())
}

/// `is_array(x)` of the prelude.
pub(super) fn is_array(v: &Val) -> bool {
    let t = match v.single() {
        Some(Atom::Ptr(t)) => t.pointee(),
        Some(Atom::LLType(t)) => Some(*t),
        _ => None,
    };
    t.is_some_and(|t| t.as_array().is_some())
}

/// `is_pointer(x)` of the prelude.
pub(super) fn is_pointer(v: &Val) -> bool {
    match v.single() {
        Some(Atom::Ptr(_)) => true,
        Some(Atom::LLType(t)) => t.pointee().is_some(),
        _ => false,
    }
}

/// The size of numbers and pointers; none for a container, whose layout is the RTyper's.
pub(super) fn simple_size(t: LLType) -> Option<i64> {
    use TypeKind::{Address, Bool, Char, Float, Int, Ptr, SingleFloat, UniChar};
    let simple = matches!(
        t.kind(),
        Address | Bool | Char | Float | Int(_) | Ptr(_) | SingleFloat | UniChar
    );
    simple.then(|| layout(t, &NoProgram).size as i64)
}

/// The number type that a builtin class constructs, as low-level type.
pub(super) fn number_type(v: &Val) -> Option<LLType> {
    type_of(v).or_else(|| match v.single() {
        Some(Atom::Builtin(Builtin::Known(f))) => {
            let kind = super::known::int_type(*f)?;
            Some(LLType::new(TypeKind::Int(kind)))
        }
        _ => None,
    })
}

/// The number in `item12`, a field of a fixed-size array.
fn item_number(field: &str) -> Option<u64> {
    field.strip_prefix("item")?.parse().ok()
}

/// What the memory at an address holds, by the name of the accessor: `adr.signed[i]`
/// (RPython: `llmemory.supported_access_types`).
pub fn accessed_type(name: &str) -> Option<LLType> {
    use taipan_lltype as ll;
    Some(match name {
        "signed" => *ll::SIGNED,
        "unsigned" => *ll::UNSIGNED,
        "char" => *ll::CHAR,
        "address" => *ll::ADDRESS,
        "float" => *ll::FLOAT,
        _ => return None,
    })
}

/// The type of pointers to one item, which is what `direct_fieldptr` and
/// `direct_arrayitems` answer.
fn item_pointer(of: LLType) -> Val {
    Atom::Ptr(LLType::new(TypeKind::FixedArray(of, 1)).ptr()).into()
}

impl Cx<'_> {
    /// Compares the operands of `llop.NAME(RESULT, ...)` with what the operation takes, as far as
    /// their low-level types are known here; of others the RTyper says it. What the operation
    /// returns does not depend on it: types that are not final yet may be wrong for a while.
    pub(super) fn check_low_level(&mut self, op: LLOp, args: &Arguments, result: LLType) {
        if !args.keywords.is_empty() {
            return;
        }
        let types: Vec<Option<LLType>> = (args.positional[1..].iter())
            .map(|(_, v)| annotation_to_lltype(v))
            .collect();
        if let Err(what) = check_types(op, &types, result) {
            self.problem(
                ErrorCode::NotSupportedByRTyper,
                format!("`llop.{op}()`: {what}"),
            );
        }
    }

    /// What a field of the struct behind a pointer holds.
    pub(super) fn pointer_field(&mut self, atom: &Atom, name: &Arc<str>) -> Known<Val> {
        let Some(container) = container_of(atom) else {
            return Ok(Val::default());
        };
        if let TypeKind::Struct(s) = container.kind()
            && let Some(t) = inline_field(s, name)
        {
            let step = InteriorStep::Field(name.clone());
            return Ok(part(atom, container, step, t));
        }
        if let TypeKind::FixedArray(of, n) = container.kind()
            && item_number(name).is_some_and(|i| i < *n)
        {
            return Ok(part(atom, container, InteriorStep::Item, *of));
        }
        match (self.adtmeth(container, name)?, atom) {
            (Some(Adt::Method(_)), Atom::Ptr(ptr)) => Ok(Atom::AdtMeth {
                ptr: *ptr,
                name: name.clone(),
            }
            .into()),
            (Some(Adt::Value(c)), _) => self.const_val(&c),
            (Some(Adt::Method(_)), _) => Ok(self.problem(
                ErrorCode::NotCallable,
                format!("method {name} of a {container} that is a part of an object"),
            )),
            (None, _) => Ok(self.problem(
                ErrorCode::NoSuchAttribute,
                format!("{container} has no field {name}"),
            )),
        }
    }

    /// An attribute of a type.
    pub(super) fn type_attribute(&mut self, t: LLType, name: &str) -> Known<Val> {
        if let Some(part) = part_type(t, name) {
            return Ok(ll_type_val(part));
        }
        if name == "_type"
            && let Some((module, class)) = number_class(t)
        {
            return match self.facts.global(named_id(module), &class)? {
                Some(c) => self.const_val(&c),
                None => Ok(Val::default()),
            };
        }
        match self.adtmeth(t, name)? {
            Some(Adt::Method(f)) => self.const_val(&Const::Obj(f)),
            Some(Adt::Value(c)) => self.const_val(&c),
            None => Ok(Val::default()),
        }
    }

    /// What the program gave a type besides its fields under that name.
    fn adtmeth(&self, t: LLType, name: &str) -> Known<Option<Adt>> {
        let Some(table) = adtmeths(t) else {
            return Ok(None);
        };
        let table = self.facts.object(table)?;
        let Some(ObjData::Dict(items)) = table.as_deref() else {
            return Ok(None);
        };
        let Some((_, c)) = items.iter().find(|(k, _)| k.as_str() == Some(name)) else {
            return Ok(None);
        };
        Ok(Some(match c {
            Const::Obj(o) if self.facts.function(*o)?.is_some() => Adt::Method(*o),
            c => Adt::Value(c.clone()),
        }))
    }

    /// What an item of the array behind a pointer holds.
    pub(super) fn pointer_item(&mut self, atom: &Atom) -> Val {
        let Some(container) = container_of(atom) else {
            return Val::default();
        };
        let of = match container.kind() {
            TypeKind::Array(a) => a.of,
            TypeKind::FixedArray(of, _) => *of,
            _ => {
                return self.problem(
                    ErrorCode::InvalidLowLevelArgument,
                    format!("{container} has no items"),
                );
            }
        };
        part(atom, container, InteriorStep::Item, of)
    }

    pub(super) fn call_pointer(&mut self, t: LLType, args: &Arguments) -> Val {
        match t.pointee().and_then(LLType::as_func) {
            Some(f) if f.args.len() == args.positional.len() => lltype_to_annotation(f.result),
            Some(f) => self.problem(
                ErrorCode::InvalidArguments,
                format!(
                    "function pointer takes {} arguments ({} given)",
                    f.args.len(),
                    args.positional.len()
                ),
            ),
            None => self.problem(ErrorCode::NotCallable, format!("cannot call a {t}")),
        }
    }

    pub(super) fn call_adt_method(
        &mut self,
        ptr: LLType,
        name: &str,
        args: Arguments,
    ) -> Known<Val> {
        let method = match ptr.pointee() {
            Some(t) => self.adtmeth(t, name)?,
            None => None,
        };
        let Some(Adt::Method(f)) = method else {
            return Ok(self.problem(
                ErrorCode::NotCallable,
                format!("{ptr} has no method {name}"),
            ));
        };
        let args = args.prepend(ArgSource::Receiver, Atom::Ptr(ptr).into());
        self.call_desc(&Desc::Function(f), args)
    }

    /// `lltype.Array(OF)`, `lltype.GcArray(OF)`, `rffi.CArray(OF)`
    pub(super) fn array_type(&mut self, f: KnownFunction, args: &[Val]) -> Val {
        match args {
            [of] if let Some(of) = type_of(of) => {
                let array = LLType::new(TypeKind::Array(ArrayType {
                    gc: f == KnownFunction::GcArray,
                    of,
                    nolength: matches!(f, KnownFunction::CArray | KnownFunction::CArrayPtr),
                    immutable: false,
                    extra_item: false,
                    adtmeths: None,
                }));
                ll_type_val(match f {
                    KnownFunction::CArrayPtr => array.ptr(),
                    _ => array,
                })
            }
            _ => self.problem(
                ErrorCode::InvalidLowLevelArgument,
                format!("{}() needs one constant type", f.name()),
            ),
        }
    }

    /// `lltype.direct_arrayitems(ptr)`
    pub(super) fn direct_arrayitems(&mut self, ptr: &Val) -> Val {
        match ptr.single() {
            Some(Atom::Ptr(t)) => match t.pointee().map(LLType::kind) {
                Some(TypeKind::Array(a)) => item_pointer(a.of),
                Some(TypeKind::FixedArray(of, _)) => item_pointer(*of),
                _ => self.problem(
                    ErrorCode::InvalidLowLevelArgument,
                    format!("a {t} has no items"),
                ),
            },
            _ => self.problem(
                ErrorCode::InvalidLowLevelArgument,
                "direct_arrayitems() needs a pointer",
            ),
        }
    }

    /// `lltype.direct_fieldptr(ptr, 'name')`
    pub(super) fn direct_fieldptr(&mut self, args: &[Val]) -> Val {
        let name = args.get(1).and_then(Val::const_str);
        match (args.first().and_then(Val::single), name) {
            (Some(Atom::Ptr(t)), Some(name)) => {
                let container = t.pointee().and_then(LLType::as_struct);
                match container.and_then(|s| inline_field(s, name)) {
                    Some(of) => item_pointer(of),
                    None => self.problem(
                        ErrorCode::NoSuchAttribute,
                        format!("a {t} has no field {name}"),
                    ),
                }
            }
            _ => self.problem(
                ErrorCode::InvalidLowLevelArgument,
                "direct_fieldptr() needs a pointer and a name",
            ),
        }
    }

    /// A pointer to a function, which is called with what the pointer's type says.
    pub(super) fn llhelper(&mut self, t: LLType, f: &Val) -> Known<Val> {
        if let Some(Atom::Pbc(_)) = f.single()
            && let Some(ft) = t.pointee().and_then(LLType::as_func)
        {
            let args = ft.args.iter();
            let args = args.map(|t| (ArgSource::Receiver, lltype_to_annotation(*t)));
            let args = Arguments::positional(args.collect());
            self.call(&f.clone(), args)?;
        }
        Ok(lltype_to_annotation(t))
    }
}

/// What a low-level type has besides its fields.
enum Adt {
    /// A function, which gets the pointer.
    Method(ObjId),
    /// Anything else.
    Value(Const),
}

/// The container that a pointer is to.
fn container_of(atom: &Atom) -> Option<LLType> {
    match atom {
        Atom::Ptr(t) => t.pointee(),
        Atom::Interior { to, .. } => Some(*to),
        _ => None,
    }
}

/// A part of a container: its value, or a pointer to it if it is a container itself.
fn part(atom: &Atom, container: LLType, step: InteriorStep, t: LLType) -> Val {
    if !matches!(
        t.kind(),
        TypeKind::Struct(_) | TypeKind::Array(_) | TypeKind::FixedArray(..)
    ) {
        return lltype_to_annotation(t);
    }
    match atom {
        Atom::Interior { parent, path, .. } => Atom::Interior {
            parent: *parent,
            path: path.iter().cloned().chain([step]).collect(),
            to: t,
        }
        .into(),
        _ if container.is_gc_container() && !t.is_gc_container() => Atom::Interior {
            parent: container,
            path: Arc::from([step]),
            to: t,
        }
        .into(),
        _ => Atom::Ptr(t.ptr()).into(),
    }
}
