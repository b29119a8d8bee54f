"""System calls, under the names of `os` and with its errors: OSError with errno.

Numbers and strings go through `os` itself; what needs lists or tuples is here. The saved
errno is that of the last call of an `os` function that failed, and of the last C function
declared with `save_err`.
"""
import os

from rpython.rlib import rposix_stat
from rpython.rlib._rposix_c import *
from rpython.rlib._rposix_c import _get_errno, _set_errno
from rpython.rlib._rposix_errno import (
    _errno_after, _errno_before, get_saved_alterrno, set_saved_alterrno)
from rpython.rlib._rposix_linux import *
from rpython.rlib._rposix_names import confstr_names, pathconf_names, sysconf_names
from rpython.rlib._rposix_paths import _as_bytes, _as_bytes0
from rpython.rlib.objectmodel import specialize
from rpython.rlib.rposix_scandir import DIRENT, DIRENTP, DIRP, fdlistdir
from rpython.rlib.rstring import StringBuilder
from rpython.rtyper.lltypesystem import lltype, rffi
from rpython.rtyper.lltypesystem.rffi import RFFI_SAVE_ERRNO
from rpython.translator.tool.cbuild import ExternalCompilationInfo

def handle_posix_error(name, result):
    """What a C function answered, as Signed; OSError if that is negative."""
    result = rffi.cast(lltype.Signed, result)
    if result < 0:
        raise OSError(get_saved_errno(), '%s failed' % name)
    return result
handle_posix_error._annspecialcase_ = 'specialize:arg(0)'


@specialize.argtype(0)
def open(path, flags, mode):
    return os.open(_as_bytes0(path), flags, mode)


def external(name, args, result, **options):
    return rffi.llexternal(name, args, result, **options)

# C functions, for programs that call them with memory of their own.

c_read = external('read', [rffi.INT, rffi.VOIDP, rffi.SIZE_T], rffi.SSIZE_T,
                  save_err=RFFI_SAVE_ERRNO)
c_write = external('write', [rffi.INT, rffi.VOIDP, rffi.SIZE_T], rffi.SSIZE_T,
                   save_err=RFFI_SAVE_ERRNO)
c_close = external('close', [rffi.INT], rffi.INT, releasegil=False, save_err=RFFI_SAVE_ERRNO)
c_dirfd = external('dirfd', [DIRP], rffi.INT, releasegil=False)
c_fdopendir = external('fdopendir', [rffi.INT], DIRP, save_err=RFFI_SAVE_ERRNO)
c_rewinddir = external('rewinddir', [DIRP], lltype.Void, releasegil=False)
c_ioctl_voidp = external('ioctl', [rffi.INT, rffi.ULONG, rffi.VOIDP], rffi.INT,
                         save_err=RFFI_SAVE_ERRNO)

CLOCK_T = rffi.LONG
TMS = rffi.CStruct('tms', ('tms_utime', CLOCK_T), ('tms_stime', CLOCK_T),
                   ('tms_cutime', CLOCK_T), ('tms_cstime', CLOCK_T))
TMSP = lltype.Ptr(TMS)
c_times = external('times', [TMSP], CLOCK_T,
                   save_err=RFFI_SAVE_ERRNO | rffi.RFFI_ZERO_ERRNO_BEFORE)

# For C code of programs: descriptors that programs started from here get or do not get.
eci_inheritable = ExternalCompilationInfo(
    post_include_bits=[
        'RPY_EXTERN int rpy_get_inheritable(int);',
        'RPY_EXTERN int rpy_set_inheritable(int, int);',
        'RPY_EXTERN int rpy_dup_noninheritable(int);',
        'RPY_EXTERN int rpy_dup2_noninheritable(int, int);'],
    separate_module_sources=[r"""
#include <fcntl.h>

int dup3(int, int, int);

int rpy_get_inheritable(int fd) {
    int flags = fcntl(fd, F_GETFD);
    return flags < 0 ? -1 : !(flags & FD_CLOEXEC);
}

int rpy_set_inheritable(int fd, int inheritable) {
    int flags = fcntl(fd, F_GETFD);
    if (flags < 0)
        return -1;
    flags = inheritable ? flags & ~FD_CLOEXEC : flags | FD_CLOEXEC;
    return fcntl(fd, F_SETFD, flags) < 0 ? -1 : 0;
}

int rpy_dup_noninheritable(int fd) {
    return fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

int rpy_dup2_noninheritable(int fd, int target) {
    return dup3(fd, target, O_CLOEXEC) < 0 ? -1 : 0;
}
"""])

# The size of a terminal, and what ioctl() is asked for it.
WINSIZE = rffi.CStruct('winsize', ('ws_row', rffi.USHORT), ('ws_col', rffi.USHORT),
                       ('ws_xpixel', rffi.USHORT), ('ws_ypixel', rffi.USHORT))
WINSIZE_P = lltype.Ptr(WINSIZE)
TIOCGWINSZ = 0x5413


def read(fd, count):
    return os.read(fd, count)


def write(fd, data):
    return os.write(fd, data)


def close(fd):
    os.close(fd)


def lseek(fd, pos, how):
    return os.lseek(fd, pos, how)


def dup(fd, inheritable=True):
    copy = os.dup(fd)
    if not inheritable:
        set_inheritable(copy, False)
    return copy


def dup2(fd, newfd, inheritable=True):
    os.dup2(fd, newfd)
    if not inheritable:
        set_inheritable(newfd, False)


def ftruncate(fd, length):
    os.ftruncate(fd, length)


def fsync(fd):
    os.fsync(fd)


def fdatasync(fd):
    os.fsync(fd)


def isatty(fd):
    return os.isatty(fd)


@specialize.argtype(0)
def stat(path):
    return rposix_stat.stat(path)


@specialize.argtype(0)
def lstat(path):
    return rposix_stat.lstat(path)


def fstat(fd):
    return rposix_stat.fstat(fd)


@specialize.argtype(0)
def access(path, mode):
    return os.access(_as_bytes0(path), mode)


@specialize.argtype(0)
def chdir(path):
    os.chdir(_as_bytes0(path))


def getcwd():
    return os.getcwd()


@specialize.argtype(0)
def mkdir(path, mode=0777):
    os.mkdir(_as_bytes0(path), mode)


@specialize.argtype(0)
def rmdir(path):
    os.rmdir(_as_bytes0(path))


@specialize.argtype(0)
def unlink(path):
    os.unlink(_as_bytes0(path))


@specialize.argtype(0)
def remove(path):
    os.unlink(_as_bytes0(path))


@specialize.argtype(0, 1)
def rename(path1, path2):
    os.rename(_as_bytes0(path1), _as_bytes0(path2))


replace = rename


@specialize.argtype(0)
def chmod(path, mode):
    os.chmod(_as_bytes0(path), mode)


@specialize.argtype(0, 1)
def link(oldpath, newpath):
    os.link(_as_bytes0(oldpath), _as_bytes0(newpath))


@specialize.argtype(0, 1)
def symlink(oldpath, newpath):
    os.symlink(_as_bytes0(oldpath), _as_bytes0(newpath))


@specialize.argtype(0)
def readlink(path):
    return os.readlink(_as_bytes0(path))


def umask(newmask):
    return os.umask(newmask)


def getpid():
    return os.getpid()


def getppid():
    return os.getppid()


def getuid():
    return os.getuid()


def geteuid():
    return os.geteuid()


def getgid():
    return os.getgid()


def getegid():
    return os.getegid()


def kill(pid, sig):
    os.kill(pid, sig)


def fork():
    return os.fork()


def system(command):
    return os.system(command)


def strerror(errnum):
    return os.strerror(errnum)


@specialize.argtype(0, 1)
def putenv(name, value):
    os.environ[_as_bytes(name)] = _as_bytes(value)


@specialize.argtype(0)
def unsetenv(name):
    """Removes a variable; KeyError if there is none."""
    del os.environ[_as_bytes(name)]


def exit(status):
    os._exit(status)


# What takes or gives more than numbers and strings. Lists of strings cross over with a
# zero byte after each.

def _listdir(path):
    raise OSError(1, "not allowed while a program is imported")


def _pipe():
    raise OSError(1, "not allowed while a program is imported")


def _waitpid(pid, options):
    raise OSError(1, "not allowed while a program is imported")


def _execve(path, args, env):
    raise OSError(1, "not allowed while a program is imported")


def _utime(path, accessed, modified):
    raise OSError(1, "not allowed while a program is imported")


def _joined(strings):
    builder = StringBuilder()
    for s in strings:
        builder.append(s)
        builder.append('\0')
    return builder.build()


@specialize.argtype(0)
def listdir(path):
    names = _listdir(_as_bytes0(path))
    result = []
    start = 0
    while start < len(names):
        end = names.find('\0', start)
        assert end >= 0
        result.append(names[start:end])
        start = end + 1
    return result


def pipe(flags=0):
    """The descriptors to read from and to write to."""
    if flags:
        return pipe2(flags)
    fds = _pipe()
    return fds & 0xffffffff, fds >> 32


def waitpid(pid, options):
    """A process that has ended, and its status."""
    answer = _waitpid(pid, options)
    return answer >> 32, answer & 0xffffffff


@specialize.argtype(0)
def execv(path, args):
    _execve(_as_bytes0(path), _joined(args), os._environ())


def _environment(env):
    builder = StringBuilder()
    for key, value in env.iteritems():
        builder.append(key)
        builder.append('=')
        builder.append(value)
        builder.append('\0')
    return builder.build()


@specialize.argtype(0)
def execve(path, args, env):
    _execve(_as_bytes0(path), _joined(args), _environment(env))


# What says not to wait for the process.
_P_NOWAIT = 1


def _spawned(mode, path, args, env):
    pid = fork()
    if pid == 0:
        try:
            _execve(path, args, env)
        except OSError:
            pass
        exit(127)
    if mode == _P_NOWAIT:
        return pid
    _, status = waitpid(pid, 0)
    if status & 0x7f:
        return -(status & 0x7f)
    return status >> 8


def spawnv(mode, path, args):
    """Runs a program in a process of its own: its number, or how it ended if it is
    waited for (a signal is negative)."""
    return _spawned(mode, path, _joined(args), os._environ())


def spawnve(mode, path, args, env):
    return _spawned(mode, path, _joined(args), _environment(env))


@specialize.argtype(0, 1)
def utime(path, times):
    """Sets the times of access and modification; None: now."""
    if times is None:
        from rpython.rlib.rtime import time
        now = time()
        _utime(_as_bytes0(path), now, now)
    else:
        accessed, modified = times
        _utime(_as_bytes0(path), accessed, modified)


class SuppressIPH(object):
    """A context in which C functions bear invalid descriptors; they do anyway."""

    def __enter__(self):
        return self

    def __exit__(self, *args):
        pass


SuppressIPH_del = SuppressIPH
# What names of some C functions start with elsewhere.
UNDERSCORE_ON_WIN32 = ''
_WIN32 = False
_LINUX = True


def closerange(fd_low, fd_high):
    for fd in range(fd_low, fd_high):
        try:
            os.close(fd)
        except OSError:
            pass
