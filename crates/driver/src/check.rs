//! Checks of programs.

use taipan_base::{Diagnostic, Program, Severity};

use crate::checked::Checked;
use crate::db::Database;
use crate::levels::with_levels;
use crate::prefetch;
use crate::program::{
    SYNTAX, compile_diagnostics, entry_roots, has_errors, import_diagnostics, placed,
};
use crate::result_cache::{Question, remember_check};
use crate::stages::drivers::driver_warning;
use crate::stages::late_writes::late_write_warnings;
use crate::stages::whole::{difference_warnings, typing_diagnostics};
use crate::timing::Timings;
use crate::unreached::{own_files, unreached};
use crate::unused::unused_warnings;

/// Everything that is wrong with what a program's target reaches, in the order of stages;
/// warnings too.
pub fn check(db: &Database, program: Program, timings: &mut Timings) -> Vec<Diagnostic> {
    checked(db, program, timings).diagnostics
}

/// Checks a program.
pub fn checked(db: &Database, program: Program, timings: &mut Timings) -> Checked {
    let question = Question {
        what: "check",
        program,
        options: &[],
        extent: true,
    };
    let mut checked = remember_check(db, &question, || {
        let diagnostics = all_diagnostics(db, program, timings);
        let unreached = match entry_roots(db, program) {
            Ok(roots) if !has_errors(&diagnostics) => {
                Some(timings.phase("unreached", || unreached(db, roots)))
            }
            _ => None,
        };
        Checked {
            diagnostics,
            files: own_files(db, program),
            unreached,
        }
    });
    // Levels of warnings are not part of remembered results.
    with_levels(db, &mut checked.diagnostics);
    for f in checked.unreached.iter_mut().flatten() {
        with_levels(db, &mut f.findings);
    }
    checked
}

fn all_diagnostics(db: &Database, program: Program, timings: &mut Timings) -> Vec<Diagnostic> {
    timings.phase("parse", || prefetch::compile_files(db, program));
    let mut all = timings.phase("import", || import_diagnostics(db, program));
    // What is broken in one place must not hide what is wrong in another. Where import
    // time ended in a statement, names that it defines are missing: that is told once.
    let ended = (all.iter()).any(|d| d.severity == Severity::Error && d.code != SYNTAX);
    if !ended || taipan_interp::target_module(db, program).is_some() {
        match entry_roots(db, program) {
            Ok(roots) if ended => {
                let mut more = compile_diagnostics(db, roots);
                more.retain(|d| !follows(db, program, d));
                all.extend(more);
            }
            Err(_) if ended => {}
            Ok(roots) => {
                timings.phase("flow", || prefetch::flow_graphs(db, roots));
                all.extend(timings.phase("annotate", || compile_diagnostics(db, roots)));
                all.retain(|d| d.code != taipan_flow::SYNTAX_ERROR);
                if !has_errors(&all) {
                    all.extend(timings.phase("rtype", || typing_diagnostics(db, roots)));
                }
                if !has_errors(&all) {
                    let late = || late_write_warnings(db, roots);
                    all.extend(timings.phase("late writes", late));
                    all.extend(timings.phase("drivers", || driver_warning(db, roots)));
                    let differences = || difference_warnings(db, roots);
                    all.extend(timings.phase("differences", differences));
                    let dead = || taipan_annotator::dead_operation_warnings(db, roots);
                    all.extend(timings.phase("dead code", dead).iter().cloned());
                    let unused = timings.phase("unused", || unused_warnings(db, program, &all));
                    all.extend(unused);
                }
            }
            Err(d) => all.push(placed(db, program, d)),
        }
    }
    dedup(all)
}

/// Whether a diagnostic only follows from a statement of a module that did not run, or from a
/// syntax error, which is reported already.
fn follows(db: &Database, program: Program, d: &Diagnostic) -> bool {
    let missing = |p| taipan_interp::lacks_since_failure(db, program, p);
    d.code == taipan_flow::SYNTAX_ERROR || d.problem.as_ref().is_some_and(missing)
}

fn dedup(all: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut out: Vec<Diagnostic> = Vec::with_capacity(all.len());
    for d in all {
        if !out.contains(&d) {
            out.push(d);
        }
    }
    out
}
