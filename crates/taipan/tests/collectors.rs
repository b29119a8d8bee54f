//! Programs with every garbage collector: what they print is the same, in memory and as
//! executables, in stress mode too.
//!
//! This target has a harness of its own, so that what needs libgc is reported as ignored, with
//! the reason, where it is missing.

mod support {
    #[allow(dead_code, reason = "generated.rs uses more of it")]
    pub(crate) mod generated;
    pub(crate) mod prelude;
    pub(crate) mod programs;
    pub(crate) mod text;
}

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};

use libtest_mimic::{Arguments, Completion, Failed};
use support::programs::{PROGRAMS, outcome, programs};
use support::{generated, prelude};
use taipan_driver::missing_library;
use taipan_language::Collector;
use taipan_platform::Llvm;
use taipan_testkit::timed_trial;

const STRESS: (&str, &str) = ("TAIPAN_GC_STRESS", "1");

fn taipan(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_taipan"));
    command.current_dir(folder).args(args);
    command
}

fn run(command: &mut Command) -> Output {
    command.output().expect("it starts")
}

fn expect_same(what: &str, expected: &Output, found: &Output) -> Result<(), Failed> {
    match outcome(expected) == outcome(found) {
        true => Ok(()),
        false => {
            let stderr = String::from_utf8_lossy(&found.stderr);
            let (expected, found) = (outcome(expected), outcome(found));
            Err(format!("{what}: {found:?}, not {expected:?}\n{stderr}").into())
        }
    }
}

/// Runs a program in memory, with and without stress.
fn in_memory(
    collector: Collector,
    folder: &Path,
    target: &str,
    args: &[&str],
) -> Result<(), Failed> {
    let expected = run(taipan(folder, &["run", "--no-cache", target]).args(args));
    let other = ["run", "--no-cache", "--gc", collector.name(), target];
    for stress in [("TAIPAN_GC_STRESS", "0"), STRESS] {
        let found = run(taipan(folder, &other).args(args).envs([stress]));
        expect_same(&format!("{target} {args:?} {stress:?}"), &expected, &found)?;
    }
    Ok(())
}

fn fixtures(collector: Collector) -> Result<(), Failed> {
    let folder = programs();
    let mut all = PROGRAMS.iter();
    all.try_for_each(|(target, args)| in_memory(collector, &folder, target, args))
}

fn random_programs(collector: Collector) -> Result<(), Failed> {
    let random = generated::numbered(generated::PROGRAMS, 3, generated::random_program);
    let classes = generated::numbered(generated::CLASSES, 1, generated::program_of_classes);
    for program in generated::projects().chain(random).chain(classes) {
        let folder = program.write();
        in_memory(collector, folder.path(), program.target, &[])
            .map_err(|e| format!("{}: {e:?}", program.name))?;
    }
    Ok(())
}

fn prelude_tests(collector: Collector) -> Result<(), Failed> {
    let left_out = match collector {
        Collector::Generational | Collector::Ref => &[][..],
        Collector::Boehm | Collector::None => &[prelude::EXACT],
    };
    in_memory(collector, &prelude::folder(), prelude::PROGRAM, left_out)
}

fn own(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/collecting/{name}.py"))
}

/// What a program of this test prints.
fn printed(collector: Collector, name: &str, stress: &str) -> Result<String, Failed> {
    let target = own(name);
    let args = ["run", "--no-cache", "--gc", collector.name()];
    let mut command = taipan(Path::new("."), &args);
    let found = run(command.arg(target).env("TAIPAN_GC_STRESS", stress));
    match found.status.success() {
        true => Ok(String::from_utf8_lossy(&found.stdout).into_owned()),
        false => Err(format!("{name}: {found:?}").into()),
    }
}

fn deaths(collector: Collector) -> Result<(), Failed> {
    let how = match collector {
        Collector::None => ("none", 0),
        _ => ("most", 1),
    };
    let expected = format!(
        "weak references {0}\n__del__ {0}\nqueue {0}\ntriggered {1}\nkept 7\ncaught 606\n\
         identities 100\n",
        how.0, how.1
    );
    for stress in ["0", "1"] {
        let found = printed(collector, "deaths", stress)?;
        if found != expected {
            return Err(format!("{found}, not {expected}").into());
        }
    }
    Ok(())
}

const BEHIND: &str = "352 0\n352 1\n4 0\n600 0\n8\n1\n8 9\n";

/// Programs can write one byte behind the last character of a non-moving string: on every engine and back end, and in
/// loops compiled by the JIT.
fn behind(collector: Collector) -> Result<(), Failed> {
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/targets/behind.py");
    let check = |how: String, command: &mut Command| {
        for stress in [("TAIPAN_GC_STRESS", "0"), STRESS] {
            let found = run(command.envs([stress]));
            if found.stdout != BEHIND.as_bytes() {
                return Err(Failed::from(format!("{how} {stress:?}: {found:?}")));
            }
        }
        Ok(())
    };
    let gc = ["--gc", collector.name()];
    let mut ways: Vec<&[&str]> = vec![&["--engine", "native"], &["--engine", "llinterp"]];
    if collector == Collector::Generational {
        ways.push(&["--jit", "--jit-threshold", "1"]);
        ways.push(&["--jit", "--jit-threshold", "50"]);
        ways.push(&["--engine", "python"]);
    }
    for way in ways {
        let mut command = taipan(Path::new("."), &["run", "--no-cache"]);
        command.args(gc).args(way).arg(&target).arg("130");
        check(format!("{way:?}"), &mut command)?;
    }
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("program");
    let mut backends = vec!["cranelift", "c"];
    if Llvm::find().is_ok() {
        backends.push("llvm");
    }
    for backend in backends {
        let mut build = taipan(
            Path::new("."),
            &["build", "--no-cache", "--backend", backend],
        );
        let built = run(build.args(gc).arg(&target).arg("-o").arg(&out));
        if !built.status.success() {
            return Err(format!("{backend}: {built:?}").into());
        }
        check(backend.to_owned(), Command::new(&out).arg("130"))?;
    }
    Ok(())
}

fn executables(collector: Collector) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("program");
    for (target, args) in [PROGRAMS[0], PROGRAMS[5], PROGRAMS[6]] {
        let mut build = taipan(
            &programs(),
            &["build", "--no-cache", "--gc", collector.name(), target],
        );
        let built = run(build.arg("-o").arg(&out));
        if !built.status.success() {
            return Err(format!("{built:?}").into());
        }
        let expected = run(taipan(&programs(), &["run", "--no-cache", target]).args(args));
        for stress in [("TAIPAN_GC_STRESS", "0"), STRESS] {
            let mut command = Command::new(&out);
            let found = run(command.current_dir(programs()).args(args).envs([stress]));
            expect_same(&format!("{target} {stress:?}"), &expected, &found)?;
        }
    }
    Ok(())
}

/// Executables by another back end, with and without stress.
fn by_backend(backend: &str, collector: Collector) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let cache = folder.path().join("cache").to_string_lossy().into_owned();
    for (target, args) in [
        ("richards.py", &["1"][..]),
        ("binarytrees.py", &["6"]),
        ("wordcount.py", &["50"]),
        ("lisp.py", &["1"]),
    ] {
        let out = folder.path().join("program");
        // The cache knows the code of the same program for another collector.
        let made = |collector: Collector| {
            let mut build = taipan(&programs(), &["build", "--cache-dir", &cache, "-O1"]);
            build.args(["--backend", backend, "--gc", collector.name(), target]);
            let built = run(build.arg("-o").arg(&out));
            match built.status.success() {
                true => Ok(()),
                false => Err(Failed::from(format!("{target}: {built:?}"))),
            }
        };
        let executed = |stress| {
            let mut command = Command::new(&out);
            run(command.current_dir(programs()).args(args).envs([stress]))
        };
        made(Collector::Generational)?;
        let expected = executed(("TAIPAN_GC_STRESS", "0"));
        made(collector)?;
        for stress in [("TAIPAN_GC_STRESS", "0"), STRESS] {
            let found = executed(stress);
            expect_same(&format!("{target} {stress:?}"), &expected, &found)?;
        }
    }
    Ok(())
}

fn by_c(collector: Collector) -> Result<(), Failed> {
    by_backend("c", collector)
}

fn by_llvm(collector: Collector) -> Result<(), Failed> {
    by_backend("llvm", collector)
}

/// A function in this process, by way of C: its objects are where the loader has put them.
fn called_by_c(collector: Collector) -> Result<(), Failed> {
    for stress in [("TAIPAN_GC_STRESS", "0"), STRESS] {
        let function = format!("{}:kept_in_prebuilt", own("called").display());
        let args = ["call", "--no-cache", "--engine", "c", "--gc"];
        let mut command = taipan(Path::new("."), &args);
        let found = run(command
            .args([collector.name(), &function, "2000"])
            .envs([stress]));
        if found.stdout != b"1999000\n" {
            return Err(format!("{stress:?}: {found:?}").into());
        }
    }
    Ok(())
}

const LIMIT: (&str, &str) = ("PYPY_GC_MAX", "30MB");
const CAUGHT: &str = "MemoryError 0\n99999\n";

/// Ways to need more memory than the limit allows, and what the program prints. The first ones make
/// small objects.
const TOO_MUCH: [(&str, &str); 8] = [
    ("chain", CAUGHT),
    ("plain", CAUGHT),
    ("finally", "MemoryError 1\n99999\n"),
    ("guarded", "1\n99999\n"),
    ("guarded_plain", "1\n99999\n"),
    ("strings", CAUGHT),
    ("many", CAUGHT),
    ("large", CAUGHT),
];

/// Where the heap would become too large MemoryError is raised, whatever is allocated, and a program that
/// lets go of enough goes on.
fn limited(backend: &str, collector: Collector) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("program");
    let args = [
        "build",
        "--no-cache",
        "--backend",
        backend,
        "--gc",
        collector.name(),
    ];
    let mut build = taipan(Path::new("."), &args);
    let built = run(build.arg(own("limited")).arg("-o").arg(&out));
    if !built.status.success() {
        return Err(format!("{built:?}").into());
    }
    let executed = |how| run(Command::new(&out).arg(how).envs([LIMIT]));
    // What is let go of is not free at once with libgc, and never without a collector.
    let told = match collector {
        Collector::Generational | Collector::Ref => &TOO_MUCH[..],
        Collector::Boehm | Collector::None => &TOO_MUCH[7..],
    };
    for (how, expected) in told {
        let found = executed(*how);
        if String::from_utf8_lossy(&found.stdout) != *expected || !found.status.success() {
            return Err(format!("{how}: {found:?}, not {expected:?}").into());
        }
    }
    let found = executed("uncaught");
    let stderr = String::from_utf8_lossy(&found.stderr);
    let expected = "in limited.chain\nFatal RPython error: MemoryError\n";
    if !stderr.starts_with("RPython traceback:\n") || !stderr.ends_with(expected) {
        return Err(format!("uncaught: {found:?}").into());
    }
    let found = executed("twice");
    let stderr = String::from_utf8_lossy(&found.stderr);
    let expected = match collector {
        Collector::Generational => "Fatal RPython error: using too much memory, aborting\n",
        _ => "Fatal RPython error: MemoryError\n",
    };
    match stderr.ends_with(expected) {
        true => Ok(()),
        false => Err(format!("twice: {found:?}").into()),
    }
}

fn limited_by_cranelift(collector: Collector) -> Result<(), Failed> {
    limited("cranelift", collector)
}

fn limited_by_c(collector: Collector) -> Result<(), Failed> {
    limited("c", collector)
}

fn limited_by_llvm(collector: Collector) -> Result<(), Failed> {
    limited("llvm", collector)
}

/// Nothing is left of what has no cycles.
fn nothing_is_left() -> Result<(), Failed> {
    for stress in ["0", "1"] {
        let found = printed(Collector::Ref, "cleared", stress)?;
        if !found.ends_with("left 0\n") {
            return Err(found.into());
        }
    }
    Ok(())
}

/// What cannot be had says so.
fn refusals() -> Result<(), Failed> {
    let target = own("deaths");
    let target = target.to_string_lossy();
    for (args, expected) in [
        (
            vec!["run", "--gc", "marvellous", &target],
            "[possible values: generational, ref, boehm, none]",
        ),
        (
            vec!["run", "--jit", "--gc", "ref", &target],
            "the just-in-time compiler makes code for the generational collector only",
        ),
        (
            vec!["build", "--extension", "--gc", "boehm", &target],
            "modules for Python keep what Python refers to by the generational collector",
        ),
        (
            vec!["build", "--backend", "python", "--gc", "none", &target],
            "Python manages the memory",
        ),
        (
            vec!["run", "--engine", "python", "--gc", "none", &target],
            "Python manages the memory",
        ),
    ] {
        let found = run(&mut taipan(Path::new("."), &args));
        let stderr = String::from_utf8_lossy(&found.stderr);
        if found.status.code() != Some(2) || !stderr.contains(expected) {
            return Err(format!("{args:?}: {found:?}").into());
        }
    }
    Ok(())
}

type Test = fn(Collector) -> Result<(), Failed>;

fn main() -> ExitCode {
    let llvm = Llvm::find().err().map(|e| e.to_string());
    let tests: [(&str, Test); 12] = [
        ("fixtures", fixtures),
        ("random_programs", random_programs),
        ("prelude_tests", prelude_tests),
        ("executables", executables),
        ("deaths", deaths),
        ("behind", behind),
        ("by_c", by_c),
        ("by_llvm", by_llvm),
        ("called_by_c", called_by_c),
        ("limited_by_cranelift", limited_by_cranelift),
        ("limited_by_c", limited_by_c),
        ("limited_by_llvm", limited_by_llvm),
    ];
    let mut trials = vec![
        timed_trial("nothing_is_left", || {
            nothing_is_left().map(|()| Completion::Completed)
        }),
        timed_trial("refusals", || refusals().map(|()| Completion::Completed)),
    ];
    for collector in Collector::ALL.iter().copied() {
        for (name, test) in tests {
            if collector == Collector::Generational
                && ["fixtures", "by_c", "by_llvm"].contains(&name)
            {
                // Other tests have these.
                continue;
            }
            let missing = match name {
                "by_llvm" | "limited_by_llvm" => llvm.clone(),
                _ => None,
            };
            let missing =
                missing.or_else(|| missing_library(collector).map(|l| format!("{l} is missing")));
            let test = move || match missing {
                Some(what) => Ok(Completion::ignored_with(what.clone())),
                None => test(collector).map(|()| Completion::Completed),
            };
            trials.push(timed_trial(format!("{collector}_{name}"), test));
        }
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
