"""Functions of `os` and `time`. A failure is OSError with its errno."""
from rpython.rtyper.lltypesystem.lltype import Unsigned, cast_primitive, malloc
from taipan_lowlevel import STR
from taipan_lowlevel import (
    rpy_os_write, rpy_os_read, rpy_os_open, rpy_os_close, rpy_os_lseek,
    rpy_os_isatty, rpy_os_unlink, rpy_os_access, rpy_os_mkdir, rpy_os_rmdir,
    rpy_os_rename, rpy_os_chdir, rpy_os_getcwd, rpy_os_getenv, rpy_os_strerror,
    rpy_os_getpid, rpy_os_exit, rpy_os_stat, rpy_os_fstat, rpy_time_time,
    rpy_time_clock, rpy_time_sleep, rpy_time_clock_ns)
from taipan_lowlevel import (
    rpy_os_dup, rpy_os_dup2, rpy_os_pipe, rpy_os_ftruncate, rpy_os_fsync,
    rpy_os_stat_fields, rpy_os_fstat_fields, rpy_os_listdir, rpy_os_readlink,
    rpy_os_symlink, rpy_os_link, rpy_os_chmod, rpy_os_utime, rpy_os_umask,
    rpy_os_environ, rpy_os_putenv, rpy_os_unsetenv, rpy_os_fork, rpy_os_waitpid,
    rpy_os_execve, rpy_os_kill, rpy_os_system, rpy_os_getppid, rpy_os_getuid,
    rpy_os_geteuid, rpy_os_getgid, rpy_os_getegid, rpy_os_urandom, rpy_os_saved_errno,
    rpy_os_set_saved_errno)
from taipan_prelude.rstr import ll_slice

FIRST_GUESS = 1024
STAT_SIZE = 104


def checked(result):
    if result < 0:
        raise OSError(-result, '')
    return result

def ll_os_write(fd, s):
    return checked(rpy_os_write(fd, s))

def ll_os_read(fd, count):
    if count < 0:
        raise OSError(22, '')
    buffer = malloc(STR, count)
    n = checked(rpy_os_read(fd, buffer))
    if n == count:
        return buffer
    return ll_slice(buffer, 0, n)

def ll_os_open(path, flags, mode):
    return checked(rpy_os_open(path, flags, mode))

def ll_os_close(fd):
    checked(rpy_os_close(fd))

def ll_os_lseek(fd, position, how):
    return checked(rpy_os_lseek(fd, position, how))

def ll_os_isatty(fd):
    return rpy_os_isatty(fd)

def ll_os_unlink(path):
    checked(rpy_os_unlink(path))

def ll_os_access(path, mode):
    return rpy_os_access(path, mode)

def ll_os_mkdir(path, mode):
    checked(rpy_os_mkdir(path, mode))

def ll_os_rmdir(path):
    checked(rpy_os_rmdir(path))

def ll_os_rename(old, new):
    checked(rpy_os_rename(old, new))

def ll_os_chdir(path):
    checked(rpy_os_chdir(path))

def ll_os_getcwd():
    size = FIRST_GUESS
    while True:
        buffer = malloc(STR, size)
        n = checked(rpy_os_getcwd(buffer))
        if n <= size:
            return ll_slice(buffer, 0, n)
        size = n

def ll_os_getenv(name, default):
    buffer = malloc(STR, FIRST_GUESS)
    n = rpy_os_getenv(name, buffer)
    if n < 0:
        return default
    if n > FIRST_GUESS:
        buffer = malloc(STR, n)
        rpy_os_getenv(name, buffer)
    return ll_slice(buffer, 0, n)

def ll_os_strerror(errno):
    buffer = malloc(STR, 256)
    return ll_slice(buffer, 0, rpy_os_strerror(errno, buffer))

def ll_os_getpid():
    return rpy_os_getpid()

def ll_os__exit(code):
    rpy_os_exit(code)

def ll_os_stat(path, field):
    return checked(rpy_os_stat(path, field))

def ll_os_fstat(fd, field):
    return checked(rpy_os_fstat(fd, field))

# os.path.exists, isfile and isdir: the kind of a file is in bits 12 to 15 of its mode.

def ll_path_exists(path):
    return rpy_os_stat(path, 0) >= 0

def ll_path_isfile(path):
    mode = rpy_os_stat(path, 0)
    return mode >= 0 and mode & 0xf000 == 0x8000

def ll_path_isdir(path):
    mode = rpy_os_stat(path, 0)
    return mode >= 0 and mode & 0xf000 == 0x4000

def ll_time_time():
    return rpy_time_time()

def ll_time_clock():
    return rpy_time_clock()

def ll_time_sleep(seconds):
    rpy_time_sleep(seconds)

def ll_clock_ns(clock):
    return checked(rpy_time_clock_ns(clock))

def ll_os_dup(fd):
    return checked(rpy_os_dup(fd))

def ll_os_dup2(fd, other):
    checked(rpy_os_dup2(fd, other))

def ll_pipe():
    return checked(rpy_os_pipe())

def ll_os_ftruncate(fd, length):
    checked(rpy_os_ftruncate(fd, length))

def ll_os_fsync(fd):
    checked(rpy_os_fsync(fd))

def ll_stat_fields(path, follow):
    buffer = malloc(STR, STAT_SIZE)
    checked(rpy_os_stat_fields(path, follow, buffer))
    return buffer

def ll_fstat_fields(fd):
    buffer = malloc(STR, STAT_SIZE)
    checked(rpy_os_fstat_fields(fd, buffer))
    return buffer

def ll_listdir(path):
    size = FIRST_GUESS
    while True:
        buffer = malloc(STR, size)
        n = checked(rpy_os_listdir(path, buffer))
        if n <= size:
            return ll_slice(buffer, 0, n)
        size = n

def ll_os_readlink(path):
    size = FIRST_GUESS
    while True:
        buffer = malloc(STR, size)
        n = checked(rpy_os_readlink(path, buffer))
        if n <= size:
            return ll_slice(buffer, 0, n)
        size = n

def ll_os_symlink(target, path):
    checked(rpy_os_symlink(target, path))

def ll_os_link(old, new):
    checked(rpy_os_link(old, new))

def ll_os_chmod(path, mode):
    checked(rpy_os_chmod(path, mode))

def ll_utime(path, accessed, modified):
    checked(rpy_os_utime(path, accessed, modified))

def ll_get_saved_errno():
    return rpy_os_saved_errno()

def ll_set_saved_errno(number):
    rpy_os_set_saved_errno(number)

def ll_os_umask(mask):
    return rpy_os_umask(mask)

def ll_environ():
    size = FIRST_GUESS
    while True:
        buffer = malloc(STR, size)
        n = rpy_os_environ(buffer)
        if n <= size:
            return ll_slice(buffer, 0, n)
        size = n

def ll_os_putenv(name, value):
    checked(rpy_os_putenv(name, value))

def ll_os_unsetenv(name):
    checked(rpy_os_unsetenv(name))

def ll_os_fork():
    return checked(rpy_os_fork())

def ll_waitpid(pid, options):
    return checked(rpy_os_waitpid(pid, options))

def ll_execve(path, args, env):
    checked(rpy_os_execve(path, args, env))

def ll_os_kill(pid, signal):
    checked(rpy_os_kill(pid, signal))

def ll_os_system(command):
    return checked(rpy_os_system(command))

def ll_os_getppid():
    return rpy_os_getppid()

def ll_os_getuid():
    return cast_primitive(Unsigned, rpy_os_getuid())

def ll_os_geteuid():
    return cast_primitive(Unsigned, rpy_os_geteuid())

def ll_os_getgid():
    return cast_primitive(Unsigned, rpy_os_getgid())

def ll_os_getegid():
    return cast_primitive(Unsigned, rpy_os_getegid())

def ll_os_urandom(count):
    if count < 0:
        raise OSError(22, '')
    buffer = malloc(STR, count)
    checked(rpy_os_urandom(buffer))
    return buffer
