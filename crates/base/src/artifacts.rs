//! What queries keep for later processes.

use std::sync::{Arc, OnceLock};

/// A store of results that outlive the process. A query may take its result from here
/// instead of computing it, where the key is made of everything that the result
/// depends on: then it is no input, and salsa need not know.
pub trait ArtifactStore: Send + Sync {
    /// The value of a key, if there is one. Kinds keep the keys of different queries
    /// apart.
    fn get(&self, kind: &str, key: &[u8]) -> Option<Vec<u8>>;

    /// Keeps the value of a key.
    fn put(&self, kind: &str, key: &[u8], value: Vec<u8>);

    /// Notes that the result of a query was taken from here; `key` words its key as in
    /// the log of queries.
    fn restored(&self, query: &'static str, key: &dyn Fn() -> String);

    /// Whether results are to be computed all the same and compared, for tests.
    fn verifies(&self) -> bool {
        false
    }
}

/// The place of a database for its store. Clones share it.
#[derive(Clone, Default)]
pub struct Artifacts(Arc<OnceLock<Box<dyn ArtifactStore>>>);

impl Artifacts {
    /// Puts a store there; only the first one counts.
    pub fn set(&self, store: Box<dyn ArtifactStore>) {
        let _ = self.0.set(store);
    }

    /// The store, if there is one.
    pub fn store(&self) -> Option<&dyn ArtifactStore> {
        self.0.get().map(|s| &**s)
    }
}
