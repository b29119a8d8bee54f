"""Functions that a program offers to C. `taipan build --shared` makes a library of them; other
programs are translated for their own entry point alone."""

# The functions that C may call and the types of their arguments, by key.
secondary_entrypoints = {"main": []}

# The same with the names that C knows the functions by.
c_entrypoints = {}


def entrypoint_highlevel(key, argtypes, c_name=None):
    """A decorator: the function as it is, which C calls by that name or its own."""
    def deco(func):
        secondary_entrypoints.setdefault(key, []).append((func, argtypes))
        name = c_name or func.__name__
        c_entrypoints.setdefault(key, []).append((func, argtypes, name))
        return func
    return deco


def entrypoint_lowlevel(key, argtypes, c_name=None, relax=False):
    """The same: the lock of the threads is taken for each function that C calls."""
    return entrypoint_highlevel(key, argtypes, c_name)
