//! What is computed while compiling.

use expect_test::expect;

use super::check;

#[test]
fn arithmetic() {
    check(
        r#"
        N = 10
        def f():
            x = 3 + 4 * N
            return (x // 5, x % 5, x << 2, -x, x - 1 < N, 7.5 / 2)
        "#,
        expect![""],
    );
}

#[test]
fn long_results_do_not_fold() {
    check(
        r#"
        import sys
        def f():
            return sys.maxint + 1
        "#,
        expect![""],
    );
}

#[test]
fn globals_and_modules() {
    check(
        r#"
        #- /main.py
        import other
        def f():
            if other.DEBUG:
                return other.g()
            return other.NAME
        #- /other.py
        DEBUG = False
        NAME = 'x' + 'y'
        def g():
            pass
        "#,
        expect![""],
    );
}

#[test]
fn we_are_translated() {
    check(
        r#"
        from rpython.rlib.objectmodel import we_are_translated
        def f(x):
            if we_are_translated():
                return x
            return nothing_of_that_name
        "#,
        expect![""],
    );
}

#[test]
fn constant_containers() {
    check(
        r#"
        L = [10, 20, 30]
        D = {'a': 1}
        T = (1, (2, 3))
        def f(i):
            return L[1] + D['a'] + T[1][0] + len(L) + L[i]
        "#,
        expect![""],
    );
}

#[test]
fn strings() {
    check(
        r#"
        def f():
            name = 'item%d' % 5
            return (name[0], name[-1], name[1:3], len(name), 'it' in name, name + '!', name == 'item5')
        "#,
        expect![""],
    );
}

#[test]
fn prebuilt_instances_are_read_at_run_time() {
    check(
        r#"
        class C(object):
            def __init__(self):
                self.x = 1
        c = C()
        def f():
            return c.x
        "#,
        expect![""],
    );
}

#[test]
fn frozen_instances_fold() {
    check(
        r#"
        class C(object):
            def __init__(self):
                self.x = 1
            def _freeze_(self):
                return True
            def m(self):
                pass
        c = C()
        def f():
            c.m()
            return c.x
        "#,
        expect![""],
    );
}

#[test]
fn unrolling_iterable() {
    check(
        r#"
        from rpython.rlib.unroll import unrolling_iterable
        NAMES = unrolling_iterable([('a', 1), ('b', 2)])
        def f(o, x):
            for name, n in NAMES:
                if n == x:
                    return getattr(o, name)
                setattr(o, name + '_', n)
            return 0
        "#,
        expect![""],
    );
}

#[test]
fn unrolling_with_break_and_else() {
    check(
        r#"
        from rpython.rlib.unroll import unrolling_iterable
        NUMBERS = unrolling_iterable(range(3))
        def f(x):
            for i in NUMBERS:
                if x == i:
                    break
            else:
                i = 17
            return i
        "#,
        expect![""],
    );
}

#[test]
fn class_tests() {
    check(
        r#"
        class A(object):
            pass
        class B(A):
            pass
        def f():
            return (issubclass(B, A), isinstance(3, int), type(3) is int, B is A, isinstance(None, A))
        "#,
        expect![""],
    );
}

#[test]
fn rewritten_directly() {
    check(
        r#"
        def g():
            pass
        def h():
            pass
        h._flowspace_rewrite_directly_as_ = g
        def f():
            return h()
        "#,
        expect![""],
    );
}

#[test]
fn r_uint_of_a_constant() {
    check(
        r#"
        from rpython.rlib.rarithmetic import r_uint
        def f():
            return r_uint(5)
        "#,
        expect![""],
    );
}

#[test]
fn a_loop_over_constants_runs() {
    check(
        r#"
        def f():
            s = 0
            for i in (1, 2, 3):
                s = s + i
            i = 0
            while i < 5:
                i = i + 1
            return i
        "#,
        expect![""],
    );
}
