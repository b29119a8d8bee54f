def f(n):
    return n + 1


def total(items):
    result = 0
    for item in items:
        result += item
    return result


def half(x):
    return x / 2.0


class Problem(Exception):
    def __init__(self, msg):
        self.msg = msg


def pick(items, i):
    if i == 100:
        raise Problem('no place %d' % i)
    try:
        return items[i]
    except IndexError:
        raise


def pair(text, flag):
    return text + '!', flag


def wrong(n):
    if n > 3:
        return 'many'
    return n


def echo(text):
    return text


def size(text):
    return len(text)


def count(text):
    counts = {}
    for c in text:
        counts[c] = counts.get(c, 0) + 1
    return counts


def value(d, key):
    return d[key]


def item(items, i):
    return items[i]


WORDS = ['one', 'two', 'three']


def word(i):
    return WORDS[i]


def divide(a, b):
    return a // b


def endless(n):
    return endless(n + 1) + 1


class Box(object):
    def __init__(self, n):
        self.n = n


def box(n):
    if n == 0:
        return None
    return Box(n + 6)


def attribute(n):
    return box(n).n


def shout(n):
    print 'three times', n
    return 3 * n


def first(text, n):
    return text[:n]
