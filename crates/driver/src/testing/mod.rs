//! Tests of user programs: functions and methods `test*` of test modules, translated
//! and run (`taipan test`).
//!
//! ```text
//! files ─► import time ─► tests ─► group ─► machine code ─► fingerprint ─┬─► known: not run
//!                                                                       └─► child process
//! ```
//!
//! The outcome of a test is a function of its [`fingerprint`]: a hash of the machine
//! code and data that it reaches. Outcomes are kept under it, in the database and, of
//! tests that do not fail, in the cache on disk. So an edit runs the tests again whose
//! code it has changed, and no others. A test that may ask the system for something (a
//! file, the time, the environment) is always run, unless it is to be trusted.

mod execute;
mod files;
mod fingerprint;
mod group;
mod history;
mod process;
mod report;
mod select;
mod words;

use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use taipan_base::{Db, File, LineIndex, Program};
use taipan_code::{CodeId, Origin};
use taipan_codegen_cranelift::LoadedImage;
use taipan_graph::ObjId;
use taipan_interp::{ObjData, Object, TestItem, Tests};
use taipan_lltype::FuncSym;

pub use report::{
    CollectError, Collected, Comparison, Explanation, TestFailure, TestFrame, TestOutcome,
    TestReport, TestReporter, TestResult,
};
pub use select::Selection;

use crate::compile::codegen_failure;
use crate::native::ImageUse;
use crate::parallel::par_map;
use crate::session::load_tests;
use crate::stages::LLFunction;
use crate::{Database, Engine, Failure, LoadOptions, QueryEvent, Timings, guarded, native};
use execute::{Execution, Position};
use fingerprint::{Fingerprint, test_fingerprint};
use group::Group;
use history::{History, Known};
use process::Pool;

/// Name under which outcomes of tests stand in logs of queries.
const OUTCOME: &str = "test_outcome";

/// Which tests to run, and how.
#[derive(Clone, Debug)]
pub struct TestOptions {
    /// Files, folders, or ids as `file.py::TestX::test_y`; none: this folder.
    pub paths: Vec<Utf8PathBuf>,
    /// `-k`
    pub select: Option<Selection>,
    /// Run also what has not changed since it passed.
    pub all: bool,
    /// Run only what failed last, if anything did.
    pub last_failed: bool,
    /// Only look for tests.
    pub collect_only: bool,
    /// Stop after so many failures.
    pub max_failures: Option<usize>,
    /// How long a test may run.
    pub timeout: Duration,
    /// What executes tests. Only outcomes of machine code are kept.
    pub engine: Engine,
    /// Keep outcomes also of tests that may ask the system for something.
    pub trust: bool,
    /// How many tests run at a time.
    pub jobs: usize,
    /// How test modules are loaded.
    pub load: LoadOptions,
}

impl Default for TestOptions {
    fn default() -> Self {
        TestOptions {
            paths: Vec::new(),
            select: None,
            all: false,
            last_failed: false,
            collect_only: false,
            max_failures: None,
            timeout: Duration::from_secs(60),
            engine: Engine::Native,
            trust: false,
            jobs: std::thread::available_parallelism().map_or(1, usize::from),
            load: LoadOptions::default(),
        }
    }
}

/// A test that was chosen.
struct Case {
    id: String,
    file: String,
    item: TestItem,
    line: u32,
}

/// The chosen tests of one file.
struct Module {
    program: Program,
    cases: Vec<Case>,
    /// They are all that the file has.
    whole: bool,
}

/// Looks for tests and runs those that have to be run. Fails only where the options
/// are wrong; whatever is wrong with tests is in the report.
///
/// Runs compiled code in child processes of this one: no other thread may be at work
/// on the database meanwhile, or the child would find it half-way.
pub fn run(
    db: &Database,
    options: &TestOptions,
    timings: &mut Timings,
    reporter: &mut dyn TestReporter,
) -> Result<TestReport, Failure> {
    let start = Instant::now();
    let history = History::new(db);
    let (modules, collected) = timings.phase("collect", || collect(db, options, &history))?;
    reporter.collected(&collected);
    let mut report = TestReport {
        collected,
        ..TestReport::default()
    };
    if !options.collect_only {
        let mut run = Run {
            db,
            options,
            history: &history,
            timings,
            reporter,
            results: Vec::new(),
            failures: report.collected.errors.len(),
        };
        for m in &modules {
            run.module(m)?;
            if run.is_over() {
                report.stopped = true;
                break;
            }
        }
        report.results = run.results;
        history.set_last_failed(&report.results);
    }
    report.duration = start.elapsed();
    Ok(report)
}

/// Looks for the tests that the options choose.
fn collect(
    db: &Database,
    options: &TestOptions,
    history: &History,
) -> Result<(Vec<Module>, Collected), Failure> {
    let files = files::find(&options.paths)?;
    let found = par_map(db, &files, |db, file| {
        guarded(|| {
            let program = load_tests(db, &file.path, &options.load)?;
            let tests = taipan_interp::tests(db, program).clone();
            Ok((program, tests))
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
        let (program, tests) = found.map_err(Failure::from).and_then(|r| r)?;
        let items = match &*tests {
            Tests::Found(items) => items,
            Tests::Skipped(reason) => {
                out.skipped.push((path, reason.to_string()));
                continue;
            }
            Tests::Failed(_) => {
                out.errors.push(CollectError {
                    file: path,
                    diagnostics: crate::session::import_diagnostics(db, program),
                });
                continue;
            }
        };
        let mut cases = Vec::new();
        let mut names = BTreeSet::new();
        for item in items.iter().filter(|i| file.wants(&i.name)) {
            let id = format!("{path}::{}", item.name);
            names.insert(&item.name);
            let keywords: Vec<&str> = (item.keywords.iter().map(|k| &**k))
                .chain([&*item.name, file.path.file_name().unwrap_or("")])
                .collect();
            let selected = options.select.as_ref().is_none_or(|s| s.matches(&keywords))
                && (only.is_empty() || only.contains(&id));
            if !selected {
                out.deselected += 1;
                continue;
            }
            out.ids.push(id.clone());
            cases.push(Case {
                id,
                file: path.clone(),
                line: line_of(db, program, item.func),
                item: item.clone(),
            });
        }
        if let Some(name) = file.names.iter().flatten().find(|n| {
            let one = files::TestFile {
                path: file.path.clone(),
                names: Some(BTreeSet::from([(*n).clone()])),
            };
            !names.iter().any(|name| one.wants(name))
        }) {
            return Err(Failure::Usage(format!("{path}: there is no test {name}")));
        }
        if !cases.is_empty() {
            modules.push(Module {
                program,
                whole: cases.len() == items.len(),
                cases,
            });
        }
    }
    Ok((modules, out))
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

/// A run while it goes on.
struct Run<'a> {
    db: &'a Database,
    options: &'a TestOptions,
    history: &'a History,
    timings: &'a mut Timings,
    reporter: &'a mut dyn TestReporter,
    results: Vec<TestResult>,
    failures: usize,
}

/// What the tests of a module come to, by case; results go out in order.
struct Pending<'a> {
    file: File,
    cases: &'a [Case],
    done: Vec<Option<TestResult>>,
    next: usize,
}

impl Run<'_> {
    fn is_over(&self) -> bool {
        self.options
            .max_failures
            .is_some_and(|n| self.failures >= n)
    }

    /// Compiles and runs the tests of a file.
    fn module(&mut self, module: &Module) -> Result<(), Failure> {
        let target = module.program.target(self.db);
        let mut pending = Pending {
            file: self.db.files().get(self.db, target),
            cases: &module.cases,
            done: vec![None; module.cases.len()],
            next: 0,
        };
        let mut by_runner: HashMap<ObjId, Vec<usize>> = HashMap::new();
        let mut runners = Vec::new();
        for (i, c) in module.cases.iter().enumerate() {
            if let Some(problem) = &c.item.problem {
                let failure = TestFailure::NotRun(problem.to_string());
                self.finish(&mut pending, i, plain(TestOutcome::Failed(failure)), false);
            } else if let Some(reason) = &c.item.skip {
                let outcome = TestOutcome::Skipped(reason.to_string());
                self.finish(&mut pending, i, plain(outcome), false);
            } else if let Some(runner) = c.item.runner {
                let all = by_runner.entry(runner).or_default();
                if all.is_empty() {
                    runners.push(runner);
                }
                all.push(i);
            }
        }
        if self.is_over() {
            return Ok(());
        }
        let groups = group::compile(
            self.db,
            module.program,
            &runners,
            module.whole,
            self.timings,
        );
        for (runner, problems) in groups.broken {
            for i in &by_runner[&runner] {
                let failure = TestFailure::NotCompiled(problems.clone());
                let outcome = TestOutcome::Failed(failure);
                self.finish(&mut pending, *i, plain(outcome), false);
            }
        }
        for g in &groups.groups {
            let cases = g
                .runners
                .iter()
                .flat_map(|r| by_runner[r].iter().map(|i| (*r, *i)));
            self.group(g, cases.collect(), &mut pending)?;
            if self.is_over() {
                break;
            }
        }
        Ok(())
    }

    /// Runs the tests of a group that have to be run.
    fn group(
        &mut self,
        group: &Group,
        cases: Vec<(ObjId, usize)>,
        pending: &mut Pending<'_>,
    ) -> Result<(), Failure> {
        let mut waiting: Vec<(usize, FuncSym, Option<Fingerprint>)> = Vec::new();
        for (runner, i) in cases {
            let Some(sym) = group::runner_sym(self.db, group.roots, runner) else {
                continue;
            };
            let fingerprint = match self.options.engine {
                Engine::Native => guarded(|| {
                    let key = LLFunction::new(self.db, group.roots, sym.clone());
                    self.timings
                        .phase("compare", || test_fingerprint(self.db, key))
                })?,
                Engine::LLInterp => None,
            };
            let fingerprint = fingerprint.filter(|f| self.options.trust || !f.asks_system);
            let id = &pending.cases[i].id;
            let known = match fingerprint {
                Some(f) if !self.options.all => self.history.outcome(self.db, id, f),
                _ => None,
            };
            let event = match &known {
                Some(Known::Warm(_)) => QueryEvent::Validated,
                Some(Known::Stored(_)) => QueryEvent::Restored,
                None => QueryEvent::Executed,
            };
            self.db.log().note(OUTCOME, id, event);
            match known {
                Some(Known::Warm(e) | Known::Stored(e)) => self.finish(pending, i, e, true),
                None => waiting.push((i, sym, fingerprint)),
            }
        }
        if waiting.is_empty() || self.is_over() {
            return Ok(());
        }
        let image = self.image(group, &waiting)?;
        let mut timings = std::mem::take(self.timings);
        let outcome = timings.phase("execute", || {
            self.execute(group, image.as_ref(), waiting, pending)
        });
        *self.timings = timings;
        outcome
    }

    /// The machine code of a group in memory; none if it is to be interpreted.
    fn image(
        &mut self,
        group: &Group,
        tests: &[(usize, FuncSym, Option<Fingerprint>)],
    ) -> Result<Option<LoadedImage>, Failure> {
        if self.options.engine == Engine::LLInterp {
            return Ok(None);
        }
        let entries: Vec<FuncSym> = tests.iter().map(|(_, f, _)| f.clone()).collect();
        self.timings.phase("load", || {
            guarded(|| {
                let image = native::image(self.db, group.roots, &entries, ImageUse::Call)
                    .map_err(|e| codegen_failure(&e))?;
                let loaded = LoadedImage::new(image).map_err(|e| codegen_failure(&e))?;
                Ok(Some(loaded))
            })?
        })
    }

    /// Runs tests in child processes.
    fn execute(
        &mut self,
        group: &Group,
        image: Option<&LoadedImage>,
        waiting: Vec<(usize, FuncSym, Option<Fingerprint>)>,
        pending: &mut Pending<'_>,
    ) -> Result<(), Failure> {
        let db = self.db;
        let mut pool = Pool::new(self.options.timeout);
        let mut waiting = waiting.into_iter();
        let mut fingerprints = HashMap::new();
        loop {
            while pool.len() < self.options.jobs.max(1) && !self.is_over() {
                let Some((i, sym, fingerprint)) = waiting.next() else {
                    break;
                };
                fingerprints.insert(i, fingerprint);
                let started = pool.start(i, || match image {
                    Some(image) => execute::run_native(db, group.roots, image, &sym),
                    None => execute::run_interpreted(db, group.roots, &sym),
                });
                started.map_err(|e| Failure::Usage(format!("a test cannot be started: {e}")))?;
            }
            if pool.len() == 0 {
                return Ok(());
            }
            let Some((i, ended)) = pool.next(Duration::from_millis(100)) else {
                // The database's owner may want to change inputs.
                salsa::Database::unwind_if_revision_cancelled(db);
                continue;
            };
            let execution = execute::interpret(ended, self.options.timeout);
            if let Some(Some(f)) = fingerprints.get(&i) {
                self.history.keep(db, &pending.cases[i].id, *f, &execution);
            }
            self.finish(pending, i, execution, false);
        }
    }

    /// A place in a test module as a frame of a traceback.
    fn place(&self, file: File, p: &Position) -> Option<TestFrame> {
        let db = self.db;
        let code = CodeId::new(db, Origin::Test(file), p.qualname.as_str(), p.nth);
        let spans = taipan_code::code_spans(db, code);
        let at = spans.instrs.get(p.pc as usize)?.start;
        Some(TestFrame {
            file: file.path(db).to_string(),
            function: p.qualname.clone(),
            line: LineIndex::new(file.text(db))
                .line_column(file.text(db), at)
                .0,
        })
    }

    /// Notes what a test came to, and tells of all results that are next.
    fn finish(
        &mut self,
        pending: &mut Pending<'_>,
        i: usize,
        execution: Execution,
        unchanged: bool,
    ) {
        let case = &pending.cases[i];
        let outcome = expected(&case.item, execution.outcome);
        let mut traceback = execution.traceback;
        let failed = execution
            .position
            .and_then(|p| self.place(pending.file, &p));
        if let Some(frame) = failed {
            // Known better than from machine code, where functions are inlined.
            traceback.pop_if(|f| f.file == frame.file && f.function.ends_with(&frame.function));
            traceback.push(frame);
        }
        self.failures += usize::from(outcome.is_failure());
        pending.done[i] = Some(TestResult {
            id: case.id.clone(),
            file: case.file.clone(),
            name: case.item.name.to_string(),
            line: case.line,
            outcome,
            traceback,
            output: execution.output,
            duration: execution.duration,
            unchanged,
        });
        while let Some(result) = pending.done.get_mut(pending.next).and_then(Option::take) {
            pending.next += 1;
            self.reporter.finished(&result);
            self.results.push(result);
        }
    }
}

/// What is known without running anything.
fn plain(outcome: TestOutcome) -> Execution {
    Execution {
        outcome,
        traceback: Vec::new(),
        position: None,
        output: Vec::new(),
        duration: Duration::ZERO,
    }
}

/// What an outcome means for a test that is expected to fail.
fn expected(item: &TestItem, outcome: TestOutcome) -> TestOutcome {
    let Some(reason) = &item.xfail else {
        return outcome;
    };
    match outcome {
        TestOutcome::Failed(_) => TestOutcome::ExpectedFailure(reason.to_string()),
        TestOutcome::Passed if item.strict => {
            TestOutcome::Failed(TestFailure::Said(format!("[XPASS(strict)] {reason}")))
        }
        TestOutcome::Passed => TestOutcome::UnexpectedPass(reason.to_string()),
        other => other,
    }
}
