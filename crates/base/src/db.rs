//! The database trait that all queries are written against.

#![allow(missing_docs, reason = "salsa generates undocumented accessors")]

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use camino::Utf8PathBuf;
use taipan_language::{Collector, Machine, PassSet};

use crate::{ArtifactStore, Files, QueryClock, System};

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

/// A program to compile: the target file and how its imports are found. One input
/// per program; changing a field re-runs what read it.
#[salsa::input(debug)]
pub struct Program {
    /// The target module's file, absolute.
    #[returns(ref)]
    pub target: Utf8PathBuf,
    /// Folders to import from, in order, after the target's own folder and its
    /// package root.
    #[returns(ref)]
    pub path: Vec<Utf8PathBuf>,
    /// Import-time bytecode instructions that may run before it is called endless.
    #[returns(copy)]
    pub step_limit: u64,
    /// Bytes that the objects of import time may take; any number without it.
    #[returns(copy)]
    #[default]
    pub memory_limit: Option<u64>,
    /// The target is a test module: import time looks for its tests, not for an
    /// entry point.
    #[returns(copy)]
    #[default]
    pub tests: bool,
    /// Code checks what would be undefined behaviour (RPython: `--lldebug`).
    #[returns(copy)]
    #[default]
    pub checked: bool,
    /// Debuggers are told of the code.
    #[returns(copy)]
    #[default]
    pub debug: bool,
    /// The target is a module for Python: import time looks for what that offers, not for an
    /// entry point.
    #[returns(copy)]
    #[default]
    pub extension: bool,
    /// The program is a library for C: keys of the functions that it offers (`rpython.rlib.entrypoint`).
    #[returns(clone)]
    #[default]
    pub entrypoints: Option<Arc<str>>,
    /// The garbage collector that code is made for.
    #[returns(copy)]
    #[default]
    pub collector: Collector,
    /// What it is compiled for.
    #[returns(copy)]
    #[default]
    pub machine: Machine,
    /// The passes over graphs that run.
    #[returns(copy)]
    #[default]
    pub passes: PassSet,
    /// Native code that the program brings along may run while it is imported, with the user's rights: the
    /// user trusts its folder, or has asked for a command that runs it anyway.
    #[returns(copy)]
    #[default]
    pub trusted: bool,
    /// What `target()` is given as `args`.
    #[returns(ref)]
    #[default]
    pub target_options: Vec<String>,
    /// Options of the command line that a `conftest.py` of a test file has to declare.
    #[returns(ref)]
    #[default]
    pub conftest_options: Vec<String>,
    /// Modules with fixtures and hooks for all test files, beside their `conftest.py` files.
    #[returns(ref)]
    #[default]
    pub test_plugins: Vec<String>,
    /// Options of the translation, as `driver.config` shows them to the program.
    #[returns(copy)]
    #[default]
    pub translation: Translation,
    /// Further options that are set in `driver.config.translation`: paths below it and values, as texts.
    #[returns(ref)]
    #[default]
    pub settings: Vec<(String, String)>,
    /// Variables of the environment that import time sees where the process has none of that name.
    #[returns(ref)]
    #[default]
    pub environment: Vec<(String, String)>,
}

/// Options of the translation that a target can read from `driver.config`. The collector is kept separately.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Translation {
    /// Optimisation level; None if the command line has no `-O`.
    pub level: Option<u8>,
    /// A just-in-time compiler is generated.
    pub jit: bool,
}

impl Translation {
    /// The level by the original's name (`-O2`, `-Ojit`).
    pub fn level_name(self) -> String {
        match (self.level, self.jit) {
            (Some(level), _) => level.to_string(),
            (None, true) => "jit".to_owned(),
            (None, false) => "2".to_owned(),
        }
    }
}
