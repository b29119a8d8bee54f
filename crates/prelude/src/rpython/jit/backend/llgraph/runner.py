"""The original toolchain's simulated processor: a name for what programs import to test their
hints, which they cannot do here."""


class LLGraphCPU(object):

    def __init__(self, *args, **kwds):
        raise NotImplementedError("there is no just-in-time compiler to simulate")
