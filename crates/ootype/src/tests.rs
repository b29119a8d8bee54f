use expect_test::{Expect, expect};
use taipan_graph::text::{parse_graph, print_graph};
use taipan_lltype::TableProgram;
use taipan_lltype::text::LLNames;

use crate::{OOOp, ObjectOp, ObjectOriented, check_graph, initialize_at_once, lower};

const END: &str = "
    except(etype: *Struct object_vtable, evalue: *GcStruct object)
";

fn lowered(text: &str) -> String {
    let program = TableProgram::parse(&format!("{text}{END}")).expect("parses");
    let graph = program.graphs.values().next().expect("a graph");
    match lower(graph, &program) {
        Ok(graph) => {
            assert_eq!(check_graph(&graph, &program), Vec::<String>::new());
            let text = print_graph(&graph, LLNames::default());
            let again =
                parse_graph::<ObjectOriented>(&text, LLNames::default()).expect("its text parses");
            assert_eq!(print_graph(&again, LLNames::default()), text);
            text
        }
        Err(found) => (found.iter())
            .map(|e| {
                format!(
                    "at {}: {}; {}\n",
                    e.at,
                    e.lack.what(),
                    e.lack.instead("--backend wasmgc")
                )
            })
            .collect(),
    }
}

#[track_caller]
fn check(text: &str, expected: Expect) {
    expected.assert_eq(&lowered(text));
}

#[test]
fn fields_and_items() {
    check(
        "
    struct entry = Struct { key: *GcStruct rpy_string, value: Signed, }
    struct table = GcStruct { count: Signed, entries: *GcArray of Struct entry, }
    graph f
    block0(t: *GcStruct table, i: Signed):
        e: *GcArray of Struct entry = getfield(t, .entries)
        n: Signed = getarraysize(e)
        v: Signed = getinteriorfield(e, i, .value)
        x: Void = setinteriorfield(e, i, .value, n)
        p: *Struct entry = getarraysubstruct(e, i)
        k: *GcStruct rpy_string = getfield(p, .key)
        c: Char = getinteriorfield(k, .chars, i)
        l: Signed = getinteriorarraysize(k, .chars)
        y: Void = keepalive(k)
        goto return(l)
    return(r: Signed)",
        expect![[r#"
            struct entry = Struct { key: *GcStruct rpy_string, value: Signed, }
            struct table = GcStruct { count: Signed, entries: *GcArray of Struct entry, }
            graph f
            block0(t_0: Instance(GcStruct table), i_1: Signed):
                e_2: Array(GcArray of Struct entry) = oogetfield(t_0, .entries)
                n_3: Signed = oolength(e_2)
                v4: Record(Struct entry) = oogetitem(e_2, i_1)
                v_5: Signed = oogetfield(v4, .value)
                v6: Record(Struct entry) = oogetitem(e_2, i_1)
                x_7: Void = oosetfield(v6, .value, n_3)
                p_8: Record(Struct entry) = oogetitem(e_2, i_1)
                k_9: Instance(GcStruct rpy_string) = oogetfield(p_8, .key)
                v10: Array(Array(immutable, extra_item) of Char) = oogetfield(k_9, .chars)
                c_11: Char = oogetitem(v10, i_1)
                v12: Array(Array(immutable, extra_item) of Char) = oogetfield(k_9, .chars)
                l_13: Signed = oolength(v12)
                y_14: Void = same_as(Void)
                goto return(l_13)
            return(r_15: Signed)
            except(etype_16: Class(Struct object_vtable), evalue_17: Instance(GcStruct object))
        "#]],
    );
}

#[test]
fn allocation_casts_and_comparison() {
    check(
        "
    struct base = GcStruct { super: GcStruct object, x: Signed, }
    struct derived = GcStruct { super: GcStruct base, y: Void, z: Float, }
    graph f
    block0(n: Signed):
        d: *GcStruct derived = malloc(<type GcStruct derived>, <gc>)
        z: Void = setfield(d, .z, 1.5)
        y: Void = setfield(d, .y, Void)
        b: *GcStruct base = cast_pointer(d)
        o: *GcStruct object = getsubstruct(b, .super)
        h: Signed = gc_identityhash(o)
        g: *GcOpaque GCREF = cast_opaque_ptr(o)
        s: *GcStruct rpy_string = malloc_varsize(<type GcStruct rpy_string>, <gc>, n)
        ok: Bool = shrink_array(s, n)
        ne: Bool = ptr_ne(o, null *GcStruct object)
        nz: Bool = ptr_nonzero(s)
        switch nz
            False: return(o)
            True: return(null *GcStruct object)
    return(r: *GcStruct object)",
        expect![[r#"
            struct base = GcStruct { super: GcStruct object, x: Signed, }
            struct derived = GcStruct { super: GcStruct base, y: Void, z: Float, }
            graph f
            block0(n_0: Signed):
                d_1: Instance(GcStruct derived) = oonew(<type GcStruct derived>)
                z_2: Void = oosetfield(d_1, .z, 1.5)
                y_3: Void = same_as(Void)
                b_4: Instance(GcStruct base) = oocast(d_1)
                o_5: Instance(GcStruct object) = oocast(b_4)
                h_6: Signed = ooidentityhash(o_5)
                g_7: Object = oocast(o_5)
                s_8: Instance(GcStruct rpy_string) = oonew_items(<type GcStruct rpy_string>, n_0)
                v9: Void = ooshrink(s_8, n_0)
                ok_10: Bool = same_as(True)
                v11: Bool = oois(o_5, null *GcStruct object)
                ne_12: Bool = bool_not(v11)
                v13: Bool = ooisnull(s_8)
                nz_14: Bool = bool_not(v13)
                switch nz_14
                    False: return(o_5)
                    True: return(null *GcStruct object)
            return(r_15: Instance(GcStruct object))
            except(etype_16: Class(Struct object_vtable), evalue_17: Instance(GcStruct object))
        "#]],
    );
}

#[test]
fn calls_and_strings() {
    check(
        "
    func g = user #00000000000000aa '' 'm.g': func(Signed) -> Signed
    graph f
    block0(m: *func(Signed) -> Signed, a: *GcStruct rpy_string, b: *GcStruct rpy_string):
        x: Signed = indirect_call(m, 1, {g})
        c: Bool = exc_occurred()
        y: Signed = direct_call(&g, x)
        z: Void = gc_copy_array(a, b, 0, x, y)
        w: Void = jit_marker(.merge, Void, Void, x)
        goto return(y)
    return(r: Signed)",
        expect![[r#"
            func m.g = user #00000000000000aa '' 'm.g': func(Signed) -> Signed
            graph f
            block0(m_0: StaticMethod(func(Signed) -> Signed), a_1: Instance(GcStruct rpy_string), b_2: Instance(GcStruct rpy_string)):
                x_3: Signed = oocall(m_0, 1)
                c_4: Bool = exc_occurred()
                y_5: Signed = direct_call(&m.g, x_3)
                v6: Array(Array(immutable, extra_item) of Char) = oogetfield(a_1, .chars)
                v7: Array(Array(immutable, extra_item) of Char) = oogetfield(b_2, .chars)
                z_8: Void = oocopyitems(v6, v7, 0, x_3, y_5)
                w_9: Void = same_as(Void)
                goto return(y_5)
            return(r_10: Signed)
            except(etype_11: Class(Struct object_vtable), evalue_12: Instance(GcStruct object))
        "#]],
    );
}

#[test]
fn what_has_no_translation() {
    let mut told = String::new();
    for text in [
        "p: *Struct raw = malloc(<type Struct raw>, <raw>) @7",
        "a: Address = raw_malloc(8) @8",
        "a: Signed = cast_ptr_to_int(s) @9",
        "a: Signed = gc_load_indexed(s, 0, 1, 16) @10",
        "h: Signed = gc_identityhash(s) @11",
        "a: Signed = threadlocalref_get(0) @12",
    ] {
        told.push_str(&lowered(&format!(
            "
    struct raw = Struct {{ x: Signed, }}
    graph f
    block0(s: *GcStruct rpy_string):
        {text}
        goto return(s)
    return(r: *GcStruct rpy_string)"
        )));
    }
    expect![[r#"
        at 7: no raw memory: all objects are the collector's; keep the data in lists, strings or instances; or leave out `--backend wasmgc`: without it there is raw memory
        at 8: no raw memory: all objects are the collector's; keep the data in lists, strings or instances; or leave out `--backend wasmgc`: without it there is raw memory
        at 9: no addresses: a reference to an object is no number, and there is none to a part of it; use indices into lists and strings; or leave out `--backend wasmgc`: without it objects have addresses
        at 10: no way to read or write several bytes of an object as one number; use indices into lists and strings; or leave out `--backend wasmgc`: without it objects have addresses
        at 11: no identity hash of strings, lists and tuples, only of instances; give the object a number of its own in a field; or leave out `--backend wasmgc`
        at 12: no thread-local values: there is one thread; use a global variable
    "#]].assert_eq(&told);
}

/// A line of a graph with the names of variables alone.
fn without_numbers(line: &str) -> String {
    let mut parts = line.split('_');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_digit());
        match rest.len() < part.len() {
            true => out.push_str(rest),
            false => out.extend(["_", part]),
        }
    }
    out
}

#[test]
fn first_values_of_fields_are_those_of_the_allocation() {
    let text = "
    struct base = GcStruct { super: GcStruct object, x: Signed, }
    struct derived = GcStruct { super: GcStruct base, y: Signed, z: Signed, next: *GcStruct base, }
    graph f
    block0(n: Signed, d: *GcStruct derived, b0: *GcStruct base):
        a: *GcStruct derived = malloc(<type GcStruct derived>, <gc>)
        b: *GcStruct base = cast_pointer(a)
        m: Signed = int_add(n, 1)
        q: Signed = getfield(d, .y)
        u0: Void = setfield(b, .x, m)
        u1: Void = setfield(a, .y, q)
        u2: Void = setfield(a, .next, b0)
        u3: Void = setfield(a, .y, 5)
        c: *GcStruct derived = malloc(<type GcStruct derived>, <gc>)
        u4: Void = setfield(c, .next, b)
        u5: Void = setfield(c, .z, n)
        u6: Void = setfield(a, .next, b)
        goto return(b)
    return(r: *GcStruct base)";
    let program = TableProgram::parse(&format!("{text}{END}")).expect("parses");
    let graph = program.graphs.values().next().expect("a graph");
    let mut graph = lower(graph, &program).expect("it has a translation");
    initialize_at_once(&mut graph, &program);
    assert_eq!(check_graph(&graph, &program), Vec::<String>::new());
    let text = print_graph(&graph, LLNames::default());
    let block: Vec<String> = (text.lines())
        .skip_while(|l| !l.starts_with("block0"))
        .take_while(|l| !l.starts_with("return"))
        .map(without_numbers)
        .collect();
    expect![[r#"
        block0(n: Signed, d: Instance(GcStruct derived), b0: Instance(GcStruct base)):
            m: Signed = int_add(n, 1)
            q: Signed = oogetfield(d, .y)
            a: Instance(GcStruct derived) = oonew(<type GcStruct derived>, .x, m, .y, q, .next, b0)
            b: Instance(GcStruct base) = oocast(a)
            u3: Void = oosetfield(a, .y, 5)
            c: Instance(GcStruct derived) = oonew(<type GcStruct derived>, .next, b, .z, n)
            u6: Void = oosetfield(a, .next, b)
            goto return(b)
    "#]]
    .assert_eq(&format!("{}\n", block.join("\n")));
}

#[test]
fn mistakes_in_graphs_are_found() {
    let text = "
    struct point = GcStruct { x: Signed, }
    graph f
    block0(p: Instance(GcStruct point), a: Array(GcArray of Float)):
        u: Float = oogetfield(p, .x)
        v: Signed = oogetfield(p, .y)
        w: Signed = oogetitem(a, 1)
        x: Signed = oolength(p)
        y: Bool = ooisnull(x)
        z: Void = oosetitem(a, 1)
        goto return(u)
    return(r: Signed)
    except(etype: Class(Struct object_vtable), evalue: Instance(GcStruct object))";
    let graph = parse_graph::<ObjectOriented>(text, LLNames::default()).expect("parses");
    let wrong = check_graph(&graph, &TableProgram::default());
    expect![[r#"
        block0: argument 0 for block1 is a Float, not a Int(IntKind { signed: true, bits: 64 })
        block0: oogetfield: Float where Signed is needed
        block0: oogetfield: GcStruct point has no field y
        block0: oogetitem: Signed where Float is needed
        block0: oolength: `array` is no Array
        block0: ooisnull: `object` is no Reference
        block0: oosetitem: 3 operands are needed"#]]
    .assert_eq(&wrong.join("\n"));
}

#[test]
fn operations_are_found_by_name() {
    for op in ObjectOp::ALL {
        assert_eq!(OOOp::from_name(op.name()), Some(OOOp::Object(*op)));
    }
    assert_eq!(OOOp::from_name("raw_malloc"), None);
}
