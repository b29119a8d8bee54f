//! Modules of the shipped `rpython.rlib`, called in translated code. `rlib_libraries.rs` has those that call other
//! libraries than that of C.

#[path = "../support/mod.rs"]
mod support;

mod bigint;
mod c;
mod heap;
mod objects;
mod several;
mod system;
mod text;
