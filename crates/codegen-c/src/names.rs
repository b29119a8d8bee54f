//! Names in C: what a thing is called in the source, and a hash of what it is made from.
//!
//! The hash makes names differ, and keeps them the same: no table of names is needed that would have to
//! remember which of two functions of the same name came first.

use std::hash::Hash;

use taipan_codegen::{hash_digits, identifier, type_words};
use taipan_lltype::{FuncSym, LLType, StaticSym, foreign_symbol};

/// Number of digits: two of a hundred thousand names are the same in one of a quarter million programs.
const LENGTH: u32 = 10;
/// Most characters of a text that are shown in its name.
const SHOWN: usize = 20;

/// A function: `module_function_HASH`.
pub fn function(f: &FuncSym) -> String {
    with_hash(f.name(), f)
}

/// What C code calls a function of the program by while other threads may run.
pub fn callback(f: &FuncSym) -> String {
    format!("callback_{}", function(f))
}

/// What calls a function with arguments from memory.
pub(crate) fn trampoline(f: &FuncSym) -> String {
    format!("call_{}", function(f))
}

/// The declaration of an external function with this type: one of another type has another name.
pub(crate) fn external(f: &FuncSym) -> String {
    with_hash(f.name(), f)
}

/// The symbol of an external function.
pub(crate) fn symbol(f: &FuncSym) -> String {
    match taipan_codegen::SymbolRef::function(f) {
        taipan_codegen::SymbolRef::Foreign(f) => foreign_symbol(&f),
        _ => f.name().to_owned(),
    }
}

/// Prebuilt data: `str_hello_HASH`, `vtable_HASH`...
pub fn data(s: &StaticSym) -> String {
    let name = match s {
        StaticSym::Vtable(_) | StaticSym::ObjectVtable => "vtable".to_owned(),
        StaticSym::Str(text) => {
            let shown = text.iter().take(SHOWN).map(|c| char::from(*c));
            format!("str_{}", shown.collect::<String>())
        }
        StaticSym::Unicode(text) => {
            let shown = text.iter().take(SHOWN).filter_map(|c| char::from_u32(*c));
            format!("unicode_{}", shown.collect::<String>())
        }
        StaticSym::Object(_, ty) => format!("object_{}", type_words(*ty)),
        StaticSym::Part(_, part, _) => part.to_string(),
        StaticSym::Value(..) => "value".to_owned(),
        StaticSym::Named(name, _) => name.to_string(),
        StaticSym::Within(..) => "place".to_owned(),
    };
    with_hash(&name, s)
}

/// A struct, an array, or a function's type.
pub(crate) fn type_name(ty: LLType) -> String {
    with_hash(&type_words(ty), &ty)
}

/// The type information of a container.
pub(crate) fn type_info(ty: LLType) -> String {
    format!("type_{}", type_name(ty))
}

/// The records of the places in the source that a function names.
pub(crate) fn locations(function: &str) -> String {
    format!("locations_{function}")
}

fn with_hash(name: &str, content: &impl Hash) -> String {
    format!("{}_{}", identifier(name), hash_digits(content, LENGTH))
}

/// A field's name, which may be a word of C or have characters that names do not have there. Different
/// names stay different.
pub(crate) fn field(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.is_empty() || !name.chars().all(is_plain) {
        return with_hash(name, &name);
    }
    // One that looks like what a word becomes is one of these itself.
    match KEYWORDS.contains(&name.trim_end_matches('_')) {
        true => format!("{name}_"),
        false => name.to_owned(),
    }
}

/// Words that are no names in C, or are something else: in `taipan.h`, or to C compilers of some machine.
pub(crate) const KEYWORDS: &[&str] = &[
    "NULL",
    "asm",
    "auto",
    "bool",
    "break",
    "case",
    "char",
    "const",
    "continue",
    "default",
    "do",
    "double",
    "else",
    "enum",
    "extern",
    "false",
    "float",
    "for",
    "goto",
    "header",
    "i386",
    "if",
    "inline",
    "int",
    "linux",
    "long",
    "register",
    "restrict",
    "return",
    "rpy_state",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "switch",
    "true",
    "typedef",
    "typeof",
    "union",
    "unix",
    "unsigned",
    "void",
    "volatile",
    "while",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_stay_different() {
        assert_eq!(field("inst_x"), "inst_x");
        let names = [
            "int", "int_", "int__", "NULL", "i386", "a.b", "a_b", "a_2e_b", "a-b", "", "header",
            "header_",
        ];
        let mut fields: Vec<String> = names.iter().map(|n| field(n)).collect();
        for f in &fields {
            assert!(
                !KEYWORDS.contains(&&**f)
                    && f.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            );
        }
        fields.sort();
        fields.dedup();
        assert_eq!(fields.len(), names.len());
    }
}
