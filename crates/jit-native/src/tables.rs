//! What is known of a program in the process in which it runs, as tables.

use std::cell::{OnceCell, RefCell};
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use taipan_jit::engine::{References, function_of};
use taipan_jit::{
    DriverInfo, FunctionHints, JitProgram, OwnTouches, SourceLine, StaysCall, TouchKind,
    TouchKinds, TouchSet, TouchTable, TsGraph,
};
use taipan_language::Exc;
use taipan_lltype::{
    CodePlace, FuncSym, LLGraph, LLType, Program, StaticData, StaticSym, StaticValue, StructBody,
    StructId, TypeKind,
};
use taipan_transform::Effects;

use crate::program::CallEffects;
use crate::sources::{Index, Sources, field_names};

/// The exceptions that compiled code raises by itself.
const EXCEPTIONS: [Exc; 3] = [Exc::OverflowError, Exc::RuntimeError, Exc::StackOverflow];

/// What is known of a function that compiled code may call.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Facts {
    raises: bool,
    collects: bool,
    elidable: bool,
    search: bool,
    /// Number of what it does to memory.
    touches: Option<u32>,
    /// Number of its timeshifted graph, if its calls are followed.
    graph: Option<u32>,
}

/// All that compiling the loops of a program takes. It can be written and read, as a whole or in
/// parts.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct JitTables {
    /// The drivers, by number.
    pub drivers: Vec<DriverInfo>,
    /// Class and instance of each exception that compiled code raises by itself.
    pub exceptions: Vec<(StaticSym, StaticSym)>,
    /// The functions that compiled code may call.
    pub functions: Vec<(FuncSym, Facts)>,
    /// Timeshifted graphs, by number.
    pub graphs: Vec<Arc<TsGraph>>,
    /// What the next is about.
    pub kinds: TouchKinds,
    /// What functions do to memory, by number.
    pub touches: Vec<TouchSet>,
    /// The structs whose fields are not a part of their types.
    pub bodies: Vec<(StructId, StructBody)>,
    /// Source lines and facts that only the log needs.
    pub sources: Sources,
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
        let called = references.functions();
        let called: Vec<&FuncSym> = called.filter(|f| seen.insert((*f).clone())).collect();
        let touches = TouchTable::new(program, called.iter().copied());
        let numbered = graphs.iter().zip(0..);
        let numbers: FxHashMap<&FuncSym, u32> =
            numbered.map(|(g, n)| (function_of(g), n)).collect();
        let functions = called.into_iter().map(|f| {
            let facts = Facts {
                raises: program.can_raise(f),
                collects: effects.effects(f).can_collect,
                elidable: program.is_elidable(f),
                search: program.is_search(f),
                touches: touches.functions.get(f).copied(),
                graph: numbers.get(f).copied(),
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
        let bodies = bodies(program, types);
        let instances = bodies.iter().filter_map(|(id, body)| {
            let is_class = matches!(id, StructId::Instance(_));
            is_class.then(|| (id.clone(), field_names(&body.fields)))
        });
        let called = functions.iter().map(|f| &f.0);
        let sources = Sources::new(program, called, &graphs, instances);
        let tables = JitTables {
            drivers,
            exceptions: exceptions.to_vec(),
            functions,
            graphs,
            kinds: touches.kinds,
            touches: touches.sets,
            bodies,
            sources,
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
                // The bodies of forward references are known in the process that tied them only.
                if !matches!(s.id, StructId::Inline(_)) {
                    out.push((s.id.clone(), (*body).clone()));
                }
            }
            _ => {}
        }
    }
    out
}

/// Where the parts of [`JitTables`] come from, each when it is needed first.
pub trait Parts {
    /// Facts about a function. None if compiled code may not call it.
    fn facts(&self, f: &FuncSym) -> Option<Facts>;

    /// The functions that compiled code may call, by number.
    fn functions(&self) -> Vec<(FuncSym, Facts)>;

    /// A timeshifted graph.
    fn graph(&self, number: u32) -> Arc<TsGraph>;

    /// What functions do to memory.
    fn touches(&self, number: u32) -> TouchSet;

    /// The number of a kind of places in these sets. None if no set has the kind.
    fn touch_number(&self, kind: &TouchKind) -> Option<u32>;

    /// The body of a struct whose fields are not a part of its type. None if no graph mentions it.
    fn body(&self, s: &StructId) -> Option<StructBody>;

    /// Source lines and facts that only the log needs.
    fn sources(&self) -> Sources;
}

/// [`JitTables`] in memory.
struct Whole {
    tables: JitTables,
    functions: FxHashMap<FuncSym, Facts>,
    kinds: FxHashMap<TouchKind, u32>,
    bodies: FxHashMap<StructId, StructBody>,
}

impl Parts for Whole {
    fn facts(&self, f: &FuncSym) -> Option<Facts> {
        self.functions.get(f).copied()
    }

    fn functions(&self) -> Vec<(FuncSym, Facts)> {
        self.tables.functions.clone()
    }

    fn graph(&self, number: u32) -> Arc<TsGraph> {
        self.tables.graphs[number as usize].clone()
    }

    fn touches(&self, number: u32) -> TouchSet {
        self.tables.touches[number as usize].clone()
    }

    fn touch_number(&self, kind: &TouchKind) -> Option<u32> {
        self.kinds.get(kind).copied()
    }

    fn body(&self, s: &StructId) -> Option<StructBody> {
        self.bodies.get(s).cloned()
    }

    fn sources(&self) -> Sources {
        self.tables.sources.clone()
    }
}

/// A program that is known by tables.
pub struct Tabled {
    drivers: Vec<DriverInfo>,
    exceptions: Vec<(StaticSym, StaticSym)>,
    parts: Box<dyn Parts>,
    functions: RefCell<FxHashMap<FuncSym, Option<Facts>>>,
    graphs: RefCell<FxHashMap<u32, Arc<TsGraph>>>,
    touches: RefCell<FxHashMap<u32, Arc<OwnTouches>>>,
    kinds: RefCell<FxHashMap<TouchKind, Option<u32>>>,
    unknown: Arc<OwnTouches>,
    bodies: RefCell<FxHashMap<StructId, Arc<StructBody>>>,
    sources: OnceCell<Index>,
}

impl Tabled {
    /// The program of tables.
    pub fn new(tables: JitTables) -> Tabled {
        let (drivers, exceptions) = (tables.drivers.clone(), tables.exceptions.clone());
        let whole = Whole {
            functions: tables.functions.iter().cloned().collect(),
            kinds: tables.kinds.numbered().collect(),
            bodies: tables.bodies.iter().cloned().collect(),
            tables,
        };
        Tabled::of_parts(drivers, exceptions, Box::new(whole))
    }

    /// The program of tables that are read in parts.
    pub fn of_parts(
        drivers: Vec<DriverInfo>,
        exceptions: Vec<(StaticSym, StaticSym)>,
        parts: Box<dyn Parts>,
    ) -> Tabled {
        Tabled {
            drivers,
            exceptions,
            parts,
            functions: RefCell::default(),
            graphs: RefCell::default(),
            touches: RefCell::default(),
            kinds: RefCell::default(),
            unknown: Arc::new(OwnTouches::anything()),
            bodies: RefCell::default(),
            sources: OnceCell::new(),
        }
    }

    /// The drivers, by number.
    pub fn drivers(&self) -> &[DriverInfo] {
        &self.drivers
    }

    fn facts(&self, f: &FuncSym) -> Option<Facts> {
        if let Some(known) = self.functions.borrow().get(f) {
            return *known;
        }
        let facts = self.parts.facts(f);
        self.functions.borrow_mut().insert(f.clone(), facts);
        facts
    }

    fn sources(&self) -> &Index {
        self.sources.get_or_init(|| {
            let functions = self.parts.functions().into_iter();
            let functions = functions.map(|(f, facts)| (f, facts.graph));
            Index::new(self.parts.sources(), functions)
        })
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
        if let Some(known) = self.bodies.borrow().get(s) {
            return known.clone();
        }
        let body = Arc::new(self.parts.body(s).unwrap_or_default());
        self.bodies.borrow_mut().insert(s.clone(), body.clone());
        body
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
        self.facts(f).is_some_and(|f| f.graph.is_some())
    }

    fn driver(&self, f: &FuncSym) -> Option<DriverInfo> {
        let is_it = |d: &&DriverInfo| d.function == *f || d.portal == *f;
        self.drivers.iter().find(is_it).cloned()
    }

    fn can_raise(&self, f: &FuncSym) -> bool {
        self.facts(f).is_none_or(|f| f.raises)
    }

    fn is_elidable(&self, f: &FuncSym) -> bool {
        self.facts(f).is_some_and(|f| f.elidable)
    }

    fn is_search(&self, f: &FuncSym) -> bool {
        self.facts(f).is_some_and(|f| f.search)
    }

    fn timeshifted(&self, f: &FuncSym) -> Option<Arc<TsGraph>> {
        let number = self.facts(f)?.graph?;
        let mut graphs = self.graphs.borrow_mut();
        let graph = graphs.entry(number);
        Some(graph.or_insert_with(|| self.parts.graph(number)).clone())
    }

    fn touches(&self, f: &FuncSym) -> Arc<OwnTouches> {
        let Some(number) = self.facts(f).and_then(|f| f.touches) else {
            return self.unknown.clone();
        };
        let mut touches = self.touches.borrow_mut();
        let touches = touches.entry(number);
        touches
            .or_insert_with(|| Arc::new(OwnTouches::tabled(self.parts.touches(number))))
            .clone()
    }

    fn touch_number(&self, kind: &TouchKind) -> Option<u32> {
        let mut kinds = self.kinds.borrow_mut();
        let number = kinds.entry(*kind);
        *number.or_insert_with(|| self.parts.touch_number(kind))
    }

    fn line(&self, place: &CodePlace) -> Option<SourceLine> {
        self.sources().line(place)
    }

    fn loop_line(&self, f: &FuncSym) -> Option<SourceLine> {
        self.sources().loop_line(f)
    }

    fn stays_call(&self, f: &FuncSym) -> Option<StaysCall> {
        self.sources().stays_call(f)
    }

    fn is_settled(&self, class: &StructId, field: &str) -> bool {
        self.sources().is_settled(class, field)
    }
}

impl CallEffects for Tabled {
    fn effects(&self, f: &FuncSym) -> Effects {
        let facts = self.facts(f);
        Effects {
            can_raise: facts.is_none_or(|f| f.raises),
            can_collect: facts.is_none_or(|f| f.collects),
            stack_check: false,
        }
    }
}
