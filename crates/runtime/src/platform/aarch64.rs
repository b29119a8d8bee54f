//! aarch64.

use core::ffi::c_void;

use super::Registers;

/// The body of a function that saves all registers, calls one with C's conventions and restores
/// them. Of vector registers 128 bits are saved, which is all that there is of them.
macro_rules! preserving_call {
    ($target:path) => {
        core::arch::naked_asm!(
            "stp x29, x30, [sp, #-16]!",
            "mov x29, sp",
            "sub sp, sp, #672",
            "stp x0, x1, [sp]",
            "stp x2, x3, [sp, #16]",
            "stp x4, x5, [sp, #32]",
            "stp x6, x7, [sp, #48]",
            "stp x8, x9, [sp, #64]",
            "stp x10, x11, [sp, #80]",
            "stp x12, x13, [sp, #96]",
            "stp x14, x15, [sp, #112]",
            "stp x16, x17, [sp, #128]",
            "str x18, [sp, #144]",
            "stp q0, q1, [sp, #160]",
            "stp q2, q3, [sp, #192]",
            "stp q4, q5, [sp, #224]",
            "stp q6, q7, [sp, #256]",
            "stp q8, q9, [sp, #288]",
            "stp q10, q11, [sp, #320]",
            "stp q12, q13, [sp, #352]",
            "stp q14, q15, [sp, #384]",
            "stp q16, q17, [sp, #416]",
            "stp q18, q19, [sp, #448]",
            "stp q20, q21, [sp, #480]",
            "stp q22, q23, [sp, #512]",
            "stp q24, q25, [sp, #544]",
            "stp q26, q27, [sp, #576]",
            "stp q28, q29, [sp, #608]",
            "stp q30, q31, [sp, #640]",
            "bl {target}",
            "ldp x0, x1, [sp]",
            "ldp x2, x3, [sp, #16]",
            "ldp x4, x5, [sp, #32]",
            "ldp x6, x7, [sp, #48]",
            "ldp x8, x9, [sp, #64]",
            "ldp x10, x11, [sp, #80]",
            "ldp x12, x13, [sp, #96]",
            "ldp x14, x15, [sp, #112]",
            "ldp x16, x17, [sp, #128]",
            "ldr x18, [sp, #144]",
            "ldp q0, q1, [sp, #160]",
            "ldp q2, q3, [sp, #192]",
            "ldp q4, q5, [sp, #224]",
            "ldp q6, q7, [sp, #256]",
            "ldp q8, q9, [sp, #288]",
            "ldp q10, q11, [sp, #320]",
            "ldp q12, q13, [sp, #352]",
            "ldp q14, q15, [sp, #384]",
            "ldp q16, q17, [sp, #416]",
            "ldp q18, q19, [sp, #448]",
            "ldp q20, q21, [sp, #480]",
            "ldp q22, q23, [sp, #512]",
            "ldp q24, q25, [sp, #544]",
            "ldp q26, q27, [sp, #576]",
            "ldp q28, q29, [sp, #608]",
            "ldp q30, q31, [sp, #640]",
            "add sp, sp, #672",
            "ldp x29, x30, [sp], #16",
            "ret",
            target = sym $target,
        )
    };
}
pub(crate) use preserving_call;

/// Saves the registers that functions must keep, and goes on with another stack, at the
/// place where its last call of this function was.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn switch_stacks(save: *mut usize, to: usize) {
    core::arch::naked_asm!(
        "sub sp, sp, #160",
        "stp x19, x20, [sp]",
        "stp x21, x22, [sp, #16]",
        "stp x23, x24, [sp, #32]",
        "stp x25, x26, [sp, #48]",
        "stp x27, x28, [sp, #64]",
        "stp x29, x30, [sp, #80]",
        "stp d8, d9, [sp, #96]",
        "stp d10, d11, [sp, #112]",
        "stp d12, d13, [sp, #128]",
        "stp d14, d15, [sp, #144]",
        "mov x9, sp",
        "str x9, [x0]",
        "mov sp, x1",
        "ldp x19, x20, [sp]",
        "ldp x21, x22, [sp, #16]",
        "ldp x23, x24, [sp, #32]",
        "ldp x25, x26, [sp, #48]",
        "ldp x27, x28, [sp, #64]",
        "ldp x29, x30, [sp, #80]",
        "ldp d8, d9, [sp, #96]",
        "ldp d10, d11, [sp, #112]",
        "ldp d12, d13, [sp, #128]",
        "ldp d14, d15, [sp, #144]",
        "add sp, sp, #160",
        "ret",
    )
}

/// The registers that functions must keep and that hold addresses, and last the stack pointer; 0 if they
/// were not saved.
pub(crate) type SavedRegisters = [usize; 13];

/// Saves the registers that functions must keep, and the stack pointer.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn save_registers(to: *mut SavedRegisters) {
    core::arch::naked_asm!(
        "stp x19, x20, [x0]",
        "stp x21, x22, [x0, #16]",
        "stp x23, x24, [x0, #32]",
        "stp x25, x26, [x0, #48]",
        "stp x27, x28, [x0, #64]",
        "stp x29, x30, [x0, #80]",
        "mov x9, sp",
        "str x9, [x0, #96]",
        "ret",
    )
}

/// Makes a stack that ends at an address look as if [`switch_stacks`] had been called at the start
/// of a function: its stack pointer.
///
/// # Safety
/// There is room below that address, which is a multiple of 16.
pub(crate) unsafe fn new_stack(end: usize, function: usize) -> usize {
    const WORDS: usize = 20;
    let frame = (end as *mut usize).wrapping_sub(WORDS);
    // SAFETY: the caller has a stack that ends at `end`, with room for these words.
    unsafe {
        frame.write_bytes(0, WORDS);
        // What the call would return to.
        *frame.add(11) = function;
    }
    frame as usize
}

pub(super) const COUNT: usize = 32;
pub(super) const SP: usize = 31;
pub(super) const FP: usize = 29;
pub(super) const LINK: Option<usize> = Some(30);
/// `stp x29, x30, [sp, #-16]!; mov x29, sp`
pub(super) const FRAME: &[u8] = &[0xfd, 0x7b, 0xbf, 0xa9, 0xfd, 0x03, 0x00, 0x91];

/// The registers that a signal handler is told of.
///
/// # Safety
/// The system has given this to a signal handler.
pub(crate) unsafe fn registers(context: *const c_void) -> Registers {
    // After flags, link, the stack and 128 bytes for signals, at a multiple of 16: the address of
    // the fault, x0 to x30, sp, pc.
    const GENERAL: usize = 23;
    let words = context.cast::<usize>();
    // SAFETY: the kernel's structure is larger.
    unsafe {
        Registers {
            pc: *words.add(GENERAL + COUNT),
            values: core::array::from_fn(|i| Some(*words.add(GENERAL + i))),
        }
    }
}

/// The registers of the function that this is inlined into.
#[inline(always)]
pub(crate) fn current_registers() -> Registers {
    let mut words = [0; 14];
    // SAFETY: the array has room for all.
    unsafe {
        core::arch::asm!(
            "stp x19, x20, [{words}]",
            "stp x21, x22, [{words}, #16]",
            "stp x23, x24, [{words}, #32]",
            "stp x25, x26, [{words}, #48]",
            "stp x27, x28, [{words}, #64]",
            "stp x29, x30, [{words}, #80]",
            "mov {other}, sp",
            "str {other}, [{words}, #96]",
            "adr {other}, .",
            "str {other}, [{words}, #104]",
            words = in(reg) words.as_mut_ptr(),
            other = out(reg) _,
            options(nostack, preserves_flags),
        );
    }
    let mut values = [None; COUNT];
    for (value, word) in values[19..].iter_mut().zip(words) {
        *value = Some(word);
    }
    let [.., pc] = words;
    Registers { pc, values }
}

/// Whether the instruction before an address is a call.
///
/// # Safety
/// There is code before that address, of a few instructions at the least.
pub(crate) unsafe fn follows_call(address: usize) -> bool {
    if !address.is_multiple_of(4) {
        return false;
    }
    // SAFETY: there is code in the four bytes before `address`, a multiple of four.
    let instruction = unsafe { *((address - 4) as *const u32) };
    let bl = instruction & 0xfc00_0000 == 0x9400_0000;
    let blr = instruction & 0xffff_fc1f == 0xd63f_0000;
    bl || blr
}
