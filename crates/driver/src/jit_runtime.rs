//! The bytes of the executable to which programs with a JIT are appended (crate `jit-runtime`).

use std::arch::global_asm;

// The assembler reads the file, so `cargo check` works without it. The file changes only with crate `jit-runtime`, a
// dependency, so cargo recompiles this crate then. The stamp changes the assembler text, so that an incremental build
// does not reuse the old object code.
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
