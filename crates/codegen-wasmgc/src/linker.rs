//! Whole programs: everything gets its number, and its place in one module.

use std::convert::Infallible;
use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxHashMap;
use taipan_codegen::{Reference, static_references};
use taipan_lltype::{FuncKind, FuncSym, OBJECT, OBJECT_VTABLE, Program, StaticSym};
use taipan_ootype::Lack;
use wasm_encoder::reencode::{Error as ReencodeError, Reencode};
use wasm_encoder::{
    CodeSection, ConstExpr, DataCountSection, DataSection, EntityType, ExportKind, ExportSection,
    FunctionSection, GlobalSection, GlobalType, HeapType, ImportSection, MemorySection, MemoryType,
    Module, TypeSection, ValType,
};

use crate::code::Ins;
use crate::glue::{Entry, function_type, glue_code, glue_type};
use crate::host::{HOST_MODULE, import_name, import_type, takes_strings};
use crate::names::name_section;
use crate::places::{FunctionPlaces, Linked};
use crate::prebuilt::{Numbering, Prebuilt, not_null, ordered, prebuilt};
use crate::symbols::{Callee, FunctionCode, Global, Glue, HostFunction, TypeSym};
use crate::types::{Numbers, definition, nullable, supertype};

/// Frames that count themselves take no more than this of the host's stack, by the estimate of `emit`, unless the host
/// sets another limit.
const MOST_STACK: i32 = 4 << 20;

/// Functions without arguments and results, and the like: their types stand behind those of the program.
pub(crate) type Signature = (Vec<ValType>, Vec<ValType>);

/// A program that is being put together.
pub struct Linker<'p> {
    program: &'p dyn Program,
    entry: Entry,
    functions: IndexMap<Callee, Option<Arc<FunctionCode>>>,
    imports: IndexSet<HostFunction>,
    methods: IndexSet<FuncSym>,
    statics: IndexSet<StaticSym>,
    references: FxHashMap<StaticSym, Vec<StaticSym>>,
    types: IndexSet<TypeSym>,
    wanted: Vec<FuncSym>,
}

impl<'p> Linker<'p> {
    /// A program that starts with a function.
    ///
    /// # Errors
    /// Functions and types that the host lacks.
    pub fn new(program: &'p dyn Program, entry: &FuncSym) -> Result<Linker<'p>, Lack> {
        let mut linker = Linker {
            program,
            entry: Entry {
                function: entry.clone(),
                fills: 0,
            },
            functions: IndexMap::new(),
            imports: IndexSet::new(),
            methods: IndexSet::new(),
            statics: IndexSet::new(),
            references: FxHashMap::default(),
            types: IndexSet::new(),
            wanted: Vec::new(),
        };
        // The types of the globals.
        linker.types.insert(TypeSym::Container(*OBJECT_VTABLE));
        linker.types.insert(TypeSym::Container(*OBJECT));
        linker.want(&Callee::Glue(Glue::Run))?;
        Ok(linker)
    }

    /// The functions that have been mentioned since this was last called.
    pub fn missing(&mut self) -> Vec<FuncSym> {
        std::mem::take(&mut self.wanted)
    }

    /// Adds a function that was missing.
    ///
    /// # Errors
    /// Functions and types that the host lacks.
    pub fn add(&mut self, f: &FuncSym, code: Arc<FunctionCode>) -> Result<(), Lack> {
        self.refer(&code)?;
        self.functions.insert(Callee::Func(f.clone()), Some(code));
        Ok(())
    }

    fn want(&mut self, callee: &Callee) -> Result<(), Lack> {
        match callee {
            Callee::Func(f) if matches!(f.kind(), FuncKind::External { .. }) => {
                if !crate::host::is_available(f) {
                    return Err(Lack::Function(f.name().to_owned()));
                }
                let host = HostFunction::External(f.clone());
                match takes_strings(f) {
                    true => self.want(&Callee::Glue(Glue::External(f.clone()))),
                    false => self.want(&Callee::Host(host)),
                }
            }
            Callee::Func(f) => {
                if !self.functions.contains_key(callee) {
                    self.functions.insert(callee.clone(), None);
                    self.wanted.push(f.clone());
                }
                Ok(())
            }
            Callee::Glue(glue) => {
                if self.functions.contains_key(callee) {
                    return Ok(());
                }
                self.functions.insert(callee.clone(), None);
                self.glue(glue)
            }
            Callee::Host(host) => {
                if let HostFunction::External(f) = host
                    && !takes_strings(f)
                {
                    self.types.insert(TypeSym::Function(function_type(f)));
                }
                self.imports.insert(host.clone());
                Ok(())
            }
        }
    }

    /// Writes a piece of glue.
    fn glue(&mut self, glue: &Glue) -> Result<(), Lack> {
        let code = glue_code(glue, &self.entry, self.program)?;
        // Its type may refer to others.
        glue_type(glue, &mut self.types)?;
        if let Glue::External(f) = glue {
            self.types.insert(TypeSym::Function(function_type(f)));
        }
        self.refer(&code)?;
        let code = Some(Arc::new(code));
        self.functions.insert(Callee::Glue(glue.clone()), code);
        Ok(())
    }

    fn refer(&mut self, code: &FunctionCode) -> Result<(), Lack> {
        self.types.extend(code.types.iter().copied());
        for callee in &code.callees {
            self.want(callee)?;
        }
        for global in &code.globals {
            match global {
                Global::Method(f) => self.want_method(f)?,
                Global::Static(s) => self.want_data(s)?,
                Global::ExcType
                | Global::ExcValue
                | Global::Depth
                | Global::StackLimit
                | Global::LastHash => {}
            }
        }
        Ok(())
    }

    fn want_method(&mut self, f: &FuncSym) -> Result<(), Lack> {
        let ty = function_type(f);
        self.types.insert(TypeSym::Method(ty));
        self.types.insert(TypeSym::Function(ty));
        self.methods.insert(f.clone());
        self.want(&Callee::Func(f.clone()))
    }

    fn want_data(&mut self, s: &StaticSym) -> Result<(), Lack> {
        let mut todo = vec![s.clone()];
        while let Some(s) = todo.pop() {
            if !self.statics.insert(s.clone()) {
                continue;
            }
            let data = self.program.static_data(&s);
            self.types.insert(TypeSym::Container(data.ty));
            let (mut functions, mut statics) = (Vec::new(), Vec::new());
            static_references(&data.value, &mut |r| match r {
                Reference::Func(f) => functions.push(f.clone()),
                Reference::Static(s) => statics.push(s.clone()),
            });
            for f in functions {
                self.want_method(&f)?;
            }
            todo.extend(statics.iter().rev().cloned());
            self.references.insert(s, statics);
        }
        Ok(())
    }

    /// The module. With `names`, functions, types, fields and globals have names for people.
    ///
    /// # Errors
    /// Data that objects of the host cannot hold; a function that was missing and has not been added.
    pub fn finish(mut self, names: bool) -> Result<Linked, Lack> {
        close_types(&mut self.types, self.program)?;
        let mut numbering = self.numbering();
        let statics: Vec<StaticSym> = self.statics.iter().cloned().collect();
        let order = ordered(&statics, &self.references);
        for s in &order {
            let number = numbering.globals.len() as u32;
            numbering.globals.insert(Global::Static(s.clone()), number);
        }
        let data = prebuilt(&order, self.program, &mut numbering)?;
        self.entry.fills = data.fills.len() as u32;
        let run = glue_code(&Glue::Run, &self.entry, self.program)?;
        self.functions
            .insert(Callee::Glue(Glue::Run), Some(Arc::new(run)));
        for (i, fill) in data.fills.iter().enumerate() {
            let callee = Callee::Glue(Glue::Fill(i as u32));
            let number = numbering.functions.len() as u32;
            numbering.functions.insert(callee.clone(), number);
            self.functions.insert(callee, Some(Arc::new(fill.clone())));
        }
        let (module, places) = self.module(&mut numbering, &data, names)?;
        Ok(Linked::new(module.finish(), places))
    }

    fn numbering(&self) -> Final {
        let mut functions = IndexMap::new();
        for host in &self.imports {
            let number = functions.len() as u32;
            functions.insert(Callee::Host(host.clone()), number);
        }
        for callee in self.functions.keys() {
            let number = functions.len() as u32;
            functions.insert(callee.clone(), number);
        }
        let mut globals = IndexMap::new();
        let fixed = [
            Global::ExcType,
            Global::ExcValue,
            Global::Depth,
            Global::StackLimit,
            Global::LastHash,
        ];
        let methods = self.methods.iter().cloned().map(Global::Method);
        for global in fixed.into_iter().chain(methods) {
            let number = globals.len() as u32;
            globals.insert(global, number);
        }
        Final {
            types: ordered_types(&self.types, self.program),
            signatures: IndexSet::new(),
            functions,
            globals,
        }
    }

    fn module(
        &self,
        n: &mut Final,
        data: &Prebuilt,
        names: bool,
    ) -> Result<(Module, Vec<FunctionPlaces>), Lack> {
        let mut imports = ImportSection::new();
        for host in &self.imports {
            let ty = n.type_of_host(host)?;
            let name = import_name(host);
            imports.import(HOST_MODULE, name, EntityType::Function(ty));
        }
        let mut functions = FunctionSection::new();
        let mut code = CodeSection::new();
        let mut all_places = Vec::new();
        for (callee, made) in &self.functions {
            let made = made
                .as_ref()
                .ok_or_else(|| Lack::Operation(format!("call of {callee:?}")))?;
            functions.function(n.type_of(callee, made)?);
            let places = n.place(made, &mut code)?;
            let func = match callee {
                Callee::Func(f) => Some(f.clone()),
                Callee::Glue(_) | Callee::Host(_) => None,
            };
            all_places.push((func, places));
        }
        let mut memory = MemorySection::new();
        memory.memory(MemoryType {
            minimum: 1,
            maximum: None,
            memory64: false,
            shared: false,
            page_size_log2: None,
        });
        let mut exports = ExportSection::new();
        exports.export("memory", ExportKind::Memory, 0);
        let run = n.function(&Callee::Glue(Glue::Run))?;
        exports.export("run", ExportKind::Func, run);
        let limit = n.global(Global::StackLimit);
        exports.export("stack_limit", ExportKind::Global, limit);
        let globals = self.globals(n, data)?;
        let mut bytes = DataSection::new();
        bytes.passive(data.bytes.iter().copied());
        let mut module = Module::new();
        module
            .section(&type_section(n, self.program)?)
            .section(&imports)
            .section(&functions)
            .section(&memory)
            .section(&globals)
            .section(&exports)
            .section(&DataCountSection { count: 1 })
            .section(&code)
            .section(&bytes);
        if names {
            module.section(&name_section(n, self.program));
        }
        Ok((module, all_places))
    }

    fn globals(&self, n: &mut Final, data: &Prebuilt) -> Result<GlobalSection, Lack> {
        let mut section = GlobalSection::new();
        let mut add = |val_type: ValType, mutable: bool, value: &ConstExpr| {
            let ty = GlobalType {
                val_type,
                mutable,
                shared: false,
            };
            section.global(ty, value);
        };
        for ty in [*OBJECT_VTABLE, *OBJECT] {
            let ty = HeapType::Concrete(n.number(TypeSym::Container(ty)));
            add(nullable(ty), true, &ConstExpr::ref_null(ty));
        }
        add(ValType::I32, true, &ConstExpr::i32_const(0));
        add(ValType::I32, true, &ConstExpr::i32_const(MOST_STACK));
        add(ValType::I64, true, &ConstExpr::i64_const(0));
        for f in &self.methods {
            let ty = n.number(TypeSym::Method(function_type(f)));
            let function = n.function(&Callee::Func(f.clone()))?;
            let value = ConstExpr::extended([Ins::RefFunc(function), Ins::StructNew(ty)]);
            let ty = wasm_encoder::RefType {
                nullable: false,
                heap_type: HeapType::Concrete(ty),
            };
            add(ValType::Ref(ty), false, &value);
        }
        for (_, ty, value) in &data.objects {
            let ty = not_null(*ty, n);
            add(ty, false, value);
        }
        Ok(section)
    }
}

/// All types that those here refer to, too.
pub(crate) fn close_types(
    types: &mut IndexSet<TypeSym>,
    program: &dyn Program,
) -> Result<(), Lack> {
    let mut i = 0;
    while let Some(ty) = types.get_index(i).copied() {
        definition(ty, program, types)?;
        i += 1;
    }
    Ok(())
}

/// The types with bases before those that extend them.
pub(crate) fn ordered_types(types: &IndexSet<TypeSym>, program: &dyn Program) -> IndexSet<TypeSym> {
    let mut ordered = IndexSet::new();
    for ty in types {
        let mut chain = vec![*ty];
        while let Some(base) = supertype(chain[chain.len() - 1], program) {
            chain.push(base);
        }
        ordered.extend(chain.into_iter().rev());
    }
    ordered
}

pub(crate) fn type_section(n: &mut Final, program: &dyn Program) -> Result<TypeSection, Lack> {
    let all: Vec<TypeSym> = n.types.iter().copied().collect();
    let mut definitions = (all.iter())
        .map(|ty| definition(*ty, program, n))
        .collect::<Result<Vec<_>, _>>()?;
    // Casts to a type without subtypes are a comparison of types.
    let bases: Vec<u32> = (definitions.iter())
        .flat_map(|d| d.supertype_idxs.iter().copied())
        .collect();
    for d in &mut definitions {
        d.is_final = true;
    }
    for base in bases {
        definitions[base as usize].is_final = false;
    }
    let mut section = TypeSection::new();
    section.ty().rec(definitions);
    for (params, results) in &n.signatures {
        section
            .ty()
            .function(params.iter().copied(), results.iter().copied());
    }
    Ok(section)
}

impl Numbers for IndexSet<TypeSym> {
    fn number(&mut self, ty: TypeSym) -> u32 {
        self.insert_full(ty).0 as u32
    }
}

/// The function that is called in place of another one: of the host's, that with its parameters.
pub(crate) fn stand_in(callee: &Callee) -> Callee {
    match callee {
        Callee::Func(f) if matches!(f.kind(), FuncKind::External { .. }) => {
            match takes_strings(f) {
                true => Callee::Glue(Glue::External(f.clone())),
                false => Callee::Host(HostFunction::External(f.clone())),
            }
        }
        other => other.clone(),
    }
}

/// The numbers in the module.
pub(crate) struct Final {
    pub(crate) types: IndexSet<TypeSym>,
    pub(crate) signatures: IndexSet<Signature>,
    pub(crate) functions: IndexMap<Callee, u32>,
    pub(crate) globals: IndexMap<Global, u32>,
}

impl Numbers for Final {
    fn number(&mut self, ty: TypeSym) -> u32 {
        debug_assert!(self.types.contains(&ty), "{ty:?} was not referred to");
        self.types.get_index_of(&ty).unwrap_or(0) as u32
    }
}

impl Numbering for Final {
    fn global(&mut self, global: Global) -> u32 {
        debug_assert!(
            self.globals.contains_key(&global),
            "{global:?} was not referred to"
        );
        self.globals.get(&global).copied().unwrap_or(0)
    }
}

impl Final {
    pub(crate) fn signature(&mut self, signature: Signature) -> u32 {
        (self.types.len() + self.signatures.insert_full(signature).0) as u32
    }

    /// The number of the type of a function of the host.
    pub(crate) fn type_of_host(&mut self, host: &HostFunction) -> Result<u32, Lack> {
        match host {
            HostFunction::External(f) if !takes_strings(f) => {
                Ok(self.number(TypeSym::Function(function_type(f))))
            }
            _ => {
                let signature = import_type(host, self)?;
                Ok(self.signature(signature))
            }
        }
    }

    /// The number of a function.
    fn function(&self, callee: &Callee) -> Result<u32, Lack> {
        let missing = || Lack::Operation(format!("call of {callee:?}"));
        self.functions
            .get(&stand_in(callee))
            .copied()
            .ok_or_else(missing)
    }

    /// The number of a function's type.
    fn type_of(&mut self, callee: &Callee, code: &FunctionCode) -> Result<u32, Lack> {
        match callee {
            Callee::Glue(Glue::External(f)) => Ok(self.number(TypeSym::Function(function_type(f)))),
            Callee::Glue(glue) => {
                let signature = glue_type(glue, self)?;
                Ok(self.signature(signature))
            }
            Callee::Func(_) | Callee::Host(_) => Ok(self.number(code.types[code.ty as usize])),
        }
    }

    /// Adds the code of a function, with the numbers of the module. Returns its places, by their new offsets.
    pub(crate) fn place(
        &mut self,
        made: &FunctionCode,
        section: &mut CodeSection,
    ) -> Result<Vec<(u32, u32)>, Lack> {
        let types = made.types.iter().map(|t| self.number(*t)).collect();
        let functions = made.callees.iter().map(|c| self.function(c));
        let functions = functions.collect::<Result<_, _>>()?;
        let globals = made
            .globals
            .iter()
            .map(|g| self.global(g.clone()))
            .collect();
        let mut renumber = Renumber {
            types,
            functions,
            globals,
        };
        let reader = wasmparser::BinaryReader::new(&made.body, 0);
        let body = wasmparser::FunctionBody::new(reader);
        let mut places = Vec::with_capacity(made.places.len());
        let mut renumbered = || {
            let mut function = renumber.new_function_with_parsed_locals(&body)?;
            let mut reader = body.get_operators_reader()?;
            let mut old = made.places.iter().peekable();
            while !reader.eof() {
                let offset = reader.original_position() as u32;
                if let Some((_, at)) = old.next_if(|(place, _)| *place <= offset) {
                    places.push((function.byte_len() as u32, *at));
                }
                function.instruction(&renumber.parse_instruction(&mut reader)?);
            }
            section.function(&function);
            Ok(())
        };
        let done: Result<(), ReencodeError<Infallible>> = renumbered();
        done.map_err(|e| Lack::Operation(format!("code that is not valid: {e}")))?;
        Ok(places)
    }
}

/// From the numbers of a function to those of the module.
struct Renumber {
    types: Vec<u32>,
    functions: Vec<u32>,
    globals: Vec<u32>,
}

type Renumbered = Result<u32, ReencodeError<Infallible>>;

impl Reencode for Renumber {
    type Error = Infallible;

    fn type_index(&mut self, ty: u32) -> Renumbered {
        Ok(self.types[ty as usize])
    }

    fn function_index(&mut self, f: u32) -> Renumbered {
        Ok(self.functions[f as usize])
    }

    fn global_index(&mut self, global: u32) -> Renumbered {
        Ok(self.globals[global as usize])
    }
}

/// # Panics
/// If the module is not valid.
pub(crate) fn validate(bytes: &[u8]) {
    let features = wasmparser::WasmFeatures::default()
        | wasmparser::WasmFeatures::GC
        | wasmparser::WasmFeatures::FUNCTION_REFERENCES;
    let checked = wasmparser::Validator::new_with_features(features).validate_all(bytes);
    if let Err(e) = checked {
        panic!("the module is not valid: {e}");
    }
}
