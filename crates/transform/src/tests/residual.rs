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

/// A loop that looks up something by what it does not change, and calls something else.
fn loop_of_calls(lookup: &str, other: &str) -> String {
    format!(
        "struct obj = GcStruct {{ version: Signed, value: Signed }}
         func {lookup} = synth '{lookup}' (): func(*GcStruct obj, Signed) -> Signed
         func {other} = synth '{other}' (): func(Signed) -> Signed
         graph f
         block0(n: Signed, o: *GcStruct obj):
            goto block1(n, o, 0)
         block1(n1: Signed, o1: *GcStruct obj, s1: Signed):
            v: Signed = getfield(o1, .version)
            w: Signed = direct_call(&{lookup}, o1, v)
            e: Bool = exc_occurred()
            switch e
                False: block2(n1, o1, s1, w)
                True: return(-1)
         block2(n2: Signed, o2: *GcStruct obj, s2: Signed, w2: Signed):
            v2: Signed = getfield(o2, .version)
            x: Signed = direct_call(&{lookup}, o2, v2)
            e2: Bool = exc_occurred()
            switch e2
                False: block3(n2, o2, s2, w2, x)
                True: return(-1)
         block3(n3: Signed, o3: *GcStruct obj, s3: Signed, w3: Signed, x3: Signed):
            s4: Signed = int_add(s3, w3)
            s5: Signed = int_add(s4, x3)
            s6: Signed = direct_call(&{other}, s5)
            n4: Signed = int_sub(n3, 1)
            b: Bool = int_gt(n4, 0)
            switch b
                False: return(s6)
                True: block1(n4, o3, s6)
         END"
    )
}

#[test]
fn equal_calls_of_elidable_functions_leave_loops() {
    let p = Pipeline::new(&loop_of_calls("find_it", "reads_version"));
    expect![[r#"
        struct obj = GcStruct { version: Signed, value: Signed, }
        func find_it = synth 'find_it' (): func(*GcStruct obj, Signed) -> Signed
        func reads_version = synth 'reads_version' (): func(Signed) -> Signed
        graph f
        block0(n_0: Signed, o_1: *GcStruct obj):
            v_2: Signed = getfield(o_1, .version)
            w_3: Signed = direct_call(&find_it, o_1, v_2)
            e_4: Bool = exc_occurred()
            switch e_4
                False: block1(w_3, n_0)
                True: return(-1)
        block1(w_5: Signed, n_6: Signed):
            s5_7: Signed = int_add(w_5, w_5)
            s6_8: Signed = direct_call(&reads_version, s5_7)
            n4_9: Signed = int_sub(n_6, 1)
            b_10: Bool = int_gt(n4_9, 0)
            switch b_10
                False: return(s6_8)
                True: block2(s6_8, n4_9, w_5)
        block2(s1_11: Signed, n1_12: Signed, w_13: Signed):
            s4_14: Signed = int_add(s1_11, w_13)
            s5_15: Signed = int_add(s4_14, w_13)
            s6_16: Signed = direct_call(&reads_version, s5_15)
            n4_17: Signed = int_sub(n1_12, 1)
            b_18: Bool = int_gt(n4_17, 0)
            switch b_18
                False: return(s6_16)
                True: block2(s6_16, n4_17, w_13)
        return(result_19: Signed)
        except(etype_20: *Struct object_vtable, evalue_21: *GcStruct object)
    "#]]
    .assert_eq(&text(&p.residual(&p.program)));
}

/// How often each of the two functions is called in the code. Where the first round has code of
/// its own, the other one is called twice.
#[test]
fn calls_are_merged_where_nothing_stands_against_it() {
    for (lookup, other, count) in [
        ("find_it", "reads_version", [1, 2]),
        ("find_it", "writes_value", [1, 2]),
        ("pure_it", "reads_version", [1, 2]),
        // Its arguments are new ones in each round.
        ("find_it", "writes_version", [1, 1]),
        ("find_it", "other", [1, 1]),
        // It may give something else each time: too little would be saved.
        ("reads_value", "reads_version", [2, 1]),
    ] {
        let p = Pipeline::new(&loop_of_calls(lookup, other));
        let text = text(&p.residual(&p.program));
        let calls = [lookup, other].map(|f| text.matches(&format!("direct_call(&{f}")).count());
        assert_eq!(calls, count, "{lookup}, {other}: {text}");
    }
}

/// A null pointer may mean that something was not found yet.
#[test]
fn null_pointers_are_looked_for_again() {
    let p = Pipeline::new(
        "struct obj = GcStruct { value: Signed }
         func pure_it = synth 'pure_it' (): func(Signed) -> *GcStruct obj
         func other = synth 'other' (): func(Signed) -> *GcStruct obj
         graph f
         block0(n: Signed):
            o: *GcStruct obj = direct_call(&pure_it, n)
            a: Bool = ptr_iszero(o)
            switch a
                False: block2(n, o)
                True: block1(n)
         block1(n1: Signed):
            o1: *GcStruct obj = direct_call(&other, n1)
            goto block2(n1, o1)
         block2(n2: Signed, o2: *GcStruct obj):
            o3: *GcStruct obj = direct_call(&pure_it, n2)
            b: Bool = ptr_eq(o2, o3)
            switch b
                False: return(0)
                True: block3(n2, o3)
         block3(n4: Signed, o4: *GcStruct obj):
            v: Signed = getfield(o4, .value)
            o5: *GcStruct obj = direct_call(&pure_it, n4)
            w: Signed = getfield(o5, .value)
            x: Signed = int_add(v, w)
            goto return(x)
         END",
    );
    let text = text(&p.residual(&p.program));
    assert_eq!(text.matches("direct_call(&pure_it").count(), 2, "{text}");
    assert_eq!(text.matches("getfield").count(), 1, "{text}");
}

/// What is kept in a variable is not in memory when a function reads it.
#[test]
fn memory_that_calls_leave_alone_is_kept_in_variables() {
    for (other, before) in [
        ("reads_version", 0),
        ("reads_value", 1),
        ("writes_value", 1),
        ("other", 1),
    ] {
        let p = Pipeline::new(&format!(
            "struct obj = GcStruct {{ version: Signed, value: Signed }}
             func {other} = synth '{other}' (): func(Signed) -> Signed
             graph f
             block0(n: Signed, o: *GcStruct obj):
                goto block1(n, o)
             block1(n1: Signed, o1: *GcStruct obj):
                v: Signed = getfield(o1, .value)
                w: Signed = int_add(v, n1)
                u: Void = setfield(o1, .value, w)
                x: Signed = direct_call(&{other}, w)
                n2: Signed = int_sub(n1, x)
                c: Bool = int_gt(n2, 0)
                switch c
                    False: return(w)
                    True: block1(n2, o1)
             END"
        ));
        let text = text(&p.residual(&p.program));
        let (in_loop, _) = text.split_once("direct_call").expect("a call");
        assert_eq!(
            in_loop.matches("setfield").count(),
            before,
            "{other}: {text}"
        );
        assert_eq!(text.matches("setfield").count(), 1, "{other}: {text}");
    }
}

/// Fields are written once only, but for objects that are not complete yet.
#[test]
fn immutable_fields_are_read_again_where_they_are_written() {
    for (write, reads) in [
        ("setfield(m, .inst_x, n1)", 1),
        ("setfield(o1, .inst_x, n1)", 2),
        ("setfield(o1, .inst_y, n1)", 1),
    ] {
        let p = Pipeline::new(&format!(
            "struct obj = GcStruct {{ inst_x: Signed, inst_y: Signed }} immutable(inst_x)
             func writes_inst_x = synth 'writes_inst_x' (): func(Signed) -> Signed
             graph f
             block0(n: Signed, o: *GcStruct obj):
                goto block1(n, o, 0)
             block1(n1: Signed, o1: *GcStruct obj, s1: Signed):
                v: Signed = getfield(o1, .inst_x)
                m: *GcStruct obj = malloc(<type GcStruct obj>, <gc>)
                u: Void = {write}
                a: Signed = direct_call(&writes_inst_x, v)
                w: Signed = getfield(o1, .inst_x)
                b: Signed = int_add(w, a)
                s2: Signed = int_add(s1, b)
                n2: Signed = int_sub(n1, 1)
                c: Bool = int_gt(n2, 0)
                switch c
                    False: return(s2)
                    True: block1(n2, o1, s2)
             END"
        ));
        let text = text(&p.residual(&p.program));
        assert_eq!(text.matches("getfield").count(), reads, "{write}: {text}");
    }
}

#[test]
fn additions_that_a_test_keeps_in_range_are_not_checked() {
    let p = Pipeline::new(
        "graph f
         block0(n: Signed, k: Signed):
            goto block1(n, k, 0, 0)
         block1(n1: Signed, k1: Signed, i1: Signed, s1: Signed):
            c: Bool = int_lt(i1, n1)
            switch c
                False: return(s1)
                True: block2(n1, k1, i1, s1)
         block2(n2: Signed, k2: Signed, i2: Signed, s2: Signed):
            i3: Signed = int_add_ovf(i2, 1)
            canraise
                ok: block3(n2, k2, i3, s2)
                &vtable #00000000000000e1 as *Struct object_vtable(t1: *Struct object_vtable, e1: *GcStruct object): return(-1)
         block3(n3: Signed, k3: Signed, i4: Signed, s3: Signed):
            s4: Signed = int_add_ovf(s3, i4)
            canraise
                ok: block1(n3, k3, i4, s4)
                &vtable #00000000000000e1 as *Struct object_vtable(t2: *Struct object_vtable, e2: *GcStruct object): return(-2)
         END",
    );
    expect![[r#"
        graph f
        block0(n_0: Signed, k_1: Signed):
            c_2: Bool = int_lt(0, n_0)
            switch c_2
                False: return(0)
                True: block1(1, 1, n_0)
        block1(i1_3: Signed, s1_4: Signed, n_5: Signed):
            c_6: Bool = int_lt(i1_3, n_5)
            switch c_6
                False: return(s1_4)
                True: block2(n_5, i1_3, s1_4)
        block2(n_7: Signed, i1_8: Signed, s1_9: Signed):
            i3_10: Signed = int_add(i1_8, 1)
            s4_11: Signed = int_add_nonneg_ovf(s1_9, i3_10)
            canraise
                ok: block1(i3_10, s4_11, n_7)
                &vtable #00000000000000e1 as *Struct object_vtable(t2_12: *Struct object_vtable, e2_13: *GcStruct object): return(-2)
        return(result_14: Signed)
        except(etype_15: *Struct object_vtable, evalue_16: *GcStruct object)
    "#]].assert_eq(&text(&p.residual(&p.program)));
}

#[test]
fn results_that_only_exits_need_are_computed_there() {
    let p = Pipeline::new(&format!(
        "{TYPES}
         graph f
         block0(n: Signed, o: *GcStruct obj):
            c: *Struct cls = getfield(o, .cls)
            id: Signed = getfield(c, .id)
            twice: Signed = int_add(n, n)
            value: Signed = getfield(o, .value)
            a: Bool = int_eq(n, 7)
            switch a
                False: block2(o, c, id, twice, value)
                True: block1(n, o, twice, value, c)
         block1(n1: Signed, o1: *GcStruct obj, t1: Signed, v1: Signed, c1: *Struct cls):
            before: Signed = getfield(o1, .value)
            u: Void = setfield(o1, .value, n1)
            b: Bool = int_lt(v1, 3)
            switch b
                False: block3(o1, t1, before, c1)
                True: return(n1)
         block2(o2: *GcStruct obj, c2: *Struct cls, i2: Signed, t2: Signed, v2: Signed):
            r2: Signed = jit_exit(4096, o2, c2, i2, t2, v2)
            goto return(r2)
         block3(o3: *GcStruct obj, t3: Signed, b3: Signed, c3: *Struct cls):
            r3: Signed = jit_exit(4112, o3, t3, b3, c3)
            goto return(r3)
         END"
    ));
    expect![[r#"
        struct cls = Struct { id: Signed, }
        struct obj = GcStruct { cls: *Struct cls, value: Signed, }
        graph f
        block0(n_0: Signed, o_1: *GcStruct obj):
            c_2: *Struct cls = getfield(o_1, .cls)
            value_3: Signed = getfield(o_1, .value)
            a_4: Bool = int_eq(n_0, 7)
            switch a_4
                False: block1(c_2, n_0, o_1, value_3)
                True: block2(o_1, n_0, value_3, c_2)
        block1(c_5: *Struct cls, n_6: Signed, o_7: *GcStruct obj, value_8: Signed):
            id_9: Signed = getfield(c_5, .id)
            twice_10: Signed = int_add(n_6, n_6)
            r2_11: Signed = jit_exit(4096, o_7, c_5, id_9, twice_10, value_8)
            goto return(r2_11)
        block2(o_12: *GcStruct obj, n_13: Signed, value_14: Signed, c_15: *Struct cls):
            u_16: Void = setfield(o_12, .value, n_13)
            b_17: Bool = int_lt(value_14, 3)
            switch b_17
                False: block3(n_13, o_12, value_14, c_15)
                True: return(n_13)
        block3(n_18: Signed, o_19: *GcStruct obj, value_20: Signed, c_21: *Struct cls):
            twice_22: Signed = int_add(n_18, n_18)
            r3_23: Signed = jit_exit(4112, o_19, twice_22, value_20, c_21)
            goto return(r3_23)
        return(result_24: Signed)
        except(etype_25: *Struct object_vtable, evalue_26: *GcStruct object)
    "#]]
    .assert_eq(&text(&p.residual(&p.program)));
}

/// One test of the nursery for three objects, past an exit that is rarely taken; no barrier for what they hold, and no
/// root on the way. What a call makes in between begins another group.
#[test]
fn neighbouring_allocations_take_their_memory_at_once() {
    let p = Pipeline::new(
        "struct leaf = GcStruct { n: Signed }
         struct pair = GcStruct { a: *GcStruct leaf, b: *GcArray of *GcStruct leaf }
         func other = synth 'other' (): func(Signed) -> Signed
         graph f
         block0(n: Signed, o: *GcStruct leaf):
            p: *GcStruct pair = malloc(<type GcStruct pair>, <gc>)
            u1: Void = setfield(p, .a, o)
            i: Signed = int_add_ovf(n, 1)
            canraise
                ok: block1(p, i)
                null *Struct object_vtable(_, _): block4()
         block1(p1: *GcStruct pair, i1: Signed):
            q: *GcArray of *GcStruct leaf = malloc_varsize(<type GcArray of *GcStruct leaf>, <gc>, 2)
            u2: Void = setfield(p1, .b, q)
            r: *GcStruct leaf = malloc(<type GcStruct leaf>, <gc>)
            u3: Void = setarrayitem(q, 1, r)
            u4: Void = setfield(r, .n, i1)
            m: Signed = direct_call(&other, i1)
            s: *GcStruct leaf = malloc(<type GcStruct leaf>, <gc>)
            u5: Void = setfield(p1, .a, s)
            b: *GcArray of *GcStruct leaf = getfield(p1, .b)
            t: *GcStruct leaf = getarrayitem(b, 1)
            v: Signed = getfield(t, .n)
            w: Signed = int_add(v, m)
            u6: Void = setfield(s, .n, w)
            u7: Void = setarrayitem(q, 0, s)
            goto return(w)
         block4():
            goto return(-1)
         END",
    );
    let text = text(&p.residual_gc(&p.program));
    expect![[r#"
        struct leaf = GcStruct { n: Signed, }
        struct pair = GcStruct { a: *GcStruct leaf, b: *GcArray of *GcStruct leaf, }
        func other = synth 'other' (): func(Signed) -> Signed
        graph f
        block0(n_0: Signed, o_1: *GcStruct leaf):
            v2: Void = gc_enter_roots_frame(2)
            room_3: Address = gc_reserve(72)
            canraise
                ok: block2(o_1, n_0, room_3)
                null *Struct object_vtable(_, _): block1(o_1, n_0)
        block1(o_4: *GcStruct leaf, n_5: Signed):
            v6: Void = gc_save_root(0, o_4)
            v7: Void = gc_save_root(1, null *GcOpaque GCREF)
            room_8: Address = gc_reserve_slowly(72)
            o_9: *GcStruct leaf = gc_restore_root(0)
            goto block2(o_9, n_5, room_8)
        block2(o_10: *GcStruct leaf, n_11: Signed, room_12: Address):
            p_13: *GcStruct pair = gc_malloc_reserved(<type GcStruct pair>, <gc>, room_12, 0)
            u1_14: Void = setfield(p_13, .a, o_10)
            i_15: Signed = int_add_ovf(n_11, 1)
            canraise
                ok: block3(p_13, i_15, room_12)
                null *Struct object_vtable(_, _): block7()
        block3(p1_16: *GcStruct pair, i1_17: Signed, room_18: Address):
            q_19: *GcArray of *GcStruct leaf = gc_malloc_reserved(<type GcArray of *GcStruct leaf>, <gc>, room_18, 24, 2)
            u2_20: Void = setfield(p1_16, .b, q_19)
            r_21: *GcStruct leaf = gc_malloc_reserved(<type GcStruct leaf>, <gc>, room_18, 56)
            u3_22: Void = setarrayitem(q_19, 1, r_21)
            u4_23: Void = setfield(r_21, .n, i1_17)
            v24: Void = gc_save_root(0, p1_16)
            v25: Void = gc_save_root(1, q_19)
            m_26: Signed = direct_call(&other, i1_17)
            p1_27: *GcStruct pair = gc_restore_root(0)
            q_28: *GcArray of *GcStruct leaf = gc_restore_root(1)
            s_29: *GcStruct leaf = gc_malloc_nursery(<type GcStruct leaf>, <gc>)
            canraise
                ok: block4(p1_27, s_29, m_26, q_28)
                null *Struct object_vtable(_, _): block5(m_26)
        block4(p1_30: *GcStruct pair, s_31: *GcStruct leaf, m_32: Signed, q_33: *GcArray of *GcStruct leaf):
            v34: Void = gc_leave_roots_frame(2)
            goto block6(p1_30, s_31, m_32, q_33)
        block5(m_35: Signed):
            s_36: *GcStruct leaf = malloc(<type GcStruct leaf>, <gc>)
            p1_37: *GcStruct pair = gc_restore_root(0)
            q_38: *GcArray of *GcStruct leaf = gc_restore_root(1)
            v39: Void = gc_leave_roots_frame(2)
            goto block6(p1_37, s_36, m_35, q_38)
        block6(p1_40: *GcStruct pair, s_41: *GcStruct leaf, m_42: Signed, q_43: *GcArray of *GcStruct leaf):
            v44: Void = gc_writebarrier(p1_40)
            u5_45: Void = setfield(p1_40, .a, s_41)
            b_46: *GcArray of *GcStruct leaf = getfield(p1_40, .b)
            t_47: *GcStruct leaf = getarrayitem(b_46, 1)
            v_48: Signed = getfield(t_47, .n)
            w_49: Signed = int_add(v_48, m_42)
            u6_50: Void = setfield(s_41, .n, w_49)
            v51: Void = gc_writebarrier(q_43, 0)
            u7_52: Void = setarrayitem(q_43, 0, s_41)
            goto return(w_49)
        block7():
            v53: Void = gc_leave_roots_frame(2)
            goto return(-1)
        return(result_54: Signed)
        except(etype_55: *Struct object_vtable, evalue_56: *GcStruct object)
    "#]].assert_eq(&text);
}

/// A program that looks for the same key twice, with an operation between, and how many calls are left of it.
fn calls_left(between: &str) -> usize {
    let p = Pipeline::new(&format!(
        "struct entry = Struct {{ key: Signed, value: Signed }}
         struct dict = GcStruct {{ indexes: *GcArray of Signed, entries: *GcArray of Struct entry, live: Signed }}
         func search_it = synth 'search_it' (): func(*GcStruct dict, Signed, Signed) -> Signed
         func reads_live = synth 'reads_live' (): func(*GcStruct dict) -> Signed
         func writes_live = synth 'writes_live' (): func(*GcStruct dict) -> Signed
         func writes_indexes = synth 'writes_indexes' (): func(*GcStruct dict) -> Signed
         func writes_items = synth 'writes_items' (): func(*GcStruct dict) -> Signed
         func other = synth 'other' (): func(*GcStruct dict) -> Signed
         graph f
         block0(k: Signed, h: Signed, d: *GcStruct dict, c: *GcStruct dict, x: *GcArray of Signed):
            n: Signed = direct_call(&search_it, d, k, h)
            e: Bool = exc_occurred()
            switch e
                False: block1(k, h, d, c, n, x)
                True: return(-1)
         block1(k1: Signed, h1: Signed, d1: *GcStruct dict, c1: *GcStruct dict, n1: Signed, x1: *GcArray of Signed):
            {between}
            l: Signed = int_add(h1, 0)
            m: Signed = direct_call(&search_it, d1, k1, l)
            e1: Bool = exc_occurred()
            switch e1
                False: block2(n1, m)
                True: return(-1)
         block2(n2: Signed, m2: Signed):
            s: Signed = int_add(n2, m2)
            goto return(s)
         END"
    ));
    text(&p.residual(&p.program))
        .matches("direct_call(&search_it")
        .count()
}

#[test]
fn the_same_key_is_looked_for_once_while_the_index_stays() {
    for (between, calls) in [
        ("u: Void = setfield(d1, .live, 1)", 1),
        ("a: Signed = direct_call(&reads_live, d1)", 1),
        ("a: Signed = direct_call(&writes_live, d1)", 1),
        // The value of a key has changed, not its place.
        (
            "a: *GcArray of Struct entry = getfield(d1, .entries)
             u: Void = setinteriorfield(a, n1, .value, 1)",
            1,
        ),
        ("u: Void = setfield(d1, .indexes, x1)", 2),
        ("u: Void = setarrayitem(x1, 0, 1)", 2),
        // It may be the same dict.
        ("u: Void = setfield(c1, .indexes, x1)", 2),
        ("a: Signed = direct_call(&writes_indexes, c1)", 2),
        ("a: Signed = direct_call(&writes_items, d1)", 2),
        ("a: Signed = direct_call(&other, d1)", 2),
        // To look for another key changes nothing.
        ("a: Signed = direct_call(&search_it, c1, n1, h1)", 2),
    ] {
        assert_eq!(calls_left(between), calls, "{between}");
    }
}

/// A sum that has not overflowed is known from there on, in whatever order its operands stand.
#[test]
fn sums_that_have_not_overflowed_are_known() {
    let p = Pipeline::new(
        "graph f
         block0(a: Signed, b: Signed):
            s: Signed = int_add_ovf(a, b)
            canraise
                ok: block1(a, b, s)
                &vtable #00000000000000e4 as *Struct object_vtable(type1: *Struct object_vtable, value1: *GcStruct object): return(-1)
         block1(a1: Signed, b1: Signed, s1: Signed):
            t: Signed = int_add_ovf(b1, a1)
            canraise
                ok: block2(a1, b1, s1, t)
                &vtable #00000000000000e4 as *Struct object_vtable(type2: *Struct object_vtable, value2: *GcStruct object): return(-2)
         block2(a2: Signed, b2: Signed, s2: Signed, t2: Signed):
            d: Signed = int_sub_ovf(b2, a2)
            canraise
                ok: block3(s2, t2, d)
                &vtable #00000000000000e4 as *Struct object_vtable(type3: *Struct object_vtable, value3: *GcStruct object): return(-3)
         block3(s3: Signed, t3: Signed, d3: Signed):
            x: Signed = int_xor(s3, t3)
            y: Signed = int_or(x, d3)
            goto return(y)
         END",
    );
    assert_eq!(p.run(&[3, 5]), "2");
    assert_eq!(p.run(&[i64::MAX, 5]), "-1");
    assert_eq!(p.run(&[-5, i64::MAX]), "-3");
    expect![[r#"
        graph f
        block0(a_0: Signed, b_1: Signed):
            s_2: Signed = int_add_ovf(a_0, b_1)
            canraise
                ok: block1(b_1, a_0, s_2)
                &vtable #00000000000000e4 as *Struct object_vtable(_, _): return(-1)
        block1(b_3: Signed, a_4: Signed, s_5: Signed):
            d_6: Signed = int_sub_ovf(b_3, a_4)
            canraise
                ok: block2(s_5, d_6)
                &vtable #00000000000000e4 as *Struct object_vtable(_, _): return(-3)
        block2(s_7: Signed, d_8: Signed):
            x_9: Signed = int_xor(s_7, s_7)
            y_10: Signed = int_or(x_9, d_8)
            goto return(y_10)
        return(result_11: Signed)
        except(etype_12: *Struct object_vtable, evalue_13: *GcStruct object)
    "#]]
    .assert_eq(&text(&p.residual(&p.exceptions(&p.program))));
}

/// How many stores there are on the way through a unit, and in its exits, of one that is overwritten behind `between`.
fn stores_left(between: &str) -> [usize; 2] {
    let p = Pipeline::new(&format!(
        "struct obj = GcStruct {{ depth: Signed, value: Signed }}
         func reads_depth = synth 'reads_depth' (): func(*GcStruct obj) -> Signed
         func writes_value = synth 'writes_value' (): func(*GcStruct obj) -> Signed
         graph f
         block0(n: Signed, o: *GcStruct obj, p: *GcStruct obj):
            u1: Void = setfield(o, .depth, n)
            {between}
            c: Bool = int_lt(n, 9)
            switch c
                False: block1(o)
                True: block2(o)
         block1(o1: *GcStruct obj):
            x: Signed = jit_exit(4096, o1)
            goto return(x)
         block2(o2: *GcStruct obj):
            u2: Void = setfield(o2, .depth, 5)
            goto return(0)
         END"
    ));
    let text = text(&p.residual(&p.program));
    let exit = text.find("jit_exit(4096").expect("an exit");
    let block = text[..exit].rfind("block").expect("a block");
    let stores = |text: &str| text.matches("setfield(").count();
    let in_exit = stores(&text[block..exit]);
    [stores(&text) - in_exit, in_exit]
}

#[test]
fn stores_that_are_overwritten_go_into_exits() {
    for (between, left) in [
        ("u: Void = setfield(o, .value, n)", [2, 1]),
        ("a: Signed = getfield(p, .value)", [1, 1]),
        ("a: Signed = direct_call(&writes_value, p)", [1, 1]),
        // It may be the same object: the store is not made behind this one.
        ("u: Void = setfield(p, .depth, n)", [3, 0]),
        // Something reads it.
        (
            "a: Signed = getfield(p, .depth)
             v: Void = setfield(o, .value, a)",
            [3, 0],
        ),
        ("a: Signed = direct_call(&reads_depth, p)", [2, 0]),
    ] {
        assert_eq!(stores_left(between), left, "{between}");
    }
}
