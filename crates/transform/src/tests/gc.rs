use expect_test::expect;

use super::{Pipeline, text};

/// Allocates n nodes and keeps the last one.
const NODES: &str = "
    struct node = GcStruct { value: Signed, next: *GcArray of Signed }
    func make = synth 'make' (): func(Signed, *GcArray of Signed) -> *GcStruct node
    struct pair = GcStruct { a: *GcStruct node, b: *GcStruct node }
    graph make
    block0(n: Signed, rest: *GcArray of Signed):
        p: *GcStruct node = malloc(<type GcStruct node>, <gc>)
        u0: Void = setfield(p, .value, n)
        u1: Void = setfield(p, .next, rest)
        goto return(p)
    return(q: *GcStruct node)
    except(etype: *Struct object_vtable, evalue: *GcStruct object)
    graph f
    block0(n: Signed):
        first: *GcStruct node = direct_call(&make, n, null *GcArray of Signed)
        pair: *GcStruct pair = malloc(<type GcStruct pair>, <gc>)
        u2: Void = setfield(pair, .a, first)
        goto block1(n, pair, null *GcArray of Signed)
    block1(i: Signed, pair1: *GcStruct pair, last: *GcArray of Signed):
        c: Bool = int_gt(i, 0)
        switch c
            False: block3(pair1)
            True: block2(i, pair1, last)
    block2(i2: Signed, pair2: *GcStruct pair, last2: *GcArray of Signed):
        j: Signed = int_sub(i2, 1)
        new: *GcStruct node = direct_call(&make, j, last2)
        u3: Void = setfield(pair2, .b, new)
        u4: Void = setfield(pair2, .a, new)
        goto block1(j, pair2, last2)
    block3(pair3: *GcStruct pair):
        a: *GcStruct node = getfield(pair3, .a)
        b: *GcStruct node = getfield(pair3, .b)
        same: Bool = ptr_eq(a, b)
        v: Signed = getfield(b, .value)
        w: Signed = cast_bool_to_int(same)
        x: Signed = int_add(v, w)
        goto return(x)
    END";

#[test]
fn roots_and_barriers_are_inserted() {
    let p = Pipeline::new(NODES);
    assert_eq!(p.run(&[5]), "1");
    expect![[r#"
        struct node = GcStruct { value: Signed, next: *GcArray of Signed, }
        struct pair = GcStruct { a: *GcStruct node, b: *GcStruct node, }
        func make = synth 'make' (): func(Signed, *GcArray of Signed) -> *GcStruct node
        graph f
        block0(n_0: Signed):
            v1: Void = gc_enter_roots_frame(2)
            v2: Void = gc_save_root(0, null *GcOpaque GCREF)
            v3: Void = gc_save_root(1, null *GcOpaque GCREF)
            first_4: *GcStruct node = direct_call(&make, n_0, null *GcArray of Signed)
            v5: Void = gc_save_root(0, first_4)
            pair_6: *GcStruct pair = malloc(<type GcStruct pair>, <gc>)
            first_7: *GcStruct node = gc_restore_root(0)
            u2_8: Void = setfield(pair_6, .a, first_7)
            v9: Void = gc_save_root(0, pair_6)
            v10: Void = gc_save_root(1, null *GcArray of Signed)
            goto block1(n_0, pair_6, null *GcArray of Signed)
        block1(i_11: Signed, pair1_12: *GcStruct pair, last_13: *GcArray of Signed):
            c_14: Bool = int_gt(i_11, 0)
            switch c_14
                False: block2(pair1_12)
                True: block3(i_11, pair1_12, last_13)
        block2(pair3_15: *GcStruct pair):
            a_16: *GcStruct node = getfield(pair3_15, .a)
            b_17: *GcStruct node = getfield(pair3_15, .b)
            same_18: Bool = ptr_eq(a_16, b_17)
            v_19: Signed = getfield(b_17, .value)
            w_20: Signed = cast_bool_to_int(same_18)
            x_21: Signed = int_add(v_19, w_20)
            v22: Void = gc_leave_roots_frame(2)
            goto return(x_21)
        block3(i2_23: Signed, pair2_24: *GcStruct pair, last2_25: *GcArray of Signed):
            j_26: Signed = int_sub(i2_23, 1)
            new_27: *GcStruct node = direct_call(&make, j_26, last2_25)
            pair2_28: *GcStruct pair = gc_restore_root(0)
            v29: Void = gc_writebarrier(pair2_28)
            u3_30: Void = setfield(pair2_28, .b, new_27)
            u4_31: Void = setfield(pair2_28, .a, new_27)
            last2_32: *GcArray of Signed = gc_restore_root(1)
            goto block1(j_26, pair2_28, last2_32)
        return(result_33: Signed)
        except(etype_34: *Struct object_vtable, evalue_35: *GcStruct object)
    "#]]
    .assert_eq(&text(&p.gc(&p.exceptions(&p.program))));
}

#[test]
fn the_frame_is_only_where_it_is_needed() {
    let p = Pipeline::new(
        "struct S = GcStruct { value: Signed, next: *GcStruct object }
         func grow = external 'grow' can_collect: func(*GcStruct S) -> Void
         graph f
         block0(s: *GcStruct S):
            v: Signed = getfield(s, .value)
            c: Bool = int_gt(v, 0)
            switch c
                False: block1(s)
                True: return(v)
         block1(t: *GcStruct S):
            u: Void = direct_call(&grow, t)
            w: Signed = getfield(t, .value)
            goto return(w)
         END",
    );
    expect![[r#"
        struct S = GcStruct { value: Signed, next: *GcStruct object, }
        func grow = external 'grow' can_collect: func(*GcStruct S) -> Void
        graph f
        block0(s_0: *GcStruct S):
            v_1: Signed = getfield(s_0, .value)
            c_2: Bool = int_gt(v_1, 0)
            switch c_2
                False: block1(s_0)
                True: return(v_1)
        block1(t_3: *GcStruct S):
            v4: Void = gc_enter_roots_frame(1)
            v5: Void = gc_save_root(0, t_3)
            u_6: Void = direct_call(&grow, t_3)
            t_7: *GcStruct S = gc_restore_root(0)
            w_8: Signed = getfield(t_7, .value)
            v9: Void = gc_leave_roots_frame(1)
            goto return(w_8)
        return(result_10: Signed)
        except(etype_11: *Struct object_vtable, evalue_12: *GcStruct object)
    "#]]
    .assert_eq(&text(&p.gc(&p.exceptions(&p.program))));
}
