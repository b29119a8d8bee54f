//! Start-up: from `main` to the entry point and to the exit code.

use core::ffi::{c_char, c_int};

use crate::gc::{self, TypeInfo, api};
use crate::state::state;
use crate::string::RpyString;
#[cfg(unix)]
use crate::{arith, debug, extension, externals, jit, raw, stacklet, sys, threads};
use crate::{crash, exc, os};

/// What the runtime must know of a program.
#[repr(C)]
pub struct ProgramTable {
    /// The entry point: takes the arguments' list if `argv` is not [`NO_ARGV`], and
    /// returns the exit code if `returns_code`.
    pub entry: Slot<u8>,
    /// Type of byte strings.
    pub string: Slot<TypeInfo>,
    /// Type of arrays of byte strings.
    pub string_array: Slot<TypeInfo>,
    /// Type of lists of byte strings.
    pub string_list: Slot<TypeInfo>,
    /// Offset of the length in such a list.
    pub list_length: u32,
    /// Offset of the pointer to the array in such a list.
    pub list_items: u32,
    /// [`NO_ARGV`], [`ARRAY_ARGV`] or [`LIST_ARGV`].
    pub argv: u32,
    /// Whether the entry point returns a Signed.
    pub returns_code: u32,
    /// Where its code comes from.
    pub places: Slot<crash::Places>,
    /// Number of the garbage collector that its code is made for.
    pub collector: u32,
}

/// A pointer in static data, which takes 64 bits on every machine.
#[derive(Clone, Copy)]
#[repr(C, align(8))]
pub struct Slot<T>(pub *const T);

impl ProgramTable {
    /// The collector that the program's code is made for.
    pub fn collector(&self) -> gc::Collector {
        gc::Collector::numbered(self.collector)
    }
}

/// The entry point takes no argument.
pub const NO_ARGV: u32 = 0;
/// The entry point takes a fixed-size list: an array.
pub const ARRAY_ARGV: u32 = 1;
/// The entry point takes a resizable list: length and array.
pub const LIST_ARGV: u32 = 2;

/// Most of the machine stack that is used even if the system allows more.
pub(crate) const STACK_MAX: u64 = 64 << 20;

/// The body of `main` in built programs.
///
/// # Safety
/// The table describes the program, and `argv` holds `argc` strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_main(
    argc: c_int,
    argv: *const *const c_char,
    table: &ProgramTable,
) -> c_int {
    exc::set_standalone();
    // SAFETY: `main` of a built program passes its arguments and the table of the program, which is
    // static. This is the only thread.
    unsafe {
        setup(stack_size(), table.collector());
        crash::set_places(table.places.0);
        #[cfg(unix)]
        crash::samples::begin();
        let args = argv_slices(argc, argv);
        run(table, argc as usize, args)
    }
}

fn argv_slices<'a>(argc: c_int, argv: *const *const c_char) -> impl Fn(usize) -> &'a [u8] {
    move |i| {
        debug_assert!(i < argc as usize);
        // SAFETY: `rpy_main` was given `argc` strings, each with a zero byte at its end, which live
        // as long as the process.
        unsafe { os::c_bytes(*argv.add(i)) }
    }
}

/// How much of the machine stack an executable may use.
#[cfg(unix)]
fn stack_size() -> usize {
    let mut limit = sys::Rlimit::default();
    // SAFETY: asks for a value.
    if unsafe { sys::getrlimit(sys::RLIMIT_STACK, &raw mut limit) } != 0 {
        limit.cur = STACK_MAX;
    }
    limit
        .cur
        .saturating_sub(stack_in_use() as u64)
        .min(STACK_MAX) as usize
}

/// Of WebAssembly it is not known how large the host's stack is, nor how much a function takes of it. What
/// functions take of the stack in memory is made as much as they may take of the host's (`RPY_FRAME` of
/// the C back end), and so much of that every host should have.
#[cfg(target_family = "wasm")]
fn stack_size() -> usize {
    crate::stacks::STACK_RESERVE + (768 << 10)
}

/// How much of the machine stack of an executable is in use: the system puts arguments and
/// environment there, which may be much, and last the name of the executable.
#[cfg(unix)]
fn stack_in_use() -> usize {
    let here = 0u8;
    // SAFETY: asks for a value.
    let top = unsafe { sys::getauxval(sys::AT_EXECFN) };
    top.saturating_sub(&raw const here as usize)
}

/// Makes an empty heap for a thread that has `stack` bytes of machine stack below this
/// call, with that collector. Functions of the program use no more.
///
/// # Safety
/// The caller becomes the only mutator thread, and there is no heap.
pub unsafe fn setup(stack: usize, collector: gc::Collector) {
    // SAFETY: the caller becomes the only mutator thread, and there is no heap.
    unsafe { gc::setup(stack, collector) }
}

/// Runs the program on a heap that is set up, and returns its exit code. An uncaught
/// exception is reported, and ends an executable.
///
/// # Safety
/// The table describes the program; this thread is the mutator.
pub unsafe fn run<'a>(table: &ProgramTable, argc: usize, arg: impl Fn(usize) -> &'a [u8]) -> c_int {
    crash::set_places(table.places.0);
    crash::install();
    // SAFETY: the table describes a program that is loaded, and this thread is the mutator of a
    // heap that is set up.
    unsafe { call_entry(table, argc, arg) }
}

/// Calls the entry point.
///
/// # Safety
/// As for [`run`].
pub(crate) unsafe fn call_entry<'a>(
    table: &ProgramTable,
    argc: usize,
    arg: impl Fn(usize) -> &'a [u8],
) -> c_int {
    // SAFETY: the table describes a program that is loaded, with an entry point of the type that
    // `argv` says. This thread is the mutator, and `list` is the entry point's argument.
    unsafe {
        let list = make_argv(table, argc, arg);
        let code = match table.argv {
            NO_ARGV => core::mem::transmute::<*const u8, extern "C" fn() -> i64>(table.entry.0)(),
            _ => {
                core::mem::transmute::<*const u8, extern "C" fn(usize) -> i64>(table.entry.0)(list)
            }
        };
        if !(*state()).exc_type.is_null() {
            exc::report_uncaught();
            exc::abort_standalone();
            return exc::FATAL_EXIT;
        }
        if table.returns_code != 0 {
            exc::exit_code(code)
        } else {
            0
        }
    }
}

/// The list of arguments as the entry point wants it.
unsafe fn make_argv<'a>(
    table: &ProgramTable,
    argc: usize,
    arg: impl Fn(usize) -> &'a [u8],
) -> usize {
    if table.argv == NO_ARGV {
        return 0;
    }
    // SAFETY: the table describes the types; the array is rooted while the rest is
    // allocated.
    unsafe {
        let array = api::malloc_varsize_surely(&*table.string_array.0, argc, false);
        let s = state();
        let root = (*s).root_stack_top;
        *root = array;
        (*s).root_stack_top = root.add(1);
        for i in 0..argc {
            let string = make_string(table, arg(i)) as usize;
            api::writebarrier(*root);
            let items = *root + (*table.string_array.0).items_offset as usize;
            *((items + i * 8) as *mut usize) = string;
        }
        let mut list = *root;
        if table.argv == LIST_ARGV {
            list = api::malloc_fixed_surely(&*table.string_list.0);
            *((list + table.list_length as usize) as *mut usize) = argc;
            *((list + table.list_items as usize) as *mut usize) = *root;
        }
        (*s).root_stack_top = root;
        list
    }
}

/// A new string of the program.
///
/// # Safety
/// The table describes the types; the caller's roots are saved.
pub unsafe fn make_string(table: &ProgramTable, bytes: &[u8]) -> *mut RpyString {
    // SAFETY: the table has the type of strings, the caller's roots are saved, and the new string
    // has room for the bytes.
    unsafe {
        let s = api::malloc_varsize_surely(&*table.string.0, bytes.len(), false) as *mut RpyString;
        RpyString::bytes(s).copy_from_slice(bytes);
        s
    }
}

/// Names and addresses of everything that programs refer to, for a linker in the same
/// process.
#[cfg(unix)]
pub fn symbols(mut out: impl FnMut(&'static str, *const u8)) {
    out("rpy_state", state() as *const u8);
    out("rpy_main", rpy_main as *const u8);
    out(
        "rpy_raise_memory_error",
        exc::rpy_raise_memory_error as *const u8,
    );
    out(
        "rpy_debug_fatalerror",
        exc::rpy_debug_fatalerror as *const u8,
    );
    out("rpy_assert_failed", exc::rpy_assert_failed as *const u8);
    out("rpy_check_failed", crash::rpy_check_failed as *const u8);
    out(
        "rpy_unit_check_failed",
        crash::rpy_unit_check_failed as *const u8,
    );
    out("rpy_checked_free", raw::rpy_checked_free as *const u8);
    out("rpy_debug_print", debug::rpy_debug_print as *const u8);
    out("malloc", sys::malloc as *const u8);
    out("calloc", sys::calloc as *const u8);
    out("free", sys::free as *const u8);
    out("memcpy", sys::memcpy as *const u8);
    out("memmove", sys::memmove as *const u8);
    out("memset", sys::memset as *const u8);
    arith::symbols(&mut out);
    api::symbols(&mut out);
    gc::inspect::symbols(&mut out);
    jit::symbols(&mut out);
    stacklet::symbols(&mut out);
    threads::symbols(&mut out);
    extension::symbols(&mut out);
    externals::symbols(&mut out);
}
