//! The text of small graphs, and the contract with the runtime.

use std::sync::Arc;

use expect_test::{Expect, expect};
use taipan_graph::text::parse_graph;
use taipan_lltype::text::LLNames;
use taipan_lltype::{FuncKind, FuncSym, LLGraph, NoProgram};

use crate::{EmitOptions, emit_function, function_listing, prelude};

/// The C of a graph that is given as text.
fn emitted(text: &str, options: EmitOptions) -> String {
    let graph: LLGraph = parse_graph(text, LLNames::default()).expect("a graph");
    let args = graph.args().iter().map(|v| *graph.ty(*v)).collect();
    let kind = FuncKind::Synth {
        name: graph.name.as_ref().into(),
        args: Arc::new([]),
    };
    let ty = taipan_lltype::FuncType {
        args,
        result: *graph.ty(graph.returnvar()),
    };
    let f = FuncSym::new(kind, ty);
    let c = emit_function(&NoProgram, &f, &graph, options).expect("it is emitted");
    function_listing(&c, None)
}

#[track_caller]
fn check(text: &str, expected: Expect) {
    expected.assert_eq(&emitted(text, EmitOptions::default()));
}

#[test]
fn the_prelude_agrees_with_the_runtime() {
    let text = prelude();
    assert!(!text.contains('@'), "{text}");
    assert_eq!(
        taipan_codegen::abi::state::TRACEBACK_DEPTH as usize,
        taipan_runtime::state::TRACEBACK_DEPTH
    );
}

#[test]
fn loops_and_switches() {
    check(
        "
        graph f
        block0(n: Signed): goto block1(n, 0)
        block1(i: Signed, acc: Signed):
            c: Bool = int_gt(i, 0)
            switch c
                False: return(acc)
                True: block2(i, acc)
        block2(i2: Signed, acc2: Signed):
            j: Signed = int_sub(i2, 1)
            r: Signed = int_mod(i2, 5)
            switch r
                0: block1(j, acc2)
                1: block3(j, acc2, 10)
                default: block3(j, acc2, 7)
        block3(j3: Signed, acc3: Signed, x: Signed):
            b: Signed = int_add(acc3, x)
            goto block1(j3, b)
        return(v1: Signed) except(v2: *Struct object_vtable, v3: *GcStruct object)",
        expect![[r#"
            Signed f_hyr2ehxcb5(Signed n)
            {
                Signed i;
                Signed acc;
                Signed j3;
                Signed acc3;
                Signed x;
                bool c;
                Signed j;
                Signed r;
                Signed b;
                i = n;
                acc = 0ll;
            block1:;
                c = i > 0ll;
                if (c) goto block2;
                return acc;
            block2:;
                j = i - 1ll;
                r = i % 5ll;
                switch (r) {
                case 0ll:
                    i = j;
                    goto block1;
                case 1ll:
                    j3 = j;
                    acc3 = acc;
                    x = 10ll;
                    goto block3;
                default:
                    j3 = j;
                    acc3 = acc;
                    x = 7ll;
                    goto block3;
                }
            block3:;
                b = acc3 + x;
                i = j3;
                acc = b;
                goto block1;
            }
        "#]],
    );
}

/// A block that is nothing but a large switch is jumped from by all that lead to it.
#[test]
fn handlers_jump_to_each_other() {
    check(
        "
        graph f
        block0(n: Signed, m: Signed): goto block1(n, m)
        block1(op: Signed, acc: Signed):
            switch op
                1: block2(acc)
                2: block3(acc)
                3: block3(acc)
                4: block4(acc)
                5: return(5)
                6: return(6)
                7: return(7)
                300: return(8)
                default: return(acc)
        block2(a: Signed):
            b: Signed = int_add(a, 1)
            goto block1(b, a)
        block3(c: Signed):
            d: Signed = int_sub(c, 1)
            goto block1(d, c)
        block4(e: Signed):
            goto block1(e, 3)
        return(v1: Signed) except(v2: *Struct object_vtable, v3: *GcStruct object)",
        expect![[r#"
            Signed f_pd9jw9gtfj(Signed n, Signed m_1)
            {
                Signed op;
                Signed acc;
                Signed c;
                Signed v9;
                static const void *const handlers1[] = {
                    [0 ... 299] = &&otherwise1,
                    [0] = &&block2,
                    [1] = &&handler1_1,
                    [2] = &&handler1_2,
                    [3] = &&block4,
                    [4] = &&handler1_4,
                    [5] = &&handler1_5,
                    [6] = &&handler1_6,
                    [299] = &&handler1_7,
                };
                Signed b;
                Signed d;
                op = n;
                acc = m_1;
                if (RPY_UNLIKELY((Unsigned)op - (Unsigned)(1) >= 300)) goto otherwise1;
                goto *handlers1[(Unsigned)op - (Unsigned)(1)];
                handler1_1:;
                c = acc;
                goto block3;
                handler1_2:;
                c = acc;
                goto block3;
                handler1_4:;
                return 5ll;
                handler1_5:;
                return 6ll;
                handler1_6:;
                return 7ll;
                handler1_7:;
                return 8ll;
                otherwise1:;
                return acc;
            block2:;
                b = acc + 1ll;
                op = b;
                if (RPY_UNLIKELY((Unsigned)op - (Unsigned)(1) >= 300)) goto otherwise1;
                goto *handlers1[(Unsigned)op - (Unsigned)(1)];
            block3:;
                d = c - 1ll;
                op = d;
                acc = c;
                if (RPY_UNLIKELY((Unsigned)op - (Unsigned)(1) >= 300)) goto otherwise1;
                goto *handlers1[(Unsigned)op - (Unsigned)(1)];
            block4:;
                op = acc;
                acc = 3ll;
                if (RPY_UNLIKELY((Unsigned)op - (Unsigned)(1) >= 300)) goto otherwise1;
                goto *handlers1[(Unsigned)op - (Unsigned)(1)];
            }
        "#]],
    );
}

/// Assignments of a link take place at once.
#[test]
fn links_move_in_parallel() {
    check(
        "
        graph f
        block0(a: Signed, b: Signed, n: Signed):
            c: Bool = int_is_true(n)
            m: Signed = int_sub(n, 1)
            switch c
                False: return(a)
                True: block0(b, a, m)
        return(v1: Signed) except(v2: *Struct object_vtable, v3: *GcStruct object)",
        expect![[r#"
            Signed f_8b90cbhfv4(Signed a, Signed b, Signed n)
            {
                bool c;
                Signed m_4;
                Signed t0;
            block0:;
                c = n != 0;
                m_4 = n - 1ll;
                if (c) {
                    n = m_4;
                    t0 = a;
                    a = b;
                    b = t0;
                    goto block0;
                }
                return a;
            }
        "#]],
    );
}

#[test]
fn arithmetic() {
    check(
        "
        graph f
        block0(a: Signed, b: Signed, u: Unsigned, x: Float, k: Int8):
            v1: Signed = int_lshift(a, 3)
            v2: Signed = int_rshift(v1, b)
            v3: Signed = int_floordiv(v2, 7)
            v4: Signed = int_mod(v3, b)
            v5: Unsigned = uint_mul_high(u, 5u64)
            v6: Signed = cast_float_to_int(x)
            v7: Signed = int_add(k, v6)
            v8: Signed = int_lshift(v7, v4)
            v9: Float = float_mul(x, -inf)
            v10: Bool = float_lt(v9, 1.5)
            v11: Signed = cast_bool_to_int(v10)
            v12: Signed = int_neg(-9223372036854775808)
            v13: Signed = int_xor(v11, v12)
            v14: Unsigned = cast_int_to_uint(v8)
            v15: Unsigned = uint_floordiv(v5, v14)
            goto return(v13)
        return(r1: Signed) except(r2: *Struct object_vtable, r3: *GcStruct object)",
        expect![[r#"
            Signed f_4xd18prr4d(Signed a, Signed b, Unsigned u, double x, Int8 k)
            {
                Signed v5;
                Signed v6;
                Signed v7;
                Signed v8;
                Unsigned v9;
                Signed v10;
                Signed v11;
                Signed v12;
                double v13;
                bool v14;
                Signed v15;
                Signed v16;
                Signed v17;
                Unsigned v18;
                Unsigned v19;
                v5 = a << 3ll;
                v6 = rpy_int_rshift(v5, (Unsigned)b);
                v7 = v6 / 7ll;
                v8 = rpy_int_mod(v7, b);
                v9 = rpy_uint_mul_high(u, 5ull);
                v10 = (Signed)rpy_float_to_int(x);
                v11 = (Signed)k + v10;
                v12 = rpy_int_lshift(v11, (Unsigned)v8);
                v13 = x * (-__builtin_inf());
                v14 = v13 < 1.5;
                v15 = (Signed)v14;
                v16 = -(-9223372036854775807ll - 1);
                v17 = v15 ^ v16;
                v18 = (Unsigned)v12;
                v19 = v9 / v18;
                return v17;
            }
        "#]],
    );
}

#[test]
fn objects_and_roots() {
    check(
        "
        struct point = GcStruct { x: Signed, next: *GcStruct rpy_string, }
        graph f
        block0(a: *GcArray of Signed, s: *GcStruct rpy_string, i: Signed):
            v0: Void = gc_enter_roots_frame(4)
            v1: Void = gc_save_root(0, a)
            p: *GcStruct point = malloc(<type GcStruct point>, <gc>)
            b: *GcArray of Signed = gc_restore_root(0)
            v2: Void = gc_leave_roots_frame(4)
            v3: Void = setfield(p, .x, i)
            v4: Signed = getarrayitem(b, i)
            v5: Void = gc_writebarrier(p)
            v6: Char = getinteriorfield(s, .chars, v4)
            v7: Signed = getinteriorarraysize(s, .chars)
            v8: *GcArray of Signed = malloc_varsize(<type GcArray of Signed>, <gc>, v7)
            v9: Void = setarrayitem(v8, 0, v7)
            v10: Signed = cast_char_to_int(v6)
            goto return(v10)
        return(r1: Signed) except(r2: *Struct object_vtable, r3: *GcStruct object)",
        expect![[r#"
            RPY_SCALAR Signed f_82k1xt5z1r(struct array_of_Signed_y0bzcap664 *a, struct rpy_string_39ebaad8mw *s, Signed i)
            {
                RPyRoot *roots;
                struct point_k39vjsgha8 *p;
                struct array_of_Signed_y0bzcap664 *b;
                Signed v9;
                Char v11;
                Signed v12;
                struct array_of_Signed_y0bzcap664 *v13;
                Signed v15;
                roots = rpy_state.root_stack_top;
                RPY_FRAME(16);
                rpy_state.root_stack_top = roots + 4;
                roots[0].object = a;
                p = rpy_malloc(&type_point_k39vjsgha8, 24);
                b = roots[0].object;
                rpy_state.root_stack_top = roots;
                p->x = i;
                v9 = b->items[i];
                rpy_writebarrier(p);
                v11 = s->chars.items[v9];
                v12 = s->chars.length;
                v13 = rpy_malloc_array(&type_array_of_Signed_y0bzcap664, v12, 16, 16, 16, 8, 8, 0);
                v13->items[0ll] = v12;
                v15 = (Signed)v11;
                return v15;
            }
        "#]],
    );
}
