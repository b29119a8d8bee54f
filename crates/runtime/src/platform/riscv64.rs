//! riscv64, with the extensions that Linux distributions ask for: `riscv64gc`.

use core::ffi::c_void;

use super::Registers;

/// The body of a function that saves all registers, calls one with C's conventions and restores
/// them.
macro_rules! preserving_call {
    ($target:path) => {
        core::arch::naked_asm!(
            "addi sp, sp, -288",
            "sd ra, 0(sp)",
            "sd t0, 8(sp)",
            "sd t1, 16(sp)",
            "sd t2, 24(sp)",
            "sd t3, 32(sp)",
            "sd t4, 40(sp)",
            "sd t5, 48(sp)",
            "sd t6, 56(sp)",
            "sd a0, 64(sp)",
            "sd a1, 72(sp)",
            "sd a2, 80(sp)",
            "sd a3, 88(sp)",
            "sd a4, 96(sp)",
            "sd a5, 104(sp)",
            "sd a6, 112(sp)",
            "sd a7, 120(sp)",
            "fsd ft0, 128(sp)",
            "fsd ft1, 136(sp)",
            "fsd ft2, 144(sp)",
            "fsd ft3, 152(sp)",
            "fsd ft4, 160(sp)",
            "fsd ft5, 168(sp)",
            "fsd ft6, 176(sp)",
            "fsd ft7, 184(sp)",
            "fsd ft8, 192(sp)",
            "fsd ft9, 200(sp)",
            "fsd ft10, 208(sp)",
            "fsd ft11, 216(sp)",
            "fsd fa0, 224(sp)",
            "fsd fa1, 232(sp)",
            "fsd fa2, 240(sp)",
            "fsd fa3, 248(sp)",
            "fsd fa4, 256(sp)",
            "fsd fa5, 264(sp)",
            "fsd fa6, 272(sp)",
            "fsd fa7, 280(sp)",
            "call {target}",
            "ld ra, 0(sp)",
            "ld t0, 8(sp)",
            "ld t1, 16(sp)",
            "ld t2, 24(sp)",
            "ld t3, 32(sp)",
            "ld t4, 40(sp)",
            "ld t5, 48(sp)",
            "ld t6, 56(sp)",
            "ld a0, 64(sp)",
            "ld a1, 72(sp)",
            "ld a2, 80(sp)",
            "ld a3, 88(sp)",
            "ld a4, 96(sp)",
            "ld a5, 104(sp)",
            "ld a6, 112(sp)",
            "ld a7, 120(sp)",
            "fld ft0, 128(sp)",
            "fld ft1, 136(sp)",
            "fld ft2, 144(sp)",
            "fld ft3, 152(sp)",
            "fld ft4, 160(sp)",
            "fld ft5, 168(sp)",
            "fld ft6, 176(sp)",
            "fld ft7, 184(sp)",
            "fld ft8, 192(sp)",
            "fld ft9, 200(sp)",
            "fld ft10, 208(sp)",
            "fld ft11, 216(sp)",
            "fld fa0, 224(sp)",
            "fld fa1, 232(sp)",
            "fld fa2, 240(sp)",
            "fld fa3, 248(sp)",
            "fld fa4, 256(sp)",
            "fld fa5, 264(sp)",
            "fld fa6, 272(sp)",
            "fld fa7, 280(sp)",
            "addi sp, sp, 288",
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
        "addi sp, sp, -208",
        "sd ra, 0(sp)",
        "sd s0, 8(sp)",
        "sd s1, 16(sp)",
        "sd s2, 24(sp)",
        "sd s3, 32(sp)",
        "sd s4, 40(sp)",
        "sd s5, 48(sp)",
        "sd s6, 56(sp)",
        "sd s7, 64(sp)",
        "sd s8, 72(sp)",
        "sd s9, 80(sp)",
        "sd s10, 88(sp)",
        "sd s11, 96(sp)",
        "fsd fs0, 104(sp)",
        "fsd fs1, 112(sp)",
        "fsd fs2, 120(sp)",
        "fsd fs3, 128(sp)",
        "fsd fs4, 136(sp)",
        "fsd fs5, 144(sp)",
        "fsd fs6, 152(sp)",
        "fsd fs7, 160(sp)",
        "fsd fs8, 168(sp)",
        "fsd fs9, 176(sp)",
        "fsd fs10, 184(sp)",
        "fsd fs11, 192(sp)",
        "sd sp, 0(a0)",
        "mv sp, a1",
        "ld ra, 0(sp)",
        "ld s0, 8(sp)",
        "ld s1, 16(sp)",
        "ld s2, 24(sp)",
        "ld s3, 32(sp)",
        "ld s4, 40(sp)",
        "ld s5, 48(sp)",
        "ld s6, 56(sp)",
        "ld s7, 64(sp)",
        "ld s8, 72(sp)",
        "ld s9, 80(sp)",
        "ld s10, 88(sp)",
        "ld s11, 96(sp)",
        "fld fs0, 104(sp)",
        "fld fs1, 112(sp)",
        "fld fs2, 120(sp)",
        "fld fs3, 128(sp)",
        "fld fs4, 136(sp)",
        "fld fs5, 144(sp)",
        "fld fs6, 152(sp)",
        "fld fs7, 160(sp)",
        "fld fs8, 168(sp)",
        "fld fs9, 176(sp)",
        "fld fs10, 184(sp)",
        "fld fs11, 192(sp)",
        "addi sp, sp, 208",
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
    const WORDS: usize = 26;
    let frame = (end as *mut usize).wrapping_sub(WORDS);
    // SAFETY: the caller has a stack that ends at `end`, with room for these words.
    unsafe {
        frame.write_bytes(0, WORDS);
        // What the call would return to.
        *frame.add(0) = function;
    }
    frame as usize
}

pub(super) const COUNT: usize = 32;
pub(super) const SP: usize = 2;
pub(super) const FP: usize = 8;
pub(super) const LINK: Option<usize> = Some(1);
/// `addi sp, sp, -16; sd ra, 8(sp)`
pub(super) const FRAME: &[u8] = &[0x13, 0x01, 0x01, 0xff, 0x23, 0x34, 0x11, 0x00];

/// The registers that a signal handler is told of.
///
/// # Safety
/// The system has given this to a signal handler.
pub(crate) unsafe fn registers(context: *const c_void) -> Registers {
    // After flags, link, the stack and 128 bytes for signals, at a multiple of 16: pc, then x1 to
    // x31.
    const GENERAL: usize = 22;
    let words = context.cast::<usize>();
    // SAFETY: the kernel's structure is larger.
    unsafe {
        Registers {
            pc: *words.add(GENERAL),
            values: core::array::from_fn(|i| match i {
                0 => Some(0),
                i => Some(*words.add(GENERAL + i)),
            }),
        }
    }
}

/// The registers of the function that this is inlined into.
#[inline(always)]
pub(crate) fn current_registers() -> Registers {
    let mut words = [0; 15];
    // SAFETY: the array has room for all.
    unsafe {
        core::arch::asm!(
            "sd s0, 0({words})",
            "sd s1, 8({words})",
            "sd s2, 16({words})",
            "sd s3, 24({words})",
            "sd s4, 32({words})",
            "sd s5, 40({words})",
            "sd s6, 48({words})",
            "sd s7, 56({words})",
            "sd s8, 64({words})",
            "sd s9, 72({words})",
            "sd s10, 80({words})",
            "sd s11, 88({words})",
            "sd sp, 96({words})",
            "sd ra, 104({words})",
            "auipc {pc}, 0",
            "sd {pc}, 112({words})",
            words = in(reg) words.as_mut_ptr(),
            pc = out(reg) _,
            options(nostack, preserves_flags),
        );
    }
    let mut values = [None; COUNT];
    let numbers = [8, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, SP, 1];
    for (i, word) in numbers.into_iter().zip(words) {
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
    if !address.is_multiple_of(2) {
        return false;
    }
    // SAFETY: there is code in the four bytes before `address`, a multiple of two.
    let half = |back: usize| unsafe { u32::from(*((address - back) as *const u16)) };
    // `jal` and `jalr` that leave in x1 where to return to, and the short form of the latter.
    let long = half(4);
    let short = half(2);
    matches!(long & 0xfff, 0x0ef | 0x0e7) || (short & 0xf07f == 0x9002 && short & 0xf80 != 0)
}
