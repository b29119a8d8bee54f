//! Names in C: what a thing is called in the source, and a hash of what it is made from.
//!
//! The hash makes names differ, and keeps them the same: no table of names is needed that would have to
//! remember which of two functions of the same name came first.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;
use taipan_codegen::type_words;
use taipan_lltype::{FuncSym, LLType, StaticSym, foreign_symbol};

/// Digits of hashes: no two look alike.
const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
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
    let mut h = FxHasher::default();
    content.hash(&mut h);
    let mut hash = h.finish();
    let mut out = identifier(name);
    out.push('_');
    for _ in 0..LENGTH {
        out.push(char::from(DIGITS[(hash >> 59) as usize]));
        hash <<= 5;
    }
    out
}

/// The letters and digits of a name, joined by `_`.
pub(crate) fn identifier(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => out.push(c),
            _ if out.is_empty() || out.ends_with('_') => {}
            _ => out.push('_'),
        }
    }
    let out = out.trim_end_matches('_');
    match out.chars().next() {
        Some(c) if !c.is_ascii_digit() => out.to_owned(),
        Some(_) => format!("_{out}"),
        None => "it".to_owned(),
    }
}

/// A field's name, which may be a word of C or have characters that names do not have there. Different
/// names stay different.
pub(crate) fn field(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => out.push(c),
            other => out.push_str(&format!("_{:x}_", u32::from(other))),
        }
    }
    match KEYWORDS.contains(&&*out) {
        true => format!("{out}_"),
        false => out,
    }
}

/// Words that are no names in C.
const KEYWORDS: &[&str] = &[
    "asm", "auto", "bool", "break", "case", "char", "const", "continue", "default", "do", "double",
    "else", "enum", "extern", "false", "float", "for", "goto", "header", "if", "inline", "int",
    "linux", "long", "register", "restrict", "return", "short", "signed", "sizeof", "static",
    "struct", "switch", "true", "typedef", "typeof", "union", "unix", "unsigned", "void",
    "volatile", "while",
];
