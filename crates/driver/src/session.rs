//! What commands work with: a database, and programs loaded into it.

use camino::{Utf8Path, Utf8PathBuf};
use taipan_annotator::{RootSet, Roots};
use taipan_base::{
    Db, Diagnostic, ErrorCode, File, FileContents, Program, Severity, Span, TextRange,
};

use taipan_code::{CodeKind, Instr};

use crate::late_writes::late_write_warnings;
use crate::prefetch;
use crate::result_cache::{Question, remember_check};
use crate::unreached::{UnreachedFunction, own_files, unreached};
use crate::whole::typing_diagnostics;
use crate::{Database, InternalError, Timings};

/// Why an operation did not succeed.
#[derive(Debug)]
pub enum Failure {
    /// The user's program is wrong: at least one of these is an error.
    Diagnostics(Vec<Diagnostic>),
    /// Wrong usage, or input that cannot be read.
    Usage(String),
    /// The program ended with an uncaught exception: the report.
    Fatal(String),
    /// A fault of Taipan.
    Internal(InternalError),
}

impl From<Diagnostic> for Failure {
    fn from(d: Diagnostic) -> Self {
        Failure::Diagnostics(vec![d])
    }
}

impl From<InternalError> for Failure {
    fn from(e: InternalError) -> Self {
        Failure::Internal(e)
    }
}

/// Where imports are looked for and how long they may take.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct LoadOptions {
    /// Folders to import from, after the target's own.
    pub path: Vec<Utf8PathBuf>,
    /// Bytecode instructions that import time may take.
    pub step_limit: u64,
    /// Code checks what would be undefined behaviour.
    pub checked: bool,
    /// What `target()` is given as `args`: options of the program's own.
    pub target_options: Vec<String>,
}

impl Default for LoadOptions {
    fn default() -> Self {
        LoadOptions {
            path: Vec::new(),
            step_limit: 1_000_000_000,
            checked: false,
            target_options: Vec::new(),
        }
    }
}

/// Loads a program. The same file with the same options gives the same program, as
/// long as the database lives.
pub fn load(db: &Database, target: &Utf8Path, options: &LoadOptions) -> Result<Program, Failure> {
    load_as(db, target, options, false)
}

/// Loads a test module.
pub(crate) fn load_tests(
    db: &Database,
    target: &Utf8Path,
    options: &LoadOptions,
) -> Result<Program, Failure> {
    load_as(db, target, options, true)
}

fn load_as(
    db: &Database,
    target: &Utf8Path,
    options: &LoadOptions,
    tests: bool,
) -> Result<Program, Failure> {
    let absolute =
        |p: &Utf8Path| camino::absolute_utf8(p).map_err(|e| Failure::Usage(format!("{p}: {e}")));
    let path = absolute(target)?;
    let file = db.files().get(db, &path);
    match file.contents(db) {
        FileContents::Text(_) | FileContents::InvalidUtf8 { .. } => {}
        FileContents::Missing => return Err(Failure::Usage(format!("{target}: no such file"))),
        FileContents::Directory(_) => {
            return Err(Failure::Usage(format!(
                "{target} is a directory, not a Python file"
            )));
        }
        FileContents::Unreadable(why) => {
            return Err(Failure::Usage(format!("{target}: {why}")));
        }
    }
    let folders = options.path.iter().map(|p| absolute(p));
    let options = LoadOptions {
        path: folders.collect::<Result<Vec<_>, _>>()?,
        ..options.clone()
    };
    Ok(db.program(path, &options, tests))
}

/// The roots of a whole program: its entry point.
pub fn entry_roots(db: &Database, program: Program) -> Result<Roots, Diagnostic> {
    let entry = taipan_interp::entry_point(db, program)
        .clone()
        .map_err(|d| *d)?;
    let jit = crate::drivers::jit_is_on(db);
    Ok(Roots::new(db, program, RootSet::EntryPoint(entry), jit))
}

/// What a check of a program says.
#[derive(Clone, Debug)]
pub struct Checked {
    /// Everything that is wrong with it, in the order of stages; warnings too.
    pub diagnostics: Vec<Diagnostic>,
    /// The files of its own modules.
    pub files: Vec<File>,
    /// The functions in them that the target does not reach, with what is wrong with those:
    /// another target may reach them ([`crate::unreached_by_all`]). None where errors leave
    /// that open.
    pub unreached: Option<Vec<UnreachedFunction>>,
}

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

/// The code of syntax errors.
pub(crate) const SYNTAX: ErrorCode = ErrorCode::InvalidSyntax;

/// What is wrong up to the end of import time.
pub(crate) fn import_diagnostics(db: &Database, program: Program) -> Vec<Diagnostic> {
    db.log().observed().imported(db, program);
    let target = db.files().get(db, program.target(db));
    let mut all = taipan_code::syntax_diagnostics(db, target).to_vec();
    for file in taipan_interp::program_files(db, program).iter() {
        if *file != target {
            all.extend(taipan_code::syntax_diagnostics(db, *file).iter().cloned());
        }
    }
    for d in taipan_interp::image_diagnostics(db, program).iter() {
        if !all.contains(d) {
            all.push(d.clone());
        }
    }
    all
}

/// What is wrong from flow graphs to low-level graphs, as seen from some roots.
pub(crate) fn compile_diagnostics(db: &Database, roots: Roots) -> Vec<Diagnostic> {
    taipan_annotator::annotation_diagnostics(db, roots).to_vec()
}

/// Whether any is an error.
pub fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|d| d.severity == Severity::Error)
}

/// A diagnostic without a place gets the target file's first line.
pub(crate) fn placed(db: &Database, program: Program, mut d: Diagnostic) -> Diagnostic {
    if d.primary.is_none() {
        let file = db.files().get(db, program.target(db));
        let end = file.text(db).lines().next().map_or(0, str::len);
        d.primary = Some(Span {
            file,
            range: TextRange::new(0, end as u32),
        });
    }
    d
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
