//! Objects of the image in the heap of operations on constants.
//!
//! An object stands there by a closed reference at first. An operation opens those that it
//! looks into: `len(l)` opens the list and leaves its items closed, `l == m` opens both
//! with all that they contain. Functions stay closed for ever: who calls one stops.

use rustc_hash::FxHashMap;
use taipan_graph::{Const, ObjId};

use crate::space::Interp;
use crate::space::dict::Dict;
use crate::space::heap::{Class, Kind, Ref};
use crate::space::types::ty;
use crate::space::value::Value;
use crate::{ClassData, Complex, InstanceData, ObjData, Object, object};

/// How much of an operand an operation looks into.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Depth {
    /// The object, and the keys of a dict; not what it contains otherwise.
    Itself,
    /// All that it contains, and what that contains.
    Contents,
}

/// Which object of the heap stands for which of the image.
pub(super) struct Objects {
    builtins: &'static Named,
    refs: FxHashMap<ObjId, Ref>,
    /// The other way round, also for constants that have no form as a value.
    consts: FxHashMap<Ref, Const>,
    open: FxHashMap<Ref, Depth>,
}

/// Builtin classes and singletons, which are open.
#[derive(Default)]
pub(super) struct Named {
    pub(super) refs: FxHashMap<ObjId, Ref>,
    ids: FxHashMap<Ref, ObjId>,
}

impl Named {
    /// Adds one.
    pub(super) fn insert(&mut self, id: ObjId, r: Ref) {
        self.refs.insert(id, r);
        self.ids.insert(r, id);
    }
}

impl Objects {
    /// With the builtin objects of the heap below.
    pub(super) fn new(builtins: &'static Named) -> Self {
        Objects {
            builtins,
            refs: FxHashMap::default(),
            consts: FxHashMap::default(),
            open: FxHashMap::default(),
        }
    }

    /// A constant as a value, closed where it is an object.
    pub(super) fn value(&mut self, it: &mut Interp<'_>, c: &Const) -> Value {
        match c {
            Const::None => Value::None,
            Const::Bool(b) => Value::Bool(*b),
            Const::Int(i) => Value::Int(*i),
            Const::Long(l) => Value::Long(l.clone()),
            Const::Float(bits) => Value::Float(f64::from_bits(*bits)),
            Const::Complex(re, im) => Value::Complex(Complex {
                re: f64::from_bits(*re),
                im: f64::from_bits(*im),
            }),
            Const::Str(s) => Value::Str(s.clone()),
            Const::Unicode(s) => Value::Unicode(s.clone()),
            Const::Tuple(items) => Value::tuple(self.values(it, items)),
            Const::Obj(id) => Value::Ref(self.reference(it, *id)),
            Const::RInt(..) | Const::SingleFloat(_) | Const::Shape(_) => {
                Value::Ref(self.closed(it, c.clone()))
            }
        }
    }

    fn values(&mut self, it: &mut Interp<'_>, all: &[Const]) -> Vec<Value> {
        all.iter().map(|c| self.value(it, c)).collect()
    }

    fn closed(&mut self, it: &mut Interp<'_>, c: Const) -> Ref {
        let r = it.heap.alloc(ty::OBJECT, Kind::Closed);
        self.consts.insert(r, c);
        r
    }

    fn reference(&mut self, it: &mut Interp<'_>, id: ObjId) -> Ref {
        if let Some(r) = self.builtins.refs.get(&id).or_else(|| self.refs.get(&id)) {
            return *r;
        }
        let r = self.closed(it, Const::Obj(id));
        self.refs.insert(id, r);
        r
    }

    /// A value as a constant; none for a method and for an object that is new.
    pub(super) fn constant(&self, v: &Value) -> Option<Const> {
        Some(match v {
            Value::None => Const::None,
            Value::Bool(b) => Const::Bool(*b),
            Value::Int(i) => Const::Int(*i),
            Value::Long(l) => Const::Long(l.clone()),
            Value::Float(f) => Const::float(*f),
            Value::Complex(c) => c.to_const(),
            Value::Str(s) => Const::Str(s.clone()),
            Value::Unicode(s) => Const::Unicode(s.clone()),
            Value::Tuple(items) => {
                let items: Option<Vec<Const>> = items.iter().map(|v| self.constant(v)).collect();
                Const::Tuple(items?.into())
            }
            Value::Bound(_) | Value::Method(_) => return None,
            Value::Ref(r) => match self.builtins.ids.get(r) {
                Some(id) => Const::Obj(*id),
                None => self.consts.get(r)?.clone(),
            },
        })
    }

    /// Makes a value ready to be looked into; none where that cannot be done.
    pub(super) fn open(&mut self, it: &mut Interp<'_>, v: &Value, depth: Depth) -> Option<()> {
        let mut todo = Vec::new();
        match v {
            Value::Ref(r) => todo.push(*r),
            Value::Tuple(items) if depth == Depth::Contents => refs_in(items, &mut todo),
            _ => return Some(()),
        }
        while let Some(r) = todo.pop() {
            let before = self.open.get(&r).copied();
            if before >= Some(depth) || self.builtins.ids.contains_key(&r) {
                continue;
            }
            let Some(Const::Obj(id)) = self.consts.get(&r) else {
                return None;
            };
            let id = *id;
            if before.is_none() {
                self.open_one(it, r, id)?;
            }
            self.open.insert(r, depth);
            if depth == Depth::Contents {
                match it.heap.kind(r) {
                    Kind::List(items) => refs_in(items, &mut todo),
                    Kind::Dict(table) | Kind::Set(table) | Kind::FrozenSet(table) => {
                        for (_, v) in table.iter() {
                            refs_in(std::slice::from_ref(v), &mut todo);
                        }
                    }
                    Kind::Boxed(v) => refs_in(std::slice::from_ref(v), &mut todo),
                    _ => {}
                }
            }
        }
        Some(())
    }

    fn open_one(&mut self, it: &mut Interp<'_>, r: Ref, id: ObjId) -> Option<()> {
        let (class, kind) = match object(it.db, Object::new(it.db, it.program, id)).as_deref()? {
            ObjData::Instance(i) => self.instance(it, i)?,
            ObjData::Class(c) => return self.class(it, r, c),
            ObjData::LLType(t) => (ty::LLTYPE, Kind::LLType(*t)),
            ObjData::Module { .. } => (ty::MODULE, Kind::Closed),
            ObjData::Function(_) => (ty::FUNCTION, Kind::Closed),
            ObjData::Method { .. } => (ty::METHOD, Kind::Closed),
            ObjData::Builtin { name, .. } => (ty::BUILTIN, builtin_function(it, name)),
            container => self.container(it, container)?,
        };
        let o = it.heap.get_mut(r);
        o.class = class;
        o.kind = kind;
        Some(())
    }

    fn container(&mut self, it: &mut Interp<'_>, data: &ObjData) -> Option<(Ref, Kind)> {
        let pairs: Vec<(Const, Const)> = match data {
            ObjData::List(items) => return Some((ty::LIST, Kind::List(self.values(it, items)))),
            ObjData::Dict(items) => items.clone(),
            ObjData::Set { items, .. } => items.iter().map(|c| (c.clone(), Const::None)).collect(),
            _ => return None,
        };
        let table = it.heap.dict(Dict::default());
        for (key, value) in &pairs {
            let key = self.value(it, key);
            // To tell keys apart they are looked into.
            self.open(it, &key, Depth::Contents)?;
            let value = self.value(it, value);
            it.dict_set(table, key, value).ok()?;
        }
        let table = std::mem::take(it.heap.the_dict_mut(table));
        Some(match data {
            ObjData::Set { frozen: true, .. } => (ty::FROZENSET, Kind::FrozenSet(table)),
            ObjData::Set { .. } => (ty::SET, Kind::Set(table)),
            _ => (ty::DICT, Kind::Dict(table)),
        })
    }

    /// Without its attributes: no operation looks at them but by code of the program.
    fn instance(&mut self, it: &mut Interp<'_>, data: &InstanceData) -> Option<(Ref, Kind)> {
        let class = self.reference(it, data.class);
        self.open(it, &Value::Ref(class), Depth::Itself)?;
        let kind = match (&data.payload, &data.value) {
            (Some(payload), _) => self.container(it, payload)?.1,
            (None, Some(value)) => Kind::Boxed(self.value(it, value)),
            (None, None) => Kind::Plain,
        };
        Some((class, kind))
    }

    /// With its special methods alone.
    fn class(&mut self, it: &mut Interp<'_>, r: Ref, data: &ClassData) -> Option<()> {
        let mut related = |ids: &[ObjId], objects: &mut Self| -> Option<Vec<Ref>> {
            let mut refs = Vec::new();
            for id in ids {
                let class = objects.reference(it, *id);
                if class != r {
                    objects.open(it, &Value::Ref(class), Depth::Itself)?;
                }
                refs.push(class);
            }
            Some(refs)
        };
        let bases = related(&data.bases, self)?;
        let mro = related(&data.mro, self)?;
        let metaclass = related(&[data.metaclass], self)?[0];
        let layout = mro.iter().find_map(|c| match it.heap.class(*c) {
            Some(c) if c.builtin => c.layout,
            _ => None,
        });
        let o = it.heap.get_mut(r);
        o.class = metaclass;
        o.kind = Kind::Class(Box::new(Class {
            name: data.name.clone(),
            bases,
            mro,
            old_style: data.old_style,
            builtin: data.builtin,
            layout,
            ..Class::default()
        }));
        it.heap.set_attr(r, "__module__", Value::str(&data.module));
        for (name, value) in &data.dict {
            if name.starts_with("__") && &**name != "__module__" {
                let value = self.value(it, value);
                it.heap.set_attr(r, name, value);
            }
        }
        Some(())
    }
}

/// A function of `__builtin__`; others stay closed.
fn builtin_function(it: &Interp<'_>, name: &str) -> Kind {
    let found = name
        .strip_prefix("__builtin__.")
        .and_then(|name| it.heap.the_dict(it.builtins).get_str(name));
    match found {
        Some(Value::Ref(f)) => it.heap.kind(*f).clone(),
        _ => Kind::Closed,
    }
}

fn refs_in(items: &[Value], out: &mut Vec<Ref>) {
    for v in items {
        match v {
            Value::Ref(r) => out.push(*r),
            Value::Tuple(items) => refs_in(items, out),
            _ => {}
        }
    }
}
