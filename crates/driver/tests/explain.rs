//! What ran again after an edit, and why.

use expect_test::{Expect, expect};
use taipan_driver::{Explainer, set_threads};
use taipan_workbench::Workbench;

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

/// Compiles, edits the file at `path`, compiles again and explains that.
fn check(path: &str, from: &str, to: &str, expected: &Expect) {
    // Reasons follow the order of time. Fails only if the other tests have said so.
    let _ = set_threads(1);
    let mut bench = Workbench::with(&[("/main.py", MAIN), ("/lib.py", LIB)]);
    bench.db.log().record_from_now();
    let mut explainer = Explainer::default();
    bench.compile().expect("the program compiles");
    explainer.round(&bench.db);

    let text = if path == "/main.py" { MAIN } else { LIB };
    assert!(text.contains(from));
    bench.edit(path, &text.replace(from, to));
    bench.compile().expect("the program compiles");
    let text = explainer.round(&bench.db).text(100);
    // How many are reused says little here and changes often.
    let text: String = text
        .lines()
        .filter(|l| !l.ends_with(" reused"))
        .map(|l| format!("{l}\n"))
        .collect();
    expected.assert_eq(&text);
}

#[test]
fn one_body() {
    check(
        "/main.py",
        "n * 2 + 1",
        "n * 3 + 1",
        &expect![[r#"
            module_codes /main.py                because /main.py was edited
            solve /main.py                       because module_codes /main.py changed
            code /main.py:helper                 because module_codes /main.py changed
            flow_graph main.helper               because code /main.py:helper changed
            annotation_diagnostics /main.py      because flow_graph main.helper changed
            annotation main.helper               because flow_graph main.helper changed
            rtyped_graph main.helper             because annotation main.helper changed
            simplified main.helper               because rtyped_graph main.helper changed
            simplified_summary main.helper       because simplified main.helper changed (same result)
            optimized main.entry_point           because simplified main.helper changed
            optimized_mentions main.entry_point  because optimized main.entry_point changed (same result)
            optimized_summary main.entry_point   because optimized main.entry_point changed (same result)
            exceptions main.entry_point          because optimized main.entry_point changed
            program_effects /main.py             because optimized main.entry_point changed
            gc main.entry_point                  because exceptions main.entry_point changed
            machine_code main.entry_point        because gc main.entry_point changed
        "#]],
    );
}

#[test]
fn a_comment() {
    check(
        "/lib.py",
        "def area",
        "# width times height\ndef area",
        &expect![[r#"
            module_codes /lib.py  because /lib.py was edited
        "#]],
    );
}

#[test]
fn a_result_of_another_type() {
    check(
        "/main.py",
        "n * 2 + 1",
        "n * 2.5",
        &expect![[r#"
            module_codes /main.py                because /main.py was edited
            solve /main.py                       because module_codes /main.py changed
            code /main.py:helper                 because module_codes /main.py changed
            flow_graph main.helper               because code /main.py:helper changed
            annotation_diagnostics /main.py      because flow_graph main.helper changed
            annotation main.entry_point          because flow_graph main.helper changed
            rtyped_graph main.entry_point        because annotation main.entry_point changed
            annotation main.helper               because flow_graph main.helper changed
            rtyped_graph main.helper             because annotation main.helper changed
            simplified main.entry_point          because rtyped_graph main.entry_point changed
            optimized main.entry_point           because simplified main.entry_point changed
            optimized_mentions main.entry_point  because optimized main.entry_point changed
            optimized_summary main.entry_point   because optimized main.entry_point changed
            exceptions main.entry_point          because optimized_mentions main.entry_point changed
            program_effects /main.py             because optimized_summary main.entry_point changed
            gc main.entry_point                  because exceptions main.entry_point changed
            machine_code main.entry_point        because gc main.entry_point changed
            41 ran for the first time
        "#]],
    );
}
