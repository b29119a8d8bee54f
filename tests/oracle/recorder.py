"""A pytest plugin for a pypy checkout, run by CPython 2.7: turns the calls that its
rtyping tests make into cases for `taipan call`.

Every `interpret(f, args)` of a test becomes a line of JSON in $TAIPAN_CASES/cases.jsonl
and a module with the function and the names that it needs, cut out of the test's
source. With TAIPAN_KINDS=annotator so does every `build_types(f, inputs)`. Nothing of it
is kept in this repository. See run.py.
"""
import __builtin__
import dis
import json
import os
import sys
import types

import cutter
import describe
import plain as plain_python

OUT = os.environ['TAIPAN_CASES']
# Of one function that a test calls with ever other values, so many are enough.
MOST_PER_FUNCTION = 30
current = [None]
counter = [0]
per_function = {}


def literal(x):
    """The text of a value as an argument of `taipan call`, or None."""
    if x is None or type(x) in (bool, int, float):
        return repr(x)
    if type(x) is str:
        return repr(x)
    if type(x) is unicode:
        return repr(x)
    if type(x) in (list, tuple):
        parts = [literal(y) for y in x]
        if None in parts:
            return None
        if type(x) is list:
            return '[%s]' % ', '.join(parts)
        return '(%s)' % ''.join([p + ', ' for p in parts])
    return from_lowlevel(x)


def from_lowlevel(x):
    value = plain(x)
    if isinstance(value, (str, unicode)):
        return repr(value)
    return None


UNKNOWN = object()


def plain(x):
    """A result as JSON would have it; UNKNOWN where that is not known."""
    if x is None or type(x) in (bool, int):
        return x
    if type(x) is long:
        return int(x)
    if type(x) is float:
        if x != x:
            return 'nan'
        if x in (float('inf'), float('-inf')):
            return 'inf' if x > 0 else '-inf'
        return x
    if type(x) is str:
        return x
    if type(x) is unicode:
        return x
    if type(x) in (list, tuple):
        items = [plain(y) for y in x]
        return UNKNOWN if UNKNOWN in items else items
    if isinstance(x, long):
        return int(x)
    try:
        from rpython.rtyper.lltypesystem import lltype
        t = lltype.typeOf(x)
        if t == lltype.Void:
            return None
        if isinstance(t, lltype.Ptr):
            name = getattr(t.TO, '_name', '')
            if name in ('rpy_string', 'rpy_unicode'):
                if not x:
                    return None
                return ('' if name == 'rpy_string' else u'').join(list(x.chars))
    except Exception:
        pass
    return UNKNOWN


def record(func, args, outcome, kind, call_line):
    """Writes a case down if the function can be cut out of its test."""
    try:
        if not isinstance(func, types.FunctionType) or func.__name__ == '<lambda>':
            return
        texts = [literal(a) for a in args]
        if None not in texts:
            write(func, {'args': texts, 'expect': outcome, 'kind': kind}, call_line)
    except (SyntaxError, IOError, TypeError, ValueError):
        pass


def write(func, case, call_line):
    found = cutter.cut(func, call_line)
    if found is not None:
        write_module(found[0], found[1], func.__name__, case)


def write_module(text, stem, func, case):
    """Writes down a case and its module, unless the module does not define the function
    in plain Python."""
    made = per_function.setdefault((stem, current[0], text), [0])
    if made[0] >= MOST_PER_FUNCTION:
        return
    made[0] += 1
    name = '%s_%s_%d.py' % (stem, current[0] or 'x', counter[0])
    counter[0] += 1
    name = name.replace('[', '_').replace(']', '_').replace('/', '_').replace(' ', '_')
    path = os.path.join(OUT, name)
    with open(path, 'w') as f:
        f.write(text)
    # The cut must define the function in plain Python too, and need nothing else.
    space = {'__name__': 'case'}
    try:
        exec compile(text, path, 'exec') in space
        assert missing(space[func], space) == set()
        if case['kind'] == 'test':
            space[func]()
    except Exception:
        os.unlink(path)
        return
    case.update(id=name[:-3], file=path, func=func, test=current[0])
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
    stem = 'test_' + call.home.rsplit('.', 1)[1]
    try:
        write_module(call.module(spelling), stem, 'case',
                     {'args': call.literals, 'expect': outcome, 'kind': 'plain'})
    except (TypeError, ValueError, IOError):
        pass


def record_test(func):
    """Writes down a whole test that is plain Python."""
    try:
        found = cutter.cut_test(func, plain_python.as_rpython)
        if found is not None:
            write_module(found[0], found[1], func.__name__,
                         {'args': [], 'expect': {'ok': None}, 'kind': 'test'})
    except (SyntaxError, TypeError, ValueError, IOError):
        pass


def record_annotation(func, inputs, result, call_line):
    """Writes down what the annotator says of a function's result; None is an error."""
    try:
        if isinstance(func, types.FunctionType) and func.__name__ != '<lambda>':
            texts = [describe.text(s) for s in inputs]
            expect = {'error': True}
            if result is not None:
                expect = {'annotation': describe.text(result)}
            case = {'args': [', '.join(texts)], 'expect': expect, 'kind': 'annotation'}
            write(func, case, call_line)
    except (describe.Unknown, SyntaxError, IOError, TypeError, ValueError):
        pass


def caller_line():
    """The line of the innermost frame that is in a test file."""
    frame = sys._getframe(1)
    while frame is not None:
        name = os.path.basename(frame.f_code.co_filename)
        if frame.f_code.co_name.startswith('test_') and name.startswith('test_'):
            return frame.f_lineno
        frame = frame.f_back
    return 1 << 30


calls = plain_python.Calls(record_call)


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
    cutter.test_class[0] = getattr(item, 'cls', None)
    if plain_test(item) is not None:
        calls.start()


def pytest_runtest_teardown(item):
    calls.stop()
    func = plain_test(item)
    if func is not None:
        record_test(func)


def pytest_configure(config):
    cases = os.path.join(OUT, 'cases.jsonl')
    if os.path.exists(cases):
        # Names of cases go on from earlier test files.
        with open(cases) as f:
            counter[0] = sum(1 for _ in f)

    from rpython.rtyper.test import test_llinterp as t

    plain_interpret = t.interpret
    plain_raises = t.interpret_raises

    def interpret(func, values, *args, **kwds):
        result = plain_interpret(func, values, *args, **kwds)
        value = plain(result)
        record(func, values, {'any': True} if value is UNKNOWN else {'ok': value}, 'interpret',
               caller_line())
        return result

    def interpret_raises(exc, func, values, *args, **kwds):
        result = plain_raises(exc, func, values, *args, **kwds)
        record(func, values, {'raises': exc.__name__}, 'interpret', caller_line())
        return result

    t.interpret = interpret
    t.interpret_raises = interpret_raises

    from rpython.translator.c.test import test_genc

    def compile(fn, argtypes, *args, **kwds):
        """Stands for the C build: the Python function itself, recorded."""
        def call(*values, **keywords):
            expected = keywords.get('expected_exception_name')
            try:
                result = fn(*values)
            except Exception as e:
                if expected is not None:
                    record(fn, values, {'raises': type(e).__name__}, 'c', caller_line())
                    return None
                # What the test does not expect is a failure of the stand-in: plain
                # Python has no addresses and no C functions.
                result = plain_interpret(fn, list(values))
            value = plain(result)
            record(fn, values, {'any': True} if value is UNKNOWN else {'ok': value}, 'c',
                   caller_line())
            return result
        return call

    test_genc.compile = compile

    from rpython.annotator import model
    from rpython.annotator.annrpython import RPythonAnnotator

    plain_build = RPythonAnnotator.build_types

    def build_types(self, function, input_arg_types, *args, **kwds):
        inputs = [self.typeannotation(t) for t in input_arg_types]
        first = not self.annotated
        try:
            result = plain_build(self, function, input_arg_types, *args, **kwds)
        except model.AnnotatorError:
            record_annotation(function, inputs, None, caller_line())
            raise
        if first and not self.errors:
            record_annotation(function, inputs, result, caller_line())
        return result

    if 'annotator' in os.environ.get('TAIPAN_KINDS', ''):
        RPythonAnnotator.build_types = build_types
