//! Names for people: debuggers and the text of modules show them.

use taipan_lltype::Program;
use taipan_ootype::fields_of;
use wasm_encoder::{IndirectNameMap, NameMap, NameSection};

use crate::host::import_name;
use crate::linker::Final;
use crate::symbols::{Callee, Global, Glue, TypeSym};

/// The name of a function.
pub(crate) fn function_name(callee: &Callee) -> String {
    match callee {
        Callee::Func(f) => f.name().to_owned(),
        Callee::Host(host) => import_name(host).to_owned(),
        Callee::Glue(Glue::External(f)) => f.name().to_owned(),
        Callee::Glue(glue) => format!("{glue:?}"),
    }
}

fn type_name(ty: TypeSym) -> String {
    match ty {
        TypeSym::Container(t) => t.to_string(),
        TypeSym::Function(t) => t.to_string(),
        TypeSym::Method(t) => format!("method {t}"),
        TypeSym::Weakref => "weakref".to_owned(),
    }
}

/// The name of a global.
pub(crate) fn global_name(global: &Global) -> String {
    match global {
        Global::Method(f) => format!("&{}", f.name()),
        Global::Static(s) => {
            let ty = *taipan_lltype::VOID;
            taipan_lltype::LLConst::data(s.clone(), ty).to_string()
        }
        other => format!("{other:?}"),
    }
}

/// The names of functions, types, fields and globals.
pub(crate) fn name_section(n: &Final, program: &dyn Program) -> NameSection {
    let mut functions = NameMap::new();
    for (callee, number) in &n.functions {
        functions.append(*number, &function_name(callee));
    }
    let (mut types, mut fields) = (NameMap::new(), IndirectNameMap::new());
    for (number, ty) in n.types.iter().enumerate() {
        types.append(number as u32, &type_name(*ty));
        if let TypeSym::Container(t) = ty
            && t.as_struct().is_some()
        {
            let mut own = NameMap::new();
            for (i, field) in fields_of(*t, program).iter().enumerate() {
                own.append(i as u32, &field.name);
            }
            fields.append(number as u32, &own);
        }
    }
    let mut globals = NameMap::new();
    for (global, number) in &n.globals {
        globals.append(*number, &global_name(global));
    }
    let mut names = NameSection::new();
    names.functions(&functions);
    names.types(&types);
    names.globals(&globals);
    names.fields(&fields);
    names
}
