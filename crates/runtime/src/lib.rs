//! What is linked into programs: start-up, the garbage collector, exception state and
//! fatal errors, operating-system calls, text of floats.
//!
//! The crate is used in two ways: compiled by cargo as an ordinary library, for
//! programs that run in the compiler's own process and for the llinterpreter (which
//! calls [`externals::call`]), and by the build script of `taipan-runtime-object`
//! as one object file that the C linker puts into built programs.
//!
//! **Architecture invariants.** It knows nothing of the compiler: what it needs of a
//! program comes in a [`start::ProgramTable`]. It uses `core` and the C library only,
//! so that built programs stay small and link fast. One mutator thread at a time: its state
//! is process-wide and changes hands with the lock in [`threads`]; who uses it in the
//! compiler's process holds a lock of its own.

#![cfg_attr(not(test), no_std)]

pub mod arith;
#[cfg_attr(target_family = "wasm", path = "wasm/crash.rs")]
pub mod crash;
pub mod debug;
pub mod exc;
#[cfg(unix)]
pub mod extension;
pub mod externals;
pub mod files;
pub mod float;
pub mod gc;
pub mod jit;
mod memory;
pub mod os;
#[cfg_attr(target_family = "wasm", path = "wasm/pages.rs")]
mod pages;
#[cfg(unix)]
mod platform;
pub mod process;
#[cfg_attr(target_family = "wasm", path = "wasm/locks.rs")]
pub mod pthread;
pub mod raw;
#[cfg_attr(target_family = "wasm", path = "wasm/signals.rs")]
pub mod signals;
#[cfg_attr(target_family = "wasm", path = "wasm/stacklet.rs")]
pub mod stacklet;
pub mod stacks;
pub mod start;
pub mod state;
pub mod stdio;
pub mod string;
mod sys;
#[cfg_attr(target_family = "wasm", path = "wasm/threads.rs")]
pub mod threads;

/// In a built program a panic is a bug of the runtime: nothing can be unwound.
#[cfg(taipan_standalone)]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    exc::fatal(b"internal error in the runtime")
}

/// Referenced by the precompiled `core`; never called, since nothing unwinds.
#[cfg(taipan_standalone)]
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}
