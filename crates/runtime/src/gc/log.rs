//! What the collector writes into its sections of the log (`PYPYLOG=gc:FILE`): the lines of RPython's
//! incminimark, with its names of phases.

use super::major::Phase;
use crate::debug::Part::{self, Float, Number, Seconds, Text};
use crate::debug::print;

/// The name of a phase. Finalizers are called when the step is over, and are no phase.
fn name(phase: Phase) -> Part<'static> {
    Text(match phase {
        Phase::Waiting => b"SCANNING",
        Phase::Marking => b"MARKING",
        Phase::Sweeping => b"SWEEPING",
    })
}

pub(super) fn nursery_size(size: usize) {
    print(&[Text(b"nursery size:"), Number(size)]);
}

pub(super) fn minor_collection(used: usize, survived: usize, taken: i64) {
    print(&[Text(b"minor collect, total memory used:"), Number(used)]);
    print(&[Text(b"number of pinned objects:"), Number(0)]);
    print(&[Text(b"total size of surviving objects:"), Number(survived)]);
    print(&[Text(b"time taken:"), Seconds(taken)]);
}

pub(super) fn step_starts(phase: Phase) {
    print(&[Text(b"starting gc state: "), name(phase)]);
}

pub(super) fn step_stops(phase: Phase, taken: i64) {
    print(&[Text(b"stopping, now in gc state: "), name(phase)]);
    print(&[Text(b"time taken: "), Seconds(taken)]);
}

/// Objects, and arrays of which a part is marked.
pub(super) fn marks(objects: usize, arrays: usize) {
    print(&[
        Text(b"number of objects to mark"),
        Number(objects),
        Text(b"plus"),
        Number(arrays),
    ]);
}

/// Blocks of small objects.
pub(super) fn sweeps_blocks(most: usize, done: bool) {
    print(&[
        Text(b"freeing GC objects, up to"),
        Number(most),
        Text(b"pages."),
        Text(match done {
            true => b"No more pages left.",
            false => b"More to do.",
        }),
    ]);
}

/// Large objects.
pub(super) fn sweeps_large(freed: usize, most: usize) {
    print(&[
        Text(b"freeing raw objects:"),
        Number(freed),
        Text(b"freed, limit was"),
        Number(most),
    ]);
}

/// How large the heap was before a collection, or is after it.
#[derive(Clone, Copy)]
pub(super) struct Extent {
    pub(super) arenas: usize,
    pub(super) bytes: usize,
    pub(super) large_bytes: usize,
}

impl Extent {
    pub(super) const NONE: Extent = Extent {
        arenas: 0,
        bytes: 0,
        large_bytes: 0,
    };
}

pub(super) fn collection_done(before: Extent, after: Extent, threshold: usize) {
    let change = |name, from, to| print(&[Text(name), Number(from), Text(b" => "), Number(to)]);
    change(b"arenas:               ", before.arenas, after.arenas);
    print(&[Text(b"bytes used in arenas: "), Number(after.bytes)]);
    change(
        b"bytes raw-malloced:   ",
        before.large_bytes,
        after.large_bytes,
    );
    print(&[Text(b"next major collection threshold: "), Float(threshold)]);
}
