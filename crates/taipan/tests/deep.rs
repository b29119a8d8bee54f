//! Recursion without end is a RuntimeError that programs can catch, however many roots
//! their functions keep, wherever they run, and whoever calls them.

use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Output};

const ROOTS: [usize; 6] = [0, 1, 3, 4, 16, 40];

/// What does not depend on the number of roots. `deep_*` have no end.
const SOURCE: &str = "
import os
from rpython.rlib import objectmodel, rgc, rstack, rstacklet, rthread
from rpython.rtyper.lltypesystem import lltype, rffi
from rpython.translator.tool.cbuild import ExternalCompilationInfo

class Box(object):
    def __init__(self, v):
        self.v = v

class State(object):
    def __init__(self):
        self.end = -1
        self.n = 0
        self.last = Box(0)
        for_each_field

state = State()

def deep_mutual(n):
    a = state.f0
    b = state.f1
    if n == state.end: return 0
    state.last = Box(n)
    return deep_other(n + 1, a) + a.v + b.v

def deep_other(n, x):
    y = state.f2
    z = state.f3
    if n == state.end: return 0
    state.last = Box(n)
    return deep_mutual(n + 1) + x.v + y.v + z.v

class Base(object):
    def run(self, n, other): raise NotImplementedError

class Left(Base):
    def run(self, n, other):
        if n == state.end: return 0
        x = Box(n)
        return other.run(n + 1, self) + x.v

class Right(Base):
    def run(self, n, other):
        if n == state.end: return 0
        x, y, z = Box(n), Box(n + 1), Box(n + 2)
        return other.run(n + 1, self) + x.v + y.v + z.v

def deep_methods(n): return Left().run(n, Right())

def deep_handlers(n):
    # Each of the innermost ones handles it with what stack is left.
    try:
        return deep_handlers(n + 1) + 1
    except RuntimeError:
        state.n += 1
        if state.n > 10: raise
        state.last = Box(len('at %d, %f' % (n, n * 0.5)))
        return deep_methods(n)

class Dying(object):
    def __del__(self):
        if state.n > 4: return
        try:
            deep_mutual(0)
        except RuntimeError:
            state.n += 1

def finalizers(n):
    for i in range(n): Dying()
    rgc.collect()
    return state.n >= n

def deep_then_finalizers(n):
    if n == state.end: return 0
    d = Dying()
    r = deep_then_finalizers(n + 1)
    return r + objectmodel.compute_unique_id(d)

COMPARE = lltype.Ptr(lltype.FuncType([rffi.VOIDP, rffi.VOIDP], rffi.INT))
eci = ExternalCompilationInfo(includes=['stdlib.h'])
qsort = rffi.llexternal('qsort', [rffi.SIGNEDP, rffi.SIZE_T, rffi.SIZE_T, COMPARE], lltype.Void,
                        compilation_info=eci, releasegil=True)

def compare(a, b):
    state.n += 1
    try:
        sort()
    except RuntimeError:
        state.last = Box(0)
    return rffi.cast(rffi.INT, 0)

def sort():
    items = lltype.malloc(rffi.SIGNEDP.TO, 2, flavor='raw')
    items[0], items[1] = 1, 0
    qsort(items, 2, 8, compare)
    lltype.free(items, flavor='raw')

def callbacks(n):
    sort()
    return state.n > 100

def in_thread():
    for i in range(2):
        try:
            deep_mutual(0)
        except RuntimeError:
            state.n += 1
    state.lock.release()

def threads(n):
    state.lock = rthread.allocate_lock()
    state.lock.acquire(True)
    for size in [0, 1 << 20, 40 << 20]:
        rthread.set_stacksize(size)
        rthread.start_new_thread(in_thread, ())
        state.lock.acquire(True)
    return state.n == 6

def in_stacklet(h, arg):
    try:
        deep_mutual(0)
    except RuntimeError:
        state.n += 1
    return h

def stacklets(n):
    sthread = rstacklet.StackletThread()
    for i in range(n):
        h = sthread.new(in_stacklet)
        assert sthread.is_empty_handle(h)
    return state.n == n

def raises(f):
    # Again and again, and the program goes on: at the limit, and where the stack ends.
    for i in range(4):
        state.n = 0
        rstack._stack_set_length_fraction([1.0, 1000.0, 0.4, 1.0][i])
        try:
            f(0)
        except RuntimeError:
            continue
        return False
    return True
";

/// One function for each number of roots, as well.
fn source() -> String {
    let fields = (0..40).fold(String::new(), |mut all, i| {
        let _ = write!(all, "self.f{i} = Box({i}); ");
        all
    });
    let mut out = SOURCE.replace("for_each_field", &fields);
    for n in ROOTS {
        let list = |sep: &str, f: &dyn Fn(usize) -> String| {
            (0..n).map(|i| format!("{sep}{}", f(i))).collect::<String>()
        };
        let load = list("\n    ", &|i| format!("a{i} = state.f{i}"));
        let sum = list(" + ", &|i| format!("a{i}.v"));
        let _ = write!(
            out,
            "
def deep_{n}(n):{load}
    if n == state.end: return 0
    state.last = Box(n)
    return deep_{n}(n + 1){sum}
",
        );
    }
    out
}

fn names() -> Vec<String> {
    let mut out: Vec<String> = ROOTS.iter().map(|n| format!("deep_{n}")).collect();
    let others = ["mutual", "methods", "handlers", "then_finalizers"];
    out.extend(others.iter().map(|n| format!("deep_{n}")));
    out
}

const OTHERS: [&str; 4] = ["finalizers", "callbacks", "threads", "stacklets"];

fn project(dir: &Path) {
    let mut program = source();
    let mut tests = "from deep import *\n".to_owned();
    program.push_str("\ndef entry_point(argv):\n");
    for f in names() {
        let _ = writeln!(program, "    print '{f}', raises({f})");
        let _ = writeln!(tests, "def test_{f}(): assert raises({f})");
    }
    for f in OTHERS {
        let _ = writeln!(program, "    state.n = 0\n    print '{f}', {f}(3)");
        let _ = writeln!(tests, "def test_{f}():\n    state.n = 0\n    assert {f}(3)");
    }
    program.push_str("    return 0\n\ndef target(driver, args): return entry_point, None\n");
    let all: Vec<String> = names().iter().map(|f| format!("raises({f})")).collect();
    let _ = writeln!(program, "def call_all(): return [{}]", all.join(", "));
    std::fs::write(dir.join("deep.py"), program).unwrap();
    std::fs::write(dir.join("test_deep.py"), tests).unwrap();
}

fn expected() -> String {
    let all = names().into_iter().chain(OTHERS.map(String::from));
    all.map(|f| format!("{f} 1\n")).collect()
}

fn taipan(dir: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_taipan"))
        .current_dir(dir)
        .args(args)
        .output()
        .unwrap()
}

fn stdout(o: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&o.stdout),
        match o.status.success() {
            true => String::new(),
            false => format!("{}\n{}", o.status, String::from_utf8_lossy(&o.stderr)),
        }
    )
}

#[test]
fn in_programs_that_are_run() {
    let dir = tempfile::tempdir().unwrap();
    project(dir.path());
    let o = taipan(dir.path(), &["run", "deep.py"]);
    assert_eq!(stdout(&o), expected());
}

#[test]
fn in_executables() {
    let dir = tempfile::tempdir().unwrap();
    project(dir.path());
    let o = taipan(dir.path(), &["build", "deep.py", "-o", "deep"]);
    assert_eq!(stdout(&o), "");
    for limit in ["unlimited", "8192", "1024"] {
        let o = Command::new("sh")
            .current_dir(dir.path())
            .args(["-c", &format!("ulimit -s {limit} && exec ./deep")])
            .output()
            .unwrap();
        assert_eq!(stdout(&o), expected(), "{limit}");
    }
    // The environment is on the stack, too.
    let o = Command::new("./deep")
        .current_dir(dir.path())
        .env("LARGE", "x".repeat(120_000))
        .env("ALSO_LARGE", "x".repeat(120_000))
        .output()
        .unwrap();
    assert_eq!(stdout(&o), expected());
}

/// Output of a program that sets limits.
const LIMITS: &str = "\
default 1 1 1
half 1 1
twice 1
critical 1
no more 1
the end 1
as before 1
StackOverflow RuntimeError RuntimeError
";
/// The same in threads and stacklets, which need machine code.
const ELSEWHERE: &str = "KB 1\n1 1\n1 1\n1 1\n";

/// Recursion is as deep as the original's by default, and as deep as the program's limit: on every engine and back
/// end.
#[test]
fn limits() {
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/deep/limits.py");
    let target = target.to_str().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let o = taipan(dir.path(), &["run", "--no-cache", target]);
    assert_eq!(stdout(&o), format!("{LIMITS}{ELSEWHERE}"));
    let function = format!("{target}:limits");
    let o = taipan(
        dir.path(),
        &["call", "--no-cache", "--engine", "llinterp", &function],
    );
    assert!(stdout(&o).starts_with(LIMITS), "{}", stdout(&o));
    let mut ways = vec![["--backend", "cranelift"], ["--backend", "c"]];
    if taipan_platform::Llvm::find().is_ok() {
        ways.push(["--backend", "llvm"]);
    }
    for way in ways {
        let build = [
            "build",
            "--quiet",
            "--no-cache",
            target,
            "-o",
            "limits",
            way[0],
            way[1],
        ];
        assert_eq!(stdout(&taipan(dir.path(), &build)), "");
        let o = Command::new("sh")
            .current_dir(dir.path())
            .args(["-c", "ulimit -s 8192 && exec ./limits"])
            .output()
            .unwrap();
        assert_eq!(stdout(&o), format!("{LIMITS}{ELSEWHERE}"), "{way:?}");
    }
}

#[test]
fn in_tests() {
    let dir = tempfile::tempdir().unwrap();
    project(dir.path());
    let o = taipan(dir.path(), &["test", "test_deep.py"]);
    let all = names().len() + OTHERS.len();
    let text = stdout(&o);
    assert!(text.contains(&format!("{all} passed")), "{text}");
}

#[test]
fn in_calls() {
    let dir = tempfile::tempdir().unwrap();
    project(dir.path());
    let all = vec!["True"; names().len()].join(", ");
    for engine in ["llinterp", "native"] {
        let o = taipan(
            dir.path(),
            &["call", "deep.py:call_all", "--engine", engine],
        );
        assert_eq!(stdout(&o), format!("[{all}]\n"), "{engine}");
    }
}
