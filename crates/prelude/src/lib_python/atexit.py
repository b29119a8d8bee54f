"""Nothing runs at the end of import time."""


def register(func, *args, **kwds):
    return func
