//! Attributes: of instances, of classes and frozen constants, methods of builtin
//! kinds.

use std::ops::ControlFlow;
use std::sync::Arc;

use taipan_base::{ErrorCode, Help, did_you_mean};
use taipan_graph::{Const, ObjId};
use taipan_interp::{Builtin, ObjData};

use super::Cx;
use super::args::Arguments;
use super::methods::{has_method, methods};
use super::remedies::{
    CONSTANT_ATTRIBUTE, CONSTANT_OBJECT, of_class, of_import_time, of_instance, of_method,
    of_prebuilt,
};
use crate::facts::Known;
use crate::store::SlotKey;
use crate::val::{Atom, Val};
use crate::{ArgSource, Desc};

impl Cx<'_> {
    pub(super) fn getattr_op(&mut self, x: &Val, name: &Val) -> Known<Val> {
        let Some(name) = name.const_str().map(Arc::<str>::from) else {
            return Ok(self.problem_help(
                ErrorCode::ConstantNeeded,
                "the name of an attribute must be a constant",
                Some(CONSTANT_ATTRIBUTE),
            ));
        };
        if let Some(class) = x.atoms.iter().find_map(|a| match a {
            Atom::Instance(Some(c)) => Some(*c),
            _ => None,
        }) && self.property(class, &name, "__getter__")?
        {
            let getter: Arc<str> = format!("{name}__getter__").into();
            let method = self.getattr(x, &getter)?;
            let result = self.call(&method, Arguments::default())?;
            self.record.special = Some((getter, method));
            return Ok(result);
        }
        self.getattr(x, &name)
    }

    /// Whether an attribute is a property with that accessor, in all classes that have
    /// one. Where only some can be assigned it is an attribute like any other, which
    /// then mixes a property and the value.
    fn property(&mut self, class: ObjId, name: &str, accessor: &str) -> Known<bool> {
        let mut there = Vec::new();
        let other = self.facts.definers(class, name, |_, value| {
            let object = match value {
                Const::Obj(o) => self.facts.object(*o)?,
                _ => None,
            };
            Ok(match object.as_deref() {
                Some(ObjData::Property { fget, fset, .. }) => {
                    let f = if accessor == "__getter__" { fget } else { fset };
                    there.push(*f != Const::None);
                    ControlFlow::Continue(())
                }
                _ => ControlFlow::Break(()),
            })
        })?;
        if other.is_some() || there.is_empty() {
            return Ok(false);
        }
        let all = there.iter().all(|t| *t);
        if accessor == "__getter__" {
            if !all {
                self.problem(
                    ErrorCode::InvalidAttributeUse,
                    format!("property {name} cannot be read"),
                );
            }
        } else if there.iter().all(|t| !t) {
            self.problem(
                ErrorCode::InvalidAttributeUse,
                format!("property {name} cannot be assigned"),
            );
        }
        Ok(all)
    }

    /// The value of an attribute.
    pub(crate) fn getattr(&mut self, x: &Val, name: &Arc<str>) -> Known<Val> {
        let mut result = Val::default();
        for a in &x.atoms {
            let r = self.getattr_atom(x, a, name)?;
            result = self.join(&result, &r);
        }
        Ok(result)
    }

    fn getattr_atom(&mut self, x: &Val, atom: &Atom, name: &Arc<str>) -> Known<Val> {
        if let Some(class) = self.as_instance_class(atom) {
            return match class {
                Some(c) => self.instance_getattr(c, name),
                None => {
                    let what = self.facts.describe_atom(atom);
                    Ok(self.problem(
                        ErrorCode::NoSuchAttribute,
                        format!("{what} has no attribute `{name}`"),
                    ))
                }
            };
        }
        match atom {
            Atom::Type if &**name == "__name__" => Ok(Val::str_(true)),
            Atom::Pbc(descs) => {
                let mut sum = Val::default();
                for d in descs.iter() {
                    // The attribute is looked up in vtables, which only classes in use have.
                    if let Desc::Class(c) = d
                        && descs.len() > 1
                    {
                        self.use_class(*c)?;
                    }
                    let v = self.desc_getattr(d, name)?;
                    sum = self.join(&sum, &v);
                }
                if sum.is_bottom() {
                    if self.may_have_attr(descs, name)? {
                        self.harmless = true;
                        return Ok(sum);
                    }
                    let what = self.facts.describe_atom(atom);
                    return Ok(self.problem_help(
                        ErrorCode::NoSuchAttribute,
                        format!("{what} has no attribute `{name}`"),
                        of_prebuilt(self.facts, atom),
                    ));
                }
                if is_several_functions(&sum) {
                    return Ok(self.problem_help(
                        ErrorCode::NotCallable,
                        format!("method {name} is another function in one frozen instance than in another"),
                        Some("give both the same method, or store the functions as attributes"),
                    ));
                }
                Ok(sum)
            }
            Atom::Ptr(_) if matches!(&**name, "__enter__" | "__exit__") => {
                Ok(Atom::BuiltinMethod {
                    name: name.clone(),
                    of: atom.clone().into(),
                }
                .into())
            }
            Atom::Ptr(_) | Atom::Interior { .. } => self.pointer_field(atom, name),
            Atom::LLType(t) => self.type_attribute(*t, name),
            _ if has_method(atom, name) => {
                let of = Val::from(atom.clone()).with_const(x.const_.clone());
                Ok(Atom::BuiltinMethod {
                    name: name.clone(),
                    of,
                }
                .into())
            }
            _ => {
                let what = self.facts.describe_atom(atom);
                let kind = match atom {
                    Atom::Str { .. } => "str",
                    Atom::Uni { .. } => "unicode",
                    Atom::List(_) => "list",
                    Atom::Dict(_) => "dict",
                    Atom::Tuple(_) => "tuple",
                    _ => "",
                };
                let meant = did_you_mean(name, methods(atom).iter().copied());
                let missing = match atom {
                    Atom::Builtin(Builtin::Other(function)) => Some(of_import_time(function)),
                    _ => None,
                };
                let help = (of_method(kind, name).map(Help::from))
                    .or(meant)
                    .or(missing.map(Help::from));
                let message = format!("{what} has no attribute `{name}`");
                Ok(self.problem_help(ErrorCode::NoSuchAttribute, message, help))
            }
        }
    }

    fn desc_getattr(&mut self, desc: &Desc, name: &Arc<str>) -> Known<Val> {
        match desc {
            Desc::Class(c) => {
                if &**name == "__name__" {
                    return Ok(Val::str_(false));
                }
                match self.facts.lookup(*c, name)? {
                    Some((_, v)) => self.unbound(&v),
                    None => Ok(Val::default()),
                }
            }
            Desc::Frozen(o) => self.frozen_getattr(*o, name),
            Desc::Function(f) => match self.facts.function(*f)? {
                Some(info) if matches!(&**name, "__name__" | "func_name") => {
                    self.const_val(&Const::str(&info.data.name))
                }
                Some(info) => match info.data.get(name).cloned() {
                    Some(v) => self.const_val(&v),
                    None => Ok(Val::default()),
                },
                None => Ok(Val::default()),
            },
            Desc::Method { .. } | Desc::FrozenMethod { .. } => Ok(Val::default()),
        }
    }

    /// Whether the class of a frozen constant lists an attribute in `_attrs_`: reading
    /// it is no mistake, even if this constant has not got it.
    fn may_have_attr(&mut self, descs: &[Desc], name: &str) -> Known<bool> {
        for d in descs {
            if let Desc::Frozen(o) = d
                && let Some(ObjData::Instance(i)) = self.facts.object(*o)?.as_deref()
                && let Some(class) = self.facts.class(i.class)?
                && let Some(allowed) = &class.enforced
                && allowed.iter().any(|a| **a == *name)
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A class attribute read through the class.
    fn unbound(&mut self, v: &Const) -> Known<Val> {
        if let Const::Obj(o) = v
            && let Some(ObjData::StaticMethod(f)) = self.facts.object(*o)?.as_deref()
        {
            return self.const_val(f);
        }
        self.const_val(v)
    }

    fn frozen_getattr(&mut self, obj: ObjId, name: &Arc<str>) -> Known<Val> {
        let object = self.facts.object(obj)?;
        match object.as_deref() {
            Some(ObjData::Instance(i)) => {
                if let Some(v) = i.get(name) {
                    return self.const_val(v);
                }
                match self.facts.python_lookup(i.class, name)? {
                    Some(v) => self.frozen_class_attr(obj, &v),
                    None => Ok(Val::default()),
                }
            }
            Some(ObjData::Module { .. }) => match self.facts.global(obj, name)? {
                Some(v) => self.const_val(&v),
                None => Ok(Val::default()),
            },
            _ => Ok(Val::default()),
        }
    }

    fn frozen_class_attr(&mut self, obj: ObjId, v: &Const) -> Known<Val> {
        let Const::Obj(o) = v else {
            return self.const_val(v);
        };
        match self.facts.object(*o)?.as_deref() {
            Some(ObjData::Function(_)) => Ok(Val::pbc(Desc::FrozenMethod {
                func: *o,
                frozen: obj,
            })),
            Some(ObjData::StaticMethod(f)) => self.const_val(f),
            Some(ObjData::Property {
                fget: Const::Obj(f),
                ..
            }) => {
                let me = self.const_val(&Const::Obj(obj))?;
                let args = Arguments::positional(vec![(ArgSource::Receiver, me)]);
                self.call_desc(&Desc::Function(*f), args)
            }
            _ => self.const_val(v),
        }
    }

    fn instance_getattr(&mut self, class: ObjId, name: &Arc<str>) -> Known<Val> {
        if &**name == "__class__" {
            let mut classes: Vec<Desc> = self
                .subclasses(class)
                .into_iter()
                .map(Desc::Class)
                .collect();
            classes.sort();
            let only = match classes[..] {
                [] => return Ok(Val::default()),
                [Desc::Class(c)] => Some(Const::Obj(c)),
                _ => None,
            };
            return Ok(Val::from(Atom::Pbc(classes.into())).with_const(only));
        }
        self.signal(SlotKey::AttrUsed(class, name.clone()));
        if !self.is_allowed(class, name)?
            && !self.read(SlotKey::AttrSet(class, name.clone())).is_bottom()
        {
            return self.forbidden(class, name);
        }
        let mut v = self.read(SlotKey::Bound(class, name.clone()));
        if v.is_bottom() {
            v = self.read(SlotKey::Attr(class, name.clone()));
            // Methods are on their way. What the attribute alone says of them may be too little
            // to tell which are overridden: of a value that has become another one, taking back
            // leaves what both have in common.
            if has_methods(&v) {
                return Ok(Val::default());
            }
        }
        if v.is_bottom() && self.is_declared(class, name)? {
            self.harmless = true;
        }
        if v.is_bottom() && self.facts.recovering && !self.facts.names.contains(name) {
            return self.undefined(class, name);
        }
        if let Some(Atom::Builtin(Builtin::Other(function))) = v.single()
            && self.inherits(class, function)?
        {
            // That there are instances of the class is an error already.
            self.harmless = true;
            return Ok(self.without_result());
        }
        if v.has_site() {
            if self.facts.has_immutable_items(class, name)? {
                return Ok(self.immutable_lists(&v));
            }
            self.check_subclasses(class, name)?;
        }
        Ok(v)
    }

    /// Whether a class has a method (`list.append`) from the builtin type from which it derives.
    fn inherits(&self, class: ObjId, method: &str) -> Known<bool> {
        let info = self.facts.class(class)?;
        let base = info.as_ref().and_then(|info| info.builtin_base.as_deref());
        Ok(base.is_some_and(|base| method.split_once('.').is_some_and(|(of, _)| of == base)))
    }

    /// Nothing in the program could define this attribute.
    fn undefined(&mut self, class: ObjId, name: &str) -> Known<Val> {
        let facts = self.facts;
        let mut candidates: Vec<&str> = Vec::new();
        for c in facts.chain(class)? {
            candidates.extend(facts.names.of_class(c));
        }
        let meant = did_you_mean(name, candidates);
        let exception = facts.class(class)?.is_some_and(|info| info.exception);
        let remedy = of_instance(name).filter(|_| exception || name == "__dict__");
        let help = (remedy.or(of_class(facts, class, name)?).map(Help::from))
            .or(meant)
            .unwrap_or_else(|| "nothing in the program defines it".into());
        let what = facts.describe_atom(&Atom::Instance(Some(class)));
        let message = format!("{what} has no attribute `{name}`");
        Ok(self.problem_help(ErrorCode::NoSuchAttribute, message, Some(help)))
    }

    /// An attribute that `_immutable_fields_` of a subclass lists belongs there and
    /// not into its base.
    fn check_subclasses(&mut self, class: ObjId, name: &str) -> Known<()> {
        let entry: Arc<str> = format!("{name}[*]").into();
        for sub in self.members(SlotKey::ImmutableItems(entry)) {
            if self.facts.is_subclass(sub, class)?
                && let Some(info) = self.facts.class(sub)?
            {
                let base = self
                    .facts
                    .class(class)?
                    .map_or("object".into(), |i| i.name.clone());
                self.problem_help(
                    ErrorCode::InvalidAttributeUse,
                    format!(
                        "attribute {name} belongs to class {base} because it is used on one, but its \
                         subclass {} lists it in _immutable_fields_",
                        info.name
                    ),
                    Some("list it in the _immutable_fields_ of the base class"),
                );
                return Ok(());
            }
        }
        Ok(())
    }

    /// What reading such an attribute gives: a list of its own that nothing mutates.
    fn immutable_lists(&mut self, v: &Val) -> Val {
        let mut out = v.not_const();
        for a in &mut out.atoms {
            if let Atom::List(site) = a {
                let copy = self.offspring(&[*site]);
                self.never_resized(*site);
                if let Some(Atom::List(new)) = copy.single() {
                    self.never_resized(*new);
                    *a = Atom::List(*new);
                }
            }
        }
        out
    }

    /// Whether `_attrs_` or `__slots__` of a class or base list an attribute.
    fn is_declared(&mut self, class: ObjId, name: &str) -> Known<bool> {
        let mut next = Some(class);
        while let Some(c) = next {
            let Some(info) = self.facts.class(c)?.filter(|info| info.restricted) else {
                break;
            };
            if let Some(names) = &info.enforced
                && names.iter().any(|n| **n == *name)
            {
                return Ok(true);
            }
            next = info.base;
        }
        Ok(false)
    }

    /// Whether a class's `_attrs_` or `__slots__` admit an attribute.
    fn is_allowed(&mut self, class: ObjId, name: &str) -> Known<bool> {
        Ok(match self.facts.class(class)? {
            Some(info) => match &info.enforced {
                Some(names) => names.iter().any(|n| **n == *name),
                None => true,
            },
            None => true,
        })
    }

    fn forbidden(&mut self, class: ObjId, name: &str) -> Known<Val> {
        let info = self.facts.class(class)?;
        let builtin = info.as_ref().is_some_and(|i| i.builtin_exception);
        let class = match info {
            Some(info) => info.name.clone(),
            None => "object".into(),
        };
        if builtin {
            return Ok(self.problem_help(
                ErrorCode::InvalidAttributeUse,
                format!("instances of {class} have no attribute `{name}`"),
                Some("use a subclass that has it"),
            ));
        }
        Ok(self.problem(
            ErrorCode::InvalidAttributeUse,
            format!(
                "class {class} restricts its attributes (_attrs_ or __slots__), and {name} is not among them"
            ),
        ))
    }

    /// Of the methods that an attribute stands for keeps those that an instance of a
    /// class can have, bound to it (RPython: `ClassDef.lookup_filter`).
    pub(super) fn lookup_filter(&mut self, class: ObjId, v: &Val) -> Known<Val> {
        let mut out = v.clone();
        let Some(at) = out.atoms.iter().position(|a| matches!(a, Atom::Pbc(_))) else {
            return Ok(out);
        };
        let Atom::Pbc(descs) = &v.atoms[at] else {
            return Ok(out);
        };
        let mut kept: Vec<Desc> = Vec::new();
        let mut best: Option<(ObjId, Desc)> = None;
        for d in descs.iter() {
            let Desc::Method {
                func,
                origin,
                self_class: None,
                name,
            } = d
            else {
                kept.push(d.clone());
                continue;
            };
            let bind = |to: ObjId| Desc::Method {
                func: *func,
                origin: *origin,
                self_class: Some(to),
                name: name.clone(),
            };
            if *origin != class && self.facts.is_subclass(*origin, class)? {
                kept.push(bind(*origin));
            } else if self.facts.is_subclass(class, *origin)? {
                let closer = match &best {
                    Some((o, _)) => self.facts.is_subclass(*origin, *o)?,
                    None => true,
                };
                if closer {
                    best = Some((*origin, bind(class)));
                }
            }
        }
        kept.extend(best.map(|b| b.1));
        kept.sort();
        kept.dedup();
        if kept.is_empty() {
            out.atoms.remove(at);
        } else if kept[..] != descs[..] {
            out.atoms[at] = Atom::Pbc(kept.into());
            out.const_ = None;
        }
        if out.is_none() {
            out = Val::none();
        }
        Ok(out)
    }

    pub(super) fn setattr_op(&mut self, x: &Val, name: &Val, value: &Val) -> Known<Val> {
        let Some(name) = name.const_str().map(Arc::<str>::from) else {
            return Ok(self.problem_help(
                ErrorCode::ConstantNeeded,
                "the name of an attribute must be a constant",
                Some(CONSTANT_ATTRIBUTE),
            ));
        };
        for a in &x.atoms {
            match self.as_instance_class(a) {
                Some(Some(c)) => {
                    if self.property(c, &name, "__setter__")? {
                        let setter: Arc<str> = format!("{name}__setter__").into();
                        let method = self.getattr(x, &setter)?;
                        let args = vec![(ArgSource::Operand(1), value.clone())];
                        let result = self.call(&method, Arguments::positional(args))?;
                        self.record.special = Some((setter, method));
                        return Ok(result);
                    }
                    self.instance_setattr(c, &name, value)?;
                }
                _ => match a {
                    Atom::Ptr(_) | Atom::Interior { .. } => {
                        self.pointer_field(a, &name)?;
                    }
                    _ => {
                        let what = self.facts.describe_atom(a);
                        self.problem_help(
                            ErrorCode::InvalidAttributeUse,
                            format!("cannot assign attribute {name} of {what}"),
                            matches!(a, Atom::Pbc(_)).then_some(CONSTANT_OBJECT),
                        );
                    }
                },
            }
        }
        Ok(Val::none())
    }

    fn instance_setattr(&mut self, class: ObjId, name: &Arc<str>, value: &Val) -> Known<()> {
        if !self.is_allowed(class, name)? {
            self.forbidden(class, name)?;
            return Ok(());
        }
        self.signal(SlotKey::AttrUsed(class, name.clone()));
        self.signal(SlotKey::AttrSet(class, name.clone()));
        self.write(SlotKey::Attr(class, name.clone()), value.clone());
        if value.has_site() && self.facts.has_immutable_items(class, name)? {
            self.immutable_lists(value);
        }
        Ok(())
    }
}

/// Whether there are methods in it that are not bound to a class of instances.
pub(super) fn has_methods(v: &Val) -> bool {
    let unbound = |d: &Desc| {
        matches!(
            d,
            Desc::Method {
                self_class: None,
                ..
            }
        )
    };
    (v.atoms.iter()).any(|a| matches!(a, Atom::Pbc(descs) if descs.iter().any(unbound)))
}

/// Whether methods of frozen instances are different functions.
fn is_several_functions(v: &Val) -> bool {
    let Some(Atom::Pbc(descs)) = v.single() else {
        return false;
    };
    let mut functions = descs.iter().filter_map(|d| match d {
        Desc::FrozenMethod { func, .. } => Some(func),
        _ => None,
    });
    let first = functions.next();
    functions.any(|f| Some(f) != first)
}
