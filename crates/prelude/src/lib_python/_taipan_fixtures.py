"""Fixtures of tests: which ones a test uses, in which order they are set up, and those
that ship with pytest. A fixture of a test that is translated is called by the function
that runs the test (`_taipan_testing`); everything else here works in the interpreter."""
import inspect
import os
import sys
import tempfile
import warnings

SCOPES = ['session', 'package', 'module', 'class', 'function']
# A function that yields.
GENERATOR = 0x20
# How many folders above a test file may have a `conftest.py`.
LEVELS = 8
ROOT_FILES = ['pytest.ini', 'tox.ini', 'setup.cfg', 'setup.py', 'pyproject.toml', '.git']


def classes_of(cls):
    """A class, old-style or not, and those that it inherits from, nearest first."""
    return [c for c in inspect.getmro(cls) if c is not object]


class Fixture(object):
    """What `@pytest.fixture` makes of a function."""

    def __init__(self, func, scope='function', params=None, autouse=False, ids=None, name=None):
        if scope not in SCOPES:
            raise ValueError("fixture %s: there is no scope %r" % (func.__name__, scope))
        self.func = func
        self.scope = scope
        self.params = params
        self.autouse = autouse
        self.ids = ids
        self.name = name or func.__name__
        self.__name__ = func.__name__
        self.__doc__ = func.__doc__

    def __call__(self, *args, **kwds):
        return self.func(*args, **kwds)


class Builtin(object):
    """A fixture that comes with pytest: it is made from the request."""
    scope = 'function'
    params = None
    autouse = False

    def __init__(self, name, make, scope='function'):
        self.name = name
        self.make = make
        self.scope = scope


def parameters(func):
    code = getattr(func, 'im_func', func).func_code
    return list(code.co_varnames[:code.co_argcount])


def required(func):
    names = parameters(func)
    defaults = getattr(func, 'im_func', func).func_defaults
    return names[:len(names) - len(defaults or ())]


def is_generator(func):
    return bool(func.func_code.co_flags & GENERATOR)


# ____________________________________________________________
# Looking fixtures up.

class Entry(object):
    """A fixture that a test uses."""

    def __init__(self, key, fixture, of_class, args):
        self.key = key
        self.fixture = fixture
        # Defined in a class: it takes the instance first.
        self.of_class = of_class
        # Names of its parameters with the keys of the fixtures that they get; `request`
        # has the key None.
        self.args = args


class Levels(object):
    """Where fixtures are looked up for the tests of a module or class, nearest first."""

    def __init__(self, module, cls, around):
        self.levels = []
        if cls is not None:
            for c in classes_of(cls):
                self.add(c.__dict__, True)
        self.add(vars(module), False)
        for conftest in around:
            self.add(vars(conftest), False)
        self.levels.append((BUILTIN, False))

    def add(self, namespace, of_class):
        found = {}
        for value in namespace.values():
            if isinstance(value, Fixture):
                found[value.name] = value
        self.levels.append((found, of_class))

    def find(self, name, start):
        for n in range(start, len(self.levels)):
            if name in self.levels[n][0]:
                return n
        return None

    def autouse(self):
        names = []
        for found, _ in reversed(self.levels):
            names += [name for name, f in found.items() if f.autouse and name not in names]
        return names

    def entries(self, names, given):
        """The fixtures for these names and all that they use, in the order of their
        setup. Names in `given` are values."""
        entries = []
        known = []

        def visit(name, start, way):
            level = self.find(name, start)
            if level is None:
                raise LookupError("fixture '%s' not found" % (name,))
            key = (name, level)
            if key in way:
                raise LookupError("fixture '%s' uses itself" % (name,))
            if key in known:
                return key
            found, of_class = self.levels[level]
            fixture = found[name]
            args = []
            if isinstance(fixture, Fixture):
                for p in required(fixture.func)[1 if of_class else 0:]:
                    if p == 'request':
                        args.append((p, None))
                    elif p == name:
                        args.append((p, visit(p, level + 1, way + [key])))
                    else:
                        args.append((p, visit(p, 0, way + [key])))
            known.append(key)
            entries.append(Entry(key, fixture, of_class, args))
            return key

        for name in names:
            if name not in given and name != 'request':
                visit(name, 0, [])
        return sorted(entries, key=lambda e: SCOPES.index(e.fixture.scope))


def folders_of(path):
    """The folders of a test file, from its own up to the project's."""
    folder = os.path.dirname(path)
    found = []
    for _ in range(LEVELS):
        found.append(folder)
        up = os.path.dirname(folder)
        if up == folder or [f for f in ROOT_FILES if os.path.exists(os.path.join(folder, f))]:
            break
        folder = up
    return found


def load_plugins(path, names):
    """Modules that `-p` names, which are found from the folders of a test file."""
    before = list(sys.path)
    sys.path[:0] = folders_of(path)
    try:
        for name in names:
            __import__(name)
    finally:
        sys.path[:] = before
    return [sys.modules[name] for name in names]


def conftests(path):
    """The `conftest.py` files for a test file as modules, nearest first."""
    found = [(folder, os.path.join(folder, 'conftest.py')) for folder in folders_of(path)]
    found = [(folder, conftest) for folder, conftest in found if os.path.isfile(conftest)]
    # The outermost one is loaded first: others may import it.
    loaded = [load_conftest(folder, conftest) for folder, conftest in reversed(found)]
    loaded.reverse()
    return loaded


def load_conftest(folder, path):
    """A `conftest.py` as a module: in a package as a part of it, elsewhere under its own name
    where that is this file."""
    known = sys.modules.get('@conftest ' + path)
    if known is not None:
        return known
    name = 'conftest'
    while os.path.isfile(os.path.join(folder, '__init__.py')):
        folder, package = os.path.split(folder)
        name = package + '.' + name
    if name != 'conftest' and folder not in sys.path:
        # Its tests import from there what they have in common.
        sys.path.append(folder)
    before = list(sys.path)
    loaded = sys.modules.pop('conftest', None)
    sys.path.insert(0, folder)
    try:
        __import__(name)
        known = sys.modules[name]
    finally:
        sys.path[:] = before
        if loaded is not None:
            sys.modules['conftest'] = loaded
    sys.modules['@conftest ' + path] = known
    return known


# ____________________________________________________________
# Tests in the interpreter.

class FixtureRequest(object):
    """The `request` of a fixture or test."""

    def __init__(self, run, scope='function'):
        self._run = run
        self.scope = scope
        item = run.item
        self.node = item
        self.function = item.func
        self.cls = item.cls
        self.module = item.module
        self.instance = run.instance
        self.fixturename = None
        self.config = item.config
        if self.config is None:
            from _taipan_hooks import Config
            self.config = Config()

    @property
    def fixturenames(self):
        return [e.fixture.name for e in self._run.item.entries]

    @property
    def fspath(self):
        return local_path(os.path.abspath(self.module.__file__))

    def addfinalizer(self, function):
        self._run.finalizers.append(function)

    def getfixturevalue(self, name):
        return self._run.value_of(name)

    getfuncargvalue = getfixturevalue


class Run(object):
    """A test while it runs in the interpreter."""

    def __init__(self, item):
        self.item = item
        self.instance = None
        self.values = {}
        self.finalizers = []

    def run(self):
        item = self.item
        if item.raises is None:
            self.run_phases()
            return
        try:
            self.run_phases()
        except item.raises:
            from _taipan_testing import xfail
            xfail(item.xfail)

    def run_phases(self):
        item = self.item
        passed = False
        # No handler: the way of the exception is shown as it was.
        try:
            if item.cls is not None:
                self.instance = item.cls()
                function = getattr(self.instance, item.method)
            else:
                function = item.func
            for hook, args in item.before:
                self.hook(hook, args)
            # As fixtures do, teardown runs even if setup of a later fixture fails.
            for hook, args in reversed(item.after):
                self.finalizers.append(lambda hook=hook, args=args: self.hook(hook, args))
            for entry in item.entries:
                self.set_up(entry)
            function(**self.arguments(item.wanted))
            passed = True
        finally:
            self.tear_down(passed)

    def arguments(self, names):
        kwds = {}
        for name in names:
            if name in self.item.args:
                kwds[name] = self.item.args[name]
            elif name == 'request':
                kwds[name] = FixtureRequest(self)
            else:
                kwds[name] = self.value_of(name)
        return kwds

    def hook(self, hook, args):
        if isinstance(hook, str):
            getattr(self.instance, hook)(*args)
        else:
            hook(*args)

    def tear_down(self, passed):
        """The first failure is the one that matters."""
        failure = None
        while self.finalizers:
            try:
                self.finalizers.pop()()
            except Exception:
                failure = failure or sys.exc_info()
        if failure is not None and passed:
            raise failure[0], failure[1], failure[2]

    def value_of(self, name):
        levels = self.item.levels
        level = levels.find(name, 0)
        if level is None:
            raise LookupError("fixture '%s' not found" % (name,))
        if (name, level) not in self.values:
            for entry in levels.entries([name], self.item.args):
                if entry.key not in self.values:
                    self.set_up(entry)
        return self.values[name, level]

    def set_up(self, entry):
        fixture = entry.fixture
        if isinstance(fixture, Builtin):
            self.values[entry.key] = fixture.make(FixtureRequest(self, fixture.scope))
            return
        args = []
        if entry.of_class:
            args.append(self.instance)
        kwds = {}
        for name, key in entry.args:
            if key is None:
                request = FixtureRequest(self, fixture.scope)
                request.fixturename = fixture.name
                if entry.key in self.item.fixture_params:
                    request.param = self.item.fixture_params[entry.key]
                kwds[name] = request
            else:
                kwds[name] = self.values[key]
        value = fixture.func(*args, **kwds)
        if is_generator(fixture.func):
            generator = value
            value = generator.next()
            self.finalizers.append(lambda: finish(generator, fixture))
        self.values[entry.key] = value


def finish(generator, fixture):
    try:
        generator.next()
    except StopIteration:
        return
    raise RuntimeError("fixture '%s' yields more than once" % (fixture.name,))


# ____________________________________________________________
# The fixtures that ship with pytest.

def local_path(path):
    import py
    return py.path.local(path)


class TempPathFactory(object):
    """Folders that the test alone sees, and that are gone after it."""

    def __init__(self, make):
        self.make = make

    def mktemp(self, name, numbered=True):
        return self.make(tempfile.mkdtemp(prefix=name + '-'))

    def getbasetemp(self):
        return self.make(tempfile.gettempdir())


def tmp_path_of(path):
    from _taipan_path import Path
    return Path(path)


def test_name(request):
    name = request.function.__name__
    return ''.join([c if c.isalnum() else '_' for c in name])[:30]


class CaptureResult(tuple):
    out = property(lambda self: self[0])
    err = property(lambda self: self[1])


class CaptureFixture(object):
    """What the test prints, by way of `sys.stdout` and `sys.stderr`."""

    def __init__(self):
        self.start()

    def start(self):
        from StringIO import StringIO
        self.saved = sys.stdout, sys.stderr
        self.out, self.err = sys.stdout, sys.stderr = StringIO(), StringIO()

    def readouterr(self):
        result = CaptureResult((self.out.getvalue(), self.err.getvalue()))
        self.out.truncate(0)
        self.err.truncate(0)
        return result

    def stop(self):
        sys.stdout, sys.stderr = self.saved

    def resume(self):
        sys.stdout, sys.stderr = self.out, self.err

    def disabled(self):
        return CaptureDisabled(self)


class CaptureDisabled(object):
    def __init__(self, capture):
        self.capture = capture

    def __enter__(self):
        self.capture.stop()

    def __exit__(self, type, value, traceback):
        self.capture.resume()


class DescriptorCapture(CaptureFixture):
    """What the test writes to the descriptors 1 and 2 as well, by way of `os.write`."""

    def start(self):
        CaptureFixture.start(self)
        self.write = os.write
        os.write = self.written

    def written(self, fd, data):
        if fd not in (1, 2):
            return self.write(fd, data)
        (self.out if fd == 1 else self.err).write(data)
        return len(data)

    def stop(self):
        CaptureFixture.stop(self)
        os.write = self.write

    def resume(self):
        CaptureFixture.resume(self)
        os.write = self.written


def capture(request):
    return captured_by(CaptureFixture(), request)


def capture_descriptors(request):
    return captured_by(DescriptorCapture(), request)


def captured_by(fixture, request):
    request.addfinalizer(fixture.stop)
    return fixture


NOTHING = object()


class MonkeyPatch(object):
    def __init__(self):
        self._undo = []

    def setattr(self, target, name, value=NOTHING, raising=True):
        if value is NOTHING:
            # A dotted name and the value.
            value = name
            path, name = target.rsplit('.', 1)
            target = resolve(path)
        old = getattr(target, name, NOTHING)
        if raising and old is NOTHING:
            raise AttributeError('%r has no attribute %r' % (target, name))
        if isinstance(target, type):
            old = target.__dict__.get(name, NOTHING)
        self._undo.append(lambda: restore_attr(target, name, old))
        setattr(target, name, value)

    def delattr(self, target, name=NOTHING, raising=True):
        if name is NOTHING:
            path, name = target.rsplit('.', 1)
            target = resolve(path)
        if not hasattr(target, name):
            if raising:
                raise AttributeError(name)
            return
        old = getattr(target, name)
        if isinstance(target, type):
            old = target.__dict__.get(name, NOTHING)
        self._undo.append(lambda: restore_attr(target, name, old))
        delattr(target, name)

    def setitem(self, mapping, name, value):
        old = mapping.get(name, NOTHING)
        self._undo.append(lambda: restore_item(mapping, name, old))
        mapping[name] = value

    def delitem(self, mapping, name, raising=True):
        if name not in mapping:
            if raising:
                raise KeyError(name)
            return
        old = mapping[name]
        self._undo.append(lambda: restore_item(mapping, name, old))
        del mapping[name]

    def setenv(self, name, value, prepend=None):
        value = str(value)
        if prepend and name in os.environ:
            value = value + prepend + os.environ[name]
        self.setitem(os.environ, name, value)

    def delenv(self, name, raising=True):
        self.delitem(os.environ, name, raising)

    def syspath_prepend(self, path):
        old = list(sys.path)

        def restore():
            sys.path[:] = old
        self._undo.append(restore)
        sys.path.insert(0, str(path))

    def chdir(self, path):
        old = os.getcwd()
        self._undo.append(lambda: os.chdir(old))
        os.chdir(str(path))

    def undo(self):
        while self._undo:
            self._undo.pop()()

    @staticmethod
    def context():
        return PatchedBlock()


class PatchedBlock(object):
    """`with monkeypatch.context() as m`"""

    def __enter__(self):
        self.patch = MonkeyPatch()
        return self.patch

    def __exit__(self, type, value, traceback):
        self.patch.undo()


def restore_attr(target, name, old):
    if old is not NOTHING:
        setattr(target, name, old)
    elif hasattr(target, name):
        delattr(target, name)


def restore_item(mapping, name, old):
    if old is not NOTHING:
        mapping[name] = old
    elif name in mapping:
        del mapping[name]


def resolve(path):
    """The object of a dotted name."""
    parts = path.split('.')
    found = __import__(parts[0])
    for i in range(1, len(parts)):
        if not hasattr(found, parts[i]):
            __import__('.'.join(parts[:i + 1]))
        found = getattr(found, parts[i])
    return found


def monkeypatch(request):
    fixture = MonkeyPatch()
    request.addfinalizer(fixture.undo)
    return fixture


class WarningsRecorder(object):
    """Records the warnings of a block. With `expected`, the block fails unless it warns with that class, and with a text that
    matches `match`."""

    def __init__(self, expected=None, match=None):
        self.expected = expected
        self.pattern = match
        self.catcher = warnings.catch_warnings(record=True)
        self.list = []

    def __enter__(self):
        self.list = self.catcher.__enter__()
        return self

    def __exit__(self, type, value, traceback):
        self.catcher.__exit__(type, value, traceback)
        if type is not None or self.expected is None:
            return
        from _taipan_testing import fail
        found = [w for w in self.list if issubclass(w.category, self.expected)]
        if not found:
            fail('DID NOT WARN: the warnings are %r' % (self.list,))
        if self.pattern is not None:
            import re
            if not [w for w in found if re.search(self.pattern, str(w.message))]:
                fail('Pattern %r not found in %r' % (self.pattern, found))

    def __getitem__(self, i):
        return self.list[i]

    def __iter__(self):
        return iter(self.list)

    def __len__(self):
        return len(self.list)

    def pop(self, cls=Warning):
        for i, w in enumerate(self.list):
            if issubclass(w.category, cls):
                return self.list.pop(i)
        raise AssertionError('%r is not among the warnings' % (cls,))

    def clear(self):
        del self.list[:]


def recwarn(request):
    recorder = WarningsRecorder()
    recorder.__enter__()
    request.addfinalizer(lambda: recorder.__exit__(None, None, None))
    return recorder


class LogCapture(object):
    """The records of `logging` while a test runs."""

    def __init__(self):
        import logging

        class Records(logging.Handler):
            def emit(_, record):
                self.records.append(record)

        self.records = []
        self.handler = Records()
        self.formatter = logging.Formatter('%(levelname)-8s %(name)s:%(filename)s:%(lineno)d %(message)s')
        # Levels that the test sets, with those of before.
        self.levels = []
        logging.getLogger().addHandler(self.handler)

    def stop(self):
        import logging
        logging.getLogger().removeHandler(self.handler)
        while self.levels:
            target, level = self.levels.pop()
            target.setLevel(level)

    @property
    def messages(self):
        return [r.getMessage() for r in self.records]

    @property
    def record_tuples(self):
        return [(r.name, r.levelno, r.getMessage()) for r in self.records]

    @property
    def text(self):
        return ''.join([self.formatter.format(r) + '\n' for r in self.records])

    def get_records(self, when):
        return self.records

    def clear(self):
        del self.records[:]

    def set_level(self, level, logger=None):
        import logging
        for target in (logging.getLogger(logger), self.handler):
            self.levels.append((target, target.level))
            target.setLevel(level)

    def at_level(self, level, logger=None):
        return LevelBlock(self, level, logger)


class LevelBlock(object):
    """`with caplog.at_level(level)`"""

    def __init__(self, capture, level, logger):
        self.args = capture, level, logger

    def __enter__(self):
        capture, level, logger = self.args
        capture.set_level(level, logger)

    def __exit__(self, type, value, traceback):
        capture = self.args[0]
        for _ in range(2):
            target, level = capture.levels.pop()
            target.setLevel(level)


def caplog(request):
    fixture = LogCapture()
    request.addfinalizer(fixture.stop)
    return fixture


BUILTIN = {}
for _name, _make in [
    ('tmpdir', lambda r: local_path(tempfile.mkdtemp(prefix=test_name(r) + '-'))),
    ('tmp_path', lambda r: tmp_path_of(tempfile.mkdtemp(prefix=test_name(r) + '-'))),
    ('capsys', capture),
    ('capsysbinary', capture),
    ('capfd', capture_descriptors),
    ('capfdbinary', capture_descriptors),
    ('caplog', caplog),
    ('recwarn', recwarn),
    ('monkeypatch', monkeypatch),
]:
    BUILTIN[_name] = Builtin(_name, _make)
for _name, _make in [
    ('tmpdir_factory', lambda r: TempPathFactory(local_path)),
    ('tmp_path_factory', lambda r: TempPathFactory(tmp_path_of)),
    ('pytestconfig', lambda r: r.config),
]:
    BUILTIN[_name] = Builtin(_name, _make, 'session')
