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

/// Makes a stack that ends at an address look as if [`switch_stacks`] had been called at the start
/// of a function: its stack pointer.
///
/// # Safety
/// There is room below that address, which is a multiple of 16.
pub(crate) unsafe fn new_stack(end: usize, function: usize) -> usize {
    // Six registers, where to return to, and what makes the stack look as if that had been called.
    let frame = (end as *mut usize).wrapping_sub(8);
    // SAFETY: by contract.
    unsafe {
        frame.write_bytes(0, 8);
        *frame.add(6) = function;
    }
    frame as usize
}

/// The registers that a signal handler is told of.
///
/// # Safety
/// The system has given this to a signal handler.
pub(crate) unsafe fn registers(context: *const c_void) -> Registers {
    // After flags, link and the stack: r8 to r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip.
    const GENERAL: usize = 5;
    let words = context.cast::<usize>();
    // SAFETY: the kernel's structure is larger.
    unsafe {
        Registers {
            pc: *words.add(GENERAL + 16),
            sp: *words.add(GENERAL + 15),
            fp: *words.add(GENERAL + 10),
            link: None,
        }
    }
}

/// Whether the instruction before an address is a call.
///
/// # Safety
/// There is code before that address, of a few instructions at the least.
pub(crate) unsafe fn follows_call(address: usize) -> bool {
    // SAFETY: by contract.
    let byte = |back: usize| unsafe { *((address - back) as *const u8) };
    byte(5) == 0xe8 || (2..=4).any(|n| byte(n) == 0xff && byte(n - 1) & 0x38 == 0x10)
}
