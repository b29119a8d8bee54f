//! The database trait that all queries are written against.

#![allow(missing_docs, reason = "salsa generates undocumented accessors")]

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use camino::Utf8PathBuf;

use crate::{ArtifactStore, Files, LoadOptions, QueryClock, System};

/// The one database trait of the compiler. Crates above add queries, never traits.
#[salsa::db]
pub trait Db: salsa::Database {
    /// The table of files known so far.
    fn files(&self) -> &Files;

    /// Where file contents come from.
    fn system(&self) -> &dyn System;

    /// State that a query keeps warm between runs, outside salsa's tables. Legal
    /// only where the query's result is a pure function of its inputs all the same
    /// (the annotation solver: see docs/incrementality.md).
    fn warm(&self) -> &WarmState;

    /// A handle of its own on the same database. What is asked through it is no
    /// dependency of the query that runs: see [`aside`].
    fn fork(&self) -> Box<dyn Db>;

    /// Results that outlive the process, where they are kept.
    fn artifacts(&self) -> Option<&dyn ArtifactStore> {
        None
    }

    /// Whether the process ends with the command. A value that one other query asks for once is not
    /// worth keeping then. Queries may ask this: their results are the same.
    fn ends_with_command(&self) -> bool {
        false
    }

    /// What measures how long queries take, if that may be asked for.
    fn clock(&self) -> Option<&dyn QueryClock> {
        None
    }
}

/// Runs work on a handle of its own, so that what it asks is no dependency of the query
/// that calls this. Legal only where that query reads something coarser instead which
/// changes whenever the answers do (the solver reads the codes of a whole file, and asks
/// for the flow graphs of its functions aside).
pub fn aside<R>(db: &dyn Db, work: impl FnOnce(&dyn Db) -> R) -> R {
    let fork = db.fork();
    salsa::attach_allow_change(&*fork, || work(&*fork))
}

/// Named slots of warm state, shared by all clones of a database.
#[derive(Clone, Default)]
pub struct WarmState(Arc<Mutex<BTreeMap<&'static str, WarmSlot>>>);

type WarmSlot = Arc<Mutex<Option<Box<dyn Any + Send>>>>;

impl WarmState {
    /// The slot of that name, made empty when it is first asked for. The caller
    /// takes the state out while it works, so that a panic drops it.
    pub fn slot(&self, name: &'static str) -> WarmSlot {
        let mut slots = self.0.lock().unwrap_or_else(|e| e.into_inner());
        slots.entry(name).or_default().clone()
    }

    /// Works with what the slot of that name holds, which begins as `T`'s default. One name
    /// goes with one type.
    pub fn with<T: Any + Default + Send, R>(
        &self,
        name: &'static str,
        work: impl FnOnce(&mut T) -> R,
    ) -> R {
        let slot = self.slot(name);
        let mut slot = slot.lock().unwrap_or_else(|e| e.into_inner());
        let held = slot.get_or_insert_with(|| Box::new(T::default()) as Box<dyn Any + Send>);
        match held.downcast_mut() {
            Some(held) => work(held),
            None => work(&mut T::default()),
        }
    }
}

/// A program to compile: the target file and its options. One input per program; changing a field
/// re-runs what read it.
#[salsa::input(debug, constructor = with_options)]
pub struct Program {
    /// The target module's file, absolute.
    #[returns(ref)]
    pub target: Utf8PathBuf,
    /// All else that its results depend on, the contents of files aside.
    #[returns(ref)]
    pub options: LoadOptions,
}

impl Program {
    /// A program with these folders to import from and this limit of import-time instructions; other
    /// options are the defaults, without a limit of memory.
    pub fn new(
        db: &dyn Db,
        target: Utf8PathBuf,
        path: Vec<Utf8PathBuf>,
        step_limit: u64,
    ) -> Program {
        Program::with_options(db, target, LoadOptions::limited(path, step_limit))
    }
}
