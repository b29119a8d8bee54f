//! Checked builds: what would be undefined behaviour ends the program and says where; and what
//! faults say in any build.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output};

use expect_test::{Expect, expect};

const SOURCE: &str = "
from rpython.rtyper.lltypesystem import lltype

S = lltype.Struct('S', ('a', lltype.Signed), ('b', lltype.Signed))
A = lltype.Array(lltype.Signed)

class Node(object):
    def __init__(self, v):
        self.v = v
        self.next = None

def from_list(l, i):
    total = 0
    for n in range(3):
        total += l[i] * n + total
    return total

def from_string(s, i):
    total = 0
    for n in range(3):
        total += ord(s[i]) * n + total
    return total

def caught(l, i):
    try:
        return l[i]
    except IndexError:
        return -1

def null(n, times):
    total = 0
    for i in range(times):
        total += n.next.v * i + total
    return total

def divided(a, b):
    total = 0
    for i in range(3):
        total += a // b + i * total
    return total

def freed(n):
    s = lltype.malloc(S, flavor='raw')
    s.a = n
    lltype.free(s, flavor='raw')
    return s.a

def twice(n):
    s = lltype.malloc(S, flavor='raw')
    s.a = n
    lltype.free(s, flavor='raw')
    lltype.free(s, flavor='raw')
    return 3

def array(n):
    a = lltype.malloc(A, 3, flavor='raw')
    a[n] = 4
    r = a[n]
    lltype.free(a, flavor='raw')
    return r

def run(what, n):
    l = [1, 2, 3]
    l.append(n)
    if what == 'list':
        return from_list(l, n)
    if what == 'string':
        return from_string('abc' + what, n)
    if what == 'caught':
        return caught(l, n)
    if what == 'null':
        x = Node(3)
        if n < 0:
            x.next = Node(4)
        return null(x, n)
    if what == 'division':
        return divided(n, len(l) - 4)
    if what == 'freed':
        return freed(n)
    if what == 'twice':
        return twice(n)
    return array(n)

def entry_point(argv):
    print run(argv[1], int(argv[2]))
    return 0

def target(driver, args):
    return entry_point, None
";

fn taipan(dir: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_taipan"))
        .current_dir(dir)
        .args(args)
        .output()
        .unwrap()
}

/// What a program printed, and how it ended.
fn told(dir: &Path, out: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let how = match (out.status.code(), out.status.signal()) {
        (Some(code), _) => format!("exit {code}"),
        (None, signal) => format!("signal {}", signal.unwrap_or(0)),
    };
    let all = text(&out.stdout) + &text(&out.stderr) + &how;
    all.replace(dir.to_str().unwrap(), "/tmp")
}

#[track_caller]
fn check(args: &[&str], expected: Expect) {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("t.py"), SOURCE).unwrap();
    let mut all = String::new();
    for case in [
        ["list", "3"],
        ["list", "100"],
        ["list", "-5"],
        ["string", "100"],
        ["caught", "100"],
        ["null", "2"],
        ["division", "1"],
        ["freed", "1"],
        ["twice", "1"],
        ["array", "2"],
        ["array", "3"],
    ] {
        let out = taipan(dir.path(), &[args, &["t.py"], &case].concat());
        all += &format!("{}: {}\n", case.join(" "), told(dir.path(), &out));
    }
    expected.assert_eq(&all);
}

#[test]
fn undefined_behaviour_ends_checked_programs() {
    check(
        &["run", "--lldebug"],
        expect![[r#"
        list 3: 12
        exit 0
        list 100: RPython traceback:
          File "/tmp/t.py", line 85, in t.entry_point
          File "/tmp/t.py", line 66, in t.run
          File "/tmp/t.py", line 15, in t.from_list
        Fatal RPython error: index out of range
        exit 1
        list -5: RPython traceback:
          File "/tmp/t.py", line 85, in t.entry_point
          File "/tmp/t.py", line 66, in t.run
          File "/tmp/t.py", line 15, in t.from_list
        Fatal RPython error: index out of range
        exit 1
        string 100: RPython traceback:
          File "/tmp/t.py", line 85, in t.entry_point
          File "/tmp/t.py", line 68, in t.run
          File "/tmp/t.py", line 21, in t.from_string
        Fatal RPython error: index out of range
        exit 1
        caught 100: -1
        exit 0
        null 2: RPython traceback:
          File "/tmp/t.py", line 85, in t.entry_point
          File "/tmp/t.py", line 75, in t.run
          File "/tmp/t.py", line 33, in t.null
        Fatal RPython error: null pointer used (SIGSEGV)
        signal 11
        division 1: RPython traceback:
          File "/tmp/t.py", line 85, in t.entry_point
          File "/tmp/t.py", line 77, in t.run
          File "/tmp/t.py", line 39, in t.divided
        Fatal RPython error: division by zero, or its result is too large (SIGILL)
        signal 4
        freed 1: RPython traceback:
          File "/tmp/t.py", line 85, in t.entry_point
          File "/tmp/t.py", line 79, in t.run
        Fatal RPython error: raw memory used after it was freed
        exit 1
        twice 1: RPython traceback:
          File "/tmp/t.py", line 85, in t.entry_point
          File "/tmp/t.py", line 81, in t.run
        Fatal RPython error: raw memory freed twice
        exit 1
        array 2: 4
        exit 0
        array 3: RPython traceback:
          File "/tmp/t.py", line 85, in t.entry_point
          File "/tmp/t.py", line 82, in t.run
        Fatal RPython error: index out of range
        exit 1
    "#]],
    );
}

#[test]
fn executables_too_and_faults_of_any() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("t.py"), SOURCE).unwrap();
    let mut all = String::new();
    for options in [
        &["build", "t.py", "-o", "t"][..],
        &["build", "--lldebug", "t.py", "-o", "t"],
    ] {
        assert!(taipan(dir.path(), options).status.success());
        for case in [["null", "2"], ["division", "1"], ["caught", "100"]] {
            let out = Command::new(dir.path().join("t"))
                .args(case)
                .output()
                .unwrap();
            all += &format!("{}: {}\n", case.join(" "), told(dir.path(), &out));
        }
    }
    expect![[r#"
        null 2: RPython traceback:
          File "/tmp/t.py", in t.entry_point
          File "/tmp/t.py", in t.run
          File "/tmp/t.py", in t.null
        Fatal RPython error: null pointer used (SIGSEGV)
        signal 11
        division 1: RPython traceback:
          File "/tmp/t.py", in t.entry_point
          File "/tmp/t.py", in t.run
          File "/tmp/t.py", in t.divided
        Fatal RPython error: division by zero, or its result is too large (SIGILL)
        signal 4
        caught 100: -1
        exit 0
        null 2: RPython traceback:
          File "/tmp/t.py", line 85, in t.entry_point
          File "/tmp/t.py", line 75, in t.run
          File "/tmp/t.py", line 33, in t.null
        Fatal RPython error: null pointer used (SIGSEGV)
        signal 11
        division 1: RPython traceback:
          File "/tmp/t.py", line 85, in t.entry_point
          File "/tmp/t.py", line 77, in t.run
          File "/tmp/t.py", line 39, in t.divided
        Fatal RPython error: division by zero, or its result is too large (SIGILL)
        signal 4
        caught 100: -1
        exit 0
    "#]]
    .assert_eq(&all);
}

#[test]
fn tests_and_calls_are_checked() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("t.py"), SOURCE).unwrap();
    let test = "from t import from_list\ndef test_index():\n    assert from_list([1, 2], 2) == 0\n";
    std::fs::write(dir.path().join("test_t.py"), test).unwrap();
    let tested = taipan(dir.path(), &["test", "-q", "-q"]);
    let tested = told(dir.path(), &tested);
    assert!(
        tested.contains("in t.from_list\nFatal RPython error: index out of range"),
        "{tested}"
    );
    assert!(
        tested.contains("run as Python it ends with IndexError"),
        "{tested}"
    );
    let called = taipan(
        dir.path(),
        &["call", "--engine", "native", "t.py:run", "list", "9"],
    );
    let called = told(dir.path(), &called);
    assert!(called.contains("line 15, in t.from_list"), "{called}");
    // What is asked for counts.
    let not = [
        "call",
        "--engine",
        "native",
        "--lldebug=false",
        "t.py:run",
        "caught",
        "9",
    ];
    assert_eq!(told(dir.path(), &taipan(dir.path(), &not)), "-1\nexit 0");
}

/// A class that is wrong about its fields: what is known of a prebuilt instance is not what it
/// holds by then. The original's `constfold` takes the old value, too.
#[test]
fn checked_code_believes_no_immutable_fields() {
    let dir = tempfile::tempdir().unwrap();
    let source = "
class State(object):
    _immutable_fields_ = ['size']
    def __init__(self, size):
        self.size = size
state = State(3)
def reset(n):
    state.__init__(n)
    return state.size
";
    std::fs::write(dir.path().join("s.py"), source).unwrap();
    let test = "from s import reset\ndef test_reset():\n    assert reset(5) == 5\n";
    std::fs::write(dir.path().join("test_s.py"), test).unwrap();
    let said = |args: &[&str]| told(dir.path(), &taipan(dir.path(), args));
    let call = ["call", "--engine", "native"];
    let what = ["s.py:reset", "5"];
    assert_eq!(said(&[&call[..], &what].concat()), "5\nexit 0");
    let unchecked = ["--lldebug=false"];
    assert_eq!(said(&[&call[..], &unchecked, &what].concat()), "3\nexit 0");
    let tested = said(&["test", "-q"]);
    assert!(tested.contains("1 passed"), "{tested}");
}

#[test]
fn both_variants_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("t.py"), SOURCE).unwrap();
    let executed = |option: &[&str]| {
        let log = ["--log-queries", "log", "t.py", "caught", "9"];
        assert!(
            taipan(dir.path(), &[&["run"], option, &log].concat())
                .status
                .success()
        );
        let log = std::fs::read_to_string(dir.path().join("log")).unwrap();
        let made = |l: &&str| l.contains("\"machine_code\"") && l.contains("\"executed\"");
        log.lines().filter(made).count()
    };
    assert!(executed(&[]) > 0);
    assert!(
        executed(&["--lldebug"]) > 0,
        "code without checks was taken"
    );
    assert_eq!(executed(&[]), 0);
    assert_eq!(executed(&["--lldebug"]), 0);
}

/// Code that is compiled just in time has the checks of the functions that it comes from.
#[test]
fn residual_code_is_checked() {
    let source = "
from rpython.rlib.jit import JitDriver

driver = JitDriver(greens=['pc', 'code'], reds=['n', 'total', 'items', 'node'])

class Node(object):
    def __init__(self, value):
        self.value = value
        self.next = None

def fetch(items, n):
    return items[n]

def follow(node, n):
    return node.next.value + n

def interpret(code, items, node):
    pc = n = total = 0
    while n < 1000:
        driver.jit_merge_point(pc=pc, code=code, n=n, total=total, items=items, node=node)
        op = code[pc]
        pc += 1
        if op == 'i':
            total += fetch(items, n)
        elif op == 'n':
            if n == 500:
                node.next = None
            total += follow(node, n)
        elif op == 'd':
            total += 1000 // (500 - n)
        else:
            n += 1
            pc = 0
            driver.can_enter_jit(pc=pc, code=code, n=n, total=total, items=items, node=node)
    return total

def entry_point(argv):
    node = Node(1)
    node.next = Node(2)
    items = [i for i in range(int(argv[2]))]
    items.append(1)
    print interpret(argv[1], items, node)
    return 0
";
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("t.py"), source).unwrap();
    let mut all = String::new();
    for case in [["i.", "2000"], ["i.", "500"], ["n.", "1"], ["d.", "1"]] {
        let args = ["run", "--jit", "--jit-threshold", "2", "--lldebug", "t.py"];
        let out = taipan(dir.path(), &[&args[..], &case].concat());
        all += &format!("{}: {}\n", case.join(" "), told(dir.path(), &out));
    }
    expect![[r#"
        i. 2000: 499500
        exit 0
        i. 500: RPython traceback:
          File "/tmp/t.py", line 42, in t.entry_point
          File "/tmp/t.py", line 18, in t.interpret
          In t.fetch, compiled just in time
        Fatal RPython error: index out of range
        exit 1
        n. 1: RPython traceback:
          File "/tmp/t.py", line 42, in t.entry_point
          File "/tmp/t.py", line 18, in t.interpret
        Fatal RPython error: null pointer used (SIGSEGV)
        signal 11
        d. 1: RPython traceback:
          File "/tmp/t.py", line 42, in t.entry_point
          File "/tmp/t.py", line 18, in t.interpret
        Fatal RPython error: division by zero, or its result is too large (SIGFPE)
        signal 8
    "#]]
    .assert_eq(&all);
}

/// A prebuilt exception is raised without an operation: the place is the statement all the same.
#[test]
fn a_traceback_starts_where_the_exception_is_raised() {
    let dir = tempfile::tempdir().unwrap();
    let source = "
from rpython.rlib.objectmodel import dont_inline

class Error(Exception):
    pass
error = Error()

@dont_inline
def limited(n):
    while n > 3:
        n -= 3
        if n == 2:

            raise error
    return n

@dont_inline
def again(n):
    try:
        return limited(n)
    except KeyError:
        return 0
    except Error:
        n -= 1

        raise

@dont_inline
def passing(n):
    try:
        return again(n)
    finally:
        n -= 1

@dont_inline
def telling(n):
    try:
        return passing(n)
    finally:
        print 'left'

def entry_point(argv):
    print limited(7)
    try:
        limited(8)
    except Error:
        print 'caught'
    return telling(5)

def target(driver, args):
    return entry_point, None
";
    std::fs::write(dir.path().join("t.py"), source).unwrap();
    let said = |args: &[&str]| told(dir.path(), &taipan(dir.path(), args));
    expect![[r#"
        1
        caught
        left
        RPython traceback:
          File "/tmp/t.py", line 38, in t.telling
          File "/tmp/t.py", line 31, in t.passing
          File "/tmp/t.py", line 20, in t.again
          File "/tmp/t.py", line 14, in t.limited
        Fatal RPython error: Error
        exit 1"#]]
    .assert_eq(&said(&["run", "--lldebug", "t.py"]));
}

/// The innermost place of an exception is in the program, not in a helper of Taipan, which has no line.
#[test]
fn helpers_are_not_in_tracebacks() {
    let dir = tempfile::tempdir().unwrap();
    let source = "def entry_point(argv):\n    return int(argv[0]) + 1\n";
    std::fs::write(dir.path().join("t.py"), source).unwrap();
    for backend in ["cranelift", "c"] {
        let o = taipan(dir.path(), &["run", "--backend", backend, "t.py"]);
        let stderr = String::from_utf8_lossy(&o.stderr);
        let lines: Vec<&str> = stderr.lines().collect();
        let place = lines[1].ends_with("t.py\", line 2, in t.entry_point");
        assert!(place && lines.len() == 3, "{backend}: {stderr}");
    }
}

/// Of a last call no place is known but the helper, which has a name.
#[test]
fn helpers_that_are_called_last_are_in_tracebacks() {
    let dir = tempfile::tempdir().unwrap();
    let source = "def entry_point(argv):\n    return int(argv[0])\n";
    std::fs::write(dir.path().join("t.py"), source).unwrap();
    for backend in ["cranelift", "c"] {
        let o = taipan(dir.path(), &["run", "--backend", backend, "t.py"]);
        let stderr = String::from_utf8_lossy(&o.stderr);
        let line = "  File \"<taipan>\", in ll_str.ll_int\n";
        assert!(stderr.contains(line), "{backend}: {stderr}");
    }
}

/// Functions that import time compiled from texts have no file.
#[test]
fn functions_of_texts_in_tracebacks() {
    let dir = tempfile::tempdir().unwrap();
    let source = "
ns = {}
exec '''
def f(n):
    total = 0
    for i in range(n * 100):
        total += i
        if total > n:
            raise ValueError
        total ^= i
    return total
''' in ns
f = ns['f']

def entry_point(argv):
    print f(len(argv)) + 1
    return 0
";
    std::fs::write(dir.path().join("t.py"), source).unwrap();
    for backend in ["cranelift", "c"] {
        let o = taipan(dir.path(), &["run", "--backend", backend, "t.py"]);
        let stderr = String::from_utf8_lossy(&o.stderr);
        assert!(
            stderr.contains("  File \"<string>\", in "),
            "{backend}: {stderr}"
        );
    }
}
