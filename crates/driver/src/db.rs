//! The database.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use camino::Utf8PathBuf;
use taipan_base::{Db, Files, OsSystem, Program, System, WarmState};

use crate::{QueryEvent, QueryLog};

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
    programs: Arc<Mutex<BTreeMap<ProgramKey, Program>>>,
}

/// Target, folders to import from, step limit.
type ProgramKey = (Utf8PathBuf, Vec<Utf8PathBuf>, u64);

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
            programs: Arc::default(),
        }
    }

    /// The program with these inputs: always the same one for the same inputs.
    pub fn program(&self, target: Utf8PathBuf, path: Vec<Utf8PathBuf>, steps: u64) -> Program {
        let mut programs = self.programs.lock().unwrap_or_else(|e| e.into_inner());
        *programs
            .entry((target.clone(), path.clone(), steps))
            .or_insert_with(|| Program::new(self, target, path, steps))
    }

    /// What queries did so far, if recording is on.
    pub fn log(&self) -> &QueryLog {
        &self.log
    }

    /// What queries did since the last call: name, key and event, in order of time.
    pub fn take_log(&self) -> Vec<(String, String, QueryEvent)> {
        salsa::attach(self, || {
            self.log
                .take(|name, id| crate::keys::key_text(self, name, id))
        })
    }
}
