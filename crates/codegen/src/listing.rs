//! Everything that a program consists of, as a list to compare with another one.
//!
//! An [`crate::Image`] has places; a listing has none yet: whoever changes a program
//! that runs compares what it consists of now with what it consisted of, and places
//! only the difference.

use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHashSet};
use taipan_lltype::{
    FuncSym, LLGraph, LLType, Program, StaticData, StaticSym, StructBody, StructId, TypeKind,
};

use crate::table::program_table;
use crate::{
    CodeSource, CodegenError, CompiledFunction, DataObject, Positions, SymbolRef, mangle_static,
    static_object, type_info_object,
};

/// A function of a listing.
#[derive(Clone, Debug)]
pub struct ListedFunction {
    /// Its code.
    pub code: Arc<CompiledFunction>,
    /// What tracebacks say of it.
    pub positions: Arc<Positions>,
}

/// A struct whose fields the program knows.
#[derive(Clone, Debug)]
pub struct ListedStruct {
    /// Its name, for people.
    pub name: Arc<str>,
    /// Its fields.
    pub body: Arc<StructBody>,
}

/// A program, in the order in which it is reached from its table.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// Functions that have graphs.
    pub functions: IndexMap<FuncSym, ListedFunction>,
    /// Functions of C libraries that the program brings.
    pub foreign: Vec<FuncSym>,
    /// The program table, prebuilt data, type information.
    pub data: IndexMap<SymbolRef, Arc<DataObject>>,
    /// Places inside of prebuilt data: the data, and how far from its start.
    pub places: FxHashMap<StaticSym, (StaticSym, i64)>,
    /// Structs that functions work with whose bodies are not inline.
    pub structs: FxHashMap<StructId, ListedStruct>,
}

/// Lists programs; what was listed before is not made again.
#[derive(Default)]
pub struct Lister {
    statics: FxHashMap<StaticSym, (Arc<StaticData>, Arc<DataObject>)>,
    types: FxHashMap<FuncSym, (Arc<LLGraph>, Arc<[LLType]>)>,
}

impl Lister {
    /// Lists everything that the program with that entry point needs.
    pub fn list(
        &mut self,
        program: &dyn Program,
        source: &mut dyn CodeSource,
        entry: &FuncSym,
    ) -> Result<Listing, CodegenError> {
        let mut out = Listing::default();
        let mut types = FxHashSet::default();
        let mut todo = vec![SymbolRef::ProgramTable];
        while let Some(symbol) = todo.pop() {
            let object = match &symbol {
                SymbolRef::Func(f) => {
                    if out.functions.contains_key(f) {
                        continue;
                    }
                    let code = source.compiled(f)?;
                    let positions = source.positions(f, &code);
                    let positions =
                        positions.unwrap_or_else(|| Arc::new(Positions::unknown(f, &code)));
                    types.extend(self.types_of(program, f).iter().copied());
                    let listed = ListedFunction {
                        code: code.clone(),
                        positions,
                    };
                    out.functions.insert(f.clone(), listed);
                    todo.extend(code.relocs.iter().rev().map(|r| r.target.clone()));
                    continue;
                }
                // Places in the source come with their functions.
                SymbolRef::External(_) | SymbolRef::Location(_) => continue,
                SymbolRef::Foreign(f) => {
                    out.foreign.push(f.clone());
                    continue;
                }
                SymbolRef::Static(s @ StaticSym::Within(..)) => {
                    let (root, offset) = (s.place(program))
                        .ok_or_else(|| CodegenError::new(mangle_static(s), "no such place"))?;
                    todo.push(SymbolRef::Static(root.clone()));
                    out.places.insert(s.clone(), (root.clone(), offset));
                    continue;
                }
                SymbolRef::Glue(_) => {
                    let message = "glue is no part of a program that runs";
                    return Err(CodegenError::new("listing", message));
                }
                data => {
                    if out.data.contains_key(data) {
                        continue;
                    }
                    let object = self.object(program, data, entry)?;
                    out.data.insert(symbol.clone(), object.clone());
                    object
                }
            };
            todo.extend(object.relocs.iter().rev().map(|r| r.target.clone()));
        }
        #[expect(clippy::iter_over_hash_type, reason = "what is noted goes into a map")]
        for ty in types {
            note_struct(program, ty, &mut out.structs);
        }
        // What is gone need not be remembered.
        self.types.retain(|f, _| out.functions.contains_key(f));
        self.statics
            .retain(|s, _| out.data.contains_key(&SymbolRef::Static(s.clone())));
        Ok(out)
    }

    fn object(
        &mut self,
        program: &dyn Program,
        symbol: &SymbolRef,
        entry: &FuncSym,
    ) -> Result<Arc<DataObject>, CodegenError> {
        Ok(match symbol {
            SymbolRef::Static(s) => {
                let data = program.static_data(s);
                if let Some((old, object)) = self.statics.get(s)
                    && Arc::ptr_eq(old, &data)
                {
                    return Ok(object.clone());
                }
                let object = Arc::new(static_object(s, &data, program)?);
                self.statics.insert(s.clone(), (data, object.clone()));
                object
            }
            SymbolRef::TypeInfo(ty) => Arc::new(type_info_object(*ty, program)),
            _ => Arc::new(program_table(entry, program)?),
        })
    }

    /// The container types that a function works with.
    fn types_of(&mut self, program: &dyn Program, f: &FuncSym) -> Arc<[LLType]> {
        let Some(graph) = program.graph(f) else {
            return Arc::default();
        };
        if let Some((old, types)) = self.types.get(f)
            && Arc::ptr_eq(old, &graph)
        {
            return types.clone();
        }
        let types: FxHashSet<LLType> = (graph.vars.iter()).filter_map(|v| v.ty.pointee()).collect();
        let types: Arc<[LLType]> = types.into_iter().collect();
        self.types.insert(f.clone(), (graph, types.clone()));
        types
    }
}

/// Notes a struct and those inside it.
fn note_struct(program: &dyn Program, ty: LLType, structs: &mut FxHashMap<StructId, ListedStruct>) {
    match ty.kind() {
        TypeKind::Array(a) => note_struct(program, a.of, structs),
        TypeKind::FixedArray(of, _) => note_struct(program, *of, structs),
        TypeKind::Struct(s) => {
            let body = program.body(s);
            if !matches!(s.id, StructId::Inline(_)) {
                let listed = ListedStruct {
                    name: s.name.clone(),
                    body: body.clone(),
                };
                if structs.insert(s.id.clone(), listed).is_some() {
                    return;
                }
            }
            for field in &body.fields {
                note_struct(program, field.ty, structs);
            }
        }
        _ => {}
    }
}
