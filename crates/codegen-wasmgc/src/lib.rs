//! WebAssembly with the host's garbage collector (WasmGC) from object-oriented low-level graphs.
//!
//! [`function_code`] makes the code of one graph. It knows nothing of other functions: types, functions and globals
//! are numbered per function ([`FunctionCode`]) until [`Linker`] puts the module together and renumbers them with
//! wasm-encoder's `Reencode`. So the code of a function stays the same when another one changes.
//!
//! | `ootype` | WebAssembly |
//! | --- | --- |
//! | Instance, Record, Class | a struct type; a subtype of the base's |
//! | Array | an array type; items of 8 and 16 bits are packed |
//! | StaticMethod | a struct with a typed function reference, one object per function: function references have no `ref.eq` |
//! | Object | `eqref` |
//! | Signed, Unsigned | `i64`; narrower integers, Bool, Char and UniChar are `i32` within their range |
//! | Float, SingleFloat | `f64`, `f32` |
//! | a part of an object, an inlined item | a reference that never changes |
//!
//! All references are nullable: a null pointer that the program uses is a trap of the host. All types of a module
//! form one recursion group, so that no two are the same.
//!
//! **Control flow** is structured along the dominator tree (N. Ramsey: Beyond Relooper, ICFP 2022): `control.rs`. A
//! graph with a loop that is entered at several places becomes one loop around a `br_table`.
//!
//! **Exceptions** are two globals that are checked after calls, as in the other back ends: the graphs have been through
//! the exception transform. `try_table` would save the checks, but unwinding is much slower than a return in
//! today's engines, RPython programs raise often (the end of every iteration is StopIteration), and hosts without
//! `exnref` (Node before 24, browsers before 2025) could not run the program.
//!
//! **Prebuilt data** is a global per object, made by a constant expression from objects before it. References that close
//! a cycle, and long arrays, are filled by init functions of a bounded size (`prebuilt.rs`).
//!
//! **The host** provides files, time and the rest as imports (`host.rs`, `support/host.js`). Strings pass through
//! a small linear memory, since JavaScript cannot look into WasmGC's arrays.
//!
//! **Architecture invariants.** No salsa. The LLInterpreter defines the meaning of graphs; modules are validated
//! by wasmparser where assertions are on.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod alone;
mod code;
mod control;
mod emit;
mod glue;
mod host;
mod linker;
mod names;
mod places;
mod prebuilt;
mod symbols;
#[cfg(test)]
mod tests;
mod types;
mod wide;

pub use alone::function_module;
pub use emit::function_code;
pub use host::{HOST_FUNCTIONS, SUPPORT, escaped, is_available, program_module};
pub use linker::Linker;
pub use places::Linked;
pub use symbols::{Callee, FunctionCode, Global, TypeSym};
