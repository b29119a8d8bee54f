//! Programs loaded into a database, and what is wrong with them up to annotation.

use camino::{Utf8Path, Utf8PathBuf};
use taipan_annotator::{RootSet, Roots};
use taipan_base::{Db, Diagnostic, ErrorCode, FileContents, Program, Severity, Span, TextRange};

use crate::LoadOptions;
use crate::db::Database;
use crate::fault::{Failure, guarded};
use crate::trust::is_trusted;

/// Loads a program. The same file with the same options gives the same program, as
/// long as the database lives.
pub fn load(db: &Database, target: &Utf8Path, options: &LoadOptions) -> Result<Program, Failure> {
    load_as(db, target, options, false)
}

/// Loads a test module.
pub fn load_tests(
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
        trusted: options.trusted || path.parent().is_some_and(is_trusted),
        tests,
        ..options.clone()
    };
    Ok(db.program(path, options))
}

/// What `target()` calls the executable (`driver.exe_name`), if it does. Import time is not
/// needed to know it of a target that does not mention that name.
pub fn executable_name(
    db: &Database,
    options: &LoadOptions,
    target: &Utf8Path,
) -> Option<Utf8PathBuf> {
    let program = program_that_mentions(db, options, target, &["exe_name"])?;
    // Errors of the program are reported when it is compiled.
    let name = guarded(|| taipan_interp::executable_name(db, program)).ok()??;
    Some(Utf8PathBuf::from(&*name))
}

/// Settings that `target()` makes in `driver.config.translation`: paths below it and values, as text. Skips import time if
/// the text of the target mentions no configuration.
pub fn target_settings(
    db: &Database,
    options: &LoadOptions,
    target: &Utf8Path,
) -> Vec<(String, String)> {
    let Some(program) = program_that_mentions(db, options, target, &["config", "goal"]) else {
        return Vec::new();
    };
    // Errors of the program are reported when it is compiled.
    guarded(|| taipan_interp::target_settings(db, program)).unwrap_or_default()
}

/// The program of a target whose text contains one of `words`. None if it contains none, or cannot be loaded.
fn program_that_mentions(
    db: &Database,
    options: &LoadOptions,
    target: &Utf8Path,
    words: &[&str],
) -> Option<Program> {
    let program = load(db, target, options).ok()?;
    let text = db.files().get(db, program.target(db)).text(db);
    words.iter().any(|w| text.contains(w)).then_some(program)
}

/// The roots of a whole program: its entry point.
pub fn entry_roots(db: &Database, program: Program) -> Result<Roots, Diagnostic> {
    let entry = taipan_interp::entry_point(db, program)
        .clone()
        .map_err(|d| *d)?;
    let jit = crate::modes::jit_is_on(db);
    Ok(Roots::new(db, program, RootSet::EntryPoint(entry), jit))
}

/// The code of syntax errors.
pub const SYNTAX: ErrorCode = ErrorCode::InvalidSyntax;

/// What is wrong up to the end of import time.
pub fn import_diagnostics(db: &Database, program: Program) -> Vec<Diagnostic> {
    db.log().observed().imported(db, program);
    let target = db.files().get(db, program.target(db));
    let files = taipan_interp::program_files(db, program);
    // Test hooks may collect a file that is not Python.
    let mut all = if program.options(db).tests && !files.contains(&target) {
        Vec::new()
    } else {
        taipan_code::syntax_diagnostics(db, target).to_vec()
    };
    for file in files.iter() {
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
