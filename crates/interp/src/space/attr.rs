//! Attribute access: the descriptor protocol of new-style classes and the simpler
//! one of old-style classes.

use std::cell::Cell;
use std::sync::Arc;

use super::builtin::Binding;
use super::dict::{KnownName, Name};
use super::heap::{Kind, Ref};
use super::run::constant;
use super::types::ty;
use super::value::{Method, Value};
use super::words;
use super::{Interp, R};

impl Interp<'_> {
    /// `obj.name`
    pub(crate) fn getattr(&mut self, obj: &Value, name: &str) -> R {
        match self.getattr_opt(obj, name)? {
            Some(v) => Ok(v),
            None => match self.absent_attr(obj, name) {
                Some(v) => Ok(v),
                None => self.no_attribute(obj, name),
            },
        }
    }

    /// Fast path of attribute reads: replaces a plain instance on the stack by its attribute, if that is an entry
    /// of its `__dict__`, or data or a function of its class. False otherwise; nothing is changed then.
    pub(crate) fn simple_attr(&mut self, obj: &mut Value, key: Name<'_>, hint: &Cell<u32>) -> bool {
        let Value::Ref(r) = *obj else {
            return self.method_of_text(obj, key);
        };
        let o = self.heap.get(r);
        let c = match o.kind {
            Kind::Plain => self.heap.the_class(o.class),
            Kind::Function(_) if o.class == ty::FUNCTION => {
                return self.own_attr(obj, r, key, hint);
            }
            Kind::List(_) | Kind::Dict(_) | Kind::Set(_) if o.attrs.is_none() => {
                return self.builtin_method(obj, r, o.class, key);
            }
            Kind::Class(_) if o.class == ty::TYPE => return self.class_data(obj, r, key),
            Kind::Module(_) if o.class == ty::MODULE => return self.own_attr(obj, r, key, hint),
            _ => return false,
        };
        let class = o.class;
        if c.getattribute {
            return false;
        }
        if c.old_style {
            return self.old_style_attr(obj, r, class, key, hint);
        }
        let Some((_, found)) = self.lookups.find(&self.heap, class, key) else {
            return self.own_attr(obj, r, key, hint);
        };
        let Value::Ref(f) = *found else {
            if let Some(own) = self.named_attr(r, key, hint) {
                words::put_copy(obj, own);
                return true;
            }
            // Excluded: an unbound method of another class, which has to be bound, and special names, which
            // [`Interp::attr`] handles.
            let bare = !matches!(found, Value::Method(_)) && !key.text().starts_with(b"__");
            if bare {
                words::put_copy(obj, found);
            }
            return bare;
        };
        let is_function = match self.heap.kind(f) {
            Kind::Function(_) => true,
            // Data descriptors take precedence over the `__dict__` of the instance.
            Kind::Plain | Kind::Property(_) | Kind::Member(_) => return false,
            _ => false,
        };
        if self.own_attr(obj, r, key, hint) {
            return true;
        }
        if is_function {
            *obj = self.heap.bound(f, r, class);
        }
        is_function
    }

    /// The same for an instance of an old-style class, whose own attributes take precedence.
    fn old_style_attr(
        &mut self,
        obj: &mut Value,
        r: Ref,
        class: Ref,
        key: Name<'_>,
        hint: &Cell<u32>,
    ) -> bool {
        if key.text().starts_with(b"__") {
            return false;
        }
        if self.own_attr(obj, r, key, hint) {
            return true;
        }
        match self.lookups.find(&self.heap, class, key) {
            Some((_, Value::Ref(f))) if matches!(self.heap.kind(*f), Kind::Function(_)) => {
                let f = *f;
                *obj = self.heap.bound(f, r, class);
                true
            }
            _ => false,
        }
    }

    /// Replaces a string or tuple by its builtin method of that name. False if it has none.
    fn method_of_text(&mut self, obj: &mut Value, key: Name<'_>) -> bool {
        let class = match obj {
            Value::Str(_) => ty::STR,
            Value::Unicode(_) => ty::UNICODE,
            Value::Tuple(_) => ty::TUPLE,
            _ => return false,
        };
        match self.lookups.find(&self.heap, class, key) {
            Some((_, func @ Value::Ref(f))) if matches!(self.heap.kind(*f), Kind::Builtin(b) if b.binding == Binding::Method) =>
            {
                let func = func.clone();
                let slf = Some(std::mem::replace(obj, Value::None));
                *obj = Value::Method(Arc::new(Method { func, slf, class }));
                true
            }
            _ => false,
        }
    }

    /// Replaces a list, dict or set by its builtin method of that name. False if it has none.
    fn builtin_method(&mut self, obj: &mut Value, r: Ref, class: Ref, key: Name<'_>) -> bool {
        if self.heap.the_class(class).getattribute {
            return false;
        }
        match self.lookups.find(&self.heap, class, key) {
            Some((_, Value::Ref(f))) if matches!(self.heap.kind(*f), Kind::Builtin(b) if b.binding == Binding::Method) =>
            {
                let f = *f;
                *obj = self.heap.bound(f, r, class);
                true
            }
            _ => false,
        }
    }

    /// Replaces a class by its attribute, if that is data without a descriptor. False otherwise.
    fn class_data(&mut self, obj: &mut Value, r: Ref, key: Name<'_>) -> bool {
        if key.text().starts_with(b"__") {
            return false;
        }
        let Some((_, found)) = self.lookups.find(&self.heap, r, key) else {
            return false;
        };
        let data = match found {
            Value::Method(_) => false,
            Value::Ref(v) => matches!(
                self.heap.kind(*v),
                Kind::List(_) | Kind::Dict(_) | Kind::Set(_) | Kind::Class(_)
            ),
            _ => true,
        };
        if data {
            words::put_copy(obj, found);
        }
        data
    }

    /// Replaces an object by an entry of its own `__dict__`. False if it has no such entry.
    #[inline(always)]
    fn own_attr(&self, obj: &mut Value, r: Ref, key: Name<'_>, hint: &Cell<u32>) -> bool {
        match self.named_attr(r, key, hint) {
            Some(own) => {
                words::put_copy(obj, own);
                true
            }
            None => false,
        }
    }

    /// An entry of the object's own `__dict__`.
    #[inline(always)]
    fn named_attr(&self, r: Ref, key: Name<'_>, hint: &Cell<u32>) -> Option<&Value> {
        let attrs = self.heap.get(r).attrs?;
        self.heap.names(attrs, key).get_hinted(key, hint)
    }

    /// `obj.name`, None where it has none. An AttributeError of a `__getattr__` or
    /// property comes through as such.
    pub(crate) fn getattr_opt(&mut self, obj: &Value, name: &str) -> R<Option<Value>> {
        let class = self.heap.type_of(obj);
        if let Value::Ref(r) = obj {
            if self.heap.the_class(class).getattribute
                && let Some(f) = self.lookup(class, "__getattribute__").cloned()
            {
                let got = self.call(&f, &[obj.clone(), Value::str(name)]);
                return match self.catch(got, ty::ATTRIBUTE_ERROR)? {
                    Some(v) => Ok(Some(v)),
                    None => self.getattr_hook(obj, class, name),
                };
            }
            if let Some(v) = self.object_attr(*r, class, name)? {
                return Ok(Some(v));
            }
            return self.getattr_hook(obj, class, name);
        }
        self.plain_attr(obj, class, name)
    }

    /// What `object.__getattribute__` finds.
    pub(crate) fn generic_getattr(&mut self, obj: &Value, name: &str) -> R<Option<Value>> {
        let class = self.heap.type_of(obj);
        match obj {
            Value::Ref(r) => self.object_attr(*r, class, name),
            _ => self.plain_attr(obj, class, name),
        }
    }

    fn getattr_hook(&mut self, obj: &Value, class: Ref, name: &str) -> R<Option<Value>> {
        match self.lookup(class, "__getattr__").cloned() {
            Some(f) => Ok(Some(self.call(&f, &[obj.clone(), Value::str(name)])?)),
            None => Ok(None),
        }
    }

    /// Attributes of values that are no heap objects.
    fn plain_attr(&mut self, obj: &Value, class: Ref, name: &str) -> R<Option<Value>> {
        if name == "__class__" {
            return Ok(Some(Value::Ref(class)));
        }
        if let Some(m) = obj.as_method() {
            return self.method_attr(obj, &m, name);
        }
        match (obj, name) {
            (Value::Complex(c), "real" | "imag") => return Ok(c.part(name).map(Value::Float)),
            (Value::Int(_) | Value::Long(_), "real" | "numerator") => return Ok(Some(obj.clone())),
            (Value::Int(_) | Value::Long(_), "imag") => return Ok(Some(Value::Int(0))),
            (Value::Int(_) | Value::Long(_), "denominator") => return Ok(Some(Value::Int(1))),
            _ => {}
        }
        match self.lookup(class, name).cloned() {
            Some(v) => Ok(Some(self.bind(&v, Some(obj), class)?)),
            None if name == "__doc__" => Ok(Some(Value::None)),
            None => Ok(None),
        }
    }

    fn method_attr(&mut self, obj: &Value, m: &Method, name: &str) -> R<Option<Value>> {
        Ok(Some(match name {
            "im_func" | "__func__" => m.func.clone(),
            "im_self" | "__self__" => m.slf.clone().unwrap_or(Value::None),
            "im_class" => Value::Ref(m.class),
            "__call__" => obj.clone(),
            _ => return self.getattr_opt(&m.func, name),
        }))
    }

    /// `f_lineno` of what `sys._getframe` answers, worked out when it is asked for: whoever looks at
    /// frames for their names is not to depend on where they stand.
    fn line_of_frame(&self, r: Ref, class: Ref, name: &str) -> Option<Value> {
        if name != "f_lineno" || class != ty::OBJECT {
            return None;
        }
        let code = self.heap.attr(r, "f_code")?.as_ref()?;
        match self.heap.kind(code) {
            Kind::Code(id) => Some(Value::from(self.line_of(*id, None))),
            _ => None,
        }
    }

    /// Attributes of heap objects, without the `__getattr__` hook.
    fn object_attr(&mut self, r: Ref, class: Ref, name: &str) -> R<Option<Value>> {
        match self.heap.kind(r) {
            Kind::Class(_) => return self.class_object_attr(r, class, name),
            Kind::Super(..) => return self.super_attr(r, name),
            Kind::Module(_) => {
                if let Some(v) = self.heap.attr(r, name) {
                    return Ok(Some(v.clone()));
                }
                return Ok(match name {
                    "__dict__" => Some(Value::Ref(self.heap.attrs(r))),
                    "__class__" => Some(Value::Ref(class)),
                    "__doc__" => Some(Value::None),
                    _ => None,
                });
            }
            Kind::LLType(_) => {
                if let Some(v) = super::modules::lltype::type_attr(self, r, name)? {
                    return Ok(Some(v));
                }
            }
            Kind::LLPtr(p) => {
                let p = *p;
                let found = match (self.pointer_attr(p, name)?, p.ty.pointee()) {
                    (None, Some(to)) => self.pointer_adtmeth(&Value::Ref(r), to, name)?,
                    (found, _) => found,
                };
                if let Some(v) = found {
                    return Ok(Some(v));
                }
            }
            _ => {}
        }
        let (old_style, builtin) = {
            let c = self.heap.the_class(class);
            (c.old_style, c.builtin)
        };
        let me = Value::Ref(r);
        if old_style {
            if let Some(v) = self.heap.attr(r, name) {
                return Ok(Some(v.clone()));
            }
            match name {
                "__class__" => return Ok(Some(Value::Ref(class))),
                "__dict__" => return Ok(Some(Value::Ref(self.heap.attrs(r)))),
                _ => {}
            }
            return match self.lookup(class, name).cloned() {
                Some(v) => Ok(Some(self.bind(&v, Some(&me), class)?)),
                None if name == "__doc__" => Ok(Some(Value::None)),
                None => Ok(None),
            };
        }
        let key = Name::new(name);
        let found = self.lookups.find(&self.heap, class, key);
        let found = found.map(|(of, v)| (of, v.clone()));
        if let Some((_, v)) = &found
            && self.is_data_descriptor(v)
        {
            return Ok(Some(self.bind(v, Some(&me), class)?));
        }
        if let Some(v) = self.heap.named_attr(r, key) {
            return Ok(Some(v.clone()));
        }
        if name == "__class__" {
            return Ok(Some(Value::Ref(class)));
        }
        if let Some(line) = self.line_of_frame(r, class, name) {
            return Ok(Some(line));
        }
        // A class that inherits from a builtin one may define its members anew.
        let members_first =
            builtin || !matches!(&found, Some((of, _)) if !self.heap.the_class(*of).builtin);
        if members_first && let Some(v) = self.builtin_attr(r, name)? {
            return Ok(Some(v));
        }
        if let Some((_, v)) = found {
            return Ok(Some(self.bind(&v, Some(&me), class)?));
        }
        if name == "__dict__" && !builtin && !self.heap.the_class(class).slots_only {
            return Ok(Some(Value::Ref(self.heap.attrs(r))));
        }
        if name == "__doc__" {
            return Ok(Some(Value::None));
        }
        Ok(None)
    }

    /// Members that objects of builtin classes have besides methods.
    fn builtin_attr(&mut self, r: Ref, name: &str) -> R<Option<Value>> {
        Ok(match (self.heap.kind(r), name) {
            (Kind::Function(f), _) => match name {
                "__name__" | "func_name" => Some(Value::str(&f.name)),
                "func_globals" | "__globals__" => Some(Value::Ref(f.globals)),
                "func_code" | "__code__" => {
                    let id = f.code;
                    Some(self.code_object(id))
                }
                "func_defaults" | "__defaults__" => Some(if f.defaults.is_empty() {
                    Value::None
                } else {
                    Value::tuple(f.defaults.clone())
                }),
                "func_closure" | "__closure__" => Some(if f.closure.is_empty() {
                    Value::None
                } else {
                    Value::tuple(f.closure.clone())
                }),
                "func_dict" | "__dict__" => Some(Value::Ref(self.heap.attrs(r))),
                "func_doc" | "__doc__" => {
                    let id = f.code;
                    let set = self.heap.attr(r, "__doc__").cloned();
                    Some(set.unwrap_or_else(|| self.docstring(id)))
                }
                "__module__" => {
                    let globals = f.globals;
                    let name = self.heap.item(globals, "__name__").cloned();
                    Some(name.unwrap_or(Value::None))
                }
                "__call__" => Some(Value::Ref(r)),
                _ => None,
            },
            (Kind::Builtin(b), _) => match name {
                "__name__" => Some(Value::str(b.short_name())),
                "__module__" => Some(Value::str(
                    b.name.rsplit_once('.').map_or("__builtin__", |(m, _)| m),
                )),
                "__self__" | "__doc__" => Some(Value::None),
                "__call__" => Some(Value::Ref(r)),
                "__get__" if b.binding == Binding::Method => {
                    let get = Kind::Builtin(&super::builtins::object::DESCRIPTOR[0]);
                    let get = self.heap.alloc(ty::BUILTIN, get);
                    Some(self.heap.bound(get, r, ty::BUILTIN))
                }
                _ => None,
            },
            (Kind::Opaque(n) | Kind::Absent(n), "__name__") => {
                Some(Value::str(n.rsplit('.').next().unwrap_or(n)))
            }
            (Kind::Opaque(n) | Kind::Absent(n), "__module__") => {
                Some(Value::str(n.rsplit_once('.').map_or("", |(m, _)| m)))
            }
            (Kind::Exception(e), "args") => Some(e.args.clone()),
            (Kind::Exception(e), "message") => Some(match &e.args {
                Value::Tuple(t) if t.len() == 1 => t[0].clone(),
                _ => Value::str(""),
            }),
            (Kind::Exception(e), "errno" | "strerror" | "filename" | "code") => {
                let at = match name {
                    "errno" | "code" => 0,
                    "strerror" => 1,
                    _ => 2,
                };
                match &e.args {
                    Value::Tuple(t) => Some(t.get(at).cloned().unwrap_or(Value::None)),
                    _ => None,
                }
            }
            (Kind::Exception(_), "__dict__") => Some(Value::Ref(self.heap.attrs(r))),
            (Kind::Property(p), "fget") => Some(p[0].clone()),
            (Kind::Property(p), "fset") => Some(p[1].clone()),
            (Kind::Property(p), "fdel") => Some(p[2].clone()),
            (Kind::Property(p), "__doc__") => Some(p[3].clone()),
            (Kind::StaticMethod(f) | Kind::ClassMethod(f), "__func__") => Some(f.clone()),
            (Kind::Slice(s), "start") => Some(s[0].clone()),
            (Kind::Slice(s), "stop") => Some(s[1].clone()),
            (Kind::Slice(s), "step") => Some(s[2].clone()),
            (Kind::Cell(c), "cell_contents") => match c.clone() {
                Some(v) => Some(v),
                None => return self.value_error("Cell is empty"),
            },
            (Kind::File(f), "name") => Some(Value::str(&f.name)),
            (Kind::File(f), "closed") => Some(Value::Bool(f.closed)),
            (Kind::File(_), "softspace") => Some(Value::Int(0)),
            (Kind::Code(c), _) => {
                let id = *c;
                self.code_attr(id, name)
            }
            (Kind::Regex(_) | Kind::Match(_), _) => super::modules::re::member(self, r, name),
            _ => None,
        })
    }

    /// A code object.
    pub(crate) fn code_object(&mut self, c: taipan_code::CodeId) -> Value {
        Value::Ref(self.heap.alloc(ty::CODE, Kind::Code(c)))
    }

    fn code_attr(&mut self, id: taipan_code::CodeId, name: &str) -> Option<Value> {
        let names = |v: &[Box<str>]| Value::tuple(v.iter().map(|n| Value::str(n)).collect());
        // Looking is not running: each answer depends on no more of the body than it tells.
        let signature = || self.signature_of(id);
        let variables = || self.variables_of(id);
        Some(match name {
            "co_name" => Value::str(&signature().name),
            "co_argcount" => Value::Int(i64::from(signature().argcount)),
            "co_varnames" => names(&variables().locals),
            "co_nlocals" => Value::from(variables().locals.len()),
            "co_names" => names(&self.body(id).code.names),
            "co_freevars" => names(&variables().frees),
            "co_cellvars" => names(&variables().cells),
            "co_consts" => Value::tuple(self.body(id).consts.to_vec()),
            "co_flags" => {
                let code = signature();
                Value::Int(
                    0x43 | if code.varargs { 4 } else { 0 }
                        | if code.varkeywords { 8 } else { 0 }
                        | if code.generator { 0x20 } else { 0 }
                        | i64::from(code.future),
                )
            }
            "co_filename" => Value::str(&self.file_name(id)),
            "co_firstlineno" => Value::from(self.line_of(id, None)),
            _ => return None,
        })
    }

    fn docstring(&self, id: taipan_code::CodeId) -> Value {
        let signature = self.signature_of(id);
        signature.doc.as_ref().map_or(Value::None, constant)
    }

    fn class_object_attr(&mut self, r: Ref, meta: Ref, name: &str) -> R<Option<Value>> {
        let me = Value::Ref(r);
        let on_meta = if meta == ty::TYPE || meta == ty::CLASSOBJ {
            None
        } else {
            self.lookup(meta, name).cloned()
        };
        if let Some(v) = &on_meta
            && self.is_data_descriptor(v)
        {
            return Ok(Some(self.bind(v, Some(&me), meta)?));
        }
        match name {
            "__class__" => return Ok(Some(Value::Ref(meta))),
            "__dict__" => return Ok(Some(Value::Ref(self.heap.attrs(r)))),
            "__name__" => return Ok(Some(Value::str(self.heap.class_name(r)))),
            "__bases__" => {
                let bases = &self.heap.the_class(r).bases;
                return Ok(Some(Value::tuple(
                    bases.iter().map(|b| Value::Ref(*b)).collect(),
                )));
            }
            "__base__" => {
                let base = self.heap.the_class(r).bases.first();
                return Ok(Some(base.map_or(Value::None, |b| Value::Ref(*b))));
            }
            "__mro__" if !self.heap.the_class(r).old_style => {
                let mro = &self.heap.the_class(r).mro;
                return Ok(Some(Value::tuple(
                    mro.iter().map(|b| Value::Ref(*b)).collect(),
                )));
            }
            "__doc__" => {
                return Ok(Some(
                    self.heap.attr(r, "__doc__").cloned().unwrap_or(Value::None),
                ));
            }
            _ => {}
        }
        if let Some(v) = self.lookup(r, name).cloned() {
            return Ok(Some(self.bind(&v, None, r)?));
        }
        if let Some(v) = on_meta {
            return Ok(Some(self.bind(&v, Some(&me), meta)?));
        }
        if let Some(v) = self.lookup(meta, name).cloned()
            && !self.heap.the_class(r).old_style
        {
            return Ok(Some(self.bind(&v, Some(&me), meta)?));
        }
        Ok(None)
    }

    fn super_attr(&mut self, r: Ref, name: &str) -> R<Option<Value>> {
        let Kind::Super(after, obj, class) = self.heap.kind(r).clone() else {
            return Ok(None);
        };
        let mro = &self.heap.the_class(class).mro;
        let from = mro.iter().position(|c| *c == after).map_or(0, |i| i + 1);
        let found = mro[from..]
            .iter()
            .find_map(|c| self.heap.attr(*c, name))
            .cloned();
        match (found, obj) {
            (Some(v), Some(obj)) => {
                // `super(C, cls)` binds like a class, `super(C, self)` like an instance.
                let bound = match &obj {
                    Value::Ref(o) if *o == class => self.bind(&v, None, class)?,
                    _ => self.bind(&v, Some(&obj), class)?,
                };
                Ok(Some(bound))
            }
            (Some(v), None) => Ok(Some(v)),
            (None, _) if name == "__class__" => Ok(Some(Value::Ref(ty::SUPER))),
            (None, _) => Ok(None),
        }
    }

    /// Whether an attribute of a class goes before one of the instance.
    fn is_data_descriptor(&self, v: &Value) -> bool {
        match v {
            Value::Ref(r) => {
                let o = self.heap.get(*r);
                match &o.kind {
                    Kind::Property(_) | Kind::Member(_) => true,
                    Kind::Plain => self.heap.lookup(o.class, "__set__").is_some(),
                    _ => false,
                }
            }
            _ => false,
        }
    }

    /// What an attribute found on a class becomes when it is read from an instance
    /// (`slf`) or from the class.
    pub(crate) fn bind(&mut self, v: &Value, slf: Option<&Value>, class: Ref) -> R {
        let Value::Ref(r) = v else {
            return match v {
                // `g = Base.f` in the body of a class that derives from Base.
                Value::Method(m)
                    if m.slf.is_none()
                        && slf.is_some()
                        && self.heap.is_subclass(class, m.class) =>
                {
                    self.bind(&m.func, slf, class)
                }
                _ => Ok(v.clone()),
            };
        };
        let method = |slf: Option<&Value>, class: Ref, func: &Value| {
            Ok(Value::Method(Arc::new(Method {
                func: func.clone(),
                slf: slf.cloned(),
                class,
            })))
        };
        let o = self.heap.get(*r);
        let binds = match &o.kind {
            Kind::Function(_) => true,
            Kind::Builtin(b) => slf.is_some() && b.binding == Binding::Method,
            _ => false,
        };
        if binds {
            return match slf {
                Some(Value::Ref(s)) => Ok(self.heap.bound(*r, *s, class)),
                _ => method(slf, class, v),
            };
        }
        match &o.kind {
            Kind::StaticMethod(f) => Ok(f.clone()),
            Kind::ClassMethod(f) => {
                let f = f.clone();
                let cls = Value::Ref(class);
                method(Some(&cls), class, &f)
            }
            Kind::Property(p) => match slf {
                Some(s) => {
                    let getter = p[0].clone();
                    if getter.is_none() {
                        return self.raise(ty::ATTRIBUTE_ERROR, "unreadable attribute");
                    }
                    self.call(&getter, std::slice::from_ref(s))
                }
                None => Ok(v.clone()),
            },
            Kind::Member(name) => match slf {
                Some(Value::Ref(s)) => match self.heap.attr(*s, name) {
                    Some(v) => Ok(v.clone()),
                    None => {
                        let name = name.clone();
                        self.raise(ty::ATTRIBUTE_ERROR, &*name)
                    }
                },
                _ => Ok(v.clone()),
            },
            Kind::Plain => {
                let of = o.class;
                match self.lookup(of, "__get__").cloned() {
                    Some(get) if !self.heap.the_class(of).old_style => {
                        let s = slf.cloned().unwrap_or(Value::None);
                        self.call(&get, &[v.clone(), s, Value::Ref(class)])
                    }
                    _ => Ok(v.clone()),
                }
            }
            _ => Ok(v.clone()),
        }
    }

    /// `obj.name = v`
    pub(crate) fn setattr(&mut self, obj: &Value, name: &str, v: Value) -> R<()> {
        let class = self.heap.type_of(obj);
        if let Some(hook) = self.setattr_hook(class) {
            self.call(&hook, &[obj.clone(), Value::str(name), v])?;
            return Ok(());
        }
        self.generic_setattr(obj, name, v)
    }

    fn setattr_hook(&mut self, class: Ref) -> Option<Value> {
        let name = self.special.setattr.name();
        let (_, hook) = self.lookups.find(&self.heap, class, name)?;
        (!self.is_builtin_function(hook)).then(|| hook.clone())
    }

    /// Fast path of `obj.name = v`: sets the entry in the `__dict__` of a plain instance. False if the assignment
    /// may mean something else; nothing is changed then.
    pub(crate) fn simple_setattr(&mut self, obj: &Value, name: &KnownName, v: &Value) -> bool {
        let Value::Ref(r) = obj else {
            return false;
        };
        let o = self.heap.get(*r);
        let (class, plain) = (o.class, matches!(o.kind, Kind::Plain));
        if class == ty::FUNCTION && matches!(o.kind, Kind::Function(_)) {
            let text = name.name().text();
            // Assignments to `__name__`, `func_code` and their like are special.
            if text.starts_with(b"__") || text.starts_with(b"func_") {
                return false;
            }
            self.heap.set_known_attr(*r, name, v.clone());
            return true;
        }
        let c = self.heap.the_class(class);
        // Assignments to `__class__` and `__dict__` are special.
        let special = name.name().text().starts_with(b"__");
        if !plain || c.builtin || c.slots_only || special || self.setattr_hook(class).is_some() {
            return false;
        }
        // An attribute of the class may be a descriptor.
        let found = self.lookups.find(&self.heap, class, name.name());
        if let Some((_, Value::Ref(d))) = found
            && let Kind::Property(_) | Kind::Member(_) | Kind::Plain = self.heap.kind(*d)
        {
            return false;
        }
        self.heap.set_known_attr(*r, name, v.clone());
        true
    }

    /// A class attribute along the method resolution order.
    #[inline]
    pub(crate) fn lookup(&mut self, class: Ref, name: &str) -> Option<&Value> {
        Some(self.lookups.find(&self.heap, class, Name::new(name))?.1)
    }

    /// What `object.__setattr__` does.
    pub(crate) fn generic_setattr(&mut self, obj: &Value, name: &str, v: Value) -> R<()> {
        let Value::Ref(r) = obj else {
            let t = self.heap.type_name(obj).to_owned();
            return self.raise(
                ty::ATTRIBUTE_ERROR,
                format!("'{t}' object has no attribute '{name}'"),
            );
        };
        let r = *r;
        let class = self.heap.get(r).class;
        if let Some(d) = self.lookup(class, name).cloned()
            && !self.heap.the_class(class).old_style
            && let Value::Ref(dr) = &d
        {
            match self.heap.kind(*dr) {
                Kind::Property(p) => {
                    let setter = p[1].clone();
                    if setter.is_none() {
                        return self.raise(ty::ATTRIBUTE_ERROR, "can't set attribute");
                    }
                    self.call(&setter, &[obj.clone(), v])?;
                    return Ok(());
                }
                Kind::Member(_) => {
                    self.heap.set_attr(r, name, v);
                    return Ok(());
                }
                Kind::Plain => {
                    let dc = self.heap.get(*dr).class;
                    if let Some(set) = self.lookup(dc, "__set__").cloned() {
                        self.call(&set, &[d, obj.clone(), v])?;
                        return Ok(());
                    }
                }
                _ => {}
            }
        }
        match &mut self.heap.get_mut(r).kind {
            Kind::Class(_) => return self.set_class_attr(r, name, v),
            Kind::Function(f) => match name {
                "__name__" | "func_name" => {
                    if let Some(s) = v.as_text() {
                        f.name = s.into();
                    }
                    return Ok(());
                }
                "func_doc" => {
                    self.heap.set_attr(r, "__doc__", v);
                    return Ok(());
                }
                "func_defaults" | "__defaults__" => {
                    f.defaults = match v {
                        Value::Tuple(t) => t.to_vec(),
                        _ => Vec::new(),
                    };
                    return Ok(());
                }
                "func_code" | "__code__" => {
                    if let Value::Ref(c) = v
                        && let Kind::Code(id) = self.heap.kind(c)
                    {
                        let id = *id;
                        if let Kind::Function(f) = &mut self.heap.get_mut(r).kind {
                            f.code = id;
                        }
                    }
                    return Ok(());
                }
                _ => {}
            },
            Kind::Exception(e) if name == "args" => {
                e.args = v;
                return Ok(());
            }
            Kind::File(_) if name == "softspace" => return Ok(()),
            Kind::LLPtr(p) => {
                let p = *p;
                return self.set_pointer_attr(p, name, &v);
            }
            _ => {}
        }
        match name {
            "__class__" => return self.set_class_of(r, &v),
            "__dict__" => {
                if let Value::Ref(d) = v
                    && self.heap.dict_of(d).is_some()
                {
                    self.heap.set_attrs(r, d);
                    return Ok(());
                }
                return self.type_error("__dict__ must be set to a dictionary");
            }
            _ => {}
        }
        if !self.has_dict(r) {
            let t = self.heap.type_name(obj).to_owned();
            return self.raise(
                ty::ATTRIBUTE_ERROR,
                format!("'{t}' object has no attribute '{name}'"),
            );
        }
        self.heap.set_attr(r, name, v);
        Ok(())
    }

    fn set_class_of(&mut self, r: Ref, v: &Value) -> R<()> {
        match v {
            Value::Ref(c) if self.heap.class(*c).is_some() => {
                self.heap.get_mut(r).class = *c;
                Ok(())
            }
            _ => self.type_error("__class__ must be set to a class"),
        }
    }

    /// Whether an object takes attributes.
    fn has_dict(&self, r: Ref) -> bool {
        let o = self.heap.get(r);
        match &o.kind {
            Kind::Function(_)
            | Kind::Module(_)
            | Kind::Exception(_)
            | Kind::Class(_)
            | Kind::LLType(_) => true,
            _ => {
                let c = self.heap.the_class(o.class);
                !c.builtin && !c.slots_only
            }
        }
    }

    fn set_class_attr(&mut self, r: Ref, name: &str, v: Value) -> R<()> {
        match name {
            "__name__" => {
                if let Some(s) = v.as_text() {
                    self.heap.the_class_mut(r).name = s.into();
                }
                return Ok(());
            }
            "__bases__" => {
                let bases = self.list_of(&v)?;
                let bases: Vec<Ref> = bases.iter().filter_map(Value::as_ref).collect();
                return self.rebase(r, bases);
            }
            "__dict__" if !self.heap.the_class(r).old_style => {
                let message = "attribute '__dict__' of 'type' objects is not writable";
                return self.raise(ty::ATTRIBUTE_ERROR, message);
            }
            "__dict__" => {
                let dict = v
                    .as_ref()
                    .and_then(|d| Some((d, self.heap.dict_of(d)?.clone())));
                let Some((d, names)) = dict else {
                    return self.type_error("__dict__ must be a dictionary object");
                };
                for v in names.values() {
                    self.adopt(r, v);
                }
                self.heap.set_attrs(r, d);
                self.refresh_flags(r);
                return Ok(());
            }
            _ => {}
        }
        let c = self.heap.the_class(r);
        if c.builtin {
            let message = format!(
                "can't set attributes of built-in/extension type '{}'",
                c.name
            );
            return self.type_error(message);
        }
        self.adopt(r, &v);
        self.heap.set_attr(r, name, v);
        if name == "__getattribute__" {
            self.refresh_flags(r);
        }
        Ok(())
    }

    /// `del obj.name`
    pub(crate) fn delattr(&mut self, obj: &Value, name: &str) -> R<()> {
        let class = self.heap.type_of(obj);
        if let Some(hook) = self.lookup(class, "__delattr__").cloned()
            && !self.is_builtin_function(&hook)
        {
            self.call(&hook, &[obj.clone(), Value::str(name)])?;
            return Ok(());
        }
        self.generic_delattr(obj, name)
    }

    /// What `object.__delattr__` does.
    pub(crate) fn generic_delattr(&mut self, obj: &Value, name: &str) -> R<()> {
        if let Value::Ref(r) = obj {
            let class = self.heap.get(*r).class;
            if let Some(d) = self.lookup(class, name).cloned()
                && let Value::Ref(dr) = &d
            {
                match self.heap.kind(*dr) {
                    Kind::Property(p) => {
                        let deleter = p[2].clone();
                        if deleter.is_none() {
                            return self.raise(ty::ATTRIBUTE_ERROR, "can't delete attribute");
                        }
                        self.call(&deleter, std::slice::from_ref(obj))?;
                        return Ok(());
                    }
                    Kind::Plain => {
                        let dc = self.heap.get(*dr).class;
                        if let Some(del) = self.lookup(dc, "__delete__").cloned() {
                            self.call(&del, &[d, obj.clone()])?;
                            return Ok(());
                        }
                    }
                    _ => {}
                }
            }
            if let Some(attrs) = self.heap.get(*r).attrs
                && self.heap.the_dict_mut(attrs).remove_str(name).is_some()
            {
                return Ok(());
            }
        }
        self.no_attribute(obj, name)
    }

    /// Whether it is a function written in Rust.
    pub(crate) fn is_builtin_function(&self, v: &Value) -> bool {
        matches!(v, Value::Ref(r) if matches!(self.heap.kind(*r), Kind::Builtin(_)))
    }

    /// A special method of an object, bound: looked up on its class (and on the
    /// instance first, for old-style classes). Builtin defaults do not count.
    pub(crate) fn special(&mut self, obj: &Value, name: &str) -> R<Option<Value>> {
        let Value::Ref(r) = obj else {
            return Ok(None);
        };
        if self.plainly == Some(*r) {
            self.plainly = None;
            return Ok(None);
        }
        let class = self.heap.get(*r).class;
        let c = self.heap.the_class(class);
        if c.builtin {
            return Ok(None);
        }
        if c.old_style {
            return self.getattr_opt(obj, name);
        }
        match self.lookup(class, name).cloned() {
            Some(f) if !self.is_builtin_function(&f) => {
                Ok(Some(self.bind(&f, Some(obj), class)?))
            }
            _ => Ok(None),
        }
    }

    /// Makes the next operation on an object pass over its special method: what a
    /// builtin class's own `__getitem__` and the like do.
    pub(crate) fn plainly(&mut self, v: &Value) {
        self.plainly = match v {
            Value::Ref(r) if !self.heap.the_class(self.heap.get(*r).class).builtin => Some(*r),
            _ => None,
        };
    }

    /// Calls a special method if the object's class has one.
    pub(crate) fn call_special(
        &mut self,
        obj: &Value,
        name: &str,
        args: &[Value],
    ) -> R<Option<Value>> {
        match self.special(obj, name)? {
            Some(m) if !m.is_none() => Ok(Some(self.call(&m, args)?)),
            _ => Ok(None),
        }
    }
}
