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
        expect![[r#"
            graph f
            block0(l_0, i_1):
                v2 = getitem(l_0, i_1) @2
                v3 = floordiv(v2, i_1) @4
                goto return(v3)
            return(v4)
            except(etype_5, evalue_6)
        "#]],
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
        expect![[r#"
            graph f
            block0(l_0, i_1):
                v2 = getitem(l_0, i_1) @2
                canraise
                    ok: return(v2)
                    #exceptions.IndexError(last_exception_3, last_exc_value_4): return(-1)
                    #exceptions.Exception(last_exception_5, last_exc_value_6): except(last_exception_5, last_exc_value_6)
            return(v7)
            except(etype_8, evalue_9)
        "#]],
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
        expect![[r#"
            graph f
            block0(l_0, i_1):
                v2 = getitem(l_0, i_1) @3
                canraise
                    ok: block1(v2)
                    #exceptions.IndexError(last_exception_3, last_exc_value_4): return(-1)
                    #exceptions.KeyError(last_exception_5, last_exc_value_6): return(-1)
                    #exceptions.ValueError(last_exception_7, last_exc_value_8): return(last_exc_value_8)
                    #exceptions.Exception(last_exception_9, last_exc_value_10): except(last_exception_9, last_exc_value_10)
            block1(v11):
                v12 = simple_call(#main.g, v11) @4
                canraise
                    ok: return(v12)
                    #exceptions.IndexError(last_exception_13, last_exc_value_14): return(-1)
                    #exceptions.KeyError(last_exception_15, last_exc_value_16): return(-1)
                    #exceptions.ValueError(last_exception_17, last_exc_value_18): return(last_exc_value_18)
                    #exceptions.Exception(last_exception_19, last_exc_value_20): except(last_exception_19, last_exc_value_20)
            return(v21)
            except(etype_22, evalue_23)
        "#]],
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
        expect![[r#"
            graph f
            block0(a_0, b_1):
                v2 = floordiv(a_0, b_1) @2
                goto return(v2)
            return(v3)
            except(etype_4, evalue_5)
        "#]],
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
        expect![[r#"
            graph f
            block0(l_0, i_1):
                v2 = getitem(l_0, i_1) @2
                canraise
                    ok: return(v2)
                    #exceptions.LookupError(last_exception_3, last_exc_value_4): return(-1)
                    #exceptions.Exception(last_exception_5, last_exc_value_6): except(last_exception_5, last_exc_value_6)
            return(v7)
            except(etype_8, evalue_9)
        "#]],
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
        expect![[r#"
            graph f
            block0(l_0, i_1):
                v2 = getitem(l_0, i_1) @2
                canraise
                    ok: return(2)
                    #exceptions.Exception(last_exception_3, last_exc_value_4): block1()
            block1():
                v5 = simple_call(#main.g) @8
                goto return(1)
            return(v6)
            except(etype_7, evalue_8)
        "#]],
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
        expect![[r#"
            graph f
            block0(l_0, i_1):
                v2 = getitem(l_0, i_1) @2
                canraise
                    ok: return(None)
                    #exceptions.IndexError(last_exception_3, last_exc_value_4): except(#exceptions.IndexError, last_exc_value_4)
                    #exceptions.KeyError(last_exception_5, last_exc_value_6): except(#exceptions.KeyError, last_exc_value_6)
                    #exceptions.Exception(last_exception_7, last_exc_value_8): except(last_exception_7, last_exc_value_8)
            return(v9)
            except(etype_10, evalue_11)
        "#]],
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
        expect![[r#"
            graph f
            block0(d_0, k_1):
                v_2 = getitem(d_0, k_1) @2
                canraise
                    ok: block1(v_2)
                    #exceptions.KeyError(last_exception_3, last_exc_value_4): return(0)
                    #exceptions.Exception(last_exception_5, last_exc_value_6): except(last_exception_5, last_exc_value_6)
            block1(v_7):
                v8 = simple_call(#main.g, v_7) @6
                goto return(v8)
            return(v9)
            except(etype_10, evalue_11)
        "#]],
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
        expect![[r#"
            graph f
            block0(l_0):
                v1 = simple_call(#main.g, l_0) @2
                canraise
                    ok: block1(l_0)
                    #exceptions.Exception(last_exception_2, last_exc_value_3): block2(last_exc_value_3, last_exception_2, l_0)
            block1(l_4):
                v5 = getattr(l_4, 'close') @5
                v6 = simple_call(v5) @6
                goto return(5)
            block2(v7, v8, l_9):
                v10 = getattr(l_9, 'close') @10
                v11 = simple_call(v10) @11
                goto except(v8, v7)
            return(v12)
            except(etype_13, evalue_14)
        "#]],
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
        expect![[r#"
            graph f
            block0(l_0):
                v1 = iter(l_0) @1
                goto block1(v1, l_0)
            block1(v2, l_3):
                x_4 = next(v2) @2
                canraise
                    ok: block2(v2, x_4, l_3)
                    #exceptions.StopIteration(last_exception_5, last_exc_value_6): return(None)
            block2(v7, x_8, l_9):
                v10 = bool(x_8) @5
                switch v10
                    False: block3(v7, l_9)
                    True: block4(l_9, x_8)
            block3(v11, l_12):
                v13 = simple_call(#main.g, l_12) @16
                goto block1(v11, l_12)
            block4(l_14, x_15):
                v16 = simple_call(#main.g, l_14) @9
                goto return(x_15)
            return(v17)
            except(etype_18, evalue_19)
        "#]],
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
        expect![[r#"
            graph f
            block0(m_0):
                .exit0_1 = getattr(m_0, '__exit__') @2
                v2 = getattr(m_0, '__enter__') @4
                x_3 = simple_call(v2) @5
                v4 = simple_call(#main.g, x_3) @9
                canraise
                    ok: block1(.exit0_1)
                    #exceptions.Exception(last_exception_5, last_exc_value_6): block2(last_exc_value_6, last_exception_5, .exit0_1)
            block1(.exit0_7):
                v8 = simple_call(.exit0_7, None, None, None) @15
                goto return(1)
            block2(v9, v10, .exit0_11):
                v12 = simple_call(.exit0_11, v9, v9, None) @23
                goto except(v10, v9)
            return(v13)
            except(etype_14, evalue_15)
        "#]],
    );
}

#[test]
fn raise_class() {
    check(
        r#"
        def f():
            raise ValueError
        "#,
        expect![[r#"
            graph f
            block0():
                v0 = simple_call(#exceptions.ValueError) @1
                v1 = type(v0) @1
                goto except(v1, v0)
            return(v2)
            except(etype_3, evalue_4)
        "#]],
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
        expect![[r#"
            graph f
            block0(x_0):
                v1 = simple_call(#main.E, x_0) @2
                v2 = isinstance(v1, #__builtin__.type) @3
                switch v2
                    False: block1(v1)
                    True: block2(v1)
            block1(v3):
                v4 = type(v3) @3
                goto except(v4, v3)
            block2(v5):
                v6 = simple_call(v5) @3
                v7 = type(v6) @3
                goto except(v7, v6)
            return(v8)
            except(etype_9, evalue_10)
        "#]],
    );
}

#[test]
fn raise_anything() {
    check(
        r#"
        def f(x):
            raise x
        "#,
        expect![[r#"
            graph f
            block0(x_0):
                v1 = isinstance(x_0, #__builtin__.type) @1
                switch v1
                    False: block1(x_0)
                    True: block2(x_0)
            block1(x_2):
                v3 = type(x_2) @1
                goto except(v3, x_2)
            block2(x_4):
                v5 = simple_call(x_4) @1
                v6 = type(v5) @1
                goto except(v6, v5)
            return(v7)
            except(etype_8, evalue_9)
        "#]],
    );
}

#[test]
fn raise_class_and_value() {
    check(
        r#"
        def f(x):
            raise ValueError, x
        "#,
        expect![[r#"
            graph f
            block0(x_0):
                v1 = is_(x_0, None) @2
                switch v1
                    False: block1(x_0)
                    True: block4()
            block1(x_2):
                v3 = isinstance(x_2, #exceptions.ValueError) @2
                switch v3
                    False: block2(x_2)
                    True: block3(x_2)
            block2(x_4):
                v5 = simple_call(#exceptions.ValueError, x_4) @2
                v6 = type(v5) @2
                goto except(v6, v5)
            block3(x_7):
                v8 = type(x_7) @2
                goto except(v8, x_7)
            block4():
                v9 = simple_call(#exceptions.ValueError) @2
                v10 = type(v9) @2
                goto except(v10, v9)
            return(v11)
            except(etype_12, evalue_13)
        "#]],
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
        expect![[r#"
            graph f
            block0(x_0):
                v1 = simple_call(#rpython.rlib.debug.ll_assert_not_none, #main.E@6dba) @1
                v2 = type(v1) @1
                goto except(v2, v1)
            return(v3)
            except(etype_4, evalue_5)
        "#]],
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
        expect![[r#"
            graph f
            block0(x_0):
                v1 = bool(x_0) @1
                switch v1
                    False: block1(x_0)
                    True: block5()
            block1(x_2):
                v3 = simple_call(#exceptions.ValueError, x_2) @6
                v4 = isinstance(v3, #__builtin__.type) @7
                switch v4
                    False: block2(v3)
                    True: block3(v3)
            block2(v5):
                v6 = type(v5) @7
                goto block6(v5, v6)
            block3(v7):
                v8 = simple_call(v7) @7
                canraise
                    ok: block4(v8)
                    #exceptions.KeyError(last_exception_9, last_exc_value_10): return(1)
                    #exceptions.Exception(last_exception_11, last_exc_value_12): except(last_exception_11, last_exc_value_12)
            block4(v13):
                v14 = type(v13) @7
                goto block6(v13, v14)
            block5():
                v15 = simple_call(#exceptions.KeyError) @3
                v16 = type(v15) @3
                goto block6(v15, v16)
            block6(v17, v18):
                v19 = issubtype(v18, #exceptions.KeyError) @10
                switch v19
                    False: except(v18, v17)
                    True: return(1)
            return(v20)
            except(etype_21, evalue_22)
        "#]],
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
        expect![[r#"
            graph f
            block0(x_0):
                v1 = gt(x_0, 0) @2
                v2 = bool(v1) @3
                switch v2
                    False: block1()
                    True: return(x_0)
            block1():
                v3 = simple_call(#exceptions.AssertionError, 'not positive') @6
                v4 = isinstance(v3, #__builtin__.type) @7
                switch v4
                    False: block2(v3)
                    True: block3(v3)
            block2(v5):
                v6 = type(v5) @7
                goto except(v6, v5)
            block3(v7):
                v8 = simple_call(v7) @7
                v9 = type(v8) @7
                goto except(v9, v8)
            return(v10)
            except(etype_11, evalue_12)
        "#]],
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
        expect![[r#"
            graph f
            block0(l_0):
                v1 = simple_call(#main.g, l_0) @2
                canraise
                    ok: return(v1)
                    #exceptions.IndexError(last_exception_2, last_exc_value_3): block1(l_0)
                    #exceptions.KeyError(last_exception_4, last_exc_value_5): return(2)
                    #exceptions.Exception(last_exception_6, last_exc_value_7): except(last_exception_6, last_exc_value_7)
            block1(l_8):
                v9 = getitem(l_8, 0) @12
                canraise
                    ok: return(v9)
                    #exceptions.KeyError(last_exception_10, last_exc_value_11): return(2)
                    #exceptions.Exception(last_exception_12, last_exc_value_13): except(last_exception_12, last_exc_value_13)
            return(v14)
            except(etype_15, evalue_16)
        "#]],
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
        expect![[r#"
            graph f
            block0(l_0):
                v1 = iter(l_0) @1
                goto block1(v1)
            block1(v2):
                x_3 = next(v2) @2
                canraise
                    ok: block2(v2, x_3)
                    #exceptions.StopIteration(last_exception_4, last_exc_value_5): return(0)
                    #exceptions.RuntimeError(last_exception_6, last_exc_value_7): return(1)
            block2(v8, x_9):
                v10 = simple_call(#main.g, x_9) @6
                canraise
                    ok: block1(v8)
                    #exceptions.RuntimeError(last_exception_11, last_exc_value_12): return(1)
                    #exceptions.Exception(last_exception_13, last_exc_value_14): except(last_exception_13, last_exc_value_14)
            return(v15)
            except(etype_16, evalue_17)
        "#]],
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
        expect![[r#"
            graph f
            block0(x_0):
                v1 = simple_call(#main.g, x_0) @2
                canraise
                    ok: return(None)
                    #main.A(last_exception_2, last_exc_value_3): return(1)
                    #exceptions.Exception(last_exception_4, last_exc_value_5): return(3)
            return(v6)
            except(etype_7, evalue_8)
        "#]],
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
        expect![[r#"
            graph f
            block0(a_0, b_1):
                v2 = add_ovf(a_0, b_1) @3
                goto return(v2)
            return(v3)
            except(etype_4, evalue_5)
        "#]],
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
        expect![[r#"
            graph f
            block0(a_0, b_1):
                v2 = floordiv_ovf(a_0, b_1) @3
                canraise
                    ok: return(v2)
                    #exceptions.OverflowError(last_exception_3, last_exc_value_4): return(0)
                    #exceptions.ZeroDivisionError(last_exception_5, last_exc_value_6): return(1)
                    #exceptions.Exception(last_exception_7, last_exc_value_8): except(last_exception_7, last_exc_value_8)
            return(v9)
            except(etype_10, evalue_11)
        "#]],
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
        expect![[r#"
            graph f
            block0(s_0):
                v1 = simple_call(#__builtin__.int, s_0) @2
                canraise
                    ok: block1(s_0, v1)
                    #exceptions.ValueError(last_exception_2, last_exc_value_3): return(0)
            block1(s_4, v5):
                v6 = len(s_4) @5
                v7 = add(v5, v6) @6
                goto return(v7)
            return(v8)
            except(etype_9, evalue_10)
        "#]],
    );
}
