"""Warnings are not shown."""


def warn(message, category=None, stacklevel=1):
    pass


def filterwarnings(*args, **kwds):
    pass


def simplefilter(*args, **kwds):
    pass


def warn_explicit(*args, **kwds):
    pass
