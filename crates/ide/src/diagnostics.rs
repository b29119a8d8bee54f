//! What is wrong, program by program and file by file.

use taipan_base::{Diagnostic, File, Severity};
use taipan_code::module_codes;
use taipan_driver::{Database, Timings, check};
use taipan_flow::{SYNTAX_ERROR, flow_diagnostics};
use taipan_interp::Function;

use crate::program::{Home, Workspace};

/// Everything that is wrong with the programs of a workspace, as `taipan check` says
/// it of each, in the order of programs, nothing twice.
pub fn workspace_diagnostics(db: &Database, workspace: &Workspace) -> Vec<Diagnostic> {
    let mut all: Vec<Diagnostic> = Vec::new();
    for program in &workspace.programs {
        for d in check(db, *program, &mut Timings::default()) {
            if !all.contains(&d) {
                all.push(d);
            }
        }
    }
    all
}

/// What is wrong with a file that no program reaches: its syntax, and in a folder of
/// RPython, as warnings, what keeps its functions from being flowed.
pub fn file_diagnostics(db: &Database, workspace: &Workspace, file: File) -> Vec<Diagnostic> {
    if workspace.program_of(db, file).is_some() {
        return Vec::new();
    }
    let mut all = taipan_code::syntax_diagnostics(db, file).to_vec();
    let Some(home) = workspace.alone(db, file).map(|p| Home::new(db, p)) else {
        return all;
    };
    for code in module_codes(db, file).ids() {
        let Some(function) = home.function_of(*code) else {
            continue;
        };
        let found = flow_diagnostics(db, Function::new(db, home.program, function));
        let told = found.iter().filter(|d| d.code != SYNTAX_ERROR);
        all.extend(told.cloned().map(|mut d| {
            d.severity = Severity::Warning;
            d.with_note(None, "no target of the workspace reaches this file")
        }));
    }
    all
}

/// Whether a text can be parsed as a whole.
pub fn is_well_formed(text: &str) -> bool {
    taipan_syntax::parse(text).errors.is_empty()
}
