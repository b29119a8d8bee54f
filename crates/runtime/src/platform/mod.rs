//! What differs from machine to machine: the functions that save registers, how stacks are
//! switched, and where a signal handler finds registers. All of it is for Linux; what the
//! C library has is nearly the same on all machines (`sys.rs`).
//!
//! Each machine has a file with the same items:
//!
//! - `preserving_call!(function)`: the body of a naked function that calls another one and leaves
//!   every register as it was, for [`crate::gc::slow`]; programs for 32-bit x86 are made by C compilers,
//!   which expect no such thing;
//! - `switch_stacks` and `new_stack`, for [`crate::stacklet`];
//! - `save_registers` with `SavedRegisters`, for [`crate::threads`] under the conservative collector;
//! - `registers`, `current_registers`, `follows_call`, and constants about registers, for [`crate::crash`].

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "riscv64")]
mod riscv64;
#[cfg(target_arch = "x86")]
mod x86;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
use aarch64 as machine;
#[cfg(target_arch = "aarch64")]
pub(crate) use aarch64::{
    SavedRegisters, current_registers, follows_call, new_stack, preserving_call, registers,
    save_registers, switch_stacks,
};
#[cfg(target_arch = "riscv64")]
use riscv64 as machine;
#[cfg(target_arch = "riscv64")]
pub(crate) use riscv64::{
    SavedRegisters, current_registers, follows_call, new_stack, preserving_call, registers,
    save_registers, switch_stacks,
};
#[cfg(target_arch = "x86")]
use x86 as machine;
#[cfg(target_arch = "x86")]
pub(crate) use x86::{
    SavedRegisters, current_registers, follows_call, new_stack, registers, save_registers,
    switch_stacks,
};
#[cfg(target_arch = "x86_64")]
use x86_64 as machine;
#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::{
    SavedRegisters, current_registers, follows_call, new_stack, preserving_call, registers,
    save_registers, switch_stacks,
};

#[cfg(not(any(
    target_arch = "aarch64",
    target_arch = "riscv64",
    target_arch = "x86",
    target_arch = "x86_64"
)))]
compile_error!("the runtime knows x86, x86-64, aarch64 and riscv64");

/// Where a signal handler is told of the address that could not be used, in bytes.
pub(crate) const FAULT_ADDRESS: usize = if usize::BITS < 64 { 12 } else { 16 };

/// Registers of a function that runs, as far as they are known.
#[derive(Clone, Copy)]
pub(crate) struct Registers {
    /// An address in the instruction that is executed.
    pub(crate) pc: usize,
    /// By DWARF's numbers.
    pub(crate) values: [Option<usize>; Registers::COUNT],
}

impl Registers {
    /// How many have a number, without those of floats and vectors.
    pub(crate) const COUNT: usize = machine::COUNT;
    /// The number of the stack pointer.
    pub(crate) const SP: usize = machine::SP;
    /// The number of the frame pointer.
    pub(crate) const FP: usize = machine::FP;
    /// The number of the one that has the return address of a function that calls none, on machines whose
    /// calls leave it in a register.
    pub(crate) const LINK: Option<usize> = machine::LINK;
    /// How functions begin that keep a frame pointer, as Cranelift makes them: below the address of the
    /// frame are the caller's frame pointer and the return address.
    pub(crate) const FRAME: &'static [u8] = machine::FRAME;

    pub(crate) fn sp(&self) -> Option<usize> {
        self.values[Registers::SP]
    }

    pub(crate) fn fp(&self) -> Option<usize> {
        self.values[Registers::FP]
    }
}
