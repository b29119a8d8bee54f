//! What tests came to, as plain data.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use taipan_base::Diagnostic;

use crate::coverage::Coverage;

/// What became of a test.
#[derive(Clone, PartialEq, Debug)]
pub enum TestOutcome {
    /// It passed.
    Passed,
    /// It failed.
    Failed(TestFailure),
    /// It was not run, or stopped itself, and why.
    Skipped(String),
    /// It failed as expected, and why that is expected.
    ExpectedFailure(String),
    /// It passed although that was not expected.
    UnexpectedPass(String),
}

impl TestOutcome {
    /// Whether it makes the run a failure.
    pub fn is_failure(&self) -> bool {
        matches!(self, TestOutcome::Failed(_))
    }
}

/// A test has ended the whole run (`pytest.exit()`).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TestExit {
    /// Why.
    pub reason: String,
    /// The exit code that it wants.
    pub code: Option<i32>,
}

/// Why a test failed.
#[derive(Clone, PartialEq, Debug)]
pub enum TestFailure {
    /// An assert does not hold.
    Assertion(Explanation),
    /// It said so: by `pytest.fail()`, or since what should be raised was not.
    Said(String),
    /// An exception came out: the name of its class, and its text where that is known.
    Exception {
        /// The class.
        class: String,
        /// What `str()` makes of it.
        text: String,
    },
    /// It ended the process: how.
    Ended(String),
    /// It took longer than this.
    TimedOut(Duration),
    /// It cannot be compiled. Errors may be no place's.
    NotCompiled(Vec<Diagnostic>),
    /// It cannot be run, for a reason that is not in its code.
    NotRun(String),
}

/// What a failed assert says of itself. Values are as `repr()` gives them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Explanation {
    /// Source of the expression.
    pub expression: String,
    /// The operator and the values on its sides, of a comparison.
    pub comparison: Option<Comparison>,
    /// The value of an expression that is no comparison.
    pub value: Option<String>,
    /// Local variables in the expression, and their values.
    pub variables: Vec<(String, String)>,
    /// The message that the assert itself gives.
    pub message: Option<String>,
}

/// A comparison that did not hold.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Comparison {
    /// `==`, `not in`, ...
    pub operator: String,
    /// Left value.
    pub left: String,
    /// Right value.
    pub right: String,
    /// Source of the left side, unless it is a literal.
    pub left_source: Option<String>,
    /// Source of the right side, unless it is a literal.
    pub right_source: Option<String>,
}

/// A function that a failure went through.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TestFrame {
    /// The source file.
    pub file: String,
    /// The function.
    pub function: String,
    /// The line, from 1; 0 if unknown.
    pub line: u32,
    /// Its local variables and their values, if they are shown and the test ran as Python.
    pub locals: Vec<(String, String)>,
}

/// One test and what became of it.
#[derive(Clone, PartialEq, Debug)]
pub struct TestResult {
    /// `path/test_a.py::TestX::test_m[1-2]`
    pub id: String,
    /// The file in it.
    pub file: String,
    /// What follows the file.
    pub name: String,
    /// Line of the definition, from 1; 0 if unknown.
    pub line: u32,
    /// What became of it.
    pub outcome: TestOutcome,
    /// The way of the exception, outermost function first.
    pub traceback: Vec<TestFrame>,
    /// What it printed.
    pub output: Vec<u8>,
    /// How long it ran.
    pub duration: Duration,
    /// It was not run: what it reaches has not changed since it passed.
    pub unchanged: bool,
    /// It ran in the interpreter, as Python, and why it was not translated.
    pub interpreted: Option<String>,
    /// What else there is to say of its failure.
    pub note: Option<String>,
}

/// A test file that no tests can be found in.
#[derive(Clone, PartialEq, Debug)]
pub struct CollectError {
    /// The file.
    pub file: String,
    /// What is wrong.
    pub diagnostics: Vec<Diagnostic>,
}

/// What was found before anything runs.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Collected {
    /// Ids of the tests that were chosen, in order.
    pub ids: Vec<String>,
    /// How many were found but not chosen.
    pub deselected: usize,
    /// Files that skip themselves, and why.
    pub skipped: Vec<(String, String)>,
    /// Files in which tests cannot be looked for.
    pub errors: Vec<CollectError>,
}

/// A whole run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TestReport {
    /// What was found.
    pub collected: Collected,
    /// All results, in order.
    pub results: Vec<TestResult>,
    /// It ended early, after so many failures as were allowed.
    pub stopped: bool,
    /// It ended early since a test ended it.
    pub exit: Option<TestExit>,
    /// How long it took.
    pub duration: Duration,
    /// Executed lines of functions, if they are asked for.
    pub coverage: Option<Coverage>,
}

impl TestReport {
    /// How many results are of a kind.
    pub fn count(&self, of: impl Fn(&TestResult) -> bool) -> usize {
        self.results.iter().filter(|r| of(r)).count()
    }

    /// Number of tests that failed, and of files without tests for an error.
    pub fn failures(&self) -> usize {
        self.count(|r| r.outcome.is_failure()) + self.collected.errors.len()
    }
}

/// Is told of a run while it goes on.
pub trait TestReporter {
    /// Tests have been looked for.
    fn collected(&mut self, collected: &Collected) {
        let _ = collected;
    }

    /// A test has ended. In the order of [`Collected::ids`].
    fn finished(&mut self, result: &TestResult) {
        let _ = result;
    }
}

/// Tells nobody.
impl TestReporter for () {}
