//! How long queries take, when somebody wants to know.

use std::ops::AddAssign;
use std::time::Duration;

use taipan_language::Pass;

use crate::Db;

/// What notes when queries begin and end.
pub trait QueryClock {
    /// The query whose function was entered last on this thread begins. None if nobody
    /// wants to know.
    fn begin(&self) -> Option<u64>;

    /// The query of that number is over.
    fn end(&self, number: u64);

    /// A query that does many things of a kind did one more.
    fn step(&self, kind: Step);

    /// Whether somebody wants to know what passes did to graphs.
    fn counts_passes(&self) -> bool {
        false
    }

    /// What passes did to a function.
    fn passes(&self, counts: &[(Pass, PassCounts)]) {
        let _ = counts;
    }
}

/// What a pass did to graphs.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct PassCounts {
    /// Graphs that it ran over: that of a function by itself, and the one with its callees.
    pub graphs: usize,
    /// Those that it changed.
    pub changed: usize,
    /// Operations before it ran.
    pub operations: usize,
    /// How many more there were behind it.
    pub more_operations: isize,
    /// Blocks before it ran.
    pub blocks: usize,
    /// How many more there were behind it.
    pub more_blocks: isize,
    /// How long it took.
    pub time: Duration,
}

impl AddAssign for PassCounts {
    fn add_assign(&mut self, other: PassCounts) {
        self.graphs += other.graphs;
        self.changed += other.changed;
        self.operations += other.operations;
        self.more_operations += other.more_operations;
        self.blocks += other.blocks;
        self.more_blocks += other.more_blocks;
        self.time += other.time;
    }
}

/// What a query does many of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// A module is imported.
    Import,
    /// A function comes to be annotated.
    Annotation,
}

/// A query in progress.
#[must_use = "it ends the query when it is dropped"]
pub struct Timed<'db>(Option<(&'db dyn QueryClock, u64)>);

/// Says that a query begins; it is over when the result is dropped. To be called first of
/// all in the function of a query that does work worth measuring: salsa tells when
/// functions are entered, not when they are left.
pub fn timed(db: &dyn Db) -> Timed<'_> {
    let clock = db.clock();
    Timed(clock.and_then(|c| Some((c, c.begin()?))))
}

impl Drop for Timed<'_> {
    fn drop(&mut self) {
        if let Some((clock, number)) = self.0 {
            clock.end(number);
        }
    }
}

/// Says that a query which does many things of a kind did one more of them. Whoever waits
/// sees how far it came; nothing depends on it.
pub fn step(db: &dyn Db, kind: Step) {
    if let Some(clock) = db.clock() {
        clock.step(kind);
    }
}
