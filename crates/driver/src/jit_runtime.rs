//! The executable that programs with a just-in-time compiler are put behind (crate `jit-runtime`), as
//! bytes.

use std::arch::global_asm;

// The assembler reads the file, and not the compiler: where a crate is only checked there is none. It is newer
// whenever crate `jit-runtime` is, which this crate depends on, so that this is compiled anew; the number sees to it
// that this part is, too.
global_asm!(
    concat!(
        ".set taipan_jit_runtime_stamp, ",
        taipan_jit_embed::stamp!("TAIPAN_JIT_RUNTIME")
    ),
    ".pushsection .rodata.taipan_jit_runtime, \"a\"",
    ".globl taipan_jit_runtime_start",
    ".globl taipan_jit_runtime_end",
    ".p2align 4",
    "taipan_jit_runtime_start:",
    concat!(".incbin \"", env!("TAIPAN_JIT_RUNTIME"), "\""),
    "taipan_jit_runtime_end:",
    ".popsection",
);

unsafe extern "C" {
    static taipan_jit_runtime_start: u8;
    static taipan_jit_runtime_end: u8;
}

/// The executable.
pub(crate) fn runtime() -> &'static [u8] {
    let (start, end) = (
        &raw const taipan_jit_runtime_start,
        &raw const taipan_jit_runtime_end,
    );
    // SAFETY: both are symbols of one section, which is never written to, and the bytes of the file are
    // between them.
    unsafe { std::slice::from_raw_parts(start, end as usize - start as usize) }
}
