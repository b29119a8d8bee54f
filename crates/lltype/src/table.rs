//! A program given by tables: graphs written as text, a few exception classes. For
//! tests of what works on low-level graphs.

use std::collections::BTreeMap;
use std::sync::Arc;

use taipan_graph::ObjId;
use taipan_graph::text::{ParseError, parse_graphs};

use crate::text::LLNames;
use crate::{
    Field, FuncSym, LLConst, LLGraph, LLType, LowLevel, OBJECT, OBJECT_VTABLE, Program, STR,
    StaticData, StaticSym, StaticValue, StructBody, StructId, StructType, TypeKind,
};
use taipan_language::Exc;

/// Exception classes of every [`TableProgram`]: name, index of the base, and end of the
/// subclass range, which starts at the index. Object ids are the indexes plus
/// [`FIRST_CLASS`].
const CLASSES: &[(&str, Option<usize>, i64)] = &[
    ("Exception", None, 10),
    ("LookupError", Some(0), 4),
    ("IndexError", Some(1), 3),
    ("KeyError", Some(1), 4),
    ("OverflowError", Some(0), 5),
    ("RuntimeError", Some(0), 7),
    ("StackOverflow", Some(5), 7),
    ("MemoryError", Some(0), 8),
    ("ValueError", Some(0), 9),
    ("AssertionError", Some(0), 10),
];

/// Object id of the first exception class (`Exception`); then come `LookupError`,
/// `IndexError`, `KeyError`, `OverflowError`, `RuntimeError`, `StackOverflow`, `MemoryError`,
/// `ValueError`, `AssertionError`.
pub const FIRST_CLASS: u64 = 0xe0;

/// A program given by tables.
#[derive(Clone, Debug, Default)]
pub struct TableProgram {
    /// Its functions, in the order of the text.
    pub functions: Vec<FuncSym>,
    /// Their graphs, by name.
    pub graphs: BTreeMap<String, Arc<LLGraph>>,
    /// Further prebuilt data.
    pub statics: Vec<(StaticSym, StaticData)>,
    /// Bodies of structs that are not inline.
    pub structs: Vec<(StructId, StructBody)>,
}

impl TableProgram {
    /// The graphs of a text. Each has the name of a declared function, or gets one
    /// declared for it.
    pub fn parse(text: &str) -> Result<TableProgram, ParseError> {
        let mut names = LLNames::default();
        let graphs = parse_graphs::<LowLevel>(text, &mut names)?;
        let mut program = TableProgram::default();
        for g in graphs {
            let f = match names.func_named(&g.name) {
                Some(f) => f.clone(),
                None => function_of(&g),
            };
            program.functions.push(f);
            program.graphs.insert(g.name.to_string(), Arc::new(g));
        }
        Ok(program)
    }

    /// The function of that name.
    pub fn function(&self, name: &str) -> Option<&FuncSym> {
        self.functions.iter().find(|f| f.name() == name)
    }
}

fn function_of(g: &LLGraph) -> FuncSym {
    let kind = crate::FuncKind::Synth {
        name: (&*g.name).into(),
        args: Arc::new([]),
    };
    let ty = crate::FuncType {
        args: g.args().iter().map(|v| *g.ty(*v)).collect(),
        result: *g.ty(g.returnvar()),
    };
    FuncSym::new(kind, ty)
}

fn class_index(id: ObjId) -> Option<usize> {
    let i = usize::try_from(id.0.checked_sub(FIRST_CLASS)?).ok()?;
    (i < CLASSES.len()).then_some(i)
}

fn class_id(name: &str) -> ObjId {
    let i = CLASSES.iter().position(|c| c.0 == name).unwrap_or(0);
    ObjId(FIRST_CLASS + i as u64)
}

impl Program for TableProgram {
    fn graph(&self, f: &FuncSym) -> Option<Arc<LLGraph>> {
        self.graphs.get(f.name()).cloned()
    }

    fn static_data(&self, s: &StaticSym) -> Arc<StaticData> {
        if let Some((_, d)) = self.statics.iter().find(|(sym, _)| sym == s) {
            return Arc::new(d.clone());
        }
        let data = |ty, value| StaticData {
            ty,
            value,
            readonly: false,
        };
        Arc::new(match s {
            StaticSym::Str(bytes) => {
                let hash = StaticValue::Const(LLConst::signed(0));
                data(
                    *STR,
                    StaticValue::Struct(vec![hash, StaticValue::Bytes(bytes.clone())]),
                )
            }
            StaticSym::Vtable(id) => {
                let i = class_index(*id).unwrap_or(0);
                let (name, _, max) = CLASSES[i];
                let name = LLConst::data(StaticSym::Str(name.as_bytes().into()), STR.ptr());
                let instantiate = LLType::func(vec![], *crate::GCREF).ptr();
                let fields = [
                    LLConst::signed(i as i64),
                    LLConst::signed(max),
                    name,
                    LLConst::signed(0),
                    LLConst::Null(instantiate),
                ];
                let fields = fields.map(StaticValue::Const).to_vec();
                data(*OBJECT_VTABLE, StaticValue::Struct(fields))
            }
            StaticSym::Object(id, ty) if *ty == *OBJECT => {
                let vtable = LLConst::data(StaticSym::Vtable(*id), OBJECT_VTABLE.ptr());
                data(*ty, StaticValue::Struct(vec![StaticValue::Const(vtable)]))
            }
            StaticSym::Object(_, ty)
            | StaticSym::Part(_, _, ty)
            | StaticSym::Value(_, ty)
            | StaticSym::Named(_, ty) => data(*ty, StaticValue::Zero),
            StaticSym::Within(root, _) => return self.static_data(root),
            StaticSym::Unicode(_) | StaticSym::ObjectVtable => {
                data(*OBJECT_VTABLE, StaticValue::Zero)
            }
        })
    }

    fn struct_body(&self, s: &StructId) -> Arc<StructBody> {
        if let Some((_, body)) = self.structs.iter().find(|(id, _)| id == s) {
            return Arc::new(body.clone());
        }
        let mut body = StructBody::default();
        if let StructId::Vtable(id) = s {
            let base = class_index(*id).and_then(|i| CLASSES[i].1);
            let ty = base.map_or(*OBJECT_VTABLE, |i| {
                LLType::new(TypeKind::Struct(StructType {
                    name: format!("{}_vtable", CLASSES[i].0).into(),
                    gc: false,
                    id: StructId::Vtable(ObjId(FIRST_CLASS + i as u64)),
                }))
            });
            let name = "super".into();
            body.fields.push(Field { name, ty });
        }
        Arc::new(body)
    }

    fn exception_vtable(&self, exception: Exc) -> StaticSym {
        StaticSym::Vtable(class_id(exception.name()))
    }

    fn exception_instance(&self, exception: Exc) -> StaticSym {
        StaticSym::Object(class_id(exception.name()), *OBJECT)
    }
}
