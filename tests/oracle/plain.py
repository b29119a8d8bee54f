"""Cases from tests that run library code as plain Python.

Python 2.7. Many tests of rlib neither translate nor interpret anything: they call
functions of a module and look at what comes back. That code is RPython, so each such
call makes a case, and so does each whole test whose body is RPython but for the calls
of `raises`, which become try statements. The original toolchain has not seen these as
translated code: `run.py judge` asks it.
"""
import opcode
import re
import sys
import types

RETURNS = (opcode.opmap['RETURN_VALUE'],)
PREFIX = 'rpython.rlib.'


def translates(func):
    """Whether a test runs translated code itself."""
    names = set()
    codes = [func.__code__]
    while codes:
        code = codes.pop()
        names.update(code.co_names)
        codes += [c for c in code.co_consts if isinstance(c, types.CodeType)]
    return bool(names & set(['interpret', 'interpret_raises', 'compile', 'getcompiled', 'gengraph',
                             'build_types', 'compile_function', 'Translation', 'meta_interp',
                             'RPythonAnnotator', 'annotate', 'translate', 'skip', 'setattr',
                             'monkeypatch', 'subprocess', 'interp_operations']))


class Calls(object):
    """Notes the calls that test code makes of functions and methods of rlib."""

    def __init__(self, record):
        self.record = record
        self.open = {}
        self.seen = set()

    def start(self):
        self.open.clear()
        sys.setprofile(self.event)

    def stop(self):
        sys.setprofile(None)

    def event(self, frame, event, arg):
        if event == 'call':
            caller = frame.f_back
            name = frame.f_globals.get('__name__', '')
            if caller is None or not name.startswith(PREFIX) or '.test.' in name:
                return
            home = caller.f_globals.get('__name__') or ''
            if home.rsplit('.', 1)[-1].startswith('test_'):
                call = Call.of(frame)
                if call is not None:
                    self.open[id(frame)] = call
        elif event == 'return':
            call = self.open.pop(id(frame), None)
            if call is not None and call.text() not in self.seen:
                self.seen.add(call.text())
                last = ord(frame.f_code.co_code[frame.f_lasti])
                sys.setprofile(None)
                try:
                    self.finish(call, arg, last in RETURNS)
                finally:
                    sys.setprofile(self.event)

    def finish(self, call, value, returned):
        if returned:
            spelling, value = result(value)
            if spelling is not None:
                self.record(call, spelling, {'ok': value})
        else:
            try:
                call.again()
            except Exception as e:
                self.record(call, '%s', {'raises': type(e).__name__})


class Call(object):
    """One call: how it is spelled in a module of its own, and with which arguments."""

    def __init__(self, home, target, values, args):
        self.home = home
        self.target = target
        self.values = values
        self.spellings = [s for s, _ in args]
        self.literals = [l for s, l in args if '%s' in s]
        self.called = ', '.join([l for _, l in args])

    @staticmethod
    def of(frame):
        code = frame.f_code
        if code.co_flags & 0x2c:  # stars, generators
            return None
        home = frame.f_globals['__name__']
        if 'fd' in code.co_varnames[:code.co_argcount]:
            return None  # is open in the process of the test only
        values = [frame.f_locals[n] for n in code.co_varnames[:code.co_argcount]]
        args = [argument(v, i) for i, v in enumerate(values)]
        if None in args:
            return None
        func = frame.f_globals.get(code.co_name)
        if code_of(func) is code:
            return Call(home, code.co_name, values, args)
        if values and is_rbigint(values[0]):
            method = vars(type(values[0])).get(code.co_name)
            if code_of(method) is code:
                return Call(home, 'rbigint.' + code.co_name, values, args)
        return None

    def text(self):
        return '%s.%s(%s)' % (self.home, self.target, self.called)

    def again(self):
        value = sys.modules[self.home]
        for name in self.target.split('.'):
            value = getattr(value, name)
        value(*self.values)

    def module(self, spelling):
        """The text of a module that makes the call in its function `case`."""
        names = ['a%d' % i for i in range(len(self.spellings))]
        target = self.target
        args = [s % n if '%s' in s else s for s, n in zip(self.spellings, names)]
        if target.startswith('rbigint.'):
            target = '%s.%s' % (args[0], target[len('rbigint.'):])
            args = args[1:]
        lines = ['from %s import %s' % (self.home, self.target.split('.')[0])]
        if any('rbigint' in s for s in self.spellings):
            lines.append('from rpython.rlib.rbigint import rbigint')
        params = [n for n, s in zip(names, self.spellings) if '%s' in s]
        lines += ['', 'def case(%s):' % ', '.join(params),
                  '    r = %s(%s)' % (target, ', '.join(args)),
                  '    return %s' % (spelling % 'r' if '%s' in spelling else spelling), '']
        return '\n'.join(lines)


def code_of(func):
    return getattr(getattr(func, '__func__', func), '__code__', None)


def is_rbigint(x):
    return type(x).__name__ == 'rbigint'


def argument(x, index):
    """How an argument is spelled in terms of a parameter, and the literal for that."""
    if x is None or x is True or x is False:
        return repr(x), repr(x)
    if is_rbigint(x):
        return 'rbigint.fromdecimalstr(%s)', repr(x.str())
    if type(x) in (int, float, str, unicode):
        return '%s', repr(x)
    if type(x) is list and x and type(x[0]) in (int, str, float) and len(set(map(type, x))) == 1:
        return '%s', repr(x)
    return None


def result(x):
    """How a result is turned into one that can be printed, and its value."""
    if is_rbigint(x):
        return '%s.str()', x.str()
    if type(x) is tuple and x and len(x) < 5:
        parts = [result(y) for y in x]
        if any(s is None for s, _ in parts):
            return None, None
        spelled = [s % ('r[%d]' % i) if '%s' in s else s for i, (s, _) in enumerate(parts)]
        return '(%s,)' % ', '.join(spelled), [v for _, v in parts]
    if x is None or type(x) in (bool, int, str, unicode, float):
        if type(x) is float and (x != x or x in (float('inf'), float('-inf'))):
            x = 'nan' if x != x else 'inf' if x > 0 else '-inf'
        return '%s', x
    if isinstance(x, long) and type(x) is not long and -2**63 <= x < 2**63:
        return '%s', int(x)
    return None, None


RAISES = re.compile(r'^(\s*)(?:with )?(?:py\.test\.|pytest\.)?raises\((.*)$')


def as_rpython(lines):
    """The lines of a test with `raises` calls as try statements; None where one is not
    of the simple kinds."""
    out = []
    i = 0
    while i < len(lines):
        line = lines[i]
        i += 1
        found = RAISES.match(line)
        if not found:
            if 'raises' in line or 'py.test' in line:
                return None
            out.append(line)
            continue
        margin, rest = found.groups()
        out.append(margin + 'try:')
        if line.lstrip().startswith('with '):
            if not rest.endswith('):'):
                return None
            error = rest[:-2]
            while i < len(lines) and (not lines[i].strip() or lines[i].startswith(margin + ' ')):
                out.append(lines[i])
                i += 1
        else:
            while rest.count('(') + 1 > rest.count(')') and i < len(lines):
                rest += ' ' + lines[i].strip()
                i += 1
            call = re.match(r'^(\w+|\([\w, ]+\)), ([\w.]+)(?:, (.*))?\)$', rest)
            if not call:
                return None
            error, func, args = call.groups()
            out.append('%s    %s(%s)' % (margin, func, args or ''))
        out += ['%sexcept %s:' % (margin, error), margin + '    pass',
                margin + 'else:', margin + '    raise AssertionError']
    return out
