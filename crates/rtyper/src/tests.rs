//! Graphs as text with annotations by name, typed, as text.

use std::sync::Arc;

use expect_test::{Expect, expect};
use taipan_annotator::{Calls, FunctionAnnotation, Signature, SomeKind, SomeValue};
use taipan_graph::text::{HlNames, parse_graph, print_graph};
use taipan_graph::{BlockId, FunctionGraph, HighLevel, IntKind, verify};
use taipan_interp::named_id;
use taipan_lltype::LowLevel;
use taipan_testkit::TestDb;

use crate::specialize::specialize;
use crate::{RTyper, Universe};

fn int(nonneg: bool) -> SomeValue {
    SomeValue {
        kind: SomeKind::Integer {
            nonneg,
            kind: IntKind::SIGNED,
        },
        const_: None,
    }
}

fn kind(kind: SomeKind) -> SomeValue {
    SomeValue { kind, const_: None }
}

/// Annotations by the first letters of a variable's name.
fn annotation_of(name: &str) -> SomeValue {
    let prefix = name.trim_end_matches(|c: char| c.is_ascii_digit());
    match prefix {
        "i" => int(false),
        "n" => int(true),
        "u" => kind(SomeKind::Integer {
            nonneg: true,
            kind: IntKind::UNSIGNED,
        }),
        "b" => kind(SomeKind::Bool),
        "f" => kind(SomeKind::Float),
        "none" => kind(SomeKind::None),
        "etype" => kind(SomeKind::Type),
        "evalue" => kind(SomeKind::Instance {
            class: None,
            can_be_none: false,
        }),
        other => panic!("no annotation for {other}"),
    }
}

fn names() -> HlNames {
    let mut names = HlNames::default();
    for n in [
        "ZeroDivisionError",
        "OverflowError",
        "ValueError",
        "ArithmeticError",
    ] {
        let full = format!("exceptions.{n}");
        names.insert(named_id(&full), &full);
    }
    names
}

fn annotate(graph: FunctionGraph) -> FunctionAnnotation {
    let vars: Vec<SomeValue> = graph.vars.iter().map(|v| annotation_of(&v.name)).collect();
    let mut followed = Vec::new();
    for (b, block) in graph.blocks.iter().enumerate() {
        for i in 0..block.exits.len() {
            followed.push((BlockId(b as u32), i as u32));
        }
    }
    FunctionAnnotation {
        signature: Signature {
            args: graph
                .args()
                .iter()
                .map(|v| vars[v.index()].clone())
                .collect(),
            result: vars[graph.returnvar().index()].clone(),
        },
        reached: vec![true; graph.blocks.len()],
        vars: vars.into_iter().collect(),
        followed,
        calls: Calls::default(),
        graph: Arc::new(graph),
        broken: None,
    }
}

fn check(text: &str, expected: Expect) {
    let db = TestDb::with_fixture("");
    let graph = parse_graph::<HighLevel>(text, names()).expect("parses");
    let rt = RTyper::new(&db, Universe::Prelude(db.program()));
    let actual = match specialize(&rt, &annotate(graph), &[]) {
        Ok(graph) => {
            verify(&graph).expect("valid");
            print_graph::<LowLevel>(&graph, Default::default())
        }
        Err(e) => format!("{}: {} (at {:?})\n", e.code, e.message, e.at),
    };
    expected.assert_eq(&actual);
}

#[test]
fn arithmetic() {
    check(
        "graph f
        block0(i1, b1, f1):
            i2 = add(i1, b1)
            f2 = mul(i2, f1)
            b2 = lt(f2, 3)
            i3 = lshift(i2, b2)
            goto return(i3)
        return(i4)
        except(etype, evalue)",
        expect![[r#"
            graph f
            block0(i1_0: Signed, b1_1: Bool, f1_2: Float):
                v3: Signed = cast_bool_to_int(b1_1)
                i2_4: Signed = int_add(i1_0, v3)
                v5: Float = cast_int_to_float(i2_4)
                f2_6: Float = float_mul(v5, f1_2)
                b2_7: Bool = float_lt(f2_6, 3.0)
                v8: Signed = cast_bool_to_int(b2_7)
                i3_9: Signed = int_lshift(i2_4, v8)
                goto return(i3_9)
            return(i4_10: Signed)
            except(etype_11: *Struct object_vtable, evalue_12: *GcStruct object)
        "#]],
    );
}

#[test]
fn switch_and_link_conversions() {
    check(
        "graph f
        block0(i1, b1):
            switch b1
                False: return(i1)
                True: block1(b1)
        block1(b2):
            goto return(b2)
        return(f1)
        except(etype, evalue)",
        expect![[r#"
            graph f
            block0(i1_0: Signed, b1_1: Bool):
                switch b1_1
                    False: block1(i1_0)
                    True: block2(b1_1)
            block1(i1_2: Signed):
                v3: Float = cast_int_to_float(i1_2)
                goto return(v3)
            block2(b2_4: Bool):
                v5: Float = cast_bool_to_float(b2_4)
                goto return(v5)
            return(f1_6: Float)
            except(etype_7: *Struct object_vtable, evalue_8: *GcStruct object)
        "#]],
    );
}

#[test]
fn implicit_exceptions() {
    check(
        "graph f
        block0(i1, i2):
            i3 = floordiv(i1, i2) @5
            canraise
                ok: return(i3)
                #exceptions.ZeroDivisionError(etype1, evalue1): return(-1)
        return(i4)
        except(etype, evalue)",
        expect![[r#"
            func rint.ll_int_py_div_zer = helper 'rint.ll_int_py_div_zer' (Signed, Signed): func(Signed, Signed) -> Signed
            graph f
            block0(i1_0: Signed, i2_1: Signed):
                i3_2: Signed = direct_call(&rint.ll_int_py_div_zer, i1_0, i2_1) @5
                canraise
                    ok: return(i3_2)
                    &vtable #17db952b28154e6c as *Struct object_vtable(etype1_3: *Struct object_vtable, evalue1_4: *GcStruct object): return(-1)
            return(i4_5: Signed)
            except(etype_6: *Struct object_vtable, evalue_7: *GcStruct object)
        "#]],
    );
}

#[test]
fn overflow_is_an_operation() {
    check(
        "graph f
        block0(i1, n1):
            i3 = add_ovf(n1, i1)
            canraise
                ok: return(i3)
                #exceptions.ArithmeticError(etype1, evalue1): except(etype1, evalue1)
        return(f1)
        except(etype, evalue)",
        expect![[r#"
            graph f
            block0(i1_0: Signed, n1_1: Signed):
                i3_2: Signed = int_add_nonneg_ovf(i1_0, n1_1)
                canraise
                    ok: block1(i3_2)
                    &vtable #20f7af2f9183510c as *Struct object_vtable(etype1_3: *Struct object_vtable, evalue1_4: *GcStruct object): except(etype1_3, evalue1_4)
            block1(i3_5: Signed):
                v6: Float = cast_int_to_float(i3_5)
                goto return(v6)
            return(f1_7: Float)
            except(etype_8: *Struct object_vtable, evalue_9: *GcStruct object)
        "#]],
    );
}

#[test]
fn exceptions_that_cannot_occur() {
    check(
        "graph f
        block0(i1, i2):
            i3 = add(i1, i2)
            canraise
                ok: return(i3)
                #exceptions.ValueError(etype1, evalue1): return(0)
        return(i4)
        except(etype, evalue)",
        expect![[r#"
            graph f
            block0(i1_0: Signed, i2_1: Signed):
                i3_2: Signed = int_add(i1_0, i2_1)
                goto return(i3_2)
            return(i4_3: Signed)
            except(etype_4: *Struct object_vtable, evalue_5: *GcStruct object)
        "#]],
    );
}

#[test]
fn division_of_nonneg() {
    check(
        "graph f
        block0(n1, n2, u1):
            n3 = floordiv(n1, n2)
            n4 = mod(n3, n2)
            u2 = mod(u1, u1)
            n5 = pos(n4)
            goto return(n5)
        return(n6)
        except(etype, evalue)",
        expect![[r#"
            func rint.ll_uint_py_mod = helper 'rint.ll_uint_py_mod' (Unsigned, Unsigned): func(Unsigned, Unsigned) -> Unsigned
            graph f
            block0(n1_0: Signed, n2_1: Signed, u1_2: Unsigned):
                n3_3: Signed = int_floordiv(n1_0, n2_1)
                n4_4: Signed = int_mod(n3_3, n2_1)
                u2_5: Unsigned = direct_call(&rint.ll_uint_py_mod, u1_2, u1_2)
                goto return(n4_4)
            return(n6_6: Signed)
            except(etype_7: *Struct object_vtable, evalue_8: *GcStruct object)
        "#]],
    );
}

#[test]
fn none_is_void() {
    check(
        "graph f
        block0(none1):
            b1 = is_(none1, None)
            switch b1
                False: return(1)
                True: return(2)
        return(i1)
        except(etype, evalue)",
        expect![[r#"
            graph f
            block0(none1_0: Void):
                goto return(2)
            return(i1_1: Signed)
            except(etype_2: *Struct object_vtable, evalue_3: *GcStruct object)
        "#]],
    );
}

#[test]
fn signed_against_unsigned() {
    check(
        "graph f
        block0(i1, u1):
            b1 = lt(i1, u1) @3
            goto return(b1)
        return(b2)
        except(etype, evalue)",
        expect![[r#"
            TP0409: a signed and an unsigned number are compared (at Some(3))
        "#]],
    );
}
