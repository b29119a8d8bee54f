"""Clocks and sleep."""
import time as _time

from rpython.rlib.rarithmetic import intmask
from rpython.rtyper.lltypesystem import lltype, rffi
from rpython.translator.tool.cbuild import ExternalCompilationInfo

CLOCK_REALTIME = 0
CLOCK_MONOTONIC = 1
CLOCK_PROCESS_CPUTIME_ID = 2
CLOCK_THREAD_CPUTIME_ID = 3
CLOCK_MONOTONIC_RAW = 4
CLOCK_REALTIME_COARSE = 5
CLOCK_MONOTONIC_COARSE = 6
CLOCK_BOOTTIME = 7
# Clocks of other systems.
CLOCK_HIGHRES = CLOCK_PROF = CLOCK_UPTIME = None
ALL_DEFINED_CLOCKS = ['CLOCK_REALTIME', 'CLOCK_REALTIME_COARSE', 'CLOCK_MONOTONIC',
                      'CLOCK_MONOTONIC_COARSE', 'CLOCK_MONOTONIC_RAW', 'CLOCK_BOOTTIME',
                      'CLOCK_PROCESS_CPUTIME_ID', 'CLOCK_THREAD_CPUTIME_ID']
HAS_CLOCK_GETTIME = True
HAS_CLOCK_GETTIME_RUNTIME = True
HAS_CLOCK_MONOTONIC = True
HAVE_GETTIMEOFDAY = HAVE_FTIME = HAVE_NANOSLEEP = HAVE_CLOCK_NANOSLEEP = True
# Whether gettimeofday() takes no time zone.
GETTIMEOFDAY_NO_TZ = False
RUSAGE_SELF = 0
libraries = ['rt']
eci = ExternalCompilationInfo(
    includes=['sys/time.h', 'time.h', 'errno.h', 'sys/select.h', 'sys/types.h', 'unistd.h',
              'sys/resource.h', 'sys/timeb.h'])

TIMEVAL = rffi.CStruct('timeval', ('tv_sec', rffi.LONG), ('tv_usec', rffi.LONG))
TIMESPEC = rffi.CStruct('timespec', ('tv_sec', rffi.LONG), ('tv_nsec', rffi.LONG))
TIMEZONE = rffi.CStruct('timezone', ('tz_minuteswest', rffi.INT_real),
                        ('tz_dsttime', rffi.INT_real))
TIMEB = rffi.CStruct('timeb', ('time', rffi.TIME_T), ('millitm', rffi.USHORT),
                     ('timezone', rffi.SHORT), ('dstflag', rffi.SHORT))
# The times that a process used, and the figures behind them.
RUSAGE = rffi.CStruct('rusage', ('ru_utime', TIMEVAL), ('ru_stime', TIMEVAL),
                      ('rest', rffi.CFixedArray(rffi.LONG, 14)))


def external(name, args, result, compilation_info=eci, **kwds):
    return rffi.llexternal(name, args, result, compilation_info=compilation_info, **kwds)

_CLOCK = dict(releasegil=False, save_err=rffi.RFFI_SAVE_ERRNO)
c_clock_gettime = external('clock_gettime', [lltype.Signed, lltype.Ptr(TIMESPEC)], rffi.INT,
                           **_CLOCK)
c_clock_settime = external('clock_settime', [lltype.Signed, lltype.Ptr(TIMESPEC)], rffi.INT,
                           **_CLOCK)
c_clock_getres = external('clock_getres', [lltype.Signed, lltype.Ptr(TIMESPEC)], rffi.INT,
                          **_CLOCK)
c_gettimeofday = external('gettimeofday', [lltype.Ptr(TIMEVAL), lltype.Ptr(TIMEZONE)], rffi.INT,
                          _nowrapper=True, releasegil=False)
c_ftime = external('ftime', [lltype.Ptr(TIMEB)], lltype.Void, _nowrapper=True,
                   releasegil=False)
c_time = external('time', [rffi.VOIDP], rffi.TIME_T, _nowrapper=True, releasegil=False)
c_getrusage = external('getrusage', [rffi.INT, lltype.Ptr(RUSAGE)], rffi.INT,
                       releasegil=False)
c_select = external('select', [rffi.INT, rffi.VOIDP, rffi.VOIDP, rffi.VOIDP,
                               lltype.Ptr(TIMEVAL)], rffi.INT, save_err=rffi.RFFI_SAVE_ERRNO)


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
