//! Functions that no target reaches: which ones, and what is said of them.

use camino::Utf8Path;
use expect_test::{Expect, expect};
use taipan_driver::{Checked, unreached_by_all};
use taipan_workbench::Workbench;

/// First lines of the functions that no target reaches, and what is wrong with them.
fn told(bench: &Workbench, targets: &[&str]) -> String {
    let all: Vec<Checked> = (targets.iter())
        .map(|t| bench.check_of(Utf8Path::new(t)))
        .collect();
    let mut out = String::new();
    for d in all.iter().flat_map(|c| &c.diagnostics) {
        out.push_str(&format!("{}: {}\n", d.code, d.message));
    }
    for f in unreached_by_all(all.iter()) {
        let text = f.file.text(&bench.db);
        let line = text[f.whole.start as usize..].lines().next().unwrap_or("");
        out.push_str(&format!("{line}\n"));
        for d in &f.findings {
            let at = d.primary.expect("a place").range.start as usize;
            let number = text[..at].matches('\n').count() + 1;
            out.push_str(&format!("    {number}: {} {}\n", d.code, d.message));
        }
    }
    out
}

fn check_main(files: &[(&str, &str)], expected: Expect) {
    expected.assert_eq(&told(&Workbench::with(files), &["/main.py"]));
}

const ENTRY: &str = "
def entry_point(argv):
    return 0
";

#[test]
fn what_is_wrong() {
    check_main(
        &[
            (
                "/main.py",
                "
import lib, os
from lib import Point
def two(a, b=1):
    return a + b
def names(n):
    return undefined + lib.missing + lib.there + os.of_another_python
def calls(n):
    two()
    two(1, 2, 3)
    two(a=1, c=2)
    two(1, *[2])
    lib.one(1)
    lib.one(1, 2)
    Point(1)
    Point(1, 2)
    return two(n, 2)
def entry_point(argv):
    return 0
",
            ),
            (
                "/lib.py",
                "
there = 1
def one(a):
    return a
class Point(object):
    def __init__(self, x, y):
        self.x = self.other(x, y)
    def other(self, x, y):
        return undefined_too
",
            ),
        ],
        expect![[r#"
            def two(a, b=1):
            def names(n):
                7: TP0222 name `undefined` is not defined
                7: TP0223 module lib has no attribute `missing`
            def calls(n):
                9: TP0304 two() takes at least 1 argument (0 given)
                10: TP0304 two() takes at most 2 arguments (3 given)
                11: TP0304 two() has no argument `c`
                14: TP0304 one() takes exactly 1 argument (2 given)
                15: TP0304 __init__() takes exactly 3 arguments (2 given)
            def one(a):
            def __init__(self, x, y):
            def other(self, x, y):
                9: TP0222 name `undefined_too` is not defined
        "#]],
    );
}

/// What may be right as plain Python is not told.
#[test]
fn plain_python() {
    check_main(
        &[(
            "/main.py",
            "
import sys
from rpython.rlib.objectmodel import we_are_translated, not_rpython
try:
    import numpy
except ImportError:
    pass
if sys.maxint < 5:
    def small(): pass
class Bag(object):
    pass
def two(a, b):
    return a + b
def uses(bag):
    try:
        nothing_of_that_name
        two(1)
    except (NameError, TypeError):
        pass
    if not we_are_translated():
        return nothing_of_that_name
    x = set([1, 2]); y = {i: i for i in x}; exit()
    print >> sys.stderr, lambda: bag
    numpy.array(small(), late, set_from_outside)
    return sorted(sum(v for v in x), key=bag, **{})
def sets():
    global late
    late = 5
def patches():
    import main
    main.set_from_outside = 3
    main.two = two
@not_rpython
def tagged():
    return nothing_of_that_name
def documented():
    '''NOT_RPYTHON'''
    return nothing_of_that_name
def closure(n):
    return lambda: n + nothing_of_that_name
class Base(object):
    def run(self): raise NotImplementedError('run')
    def get(self): raise NotImplementedError
def entry_point(argv):
    return 0
",
        )],
        expect![[r#"
            TP0021: variable `y` gets a value, and nothing uses it
            def small(): pass
            def two(a, b):
            def uses(bag):
            def sets():
            def patches():
            def tagged():
            def documented():
            def closure(n):
        "#]],
    );
}

/// Names that anything in the file may be called are not looked for.
#[test]
fn files_with_names_of_any_kind() {
    for stores in ["from os import *", "def g():\n    globals()['x'] = 1"] {
        let text = format!("{stores}\ndef f():\n    return x\n{ENTRY}");
        let told = told(&Workbench::with(&[("/main.py", &text)]), &["/main.py"]);
        assert!(!told.contains("TP0222"), "{told}");
    }
}

/// Functions that run while the program is loaded, those of tests and libraries, and
/// those that another target reaches.
#[test]
fn reached_otherwise() {
    let lib = "
def table():
    return [wrong for x in []]
TABLE = table()
def by_other(n):
    return n
def by_none(n):
    return nothing_of_that_name
";
    let target = |call: &str| {
        format!(
            "import lib, tests.helper, rpython.rlib.jit\ndef entry_point(argv):\n    return {call}\n"
        )
    };
    let bench = Workbench::with(&[
        ("/main.py", &target("0")),
        ("/other.py", &target("lib.by_other(1)")),
        ("/broken.py", &target("lib.nothing")),
        ("/lib.py", lib),
        ("/tests/__init__.py", ""),
        (
            "/tests/helper.py",
            "def f():\n    return nothing_of_that_name\n",
        ),
    ]);
    let one = expect![[r#"
        TP0020: `lib` is imported, and nothing uses it
        def by_other(n):
        def by_none(n):
            8: TP0222 name `nothing_of_that_name` is not defined
    "#]];
    one.assert_eq(&told(&bench, &["/main.py"]));
    let both = expect![[r#"
        TP0020: `lib` is imported, and nothing uses it
        def by_none(n):
            8: TP0222 name `nothing_of_that_name` is not defined
    "#]];
    both.assert_eq(&told(&bench, &["/main.py", "/other.py"]));
    // Behind a mistake nothing is certain.
    let broken = expect![[r#"
        TP0020: `lib` is imported, and nothing uses it
        TP0223: module lib has no attribute `nothing`
    "#]];
    broken.assert_eq(&told(&bench, &["/main.py", "/broken.py"]));
}

/// An edit of one such function looks at that one again.
#[test]
fn edits() {
    let text = "
def f():
    return 1
def g():
    return nothing_of_that_name
def entry_point(argv):
    return 0
";
    let mut bench = Workbench::with(&[("/main.py", text)]);
    bench.db.log().record_from_now();
    bench.check();
    bench.db.take_log();
    let edit = |bench: &mut Workbench, text: &str| {
        bench.edit("/main.py", text);
        bench.check();
        bench.ran(STAGES)
    };
    const STAGES: &[&str] = &[
        "module_codes",
        "code",
        "image",
        "flow_graph",
        "solve",
        "live_codes",
        "unreached_in_file",
        "findings",
        "rtyped_graph",
    ];
    // The body of one of them.
    expect![[r#"
        code /main.py:f
        findings main.f
        flow_graph main.f
        module_codes /main.py
        solve /main.py
        unreached_in_file /main.py
    "#]]
    .assert_eq(&edit(
        &mut bench,
        &text.replace("return 1", "return missing"),
    ));
    // A global of another name may be set: who asked for one is not looked at again.
    expect![[r#"
        code /main.py:f
        findings main.f
        flow_graph main.f
        module_codes /main.py
        solve /main.py
        unreached_in_file /main.py
    "#]]
    .assert_eq(&edit(&mut bench, &text.replace("return 1", "f.other = 1")));
    edit(&mut bench, &text.replace("return 1", "return missing"));
    // Lines that move.
    expect![[r#"
        module_codes /main.py
    "#]]
    .assert_eq(&edit(
        &mut bench,
        &format!("# ..\n{}", text.replace("return 1", "return missing")),
    ));
    expect![[r#"
        def f():
            4: TP0222 name `missing` is not defined
        def g():
            6: TP0222 name `nothing_of_that_name` is not defined
    "#]]
    .assert_eq(&told(&bench, &["/main.py"]));
}
