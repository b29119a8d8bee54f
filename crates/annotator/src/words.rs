//! Annotations in a few letters, for people: `[W_Root?]`, where [`annotation_text`] has
//! `SomeList[SomeInstance(W_Root, can_be_None)](resized)`.
//!
//! ```text
//! int  int>=0  r_uint  bool  float  char  str?  [A]  {str: int}  (int, A)  A?  class A  f|g
//! ```

use taipan_base::Db;

use crate::text::{desc_text, object_text};
use crate::{
    Desc, Roots, Site, SomeKind, SomeValue, annotation_text, dict_def, int_kind_name, list_def,
};

/// Containers inside each other beyond which nothing is spelled out: a list may hold itself.
const DEEPEST: u32 = 3;
/// No more functions or classes than this are spelled out.
const MOST_ALTERNATIVES: usize = 3;

/// An annotation in a few letters. A question mark says that the value may be None.
pub fn short_text(db: &dyn Db, roots: Roots, s: &SomeValue) -> String {
    short(db, roots, s, 0)
}

fn short(db: &dyn Db, roots: Roots, s: &SomeValue, depth: u32) -> String {
    if depth > DEEPEST {
        return "…".to_owned();
    }
    let inner = |s: &SomeValue| short(db, roots, s, depth + 1);
    let optional = |name: String, none: bool| match none {
        true => format!("{name}?"),
        false => name,
    };
    match &s.kind {
        SomeKind::Impossible => "never".to_owned(),
        SomeKind::Integer { nonneg, kind } => match int_kind_name(*kind) {
            Some(name) => name,
            None if *nonneg => "int>=0".to_owned(),
            None => "int".to_owned(),
        },
        SomeKind::Bool => "bool".to_owned(),
        SomeKind::Float => "float".to_owned(),
        SomeKind::SingleFloat => "r_singlefloat".to_owned(),
        SomeKind::Char { .. } => "char".to_owned(),
        SomeKind::UniChar => "unichar".to_owned(),
        SomeKind::Str { can_be_none, .. } => optional("str".to_owned(), *can_be_none),
        SomeKind::Unicode { can_be_none } => optional("unicode".to_owned(), *can_be_none),
        SomeKind::ByteArray { can_be_none } => optional("bytearray".to_owned(), *can_be_none),
        SomeKind::List { site, can_be_none } => {
            let def = list_def(db, Site::new(db, roots, *site));
            optional(format!("[{}]", inner(&def.item)), *can_be_none)
        }
        SomeKind::Dict { site, can_be_none } => {
            let def = dict_def(db, Site::new(db, roots, *site));
            let text = format!("{{{}: {}}}", inner(&def.key), inner(&def.value));
            optional(text, *can_be_none)
        }
        SomeKind::Tuple(items) => {
            let items: Vec<String> = items.iter().map(inner).collect();
            format!("({})", items.join(", "))
        }
        SomeKind::Instance { class, can_be_none } => {
            let name = class.map_or("object".to_owned(), |c| object_text(db, roots, c));
            optional(name, *can_be_none)
        }
        SomeKind::Pbc { descs, can_be_none } => {
            let mut names: Vec<String> = descs.iter().map(|d| desc(db, roots, d)).collect();
            names.sort();
            names.dedup();
            if names.len() > MOST_ALTERNATIVES {
                let more = names.len() - MOST_ALTERNATIVES;
                names.truncate(MOST_ALTERNATIVES);
                names.push(format!("+{more}"));
            }
            optional(names.join("|"), *can_be_none)
        }
        SomeKind::None => "None".to_owned(),
        SomeKind::Iterator { container, .. } => format!("iter {}", inner(container)),
        SomeKind::Builder { unicode: false, .. } => "StringBuilder".to_owned(),
        SomeKind::Builder { unicode: true, .. } => "UnicodeBuilder".to_owned(),
        SomeKind::Ptr(t) => t.to_string(),
        SomeKind::Conflict => "conflict".to_owned(),
        // These are of the compiler, which has the only names.
        _ => annotation_text(db, roots, s)
            .trim_start_matches("Some")
            .to_owned(),
    }
}

fn desc(db: &dyn Db, roots: Roots, d: &Desc) -> String {
    match d {
        Desc::Class(_) => format!("class {}", desc_text(db, roots, d)),
        Desc::Method { func, .. } | Desc::FrozenMethod { func, .. } => {
            object_text(db, roots, *func)
        }
        Desc::Function(_) => desc_text(db, roots, d),
        // An instance by its class.
        Desc::Frozen(_) => desc_text(db, roots, d).trim_matches(['<', '>']).to_owned(),
    }
}
