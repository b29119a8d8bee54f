//! What was done on all threads: the waves of work that the driver fans out, and how long each
//! piece took. Everything else is serial.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Pieces of work that do not wait for one another, but where two need the same result: the first
/// one makes it. What follows waits for all of them.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Wave {
    /// The phase that it is a part of.
    pub phase: &'static str,
    /// How long each piece took, in order.
    pub pieces: Vec<Duration>,
}

/// Records waves; all clones share what they recorded.
#[derive(Clone, Default)]
pub(crate) struct Waves(Arc<Shared>);

#[derive(Default)]
struct Shared {
    on: AtomicBool,
    recorded: Mutex<Recorded>,
}

#[derive(Default)]
struct Recorded {
    phase: &'static str,
    waves: Vec<Wave>,
}

impl Waves {
    pub(crate) fn record_from_now(&self) {
        self.0.on.store(true, Ordering::Relaxed);
    }

    /// A phase begins.
    pub(crate) fn began(&self, phase: &'static str) {
        self.recorded().phase = phase;
    }

    pub(crate) fn are_recorded(&self) -> bool {
        self.0.on.load(Ordering::Relaxed)
    }

    /// What was done on all threads, and how long each piece of it took.
    pub(crate) fn record<R>(&self, done: Vec<(R, Duration)>) -> Vec<R> {
        let (results, pieces) = done.into_iter().unzip();
        let mut recorded = self.recorded();
        let phase = recorded.phase;
        recorded.waves.push(Wave { phase, pieces });
        results
    }

    pub(crate) fn take(&self) -> Vec<Wave> {
        std::mem::take(&mut self.recorded().waves)
    }

    fn recorded(&self) -> MutexGuard<'_, Recorded> {
        self.0
            .recorded
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
