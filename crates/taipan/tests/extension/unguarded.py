"""Operations whose operands do not fit, where nothing in the module catches what they raise."""
from rpython.rlib.rarithmetic import intmask, r_uint

def div(a, b):
    # type: (int, int) -> int
    return a / b

def ratio(a, b):
    # type: (float, float) -> float
    return a / b

def mod(a, b):
    # type: (int, int) -> int
    return a % b

def quotient_and_rest(a, b):
    # type: (int, int) -> int
    q, r = divmod(a, b)
    return q * 1000 + r

def item(n):
    # type: (int) -> int
    return [1, 2][n + 5]

def item_of(l, n):
    # type: (List[int], int) -> int
    return l[n]

def set_item(l, n):
    # type: (List[int], int) -> List[int]
    l[n] = 7
    return l

def del_item(l, n):
    # type: (List[int], int) -> List[int]
    del l[n]
    return l

def pop(l):
    # type: (List[int]) -> int
    return l.pop()

def pop_at(l, n):
    # type: (List[int], int) -> int
    return l.pop(n)

def char_of(s, n):
    # type: (str, int) -> str
    return s[n]

def wide_char_of(s, n):
    # type: (unicode, int) -> unicode
    return s[n]

def part(s, a, b):
    # type: (str, int, int) -> str
    assert a >= 0
    assert b >= 0
    return s[a:b]

def rest(s, a):
    # type: (str, int) -> str
    assert a >= 0
    return s[a:]

def parts(l, a, b):
    # type: (List[int], int, int) -> List[int]
    assert a >= 0
    assert b >= 0
    return l[a:b]

def rests(l, a):
    # type: (List[int], int) -> List[int]
    assert a >= 0
    return l[a:]

def char(n):
    # type: (int) -> str
    return chr(n)

def wide_char(n):
    # type: (int) -> unicode
    return unichr(n)

def insert(l, n):
    # type: (List[int], int) -> List[int]
    assert n >= 0
    l.insert(n, 9)
    return l

def del_slice(l, a, b):
    # type: (List[int], int, int) -> List[int]
    assert a >= 0
    assert b >= 0
    del l[a:b]
    return l

def set_slice(l, a, b):
    # type: (List[int], int, int) -> List[int]
    assert a >= 0
    assert b >= 0
    l[a:b] = [1, 2]
    return l

def times(l, n):
    # type: (List[int], int) -> List[int]
    return l * n

def times_text(l, n):
    # type: (str, int) -> str
    return l * n

def of_range(n, m):
    # type: (int, int) -> int
    return range(n)[m]

def left(a, n):
    # type: (int, int) -> int
    return a << n

def right(a, n):
    # type: (int, int) -> int
    return a >> n

def to_int(x):
    # type: (float) -> int
    return int(x)

def value_of(d, k):
    # type: (Dict[str, int], str) -> int
    return d[k]

def pair(n):
    # type: (int) -> int
    assert n >= 0
    a, b = [1, 2, 3][:n]
    return a * 10 + b

def of_bytes(n):
    # type: (int) -> int
    b = bytearray('abc')
    b[n] = 5
    return b[n]

def of_three(n):
    # type: (int) -> int
    t = (1, 2, 3)
    return [t[0], t[1], t[2]][n]

def other_handler(l, n):
    # type: (List[int], int) -> int
    try:
        return l[n]
    except KeyError:
        return -1

def handled(l, n):
    # type: (List[int], int) -> int
    try:
        return l[n] / n
    except ZeroDivisionError:
        return -1

def steps(n):
    # type: (int) -> int
    it = iter([1, 2])
    for i in range(n):
        it.next()
    return n

def unsigned(a, b):
    # type: (int, int) -> int
    return intmask(r_uint(a) // r_uint(b))


# What a function of the module catches stays inside, also when another one raises.

def caught_outside(l, n):
    # type: (List[int], int) -> int
    try:
        return item_of(l, n) % (n + 1)
    except IndexError:
        return -1
    except ZeroDivisionError:
        return -2
