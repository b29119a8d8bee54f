//! `taipan jitlog --advise` on interpreters with typical mistakes, before and after the remedy.

mod support {
    #[allow(dead_code, reason = "others run all programs")]
    pub(crate) mod programs;
}

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use expect_test::{Expect, expect};
use regex::Regex;
use serde_json::Value;
use support::programs::{outcome, programs};

fn taipan() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_taipan"));
    command.current_dir(programs());
    command
}

/// Runs a program with a log.
fn run(program: &str, argument: &str, log: &Path) -> String {
    let mut command = taipan();
    command.env("TAIPAN_JITLOG", log).args(["run", "--jit"]);
    let o = command
        .arg(program)
        .arg(argument)
        .output()
        .expect("it starts");
    let (text, code) = outcome(&o);
    assert_eq!(code, Some(0), "{text}");
    text
}

fn report(log: &Path) -> Value {
    let o = taipan()
        .args(["jitlog", "--advise", "--format", "json"])
        .arg(log)
        .output()
        .expect("it starts");
    assert!(o.status.success(), "{o:?}");
    serde_json::from_slice(&o.stdout).expect("one object")
}

/// Runs a program and compares the advice, except advice on measured times.
fn check(program: &str, argument: &str, expected: &Expect) {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let mut command = taipan();
    let o = command.args(["run", program, argument]).output();
    let plain = outcome(&o.expect("it starts"));
    assert_eq!((run(program, argument, &log), Some(0)), plain);
    let report = report(&log);
    let mut text = String::new();
    for advice in report["advice"].as_array().unwrap() {
        if advice["times"].is_null() {
            continue;
        }
        let of = |name: &str| advice[name].as_str().unwrap_or("-").to_owned();
        let file = of("file");
        let file = file.rsplit('/').next().unwrap_or_default();
        let line = &advice["line"];
        let _ = writeln!(
            text,
            "{}: {file}:{line} {} {:?}",
            of("kind"),
            of("function"),
            of("location")
        );
        for part in ["what", "why", "remedy"] {
            // Strip the folder of the fixtures.
            let part = of(part).replace(programs().to_str().unwrap_or_default(), "");
            let _ = writeln!(text, "    {part}");
        }
    }
    expected.assert_eq(&text);
}

/// A stack machine with a growing list and a driver without hints.
#[test]
fn a_growing_stack() {
    check(
        "jit/advice/growing.py",
        "1000000",
        &expect![[r#"
            object: growing.py:58 growing.interpret "0: load"
                a values.W_Int is made 2 times in each round: 998,900 rounds, 98% of all
                it is written to a list that is in memory
                if that is the interpreter's own list (a stack, locals): fixed length, in a frame with `_virtualizable_ = ['stack[*]']`, at indexes that are known; if it is one of the interpreted program, no hint helps, but a list of unboxed values does (a strategy)
        "#]],
    );
}

/// With `_immutable_fields_` the boxes on the stack are not made.
#[test]
fn a_growing_stack_with_immutable_fields() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("growing.py");
    let source = programs().join("jit/advice");
    std::fs::copy(source.join("values.py"), folder.path().join("values.py")).unwrap();
    let mut text = std::fs::read_to_string(source.join("growing.py")).unwrap();
    for (class, fields) in [
        ("Instruction", "'op', 'operand'"),
        ("Code", "'instructions[*]', 'constants[*]', 'count'"),
    ] {
        let header = format!("class {class}(object):\n");
        assert!(text.contains(&header), "{class}");
        text = text.replace(
            &header,
            &format!("{header}    _immutable_fields_ = [{fields}]\n\n"),
        );
    }
    std::fs::write(&path, text).unwrap();
    check(
        path.to_str().unwrap(),
        "1000000",
        &expect![[r#"
            field: values.py:32 values.W_Int.less "2: less"
                field value of values.W_Int is read 2 times before loops: 998,900 rounds, 100% of all
                the object is known while compiling, or would be if all such fields were, and the program writes the field only while it makes the object; but its class does not say so
                `_immutable_fields_ = ['value']` in class values.W_Int
        "#]],
    );
}

#[test]
fn nothing_is_left_to_advise() {
    check("jit/advice/growing_frame.py", "3000000", &expect![[r#""#]]);
}

#[test]
fn a_map_that_is_not_promoted() {
    check(
        "jit/advice/maps.py",
        "1000000",
        &expect![[r#"
            call: maps.py:29 maps.Object.read "0: add to z"
                maps.Map.index is called 2 times in each round: 1,008,909 rounds, 100% of all
                it is `@elidable`, but argument 1 of 2 (the first is its object) is not known while compiling
                `promote()` what is not known before the call, if few values come by at each place (a class, a map, a version): then the call is made while compiling
        "#]],
    );
}

#[test]
fn a_loop_that_is_not_unroll_safe() {
    check(
        "jit/advice/tree.py",
        "1000000",
        &expect![[r#"
        call: tree.py:77 tree.While.eval "while n > 0"
            tree.Sum.eval is called once in each round: 998,901 rounds, 100% of all
            it has a loop (jit/advice/tree.py:55) and is not `@unroll_safe`, so it is not compiled into its callers: it is the interpreter's code, and all that it gets is made
            `@unroll_safe` if the loop goes over what is fixed at each place of the interpreted program, and is short; else move the loop into a function of its own, so that the rest is compiled
    "#]],
    );
}

#[test]
fn a_green_that_changes() {
    check(
        "jit/advice/changing.py",
        "100000",
        &expect![[r#"
        green: changing.py:22 changing.interpret "-"
            the interpreter came by 100,000 times with 100,000 different greens, once with each; there is code for 0
            green steps changes: code is compiled for each of its values, once that has come by often enough, and most never do
            make steps red: greens are what tells places of the interpreted program apart, as position and code do
    "#]],
    );
}

const FIELDS: &str = "\
from rpython.rlib.jit import JitDriver

class Base(object):
    pass

class Config(Base):
    def __init__(self, step):
        self.step = step
        self.limit = 1000
        self.reset()

    def reset(self):
        self.start = 3

    def grow(self):
        self.limit += 1

driver = JitDriver(greens=['config'], reds=['n', 'total'],
                   get_printable_location=lambda config: 'loop')

def loop(config, n):
    total = config.start
    while n > 0:
        driver.jit_merge_point(config=config, n=n, total=total)
        total += config.step + config.start
        if total > config.limit:
            total -= config.limit
        n -= 1
    return total

def entry_point(argv):
    config = Config(len(argv))
    print loop(config, int(argv[1]))
    config.grow()
    print loop(config, 10)
    return 0

def target(driver, args):
    return entry_point, None
";

/// A field written by a method after construction is not reported as immutable.
#[test]
fn fields_that_are_written_later() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("fields.py");
    std::fs::write(&file, FIELDS).unwrap();
    check(
        file.to_str().unwrap(),
        "1000000",
        &expect![[r#"
            field: fields.py:25 fields.loop "loop"
                field step of fields.Config is read once before loops: 998,911 rounds, 100% of all
                the object is known while compiling, or would be if all such fields were, and the program writes the field only while it makes the object; but its class does not say so
                `_immutable_fields_ = ['step']` in class fields.Config
        "#]],
    );
}

/// A large share of quick units is a fault in a long run.
#[test]
fn much_quick_code_is_a_fault() {
    let begin = r#"{"event":"begin","at":0,"version":1,"drivers":[]}"#;
    let function = r#"{"event":"function","at":0.1,"function":0,"driver":"d","portal":"p",
        "location":"main 0","count":1039,"specialise_us":5}"#
        .replace('\n', "");
    let unit = |number: u32, kind: &str| {
        format!(
            r#"{{"event":"unit","at":0.2,"function":0,"unit":{number},"kind":"{kind}","why":"","blocks":1,
            "operations":1,"bytes":1,"address":"0x0","compile_us":1,"merge_points":["main 7"],"forced":[],
            "code":[],"loops":[1]}}"#
        )
        .replace('\n', "")
    };
    let log = |seconds: u32, quick: u32| {
        let lines = [
            begin.to_owned(),
            function.clone(),
            unit(0, "quick"),
            unit(1, "loop"),
            format!(r#"{{"event":"entered","at":9,"unit":0,"count":{quick},"rounds":[0]}}"#),
            r#"{"event":"entered","at":9,"unit":1,"count":1,"rounds":[939]}"#.to_owned(),
            format!(
                r#"{{"event":"end","at":{seconds},"specialise_us":5,"compile_us":2,"bytes":2,"cpu_us":9000000}}"#
            ),
        ];
        lines.join("\n") + "\n"
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("log");
    let fault = "fault: 6% of all rounds and entries are in units without optimisations after 10.0 s, most of \
                 them in unit 0 (main 7)";
    for (seconds, quick, is_fault) in [(10, 60, true), (9, 60, false), (10, 40, false)] {
        std::fs::write(&file, log(seconds, quick)).unwrap();
        for option in ["--summary", "--advise"] {
            let o = taipan()
                .args(["jitlog", option])
                .arg(&file)
                .output()
                .unwrap();
            let text = String::from_utf8(o.stdout).unwrap();
            assert_eq!(text.contains(fault), is_fault, "{seconds} {quick}\n{text}");
        }
        let faults = report(&file)["faults"].as_array().unwrap().len();
        assert_eq!(faults, usize::from(is_fault));
    }
}

/// Older logs have no counts of rounds.
#[test]
fn old_logs_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("log");
    let log = r#"{"event":"begin","at":0,"version":1,"drivers":[{"name":"d","portal":"portal of f","greens":[],"reds":[]}]}
{"event":"entered","at":9,"unit":0,"count":3}
{"event":"end","at":9,"specialise_us":5,"compile_us":2,"bytes":2}
"#;
    std::fs::write(&file, log).unwrap();
    assert_eq!(report(&file)["advice"].as_array().unwrap().len(), 0);
    // A program that was stopped writes no counts.
    std::fs::write(&file, log.lines().next().unwrap().to_owned() + "\n").unwrap();
    let o = taipan()
        .args(["jitlog", "--advise"])
        .arg(&file)
        .output()
        .unwrap();
    let text = String::from_utf8(o.stdout).unwrap();
    assert_eq!(
        text,
        "the program did not end by itself: nobody counted entries\n"
    );
}

/// Writing a log changes neither the compiled code nor the order of units.
#[test]
fn the_log_changes_no_code() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    // Numbers of variables and places, and addresses.
    let numbers = Regex::new(r"\b(v|etype_|evalue_)\d+|@\d+|\bat [0-9a-f]+|\d{9,}").unwrap();
    for program in [
        "jit/advice/growing.py",
        "jit/advice/maps.py",
        "jit/advice/tree.py",
    ] {
        let compiled = |with_log: bool| {
            let mut command = taipan();
            if with_log {
                command.env("TAIPAN_JITLOG", &log);
            }
            command.env("TAIPAN_PERF_MAP", "1");
            command.stdout(Stdio::null()).stderr(Stdio::piped());
            let child = command
                .args(["run", "--jit", "--jit-residual", "--jit-summary"])
                .args([program, "300000"])
                .spawn()
                .expect("it starts");
            let units = format!("/tmp/perf-{}.map", child.id());
            let o = child.wait_with_output().unwrap();
            let mut text = String::from_utf8(o.stderr).unwrap();
            // The names of units, without addresses and sizes.
            for line in std::fs::read_to_string(&units).unwrap().lines() {
                text += line.splitn(3, ' ').nth(2).unwrap_or_default();
                text += "\n";
            }
            let _ = std::fs::remove_file(units);
            // Notes for the log are no operations.
            let lines = text.lines().filter(|l| !l.contains("jit_note("));
            let lines = lines.map(|l| numbers.replace_all(l, "").into_owned());
            lines.collect::<Vec<_>>()
        };
        let (plain, with_log) = (compiled(false), compiled(true));
        let differs = plain.iter().zip(&with_log).find(|(a, b)| a != b);
        assert_eq!(differs, None, "{program}");
        assert_eq!(plain.len(), with_log.len(), "{program}");
    }
}
