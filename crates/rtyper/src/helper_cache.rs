//! Results about helpers that later processes take over.
//!
//! What becomes of a helper depends on nothing but its name, the low-level types that it
//! is specialised by, and the sources that ship with the binary. So these are all there
//! is to their keys, and every program that is compiled shares them.

use serde::Serialize;
use serde::de::DeserializeOwned;
use taipan_annotator::HelperKey;
use taipan_base::Db;
use taipan_lltype::{from_bytes, to_bytes};

/// The result of a query about a helper: from the store, else computed and kept. What
/// fails is not kept.
pub(crate) fn kept<T, E>(
    db: &dyn Db,
    query: &'static str,
    key: HelperKey,
    compute: impl FnOnce() -> Result<T, E>,
) -> Result<T, E>
where
    T: Serialize + DeserializeOwned + PartialEq,
{
    let Some(store) = db.artifacts() else {
        return compute();
    };
    let Some(id) = to_bytes(&(key.name(db), key.args(db))) else {
        return compute();
    };
    let found = store.get(query, &id).and_then(|b| from_bytes::<T>(&b));
    match found {
        Some(found) if store.verifies() => {
            let computed = compute()?;
            assert!(found == computed, "the cached {query} differs");
            Ok(computed)
        }
        Some(found) => {
            store.restored(query, &|| format!("{}{:?}", key.name(db), key.args(db)));
            Ok(found)
        }
        None => {
            let computed = compute()?;
            if let Some(bytes) = to_bytes(&computed) {
                store.put(query, &id, bytes);
            }
            Ok(computed)
        }
    }
}
