//! The database.

use std::sync::Arc;

use taipan_base::{Db, Files, OsSystem, System, WarmState};

use crate::QueryLog;

/// The database over the files of the machine. Clones share everything and may be
/// used on other threads; none may be alive when an input is set.
#[salsa::db]
#[derive(Clone)]
pub struct Database {
    storage: salsa::Storage<Self>,
    system: Arc<dyn System>,
    files: Files,
    warm: WarmState,
    log: QueryLog,
}

#[salsa::db]
impl salsa::Database for Database {}

#[salsa::db]
impl Db for Database {
    fn files(&self) -> &Files {
        &self.files
    }

    fn system(&self) -> &dyn System {
        &*self.system
    }

    fn warm(&self) -> &WarmState {
        &self.warm
    }
}

impl Default for Database {
    fn default() -> Self {
        Database::new(Arc::new(OsSystem::new(taipan_prelude::SHIPPED)))
    }
}

impl Database {
    /// A database over a system, with nothing known yet.
    pub fn new(system: Arc<dyn System>) -> Self {
        let log = QueryLog::default();
        let sink = log.clone();
        let storage = salsa::Storage::new(Some(Box::new(move |event| sink.record(&event))));
        Database {
            storage,
            system,
            files: Files::default(),
            warm: WarmState::default(),
            log,
        }
    }

    /// What queries did so far, if recording is on.
    pub fn log(&self) -> &QueryLog {
        &self.log
    }
}
