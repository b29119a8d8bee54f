//! The projections that are read most. Everyone asks for them through the functions in
//! `queries`, which note it: see [`crate::reads`].

use std::sync::Arc;

use salsa::plumbing::AsId;
use taipan_base::{Db, Diagnostic};
use taipan_graph::{Const, ObjId};

use super::{ModuleName, Name, Object, find, image};
use crate::ObjData;
use crate::reads::{Query, scope};

/// The content of an object; None for an id that is not in the image (any more).
#[salsa::tracked]
pub(super) fn object(db: &dyn Db, key: Object) -> Option<Arc<ObjData>> {
    find(db, key.program(db), key.obj(db))
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

/// The module of that name, or why an import inside a function body failed. None if
/// nothing imported it.
#[salsa::tracked]
pub(super) fn module_named(db: &dyn Db, key: ModuleName) -> Option<Result<ObjId, Box<Diagnostic>>> {
    image(db, key.program(db))
        .modules
        .get(&**key.name(db))
        .cloned()
}
