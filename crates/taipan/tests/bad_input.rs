//! What bad input gets: a diagnostic with its place, the right exit code, no panic.

use std::fmt::Write as _;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

struct Case {
    dir: TempDir,
}

impl Case {
    fn new(files: &[(&str, &str)]) -> Case {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(dir.path().join(name), text).unwrap();
        }
        Case { dir }
    }

    fn taipan(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_taipan"))
            .current_dir(self.dir.path())
            .args(args)
            .output()
            .unwrap()
    }
}

/// Checks the exit code and that stderr mentions all of these; never a panic.
#[track_caller]
fn expect(o: &Output, code: i32, mentions: &[&str]) {
    let stderr = String::from_utf8_lossy(&o.stderr);
    assert!(
        !stderr.contains("panicked") && !stderr.contains("internal error"),
        "{stderr}"
    );
    assert_eq!(o.status.code(), Some(code), "{stderr}");
    for m in mentions {
        assert!(stderr.contains(m), "`{m}` is not in:\n{stderr}");
    }
}

#[track_caller]
fn check_main(text: &str, code: i32, mentions: &[&str]) {
    let case = Case::new(&[("main.py", text)]);
    expect(&case.taipan(&["check", "main.py"]), code, mentions);
}

const ENTRY: &str = "def entry_point(argv):\n    return 0\n";

#[test]
fn files_that_cannot_be_read() {
    let case = Case::new(&[]);
    expect(&case.taipan(&["check", "missing.py"]), 2, &["missing.py"]);
    expect(&case.taipan(&["run", "."]), 2, &["name the target"]);
    std::fs::write(case.dir.path().join("bytes.py"), b"x = '\xff\xfe'\n").unwrap();
    expect(
        &case.taipan(&["check", "bytes.py"]),
        1,
        &["bytes.py:1:6", "not valid UTF-8"],
    );
}

/// An imported module is told of at the byte; with a coding line latin-1 is fine.
#[test]
fn imported_bytes_that_are_no_text() {
    let main = "import lib\ndef entry_point(argv):\n    print lib.f()\n    return 0\n";
    let case = Case::new(&[("main.py", main)]);
    let lib = case.dir.path().join("lib.py");
    let body = b"def f():\n    return 'caf\xe9'\n";
    std::fs::write(&lib, body).unwrap();
    for command in ["check", "build", "run"] {
        let mentions = ["[TP0001]", "lib.py:2:16", "# -*- coding: latin-1 -*-"];
        expect(&case.taipan(&[command, "main.py"]), 1, &mentions);
    }
    let declared = [b"# -*- coding: latin-1 -*-\n", &body[..]].concat();
    std::fs::write(&lib, declared).unwrap();
    expect(&case.taipan(&["check", "main.py"]), 0, &[]);
}

#[test]
fn programs_without_an_entry_point_are_named() {
    let case = Case::new(&[("empty.py", "")]);
    for command in ["check", "run", "build"] {
        expect(&case.taipan(&[command, "empty.py"]), 1, &["empty.py:1"]);
    }
}

#[test]
fn readers_that_go_away() {
    let case = Case::new(&[
        ("main.py", ENTRY),
        ("test_it.py", "def test_it():\n    assert 1 == 1\n"),
    ]);
    let run = |args: &[&str], stdout: Stdio, stderr: Stdio| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_taipan"));
        command.current_dir(case.dir.path()).args(args);
        command.stdout(stdout).stderr(stderr).output().unwrap()
    };
    // A pipe that nobody reads.
    let gone = || {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        Stdio::from(writer)
    };
    let full = || Stdio::from(std::fs::File::create("/dev/full").unwrap());
    for args in [
        &["emit", "bytecode", "main.py"][..],
        &[
            "emit",
            "annotations",
            "main.py:entry_point",
            "--format",
            "json",
        ],
        &["check", "--format", "json", "main.py"],
        &["check", "--format", "sarif", "main.py"],
        &["call", "--json", "main.py:entry_point", "['x']"],
        &["call", "main.py:entry_point", "['x']"],
        &["test", "test_it.py"],
        &["test", "--json", "test_it.py"],
    ] {
        // Who reads along has seen enough.
        expect(&run(args, gone(), Stdio::piped()), 0, &[]);
        expect(&run(args, full(), Stdio::piped()), 2, &["standard output"]);
        let o = run(args, Stdio::piped(), gone());
        assert_eq!(o.status.code(), Some(0), "{args:?}");
        let o = run(args, Stdio::piped(), full());
        assert_eq!(o.status.code(), Some(0), "{args:?}");
    }
}

#[test]
fn output_that_cannot_be_written() {
    let case = Case::new(&[("main.py", ENTRY)]);
    std::fs::create_dir(case.dir.path().join("folder")).unwrap();
    std::os::unix::net::UnixListener::bind(case.dir.path().join("socket")).unwrap();
    for (output, mentions) in [
        ("nowhere/program", "there is no folder nowhere"),
        ("folder", "folder"),
        ("socket", "socket"),
    ] {
        let o = case.taipan(&["build", "main.py", "-o", output]);
        expect(&o, 2, &[mentions]);
        assert!(!String::from_utf8_lossy(&o.stderr).contains(".taipan-link"));
    }
    let o = case.taipan(&["check", "--log-queries", "nowhere/log", "main.py"]);
    expect(&o, 2, &["cannot write nowhere/log"]);
}

#[test]
fn numbers_out_of_range() {
    let case = Case::new(&[("main.py", ENTRY)]);
    for threads in ["0", "100000", "-1", "many"] {
        let o = case.taipan(&["check", "--threads", threads, "main.py"]);
        expect(&o, 2, &["--threads"]);
    }
    for timeout in ["0", "-1", "inf", "soon"] {
        let o = case.taipan(&["test", "--timeout", timeout, "main.py"]);
        expect(&o, 4, &["--timeout"]);
    }
}

#[test]
fn folders_with_odd_entries() {
    use std::os::unix::ffi::OsStrExt;
    let case = Case::new(&[
        ("main.py", ENTRY),
        ("test_it.py", "def test_it():\n    pass\n"),
    ]);
    let at = |name: &str| case.dir.path().join(name);
    // Links that lead in circles, to nothing, and a name that is no UTF-8.
    std::os::unix::fs::symlink(".", at("again")).unwrap();
    std::os::unix::fs::symlink("self.py", at("self.py")).unwrap();
    std::os::unix::fs::symlink("nowhere", at("test_gone.py")).unwrap();
    let name = std::ffi::OsStr::from_bytes(b"test_\xff.py");
    std::fs::write(case.dir.path().join(name), "x = \n").unwrap();
    // Nobody writes to it: reading it would never end.
    let pipe = std::ffi::CString::new(at("test_pipe.py").to_str().unwrap()).unwrap();
    // SAFETY: the name is a text that ends in zero.
    assert_eq!(unsafe { libc::mkfifo(pipe.as_ptr(), 0o600) }, 0);
    expect(&case.taipan(&["check", "."]), 0, &[]);
    let o = case.taipan(&["test", "."]);
    expect(&o, 0, &[]);
    assert!(String::from_utf8_lossy(&o.stdout).contains("1 passed"));
}

#[test]
fn lines_of_a_batch_that_are_no_text() {
    let case = Case::new(&[("main.py", ENTRY)]);
    let good = br#"{"file": "main.py", "func": "entry_point", "args": [["x"]], "id": 7}"#;
    let lines = [&b"not json"[..], b"\xff\xfe", b"[1]", good].join(&b'\n');
    std::fs::write(case.dir.path().join("batch"), lines).unwrap();
    let o = case.taipan(&["call", "--batch", "batch"]);
    expect(&o, 2, &[]);
    let out = String::from_utf8(o.stdout).unwrap();
    assert_eq!(out.lines().count(), 4, "{out}");
    assert_eq!(out.lines().last(), Some(r#"{"id":7,"ok":0}"#));
}

#[test]
fn wrong_usage() {
    let case = Case::new(&[]);
    expect(&case.taipan(&["nonsense"]), 2, &["nonsense"]);
    expect(&case.taipan(&["run"]), 2, &["name the target"]);
    expect(&case.taipan(&["call", "no_colon"]), 2, &["FILE.py:FUNC"]);
}

#[test]
fn brackets_without_end() {
    let mut text = "(".repeat(10 << 20);
    text.push('\n');
    check_main(&text, 1, &["main.py:1", "TP00"]);
}

#[test]
fn deep_nesting() {
    let n = 10_000;
    check_main(
        &format!("x = {}1{}\n", "(".repeat(n), ")".repeat(n)),
        1,
        &["nest"],
    );
    check_main(&format!("x = {}1\n", "-".repeat(n)), 1, &["main.py:1"]);
    let mut text = String::new();
    for i in 0..n {
        let _ = writeln!(text, "{}if x:", " ".repeat(i));
    }
    check_main(&text, 1, &["TP00"]);
}

#[test]
fn syntax_errors_are_all_told() {
    let case = Case::new(&[(
        "main.py",
        "def f(:\n    pass\n\nx = = 1\n\ndef entry_point(argv):\n    return 0\n",
    )]);
    let o = case.taipan(&["check", "main.py"]);
    expect(&o, 1, &["main.py:1", "main.py:4"]);
}

#[test]
fn import_time_that_never_ends() {
    let case = Case::new(&[("main.py", &format!("while True:\n    pass\n{ENTRY}"))]);
    let o = case.taipan(&["check", "--step-limit", "100000", "main.py"]);
    expect(&o, 1, &["main.py:", "--step-limit"]);
}

#[test]
fn import_time_that_recurses_without_end() {
    check_main(
        &format!("def f(n):\n    return f(n + 1)\nf(0)\n{ENTRY}"),
        1,
        &["recursion", "main.py:2"],
    );
}

#[test]
fn import_time_that_raises() {
    let text = format!("def f(d):\n    return d['x']\n\nf({{}})\n{ENTRY}");
    check_main(&text, 1, &["KeyError", "main.py:2", "main.py:4"]);
}

#[test]
fn imports() {
    check_main(
        &format!("import nowhere_to_be_found\n{ENTRY}"),
        1,
        &["nowhere_to_be_found", "main.py:1"],
    );
    let case = Case::new(&[
        ("main.py", &format!("import a\n{ENTRY}")),
        ("a.py", "import b\n"),
        ("b.py", "from a import x\n"),
    ]);
    expect(&case.taipan(&["check", "main.py"]), 1, &["b.py:1"]);
}

#[test]
fn no_entry_point() {
    check_main("x = 1\n", 1, &["entry_point"]);
}

#[test]
fn type_conflicts_show_both_sides() {
    let text = "def f(x):\n    if x:\n        return 'a'\n    return 1\n\n\
                def entry_point(argv):\n    f(len(argv))\n    return 0\n";
    check_main(text, 1, &["main.py:", "an int", "a str"]);
}

#[test]
fn unsupported_constructs() {
    let text = "def entry_point(argv):\n    exec argv[0]\n    return 0\n";
    check_main(text, 1, &["main.py:2"]);
    let text = "def entry_point(argv):\n    print locals()\n    return 0\n";
    check_main(text, 1, &["main.py:2"]);
}

#[test]
fn json_answers_with_an_error() {
    let case = Case::new(&[("main.py", "def f(x):\n    return x.nothing\n")]);
    let o = case.taipan(&["call", "--json", "main.py:f", "1"]);
    assert_eq!(o.status.code(), Some(2));
    let answer: serde_json::Value = serde_json::from_slice(&o.stdout).unwrap();
    assert!(
        answer["error"].as_str().is_some_and(|e| !e.is_empty()),
        "{answer}"
    );
}

#[test]
fn uncaught_exceptions_tell_where_they_were_raised() {
    let text = "def lookup(d):\n    return d['k']\n\n\
                def entry_point(argv):\n    d = {'a': len(argv)}\n    print lookup(d)\n    return 0\n";
    let case = Case::new(&[("main.py", text)]);
    expect(
        &case.taipan(&["run", "main.py"]),
        1,
        &["RPython traceback:", "main.py", "KeyError"],
    );
}
