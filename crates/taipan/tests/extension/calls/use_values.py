import inspect
import sys

import values


def raises(error, text, f, *args, **kwargs):
    try:
        f(*args, **kwargs)
    except error as e:
        assert type(e) is error, e
        assert str(e) == text, str(e)
    else:
        assert False, '%s was not raised' % error


assert values.__doc__ == 'Values on their way between Python and the program.'
assert (values.ANSWER, values.BIG, values.RATIO, values.ON) == (42, 1 << 80, 3.25, True)
assert (values.NAME, values.WIDE) == ('café', '€')
for name in ('_hidden', '_private', 'undeclared', 'r_uint', 'types'):
    assert not hasattr(values, name), name

# Numbers.
assert values.add(1, 2) == 3 and values.add(5) == 8 and values.add(b=1, a=2) == 3
assert values.add(True, -2**63) == -2**63 + 1


class Index:
    def __index__(self):
        return 20


assert values.add(Index(), Index()) == 40
assert values.negate(2) == -2.0 and values.negate(-1.0) == 1.0
assert values.negate(float('inf')) == float('-inf')
assert values.invert(True) is False
assert values.successor(2**64 - 2) == 2**64 - 1
assert values.fib(20) == 6765

# Texts.
assert values.text('é') == 'éé' and values.text(b'ab') == 'abab' and values.text('') == ''
assert values.first('abc') == 'a' and values.first(b'\xff') == '\udcff'
assert values.size('é') == 2 and values.size('\udcff') == 1 and values.size('a\0b') == 3
assert values.text('\udcff€') == '\udcff€\udcff€'
assert values.raw(b'a') == b'a\xff\x00.' and values.raw(b'', end=b'\0') == b'\xff\x00\0'
assert values.wide('aß\U0001f600') == 'ß\U0001f600€' and values.wide('') == '€'
assert values.wide('a\ud800', '') == '\ud800'
assert values.maybe(None) is None and values.maybe('') is None and values.maybe('x') == 'x!'
assert values.nothing(1) is None

# Containers are copied.
assert values.mean([1, 2.5]) == 1.75 and values.mean((2.0,)) == 2.0
xs = [5, 6]
assert values.grown(xs) == [5, 6, 2] and xs == [5, 6] and values.grown([]) == [0]
assert values.same([]) == [] and values.same(None) is None and values.same((1, 2)) == [1, 2]
assert values.words('a b c') == ['a', 'b', 'c'] and values.words('a,b', sep=',') == ['a', 'b']
assert values.count(['a', 'b', 'a']) == {'a': 2, 'b': 1} and values.count([]) == {}
assert values.inverted({1: 'x', -5: 'y'}) == {'x': 1, 'y': -5}
assert values.pair((3, 'x')) == ('x', 3, 1.5) and values.pair((3, 'x'), True) == ('x', -3, -1.5)
assert values.matrix(3) == [[0, 0, 0], [0, 1, 2], [0, 2, 4]] and values.matrix(0) == []
assert values.nested({'a': [(1, 'x'), (2, None)], 'b': []}) == {'a': [(1, 'x')], 'b': []}
assert values.forced(1, 'ab', [1, 2]) == 5 and values.forced_text('ab') == 'AB'
assert values.signed(3, 'ab') == ['ab', 'ab', 'ab']

# Signatures.
assert str(inspect.signature(values.add)) == '(a, b=3)'
assert str(inspect.signature(values.raw)) == "(b, end='.')"
assert values.add.__doc__ == 'Adds two numbers.\n\n(int, int) -> int'
assert values.count.__doc__ == '(List[str]) -> Dict[str, int]'
assert values.add.__module__ == 'values' and values.add.__name__ == 'add'

# What is no argument.
raises(TypeError, "add() missing required argument 'a' (pos 1)", values.add)
raises(TypeError, "add() missing required argument 'a' (pos 1)", values.add, b=2)
raises(TypeError, 'add() takes 2 positional arguments but 3 were given', values.add, 1, 2, 3)
raises(TypeError, 'invert() takes 1 positional argument but 2 were given', values.invert, 1, 2)
raises(TypeError, "add() got an unexpected keyword argument 'c'", values.add, 1, c=2)
raises(TypeError, "add() got multiple values for argument 'a'", values.add, 1, a=2)
raises(TypeError, "add() argument 'b' (pos 2) must be int, not str", values.add, 1, 'x')
raises(TypeError, "add() argument 'a' (pos 1) must be int, not float", values.add, 1.0)
raises(TypeError, "negate() argument 'x' (pos 1) must be float, not str", values.negate, '1')
raises(TypeError, "invert() argument 'flag' (pos 1) must be bool, not int", values.invert, 1)
raises(TypeError, "raw() argument 'b' (pos 1) must be bytes, not str", values.raw, 'x')
raises(TypeError, "wide() argument 'u' (pos 1) must be str, not bytes", values.wide, b'x')
raises(TypeError, "text() argument 's' (pos 1) must be str, not NoneType", values.text, None)
raises(TypeError, "maybe() argument 's' (pos 1) must be str, not int", values.maybe, 3)
raises(TypeError, "mean() argument 'xs' (pos 1) must be list, not int", values.mean, 3)
raises(TypeError, "mean() argument 'xs' (pos 1) item 1 must be float, not str", values.mean, [1.0, 'x'])
raises(TypeError, "count() argument 'all' (pos 1) item 2 must be str, not int", values.count, ['a', 'b', 3])
raises(TypeError, "inverted() argument 'd' (pos 1) a key must be int, not str", values.inverted, {'x': 'y'})
raises(TypeError, "inverted() argument 'd' (pos 1) a value must be str, not int", values.inverted, {1: 1})
raises(TypeError, "pair() argument 'p' (pos 1) must be tuple of 2, not tuple", values.pair, (1,))
raises(TypeError, "nested() argument 'd' (pos 1) a value, item 0, item 0 must be int, not str",
       values.nested, {'a': [('x', 'y')]})

# What does not fit.
raises(OverflowError, "add() argument 'a' (pos 1) is out of range for int", values.add, 2**63)
raises(OverflowError, "add() argument 'a' (pos 1) is out of range for int", values.add, -2**63 - 1)
raises(OverflowError, "successor() argument 'n' (pos 1) is out of range for unsigned int of 64 bits",
       values.successor, -1)
raises(OverflowError, "successor() argument 'n' (pos 1) is out of range for unsigned int of 64 bits",
       values.successor, 2**64)
raises(OverflowError, "grown() argument 'xs' (pos 1) item 0 is out of range for int", values.grown, [2**70])
raises(OverflowError, "mean() argument 'xs' (pos 1) item 0 is out of range for float", values.mean, [10**400])
raises(ValueError, "text() argument 's' (pos 1) is no text in UTF-8", values.text, '\ud800')


# Python code that runs while arguments are looked at may call the module.
class Calls:
    def __index__(self):
        return values.add(1, values.size('abc'))


assert values.add(Calls(), 1) == 5


class Fails:
    def __index__(self):
        raise KeyError('own')


try:
    values.add(Fails())
except KeyError as e:
    assert e.args == ('own',)
else:
    assert False

# Long ones.
big = ['w%d' % (i % 1000) for i in range(100000)]
assert values.count(big) == {'w%d' % i: 100 for i in range(1000)}
assert values.words(' '.join(big)) == big
assert values.text('x' * 10**6) == 'x' * (2 * 10**6)
assert values.grown(list(range(10**5))) == list(range(10**5)) + [10**5]
