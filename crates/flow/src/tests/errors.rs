//! What is not RPython, and where.

use expect_test::expect;

use super::check;

#[test]
fn global_variable_modified() {
    check(
        r#"
        x = 1
        def f():
            global x
            x = 2
        "#,
        expect![[r#"
            error TP0221: the global variable `x` is modified
        "#]],
    );
}

#[test]
fn name_not_defined() {
    check(
        r#"
        def f():
            return undefined_name
        "#,
        expect![[r#"
            error TP0222: name `undefined_name` is not defined
        "#]],
    );
}

#[test]
fn unbound_local() {
    check(
        r#"
        def f(a):
            if a:
                x = 1
            return x
        "#,
        expect![[r#"
            error TP0224: variable `x` may have no value here
        "#]],
    );
}

#[test]
fn closure() {
    check(
        r#"
        def f(a):
            return lambda: a
        "#,
        expect![[r#"
            error TP0225: an inner function uses the variable `a` of f()
        "#]],
    );
}

#[test]
fn dict_unpacking() {
    check(
        r#"
        def f(a):
            return g(**a)
        def g():
            pass
        "#,
        expect![[r#"
            error TP0220: unpacking a dict into arguments is not RPython
        "#]],
    );
}

#[test]
fn power() {
    check(
        r#"
        def f(a, b):
            return a ** b
        "#,
        expect![[r#"
            error TP0220: a ** b is not RPython
        "#]],
    );
}

/// CPython's compiler computes powers of literals: names of constants are none, and neither
/// is `True`.
#[test]
fn power_of_literals_alone() {
    check(
        r#"
        N = 10
        def f():
            return (2 ** 3, 2.0 ** -1, (1 + 2) ** ~-3, 2 ** 2 ** 3)
        "#,
        expect![[r#"
            graph f
            block0():
                goto return((8, 0.5, 9, 256))
            return(v0)
            except(etype_1, evalue_2)
        "#]],
    );
    for power in ["N ** 2", "2 ** N", "True ** 2"] {
        check(
            &format!("N = 10\ndef f():\n    x = {power}\n"),
            expect![[r#"
                error TP0220: a ** b is not RPython
            "#]],
        );
    }
}

#[test]
fn class_inside() {
    check(
        r#"
        def f():
            class C(object):
                pass
            return C
        "#,
        expect![[r#"
            error TP0220: a class inside a function is not RPython
        "#]],
    );
}

#[test]
fn exec_statement() {
    check(
        r#"
        def f(s):
            exec s
        "#,
        expect![[r#"
            error TP0220: exec is not RPython
        "#]],
    );
}

#[test]
fn locals_function() {
    check(
        r#"
        def f(s):
            return locals()
        "#,
        expect![[r#"
            error TP0220: a function that calls locals() is not RPython
        "#]],
    );
}

#[test]
fn set_display() {
    check(
        r#"
        def f(s):
            return {s, 1}
        "#,
        expect![[r#"
            error TP0220: a set is not RPython
        "#]],
    );
}

#[test]
fn print_to_a_file() {
    check(
        r#"
        def f(s):
            print >> s, 5
        "#,
        expect![[r#"
            error TP0220: print >> file is not RPython
        "#]],
    );
}

#[test]
fn except_clause_that_is_no_constant() {
    check(
        r#"
        def f(c):
            try:
                g()
            except c:
                pass
        def g():
            pass
        "#,
        expect![[r#"
            error TP0226: an except clause needs a constant class
        "#]],
    );
}

#[test]
fn catching_assertion_errors() {
    check(
        r#"
        def f(x):
            try:
                g(x)
            except AssertionError:
                return 1
        def g(x):
            pass
        "#,
        expect![[r#"
            error TP0226: catching AssertionError is not RPython
        "#]],
    );
}

#[test]
fn operation_that_always_raises() {
    check(
        r#"
        D = {}
        def f():
            return D['missing']
        "#,
        expect![[r#"
            error TP0223: `<dict>['missing']` always raises KeyError: 'missing'
        "#]],
    );
}

#[test]
fn missing_module_attribute() {
    check(
        r#"
        import sys, operator
        def f():
            return operator.no_such_function
        "#,
        expect![[r#"
            error TP0223: module operator has no attribute `no_such_function`
        "#]],
    );
}

#[test]
fn import_error() {
    check(
        r#"
        def f():
            import no_such_module
        "#,
        expect![[r#"
            error TP0227: ImportError: No module named no_such_module
        "#]],
    );
}

/// The module is there, but what it imports is not.
#[test]
fn import_of_a_module_that_fails() {
    // Which matters where it is reached.
    check(
        r#"
        #- /main.py
        def f():
            from pack import part
        #- /pack/__init__.py
        #- /pack/part.py
        import no_such_module
        "#,
        expect![[r#"
            graph f
            block0():
                part_0 = simple_call(#object@2111, 'pack.part', 'ImportError: No module named no_such_module') @1
                goto return(None)
            return(v1)
            except(etype_2, evalue_3)
        "#]],
    );
}

#[test]
fn not_rpython_tag() {
    check(
        r#"
        def f():
            """NOT_RPYTHON: for tests only"""
            return 1
        "#,
        expect![[r#"
            error TP0228: f is tagged as not RPython
        "#]],
    );
}

#[test]
fn ovfcheck_of_something_else() {
    check(
        r#"
        from rpython.rlib.rarithmetic import ovfcheck
        def f(a, b):
            return ovfcheck(a & b)
        "#,
        expect![[r#"
            error TP0230: ovfcheck() of and_ is not RPython
        "#]],
    );
}

#[test]
fn delete_attribute() {
    check(
        r#"
        def f(a):
            del a.x
        "#,
        expect![[r#"
            error TP0220: deleting attributes is not RPython
        "#]],
    );
}

#[test]
fn nested_default_that_varies() {
    check(
        r#"
        def f(a):
            def g(b=a):
                return b
            return g()
        "#,
        expect![[r#"
            error TP0220: a nested function whose default values are not constant is not RPython
        "#]],
    );
}

#[test]
fn endless_constant_loop() {
    check(
        r#"
        def f():
            i = 0
            while i >= 0:
                i = i ^ 1
            return i
        "#,
        expect![[r#"
            graph f
            block0():
                goto block1()
            block1():
                goto block1()
            return(v0)
            except(etype_1, evalue_2)
        "#]],
    );
}
