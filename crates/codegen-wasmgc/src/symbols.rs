//! The symbols that code refers to by number until it is linked.

use indexmap::IndexSet;
use taipan_lltype::{FuncSym, LLType, StaticSym};

use crate::code::Body;

/// A type of the module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TypeSym {
    /// Objects of a struct type, or arrays.
    Container(LLType),
    /// Functions of a type.
    Function(LLType),
    /// The objects that refer to functions of a type.
    Method(LLType),
    /// Weak references that the program makes; a subtype of prebuilt ones.
    Weakref,
}

/// A function of the module.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Callee {
    /// A function of the program, or of the runtime.
    Func(FuncSym),
    /// A function that the back end writes.
    Glue(Glue),
    /// A function of the host.
    Host(HostFunction),
}

/// A function of the host.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum HostFunction {
    /// One of the runtime or of the C library. Strings are passed as addresses and lengths.
    External(FuncSym),
    /// `() -> i32`: the number of the program's arguments.
    ArgumentCount,
    /// `(i32) -> i32`: writes an argument to memory, and returns its length.
    Argument,
    /// `(eqref) -> externref`: a weak reference.
    NewWeakref,
    /// `(externref) -> eqref`: its target, or null.
    Deref,
    /// `()`: has the host collect, if it does that on demand.
    Collect,
}

/// A function that the back end writes where it is needed.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Glue {
    /// A function of the host that takes strings, for who has them as objects.
    External(FuncSym),
    /// `(Object) -> i64`: the identity hash of an instance, 0 of null.
    IdentityHash,
    /// `(i64, i64) -> i32`: whether a product of signed numbers overflows.
    MulOverflows,
    /// `(i64, i64) -> i64`: the upper word of the product of two unsigned numbers.
    MulHigh,
    /// On integers of 128 bits.
    Wide(WideOp),
    /// `(i64) -> array`: a new array whose items are records.
    NewRecords(LLType),
    /// `(array, array, i64, i64, i64)`: copies the contents of records from one array to another.
    CopyRecords(LLType),
    /// `(Object) -> Object`: a new weak reference.
    NewWeakref,
    /// `(Object) -> Object`: the target of a weak reference, or null.
    Deref,
    /// `(i32)`: makes room for a number of bytes in the memory that is shared with the host.
    Reserve,
    /// `(characters, i32)`: copies the characters of a string to memory.
    ToMemory,
    /// `(i32, characters)`: the reverse.
    FromMemory,
    /// `()`: fills a piece of prebuilt data that constant expressions cannot make.
    Fill(u32),
    /// `() -> i64`: the host's entry: makes prebuilt data, and runs the program. Its result is the exit code.
    Run,
}

/// A long operation on integers of 128 bits, each of which is two words.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WideOp {
    /// A quotient, truncated.
    Div {
        /// Whether numbers have a sign.
        signed: bool,
    },
    /// A remainder.
    Rem {
        /// Whether numbers have a sign.
        signed: bool,
    },
    /// By a count of 64 bits.
    ShiftLeft,
    /// By a count of 64 bits.
    ShiftRight {
        /// Whether the number has a sign.
        signed: bool,
    },
    /// As a float.
    ToFloat {
        /// Whether the number has a sign.
        signed: bool,
    },
    /// Of a float, truncated.
    FromFloat,
}

/// A global of the module.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Global {
    /// The object that refers to a function.
    Method(FuncSym),
    /// Prebuilt data.
    Static(StaticSym),
    /// The class of the current exception, or null.
    ExcType,
    /// The current exception, or null.
    ExcValue,
    /// The estimated size of all frames that count themselves, in bytes.
    Depth,
    /// The limit of [`Global::Depth`], which the host sets.
    StackLimit,
    /// The last identity hash that was given.
    LastHash,
}

/// The code of a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionCode {
    /// Its type, among `types`.
    pub ty: u32,
    /// Locals and instructions, as WebAssembly has them, with numbers that are indices into the tables here.
    pub body: Vec<u8>,
    /// Types.
    pub types: Vec<TypeSym>,
    /// Functions that it calls.
    pub callees: Vec<Callee>,
    /// Globals.
    pub globals: Vec<Global>,
    /// Where the code of instructions of the bytecode begins: an offset in the body, and the number of the instruction.
    pub places: Vec<(u32, u32)>,
}

impl FunctionCode {
    /// The functions of the program and of the runtime that it refers to.
    pub fn functions(&self) -> impl Iterator<Item = &FuncSym> {
        let called = self.callees.iter().filter_map(|c| match c {
            Callee::Func(f) => Some(f),
            Callee::Glue(_) | Callee::Host(_) => None,
        });
        called.chain(self.globals.iter().filter_map(|g| match g {
            Global::Method(f) => Some(f),
            _ => None,
        }))
    }

    /// The prebuilt data that it refers to.
    pub fn statics(&self) -> impl Iterator<Item = &StaticSym> {
        self.globals.iter().filter_map(|g| match g {
            Global::Static(s) => Some(s),
            _ => None,
        })
    }
}

/// Gives numbers to the symbols of a function.
#[derive(Default, Debug)]
pub(crate) struct Symbols {
    types: IndexSet<TypeSym>,
    callees: IndexSet<Callee>,
    globals: IndexSet<Global>,
}

impl Symbols {
    pub(crate) fn ty(&mut self, ty: TypeSym) -> u32 {
        self.types.insert_full(ty).0 as u32
    }

    pub(crate) fn callee(&mut self, callee: Callee) -> u32 {
        self.callees.insert_full(callee).0 as u32
    }

    pub(crate) fn global(&mut self, global: Global) -> u32 {
        self.globals.insert_full(global).0 as u32
    }

    /// The code of a function with these symbols.
    pub(crate) fn code(self, ty: u32, body: Body) -> FunctionCode {
        FunctionCode {
            ty,
            body: body.bytes,
            places: body.places,
            types: self.types.into_iter().collect(),
            callees: self.callees.into_iter().collect(),
            globals: self.globals.into_iter().collect(),
        }
    }
}
