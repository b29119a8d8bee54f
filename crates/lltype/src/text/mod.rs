//! The text form of low-level graphs: how types, constants and the names of
//! functions are written (see [`taipan_graph::text`] for the rest).
//!
//! ```text
//! struct point = GcStruct { x: Signed, y: Signed } immutable(x)
//! func norm = user #00000000000000aa '' 'm.norm': func(*GcStruct point) -> Signed
//! graph f
//! block0(p_0: *GcStruct point):
//!     v1: Signed = getfield(p_0, .x)
//!     v2: Signed = direct_call(&norm, p_0)
//!     ...
//! ```
//!
//! Structs and functions are declared before the graph, those that others mention
//! first; `object`, `object_vtable`, `rpy_string` and `rpy_unicode` are known.
//! Constants: `5`, `5u64`, `1.5`, `True`, `'c'`, `u+0041`, `null *T`, `&function`,
//! `&vtable #id as *T`, and of type Void `Void`, `.field`, `<type T>`, `<const c>`,
//! `<func f>`, `<gc>`, `<raw, zero>`, `{f, g}`.

mod parse;
mod print;
#[cfg(test)]
mod tests;

pub use parse::{constant as parse_constant, declaration, ty as parse_type};
pub use print::{constant as fmt_constant, declarations, ty as fmt_type};

use std::collections::{BTreeMap, HashMap};
use std::fmt::{self, Formatter};

use taipan_graph::text::{Cursor, HlNames, ParseError, TextDialect};

use crate::{
    FuncSym, LLConst, LLGraph, LLOp, LLType, LowLevel, OBJECT, OBJECT_VTABLE, STR, UNICODE,
};

/// The meaning of names in the text of low-level graphs.
#[derive(Clone, Debug)]
pub struct LLNames {
    /// Names of image objects.
    pub objects: HlNames,
    structs: BTreeMap<String, LLType>,
    struct_names: HashMap<LLType, String>,
    funcs: BTreeMap<String, FuncSym>,
    func_names: HashMap<FuncSym, String>,
}

impl Default for LLNames {
    fn default() -> Self {
        let mut names = LLNames {
            objects: HlNames::default(),
            structs: BTreeMap::new(),
            struct_names: HashMap::new(),
            funcs: BTreeMap::new(),
            func_names: HashMap::new(),
        };
        for t in [*STR, *UNICODE, *OBJECT, *OBJECT_VTABLE] {
            names.insert_struct(t);
        }
        names
    }
}

impl LLNames {
    /// Gives a struct type a name of its own: its name, with a number where another
    /// one has it. Answers whether it is new.
    pub fn insert_struct(&mut self, t: LLType) -> bool {
        let Some(s) = t.as_struct() else { return false };
        if self.struct_names.contains_key(&t) {
            return false;
        }
        let name = free_name(&s.name, &self.structs);
        self.structs.insert(name.clone(), t);
        self.struct_names.insert(t, name);
        true
    }

    /// Gives a function a name of its own, likewise.
    pub fn insert_func(&mut self, f: &FuncSym) -> bool {
        if self.func_names.contains_key(f) {
            return false;
        }
        let name = free_name(f.name(), &self.funcs);
        self.funcs.insert(name.clone(), f.clone());
        self.func_names.insert(f.clone(), name);
        true
    }

    /// The struct type of that name.
    pub fn struct_named(&self, name: &str) -> Option<LLType> {
        self.structs.get(name).copied()
    }

    /// The function of that name.
    pub fn func_named(&self, name: &str) -> Option<&FuncSym> {
        self.funcs.get(name)
    }
}

/// Characters that names in this text consist of.
fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || "_.<>~".contains(c)
}

fn free_name<T>(wish: &str, taken: &BTreeMap<String, T>) -> String {
    let base: String = wish
        .chars()
        .map(|c| if is_name_char(c) { c } else { '_' })
        .collect();
    if !taken.contains_key(&base) {
        return base;
    }
    let mut n = 2;
    loop {
        let name = format!("{base}~{n}");
        if !taken.contains_key(&name) {
            return name;
        }
        n += 1;
    }
}

impl TextDialect for LowLevel {
    type Names = LLNames;

    fn declare(graph: &LLGraph, names: &mut LLNames) -> String {
        declarations(graph, names, |t| *t)
    }

    fn parse_declaration(cursor: &mut Cursor<'_>, names: &mut LLNames) -> Result<bool, ParseError> {
        declaration(cursor, names)
    }

    fn parse_op(name: &str) -> Option<LLOp> {
        LLOp::from_name(name)
    }

    fn fmt_const(c: &LLConst, names: &LLNames, f: &mut Formatter<'_>) -> fmt::Result {
        print::constant(c, names, f)
    }

    fn parse_const(cursor: &mut Cursor<'_>, names: &LLNames) -> Result<LLConst, ParseError> {
        parse::constant(cursor, names)
    }

    fn fmt_ty(t: &LLType, names: &LLNames, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(": ")?;
        print::ty(*t, names, f)
    }

    fn parse_ty(cursor: &mut Cursor<'_>, names: &LLNames) -> Result<LLType, ParseError> {
        cursor.expect(":")?;
        parse::ty(cursor, names)
    }
}
