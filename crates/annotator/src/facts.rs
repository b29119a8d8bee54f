//! What the solver knows of the program: copies of image objects and flow graphs.
//!
//! The solver makes no salsa call while it works. Where it needs a fact that is not
//! here it gives up the current evaluation with [`Missing`]; the query fetches what
//! was asked for and lets it go on.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use indexmap::IndexSet;
use rustc_hash::{FxHashMap, FxHashSet};
use taipan_flow::{FlowResult, Signature};
use taipan_graph::{Const, FunctionGraph, ObjId};
use taipan_interp::{ClassData, FunctionData, ObjData, stable_id};

use crate::eval::Shape;
use crate::hierarchy::{ClassSet, Hierarchy};
use crate::names::KnownNames;
use crate::special::Specialization;

/// A fact that has to be fetched first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Missing;

/// An answer that may need facts that are not here.
pub(crate) type Known<T> = Result<T, Missing>;

/// A fact that is asked for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Request {
    /// Content of an image object.
    Object(ObjId),
    /// Flow graph of a function.
    Graph(ObjId),
    /// A global of a module.
    Global(ObjId, Box<str>),
    /// What a function returns for constant arguments, run while compiling.
    Memo(ObjId, Vec<Const>),
}

/// All facts so far.
#[derive(Default)]
pub(crate) struct Facts {
    pub(crate) objects: FxHashMap<ObjId, Option<Arc<ObjData>>>,
    pub(crate) graphs: FxHashMap<ObjId, Arc<FlowResult>>,
    pub(crate) memos: FxHashMap<(ObjId, Vec<Const>), Result<Const, String>>,
    pub(crate) globals: FxHashMap<(ObjId, Box<str>), Option<Const>>,
    classes: RwLock<FxHashMap<ObjId, Arc<ClassInfo>>>,
    order: RwLock<Order>,
    functions: RwLock<FxHashMap<ObjId, Arc<FuncInfo>>>,
    shapes: RwLock<FxHashMap<ObjId, Arc<Shape>>>,
    wanted: Mutex<IndexSet<Request>>,
    /// Helpers of the prelude are specialised by low-level types whatever their tags.
    pub(crate) helper_mode: bool,
    /// Operations that are wrong have a value of which nothing is known.
    pub(crate) recovering: bool,
    /// The names of attributes in the program, while recovering.
    pub(crate) names: Arc<KnownNames>,
}

thread_local! {
    /// The objects that were asked for while an evaluation is being recorded. The solver
    /// works on one thread; others look at the outcome and record nothing.
    static TOUCHED: RefCell<Option<Vec<ObjId>>> = const { RefCell::new(None) };
}

fn touch(id: ObjId) {
    TOUCHED.with_borrow_mut(|list| {
        // The same few are asked for again and again.
        if let Some(list) = list
            && !list.iter().rev().take(8).any(|o| *o == id)
        {
            list.push(id);
        }
    });
}

/// Nothing here can be left half-way by a panic.
fn lock<T>(m: &Mutex<T>) -> MutexGuard<'_, T> {
    m.lock().unwrap_or_else(PoisonError::into_inner)
}

fn get<T>(table: &RwLock<FxHashMap<ObjId, Arc<T>>>, id: ObjId) -> Option<Arc<T>> {
    let table = table.read().unwrap_or_else(PoisonError::into_inner);
    table.get(&id).cloned()
}

fn put<T>(table: &RwLock<FxHashMap<ObjId, Arc<T>>>, id: ObjId, value: Arc<T>) {
    let mut table = table.write().unwrap_or_else(PoisonError::into_inner);
    table.insert(id, value);
}

/// The classes in `classes`, by where they stand and by what they have.
#[derive(Default)]
struct Order {
    hierarchy: Hierarchy,
    /// By names in their own dicts, and names with `[*]` behind in `_immutable_fields_`.
    holders: FxHashMap<Box<str>, ClassSet>,
}

impl Order {
    /// Takes in a class, if it is new.
    fn add(&mut self, class: ObjId, info: &ClassInfo) {
        if !self.hierarchy.contains(class) {
            self.hierarchy.add(class, info.base);
            self.add_keys(class, info);
        }
    }

    fn add_keys(&mut self, class: ObjId, info: &ClassInfo) {
        for key in info.keys() {
            match self.holders.get_mut(&*key) {
                Some(set) => {
                    set.insert(class);
                }
                None => {
                    let mut set = ClassSet::default();
                    set.insert(class);
                    self.holders.insert(key.into(), set);
                }
            }
        }
    }

    fn remove_keys(&mut self, class: ObjId, info: &ClassInfo) {
        for key in info.keys() {
            if let Some(set) = self.holders.get_mut(&*key) {
                set.remove(class);
            }
        }
    }
}

/// So many classes are looked at one by one for what they have. Whoever looks depends on each
/// of them; for those above, on the name alone, which is coarser.
const NEAR: usize = if cfg!(test) { 3 } else { 32 };

/// What stands for all classes that have something of a name, as a fact.
fn any_holder(key: &str) -> ObjId {
    stable_id(&["any class with", key])
}

/// What a change of objects means for classes.
#[derive(Default)]
pub(crate) struct Reshaped {
    /// What classes far below depend on of those that have something else now.
    pub(crate) holders: Vec<ObjId>,
    /// Classes that look different.
    pub(crate) classes: Vec<ObjId>,
    /// Those of them that stand elsewhere among the others.
    pub(crate) hierarchy: FxHashSet<ObjId>,
}

/// A function as the annotator sees it (RPython: `FunctionDesc`).
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FuncInfo {
    pub(crate) data: FunctionData,
    pub(crate) params: Signature,
    pub(crate) special: Specialization,
}

/// A class as the annotator sees it (RPython: `ClassDesc`).
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ClassInfo {
    /// `module.Class`
    pub(crate) name: Arc<str>,
    /// The base class, mixins left out.
    pub(crate) base: Option<ObjId>,
    /// Its own attributes and those of its mixins.
    pub(crate) dict: BTreeMap<Box<str>, Const>,
    /// Names in `_attrs_` or `__slots__` of it and its bases, if it restricts them.
    pub(crate) enforced: Option<Vec<Box<str>>>,
    /// `_immutable_fields_`
    pub(crate) immutable_fields: Vec<Box<str>>,
    /// An exception class.
    pub(crate) exception: bool,
    /// One of the builtin exception classes.
    pub(crate) builtin_exception: bool,
    /// `int`, `str`, `list`, ...: no class of RPython instances.
    pub(crate) primitive: bool,
    /// What makes it unusable.
    pub(crate) problem: Option<Box<str>>,
    /// It or one of its bases restricts attributes.
    pub(crate) restricted: bool,
    /// The builtin type among its bases.
    pub(crate) builtin_base: Option<Box<str>>,
    /// The mixins that it is a subclass of, in Python's order.
    mixins: Arc<[ObjId]>,
    /// What it was made from.
    object: Arc<ObjData>,
}

impl ClassInfo {
    /// Everything it is a subclass of, in Python's sense.
    pub(crate) fn mro(&self) -> &[ObjId] {
        match &*self.object {
            ObjData::Class(data) => &data.mro,
            _ => &[],
        }
    }

    /// Whether its own `_immutable_fields_` say that the items of a list attribute never change.
    pub(crate) fn has_immutable_items(&self, name: &str) -> bool {
        self.immutable_fields
            .iter()
            .any(|f| list_field(f) == Some(name))
    }

    fn is_mixin(&self) -> bool {
        matches!(&*self.object, ObjData::Class(data) if data.is_mixin())
    }

    /// What it is found by; see [`Order`].
    fn keys(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let names = self.dict.keys().map(|n| Cow::Borrowed(&**n));
        let fields = self.immutable_fields.iter().filter_map(|f| list_field(f));
        names.chain(fields.map(|f| Cow::Owned(items_of(f))))
    }

    /// The function `__del__` of the class itself.
    pub(crate) fn finalizer(&self) -> Option<ObjId> {
        match self.dict.get("__del__") {
            Some(Const::Obj(f)) => Some(*f),
            _ => None,
        }
    }
}

impl Facts {
    /// What was asked for in vain since the last call.
    pub(crate) fn take_wanted(&self) -> Vec<Request> {
        std::mem::take(&mut *lock(&self.wanted))
            .into_iter()
            .collect()
    }

    /// Begins to note which objects are asked for on this thread.
    pub(crate) fn record(&self) {
        TOUCHED.set(Some(Vec::new()));
    }

    /// The objects asked for since [`Facts::record`], sorted: themselves, or as classes,
    /// functions, modules with globals, functions called while compiling.
    pub(crate) fn recorded(&self) -> Vec<ObjId> {
        let mut list = TOUCHED.take().unwrap_or_default();
        list.sort_unstable();
        list.dedup();
        list
    }

    fn want<T>(&self, r: Request) -> Known<T> {
        lock(&self.wanted).insert(r);
        Err(Missing)
    }

    pub(crate) fn object(&self, id: ObjId) -> Known<Option<Arc<ObjData>>> {
        touch(id);
        match self.objects.get(&id) {
            Some(o) => Ok(o.clone()),
            None => self.want(Request::Object(id)),
        }
    }

    pub(crate) fn flow(&self, func: ObjId) -> Known<Arc<FlowResult>> {
        match self.graphs.get(&func) {
            Some(g) => Ok(g.clone()),
            None => self.want(Request::Graph(func)),
        }
    }

    /// The shape of a function's graph, which is the one that [`Facts::flow`] answers.
    pub(crate) fn shape(&self, func: ObjId, graph: &FunctionGraph) -> Arc<Shape> {
        get(&self.shapes, func).unwrap_or_else(|| {
            let shape = Arc::new(Shape::new(graph));
            put(&self.shapes, func, shape.clone());
            shape
        })
    }

    pub(crate) fn memo(&self, func: ObjId, args: &[Const]) -> Known<Result<Const, String>> {
        touch(func);
        match self.memos.get(&(func, args.to_vec())) {
            Some(r) => Ok(r.clone()),
            None => self.want(Request::Memo(func, args.to_vec())),
        }
    }

    pub(crate) fn global(&self, module: ObjId, name: &str) -> Known<Option<Const>> {
        touch(module);
        match self.globals.get(&(module, name.into())) {
            Some(g) => Ok(g.clone()),
            None => self.want(Request::Global(module, name.into())),
        }
    }

    /// Replaces what depends on a function's own code. Answers whether callers may
    /// notice: it takes other parameters than before.
    pub(crate) fn set_flow(&mut self, func: ObjId, flow: Arc<FlowResult>) -> bool {
        let functions = self
            .functions
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        functions.remove(&func);
        let shapes = self.shapes.get_mut();
        shapes.unwrap_or_else(PoisonError::into_inner).remove(&func);
        let signature = flow.signature.clone();
        let old = self.graphs.insert(func, flow);
        old.is_some_and(|o| o.signature != signature)
    }

    /// Replaces objects. Answers what else looks different now: classes that inherit
    /// from them or take them in.
    pub(crate) fn set_objects(&mut self, changed: Vec<(ObjId, Option<Arc<ObjData>>)>) -> Reshaped {
        let functions = self
            .functions
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        for (id, data) in changed {
            functions.remove(&id);
            self.objects.insert(id, data);
        }
        let classes = self
            .classes
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        let old = std::mem::take(classes);
        let mut different = Vec::new();
        let mut moves = false;
        let mut reshaped = Reshaped::default();
        #[expect(clippy::iter_over_hash_type, reason = "what is different is sorted")]
        for (id, was) in &old {
            match self.class(*id) {
                Ok(Some(now)) if now == *was => {}
                Ok(Some(now)) => {
                    moves |= now.base != was.base;
                    different.push((*id, was, Some(now)));
                }
                _ => {
                    moves = true;
                    different.push((*id, was, None));
                }
            }
        }
        let order = self.order.get_mut();
        let order = order.unwrap_or_else(PoisonError::into_inner);
        for (id, was, now) in &different {
            order.remove_keys(*id, was);
            if let Some(now) = now {
                order.add_keys(*id, now);
            }
            for key in changed_keys(was, now.as_deref()) {
                reshaped.holders.push(any_holder(&key));
            }
            reshaped.classes.push(*id);
            if now
                .as_ref()
                .is_none_or(|now| now.base != was.base || now.mro() != was.mro())
            {
                reshaped.hierarchy.insert(*id);
            }
        }
        if moves {
            self.order_again(&old, &mut reshaped);
        }
        reshaped.classes.sort_unstable();
        reshaped.classes.dedup();
        reshaped
    }

    /// Puts all classes into the hierarchy again. Those below classes that moved have as well.
    fn order_again(&mut self, old: &FxHashMap<ObjId, Arc<ClassInfo>>, reshaped: &mut Reshaped) {
        let order = self.order.get_mut();
        let hierarchy = &mut order.unwrap_or_else(PoisonError::into_inner).hierarchy;
        let mut before = Hierarchy::default();
        std::mem::swap(&mut before, hierarchy);
        *hierarchy = before.successor();
        let classes = self.classes.get_mut();
        let classes = classes.unwrap_or_else(PoisonError::into_inner);
        #[expect(
            clippy::iter_over_hash_type,
            reason = "the order of classes without a common base is of no account"
        )]
        for class in classes.keys() {
            let bases = std::iter::successors(Some(*class), |c| classes.get(c)?.base);
            let chain: Vec<ObjId> = bases.take_while(|c| !hierarchy.contains(*c)).collect();
            for c in chain.into_iter().rev() {
                hierarchy.add(c, classes.get(&c).and_then(|info| info.base));
            }
        }
        #[expect(clippy::iter_over_hash_type, reason = "what is different is sorted")]
        for class in old.keys() {
            if !before.chain(*class).eq(hierarchy.chain(*class)) {
                reshaped.hierarchy.insert(*class);
                reshaped.classes.push(*class);
            }
        }
    }

    /// A function; None if the object is something else.
    pub(crate) fn function(&self, id: ObjId) -> Known<Option<Arc<FuncInfo>>> {
        touch(id);
        if let Some(f) = get(&self.functions, id) {
            return Ok(Some(f));
        }
        let object = self.object(id)?;
        let Some(ObjData::Function(data)) = object.as_deref() else {
            return Ok(None);
        };
        let flow = self.flow(id)?;
        let special = if self.helper_mode {
            Specialization::LowLevel
        } else {
            Specialization::of(data)
        };
        let info = Arc::new(FuncInfo {
            data: data.clone(),
            params: flow.signature.clone(),
            special,
        });
        put(&self.functions, id, info.clone());
        Ok(Some(info))
    }

    /// A class; None if the object is something else.
    pub(crate) fn class(&self, id: ObjId) -> Known<Option<Arc<ClassInfo>>> {
        touch(id);
        if let Some(c) = get(&self.classes, id) {
            return Ok(Some(c));
        }
        if !self.is_class(id)? {
            return Ok(None);
        }
        // Its bases come first, however many there are.
        let mut todo = vec![id];
        while let Some(next) = todo.last().copied() {
            let Some(object) = self.object(next)? else {
                break;
            };
            let ObjData::Class(data) = &*object else {
                break;
            };
            let (base, _) = self.base_of(data)?;
            if let Some(base) = base
                && get(&self.classes, base).is_none()
                && self.is_class(base)?
            {
                todo.push(base);
                continue;
            }
            let info = Arc::new(self.class_info(next, data, &object)?);
            self.order_mut().add(next, &info);
            put(&self.classes, next, info);
            todo.pop();
        }
        Ok(get(&self.classes, id))
    }

    fn order(&self) -> RwLockReadGuard<'_, Order> {
        self.order.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn order_mut(&self) -> RwLockWriteGuard<'_, Order> {
        self.order.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at where classes stand. Whoever does depends on the classes that it asks for,
    /// which [`Facts::class`] notes.
    pub(crate) fn hierarchy<R>(&self, look: impl FnOnce(&Hierarchy) -> R) -> R {
        look(&self.order().hierarchy)
    }

    /// A class and its bases up to below `object`.
    pub(crate) fn chain(&self, class: ObjId) -> Known<Vec<ObjId>> {
        self.class(class)?;
        Ok(self.order().hierarchy.chain(class).collect())
    }

    /// The classes below a class that have an attribute of that name themselves, but for those
    /// below others and these themselves; see [`ClassSet::below_but`].
    pub(crate) fn definers_below(&self, class: ObjId, others: &[ObjId], name: &str) -> Vec<ObjId> {
        let order = &mut *self.order_mut();
        match order.holders.get_mut(name) {
            Some(set) => set.below_but(class, others, &order.hierarchy),
            None => Vec::new(),
        }
    }

    /// Goes through the classes that have something, from a class to its bases.
    fn holders<R>(
        &self,
        class: ObjId,
        key: &str,
        mut each: impl FnMut(ObjId, &ClassInfo) -> Known<ControlFlow<R>>,
    ) -> Known<Option<R>> {
        let mut next = Some(class);
        let mut last = class;
        for _ in 0..NEAR {
            let Some(c) = next else { return Ok(None) };
            let Some(info) = self.class(c)? else {
                return Ok(None);
            };
            if let ControlFlow::Break(r) = each(c, &info)? {
                return Ok(Some(r));
            }
            (last, next) = (c, info.base);
        }
        if next.is_none() {
            return Ok(None);
        }
        touch(any_holder(key));
        let order = self.order();
        let far =
            (order.holders.get(key)).map_or_else(Vec::new, |s| s.above(last, &order.hierarchy));
        drop(order);
        for c in far {
            if let Some(info) = self.class(c)?
                && let ControlFlow::Break(r) = each(c, &info)?
            {
                return Ok(Some(r));
            }
        }
        Ok(None)
    }

    /// Goes through the classes that have an attribute of that name themselves, from a class
    /// to its bases.
    pub(crate) fn definers<R>(
        &self,
        class: ObjId,
        name: &str,
        mut each: impl FnMut(ObjId, &Const) -> Known<ControlFlow<R>>,
    ) -> Known<Option<R>> {
        self.holders(class, name, |c, info| match info.dict.get(name) {
            Some(v) => each(c, v),
            None => Ok(ControlFlow::Continue(())),
        })
    }

    /// Whether `_immutable_fields_` of a class or its bases say that the items of a list
    /// attribute never change.
    pub(crate) fn has_immutable_items(&self, class: ObjId, name: &str) -> Known<bool> {
        let found = self.holders(class, &items_of(name), |_, info| {
            Ok(if info.has_immutable_items(name) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            })
        })?;
        Ok(found.is_some())
    }

    fn is_class(&self, id: ObjId) -> Known<bool> {
        Ok(matches!(
            self.object(id)?.as_deref(),
            Some(ObjData::Class(_))
        ))
    }

    /// What a class says of something, if it is one.
    fn of_class<R>(&self, id: ObjId, ask: impl FnOnce(&ClassData) -> R) -> Known<Option<R>> {
        Ok(match self.object(id)?.as_deref() {
            Some(ObjData::Class(c)) => Some(ask(c)),
            _ => None,
        })
    }

    /// The base class, mixins left out, and what is wrong with the bases.
    fn base_of(&self, data: &ClassData) -> Known<(Option<ObjId>, Option<Box<str>>)> {
        let mut first = None;
        let mut problem = None;
        for b in &data.bases {
            let counts = self.of_class(*b, |base| !base.is_object() && !base.is_mixin())?;
            if counts != Some(true) {
                continue;
            }
            if first.is_none() {
                first = Some(*b);
            } else {
                problem = Some(
                    format!(
                        "class {} has several bases; all but one must have `_mixin_ = True`",
                        data.name
                    )
                    .into(),
                );
            }
        }
        // RPython passes over BaseException: everything that derives from it derives from
        // Exception.
        let above = taipan_interp::named_id("exceptions.BaseException");
        if is_builtin_exception(data) && matches!(&*data.name, "Exception" | "BaseException") {
            first = None;
        } else if first == Some(above) {
            first = Some(taipan_interp::named_id("exceptions.Exception"));
        }
        Ok((first, problem))
    }

    /// The mixins that a class is a subclass of.
    fn mixins_of(&self, data: &ClassData, base: Option<&ClassInfo>) -> Known<Arc<[ObjId]>> {
        // One base: what is behind it is behind the class.
        if let ([_], Some(base)) = (&data.bases[..], base)
            && data.mro.get(1..) == Some(base.mro())
        {
            return Ok(base.mixins.clone());
        }
        let mut mixins = Vec::new();
        for c in data.mro.iter().skip(1) {
            if self.of_class(*c, ClassData::is_mixin)? == Some(true) {
                mixins.push(*c);
            }
        }
        Ok(mixins.into())
    }

    fn class_info(&self, id: ObjId, data: &ClassData, object: &Arc<ObjData>) -> Known<ClassInfo> {
        let (base_id, problem) = self.base_of(data)?;
        let base = match base_id {
            Some(b) => self.class(b)?,
            None => None,
        };
        let mut info = ClassInfo {
            name: format!("{}.{}", data.module, data.name).into(),
            base: base_id,
            dict: BTreeMap::new(),
            enforced: None,
            immutable_fields: Vec::new(),
            exception: false,
            builtin_exception: false,
            primitive: data.builtin && &*data.module == "__builtin__",
            problem,
            restricted: false,
            builtin_base: None,
            mixins: self.mixins_of(data, base.as_deref())?,
            object: object.clone(),
        };
        if data.is_mixin() && info.problem.is_none() {
            info.problem =
                Some(format!("cannot use class {} directly: it is a mixin", data.name).into());
        }
        info.dict.extend(data.mixed_in.iter().cloned());
        for (name, value) in &data.dict {
            self.add_attribute(&mut info, name, value)?;
        }
        self.add_immutable_fields_of_mixins(id, &mut info)?;
        info.exception = is_builtin_exception(data) || base.as_ref().is_some_and(|b| b.exception);
        info.builtin_exception = is_builtin_exception(data);
        self.restrict_attributes(&mut info, data, base.as_deref())?;
        info.restricted = info.enforced.is_some() || base.as_ref().is_some_and(|b| b.restricted);
        info.builtin_base = match (base_id, &base) {
            (Some(id), Some(b)) if b.primitive => self.of_class(id, |c| c.name.clone())?,
            (_, Some(b)) => b.builtin_base.clone(),
            _ => None,
        };
        if let Some(builtin) = &info.builtin_base {
            let name = &data.name;
            info.problem = Some(
                format!("class {name} derives from the builtin type `{builtin}`, so RPython has no instances of it").into(),
            );
        }
        if !self.has_light_finalizer(&info, &data.mro)? {
            info.problem = Some(
                format!(
                    "the finalizer of class {} must be light, as that of a base class is \
                     (`rgc.must_be_light_finalizer`)",
                    data.name
                )
                .into(),
            );
        }
        Ok(info)
    }

    /// Whether a class below `@rgc.must_be_light_finalizer` has no `__del__` but one
    /// that is marked in the same way.
    fn has_light_finalizer(&self, info: &ClassInfo, mro: &[ObjId]) -> Known<bool> {
        const MARK: &str = "_must_be_light_finalizer_";
        let Some(finalizer) = info.finalizer() else {
            return Ok(true);
        };
        let mut marked = false;
        for class in mro {
            let marks = self.of_class(*class, |c| c.get(MARK).is_some())?;
            marked |= marks == Some(true);
        }
        Ok(!marked
            || match self.object(finalizer)?.as_deref() {
                Some(ObjData::Function(f)) => f.get(MARK).is_some(),
                _ => true,
            })
    }

    /// `_attrs_`, `__slots__` and `_immutable_fields_`.
    fn restrict_attributes(
        &self,
        info: &mut ClassInfo,
        data: &ClassData,
        base: Option<&ClassInfo>,
    ) -> Known<()> {
        let mut own: Option<Vec<Box<str>>> = None;
        for decl in ["__slots__", "_attrs_"] {
            if let Some(c) = data.get(decl) {
                own.get_or_insert_default().extend(self.names(c)?);
            }
        }
        if let Some(mut names) = own {
            if let Some(b) = base {
                match &b.enforced {
                    Some(e) => names.extend(e.iter().cloned()),
                    None => {
                        info.problem = Some(
                            format!(
                                "class {} has __slots__ or _attrs_, but its base class has not",
                                data.name
                            )
                            .into(),
                        );
                    }
                }
            }
            names.sort();
            names.dedup();
            info.enforced = Some(names);
        } else if info.builtin_exception {
            // Only errors of the system have attributes.
            let mut names = base.and_then(|b| b.enforced.clone()).unwrap_or_default();
            if &*data.name == "EnvironmentError" {
                names.extend(["errno", "filename", "strerror"].map(Into::into));
            }
            info.enforced = Some(names);
        }
        if let Some(c) = data.get("_immutable_fields_") {
            info.immutable_fields.extend(self.names(c)?);
        }
        Ok(())
    }

    /// The strings in a list or tuple, or the one string.
    fn names(&self, c: &Const) -> Known<Vec<Box<str>>> {
        if let Some(s) = c.as_str() {
            return Ok(vec![s.into()]);
        }
        let items: Vec<Const> = match c {
            Const::Tuple(t) => t.to_vec(),
            Const::Obj(o) => match self.object(*o)?.as_deref() {
                Some(ObjData::List(l)) => l.clone(),
                Some(ObjData::Dict(d)) => d.iter().map(|(k, _)| k.clone()).collect(),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        };
        Ok(items
            .iter()
            .filter_map(|c| c.as_str().map(Into::into))
            .collect())
    }

    /// `_immutable_fields_` of all mixins are as those of the class.
    fn add_immutable_fields_of_mixins(&self, id: ObjId, info: &mut ClassInfo) -> Known<()> {
        let own = info.is_mixin().then_some(id);
        for c in own.into_iter().chain(info.mixins.to_vec()) {
            let fields = self.of_class(c, |c| c.get("_immutable_fields_").cloned())?;
            if let Some(fields) = fields.flatten() {
                info.immutable_fields.extend(self.names(&fields)?);
            }
        }
        Ok(())
    }

    fn add_attribute(&self, info: &mut ClassInfo, name: &str, value: &Const) -> Known<()> {
        if let Const::Obj(o) = value {
            match self.object(*o)?.as_deref() {
                Some(ObjData::Property { fget, fset, .. }) => {
                    for (f, suffix) in [(fget, "__getter__"), (fset, "__setter__")] {
                        if *f != Const::None {
                            info.dict
                                .insert(format!("{name}{suffix}").into(), f.clone());
                        }
                    }
                }
                // What stands for a name in `__slots__`.
                Some(ObjData::Other(kind)) if &**kind == "member_descriptor" => return Ok(()),
                _ => {}
            }
        }
        info.dict.insert(name.into(), value.clone());
        Ok(())
    }

    /// Whether a class is the other one or derives from it, in Python's sense.
    pub(crate) fn is_subclass(&self, a: ObjId, b: ObjId) -> Known<bool> {
        if a == b {
            return Ok(true);
        }
        let Some(info) = self.class(a)? else {
            return Ok(false);
        };
        Ok(self.order().hierarchy.is_below(a, b) || info.mro().contains(&b))
    }

    /// The closest common base below `object`.
    pub(crate) fn common_base(&self, a: ObjId, b: ObjId) -> Known<Option<ObjId>> {
        if a == b {
            return Ok(Some(a));
        }
        if self.class(a)?.is_none() || self.class(b)?.is_none() {
            return Ok(None);
        }
        Ok(self.order().hierarchy.common_base(a, b))
    }

    /// A class attribute, along the chain of bases: where it is and its value.
    pub(crate) fn lookup(&self, class: ObjId, name: &str) -> Known<Option<(ObjId, Const)>> {
        self.definers(class, name, |c, v| Ok(ControlFlow::Break((c, v.clone()))))
    }

    /// A class attribute as Python finds it, mixins among the bases: with the functions
    /// that frozen instances are bound to.
    pub(crate) fn python_lookup(&self, class: ObjId, name: &str) -> Known<Option<Const>> {
        let Some(info) = self.class(class)? else {
            return Ok(None);
        };
        for c in info.mro() {
            if let Some(ObjData::Class(data)) = self.object(*c)?.as_deref()
                && let Some(v) = data.get(name)
            {
                return Ok(Some(v.clone()));
            }
        }
        Ok(None)
    }
}

/// What a class is found by, or was, and has something else of now.
fn changed_keys(was: &ClassInfo, now: Option<&ClassInfo>) -> Vec<String> {
    let of = |info: &ClassInfo, key: &str| match info.dict.get(key) {
        Some(v) => Some(v.clone()),
        None => info.keys().any(|k| k == key).then_some(Const::None),
    };
    let keys = was.keys().chain(now.into_iter().flat_map(ClassInfo::keys));
    let changed = keys.filter(|k| of(was, k) != now.and_then(|now| of(now, k)));
    changed.map(Cow::into_owned).collect()
}

/// The attribute that an entry `name[*]` or `name?[*]` of `_immutable_fields_` is about.
fn list_field(entry: &str) -> Option<&str> {
    let name = entry.strip_suffix("[*]")?;
    Some(name.strip_suffix('?').unwrap_or(name))
}

/// The key of classes with such an entry.
fn items_of(name: &str) -> String {
    format!("{name}[*]")
}

fn is_builtin_exception(c: &ClassData) -> bool {
    c.builtin && &*c.module == "exceptions"
}
