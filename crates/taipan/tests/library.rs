//! `taipan build --shared` and `rpython --shared`: libraries that C programs and ctypes call.

use std::path::Path;
use std::process::{Command, Output};

const TARGET: &str = "\
from rpython.rlib.entrypoint import entrypoint_highlevel, entrypoint_lowlevel
from rpython.rtyper.lltypesystem import lltype, rffi

class Words(object):
    def __init__(self):
        self.all = []

words = Words()

@entrypoint_highlevel('main', [int, lltype.Signed], c_name='lib_add')
def add(a, b):
    return a + b

@entrypoint_highlevel('main', [float, rffi.INT])
def scaled(x, n):
    return x * n

@entrypoint_highlevel('main', [rffi.CCHARP], c_name='remember')
def remember(p):
    words.all.append(rffi.charp2str(p) + '!' * len(words.all))

@entrypoint_highlevel('main', [], c_name='longest')
def longest():
    best = ''
    for w in words.all:
        if len(w) > len(best):
            best = w
    return rffi.str2charp(best)

@entrypoint_highlevel('main', [lltype.Signed], c_name='is_odd')
def is_odd(n):
    return bool(n & 1)

@entrypoint_lowlevel('others', [lltype.Signed], c_name='nth_length')
def nth_length(n):
    if n >= len(words.all):
        raise IndexError
    return len(words.all[n])

def entry_point(argv):
    print 'main', ' '.join(argv[1:]), add(1, 2)
    return len(argv)

def target(driver, args):
    driver.exe_name = 'targetlib-%(backend)s'
    return entry_point, None
";

const CALLER: &str = r#"
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

int rpython_startup_code(void);
int64_t lib_add(int64_t, int64_t);
double scaled(double, int);
void remember(const char *);
char *longest(void);
_Bool is_odd(int64_t);
int64_t nth_length(int64_t);

static void *work(void *word)
{
    for (int i = 0; i < 500; i++)
        remember(word);
    return NULL;
}

int main(int argc, char **argv)
{
    int first = rpython_startup_code();
    printf("%d %d\n", first, rpython_startup_code());
    printf("%d %g %d %d\n", (int)lib_add(40, 2), scaled(1.5, 3), is_odd(3), is_odd(4));
    remember("one");
    remember("seven");
    printf("%s %d\n", longest(), (int)nth_length(1));
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, work, "x");
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", (int)strlen(longest()));
    fflush(stdout);
    if (argc > 1)
        nth_length(100000);
    return 0;
}
"#;

const PRINTED: &str = "0 67\n42 4.5 1 0\nseven! 6\n2002\n";

fn folder(target: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("targetlib.py"), target).unwrap();
    folder
}

fn run(folder: &Path, program: &str, args: &[&str]) -> Output {
    let mut command = Command::new(program);
    command.current_dir(folder).args(args).output().unwrap()
}

fn build(folder: &Path, args: &[&str]) -> Output {
    run(folder, env!("CARGO_BIN_EXE_taipan"), args)
}

fn stdout(o: &Output) -> &str {
    std::str::from_utf8(&o.stdout).unwrap()
}

fn stderr(o: &Output) -> &str {
    std::str::from_utf8(&o.stderr).unwrap()
}

/// A C program calls the functions, also from several threads, and the executable calls the entry point.
#[test]
fn functions_for_c() {
    let folder = folder(TARGET);
    let folder = folder.path();
    let made = build(
        folder,
        &[
            "rpython",
            "--batch",
            "-O2",
            "--shared",
            "--entrypoints=main,others",
            "targetlib.py",
        ],
    );
    assert!(made.status.success(), "{made:?}");
    let started = run(folder, "./targetlib-c", &["a", "b"]);
    assert_eq!(stdout(&started), "main a b 3\n");
    assert_eq!(started.status.code(), Some(3));
    std::fs::write(folder.join("caller.c"), CALLER).unwrap();
    let compiled = run(
        folder,
        "cc",
        &[
            "caller.c",
            "-o",
            "caller",
            "./libtargetlib-c.so",
            "-Wl,-rpath,$ORIGIN",
            "-lpthread",
        ],
    );
    assert!(compiled.status.success(), "{compiled:?}");
    let called = run(folder, "./caller", &[]);
    assert_eq!(stdout(&called), PRINTED, "{called:?}");
    let stressed = Command::new("./caller")
        .current_dir(folder)
        .env("TAIPAN_GC_STRESS", "1")
        .output()
        .unwrap();
    assert_eq!(stdout(&stressed), PRINTED, "{stressed:?}");
    // An exception that C code cannot catch.
    let raised = run(folder, "./caller", &["raise"]);
    assert_eq!(stdout(&raised), PRINTED);
    assert!(!raised.status.success());
    assert!(
        stderr(&raised).contains("in targetlib.nth_length"),
        "{raised:?}"
    );
    assert!(
        stderr(&raised).ends_with("Fatal RPython error: IndexError\n"),
        "{raised:?}"
    );
}

/// Functions under other keys are left out, and so is all that the library has of its own.
#[test]
fn symbols() {
    let folder = folder(TARGET);
    let folder = folder.path();
    let made = build(
        folder,
        &["build", "-q", "--shared", "-o", "words", "targetlib.py"],
    );
    assert!(made.status.success(), "{made:?}");
    let symbols = run(folder, "nm", &["-D", "--defined-only", "libwords.so"]);
    let mut names: Vec<&str> = stdout(&symbols)
        .lines()
        .filter_map(|l| l.rsplit(' ').next())
        .collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "is_odd",
            "lib_add",
            "longest",
            "pypy_main_startup",
            "remember",
            "rpython_startup_code",
            "scaled"
        ]
    );
    assert!(run(folder, "./words", &[]).status.code() == Some(1));
}

#[test]
fn ctypes() {
    let folder = folder(TARGET);
    let folder = folder.path();
    let made = build(
        folder,
        &["build", "-q", "--shared", "-o", "words", "targetlib.py"],
    );
    assert!(made.status.success(), "{made:?}");
    let script = "import ctypes\n\
                  lib = ctypes.CDLL('./libwords.so')\n\
                  print(lib.rpython_startup_code())\n\
                  lib.lib_add.restype = ctypes.c_long\n\
                  print(lib.lib_add(ctypes.c_long(5), ctypes.c_long(6)))\n\
                  lib.remember(b'hello')\n\
                  lib.longest.restype = ctypes.c_char_p\n\
                  print(lib.longest().decode())\n";
    let printed = run(folder, "python3", &["-c", script]);
    assert_eq!(stdout(&printed), "0\n11\nhello\n", "{printed:?}");
}

/// What C cannot be given or cannot give is an error.
#[test]
fn refusals() {
    let head = "from rpython.rlib.entrypoint import entrypoint_highlevel\n\
                def entry_point(argv):\n    return 0\n";
    let refused = |function: &str, args: &[&str]| {
        let folder = folder(&format!("{head}{function}"));
        let o = build(
            folder.path(),
            &[&["build", "--shared"], args, &["targetlib.py"]].concat(),
        );
        assert_eq!(o.status.code(), Some(1), "{o:?}");
        stderr(&o).to_owned()
    };
    let text = refused(
        "@entrypoint_highlevel('main', [int])\ndef f(n):\n    return 'x' * n\n",
        &[],
    );
    assert!(
        text.contains("C cannot call `f`: it returns SomeString"),
        "{text}"
    );
    assert!(text.contains("targetlib.py:5:5"), "{text}");
    let text = refused(
        "@entrypoint_highlevel('main', [str])\ndef f(s):\n    return len(s)\n",
        &[],
    );
    assert!(
        text.contains("f: <type 'str'> is not passed by C"),
        "{text}"
    );
    let text = refused(
        "@entrypoint_highlevel('main', [int])\ndef f():\n    return 0\n",
        &[],
    );
    assert!(
        text.contains("f has 0 arguments, and its entry point 1"),
        "{text}"
    );
    let text = refused("", &["--entrypoints", "embedding"]);
    assert!(
        text.contains("no function has the key embedding: there are main"),
        "{text}"
    );
}
