"""What goes wrong while packing and unpacking."""


class StructError(Exception):
    def __init__(self, msg):
        self.msg = msg

    def __str__(self):
        return self.msg


class StructOverflowError(StructError):
    """A number that does not fit its place."""
