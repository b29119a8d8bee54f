use expect_test::expect;
use taipan_graph::text::{parse_graph, print_graph};
use taipan_graph::verify;

use super::*;
use crate::{StructType, check_operations};

#[test]
fn canonical_text_is_kept() {
    let text = "\
struct point = GcStruct { x: Signed, y: *GcArray of Char, } adtmeths #00000000000000dd immutable(x)
struct point~2 = Struct { a: UInt8, b: FixedSizeArray 3 of Float, }
struct C = GcStruct instance #00000000000000bb
func m.norm = user #00000000000000aa 'Signed' 'm.norm': func(*GcStruct point) -> Signed
func m.ll_f = helper 'm.ll_f' (*Struct point~2, =<const 3>, =.x): func(*Struct point~2) -> Void
func write = external 'write' can_raise: func(Signed) -> Signed
graph f
block0(p_0: *GcStruct point, q_1: *Struct point~2, n_2: Signed, c_3: *GcStruct C):
    v4: Signed = getfield(p_0, .x) @3
    v5: Signed = direct_call(&m.norm, p_0) @4
    canraise
        ok: block1(q_1, v5)
        &vtable #00000000000000cc as *Struct object_vtable(etype_6: *Struct object_vtable, evalue_7: *GcStruct object): except(etype_6, evalue_7)
block1(q_8: *Struct point~2, v9: Signed):
    v10: Void = direct_call(&m.ll_f, q_8)
    v11: *GcStruct point = malloc(<type GcStruct point>, <gc, zero>)
    v12: Void = indirect_call(null *func() -> Void, {m.norm, write})
    v13: Bool = int_eq(v9, 7)
    v14: Void = debug_print(True, 'a', u+00e9, 1.5, 2.5f, 3u64, -4i8, &'s', &u'\\u{e9}', &value (1, 'a') GcStruct point as *GcStruct point, <func m.ll_f>, Void)
    switch v9
        1: return(2)
        default: return(v9)
return(v15: Signed)
except(v16: *Struct object_vtable, v17: *GcStruct object)
";
    let mut graph = parse_graph::<LowLevel>(text, LLNames::default()).expect("parses");
    assert_eq!(print_graph(&graph, LLNames::default()), text);
    assert_eq!(verify(&graph), Ok(()));
    let before = graph.clone();
    graph.compact();
    assert_eq!(graph, before);
}

#[test]
fn types_of_link_arguments_are_verified() {
    let text = "
        graph f
        block0(v0: Signed): goto return(v0)
        return(v1: Float) except(v2: *Struct object_vtable, v3: *GcStruct object)";
    let graph = parse_graph::<LowLevel>(text, LLNames::default()).expect("parses");
    assert_eq!(
        verify(&graph).unwrap_err().to_string(),
        "block0: argument 0 for block1 is a Signed, not a Float"
    );
}

#[test]
fn operands_of_operations_are_checked() {
    let text = "
        struct point = GcStruct { x: Signed, y: Float, }
        graph f
        block0(n: Signed, x: Float, p: *GcStruct point, a: *GcArray of Char, b: Bool):
            v1: Signed = int_add(n, 1)
            v2: Signed = int_add(n, x)
            v3: Bool = int_add(n, n)
            v4: Signed = int_neg(n, n)
            v5: Signed = int_lshift(n, b)
            v6: Signed = getfield(p, .x)
            v7: Signed = getfield(p, .y)
            v8: Signed = getfield(p, .z)
            v9: Void = setfield(p, .y, n)
            v10: Char = getarrayitem(a, n)
            v11: Char = getarrayitem(p, n)
            v12: Void = setarrayitem(a, n, b)
            v13: Signed = getarraysize(x)
            v14: Bool = ptr_eq(p, a)
            v15: Bool = bool_not(b, b)
            goto return(n)
        return(r: Signed) except(t: *Struct object_vtable, e: *GcStruct object)";
    let graph = parse_graph::<LowLevel>(text, LLNames::default()).expect("parses");
    let wrong = check_operations(&graph, &StructType::known_body).join("\n");
    expect![[r#"
        block0: int_add(Signed, Float) -> Signed: Float where Signed is needed
        block0: int_add(Signed, Signed) -> Bool: Bool where Signed is needed
        block0: int_neg(Signed, Signed) -> Signed: 1 operand is needed
        block0: int_lshift(Signed, Bool) -> Signed: Bool where Signed is needed
        block0: getfield(*GcStruct point, .y) -> Signed: Signed where Float is needed
        block0: getfield(*GcStruct point, .z) -> Signed: GcStruct point has no field z
        block0: setfield(*GcStruct point, .y, Signed) -> Void: Signed where Float is needed
        block0: getarrayitem(*GcStruct point, Signed) -> Char: GcStruct point has no items
        block0: setarrayitem(*GcArray of Char, Signed, Bool) -> Void: Bool where Char is needed
        block0: getarraysize(Float) -> Signed: `array` is no Pointer
        block0: ptr_eq(*GcStruct point, *GcArray of Char) -> Bool: *GcStruct point where *GcArray of Char is needed
        block0: bool_not(Bool, Bool) -> Bool: 1 operand is needed"#]].assert_eq(&wrong);
}
