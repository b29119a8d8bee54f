//! The interpreters of `benches/jit/suite` print the same with the just-in-time compiler as
//! without. Each program meets one of the thresholds; with `TAIPAN_SUITE=all` it meets all of them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Thresholds that loops are compiled at; `None` is the default one.
const THRESHOLDS: [Option<&str>; 3] = [Some("1"), Some("3"), None];

fn suite() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/jit/suite")
}

/// One executable with all interpreters.
fn build(options: &[&str], executable: &Path) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_taipan"));
    command.current_dir(suite()).args(["build", "-q"]);
    let o = command.args(options).args(["all.py", "-o"]).arg(executable);
    let o = o.output().expect("it starts");
    let stderr = String::from_utf8_lossy(&o.stderr);
    assert!(o.status.success(), "{stderr}");
}

/// What an executable prints for the interpreter, program and size in a line of `sizes.txt`.
fn run(executable: &Path, line: &[&str], threshold: Option<&str>) -> (String, Option<i32>) {
    let &[interpreter, program, _, small] = line else {
        panic!("{line:?} should have four words");
    };
    let mut command = Command::new(executable);
    command.current_dir(suite().join("programs"));
    if let Some(threshold) = threshold {
        command.env("TAIPAN_JIT_THRESHOLD", threshold);
        // With the default threshold, code is optimised on the thread of the program.
        command.env("TAIPAN_JIT_BACKGROUND", "1");
    }
    let command = command.args([interpreter, program, small, "--iterations", "2"]);
    let o = command.output().expect("it starts");
    let text = String::from_utf8_lossy(&o.stdout).into_owned();
    (text, o.status.code())
}

#[test]
fn the_suite_prints_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let (plain, jit) = (folder.path().join("plain"), folder.path().join("jit"));
    build(&[], &plain);
    build(&["--jit"], &jit);
    let sizes = std::fs::read_to_string(suite().join("programs/sizes.txt")).unwrap();
    let lines = sizes.lines().filter(|line| !line.starts_with('#'));
    let lines: Vec<Vec<&str>> = lines.map(|l| l.split(' ').collect()).collect();
    assert!(lines.len() > 100, "{sizes}");
    let all = std::env::var_os("TAIPAN_SUITE").is_some_and(|value| value == "all");
    let next = AtomicUsize::new(0);
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(line) = lines.get(index) else {
                break;
            };
            let expected = run(&plain, line, None);
            assert_eq!(expected.1, Some(0), "{line:?}");
            let one = [THRESHOLDS[index % THRESHOLDS.len()]];
            // Compiling each of 1,000 loops at its first round takes ten seconds.
            let chosen = match (all, line[1].contains("/cold.")) {
                (true, _) => &THRESHOLDS[..],
                (false, true) => &[None],
                (false, false) => &one,
            };
            for threshold in chosen {
                let got = run(&jit, line, *threshold);
                assert_eq!(got, expected, "{line:?} at {threshold:?}");
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
}
