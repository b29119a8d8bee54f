"""What `taipan test` runs on: tests are found in a module that has been imported, and
made functions without arguments to be translated. The functions at the end are what
asserts and `raises` of test modules call once they are translated."""
import os
import sys
from _taipan import show, text
from rpython.rlib.objectmodel import we_are_translated

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
    return isinstance(x, type) or hasattr(x, 'func_code')


def own(x):
    return x.__dict__


def as_marks(marks):
    if not isinstance(marks, (list, tuple)):
        marks = [marks]
    return [Mark(m.name, m.args, m.kwds) for m in marks]


class Call(object):
    """One set of arguments of a test."""

    def __init__(self, args, ids, marks):
        self.args = args
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
            merged = dict(call.args)
            merged.update(args)
            result.append(Call(merged, call.ids + [name], call.marks + marks))
    return result


def parameters(func):
    code = func.func_code
    return list(code.co_varnames[:code.co_argcount])


def holds(value, namespace):
    if isinstance(value, str):
        names = {'os': os, 'sys': sys}
        names.update(namespace)
        return bool(eval(value, names))
    return bool(value)


class Item(object):
    def __init__(self, name):
        self.name = name
        self.runner = None
        self.func = None
        self.keywords = []
        self.skip = None
        self.xfail = None
        self.strict = False
        self.problem = None

    def record(self):
        return (self.name, self.runner, self.func, self.keywords, self.skip, self.xfail,
                self.strict, self.problem)

    def apply_marks(self, marks, namespace):
        for m in marks:
            self.keywords.append(m.name)
            reason = m.kwds.get('reason', '')
            if m.name == 'skip':
                if m.args:
                    reason = m.args[0]
                self.skip = self.skip or reason or 'unconditional skip'
            elif m.name == 'skipif':
                for c in m.args:
                    if holds(c, namespace):
                        self.skip = self.skip or reason or 'condition: %s' % (c,)
            elif m.name == 'xfail':
                if not m.args or [c for c in m.args if holds(c, namespace)]:
                    self.xfail = reason or ''
                    self.strict = bool(m.kwds.get('strict', False))
                    if not m.kwds.get('run', True):
                        self.skip = self.skip or '[NOTRUN] ' + reason


class Collector(object):
    def __init__(self, module):
        self.module = module
        self.items = []
        self.marks = marks_of(vars(module))

    def collect(self):
        namespace = vars(self.module)
        problem = attempt(namespace.get('setup_module'), self.module)
        for name, value in namespace.items():
            if getattr(value, '__test__', True) is False:
                continue
            if isinstance(value, type) and name.startswith('Test'):
                self.collect_class(name, value, problem)
            elif name.startswith('test') and hasattr(value, 'func_code'):
                self.collect_function(name, value, None, problem)
        return [item.record() for item in self.items]

    def collect_class(self, name, cls, problem):
        if '__init__' in [n for c in cls.__mro__[:-1] for n in c.__dict__]:
            return
        setup = getattr(cls, 'setup_class', None)
        if setup is not None:
            # Ordinary methods are accepted too, as long as they take the class.
            bound = getattr(setup, 'im_self', None) is not None
            function = getattr(setup, 'im_func', setup)
            problem = problem or (attempt(setup) if bound else attempt(function, cls))
        seen = {}
        for c in cls.__mro__[:-1]:
            for method, value in c.__dict__.items():
                if method.startswith('test') and hasattr(value, 'func_code') and method not in seen:
                    seen[method] = True
                    self.collect_function(method, value, (name, cls), problem)

    def collect_function(self, name, func, owner, problem):
        marks = list(self.marks)
        prefix = ''
        first = 0
        if owner is not None:
            for c in reversed(owner[1].__mro__[:-1]):
                marks += marks_of(c.__dict__)
            prefix = owner[0] + '::'
            first = 1
        marks += marks_of(own(func))
        wanted = parameters(func)[first:]
        calls = [Call({}, [], [])]
        for m in marks:
            if m.name == 'parametrize':
                try:
                    calls = parametrized(calls, *m.args, **m.kwds)
                except Exception as e:
                    problem = problem or '%s: %s' % (e.__class__.__name__, e)
        for call in calls:
            item = Item(prefix + name + ('[%s]' % '-'.join(call.ids) if call.ids else ''))
            item.func = func
            if owner is not None:
                item.keywords.append(owner[0])
            item.keywords.append(name)
            item.problem = problem
            try:
                item.apply_marks([m for m in marks if m.name != 'parametrize'] + call.marks,
                                 vars(self.module))
            except Exception as e:
                item.problem = '%s: %s' % (e.__class__.__name__, e)
            missing = [n for n in wanted[:len(wanted) - len(func.func_defaults or ())]
                       if n not in call.args]
            unknown = [n for n in sorted(call.args) if n not in wanted]
            if missing:
                item.problem = "fixture '%s' not found: fixtures are kept to setup and teardown" % (
                    missing[0],)
            elif unknown:
                item.problem = "the test uses no argument '%s'" % (unknown[0],)
            if not item.problem:
                args = [(n, call.args[n]) for n in wanted if n in call.args]
                item.runner = self.runner(item.name, name, func, owner, args)
            self.items.append(item)

    def runner(self, full_name, name, func, owner, args):
        """A function without arguments that runs the test with what goes around it."""
        namespace = {'func': func}
        for i, (_, value) in enumerate(args):
            namespace['a%d' % i] = value
        call = ', '.join(['%s=a%d' % (n, i) for i, (n, _) in enumerate(args)])
        if owner is None:
            before, after = [], []
            test = 'func(%s)' % call
            for hook, lines in (('setup_function', before), ('teardown_function', after)):
                f = vars(self.module).get(hook)
                if f is not None:
                    namespace[hook] = f
                    lines.append('%s(%s)' % (hook, 'None' if parameters(f) else ''))
        else:
            cls = owner[1]
            namespace['cls'] = cls
            before, after = ['self = cls()'], []
            test = 'self.%s(%s)' % (name, call)
            for hook, lines in (('setup_method', before), ('teardown_method', after),
                                ('setup', before), ('teardown', after)):
                f = getattr(cls, hook, None)
                if f is not None:
                    takes_method = len(parameters(f.im_func)) > 1
                    lines.append('self.%s(%s)' % (hook, 'None' if takes_method else ''))
        if not before and not after and not args:
            return func
        lines = ['def run():'] + ['    ' + line for line in before]
        if after:
            lines += ['    try:', '        ' + test, '    finally:']
            lines += ['        ' + line for line in after]
        else:
            lines.append('    ' + test)
        # The test's name makes the code one of its own, whatever other tests there are.
        code = compile('\n'.join(lines) + '\n', '<test %s::%s>' % (
            self.module.__name__, full_name), 'exec')
        exec code in namespace
        return namespace['run']


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


def collect(module):
    return Collector(module).collect()


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


class AssertionFailed(Exception):
    """AssertionError itself is taken not to occur in translated code."""


def report(kind, message):
    if we_are_translated():
        record = kind + str(len(message)) + ':' + message
        while len(record) > 0:
            n = os.write(REPORT_FD, record)
            if n <= 0:
                return
            record = record[n:]


def skip(msg='', allow_module_level=False):
    if not we_are_translated():
        raise Skipped(msg)
    report('s', msg)
    raise Skipped()


def fail(msg='', pytrace=True):
    if not we_are_translated():
        raise Failed(msg)
    report('f', msg)
    raise Failed()


def xfail(reason=''):
    report('x', reason)
    raise XFailed()


def did_not_raise(name, position):
    report('p', position)
    report('f', 'DID NOT RAISE ' + name)
    return Failed()


def assertion(explanation):
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
