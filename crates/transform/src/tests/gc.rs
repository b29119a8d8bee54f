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
        func rpy_raise_memory_error = external 'rpy_raise_memory_error': func(*Struct object_vtable, *GcStruct object) -> Void
        graph f
        block0(n_0: Signed):
            first_1: *GcStruct node = direct_call(&make, n_0, null *GcArray of Signed)
            v2: Bool = exc_occurred()
            switch v2
                False: block1(first_1, n_0)
                True: block10()
        block1(first_3: *GcStruct node, n_4: Signed):
            v5: Void = gc_enter_roots_frame(2)
            pair_6: *GcStruct pair = gc_malloc_nursery(<type GcStruct pair>, <gc>)
            canraise
                ok: block3(pair_6, first_3, n_4)
                null *Struct object_vtable(_, _): block2(first_3, n_4)
        block2(first_7: *GcStruct node, n_8: Signed):
            v9: Void = gc_save_root(0, first_7)
            v10: Void = gc_save_root(1, null *GcOpaque GCREF)
            pair_11: *GcStruct pair = malloc(<type GcStruct pair>, <gc>)
            v12: Bool = ptr_iszero(pair_11)
            first_13: *GcStruct node = gc_restore_root(0)
            switch v12
                False: block3(pair_11, first_13, n_8)
                True: block9()
        block3(pair_14: *GcStruct pair, first_15: *GcStruct node, n_16: Signed):
            u2_17: Void = setfield(pair_14, .a, first_15)
            v18: Void = gc_save_root(0, pair_14)
            v19: Void = gc_save_root(1, null *GcArray of Signed)
            goto block4(n_16, pair_14, null *GcArray of Signed)
        block4(i_20: Signed, pair1_21: *GcStruct pair, last_22: *GcArray of Signed):
            c_23: Bool = int_gt(i_20, 0)
            switch c_23
                False: block5(pair1_21)
                True: block6(i_20, last_22)
        block5(pair3_24: *GcStruct pair):
            v25: Void = gc_leave_roots_frame(2)
            a_26: *GcStruct node = getfield(pair3_24, .a)
            b_27: *GcStruct node = getfield(pair3_24, .b)
            same_28: Bool = ptr_eq(a_26, b_27)
            v_29: Signed = getfield(b_27, .value)
            w_30: Signed = cast_bool_to_int(same_28)
            x_31: Signed = int_add(v_29, w_30)
            goto return(x_31)
        block6(i2_32: Signed, last2_33: *GcArray of Signed):
            j_34: Signed = int_sub(i2_32, 1)
            new_35: *GcStruct node = direct_call(&make, j_34, last2_33)
            v36: Bool = exc_occurred()
            pair2_37: *GcStruct pair = gc_restore_root(0)
            last2_38: *GcArray of Signed = gc_restore_root(1)
            switch v36
                False: block7(pair2_37, new_35, j_34, last2_38)
                True: block8()
        block7(pair2_39: *GcStruct pair, new_40: *GcStruct node, j_41: Signed, last2_42: *GcArray of Signed):
            v43: Void = gc_writebarrier(pair2_39)
            u3_44: Void = setfield(pair2_39, .b, new_40)
            u4_45: Void = setfield(pair2_39, .a, new_40)
            goto block4(j_41, pair2_39, last2_42)
        block8():
            v46: Void = gc_leave_roots_frame(2)
            v47: Void = debug_record_traceback()
            goto return(0)
        block9():
            v48: Void = gc_leave_roots_frame(2)
            v49: Void = direct_call(&rpy_raise_memory_error, &vtable #00000000000000e7 as *Struct object_vtable, &object #00000000000000e7 GcStruct object as *GcStruct object)
            v50: Void = debug_record_traceback()
            goto return(0)
        block10():
            v51: Void = debug_record_traceback()
            goto return(0)
        return(result_52: Signed)
        except(etype_53: *Struct object_vtable, evalue_54: *GcStruct object)
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
            first_1: *GcStruct node = direct_call(&make, n_0, null *GcArray of Signed)
            v41: Void = gc_enter_roots_frame(2)
            v36: Void = gc_save_root(0, first_1)
            v2: Bool = exc_occurred()
            switch v2
                False: block1(n_0)
                True: block7()
        block1(n_47: Signed):
            v42: Void = gc_save_root(1, null *GcOpaque GCREF)
            pair_5: *GcStruct pair = malloc(<type GcStruct pair>, <gc>)
            v37: Void = gc_save_root(1, pair_5)
            first_38: *GcStruct node = gc_restore_root(0)
            u2_6: Void = setfield(pair_5, .a, first_38)
            v46: Void = gc_save_root(0, null *GcOpaque GCREF)
            goto block2(n_47)
        block2(i_7: Signed):
            c_10: Bool = int_gt(i_7, 0)
            switch c_10
                False: block3()
                True: block4(i_7)
        block3():
            pair_39: *GcStruct pair = gc_restore_root(1)
            v43: Void = gc_leave_roots_frame(2)
            a_12: *GcStruct node = getfield(pair_39, .a)
            b_13: *GcStruct node = getfield(pair_39, .b)
            same_14: Bool = ptr_eq(a_12, b_13)
            v_15: Signed = getfield(b_13, .value)
            w_16: Signed = cast_bool_to_int(same_14)
            x_17: Signed = int_add(v_15, w_16)
            goto return(x_17)
        block4(i_48: Signed):
            j_21: Signed = int_sub(i_48, 1)
            new_22: *GcStruct node = direct_call(&make, j_21, null *GcArray of Signed)
            v23: Bool = exc_occurred()
            switch v23
                False: block5(new_22, j_21)
                True: block6()
        block5(new_49: *GcStruct node, j_50: Signed):
            pair_40: *GcStruct pair = gc_restore_root(1)
            v35: Void = gc_writebarrier(pair_40)
            u3_28: Void = setfield(pair_40, .b, new_49)
            u4_29: Void = setfield(pair_40, .a, new_49)
            goto block2(j_50)
        block6():
            v44: Void = gc_leave_roots_frame(2)
            v30: Void = debug_record_traceback()
            goto return(0)
        block7():
            v45: Void = gc_leave_roots_frame(2)
            v31: Void = debug_record_traceback()
            goto return(0)
        return(result_32: Signed)
        except(etype_33: *Struct object_vtable, evalue_34: *GcStruct object)
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
            v8: Void = gc_leave_roots_frame(1)
            w_9: Signed = getfield(t_7, .value)
            goto return(w_9)
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
            kept_1: *GcStruct node = direct_call(&make, n_0)
            v2: Bool = exc_occurred()
            switch v2
                False: block1(n_0, kept_1)
                True: block9()
        block1(n_3: Signed, kept_4: *GcStruct node):
            v5: Void = gc_enter_roots_frame(1)
            v6: Void = gc_save_root(0, kept_4)
            goto block2(n_3)
        block2(i_7: Signed):
            c_8: Bool = int_gt(i_7, 0)
            switch c_8
                False: block3()
                True: block6(i_7)
        block3():
            last_9: *GcStruct node = direct_call(&make, 3)
            v10: Bool = exc_occurred()
            kept3_11: *GcStruct node = gc_restore_root(0)
            v12: Void = gc_leave_roots_frame(1)
            switch v10
                False: block4(kept3_11, last_9)
                True: block5()
        block4(kept3_13: *GcStruct node, last_14: *GcStruct node):
            a_15: Signed = getfield(kept3_13, .value)
            b_16: Signed = getfield(last_14, .value)
            x_17: Signed = int_add(a_15, b_16)
            goto return(x_17)
        block5():
            v18: Void = debug_record_traceback()
            goto return(0)
        block6(i2_19: Signed):
            other_20: *GcStruct node = direct_call(&make, i2_19)
            v21: Bool = exc_occurred()
            switch v21
                False: block7(other_20)
                True: block8()
        block7(other_22: *GcStruct node):
            v_23: Signed = getfield(other_22, .value)
            j_24: Signed = int_sub(v_23, 1)
            goto block2(j_24)
        block8():
            v25: Void = gc_leave_roots_frame(1)
            v26: Void = debug_record_traceback()
            goto return(0)
        block9():
            v27: Void = debug_record_traceback()
            goto return(0)
        return(result_28: Signed)
        except(etype_29: *Struct object_vtable, evalue_30: *GcStruct object)
    "#]]
    .assert_eq(&text(&p.gc(&p.exceptions(&p.program))));
}

/// Functions that collect, for graphs in which slots come out of use.
const CALLS: &str = "
    struct node = GcStruct { value: Signed }
    func make = external 'make' can_collect: func() -> *GcStruct node
    func keep = external 'keep' can_collect: func(*GcStruct node) -> Void
    func grow = external 'grow' can_collect: func() -> Signed
    graph f";

fn slots(blocks: &str) -> String {
    let p = Pipeline::new(&format!("{CALLS}{blocks}\n    END"));
    let optimized = text(&p.gc(&p.exceptions(&p.program)));
    let quick = text(&p.quick_gc(&p.exceptions(&p.program)));
    let body = |text: String| {
        let lines = text.lines().filter(|l| {
            l.starts_with("block") || l.contains("gc_") || l.contains("call") || l.contains("block")
        });
        lines.map(|l| format!("{l}\n")).collect::<String>()
    };
    format!("{}\nquick\n{}", body(optimized), body(quick))
}

#[test]
fn a_slot_that_is_not_needed_any_more_is_cleared_before_the_next_collection() {
    expect![[r#"
        block0(a_0: *GcStruct node):
            v1: Void = gc_enter_roots_frame(2)
            v2: Void = gc_save_root(0, a_0)
            v3: Void = gc_save_root(1, null *GcOpaque GCREF)
            b_4: *GcStruct node = direct_call(&make)
            v5: Void = gc_save_root(1, b_4)
            u1_6: Void = direct_call(&keep, b_4)
            a_7: *GcStruct node = gc_restore_root(0)
            v8: Void = gc_save_root(0, null *GcOpaque GCREF)
            u2_9: Void = direct_call(&keep, a_7)
            u3_10: Signed = direct_call(&grow)
            b_11: *GcStruct node = gc_restore_root(1)
            v12: Void = gc_leave_roots_frame(2)
            u4_13: Void = direct_call(&keep, b_11)
            u5_14: Signed = direct_call(&grow)

        quick
        block0(a_0: *GcStruct node):
            v14: Void = gc_enter_roots_frame(2)
            v10: Void = gc_save_root(0, a_0)
            v15: Void = gc_save_root(1, null *GcOpaque GCREF)
            b_1: *GcStruct node = direct_call(&make)
            v11: Void = gc_save_root(1, b_1)
            u1_2: Void = direct_call(&keep, b_1)
            a_12: *GcStruct node = gc_restore_root(0)
            v16: Void = gc_save_root(0, null *GcOpaque GCREF)
            u2_3: Void = direct_call(&keep, a_12)
            u3_4: Signed = direct_call(&grow)
            b_13: *GcStruct node = gc_restore_root(1)
            v17: Void = gc_leave_roots_frame(2)
            u4_5: Void = direct_call(&keep, b_13)
            u5_6: Signed = direct_call(&grow)
    "#]]
    .assert_eq(&slots(
        "
    block0(a: *GcStruct node):
        b: *GcStruct node = direct_call(&make)
        u1: Void = direct_call(&keep, b)
        u2: Void = direct_call(&keep, a)
        u3: Signed = direct_call(&grow)
        u4: Void = direct_call(&keep, b)
        u5: Signed = direct_call(&grow)
        goto return(u5)",
    ));
}

#[test]
fn a_slot_that_only_one_way_uses_is_cleared_on_that_way() {
    expect![[r#"
        block0(a_0: *GcStruct node):
            v1: Void = gc_enter_roots_frame(2)
            v2: Void = gc_save_root(0, a_0)
            v3: Void = gc_save_root(1, null *GcOpaque GCREF)
            n_4: Signed = direct_call(&grow)
            goto block1(n_4)
        block1(i_5: Signed):
                False: block2(i_5)
                True: block3(i_5)
        block2(i2_7: Signed):
            b_8: *GcStruct node = direct_call(&make)
            a2_9: *GcStruct node = gc_restore_root(0)
            v10: Void = gc_save_root(1, b_8)
            u1_11: Void = direct_call(&keep, a2_9)
            b_12: *GcStruct node = gc_restore_root(1)
            v15: Void = gc_save_root(1, null *GcOpaque GCREF)
            goto block3(k_14)
        block3(i3_16: Signed):
            m_17: Signed = direct_call(&grow)
            a3_20: *GcStruct node = gc_restore_root(0)
                False: block4(a3_20)
                True: block1(j_18)
        block4(a4_21: *GcStruct node):
            v22: Void = gc_leave_roots_frame(2)
            u3_23: Void = direct_call(&keep, a4_21)

        quick
        block0(a_0: *GcStruct node):
            v26: Void = gc_enter_roots_frame(2)
            v21: Void = gc_save_root(0, a_0)
            v27: Void = gc_save_root(1, null *GcOpaque GCREF)
            n_1: Signed = direct_call(&grow)
            goto block1(n_1)
        block1(i_2: Signed):
                False: block2(i_2)
                True: block3(i_2)
        block2(i_30: Signed):
            b_7: *GcStruct node = direct_call(&make)
            v22: Void = gc_save_root(1, b_7)
            a_23: *GcStruct node = gc_restore_root(0)
            u1_8: Void = direct_call(&keep, a_23)
            b_24: *GcStruct node = gc_restore_root(1)
            v29: Void = gc_save_root(1, null *GcOpaque GCREF)
            goto block3(k_10)
        block3(i3_11: Signed):
            m_13: Signed = direct_call(&grow)
                False: block4()
                True: block1(j_14)
        block4():
            a_25: *GcStruct node = gc_restore_root(0)
            v28: Void = gc_leave_roots_frame(2)
            u3_17: Void = direct_call(&keep, a_25)
    "#]]
    .assert_eq(&slots(
        "
    block0(a: *GcStruct node):
        n: Signed = direct_call(&grow)
        goto block1(n, a)
    block1(i: Signed, a1: *GcStruct node):
        c: Bool = int_gt(i, 10)
        switch c
            False: block2(i, a1)
            True: block3(i, a1)
    block2(i2: Signed, a2: *GcStruct node):
        b: *GcStruct node = direct_call(&make)
        u1: Void = direct_call(&keep, a2)
        v: Signed = getfield(b, .value)
        k: Signed = int_add(i2, v)
        goto block3(k, a2)
    block3(i3: Signed, a3: *GcStruct node):
        m: Signed = direct_call(&grow)
        j: Signed = int_sub(i3, m)
        d: Bool = int_gt(j, 0)
        switch d
            False: block4(a3)
            True: block1(j, a3)
    block4(a4: *GcStruct node):
        u3: Void = direct_call(&keep, a4)
        goto return(1)",
    ));
}

#[test]
fn a_slot_that_a_loop_does_not_use_is_cleared_before_it() {
    expect![[r#"
        block0(a_0: *GcStruct node, b_1: *GcStruct node):
            v2: Void = gc_enter_roots_frame(2)
            v3: Void = gc_save_root(0, a_0)
            v4: Void = gc_save_root(1, b_1)
            n_5: Signed = direct_call(&grow)
            b_6: *GcStruct node = gc_restore_root(1)
            v9: Void = gc_save_root(1, null *GcOpaque GCREF)
            goto block1(k_8)
        block1(i_10: Signed):
            m_11: Signed = direct_call(&grow)
            a1_14: *GcStruct node = gc_restore_root(0)
                False: block2(a1_14)
                True: block1(j_12)
        block2(a2_15: *GcStruct node):
            v16: Void = gc_leave_roots_frame(2)
            u2_17: Void = direct_call(&keep, a2_15)

        quick
        block0(a_0: *GcStruct node, b_1: *GcStruct node):
            v19: Void = gc_enter_roots_frame(2)
            v15: Void = gc_save_root(0, a_0)
            v16: Void = gc_save_root(1, b_1)
            n_2: Signed = direct_call(&grow)
            b_17: *GcStruct node = gc_restore_root(1)
            v21: Void = gc_save_root(1, null *GcOpaque GCREF)
            goto block1(k_4)
        block1(i_5: Signed):
            m_7: Signed = direct_call(&grow)
                False: block2()
                True: block1(j_8)
        block2():
            a_18: *GcStruct node = gc_restore_root(0)
            v20: Void = gc_leave_roots_frame(2)
            u2_11: Void = direct_call(&keep, a_18)
    "#]]
    .assert_eq(&slots(
        "
    block0(a: *GcStruct node, b: *GcStruct node):
        n: Signed = direct_call(&grow)
        v: Signed = getfield(b, .value)
        k: Signed = int_add(n, v)
        goto block1(k, a)
    block1(i: Signed, a1: *GcStruct node):
        m: Signed = direct_call(&grow)
        j: Signed = int_sub(i, m)
        c: Bool = int_gt(j, 0)
        switch c
            False: block2(a1)
            True: block1(j, a1)
    block2(a2: *GcStruct node):
        u2: Void = direct_call(&keep, a2)
        goto return(1)",
    ));
}

/// `node` and `tree` are the same where the inner loop goes on, but not where it is entered: a save of
/// the one before the loop must not take the place of the other one.
#[test]
fn two_inputs_of_a_loop_do_not_share_a_slot_that_is_saved_before_it() {
    let p = Pipeline::new(
        "
    struct leaf = GcStruct { n: Signed }
    func make = synth 'make' (): func(Signed) -> *GcStruct leaf
    graph make
    block0(n: Signed):
        p: *GcStruct leaf = malloc(<type GcStruct leaf>, <gc>)
        u: Void = setfield(p, .n, n)
        goto return(p)
    return(q: *GcStruct leaf)
    except(etype: *Struct object_vtable, evalue: *GcStruct object)
    graph f
    block0(i: Signed):
        tree: *GcStruct leaf = direct_call(&make, 1)
        items: *GcArray of *GcStruct leaf = malloc_varsize(<type GcArray of *GcStruct leaf>, <gc>, 1)
        other: *GcStruct leaf = direct_call(&make, 100)
        u: Void = setarrayitem(items, 0, other)
        goto block1(tree, i, 0, tree, items)
    block1(node1: *GcStruct leaf, i1: Signed, sum1: Signed, tree1: *GcStruct leaf, items1: *GcArray of *GcStruct leaf):
        c1: Bool = int_gt(i1, 0)
        switch c1
            False: return(sum1)
            True: block2(node1, i1, sum1, tree1, items1)
    block2(node2: *GcStruct leaf, i2: Signed, sum2: Signed, tree2: *GcStruct leaf, items2: *GcArray of *GcStruct leaf):
        n: Signed = getfield(node2, .n)
        sum: Signed = int_add(sum2, n)
        j: Signed = int_sub(i2, 1)
        odd: Signed = int_and(i2, 1)
        c2: Bool = int_is_true(odd)
        switch c2
            False: block3(j, sum, tree2, items2)
            True: block4(j, sum, tree2, items2)
    block3(i3: Signed, sum3: Signed, tree3: *GcStruct leaf, items3: *GcArray of *GcStruct leaf):
        node3: *GcStruct leaf = getarrayitem(items3, 0)
        goto block1(node3, i3, sum3, tree3, items3)
    block4(i4: Signed, sum4: Signed, tree4: *GcStruct leaf, items4: *GcArray of *GcStruct leaf):
        made: *GcStruct leaf = direct_call(&make, i4)
        c4: Bool = int_gt(i4, 0)
        switch c4
            False: return(sum4)
            True: block2(tree4, i4, sum4, tree4, items4)
    END",
    );
    assert_eq!(p.run(&[6]), "303");
}
