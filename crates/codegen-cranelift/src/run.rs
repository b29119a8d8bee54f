//! Running images in this process.
//!
//! The runtime's state is process-wide, so one program runs at a time; it gets a thread
//! of its own with a large stack.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use taipan_codegen::{CodegenError, SymbolRef};
use taipan_language::Collector;
use taipan_runtime::{gc, start};

use crate::LoadedImage;

static MUTATOR: Mutex<()> = Mutex::new(());

/// Most of the machine stack that programs get.
const STACK: usize = 256 << 20;
/// What of it is not for the program.
const STACK_MARGIN: usize = 1 << 20;

/// Runs `f` as the only mutator on a fresh heap, in a thread that has `stack` bytes
/// left, of which no more than [`STACK`] are used. The program's prebuilt objects are in `data`.
pub(crate) fn with_heap<T>(
    stack: usize,
    collector: gc::Collector,
    data: Range<usize>,
    f: impl FnOnce() -> T,
) -> T {
    let _turn = MUTATOR.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: the lock makes this thread the only mutator, and no heap exists.
    unsafe {
        start::setup(stack.min(STACK), collector);
        gc::add_static_data(data);
    }
    let _heap = Heap;
    f()
}

/// What of the system a program with that collector needs and does not have here.
pub fn missing_library(collector: Collector) -> Option<&'static str> {
    gc::missing_library(gc::Collector::numbered(collector.number()))
}

/// Gives the heap back, whatever happens.
struct Heap;

impl Drop for Heap {
    fn drop(&mut self) {
        // SAFETY: objects do not outlive `with_heap`.
        unsafe { gc::teardown() };
    }
}

/// Runs the program of an image that was built with an entry point: its exit code.
pub fn run_program(image: &LoadedImage, argv: &[Vec<u8>]) -> Result<i32, CodegenError> {
    let table = (image.symbol(&SymbolRef::ProgramTable))
        .ok_or_else(|| CodegenError::new("run", "the image has no entry point"))?;
    // SAFETY: the image has a table there, and its code is mapped.
    unsafe { run_table(table, image.data(), argv) }
}

/// Runs the program whose table is at that address, and whose prebuilt objects are in `data`:
/// its exit code.
///
/// # Safety
/// There is a table, and what it leads to is mapped and stays so.
pub(crate) unsafe fn run_table(
    table: usize,
    data: Range<usize>,
    argv: &[Vec<u8>],
) -> Result<i32, CodegenError> {
    let failed = || CodegenError::new("run", "the program's thread cannot be started");
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .stack_size(STACK)
            .spawn_scoped(scope, || {
                // SAFETY: the caller has a program table at that address, which stays mapped until
                // the thread is joined.
                let table = unsafe { &*(table as *const start::ProgramTable) };
                with_heap(STACK - STACK_MARGIN, table.collector(), data, || {
                    // SAFETY: the table describes a program that is loaded, and `with_heap` has
                    // made this thread the mutator.
                    unsafe { start::run(table, argv.len(), |i| &argv[i]) }
                })
            })
            .map_err(|_| failed())?;
        thread.join().map_err(|_| failed())
    })
}
