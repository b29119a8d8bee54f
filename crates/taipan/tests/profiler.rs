//! Profiles: of `rpython.rlib.rvmprof`, by each back end, read as vmprof's tools read them, and of RPython functions by
//! `run --profile`.
//!
//! Where there is no clang that will do, the test that needs it is reported as ignored, with the reason.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use libtest_mimic::{Arguments, Completion, Failed};
use taipan_platform::Llvm;
use taipan_testkit::timed_trial;

/// `work` is called in `outer` and `inner`, and in `inner` alone, for half a second of CPU time.
const PROGRAM: &str = "\
import os, time
from rpython.rlib import rvmprof

class Code(object):
    def __init__(self, name):
        self.name = name
    def full_name(self):
        return 'py:%s:1:main.py' % self.name

rvmprof.register_code_object_class(Code, Code.full_name)
prebuilt = Code('prebuilt')

@rvmprof.vmprof_execute_code('run', lambda code, then: code)
def run(code, then):
    if then is not None:
        return run(then, None)
    if code.name == 'raising':
        raise ValueError
    n = len(code.name)
    for i in range(3000):
        n = (n * 1103515245 + 12345) & 0x7fffffff
    return n

def entry_point(argv):
    outer, inner = Code('outer'), Code('inner')
    for code in [prebuilt, outer]:
        rvmprof.register_code(code, Code.full_name)
    assert rvmprof.get_unique_id(inner) == 0
    fd = os.open(argv[1], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0644)
    for interval in [0.0, 1.5]:
        try:
            rvmprof.enable(fd, interval)
        except rvmprof.VMProfError as e:
            print e.msg
    rvmprof.enable(fd, 0.004, memory=len(argv) - 2)
    try:
        rvmprof.enable(fd, 0.004)
    except rvmprof.VMProfError as e:
        print e.msg
    rvmprof.register_code(inner, Code.full_name)
    raising = Code('raising')
    rvmprof.register_code(raising, Code.full_name)
    print rvmprof.get_profile_path(None) == argv[1], rvmprof.get_unique_id(inner) % 4
    total = 0
    start = time.clock()
    while time.clock() - start < 0.5:
        total ^= run(outer, inner)
        total ^= run(inner, None)
        try:
            run(raising, None)
        except ValueError:
            pass
        total ^= run(prebuilt, None)
    rvmprof.stop_sampling()
    start = time.clock()
    while time.clock() - start < 0.2:
        total ^= run(outer, None)
    rvmprof.start_sampling()
    rvmprof.disable()
    os.close(fd)
    print rvmprof.is_enabled(), total != -1
    try:
        rvmprof.disable()
    except rvmprof.VMProfError as e:
        print e.msg
    return 0

def target(driver, args):
    return entry_point, None
";

const PRINTED: &str = "bad value for 'interval'\nbad value for 'interval'\nvmprof is already enabled\n1 0\n0 1\nvmprof is not enabled\n";

/// A file in vmprof's format, as far as these tests have to do with it.
#[derive(Default)]
struct Profile {
    period: u64,
    mode: u8,
    names: BTreeMap<u64, String>,
    /// Stacks, innermost code object first, and how much memory was resident.
    samples: Vec<(Vec<u64>, u64)>,
    meta: Vec<(String, String)>,
    is_complete: bool,
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn bytes(&mut self, n: usize) -> Result<Vec<u8>, Failed> {
        let (head, rest) = self
            .0
            .split_at_checked(n)
            .ok_or("the file ends too early")?;
        self.0 = rest;
        Ok(head.to_vec())
    }

    fn word(&mut self) -> Result<u64, Failed> {
        let bytes = self.bytes(8)?;
        Ok(u64::from_le_bytes(bytes.try_into().map_err(|_| "no word")?))
    }

    fn text(&mut self) -> Result<String, Failed> {
        let length = self.word()? as usize;
        Ok(String::from_utf8(self.bytes(length)?)?)
    }
}

fn read(file: &Path) -> Result<Profile, Failed> {
    let bytes = fs::read(file)?;
    let mut r = Reader(&bytes);
    let mut p = Profile::default();
    let head = [r.word()?, r.word()?, r.word()?, r.word()?, r.word()?];
    p.period = head[3];
    same(head, [0, 3, 0, p.period, 0])?;
    while !r.0.is_empty() {
        match r.bytes(1)?[0] {
            5 => {
                let header = r.bytes(4)?;
                same(&header[..2], &[0, 6])?;
                p.mode = header[2];
                same(r.bytes(usize::from(header[3]))?, b"pypy".to_vec())?;
            }
            7 => p.meta.push((r.text()?, r.text()?)),
            marker @ (3 | 6) => {
                r.bytes(24)?;
                p.is_complete = marker == 3;
            }
            2 => {
                let number = r.word()?;
                p.names.insert(number, r.text()?);
            }
            1 => {
                same(r.word()?, 1)?;
                let depth = r.word()? as usize;
                let mut stack = Vec::new();
                for _ in 0..depth / 2 {
                    same(r.word()?, 1)?;
                    stack.push(r.word()?);
                }
                r.word()?;
                let memory = if p.mode & 1 == 1 { r.word()? } else { 0 };
                p.samples.push((stack, memory));
            }
            marker => return Err(format!("a record of kind {marker}").into()),
        }
    }
    Ok(p)
}

fn same<T: PartialEq + std::fmt::Debug>(found: T, wanted: T) -> Result<(), Failed> {
    match found == wanted {
        true => Ok(()),
        false => Err(format!("{found:?} instead of {wanted:?}").into()),
    }
}

fn run(command: &mut Command, wanted: &str) -> Result<(), Failed> {
    let o = command.output()?;
    let errors = String::from_utf8_lossy(&o.stderr);
    match o.status.success() {
        true => same(&*String::from_utf8_lossy(&o.stdout), wanted),
        false => Err(format!("{:?}: {errors}", o.status).into()),
    }
}

/// Makes a profile with these options of `build`; in memory without any. `memory`: the samples have that.
fn profile(options: &[&str], memory: bool) -> Result<Profile, Failed> {
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    fs::write(folder.join("main.py"), PROGRAM)?;
    let file = folder.canonicalize()?.join("profile");
    let mut taipan = Command::new(env!("CARGO_BIN_EXE_taipan"));
    taipan.current_dir(folder);
    let mut program = match options {
        [] => {
            taipan.args(["run", "--quiet", "main.py"]);
            taipan
        }
        options => {
            run(
                taipan
                    .args(["build", "--quiet", "-o", "main", "main.py"])
                    .args(options),
                "",
            )?;
            Command::new(folder.join("main"))
        }
    };
    program.arg(&file).args(memory.then_some("memory"));
    run(&mut program, PRINTED)?;
    read(&file)
}

fn check(options: &[&str]) -> Result<(), Failed> {
    let memory = options.is_empty();
    let p = profile(options, memory)?;
    same(
        (p.period, p.mode, p.is_complete),
        (4000, 8 + u8::from(memory), true),
    )?;
    let meta = [("os", "linux"), ("bits", "64")].map(|(k, v)| (k.to_owned(), v.to_owned()));
    same(p.meta, meta.to_vec())?;
    let mut names: Vec<&str> = p.names.values().map(String::as_str).collect();
    names.sort_unstable();
    same(
        names,
        vec![
            "py:inner:1:main.py",
            "py:outer:1:main.py",
            "py:prebuilt:1:main.py",
            "py:raising:1:main.py",
        ],
    )?;
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for (stack, resident) in &p.samples {
        same(*resident > 0, memory)?;
        let name = |n: &u64| p.names.get(n).map_or("?", |name| &name[3..]);
        let parts: Vec<&str> = (stack.iter().rev().map(name))
            .map(|n| n.split(':').next().unwrap_or(n))
            .collect();
        *counts.entry(parts.join(" ")).or_default() += 1;
    }
    // A third of 125 samples each, but for those beside and between the calls.
    for stack in ["outer inner", "inner", "prebuilt"] {
        let count = counts.get(stack).copied().unwrap_or(0);
        if !(15..=60).contains(&count) {
            return Err(format!("{stack}: {counts:?}").into());
        }
    }
    // Nothing else lasts, and exceptions leave nothing on the stack.
    let known = ["outer inner", "inner", "prebuilt", "outer", "raising"];
    match counts.keys().find(|stack| !known.contains(&stack.as_str())) {
        None => Ok(()),
        Some(stack) => Err(format!("{stack}: {counts:?}").into()),
    }
}

/// A program with the decorator that never enables the profiler needs no C compiler.
fn without_c() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let program = "\
from rpython.rlib import rvmprof

class Code(object):
    pass

rvmprof.register_code_object_class(Code, lambda code: 'py:f:1:main.py')

@rvmprof.vmprof_execute_code('run', lambda code: code)
def run(code):
    return 3

def entry_point(argv):
    code = Code()
    rvmprof.register_code(code, lambda code: 'py:f:1:main.py')
    x = rvmprof.save_stack()
    rvmprof.empty_stack()
    rvmprof.restore_stack(x)
    print run(code), rvmprof.is_enabled()
    return 0

def target(driver, args):
    return entry_point, None
";
    fs::write(folder.path().join("main.py"), program)?;
    let mut taipan = Command::new(env!("CARGO_BIN_EXE_taipan"));
    taipan
        .current_dir(folder.path())
        .env("PATH", "")
        .env("CC", "/none");
    run(taipan.args(["run", "--quiet", "main.py"]), "3 0\n")
}

/// Two functions that share the time, one of them by way of two callers.
const FUNCTIONS: &str = "\
import time
from rpython.rlib.objectmodel import dont_inline

@dont_inline
def work(n):
    for i in range(3000):
        n = (n * 1103515245 + 12345) & 0x7fffffff
    return n

@dont_inline
def first(n):
    return work(n) + 1

@dont_inline
def second(n):
    return work(n) + 2

def entry_point(argv):
    n = len(argv)
    start = time.clock()
    while time.clock() - start < 0.5:
        n = first(n) ^ second(n)
    print n != 0
    return 3

def target(driver, args):
    return entry_point, None
";

/// The samples of stacks, from their folded form.
fn folded(text: &str) -> Result<BTreeMap<String, u64>, Failed> {
    let mut stacks = BTreeMap::new();
    for line in text.lines() {
        let (stack, samples) = line.rsplit_once(' ').ok_or("a line without a number")?;
        *stacks.entry(stack.to_owned()).or_default() += samples.parse::<u64>()?;
    }
    Ok(stacks)
}

/// Both callers of `work` are in the samples, about as often, and little else.
fn shared(stacks: &BTreeMap<String, u64>) -> Result<(), Failed> {
    let all: u64 = stacks.values().sum();
    let of = |caller: &str| {
        let stack = format!("main.entry_point;main.{caller};main.work");
        stacks.get(&stack).copied().unwrap_or(0)
    };
    let (first, second) = (of("first"), of("second"));
    match all >= 60 && first > all / 4 && second > all / 4 {
        true => Ok(()),
        false => Err(format!("{stacks:?}").into()),
    }
}

/// `run --profile` with the options of a back end: folded stacks, a flame graph, the program's output and exit code.
fn flame(options: &[&str]) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    fs::write(folder.join("main.py"), FUNCTIONS)?;
    let profiled = |option: &str| {
        let mut taipan = Command::new(env!("CARGO_BIN_EXE_taipan"));
        taipan.current_dir(folder).arg("run").args(options);
        taipan.args([option, "main.py", "more"]).output()
    };
    let o = profiled("--profile=stacks.txt")?;
    let errors = String::from_utf8_lossy(&o.stderr);
    same((o.status.code(), &o.stdout[..]), (Some(3), b"1\n"))?;
    same(errors.contains("samples in stacks.txt\n"), true)?;
    shared(&folded(&fs::read_to_string(folder.join("stacks.txt"))?)?)?;

    same(profiled("--profile")?.status.code(), Some(3))?;
    let svg = fs::read_to_string(folder.join("profile.svg"))?;
    for name in ["main.entry_point", "main.first", "main.second", "main.work"] {
        same(svg.contains(&format!("<title>{name}: ")), true)?;
    }
    Ok(())
}

/// An executable writes samples where `TAIPAN_PROFILE` is set, and hands the variable to no other program.
fn executable() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    let program = FUNCTIONS.replace(
        "    print n != 0\n",
        "    print n != 0, os.environ.get('TAIPAN_PROFILE') is None\n",
    );
    fs::write(
        folder.join("main.py"),
        program.replace("import time\n", "import os, time\n"),
    )?;
    let mut taipan = Command::new(env!("CARGO_BIN_EXE_taipan"));
    taipan.current_dir(folder);
    run(
        taipan.args(["build", "--quiet", "-o", "main", "main.py"]),
        "",
    )?;
    let file = folder.join("samples");
    let o = Command::new(folder.join("main"))
        .env("TAIPAN_PROFILE", &file)
        .output()?;
    same((o.status.code(), &o.stdout[..]), (Some(3), b"1 1\n"))?;
    shared(&folded(&fs::read_to_string(file)?)?)?;
    let o = Command::new(folder.join("main"))
        .env("TAIPAN_PROFILE", "/none/of")
        .output()?;
    same(o.status.code(), Some(3))?;
    same(
        &*o.stderr,
        &b"the file that TAIPAN_PROFILE names cannot be written\n"[..],
    )
}

/// Programs that cannot be sampled are refused.
fn refused() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join("main.py"), FUNCTIONS)?;
    for (options, wanted) in [
        (&["--jit"][..], "leave out --jit"),
        (&["--engine", "llinterp"], "samples machine code"),
        (&["--backend", "python"], "samples machine code"),
        (&["--target", "aarch64-linux-gnu"], "leave out --target"),
        (&["--profile=/none/of.svg"], "/none/of.svg: "),
    ] {
        let profile = options[0].starts_with("--profile").then_some(&[][..]);
        let o = Command::new(env!("CARGO_BIN_EXE_taipan"))
            .current_dir(folder.path())
            .arg("run")
            .args(profile.unwrap_or(&["--profile"]))
            .args(options)
            .arg("main.py")
            .output()?;
        let errors = String::from_utf8_lossy(&o.stderr);
        same((o.status.code(), errors.contains(wanted)), (Some(2), true))
            .map_err(|_| Failed::from(errors.to_string()))?;
    }
    Ok(())
}

const FLAMES: &[(&str, &[&str])] = &[
    ("flame_cranelift", &[]),
    ("flame_checked", &["-O0"]),
    ("flame_c", &["--backend", "c", "-O0"]),
    ("flame_llvm", &["--backend", "llvm", "-O0"]),
];

const CASES: &[(&str, &[&str])] = &[
    ("in_memory", &[]),
    ("cranelift", &["--backend", "cranelift"]),
    ("collector_ref", &["--gc", "ref"]),
    ("c", &["--backend", "c"]),
    ("llvm", &["--backend", "llvm"]),
];

fn main() -> ExitCode {
    let args = Arguments::from_args();
    let clang = Llvm::find().err().map(|e| e.to_string());
    let with = |cases: &'static [(&'static str, &'static [&'static str])],
                test: fn(&[&str]) -> Result<(), Failed>| {
        let clang = clang.clone();
        cases.iter().map(move |(name, options)| {
            let missing = clang.clone().filter(|_| name.ends_with("llvm"));
            timed_trial(*name, move || match missing {
                Some(why) => Ok(Completion::ignored_with(why)),
                None => test(options).map(|()| Completion::Completed),
            })
        })
    };
    let mut trials: Vec<_> = with(CASES, check).chain(with(FLAMES, flame)).collect();
    let mut add = |name: &'static str, test: fn() -> Result<(), Failed>| {
        trials.push(timed_trial(name, move || {
            test().map(|()| Completion::Completed)
        }));
    };
    add("without_c", without_c);
    add("executable", executable);
    add("refused", refused);
    libtest_mimic::run(&args, trials).exit_code()
}
