//! The `taipan` binary: the library's [`taipan_cli::main`] with an allocator.

use std::process::ExitCode;

/// Compilation is many small allocations: a sixth of its time in the system's allocator.
#[global_allocator]
static ALLOCATOR: taipan_heap::Heap = taipan_heap::Heap;

/// Runs before the first allocation.
// SAFETY: the section holds functions that take no arguments they need, and this one relies on
// nothing that is set up later.
#[used]
#[unsafe(link_section = ".init_array")]
static RESERVE: extern "C" fn() = taipan_heap::reserve;

fn main() -> ExitCode {
    // SAFETY: nothing has run in this process but the start of the runtime.
    unsafe { taipan_cli::main() }
}
