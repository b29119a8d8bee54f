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
mod coverage;
mod executable;
mod execute;
mod files;
mod fingerprint;
mod group;
mod history;
mod process;
mod report;
mod select;
mod session;
mod words;

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use taipan_base::{Db, ErrorCode, File, LineIndex};
use taipan_code::{CodeId, Origin};

pub use coverage::{Coverage, FileCoverage};
pub use executable::build_test;
pub use report::{
    CollectError, Collected, Comparison, Explanation, TestExit, TestFailure, TestFrame,
    TestOutcome, TestReport, TestReporter, TestResult,
};
pub use select::Selection;

use code::{Code, Runner};
use collect::{Case, Module, Test, collect};
use coverage::Executed;
use execute::{Execution, Position};
use fingerprint::Fingerprint;
use history::{History, Known};
use process::Pool;
use session::Workers;
use taipan_driver::parts::SYNTAX;
use taipan_driver::{Database, Failure, LoadOptions, QueryEvent, Reader, Timings, guarded};
use taipan_interp::{Observed, TestSession};

/// Code of the error that a function cannot be compiled since its file is no Python.
const NO_PYTHON: ErrorCode = ErrorCode::BrokenFunction;

/// Why a test that fails as machine code and passes as Python passes.
const SHOWS_INSTANCES: &str =
    "it passes as Python alone, where str() of an instance calls its methods";

/// Name under which outcomes of tests stand in logs of queries.
const OUTCOME: &str = "test_outcome";

/// What executes tests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TestEngine {
    /// Machine code; the interpreter of bytecode for tests that cannot be translated.
    Auto,
    /// Machine code. What cannot be translated fails.
    Native,
    /// The interpreter of graphs.
    LLInterp,
    /// The interpreter of bytecode, which takes tests as Python.
    Interp,
}

/// Which tests to run, and how.
#[derive(Clone, Debug)]
pub struct TestOptions {
    /// Files, folders, or ids as `file.py::TestX::test_y`; none: this folder.
    pub paths: Vec<Utf8PathBuf>,
    /// `-k`
    pub select: Option<Selection>,
    /// `-m`: an expression over names of marks.
    pub marks: Option<Selection>,
    /// Prefixes of ids of tests that are left out.
    pub deselected: Vec<String>,
    /// Files and folders that are left out where folders are searched.
    pub ignored: Vec<Utf8PathBuf>,
    /// Run also what has not changed since it passed.
    pub all: bool,
    /// Run only what failed last, if anything did.
    pub last_failed: bool,
    /// Run what failed last first.
    pub failed_first: bool,
    /// Report the local variables of the functions that a failure ends.
    pub show_locals: bool,
    /// Report the executed lines of functions. All tests are interpreted then.
    pub coverage: bool,
    /// Only look for tests.
    pub collect_only: bool,
    /// Number of failures after which the run stops.
    pub max_failures: Option<usize>,
    /// How long a test may run.
    pub timeout: Duration,
    /// What executes tests. Only outcomes of machine code are kept.
    pub engine: TestEngine,
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
            marks: None,
            deselected: Vec::new(),
            ignored: Vec::new(),
            all: false,
            last_failed: false,
            failed_first: false,
            show_locals: false,
            coverage: false,
            collect_only: false,
            max_failures: None,
            timeout: Duration::from_secs(60),
            engine: TestEngine::Auto,
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
            exit: None,
            executed: Executed::default(),
        };
        for m in &modules {
            run.module(m)?;
            if options.coverage {
                run.executed.add_program(db, m.program);
            }
            if run.is_over() {
                report.stopped = true;
                break;
            }
        }
        report.coverage = options.coverage.then(|| run.executed.coverage(db));
        report.exit = run.exit;
        report.results = run.results;
        history.set_last_failed(&report.results);
    }
    report.duration = start.elapsed();
    Ok(report)
}

/// The files that tests are looked for in.
pub fn test_files(reader: &dyn Reader, options: &TestOptions) -> Result<Vec<Utf8PathBuf>, Failure> {
    let found = files::find(reader, &options.paths, &options.ignored)?;
    Ok(found.into_iter().map(|f| f.path).collect())
}

/// Compiles the tests that a run would have to look at, and runs none.
pub fn warm_up(db: &Database, options: &TestOptions) {
    // Nothing is compiled for tests that are interpreted.
    if options.coverage {
        return;
    }
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
    /// A test has ended it.
    exit: Option<TestExit>,
    executed: Executed,
}

/// A case, and what its outcome depends on, if that can be told.
type Planned = (usize, Option<Fingerprint>);

/// What the tests of a module come to, by case; results go out in order.
struct Pending<'a> {
    file: File,
    cases: &'a [Case],
    done: Vec<Option<TestResult>>,
    next: usize,
    /// Why tests are interpreted.
    interpreted: HashMap<usize, String>,
    /// Tests that Python may have right where machine code fails.
    show_instances: HashSet<usize>,
    /// Tests that end the whole run.
    exits: HashMap<usize, TestExit>,
}

impl Pending<'_> {
    /// The tests without a result.
    fn open(&self) -> impl Iterator<Item = usize> {
        (self.next..self.cases.len()).filter(|i| self.done[*i].is_none())
    }

    fn is_over(&self) -> bool {
        self.next == self.cases.len()
    }
}

impl Run<'_> {
    fn is_over(&self) -> bool {
        let enough = (self.options.max_failures).is_some_and(|n| self.failures >= n);
        enough || self.exit.is_some()
    }

    /// Runs the tests of a file that have to be run.
    fn module(&mut self, module: &Module) -> Result<(), Failure> {
        let target = module.program.target(self.db);
        let mut pending = Pending {
            file: self.db.files().get(self.db, target),
            cases: &module.cases,
            done: vec![None; module.cases.len()],
            next: 0,
            interpreted: HashMap::new(),
            show_instances: HashSet::new(),
            exits: HashMap::new(),
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
        let engine = match self.options.coverage {
            true => TestEngine::Interp,
            false => self.options.engine,
        };
        let mut as_python = Vec::new();
        let (mut groups, mut code) = (Vec::new(), Code::new(self.db, module, engine));
        if engine == TestEngine::Interp {
            as_python = pending.open().map(|i| (i, String::new())).collect();
        } else {
            for i in pending.open().collect::<Vec<_>>() {
                if let Some(reason) = module.cases[i].test.interpreted.clone() {
                    as_python.push((i, reason));
                }
            }
            // Nothing has to be compiled for tests that are all interpreted.
            if as_python.len() < pending.open().count() {
                let mut plan = code.plan(self.timings)?;
                for (i, problems) in plan.take_broken(self.db) {
                    // What is no Python is for no interpreter either.
                    let python = problems
                        .iter()
                        .all(|p| ![SYNTAX, NO_PYTHON].contains(&p.code));
                    if module.broken && python {
                        let problem = "a file that it needs has a syntax error".to_owned();
                        let outcome = TestOutcome::Failed(TestFailure::NotRun(problem));
                        self.finish(&mut pending, i, plain(outcome), false);
                        continue;
                    }
                    let failure = TestFailure::NotCompiled(problems);
                    if engine == TestEngine::Auto && python {
                        as_python.push((i, failure.headline()));
                    } else {
                        let outcome = TestOutcome::Failed(failure);
                        self.finish(&mut pending, i, plain(outcome), false);
                    }
                }
                let shows = pending.open().filter(|i| plan.shows_instances(*i));
                pending.show_instances = shows.collect();
                groups = plan.groups;
            }
        }
        for (n, tests) in groups.iter().enumerate() {
            let waiting = self.look_up(tests, &mut pending);
            if self.is_over() {
                break;
            }
            if waiting.is_empty() {
                continue;
            }
            let cases: Vec<usize> = waiting.iter().map(|(i, _)| *i).collect();
            let runner = code.runner(n, &cases, self.timings)?;
            self.timed(|run| run.execute(module, &runner, waiting, &mut pending))?;
            if self.is_over() {
                break;
            }
        }
        as_python.sort();
        if as_python.is_empty() || self.is_over() {
            return Ok(());
        }
        if !matches!(engine, TestEngine::Auto | TestEngine::Interp) {
            for (i, reason) in as_python {
                let problem = format!("it cannot be translated: {reason}");
                let outcome = TestOutcome::Failed(TestFailure::NotRun(problem));
                self.finish(&mut pending, i, plain(outcome), false);
            }
            return Ok(());
        }
        let runner = code::python(self.db, module)?;
        let waiting: Vec<usize> = as_python.iter().map(|(i, _)| *i).collect();
        pending.interpreted = as_python.into_iter().collect();
        self.timed(
            |run| match taipan_interp::has_test_session(run.db, module.program) {
                true => run.execute_session(module, &waiting, &mut pending),
                false => {
                    let waiting = waiting.iter().map(|i| (*i, None)).collect();
                    run.execute(module, &runner, waiting, &mut pending)
                }
            },
        )
    }

    /// Runs the tests of a session in worker processes.
    fn execute_session(
        &mut self,
        module: &Module,
        tests: &[usize],
        pending: &mut Pending<'_>,
    ) -> Result<(), Failure> {
        let db = self.db;
        let cannot = |e| Failure::Usage(format!("a test cannot be started: {e}"));
        let number = |i: &usize| pending.cases[*i].test.number;
        let numbers: Vec<usize> = tests.iter().map(number).collect();
        let mut workers = Workers::new(self.options.timeout).map_err(cannot)?;
        let mut waiting = tests.len();
        while waiting > 0 && !self.is_over() {
            // An input is about to change: the running tests are outdated.
            salsa::Database::unwind_if_revision_cancelled(db);
            while workers.len() < self.options.jobs.clamp(1, waiting)
                && workers.has_work(tests.len())
                && let Some(session) =
                    guarded(|| TestSession::new(db, module.program, self.observed()))?
            {
                workers.start(session, &numbers).map_err(cannot)?;
            }
            for (place, ended) in workers.next(Duration::from_millis(100)) {
                let execution = execute::interpret(ended, self.options.timeout);
                waiting -= 1;
                self.finish(pending, tests[place], execution, false);
            }
        }
        Ok(())
    }

    /// Counts what runs as the execution of tests.
    fn timed(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut timings = std::mem::take(self.timings);
        let outcome = timings.phase("execute", || work(self));
        *self.timings = timings;
        outcome
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
        module: &Module,
        runner: &Runner,
        waiting: Vec<Planned>,
        pending: &mut Pending<'_>,
    ) -> Result<(), Failure> {
        let db = self.db;
        let mut pool = Pool::new(self.options.timeout);
        let mut waiting = waiting.into_iter().peekable();
        let mut fingerprints = HashMap::new();
        // Failures of which the interpreter of bytecode may know more, and the interpreter.
        let mut to_diagnose = HashMap::new();
        let mut python = None;
        let observed = self.observed();
        let locals = observed.locals;
        let start = |pool: &mut Pool, runner: &Runner, i| {
            (pool.start(i, || runner.run(db, i, observed)))
                .map_err(|e| Failure::Usage(format!("a test cannot be started: {e}")))
        };
        loop {
            // An input is about to change: the running tests are outdated.
            salsa::Database::unwind_if_revision_cancelled(db);
            while pool.len() < self.options.jobs.max(1)
                && let Some((i, fingerprint)) =
                    waiting.next_if(|(i, _)| !self.enough_before(*i, pending))
            {
                fingerprints.insert(i, fingerprint);
                start(&mut pool, runner, i)?;
            }
            if pool.len() == 0 || self.is_over() {
                return Ok(());
            }
            let Some((i, ended)) = pool.next(Duration::from_millis(100)) else {
                continue;
            };
            let mut execution = execute::interpret(ended, self.options.timeout);
            let shows_instances = pending.show_instances.contains(&i);
            if let Some(native) = to_diagnose.remove(&i) {
                // What the test is about may be that text.
                if shows_instances && execution.outcome == TestOutcome::Passed {
                    pending.interpreted.insert(i, SHOWS_INSTANCES.to_owned());
                } else {
                    execution = execute::diagnosed(native, execution);
                }
            } else {
                if let Some(Some(f)) = fingerprints.get(&i) {
                    self.history.keep(db, &pending.cases[i].id, *f, &execution);
                }
                let worth_it = match &execution.outcome {
                    _ if execution.exit.is_some() => false,
                    TestOutcome::Failed(
                        TestFailure::Exception { .. }
                        | TestFailure::Ended(_)
                        | TestFailure::Said(_),
                    ) => shows_instances || locals || execution.position.is_none(),
                    TestOutcome::Failed(TestFailure::Assertion(_)) => shows_instances || locals,
                    _ => false,
                };
                let automatic = self.options.engine == TestEngine::Auto;
                if worth_it && automatic && matches!(runner, Runner::Native(..)) {
                    if python.is_none() {
                        python = Some(code::python(db, module)?);
                    }
                    if let Some(python) = &python {
                        start(&mut pool, python, i)?;
                        to_diagnose.insert(i, execution);
                        continue;
                    }
                }
            }
            self.finish(pending, i, execution, false);
        }
    }

    fn observed(&self) -> Observed {
        Observed {
            locals: self.options.show_locals,
            lines: self.options.coverage,
        }
    }

    /// Whether so many tests before this one have failed that it is not to be run.
    fn enough_before(&self, i: usize, pending: &Pending<'_>) -> bool {
        if pending.exits.keys().any(|exit| *exit < i) {
            return true;
        }
        let waiting = pending.done[..i].iter().flatten();
        let failed = waiting.filter(|r| r.outcome.is_failure()).count();
        (self.options.max_failures).is_some_and(|n| self.failures + failed >= n)
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
            locals: Vec::new(),
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
        self.executed.add(execution.lines);
        if let Some(exit) = execution.exit {
            pending.exits.insert(i, exit);
        }
        let case = &pending.cases[i];
        let outcome = expected(&case.test, execution.outcome);
        let mut traceback = execution.traceback;
        let failed = execution
            .position
            .and_then(|p| self.place(pending.file, &p));
        if let Some(mut frame) = failed {
            // Known better than from machine code, where functions are inlined.
            let same =
                traceback.pop_if(|f| f.file == frame.file && f.function.ends_with(&frame.function));
            frame.locals = same.map(|f| f.locals).unwrap_or_default();
            traceback.push(frame);
        }
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
            interpreted: pending.interpreted.get(&i).cloned(),
            note: execution.note,
        });
        // With `-x` nothing is told of what comes after the last failure that is allowed.
        while !self.is_over()
            && let Some(result) = pending.done.get_mut(pending.next).and_then(Option::take)
        {
            // The test that ends the run has no outcome.
            if let Some(exit) = pending.exits.remove(&pending.next) {
                self.exit = Some(exit);
                return;
            }
            pending.next += 1;
            self.failures += usize::from(result.outcome.is_failure());
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
        exit: None,
        output: Vec::new(),
        note: None,
        duration: Duration::ZERO,
        lines: Vec::new(),
    }
}

/// What an outcome means for a test that is expected to fail.
fn expected(test: &Test, outcome: TestOutcome) -> TestOutcome {
    let Some(reason) = &test.xfail else {
        return outcome;
    };
    match outcome {
        // It raised another exception, or no test of this kind came to one.
        TestOutcome::Failed(_) if test.raises => outcome,
        TestOutcome::Failed(_) => TestOutcome::ExpectedFailure(reason.clone()),
        TestOutcome::Passed if test.strict => {
            TestOutcome::Failed(TestFailure::Said(format!("[XPASS(strict)] {reason}")))
        }
        TestOutcome::Passed => TestOutcome::UnexpectedPass(reason.clone()),
        other => other,
    }
}
