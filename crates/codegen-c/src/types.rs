//! Types of C for low-level types.
//!
//! ```text
//! Signed, Char, Float ...      Signed, Char, double ...
//! Ptr(GcStruct S)              struct S_HASH *
//! Ptr(GcArray of T)            struct array_of_T_HASH *      header, length, items[]
//! Ptr(Array nolength, of T)    T *                           so are arrays of a fixed length
//! Ptr(FuncType)                function_HASH                 a typedef
//! Ptr(opaque)                  void *
//! ```
//!
//! Layouts are those of 64 bits. Where addresses have fewer, a pointer in memory is an `RPySlot`, which is as
//! large as they are elsewhere.
//!
//! Raw memory is often looked at as more than one type. Raw structs and items of raw arrays are therefore
//! types that may alias all others (`RawSigned`...); GC objects and vtables are what they are said to be.

use indexmap::IndexSet;
use taipan_codegen::CodegenError;
use taipan_graph::IntKind;
use taipan_lltype::{FuncSym, FuncType, LLType, Layout, Program, TypeKind, layout};

use crate::{members, names};

/// An address in memory, where that is wider.
const SLOT: &str = "RPySlot";

/// What is wrong with a graph or with data.
pub(crate) type Bad = String;

/// Names of types, and which definitions they need.
#[derive(Default)]
pub(crate) struct Types {
    /// Containers and functions' types that are named.
    pub(crate) mentioned: IndexSet<LLType>,
    /// Containers whose contents are named.
    pub(crate) complete: IndexSet<LLType>,
    /// Addresses in memory are slots that are wider than they.
    pub(crate) slots: bool,
    /// Integers of 128 bits are pairs of words: the C compiler has none.
    pub(crate) pairs: bool,
}

impl Types {
    /// No names yet, for a program.
    pub(crate) fn of(program: &dyn Program) -> Types {
        Types {
            slots: program.machine().has_narrow_addresses(),
            pairs: !program.machine().has_wide_integers(),
            ..Types::default()
        }
    }

    /// Whether what has this type in memory is a slot.
    pub(crate) fn is_slot(&self, ty: LLType) -> bool {
        self.slots && matches!(ty.kind(), TypeKind::Ptr(_) | TypeKind::Address)
    }

    /// The type of values.
    pub(crate) fn value(&mut self, ty: LLType) -> Result<String, Bad> {
        if let TypeKind::Ptr(to) = ty.kind() {
            return Ok(self.pointer(*to));
        }
        scalar(ty)
            .map(str::to_owned)
            .ok_or_else(|| format!("a value of type {ty}"))
    }

    /// The type of pointers to a container.
    pub(crate) fn pointer(&mut self, to: LLType) -> String {
        match to.kind() {
            TypeKind::Struct(_) => {
                self.mentioned.insert(to);
                format!("struct {} *", names::type_name(to))
            }
            TypeKind::Array(a) if a.gc || !a.nolength => {
                self.mentioned.insert(to);
                format!("struct {} *", names::type_name(to))
            }
            TypeKind::Array(a) => format!("{} *", self.element(a.of)),
            TypeKind::FixedArray(of, _) => format!("{} *", self.element(*of)),
            TypeKind::Func(_) => {
                self.mentioned.insert(to);
                names::type_name(to)
            }
            _ => match scalar(to) {
                Some(_) => format!("{} *", self.element(to)),
                None => "void *".to_owned(),
            },
        }
    }

    /// The type of what is in raw memory.
    pub(crate) fn element(&mut self, ty: LLType) -> String {
        match ty.kind() {
            _ if self.is_slot(ty) => SLOT.to_owned(),
            TypeKind::Struct(_) | TypeKind::Array(_) => {
                self.complete.insert(ty);
                format!("struct {}", names::type_name(ty))
            }
            TypeKind::FixedArray(..) => {
                self.complete.insert(ty);
                names::type_name(ty)
            }
            TypeKind::Ptr(_) => "RawPointer".to_owned(),
            _ => match scalar(ty) {
                Some(name) => format!("Raw{}{}", name[..1].to_uppercase(), &name[1..]),
                None => "void".to_owned(),
            },
        }
    }

    /// The type of a field or of the items of an array in GC memory or in a struct.
    pub(crate) fn member(&mut self, ty: LLType) -> Result<String, Bad> {
        match ty.kind() {
            _ if self.is_slot(ty) => Ok(SLOT.to_owned()),
            TypeKind::Struct(_) | TypeKind::Array(_) | TypeKind::FixedArray(..) => {
                Ok(self.element(ty))
            }
            TypeKind::Int(IntKind { bits: 128, signed }) => {
                Ok(if *signed { "HeapInt128" } else { "HeapUInt128" }.to_owned())
            }
            TypeKind::Float if self.slots => Ok("HeapDouble".to_owned()),
            _ => self.value(ty),
        }
    }

    /// The declaration of a function: result, name and types of its arguments; with names of
    /// arguments, those.
    pub(crate) fn prototype(
        &mut self,
        ty: &FuncType,
        name: &str,
        arguments: Option<&[String]>,
    ) -> Result<String, Bad> {
        let mut list = Vec::new();
        for (i, ty) in ty.args.iter().filter(|t| !t.is_void()).enumerate() {
            let ty = self.value(*ty)?;
            list.push(match arguments.and_then(|names| names.get(i)) {
                Some(name) => declared(&ty, name),
                None => ty,
            });
        }
        let list = match list.is_empty() {
            true => "void".to_owned(),
            false => list.join(", "),
        };
        let result = self.value(ty.result)?;
        Ok(declared(&result, &format!("{name}({list})")))
    }

    /// The declaration of an external function.
    pub(crate) fn external(&mut self, f: &FuncSym) -> Result<String, Bad> {
        let prototype = self.prototype(f.ty(), &names::external(f), None)?;
        Ok(format!(
            "extern {prototype} __asm__(\"{}\");",
            names::symbol(f)
        ))
    }

    /// The typedef, or the definition of a struct, of all types that are mentioned and of those that
    /// these need, in an order that C accepts.
    pub(crate) fn definitions(mut self, program: &dyn Program) -> Result<String, CodegenError> {
        let bad = |ty: LLType, message| CodegenError::new(ty.to_string(), message);
        let (mut typedefs, mut definitions) = (Vec::new(), Vec::new());
        let mut done = IndexSet::new();
        let (mut mentioned, mut complete) = (0, 0);
        while mentioned < self.mentioned.len() || complete < self.complete.len() {
            if let Some(ty) = self.complete.get_index(complete).copied() {
                complete += 1;
                define(ty, program, &mut self, &mut done, &mut definitions)
                    .map_err(|m| bad(ty, m))?;
            } else if let Some(ty) = self.mentioned.get_index(mentioned).copied() {
                mentioned += 1;
                function_type(ty, &mut self, &mut done, &mut typedefs).map_err(|m| bad(ty, m))?;
            }
        }
        let mut out = String::new();
        for ty in self.mentioned.iter().chain(&self.complete) {
            if !matches!(ty.kind(), TypeKind::Func(_) | TypeKind::FixedArray(..)) {
                out.push_str(&format!("struct {};\n", names::type_name(*ty)));
            }
        }
        typedefs
            .iter()
            .chain(&definitions)
            .for_each(|t| out.push_str(t));
        Ok(out)
    }
}

/// Adds the typedef of a pointer to a function, behind those that it needs.
fn function_type(
    ty: LLType,
    types: &mut Types,
    done: &mut IndexSet<LLType>,
    out: &mut Vec<String>,
) -> Result<(), Bad> {
    let TypeKind::Func(ft) = ty.kind() else {
        return Ok(());
    };
    if !done.insert(ty) {
        return Ok(());
    }
    for needed in ft.args.iter().chain([&ft.result]) {
        if let Some(to) = needed.pointee() {
            function_type(to, types, done, out)?;
        }
    }
    let name = format!("(*{})", names::type_name(ty));
    let text = types.prototype(ft, &name, None)?;
    out.push(format!("typedef {text};\n"));
    Ok(())
}

/// Adds the definition of a container, behind those of its parts.
fn define(
    ty: LLType,
    program: &dyn Program,
    types: &mut Types,
    done: &mut IndexSet<LLType>,
    out: &mut Vec<String>,
) -> Result<(), Bad> {
    if !done.insert(ty) {
        return Ok(());
    }
    for part in members::parts(ty, program) {
        define(part, program, types, done, out)?;
        types.complete.insert(part);
    }
    if ty.as_array().is_some_and(|a| a.nolength && !a.gc) {
        // Pointers to it are pointers to its items.
        return Ok(());
    }
    let name = names::type_name(ty);
    if let TypeKind::FixedArray(of, n) = ty.kind() {
        out.push(format!("typedef {} {name}[{n}];\n", types.element(*of)));
        return Ok(());
    }
    let attribute = match ty.is_gc_container() || ty.is_vtable() {
        true => "",
        false => " __attribute__((may_alias))",
    };
    let Layout { size, .. } = layout(ty, program);
    let mut text = format!(
        "/* {} */\nstruct{attribute} {name} {{\n",
        comment(&ty.to_string())
    );
    for line in members::of_type(ty, program, types)? {
        text.push_str(&format!("    {line}\n"));
    }
    text.push_str(&format!(
        "}};\n_Static_assert(sizeof(struct {name}) == {size}, \"layout\");\n"
    ));
    out.push(text);
    Ok(())
}

/// Text for inside of a comment.
pub(crate) fn comment(text: &str) -> String {
    text.replace("*/", "* /").replace("/*", "/ *")
}

/// A declaration of a name: `T *` needs no space.
pub(crate) fn declared(ty: &str, name: &str) -> String {
    match ty.ends_with('*') {
        true => format!("{ty}{name}"),
        false => format!("{ty} {name}"),
    }
}

/// The type of values that are neither pointers nor objects.
pub(crate) fn scalar(ty: LLType) -> Option<&'static str> {
    Some(match ty.kind() {
        TypeKind::Void => "void",
        TypeKind::Bool => "bool",
        TypeKind::Char => "Char",
        TypeKind::UniChar => "UniChar",
        TypeKind::Float => "double",
        TypeKind::SingleFloat => "float",
        TypeKind::Address => "Address",
        TypeKind::Int(IntKind { signed, bits }) => match (signed, bits) {
            (true, 8) => "Int8",
            (false, 8) => "UInt8",
            (true, 16) => "Int16",
            (false, 16) => "UInt16",
            (true, 32) => "Int32",
            (false, 32) => "UInt32",
            (true, 64) => "Signed",
            (false, 64) => "Unsigned",
            (true, _) => "Int128",
            (false, _) => "UInt128",
        },
        _ => return None,
    })
}
