"""The part of the `py` library that programs use at import time."""
import os
import sys
from py import test


class LocalPath(object):
    def __init__(self, path=None):
        self.strpath = os.path.abspath(str(path or '.'))

    def join(self, *parts):
        return LocalPath(os.path.join(self.strpath, *parts))

    __div__ = join

    def dirpath(self, *parts):
        return LocalPath(os.path.dirname(self.strpath)).join(*parts)

    def check(self, **kwds):
        return os.path.exists(self.strpath)

    def read(self, mode='r'):
        return open(self.strpath, mode).read()

    def readlines(self):
        return open(self.strpath).readlines()

    @staticmethod
    def sysfind(name):
        """The program of that name on the search path; import-time code starts none."""
        for folder in os.environ.get('PATH', os.defpath).split(os.pathsep):
            found = os.path.join(folder, name)
            if os.path.isfile(found):
                return LocalPath(found)
        return None

    @property
    def basename(self):
        return os.path.basename(self.strpath)

    @property
    def purebasename(self):
        return os.path.splitext(self.basename)[0]

    @property
    def dirname(self):
        return os.path.dirname(self.strpath)

    def new(self, basename=None, ext=None):
        name = basename or self.basename
        if ext is not None:
            name = os.path.splitext(name)[0] + '.' + ext.lstrip('.')
        return self.dirpath(name)

    def __str__(self):
        return self.strpath

    def __repr__(self):
        return 'local(%r)' % self.strpath

    def __eq__(self, other):
        return str(self) == str(other)

    def __hash__(self):
        return hash(self.strpath)


class Source(object):
    def __init__(self, *parts):
        lines = []
        for part in parts:
            if isinstance(part, Source):
                lines.extend(part.lines)
            elif isinstance(part, (list, tuple)):
                lines.extend([line.rstrip('\n') for line in part])
            else:
                lines.extend(_dedent(str(part).split('\n')))
        self.lines = lines

    def putaround(self, before='', after='', indent='    '):
        return Source(Source(before).lines, [indent + line for line in self.lines],
                      Source(after).lines)

    def indent(self, indent='    '):
        return Source([indent + line for line in self.lines])

    def compile(self, filename='<source>', mode='exec'):
        return compile(str(self) + '\n', filename, mode)

    def __str__(self):
        return '\n'.join(self.lines)


def _dedent(lines):
    margins = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    margin = min(margins or [0])
    return [line[margin:] for line in lines]


class _Code(object):
    Source = Source


class _Path(object):
    local = LocalPath


code = _Code()
path = _Path()


class builtin(object):
    """Builtins that old versions of Python lack."""
    set = set
    frozenset = frozenset
    sorted = sorted
    reversed = reversed
    enumerate = enumerate
    bytes = str
    text = unicode
    print_ = staticmethod(lambda *args: sys.stdout.write(' '.join(map(str, args)) + '\n'))
