//! What later runs know of this one: outcomes of tests that did not fail, under what
//! they depend on, and the ids of those that did. Tests that failed are always run.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};
use taipan_base::Db;

use crate::execute::Execution;
use crate::fingerprint::Fingerprint;
use crate::report::{TestOutcome, TestResult};
use taipan_driver::{Cache, Database, Key, KeyHasher};

/// Kind of the entries on disk.
const KIND: &str = "test outcome";
/// Slot of the warm state.
const SLOT: &str = "test outcomes";
/// File of ids of tests that failed, in the cache folder.
const LAST_FAILED: &str = "lastfailed.json";

/// Outcomes by test, in the database: the last one of each.
type Warm = HashMap<String, (Fingerprint, Execution)>;

/// An outcome on disk.
#[derive(Serialize, Deserialize)]
struct Stored {
    /// `passed`, `skipped` or `xfailed`.
    outcome: String,
    reason: String,
    seconds: f64,
}

/// Where outcomes are kept.
pub(super) struct History {
    cache: Cache,
}

/// An outcome that still holds.
pub(super) enum Known {
    /// From this process.
    Warm(Execution),
    /// From another one.
    Stored(Execution),
}

impl History {
    pub(super) fn new(db: &Database) -> History {
        History { cache: db.cache() }
    }

    fn key(id: &str, fingerprint: Fingerprint) -> Key {
        let mut h = KeyHasher::new(KIND);
        h.text(id).bytes(&fingerprint.hash);
        h.finish()
    }

    /// The outcome of a test that reaches what it reached then.
    pub(super) fn outcome(
        &self,
        db: &Database,
        id: &str,
        fingerprint: Fingerprint,
    ) -> Option<Known> {
        let found = db.warm().with(SLOT, |warm: &mut Warm| {
            let (old, execution) = warm.get(id)?;
            let is_right = *old == fingerprint && !execution.outcome.is_failure();
            is_right.then(|| execution.clone())
        });
        if let Some(execution) = found {
            return Some(Known::Warm(execution));
        }
        let bytes = self.cache.get(KIND, Self::key(id, fingerprint))?;
        let stored: Stored = serde_json::from_slice(&bytes).ok()?;
        Some(Known::Stored(Execution {
            outcome: match &*stored.outcome {
                "passed" => TestOutcome::Passed,
                "skipped" => TestOutcome::Skipped(stored.reason),
                "xfailed" => TestOutcome::ExpectedFailure(stored.reason),
                _ => return None,
            },
            traceback: Vec::new(),
            position: None,
            exit: None,
            output: Vec::new(),
            note: None,
            lines: Vec::new(),
            duration: Duration::try_from_secs_f64(stored.seconds).unwrap_or_default(),
        }))
    }

    /// Keeps an outcome: in the database, and on disk if it is no failure.
    pub(super) fn keep(
        &self,
        db: &Database,
        id: &str,
        fingerprint: Fingerprint,
        execution: &Execution,
    ) {
        db.warm().with(SLOT, |warm: &mut Warm| {
            warm.insert(id.to_owned(), (fingerprint, execution.clone()));
        });
        let (outcome, reason) = match &execution.outcome {
            TestOutcome::Passed => ("passed", ""),
            TestOutcome::Skipped(reason) => ("skipped", reason.as_str()),
            TestOutcome::ExpectedFailure(reason) => ("xfailed", reason.as_str()),
            TestOutcome::Failed(_) | TestOutcome::UnexpectedPass(_) => return,
        };
        let stored = Stored {
            outcome: outcome.to_owned(),
            reason: reason.to_owned(),
            seconds: execution.duration.as_secs_f64(),
        };
        if let Ok(bytes) = serde_json::to_vec(&stored) {
            self.cache.put(KIND, Self::key(id, fingerprint), bytes);
        }
    }

    fn last_failed_file(&self) -> Option<Utf8PathBuf> {
        Some(self.cache.folder()?.join(LAST_FAILED))
    }

    /// Ids of the tests that failed when they were last run.
    pub(super) fn last_failed(&self) -> BTreeSet<String> {
        self.last_failed_file()
            .and_then(|f| std::fs::read(f).ok())
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default()
    }

    /// Notes which tests failed and which did not. Whatever goes wrong, the next
    /// `--last-failed` knows less.
    pub(super) fn set_last_failed(&self, results: &[TestResult]) {
        let old = self.last_failed();
        let mut new = old.clone();
        for r in results {
            if r.outcome.is_failure() {
                new.insert(r.id.clone());
            } else {
                new.remove(&r.id);
            }
        }
        let Some(file) = self.last_failed_file().filter(|_| new != old) else {
            return;
        };
        let write = || -> std::io::Result<()> {
            let folder = file.parent().unwrap_or(&file);
            std::fs::create_dir_all(folder)?;
            let temporary = tempfile::NamedTempFile::new_in(folder)?;
            serde_json::to_writer(&temporary, &new)?;
            temporary.persist(&file)?;
            Ok(())
        };
        if let Err(e) = write() {
            tracing::warn!("{file} not written: {e}");
        }
    }
}
