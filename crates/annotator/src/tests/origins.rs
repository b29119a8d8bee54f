//! Where operands come from, as messages show it.

use expect_test::{Expect, expect};
use taipan_base::render_text;
use taipan_graph::Const;
use taipan_interp::{Name, module_global, target_module};
use taipan_testkit::TestDb;

use crate::{RootSet, Roots, annotation_diagnostics};

/// All that is wrong with `f` of `/main.py`, called without arguments.
#[track_caller]
pub(super) fn check(source: &str, expected: Expect) {
    let db = TestDb::with_fixture(source);
    let program = db.program();
    let module = target_module(&db, program).unwrap();
    let f = module_global(&db, Name::new(&db, program, module, "f"));
    let Some(Const::Obj(func)) = f else {
        panic!("no f");
    };
    let args = Vec::new().into();
    let roots = Roots::new(&db, program, RootSet::Call { func: *func, args }, false);
    let shown: Vec<String> = (annotation_diagnostics(&db, roots).iter())
        .map(|d| render_text(&db, d, false))
        .collect();
    expected.assert_eq(&shown.join("\n\n"));
}

#[test]
fn arguments_attributes_and_results() {
    check(
        "
        class Box(object):
            def __init__(self, value):
                self.value = value
        def name():
            return 'x'
        def add(a, b):
            return a + b
        def twice(box):
            return box.value * 'x' + name() * 'y'
        def f():
            try:
                add(1, 'b')
            finally:
                twice(Box('z'))
        ",
        expect![[r#"
            error[TP0303]: `+` of an int and a str is not RPython
              --> /main.py:7:12
               |
             7 |     return a + b
               |            ^^^^^
               |
            note: an int comes from here, in f(); a str comes from here, in f()
              --> /main.py:12:9
               |
            12 |         add(1, 'b')
               |         ^^^^^^^^^^^
               = help: make a string of the number with `str()`, or use `%`, as in `"%d" % n`

            error[TP0303]: `*` of a str and a str is not RPython
              --> /main.py:9:12
               |
             9 |     return box.value * 'x' + name() * 'y'
               |            ^^^^^^^^^^^^^^^
               |
            note: a str comes from here, in __init__()
              --> /main.py:3:9
               |
             3 |         self.value = value
               |         ^^^^^^^^^^
            note: which comes from here, in f()
              --> /main.py:14:15
               |
            14 |         twice(Box('z'))
               |               ^^^^^^^^

            error[TP0303]: `*` of a str and a str is not RPython
             --> /main.py:9:30
              |
            9 |     return box.value * 'x' + name() * 'y'
              |                              ^^^^^^^^^^^^"#]],
    );
}

#[test]
fn arguments_of_a_table_of_functions() {
    check(
        "
        def one(x):
            return 1
        def two(y):
            return y * 'a'
        table = [one, two]
        def f():
            i = len([0])
            table[i]('z')
            return table[i](2)
        ",
        expect![[r#"
            error[TP0300]: argument x of one() mixes a str and an int
             --> /main.py:9:12
              |
            8 |     table[i]('z')
              |     ------------- a str comes from here
            9 |     return table[i](2)
              |            ^^^^^^^^^^^ an int comes from here
              |
              = help: keep the kinds apart, or wrap each in a class with a common base

            error[TP0300]: argument y of two() mixes a str and an int
             --> /main.py:9:12
              |
            8 |     table[i]('z')
              |     ------------- a str comes from here
            9 |     return table[i](2)
              |            ^^^^^^^^^^^ an int comes from here
              |
              = help: keep the kinds apart, or wrap each in a class with a common base"#]],
    );
    check(
        "
        def one(x):
            return x * 'a'
        def two(y):
            return 'b'
        table = [one, two]
        def name():
            return 'n'
        def f():
            table[len([0])](name())
        ",
        expect![[r#"
            error[TP0303]: `*` of a str and a str is not RPython
             --> /main.py:2:12
              |
            2 |     return x * 'a'
              |            ^^^^^^^
              |
            note: a str comes from here, in f()
             --> /main.py:9:5
              |
            9 |     table[len([0])](name())
              |     ^^^^^^^^^^^^^^^^^^^^^^^"#]],
    );
}

#[test]
fn the_library_points_at_the_program() {
    check(
        "
        from rpython.rlib.rbigint import rbigint
        def number(text):
            return rbigint.fromdecimalstr(text)
        def f():
            number(u'12')
        ",
        expect![[r#"
            error[TP0319]: comparing a byte string with a unicode string is not RPython
               --> /main.py:3:12
                |
              3 |     return rbigint.fromdecimalstr(text)
                |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^ this leads to it
                |
                = note: a unicode comes from here, in number()
            note: it happens here, in _digit_value()
               --> <taipan>/rpython/rlib/rstring.py:415:8
                |
            415 |     if '0' <= c <= '9':
                |        ^^^^^^^^^^^^^^^
            note: which comes from here, in f()
               --> /main.py:5:5
                |
              5 |     number(u'12')
                |     ^^^^^^^^^^^^^
                = help: decode or encode one of them first"#]],
    );
}

#[test]
fn prebuilt_objects_and_texts() {
    check(
        "
        class Held(object):
            pass
        held = Held()
        held.spaces = [u' ', '\\n']
        exec 'def made(n):\\n    n = n + 1\\n    return n + str(n)\\n'
        def f():
            if 'x' in held.spaces:
                return made(2)
        ",
        expect![[r#"
            error[TP0303]: `+` of an int and a str is not RPython
             |
             = note: this is line 3 of <string>: `return n + str(n)`
             = help: make a string of the number with `str()`, or use `%`, as in `"%d" % n`

            error[TP0300]: a list mixes a str and a unicode
             --> /main.py:7:15
              |
            7 |     if 'x' in held.spaces:
              |        -------^^^^^^^^^^^
              |        |      |
              |        |      a unicode is in a prebuilt object that is used here
              |        a str comes from here, in f()
              |
              = help: make both unicode with `.decode('utf-8')`, or both bytes with `.encode('utf-8')`"#]],
    );
}

#[test]
fn what_follows_from_a_conflict_is_not_told() {
    check(
        "
        class A(object):
            pass
        def f():
            a = A()
            a.x = 1
            a.x = 'one'
            return a.x + 1
        ",
        expect![[r#"
            error[TP0300]: attribute x of A mixes an int and a str
             --> /main.py:6:5
              |
            5 |     a.x = 1
              |     --- an int comes from here
            6 |     a.x = 'one'
              |     ^^^ a str comes from here
              |
              = help: keep the kinds apart, or wrap each in a class with a common base"#]],
    );
}

#[test]
fn joining_what_is_wrong_is_not_told() {
    check(
        "
        class A(object):
            pass
        def names():
            return ['a', A().nothing]
        def f():
            return ','.join(names())
        ",
        expect![[r#"
            error[TP0301]: an instance of main.A has no attribute `nothing`
             --> /main.py:4:18
              |
            4 |     return ['a', A().nothing]
              |                  ^^^^^^^^^^^
              |
              = help: nothing in the program defines it"#]],
    );
}

/// Where the operands come out of a builtin function.
#[test]
fn the_library_points_at_the_call_that_leads_there() {
    check(
        "
        from rpython.rlib.rbigint import rbigint
        def number(text):
            return rbigint.fromrarith_int(text[0])
        def f():
            number('12')
        ",
        expect![[r#"
            error[TP0303]: `~` of a str is not RPython
               --> /main.py:3:12
                |
              3 |     return rbigint.fromrarith_int(text[0])
                |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ this leads to it
                |
            note: it happens here, in _from_rarith()
               --> <taipan>/rpython/rlib/rbigint.py:734:13
                |
            734 |         n = ~n
                |             ^^"#]],
    );
}

/// None goes with a string as well as with an instance: these do not go together.
#[test]
fn none_is_not_blamed_where_others_clash() {
    check(
        "
        class Value(object):
            pass
        class Box(object):
            def __init__(self):
                self.value = None
            def named(self, name):
                self.value = name
            def filled(self):
                self.value = Value()
        def f():
            box = Box()
            box.named('x')
            box.filled()
        ",
        expect![[r#"
            error[TP0300]: attribute value of Box mixes a str and an instance of main.Value
             --> /main.py:9:9
              |
            7 |         self.value = name
              |         ---------- a str comes from here, in named()
            8 |     def filled(self):
            9 |         self.value = Value()
              |         ^^^^^^^^^^ an instance of main.Value comes from here
              |
              = help: keep the kinds apart, or wrap each in a class with a common base"#]],
    );
}

/// The line of a text that the program makes is shown whole, whatever is in it.
#[test]
fn lines_of_texts() {
    check(
        r#"
        class B(object):
            pass
        names = {}
        exec "def fill(b, n): b.x = 'comes from here, in g()'; b.x = n" in names
        fill = names['fill']
        def f():
            fill(B(), 1)
        "#,
        expect![[r#"
            error[TP0300]: attribute x of B mixes a str and an int
             |
             = note: a str comes from line 1 of <string>: `def fill(b, n): b.x = 'comes from here, in g()'; b.x = n`
             = note: an int comes from line 1 of <string>: `def fill(b, n): b.x = 'comes from here, in g()'; b.x = n`
             = help: keep the kinds apart, or wrap each in a class with a common base"#]],
    );
}

/// A generator that may be None has the same remedies as another one.
#[test]
fn generators_that_may_be_none() {
    check(
        "
        def items():
            yield 1
        def pick(n):
            if n:
                return items()
            return None
        def f():
            pick(0)
            pick(1).send(2)
        ",
        expect![[r#"
            error[TP0301]: a generator or None has no attribute `send`
             --> /main.py:9:5
              |
            9 |     pick(1).send(2)
              |     ^^^^^^^^^^^^
              |
              = help: a generator only yields values: write a class with a method that takes the value, and keep the state in its attributes"#]],
    );
}
