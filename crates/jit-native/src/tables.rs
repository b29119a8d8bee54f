//! What is known of a program in the process in which it runs, as tables.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use taipan_jit::engine::{References, function_of};
use taipan_jit::{DriverInfo, FunctionHints, JitProgram, OwnTouches, TouchTable, TsGraph};
use taipan_language::Exc;
use taipan_lltype::{
    FuncSym, LLGraph, LLType, Program, StaticData, StaticSym, StaticValue, StructBody, StructId,
    TypeKind,
};
use taipan_transform::Effects;

use crate::program::CallEffects;

/// The exceptions that compiled code raises by itself.
const EXCEPTIONS: [Exc; 2] = [Exc::OverflowError, Exc::RuntimeError];

/// What is known of a function that compiled code may call.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Facts {
    raises: bool,
    collects: bool,
    elidable: bool,
}

/// All that compiling the loops of a program takes. It can be written and read.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct JitTables {
    /// The drivers, by number.
    pub drivers: Vec<DriverInfo>,
    graphs: Vec<Arc<TsGraph>>,
    functions: Vec<(FuncSym, Facts)>,
    touches: TouchTable,
    bodies: Vec<(StructId, StructBody)>,
    exceptions: Vec<(StaticSym, StaticSym)>,
}

impl JitTables {
    /// Those of a program, and what its graphs refer to.
    pub fn new(
        program: &dyn JitProgram,
        effects: &dyn CallEffects,
        drivers: Vec<DriverInfo>,
    ) -> (JitTables, References) {
        let (references, graphs) = References::of_drivers(program, &drivers);
        let mut seen = FxHashSet::default();
        let called = references.functions().filter(|f| seen.insert((*f).clone()));
        let functions = called.map(|f| {
            let facts = Facts {
                raises: program.can_raise(f),
                collects: effects.effects(f).can_collect,
                elidable: program.is_elidable(f),
            };
            (f.clone(), facts)
        });
        let functions: Vec<_> = functions.collect();
        let mut types: Vec<LLType> = references.values.clone();
        types.extend(&references.types);
        types.extend(references.consts.iter().map(|c| c.ty()));
        types.extend(functions.iter().map(|(f, _)| f.ptr_type()));
        let exceptions =
            EXCEPTIONS.map(|e| (program.exception_vtable(e), program.exception_instance(e)));
        let tables = JitTables {
            drivers,
            graphs,
            touches: TouchTable::new(program, functions.iter().map(|(f, _)| f)),
            functions,
            bodies: bodies(program, types),
            exceptions: exceptions.to_vec(),
        };
        (tables, references)
    }
}

/// The bodies of all structs that types mention, directly or not.
fn bodies(program: &dyn Program, mut types: Vec<LLType>) -> Vec<(StructId, StructBody)> {
    let mut out = Vec::new();
    let mut seen = FxHashSet::default();
    while let Some(ty) = types.pop() {
        if !seen.insert(ty) {
            continue;
        }
        match ty.kind() {
            TypeKind::Ptr(to) => types.push(*to),
            TypeKind::Array(a) => types.push(a.of),
            TypeKind::FixedArray(of, _) => types.push(*of),
            TypeKind::Func(f) => {
                types.extend(&f.args);
                types.push(f.result);
            }
            TypeKind::Struct(s) => {
                let body = program.body(s);
                types.extend(body.fields.iter().map(|f| f.ty));
                if s.known_body().is_none() {
                    out.push((s.id.clone(), (*body).clone()));
                }
            }
            _ => {}
        }
    }
    out
}

/// A program that is known by tables.
pub struct Tabled {
    drivers: Vec<DriverInfo>,
    graphs: FxHashMap<FuncSym, Arc<TsGraph>>,
    functions: FxHashMap<FuncSym, Facts>,
    touches: FxHashMap<FuncSym, Arc<OwnTouches>>,
    unknown: Arc<OwnTouches>,
    bodies: FxHashMap<StructId, Arc<StructBody>>,
    exceptions: Vec<(StaticSym, StaticSym)>,
}

impl Tabled {
    /// The program of tables.
    pub fn new(tables: JitTables) -> Tabled {
        let graphs = tables.graphs.into_iter();
        let bodies = tables.bodies.into_iter();
        Tabled {
            drivers: tables.drivers,
            graphs: graphs.map(|g| (function_of(&g).clone(), g)).collect(),
            functions: tables.functions.into_iter().collect(),
            touches: tables.touches.into_map(),
            unknown: Arc::new(OwnTouches::anything()),
            bodies: bodies.map(|(id, body)| (id, Arc::new(body))).collect(),
            exceptions: tables.exceptions,
        }
    }

    fn exception(&self, exception: Exc) -> &(StaticSym, StaticSym) {
        let at = EXCEPTIONS.iter().position(|e| *e == exception).unwrap_or(1);
        &self.exceptions[at]
    }
}

impl Program for Tabled {
    fn graph(&self, _: &FuncSym) -> Option<Arc<LLGraph>> {
        None
    }

    /// What prebuilt data hold is in memory.
    fn static_data(&self, s: &StaticSym) -> Arc<StaticData> {
        let ty = match s.root() {
            StaticSym::Object(_, ty)
            | StaticSym::Part(_, _, ty)
            | StaticSym::Value(_, ty)
            | StaticSym::Named(_, ty) => *ty,
            StaticSym::Str(_) => *taipan_lltype::STR,
            StaticSym::Unicode(_) => *taipan_lltype::UNICODE,
            _ => *taipan_lltype::OBJECT_VTABLE,
        };
        Arc::new(StaticData {
            ty,
            value: StaticValue::Zero,
            readonly: false,
        })
    }

    fn struct_body(&self, s: &StructId) -> Arc<StructBody> {
        self.bodies.get(s).cloned().unwrap_or_default()
    }

    fn exception_vtable(&self, exception: Exc) -> StaticSym {
        self.exception(exception).0.clone()
    }

    fn exception_instance(&self, exception: Exc) -> StaticSym {
        self.exception(exception).1.clone()
    }
}

impl JitProgram for Tabled {
    fn hints(&self, _: &FuncSym) -> FunctionHints {
        FunctionHints::default()
    }

    fn looks_inside(&self, f: &FuncSym) -> bool {
        self.graphs.contains_key(f)
    }

    fn driver(&self, f: &FuncSym) -> Option<DriverInfo> {
        let is_it = |d: &&DriverInfo| d.function == *f || d.portal == *f;
        self.drivers.iter().find(is_it).cloned()
    }

    fn can_raise(&self, f: &FuncSym) -> bool {
        self.functions.get(f).is_none_or(|f| f.raises)
    }

    fn is_elidable(&self, f: &FuncSym) -> bool {
        self.functions.get(f).is_some_and(|f| f.elidable)
    }

    fn timeshifted(&self, f: &FuncSym) -> Option<Arc<TsGraph>> {
        self.graphs.get(f).cloned()
    }

    fn touches(&self, f: &FuncSym) -> Arc<OwnTouches> {
        self.touches.get(f).unwrap_or(&self.unknown).clone()
    }
}

impl CallEffects for Tabled {
    fn effects(&self, f: &FuncSym) -> Effects {
        let facts = self.functions.get(f);
        Effects {
            can_raise: facts.is_none_or(|f| f.raises),
            can_collect: facts.is_none_or(|f| f.collects),
            stack_check: false,
        }
    }
}
