//! Making classes: metaclasses, method resolution order, layouts.

use rustc_hash::{FxHashMap, FxHashSet};

use super::builtin::Args;
use super::dict::{Dict, classes_changed};
use super::heap::{Class, Kind, Ref};
use super::types::ty;
use super::value::Value;
use super::{Interp, R};

impl Interp<'_> {
    /// What the `BuildClass` instruction does.
    pub(crate) fn build_class_object(
        &mut self,
        globals: Ref,
        name: &Value,
        bases: &Value,
        body: &Value,
    ) -> R {
        let Value::Ref(f) = body else {
            return self.type_error("class body is no function");
        };
        let Kind::Function(f) = self.heap.kind(*f) else {
            return self.type_error("class body is no function");
        };
        let (code, closure, module_globals) = (f.code, f.closure.clone(), f.globals);
        let dict = self.heap.dict(Dict::default());
        if let Some(module) = self.heap.item(module_globals, "__name__").cloned() {
            self.heap.set_item(dict, "__module__", module);
        }
        self.run_body(code, module_globals, dict, &closure)?;
        let base_list = self.list_of(bases)?;
        if let Some(base) = base_list.iter().find_map(|b| self.absent_name(b)) {
            let base = base.to_owned();
            return self.class_below_absent(name.as_text().unwrap_or_default(), dict, &base);
        }
        let meta = match self.heap.item(dict, "__metaclass__").cloned() {
            Some(m) => m,
            None => match base_list.first() {
                Some(b) => match self.getattr_opt(b, "__class__")? {
                    Some(c) => c,
                    None => Value::Ref(self.heap.type_of(b)),
                },
                None => self
                    .heap
                    .item(globals, "__metaclass__")
                    .cloned()
                    .unwrap_or(Value::Ref(ty::CLASSOBJ)),
            },
        };
        let args = [name.clone(), bases.clone(), Value::Ref(dict)];
        let made = match &meta {
            Value::Ref(m) if *m == ty::TYPE || *m == ty::CLASSOBJ => {
                self.new_class(*m, &args[0], &base_list, dict)?
            }
            _ => self.call(&meta, &args)?,
        };
        if let Value::Ref(r) = made
            && let Kind::Class(c) = &mut self.heap.get_mut(r).kind
            && c.body.is_none()
        {
            c.body = Some(code);
        }
        Ok(made)
    }

    /// `type(name, bases, dict)` and its subclasses' `__new__`.
    pub(crate) fn make_type(&mut self, meta: Ref, args: Args<'_>) -> R {
        let [name, bases, dict] = args.pos else {
            return self.type_error("type() takes 1 or 3 arguments");
        };
        let bases = self.list_of(bases)?;
        let items = self.mapping_items(dict)?;
        let copy = self.heap.dict(Dict::default());
        for (k, v) in items {
            self.dict_set(copy, k, v)?;
        }
        self.new_class(meta, name, &bases, copy)
    }

    /// A new class with this dict.
    pub(crate) fn new_class(&mut self, meta: Ref, name: &Value, bases: &[Value], dict: Ref) -> R {
        let Some(name) = name.as_text().map(Box::<str>::from) else {
            return self.type_error("type() argument 1 must be string");
        };
        let mut base_refs = Vec::new();
        for b in bases {
            match b {
                Value::Ref(r) if self.heap.class(*r).is_some() => base_refs.push(*r),
                _ => {
                    // A base that is no class: its type is asked to make the class.
                    let t = self.heap.type_of(b);
                    if self.heap.the_class(t).builtin {
                        let t = self.heap.type_name(b).to_owned();
                        return self.type_error(format!(
                            "Error when calling the metaclass bases: {t} is no class"
                        ));
                    }
                    let bases = Value::tuple(bases.to_vec());
                    return self.call(
                        &Value::Ref(t),
                        &[Value::str(&name), bases, Value::Ref(dict)],
                    );
                }
            }
        }
        let all_old = base_refs.iter().all(|b| self.heap.the_class(*b).old_style);
        let mut meta = meta;
        if meta == ty::CLASSOBJ && !all_old {
            meta = ty::TYPE;
        }
        let old_style = meta == ty::CLASSOBJ;
        if !old_style {
            if base_refs.is_empty() || (all_old && meta == ty::TYPE) {
                base_refs.push(ty::OBJECT);
            }
            for b in &base_refs {
                let m = self.heap.get(*b).class;
                if m != ty::CLASSOBJ && m != meta && self.heap.is_subclass(m, meta) {
                    meta = m;
                } else if m != ty::CLASSOBJ && !self.heap.is_subclass(meta, m) {
                    return self.type_error(
                        "metaclass conflict: the metaclass of a derived class must be a (non-strict) subclass of the metaclasses of all its bases",
                    );
                }
            }
        }
        if base_refs.contains(&ty::BOOL) {
            return self.type_error("type 'bool' is not an acceptable base type");
        }
        // The class must exist before its MRO, which starts with it.
        let class = Class {
            name,
            bases: base_refs.clone(),
            old_style,
            layout: base_refs
                .iter()
                .find_map(|b| self.heap.the_class(*b).layout),
            ..Class::default()
        };
        let r = self.heap.alloc(meta, Kind::Class(Box::new(class)));
        self.heap.set_attrs(r, dict);
        let mro = if old_style {
            let mut mro = vec![];
            self.depth_first(r, &mut mro);
            mro
        } else {
            self.c3(r, &base_refs)?
        };
        self.heap.the_class_mut(r).mro = mro;
        for b in &base_refs {
            self.heap.add_subclass(*b, r);
        }
        if self.heap.attr(r, "__module__").is_none()
            && let Some(a) = self.stack.last()
            && let Some(m) = self.heap.item(a.globals, "__name__").cloned()
        {
            self.heap.set_attr(r, "__module__", m);
        }
        if let Some(Value::Ref(f)) = self.heap.attr(r, "__new__").cloned()
            && matches!(self.heap.kind(f), Kind::Function(_))
        {
            let s = self
                .heap
                .alloc(ty::STATICMETHOD, Kind::StaticMethod(Value::Ref(f)));
            self.heap.set_attr(r, "__new__", Value::Ref(s));
        }
        if !old_style {
            self.make_slots(r)?;
        }
        let values: Vec<Value> = self.heap.the_dict(dict).values().cloned().collect();
        for v in values {
            self.adopt(r, &v);
        }
        self.refresh_flags(r);
        Ok(Value::Ref(r))
    }

    fn make_slots(&mut self, r: Ref) -> R<()> {
        let Some(slots) = self.heap.attr(r, "__slots__").cloned() else {
            return Ok(());
        };
        let names = match &slots {
            Value::Str(_) => vec![slots.clone()],
            _ => self.list_of(&slots)?,
        };
        let mut only = true;
        for n in names {
            match n.as_text() {
                Some("__dict__") => only = false,
                Some(name) => {
                    // A value of the class hides the slot of its name.
                    let hidden = self.heap.attr(r, name).is_some();
                    if name != "__weakref__" && !hidden {
                        let m = self.heap.alloc(ty::MEMBER, Kind::Member(name.into()));
                        self.heap.set_attr(r, name, Value::Ref(m));
                    }
                }
                None => return self.type_error("__slots__ items must be strings"),
            }
        }
        // A base with a dict gives its instances one all the same.
        let bases = self.heap.the_class(r).bases.clone();
        only &= bases.iter().all(|b| {
            let c = self.heap.the_class(*b);
            c.slots_only || (c.builtin && !self.heap.is_subclass(*b, ty::BASE_EXCEPTION))
        });
        self.heap.the_class_mut(r).slots_only = only;
        Ok(())
    }

    /// Notes the class that a function belongs to, the first time.
    pub(crate) fn adopt(&mut self, class: Ref, v: &Value) {
        let Value::Ref(r) = v else { return };
        let inner = match &self.heap.get(*r).kind {
            Kind::StaticMethod(f) | Kind::ClassMethod(f) => f.as_ref(),
            Kind::Function(_) => Some(*r),
            _ => None,
        };
        if let Some(f) = inner
            && let Kind::Function(f) = &mut self.heap.get_mut(f).kind
            && f.class.is_none()
        {
            f.class = Some(class);
        }
    }

    /// Brings what is kept about a class's special methods up to date, and below it.
    pub(crate) fn refresh_flags(&mut self, r: Ref) {
        classes_changed();
        let hook = self.lookup(r, "__getattribute__").cloned();
        let own = hook.is_some_and(|f| !self.is_builtin_function(&f));
        if self.heap.the_class(r).getattribute != own {
            self.heap.the_class_mut(r).getattribute = own;
        }
        for sub in self.heap.subclasses(r) {
            self.refresh_flags(sub);
        }
    }

    /// `cls.__bases__ = bases`
    pub(crate) fn rebase(&mut self, r: Ref, bases: Vec<Ref>) -> R<()> {
        self.heap.the_class_mut(r).bases = bases.clone();
        let mro = if self.heap.the_class(r).old_style {
            let mut mro = vec![];
            self.depth_first(r, &mut mro);
            mro
        } else {
            self.c3(r, &bases)?
        };
        self.heap.the_class_mut(r).mro = mro;
        classes_changed();
        for sub in self.heap.subclasses(r) {
            let bases = self.heap.the_class(sub).bases.clone();
            self.rebase(sub, bases)?;
        }
        Ok(())
    }

    fn depth_first(&self, class: Ref, out: &mut Vec<Ref>) {
        let mut seen: FxHashSet<Ref> = out.iter().copied().collect();
        let mut todo = vec![class];
        while let Some(c) = todo.pop() {
            if seen.insert(c) {
                out.push(c);
                todo.extend(self.heap.the_class(c).bases.iter().rev());
            }
        }
    }

    fn c3(&mut self, class: Ref, bases: &[Ref]) -> R<Vec<Ref>> {
        if let [base] = bases {
            let above = &self.heap.the_class(*base).mro;
            return Ok(std::iter::once(class)
                .chain(above.iter().copied())
                .collect());
        }
        let mut lists: Vec<&[Ref]> = (bases.iter())
            .map(|b| &self.heap.the_class(*b).mro[..])
            .collect();
        lists.push(bases);
        // How often a class stands in a list behind the first one.
        let mut behind: FxHashMap<Ref, u32> = FxHashMap::default();
        for c in lists.iter().flat_map(|l| l.iter().skip(1)) {
            *behind.entry(*c).or_default() += 1;
        }
        let mut mro = vec![class];
        loop {
            lists.retain(|l| !l.is_empty());
            if lists.is_empty() {
                return Ok(mro);
            }
            let mut firsts = lists.iter().map(|l| l[0]);
            let Some(next) = firsts.find(|c| behind.get(c).is_none_or(|n| *n == 0)) else {
                break;
            };
            mro.push(next);
            for l in lists.iter_mut().filter(|l| l[0] == next) {
                *l = &l[1..];
                if let Some(n) = l.first().and_then(|c| behind.get_mut(c)) {
                    *n -= 1;
                }
            }
        }
        let names: Vec<&str> = bases.iter().map(|b| self.heap.class_name(*b)).collect();
        let message = format!(
            "Error when calling the metaclass bases\n    Cannot create a consistent method resolution\norder (MRO) for bases {}",
            names.join(", ")
        );
        self.type_error(message)
    }

    /// Whether a value is an instance of a class, without hooks.
    pub(crate) fn is_instance_of(&self, v: &Value, class: Ref) -> bool {
        self.heap.is_subclass(self.heap.type_of(v), class)
    }

    /// The class of a builtin constructor function that has the name of its class in Python.
    fn class_behind(&self, function: Ref) -> Option<Ref> {
        match self.heap.kind(function) {
            Kind::Builtin(b) if b.name == "__builtin__.slice" => Some(ty::SLICE),
            Kind::Builtin(b) if b.name == "__builtin__.xrange" => Some(ty::XRANGE),
            _ => None,
        }
    }

    /// `isinstance(v, classes)`
    pub(crate) fn isinstance(&mut self, v: &Value, classes: &Value) -> R<bool> {
        if let Some(name) = self.absent_name(v).or_else(|| self.absent_name(classes)) {
            let name = name.to_owned();
            return self.not_here(&name);
        }
        match classes {
            Value::Tuple(t) => {
                for c in t.iter() {
                    if self.isinstance(v, c)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Value::Ref(c) if self.heap.class(*c).is_some() => {
                if self.is_instance_of(v, *c) {
                    return Ok(true);
                }
                if *c == ty::INSTANCE {
                    let t = self.heap.type_of(v);
                    return Ok(self.heap.the_class(t).old_style);
                }
                let meta = self.heap.get(*c).class;
                if meta != ty::TYPE
                    && let Some(hook) = self.lookup(meta, "__instancecheck__").cloned()
                {
                    let r = self.call(&hook, &[classes.clone(), v.clone()])?;
                    return self.truth(&r);
                }
                // A proxy may claim another class.
                if let Value::Ref(r) = v
                    && matches!(self.heap.kind(*r), Kind::Plain)
                    && let Some(Value::Ref(claimed)) = self.getattr_opt(v, "__class__")?
                {
                    return Ok(self.heap.is_subclass(claimed, *c));
                }
                Ok(false)
            }
            Value::Ref(f) if let Some(class) = self.class_behind(*f) => {
                Ok(self.is_instance_of(v, class))
            }
            other => match super::modules::lltype::is_type_of_kind(self, v, other) {
                Some(answer) => Ok(answer),
                None => self.type_error(
                    "isinstance() arg 2 must be a class, type, or tuple of classes and types",
                ),
            },
        }
    }

    /// `issubclass(sub, classes)`
    pub(crate) fn issubclass(&mut self, sub: &Value, classes: &Value) -> R<bool> {
        match (sub, classes) {
            (_, Value::Tuple(t)) => {
                for c in t.iter() {
                    if self.issubclass(sub, c)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            (Value::Ref(s), Value::Ref(c))
                if self.heap.class(*s).is_some() && self.heap.class(*c).is_some() =>
            {
                Ok(self.heap.is_subclass(*s, *c))
            }
            (Value::Ref(s), _) if self.heap.class(*s).is_some() => {
                self.type_error("issubclass() arg 2 must be a class or tuple of classes")
            }
            _ => self.type_error("issubclass() arg 1 must be a class"),
        }
    }
}
