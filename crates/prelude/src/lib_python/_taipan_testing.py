"""What `taipan test` runs on: tests are found in a module that has been imported, and
made functions without arguments to be translated. The functions at the end are what
asserts and `raises` of test modules call once they are translated."""
import inspect
import os
import sys
from _taipan import show, text
from rpython.rlib.objectmodel import we_are_translated
from _taipan_fixtures import (
    Builtin, Levels, Run, classes_of, conftests, is_generator, load_plugins, parameters, required)

# Where translated tests write what they have to say of themselves.
REPORT_FD = 199


class Mark(object):
    def __init__(self, name, args, kwds):
        self.name = name
        self.args = args
        self.kwds = kwds


class MarkDecorator(object):
    def __init__(self, name, args=(), kwds={}):
        self.name = name
        self.args = args
        self.kwds = kwds

    def __call__(self, *args, **kwds):
        if len(args) == 1 and not kwds and is_test_object(args[0]):
            target = args[0]
            # A list of its own: the attribute may be inherited.
            marks = list(own(target).get('pytestmark', []))
            target.pytestmark = marks + [Mark(self.name, self.args, self.kwds)]
            return target
        merged = dict(self.kwds)
        merged.update(kwds)
        return MarkDecorator(self.name, self.args + args, merged)


class MarkGenerator(object):
    def __getattr__(self, name):
        if name.startswith('_'):
            raise AttributeError(name)
        return MarkDecorator(name)


class Param(object):
    """`pytest.param(..)`: a set of values with an id or marks of its own."""

    def __init__(self, values, id, marks):
        self.values = values
        self.id = id
        self.marks = marks


def is_test_object(x):
    return inspect.isclass(x) or hasattr(x, 'func_code')


def own(x):
    return x.__dict__


def as_marks(marks):
    if not isinstance(marks, (list, tuple)):
        marks = [marks]
    return [Mark(m.name, m.args, m.kwds) for m in marks]


class Call(object):
    """One set of arguments of a test."""

    def __init__(self, args, fixture_params, ids, marks):
        self.args = args
        # What `request.param` is in fixtures, by their keys (or names, where the test
        # says it: `indirect`).
        self.fixture_params = fixture_params
        self.ids = ids
        self.marks = marks


def value_id(value, name, index):
    if isinstance(value, str):
        return value.encode('string_escape')
    if isinstance(value, unicode):
        return value.encode('unicode_escape')
    if value is None or isinstance(value, (bool, int, long, float)):
        return str(value)
    if is_test_object(value):
        return value.__name__
    return '%s%d' % (name, index)


def parametrized(calls, names, values, ids=None, indirect=False, scope=None):
    if isinstance(names, str):
        names = [n.strip() for n in names.split(',') if n.strip()]
    sets = []
    for index, value in enumerate(values):
        marks = []
        name = None
        if isinstance(value, Param):
            marks = value.marks
            name = value.id
            value = value.values
        elif len(names) == 1:
            value = (value,)
        if len(value) != len(names):
            raise ValueError('parametrize: %d names, but values %r' % (len(names), value))
        if name is None and ids is not None:
            if callable(ids):
                given = [ids(v) for v in value]
                name = '-'.join([value_id(v, n, index) if g is None else str(g)
                                 for v, n, g in zip(value, names, given)])
            elif ids[index] is not None:
                name = str(ids[index])
        if name is None:
            name = '-'.join([value_id(v, n, index) for v, n in zip(value, names)])
        sets.append((dict(zip(names, value)), name, marks))
    all_ids = [name for _, name, _ in sets]
    result = []
    for call in calls:
        for index, (args, name, marks) in enumerate(sets):
            if all_ids.count(name) > 1:
                name = '%s%d' % (name, index)
            merged, params = dict(call.args), dict(call.fixture_params)
            for key, value in args.items():
                if indirect is True or indirect and key in indirect:
                    params[key] = value
                else:
                    merged[key] = value
            result.append(Call(merged, params, call.ids + [name], call.marks + marks))
    return result


def with_fixture_params(calls, entries):
    """The calls, once for each parameter of a fixture that the test uses."""
    for entry in entries:
        fixture = entry.fixture
        if fixture.params is None or [c for c in calls if fixture.name in c.fixture_params]:
            for c in calls:
                if fixture.name in c.fixture_params:
                    c.fixture_params[entry.key] = c.fixture_params[fixture.name]
            continue
        expanded = parametrized([Call({}, {}, [], [])], [fixture.name], fixture.params, fixture.ids)
        calls = [Call(call.args, with_item(call.fixture_params, entry.key, p.args[fixture.name]),
                      call.ids + p.ids, call.marks + p.marks)
                 for call in calls for p in expanded]
    return calls


def with_item(mapping, key, value):
    result = dict(mapping)
    result[key] = value
    return result


def holds(value, namespace):
    if isinstance(value, str):
        names = {'os': os, 'sys': sys}
        names.update(namespace)
        return bool(eval(value, names))
    return bool(value)


def kind_of(value):
    if isinstance(value, (list, tuple)):
        kinds = [kind_of(v) for v in value]
        if isinstance(value, list):
            kinds = sorted(set(kinds))
        return '%s(%s)' % (type(value).__name__, ' '.join(kinds))
    if value is None or isinstance(value, (bool, int, long, float, str, unicode, dict)):
        return type(value).__name__
    return 'object'


class Item(object):
    def __init__(self, name):
        self.name = name
        self.runner = None
        self.func = None
        self.keywords = []
        # Names of its marks, for `-m`.
        self.mark_names = []
        self.skip = None
        self.xfail = None
        self.strict = False
        # The exceptions that the mark `xfail` names.
        self.raises = None
        self.problem = None
        # Why it can only be interpreted.
        self.interpreted = None
        # What the interpreter runs.
        self.module = None
        self.cls = None
        self.method = None
        self.levels = None
        self.entries = []
        self.before = []
        self.after = []
        self.wanted = []
        self.marks = []
        self.args = {}
        self.fixture_params = {}
        self.config = None
        # The line of its definition, where that is not the function's.
        self.line = None
        # The test as hooks know it.
        self.node = None

    def record(self):
        return (self.name, self.runner, self.func, self.keywords, self.skip, self.xfail,
                self.strict, self.problem, self.interpreted, self.node or self, self.kinds(),
                self.line, self.mark_names, self.raises is not None)

    def kinds(self):
        """Of what kinds its arguments are: tests of one function whose arguments are of
        different kinds are no one program."""
        args = sorted(self.args.items())
        params = sorted([(k[0], v) for k, v in self.fixture_params.items()])
        return ' '.join([kind_of(v) for _, v in args + params])

    def run(self):
        Run(self).run()

    def get_closest_marker(self, name):
        for m in reversed(self.marks):
            if m.name == name:
                return m
        return None

    get_marker = get_closest_marker

    def add_marker(self, marker):
        if isinstance(marker, str):
            marker = MarkDecorator(marker)
        self.marks += as_marks(marker)
        self.apply_marks(as_marks(marker), vars(self.module))

    def apply_marks(self, marks, namespace):
        for m in marks:
            self.keywords.append(m.name)
            self.mark_names.append(m.name)
            reason = m.kwds.get('reason', '')
            if m.name == 'skip':
                if m.args:
                    reason = m.args[0]
                self.skip = self.skip or reason or 'unconditional skip'
            elif m.name == 'skipif':
                for c in m.args:
                    if holds(c, namespace):
                        self.skip = self.skip or reason or 'condition: %s' % (c,)
            elif m.name == 'xfail' and not RUNS_XFAIL:
                if not m.args or [c for c in m.args if holds(c, namespace)]:
                    self.xfail = reason or ''
                    self.strict = bool(m.kwds.get('strict', False))
                    self.raises = m.kwds.get('raises')
                    if not m.kwds.get('run', True):
                        self.skip = self.skip or '[NOTRUN] ' + reason


def calls_of(func, marks, levels, first, problem=None):
    """The calls of a test, one for each set of parameters, the fixtures that they use, and
    what is wrong with them. Parameters before the first one are no arguments."""
    calls = [Call({}, {}, [], [])]
    names = []
    for m in marks:
        if m.name == 'parametrize':
            try:
                calls = parametrized(calls, *m.args, **m.kwds)
            except Exception as e:
                problem = problem or '%s: %s' % (e.__class__.__name__, e)
        elif m.name == 'usefixtures':
            names += m.args
    entries = []
    try:
        given = calls[0].args if calls else {}
        entries = levels.entries(levels.autouse() + names + required(func)[first:], given)
        calls = with_fixture_params(calls, entries)
    except LookupError as e:
        problem = problem or str(e)
    return calls, entries, problem


class Collector(object):
    """Finds the tests of a module that is imported."""

    def __init__(self, module, config=None, around=None):
        self.module = module
        self.config = config
        # The `conftest.py` files, nearest first.
        self.around = around
        self.items = []
        self.marks = marks_of(vars(module))

    def collect(self):
        namespace = vars(self.module)
        problem = attempt(namespace.get('setup_module') or namespace.get('setUpModule'),
                          self.module)
        self.levels = Levels(self.module, None, self.around)
        for name, value in namespace.items():
            if getattr(value, '__test__', True) is False:
                continue
            if inspect.isclass(value) and (name.startswith('Test') or is_test_case(value)):
                self.collect_class(name, value, problem)
            elif name.startswith('test') and hasattr(value, 'func_code'):
                self.collect_function(name, value, None, problem)
        if self.config is not None:
            self.config.pluginmanager.call('pytest_collection_modifyitems', {
                'session': None, 'config': self.config, 'items': self.items})
        return [item.record() for item in self.items]

    def collect_class(self, name, cls, problem):
        if cls.__module__ == 'unittest':
            return
        if '__init__' in [n for c in classes_of(cls) for n in c.__dict__]:
            return
        setup = getattr(cls, 'setUpClass' if is_test_case(cls) else 'setup_class', None)
        if setup is not None:
            # Ordinary methods are accepted too, as long as they take the class.
            bound = getattr(setup, 'im_self', None) is not None
            function = getattr(setup, 'im_func', setup)
            problem = problem or (attempt(setup) if bound else attempt(function, cls))
        levels = Levels(self.module, cls, self.around)
        seen = {}
        for c in classes_of(cls):
            for method, value in c.__dict__.items():
                if method.startswith('test') and hasattr(value, 'func_code') and method not in seen:
                    seen[method] = True
                    self.collect_function(method, value, (name, cls, levels), problem)

    def collect_function(self, name, func, owner, problem):
        marks = list(self.marks)
        prefix = ''
        first = 0
        levels = self.levels
        if owner is not None:
            for c in reversed(classes_of(owner[1])):
                marks += marks_of(c.__dict__)
            prefix = owner[0] + '::'
            first = 1
            levels = owner[2]
        marks += marks_of(own(func))
        wanted = parameters(func)[first:]
        calls, entries, problem = calls_of(func, marks, levels, first, problem)
        for call in calls:
            item = Item(prefix + name + ('[%s]' % '-'.join(call.ids) if call.ids else ''))
            item.func = func
            item.module = self.module
            item.method = name
            item.levels = levels
            item.entries = entries
            item.config = self.config
            item.marks = marks + call.marks
            item.wanted = [n for n in wanted if n in call.args] + [
                n for n in required(func)[first:] if n not in call.args]
            item.args = call.args
            item.fixture_params = call.fixture_params
            if owner is not None:
                item.keywords.append(owner[0])
                item.cls = owner[1]
            self.hooks(item)
            item.keywords.append(name)
            item.problem = problem
            try:
                item.apply_marks([m for m in item.marks if m.name != 'parametrize'],
                                 vars(self.module))
            except Exception as e:
                item.problem = '%s: %s' % (e.__class__.__name__, e)
            unknown = [n for n in sorted(call.args) if n not in wanted]
            if unknown:
                item.problem = item.problem or "the test uses no argument '%s'" % (unknown[0],)
            if not item.problem:
                item.interpreted = why_interpreted(item)
                if not item.interpreted:
                    item.runner = self.runner(item)
            self.items.append(item)

    def hooks(self, item):
        """What runs before and after a test: functions, or names of methods, with their
        arguments."""
        if item.cls is None:
            for hook, calls in (('setup_function', item.before),
                                ('teardown_function', item.after)):
                f = vars(self.module).get(hook)
                if f is not None:
                    calls.append((f, (None,) if parameters(f) else ()))
            return
        if is_test_case(item.cls):
            hooks = [('setUp', item.before), ('run_cleanups', item.after), ('tearDown', item.after)]
        else:
            hooks = [('setup_method', item.before), ('teardown_method', item.after),
                     ('setup', item.before), ('teardown', item.after)]
        for hook, calls in hooks:
            f = getattr(item.cls, hook, None)
            if f is not None and not is_empty_hook(item.cls, hook):
                calls.append((hook, (None,) if len(required(f.im_func)) > 1 else ()))

    def runner(self, item):
        """A function without arguments that runs the test with what goes around it."""
        func = item.func
        namespace = {'func': func}
        lines = []
        depth = [1]

        def line(text):
            lines.append('    ' * depth[0] + text)

        def value(name, v):
            namespace[name] = v
            return name

        def around(undo):
            """What follows is followed by `undo`, whatever happens."""
            line('try:')
            depth[0] += 1
            ends.append(undo)

        def hook_call(n, hook, args):
            if isinstance(hook, str):
                target = 'self.' + hook
            else:
                target = value('hook%d' % n, hook)
            return '%s(%s)' % (target, 'None' if args else '')

        ends = []
        if item.cls is not None:
            value('cls', item.cls)
            line('self = cls()')
        hooks = 0
        for hook, args in item.before:
            line(hook_call(hooks, hook, args))
            hooks += 1
        for hook, args in reversed(item.after):
            # What asks for cleanups is not RPython.
            if hook == 'run_cleanups':
                continue
            around([hook_call(hooks, hook, args)])
            hooks += 1
        variables = {}
        for n, entry in enumerate(item.entries):
            variables[entry.key] = 'f%d' % n
            args = []
            if entry.of_class:
                args.append('self')
            for name, key in entry.args:
                if key is None:
                    request = type('FixtureRequest', (TranslatedRequest,), {})()
                    if entry.key in item.fixture_params:
                        request.param = item.fixture_params[entry.key]
                    args.append('%s=%s' % (name, value('r%d' % n, request)))
                else:
                    args.append('%s=%s' % (name, variables[key]))
            call = '%s(%s)' % (value('fixture%d' % n, entry.fixture.func), ', '.join(args))
            if is_generator(entry.fixture.func):
                line('g%d = %s' % (n, call))
                line('f%d = g%d.next()' % (n, n))
                around(['try:', '    g%d.next()' % n, 'except StopIteration:', '    pass'])
            else:
                line('f%d = %s' % (n, call))
        by_name = dict([(e.fixture.name, variables[e.key])
                        for e in sorted(item.entries, key=lambda e: -e.key[1])])
        args = []
        for n, name in enumerate(item.wanted):
            if name in item.args:
                args.append('%s=%s' % (name, value('a%d' % n, item.args[name])))
            else:
                args.append('%s=%s' % (name, by_name[name]))
        target = 'func' if item.cls is None else 'self.' + item.method
        if not lines and not args:
            return func
        line('%s(%s)' % (target, ', '.join(args)))
        while ends:
            depth[0] -= 1
            line('finally:')
            depth[0] += 1
            for text in ends.pop():
                line(text)
            depth[0] -= 1
        # The test's name makes the code one of its own, whatever other tests there are.
        code = compile('\n'.join(['def run():'] + lines) + '\n', '<test %s::%s>' % (
            self.module.__name__, item.name), 'exec')
        exec code in namespace
        return namespace['run']


class TranslatedRequest(object):
    """The `request` of a fixture that is translated: it has `param` alone."""


def is_test_case(cls):
    unittest = sys.modules.get('unittest')
    return unittest is not None and issubclass(cls, unittest.TestCase)


def is_empty_hook(cls, name):
    """Whether it is inherited from `TestCase`, where it does nothing for a test that is
    translated."""
    unittest = sys.modules.get('unittest')
    base = getattr(unittest and unittest.TestCase, name, None)
    return base is not None and getattr(cls, name).im_func is base.im_func and (
        name != 'run_cleanups')


def why_interpreted(item):
    for entry in item.entries:
        if isinstance(entry.fixture, Builtin):
            return "it uses the fixture '%s'" % (entry.fixture.name,)
    if 'request' in item.wanted and 'request' not in item.args:
        return "it uses the fixture 'request'"
    if is_generator(item.func):
        return 'it yields'
    if item.raises is not None:
        return 'its mark xfail names exceptions'
    return None


def marks_of(namespace):
    marks = namespace.get('pytestmark', [])
    if isinstance(marks, (MarkDecorator, Mark)):
        marks = [marks]
    return as_marks(marks)


def attempt(function, *args):
    """Calls a setup function; says what went wrong."""
    if function is None:
        return None
    try:
        if getattr(function, 'im_self', None) is None and not parameters(function):
            function()
        else:
            function(*args)
    except Exception as e:
        return 'in %s: %s: %s' % (function.__name__, e.__class__.__name__, e)
    return None


# Whether expected failures are taken as tests without the mark, for all tests of the process.
RUNS_XFAIL = False


class Finder(object):
    """Finds the tests of a file."""
    session = None

    def __init__(self, path, name, options, declared, plugins):
        global RUNS_XFAIL
        self.around = conftests(path) + load_plugins(path, plugins)
        self.config = None
        if not self.around and not options and not declared:
            return
        from _taipan_hooks import configure, hooks_of_nodes
        self.config = configure(path, self.around, options, declared)
        RUNS_XFAIL = self.config.option.runxfail
        self.hooks = hooks_of_nodes(self.config)
        if self.hooks:
            from _taipan_nodes import Session
            self.session = Session(self.config, path, name, self.around)

    def of_module(self, module):
        return Collector(module, self.config, self.around).collect()

    def of_session(self):
        """The hooks import the file, or do something else with it."""
        return self.session.find('its conftest.py has the hook %s' % (self.hooks[0],))


# ____________________________________________________________
# What translated tests call.

class Outcome(Exception):
    """An end of a test that is no error of its code."""


class Skipped(Outcome):
    pass


class Failed(Outcome):
    pass


class XFailed(Outcome):
    pass


class Exit(Outcome):
    """The whole run is over. Its text has the exit code in front, -1 without one."""


class AssertionFailed(Exception):
    """AssertionError itself is taken not to occur in translated code."""


def report(kind, message):
    if we_are_translated():
        record = kind + str(len(message)) + ':' + message
        while len(record) > 0:
            try:
                n = os.write(REPORT_FD, record)
            except OSError:
                # An executable of one test: nothing reads its records.
                return
            if n <= 0:
                return
            record = record[n:]


# Newer versions of pytest have `reason` where older ones have `msg`.

def skip(msg='', allow_module_level=False, reason=''):
    msg = msg or reason
    if not we_are_translated():
        raise Skipped(msg)
    report('s', msg)
    raise Skipped()


def fail(msg='', pytrace=True, reason=''):
    msg = msg or reason
    if not we_are_translated():
        raise Failed(msg)
    report('f', msg)
    raise Failed()


def xfail(reason=''):
    if RUNS_XFAIL:
        return
    if not we_are_translated():
        raise XFailed(reason)
    report('x', reason)
    raise XFailed()


def exit(msg='', returncode=-1, reason=''):
    text = '%d %s' % (returncode, msg or reason)
    if not we_are_translated():
        raise Exit(text)
    report('q', text)
    raise Exit()


def did_not_raise(name, position):
    if not we_are_translated():
        return Failed('DID NOT RAISE ' + name)
    report('p', position)
    report('f', 'DID NOT RAISE ' + name)
    return Failed()


class Explained(AssertionError):
    """What is raised in the interpreter: its text is the explanation."""


def assertion(explanation):
    if not we_are_translated():
        return Explained(explanation)
    report('a', explanation)
    return AssertionFailed()


def compared(head, left, right):
    return head + '\0L' + left + '\0R' + right


def condition_of(head, value):
    return head + '\0V' + value


def condition(head):
    return head


def also(explanation, label, value):
    return explanation + '\0' + label + value
