//! Emitted code and data as values.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use taipan_lltype::{FuncKind, FuncSym, LLType, StaticSym};

use crate::CodeDebug;

/// What a relocation refers to.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum SymbolRef {
    /// A function with a graph.
    Func(FuncSym),
    /// A function or variable of the runtime or of the C library.
    External(Arc<str>),
    /// A function of a C library that the program brings.
    Foreign(FuncSym),
    /// Prebuilt data.
    Static(StaticSym),
    /// Type information of a GC container.
    TypeInfo(LLType),
    /// The record of a place in the source: number in [`CompiledFunction::locations`]
    /// of the function that has the relocation.
    Location(u32),
    /// The table by which the runtime knows the program.
    ProgramTable,
    /// The table of the places that code comes from.
    Places,
    /// Code that belongs to no graph.
    Glue(Glue),
}

/// Code that connects a program with its surroundings.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Glue {
    /// C's `main`: hands its arguments and the program table to the runtime.
    Main,
    /// What starts a program that is a part of another one: hands the program table and a C
    /// `bool`, its one argument, to the runtime.
    Library,
    /// Calls a function with arguments from memory: takes the address of an array of
    /// 16-byte slots, one per argument that is not Void, and that of a slot for the
    /// result.
    Trampoline(FuncSym),
    /// What C code that runs while other threads of the program may run calls for a
    /// function: takes the lock of the threads around it.
    Callback(FuncSym),
}

impl SymbolRef {
    /// A function, external or not.
    pub fn function(f: &FuncSym) -> SymbolRef {
        match f.kind() {
            FuncKind::External {
                library: Some(_), ..
            } => SymbolRef::Foreign(f.clone()),
            FuncKind::External { name, .. } => SymbolRef::External(name.clone()),
            _ => SymbolRef::Func(f.clone()),
        }
    }
}

/// How an address is written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum RelocKind {
    /// 32 bits, relative to the place itself: of code or data in the same image, or a
    /// call of an external function.
    PcRel32,
    /// 64 bits.
    Abs64,
    /// The distance of a call in an instruction of aarch64.
    Aarch64Call,
    /// The page of an address, relative to that of the place itself, in an instruction of aarch64.
    Aarch64Page,
    /// Where in its page an address is, in an instruction of aarch64.
    Aarch64PageOffset,
    /// The distance of a call, in two instructions of riscv64.
    RiscvCall,
    /// The high bits of a distance, in an instruction of riscv64.
    RiscvHigh,
    /// The low bits of the distance whose high ones are in the instruction before, which it
    /// counts from.
    RiscvLow,
}

/// A place to be filled with an address.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Reloc {
    /// Where, from the start of the code or data.
    pub offset: u64,
    /// How.
    pub kind: RelocKind,
    /// The address of what.
    pub target: SymbolRef,
    /// Added to it.
    pub addend: i64,
}

/// The machine code of one function: position independent and complete but for its
/// relocations.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct CompiledFunction {
    /// The code, with its constants.
    #[serde(with = "serde_bytes")]
    pub code: Vec<u8>,
    /// In the order of their offsets.
    pub relocs: Vec<Reloc>,
    /// Places in the source that traceback entries name, as positions in the
    /// function's bytecode (`Operation::at`).
    pub locations: Vec<u32>,
    /// Offsets from which on the code comes from positions in the bytecode, in their order:
    /// of functions of checked builds, and of those that debuggers are told of.
    pub lines: Vec<(u32, u32)>,
    /// It keeps frame pointers, as functions of checked builds do.
    pub keeps_frames: bool,
    /// What debuggers are told of it.
    pub debug: Option<Box<CodeDebug>>,
}

/// Prebuilt data as bytes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct DataObject {
    /// The bytes, with zeroes where relocations go.
    pub bytes: Vec<u8>,
    /// Always [`RelocKind::Abs64`].
    pub relocs: Vec<Reloc>,
    /// Alignment of the first byte.
    pub align: u64,
    /// Where in the bytes the object starts: what its symbol stands for.
    pub start: u64,
    /// Whether nothing ever writes to it.
    pub readonly: bool,
}

/// Why a function or image could not be made. All of these are faults of an earlier
/// stage or of the machine, never of the user's program.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct CodegenError {
    /// The function or data at fault.
    pub name: String,
    /// What is wrong with it.
    pub message: String,
}

impl CodegenError {
    /// An error about the thing of that name.
    pub fn new(name: impl Into<String>, message: impl Into<String>) -> CodegenError {
        CodegenError {
            name: name.into(),
            message: message.into(),
        }
    }

    /// An error about the C libraries that a program brings.
    #[allow(clippy::needless_pass_by_value, reason = "for map_err()")]
    pub fn c_library(e: std::io::Error) -> CodegenError {
        CodegenError::new("C library", e.to_string())
    }
}

impl fmt::Display for CodegenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.message)
    }
}

impl std::error::Error for CodegenError {}
