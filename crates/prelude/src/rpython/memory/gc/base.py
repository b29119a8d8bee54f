"""Names of collectors, for programs that derive classes from them."""


class GCBase(object):
    """No collector: Taipan's is not written in RPython."""

    TRANSLATION_PARAMS = {}


class MovingGCBase(GCBase):
    moving_gc = True
