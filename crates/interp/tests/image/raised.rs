//! Tracebacks of re-raised exceptions.

use expect_test::expect;
use taipan_base::Program;
use taipan_interp::image_diagnostics;
use taipan_testkit::TestDb;

use super::{check_error, describe};

/// `inner` raises; every other function catches the exception and re-raises it.
const FUNCTIONS: &str = "
import contextlib, sys
STOP = KeyError('prebuilt')
def inner(n):
    if n: raise STOP
    return {}[n]
def plain(n):
    try: inner(n)
    except KeyError: raise
def named(n):
    try: inner(n)
    except KeyError, e: raise e
def with_class(n):
    try: inner(n)
    except KeyError, e: raise KeyError, e
def with_traceback(n):
    try: inner(n)
    except KeyError: t, v, tb = sys.exc_info()
    raise t, v, tb
def helper(): raise
def by_helper(n):
    try: inner(n)
    except KeyError: helper()
def by_last(n):
    try: inner(n)
    finally: len([n])
@contextlib.contextmanager
def managed():
    try: yield
    finally: len([])
def by_manager(n):
    with managed(): inner(n)
def twice(n):
    try:
        try: inner(n)
        except KeyError, e: raise e
    except KeyError, e: raise e
def nested(n):
    try: named(n)
    except KeyError: plain(n)
def other(n):
    try: inner(n)
    except KeyError, e: raise ValueError(str(e))
def anew(n):
    try: inner(1)
    except KeyError: pass
def raises(): raise STOP
";

fn check(call: &str, expected: expect_test::Expect) {
    check_error(&format!("{FUNCTIONS}{call}\n"), expected);
}

/// The traceback has, for each function, line and column of the failing call, and the origin last.
#[test]
fn in_the_handler() {
    let functions = [
        ("plain", 7),
        ("named", 10),
        ("with_class", 13),
        ("with_traceback", 16),
        ("by_last", 24),
        ("twice", 34),
    ];
    for (f, line) in functions {
        let db = TestDb::with_fixture(&format!("{FUNCTIONS}{f}(0)\n"));
        let program = Program::new(&db, "/main.py".into(), vec![], 1_000_000);
        let [d] = &image_diagnostics(&db, program)[..] else {
            panic!("{f}: one error");
        };
        let expected = format!(
            "TP0201 KeyError: 0\n  at /main.py:5: return {{}}[n]\n  in <module>, /main.py:47: {f}(0)\n  \
             in {f}, /main.py:{line}: try: inner(n)\n"
        );
        assert_eq!(describe(&db, d), expected);
    }
}

#[test]
fn in_a_function_that_the_handler_calls() {
    check(
        "by_helper(0)",
        expect![[r#"
        TP0201 KeyError: 0
          at /main.py:5: return {}[n]
          in <module>, /main.py:47: by_helper(0)
          in by_helper, /main.py:21: try: inner(n)
    "#]],
    );
}

#[test]
fn by_a_context_manager() {
    check(
        "by_manager(0)",
        expect![[r#"
        TP0201 KeyError: 0
          at /main.py:5: return {}[n]
          in <module>, /main.py:47: by_manager(0)
          in by_manager, /main.py:31: with managed(): inner(n)
    "#]],
    );
}

#[test]
fn in_a_handler_of_another_one() {
    check(
        "nested(0)",
        expect![[r#"
        TP0201 KeyError: 0
          at /main.py:5: return {}[n]
          in <module>, /main.py:47: nested(0)
          in nested, /main.py:39: except KeyError: plain(n)
          in plain, /main.py:7: try: inner(n)
    "#]],
    );
}

/// A different exception has its own origin.
#[test]
fn another_exception() {
    check(
        "other(0)",
        expect![[r#"
        TP0201 ValueError: 0
          at /main.py:42: except KeyError, e: raise ValueError(str(e))
          in <module>, /main.py:47: other(0)
    "#]],
    );
}

/// Raising an instance a second time starts a new traceback.
#[test]
fn a_prebuilt_instance() {
    check(
        "anew(0)\nraises()",
        expect![[r#"
        TP0201 KeyError: 'prebuilt'
          at /main.py:46: def raises(): raise STOP
          in <module>, /main.py:48: raises()
    "#]],
    );
    check(
        "anew(0)\nnamed(2)",
        expect![[r#"
        TP0201 KeyError: 'prebuilt'
          at /main.py:4: if n: raise STOP
          in <module>, /main.py:48: named(2)
          in named, /main.py:10: try: inner(n)
    "#]],
    );
}
