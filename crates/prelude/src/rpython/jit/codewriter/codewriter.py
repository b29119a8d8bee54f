"""What the original toolchain makes a just-in-time compiler of: a name for what programs import
to test their hints, which they cannot do here."""


class CodeWriter(object):

    def __init__(self, *args, **kwds):
        raise NotImplementedError("there is no just-in-time compiler to write code for")
