//! What is wrong, program by program and file by file.

use taipan_base::{Db, Diagnostic, File};
use taipan_driver::{Database, Timings, check};

use crate::program::Workspace;

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

/// What is wrong with a file that no program reaches: its syntax.
pub fn file_diagnostics(db: &Database, workspace: &Workspace, file: File) -> Vec<Diagnostic> {
    if workspace.home(db, file).is_some() {
        return Vec::new();
    }
    taipan_code::syntax_diagnostics(db as &dyn Db, file).to_vec()
}

/// Whether a text can be parsed as a whole.
pub fn is_well_formed(text: &str) -> bool {
    taipan_syntax::parse(text).errors.is_empty()
}
