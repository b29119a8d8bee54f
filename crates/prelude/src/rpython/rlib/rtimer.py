"""A fast clock, for measuring."""
from rpython.rlib import rtime
from rpython.rlib.rarithmetic import r_longlong

_is_64_bit = True

UNIT_TSC = 0
UNIT_NS = 1
UNIT_QUERY_PERFORMANCE_COUNTER = 2


def read_timestamp():
    """The time, in what `get_timestamp_unit` says."""
    return rtime._clock_ns(rtime.CLOCK_MONOTONIC)


def get_timestamp_unit():
    return UNIT_NS
