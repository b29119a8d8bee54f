"""Signals: programs say which to note, and ask with pypysig_poll() which have arrived. The
compiler knows the functions by name."""
import errno
from signal import (
    NSIG, SIG_DFL, SIG_IGN, SIGABRT, SIGALRM, SIGBUS, SIGCHLD, SIGCONT, SIGFPE, SIGHUP, SIGILL,
    SIGINT, SIGIO, SIGKILL, SIGPIPE, SIGPROF, SIGPWR, SIGQUIT, SIGSEGV, SIGSTOP, SIGSYS, SIGTERM,
    SIGTRAP, SIGTSTP, SIGTTIN, SIGTTOU, SIGURG, SIGUSR1, SIGUSR2, SIGVTALRM, SIGWINCH, SIGXCPU,
    SIGXFSZ)

from rpython.rlib.objectmodel import not_rpython
from rpython.rlib.rarithmetic import intmask
from rpython.rtyper.lltypesystem import lltype, rffi

signal_names = ['SIGABRT', 'SIGALRM', 'SIGBUS', 'SIGCHLD', 'SIGCONT', 'SIGFPE', 'SIGHUP', 'SIGILL',
                'SIGINT', 'SIGIO', 'SIGKILL', 'SIGPIPE', 'SIGPROF', 'SIGPWR', 'SIGQUIT',
                'SIGSEGV', 'SIGSTOP', 'SIGSYS', 'SIGTERM', 'SIGTRAP', 'SIGTSTP', 'SIGTTIN',
                'SIGTTOU', 'SIGURG', 'SIGUSR1', 'SIGUSR2', 'SIGVTALRM', 'SIGWINCH', 'SIGXCPU',
                'SIGXFSZ']
signal_values = {}
for _name in signal_names:
    signal_values[globals()[_name]] = None
SIG_BLOCK, SIG_UNBLOCK, SIG_SETMASK = 0, 1, 2

ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF = 0, 1, 2

_TIMEVAL = rffi.CStruct('timeval', ('tv_sec', rffi.LONG), ('tv_usec', rffi.LONG))
itimerval = rffi.CStruct('itimerval', ('it_interval', _TIMEVAL), ('it_value', _TIMEVAL))
itimervalP = rffi.CArrayPtr(itimerval)

c_raise = rffi.llexternal('raise', [rffi.INT], rffi.INT)
c_alarm = rffi.llexternal('alarm', [rffi.UINT], rffi.UINT)
c_pause = rffi.llexternal('pause', [], rffi.INT)
c_setitimer = rffi.llexternal('setitimer', [rffi.INT, itimervalP, itimervalP], rffi.INT,
                              save_err=rffi.RFFI_SAVE_ERRNO)
c_getitimer = rffi.llexternal('getitimer', [rffi.INT, itimervalP], rffi.INT)
c_siginterrupt = rffi.llexternal('siginterrupt', [rffi.INT, rffi.INT], rffi.INT,
                                 save_err=rffi.RFFI_SAVE_ERRNO)
c_strsignal = rffi.llexternal('strsignal', [rffi.INT], rffi.CCHARP)


def strsignal(signum):
    """What a signal means, None if nobody knows."""
    text = c_strsignal(signum)
    if not text:
        return None
    return rffi.charp2str(text)


@not_rpython
def pypysig_poll():
    """The number of a signal that has arrived, or -1."""
    return -1

@not_rpython
def pypysig_setflag(signum):
    """Notes the signal from now on."""

def pypysig_reinstall(signum):
    """Notes the signal again after it has arrived: it is still noted."""

@not_rpython
def pypysig_default(signum):
    """The signal does what it does by default."""

@not_rpython
def pypysig_ignore(signum):
    """The signal does nothing."""

@not_rpython
def pypysig_pushback(signum):
    """Notes a signal as if it had arrived."""

@not_rpython
def _set_wakeup_fd(fd, with_nul_byte):
    """The number of a signal that arrives, or a zero, is written there as well, -1 for nowhere;
    returns where it was written before."""
    return -1

@not_rpython
def _get_write_errno():
    """Why writing it failed last, or 0."""
    return 0

# Flags: a zero is written; the fd is a socket, which write() knows as well; that it is full is no
# failure.
PYPYSIG_WITH_NUL_BYTE, PYPYSIG_USE_SEND, PYPYSIG_NO_WARN_FULL = 1, 2, 4


class _Wakeup(object):
    send_flags = 0

_wakeup = _Wakeup()


def pypysig_set_wakeup_fd(fd, send_flags):
    """The same with flags, 1 (or True) for a zero."""
    fd, send_flags = intmask(fd), intmask(send_flags)
    _wakeup.send_flags = send_flags
    return _set_wakeup_fd(fd, send_flags & PYPYSIG_WITH_NUL_BYTE != 0)


def pypysig_get_wakeup_fd_write_errno():
    """Why writing it failed last, or 0, also where the flags say that it is none."""
    failed = _get_write_errno()
    if failed == errno.EAGAIN and _wakeup.send_flags & PYPYSIG_NO_WARN_FULL:
        return 0
    return failed

# Sets of signals.

_SIGSET = rffi.CStruct('sigset_t', ('bits', rffi.CFixedArray(rffi.ULONGLONG, 16)))
c_sigset_t = lltype.Ptr(_SIGSET)
c_sigemptyset = rffi.llexternal('sigemptyset', [c_sigset_t], rffi.INT)
c_sigfillset = rffi.llexternal('sigfillset', [c_sigset_t], rffi.INT)
c_sigaddset = rffi.llexternal('sigaddset', [c_sigset_t, rffi.INT], rffi.INT)
c_sigismember = rffi.llexternal('sigismember', [c_sigset_t, rffi.INT], rffi.INT)
c_sigwait = rffi.llexternal('sigwait', [c_sigset_t, rffi.INT_realP], rffi.INT_real,
                            releasegil=True, save_err=rffi.RFFI_SAVE_ERRNO)
c_sigpending = rffi.llexternal('sigpending', [c_sigset_t], rffi.INT,
                               save_err=rffi.RFFI_SAVE_ERRNO)
c_pthread_sigmask = rffi.llexternal('pthread_sigmask', [rffi.INT, c_sigset_t, c_sigset_t],
                                    rffi.INT, save_err=rffi.RFFI_SAVE_ERRNO)


# A field that is negative once a signal has arrived, for programs that count it down and
# look at it often. It is brought up to date when they ask where it is. What follows it is for
# debuggers that come from outside; none does.

LONG_STRUCT = lltype.Struct('pypysig_long_struct', ('c_value', lltype.Signed),
                            ('c_debugger_pending_call', lltype.Signed),
                            ('c_debugger_script_path', rffi.CCHARP))
STRUCT_ONEFIELD = LONG_STRUCT
_occurred = lltype.malloc(LONG_STRUCT, flavor='raw', immortal=True, zero=True)


def pypysig_getaddr_occurred():
    signum = pypysig_poll()
    if signum >= 0:
        pypysig_pushback(signum)
        _occurred.c_value = -1
    return _occurred


pypysig_getaddr_occurred_fullstruct = pypysig_getaddr_occurred


def pypysig_check_and_reset():
    """Whether the field is negative; it is zero afterwards."""
    occurred = pypysig_getaddr_occurred()
    result = occurred.c_value < 0
    occurred.c_value = 0
    return result
