//! A function as a module of its own, for people: its references are imports.

use indexmap::IndexSet;
use taipan_lltype::{FuncSym, OBJECT, OBJECT_VTABLE, Program};
use taipan_ootype::Lack;
use wasm_encoder::{
    CodeSection, EntityType, FunctionSection, GlobalType, HeapType, ImportSection, Module, RefType,
    ValType,
};

use crate::glue::{function_type, glue_type};
use crate::host::{HOST_MODULE, import_type};
use crate::linker::{Final, close_types, ordered_types, stand_in, type_section};
use crate::names::{function_name, global_name, name_section};
use crate::places::Linked;
use crate::symbols::{Callee, FunctionCode, Global, HostFunction, TypeSym};
use crate::types::{Numbers, nullable};

/// The name of the module that the remainder of the program is imported from.
const PROGRAM: &str = "program";

/// The code of a function as a module.
///
/// # Errors
/// Functions and types that the host lacks.
pub fn function_module(
    f: &FuncSym,
    code: &FunctionCode,
    program: &dyn Program,
) -> Result<Linked, Lack> {
    let own = Callee::Func(f.clone());
    let called = code.callees.iter().map(stand_in).filter(|c| *c != own);
    let called: IndexSet<Callee> = called.collect();
    let numbered = called.iter().chain([&own]).cloned().zip(0..);
    let functions = numbered.collect();
    let numbered = code.globals.iter().cloned().zip(0..);
    let mut n = Final {
        types: ordered_types(&types(code, &called, program)?, program),
        signatures: IndexSet::new(),
        globals: numbered.collect(),
        functions,
    };
    let mut imports = ImportSection::new();
    for callee in &called {
        let (module, ty) = match callee {
            Callee::Func(f) => (PROGRAM, n.number(TypeSym::Function(function_type(f)))),
            Callee::Glue(glue) => {
                let signature = glue_type(glue, &mut n)?;
                (PROGRAM, n.signature(signature))
            }
            Callee::Host(host) => (HOST_MODULE, n.type_of_host(host)?),
        };
        imports.import(module, &function_name(callee), EntityType::Function(ty));
    }
    for global in &code.globals {
        let ty = global_type(global, &mut n, program);
        imports.import(PROGRAM, &global_name(global), EntityType::Global(ty));
    }
    let (mut declared, mut section) = (FunctionSection::new(), CodeSection::new());
    declared.function(n.number(code.types[code.ty as usize]));
    let places = n.place(code, &mut section)?;
    let mut module = Module::new();
    module
        .section(&type_section(&mut n, program)?)
        .section(&imports)
        .section(&declared)
        .section(&section)
        .section(&name_section(&n, program));
    Ok(Linked::new(
        module.finish(),
        vec![(Some(f.clone()), places)],
    ))
}

/// The types that a function needs.
fn types(
    code: &FunctionCode,
    called: &IndexSet<Callee>,
    program: &dyn Program,
) -> Result<IndexSet<TypeSym>, Lack> {
    let mut types: IndexSet<TypeSym> = code.types.iter().copied().collect();
    for callee in called {
        match callee {
            Callee::Func(f) => drop(types.insert(TypeSym::Function(function_type(f)))),
            Callee::Glue(glue) => drop(glue_type(glue, &mut types)?),
            Callee::Host(host) => {
                if let HostFunction::External(f) = host {
                    types.insert(TypeSym::Function(function_type(f)));
                }
                import_type(host, &mut types)?;
            }
        }
    }
    types.extend(code.globals.iter().filter_map(|g| target(g, program)));
    close_types(&mut types, program)?;
    Ok(types)
}

/// The type of the object that a global refers to; none if it is a number.
fn target(global: &Global, program: &dyn Program) -> Option<TypeSym> {
    Some(match global {
        Global::Method(f) => TypeSym::Method(function_type(f)),
        Global::Static(s) => TypeSym::Container(program.static_data(s).ty),
        Global::ExcType => TypeSym::Container(*OBJECT_VTABLE),
        Global::ExcValue => TypeSym::Container(*OBJECT),
        Global::Depth | Global::StackLimit | Global::LastHash => return None,
    })
}

fn global_type(global: &Global, n: &mut Final, program: &dyn Program) -> GlobalType {
    let object = target(global, program).map(|ty| HeapType::Concrete(n.number(ty)));
    let val_type = match (global, object) {
        (Global::Method(_) | Global::Static(_), Some(heap_type)) => ValType::Ref(RefType {
            nullable: false,
            heap_type,
        }),
        (_, Some(heap_type)) => nullable(heap_type),
        (Global::LastHash, None) => ValType::I64,
        (_, None) => ValType::I32,
    };
    GlobalType {
        val_type,
        mutable: !matches!(global, Global::Method(_) | Global::Static(_)),
        shared: false,
    }
}
