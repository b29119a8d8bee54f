//! Names of symbols in LLVM's text.

use taipan_codegen::{Glue, MAIN_SYMBOL, SymbolRef, mangle_function, mangle_static, mangle_type};
use taipan_lltype::foreign_symbol;

/// Symbol of the table by which the runtime knows the program.
const PROGRAM_TABLE: &str = "taipan.program";
/// Symbol of the table of places.
const PLACES: &str = "taipan.places";

/// The name that a symbol has for the linker: the same in every build. Places in the source
/// have none; they belong to the module that mentions them.
pub fn symbol_name(symbol: &SymbolRef) -> Option<String> {
    Some(match symbol {
        SymbolRef::Func(f) => mangle_function(f),
        SymbolRef::External(name) => name.to_string(),
        SymbolRef::Foreign(f) => foreign_symbol(f),
        SymbolRef::Static(s) => mangle_static(s),
        SymbolRef::TypeInfo(ty) => mangle_type(*ty),
        SymbolRef::Location(_) => return None,
        SymbolRef::ProgramTable => PROGRAM_TABLE.to_owned(),
        SymbolRef::Places => PLACES.to_owned(),
        SymbolRef::Glue(Glue::Main) => MAIN_SYMBOL.to_owned(),
        SymbolRef::Glue(Glue::Library) => "taipan.library".to_owned(),
        SymbolRef::Glue(Glue::Callback(f)) => format!("callback.{}", mangle_function(f)),
        SymbolRef::Glue(Glue::Trampoline(f)) => format!("trampoline.{}", mangle_function(f)),
    })
}

/// A global name as LLVM writes it.
pub(crate) fn global(name: &str) -> String {
    // Functions of a module that is called `llvm` are none of LLVM's own.
    if name.starts_with("llvm.") {
        return format!("@\"\\01{}\"", escaped(name.as_bytes()));
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$' | '-');
    if name.chars().all(plain) && !name.starts_with(|c: char| c.is_ascii_digit()) {
        return format!("@{name}");
    }
    format!("@\"{}\"", escaped(name.as_bytes()))
}

/// Bytes as they stand between quotes.
pub(crate) fn escaped(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for b in bytes {
        match b {
            b' '..=b'~' if !matches!(b, b'"' | b'\\') => out.push(char::from(*b)),
            _ => out.push_str(&format!("\\{b:02X}")),
        }
    }
    out
}
