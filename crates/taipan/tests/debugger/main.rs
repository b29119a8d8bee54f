//! `taipan debug`: the Debug Adapter Protocol on programs and tests, from the first message to the last.
//!
//! Where there is no gdb, tests that need it are reported as ignored, with the reason.

mod client;

use std::process::{Command, ExitCode};

use libtest_mimic::{Arguments, Completion, Failed};
use serde_json::json;
use taipan_testkit::timed_trial;

use client::{Client, only, shown};

/// Numbers of lines count here.
const PROGRAM: &str = "\
import os

class Value(object):
    def __init__(self, n):
        self.n = n

class Frame(object):
    def __init__(self, code):
        self.code = code
        self.pc = 0
        self.stack = []

    def push(self, v):
        self.stack.append(v)

    def pop(self):
        if not self.stack:
            raise IndexError
        return self.stack.pop()

class Halt(Exception):
    def __init__(self, why):
        self.why = why

def run(frame, seen):
    total = 0
    while frame.pc < len(frame.code):
        op = frame.code[frame.pc]
        frame.pc += 1
        if op == '+':
            total = frame.pop().n + frame.pop().n
            frame.push(Value(total))
        elif op == '!':
            raise Halt('at %d' % frame.pc)
        elif op == '?':
            try:
                frame.pop()
            except IndexError:
                total = -1
        else:
            frame.push(Value(ord(op) - ord('0')))
            seen[op] = frame.pc
    return total

def entry_point(argv):
    seen = {}
    frame = Frame(argv[1])
    pair = (len(argv), u'\\u20ac')
    result = run(frame, seen)
    os.write(2, 'done\\n')
    print 'result', result, pair[0], os.environ.get('DEBUGGED')
    return result

def target(driver, args):
    return entry_point, None
";

const TEST: &str = "\
from vm import Frame, run

def test_sum():
    total = run(Frame('12+'), {})
    assert total == 3

def test_failing():
    total = run(Frame('12+'), {})
    assert total == 4
";

fn same<T: PartialEq + std::fmt::Debug>(found: T, wanted: T) -> Result<(), Failed> {
    match found == wanted {
        true => Ok(()),
        false => Err(format!("{found:?} instead of {wanted:?}").into()),
    }
}

fn start() -> Result<Client, Failed> {
    Client::start(&[("vm.py", PROGRAM), ("test_vm.py", TEST)])
}

/// A breakpoint, the stack, variables and their parts, expressions, steps, output, the exit code.
fn a_session() -> Result<(), Failed> {
    let mut c = start()?;
    let launch = json!({"program": "vm.py", "args": ["12+3+"], "env": {"DEBUGGED": "a b"}});
    let set = c.launch(launch, "vm.py", json!([{"line": 31}, {"line": 400}]))?;
    same(
        (&set[0]["verified"], &set[0]["line"]),
        (&json!(true), &json!(31)),
    )?;
    same(&set[1]["verified"], &json!(false))?;
    let (why, stack) = c.stop(2)?;
    same(
        (&why["reason"], &why["hitBreakpointIds"]),
        (&json!("breakpoint"), &json!([1])),
    )?;
    same(
        stack,
        vec!["vm.run:31".to_owned(), "vm.entry_point:49".to_owned()],
    )?;

    let frames = c.stack(2)?;
    let variables = c.variables(frames[0].0)?;
    let found = shown(&variables);
    same(&found[1], &"seen = {'1': 1, '2': 2}".to_owned())?;
    same(&variables[0]["type"], &json!("Frame"))?;
    let parts = c.children(&variables[0]["variablesReference"])?;
    let found = shown(&parts);
    same(
        &found[..2],
        &["code = '12+3+'".to_owned(), "pc = 3".to_owned()],
    )?;
    same(&parts[2]["evaluateName"], &json!("frame.stack"))?;
    let items = c.children(&parts[2]["variablesReference"])?;
    same(items.len(), 2)?;
    let first = c.children(&items[0]["variablesReference"])?;
    same(shown(&first), vec!["n = 1".to_owned()])?;
    let outer = shown(&c.variables(frames[1].0)?);
    for part in ["pair = (2, u'€')", "seen = {'1': 1, '2': 2}"] {
        if !outer.iter().any(|v| v == part) {
            return Err(format!("no {part} in {outer:?}").into());
        }
    }

    for (expression, wanted) in [
        ("frame.pc", "3"),
        ("frame.stack[-1].n + 1", "3"),
        ("seen['2']", "2"),
        ("'1' in seen and len(frame.code) > 4", "True"),
        ("frame.code[1:3]", "'2+'"),
        ("frame.stack[0].n == 1 or 1 // 0", "True"),
        ("frame.nothing", "error: Frame has no attribute nothing"),
        ("nothing", "error: no variable nothing here"),
        (
            "run(frame, seen)",
            "error: run(frame, seen): functions of the program are not called",
        ),
        ("frame.", "error: 'frame.' is no expression"),
    ] {
        same(c.value(expression)?, wanted.to_owned())?;
    }
    let arguments = json!({"expression": "-exec print 6 * 7", "context": "repl"});
    same(
        &c.ask("evaluate", arguments)?["result"],
        &json!("$1 = 42\n"),
    )?;

    // Into a method and out of it, over a line.
    c.ask("stepIn", json!({"threadId": 1}))?;
    let (why, stack) = c.stop(2)?;
    same(&why["reason"], &json!("step"))?;
    same(
        stack,
        vec!["vm.Frame.pop:17".to_owned(), "vm.run:31".to_owned()],
    )?;
    c.ask("stepOut", json!({"threadId": 1}))?;
    same(c.stop(1)?.1, vec!["vm.run:31".to_owned()])?;
    c.set("vm.py", json!([]))?;
    c.ask("next", json!({"threadId": 1}))?;
    same(c.stop(1)?.1, vec!["vm.run:32".to_owned()])?;
    c.set("vm.py", json!([{"line": 27}]))?;
    c.ask("continue", json!({"threadId": 1}))?;
    same(c.stop(1)?.1, vec!["vm.run:27".to_owned()])?;
    same(c.value("total")?, "3".to_owned())?;
    c.set("vm.py", json!([]))?;

    c.ask("continue", json!({"threadId": 1}))?;
    same(c.ended()?, json!(6))?;
    same(c.printed("stdout"), "result 6 2 a b\n".to_owned())?;
    same(c.printed("stderr"), "done\n".to_owned())?;
    c.disconnect()
}

/// Conditions, numbers of times and log messages, in RPython's terms; a function as a breakpoint.
fn conditions() -> Result<(), Failed> {
    let mut c = start()?;
    let breakpoints = json!([
        {"line": 29, "logMessage": "{frame.pc}: {op}{nothing}"},
        {"line": 41, "condition": "op == '4' and frame.stack[0].n == 1"},
        {"line": 14, "hitCondition": "% 5"},
    ]);
    c.launch(
        json!({"program": "vm.py", "args": ["123+4+5"]}),
        "vm.py",
        breakpoints,
    )?;
    let (why, stack) = c.stop(1)?;
    same(
        (&why["hitBreakpointIds"], &stack[0][..]),
        (&json!([2]), "vm.run:41"),
    )?;
    let functions = json!({"breakpoints": [{"name": "vm.Frame.pop"}, {"name": "vm.nothing"}]});
    let set = c.ask("setFunctionBreakpoints", functions)?;
    same(&set["breakpoints"][0]["verified"], &json!(true))?;
    same(&set["breakpoints"][1]["verified"], &json!(false))?;
    c.ask("continue", json!({"threadId": 1}))?;
    let (why, stack) = c.stop(1)?;
    same(
        (&why["hitBreakpointIds"], &stack[0][..]),
        (&json!([3]), "vm.Frame.push:14"),
    )?;
    c.ask("continue", json!({"threadId": 1}))?;
    let (why, stack) = c.stop(1)?;
    same(
        (&why["hitBreakpointIds"], &stack[0][..]),
        (&json!([4]), "vm.Frame.pop:17"),
    )?;
    same(
        c.printed("console").lines().next().unwrap_or_default(),
        "0: 1{nothing: no variable nothing here}",
    )?;
    c.disconnect()
}

/// Stops where exceptions are raised, and where one has left the entry point, with its traceback.
fn exceptions() -> Result<(), Failed> {
    let mut c = start()?;
    let seq = c.send("launch", json!({"program": "vm.py", "args": ["?1!"]}))?;
    c.response(seq, "launch")?;
    c.event("initialized")?;
    c.ask(
        "setExceptionBreakpoints",
        json!({"filters": ["raised", "uncaught"]}),
    )?;
    c.ask("configurationDone", json!({}))?;
    let (why, stack) = c.stop(20)?;
    same(&why["reason"], &json!("exception"))?;
    same(&why["description"], &json!("IndexError is raised"))?;
    same(stack.iter().any(|f| f == "vm.Frame.pop:18"), true)?;
    c.ask("continue", json!({"threadId": 1}))?;
    let (why, stack) = c.stop(2)?;
    same(&why["description"], &json!("Halt is raised"))?;
    same(
        stack,
        vec!["vm.run:34".to_owned(), "vm.entry_point:49".to_owned()],
    )?;
    let info = c.ask("exceptionInfo", json!({"threadId": 1}))?;
    same(&info["exceptionId"], &json!("Halt"))?;
    let text = info["description"].as_str().unwrap_or_default();
    same(text.contains("why = 'at 3'"), true)?;
    c.ask("continue", json!({"threadId": 1}))?;
    let (why, stack) = c.stop(2)?;
    same(&why["description"], &json!("Halt is not caught"))?;
    same(
        stack,
        vec!["vm.run:34".to_owned(), "vm.entry_point:49".to_owned()],
    )?;
    c.ask("continue", json!({"threadId": 1}))?;
    // SIGABRT.
    same(c.ended()?, json!(128 + 6))?;
    same(
        c.printed("stderr").contains("Fatal RPython error: Halt"),
        true,
    )?;
    c.disconnect()
}

/// A test as translated code, from its first line to the assert that fails.
fn tests() -> Result<(), Failed> {
    let mut c = start()?;
    let launch = json!({"test": "test_vm.py::test_sum"});
    c.launch(launch, "test_vm.py", json!([{"line": 5}]))?;
    same(c.stop(1)?.1, vec!["test_vm.test_sum:5".to_owned()])?;
    same(c.value("total")?, "3".to_owned())?;
    c.ask("continue", json!({"threadId": 1}))?;
    same(c.ended()?, json!(0))?;
    c.disconnect()?;

    let mut c = start()?;
    c.launch(
        json!({"test": "test_vm.py::test_failing"}),
        "vm.py",
        json!([]),
    )?;
    let (why, stack) = c.stop(20)?;
    same(&why["description"], &json!("AssertionFailed is not caught"))?;
    same(stack.iter().any(|f| f == "test_vm.test_failing:9"), true)?;
    c.disconnect()
}

/// Stopping at the entry, pausing an endless loop and setting a breakpoint in it, ending it.
fn pausing() -> Result<(), Failed> {
    let endless = "\
def entry_point(argv):
    n = 0
    while len(argv) > 0:
        n += 1
        n &= 1023
    return n

def target(driver, args):
    return entry_point, None
";
    let mut c = Client::start(&[("endless.py", endless)])?;
    let launch = json!({"program": "endless.py", "stopOnEntry": true});
    c.launch(launch, "endless.py", json!([]))?;
    let (why, stack) = c.stop(1)?;
    same(
        (&why["reason"], &stack[0][..12]),
        (&json!("entry"), "endless.entr"),
    )?;
    c.ask("continue", json!({"threadId": 1}))?;
    same(
        c.try_ask("stackTrace", json!({"threadId": 1}))?,
        Err("the program is running".to_owned()),
    )?;
    c.ask("pause", json!({"threadId": 1}))?;
    same(&c.stop(1)?.0["reason"], &json!("pause"))?;
    c.ask("continue", json!({"threadId": 1}))?;
    let set = c.set("endless.py", json!([{"line": 4, "condition": "n == 500"}]))?;
    same(&set[0]["verified"], &json!(true))?;
    same(c.stop(1)?.1, vec!["endless.entry_point:4".to_owned()])?;
    same(c.value("n")?, "500".to_owned())?;
    c.ask("terminate", json!({}))?;
    c.event("terminated")?;
    c.disconnect()
}

/// An executable that was built before, with a file as standard input; and one that Taipan has not made.
fn executables() -> Result<(), Failed> {
    let echo = "\
import os

def entry_point(argv):
    line = os.read(0, 100)
    print line.strip(), '|'.join(argv[1:])
    return 0

def target(driver, args):
    return entry_point, None
";
    let mut c = Client::start(&[("echo.py", echo), ("in", "typed\n")])?;
    let built = Command::new(env!("CARGO_BIN_EXE_taipan"))
        .args(["build", "-q", "-O0", "echo.py", "-o", "echo"])
        .current_dir(c.path(""))
        .status()?;
    same(built.success(), true)?;
    let args = ["it's", "$HOME", "\"a\\b", "two\nlines"];
    let launch = json!({"executable": "echo", "stdin": "in", "args": args});
    c.launch(launch, "echo.py", json!([{"line": 5}]))?;
    c.event("stopped")?;
    same(c.value("line")?, "'typed\\n'".to_owned())?;
    c.ask("continue", json!({"threadId": 1}))?;
    same(c.ended()?, json!(0))?;
    let printed = format!("typed {}\n", args.join("|"));
    same(c.printed("stdout"), printed)?;
    c.disconnect()?;

    let mut c = Client::start(&[])?;
    let why = c.try_ask("launch", json!({"executable": "/bin/true"}))?;
    same(
        why,
        Err("/bin/true is no program that Taipan has built".to_owned()),
    )?;
    c.disconnect()?;
    let mut c = Client::start(&[])?;
    let why = c.try_ask("launch", json!({"executable": "/no/such"}))?;
    same(why, Err("/no/such: no such file".to_owned()))?;
    c.disconnect()
}

/// A program that does not compile: its diagnostics are output, and the launch fails.
fn broken() -> Result<(), Failed> {
    let program = "\
def entry_point(argv):
    return argv.nothing()

def target(driver, args):
    return entry_point, None
";
    let mut c = Client::start(&[("broken.py", program)])?;
    let why = c.try_ask("launch", json!({"program": "broken.py"}))?;
    same(
        why,
        Err("it does not compile: the debug console says why".to_owned()),
    )?;
    let printed = c.printed("stderr");
    same(
        printed.contains("broken.py:2:") && printed.contains("error[TP"),
        true,
    )?;
    c.event("terminated")?;
    let why = c.try_ask("launch", json!({"program": "broken.py"}))?;
    same(why, Err("one program is debugged at a time".to_owned()))?;
    c.disconnect()?;

    let mut c = start()?;
    let why = c.try_ask("launch", json!({"test": "test_vm.py::test_none"}))?;
    same(why.is_err(), true)?;
    same(
        c.printed("stderr").contains("there is no test test_none"),
        true,
    )?;
    c.disconnect()
}

/// Without gdb, the launch says which package has it.
fn without_gdb() -> Result<(), Failed> {
    let programs = tempfile::tempdir()?;
    only(&["cc", "gcc", "ld", "as"], programs.path())?;
    let files = [("vm.py", PROGRAM)];
    let mut c = Client::start_with(&files, Some(programs.path().as_os_str()))?;
    let why = c.try_ask("launch", json!({"program": "vm.py"}))?;
    let wanted = "there is no gdb, which the debugger needs: install the package gdb \
                  (Debian and Ubuntu: apt-get install gdb)";
    same(why, Err(wanted.to_owned()))?;
    c.disconnect()
}

/// Messages that make no sense here: each has a response, and the session continues.
fn nonsense() -> Result<(), Failed> {
    let mut c = start()?;
    for (command, arguments, wanted) in [
        (
            "launch",
            json!({}),
            "launch takes one of program, test and executable",
        ),
        (
            "launch",
            json!({"program": 3}),
            "launch: invalid type: integer `3`, expected a string",
        ),
        (
            "stackTrace",
            json!({"threadId": 1}),
            "the program is running",
        ),
        ("configurationDone", json!({}), "there was no launch"),
        (
            "frobnicate",
            json!({}),
            "frobnicate: there is no such request here",
        ),
    ] {
        same(c.try_ask(command, arguments)?, Err(wanted.to_owned()))?;
    }
    c.disconnect()
}

type Case = fn() -> Result<(), Failed>;

const CASES: &[(&str, bool, Case)] = &[
    ("a_session", true, a_session),
    ("conditions", true, conditions),
    ("exceptions", true, exceptions),
    ("tests", true, tests),
    ("pausing", true, pausing),
    ("executables", true, executables),
    ("broken", false, broken),
    ("without_gdb", false, without_gdb),
    ("nonsense", false, nonsense),
];

fn main() -> ExitCode {
    let args = Arguments::from_args();
    let gdb = Command::new("gdb").arg("--version").output();
    let missing = gdb.err().map(|e| format!("gdb: {e}"));
    let trials = CASES.iter().map(|(name, needs_gdb, case)| {
        let missing = missing.clone().filter(|_| *needs_gdb);
        timed_trial(*name, move || match missing {
            Some(why) => Ok(Completion::ignored_with(why)),
            None => case().map(|()| Completion::Completed),
        })
    });
    libtest_mimic::run(&args, trials.collect()).exit_code()
}
