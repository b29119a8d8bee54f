use expect_test::{Expect, expect};
use taipan_lltype::{LLValue, Program as _, TableProgram};
use taipan_ootype::lower;

use super::{OOError, OOInterpreter};
use crate::{Host, LLError};

/// Evaluates the last function of a program on an integer. Its graphs are translated as they are.
fn eval(text: &str, arg: i64) -> (String, Vec<u8>) {
    let ends = "
    return(result: Signed)
    except(etype: *Struct object_vtable, evalue: *GcStruct object)
";
    let program = TableProgram::parse(&text.replace("END", ends)).expect("parses");
    let graph_of = |f: &taipan_lltype::FuncSym| {
        let graph = program.graph(f)?;
        Some(lower(&graph, &program).map(Into::into))
    };
    let mut interp = OOInterpreter::new(&program, Box::new(graph_of));
    interp.host = Host::capturing();
    let f = &program.functions[program.functions.len() - 1];
    let text = match interp.eval(f, &[LLValue::signed(arg)]) {
        Ok(LLValue::Int(_, v)) => v.to_string(),
        Ok(v) => format!("{v:?}"),
        Err(OOError::Low(LLError::Raised(e))) => format!("{} through {:?}", e.name, e.traceback),
        Err(OOError::Low(e)) => e.to_string(),
        Err(OOError::Lacks { lack, calls }) => {
            let calls = calls.iter().map(|c| format!(" {}:{}", c.func.name(), c.at));
            format!("{}{}", lack.what(), calls.collect::<String>())
        }
    };
    let [out, _] = interp.host.captured.unwrap_or_default();
    (text, out)
}

#[track_caller]
fn check(body: &str, arg: i64, expected: Expect) {
    let text = format!(
        "
    struct base = GcStruct {{ super: GcStruct object, x: Signed, }}
    struct derived = GcStruct {{ super: GcStruct base, y: Signed, }}
    struct pair = Struct {{ a: Signed, b: *GcStruct base, }}
    struct wide = GcStruct {{ w: Int128, }}
    graph f
    block0(n: Signed):
        {body}
        goto return(v)
    END"
    );
    expected.assert_eq(&eval(&text, arg).0);
}

#[test]
fn records_are_copied_by_content() {
    check(
        "p: *GcArray of Struct pair = malloc_varsize(<type GcArray of Struct pair>, <gc>, 4)
         u0: Void = setinteriorfield(p, 0, .a, 10)
         u1: Void = setinteriorfield(p, 1, .a, 20)
         u2: Void = setinteriorfield(p, 2, .a, 30)
         u3: Void = gc_copy_array(p, p, 0, 1, 3)
         u4: Void = setinteriorfield(p, 0, .a, 7)
         i: *Struct pair = getarraysubstruct(p, n)
         v: Signed = getfield(i, .a)",
        3,
        expect!["30"],
    );
}

#[test]
fn integers_of_128_bits_are_fields() {
    check(
        "w: *GcStruct wide = malloc(<type GcStruct wide>, <gc>)
         a: Int128 = cast_primitive(n)
         b: Int128 = lllong_lshift(a, 100)
         u0: Void = setfield(w, .w, b)
         c: Int128 = getfield(w, .w)
         d: Int128 = lllong_rshift(c, 98)
         v: Signed = cast_primitive(d)",
        -3,
        expect!["-12"],
    );
}

#[test]
fn accesses_are_checked() {
    check(
        "a: *GcArray of Signed = malloc_varsize(<type GcArray of Signed>, <gc>, n)
         v: Signed = getarrayitem(a, n)",
        3,
        expect!["access out of the bounds of a GcArray of Signed in f: oogetitem"],
    );
    check(
        "v: Signed = getfield(null *GcStruct base, .x)",
        3,
        expect!["null pointer dereference in f: oogetfield"],
    );
    check(
        "b: *GcStruct base = malloc(<type GcStruct base>, <gc>)
         d: *GcStruct derived = cast_pointer(b)
         v: Signed = getfield(d, .y)",
        3,
        expect!["bad cast: a GcStruct base is no GcStruct derived in f: oocast"],
    );
    check(
        "v: Signed = int_floordiv(n, 0)",
        3,
        expect!["division by zero in f: int_floordiv"],
    );
}

#[test]
fn a_weak_reference_is_cleared_when_its_object_is_not_used_any_more() {
    let body = |last: &str| {
        format!(
            "b: *GcStruct base = malloc(<type GcStruct base>, <gc>)
         o: *GcStruct object = cast_pointer(b)
         w: *GcOpaque GCREF = weakref_create(o)
         u0: Void = gc__collect()
         r: *GcStruct object = weakref_deref(w)
         z: Bool = ptr_iszero(r)
         c: Signed = cast_bool_to_int(z)
         {last}"
        )
    };
    check(&body("v: Signed = same_as(c)"), 0, expect!["1"]);
    let used = body("x: Signed = getfield(b, .x)\nv: Signed = int_add(c, x)");
    check(&used, 0, expect!["0"]);
}

/// The register of a variable that is defined later in the block holds the object of the round before.
#[test]
fn objects_of_earlier_rounds_are_dead() {
    let text = "
    struct base = GcStruct { super: GcStruct object, x: Signed, }
    graph f
    block0(n: Signed):
        first: *GcStruct object = malloc(<type GcStruct object>, <gc>)
        w: *GcOpaque GCREF = weakref_create(first)
        goto block1(n, w)
    block1(k: Signed, w1: *GcOpaque GCREF):
        u0: Void = gc__collect()
        r: *GcStruct object = weakref_deref(w1)
        dead: Bool = ptr_iszero(r)
        b: *GcStruct base = malloc(<type GcStruct base>, <gc>)
        u1: Void = setfield(b, .x, k)
        o: *GcStruct object = cast_pointer(b)
        w2: *GcOpaque GCREF = weakref_create(o)
        x: Signed = getfield(b, .x)
        last: Bool = int_le(x, 0)
        switch last
            False: block2(k, w2)
            True: block3(dead)
    block2(m: Signed, w3: *GcOpaque GCREF):
        m1: Signed = int_sub(m, 1)
        goto block1(m1, w3)
    block3(found: Bool):
        v: Signed = cast_bool_to_int(found)
        goto return(v)
    END";
    expect!["1"].assert_eq(&eval(text, 2).0);
}

#[test]
fn strings_are_passed_out_and_in() {
    let (text, out) = eval(
        "
        func rpy_os_write = external 'rpy_os_write': func(Signed, *GcStruct rpy_string) -> Signed
        graph f
        block0(n: Signed):
            v: Signed = direct_call(&rpy_os_write, 1, &'hello')
            c: Char = getinteriorfield(&'hello', .chars, n)
            i: Signed = cast_char_to_int(c)
            w: Signed = int_add(v, i)
            goto return(w)
        END",
        1,
    );
    assert_eq!((text.as_str(), &out[..]), ("106", &b"hello"[..]));
}

#[test]
fn a_missing_feature_is_reported_with_its_calls() {
    let (text, _) = eval(
        "
        func g = synth 'g' (): func(Signed) -> Signed
        graph g
        block0(n: Signed):
            p: Address = raw_malloc(n) @7
            v: Signed = cast_adr_to_int(p) @8
            goto return(v)
        END
        graph f
        block0(n: Signed):
            v: Signed = direct_call(&g, n) @3
            goto return(v)
        END",
        1,
    );
    expect!["no raw memory: all objects are the collector's g:7 f:3"].assert_eq(&text);
}

#[test]
fn exceptions_have_a_traceback() {
    let (text, _) = eval(
        "
        func g = synth 'g' (): func(Signed) -> Signed
        graph g
        block0(n: Signed):
            u0: Void = exc_set(&vtable #00000000000000e0 as *Struct object_vtable, null *GcStruct object)
            u1: Void = debug_start_traceback(&vtable #00000000000000e0 as *Struct object_vtable)
            goto return(n)
        END
        graph f
        block0(n: Signed):
            v: Signed = direct_call(&g, n)
            u0: Void = debug_record_traceback()
            goto return(v)
        END",
        1,
    );
    expect![[r#"Exception through ["g", "f"]"#]].assert_eq(&text);
}
