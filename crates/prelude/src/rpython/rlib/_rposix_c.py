"""The rarer system calls of rposix, straight to the C library; what fails is OSError."""
from rpython.rlib._rposix_paths import _as_bytes0
from rpython.rlib.objectmodel import not_rpython, specialize
from rpython.rlib.rarithmetic import intmask, r_uint, widen
from rpython.rtyper.lltypesystem import lltype, rffi

_INT, _UINT, _LONG, _P, _PP = rffi.INT, rffi.UINT, rffi.LONG, rffi.CCHARP, rffi.CCHARPP
_errno_location = lltype.functionptr(lltype.FuncType([], rffi.INTP), '__errno_location',
                                     external=())

AT_FDCWD = -100
AT_SYMLINK_NOFOLLOW = 0x100
AT_SYMLINK_FOLLOW = 0x400
AT_EACCESS = 0x200
AT_REMOVEDIR = 0x200
AT_EMPTY_PATH = 0x1000
UTIME_NOW = (1 << 30) - 1
UTIME_OMIT = (1 << 30) - 2
PRIO_PROCESS, PRIO_PGRP, PRIO_USER = 0, 1, 2
_MOST_PATH = 4096


class _Saved(object):
    errno = 0

def _get_errno():
    """The C library's own errno, as INT."""
    return _errno_location()[0]

def _set_errno(errno):
    _errno_location()[0] = rffi.cast(_INT, errno)


@not_rpython
def get_saved_errno():
    """That of the last function that failed and keeps its errno."""
    return _Saved.errno

@not_rpython
def set_saved_errno(errno):
    _Saved.errno = errno


def _c(name, args, result):
    return lltype.functionptr(lltype.FuncType(args, result), name, external=())

_cast = rffi.cast

def _failed(name):
    errno = intmask(_errno_location()[0])
    set_saved_errno(errno)
    return OSError(errno, name + ' failed')

@specialize.arg(1)
def _checked(result, name):
    """The result as Signed, which is negative where the call failed."""
    result = rffi.cast(lltype.Signed, result)
    if result < 0:
        raise _failed(name)
    return result


def _of_ints(name, params, TYPES, answers=True):
    """A C function of integers with these parameters. It returns -1 where it fails; without
    `answers`, its result is dropped."""
    function = _c(name, TYPES, _INT)
    params = params.split()
    source = 'def %s(%s):\n    %s_checked(function(%s), name)\n' % (
        name, ', '.join(params), 'return ' if answers else '',
        ', '.join(['cast(T%d, %s)' % (i, param) for i, param in enumerate(params)]))
    space = {'function': function, 'cast': rffi.cast, '_checked': _checked, 'name': name}
    for i, TYPE in enumerate(TYPES):
        space['T%d' % i] = TYPE
    exec source in space
    return space[name]

fchdir = _of_ints('fchdir', 'fd', [_INT], answers=False)
fchmod = _of_ints('fchmod', 'fd mode', [_INT, _UINT], answers=False)
fchown = _of_ints('fchown', 'fd uid gid', [_INT, _INT, _INT], answers=False)
getsid = _of_ints('getsid', 'pid', [_INT])
getpgid = _of_ints('getpgid', 'pid', [_INT])
getpgrp = _of_ints('getpgrp', '', [])
killpg = _of_ints('killpg', 'pgrp sig', [_INT, _INT])
setegid = _of_ints('setegid', 'gid', [_INT], answers=False)
seteuid = _of_ints('seteuid', 'uid', [_INT], answers=False)
setgid = _of_ints('setgid', 'gid', [_INT], answers=False)
setpgid = _of_ints('setpgid', 'pid gid', [_INT, _INT], answers=False)
setpgrp = _of_ints('setpgrp', '', [], answers=False)
setregid = _of_ints('setregid', 'rgid egid', [_INT, _INT], answers=False)
setreuid = _of_ints('setreuid', 'ruid euid', [_INT, _INT], answers=False)
setresgid = _of_ints('setresgid', 'rgid egid sgid', [_INT, _INT, _INT], answers=False)
setresuid = _of_ints('setresuid', 'ruid euid suid', [_INT, _INT, _INT], answers=False)
setsid = _of_ints('setsid', '', [])
setuid = _of_ints('setuid', 'uid', [_INT], answers=False)
tcgetpgrp = _of_ints('tcgetpgrp', 'fd', [_INT])
tcsetpgrp = _of_ints('tcsetpgrp', 'fd pgrp', [_INT, _INT])
sched_yield = _of_ints('sched_yield', '', [])
sched_get_priority_max = _of_ints('sched_get_priority_max', 'policy', [_INT])
sched_get_priority_min = _of_ints('sched_get_priority_min', 'policy', [_INT])
sched_getscheduler = _of_ints('sched_getscheduler', 'pid', [_INT])
posix_fallocate = _of_ints('posix_fallocate', 'fd offset length', [_INT, _LONG, _LONG])
posix_fadvise = _of_ints('posix_fadvise', 'fd offset length advice', [_INT, _LONG, _LONG, _INT])
lockf = _of_ints('lockf', 'fd cmd length', [_INT, _INT, _LONG])


def _of_path(name, params, TYPES):
    """A C function of a path and integers, with these parameters. It returns 0 or -1."""
    function = _c(name, [_P] + TYPES, _INT)
    params = params.split()
    source = ('@argtype\ndef %s(%s):\n    with scoped(_as_bytes0(%s)) as p:\n'
              '        _checked(function(%s), name)\n' % (
        name, ', '.join(params), params[0],
        ', '.join(['p'] + ['cast(T%d, %s)' % (i, param)
                           for i, param in enumerate(params[1:])])))
    space = {'function': function, 'cast': rffi.cast, '_checked': _checked, 'name': name,
             'scoped': rffi.scoped_str2charp, '_as_bytes0': _as_bytes0,
             'argtype': specialize.argtype(0)}
    for i, TYPE in enumerate(TYPES):
        space['T%d' % i] = TYPE
    exec source in space
    return space[name]

chown = _of_path('chown', 'path uid gid', [_INT, _INT])
lchown = _of_path('lchown', 'path uid gid', [_INT, _INT])
chroot = _of_path('chroot', 'path', [])
mkfifo = _of_path('mkfifo', 'path mode', [_UINT])
mknod = _of_path('mknod', 'path mode dev', [_UINT, rffi.ULONG])
initgroups = _of_path('initgroups', 'user group', [_INT])

# ____________________________________________________________ processes and users

_c_getresuid = _c('getresuid', [rffi.UINTP] * 3, _INT)
_c_getresgid = _c('getresgid', [rffi.UINTP] * 3, _INT)

def getresuid():
    with lltype.scoped_alloc(rffi.UINTP.TO, 3) as ids:
        _checked(_c_getresuid(ids, rffi.ptradd(ids, 1), rffi.ptradd(ids, 2)), 'getresuid')
        return r_uint(ids[0]), r_uint(ids[1]), r_uint(ids[2])

def getresgid():
    with lltype.scoped_alloc(rffi.UINTP.TO, 3) as ids:
        _checked(_c_getresgid(ids, rffi.ptradd(ids, 1), rffi.ptradd(ids, 2)), 'getresgid')
        return r_uint(ids[0]), r_uint(ids[1]), r_uint(ids[2])

_c_getgroups = _c('getgroups', [_INT, rffi.UINTP], _INT)
_c_setgroups = _c('setgroups', [rffi.ULONG, rffi.INTP], _INT)

def getgroups():
    count = _checked(_c_getgroups(_cast(_INT, 0), lltype.nullptr(rffi.UINTP.TO)), 'getgroups')
    with lltype.scoped_alloc(rffi.UINTP.TO, max(count, 1)) as ids:
        count = _checked(_c_getgroups(_cast(_INT, count), ids), 'getgroups')
        return [r_uint(ids[i]) for i in range(count)]

def setgroups(gids):
    count = len(gids)
    with lltype.scoped_alloc(rffi.INTP.TO, max(count, 1)) as ids:
        for i in range(count):
            ids[i] = _cast(_INT, gids[i])
        _checked(_c_setgroups(_cast(rffi.ULONG, count), ids), 'setgroups')

_c_getlogin = _c('getlogin', [], _P)
_c_ctermid = _c('ctermid', [_P], _P)
_c_ttyname = _c('ttyname', [_INT], _P)

def getlogin():
    name = _c_getlogin()
    if not name:
        raise _failed('getlogin')
    return rffi.charp2str(name)

def ctermid():
    return rffi.charp2str(_c_ctermid(lltype.nullptr(_P.TO)))

def ttyname(fd):
    name = _c_ttyname(_cast(_INT, fd))
    if not name:
        raise _failed('ttyname')
    return rffi.charp2str(name)

_c_nice = _c('nice', [_INT], _INT)
_c_getpriority = _c('getpriority', [_INT, _INT], _INT)
_c_setpriority = _c('setpriority', [_INT, _INT, _INT], _INT)

def nice(inc):
    # -1 is a priority, too.
    _errno_location()[0] = _cast(_INT, 0)
    result = widen(_c_nice(_cast(_INT, inc)))
    if result == -1 and widen(_errno_location()[0]) != 0:
        raise _failed('nice')
    return result

def getpriority(which, who):
    _errno_location()[0] = _cast(_INT, 0)
    result = widen(_c_getpriority(_cast(_INT, which), _cast(_INT, who)))
    if result == -1 and widen(_errno_location()[0]) != 0:
        raise _failed('getpriority')
    return result

def setpriority(which, who, prio):
    _checked(_c_setpriority(_cast(_INT, which), _cast(_INT, who), _cast(_INT, prio)),
             'setpriority')

_c_times = _c('times', [rffi.LONGP], _LONG)
CLOCK_TICKS_PER_SECOND = 100.0

def times():
    """CPU seconds of the process (user, system), of its children, and a clock."""
    with lltype.scoped_alloc(rffi.LONGP.TO, 4) as t:
        elapsed = _c_times(t)
        if elapsed == -1:
            raise _failed('times')
        return (t[0] / CLOCK_TICKS_PER_SECOND, t[1] / CLOCK_TICKS_PER_SECOND,
                t[2] / CLOCK_TICKS_PER_SECOND, t[3] / CLOCK_TICKS_PER_SECOND,
                elapsed / CLOCK_TICKS_PER_SECOND)

_c_getloadavg = _c('getloadavg', [rffi.DOUBLEP, _INT], _INT)

def getloadavg():
    with lltype.scoped_alloc(rffi.DOUBLEP.TO, 3) as load:
        if widen(_c_getloadavg(load, _cast(_INT, 3))) != 3:
            raise OSError
        return load[0], load[1], load[2]

_FIELD = 65
_c_uname = _c('uname', [_P], _INT)

def uname():
    with lltype.scoped_alloc(_P.TO, 6 * _FIELD) as buf:
        _checked(_c_uname(buf), 'uname')
        return (rffi.charp2str(buf), rffi.charp2str(rffi.ptradd(buf, _FIELD)),
                rffi.charp2str(rffi.ptradd(buf, 2 * _FIELD)),
                rffi.charp2str(rffi.ptradd(buf, 3 * _FIELD)),
                rffi.charp2str(rffi.ptradd(buf, 4 * _FIELD)))

_c_sync = _c('sync', [], lltype.Void)

def sync():
    _c_sync()

# ____________________________________________________________ configuration

_c_sysconf = _c('sysconf', [_INT], _LONG)
_c_pathconf = _c('pathconf', [_P, _INT], _LONG)
_c_fpathconf = _c('fpathconf', [_INT, _INT], _LONG)
_c_confstr = _c('confstr', [_INT, _P, rffi.ULONG], rffi.ULONG)

def _configured(result, name):
    # -1 without an error says that there is no limit.
    if result == -1 and widen(_errno_location()[0]) != 0:
        raise _failed(name)
    return result

def sysconf(value):
    _errno_location()[0] = _cast(_INT, 0)
    return _configured(_c_sysconf(_cast(_INT, value)), 'sysconf')

def pathconf(path, value):
    with rffi.scoped_str2charp(path) as p:
        _errno_location()[0] = _cast(_INT, 0)
        return _configured(_c_pathconf(p, _cast(_INT, value)), 'pathconf')

def fpathconf(fd, value):
    _errno_location()[0] = _cast(_INT, 0)
    return _configured(_c_fpathconf(_cast(_INT, fd), _cast(_INT, value)), 'fpathconf')

def confstr(value):
    """A text, None where that is not defined."""
    _errno_location()[0] = _cast(_INT, 0)
    null = lltype.nullptr(_P.TO)
    size = intmask(_c_confstr(_cast(_INT, value), null, _cast(rffi.ULONG, 0)))
    if size == 0:
        if widen(_errno_location()[0]) != 0:
            raise _failed('confstr')
        return None
    with lltype.scoped_alloc(_P.TO, size) as buf:
        _c_confstr(_cast(_INT, value), buf, _cast(rffi.ULONG, size))
        return rffi.charp2strn(buf, size)

def cpu_count():
    return sysconf(84)

# ____________________________________________________________ files

_c_pread = _c('pread', [_INT, _P, rffi.ULONG, _LONG], _LONG)
_c_pwrite = _c('pwrite', [_INT, _P, rffi.ULONG, _LONG], _LONG)

def pread(fd, count, offset):
    if count < 0:
        raise OSError(22, None)
    with rffi.scoped_alloc_buffer(count) as buf:
        got = _checked(_c_pread(_cast(_INT, fd), buf.raw, _cast(rffi.ULONG, count), offset),
                       'pread')
        return buf.str(got)

def pwrite(fd, data, offset):
    with rffi.scoped_nonmovingbuffer(data) as buf:
        return _checked(_c_pwrite(_cast(_INT, fd), buf, _cast(rffi.ULONG, len(data)), offset),
                        'pwrite')

def major(dev):
    return (dev >> 8) & 0xfff | (dev >> 32) & ~0xfff

def minor(dev):
    return dev & 0xff | (dev >> 12) & ~0xff

def makedev(maj, min):
    return (maj & 0xfff) << 8 | (maj & ~0xfff) << 32 | min & 0xff | (min & ~0xff) << 12

_c_pipe2 = _c('pipe2', [rffi.INTP, _INT], _INT)

def pipe2(flags):
    with lltype.scoped_alloc(rffi.INTP.TO, 2) as fds:
        _checked(_c_pipe2(fds, _cast(_INT, flags)), 'pipe2')
        return widen(fds[0]), widen(fds[1])

_c_fcntl = _c('fcntl', [_INT, _INT, _LONG], _INT)

def get_status_flags(fd):
    return _checked(_c_fcntl(_cast(_INT, fd), _cast(_INT, 3), 0), 'fcntl')

def set_status_flags(fd, flags):
    _checked(_c_fcntl(_cast(_INT, fd), _cast(_INT, 4), flags), 'fcntl')

def get_inheritable(fd):
    return _checked(_c_fcntl(_cast(_INT, fd), _cast(_INT, 1), 0), 'fcntl') & 1 == 0

def set_inheritable(fd, inheritable):
    flag = 0 if inheritable else 1
    _checked(_c_fcntl(_cast(_INT, fd), _cast(_INT, 2), flag), 'fcntl')

_c_openpty = _c('openpty', [rffi.INTP, rffi.INTP, _P, _P, _P], _INT)

def openpty():
    null = lltype.nullptr(_P.TO)
    with lltype.scoped_alloc(rffi.INTP.TO, 2) as fds:
        _checked(_c_openpty(fds, rffi.ptradd(fds, 1), null, null, null), 'openpty')
        return widen(fds[0]), widen(fds[1])

_c_forkpty = _c('forkpty', [rffi.INTP, _P, _P, _P], _INT)

def forkpty():
    """A new process with a terminal of its own: its number, 0 in itself, and the
    terminal's other end."""
    null = lltype.nullptr(_P.TO)
    with lltype.scoped_alloc(rffi.INTP.TO, 1) as master:
        master[0] = _cast(_INT, -1)
        return _checked(_c_forkpty(master, null, null, null), 'forkpty'), widen(master[0])

# ____________________________________________________________ relative to an open folder

_c_openat = _c('openat', [_INT, _P, _INT, _UINT], _INT)
_c_unlinkat = _c('unlinkat', [_INT, _P, _INT], _INT)
_c_mkdirat = _c('mkdirat', [_INT, _P, _UINT], _INT)
_c_mkfifoat = _c('mkfifoat', [_INT, _P, _UINT], _INT)
_c_mknodat = _c('mknodat', [_INT, _P, _UINT, rffi.ULONG], _INT)
_c_fchmodat = _c('fchmodat', [_INT, _P, _UINT, _INT], _INT)
_c_fchownat = _c('fchownat', [_INT, _P, _INT, _INT, _INT], _INT)
_c_faccessat = _c('faccessat', [_INT, _P, _INT, _INT], _INT)
_c_renameat = _c('renameat', [_INT, _P, _INT, _P], _INT)
_c_linkat = _c('linkat', [_INT, _P, _INT, _P, _INT], _INT)
_c_symlinkat = _c('symlinkat', [_P, _INT, _P], _INT)
_c_readlinkat = _c('readlinkat', [_INT, _P, _P, rffi.ULONG], _LONG)
_c_utimensat = _c('utimensat', [_INT, _P, rffi.LONGP, _INT], _INT)
_c_futimens = _c('futimens', [_INT, rffi.LONGP], _INT)

def openat(path, flags, mode, dir_fd=AT_FDCWD):
    with rffi.scoped_str2charp(path) as p:
        return _checked(_c_openat(_cast(_INT, dir_fd), p, _cast(_INT, flags),
                                  _cast(_UINT, mode)), 'open')

def unlinkat(pathname, dir_fd=AT_FDCWD, removedir=False):
    flag = AT_REMOVEDIR if removedir else 0
    with rffi.scoped_str2charp(pathname) as p:
        _checked(_c_unlinkat(_cast(_INT, dir_fd), p, _cast(_INT, flag)), 'unlinkat')

def mkdirat(pathname, mode, dir_fd=AT_FDCWD):
    with rffi.scoped_str2charp(pathname) as p:
        _checked(_c_mkdirat(_cast(_INT, dir_fd), p, _cast(_UINT, mode)), 'mkdirat')

def mkfifoat(path, mode, dir_fd=AT_FDCWD):
    with rffi.scoped_str2charp(path) as p:
        _checked(_c_mkfifoat(_cast(_INT, dir_fd), p, _cast(_UINT, mode)), 'mkfifoat')

def mknodat(path, mode, device, dir_fd=AT_FDCWD):
    with rffi.scoped_str2charp(path) as p:
        _checked(_c_mknodat(_cast(_INT, dir_fd), p, _cast(_UINT, mode),
                            _cast(rffi.ULONG, device)), 'mknodat')

def fchmodat(path, mode, dir_fd=AT_FDCWD, follow_symlinks=True):
    flag = 0 if follow_symlinks else AT_SYMLINK_NOFOLLOW
    with rffi.scoped_str2charp(path) as p:
        _checked(_c_fchmodat(_cast(_INT, dir_fd), p, _cast(_UINT, mode), _cast(_INT, flag)),
                 'fchmodat')

def fchownat(path, owner, group, dir_fd=AT_FDCWD, follow_symlinks=True, empty_path=False):
    flag = 0 if follow_symlinks else AT_SYMLINK_NOFOLLOW
    if empty_path:
        flag |= AT_EMPTY_PATH
    with rffi.scoped_str2charp(path) as p:
        _checked(_c_fchownat(_cast(_INT, dir_fd), p, _cast(_INT, owner), _cast(_INT, group),
                             _cast(_INT, flag)), 'fchownat')

def faccessat(pathname, mode, dir_fd=AT_FDCWD, effective_ids=False, follow_symlinks=True):
    flag = 0 if follow_symlinks else AT_SYMLINK_NOFOLLOW
    if effective_ids:
        flag |= AT_EACCESS
    with rffi.scoped_str2charp(pathname) as p:
        return widen(_c_faccessat(_cast(_INT, dir_fd), p, _cast(_INT, mode),
                                  _cast(_INT, flag))) == 0

def renameat(src, dst, src_dir_fd=AT_FDCWD, dst_dir_fd=AT_FDCWD):
    with rffi.scoped_str2charp(src) as p:
        with rffi.scoped_str2charp(dst) as q:
            _checked(_c_renameat(_cast(_INT, src_dir_fd), p, _cast(_INT, dst_dir_fd), q),
                     'renameat')

def linkat(src, dst, src_dir_fd=AT_FDCWD, dst_dir_fd=AT_FDCWD, follow_symlinks=True):
    flag = AT_SYMLINK_FOLLOW if follow_symlinks else 0
    with rffi.scoped_str2charp(src) as p:
        with rffi.scoped_str2charp(dst) as q:
            _checked(_c_linkat(_cast(_INT, src_dir_fd), p, _cast(_INT, dst_dir_fd), q,
                               _cast(_INT, flag)), 'linkat')

def symlinkat(src, dst, dir_fd=AT_FDCWD):
    with rffi.scoped_str2charp(src) as p:
        with rffi.scoped_str2charp(dst) as q:
            _checked(_c_symlinkat(p, _cast(_INT, dir_fd), q), 'symlinkat')

def readlinkat(pathname, dir_fd=AT_FDCWD):
    with rffi.scoped_str2charp(pathname) as p:
        with lltype.scoped_alloc(_P.TO, _MOST_PATH) as buf:
            size = _checked(_c_readlinkat(_cast(_INT, dir_fd), p, buf,
                                          _cast(rffi.ULONG, _MOST_PATH)), 'readlinkat')
            return rffi.charpsize2str(buf, size)

def _two_times(array, atime, atime_ns, mtime, mtime_ns):
    array[0] = atime
    array[1] = atime_ns
    array[2] = mtime
    array[3] = mtime_ns

def utimensat(pathname, atime, atime_ns, mtime, mtime_ns, dir_fd=AT_FDCWD,
              follow_symlinks=True):
    flag = 0 if follow_symlinks else AT_SYMLINK_NOFOLLOW
    with lltype.scoped_alloc(rffi.LONGP.TO, 4) as times:
        _two_times(times, atime, atime_ns, mtime, mtime_ns)
        with rffi.scoped_str2charp(pathname) as p:
            _checked(_c_utimensat(_cast(_INT, dir_fd), p, times, _cast(_INT, flag)),
                     'utimensat')

def futimens(fd, atime, atime_ns, mtime, mtime_ns):
    with lltype.scoped_alloc(rffi.LONGP.TO, 4) as times:
        _two_times(times, atime, atime_ns, mtime, mtime_ns)
        _checked(_c_futimens(_cast(_INT, fd), times), 'futimens')
