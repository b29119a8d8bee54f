//! Names of symbols: readable, and the same in every run.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;
use taipan_lltype::{FuncKind, FuncSym, LLType, StaticSym};

use crate::type_words;

/// `module.function.HASH`; the name itself for external functions. The hash tells
/// specialisations apart; images never depend on names being unique.
pub fn mangle_function(f: &FuncSym) -> String {
    match f.kind() {
        FuncKind::External { name, .. } => name.to_string(),
        _ => with_hash(f.name(), f),
    }
}

/// `str.HASH`, `vtable.HASH`, ...
pub fn mangle_static(s: &StaticSym) -> String {
    let name = match s {
        StaticSym::Vtable(_) | StaticSym::ObjectVtable => "vtable",
        StaticSym::Str(_) => "str",
        StaticSym::Unicode(_) => "unicode",
        StaticSym::Object(..) => "object",
        StaticSym::Part(_, part, _) => part,
        StaticSym::Value(..) => "value",
        StaticSym::Named(name, _) => name,
        StaticSym::Within(..) => "place",
    };
    with_hash(name, s)
}

/// `type.module.Class.HASH`: type information. Debuggers find the type of an object by it.
pub fn mangle_type(ty: LLType) -> String {
    with_hash(&format!("type.{}", type_words(ty)), &ty)
}

fn with_hash(name: &str, content: &impl Hash) -> String {
    let mut h = FxHasher::default();
    content.hash(&mut h);
    let mut out = String::with_capacity(name.len() + 17);
    for c in name.chars() {
        out.push(match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '.' => c,
            _ => '_',
        });
    }
    out.push_str(&format!(".{:016x}", h.finish()));
    out
}
