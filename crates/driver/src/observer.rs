//! What somebody who waits for the compiler can see of it: phases as they begin and end,
//! how far one came, and what programs print while they are imported.
//!
//! Nothing here has an influence on results. Stages say that they did one more thing of
//! a kind ([`taipan_base::step`]), which is a number that others look at when they like.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use camino::Utf8Path;
use rustc_hash::FxHashMap;
use taipan_base::{Db, Program, Step};
use taipan_interp::Image;

/// Is told what a database is at. Called by the threads that do the work, which wait for it.
pub trait Observer: Send + Sync {
    /// A phase begins.
    fn began(&self, phase: &'static str) {
        let _ = phase;
    }

    /// A phase is over.
    fn ended(&self, phase: &'static str) {
        let _ = phase;
    }

    /// Import time of the program with that target wrote this. The same is told once,
    /// be it of an import in this process or of one whose outcome was kept; an import that
    /// runs again is told again.
    fn printed(&self, target: &Utf8Path, text: &str) {
        let _ = (target, text);
    }
}

/// How many things of a kind a phase did.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Steps {
    /// So many are done.
    pub done: usize,
    /// So many are to be done, as far as is known; 0 if that is not.
    pub expected: usize,
}

/// An observer, if there is one, and what it can look at.
#[derive(Clone, Default)]
pub(crate) struct Observed(Arc<Shared>);

#[derive(Default)]
struct Shared {
    observer: OnceLock<Arc<dyn Observer>>,
    /// What the phase in progress is known by.
    phase: Mutex<&'static str>,
    done: AtomicUsize,
    expected: AtomicUsize,
    /// Something was told of some import.
    told: AtomicBool,
    /// What was told last of each program's import.
    imports: Mutex<FxHashMap<Program, Import>>,
}

/// An import that was told of.
enum Import {
    /// It ran, with this outcome.
    Ran(Weak<Image>),
    /// Its outcome was kept, and so was what it printed.
    Kept(String),
}

impl Observed {
    pub(crate) fn set(&self, observer: Arc<dyn Observer>) {
        // The first one stays.
        let _ = self.0.observer.set(observer);
    }

    /// Whether whoever looks on was told what a program printed.
    pub(crate) fn has_told(&self) -> bool {
        self.0.told.load(Ordering::Relaxed)
    }

    /// Whoever looks on was told of nothing yet.
    pub(crate) fn begin_anew(&self) {
        self.imports().clear();
        self.0.told.store(false, Ordering::Relaxed);
    }

    fn observer(&self) -> Option<&dyn Observer> {
        self.0.observer.get().map(|o| &**o)
    }

    pub(crate) fn began(&self, phase: &'static str) {
        *self.phase() = phase;
        self.expect(0);
        if let Some(o) = self.observer() {
            o.began(phase);
        }
    }

    pub(crate) fn ended(&self, phase: &'static str) {
        if let Some(o) = self.observer() {
            o.ended(phase);
        }
    }

    /// From now on so many things are to be done; 0 if nobody knows how many.
    pub(crate) fn expect(&self, n: usize) {
        self.0.done.store(0, Ordering::Relaxed);
        self.0.expected.store(n, Ordering::Relaxed);
    }

    /// So many more.
    pub(crate) fn expect_more(&self, n: usize) {
        self.0.expected.fetch_add(n, Ordering::Relaxed);
    }

    pub(crate) fn step(&self) {
        self.0.done.fetch_add(1, Ordering::Relaxed);
    }

    /// A query did one more of what it does many of; only the phase that waits for it counts.
    pub(crate) fn step_of(&self, kind: Step) {
        let phase = match kind {
            Step::Import => "import",
            Step::Annotation => "annotate",
        };
        if *self.phase() == phase {
            self.step();
        }
    }

    fn phase(&self) -> MutexGuard<'_, &'static str> {
        self.0.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn steps(&self) -> Steps {
        Steps {
            done: self.0.done.load(Ordering::Relaxed),
            expected: self.0.expected.load(Ordering::Relaxed),
        }
    }

    /// Tells what import time printed, if it ran since it was told last.
    pub(crate) fn imported(&self, db: &dyn Db, program: Program) {
        let Some(observer) = self.observer() else {
            return;
        };
        let image = taipan_interp::image(db, program);
        let now = Arc::downgrade(image);
        let mut imports = self.imports();
        let told = match imports.insert(program, Import::Ran(now.clone())) {
            Some(Import::Ran(before)) => before.ptr_eq(&now),
            Some(Import::Kept(text)) => text == image.printed,
            None => false,
        };
        drop(imports);
        if !told && !image.printed.is_empty() {
            self.0.told.store(true, Ordering::Relaxed);
            observer.printed(program.target(db), &image.printed);
        }
    }

    /// Tells what import time printed when the answer was found that was kept.
    pub(crate) fn kept(&self, db: &dyn Db, program: Program, printed: &str) {
        let Some(observer) = self.observer() else {
            return;
        };
        let mut imports = self.imports();
        if imports.contains_key(&program) {
            return;
        }
        imports.insert(program, Import::Kept(printed.to_owned()));
        drop(imports);
        if !printed.is_empty() {
            self.0.told.store(true, Ordering::Relaxed);
            observer.printed(program.target(db), printed);
        }
    }

    fn imports(&self) -> MutexGuard<'_, FxHashMap<Program, Import>> {
        self.0
            .imports
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
