//! The programs in fixtures/, and how their runs are compared.

use std::path::{Path, PathBuf};
use std::process::Output;

/// Target file below fixtures/programs, and arguments of a short run.
pub(crate) const PROGRAMS: &[(&str, &[&str])] = &[
    ("richards.py", &["1"]),
    ("deltablue.py", &["20"]),
    ("nbody.py", &["100"]),
    ("spectralnorm.py", &["20"]),
    ("fannkuch.py", &["6"]),
    ("binarytrees.py", &["6"]),
    ("wordcount.py", &["50"]),
    ("raising.py", &["60"]),
    ("shapes.py", &["20"]),
    ("brainfuck.py", &["1"]),
    ("life.py", &["15"]),
    ("lisp.py", &["1"]),
    ("huffman.py", &["100"]),
    ("graphs.py", &["6"]),
    ("scanner.py", &["2"]),
    ("grammar.py", &[]),
    ("erased.py", &["30"]),
    ("files.py", &[]),
    ("bignums.py", &["40"]),
    ("opcodes.py", &["20"]),
    ("jit/plusminus.py", &["50"]),
    ("jit/registers.py", &[]),
    ("jit/stack.py", &[]),
    ("jit/lisp.py", &[]),
    ("quill/targetquill.py", &[]),
    ("quill/targetquill.py", &["quill/demo/closures.ql"]),
    ("quill/targetquill.py", &["quill/demo/sieve.ql"]),
    ("quill/targetquill.py", &["quill/demo/errors.ql"]),
    ("quill/targetquill.py", &["quill/demo/missing.ql"]),
];

/// The folder that they are in.
pub(crate) fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/programs")
}

/// What a process printed, and how it ended.
pub(crate) fn outcome(o: &Output) -> (String, Option<i32>) {
    (
        String::from_utf8_lossy(&o.stdout).into_owned(),
        o.status.code(),
    )
}
