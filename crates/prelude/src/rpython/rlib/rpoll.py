"""Waiting for file descriptors."""
import errno
import os

from rpython.rlib.rarithmetic import intmask
from rpython.rlib.rposix import get_saved_errno
from rpython.rtyper.lltypesystem import lltype, rffi

POLLIN, POLLPRI, POLLOUT, POLLERR, POLLHUP, POLLNVAL = 1, 2, 4, 8, 16, 32
POLLRDNORM, POLLRDBAND, POLLWRNORM, POLLWRBAND, POLLMSG = 64, 128, 256, 512, 1024
FD_SETSIZE = 1024
eventnames = ['POLLIN', 'POLLPRI', 'POLLOUT', 'POLLERR', 'POLLHUP', 'POLLNVAL', 'POLLRDNORM',
              'POLLRDBAND', 'POLLWRNORM', 'POLLMSG', 'FD_SETSIZE']

_POLLFD = rffi.CStruct('pollfd', ('fd', rffi.INT), ('events', rffi.SHORT),
                       ('revents', rffi.SHORT))
_POLLFDS = rffi.CArray(_POLLFD)
_c_poll = rffi.llexternal('poll', [lltype.Ptr(_POLLFDS), rffi.ULONG, rffi.INT], rffi.INT,
                          save_err=rffi.RFFI_SAVE_ERRNO)

_TIMEVAL = rffi.CStruct('timeval', ('tv_sec', rffi.LONG), ('tv_usec', rffi.LONG))
# A set of file descriptors is a bit each, in words.
_WORDS = rffi.CArray(rffi.ULONG)
_SET_WORDS = FD_SETSIZE // 64
_c_select = rffi.llexternal(
    'select', [rffi.INT, lltype.Ptr(_WORDS), lltype.Ptr(_WORDS), lltype.Ptr(_WORDS),
               lltype.Ptr(_TIMEVAL)], rffi.INT, save_err=rffi.RFFI_SAVE_ERRNO)


class _WaitError(Exception):

    def __init__(self, errno):
        self.errno = errno

    def get_msg(self):
        return os.strerror(self.errno)

    def get_msg_unicode(self):
        return self.get_msg().decode('utf-8')

    def get_msg_utf8(self):
        msg = self.get_msg()
        return msg, len(msg)


class PollError(_WaitError):
    pass


class SelectError(_WaitError):
    pass


def poll(fddict, timeout=-1):
    """`fddict` maps file descriptors to the events of interest, `timeout` is in
    milliseconds or -1. Answers a list of pairs of descriptor and events."""
    count = len(fddict)
    array = lltype.malloc(_POLLFDS, count, flavor='raw')
    try:
        i = 0
        for fd, events in fddict.iteritems():
            array[i].c_fd = rffi.cast(rffi.INT, fd)
            array[i].c_events = rffi.cast(rffi.SHORT, events)
            array[i].c_revents = rffi.cast(rffi.SHORT, 0)
            i += 1
        if intmask(_c_poll(array, count, timeout)) < 0:
            raise PollError(get_saved_errno())
        found = []
        for i in range(count):
            events = intmask(array[i].c_revents)
            if events:
                found.append((intmask(array[i].c_fd), events))
        return found
    finally:
        lltype.free(array, flavor='raw')


def _fd_set(fds):
    """Such a set in raw memory, NULL where it is empty."""
    if not fds:
        return lltype.nullptr(_WORDS)
    words = lltype.malloc(_WORDS, _SET_WORDS, flavor='raw', zero=True)
    for fd in fds:
        words[fd >> 6] |= rffi.cast(rffi.ULONG, 1) << (fd & 63)
    return words

def _ready(fds, words):
    return [fd for fd in fds
            if (words[fd >> 6] >> (fd & 63)) & rffi.cast(rffi.ULONG, 1)]

def _free(words):
    if words:
        lltype.free(words, flavor='raw')


def select(inl, outl, excl, timeout=-1.0, handle_eintr=False):
    """Which of the descriptors can be read, written, or have something exceptional;
    `timeout` in seconds, negative: none."""
    highest = 0
    for fds in [inl, outl, excl]:
        for fd in fds:
            if fd < 0 or fd >= FD_SETSIZE:
                raise SelectError(errno.EBADF)
            highest = max(highest, fd)
    ins, outs, excs = _fd_set(inl), _fd_set(outl), _fd_set(excl)
    limit = lltype.nullptr(_TIMEVAL)
    if timeout >= 0:
        limit = lltype.malloc(_TIMEVAL, flavor='raw')
        seconds = int(timeout)
        limit.c_tv_sec = seconds
        limit.c_tv_usec = int((timeout - seconds) * 1000000.0)
    try:
        count = intmask(_c_select(highest + 1, ins, outs, excs, limit))
        while count < 0 and handle_eintr and get_saved_errno() == errno.EINTR:
            if timeout >= 0:
                count = 0
            else:
                count = intmask(_c_select(highest + 1, ins, outs, excs, limit))
        if count < 0:
            raise SelectError(get_saved_errno())
        if count == 0:
            return [], [], []
        return _ready(inl, ins), _ready(outl, outs), _ready(excl, excs)
    finally:
        _free(ins)
        _free(outs)
        _free(excs)
        if limit:
            lltype.free(limit, flavor='raw')
