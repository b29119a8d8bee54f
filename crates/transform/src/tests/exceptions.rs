use expect_test::expect;

use super::{Pipeline, text};

const CATCHER: &str = "
    func g = synth 'g' (): func(Signed) -> Signed
    graph g
    block0(n: Signed):
        c: Bool = int_gt(n, 10)
        switch c
            False: block1(n)
            True: except(&vtable #00000000000000e2 as *Struct object_vtable, &object #00000000000000e2 GcStruct object as *GcStruct object)
    block1(m: Signed):
        v: Signed = int_mul_ovf(m, m)
        goto return(v)
    END
    graph f
    block0(n: Signed):
        a: Signed = direct_call(&g, n)
        b: Signed = int_add(a, n)
        v: Signed = direct_call(&g, b)
        canraise
            ok: block1(v)
            &vtable #00000000000000e1 as *Struct object_vtable(t0: *Struct object_vtable, v0: *GcStruct object): return(-1)
            &vtable #00000000000000e0 as *Struct object_vtable(t1: *Struct object_vtable, v1: *GcStruct object): except(t1, v1)
    block1(w: Signed):
        x: Signed = int_add_ovf(w, 1)
        canraise
            ok: return(x)
            &vtable #00000000000000e4 as *Struct object_vtable(t2: *Struct object_vtable, v2: *GcStruct object): return(-2)
    END";

#[test]
fn calls_are_followed_by_checks() {
    let p = Pipeline::new(CATCHER);
    expect![[r#"
        func g = synth 'g' (): func(Signed) -> Signed
        graph f
        block0(n_0: Signed):
            a_1: Signed = direct_call(&g, n_0)
            v2: Bool = exc_occurred()
            switch v2
                False: block1(a_1, n_0)
                True: block6()
        block1(a_3: Signed, n_4: Signed):
            b_5: Signed = int_add(a_3, n_4)
            v_6: Signed = direct_call(&g, b_5)
            v7: Bool = exc_occurred()
            switch v7
                False: block2(v_6)
                True: block3()
        block2(w_8: Signed):
            x_9: Signed = int_add_ovf(w_8, 1)
            canraise
                ok: return(x_9)
                &vtable #00000000000000e4 as *Struct object_vtable(_, _): return(-2)
        block3():
            v10: *Struct object_vtable = exc_type()
            v11: *GcStruct object = exc_value()
            v12: Signed = getfield(v10, .subclassrange_min)
            v13: Signed = getfield(&vtable #00000000000000e1 as *Struct object_vtable, .subclassrange_min)
            v14: Signed = getfield(&vtable #00000000000000e1 as *Struct object_vtable, .subclassrange_max)
            v15: Bool = int_between(v13, v12, v14)
            switch v15
                False: block4()
                True: block5(v10)
        block4():
            v16: Void = debug_record_traceback()
            goto return(0)
        block5(v17: *Struct object_vtable):
            v18: Void = debug_catch_exception(v17)
            v19: Void = exc_clear()
            goto return(-1)
        block6():
            v20: Void = debug_record_traceback()
            goto return(0)
        return(result_21: Signed)
        except(etype_22: *Struct object_vtable, evalue_23: *GcStruct object)
    "#]].assert_eq(&text(&p.exceptions(&p.program)));
}

#[test]
fn all_stages_agree() {
    let p = Pipeline::new(CATCHER);
    assert_eq!(p.run(&[2]), "37");
    assert_eq!(p.run(&[4]), "-1");
    assert_eq!(p.run(&[11]), "IndexError");
    assert_eq!(p.run(&[-4_000_000_000]), "OverflowError");
}

#[test]
fn recursion_is_checked() {
    let p = Pipeline::new(
        "func f = synth 'f' (): func(Signed) -> Signed
         graph f
         block0(n: Signed):
            m: Signed = int_sub(n, 1)
            c: Bool = int_eq(n, 0)
            switch c
                False: block1(m)
                True: return(0)
         block1(m1: Signed):
            v: Signed = direct_call(&f, m1)
            w: Signed = int_add(v, 2)
            goto return(w)
         END",
    );
    assert_eq!(p.run(&[20]), "40");
    assert_eq!(p.run(&[-1]), "StackOverflow");
    expect![[r#"
        func f = synth 'f' (): func(Signed) -> Signed
        graph f
        block0(n_0: Signed):
            m_1: Signed = int_sub(n_0, 1)
            c_2: Bool = int_eq(n_0, 0)
            switch c_2
                False: block1(m_1)
                True: return(0)
        block1(m1_3: Signed):
            v4: Bool = stack_check()
            switch v4
                False: block2(m1_3)
                True: block5()
        block2(m1_5: Signed):
            v_6: Signed = direct_call(&f, m1_5)
            v7: Bool = exc_occurred()
            switch v7
                False: block3(v_6)
                True: block4()
        block3(v_8: Signed):
            w_9: Signed = int_add(v_8, 2)
            goto return(w_9)
        block4():
            v10: Void = debug_record_traceback()
            goto return(0)
        block5():
            v11: Void = exc_set(&vtable #00000000000000e6 as *Struct object_vtable, &object #00000000000000e6 GcStruct object as *GcStruct object)
            v12: Void = debug_start_traceback(&vtable #00000000000000e6 as *Struct object_vtable)
            goto return(0)
        return(result_13: Signed)
        except(etype_14: *Struct object_vtable, evalue_15: *GcStruct object)
    "#]].assert_eq(&text(&p.exceptions(&p.program)));
}

#[test]
fn what_cannot_raise_is_not_checked() {
    let p = Pipeline::new(
        "func g = synth 'g' (): func(Signed) -> Signed
         graph g
         block0(n: Signed):
            v: Signed = int_mul(n, n)
            goto return(v)
         END
         graph f
         block0(n: Signed):
            v: Signed = direct_call(&g, n)
            canraise
                ok: return(v)
                &vtable #00000000000000e1 as *Struct object_vtable(t0: *Struct object_vtable, v0: *GcStruct object): return(-1)
         END",
    );
    expect![[r#"
        func g = synth 'g' (): func(Signed) -> Signed
        graph f
        block0(n_0: Signed):
            v_1: Signed = direct_call(&g, n_0)
            goto return(v_1)
        return(result_2: Signed)
        except(etype_3: *Struct object_vtable, evalue_4: *GcStruct object)
    "#]]
    .assert_eq(&text(&p.exceptions(&p.program)));
}
