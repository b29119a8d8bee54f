use expect_test::{Expect, expect};
use taipan_lltype::{FuncSym, LLType, Program, TableProgram, TypeKind};
use taipan_ootype::lower;
use taipan_testkit::with_ends;

use crate::{HOST_FUNCTIONS, Linker, SUPPORT, function_code};

const MAIN: &str = "
    graph main
    block0():
        v: Signed = direct_call(&f, 10)
        goto return(v)
    END";

/// The module of a program that calls a function `f`, which has been validated.
pub(crate) fn module(text: &str) -> Vec<u8> {
    let declared = "func f = synth 'f' (): func(Signed) -> Signed";
    let text = with_ends(&format!("{declared}\n{text}{MAIN}"));
    let program = TableProgram::parse(&text).expect("parses");
    let entry = program.function("main").expect("an entry point");
    let mut linker = Linker::new(&program, entry).expect("the host has all");
    loop {
        let missing = linker.missing();
        if missing.is_empty() {
            break;
        }
        for f in missing {
            let graph = program.graph(&f).expect("it is there");
            let graph = lower(&graph, &program).expect("it has a translation");
            let code = function_code(&graph, type_of(&f), &program).expect("it has code");
            linker.add(&f, code.into()).expect("the host has all");
        }
    }
    let linked = linker.finish(true).expect("it is complete");
    crate::linker::validate(&linked.module);
    linked.module
}

fn type_of(f: &FuncSym) -> LLType {
    LLType::new(TypeKind::Func(f.ty().clone()))
}

/// The text of a function.
fn function(text: &str, name: &str) -> String {
    let all = wasmprinter::print_bytes(module(text)).expect("it is valid");
    let start = format!("(func ${name} ");
    let lines = all
        .lines()
        .skip_while(|l| !l.trim_start().starts_with(&start));
    let mut out = String::new();
    for line in lines {
        out.push_str(line.strip_prefix("  ").unwrap_or(line));
        out.push('\n');
        if line == "  )" {
            break;
        }
    }
    out
}

#[track_caller]
fn check(text: &str, name: &str, expected: Expect) {
    expected.assert_eq(&function(text, name));
}

#[test]
fn a_loop() {
    check(
        "
    graph f
    block0(n: Signed): goto block1(n, 0)
    block1(i: Signed, s: Signed):
        c: Bool = int_gt(i, 0)
        switch c
            False: return(s)
            True: block2(i, s)
    block2(j: Signed, t: Signed):
        u: Signed = int_add(t, j)
        k: Signed = int_sub(j, 1)
        goto block1(k, u)
    END",
        "f",
        expect![[r#"
            (func $f (;6;) (type $"func(Signed) -> Signed") (param i64) (result i64)
              (local i64 i64)
              local.get 0
              i64.const 0
              local.set 2
              local.set 1
              loop ;; label = @1
                local.get 1
                i64.const 0
                i64.gt_s
                if ;; label = @2
                  local.get 1
                  i64.const 1
                  i64.sub
                  local.get 2
                  local.get 1
                  i64.add
                  local.set 2
                  local.set 1
                  br 1 (;@1;)
                end
                local.get 2
                return
              end
              unreachable
            )
        "#]],
    );
}

#[test]
fn a_loop_with_two_entries() {
    check(
        "
    graph f
    block0(n: Signed):
        c: Bool = int_gt(n, 10)
        switch c
            False: block1(n)
            True: block2(n)
    block1(a: Signed):
        b: Signed = int_sub(a, 1)
        goto block2(b)
    block2(d: Signed):
        e: Bool = int_gt(d, 0)
        switch e
            False: return(d)
            True: block1(d)
    END",
        "f",
        expect![[r#"
            (func $f (;6;) (type $"func(Signed) -> Signed") (param i64) (result i64)
              (local i32 i64 i64)
              loop ;; label = @1
                block ;; label = @2
                  block ;; label = @3
                    block ;; label = @4
                      local.get 1
                      br_table 0 (;@4;) 1 (;@3;) 2 (;@2;)
                    end
                    local.get 0
                    i64.const 10
                    i64.gt_s
                    if ;; label = @4
                      local.get 0
                      local.set 2
                      i32.const 1
                      local.set 1
                      br 3 (;@1;)
                    end
                    local.get 0
                    local.set 3
                    i32.const 2
                    local.set 1
                    br 2 (;@1;)
                  end
                  local.get 2
                  i64.const 0
                  i64.gt_s
                  if ;; label = @3
                    local.get 2
                    local.set 3
                    i32.const 2
                    local.set 1
                    br 2 (;@1;)
                  end
                  local.get 2
                  return
                end
                local.get 3
                i64.const 1
                i64.sub
                local.set 2
                i32.const 1
                local.set 1
                br 0 (;@1;)
              end
              unreachable
            )
        "#]],
    );
}

#[test]
fn objects_and_arrays() {
    check(
        "
    struct base = GcStruct { super: GcStruct object, x: Signed, }
    struct derived = GcStruct { super: GcStruct base, c: Char, items: *GcArray of Int16, }
    graph f
    block0(n: Signed):
        d: *GcStruct derived = malloc(<type GcStruct derived>, <gc>)
        a: *GcArray of Int16 = malloc_varsize(<type GcArray of Int16>, <gc>, n)
        s: Void = setfield(d, .items, a)
        b: *GcStruct base = cast_pointer(d)
        t: Void = setfield(b, .x, n)
        e: *GcStruct derived = cast_pointer(b)
        i: *GcArray of Int16 = getfield(e, .items)
        v: Int16 = getarrayitem(i, n)
        w: Signed = cast_primitive(v)
        c: Char = getfield(e, .c)
        m: Bool = char_lt(c, 'x')
        switch m
            False: return(w)
            True: return(7)
    END",
        "f",
        expect![[r#"
            (func $f (;6;) (type $"func(Signed) -> Signed") (param i64) (result i64)
              (local (ref null $"GcStruct derived") (ref null $"GcStruct derived") (ref null $"GcArray of Int16"))
              struct.new_default $"GcStruct derived"
              local.set 1
              local.get 0
              i64.const 536870400
              i64.gt_u
              if (result (ref null $"GcArray of Int16")) ;; label = @1
                ref.null $"GcArray of Int16"
              else
                local.get 0
                i32.wrap_i64
                array.new_default $"GcArray of Int16"
              end
              local.set 3
              local.get 1
              local.get 3
              struct.set $"GcStruct derived" $items
              local.get 1
              local.get 0
              struct.set $"GcStruct base" $x
              local.get 1
              ref.cast (ref null $"GcStruct derived")
              local.tee 2
              struct.get_u $"GcStruct derived" $c
              i32.const 120
              i32.lt_u
              if ;; label = @1
                i64.const 7
                return
              end
              local.get 2
              struct.get $"GcStruct derived" $items
              local.get 0
              i32.wrap_i64
              array.get_s $"GcArray of Int16"
              i64.extend_i32_s
              return
            )
        "#]],
    );
}

#[test]
fn switches() {
    check(
        "
    graph f
    block0(n: Signed):
        switch n
            3: return(30)
            4: return(40)
            5: return(50)
            7: return(70)
            default: return(n)
    END",
        "f",
        expect![[r#"
            (func $f (;6;) (type $"func(Signed) -> Signed") (param i64) (result i64)
              (local i64 i64)
              local.get 0
              local.set 1
              block ;; label = @1
                block ;; label = @2
                  block ;; label = @3
                    block ;; label = @4
                      block ;; label = @5
                        local.get 1
                        i64.const 3
                        i64.sub
                        local.tee 2
                        i32.wrap_i64
                        i32.const 5
                        local.get 2
                        i64.const 5
                        i64.lt_u
                        select
                        br_table 0 (;@5;) 1 (;@4;) 2 (;@3;) 4 (;@1;) 3 (;@2;) 4 (;@1;)
                      end
                      i64.const 30
                      return
                    end
                    i64.const 40
                    return
                  end
                  i64.const 50
                  return
                end
                i64.const 70
                return
              end
              local.get 0
              return
            )
        "#]],
    );
}

#[test]
fn overflow_and_exceptions() {
    check(
        "
    graph f
    block0(n: Signed):
        v: Signed = int_mul_ovf(n, n)
        canraise
            ok: block1(v)
            &vtable #00000000000000e4 as *Struct object_vtable(_, _): block2()
    block1(w: Signed):
        x: Signed = int_rshift(w, n)
        y: Signed = int_floordiv(x, n)
        goto return(y)
    block2():
        s: Void = exc_set(&vtable #00000000000000e4 as *Struct object_vtable, null *GcStruct object)
        o: Bool = exc_occurred()
        k: Bool = stack_check()
        switch k
            False: return(-1)
            True: return(-2)
    END",
        "f",
        expect![[r#"
            (func $f (;6;) (type $"func(Signed) -> Signed") (param i64) (result i64)
              (local i64 i64 i64)
              global.get $Depth
              i32.const 184
              i32.add
              global.set $Depth
              local.get 0
              local.get 0
              i64.mul
              local.tee 1
              local.set 2
              local.get 0
              local.get 0
              call $MulOverflows
              if ;; label = @1
                global.get $"&vtable #00000000000000e4"
                ref.null $"GcStruct object"
                global.set $ExcValue
                global.set $ExcType
                global.get $Depth
                global.get $StackLimit
                i32.gt_u
                if ;; label = @2
                  i64.const -2
                  global.get $Depth
                  i32.const -184
                  i32.add
                  global.set $Depth
                  return
                end
                i64.const -1
                global.get $Depth
                i32.const -184
                i32.add
                global.set $Depth
                return
              end
              local.get 2
              local.get 0
              i64.const 63
              local.get 0
              i64.const 63
              i64.lt_u
              select
              i64.shr_s
              local.set 3
              local.get 0
              i64.const -1
              i64.eq
              if (result i64) ;; label = @1
                i64.const 0
                local.get 3
                i64.sub
              else
                local.get 3
                local.get 0
                i64.div_s
              end
              global.get $Depth
              i32.const -184
              i32.add
              global.set $Depth
              return
            )
        "#]],
    );
}

/// Programs call exactly the functions that the host has.
#[test]
fn the_host_has_its_functions() {
    let (_, body) = SUPPORT
        .split_once("function functions(program, system)")
        .expect("it is there");
    let (_, mathematics) = SUPPORT
        .split_once("const mathematics = {")
        .expect("it is there");
    let (mathematics, _) = mathematics.split_once("};").expect("an end");
    let (_, body) = body.split_once("...mathematics,").expect("it is there");
    let names = |text: &str, indent: &str| -> Vec<String> {
        let lines = text.lines().filter_map(|l| l.strip_prefix(indent));
        let names = lines.filter_map(|l| l.split([':', ',']).next());
        let is_name =
            |n: &&str| !n.is_empty() && n.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        names.filter(is_name).map(str::to_owned).collect()
    };
    let mut all = names(mathematics, "  ");
    all.extend(
        names(body, "    ")
            .into_iter()
            .filter(|n| n.starts_with("rpy_")),
    );
    let mut known: Vec<String> = HOST_FUNCTIONS.iter().map(|n| (*n).to_owned()).collect();
    all.sort();
    known.sort();
    assert_eq!(all, known);
    for name in HOST_FUNCTIONS {
        assert!(crate::is_available(&crate::host::external(name)), "{name}");
    }
}
