//! The `taipan` binary: the library's [`taipan_cli::main`] with an allocator.

use std::process::ExitCode;

/// Compilation is many small allocations: a sixth of its time in the system's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    taipan_cli::main()
}
