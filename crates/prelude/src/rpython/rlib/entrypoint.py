"""Functions that a library offers to C. Programs are translated for their own entry
point, so the decorators only leave the functions as they are."""

def entrypoint_highlevel(key, argtypes, c_name=None):
    """A decorator: the function as it is."""
    def deco(func):
        return func
    return deco


entrypoint_lowlevel = entrypoint_highlevel
