"""Functions of `os` and `time`. A failure is OSError with its errno."""
from rpython.rtyper.lltypesystem.lltype import malloc
from taipan_lowlevel import STR
from taipan_lowlevel import (
    rpy_os_write, rpy_os_read, rpy_os_open, rpy_os_close, rpy_os_lseek,
    rpy_os_isatty, rpy_os_unlink, rpy_os_access, rpy_os_mkdir, rpy_os_rmdir,
    rpy_os_rename, rpy_os_chdir, rpy_os_getcwd, rpy_os_getenv, rpy_os_strerror,
    rpy_os_getpid, rpy_os_exit, rpy_os_stat, rpy_os_fstat, rpy_time_time,
    rpy_time_clock, rpy_time_sleep)
from taipan_prelude.rstr import ll_slice

FIRST_GUESS = 1024


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
