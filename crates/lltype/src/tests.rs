use std::rc::Rc;
use std::sync::Arc;

use taipan_graph::IntKind;

use crate::*;

fn body(fields: &[(&str, LLType)]) -> StructBody {
    StructBody {
        fields: (fields.iter())
            .map(|(name, ty)| Field {
                name: (*name).into(),
                ty: *ty,
            })
            .collect(),
        ..StructBody::default()
    }
}

fn int(bits: u8) -> LLType {
    LLType::new(TypeKind::Int(IntKind { signed: true, bits }))
}

#[test]
fn gc_objects_start_with_a_header_that_super_shares() {
    let program = TableProgram::default();
    let base = LLType::gc_struct("base", body(&[("x", int(32)), ("p", STR.ptr())]));
    let derived = LLType::gc_struct(
        "derived",
        body(&[("super", base), ("c", *CHAR), ("q", base.ptr())]),
    );
    let l = layout(base, &program);
    assert_eq!(
        (l.size, &l.fields[..], &l.gc_pointers[..]),
        (24, &[8, 16][..], &[16][..])
    );
    let l = layout(derived, &program);
    assert_eq!(
        (l.size, &l.fields[..], &l.gc_pointers[..]),
        (40, &[0, 24, 32][..], &[16, 32][..])
    );
}

#[test]
fn arrays_and_strings_end_in_items() {
    let program = TableProgram::default();
    let l = layout(*STR, &program);
    let var = l.var.clone().expect("items");
    assert_eq!(
        (l.size, var.length, var.items, var.item_size),
        (24, Some(16), 24, 1)
    );
    assert_eq!(l.size_of_varsized(3), Some(32));
    let pair = LLType::raw_struct("pair", body(&[("key", STR.ptr()), ("n", int(16))]));
    let l = layout(LLType::gc_array(pair), &program);
    let var = l.var.clone().expect("items");
    assert_eq!(
        (
            var.length,
            var.items,
            var.item_size,
            &var.item_gc_pointers[..]
        ),
        (Some(8), 16, 16, &[0][..])
    );
    assert_eq!(l.size_of_varsized(u64::MAX), None);
    let raw = LLType::new(TypeKind::Array(ArrayType {
        gc: false,
        of: *CHAR,
        nolength: true,
        immutable: false,
        extra_item: false,
        adtmeths: None,
    }));
    let l = layout(raw, &program);
    assert_eq!((l.size, l.align, l.size_of_varsized(5)), (0, 1, Some(5)));
}

/// Programs may write a zero byte behind the last character of a byte string.
#[test]
fn byte_strings_have_room_for_one_more_character() {
    let program = TableProgram::default();
    let sizes = |ty| {
        let l = layout(ty, &program);
        [0, 7, 8].map(|n| l.size_of_varsized(n).unwrap())
    };
    assert_eq!(sizes(*STR), [32, 32, 40]);
    assert_eq!(sizes(*UNICODE), [24, 56, 56]);
    let var = layout(*STR, &program).var.unwrap();
    assert_eq!((var.items, var.empty_size), (24, 25));
    assert_eq!(
        (var.size_with(8), var.size_with(u64::MAX)),
        (Some(33), None)
    );
}

#[test]
fn weak_references_die_with_their_targets() {
    let program = TableProgram::default();
    let mut heap = Heap::new(&program);
    let kept = heap.alloc_str(b"kept").expect("memory");
    let lost = heap.alloc_str(b"lost").expect("memory");
    let holder = heap
        .malloc(LLType::gc_array(STR.ptr()), 1, true)
        .expect("memory");
    heap.set_item(holder, LLType::gc_array(STR.ptr()), 0, LLValue::Ptr(kept))
        .expect("in bounds");
    let [a, b] = [kept, lost].map(|s| heap.weakref_create(s));
    heap.collect([holder, a, b].into_iter())
        .expect("links are whole");
    assert_eq!(heap.weakref_deref(a), Ok(kept));
    assert_eq!(heap.weakref_deref(b), Ok(0));
    assert_eq!(heap.str_bytes(kept), Ok(b"kept".to_vec()));
    assert_eq!(heap.str_bytes(lost), Err(HeapError::NotAnObject));
}

#[test]
fn raw_memory_is_written_before_it_is_read() {
    let program = TableProgram::default();
    let mut heap = Heap::new(&program);
    let ty = LLType::raw_array(*SIGNED);
    let a = heap.malloc(ty, 4, false).expect("memory");
    let (at, _) = heap.item(a, ty, 2).expect("in bounds");
    assert_eq!(
        heap.load(at, Access::W64),
        Err(HeapError::Uninitialized(ty))
    );
    assert_eq!(heap.store(at, Access::W64, 7), Ok(()));
    assert_eq!(
        heap.copy(at - 8, at, 16),
        Ok(()),
        "what is not written stays so"
    );
    assert_eq!(
        heap.load(at, Access::W64),
        Err(HeapError::Uninitialized(ty))
    );
    assert_eq!(heap.load(at + 8, Access::W64), Ok(7));
    assert_eq!(heap.item(a, ty, 4), Err(HeapError::OutOfBounds(ty)));
    assert_eq!(heap.free(a), Ok(()));
    assert_eq!(heap.load(at, Access::W64), Err(HeapError::UseAfterFree(ty)));
    assert_eq!(heap.free(a), Err(HeapError::BadFree));
}

#[test]
fn prebuilt_data_comes_when_it_is_read() {
    let mut program = TableProgram::default();
    let pair = LLType::gc_struct("pair", body(&[("n", *SIGNED), ("s", STR.ptr())]));
    let sym = StaticSym::Named("pair".into(), pair);
    let s = LLConst::data(StaticSym::Str(Arc::from(&b"text"[..])), STR.ptr());
    program.statics.push((
        sym.clone(),
        StaticData {
            ty: pair,
            value: StaticValue::Struct(vec![
                StaticValue::Const(LLConst::signed(-3)),
                StaticValue::Const(s),
            ]),
            readonly: false,
        },
    ));
    let mut heap = Heap::new(&program);
    let a = heap.static_addr(&sym);
    assert_eq!(heap.get_field(a, pair, "n"), Ok(LLValue::signed(-3)));
    let s = heap
        .get_field(a, pair, "s")
        .expect("a field")
        .as_addr()
        .expect("a pointer");
    assert_eq!(heap.str_bytes(s), Ok(b"text".to_vec()));
    assert_eq!(
        heap.check_cast(a, *STR),
        Err(HeapError::BadCast(pair, *STR))
    );
    assert_eq!(heap.static_addr(&sym), a);
}

#[test]
fn folding_computes_what_the_machine_does() {
    let int_op = |name: &str, a: i64, b: i64| {
        let op = LLOp::from_name(name).expect("an operation");
        let ty = if name.ends_with("lt") { *BOOL } else { *SIGNED };
        fold(op, &[LLConst::signed(a), LLConst::signed(b)], ty)
    };
    assert_eq!(
        int_op("int_add", i64::MAX, 1),
        Some(LLConst::signed(i64::MIN))
    );
    assert_eq!(int_op("int_floordiv", -7, 2), Some(LLConst::signed(-3)));
    assert_eq!(int_op("int_floordiv", 1, 0), None);
    assert_eq!(int_op("int_add_ovf", i64::MAX, 1), None);
    assert_eq!(int_op("int_lshift", 1, 64), Some(LLConst::signed(0)));
    assert_eq!(int_op("int_lt", -1, 0), Some(LLConst::Bool(true)));
    let cast = |v: LLConst, ty| fold(PlainOp::CastPrimitive.into(), &[v], ty);
    let unsigned = |v| LLConst::int(IntKind::UNSIGNED, v);
    assert_eq!(
        cast(LLConst::signed(-1), *UNSIGNED),
        Some(unsigned(i128::from(u64::MAX)))
    );
    assert_eq!(
        cast(LLConst::Float((-2.9f64).to_bits()), *SIGNED),
        Some(LLConst::signed(-2))
    );
    assert_eq!(
        cast(unsigned(1 << 63), *FLOAT),
        Some(LLConst::Float((2f64.powi(63)).to_bits()))
    );
}

#[test]
fn places_inside_prebuilt_data() {
    let program = TableProgram::default();
    let pair = LLType::raw_struct("pair", body(&[("a", int(32)), ("b", *SIGNED)]));
    let rows = LLType::new(TypeKind::FixedArray(pair, 3));
    let table = LLType::gc_struct("table", body(&[("n", *SIGNED), ("rows", rows)]));
    let root = StaticSym::Object(taipan_graph::ObjId(7), table);
    let within = |path: &[i64]| StaticSym::Within(Arc::new(root.clone()), path.into());
    let place = |path: &[i64]| within(path).place(&program).map(|(s, at)| (s.clone(), at));
    // The header, n, two rows, a.
    assert_eq!(place(&[1, 2, 1]), Some((root.clone(), 8 + 8 + 2 * 16 + 8)));
    assert_eq!(place(&[1, 3]), Some((root.clone(), 8 + 8 + 3 * 16)));
    assert_eq!(place(&[2]), None);
    let mut heap = Heap::new(&program);
    let start = heap.static_addr(&root);
    assert_eq!(heap.static_addr(&within(&[1, 1])), start + 32);
}

#[test]
fn fields_of_unions_share_their_place() {
    let union = LLType::raw_struct(
        "union",
        StructBody {
            union: true,
            ..body(&[("byte", *CHAR), ("word", *SIGNED), ("short", int(16))])
        },
    );
    let l = layout(union, &NoProgram);
    assert_eq!((l.size, l.align, l.fields), (8, 8, vec![0, 0, 0]));
}

/// Each operation has the operands by name that its signature says, in order, and none with more or
/// fewer.
#[test]
fn views_are_what_signatures_say() {
    let numbers = NumOp::ALL.iter().map(|op| LLOp::Num(NumFamily::Int, *op));
    let plain = PlainOp::ALL.iter().map(|op| LLOp::Plain(*op));
    for op in numbers.chain(plain) {
        let mut fits = Vec::new();
        for count in 0..9 {
            let operands: Vec<LLOperand> = (0..count)
                .map(|i| LLOperand::Const(LLConst::signed(i as i64)))
                .collect();
            let view = View::of(op, &operands);
            assert_eq!(
                view.is_some(),
                op.signature().operands(count).is_ok(),
                "{op}"
            );
            if let Some(view) = view {
                assert_eq!(view.op(), op);
                assert_eq!(view.operands()[..], operands[..], "{op}");
                fits.push(count);
            }
        }
        assert!(!fits.is_empty(), "{op}");
        let varying = |p: &&Param| p.count != Count::One;
        assert!(
            op.signature().params.iter().filter(varying).count() <= 1,
            "{op}"
        );
    }
}

#[test]
fn operands_have_names() {
    let [a, b, c, d] = [1, 2, 3, 4].map(|n| LLOperand::Const(LLConst::signed(n)));
    let setting = [a.clone(), b.clone(), c.clone(), d.clone()];
    let View::Setinteriorfield {
        object,
        path,
        value,
    } = PlainOp::Setinteriorfield.view(&setting)
    else {
        panic!("another operation");
    };
    assert_eq!((object, path, value), (&a, &[b.clone(), c.clone()][..], &d));
    // What is left out, and what is not an operand of a graph.
    let barrier = PlainOp::GcWritebarrier.view(&[7u64]);
    assert!(matches!(
        barrier,
        View::GcWritebarrier {
            object: 7,
            index: None
        }
    ));
    let call = View::IndirectCall {
        callee: &a,
        args: std::slice::from_ref(&b),
        targets: &c,
    };
    assert_eq!(call.operands()[..], [a.clone(), b, c]);
    assert!(View::of(PlainOp::Getfield.into(), &[a]).is_none());
}

fn read_names(named: Vec<u8>) -> Option<SharedNames> {
    let named: &'static [u8] = named.leak();
    SharedNames::read(Rc::new(|range| named.get(range)))
}

#[test]
fn values_have_names_in_common() {
    let node = LLType::new(TypeKind::Array(ArrayType {
        gc: true,
        of: SIGNED.ptr(),
        nolength: false,
        immutable: false,
        extra_item: false,
        adtmeths: None,
    }));
    let values = [
        vec![node, node.ptr()],
        vec![SIGNED.ptr(), node],
        vec![*VOID],
    ];
    let (names, named) = SharedNames::of(&values).unwrap();
    let written = values.each_ref().map(|v| names.to_bytes(v).unwrap());
    // Two bytes for each name, whatever it stands for, and one for the length.
    assert_eq!(written.each_ref().map(Vec::len), [5, 5, 3]);
    let read = read_names(named).unwrap();
    // In any order, and with names that nobody else has in between.
    for i in [2, 0, 1, 0] {
        let own = vec![node.ptr().ptr()];
        let bytes = names.to_bytes(&own).unwrap();
        assert_eq!(read.from_bytes::<Vec<LLType>>(&bytes), Some(own));
        assert_eq!(
            read.from_bytes::<Vec<LLType>>(&written[i]).as_ref(),
            Some(&values[i])
        );
    }
    assert!(read.from_bytes::<Vec<LLType>>(&[1, 0, 99]).is_none());
    assert!(read_names(vec![0; 7]).is_none());
}

/// A name that is part of several names is decoded with the first of them.
#[test]
fn names_are_read_with_what_they_mention() {
    let array = LLType::gc_array(SIGNED.ptr());
    let ty = FuncType {
        args: vec![array.ptr(), array],
        result: *VOID,
    };
    let name = "names_are_read".into();
    let func = FuncSym::new(
        FuncKind::Helper {
            name,
            args: [].into(),
        },
        ty,
    );
    let values = (vec![func.clone(), func.clone()], array.ptr().ptr());
    let (names, named) = SharedNames::of(&values).unwrap();
    let bytes = names.to_bytes(&values).unwrap();
    let read = read_names(named).unwrap();
    let values = read.from_bytes::<(Vec<FuncSym>, LLType)>(&bytes);
    assert_eq!(values, Some((vec![func.clone(), func], array.ptr().ptr())));
}

#[test]
fn notes_are_a_part_of_the_table() {
    let notes: Vec<&str> = (PlainOp::ALL.iter())
        .filter(|op| LLOp::Plain(**op).is_note())
        .map(|op| op.name())
        .collect();
    expect_test::expect![[r#"
        [
            "jit_marker",
            "jit_force_virtualizable",
            "jit_record_exact_class",
            "jit_record_exact_value",
            "jit_record_known_result",
            "keepalive",
            "debug_print_traceback",
            "jit_note",
        ]
    "#]]
    .assert_debug_eq(&notes);
    for op in PlainOp::ALL.iter().copied() {
        let operands = vec![(); op.signature().params.len()];
        let is_note = LLOp::Plain(op).is_note();
        assert_eq!(is_note, matches!(op.view(&operands), note!()), "{op:?}");
        assert!(!is_note || op.signature().result == Kind::Void, "{op:?}");
        assert!(!is_note || !LLOp::Plain(op).is_removable(), "{op:?}");
    }
}
