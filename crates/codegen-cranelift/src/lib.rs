//! The Cranelift back end: low-level graphs to machine code, in the memory of this
//! process for `run` and `call`, as an object file for `build`.
//!
//! **Architecture invariants.** Emission of a function is a pure function of its graph
//! and of what it asks the [`taipan_lltype::Program`]; it happens on any thread, each
//! with a [`FunctionCompiler`] of its own. Graphs come after the exception and GC
//! transforms. The machine code of a function is the same for all uses.

mod call;
mod compiler;
mod debug;
mod dwarf;
mod elf;
mod emit;
mod filed;
mod hot;
mod isa;
mod listing;
mod loaded;
mod passed;
mod patch;
mod place;
mod region;
mod run;
mod shared;
mod template;
#[cfg(test)]
mod tests;

pub use call::{
    NativeMemory, RaisedException, TracebackPlace, call_function, call_roots, call_trampoline,
    in_register,
};
pub use compiler::{Addresses, FunctionCompiler, compile_all, compile_all_for};
pub use elf::{object_file, shared_object_file};
pub use filed::{FiledImage, FiledLayout, ImageNames};
pub use hot::{HotProgram, Obstacle};
pub use isa::OptLevel;
pub use listing::CodeLine;
pub use loaded::LoadedImage;
pub use passed::{arrival_code, passed_values, words_of_values};
pub use patch::{CALL_REACH, LARGEST_PAGE, Patch, STUB, TRAP, flush, is_call, stub};
pub use place::external_address;
pub use region::{LateLibrary, LoadedProgram, Region};
pub use run::{missing_library, run_program};
pub use shared::makes_shared_objects;
