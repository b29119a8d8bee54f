# Python features that interpreters written in Python depend on.
from __future__ import division, print_function
import __future__
import inspect
import math

# Builtins that are classes, and descriptors.
print(isinstance(slice(1, 2), slice), isinstance(xrange(3), (str, xrange)), isinstance(3, slice))
print(dict.__getitem__.__get__({'a': 1})('a'), str.upper.__get__('x')(), hasattr(len, '__get__'))


# Flags of code.
def f(a, *args, **kwds):
    "First."
    yield a


flags = f.func_code.co_flags
print([name for name in ('CO_VARARGS', 'CO_VARKEYWORDS', 'CO_GENERATOR')
       if flags & getattr(inspect, name)])
print([name for name in __future__.all_feature_names
       if flags & getattr(__future__, name).compiler_flag & ~0xff])
print(__future__.CO_FUTURE_DIVISION, __future__.division.getMandatoryRelease())

# Texts of functions.
f.func_doc = 'Second.'
print(f.func_doc, f.__doc__)
f.__doc__ = 'Third.'
print(f.func_doc, f.__doc__)

# Keywords that JSON has.
print((lambda **kwds: sorted([str(k) for k in kwds]))(**{u'a': 1, 'b': 2}))
try:
    (lambda **kwds: kwds)(**{3: 4})
except TypeError:
    print('no keyword')


# Smallest and largest arguments of functions.
def value(function, *args):
    try:
        return '%.6g' % (function(*args),)
    except (ValueError, OverflowError) as e:
        return e.__class__.__name__


inf = float('inf')
for name in ('atanh', 'acosh', 'asinh', 'log1p'):
    print(name, [value(getattr(math, name), x) for x in (1.0, -1.0, 0.5, 1e308, -1e308, inf)])
print([value(math.ldexp, x, n) for x in (0.0, 1.5, inf) for n in (-10 ** 20, -3, 2, 10 ** 20)])
