//! Prebuilt data as globals.
//!
//! ```text
//! @str.1f.object = global <{ [8 x i8], ptr, [24 x i8] }> <{ ... }>     hash, header, contents
//! @str.1f = alias [0 x i8], getelementptr (i8, ptr @str.1f.object, i64 8)
//! ```

use std::collections::BTreeMap;
use std::fmt::Write as _;

use taipan_codegen::{CodegenError, DataObject, SymbolRef, mangle_static};
use taipan_lltype::Program;

use crate::names::{escaped, global, symbol_name};

/// The same object, whose relocations refer to no places inside of others.
pub fn rooted(mut object: DataObject, program: &dyn Program) -> Result<DataObject, CodegenError> {
    for reloc in &mut object.relocs {
        let SymbolRef::Static(s) = &reloc.target else {
            continue;
        };
        let (root, offset) = (s.place(program))
            .ok_or_else(|| CodegenError::new(mangle_static(s), "no such place"))?;
        (reloc.addend, reloc.target) = (reloc.addend + offset, SymbolRef::Static(root.clone()));
    }
    Ok(object)
}

/// The definition of an object. Declarations are of what it refers to.
pub(crate) fn define(
    symbol: &SymbolRef,
    object: &DataObject,
    declarations: &mut BTreeMap<String, String>,
) -> Result<String, CodegenError> {
    let name =
        symbol_name(symbol).ok_or_else(|| CodegenError::new("data", "an object without a name"))?;
    let mut fields: Vec<(String, String)> = Vec::new();
    let mut at = 0;
    for reloc in &object.relocs {
        let start = reloc.offset as usize;
        bytes(&object.bytes[at..start], &mut fields);
        at = start + 8;
        let target = symbol_name(&reloc.target).ok_or_else(|| {
            CodegenError::new(&name, "data that refers to something without a name")
        })?;
        let address = global(&target);
        let value = match reloc.addend {
            0 => address.clone(),
            n => format!("getelementptr (i8, ptr {address}, i64 {n})"),
        };
        fields.push(("ptr".to_owned(), value));
        declarations
            .entry(target)
            .or_insert_with(|| declaration(&reloc.target, &address));
    }
    bytes(&object.bytes[at..], &mut fields);
    let types: Vec<&str> = fields.iter().map(|(t, _)| t.as_str()).collect();
    let values: Vec<String> = fields.iter().map(|(t, v)| format!("{t} {v}")).collect();
    let kind = if object.readonly {
        "constant"
    } else {
        "global"
    };
    let whole = format!(
        "{kind} <{{ {} }}> <{{ {} }}>, align {}",
        types.join(", "),
        values.join(", "),
        object.align
    );
    let address = global(&name);
    let mut out = String::new();
    if object.start == 0 {
        let _ = writeln!(out, "{address} = dso_local {whole}");
    } else {
        let inner = global(&format!("{name}.object"));
        let _ = writeln!(out, "{inner} = internal {whole}");
        let start = object.start;
        let _ = writeln!(
            out,
            "{address} = dso_local alias [0 x i8], getelementptr (i8, ptr {inner}, i64 {start})"
        );
    }
    Ok(out)
}

/// How something is declared of which only the address is used.
pub(crate) fn declaration(symbol: &SymbolRef, address: &str) -> String {
    match symbol {
        SymbolRef::Func(_)
        | SymbolRef::Glue(_)
        | SymbolRef::Foreign(_)
        | SymbolRef::External(_) => {
            format!("declare void {address}()")
        }
        _ => format!("{address} = external dso_local global [0 x i8], align 8"),
    }
}

/// A run of bytes as a field.
fn bytes(run: &[u8], fields: &mut Vec<(String, String)>) {
    if run.is_empty() {
        return;
    }
    let value = match run.iter().all(|b| *b == 0) {
        true => "zeroinitializer".to_owned(),
        false => format!("c\"{}\"", escaped(run)),
    };
    fields.push((format!("[{} x i8]", run.len()), value));
}
