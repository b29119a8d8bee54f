//! Tracebacks of faults name functions that are running, also where return addresses of others are still
//! on the stack: here in an array of a C function, which is the size of the calls that ended before.

use std::path::Path;
use std::process::{Command, Output};

const C_FUNCTION: &str = "
from rpython.rlib.jit import JitDriver
from rpython.rlib.objectmodel import dont_inline
from rpython.rtyper.lltypesystem import rffi
from rpython.translator.tool.cbuild import ExternalCompilationInfo

eci = ExternalCompilationInfo(separate_module_sources=['''
int item(const int *p, int n)
{
    volatile char buffer[4096];
    buffer[n] = (char)n;
    return p[n] + buffer[n];
}
'''], post_include_bits=['int item(const int *p, int n);'])
item = rffi.llexternal('item', [rffi.INTP, rffi.INT], rffi.INT, compilation_info=eci)

class Node(object):
    def __init__(self, v, next):
        self.v = v
        self.next = next

@dont_inline
def parse(text, i):
    if i >= len(text):
        return None
    rest = parse(text, i + 1)
    return Node(ord(text[i]), rest)

@dont_inline
def null_item(node):
    address = node.v - ord('a')
    return rffi.cast(rffi.SIGNED, item(rffi.cast(rffi.INTP, address), rffi.cast(rffi.INT, 2))) + 1
";

const PLAIN: &str = "
@dont_inline
def run_list(text):
    program = parse(text, 0)
    return null_item(program) + 1

def entry_point(argv):
    print run_list(argv[1]) + 1
    return 0
";

const COMPILED_JUST_IN_TIME: &str = "
driver = JitDriver(greens=['pc', 'code'], reds=['n', 'acc', 'node'])

@dont_inline
def add(node, n):
    if n < 20000:
        return 0
    return null_item(node) + 1

@dont_inline
def run_list(code, node):
    pc = 0
    n = 0
    acc = 0
    while pc < len(code):
        driver.jit_merge_point(pc=pc, code=code, n=n, acc=acc, node=node)
        op = code[pc]
        if op == '+':
            acc += add(node, n)
            n += 1
            pc += 1
        else:
            pc = 0
            driver.can_enter_jit(pc=pc, code=code, n=n, acc=acc, node=node)
    return acc

def entry_point(argv):
    print run_list('++b', parse(argv[1], 0)) + 1
    return 0
";

fn taipan(dir: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_taipan"))
        .current_dir(dir)
        .args(args)
        .output()
        .unwrap()
}

/// The functions of a traceback, each with the text after its name.
fn functions(o: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&o.stderr);
    assert!(text.contains("null pointer used (SIGSEGV)"), "{text}");
    let lines = text.lines().filter_map(|l| l.split_once(", in t."));
    lines.map(|(_, function)| function.to_owned()).collect()
}

fn built(program: &str, options: &[&str]) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("t.py"), format!("{C_FUNCTION}{program}")).unwrap();
    let o = taipan(
        dir.path(),
        &[&["build", "--quiet", "t.py", "-o", "t"], options].concat(),
    );
    assert!(o.status.success(), "{o:?}");
    functions(
        &Command::new(dir.path().join("t"))
            .arg("abc")
            .output()
            .unwrap(),
    )
}

#[test]
fn no_function_that_has_returned() {
    for options in [
        &[][..],
        &["-g"],
        &["--lldebug"],
        &["--backend", "c", "--lldebug"],
    ] {
        let expected = ["entry_point", "run_list", "null_item"];
        assert_eq!(built(PLAIN, options), expected, "{options:?}");
    }
}

#[test]
fn in_memory_neither() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("t.py"), format!("{C_FUNCTION}{PLAIN}")).unwrap();
    assert_eq!(
        functions(&taipan(dir.path(), &["run", "t.py", "abc"])),
        ["entry_point", "run_list", "null_item"]
    );
}

/// C compilers inline functions and leave out callers of last calls.
#[test]
fn by_way_of_c_neither() {
    let found = built(PLAIN, &["--backend", "c"]);
    assert!(found.starts_with(&["entry_point".to_owned()]), "{found:?}");
    assert!(!found.iter().any(|f| f.starts_with("parse")), "{found:?}");
}

#[test]
fn code_compiled_just_in_time_has_callers() {
    let found = built(COMPILED_JUST_IN_TIME, &["--jit"]);
    let running = ["entry_point", "run_list"].map(str::to_owned);
    assert!(found.starts_with(&running), "{found:?}");
    assert!(!found.iter().any(|f| f.starts_with("parse")), "{found:?}");
    assert!(!found.iter().any(|f| f.contains("returned")), "{found:?}");
}
