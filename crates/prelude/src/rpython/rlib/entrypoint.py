"""Functions that a library offers to C. Programs are translated for their own entry
point, so the decorators only leave the functions as they are."""

# The functions that C may call and the types of their arguments, by key.
secondary_entrypoints = {"main": []}


def entrypoint_highlevel(key, argtypes, c_name=None):
    """A decorator: the function as it is."""
    def deco(func):
        secondary_entrypoints.setdefault(key, []).append((func, argtypes))
        return func
    return deco


entrypoint_lowlevel = entrypoint_highlevel
