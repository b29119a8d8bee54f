//! A program whose modules are called as files are that back ends make, as words of C, or differ
//! in case alone; with a C library.

use std::fs;

/// Names of modules, each with a function.
const MODULES: &[&str] = &[
    "data",
    "Data",
    "DATA",
    "support",
    "runtime",
    "imports",
    "libraries",
    "taipan",
    "taipan_data",
    "taipan_support",
    "taipan_runtime",
    "int",
    "stdio",
    "module0",
    "clean",
    "shapes_circle",
    "shapes.circle",
];

const MAIN: &str = "\
from rpython.rtyper.lltypesystem import lltype, rffi
from rpython.translator.tool.cbuild import ExternalCompilationInfo

eci = ExternalCompilationInfo(
    post_include_bits=['int twice(int n);'],
    separate_module_sources=['int twice(int n) { return 2 * n; }'])
twice = rffi.llexternal('twice', [rffi.INT], rffi.INT, compilation_info=eci)

NAMES = ['NULL', 'int', 'int_', 'int__', 'i386', 'linux', 'header', 'rpy_state']
WORDS = lltype.Struct('words', *[(name, lltype.Signed) for name in NAMES])

def entry_point(argv):
    n = len(argv)
    words = lltype.malloc(WORDS, flavor='raw')
    words.NULL, words.int, words.int_, words.int__ = n, n + 1, n + 2, n + 3
    words.i386, words.linux, words.header, words.rpy_state = n + 4, n + 5, n + 6, n + 7
    print words.NULL, words.int, words.int_, words.int__
    print words.i386, words.linux, words.header, words.rpy_state
    lltype.free(words, flavor='raw')
    print rffi.cast(lltype.Signed, twice(rffi.cast(rffi.INT, n)))
";

/// What the program prints.
pub(crate) fn printed() -> String {
    let sums =
        (0..MODULES.len()).map(|i| format!("{}\n", (0..4).map(|k| k * i + 4).sum::<usize>()));
    format!("1 2 3 4\n5 6 7 8\n2\n{}", sums.collect::<String>())
}

/// The program, in a folder of its own: its target is `main.py`.
pub(crate) fn write() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::create_dir(at.join("shapes")).unwrap();
    fs::write(at.join("shapes/__init__.py"), "").unwrap();
    let mut main = String::new();
    let mut calls = String::new();
    for (i, name) in MODULES.iter().enumerate() {
        let text = format!(
            "def f(n):\n    s = 0\n    for i in range(n):\n        s += i * {i} + n\n    return s\n"
        );
        fs::write(at.join(format!("{}.py", name.replace('.', "/"))), text).unwrap();
        main += &format!("import {name}\n");
        calls += &format!("    print {name}.f(n + 3)\n");
    }
    fs::write(
        at.join("main.py"),
        format!("{main}{MAIN}{calls}    return 0\n"),
    )
    .unwrap();
    folder
}
