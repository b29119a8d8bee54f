//! Coverage: the statements of functions that tests execute.
//!
//! Tests are interpreted for coverage. Machine code would not show each statement: the flow space folds statements, and the optimiser
//! removes and inlines them. Statements of module and class bodies run at import time and are left out.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;
use taipan_base::{Db as _, File, LineIndex, Program, SHIPPED};
use taipan_code::{CodeKind, code_spans, file_codes, parse};
use taipan_driver::Database;
use taipan_interp::program_files;
use taipan_syntax::Stmt;

use crate::files::is_test_file;

/// Statements that a run executed, by file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Coverage {
    /// The files of the programs below the current folder, by path, without test files.
    pub files: Vec<FileCoverage>,
}

/// Statements of a file that a run executed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FileCoverage {
    /// The path.
    pub file: String,
    /// The lines, from 1, at which statements of functions start, in order, and whether each was executed.
    pub lines: Vec<(u32, bool)>,
}

impl FileCoverage {
    /// Number of executed lines.
    pub fn executed(&self) -> usize {
        self.lines.iter().filter(|(_, executed)| *executed).count()
    }

    /// Ranges of lines without an executed statement: the first and the last line.
    pub fn missing(&self) -> Vec<(u32, u32)> {
        let stretches = self.lines.chunk_by(|a, b| a.1 == b.1);
        let missing = stretches.filter(|lines| !lines[0].1);
        missing.map(|s| (s[0].0, s[s.len() - 1].0)).collect()
    }
}

/// The state of a run.
#[derive(Default)]
pub(crate) struct Executed {
    files: FxHashSet<File>,
    lines: BTreeMap<String, FxHashSet<u32>>,
}

impl Executed {
    /// Adds the files of a program.
    pub(crate) fn add_program(&mut self, db: &Database, program: Program) {
        let files = program_files(db, program);
        let own = files.iter().filter(|file| {
            let path = file.path(db);
            let name = path.file_name().unwrap_or_default();
            !path.starts_with(SHIPPED) && !is_test_file(name) && name != "conftest.py"
        });
        self.files.extend(own);
    }

    /// Adds lines that a test executed.
    pub(crate) fn add(&mut self, lines: Vec<(String, Vec<u32>)>) {
        for (file, lines) in lines {
            self.lines.entry(file).or_default().extend(lines);
        }
    }

    /// The coverage of all programs so far.
    pub(crate) fn coverage(&self, db: &Database) -> Coverage {
        let here = db.system().current_folder();
        let mut files: Vec<FileCoverage> = Vec::new();
        #[expect(clippy::iter_over_hash_type, reason = "the outcome is sorted")]
        for file in &self.files {
            let path = file.path(db);
            let executed = self.lines.get(path.as_str());
            let is_executed = |line: &u32| executed.is_some_and(|lines| lines.contains(line));
            let lines = statements(db, *file).into_iter();
            let lines: Vec<(u32, bool)> = lines.map(|line| (line, is_executed(&line))).collect();
            let is_below = here.is_none_or(|here| path.starts_with(here));
            if is_below && !lines.is_empty() {
                let file = path.to_string();
                files.push(FileCoverage { file, lines });
            }
        }
        files.sort_by(|a, b| a.file.cmp(&b.file));
        Coverage { files }
    }
}

/// The lines at which statements of functions start.
fn statements(db: &Database, file: File) -> BTreeSet<u32> {
    let text = file.text(db);
    let index = LineIndex::new(text);
    let line = |offset: u32| index.line_column(text, offset).0;
    let mut of_functions: FxHashSet<u32> = FxHashSet::default();
    for (id, code) in file_codes(db, file).iter() {
        if code.kind == CodeKind::Function {
            let spans = code_spans(db, *id);
            of_functions.extend(spans.instrs.iter().map(|range| line(range.start)));
        }
    }
    let parsed = parse(db, file);
    let starts = parsed.ast.stmts.iter().filter_map(|(id, stmt)| {
        // The end of a function may have the place of its `def`.
        let is_definition = matches!(stmt, Stmt::Function(_) | Stmt::Class(_));
        (!is_definition).then(|| line(parsed.spans.stmt(id).start))
    });
    starts.filter(|line| of_functions.contains(line)).collect()
}
