"""The part of the operating system that is open to import-time code."""
import errno
import posixpath as path
from posix import *
from posix import _exit, _variable, _variables

import sys
from rpython.rlib._rposix_names import confstr_names, pathconf_names, sysconf_names
from rpython.rlib.objectmodel import we_are_translated
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

# How processes end, by sysexits.h.
EX_OK = 0
EX_USAGE = 64
EX_DATAERR = 65
EX_NOINPUT = 66
EX_NOUSER = 67
EX_NOHOST = 68
EX_UNAVAILABLE = 69
EX_SOFTWARE = 70
EX_OSERR = 71
EX_OSFILE = 72
EX_CANTCREAT = 73
EX_IOERR = 74
EX_TEMPFAIL = 75
EX_PROTOCOL = 76
EX_NOPERM = 77
EX_CONFIG = 78

# How spawnv() and its like wait.
P_WAIT = 0
P_NOWAIT = P_NOWAITO = 1

WCONTINUED = 8
O_LARGEFILE = 0
O_NOATIME = 01000000
NGROUPS_MAX = 65536
TMP_MAX = 238328


def makedirs(name, mode=0777):
    head, tail = path.split(name)
    if not tail:
        head, tail = path.split(head)
    if head and tail and not path.exists(head):
        try:
            makedirs(head, mode)
        except OSError, e:
            # Somebody else was faster.
            if e.errno != errno.EEXIST:
                raise
        if tail == curdir:
            return
    mkdir(name, mode)


def removedirs(name):
    rmdir(name)
    head, tail = path.split(name)
    while head and tail:
        try:
            rmdir(head)
        except error:
            return
        head, tail = path.split(head)


def walk(top, topdown=True, onerror=None, followlinks=False):
    try:
        names = listdir(top)
    except error, e:
        if onerror is not None:
            onerror(e)
        return
    folders, files = [], []
    for entry in names:
        (folders if path.isdir(path.join(top, entry)) else files).append(entry)
    if topdown:
        yield top, folders, files
    # A caller may have left out some of them by now.
    for entry in folders:
        for below in walk(path.join(top, entry), topdown, onerror, followlinks):
            yield below
    if not topdown:
        yield top, folders, files


class _Environ(object):
    """The environment of the process. While a program is imported, each variable is read when it
    is asked for, and what the program sets is seen by itself alone."""
    # What the program has set while it was imported, by name; None for what it has removed.
    _while_importing = {}

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
        missing = getenv(key) is None
        # OSError for invalid names.
        unsetenv(key)
        if missing:
            raise KeyError(key)

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
        if not we_are_translated():
            return _names_while_importing()
        return [key for key, _ in self.items()]

    def values(self):
        return [value for _, value in self.items()]

    def __len__(self):
        return len(self.keys())

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
    changed = environ._while_importing
    value = changed[key] if key in changed else _variable(key)
    return default if value is None else value


def putenv(key, value):
    environ._while_importing[key] = value


def unsetenv(key):
    environ._while_importing[key] = None


def _names_while_importing():
    changed = environ._while_importing
    names = [name for name in _variables() if name not in changed]
    return names + [name for name in changed if changed[name] is not None]


def _environ():
    return ''.join([key + '=' + getenv(key) + '\0' for key in _names_while_importing()])


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


def WIFCONTINUED(status):
    return status == 0xffff
