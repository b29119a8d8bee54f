import traceback

import errors


def raised(f, *args):
    try:
        f(*args)
    except Exception as e:
        return e
    assert False, 'nothing was raised'


def way(e):
    return [(f.name, f.line) for f in traceback.extract_tb(e.__traceback__)][1:]


e = raised(errors.fail, 'parse')
assert type(e) is errors.ParseError and e.args == ('bad',) and str(e) == 'bad'
assert way(e) == [('fail', 'def fail(what):'), ('check', "raise ParseError('bad', 3)")], way(e)
assert traceback.extract_tb(e.__traceback__)[1].filename.endswith('errors.py')
e = raised(errors.fail, 'deep')
assert type(e) is errors.Deep and isinstance(e, errors.ParseError)
assert str(e) == 'deep very at 4'
e = raised(errors.fail, 'missing')
assert type(e) is errors.Missing and isinstance(e, KeyError) and e.args == ()
e = raised(errors.fail, 'hidden')
assert type(e).__name__ == '_Hidden' and isinstance(e, ValueError) and str(e) == 'unseen'
assert not hasattr(errors, '_Hidden')
assert (errors.Deep.__module__, errors.Deep.__qualname__) == ('errors', 'Deep')
e = raised(errors.fail, 'os')
assert type(e) is FileNotFoundError and e.errno == 2
assert str(e) == '[Errno 2] No such file or directory'
for what, error in [('stop', StopIteration), ('memory', MemoryError), ('assert', AssertionError)]:
    assert type(raised(errors.fail, what)) is error
assert errors.fail('nothing') is None

e = raised(errors.divide, 1, 0)
assert type(e) is ZeroDivisionError and [name for name, _ in way(e)] == ['divide'], way(e)
assert errors.divide(7, 2) == 3
assert type(raised(errors.lookup, {'a': 1}, 'b')) is KeyError
assert errors.lookup({'a': 1}, 'a') == 1
e = raised(errors.number, 'x')
assert type(e) is ValueError and way(e) == [('number', 'def number(s):')], way(e)
assert errors.number('12') == 12

# The stack is deep, and ends.
e = raised(errors.forever, 1)
assert isinstance(e, RuntimeError)
assert set(way(e)) == {('forever', 'return forever(n + 1) + 1')}

# Those that the program catches are its own affair.
assert errors.many(1000) == [4] * 1000
e = raised(errors.fail, 'parse')
assert [name for name, _ in way(e)] == ['fail', 'check']

# They are caught by their bases, and hold on to nothing.
import gc
import weakref
try:
    errors.fail('deep')
except errors.ParseError as e:
    kept = weakref.ref(e)
gc.collect()
assert kept() is None
