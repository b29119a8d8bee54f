//! The database.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

use camino::Utf8PathBuf;
use rustc_hash::{FxHashMap, FxHashSet};
use salsa::Setter;
use taipan_annotator::Roots;
use taipan_base::{
    ArtifactStore, Artifacts, Db, Files, LoadOptions, OsSystem, Program, QueryClock, SHIPPED,
    System, WarmState, sync,
};

use crate::extent::Extent;
use crate::log::{QueryEvent, QueryLog};
use crate::modes::{CodeMode, JitMode};
use crate::observer::Observer;
use crate::spans::{QuerySpan, RawSpan};
use crate::{Cache, Key};

/// The database over the files of the machine. Clones share everything and may be
/// used on other threads; none may be alive when an input is set.
#[salsa::db]
#[derive(Clone)]
pub struct Database {
    storage: salsa::Storage<Self>,
    system: Arc<dyn System>,
    files: Files,
    warm: WarmState,
    cache: Arc<OnceLock<Cache>>,
    artifacts: Artifacts,
    log: QueryLog,
    programs: Arc<Mutex<BTreeMap<ProgramKey, Program>>>,
    done_ahead: Arc<Mutex<FxHashSet<Ahead>>>,
    answers: Arc<Answers>,
    /// The revision in which it was made.
    first: salsa::Revision,
}

/// Whole answers from the cache on disk.
#[derive(Default)]
struct Answers {
    /// Some were taken.
    taken: AtomicBool,
    /// No more are taken or kept.
    left: AtomicBool,
    /// Something had to be worked out.
    worked: AtomicBool,
    /// The process ends with the command.
    ends: AtomicBool,
    /// What to go on with then, instead.
    saved: OnceLock<Box<dyn LaterProcesses>>,
    /// How much the programs are that answers were taken of.
    extents: Mutex<FxHashMap<Program, Extent>>,
}

/// What goes on in other processes with what this one works out ([`crate::SavedState`]).
pub trait LaterProcesses: Send + Sync {
    /// Goes on with what an earlier process has saved, if there is something: then this does not
    /// return.
    fn resume(&self);

    /// Has a copy of this process write its memory for later ones, if the command that began
    /// at `since` took long enough.
    ///
    /// # Safety
    /// The process ends soon, and no other thread works on anything.
    unsafe fn save(&self, db: &'static Database, since: Instant);
}

/// What is done ahead of its being asked for.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Ahead {
    /// Compiling the files that a program imports.
    Files(Program),
    /// Building the flow graphs of what roots reach.
    Graphs(Roots),
}

/// Target, folders to import from, step limit, whether it is a test module.
type ProgramKey = (Utf8PathBuf, LoadOptions);

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

    fn fork(&self) -> Box<dyn Db> {
        Box::new(self.clone())
    }

    fn artifacts(&self) -> Option<&dyn ArtifactStore> {
        self.artifacts.store()
    }

    fn ends_with_command(&self) -> bool {
        self.answers.ends.load(Ordering::Relaxed)
    }

    fn clock(&self) -> Option<&dyn QueryClock> {
        Some(&self.log)
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
        let mut db = Database {
            storage,
            system,
            files: Files::default(),
            warm: WarmState::default(),
            cache: Arc::default(),
            artifacts: Artifacts::default(),
            log,
            programs: Arc::default(),
            done_ahead: Arc::default(),
            answers: Arc::default(),
            first: salsa::Revision::max(),
        };
        JitMode::new(&db, false);
        db.first = salsa::plumbing::current_revision(&db);
        db
    }

    /// Whether whole answers are taken from the cache on disk, and kept: until an input
    /// is changed. In a process that stays, the database itself is faster, and answers
    /// to what is being typed are not worth keeping.
    pub fn takes_answers(&self) -> bool {
        self.cache().is_on()
            && salsa::plumbing::current_revision(self) == self.first
            && !self.answers.left.load(Ordering::Relaxed)
    }

    /// The process ends with the command: graphs that are needed once are dropped after their use.
    pub fn end_with_command(&self) {
        self.answers.ends.store(true, Ordering::Relaxed);
    }

    /// Notes that a whole answer came from the cache: what it was made from is not in
    /// the database.
    pub(crate) fn note_answer(&self) {
        self.answers.taken.store(true, Ordering::Relaxed);
    }

    /// Notes how much a program is that the cache had an answer of.
    pub(crate) fn keep_extent(&self, program: Program, extent: Extent) {
        let mut all = (self.answers.extents.lock()).unwrap_or_else(|e| e.into_inner());
        all.insert(program, extent);
    }

    /// What was noted, as long as no input has changed.
    pub(crate) fn kept_extent(&self, program: Program) -> Option<Extent> {
        if !self.takes_answers() {
            return None;
        }
        let all = (self.answers.extents.lock()).unwrap_or_else(|e| e.into_inner());
        all.get(&program).cloned()
    }

    /// Has somebody told of what the database is at. The first one counts.
    pub fn observe(&self, observer: Arc<dyn Observer>) {
        self.log.observed().set(observer);
    }

    /// Has the process go on with what an earlier one has saved, once it comes to working out
    /// something, and [`Database::save`] save what is worked out.
    pub fn set_saved_state(&self, saved: impl LaterProcesses + 'static) {
        let _ = self.answers.saved.set(Box::new(saved));
    }

    /// Marks the start of real work: the answer was not cached. Restores the saved memory of an earlier
    /// process, if there is one; then this does not return.
    pub fn begin_work(&self) {
        let first = !self.answers.worked.swap(true, Ordering::Relaxed);
        if let Some(saved) = self.answers.saved.get()
            && first
            // That would be told again.
            && !self.log.observed().has_told()
        {
            saved.resume();
        }
    }

    /// Has a copy of this process write its memory for later ones, if something was worked out by
    /// the command, which began then, and took long.
    ///
    /// # Safety
    /// The process ends soon, and no other thread works on anything.
    pub unsafe fn save(&'static self, since: Instant) {
        if let Some(saved) = self.answers.saved.get()
            && self.answers.worked.load(Ordering::Relaxed)
        {
            // SAFETY: as the caller promises.
            unsafe { saved.save(self, since) };
        }
    }

    /// Whether nobody has a clone.
    pub(crate) fn is_alone(&self) -> bool {
        Arc::strong_count(&self.programs) == 1
    }

    /// The database of an earlier process, which had ended its command, as one to begin another
    /// command with: all files are as they are now, and there is no cache.
    pub(crate) fn resumed(mut self) -> Database {
        // They hold descriptors of the process that is gone: those are not this one's to close.
        std::mem::forget(std::mem::take(&mut self.cache));
        std::mem::forget(std::mem::take(&mut self.artifacts));
        self.answers = Arc::default();
        self.log.begin_anew();
        let known: Vec<Utf8PathBuf> = (self.files.known().into_iter())
            .map(|(path, _)| path)
            .filter(|path| !path.starts_with(SHIPPED))
            .collect();
        let changed = sync(&mut self, &known);
        tracing::debug!("changed since: {changed:?}");
        self.first = salsa::plumbing::current_revision(&self);
        self
    }

    /// From now on everything is worked out in the database. Answers whether there is
    /// something to work out: an answer of the cache was taken before, and this was not
    /// said yet.
    pub fn leave_answers(&self) -> bool {
        let first = !self.answers.left.swap(true, Ordering::Relaxed);
        first && self.answers.taken.load(Ordering::Relaxed)
    }

    /// The program with these inputs: always the same one for the same inputs. The folders to
    /// import from are absolute.
    pub fn program(&self, target: Utf8PathBuf, options: LoadOptions) -> Program {
        let mut programs = self.programs.lock().unwrap_or_else(|e| e.into_inner());
        *programs
            .entry((target.clone(), options.clone()))
            .or_insert_with(|| Program::with_options(self, target, options))
    }

    /// Gives the database a cache on disk, once: it starts without.
    pub fn set_cache(&self, cache: Cache) {
        if self.cache.set(cache.clone()).is_ok() && cache.is_on() {
            let log = self.log.clone();
            self.artifacts.set(Box::new(KeptInCache { cache, log }));
        }
    }

    /// The cache on disk; one that is off if none was given.
    pub fn cache(&self) -> Cache {
        self.cache.get().cloned().unwrap_or_default()
    }

    /// Whether this was not asked before: what is done ahead is done once. After an edit
    /// only little is to be done, and looking for it would take longer.
    pub(crate) fn first_time(&self, what: Ahead) -> bool {
        let mut done = self.done_ahead.lock().unwrap_or_else(|e| e.into_inner());
        done.insert(what)
    }

    /// Has code made of which functions can be replaced while it runs. To be called
    /// before anything is compiled.
    pub fn make_code_replaceable(&self) {
        CodeMode::new(self, true);
    }

    /// Has code made that enters what a just-in-time compiler makes, or no longer.
    pub fn generate_jit(&mut self, on: bool) {
        if let Some(mode) = JitMode::try_get(self)
            && mode.on(self) != on
        {
            mode.set_on(self).to(on);
        }
    }

    /// What queries did so far, if recording is on.
    pub fn log(&self) -> &QueryLog {
        &self.log
    }

    /// The spans of time that were measured, in words.
    pub fn word_spans(&self, spans: Vec<RawSpan>) -> Vec<QuerySpan> {
        salsa::attach(self, || {
            crate::spans::worded(spans, |name, id| crate::keys::key_text(self, name, id))
        })
    }

    /// What queries did since the last call: name, key and event, in order of time.
    pub fn take_log(&self) -> Vec<(String, String, QueryEvent)> {
        salsa::attach(self, || {
            self.log
                .take(|name, id| crate::keys::key_text(self, name, id))
        })
    }
}

/// The cache as queries see it.
struct KeptInCache {
    cache: Cache,
    log: QueryLog,
}

impl ArtifactStore for KeptInCache {
    fn get(&self, kind: &str, key: &[u8]) -> Option<Vec<u8>> {
        self.cache.get(kind, Key::of(key))
    }

    fn put(&self, kind: &str, key: &[u8], value: Vec<u8>) {
        self.cache.put(kind, Key::of(key), value);
    }

    fn restored(&self, query: &'static str, key: &dyn Fn() -> String) {
        self.log.record_restored(query, key);
    }

    fn verifies(&self) -> bool {
        self.cache.verifies()
    }
}
