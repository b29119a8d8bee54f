//! Where programs meet a compiler that works while they run.
//!
//! The runtime knows no more of it than a few functions, which are set before the program
//! starts. In a process without such a compiler nothing is ever entered.

use core::ffi::c_void;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering::Relaxed};

/// What a compiler does for a running program. It is only called by the mutator, whose
/// roots are saved.
pub struct Hooks {
    /// The code of the driver of that number for these greens, one word each; 0 if the
    /// interpreter is to go on.
    pub enter: unsafe extern "C" fn(driver: usize, greens: *const u64) -> usize,
    /// Sets a parameter of a driver, or of all if the number is negative.
    pub set_param: unsafe extern "C" fn(driver: i64, parameter: i64, value: i64),
    /// The string that stands for all with the characters of one; `wide` if they are unicode
    /// strings.
    pub unique_string: unsafe extern "C" fn(string: usize, wide: i64) -> usize,
    /// A field that seldom changes is going to be written: its address.
    pub field_written: unsafe extern "C" fn(field: usize),
}

static HOOKS: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());

/// Sets the functions that are called from now on.
pub fn set_hooks(hooks: Option<&'static Hooks>) {
    let hooks = hooks.map_or(core::ptr::null(), core::ptr::from_ref);
    HOOKS.store(hooks.cast_mut().cast(), Relaxed);
}

fn hooks() -> Option<&'static Hooks> {
    let hooks = HOOKS.load(Relaxed).cast::<Hooks>();
    // SAFETY: it is null or was a static reference.
    unsafe { hooks.as_ref() }
}

/// `jit_enter`
///
/// # Safety
/// As many words as the driver has greens; the caller's roots are saved.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_jit_enter(driver: u64, greens: *const u64) -> usize {
    match hooks() {
        // SAFETY: the operation `jit_enter` passes a word for each green variable of the driver and
        // has saved its roots.
        Some(hooks) => unsafe { (hooks.enter)(driver as usize, greens) },
        None => 0,
    }
}

/// `jit_set_param`
///
/// # Safety
/// The caller is the mutator.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_jit_set_param(driver: i64, parameter: i64, value: i64) {
    if let Some(hooks) = hooks() {
        // SAFETY: compiled code, the mutator, calls this with three numbers.
        unsafe { (hooks.set_param)(driver, parameter, value) }
    }
}

/// What residual code calls where a string is promoted.
///
/// # Safety
/// It is a string, or null; the caller's roots are saved.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_jit_unique_string(string: usize, wide: i64) -> usize {
    match hooks() {
        // SAFETY: residual code passes null or a live string and has saved its roots.
        Some(hooks) => unsafe { (hooks.unique_string)(string, wide) },
        None => string,
    }
}

/// `jit_force_quasi_immutable`
///
/// # Safety
/// The caller is the mutator.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_jit_field_written(field: usize) {
    if let Some(hooks) = hooks() {
        // SAFETY: compiled code, the mutator, calls this with the address of a field.
        unsafe { (hooks.field_written)(field) }
    }
}

/// Maximum number of values that compiled code leaves to the interpreter.
pub const MOST_LEFT: usize = 63;

/// Values of the merge point at which the interpreter resumes, stored by compiled code before it returns:
/// first a flag, then the values. The caller of the portal passes them to the portal before anything
/// else runs, so no collection happens while they are here.
static LEFT: [AtomicU64; MOST_LEFT + 1] = [const { AtomicU64::new(0) }; MOST_LEFT + 1];

/// The address of the word that says whether values are left; those follow it.
pub fn left_words() -> usize {
    LEFT.as_ptr() as usize
}

/// Whether compiled code has left values, which are read next. The answer is true once.
#[unsafe(no_mangle)]
pub extern "C" fn rpy_jit_take_left() -> bool {
    let left = LEFT[0].load(Relaxed) != 0;
    LEFT[0].store(0, Relaxed);
    left
}

/// A value that was left: a word, by its number.
#[unsafe(no_mangle)]
pub extern "C" fn rpy_jit_left_word(number: i64) -> u64 {
    LEFT.get(number as usize + 1).map_or(0, |w| w.load(Relaxed))
}

/// A value that was left: a float, by its number.
#[unsafe(no_mangle)]
pub extern "C" fn rpy_jit_left_float(number: i64) -> f64 {
    f64::from_bits(rpy_jit_left_word(number))
}

/// Names and addresses of the functions here, for a linker in the same process.
pub(crate) fn symbols(out: &mut dyn FnMut(&'static str, *const u8)) {
    out("rpy_jit_enter", rpy_jit_enter as *const u8);
    out("rpy_jit_unique_string", rpy_jit_unique_string as *const u8);
    out("rpy_jit_set_param", rpy_jit_set_param as *const u8);
    out("rpy_jit_field_written", rpy_jit_field_written as *const u8);
    out("rpy_jit_take_left", rpy_jit_take_left as *const u8);
    out("rpy_jit_left_word", rpy_jit_left_word as *const u8);
    out("rpy_jit_left_float", rpy_jit_left_float as *const u8);
}
