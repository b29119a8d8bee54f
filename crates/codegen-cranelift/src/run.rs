//! Running images in this process.
//!
//! The runtime's state is process-wide, so one program runs at a time; it gets a thread
//! of its own with a large stack.

use std::sync::{Mutex, PoisonError};

use taipan_codegen::{CodegenError, SymbolRef};
use taipan_runtime::{gc, start};

use crate::LoadedImage;

static MUTATOR: Mutex<()> = Mutex::new(());

/// Stack of the thread that runs programs.
const STACK: usize = 256 << 20;
/// What of it is not for the program.
const STACK_MARGIN: usize = 1 << 20;

/// Runs `f` on a fresh heap as the only mutator.
fn with_heap<T: Send>(f: impl FnOnce() -> T + Send) -> Result<T, CodegenError> {
    let _turn = MUTATOR.lock().unwrap_or_else(PoisonError::into_inner);
    let failed = || CodegenError::new("run", "the program's thread cannot be started");
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .stack_size(STACK)
            .spawn_scoped(scope, || {
                // SAFETY: the lock makes this thread the only mutator, and no heap exists.
                unsafe { gc::setup() };
                start::set_stack_size(STACK - STACK_MARGIN);
                let result = f();
                // SAFETY: objects do not outlive `f`.
                unsafe { gc::teardown() };
                result
            })
            .map_err(|_| failed())?;
        thread.join().map_err(|_| failed())
    })
}

/// Runs the program of an image that was built with an entry point: its exit code.
pub fn run_program(image: &LoadedImage, argv: &[Vec<u8>]) -> Result<i32, CodegenError> {
    let table = (image.symbol(&SymbolRef::ProgramTable))
        .ok_or_else(|| CodegenError::new("run", "the image has no entry point"))?;
    with_heap(|| {
        // SAFETY: the image has a table of this layout, and its code is mapped.
        unsafe {
            let table = &*(table as *const start::ProgramTable);
            start::run(table, argv.len(), |i| &argv[i])
        }
    })
}
