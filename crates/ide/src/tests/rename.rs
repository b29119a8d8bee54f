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
    check("result = 0", 0, "sum", expect![]);
    check("size):", 0, "length", expect![]);
    check("make(kind", 0, "create", expect![]);
    check("area(self)", 0, "surface", expect![]);
    check("side = side", 0, "width", expect![]);
    check("Square(Shape", 0, "Box", expect![]);
}

#[test]
fn refusals() {
    check("result = 0", 0, "shape", expect![]);
    check("result = 0", 0, "for", expect![]);
    check("make(kind", 0, "Circle", expect![]);
    check("side = side", 0, "sides", expect![]);
    check("len(argv", 0, "length", expect![]);
    check("entry_point", 0, "start", expect![]);
    check("__init__", 0, "init", expect![]);
    check("helper\n", 0, "other", expect![]);
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
        expect![],
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
        expect![],
    );
}
