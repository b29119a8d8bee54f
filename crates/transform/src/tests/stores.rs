//! Barriers, casts of roots, and arrays that are filled at once.

use expect_test::expect;

use super::{Pipeline, text};

#[test]
fn an_object_that_is_new_whichever_way_control_came_needs_no_barrier() {
    let p = Pipeline::new(
        "struct node = GcStruct { next: *GcOpaque GCREF }
         graph f
         block0(n: Signed, old: *GcStruct node, x: *GcOpaque GCREF):
            new: *GcStruct node = malloc(<type GcStruct node>, <gc>)
            goto block1(n, new, old, x)
         block1(i: Signed, new1: *GcStruct node, old1: *GcStruct node, x1: *GcOpaque GCREF):
            u0: Void = setfield(new1, .next, x1)
            u1: Void = setfield(old1, .next, x1)
            j: Signed = int_sub(i, 1)
            c: Bool = int_gt(j, 0)
            switch c
                False: block2(new1, old1, x1)
                True: block1(j, new1, old1, x1)
         block2(new2: *GcStruct node, old2: *GcStruct node, x2: *GcOpaque GCREF):
            u2: Void = setfield(old2, .next, x2)
            goto return(0)
         END",
    );
    // Of three stores the first needs none: the object is new on the way into the loop and on
    // the way back. Nor does the last one: the object has had its barrier in the loop.
    let text = text(&p.gc(&p.program));
    assert_eq!(text.matches("gc_writebarrier").count(), 1, "{text}");
    assert!(text.contains("gc_writebarrier(old1"), "{text}");
}

#[test]
fn the_first_items_of_an_array_share_a_barrier() {
    let p = Pipeline::new(
        "func grow = external 'grow' can_collect: func() -> Void
         graph f
         block0(a: *GcArray of *GcOpaque GCREF, x: *GcOpaque GCREF, i: Signed):
            u0: Void = setarrayitem(a, 0, x)
            u1: Void = setarrayitem(a, 127, x)
            u2: Void = setarrayitem(a, 128, x)
            u3: Void = setarrayitem(a, i, x)
            u4: Void = direct_call(&grow)
            u5: Void = setarrayitem(a, 1, x)
            goto return(0)
         END",
    );
    let text = text(&p.gc(&p.program));
    let barriers: Vec<&str> = (text.lines())
        .filter_map(|l| l.trim().split_once("= gc_writebarrier"))
        .map(|(_, args)| args)
        .collect();
    assert_eq!(
        barriers,
        ["(a_0, 0)", "(a_0, 128)", "(a_0, i_2)", "(a_14, 1)"],
        "{text}"
    );
}

#[test]
fn an_object_has_one_slot_whatever_it_is_cast_to() {
    let p = Pipeline::new(
        "struct base = GcStruct { value: Signed }
         struct sub = GcStruct { super: GcStruct base, other: Signed }
         func grow = external 'grow' can_collect: func() -> Void
         graph f
         block0(b: *GcStruct base):
            s: *GcStruct sub = cast_pointer(b)
            v: Signed = getfield(s, .other)
            u: Void = direct_call(&grow)
            c: Bool = int_gt(v, 0)
            switch c
                False: block1(b, s)
                True: return(v)
         block1(b1: *GcStruct base, s1: *GcStruct sub):
            w: Signed = getfield(s1, .other)
            x: Signed = getfield(b1, .value)
            y: Signed = int_add(w, x)
            goto return(y)
         END",
    );
    expect![[r#"
        struct base = GcStruct { value: Signed, }
        struct sub = GcStruct { super: GcStruct base, other: Signed, }
        func grow = external 'grow' can_collect: func() -> Void
        graph f
        block0(b_0: *GcStruct base):
            s_1: *GcStruct sub = cast_pointer(b_0)
            v_2: Signed = getfield(s_1, .other)
            v3: Void = gc_enter_roots_frame(1)
            v4: Void = gc_save_root(0, b_0)
            u_5: Void = direct_call(&grow)
            c_6: Bool = int_gt(v_2, 0)
            b_7: *GcStruct base = gc_restore_root(0)
            v8: Void = gc_leave_roots_frame(1)
            switch c_6
                False: block1(b_7)
                True: return(v_2)
        block1(b_9: *GcStruct base):
            s_10: *GcStruct sub = cast_pointer(b_9)
            w_11: Signed = getfield(s_10, .other)
            x_12: Signed = getfield(b_9, .value)
            y_13: Signed = int_add(w_11, x_12)
            goto return(y_13)
        return(result_14: Signed)
        except(etype_15: *Struct object_vtable, evalue_16: *GcStruct object)
    "#]]
    .assert_eq(&text(&p.gc(&p.program)));
}

/// As what `[x] * n` becomes.
const FILL: &str = "
    graph f
    block0(n: Signed, x: *GcOpaque GCREF):
        a: *GcArray of *GcOpaque GCREF = malloc_varsize(<type GcArray of *GcOpaque GCREF>, <gc>, n)
        c: Bool = int_lt(0, n)
        switch c
            False: block2(a)
            True: block1(0, a, n, x)
    block1(i: Signed, a1: *GcArray of *GcOpaque GCREF, n1: Signed, x1: *GcOpaque GCREF):
        u: Void = setarrayitem(a1, i, x1)
        j: Signed = int_add(i, 1)
        d: Bool = int_lt(j, n1)
        switch d
            False: block2(a1)
            True: block1(j, a1, n1, x1)
    block2(a2: *GcArray of *GcOpaque GCREF):
        l: Signed = getarraysize(a2)
        goto return(l)
    END";

#[test]
fn an_array_that_is_filled_at_once_is_not_cleared() {
    let filled = |graph: &str| {
        let p = Pipeline::new(graph);
        let text = text(&p.gc(&p.program));
        text.contains("gc_malloc_filled")
    };
    assert!(filled(FILL));
    assert_eq!(Pipeline::new(FILL).run(&[3, 0]), "3");
    // From the second item on; up to another length; with a collection on the way.
    assert!(!filled(
        &FILL.replace("block1(0, a, n, x)", "block1(1, a, n, x)")
    ));
    assert!(!filled(
        &FILL.replace("block1(0, a, n, x)", "block1(0, a, 2, x)")
    ));
    assert!(!filled(&FILL.replace("int_add(i, 1)", "int_add(i, 2)")));
    assert!(!filled(
        &FILL.replace("block1(j, a1, n1, x1)", "block1(j, a1, j, x1)")
    ));
    let collecting = "u: Void = setarrayitem(a1, i, x1)\n        u0: Void = gc__collect()";
    assert!(!filled(
        &FILL.replace("u: Void = setarrayitem(a1, i, x1)", collecting)
    ));
}
