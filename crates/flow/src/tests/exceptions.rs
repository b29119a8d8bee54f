//! What may raise, who catches it, and what runs on the way.

use expect_test::expect;

use super::check;

#[test]
fn nobody_catches() {
    check(
        r#"
        def f(l, i):
            return l[i] // i
        "#,
        expect![""],
    );
}

#[test]
fn index_error() {
    check(
        r#"
        def f(l, i):
            try:
                return l[i]
            except IndexError:
                return -1
        "#,
        expect![""],
    );
}

#[test]
fn several_clauses() {
    check(
        r#"
        def f(l, i):
            try:
                return g(l[i])
            except (IndexError, KeyError):
                return -1
            except ValueError, e:
                return e
        def g(x):
            pass
        "#,
        expect![""],
    );
}

#[test]
fn implicit_exceptions_that_no_clause_names() {
    check(
        r#"
        def f(a, b):
            try:
                return a // b
            except ValueError:
                return 0
        "#,
        expect![""],
    );
}

#[test]
fn base_class() {
    check(
        r#"
        def f(l, i):
            try:
                return l[i]
            except LookupError:
                return -1
        "#,
        expect![""],
    );
}

#[test]
fn bare_except() {
    check(
        r#"
        def f(l, i):
            try:
                l[i]
            except:
                g()
                return 1
            return 2
        def g():
            pass
        "#,
        expect![""],
    );
}

#[test]
fn raise_again() {
    check(
        r#"
        def f(l, i):
            try:
                l[i]
            except:
                raise
        "#,
        expect![""],
    );
}

#[test]
fn else_clause() {
    check(
        r#"
        def f(d, k):
            try:
                v = d[k]
            except KeyError:
                return 0
            else:
                return g(v)
        def g(x):
            pass
        "#,
        expect![""],
    );
}

#[test]
fn finally_clause() {
    check(
        r#"
        def f(l):
            try:
                g(l)
            finally:
                l.close()
            return 5
        def g(x):
            pass
        "#,
        expect![""],
    );
}

#[test]
fn return_through_finally() {
    check(
        r#"
        def f(l):
            for x in l:
                try:
                    if x:
                        return x
                    else:
                        continue
                finally:
                    g(l)
        def g(x):
            pass
        "#,
        expect![""],
    );
}

#[test]
fn with_statement() {
    check(
        r#"
        def f(m):
            with m as x:
                g(x)
            return 1
        def g(x):
            pass
        "#,
        expect![""],
    );
}

#[test]
fn raise_class() {
    check(
        r#"
        def f():
            raise ValueError
        "#,
        expect![""],
    );
}

#[test]
fn raise_instance_of_known_class() {
    check(
        r#"
        class E(Exception):
            pass
        def f(x):
            raise E(x)
        "#,
        expect![""],
    );
}

#[test]
fn raise_anything() {
    check(
        r#"
        def f(x):
            raise x
        "#,
        expect![""],
    );
}

#[test]
fn raise_class_and_value() {
    check(
        r#"
        def f(x):
            raise ValueError, x
        "#,
        expect![""],
    );
}

#[test]
fn raise_prebuilt() {
    check(
        r#"
        class E(Exception):
            pass
        e = E()
        def f(x):
            raise e
        "#,
        expect![""],
    );
}

#[test]
fn raise_and_catch() {
    check(
        r#"
        def f(x):
            try:
                if x:
                    raise KeyError
                raise ValueError(x)
            except KeyError:
                return 1
        "#,
        expect![""],
    );
}

#[test]
fn assertion() {
    check(
        r#"
        def f(x):
            assert x > 0, 'not positive'
            return x
        "#,
        expect![""],
    );
}

#[test]
fn nested_handlers() {
    check(
        r#"
        def f(l):
            try:
                try:
                    return g(l)
                except IndexError:
                    return l[0]
            except KeyError:
                return 2
        def g(x):
            pass
        "#,
        expect![""],
    );
}

#[test]
fn loop_inside_try() {
    check(
        r#"
        def f(l):
            try:
                for x in l:
                    g(x)
            except RuntimeError:
                return 1
            return 0
        def g(x):
            pass
        "#,
        expect![""],
    );
}

#[test]
fn subclasses_that_are_covered() {
    check(
        r#"
        class A(Exception):
            pass
        class B(A):
            pass
        def f(x):
            try:
                g(x)
            except A:
                return 1
            except B:
                return 2
            except Exception:
                return 3
        def g(x):
            pass
        "#,
        expect![""],
    );
}

#[test]
fn ovfcheck() {
    check(
        r#"
        from rpython.rlib.rarithmetic import ovfcheck
        def f(a, b):
            return ovfcheck(a + b)
        "#,
        expect![""],
    );
}

#[test]
fn ovfcheck_caught() {
    check(
        r#"
        from rpython.rlib.rarithmetic import ovfcheck
        def f(a, b):
            try:
                return ovfcheck(a // b)
            except OverflowError:
                return 0
            except ZeroDivisionError:
                return 1
        "#,
        expect![""],
    );
}

#[test]
fn builtins_raise_only_what_is_known() {
    check(
        r#"
        def f(s):
            try:
                return int(s) + len(s)
            except ValueError:
                return 0
        "#,
        expect![""],
    );
}
