//! Objects that import time does not make: nested functions and the classes behind
//! generators, which exist because the flow space met them.
//!
//! The id of such an object is a hash of what it is made from, so its content never
//! changes and asking for it is not a dependency: the table here may live outside
//! salsa's. Whoever has the id has got it from a flow graph, which defined it.

use std::any::Any;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use taipan_base::Db;
use taipan_graph::ObjId;

use crate::ObjData;

type Table = FxHashMap<ObjId, Arc<ObjData>>;

fn with_table<R>(db: &dyn Db, f: impl FnOnce(&mut Table) -> R) -> R {
    let slot = db.warm().slot("synthetic objects");
    let mut slot = slot.lock().unwrap_or_else(|e| e.into_inner());
    let any = slot.get_or_insert_with(|| Box::new(Table::default()) as Box<dyn Any + Send>);
    match any.downcast_mut() {
        Some(table) => f(table),
        None => f(&mut Table::default()),
    }
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
