"""Clocks and sleep."""
import time as _time

CLOCK_REALTIME = 0
CLOCK_MONOTONIC = 1
CLOCK_PROCESS_CPUTIME_ID = 2
CLOCK_THREAD_CPUTIME_ID = 3
HAS_CLOCK_GETTIME = True
HAS_CLOCK_MONOTONIC = True


def _clock_ns(clock):
    """Nanoseconds of one of the system's clocks."""
    return 0


def time():
    """Seconds since the epoch."""
    return _time.time()


def clock():
    """CPU seconds of this process."""
    return _time.clock()


def sleep(secs):
    _time.sleep(secs)
