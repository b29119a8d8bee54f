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
    pass


def pick(items, i):
    if i == 100:
        raise Problem
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
