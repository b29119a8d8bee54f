use expect_test::expect;
use taipan_lltype::{LLValue, TableProgram};

use crate::{LLError, LLInterpreter};

fn eval(text: &str, args: &[i64]) -> String {
    let program = TableProgram::parse(text).expect("parses");
    let mut interp = LLInterpreter::new(&program);
    let f = &program.functions[program.functions.len() - 1];
    let args = args.iter().map(|a| LLValue::signed(*a)).collect();
    match interp.eval(f, args) {
        Ok(LLValue::Int(_, v)) => v.to_string(),
        Ok(v) => format!("{v:?}"),
        Err(LLError::Raised(e)) => format!("{} through {:?}", e.name, e.traceback),
        Err(e) => e.to_string(),
    }
}

const END: &str = "
    return(result: Signed)
    except(etype: *Struct object_vtable, evalue: *GcStruct object)
";

/// The text with `END` for its ends, each with names of its own.
fn ends(text: &str) -> String {
    text.replace("END", END)
}

const LOOP: &str = "
    graph f
    block0(n: Signed): goto block1(n, 0)
    block1(i: Signed, acc: Signed):
        c: Bool = int_gt(i, 0)
        switch c
            False: return(acc)
            True: block2(i, acc)
    block2(i2: Signed, acc2: Signed):
        j: Signed = int_sub(i2, 1)
        b: Signed = int_add(acc2, i2)
        goto block1(j, b)
    END";

#[test]
fn loops_run() {
    assert_eq!(eval(&ends(LOOP), &[1000]), "500500");
}

#[test]
fn links_move_in_parallel() {
    let text = "
        graph f
        block0(n: Signed): goto block1(n, 0, 1)
        block1(i: Signed, a: Signed, b: Signed):
            c: Bool = int_is_true(i)
            j: Signed = int_sub(i, 1)
            s: Signed = int_add(a, b)
            switch c
                False: return(a)
                True: block1(j, b, s)
        END";
    assert_eq!(eval(&ends(text), &[50]), "12586269025");
}

#[test]
fn exceptions_are_caught_by_class() {
    let text = "
        func g = synth 'g' (): func(Signed) -> Signed
        graph g
        block0(n: Signed):
            v: Signed = int_mul_ovf(n, n)
            goto return(v)
        END
        graph f
        block0(n: Signed):
            v: Signed = direct_call(&g, n)
            canraise
                ok: return(v)
                &vtable #00000000000000e1 as *Struct object_vtable(t0: *Struct object_vtable, v0: *GcStruct object): return(-1)
                &vtable #00000000000000e0 as *Struct object_vtable(t1: *Struct object_vtable, v1: *GcStruct object): block1(t1, v1)
        block1(t: *Struct object_vtable, w: *GcStruct object):
            k: *Struct object_vtable = getfield(w, .typeptr)
            same: Bool = ptr_eq(t, k)
            s: Signed = cast_bool_to_int(same)
            z: Signed = int_sub(s, 3)
            goto return(z)
        END";
    assert_eq!(eval(&ends(text), &[5]), "25");
    assert_eq!(eval(&ends(text), &[i64::MAX]), "-2");
}

#[test]
fn what_escapes_has_a_traceback() {
    let text = "
        func g = synth 'g' (): func(Signed) -> Signed
        graph g
        block0(n: Signed):
            v: Signed = int_add_ovf(n, n)
            goto return(v)
        END
        graph f
        block0(n: Signed):
            v: Signed = direct_call(&g, n)
            goto return(v)
        END";
    expect![[r#"OverflowError through ["g", "f"]"#]].assert_eq(&eval(&ends(text), &[i64::MAX]));
}

#[test]
fn runaway_recursion_raises() {
    let text = "
        func f = synth 'f' (): func(Signed) -> Signed
        graph f
        block0(n: Signed):
            v: Signed = direct_call(&f, n)
            goto return(v)
        END";
    assert!(eval(&ends(text), &[1]).starts_with("StackOverflow through"));
}

#[test]
fn memory_is_checked() {
    let check = |body: &str| {
        let text = format!(
            "struct S = GcStruct {{ x: Signed, y: *GcArray of Signed }}
             struct R = Struct {{ x: Signed }}
             graph f
             block0(n: Signed):
                {body}
                goto return(v)
             END"
        );
        eval(&ends(&text), &[3])
    };
    let gc = check(
        "a: *GcArray of Signed = malloc_varsize(<type GcArray of Signed>, <gc>, n)
         s: *GcStruct S = malloc(<type GcStruct S>, <gc>)
         u0: Void = setfield(s, .y, a)
         b: *GcArray of Signed = getfield(s, .y)
         u1: Void = setarrayitem(b, 2, 40)
         w: Signed = getarrayitem(a, 2)
         l: Signed = getarraysize(a)
         v: Signed = int_add(w, l)",
    );
    assert_eq!(gc, "43");
    expect!["access out of the bounds of a GcArray of Signed in f: getarrayitem(a_1: *GcArray of Signed, n_0: Signed)"]
        .assert_eq(&check(
            "a: *GcArray of Signed = malloc_varsize(<type GcArray of Signed>, <gc>, n)
             v: Signed = getarrayitem(a, n)",
        ));
    expect!["null pointer dereference in f: getfield(null *GcStruct S, .x)"]
        .assert_eq(&check("v: Signed = getfield(null *GcStruct S, .x)"));
    expect!["read of uninitialized memory of a Struct R in f: getfield(r_1: *Struct R, .x)"]
        .assert_eq(&check(
            "r: *Struct R = malloc(<type Struct R>, <raw>)
         v: Signed = getfield(r, .x)",
        ));
    expect!["use of a Struct R after it was freed in f: getfield(r_1: *Struct R, .x)"].assert_eq(
        &check(
            "r: *Struct R = malloc(<type Struct R>, <raw, zero>)
         u: Void = free(r, <raw>)
         v: Signed = getfield(r, .x)",
        ),
    );
    expect!["bad cast: a GcStruct S is no GcStruct object in f: cast_pointer(s_1: *GcStruct S)"]
        .assert_eq(&check(
            "s: *GcStruct S = malloc(<type GcStruct S>, <gc>)
         o: *GcStruct object = cast_pointer(s)
         v: Signed = int_add(n, n)",
        ));
}

#[test]
fn wide_integers_take_two_places() {
    let text = "
        graph f
        block0(n: Signed):
            a: Int128 = cast_primitive(n)
            b: Int128 = lllong_lshift(a, 70)
            c: Int128 = lllong_sub(b, a)
            d: Int128 = lllong_rshift(c, 64)
            v: Signed = cast_primitive(d)
            goto return(v)
        END";
    assert_eq!(eval(&ends(text), &[3]), "191");
}

#[test]
fn strings_are_prebuilt_lazily_and_written_out() {
    let text = "
        func rpy_os_write = external 'rpy_os_write': func(Signed, *GcStruct rpy_string) -> Signed
        graph f
        block0(n: Signed):
            v: Signed = direct_call(&rpy_os_write, 1, &'hello')
            c: Char = getinteriorfield(&'hello', .chars, n)
            i: Signed = cast_char_to_int(c)
            w: Signed = int_add(v, i)
            goto return(w)
        END";
    let program = TableProgram::parse(&ends(text)).expect("parses");
    let mut interp = LLInterpreter::new(&program);
    interp.host = crate::Host::capturing();
    let r = interp.eval(&program.functions[0], vec![LLValue::signed(1)]);
    assert_eq!(r.ok(), Some(LLValue::signed(5 + 101)));
    assert_eq!(
        interp.host.captured.map(|[out, _]| out),
        Some(b"hello".to_vec())
    );
}
