"""The part of the recorder for tests of the tracing JIT (`rpython/jit/metainterp/test`).

Python 2.7. Nothing is compiled just in time: what a test wants to have compiled is run by
plain Python, and makes a case of its own. A function that a test has traced once
(`interp_operations`) gets a loop with a driver around it.
"""
import signal
import types

import cutter
from values import outcome, plain

KINDS = ('meta_interp', 'interp_operations')
# Where plain Python takes longer any result will do.
SECONDS = 3
# How often the loop around a function comes by.
ROUNDS = 5


class Anything(object):
    """Stands for what tests look at afterwards: loops, statistics."""

    def __getattr__(self, name):
        if name.startswith('__'):
            raise AttributeError(name)
        return self

    def __call__(self, *args, **kwds):
        return self

    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False

    def __getitem__(self, key):
        return self

    def __len__(self):
        return 1

    def __iter__(self):
        return iter([])


def install(record, place_of):
    """Has the tests note what they would compile."""
    from rpython.jit.metainterp import warmspot
    from rpython.jit.metainterp.test import support

    def noting(kind):
        def note(function, args, **kwds):
            opaque = functions_of(kwds.get('policy'))
            place = place_of(function)
            try:
                return in_time(function, args)
            finally:
                record(function, args, {'any': True}, kind, place, opaque=opaque)
        return note

    # They compile programs of toy languages.
    cutter.RUNS.discard('compile')
    meta_interp = noting('meta_interp')
    interp_operations = noting('interp_operations')
    warmspot.ll_meta_interp = support.ll_meta_interp = meta_interp
    warmspot.get_stats = support.get_stats = Anything
    support.JitMixin.meta_interp = lambda self, f, args, *more, **kwds: meta_interp(f, args, **kwds)
    support.JitMixin.interp_operations = (
        lambda self, f, args, **kwds: interp_operations(f, args, **kwds))
    for name in dir(support.JitMixin):
        if name.startswith('check_'):
            setattr(support.JitMixin, name, lambda *args, **kwds: None)


def functions_of(policy):
    """The names of the functions that a policy does not look inside."""
    functions = getattr(policy, 'funcs', ())
    return [f.__name__ for f in functions
            if isinstance(f, types.FunctionType) and f.__name__ != '<lambda>']


class TooSlow(Exception):
    pass


def too_slow(*_):
    raise TooSlow


def in_time(function, args):
    before = signal.signal(signal.SIGALRM, too_slow)
    signal.alarm(SECONDS)
    try:
        return function(*args)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def entry(name, case):
    """The name of the function to call, when `rest` has been added."""
    return name if case['kind'] == 'meta_interp' else 'in_a_loop'


def rest(name, case):
    """What a cut needs besides."""
    text = ''.join(['\n%s._jit_look_inside_ = False\n' % f for f in case.pop('opaque')])
    if case['kind'] == 'meta_interp':
        return text
    names = ['a%d' % i for i in range(len(case['args']))]
    live = ['n'] + names
    return text + """
%s._jit_unroll_safe_ = True
from rpython.rlib.jit import JitDriver as DriverOfLoop
driver_of_loop = DriverOfLoop(greens=[], reds=%r)
def in_a_loop(%s):
    n = %d
    while True:
        driver_of_loop.jit_merge_point(%s)
        n -= 1
        result = %s(%s)
        if n == 0:
            return result
""" % (name, live, ', '.join(names), ROUNDS, ', '.join(['%s=%s' % (v, v) for v in live]),
       name, ', '.join(names))


def expected(function, case, muted):
    """What plain Python makes of a case."""
    muted.append(function)
    try:
        value = plain(in_time(function, [eval(text) for text in case['args']]))
    except TooSlow:
        return {'any': True}
    except Exception as e:
        return {'raises': type(e).__name__}
    finally:
        muted.pop()
    if isinstance(value, long) and not -2 ** 63 <= value < 2 ** 63:
        return {'any': True}
    return outcome(value)
