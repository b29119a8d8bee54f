//! `taipan test` with hooks in `conftest.py` files: options, custom nodes, tests that are not
//! Python, and state shared between setups.

use std::path::Path;
use std::process::{Command, Output};

use expect_test::{Expect, expect};
use tempfile::TempDir;

/// A `conftest.py` in the manner of PyPy's: an interpreter is made once, and classes `AppTest*`
/// are run by it.
const CONFTEST: &str = r#"
import pytest, py

option = None
made = []

class Space(object):
    def __init__(self, name):
        self.name = name
        made.append(name)
        print 'made', len(made)

spaces = {}

def get_space(name):
    if name not in spaces:
        spaces[name] = Space(name)
    return spaces[name]

def pytest_addoption(parser):
    group = parser.getgroup("own options")
    group.addoption('-A', '--direct', action="store_true", default=False, dest="direct")
    group.addoption('--level', default=3, type=int)

def pytest_cmdline_preparse(config, args):
    args.append('--assert=reinterp')

def pytest_configure(config):
    global option
    option = config.option
    assert not config.getoption('direct') and not config.getoption('--direct')
    assert config.getoption('level') == 3 and config.getoption('nothing', 7) == 7
    assert py.test.config._assertstate.mode == 'reinterp'
    config.addinivalue_line('python_files', 'apptest_*.py')

@pytest.fixture(scope='class')
def spaceconfig(request):
    return getattr(request.cls, 'spaceconfig', 'plain')

@pytest.fixture
def space(spaceconfig):
    return get_space(spaceconfig)

def pytest_pycollect_makemodule(path, parent):
    if path.fnmatch('apptest_*.py'):
        return TextModule(path, parent)
    return OwnModule(path, parent)

def pytest_collection_modifyitems(config, items):
    for item in items:
        item.add_marker('own')
        if item.name == 'test_unwanted':
            item.add_marker(pytest.mark.skip(reason='unwanted'))

@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    cls = item.getparent(py.test.Class)
    if cls is not None:
        cls.obj.space = get_space(getattr(cls.obj, 'spaceconfig', 'plain'))
    if item.get_closest_marker('fragile'):
        pytest.skip('fragile')

class OwnModule(pytest.Module):
    def classnamefilter(self, name):
        return name.startswith(('Test', 'AppTest'))

    def makeitem(self, name, obj):
        if name.startswith('AppTest'):
            return AppClass(name, parent=self)
        return super(OwnModule, self).makeitem(name, obj)

class AppError(Exception):
    pass

class AppMethod(py.test.collect.Function):
    def setup(self):
        super(AppMethod, self).setup()
        self.parent.set_up.append(self.name)

    def runtest(self):
        space = self.obj.im_self.space
        try:
            self.obj.im_func(self.parent)
        except ZeroDivisionError:
            raise AppError('in %s' % space.name)

    def repr_failure(self, excinfo):
        if excinfo.errisinstance(AppError):
            return 'app level: %s' % excinfo.value
        return super(AppMethod, self).repr_failure(excinfo)

class AppInstance(py.test.collect.Instance):
    Function = AppMethod
    set_up = []

class AppClass(py.test.Class):
    Instance = AppInstance

class TextModule(pytest.Module):
    def collect(self):
        lines = self.fspath.read().splitlines()
        return [TextItem(line, self, at) for at, line in enumerate(lines)]

    def setup(self):
        pass

class TextItem(pytest.Item):
    def __init__(self, name, parent, at):
        super(TextItem, self).__init__(name, parent)
        self.at = at

    def runtest(self):
        assert 'bad' not in self.name

    def reportinfo(self):
        return self.fspath, self.at, self.name
"#;

fn project(files: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    dir
}

fn run(dir: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_taipan"))
        .current_dir(dir)
        .arg("test")
        .args(args)
        .output()
        .unwrap()
}

/// The outcome of each test with its line and the first line of its message.
fn outcomes(dir: &Path, args: &[&str]) -> String {
    let out = run(dir, &[&["--json"], args].concat());
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(
        out.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
    let mut found = Vec::new();
    for line in text.lines() {
        let v: serde_json::Value = serde_json::from_str(line).unwrap();
        let name = v["id"].as_str().or(v["file"].as_str()).unwrap();
        let name = name.split_once("::").map_or(name, |(_, name)| name);
        let said = v["reason"].as_str().and_then(|s| s.lines().next());
        let outcome = v["outcome"].as_str().unwrap();
        let line = format!(
            "{name}:{} {outcome} {}",
            v["line"],
            said.unwrap_or_default()
        );
        found.push(line.trim_end().to_owned());
    }
    found.join("\n")
}

#[track_caller]
fn check(files: &[(&str, &str)], args: &[&str], expected: Expect) {
    let dir = project(files);
    // Tests of one worker.
    let args = [&["--no-cache", "--threads", "1"], args].concat();
    expected.assert_eq(&outcomes(dir.path(), &args));
}

/// A project with one test file.
fn one_file<'a>(conftest: &'a str, tests: &'a str) -> [(&'static str, &'a str); 3] {
    [
        ("setup.cfg", ""),
        ("conftest.py", conftest),
        ("test_it.py", tests),
    ]
}

const PACKAGE: [(&str, &str); 4] = [
    ("setup.cfg", ""),
    ("pkg/__init__.py", ""),
    ("pkg/conftest.py", CONFTEST),
    ("pkg/test/__init__.py", ""),
];

/// A module that `-p` names has fixtures and hooks, further out than those of conftest.py files.
#[test]
fn plugins() {
    let files = [
        ("setup.cfg", ""),
        (
            "tools/extra.py",
            "import pytest\n\
             def pytest_addoption(parser):\n    parser.addoption('--size', type=int, default=1)\n\
             def pytest_configure(config):\n    seen.append(config.getoption('size'))\n\
             seen = []\n\
             @pytest.fixture\ndef near():\n    return 'plugin'\n\
             @pytest.fixture\ndef far():\n    return 'plugin'\n",
        ),
        ("tools/__init__.py", ""),
        (
            "conftest.py",
            "import pytest\n@pytest.fixture\ndef near():\n    return 'conftest'\n",
        ),
        (
            "sub/test_it.py",
            "from tools.extra import seen\nSIZE = seen[0]\n\
             def test_fixtures(near, far):\n    assert near == 'conftest' and far == 'plugin'\n\
             def test_option():\n    assert SIZE == 3\n",
        ),
    ];
    check(
        &files,
        &["-p", "tools.extra", "--size=3"],
        expect![[r#"
            test_fixtures:3 passed
            test_option:5 passed"#]],
    );
    let dir = project(&files);
    let out = run(dir.path(), &["--no-cache", "-p", "tools.none"]);
    assert_eq!(out.status.code(), Some(1));
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(text.contains("the module is `tools.none`"), "{text}");
}

/// Lines of functions that tests execute, of files below the folder without test files: a table, and a file.
#[test]
fn coverage() {
    let lib = "\
LIMIT = 3

def size(n):
    '''A number.'''
    if n > LIMIT:
        return (n +
                1)
    elif n < 0:
        n = 0
        return n
    def inner():
        return 1
    return inner()

class Box(object):
    def get(self):
        return 1
    def lost(self):
        pass
        while True:
            print 1
";
    let tests = "import lib\ndef test_size():\n    assert lib.size(5) == 6\n\
                 def test_small():\n    assert lib.size(1) == 1\n\
                 def test_box():\n    assert lib.Box().get() == 1\n";
    for hooks in ["", "def pytest_runtest_setup(item):\n    pass\n"] {
        let dir = project(&[
            ("setup.cfg", ""),
            ("conftest.py", hooks),
            ("lib.py", lib),
            ("sub/other.py", "def f():\n    return 1\n"),
            ("test_it.py", tests),
        ]);
        let reports = ["--cov", "--cov-report=term", "--cov-report=lcov:out.lcov"];
        let out = run(dir.path(), &reports);
        let text = String::from_utf8(out.stdout).unwrap();
        assert!(out.status.success(), "{text}");
        let table = text.split("run as Python -").nth(1).unwrap_or(&text);
        let table: Vec<&str> = table.lines().skip(1).take(3).collect();
        expect![[r#"
            Name    Lines   Miss  Cover  Missing
            lib.py      8      3    62%  9-10, 21
            TOTAL       8      3    62%"#]]
        .assert_eq(&table.join("\n"));
        let lcov = std::fs::read_to_string(dir.path().join("out.lcov")).unwrap();
        let folder = dir.path().canonicalize().unwrap();
        expect![[r#"
            SF:FOLDER/lib.py
            DA:5,1
            DA:6,1
            DA:9,0
            DA:10,0
            DA:12,1
            DA:13,1
            DA:17,1
            DA:21,0
            LF:8
            LH:5
            end_of_record
        "#]]
        .assert_eq(&lcov.replace(folder.to_str().unwrap(), "FOLDER"));
        let out = run(dir.path(), &["--cov=sub"]);
        let text = String::from_utf8(out.stdout).unwrap();
        assert!(text.contains("TOTAL      0      0   100%"), "{text}");
    }
}

/// Options of pytest that mean nothing here: a line says so.
#[test]
fn options_without_effect() {
    let dir = project(&[("test_it.py", "def test_one():\n    assert True\n")]);
    let out = run(dir.path(), &["-p", "no:cacheprovider", "-W", "error"]);
    assert!(out.status.success());
    let stderr = String::from_utf8(out.stderr).unwrap();
    assert_eq!(
        stderr,
        "note: -p no:cacheprovider has no effect: there is no such plugin\n\
         note: -W error has no effect: translated code has no warnings\n"
    );
}

#[test]
fn nodes_of_their_own() {
    let tests = r#"
import pytest
from pkg.conftest import option, made
from pkg import conftest

assert option.level == 3

def test_fixture(space):
    assert space.name == 'plain'

def test_once(space):
    # It was made when tests were looked for.
    assert made == ['plain', 'other']

@pytest.mark.fragile
def test_fragile():
    assert False

def test_unwanted():
    assert False

class TestPlain(object):
    spaceconfig = 'other'
    def setup_class(cls):
        cls.seen = [cls.space.name]
    def setup_method(self, method):
        self.name = method.__name__
    def test_space(self, space):
        assert space is self.space and self.name == 'test_space'
        assert self.seen == ['other'] and made == ['plain', 'other']
        conftest.made.append('changed')
        self.seen.append(1)
    def test_same_process(self, request):
        assert request.cls is TestPlain and 'changed' in made and self.seen == ['other', 1]
    @pytest.mark.parametrize('n', [1, 2])
    def test_params(self, n):
        assert n == 1

class AppTestIt(object):
    def test_app(node):
        assert node.obj.space.name == 'plain' and node.set_up[-1] == 'test_app'
    def test_again(node):
        assert node.set_up[-2:] == ['test_app', 'test_again']
    def test_fails(node):
        1 / 0
    def test_raises(node):
        raise KeyError(node.name)
"#;
    check(
        &[&PACKAGE[..], &[("pkg/test/test_it.py", tests)]].concat(),
        &["pkg/test/test_it.py"],
        expect![[r#"
            test_fixture:8 passed
            test_once:11 passed
            test_fragile:16 skipped fragile
            test_unwanted:19 skipped unwanted
            TestPlain::test_space:28 passed
            TestPlain::test_same_process:33 passed
            TestPlain::test_params[1]:36 passed
            TestPlain::test_params[2]:36 failed assert 2 == 1
            AppTestIt::test_app:40 passed
            AppTestIt::test_again:42 passed
            AppTestIt::test_fails:44 failed Failed: app level: in plain
            AppTestIt::test_raises:46 failed KeyError: '()'"#]],
    );
}

#[test]
fn tests_that_are_not_python() {
    check(
        &[
            &PACKAGE[..],
            &[("pkg/test/apptest_it.py", "a good line\na bad one\n")],
        ]
        .concat(),
        &["pkg/test/apptest_it.py"],
        expect![[r#"
            a good line:1 passed
            a bad one:2 failed AssertionError"#]],
    );
}

/// Hooks that only configure leave tests to be translated.
#[test]
fn options_alone() {
    let conftest = r#"
import pytest
def pytest_addoption(parser):
    parser.addoption('--size', default=4)
def pytest_collection_modifyitems(items):
    for item in items:
        if 'two' in item.name:
            item.add_marker(pytest.mark.xfail(reason='not yet'))
@pytest.fixture
def size(request):
    return request.config.getoption('--size')
"#;
    let tests = "def test_one(): assert 1 == 1\ndef test_two(): assert 1 == 2\n\
                 def test_size(size): assert size == 4\n";
    let dir = project(&one_file(conftest, tests));
    expect![[r#"
        test_one:1 passed
        test_two:2 xfailed not yet
        test_size:3 passed"#]]
    .assert_eq(&outcomes(dir.path(), &["--no-cache"]));
    let out = run(dir.path(), &["--no-cache"]);
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(
        text.contains("2 passed, 1 xfailed, 1 interpreted"),
        "{text}"
    );
}

/// A failure in a phase fails exactly the tests that depend on that phase.
#[test]
fn phases() {
    let conftest = r#"
def pytest_runtest_setup(item):
    if 'unready' in item.name:
        raise ValueError('not ready')
def pytest_runtest_teardown(item, nextitem):
    if 'untidy' in item.name:
        raise ValueError('not tidy')
"#;
    let tests = r#"
import pytest
log = []
def setup_module(module): log.append('module')
def teardown_module(module): log.append('no module')
class TestA(object):
    def setup_class(cls): log.append('A')
    def teardown_class(cls): log.append('no A')
    def setup_method(self, m): log.append('method')
    def teardown_method(self, m): log.append('no method')
    def test_first(self):
        assert log[-3:] == ['module', 'A', 'method']
    def test_unready(self): pass
    def test_second(self):
        assert log[-5:] == ['module', 'A', 'method', 'no method', 'method']
    def test_untidy(self): pass
class TestB(object):
    def setup_class(cls): raise KeyError('B')
    def test_one(self): pass
    def test_two(self): pass
def test_after():
    assert log[-2:] == ['no method', 'no A']
"#;
    check(
        &one_file(conftest, tests),
        &[],
        expect![[r#"
            TestA::test_first:11 passed
            TestA::test_unready:13 failed ValueError: not ready
            TestA::test_second:14 passed
            TestA::test_untidy:16 failed ValueError: not tidy
            TestB::test_one:19 failed KeyError: 'B'
            TestB::test_two:20 failed KeyError: 'B'
            test_after:21 passed"#]],
    );
}

/// Collections in tests of a session: each test sees the results of its own collections.
#[test]
fn collections() {
    let conftest = "def pytest_runtest_setup(item): pass\n";
    let tests = r#"
import gc, weakref
from rpython.rlib import rgc

class Thing(object):
    pass

class Queue(rgc.FinalizerQueue):
    Class = Thing
    triggers = 0
    def finalizer_trigger(self):
        self.triggers += 1

queue = Queue()

def test_weak():
    kept, lost = Thing(), Thing()
    refs = [weakref.ref(kept), weakref.ref(lost)]
    del lost
    gc.collect()
    assert refs[0]() is kept and refs[1]() is None

def test_finalizer():
    kept = Thing()
    queue.register_finalizer(kept)
    assert queue.next_dead() is None
    lost = Thing()
    lost.name = 'lost'
    queue.register_finalizer(lost)
    del lost
    gc.collect()
    assert queue.triggers == 1
    assert queue.next_dead().name == 'lost'
    assert queue.next_dead() is None

def test_later():
    # What the test before had kept.
    gc.collect()
    assert queue.triggers == 2 and queue.next_dead() is not None
"#;
    check(
        &one_file(conftest, tests),
        &[],
        expect![[r#"
            test_weak:16 passed
            test_finalizer:23 passed
            test_later:36 passed"#]],
    );
}

/// The second process restores the memory of the first, with the heap of import time.
#[test]
fn memory() {
    let dir = project(
        &[
            &PACKAGE[..],
            &[("pkg/test/test_it.py", "def test_it(space): pass\n")],
        ]
        .concat(),
    );
    let log = |name: &str| {
        let path = dir.path().join(name);
        let out = Command::new(env!("CARGO_BIN_EXE_taipan"))
            .current_dir(dir.path())
            .env("TAIPAN_SAVE_AFTER", "0")
            .args(["test", "--log-queries", name, "pkg/test/test_it.py"])
            .output()
            .unwrap();
        assert_eq!(
            out.status.code(),
            Some(0),
            "{}",
            String::from_utf8_lossy(&out.stdout)
        );
        std::fs::read_to_string(path).unwrap()
    };
    let image = r#""query":"image""#;
    assert!(log("first").contains(image));
    let second = log("second");
    let ran = second
        .lines()
        .filter(|l| l.contains(image) && l.contains("executed"));
    assert_eq!(ran.count(), 0, "{second}");
}

/// A timeout fails the worker's current test only.
#[test]
fn workers_that_are_lost() {
    let conftest = "def pytest_runtest_setup(item): pass\n";
    let tests = r#"
log = []
def test_one(): log.append(1)
def test_two(): assert log == [1]
def test_loops():
    while True: pass
def test_three(): assert log == []
"#;
    check(
        &one_file(conftest, tests),
        &["--timeout", "3"],
        expect![[r#"
            test_one:3 passed
            test_two:4 passed
            test_loops:5 failed Timeout: no end after 3 s
            test_three:7 passed"#]],
    );
}
