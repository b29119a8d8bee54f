"""What goes wrong with C declarations."""


class CDefError(Exception):
    """C text that cannot be used. The message says why, and where it stands."""
