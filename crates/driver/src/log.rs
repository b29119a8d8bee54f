//! Which queries ran and which were reused.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use salsa::{DatabaseKeyIndex, EventKind};

/// What happened to a query.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum QueryEvent {
    /// Its function ran.
    Executed,
    /// Its old result was found to be still right.
    Validated,
}

impl QueryEvent {
    /// The word in `--log-queries` files.
    pub fn name(self) -> &'static str {
        match self {
            QueryEvent::Executed => "executed",
            QueryEvent::Validated => "validated",
        }
    }
}

/// A log that all clones of a database share. Off until [`QueryLog::record_from_now`].
#[derive(Clone, Default)]
pub struct QueryLog {
    on: Arc<AtomicBool>,
    entries: Arc<Mutex<Vec<(DatabaseKeyIndex, QueryEvent)>>>,
}

impl QueryLog {
    /// Turns recording on.
    pub fn record_from_now(&self) {
        self.on.store(true, Ordering::Relaxed);
    }

    pub(crate) fn record(&self, event: &salsa::Event) {
        if !self.on.load(Ordering::Relaxed) {
            return;
        }
        let entry = match event.kind {
            EventKind::WillExecute { database_key } => (database_key, QueryEvent::Executed),
            EventKind::DidValidateMemoizedValue { database_key } => {
                (database_key, QueryEvent::Validated)
            }
            _ => return,
        };
        self.entries
            .lock()
            .unwrap_or_else(|e| e.into_inner())
            .push(entry);
    }

    /// Takes what was recorded: query name, key and event, in order of time.
    /// `key_text` words the key of a query for people.
    pub fn take(
        &self,
        key_text: impl Fn(&str, salsa::Id) -> Option<String>,
    ) -> Vec<(String, String, QueryEvent)> {
        let entries = std::mem::take(&mut *self.entries.lock().unwrap_or_else(|e| e.into_inner()));
        entries
            .into_iter()
            .map(|(key, event)| {
                // Attached databases print `name(Id(..))`.
                let text = format!("{key:?}");
                let (name, id) = text.split_once('(').unwrap_or((&text, ""));
                let key = key_text(name, key.key_index())
                    .unwrap_or_else(|| id.strip_suffix(')').unwrap_or(id).to_owned());
                (name.to_owned(), key, event)
            })
            .collect()
    }

    /// How often each query was executed and validated, by name; empties the log.
    pub fn take_counts(&self) -> BTreeMap<(String, QueryEvent), usize> {
        let mut counts = BTreeMap::new();
        for (name, _, event) in self.take(|_, _| Some(String::new())) {
            *counts.entry((name, event)).or_default() += 1;
        }
        counts
    }
}
