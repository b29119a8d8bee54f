//! The executable that programs with a just-in-time compiler are put behind: specialiser, code generator
//! and runtime. Crate `driver` has its bytes, and never links to it.
//!
//! **Architecture invariants.** Nothing but `main`. It depends on nothing of the front end.

use std::ffi::{c_char, c_int};
use std::io::Write as _;

use mimalloc::MiMalloc;

/// Compilation is many small allocations.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// What C's start calls. Unlike Rust's own `main` it leaves signals as they are, as those of plain
/// executables do.
#[unsafe(no_mangle)]
pub extern "C" fn main(_argc: c_int, _argv: *const *const c_char) -> c_int {
    let Err(why) = taipan_jit_file::run_own();
    // Errors of this write cannot be reported.
    let _ = writeln!(std::io::stderr(), "{why}");
    taipan_jit_file::UNUSABLE
}
