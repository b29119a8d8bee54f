"""System calls, under the names of `os` and with its errors: OSError with errno.

Numbers and strings go through `os` itself; what needs lists or tuples is here. The saved
errno is that of the last call of an `os` function that failed, and of the last C function
declared with `save_err`.
"""
import os

from rpython.rlib import rposix_stat
from rpython.rlib._rposix_c import *
from rpython.rlib._rposix_linux import *
from rpython.rlib.objectmodel import specialize
from rpython.rlib.rposix_scandir import DIRENT, DIRENTP, DIRP, fdlistdir
from rpython.rlib.rstring import StringBuilder, assert_str0
from rpython.rtyper.lltypesystem import lltype, rffi
from rpython.rtyper.lltypesystem.rffi import RFFI_SAVE_ERRNO

get_saved_alterrno = get_saved_errno
set_saved_alterrno = set_saved_errno

def handle_posix_error(name, result):
    """What a C function answered, as Signed; OSError if that is negative."""
    result = rffi.cast(lltype.Signed, result)
    if result < 0:
        raise OSError(get_saved_errno(), '%s failed' % name)
    return result
handle_posix_error._annspecialcase_ = 'specialize:arg(0)'


def _as_bytes(path):
    return path


def _as_bytes0(path):
    return assert_str0(path)


def open(path, flags, mode):
    return os.open(path, flags, mode)


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


def stat(path):
    return rposix_stat.stat(path)


def lstat(path):
    return rposix_stat.lstat(path)


def fstat(fd):
    return rposix_stat.fstat(fd)


def access(path, mode):
    return os.access(path, mode)


def chdir(path):
    os.chdir(path)


def getcwd():
    return os.getcwd()


def mkdir(path, mode=0777):
    os.mkdir(path, mode)


def rmdir(path):
    os.rmdir(path)


def unlink(path):
    os.unlink(path)


def remove(path):
    os.unlink(path)


def rename(path1, path2):
    os.rename(path1, path2)


replace = rename


def chmod(path, mode):
    os.chmod(path, mode)


def link(oldpath, newpath):
    os.link(oldpath, newpath)


def symlink(oldpath, newpath):
    os.symlink(oldpath, newpath)


def readlink(path):
    return os.readlink(path)


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


def putenv(name, value):
    os.putenv(name, value)


def unsetenv(name):
    os.unsetenv(name)


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


def listdir(path):
    names = _listdir(path)
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


def execv(path, args):
    _execve(path, _joined(args), os._environ())


def _environment(env):
    builder = StringBuilder()
    for key, value in env.iteritems():
        builder.append(key)
        builder.append('=')
        builder.append(value)
        builder.append('\0')
    return builder.build()


def execve(path, args, env):
    _execve(path, _joined(args), _environment(env))


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


@specialize.argtype(1)
def utime(path, times):
    """Sets the times of access and modification; None: now."""
    if times is None:
        from rpython.rlib.rtime import time
        now = time()
        _utime(path, now, now)
    else:
        accessed, modified = times
        _utime(path, accessed, modified)


class SuppressIPH(object):
    """A context in which C functions bear invalid descriptors; they do anyway."""

    def __enter__(self):
        return self

    def __exit__(self, *args):
        pass


SuppressIPH_del = SuppressIPH
# What names of some C functions start with elsewhere.
UNDERSCORE_ON_WIN32 = ''


def closerange(fd_low, fd_high):
    for fd in range(fd_low, fd_high):
        try:
            os.close(fd)
        except OSError:
            pass
