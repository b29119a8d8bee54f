//! Branches, loops, comprehensions, unpacking, print.

use expect_test::expect;

use super::check;

#[test]
fn straight_line() {
    check(
        r#"
        def f(a, b):
            return a + b * 2
        "#,
        expect![[r#"
            graph f
            block0(a_0, b_1):
                v2 = mul(b_1, 2) @3
                v3 = add(a_0, v2) @4
                goto return(v3)
            return(v4)
            except(etype_5, evalue_6)
        "#]],
    );
}

#[test]
fn constants_that_differ_become_a_variable() {
    check(
        r#"
        def f(a):
            if a:
                x = 1
                y = 7
            else:
                x = 2
                y = 7
            return g(x, y)
        def g(x, y):
            pass
        "#,
        expect![[r#"
            graph f
            block0(a_0):
                v1 = bool(a_0) @1
                switch v1
                    False: block1(2)
                    True: block1(1)
            block1(x_2):
                v3 = simple_call(#main.g, x_2, 7) @14
                goto return(v3)
            return(v4)
            except(etype_5, evalue_6)
        "#]],
    );
}

#[test]
fn a_local_set_on_one_way_is_unset() {
    check(
        r#"
        def f(a):
            if a:
                x = 1
            return 0
        "#,
        expect![[r#"
            graph f
            block0(a_0):
                v1 = bool(a_0) @1
                switch v1
                    False: return(0)
                    True: return(0)
            return(v2)
            except(etype_3, evalue_4)
        "#]],
    );
}

#[test]
fn while_loop() {
    check(
        r#"
        def f(n):
            s = 0
            while n > 0:
                s += n
                n -= 1
            else:
                s = -s
            return s
        "#,
        expect![[r#"
            graph f
            block0(n_0):
                goto block1(n_0, 0)
            block1(n_1, s_2):
                v3 = gt(n_1, 0) @4
                v4 = bool(v3) @5
                switch v4
                    False: block2(s_2)
                    True: block3(s_2, n_1)
            block2(s_5):
                s_6 = neg(s_5) @16
                goto return(s_6)
            block3(s_7, n_8):
                s_9 = inplace_add(s_7, n_8) @8
                n_10 = inplace_sub(n_8, 1) @12
                goto block1(n_10, s_9)
            return(v11)
            except(etype_12, evalue_13)
        "#]],
    );
}

#[test]
fn for_loop() {
    check(
        r#"
        def f(l):
            for x in l:
                if x < 0:
                    break
                if x == 5:
                    continue
                g(x)
            else:
                return 1
            return 2
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
                    #exceptions.StopIteration(last_exception_4, last_exc_value_5): return(1)
            block2(v6, x_7):
                v8 = lt(x_7, 0) @6
                v9 = bool(v8) @7
                switch v9
                    False: block3(v6, x_7)
                    True: return(2)
            block3(v10, x_11):
                v12 = eq(x_11, 5) @12
                v13 = bool(v12) @13
                switch v13
                    False: block4(v10, x_11)
                    True: block1(v10)
            block4(v14, x_15):
                v16 = simple_call(#main.g, x_15) @17
                goto block1(v14)
            return(v17)
            except(etype_18, evalue_19)
        "#]],
    );
}

#[test]
fn and_or_not() {
    check(
        r#"
        def f(a, b):
            return a and b or not a
        "#,
        expect![[r#"
            graph f
            block0(a_0, b_1):
                v2 = bool(a_0) @1
                switch v2
                    False: return(True)
                    True: block1(b_1, a_0)
            block1(b_3, a_4):
                v5 = bool(b_3) @3
                switch v5
                    False: block2(a_4)
                    True: return(b_3)
            block2(a_6):
                v7 = bool(a_6) @5
                switch v7
                    False: return(True)
                    True: return(False)
            return(v8)
            except(etype_9, evalue_10)
        "#]],
    );
}

#[test]
fn repeated_tests_are_made_once() {
    check(
        r#"
        def f(a, b):
            if not (a or b):
                return 1
            return 2
        "#,
        expect![[r#"
            graph f
            block0(a_0, b_1):
                v2 = bool(a_0) @1
                switch v2
                    False: block1(b_1)
                    True: return(2)
            block1(b_3):
                v4 = bool(b_3) @3
                switch v4
                    False: return(1)
                    True: return(2)
            return(v5)
            except(etype_6, evalue_7)
        "#]],
    );
}

#[test]
fn chained_comparison() {
    check(
        r#"
        def f(a, b, c):
            return a < b <= c
        "#,
        expect![[r#"
            graph f
            block0(a_0, b_1, c_2):
                v3 = lt(a_0, b_1) @4
                v4 = bool(v3) @5
                switch v4
                    False: return(v3)
                    True: block1(b_1, c_2)
            block1(b_5, c_6):
                v7 = le(b_5, c_6) @7
                goto return(v7)
            return(v8)
            except(etype_9, evalue_10)
        "#]],
    );
}

#[test]
fn in_and_is() {
    check(
        r#"
        def f(a, b):
            if a in b:
                return a is None
            return a not in b or a is not b
        "#,
        expect![[r#"
            graph f
            block0(a_0, b_1):
                v2 = contains(b_1, a_0) @3
                v3 = bool(v2) @4
                switch v3
                    False: block1(b_1, a_0)
                    True: block3(a_0)
            block1(b_4, a_5):
                v6 = contains(b_4, a_5) @12
                v7 = bool(v6) @13
                switch v7
                    False: return(True)
                    True: block2(a_5, b_4)
            block2(a_8, b_9):
                v10 = is_(a_8, b_9) @17
                v11 = bool(v10) @18
                switch v11
                    False: return(True)
                    True: return(False)
            block3(a_12):
                v13 = is_(a_12, None) @7
                goto return(v13)
            return(v14)
            except(etype_15, evalue_16)
        "#]],
    );
}

#[test]
fn conditional_expression() {
    check(
        r#"
        def f(a):
            return 1 if a else 2
        "#,
        expect![[r#"
            graph f
            block0(a_0):
                v1 = bool(a_0) @1
                switch v1
                    False: return(2)
                    True: return(1)
            return(v2)
            except(etype_3, evalue_4)
        "#]],
    );
}

#[test]
fn list_comprehension() {
    check(
        r#"
        def f(l):
            return [x + 1 for x in l if x]
        "#,
        expect![[r#"
            graph f
            block0(l_0):
                v1 = newlist()
                v2 = iter(l_0) @2
                goto block1(v2, v1)
            block1(v3, v4):
                x_5 = next(v3) @3
                canraise
                    ok: block2(v3, v4, x_5)
                    #exceptions.StopIteration(last_exception_6, last_exc_value_7): block4(v4)
            block2(v8, v9, x_10):
                v11 = bool(x_10) @6
                switch v11
                    False: block1(v8, v9)
                    True: block3(v8, v9, x_10)
            block3(v12, v13, x_14):
                v15 = add(x_14, 1) @9
                v16 = getattr(v13, 'append') @10
                v17 = simple_call(v16, v15) @10
                goto block1(v12, v13)
            block4(v18):
                v19 = hint(v18, 'fence') @3
                goto return(v19)
            return(v20)
            except(etype_21, evalue_22)
        "#]],
    );
}

#[test]
fn dict_display() {
    check(
        r#"
        def f(a):
            return {1: a, 'b': 2}
        "#,
        expect![[r#"
            graph f
            block0(a_0):
                v1 = newdict() @4
                v2 = setitem(v1, 1, a_0) @4
                v3 = setitem(v1, 'b', 2) @4
                goto return(v1)
            return(v4)
            except(etype_5, evalue_6)
        "#]],
    );
}

#[test]
fn unpacking() {
    check(
        r#"
        def f(t):
            a, (b, c) = t
            return a + b + c
        "#,
        expect![[r#"
            graph f
            block0(t_0):
                v1 = len(t_0) @1
                v2 = eq(v1, 2) @1
                v3 = bool(v2) @1
                switch v3
                    False: block1()
                    True: block2(t_0)
            block1():
                v4 = simple_call(#exceptions.ValueError) @1
                v5 = type(v4) @1
                goto except(v5, v4)
            block2(t_6):
                a_7 = getitem(t_6, 0) @1
                v8 = getitem(t_6, 1) @1
                v9 = len(v8) @3
                v10 = eq(v9, 2) @3
                v11 = bool(v10) @3
                switch v11
                    False: block3()
                    True: block4(v8, a_7)
            block3():
                v12 = simple_call(#exceptions.ValueError) @3
                v13 = type(v12) @3
                goto except(v13, v12)
            block4(v14, a_15):
                b_16 = getitem(v14, 0) @3
                c_17 = getitem(v14, 1) @3
                v18 = add(a_15, b_16) @8
                v19 = add(v18, c_17) @10
                goto return(v19)
            return(v20)
            except(etype_21, evalue_22)
        "#]],
    );
}

#[test]
fn unpacking_a_tuple_display() {
    check(
        r#"
        def f(a, b):
            a, b = b, a
            return (a, b)
        "#,
        expect![[r#"
            graph f
            block0(a_0, b_1):
                v2 = newtuple(b_1, a_0) @7
                goto return(v2)
            return(v3)
            except(etype_4, evalue_5)
        "#]],
    );
}

#[test]
fn items_and_slices() {
    check(
        r#"
        def f(l, i):
            l[i] = l[i + 1]
            del l[0]
            l[1:] = l[:i]
            del l[i:2]
            return l[:]
        "#,
        expect![[r#"
            graph f
            block0(l_0, i_1):
                v2 = add(i_1, 1) @3
                v3 = getitem(l_0, v2) @4
                v4 = setitem(l_0, i_1, v3) @7
                v5 = delitem(l_0, 0) @10
                v6 = getslice(l_0, None, i_1) @14
                v7 = setslice(l_0, 1, None, v6) @18
                v8 = delslice(l_0, i_1, 2) @22
                v9 = getslice(l_0, None, None) @26
                goto return(v9)
            return(v10)
            except(etype_11, evalue_12)
        "#]],
    );
}

#[test]
fn attributes() {
    check(
        r#"
        def f(a):
            a.x = a.y.z
            a.n += 1
        "#,
        expect![[r#"
            graph f
            block0(a_0):
                v1 = getattr(a_0, 'y') @1
                v2 = getattr(v1, 'z') @2
                v3 = setattr(a_0, 'x', v2) @4
                v4 = getattr(a_0, 'n') @7
                v5 = inplace_add(v4, 1) @9
                v6 = setattr(a_0, 'n', v5) @11
                goto return(None)
            return(v7)
            except(etype_8, evalue_9)
        "#]],
    );
}

#[test]
fn print_statement() {
    check(
        r#"
        def f(a):
            print 'a is', a
            print a,
            print
        "#,
        expect![[r#"
            graph f
            block0(a_0):
                v1 = simple_call(#rpython.rlib.rprint.rpython_print_item, 'a is') @1
                v2 = str(a_0) @3
                v3 = simple_call(#rpython.rlib.rprint.rpython_print_item, v2) @3
                v4 = simple_call(#rpython.rlib.rprint.rpython_print_newline) @4
                v5 = str(a_0) @6
                v6 = simple_call(#rpython.rlib.rprint.rpython_print_item, v5) @6
                v7 = simple_call(#rpython.rlib.rprint.rpython_print_newline) @7
                goto return(None)
            return(v8)
            except(etype_9, evalue_10)
        "#]],
    );
}

#[test]
fn global_statement_reads() {
    check(
        r#"
        x = [1]
        def f():
            global x
            x.append(1)
            return x
        "#,
        expect![[r#"
            graph f
            block0():
                v0 = getattr(#list@fa46, 'append') @1
                v1 = simple_call(v0, 1) @3
                goto return(#list@fa46)
            return(v2)
            except(etype_3, evalue_4)
        "#]],
    );
}

#[test]
fn endless_loop() {
    check(
        r#"
        def f():
            while True:
                pass
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

#[test]
fn tuple_parameter() {
    check(
        r#"
        def f(a, (b, c)):
            return a + c
        "#,
        expect![[r#"
            graph f
            block0(a_0, .1_1):
                v2 = len(.1_1) @1
                v3 = eq(v2, 2) @1
                v4 = bool(v3) @1
                switch v4
                    False: block1()
                    True: block2(.1_1, a_0)
            block1():
                v5 = simple_call(#exceptions.ValueError) @1
                v6 = type(v5) @1
                goto except(v6, v5)
            block2(.1_7, a_8):
                c_9 = getitem(.1_7, 1) @1
                v10 = add(a_8, c_9) @6
                goto return(v10)
            return(v11)
            except(etype_12, evalue_13)
        "#]],
    );
}

#[test]
fn delete_local() {
    check(
        r#"
        def f(a):
            b = a
            del b
            return a
        "#,
        expect![[r#"
            graph f
            block0(a_0):
                goto return(a_0)
            return(v1)
            except(etype_2, evalue_3)
        "#]],
    );
}

#[test]
fn backquotes() {
    check(
        r#"
        def f(a):
            return `a`
        "#,
        expect![[r#"
            graph f
            block0(a_0):
                v1 = repr(a_0) @1
                goto return(v1)
            return(v2)
            except(etype_3, evalue_4)
        "#]],
    );
}

#[test]
fn a_first_round_that_folds() {
    check(
        r#"
        def f(x):
            result = []
            i = 0
            while 1:
                i = i + 1
                if i & 1:
                    result.append(i)
                    continue
                if i >= x:
                    break
            return result
        "#,
        expect![[r#"
            graph f
            block0(x_0):
                result_1 = newlist()
                goto block1(1, result_1, x_0)
            block1(i_2, result_3, x_4):
                v5 = getattr(result_3, 'append') @13
                v6 = simple_call(v5, i_2) @15
                goto block2(i_2, result_3, x_4)
            block2(i_7, result_8, x_9):
                i_10 = add(i_7, 1) @6
                v11 = and_(i_10, 1) @10
                v12 = bool(v11) @11
                switch v12
                    False: block3(result_8, i_10, x_9)
                    True: block1(i_10, result_8, x_9)
            block3(result_13, i_14, x_15):
                v16 = ge(i_14, x_15) @20
                v17 = bool(v16) @21
                switch v17
                    False: block2(i_14, result_13, x_15)
                    True: return(result_13)
            return(v18)
            except(etype_19, evalue_20)
        "#]],
    );
}
