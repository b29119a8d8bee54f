//! One test in a child process: what the child does, and what its records mean.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use taipan_annotator::Roots;
use taipan_base::Program;
use taipan_code::explanation as field;
use taipan_codegen::{Place, is_source_file};
use taipan_codegen_cranelift::{LoadedImage, RaisedException, TracebackPlace, call_trampoline};
use taipan_interp::{Observed, TestEnd, TestRun, run_test};
use taipan_llinterp::{LLError, LLInterpreter};
use taipan_lltype::FuncSym;

use crate::process::{Ended, Exit, record};
use crate::report::{Comparison, Explanation, TestExit, TestFailure, TestFrame, TestOutcome};
use taipan_driver::Database;
use taipan_driver::parts::{GraphStage, StageProgram, short_name};

/// Kinds of records. The first six come from `_taipan_testing`.
mod kind {
    /// Explanation of an assert that does not hold.
    pub(super) const ASSERTION: u8 = b'a';
    /// The test says that it fails.
    pub(super) const FAILED: u8 = b'f';
    /// It skips itself.
    pub(super) const SKIPPED: u8 = b's';
    /// Where something was not raised.
    pub(super) const POSITION: u8 = b'p';
    /// It says that its failure is expected.
    pub(super) const EXPECTED: u8 = b'x';
    /// It ends the whole run.
    pub(super) const EXIT: u8 = b'q';
    /// The test function has returned.
    pub(super) const RETURNED: u8 = b'k';
    /// An exception came out of it.
    pub(super) const RAISED: u8 = b'e';
    /// It could not be run.
    pub(super) const BROKEN: u8 = b'b';
    /// Executed lines, sent before the outcome.
    pub(super) const LINES: u8 = b'l';
}

/// A place in a test module: pc, and the code that it counts in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Position {
    pub(super) pc: u32,
    pub(super) nth: u32,
    pub(super) qualname: String,
}

/// What a run of a test came to, marks and expectations aside.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Execution {
    pub(super) outcome: TestOutcome,
    pub(super) traceback: Vec<TestFrame>,
    /// The statement of the test module that failed, where it says so.
    pub(super) position: Option<Position>,
    /// The test ends the whole run; its outcome does not count.
    pub(super) exit: Option<TestExit>,
    pub(super) output: Vec<u8>,
    /// What else there is to say of a failure.
    pub(super) note: Option<String>,
    pub(super) duration: Duration,
    /// Files and their executed lines, if they are recorded.
    pub(super) lines: Vec<(String, Vec<u32>)>,
}

/// An exception on its way from the child.
#[derive(Serialize, Deserialize)]
struct Raised {
    /// Name of its class, without the module.
    class: String,
    /// Its meaning, if it is no error of the test's code.
    end: Option<TestEnd>,
    /// What `str()` makes of it, where that is known.
    text: String,
    /// The functions that it ended, outermost first.
    frames: Vec<TestFrame>,
}

/// Files of which frames say nothing of a test.
const HELPERS: [&str; 7] = [
    "/_taipan_testing.py",
    "/_taipan_hooks.py",
    "/_taipan_nodes.py",
    "/_taipan_fixtures.py",
    "/lib_python/pytest.py",
    "/lib_python/unittest.py",
    "/lib_python/py/test.py",
];

/// What is said of a test that is not in the program which it should be in.
const LOST: &[u8] = b"there is no code for it";

/// Runs a test by its machine code, in a child. Looks at no database: another thread of
/// the parent may be at work on it, of which the child sees half.
pub(super) fn run_native(image: &LoadedImage, entry: Option<&Place>) {
    match entry.map(|at| call_trampoline(image, *at)) {
        Some(Ok(())) => record(kind::RETURNED, b""),
        Some(Err(raised)) => record_exception(raised),
        None => record(kind::BROKEN, LOST),
    }
}

/// Runs a test in the interpreter of graphs, in a child. No other thread of the parent
/// may be at work on the database.
pub(super) fn run_interpreted(db: &Database, roots: Roots, runner: Option<&FuncSym>) {
    let Some(runner) = runner else {
        return record(kind::BROKEN, LOST);
    };
    let program = StageProgram::new(db, roots, GraphStage::Rtyped);
    let mut interp = LLInterpreter::new(&program);
    match interp.eval(runner, Vec::new()) {
        Ok(_) => record(kind::RETURNED, b""),
        Err(LLError::Raised(e)) => record_exception(RaisedException {
            class: e.name,
            traceback: (e.traceback.into_iter().rev())
                .map(|function| TracebackPlace {
                    file: String::new(),
                    function,
                    line: 0,
                })
                .collect(),
        }),
        // SAFETY: ends the child as the test asks.
        Err(LLError::Exit(code)) => unsafe { libc::_exit(code) },
        Err(LLError::Fault(f)) => record(kind::BROKEN, f.to_string().as_bytes()),
    }
}

/// Runs a test in the interpreter, as Python, in a child. No other thread of the parent
/// may be at work on the database.
pub(super) fn run_as_python(db: &Database, program: Program, number: usize, observed: Observed) {
    match run_test(db, program, number, observed) {
        Ok(run) => {
            // A failed write means that the parent has gone.
            let _ = std::io::Write::write_all(&mut std::io::stdout(), &run.printed);
            let _ = std::io::Write::flush(&mut std::io::stdout());
            record_run(run);
        }
        Err(why) => record(kind::BROKEN, why.as_bytes()),
    }
}

/// Writes the outcome of a test to the parent process.
pub(super) fn record_run(run: TestRun) {
    if !run.lines.is_empty() {
        match serde_json::to_vec(&run.lines) {
            Ok(bytes) => record(kind::LINES, &bytes),
            Err(e) => return record(kind::BROKEN, e.to_string().as_bytes()),
        }
    }
    let Some(raised) = run.raised else {
        return record(kind::RETURNED, b"");
    };
    let text = raised.text.as_bytes();
    if let Some(end) = raised.end {
        record(kind_of(end), text);
    }
    record_raised(&Raised {
        class: raised.class,
        end: raised.end,
        text: raised.text,
        frames: (raised.frames.into_iter())
            .map(|f| TestFrame {
                file: f.file,
                function: f.function,
                line: u32::try_from(f.line).unwrap_or(0),
                locals: f.locals,
            })
            .collect(),
    });
}

/// The kind of record with the text of an end.
fn kind_of(end: TestEnd) -> u8 {
    match end {
        TestEnd::Skipped => kind::SKIPPED,
        TestEnd::ExpectedFailure => kind::EXPECTED,
        TestEnd::Failed => kind::FAILED,
        TestEnd::Assertion => kind::ASSERTION,
        TestEnd::Exit => kind::EXIT,
    }
}

fn record_exception(e: RaisedException) {
    let class = short_name(&e.class);
    record_raised(&Raised {
        end: TestEnd::of_name(class),
        class: class.to_owned(),
        text: String::new(),
        frames: (e.traceback.into_iter())
            .map(|f| TestFrame {
                file: f.file,
                function: f.function,
                line: u32::try_from(f.line).unwrap_or(0),
                locals: Vec::new(),
            })
            .collect(),
    });
}

fn record_raised(raised: &Raised) {
    match serde_json::to_vec(raised) {
        Ok(bytes) => record(kind::RAISED, &bytes),
        Err(e) => record(kind::BROKEN, e.to_string().as_bytes()),
    }
}

/// What a child came to.
pub(super) fn interpret(ended: Ended, timeout: Duration) -> Execution {
    let mut traceback = Vec::new();
    let outcome = match ended.records.last() {
        Some((kind::RETURNED, _)) if ended.exit != Exit::TimedOut => TestOutcome::Passed,
        Some((kind::RAISED, bytes)) => match serde_json::from_slice::<Raised>(bytes) {
            Ok(raised) => {
                traceback = frames(raised.frames);
                exception(raised.end, raised.class, raised.text, &ended.records)
            }
            Err(e) => TestOutcome::Failed(TestFailure::NotRun(e.to_string())),
        },
        Some((kind::BROKEN, message)) => {
            let message = String::from_utf8_lossy(message).into_owned();
            TestOutcome::Failed(TestFailure::NotRun(message))
        }
        _ => TestOutcome::Failed(match ended.exit {
            Exit::TimedOut => TestFailure::TimedOut(timeout),
            Exit::Signal(n) => TestFailure::Ended(format!("killed by {}", signal_name(n))),
            Exit::Code(n) => TestFailure::Ended(format!("the process ended with exit code {n}")),
        }),
    };
    let said_so = matches!(
        outcome,
        TestOutcome::Failed(TestFailure::Assertion(_) | TestFailure::Said(_))
    );
    let position = position(&ended.records).filter(|_| said_so);
    let exit = match &outcome {
        TestOutcome::Failed(TestFailure::Said(text)) => exit(text, &ended.records),
        _ => None,
    };
    let lines = ended.records.iter().find(|(k, _)| *k == kind::LINES);
    let lines = lines.and_then(|(_, bytes)| serde_json::from_slice(bytes).ok());
    Execution {
        outcome,
        traceback,
        position,
        exit,
        output: ended.output,
        note: None,
        duration: ended.duration,
        lines: lines.unwrap_or_default(),
    }
}

/// What an exception that came out of a test means.
fn exception(
    end: Option<TestEnd>,
    class: String,
    text: String,
    records: &[(u8, Vec<u8>)],
) -> TestOutcome {
    let said = |end: TestEnd| {
        let mut last = records.iter().rev();
        let (_, text) = last.find(|(k, _)| *k == kind_of(end))?;
        Some((end, String::from_utf8_lossy(text).into_owned()))
    };
    // Without a record the class is the program's own.
    match end.and_then(said) {
        Some((TestEnd::Skipped, text)) => TestOutcome::Skipped(text),
        Some((TestEnd::ExpectedFailure, text)) => TestOutcome::ExpectedFailure(text),
        Some((TestEnd::Failed | TestEnd::Exit, text)) => {
            TestOutcome::Failed(TestFailure::Said(text))
        }
        Some((TestEnd::Assertion, text)) => {
            TestOutcome::Failed(TestFailure::Assertion(explanation(&text)))
        }
        None => TestOutcome::Failed(TestFailure::Exception { class, text }),
    }
}

/// The end of the whole run that a failure stands for: its text is that of the last such record.
fn exit(text: &str, records: &[(u8, Vec<u8>)]) -> Option<TestExit> {
    let (_, last) = records.iter().rev().find(|(k, _)| *k == kind::EXIT)?;
    if last != text.as_bytes() {
        return None;
    }
    let (code, reason) = text.split_once(' ')?;
    Some(TestExit {
        reason: reason.to_owned(),
        // None was given.
        code: code.parse().ok().filter(|code| *code >= 0),
    })
}

/// The place that the last record with one names.
fn position(records: &[(u8, Vec<u8>)]) -> Option<Position> {
    let (kind, last) = (records.iter().rev())
        .find(|(k, _)| matches!(*k, kind::ASSERTION | kind::FAILED | kind::POSITION))?;
    let place = match *kind {
        kind::ASSERTION => last,
        // What was not raised is told of after its place.
        _ => &records.iter().rev().find(|(k, _)| *k == kind::POSITION)?.1,
    };
    let text = String::from_utf8_lossy(place);
    let field = text
        .split('\0')
        .find_map(|f| f.strip_prefix(field::POSITION))?;
    let mut parts = field.splitn(3, ' ');
    Some(Position {
        pc: parts.next()?.parse().ok()?,
        nth: parts.next()?.parse().ok()?,
        qualname: parts.next()?.to_owned(),
    })
}

/// Takes an explanation apart.
fn explanation(text: &str) -> Explanation {
    let mut out = Explanation::default();
    let mut rest = Some(text);
    while let Some(field) = rest {
        // A message is the last field: it may hold anything.
        let (field, more) = match field.starts_with(field::MESSAGE) {
            true => (field, None),
            false => match field.split_once('\0') {
                Some((field, more)) => (field, Some(more)),
                None => (field, None),
            },
        };
        rest = more;
        let Some(tag) = field.chars().next() else {
            continue;
        };
        let value = field[tag.len_utf8()..].to_owned();
        let comparison = &mut out.comparison;
        let mut compared = |set: fn(&mut Comparison, String)| {
            set(comparison.get_or_insert_default(), value.clone());
        };
        match tag {
            field::EXPRESSION => out.expression = value,
            field::OPERATOR => compared(|c, v| c.operator = v),
            field::LEFT => compared(|c, v| c.left = v),
            field::RIGHT => compared(|c, v| c.right = v),
            field::LEFT_SOURCE => compared(|c, v| c.left_source = Some(v)),
            field::RIGHT_SOURCE => compared(|c, v| c.right_source = Some(v)),
            field::VALUE => out.value = Some(value),
            field::NAME => {
                if let Some((name, v)) = value.split_once('=') {
                    out.variables.push((name.to_owned(), v.to_owned()));
                }
            }
            field::MESSAGE => out.message = Some(value),
            _ => {}
        }
    }
    out
}

/// The way of an exception without what the testing module adds.
fn frames(mut all: Vec<TestFrame>) -> Vec<TestFrame> {
    // Functions that run tests are made from texts.
    all.retain(|f| is_source_file(&f.file) && !HELPERS.iter().any(|h| f.file.ends_with(h)));
    all
}

/// What a test came to that failed as machine code and was then run as Python, which
/// knows more of exceptions.
pub(super) fn diagnosed(native: Execution, python: Execution) -> Execution {
    let TestOutcome::Failed(failure) = &native.outcome else {
        return native;
    };
    let same = match (failure, &python.outcome) {
        (
            TestFailure::Exception { class, .. },
            TestOutcome::Failed(TestFailure::Exception { class: other, .. }),
        ) => class == other,
        (TestFailure::Said(_), TestOutcome::Failed(TestFailure::Said(_))) => true,
        (TestFailure::Assertion(_), TestOutcome::Failed(TestFailure::Assertion(_))) => true,
        _ => false,
    };
    if same {
        return Execution {
            outcome: python.outcome,
            traceback: python.traceback,
            ..native
        };
    }
    let note = match &python.outcome {
        TestOutcome::Passed => "run as Python it passes: here RPython and Python differ".to_owned(),
        TestOutcome::Failed(other @ TestFailure::Exception { .. }) => {
            format!("run as Python it ends with {}", other.headline())
        }
        _ => return native,
    };
    // The interpreter knows where it ended, if machine code does not.
    let traceback = match (native.traceback.is_empty(), &python.outcome) {
        (true, TestOutcome::Failed(_)) => python.traceback,
        _ => native.traceback,
    };
    Execution {
        note: Some(note),
        traceback,
        ..native
    }
}

fn signal_name(n: i32) -> String {
    let name = match n {
        libc::SIGSEGV => "SIGSEGV (a bad memory access, or the stack overflowed)",
        libc::SIGBUS => "SIGBUS",
        libc::SIGABRT => "SIGABRT",
        libc::SIGFPE => "SIGFPE",
        libc::SIGILL => "SIGILL (a trap in machine code)",
        libc::SIGKILL => "SIGKILL",
        libc::SIGTERM => "SIGTERM",
        libc::SIGINT => "SIGINT",
        _ => return format!("signal {n}"),
    };
    name.to_owned()
}
