"""The original toolchain's way to run a function in its low-level interpreter: names for what
programs import to test themselves. Here `taipan test` does this from outside."""


class LLException(Exception):
    pass


def get_interpreter(func, values, *args, **kwds):
    raise NotImplementedError("use `taipan call` or `taipan test`")

interpret = interpret_raises = gengraph = get_interpreter
