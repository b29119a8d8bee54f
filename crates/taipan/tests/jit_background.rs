//! Optimised code that a second thread makes while the program runs.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

/// A loop that forks 20 times, each time in another round of the function that is being compiled, and an exit code from
/// the results of all processes.
const FORKS: &str = "
import os
from rpython.rlib.jit import JitDriver
driver = JitDriver(greens=['code'], reds=['n', 'pc', 'total'])

def interpret(code, n):
    pc = 0
    total = 0
    while True:
        driver.jit_merge_point(code=code, n=n, pc=pc, total=total)
        if n & 1:
            total += n & 7
        elif code == 'add':
            total += 3
        else:
            total ^= n
        n -= 1
        if n == 0:
            return total

def entry_point(argv):
    rounds = int(argv[1])
    wrong = 0
    for i in range(20):
        code = ['add', 'xor', 'more', 'less'][i & 3]
        before = interpret(code, rounds)
        pid = os.fork()
        after = interpret(code, rounds)
        if before != after:
            wrong += 1
        if pid == 0:
            other = interpret('other', rounds)
            if other != interpret('other', rounds):
                wrong += 1
            os._exit(wrong)
        _, status = os.waitpid(pid, 0)
        wrong += status
    print 'wrong:', wrong
    return 0

def target(driver, args):
    return entry_point, None
";

/// A loop with enough rounds for its optimised code to be installed long before the end.
const LONG: &str = "
from rpython.rlib.jit import JitDriver
driver = JitDriver(greens=[], reds=['n', 'total'])

def entry_point(argv):
    n = int(argv[1])
    total = 0
    while n > 0:
        driver.jit_merge_point(n=n, total=total)
        total = (total * 3 + n) & 0xffff
        n -= 1
    print total
    return 0

def target(driver, args):
    return entry_point, None
";

fn taipan(folder: &Path, source: &str, args: &[&str]) -> Output {
    std::fs::write(folder.join("program.py"), source).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_taipan"));
    command.current_dir(folder).args(args);
    command.output().expect("it starts")
}

fn stdout(o: &Output) -> String {
    let errors = String::from_utf8_lossy(&o.stderr);
    assert!(o.status.success(), "{errors}");
    String::from_utf8_lossy(&o.stdout).into_owned()
}

/// The last line of JSON that `--jit-summary` prints.
fn summary(o: &Output) -> Value {
    let errors = String::from_utf8_lossy(&o.stderr);
    let line = errors.lines().rfind(|line| line.starts_with('{'));
    serde_json::from_str(line.unwrap_or_default()).expect("a line of JSON")
}

#[test]
fn code_is_optimised_while_the_program_runs() {
    let folder = tempfile::tempdir().unwrap();
    let rounds = "400000000";
    let options = ["run", "--jit", "--jit-summary"];
    let run = |more: &[&str]| {
        let args = [&options[..], more, &["program.py", rounds]].concat();
        taipan(folder.path(), LONG, &args)
    };
    let (usual, background) = (run(&[]), run(&["--jit-background"]));
    assert_eq!(stdout(&usual), stdout(&background));
    assert_eq!(summary(&usual)["optimised"], 1);
    assert_eq!(summary(&background)["optimised"], 1);
}

/// A forked process has no second thread, and starts one.
#[test]
fn processes_that_fork_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let build = ["build", "-q", "--jit", "--jit-background", "-o", "program"];
    stdout(&taipan(
        folder.path(),
        FORKS,
        &[&build[..], &["program.py"]].concat(),
    ));
    for (rounds, threshold) in [("3000", "1"), ("20000", "3"), ("100000", "1039")] {
        let mut command = Command::new(folder.path().join("program"));
        let o = command.arg(rounds).env("TAIPAN_JIT_THRESHOLD", threshold);
        let o = o.output().expect("it starts");
        assert_eq!(stdout(&o), "wrong: 0\n", "{rounds} {threshold}");
    }
}

#[test]
fn the_option_needs_a_compiler() {
    let folder = tempfile::tempdir().unwrap();
    let o = taipan(
        folder.path(),
        LONG,
        &["build", "--jit-background", "program.py"],
    );
    assert_eq!(o.status.code(), Some(2));
    let errors = String::from_utf8_lossy(&o.stderr);
    assert!(errors.contains("--jit-background needs --jit"), "{errors}");
}
