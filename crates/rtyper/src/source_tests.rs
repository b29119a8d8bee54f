//! From RPython to low-level graphs: what becomes of each kind of values.
//!
//! Names that graphs refer to are declared in front of them, and left out here.

use expect_test::{Expect, expect};
use taipan_annotator::{RootSet, Roots, annotation_diagnostics, parse_inputs, specs_of};
use taipan_graph::text::{parse_graph, print_graph};
use taipan_graph::{Const, verify};
use taipan_interp::{Name, entry_point, module_global, target_module};
use taipan_lltype::LowLevel;
use taipan_lltype::text::LLNames;
use taipan_testkit::TestDb;

use crate::queries::{FuncKey, FuncKeyKind, rtyped_graph};

/// Types `f`, called with these inputs.
#[track_caller]
fn check(source: &str, inputs: &str, expected: Expect) {
    let db = TestDb::with_fixture(&format!("#- /main.py\n{source}"));
    let program = db.program();
    let module = target_module(&db, program).expect("a module");
    let Some(Const::Obj(func)) = module_global(&db, Name::new(&db, program, module, "f")) else {
        panic!("no f");
    };
    let args = parse_inputs(inputs).expect("inputs").into();
    let roots = Roots::new(&db, program, RootSet::Call { func: *func, args }, false);
    let wrong: Vec<_> = annotation_diagnostics(&db, roots)
        .iter()
        .map(|d| d.message.clone())
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    let specs = specs_of(&db, roots);
    let spec = specs.iter().find(|s| s.func(&db) == *func);
    let key = FuncKey::new(&db, FuncKeyKind::User(*spec.expect("it is called")));
    let actual = match rtyped_graph(&db, key) {
        Ok(graph) => {
            verify(&graph).expect("valid");
            let text = print_graph::<LowLevel>(&graph, Default::default());
            let at = text.find("graph f").unwrap_or(0);
            text[at..].to_owned()
        }
        Err(d) => format!("{} {}\n", d.code, d.message),
    };
    expected.assert_eq(&actual);
}

#[test]
fn attributes_of_instances() {
    check(
        "
class Point(object):
    def __init__(self, x):
        self.x = x
def f(n):
    p = Point(n)
    p.x += 1
    return p.x
",
        "int",
        expect![[r#"
            graph f
            block0(n_0: Signed):
                p_1: *GcStruct main.Point = malloc(<type GcStruct main.Point>, <gc>) @2
                v2: *GcStruct object = cast_pointer(p_1) @2
                v3: Void = setfield(v2, .typeptr, &vtable #004c82d3acc7e63f as *Struct object_vtable) @2
                v4: Void = direct_call(&main.Point.__init__, p_1, n_0) @2
                v5: Signed = getfield(p_1, .inst_x) @6
                v6: Signed = int_add(v5, 1) @8
                v7: Void = setfield(p_1, .inst_x, v6) @10
                v8: Signed = getfield(p_1, .inst_x) @12
                goto return(v8)
            return(v9: Signed)
            except(etype_10: *Struct object_vtable, evalue_11: *GcStruct object)
        "#]],
    );
}

#[test]
fn methods_by_class() {
    check(
        "
class Shape(object):
    def area(self):
        return 0
class Square(Shape):
    def __init__(self, side):
        self.side = side
    def area(self):
        return self.side * self.side
def f(n):
    shape = Shape()
    if n > 1:
        shape = Square(n)
    return shape.area()
",
        "int",
        expect![[r#"
            graph f
            block0(n_0: Signed):
                shape_1: *GcStruct main.Shape = malloc(<type GcStruct main.Shape>, <gc>) @1
                v2: *GcStruct object = cast_pointer(shape_1) @1
                v3: Void = setfield(v2, .typeptr, &vtable #3f0169f70e087d4c as *Struct object_vtable) @1
                v4: Bool = int_gt(n_0, 1) @5
                switch v4
                    False: block2(shape_1)
                    True: block1(n_0)
            block1(n_5: Signed):
                shape_6: *GcStruct main.Square = malloc(<type GcStruct main.Square>, <gc>) @9
                v7: *GcStruct object = cast_pointer(shape_6) @9
                v8: Void = setfield(v7, .typeptr, &vtable #962cd2e855836736 as *Struct object_vtable) @9
                v9: Void = direct_call(&main.Square.__init__, shape_6, n_5) @9
                v10: *GcStruct main.Shape = cast_pointer(shape_6)
                goto block2(v10)
            block2(shape_11: *GcStruct main.Shape):
                v12: *GcStruct object = cast_pointer(shape_11) @14
                v13: *Struct object_vtable = getfield(v12, .typeptr) @14
                v14: *Struct main.Shape_vtable = cast_pointer(v13) @14
                v15: *func(*GcStruct main.Shape) -> Signed = getfield(v14, .cls_area) @14
                v16: Signed = indirect_call(v15, shape_11, {main.Square.area, main.Shape.area}) @14
                goto return(v16)
            return(v17: Signed)
            except(etype_18: *Struct object_vtable, evalue_19: *GcStruct object)
        "#]],
    );
}

#[test]
fn narrowing_by_isinstance() {
    check(
        "
class A(object):
    pass
class B(A):
    x = 5
def f(n):
    a = A()
    if n > 1:
        a = B()
    if isinstance(a, B):
        return a.x
    return n
",
        "int",
        expect![[r#"
            graph f
            block0(n_0: Signed):
                a_1: *GcStruct main.A = malloc(<type GcStruct main.A>, <gc>) @1
                v2: *GcStruct object = cast_pointer(a_1) @1
                v3: Void = setfield(v2, .typeptr, &vtable #30a97667ce46ed7c as *Struct object_vtable) @1
                v4: Bool = int_gt(n_0, 1) @5
                switch v4
                    False: block2(a_1, n_0)
                    True: block1(n_0)
            block1(n_5: Signed):
                a_6: *GcStruct main.B = malloc(<type GcStruct main.B>, <gc>) @8
                v7: *GcStruct object = cast_pointer(a_6) @8
                v8: Void = setfield(v7, .typeptr, &vtable #25f60dcc680d66ba as *Struct object_vtable) @8
                v9: *GcStruct main.A = cast_pointer(a_6)
                goto block2(v9, n_5)
            block2(a_10: *GcStruct main.A, n_11: Signed):
                v12: *GcStruct object = cast_pointer(a_10) @14
                v13: *Struct object_vtable = getfield(v12, .typeptr) @14
                v14: Bool = ptr_eq(v13, &vtable #25f60dcc680d66ba as *Struct object_vtable) @14
                switch v14
                    False: return(n_11)
                    True: block3(a_10)
            block3(a_15: *GcStruct main.A):
                v16: *GcStruct main.B = cast_pointer(a_15)
                goto block4(v16)
            block4(a_17: *GcStruct main.B):
                goto return(5)
            return(v18: Signed)
            except(etype_19: *Struct object_vtable, evalue_20: *GcStruct object)
        "#]],
    );
}

#[test]
fn lists_that_grow_and_lists_that_do_not() {
    check(
        "
def f(n):
    fixed = [n, 2]
    grown = []
    grown.append(fixed[0])
    return grown[0] + len(fixed)
",
        "int",
        expect![[r#"
            graph f
            block0(n_0: Signed):
                fixed_1: *GcArray of Signed = malloc_varsize(<type GcArray of Signed>, <gc>, 2) @2
                v2: Void = setarrayitem(fixed_1, 0, n_0) @2
                v3: Void = setarrayitem(fixed_1, 1, 2) @2
                grown_4: *GcStruct list = direct_call(&rlist.ll_newemptylist, <type GcStruct list>) @4
                v5: Signed = direct_call(&rlist.ll_getitem_nonneg, <const False>, fixed_1, 0) @10
                v6: Void = direct_call(&rlist.ll_append, grown_4, v5) @11
                v7: Signed = direct_call(&rlist.ll_getitem_nonneg~2, <const False>, grown_4, 0) @15
                v8: Signed = direct_call(&rlist.ll_length, fixed_1) @18
                v9: Signed = int_add(v7, v8) @19
                goto return(v9)
            return(v10: Signed)
            except(etype_11: *Struct object_vtable, evalue_12: *GcStruct object)
        "#]],
    );
}

#[test]
fn dicts_by_the_kind_of_their_keys() {
    check(
        "
def f(s, n):
    d = {}
    d[s] = n
    if s in d:
        return d[s]
    return len(d)
",
        "str, int",
        expect![[r#"
            graph f
            block0(s_0: *GcStruct rpy_string, n_1: Signed):
                d_2: *GcStruct dicttable = direct_call(&rdict.ll_newdict, <type GcStruct dicttable>)
                v3: Void = direct_call(&rdict.ll_dict_setitem, d_2, s_0, n_1, <func rstr.ll_strhash>, <func rstr.ll_streq>) @5
                v4: Bool = direct_call(&rdict.ll_dict_contains, d_2, s_0, <func rstr.ll_strhash>, <func rstr.ll_streq>) @9
                switch v4
                    False: block1(d_2)
                    True: block2(d_2, s_0)
            block1(d_5: *GcStruct dicttable):
                v6: Signed = direct_call(&rdict.ll_dict_len, d_5) @17
                goto return(v6)
            block2(d_7: *GcStruct dicttable, s_8: *GcStruct rpy_string):
                v9: Signed = direct_call(&rdict.ll_dict_getitem, d_7, s_8, <func rstr.ll_strhash>, <func rstr.ll_streq>) @13
                goto return(v9)
            return(v10: Signed)
            except(etype_11: *Struct object_vtable, evalue_12: *GcStruct object)
        "#]],
    );
}

#[test]
fn tuples_are_taken_apart() {
    check(
        "
def pair(n):
    return n, 'x'
def f(n):
    a, b = pair(n)
    return b * a
",
        "int",
        expect![[r#"
            graph f
            block0(n_0: Signed):
                v1: *GcStruct tuple2 = direct_call(&main.pair, n_0) @2
                goto block1(v1)
            block1(v2: *GcStruct tuple2):
                a_3: Signed = getfield(v2, .item0) @3
                v4: *GcStruct rpy_string = direct_call(&rstr.ll_char_mul, <type GcStruct rpy_string>, 'x', a_3) @8
                goto return(v4)
            return(v5: *GcStruct rpy_string)
            except(etype_6: *Struct object_vtable, evalue_7: *GcStruct object)
        "#]],
    );
}

#[test]
fn strings_and_characters() {
    check(
        "
def f(s, n):
    if s[n] == 'a' and s.startswith('b'):
        return s[1:] + 'c'
    return '%d %s' % (n, s)
",
        "str, int",
        expect![[r#"
            graph f
            block0(s_0: *GcStruct rpy_string, n_1: Signed):
                v2: Char = direct_call(&rstr.ll_stritem, s_0, n_1) @2
                v3: Bool = char_eq(v2, 'a') @4
                switch v3
                    False: block2(n_1, s_0)
                    True: block1(s_0, n_1)
            block1(s_4: *GcStruct rpy_string, n_5: Signed):
                v6: Bool = direct_call(&rstr.ll_startswith_char, s_4, 'b') @9
                switch v6
                    False: block2(n_5, s_4)
                    True: block3(s_4)
            block2(n_7: Signed, s_8: *GcStruct rpy_string):
                v9: *GcStruct tuple2 = malloc(<type GcStruct tuple2>, <gc>) @21
                v10: Void = setfield(v9, .item0, n_7) @21
                v11: Void = setfield(v9, .item1, s_8) @21
                v12: Signed = getfield(v9, .item0) @22
                v13: *GcStruct rpy_string = getfield(v9, .item1) @22
                v14: *GcStruct rpy_string = direct_call(&ll_str.ll_int2dec, v12) @22
                v15: *GcArray of *GcStruct rpy_string = malloc_varsize(<type GcArray of *GcStruct rpy_string>, <gc>, 3) @22
                v16: Void = setarrayitem(v15, 0, v14) @22
                v17: Void = setarrayitem(v15, 1, &' ') @22
                v18: Void = setarrayitem(v15, 2, v13) @22
                v19: *GcStruct rpy_string = direct_call(&rstr.ll_join_strs, <type GcStruct rpy_string>, 3, v15) @22
                goto return(v19)
            block3(s_20: *GcStruct rpy_string):
                v21: *GcStruct rpy_string = direct_call(&rstr.ll_stringslice_startonly, s_20, 1) @14
                v22: *GcStruct rpy_string = direct_call(&rstr.ll_strconcat_char, v21, 'c') @16
                goto return(v22)
            return(v23: *GcStruct rpy_string)
            except(etype_24: *Struct object_vtable, evalue_25: *GcStruct object)
        "#]],
    );
}

#[test]
fn functions_as_values() {
    check(
        "
def one(n):
    return n + 1
def two(n):
    return n + 2
def f(n):
    g = one
    if n > 5:
        g = two
    return g(n)
",
        "int",
        expect![[r#"
            graph f
            block0(n_0: Signed):
                v1: Bool = int_gt(n_0, 5) @4
                switch v1
                    False: block1(&main.one, n_0)
                    True: block1(&main.two, n_0)
            block1(g_2: *func(Signed) -> Signed, n_3: Signed):
                v4: Signed = indirect_call(g_2, n_3, {main.two, main.one}) @11
                goto return(v4)
            return(v5: Signed)
            except(etype_6: *Struct object_vtable, evalue_7: *GcStruct object)
        "#]],
    );
}

#[test]
fn exceptions_with_attributes() {
    check(
        "
class Failure(Exception):
    def __init__(self, code):
        self.code = code
def g(n):
    if n < 0:
        raise Failure(n)
    return n
def f(n):
    try:
        return g(n)
    except Failure, e:
        return e.code
    except KeyError:
        return 0
",
        "int",
        expect![[r#"
            graph f
            block0(n_0: Signed):
                v1: Signed = direct_call(&main.g, n_0) @2
                canraise
                    ok: return(v1)
                    &vtable #2108367d5b23fead as *Struct object_vtable(last_exception_2: *Struct object_vtable, last_exc_value_3: *GcStruct object): block1(last_exc_value_3)
                    &vtable #f8825ef8b178f81b as *Struct object_vtable(last_exception_4: *Struct object_vtable, last_exc_value_5: *GcStruct object): return(0)
                    &vtable #aca45f8eec18864d as *Struct object_vtable(last_exception_6: *Struct object_vtable, last_exc_value_7: *GcStruct object): except(last_exception_6, last_exc_value_7)
            block1(last_exc_value_8: *GcStruct object):
                v9: *GcStruct main.Failure = cast_pointer(last_exc_value_8)
                goto block2(v9)
            block2(e_10: *GcStruct main.Failure):
                v11: Signed = getfield(e_10, .inst_code) @11
                goto return(v11)
            return(v12: Signed)
            except(etype_13: *Struct object_vtable, evalue_14: *GcStruct object)
        "#]],
    );
}

#[test]
fn none_or_an_instance() {
    check(
        "
class Node(object):
    def __init__(self, next):
        self.next = next
def f(n):
    node = None
    for i in range(n):
        node = Node(node)
    count = 0
    while node is not None:
        count += 1
        node = node.next
    return count
",
        "int",
        expect![[r#"
            graph f
            block0(n_0: Signed):
                v1: *GcStruct range = direct_call(&rrange.ll_newrange, <type GcStruct range>, 0, n_0) @4
                v2: *GcStruct rangeiter = direct_call(&rrange.ll_rangeiter, <type GcStruct rangeiter>, v1, 1) @5
                goto block1(null *GcStruct main.Node, v2)
            block1(node_3: *GcStruct main.Node, v4: *GcStruct rangeiter):
                i_5: Signed = direct_call(&rrange.ll_rangenext, v4, 1) @6
                canraise
                    ok: block2(v4, node_3)
                    &vtable #3d216366be566776 as *Struct object_vtable(last_exception_6: *Struct object_vtable, last_exc_value_7: *GcStruct object): block3(node_3, 0)
            block2(v8: *GcStruct rangeiter, node_9: *GcStruct main.Node):
                node_10: *GcStruct main.Node = malloc(<type GcStruct main.Node>, <gc>) @10
                v11: *GcStruct object = cast_pointer(node_10) @10
                v12: Void = setfield(v11, .typeptr, &vtable #541451bba05ca7ab as *Struct object_vtable) @10
                v13: Void = direct_call(&main.Node.__init__, node_10, node_9) @10
                goto block1(node_10, v8)
            block3(node_14: *GcStruct main.Node, count_15: Signed):
                v16: Bool = ptr_iszero(node_14) @17
                switch v16
                    False: block4(count_15, node_14)
                    True: return(count_15)
            block4(count_17: Signed, node_18: *GcStruct main.Node):
                count_19: Signed = int_add(count_17, 1) @22
                node_20: *GcStruct main.Node = getfield(node_18, .inst_next) @25
                goto block3(node_20, count_19)
            return(v21: Signed)
            except(etype_22: *Struct object_vtable, evalue_23: *GcStruct object)
        "#]],
    );
}

#[test]
fn integers_of_all_widths() {
    check(
        "
from rpython.rlib.rarithmetic import r_uint, intmask, ovfcheck
def f(n):
    u = r_uint(n) >> 3
    try:
        return ovfcheck(n * 3) + intmask(u)
    except OverflowError:
        return -1
",
        "int",
        expect![[r#"
            graph f
            block0(n_0: Signed):
                v1: Unsigned = cast_int_to_uint(n_0) @2
                u_2: Unsigned = uint_rshift(v1, 3) @4
                v3: Signed = int_mul_ovf(n_0, 3) @9
                canraise
                    ok: block1(u_2, v3)
                    &vtable #fa140046a1583f06 as *Struct object_vtable(last_exception_4: *Struct object_vtable, last_exc_value_5: *GcStruct object): return(-1)
            block1(u_6: Unsigned, v7: Signed):
                v8: Signed = cast_uint_to_int(u_6) @13
                goto block2(v7, v8)
            block2(v9: Signed, v10: Signed):
                v11: Signed = int_add(v9, v10) @14
                goto return(v11)
            return(v12: Signed)
            except(etype_13: *Struct object_vtable, evalue_14: *GcStruct object)
        "#]],
    );
}

#[test]
fn pointers_and_low_level_operations() {
    check(
        "
from rpython.rtyper.lltypesystem import lltype
from rpython.rtyper.lltypesystem.lloperation import llop
POINT = lltype.GcStruct('POINT', ('x', lltype.Signed), ('y', lltype.Float))
def f(n):
    p = lltype.malloc(POINT)
    p.x = n
    p.y = 0.5
    q = lltype.malloc(lltype.GcArray(lltype.Char), n)
    q[0] = chr(p.x)
    return llop.int_add(lltype.Signed, p.x, len(q)) + ord(q[0])
",
        "int",
        expect![[r#"
            graph f
            block0(n_0: Signed):
                p_1: *GcStruct POINT = malloc(<type GcStruct POINT>, <gc>) @3
                v2: Void = setfield(p_1, .x, n_0) @7
                v3: Void = setfield(p_1, .y, 0.5) @10
                q_4: *GcArray of Char = malloc_varsize(<type GcArray of Char>, <gc>, n_0) @19
                v5: Signed = getfield(p_1, .x) @23
                v6: Char = cast_int_to_char(v5) @24
                v7: Void = setarrayitem(q_4, 0, v6) @27
                v8: Signed = getfield(p_1, .x) @33
                v9: Signed = getarraysize(q_4) @36
                v10: Signed = int_add(v8, v9) @37
                v11: Char = getarrayitem(q_4, 0) @41
                v12: Signed = cast_char_to_int(v11) @42
                v13: Signed = int_add(v10, v12) @43
                goto return(v13)
            return(v14: Signed)
            except(etype_15: *Struct object_vtable, evalue_16: *GcStruct object)
        "#]],
    );
}

#[test]
fn what_has_no_low_level_form() {
    check(
        "
def f(n):
    d = {}
    d[[n]] = n
    return len(d)
",
        "int",
        expect![[r#"
            TP0426 a list cannot be the key of a dict: it has no hash
        "#]],
    );
}

#[test]
fn low_level_operations_on_other_operands() {
    check(
        "
from rpython.rtyper.lltypesystem import lltype
from rpython.rtyper.lltypesystem.lloperation import llop
def f(n):
    # What a list is at run time only the RTyper knows.
    return llop.int_add(lltype.Signed, n, [n])
",
        "int",
        expect![[r#"
            TP0401 `llop.int_add()`: `right` is no Primitive
        "#]],
    );
}

/// The text of low-level graphs is read back as the same graph, but for the places of links.
#[test]
fn text_of_graphs_is_read_back() {
    for name in ["lisp", "richards"] {
        let path = format!(
            "{}/../../fixtures/programs/{name}.py",
            env!("CARGO_MANIFEST_DIR")
        );
        let source = std::fs::read_to_string(path).expect("a fixture");
        let db = TestDb::with_fixture(&format!("#- /main.py\n{source}"));
        let program = db.program();
        let entry = entry_point(&db, program).clone().expect("an entry point");
        let roots = Roots::new(&db, program, RootSet::EntryPoint(entry), false);
        let specs = specs_of(&db, roots);
        assert!(specs.len() > 10, "{name}: {}", specs.len());
        for spec in specs.iter() {
            let key = FuncKey::new(&db, FuncKeyKind::User(*spec));
            let mut graph = rtyped_graph(&db, key).clone().expect("a graph");
            let links = std::sync::Arc::make_mut(&mut graph).blocks.iter_mut();
            for link in links.flat_map(|b| &mut b.exits) {
                link.at = None;
            }
            let text = print_graph::<LowLevel>(&graph, LLNames::default());
            let read = parse_graph::<LowLevel>(&text, LLNames::default());
            let read = read.unwrap_or_else(|e| panic!("{name}: {e}\n{text}"));
            assert!(read == *graph, "{name}: {text}");
        }
    }
}
