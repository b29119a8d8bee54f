//! Which queries ran and which were reused.

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use salsa::{DatabaseKeyIndex, EventKind};
use taipan_base::{PassCounts, QueryClock, Step};
use taipan_language::Pass;

use crate::observer::{Observed, Steps};
use crate::spans::{RawSpan, Spans};
use crate::waves::{Wave, Waves};

/// What happened to a query.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum QueryEvent {
    /// Its function ran.
    Executed,
    /// Its old result was found to be still right.
    Validated,
    /// Its result was found in the cache on disk.
    Restored,
}

impl QueryEvent {
    /// The word in `--log-queries` files.
    pub fn name(self) -> &'static str {
        match self {
            QueryEvent::Executed => "executed",
            QueryEvent::Validated => "validated",
            QueryEvent::Restored => "restored",
        }
    }
}

/// Name, key and event of what is memoized outside of salsa.
type Note = (String, String, QueryEvent);

/// How many queries were executed and how many reused since the database was made.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct QueryCounts {
    /// Their functions ran.
    pub executed: usize,
    /// Their old results were found to be still right, or came from the cache.
    pub reused: usize,
}

#[derive(Default)]
struct Counters {
    /// Names and keys are kept.
    on: AtomicBool,
    /// What passes do is counted.
    passes: AtomicBool,
    executed: AtomicUsize,
    reused: AtomicUsize,
}

/// A log that all clones of a database share. It always counts; names and keys it
/// keeps only from [`QueryLog::record_from_now`] on.
#[derive(Clone, Default)]
pub struct QueryLog {
    counters: Arc<Counters>,
    entries: Arc<Mutex<Vec<(DatabaseKeyIndex, QueryEvent)>>>,
    notes: Arc<Mutex<Vec<Note>>>,
    passes: Arc<Mutex<BTreeMap<Pass, PassCounts>>>,
    spans: Spans,
    waves: Waves,
    observed: Observed,
}

impl QueryClock for QueryLog {
    fn begin(&self) -> Option<u64> {
        self.spans.begin_query()
    }

    fn end(&self, number: u64) {
        self.spans.end(number);
    }

    fn step(&self, kind: Step) {
        self.observed.step_of(kind);
    }

    fn counts_passes(&self) -> bool {
        self.counters.passes.load(Ordering::Relaxed)
    }

    fn passes(&self, counts: &[(Pass, PassCounts)]) {
        let mut all = self.passes.lock().unwrap_or_else(|e| e.into_inner());
        for (pass, counts) in counts {
            *all.entry(*pass).or_default() += *counts;
        }
    }
}

impl QueryLog {
    /// Turns recording on.
    pub fn record_from_now(&self) {
        self.counters.on.store(true, Ordering::Relaxed);
    }

    /// Forgets what was recorded, and that recording was on.
    pub(crate) fn begin_anew(&self) {
        self.counters.on.store(false, Ordering::Relaxed);
        self.counters.executed.store(0, Ordering::Relaxed);
        self.counters.reused.store(0, Ordering::Relaxed);
        self.take_entries();
        self.notes.lock().unwrap_or_else(|e| e.into_inner()).clear();
        self.counters.passes.store(false, Ordering::Relaxed);
        self.forget_pass_counts();
        self.observed.begin_anew();
    }

    /// Turns on the counting of what passes do to graphs.
    pub fn count_passes_from_now(&self) {
        self.counters.passes.store(true, Ordering::Relaxed);
    }

    /// What was counted of passes.
    pub fn pass_counts(&self) -> BTreeMap<Pass, PassCounts> {
        (self.passes.lock().unwrap_or_else(|e| e.into_inner())).clone()
    }

    /// Begins to count anew.
    pub(crate) fn forget_pass_counts(&self) {
        let mut counts = self.passes.lock().unwrap_or_else(|e| e.into_inner());
        counts.clear();
    }

    /// Turns on the measuring of what queries take.
    pub fn measure_from_now(&self) {
        self.spans.measure_from_now();
    }

    /// Takes what was measured.
    pub fn take_spans(&self) -> Vec<RawSpan> {
        self.spans.take()
    }

    /// Turns on the recording of what is done on all threads.
    pub fn record_waves_from_now(&self) {
        self.waves.record_from_now();
    }

    /// Takes what was done on all threads, in order.
    pub fn take_waves(&self) -> Vec<Wave> {
        self.waves.take()
    }

    pub(crate) fn waves(&self) -> &Waves {
        &self.waves
    }

    /// Who looks on.
    pub(crate) fn observed(&self) -> &Observed {
        &self.observed
    }

    /// How far the phase in progress came.
    pub fn steps(&self) -> Steps {
        self.observed.steps()
    }

    /// Runs a phase, tells who looks on, and measures it if that is wanted.
    pub(crate) fn phase<T>(&self, name: &'static str, work: impl FnOnce() -> T) -> T {
        /// Ends the phase if it is cancelled, too.
        struct Ending<'a>(&'a QueryLog, &'static str, Option<u64>);
        impl Drop for Ending<'_> {
            fn drop(&mut self) {
                if let Some(number) = self.2 {
                    self.0.spans.end(number);
                }
                self.0.observed.ended(self.1);
            }
        }
        self.observed.began(name);
        self.waves.began(name);
        let _ending = Ending(self, name, self.spans.begin_phase(name));
        work()
    }

    /// Counts so far.
    pub fn counts(&self) -> QueryCounts {
        QueryCounts {
            executed: self.counters.executed.load(Ordering::Relaxed),
            reused: self.counters.reused.load(Ordering::Relaxed),
        }
    }

    /// Records what happened to something that is memoized outside of salsa.
    pub fn note(&self, name: &str, key: &str, event: QueryEvent) {
        if self.counters.on.load(Ordering::Relaxed) {
            let note = (name.to_owned(), key.to_owned(), event);
            self.notes
                .lock()
                .unwrap_or_else(|e| e.into_inner())
                .push(note);
        }
    }

    /// Notes that the result of a query came from the cache on disk.
    pub(crate) fn record_restored(&self, query: &str, key: impl FnOnce() -> String) {
        self.counters.reused.fetch_add(1, Ordering::Relaxed);
        if self.counters.on.load(Ordering::Relaxed) {
            self.note(query, &key(), QueryEvent::Restored);
        }
    }

    pub(crate) fn record(&self, event: &salsa::Event) {
        let (entry, counter) = match event.kind {
            EventKind::WillExecute { database_key } => {
                self.spans.entered(database_key);
                (
                    (database_key, QueryEvent::Executed),
                    &self.counters.executed,
                )
            }
            EventKind::DidValidateMemoizedValue { database_key } => {
                ((database_key, QueryEvent::Validated), &self.counters.reused)
            }
            _ => return,
        };
        counter.fetch_add(1, Ordering::Relaxed);
        if !self.counters.on.load(Ordering::Relaxed) {
            return;
        }
        self.entries
            .lock()
            .unwrap_or_else(|e| e.into_inner())
            .push(entry);
    }

    /// Takes what was recorded: query name, key and event, in order of time; last what
    /// is memoized outside of salsa. A query whose result was restored counts as that
    /// only, though salsa executed it.
    /// `key_text` words the key of a query for people.
    pub fn take(
        &self,
        key_text: impl Fn(&str, salsa::Id) -> Option<String>,
    ) -> Vec<(String, String, QueryEvent)> {
        let entries = self.take_entries().into_iter();
        let mut lines: Vec<Note> = entries
            .map(|(key, event)| {
                // Attached databases print `name(Id(..))`.
                let text = format!("{key:?}");
                let (name, id) = text.split_once('(').unwrap_or((&text, ""));
                let key = key_text(name, key.key_index())
                    .unwrap_or_else(|| id.strip_suffix(')').unwrap_or(id).to_owned());
                (name.to_owned(), key, event)
            })
            .collect();
        // Only now: wording keys may run queries, which make notes.
        let notes = std::mem::take(&mut *self.notes.lock().unwrap_or_else(|e| e.into_inner()));
        let restored: HashSet<(&str, &str)> = (notes.iter())
            .filter(|(_, _, event)| *event == QueryEvent::Restored)
            .map(|(name, key, _)| (&**name, &**key))
            .collect();
        lines.retain(|(name, key, event)| {
            *event != QueryEvent::Executed || !restored.contains(&(&**name, &**key))
        });
        lines.extend(notes);
        lines
    }

    /// Takes what was recorded, as salsa names it.
    pub fn take_entries(&self) -> Vec<(DatabaseKeyIndex, QueryEvent)> {
        std::mem::take(&mut *self.entries.lock().unwrap_or_else(|e| e.into_inner()))
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
