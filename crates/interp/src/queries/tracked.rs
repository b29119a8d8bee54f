//! The projections that are read most. Everyone asks for them through the functions in
//! `queries`, which note it: see [`crate::reads`].

use std::sync::Arc;

use salsa::plumbing::AsId;
use taipan_base::{Db, Diagnostic, Program};
use taipan_graph::{Const, ObjId};

use super::{MemoCall, ModuleName, Name, Object, find, image, memo_answer};
use crate::memo_changes::note_call;
use crate::names::Names;
use crate::reads::{Query, scope};
use crate::{ClassData, ObjData};

/// The content of an object; None for an id that is not in the image (any more).
#[salsa::tracked]
pub(super) fn object(db: &dyn Db, key: Object) -> Option<Arc<ObjData>> {
    find(db, key.program(db), key.obj(db))
}

/// What a call after import time came to.
#[salsa::tracked]
pub(super) fn memo_call(db: &dyn Db, key: MemoCall) -> Result<Const, Box<Diagnostic>> {
    let answer = memo_answer(db, key);
    note_call(db, key, answer);
    let answer = answer.as_ref();
    answer.map(|a| a.value.clone()).map_err(Clone::clone)
}

/// A global of a module.
#[salsa::tracked]
pub(super) fn module_global(db: &dyn Db, key: Name) -> Option<Const> {
    let image = image(db, key.program(db));
    image
        .globals
        .get(&key.obj(db))?
        .get(&**key.name(db))
        .cloned()
}

/// A class attribute, found along the method resolution order: the class that has
/// it, and its value.
#[salsa::tracked]
pub(super) fn class_attr(db: &dyn Db, key: Name) -> Option<(ObjId, Const)> {
    scope(db, Query::ImageClassAttr, key.as_id(), || {
        let program = key.program(db);
        let class = find(db, program, key.obj(db))?;
        let ObjData::Class(class) = &*class else {
            return None;
        };
        class
            .mro
            .iter()
            .find_map(|c| match &*find(db, program, *c)? {
                ObjData::Class(d) => Some((*c, d.get(key.name(db))?.clone())),
                _ => None,
            })
    })
}

/// So many classes are looked at one by one.
const NEAR: usize = 32;

/// A class attribute in RPython's eyes.
#[salsa::tracked]
pub(super) fn desc_attr(db: &dyn Db, key: Name) -> Option<Const> {
    scope(db, Query::DescAttr, key.as_id(), || {
        let program = key.program(db);
        let name: &str = key.name(db);
        let mut at = Some(key.obj(db));
        for level in 1.. {
            let class = at?;
            // In a deep hierarchy most names are far above, or nowhere.
            if level % NEAR == 0
                && !super::names_above(db, Object::new(db, program, class)).may_have(name)
            {
                return None;
            }
            let data = find(db, program, class)?;
            let ObjData::Class(class) = &*data else {
                return None;
            };
            let own = class.get(name).cloned();
            if let Some(c) = own.or_else(|| accessor(db, program, class, name)) {
                return Some(c);
            }
            if let Some(c) = class.mixed_in(name) {
                return Some(c.clone());
            }
            at = regular_base(db, program, class);
        }
        None
    })
}

/// The first base class that is no mixin.
fn regular_base(db: &dyn Db, program: Program, class: &ClassData) -> Option<ObjId> {
    let is_regular = |b: &&ObjId| match find(db, program, **b).as_deref() {
        Some(ObjData::Class(base)) => !base.is_mixin(),
        _ => false,
    };
    class.bases.iter().find(is_regular).copied()
}

/// Which names a class and its bases have.
#[salsa::tracked(returns(clone))]
pub(super) fn names_above(db: &dyn Db, key: Object) -> Names {
    scope(db, Query::NamesAbove, key.as_id(), || {
        let program = key.program(db);
        let mut near = Vec::new();
        let mut at = Some(key.obj(db));
        while let Some(class) = at
            && near.len() < NEAR
        {
            let Some(data) = find(db, program, class) else {
                break;
            };
            let ObjData::Class(class) = &*data else {
                break;
            };
            at = regular_base(db, program, class);
            near.push(data);
        }
        let far = at.filter(|_| near.len() == NEAR);
        let mut names = far.map_or_else(Names::default, |c| {
            super::names_above(db, Object::new(db, program, c))
        });
        for data in &near {
            if let ObjData::Class(class) = &**data {
                let own = class.dict.iter().chain(&class.mixed_in);
                own.for_each(|(name, _)| names.insert(name));
            }
        }
        names
    })
}

/// The function behind `x__getter__` or `x__setter__`, where a class has a property `x`.
fn accessor(db: &dyn Db, program: Program, class: &ClassData, name: &str) -> Option<Const> {
    let (property, getter) = match name.strip_suffix("__getter__") {
        Some(property) => (property, true),
        None => (name.strip_suffix("__setter__")?, false),
    };
    let Some(Const::Obj(property)) = class.get(property) else {
        return None;
    };
    match &*find(db, program, *property)? {
        ObjData::Property { fget, fset, .. } => {
            let f = if getter { fget } else { fset };
            (*f != Const::None).then(|| f.clone())
        }
        _ => None,
    }
}

/// The module of that name, or why an import inside a function body failed. None if
/// nothing imported it.
#[salsa::tracked]
pub(super) fn module_named(db: &dyn Db, key: ModuleName) -> Option<Result<ObjId, Box<Diagnostic>>> {
    image(db, key.program(db))
        .modules
        .get(&**key.name(db))
        .cloned()
}
