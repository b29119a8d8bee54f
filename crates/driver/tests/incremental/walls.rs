//! Fire walls: after an edit, exactly these queries run.

use expect_test::{Expect, expect};
use taipan_workbench::Workbench;

/// A program that was compiled.
fn compiled(files: &[(&str, &str)]) -> Workbench {
    let bench = recorded(files);
    bench.compile().expect("the program compiles");
    bench.db.take_log();
    bench
}

/// A program of whose queries the log tells.
pub(crate) fn recorded(files: &[(&str, &str)]) -> Workbench {
    let bench = Workbench::with(files);
    bench.db.log().record_from_now();
    bench
}

/// The messages of what is wrong.
pub(crate) fn mistakes(bench: &Workbench) -> Vec<String> {
    let all = bench.check().diagnostics;
    all.iter().map(|d| d.message.clone()).collect()
}

/// Stages that run again after an edit: query and key. Projections, which only look
/// a result up and compare it, are left out.
fn edit(bench: &mut Workbench, path: &str, text: &str) -> String {
    bench.edit(path, text);
    // An edit may break the program.
    let _ = bench.compile();
    bench.ran(STAGES)
}

/// What comes of the whole program: its object file, or why there is none.
fn object(bench: &Workbench) -> Result<Vec<u8>, String> {
    bench.compile().map_err(|e| format!("{e:?}"))
}

/// Queries that do work.
const STAGES: &[&str] = &[
    "parse",
    "module_codes",
    "code",
    "image",
    "flow_graph",
    "assigned_in",
    "known_attributes",
    "solve",
    "annotate_helper",
    "rtyped_graph",
    "struct_body",
    "static_data",
    "simplified",
    "optimized",
    "exceptions",
    "gc",
    "machine_code",
];

const MAIN: &str = "\
from lib import area, Shape

def helper(n):
    return n * 2 + 1

def entry_point(argv):
    s = Shape(len(argv), 3)
    print helper(area(s))
    return 0
";

const LIB: &str = "\
class Shape(object):
    def __init__(self, w, h):
        self.w = w
        self.h = h

def area(s):
    return s.w * s.h
";

fn check(path: &str, from: &str, to: &str, expected: &Expect) {
    let mut bench = compiled(&[("/main.py", MAIN), ("/lib.py", LIB)]);
    let text = if path == "/main.py" { MAIN } else { LIB };
    assert!(text.contains(from));
    expected.assert_eq(&edit(&mut bench, path, &text.replace(from, to)));
}

#[test]
fn nothing_changed() {
    check("/main.py", "n * 2 + 1", "n * 2 + 1", &expect![[""]]);
}

/// Tools name what they write by what is there already.
const NUMBERED: &str = "\
import os
NUMBER = len(os.listdir('/tmp')) if os.path.isdir('/tmp') else -1
os.mkdir('/tmp/session-%d' % NUMBER)
NAMES = os.listdir('/tmp')

def entry_point(argv):
    print NAMES[0]
    return NUMBER
";

#[test]
fn what_others_put_into_the_temporary_folder() {
    let mut bench = compiled(&[("/main.py", NUMBERED), ("/tmp/one", "")]);
    assert_eq!(edit(&mut bench, "/tmp/two", ""), "");
}

#[test]
fn one_body() {
    check(
        "/main.py",
        "n * 2 + 1",
        "n * 3 + 1",
        &expect![[r#"
            code /main.py:helper
            exceptions main.entry_point
            flow_graph main.helper
            gc main.entry_point
            machine_code main.entry_point
            module_codes /main.py
            optimized main.entry_point
            rtyped_graph main.helper
            simplified main.helper
            solve /main.py
        "#]],
    );
}

/// A program with mistakes has two solvers, the second of which asks for the names of all
/// attributes. Both look what an edit changed; only files that it touched are read for names.
#[test]
fn edits_of_a_broken_program() {
    let lib = format!("{LIB}\ndef unreached(s):\n    s.w = 5\n    return s.h\n");
    let main = MAIN.replace("area(s))", "area(s)) + s.depth");
    let mut bench = recorded(&[("/main.py", &main), ("/lib.py", &lib)]);
    let found = mistakes(&bench);
    expect!["an instance of lib.Shape has no attribute `depth`"].assert_eq(&found.join("\n"));
    bench.db.take_log();
    let mut edit = |from: &str, to: &str| {
        let text = lib.replace(from, to);
        assert_ne!(text, lib);
        bench.edit("/lib.py", &text);
        assert_eq!(mistakes(&bench), found);
        bench.ran(STAGES)
    };
    expect![[r#"
        assigned_in /lib.py
        module_codes /lib.py
        solve /main.py
        solve /main.py
    "#]]
    .assert_eq(&edit("s.w = 5", "s.w = s.h + 5"));
    expect![[r#"
        assigned_in /lib.py
        code /lib.py:area
        flow_graph lib.area
        module_codes /lib.py
        solve /main.py
        solve /main.py
    "#]]
    .assert_eq(&edit("s.w * s.h", "s.w * s.h + 1"));
    // A name that nothing else has.
    expect![[r#"
        assigned_in /lib.py
        code /lib.py:area
        flow_graph lib.area
        known_attributes /main.py
        module_codes /lib.py
        solve /main.py
        solve /main.py
    "#]]
    .assert_eq(&edit("s.w = 5", "s.size = 5"));
}

#[test]
fn lines_moved() {
    check(
        "/lib.py",
        "def area",
        "# a comment\n\ndef area",
        &expect![[r#"
            module_codes /lib.py
        "#]],
    );
}

#[test]
fn a_result_becomes_a_string() {
    check(
        "/main.py",
        "return n * 2 + 1",
        "return str(n)",
        &expect![[r#"
            code /main.py:helper
            exceptions main.entry_point
            flow_graph main.helper
            gc main.entry_point
            machine_code main.entry_point
            module_codes /main.py
            optimized main.entry_point
            rtyped_graph main.entry_point
            rtyped_graph main.helper
            simplified main.entry_point
            simplified main.helper
            solve /main.py
        "#]],
    );
}

#[test]
fn a_new_attribute() {
    check(
        "/lib.py",
        "self.h = h",
        "self.h = h\n        self.tag = 0",
        &expect![[r#"
            code /lib.py:Shape.__init__
            flow_graph lib.Shape.__init__
            module_codes /lib.py
            optimized main.entry_point
            rtyped_graph lib.Shape.__init__
            rtyped_graph main.entry_point
            simplified lib.Shape.__init__
            solve /main.py
            struct_body Instance(#4eb81115048cb214)
            struct_body Vtable(#4eb81115048cb214)
        "#]],
    );
}

#[test]
fn order_and_threads_change_nothing() {
    let edited = LIB.replace("s.w * s.h", "s.w + s.h");
    let fresh = compiled(&[("/main.py", MAIN), ("/lib.py", &edited)]);
    let mut warm = compiled(&[("/main.py", MAIN), ("/lib.py", LIB)]);
    edit(&mut warm, "/lib.py", "def area(s):\n    return 'x'\n");
    edit(&mut warm, "/lib.py", &edited);
    assert_eq!(object(&fresh), object(&warm));
}

/// A program whose parts have little to do with each other: classes, tables made at
/// import time, recursive functions that are not inlined.
const PARTS: &[(&str, &str)] = &[
    (
        "/main.py",
        "\
from shapes import Circle, Dot, Square, total, hand_on
from data import TABLE, LIMITS, first_of_table, limit_of

def walk(n):
    if n < 2:
        return n
    return walk(n - 1) + walk(n - 2)

def turn(n):
    # too long to be inlined
    seen = []
    for i in range(n):
        seen.append(i)
        if i & 1:
            seen.append(walk(i))
        elif i & 2:
            seen.append(walk(i + 1))
        elif i & 4:
            seen.append(walk(i + 2))
        else:
            seen.append(walk(i + 3))
    if len(seen) > 3:
        return turn(n - 1) - 1
    total = 0
    for x in seen:
        if x > 5:
            total += x
        elif x > 3:
            total -= x
    return total

def entry_point(argv):
    n = len(argv)
    print walk(n) + turn(n)
    shape = Circle(n)
    if n > 2:
        shape = hand_on(shape, n)
    print total(shape, n) + Square(n).side
    print first_of_table(n) + limit_of(n)
    return 0
",
    ),
    (
        "/shapes.py",
        "\
class Shape(object):
    def size(self):
        return 1

class Circle(Shape):
    def __init__(self, radius):
        self.radius = radius
    def size(self):
        return self.radius * 3

class Square(object):
    def __init__(self, side):
        self.side = side

class Dot(Circle):
    pass

def hand_on(shape, n):
    if n > 7:
        return hand_on(shape, n - 1)
    return shape

def total(shape, n):
    if n > 5:
        return total(shape, n - 1)
    return shape.size() + shape.radius
",
    ),
    (
        "/data.py",
        "\
class Limits(object):
    def __init__(self, low, high):
        self.low = low
        self.high = high

TABLE = [3, 5, 7]
LIMITS = Limits(1, 9)

def first_of_table(n):
    if n > 50:
        return first_of_table(n - 1)
    return TABLE[n & 1]

def limit_of(n):
    if n > 50:
        return limit_of(n - 1)
    return LIMITS.low + LIMITS.high
",
    ),
];

fn check_parts(path: &str, from: &str, to: &str, expected: &Expect) {
    let mut bench = compiled(PARTS);
    let (_, text) = PARTS.iter().find(|(p, _)| *p == path).unwrap();
    assert!(text.contains(from));
    expected.assert_eq(&edit(&mut bench, path, &text.replacen(from, to, 1)));
}

/// Positions are apart from meaning: where things stand reaches nobody.
#[test]
fn wall_spans() {
    check_parts(
        "/shapes.py",
        "class Square",
        "# a square\n\n\nclass Square",
        &expect![[r#"
            module_codes /shapes.py
        "#]],
    );
}

/// What changed in one object of the image does not concern the readers of others: no
/// function is compiled again for an item of a table.
#[test]
fn wall_one_object() {
    check_parts(
        "/data.py",
        "[3, 5, 7]",
        "[3, 6, 7]",
        &expect![[r#"
            code /data.py:<module>
            flow_graph data.first_of_table
            image /main.py
            module_codes /data.py
            rtyped_graph data.first_of_table
            solve /main.py
            static_data Object(#a5ab4011be1ffe4c, GcArray of Signed)
        "#]],
    );
}

/// An attribute of a prebuilt instance that nothing changes is a constant of who reads
/// it, and of nobody else.
#[test]
fn wall_one_instance() {
    check_parts(
        "/data.py",
        "Limits(1, 9)",
        "Limits(2, 9)",
        &expect![[r#"
            code /data.py:<module>
            exceptions data.limit_of
            exceptions main.entry_point
            flow_graph data.limit_of
            gc data.limit_of
            gc main.entry_point
            image /main.py
            machine_code data.limit_of
            machine_code main.entry_point
            module_codes /data.py
            optimized data.limit_of
            optimized main.entry_point
            rtyped_graph data.limit_of
            simplified data.limit_of
            solve /main.py
        "#]],
    );
}

/// A new attribute is there for who reads the layout of the class: makes instances, or
/// reads and writes attributes. Other classes, and functions that hand instances on,
/// stay as they are.
#[test]
fn wall_class_layout() {
    check_parts(
        "/shapes.py",
        "self.radius = radius",
        "self.radius = radius\n        self.name = 'circle'",
        &expect![[r#"
            code /shapes.py:Circle.__init__
            exceptions main.entry_point
            flow_graph shapes.Circle.__init__
            gc main.entry_point
            machine_code main.entry_point
            machine_code shapes.total
            module_codes /shapes.py
            optimized main.entry_point
            optimized shapes.total
            rtyped_graph main.entry_point
            rtyped_graph shapes.Circle.__init__
            simplified shapes.Circle.__init__
            solve /main.py
            static_data Str([99, 105, 114, 99, 108, 101])
            struct_body Instance(#eb5715068859a04b)
            struct_body Vtable(#eb5715068859a04b)
        "#]],
    );
}

/// A new class changes numbers in vtables; code does not contain them.
#[test]
fn wall_new_class() {
    check_parts(
        "/main.py",
        "    print total(shape, n)",
        "    if n > 99:\n        print Dot(n).size()\n    print total(shape, n)",
        &expect![[r#"
            code /main.py:entry_point
            exceptions main.entry_point
            flow_graph main.entry_point
            gc main.entry_point
            machine_code main.entry_point
            module_codes /main.py
            optimized main.entry_point
            rtyped_graph main.entry_point
            simplified main.entry_point
            solve /main.py
            static_data Str([68, 111, 116])
            static_data Vtable(#14b7064f2180baff)
            static_data Vtable(#eb5715068859a04b)
            static_data Vtable(#f06f51863755923c)
            struct_body Vtable(#f06f51863755923c)
        "#]],
    );
}

/// Calls go through symbols: who calls a function that changed is not emitted again.
#[test]
fn wall_symbols() {
    check_parts(
        "/main.py",
        "turn(n - 1) - 1",
        "turn(n - 1) - 2",
        &expect![[r#"
            code /main.py:turn
            exceptions main.turn
            flow_graph main.turn
            gc main.turn
            machine_code main.turn
            module_codes /main.py
            optimized main.turn
            rtyped_graph main.turn
            simplified main.turn
            solve /main.py
        "#]],
    );
}

const MEMO: &str = "\
from rpython.rlib.cache import Cache

class Type(object):
    def __init__(self, size, base):
        self.size, self.base = size, base

class Key(object):
    def __init__(self, base): self.base = base
    def _freeze_(self): return True

B = Key(None)
A = Key(B)

class Types(Cache):
    def _build(self, key):
        if key.base is None:
            return Type(7, None)
        return Type(1, self.getorbuild(key.base))
types = Types()

def entry_point(argv):
    a = types.getorbuild(A)
    if len(argv) > 1:
        b = types.getorbuild(B)
        b.size += a.base is b
    print a.base.size
    return 0

def target(driver, args):
    return entry_point, None
";

/// What a memo call makes inside another one changes with its function, whether the program
/// calls it by itself or not.
#[test]
fn memo_calls_inside_memo_calls() {
    let alone = MEMO.replace("b = types.getorbuild(B)", "b = a.base");
    for before in [MEMO, &alone] {
        let mut bench = compiled(&[("/main.py", before)]);
        let first = object(&bench);
        let after = before.replace("Type(7, None)", "Type(8, None)");
        assert_ne!(edit(&mut bench, "/main.py", &after), "");
        let fresh = object(&compiled(&[("/main.py", &after)]));
        assert!(object(&bench) == fresh && fresh != first && fresh.is_ok());
        // Now it is found by another way first.
        edit(&mut bench, "/main.py", &alone);
        edit(&mut bench, "/main.py", before);
        assert!(object(&bench) == first);
    }
}

/// A mistake that is known stands elsewhere when something in front of it comes or goes, although
/// no code is another.
#[test]
fn mistakes_move_with_their_code() {
    let text = "def entry_point(argv):\n    n = len(argv)\n    print n != None\n    return 0\n";
    let mut bench = recorded(&[("/main.py", text)]);
    let place = |bench: &Workbench| {
        let all = bench.check().diagnostics;
        let span = all.first().and_then(|d| d.primary);
        span.map(|span| span.range.start as usize)
    };
    assert_eq!(place(&bench), text.find("n != None"));
    for spaces in ["print   n", "print  (n", "print n"] {
        let moved = text
            .replace("print n", spaces)
            .replace("(n != None", "(n != None)");
        bench.edit("/main.py", &moved);
        assert_eq!(place(&bench), moved.find("n != None"), "{moved}");
    }
}

const ENTRY: &str = "\
from rpython.annotator import model
from rpython.rtyper.extregistry import ExtRegistryEntry
from rpython.rtyper.lltypesystem import lltype

def width(x):
    raise NotImplementedError

class WidthEntry(ExtRegistryEntry):
    _about_ = width
    def compute_result_annotation(self, s_x):
        return model.SomeInteger()
    def specialize_call(self, hop):
        hop.exception_cannot_occur()
        return hop.inputconst(lltype.Signed, 7)

def entry_point(argv):
    print width(len(argv))
    return 0

def target(driver, args):
    return entry_point, None
";

/// What an entry of the program replies while its callers are rtyped changes neither import time nor
/// annotation.
#[test]
fn replies_of_entries() {
    let mut bench = compiled(&[("/main.py", ENTRY)]);
    let first = object(&bench);
    let after = ENTRY.replace("lltype.Signed, 7", "lltype.Signed, 8");
    edit(&mut bench, "/main.py", &after);
    let fresh = object(&compiled(&[("/main.py", &after)]));
    assert!(object(&bench) == fresh && fresh != first && fresh.is_ok());
    edit(&mut bench, "/main.py", ENTRY);
    assert!(object(&bench) == first);
}

/// Of the functions of a program, only those are looked at that the edit can have changed.
#[test]
fn linking_asks_for_what_may_be_another() {
    let mut text = String::new();
    for i in 0..40 {
        // Too much to be inlined.
        text += &format!(
            "def f{i}(n):\n    x = n * {i}\n    while x > 3:\n        print 'at', x, n\n        \
             print 'now', x - n\n        x -= n + 1\n    return n * {i} + {i}\n"
        );
    }
    text += "def entry_point(argv):\n    n = len(argv)\n    print ";
    text += &(0..40)
        .map(|i| format!("f{i}(n)"))
        .collect::<Vec<_>>()
        .join(" + ");
    text += "\n    return 0\n";
    let mut bench = compiled(&[("/main.py", &text)]);
    let after = text.replace("n * 7 + 7", "n * 7 - 7");
    let fresh = object(&compiled(&[("/main.py", &after)]));
    bench.edit("/main.py", &after);
    assert!(object(&bench) == fresh && fresh.is_ok());
    let looked_at = [
        "rtyped_graph",
        "simplified",
        "optimized",
        "gc",
        "machine_code",
    ];
    let mut counts = looked_at.map(|query| (query, 0));
    for (query, ..) in bench.db.take_log() {
        for (name, count) in &mut counts {
            *count += usize::from(query == *name);
        }
    }
    expect![[r#"
        [
            (
                "rtyped_graph",
                56,
            ),
            (
                "simplified",
                56,
            ),
            (
                "optimized",
                2,
            ),
            (
                "gc",
                2,
            ),
            (
                "machine_code",
                2,
            ),
        ]"#]]
    .assert_eq(&format!("{counts:#?}"));
}

/// What import time looks at without running it is not run again for the rest of its body.
#[test]
fn wall_inspected() {
    let files: [(&str, &str); 1] = [(
        "/main.py",
        "\
import sys

def scale(n, factor):
    'Multiplies.'
    return n * factor

def describe(f):
    assert sys._getframe(0).f_globals['scale'] is f
    code = f.func_code
    line = code.co_firstlineno
    return code.co_name, code.co_argcount, code.co_varnames, code.co_flags, f.__doc__, line

WHAT = describe(scale)

def entry_point(argv):
    print scale(len(argv), WHAT[1])
    return 0
",
    )];
    let mut bench = compiled(&files);
    let text = files[0].1;
    let body = text.replace("n * factor", "n * factor + 1");
    expect![[r#"
        code /main.py:scale
        exceptions main.entry_point
        flow_graph main.scale
        gc main.entry_point
        machine_code main.entry_point
        module_codes /main.py
        optimized main.entry_point
        rtyped_graph main.scale
        simplified main.scale
        solve /main.py
    "#]]
    .assert_eq(&edit(&mut bench, "/main.py", &body));
    // Nobody looked at the lines of what is below.
    let longer = body.replace(
        "    return n *",
        "    if n == 7:\n        return 1\n    return n *",
    );
    expect![[r#"
        code /main.py:scale
        exceptions main.entry_point
        flow_graph main.scale
        gc main.entry_point
        machine_code main.entry_point
        module_codes /main.py
        optimized main.entry_point
        rtyped_graph main.scale
        simplified main.scale
        solve /main.py
    "#]]
    .assert_eq(&edit(&mut bench, "/main.py", &longer));
    edit(&mut bench, "/main.py", &body);
    let variable = body.replace("    return n *", "    more = n\n    return more *");
    expect![[r#"
        code /main.py:scale
        flow_graph main.entry_point
        flow_graph main.scale
        image /main.py
        module_codes /main.py
        optimized main.entry_point
        rtyped_graph main.scale
        simplified main.scale
        solve /main.py
    "#]]
    .assert_eq(&edit(&mut bench, "/main.py", &variable));
}

/// Where an attribute is kept that a class inherits over two levels: who reads it through the lowest
/// class hangs on what the highest one declares.
#[test]
fn an_inherited_attribute_moves_into_instances() {
    const BEFORE: &str = "\
class Top(object):
    size = 1

class Middle(Top):
    pass

class Low(Middle):
    pass

class Lowest(Low):
    size = 2

def read(low, n):
    if n > 50:
        return read(low, n - 1)
    return low.size

def change(low, n):
    if n > 50:
        return change(low, n - 1)
    return 7

def entry_point(argv):
    n = len(argv)
    low = Low()
    if n > 3:
        low = Lowest()
    print change(low, n) + read(low, n)
    return 0
";
    let after = BEFORE.replace("    return 7\n", "    low.size = 5\n    return 7\n");
    let mut bench = compiled(&[("/main.py", BEFORE)]);
    edit(&mut bench, "/main.py", &after);
    let fresh = object(&compiled(&[("/main.py", &after)]));
    assert!(object(&bench) == fresh && fresh.is_ok());
    edit(&mut bench, "/main.py", BEFORE);
    let fresh = object(&compiled(&[("/main.py", BEFORE)]));
    assert!(object(&bench) == fresh && fresh.is_ok());
}
