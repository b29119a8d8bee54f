"""A pytest plugin for a pypy checkout, run by CPython 2.7: turns the calls that its
rtyping tests make into cases for `taipan call`.

Every graph that a test has the low-level interpreter evaluate becomes a line of JSON in
$TAIPAN_CASES/cases.jsonl and a module with the function and the names that it needs, cut
out of the test's source. With TAIPAN_KINDS=annotator so does every `build_types(f, inputs)`. Nothing of it
is kept in this repository. See run.py.
"""
import __builtin__
import dis
import json
import os
import re
import signal
import sys
import types
import weakref

import cutter
import describe
import gctests
import metainterp
import plain as plain_python
from values import UNKNOWN, literal, outcome, plain
from rpython.rlib import rarithmetic
from rpython.rtyper.lltypesystem import rffi
from rpython.rtyper.test.tool import BaseRtypingTest

OUT = os.environ['TAIPAN_CASES']
# Of one function that a test calls with ever other values, so many are enough.
MOST_PER_FUNCTION = 30
# Of a function that is compiled to C, before plain Python stands for that.
SECONDS = 30
# The running test, and its file: `rtyper/test_rstr`.
current = [None]
suite = ['']
# What comes out of the running test is known to be wrong.
garbage = [False]
counter = [0]
# What runs now is recorded when its test is over.
muted = []
per_function = {}
# The file of each text that is written: calls of one function share it.
files = {}
recorded = set()


def record(func, args, expect, kind, place, **more):
    """Writes a case down if the function can be cut out of its test."""
    if not isinstance(func, types.FunctionType):
        return lost(func, 'no function')
    kinds = [made_from(a) for a in args]
    if any(kinds):
        args = [number_in(a) if k else a for a, k in zip(args, kinds)]
    texts = [literal(a) for a in args]
    if None in texts:
        return lost(func, 'an argument that has no literal')
    case = dict(more, args=texts, expect=expect, kind=kind)
    if any(kinds):
        case['made_from'] = kinds
    # Tests of flags of the translation interpret the same thing again.
    key = (func.__code__.co_firstlineno, repr(case), place.line)
    if key not in recorded:
        recorded.add(key)
        write(func, case, place)


def made_from(x):
    """The class of a number that has no literal, as it is spelled; None for others."""
    name = type(x).__name__
    if isinstance(x, rarithmetic.r_singlefloat):
        return 'rarithmetic.r_singlefloat'
    if isinstance(x, rarithmetic.base_int) and name.startswith('r_'):
        for module in (rarithmetic, rffi):
            if vars(module).get(name) is type(x):
                return '%s.%s' % (module.__name__.rsplit('.', 1)[-1], name)
    return None


def number_in(x):
    return float(x) if isinstance(x, rarithmetic.r_singlefloat) else int(x)


def through_literals(name, kinds):
    """A function that takes literals and makes the real arguments of them."""
    names = ['a%d' % i for i in range(len(kinds))]
    args = ['%s(%s)' % (k, n) if k else n for k, n in zip(kinds, names)]
    return """
from rpython.rlib import rarithmetic
from rpython.rtyper.lltypesystem import rffi
def through_literals(%s):
    return %s(%s)
""" % (', '.join(names), name, ', '.join(args))


def lost(func, why):
    """Notes a call that makes no case, and why: for whoever mends the recorder."""
    with open(os.path.join(OUT, 'lost.txt'), 'a') as f:
        f.write('%s %s %s: %s\n' % (suite[0], current[0], getattr(func, '__name__', func), why))


def write(func, case, place):
    if garbage[0]:
        return
    try:
        besides = re.findall(r'SomeInstance\((\w+)', ' '.join(case['args']))
        besides += case.get('opaque', [])
        text = cutter.cut(func, place, besides)
    except (SyntaxError, IOError, TypeError, ValueError) as e:
        return lost(func, 'cannot be cut: %r' % (e,))
    if text is None:
        return lost(func, 'its definition is not found')
    name = func.__name__
    if name == '<lambda>':
        name = 'a_lambda'
    if 'made_from' in case:
        text += through_literals(name, case.pop('made_from'))
        name = 'through_literals'
    if case['kind'] in metainterp.KINDS:
        text += metainterp.rest(name, case)
        name = metainterp.entry(name, case)
    write_module(text, suite[0], name, case)


def write_module(text, home, name, case):
    """Writes down a case and its module, unless the module does not define the function
    in plain Python."""
    made = per_function.setdefault((home, current[0], re.sub('[0-9]', '', text)), [0])
    if made[0] >= MOST_PER_FUNCTION:
        return
    made[0] += 1
    id = '%s-%s-%d' % (home.replace('/', '-'), current[0] or 'x', counter[0])
    counter[0] += 1
    id = re.sub('[^A-Za-z0-9_]', '_', id)
    path = os.path.join(OUT, id + '.py')
    if text in files:
        return note(dict(case, id=id, file=files[text], func=name, test=current[0], suite=home))
    with open(path, 'w') as f:
        f.write(text)
    # The cut must define the function in plain Python too, and need nothing else.
    space = {'__name__': 'case'}
    try:
        exec compile(text, path, 'exec', 0, True) in space
        absent = missing(space[name], space)
        assert not absent, sorted(absent)
        if case['kind'] == 'test':
            space[name]()
        elif case['kind'] in metainterp.KINDS:
            case['expect'] = metainterp.expected(space[name], case, muted)
    except Exception as e:
        os.rename(path, path + '.lost')
        return lost(space.get(name), 'the cut %s is not whole: %r' % (id, e))
    files[text] = path
    note(dict(case, id=id, file=path, func=name, test=current[0], suite=home))


def note(case):
    with open(os.path.join(OUT, 'cases.jsonl'), 'a') as f:
        f.write(json.dumps(case, encoding='latin-1') + '\n')


def missing(func, space):
    """Global names that the function's own code reads and that are not there."""
    names, codes = set(), [func.__code__]
    while codes:
        code = codes.pop()
        codes += [c for c in code.co_consts if isinstance(c, types.CodeType)]
        for op, name in global_reads(code):
            names.add(name)
    builtin = vars(__builtin__)
    return set(n for n in names if n not in space and n not in builtin)


def global_reads(code):
    text, i = code.co_code, 0
    while i < len(text):
        op = ord(text[i])
        i += 1
        if op >= dis.HAVE_ARGUMENT:
            arg = ord(text[i]) + ord(text[i + 1]) * 256
            i += 2
            if dis.opname[op] == 'LOAD_GLOBAL':
                yield op, code.co_names[arg]


def record_call(call, spelling, outcome):
    """Writes down a call that a test made in plain Python."""
    try:
        write_module(call.module(spelling), suite[0], 'case',
                     {'args': call.literals, 'expect': outcome, 'kind': 'plain'})
    except (TypeError, ValueError, IOError):
        pass


def record_test(func):
    """Writes down a whole test that is plain Python."""
    try:
        text = cutter.cut_test(func, plain_python.as_rpython)
        if text is not None:
            write_module(text, suite[0], func.__name__,
                         {'args': [], 'expect': {'ok': None}, 'kind': 'test'})
    except (SyntaxError, TypeError, ValueError, IOError):
        pass


def record_annotation(func, inputs, result, place):
    """Writes down what the annotator says of a function's result; None is an error."""
    try:
        texts = [describe.text(s) for s in inputs]
        expect = {'error': True}
        if result is not None:
            expect = {'annotation': describe.text(result)}
    except describe.Unknown as e:
        return lost(func, 'an annotation without words: %s' % e)
    if not isinstance(func, types.FunctionType):
        return lost(func, 'no function')
    write(func, {'args': [', '.join(texts)], 'expect': expect, 'kind': 'annotation'}, place)


def place_of(func):
    """Where the innermost function that defines this one is, or else the function of a
    test."""
    code = getattr(func, '__code__', None)
    frame = sys._getframe(1)
    found = cutter.Place(1 << 30, {})
    while frame is not None:
        if code is not None and code in frame.f_code.co_consts:
            return cutter.Place(frame.f_lineno, dict(frame.f_locals))
        name = os.path.basename(frame.f_code.co_filename)
        if not found.values and frame.f_code.co_name.startswith('test_') and name.startswith('test_'):
            found = cutter.Place(frame.f_lineno, dict(frame.f_locals))
        frame = frame.f_back
    return found


calls = plain_python.Calls(record_call)


def interpret_with_gc(func, values):
    """Runs a function over the original's own collector."""
    from rpython.memory import gcwrapper
    from rpython.memory.gc.incminimark import IncrementalMiniMarkGC
    from rpython.rtyper.test.test_llinterp import get_interpreter
    values = [BaseRtypingTest.string_to_ll(v) if isinstance(v, str) else v for v in values]
    interp, graph = get_interpreter(func, values)
    gcwrapper.prepare_graphs_and_create_gc(interp, IncrementalMiniMarkGC, {})
    muted.append(func)
    signal.alarm(SECONDS)
    try:
        result = interp.eval_graph(graph, values)
    finally:
        signal.alarm(0)
        muted.pop()
    value = plain(result)
    return result if value is UNKNOWN else value


def record_gc(func, values, result, place):
    record(func, values, outcome(plain(result)), 'gc', place)


gc_runs = gctests.Runs(interpret_with_gc, place_of, record_gc)


def plain_test(item):
    """The function of a test that runs library code as plain Python."""
    if 'plain' not in os.environ.get('TAIPAN_KINDS', ''):
        return None
    func = getattr(getattr(item, 'obj', None), '__func__', getattr(item, 'obj', None))
    if isinstance(func, types.FunctionType) and not plain_python.translates(func):
        return func
    return None


def pytest_runtest_setup(item):
    current[0] = item.name
    garbage[0] = 'xfail' in item.keywords
    folder, name = os.path.split(str(item.fspath))
    suite[0] = '%s/%s' % (os.path.basename(os.path.dirname(folder)), name[:-3])
    cutter.test_class[0] = getattr(item, 'cls', None)
    if plain_test(item) is not None:
        calls.start()


def pytest_runtest_makereport(item, call):
    if call.when == 'call':
        gc_runs.finish(call.excinfo is None)


def pytest_runtest_teardown(item):
    calls.stop()
    func = plain_test(item)
    if func is not None:
        record_test(func)


def pytest_configure(config):
    from rpython.annotator import model
    from rpython.annotator.annrpython import RPythonAnnotator
    from rpython.rtyper.error import TyperError
    from rpython.rtyper.llinterp import LLException, LLInterpreter
    from rpython.rtyper.test import test_llinterp as t
    from rpython.translator.c.test import test_genc

    plain_eval = LLInterpreter.eval_graph
    running = []
    # Tests of collectors call a function again on the heap that it has left.
    used = weakref.WeakKeyDictionary()

    def eval_graph(self, graph, args=(), recursive=False):
        """What the low-level interpreter is asked from outside."""
        func = getattr(graph, 'func', None)
        if running or muted or recursive or func is None:
            return plain_eval(self, graph, args, recursive)
        if suite[0].startswith('memory/') and self in used:
            lost(func, 'goes on with what an earlier call has left')
            return plain_eval(self, graph, args, recursive)
        used[self] = True
        kind, values = 'interpret', args
        if stands_for[0]:
            kind, func, values = stands_for[0]
        running.append(graph)
        try:
            result = plain_eval(self, graph, args, recursive)
        except LLException as e:
            try:
                name = self.find_exception(e).__name__
            except ValueError:
                name = type_name(e)
            if name:
                record(func, values, {'raises': name}, kind, place_of(func))
            raise
        finally:
            running.pop()
        value = plain(result)
        record(func, values, outcome(value), kind,
               place_of(func))
        return result

    LLInterpreter.eval_graph = eval_graph

    plain_get = t.get_interpreter

    def get_interpreter(func, values, *args, **kwds):
        """What is rejected before it runs."""
        try:
            return plain_get(func, values, *args, **kwds)
        except (model.AnnotatorError, TyperError):
            record(func, values, {'error': True}, 'interpret', place_of(func))
            raise

    t.get_interpreter = get_interpreter

    # The function for which the interpreter runs, if a test compiles it to C.
    stands_for = [None]

    def compile(fn, argtypes, *args, **kwds):
        """Stands for the C build: the low-level interpreter, or the Python function."""
        def call(*values, **keywords):
            expected = keywords.get('expected_exception_name')
            stands_for[0] = 'c', fn, values
            signal.alarm(SECONDS)
            try:
                result = plain_interpret(fn, [convert(v, a) for v, a in zip(values, argtypes)])
            except LLException:
                if expected is None:
                    raise
                return None
            except Exception:
                # It does not know everything that C can do, and is slow.
                result = fn(*values)
                value = plain(result)
                record(fn, values, outcome(value), 'c',
                       place_of(fn))
            finally:
                signal.alarm(0)
                stands_for[0] = None
            value = plain(result)
            return result if value is UNKNOWN else value
        return call

    def convert(value, kind):
        if kind is str and value is not None:
            return BaseRtypingTest.string_to_ll(value)
        return kind(value)

    def plain_interpret(fn, values):
        interp, graph = plain_get(fn, values)
        return interp.eval_graph(graph, values)

    test_genc.compile = compile
    gctests.install(gc_runs)

    plain_build = RPythonAnnotator.build_types

    def build_types(self, function, input_arg_types, *args, **kwds):
        inputs = [self.typeannotation(t) for t in input_arg_types]
        first = not self.annotated
        try:
            result = plain_build(self, function, input_arg_types, *args, **kwds)
        except model.AnnotatorError:
            record_annotation(function, inputs, None, place_of(function))
            raise
        if first and not self.errors:
            record_annotation(function, inputs, result, place_of(function))
        return result

    if 'metainterp' in os.environ.get('TAIPAN_KINDS', ''):
        metainterp.install(record, place_of)
    if 'annotator' in os.environ.get('TAIPAN_KINDS', ''):
        RPythonAnnotator.build_types = build_types
    if 'flow' in os.environ.get('TAIPAN_KINDS', ''):
        record_flow()


def record_flow():
    """Has the tests of the flow space note whether functions have a graph."""
    from rpython.flowspace.flowcontext import FlowingError
    from rpython.flowspace.test import test_objspace

    plain_flow = test_objspace.build_flow

    def build_flow(func, *args, **kwds):
        try:
            graph = plain_flow(func, *args, **kwds)
        except (FlowingError, ValueError):
            write(func, {'args': [], 'expect': {'error': True}, 'kind': 'flow'}, place_of(func))
            raise
        write(func, {'args': [], 'expect': {'any': True}, 'kind': 'flow'}, place_of(func))
        return graph

    test_objspace.build_flow = build_flow


def too_slow(*_):
    raise RuntimeError('the low-level interpreter takes too long')


signal.signal(signal.SIGALRM, too_slow)


def type_name(exception):
    """The name of the class of a low-level exception that Python does not have."""
    try:
        return ''.join(exception.args[0].name.chars).rstrip('\0')
    except AttributeError:
        return None
