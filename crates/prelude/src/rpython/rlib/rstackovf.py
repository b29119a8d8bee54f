"""Stack overflow as an exception: `except StackOverflow` followed by
`check_stack_overflow()`, which lets every other RuntimeError through."""


class _StackOverflow(RuntimeError):
    """What a function raises whose frame does not fit the stack."""

StackOverflow = (RuntimeError,)


def check_stack_overflow():
    """To be called in a handler of StackOverflow."""
