//! The JIT generator: turns an interpreter with a few hints into a compiler
//! (RPython, 2008: `pypy/jit/hintannotator`, `pypy/jit/timeshifter`).
//!
//! From a *portal*, the function that interprets, come in this order:
//!
//! 1. [`Generator::new`] analyses what depends on what in all that the portal reaches
//!    (the hint-annotator), and colours every variable: *green* ones are known while
//!    compiling, *red* ones are not.
//! 2. Each graph becomes a timeshifted one: no longer the interpreter's, but that of a
//!    compiler, which computes what is green and generates code for what is red.
//! 3. The specialiser runs timeshifted graphs for the green arguments of one call of the
//!    portal and writes a *residual* function. Where a value is *promoted*, residual code
//!    calls it again with what arrived there.
//!
//! ```text
//! op = s[pc]                      ; s, pc, op: green
//! if op == '+': acc += y          ; acc, y: red
//! else: acc -= y
//! ```
//!
//! specialised for `s = "+-+"` leaves `int_add`, `int_sub`, `int_add`.
//!
//! Timeshifted graphs are data that the specialiser interprets, not graphs of helper
//! calls in RPython as they were in the original: one specialiser serves the low-level
//! interpreter and machine code, it is compiled and tested once, and an interpreter's
//! author waits for no generated compiler to be compiled.
//!
//! **Architecture invariants.** No salsa, no positions: input is low-level graphs through
//! [`JitProgram`], output compares by content. The specialiser reaches memory and
//! functions of the running program only through the trait `World`.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod annotator;
mod arguments;
mod binding;
mod code;
mod colors;
mod drivers;
pub mod engine;
mod explain;
mod freeze;
mod generate;
mod heap;
mod held;
mod hints;
mod known;
mod late_writes;
mod layout;
pub mod llgraph;
mod notes;
mod online;
mod own_lists;
mod prepare;
mod program;
mod pure;
mod purity;
mod quasi;
mod reach;
mod residual;
mod settled;
mod specialize;
mod state;
mod text;
mod timeshift;
mod touches;
mod world;

pub use arguments::{Built, VirtualArguments};
pub use code::TsGraph;
pub use colors::CallColor;
pub use drivers::{
    DriverHooks, DriverInfo, MOST_LEFT, Marker, MarkerKind, MisplacedMarker, PARAMETERS, Portal,
    SET_PARAM, enter_compiled_code, has_markers, markers, portal, portal_of, rest, rest_of,
    rest_sym, runner, runner_of, runner_sym,
};
pub use explain::{HintError, Step};
pub use generate::Generator;
pub use known::{KnownNames, NameColor, known_names};
pub use late_writes::{LateWrite, LateWrites, ObjectFlow};
pub use notes::{Note, Waits, is_note, type_name};
pub use online::{StaysCall, looks_inside, stays_call, timeshift_function};
pub use own_lists::{ListField, leaked_lists, list_fields, prebuilt_lists};
pub use program::{FunctionHints, JitProgram, Policy, PromotedArguments, SourceLine};
pub use purity::{is_elidable, is_search};
pub use quasi::{force_quasi_immutable, writes_quasi_immutable};
pub use residual::{ResidualCounts, Stub};
pub use settled::{ClassField, rewritten_fields};
pub use specialize::{Failure, Promoted, Splits, is_done_by_compilers};
pub use state::Word;
pub use touches::{Kind as TouchKind, OwnTouches, TouchKinds, TouchSet, TouchTable, Touches};
pub use world::{Called, World};
