"""Runs the tests of the old JIT generator far enough to note what they ask for.

Python 2.7, under a pypy checkout of today: `jit_recorder.py OLD_PYPY OUT`. Imports of the
old tests are rewritten to today's library, `timeshift` and its kin are replaced by
methods that note the call and what is then asserted of its result and of the residual
graph. Nothing of it is kept in this repository. See jit_cases.py.
"""
import ast
import json
import os
import re
import sys
import types

import cutter
from values import UNKNOWN, literal, plain

TESTS = ['test_timeshift', 'test_frontend', 'test_exception', 'test_promotion', 'test_vlist',
         'test_vdict', 'test_portal', 'test_virtualizable', 'test_0tlc', 'test_1tl', 'test_tlr']
# Modules that cases import: where they are, and what they are called beside the cases.
LIBRARY = [('pypy/jit/tl/opcode.py', 'tlopcode'), ('pypy/jit/tl/tl.py', 'tl'),
           ('pypy/jit/tl/tlc.py', 'tlc'), ('pypy/jit/tl/tlr.py', 'tlr'),
           ('pypy/lang/automata/dfa.py', 'dfa')]
# What names of the old library are today, in this order.
RENAMED = [
    (r'from pypy\.rpython\.lltypesystem\.rvirtualizable import VABLERTIPTR',
     'from rpython.rtyper.rclass import OBJECTPTR as VABLERTIPTR'),
    (r'from pypy\.rpython\.module\.support import LLSupport', 'from jit_recorder import LLSupport'),
    (r'from pypy\.jit\.hintannotator\.policy import', 'from jit_recorder import'),
    (r'pypy\.jit\.timeshifter\.test\.(test_\w+)', r'\1'),
    (r'from pypy\.jit\.tl import opcode as ', 'import tlopcode as '),
    (r'from pypy\.jit\.tl import', 'import'),
    (r'pypy\.jit\.tl\.opcode', 'tlopcode'),
    (r'pypy\.jit\.tl\.test\.test_tl\b', 'test_tl'),
    (r'pypy\.lang\.automata\.dfa', 'dfa'),
    (r'pypy\.rpython\.test\.test_llinterp', 'pypy.not_needed'),
    (r'pypy\.rpython\.llinterp', 'rpython.rtyper.llinterp'),
    (r'pypy\.rpython', 'rpython.rtyper'),
    (r'pypy\.rlib', 'rpython.rlib'),
    (r'pypy\.tool\.sourcetools', 'rpython.tool.sourcetools'),
    (r'pypy\.annotation\b', 'rpython.annotator'),
    (r'_is_early_constant', 'isconstant'),
    (r'(?m)^( *)import py(\.test)?$', r'\1import oldpy as py'),
    # Attributes of functions that tests make for the machinery around `timeshift`.
    (r'(?m)^( *)(\w+)\.convert_arguments = (.*)$', r'\1decoders(\2, \3, %s\3%s)' % (("'''",) * 2)),
    (r'(?m)^( *)(\w+)\.convert_result = (.*)$', r'\1decoded(\2, \3, %s\3%s)' % (("'''",) * 2)),
]


class NotThere(object):
    """Stands for a module of the old toolchain, and for whatever is in it."""
    __all__ = []
    __path__ = []

    def __getattr__(self, name):
        if name.startswith('__'):
            raise AttributeError(name)
        return type(name, (), {})


class Finder(object):
    """Makes the modules that are not there importable."""

    def find_module(self, name, path=None):
        if name.split('.')[0] == 'pypy':
            return self

    def load_module(self, name):
        sys.modules[name] = module = NotThere()
        return module


class Benchmark(object):
    ENABLED = False


class LLSupport(object):
    """Strings of cases are literals; nothing is to be done with them."""

    @staticmethod
    def to_rstr(s):
        return s


class HintAnnotatorPolicy(object):
    novirtualcontainer = False
    oopspec = False

    def __init__(self, **flags):
        self.__dict__.update(flags)


class StopAtXPolicy(HintAnnotatorPolicy):
    novirtualcontainer = True
    oopspec = True

    def __init__(self, *funcs):
        self.funcs = funcs


def option_of(policy, known):
    """A policy as `--policy` has it; None if it has no name there."""
    if policy is None:
        return 'default'
    if isinstance(policy, StopAtXPolicy) and policy.funcs:
        return 'stop-at=' + ','.join([qualified(f, known) for f in policy.funcs])
    if type(policy) not in (HintAnnotatorPolicy, StopAtXPolicy):
        return None
    return 'oopspec' if policy.oopspec else 'novirtual'


def qualified(func, known):
    """The name of a function, with the class that it is a method of."""
    for name, value in sorted(known.items()):
        if isinstance(value, (type, types.ClassType)):
            if vars(value).get(func.__name__) is func:
                return '%s.%s' % (name, func.__name__)
    return func.__name__


class Lost(Exception):
    """Why a call makes no case."""


class Result(object):
    """What a test takes for the result: it notes what it is compared with."""

    def __init__(self, case, really):
        self.case = case
        self.really = really

    def expect(self, value):
        value = plain(value)
        if value is not UNKNOWN:
            self.case['expect'] = {'ok': value}

    def __eq__(self, other):
        self.expect(other)
        return True

    def __ne__(self, other):
        return False

    def __nonzero__(self):
        truth = bool(self.really)
        self.case['expect'] = {'truth': truth}
        return truth


class Recorder(object):
    """Replaces the methods of the old test classes that translate."""
    on_llgraph = False
    counter = 0

    def timeshift(self, func, values, opt_consts=(), inline=None, policy=None,
                  backendoptimize=False):
        return self.note(func, None, values, opt_consts, inline, policy, backendoptimize)

    def timeshift_raises(self, exc, func, values, opt_consts=(), inline=None, policy=None,
                         backendoptimize=False):
        self.note(func, None, values, opt_consts, inline, policy, backendoptimize)
        if self.cases[-1] is not None:
            self.cases[-1]['expect'] = {'raises': exc.__name__}

    def timeshift_from_portal(self, main, portal, values, inline=None, policy=None,
                              backendoptimize=False):
        return self.note(main, portal, values, (), inline, policy, backendoptimize)

    def note(self, func, portal, values, opt_consts, inline, policy, optimize):
        frame = sys._getframe(2)
        while frame.f_globals is globals():
            frame = frame.f_back
        place = cutter.Place(frame.f_lineno, frame.f_locals)
        known = dict(frame.f_globals, **frame.f_locals)
        try:
            case, really = self.case(func, portal, list(values), policy, place, known)
        except Lost as e:
            self.lost.append('%s: %s' % (self.test, e))
            self.cases.append(None)
            return Result({}, False)
        case.update(static=list(opt_consts), inline=inline, optimize=bool(optimize))
        self.cases.append(case)
        return Result(case, really)

    def case(self, func, portal, values, policy, place, known):
        option = option_of(policy, known)
        if option is None:
            raise Lost('a policy of its own')
        entry, besides, wrapper = func, [], None
        decoders, texts = DECODERS.get(func.__code__, (None, None))
        to_plain, result_text = DECODED.get(func.__code__, (None, None))
        made = values
        if decoders:
            made = [d(v) for d, v in zip(decoders, values)]
        needed = [literal(v) is None for v in made]
        if any(needed) or to_plain:
            args = ', '.join('a%d' % i for i in range(len(values)))
            given = ['%s(a%d)' % (texts[i], i) if needed[i] else 'a%d' % i
                     for i in range(len(values))]
            call = 'ENTRY(%s)' % ', '.join(given)
            wrapper = ''
            if to_plain:
                text = re.sub(r'\.item(\d)', r'[\1]', result_text)
                wrapper += '\nconvert_result = %s\n' % text
                call = 'convert_result(%s)' % call
                besides += sorted(cutter.names_in(ast.parse(text)))
            wrapper += '\ndef through_literals(%s):\n    return %s\n' % (args, call)
            besides += [texts[i] for i in range(len(values)) if needed[i]]
        literals = [literal(v if n else m) for v, m, n in zip(values, made, needed)]
        if None in literals:
            raise Lost('an argument that has no literal')
        if portal not in (None, func):
            besides.append(qualified(portal, known).split('.')[0])
        name, path, wrapped = self.cut(entry, besides, place, wrapper)
        case = {'test': self.test, 'suite': self.suite, 'file': path, 'args': literals,
                'func': name, 'policy': option, 'portal': None}
        if wrapped:
            case['func'], case['portal'] = 'through_literals', name
        if portal is not None:
            case['portal'] = name if portal is func else self.portal_name(portal, known)
        case['id'] = os.path.basename(path)[:-3]
        if case['id'] in self.ids:
            case['id'] += '_%d' % len(self.cases)
        self.ids.add(case['id'])
        args = list(made) if not wrapped else [eval(t) for t in literals]
        really, expect = self.plainly(path, case['func'], args)
        case['expect'] = expect
        return case, really

    def portal_name(self, portal, known):
        here = name_in_library(portal)
        return here[1] if here else qualified(portal, known)

    def plainly(self, path, name, args):
        """What plain Python makes of the case, and that as an expectation until the test
        says what it wants."""
        space = {'__name__': 'case'}
        sys.path.insert(0, os.path.dirname(path))
        try:
            exec compile(open(path).read(), path, 'exec', 0, True) in space
            value = space[name](*args)
        except NameError as e:
            raise Lost('the cut is not whole: %r' % e)
        except Exception as e:
            return None, {'plainly': repr(e)}
        finally:
            sys.path.pop(0)
        return value, {'any': True}

    def cut(self, func, besides, place, wrapper):
        """The name of a function and the file to find it in."""
        here = name_in_library(func)
        if here is not None:
            return here[1], os.path.join(self.out, here[0] + '.py'), False
        text = cutter.cut(func, place, besides)
        if text is None:
            raise Lost('its definition is not found')
        name = func.__name__
        if wrapper:
            text += wrapper.replace('ENTRY', name)
        key = self.suite, self.test, text
        if key not in self.texts:
            id = '%s_%s' % (self.suite.replace('test_', ''), self.test.replace('test_', '', 1))
            while os.path.exists(os.path.join(self.out, id + '.py')):
                id += '_x'
            self.texts[key] = os.path.join(self.out, id + '.py')
            with open(self.texts[key], 'w') as f:
                f.write(text)
        return name, self.texts[key], bool(wrapper)

    def checked(self, what, expected, counts):
        if self.cases and self.cases[-1] is not None:
            checks = self.cases[-1].setdefault(what, {})
            if expected is not None:
                checks['exactly'] = expected
            checks.setdefault('counts', {}).update(counts)

    def check_insns(self, expected=None, **counts):
        self.checked('residual', expected, counts)

    def check_oops(self, expected=None, **counts):
        self.checked('oops', expected, counts)

    def check_flexswitches(self, count):
        if self.cases[-1] is not None:
            self.cases[-1]['flexswitches'] = count


# By the code of a function: what decodes its arguments and its result, with its text.
DECODERS = {}
DECODED = {}


def decoders(func, them, text):
    parts = ast.parse(text).body[0].value.elts
    DECODERS[func.__code__] = them, [getattr(p, 'id', '?') for p in parts]


def decoded(func, it, text):
    DECODED[func.__code__] = it, text


def name_in_library(func):
    """The module beside the cases and the name in it of a function that one of them
    defines, or None."""
    for _, module in LIBRARY:
        for name, value in sorted(vars(sys.modules.get(module, ast)).items()):
            if isinstance(value, types.FunctionType) and value.__code__ is func.__code__ and (
                    value.__closure__ == func.__closure__):
                return module, name
    return None


def rewritten(text):
    for old, new in RENAMED:
        text = re.sub(old, new, text)
    return text


def put(source, target, without=''):
    with open(source) as f:
        text = rewritten(f.read())
    if without:
        text = text.replace(without, '')
    with open(target, 'w') as f:
        f.write(text)


def tests_of(module):
    """The test methods of a module's classes, in the order of the file."""
    for name, cls in sorted(vars(module).items()):
        if not name.startswith('Test') or name == 'TestOOType':
            continue
        if getattr(cls, '__module__', None) != module.__name__:
            continue
        methods = [(m.im_func.__code__.co_firstlineno, m.__name__, cls)
                   for m in [getattr(cls, n) for n in dir(cls) if n.startswith('test_')]]
        for _, method, cls in sorted(methods):
            yield cls, method


def run_test(cls, method, suite, out, shared):
    me = type('Recording', (Recorder, cls), {})()
    me.__dict__.update(shared, suite=suite, test=method, out=out, cases=[])
    # What `py.test.skip` says.
    skips = []
    py_test.skip = skips.append

    def raises(exc, call, *args, **kwds):
        call(*args, **kwds)
        if me.cases[-1] is not None:
            me.cases[-1]['expect'] = {'error': True}
    py_test.raises = raises
    try:
        getattr(me, method)()
    except Exception as e:
        me.lost.append('%s: %s: %r' % (suite, method, e))
    for case in me.cases:
        if case is not None:
            if skips:
                case['skipped'] = skips[0]
            yield case


class PyTest(object):
    pass


py_test = PyTest()


def main(old, out):
    sys.modules['jit_recorder'] = sys.modules['__main__']
    sys.meta_path.append(Finder())
    sys.modules['oldpy'] = NotThere()
    sys.modules['oldpy'].test = py_test
    conftest = sys.modules['pypy.jit.conftest'] = NotThere()
    conftest.Benchmark = Benchmark
    sys.modules['pypy.not_needed'] = NotThere()
    sys.modules['pypy.not_needed'].interpret = lambda func, args: func(*args)
    import __builtin__
    __builtin__.decoders, __builtin__.decoded = decoders, decoded
    source = os.path.join(out, 'rewritten')
    if not os.path.isdir(source):
        os.makedirs(source)
    for path, name in LIBRARY:
        put(os.path.join(old, path), os.path.join(out, name + '.py'), 'import oldpy as py\n')
    with open(os.path.join(old, 'pypy/jit/tl/test/test_tl.py')) as f:
        program = re.search(r'(?s)FACTORIAL_SOURCE = \'\'\'.*?\'\'\'', f.read()).group()
    with open(os.path.join(source, 'test_tl.py'), 'w') as f:
        f.write(program)
    for name in TESTS:
        put(os.path.join(old, 'pypy/jit/timeshifter/test', name + '.py'),
            os.path.join(source, name + '.py'))
    sys.path[:0] = [source, out]
    shared = {'texts': {}, 'ids': set(), 'lost': []}
    cases, functions = [], 0
    for name in TESTS:
        for cls, method in tests_of(__import__(name)):
            if name == 'test_virtualizable':
                # Two classes have tests of one name.
                suite = 'virtualizable_' + cls.__name__[len('TestVirtualizable'):].lower()
            else:
                suite = name
            functions += 1
            made = list(run_test(cls, method, suite, out, shared))
            cases += made
            if not made:
                shared['lost'].append('%s: %s gives no case' % (suite, method))
    with open(os.path.join(out, 'cases.jsonl'), 'w') as f:
        for case in cases:
            f.write(json.dumps(case, sort_keys=True) + '\n')
    with open(os.path.join(out, 'lost.txt'), 'w') as f:
        f.writelines(line + '\n' for line in shared['lost'])
    tests = set((c['suite'], c['test']) for c in cases)
    print '%d cases of %d of %d tests; %d of them the old tests skip' % (
        len(cases), len(tests), functions, len(set((c['suite'], c['test']) for c in cases if 'skipped' in c)))


if __name__ == '__main__':
    main(*sys.argv[1:])
