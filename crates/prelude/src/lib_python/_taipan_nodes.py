"""The tree of collectors and tests that hooks of `conftest.py` files look at and extend, as
pytest 2.9 has it. Tests of it are interpreted, and set up one after the other in one process,
so that what their setups share is made once; each is then called in a process of its own."""
import inspect
import os
import sys
from _taipan_fixtures import (
    Fixture, FixtureRequest, Levels, Run, classes_of, is_generator, required)
from _taipan_testing import (
    Call, Failed, Item as Record, Mark, MarkDecorator, Outcome, XFailed, calls_of, is_test_case,
    marks_of, own)


class ExceptionInfo(object):
    """The exception that is being handled, as `repr_failure` gets it."""
    # The default `repr_failure` describes it.
    is_usual = False

    def __init__(self, excinfo=None):
        self._excinfo = excinfo or sys.exc_info()
        self.type, self.value, self.tb = self._excinfo
        self.typename = self.type.__name__

    def errisinstance(self, expected):
        return isinstance(self.value, expected)

    def exconly(self, tryshort=False):
        text = str(self.value)
        return '%s: %s' % (self.typename, text) if text else self.typename

    def __str__(self):
        return self.exconly()


class Node(object):
    def __init__(self, name, parent=None, config=None, session=None):
        self.name = name
        self.parent = parent
        self.config = config or parent.config
        self.session = session or parent.session
        self.fspath = getattr(parent, 'fspath', None)
        self.keywords = Keywords(self)
        self.own_markers = []

    def __repr__(self):
        return '<%s %r>' % (self.__class__.__name__, self.name)

    @property
    def nodeid(self):
        return '::'.join([n.name for n in self.listchain()[1:] if n.name != '()'])

    @property
    def ihook(self):
        return self.config.hook

    def setup(self):
        pass

    def teardown(self):
        pass

    def listchain(self):
        chain = []
        node = self
        while node is not None:
            chain.append(node)
            node = node.parent
        chain.reverse()
        return chain

    def listnames(self):
        return [node.name for node in self.listchain()]

    def getparent(self, cls):
        """The nearest node of a class, this one included."""
        node = self
        while node is not None and not isinstance(node, cls):
            node = node.parent
        return node

    def add_marker(self, marker, append=True):
        if isinstance(marker, str):
            marker = MarkDecorator(marker)
        mark = Mark(marker.name, marker.args, marker.kwds)
        self.own_markers.insert(len(self.own_markers) if append else 0, mark)
        self.keywords[mark.name] = mark

    def iter_markers(self, name=None):
        for node in reversed(self.listchain()):
            for mark in node.marks():
                if name is None or mark.name == name:
                    yield mark

    def get_closest_marker(self, name, default=None):
        for mark in self.iter_markers(name):
            return mark
        return default

    get_marker = get_closest_marker

    def marks(self):
        """The marks of this node, without those of nodes around it."""
        return self.own_markers

    def addfinalizer(self, function):
        self.session.state.finalizers.append((self, function))

    def repr_failure(self, excinfo):
        excinfo.is_usual = True
        entries = getattr(excinfo, 'traceback', None) or []
        return '\n'.join([str(excinfo)] + [str(entry).rstrip() for entry in entries])


class Keywords(object):
    """The names that a node is known by, with those of the nodes around it."""

    def __init__(self, node):
        self.node = node
        self.known = {node.name: True}

    def __getitem__(self, name):
        if name in self.known:
            return self.known[name]
        if self.node.parent is None:
            raise KeyError(name)
        return self.node.parent.keywords[name]

    def __setitem__(self, name, value):
        self.known[name] = value

    def __contains__(self, name):
        return self.get(name) is not None

    def get(self, name, default=None):
        try:
            return self[name]
        except KeyError:
            return default

    def update(self, other):
        self.known.update(other)

    def keys(self):
        around = self.node.parent.keywords.keys() if self.node.parent is not None else []
        return self.known.keys() + [k for k in around if k not in self.known]

    def __iter__(self):
        return iter(self.keys())


class Collector(Node):
    class CollectError(Exception):
        pass

    def collect(self):
        raise NotImplementedError('%s has no collect()' % (self.__class__.__name__,))


class FSCollector(Collector):
    def __init__(self, fspath, parent=None, config=None, session=None):
        Collector.__init__(self, fspath.basename, parent, config, session)
        self.fspath = fspath


class File(FSCollector):
    pass


class Item(Node):
    """A test."""
    nextitem = None
    # The static description of a test.
    skip = xfail = problem = None
    strict = False

    def __init__(self, name, parent=None, config=None, session=None):
        Node.__init__(self, name, parent, config, session)
        self._report_sections = []

    def runtest(self):
        raise NotImplementedError('%s has no runtest()' % (self.__class__.__name__,))

    def reportinfo(self):
        return self.fspath, None, ''

    @property
    def location(self):
        path, line, name = self.reportinfo()
        root = self.config.rootdir
        return root.bestrelpath(path), line, str(name)

    def record(self, why):
        """What the test runner is told of the test."""
        record = Record('::'.join([n.name for n in self.listchain()[2:] if n.name != '()']))
        for node in self.listchain()[2:]:
            if node.name != '()':
                record.keywords.append(node.name)
        record.func = function_of(self)
        record.problem = self.problem
        record.skip = self.skip
        record.interpreted = why
        line = self.reportinfo()[1]
        record.line = None if line is None else line + 1
        namespace = {}
        module = self.getparent(Module)
        if module is not None and module.is_imported():
            namespace = vars(module.obj)
        try:
            marks = [m for node in self.listchain() for m in node.marks()]
            record.apply_marks([m for m in marks if m.name != 'parametrize'], namespace)
        except Exception as e:
            record.problem = '%s: %s' % (e.__class__.__name__, e)
        record.node = self
        return record.record()


def function_of(node):
    obj = getattr(node, 'obj', None)
    obj = getattr(obj, 'im_func', obj)
    return obj if hasattr(obj, 'func_code') else None


class ObjectMixin(object):
    """A node for an object of the test file."""

    @property
    def obj(self):
        if '_obj' not in self.__dict__:
            self._obj = self._getobj()
        return self._obj

    @obj.setter
    def obj(self, value):
        self._obj = value

    def _getobj(self):
        return getattr(self.parent.obj, self.name)

    def of(self, cls):
        node = self.getparent(cls)
        return None if node is None else node.obj

    module = property(lambda self: self.of(Module))
    cls = property(lambda self: self.of(Class))
    instance = property(lambda self: self.of(Instance))

    def reportinfo(self):
        obj = getattr(self.obj, 'im_func', self.obj)
        code = getattr(obj, 'func_code', None)
        line = None if code is None else code.co_firstlineno - 1
        return self.fspath, line, self.getmodpath()

    def getmodpath(self, stopatmodule=True, includemodule=False):
        names = [n.name for n in self.listchain()[2:] if n.name != '()']
        return '.'.join(names).replace('.[', '[')


class PyCollector(ObjectMixin, Collector):
    """A module, class, or instance."""

    def fits(self, option, name):
        return bool([p for p in self.config.getini(option) if name.startswith(p)])

    def funcnamefilter(self, name):
        return self.fits('python_functions', name)

    def classnamefilter(self, name):
        return self.fits('python_classes', name)

    def istestfunction(self, obj, name):
        return self.funcnamefilter(name) and not isinstance(obj, Fixture) and (
            hasattr(obj, 'func_code'))

    def istestclass(self, obj, name):
        return self.classnamefilter(name) or is_test_case(obj)

    def namespaces(self):
        return [vars(self.obj)]

    def collect(self):
        if getattr(self.obj, '__test__', True) is False:
            return []
        found = []
        seen = set()
        for namespace in self.namespaces():
            for name, obj in namespace.items():
                if name not in seen:
                    seen.add(name)
                    made = self.makeitem(name, obj)
                    if made is not None:
                        found += made if isinstance(made, list) else [made]
        return found

    def makeitem(self, name, obj):
        return self.config.pluginmanager.call(
            'pytest_pycollect_makeitem', {'collector': self, 'name': name, 'obj': obj},
            lambda: self.usual_item(name, obj), first_result=True)

    def usual_item(self, name, obj):
        if inspect.isclass(obj):
            if self.istestclass(obj, name) and obj.__module__ != 'unittest':
                return self.Class(name, parent=self)
        elif isinstance(obj, staticmethod):
            pass
        elif self.istestfunction(obj, name) and getattr(obj, '__test__', True):
            if is_generator(obj):
                return Generator(name, parent=self)
            return self._genfunctions(name, obj)
        return None

    def levels(self):
        if 'known_levels' not in self.__dict__:
            self.known_levels = Levels(self.module, self.cls, self.session.conftests)
        return self.known_levels

    def _genfunctions(self, name, func):
        """The tests of a function, one for each set of parameters."""
        metafunc = Metafunc(self, name, func)
        self.config.pluginmanager.call('pytest_generate_tests', {'metafunc': metafunc})
        for holder in [self.module, self.cls and self.cls()]:
            if hasattr(holder, 'pytest_generate_tests'):
                holder.pytest_generate_tests(metafunc)
        calls, entries, problem = calls_of(
            func, metafunc.marks(), self.levels(), metafunc.first)
        found = []
        for call in calls:
            ids = '[%s]' % '-'.join(call.ids) if call.ids else ''
            item = self.Function(name + ids, parent=self, callobj=None, originalname=name)
            item.call, item.entries, item.problem = call, entries, problem
            item.own_markers += call.marks
            found.append(item)
        return found


class Metafunc(object):
    """What `pytest_generate_tests` gets."""

    def __init__(self, collector, name, func):
        self.collector = collector
        self.config = collector.config
        self.function = func
        self.module = collector.module
        self.cls = collector.cls
        self.first = 1 if isinstance(collector, Instance) else 0
        self.fixturenames = required(func)[self.first:]
        self.funcargnames = self.fixturenames
        self.more = []

    def parametrize(self, *args, **kwds):
        self.more.append(Mark('parametrize', args, kwds))

    def marks(self):
        around = [m for node in self.collector.listchain() for m in node.marks()]
        return around + marks_of(own(self.function)) + self.more


class Module(File, PyCollector):
    """A test file. It is imported when its tests are looked for."""

    def _getobj(self):
        self.session.imported = True
        __import__(self.session.module_name)
        return sys.modules[self.session.module_name]

    def is_imported(self):
        return '_obj' in self.__dict__

    def marks(self):
        return (marks_of(vars(self.obj)) if self.is_imported() else []) + self.own_markers

    def setup(self):
        namespace = vars(self.obj)
        call_hook(namespace.get('setup_module') or namespace.get('setUpModule'), self.obj)
        undo = namespace.get('teardown_module') or namespace.get('tearDownModule')
        if undo is not None:
            self.addfinalizer(lambda: call_hook(undo, self.obj))


def call_hook(function, argument):
    """Calls a function that may take an argument."""
    if isinstance(function, Fixture) or function is None:
        return
    if required(function)[getattr(function, 'im_self', None) is not None:]:
        function(argument)
    else:
        function()


class Class(PyCollector):
    def marks(self):
        found = []
        for c in reversed(classes_of(self.obj)):
            found += marks_of(c.__dict__)
        return found + self.own_markers

    def collect(self):
        is_plain = not [c for c in classes_of(self.obj) if '__init__' in c.__dict__]
        if not is_plain and not is_test_case(self.obj):
            return []
        return [self.Instance(name='()', parent=self)]

    def setup(self):
        case = is_test_case(self.obj)
        self.hook('setUpClass' if case else 'setup_class')
        undo = 'tearDownClass' if case else 'teardown_class'
        if hasattr(self.obj, undo):
            self.addfinalizer(lambda: self.hook(undo))

    def hook(self, name):
        function = getattr(self.obj, name, None)
        if function is not None:
            # Ordinary methods are accepted too, as long as they take the class.
            getattr(function, 'im_func', function)(self.obj)


class Instance(PyCollector):
    def _getobj(self):
        return self.parent.obj()

    def newinstance(self):
        self.obj = self._getobj()
        return self.obj

    def namespaces(self):
        return [vars(self.obj)] + [c.__dict__ for c in classes_of(self.obj.__class__)]


class FunctionMixin(ObjectMixin):
    def marks(self):
        func = function_of(self)
        return (marks_of(own(func)) if func is not None else []) + self.own_markers

    def setup(self):
        """A new instance, and what is called before each test."""
        if isinstance(self.parent, Instance):
            self.parent.newinstance()
            self.obj = self._getobj()
        around = self.parent.obj
        if is_test_case(around.__class__):
            before, after = ['setUp'], ['tearDown', 'run_cleanups']
        elif inspect.ismethod(self.obj):
            before, after = ['setup_method', 'setup'], ['teardown_method', 'teardown']
        else:
            before, after = ['setup_function'], ['teardown_function']
        for name in after:
            undo = getattr(around, name, None)
            if undo is not None:
                self.addfinalizer(lambda undo=undo: call_hook(undo, self.obj))
        for name in before:
            call_hook(getattr(around, name, None), self.obj)


class Function(FunctionMixin, Item):
    """A test that is a function or method."""
    callobj = None
    # The values of its parameters, and the fixtures that it uses.
    entries = ()

    def __init__(self, name, parent, args=None, config=None, callspec=None, callobj=None,
                 keywords=None, session=None, fixtureinfo=None, originalname=None):
        Item.__init__(self, name, parent, config, session)
        self.originalname = originalname or name
        self._args = args
        self.call = Call({}, {}, [], [])
        if callobj is not None:
            self.obj = callobj
        self.keywords.update(keywords or {})

    def _getobj(self):
        return getattr(self.parent.obj, self.originalname)

    @property
    def function(self):
        return getattr(self.obj, 'im_func', self.obj)

    # The `request` object of fixtures.
    func = function
    args = property(lambda self: self.call.args)
    fixture_params = property(lambda self: self.call.fixture_params)
    levels = property(lambda self: self.getparent(PyCollector).levels())

    @property
    def fixturenames(self):
        return [e.fixture.name for e in self.entries]

    def setup(self):
        FunctionMixin.setup(self)
        self.run = Run(self)
        self.run.instance = self.instance
        self.addfinalizer(lambda: self.run.tear_down(True))
        for entry in self.entries:
            self.run.set_up(entry)
        self.funcargs = self.run.arguments(self.wanted())

    def wanted(self):
        names = required(self.function)
        return [] if self._args is not None else names[inspect.ismethod(self.obj):]

    def runtest(self):
        self.config.pluginmanager.call(
            'pytest_pyfunc_call', {'pyfuncitem': self}, self.call_function, first_result=True)

    def call_function(self):
        if self._args is not None:
            self.obj(*self._args)
        else:
            kwds = dict([(n, self.args[n]) for n in self.args])
            kwds.update(self.funcargs)
            self.obj(**kwds)
        return True


class Generator(FunctionMixin, PyCollector):
    """A function that yields tests: functions with their arguments."""

    def collect(self):
        self.session.state.prepare(self)
        found = []
        for index, made in enumerate(self.obj()):
            if not isinstance(made, (tuple, list)):
                made = (made,)
            made = list(made)
            name = '[%d]' % index
            if isinstance(made[0], str):
                name = "['%s']" % (made.pop(0),)
            found.append(self.Function(name, self, args=made[1:], callobj=made[0]))
        return found


# Nodes create their children by these names, which subclasses may override.
PyCollector.Class = Class
PyCollector.Instance = Instance
PyCollector.Function = Function


class SetupState(object):
    """The nodes that are set up, outermost first."""

    def __init__(self):
        self.stack = []
        self.finalizers = []
        self.failed = []

    def prepare(self, item):
        """Sets a test up, with what is around it and is not set up yet."""
        chain = item.listchain()
        self.tear_down_to(chain)
        for node, excinfo in self.failed:
            if node in self.stack:
                raise excinfo[0], excinfo[1], excinfo[2]
        for node in chain[len(self.stack):]:
            self.stack.append(node)
            try:
                node.setup()
            except Exception:
                self.failed.append((node, sys.exc_info()))
                raise

    def tear_down_to(self, chain):
        """Tears down what is not around the next test, innermost first. The first failure is
        the one that counts."""
        failure = None
        while self.stack and (
                len(self.stack) > len(chain) or chain[len(self.stack) - 1] is not self.stack[-1]):
            node = self.stack.pop()
            self.failed = [f for f in self.failed if f[0] is not node]
            undo = [f for n, f in self.finalizers if n is node]
            self.finalizers = [f for f in self.finalizers if f[0] is not node]
            for function in undo[::-1] + [node.teardown]:
                try:
                    function()
                except Exception:
                    failure = failure or sys.exc_info()
        if failure is not None:
            raise failure[0], failure[1], failure[2]


class Session(FSCollector):
    """The tests of one file."""
    class Interrupted(KeyboardInterrupt):
        pass

    def __init__(self, config, path, module_name, conftests):
        self.path = path
        FSCollector.__init__(self, config.rootdir, None, config, self)
        self.startdir = config.rootdir
        self.module_name = module_name
        self.conftests = conftests
        self.imported = False
        self.state = self._setupstate = SetupState()
        self.items = []

    def isinitpath(self, path):
        return str(path) == str(self.path)

    def gethookproxy(self, path):
        return self.config.hook

    def collect(self):
        path = local_path(self.path)
        call = self.config.pluginmanager.call
        made = call('pytest_collect_file', {'path': path, 'parent': self},
                    lambda: call('pytest_pycollect_makemodule', {'path': path, 'parent': self},
                                 lambda: Module(path, self), first_result=True))
        return [node for m in made for node in (m if isinstance(m, list) else [m])]

    def find(self, why):
        """The records of all tests."""
        call = self.config.pluginmanager.call
        call('pytest_sessionstart', {'session': self})

        def visit(node):
            if isinstance(node, Item):
                call('pytest_itemcollected', {'item': node})
                self.items.append(node)
            else:
                for child in node.collect():
                    visit(child)
        visit(self)
        self.state.tear_down_to([])
        call('pytest_collection_modifyitems',
             {'session': self, 'config': self.config, 'items': self.items})
        records = [item.record(why) for item in self.items]
        self.set_up_firsts([item for item, record in zip(self.items, records)
                            if record[4] is None and record[7] is None])
        return records

    def set_up_firsts(self, items):
        """Sets the first test of each class up, and tears it down: what hooks and fixtures keep is
        made once for all workers, and is in the memory that a later process continues with."""
        from StringIO import StringIO
        seen = set()
        for item in items:
            if id(item.parent) in seen:
                continue
            seen.add(id(item.parent))
            before = sys.stdout, sys.stderr
            sys.stdout = sys.stderr = StringIO()
            # The error is raised again when the test runs.
            for phase in (lambda: self.set_up(item), lambda: self.tear_down(item, None)):
                try:
                    phase()
                except Exception:
                    pass
            sys.stdout, sys.stderr = before

    # The phases of a test.

    def set_up(self, item):
        self.config.pluginmanager.call(
            'pytest_runtest_setup', {'item': item}, lambda: self.state.prepare(item))

    def call(self, item):
        call = self.config.pluginmanager.call
        told(item, lambda: call('pytest_runtest_call', {'item': item}, item.runtest))

    def tear_down(self, item, next_item):
        chain = next_item.listchain() if next_item is not None else []
        self.config.pluginmanager.call(
            'pytest_runtest_teardown', {'item': item, 'nextitem': next_item},
            lambda: self.state.tear_down_to(chain))


def told(item, work):
    """Has the test say what its failure is, if its class does."""
    described = [c for c in classes_of(item.__class__) if 'repr_failure' in c.__dict__]
    if described[0] is Node:
        # No handler here: the original traceback is shown.
        work()
        return
    try:
        work()
    except Outcome:
        raise
    except Exception:
        info = ExceptionInfo()
        failure = str(item.repr_failure(info))
        if info.is_usual:
            raise info.type, info.value, info.tb
        raise Failed(failure)


def local_path(path):
    import py
    return py.path.local(path)
