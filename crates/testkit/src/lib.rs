//! What tests share: a database in memory, the fixture language, asserts on the log of
//! executed queries, damage to texts, tests of passes that are files, and times of tests.
//!
//! **Architecture invariants.** Used by tests only. Stands on `base`, `prelude` and `fuzz`
//! alone, so that the tests of every crate can use it.

mod damage;
mod flow_files;
mod graphs;
mod trial;

pub use damage::{damaged, edited, slightly_damaged};
pub use taipan_fuzz as fuzz;
pub use trial::timed_trial;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use camino::{Utf8Path, Utf8PathBuf};
pub use flow_files::check_flow_files;
pub use graphs::{Numbers, random_graph, with_ends};
use taipan_base::{Db, File, Files, MemorySystem, Program, System, WarmState, sync};

/// A database over files in memory that logs which queries execute.
#[salsa::db]
#[derive(Clone)]
pub struct TestDb {
    storage: salsa::Storage<Self>,
    system: Arc<MemorySystem>,
    files: Files,
    warm: WarmState,
    log: Arc<Mutex<Vec<String>>>,
}

#[salsa::db]
impl salsa::Database for TestDb {}

#[salsa::db]
impl Db for TestDb {
    fn files(&self) -> &Files {
        &self.files
    }

    fn system(&self) -> &dyn System {
        &*self.system
    }

    fn warm(&self) -> &WarmState {
        &self.warm
    }

    fn fork(&self) -> Box<dyn Db> {
        Box::new(self.clone())
    }
}

impl Default for TestDb {
    fn default() -> Self {
        let log: Arc<Mutex<Vec<String>>> = Arc::default();
        let sink = log.clone();
        TestDb {
            storage: salsa::Storage::new(Some(Box::new(move |event| {
                if let salsa::EventKind::WillExecute { database_key } = event.kind {
                    sink.lock().unwrap().push(format!("{database_key:?}"));
                }
            }))),
            system: Arc::new(MemorySystem::new(taipan_prelude::SHIPPED)),
            files: Files::default(),
            warm: WarmState::default(),
            log,
        }
    }
}

impl TestDb {
    /// A database with the files of a fixture. A fixture is either one source text,
    /// which becomes `/main.py`, or several, each after a line `#- /path.py`.
    pub fn with_fixture(fixture: &str) -> TestDb {
        let db = TestDb::default();
        for (path, text) in split_fixture(fixture) {
            db.system.write(path, &text);
        }
        db
    }

    /// The program whose target is `/main.py`.
    pub fn program(&self) -> Program {
        Program::new(self, "/main.py".into(), vec![], 10_000_000)
    }

    /// A file.
    pub fn file(&self, path: &str) -> File {
        self.files.get(self, Utf8Path::new(path))
    }

    /// Replaces a file's text, as an editor would.
    pub fn edit(&mut self, path: &str, text: &str) {
        self.system.write(path, text);
        sync(self, &[Utf8PathBuf::from(path)]);
    }

    /// Queries executed since the last call: name and how often, with salsa's key
    /// numbers left out, sorted.
    pub fn take_log(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for line in self.log.lock().unwrap().drain(..) {
            let name = line.split('(').next().unwrap_or(&line).to_owned();
            *counts.entry(name).or_default() += 1;
        }
        counts
    }
}

/// Files of a fixture, with the margin that all lines share taken away.
pub fn split_fixture(fixture: &str) -> Vec<(String, String)> {
    let fixture = unindent(fixture);
    let mut files: Vec<(String, String)> = Vec::new();
    for line in fixture.split_inclusive('\n') {
        if let Some(path) = line.strip_prefix("#- ") {
            files.push((path.trim().to_owned(), String::new()));
        } else {
            if files.is_empty() {
                files.push(("/main.py".to_owned(), String::new()));
            }
            files.last_mut().expect("one was pushed").1.push_str(line);
        }
    }
    files
}

fn unindent(text: &str) -> String {
    let text = text.strip_prefix('\n').unwrap_or(text);
    let margin = text
        .lines()
        .filter(|l| !l.trim().is_empty())
        .map(|l| l.len() - l.trim_start().len())
        .min()
        .unwrap_or(0);
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        out.push_str(if line.trim().is_empty() {
            line.trim_start_matches(' ')
        } else {
            &line[margin..]
        });
    }
    out
}
