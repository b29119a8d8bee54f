//! The queries of this crate and their keys.

#![allow(missing_docs, reason = "salsa generates undocumented accessors")]

use std::sync::Arc;

use taipan_annotator::{
    Attribute, Class, ClassAttributes, Descs, HelperKey, Roots, SomeKind, SomeValue, Spec, Target,
};
use taipan_base::{Db, Diagnostic, Program, noted};
use taipan_graph::ObjId;
use taipan_interp::{ObjData, Object, named_id};
use taipan_lltype::{
    FuncKind, FuncSym, FuncType, HelperArg, LLGraph, LLType, StaticData, StaticSym, StructBody,
    StructId, StructType, TypeKind,
};

use crate::exceptions::{builtin_exception, forced_attributes};
use crate::helper_cache::kept;
use crate::reprs::BoundMethods;
use crate::rtyper::helper_arg_type;
use crate::statics::VtableLevels;
use crate::{RTyper, Typed, TyperError, Universe};

/// What a low-level function is made from.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum FuncKeyKind {
    /// A function of the user's program.
    User(Spec),
    /// A prelude helper.
    Helper(HelperKey),
    /// A graph that this crate builds for the user's program.
    Synth(Roots, FuncSym),
}

/// A low-level function: the key of all queries from here to the back ends.
#[salsa::interned(unsafe(no_lifetime), revisions = usize::MAX, debug)]
pub struct FuncKey {
    /// What it is made from.
    #[returns(ref)]
    pub kind: FuncKeyKind,
}

/// A piece of prebuilt data of a program.
#[salsa::interned(unsafe(no_lifetime), revisions = usize::MAX, debug)]
pub struct StaticKey {
    /// Whose it is.
    #[returns(copy)]
    pub roots: Roots,
    /// Its name.
    #[returns(ref)]
    pub sym: StaticSym,
}

/// A struct whose fields stand elsewhere.
#[salsa::interned(unsafe(no_lifetime), revisions = usize::MAX, debug)]
pub struct LayoutKey {
    /// Whose it is.
    #[returns(copy)]
    pub roots: Roots,
    /// Its name.
    #[returns(ref)]
    pub id: StructId,
}

/// A class in a universe.
#[salsa::interned(unsafe(no_lifetime), revisions = usize::MAX, debug)]
pub struct ClassKey {
    /// Whose it is.
    #[returns(copy)]
    pub universe: Universe,
    /// The class.
    #[returns(copy)]
    pub obj: ObjId,
}

/// An attribute name on instances of a class.
#[salsa::interned(unsafe(no_lifetime), revisions = usize::MAX, debug)]
pub struct AttrKey {
    /// The class.
    #[returns(copy)]
    pub class: ClassKey,
    /// The attribute.
    #[returns(ref)]
    pub name: Box<str>,
}

/// A set of bound methods.
#[salsa::interned(unsafe(no_lifetime), revisions = usize::MAX, debug)]
pub struct MethodSet {
    /// Whose classes they are of.
    #[returns(copy)]
    pub universe: Universe,
    /// The methods.
    #[returns(ref)]
    pub descs: Descs,
}

/// What calls of one set of functions may reach.
#[salsa::interned(unsafe(no_lifetime), revisions = usize::MAX, debug)]
pub struct CallTargets {
    /// Whose functions they are.
    #[returns(copy)]
    pub roots: Roots,
    /// The functions, each once.
    #[returns(ref)]
    pub targets: Arc<[Target]>,
}

/// An attribute of instances: its name, the class that declares it, and what it holds.
pub(crate) type DefaultField = (Arc<str>, ObjId, SomeValue);

/// Where an attribute of instances lives, and what it holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClassAttr {
    /// The class that declares it.
    pub owner: ObjId,
    /// Its annotation.
    pub value: SomeValue,
    /// It lives in the vtable.
    pub readonly: bool,
}

/// The key of a function that a graph refers to by name; none for external ones.
pub fn func_key(db: &dyn Db, roots: Roots, sym: &FuncSym) -> Option<FuncKey> {
    let kind = match sym.kind() {
        FuncKind::User { func, spec, .. } => {
            FuncKeyKind::User(Spec::new(db, roots, *func, spec.clone()))
        }
        FuncKind::Helper { name, args } => FuncKeyKind::Helper(HelperKey::new(
            db,
            db.files().prelude(db),
            name.clone(),
            args.clone(),
        )),
        FuncKind::Synth { .. } => FuncKeyKind::Synth(roots, sym.clone()),
        FuncKind::External { .. } => return None,
    };
    Some(FuncKey::new(db, kind))
}

/// What a query of this crate answers: shared, so that handing it on is free.
pub type Outcome<T> = Result<Arc<T>, Diagnostic>;

fn outcome<T>(result: Result<T, Diagnostic>) -> Outcome<T> {
    result.map(Arc::new)
}

fn diagnostic(e: TyperError) -> Diagnostic {
    e.diagnostic(None)
}

noted! {
    /// A function in low-level form. Depends on its own annotation, on the signatures of
    /// what it calls, and on the attributes, lists and dicts that it uses; never on
    /// another function's body.
    pub fn rtyped_graph(db, key: FuncKey) -> Outcome<LLGraph> {
        let _timed = taipan_base::timed(db);
        let result = match key.kind(db) {
            FuncKeyKind::User(spec) => crate::specialize::user_graph(db, *spec),
            FuncKeyKind::Helper(helper) => kept(db, "rtyped_graph", *helper, || {
                crate::specialize::helper_graph(db, *helper)
            }),
            FuncKeyKind::Synth(roots, sym) => {
                let rt = RTyper::new(db, Universe::User(*roots));
                crate::synth::build(&rt, sym).map_err(diagnostic)
            }
        };
        outcome(result)
    }
}

noted! {
    /// The name of a function of the program, with its low-level type.
    pub fn func_sym_of(db, spec: Spec) -> Typed<FuncSym> {
        let roots = spec.roots(db);
        let rt = RTyper::new(db, Universe::User(roots));
        let sig = taipan_annotator::signature(db, spec);
        let mut args = Vec::with_capacity(sig.args.len());
        for s in &sig.args {
            args.push(rt.getrepr(s)?.lowleveltype());
        }
        let result = rt.getrepr(&sig.result)?.lowleveltype();
        let func = spec.func(db);
        let name = function_name(db, rt.program(), func);
        Ok(FuncSym::new(
            FuncKind::User {
                func,
                spec: spec.key(db).clone(),
                name,
            },
            FuncType { args, result },
        ))
    }
}

fn function_name(db: &dyn Db, program: Program, func: ObjId) -> Arc<str> {
    match taipan_interp::object(db, Object::new(db, program, func)).as_deref() {
        Some(ObjData::Function(f)) => format!("{}.{}", f.module, f.code.qualname(db)).into(),
        _ => format!("{func:?}").into(),
    }
}

/// The name of a prelude helper, with the type that annotating it gives.
#[salsa::tracked(returns(clone))]
pub fn helper_sym_of(db: &dyn Db, key: HelperKey) -> Typed<FuncSym> {
    kept(db, "helper_sym_of", key, || helper_sym(db, key))
}

fn helper_sym(db: &dyn Db, key: HelperKey) -> Typed<FuncSym> {
    let rt = RTyper::new(db, Universe::Prelude(key.prelude(db)));
    let annotation = taipan_annotator::annotate_helper(db, key);
    if let Some(d) = &annotation.broken {
        return Err(TyperError::with_code(
            d.code,
            format!("in prelude helper {}: {}", key.name(db), d.message),
        ));
    }
    if !annotation.reached[annotation.graph.startblock.index()] {
        return Err(TyperError::internal(format!(
            "there is no prelude helper {}",
            key.name(db)
        )));
    }
    let s = &annotation.signature.result;
    let result = match s.kind {
        SomeKind::None | SomeKind::Impossible => *taipan_lltype::VOID,
        _ => rt.getrepr(s)?.lowleveltype(),
    };
    let args: &Arc<[HelperArg]> = key.args(db);
    Ok(FuncSym::new(
        FuncKind::Helper {
            name: key.name(db).clone(),
            args: args.clone(),
        },
        FuncType {
            args: args.iter().map(helper_arg_type).collect(),
            result,
        },
    ))
}

noted! {
    /// Contents of prebuilt data.
    pub fn static_data(db, key: StaticKey) -> Outcome<StaticData> {
        let _timed = taipan_base::timed(db);
        let rt = RTyper::new(db, Universe::User(key.roots(db)));
        outcome(crate::statics::static_data(&rt, key.sym(db)).map_err(diagnostic))
    }
}

noted! {
    /// Fields of a struct whose body is not inline.
    pub fn struct_body(db, key: LayoutKey) -> Outcome<StructBody> {
        let _timed = taipan_base::timed(db);
        let rt = RTyper::new(db, Universe::User(key.roots(db)));
        outcome(crate::layout::struct_body(&rt, key.id(db)).map_err(diagnostic))
    }
}

noted! {
    /// `module.Class`.
    pub fn class_name(db, key: ClassKey) -> Arc<str> {
        if let Some(e) = builtin_exception(key.obj(db)) {
            return e.qualified().into();
        }
        let program = key.universe(db).program(db);
        match taipan_interp::object(db, Object::new(db, program, key.obj(db))).as_deref() {
            Some(ObjData::Class(c)) => format!("{}.{}", c.module, c.name).into(),
            _ => format!("{:?}", key.obj(db)).into(),
        }
    }
}

noted! {
    /// The base class as the annotator sees it; none directly below `object`.
    pub fn class_base(db, key: ClassKey) -> Option<ObjId> {
        let obj = key.obj(db);
        if let Universe::User(roots) = key.universe(db) {
            let def = taipan_annotator::class_def(db, Class::new(db, roots, obj));
            if !def.name.is_empty() {
                return def.base;
            }
        }
        if let Some(e) = builtin_exception(obj) {
            return e.rpython_base().map(crate::exceptions::exception_id);
        }
        let program = key.universe(db).program(db);
        let data = taipan_interp::object(db, Object::new(db, program, obj));
        let Some(ObjData::Class(c)) = data.as_deref() else {
            return None;
        };
        let object = named_id("__builtin__.object");
        c.bases.first().copied().filter(|b| *b != object)
    }
}

noted! {
    /// What the vtables of a class and its bases declare.
    pub(crate) fn vtable_levels(db, key: ClassKey) -> Typed<Arc<VtableLevels>> {
        let rt = RTyper::new(db, key.universe(db));
        crate::statics::vtable_levels(&rt, key.obj(db)).map(Arc::new)
    }
}

noted! {
    /// The attributes of instances of a class that a class attribute may be the default of, by name.
    pub(crate) fn default_fields(db, key: ClassKey) -> Arc<[DefaultField]> {
        let rt = RTyper::new(db, key.universe(db));
        crate::reprs::default_fields(&rt, key.obj(db))
    }
}

/// The attributes that a class declares. Those of builtin exceptions are there in
/// every universe, so that helpers can make instances of them.
pub(crate) fn class_attributes(db: &dyn Db, class: ClassKey) -> Arc<ClassAttributes> {
    let mut attrs = match class.universe(db) {
        Universe::User(roots) => {
            taipan_annotator::class_attributes(db, Class::new(db, roots, class.obj(db)))
        }
        Universe::Prelude(_) => Arc::default(),
    };
    for (name, value) in forced_attributes(class.obj(db)) {
        if !attrs.attrs.contains_key(name) {
            let readonly = false;
            Arc::make_mut(&mut attrs)
                .attrs
                .insert(name.into(), Attribute { value, readonly });
        }
    }
    attrs
}

noted! {
    /// An attribute of instances of a class, looked up along its bases.
    pub fn class_attr(db, key: AttrKey) -> Option<ClassAttr> {
        let class = key.class(db);
        let attrs = class_attributes(db, class);
        if let Some(a) = attrs.attrs.get(&**key.name(db)) {
            return Some(ClassAttr {
                owner: class.obj(db),
                value: a.value.clone(),
                readonly: a.readonly,
            });
        }
        let base = class_base(db, class)?;
        let up = AttrKey::new(
            db,
            ClassKey::new(db, class.universe(db), base),
            key.name(db),
        );
        class_attr(db, up)
    }
}

noted! {
    /// What the methods of a set have in common.
    pub(crate) fn bound_methods(db, set: MethodSet) -> Typed<Arc<BoundMethods>> {
        let rt = RTyper::new(db, set.universe(db));
        crate::reprs::common_to_methods(&rt, set.descs(db)).map(Arc::new)
    }
}

noted! {
    /// The names of the functions that a call may reach.
    pub(crate) fn call_targets(db, set: CallTargets) -> Typed<Arc<[FuncSym]>> {
        let rt = RTyper::new(db, Universe::User(set.roots(db)));
        crate::calls::target_syms(&rt, set.targets(db))
    }
}

pub(crate) fn instance_struct(name: &str, class: ObjId) -> LLType {
    LLType::new(TypeKind::Struct(StructType {
        name: name.into(),
        gc: true,
        id: StructId::Instance(class),
    }))
}

pub(crate) fn vtable_struct(name: &str, class: ObjId) -> LLType {
    LLType::new(TypeKind::Struct(StructType {
        name: format!("{name}_vtable").into(),
        gc: false,
        id: StructId::Vtable(class),
    }))
}

noted! {
    /// `subclassrange_min` and `subclassrange_max` of a class.
    pub fn class_range(db, class: Class) -> (i64, i64) {
        crate::exceptions::class_ranges(db, class.roots(db))
            .get(&class.obj(db))
            .copied()
            .unwrap_or((0, 0))
    }
}

noted! {
    /// Whether a class in use has no subclasses in use.
    pub fn is_leaf(db, class: Class) -> bool {
        let def = taipan_annotator::class_def(db, class);
        !def.name.is_empty() && def.subclasses.is_empty()
    }
}

noted! {
    /// What runs when an instance of a class in use dies: its `__del__` or that of a base
    /// class.
    pub fn destructor(db, class: Class) -> Typed<Option<FuncSym>> {
        let roots = class.roots(db);
        let def = taipan_annotator::class_def(db, class);
        match (def.finalizer, def.base) {
            (Some(f), _) => func_sym_of(db, Spec::new(db, roots, f, "")).map(Some),
            (None, Some(base)) => destructor(db, Class::new(db, roots, base)),
            (None, None) => Ok(None),
        }
    }
}
