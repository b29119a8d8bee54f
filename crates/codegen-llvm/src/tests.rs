//! The text of small graphs, an operation family at a time, as it is after the transforms.

use std::sync::Arc;

use expect_test::{Expect, expect};
use taipan_codegen::{DataObject, Glue, Reloc, RelocKind, SymbolRef};
use taipan_lltype::{SIGNED, STR, TableProgram};

use crate::{FunctionText, Module, Source, function_text};

fn parse(text: &str) -> TableProgram {
    let end = "return(result: Signed)
        except(etype: *Struct object_vtable, evalue: *GcStruct object)";
    TableProgram::parse(&text.replace("END", end)).expect("parses")
}

/// The text of the last function of a program.
fn text_of(text: &str, checked: bool) -> Result<FunctionText, String> {
    let program = parse(text);
    let f = program.functions.last().expect("a function");
    function_text(&program, f, &program.graphs[f.name()], checked).map_err(|e| e.to_string())
}

/// The last function of a program, with an unknown place.
fn source_of(text: &str, checked: bool) -> Source {
    let program = parse(text);
    let f = program.functions.last().expect("a function");
    let text = text_of(text, checked).expect("has code");
    Source::unknown(Arc::new(text), f)
}

/// Its module, without what names the machine.
fn module(source: Source) -> String {
    let module = Module {
        name: "m".to_owned(),
        functions: vec![source],
        ..Module::default()
    };
    let text = module.text().expect("a module");
    verify(&text);
    let lines = text.lines().filter(|l| !l.starts_with("target "));
    let text: String = lines.map(|l| format!("{l}\n")).collect();
    let head = text.find("nounwind uwtable null_pointer_is_valid");
    let section = text.find(" section \".text\"");
    match (head, section) {
        (Some(a), Some(b)) if a < b => format!("{}...{}", &text[..a], &text[b..]),
        _ => text,
    }
}

/// What LLVM says of a text, besides the snapshot, where there is one. Where there is none, the tests of whole
/// programs (`llvm.rs` of taipan) are reported as ignored.
fn verify(text: &str) {
    let Ok(tools) = taipan_platform::Llvm::find() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let made = tools.compile(text, 2, &[], folder.path(), "module");
    if let Err(e) = made {
        panic!("{e}\n{text}");
    }
}

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&body(&module(source_of(text, false))));
}

/// From the function's first line to its last.
fn body(text: &str) -> String {
    let start = text.find("define ").expect("a function");
    let end = text[start..].find("\n}\n").expect("it ends");
    text[start..start + end + 3].to_owned()
}

#[test]
fn a_loop_is_phis() {
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
            b: Signed = int_add(acc2, i2)
            goto block1(j, b)
        END",
        expect![[r#"
            define dso_local i64 @f.8fb02747ac596f9f(i64 %a0) ... section ".text" {
            entry:
              br label %b0
            b0:
              br label %b1
            b1:
              %b1.0 = phi i64 [ %a0, %b0 ], [ %v3, %b2 ]
              %b1.1 = phi i64 [ 0, %b0 ], [ %v4, %b2 ]
              %v1 = icmp sgt i64 %b1.0, 0
              %v2 = zext i1 %v1 to i8
              br i1 %v1, label %b2, label %b3
            b3:
              ret i64 %b1.1
            b2:
              %v3 = sub i64 %b1.0, 1
              %v4 = add i64 %b1.1, %b1.0
              br label %b1
            }
        "#]],
    );
}

#[test]
fn both_ways_to_one_block() {
    check(
        "
        graph f
        block0(n: Signed):
            c: Bool = int_lt(n, 5)
            switch c
                False: return(1)
                True: return(n)
        END",
        expect![[r#"
            define dso_local i64 @f.8fb02747ac596f9f(i64 %a0) ... section ".text" {
            entry:
              br label %b0
            b0:
              %v1 = icmp slt i64 %a0, 5
              %v2 = zext i1 %v1 to i8
              br i1 %v1, label %between1, label %b1
            between1:
              br label %b1
            b1:
              %b1.0 = phi i64 [ 1, %b0 ], [ %a0, %between1 ]
              ret i64 %b1.0
            }
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
                -1: return(1)
                7: return(2)
                default: return(n)
        END",
        expect![[r#"
            define dso_local i64 @f.8fb02747ac596f9f(i64 %a0) ... section ".text" {
            entry:
              br label %b0
            b0:
              switch i64 %a0, label %case3 [ i64 -1, label %case1 i64 7, label %case2 ]
            case1:
              br label %b1
            case2:
              br label %b1
            case3:
              br label %b1
            b1:
              %b1.0 = phi i64 [ 1, %case1 ], [ 2, %case2 ], [ %a0, %case3 ]
              ret i64 %b1.0
            }
        "#]],
    );
}

#[test]
fn arithmetic_that_llvm_leaves_undefined() {
    check(
        "
        graph f
        block0(n: Signed, x: Float):
            a: Signed = int_lshift(n, 3)
            b: Signed = int_rshift(a, n)
            c: Signed = int_lshift(b, n)
            d: Signed = int_floordiv(c, n)
            e: Signed = int_mod(d, 10)
            h: Signed = cast_float_to_int(x)
            r: Signed = int_add(e, h)
            goto return(r)
        END",
        expect![[r#"
            define dso_local i64 @f.480a72d8857a8967(i64 %a0, double %a1) ... section ".text" {
            entry:
              br label %b0
            b0:
              %v1 = shl i64 %a0, 3
              %v2 = icmp ule i64 %a0, 63
              %v3 = select i1 %v2, i64 %a0, i64 63
              %v4 = ashr i64 %v1, %v3
              %v5 = icmp ule i64 %a0, 63
              %v6 = select i1 %v5, i64 %a0, i64 63
              %v7 = shl i64 %v4, %v6
              %v8 = select i1 %v5, i64 %v7, i64 0
              %v9 = icmp eq i64 %a0, -1
              %v10 = select i1 %v9, i64 1, i64 %a0
              %v11 = sdiv i64 %v8, %v10
              %v12 = sub i64 0, %v8
              %v13 = select i1 %v9, i64 %v12, i64 %v11
              %v14 = srem i64 %v13, 10
              %v15 = call i64 @llvm.fptosi.sat.i64.f64(double %a1)
              %v16 = xor i64 %v15, 9223372036854775807
              %v17 = add i64 %v16, 1
              %v18 = icmp ule i64 %v17, 1
              br i1 %v18, label %far2, label %done1, !prof !0
            far2:
              %v19 = call i128 @rpy_f64_to_i128(double %a1)
              %v20 = trunc i128 %v19 to i64
              br label %done1
            done1:
              %v21 = phi i64 [ %v15, %b0 ], [ %v20, %far2 ]
              %v22 = add i64 %v14, %v21
              br label %b1
            b1:
              ret i64 %v22
            }
        "#]],
    );
}

#[test]
fn overflow_is_the_less_likely_way() {
    check(
        "
        graph f
        block0(n: Signed):
            v: Signed = int_mul_ovf(n, n)
            canraise
                ok: return(v)
                &vtable #00000000000000e4 as *Struct object_vtable(_, _): return(-1)
        END",
        expect![[r#"
            define dso_local i64 @f.8fb02747ac596f9f(i64 %a0) ... section ".text" {
            entry:
              br label %b0
            b0:
              %v1 = call { i64, i1 } @llvm.smul.with.overflow.i64(i64 %a0, i64 %a0)
              %v2 = extractvalue { i64, i1 } %v1, 0
              %v3 = extractvalue { i64, i1 } %v1, 1
              br i1 %v3, label %between1, label %b1, !prof !0
            between1:
              br label %b1
            b1:
              %b1.0 = phi i64 [ %v2, %b0 ], [ -1, %between1 ]
              ret i64 %b1.0
            }
        "#]],
    );
}

#[test]
fn fields_and_items() {
    check(
        "
        struct pair = GcStruct { a: Signed, next: *GcOpaque GCREF, c: Char }
        graph f
        block0(p: *GcStruct pair, l: *GcArray of Signed, i: Signed):
            a: Signed = getfield(p, .a)
            c: Char = getfield(p, .c)
            o: *GcOpaque GCREF = getfield(p, .next)
            q: *GcStruct pair = cast_opaque_ptr(o)
            v0: Void = setfield(q, .a, a)
            n: Signed = getarraysize(l)
            x: Signed = getarrayitem(l, i)
            v1: Void = setarrayitem(l, 2, x)
            s: Signed = int_add(n, x)
            goto return(s)
        END",
        expect![[r#"
            define dso_local i64 @f.304b97cc386d6e26(ptr %a0, ptr %a1, i64 %a2) ... section ".text" {
            entry:
              br label %b0
            b0:
              %v1 = getelementptr inbounds i8, ptr %a0, i64 8
              %v2 = load i64, ptr %v1, align 8, !tbaa !3
              %v3 = getelementptr inbounds i8, ptr %a0, i64 24
              %v4 = load i8, ptr %v3, align 1, !tbaa !5
              %v5 = getelementptr inbounds i8, ptr %a0, i64 16
              %v6 = load ptr, ptr %v5, align 8, !tbaa !7
              %v7 = getelementptr inbounds i8, ptr %v6, i64 8
              store i64 %v2, ptr %v7, align 8, !tbaa !3
              %v8 = getelementptr inbounds i8, ptr %a1, i64 8
              %v9 = load i64, ptr %v8, align 8, !tbaa !9, !range !10
              %v10 = shl i64 %a2, 3
              %v11 = getelementptr i8, ptr %a1, i64 %v10
              %v12 = getelementptr inbounds i8, ptr %v11, i64 16
              %v13 = load i64, ptr %v12, align 8, !tbaa !12
              %v14 = getelementptr inbounds i8, ptr %a1, i64 32
              store i64 %v13, ptr %v14, align 8, !tbaa !12
              %v15 = add i64 %v9, %v13
              br label %b1
            b1:
              ret i64 %v15
            }
        "#]],
    );
}

#[test]
fn raw_memory_may_be_anything() {
    check(
        "
        struct point = Struct { x: Signed, y: Signed }
        graph f
        block0(p: *Struct point, a: Address):
            x: Signed = getfield(p, .x)
            v0: Void = setfield(p, .y, x)
            y: Signed = raw_load(a, 8)
            goto return(y)
        END",
        expect![[r#"
            define dso_local i64 @f.30c1d9278450dce9(ptr %a0, ptr %a1) ... section ".text" {
            entry:
              br label %b0
            b0:
              %v1 = load i64, ptr %a0, align 1, !tbaa !2
              %v2 = getelementptr inbounds i8, ptr %a0, i64 8
              store i64 %v1, ptr %v2, align 1, !tbaa !2
              %v3 = getelementptr i8, ptr %a1, i64 8
              %v4 = load i64, ptr %v3, align 1, !tbaa !2
              br label %b1
            b1:
              ret i64 %v4
            }
        "#]],
    );
}

#[test]
fn allocation_takes_from_the_nursery() {
    check(
        "
        struct pair = GcStruct { a: Signed, b: Signed }
        graph f
        block0(n: Signed):
            p: *GcStruct pair = malloc(<type GcStruct pair>, <gc>)
            v0: Void = setfield(p, .a, n)
            b: Signed = getfield(p, .b)
            goto return(b)
        END",
        expect![[r#"
            define dso_local i64 @f.8fb02747ac596f9f(i64 %a0) ... section ".text" {
            entry:
              br label %b0
            b0:
              %v1 = load ptr, ptr @rpy_state, align 8, !tbaa !2, !nonnull !3
              %v2 = getelementptr i8, ptr %v1, i64 24
              %v3 = load ptr, ptr getelementptr (i8, ptr @rpy_state, i64 8), align 8, !tbaa !2
              %v4 = icmp ule ptr %v2, %v3
              br i1 %v4, label %fast3, label %slow1, !prof !4
            fast3:
              store ptr %v2, ptr @rpy_state, align 8, !tbaa !2
              br label %made2
            slow1:
              store i64 24, ptr getelementptr (i8, ptr @rpy_state, i64 56), align 8, !tbaa !2
              call preserve_allcc void @rpy_sure_malloc()
              %v5 = load ptr, ptr getelementptr (i8, ptr @rpy_state, i64 48), align 8, !tbaa !2
              br label %made2
            made2:
              %v6 = phi ptr [ %v1, %fast3 ], [ %v5, %slow1 ]
              store ptr @type.pair.a9dd33146a3273e3, ptr %v6, align 8, !tbaa !6
              %v7 = getelementptr inbounds i8, ptr %v6, i64 8
              store i64 0, ptr %v7, align 8, !tbaa !6
              %v8 = getelementptr inbounds i8, ptr %v6, i64 16
              store i64 0, ptr %v8, align 8, !tbaa !6
              %v9 = getelementptr inbounds i8, ptr %v6, i64 8
              store i64 %a0, ptr %v9, align 8, !tbaa !8
              %v10 = getelementptr inbounds i8, ptr %v6, i64 16
              %v11 = load i64, ptr %v10, align 8, !tbaa !10
              br label %b1
            b1:
              ret i64 %v11
            }
        "#]],
    );
}

#[test]
fn roots_are_on_a_stack_of_their_own() {
    check(
        "
        func g = external 'g' can_collect: func() -> Void
        struct pair = GcStruct { a: Signed, b: Signed }
        graph f
        block0(p: *GcStruct pair):
            e: Void = gc_enter_roots_frame(3)
            s: Void = gc_save_root(0, p)
            s1: Void = gc_save_root(1, p)
            s2: Void = gc_save_root(2, p)
            v: Void = direct_call(&g)
            q: *GcStruct pair = gc_restore_root(0)
            l: Void = gc_leave_roots_frame(3)
            w: Void = gc_writebarrier(q)
            v0: Void = setfield(q, .a, 1)
            goto return(0)
        END",
        expect![[r#"
            define dso_local i64 @f.626ae472138baf73(ptr %a0) ... section ".text" {
            entry:
              %roots = alloca ptr, align 8
              %v1 = alloca [16 x i8], align 8
              br label %b0
            b0:
              call void asm sideeffect "", "*m"(ptr elementtype([16 x i8]) %v1)
              %v2 = load ptr, ptr getelementptr (i8, ptr @rpy_state, i64 16), align 8, !tbaa !2
              store ptr %v2, ptr %roots, align 8
              %v3 = getelementptr i8, ptr %v2, i64 24
              store ptr %v3, ptr getelementptr (i8, ptr @rpy_state, i64 16), align 8, !tbaa !2
              %v4 = load ptr, ptr %roots, align 8
              store ptr %a0, ptr %v4, align 8, !tbaa !4
              %v5 = load ptr, ptr %roots, align 8
              %v6 = getelementptr inbounds i8, ptr %v5, i64 8
              store ptr %a0, ptr %v6, align 8, !tbaa !4
              %v7 = load ptr, ptr %roots, align 8
              %v8 = getelementptr inbounds i8, ptr %v7, i64 16
              store ptr %a0, ptr %v8, align 8, !tbaa !4
              call void @g()
              %v9 = load ptr, ptr %roots, align 8
              %v10 = load ptr, ptr %v9, align 8, !tbaa !4
              %v11 = load ptr, ptr %roots, align 8
              store ptr %v11, ptr getelementptr (i8, ptr @rpy_state, i64 16), align 8, !tbaa !2
              %v12 = load i8, ptr %v10, align 8, !tbaa !6
              %v13 = and i8 %v12, 1
              %v14 = icmp ne i8 %v13, 0
              br i1 %v14, label %barrier1, label %next2, !prof !7
            barrier1:
              store ptr %v10, ptr getelementptr (i8, ptr @rpy_state, i64 56), align 8, !tbaa !2
              call preserve_allcc void @rpy_slow_writebarrier()
              br label %next2
            next2:
              %v15 = getelementptr inbounds i8, ptr %v10, i64 8
              store i64 1, ptr %v15, align 8, !tbaa !9
              br label %b1
            b1:
              ret i64 0
            }
        "#]],
    );
}

/// A block that is nothing but a large switch jumps by a table.
#[test]
fn handlers_are_jumped_to_by_address() {
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
        END",
        expect![[r#"
            define dso_local i64 @f.b3532e261a7c9024(i64 %a0, i64 %a1) ... section ".text" {
            entry:
              br label %b0
            b0:
              br label %b1
            b1:
              %b1.0 = phi i64 [ %a0, %b0 ], [ %v6, %b2 ], [ %v7, %b3 ], [ %b1.1, %b4 ]
              %b1.1 = phi i64 [ %a1, %b0 ], [ %b1.1, %b2 ], [ %b3.0, %b3 ], [ 3, %b4 ]
              %v1 = sub i64 %b1.0, 1
              %v2 = icmp ult i64 %v1, 300
              %v3 = select i1 %v2, i64 %v1, i64 300
              %v4 = getelementptr inbounds ptr, ptr @f.b3532e261a7c9024.handlers1, i64 %v3
              %v5 = load ptr, ptr %v4, align 8
              indirectbr ptr %v5, [label %handler1, label %handler2, label %handler3, label %handler4, label %handler5, label %handler6, label %handler7, label %handler8, label %handler9]
            handler1:
              br label %b2
            handler2:
              br label %b3
            handler3:
              br label %b3
            handler4:
              br label %b4
            handler5:
              br label %b5
            handler6:
              br label %b5
            handler7:
              br label %b5
            handler8:
              br label %b5
            handler9:
              br label %b5
            b2:
              %v6 = add i64 %b1.1, 1
              br label %b1
            b3:
              %b3.0 = phi i64 [ %b1.1, %handler2 ], [ %b1.1, %handler3 ]
              %v7 = sub i64 %b3.0, 1
              br label %b1
            b4:
              br label %b1
            b5:
              %b5.0 = phi i64 [ 5, %handler5 ], [ 6, %handler6 ], [ 7, %handler7 ], [ 8, %handler8 ], [ %b1.1, %handler9 ]
              ret i64 %b5.0
            }
        "#]],
    );
}

#[test]
fn exceptions_are_in_the_state() {
    check(
        "
        func g = external 'g': func(Char) -> Signed
        graph f
        block0(c: Char):
            k: Bool = stack_check()
            v: Signed = direct_call(&g, c)
            o: Bool = exc_occurred()
            switch o
                False: return(v)
                True: block1()
        block1():
            r: Void = debug_record_traceback()
            goto return(-1)
        END",
        expect![[r#"
            define dso_local i64 @f.afb6f5ee4984da0a(i8 %a0) ... section ".text" {
            entry:
              br label %b0
            b0:
              %v1 = load i64, ptr getelementptr (i8, ptr @rpy_state, i64 40), align 8, !tbaa !2
              %v2 = call i64 @llvm.read_register.i64(metadata !3)
              %v3 = icmp ult i64 %v2, %v1
              %v4 = zext i1 %v3 to i8
              %v5 = call i64 @g(i8 zeroext %a0)
              %v6 = load ptr, ptr getelementptr (i8, ptr @rpy_state, i64 24), align 8, !tbaa !2
              %v7 = icmp ne ptr %v6, null
              %v8 = zext i1 %v7 to i8
              br i1 %v7, label %b1, label %b2, !prof !4
            b1:
              %v9 = load ptr, ptr getelementptr (i8, ptr @rpy_state, i64 24), align 8, !tbaa !2
              %v10 = load i64, ptr getelementptr (i8, ptr @rpy_state, i64 88), align 8, !tbaa !2
              %v11 = add i64 %v10, 1
              store i64 %v11, ptr getelementptr (i8, ptr @rpy_state, i64 88), align 8, !tbaa !2
              %v12 = and i64 %v10, 127
              %v13 = shl i64 %v12, 4
              %v14 = getelementptr i8, ptr @rpy_state, i64 %v13
              %v15 = getelementptr i8, ptr %v14, i64 96
              store ptr @place.f.afb6f5ee4984da0a.0, ptr %v15, align 8, !tbaa !2
              %v16 = getelementptr i8, ptr %v14, i64 104
              store ptr %v9, ptr %v16, align 8, !tbaa !2
              br label %b2
            b2:
              %b2.0 = phi i64 [ %v5, %b0 ], [ -1, %b1 ]
              ret i64 %b2.0
            }
        "#]],
    );
}

#[test]
fn checked_code_says_where() {
    let source = source_of(
        "
        graph f
        block0(n: Signed):
            c: Bool = int_lt(n, 5)
            v: Void = debug_assert(c)
            goto return(n)
        END",
        true,
    );
    expect![[r#"
        define dso_local i64 @f.8fb02747ac596f9f(i64 %a0) ... section ".text" {
        entry:
          br label %b0
        b0:
          %v1 = icmp slt i64 %a0, 5
          %v2 = zext i1 %v1 to i8
          br i1 %v1, label %next2, label %failed1, !prof !0
        failed1:
          %v3 = call ptr @llvm.frameaddress.p0(i32 0)
          call void @rpy_check_failed(i64 0, ptr @place.f.8fb02747ac596f9f.0, ptr %v3)
          call void @llvm.trap()
          unreachable
        next2:
          br label %b1
        b1:
          ret i64 %a0
        }
    "#]]
    .assert_eq(&body(&module(source)));
}

/// Lines go to metadata and to the records of tracebacks.
#[test]
fn a_module_with_lines() {
    let text = text_of(
        "
        graph f
        block0(n: Signed):
            r: Void = debug_record_traceback()
            goto return(n)
        END",
        false,
    );
    let text = Arc::new(text.expect("has code"));
    let source = Source {
        file: "/folder/m.py".into(),
        function: "m.f".into(),
        locations: vec![12; text.locations.len()],
        lines: vec![12; text.places.len()],
        text,
        shown: Vec::new(),
        variables: Vec::new(),
    };
    expect![[r#"
        ; m
        source_filename = "m"

        @text.0 = private unnamed_addr constant [13 x i8] c"/folder/m.py\00", align 1
        @text.1 = private unnamed_addr constant [4 x i8] c"m.f\00", align 1
        @place.0 = private unnamed_addr constant { ptr, ptr, i32, i32 } { ptr @text.0, ptr @text.1, i32 12, i32 0 }, align 8
        @place.f.8fb02747ac596f9f.0 = private alias { ptr, ptr, i32, i32 }, ptr @place.0

        define dso_local i64 @f.8fb02747ac596f9f(i64 %a0) ... section ".text" !dbg !4 {
        entry:
          br label %b0, !dbg !8
        b0:
          %v1 = load ptr, ptr getelementptr (i8, ptr @rpy_state, i64 24), align 8, !tbaa !7, !dbg !8
          %v2 = load i64, ptr getelementptr (i8, ptr @rpy_state, i64 88), align 8, !tbaa !7, !dbg !8
          %v3 = add i64 %v2, 1, !dbg !8
          store i64 %v3, ptr getelementptr (i8, ptr @rpy_state, i64 88), align 8, !tbaa !7, !dbg !8
          %v4 = and i64 %v2, 127, !dbg !8
          %v5 = shl i64 %v4, 4, !dbg !8
          %v6 = getelementptr i8, ptr @rpy_state, i64 %v5, !dbg !8
          %v7 = getelementptr i8, ptr %v6, i64 96, !dbg !8
          store ptr @place.f.8fb02747ac596f9f.0, ptr %v7, align 8, !tbaa !7, !dbg !8
          %v8 = getelementptr i8, ptr %v6, i64 104, !dbg !8
          store ptr %v1, ptr %v8, align 8, !tbaa !7, !dbg !8
          br label %b1, !dbg !8
        b1:
          ret i64 %a0, !dbg !8
        }

        @rpy_state = external global [0 x i8], align 8

        !llvm.dbg.cu = !{!1}
        !llvm.module.flags = !{!9, !10}

        !0 = !DIFile(filename: "m.py", directory: "/folder")
        !1 = distinct !DICompileUnit(language: DW_LANG_C99, file: !0, producer: "taipan", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly, splitDebugInlining: false, nameTableKind: None)
        !2 = !{null}
        !3 = !DISubroutineType(types: !2)
        !4 = distinct !DISubprogram(name: "m.f", scope: !0, file: !0, line: 12, type: !3, scopeLine: 12, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !1)
        !5 = !{!"taipan"}
        !6 = !{!"state", !5, i64 0}
        !7 = !{!6, !6, i64 0}
        !8 = !DILocation(line: 12, column: 0, scope: !4)
        !9 = !{i32 7, !"Dwarf Version", i32 4}
        !10 = !{i32 2, !"Debug Info Version", i32 3}
    "#]].assert_eq(&module(source));
}

#[test]
fn data_and_glue() {
    let object = DataObject {
        bytes: [&[1, 0, 0, 0, 0, 0, 0, 0][..], &[0; 16], b"a\"b"].concat(),
        relocs: vec![Reloc {
            offset: 8,
            kind: RelocKind::Abs64,
            target: SymbolRef::TypeInfo(*STR),
            addend: 15,
        }],
        align: 8,
        start: 8,
        readonly: true,
    };
    let module = Module {
        name: "m".to_owned(),
        data: vec![(SymbolRef::TypeInfo(*SIGNED), Arc::new(object))],
        glue: vec![Glue::Main],
        places: Some((Vec::new(), false)),
        ..Module::default()
    };
    let text = module.text().expect("a module");
    verify(&text);
    let lines = text.lines().filter(|l| !l.starts_with("target "));
    let text: String = lines.map(|l| format!("{l}\n")).collect();
    expect![[r#"
        ; m
        source_filename = "m"

        @type.Signed.5077f0a243fb551e.object = internal constant <{ [8 x i8], ptr, [11 x i8] }> <{ [8 x i8] c"\01\00\00\00\00\00\00\00", ptr getelementptr (i8, ptr @type.rpy_string.1a5cb529a8a70b54, i64 15), [11 x i8] c"\00\00\00\00\00\00\00\00a\22b" }>, align 8
        @type.Signed.5077f0a243fb551e = dso_local alias [0 x i8], getelementptr (i8, ptr @type.Signed.5077f0a243fb551e.object, i64 8)
        @taipan.places = dso_local constant <{ i64, i64, ptr, ptr }> <{ i64 0, i64 1, ptr @main, ptr null }>, align 8

        define i32 @main(i32 %argc, ptr %argv) nounwind uwtable section ".text" {
        entry:
          %result = call i32 @rpy_main(i32 %argc, ptr %argv, ptr @taipan.program)
          ret i32 %result
        }

        declare i32 @rpy_main(i32, ptr, ptr) nounwind
        @taipan.program = external dso_local global [0 x i8], align 8
        @type.rpy_string.1a5cb529a8a70b54 = external dso_local global [0 x i8], align 8

    "#]].assert_eq(&text);
}

#[test]
fn what_has_no_code_is_an_error() {
    let graph = "
        graph f
        block0(n: Signed):
            r: Bool = jit_count(n)
            goto return(n)
        END";
    let error = text_of(graph, false).err();
    expect!["f: jit_count: the LLVM back end has no just-in-time compiler"]
        .assert_eq(&error.unwrap_or_default());
}
