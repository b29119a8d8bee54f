//! Calls after import time (`specialize:memo`).
//!
//! ```text
//! run      calls the function upon a heap of its own; names what it made
//! settle   decides which of its inner calls the program knows as well; freezes
//! ```
//!
//! A memo function that another one calls is run there once more, since it sees what the
//! outer one has changed so far. But where it keeps what it makes, so that the next call
//! would give the same object, its objects must be the ones that the program has from it: they get
//! the ids that a call of its own gives them, and have the content that this call left.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use taipan_base::{Db, Diagnostic, ErrorCode, Program};
use taipan_graph::{Const, ObjId};

use crate::MemoCall;
use crate::heap_image::freeze_methods::ask_freeze;
use crate::heap_image::heap_to_image::{Asked, Freezer, module_dicts, reachable};
use crate::heap_image::image_to_heap::{
    MemoAnswer, Thaw, Thawed, collect_objects, keep_for_later, left_by_makers,
};
use crate::heap_image::import_time::{Image, diagnose};
use crate::heap_image::queries::{memo_answer, memo_run};
use crate::space::collect::Collections;
use crate::space::heap::{Heap, Kind, Ref};
use crate::space::value::Value;
use crate::space::{Interp, R, World};

/// What running a call came to.
#[derive(Debug)]
pub(crate) enum MemoRun {
    /// A constant without new objects.
    Plain(Const),
    /// Objects that have to be frozen.
    Made(Box<Made>),
}

/// What a call left that made objects.
#[derive(Debug)]
pub(crate) struct Made {
    value: Value,
    world: World,
    below: Arc<Thawed>,
    /// Ids of arguments that were built anew.
    built: FxHashMap<Ref, ObjId>,
    asked: Asked,
    /// The objects of the call itself.
    own: FxHashMap<ObjId, Ref>,
    /// Memo calls that it ran and that keep their objects, in the order in which they ended.
    inner: Vec<Inner>,
}

/// A memo call that another one ran.
#[derive(Debug)]
struct Inner {
    call: Active,
    value: Value,
    /// The objects that it made, with the ids that the same call gives by itself.
    names: FxHashMap<Ref, ObjId>,
}

/// What is known of memo calls while one runs.
#[derive(Debug)]
pub(crate) struct Calls {
    thawed: Arc<Thawed>,
    /// Ids of objects that are not in `thawed`.
    ids: FxHashMap<Ref, ObjId>,
    /// The calls that run, outermost first.
    active: Vec<Active>,
    ended: Vec<Inner>,
}

/// A memo call that runs.
#[derive(Debug)]
struct Active {
    key: MemoCall,
    callee: Value,
    args: Vec<Value>,
    /// The first object that it can have made.
    since: Ref,
}

impl Calls {
    fn id(&self, r: Ref) -> Option<ObjId> {
        self.ids.get(&r).copied().or_else(|| self.thawed.id(r))
    }

    /// An argument as a constant; none where that takes an object without an id.
    fn constant(&self, v: &Value) -> Option<Const> {
        Some(match v {
            Value::Tuple(t) => {
                Const::Tuple(t.iter().map(|v| self.constant(v)).collect::<Option<_>>()?)
            }
            Value::Ref(r) => Const::Obj(self.id(*r)?),
            _ => return plain(v),
        })
    }
}

impl Interp<'_> {
    /// Notes that a function is entered. Whether that is a memo call inside another one
    /// which could be asked for by itself: then [`Interp::leave_memo`] has to follow.
    pub(crate) fn enter_memo(&mut self, callee: Ref, locals: &[Option<Value>]) -> bool {
        let Some(calls) = &self.memo_calls else {
            return false;
        };
        let special = self.heap.attr(callee, "_annspecialcase_");
        if special.and_then(Value::as_text) != Some("specialize:memo") {
            return false;
        }
        let args: Option<Vec<Value>> = locals.iter().cloned().collect();
        let Some((func, args)) = calls.id(callee).zip(args) else {
            return false;
        };
        let consts: Option<Vec<Const>> = args.iter().map(|v| calls.constant(v)).collect();
        let Some(consts) = consts else {
            return false;
        };
        let key = MemoCall::new(self.db, self.program, func, consts);
        // What a call makes while the same call runs already is a part of that.
        if calls.active.iter().any(|active| active.key == key) {
            return false;
        }
        let since = self.heap.next();
        if let Some(calls) = &mut self.memo_calls {
            calls.active.push(Active {
                key,
                callee: Value::Ref(callee),
                args,
                since,
            });
        }
        true
    }

    /// Names what a memo call made, once it has ended.
    pub(crate) fn leave_memo(&mut self, result: &R) {
        let Some(calls) = &mut self.memo_calls else {
            return;
        };
        let (Some(call), Ok(value)) = (calls.active.pop(), result) else {
            return;
        };
        let (db, heap) = (self.db, &self.heap);
        let names = own_names(db, heap, &call, value, &calls.thawed, &calls.ids);
        if names.is_empty() {
            return;
        }
        calls.ids.extend(names.iter().map(|(r, id)| (*r, *id)));
        calls.ended.push(Inner {
            call,
            value: value.clone(),
            names,
        });
    }
}

/// Ids of what a call made, as far as its result refers to it.
fn own_names(
    db: &dyn Db,
    heap: &Heap,
    call: &Active,
    value: &Value,
    thawed: &Thawed,
    ids: &FxHashMap<Ref, ObjId>,
) -> FxHashMap<Ref, ObjId> {
    let known = |r: &Ref| ids.contains_key(r) || thawed.id(*r).is_some();
    match value {
        Value::Ref(r) if known(r) => return FxHashMap::default(),
        v if plain(v).is_some() => return FxHashMap::default(),
        _ => {}
    }
    let none = Asked::default();
    let scope = scope(db, call.key);
    let mut freezer = Freezer::new(db, heap, scope, Some(thawed), ids.clone(), &none);
    let new = freezer.name_all(std::slice::from_ref(value), call.since);
    let new = new.into_iter().filter(|r| freezer.name(*r).is_none());
    new.map(|r| (r, freezer.ids[&r])).collect()
}

/// Part of the ids of what a call makes.
fn scope(db: &dyn Db, key: MemoCall) -> String {
    let args: Vec<String> = key.args(db).iter().map(Const::to_string).collect();
    format!("{:?}({})", key.func(db), args.join(", "))
}

fn lost() -> Box<Diagnostic> {
    Box::new(Diagnostic::error(
        ErrorCode::UnknownAtImportTime,
        None,
        "the function or an argument is not in the image",
    ))
}

/// Calls a function of the image after import time. A call that is given objects of an
/// earlier one goes on with what that one left.
pub(crate) fn run(
    db: &dyn Db,
    program: Program,
    image: &Image,
    key: MemoCall,
) -> Result<MemoRun, Box<Diagnostic>> {
    let imported = image.thawed.as_ref().ok_or_else(lost)?;
    let below = left_by_makers(db, key.args(db)).unwrap_or_else(|| imported.clone());
    let mut collections = Collections::default();
    loop {
        match attempt(db, program, image, key, &below, collections) {
            Ok(outcome) => return outcome,
            Err(known) => collections = known,
        }
    }
}

/// One call, in which as much is known of collections. Where that is not enough, what the
/// next one has to know.
fn attempt(
    db: &dyn Db,
    program: Program,
    image: &Image,
    key: MemoCall,
    below: &Arc<Thawed>,
    collections: Collections,
) -> Result<Result<MemoRun, Box<Diagnostic>>, Collections> {
    let mut it = Interp::over(db, program, &below.world);
    it.collections = collections;
    let mut thaw = Thaw::new(below, image);
    let Some(callee) = thaw.value(&mut it, &Const::Obj(key.func(db))) else {
        return Ok(Err(lost()));
    };
    let mut values = Vec::new();
    for a in key.args(db) {
        match thaw.value(&mut it, a) {
            Some(v) => values.push(v),
            None => return Ok(Err(lost())),
        }
    }
    let built: FxHashMap<Ref, ObjId> = thaw.built.iter().map(|(id, r)| (*r, *id)).collect();
    let since = it.heap.next();
    let whole = Active {
        key,
        callee: callee.clone(),
        args: values.clone(),
        since,
    };
    it.memo_calls = Some(Box::new(Calls {
        thawed: below.clone(),
        ids: built.clone(),
        active: vec![whole],
        ended: Vec::new(),
    }));
    let answer = it.call(&callee, &values);
    if let Some(known) = it.collection(&[]) {
        return Err(known);
    }
    let value = match answer {
        Ok(v) => v,
        Err(e) => return Ok(Err(Box::new(diagnose(&it, &e)))),
    };
    let calls = it.memo_calls.take();
    if let Some(c) = needs_no_freezing(&it, &value, below) {
        return Ok(Ok(MemoRun::Plain(c)));
    }
    let (mut own, mut inner) = (FxHashMap::default(), Vec::new());
    if let Some(mut calls) = calls {
        if let Some(whole) = calls.active.pop() {
            own = own_names(db, &it.heap, &whole, &value, below, &calls.ids);
        }
        inner = calls.ended;
    }
    drop_forgetful(&it, &mut inner);
    let is_known = |r| below.id(r).is_some() || built.contains_key(&r);
    let mut asked = Asked::default();
    ask_freeze(&mut it, std::slice::from_ref(&value), &is_known, &mut asked);
    // Cleaning up may have taken some of them away.
    let modules = module_dicts(&it.heap);
    let left = reachable(&it.heap, &modules, std::slice::from_ref(&value), &is_known);
    own.retain(|r, _| left.contains(r));
    let own = own.into_iter().map(|(r, id)| (id, r)).collect();
    for call in &mut inner {
        call.names.retain(|r, _| left.contains(r));
    }
    inner.retain(|call| !call.names.is_empty());
    Ok(Ok(MemoRun::Made(Box::new(Made {
        value,
        world: it.into_world(),
        below: below.clone(),
        built,
        asked,
        own,
        inner,
    }))))
}

/// Leaves the calls that would give the same objects when they are made again: the others
/// make new ones each time, and so does the program. They are made on the side.
fn drop_forgetful(it: &Interp, inner: &mut Vec<Inner>) {
    if inner.is_empty() {
        return;
    }
    let (heap, steps) = (it.heap.copy(), it.program.options(it.db).step_limit);
    let mut aside = Interp::with(it.db, it.program, steps, heap, it.modules, it.builtins);
    aside.written = it.written.clone();
    inner.retain(|inner| {
        let again = aside.call(&inner.call.callee, &inner.call.args);
        again.is_ok_and(|v| is_same(&v, &inner.value))
    });
}

/// Whether two values are the same objects.
fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Ref(a), Value::Ref(b)) => a == b,
        (Value::Tuple(a), Value::Tuple(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| is_same(a, b))
        }
        (a, b) => plain(a).is_some_and(|a| plain(b) == Some(a)),
    }
}

/// Freezes what a call made. Its objects become known under ids made from the call; those of
/// inner calls under the ids that they have by themselves, if such a call makes them, too.
pub(crate) fn settle(db: &dyn Db, image: &Image, key: MemoCall, run: &MemoRun) -> MemoAnswer {
    let made = match run {
        MemoRun::Plain(c) => return c.clone().into(),
        MemoRun::Made(made) => made,
    };
    let heap = &made.world.heap;
    let below = &made.below;
    let mut names: FxHashMap<Ref, ObjId> = made.own.iter().map(|(id, r)| (*r, *id)).collect();
    let mut shared: FxHashMap<ObjId, MemoCall> = FxHashMap::default();
    let mut refused: FxHashSet<ObjId> = FxHashSet::default();
    let mut inner = Vec::new();
    for Inner {
        call,
        names: theirs,
        ..
    } in &made.inner
    {
        let mut given = vec![call.key.func(db)];
        for c in call.key.args(db) {
            collect_objects(c, &mut given);
        }
        // It goes on where those have left off that made its arguments.
        let mut makers = given.iter().filter_map(|id| shared.get(id));
        let is_ready = makers.all(|maker| memo_answer(db, *maker).is_ok());
        let alone = match is_ready && !given.iter().any(|id| refused.contains(id)) {
            true => memo_run(db, call.key).as_ref().ok(),
            false => None,
        };
        let has = |(r, id): (&Ref, &ObjId)| match alone.map(|run| &**run) {
            Some(MemoRun::Made(alone)) => {
                let there = alone.own.get(id);
                there.is_some_and(|there| is_alike(&alone.world.heap, *there, heap, *r))
            }
            _ => false,
        };
        if !theirs.iter().all(has) {
            refused.extend(theirs.values());
            continue;
        }
        names.extend(theirs.iter().map(|(r, id)| (*r, *id)));
        shared.extend(theirs.values().map(|id| (*id, call.key)));
        inner.push(call.key);
    }
    let (built, world) = (made.built.clone(), made.world.clone());
    let mut freezer = Freezer::new(db, heap, scope(db, key), Some(below), built, &made.asked);
    freezer.prefer(names);
    freezer.freeze(std::slice::from_ref(&made.value));
    let value = freezer.constant(&made.value);
    let (mut objects, ids) = (freezer.objects, freezer.ids);
    objects.retain(|id, _| !image.objects.contains_key(id) && !shared.contains_key(id));
    if !objects.is_empty() || !shared.is_empty() {
        let left = Arc::new(Thawed::new(world, ids, Some(below.clone())));
        keep_for_later(db, key, objects.keys().copied(), &shared, left);
    }
    MemoAnswer {
        value,
        made: objects,
        inner,
    }
}

/// Whether two objects could be the same one in two runs.
fn is_alike(heap: &Heap, r: Ref, other: &Heap, s: Ref) -> bool {
    let (a, b) = (heap.get(r), other.get(s));
    let same_kind = std::mem::discriminant(&a.kind) == std::mem::discriminant(&b.kind);
    same_kind && heap.class_name(a.class) == other.class_name(b.class)
}

/// The constant for a value without identity.
fn plain(v: &Value) -> Option<Const> {
    Some(match v {
        Value::None => Const::None,
        Value::Bool(b) => Const::Bool(*b),
        Value::Int(i) => Const::Int(*i),
        Value::Str(s) => Const::Str(s.clone()),
        Value::Unicode(u) => Const::Unicode(u.clone()),
        _ => return None,
    })
}

/// The constant for a plain value, or for an instance or class that the image has already:
/// most answers are of these kinds, and what the call changed besides is not kept.
fn needs_no_freezing(it: &Interp, v: &Value, known: &Thawed) -> Option<Const> {
    let Value::Ref(r) = v else {
        return plain(v);
    };
    let o = it.heap.get(*r);
    match &o.kind {
        Kind::Class(_) => {}
        Kind::Plain if it.heap.class_name(o.class) != "r_singlefloat" => {}
        _ => return None,
    }
    Some(Const::Obj(known.id(*r)?))
}
