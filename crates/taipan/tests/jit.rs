//! Interpreters with a `JitDriver` print the same with the just-in-time compiler as
//! without, in every way of running it. `TAIPAN_FUZZ_CASES=n` tries n random programs of the
//! interpreted language instead of a few, `TAIPAN_FUZZ_FIRST=n` starts with another one.

mod support {
    pub(crate) mod programs;
    pub(crate) mod quill;
    pub(crate) mod text;
    pub(crate) mod toys;
}

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use support::programs::{PROGRAMS, outcome, programs};
use support::quill;
use support::text::seeds;
use support::toys::{MAIN, TOYS};
use taipan_fuzz::{Choices, bytes_of_case};

/// How the compiler is run: loops are compiled when they have come by that often.
const WAYS: &[&[&str]] = &[
    &["--engine", "llinterp", "--jit-threshold", "1"],
    &["--jit-threshold", "1"],
    &["--jit-threshold", "7"],
    &["--jit-threshold", "3", "--jit-background"],
];

fn run(options: &[&str], target: &str, args: &[&OsStr]) -> (String, Option<i32>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_taipan"));
    command.current_dir(programs()).arg("run").args(options);
    let o = command.arg(target).args(args).output().expect("it starts");
    let stderr = String::from_utf8_lossy(&o.stderr);
    assert!(
        !stderr.contains("error["),
        "{target} {args:?} {options:?}\n{stderr}"
    );
    outcome(&o)
}

#[track_caller]
fn check(target: &str, args: &[&OsStr], what: &str) {
    let expected = run(&[], target, args);
    for way in WAYS {
        let options = [&["--jit"], *way].concat();
        let got = run(&options, target, args);
        assert_eq!(got, expected, "{target} {args:?} {options:?}\n{what}");
    }
}

#[test]
fn all_programs() {
    // Most of them have nothing to compile just in time.
    for (target, args) in PROGRAMS {
        let args: Vec<&OsStr> = args.iter().map(OsStr::new).collect();
        let expected = run(&[], target, &args);
        let got = run(&["--jit", "--jit-threshold", "5"], target, &args);
        assert_eq!(got, expected, "{target} {args:?}");
    }
}

#[test]
fn interpreters() {
    for (target, args) in [
        ("jit/plusminus.py", &["60"][..]),
        ("jit/registers.py", &["collatz", "20"]),
        ("jit/stack.py", &["fib", "8"]),
        ("jit/stack.py", &["mixed", "40"]),
        ("jit/stack.py", &["fails", "40"]),
        ("jit/steps/plain.py", &["60"]),
        ("jit/steps/driver.py", &["60"]),
        ("jit/steps/immutable.py", &["60"]),
        ("jit/steps/virtualizable.py", &["60"]),
        ("jit/lisp.py", &["lists", "6"]),
        ("jit/lisp.py", &["while", "60"]),
        ("quill/targetquill.py", &["quill/demo/closures.ql"]),
    ] {
        let args: Vec<&OsStr> = args.iter().map(OsStr::new).collect();
        check(target, &args, "");
    }
}

#[test]
fn random_quill_programs() {
    let folder = tempfile::tempdir().unwrap();
    for seed in seeds(4) {
        let program = quill::program(Choices::new(&bytes_of_case("quill", seed, 16 << 10)));
        let file = folder.path().join(format!("{seed}.ql"));
        std::fs::write(&file, &program).unwrap();
        check("quill/targetquill.py", &[file.as_os_str()], &program);
    }
}

#[test]
fn random_programs_of_toy_languages() {
    let folder = tempfile::tempdir().unwrap();
    for toy in TOYS {
        let (name, target) = (toy.name, folder.path().join(toy.name));
        let target = target.with_extension("main.py");
        std::fs::write(&target, [toy.target, MAIN].concat()).unwrap();
        let numbers: Vec<u64> = seeds(6).collect();
        let texts: Vec<String> = numbers.iter().map(|n| (toy.program)(*n)).collect();
        let file = folder.path().join("programs");
        std::fs::write(&file, texts.join("%\n")).unwrap();
        let (jit, all) = (programs().join("jit"), programs());
        let log = folder.path().join("log");
        let run = |options: &[&str], stress: bool| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_taipan"));
            command.current_dir(folder.path()).arg("run").args(options);
            command.arg("--path").arg(&jit).arg("--path").arg(&all);
            if stress {
                command.env("TAIPAN_GC_STRESS", "1");
            }
            // Code for places that no program comes by has no location.
            if options.contains(&"eager") {
                command.env("TAIPAN_JITLOG", &log);
            }
            let o = command.arg(&target).arg(&file).output();
            outcome(&o.expect("it starts"))
        };
        let expected = run(&[], false);
        assert_eq!(expected.1, Some(0), "{name}: {}", expected.0);
        for (options, stress) in [
            (&["--jit-threshold", "1"][..], false),
            (&["--jit-threshold", "1"], true),
            (&["--jit-threshold", "20"], false),
            (&["--jit-threshold", "1", "--jit-splits", "eager"], false),
        ] {
            let got = run(&[&["--jit"], options].concat(), stress);
            let lines = expected.0.lines().zip(got.0.lines());
            let differs = lines.zip(&texts).find(|((a, b), _)| a != b);
            if let Some(((expected, got), text)) = differs {
                panic!("{name} {options:?} {stress}\n{expected}\n{got}\n{text}");
            }
            assert_eq!(got, expected, "{name} {options:?} {stress}");
        }
    }
}

fn jitlog(args: &[&OsStr]) -> (String, Option<i32>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_taipan"));
    let o = command
        .arg("jitlog")
        .args(args)
        .output()
        .expect("it starts");
    let text = [o.stdout, o.stderr].concat();
    (String::from_utf8(text).unwrap(), o.status.code())
}

#[test]
fn log() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("log");
    let with_log = |program: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_taipan"));
        command.current_dir(programs()).env("TAIPAN_JITLOG", &file);
        command.env("TAIPAN_JITLOG_ASM", "1");
        let options = ["run", "--jit", "--jit-threshold", "10"];
        let o = command
            .args(options)
            .args(["jit/stack.py", program, "9000"]);
        outcome(&o.output().expect("it starts"))
    };
    let args = ["mixed", "9000"].map(OsStr::new);
    assert_eq!(with_log("mixed"), run(&[], "jit/stack.py", &args));
    let show = |options: &[&str]| {
        let options = options.iter().map(OsStr::new);
        let args: Vec<&OsStr> = options.chain([file.as_os_str()]).collect();
        let (text, code) = jitlog(&args);
        assert_eq!(code, Some(0), "{text}");
        text
    };
    let all = show(&[]);
    for part in [
        "driver jitdriver: portal of stack.interpret\n    greens: Signed, *stack.Code\n",
        "\nfunction 0: twice 0: load\n",
        "came by 10 times until ",
        " was reached, specialised in ",
        " with optimisations ",
        "since it was entered ",
        "\n        # main 8: load\n",
        "a stack.W_Int is made: returned\n",
        " entered once\n",
        "\nplaces where objects are made that existed while compiling only:\n",
        "\nall of the program: ",
    ] {
        assert!(all.contains(part), "{part:?} is not in\n{all}");
    }
    assert!(!all.contains("getfield"), "{all}");
    // One function, and its code.
    let twice = show(&["--code", "--function", "twice"]);
    assert!(
        twice.contains("getfield(") && !twice.contains("function 1"),
        "{twice}"
    );
    let code = show(&["--code"]);
    assert!(code.contains("    # to stub "), "{code}");
    assert_eq!(undefined(&code), [""; 0]);
    assert!(!twice.contains("jit_marker"), "{twice}");
    assert_eq!(twice, show(&["--code", "--function", "0"]));
    let code = show(&["--asm", "--function", "twice"]);
    assert!(code.contains("ret\n"), "{code}");
    let summary = show(&["--summary"]);
    assert!(
        summary.lines().count() < 20 && summary.contains("twice 0: load"),
        "{summary}"
    );
    assert!(!show(&["--driver", "another"]).contains("twice"));
    // Nothing was promised about other files.
    let target = programs().join("jit/stack.py");
    let (text, code) = jitlog(&[target.as_os_str()]);
    assert!(text.contains("line 1 is none of a JIT log"), "{text}");
    assert_eq!(code, Some(2));
    assert_eq!(jitlog(&[OsStr::new("/nowhere")]).1, Some(2));
}

/// Lines that use a variable which is neither an argument of their block nor defined above in it.
fn undefined(code: &str) -> Vec<&str> {
    let variable = regex::Regex::new(r"\bv[0-9]+\b").unwrap();
    let mut defined = BTreeSet::new();
    let mut found = Vec::new();
    for line in code.lines() {
        let (code, comment) = line.split_once(" # ").unwrap_or((line, ""));
        if code.trim_start().starts_with("block") && code.ends_with(':') {
            defined = variable.find_iter(code).map(|v| v.as_str()).collect();
            continue;
        }
        if code.trim().is_empty() && !comment.is_empty() {
            continue;
        }
        let (made, used) = match code.split_once(" = ") {
            Some((made, used)) => (variable.find(made), used),
            None => (None, code),
        };
        if (variable.find_iter(used)).any(|v| !defined.contains(v.as_str())) {
            found.push(line);
        }
        defined.extend(made.map(|v| v.as_str()));
    }
    found
}

const FLOATS: &str = "\
fn f(x) { return x * x + 0.5; }
fn go(n) {
    let i = 0;
    let t = 0.0;
    while i < n { t = t + f(t / (i + 1.0)); i = i + 1; }
    return t;
}
print go(200000);
";

/// A loop that is made in several pieces is entered as a whole once it has code with
/// optimisations.
#[test]
fn pieces_of_a_loop_give_way() {
    let folder = tempfile::tempdir().unwrap();
    let (source, log) = (folder.path().join("floats.ql"), folder.path().join("log"));
    std::fs::write(&source, FLOATS).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_taipan"));
    command.current_dir(programs()).env("TAIPAN_JITLOG", &log);
    command.args(["run", "--jit", "quill/targetquill.py"]);
    let o = command.arg(&source).output().unwrap();
    assert!(o.status.success(), "{o:?}");
    let log = std::fs::read_to_string(log).unwrap();
    let events = log
        .lines()
        .map(|l| serde_json::from_str::<serde_json::Value>(l).unwrap());
    let entered = events.filter(|e| e["event"] == "entered");
    let counts: Vec<u64> = entered.map(|e| e["count"].as_u64().unwrap()).collect();
    // No more than the function that is called.
    let often = counts.iter().filter(|n| **n > 100_000).count();
    assert!(counts.len() > 10 && often <= 1, "{counts:?}");
}

const LOCATIONS: &str = "\
import os
from rpython.rlib.jit import JitDriver

class Code(object):
    def __init__(self, name):
        self.name = name

def location(k, c, code):
    if k > 1:
        raise KeyError
    return 'place ' + code.name + c

driver = JitDriver(greens=['k', 'c', 'code'], reds=['n', 'total'], name='main',
                   get_printable_location=location)

def loop(k, c, code, n):
    total = 0
    while n > 0:
        driver.jit_merge_point(k=k, c=c, code=code, n=n, total=total)
        total += k
        n -= 1
    return total

def entry_point(argv):
    print loop(1, 'x', Code('one'), 3000) + loop(2, 'y', Code('two'), 3000)
    pid = os.fork()
    if pid == 0:
        loop(1, 'z', Code('forked'), 3000)
        return 0
    os.waitpid(pid, 0)
    return 0
";

/// Once a loop was compiled with optimisations, code goes around in that, wherever units that
/// were compiled before have its head.
#[test]
fn hot_loops_are_entered() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("log");
    for (target, args) in [
        ("jit/stack.py", ["mixed", "200000"]),
        ("jit/registers.py", ["primes", "20000"]),
        ("jit/registers.py", ["collatz", "20000"]),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_taipan"));
        command.current_dir(programs()).env("TAIPAN_JITLOG", &file);
        command.args(["run", "--jit", "--jit-threshold", "20", target]);
        let o = command.args(args).output().expect("it starts");
        assert!(o.status.success(), "{target} {args:?}");
        let text = std::fs::read_to_string(&file).unwrap();
        let lines = text.lines().map(|l| serde_json::from_str(l).unwrap());
        let lines: Vec<serde_json::Value> = lines.collect();
        let of = |event: &'static str| lines.iter().filter(move |l| l["event"] == event);
        let quick: Vec<_> = (of("unit").filter(|u| u["kind"] == "quick"))
            .map(|u| &u["unit"])
            .collect();
        let entered = of("entered").filter(|e| quick.contains(&&e["unit"]));
        let entered: u64 = entered.map(|e| e["count"].as_u64().unwrap()).sum();
        assert!(entered < 60_000, "{target} {args:?}: {entered}");
    }
}

/// Where the program cannot say where something is, the greens do; and a process that was
/// forked leaves the log alone.
#[test]
fn locations_in_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let (file, log) = (folder.path().join("places.py"), folder.path().join("log"));
    std::fs::write(&file, LOCATIONS).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_taipan"));
    command.args(["run", "--jit", "--no-cache"]).arg(&file);
    let o = command.env("TAIPAN_JITLOG", &log).output().unwrap();
    assert_eq!(outcome(&o), ("9000\n".to_owned(), Some(0)));
    let (text, _) = jitlog(&[OsStr::new("--summary"), log.as_os_str()]);
    assert!(text.contains("  place onex\n"), "{text}");
    assert!(text.contains("  main(2, 'y', <places.Code at 0x"), "{text}");
    assert!(
        !text.contains("forked") && text.contains(", 2 functions\n"),
        "{text}"
    );
}

const DEEP: &str = "
from rpython.rlib import jit, rstack
from rpython.rlib.rstackovf import StackOverflow
driver = jit.JitDriver(greens=['pc', 'code'], reds=['x', 'acc'], is_recursive=True)
class State(object):
    depth = 0
state = State()
def interp(code, x):
    pc = 0
    acc = 0
    state.depth += 1
    while pc < len(code):
        driver.jit_merge_point(pc=pc, code=code, x=x, acc=acc)
        c = code[pc]
        pc += 1
        if c == '+': acc += x
        elif c == '-': x -= 1
        elif c == 'r':
            if state.depth % 3 == 0: acc += interp(code, x + 1) * 3
            else: acc += interp(code, x + 1)
        elif c == 'm':
            # Each of these is compiled when it is true for the first time.
            if state.depth % 1000 == 77: acc += 1
            elif state.depth % 777 == 5: acc += 2
            elif state.depth % 5777 == 5000: acc += 3
        elif c == 'j':
            if x > 0:
                pc = 0
                driver.can_enter_jit(pc=pc, code=code, x=x, acc=acc)
    state.depth -= 1
    return acc
def entry_point(argv):
    for i in range(9):
        state.depth = 0
        # Half of them at the end of the stack.
        rstack._stack_set_length_fraction(1.0 + i % 2 * 1000.0)
        try:
            print interp('+-m' + 'r-j'[i / 8:], int(argv[1]) + i / 8 * 100)
        except StackOverflow:
            print 'overflow', state.depth > 1000 + i % 2 * 10000
    return 0
def target(driver, args): return entry_point, None
";

/// Compilation stops and goes on wherever the program is, at the end of its stack as well.
#[test]
fn recursion_without_end() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("deep.py");
    std::fs::write(&file, DEEP).unwrap();
    let file = file.to_str().unwrap();
    let args = [OsStr::new("5")];
    let expected = run(&[], file, &args);
    for threshold in ["1", "2", "50", "1000", "10000"] {
        let options = ["--jit", "--jit-threshold", threshold];
        assert_eq!(run(&options, file, &args), expected, "{threshold}");
    }
}

/// An executable in a folder, and what was said while it was made.
fn build(options: &[&str], target: &str, folder: &Path) -> (PathBuf, String) {
    let executable = folder.join("program");
    let mut command = Command::new(env!("CARGO_BIN_EXE_taipan"));
    command
        .current_dir(programs())
        .args(["build", "-q"])
        .args(options);
    let command = command.arg(target).arg("-o").arg(&executable);
    let o = command.output().expect("it starts");
    let stderr = String::from_utf8_lossy(&o.stderr).into_owned();
    assert!(o.status.success(), "{target}\n{stderr}");
    (executable, stderr)
}

/// A loop that calls a function of a C library, and an end by an exception.
const FOREIGN: &str = r#"
from rpython.rlib.jit import JitDriver
from rpython.rtyper.lltypesystem import lltype, rffi
from rpython.translator.tool.cbuild import ExternalCompilationInfo

driver = JitDriver(greens=[], reds=['n', 'total'])
info = ExternalCompilationInfo(
    separate_module_sources=['long thrice(long n) { return 3 * n; }'],
    post_include_bits=['long thrice(long n);'], libraries=['m'])
thrice = rffi.llexternal('thrice', [lltype.Signed], lltype.Signed, compilation_info=info)

def entry_point(argv):
    n = int(argv[1])
    total = 0
    while n > 0:
        driver.jit_merge_point(n=n, total=total)
        total += thrice(n)
        n -= 1
    print total
    if total > 100:
        raise ValueError
    return 0

def target(*args):
    return entry_point, None
"#;

#[test]
fn executables_bring_c_libraries_and_end_as_others() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("foreign.py");
    std::fs::write(&target, FOREIGN).unwrap();
    let target = target.to_str().unwrap();
    let log = folder.path().join("log");
    let run = |options: &[&str], argument: &str| {
        let (executable, _) = build(options, target, folder.path());
        let mut command = Command::new(executable);
        // No C compiler is needed any more.
        command.env_clear().env("TAIPAN_JITLOG", &log);
        command.env("TAIPAN_JIT_THRESHOLD", "3").arg(argument);
        command.output().expect("it starts")
    };
    for argument in ["5", "20"] {
        let expected = run(&[], argument);
        assert!(!log.exists());
        let got = run(&["--jit"], argument);
        assert_eq!(got.stdout, expected.stdout, "{argument}");
        assert_eq!(got.status, expected.status, "{argument}");
        let text = std::fs::read_to_string(&log).unwrap();
        assert!(text.contains(r#""count":3"#), "{text}");
        std::fs::remove_file(&log).unwrap();
    }
}

/// A loop over structs that refer to themselves, which have no name of a class.
const FORWARD: &str = r#"
from rpython.rlib.jit import JitDriver
from rpython.rtyper.lltypesystem import lltype

driver = JitDriver(greens=[], reds=['n', 'total', 'node'])
NODE = lltype.GcForwardReference()
NODE.become(lltype.GcStruct('node', ('value', lltype.Signed), ('next', lltype.Ptr(NODE))))

def entry_point(argv):
    node = lltype.nullptr(NODE)
    for i in range(100):
        new = lltype.malloc(NODE)
        new.value = i
        new.next = node
        node = new
    n = 100
    total = 0
    while n > 0:
        driver.jit_merge_point(n=n, total=total, node=node)
        other = lltype.malloc(NODE)
        other.value = node.value + n
        other.next = node.next
        total = total * 3 % 1000003 + other.value
        node = other.next
        n -= 1
    print total
    return 0

def target(*args):
    return entry_point, None
"#;

#[test]
fn executables_know_forward_references() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("forward.py");
    std::fs::write(&target, FORWARD).unwrap();
    let target = target.to_str().unwrap();
    let run = |options: &[&str]| {
        let (executable, _) = build(options, target, folder.path());
        let mut command = Command::new(executable);
        let command = command.env("TAIPAN_JIT_THRESHOLD", "3");
        outcome(&command.output().expect("it starts"))
    };
    assert_eq!(run(&["--jit"]), run(&[]));
}

/// An executable is a part of what Taipan is, and needs nothing of it.
#[test]
fn executables_stand_alone() {
    let folder = tempfile::tempdir().unwrap();
    let taipan = folder.path().join("taipan");
    std::fs::copy(env!("CARGO_BIN_EXE_taipan"), &taipan).unwrap();
    let make = |name: &str, options: &[&str]| {
        let program = folder.path().join(name);
        let mut command = Command::new(&taipan);
        command.current_dir(programs()).args(["build", "-q"]);
        command.args(options).arg("jit/stack.py").arg("-o");
        assert!(command.arg(&program).status().unwrap().success());
        program
    };
    let (plain, jit) = (make("plain", &[]), make("jit", &["--jit"]));
    let size = |file: &Path| std::fs::metadata(file).unwrap().len();
    // How large code is depends on the profile.
    let more = size(&jit) - size(&plain);
    assert!(more < size(&taipan) / 3, "{more} of {}", size(&taipan));
    std::fs::remove_file(&taipan).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    for args in [&["mixed", "3000"][..], &["fails", "3000"], &["--help"], &[]] {
        let run = |program: &Path| {
            let mut command = Command::new(program);
            command.current_dir(elsewhere.path()).env_clear().args(args);
            outcome(&command.output().unwrap())
        };
        assert_eq!(run(&jit), run(&plain), "{args:?}");
    }
    // Nobody reads what they print.
    let signal = |program: &Path| {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = Command::new(program);
        let ended = command.args(["mixed", "3"]).stdout(writer).status();
        ended.unwrap().signal()
    };
    assert_eq!((signal(&jit), signal(&plain)), (Some(13), Some(13)));
}

/// Wherever a byte of what the compiler reads is another one, the program works as it does or is refused.
#[test]
fn damaged_executables_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (program, _) = build(&["--jit"], "jit/stack.py", folder.path());
    let whole = std::fs::read(&program).unwrap();
    let run = |bytes: &[u8]| {
        // A new file each time: the system may still have the last one in use.
        std::fs::remove_file(&program).unwrap();
        std::fs::write(&program, bytes).unwrap();
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&program, mode).unwrap();
        let mut command = Command::new(&program);
        let command = command.args(["mixed", "30"]);
        let command = command.env("TAIPAN_JIT_THRESHOLD", "2");
        let o = loop {
            match command.output() {
                // A process that another test is starting has the file open for a moment.
                Err(e) if e.kind() == ErrorKind::ExecutableFileBusy => continue,
                o => break o.unwrap(),
            }
        };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (text(&o.stdout), text(&o.stderr), o.status.code())
    };
    let expected = run(&whole);
    assert_eq!(expected.2, Some(0));
    // It may have begun.
    let is_refused = |got: &(String, String, Option<i32>)| {
        expected.0.starts_with(&got.0)
            && got.1 == "this executable: the program in it is damaged\n"
            && got.2 == Some(2)
    };
    // The header's place and length are in the trailer, behind all tables.
    let trailer = whole.len() - 64;
    let word = |at: usize| u64::from_le_bytes(whole[at..at + 8].try_into().unwrap());
    let header = word(trailer) as usize;
    assert_eq!(header as u64 + word(trailer + 8), trailer as u64);
    let tables = (header - 20_000..header).step_by(499);
    let checked = (header..whole.len()).step_by(7);
    let mut found = 0;
    for at in tables.chain(checked) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x10;
        let got = run(&damaged);
        if at >= header || got != expected {
            assert!(is_refused(&got), "{at} of {}: {got:?}", whole.len());
            found += usize::from(at < header);
        }
    }
    assert!(found > 10, "{found}");
    for length in [whole.len() - 1, trailer, header, header - 1] {
        let got = run(&whole[..length]);
        assert!(is_refused(&got), "{length}: {got:?}");
    }
}

#[test]
fn fields_that_are_written_late() {
    const SOURCE: &str = "
from rpython.rlib.jit import JitDriver
driver = JitDriver(greens=['box'], reds=['n', 'total'])
class Box(object):
    _immutable_fields_ = ['value']
    def __init__(self, value):
        self.value = value
def entry_point(argv):
    box = Box(1)
    n = 20
    total = 0
    while n > 0:
        driver.jit_merge_point(box=box, n=n, total=total)
        total += box.value
        if n == 10:
            box.value = 3
        n -= 1
    print total
    return 0
def target(*args):
    return entry_point, None
";
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("late.py");
    std::fs::write(&target, SOURCE).unwrap();
    let (executable, stderr) = build(&["--jit"], target.to_str().unwrap(), folder.path());
    assert!(stderr.starts_with("warning[TP0604]: "), "{stderr}");
    assert!(stderr.contains("late.py:16:13"), "{stderr}");
    let mut command = Command::new(executable);
    let o = command.env("TAIPAN_JIT_THRESHOLD", "3").output().unwrap();
    assert_eq!(o.stdout, b"38\n");
    let (_, stderr) = build(&[], target.to_str().unwrap(), folder.path());
    assert_eq!(stderr, "");
}

#[test]
fn executables() {
    let folder = tempfile::tempdir().unwrap();
    let build = |target: &str| build(&["--jit"], target, folder.path());
    // Nothing but the file is needed, and it takes arguments as any program does.
    let (stack, stderr) = build("jit/stack.py");
    assert_eq!(stderr, "");
    for args in [&["mixed", "3000"][..], &["fails", "3000"], &["--help"], &[]] {
        let mut command = Command::new(&stack);
        command.current_dir(folder.path()).env_clear().args(args);
        let args: Vec<&OsStr> = args.iter().map(OsStr::new).collect();
        let expected = run(&["jit/stack.py"], "--", &args);
        assert_eq!(outcome(&command.output().unwrap()), expected, "{args:?}");
    }
    let nothing = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_taipan"));
        let o = command.current_dir(programs()).args(args).output().unwrap();
        let stderr = String::from_utf8_lossy(&o.stderr).into_owned();
        assert!(o.status.success(), "{stderr}");
        assert!(
            stderr.contains("shapes.py has no jit_merge_point"),
            "{stderr}"
        );
    };
    nothing(&["run", "--jit", "shapes.py", "20"]);
    nothing(&["run", "--jit", "--engine", "llinterp", "shapes.py", "2"]);
    nothing(&["call", "--jit", "shapes.py:entry_point", "['shapes', '2']"]);
    let (shapes, stderr) = build("shapes.py");
    assert!(
        stderr.contains("shapes.py has no jit_merge_point"),
        "{stderr}"
    );
    let o = Command::new(&shapes).arg("20").output().unwrap();
    assert_eq!(outcome(&o), run(&[], "shapes.py", &[OsStr::new("20")]));
}
