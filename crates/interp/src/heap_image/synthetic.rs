//! Objects that import time does not make: nested functions and the classes behind
//! generators, which exist because the flow space met them.
//!
//! The id of such an object is a hash of what it is made from, so its content never
//! changes and asking for it is not a dependency: the table here may live outside
//! salsa's. Whoever has the id has got it from a flow graph, which defined it.

use std::sync::{Arc, LazyLock, Mutex};

use rustc_hash::FxHashMap;
use taipan_base::Db;
use taipan_graph::ObjId;
use taipan_heap::StaticTable;
use taipan_lltype::LLType;

use crate::ObjData;
use crate::heap_image::heap_to_image::lltype_id;

/// The low-level types that [`type_object`] was asked for.
static TYPES: LazyLock<Mutex<FxHashMap<ObjId, LLType>>> = LazyLock::new(Mutex::default);

/// The table of [`type_object`], which databases rely on.
pub fn type_objects_table() -> StaticTable {
    StaticTable::of(&TYPES)
}

/// The object that a low-level type is, in the image or not. Functions that are called
/// while compiling know it.
pub fn type_object(t: LLType) -> ObjId {
    let id = lltype_id(t);
    let mut types = TYPES.lock().unwrap_or_else(|e| e.into_inner());
    types.insert(id, t);
    id
}

/// The type behind an answer of [`type_object`].
pub(crate) fn type_of_object(id: ObjId) -> Option<LLType> {
    let types = TYPES.lock().unwrap_or_else(|e| e.into_inner());
    types.get(&id).copied()
}

type Table = FxHashMap<ObjId, Arc<ObjData>>;

fn with_table<R>(db: &dyn Db, f: impl FnOnce(&mut Table) -> R) -> R {
    db.warm().with("synthetic objects", f)
}

/// Makes an object known. `id` must be a [`crate::stable_id`] of all that `data` is made
/// from.
pub fn define_synthetic(db: &dyn Db, id: ObjId, data: ObjData) {
    with_table(db, |t| t.insert(id, Arc::new(data)));
}

/// Such an object.
pub(crate) fn synthetic(db: &dyn Db, id: ObjId) -> Option<Arc<ObjData>> {
    with_table(db, |t| t.get(&id).cloned())
}
