//! When queries ran, and how long: what the timeline of `taipan explore` shows.
//!
//! Salsa tells when the function of a query is entered; queries that do work say themselves
//! when they are done ([`taipan_base::timed`]). What other queries take counts for those
//! that ask for them. A database that nobody measures looks at one flag per query.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use salsa::DatabaseKeyIndex;
use serde::Serialize;

thread_local! {
    /// The query whose function was entered last.
    static ENTERED: Cell<Option<DatabaseKeyIndex>> = const { Cell::new(None) };
    /// What is in progress, innermost last.
    static OPEN: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
    /// The number of this thread.
    static THREAD: Cell<Option<u32>> = const { Cell::new(None) };
}

/// Numbers of threads, in the order in which they first ran a query.
static THREADS: AtomicU64 = AtomicU64::new(0);

/// A span of time.
#[derive(Clone, Debug)]
pub struct RawSpan {
    number: u64,
    what: What,
    thread: u32,
    start: Duration,
    took: Option<Duration>,
    parent: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Phase(&'static str),
    Query(DatabaseKeyIndex),
}

/// A span of time in words.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct QuerySpan {
    /// Name of the query, or of a phase.
    pub name: String,
    /// The query's key; none of phases.
    pub key: Option<String>,
    /// Which thread it ran on, from 0.
    pub thread: u32,
    /// Microseconds from the first span.
    pub start: u64,
    /// How many it took.
    pub took: u64,
    /// What waited for it: its place among the spans.
    pub parent: Option<usize>,
}

/// Measures; all clones share what they measured.
#[derive(Clone, Default)]
pub(crate) struct Spans(Arc<Shared>);

#[derive(Default)]
struct Shared {
    on: AtomicBool,
    /// When measuring began.
    epoch: OnceLock<Instant>,
    next: AtomicU64,
    taken: Mutex<Taken>,
}

#[derive(Default)]
struct Taken {
    spans: Vec<RawSpan>,
    /// The phase in progress: what other threads do meanwhile is done for it.
    phases: Vec<u64>,
}

impl Spans {
    pub(crate) fn measure_from_now(&self) {
        self.0.epoch.get_or_init(Instant::now);
        self.0.on.store(true, Ordering::Relaxed);
    }

    /// The function of a query is entered on this thread.
    pub(crate) fn entered(&self, query: DatabaseKeyIndex) {
        if self.0.on.load(Ordering::Relaxed) {
            ENTERED.set(Some(query));
        }
    }

    /// The query that was entered last begins.
    pub(crate) fn begin_query(&self) -> Option<u64> {
        if !self.0.on.load(Ordering::Relaxed) {
            return None;
        }
        let query = ENTERED.take()?;
        self.begin(What::Query(query))
    }

    pub(crate) fn begin_phase(&self, name: &'static str) -> Option<u64> {
        if !self.0.on.load(Ordering::Relaxed) {
            return None;
        }
        let number = self.begin(What::Phase(name))?;
        self.taken().phases.push(number);
        Some(number)
    }

    fn begin(&self, what: What) -> Option<u64> {
        let start = self.0.epoch.get()?.elapsed();
        let number = self.0.next.fetch_add(1, Ordering::Relaxed);
        let thread = THREAD.get().unwrap_or_else(|| {
            let n = THREADS.fetch_add(1, Ordering::Relaxed) as u32;
            THREAD.set(Some(n));
            n
        });
        let inside = OPEN.with_borrow(|open| open.last().copied());
        let mut taken = self.taken();
        let parent = inside.or_else(|| taken.phases.last().copied());
        taken.spans.push(RawSpan {
            number,
            what,
            thread,
            start,
            took: None,
            parent,
        });
        drop(taken);
        OPEN.with_borrow_mut(|open| open.push(number));
        Some(number)
    }

    pub(crate) fn end(&self, number: u64) {
        OPEN.with_borrow_mut(|open| {
            if let Some(at) = open.iter().rposition(|n| *n == number) {
                open.truncate(at);
            }
        });
        let Some(now) = self.0.epoch.get().map(Instant::elapsed) else {
            return;
        };
        let mut taken = self.taken();
        taken.phases.retain(|n| *n != number);
        // What began before the last taking is not there any more.
        if let Ok(at) = taken.spans.binary_search_by_key(&number, |s| s.number) {
            let span = &mut taken.spans[at];
            span.took = Some(now.saturating_sub(span.start));
        } else if let Some(span) = taken.spans.iter_mut().find(|s| s.number == number) {
            span.took = Some(now.saturating_sub(span.start));
        }
    }

    /// Takes what was measured.
    pub(crate) fn take(&self) -> Vec<RawSpan> {
        std::mem::take(&mut self.taken().spans)
    }

    fn taken(&self) -> std::sync::MutexGuard<'_, Taken> {
        self.0.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Spans in words, in the order in which they began; those that never ended are left out.
/// The database must be attached.
pub(crate) fn worded(
    mut spans: Vec<RawSpan>,
    key_text: impl Fn(&str, salsa::Id) -> Option<String>,
) -> Vec<QuerySpan> {
    spans.retain(|s| s.took.is_some());
    spans.sort_by_key(|s| (s.start, s.number));
    let first = spans.first().map_or(Duration::ZERO, |s| s.start);
    let mut numbers: Vec<u32> = spans.iter().map(|s| s.thread).collect();
    numbers.dedup();
    let mut threads: Vec<u32> = Vec::new();
    for n in numbers {
        if !threads.contains(&n) {
            threads.push(n);
        }
    }
    let places: rustc_hash::FxHashMap<u64, usize> = (spans.iter().enumerate())
        .map(|(i, s)| (s.number, i))
        .collect();
    let micros = |d: Duration| u64::try_from(d.as_micros()).unwrap_or(u64::MAX);
    (spans.iter())
        .map(|s| {
            let (name, key) = match s.what {
                What::Phase(name) => (name.to_owned(), None),
                What::Query(query) => {
                    // Attached databases print `name(Id(..))`.
                    let text = format!("{query:?}");
                    let (name, id) = text.split_once('(').unwrap_or((&text, ""));
                    let key = key_text(name, query.key_index())
                        .unwrap_or_else(|| id.strip_suffix(')').unwrap_or(id).to_owned());
                    (name.to_owned(), Some(key))
                }
            };
            QuerySpan {
                name,
                key,
                thread: threads.iter().position(|t| *t == s.thread).unwrap_or(0) as u32,
                start: micros(s.start.saturating_sub(first)),
                took: micros(s.took.unwrap_or_default()),
                parent: s.parent.and_then(|p| places.get(&p).copied()),
            }
        })
        .collect()
}
