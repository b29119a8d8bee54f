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
        expect![""],
    );
}

#[test]
fn name_not_defined() {
    check(
        r#"
        def f():
            return undefined_name
        "#,
        expect![""],
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
        expect![""],
    );
}

#[test]
fn closure() {
    check(
        r#"
        def f(a):
            return lambda: a
        "#,
        expect![""],
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
        expect![""],
    );
}

#[test]
fn power() {
    check(
        r#"
        def f(a, b):
            return a ** b
        "#,
        expect![""],
    );
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
        expect![""],
    );
}

#[test]
fn exec_statement() {
    check(
        r#"
        def f(s):
            exec s
        "#,
        expect![""],
    );
}

#[test]
fn locals_function() {
    check(
        r#"
        def f(s):
            return locals()
        "#,
        expect![""],
    );
}

#[test]
fn set_display() {
    check(
        r#"
        def f(s):
            return {s, 1}
        "#,
        expect![""],
    );
}

#[test]
fn print_to_a_file() {
    check(
        r#"
        def f(s):
            print >> s, 5
        "#,
        expect![""],
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
        expect![""],
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
        expect![""],
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
        expect![""],
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
        expect![""],
    );
}

#[test]
fn import_error() {
    check(
        r#"
        def f():
            import no_such_module
        "#,
        expect![""],
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
        expect![""],
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
        expect![""],
    );
}

#[test]
fn delete_attribute() {
    check(
        r#"
        def f(a):
            del a.x
        "#,
        expect![""],
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
        expect![""],
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
        expect![""],
    );
}
