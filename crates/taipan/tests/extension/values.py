"""Values on their way between Python and the program."""
from rpython.rlib import types
from rpython.rlib.objectmodel import enforceargs
from rpython.rlib.rarithmetic import r_uint
from rpython.rlib.signature import signature

ANSWER = 42
BIG = 1 << 80
RATIO = 3.25
NAME = 'caf\xc3\xa9'
WIDE = u'\u20ac'
ON = True
_hidden = 7


def add(a, b=3):
    # type: (int, int) -> int
    """Adds two numbers."""
    return a + b


def negate(x):  # type: (float) -> float
    return -x


def invert(flag):
    # type: (bool) -> bool
    return not flag


def successor(n):
    # type: (r_uint) -> r_uint
    return n + r_uint(1)


def text(s):
    # type: (str) -> str
    return s + s


def first(s):
    # type: (str) -> str
    return s[0]


def size(s):
    # type: (str) -> int
    return len(s)


def raw(b, end=b'.'):
    # type: (bytes, bytes) -> bytes
    return b + '\xff\x00' + end


def wide(u, end=u'\u20ac'):
    # type: (unicode, unicode) -> unicode
    return u[1:] + end


def maybe(s):
    # type: (Optional[str]) -> Optional[str]
    if s is None or s == '':
        return None
    return s + '!'


def nothing(n):
    # type: (int) -> None
    pass


def mean(xs):
    # type: (List[float]) -> float
    total = 0.0
    for x in xs:
        total += x
    return total / len(xs)


def grown(xs):
    # type: ([int]) -> [int]
    xs.append(len(xs))
    return xs


def same(xs):
    # type: (Optional[List[int]]) -> Optional[List[int]]
    return xs


def words(s, sep=' '):
    # type: (str, str) -> List[str]
    return s.split(sep)


def count(all):
    # type: (List[str]) -> Dict[str, int]
    d = {}
    for w in all:
        d[w] = d.get(w, 0) + 1
    return d


def inverted(d):
    # type: (Dict[int, str]) -> Dict[str, int]
    result = {}
    for n, s in d.iteritems():
        result[s] = n
    return result


def pair(p, flag=False):
    # type: (Tuple[int, str], bool) -> Tuple[str, int, float]
    n, s = p
    if flag:
        n = -n
    return s, n, n * 0.5


def matrix(n):
    # type: (int) -> List[List[int]]
    return [[i * j for j in range(n)] for i in range(n)]


def nested(d):
    # type: (Dict[str, List[Tuple[int, Optional[str]]]]) -> Dict[str, List[Tuple[int, str]]]
    result = {}
    for key, items in d.iteritems():
        result[key] = [(n, s) for n, s in items if s is not None]
    return result


@enforceargs(int, str, [int])
def forced(a, b, c):
    return a + len(b) + len(c)


@enforceargs(str)
def forced_text(s):
    return s.upper()


@signature(types.int(), types.str(), returns=types.list(types.str()))
def signed(n, s):
    return [s] * n


def fib(n):
    # type: (int) -> int
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)


def undeclared(x):
    return x


def _private(n):
    # type: (int) -> int
    return n
