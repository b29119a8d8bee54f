"""Python's own format of code and values. While a program loads, nothing is in it."""

version = 2


def _refuse(*args):
    raise ValueError("import-time code cannot use the format of Python's bytecode")

dump = dumps = load = loads = _refuse
