//! Thawing: from constants of the image back to values of the heap, for calls after
//! import time (`specialize:memo`).
//!
//! What import time made is still in the heap. What an earlier call has made is not:
//! each call starts from the same heap. Such instances, lists and dicts are built anew
//! from their content, under the ids that they have.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use taipan_graph::{Const, ObjId};

use crate::Complex;
use crate::import_time::{Image, Thawed};
use crate::space::Interp;
use crate::space::dict::Dict;
use crate::space::heap::{Kind, Ref};
use crate::space::value::{Method, Value};
use crate::synthetic::{synthetic, type_of_object};
use crate::{InstanceData, ObjData};

/// Thaws the arguments of one call.
pub(crate) struct Thaw<'a> {
    pub(crate) thawed: &'a Thawed,
    pub(crate) image: &'a Image,
    /// Objects that were built anew.
    pub(crate) built: FxHashMap<ObjId, Ref>,
    /// Those of them whose `_freeze_()` said yes.
    pub(crate) frozen: Vec<Ref>,
}

impl<'a> Thaw<'a> {
    pub(crate) fn new(thawed: &'a Thawed, image: &'a Image) -> Self {
        Thaw {
            thawed,
            image,
            built: FxHashMap::default(),
            frozen: Vec::new(),
        }
    }

    /// A constant as a value of the heap; none for what has no such form.
    pub(crate) fn value(&mut self, it: &mut Interp<'_>, c: &Const) -> Option<Value> {
        Some(match c {
            Const::None => Value::None,
            Const::Bool(b) => Value::Bool(*b),
            Const::Int(i) => Value::Int(*i),
            Const::RInt(kind, v) if kind.is_nonneg(*v) => {
                Value::int_or_long((v.get() as u128).into())
            }
            Const::RInt(_, v) => Value::int_or_long(v.get().into()),
            Const::Long(l) => Value::Long(l.clone()),
            Const::Float(f) => Value::Float(f64::from_bits(*f)),
            Const::Str(s) => Value::Str(s.clone()),
            Const::Unicode(u) => Value::Unicode(u.clone()),
            Const::Tuple(t) => Value::tuple(self.values(it, t)?),
            Const::Obj(id) => self.object(it, *id)?,
            Const::SingleFloat(b) => Value::Float(f64::from(f32::from_bits(*b))),
            Const::Complex(..) => Value::Complex(Complex::of(c)?),
            Const::Shape(_) => return None,
        })
    }

    fn values(&mut self, it: &mut Interp<'_>, all: &[Const]) -> Option<Vec<Value>> {
        all.iter().map(|c| self.value(it, c)).collect()
    }

    fn object(&mut self, it: &mut Interp<'_>, id: ObjId) -> Option<Value> {
        let known = self.thawed.refs.get(&id).or_else(|| self.built.get(&id));
        if let Some(r) = known {
            return Some(Value::Ref(*r));
        }
        let data = match self.image.objects.get(&id) {
            Some(d) => d.clone(),
            None => match type_of_object(id) {
                Some(t) => return Some(it.lltype(t)),
                None => synthetic(it.db, id)?,
            },
        };
        match &*data {
            ObjData::LLType(t) => Some(it.lltype(*t)),
            ObjData::Method {
                im_self,
                im_func,
                im_class,
            } => Some(Value::Method(Arc::new(Method {
                func: self.value(it, im_func)?,
                slf: match im_self {
                    Some(s) => Some(self.value(it, s)?),
                    None => None,
                },
                class: *self.thawed.refs.get(im_class)?,
            }))),
            ObjData::Instance(i) => self.instance(it, id, i),
            ObjData::List(items) => {
                let Value::Ref(list) = it.heap.list(Vec::new()) else {
                    return None;
                };
                self.built.insert(id, list);
                let items = self.values(it, items)?;
                it.heap.get_mut(list).kind = Kind::List(items);
                Some(Value::Ref(list))
            }
            ObjData::Dict(items) => {
                let dict = it.heap.dict(Dict::default());
                self.built.insert(id, dict);
                for (k, v) in items {
                    let (k, v) = (self.value(it, k)?, self.value(it, v)?);
                    it.dict_set(dict, k, v).ok()?;
                }
                Some(Value::Ref(dict))
            }
            _ => None,
        }
    }

    fn instance(&mut self, it: &mut Interp<'_>, id: ObjId, data: &InstanceData) -> Option<Value> {
        if data.payload.is_some() || data.value.is_some() {
            return None;
        }
        let class = *self.thawed.refs.get(&data.class)?;
        let r = it.heap.alloc(class, Kind::Plain);
        self.built.insert(id, r);
        if data.frozen {
            self.frozen.push(r);
        }
        for (name, c) in &data.attrs {
            let v = self.value(it, c)?;
            it.heap.set_attr(r, name, v);
        }
        Some(Value::Ref(r))
    }
}
