//! The tests of a test module, as import time finds them: the shipped module
//! `_taipan_testing` looks at the live objects, so decorators have run and parameters
//! are what they are.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use taipan_base::{Db, Diagnostic, Note, Program, SHIPPED};
use taipan_code::CodeKind;
use taipan_graph::ObjId;

use crate::heap_image::import_time::{diagnose, text_of_exception};
use crate::named_id;
use crate::space::collect::Collections;
use crate::space::heap::{Kind, Ref};
use crate::space::locals::EndedFrames;
use crate::space::value::Value;
use crate::space::{Fatal, Interp};
use taipan_engine::Unwind;

/// One test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TestItem {
    /// Its name in the module, as pytest words it: `TestX::test_m[1-2]`.
    pub name: Box<str>,
    /// Function without arguments that runs it; none where it cannot be run.
    pub runner: Option<ObjId>,
    /// The test function itself.
    pub func: ObjId,
    /// Names that `-k` knows it by, beyond its own: class, function, marks.
    pub keywords: Vec<Box<str>>,
    /// Names of its marks.
    pub marks: Vec<Box<str>>,
    /// Why it is skipped.
    pub skip: Option<Box<str>>,
    /// Why it is expected to fail.
    pub xfail: Option<Box<str>>,
    /// Whether passing in spite of `xfail` is a failure.
    pub strict: bool,
    /// Whether `xfail` names exceptions. Then only the interpreter knows an expected failure.
    pub raises: bool,
    /// Why it cannot be run.
    pub problem: Option<Box<str>>,
    /// Why it can only be interpreted.
    pub interpreted: Option<Box<str>>,
    /// Of what kinds its arguments are, of a test with parameters.
    pub kinds: Box<str>,
    /// Its line, from 1, where it is known without the function.
    pub line: Option<u32>,
}

/// The tests of a module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Tests {
    /// In the order of their definitions.
    Found(Vec<TestItem>),
    /// The module skips itself, and why.
    Skipped(Box<str>),
    /// `pytest.UsageError`: an option of the command line is wrong.
    Misused(Box<str>),
    /// Import time failed, or looking for tests did.
    Failed(Box<Diagnostic>),
}

impl Default for Tests {
    fn default() -> Self {
        Tests::Found(Vec::new())
    }
}

/// A test before freezing.
pub(crate) struct RawItem {
    values: Vec<Value>,
}

/// The collector of a file's tests.
pub(crate) struct Finder {
    finder: Value,
    session: Option<Value>,
}

impl Finder {
    /// Loads the `conftest.py` files of a test file and calls their configuration hooks.
    pub(crate) fn new(it: &mut Interp, path: &str, name: &str) -> Result<Finder, Tests> {
        let made = it.load("sys").and_then(|_| {
            let testing = Value::Ref(it.load("_taipan_testing")?);
            let given = [
                &it.program.options(it.db).target_options,
                &it.program.options(it.db).conftest_options,
                &it.program.options(it.db).test_plugins,
            ];
            let [options, declared, plugins] = given.map(|words| {
                let words: Vec<Value> = words.iter().map(|o| Value::str(o)).collect();
                it.heap.list(words)
            });
            let args = [
                Value::str(path),
                Value::str(name),
                options,
                declared,
                plugins,
            ];
            let finder = it.call_method(&testing, "Finder", &args)?;
            let session = it.getattr(&finder, "session")?;
            Ok(Finder {
                finder,
                session: (!session.is_none()).then_some(session),
            })
        });
        made.map_err(|e| failure(it, &e))
    }

    /// The session; None without hooks that collect or set up tests.
    pub(crate) fn session(&self) -> Option<&Value> {
        self.session.as_ref()
    }

    /// Looks for tests in a module that has been run.
    pub(crate) fn of_module(&self, it: &mut Interp, module: Ref) -> Result<Vec<RawItem>, Tests> {
        self.find(it, "of_module", &[Value::Ref(module)])
    }

    /// Collects tests through the hooks.
    pub(crate) fn of_session(&self, it: &mut Interp) -> Result<Vec<RawItem>, Tests> {
        self.find(it, "of_session", &[])
    }

    fn find(&self, it: &mut Interp, how: &str, args: &[Value]) -> Result<Vec<RawItem>, Tests> {
        let found = it.call_method(&self.finder, how, args);
        match found.and_then(|list| it.list_of(&list)) {
            Ok(items) => Ok(items
                .into_iter()
                .filter_map(|v| match v {
                    Value::Tuple(t) => Some(RawItem { values: t.to_vec() }),
                    _ => None,
                })
                .collect()),
            Err(e) => Err(failure(it, &e)),
        }
    }
}

/// What the run of a test in the interpreter came to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TestRun {
    /// The exception that came out of it.
    pub raised: Option<RaisedInTest>,
    /// What it printed.
    pub printed: Vec<u8>,
    /// Files and the executed lines of their functions, sorted. Empty unless lines are recorded.
    pub lines: Vec<(String, Vec<u32>)>,
}

/// Observations of tests in the interpreter beside their outcomes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Observed {
    /// The local variables of the functions that an exception ends.
    pub locals: bool,
    /// The lines that are executed.
    pub lines: bool,
}

impl Observed {
    fn start(self, it: &mut Interp) {
        it.ended_frames = self.locals.then(EndedFrames::default);
        it.notes_execution = self.lines;
        it.folder = Some(it.absolute("."));
    }
}

/// An end of a test that its exception stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub enum TestEnd {
    /// The test skips itself.
    Skipped,
    /// The test expects to fail.
    ExpectedFailure,
    /// The test says that it fails.
    Failed,
    /// An assert does not hold; the text is its explanation.
    Assertion,
    /// The test ends the whole run; the text is an exit code and the reason.
    Exit,
}

/// The classes of exceptions with such a meaning, by module and name.
const ENDS: [(&str, &str, TestEnd); 7] = [
    ("_taipan_testing", "Skipped", TestEnd::Skipped),
    ("unittest", "SkipTest", TestEnd::Skipped),
    ("_taipan_testing", "XFailed", TestEnd::ExpectedFailure),
    ("_taipan_testing", "Failed", TestEnd::Failed),
    ("_taipan_testing", "Exit", TestEnd::Exit),
    ("_taipan_testing", "Explained", TestEnd::Assertion),
    ("_taipan_testing", "AssertionFailed", TestEnd::Assertion),
];

impl TestEnd {
    /// The meaning of a class of that name, if it is one of the test library. Machine code knows the names of
    /// classes only; the test library sends a record before it raises one of its own.
    pub fn of_name(name: &str) -> Option<TestEnd> {
        let mut ends = ENDS.iter();
        let found = ends.find(|(_, n, _)| *n == name)?;
        Some(found.2)
    }

    /// The meaning of a class. Classes of a program may have the names of those of the test library.
    fn of_object(it: &Interp, class: Ref) -> Option<TestEnd> {
        let mut ends = ENDS.iter();
        let found = ends.find(|(module, name, _)| is_class(it, class, module, name))?;
        Some(found.2)
    }
}

/// Whether a class is the one of that name of a loaded module.
fn is_class(it: &Interp, class: Ref, module: &str, name: &str) -> bool {
    let variables = it.loaded(module).and_then(|m| it.heap.get(m).attrs);
    let found = variables.and_then(|of| it.heap.item(of, name));
    found.and_then(Value::as_ref) == Some(class)
}

/// An exception that came out of a test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RaisedInTest {
    /// Name of its class.
    pub class: String,
    /// Its meaning, if it is no error of the test's code.
    pub end: Option<TestEnd>,
    /// What `str()` makes of it.
    pub text: String,
    /// The functions that it ended, outermost first.
    pub frames: Vec<EndedFrame>,
}

/// A function that an exception ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EndedFrame {
    /// Its file.
    pub file: String,
    /// Its qualified name.
    pub function: String,
    /// The line, from 1; 0 if unknown.
    pub line: u64,
    /// Its local variables, with their values as `repr()` gives them; none unless they are asked for.
    pub locals: Vec<(String, String)>,
}

/// Runs a test in the interpreter, on a copy of what import time left: nothing that it
/// does is seen by anyone. Its number is its index among the module's tests.
pub fn run_test(
    db: &dyn Db,
    program: Program,
    number: usize,
    observed: Observed,
) -> Result<TestRun, String> {
    let image = crate::image(db, program);
    let (Some(thawed), Some(item)) = (&image.thawed, image.test_items.get(number)) else {
        return Err("import time does not know the test".to_owned());
    };
    let mut collections = Collections::default();
    loop {
        let mut it = Interp::over(db, program, &thawed.world);
        // The limit of import time is not meant for tests: there is one on their time.
        it.steps = u64::MAX;
        it.collections = collections;
        observed.start(&mut it);
        let outcome = it.call_method(item, "run", &[]);
        match it.collection(&[]) {
            Some(known) => collections = known,
            None => {
                return Ok(TestRun {
                    raised: outcome.err().map(|e| raised(&mut it, &e)),
                    printed: std::mem::take(&mut it.out),
                    lines: executed_lines(&it),
                });
            }
        }
    }
}

/// Whether hooks of `conftest.py` files set the tests of a program up ([`TestSession`]).
pub fn has_test_session(db: &dyn Db, program: Program) -> bool {
    crate::image(db, program).test_session.is_some()
}

/// The tests of a file whose `conftest.py` files have hooks. They run in sequence: state of hooks, fixtures and
/// tests is visible to the next test.
pub struct TestSession<'db> {
    it: Interp<'db>,
    session: Value,
    items: &'db [Value],
}

impl<'db> TestSession<'db> {
    /// The session of a program on a copy of its heap; None without hooks.
    pub fn new(db: &'db dyn Db, program: Program, observed: Observed) -> Option<TestSession<'db>> {
        let image = crate::image(db, program);
        let (session, thawed) = (image.test_session.clone()?, image.thawed.as_ref()?);
        let mut it = Interp::over(db, program, &thawed.world);
        observed.start(&mut it);
        Some(TestSession {
            it,
            session,
            items: &image.test_items,
        })
    }

    /// Sets a test up, within the limits of import time.
    pub fn set_up(&mut self, number: usize) -> TestRun {
        self.it.steps = self.it.program.options(self.it.db).step_limit;
        self.it.collections = Collections::passed_over();
        self.run("set_up", &[self.items[number].clone()])
    }

    /// Calls a test after its setup. `known` encodes the results of its collections, empty for the first call. Err holds
    /// the results including a new collection: the call has to be repeated with them in a copy of the session from
    /// before the call. This session cannot be used any more.
    pub fn call(&mut self, number: usize, known: &[u8]) -> Result<TestRun, Vec<u8>> {
        self.it.steps = u64::MAX;
        self.it.collections = Collections::from_bytes(known);
        let item = self.items[number].clone();
        let run = self.run("call", std::slice::from_ref(&item));
        match self.it.collection(&[self.session.clone(), item]) {
            Some(known) => Err(known.to_bytes()),
            None => Ok(run),
        }
    }

    /// Tears a test down, and the fixtures and nodes that the next test does not share.
    pub fn tear_down(&mut self, number: usize, next: Option<usize>) -> TestRun {
        self.it.collections = Collections::passed_over();
        let next = next.map_or(Value::None, |n| self.items[n].clone());
        self.run("tear_down", &[self.items[number].clone(), next])
    }

    fn run(&mut self, phase: &str, args: &[Value]) -> TestRun {
        let session = self.session.clone();
        let outcome = self.it.call_method(&session, phase, args);
        TestRun {
            raised: outcome.err().map(|e| raised(&mut self.it, &e)),
            printed: std::mem::take(&mut self.it.out),
            lines: executed_lines(&self.it),
        }
    }
}

/// The executed lines of functions by file, if they are recorded.
fn executed_lines(it: &Interp) -> Vec<(String, Vec<u32>)> {
    if !it.notes_execution {
        return Vec::new();
    }
    let mut found: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
    let executed = (it.bodies.iter()).filter_map(|(id, body)| {
        let executed = body.executed.as_deref()?;
        let path = id.file(it.db)?.path(it.db);
        let own = body.code.kind == CodeKind::Function && !path.starts_with(SHIPPED);
        own.then_some((id, path, executed))
    });
    executed.for_each(|(id, path, executed)| {
        let lines = found.entry(path.to_string()).or_default();
        let pcs = (0..).zip(executed).filter(|(_, executed)| executed.get());
        lines.extend(pcs.filter_map(|(pc, _)| u32::try_from(it.line_of(*id, Some(pc))).ok()));
    });
    let files = found.into_iter();
    files
        .map(|(path, lines)| (path, lines.into_iter().collect()))
        .collect()
}

fn raised(it: &mut Interp, e: &Unwind<Value, Fatal>) -> RaisedInTest {
    let mut end = None;
    let (class, value) = match e {
        Unwind::Raise(raised) => match &raised.0 {
            Value::Ref(c) => {
                end = TestEnd::of_object(it, *c);
                (it.heap.class_name(*c).to_owned(), raised.1.clone())
            }
            _ => ("exception".to_owned(), raised.1.clone()),
        },
        Unwind::Stop(_) => (diagnose(it, e).message, Value::None),
    };
    let mut text = String::new();
    let mut frames = Vec::new();
    if let Value::Ref(r) = value {
        if let Kind::Exception(e) = it.heap.kind(r) {
            let entries = e.traceback.clone();
            frames = (entries.iter().rev())
                .map(|f| {
                    let file = f
                        .code
                        .file(it.db)
                        .map_or("<string>", |file| file.path(it.db).as_str());
                    EndedFrame {
                        file: file.to_owned(),
                        function: f.code.qualname(it.db).to_string(),
                        line: u64::try_from(it.line_of(f.code, Some(f.pc))).unwrap_or(0),
                        locals: it.locals_at(*f),
                    }
                })
                .collect();
        }
        // The program's own `__str__` may fail: then there is no text.
        if let Ok(Value::Str(s)) = it.call_method(&Value::Ref(r), "__str__", &[]) {
            text = String::from_utf8_lossy(&s).into_owned();
        }
    }
    RaisedInTest {
        class,
        end,
        text,
        frames,
    }
}

/// What an exception of a test module's import time means.
pub(crate) fn failure(it: &Interp, e: &Unwind<Value, Fatal>) -> Tests {
    let mut d = diagnose(it, e);
    // Frames of Taipan itself are cut.
    let is_own = |note: &Note| {
        let file = note.span.map(|s| s.file);
        file.is_some_and(|f| f.path(it.db).starts_with(SHIPPED))
    };
    d.notes.retain(|note| !is_own(note));
    if let Unwind::Raise(raised) = e
        && let (Value::Ref(class), Value::Ref(exception)) = (&raised.0, &raised.1)
    {
        if is_class(it, *class, "_taipan_testing", "Skipped") {
            return Tests::Skipped(text_of_exception(it, *exception).into());
        }
        if is_class(it, *class, "_taipan_hooks", "UsageError") {
            return Tests::Misused(text_of_exception(it, *exception).into());
        }
    }
    Tests::Failed(Box::new(d))
}

impl RawItem {
    /// The objects that must be in the image.
    pub(crate) fn roots(&self) -> impl Iterator<Item = &Value> {
        self.values[1..3].iter()
    }

    /// The test under the ids of its objects.
    pub(crate) fn finish(&self, it: &Interp, ids: &FxHashMap<Ref, ObjId>) -> TestItem {
        let id = |v: &Value| v.as_ref().and_then(|r| ids.get(&r).copied());
        let text = |v: &Value| match v {
            Value::Str(s) => Some(String::from_utf8_lossy(s).into()),
            _ => None,
        };
        let get = |i: usize| self.values.get(i).unwrap_or(&Value::None);
        let names = |v: &Value| -> Vec<Box<str>> {
            let items = match v {
                Value::Ref(list) => it.heap.list_items(*list).map(Vec::as_slice),
                _ => None,
            };
            items.unwrap_or_default().iter().filter_map(text).collect()
        };
        TestItem {
            name: text(get(0)).unwrap_or_default(),
            runner: id(get(1)),
            func: id(get(2)).unwrap_or_else(|| named_id("__builtin__.None")),
            keywords: names(get(3)),
            marks: names(get(12)),
            skip: text(get(4)),
            xfail: text(get(5)),
            strict: matches!(get(6), Value::Bool(true)),
            raises: matches!(get(13), Value::Bool(true)),
            problem: text(get(7)),
            interpreted: text(get(8)),
            kinds: text(get(10)).unwrap_or_default(),
            line: match get(11) {
                Value::Int(line) => u32::try_from(*line).ok(),
                _ => None,
            },
        }
    }

    /// The object that runs the test in the interpreter.
    pub(crate) fn interpretable(&self) -> Value {
        self.values.get(9).cloned().unwrap_or(Value::None)
    }
}
