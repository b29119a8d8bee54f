//! Programs for other machines, run by QEMU, or by this machine if it can: what they print is the same as on this machine, with
//! a collector that runs at every allocation as well.
//!
//! Where there is no compiler or emulator for a machine its tests are reported as ignored, with
//! what Taipan says is to be installed. Where `TAIPAN_TARGETS` is set, they fail.

#[path = "support/elsewhere.rs"]
mod elsewhere;
#[path = "support/programs.rs"]
mod programs;

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitCode, Output};
use std::sync::LazyLock;

use elsewhere::{Place, STRESSED, stderr};
use expect_test::expect;
use libtest_mimic::{Arguments, Completion, Failed};
use programs::{PROGRAMS, outcome, programs};
use taipan_testkit::timed_trial;

const HOST: &str = "x86_64-unknown-linux-gnu";
/// Made by way of C; what runs programs of x86-64 runs these.
const I386: &str = "i686-unknown-linux-gnu";
/// Those, with the system's name for them.
const MACHINES: &[(&str, &str)] = &[
    ("aarch64-unknown-linux-gnu", "aarch64"),
    ("riscv64-unknown-linux-gnu", "riscv64"),
    (I386, "i686"),
];

/// What C says of a machine is asked at import time; what the processor does is the same on all.
const NUMBERS: &str = include_str!("targets/numbers.py");
const SYSTEM: &str = include_str!("targets/system.py");
const FAULTS: &str = include_str!("targets/faults.py");
/// The collector looks at some parts of a large object only.
const CARDS: &str = include_str!("targets/cards.py");
/// Where C has words of 32 bits.
const C_CALLS: &str = include_str!("targets/c_calls.py");
const WIDE: &str = include_str!("targets/wide.py");
const ADDRESSES: &str = include_str!("targets/addresses.py");
/// Writes behind the last characters of strings.
const BEHIND: &str = include_str!("targets/behind.py");

/// Where the programs of this file are.
static PLACE: LazyLock<Place> = LazyLock::new(|| {
    Place::new(
        "targets",
        &[
            ("numbers.py", NUMBERS),
            ("system.py", SYSTEM),
            ("faults.py", FAULTS),
            ("cards.py", CARDS),
            ("behind.py", BEHIND),
            ("c_calls.py", C_CALLS),
            ("wide.py", WIDE),
            ("addresses.py", ADDRESSES),
        ],
    )
});

/// Runs an executable of a machine.
fn run(exe: &Path, folder: &Path, triple: &str, args: &[&str], stress: bool) -> Output {
    let machine = triple.split('-').next().unwrap_or_default();
    let mut command = match triple {
        HOST | I386 => Command::new(exe),
        _ => {
            let mut c = Command::new(format!("qemu-{machine}"));
            c.args(["-L", &format!("/usr/{machine}-linux-gnu")])
                .arg(exe);
            c
        }
    };
    if stress {
        command.env("TAIPAN_GC_STRESS", "1");
    }
    let command = command.current_dir(folder).args(args);
    command.output().expect("the emulator runs")
}

/// At each level programs do the same.
fn levels(triple: &str) -> Result<(), Failed> {
    let here = PLACE.built(&PLACE.0, "numbers.py", HOST, &[])?;
    let expected = run(&here, &PLACE.0, HOST, &["7"], false);
    for level in ["-O0", "-O2", "-O3"] {
        let there = PLACE.built(&PLACE.0, "numbers.py", triple, &[level])?;
        let found = run(&there, &PLACE.0, triple, &["7"], false);
        if outcome(&expected) != outcome(&found) {
            return Err(format!("{level}\n{:?}\n{}", outcome(&found), stderr(&found)).into());
        }
    }
    Ok(())
}

/// Compares runs of a program on this machine and another one.
fn compare(
    folder: &Path,
    target: &str,
    args: &[&str],
    triple: &str,
    stress: bool,
) -> Result<(), Failed> {
    let there = PLACE.built(folder, target, triple, &[])?;
    let here = PLACE.built(folder, target, HOST, &[])?;
    let expected = run(&here, folder, HOST, args, false);
    let found = run(&there, folder, triple, args, stress);
    if outcome(&expected) == outcome(&found) {
        return Ok(());
    }
    Err(format!(
        "{target} {args:?}, stress: {stress}\n--- here\n{:?}\n{}\n--- {triple}\n{:?}\n{}",
        outcome(&expected),
        stderr(&expected),
        outcome(&found),
        stderr(&found),
    )
    .into())
}

fn fixtures(triple: &str) -> Result<(), Failed> {
    for (target, args) in PROGRAMS {
        compare(&programs(), target, args, triple, false)?;
    }
    Ok(())
}

fn stressed(triple: &str) -> Result<(), Failed> {
    // The collector that other machines of narrow addresses have is tested with all of them (`wasm.rs`).
    let most = match triple {
        I386 => 3,
        _ => usize::MAX,
    };
    let chosen = PROGRAMS.iter().filter(|(t, _)| STRESSED.contains(t));
    for (target, args) in chosen.take(most) {
        compare(&programs(), target, args, triple, true)?;
    }
    compare(&PLACE.0, "numbers.py", &["7"], triple, true)
}

/// The collectors that are the runtime's own.
fn collectors(triple: &str) -> Result<(), Failed> {
    for gc in ["ref", "none"] {
        for target in ["jit/lisp.py", "graphs.py"] {
            let of_target = PROGRAMS.iter().filter(|(t, _)| *t == target);
            for (target, args) in of_target {
                let here = PLACE.built(&programs(), target, HOST, &[])?;
                let expected = outcome(&run(&here, &programs(), HOST, args, false));
                let there = PLACE.built(&programs(), target, triple, &["--gc", gc])?;
                for stress in [false, true] {
                    let found = run(&there, &programs(), triple, args, stress);
                    if outcome(&found) != expected {
                        let told = stderr(&found);
                        return Err(format!("{gc} {target} {stress}\n{told}").into());
                    }
                }
            }
        }
    }
    Ok(())
}

fn numbers(triple: &str) -> Result<(), Failed> {
    compare(&PLACE.0, "numbers.py", &["7"], triple, false)
}

fn cards(triple: &str) -> Result<(), Failed> {
    compare(&PLACE.0, "cards.py", &["20000"], triple, false)
}

fn behind(triple: &str) -> Result<(), Failed> {
    compare(&PLACE.0, "behind.py", &["70000"], triple, false)?;
    compare(&PLACE.0, "behind.py", &["130"], triple, true)
}

/// Constants, threads, stacklets, and a C library that the program brings.
fn system(triple: &str, machine: &str) -> Result<(), Failed> {
    for stress in [false, true] {
        let exe = PLACE.built(&PLACE.0, "system.py", triple, &[])?;
        let o = run(&exe, &PLACE.0, triple, &[], stress);
        let text = String::from_utf8_lossy(&o.stdout).into_owned();
        let directory = match machine {
            "aarch64" => 0o40000,
            _ => 0o200000,
        };
        // There the system is that of this machine.
        let running = match triple {
            I386 => "x86_64",
            _ => machine,
        };
        let expected = format!(
            "machine {machine} {running}\nO_DIRECTORY {directory} {directory}\n\
             threads 4950\nstacklets 0 1 2 done\nC 3.500000 -7 300\n"
        );
        if text != expected || !o.status.success() {
            return Err(format!("{text}\n{}\n{:?}", stderr(&o), o.status).into());
        }
    }
    Ok(())
}

/// Faults are told as on this machine, but for the signal that divisions by zero raise.
fn faults(triple: &str) -> Result<(), Failed> {
    for options in [&[][..], &["--lldebug"]] {
        let exe = PLACE.built(&PLACE.0, "faults.py", triple, options)?;
        // What C compilers inline shows as its caller.
        let backend: &[&str] = match triple {
            I386 => &["--backend", "c"],
            _ => &[],
        };
        let here = PLACE.built(&PLACE.0, "faults.py", HOST, &[options, backend].concat())?;
        for what in ["null", "divided", "raised", "deep"] {
            let told = |o: &Output| stderr(o).replace("SIGILL", "SIGFPE");
            let found = run(&exe, &PLACE.0, triple, &[what], false);
            let expected = run(&here, &PLACE.0, HOST, &[what], false);
            // QEMU adds that the program was ended by a signal.
            let found_text = told(&found);
            let found_text = found_text.split("qemu: ").next().unwrap_or_default();
            if found_text != told(&expected) || found.status.success() {
                return Err(format!(
                    "{what} {options:?}\n--- here\n{}--- {triple}\n{}\n{:?} {:?}",
                    told(&expected),
                    stderr(&found),
                    found.status,
                    found.status.signal(),
                )
                .into());
            }
        }
    }
    Ok(())
}

/// `taipan run` has the emulator run a program.
fn emulated(triple: &str, machine: &str) -> Result<(), Failed> {
    let o = PLACE.taipan(
        &PLACE.0,
        &["run", "--quiet", "--target", triple, "system.py"],
    );
    let text = String::from_utf8_lossy(&o.stdout).into_owned();
    match text.starts_with(&format!("machine {machine}")) && o.status.code() == Some(0) {
        true => Ok(()),
        false => Err(format!("{text}\n{}", stderr(&o)).into()),
    }
}

/// Integers of 128 bits, which C compilers for that machine do not have.
fn wide() -> Result<(), Failed> {
    for options in [&[][..], &["-O0"]] {
        let here = PLACE.built(&PLACE.0, "wide.py", HOST, &[])?;
        let there = PLACE.built(&PLACE.0, "wide.py", I386, options)?;
        let expected = run(&here, &PLACE.0, HOST, &[], false);
        let found = run(&there, &PLACE.0, I386, &[], false);
        let (expected, found) = (outcome(&expected), outcome(&found));
        if let Some((a, b)) = (expected.0.lines().zip(found.0.lines())).find(|(a, b)| a != b) {
            return Err(format!("{options:?}\n{a}\n{b}").into());
        }
        assert_eq!((found.0.lines().count(), found.1), (2366, Some(0)));
        assert_eq!(expected.1, Some(0));
    }
    Ok(())
}

/// C functions are called with the words that C has there.
fn c_calls() -> Result<(), Failed> {
    for (triple, sizes) in [(HOST, "8 8 8 8"), (I386, "4 4 4 8")] {
        let exe = PLACE.built(&PLACE.0, "c_calls.py", triple, &[])?;
        let o = run(&exe, &PLACE.0, triple, &[], false);
        let text = String::from_utf8_lossy(&o.stdout).into_owned();
        let expected = format!(
            "5 7 1099511627776\n{sizes}\n109 1\n1.500000 2 3.250000 24\n-1099511627776\n18 30\n"
        );
        if text != expected {
            return Err(format!("{triple}\n{text}\n{}", stderr(&o)).into());
        }
    }
    Ok(())
}

/// What those cannot be given is told.
fn refused_c_calls() -> Result<(), Failed> {
    let bad = PLACE.0.join("bad_calls.py");
    std::fs::write(&bad, C_CALLS.replace("BAD = False", "BAD = True"))?;
    let o = PLACE.taipan(&PLACE.0, &["build", "-q", "--target", I386, "bad_calls.py"]);
    assert_eq!(o.status.code(), Some(1));
    expect![[r#"
        error[TP0504]: strlen() cannot be called on i686-unknown-linux-gnu: the result has 64 bits here, and no header says how many it has in C (`includes` of the function's compilation_info)
          --> bad_calls.py:61:23
           |
        61 |         print intmask(undeclared_strlen(p))
           |                       ^^^^^^^^^^^^^^^^^^^^ it is called here
           |
           = help: keep it out of what the program can reach on this target

        error[TP0504]: strtol() cannot be called on i686-unknown-linux-gnu: argument 2 points to Array of *Array of Char, in which C has addresses of 32 bits
          --> bad_calls.py:62:23
           |
        62 |         print intmask(strtol(p, lltype.nullptr(rffi.CCHARPP.TO), rffi.cast(rffi.INT, 10)))
           |                       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ it is called here
           |
           = help: keep it out of what the program can reach on this target

        error[TP0504]: widen() cannot be called on i686-unknown-linux-gnu: argument 1 points to Struct wider, in which C has fields at other places
          --> bad_calls.py:64:9
           |
        64 |         widen(w)
           |         ^^^^^^^^ it is called here
           |
           = help: keep it out of what the program can reach on this target

        3 errors
    "#]].assert_eq(&stderr(&o));
    let field = PLACE.0.join("bad_field.py");
    std::fs::write(
        &field,
        C_CALLS.replace("('tm_mon', rffi.INT)", "('tm_zone', rffi.CCHARP)"),
    )?;
    let o = PLACE.taipan(&PLACE.0, &["build", "-q", "--target", I386, "bad_field.py"]);
    assert_eq!(o.status.code(), Some(1));
    let text = stderr(&o);
    let last = text
        .lines()
        .find(|l| l.contains("tm_zone"))
        .unwrap_or(&text);
    expect!["error[TP0201]: ConfigurationError: struct tm: its field tm_zone has 4 bytes at 40 in C, where no field of type *Array of Char can be"].assert_eq(last);
    Ok(())
}

/// The end of the addresses is that of memory.
fn addresses() -> Result<(), Failed> {
    for gc in ["generational", "ref"] {
        let exe = PLACE.built(&PLACE.0, "addresses.py", I386, &["--gc", gc])?;
        let o = run(&exe, &PLACE.0, I386, &["1000"], false);
        let text = format!("{}{}", String::from_utf8_lossy(&o.stdout), stderr(&o));
        assert_eq!(
            text,
            "24 16778216\n28 -1\n29 -1\n30 -1\n31 -1\n32 -1\n33 -1\n40 -1\n61 -1\n62 -1\nall 1\n16777216\n"
        );
    }
    Ok(())
}

/// What needs no tools of the machine.
fn refusals() -> Result<(), Failed> {
    let told = |args: &[&str]| {
        let o = PLACE.taipan(&PLACE.0, args);
        assert_eq!(o.status.code(), Some(2), "{args:?}");
        stderr(&o)
    };
    expect![[r#"
        error: invalid value 'sparc64-linux' for '--target <TARGET>': there is no such target; there are x86_64-unknown-linux-gnu, aarch64-unknown-linux-gnu, riscv64-unknown-linux-gnu, i686-unknown-linux-gnu, wasm32-wasi, web

        For more information, try '--help'.
    "#]]
    .assert_eq(&told(&["build", "--target", "sparc64-linux", "numbers.py"]));
    let aarch64 = ["--target", "aarch64-linux-gnu", "numbers.py"];
    expect![[r#"
        taipan: a just-in-time compiler is a part of Taipan, which runs on x86_64-unknown-linux-gnu here and cannot make itself for aarch64-unknown-linux-gnu: leave out --jit
    "#]]
    .assert_eq(&told(&[&["build", "-q", "--jit"], &aarch64[..]].concat()));
    expect![[r#"
        taipan: aarch64-unknown-linux-gnu: programs for other machines run as machine code by Cranelift: no engine but `native` does that
    "#]]
    .assert_eq(&told(
        &[&["run", "-q", "--engine", "llinterp"], &aarch64[..]].concat(),
    ));
    let refused: String = [
        &["run", "-q", "--engine", "c"][..],
        &["run", "-q", "--engine", "python"],
        &["run", "-q", "--backend", "c"],
        &["run", "-q", "--backend", "python"],
        &["build", "-q", "--backend", "c"],
        &["build", "-q", "--backend", "python"],
        &["build", "-q", "--backend", "llvm"],
        &["build", "-q", "--extension"],
        &["build", "-q", "-O2", "--lto"],
        &["build", "-q", "--gc", "boehm"],
        &["emit", "python"],
    ]
    .iter()
    .map(|first| format!("{first:?}\n{}", told(&[*first, &aarch64[..]].concat())))
    .collect();
    expect![[r#"
        ["run", "-q", "--engine", "c"]
        taipan: aarch64-unknown-linux-gnu: programs for other machines run as machine code by Cranelift: no engine but `native` does that
        ["run", "-q", "--engine", "python"]
        taipan: aarch64-unknown-linux-gnu: programs for other machines run as machine code by Cranelift: no engine but `native` does that
        ["run", "-q", "--backend", "c"]
        taipan: executables for other machines are made by Cranelift: leave out --backend
        ["run", "-q", "--backend", "python"]
        taipan: Python is made for this machine: leave out --target
        ["build", "-q", "--backend", "c"]
        taipan: executables for other machines are made by Cranelift: leave out --backend
        ["build", "-q", "--backend", "python"]
        taipan: Python is made for this machine: leave out --target
        ["build", "-q", "--backend", "llvm"]
        taipan: executables for other machines are made by Cranelift: leave out --backend
        ["build", "-q", "--extension"]
        taipan: --extension: modules for Python are made for this machine: leave out --target
        ["build", "-q", "-O2", "--lto"]
        taipan: --keep-source and --lto are about C files, and executables for other machines are made by Cranelift: leave them out
        ["build", "-q", "--gc", "boehm"]
        taipan: libgc is taken from this machine: leave out one of --gc boehm and --target
        ["emit", "python"]
        taipan: Python is made for this machine: leave out --target
    "#]].assert_eq(&refused);
    // Without any tools it is said which are to be installed.
    let o = Command::new(env!("CARGO_BIN_EXE_taipan"))
        .current_dir(&PLACE.0)
        .env("PATH", "/nowhere")
        .env_remove("CC")
        .args(["build", "-q", "--no-cache"])
        .args(aarch64)
        .output()
        .expect("taipan runs");
    expect![[r#"
        taipan: numbers-c: there is no C compiler for aarch64-unknown-linux-gnu: neither aarch64-linux-gnu-gcc nor a $CC that makes code for it (Debian's package is gcc-aarch64-linux-gnu)
    "#]]
    .assert_eq(&stderr(&o));
    Ok(())
}

/// The same for 32-bit x86.
fn i386_refusals() -> Result<(), Failed> {
    let refused: String = [
        &["build", "-q", "--jit"][..],
        &["build", "-q", "--backend", "cranelift"],
        &["build", "-q", "--backend", "llvm"],
        &["build", "-q", "--extension"],
        &["build", "-q", "--gc", "boehm"],
        &["run", "-q", "--engine", "c"],
        &["emit", "asm"],
    ]
    .iter()
    .map(|first| {
        let o = PLACE.taipan(
            &PLACE.0,
            &[*first, &["--target", "i386-linux", "numbers.py"]].concat(),
        );
        assert_eq!(o.status.code(), Some(2), "{first:?}");
        format!("{first:?}\n{}", stderr(&o))
    })
    .collect();
    expect![[r#"
        ["build", "-q", "--jit"]
        taipan: i686-unknown-linux-gnu: the just-in-time compiler makes no code for that: leave out --jit
        ["build", "-q", "--backend", "cranelift"]
        taipan: i686-unknown-linux-gnu: programs are made by way of C: leave out --backend
        ["build", "-q", "--backend", "llvm"]
        taipan: i686-unknown-linux-gnu: programs are made by way of C: leave out --backend
        ["build", "-q", "--extension"]
        taipan: --extension: modules for Python are made for this machine: leave out --target
        ["build", "-q", "--gc", "boehm"]
        taipan: libgc is taken from this machine: leave out one of --gc boehm and --target
        ["run", "-q", "--engine", "c"]
        taipan: i686-unknown-linux-gnu: programs are made by way of C and run as a process of their own: leave out --engine and --backend
        ["emit", "asm"]
        taipan: i686-unknown-linux-gnu: programs are made by way of C: `emit c` shows that
    "#]].assert_eq(&refused);
    let o = Command::new(env!("CARGO_BIN_EXE_taipan"))
        .current_dir(&PLACE.0)
        .env("PATH", "/nowhere")
        .env_remove("CC")
        .args(["build", "-q", "--no-cache", "--target", I386, "numbers.py"])
        .output()
        .expect("taipan runs");
    expect![[r#"
        taipan: numbers-c: there is no C compiler for i686-unknown-linux-gnu: neither $CC, cc, gcc, i686-linux-gnu-gcc nor clang makes programs with -m32 (Debian's packages are gcc-i686-linux-gnu libc6-dev-i386-cross)
    "#]].assert_eq(&stderr(&o));
    Ok(())
}

/// Why nothing can be built for a machine and run here; an error if it is not known why.
fn missing(triple: &str) -> Result<Option<String>, String> {
    let o = PLACE.taipan(
        &PLACE.0,
        &["run", "--quiet", "--target", triple, "numbers.py", "7"],
    );
    let text = stderr(&o);
    let known = ["Debian's package is", "rustup target add"];
    match o.status.success() {
        true => Ok(None),
        false if known.iter().any(|k| text.contains(k)) => Ok(Some(text)),
        false => Err(text),
    }
}

fn main() -> ExitCode {
    let args = Arguments::from_args();
    let mut trials = vec![
        timed_trial("refusals", || refusals().map(|()| Completion::Completed)),
        timed_trial("i386_refusals", || {
            i386_refusals().map(|()| Completion::Completed)
        }),
    ];
    for &(triple, machine) in MACHINES {
        let reason = match args.list {
            true => Ok(None),
            false => missing(triple),
        };
        let required = std::env::var_os("TAIPAN_TARGETS").is_some();
        let mut trial = |name: &str, test: Box<dyn Fn() -> Result<(), Failed> + Send>| {
            let reason = reason.clone();
            let test = move || match &reason {
                Ok(None) => test().map(|()| Completion::Completed),
                Ok(Some(why)) if !required => Ok(Completion::ignored_with(why.trim())),
                Ok(Some(why)) | Err(why) => Err(why.into()),
            };
            let name = format!("{machine}_{name}");
            trials.push(timed_trial(name, test));
        };
        trial("fixtures", Box::new(move || fixtures(triple)));
        trial("stressed", Box::new(move || stressed(triple)));
        trial("collectors", Box::new(move || collectors(triple)));
        trial("cards", Box::new(move || cards(triple)));
        trial("behind", Box::new(move || behind(triple)));
        // There the levels include the usual one.
        if triple != I386 {
            trial("numbers", Box::new(move || numbers(triple)));
        }
        trial("levels", Box::new(move || levels(triple)));
        trial("system", Box::new(move || system(triple, machine)));
        trial("faults", Box::new(move || faults(triple)));
        trial("emulated", Box::new(move || emulated(triple, machine)));
        if triple == I386 {
            trial("wide", Box::new(wide));
            trial("c_calls", Box::new(c_calls));
            trial("refused_c_calls", Box::new(refused_c_calls));
            trial("addresses", Box::new(addresses));
        }
    }
    libtest_mimic::run(&args, trials).exit_code()
}
