use expect_test::{Expect, expect};

use taipan_graph::text::print_graph;
use taipan_lltype::text::LLNames;

use super::{Pipeline, run, text};
use crate::asserts::remove_asserts;

/// Checks the optimised graph of the last function, and what it computes.
fn check(source: &str, runs: &[(&[i64], &str)], expected: Expect) {
    let p = Pipeline::new(source);
    for (args, result) in runs {
        assert_eq!(p.run(args), *result);
    }
    let body: String = (text(&p.optimized).lines())
        .skip_while(|l| !l.starts_with("graph"))
        .map(|l| format!("{l}\n"))
        .collect();
    expected.assert_eq(&body);
}

#[test]
fn callees_that_raise_are_inlined_into_their_handlers() {
    check(
        "struct list = GcStruct { length: Signed, items: *GcArray of Signed }
         func ll_getitem = synth 'll_getitem' (): func(*GcStruct list, Signed) -> Signed
         graph ll_getitem
         block0(l: *GcStruct list, i: Signed):
            n: Signed = getfield(l, .length)
            c: Bool = int_lt(i, n)
            switch c
                False: except(&vtable #00000000000000e2 as *Struct object_vtable, &object #00000000000000e2 GcStruct object as *GcStruct object)
                True: block1(l, i)
         block1(l1: *GcStruct list, i1: Signed):
            a: *GcArray of Signed = getfield(l1, .items)
            v: Signed = getarrayitem(a, i1)
            goto return(v)
         END
         graph f
         block0(i: Signed):
            l: *GcStruct list = malloc(<type GcStruct list>, <gc>)
            a: *GcArray of Signed = malloc_varsize(<type GcArray of Signed>, <gc>, 3)
            u0: Void = setfield(l, .length, 3)
            u1: Void = setfield(l, .items, a)
            u2: Void = setarrayitem(a, 1, 10)
            v: Signed = direct_call(&ll_getitem, l, i)
            canraise
                ok: return(v)
                &vtable #00000000000000e1 as *Struct object_vtable(t0: *Struct object_vtable, v0: *GcStruct object): return(-1)
         END",
        &[(&[1], "10"), (&[0], "0"), (&[3], "-1")],
        expect![[r#"
            graph f
            block0(i_0: Signed):
                a_1: *GcArray of Signed = malloc_varsize(<type GcArray of Signed>, <gc>, 3)
                u2_2: Void = setarrayitem(a_1, 1, 10)
                c_3: Bool = int_lt(i_0, 3)
                switch c_3
                    False: return(-1)
                    True: block1(a_1, i_0)
            block1(a_4: *GcArray of Signed, i_5: Signed):
                v_6: Signed = getarrayitem(a_4, i_5)
                goto return(v_6)
            return(result_7: Signed)
            except(etype_8: *Struct object_vtable, evalue_9: *GcStruct object)
        "#]],
    );
}

#[test]
fn repeated_loads_and_conditions_go() {
    check(
        "struct S = GcStruct { x: Signed, y: Signed }
         graph f
         block0(n: Signed):
            p: *GcStruct S = malloc(<type GcStruct S>, <gc>)
            u0: Void = setfield(p, .x, n)
            a: Signed = getfield(p, .x)
            c: Bool = int_lt(a, 10)
            switch c
                False: return(a)
                True: block1(p, n)
         block1(q: *GcStruct S, m: Signed):
            b: Signed = getfield(q, .x)
            d: Bool = int_lt(b, 10)
            e: Bool = bool_not(d)
            switch e
                False: block2(q, m)
                True: return(-1)
         block2(r: *GcStruct S, k: Signed):
            h: Signed = int_add(k, 0)
            i: Signed = int_add(h, k)
            j: Signed = int_add(k, h)
            s: Signed = int_mul(i, j)
            goto return(s)
         END",
        &[(&[3], "36"), (&[12], "12")],
        expect![[r#"
            graph f
            block0(n_0: Signed):
                c_1: Bool = int_lt(n_0, 10)
                switch c_1
                    False: return(n_0)
                    True: block1(n_0)
            block1(n_2: Signed):
                i_3: Signed = int_add(n_2, n_2)
                s_4: Signed = int_mul(i_3, i_3)
                goto return(s_4)
            return(result_5: Signed)
            except(etype_6: *Struct object_vtable, evalue_7: *GcStruct object)
        "#]],
    );
}

#[test]
fn loads_of_what_every_way_knows_become_input_arguments() {
    check(
        "struct S = GcStruct { x: Bool, y: Signed }
         graph f
         block0(n: Signed):
            p: *GcStruct S = malloc(<type GcStruct S>, <gc>)
            c0: Bool = int_lt(n, 10)
            u0: Void = setfield(p, .x, c0)
            u1: Void = setfield(p, .y, n)
            goto block1(p, n)
         block1(q: *GcStruct S, m: Signed):
            a: Bool = getfield(q, .x)
            b: Bool = int_lt(m, 5)
            switch a
                False: block2(q, m)
                True: block5(q, a)
         block2(r: *GcStruct S, k: Signed):
            d: Bool = int_gt(k, 20)
            u2: Void = setfield(r, .x, d)
            goto block5(r, d)
         block5(s: *GcStruct S, z: Bool):
            e: Bool = getfield(s, .x)
            switch e
                False: return(1)
                True: block6(s)
         block6(t: *GcStruct S):
            h: Signed = getfield(t, .y)
            i: Bool = getfield(t, .x)
            j: Signed = cast_bool_to_int(i)
            o: Signed = int_add(h, j)
            goto return(o)
         END",
        &[(&[3], "4"), (&[12], "1"), (&[30], "31")],
        expect![[r#"
            graph f
            block0(n_0: Signed):
                c0_1: Bool = int_lt(n_0, 10)
                switch c0_1
                    False: block1(n_0)
                    True: block2(n_0)
            block1(n_2: Signed):
                d_3: Bool = int_gt(n_2, 20)
                switch d_3
                    False: return(1)
                    True: block2(n_2)
            block2(n_4: Signed):
                o_5: Signed = int_add(n_4, 1)
                goto return(o_5)
            return(result_6: Signed)
            except(etype_7: *Struct object_vtable, evalue_8: *GcStruct object)
        "#]],
    );
}

#[test]
fn a_loop_keeps_what_it_does_not_write() {
    check(
        "struct S = GcStruct { x: Signed, y: Signed }
         graph g
         block0(p: *GcStruct S, n: Signed):
            a: Signed = getfield(p, .x)
            b: Signed = getfield(p, .y)
            c: Signed = int_add(a, b)
            goto block1(p, n, c)
         block1(q: *GcStruct S, m: Signed, s: Signed):
            d: Bool = int_gt(m, 0)
            switch d
                False: return(s)
                True: block2(q, m, s)
         block2(r: *GcStruct S, k: Signed, t: Signed):
            e: Signed = getfield(r, .x)
            h: Signed = getfield(r, .y)
            i: Signed = int_add(e, h)
            j: Signed = int_add(t, i)
            u: Void = setfield(r, .y, j)
            o: Signed = int_sub(k, 1)
            goto block1(r, o, j)
         END",
        &[],
        expect![[r#"
            graph g
            block0(p_0: *GcStruct S, n_1: Signed):
                a_2: Signed = getfield(p_0, .x)
                b_3: Signed = getfield(p_0, .y)
                c_4: Signed = int_add(a_2, b_3)
                d_5: Bool = int_gt(n_1, 0)
                switch d_5
                    False: return(c_4)
                    True: block1(c_4, n_1, p_0, a_2)
            block1(s_6: Signed, m_7: Signed, p_8: *GcStruct S, a_9: Signed):
                h_10: Signed = getfield(p_8, .y)
                i_11: Signed = int_add(a_9, h_10)
                j_12: Signed = int_add(s_6, i_11)
                u_13: Void = setfield(p_8, .y, j_12)
                o_14: Signed = int_sub(m_7, 1)
                d_15: Bool = int_gt(o_14, 0)
                switch d_15
                    False: return(j_12)
                    True: block1(j_12, o_14, p_8, a_9)
            return(result_16: Signed)
            except(etype_17: *Struct object_vtable, evalue_18: *GcStruct object)
        "#]],
    );
}

#[test]
fn virtual_calls_of_small_functions_are_tested_for_and_inlined() {
    check(
        "struct vt = Struct vtable #00000000000000f1
         struct S = GcStruct { x: Signed }
         func A = user #00000000000000a1 '' 'A': func(*GcStruct S) -> Signed
         func B = user #00000000000000a2 '' 'B': func(*GcStruct S) -> Signed
         func C = user #00000000000000a3 '' 'C': func(*GcStruct S) -> Signed
         graph A
         block0(s: *GcStruct S):
            a: Signed = getfield(s, .x)
            goto return(a)
         END
         graph B
         block0(s: *GcStruct S):
            a: Signed = getfield(s, .x)
            b: Signed = int_add(a, 100)
            goto return(b)
         END
         graph C
         block0(s: *GcStruct S):
            a: Signed = getfield(s, .x)
            b: Bool = int_gt(a, 0)
            switch b
                False: return(7)
                True: block1(s, a)
         block1(t: *GcStruct S, c: Signed):
            d: Signed = int_sub(c, 1)
            u: Void = setfield(t, .x, d)
            e: Signed = direct_call(&C, t)
            goto return(e)
         END
         graph f
         block0(n: Signed):
            s: *GcStruct S = malloc(<type GcStruct S>, <gc>)
            u: Void = setfield(s, .x, n)
            c: Bool = int_lt(n, 10)
            d: Bool = int_lt(n, 20)
            switch c
                False: block2(s, d)
                True: block1(s, &A)
         block2(q: *GcStruct S, e: Bool):
            switch e
                False: block1(q, &C)
                True: block1(q, &B)
         block1(r: *GcStruct S, fn: *func(*GcStruct S) -> Signed):
            v: Signed = indirect_call(fn, r, {A, B, C})
            canraise
                ok: return(v)
                &vtable #00000000000000e1 as *Struct object_vtable(t0: *Struct object_vtable, v0: *GcStruct object): return(-1)
         END",
        &[(&[3], "3"), (&[12], "112"), (&[30], "7")],
        expect![[r#"
            graph f
            block0(n_0: Signed):
                s_1: *GcStruct S = malloc(<type GcStruct S>, <gc>)
                u_2: Void = setfield(s_1, .x, n_0)
                c_3: Bool = int_lt(n_0, 10)
                d_4: Bool = int_lt(n_0, 20)
                switch c_3
                    False: block1(d_4, s_1, n_0)
                    True: return(n_0)
            block1(d_5: Bool, s_6: *GcStruct S, n_7: Signed):
                switch d_5
                    False: block2(s_6)
                    True: block3(n_7)
            block2(s_8: *GcStruct S):
                v_9: Signed = direct_call(&C, s_8)
                canraise
                    ok: return(v_9)
                    &vtable #00000000000000e1 as *Struct object_vtable(t0_10: *Struct object_vtable, v11: *GcStruct object): return(-1)
            block3(n_12: Signed):
                b_13: Signed = int_add(n_12, 100)
                goto return(b_13)
            return(result_14: Signed)
            except(etype_15: *Struct object_vtable, evalue_16: *GcStruct object)
        "#]],
    );
}

#[test]
fn small_arrays_that_stay_inside_become_variables() {
    check(
        "graph f
         block0(n: Signed):
            a: *GcArray of Signed = malloc_varsize(<type GcArray of Signed>, <gc>, 2)
            u0: Void = setarrayitem(a, 1, n)
            c: Bool = int_gt(n, 0)
            switch c
                False: block1(a)
                True: block2(a)
         block1(b: *GcArray of Signed):
            u1: Void = setarrayitem(b, 0, 7)
            goto block2(b)
         block2(d: *GcArray of Signed):
            x: Signed = getarrayitem(d, 0)
            y: Signed = getarrayitem(d, 1)
            z: Signed = int_add(x, y)
            k: Signed = getarraysize(d)
            r: Signed = int_mul(z, k)
            goto return(r)
         END",
        &[(&[4], "8"), (&[-1], "12")],
        expect![[r#"
            graph f
            block0(n_0: Signed):
                c_1: Bool = int_gt(n_0, 0)
                switch c_1
                    False: block1(7, n_0)
                    True: block1(0, n_0)
            block1(v2: Signed, n_3: Signed):
                z_4: Signed = int_add(v2, n_3)
                r_5: Signed = int_mul(z_4, 2)
                goto return(r_5)
            return(result_6: Signed)
            except(etype_7: *Struct object_vtable, evalue_8: *GcStruct object)
        "#]],
    );
}

#[test]
fn raw_memory_may_be_written_under_another_type() {
    check(
        "graph f
         block0(n: Signed):
            a: *Array(nolength) of Signed = malloc_varsize(<type Array(nolength) of Signed>, <raw, zero>, 2)
            u0: Void = setarrayitem(a, 1, n)
            adr: Address = cast_ptr_to_adr(a)
            b: *Array(nolength) of UInt8 = cast_adr_to_ptr(adr)
            byte: UInt8 = cast_primitive(7)
            u1: Void = setarrayitem(b, 9, byte)
            x: Signed = getarrayitem(a, 1)
            u2: Void = free(a, <raw>)
            goto return(x)
         END",
        &[(&[1], "1793"), (&[65535], "2047")],
        expect![[r#"
            graph f
            block0(n_0: Signed):
                a_1: *Array(nolength) of Signed = malloc_varsize(<type Array(nolength) of Signed>, <raw, zero>, 2)
                u0_2: Void = setarrayitem(a_1, 1, n_0)
                adr_3: Address = cast_ptr_to_adr(a_1)
                b_4: *Array(nolength) of UInt8 = cast_adr_to_ptr(adr_3)
                u1_5: Void = setarrayitem(b_4, 9, 7u8)
                x_6: Signed = getarrayitem(a_1, 1)
                u2_7: Void = free(a_1, <raw>)
                goto return(x_6)
            return(result_8: Signed)
            except(etype_9: *Struct object_vtable, evalue_10: *GcStruct object)
        "#]],
    );
}

#[test]
fn flags_decide_what_of_a_callee_is_inlined() {
    // The way that the flag excludes is far too large to be inlined.
    let steps: String = (0..60)
        .map(|i| format!("            s{}: Signed = int_mul(s{i}, i1)\n", i + 1))
        .collect();
    check(
        &format!(
            "func pick = synth 'pick' (): func(Bool, Signed) -> Signed
         graph pick
         block0(flag: Bool, i: Signed):
            switch flag
                False: block2(i)
                True: block1(i)
         block1(i1: Signed):
            s0: Signed = int_add(i1, 1)
{steps}            goto return(s60)
         block2(i2: Signed):
            r: Signed = int_add(i2, 2)
            goto return(r)
         END
         graph f
         block0(n: Signed):
            a: Signed = direct_call(&pick, False, n)
            b: Signed = direct_call(&pick, True, n)
            c: Signed = int_add(a, b)
            goto return(c)
         END"
        ),
        &[(&[0], "2"), (&[1], "5")],
        expect![[r#"
            graph f
            block0(n_0: Signed):
                r_1: Signed = int_add(n_0, 2)
                b_2: Signed = direct_call(&pick, True, n_0)
                c_3: Signed = int_add(r_1, b_2)
                goto return(c_3)
            return(result_4: Signed)
            except(etype_5: *Struct object_vtable, evalue_6: *GcStruct object)
        "#]],
    );
}

#[test]
fn objects_that_stay_inside_become_variables() {
    check(
        "struct S = GcStruct { x: Signed, y: Signed }
         graph f
         block0(n: Signed):
            p: *GcStruct S = malloc(<type GcStruct S>, <gc>)
            u0: Void = setfield(p, .x, n)
            goto block1(p, n)
         block1(q: *GcStruct S, i: Signed):
            c: Bool = int_gt(i, 0)
            switch c
                False: block3(q)
                True: block2(q, i)
         block2(r: *GcStruct S, j: Signed):
            y: Signed = getfield(r, .y)
            z: Signed = int_add(y, j)
            u1: Void = setfield(r, .y, z)
            k: Signed = int_sub(j, 1)
            goto block1(r, k)
         block3(s: *GcStruct S):
            a: Signed = getfield(s, .x)
            b: Signed = getfield(s, .y)
            d: Signed = int_mul(a, b)
            goto return(d)
         END",
        &[(&[4], "40"), (&[-1], "0")],
        expect![[r#"
            graph f
            block0(n_0: Signed):
                c_1: Bool = int_gt(n_0, 0)
                switch c_1
                    False: block2(0, n_0)
                    True: block1(0, n_0, n_0)
            block1(v2: Signed, i_3: Signed, n_4: Signed):
                z_5: Signed = int_add(v2, i_3)
                k_6: Signed = int_sub(i_3, 1)
                c_7: Bool = int_gt(k_6, 0)
                switch c_7
                    False: block2(z_5, n_4)
                    True: block1(z_5, k_6, n_4)
            block2(v8: Signed, n_9: Signed):
                d_10: Signed = int_mul(n_9, v8)
                goto return(d_10)
            return(result_11: Signed)
            except(etype_12: *Struct object_vtable, evalue_13: *GcStruct object)
        "#]],
    );
}

#[test]
fn loops_are_rotated_and_invariants_hoisted() {
    check(
        "struct list = GcStruct { length: Signed, items: *GcArray of Signed }
         graph f
         block0(l: *GcStruct list): goto block1(l, 0, 0)
         block1(l1: *GcStruct list, i: Signed, acc: Signed):
            n: Signed = getfield(l1, .length)
            c: Bool = int_lt(i, n)
            switch c
                False: return(acc)
                True: block2(l1, i, acc)
         block2(l2: *GcStruct list, i2: Signed, acc2: Signed):
            n2: Signed = getfield(l2, .length)
            ok: Bool = int_lt(i2, n2)
            switch ok
                False: except(&vtable #00000000000000e2 as *Struct object_vtable, &object #00000000000000e2 GcStruct object as *GcStruct object)
                True: block3(l2, i2, acc2)
         block3(l3: *GcStruct list, i3: Signed, acc3: Signed):
            items: *GcArray of Signed = getfield(l3, .items)
            v: Signed = getarrayitem(items, i3)
            sum: Signed = int_add(acc3, v)
            j: Signed = int_add(i3, 1)
            goto block1(l3, j, sum)
         END",
        &[],
        expect![[r#"
            graph f
            block0(l_0: *GcStruct list):
                n_1: Signed = getfield(l_0, .length)
                c_2: Bool = int_lt(0, n_1)
                switch c_2
                    False: return(0)
                    True: block1(l_0, n_1)
            block1(l_3: *GcStruct list, n_4: Signed):
                items_5: *GcArray of Signed = getfield(l_3, .items)
                goto block2(0, 0, items_5, n_4)
            block2(i_6: Signed, acc_7: Signed, items_8: *GcArray of Signed, n_9: Signed):
                v_10: Signed = getarrayitem(items_8, i_6)
                sum_11: Signed = int_add(acc_7, v_10)
                j_12: Signed = int_add(i_6, 1)
                c_13: Bool = int_lt(j_12, n_9)
                switch c_13
                    False: return(sum_11)
                    True: block2(j_12, sum_11, items_8, n_9)
            return(result_14: Signed)
            except(etype_15: *Struct object_vtable, evalue_16: *GcStruct object)
        "#]],
    );
}

#[test]
fn loads_stay_in_loops_that_call() {
    check(
        "func f = synth 'f' (): func(*GcArray of Signed, Signed) -> Signed
         graph f
         block0(a: *GcArray of Signed, n: Signed): goto block1(n, a)
         block1(i: Signed, a1: *GcArray of Signed):
            length: Signed = getarraysize(a1)
            u: Signed = direct_call(&f, a1, length)
            j: Signed = int_sub(i, u)
            c: Bool = int_gt(j, 0)
            switch c
                False: return(j)
                True: block1(j, a1)
         END",
        &[],
        expect![[r#"
            graph f
            block0(a_0: *GcArray of Signed, n_1: Signed):
                goto block1(n_1, a_0)
            block1(i_2: Signed, a_3: *GcArray of Signed):
                length_4: Signed = getarraysize(a_3)
                u_5: Signed = direct_call(&f, a_3, length_4)
                j_6: Signed = int_sub(i_2, u_5)
                c_7: Bool = int_gt(j_6, 0)
                switch c_7
                    False: return(j_6)
                    True: block1(j_6, a_3)
            return(result_8: Signed)
            except(etype_9: *Struct object_vtable, evalue_10: *GcStruct object)
        "#]],
    );
}

#[test]
fn chains_of_tests_become_switches() {
    check(
        "graph f
         block0(n: Signed):
            a: Bool = int_eq(n, 1)
            switch a
                False: block1(n)
                True: return(10)
         block1(m: Signed):
            b: Bool = int_ne(m, 2)
            switch b
                False: return(20)
                True: block2(m)
         block2(k: Signed):
            c: Bool = int_eq(3, k)
            switch c
                False: return(k)
                True: return(30)
         END",
        &[(&[1], "10"), (&[2], "20"), (&[3], "30"), (&[4], "4")],
        expect![[r#"
            graph f
            block0(n_0: Signed):
                switch n_0
                    1: return(10)
                    2: return(20)
                    3: return(30)
                    default: return(n_0)
            return(result_1: Signed)
            except(etype_2: *Struct object_vtable, evalue_3: *GcStruct object)
        "#]],
    );
}

#[test]
fn assertions_are_removed_on_demand() {
    let p = Pipeline::new(
        "graph f
         block0(n: Signed):
            c: Bool = int_gt(n, 0)
            switch c
                False: block1(n)
                True: return(n)
         block1(m: Signed):
            p: *GcStruct object = malloc(<type GcStruct object>, <gc>)
            u: Void = setfield(p, .typeptr, &vtable #00000000000000e9 as *Struct object_vtable)
            goto except(&vtable #00000000000000e9 as *Struct object_vtable, p)
         END",
    );
    let mut g = (*p.program.graphs["f"]).clone();
    remove_asserts(&mut g, &p.program);
    g.compact();
    expect![[r#"
        graph f
        block0(n_0: Signed):
            goto return(n_0)
        return(result_1: Signed)
        except(etype_2: *Struct object_vtable, evalue_3: *GcStruct object)
    "#]]
    .assert_eq(&print_graph(&g, LLNames::default()));
}

#[test]
fn divisions_by_constants_are_expanded() {
    let p = Pipeline::new(
        "func rint.ll_int_py_div_zer = helper 'rint.ll_int_py_div_zer' (Signed, Signed): func(Signed, Signed) -> Signed
         func rint.ll_int_py_mod = helper 'rint.ll_int_py_mod' (Signed, Signed): func(Signed, Signed) -> Signed
         graph f
         block0(n: Signed):
            a: Signed = direct_call(&rint.ll_int_py_mod, n, 8)
            b: Signed = direct_call(&rint.ll_int_py_mod, n, 7)
            c: Signed = direct_call(&rint.ll_int_py_div_zer, n, 10)
            ab: Signed = int_mul(a, 100)
            s: Signed = int_add(ab, b)
            cs: Signed = int_mul(c, 10000)
            t: Signed = int_add(cs, s)
            d: Signed = direct_call(&rint.ll_int_py_div_zer, n, 4)
            canraise
                ok: block1(t, d)
                &vtable #00000000000000e0 as *Struct object_vtable(t0: *Struct object_vtable, v0: *GcStruct object): return(-1)
         block1(u: Signed, e: Signed):
            es: Signed = int_mul(e, 1000000)
            w: Signed = int_add(u, es)
            goto return(w)
         END",
    );
    for n in [-29i64, -28, -8, -1, 0, 1, 9, 10, 77] {
        let expected = n.rem_euclid(8) * 100
            + n.rem_euclid(7)
            + n.div_euclid(10) * 10_000
            + n.div_euclid(4) * 1_000_000;
        assert_eq!(run(&p.optimized, &[n]), expected.to_string(), "{n}");
    }
    assert!(!text(&p.optimized).contains("direct_call"));
}

#[test]
fn outcomes_of_tests_that_are_used_later_stay() {
    let source = "graph f
         block0(n: Signed):
            a: Bool = int_eq(n, 1)
            switch a
                False: block1(n)
                True: return(10)
         block1(m: Signed):
            b: Bool = int_eq(m, 2)
            switch b
                False: block2(m, b)
                True: block3(m, b)
         block2(k: Signed, b2: Bool):
            c: Bool = int_eq(k, 3)
            switch c
                False: block4(k, b2)
                True: block3(k, b2)
         block3(j: Signed, b3: Bool):
            d: Signed = cast_bool_to_int(b3)
            e: Signed = int_add(j, d)
            goto return(e)
         block4(i: Signed, b4: Bool):
            switch b4
                False: return(i)
                True: return(-1)
         END";
    let p = Pipeline::new(source);
    let mut g = (*p.program.graphs["f"]).clone();
    crate::switch::merge_if_blocks(&mut g);
    taipan_graph::assert_valid(&g);
    for (arg, result) in [(1, "10"), (2, "3"), (3, "3"), (4, "4")] {
        assert_eq!(p.run(&[arg]), result);
    }
}
