"""The C library's files, by their addresses. A failure is IOError with its errno."""
from rpython.rtyper.lltypesystem.lltype import malloc
from taipan_lowlevel import STR
from taipan_lowlevel import (
    rpy_file_open, rpy_file_fdopen, rpy_file_popen, rpy_file_temporary,
    rpy_file_standard, rpy_file_set_buffer, rpy_file_close, rpy_file_pclose,
    rpy_file_read, rpy_file_line, rpy_file_write, rpy_file_flush, rpy_file_seek,
    rpy_file_tell, rpy_file_fileno)
from taipan_prelude.rstr import ll_slice


def checked(result):
    if result < 0:
        raise IOError(-result, '')
    return result

def ll_file_open(path, mode):
    return checked(rpy_file_open(path, mode))

def ll_file_fdopen(fd, mode):
    return checked(rpy_file_fdopen(fd, mode))

def ll_file_popen(command, mode):
    return checked(rpy_file_popen(command, mode))

def ll_file_temporary():
    return checked(rpy_file_temporary())

def ll_file_standard(which):
    return checked(rpy_file_standard(which))

def ll_file_set_buffer(file, mode, size):
    return checked(rpy_file_set_buffer(file, mode, size))

def ll_file_close(file):
    return checked(rpy_file_close(file))

def ll_file_pclose(file):
    return checked(rpy_file_pclose(file))

def ll_file_read(file, count):
    buffer = malloc(STR, count)
    n = checked(rpy_file_read(file, buffer))
    if n == count:
        return buffer
    return ll_slice(buffer, 0, n)

def ll_file_line(file, count):
    buffer = malloc(STR, count)
    n = checked(rpy_file_line(file, buffer))
    if n == count:
        return buffer
    return ll_slice(buffer, 0, n)

def ll_file_write(file, s):
    return checked(rpy_file_write(file, s))

def ll_file_flush(file):
    return checked(rpy_file_flush(file))

def ll_file_seek(file, pos, how):
    return checked(rpy_file_seek(file, pos, how))

def ll_file_tell(file):
    return checked(rpy_file_tell(file))

def ll_file_fileno(file):
    return checked(rpy_file_fileno(file))
