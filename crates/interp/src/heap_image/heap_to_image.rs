//! Freezing: from the heap that import time leaves to image objects under stable ids.
//!
//! ```text
//! heap object  module `m`              ->  id of the name "m"
//!              class `C` of module `m` ->  id of ("class", "m", "C", 0)
//!              list made by instruction 12 of `f`, the second one there
//!                                      ->  id of ("object", file, "f", 0, 12, 1)
//! ```

use std::sync::Arc;

use num_traits::ToPrimitive;
use rustc_hash::{FxHashMap, FxHashSet};
use taipan_base::Db;
use taipan_code::{CodeId, Origin};
use taipan_graph::{Const, IntKind, ObjId};
use taipan_lltype::{LLType, mentioned_adtmeths};

use crate::heap_image::image_to_heap::Thawed;
use crate::space::heap::{Heap, Kind, Ref};
use crate::space::lowmem::{Pointer, Target};
use crate::space::modules::lltype::int_kind;
use crate::space::types::{self, ty};
use crate::space::value::{Method, Value};
use crate::{
    Attrs, ClassData, FunctionData, InstanceData, LLTarget, ObjData, StableHash, named_id,
    stable_id,
};

/// What instances said before they were frozen.
#[derive(Default, Debug)]
pub(crate) struct Asked {
    /// All that were asked.
    pub(crate) asked: FxHashSet<Ref>,
    /// Those whose `_freeze_()` said yes.
    pub(crate) frozen: FxHashSet<Ref>,
    /// Those whose `_freeze_()` or `_cleanup_()` raised something, and what.
    pub(crate) refused: FxHashMap<Ref, Arc<str>>,
}

/// Objects that are frozen between two looks at cancellation.
const OBJECTS_PER_LOOK: usize = 1024;

/// What can be reached from some values, with an id for each object.
pub(crate) struct Freezer<'a> {
    db: &'a dyn Db,
    pub(crate) heap: &'a Heap,
    /// Part of the keys of objects without a name.
    scope: String,
    /// What earlier freezers gave ids to.
    known: Option<&'a Thawed>,
    /// Ids that this one gave.
    pub(crate) ids: FxHashMap<Ref, ObjId>,
    /// Contents by id.
    pub(crate) objects: FxHashMap<ObjId, Arc<ObjData>>,
    /// The module whose globals a dict is.
    modules: FxHashMap<Ref, Ref>,
    /// Ids of dicts that low-level types name.
    adtmeths: FxHashMap<Ref, ObjId>,
    /// What instances said when they were asked.
    asked: &'a Asked,
    used: FxHashSet<ObjId>,
    /// Beginnings of the keys of functions and other objects by the code they are made of or in.
    begun: FxHashMap<(bool, CodeId), StableHash>,
    /// Ids for objects that are not frozen yet.
    preferred: FxHashMap<Ref, ObjId>,
}

impl<'a> Freezer<'a> {
    /// A freezer that knows what earlier ones gave ids to, and these ids besides.
    pub(crate) fn new(
        db: &'a dyn Db,
        heap: &'a Heap,
        scope: String,
        known: Option<&'a Thawed>,
        ids: FxHashMap<Ref, ObjId>,
        asked: &'a Asked,
    ) -> Self {
        Freezer {
            db,
            heap,
            scope,
            used: ids.values().copied().collect(),
            known,
            ids,
            objects: FxHashMap::default(),
            modules: module_dicts(heap),
            adtmeths: heap.adtmeths.iter().map(|(id, r)| (*r, *id)).collect(),
            asked,
            begun: FxHashMap::default(),
            preferred: FxHashMap::default(),
        }
    }

    /// Sets the ids that these objects get when they are frozen.
    pub(crate) fn prefer(&mut self, names: FxHashMap<Ref, ObjId>) {
        self.used.extend(names.values());
        self.preferred = names;
    }

    /// Whether an object has its id.
    fn is_known(&self, r: Ref) -> bool {
        self.ids.contains_key(&r) || self.known.is_some_and(|k| k.id(r).is_some())
    }

    /// Whether an id is given.
    fn is_used(&self, id: ObjId) -> bool {
        self.used.contains(&id) || self.known.is_some_and(|k| k.object(id).is_some())
    }

    /// Gives ids to what can be reached from these values by way of objects that are at least
    /// this young and have none yet. Returns these objects.
    pub(crate) fn name_all(&mut self, roots: &[Value], since: Ref) -> Vec<Ref> {
        let is_known = |r| r < since || self.is_known(r);
        // In the order of their making, whatever the way they were reached.
        let reached = reachable(self.heap, &self.modules, roots, &is_known);
        let mut sequence: FxHashMap<ObjId, u32> = FxHashMap::default();
        for r in &reached {
            let id = self.assign(*r, &mut sequence);
            self.ids.insert(*r, id);
        }
        reached
    }

    /// Freezes what can be reached from these values and has no id yet.
    pub(crate) fn freeze(&mut self, roots: &[Value]) {
        for (i, r) in self.name_all(roots, Ref(0)).into_iter().enumerate() {
            if i % OBJECTS_PER_LOOK == 0 {
                self.db.unwind_if_revision_cancelled();
            }
            let id = self.ids[&r];
            let data = self.data(r);
            self.objects.insert(id, Arc::new(data));
        }
    }

    fn assign(&mut self, r: Ref, sequence: &mut FxHashMap<ObjId, u32>) -> ObjId {
        if let Some(id) = self.preferred.get(&r) {
            return *id;
        }
        let base = match self.name(r) {
            // Objects of the same name are the same object.
            Some(id) => return id,
            None => self.key(r),
        };
        let n = sequence.entry(base).or_default();
        loop {
            let id = match *n {
                0 => base,
                n => StableHash::new()
                    .part("again")
                    .number(base.0)
                    .number(n.into())
                    .id(),
            };
            *n += 1;
            if !self.is_used(id) {
                self.used.insert(id);
                return id;
            }
        }
    }

    /// The id of an object that the program does not make, or that has no identity.
    pub(crate) fn name(&self, r: Ref) -> Option<ObjId> {
        Some(match self.heap.kind(r) {
            Kind::Class(c) if c.builtin => {
                let module = self.heap.attr(r, "__module__").and_then(Value::as_text);
                named_id(&format!("{}.{}", module.unwrap_or("__builtin__"), c.name))
            }
            Kind::Builtin(b) => named_id(b.name),
            Kind::Opaque(n) | Kind::Absent(n) | Kind::Module(n) => named_id(n),
            Kind::Singleton(n) => named_id(&format!("__builtin__.{n}")),
            Kind::LLType(t) => lltype_id(*t),
            Kind::Dict(_) => return self.adtmeths.get(&r).copied(),
            // Pointers are made after what they point to.
            Kind::LLPtr(p) => self.pointer_id(p),
            _ => return None,
        })
    }

    /// Pointers have no identity: their id is made of type and target.
    fn pointer_id(&self, p: &Pointer) -> ObjId {
        let ty = lltype_id(p.ty).0.to_string();
        let target = match self.pointer_target(p) {
            LLTarget::Null => "null".to_owned(),
            LLTarget::Object(o) => o.0.to_string(),
            LLTarget::Part(o, i) => format!("{} {i}", o.0),
            LLTarget::Int(i) => format!("int {i}"),
        };
        stable_id(&["pointer", &ty, &target])
    }

    fn pointer_target(&self, p: &Pointer) -> LLTarget {
        match p.to {
            Target::Null => LLTarget::Null,
            Target::Object(r) => LLTarget::Object(self.id(r)),
            Target::Part(r, i) => LLTarget::Part(self.id(r), i),
            Target::Int(i) => LLTarget::Int(i),
        }
    }

    fn origin(&self, id: CodeId) -> String {
        match id.origin(self.db) {
            Origin::File(f) | Origin::Test(f) => f.path(self.db).to_string(),
            Origin::Text(t) => {
                format!("{}\n{}", t.filename(self.db), t.text(self.db))
            }
        }
    }

    fn code_key(&self, id: CodeId) -> [String; 3] {
        [
            self.origin(id),
            id.qualname(self.db).to_string(),
            id.nth(self.db).to_string(),
        ]
    }

    /// The id of the code, definition or instruction that makes an object; objects that are alike get a number.
    fn key(&mut self, r: Ref) -> ObjId {
        let o = self.heap.get(r);
        match &o.kind {
            Kind::Function(f) => self.begin(true, f.code).id(),
            Kind::Class(c) => {
                let key = StableHash::new().part(&self.scope).part("class");
                match c.body {
                    Some(id) => self
                        .code_key(id)
                        .iter()
                        .fold(key, |key, s| key.part(s))
                        .id(),
                    None => {
                        let module = self.heap.attr(r, "__module__").and_then(Value::as_text);
                        key.part(module.unwrap_or("")).part(&c.name).id()
                    }
                }
            }
            _ => {
                let key = match self.heap.sites[o.site.code as usize] {
                    Some(id) => self.begin(false, id),
                    None => StableHash::new().part(&self.scope).part("object"),
                };
                key.number(o.site.pc.into()).id()
            }
        }
    }

    /// The beginning of the key of a function of this code, or of an object made in it.
    fn begin(&mut self, function: bool, code: CodeId) -> StableHash {
        if let Some(key) = self.begun.get(&(function, code)) {
            return *key;
        }
        let kind = if function { "function" } else { "object" };
        let key = StableHash::new().part(&self.scope).part(kind);
        let key = self.code_key(code).iter().fold(key, |key, s| key.part(s));
        self.begun.insert((function, code), key);
        key
    }

    /// A value as a constant. What it refers to must have its id.
    pub(crate) fn constant(&mut self, v: &Value) -> Const {
        match v {
            Value::None => Const::None,
            Value::Bool(b) => Const::Bool(*b),
            Value::Int(i) => Const::Int(*i),
            Value::Long(l) => Const::Long(l.clone()),
            Value::Float(f) => Const::float(*f),
            Value::Complex(c) => c.to_const(),
            Value::Str(s) => Const::Str(s.clone()),
            Value::Unicode(u) => Const::Unicode(u.clone()),
            Value::Tuple(t) => Const::Tuple(t.iter().map(|x| self.constant(x)).collect()),
            Value::Bound(m) => Const::Obj(self.method(&m.method())),
            Value::Method(m) => Const::Obj(self.method(m)),
            Value::Ref(r) => self.reference(*r),
        }
    }

    fn reference(&mut self, r: Ref) -> Const {
        let o = self.heap.get(r);
        match &o.kind {
            Kind::Boxed(inner) => {
                if let (Some(kind), Some(n)) = (int_kind(self.heap, r), integer(inner)) {
                    return match kind {
                        IntKind::SIGNED => Const::Int(n as i64),
                        kind => Const::RInt(kind, kind.wrap(n).into()),
                    };
                }
            }
            Kind::Plain if self.heap.class_name(o.class) == "r_singlefloat" => {
                if let Some(Value::Str(s)) = self.heap.attr(r, "_bytes")
                    && let Ok(bytes) = <[u8; 4]>::try_from(&s[..])
                {
                    return Const::SingleFloat(u32::from_le_bytes(bytes));
                }
            }
            _ => {}
        }
        Const::Obj(self.id(r))
    }

    pub(crate) fn id(&self, r: Ref) -> ObjId {
        let given = self.ids.get(&r).copied();
        given
            .or_else(|| self.known?.id(r))
            .or_else(|| self.name(r))
            .unwrap_or_else(|| named_id("__builtin__.object"))
    }

    /// Methods have no identity: their id is made of what they bind.
    fn method(&mut self, m: &Method) -> ObjId {
        let im_self = m.slf.as_ref().map(|s| self.constant(s));
        let im_func = self.constant(&m.func);
        let im_class = self.id(m.class);
        let text = |c: &Const| c.to_string();
        let id = stable_id(&[
            "method",
            &im_self.as_ref().map_or(String::new(), text),
            &text(&im_func),
            &im_class.0.to_string(),
        ]);
        let data = match (&m.func, &im_self) {
            (Value::Ref(f), Some(_)) => match self.heap.kind(*f) {
                Kind::Builtin(b) => ObjData::Builtin {
                    name: b.name.into(),
                    im_self,
                },
                _ => ObjData::Method {
                    im_self,
                    im_func,
                    im_class,
                },
            },
            _ => ObjData::Method {
                im_self,
                im_func,
                im_class,
            },
        };
        self.objects.entry(id).or_insert_with(|| Arc::new(data));
        id
    }

    fn constants(&mut self, values: &[Value]) -> Vec<Const> {
        values.iter().map(|v| self.constant(v)).collect()
    }

    fn attrs(&mut self, r: Ref) -> Attrs {
        match self.heap.get(r).attrs {
            Some(d) => self.namespace(d),
            None => Vec::new(),
        }
    }

    /// The text keys of a dict and their values.
    pub(crate) fn namespace(&mut self, dict: Ref) -> Attrs {
        let heap = self.heap;
        let Some(d) = heap.dict_of(dict) else {
            return Vec::new();
        };
        d.iter()
            .filter_map(|(k, v)| Some((k.as_text()?.into(), self.constant(v))))
            .collect()
    }

    pub(crate) fn data(&mut self, r: Ref) -> ObjData {
        let heap = self.heap;
        let o = heap.get(r);
        let builtin_class = heap.the_class(o.class).builtin;
        if !builtin_class && !matches!(o.kind, Kind::Class(_)) {
            return self.instance(r);
        }
        match &o.kind {
            Kind::Module(n) => ObjData::Module { name: n.clone() },
            Kind::Class(_) => self.class(r),
            Kind::Function(f) => {
                let globals = self.modules.get(&f.globals).copied();
                let module = heap.the_dict(f.globals).get_str("__name__");
                ObjData::Function(FunctionData {
                    name: f.name.clone(),
                    module: module.and_then(Value::as_text).unwrap_or("").into(),
                    code: f.code,
                    globals: self.id(globals.unwrap_or(f.globals)),
                    defaults: self.constants(&f.defaults),
                    closure: f
                        .closure
                        .iter()
                        .map(|c| match c {
                            Value::Ref(c) => match heap.kind(*c) {
                                Kind::Cell(contents) => contents.as_ref().map(|v| self.constant(v)),
                                _ => None,
                            },
                            _ => None,
                        })
                        .collect(),
                    attrs: self.attrs(r),
                    class: f.class.map(|c| self.id(c)),
                })
            }
            Kind::List(_) if o.class == ty::BYTEARRAY => self.instance(r),
            Kind::List(l) => ObjData::List(self.constants(l)),
            Kind::Dict(_) | Kind::Set(_) | Kind::FrozenSet(_) => self.table(r),
            Kind::StaticMethod(f) => ObjData::StaticMethod(self.constant(f)),
            Kind::ClassMethod(f) => ObjData::ClassMethod(self.constant(f)),
            // Python would have freed what nothing else refers to.
            Kind::WeakRef(w) => ObjData::WeakRef(match &w.target {
                Value::Ref(r) if !self.is_known(*r) => Const::None,
                v => self.constant(v),
            }),
            Kind::Property(p) => ObjData::Property {
                fget: self.constant(&p[0]),
                fset: self.constant(&p[1]),
                fdel: self.constant(&p[2]),
            },
            Kind::Cell(c) => ObjData::Cell(c.as_ref().map(|v| self.constant(v))),
            Kind::Builtin(b) => ObjData::Builtin {
                name: b.name.into(),
                im_self: None,
            },
            Kind::Opaque(n) | Kind::Absent(n) => ObjData::Builtin {
                name: n.clone(),
                im_self: None,
            },
            Kind::Slice(s) => ObjData::Slice(
                self.constant(&s[0]),
                self.constant(&s[1]),
                self.constant(&s[2]),
            ),
            Kind::LLType(t) => ObjData::LLType(*t),
            Kind::LLPtr(p) => ObjData::LLPtr {
                ty: p.ty,
                to: self.pointer_target(p),
            },
            Kind::LLContainer(c) => ObjData::LLContainer {
                ty: c.ty,
                parts: self.constants(&c.parts),
                parent: c.parent.map(|(r, i)| (self.id(r), i)),
            },
            Kind::LLFunction(f) => ObjData::LLFunction {
                name: f.name.clone(),
                ty: f.ty,
                callable: self.constant(&f.callable),
                external: self.constant(&f.external),
            },
            Kind::Plain | Kind::Exception(_) | Kind::Boxed(_) => self.instance(r),
            _ => ObjData::Other(heap.class_name(o.class).into()),
        }
    }

    fn table(&mut self, r: Ref) -> ObjData {
        let heap = self.heap;
        match heap.kind(r) {
            Kind::Dict(d) => ObjData::Dict(
                d.iter()
                    .map(|(k, v)| (self.constant(k), self.constant(v)))
                    .collect(),
            ),
            Kind::Set(d) | Kind::FrozenSet(d) => ObjData::Set {
                items: d.keys().map(|k| self.constant(k)).collect(),
                frozen: matches!(heap.kind(r), Kind::FrozenSet(_)),
            },
            _ => ObjData::Other("table".into()),
        }
    }

    fn class(&mut self, r: Ref) -> ObjData {
        let heap = self.heap;
        let c = heap.the_class(r);
        let module = heap.attr(r, "__module__").and_then(Value::as_text);
        ObjData::Class(ClassData {
            name: c.name.clone(),
            module: module.unwrap_or("").into(),
            bases: c.bases.iter().map(|b| self.id(*b)).collect(),
            mro: c.mro.iter().map(|b| self.id(*b)).collect(),
            metaclass: self.id(heap.get(r).class),
            dict: self.attrs(r),
            mixed_in: self.mixed_in(r),
            old_style: c.old_style,
            builtin: c.builtin,
        })
    }

    fn instance(&mut self, r: Ref) -> ObjData {
        let heap = self.heap;
        let o = heap.get(r);
        let payload = match &o.kind {
            Kind::List(l) => Some(ObjData::List(self.constants(l))),
            Kind::Dict(_) | Kind::Set(_) | Kind::FrozenSet(_) => Some(self.table(r)),
            _ => None,
        };
        let value = match &o.kind {
            Kind::Boxed(v) => Some(self.constant(v)),
            _ => None,
        };
        ObjData::Instance(InstanceData {
            class: self.id(o.class),
            attrs: self.attrs(r),
            frozen: self.asked.frozen.contains(&r),
            refused: self.asked.refused.get(&r).cloned(),
            payload: payload.map(Arc::new),
            value,
        })
    }
}

fn integer(v: &Value) -> Option<i128> {
    match v {
        Value::Int(i) => Some(i128::from(*i)),
        Value::Long(l) => {
            let bits = || l.to_u128().map(|bits| bits as i128);
            l.to_i128().or_else(bits)
        }
        _ => None,
    }
}

/// Low-level types compare by content: so do their ids.
pub(crate) fn lltype_id(t: LLType) -> ObjId {
    stable_id(&["lltype", &format!("{:?}", t.kind())])
}

pub(crate) fn module_dicts(heap: &Heap) -> FxHashMap<Ref, Ref> {
    let modules = heap.modules.iter();
    modules
        .filter_map(|r| Some((heap.get(*r).attrs?, *r)))
        .collect()
}

/// All objects that can be reached from these values, other than by weak references and
/// past objects that are known; in the order of their making.
pub(crate) fn reachable(
    heap: &Heap,
    modules: &FxHashMap<Ref, Ref>,
    roots: &[Value],
    is_known: &dyn Fn(Ref) -> bool,
) -> Vec<Ref> {
    let mut seen: FxHashSet<Ref> = FxHashSet::default();
    let mut reached = Vec::new();
    // Tuples that many others share are looked into once.
    let mut seen_tuples: FxHashSet<*const Value> = FxHashSet::default();
    let mut values: Vec<Value> = roots.to_vec();
    values.extend(types::all_types().map(|(r, ..)| Value::Ref(r)));
    while let Some(v) = values.pop() {
        match v {
            Value::Tuple(t) if t.is_empty() || !seen_tuples.insert(t.as_ptr()) => {}
            Value::Tuple(t) => extend(&mut values, t.iter()),
            Value::Bound(m) => values.extend([m.func, m.slf, m.class].map(Value::Ref)),
            Value::Method(m) => {
                values.push(m.func.clone());
                values.extend(m.slf.clone());
                values.push(Value::Ref(m.class));
            }
            Value::Ref(r) if !is_known(r) && seen.insert(r) => {
                reached.push(r);
                children(heap, modules, r, &mut values);
            }
            _ => {}
        }
    }
    reached.sort_unstable_by_key(|r| heap.age(*r));
    reached
}

/// Adds those values that refer to objects.
fn extend<'v>(out: &mut Vec<Value>, values: impl IntoIterator<Item = &'v Value>) {
    for v in values {
        match v {
            Value::Ref(r) => out.push(Value::Ref(*r)),
            Value::Tuple(_) | Value::Bound(_) | Value::Method(_) => out.push(v.clone()),
            _ => {}
        }
    }
}

/// What an object of the image refers to, other than weakly.
pub(crate) fn children(heap: &Heap, modules: &FxHashMap<Ref, Ref>, r: Ref, out: &mut Vec<Value>) {
    let o = heap.get(r);
    out.push(Value::Ref(o.class));
    if let Some(d) = o.attrs.and_then(|d| heap.dict_of(d)) {
        let module = matches!(o.kind, Kind::Module(_));
        for (k, v) in d.iter() {
            // Every module has the builtins; `sys.modules` is no data.
            let skip = module
                && matches!(k.as_text(), Some("__builtins__" | "modules"))
                && matches!(v, Value::Ref(_));
            if !skip {
                extend(out, [v]);
            }
        }
    }
    let low_level = match &o.kind {
        Kind::LLType(t) => Some(*t),
        Kind::LLPtr(p) => Some(p.ty),
        Kind::LLContainer(c) => Some(c.ty),
        Kind::LLFunction(f) => Some(f.ty),
        _ => None,
    };
    if let Some(t) = low_level
        && !heap.adtmeths.is_empty()
    {
        let named = mentioned_adtmeths(t);
        let tables = heap.adtmeths.iter().filter(|(id, _)| named.contains(id));
        out.extend(tables.map(|(_, r)| Value::Ref(*r)));
    }
    match &o.kind {
        Kind::Boxed(v) | Kind::StaticMethod(v) | Kind::ClassMethod(v) | Kind::Cell(Some(v)) => {
            extend(out, [v]);
        }
        Kind::List(l) => extend(out, l),
        Kind::Dict(d) | Kind::Set(d) | Kind::FrozenSet(d) => {
            for (k, v) in d.iter() {
                extend(out, [k, v]);
            }
        }
        Kind::Class(c) => {
            out.extend(c.bases.iter().chain(&c.mro).map(|b| Value::Ref(*b)));
        }
        Kind::Function(f) => {
            out.push(Value::Ref(*modules.get(&f.globals).unwrap_or(&f.globals)));
            extend(out, &f.defaults);
            extend(out, &f.closure);
            out.extend(f.class.map(Value::Ref));
        }
        Kind::Property(p) => extend(out, &p[..]),
        Kind::LLPtr(Pointer {
            to: Target::Object(r) | Target::Part(r, _),
            ..
        }) => out.push(Value::Ref(*r)),
        Kind::LLContainer(c) => {
            extend(out, &c.parts);
            out.extend(c.parent.map(|(r, _)| Value::Ref(r)));
        }
        Kind::LLFunction(f) => extend(out, [&f.callable, &f.external]),
        Kind::Slice(s) => extend(out, &s[..]),
        _ => {}
    }
}
