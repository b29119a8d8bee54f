//! Types of values.

use std::fmt;

use serde::{Deserialize, Serialize};
use taipan_graph::IntKind;
use taipan_lltype::{LLType, TypeKind};

/// The type of a value. Containers are named by the `lltype` container that they come from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum OOType {
    /// No value.
    Void,
    /// A truth value.
    Bool,
    /// A byte.
    Char,
    /// A code point.
    UniChar,
    /// An integer of this kind.
    Int(IntKind),
    /// Double precision.
    Float,
    /// Single precision.
    SingleFloat,
    /// An object of any class, an array, or null.
    Object,
    /// An object of this class or a subclass, or null.
    Instance(LLType),
    /// A part of a container with fields of its own, or null.
    Record(LLType),
    /// The data that all instances of a class share: subclass range, name and methods; or null.
    Class(LLType),
    /// An array, or null.
    Array(LLType),
    /// A function without `self`, or null.
    StaticMethod(LLType),
    /// Raw memory. Verified graphs have no such variables.
    Raw(LLType),
}

impl OOType {
    /// The translation of the type of an `lltype` value.
    pub fn of(ty: LLType) -> OOType {
        match ty.kind() {
            TypeKind::Void => OOType::Void,
            TypeKind::Bool => OOType::Bool,
            TypeKind::Char => OOType::Char,
            TypeKind::UniChar => OOType::UniChar,
            TypeKind::Int(kind) => OOType::Int(*kind),
            TypeKind::Float => OOType::Float,
            TypeKind::SingleFloat => OOType::SingleFloat,
            TypeKind::Ptr(to) => OOType::reference(*to),
            // There is no arithmetic on it.
            TypeKind::Address => OOType::Object,
            TypeKind::Struct(_)
            | TypeKind::Array(_)
            | TypeKind::FixedArray(..)
            | TypeKind::Func(_)
            | TypeKind::Opaque { .. } => OOType::Raw(ty),
        }
    }

    /// The type of references to an `lltype` container.
    pub fn reference(to: LLType) -> OOType {
        match to.kind() {
            TypeKind::Struct(s) if s.gc => OOType::Instance(to),
            TypeKind::Struct(_) if to.is_vtable() => OOType::Class(to),
            TypeKind::Struct(_) => OOType::Record(to),
            TypeKind::Array(a) if !a.nolength => OOType::Array(to),
            TypeKind::FixedArray(..) => OOType::Array(to),
            TypeKind::Func(_) => OOType::StaticMethod(to),
            TypeKind::Opaque { gc: true, .. } => OOType::Object,
            _ => OOType::Raw(to.ptr()),
        }
    }

    /// The container that it refers to.
    pub fn container(self) -> Option<LLType> {
        match self {
            OOType::Instance(t)
            | OOType::Record(t)
            | OOType::Class(t)
            | OOType::Array(t)
            | OOType::StaticMethod(t) => Some(t),
            _ => None,
        }
    }

    /// Whether its values are references.
    pub fn is_reference(self) -> bool {
        self == OOType::Object || self.container().is_some()
    }

    /// The `lltype` type that it comes from.
    pub fn low(self) -> LLType {
        match self {
            OOType::Void => LLType::new(TypeKind::Void),
            OOType::Bool => LLType::new(TypeKind::Bool),
            OOType::Char => LLType::new(TypeKind::Char),
            OOType::UniChar => LLType::new(TypeKind::UniChar),
            OOType::Int(kind) => LLType::int(kind),
            OOType::Float => LLType::new(TypeKind::Float),
            OOType::SingleFloat => LLType::new(TypeKind::SingleFloat),
            OOType::Object => *taipan_lltype::GCREF,
            OOType::Instance(t)
            | OOType::Record(t)
            | OOType::Class(t)
            | OOType::Array(t)
            | OOType::StaticMethod(t) => t.ptr(),
            OOType::Raw(t) => t,
        }
    }

    /// The word in front of the container in text.
    pub(crate) fn word(self) -> Option<&'static str> {
        Some(match self {
            OOType::Instance(_) => "Instance",
            OOType::Record(_) => "Record",
            OOType::Class(_) => "Class",
            OOType::Array(_) => "Array",
            OOType::StaticMethod(_) => "StaticMethod",
            OOType::Raw(_) => "Raw",
            _ => return None,
        })
    }
}

/// `Instance(GcStruct point)`, `Array(GcArray of Signed)`, `Signed`.
impl fmt::Display for OOType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.word(), self.container()) {
            (Some(word), Some(to)) => write!(f, "{word}({to})"),
            (Some(word), None) => write!(f, "{word}({})", self.low()),
            (None, _) if *self == OOType::Object => f.write_str("Object"),
            (None, _) => self.low().fmt(f),
        }
    }
}
