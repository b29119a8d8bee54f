//! What is wrong, program by program and file by file.

use rustc_hash::FxHashSet;
use salsa::Database as _;
use taipan_base::{Diagnostic, File, Program, Severity, Span};
use taipan_code::module_codes;
use taipan_driver::{Database, Timings, checked, unreached_by_all};
use taipan_flow::{SYNTAX_ERROR, flow_diagnostics};
use taipan_interp::{Function, program_files};

use crate::places::imports_any;
use crate::program::{Home, Others, Workspace};

/// Everything that is wrong with the programs of a workspace, as `taipan check` says
/// it of each, in the order of programs, nothing twice.
pub fn workspace_diagnostics(db: &Database, workspace: &Workspace) -> Vec<Diagnostic> {
    Checked::new(db, workspace).diagnostics()
}

/// What is wrong with each program of a workspace.
pub struct Checked(Vec<taipan_driver::Checked>);

impl Checked {
    /// Checks the programs.
    pub fn new(db: &Database, workspace: &Workspace) -> Checked {
        let programs = workspace.programs.iter();
        let check = |p: &Program| checked(db, *p, &mut Timings::default());
        Checked(programs.map(check).collect())
    }

    /// Everything, in the order of programs, nothing twice; then what is wrong with
    /// functions that no program reaches.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        let mut all: Vec<Diagnostic> = Vec::new();
        let unreached = unreached_by_all(self.0.iter());
        let reached = self.0.iter().flat_map(|c| &c.diagnostics);
        for d in reached.chain(unreached.into_iter().flat_map(|f| &f.findings)) {
            if !all.contains(d) {
                all.push(d.clone());
            }
        }
        all
    }
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

/// What is wrong with the syntax of files that no program reaches, as far as they import
/// modules of the workspace: others may be no RPython at all.
pub fn closed_file_diagnostics(
    db: &Database,
    workspace: &Workspace,
    others: &Others,
) -> Vec<Diagnostic> {
    let programs = workspace.programs.iter();
    let reached: FxHashSet<File> = programs
        .flat_map(|p| program_files(db, *p).to_vec())
        .collect();
    let mut out = Vec::new();
    for file in others.files.iter().filter(|f| !reached.contains(f)) {
        db.unwind_if_revision_cancelled();
        if imports_any(db, *file, &others.names) {
            out.extend(taipan_code::syntax_diagnostics(db, *file).iter().cloned());
        }
    }
    out
}

/// Functions of a file that no program of the workspace reaches, although others of the file
/// are: neither when it runs nor while it is imported. Nothing where that is not certain.
pub fn unreached(checked: &Checked, file: File) -> Vec<Span> {
    let all = unreached_by_all(checked.0.iter()).into_iter();
    let here = all.filter(|f| f.file == file);
    here.map(|f| Span {
        file,
        range: f.whole,
    })
    .collect()
}
