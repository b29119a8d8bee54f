//! Looking for tests: import time of test files, from the cache where nothing that it
//! depends on has changed.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use taipan_base::{LineIndex, Program};
use taipan_graph::ObjId;
use taipan_interp::{ObjData, Object, TestItem, Tests};

use crate::files::{self, TestFile};
use crate::history::History;
use crate::{CollectError, Collected, TestEngine, TestOptions};
use taipan_driver::parts::{
    Question, SYNTAX, StoredDiagnostics, import_diagnostics, load_tests, par_map, remember,
};
use taipan_driver::{Database, Failure, guarded};

/// A test, without what it is in this process.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Test {
    /// Number among the tests of the file.
    pub(super) number: usize,
    /// Its name in the module.
    pub(super) name: String,
    /// Line of its definition, from 1; 0 if unknown.
    line: u32,
    keywords: Vec<String>,
    marks: Vec<String>,
    /// Why it is skipped.
    pub(super) skip: Option<String>,
    /// Why it is expected to fail.
    pub(super) xfail: Option<String>,
    /// Whether passing in spite of `xfail` is a failure.
    pub(super) strict: bool,
    /// Whether `xfail` names exceptions.
    pub(super) raises: bool,
    /// Why it cannot be run.
    pub(super) problem: Option<String>,
    /// Why it can only be interpreted.
    pub(super) interpreted: Option<String>,
}

/// What a test file has that could be imported.
#[derive(Serialize, Deserialize)]
enum Found {
    /// Its tests, and what of its program is no Python.
    Tests(Vec<Test>, StoredDiagnostics),
    /// The file skips itself, and why.
    Skipped(String),
}

/// A test that was chosen.
pub(super) struct Case {
    pub(super) id: String,
    pub(super) file: String,
    pub(super) line: u32,
    pub(super) test: Test,
}

/// The chosen tests of one file.
pub(super) struct Module {
    pub(super) program: Program,
    pub(super) cases: Vec<Case>,
    /// They are all that the file has.
    pub(super) whole: bool,
    /// A part of the program is no Python. What else is wrong may only follow from that.
    pub(super) broken: bool,
}

/// Looks for the tests that the options choose.
pub(super) fn collect(
    db: &Database,
    options: &TestOptions,
    history: &History,
) -> Result<(Vec<Module>, Collected), Failure> {
    let files = files::find(db, &options.paths, &options.ignored)?;
    let found = par_map(db, &files, |db, file| {
        guarded(|| {
            let program = load_tests(db, &file.path, &options.load)?;
            Ok((program, tests_of(db, program)))
        })
    });
    let only: BTreeSet<String> = match options.last_failed {
        true => history.last_failed(),
        false => BTreeSet::new(),
    };
    let mut out = Collected::default();
    let mut modules = Vec::new();
    for (file, found) in files.iter().zip(found) {
        let path = file.path.to_string();
        let (program, found) = found.map_err(Failure::from).and_then(|r| r)?;
        let mut is_broken = false;
        let tests = match found {
            Ok(Found::Tests(tests, broken)) => {
                let diagnostics = broken.restore(db);
                if !diagnostics.is_empty() {
                    is_broken = true;
                    out.errors.push(CollectError {
                        file: path.clone(),
                        diagnostics,
                    });
                }
                tests
            }
            Ok(Found::Skipped(reason)) => {
                out.skipped.push((path, reason));
                continue;
            }
            Err(Failure::Diagnostics(diagnostics)) => {
                out.errors.push(CollectError {
                    file: path,
                    diagnostics,
                });
                continue;
            }
            Err(other) => return Err(other),
        };
        if let Some(name) = unknown(file, &tests) {
            return Err(Failure::Usage(format!("{path}: there is no test {name}")));
        }
        let count = tests.len();
        let mut cases = Vec::new();
        for test in tests.into_iter().filter(|t| file.wants(&t.name)) {
            let id = format!("{path}::{}", test.name);
            let keywords: Vec<&str> = (test.keywords.iter().map(String::as_str))
                .chain([&*test.name, file.path.file_name().unwrap_or("")])
                .collect();
            let selected = options.select.as_ref().is_none_or(|s| s.matches(&keywords))
                && (options.marks.as_ref()).is_none_or(|s| s.holds_for(&test.marks))
                && !options.deselected.iter().any(|d| id.starts_with(d))
                && (only.is_empty() || only.contains(&id));
            if !selected {
                out.deselected += 1;
                continue;
            }
            out.ids.push(id.clone());
            cases.push(Case {
                id,
                file: path.clone(),
                line: test.line,
                test,
            });
        }
        if !cases.is_empty() {
            modules.push(Module {
                program,
                whole: cases.len() == count,
                cases,
                broken: is_broken,
            });
        }
    }
    if options.failed_first {
        failed_first(&mut modules, &mut out, &history.last_failed());
    }
    let is_interpreted =
        |c: &Case| options.engine == TestEngine::Interp || c.test.interpreted.is_some();
    let mut chosen = modules.iter().flat_map(|m| &m.cases);
    if !options.collect_only && chosen.any(is_interpreted) {
        // Nothing was reported so far: the restored process would report it a second time.
        db.begin_work();
    }
    Ok((modules, out))
}

/// Puts the files with tests that failed last in front, and those tests in front of the others of their file.
fn failed_first(modules: &mut [Module], out: &mut Collected, failed: &BTreeSet<String>) {
    let has_passed = |c: &Case| !failed.contains(&c.id);
    modules.sort_by_key(|m| m.cases.iter().all(has_passed));
    for m in modules.iter_mut() {
        // A whole file is compiled in its order.
        m.whole &= m.cases.is_sorted_by_key(has_passed);
        m.cases.sort_by_key(has_passed);
    }
    let ids = modules.iter().flat_map(|m| &m.cases).map(|c| c.id.clone());
    out.ids = ids.collect();
}

/// A name that is asked for and that no test has.
fn unknown<'a>(file: &'a TestFile, tests: &[Test]) -> Option<&'a String> {
    file.names.iter().flatten().find(|name| {
        let one = TestFile {
            path: file.path.clone(),
            names: Some(BTreeSet::from([(*name).clone()])),
        };
        !tests.iter().any(|t| one.wants(&t.name))
    })
}

/// The tests of a file; diagnostics if it cannot be imported. Where a part of it is no
/// Python, the rest is run, and the part is told of: it may have had tests too.
fn tests_of(db: &Database, program: Program) -> Result<Found, Failure> {
    let question = Question {
        what: "tests",
        program,
        options: &[],
        extent: false,
    };
    remember(
        db,
        &question,
        |_| true,
        || {
            let mut wrong = import_diagnostics(db, program);
            match &**taipan_interp::tests(db, program) {
                Tests::Skipped(reason) => Ok(Found::Skipped(reason.to_string())),
                Tests::Misused(why) => Err(Failure::Usage(why.to_string())),
                Tests::Failed(why) => {
                    // The error may be in a `conftest.py`, which is loaded during collection.
                    if !wrong.contains(why) {
                        wrong.push((**why).clone());
                    }
                    Err(Failure::Diagnostics(wrong))
                }
                Tests::Found(items) => {
                    wrong.retain(|d| d.code == SYNTAX);
                    let tests = (items.iter().enumerate())
                        .map(|(number, item)| test(db, program, number, item))
                        .collect();
                    Ok(Found::Tests(tests, StoredDiagnostics::new(db, &wrong)))
                }
            }
        },
    )
}

fn test(db: &Database, program: Program, number: usize, item: &TestItem) -> Test {
    let text = |t: &Option<Box<str>>| t.as_deref().map(str::to_owned);
    Test {
        number,
        name: item.name.to_string(),
        line: item.line.unwrap_or_else(|| line_of(db, program, item.func)),
        keywords: item.keywords.iter().map(|k| k.to_string()).collect(),
        marks: item.marks.iter().map(|m| m.to_string()).collect(),
        skip: text(&item.skip),
        xfail: text(&item.xfail),
        strict: item.strict,
        raises: item.raises,
        problem: text(&item.problem),
        interpreted: text(&item.interpreted),
    }
}

/// The line of a function's definition, from 1; 0 if unknown.
fn line_of(db: &Database, program: Program, func: ObjId) -> u32 {
    let data = taipan_interp::object(db, Object::new(db, program, func)).as_deref();
    let Some(ObjData::Function(data)) = data else {
        return 0;
    };
    let Some(file) = data.code.file(db) else {
        return 0;
    };
    let at = taipan_code::code_spans(db, data.code).name.start;
    let text = file.text(db);
    LineIndex::new(text).line_column(text, at).0
}

/// A function that runs a test.
#[derive(Clone)]
pub(super) struct TestRunner {
    pub(super) runner: ObjId,
    /// The test function.
    pub(super) func: ObjId,
    /// Of what kinds its arguments are.
    pub(super) kinds: Box<str>,
}

/// The functions that run tests, by the tests' numbers.
pub(super) fn runners(db: &Database, program: Program) -> Vec<Option<TestRunner>> {
    let of = |i: &TestItem| {
        Some(TestRunner {
            runner: i.runner?,
            func: i.func,
            kinds: i.kinds.clone(),
        })
    };
    match &**taipan_interp::tests(db, program) {
        Tests::Found(items) => items.iter().map(of).collect(),
        Tests::Skipped(_) | Tests::Misused(_) | Tests::Failed(_) => Vec::new(),
    }
}
