//! Tests of user programs: functions and methods `test*` of test modules, translated
//! and run (`taipan test`).
//!
//! ```text
//! files ─► import time ─► tests ─► group ─► machine code ─► fingerprint ─┬─► known: not run
//! └──────────── of an unchanged file from the cache ──────────────────┘ └─► child process
//! ```
//!
//! The outcome of a test is a function of its [`fingerprint`]: a hash of the machine
//! code and data that it reaches. Outcomes are kept under it, in the database and, of
//! tests that do not fail, in the cache on disk. So an edit runs the tests again whose
//! code it has changed, and no others. A test that may ask the system for something (a
//! file, the time, the environment) is always run, unless it is to be trusted.

mod code;
mod collect;
mod execute;
mod files;
mod fingerprint;
mod group;
mod history;
mod process;
mod report;
mod select;
mod words;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use taipan_base::{Db, File, LineIndex};
use taipan_code::{CodeId, Origin};

pub use report::{
    CollectError, Collected, Comparison, Explanation, TestFailure, TestFrame, TestOutcome,
    TestReport, TestReporter, TestResult,
};
pub use select::Selection;

use crate::{Database, Engine, Failure, LoadOptions, QueryEvent, Reader, Timings};
use code::{Code, Runner};
use collect::{Case, Module, Test, collect};
use execute::{Execution, Position};
use fingerprint::Fingerprint;
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

/// The files that tests are looked for in.
pub fn test_files(reader: &dyn Reader, options: &TestOptions) -> Result<Vec<Utf8PathBuf>, Failure> {
    let found = files::find(reader, &options.paths)?;
    Ok(found.into_iter().map(|f| f.path).collect())
}

/// Compiles the tests that a run would have to look at, and runs none.
pub fn warm_up(db: &Database, options: &TestOptions) {
    // What goes wrong is said by the next run.
    let Ok((modules, _)) = collect(db, options, &History::new(db)) else {
        return;
    };
    for m in &modules {
        let _ = Code::new(db, m, options.engine).plan(&mut Timings::default());
    }
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

/// A case, and what its outcome depends on, if that can be told.
type Planned = (usize, Option<Fingerprint>);

/// What the tests of a module come to, by case; results go out in order.
struct Pending<'a> {
    file: File,
    cases: &'a [Case],
    done: Vec<Option<TestResult>>,
    next: usize,
}

impl Pending<'_> {
    fn is_over(&self) -> bool {
        self.next == self.cases.len()
    }
}

impl Run<'_> {
    fn is_over(&self) -> bool {
        self.options
            .max_failures
            .is_some_and(|n| self.failures >= n)
    }

    /// Runs the tests of a file that have to be run.
    fn module(&mut self, module: &Module) -> Result<(), Failure> {
        let target = module.program.target(self.db);
        let mut pending = Pending {
            file: self.db.files().get(self.db, target),
            cases: &module.cases,
            done: vec![None; module.cases.len()],
            next: 0,
        };
        for (i, c) in module.cases.iter().enumerate() {
            let outcome = if let Some(problem) = &c.test.problem {
                TestOutcome::Failed(TestFailure::NotRun(problem.clone()))
            } else if let Some(reason) = &c.test.skip {
                TestOutcome::Skipped(reason.clone())
            } else {
                continue;
            };
            self.finish(&mut pending, i, plain(outcome), false);
        }
        if self.is_over() || pending.is_over() {
            return Ok(());
        }
        let mut code = Code::new(self.db, module, self.options.engine);
        let mut plan = code.plan(self.timings)?;
        for (i, problems) in plan.take_broken(self.db) {
            let failure = TestFailure::NotCompiled(problems);
            let outcome = TestOutcome::Failed(failure);
            self.finish(&mut pending, i, plain(outcome), false);
        }
        for (n, tests) in plan.groups.iter().enumerate() {
            let waiting = self.look_up(tests, &mut pending);
            if self.is_over() {
                break;
            }
            if waiting.is_empty() {
                continue;
            }
            let cases: Vec<usize> = waiting.iter().map(|(i, _)| *i).collect();
            let runner = code.runner(n, &cases, self.timings)?;
            let mut timings = std::mem::take(self.timings);
            let outcome = timings.phase("execute", || self.execute(&runner, waiting, &mut pending));
            *self.timings = timings;
            outcome?;
            if self.is_over() {
                break;
            }
        }
        Ok(())
    }

    /// Takes known outcomes; answers the tests that have to be run.
    fn look_up(&mut self, tests: &[Planned], pending: &mut Pending<'_>) -> Vec<Planned> {
        let mut waiting = Vec::new();
        for &(i, fingerprint) in tests {
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
                None => waiting.push((i, fingerprint)),
            }
        }
        waiting
    }

    /// Runs tests in child processes.
    fn execute(
        &mut self,
        runner: &Runner,
        waiting: Vec<Planned>,
        pending: &mut Pending<'_>,
    ) -> Result<(), Failure> {
        let db = self.db;
        let mut pool = Pool::new(self.options.timeout);
        let mut waiting = waiting.into_iter();
        let mut fingerprints = HashMap::new();
        loop {
            // The database's owner may want to change inputs; what runs is outdated then.
            salsa::Database::unwind_if_revision_cancelled(db);
            while pool.len() < self.options.jobs.max(1) && !self.is_over() {
                let Some((i, fingerprint)) = waiting.next() else {
                    break;
                };
                fingerprints.insert(i, fingerprint);
                (pool.start(i, || runner.run(db, i)))
                    .map_err(|e| Failure::Usage(format!("a test cannot be started: {e}")))?;
            }
            if pool.len() == 0 {
                return Ok(());
            }
            let Some((i, ended)) = pool.next(Duration::from_millis(100)) else {
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
        let outcome = expected(&case.test, execution.outcome);
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
            name: case.test.name.clone(),
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
fn expected(test: &Test, outcome: TestOutcome) -> TestOutcome {
    let Some(reason) = &test.xfail else {
        return outcome;
    };
    match outcome {
        TestOutcome::Failed(_) => TestOutcome::ExpectedFailure(reason.clone()),
        TestOutcome::Passed if test.strict => {
            TestOutcome::Failed(TestFailure::Said(format!("[XPASS(strict)] {reason}")))
        }
        TestOutcome::Passed => TestOutcome::UnexpectedPass(reason.clone()),
        other => other,
    }
}
