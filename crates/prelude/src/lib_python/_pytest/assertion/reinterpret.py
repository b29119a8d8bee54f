"""What is said of an assert that does not hold, in frames of another interpreter."""


def reinterpret(source, frame, should_fail=False):
    """The text of the assert: nothing of it is evaluated again."""
    return str(source).strip()
