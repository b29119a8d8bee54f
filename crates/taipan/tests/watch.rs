//! `taipan watch` from the outside: the real program, real files, pipes and a
//! pseudo-terminal. Nothing here depends on how quick anything is: tests wait for what
//! they expect, and a long time at that.

mod watching;

use std::fs;
use std::process::Command;

use watching::{Watched, project};

const MAIN: &str = "\
import os
from lib import value

def entry_point(argv):
    os.write(1, 'value %d\\n' % value(len(argv)))
    return 0
";
const LIB: &str = "def value(n):\n    return n * 10\n";

/// Says its process number and then something at every turn.
const TURNS: &str = "\
import os
import time

class Counter(object):
    def __init__(self):
        self.turns = 0
        self.step = 1

def text(counter):
    return 'old %d' % counter.step

def entry_point(argv):
    counter = Counter()
    os.write(1, 'pid %d\\n' % os.getpid())
    while True:
        counter.turns += counter.step
        os.write(1, 'turn %d %s\\n' % (counter.turns, text(counter)))
        time.sleep(0.01)
";

/// What a program prints when it is imported is told when it is imported again.
#[test]
fn what_import_time_prints() {
    let main = format!("print 'import'\n{MAIN}");
    let dir = project(&[("main.py", &main), ("lib.py", LIB)]);
    let mut w = Watched::start(&dir, &["check", "main.py"]);
    w.tells("no errors\nimport\n");
    w.save("main.py", &main.replace("'import'", "'again'"));
    w.tells("no errors\nagain\n");
    // Only the body of a function: nothing is imported.
    w.save("lib.py", "def value(n):\n    return n + 7\n");
    w.tells("changed: lib.py");
    w.tells("no errors\n");
    w.save("main.py", &main.replace("'import'", "'last'"));
    w.tells("no errors\nlast\n");
    assert_eq!(w.everything().matches("again\n").count(), 1);
}

#[test]
fn check_follows_errors_and_their_mending() {
    let dir = project(&[("main.py", MAIN), ("lib.py", LIB)]);
    let mut w = Watched::start(&dir, &["check", "main.py"]);
    w.tells("no errors");
    w.save("lib.py", "def value(n):\n    return n.nothing\n");
    w.tells("changed: lib.py");
    w.tells("1 error");
    w.tells("lib.py:2");
    w.save("lib.py", LIB);
    w.tells("no errors");
    w.save("main.py", "def entry_point(argv:\n");
    w.tells("error[TP0001]");
    w.save("main.py", MAIN);
    w.tells("no errors");
    fs::remove_file(dir.path().join("lib.py")).unwrap();
    w.tells("1 error");
    w.save("lib.py", LIB);
    w.tells("no errors");
    // A pipe gets no control codes.
    assert!(!w.everything().contains('\x1b'));
}

#[test]
fn check_in_a_format_for_programs() {
    let dir = project(&[("main.py", MAIN), ("lib.py", LIB)]);
    let mut w = Watched::start(&dir, &["--poll", "check", "--format", "json", "main.py"]);
    w.prints("[]\n");
    w.tells("polling");
    w.save("lib.py", "def value(n):\n    return n + 'x'\n");
    w.prints("\"severity\":\"error\"");
}

#[test]
fn many_files_at_once() {
    let mut main = String::new();
    let mut sum = "def entry_point(argv):\n    n = 0\n".to_owned();
    let mut files = Vec::new();
    for i in 0..200 {
        main.push_str(&format!("import m{i}\n"));
        sum.push_str(&format!("    n += m{i}.x\n"));
        files.push((format!("m{i}.py"), format!("x = {i}\n")));
    }
    main.push_str(&sum);
    main.push_str("    return n\n");
    files.push(("main.py".to_owned(), main));
    let files: Vec<_> = files
        .iter()
        .map(|(n, t)| (n.as_str(), t.as_str()))
        .collect();
    let dir = project(&files);
    let mut w = Watched::start(&dir, &["check", "main.py"]);
    w.tells("no errors");
    for i in 0..200 {
        w.save(&format!("m{i}.py"), &format!("x = {i} + 1\n"));
    }
    w.tells("more\n");
    w.tells("no errors");
}

#[test]
fn run_starts_anew() {
    let dir = project(&[("main.py", MAIN), ("lib.py", LIB)]);
    let mut w = Watched::start(&dir, &["run", "main.py", "a", "b"]);
    w.prints("value 30\n");
    w.tells("ended with exit code 0");
    w.save("lib.py", "def value(n):\n    return n * 100\n");
    w.prints("value 300\n");
    w.tells("ended with exit code 0");
    // A program that fails.
    w.save("lib.py", "def value(n):\n    raise ValueError\n");
    w.tells("ValueError");
    w.tells("ended with exit code 1");
    // A program that does not compile.
    w.save("lib.py", "def value(n):\n    return (\n");
    w.tells("not started");
    w.save("lib.py", LIB);
    w.prints("value 30\n");
}

#[test]
fn run_survives_programs_that_never_end_or_crash() {
    let dir = project(&[("main.py", TURNS)]);
    let mut w = Watched::start(&dir, &["run", "main.py"]);
    let first = w.pid();
    w.prints("turn 3 old");
    // What does not compile leaves it alone.
    w.save("main.py", "def entry_point(argv:\n");
    w.tells("goes on as it was");
    w.prints("turn ");
    assert!(watching::is_alive(first));
    w.save("main.py", &TURNS.replace("'old %d'", "'new %d'"));
    let second = w.pid();
    assert_ne!(first, second);
    w.prints("turn 1 new");
    watching::wait_until_gone(first);
    // A crash is the program's own.
    watching::signal(second, libc::SIGABRT);
    w.tells("ended by signal 6 (SIGABRT)");
    w.save("main.py", TURNS);
    let third = w.pid();
    w.prints("turn 2 old");
    // It does not outlive the watcher, whichever way that goes.
    w.kill();
    watching::wait_until_gone(third);
}

#[test]
fn run_ends_with_its_watcher() {
    let dir = project(&[("main.py", TURNS)]);
    let mut w = Watched::start(&dir, &["run", "main.py"]);
    let pid = w.pid();
    w.signal(libc::SIGTERM);
    assert_eq!(w.exit_code(), Some(128 + libc::SIGTERM));
    watching::wait_until_gone(pid);
}

#[test]
fn run_follows_c_headers() {
    let program = "\
import os
from rpython.rtyper.tool import rffi_platform
from rpython.translator.tool.cbuild import ExternalCompilationInfo
here = os.path.dirname(os.path.abspath(__file__))
class CConfig:
    _compilation_info_ = ExternalCompilationInfo(includes=['cfg.h'], include_dirs=[here])
    LIMIT = rffi_platform.ConstantInteger('LIMIT')
LIMIT = rffi_platform.configure(CConfig)['LIMIT']

def entry_point(argv):
    print 'limit', LIMIT
    return 0
";
    let dir = project(&[("main.py", program), ("cfg.h", "#define LIMIT 5\n")]);
    let mut w = Watched::start(&dir, &["run", "main.py"]);
    w.prints("limit 5\n");
    w.tells("ended");
    w.save("cfg.h", "#define LIMIT 7\n");
    w.tells("changed: cfg.h\n");
    w.prints("limit 7\n");
}

#[test]
fn run_reads_a_file_from_its_start_each_time() {
    let text = "\
import os

def entry_point(argv):
    os.write(1, 'read ' + os.read(0, 5) + '\\n')
    return 0
";
    let dir = project(&[("main.py", text), ("input", "hello world")]);
    let input = fs::File::open(dir.path().join("input")).unwrap();
    let mut w = Watched::start_with(&dir, &["run", "main.py"], input.into());
    w.prints("read hello\n");
    w.save("main.py", &text.replace("read ", "again "));
    w.prints("again hello\n");
}

/// The library is loaded by the process that runs the program: calls, and addresses in data.
#[test]
fn run_calls_a_library_that_the_program_brings() {
    let text = "\
import os
from rpython.rtyper.lltypesystem import lltype, rffi
from rpython.translator.tool.cbuild import ExternalCompilationInfo

source = 'int times(int n) { return n * 3; } int twice(int n) { return n * 2; }'
eci = ExternalCompilationInfo(
    separate_module_sources=[source],
    post_include_bits=['int times(int n); int twice(int n);'])
times = rffi.llexternal('times', [rffi.INT], rffi.INT, compilation_info=eci, _nowrapper=True)
twice = rffi.llexternal('twice', [rffi.INT], rffi.INT, compilation_info=eci, _nowrapper=True)
table = [twice, times]

def call(f, n):
    return rffi.cast(lltype.Signed, f(rffi.cast(rffi.INT, n)))

def entry_point(argv):
    n = len(argv)
    os.write(1, 'called %d %d\\n' % (call(table[n % 2], n), call(table[(n + 1) % 2], n)))
    return 0
";
    let dir = project(&[("main.py", text)]);
    let mut w = Watched::start(&dir, &["run", "main.py", "a", "b", "c"]);
    w.prints("called 8 12\n");
    w.save("main.py", &text.replace("called ", "again "));
    w.prints("again 8 12\n");
    // Another library.
    w.save("main.py", &text.replace("n * 3", "n * 5"));
    w.prints("called 8 20\n");
    let mut w = Watched::start(&dir, &["run", "--hot", "main.py"]);
    w.tells("cannot call functions of C libraries that it brings");
}

#[test]
fn hot_replaces_bodies() {
    let dir = project(&[("main.py", TURNS)]);
    let mut w = Watched::start(&dir, &["run", "--hot", "main.py"]);
    let pid = w.pid();
    w.prints("turn 2 old");
    let new = TURNS.replace("'old %d'", "'new %d'");
    w.save("main.py", &new);
    w.tells("replaced main.text");
    w.prints(" new 1\n");
    // One that raises where none did, and allocates.
    let raises = TURNS.replace(
        "'old %d' % counter.step",
        "['a', 'b'][counter.turns % 2] + '!'",
    );
    w.save("main.py", &raises);
    w.tells("replaced main.text");
    w.prints(" a!\n");
    // The same code on other lines.
    w.save("main.py", &format!("# a comment\n\n{raises}"));
    w.tells("the same code: goes on");
    assert!(watching::is_alive(pid));
    // Another layout cannot be given to objects that exist.
    let layout = TURNS.replace("self.step = 1", "self.step = 1\n        self.more = 'more'");
    let layout = layout.replace("'old %d' % counter.step", "counter.more");
    w.save("main.py", &layout);
    w.tells("restarted: the fields of");
    assert_ne!(w.pid(), pid);
    w.prints("turn 1 more");
}

#[test]
fn hot_restarts_for_other_prebuilt_data() {
    let text = "\
import os
import time

class Table(object):
    def __init__(self, n):
        self.n = n

table = Table(1)

def entry_point(argv):
    os.write(1, 'pid %d\\n' % os.getpid())
    while True:
        os.write(1, 'n %d\\n' % table.n)
        time.sleep(0.01)
        table.n += 10
";
    let dir = project(&[("main.py", text)]);
    let mut w = Watched::start(&dir, &["run", "--hot", "main.py"]);
    w.prints("n 11\n");
    w.save("main.py", &text.replace("Table(1)", "Table(2)"));
    w.tells("restarted: prebuilt data have changed");
    // The program's changes to its data went with it.
    w.prints("n 2\n");
}

/// A module with the host's collector, and its map.
#[test]
fn modules_with_the_hosts_collector_are_rebuilt() {
    let dir = project(&[("main.py", MAIN), ("lib.py", LIB)]);
    let options = [
        "build",
        "--target",
        "wasm32-wasi",
        "--backend",
        "wasmgc",
        "-g",
    ];
    let args = [&options[..], &["main.py", "-o", "main.wasm"]].concat();
    let mut w = Watched::start(&dir, &args);
    w.tells("built main.wasm");
    let read = |name: &str| fs::read(dir.path().join(name)).unwrap();
    let first = (read("main.wasm"), read("main.wasm.map"));
    assert!(!read("main.mjs").is_empty());
    w.save("lib.py", &LIB.replace("10", "1234567"));
    w.tells("changed: lib.py");
    w.tells("built main.wasm");
    assert_ne!(first.0, read("main.wasm"));
    assert_ne!(first.1, read("main.wasm.map"));
}

#[test]
fn build_keeps_an_executable_up_to_date() {
    let dir = project(&[("main.py", MAIN), ("lib.py", LIB)]);
    let mut w = Watched::start(&dir, &["build", "main.py", "-o", "program"]);
    w.tells("built program");
    let run = || {
        let output = Command::new(dir.path().join("program")).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(run(), "value 10\n");
    w.save("lib.py", "def value(n):\n    return n * 7\n");
    w.tells("built program");
    assert_eq!(run(), "value 7\n");
    w.save("lib.py", "def value(n):\n    return n.nothing\n");
    w.tells("program is as it was");
    assert_eq!(run(), "value 7\n");
    let left: Vec<_> = fs::read_dir(dir.path())
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with(".taipan-link"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn keys_on_a_terminal() {
    let dir = project(&[("main.py", MAIN), ("lib.py", LIB)]);
    let mut w = Watched::start_on_terminal(&dir, &["run", "main.py"]);
    let before = w.mode_before;
    w.shows("value 10");
    w.shows("ended with exit code 0");
    w.shows("q quit");
    assert_ne!(w.terminal_mode(), before, "keys come one by one");
    w.press("r");
    w.shows("value 10");
    w.shows("ended with exit code 0");
    w.press("q");
    assert_eq!(w.exit_code(), Some(0));
    assert_eq!(w.terminal_mode(), before);
}

#[test]
fn interrupts_on_a_terminal() {
    let dir = project(&[("main.py", TURNS)]);
    let mut w = Watched::start_on_terminal(&dir, &["run", "main.py"]);
    let before = w.mode_before;
    w.shows("turn 2 old");
    w.press("\x03");
    assert_eq!(w.exit_code(), Some(128 + libc::SIGINT));
    assert_eq!(w.terminal_mode(), before);
}

#[test]
fn lines_for_the_program_on_a_terminal() {
    let text = "\
import os

def entry_point(argv):
    while True:
        line = os.read(0, 100)
        if not line:
            os.write(1, 'no more\\n')
            return 0
        os.write(1, 'got <' + line[:-1] + '>\\n')
";
    let dir = project(&[("main.py", text)]);
    let mut w = Watched::start_on_terminal(&dir, &["run", "main.py"]);
    w.shows("i input");
    w.press("i");
    w.shows("input (Esc to cancel)");
    w.press("quarter\r");
    w.shows("got <quarter>");
    w.press("i");
    w.shows("input (Esc to cancel)");
    w.press("\x04");
    w.shows("no more");
}

#[test]
fn check_on_a_terminal() {
    let dir = project(&[("main.py", MAIN), ("lib.py", LIB)]);
    let mut w = Watched::start_on_terminal(&dir, &["check", "main.py"]);
    w.shows("no errors");
    w.shows("r re-run");
    w.press("s");
    w.shows("ran ");
    w.press("r");
    w.shows("ran 0 of ");
    w.save("lib.py", "def value(n):\n    return n.nothing\n");
    w.shows("1 error");
    w.press("q");
    assert_eq!(w.exit_code(), Some(0));
}

/// All of an outcome that is longer than the screen can be looked at.
#[test]
fn a_long_outcome_on_a_terminal() {
    let mut main = String::new();
    let mut calls = String::new();
    for i in 0..12 {
        main += &format!("def f{i}(n):\n    return n.nothing{i}\n\n");
        calls += &format!("    f{i}(len(argv))\n");
    }
    main += &format!("def entry_point(argv):\n{calls}    return 0\n");
    let dir = project(&[("main.py", &main)]);
    let mut w = Watched::start_on_terminal(&dir, &["check", "main.py"]);
    w.shows("12 errors");
    w.shows("nothing0");
    w.shows("lines 1 to");
    assert!(
        !w.everything().contains("nothing11"),
        "it is not on the first screen"
    );
    for _ in 0..10 {
        w.press("\x1b[6~");
    }
    w.shows("nothing11");
    w.press("\x1b[A");
    w.shows("arrows and page keys");
    w.press("q");
    assert_eq!(w.exit_code(), Some(0));
}

const TESTS: &str = "\
from lib import value

def test_value():
    n = len('a b'.split(' '))
    assert value(n) >= 10 * n

def test_alone():
    assert len('a b c'.split(' ')) == 3
";

#[test]
fn test_runs_what_a_change_can_affect() {
    let dir = project(&[("test_it.py", TESTS), ("lib.py", LIB), ("notes.txt", "")]);
    let mut w = Watched::start(&dir, &["test"]);
    w.tells("2 passed in");
    w.tells("watching");
    w.save("lib.py", "def value(n):\n    return n * 11\n");
    w.tells("changed: lib.py");
    w.tells("1 passed, 1 unchanged in");
    // A failure is explained, and told of again until it is mended.
    w.save("lib.py", "def value(n):\n    return n * 9\n");
    w.tells("1 failed, 1 unchanged in");
    w.tells("assert 18 >= 20");
    w.save("test_it.py", &format!("# A comment.\n{TESTS}"));
    w.tells("1 failed, 1 unchanged in");
    // Back to what is known.
    w.save("lib.py", LIB);
    w.tells("2 unchanged in");
    // Test files come and go.
    w.save("test_more.py", "def test_more():\n    assert 1 + 1 == 2\n");
    w.tells("1 passed, 2 unchanged in");
    fs::remove_file(dir.path().join("test_more.py")).unwrap();
    w.tells("2 unchanged in");
    // What is no Python, and what cannot be compiled.
    w.save("lib.py", "def value(n:\n");
    w.tells("error[TP0001]");
    w.tells("ERROR test_it.py");
    w.tells("FAILED test_it.py::test_value - a file that it needs has a syntax error");
    w.save("lib.py", "def value(n):\n    return n.nothing\n");
    w.tells("1 failed, 1 unchanged, 1 interpreted in");
    w.tells("an int has no attribute `nothing`");
    w.save("lib.py", LIB);
    w.tells("2 unchanged in");
    // Tests themselves: a body, and one with another import.
    w.save("test_it.py", &TESTS.replace("== 3", "== 4"));
    w.tells("1 failed, 1 unchanged in");
    w.tells("assert 3 == 4");
    let other = TESTS.replace("== 3", "== 5");
    w.save("test_it.py", &format!("import os\n{other}"));
    w.tells("1 failed, 1 unchanged in");
    w.tells("assert 3 == 5");
    w.save("test_it.py", TESTS);
    w.tells("2 unchanged in");
    assert!(!w.everything().contains('\x1b'));
}

#[test]
fn test_on_a_terminal() {
    let dir = project(&[("test_it.py", TESTS), ("lib.py", LIB)]);
    let mut w = Watched::start_on_terminal(&dir, &["test", "-v", "test_it.py"]);
    w.shows("2 passed in");
    w.shows("test_it.py::test_alone");
    w.shows("r re-run · a run all · s statistics · q quit");
    w.press("r");
    w.shows("2 unchanged in");
    w.press("a");
    w.shows("2 passed in");
    w.press("q");
    assert_eq!(w.exit_code(), Some(0));
}

#[test]
fn test_in_a_format_for_programs() {
    let dir = project(&[("test_it.py", TESTS), ("lib.py", LIB)]);
    let mut w = Watched::start(&dir, &["test", "--json", "-k", "value"]);
    w.prints("\"id\":\"test_it.py::test_value\"");
    w.prints("\"unchanged\":false");
    w.save("lib.py", &format!("# A comment.\n{LIB}"));
    w.prints("\"unchanged\":true");
}

/// A test that is running when its code is changed is ended, whatever it was at. What
/// tests leave in the folder is no reason to run them again.
#[test]
fn test_does_not_wait_for_what_is_outdated() {
    let text = "\
import os

def test_it():
    os.write(os.open('started', os.O_WRONLY | os.O_CREAT, 0644), 'x')
    while True:
        pass
";
    let dir = project(&[("test_it.py", "def test_it():\n    pass\n")]);
    let mut w = Watched::start(&dir, &["test"]);
    w.tells("1 passed in");
    w.save("test_it.py", text);
    watching::wait_for_file(&dir.path().join("started"));
    w.save("test_it.py", "def test_it():\n    assert 1 == 1\n");
    // The same code as at first.
    w.tells("1 unchanged in");
    assert!(!w.everything().contains("failed"), "{}", w.everything());
}

/// The first answer comes from the cache, and what it leaves out of the database is made
/// behind it: the first edit runs what it affects and no more.
#[test]
fn an_answer_from_the_cache_is_followed_by_the_work() {
    let dir = project(&[("main.py", MAIN), ("lib.py", LIB)]);
    let mut w = Watched::start(&dir, &["check", "main.py"]);
    w.tells("no errors");
    w.signal(libc::SIGTERM);
    w.exit_code();
    let mut w = Watched::start(&dir, &["check", "main.py"]);
    // Files were read, and no stage ran.
    w.tells(" queries\n");
    w.tells("no errors");
    w.save("lib.py", "def value(n):\n    return n.nothing\n");
    w.tells("1 error");
    w.save("lib.py", LIB);
    w.tells("no errors");
}

#[test]
fn check_finds_new_targets_in_a_folder() {
    let dir = project(&[("main.py", MAIN), ("lib.py", LIB)]);
    let mut w = Watched::start(&dir, &["check", "."]);
    w.tells("no errors");
    w.save(
        "other.py",
        "def entry_point(argv):\n    return argv.nothing\n",
    );
    w.tells("other.py:2");
}

#[test]
fn wrong_usage() {
    let dir = project(&[("main.py", MAIN), ("lib.py", LIB)]);
    for args in [
        &["run", "--engine", "llinterp", "main.py"][..],
        &["check", "--log-queries", "log", "main.py"],
        &["test", "--engine", "llinterp"],
        &["test", "-k", "and"],
        &["test", "missing.py"],
        &["nonsense"],
    ] {
        let mut w = Watched::start(&dir, args);
        assert_eq!(w.exit_code(), Some(2), "{args:?}");
    }
}

const LOOPS: &str = "\
from rpython.rlib.jit import JitDriver
driver = JitDriver(greens=['step'], reds=['n', 'total'])

def run(step, n):
    total = 0
    while n > 0:
        driver.jit_merge_point(step=step, n=n, total=total)
        total += step
        n -= 1
    return total

def entry_point(argv):
    print 'total', run(len(argv), 2000)
    return 0
";

#[test]
fn run_with_a_just_in_time_compiler() {
    let dir = project(&[("main.py", LOOPS)]);
    let log = dir.path().join("log");
    let args = ["run", "--jit", "main.py"];
    let mut w = Watched::start_where(&dir, &args, "TAIPAN_JITLOG", &log);
    w.prints("total 2000\n");
    w.tells("exit code 0");
    let compiled = || fs::read_to_string(&log).unwrap_or_default();
    assert!(compiled().contains("\"event\":\"end\""), "{}", compiled());
    w.save(
        "main.py",
        &LOOPS.replace("total += step", "total += step + 1"),
    );
    w.prints("total 4000\n");
    w.tells("exit code 0");
    // A program without a driver runs as any other does.
    w.save("main.py", MAIN);
    w.save("lib.py", LIB);
    w.prints("value 10\n");
}

#[test]
fn build_with_a_just_in_time_compiler() {
    let dir = project(&[("main.py", LOOPS)]);
    let mut w = Watched::start(&dir, &["build", "--jit", "main.py"]);
    let output = dir.path().join("main-c");
    let run = || {
        let o = Command::new(&output).output().expect("it was built");
        String::from_utf8_lossy(&o.stdout).into_owned()
    };
    w.tells("built main-c");
    assert_eq!(run(), "total 2000\n");
    w.save("main.py", &LOOPS.replace("2000", "3000"));
    w.tells("changed: main.py");
    w.tells("built main-c");
    assert_eq!(run(), "total 3000\n");
}

/// `taipan watch` alone checks the project's targets.
#[test]
fn the_default_command() {
    let dir = project(&[
        ("pyproject.toml", "[tool.taipan]\ntargets = ['main.py']\n"),
        ("main.py", "def entry_point(argv):\n    return 0\n"),
        ("other.py", "def entry_point(argv):\n    return missing\n"),
    ]);
    let mut w = Watched::start(&dir, &[]);
    w.tells("no errors");
    w.save("main.py", "def entry_point(argv):\n    return nothing\n");
    w.tells("nothing");
}
