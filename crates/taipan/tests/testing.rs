//! `taipan test`, as its users see it.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use expect_test::{Expect, expect};
use tempfile::TempDir;

/// A folder with files, and the binary run in it.
struct Project {
    dir: TempDir,
}

/// What a run printed and its exit code.
struct Ran {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Project {
    fn new(files: &[(&str, &str)]) -> Project {
        let project = Project {
            dir: tempfile::tempdir().unwrap(),
        };
        for (name, text) in files {
            project.write(name, text);
        }
        project
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Changes a file.
    fn edit(&self, name: &str, from: &str, to: &str) {
        let path = self.dir.path().join(name);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "`{from}` is not in {name}");
        std::fs::write(path, text.replace(from, to)).unwrap();
    }

    fn test(&self, args: &[&str]) -> Ran {
        let out = Command::new(env!("CARGO_BIN_EXE_taipan"))
            .current_dir(self.dir.path())
            .arg("test")
            .args(args)
            .output()
            .unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let ran = Ran {
            code: out.status.code().unwrap(),
            stdout: text(out.stdout),
            stderr: text(out.stderr),
        };
        assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
        ran
    }

    /// Outcomes by test; `unchanged` for what was not run.
    fn outcomes(&self, args: &[&str]) -> BTreeMap<String, String> {
        let ran = self.test(&[args, &["--json"]].concat());
        let mut out = BTreeMap::new();
        for line in ran.stdout.lines() {
            let v: serde_json::Value = serde_json::from_str(line).unwrap();
            let name = v["id"].as_str().or(v["file"].as_str()).unwrap();
            let outcome = match v["unchanged"].as_bool() {
                Some(true) => "unchanged",
                _ => v["outcome"].as_str().unwrap(),
            };
            out.insert(name.to_owned(), outcome.to_owned());
        }
        out
    }

    /// Names of the tests that were run, without the file.
    fn ran(&self, args: &[&str]) -> Vec<String> {
        (self.outcomes(args).into_iter())
            .filter(|(_, outcome)| outcome != "unchanged")
            .map(|(id, _)| {
                id.split_once("::")
                    .map_or(id.clone(), |(_, n)| n.to_owned())
            })
            .collect()
    }
}

/// The report without what differs from run to run.
fn stable(ran: &Ran) -> String {
    let mut out = String::new();
    for line in ran.stdout.lines() {
        let line = match line.rfind(" in ") {
            Some(end) if line.starts_with('=') => line[..end].trim_matches(['=', ' ']),
            _ => line,
        };
        if !line.starts_with("taipan ") {
            out.push_str(line.trim_end());
            out.push('\n');
        }
    }
    out
}

const LIB: &str = r#"
class Token(object):
    def __init__(self, kind, text):
        self.kind = kind
        self.text = text

class Problem(Exception):
    def __init__(self, position):
        self.position = position

def lex(text):
    out = []
    for word in text.split(' '):
        if word == '!':
            raise Problem(len(out))
        out.append(Token('name', word))
    return out

def double(n):
    return n + n

def count(text):
    return len(lex(text))
"#;

/// Tests that fail, one for each way.
const FAILURES: &str = r#"
import pytest
from lib import double, lex, count, Problem, Token

def test_passes():
    assert double(2) == 4

def test_numbers():
    x = 3
    assert double(x) == 7, 'twice'

def test_lists():
    tokens = lex('a b c')
    assert [t.text for t in tokens] == ['a', 'x', 'c', 'd']

def test_texts():
    assert '\n'.join([t.text for t in lex('one two three')]) == 'one\ntoo\nthree'

def test_values():
    t = lex('a')[0]
    assert (t, u'\xe9', 'c', 1.5, None) == (t, u'e', 'c', 2.5, None)

def test_truth():
    tokens = lex('a b')
    assert not tokens

def test_second_part():
    a = 1
    assert a == 1 and a + 1 == 3

class TestMethods(object):
    def setup_method(self, method):
        self.tokens = lex('a b')

    def helper(self, n):
        assert len(self.tokens) == n

    def test_in_helper(self):
        self.helper(2)
        self.helper(3)

def test_raises_nothing():
    with pytest.raises(Problem):
        lex('a b')

def test_exception():
    print 'to be seen'
    count('a ! b')
    print 'not to be seen'

def test_says_so():
    pytest.fail('not today')
"#;

#[test]
fn failures_are_explained() {
    let p = Project::new(&[("lib.py", LIB), ("test_lib.py", FAILURES)]);
    let ran = p.test(&["--no-cache", "test_lib.py"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let at = p.dir.path().to_str().unwrap();
    expect![[r#"
        ============================= test session starts ==============================
        collected 11 items

        test_lib.py .FFFFFFFFFF                                                   [100%]

        =================================== FAILURES ===================================
        _________________________________ test_numbers _________________________________

            def test_numbers():
                x = 3
        >       assert double(x) == 7, 'twice'
        E       AssertionError: twice
        E       assert 6 == 7
        E        +  where 6 = double(x)
        E        +  where 3 = x

        test_lib.py:10: AssertionError
        __________________________________ test_lists __________________________________

            def test_lists():
                tokens = lex('a b c')
        >       assert [t.text for t in tokens] == ['a', 'x', 'c', 'd']
        E       assert ['a', 'b', 'c'] == ['a', 'x', 'c', 'd']
        E        +  where ['a', 'b', 'c'] = [t.text for t in tokens]
        E         At index 1 diff: 'b' != 'x'
        E         Right contains one more item: 'd'

        test_lib.py:14: AssertionError
        __________________________________ test_texts __________________________________

            def test_texts():
        >       assert '\n'.join([t.text for t in lex('one two three')]) == 'one\ntoo\nthree'
        E       assert 'one\ntwo\nthree' == 'one\ntoo\nthree'
        E        +  where 'one\ntwo\nthree' = '\n'.join([t.text for t in lex('one two three')])
        E           one
        E         - too
        E         + two
        E           three

        test_lib.py:17: AssertionError
        _________________________________ test_values __________________________________

            def test_values():
                t = lex('a')[0]
        >       assert (t, u'\xe9', 'c', 1.5, None) == (t, u'e', 'c', 2.5, None)
        E       assert (<Token object>, u'\xe9', 'c', 1.500000, None) == (<Token object>, u'e', 'c', 2.500000, None)
        E        +  where (<Token object>, u'\xe9', 'c', 1.500000, None) = (t, u'\xe9', 'c', 1.5, None)
        E        +  where (<Token object>, u'e', 'c', 2.500000, None) = (t, u'e', 'c', 2.5, None)
        E        +  where <Token object> = t
        E         At index 1 diff: u'\xe9' != u'e'

        test_lib.py:21: AssertionError
        __________________________________ test_truth __________________________________

            def test_truth():
                tokens = lex('a b')
        >       assert not tokens
        E       assert not [<Token object>, <Token object>]
        E        +  where [<Token object>, <Token object>] = tokens

        test_lib.py:25: AssertionError
        _______________________________ test_second_part _______________________________

            def test_second_part():
                a = 1
        >       assert a == 1 and a + 1 == 3
        E       assert 2 == 3
        E        +  where 2 = a + 1
        E        +  where 1 = a

        test_lib.py:29: AssertionError
        __________________________ TestMethods.test_in_helper __________________________

        >           assert len(self.tokens) == n
        E       assert 2 == 3
        E        +  where 2 = len(self.tokens)
        E        +  where 3 = n
        E        +  where <TestMethods object> = self

        test_lib.py:36: AssertionError
        _____________________________ test_raises_nothing ______________________________

            def test_raises_nothing():
        >       with pytest.raises(Problem):
        E       Failed: DID NOT RAISE Problem

        test_lib.py:43
        ________________________________ test_exception ________________________________

            def test_exception():
                print 'to be seen'
        >       count('a ! b')

        test_lib.py:48: in test_exception
        _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _
        >       return len(lex(text))

        lib.py:23: in count
        _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _
        >               raise Problem(len(out))
        E       Problem

        lib.py:15: Problem
        ------------------------------- Captured output --------------------------------
        to be seen
        _________________________________ test_says_so _________________________________

            def test_says_so():
        >       pytest.fail('not today')
        E       Failed: not today

        test_lib.py:52

        =========================== short test summary info ============================
        FAILED test_lib.py::test_numbers - AssertionError: twice
        FAILED test_lib.py::test_lists - assert ['a', 'b', 'c'] == ['a', 'x', 'c', 'd']
        FAILED test_lib.py::test_texts - assert 'one\ntwo\nthree' == 'one\ntoo\nthree'
        FAILED test_lib.py::test_values - assert (<Token object>, u'\xe9', 'c', 1.500000, None) == (<Token object>, u'e', 'c', 2.500000, None)
        FAILED test_lib.py::test_truth - assert not [<Token object>, <Token object>]
        FAILED test_lib.py::test_second_part - assert 2 == 3
        FAILED test_lib.py::TestMethods::test_in_helper - assert 2 == 3
        FAILED test_lib.py::test_raises_nothing - Failed: DID NOT RAISE Problem
        FAILED test_lib.py::test_exception - Problem
        FAILED test_lib.py::test_says_so - Failed: not today

        10 failed, 1 passed
    "#]].assert_eq(&stable(&ran).replace(at, "/tmp"));
}

/// Checks outcomes of the tests of one file.
#[track_caller]
fn check(text: &str, expected: Expect) {
    let p = Project::new(&[("lib.py", LIB), ("test_it.py", text)]);
    let found: Vec<String> = (p.outcomes(&["--no-cache", "--timeout", "5"]).into_iter())
        .map(|(id, outcome)| format!("{} {outcome}", id.trim_start_matches("test_it.py::")))
        .collect();
    expected.assert_eq(&found.join("\n"));
}

#[test]
fn what_counts_as_a_test() {
    check(
        r#"
import pytest

def test_function(): pass
def helper(): pass
def tester(): pass
test_value = 3

class TestClass(object):
    def test_method(self): pass
    def helper(self): pass

class TestDerived(TestClass):
    def test_more(self): pass

class TestWithInit(object):
    def __init__(self): pass
    def test_no(self): pass

class Other(object):
    def test_no(self): pass

class TestOldStyle:
    def test_method(self): pass

class TestDerivedOldStyle(TestOldStyle):
    def test_more(self): pass

class TestNot(object):
    __test__ = False
    def test_no(self): pass

@pytest.mark.parametrize('a', [1, 'x', None, 2.5, True, (1, 2)])
def test_ids(a): pass

@pytest.mark.parametrize('a', [0, 1])
@pytest.mark.parametrize(['b', 'c'], [('x', 2), ('y', 3)])
def test_stacked(a, b, c): pass

@pytest.mark.parametrize('a', [1, 1, pytest.param(2, id='two')])
def test_duplicates(a): pass
"#,
        expect![[r#"
            TestClass::test_method passed
            TestDerived::test_method passed
            TestDerived::test_more passed
            TestDerivedOldStyle::test_method passed
            TestDerivedOldStyle::test_more passed
            TestOldStyle::test_method passed
            test_duplicates[10] passed
            test_duplicates[11] passed
            test_duplicates[two] passed
            test_function passed
            test_ids[1] passed
            test_ids[2.5] passed
            test_ids[None] passed
            test_ids[True] passed
            test_ids[a5] passed
            test_ids[x] passed
            test_stacked[x-2-0] passed
            test_stacked[x-2-1] passed
            test_stacked[y-3-0] passed
            test_stacked[y-3-1] passed
            tester passed"#]],
    );
}

#[test]
fn marks_and_setup() {
    check(
        r#"
import sys
import py, pytest
from pytest import raises
from lib import lex, Problem

class Log(object):
    text = ''
log = Log()
shared = []

def setup_module(module):
    shared.append(5)

def setup_function(function):
    log.text += 's'

def test_setup():
    assert log.text == 's'
    assert shared == [5]
    log.text += 'x'

def test_starts_anew():
    assert log.text == 's'

class TestSetup(object):
    def setup_class(cls):
        cls.table = [1, 2]

    def setup_method(self, method):
        self.n = len(self.table)

    def teardown_method(self, method):
        assert self.n == 3

    def test_good(self):
        self.n += 1

    def test_bad_teardown(self):
        pass

@pytest.mark.skip(reason='no')
def test_skip(): assert 0

@pytest.mark.skipif('sys.maxint > 0')
def test_skipif(): assert 0

@py.test.mark.skipif(len(shared) > 3, reason='never')
def test_not_skipped(): pass

def test_skips_itself():
    if len(shared) > 0:
        py.test.skip('now')
    assert 0

@pytest.mark.xfail
def test_xfail(): assert len(shared) == 7

@pytest.mark.xfail(strict=True)
def test_strict(): pass

@pytest.mark.xfail(reason='who knows')
def test_xpass(): pass

def test_raises():
    with raises(Problem) as info:
        lex('a b !')
    assert info.value.position == 2
    e = py.test.raises(Problem, lex, '!')
    assert e.value.position == 0
    with raises((KeyError, Problem)):
        lex('!')

def test_other_exception():
    with raises(KeyError):
        lex('!')

def test_fixture(no_fixture): pass
"#,
        expect![[r#"
            TestSetup::test_bad_teardown failed
            TestSetup::test_good passed
            test_fixture failed
            test_not_skipped passed
            test_other_exception failed
            test_raises passed
            test_setup passed
            test_skip skipped
            test_skipif skipped
            test_skips_itself skipped
            test_starts_anew passed
            test_strict failed
            test_xfail xfailed
            test_xpass xpassed"#]],
    );
}

#[test]
fn one_test_does_not_harm_another() {
    check(
        r#"
import os
from rpython.rtyper.lltypesystem import lltype
from lib import double

def test_first(): assert double(1) == 2

def test_exit(): os._exit(0)

def test_endless():
    n = 1
    while n != 0:
        n = double(n) | 1

def f(n):
    return f(n + 1) + 1

def test_recursion(): f(0)

def test_closes_everything():
    for fd in range(3, 300):
        try:
            os.close(fd)
        except OSError:
            pass
    assert double(1) == 3

def test_types_of_its_own():
    assert double('a') == 'aa'

def test_cannot_be_compiled():
    x = [1]
    x.append('a')

def test_nor_this():
    return undefined_name

def test_last(): assert double(2) == 4
"#,
        expect![[r#"
            test_cannot_be_compiled passed
            test_closes_everything failed
            test_endless failed
            test_exit failed
            test_first passed
            test_last passed
            test_nor_this failed
            test_recursion failed
            test_types_of_its_own passed"#]],
    );
}

#[test]
fn a_file_that_cannot_be_imported_harms_no_other() {
    let p = Project::new(&[
        ("test_a.py", "def test_a(): pass\n"),
        ("test_b.py", "import nothing_like_this\n"),
        ("test_c.py", "def test_c(:\n"),
        (
            "test_d.py",
            "import pytest\npytest.importorskip('nothing_like_this')\n",
        ),
        ("sub/d_test.py", "def test_d(): pass\n"),
        (".hidden/test_e.py", "def test_e(): assert 0\n"),
    ]);
    let ran = p.test(&["--no-cache"]);
    assert_eq!(ran.code, 1);
    for part in [
        "collected 3 items / 2 errors / 1 skipped",
        "ERROR collecting test_b.py",
        "No module named nothing_like_this",
        "ERROR collecting test_c.py",
        "test_c has a syntax error",
        "1 failed, 2 passed, 1 skipped, 2 errors",
    ] {
        assert!(ran.stdout.contains(part), "{part}\n{}", ran.stdout);
    }
}

#[test]
fn choosing_tests() {
    let p = Project::new(&[
        (
            "test_a.py",
            "def test_one(): pass\ndef test_two(): assert 0\ndef test_three(): assert 0\n",
        ),
        (
            "test_b.py",
            "class TestX(object):\n    def test_one(self): pass\n    def test_two(self): pass\n",
        ),
    ]);
    let names = |args: &[&str]| p.ran(&[args, &["--all"]].concat()).join(" ");
    assert_eq!(names(&["-k", "two and not TestX"]), "test_two");
    assert_eq!(names(&["test_b.py::TestX::test_two"]), "TestX::test_two");
    assert_eq!(
        names(&["test_b.py::TestX"]),
        "TestX::test_one TestX::test_two"
    );
    assert_eq!(names(&["-x", "--threads", "1"]), "test_one test_two");
    assert_eq!(
        names(&["--maxfail", "2", "--threads", "1"]),
        "test_one test_three test_two"
    );
    assert_eq!(p.test(&["--maxfail", "2"]).code, 1);
    // The failures of that run, and then those that are left.
    assert_eq!(names(&["--last-failed"]), "test_three test_two");
    p.edit(
        "test_a.py",
        "def test_two(): assert 0",
        "def test_two(): pass",
    );
    assert_eq!(names(&["--lf"]), "test_three test_two");
    assert_eq!(names(&["--lf"]), "test_three");
    let list = p.test(&["--collect-only", "-q", "-k", "one"]);
    assert_eq!(list.code, 0);
    assert!(
        list.stdout
            .starts_with("test_a.py::test_one\ntest_b.py::TestX::test_one\n"),
        "{}",
        list.stdout
    );
    // Nothing to do is hardly what was meant.
    assert_eq!(p.test(&["-k", "nothing_like_this"]).code, 5);
    for args in [
        &["-k", "one and"][..],
        &["test_a.py::test_four"],
        &["test_c.py"],
        &["--timeout", "0"],
        &["--engine", "c"],
    ] {
        assert_eq!(p.test(args).code, 4, "{args:?}");
    }
}

#[test]
fn an_edit_runs_only_what_it_can_affect() {
    let p = Project::new(&[
        ("lib.py", LIB),
        (
            "test_lib.py",
            r#"
import os
from lib import double, lex, count

def test_double():
    assert double(len('a b'.split(' '))) == 4

def test_lex():
    assert lex('a b')[1].text == 'b'

def test_count():
    assert count('a b') == 2

def test_alone():
    assert 1 + 1 == 2

def test_reads():
    assert os.getcwd() != ''
"#,
        ),
    ]);
    let ran = |args: &[&str]| p.ran(args).join(" ");
    assert_eq!(
        ran(&[]),
        "test_alone test_count test_double test_lex test_reads"
    );
    // Who asks the system is never sure.
    assert_eq!(ran(&[]), "test_reads");
    assert_eq!(ran(&["--trust"]), "test_reads");
    assert_eq!(ran(&["--trust"]), "");
    assert_eq!(ran(&["--trust", "--all"]).split(' ').count(), 5);
    // Neither comments nor lines matter.
    p.edit("lib.py", "def double", "# Twice.\n\ndef double");
    p.edit(
        "test_lib.py",
        "def test_double",
        "# Twice.\n\ndef test_double",
    );
    assert_eq!(ran(&["--trust"]), "");
    p.edit("lib.py", "n + n", "n * 7 - n * 5");
    assert_eq!(ran(&["--trust"]), "test_double");
    p.edit(
        "lib.py",
        "len(lex(text))",
        "len(lex(text)) * len(lex(text)) // len(lex(text))",
    );
    assert_eq!(ran(&["--trust"]), "test_count");
    p.edit("lib.py", "'name', word", "'word', word");
    assert_eq!(ran(&["--trust"]), "test_count test_lex");
    // What comes and goes concerns nobody else.
    p.edit(
        "test_lib.py",
        "def test_lex",
        "def test_new():\n    assert double(len('a b c'.split(' '))) == 6\n\ndef test_lex",
    );
    assert_eq!(ran(&["--trust"]), "test_new");
    // A failure is seen, and seen again until it is mended.
    p.edit("lib.py", "n * 5", "n * 4");
    assert_eq!(ran(&["--trust"]), "test_double test_new");
    assert_eq!(ran(&["--trust"]), "test_double test_new");
    p.edit("lib.py", "n * 4", "n * 5");
    // Back to what is known.
    assert_eq!(ran(&["--trust"]), "");
    let log = p.dir.path().join("log");
    p.edit("lib.py", "n * 7 - n * 5", "n * 8 - n * 6");
    p.test(&["--trust", "--log-queries", log.to_str().unwrap()]);
    assert_eq!(
        events(&log),
        [
            "test_lib.py::test_alone restored",
            "test_lib.py::test_count restored",
            "test_lib.py::test_double executed",
            "test_lib.py::test_lex restored",
            "test_lib.py::test_new executed",
            "test_lib.py::test_reads restored",
        ]
    );
}

/// A second process compiles nothing of the files whose tests cannot come out
/// differently, as far as the contents of files tell.
#[test]
fn a_second_process_compiles_what_has_changed() {
    let p = Project::new(&[
        ("lib.py", "def twice(n):\n    return n + n\n"),
        ("other.py", "def thrice(n):\n    return n * 3\n"),
        (
            "test_lib.py",
            "from lib import twice\n\ndef test_lib():\n    \
             assert twice(len('a b c'.split(' '))) == 6\n",
        ),
        (
            "test_other.py",
            "import os\nfrom other import thrice\ntry:\n    from extra import size\n\
             except ImportError:\n    size = 9\n\ndef test_other():\n    \
             assert thrice(len('a b c'.split(' '))) == size\n\ndef test_fails():\n    assert thrice(2) == 7\n\n\
             def test_reads():\n    assert os.getcwd() != ''\n",
        ),
    ]);
    let log = p.dir.path().join("log");
    let ran = || {
        let ran = p.test(&["--log-queries", log.to_str().unwrap()]);
        let text = std::fs::read_to_string(&log).unwrap();
        let mut compiled: Vec<String> = text
            .lines()
            .map(|l| serde_json::from_str::<serde_json::Value>(l).unwrap())
            .filter(|v| v["query"] == "flow_graph" && v["event"] == "executed")
            .filter_map(|v| Some(v["key"].as_str()?.split('.').next()?.to_owned()))
            .filter(|module| !module.starts_with('_') && module != "pytest")
            .collect();
        compiled.sort();
        compiled.dedup();
        (ran.stdout.lines().last().unwrap().to_owned(), compiled)
    };
    let (last, compiled) = ran();
    assert!(last.contains("1 failed, 3 passed"), "{last}");
    assert!(compiled.contains(&"test_lib".to_owned()), "{compiled:?}");
    // What failed, and what asks the system, runs again: its code is at hand.
    let (last, compiled) = ran();
    assert!(last.contains("1 failed, 1 passed, 2 unchanged"), "{last}");
    assert_eq!(compiled, [""; 0]);
    p.edit("lib.py", "n + n", "n * 7 - n * 5");
    let (last, compiled) = ran();
    assert!(last.contains("1 failed, 2 passed, 1 unchanged"), "{last}");
    assert!(!compiled.contains(&"test_other".to_owned()), "{compiled:?}");
    assert!(compiled.contains(&"lib".to_owned()), "{compiled:?}");
    // A file that was looked for and not found, and now is there.
    p.write("extra.py", "size = 8\n");
    let (last, _) = ran();
    assert!(last.contains("2 failed, 1 passed, 1 unchanged"), "{last}");
}

/// Where a part of a file is no Python, the rest counts, and the part is told of.
#[test]
fn what_is_no_python_is_an_error() {
    let p = Project::new(&[
        (
            "test_bad.py",
            "def test_good():\n    pass\n\ndef helper(:\n    pass\n",
        ),
        ("test_good.py", "def test_good():\n    pass\n"),
    ]);
    let ran = p.test(&[]);
    assert_eq!(ran.code, 1);
    for part in ["test_bad.py:4", "ERROR test_bad.py", "2 passed, 1 error"] {
        assert!(ran.stdout.contains(part), "{part}\n{}", ran.stdout);
    }
}

/// What happened to outcomes, from a log of queries.
fn events(log: &Path) -> Vec<String> {
    let mut out = Vec::new();
    for line in std::fs::read_to_string(log).unwrap().lines() {
        let v: serde_json::Value = serde_json::from_str(line).unwrap();
        if v["query"] == "test_outcome" {
            out.push(format!(
                "{} {}",
                v["key"].as_str().unwrap(),
                v["event"].as_str().unwrap()
            ));
        }
    }
    out.sort();
    out
}

#[test]
fn data_counts_as_code_does() {
    let p = Project::new(&[
        ("lib.py", "TABLE = [1, 2, 3]\nOTHER = {'a': 1}\n"),
        (
            "test_lib.py",
            r#"
from lib import TABLE, OTHER

def test_table():
    n = 0
    for x in TABLE:
        n += x
    assert n > 0

def test_other():
    key = 'a b'.split(' ')[0]
    assert OTHER[key] == 1

def test_neither():
    assert len('a b'.split(' ')) == 2
"#,
        ),
    ]);
    assert_eq!(p.ran(&[]).len(), 3);
    p.edit("lib.py", "1, 2, 3", "1, 2, 4");
    assert_eq!(p.ran(&[]), ["test_table"]);
    p.edit("lib.py", "'a': 1}", "'a': 1, 'b': 2}");
    assert_eq!(p.ran(&[]), ["test_other"]);
}

#[test]
fn the_interpreter_of_a_language() {
    let quill = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/programs/quill");
    let p = Project::new(&[]);
    for entry in std::fs::read_dir(quill).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "py") {
            let name = path.file_name().unwrap().to_str().unwrap();
            let text = std::fs::read_to_string(&path).unwrap();
            p.write(&format!("quill/{name}"), &text);
        }
    }
    let outcomes = p.outcomes(&[]);
    assert!(outcomes.len() > 40);
    assert!(outcomes.values().all(|o| o == "passed"), "{outcomes:?}");
    assert_eq!(p.ran(&[]), [""; 0]);
    // One line of the virtual machine's loop.
    p.edit(
        "quill/vm.py",
        "self.instructions += 1",
        "self.instructions += 2",
    );
    let files: Vec<_> = (p.outcomes(&[]).into_iter())
        .filter(|(_, outcome)| outcome != "unchanged")
        .map(|(id, outcome)| {
            assert_eq!(outcome, "passed", "{id}");
            id.split("::").next().unwrap().to_owned()
        })
        .collect();
    assert!(files.len() > 10);
    assert!(files.iter().all(|f| f == "quill/test_vm.py"), "{files:?}");
}

#[test]
fn engines_agree() {
    let p = Project::new(&[
        ("lib.py", LIB),
        (
            "test_lib.py",
            r#"
import pytest
from lib import double, lex, Problem

def test_good():
    assert double(2) == 4

def test_bad():
    assert double(2) == 5

def test_skip():
    pytest.skip('why')

def test_raises():
    pytest.raises(Problem, lex, '!')
"#,
        ),
    ]);
    let native = p.outcomes(&["--no-cache"]);
    assert_eq!(native, p.outcomes(&["--no-cache", "--engine", "llinterp"]));
    assert_eq!(native["test_lib.py::test_bad"], "failed");
}

#[test]
fn junit_xml() {
    let p = Project::new(&[
        (
            "test_a.py",
            r#"
import pytest

def test_good():
    print 'a < b & c'

def test_bad():
    x = '<&>\x01'
    assert x == 'a'

@pytest.mark.skip(reason='"quoted"')
def test_skip(): pass

class TestX(object):
    def test_type(self):
        x = [1]
        x.append('a')
"#,
        ),
        ("test_b.py", "import nothing_like_this\n"),
    ]);
    p.test(&["--no-cache", "--engine", "native", "--junit-xml", "out.xml"]);
    let xml = std::fs::read_to_string(p.dir.path().join("out.xml")).unwrap();
    let report = quick_junit::Report::deserialize_from_str(&xml).unwrap();
    assert_eq!((report.tests, report.failures, report.errors), (5, 1, 2));
    let suite = &report.test_suites[0];
    assert_eq!(suite.name.as_str(), "test_a.py");
    let cases: Vec<String> = (suite.test_cases.iter())
        .map(|c| {
            let status = match &c.status {
                quick_junit::TestCaseStatus::Success { .. } => "passed".to_owned(),
                quick_junit::TestCaseStatus::Skipped { message, .. } => {
                    format!("skipped {}", message.as_ref().unwrap().as_str())
                }
                quick_junit::TestCaseStatus::NonSuccess { message, .. } => {
                    format!("failed {}", message.as_ref().unwrap().as_str())
                }
            };
            let class = c.classname.as_ref().unwrap();
            format!("{} {} {status}", class.as_str(), c.name.as_str())
        })
        .collect();
    expect![[r#"
        test_a test_good passed
        test_a test_bad failed assert '<&>\x01' == 'a'
        test_a test_skip skipped "quoted"
        test_a.TestX test_type failed [TP0300] a list mixes an int and a str"#]]
    .assert_eq(&cases.join("\n"));
}
