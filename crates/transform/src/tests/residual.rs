//! Loops of residual code: what is known after the first round, and memory in variables.

use expect_test::expect;

use super::{Pipeline, text};

const TYPES: &str = "struct cls = Struct { id: Signed }
     struct obj = GcStruct { cls: *Struct cls, value: Signed }
    ";

#[test]
fn tests_of_what_does_not_change_are_made_once() {
    let p = Pipeline::new(&format!(
        "{TYPES}
         func other = external 'other' : func(Signed) -> Signed
         graph f
         block0(n: Signed, o: *GcStruct obj):
            goto block1(n, o, 0)
         block1(n1: Signed, o1: *GcStruct obj, s1: Signed):
            c: *Struct cls = getfield(o1, .cls)
            id: Signed = getfield(c, .id)
            a: Bool = int_eq(id, 7)
            switch a
                False: block3(s1)
                True: block2(n1, o1, s1)
         block2(n2: Signed, o2: *GcStruct obj, s2: Signed):
            s3: Signed = int_add(s2, n2)
            n3: Signed = int_sub(n2, 1)
            b: Bool = int_gt(n3, 0)
            switch b
                False: return(s3)
                True: block1(n3, o2, s3)
         block3(s4: Signed):
            s5: Signed = direct_call(&other, s4)
            goto return(s5)
         END"
    ));
    expect![[r#"
        struct cls = Struct { id: Signed, }
        struct obj = GcStruct { cls: *Struct cls, value: Signed, }
        func other = external 'other': func(Signed) -> Signed
        graph f
        block0(n_0: Signed, o_1: *GcStruct obj):
            c_2: *Struct cls = getfield(o_1, .cls)
            id_3: Signed = getfield(c_2, .id)
            a_4: Bool = int_eq(id_3, 7)
            switch a_4
                False: block1()
                True: block2(n_0)
        block1():
            s5_5: Signed = direct_call(&other, 0)
            goto return(s5_5)
        block2(n_6: Signed):
            n3_7: Signed = int_sub(n_6, 1)
            b_8: Bool = int_gt(n3_7, 0)
            switch b_8
                False: return(n_6)
                True: block3(n_6, n3_7)
        block3(s1_9: Signed, n1_10: Signed):
            s3_11: Signed = int_add(s1_9, n1_10)
            n3_12: Signed = int_sub(n1_10, 1)
            b_13: Bool = int_gt(n3_12, 0)
            switch b_13
                False: return(s3_11)
                True: block3(s3_11, n3_12)
        return(result_14: Signed)
        except(etype_15: *Struct object_vtable, evalue_16: *GcStruct object)
    "#]]
    .assert_eq(&text(&p.residual(&p.exceptions(&p.program))));
}

#[test]
fn memory_that_a_loop_works_on_is_kept_in_variables() {
    let p = Pipeline::new(
        "graph f
         block0(n: Signed, a: *GcArray of Signed):
            goto block1(n, a)
         block1(n1: Signed, a1: *GcArray of Signed):
            v: Signed = getarrayitem(a1, 0)
            w: Signed = int_add(v, n1)
            u0: Void = setarrayitem(a1, 0, w)
            u1: Void = setarrayitem(a1, 2, n1)
            limit: Signed = getarrayitem(a1, 1)
            n2: Signed = int_add(n1, 1)
            c: Bool = int_lt(n2, limit)
            switch c
                False: return(w)
                True: block1(n2, a1)
         END",
    );
    expect![[r#"
        graph f
        block0(n_0: Signed, a_1: *GcArray of Signed):
            v_2: Signed = getarrayitem(a_1, 0)
            w_3: Signed = int_add(v_2, n_0)
            u0_4: Void = setarrayitem(a_1, 0, w_3)
            u1_5: Void = setarrayitem(a_1, 2, n_0)
            limit_6: Signed = getarrayitem(a_1, 1)
            n2_7: Signed = int_add(n_0, 1)
            c_8: Bool = int_lt(n2_7, limit_6)
            switch c_8
                False: return(w_3)
                True: block1(a_1, n2_7)
        block1(a_9: *GcArray of Signed, n2_10: Signed):
            v11: Signed = getarrayitem(a_9, 0)
            v12: Signed = getarrayitem(a_9, 1)
            goto block2(n2_10, v11, v12, a_9)
        block2(n1_13: Signed, v14: Signed, v15: Signed, a_16: *GcArray of Signed):
            w_17: Signed = int_add(v14, n1_13)
            n2_18: Signed = int_add(n1_13, 1)
            c_19: Bool = int_lt(n2_18, v15)
            switch c_19
                False: block3(a_16, w_17, n1_13)
                True: block2(n2_18, w_17, v15, a_16)
        block3(a_20: *GcArray of Signed, w_21: Signed, n1_22: Signed):
            v23: Void = setarrayitem(a_20, 0, w_21)
            v24: Void = setarrayitem(a_20, 2, n1_22)
            goto return(w_21)
        return(result_25: Signed)
        except(etype_26: *Struct object_vtable, evalue_27: *GcStruct object)
    "#]]
    .assert_eq(&text(&p.residual(&p.exceptions(&p.program))));
}

/// An item at an index that is not known may be any of them; so may be those of another array.
#[test]
fn memory_that_may_be_written_otherwise_is_not() {
    for write in ["setarrayitem(a1, n1, n1)", "setarrayitem(b1, 0, n1)"] {
        let p = Pipeline::new(&format!(
            "graph f
             block0(n: Signed, a: *GcArray of Signed, b: *GcArray of Signed):
                goto block1(n, a, b)
             block1(n1: Signed, a1: *GcArray of Signed, b1: *GcArray of Signed):
                v: Signed = getarrayitem(a1, 0)
                w: Signed = int_add(v, n1)
                u0: Void = setarrayitem(a1, 0, w)
                u1: Void = {write}
                n2: Signed = int_add(n1, 1)
                c: Bool = int_lt(n2, 100)
                switch c
                    False: return(w)
                    True: block1(n2, a1, b1)
             END"
        ));
        let text = text(&p.residual(&p.exceptions(&p.program)));
        // Both in the first round and in the others.
        assert_eq!(text.matches("setarrayitem").count(), 4, "{text}");
    }
}
