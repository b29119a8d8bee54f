//! Options of `taipan test` that pytest has: which tests run, in which order, and what is shown of them.

use std::process::{Command, Output};

use expect_test::{Expect, expect};
use tempfile::TempDir;

const FIRST: &str = "\
import pytest

@pytest.mark.slow
def test_slow():
    print 'from slow'

@pytest.mark.slow
@pytest.mark.net
def test_both():
    print 'from both'

def test_plain():
    pass

@pytest.mark.skip(reason='not now')
def test_skipped():
    pass

@pytest.mark.xfail(reason='known')
def test_known():
    assert 1 == 2
";

const SECOND: &str = "\
def double(n):
    print 'doubling', n
    return n * 2

def test_good():
    assert double(1) == 2

def test_bad():
    n = 3
    assert double(n) == 7
";

fn project() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("test_first.py"), FIRST).unwrap();
    std::fs::write(folder.path().join("test_second.py"), SECOND).unwrap();
    folder
}

/// Runs `taipan test` in a folder.
fn output(folder: &TempDir, args: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_taipan"))
        .arg("test")
        .args(args.split(' ').filter(|w| !w.is_empty()))
        .current_dir(folder.path())
        .env("XDG_CACHE_HOME", folder.path().join("cache"))
        .output()
        .unwrap()
}

/// Standard output of `taipan test`, with `T` for times.
fn printed(folder: &TempDir, args: &str) -> String {
    let o = output(folder, args);
    let stderr = String::from_utf8_lossy(&o.stderr);
    assert!(stderr.is_empty(), "{args}: {stderr}");
    let times = regex::Regex::new(r"\d+\.\d+s").unwrap();
    let text = String::from_utf8(o.stdout).unwrap();
    let text = times.replace_all(&text, "Ts");
    // Lines are filled up to a width, whatever times take.
    let fill = regex::Regex::new("={3,}").unwrap();
    fill.replace_all(&text, "===").into_owned()
}

/// The lines from the one that contains a text.
fn from(text: &str, start: &str) -> String {
    let lines = text.lines().skip_while(|l| !l.contains(start));
    lines.map(|l| format!("{l}\n")).collect()
}

fn check(args: &str, start: &str, expected: Expect) {
    let text = printed(&project(), args);
    expected.assert_eq(&from(&text, start));
}

/// `-m` takes whole names of marks.
#[test]
fn marks_choose_tests() {
    let folder = project();
    let chosen = |marks: &str| {
        let o = Command::new(env!("CARGO_BIN_EXE_taipan"))
            .args(["test", "--collect-only", "-q", "-m", marks])
            .current_dir(folder.path())
            .output()
            .unwrap();
        let text = String::from_utf8(o.stdout).unwrap();
        let ids = text
            .lines()
            .filter_map(|l| Some(l.split_once("::")?.1.to_owned()));
        ids.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(chosen("slow"), "test_slow test_both");
    assert_eq!(chosen("slow and not net"), "test_slow");
    assert_eq!(chosen("slo"), "");
    assert_eq!(chosen("skip or xfail"), "test_skipped test_known");
    let o = Command::new(env!("CARGO_BIN_EXE_taipan"))
        .args(["test", "-m", "slow and"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert_eq!(o.status.code(), Some(4));
}

/// The output of each test follows its result.
#[test]
fn output_is_shown() {
    check(
        "-s -q --tb=no -k good",
        "doubling",
        expect![[r#"
        doubling 1

        1 passed, 6 deselected in Ts
    "#]],
    );
    check(
        "-s -v -m net",
        "test_first",
        expect![[r#"
        test_first.py::test_both PASSED                                           [100%]
        from both

        === 1 passed, 6 deselected in Ts ===
    "#]],
    );
}

#[test]
fn failures_at_any_length() {
    check(
        "--tb=no test_second.py",
        "test_second",
        expect![[r#"
        test_second.py .F                                                         [100%]

        === short test summary info ===
        FAILED test_second.py::test_bad - assert 6 == 7

        === 1 failed, 1 passed in Ts ===
    "#]],
    );
    check(
        "--tb=line test_second.py",
        "FAILURES",
        expect![[r#"
        === FAILURES ===
        test_second.py:10: assert 6 == 7

        === short test summary info ===
        FAILED test_second.py::test_bad - assert 6 == 7

        === 1 failed, 1 passed in Ts ===
    "#]],
    );
    check(
        "--tb=short test_second.py",
        "FAILURES",
        expect![[r#"
        === FAILURES ===
        ___________________________________ test_bad ___________________________________

        >       assert double(n) == 7
        E       assert 6 == 7
        E        +  where 6 = double(n)
        E        +  where 3 = n

        test_second.py:10: AssertionError
        ------------------------------- Captured output --------------------------------
        doubling 3

        === short test summary info ===
        FAILED test_second.py::test_bad - assert 6 == 7

        === 1 failed, 1 passed in Ts ===
    "#]],
    );
}

#[test]
fn the_summary_lists_what_is_asked_for() {
    check(
        "--tb=no -ra",
        "short test summary",
        expect![[r#"
        === short test summary info ===
        SKIPPED test_first.py::test_skipped - not now
        XFAIL test_first.py::test_known - known
        FAILED test_second.py::test_bad - assert 6 == 7

        === 1 failed, 4 passed, 1 skipped, 1 xfailed in Ts ===
    "#]],
    );
    check(
        "--tb=no -rp test_second.py",
        "short test summary",
        expect![[r#"
            === short test summary info ===
            PASSED test_second.py::test_good

            === 1 failed, 1 passed in Ts ===
        "#]],
    );
    let none = printed(&project(), "--tb=no -rN");
    assert!(!none.contains("summary"), "{none}");
}

#[test]
fn the_slowest_tests() {
    let text = printed(&project(), "--durations=2 --tb=no");
    let lines = from(&text, "slowest 2 durations");
    let times: Vec<&str> = lines
        .lines()
        .skip(1)
        .take_while(|l| l.starts_with("Ts test_"))
        .collect();
    assert_eq!(times.len(), 2, "{text}");
    let all = from(
        &printed(&project(), "--durations=0 --tb=no"),
        "slowest durations",
    );
    assert!(
        all.lines().filter(|l| l.starts_with("Ts test_")).count() >= 6,
        "{all}"
    );
}

/// The files of tests that failed last come first, and in them those tests.
#[test]
fn what_failed_comes_first() {
    let folder = project();
    printed(&folder, "");
    let text = printed(&folder, "-v --ff --all --tb=no -rN");
    let ids = text
        .lines()
        .filter_map(|l| l.split_once(' ').filter(|(id, _)| id.contains("::")));
    let ids: Vec<&str> = ids.map(|(id, _)| id).collect();
    expect![[r#"
        test_second.py::test_bad
        test_second.py::test_good
        test_first.py::test_slow
        test_first.py::test_both
        test_first.py::test_plain
        test_first.py::test_skipped
        test_first.py::test_known"#]]
    .assert_eq(&ids.join("\n"));
}

/// A test that fails runs once more as Python, which knows the variables of all functions.
#[test]
fn local_variables() {
    let folder = tempfile::tempdir().unwrap();
    let text = "\
def double(words):
    count = len(words)
    return words[count + 1]

def test_index():
    names = ['a', 'b']
    assert double(names) == 'c'

def test_sum():
    n = 3
    text = 'x' * 300
    assert n == len(text)
";
    std::fs::write(folder.path().join("test_locals.py"), text).unwrap();
    let shown = printed(&folder, "-l");
    let shown = shown.replace(folder.path().to_str().unwrap(), "FOLDER");
    let shown = shown.replace(&"x".repeat(118), "X");
    expect![[r#"
        === FAILURES ===
        __________________________________ test_index __________________________________

            def test_index():
                names = ['a', 'b']
        >       assert double(names) == 'c'

        names      = ['a', 'b']

        test_locals.py:7: in test_index
        _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _
        >       return words[count + 1]
        E       the process ended with exit code 1

        words      = ['a', 'b']
        count      = 2

        test_locals.py:3
        note: run as Python it ends with IndexError: list index out of range
        ------------------------------- Captured output --------------------------------
        RPython traceback:
          File "FOLDER/test_locals.py", line 7, in test_locals.test_index
        Fatal RPython error: index out of range
        ___________________________________ test_sum ___________________________________

            def test_sum():
                n = 3
                text = 'x' * 300
        >       assert n == len(text)
        E       assert 3 == 300
        E        +  where 3 = n
        E        +  where 300 = len(text)
        E        +  where 'Xx...Xx' = text

        n          = 3
        text       = 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'

        test_locals.py:12: AssertionError

        === short test summary info ===
        FAILED test_locals.py::test_index - the process ended with exit code 1
        FAILED test_locals.py::test_sum - assert 3 == 300

        === 2 failed in Ts ===
    "#]].assert_eq(&from(&shown, "FAILURES"));
    let plain = printed(&folder, "");
    assert!(!plain.contains("count      = 2"), "{plain}");
}

/// Tests and files are left out by the beginnings of their ids, and by paths.
#[test]
fn tests_are_left_out() {
    check(
        "--collect-only -q --deselect test_first.py::test_s --deselect=test_second.py",
        "",
        expect![[r#"
            test_first.py::test_both
            test_first.py::test_plain
            test_first.py::test_known

            3 tests collected in Ts
        "#]],
    );
    let folder = project();
    let deep = folder.path().join("slow/deep");
    std::fs::create_dir_all(&deep).unwrap();
    std::fs::write(deep.join("test_third.py"), "def test_third(): pass\n").unwrap();
    let listed = |args: &str| printed(&folder, &format!("--collect-only -q {args}"));
    expect![[r#"
        test_second.py::test_good
        test_second.py::test_bad

        2 tests collected in Ts
    "#]]
    .assert_eq(&listed("--ignore slow --ignore ./test_first.py"));
    let absolute = folder.path().join("slow/deep");
    assert_eq!(
        listed("--ignore slow"),
        listed(&format!("--ignore={}", absolute.display()))
    );
    // A file that is named is not ignored.
    expect![[r#"
        slow/deep/test_third.py::test_third

        1 test collected in Ts
    "#]]
    .assert_eq(&listed("slow/deep/test_third.py --ignore slow"));
}

const XFAIL: &str = "\
import pytest

@pytest.mark.xfail
def test_marked():
    assert 1 == 2

@pytest.mark.xfail(run=False)
def test_not_run():
    pass

def test_called():
    pytest.xfail('known')

def test_called_and_failed(runs):
    pytest.xfail('known')
    assert not runs
";

/// With `--runxfail` neither the mark nor the function has an effect, as machine code and as Python.
#[test]
fn expected_failures_run_as_others() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).unwrap();
    };
    write("test_known.py", XFAIL);
    write(
        "conftest.py",
        "import pytest\n@pytest.fixture\ndef runs(request): return request.config.getoption('runxfail')\n",
    );
    let mut text = String::new();
    for engine in ["auto", "interp"] {
        for option in ["", "--runxfail"] {
            let all = printed(
                &folder,
                &format!("-q --tb=no -rA --engine {engine} {option}"),
            );
            text += &format!("{engine} {option}\n{}", from(&all, "summary"));
        }
    }
    expect![[r#"
        auto 
        === short test summary info ===
        XFAIL test_known.py::test_marked
        SKIPPED test_known.py::test_not_run - [NOTRUN] 
        XFAIL test_known.py::test_called - known
        XFAIL test_known.py::test_called_and_failed - known

        1 skipped, 3 xfailed, 1 interpreted in Ts
        auto --runxfail
        === short test summary info ===
        FAILED test_known.py::test_marked - assert 1 == 2
        PASSED test_known.py::test_not_run
        PASSED test_known.py::test_called
        FAILED test_known.py::test_called_and_failed - assert not True

        2 failed, 2 passed, 1 interpreted in Ts
        interp 
        === short test summary info ===
        XFAIL test_known.py::test_marked
        SKIPPED test_known.py::test_not_run - [NOTRUN] 
        XFAIL test_known.py::test_called - known
        XFAIL test_known.py::test_called_and_failed - known

        1 skipped, 3 xfailed in Ts
        interp --runxfail
        === short test summary info ===
        FAILED test_known.py::test_marked - assert 1 == 2
        PASSED test_known.py::test_not_run
        PASSED test_known.py::test_called
        FAILED test_known.py::test_called_and_failed - assert not True

        2 failed, 2 passed in Ts
    "#]]
    .assert_eq(&text);
}

/// Output is shown as by `-s`.
#[test]
fn ways_to_capture_output() {
    let folder = project();
    let slow = |args: &str| printed(&folder, &format!("--all -m slow {args}"));
    let shown = slow("-s");
    assert!(shown.contains("from slow"), "{shown}");
    assert_eq!(slow("--capture=no"), shown);
    assert_eq!(slow("--capture=tee-sys"), shown);
    assert_eq!(slow("--capture=sys"), slow(""));
}

/// Options that a `conftest.py` declares.
#[test]
fn options_of_conftest() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).unwrap();
    };
    write(
        "conftest.py",
        "\
import pytest

def pytest_addoption(parser):
    parser.addoption('--slow', action='store_true', default=False)
    parser.addoption('--size', type=int, default=1, choices=[1, 2, 3])
    parser.addoption('--word', action='append')

def pytest_collection_modifyitems(config, items):
    if not config.getoption('--slow'):
        for item in items:
            if 'slow' in item.keywords:
                item.add_marker(pytest.mark.skip(reason='needs --slow'))

@pytest.fixture
def size(request):
    return request.config.getoption('size')
",
    );
    write(
        "test_own.py",
        "\
import pytest
config = pytest.config

@pytest.mark.slow
def test_slow():
    pass

def test_size(size):
    assert size == 3
",
    );
    let last = |args: &str| {
        let text = printed(&folder, args);
        text.lines().last().unwrap().trim().to_owned()
    };
    assert_eq!(last(""), "=== 1 failed, 1 skipped, 1 interpreted in Ts ===");
    assert_eq!(
        last("--slow --size=3 --word=a"),
        "=== 2 passed, 1 interpreted in Ts ==="
    );
    assert_eq!(
        last("--size=3"),
        "=== 1 passed, 1 skipped, 1 interpreted in Ts ==="
    );
    for (args, message) in [
        ("--size=4", "the option --size is one of 1, 2, 3, not 4"),
        ("--size", "the option --size needs a value: --size=VALUE"),
        (
            "--other",
            "no conftest.py of this file declares the option --other",
        ),
    ] {
        let o = output(&folder, args);
        assert_eq!(o.status.code(), Some(4), "{args}");
        let stderr = String::from_utf8_lossy(&o.stderr);
        assert_eq!(stderr, format!("taipan: {message}\n"), "{args}");
    }
}

/// Warnings of Python code are recorded in interpreted tests.
/// `pytest.exit()` ends the run, from translated tests and from those that are interpreted.
#[test]
fn a_test_ends_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let source = |call: &str| {
        format!(
            "import pytest\n\ndef test_before():\n    assert 1 + 1 == 2\n\ndef test_end():\n    {call}\n\n\
             def test_after():\n    assert 1 == 2\n"
        )
    };
    for (call, code) in [
        ("pytest.exit('the disk is full')", 2),
        ("pytest.exit(reason='the disk is full', returncode=7)", 7),
        ("pytest.exit('%s %s' % ('the disk', 'is full'), 0)", 0),
        // Keywords are not translated.
        ("pytest.exit('the disk is full', **{'returncode': 9})", 9),
    ] {
        std::fs::write(folder.path().join("test_end.py"), source(call)).unwrap();
        let out = output(&folder, "--all -v");
        let text = String::from_utf8_lossy(&out.stdout);
        assert_eq!(out.status.code(), Some(code), "{text}");
        assert!(text.contains("test_end.py::test_before PASSED"), "{text}");
        assert!(text.contains("! Exit: the disk is full !"), "{text}");
        assert!(!text.contains("test_end.py::test_end"), "{text}");
        assert!(!text.contains("test_after"), "{text}");
    }
}

#[test]
fn reasons_by_keyword() {
    let folder = tempfile::tempdir().unwrap();
    let source = "import pytest\n\ndef test_skip():\n    pytest.skip(reason='not here')\n\n\
                  def test_fail():\n    pytest.fail(reason='not yet')\n";
    std::fs::write(folder.path().join("test_reasons.py"), source).unwrap();
    let out = output(&folder, "--engine native -v");
    let text = String::from_utf8_lossy(&out.stdout);
    assert!(text.contains("test_skip SKIPPED (not here)"), "{text}");
    assert!(text.contains("test_fail - Failed: not yet"), "{text}");
}

#[test]
fn recorded_warnings() {
    let folder = tempfile::tempdir().unwrap();
    let text = "\
import pytest, warnings

def old():
    warnings.warn('use new()', DeprecationWarning)
    return 1

def test_warns():
    with pytest.warns(DeprecationWarning, match='new') as record:
        assert old() == 1
    assert len(record) == 1
    pytest.deprecated_call(old)

def test_none():
    with pytest.warns(UserWarning):
        old()

def test_recwarn(recwarn):
    old()
    warnings.warn('again')
    assert recwarn.pop(DeprecationWarning).category is DeprecationWarning
    assert str(recwarn[0].message) == 'again'
";
    std::fs::write(folder.path().join("test_warned.py"), text).unwrap();
    let shown = printed(&folder, "--tb line -q");
    expect![[r#"
        ,F,

        === FAILURES ===
        test_warned.py:14: Failed: DID NOT WARN: the warnings are [WarningMessage(DeprecationWarning('use new()',))]

        === short test summary info ===
        FAILED test_warned.py::test_none - Failed: DID NOT WARN: the warnings are [WarningMessage(DeprecationWarning('use new()',))]

        1 failed, 2 passed, 3 interpreted in Ts
    "#]].assert_eq(&shown);
}
