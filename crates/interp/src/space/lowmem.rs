//! Low-level containers and pointers that exist while a program loads (RPython: the
//! run-time half of `lltype.py`): `lltype.malloc` at module level, function pointers,
//! null pointers, pointers to parts. What lives on becomes static data.
//!
//! A container is an object of its own; a container inlined in it is one too and knows
//! its parent. Pointers are values: two of the same target are equal. An
//! `llmemory.Address` is a pointer of type `Address`.

use taipan_lltype::{LLType, StructBody, TypeKind};

use super::heap::{Kind, Ref};
use super::sizes::MOST_ITEMS;
use super::types::ty;
use super::value::Value;
use super::{Interp, R};

/// Containers with more items than this are not made while a program loads.
const MAX_ITEMS: i64 = MOST_ITEMS as i64;

/// A struct or an array.
#[derive(Clone, Debug)]
pub(crate) struct Container {
    /// Its type.
    pub(crate) ty: LLType,
    /// Fields or items: primitive values, pointers (None if null), containers.
    pub(crate) parts: Vec<Value>,
    /// The container that it is inlined in, and as which part.
    pub(crate) parent: Option<(Ref, u32)>,
}

/// A function as the target of pointers.
#[derive(Clone, Debug)]
pub(crate) struct LLFunction {
    /// Name for people, and of the symbol if there is no callable.
    pub(crate) name: Box<str>,
    /// Its type.
    pub(crate) ty: LLType,
    /// The function in RPython; None for one of a C library.
    pub(crate) callable: Value,
    /// How a C function is found, as `rffi` describes it.
    pub(crate) external: Value,
}

/// A pointer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pointer {
    /// Its type: a pointer type or `Address`.
    pub(crate) ty: LLType,
    /// What it points to.
    pub(crate) to: Target,
}

/// What a pointer points to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Target {
    /// Nothing.
    Null,
    /// A container or function.
    Object(Ref),
    /// The parts of a container from this one on.
    Part(Ref, i64),
    /// An integer cast to a pointer.
    Int(i64),
}

/// Fields of a struct that is known while a program loads.
fn body(t: LLType) -> Option<std::sync::Arc<StructBody>> {
    t.as_struct()?.known_body()
}

/// Whether values of that type are parts of what holds them.
fn is_container(t: LLType) -> bool {
    matches!(
        t.kind(),
        TypeKind::Struct(_)
            | TypeKind::Array(_)
            | TypeKind::FixedArray(..)
            | TypeKind::Opaque { .. }
    )
}

const RARITHMETIC: &str = "rpython.rlib.rarithmetic";

/// The class that stands for the numbers and characters of a low-level type
/// (RPython: `TYPE._type`): module and name.
pub fn number_class(t: LLType) -> Option<(&'static str, String)> {
    let builtin = |name: &str| Some(("__builtin__", name.to_owned()));
    let class = match t.kind() {
        TypeKind::Int(taipan_graph::IntKind::SIGNED) => return builtin("int"),
        TypeKind::Bool => return builtin("bool"),
        TypeKind::Float => return builtin("float"),
        TypeKind::Char => return builtin("str"),
        TypeKind::UniChar => return builtin("unicode"),
        TypeKind::Int(k) if k.bits == 64 => "r_uint".to_owned(),
        TypeKind::Int(k) if k.bits == 128 && k.signed => "r_longlonglong".to_owned(),
        TypeKind::Int(k) if k.bits == 128 => "r_ulonglonglong".to_owned(),
        TypeKind::Int(k) => format!("r_{}int{}", if k.signed { "" } else { "u" }, k.bits),
        TypeKind::SingleFloat => "r_singlefloat".to_owned(),
        _ => return None,
    };
    Some((RARITHMETIC, class))
}

impl Interp<'_> {
    /// A pointer as an object.
    pub(crate) fn pointer(&mut self, ty: LLType, to: Target) -> Value {
        Value::Ref(self.heap.alloc(ty::LLPTR, Kind::LLPtr(Pointer { ty, to })))
    }

    /// The pointer that a value is.
    pub(crate) fn as_pointer(&self, v: &Value) -> Option<Pointer> {
        match self.heap.kind(v.as_ref()?) {
            Kind::LLPtr(p) => Some(*p),
            _ => None,
        }
    }

    pub(crate) fn container(&self, r: Ref) -> Option<&Container> {
        match self.heap.kind(r) {
            Kind::LLContainer(c) => Some(c),
            _ => None,
        }
    }

    /// A new container with zeroes in it, and `n` items in its variable-sized part.
    pub(crate) fn new_container(
        &mut self,
        t: LLType,
        n: Option<i64>,
        parent: Option<(Ref, u32)>,
    ) -> R<Ref> {
        self.work(1)?;
        let types: Vec<LLType> = match t.kind() {
            TypeKind::Struct(_) => match body(t) {
                Some(b) => b.fields.iter().map(|f| f.ty).collect(),
                None => {
                    return self
                        .type_error(format!("{t} cannot be made while a program is imported"));
                }
            },
            TypeKind::FixedArray(of, n) => vec![*of; (*n).min(MAX_ITEMS as u64) as usize],
            TypeKind::Array(a) => match n {
                Some(n) if n < 0 => return self.value_error("negative array length"),
                Some(n) if n > MAX_ITEMS => {
                    return self.too_large();
                }
                Some(n) => vec![a.of; n as usize],
                None => return self.type_error(format!("{t} requires the number of items")),
            },
            TypeKind::Opaque { .. } => Vec::new(),
            _ => return self.type_error(format!("malloc: {t} is no container")),
        };
        let container = Container {
            ty: t,
            parts: Vec::new(),
            parent,
        };
        let r = self
            .heap
            .alloc(ty::LLCONTAINER, Kind::LLContainer(Box::new(container)));
        self.reserve((types.len() * (size_of::<LLType>() + size_of::<Value>())) as u64)?;
        let mut parts = Vec::with_capacity(types.len());
        for (i, of) in types.into_iter().enumerate() {
            parts.push(match of.kind() {
                _ if is_container(of) => {
                    Value::Ref(self.new_container(of, n, Some((r, i as u32)))?)
                }
                TypeKind::Int(_) => Value::Int(0),
                TypeKind::Bool => Value::Bool(false),
                TypeKind::Char => Value::bytes(b"\0"),
                TypeKind::UniChar => Value::unicode("\0"),
                TypeKind::Float => Value::Float(0.0),
                _ => Value::None,
            });
        }
        self.heap.fresh += size_of_val(&parts[..]) as u64;
        if let Kind::LLContainer(c) = &mut self.heap.get_mut(r).kind {
            c.parts = parts;
        }
        Ok(r)
    }

    /// Container and part that an index counts from a pointer, and the type there.
    fn part_at(&mut self, p: Pointer, index: i64) -> R<(Ref, usize, LLType)> {
        let (r, at) = match p.to {
            Target::Object(r) => (r, index),
            Target::Part(r, start) => (r, start + index),
            Target::Null => return self.raise(ty::RUNTIME_ERROR, "null pointer dereference"),
            Target::Int(_) => {
                return self.raise(ty::RUNTIME_ERROR, "access through a cast integer");
            }
        };
        let Some(c) = self.container(r) else {
            return self.type_error(format!("a {} has no items", p.ty));
        };
        let of = match c.ty.kind() {
            TypeKind::Array(a) => Some(a.of),
            TypeKind::FixedArray(of, _) => Some(*of),
            TypeKind::Struct(_) => {
                body(c.ty).and_then(|b| b.fields.get(usize::try_from(at).ok()?).map(|f| f.ty))
            }
            _ => None,
        };
        match of {
            Some(of) if at >= 0 && (at as usize) < c.parts.len() => Ok((r, at as usize, of)),
            _ => self.index_error("array index out of bounds"),
        }
    }

    /// Container, part and type of a field.
    fn field_at(&mut self, p: Pointer, name: &str) -> R<Option<(Ref, usize, LLType)>> {
        let r = match p.to {
            Target::Object(r) => r,
            Target::Null => return self.raise(ty::RUNTIME_ERROR, "null pointer dereference"),
            Target::Part(r, i) => match self.part_container(r, i) {
                Some(r) => r,
                None => return Ok(None),
            },
            Target::Int(_) => return Ok(None),
        };
        let Some(t) = self.container(r).map(|c| c.ty) else {
            return Ok(None);
        };
        if let TypeKind::FixedArray(of, n) = t.kind() {
            let i = name
                .strip_prefix("item")
                .and_then(|i| i.parse::<u64>().ok());
            return Ok(i.filter(|i| i < n).map(|i| (r, i as usize, *of)));
        }
        Ok(body(t).and_then(|b| {
            let i = b.fields.iter().position(|f| &*f.name == name)?;
            Some((r, i, b.fields[i].ty))
        }))
    }

    /// The container inlined as that part.
    fn part_container(&self, r: Ref, i: i64) -> Option<Ref> {
        match self.container(r)?.parts.get(usize::try_from(i).ok()?)? {
            Value::Ref(c) if matches!(self.heap.kind(*c), Kind::LLContainer(_)) => Some(*c),
            _ => None,
        }
    }

    fn read_part(&mut self, (r, i, of): (Ref, usize, LLType)) -> R {
        let v = match self.container(r) {
            Some(c) => c.parts[i].clone(),
            None => Value::None,
        };
        match (of.kind(), &v) {
            (_, Value::Ref(c)) if is_container(of) => {
                Ok(self.pointer(of.ptr(), Target::Object(*c)))
            }
            (TypeKind::Ptr(_) | TypeKind::Address, Value::None) => {
                Ok(self.pointer(of, Target::Null))
            }
            (TypeKind::Int(_) | TypeKind::SingleFloat, _) => self.typed_number(of, &v),
            _ => Ok(v),
        }
    }

    fn write_part(&mut self, (r, i, of): (Ref, usize, LLType), v: &Value) -> R<()> {
        let v = self.of_type(of, v)?;
        if let Kind::LLContainer(c) = &mut self.heap.get_mut(r).kind {
            c.parts[i] = v;
        }
        Ok(())
    }

    /// A value as it is kept in a container.
    fn of_type(&mut self, t: LLType, v: &Value) -> R {
        let fits = match t.kind() {
            TypeKind::Int(k) => {
                let wide = self.int_of(v, None)?;
                let n = self.big_int(&wide).unwrap_or_default();
                let n = num_traits::ToPrimitive::to_i128(&n).unwrap_or(0);
                return Ok(Value::int_or_long(k.wrap(n).into()));
            }
            TypeKind::Float => return Ok(Value::Float(self.float_of(v)?)),
            TypeKind::Bool => return Ok(Value::Bool(self.truth(v)?)),
            TypeKind::Char => matches!(v, Value::Str(s) if s.len() == 1),
            TypeKind::UniChar => matches!(v, Value::Unicode(s) if s.len() == 1),
            TypeKind::Void => return Ok(Value::None),
            TypeKind::Ptr(_) | TypeKind::Address => match self.as_pointer(v) {
                Some(p) if p.to == Target::Null && p.ty == t => return Ok(Value::None),
                Some(p) => p.ty == t,
                None => false,
            },
            TypeKind::SingleFloat => true,
            _ => false,
        };
        if fits {
            return Ok(v.clone());
        }
        let got = match self.as_pointer(v) {
            Some(p) => p.ty.to_string(),
            None => self.heap.type_name(v).to_owned(),
        };
        self.type_error(format!("a {t} is expected, not a {got}"))
    }

    /// A number as an object of the class that stands for a low-level type.
    pub(crate) fn typed_number(&mut self, t: LLType, v: &Value) -> R {
        if matches!(t.kind(), TypeKind::SingleFloat) && !v.is_none() && self.float_class(v) {
            return Ok(v.clone());
        }
        let Some((RARITHMETIC, class)) = number_class(t) else {
            return Ok(v.clone());
        };
        let v = match v {
            Value::None => Value::Float(0.0),
            v => v.clone(),
        };
        let class = self.class_in(RARITHMETIC, &class)?;
        self.call(&class, &[v])
    }

    /// The class that stands for the numbers and characters of a low-level type.
    pub(crate) fn number_class(&mut self, t: LLType) -> R<Option<Value>> {
        match number_class(t) {
            Some((module, class)) => self.class_in(module, &class).map(Some),
            None => Ok(None),
        }
    }

    fn class_in(&mut self, module: &str, class: &str) -> R {
        let module = self.load(module)?;
        self.getattr(&Value::Ref(module), class)
    }

    fn float_class(&self, v: &Value) -> bool {
        self.heap.class_name(self.heap.type_of(v)) == "r_singlefloat"
    }

    /// `p.name`; none if there is no such field.
    pub(crate) fn pointer_attr(&mut self, p: Pointer, name: &str) -> R<Option<Value>> {
        if let ("_obj", Target::Object(r)) = (name, p.to) {
            return Ok(Some(Value::Ref(r)));
        }
        if name == "_T" || name == "TO" {
            return Ok(p.ty.pointee().map(|t| self.lltype(t)));
        }
        match self.field_at(p, name)? {
            Some(part) => self.read_part(part).map(Some),
            None => Ok(None),
        }
    }

    /// `p.name = v`
    pub(crate) fn set_pointer_attr(&mut self, p: Pointer, name: &str, v: &Value) -> R<()> {
        match self.field_at(p, name)? {
            Some((.., of)) if is_container(of) => {
                self.type_error(format!("{} instance field {name} is inlined", p.ty))
            }
            Some(part) => self.write_part(part, v),
            None => {
                let message = format!("{} instance has no field '{name}'", p.ty);
                self.raise(ty::ATTRIBUTE_ERROR, message)
            }
        }
    }

    /// `p[key]`
    pub(crate) fn pointer_item(&mut self, p: Pointer, key: &Value) -> R {
        let i = self.index_of(key)?;
        let p = self.inlined(p);
        if let Some(view) = self.raw_view(p, i)? {
            return self.read_view(view);
        }
        let part = self.part_at(p, i)?;
        self.read_part(part)
    }

    /// `p[key] = v`
    pub(crate) fn set_pointer_item(&mut self, p: Pointer, key: &Value, v: &Value) -> R<()> {
        let i = self.index_of(key)?;
        let p = self.inlined(p);
        if let Some(view) = self.raw_view(p, i)? {
            return self.write_view(view, v);
        }
        let part = self.part_at(p, i)?;
        if is_container(part.2) {
            return self.type_error(format!("items of a {} are inlined", p.ty));
        }
        self.write_part(part, v)
    }

    /// A pointer to a part that is an array itself, as a pointer to that array.
    fn inlined(&self, p: Pointer) -> Pointer {
        match (p.to, p.ty.pointee().map(LLType::kind)) {
            (Target::Part(r, i), Some(TypeKind::FixedArray(of, _))) => {
                match self
                    .part_container(r, i)
                    .and_then(|c| Some((c, self.container(c)?.ty)))
                {
                    Some((c, t)) if matches!(t.kind(), TypeKind::FixedArray(o, _) if o == of) => {
                        Pointer {
                            to: Target::Object(c),
                            ..p
                        }
                    }
                    _ => p,
                }
            }
            _ => p,
        }
    }

    /// `len(p)`
    pub(crate) fn pointer_len(&mut self, p: Pointer) -> R<usize> {
        let container = match p.to {
            Target::Object(r) => self.container(r),
            _ => None,
        };
        match container {
            Some(c)
                if matches!(c.ty.kind(), TypeKind::FixedArray(..))
                    || c.ty.as_array().is_some_and(|a| !a.nolength) =>
            {
                Ok(c.parts.len())
            }
            _ => self.type_error(format!("a {} has no length", p.ty)),
        }
    }

    /// A call of a function pointer.
    pub(crate) fn call_pointer(&mut self, p: Pointer, args: super::builtin::Args<'_>) -> R {
        if let Target::Object(r) = p.to
            && let Kind::LLFunction(f) = self.heap.kind(r)
        {
            let callable = f.callable.clone();
            if !callable.is_none() {
                return self.call_args(&callable, args);
            }
            let f = f.clone();
            return self.call_c_function(&f, args);
        }
        self.type_error(format!("a {} is not callable", p.ty))
    }

    /// A call of a function of a C library: a shipped module asks the C compiler.
    fn call_c_function(&mut self, f: &LLFunction, args: super::builtin::Args<'_>) -> R {
        let Some(ft) = f.ty.as_func() else {
            return self.type_error(format!("a {} is not callable", f.ty));
        };
        let types = ft.args.iter().map(|t| self.lltype(*t)).collect();
        let (types, result) = (Value::tuple(types), self.lltype(ft.result));
        let values = Value::tuple(args.pos.to_vec());
        let module = self.load("rpython.rtyper.tool.c_calls")?;
        let all = [
            Value::str(&f.name),
            types,
            result,
            f.external.clone(),
            values,
        ];
        self.call_method(&Value::Ref(module), "call", &all)
    }

    /// What tells pointers apart, whatever their type.
    pub(crate) fn pointer_identity(&self, p: Pointer) -> Target {
        match p.to {
            Target::Part(r, 0)
                if self.container(r).is_some_and(|c| {
                    !c.ty.is_gc_container()
                        && (matches!(c.ty.kind(), TypeKind::FixedArray(..))
                            || c.ty.as_array().is_some_and(|a| a.nolength))
                }) =>
            {
                self.pointer_identity(Pointer {
                    to: Target::Object(r),
                    ..p
                })
            }
            Target::Part(r, i) => match self.part_container(r, i) {
                Some(c) => Target::Object(c),
                None => p.to,
            },
            other => other,
        }
    }

    /// `cast_pointer`: to the first part of a struct, or to the struct that it is the
    /// first part of.
    pub(crate) fn cast_pointer(&mut self, to: LLType, p: Pointer) -> R {
        let (Some(want), Target::Object(r)) = (to.pointee(), p.to) else {
            return Ok(self.pointer(to, p.to));
        };
        let mut at = Some(r);
        while let Some(r) = at {
            let Some(c) = self.container(r) else { break };
            if c.ty == want {
                return Ok(self.pointer(to, Target::Object(r)));
            }
            at = match c.parts.first() {
                Some(Value::Ref(first)) => Some(*first),
                _ => None,
            };
        }
        at = Some(r);
        while let Some(r) = at {
            let Some(c) = self.container(r) else { break };
            if c.ty == want {
                return Ok(self.pointer(to, Target::Object(r)));
            }
            at = match c.parent {
                Some((parent, 0)) => Some(parent),
                _ => None,
            };
        }
        self.type_error(format!("invalid cast of a {} to a {to}", p.ty))
    }

    /// A pointer to the parts of a container, starting with one of them.
    pub(crate) fn direct_part(&mut self, p: Pointer, name: Option<&str>) -> R {
        let (r, i, of) = match name {
            Some(name) => match self.field_at(p, name)? {
                Some(part) => part,
                None => {
                    return self.type_error(format!("a {} has no field {name}", p.ty));
                }
            },
            None => {
                let item = |t: LLType| match t.kind() {
                    TypeKind::Array(a) => Some(a.of),
                    TypeKind::FixedArray(of, _) => Some(*of),
                    _ => None,
                };
                match (p.to, p.ty.pointee().and_then(item)) {
                    (Target::Object(r), Some(of)) => (r, 0, of),
                    _ => return self.type_error(format!("a {} has no items", p.ty)),
                }
            }
        };
        let t = LLType::new(TypeKind::FixedArray(of, 1)).ptr();
        Ok(self.pointer(t, Target::Part(r, i as i64)))
    }

    /// A pointer some items further on.
    pub(crate) fn direct_ptradd(&mut self, p: Pointer, n: i64) -> R {
        let to = match p.to {
            Target::Part(r, i) => Target::Part(r, i + n),
            Target::Object(r) if self.container(r).is_some() => Target::Part(r, n),
            _ => return self.type_error("direct_ptradd: no array to move in"),
        };
        Ok(self.pointer(p.ty, to))
    }

    /// Forward references that became types: all objects of the heap learn of it.
    pub(crate) fn replace_types(&mut self, by: &dyn Fn(LLType) -> LLType) {
        self.spoil();
        for r in self.heap.refs() {
            let has_type = matches!(
                self.heap.kind(r),
                Kind::LLType(_) | Kind::LLContainer(_) | Kind::LLPtr(_) | Kind::LLFunction(_)
            );
            if !has_type {
                continue;
            }
            match &mut self.heap.get_mut(r).kind {
                Kind::LLType(t) => *t = by(*t),
                Kind::LLContainer(c) => c.ty = by(c.ty),
                Kind::LLPtr(p) => p.ty = by(p.ty),
                Kind::LLFunction(f) => f.ty = by(f.ty),
                _ => {}
            }
        }
    }
}
