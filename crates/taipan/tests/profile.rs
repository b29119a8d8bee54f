//! `--profopt` and `--profile`: executables that are made by what an earlier one counted.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Output};

const PROGRAM: &str = "\
import os

def step(n):
    if n % 3 == 0:
        return n // 3
    return 3 * n + 1

def entry_point(argv):
    if len(argv) != 3:
        os.write(2, 'two arguments, please\\n')
        return 1
    total = 0
    for i in range(int(argv[1])):
        total += step(i)
    print argv[2], total
    return 0
";

/// A folder with the program, and compilers that note how they are called.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        fs::write(place.path("main.py"), PROGRAM).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn script(&self, name: &str, text: &str) -> PathBuf {
        let file = self.path(name);
        fs::write(&file, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        file
    }

    fn build(&self, options: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_taipan"));
        let args = ["build", "--cache-dir", "cache", "main.py", "-o", "out"];
        command.current_dir(self.0.path()).args(args).args(options);
        command
    }

    /// Builds by a C compiler that notes its arguments; returns those that are about profiles.
    fn built(&self, options: &[&str]) -> Vec<String> {
        let log = self.path("log");
        let cc = self.path("noting-cc");
        // One that is written again is another one.
        if !cc.exists() {
            let text = format!("echo \"$@\" >> {}\nexec cc \"$@\"", log.display());
            self.script("noting-cc", &text);
        }
        let o = self.build(options).env("CC", cc).output().unwrap();
        assert!(o.status.success(), "{options:?}: {}", text(&o.stderr));
        let all = fs::read_to_string(&log).unwrap_or_default();
        let _ = fs::remove_file(log);
        let words = all
            .split_whitespace()
            .filter(|w| w.starts_with("-fprofile"));
        let mut words: Vec<String> = words.map(str::to_owned).collect();
        words.sort();
        words.dedup();
        words
    }

    fn run(&self) -> String {
        let o = Command::new(self.path("out"))
            .args(["10", "so many"])
            .output()
            .unwrap();
        text(&o.stdout)
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The command fails like that, and makes nothing.
#[track_caller]
fn refused(place: &Place, mut command: Command, expected: &str) {
    let Output { status, stderr, .. } = command.output().unwrap();
    let said = text(&stderr);
    assert_eq!(status.code(), Some(2), "{said}");
    assert!(said.contains(expected), "{said}");
    assert!(!place.path("out").exists(), "it was made: {said}");
}

const PRINTED: &str = "so many 93\n";

#[test]
fn a_run_shows_what_code_is_optimised_for() {
    let place = Place::new();
    let train = ["--backend", "c", "--profopt", "3000 'in words'"];
    let used = place.built(&train);
    assert_eq!(
        used,
        [
            "-fprofile-correction",
            "-fprofile-generate",
            "-fprofile-use"
        ]
    );
    assert_eq!(place.run(), PRINTED);
    // The same counts again: all is in the cache.
    assert_eq!(place.built(&train), Vec::<String>::new());
    assert_eq!(place.run(), PRINTED);
}

#[test]
fn a_profile_is_left_and_used_again() {
    let place = Place::new();
    place.built(&["-O2", "--profopt", "3000 x", "--profile", "counts"]);
    let main = place.path("counts").read_dir().unwrap();
    let names: Vec<String> = main
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(names.iter().any(|n| n.ends_with(".gcda")), "{names:?}");
    let _ = fs::remove_dir_all(place.path("cache"));
    let used = place.built(&["-O2", "--profile", "counts"]);
    assert_eq!(used, ["-fprofile-correction", "-fprofile-use"]);
    assert_eq!(place.run(), PRINTED);
}

#[test]
fn a_profile_of_something_else_is_refused() {
    let place = Place::new();
    let mut missing = place.build(&["-O2", "--profile", "counts"]);
    missing.env_remove("CC");
    refused(
        &place,
        missing,
        "--profile counts: there is no profile: give --profopt, too",
    );
    place.built(&["-O2", "--profopt", "3000 x", "--profile", "counts"]);
    fs::remove_file(place.path("out")).unwrap();
    let again = || {
        let mut command = place.build(&["-O2", "--profile", "counts"]);
        command.env("CC", place.path("noting-cc"));
        command
    };
    fs::write(place.path("main.py"), PROGRAM.replace("3 * n", "5 * n")).unwrap();
    refused(&place, again(), "the profile is not of this program: 1 of ");
    fs::write(place.path("main.py"), PROGRAM).unwrap();
    place.script("noting-cc", "exec cc  \"$@\"");
    refused(
        &place,
        again(),
        "the profile was made with another compiler",
    );
}

#[test]
fn a_run_that_fails_shows_nothing() {
    let place = Place::new();
    let failing = place.build(&["-O2", "--profopt", "3000"]);
    refused(
        &place,
        failing,
        "the run with `3000` failed (exit status: 1)",
    );
    let said = place.build(&["-O2", "--profopt", "3000"]).output().unwrap();
    assert!(text(&said.stderr).contains("two arguments, please"));
    let exits = PROGRAM.replace("    return 0\n", "    os._exit(0)\n    return 0\n");
    fs::write(place.path("main.py"), exits).unwrap();
    refused(
        &place,
        place.build(&["-O2", "--profopt", "30 x"]),
        "the run left no counts",
    );
}

#[test]
fn what_cannot_be_is_refused() {
    let place = Place::new();
    for options in [
        &["--profopt", "1"][..],
        &["--backend", "python", "--profile", "counts"],
    ] {
        refused(
            &place,
            place.build(options),
            "give --backend c, --backend llvm or -O2, too",
        );
    }
    refused(
        &place,
        place.build(&["-O2", "--profopt", "'x"]),
        "a quote is not closed",
    );
    let clang = place.script("clang", "echo clang version 99.0");
    let mut without = place.build(&["-O2", "--profopt", "3000 x"]);
    without.env("CC", clang);
    refused(
        &place,
        without,
        "need llvm-profdata 99, which is not there: install llvm-99",
    );
}

#[test]
fn what_llvm_needs_is_said() {
    let place = Place::new();
    let clang = place.script(
        "clang",
        "case $1 in --version) echo clang version 99.0;; *) echo libclang_rt.profile.a;; esac",
    );
    let mut without = place.build(&["--backend", "llvm", "--profopt", "3000 x"]);
    without.env("CLANG", clang);
    refused(
        &place,
        without,
        "which is not there: on Debian and Ubuntu, apt-get install libclang-rt-99-dev",
    );
}
