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
            pair_5: *GcStruct pair = gc_malloc_nursery(<type GcStruct pair>, <gc>)
            canraise
                ok: block2(pair_5, first_4, n_0)
                null *Struct object_vtable(_, _): block1(first_4, n_0)
        block1(first_6: *GcStruct node, n_7: Signed):
            v8: Void = gc_save_root(0, first_6)
            pair_9: *GcStruct pair = malloc(<type GcStruct pair>, <gc>)
            first_10: *GcStruct node = gc_restore_root(0)
            goto block2(pair_9, first_10, n_7)
        block2(pair_11: *GcStruct pair, first_12: *GcStruct node, n_13: Signed):
            u2_14: Void = setfield(pair_11, .a, first_12)
            v15: Void = gc_save_root(0, pair_11)
            v16: Void = gc_save_root(1, null *GcArray of Signed)
            goto block3(n_13, pair_11, null *GcArray of Signed)
        block3(i_17: Signed, pair1_18: *GcStruct pair, last_19: *GcArray of Signed):
            c_20: Bool = int_gt(i_17, 0)
            switch c_20
                False: block4(pair1_18)
                True: block5(i_17, last_19)
        block4(pair3_21: *GcStruct pair):
            a_22: *GcStruct node = getfield(pair3_21, .a)
            b_23: *GcStruct node = getfield(pair3_21, .b)
            same_24: Bool = ptr_eq(a_22, b_23)
            v_25: Signed = getfield(b_23, .value)
            w_26: Signed = cast_bool_to_int(same_24)
            x_27: Signed = int_add(v_25, w_26)
            v28: Void = gc_leave_roots_frame(2)
            goto return(x_27)
        block5(i2_29: Signed, last2_30: *GcArray of Signed):
            j_31: Signed = int_sub(i2_29, 1)
            new_32: *GcStruct node = direct_call(&make, j_31, last2_30)
            pair2_33: *GcStruct pair = gc_restore_root(0)
            v34: Void = gc_writebarrier(pair2_33)
            u3_35: Void = setfield(pair2_33, .b, new_32)
            u4_36: Void = setfield(pair2_33, .a, new_32)
            last2_37: *GcArray of Signed = gc_restore_root(1)
            goto block3(j_31, pair2_33, last2_37)
        return(result_38: Signed)
        except(etype_39: *Struct object_vtable, evalue_40: *GcStruct object)
    "#]]
    .assert_eq(&text(&p.gc(&p.exceptions(&p.program))));
}

#[test]
fn roots_are_placed_quickly() {
    let p = Pipeline::new(NODES);
    expect![[r#"
        struct node = GcStruct { value: Signed, next: *GcArray of Signed, }
        struct pair = GcStruct { a: *GcStruct node, b: *GcStruct node, }
        func make = synth 'make' (): func(Signed, *GcArray of Signed) -> *GcStruct node
        graph f
        block0(n_0: Signed):
            v32: Void = gc_enter_roots_frame(2)
            v33: Void = gc_save_root(0, null *GcOpaque GCREF)
            v34: Void = gc_save_root(1, null *GcOpaque GCREF)
            first_1: *GcStruct node = direct_call(&make, n_0, null *GcArray of Signed)
            v26: Void = gc_save_root(0, first_1)
            pair_2: *GcStruct pair = malloc(<type GcStruct pair>, <gc>)
            v27: Void = gc_save_root(1, pair_2)
            first_28: *GcStruct node = gc_restore_root(0)
            u2_3: Void = setfield(pair_2, .a, first_28)
            goto block1(n_0)
        block1(i_4: Signed):
            c_7: Bool = int_gt(i_4, 0)
            switch c_7
                False: block2()
                True: block3(i_4)
        block2():
            pair_29: *GcStruct pair = gc_restore_root(1)
            a_9: *GcStruct node = getfield(pair_29, .a)
            b_10: *GcStruct node = getfield(pair_29, .b)
            same_11: Bool = ptr_eq(a_9, b_10)
            v_12: Signed = getfield(b_10, .value)
            w_13: Signed = cast_bool_to_int(same_11)
            x_14: Signed = int_add(v_12, w_13)
            v31: Void = gc_leave_roots_frame(2)
            goto return(x_14)
        block3(i_35: Signed):
            j_18: Signed = int_sub(i_35, 1)
            new_19: *GcStruct node = direct_call(&make, j_18, null *GcArray of Signed)
            pair_30: *GcStruct pair = gc_restore_root(1)
            v25: Void = gc_writebarrier(pair_30)
            u3_20: Void = setfield(pair_30, .b, new_19)
            u4_21: Void = setfield(pair_30, .a, new_19)
            goto block1(j_18)
        return(result_22: Signed)
        except(etype_23: *Struct object_vtable, evalue_24: *GcStruct object)
    "#]]
    .assert_eq(&text(&p.quick_gc(&p.exceptions(&p.program))));
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

#[test]
fn a_loop_that_does_not_use_a_root_leaves_it_in_its_slot() {
    let p = Pipeline::new(
        "
    struct node = GcStruct { value: Signed }
    func make = synth 'make' (): func(Signed) -> *GcStruct node
    graph make
    block0(n: Signed):
        p: *GcStruct node = malloc(<type GcStruct node>, <gc>)
        u0: Void = setfield(p, .value, n)
        goto return(p)
    return(q: *GcStruct node)
    except(etype: *Struct object_vtable, evalue: *GcStruct object)
    graph f
    block0(n: Signed):
        kept: *GcStruct node = direct_call(&make, n)
        goto block1(n, kept)
    block1(i: Signed, kept1: *GcStruct node):
        c: Bool = int_gt(i, 0)
        switch c
            False: block3(kept1)
            True: block2(i, kept1)
    block2(i2: Signed, kept2: *GcStruct node):
        other: *GcStruct node = direct_call(&make, i2)
        v: Signed = getfield(other, .value)
        j: Signed = int_sub(v, 1)
        goto block1(j, kept2)
    block3(kept3: *GcStruct node):
        last: *GcStruct node = direct_call(&make, 3)
        a: Signed = getfield(kept3, .value)
        b: Signed = getfield(last, .value)
        x: Signed = int_add(a, b)
        goto return(x)
    END",
    );
    assert_eq!(p.run(&[5]), "8");
    expect![[r#"
        struct node = GcStruct { value: Signed, }
        func make = synth 'make' (): func(Signed) -> *GcStruct node
        graph f
        block0(n_0: Signed):
            v1: Void = gc_enter_roots_frame(1)
            v2: Void = gc_save_root(0, null *GcOpaque GCREF)
            kept_3: *GcStruct node = direct_call(&make, n_0)
            v4: Void = gc_save_root(0, kept_3)
            goto block1(n_0)
        block1(i_5: Signed):
            c_6: Bool = int_gt(i_5, 0)
            switch c_6
                False: block2()
                True: block3(i_5)
        block2():
            last_7: *GcStruct node = direct_call(&make, 3)
            kept3_8: *GcStruct node = gc_restore_root(0)
            a_9: Signed = getfield(kept3_8, .value)
            b_10: Signed = getfield(last_7, .value)
            x_11: Signed = int_add(a_9, b_10)
            v12: Void = gc_leave_roots_frame(1)
            goto return(x_11)
        block3(i2_13: Signed):
            other_14: *GcStruct node = direct_call(&make, i2_13)
            v_15: Signed = getfield(other_14, .value)
            j_16: Signed = int_sub(v_15, 1)
            goto block1(j_16)
        return(result_17: Signed)
        except(etype_18: *Struct object_vtable, evalue_19: *GcStruct object)
    "#]]
    .assert_eq(&text(&p.gc(&p.exceptions(&p.program))));
}
