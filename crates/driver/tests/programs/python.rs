//! Programs as Python: what the text looks like, what is made again after an edit, and what is refused.

use camino::Utf8Path;
use expect_test::{Expect, expect};
use taipan_driver::{EmitForm, EmitRequest, Failure, Stage, Timings, build_python, emit};
use taipan_workbench::Workbench;

fn python(source: &str, func: &str, inputs: &str) -> String {
    let bench = Workbench::of(source);
    let request = EmitRequest {
        stage: Stage::Python,
        file: bench.target.clone(),
        func: Some(func.to_owned()),
        inputs: Some(inputs.to_owned()),
        form: EmitForm::Text,
        targets: Vec::new(),
    };
    match emit(&bench.db, &bench.options, &request, &mut Timings::default()) {
        Ok(text) => text,
        Err(e) => panic!("{e:?}"),
    }
}

#[track_caller]
fn check(source: &str, func: &str, inputs: &str, expected: Expect) {
    expected.assert_eq(&python(source, func, inputs));
}

#[test]
fn loops_and_arithmetic() {
    check(
        "
def gcd(a, b):
    while b:
        a, b = b, a % b
    return a
",
        "gcd",
        "SomeInteger, SomeInteger",
        expect![[r#"
            def main_gcd(a_0, b_1):
                a_2, b_3 = a_0, b_1
                while True:
                    if b_3 == 0:
                        return a_2
                    b_7 = rint_ll_int_py_mod(a_2, b_3)  # /main.py:4
                    a_2, b_3 = b_3, b_7
        "#]],
    );
}

#[test]
fn branches_that_meet() {
    check(
        "
def f(a, b):
    if a > 3 and b > 4 or a == b:
        n = 1
    elif a < 0:
        n = 2
    else:
        n = 3
    return n + a
",
        "f",
        "SomeInteger, SomeInteger",
        expect![[r#"
            def main_f(a_0, b_1):
                to = 0
                if a_0 > 3:
                    if b_1 > 4:
                        n_11 = 1
                        to = 1
                if to != 1:
                    if a_0 != b_1:
                        if a_0 >= 0:
                            n_11 = 3
                        else:
                            n_11 = 2
                    else:
                        n_11 = 1
                to = 0
                return signed(n_11 + a_0)
        "#]],
    );
}

#[test]
fn nested_loops_that_are_left() {
    check(
        "
def f(n):
    total = 0
    i = 0
    while i < n:
        j = 0
        while True:
            if j == i:
                break
            if j * i > 50:
                return total
            if j == 7:
                j += 2
                continue
            total += j
            j += 1
        else:
            total += 100
        i += 1
    return total
",
        "f",
        "SomeInteger",
        expect![[r#"
            def main_f(n_0):
                total_1, i_2 = 0, 0
                while True:
                    if i_2 >= n_0:
                        return total_1
                    total_5, j_6 = total_1, 0
                    while j_6 != i_2:
                        if signed(j_6 * i_2) > 50:
                            return total_5
                        if j_6 != 7:
                            total_5, j_6 = signed(total_5 + j_6), signed(j_6 + 1)
                        else:
                            j_6 = signed(j_6 + 2)
                    total_1, i_2 = total_5, signed(i_2 + 1)
        "#]],
    );
}

#[test]
fn exceptions() {
    check(
        "
from rpython.rlib.rarithmetic import ovfcheck
def g(n):
    if n > 3:
        raise ValueError
    return n
def f(n):
    try:
        m = g(n)
        return ovfcheck(m * 1000)
    except ValueError:
        return -1
    except OverflowError:
        return -2
",
        "f",
        "SomeInteger",
        expect![[r#"
            def main_f(n_0):
                try:
                    m_1 = main_g(n_0)  # /main.py:9
                except (Raised, RecursionError) as error:
                    error = raised(error)
                    if catches(error, vtable_exceptions_ValueError):
                        return -1
                    elif catches(error, vtable_exceptions_OverflowError):
                        return -2
                    elif catches(error, vtable_exceptions_Exception):
                        raise
                    else:
                        raise
                try:
                    v9 = ovfcheck(m_1 * 1000)  # /main.py:10
                except (Raised, RecursionError) as error:
                    error = raised(error)
                    if catches(error, vtable_exceptions_OverflowError):
                        return -2
                    else:
                        raise
                return v9
        "#]],
    );
}

#[test]
fn objects_and_strings() {
    check(
        "
class Point(object):
    def __init__(self, x, y):
        self.x = x
        self.y = y
def f(x, c):
    p = Point(x, 'a')
    if p.y == c:
        p.x += 1.5
    return p.x
",
        "f",
        "SomeFloat, SomeChar",
        expect![[r#"
            def main_f(x_0, c_1):
                p_2 = Main_Point()  # /main.py:7
                p_2.typeptr = vtable_main_Point
                main_Point___init(p_2, x_0, b'a'[0])
                if b'a'[0] == c_1:
                    p_2.inst_x = p_2.inst_x + 1.5  # /main.py:9
                return p_2.inst_x
        "#]],
    );
}

const MAIN: &str = "
import helper
def twice(n):
    return n + n
def entry_point(argv):
    print twice(len(argv)), helper.half(8)
    return 0
";

const HELPER: &str = "
def half(n):
    return n // 2
";

/// The texts that are made again after an edit.
fn edited(path: &str, text: &str) -> String {
    let mut bench = Workbench::with(&[("/main.py", MAIN), ("/helper.py", HELPER)]);
    bench.db.log().record_from_now();
    emitted(&bench);
    bench.db.take_log();
    bench.edit(path, text);
    emitted(&bench);
    bench.ran(&["python_text"])
}

fn emitted(bench: &Workbench) -> String {
    let request = EmitRequest {
        stage: Stage::Python,
        file: bench.target.clone(),
        func: None,
        inputs: None,
        form: EmitForm::Text,
        targets: Vec::new(),
    };
    emit(&bench.db, &bench.options, &request, &mut Timings::default()).expect("it compiles")
}

#[test]
fn an_edit_makes_the_text_of_what_it_touches() {
    expect![[r#"
        python_text main.twice
    "#]]
    .assert_eq(&edited("/main.py", &MAIN.replace("n + n", "n * 2")));
    expect![[r#"
        python_text helper.half
    "#]]
    .assert_eq(&edited("/helper.py", &HELPER.replace("// 2", "// 3")));
}

#[test]
fn lines_that_move_make_no_text_again() {
    expect![[""]].assert_eq(&edited("/helper.py", &format!("# A comment.\n\n{HELPER}")));
}

#[test]
fn the_text_does_not_depend_on_the_history() {
    let mut bench = Workbench::with(&[("/main.py", MAIN), ("/helper.py", HELPER)]);
    emitted(&bench);
    let changed = format!("\n\n{}", HELPER.replace("// 2", "// 3"));
    bench.edit("/helper.py", &changed);
    let fresh = Workbench::with(&[("/main.py", MAIN), ("/helper.py", &changed)]);
    assert_eq!(emitted(&bench), emitted(&fresh));
}

/// Threads of the program are for machine code.
#[test]
fn threads_are_refused() {
    let bench = Workbench::of(
        "
from rpython.rlib import rthread
def work():
    pass
def entry_point(argv):
    rthread.start_new_thread(work, ())
    return 0
",
    );
    let out = tempfile::tempdir().expect("a folder");
    let out = Utf8Path::from_path(out.path())
        .expect("text")
        .join("out.py");
    let made = build_python(
        &bench.db,
        &bench.options,
        &bench.target,
        &out,
        &mut Timings::default(),
    );
    let Err(Failure::Diagnostics(found)) = made else {
        panic!("{made:?}");
    };
    let texts: Vec<String> = found
        .iter()
        .map(|d| format!("{}: {}", d.code, d.message))
        .collect();
    expect!["TP0501: no Python can be made: rpy_thread_start() is for machine code: Python has no threads, stacklets and collector of the program's own"].assert_eq(&texts.join("\n"));
    assert!(!out.exists());
}
