//! `--backend llvm`: programs end as they do by Cranelift, and a build compiles what has
//! changed.
//!
//! Where there is no clang that will do, the tests that need one are reported as ignored, with
//! the reason: this target has a harness of its own, as `cpython.rs` has.

mod support {
    #[allow(dead_code, reason = "generated.rs uses more of it")]
    pub(crate) mod generated;
    pub(crate) mod named;
    pub(crate) mod prelude;
    pub(crate) mod programs;
    pub(crate) mod text;
}
#[allow(dead_code, reason = "watch.rs uses more of it")]
mod watching;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, ExitCode, Output};

use libtest_mimic::{Arguments, Completion, Failed, Trial};
use support::generated::{self, Generated};
use support::{named, prelude, programs};
use taipan_platform::Llvm;
use taipan_testkit::timed_trial;

fn taipan(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_taipan"));
    command.current_dir(folder).args(args);
    command
}

fn finished(mut command: Command, what: &str) -> Result<Output, Failed> {
    let o = command.output()?;
    match o.status.success() {
        true => Ok(o),
        false => Err(format!("{what}: {}", String::from_utf8_lossy(&o.stderr)).into()),
    }
}

/// The executable of a program by each back end.
fn both(
    folder: &Path,
    target: &str,
    out: &Path,
    options: &[&str],
) -> Result<[(&'static str, std::path::PathBuf); 2], Failed> {
    let built = ["cranelift", "llvm"].map(|backend| {
        let file = out.join(format!("{}.{backend}", target.replace('/', "_")));
        if !file.exists() {
            let name = file.to_str().ok_or("no text")?;
            let cache = out.join("cache");
            let cache = cache.to_str().ok_or("no text")?;
            let args = ["build", "--backend", backend, target, "-o", name];
            let args = [&args[..], &["--cache-dir", cache], options].concat();
            let mut command = taipan(folder, &args);
            // What is kept is worked out again, and must be the same.
            command.env("TAIPAN_CACHE_VERIFY", "1");
            finished(command, &format!("{target}, {backend}"))?;
        }
        Ok::<_, Failed>((backend, file))
    });
    let [a, b] = built;
    Ok([a?, b?])
}

/// How a program ends by each back end must be the same.
fn compare(
    executables: &[(&'static str, std::path::PathBuf); 2],
    folder: &Path,
    args: &[&str],
    what: &str,
) -> Result<(), Failed> {
    for stress in ["0", "1"] {
        let ends = executables.clone().map(|(backend, file)| {
            let mut command = Command::new(file);
            command.current_dir(folder).args(args);
            let o = command.env("TAIPAN_GC_STRESS", stress).output();
            let o = o.expect("it was built");
            let stderr = String::from_utf8_lossy(&o.stderr).into_owned();
            (backend, o.status, programs::outcome(&o), stderr)
        });
        let [(_, s, o, e), (_, t, p, f)] = &ends;
        if (s, o, e) != (t, p, f) {
            return Err(format!("{what}, TAIPAN_GC_STRESS={stress}: {ends:#?}").into());
        }
    }
    Ok(())
}

fn fixtures() -> Result<(), Failed> {
    let out = tempfile::tempdir()?;
    for (target, args) in programs::PROGRAMS {
        let executables = both(&programs::programs(), target, out.path(), &[])?;
        let name = format!("{target} {args:?}");
        compare(&executables, &programs::programs(), args, &name)?;
    }
    Ok(())
}

fn prelude_tests() -> Result<(), Failed> {
    let out = tempfile::tempdir()?;
    let folder = prelude::folder();
    let executables = both(&folder, prelude::PROGRAM, out.path(), &[])?;
    compare(&executables, &folder, &[], prelude::PROGRAM)
}

fn all_of(programs: impl Iterator<Item = Generated>) -> Result<(), Failed> {
    for program in programs {
        let folder = program.write();
        let executables = both(folder.path(), program.target, folder.path(), &[])?;
        compare(&executables, folder.path(), &[], &program.name)?;
    }
    Ok(())
}

fn random_programs() -> Result<(), Failed> {
    all_of(generated::numbered(
        generated::PROGRAMS,
        4,
        generated::random_program,
    ))
}

fn programs_of_classes() -> Result<(), Failed> {
    all_of(generated::numbered(
        generated::CLASSES,
        1,
        generated::program_of_classes,
    ))
}

const ENDS: &str = r#"
from rpython.rtyper.lltypesystem import lltype, rffi

class Box(object):
    def __init__(self, v):
        self.v = v

def deep(n):
    return deep(n + 1) + 1

def tail(n):
    if n == -5:
        return 0
    return tail(n + 1)

def raising(n):
    if n > 3:
        raise ValueError('bad')
    return raising(n + 1)

def freed(n):
    p = lltype.malloc(rffi.LONGP.TO, 10, flavor='raw')
    p[0] = n
    lltype.free(p, flavor='raw')
    return p[0]

def main(argv):
    what = argv[1]
    if what == 'deep':
        try:
            deep(0)
        except RuntimeError:
            print 'deep'
    elif what == 'tail':
        try:
            tail(0)
        except RuntimeError:
            print 'tail'
    elif what == 'raise':
        raising(0)
    elif what == 'index':
        print [1, 2, 3][len(argv) + 10]
    elif what == 'freed':
        print freed(5)
    return len(what)

def target(driver, args):
    return main, None
"#;

/// Uncaught exceptions, recursion without end, and what checks find.
fn ends() -> Result<(), Failed> {
    let out = tempfile::tempdir()?;
    fs::write(out.path().join("ends.py"), ENDS)?;
    let plain = both(out.path(), "ends.py", out.path(), &[])?;
    for what in ["deep", "tail", "raise", "nothing"] {
        compare(&plain, out.path(), &[what], what)?;
    }
    let checked = out.path().join("checked");
    fs::create_dir(&checked)?;
    let checked = both(out.path(), "ends.py", &checked, &["--lldebug"])?;
    for what in ["raise", "index", "freed"] {
        compare(&checked, out.path(), &[what], what)?;
    }
    Ok(())
}

const PARTS: [(&str, &str); 3] = [
    (
        "one.py",
        "def f(n):\n    s = 0\n    for i in range(n): s += i * n\n    return s\n",
    ),
    (
        "llvm.py",
        "def g(n):\n    s = 1\n    while n: s, n = s * n, n - 1\n    return s\n",
    ),
    (
        "main.py",
        "import one, llvm\ndef main(argv):\n    n = len(argv)\n    print one.f(n + 3), llvm.g(n + 4)\n    \
         return 0\ndef target(driver, args):\n    return main, None\n",
    ),
];

/// Programs that note how they are called, in front of those that are on the path.
fn noting(folder: &Path) -> Result<String, Failed> {
    let bin = folder.join("bin");
    fs::create_dir(&bin)?;
    let path = std::env::var("PATH")?;
    let log = folder.join("log");
    let names = (15..=40).map(|n| format!("clang-{n}"));
    for name in names.chain(["clang", "llc"].map(str::to_owned)) {
        let found = std::env::split_paths(&path)
            .map(|p| p.join(&name))
            .find(|p| p.is_file());
        if let Some(found) = found {
            let (log, found) = (log.display(), found.display());
            let script = format!(
                "#!/bin/sh\ncase \"$*\" in *.ll|*.bc) echo \"$*\" >> {log};; esac\nexec {found} \"$@\"\n"
            );
            let file = bin.join(&name);
            fs::write(&file, script)?;
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755))?;
        }
    }
    Ok(format!("{}:{path}", bin.display()))
}

/// How often LLVM was called since the last time.
fn calls(folder: &Path) -> usize {
    let log = folder.join("log");
    let count = fs::read_to_string(&log).map_or(0, |t| t.lines().count());
    let _ = fs::remove_file(log);
    count
}

/// An edit of a body compiles the module that it is in, and nothing else.
fn rebuilds() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    for (name, text) in PARTS {
        fs::write(folder.join(name), text)?;
    }
    let path = noting(folder)?;
    let build = || -> Result<String, Failed> {
        let mut command = taipan(
            folder,
            &[
                "build",
                "--backend",
                "llvm",
                "main.py",
                "-o",
                "out",
                "--cache-dir",
                "cache",
            ],
        );
        command.env("PATH", &path).env_remove("CLANG");
        finished(command, "build")?;
        let o = Command::new(folder.join("out")).output()?;
        Ok(String::from_utf8_lossy(&o.stdout).into_owned())
    };
    let expect = |what: &str, found: (String, bool), wanted: (&str, bool)| match found
        == (wanted.0.to_owned(), wanted.1)
    {
        true => Ok(()),
        false => Err(Failed::from(format!(
            "{what}: {found:?} instead of {wanted:?}"
        ))),
    };
    let first = build()?;
    expect("first", (first, calls(folder) > 3), ("24 120\n", true))?;
    let again = build()?;
    expect("again", (again, calls(folder) == 0), ("24 120\n", true))?;
    fs::write(folder.join("one.py"), PARTS[0].1.replace("i * n", "i + n"))?;
    let edited = build()?;
    let count = calls(folder);
    expect(
        "edited",
        (format!("{edited}{count}"), true),
        ("22 120\n1", true),
    )
}

/// The files that are left make the same program, and are left alone where they are the same.
fn sources() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    for (name, text) in PARTS {
        fs::write(folder.join(name), text)?;
    }
    let args = [
        "build",
        "--backend",
        "llvm",
        "--no-cache",
        "--keep-source",
        "kept",
        "main.py",
        "-o",
        "out",
    ];
    finished(taipan(folder, &args), "build")?;
    let kept = folder.join("kept");
    let mut make = Command::new("make");
    make.current_dir(&kept).arg("out");
    finished(make, "make")?;
    let o = Command::new(kept.join("out")).output()?;
    let (said, time) = (String::from_utf8_lossy(&o.stdout), |name: &str| {
        kept.join(name).metadata().and_then(|m| m.modified())
    });
    let before = time("main.ll")?;
    finished(taipan(folder, &args), "build")?;
    match (
        &*said,
        time("main.ll")? == before,
        kept.join("taipan_program.ll").exists(),
    ) {
        ("24 120\n", true, true) => Ok(()),
        other => Err(format!("{other:?}").into()),
    }
}

/// Modules that are called as files are that are made, or differ in case alone.
fn names() -> Result<(), Failed> {
    let dir = named::write();
    let args = [
        "build",
        "--backend",
        "llvm",
        "-O1",
        "--no-cache",
        "--keep-source",
        "kept",
        "main.py",
        "-o",
        "clean",
    ];
    finished(taipan(dir.path(), &args), "build")?;
    let kept = dir.path().join("kept");
    let mut make = Command::new("make");
    make.current_dir(&kept);
    finished(make, "make")?;
    for executable in [dir.path().join("clean"), kept.join("program")] {
        let o = Command::new(executable).output()?;
        let said = String::from_utf8_lossy(&o.stdout);
        if said != named::printed() {
            return Err(said.into_owned().into());
        }
    }
    Ok(())
}

/// A watched executable is made anew by LLVM where its program is edited.
fn watched() -> Result<(), Failed> {
    let dir = watching::project(&PARTS);
    let out = || {
        let o = Command::new(dir.path().join("out")).output()?;
        Ok::<_, Failed>(String::from_utf8_lossy(&o.stdout).into_owned())
    };
    let args = ["build", "--backend", "llvm", "main.py", "-o", "out"];
    let mut watch = watching::Watched::start(&dir, &args);
    watch.tells("built out");
    let first = out()?;
    watch.save("one.py", &PARTS[0].1.replace("i * n", "i + n"));
    watch.tells("built out");
    match (&*first, &*out()?) {
        ("24 120\n", "22 120\n") => Ok(()),
        other => Err(format!("{other:?}").into()),
    }
}

/// A run shows what code is optimised for, and what it counted is used again.
fn profiles() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    for (name, text) in PARTS {
        fs::write(folder.join(name), text)?;
    }
    let profile = ["--profile", "counts"];
    for options in [
        &[&profile[..], &["--profopt", "1 2 3"]].concat()[..],
        &profile,
    ] {
        let args = [
            "build",
            "--backend",
            "llvm",
            "--no-cache",
            "main.py",
            "-o",
            "out",
        ];
        finished(taipan(folder, &[&args, options].concat()), "build")?;
        let o = Command::new(folder.join("out")).output()?;
        if o.stdout != b"24 120\n" || !folder.join("counts/program.profdata").exists() {
            return Err(format!("{options:?}: {o:?}").into());
        }
        fs::remove_file(folder.join("out"))?;
    }
    Ok(())
}

/// What is said where there is no compiler, or one that fails.
fn compilers() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    for (name, text) in PARTS {
        fs::write(folder.join(name), text)?;
    }
    let script = |name: &str, text: &str| -> Result<String, Failed> {
        let file = folder.join(name);
        fs::write(&file, format!("#!/bin/sh\n{text}\n"))?;
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755))?;
        Ok(file.to_str().ok_or("no text")?.to_owned())
    };
    let old = script("old", "echo clang version 11.0.1")?;
    let failing =
        "case $1 in --version) echo clang version 19.1.0;; *) echo no such thing; exit 1;; esac";
    let failing = script("failing", failing)?;
    let broken = script("broken", "echo no library; exit 1")?;
    let no_program = script("no-program", "")?;
    fs::set_permissions(&no_program, fs::Permissions::from_mode(0o644))?;
    let cases = [
        (
            "no-such-clang",
            "the LLVM back end needs no-such-clang, which is not there: install clang",
        ),
        (
            &*old,
            "old is LLVM 11, which is too old for the LLVM back end: install clang",
        ),
        (&*failing, "failing -c -O2 -x ir"),
        (&*failing, "no such thing"),
        (&*broken, "broken failed:\nno library\nthe command was: "),
        (&*no_program, "no-program cannot be run: Permission denied"),
    ];
    for (clang, expected) in cases {
        let args = ["build", "--backend", "llvm", "--no-cache", "main.py"];
        let o = taipan(folder, &args).env("CLANG", clang).output()?;
        let said = String::from_utf8_lossy(&o.stderr);
        if o.status.code() != Some(2) || !said.contains(expected) || folder.join("main-c").exists()
        {
            return Err(format!("{clang}: {:?} {said}", o.status).into());
        }
    }
    Ok(())
}

/// What LLVM does not do is refused.
fn refusals() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    for (name, text) in PARTS {
        fs::write(folder.path().join(name), text)?;
    }
    let cases: [(&[&str], &str); 5] = [
        (&["build", "--jit"], "no just-in-time compiler"),
        (&["run", "--jit"], "no just-in-time compiler"),
        (
            &["run", "--engine", "llinterp"],
            "leave out one of --engine and --backend",
        ),
        (&["watch", "build", "--profopt", "1"], "for one build"),
        (&["build", "--lto"], "--lto is about C files"),
    ];
    for (args, expected) in cases {
        let args = [args, &["--backend", "llvm", "main.py"]].concat();
        let o = taipan(folder.path(), &args).output()?;
        let said = String::from_utf8_lossy(&o.stderr);
        if o.status.code() != Some(2) || !said.contains(expected) {
            return Err(format!("{args:?}: {:?} {said}", o.status).into());
        }
    }
    Ok(())
}

/// `run` hands on arguments, input, and how the program ended.
fn runs() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join("ends.py"), ENDS)?;
    let run = |what: &str| {
        let args = ["run", "--backend", "llvm", "--no-cache", "ends.py", what];
        taipan(folder.path(), &args).output()
    };
    let (well, raised) = (run("seven")?, run("raise")?);
    let said = String::from_utf8_lossy(&raised.stderr);
    match (well.status.code(), raised.status.code()) {
        (Some(5), Some(134)) if said.contains("Fatal RPython error: ValueError") => Ok(()),
        other => Err(format!("{other:?}: {said}").into()),
    }
}

type Test = fn() -> Result<(), Failed>;

fn main() -> ExitCode {
    let args = Arguments::from_args();
    let tools = Llvm::find().map(drop).map_err(|e| e.to_string());
    let needing: [(&str, Test); 11] = [
        ("fixtures", fixtures),
        ("prelude_tests", prelude_tests),
        ("projects", || all_of(generated::projects())),
        ("random_programs", random_programs),
        ("programs_of_classes", programs_of_classes),
        ("ends", ends),
        ("rebuilds", rebuilds),
        ("runs", runs),
        ("sources", sources),
        ("names", names),
        ("watched", watched),
    ];
    let mut trials: Vec<Trial> = Vec::new();
    for (name, test) in needing {
        let tools = tools.clone();
        trials.push(timed_trial(name, move || match tools {
            Ok(()) => test().map(|()| Completion::Completed),
            Err(why) => Ok(Completion::ignored_with(why)),
        }));
    }
    let counts = Llvm::find().and_then(|t| t.profile_library().map(drop));
    let counts = counts.map_err(|e| e.to_string());
    trials.push(timed_trial("profiles", move || match counts {
        Ok(()) => profiles().map(|()| Completion::Completed),
        Err(why) => Ok(Completion::ignored_with(why)),
    }));
    trials.push(timed_trial("compilers", || {
        compilers().map(|()| Completion::Completed)
    }));
    trials.push(timed_trial("refusals", || {
        refusals().map(|()| Completion::Completed)
    }));
    libtest_mimic::run(&args, trials).exit_code()
}
