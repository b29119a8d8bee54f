"""Clocks and sleep."""
import time as _time

from rpython.rlib.rarithmetic import intmask
from rpython.rtyper.lltypesystem import lltype, rffi

CLOCK_REALTIME = 0
CLOCK_MONOTONIC = 1
CLOCK_PROCESS_CPUTIME_ID = 2
CLOCK_THREAD_CPUTIME_ID = 3
CLOCK_MONOTONIC_RAW = 4
CLOCK_REALTIME_COARSE = 5
CLOCK_MONOTONIC_COARSE = 6
CLOCK_BOOTTIME = 7
ALL_DEFINED_CLOCKS = ['CLOCK_REALTIME', 'CLOCK_REALTIME_COARSE', 'CLOCK_MONOTONIC',
                      'CLOCK_MONOTONIC_COARSE', 'CLOCK_MONOTONIC_RAW', 'CLOCK_BOOTTIME',
                      'CLOCK_PROCESS_CPUTIME_ID', 'CLOCK_THREAD_CPUTIME_ID']
HAS_CLOCK_GETTIME = True
HAS_CLOCK_GETTIME_RUNTIME = True
HAS_CLOCK_MONOTONIC = True

TIMEVAL = rffi.CStruct('timeval', ('tv_sec', rffi.LONG), ('tv_usec', rffi.LONG))
TIMESPEC = rffi.CStruct('timespec', ('tv_sec', rffi.LONG), ('tv_nsec', rffi.LONG))


def external(name, args, result):
    return rffi.llexternal(name, args, result, save_err=rffi.RFFI_SAVE_ERRNO)

c_clock_gettime = external('clock_gettime', [lltype.Signed, lltype.Ptr(TIMESPEC)], rffi.INT)
c_clock_settime = external('clock_settime', [lltype.Signed, lltype.Ptr(TIMESPEC)], rffi.INT)
c_clock_getres = external('clock_getres', [lltype.Signed, lltype.Ptr(TIMESPEC)], rffi.INT)
c_gettimeofday = external('gettimeofday', [lltype.Ptr(TIMEVAL), rffi.VOIDP], rffi.INT)


def decode_timeval(t):
    """Seconds, as float."""
    return float(intmask(t.c_tv_sec)) + float(intmask(t.c_tv_usec)) * 0.000001

def decode_timeval_ns(t):
    """Nanoseconds."""
    return t.c_tv_sec * 1000000000 + t.c_tv_usec * 1000


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
