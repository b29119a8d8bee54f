"""Shallow and deep copies."""


class Error(Exception):
    pass


error = Error


def _instance(x):
    if isinstance(x, (list, dict, set)):
        return type(x)(x)
    y = _Empty()
    y.__class__ = x.__class__
    return y


class _Empty(object):
    pass


def copy(x):
    if isinstance(x, (int, long, float, str, unicode, tuple, frozenset, type)) or x is None:
        return x
    if hasattr(x, '__copy__'):
        return x.__copy__()
    if type(x) in (list, dict, set):
        return type(x)(x)
    if not hasattr(x, '__dict__') or callable(x):
        return x
    y = _instance(x)
    y.__dict__.update(x.__dict__)
    return y


def deepcopy(x, memo=None):
    if memo is None:
        memo = {}
    if id(x) in memo:
        return memo[id(x)]
    if isinstance(x, (int, long, float, str, unicode, type)) or x is None:
        return x
    if hasattr(x, '__deepcopy__'):
        y = memo[id(x)] = x.__deepcopy__(memo)
        return y
    if type(x) is tuple:
        return tuple([deepcopy(item, memo) for item in x])
    if type(x) is frozenset:
        return frozenset([deepcopy(item, memo) for item in x])
    if type(x) is list:
        y = memo[id(x)] = []
        y.extend([deepcopy(item, memo) for item in x])
        return y
    if type(x) is set:
        y = memo[id(x)] = set([deepcopy(item, memo) for item in x])
        return y
    if type(x) is dict:
        y = memo[id(x)] = {}
        for key in x:
            y[deepcopy(key, memo)] = deepcopy(x[key], memo)
        return y
    if not hasattr(x, '__dict__') or callable(x):
        return x
    y = memo[id(x)] = _instance(x)
    for name in x.__dict__:
        y.__dict__[name] = deepcopy(x.__dict__[name], memo)
    return y


# The remedy that the compiler shows where translated code calls these.
for _function in [copy, deepcopy]:
    _function._instead_ = 'make the copy by hand: `items[:]` of a list, a new instance with the same attributes'
