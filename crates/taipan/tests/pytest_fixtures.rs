//! Fixtures and marks that ship with pytest, in tests that are interpreted.

use std::process::{Command, Output};

use expect_test::{Expect, expect};
use tempfile::TempDir;

const LIB: &str = r#"
import logging, os

LIMIT = 3
log = logging.getLogger("lib")

class BadInput(Exception):
    pass

def parse(text):
    if not text.isdigit():
        raise BadInput(text)
    return int(text)

def careful(n):
    log.warning("%d is %s", n, "much")
    log.info("not shown")
    return n
"#;

const TESTS: &str = r#"
import logging, os, sys
import pytest
import lib

def test_folder(monkeypatch, tmpdir):
    before = os.getcwd()
    tmpdir.join("a.txt").write("a")
    monkeypatch.chdir(tmpdir)
    assert os.getcwd() == str(tmpdir)
    assert open("a.txt").read() == "a"
    with pytest.raises(OSError):
        os.chdir("nowhere")
    with pytest.raises(OSError):
        os.chdir("a.txt")
    monkeypatch.undo()
    assert os.getcwd() == before
    with tmpdir.as_cwd():
        assert os.path.exists("a.txt")
    assert os.getcwd() == before

def test_folder_of_the_next_test():
    assert os.path.exists("lib.py")
    print sys.maxsize

def test_block(monkeypatch):
    with monkeypatch.context() as m:
        m.setattr(lib, "LIMIT", 9)
        assert lib.LIMIT == 9
    assert lib.LIMIT == 3

def test_descriptors(capfd):
    os.write(1, "out ")
    os.write(2, "err")
    print "printed"
    captured = capfd.readouterr()
    assert captured.out == "out printed\n"
    assert captured.err == "err"
    with capfd.disabled():
        os.write(1, "direct")
    assert capfd.readouterr() == ("", "")

def test_records(caplog):
    lib.careful(5)
    assert caplog.record_tuples == [("lib", logging.WARNING, "5 is much")]
    assert caplog.records[0].levelname == "WARNING"
    assert caplog.records[0].funcName == "careful"
    assert "WARNING  lib:lib.py:" in caplog.text
    caplog.clear()
    with caplog.at_level(logging.INFO):
        lib.careful(6)
    assert caplog.messages == ["6 is much", "not shown"]
    lib.careful(7)
    assert len(caplog.messages) == 3
    caplog.set_level(logging.ERROR, logger="lib")
    lib.careful(8)
    assert len(caplog.messages) == 3

def test_levels_are_set_back():
    assert logging.getLogger("lib").level == logging.NOTSET
    assert logging.getLogger().handlers == []

@pytest.mark.xfail(raises=lib.BadInput, reason="known")
def test_expected():
    lib.parse("x")

@pytest.mark.xfail(raises=(KeyError, ValueError))
def test_another():
    lib.parse("x")

@pytest.mark.xfail(raises=KeyError)
def test_none():
    assert lib.parse("1") == 1

@pytest.mark.xfail(raises=KeyError, strict=True)
def test_none_strictly():
    assert lib.parse("1") == 1
"#;

fn project() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("lib.py"), LIB).unwrap();
    std::fs::write(folder.path().join("test_lib.py"), TESTS).unwrap();
    folder
}

fn run(folder: &TempDir, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_taipan"));
    command.args(["test", "--no-cache", "-q", "-rA"]).args(args);
    command.current_dir(folder.path()).output().unwrap()
}

/// The lines of the summary, with failures.
#[track_caller]
fn summary(out: &Output, expected: Expect) {
    let text = String::from_utf8_lossy(&out.stdout);
    let lines = text.lines().filter(|l| l.contains("test_lib.py::"));
    let mut lines: Vec<&str> = lines.collect();
    lines.push("");
    expected.assert_eq(&lines.join("\n"));
}

#[test]
fn fixtures_and_marks() {
    let folder = project();
    summary(
        &run(&folder, &[]),
        expect![[r#"
        PASSED test_lib.py::test_folder
        PASSED test_lib.py::test_folder_of_the_next_test
        PASSED test_lib.py::test_block
        PASSED test_lib.py::test_descriptors
        PASSED test_lib.py::test_records
        PASSED test_lib.py::test_levels_are_set_back
        XFAIL test_lib.py::test_expected - known
        FAILED test_lib.py::test_another - BadInput: x
        XPASS test_lib.py::test_none
        FAILED test_lib.py::test_none_strictly - Failed: [XPASS(strict)] 
    "#]],
    );
}

/// Those of pytest.
#[test]
fn exit_codes() {
    let folder = project();
    let code = |args: &[&str]| run(&folder, args).status.code();
    assert_eq!(code(&["-k", "folder"]), Some(0));
    assert_eq!(code(&["-k", "another"]), Some(1));
    assert_eq!(code(&["-k", "another", "--exitfirst"]), Some(1));
    assert_eq!(code(&["--collectonly"]), Some(0));
    assert_eq!(code(&["missing.py"]), Some(4));
    assert_eq!(code(&["-k", "("]), Some(4));
    assert_eq!(code(&["--tb=many"]), Some(4));
    assert_eq!(code(&["-k", "nothing"]), Some(5));
    std::fs::remove_file(folder.path().join("test_lib.py")).unwrap();
    assert_eq!(code(&[]), Some(5));
}
