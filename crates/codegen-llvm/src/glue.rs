//! Code that belongs to no graph.

use std::collections::BTreeMap;

use taipan_codegen::{CodegenError, Glue, SymbolRef, abi};
use taipan_lltype::{FuncKind, FuncSym};

use crate::data::declaration;
use crate::names::{global, symbol_name};
use crate::types::Signature;
use taipan_codegen::machine::{Bad, Ty};

/// The definition of a piece of glue. Declarations are of what it calls.
pub(crate) fn define(
    glue: &Glue,
    declarations: &mut BTreeMap<String, String>,
) -> Result<String, CodegenError> {
    match glue {
        Glue::Main => Ok(main(declarations)),
        Glue::Callback(f) => callback(f, declarations),
        Glue::Trampoline(_) | Glue::Library => Err("executables have none of it".into()),
    }
    .map_err(|message| CodegenError::new("glue", message))
}

/// What a piece of glue refers to.
pub fn references(glue: &Glue) -> Vec<SymbolRef> {
    match glue {
        Glue::Main | Glue::Library => vec![
            SymbolRef::External(abi::MAIN.into()),
            SymbolRef::ProgramTable,
        ],
        Glue::Callback(f) | Glue::Trampoline(f) => vec![SymbolRef::function(f)],
    }
}

/// C's `main`: hands its arguments and the program table to the runtime.
fn main(declarations: &mut BTreeMap<String, String>) -> String {
    let table = symbol_name(&SymbolRef::ProgramTable).unwrap_or_default();
    let (table_address, main) = (global(&table), global(abi::MAIN));
    declarations.insert(
        abi::MAIN.to_owned(),
        format!("declare i32 {main}(i32, ptr, ptr) nounwind"),
    );
    declarations
        .entry(table)
        .or_insert_with(|| declaration(&SymbolRef::ProgramTable, &table_address));
    format!(
        "define i32 @main(i32 %argc, ptr %argv) nounwind uwtable section \".text\" {{\n\
         entry:\n  \
         %result = call i32 {main}(i32 %argc, ptr %argv, ptr {table_address})\n  \
         ret i32 %result\n}}\n"
    )
}

/// Calls a function with the lock of the threads. The runtime says whether it had to be taken,
/// and gets that back.
fn callback(f: &FuncSym, declarations: &mut BTreeMap<String, String>) -> Result<String, Bad> {
    let external = matches!(f.kind(), FuncKind::External { .. });
    let outside = Signature::of(f.ty(), true)?;
    let inside = Signature::of(f.ty(), external)?;
    let callee = symbol_name(&SymbolRef::function(f)).unwrap_or_default();
    let address = global(&callee);
    declarations.insert(callee, inside.declare(&address, ""));
    for (name, params, result) in [
        ("rpy_callback_enter", vec![], Some(Ty::I64)),
        ("rpy_callback_leave", vec![Ty::I64], None),
    ] {
        let params = params.into_iter().map(crate::types::Param::of_runtime);
        let signature = Signature {
            params: params.collect(),
            result,
        };
        declarations.insert(name.to_owned(), signature.declare(&global(name), ""));
    }
    let name = symbol_name(&SymbolRef::Glue(Glue::Callback(f.clone()))).unwrap_or_default();
    let params: Vec<String> = (outside.params.iter().enumerate())
        .map(|(i, p)| format!("{p} %a{i}"))
        .collect();
    let passed: Vec<String> = (inside.params.iter().enumerate())
        .map(|(i, p)| format!("{p} %a{i}"))
        .collect();
    let result = inside.result_text();
    let (call, back) = match inside.result {
        Some(ty) => ("%result = call", format!("{ty} %result")),
        None => ("call", "void".to_owned()),
    };
    Ok(format!(
        "define dso_local {result} {}({}) nounwind uwtable section \".text\" {{\n\
         entry:\n  \
         %taken = call i64 @rpy_callback_enter()\n  \
         {call} {result} {address}({})\n  \
         call void @rpy_callback_leave(i64 %taken)\n  \
         ret {back}\n}}\n",
        global(&name),
        params.join(", "),
        passed.join(", ")
    ))
}
