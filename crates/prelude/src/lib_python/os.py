"""The part of the operating system that is open to import-time code."""
import errno
import posixpath as path
from posix import *
from posix import _exit

import sys
sys.modules['os.path'] = path

name = 'posix'
sep = '/'
altsep = None
extsep = '.'
pathsep = ':'
linesep = '\n'
curdir = '.'
pardir = '..'
devnull = '/dev/null'
defpath = ':/bin:/usr/bin'
SEEK_SET = 0
SEEK_CUR = 1
SEEK_END = 2
error = OSError


class _Environ(object):
    """The environment: a dict of its own while a program is imported, the process's in
    translated code."""
    _while_importing = environ

    def __getitem__(self, key):
        value = getenv(key)
        if value is None:
            raise KeyError(key)
        return value

    def get(self, key, default=None):
        return getenv(key, default)

    def __contains__(self, key):
        return getenv(key) is not None

    def has_key(self, key):
        return getenv(key) is not None

    def __setitem__(self, key, value):
        putenv(key, value)

    def __delitem__(self, key):
        if getenv(key) is None:
            raise KeyError(key)
        unsetenv(key)

    def pop(self, key, default=None):
        value = getenv(key)
        if value is None:
            return default
        unsetenv(key)
        return value

    def setdefault(self, key, default):
        value = getenv(key)
        if value is None:
            putenv(key, default)
            return default
        return value

    def items(self):
        result = []
        for line in _environ().split('\0'):
            at = line.find('=', 1)
            if at > 0:
                result.append((line[:at], line[at + 1:]))
        return result

    def keys(self):
        return [key for key, _ in self.items()]

    def values(self):
        return [value for _, value in self.items()]

    def __len__(self):
        return len(self.items())

    def __iter__(self):
        return iter(self.keys())

    def iteritems(self):
        return iter(self.items())

    def copy(self):
        result = {}
        for key, value in self.items():
            result[key] = value
        return result

    def update(self, other):
        for key in other.keys():
            self[key] = other[key]


environ = _Environ()


def getenv(key, default=None):
    return environ._while_importing.get(key, default)


def putenv(key, value):
    environ._while_importing[key] = value


def unsetenv(key):
    environ._while_importing.pop(key, None)


def _environ():
    values = environ._while_importing
    return ''.join([key + '=' + values[key] + '\0' for key in values])


def uname():
    return ('Linux', 'localhost', '', '', 'x86_64')


def WEXITSTATUS(status):
    return (status >> 8) & 0xff


def WIFEXITED(status):
    return status & 0x7f == 0


def WTERMSIG(status):
    return status & 0x7f


def WSTOPSIG(status):
    return (status >> 8) & 0xff


def WIFSIGNALED(status):
    return status & 0x7f not in (0, 0x7f)


def WIFSTOPPED(status):
    return status & 0xff == 0x7f


def WCOREDUMP(status):
    return status & 0x80 != 0
