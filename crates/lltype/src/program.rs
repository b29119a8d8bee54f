//! What back ends see of a program: names resolved to content.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use taipan_graph::{Const, Operation};

use crate::{
    FuncSym, LLConst, LLGraph, LLOperand, LLType, LowLevel, NamedOperands, PlainOp, StaticSym,
    StructBody, StructId, StructType, View, VoidConst,
};
use taipan_language::{Collector, Exc, Machine};

/// Resolves the names in low-level graphs. The driver implements it over queries;
/// tests over tables.
pub trait Program {
    /// The graph of a function at the stage that this program value stands for;
    /// none for external functions.
    fn graph(&self, f: &FuncSym) -> Option<Arc<LLGraph>>;

    /// Contents of prebuilt data.
    fn static_data(&self, s: &StaticSym) -> Arc<StaticData>;

    /// Fields of a struct whose body is not inline.
    fn struct_body(&self, s: &StructId) -> Arc<StructBody>;

    /// Fields of any struct.
    fn body(&self, s: &StructType) -> Arc<StructBody> {
        s.known_body().unwrap_or_else(|| self.struct_body(&s.id))
    }

    /// The vtable of a builtin exception class, for
    /// operations and transforms that raise by themselves.
    fn exception_vtable(&self, exception: Exc) -> StaticSym;

    /// A prebuilt instance of a builtin exception class.
    fn exception_instance(&self, exception: Exc) -> StaticSym;

    /// What runs when an object of this GC container type dies (RPython: the
    /// destructor attached to the runtime type information, from `__del__`). It takes
    /// the object. Asked once all code is there; for passes see [`has_destructor`].
    fn destructor(&self, ty: LLType) -> Option<FuncSym> {
        let _ = ty;
        None
    }

    /// The garbage collector that code is made for.
    fn collector(&self) -> Collector {
        Collector::default()
    }

    /// The machine that code is made for.
    fn machine(&self) -> Machine {
        Machine::HOST
    }

    /// Whether a destructor is light: it allocates nothing, touches no other object of
    /// the heap and keeps its own nowhere.
    fn is_light_destructor(&self, f: &FuncSym) -> bool {
        let _ = f;
        false
    }
}

/// Whether an operation is the check of an index that code of checked builds makes.
pub fn is_index_check(op: &Operation<LowLevel>) -> bool {
    checked_in(op).is_some()
}

/// What the check of an index says besides the condition: in graphs of the program what went
/// wrong, in residual code the name of the function.
pub fn checked_in(op: &Operation<LowLevel>) -> Option<&[u8]> {
    match op.view_among(&[PlainOp::DebugAssert])? {
        View::DebugAssert {
            message: Some(LLOperand::Const(LLConst::Void(VoidConst::Hl(Const::Str(text))))),
            ..
        } => Some(text),
        _ => None,
    }
}

/// Whether an allocation is of a type with a destructor: the function is then an
/// operand, so that it is found by those who look for what a graph refers to.
pub fn has_destructor(op: &Operation<LowLevel>) -> bool {
    matches!(
        op.view_among(&[PlainOp::Malloc]),
        Some(View::Malloc {
            destructor: Some(_),
            ..
        })
    )
}

/// No program at all, for types that say everything themselves. Structs of others have
/// no fields here, and there is no data.
#[derive(Clone, Copy, Debug)]
pub struct NoProgram;

impl Program for NoProgram {
    fn graph(&self, _: &FuncSym) -> Option<Arc<LLGraph>> {
        None
    }

    fn static_data(&self, _: &StaticSym) -> Arc<StaticData> {
        Arc::new(StaticData {
            ty: *crate::VOID,
            value: StaticValue::Zero,
            readonly: true,
        })
    }

    fn struct_body(&self, _: &StructId) -> Arc<StructBody> {
        Arc::default()
    }

    fn exception_vtable(&self, _: Exc) -> StaticSym {
        StaticSym::ObjectVtable
    }

    fn exception_instance(&self, _: Exc) -> StaticSym {
        StaticSym::ObjectVtable
    }
}

/// A prebuilt object.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct StaticData {
    /// Its container type.
    pub ty: LLType,
    /// Its contents.
    pub value: StaticValue,
    /// Whether it may live in read-only memory: nothing ever writes to it.
    pub readonly: bool,
}

/// Contents of a prebuilt object or of a part of it.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum StaticValue {
    /// A primitive or a pointer.
    Const(LLConst),
    /// One value per field, inlined structs and arrays nested.
    Struct(Vec<StaticValue>),
    /// One value per item.
    Array(Vec<StaticValue>),
    /// Items of an array of Char.
    Bytes(Arc<[u8]>),
    /// Zeroes throughout.
    Zero,
}
