"""Of the original toolchain's annotator: what modules import that extend it there. Nobody
asks them here."""


class InstanceSource(object):
    """Where an attribute of a prebuilt instance comes from."""

    def __init__(self, bookkeeper, obj):
        self.bookkeeper = bookkeeper
        self.obj = obj
