//! Fan-out over functions: the only place where queries are asked on several threads.

use std::time::Instant;

use rayon::prelude::*;

use crate::db::Database;

/// Sets the number of worker threads for the whole process; only the first call
/// counts.
pub fn set_threads(n: usize) -> Result<(), String> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(n)
        .stack_size(WORKER_STACK)
        .build_global()
        .map_err(|e| e.to_string())
}

/// The stages recurse with the program's nesting.
const WORKER_STACK: usize = 64 << 20;

/// As [`par_map`]; who looks on sees each item that is done. Only for what they know by
/// the phase: files, functions.
pub(crate) fn par_steps<T: Sync, R: Send>(
    db: &Database,
    items: &[T],
    work: impl Fn(&Database, &T) -> R + Sync,
) -> Vec<R> {
    let observed = db.log().observed();
    observed.expect_more(items.len());
    par_map(db, items, |db, item| {
        let result = work(db, item);
        observed.step();
        result
    })
}

/// Calls `work` for every item, on all threads, each with a clone of the database.
/// Results are in the order of items. Never call this from within a query.
pub fn par_map<T: Sync, R: Send>(
    db: &Database,
    items: &[T],
    work: impl Fn(&Database, &T) -> R + Sync,
) -> Vec<R> {
    let waves = db.log().waves();
    if !waves.are_recorded() {
        return fan_out(db, items, work);
    }
    let measured = fan_out(db, items, |db, item| {
        let start = Instant::now();
        let result = work(db, item);
        (result, start.elapsed())
    });
    waves.record(measured)
}

fn fan_out<T: Sync, R: Send>(
    db: &Database,
    items: &[T],
    work: impl Fn(&Database, &T) -> R + Sync,
) -> Vec<R> {
    let threads = rayon::current_num_threads();
    if items.len() < 2 || threads < 2 {
        return items.iter().map(|i| work(db, i)).collect();
    }
    items
        .par_chunks(piece_size(items.len(), threads))
        .map_with(db.clone(), |db, piece| {
            piece.iter().map(|i| work(db, i)).collect::<Vec<_>>()
        })
        .flatten_iter()
        .collect()
}

/// How many items are done in a row by one thread. Few large pieces: a clone per piece costs less
/// than a thread that waits.
pub fn piece_size(items: usize, threads: usize) -> usize {
    items.div_ceil(threads * 8)
}
