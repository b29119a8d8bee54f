//! Watch mode: a piece of work on a database, repeated after every change of a file
//! that it asked for.
//!
//! ```text
//! file watcher ──Changed(batch)──┐                ┌──► worker: work on a clone ──┐
//! keys, signals, ... ────────────┼─► owner ─round─┘                              │
//!          ▲                     │   sets inputs, which cancels a round that     │
//!          └─────────────────────┴── is outdated ◄──────────Finished(round)──────┘
//! ```
//!
//! The owner of a [`Watch`] has one channel for everything that it waits for; what
//! concerns the watch it hands back to it. Inputs are set by the owner's thread alone,
//! and by no thread that holds a clone of the database.

mod process;
mod rebuild;
mod rerun;
mod runner;

use std::panic::{AssertUnwindSafe, resume_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use taipan_base::{
    Batch, Db, FileContents, FileWatcher, WatchMode, WatchOptions, is_on_disk, sync,
};

use taipan_driver::{
    Database, Explainer, InternalError, QueryEvent, QuerySpan, RawSpan, Timings, guarded,
};

pub use process::{End, Ended, Input, Launcher};
pub use rebuild::{By, Rebuild};
pub use rerun::{Reran, StageCount};
pub use runner::{Preparation, Prepared, Runner, Step};
pub use taipan_codegen_cranelift::Obstacle;

/// What is repeated. It compiles and reports; it never waits for anybody.
pub type Work<T> = dyn Fn(&Database, &mut Timings) -> T + Send + Sync;

/// Work, and what a watch has to know about it.
pub struct Job<T> {
    work: Arc<Work<T>>,
    warm_up: Arc<dyn Fn(&Database) + Send + Sync>,
    concerned: Arc<Concerned>,
}

/// Whether work comes to something else where only listings of folders have changed.
type Concerned = dyn Fn(&Database) -> bool + Send + Sync;

impl<T> Job<T> {
    /// Work that is to be done again after every change.
    pub fn new(work: Arc<Work<T>>) -> Job<T> {
        Job {
            work,
            warm_up: Arc::new(|_| ()),
            concerned: Arc::new(|_| true),
        }
    }

    /// Has something done once, behind the first answer, if that came from the cache on
    /// disk: the database knows nothing then, and the first edit would take as long as
    /// everything. It makes what rounds make, shows nothing, and may be cancelled.
    pub fn warming_up(mut self, work: impl Fn(&Database) + Send + Sync + 'static) -> Job<T> {
        self.warm_up = Arc::new(work);
        self
    }

    /// Has it passed over that something comes or goes in folders which no program asked
    /// for, unless `concerned` says that it matters.
    pub fn if_concerned(
        mut self,
        concerned: impl Fn(&Database) -> bool + Send + Sync + 'static,
    ) -> Job<T> {
        self.concerned = Arc::new(concerned);
        self
    }
}

/// What was chosen from folders that are searched: what comes and goes in them matters
/// only if another choice results.
pub struct Choice<T>(Mutex<T>);

impl<T: PartialEq> Choice<T> {
    /// The choice before the first change.
    pub fn new(chosen: T) -> Choice<T> {
        Choice(Mutex::new(chosen))
    }

    /// Whether this is another choice than last time.
    pub fn differs(&self, chosen: T) -> bool {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let differs = *last != chosen;
        *last = chosen;
        differs
    }
}

/// What the owner of a watch is told.
pub enum WatchEvent<T> {
    /// Files may have changed: to be given to [`Watch::changed`].
    Changed(Batch),
    /// A round is over: to be given to [`Watch::finished`].
    Finished(Box<Round<T>>),
}

/// One run of the work.
pub struct Round<T> {
    /// Number of the round, from 1.
    pub number: u64,
    /// What the work answered.
    pub outcome: Result<T, InternalError>,
    /// What queries did for it.
    log: Vec<(salsa::DatabaseKeyIndex, QueryEvent)>,
    /// When they did it, if that was measured.
    spans: Vec<RawSpan>,
    /// Phases of the work.
    pub timings: Timings,
    /// When the work was over.
    pub end: Instant,
}

/// A round that is up to date, with what led to it.
pub struct Answer<T> {
    /// The round.
    pub round: Round<T>,
    /// The files that changed since the answer before, sorted.
    pub changed: Vec<Utf8PathBuf>,
    /// From the first change that was noticed to the setting of inputs; nothing if the
    /// round was asked for.
    pub gathering: Duration,
    /// From there to the end of the work, outdated rounds included.
    pub working: Duration,
}

impl<T> Answer<T> {
    /// Which queries ran for it. Whoever waits for the outcome need not wait for this.
    pub fn reran(&self, db: &Database) -> Reran {
        rerun::reran(db, &self.round.log)
    }

    /// Why queries ran for it.
    pub fn explained(&mut self, db: &Database, explainer: &mut Explainer) -> taipan_driver::Round {
        explainer.explained(db, std::mem::take(&mut self.round.log))
    }

    /// When queries ran for it, if [`taipan_driver::QueryLog::measure_from_now`] was called.
    pub fn timeline(&mut self, db: &Database) -> Vec<QuerySpan> {
        db.word_spans(std::mem::take(&mut self.round.spans))
    }
}

/// A database and the work on it. The worker ends with it.
pub struct Watch<T> {
    db: Database,
    watcher: FileWatcher,
    requests: Sender<Request>,
    round: u64,
    busy: bool,
    changed: Vec<Utf8PathBuf>,
    /// When the change was noticed, and when the inputs were set, that the next answer
    /// is about.
    since: Option<(Instant, Instant)>,
    concerned: Arc<Concerned>,
    _outcome: std::marker::PhantomData<fn() -> T>,
}

/// What the worker is asked for: a round by its number, or to warm up.
struct Request {
    number: Option<u64>,
    db: Database,
}

/// The stages recurse with the program's nesting; address space is free.
const STACK: usize = 1 << 30;

impl<T: Send + 'static> Watch<T> {
    /// Starts the first round. `report` is called on other threads than the caller's.
    pub fn start(
        db: Database,
        options: WatchOptions,
        job: Job<T>,
        report: impl Fn(WatchEvent<T>) + Clone + Send + 'static,
    ) -> std::io::Result<Watch<T>> {
        db.log().record_from_now();
        let (requests, inbox) = channel();
        let changed = report.clone();
        let watcher = FileWatcher::start(options, move |b| changed(WatchEvent::Changed(b)));
        std::thread::Builder::new()
            .name("worker".to_owned())
            .stack_size(STACK)
            .spawn(move || worker(&inbox, &*job.work, &*job.warm_up, &report))?;
        let mut watch = Watch {
            db,
            watcher,
            requests,
            round: 0,
            busy: false,
            changed: Vec::new(),
            since: None,
            concerned: job.concerned,
            _outcome: std::marker::PhantomData,
        };
        watch.rerun();
        Ok(watch)
    }

    /// The database. Whoever clones it drops the clone before the next call of a method
    /// that changes the watch.
    pub fn db(&self) -> &Database {
        &self.db
    }

    /// How changes come to be known.
    pub fn mode(&self) -> WatchMode {
        self.watcher.mode()
    }

    /// Whether a round is under way.
    pub fn is_busy(&self) -> bool {
        self.busy
    }

    /// Number of files that are followed.
    pub fn files(&self) -> usize {
        self.db
            .files()
            .known()
            .iter()
            .filter(|(p, _)| is_on_disk(p))
            .count()
    }

    /// Takes up changes: where contents differ, a round under way is cancelled and
    /// another one begins. Answers whether one did.
    pub fn changed(&mut self, batch: &Batch) -> bool {
        self.take_up(&batch.paths, batch.first)
    }

    /// Does the work again although nothing may have changed.
    pub fn rerun(&mut self) {
        // One under way is about the same inputs.
        if !self.busy {
            self.begin(Instant::now());
        }
    }

    /// Follows the files that the round asked for first. None if the round is outdated,
    /// or if one of these files has changed meanwhile, so that another round began.
    pub fn finished(&mut self, round: Round<T>) -> Option<Answer<T>> {
        if round.number != self.round {
            return None;
        }
        self.busy = false;
        let known: Vec<Utf8PathBuf> = (self.db.files().known().into_iter())
            .map(|(path, _)| path)
            .filter(|path| is_on_disk(path))
            .collect();
        let new = self.watcher.follow(&known);
        // They were read before they were followed.
        if self.take_up(&new, Instant::now()) {
            return None;
        }
        if self.db.leave_answers() {
            self.request(None);
        }
        let (first, set) = self.since.take().unwrap_or((round.end, round.end));
        let mut changed = std::mem::take(&mut self.changed);
        changed.sort();
        changed.dedup();
        Some(Answer {
            gathering: set - first,
            working: round.end - set,
            round,
            changed,
        })
    }

    fn take_up(&mut self, paths: &[Utf8PathBuf], first: Instant) -> bool {
        let mut paths = paths.to_vec();
        if paths.iter().any(|p| self.is_mere_listing(p)) && !(self.concerned)(&self.db) {
            paths.retain(|p| !self.is_mere_listing(p));
        }
        let changed = sync(&mut self.db, &paths);
        if changed.is_empty() {
            return false;
        }
        self.changed.extend(changed);
        self.begin(first);
        true
    }

    /// Whether it is a folder that was only searched for files.
    fn is_mere_listing(&self, path: &Utf8Path) -> bool {
        let contents = self.db.files().get(&self.db, path).contents(&self.db);
        matches!(contents, FileContents::Directory(_)) && !self.db.files().is_asked(path)
    }

    fn begin(&mut self, first: Instant) {
        self.round += 1;
        self.busy = true;
        self.since.get_or_insert((first, Instant::now()));
        self.request(Some(self.round));
    }

    fn request(&self, number: Option<u64>) {
        let db = self.db.clone();
        // The worker lives as long as the sender.
        let _ = self.requests.send(Request { number, db });
    }
}

fn worker<T>(
    inbox: &Receiver<Request>,
    work: &Work<T>,
    warm_up: &dyn Fn(&Database),
    report: &dyn Fn(WatchEvent<T>),
) {
    while let Ok(Request { number, db }) = inbox.recv() {
        let mut timings = Timings::counting(db.log());
        let done = salsa::Cancelled::catch(AssertUnwindSafe(|| {
            let Some(number) = number else {
                // Whatever goes wrong, the next round says it.
                let _ = guarded(|| warm_up(&db));
                return None;
            };
            let outcome = guarded(|| work(&db, &mut timings));
            let end = Instant::now();
            Some(Round {
                number,
                outcome,
                log: db.log().take_entries(),
                spans: db.log().take_spans(),
                timings,
                end,
            })
        }));
        if number.is_none() {
            db.log().take_entries();
            db.log().take_spans();
        }
        // Before anybody is told: who sets inputs waits for this.
        drop(db);
        match done {
            Ok(Some(round)) => report(WatchEvent::Finished(Box::new(round))),
            Ok(None) => {}
            // What cancelled it asks for the next round.
            Err(salsa::Cancelled::PendingWrite | salsa::Cancelled::Local) => {}
            Err(other) => resume_unwind(Box::new(other)),
        }
    }
}
