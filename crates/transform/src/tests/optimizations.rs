use expect_test::{Expect, expect};

use super::{Pipeline, text};

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
                l_1: *GcStruct list = malloc(<type GcStruct list>, <gc>)
                a_2: *GcArray of Signed = malloc_varsize(<type GcArray of Signed>, <gc>, 3)
                u0_3: Void = setfield(l_1, .length, 3)
                u1_4: Void = setfield(l_1, .items, a_2)
                u2_5: Void = setarrayitem(a_2, 1, 10)
                c_6: Bool = int_lt(i_0, 3)
                switch c_6
                    False: return(-1)
                    True: block1(a_2, i_0)
            block1(a_7: *GcArray of Signed, i_8: Signed):
                v_9: Signed = getarrayitem(a_7, i_8)
                goto return(v_9)
            return(result_10: Signed)
            except(etype_11: *Struct object_vtable, evalue_12: *GcStruct object)
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
                p_1: *GcStruct S = malloc(<type GcStruct S>, <gc>)
                u0_2: Void = setfield(p_1, .x, n_0)
                c_3: Bool = int_lt(n_0, 10)
                switch c_3
                    False: return(n_0)
                    True: block1(n_0)
            block1(n_4: Signed):
                i_5: Signed = int_add(n_4, n_4)
                s_6: Signed = int_mul(i_5, i_5)
                goto return(s_6)
            return(result_7: Signed)
            except(etype_8: *Struct object_vtable, evalue_9: *GcStruct object)
        "#]],
    );
}
