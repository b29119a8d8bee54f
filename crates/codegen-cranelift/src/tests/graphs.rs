//! One operation or shape of graph at a time.

use super::run;

#[test]
fn loops_and_switches() {
    let text = "
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
                3: block3(j, acc2, i2)
                default: block3(j, acc2, 7)
        block3(j3: Signed, acc3: Signed, x: Signed):
            b: Signed = int_add(acc3, x)
            goto block1(j3, b)
        END";
    assert_eq!(run(text, &[10]), "59");
    assert_eq!(run(text, &[1000]), "104900");
}

/// Gaps in a jump table, and cases that stand alone.
#[test]
fn switches_with_gaps() {
    let cases: Vec<i64> = [-70, -3, -2]
        .into_iter()
        .chain((0..60).filter(|n| n % 3 != 1))
        .chain([200, 201, 1 << 40])
        .collect();
    let exits: String = cases
        .iter()
        .map(|n| format!("                {n}: return({})\n", n * 10 + 1))
        .collect();
    let text = format!(
        "
        graph f
        block0(n: Signed):
            switch n
{exits}                default: return(7)
        END"
    );
    for n in (-75..75).chain([199, 200, 201, 202, 1 << 32, (1 << 40) - 1, 1 << 40]) {
        let expected = if cases.contains(&n) { n * 10 + 1 } else { 7 };
        assert_eq!(run(&text, &[n]), expected.to_string(), "{n}");
    }
}

#[test]
fn links_move_in_parallel_and_jump_to_the_start() {
    let text = "
        graph f
        block0(i: Signed, a: Signed, b: Signed):
            c: Bool = int_is_true(i)
            j: Signed = int_sub(i, 1)
            s: Signed = int_add(a, b)
            switch c
                False: return(a)
                True: block0(j, b, s)
        END";
    assert_eq!(run(text, &[50, 0, 1]), "12586269025");
}

#[test]
fn exceptions() {
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
    assert_eq!(run(text, &[5]), "25");
    assert_eq!(run(text, &[i64::MAX]), "-2");
    let escaping = "
        func g = synth 'g' (): func(Signed) -> Signed
        graph g
        block0(n: Signed):
            v: Signed = int_add_ovf(n, n)
            goto return(v)
        END
        graph f
        block0(n: Signed):
            v: Signed = direct_call(&g, n)
            w: Signed = int_add(v, 1)
            goto return(w)
        END";
    assert_eq!(run(escaping, &[20]), "41");
    assert_eq!(run(escaping, &[i64::MAX]), "OverflowError");
}

#[test]
fn runaway_recursion_raises() {
    let text = "
        func f = synth 'f' (): func(Signed) -> Signed
        graph f
        block0(n: Signed):
            v: Signed = direct_call(&f, n)
            w: Signed = int_add(v, 1)
            goto return(w)
        END";
    assert_eq!(run(text, &[1]), "StackOverflow");
}

#[test]
fn objects_and_arrays() {
    let text = "
        struct P = Struct { a: Char, b: Int32 }
        struct S = GcStruct { x: Signed, y: *GcArray of Signed, p: Struct P, z: Float }
        graph f
        block0(n: Signed):
            a: *GcArray of Signed = malloc_varsize(<type GcArray of Signed>, <gc, zero>, n)
            s: *GcStruct S = malloc(<type GcStruct S>, <gc>)
            u0: Void = setfield(s, .y, a)
            u1: Void = setarrayitem(a, 2, 40)
            u2: Void = setinteriorfield(s, .p, .b, 5i32)
            u3: Void = setfield(s, .z, 1.5)
            b: *GcArray of Signed = getfield(s, .y)
            w: Signed = getarrayitem(b, 2)
            w2: Signed = getarrayitem(b, 1)
            l: Signed = getarraysize(b)
            i: Int32 = getinteriorfield(s, .p, .b)
            j: Signed = cast_primitive(i)
            fz: Float = getfield(s, .z)
            f2: Float = float_add(fz, fz)
            k: Signed = cast_float_to_int(f2)
            p: *Struct P = getsubstruct(s, .p)
            i2: Int32 = getfield(p, .b)
            j2: Signed = cast_primitive(i2)
            v1: Signed = int_add(w, l)
            v2: Signed = int_mul(v1, 100)
            v3: Signed = int_add(v2, j)
            v4: Signed = int_mul(v3, 10)
            v5: Signed = int_add(v4, k)
            v6: Signed = int_add(v5, w2)
            v7: Signed = int_add(v6, j2)
            goto return(v7)
        END";
    assert_eq!(run(text, &[3]), "43058");
}

#[test]
fn strings_and_prebuilt_data() {
    let text = "
        graph f
        block0(n: Signed):
            c: Char = getinteriorfield(&'hello', .chars, n)
            i: Signed = cast_char_to_int(c)
            s: Signed = getinteriorarraysize(&'hello', .chars)
            a: *GcStruct rpy_string = malloc_varsize(<type GcStruct rpy_string>, <gc>, n)
            u: Void = setinteriorfield(a, .chars, 0, c)
            d: Char = getinteriorfield(a, .chars, 0)
            e: Bool = char_eq(c, d)
            e2: Signed = cast_bool_to_int(e)
            l: Signed = getinteriorarraysize(a, .chars)
            v: Signed = int_add(i, s)
            w: Signed = int_add(v, l)
            x: Signed = int_add(w, e2)
            goto return(x)
        END";
    assert_eq!(run(text, &[1]), (101 + 5 + 1 + 1).to_string());
}

#[test]
fn wide_integers() {
    let text = "
        graph f
        block0(n: Signed):
            a: Int128 = cast_primitive(n)
            b: Int128 = lllong_lshift(a, 70)
            c: Int128 = lllong_sub(b, a)
            d: Int128 = lllong_mul(c, a)
            q: Int128 = lllong_floordiv(d, 7i128)
            r: Int128 = lllong_mod(d, 1000i128)
            e: Int128 = lllong_rshift(q, 64)
            s: Int128 = lllong_add(e, r)
            v: Signed = cast_primitive(s)
            goto return(v)
        END";
    run(text, &[3]);
    run(text, &[-12345]);
}

#[test]
fn external_functions() {
    let text = "
        func pow = external 'pow': func(Float, Float) -> Float
        func rpy_float_format = external 'rpy_float_format': func(Float, Char, Signed, Signed, *GcStruct rpy_string) -> Signed
        graph f
        block0(n: Signed):
            x: Float = cast_int_to_float(n)
            y: Float = direct_call(&pow, x, 0.5)
            s: *GcStruct rpy_string = malloc_varsize(<type GcStruct rpy_string>, <gc>, 40)
            l: Signed = direct_call(&rpy_float_format, y, 'r', 0, 2, s)
            i: Signed = int_sub(l, 1)
            c: Char = getinteriorfield(s, .chars, i)
            d: Signed = cast_char_to_int(c)
            e: Signed = int_mul(l, 1000)
            v: Signed = int_add(d, e)
            goto return(v)
        END";
    assert_eq!(run(text, &[2]), (18 * 1000 + '1' as i64).to_string());
}

#[test]
fn calls_through_pointers() {
    let text = "
        func g = synth 'g' (): func(Signed) -> Signed
        func h = synth 'h' (): func(Signed) -> Signed
        graph g
        block0(n: Signed):
            v: Signed = int_add(n, 1)
            goto return(v)
        END
        graph h
        block0(n: Signed):
            v: Signed = int_mul(n, 10)
            goto return(v)
        END
        graph f
        block0(n: Signed):
            c: Bool = int_gt(n, 5)
            switch c
                False: block1(&g, n)
                True: block1(&h, n)
        block1(p: *func(Signed) -> Signed, m: Signed):
            v: Signed = indirect_call(p, m, {g, h})
            goto return(v)
        END";
    assert_eq!(run(text, &[5]), "6");
    assert_eq!(run(text, &[6]), "60");
}

const LISTS: &str = "
    struct N = GcStruct { value: Signed, next: *GcOpaque GCREF }
    func build = synth 'build' (): func(Signed) -> *GcStruct N
    graph build
    block0(n: Signed): goto block1(n, null *GcStruct N)
    block1(i: Signed, l: *GcStruct N):
        c: Bool = int_gt(i, 0)
        switch c
            False: return(l)
            True: block2(i, l)
    block2(i2: Signed, l2: *GcStruct N):
        o: *GcStruct N = malloc(<type GcStruct N>, <gc>)
        u0: Void = setfield(o, .value, i2)
        l3: *GcOpaque GCREF = cast_opaque_ptr(l2)
        u1: Void = setfield(o, .next, l3)
        j: Signed = int_sub(i2, 1)
        goto block1(j, o)
    return(result: *GcStruct N)
    except(etype: *Struct object_vtable, evalue: *GcStruct object)
    graph f
    block0(n: Signed, times: Signed):
        kept: *GcStruct N = direct_call(&build, n)
        goto block1(n, times, kept)
    block1(n1: Signed, t1: Signed, k1: *GcStruct N):
        c: Bool = int_gt(t1, 0)
        switch c
            False: block3(k1, 0)
            True: block2(n1, t1, k1)
    block2(n2: Signed, t2: Signed, k2: *GcStruct N):
        garbage: *GcStruct N = direct_call(&build, n2)
        rest: *GcOpaque GCREF = getfield(garbage, .next)
        more: *GcStruct N = malloc(<type GcStruct N>, <gc>)
        u0: Void = setfield(more, .value, t2)
        more2: *GcOpaque GCREF = cast_opaque_ptr(more)
        u2: Void = setfield(k2, .next, more2)
        t: Signed = int_sub(t2, 1)
        goto block1(n2, t, k2)
    block3(p: *GcStruct N, sum: Signed):
        z: Bool = ptr_iszero(p)
        switch z
            True: return(sum)
            False: block4(p, sum)
    block4(p4: *GcStruct N, s4: Signed):
        v: Signed = getfield(p4, .value)
        s: Signed = int_add(s4, v)
        q1: *GcOpaque GCREF = getfield(p4, .next)
        q: *GcStruct N = cast_opaque_ptr(q1)
        goto block3(q, s)
    END";

#[test]
fn objects_survive_collections() {
    assert_eq!(run(LISTS, &[10, 3]), "2");
    // 100 MB of garbage.
    let program = super::parse(LISTS);
    let args = [10_000, 300].map(taipan_lltype::LLValue::signed);
    assert_eq!(super::run_native(&program, &args), "2");
}

#[test]
fn code_as_text_has_names() {
    let program = super::transformed(&super::parse(LISTS));
    let f = program.function("f").expect("declared");
    let graph = &program.graphs["f"];
    let mut compiler = crate::FunctionCompiler::new(crate::OptLevel::Speed).expect("a machine");
    let clif = compiler.clif(&program, f, graph).expect("emits");
    assert!(clif.starts_with("function %f(i64, i64) -> i64"), "{clif}");
    for name in ["symbol rpy_state", "<type GcStruct N>", "colocated build."] {
        assert!(clif.contains(name), "{name} in {clif}");
    }
    let asm = compiler.asm(&program, f, graph).expect("compiles");
    assert!(asm.contains("rpy_slow_writebarrier"), "{asm}");
}

#[test]
fn equal_graphs_give_equal_code() {
    let program = super::transformed(&super::parse(LISTS));
    let f = program.function("f").expect("declared");
    let graph = &program.graphs["f"];
    let mut compiler = crate::FunctionCompiler::new(crate::OptLevel::Speed).expect("a machine");
    let first = compiler.compile(&program, f, graph).expect("compiles");
    // Not even what was compiled in between makes a difference.
    for g in &program.functions {
        let graph = &program.graphs[g.name()];
        compiler.compile(&program, g, graph).expect("compiles");
    }
    assert_eq!(compiler.compile(&program, f, graph), Ok(first));
}

#[test]
fn bad_graphs_are_refused() {
    let program = super::parse(
        "graph f
         block0(n: Signed):
            v: Signed = getfield(n, .x)
            goto return(v)
         END",
    );
    let f = program.function("f").expect("declared");
    let mut compiler = crate::FunctionCompiler::new(crate::OptLevel::Speed).expect("a machine");
    for _ in 0..2 {
        let e = compiler
            .compile(&program, f, &program.graphs["f"])
            .expect_err("no pointer");
        assert_eq!(
            e.to_string(),
            "f: getfield: a Signed where a pointer is needed"
        );
    }
}

/// Sums with constants, and what is on either side of where they overflow.
#[test]
fn sums_with_constants_overflow() {
    let edges = [
        i64::MIN,
        i64::MIN + 1,
        -2,
        -1,
        0,
        1,
        2,
        i64::MAX - 1,
        i64::MAX,
    ];
    for op in ["add", "sub"] {
        for constant in edges {
            for (left, right) in [
                ("n".to_owned(), constant.to_string()),
                (constant.to_string(), "n".to_owned()),
            ] {
                let text = format!(
                    "
                    graph f
                    block0(n: Signed):
                        v: Signed = int_{op}_ovf({left}, {right})
                        canraise
                            ok: return(v)
                            &vtable #00000000000000e0 as *Struct object_vtable(t: *Struct object_vtable, e: *GcStruct object): return(77)
                    END"
                );
                for n in edges {
                    let (a, b) = if left == "n" {
                        (n, constant)
                    } else {
                        (constant, n)
                    };
                    let result = match op {
                        "add" => a.checked_add(b),
                        _ => a.checked_sub(b),
                    };
                    let expected = result.unwrap_or(77).to_string();
                    assert_eq!(run(&text, &[n]), expected, "{a} {op} {b}");
                }
            }
        }
    }
}
