use expect_test::expect;

use super::{Pipeline, text};
use crate::refcount::count_references;

/// What the transform makes of a program's last graph.
fn counted(source: &str) -> String {
    let p = Pipeline::new(source);
    let counted = p.map(&p.exceptions(&p.program), |_, g| {
        let mut g = g.clone();
        count_references(&mut g, &p);
        g.compact();
        g
    });
    text(&counted)
}

const NODE: &str = "
    struct leaf = GcStruct { value: Signed }
    struct twig = GcStruct { b: *GcStruct leaf }
    struct node = GcStruct { value: Signed, next: *GcStruct twig }
    struct pair = GcStruct { a: *GcStruct node, b: *GcStruct node }
    func make = synth 'make' (): func(Signed) -> *GcStruct node
    graph make
    block0(n: Signed):
        p: *GcStruct node = malloc(<type GcStruct node>, <gc>)
        u0: Void = setfield(p, .value, n)
        goto return(p)
    return(q: *GcStruct node)
    except(etype: *Struct object_vtable, evalue: *GcStruct object)
";

#[test]
fn results_are_handed_over_and_old_values_let_go() {
    let source = "
    graph f
    block0(n: Signed):
        first: *GcStruct node = direct_call(&make, n)
        p: *GcStruct pair = malloc(<type GcStruct pair>, <gc>)
        u0: Void = setfield(p, .a, first)
        second: *GcStruct node = direct_call(&make, n)
        u1: Void = setfield(p, .a, second)
        u2: Void = setfield(p, .b, second)
        v: Signed = getfield(second, .value)
        goto return(v)
    END";
    expect![[r#"
        struct leaf = GcStruct { value: Signed, }
        struct twig = GcStruct { b: *GcStruct leaf, }
        struct node = GcStruct { value: Signed, next: *GcStruct twig, }
        struct pair = GcStruct { a: *GcStruct node, b: *GcStruct node, }
        func make = synth 'make' (): func(Signed) -> *GcStruct node
        func rpy_gc_incref = external 'rpy_gc_incref': func(*GcStruct node) -> Void
        func rpy_gc_decref = external 'rpy_gc_decref': func(*GcStruct node) -> Void
        func rpy_gc_decref~2 = external 'rpy_gc_decref': func(*GcStruct pair) -> Void
        graph f
        block0(n_0: Signed):
            first_1: *GcStruct node = direct_call(&make, n_0)
            v2: Bool = exc_occurred()
            switch v2
                False: block1(first_1, n_0)
                True: block5()
        block1(first_3: *GcStruct node, n_4: Signed):
            p_5: *GcStruct pair = malloc(<type GcStruct pair>, <gc>)
            u0_6: Void = setfield(p_5, .a, first_3)
            second_7: *GcStruct node = direct_call(&make, n_4)
            v8: Bool = exc_occurred()
            switch v8
                False: block2(p_5, second_7)
                True: block3(p_5)
        block2(p_9: *GcStruct pair, second_10: *GcStruct node):
            v11: *GcStruct node = getfield(p_9, .a)
            v12: Void = direct_call(&rpy_gc_incref, second_10)
            u1_13: Void = setfield(p_9, .a, second_10)
            v14: Void = direct_call(&rpy_gc_decref, v11)
            v15: *GcStruct node = getfield(p_9, .b)
            v16: Void = direct_call(&rpy_gc_incref, second_10)
            u2_17: Void = setfield(p_9, .b, second_10)
            v18: Void = direct_call(&rpy_gc_decref, v15)
            v19: Void = direct_call(&rpy_gc_decref~2, p_9)
            v_20: Signed = getfield(second_10, .value)
            v21: Void = direct_call(&rpy_gc_decref, second_10)
            goto return(v_20)
        block3(p_22: *GcStruct pair):
            v23: Void = direct_call(&rpy_gc_decref~2, p_22)
            goto block4()
        block4():
            v24: Void = debug_record_traceback()
            goto return(0)
        block5():
            v25: Void = debug_record_traceback()
            goto return(0)
        return(result_26: Signed)
        except(etype_27: *Struct object_vtable, evalue_28: *GcStruct object)
    "#]]
    .assert_eq(&counted(&format!("{NODE}{source}")));
}

#[test]
fn what_memory_keeps_is_not_counted() {
    let source = "
    func g = synth 'g' (): func(*GcStruct pair) -> Signed
    func h = synth 'h' (): func(*GcStruct twig) -> Signed
    graph h
    block0(t: *GcStruct twig):
        goto return(1)
    END
    graph g
    block0(p: *GcStruct pair):
        a: *GcStruct node = getfield(p, .a)
        q: *GcStruct twig = getfield(a, .next)
        b: *GcStruct leaf = getfield(q, .b)
        v: Signed = getfield(b, .value)
        goto return(v)
    END
    func f = synth 'f' (): func(*GcStruct pair) -> Signed
    graph f
    block0(p: *GcStruct pair):
        a: *GcStruct node = getfield(p, .a)
        q: *GcStruct twig = getfield(a, .next)
        v: Signed = direct_call(&h, q)
        w: Signed = getfield(a, .value)
        x: Signed = int_add(v, w)
        goto return(x)
    END";
    expect![[r#"
        struct leaf = GcStruct { value: Signed, }
        struct twig = GcStruct { b: *GcStruct leaf, }
        struct node = GcStruct { value: Signed, next: *GcStruct twig, }
        struct pair = GcStruct { a: *GcStruct node, b: *GcStruct node, }
        func rpy_gc_incref = external 'rpy_gc_incref': func(*GcStruct node) -> Void
        func rpy_gc_incref~2 = external 'rpy_gc_incref': func(*GcStruct twig) -> Void
        func h = synth 'h' (): func(*GcStruct twig) -> Signed
        func rpy_gc_decref = external 'rpy_gc_decref': func(*GcStruct twig) -> Void
        func rpy_gc_decref~2 = external 'rpy_gc_decref': func(*GcStruct node) -> Void
        graph f
        block0(p_0: *GcStruct pair):
            a_1: *GcStruct node = getfield(p_0, .a)
            v2: Void = direct_call(&rpy_gc_incref, a_1)
            q_3: *GcStruct twig = getfield(a_1, .next)
            v4: Void = direct_call(&rpy_gc_incref~2, q_3)
            v_5: Signed = direct_call(&h, q_3)
            v6: Void = direct_call(&rpy_gc_decref, q_3)
            w_7: Signed = getfield(a_1, .value)
            v8: Void = direct_call(&rpy_gc_decref~2, a_1)
            x_9: Signed = int_add(v_5, w_7)
            goto return(x_9)
        return(result_10: Signed)
        except(etype_11: *Struct object_vtable, evalue_12: *GcStruct object)
    "#]]
    .assert_eq(&counted(&format!("{NODE}{source}")));
}

#[test]
fn links_hand_over_and_borrowed_arguments_are_counted_there() {
    let source = "
    func f = synth 'f' (): func(*GcStruct node, Signed) -> Signed
    graph f
    block0(p: *GcStruct node, n: Signed):
        goto block1(p, p, n)
    block1(x: *GcStruct node, y: *GcStruct node, i: Signed):
        c: Bool = int_gt(i, 0)
        switch c
            False: block3(y)
            True: block2(x, i)
    block2(x2: *GcStruct node, i2: Signed):
        j: Signed = int_sub(i2, 1)
        new: *GcStruct node = direct_call(&make, j)
        goto block1(new, x2, j)
    block3(y3: *GcStruct node):
        v: Signed = getfield(y3, .value)
        goto return(v)
    END";
    expect![[r#"
        struct leaf = GcStruct { value: Signed, }
        struct twig = GcStruct { b: *GcStruct leaf, }
        struct node = GcStruct { value: Signed, next: *GcStruct twig, }
        func rpy_gc_incref = external 'rpy_gc_incref': func(*GcStruct node) -> Void
        func rpy_gc_decref = external 'rpy_gc_decref': func(*GcStruct node) -> Void
        func make = synth 'make' (): func(Signed) -> *GcStruct node
        graph f
        block0(p_0: *GcStruct node, n_1: Signed):
            v2: Void = direct_call(&rpy_gc_incref, p_0)
            v3: Void = direct_call(&rpy_gc_incref, p_0)
            goto block1(p_0, p_0, n_1)
        block1(x_4: *GcStruct node, y_5: *GcStruct node, i_6: Signed):
            c_7: Bool = int_gt(i_6, 0)
            switch c_7
                False: block2(y_5, x_4)
                True: block4(x_4, i_6, y_5)
        block2(y_8: *GcStruct node, x_9: *GcStruct node):
            v10: Void = direct_call(&rpy_gc_decref, x_9)
            goto block3(y_8)
        block3(y3_11: *GcStruct node):
            v_12: Signed = getfield(y3_11, .value)
            v13: Void = direct_call(&rpy_gc_decref, y3_11)
            goto return(v_12)
        block4(x_14: *GcStruct node, i_15: Signed, y_16: *GcStruct node):
            v17: Void = direct_call(&rpy_gc_decref, y_16)
            goto block5(x_14, i_15)
        block5(x2_18: *GcStruct node, i2_19: Signed):
            j_20: Signed = int_sub(i2_19, 1)
            new_21: *GcStruct node = direct_call(&make, j_20)
            v22: Bool = exc_occurred()
            switch v22
                False: block1(new_21, x2_18, j_20)
                True: block6(x2_18)
        block6(x2_23: *GcStruct node):
            v24: Void = direct_call(&rpy_gc_decref, x2_23)
            goto block7()
        block7():
            v25: Void = debug_record_traceback()
            goto return(0)
        return(result_26: Signed)
        except(etype_27: *Struct object_vtable, evalue_28: *GcStruct object)
    "#]]
    .assert_eq(&counted(&format!("{NODE}{source}")));
}

#[test]
fn pointers_into_objects_keep_them() {
    let source = "
    func f = synth 'f' (): func(Signed) -> Signed
    graph f
    block0(n: Signed):
        a: *GcArray of Signed = malloc_varsize(<type GcArray of Signed>, <gc, zero>, n)
        s: Address = cast_ptr_to_adr(a)
        goto block1(s, n)
    block1(t: Address, i: Signed):
        c: Bool = int_gt(i, 0)
        switch c
            False: block3(t)
            True: block2(t, i)
    block2(t2: Address, i2: Signed):
        j: Signed = int_sub(i2, 1)
        next: Address = adr_add(t2, 8)
        goto block1(next, j)
    block3(t3: Address):
        v: Signed = raw_load(t3, 0)
        goto return(v)
    END";
    expect![[r#"
        func rpy_gc_decref = external 'rpy_gc_decref': func(*GcOpaque GCREF) -> Void
        graph f
        block0(n_0: Signed):
            a_1: *GcArray of Signed = malloc_varsize(<type GcArray of Signed>, <gc, zero>, n_0)
            v2: *GcOpaque GCREF = cast_opaque_ptr(a_1)
            s_3: Address = cast_ptr_to_adr(a_1)
            goto block1(s_3, n_0, v2)
        block1(t_4: Address, i_5: Signed, v6: *GcOpaque GCREF):
            c_7: Bool = int_gt(i_5, 0)
            v8: Void = keepalive(v6)
            switch c_7
                False: block2(t_4, v6)
                True: block3(t_4, i_5, v6)
        block2(t3_9: Address, v10: *GcOpaque GCREF):
            v_11: Signed = raw_load(t3_9, 0)
            v12: Void = keepalive(v10)
            v13: Void = direct_call(&rpy_gc_decref, v10)
            goto return(v_11)
        block3(t2_14: Address, i2_15: Signed, v16: *GcOpaque GCREF):
            j_17: Signed = int_sub(i2_15, 1)
            next_18: Address = adr_add(t2_14, 8)
            v19: Void = keepalive(v16)
            goto block1(next_18, j_17, v16)
        return(result_20: Signed)
        except(etype_21: *Struct object_vtable, evalue_22: *GcStruct object)
    "#]]
    .assert_eq(&counted(&format!("{NODE}{source}")));
}
