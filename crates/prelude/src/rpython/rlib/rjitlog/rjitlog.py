"""The log of the tracing JIT, which nothing writes."""


# What the results of a driver's get_location() are: a number for the kind, and the type.
MP_STR = (0x0, 's')
MP_INT = (0x0, 'i')
MP_FILENAME = (0x1, 's')
MP_LINENO = (0x2, 'i')
MP_INDEX = (0x4, 'i')
MP_SCOPE = (0x8, 's')
MP_OPCODE = (0x10, 's')


def returns(*kinds):
    """Marks a get_location() function with the kinds of its results."""
    def mark(func):
        func._loc_types = kinds
        return func
    return mark


class JitlogError(Exception):
    def __init__(self, msg):
        self.msg = msg

    def __str__(self):
        return self.msg


def enable_jitlog(fileno):
    """Where the log would go."""
    raise JitlogError("this program was compiled without the log of the JIT")


def disable_jitlog():
    pass


def stats_flush_trace_counts(warmrunnerdesc):
    pass


# What the parts of a location mean: a bit, and the letter of their type.
MP_STR, MP_INT = (0x0, 's'), (0x0, 'i')
MP_FILENAME, MP_LINENO = (0x1, 's'), (0x2, 'i')
MP_INDEX, MP_SCOPE, MP_OPCODE = (0x4, 'i'), (0x8, 's'), (0x10, 's')


def returns(*args):
    """A decorator of the `get_location` of a driver: what the parts of its result mean."""
    def decor(method):
        method._loc_types = args
        return method
    return decor
