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


def getenv(key, default=None):
    return environ.get(key, default)


def uname():
    return ('Linux', 'localhost', '', '', 'x86_64')


def urandom(count):
    raise NotImplementedError("import time is deterministic")
