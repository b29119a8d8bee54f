//! The queries themselves. Everyone asks for them through the functions in `queries`,
//! which note it: see [`taipan_annotator::reads`].

use salsa::plumbing::AsId;
use taipan_annotator::reads::{Query, scope};

use super::*;

#[salsa::tracked(returns(clone))]
pub(super) fn rtyped_graph(db: &dyn Db, key: FuncKey) -> Outcome<LLGraph> {
    let _timed = taipan_base::timed(db);
    scope(db, Query::RtypedGraph, key.as_id(), || {
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
    })
}

#[salsa::tracked(returns(clone))]
pub(super) fn func_sym_of(db: &dyn Db, spec: Spec) -> Typed<FuncSym> {
    scope(db, Query::FuncSymOf, spec.as_id(), || {
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
    })
}

#[salsa::tracked(returns(clone))]
pub(super) fn static_data(db: &dyn Db, key: StaticKey) -> Outcome<StaticData> {
    let _timed = taipan_base::timed(db);
    scope(db, Query::StaticData, key.as_id(), || {
        let rt = RTyper::new(db, Universe::User(key.roots(db)));
        outcome(crate::statics::static_data(&rt, key.sym(db)).map_err(diagnostic))
    })
}

#[salsa::tracked(returns(clone))]
pub(super) fn struct_body(db: &dyn Db, key: LayoutKey) -> Outcome<StructBody> {
    let _timed = taipan_base::timed(db);
    scope(db, Query::StructBody, key.as_id(), || {
        let rt = RTyper::new(db, Universe::User(key.roots(db)));
        outcome(crate::layout::struct_body(&rt, key.id(db)).map_err(diagnostic))
    })
}

#[salsa::tracked(returns(clone))]
pub(super) fn class_name(db: &dyn Db, key: ClassKey) -> Arc<str> {
    scope(db, Query::ClassName, key.as_id(), || {
        if let Some(e) = builtin_exception(key.obj(db)) {
            return e.qualified().into();
        }
        let program = key.universe(db).program(db);
        match taipan_interp::object(db, Object::new(db, program, key.obj(db))).as_deref() {
            Some(ObjData::Class(c)) => format!("{}.{}", c.module, c.name).into(),
            _ => format!("{:?}", key.obj(db)).into(),
        }
    })
}

#[salsa::tracked(returns(copy))]
pub(super) fn class_base(db: &dyn Db, key: ClassKey) -> Option<ObjId> {
    scope(db, Query::ClassBase, key.as_id(), || {
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
    })
}

#[salsa::tracked(returns(clone))]
pub(super) fn vtable_levels(db: &dyn Db, key: ClassKey) -> Typed<Arc<VtableLevels>> {
    scope(db, Query::VtableLevels, key.as_id(), || {
        let rt = RTyper::new(db, key.universe(db));
        crate::statics::vtable_levels(&rt, key.obj(db)).map(Arc::new)
    })
}

#[salsa::tracked(returns(clone))]
pub(super) fn default_fields(db: &dyn Db, key: ClassKey) -> Arc<[DefaultField]> {
    scope(db, Query::DefaultFields, key.as_id(), || {
        let rt = RTyper::new(db, key.universe(db));
        crate::reprs::default_fields(&rt, key.obj(db))
    })
}

#[salsa::tracked(returns(clone))]
pub(super) fn class_attr(db: &dyn Db, key: AttrKey) -> Option<ClassAttr> {
    scope(db, Query::ClassAttr, key.as_id(), || {
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
    })
}

#[salsa::tracked(returns(clone))]
pub(super) fn bound_methods(db: &dyn Db, set: MethodSet) -> Typed<Arc<BoundMethods>> {
    scope(db, Query::BoundMethods, set.as_id(), || {
        let rt = RTyper::new(db, set.universe(db));
        crate::reprs::common_to_methods(&rt, set.descs(db)).map(Arc::new)
    })
}

#[salsa::tracked(returns(clone))]
pub(super) fn call_targets(db: &dyn Db, set: CallTargets) -> Typed<Arc<[FuncSym]>> {
    scope(db, Query::CallTargets, set.as_id(), || {
        let rt = RTyper::new(db, Universe::User(set.roots(db)));
        crate::calls::target_syms(&rt, set.targets(db))
    })
}

#[salsa::tracked(returns(copy))]
pub(super) fn class_range(db: &dyn Db, class: Class) -> (i64, i64) {
    scope(db, Query::ClassRange, class.as_id(), || {
        crate::exceptions::class_ranges(db, class.roots(db))
            .get(&class.obj(db))
            .copied()
            .unwrap_or((0, 0))
    })
}

#[salsa::tracked(returns(copy))]
pub(super) fn is_leaf(db: &dyn Db, class: Class) -> bool {
    scope(db, Query::IsLeaf, class.as_id(), || {
        let def = taipan_annotator::class_def(db, class);
        !def.name.is_empty() && def.subclasses.is_empty()
    })
}

#[salsa::tracked(returns(clone))]
pub(super) fn destructor(db: &dyn Db, class: Class) -> Typed<Option<FuncSym>> {
    scope(db, Query::Destructor, class.as_id(), || {
        let roots = class.roots(db);
        let def = taipan_annotator::class_def(db, class);
        match (def.finalizer, def.base) {
            (Some(f), _) => super::func_sym_of(db, Spec::new(db, roots, f, "")).map(Some),
            (None, Some(base)) => super::destructor(db, Class::new(db, roots, base)),
            (None, None) => Ok(None),
        }
    })
}
