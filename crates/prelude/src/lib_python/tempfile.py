"""Temporary files, which are forgotten when import time is over."""
import os

tempdir = '/tmp'
_made = []


def gettempdir():
    return tempdir


def mktemp(suffix='', prefix='tmp', dir=None):
    _made.append(None)
    return os.path.join(dir or tempdir, '%s%06d%s' % (prefix, len(_made), suffix))


def mkdtemp(suffix='', prefix='tmp', dir=None):
    name = mktemp(suffix, prefix, dir)
    os.mkdir(name)
    return name


def mkstemp(suffix='', prefix='tmp', dir=None, text=False):
    name = mktemp(suffix, prefix, dir)
    return os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL), name


def NamedTemporaryFile(mode='w+b', bufsize=-1, suffix='', prefix='tmp', dir=None, delete=True):
    return open(mktemp(suffix, prefix, dir), mode)


TemporaryFile = NamedTemporaryFile
