//! What the solver knows of the program: copies of image objects and flow graphs.
//!
//! The solver makes no salsa call while it works. Where it needs a fact that is not
//! here it gives up the current evaluation with [`Missing`]; the query fetches what
//! was asked for and lets it go on.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use indexmap::IndexSet;
use rustc_hash::{FxHashMap, FxHashSet};
use taipan_flow::{FlowResult, Signature};
use taipan_graph::{Const, FunctionGraph, ObjId};
use taipan_interp::{ClassData, FunctionData, ObjData};

use crate::eval::Shape;
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
    functions: RwLock<FxHashMap<ObjId, Arc<FuncInfo>>>,
    shapes: RwLock<FxHashMap<ObjId, Arc<Shape>>>,
    wanted: Mutex<IndexSet<Request>>,
    /// Helpers of the prelude are specialised by low-level types whatever their tags.
    pub(crate) helper_mode: bool,
    /// Operations that are wrong have a value of which nothing is known.
    pub(crate) recovering: bool,
    /// The names of attributes in the program, while recovering.
    pub(crate) names: Arc<KnownNames>,
    /// See [`Roots::jit`](crate::Roots::jit).
    pub(crate) jit: bool,
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

/// What a change of objects means for classes.
#[derive(Default)]
pub(crate) struct Reshaped {
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
    /// Itself and its bases up to below `object`.
    pub(crate) chain: Vec<ObjId>,
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
    /// Everything it is a subclass of, in Python's sense.
    pub(crate) mro: Vec<ObjId>,
}

impl ClassInfo {
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
        let mut reshaped = Reshaped::default();
        for (id, was) in old {
            match self.class(id) {
                Ok(Some(now)) if now == was => {}
                Ok(Some(now)) if now.chain == was.chain && now.mro == was.mro => {
                    reshaped.classes.push(id);
                }
                _ => {
                    reshaped.classes.push(id);
                    reshaped.hierarchy.insert(id);
                }
            }
        }
        reshaped
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
        let object = self.object(id)?;
        let Some(ObjData::Class(data)) = object.as_deref() else {
            return Ok(None);
        };
        let info = Arc::new(self.class_info(id, data)?);
        put(&self.classes, id, info.clone());
        Ok(Some(info))
    }

    fn class_data(&self, id: ObjId) -> Known<Option<ClassData>> {
        Ok(match self.object(id)?.as_deref() {
            Some(ObjData::Class(c)) => Some(c.clone()),
            _ => None,
        })
    }

    fn class_info(&self, id: ObjId, data: &ClassData) -> Known<ClassInfo> {
        let mut info = ClassInfo {
            name: format!("{}.{}", data.module, data.name).into(),
            base: None,
            chain: vec![id],
            dict: BTreeMap::new(),
            enforced: None,
            immutable_fields: Vec::new(),
            exception: false,
            builtin_exception: false,
            primitive: data.builtin && &*data.module == "__builtin__",
            problem: None,
            mro: data.mro.clone(),
        };
        if data.is_mixin() {
            info.problem =
                Some(format!("cannot use class {} directly: it is a mixin", data.name).into());
        }
        for b in &data.bases {
            let Some(base) = self.class_data(*b)? else {
                continue;
            };
            if base.is_object() || base.is_mixin() {
                continue;
            }
            if info.base.is_none() {
                info.base = Some(*b);
            } else {
                info.problem = Some(
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
            info.base = None;
        } else if info.base == Some(above) {
            info.base = Some(taipan_interp::named_id("exceptions.Exception"));
        }
        let base = match info.base {
            Some(b) => self.class(b)?,
            None => None,
        };
        info.dict.extend(data.mixed_in.iter().cloned());
        for (name, value) in &data.dict {
            self.add_attribute(&mut info, name, value)?;
        }
        self.add_immutable_fields_of_mixins(&mut info)?;
        info.exception = is_builtin_exception(data) || base.as_ref().is_some_and(|b| b.exception);
        info.builtin_exception = is_builtin_exception(data);
        if let Some(b) = &base {
            info.chain.extend(&b.chain);
        }
        self.restrict_attributes(&mut info, data, base.as_deref())?;
        if let Some(builtin) = self.builtin_base(&info)? {
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

    /// The builtin type that a class of the program derives from: `dict`, `tuple`, ...
    fn builtin_base(&self, info: &ClassInfo) -> Known<Option<Box<str>>> {
        for above in &info.chain[1..] {
            if let Some(data) = self.class_data(*above)?
                && data.builtin
                && &*data.module == "__builtin__"
            {
                return Ok(Some(data.name.clone()));
            }
        }
        Ok(None)
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
            marked |= self
                .class_data(*class)?
                .is_some_and(|c| c.get(MARK).is_some());
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
    fn add_immutable_fields_of_mixins(&self, info: &mut ClassInfo) -> Known<()> {
        for c in info.mro.clone() {
            if let Some(mixin) = self.class_data(c)?.filter(ClassData::is_mixin)
                && let Some(fields) = mixin.get("_immutable_fields_")
            {
                info.immutable_fields.extend(self.names(fields)?);
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
        Ok(a == b
            || self
                .class(a)?
                .is_some_and(|c| c.mro.contains(&b) || c.chain.contains(&b)))
    }

    /// The closest common base below `object`.
    pub(crate) fn common_base(&self, a: ObjId, b: ObjId) -> Known<Option<ObjId>> {
        if a == b {
            return Ok(Some(a));
        }
        let (Some(x), Some(y)) = (self.class(a)?, self.class(b)?) else {
            return Ok(None);
        };
        Ok(x.chain.iter().find(|c| y.chain.contains(c)).copied())
    }

    /// A class attribute, along the chain of bases: where it is and its value.
    pub(crate) fn lookup(&self, class: ObjId, name: &str) -> Known<Option<(ObjId, Const)>> {
        let Some(info) = self.class(class)? else {
            return Ok(None);
        };
        for c in &info.chain {
            if let Some(i) = self.class(*c)?
                && let Some(v) = i.dict.get(name)
            {
                return Ok(Some((*c, v.clone())));
            }
        }
        Ok(None)
    }

    /// A class attribute as Python finds it, mixins among the bases: with the functions
    /// that frozen instances are bound to.
    pub(crate) fn python_lookup(&self, class: ObjId, name: &str) -> Known<Option<Const>> {
        let Some(info) = self.class(class)? else {
            return Ok(None);
        };
        for c in &info.mro {
            if let Some(ObjData::Class(data)) = self.object(*c)?.as_deref()
                && let Some(v) = data.get(name)
            {
                return Ok(Some(v.clone()));
            }
        }
        Ok(None)
    }
}

fn is_builtin_exception(c: &ClassData) -> bool {
    c.builtin && &*c.module == "exceptions"
}
