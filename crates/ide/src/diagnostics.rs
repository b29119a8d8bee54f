//! What is wrong, program by program and file by file.

use rustc_hash::FxHashSet;
use salsa::Database as _;
use taipan_base::{Diagnostic, File, Program, SHIPPED, Severity, Span};
use taipan_code::module_codes;
use taipan_code::scope::ScopeNode;
use taipan_driver::{Database, Timings, check};
use taipan_flow::{SYNTAX_ERROR, flow_diagnostics};
use taipan_interp::{Function, image, program_files};

use crate::index::{Role, file_index};
use crate::navigation::is_abstract;
use crate::places::imports_any;
use crate::program::{Home, Others, Workspace};

/// Everything that is wrong with the programs of a workspace, as `taipan check` says
/// it of each, in the order of programs, nothing twice.
pub fn workspace_diagnostics(db: &Database, workspace: &Workspace) -> Vec<Diagnostic> {
    Checked::new(db, workspace).diagnostics()
}

/// What is wrong with each program of a workspace.
pub struct Checked(Vec<(Program, Vec<Diagnostic>)>);

impl Checked {
    /// Checks the programs.
    pub fn new(db: &Database, workspace: &Workspace) -> Checked {
        let programs = workspace.programs.iter();
        let check = |p: &Program| (*p, check(db, *p, &mut Timings::default()));
        Checked(programs.map(check).collect())
    }

    /// Everything, in the order of programs, nothing twice.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        let mut all: Vec<Diagnostic> = Vec::new();
        for d in self.0.iter().flat_map(|(_, d)| d) {
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
pub fn unreached(db: &Database, checked: &Checked, file: File) -> Vec<Span> {
    if file.path(db).starts_with(SHIPPED) {
        return Vec::new();
    }
    let mut homes = Vec::new();
    for (p, found) in &checked.0 {
        if !program_files(db, *p).contains(&file) {
            continue;
        }
        // What is behind a mistake may only seem not to be reached. Broken texts are stood
        // in for.
        let wrong = |d: &Diagnostic| d.severity == Severity::Error && d.code != SYNTAX_ERROR;
        if found.iter().any(wrong) {
            return Vec::new();
        }
        homes.push(Home::new(db, *p));
    }
    if homes.is_empty() {
        return Vec::new();
    }
    let index = file_index(db, file);
    let mut out: Vec<Span> = Vec::new();
    for (scope, code) in index.scopes.scopes.iter().zip(&index.codes) {
        let ScopeNode::Function(f) = scope.node else {
            continue;
        };
        let spans = index.parsed.spans.function(f);
        let named = index.token_at(spans.name.start);
        // What only says that it is not there is not meant to be reached.
        if is_abstract(&index, f) {
            continue;
        }
        let inside = out.last().is_some_and(|s| spans.whole.end <= s.range.end);
        if inside || !named.is_some_and(|t| t.role == Role::Function(f)) {
            continue;
        }
        let reached = homes.iter().any(|h| {
            !h.specs(*code).is_empty() || image(db, h.program).ran.contains(&h.own_code(*code))
        });
        if !reached {
            let range = spans.whole;
            out.push(Span { file, range });
        }
    }
    out
}

/// Whether a text can be parsed as a whole.
pub fn is_well_formed(text: &str) -> bool {
    taipan_syntax::parse(text).errors.is_empty()
}
