"""How deep the stack is."""


def stack_almost_full():
    """Whether it is time to stop recursing."""
    return False


def stack_check():
    """Translated functions check the stack by themselves."""


def stack_check_slowpath(current):
    pass


def _stack_set_length_fraction(fraction):
    pass


def _stack_criticalcode_start():
    pass


def _stack_criticalcode_stop():
    pass
