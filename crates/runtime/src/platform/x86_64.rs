//! x86-64.

use core::ffi::c_void;

use super::Registers;

/// The body of a function that saves all registers, calls one with C's conventions and restores
/// them. Of vector registers 128 bits are saved: emitted code uses no more.
macro_rules! preserving_call {
    ($target:path) => {
        core::arch::naked_asm!(
            "push rbp",
            "mov rbp, rsp",
            "push rax",
            "push rcx",
            "push rdx",
            "push rsi",
            "push rdi",
            "push r8",
            "push r9",
            "push r10",
            "push r11",
            "sub rsp, 264",
            "movups [rsp], xmm0",
            "movups [rsp + 16], xmm1",
            "movups [rsp + 32], xmm2",
            "movups [rsp + 48], xmm3",
            "movups [rsp + 64], xmm4",
            "movups [rsp + 80], xmm5",
            "movups [rsp + 96], xmm6",
            "movups [rsp + 112], xmm7",
            "movups [rsp + 128], xmm8",
            "movups [rsp + 144], xmm9",
            "movups [rsp + 160], xmm10",
            "movups [rsp + 176], xmm11",
            "movups [rsp + 192], xmm12",
            "movups [rsp + 208], xmm13",
            "movups [rsp + 224], xmm14",
            "movups [rsp + 240], xmm15",
            "call {target}",
            "movups xmm0, [rsp]",
            "movups xmm1, [rsp + 16]",
            "movups xmm2, [rsp + 32]",
            "movups xmm3, [rsp + 48]",
            "movups xmm4, [rsp + 64]",
            "movups xmm5, [rsp + 80]",
            "movups xmm6, [rsp + 96]",
            "movups xmm7, [rsp + 112]",
            "movups xmm8, [rsp + 128]",
            "movups xmm9, [rsp + 144]",
            "movups xmm10, [rsp + 160]",
            "movups xmm11, [rsp + 176]",
            "movups xmm12, [rsp + 192]",
            "movups xmm13, [rsp + 208]",
            "movups xmm14, [rsp + 224]",
            "movups xmm15, [rsp + 240]",
            "add rsp, 264",
            "pop r11",
            "pop r10",
            "pop r9",
            "pop r8",
            "pop rdi",
            "pop rsi",
            "pop rdx",
            "pop rcx",
            "pop rax",
            "pop rbp",
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
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "mov [rdi], rsp",
        "mov rsp, rsi",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
    )
}

/// The registers that functions must keep, and last the stack pointer; 0 if they were not saved.
pub(crate) type SavedRegisters = [usize; 7];

/// Saves the registers that functions must keep, and the stack pointer.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn save_registers(to: *mut SavedRegisters) {
    core::arch::naked_asm!(
        "mov [rdi], rbx",
        "mov [rdi + 8], rbp",
        "mov [rdi + 16], r12",
        "mov [rdi + 24], r13",
        "mov [rdi + 32], r14",
        "mov [rdi + 40], r15",
        "mov [rdi + 48], rsp",
        "ret",
    )
}

/// Makes a stack that ends at an address look as if [`switch_stacks`] had been called at the start
/// of a function: its stack pointer.
///
/// # Safety
/// There is room below that address, which is a multiple of 16.
pub(crate) unsafe fn new_stack(end: usize, function: usize) -> usize {
    // Six registers, where to return to, and what makes the stack look as if that had been called.
    let frame = (end as *mut usize).wrapping_sub(8);
    // SAFETY: the caller has a stack that ends at `end`, with room for these words.
    unsafe {
        frame.write_bytes(0, 8);
        *frame.add(6) = function;
    }
    frame as usize
}

pub(super) const COUNT: usize = 17;
pub(super) const SP: usize = 7;
pub(super) const FP: usize = 6;
pub(super) const LINK: Option<usize> = None;
/// `push rbp; mov rbp, rsp`
pub(super) const FRAME: &[u8] = &[0x55, 0x48, 0x89, 0xe5];

/// The registers that a signal handler is told of.
///
/// # Safety
/// The system has given this to a signal handler.
pub(crate) unsafe fn registers(context: *const c_void) -> Registers {
    // After flags, link and the stack: r8 to r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip.
    const GENERAL: usize = 5;
    /// By DWARF's numbers: rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8 to r15, rip.
    const PLACES: [usize; COUNT] = [13, 12, 14, 11, 9, 8, 10, 15, 0, 1, 2, 3, 4, 5, 6, 7, 16];
    let words = context.cast::<usize>();
    // SAFETY: the kernel's structure is larger.
    let values = PLACES.map(|i| unsafe { *words.add(GENERAL + i) });
    Registers {
        pc: values[16],
        values: values.map(Some),
    }
}

/// The registers of the function that this is inlined into.
#[inline(always)]
pub(crate) fn current_registers() -> Registers {
    let mut words = [0; 8];
    // SAFETY: the array has room for all.
    unsafe {
        core::arch::asm!(
            "mov [{words}], rbx",
            "mov [{words} + 8], rbp",
            "mov [{words} + 16], rsp",
            "mov [{words} + 24], r12",
            "mov [{words} + 32], r13",
            "mov [{words} + 40], r14",
            "mov [{words} + 48], r15",
            "lea {pc}, [rip]",
            "mov [{words} + 56], {pc}",
            words = in(reg) words.as_mut_ptr(),
            pc = out(reg) _,
            options(nostack, preserves_flags),
        );
    }
    let mut values = [None; COUNT];
    for (i, word) in [3, FP, SP, 12, 13, 14, 15, 16].into_iter().zip(words) {
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
