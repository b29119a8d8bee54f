//! Data and images of small hand-made programs.

use std::fmt::Write;
use std::sync::Arc;

use expect_test::{Expect, expect};
use taipan_graph::ObjId;
use taipan_lltype::{
    CHAR, FLOAT, Field, FuncKind, FuncSym, FuncType, LLConst, LLType, SIGNED, STR, StaticData,
    StaticSym, StaticValue, StructBody, TableProgram,
};

use crate::{
    CodeSource, CodegenError, CompiledFunction, DataObject, EntryShape, Glue, Image, Linker, Piece,
    Positions, Reloc, RelocKind, SymbolRef, build_image, mangle_function, mangle_static,
    static_object, type_info_object,
};

fn fields(fields: &[(&str, LLType)]) -> StructBody {
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

/// Eight bytes per line, relocations beside them.
fn dump(o: &DataObject) -> String {
    let mut out = format!("align {} start {}", o.align, o.start);
    if o.readonly {
        out.push_str(" readonly");
    }
    for (i, word) in o.bytes.chunks(8).enumerate() {
        let _ = write!(out, "\n{:3}:", i * 8);
        word.iter().for_each(|b| {
            let _ = write!(out, " {b:02x}");
        });
        for r in o.relocs.iter().filter(|r| r.offset == i as u64 * 8) {
            let _ = write!(out, "  {:?} + {}", r.target, r.addend);
        }
    }
    out
}

fn check_static(ty: LLType, value: StaticValue, expected: Expect) {
    let mut program = TableProgram::default();
    let sym = StaticSym::Named("it".into(), ty);
    let readonly = false;
    let data = StaticData {
        ty,
        value,
        readonly,
    };
    program.statics.push((sym.clone(), data.clone()));
    let mut object = static_object(&sym, &data, &program).expect("fits");
    if ty.is_gc_container() {
        // The identity hash depends on the name.
        assert_eq!(object.bytes[..8], sym.identity_hash().to_le_bytes());
        object.bytes[..8].fill(0xaa);
    }
    expected.assert_eq(&dump(&object));
}

#[test]
fn prebuilt_objects() {
    let char_ = |c: u8| StaticValue::Const(LLConst::Char(c));
    let int = |n| StaticValue::Const(LLConst::signed(n));
    let pair = LLType::raw_struct("pair", fields(&[("a", *CHAR), ("b", *SIGNED)]));
    let string = LLConst::data(StaticSym::Str(b"x"[..].into()), STR.ptr());
    check_static(
        LLType::gc_struct(
            "S",
            fields(&[("c", *CHAR), ("p", pair), ("s", STR.ptr()), ("f", *FLOAT)]),
        ),
        StaticValue::Struct(vec![
            char_(b'A'),
            StaticValue::Struct(vec![char_(b'B'), int(-2)]),
            StaticValue::Const(string),
            StaticValue::Const(LLConst::Float(1.5f64.to_bits())),
        ]),
        expect![[r#"
            align 8 start 8
              0: aa aa aa aa aa aa aa aa
              8: 00 00 00 00 00 00 00 00  TypeInfo(GcStruct S) + 15
             16: 41 00 00 00 00 00 00 00
             24: 42 00 00 00 00 00 00 00
             32: fe ff ff ff ff ff ff ff
             40: 00 00 00 00 00 00 00 00  Static(Str([120])) + 0
             48: 00 00 00 00 00 00 f8 3f"#]],
    );
    check_static(
        *STR,
        StaticValue::Struct(vec![int(7), StaticValue::Bytes(b"hello"[..].into())]),
        expect![[r#"
            align 8 start 8
              0: aa aa aa aa aa aa aa aa
              8: 00 00 00 00 00 00 00 00  TypeInfo(GcStruct rpy_string) + 15
             16: 07 00 00 00 00 00 00 00
             24: 05 00 00 00 00 00 00 00
             32: 68 65 6c 6c 6f 00 00 00"#]],
    );
    check_static(
        LLType::raw_array(pair),
        StaticValue::Array(vec![
            StaticValue::Struct(vec![char_(b'a'), int(1)]),
            StaticValue::Zero,
        ]),
        expect![[r#"
            align 8 start 0
              0: 02 00 00 00 00 00 00 00
              8: 61 00 00 00 00 00 00 00
             16: 01 00 00 00 00 00 00 00
             24: 00 00 00 00 00 00 00 00
             32: 00 00 00 00 00 00 00 00"#]],
    );
}

#[test]
fn values_of_another_shape_are_refused() {
    let program = TableProgram::default();
    let sym = StaticSym::Named("it".into(), *STR);
    let value = StaticValue::Struct(vec![StaticValue::Const(LLConst::signed(1))]);
    let data = StaticData {
        ty: *STR,
        value,
        readonly: true,
    };
    let e = static_object(&sym, &data, &program).expect_err("one field is missing");
    assert_eq!(e.message, "1 values for the fields of GcStruct rpy_string");
}

#[test]
fn type_information() {
    let entry = LLType::raw_struct("entry", fields(&[("k", STR.ptr()), ("n", *SIGNED)]));
    let array = LLType::gc_array(entry);
    let info = type_info_object(array, &TableProgram::default());
    // fixed size, item size, length, items; 0 pointers, 1 in an item, at 0; where the text is.
    expect![[r#"
        align 16 start 0 readonly
          0: 10 00 00 00 10 00 00 00
          8: 08 00 00 00 10 00 00 00
         16: 00 00 00 00 01 00 00 00
         24: 00 00 00 00 00 00 00 00
         32: 00 00 00 00 00 00 00 00
         40: 34 00 00 00 00 00 00 00
         48: 00 00 00 00 47 63 41 72
         56: 72 61 79 20 6f 66 20 53
         64: 74 72 75 63 74 20 65 6e
         72: 74 72 79 00"#]]
    .assert_eq(&dump(&info));
}

fn function(name: &str, spec: &str, args: Vec<LLType>) -> FuncSym {
    let kind = FuncKind::User {
        func: ObjId(1),
        spec: spec.into(),
        name: name.into(),
    };
    let result = *SIGNED;
    FuncSym::new(kind, FuncType { args, result })
}

#[test]
fn names_of_symbols() {
    let plain = mangle_function(&function("m.<lambda>", "", vec![]));
    let special = mangle_function(&function("m.<lambda>", "int", vec![]));
    assert!(plain.starts_with("m._lambda_."));
    assert_ne!(plain, special);
    assert_eq!(plain, mangle_function(&function("m.<lambda>", "", vec![])));
    let name = mangle_static(&StaticSym::Str(b"a"[..].into()));
    assert!(name.starts_with("str."), "{name}");
}

#[test]
fn entry_points() {
    let program = TableProgram::default();
    let array = LLType::gc_array(STR.ptr());
    let list = LLType::gc_struct(
        "list",
        fields(&[("length", *SIGNED), ("items", array.ptr())]),
    );
    let shape = |args| EntryShape::of(&function("m.main", "", args), &program);
    assert_eq!(shape(vec![]), Ok(EntryShape::NoArgv));
    assert_eq!(shape(vec![array.ptr()]), Ok(EntryShape::Array(array)));
    let expected = EntryShape::List { list, array };
    assert_eq!(shape(vec![list.ptr()]), Ok(expected));
    let e = shape(vec![*SIGNED]).expect_err("no list");
    assert_eq!(
        e.message,
        "an entry point takes a list of strings, not Signed"
    );
}

/// Every function calls the next one, and refers to a string and to its own place.
struct Chain(Vec<FuncSym>);

impl CodeSource for Chain {
    fn compiled(&mut self, f: &FuncSym) -> Result<Arc<CompiledFunction>, CodegenError> {
        let i = self.0.iter().position(|g| g == f).unwrap_or(0);
        let next = self.0.get(i + 1);
        let target = next.map_or(SymbolRef::External("puts".into()), SymbolRef::function);
        let reloc = |offset, target| Reloc {
            offset,
            kind: RelocKind::PcRel32,
            target,
            addend: -4,
        };
        let text = StaticSym::Str(b"hi"[..].into());
        Ok(Arc::new(CompiledFunction {
            code: vec![0x90; 12],
            relocs: vec![
                reloc(0, target),
                reloc(4, SymbolRef::Static(text)),
                reloc(8, SymbolRef::Location(0)),
            ],
            locations: vec![3],
            lines: Vec::new(),
            keeps_frames: false,
            debug: None,
        }))
    }

    fn glue(&mut self, _: &Glue) -> Result<Arc<CompiledFunction>, CodegenError> {
        Err(CodegenError::new("glue", "none here"))
    }

    fn positions(&mut self, f: &FuncSym, code: &Arc<CompiledFunction>) -> Option<Arc<Positions>> {
        Some(Arc::new(Positions {
            file: "m.py".into(),
            function: f.name().into(),
            locations: code.locations.iter().map(|at| at + 10).collect(),
            lines: Vec::new(),
        }))
    }
}

#[test]
fn images_hold_what_is_referred_to_once() {
    let functions: Vec<_> = (0..3)
        .map(|i| function(&format!("m.f{i}"), "", vec![]))
        .collect();
    let program = TableProgram::default();
    let mut source = Chain(functions.clone());
    let root = SymbolRef::Func(functions[0].clone());
    let image = build_image(&program, &mut source, &[root], None).expect("complete");
    let mut out = String::new();
    for s in &image.symbols {
        let name = s.name.rsplit_once('.').map_or("", |n| n.0);
        let _ = writeln!(
            out,
            "{name} {:?} {} {}",
            s.place.section, s.place.offset, s.size
        );
    }
    for (i, s) in image.sections.iter().enumerate() {
        let _ = writeln!(out, "section {i}: {} bytes", s.bytes.len());
        for r in &s.relocs {
            let _ = writeln!(out, "  {} {:?} {:?}", r.offset, r.kind, r.target);
        }
    }
    let _ = write!(out, "{:?}", image.externals);
    expect![[r#"
        m.f0 Text 0 12
        m.f1 Text 16 12
        m.f2 Text 32 12
        str Data 8 40
        type.rpy_string Rodata 0 84
        section 0: 44 bytes
          4 PcRel32 Place(Place { section: Data, offset: 8 })
          8 PcRel32 Place(Place { section: Rodata, offset: 120 })
          20 PcRel32 Place(Place { section: Data, offset: 8 })
          24 PcRel32 Place(Place { section: Rodata, offset: 176 })
          32 PcRel32 External(0)
          36 PcRel32 Place(Place { section: Data, offset: 8 })
          40 PcRel32 Place(Place { section: Rodata, offset: 232 })
        section 1: 368 bytes
          96 Abs64 Place(Place { section: Rodata, offset: 84 })
          104 Abs64 Place(Place { section: Rodata, offset: 89 })
          120 Abs64 Place(Place { section: Rodata, offset: 84 })
          128 Abs64 Place(Place { section: Rodata, offset: 89 })
          152 Abs64 Place(Place { section: Rodata, offset: 84 })
          160 Abs64 Place(Place { section: Rodata, offset: 144 })
          176 Abs64 Place(Place { section: Rodata, offset: 84 })
          184 Abs64 Place(Place { section: Rodata, offset: 144 })
          208 Abs64 Place(Place { section: Rodata, offset: 84 })
          216 Abs64 Place(Place { section: Rodata, offset: 200 })
          232 Abs64 Place(Place { section: Rodata, offset: 84 })
          240 Abs64 Place(Place { section: Rodata, offset: 200 })
          272 Abs64 Place(Place { section: Text, offset: 0 })
          280 Abs64 Place(Place { section: Rodata, offset: 96 })
          288 Abs64 Place(Place { section: Text, offset: 12 })
          304 Abs64 Place(Place { section: Text, offset: 16 })
          312 Abs64 Place(Place { section: Rodata, offset: 152 })
          320 Abs64 Place(Place { section: Text, offset: 28 })
          336 Abs64 Place(Place { section: Text, offset: 32 })
          344 Abs64 Place(Place { section: Rodata, offset: 208 })
          352 Abs64 Place(Place { section: Text, offset: 44 })
        section 2: 40 bytes
          8 Abs64 Place(Place { section: Rodata, offset: 0 })
        ["puts"]"#]]
    .assert_eq(&out);
    // The call within the section is resolved: from 4 to 16.
    assert_eq!(image.sections[0].bytes[..4], 12i32.to_le_bytes());
}

/// Code that refers to these, in their order.
fn code_with(targets: &[SymbolRef]) -> Piece {
    let reloc = |(i, target): (usize, &SymbolRef)| Reloc {
        offset: 8 * i as u64,
        kind: RelocKind::PcRel32,
        target: target.clone(),
        addend: -4,
    };
    Piece::Code(Arc::new(CompiledFunction {
        code: vec![0x90; 8 * targets.len() + 1],
        relocs: targets.iter().enumerate().map(reloc).collect(),
        locations: Vec::new(),
        lines: Vec::new(),
        keeps_frames: false,
        debug: None,
    }))
}

/// What is asked for on the way to an image, and the image.
fn linked(
    linker: &mut Linker,
    root: &SymbolRef,
    pieces: &[(SymbolRef, Piece)],
) -> (Vec<SymbolRef>, Image) {
    let mut asked = Vec::new();
    linker.begin(std::slice::from_ref(root), None);
    loop {
        let missing = linker.missing();
        if missing.is_empty() {
            break;
        }
        for symbol in missing {
            let piece = pieces.iter().find(|(s, _)| *s == symbol);
            linker.supply(symbol.clone(), piece.expect("a piece").1.clone());
            asked.push(symbol);
        }
    }
    let image = linker.image(&mut |_, _| None).expect("complete");
    (asked, image)
}

#[test]
fn linkers_ask_for_what_they_were_told_to_forget() {
    let f: Vec<SymbolRef> = (0..5)
        .map(|i| SymbolRef::Func(function(&format!("m.f{i}"), "", vec![])))
        .collect();
    let leaf = |s: &SymbolRef| (s.clone(), code_with(&[]));
    let before = [
        (f[0].clone(), code_with(&[f[1].clone(), f[2].clone()])),
        (f[1].clone(), code_with(std::slice::from_ref(&f[3]))),
        leaf(&f[2]),
        leaf(&f[3]),
    ];
    let mut kept = Linker::default();
    let (asked, first) = linked(&mut kept, &f[0], &before);
    assert_eq!(asked.len(), 4);
    // Nothing is another: nothing is asked for.
    let (asked, again) = linked(&mut kept, &f[0], &before);
    assert_eq!((asked, &again), (vec![], &first));
    // One function calls another one, which is new; the one that it called is gone.
    let after = [
        before[0].clone(),
        (f[1].clone(), code_with(&[f[4].clone(), f[2].clone()])),
        leaf(&f[2]),
        leaf(&f[4]),
    ];
    kept.forget([&f[1]]);
    assert!(!kept.knows(&f[1]) && kept.knows(&f[2]));
    let (asked, changed) = linked(&mut kept, &f[0], &after);
    assert_eq!(asked, [f[1].clone(), f[4].clone()]);
    let (_, fresh) = linked(&mut Linker::default(), &f[0], &after);
    assert!(changed == fresh && changed != first);
    // Back again, by what is still known of it.
    kept.forget([&f[1]]);
    let (asked, back) = linked(&mut kept, &f[0], &before);
    assert_eq!(asked, [f[1].clone()]);
    assert_eq!(back, first);
    // A much smaller program: the others are forgotten, and numbers move.
    let (_, small) = linked(&mut kept, &f[2], &before);
    assert_eq!(small.functions().count(), 1);
    let (asked, whole) = linked(&mut kept, &f[0], &before);
    assert_eq!(asked.len(), 3);
    assert_eq!(whole, first);
}
