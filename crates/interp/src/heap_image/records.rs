//! Records of import time that the next run of a program replays.
//!
//! The first run of a program in a process keeps no record, since most processes run it once. The second run is recorded,
//! and later ones replay units from that record, until a run executes most of the recorded steps.

use std::sync::Arc;

use camino::Utf8PathBuf;
use rustc_hash::FxHashMap;
use taipan_base::{Db, LoadOptions, Program};

use crate::space::Interp;
use crate::space::units::{Record, Units};

/// Share of the steps of the recorded run, in per cent, that a run may execute: otherwise the next run is recorded.
const MOST: u64 = 75;

/// What the warm state has for a program that has run.
#[derive(Default)]
struct Kept {
    /// A record, and the inputs of the program that it was made with.
    record: Option<(MadeWith, Arc<Record>)>,
    /// The share of the steps of the last run that was replayed.
    replayed: Option<u64>,
    /// Replaying has failed: no more records.
    is_unsuited: bool,
}

type Warm = FxHashMap<Program, Kept>;

/// The share of the steps of the last run of import time, in per cent, that was replayed from a record. None if that run used
/// none.
pub fn replayed_steps(db: &dyn Db, program: Program) -> Option<u64> {
    with(db, |warm| warm.get(&program)?.replayed)
}

/// How a run uses records.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Plan {
    /// Not at all.
    Plain,
    /// It is recorded.
    Record,
    /// It replays units.
    Replay,
}

impl Plan {
    /// The plan for the next run of a program.
    pub(crate) fn of(db: &dyn Db, program: Program) -> Plan {
        if program.options(db).tests {
            return Plan::Plain;
        }
        let made_with = with(db, |warm| {
            let kept = warm.get_mut(&program)?;
            kept.replayed = None;
            Some(kept.record.as_ref().map(|(made_with, _)| made_with.clone()))
        });
        match made_with {
            None => {
                with(db, |warm| warm.insert(program, Kept::default()));
                Plan::Plain
            }
            Some(Some(made_with)) if made_with == inputs(db, program) => Plan::Replay,
            Some(_) if with(db, |warm| warm[&program].is_unsuited) => Plan::Plain,
            Some(_) => Plan::Record,
        }
    }

    /// Prepares an interpreter in which nothing has run.
    pub(crate) fn begin(&self, it: &mut Interp) {
        match self {
            Plan::Plain => {}
            Plan::Record => it.begin_recording(),
            Plan::Replay => {
                let kept = |warm: &mut Warm| warm.get(&it.program)?.record.clone();
                if let Some((_, record)) = with(it.db, kept) {
                    it.begin_replay(record);
                }
            }
        }
    }
}

/// Ends recording or replaying; `complete` if no exception has ended import time. False if the run has to be
/// repeated without a record.
pub(crate) fn end(it: &mut Interp, complete: bool) -> bool {
    let (db, program) = (it.db, it.program);
    match &it.units {
        Units::Plain => true,
        Units::Recording(_) => {
            let record = it.finish_recording().filter(|_| complete);
            let made_with = inputs(db, program);
            let kept = Kept {
                record: record.map(|record| (made_with, Arc::new(record))),
                ..Kept::default()
            };
            with(db, |warm| warm.insert(program, kept));
            true
        }
        Units::Replaying(_) => {
            let gain = it.finish_replay();
            with(db, |warm| {
                let kept = warm.entry(program).or_default();
                kept.replayed = gain.map(|gain| gain.replayed);
                if gain.is_none_or(|gain| gain.executed > MOST) {
                    kept.record = None;
                }
            });
            gain.is_some()
        }
    }
}

/// Keeps no more records of a program, whose run has to be repeated without one.
pub(crate) fn give_up(db: &dyn Db, program: Program) {
    let kept = Kept {
        is_unsuited: true,
        ..Kept::default()
    };
    with(db, |warm| warm.insert(program, kept));
}

fn with<R>(db: &dyn Db, work: impl FnOnce(&mut Warm) -> R) -> R {
    db.warm().with("records of import time", work)
}

/// The inputs of import time that a program itself has: its target, and options.
type MadeWith = (Utf8PathBuf, LoadOptions);

fn inputs(db: &dyn Db, program: Program) -> MadeWith {
    (
        program.target(db).clone(),
        program.options(db).import_time(),
    )
}
