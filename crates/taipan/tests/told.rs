//! What commands say while they work and when they are done: progress on a terminal, the
//! closing line, and what programs print when they are imported.

mod support {
    pub(crate) mod terminal;
}

use std::fs;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use expect_test::expect;
use support::terminal;
use tempfile::TempDir;

/// How long a command may take without saying what it is at.
const PATIENCE: Duration = Duration::from_secs(60);

/// A program that prints when it is imported.
const PROGRAM: &str = "\
import sys
import lib
print 'importing', lib.NAME
sys.stderr.write('a warning of its own\\n')

def entry_point(argv):
    print lib.double(len(argv))
    return 0

def target(driver, args):
    return entry_point, None
";
const LIB: &str = "\
NAME = 'lib'

def double(n):
    return n * 2
";

fn project(files: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(dir.path().join(name), text).unwrap();
    }
    dir
}

fn taipan(dir: &TempDir, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_taipan"));
    command.current_dir(dir.path()).args(args);
    command.env("TERM", "xterm").env_remove("CI");
    command.env_remove("NO_COLOR").env_remove("TAIPAN_LOG");
    command
}

fn output(dir: &TempDir, args: &[&str]) -> Output {
    taipan(dir, args).stdin(Stdio::null()).output().unwrap()
}

/// Standard error, with `T` for how long it took.
fn told(dir: &TempDir, args: &[&str]) -> String {
    let text = String::from_utf8(output(dir, args).stderr).unwrap();
    let seconds = regex::Regex::new(r" in \d+\.\d\d s").unwrap();
    seconds.replace_all(&text, " in T s").into_owned()
}

/// What was on a terminal.
struct Seen {
    /// All that there was on the screen at some time.
    ever: Vec<String>,
    /// What is left.
    screen: String,
    /// How long the command took.
    took: Duration,
}

impl Seen {
    /// Whether a text stood on the screen.
    fn saw(&self, text: &str) -> bool {
        self.ever.iter().any(|s| s.contains(text))
    }
}

/// Runs a command on a terminal of its own.
fn on_terminal(command: Command) -> Seen {
    let start = Instant::now();
    let mut ever = Vec::new();
    let (terminal, _) =
        terminal::on_terminal(command, (24, 80), |screen| ever.push(screen.contents()));
    Seen {
        ever,
        screen: terminal.screen().contents(),
        took: start.elapsed(),
    }
}

/// A program whose import takes as long as one likes.
fn slow(turns: u64) -> String {
    format!(
        "\
n = 0
while n < {turns}:
    n += 1
print 'imported'

def entry_point(argv):
    print 'it runs'
    return 0
"
    )
}

/// Has the program take longer and longer, until it is long enough to be told of. What is
/// quick shows nothing.
fn until_slow(args: &[&str], check: impl Fn(&Seen)) {
    let mut turns = 1000;
    loop {
        let dir = project(&[("main.py", &slow(turns))]);
        let seen = on_terminal(taipan(&dir, args));
        if seen.took < Duration::from_secs(1) {
            assert!(!seen.saw("importing"), "{:#?}", seen.ever);
        }
        if seen.saw("importing") {
            return check(&seen);
        }
        assert!(seen.took < PATIENCE, "{:#?}", seen.ever);
        turns *= 3;
    }
}

const UNLIMITED: &[&str] = &["--no-cache", "--step-limit", "1000000000000", "main.py"];

#[test]
fn phases_on_a_terminal() {
    until_slow(&[&["check"], UNLIMITED].concat(), |seen| {
        assert!(seen.saw("importing: 1 module"), "{:#?}", seen.ever);
        let left: Vec<&str> = seen.screen.lines().collect();
        assert_eq!(left[0], "imported");
        assert!(left[1].starts_with("checked 1 file, 1 function in "));
        assert_eq!(left.len(), 2, "{left:#?}");
    });
}

/// The program has the terminal for itself.
#[test]
fn no_progress_while_the_program_runs() {
    until_slow(&[&["run"], UNLIMITED].concat(), |seen| {
        assert_eq!(seen.screen, "imported\nit runs");
        let runs = seen.ever.iter().filter(|s| s.contains("it runs"));
        assert!(runs.clone().count() > 0);
        for s in runs {
            assert_eq!(s, "imported\nit runs");
        }
    });
}

#[test]
fn those_who_do_not_want_progress_get_none() {
    let mut turns = 1000;
    let args = [&["check"], UNLIMITED].concat();
    // As long as with progress.
    let dir = loop {
        let dir = project(&[("main.py", &slow(turns))]);
        if on_terminal(taipan(&dir, &args)).saw("importing") {
            break project(&[("main.py", &slow(turns * 2))]);
        }
        turns *= 3;
    };
    for (name, value) in [("TERM", "dumb"), ("NO_COLOR", "1"), ("CI", "true")] {
        let mut command = taipan(&dir, &args);
        command.env(name, value);
        let seen = on_terminal(command);
        assert!(!seen.saw("importing"), "{name}: {:#?}", seen.ever);
    }
    for more in [&["-q"][..], &["--format", "json"]] {
        let seen = on_terminal(taipan(&dir, &[&args, more].concat()));
        assert!(!seen.saw("importing"), "{more:?}: {:#?}", seen.ever);
    }
    let piped = output(&dir, &args);
    assert_eq!(String::from_utf8(piped.stdout).unwrap(), "");
    let text = String::from_utf8(piped.stderr).unwrap();
    assert!(text.starts_with("imported\nchecked 1 file"), "{text}");
}

#[test]
fn check_and_build_say_how_much_it_was() {
    let dir = project(&[("main.py", PROGRAM), ("lib.py", LIB)]);
    let cold = told(&dir, &["check", "main.py"]);
    expect![[r#"
        importing lib
        a warning of its own
        checked 2 files, 2 functions in T s: no errors
    "#]]
    .assert_eq(&cold);
    assert_eq!(told(&dir, &["check", "main.py"]), cold);
    assert_eq!(told(&dir, &["check", "--no-cache", "main.py"]), cold);
    let built = told(&dir, &["build", "main.py", "-o", "out"]);
    expect![[r#"
        importing lib
        a warning of its own
        built out from 2 files, 2 functions in T s
    "#]]
    .assert_eq(&built);
    assert_eq!(told(&dir, &["build", "main.py", "-o", "out"]), built);
    let jit = told(&dir, &["build", "--jit", "main.py", "-o", "out"]);
    assert!(
        jit.ends_with("built out from 2 files, 2 functions in T s\n"),
        "{jit}"
    );
    // Who asks for it, or reads JSON, gets no such line.
    for quiet in [
        &["check", "-q", "main.py"][..],
        &["check", "--format", "json", "main.py"],
        &["check", "--format", "sarif", "main.py"],
        &["build", "-q", "main.py", "-o", "out"],
    ] {
        assert_eq!(told(&dir, quiet), "importing lib\na warning of its own\n");
    }
}

/// The numbers are kept with the answer: nothing is asked that it would save.
#[test]
fn a_kept_answer_has_its_numbers() {
    let dir = project(&[("main.py", PROGRAM), ("lib.py", LIB)]);
    for command in [
        &["check", "main.py"][..],
        &["build", "main.py", "-o", "out"],
    ] {
        let cold = told(&dir, command);
        let warm = told(&dir, &[command, &["--log-queries", "log"]].concat());
        assert_eq!(warm, cold);
        let log = fs::read_to_string(dir.path().join("log")).unwrap();
        for query in ["image", "program_files", "specs_of", "solve"] {
            assert!(!log.contains(&format!("\"{query}\"")), "{query}:\n{log}");
        }
    }
}

#[test]
fn what_is_wrong_is_counted() {
    let wrong = PROGRAM.replace("lib.double(", "lib.treble(");
    let dir = project(&[("main.py", &wrong), ("lib.py", LIB)]);
    let text = told(&dir, &["check", "main.py"]);
    let last = text.lines().last().unwrap();
    assert_eq!(last, "checked 2 files, 1 function in T s: 1 error");
    assert_eq!(text.matches("1 error").count(), 1);
}

/// What programs share is counted once.
#[test]
fn files_of_several_programs() {
    let other = PROGRAM.replace("len(argv)", "7");
    let dir = project(&[("a.py", PROGRAM), ("b.py", &other), ("lib.py", LIB)]);
    let text = told(&dir, &["check"]);
    let last = text.lines().last().unwrap();
    assert_eq!(last, "checked 3 files, 3 functions in T s: no errors");
}

/// Standard output is the program's; what it prints when it is imported goes to standard
/// error, if it was imported before, too.
#[test]
fn what_import_time_prints_goes_to_standard_error() {
    let test = "import main\n\ndef test_it():\n    assert main.lib.double(1) == 2\n";
    let dir = project(&[("main.py", PROGRAM), ("lib.py", LIB), ("test_it.py", test)]);
    for args in [
        &["check", "main.py"][..],
        &["check", "--format", "json", "main.py"],
        &["build", "main.py", "-o", "out"],
        &["run", "main.py"],
        &["call", "main.py:entry_point", "['x']"],
        &["call", "--json", "main.py:entry_point", "['x']"],
        &["emit", "flow", "main.py"],
        &["emit", "bytecode", "main.py"],
        &["test"],
        &["test", "--json", "--all"],
    ] {
        for turn in ["cold", "warm"] {
            let out = output(&dir, args);
            let (stdout, stderr) = (String::from_utf8(out.stdout), String::from_utf8(out.stderr));
            let (stdout, stderr) = (stdout.unwrap(), stderr.unwrap());
            let text = "importing lib\na warning of its own\n";
            assert_eq!(stderr.matches(text).count(), 1, "{args:?} {turn}: {stderr}");
            assert!(
                !stdout.contains("importing lib"),
                "{args:?} {turn}: {stdout}"
            );
        }
    }
}

/// It is told of imports that fail, too, before what is wrong.
#[test]
fn imports_that_fail_have_printed() {
    let dir = project(&[("main.py", "print 'so far'\nprint 1 / 0\n")]);
    for command in ["check", "build", "run"] {
        for _ in 0..2 {
            let text = told(&dir, &[command, "main.py"]);
            assert!(text.starts_with("so far\nerror[TP0201]"), "{text}");
        }
    }
}
