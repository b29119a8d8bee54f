use expect_test::{Expect, expect};
use taipan_base::Span;

use super::{Fixture, fixture};
use crate::{Call, FilePosition, Item, LensKind};

const PROGRAM: &str = "
#- /nodes.py
class Node(object):
    'What can be evaluated.'
    def eval(self):
        'Not here.'
        raise NotImplementedError
class Number(Node):
    def __init__(self, value):
        self.value = value
    def eval(self):
        return self.value
class Sum(Node):
    def __init__(self, left, right):
        self.left = left
        self.right = right
        self.all = [left, right]
    def eval(self):
        return self.left.eval() + sum_of(self.all[1:])
class Special(Sum):
    def eval(self):
        return Sum.eval(self) + 1
class Unused(Node):
    def eval(self):
        return helper(0)
def sum_of(nodes):
    total = 0
    for node in nodes:
        total += node.eval()
    return total
def helper(n):
    return n
def at_import(n):
    return [n]
TABLE = at_import(3)
#- /main.py
import nodes
from nodes import Number, Sum
def make(n):
    return Sum(Number(n), Number(2))
def entry_point(argv):
    tree = make(len(argv))
    if argv[0] == 'x':
        tree = nodes.Special(tree, tree)
    return tree.eval() + nodes.sum_of([tree]) + nodes.TABLE[0]
#- /test_nodes.py
from nodes import Number, sum_of
def test_sum():
    assert sum_of([Number(1)]) == 1
class TestNumber(object):
    def test_it(self):
        assert Number(1).eval() == 1
";

fn at(wanted: &str, nth: usize) -> Fixture {
    let (place, _) = PROGRAM.match_indices(wanted).nth(nth).unwrap();
    fixture(&format!("{}$0{}", &PROGRAM[..place], &PROGRAM[place..]))
}

fn item(f: &Fixture, i: &Item) -> String {
    let span = Span {
        file: i.file,
        range: i.name_range,
    };
    format!("{:?} {}.{} {}", i.kind, i.container, i.name, f.show(span))
}

fn calls(f: &Fixture, found: Vec<Call>, from: Option<&Item>) -> String {
    let mut out = String::new();
    for c in found {
        let file = from.unwrap_or(&c.item).file;
        let show = |range: &taipan_base::TextRange| {
            f.show(Span {
                file,
                range: *range,
            })
        };
        let places: Vec<String> = c.places.iter().map(show).collect();
        out.push_str(&format!("{} at {}\n", item(f, &c.item), places.join(", ")));
    }
    out
}

/// Who calls the function at a place, and what it calls.
fn hierarchy(wanted: &str, nth: usize, expected: Expect) {
    let f = at(wanted, nth);
    let mut out = String::new();
    for i in crate::call_items(&f.db, &f.workspace, f.position) {
        let position = FilePosition {
            file: i.file,
            offset: i.name_range.start,
        };
        let callers = crate::callers(&f.db, &f.workspace, &f.others, position);
        let callees = crate::callees(&f.db, &f.workspace, position);
        out.push_str(&format!("{}\n", item(&f, &i)));
        out.push_str(&format!("called by\n{}", calls(&f, callers, None)));
        out.push_str(&format!("calls\n{}", calls(&f, callees, Some(&i))));
    }
    expected.assert_eq(&out);
}

#[test]
fn calls_in_both_directions() {
    hierarchy(
        "sum_of(nodes)",
        0,
        expect![[r#"
        Function nodes.sum_of /nodes.py:24:5 sum_of
        called by
        Function main.entry_point /main.py:5:5 entry_point at /main.py:9:32 sum_of
        Method Sum.eval /nodes.py:16:9 eval at /nodes.py:17:35 sum_of
        Function test_nodes.test_sum /test_nodes.py:2:5 test_sum at /test_nodes.py:3:12 sum_of
        calls
        Method Node.eval /nodes.py:3:9 eval at /nodes.py:27:23 eval
        Method Number.eval /nodes.py:9:9 eval at /nodes.py:27:23 eval
        Method Sum.eval /nodes.py:16:9 eval at /nodes.py:27:23 eval
        Method Special.eval /nodes.py:19:9 eval at /nodes.py:27:23 eval
    "#]],
    );
    hierarchy(
        "make(len",
        0,
        expect![[r#"
        Function main.make /main.py:3:5 make
        called by
        Function main.entry_point /main.py:5:5 entry_point at /main.py:6:12 make
        calls
        Method Number.__init__ /nodes.py:7:9 __init__ at /main.py:4:16 Number, /main.py:4:27 Number
        Method Sum.__init__ /nodes.py:12:9 __init__ at /main.py:4:12 Sum
    "#]],
    );
    // Only what calls this one of them.
    hierarchy(
        "eval(self):\n        return self.value",
        0,
        expect![[r#"
            Method Number.eval /nodes.py:9:9 eval
            called by
            Method Sum.eval /nodes.py:16:9 eval at /nodes.py:17:26 eval
            Function nodes.sum_of /nodes.py:24:5 sum_of at /nodes.py:27:23 eval
            Method TestNumber.test_it /test_nodes.py:5:9 test_it at /test_nodes.py:6:26 eval
            calls
        "#]],
    );
    // By the name of its class.
    hierarchy(
        "__init__(self, value)",
        0,
        expect![[r#"
        Method Number.__init__ /nodes.py:7:9 __init__
        called by
        Function main.make /main.py:3:5 make at /main.py:4:16 Number, /main.py:4:27 Number
        Function test_nodes.test_sum /test_nodes.py:2:5 test_sum at /test_nodes.py:3:20 Number
        Method TestNumber.test_it /test_nodes.py:5:9 test_it at /test_nodes.py:6:16 Number
        calls
    "#]],
    );
    // Where no program gets, by the name.
    hierarchy(
        "helper(n)",
        0,
        expect![[r#"
        Function nodes.helper /nodes.py:29:5 helper
        called by
        Method Unused.eval /nodes.py:22:9 eval at /nodes.py:23:16 helper
        calls
    "#]],
    );
}

fn items(f: &Fixture, found: Vec<Item>) -> String {
    let lines = found.iter().map(|i| format!("{}\n", item(f, i)));
    lines.collect()
}

fn types(wanted: &str, nth: usize, expected: Expect) {
    let f = at(wanted, nth);
    let mut out = String::new();
    for i in crate::type_items(&f.db, &f.workspace, f.position) {
        let position = FilePosition {
            file: i.file,
            offset: i.name_range.start,
        };
        let above = crate::supertypes(&f.db, &f.workspace, position);
        let below = crate::subtypes(&f.db, &f.workspace, position);
        out.push_str(&format!("{}\n", item(&f, &i)));
        out.push_str(&format!("above\n{}", items(&f, above)));
        out.push_str(&format!("below\n{}", items(&f, below)));
    }
    expected.assert_eq(&out);
}

#[test]
fn classes_in_both_directions() {
    types(
        "Node(object)",
        0,
        expect![[r#"
        Class nodes.Node /nodes.py:1:7 Node
        above
        below
        Class nodes.Number /nodes.py:6:7 Number
        Class nodes.Sum /nodes.py:11:7 Sum
        Class nodes.Unused /nodes.py:21:7 Unused
    "#]],
    );
    types(
        "Sum(Node)",
        0,
        expect![[r#"
        Class nodes.Sum /nodes.py:11:7 Sum
        above
        Class nodes.Node /nodes.py:1:7 Node
        below
        Class nodes.Special /nodes.py:18:7 Special
    "#]],
    );
    // Of a value its class.
    types(
        "tree = make",
        0,
        expect![[r#"
        Class nodes.Sum /nodes.py:11:7 Sum
        above
        Class nodes.Node /nodes.py:1:7 Node
        below
        Class nodes.Special /nodes.py:18:7 Special
    "#]],
    );
}

fn places(f: &Fixture, found: Vec<Span>, expected: Expect) {
    let lines: Vec<String> = found.into_iter().map(|s| f.show(s)).collect();
    expected.assert_eq(&lines.join("\n"));
}

#[test]
fn implementations() {
    let check = |wanted: &str, nth: usize, expected: Expect| {
        let f = at(wanted, nth);
        let found = crate::implementations(&f.db, &f.workspace, f.position);
        places(&f, found, expected);
    };
    check(
        "eval(self):\n        'Not",
        0,
        expect![[r#"
        /nodes.py:9:9 eval
        /nodes.py:16:9 eval
        /nodes.py:19:9 eval
        /nodes.py:22:9 eval"#]],
    );
    check(
        "eval()\n    return total",
        0,
        expect![[r#"
        /nodes.py:9:9 eval
        /nodes.py:16:9 eval
        /nodes.py:19:9 eval
        /nodes.py:22:9 eval"#]],
    );
    check(
        "eval() + nodes",
        0,
        expect![[r#"
        /nodes.py:16:9 eval
        /nodes.py:19:9 eval"#]],
    );
    check(
        "Node(object)",
        0,
        expect![[r#"
        /nodes.py:6:7 Number
        /nodes.py:11:7 Sum
        /nodes.py:18:7 Special
        /nodes.py:21:7 Unused"#]],
    );
    check("sum_of([tree])", 0, expect!["/nodes.py:24:5 sum_of"]);
}

#[test]
fn type_definitions() {
    let check = |wanted: &str, nth: usize, expected: Expect| {
        let f = at(wanted, nth);
        let found = crate::type_definitions(&f.db, &f.workspace, f.position);
        places(&f, found, expected);
    };
    check("tree.eval", 0, expect!["/nodes.py:11:7 Sum"]);
    check("left = left", 0, expect!["/nodes.py:1:7 Node"]);
    // What a list holds.
    check("nodes):", 0, expect!["/nodes.py:1:7 Node"]);
    check("all[1:]", 0, expect!["/nodes.py:1:7 Node"]);
    check("total = 0", 0, expect![[r#""#]]);
}

#[test]
fn lenses_above_functions() {
    let f = fixture(PROGRAM);
    let mut out = String::new();
    for file in &f.others.files {
        let reran = |function: &str| {
            (function == "/nodes.py:Sum.eval#0").then(|| "it was edited".to_owned())
        };
        for l in crate::lenses(&f.db, &f.workspace, *file, &reran) {
            let span = Span {
                file: *file,
                range: l.range,
            };
            if matches!(&l.kind, LensKind::Graph(name) if name != "Sum.eval") {
                continue;
            }
            out.push_str(&format!("{} {:?}\n", f.show(span), l.kind));
        }
    }
    expect![[r#"
        /nodes.py:16:9 eval Graph("Sum.eval")
        /nodes.py:16:9 eval Reran("it was edited")
        /main.py:5:5 entry_point Run
        /main.py:5:5 entry_point Build
        /test_nodes.py:2:5 test_sum Test("test_sum")
        /test_nodes.py:5:9 test_it Test("TestNumber::test_it")
    "#]]
    .assert_eq(&out);
}

#[test]
fn links_of_imports() {
    let f = fixture(
        "
        import os.path, lib.tool as t
        from lib import tool, other
        def entry_point(argv): return 0
        #- /lib/__init__.py
        # A package.
        #- /lib/tool.py
        from . import other
        #- /lib/other.py
        x = 1
        ",
    );
    let mut out = String::new();
    for file in [&f.others.files[0], &f.others.files[2]] {
        for (range, to) in crate::links(&f.db, &f.workspace, *file) {
            let from = f.show(Span { file: *file, range });
            out.push_str(&format!("{from} -> {}\n", to.path(&f.db)));
        }
    }
    expect![[r#"
        /main.py:1:8 os -> <taipan>/lib_python/os.py
        /main.py:1:17 lib -> /lib/__init__.py
        /main.py:1:21 tool -> /lib/tool.py
        /main.py:2:6 lib -> /lib/__init__.py
        /main.py:2:17 tool -> /lib/tool.py
        /main.py:2:23 other -> /lib/other.py
        /lib/tool.py:1:15 other -> /lib/other.py
    "#]]
    .assert_eq(&out);
}

#[test]
fn what_no_target_reaches() {
    let f = fixture(PROGRAM);
    let show = |f: &Fixture| -> Vec<String> {
        let checked = crate::Checked::new(&f.db, &f.workspace);
        let files = f.others.files.iter();
        let all = files.flat_map(|file| crate::unreached(&checked, *file));
        all.map(|s| f.show(s).lines().next().unwrap().to_owned())
            .collect()
    };
    expect![[r#"
        /nodes.py:22:5 def eval(self):
        /nodes.py:29:1 def helper(n):"#]]
    .assert_eq(&show(&f).join("\n"));
    // Behind a mistake nothing is certain.
    let f = fixture(
        &PROGRAM
            .replace("return n\n", "return n.nothing\n")
            .replace("return helper(0)", "return 0")
            .replace("make(len(argv))", "make(nodes.helper(len(argv)))"),
    );
    assert_eq!(show(&f), [""; 0]);
}
