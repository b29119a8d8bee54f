//! Reprs of containers: lists, dicts, strings, tuples, iterators.
//!
//! The functions here are what the rest of the crate calls: constructors of Reprs,
//! operations that make containers, binary operations, conversions, and the contents
//! of prebuilt containers.

use std::sync::Arc;

use taipan_annotator::{SiteId, SomeValue};
use taipan_graph::{Const, ObjId};
use taipan_interp::ObjData;
use taipan_lltype::{
    CHAR, LLConst, LLOperand, LLType, STR, StaticData, StaticSym, StructBody, UNICHAR, UNICODE,
    VOID,
};

use crate::{Hop, LLOps, RType, RTyper, Repr, ReprMethods, Typed, TyperError};

macro_rules! simple_repr {
    ($($(#[$m:meta])* $name:ident = $ty:expr, $describe:literal;)*) => {
        $($(#[$m])*
        #[derive(Clone, PartialEq, Eq, Hash, Debug)]
        pub struct $name;

        impl ReprMethods for $name {
            fn lowleveltype(&self) -> LLType {
                $ty
            }

            fn describe(&self) -> String {
                $describe.into()
            }
        })*
    };
}

simple_repr! {
    /// Characters of byte strings.
    CharRepr = *CHAR, "a character";
    /// Unicode characters.
    UniCharRepr = *UNICHAR, "a unicode character";
    /// Byte strings.
    StringRepr = STR.ptr(), "a string";
    /// Unicode strings.
    UnicodeRepr = UNICODE.ptr(), "a unicode string";
    /// `bytearray`
    ByteArrayRepr = STR.ptr(), "a bytearray";
    /// Lists.
    ListRepr = *VOID, "a list";
    /// Dicts.
    DictRepr = *VOID, "a dict";
    /// Tuples.
    TupleRepr = *VOID, "a tuple";
    /// Iterators.
    IterRepr = *VOID, "an iterator";
    /// Slices.
    SliceRepr = *VOID, "a slice";
}

/// The Repr of the lists of a creation site.
pub fn list_repr(_: &RTyper<'_>, _: SiteId) -> Typed<Repr> {
    Err(TyperError::missing("use", "a list"))
}

/// The Repr of the dicts of a creation site.
pub fn dict_repr(_: &RTyper<'_>, _: SiteId) -> Typed<Repr> {
    Err(TyperError::missing("use", "a dict"))
}

/// The Repr of tuples of these items.
pub fn tuple_repr(_: &RTyper<'_>, _: &Arc<[SomeValue]>) -> Typed<Repr> {
    Err(TyperError::missing("use", "a tuple"))
}

/// The Repr of iterators over a container.
pub fn iterator_repr(_: &RTyper<'_>, _: &SomeValue, _: &'static str) -> Typed<Repr> {
    Err(TyperError::missing("use", "an iterator"))
}

/// The Repr of slices.
pub fn slice_repr(_: &RTyper<'_>, _: &Arc<[SomeValue; 3]>) -> Typed<Repr> {
    Err(TyperError::missing("use", "a slice"))
}

/// `[a, b, ...]`
pub fn rtype_newlist(_: &Hop<'_>) -> RType {
    Err(TyperError::missing("newlist", "a list"))
}

/// `{}`
pub fn rtype_newdict(_: &Hop<'_>) -> RType {
    Err(TyperError::missing("newdict", "a dict"))
}

/// `(a, b, ...)`
pub fn rtype_newtuple(_: &Hop<'_>) -> RType {
    Err(TyperError::missing("newtuple", "a tuple"))
}

/// `a:b:c` inside `[]`
pub fn rtype_newslice(_: &Hop<'_>) -> RType {
    Err(TyperError::missing("newslice", "a slice"))
}

/// Binary operations where one side is a container, a string or a character.
pub fn rtype_pair(_: &Hop<'_>, _: &Repr, _: &Repr) -> Option<RType> {
    None
}

/// Conversions between containers, strings and characters.
pub fn conversion(_: &LLOps<'_>, _: LLOperand, _: &Repr, _: &Repr) -> Option<Typed<LLOperand>> {
    None
}

/// A call of a builtin function about containers and strings, by its qualified name;
/// arguments of the call from `hop.args[0]` on.
pub fn rtype_builtin(_: &str, _: &Hop<'_>) -> Option<RType> {
    None
}

/// A constant tuple, list or dict in the low-level form of type `ty` (a pointer).
pub fn convert_const(_: &RTyper<'_>, _: &Const, _: LLType) -> Option<Typed<LLConst>> {
    None
}

/// Contents of a prebuilt list or dict, or of one of its parts, or of a prebuilt
/// tuple.
pub fn static_data(
    _: &RTyper<'_>,
    _: &StaticSym,
    _: Option<(ObjId, &ObjData)>,
) -> Option<Typed<StaticData>> {
    None
}

/// Fields of a struct that a container Repr named by a forward reference.
pub fn struct_body(_: &RTyper<'_>, _: &str) -> Option<Typed<StructBody>> {
    None
}

/// Reprs of the items of a tuple Repr.
pub fn tuple_items(_: &Repr) -> Typed<Vec<Repr>> {
    Err(TyperError::missing("items", "a tuple"))
}

/// A new tuple of these items, each in the form of the Repr's item.
pub fn newtuple(_: &LLOps<'_>, _: &Repr, _: Vec<LLOperand>) -> Typed<LLOperand> {
    Err(TyperError::missing("newtuple", "a tuple"))
}

/// An item of a tuple, and its Repr.
pub fn tuple_getitem(_: &LLOps<'_>, _: &Repr, _: LLOperand, _: usize) -> Typed<(LLOperand, Repr)> {
    Err(TyperError::missing("items", "a tuple"))
}
