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
        expect![[r#"
            graph f
            block0(a_0):
                v1 = simple_call(#main.g, a_0, 1) @3
                goto return(v1)
            return(v2)
            except(etype_3, evalue_4)
        "#]],
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
        expect![[r#"
            graph f
            block0(a_0):
                v1 = call_args(#main.g, shape(1, b=, z=), a_0, 2, 1) @4
                goto return(v1)
            return(v2)
            except(etype_3, evalue_4)
        "#]],
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
        expect![[r#"
            graph f
            block0(a_0, args_1):
                v2 = call_args(#main.g, shape(1, *), a_0, args_1) @3
                goto return(v2)
            return(v3)
            except(etype_4, evalue_5)
        "#]],
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
        expect![[r#"
            graph f
            block0(a_0):
                v1 = simple_call(#main.g, a_0, 1, 2) @3
                goto return(v1)
            return(v2)
            except(etype_3, evalue_4)
        "#]],
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
        expect![[r#"
            graph f
            block0(a_0, t_1):
                v2 = call_args(#main.g, shape(1, y=, *), 1, a_0, t_1) @4
                goto return(v2)
            return(v3)
            except(etype_4, evalue_5)
        "#]],
    );
}

#[test]
fn methods() {
    check(
        r#"
        def f(a):
            a.x.append(a.m(1))
        "#,
        expect![[r#"
            graph f
            block0(a_0):
                v1 = getattr(a_0, 'x') @1
                v2 = getattr(v1, 'append') @2
                v3 = getattr(a_0, 'm') @4
                v4 = simple_call(v3, 1) @6
                v5 = simple_call(v2, v4) @7
                goto return(None)
            return(v6)
            except(etype_7, evalue_8)
        "#]],
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
        expect![[r#"
            graph f
            block0(a_0, b_1):
                v2 = len(a_0) @3
                v3 = isinstance(a_0, #__builtin__.list) @7
                v4 = ord(b_1) @10
                v5 = hash(b_1) @13
                v6 = abs(b_1) @16
                v7 = simple_call(#main.g, v2, v3, v4, v5, v6) @17
                v8 = str(a_0) @22
                v9 = repr(a_0) @25
                v10 = hex(b_1) @28
                v11 = oct(b_1) @31
                v12 = pow(a_0, b_1) @35
                v13 = simple_call(#main.g, v8, v9, v10, v11, v12) @36
                v14 = type(a_0) @41
                v15 = iter(a_0) @44
                v16 = id(a_0) @47
                v17 = divmod(a_0, b_1) @51
                v18 = cmp(a_0, b_1) @55
                v19 = simple_call(#main.g, v14, v15, v16, v17, v18) @56
                v20 = getattr(a_0, 'x') @62
                v21 = issubtype(a_0, b_1) @66
                v22 = bool(a_0) @69
                v23 = simple_call(#__builtin__.getattr, a_0, 'y', 1) @74
                v24 = simple_call(#main.g, v20, v21, v22, v23) @75
                v25 = setattr(a_0, 'z', b_1) @81
                v26 = simple_call(#__builtin__.chr, b_1) @86
                v27 = simple_call(#__builtin__.int, b_1) @89
                v28 = simple_call(#__builtin__.float, b_1) @92
                v29 = simple_call(#__builtin__.range, b_1) @95
                v30 = simple_call(#__builtin__.max, a_0, b_1) @99
                v31 = simple_call(#main.g, v26, v27, v28, v29, v30) @100
                goto return(None)
            return(v32)
            except(etype_33, evalue_34)
        "#]],
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
        expect![[r#"
            graph f
            block0(a_0, b_1):
                v2 = add(a_0, b_1) @4
                v3 = is_(a_0, b_1) @9
                v4 = neg(a_0) @13
                v5 = newtuple(v2, v3, v4) @14
                goto return(v5)
            return(v6)
            except(etype_7, evalue_8)
        "#]],
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
        expect![[r#"
            graph f
            block0(x_0):
                v1 = simple_call(#main.C, x_0) @2
                v2 = getattr(v1, 'x') @3
                goto return(v2)
            return(v3)
            except(etype_4, evalue_5)
        "#]],
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
        expect![[r#"
            graph f
            block0(x_0):
                v1 = simple_call(#main.C.m, x_0) @3
                v2 = simple_call(#main.C.s, x_0) @8
                goto return(6)
            return(v3)
            except(etype_4, evalue_5)
        "#]],
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
        expect![[r#"
            graph f
            block0(x_0):
                v1 = simple_call(#main.f.<locals>.h, x_0) @7
                v2 = simple_call(#main.f.<locals>.<lambda>) @9
                v3 = add(v1, v2) @10
                goto return(v3)
            return(v4)
            except(etype_5, evalue_6)
        "#]],
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
        expect![[r#"
            graph adder
            block0(x_0):
                v1 = add(x_0, 5) @2
                goto return(v1)
            return(v2)
            except(etype_3, evalue_4)
        "#]],
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
        expect![[r#"
            graph f
            block0(x_0):
                v1 = simple_call(#__builtin__.hasattr, x_0, 'b') @8
                goto return(v1)
            return(v2)
            except(etype_3, evalue_4)
        "#]],
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
        expect![[r#"
            graph f
            block0(x_0):
                v1 = simple_call(#pkg.mod.g, x_0) @10
                v2 = simple_call(#pkg.mod.h, x_0) @13
                v3 = add(v1, v2) @14
                goto return(v3)
            return(v4)
            except(etype_5, evalue_6)
        "#]],
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
        expect![[r#"
            graph f
            block0(x_0):
                goto return(1)
            return(v1)
            except(etype_2, evalue_3)
        "#]],
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
        expect![[r#"
            graph f
            block0(a_0):
                v1 = str(a_0) @3
                v2 = simple_call(#rpython.rlib.rprint.rpython_print_item, v1) @3
                v3 = simple_call(#rpython.rlib.rprint.rpython_print_item, '1') @3
                v4 = simple_call(#rpython.rlib.rprint.rpython_print_newline) @3
                v5 = simple_call(#rpython.rlib.rprint.rpython_print_item, 'x') @8
                v6 = simple_call(#rpython.rlib.rprint.rpython_print_end, '') @8
                goto return(None)
            return(v7)
            except(etype_8, evalue_9)
        "#]],
    );
}

#[test]
fn bin_is_a_function() {
    check(
        r#"
        def f(x):
            return bin(x)
        "#,
        expect![[r#"
            graph f
            block0(x_0):
                v1 = simple_call(#rpython.flowspace.builtins.rpython_bin, x_0) @2
                goto return(v1)
            return(v2)
            except(etype_3, evalue_4)
        "#]],
    );
}
