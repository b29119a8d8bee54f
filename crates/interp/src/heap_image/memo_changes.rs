//! Which memo calls came to something else after an edit.
//!
//! A memo call runs code that import time need not have run, and the objects that it makes are in no
//! image: comparing images does not tell. So what calls came to is kept here when they are asked
//! for, and compared when they are asked for again. Only calls are that somebody depends on
//! ([`taipan_base::reads`]).

use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use taipan_base::reads::{Step, has_readers, note};
use taipan_base::{Db, Diagnostic, Program};

use crate::MemoCall;
use crate::heap_image::image_to_heap::MemoAnswer;
use crate::heap_image::queries::{memo_answer, memo_call};

type Answer = Result<Arc<MemoAnswer>, Box<Diagnostic>>;

struct Known {
    answer: Answer,
    /// The version that it is of.
    since: u64,
}

#[derive(Default)]
struct Table {
    calls: IndexMap<MemoCall, Known, FxBuildHasher>,
    /// Goes up whenever a call comes to something else.
    version: u64,
}

fn with_table<R>(db: &dyn Db, work: impl FnOnce(&mut Table) -> R) -> R {
    db.warm().with("memo calls", work)
}

fn is_same(a: &Answer, b: &Answer) -> bool {
    match (a, b) {
        (Ok(a), Ok(b)) => Arc::ptr_eq(a, b) || (a.value == b.value && a.made == b.made),
        (Err(a), Err(b)) => a == b,
        _ => false,
    }
}

/// Notes that a call is asked for, and what it came to.
pub(crate) fn note_call(db: &dyn Db, call: MemoCall, answer: &Answer) {
    note::<memo_call>(call);
    keep(db, call, answer);
}

/// Keeps what a call came to, to compare it with what it comes to later.
pub(crate) fn keep(db: &dyn Db, call: MemoCall, answer: &Answer) {
    with_table(db, |table| {
        let known = table.calls.get_mut(&call);
        match known {
            Some(known) if is_same(&known.answer, answer) => {}
            Some(known) => {
                table.version += 1;
                *known = Known {
                    answer: answer.clone(),
                    since: table.version,
                };
            }
            None => {
                let known = Known {
                    answer: answer.clone(),
                    since: table.version,
                };
                table.calls.insert(call, known);
            }
        }
    });
}

/// The memo calls of a program that somebody depends on outside salsa's tables.
pub fn noted_memo_calls(db: &dyn Db, program: Program) -> Vec<MemoCall> {
    let calls: Vec<MemoCall> = with_table(db, |table| table.calls.keys().copied().collect());
    let mut calls: Vec<MemoCall> = (calls.into_iter())
        .filter(|call| call.program(db) == program)
        .collect();
    calls.retain(|call| has_readers(db, Step::of::<memo_call>(*call)));
    calls
}

/// The memo calls of a program that have come to something else since a version, and the version of
/// now. All that somebody depends on are asked for.
pub fn memo_changes(db: &dyn Db, program: Program, since: u64) -> (u64, Vec<Step>) {
    let calls = noted_memo_calls(db, program);
    for call in &calls {
        keep(db, *call, memo_answer(db, *call));
    }
    with_table(db, |table| {
        let is_other = |call: &&MemoCall| table.calls.get(*call).is_some_and(|k| k.since > since);
        let others = calls.iter().filter(is_other);
        let steps = others.map(|call| Step::of::<memo_call>(*call));
        (table.version, steps.collect())
    })
}
