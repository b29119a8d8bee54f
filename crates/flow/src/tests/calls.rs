//! Arguments, builtin functions, methods, nested functions.

use expect_test::expect;

use super::check;

#[test]
fn positional() {
    check(
        r#"
        def f(a):
            return g(a, 1)
        def g(x, y=2):
            pass
        "#,
        expect![""],
    );
}

#[test]
fn keywords() {
    check(
        r#"
        def f(a):
            return g(a, z=1, b=2)
        def g(x, b, z):
            pass
        "#,
        expect![""],
    );
}

#[test]
fn star() {
    check(
        r#"
        def f(a, *args):
            return g(a, *args)
        def g(*args):
            pass
        "#,
        expect![""],
    );
}

#[test]
fn star_of_a_constant() {
    check(
        r#"
        ARGS = (1, 2)
        def f(a):
            return g(a, *ARGS)
        def g(*args):
            pass
        "#,
        expect![""],
    );
}

#[test]
fn keywords_and_star() {
    check(
        r#"
        def f(a, t):
            return g(1, y=a, *t)
        def g(*args):
            pass
        "#,
        expect![""],
    );
}

#[test]
fn methods() {
    check(
        r#"
        def f(a):
            a.x.append(a.m(1))
        "#,
        expect![""],
    );
}

#[test]
fn builtin_functions() {
    check(
        r#"
        def f(a, b):
            g(len(a), isinstance(a, list), ord(b), hash(b), abs(b))
            g(str(a), repr(a), hex(b), oct(b), pow(a, b))
            g(type(a), iter(a), id(a), divmod(a, b), cmp(a, b))
            g(getattr(a, 'x'), issubclass(a, b), bool(a), getattr(a, 'y', 1))
            setattr(a, 'z', b)
            g(chr(b), int(b), float(b), range(b), max(a, b))
        def g(*args):
            pass
        "#,
        expect![""],
    );
}

#[test]
fn operator_module() {
    check(
        r#"
        import operator
        def f(a, b):
            return operator.add(a, b), operator.is_(a, b), operator.neg(a)
        "#,
        expect![""],
    );
}

#[test]
fn a_class_is_called() {
    check(
        r#"
        class C(object):
            def __init__(self, x):
                self.x = x
        def f(x):
            return C(x).x
        "#,
        expect![""],
    );
}

#[test]
fn class_attributes_fold() {
    check(
        r#"
        class C(object):
            n = 5
            def m(self):
                pass
            @staticmethod
            def s(x):
                pass
        def f(x):
            C.m(x)
            C.s(x)
            return C.n + 1
        "#,
        expect![""],
    );
}

#[test]
fn nested_function() {
    check(
        r#"
        def f(x):
            def h(y, z=3):
                return y + z
            k = lambda: 5
            return h(x) + k()
        "#,
        expect![""],
    );
}

#[test]
fn closure_of_a_factory() {
    check(
        r#"
        def make(n):
            def adder(x):
                return x + n
            return adder
        f = make(5)
        "#,
        expect![""],
    );
}

#[test]
fn hasattr_without_use() {
    check(
        r#"
        def f(x):
            hasattr(x, 'a')
            return hasattr(x, 'b')
        "#,
        expect![""],
    );
}

#[test]
fn import_in_a_function() {
    check(
        r#"
        #- /main.py
        def f(x):
            import pkg.mod
            from pkg.mod import h
            return pkg.mod.g(x) + h(x)
        #- /pkg/__init__.py
        #- /pkg/mod.py
        def g(x):
            pass
        def h(x):
            pass
        "#,
        expect![""],
    );
}

#[test]
fn import_that_fails() {
    check(
        r#"
        def f(x):
            try:
                import does_not_exist
            except ImportError:
                return 1
            return 2
        "#,
        expect![""],
    );
}

#[test]
fn print_function() {
    check(
        r#"
        from __future__ import print_function
        def f(a):
            print(a, 1)
            print('x', end='')
        "#,
        expect![""],
    );
}
