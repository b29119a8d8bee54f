//! `taipan test` on what suites use beyond functions and asserts: fixtures, `unittest`,
//! and tests that can only be run as Python.

use std::process::Command;

use expect_test::{Expect, expect};

const LIB: &str = r#"
def double(n):
    return n + n

def check(n):
    if n < 0:
        raise ValueError("bad %d" % n)
    return n

def deep(n):
    if n == 0:
        check(-1)
    return deep(n - 1)

class Pair(object):
    def __init__(self, a, b):
        self.a = a
        self.b = b
    def __eq__(self, other):
        return self.a == other.a and self.b == other.b
    def __str__(self):
        return 'Pair'

def shown(pair):
    return '<%s>' % pair

def first(pair):
    if pair.a < 0:
        raise ValueError(str(pair))
    return pair.a
"#;

/// Runs the tests of files; the exit code and what it printed.
fn run(files: &[(&str, &str)], args: &[&str]) -> (i32, String) {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in [("lib.py", LIB)].iter().chain(files) {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let out = Command::new(env!("CARGO_BIN_EXE_taipan"))
        .current_dir(dir.path())
        .args(["test", "--no-cache"])
        .args(args)
        .output()
        .unwrap();
    let stdout = String::from_utf8(out.stdout).unwrap();
    let at = dir.path().to_str().unwrap();
    (out.status.code().unwrap(), stdout.replace(at, "/tmp"))
}

/// Checks the outcomes of a file's tests, and whether they were translated.
#[track_caller]
fn check(files: &[(&str, &str)], args: &[&str], expected: Expect) {
    let (_, stdout) = run(files, &[args, &["--json"]].concat());
    let mut out = Vec::new();
    for line in stdout.lines() {
        let v: serde_json::Value = serde_json::from_str(line).unwrap();
        let id = v["id"].as_str().unwrap();
        let name = id.split_once("::").unwrap().1;
        let how = match v["interpreted"].as_str() {
            None => String::new(),
            Some(why) => format!(": {why}"),
        };
        out.push(format!("{name} {}{how}", v["outcome"].as_str().unwrap()));
    }
    expected.assert_eq(&out.join("\n"));
}

const CONFTEST: &str = r#"
import pytest

@pytest.fixture
def base():
    return 40

@pytest.fixture(scope='session')
def log():
    return []

@pytest.fixture
def overridden():
    return 'far'
"#;

const FIXTURES: &str = r#"
import pytest
from lib import double

@pytest.fixture
def two(base):
    return base - 38

@pytest.fixture
def resource(log):
    log.append('open')
    yield log
    log.append('close')

@pytest.fixture(params=[1, 2])
def number(request):
    return request.param

@pytest.fixture(autouse=True)
def always(log):
    log.append('auto')

@pytest.fixture
def overridden(overridden):
    return overridden + ' and near'

@pytest.fixture(name='other')
def named_otherwise():
    return 8

def test_of_conftest(two):
    assert double(two) == 4

def test_yields(resource):
    assert resource == ['auto', 'open']

def test_each_anew(resource):
    assert resource == ['auto', 'open']

def test_params(number):
    assert double(number) == number * 2

@pytest.mark.parametrize('a', [5, 6])
def test_params_and_values(a, number):
    assert a > number

@pytest.mark.parametrize('number', [7], indirect=True)
def test_indirect(number):
    assert number == 7

@pytest.mark.parametrize('two', [9])
def test_value_for_fixture(two):
    assert two == 9

def test_nearest(overridden):
    assert overridden == 'far and near'

def test_name(other):
    assert other == 8

@pytest.mark.usefixtures('resource')
def test_use(log):
    assert log == ['auto', 'open']

class TestMethods(object):
    offset = 2

    @pytest.fixture
    def own(self, base):
        return base + self.offset

    def setup_method(self, method):
        self.ready = True

    def test_own(self, own):
        assert own == 42 and self.ready

def test_finalizer(finalized):
    assert len(finalized) == 1

@pytest.fixture
def finalized(request):
    values = [1]
    request.addfinalizer(values.pop)
    return values

def test_unknown(nothing):
    pass

@pytest.fixture
def failing():
    raise KeyError('setup')

def test_failing(failing):
    pass
"#;

#[test]
fn fixtures() {
    check(
        &[("conftest.py", CONFTEST), ("test_it.py", FIXTURES)],
        &[],
        expect![[r#"
            test_of_conftest passed
            test_yields passed
            test_each_anew passed
            test_params[1] passed
            test_params[2] passed
            test_params_and_values[5-1] passed
            test_params_and_values[5-2] passed
            test_params_and_values[6-1] passed
            test_params_and_values[6-2] passed
            test_indirect[7] passed
            test_value_for_fixture[9] passed
            test_nearest passed
            test_name passed
            test_use passed
            TestMethods::test_own passed
            test_finalizer passed: [TP0301] an instance of _taipan_testing.FixtureRequest has no attribute `addfinalizer`
            test_unknown failed
            test_failing failed"#]],
    );
}

/// An error in a `conftest.py` is reported with its place in both formats. Tests in other folders still run.
#[test]
fn conftests_that_fail() {
    let wrong = [
        (
            "import nothing_like_this\n",
            "No module named nothing_like_this",
            "conftest.py:1",
        ),
        (
            "import helper\n\nx = helper.one / 0\n",
            "ZeroDivisionError",
            "conftest.py:3",
        ),
        (
            "import helper\nhelper.check(-4)\n",
            "ValueError: bad",
            "helper.py:3",
        ),
        (
            "import pytest\n@pytest.fixture(scope='year')\ndef f(): pass\n",
            "there is no scope 'year'",
            "conftest.py:2",
        ),
    ];
    for (text, message, place) in wrong {
        let files = [
            ("sub/conftest.py", text),
            (
                "sub/helper.py",
                "one = 1\ndef check(n):\n    if n < 0: raise ValueError('bad')\n",
            ),
            ("sub/test_it.py", "def test_it(): pass\n"),
            ("test_other.py", "def test_other(): pass\n"),
        ];
        let (code, out) = run(&files, &["."]);
        assert_eq!(code, 1, "{out}");
        for part in [
            "1 passed, 1 error",
            "ERROR collecting sub/test_it.py",
            message,
            "sub/conftest.py",
        ] {
            assert!(out.contains(part), "{part}: {out}");
        }
        assert!(!out.contains("_taipan_testing.py"), "{out}");
        let (code, out) = run(&files, &["--json", "sub/test_it.py"]);
        assert_eq!(code, 1, "{out}");
        let error: serde_json::Value = serde_json::from_str(out.lines().next().unwrap()).unwrap();
        let diagnostic = &error["diagnostics"][0];
        assert_eq!(error["outcome"], "error");
        let said = diagnostic["message"].as_str().unwrap();
        assert!(said.contains(message), "{out}");
        let found = format!(
            "{}:{}",
            diagnostic["file"].as_str().unwrap(),
            diagnostic["line"]
        );
        assert!(found.ends_with(place), "{found}");
    }
}

#[test]
fn fixtures_as_python() {
    let (code, out) = run(
        &[("conftest.py", CONFTEST), ("test_it.py", FIXTURES)],
        &["--engine", "interp", "-q"],
    );
    assert_eq!(code, 1);
    let failed: Vec<&str> = out.lines().filter(|l| l.starts_with("FAILED")).collect();
    expect![[r#"
        FAILED test_it.py::test_unknown - fixture 'nothing' not found
        FAILED test_it.py::test_failing - KeyError: 'setup'"#]]
    .assert_eq(&failed.join("\n"));
}

const AS_PYTHON: &str = r#"
import os, sys
import pytest
import lib
from lib import Pair, check, double, first, shown

def test_translated():
    assert double(2) == 4

def test_tmpdir(tmpdir):
    tmpdir.mkdir('sub').join('x.txt').write('hello')
    assert tmpdir.join('sub', 'x.txt').read() == 'hello'
    assert os.listdir(str(tmpdir)) == ['sub']

def test_tmp_path(tmp_path):
    (tmp_path / 'y').write_text(u'abc')
    assert (tmp_path / 'y').read_text() == 'abc'

def test_capsys(capsys):
    print 'out',
    print 'put'
    sys.stderr.write('err')
    out, err = capsys.readouterr()
    assert (out, err) == ('out put\n', 'err')
    print 'more'
    assert capsys.readouterr().out == 'more\n'

def test_monkeypatch(monkeypatch):
    monkeypatch.setattr(lib, 'double', lambda n: 7)
    monkeypatch.setenv('SOME_NAME', 'value')
    assert lib.double(3) == 7
    assert os.environ['SOME_NAME'] == 'value'

def test_undone():
    assert set([lib.double(3), 6]) == set([6])

def test_match():
    with pytest.raises(ValueError, match='bad -[0-9]') as info:
        check(-1)
    assert str(info.value) == 'bad -1'

def test_match_fails():
    with pytest.raises(ValueError, match='good'):
        check(-1)

def test_information():
    with pytest.raises(ValueError) as info:
        check(-1)
    assert info.type is ValueError
    assert info.match('bad')

def test_approx():
    assert 0.1 + 0.2 == pytest.approx(0.3)
    assert 1.0 != pytest.approx(1.1)
    assert [0.1 + 0.2] == pytest.approx([0.3])

def test_equality():
    assert Pair(1, 2) == Pair(1, 2)

def test_equality_of_items():
    assert [Pair(1, 2)] == [Pair(1, 2)]

def test_no_equality():
    assert Pair(1, 2) != Pair(1, 2)

def test_str():
    assert '<%s>' % Pair(1, 2) == '<Pair>'

def test_str_elsewhere():
    assert shown(Pair(1, 2)) == '<Pair>'

def test_str_elsewhere_fails():
    assert shown(Pair(1, 2)) == '<pair>'

def test_str_elsewhere_not_reached():
    assert first(Pair(1, 2)) == 1

def same(left, right):
    if left.a != right.a:
        raise AssertionError(str(left) + ' != ' + str(right))

def test_str_in_the_message_of_a_failure():
    same(Pair(1, 2), Pair(1, 3))

def test_fails():
    assert set([1, 2]) == set([1])

def test_skips():
    if len(set([1, 1])) == 1:
        pytest.skip('why')
"#;

#[test]
fn what_cannot_be_translated_runs_as_python() {
    check(
        &[("test_it.py", AS_PYTHON)],
        &[],
        expect![[r#"
            test_translated passed
            test_tmpdir passed: it uses the fixture 'tmpdir'
            test_tmp_path passed: it uses the fixture 'tmp_path'
            test_capsys passed: it uses the fixture 'capsys'
            test_monkeypatch passed: it uses the fixture 'monkeypatch'
            test_undone passed: [TP0302] set() is not RPython
            test_match passed: [TP0304] raises() takes **keywords, which is not RPython
            test_match_fails failed: [TP0304] raises() takes **keywords, which is not RPython
            test_information passed: [TP0304] raises() takes **keywords, which is not RPython
            test_approx passed: [TP0300] argument expected of __init__() mixes a float and a list
            test_equality passed: [TP0402] RPython compares instances by identity: lib.Pair.__eq__ is for Python alone
            test_equality_of_items passed: [TP0402] RPython compares instances by identity: lib.Pair.__eq__ is for Python alone
            test_no_equality passed
            test_str passed: [TP0402] str() of an instance calls nothing: lib.Pair.__str__ is for Python alone
            test_str_elsewhere passed: it passes as Python alone, where str() of an instance calls its methods
            test_str_elsewhere_fails failed
            test_str_elsewhere_not_reached passed
            test_str_in_the_message_of_a_failure passed
            test_fails failed: [TP0302] set() is not RPython
            test_skips skipped: [TP0302] set() is not RPython"#]],
    );
    // Where only machine code counts, it fails.
    check(
        &[("test_it.py", AS_PYTHON)],
        &["--engine", "native", "-k", "translated or capsys or undone"],
        expect![[r#"
            test_translated passed
            test_capsys failed
            test_undone failed"#]],
    );
}

/// Of many tests of one function those whose arguments are of the same kinds are one program:
/// none has to be interpreted.
#[test]
fn arguments_of_different_kinds() {
    let mut cases = String::new();
    for i in 0..20 {
        cases +=
            &format!("    ({i}, {i}), ('{i}', '{i}'), ([{i}], [{i}]), ((1, '{i}'), (1, '{i}')),\n");
    }
    let text = format!(
        "import pytest\n\n\n@pytest.mark.parametrize('a, b', [\n{cases}])\n\
         def test_same(a, b):\n    assert a == b\n"
    );
    let (code, out) = run(&[("test_it.py", &text)], &["-q"]);
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("80 passed in"), "{out}");
}

const UNITTEST: &str = r#"
import unittest
from lib import check, double

class Numbers(unittest.TestCase):
    def setUp(self):
        self.n = 4

    def test_translated(self):
        self.assertEqual(double(self.n), 8)
        self.assertNotEqual(double(self.n), 9)
        self.assertTrue(self.n == 4)
        self.assertFalse(self.n == 5)
        self.assertIn(self.n, [3, 4])
        self.assertLess(self.n, 5)
        self.assertAlmostEqual(self.n * 0.1, 0.4)

    def test_strings(self):
        self.assertEqual('a' + 'b', 'ab')
        self.assertEqual([1, 2], [1, 2])

    def test_raises(self):
        self.assertRaises(ValueError, check, -1)
        with self.assertRaises(ValueError) as context:
            check(-1)
        self.assertEqual(str(context.exception), 'bad -1')

    def test_fails(self):
        self.assertEqual(double(self.n), 9)

    def test_cleanup(self):
        self.addCleanup(self.fail, 'in cleanup')

    @unittest.skip('not now')
    def test_skipped(self):
        self.fail()

    @unittest.expectedFailure
    def test_expected(self):
        self.fail()

class TestOld(unittest.TestCase):
    def runs(self):
        pass

class TearsDown(unittest.TestCase):
    def tearDown(self):
        self.assertEqual(self.n, 2)

    def test_good(self):
        self.n = 2

    def test_bad(self):
        self.n = 3
"#;

#[test]
fn test_cases() {
    check(
        &[("test_it.py", UNITTEST)],
        &[],
        expect![[r#"
            Numbers::test_translated passed
            Numbers::test_strings passed
            Numbers::test_raises passed: [TP0304] assertRaises() takes **keywords, which is not RPython
            Numbers::test_fails failed
            Numbers::test_cleanup failed: [TP0304] addCleanup() takes **keywords, which is not RPython
            Numbers::test_skipped skipped
            Numbers::test_expected xfailed
            TearsDown::test_good passed
            TearsDown::test_bad failed"#]],
    );
}

#[test]
fn the_report_tells_exceptions_and_what_was_interpreted() {
    let text = "
from lib import check, deep

def test_fine():
    assert check(1) == 1

def test_text():
    check(-3)

def test_deep():
    deep(20)

def test_python():
    assert set([check(1)]) == set([1])
";
    let (code, out) = run(&[("test_it.py", text)], &["-v"]);
    assert_eq!(code, 1);
    let stable: Vec<&str> = (out.lines())
        .filter(|l| !l.starts_with("taipan "))
        .map(|l| {
            l.rsplit_once(" in ")
                .filter(|_| l.ends_with("s =================="))
                .map_or(l, |p| p.0)
        })
        .collect();
    expect![[r#"
        ============================= test session starts ==============================
        collected 4 items

        test_it.py::test_fine PASSED                                              [ 25%]
        test_it.py::test_text FAILED                                              [ 50%]
        test_it.py::test_deep FAILED                                              [ 75%]
        test_it.py::test_python PASSED (interpreted)                              [100%]

        =================================== FAILURES ===================================
        __________________________________ test_text ___________________________________

            def test_text():
        >       check(-3)

        test_it.py:8: in test_text
        _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _
        >           raise ValueError("bad %d" % n)
        E       ValueError: bad -3

        lib.py:7: ValueError
        __________________________________ test_deep ___________________________________

            def test_deep():
        >       deep(20)

        test_it.py:11: in test_deep
        _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _
        >       return deep(n - 1)

        lib.py:13: in deep
        _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _
        >       return deep(n - 1)

        lib.py:13: in deep
            ... 18 more calls of this kind
        _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _
        >           check(-1)

        lib.py:12: in deep
        _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _
        >           raise ValueError("bad %d" % n)
        E       ValueError: bad -1

        lib.py:7: ValueError

        =========================== short test summary info ============================
        FAILED test_it.py::test_text - ValueError: bad -3
        FAILED test_it.py::test_deep - ValueError: bad -1

        ======================== not translated, run as Python =========================
           1  [TP0302] set() is not RPython
                  test_it.py::test_python

        ================== 2 failed, 2 passed, 1 interpreted"#]]
    .assert_eq(&stable.join("\n"));
}

#[test]
fn the_first_failure_stops_the_run() {
    let text = "
def test_a(): pass
def test_b(): assert len(set([1])) == 2
def test_c(): assert 0
def test_d(tmpdir): assert 0
def test_e(nothing): pass
";
    let outcomes = |jobs: &str| {
        let (code, out) = run(
            &[("test_it.py", text)],
            &["-x", "-q", "-q", "--threads", jobs],
        );
        assert_eq!(code, 1);
        let last = out.lines().last().unwrap_or("");
        last.split(" in ").next().unwrap_or("").to_owned()
    };
    for jobs in ["1", "2"] {
        assert_eq!(outcomes(jobs), "1 failed, 1 passed, 1 interpreted");
    }
}

#[test]
fn many_wrong_tests_are_found_in_few_attempts() {
    let mut text = String::from("from lib import double\n");
    for i in 0..60 {
        text += &format!("def test_{i}(): assert len(set([double({i})])) == 1\n");
    }
    let (code, out) = run(&[("test_it.py", &text)], &["-q", "-q"]);
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("60 passed, 60 interpreted"), "{out}");
}

const SHARED: &str = r#"
class Parser(object):
    def __init__(self, text):
        self.text = text
    def parse(self):
        return self.peeek()
    def peek(self):
        return self.text

def run(text):
    return Parser(text).parse()
"#;

const FIRST: &str = r#"
from shared import Parser, run
def test_one():
    assert run('1') == '1'
def test_two():
    assert run('2') == '2'
def test_three():
    assert run('3') == missing
def test_fine():
    assert Parser('x').peek() == 'x'
"#;

const SECOND: &str = r#"
from shared import run
def test_four():
    assert run('4') == '4'
"#;

/// The part of a report between the letters and the counts.
fn told(files: &[(&str, &str)], args: &[&str]) -> String {
    let (code, stdout) = run(files, args);
    assert_eq!(code, 1);
    let from = stdout.find("[100%]").map_or(0, |i| i + "[100%]".len());
    let to = stdout.find("=========================== short").unwrap();
    stdout[from..to].trim().to_owned()
}

#[test]
fn a_mistake_that_several_tests_reach_is_told_once() {
    let files = [
        ("shared.py", SHARED),
        ("test_a.py", FIRST),
        ("test_b.py", SECOND),
    ];
    expect![[r#"
        test_b.py F                                                               [100%]

        =================================== FAILURES ===================================
        ___________________________________ test_one ___________________________________

        The test cannot be compiled:

        error[TP0301]: an instance of shared.Parser has no attribute `peeek`
          --> shared.py:6:16
           |
         6 |         return self.peeek()
           |                ^^^^^^^^^^
           |
        note: an instance of shared.Parser comes from here, in run()
          --> shared.py:11:12
           |
        11 |     return Parser(text).parse()
           |            ^^^^^^^^^^^^^^^^^^^^
           = help: did you mean `peek`?

        test_a.py::test_two: [TP0301] an instance of shared.Parser has no attribute `peeek` (shared.py:6, see test_a.py::test_one)
        __________________________________ test_three __________________________________

        The test cannot be compiled:

        error[TP0222]: name `missing` is not defined
         --> test_a.py:8:24
          |
        8 |     assert run('3') == missing
          |                        ^^^^^^^

        [TP0301] an instance of shared.Parser has no attribute `peeek` (shared.py:6, see test_a.py::test_one)
        test_b.py::test_four: [TP0301] an instance of shared.Parser has no attribute `peeek` (shared.py:6, see test_a.py::test_one)"#]].assert_eq(&told(&files, &["--engine", "native"]));
    expect![[r#"
        test_b.py F                                                               [100%]

        =================================== FAILURES ===================================
        ___________________________________ test_one ___________________________________

            def test_one():
        >       assert run('1') == '1'

        test_a.py:4: in test_one
        _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _
        >       return Parser(text).parse()

        shared.py:11: in run
        _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _
        >           return self.peeek()
        E       AttributeError: 'Parser' object has no attribute 'peeek'

        shared.py:6: AttributeError
        test_a.py::test_two: AttributeError: 'Parser' object has no attribute 'peeek' (shared.py:6, see test_a.py::test_one)
        test_a.py::test_three: AttributeError: 'Parser' object has no attribute 'peeek' (shared.py:6, see test_a.py::test_one)
        test_b.py::test_four: AttributeError: 'Parser' object has no attribute 'peeek' (shared.py:6, see test_a.py::test_one)"#]].assert_eq(&told(&files, &[]));
}

#[test]
fn a_broken_module_is_told_once() {
    let broken = format!("import nothing\n{SHARED}");
    let files = [
        ("shared.py", &*broken),
        ("test_a.py", FIRST),
        ("test_b.py", SECOND),
    ];
    let (_, stdout) = run(&files, &[]);
    let from = stdout.find("=== ERRORS").unwrap();
    let to = stdout.find("=========================== short").unwrap();
    expect![[r#"
        === ERRORS ====================================
        __________________________ ERROR collecting test_a.py __________________________
        error[TP0201]: ImportError: No module named nothing
         --> shared.py:1:1
          |
        1 | import nothing
          | ^^^^^^^^^^^^^^ raised at import time
          |
        note: in <module>
         --> test_a.py:2:1
          |
        2 | from shared import Parser, run
          | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

        test_b.py: [TP0201] ImportError: No module named nothing (shared.py:1, see test_a.py)"#]]
    .assert_eq(stdout[from..to].trim());

    let unclosed = format!("x = [1, 2)\n{SHARED}");
    let files = [
        ("shared.py", &*unclosed),
        ("test_a.py", FIRST),
        ("test_b.py", SECOND),
    ];
    expect![[r#"
        test_b.py F                                                               [100%]

        ==================================== ERRORS ====================================
        __________________________ ERROR collecting test_a.py __________________________
        error[TP0001]: `)` does not close the `[` before it
         --> shared.py:1:10
          |
        1 | x = [1, 2)
          |          ^

        test_b.py: [TP0001] `)` does not close the `[` before it (shared.py:1, see test_a.py)

        =================================== FAILURES ===================================
        ___________________________________ test_one ___________________________________

            def test_one():
        E       a file that it needs has a syntax error

        test_a.py:3
        test_a.py::test_two: a file that it needs has a syntax error (see test_a.py::test_one)
        test_a.py::test_three: a file that it needs has a syntax error (see test_a.py::test_one)
        test_b.py::test_four: a file that it needs has a syntax error (see test_a.py::test_one)"#]]
    .assert_eq(&told(&files, &[]));
}

/// Exceptions of a suite's own classes are errors of its tests, even if the classes have the names of
/// those by which tests skip themselves.
#[test]
fn exceptions_of_own_classes() {
    let own = |name: &str| {
        format!(
            "
class {name}(Exception):
    pass
def test_as_python():
    sorted([2, 1], key=abs)
    raise {name}('own')
def test_translated():
    raise {name}('own')
"
        )
    };
    let names = [
        "Skipped",
        "SkipTest",
        "XFailed",
        "Failed",
        "Explained",
        "UsageError",
    ];
    for name in names {
        check(
            &[("test_own.py", &own(name))],
            &[],
            expect![[r#"
                test_as_python failed: [TP0302] sorted() is not RPython
                test_translated failed"#]],
        );
    }
    for name in ["Skipped", "UsageError"] {
        let text = format!("class {name}(Exception):\n    pass\nraise {name}('own')\n");
        let (code, stdout) = run(&[("test_own.py", &text)], &[]);
        assert_eq!(code, 1);
        let message = format!("{name}: own");
        assert!(stdout.contains(&message), "{stdout}");
    }
}
