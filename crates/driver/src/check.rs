//! Checks of programs.

use taipan_base::{Diagnostic, ErrorCode, Program, Severity};
use taipan_code::{CodeKind, Instr};

use crate::checked::Checked;
use crate::db::Database;
use crate::prefetch;
use crate::program::{
    SYNTAX, compile_diagnostics, entry_roots, has_errors, import_diagnostics, placed,
};
use crate::result_cache::{Question, remember_check};
use crate::stages::late_writes::late_write_warnings;
use crate::stages::whole::typing_diagnostics;
use crate::timing::Timings;
use crate::unreached::{own_files, unreached};

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
    remember_check(db, &question, || {
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
    })
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
                more.retain(|d| !is_missing(db, program, d));
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
                    let dead = || taipan_annotator::dead_operation_warnings(db, roots);
                    all.extend(timings.phase("dead code", dead).iter().cloned());
                }
            }
            Err(d) => all.push(placed(db, program, d)),
        }
    }
    dedup(all)
}

/// Codes of what a function says whose names are missing, or have a syntax error.
const MISSING: &[ErrorCode] = &[
    ErrorCode::UndefinedName,
    ErrorCode::ConstantRaises,
    ErrorCode::FailedImport,
    taipan_flow::SYNTAX_ERROR,
];

/// Whether a diagnostic may only follow from a statement of a module that did not run: a
/// module would have set the name that it is about.
fn is_missing(db: &Database, program: Program, d: &Diagnostic) -> bool {
    if !MISSING.contains(&d.code) {
        return false;
    }
    let known: Vec<&str> = d
        .message
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .collect();
    if d.code == ErrorCode::ConstantRaises || d.code == taipan_flow::SYNTAX_ERROR {
        return true;
    }
    taipan_interp::program_files(db, program)
        .iter()
        .any(|file| {
            let codes = taipan_code::file_codes(db, *file);
            let mut modules = codes.iter().filter(|(_, c)| c.kind == CodeKind::Module);
            modules.any(|(_, code)| {
                let mut sets = code.instrs.iter();
                sets.any(|i| match i {
                    Instr::StoreName(n) | Instr::StoreGlobal(n) => {
                        known.contains(&&*code.names[*n as usize])
                    }
                    Instr::ImportStar => true,
                    _ => false,
                })
            })
        })
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
