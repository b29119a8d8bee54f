"""`print` for the debugger of data."""


def pprint(x, *args, **kwds):
    print repr(x)


def pformat(x, *args, **kwds):
    return repr(x)
