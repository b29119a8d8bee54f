"""What rposix has of Linux's own and of the rest: extended attributes, scheduling, sendfile,
times of files by other names, descriptors that programs started do not get."""
import errno

from rpython.rlib._rposix_c import (
    _c, _cast, _checked, _errno_location, _failed, get_inheritable, get_saved_errno,
    set_inheritable)
from rpython.rlib.objectmodel import specialize
from rpython.rlib.rarithmetic import intmask, widen
from rpython.rtyper.lltypesystem import lltype, rffi

_INT, _UINT, _LONG, _ULONG, _P = rffi.INT, rffi.UINT, rffi.LONG, rffi.ULONG, rffi.CCHARP

# ____________________________________________________________ extended attributes

XATTR_SIZE_MAX = 65536
XATTR_CREATE, XATTR_REPLACE = 1, 2

_c_fgetxattr = _c('fgetxattr', [_INT, _P, _P, _ULONG], _LONG)
_c_fsetxattr = _c('fsetxattr', [_INT, _P, _P, _ULONG, _INT], _INT)
_c_fremovexattr = _c('fremovexattr', [_INT, _P], _INT)
_c_flistxattr = _c('flistxattr', [_INT, _P, _ULONG], _LONG)

def _variants(name, args, result):
    return _c(name, args, result), _c('l' + name, args, result)

_c_getxattr, _c_lgetxattr = _variants('getxattr', [_P, _P, _P, _ULONG], _LONG)
_c_setxattr, _c_lsetxattr = _variants('setxattr', [_P, _P, _P, _ULONG, _INT], _INT)
_c_removexattr, _c_lremovexattr = _variants('removexattr', [_P, _P], _INT)
_c_listxattr, _c_llistxattr = _variants('listxattr', [_P, _P, _ULONG], _LONG)

def fgetxattr(fd, name):
    with rffi.scoped_str2charp(name) as n:
        with rffi.scoped_alloc_buffer(XATTR_SIZE_MAX) as buf:
            size = _c_fgetxattr(_cast(_INT, fd), n, buf.raw, _cast(_ULONG, XATTR_SIZE_MAX))
            return buf.str(_checked(size, 'fgetxattr'))

def getxattr(path, name, follow_symlinks=True):
    with rffi.scoped_str2charp(path) as p:
        with rffi.scoped_str2charp(name) as n:
            with rffi.scoped_alloc_buffer(XATTR_SIZE_MAX) as buf:
                room = _cast(_ULONG, XATTR_SIZE_MAX)
                if follow_symlinks:
                    size = _c_getxattr(p, n, buf.raw, room)
                else:
                    size = _c_lgetxattr(p, n, buf.raw, room)
                return buf.str(_checked(size, 'getxattr'))

def fsetxattr(fd, name, value, flags=0):
    with rffi.scoped_str2charp(name) as n:
        with rffi.scoped_nonmovingbuffer(value) as v:
            return _checked(_c_fsetxattr(_cast(_INT, fd), n, v, _cast(_ULONG, len(value)),
                                         _cast(_INT, flags)), 'fsetxattr')

def setxattr(path, name, value, flags=0, follow_symlinks=True):
    with rffi.scoped_str2charp(path) as p:
        with rffi.scoped_str2charp(name) as n:
            with rffi.scoped_nonmovingbuffer(value) as v:
                size, how = _cast(_ULONG, len(value)), _cast(_INT, flags)
                if follow_symlinks:
                    result = _c_setxattr(p, n, v, size, how)
                else:
                    result = _c_lsetxattr(p, n, v, size, how)
                return _checked(result, 'setxattr')

def fremovexattr(fd, name):
    with rffi.scoped_str2charp(name) as n:
        return _checked(_c_fremovexattr(_cast(_INT, fd), n), 'fremovexattr')

def removexattr(path, name, follow_symlinks=True):
    with rffi.scoped_str2charp(path) as p:
        with rffi.scoped_str2charp(name) as n:
            if follow_symlinks:
                result = _c_removexattr(p, n)
            else:
                result = _c_lremovexattr(p, n)
            return _checked(result, 'removexattr')

def _names(text):
    """Names that end in a zero byte each."""
    names = text.split('\0')
    del names[-1]
    return names

def flistxattr(fd):
    with rffi.scoped_alloc_buffer(XATTR_SIZE_MAX) as buf:
        size = _c_flistxattr(_cast(_INT, fd), buf.raw, _cast(_ULONG, XATTR_SIZE_MAX))
        return _names(buf.str(_checked(size, 'flistxattr')))

def listxattr(path, follow_symlinks=True):
    with rffi.scoped_str2charp(path) as p:
        with rffi.scoped_alloc_buffer(XATTR_SIZE_MAX) as buf:
            if follow_symlinks:
                size = _c_listxattr(p, buf.raw, _cast(_ULONG, XATTR_SIZE_MAX))
            else:
                size = _c_llistxattr(p, buf.raw, _cast(_ULONG, XATTR_SIZE_MAX))
            return _names(buf.str(_checked(size, 'listxattr')))

# ____________________________________________________________ scheduling

SCHED_OTHER, SCHED_FIFO, SCHED_RR, SCHED_BATCH, SCHED_IDLE = 0, 1, 2, 3, 5

_c_sched_rr_get_interval = _c('sched_rr_get_interval', [_INT, rffi.LONGP], _INT)
_c_sched_setscheduler = _c('sched_setscheduler', [_INT, _INT, rffi.INTP], _INT)
_c_sched_getparam = _c('sched_getparam', [_INT, rffi.INTP], _INT)
_c_sched_setparam = _c('sched_setparam', [_INT, rffi.INTP], _INT)

def sched_rr_get_interval(pid):
    with lltype.scoped_alloc(rffi.LONGP.TO, 2) as spec:
        _checked(_c_sched_rr_get_interval(_cast(_INT, pid), spec), 'sched_rr_get_interval')
        return spec[0] + 1e-9 * spec[1]

def sched_setscheduler(pid, policy, priority):
    with lltype.scoped_alloc(rffi.INTP.TO, 1) as param:
        param[0] = _cast(_INT, priority)
        return _checked(_c_sched_setscheduler(_cast(_INT, pid), _cast(_INT, policy), param),
                        'sched_setscheduler')

def sched_getparam(pid):
    with lltype.scoped_alloc(rffi.INTP.TO, 1) as param:
        _checked(_c_sched_getparam(_cast(_INT, pid), param), 'sched_getparam')
        return param[0]

def sched_setparam(pid, priority):
    with lltype.scoped_alloc(rffi.INTP.TO, 1) as param:
        param[0] = _cast(_INT, priority)
        return _checked(_c_sched_setparam(_cast(_INT, pid), param), 'sched_setparam')

# ____________________________________________________________ files

F_ULOCK, F_LOCK, F_TLOCK, F_TEST = range(4)
(POSIX_FADV_NORMAL, POSIX_FADV_RANDOM, POSIX_FADV_SEQUENTIAL, POSIX_FADV_WILLNEED,
 POSIX_FADV_DONTNEED, POSIX_FADV_NOREUSE) = range(6)
MFD_CLOEXEC, MFD_ALLOW_SEALING, MFD_HUGETLB = 1, 2, 4
O_NONBLOCK, O_CLOEXEC = 04000, 02000000

_c_sendfile = _c('sendfile', [_INT, _INT, rffi.LONGP, _ULONG], _LONG)
_c_lutimes = _c('lutimes', [_P, rffi.LONGP], _INT)
_c_futimes = _c('futimes', [_INT, rffi.LONGP], _INT)
_c_memfd_create = _c('memfd_create', [_P, _UINT], _INT)
_c_unshare = _c('unshare', [_INT], _INT)
_c_fexecve = _c('fexecve', [_INT, rffi.CCHARPP, rffi.CCHARPP], _INT)

def sendfile(out_fd, in_fd, offset, count):
    with lltype.scoped_alloc(rffi.LONGP.TO, 1) as p:
        p[0] = offset
        return _checked(_c_sendfile(_cast(_INT, out_fd), _cast(_INT, in_fd), p,
                                    _cast(_ULONG, count)), 'sendfile')

def sendfile_no_offset(out_fd, in_fd, count):
    return _checked(_c_sendfile(_cast(_INT, out_fd), _cast(_INT, in_fd),
                                lltype.nullptr(rffi.LONGP.TO), _cast(_ULONG, count)),
                    'sendfile')

def _split_time(p, i, time):
    seconds = int(time)
    p[2 * i] = seconds
    p[2 * i + 1] = int((time - seconds) * 1000000.0)

@specialize.argtype(1)
def lutimes(pathname, times):
    with rffi.scoped_str2charp(pathname) as path:
        if times is None:
            result = _c_lutimes(path, lltype.nullptr(rffi.LONGP.TO))
        else:
            with lltype.scoped_alloc(rffi.LONGP.TO, 4) as p:
                _split_time(p, 0, times[0])
                _split_time(p, 1, times[1])
                result = _c_lutimes(path, p)
        _checked(result, 'lutimes')

@specialize.argtype(1)
def futimes(fd, times):
    if times is None:
        result = _c_futimes(_cast(_INT, fd), lltype.nullptr(rffi.LONGP.TO))
    else:
        with lltype.scoped_alloc(rffi.LONGP.TO, 4) as p:
            _split_time(p, 0, times[0])
            _split_time(p, 1, times[1])
            result = _c_futimes(_cast(_INT, fd), p)
    _checked(result, 'futimes')

def memfd_create(name, flags):
    with rffi.scoped_str2charp(name) as p:
        return _checked(_c_memfd_create(p, _cast(_UINT, flags)), 'memfd_create')

def unshare(flags):
    return _checked(_c_unshare(_cast(_INT, flags)), 'unshare')

def fexecve(fd, args, env):
    texts = [key + '=' + value for key, value in env.iteritems()]
    c_args = rffi.liststr2charpp(args)
    c_env = rffi.liststr2charpp(texts)
    _c_fexecve(_cast(_INT, fd), c_args, c_env)
    error = _failed('execve')
    rffi.free_charpp(c_env)
    rffi.free_charpp(c_args)
    raise error

# ____________________________________________________________ users, processes

_c_getgrouplist = _c('getgrouplist', [_P, _INT, rffi.INTP, rffi.INTP], _INT)
_c_tmpnam = _c('tmpnam', [_P], _P)

def getgrouplist(user, group):
    """The groups of a user, with one more."""
    with rffi.scoped_str2charp(user) as name:
        with lltype.scoped_alloc(rffi.INTP.TO, 1) as count:
            room = 64
            while True:
                count[0] = _cast(_INT, room)
                with lltype.scoped_alloc(rffi.INTP.TO, room) as gids:
                    result = widen(_c_getgrouplist(name, _cast(_INT, group), gids, count))
                    if result >= 0:
                        return [widen(gids[i]) for i in range(widen(count[0]))]
                room = max(2 * room, widen(count[0]))

def tmpnam():
    return rffi.charp2str(_c_tmpnam(lltype.nullptr(_P.TO)))

# What waitpid() says of a process that has ended.

def WTERMSIG(status):
    return status & 0x7f

def WEXITSTATUS(status):
    return status >> 8 & 0xff

WSTOPSIG = WEXITSTATUS

def WIFEXITED(status):
    return status & 0x7f == 0

def WIFSTOPPED(status):
    return status & 0xff == 0x7f

def WIFSIGNALED(status):
    return status & 0x7f != 0 and status & 0x7f != 0x7f

def WIFCONTINUED(status):
    return status == 0xffff

def WCOREDUMP(status):
    return status & 0x80

WAIT_MACROS = ['WCOREDUMP', 'WIFSTOPPED', 'WIFSIGNALED', 'WIFEXITED', 'WEXITSTATUS',
               'WSTOPSIG', 'WTERMSIG', 'WIFCONTINUED']

# ____________________________________________________________ what was found out

class SetNonInheritableCache(object):
    """Of functions that make descriptors: remembers whether they are inherited."""
    cached_inheritable = -1

    def set_non_inheritable(self, fd):
        if self.cached_inheritable == -1:
            self.cached_inheritable = int(get_inheritable(fd))
        if self.cached_inheritable == 1:
            set_inheritable(fd, False)

    def _cleanup_(self):
        self.cached_inheritable = -1


class ENoSysCache(object):
    """Of a system call: remembers whether the kernel has it."""
    cached_nosys = -1

    def attempt_syscall(self):
        return self.cached_nosys != 1

    def fallback(self, res):
        if self.cached_nosys == -1:
            missing = widen(res) < 0 and get_saved_errno() == errno.ENOSYS
            self.cached_nosys = int(missing)
        return self.cached_nosys == 1

    def _cleanup_(self):
        self.cached_nosys = -1

def getfullpathname(path):
    """An absolute form of a path; nothing is resolved."""
    from rpython.rlib.rpath import rabspath
    return rabspath(path)

# ____________________________________________________________ what Linux has

HAVE_DUP3 = HAVE_D_TYPE = HAVE_FACCESSAT = HAVE_FADVISE = HAVE_FALLOCATE = HAVE_FCHDIR = True
HAVE_FCHMOD = HAVE_FCHMODAT = HAVE_FCHOWN = HAVE_FCHOWNAT = HAVE_FDOPENDIR = HAVE_FEXECVE = True
HAVE_FPATHCONF = HAVE_FSTAT = HAVE_FSTATAT = HAVE_FSTATVFS = HAVE_FTRUNCATE = True
HAVE_FUTIMENS = HAVE_FUTIMES = HAVE_FUTIMESAT = HAVE_LCHOWN = HAVE_LINKAT = HAVE_LSTAT = True
HAVE_LUTIMES = HAVE_MKDIRAT = HAVE_MKFIFOAT = HAVE_MKNODAT = HAVE_OPENAT = HAVE_PIPE2 = True
HAVE_PREAD = HAVE_PWRITE = HAVE_READLINKAT = HAVE_RENAMEAT = HAVE_SCHED_GETPARAM = True
HAVE_SCHED_GETSCHEDULER = HAVE_SCHED_RR_GET_INTERVAL = HAVE_SCHED_SETPARAM = True
HAVE_SCHED_SETSCHEDULER = HAVE_SCHED_YIELD = HAVE_SYMLINKAT = HAVE_UNLINKAT = True
HAVE_UTIMENSAT = HAVE_UTIMES = HAVE_XATTR = True
HAVE_CHFLAGS = HAVE_LCHFLAGS = HAVE_LCHMOD = False

# Constants of several systems: None are those of others.
constants = ['LOAD_LIBRARY_SEARCH_DEFAULT_DIRS', 'LOAD_LIBRARY_SEARCH_APPLICATION_DIR',
             'LOAD_LIBRARY_SEARCH_SYSTEM32', 'LOAD_LIBRARY_SEARCH_USER_DIRS',
             'LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR', 'COPYFILE_DATA', 'O_CLOEXEC']
LOAD_LIBRARY_SEARCH_DEFAULT_DIRS = LOAD_LIBRARY_SEARCH_APPLICATION_DIR = None
LOAD_LIBRARY_SEARCH_SYSTEM32 = LOAD_LIBRARY_SEARCH_USER_DIRS = None
LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR = COPYFILE_DATA = None
