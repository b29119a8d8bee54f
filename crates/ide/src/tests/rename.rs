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
    let f = fixture(text);
    let shown = match crate::rename(&f.db, &f.workspace, f.position, new) {
        Err(why) => format!("refused: {why}\n"),
        Ok(edits) => edits
            .into_iter()
            .map(|(span, text)| format!("{} -> {text}\n", f.show(span)))
            .collect(),
    };
    expected.assert_eq(&shown);
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
