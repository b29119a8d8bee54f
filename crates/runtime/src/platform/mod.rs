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
//! - `registers` and `follows_call`, for [`crate::crash`].

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "riscv64")]
mod riscv64;
#[cfg(target_arch = "x86")]
mod x86;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
pub(crate) use aarch64::{follows_call, new_stack, preserving_call, registers, switch_stacks};
#[cfg(target_arch = "riscv64")]
pub(crate) use riscv64::{follows_call, new_stack, preserving_call, registers, switch_stacks};
#[cfg(target_arch = "x86")]
pub(crate) use x86::{follows_call, new_stack, registers, switch_stacks};
#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::{follows_call, new_stack, preserving_call, registers, switch_stacks};

#[cfg(not(any(
    target_arch = "aarch64",
    target_arch = "riscv64",
    target_arch = "x86",
    target_arch = "x86_64"
)))]
compile_error!("the runtime knows x86, x86-64, aarch64 and riscv64");

/// Where a signal handler is told of the address that could not be used, in bytes.
pub(crate) const FAULT_ADDRESS: usize = if usize::BITS < 64 { 12 } else { 16 };

/// Registers at a fault, as far as they matter.
pub(crate) struct Registers {
    pub(crate) pc: usize,
    pub(crate) sp: usize,
    pub(crate) fp: usize,
    /// Where a function returns to that has not written that to the stack, on machines whose
    /// calls leave it in a register.
    pub(crate) link: Option<usize>,
}
