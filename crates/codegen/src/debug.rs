//! What debuggers are told of a program: types, functions, lines, variables, frames.
//!
//! All of it is plain data, in terms of the program: a back end makes DWARF or LLVM's metadata of it.
//!
//! ```text
//! Ptr(GcStruct S)     S *, a structure with a member per field, at the offsets of the layout
//! Ptr(GcArray of T)   array_of_T *: header, length, items
//! Signed, Char...     types of these names
//! ```

use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use taipan_graph::IntKind;
use taipan_lltype::{LLType, Program, TypeKind, layout};

/// What shows strings, lists, dicts and instances in gdb, in its Python.
pub const GDB_PRINTERS: &str = include_str!("printers.py");

/// What is told of the code of one function. Positions are those in its bytecode.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct CodeDebug {
    /// How the caller's frame is found, from which offsets on.
    pub frame: Vec<(u32, FrameStep)>,
    /// Its variables, in the order of the graph.
    pub variables: Vec<CodeVariable>,
}

/// A step of the way in which code makes its frame. Registers have DWARF's numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum FrameStep {
    /// The frame starts so far above where the stack pointer, or what took its place, points to.
    Offset(i32),
    /// This register takes the place of the stack pointer.
    Register(u16),
    /// The caller's value of a register is so far from the start of the frame.
    Saved(u16, i32),
}

/// A variable of a function.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct CodeVariable {
    /// Its name in the source.
    pub name: Arc<str>,
    /// Its type.
    pub ty: LLType,
    /// It is an argument.
    pub is_argument: bool,
    /// Where it is, between which offsets of the code, which do not overlap.
    pub places: Vec<(u32, u32, VariablePlace)>,
}

/// Where a variable is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum VariablePlace {
    /// In the register with that number of DWARF's.
    Register(u16),
    /// In memory, so far from the start of the frame.
    Frame(i64),
}

/// What is told of an image.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ImageDebug {
    /// Types, by number.
    pub types: Vec<DebugType>,
    /// Functions, in the order of their code.
    pub functions: Vec<DebugFunction>,
}

/// A function of an image.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DebugFunction {
    /// Where its code starts, in the section of code.
    pub start: u64,
    /// How long it is.
    pub size: u64,
    /// What it is called in the source.
    pub name: Arc<str>,
    /// Its file; none if that is unknown.
    pub file: Option<Arc<str>>,
    /// From which offsets on the code comes from which lines, from 1; 0 if unknown.
    pub lines: Vec<(u32, u32)>,
    /// See [`CodeDebug::frame`].
    pub frame: Vec<(u32, FrameStep)>,
    /// Its variables.
    pub variables: Vec<DebugVariable>,
}

impl DebugFunction {
    /// The first line that is known of it.
    pub fn line(&self) -> u32 {
        let lines = self.lines.iter().map(|(_, line)| *line);
        lines.filter(|l| *l != 0).min().unwrap_or(0)
    }
}

/// A variable of a [`DebugFunction`].
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DebugVariable {
    /// Its name.
    pub name: Arc<str>,
    /// Number of its type.
    pub ty: usize,
    /// It is an argument.
    pub is_argument: bool,
    /// See [`CodeVariable::places`].
    pub places: Vec<(u32, u32, VariablePlace)>,
}

/// A type as debuggers know it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum DebugType {
    /// A number, a character or a truth value.
    Scalar {
        /// Its name.
        name: Arc<str>,
        /// Number of bytes.
        size: u64,
        /// What the bytes are.
        kind: ScalarKind,
    },
    /// The address of something of that type, or of nobody knows what.
    Pointer(Option<usize>),
    /// Members at offsets.
    Struct {
        /// Its name.
        name: Arc<str>,
        /// Number of bytes without items.
        size: u64,
        /// The members.
        members: Vec<DebugMember>,
    },
    /// Items one after the other: so many, or as many as there are.
    Array(usize, Option<u64>),
}

/// A member of a [`DebugType::Struct`].
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DebugMember {
    /// Its name.
    pub name: Arc<str>,
    /// How far from the start.
    pub offset: u64,
    /// Number of its type.
    pub ty: usize,
}

/// What the bytes of a [`DebugType::Scalar`] are.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum ScalarKind {
    /// A truth value.
    Bool,
    /// A byte.
    Char,
    /// A code point.
    UniChar,
    /// An integer with a sign.
    Signed,
    /// One without.
    Unsigned,
    /// A float.
    Float,
    /// An address.
    Address,
}

/// Numbers the types of a program.
#[derive(Default)]
pub struct DebugTypes {
    list: Vec<DebugType>,
    index: FxHashMap<LLType, usize>,
    header: Option<usize>,
}

/// Where what is not known yet belongs.
const UNKNOWN: DebugType = DebugType::Pointer(None);

impl DebugTypes {
    /// All types so far, by number.
    pub fn finish(self) -> Vec<DebugType> {
        self.list
    }

    /// The types so far.
    pub fn list(&self) -> &[DebugType] {
        &self.list
    }

    /// The number of a type; none for Void and what has no values.
    pub fn number(&mut self, ty: LLType, program: &dyn Program) -> Option<usize> {
        let mut open = Vec::new();
        let number = self.reserve(ty, &mut open)?;
        while let Some((at, ty)) = open.pop() {
            self.list[at] = self.container(ty, program, &mut open);
        }
        Some(number)
    }

    fn add(&mut self, ty: DebugType) -> usize {
        self.list.push(ty);
        self.list.len() - 1
    }

    /// The number of a type. Containers that are new are yet to be described.
    fn reserve(&mut self, ty: LLType, open: &mut Vec<(usize, LLType)>) -> Option<usize> {
        if let Some(known) = self.index.get(&ty) {
            return Some(*known);
        }
        let number = match ty.kind() {
            TypeKind::Ptr(to) => {
                let number = self.add(UNKNOWN);
                self.index.insert(ty, number);
                let to = self.reserve(*to, open);
                self.list[number] = DebugType::Pointer(to);
                number
            }
            TypeKind::Struct(_) | TypeKind::Array(_) | TypeKind::FixedArray(..) => {
                let number = self.add(UNKNOWN);
                open.push((number, ty));
                number
            }
            _ => {
                let (name, size, kind) = scalar(ty)?;
                let name = name.into();
                self.add(DebugType::Scalar { name, size, kind })
            }
        };
        self.index.insert(ty, number);
        Some(number)
    }

    fn container(
        &mut self,
        ty: LLType,
        program: &dyn Program,
        open: &mut Vec<(usize, LLType)>,
    ) -> DebugType {
        let l = layout(ty, program);
        let mut members = Vec::new();
        let mut add = |name: &str, offset: u64, ty: Option<usize>| {
            members.extend(ty.map(|ty| DebugMember {
                name: name.into(),
                offset,
                ty,
            }));
        };
        match ty.kind() {
            TypeKind::Struct(s) => {
                let body = program.body(s);
                let has_super = body.fields.first().is_some_and(|f| f.ty.is_gc_container());
                if s.gc && !has_super {
                    add("header", 0, Some(self.header()));
                }
                for (f, at) in body.fields.iter().zip(&l.fields) {
                    add(&f.name, *at, self.reserve(f.ty, open));
                }
            }
            TypeKind::Array(a) => {
                if a.nolength && !a.gc {
                    return match self.reserve(a.of, open) {
                        Some(of) => DebugType::Array(of, None),
                        None => UNKNOWN,
                    };
                }
                if a.gc {
                    add("header", 0, Some(self.header()));
                }
                if let Some(var) = &l.var {
                    if let Some(at) = var.length {
                        add("length", at, self.reserve(*taipan_lltype::SIGNED, open));
                    }
                    let of = self.reserve(a.of, open);
                    let items = of.map(|of| self.add(DebugType::Array(of, None)));
                    add("items", var.items, items);
                }
            }
            TypeKind::FixedArray(of, n) => {
                return match self.reserve(*of, open) {
                    Some(of) => DebugType::Array(of, Some(*n)),
                    None => UNKNOWN,
                };
            }
            _ => {}
        }
        DebugType::Struct {
            name: (type_words(ty).chars())
                .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
                .collect::<String>()
                .into(),
            size: l.size,
            members,
        }
    }

    /// The type of the headers of GC objects.
    fn header(&mut self) -> usize {
        match self.header {
            Some(header) => header,
            None => {
                let header = self.add(DebugType::Scalar {
                    name: "RPyHeader".into(),
                    size: 8,
                    kind: ScalarKind::Address,
                });
                *self.header.insert(header)
            }
        }
    }
}

fn scalar(ty: LLType) -> Option<(String, u64, ScalarKind)> {
    let (size, kind) = match ty.kind() {
        TypeKind::Bool => (1, ScalarKind::Bool),
        TypeKind::Char => (1, ScalarKind::Char),
        TypeKind::UniChar => (4, ScalarKind::UniChar),
        TypeKind::Float => (8, ScalarKind::Float),
        TypeKind::SingleFloat => (4, ScalarKind::Float),
        TypeKind::Address => (8, ScalarKind::Address),
        TypeKind::Int(IntKind { signed, bits }) => {
            let kind = match signed {
                true => ScalarKind::Signed,
                false => ScalarKind::Unsigned,
            };
            (u64::from(*bits) / 8, kind)
        }
        _ => return None,
    };
    Some((ty.to_string(), size, kind))
}

/// What a type is called in names of C and for debuggers: without what tells it from others of
/// that name.
pub fn type_words(ty: LLType) -> String {
    match ty.kind() {
        TypeKind::Struct(s) => s.name.to_string(),
        TypeKind::Array(a) => format!("array_of_{}", type_words(a.of)),
        TypeKind::FixedArray(of, n) => format!("array{n}_of_{}", type_words(*of)),
        TypeKind::Func(_) => "function".to_owned(),
        TypeKind::Ptr(to) => type_words(*to),
        _ => ty.to_string(),
    }
}

/// The variables of a function: where values of the same name and type follow each other, they are
/// one variable. `values` has, by number of value, its name, type and whether it is an argument;
/// `ranges` the offsets between which a value is somewhere. Where two have a value, the one that
/// starts later counts.
pub fn code_variables(
    values: impl Iterator<Item = (u32, Arc<str>, LLType, bool)>,
    ranges: &FxHashMap<u32, Vec<(u32, u32, VariablePlace)>>,
) -> Vec<CodeVariable> {
    let mut variables: Vec<CodeVariable> = Vec::new();
    let mut index: FxHashMap<(Arc<str>, LLType), usize> = FxHashMap::default();
    for (value, name, ty, is_argument) in values {
        let next = variables.len();
        let at = *index.entry((name.clone(), ty)).or_insert(next);
        if at == next {
            variables.push(CodeVariable {
                name,
                ty,
                is_argument,
                places: Vec::new(),
            });
        }
        let places = ranges.get(&value).into_iter().flatten();
        variables[at]
            .places
            .extend(places.filter(|(a, b, _)| a < b));
    }
    for v in &mut variables {
        v.places = without_overlaps(std::mem::take(&mut v.places));
    }
    variables.retain(|v| v.is_argument || !v.places.is_empty());
    variables
}

fn without_overlaps(mut ranges: Vec<(u32, u32, VariablePlace)>) -> Vec<(u32, u32, VariablePlace)> {
    // The later one of two that start together comes last.
    ranges.sort_by_key(|(start, ..)| *start);
    let mut bounds: Vec<u32> = ranges.iter().flat_map(|(a, b, _)| [*a, *b]).collect();
    bounds.sort_unstable();
    bounds.dedup();
    let mut out: Vec<(u32, u32, VariablePlace)> = Vec::new();
    for pair in bounds.windows(2) {
        let (start, end) = (pair[0], pair[1]);
        let there = ranges
            .iter()
            .rev()
            .find(|(a, b, _)| *a <= start && end <= *b);
        let Some((.., place)) = there else { continue };
        match out.last_mut() {
            Some((_, last, p)) if *last == start && p == place => *last = end,
            _ => out.push((start, end, *place)),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_later_value_of_a_variable_counts() {
        let (a, b) = (VariablePlace::Register(1), VariablePlace::Frame(-16));
        assert_eq!(
            without_overlaps(vec![(0, 10, a), (4, 6, b), (6, 12, b), (20, 24, a)]),
            [(0, 4, a), (4, 12, b), (20, 24, a)]
        );
        assert_eq!(without_overlaps(vec![(0, 4, a), (4, 8, a)]), [(0, 8, a)]);
    }
}
