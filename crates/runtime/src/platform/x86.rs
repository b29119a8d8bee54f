//! x86, 32 bits.

use core::ffi::c_void;

use super::Registers;

/// Saves the registers that functions must keep, and goes on with another stack, at the
/// place where its last call of this function was.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn switch_stacks(save: *mut usize, to: usize) {
    core::arch::naked_asm!(
        "mov eax, [esp + 4]",
        "mov edx, [esp + 8]",
        "push ebp",
        "push ebx",
        "push esi",
        "push edi",
        "mov [eax], esp",
        "mov esp, edx",
        "pop edi",
        "pop esi",
        "pop ebx",
        "pop ebp",
        "ret",
    )
}

/// What [`save_registers`] would save.
pub(crate) type SavedRegisters = [usize; 1];

/// Taipan does not run on this machine, and libgc is taken from the machine that it runs on.
pub(crate) unsafe extern "C" fn save_registers(_to: *mut SavedRegisters) {
    crate::exc::fatal(b"threads with --gc boehm: not on this machine")
}

/// Makes a stack that ends at an address look as if [`switch_stacks`] had been called at the start
/// of a function: its stack pointer.
///
/// # Safety
/// There is room below that address, which is a multiple of 16.
pub(crate) unsafe fn new_stack(end: usize, function: usize) -> usize {
    // Four registers, where to return to, and what makes the stack look as if that had been called.
    let frame = (end as *mut usize).wrapping_sub(8);
    // SAFETY: the caller has a stack that ends at `end`, with room for these words.
    unsafe {
        frame.write_bytes(0, 8);
        *frame.add(6) = function;
        frame.add(2) as usize
    }
}

pub(super) const COUNT: usize = 9;
pub(super) const SP: usize = 4;
pub(super) const FP: usize = 5;
pub(super) const LINK: Option<usize> = None;
/// Code is by C compilers, which describe it.
pub(super) const FRAME: &[u8] = &[];

/// The registers that a signal handler is told of.
///
/// # Safety
/// The system has given this to a signal handler.
pub(crate) unsafe fn registers(context: *const c_void) -> Registers {
    // After flags, link and the stack: gs, fs, es, ds, edi, esi, ebp, esp, ebx, edx, ecx, eax, the
    // number of the fault, its code, eip.
    const GENERAL: usize = 5;
    /// By DWARF's numbers: eax, ecx, edx, ebx, esp, ebp, esi, edi, eip.
    const PLACES: [usize; COUNT] = [11, 10, 9, 8, 7, 6, 5, 4, 14];
    let words = context.cast::<usize>();
    // SAFETY: the kernel's structure is larger.
    let values = PLACES.map(|i| unsafe { *words.add(GENERAL + i) });
    Registers {
        pc: values[8],
        values: values.map(Some),
    }
}

/// The registers of the function that this is inlined into.
#[inline(always)]
pub(crate) fn current_registers() -> Registers {
    let mut words = [0; 6];
    // SAFETY: the array has room for all.
    unsafe {
        core::arch::asm!(
            "mov [{words}], ebx",
            "mov [{words} + 4], esp",
            "mov [{words} + 8], ebp",
            "mov [{words} + 12], esi",
            "mov [{words} + 16], edi",
            "call 2f",
            "2:",
            "pop dword ptr [{words} + 20]",
            words = in(reg) words.as_mut_ptr(),
        );
    }
    let mut values = [None; COUNT];
    for (i, word) in [3, SP, FP, 6, 7, 8].into_iter().zip(words) {
        values[i] = Some(word);
    }
    let [.., pc] = words;
    Registers { pc, values }
}

/// Whether the instruction before an address is a call.
///
/// # Safety
/// There is code before that address, of a few instructions at the least.
pub(crate) unsafe fn follows_call(address: usize) -> bool {
    // SAFETY: there is code in the five bytes before `address`.
    let byte = |back: usize| unsafe { *((address - back) as *const u8) };
    byte(5) == 0xe8 || (2..=4).any(|n| byte(n) == 0xff && byte(n - 1) & 0x38 == 0x10)
}
