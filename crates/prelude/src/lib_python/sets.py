"""The sets that Python had before it had sets."""


class BaseSet(object):
    """What the two kinds have in common."""


class Set(set, BaseSet):
    pass


class ImmutableSet(frozenset, BaseSet):
    pass
