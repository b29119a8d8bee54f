//! Tests that are compiled together.
//!
//! The tests of a file make one program: one annotation, one set of graphs. Where
//! something is wrong with it, tests of one function with arguments of different kinds
//! are taken apart first; then halves are tried until the tests that are wrong by
//! themselves stand alone; the others are put together again. Tests that contradict
//! each other (one calls `f(1)` and another `f('a')`) end up in different programs.

use std::collections::HashMap;
use std::sync::Arc;

use taipan_annotator::{RootSet, Roots, Spec};
use taipan_base::{Diagnostic, ErrorCode, Program};
use taipan_graph::ObjId;
use taipan_lltype::FuncSym;
use taipan_rtyper::func_sym_of;

use crate::collect::TestRunner;
use taipan_driver::parts::{compile_entries, typed_entries};
use taipan_driver::{Database, Failure, Timings, guarded, parts};

/// Tests that are one program.
pub(super) struct Group {
    pub(super) roots: Roots,
    /// The functions that run the tests.
    pub(super) runners: Vec<ObjId>,
}

/// Groups, and the tests that cannot be compiled, with what is wrong.
#[derive(Default)]
pub(super) struct Groups {
    pub(super) groups: Vec<Group>,
    pub(super) broken: Vec<(ObjId, Vec<Diagnostic>)>,
}

/// Compiles tests of a program. `all` says whether they are all of its tests: then the
/// program stays the same one when tests come and go.
pub(super) fn compile(
    db: &Database,
    program: Program,
    tests: &[TestRunner],
    all: bool,
    timings: &mut Timings,
) -> Groups {
    let mut out = Groups::default();
    let runners: Vec<ObjId> = tests.iter().map(|t| t.runner).collect();
    if runners.is_empty() {
        return out;
    }
    let whole = |except: &[ObjId]| {
        let set = if all {
            RootSet::Tests {
                except: except.into(),
            }
        } else {
            let left = runners.iter().filter(|r| !except.contains(r));
            RootSet::Functions(left.copied().collect())
        };
        Roots::new(db, program, set, false)
    };
    match attempt(db, whole(&[]), timings) {
        Ok(()) => out.groups.push(Group {
            roots: whole(&[]),
            runners: runners.to_vec(),
        }),
        Err(problems) => {
            let mut tries = attempts_for(runners.len());
            let sets = by_kinds(tests);
            if sets.len() > 1 {
                for set in &sets {
                    try_apart(db, program, set, timings, &mut tries, &mut out);
                }
            } else {
                split(
                    db, program, &runners, problems, timings, &mut tries, &mut out,
                );
            }
            let mut broken: Vec<ObjId> = out.broken.iter().map(|(r, _)| *r).collect();
            broken.sort();
            let roots = whole(&broken);
            if out.groups.len() > 1 && attempt(db, roots, timings).is_ok() {
                let good = runners.iter().filter(|r| !broken.contains(r));
                out.groups = vec![Group {
                    roots,
                    runners: good.copied().collect(),
                }];
            }
        }
    }
    out
}

/// Sets of tests in each of which the tests of one function have arguments of the same kinds.
fn by_kinds(tests: &[TestRunner]) -> Vec<Vec<ObjId>> {
    let mut sets: Vec<Vec<ObjId>> = Vec::new();
    let mut known: HashMap<ObjId, Vec<&str>> = HashMap::new();
    for t in tests {
        let kinds = known.entry(t.func).or_default();
        let n = (kinds.iter().position(|k| **k == *t.kinds)).unwrap_or_else(|| {
            kinds.push(&t.kinds);
            kinds.len() - 1
        });
        if sets.len() <= n {
            sets.resize_with(n + 1, Vec::new);
        }
        sets[n].push(t.runner);
    }
    sets
}

/// How many programs are tried to find the tests that are wrong by themselves. Where most
/// of many tests are, not all of the others are worth the time that it takes to find them:
/// what is wrong with all of a set is then taken to be wrong with each.
fn attempts_for(tests: usize) -> usize {
    16 + 2 * tests.ilog2() as usize
}

/// Tries the halves of tests that together cannot be compiled.
fn split(
    db: &Database,
    program: Program,
    runners: &[ObjId],
    problems: Vec<Diagnostic>,
    timings: &mut Timings,
    tries: &mut usize,
    out: &mut Groups,
) {
    if runners.len() == 1 || *tries == 0 {
        let broken = runners.iter().map(|r| (*r, problems.clone()));
        out.broken.extend(broken);
        return;
    }
    let (left, right) = runners.split_at(runners.len() / 2);
    for half in [left, right] {
        try_apart(db, program, half, timings, tries, out);
    }
}

/// Tries tests that are a part of all as a program of their own.
fn try_apart(
    db: &Database,
    program: Program,
    part: &[ObjId],
    timings: &mut Timings,
    tries: &mut usize,
    out: &mut Groups,
) {
    let roots = Roots::new(db, program, RootSet::Functions(part.into()), false);
    *tries = tries.saturating_sub(1);
    match attempt(db, roots, timings) {
        Ok(()) => out.groups.push(Group {
            roots,
            runners: part.to_vec(),
        }),
        Err(problems) => split(db, program, part, problems, timings, tries, out),
    }
}

/// Makes the machine code of a program, or says what is wrong.
fn attempt(db: &Database, roots: Roots, timings: &mut Timings) -> Result<(), Vec<Diagnostic>> {
    let done = guarded(|| {
        timings.phase("flow", || parts::flow_graphs(db, roots));
        typed_entries(db, roots, timings)?;
        compile_entries(db, roots, &[], timings);
        Ok(())
    });
    match done.map_err(Failure::from).and_then(|r| r) {
        Ok(()) => Ok(()),
        Err(Failure::Diagnostics(all)) => Err(all),
        Err(Failure::Usage(m) | Failure::Fatal(m)) => Err(vec![fault(m)]),
        Err(Failure::Internal(e)) => Err(vec![fault(e.to_string())]),
    }
}

fn fault(message: String) -> Diagnostic {
    Diagnostic::error(ErrorCode::TestNotRun, None, message)
}

/// The low-level function of a runner.
pub(super) fn runner_sym(db: &Database, roots: Roots, runner: ObjId) -> Option<FuncSym> {
    func_sym_of(db, Spec::new(db, roots, runner, Arc::from(""))).ok()
}
