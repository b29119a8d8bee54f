//! What debuggers, profilers and people are told of programs that run: faults, lines, variables, and
//! output for debugging, by each back end.
//!
//! Where there is no clang that will do, no gdb, lldb or valgrind, the tests that need one are reported as
//! ignored, with the reason: this target has a harness of its own, as `cpython.rs` has.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, ExitCode, Output};

use libtest_mimic::{Arguments, Completion, Failed};
use taipan_platform::Llvm;
use taipan_testkit::timed_trial;

/// Numbers of lines count here. What `fails` returns is long enough for no compiler to inline the function.
const PROGRAM: &str = "\
from rpython.rlib.objectmodel import dont_inline
from rpython.rlib.debug import (debug_start, debug_stop, debug_print,
    have_debug_prints, have_debug_prints_for)

class Point(object):
    def __init__(self, x, name):
        self.x = x
        self.name = name
        self.next = None

class Point3(Point):
    def __init__(self, x, name, z):
        Point.__init__(self, x, name)
        self.z = z

@dont_inline
def fails(what, p, n):
    total = p.x
    if what == 'null':
        total += p.next.x
    if what == 'zero':
        total += 10 // (n - p.x)
    return total + 0 * len(('%d %s %d' % (total, what.upper(), n)).strip('u').split(' '))

@dont_inline
def stops(p, names, ages, pair, text, flag):
    n = len(names)
    if flag:
        print n, ages[names[0]], pair[0], p.x, len(text)
    return n

@dont_inline
def work(n, p):
    names = []
    ages = {}
    for i in range(n):
        names.append('k%d' % i)
        ages['k%d' % i] = i * 1.5
    text = unicode(p.name) + u'\\u20ac'
    return stops(p, names, ages, (n, 'two'), text, n > 1)

@dont_inline
def sections():
    print have_debug_prints(), have_debug_prints_for('jit'), have_debug_prints_for('gc-min')
    debug_print('top', 1, 2.5, 'c'[0])
    debug_start('gc-minor')
    print have_debug_prints()
    debug_print('inside')
    debug_start('jit-log')
    debug_print('nested', -3)
    debug_stop('jit-log')
    debug_stop('gc-minor')
    before = debug_start('stamp', timestamp=True)
    print before > 0, debug_stop('stamp', True) >= before

def entry_point(argv):
    p = Point3(len(argv) + 1, argv[1], 2.5)
    if argv[1] == 'linked':
        p.next = p
    if argv[1] == 'debug':
        sections()
        return 0
    result = fails(argv[1], p, len(argv) + 1)
    return result + work(3, p) - 6

def target(driver, args):
    return entry_point, None
";

fn build(folder: &Path, options: &[&str]) -> Result<(), Failed> {
    fs::write(folder.join("t.py"), PROGRAM)?;
    let o = Command::new(env!("CARGO_BIN_EXE_taipan"))
        .current_dir(folder)
        .args([
            "build",
            "--quiet",
            "--cache-dir",
            "cache",
            "t.py",
            "-o",
            "t",
        ])
        .args(options)
        .env("TAIPAN_CACHE_VERIFY", "1")
        .output()?;
    match o.status.success() {
        true => Ok(()),
        false => Err(format!("{options:?}: {}", String::from_utf8_lossy(&o.stderr)).into()),
    }
}

/// Errors, and how a program has ended.
fn told(folder: &Path, o: &Output) -> String {
    let errors = String::from_utf8_lossy(&o.stderr);
    let folder = folder.to_string_lossy();
    format!(
        "{}signal {}",
        errors.replace(&*folder, "/tmp"),
        o.status.signal().unwrap_or(0)
    )
}

fn same(what: &str, found: &str, wanted: &str) -> Result<(), Failed> {
    match found == wanted {
        true => Ok(()),
        false => Err(format!("{what}:\n{found}\ninstead of\n{wanted}").into()),
    }
}

fn fault(folder: &Path, what: &str) -> Result<String, Failed> {
    let o = Command::new(folder.join("t")).arg(what).output()?;
    Ok(told(folder, &o))
}

/// Faults name the functions that were running.
fn functions(options: &[&str]) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    build(folder.path(), options)?;
    let found = fault(folder.path(), "null")?;
    let wanted = "RPython traceback:\n  File \"/tmp/t.py\", in t.entry_point\n  \
                  File \"/tmp/t.py\", in t.fails\n\
                  Fatal RPython error: null pointer used (SIGSEGV)\nsignal 11";
    same("null", &found, wanted)
}

/// Those at least that are not inlined.
fn some_functions(options: &[&str]) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    build(folder.path(), options)?;
    let found = fault(folder.path(), "null")?;
    let parts = [
        "RPython traceback:\n  File \"/tmp/t.py\", in t.entry_point\n",
        "null pointer",
    ];
    contains(&found, &parts)
}

/// Those of checked code, and their lines.
fn lines(options: &[&str]) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    build(folder.path(), options)?;
    let found = fault(folder.path(), "null")?;
    let wanted = "RPython traceback:\n  File \"/tmp/t.py\", line 63, in t.entry_point\n  \
                  File \"/tmp/t.py\", line 20, in t.fails\n\
                  Fatal RPython error: null pointer used (SIGSEGV)\nsignal 11";
    same("null", &found, wanted)?;
    let found = fault(folder.path(), "zero")?;
    let signal = if found.contains("SIGILL") {
        ("SIGILL", 4)
    } else {
        ("SIGFPE", 8)
    };
    let wanted = format!(
        "RPython traceback:\n  File \"/tmp/t.py\", line 63, in t.entry_point\n  \
         File \"/tmp/t.py\", line 22, in t.fails\nFatal RPython error: \
         division by zero, or its result is too large ({})\nsignal {}",
        signal.0, signal.1
    );
    same("zero", &found, &wanted)
}

/// What a program writes with PYPYLOG, to standard output, to errors, and into the file.
fn logged(folder: &Path, value: &str) -> Result<[String; 3], Failed> {
    let file = folder.join("log");
    let _ = fs::remove_file(&file);
    let mut command = Command::new(folder.join("t"));
    command.arg("debug").current_dir(folder);
    match value {
        "" => command.env_remove("PYPYLOG"),
        value => command.env("PYPYLOG", value),
    };
    let o = command.output()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let log = fs::read(&file).unwrap_or_default();
    Ok([text(&o.stdout), text(&o.stderr), text(&log)].map(|text| {
        // Times differ.
        let lines = text.lines().map(|line| match line.split_once("] ") {
            Some((time, rest)) if time[1..].chars().all(|c| c.is_ascii_hexdigit()) => {
                format!("[..] {rest}\n")
            }
            _ => format!("{line}\n"),
        });
        lines.collect()
    }))
}

/// Sections of debug output.
fn debug_output(options: &[&str]) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    build(folder, options)?;
    let top = "top 1 2.500000 c\n";
    let cases = [
        ("", ["1 0 0\n0\n1 1\n", top, ""]),
        (
            "jit:log",
            [
                "1 1 0\n0\n1 1\n",
                "",
                "top 1 2.500000 c\n[..] {jit-log\nnested -3\n[..] jit-log}\n",
            ],
        ),
        (
            "gc-min,stamp:-",
            [
                "1 0 1\n1\n1 1\n",
                "top 1 2.500000 c\n[..] {gc-minor\ninside\n[..] gc-minor}\n[..] {stamp\n[..] stamp}\n",
                "",
            ],
        ),
        (
            ":log",
            [
                "1 1 1\n1\n1 1\n",
                "",
                "[..] {gc-set-nursery-size\nnursery size: 4194304\n[..] gc-set-nursery-size}\n\
                 top 1 2.500000 c\n[..] {gc-minor\ninside\n[..] {jit-log\nnested -3\n[..] jit-log}\n\
                 [..] gc-minor}\n[..] {stamp\n[..] stamp}\n",
            ],
        ),
        (
            "log",
            [
                "1 0 0\n0\n1 1\n",
                "",
                "[..] {gc-set-nursery-size\n[..] gc-set-nursery-size}\n\
                 top 1 2.500000 c\n[..] {gc-minor\n[..] {jit-log\n[..] jit-log}\n\
                 [..] gc-minor}\n[..] {stamp\n[..] stamp}\n",
            ],
        ),
    ];
    for (value, wanted) in cases {
        let found = logged(folder, value)?;
        same(
            &format!("PYPYLOG={value}"),
            &found.join("--\n"),
            &wanted.join("--\n"),
        )?;
    }
    Ok(())
}

fn gdb(folder: &Path, commands: &[&str]) -> Result<String, Failed> {
    let mut command = Command::new("gdb");
    command.current_dir(folder).args(["-nx", "-batch"]);
    // Texts are shown whatever the user's locale is.
    command.env("LC_ALL", "C.UTF-8");
    let safe = format!("add-auto-load-safe-path {}", folder.display());
    command.args(["-iex", &safe, "-iex", "set debuginfod enabled off"]);
    for c in commands {
        command.args(["-ex", c]);
    }
    let o = command.args(["--args", "./t", "fine"]).output()?;
    let all = [o.stdout, o.stderr].concat();
    Ok(String::from_utf8_lossy(&all).into_owned())
}

/// In C, a name that is assigned to more than once is that of several variables, with a number.
fn without_numbers(text: &str) -> String {
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        match line.split_once(" = ") {
            Some((name, value)) => {
                let plain = name.trim_end_matches(|c: char| c.is_ascii_digit());
                out.push_str(plain.strip_suffix('_').unwrap_or(name));
                out.push_str(" = ");
                out.push_str(value);
            }
            None => out.push_str(line),
        }
    }
    out
}

fn contains(text: &str, parts: &[&str]) -> Result<(), Failed> {
    let mut missing = parts.iter().filter(|part| !text.contains(**part));
    match missing.next() {
        None => Ok(()),
        Some(part) => Err(format!("no {part:?} in\n{text}").into()),
    }
}

/// A breakpoint at a line of the source, who called, and arguments with their contents.
fn in_gdb(options: &[&str]) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    build(folder, options)?;
    let text = gdb(folder, &["break t.py:27", "run", "backtrace", "info args"])?;
    let text = without_numbers(&text);
    contains(
        &text,
        &[
            "t.py:27",
            "t.py:40",
            "t.py:64",
            "names = ['k0', 'k1', 'k2']",
            "ages = {'k0': 0, 'k1': 1.5, 'k2': 3}",
            "Point3 at 0x",
            "{name = 'fine', next = None, x = 3, z = 2.5}",
        ],
    )
}

/// The same where nothing is optimised: all arguments have their values.
fn all_arguments(options: &[&str]) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    build(folder, options)?;
    let text = gdb(folder, &["break t.py:27", "run", "info args"])?;
    contains(
        &without_numbers(&text),
        &["pair = (3, 'two')", "text = u'fine€'", "flag = true"],
    )
}

/// The same by lldb, which prints addresses of objects.
fn in_lldb(options: &[&str]) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    build(folder, options)?;
    let mut command = Command::new("lldb");
    command.current_dir(folder).args(["--no-lldbinit", "-b"]);
    for c in [
        "breakpoint set --file t.py --line 29",
        "run",
        "bt",
        "frame variable",
        "kill",
    ] {
        command.args(["-o", c]);
    }
    let o = command.args(["--", "./t", "fine"]).output()?;
    let text = String::from_utf8_lossy(&o.stdout).into_owned();
    contains(
        &without_numbers(&text),
        &[
            "-> 29  \t        print n",
            "at t.py:29",
            "at t.py:40",
            "at t.py:64",
            "names = 0x",
        ],
    )
}

/// How often lines are executed, as callgrind counts it.
fn in_callgrind(options: &[&str]) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    build(folder, options)?;
    let o = Command::new("valgrind")
        .current_dir(folder)
        .args(["--tool=callgrind", "--callgrind-out-file=counts"])
        .args(["./t", "fine"])
        .output()?;
    if o.status.code() != Some(0) {
        return Err(told(folder, &o).into());
    }
    let o = Command::new("callgrind_annotate")
        .current_dir(folder)
        .args(["--auto=yes", "--threshold=100", "counts", "t.py"])
        .output()?;
    let text = String::from_utf8_lossy(&o.stdout);
    let is_counted = |line: &str| {
        let found = text.lines().find(|l| l.ends_with(line));
        found.is_some_and(|l| l.trim_start().starts_with(|c: char| c.is_ascii_digit()))
    };
    match (["        names.append('k%d' % i)", "    n = len(names)"].iter()).all(|l| is_counted(l))
    {
        true => Ok(()),
        false => Err(text.into_owned().into()),
    }
}

/// A breakpoint by the name of a function.
fn breakpoint(options: &[&str]) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    build(folder, options)?;
    let text = gdb(folder, &["break t.stops", "run", "backtrace"])?;
    contains(&text, &["Breakpoint 1, t.stops (", "in t.work ("])
}

/// Variables by their names.
fn locals(options: &[&str]) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    build(folder, options)?;
    let text = gdb(
        folder,
        &["break t.py:39", "run", "info locals", "info args"],
    )?;
    contains(&without_numbers(&text), &["names = ['k0'"])
}

/// Two builds have the same bytes, and name no folder that was there while they were made.
fn determinism(options: &[&str]) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    build(folder, options)?;
    let first = fs::read(folder.join("t"))?;
    assert!(!first.windows(10).any(|w| w == b"taipan-cc-"));
    fs::remove_dir_all(folder.join("cache"))?;
    let mut options = options.to_vec();
    options.extend(["--threads", "1"]);
    build(folder, &options)?;
    match first == fs::read(folder.join("t"))? {
        true => Ok(()),
        false => Err("the executables differ".into()),
    }
}

type Case = fn(&[&str]) -> Result<(), Failed>;

const CASES: &[(&str, &str, Case, &[&str])] = &[
    ("functions_cranelift", "", functions, &[]),
    ("functions_c", "", functions, &["--backend", "c"]),
    (
        "functions_c_lto",
        "",
        some_functions,
        &["--backend", "c", "--lto"],
    ),
    ("functions_llvm", "clang", functions, &["--backend", "llvm"]),
    ("lines_cranelift", "", lines, &["--lldebug"]),
    ("lines_c", "", lines, &["--backend", "c", "--lldebug"]),
    ("lines_c_0", "", lines, &["--backend", "c", "-O0"]),
    (
        "lines_llvm",
        "clang",
        lines,
        &["--backend", "llvm", "-O1", "--lldebug"],
    ),
    ("debug_output_cranelift", "", debug_output, &[]),
    ("debug_output_c", "", debug_output, &["--backend", "c"]),
    (
        "debug_output_llvm",
        "clang",
        debug_output,
        &["--backend", "llvm"],
    ),
    ("gdb_cranelift", "gdb", in_gdb, &["-g"]),
    ("gdb_cranelift_checked", "gdb", in_gdb, &["--lldebug"]),
    ("gdb_c", "gdb", in_gdb, &["--backend", "c", "-O1", "-g"]),
    ("gdb_c_checked", "gdb", in_gdb, &["--backend", "c", "-O0"]),
    (
        "gdb_llvm",
        "clang gdb",
        in_gdb,
        &["--backend", "llvm", "-O1", "-g"],
    ),
    (
        "arguments_c",
        "gdb",
        all_arguments,
        &["--backend", "c", "-O0"],
    ),
    ("lldb_cranelift", "lldb", in_lldb, &["-g"]),
    ("lldb_c", "lldb", in_lldb, &["--backend", "c", "-O0"]),
    (
        "lldb_llvm",
        "clang lldb",
        in_lldb,
        &["--backend", "llvm", "-O0"],
    ),
    ("callgrind_cranelift", "valgrind", in_callgrind, &["-g"]),
    (
        "callgrind_c",
        "valgrind",
        in_callgrind,
        &["--backend", "c", "-g"],
    ),
    (
        "callgrind_llvm",
        "clang valgrind",
        in_callgrind,
        &["--backend", "llvm", "-g"],
    ),
    ("breakpoint_cranelift", "gdb", breakpoint, &["-g"]),
    (
        "breakpoint_llvm",
        "clang gdb",
        breakpoint,
        &["--backend", "llvm", "-g"],
    ),
    ("locals_cranelift", "gdb", locals, &["-g"]),
    ("locals_c", "gdb", locals, &["--backend", "c", "-O0"]),
    (
        "locals_llvm",
        "clang gdb",
        locals,
        &["--backend", "llvm", "-O0"],
    ),
    ("determinism_cranelift", "", determinism, &["-g"]),
    ("determinism_c", "", determinism, &["--backend", "c", "-g"]),
    (
        "determinism_llvm",
        "clang",
        determinism,
        &["--backend", "llvm", "-g"],
    ),
];

fn main() -> ExitCode {
    let args = Arguments::from_args();
    let clang = Llvm::find().err().map(|e| e.to_string());
    let lacking = |tool: &str| {
        let found = Command::new(tool).arg("--version").output();
        found.err().map(|e| format!("{tool}: {e}"))
    };
    let trials = CASES.iter().map(|(name, needs, case, options)| {
        let missing = needs.split_whitespace().find_map(|tool| match tool {
            "clang" => clang.clone(),
            tool => lacking(tool),
        });
        timed_trial(*name, move || match missing {
            Some(why) => Ok(Completion::ignored_with(why)),
            None => case(options).map(|()| Completion::Completed),
        })
    });
    libtest_mimic::run(&args, trials.collect()).exit_code()
}
