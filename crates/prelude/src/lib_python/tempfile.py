"""Temporary files; what is written to them goes nowhere, as with all files."""
import os

tempdir = '/tmp'
_made = []


def gettempdir():
    return tempdir


def mktemp(suffix='', prefix='tmp', dir=None):
    _made.append(None)
    return os.path.join(dir or tempdir, '%s%06d%s' % (prefix, len(_made), suffix))


def mkdtemp(suffix='', prefix='tmp', dir=None):
    return mktemp(suffix, prefix, dir)


def mkstemp(suffix='', prefix='tmp', dir=None, text=False):
    name = mktemp(suffix, prefix, dir)
    return os.open(name, os.O_WRONLY | os.O_CREAT), name


def NamedTemporaryFile(mode='w+b', bufsize=-1, suffix='', prefix='tmp', dir=None, delete=True):
    return open(mktemp(suffix, prefix, dir), 'w')


TemporaryFile = NamedTemporaryFile
