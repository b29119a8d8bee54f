//! Thawing: from constants of the image back to values of the heap, for calls after
//! import time (`specialize:memo`).
//!
//! What import time made is still in the heap; a call works upon that heap and leaves it as
//! it is. What a call makes is in the heap that it leaves: a later call that is given such
//! an object goes on there, and with whatever the earlier one changed. Objects of several
//! calls of which none has gone on after the other cannot all be had that way: of some of
//! them instances, lists and dicts are built anew from their content, under the ids that
//! they have.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use taipan_base::Db;
use taipan_graph::{Const, ObjId};

use crate::heap_image::import_time::Image;
use crate::heap_image::memo_changes::note_call;
use crate::heap_image::queries::memo_answer;
use crate::heap_image::synthetic::{synthetic, type_of_object};
use crate::space::dict::Dict;
use crate::space::heap::{Kind, Ref};
use crate::space::value::{Method, Value};
use crate::space::{Interp, World};
use crate::{Complex, InstanceData, MemoCall, ObjData};

/// What it takes to go on where import time or a call ended.
#[derive(Debug)]
pub(crate) struct Thawed {
    /// The objects.
    pub(crate) world: World,
    /// What it went on with itself.
    below: Option<Arc<Thawed>>,
    ids: FxHashMap<Ref, ObjId>,
    refs: FxHashMap<ObjId, Ref>,
}

impl Thawed {
    /// What was left, with the ids of new objects.
    pub(crate) fn new(
        world: World,
        ids: FxHashMap<Ref, ObjId>,
        below: Option<Arc<Thawed>>,
    ) -> Self {
        Thawed {
            world,
            below,
            refs: ids.iter().map(|(r, id)| (*id, *r)).collect(),
            ids,
        }
    }

    fn layers(&self) -> impl Iterator<Item = &Thawed> {
        std::iter::successors(Some(self), |t| t.below.as_deref())
    }

    /// The id of an object.
    pub(crate) fn id(&self, r: Ref) -> Option<ObjId> {
        self.layers().find_map(|t| t.ids.get(&r).copied())
    }

    /// The object of an id.
    pub(crate) fn object(&self, id: ObjId) -> Option<Ref> {
        self.layers().find_map(|t| t.refs.get(&id).copied())
    }
}

/// What a call came to.
#[derive(Debug)]
pub(crate) struct MemoAnswer {
    pub(crate) value: Const,
    /// The content of the objects that it made. Their ids do not depend on it.
    pub(crate) made: FxHashMap<ObjId, Arc<ObjData>>,
    /// Memo calls that it ran and whose objects are the ones that these calls make by
    /// themselves.
    pub(crate) inner: Vec<MemoCall>,
}

impl From<Const> for MemoAnswer {
    fn from(value: Const) -> Self {
        MemoAnswer {
            value,
            made: FxHashMap::default(),
            inner: Vec::new(),
        }
    }
}

/// The calls that made objects, and what they left. The calls are asked for again before
/// what they left is used: so it belongs to this revision.
type Makers = FxHashMap<ObjId, (MemoCall, Arc<Thawed>)>;

fn with_makers<R>(db: &dyn Db, f: impl FnOnce(&mut Makers) -> R) -> R {
    db.warm().with("calls that made objects", f)
}

/// Notes what a call left for later calls that are given what it made. What inner calls have
/// made is theirs: until they are asked for themselves this is where it is.
pub(crate) fn keep_for_later(
    db: &dyn Db,
    call: MemoCall,
    made: impl Iterator<Item = ObjId>,
    shared: &FxHashMap<ObjId, MemoCall>,
    left: Arc<Thawed>,
) {
    with_makers(db, |makers| {
        for id in made {
            makers.insert(id, (call, left.clone()));
        }
        #[expect(
            clippy::iter_over_hash_type,
            reason = "each goes into a map by its own key"
        )]
        for (id, inner) in shared {
            makers.entry(*id).or_insert_with(|| (*inner, left.clone()));
        }
    });
}

/// The content of an object that import time did not make: a call made it, or the flow space
/// did.
pub(crate) fn made_later(db: &dyn Db, id: ObjId) -> Option<Arc<ObjData>> {
    let maker = with_makers(db, |makers| makers.get(&id).map(|(call, _)| *call));
    let answer = maker.and_then(|call| {
        let answer = memo_answer(db, call);
        note_call(db, call, answer);
        answer.as_ref().ok()
    });
    let made = answer.and_then(|a| a.made.get(&id).cloned());
    made.or_else(|| synthetic(db, id))
}

/// The objects that a constant refers to.
pub(crate) fn collect_objects(c: &Const, out: &mut Vec<ObjId>) {
    match c {
        Const::Obj(id) => out.push(*id),
        Const::Tuple(items) => items.iter().for_each(|c| collect_objects(c, out)),
        _ => {}
    }
}

/// Where a call with these arguments goes on: where most of the objects among them are
/// there that earlier calls have made. None if there are no such objects.
pub(crate) fn left_by_makers(db: &dyn Db, args: &[Const]) -> Option<Arc<Thawed>> {
    let mut objects = Vec::new();
    for a in args {
        collect_objects(a, &mut objects);
    }
    let mut best: Option<(usize, Arc<Thawed>)> = None;
    for id in &objects {
        let Some((call, _)) = with_makers(db, |makers| makers.get(id).cloned()) else {
            continue;
        };
        if memo_answer(db, call).is_err() {
            continue;
        }
        let Some((_, left)) = with_makers(db, |makers| makers.get(id).cloned()) else {
            continue;
        };
        let there = objects
            .iter()
            .filter(|o| left.object(**o).is_some())
            .count();
        if best.as_ref().is_none_or(|(most, _)| there > *most) {
            best = Some((there, left));
        }
    }
    best.map(|(_, left)| left)
}

/// Thaws the arguments of one call.
pub(crate) struct Thaw<'a> {
    pub(crate) thawed: &'a Thawed,
    pub(crate) image: &'a Image,
    /// Objects that were built anew.
    pub(crate) built: FxHashMap<ObjId, Ref>,
}

impl<'a> Thaw<'a> {
    pub(crate) fn new(thawed: &'a Thawed, image: &'a Image) -> Self {
        Thaw {
            thawed,
            image,
            built: FxHashMap::default(),
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
        let built = self.built.get(&id).copied();
        if let Some(r) = built.or_else(|| self.thawed.object(id)) {
            return Some(Value::Ref(r));
        }
        let data = match self.image.objects.get(&id) {
            Some(d) => d.clone(),
            None => match type_of_object(id) {
                Some(t) => return Some(it.lltype(t)),
                None => made_later(it.db, id)?,
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
                class: self.thawed.object(*im_class)?,
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
        let class = self.thawed.object(data.class)?;
        let r = it.heap.alloc(class, Kind::Plain);
        self.built.insert(id, r);
        for (name, c) in &data.attrs {
            let v = self.value(it, c)?;
            it.heap.set_attr(r, name, v);
        }
        Some(Value::Ref(r))
    }
}
