# ------------------------------------------------------------------------------
# Files; what fails returns minus the errno
# ------------------------------------------------------------------------------

import errno
import os
import sys

saved_errno = 0


def attempt(action, *args):
    """What a function of Python returns, or minus its errno; 0 where it returns nothing."""
    global saved_errno
    try:
        result = action(*args)
    except OSError as error:
        saved_errno = error.errno or errno.EIO
        return -saved_errno
    except (ValueError, OverflowError):
        saved_errno = errno.EINVAL
        return -saved_errno
    return 0 if result is None else int(result)


def copy_if_fits(data, out):
    if len(data) <= len(out.chars):
        out.chars[:len(data)] = data
    return len(data)


def path_of(s):
    # A name ends in front of a zero byte, as C sees it.
    return bytes(s.chars).split(b'\0')[0]


def rpy_os_saved_errno():
    return saved_errno


def rpy_os_set_saved_errno(n):
    global saved_errno
    saved_errno = n


def rpy_os_write(fd, s):
    return attempt(os.write, fd, bytes(s.chars))


def rpy_os_read(fd, s):
    def read():
        data = os.read(fd, len(s.chars))
        s.chars[:len(data)] = data
        return len(data)
    return attempt(read)


def rpy_os_open(path, flags, mode):
    def open_inheritable():
        fd = os.open(path_of(path), flags, mode)
        os.set_inheritable(fd, not flags & os.O_CLOEXEC)
        return fd
    return attempt(open_inheritable)


def rpy_os_close(fd):
    return attempt(os.close, fd)


def rpy_os_lseek(fd, position, how):
    return attempt(os.lseek, fd, position, how)


def rpy_os_isatty(fd):
    return os.isatty(fd)


def rpy_os_unlink(path):
    return attempt(os.unlink, path_of(path))


def stat_field(field, stat, *args):
    def get():
        st = stat(*args)
        return (st.st_mode, st.st_size, st.st_mtime_ns, st.st_ino, st.st_dev)[field]
    return attempt(get)


def rpy_os_stat(path, field):
    return stat_field(field, os.stat, path_of(path))


def rpy_os_fstat(fd, field):
    return stat_field(field, os.fstat, fd)


def stat_fields(out, stat, *args, **options):
    def get():
        st = stat(*args, **options)
        fields = (
            st.st_mode, st.st_ino, st.st_dev, st.st_nlink, st.st_uid, st.st_gid, st.st_size,
            st.st_atime_ns, st.st_mtime_ns, st.st_ctime_ns, st.st_blksize, st.st_blocks, st.st_rdev)
        out.chars[:104] = struct.pack('<13q', *(signed(f) for f in fields))
    return attempt(get)


def rpy_os_stat_fields(path, follow, out):
    return stat_fields(out, os.stat, path_of(path), follow_symlinks=follow)


def rpy_os_fstat_fields(fd, out):
    return stat_fields(out, os.fstat, fd)


def rpy_os_access(path, mode):
    return os.access(path_of(path), mode)


def rpy_os_mkdir(path, mode):
    return attempt(os.mkdir, path_of(path), mode)


def rpy_os_rmdir(path):
    return attempt(os.rmdir, path_of(path))


def rpy_os_rename(old, new):
    return attempt(os.rename, path_of(old), path_of(new))


def rpy_os_chdir(path):
    return attempt(os.chdir, path_of(path))


def rpy_os_getcwd(out):
    return attempt(lambda: copy_if_fits(os.getcwdb(), out))


def rpy_os_strerror(n, out):
    text = os.strerror(n).encode()[:len(out.chars)]
    out.chars[:len(text)] = text
    return len(text)


def rpy_os_dup(fd):
    def duplicate():
        new = os.dup(fd)
        os.set_inheritable(new, True)
        return new
    return attempt(duplicate)


def rpy_os_dup2(fd, to):
    return attempt(os.dup2, fd, to)


def rpy_os_pipe():
    def pipe():
        read, write = os.pipe()
        os.set_inheritable(read, True)
        os.set_inheritable(write, True)
        return read | write << 32
    return attempt(pipe)


def rpy_os_ftruncate(fd, size):
    return attempt(os.ftruncate, fd, size)


def rpy_os_fsync(fd):
    return attempt(os.fsync, fd)


def rpy_os_listdir(path, out):
    return attempt(lambda: copy_if_fits(b''.join(n + b'\0' for n in os.listdir(path_of(path))), out))


def rpy_os_readlink(path, out):
    return attempt(lambda: copy_if_fits(os.readlink(path_of(path)), out))


def rpy_os_symlink(target, path):
    return attempt(os.symlink, path_of(target), path_of(path))


def rpy_os_link(old, new):
    return attempt(os.link, path_of(old), path_of(new))


def rpy_os_chmod(path, mode):
    return attempt(os.chmod, path_of(path), mode)


def rpy_os_utime(path, accessed, modified):
    return attempt(os.utime, path_of(path), (accessed, modified))


def rpy_os_umask(mask):
    return os.umask(mask & 0o777)


# The C library's files.

FILE_FUNCTIONS = {
    'fopen': 'Pzz', 'fdopen': 'Piz', 'popen': 'Pzz', 'tmpfile': 'P', 'setvbuf': 'iPPiq', 'fclose': 'iP',
    'pclose': 'iP', 'fread': 'qPqqP', 'fgetc': 'iP', 'fwrite': 'qzqqP', 'fflush': 'iP', 'fseek': 'iPqi',
    'ftell': 'qP', 'fileno': 'iP', 'ferror': 'iP', 'clearerr': 'iP',
}


file_functions = {}


def c_file(name, *args):
    f = file_functions.get(name)
    if f is None:
        f = file_functions[name] = process[name]
        types = [ctypes.c_char_p if c == 'z' else C_TYPES[c] for c in FILE_FUNCTIONS[name]]
        f.restype, f.argtypes = types[0], types[1:]
    return f(*args)


def failed():
    global saved_errno
    saved_errno = ctypes.get_errno() or errno.EIO
    return -saved_errno


def opened(file):
    return file if file else failed()


def done(result):
    return result if result >= 0 else failed()


def rpy_file_open(path, mode):
    return opened(c_file('fopen', path_of(path), path_of(mode)))


def rpy_file_fdopen(fd, mode):
    return opened(c_file('fdopen', fd, path_of(mode)))


def rpy_file_popen(command, mode):
    return opened(c_file('popen', path_of(command), path_of(mode)))


def rpy_file_temporary():
    return opened(c_file('tmpfile'))


def rpy_file_standard(n):
    name = ('stdin', 'stdout', 'stderr')[n]
    return ctypes.c_uint64.in_dll(process, name).value


def rpy_file_set_buffer(file, mode, size):
    return done(c_file('setvbuf', file, 0, mode, size))


def rpy_file_close(file):
    return done(c_file('fclose', file))


def rpy_file_pclose(file):
    return done(c_file('pclose', file))


def rpy_file_read(file, s):
    n = len(s.chars)
    data = ctypes.create_string_buffer(max(n, 1))
    count = c_file('fread', ctypes.addressof(data), 1, n, file)
    s.chars[:count] = data.raw[:count]
    if count == 0 and n and c_file('ferror', file):
        result = failed()
        c_file('clearerr', file)
        return result
    return count


def rpy_file_line(file, s):
    count = 0
    while count < len(s.chars):
        c = c_file('fgetc', file)
        if c < 0:
            if count == 0 and c_file('ferror', file):
                result = failed()
                c_file('clearerr', file)
                return result
            break
        s.chars[count] = c
        count += 1
        if c == 10:
            break
    return count


def rpy_file_write(file, s):
    count = c_file('fwrite', bytes(s.chars), 1, len(s.chars), file)
    if count == len(s.chars):
        return count
    result = failed()
    c_file('clearerr', file)
    return result


def rpy_file_flush(file):
    return done(c_file('fflush', file))


def rpy_file_seek(file, position, how):
    return done(c_file('fseek', file, position, how))


def rpy_file_tell(file):
    return done(c_file('ftell', file))


def rpy_file_fileno(file):
    return done(c_file('fileno', file))
