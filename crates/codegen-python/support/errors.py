# ------------------------------------------------------------------------------
# Exceptions
# ------------------------------------------------------------------------------

# The class and the instance of exceptions that operations raise.
OVERFLOW = []
OUT_OF_MEMORY = []
STACK_OVERFLOW = []


class Raised(Exception):
    """An exception of the program: its class, which is a vtable, and its instance."""

    def __init__(self, etype, evalue):
        Exception.__init__(self)
        self.etype = etype
        self.evalue = evalue

    def name(self):
        return bytes(self.etype.name.chars).decode('latin-1')

    def __str__(self):
        return self.name()


class Exit(BaseException):
    """The program ends the process."""

    def __init__(self, code):
        BaseException.__init__(self)
        self.code = code


def raised(error):
    """The exception of the program that Python has caught."""
    if type(error) is Raised:
        return error
    return Raised(*STACK_OVERFLOW)


def catches(error, cls):
    """Whether an exception is of a class or of a subclass."""
    etype = error.etype
    if etype is cls:
        return True
    return cls.subclassrange_min <= etype.subclassrange_min < cls.subclassrange_max


def debug_assert(condition):
    if not condition:
        raise Fault('debug_assert failed')
