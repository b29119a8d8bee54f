//! Operations.
//!
//! Operations on numbers, calls of known functions and the state of exceptions mean the same in both type systems:
//! they are `lltype`'s ([`OOOp::Low`]), as far as [`OOOp::is_shared`] has them. Those on objects are declared in the
//! table here, each with its effects, its operands and its result.

use std::fmt;

use serde::{Deserialize, Serialize};
use taipan_lltype::{EFFECT, FOLD, GC, LLOp, PlainOp, RAISE, READ, is_conversion};

/// An operation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum OOOp {
    /// On an object.
    Object(ObjectOp),
    /// Shared with `lltype`.
    Low(LLOp),
}

/// The kind of an operand or a result of an operation on objects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Argument {
    /// A reference of any type.
    Reference,
    /// A reference with fields.
    Fields,
    /// An array.
    Array,
    /// A static method.
    StaticMethod,
    /// An index or a length.
    Signed,
    /// A truth value.
    Bool,
    /// Nothing.
    Void,
    /// A container type, as a constant.
    Type,
    /// The name of a field, as a constant.
    Field,
    /// A value of any type.
    Any,
    /// The remaining operands, of any types.
    Rest,
}

macro_rules! object_ops {
    ($($(#[$doc:meta])* $v:ident = $n:literal, $flags:expr, ($($arg:ident: $kind:ident),*) -> $result:ident;)*) => {
        /// An operation on objects.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
        pub enum ObjectOp { $($(#[$doc])* $v,)* }

        impl ObjectOp {
            /// All of them.
            pub const ALL: &'static [ObjectOp] = &[$(ObjectOp::$v,)*];

            /// Its name in text.
            pub fn name(self) -> &'static str {
                match self { $(ObjectOp::$v => $n,)* }
            }

            /// `FOLD`, `READ`, `EFFECT`, `RAISE`, `GC` of `lltype`.
            pub fn flags(self) -> u8 {
                match self { $(ObjectOp::$v => $flags,)* }
            }

            /// Names and kinds of its operands, and the kind of its result.
            pub fn signature(self) -> (&'static [(&'static str, Argument)], Argument) {
                match self {
                    $(ObjectOp::$v => (
                        const { &[$((stringify!($arg), Argument::$kind)),*] },
                        Argument::$result,
                    ),)*
                }
            }
        }
    };
}

object_ops! {
    /// A new object. Behind its type are names of fields, each with its value. Other fields are zero or null; parts are
    /// there.
    New = "oonew", EFFECT | GC, (ty: Type, fields: Rest) -> Fields;
    /// A new array, or an object with an array at its end, of that length; null if there is no such array.
    NewItems = "oonew_items", EFFECT | GC, (ty: Type, length: Signed) -> Reference;
    /// The value of a field.
    GetField = "oogetfield", READ, (object: Fields, field: Field) -> Any;
    /// Changes a field.
    SetField = "oosetfield", EFFECT, (object: Fields, field: Field, value: Any) -> Void;
    /// An item of an array.
    GetItem = "oogetitem", READ, (array: Array, index: Signed) -> Any;
    /// Changes an item.
    SetItem = "oosetitem", EFFECT, (array: Array, index: Signed, value: Any) -> Void;
    /// The number of items.
    Length = "oolength", READ, (array: Array) -> Signed;
    /// Copies items as `memmove` does.
    CopyItems = "oocopyitems", EFFECT,
        (source: Array, dest: Array, source_start: Signed, dest_start: Signed, length: Signed) -> Void;
    /// Leaves an object fewer items in the array at its end.
    Shrink = "ooshrink", EFFECT | GC, (object: Fields, length: Signed) -> Void;
    /// The same object as a reference of another type, which it has, or null.
    Cast = "oocast", FOLD, (object: Reference) -> Reference;
    /// Whether two references are to one object, or both null.
    Is = "oois", FOLD, (left: Reference, right: Reference) -> Bool;
    /// Whether a reference is null.
    IsNull = "ooisnull", FOLD, (object: Reference) -> Bool;
    /// Calls a static method.
    Call = "oocall", EFFECT | RAISE | GC, (method: StaticMethod, args: Rest) -> Any;
    /// A number that an object keeps.
    IdentityHash = "ooidentityhash", READ | GC, (object: Reference) -> Signed;
    /// A new weak reference.
    NewWeakref = "oonew_weakref", EFFECT | GC, (object: Reference) -> Reference;
    /// The object of a weak reference, or null.
    Deref = "ooderef", READ, (weakref: Reference) -> Reference;
    /// Has the finalizer of its class called with an object once it is dead.
    Finalize = "oofinalize", EFFECT, (object: Reference, finalizer: Any) -> Void;
    /// Has an object put into a queue once it is dead. The queue is the method that is called then.
    Enqueue = "ooenqueue", EFFECT, (queue: Reference, object: Reference) -> Void;
    /// Takes an object out of a queue of dead ones, or null.
    NextDead = "oonext_dead", EFFECT, (queue: Reference) -> Reference;
}

impl OOOp {
    /// Its effects.
    pub fn flags(self) -> u8 {
        match self {
            OOOp::Object(op) => op.flags(),
            OOOp::Low(op) => op.flags(),
        }
    }

    /// Whether an operation of `lltype` means the same here.
    pub fn is_shared(op: LLOp) -> bool {
        use PlainOp::*;
        let LLOp::Plain(plain) = op else { return true };
        is_conversion(plain)
            || matches!(
                plain,
                DirectCall
                    | BoolNot
                    | IntBetween
                    | IntForceGeZero
                    | UintMulHigh
                    | IntAddOvf
                    | IntAddNonnegOvf
                    | IntSubOvf
                    | IntMulOvf
                    | ForceCast
                    | ConvertFloatBytesToLonglong
                    | ConvertLonglongBytesToFloat
                    | SameAs
                    | JitConditionalCall
                    | JitConditionalCallValue
                    | StackCheck
                    | GcCollect
                    | LlReadTimestamp
                    | DebugAssert
                    | DebugFatalerror
                    | DebugPrint
                    | DebugStartTraceback
                    | DebugRecordTraceback
                    | DebugCatchException
                    | DebugReraiseTraceback
                    | ExcType
                    | ExcValue
                    | ExcOccurred
                    | ExcSet
                    | ExcClear
            )
    }

    /// The operation of that name.
    pub fn from_name(name: &str) -> Option<OOOp> {
        if let Some(op) = ObjectOp::ALL.iter().find(|op| op.name() == name) {
            return Some(OOOp::Object(*op));
        }
        LLOp::from_name(name)
            .filter(|op| OOOp::is_shared(*op))
            .map(OOOp::Low)
    }
}

impl From<ObjectOp> for OOOp {
    fn from(op: ObjectOp) -> OOOp {
        OOOp::Object(op)
    }
}

impl fmt::Display for OOOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OOOp::Object(op) => f.write_str(op.name()),
            OOOp::Low(op) => op.fmt(f),
        }
    }
}
