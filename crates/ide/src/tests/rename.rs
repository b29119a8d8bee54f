use expect_test::{Expect, expect};

use super::fixture;
use super::navigation::PROGRAM;

fn check(wanted: &str, nth: usize, new: &str, expected: Expect) {
    let (place, _) = PROGRAM.match_indices(wanted).nth(nth).unwrap();
    check_text(
        &format!("{}$0{}", &PROGRAM[..place], &PROGRAM[place..]),
        new,
        expected,
    );
}

fn check_text(text: &str, new: &str, expected: Expect) {
    expected.assert_eq(&outcome(text, new));
}

fn outcome(text: &str, new: &str) -> String {
    let f = fixture(text);
    match crate::rename(&f.db, &f.workspace, &f.others, f.position, new) {
        Err(why) => format!("refused: {why}\n"),
        Ok(edits) => edits
            .into_iter()
            .map(|(span, text)| format!("{} -> {text}\n", f.show(span)))
            .collect(),
    }
}

#[test]
fn locals_functions_methods_and_attributes() {
    check(
        "result = 0",
        0,
        "sum",
        expect![[r#"
        /helper.py:4:5 result -> sum
        /helper.py:6:9 result -> sum
        /helper.py:7:8 result -> sum
        /helper.py:9:12 result -> sum
    "#]],
    );
    check(
        "size):",
        0,
        "length",
        expect![[r#"
            /helper.py:11:25 size -> length
            /shapes.py:19:16 size -> length
            /shapes.py:21:23 size -> length
            /shapes.py:22:19 size -> length
        "#]],
    );
    check(
        "make(kind",
        0,
        "create",
        expect![[r#"
        /helper.py:1:20 make -> create
        /shapes.py:19:5 make -> create
    "#]],
    );
    check(
        "area(self)",
        0,
        "surface",
        expect![[r#"
        /helper.py:6:25 area -> surface
        /shapes.py:3:9 area -> surface
        /shapes.py:9:9 area -> surface
        /shapes.py:14:9 area -> surface
    "#]],
    );
    check(
        "side = side",
        0,
        "width",
        expect![[r#"
        /shapes.py:8:14 side -> width
        /shapes.py:10:21 side -> width
        /shapes.py:10:33 side -> width
    "#]],
    );
    check(
        "Square(Shape",
        0,
        "Box",
        expect![[r#"
        /shapes.py:5:7 Square -> Box
        /shapes.py:21:16 Square -> Box
    "#]],
    );
}

#[test]
fn refusals() {
    check(
        "result = 0",
        0,
        "shape",
        expect![[r#"
        refused: `shape` is used in this function already
    "#]],
    );
    check(
        "result = 0",
        0,
        "for",
        expect![[r#"
        refused: `for` is no name
    "#]],
    );
    check(
        "make(kind",
        0,
        "Circle",
        expect![[r#"
        refused: `Circle` is used in /shapes.py already
    "#]],
    );
    check(
        "side = side",
        0,
        "sides",
        expect![[r#"
        refused: Square has `sides` already
    "#]],
    );
    check(
        "len(argv",
        0,
        "length",
        expect![[r#"
        refused: `len` is builtin
    "#]],
    );
    check(
        "entry_point",
        0,
        "start",
        expect![[r#"
        refused: `entry_point` is where the program starts
    "#]],
    );
    check(
        "__init__",
        0,
        "init",
        expect![[r#"
        refused: `__init__` has a special meaning
    "#]],
    );
    check(
        "helper\n",
        0,
        "other",
        expect![[r#"
        refused: `helper` is a module: rename its file
    "#]],
    );
    check_text(
        "
        class A(object):
            def ge$0t(self):
                return 1
        def unused(a):
            return a.get()
        def entry_point(argv):
            return A().get()
        ",
        "fetch",
        expect![[r#"
            refused: it is not known whether `get` at /main.py:5 is the same
        "#]],
    );
    check_text(
        "
        class A(object):
            def ge$0t(self):
                return 1
        def entry_point(argv):
            return getattr(A(), 'get')()
        ",
        "fetch",
        expect![[r#"
            refused: the string at /main.py:5 may mean `get`
        "#]],
    );
}

/// A module that two targets and a test module have in common.
const SHARED: &str = "
#- /lib.py
class Universe(object):
    def __init__(self): self.count = 0
    def symbol_for(self, text): return len(text)
    def other(self): return self.symbol_for('a')
def build(size, extra=0): return size + extra
def unused(): return build(1, extra=2)
#- /main.py
import lib
from lib import build as make
def entry_point(argv):
    u = lib.Universe()
    return u.symbol_for('x') + make(1, extra=3)
#- /second.py
from lib import Universe, build
def helper(u): return u.symbol_for('y') + u.count
def entry_point(argv):
    return helper(Universe()) + build(2)
#- /test_lib.py
import lib
from lib import *
def test_symbol():
    u = Universe()
    assert u.symbol_for('z') == 1
    assert lib.build(3, extra=1) == 4
def test_local():
    from lib import build
    assert build(3) == 3
";

fn check_shared(wanted: &str, new: &str, expected: Expect) {
    let (place, _) = SHARED.match_indices(wanted).next().unwrap();
    check_text(
        &format!("{}$0{}", &SHARED[..place], &SHARED[place..]),
        new,
        expected,
    );
}

#[test]
fn places_of_all_programs() {
    check_shared(
        "symbol_for",
        "intern",
        expect![[r#"
            /lib.py:3:9 symbol_for -> intern
            /lib.py:4:34 symbol_for -> intern
            /main.py:5:14 symbol_for -> intern
            /second.py:2:25 symbol_for -> intern
            /test_lib.py:5:14 symbol_for -> intern
        "#]],
    );
    // From a program that does not have the others.
    check_shared(
        "symbol_for('y')",
        "intern",
        expect![[r#"
            /lib.py:3:9 symbol_for -> intern
            /lib.py:4:34 symbol_for -> intern
            /main.py:5:14 symbol_for -> intern
            /second.py:2:25 symbol_for -> intern
            /test_lib.py:5:14 symbol_for -> intern
        "#]],
    );
    check_shared(
        "symbol_for('z')",
        "intern",
        expect![[r#"
            /lib.py:3:9 symbol_for -> intern
            /lib.py:4:34 symbol_for -> intern
            /main.py:5:14 symbol_for -> intern
            /second.py:2:25 symbol_for -> intern
            /test_lib.py:5:14 symbol_for -> intern
        "#]],
    );
    check_shared(
        "build(size",
        "create",
        expect![[r#"
        /lib.py:5:5 build -> create
        /lib.py:6:22 build -> create
        /main.py:2:17 build -> create
        /second.py:1:27 build -> create
        /second.py:4:33 build -> create
        /test_lib.py:6:16 build -> create
        /test_lib.py:8:21 build -> create
        /test_lib.py:9:12 build -> create
    "#]],
    );
    check_shared(
        "extra=0",
        "more",
        expect![[r#"
        /lib.py:5:17 extra -> more
        /lib.py:5:41 extra -> more
        /lib.py:6:31 extra -> more
        /main.py:5:40 extra -> more
        /test_lib.py:6:25 extra -> more
    "#]],
    );
    check_shared(
        "Universe(object",
        "World",
        expect![[r#"
        /lib.py:1:7 Universe -> World
        /main.py:4:13 Universe -> World
        /second.py:1:17 Universe -> World
        /second.py:4:19 Universe -> World
        /test_lib.py:4:9 Universe -> World
    "#]],
    );
    check_shared(
        "count",
        "number",
        expect![[r#"
        /lib.py:2:30 count -> number
        /second.py:2:45 count -> number
    "#]],
    );
}

#[test]
fn no_place_or_all() {
    // `make` is another name.
    check_shared(
        "make(1",
        "create",
        expect![[r#"
        refused: `make` is another name of `build` here
    "#]],
    );
    check_shared(
        "build(size",
        "argv",
        expect![[r#"
        refused: `argv` is used in /second.py already
    "#]],
    );
    let lib = "
        #- /lib.py
        class A(object):
            _immutable_fields_ = 'x[*]', 'z'
            _attrs_ = 'x y z'.split()
            def __init__(self): self.x = self.y = self.z = self.w = 0
            def get(self, key): return self.x
        class B(object):
            def get(self, key): return 2
        def f(key): return 1
        ";
    let with = |main: &str, at: &str| {
        let text = format!("{lib}{main}");
        let (place, _) = text.match_indices(at).next().unwrap();
        format!("{}$0{}", &text[..place], &text[place..])
    };
    let mut all = String::new();
    for (main, at, new) in [
        (
            "#- /main.py\n        from lib import A\n        def entry_point(argv): return A().x\n",
            "x = self.y",
            "a",
        ),
        (
            "#- /main.py\n        from lib import A\n        def entry_point(argv): return A().y\n",
            "y = self.z",
            "a",
        ),
        (
            "#- /main.py\n        from lib import A\n        def entry_point(argv): return A().w\n",
            "w = 0",
            "a",
        ),
        (
            "#- /main.py\n        from lib import A\n        def entry_point(argv): return A().w\n        #- /dead.py\n        from lib import A\n        def g(a): return a.w\n",
            "w = 0",
            "a",
        ),
        (
            "#- /main.py\n        from lib import f\n        def entry_point(argv): return f(1)\n        #- /broken.py\n        import nothing_like_it\n        from lib import f\n",
            "f(key)",
            "g",
        ),
        (
            "#- /main.py\n        try: from no_such import f\n        except ImportError: from lib import f\n        def entry_point(argv): return f(1)\n",
            "f(key)",
            "g",
        ),
        (
            "#- /main.py\n        from lib import f\n        def g(): return 2\n        def entry_point(argv): return f(1)\n",
            "f(key)",
            "g",
        ),
        (
            "#- /main.py\n        from lib import f\n        def dead(h): return h(key=1)\n        def entry_point(argv): return f(1)\n",
            "key): return 1",
            "k",
        ),
        (
            "#- /main.py\n        from lib import f, A, B\n        def entry_point(argv): return f(1) + (A() if argv else B()).get(key=1)\n",
            "key): return 2",
            "k",
        ),
        (
            "#- /main.py\n        from lib import f\n        def dead():\n            import lib\n            return lib.f(1)\n        def entry_point(argv): return f(1)\n",
            "f(key)",
            "g",
        ),
    ] {
        all.push_str(&outcome(&with(main, at), new));
    }
    expect![[r#"
        refused: the string at /lib.py:2 may mean `x`
        refused: the string at /lib.py:3 may mean `y`
        /lib.py:4:57 w -> a
        /main.py:2:35 w -> a
        refused: it is not known whether `w` at /dead.py:2 is the same
        /broken.py:2:17 f -> g
        /lib.py:8:5 f -> g
        /main.py:1:17 f -> g
        /main.py:2:31 f -> g
        refused: `f` at /main.py:1 may be something else
        refused: `g` is used in /main.py already
        refused: it is not known whether `key` at /main.py:2 is the same
        refused: it is not known whether `key` at /main.py:2 is the same
        /lib.py:8:5 f -> g
        /main.py:1:17 f -> g
        /main.py:4:16 f -> g
        /main.py:5:31 f -> g
    "#]]
    .assert_eq(&all);
}

/// Files that cannot be loaded, beside a program: what their imports mean is told by the
/// files that there are.
#[test]
fn files_that_cannot_be_loaded() {
    let lib = "
        #- /src/som/__init__.py
        # A package.
        #- /src/som/symbols.py
        class Table(object):
            def intern(self): return 1
        def symbol_for(text, size=1): return size
        #- /src/main.py
        from som.symbols import symbol_for, Table
        def entry_point(argv): return symbol_for('x') + Table().intern()
        ";
    let with = |other: &str, at: &str| {
        let text = format!("{lib}{other}").replace("        ", "");
        let text = text.replace("\ndef intern", "\n    def intern");
        let text = text.replacen(at, &format!("$0{at}"), 1);
        // The fixture's target is `/main.py`.
        text.replace("/src/main.py", "/main.py")
            .replace("/src/som", "/som")
    };
    let mut all = String::new();
    for (other, at) in [
        // Resolved by name.
        (
            "#- /tests/test_a.py\nimport not_there\nfrom som.symbols import symbol_for as s, symbol_for\nprint s('y'), symbol_for('z', size=2)\n",
            "symbol_for(text",
        ),
        (
            "#- /tests/test_a.py\nimport not_there\nimport som.symbols\nprint som.symbols.symbol_for('z', size=2)\n",
            "symbol_for(text",
        ),
        (
            "#- /tests/test_a.py\nimport not_there\nimport som.symbols\nprint som.symbols.symbol_for('z', size=2)\n",
            "size=1",
        ),
        // From there.
        (
            "#- /tests/test_a.py\nimport not_there\nfrom som.symbols import symbol_for\nprint symbol_for('ask')\n",
            "symbol_for('ask",
        ),
        // Star imports.
        (
            "#- /tests/test_a.py\nimport not_there\nfrom som.symbols import *\nprint symbol_for('z')\n",
            "symbol_for(text",
        ),
        // Two modules of that name: not certain.
        (
            "#- /tests/test_a.py\nimport not_there\nfrom symbols import symbol_for\n#- /a/symbols.py\ndef symbol_for(): pass\nimport som\n",
            "symbol_for(text",
        ),
        // Methods of what is not known.
        (
            "#- /tests/test_a.py\nimport not_there\nimport som\ndef f(x): return x.intern()\n",
            "intern",
        ),
        // Nothing of this workspace.
        (
            "#- /tests/test_a.py\nimport not_there\nfrom not_there import symbol_for\nprint symbol_for()\n#- /tests/b.py\nimport os\ndef f(x): return x.intern\n",
            "symbol_for(text",
        ),
        (
            "#- /tests/b.py\nimport os\ndef f(x): return x.intern\n",
            "intern",
        ),
    ] {
        all.push_str(&outcome(&with(other, at), "fresh"));
        all.push('\n');
    }
    expect![[r#"
        /main.py:1:25 symbol_for -> fresh
        /main.py:2:31 symbol_for -> fresh
        /som/symbols.py:3:5 symbol_for -> fresh
        /tests/test_a.py:2:25 symbol_for -> fresh
        /tests/test_a.py:2:42 symbol_for -> fresh
        /tests/test_a.py:3:15 symbol_for -> fresh

        /main.py:1:25 symbol_for -> fresh
        /main.py:2:31 symbol_for -> fresh
        /som/symbols.py:3:5 symbol_for -> fresh
        /tests/test_a.py:3:19 symbol_for -> fresh

        /som/symbols.py:3:22 size -> fresh
        /som/symbols.py:3:38 size -> fresh
        /tests/test_a.py:3:35 size -> fresh

        /main.py:1:25 symbol_for -> fresh
        /main.py:2:31 symbol_for -> fresh
        /som/symbols.py:3:5 symbol_for -> fresh
        /tests/test_a.py:2:25 symbol_for -> fresh
        /tests/test_a.py:3:7 symbol_for -> fresh

        /main.py:1:25 symbol_for -> fresh
        /main.py:2:31 symbol_for -> fresh
        /som/symbols.py:3:5 symbol_for -> fresh
        /tests/test_a.py:3:7 symbol_for -> fresh

        refused: it is not known whether `symbol_for` at /tests/test_a.py:2 is the same

        refused: it is not known whether `intern` at /tests/test_a.py:3 is the same

        /main.py:1:25 symbol_for -> fresh
        /main.py:2:31 symbol_for -> fresh
        /som/symbols.py:3:5 symbol_for -> fresh

        /main.py:2:57 intern -> fresh
        /som/symbols.py:2:9 intern -> fresh

    "#]]
    .assert_eq(&all);
}
