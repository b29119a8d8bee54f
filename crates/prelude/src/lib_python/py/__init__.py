"""The part of the `py` library that programs use at import time."""
import errno
import fnmatch
import functools
import inspect
import linecache
import os
import sys
from py import test


class _Errors(object):
    """One class for each error of the operating system, by its name: `py.error.ENOENT`."""

    class Error(EnvironmentError):
        pass

for _number, _name in errno.errorcode.items():
    setattr(_Errors, _name, type(_name, (_Errors.Error,), {'__module__': 'py.error'}))

error = _Errors()


def _system_call(function):
    """Makes errors of the operating system those of this library."""
    @functools.wraps(function)
    def checked(*args, **kwds):
        try:
            return function(*args, **kwds)
        except EnvironmentError as e:
            if isinstance(e, error.Error):
                raise
            raise getattr(error, errno.errorcode.get(e.errno, 'Error'))(*e.args)
    return checked


class LocalPath(object):
    """A file or directory by its absolute name; it need not exist."""

    sep = os.sep

    def __init__(self, path=None, expanduser=False):
        if path is not None and expanduser:
            path = os.path.expanduser(str(path))
        self.strpath = os.path.abspath(str(path or '.'))

    # Names

    def join(self, *parts, **kwds):
        return LocalPath(os.path.join(self.strpath, *[str(part) for part in parts]))

    def __div__(self, other):
        return self.join(other)

    def __add__(self, text):
        return LocalPath(self.strpath + str(text))

    def dirpath(self, *parts, **kwds):
        return LocalPath(os.path.dirname(self.strpath)).join(*parts)

    @property
    def basename(self):
        return os.path.basename(self.strpath)

    @property
    def purebasename(self):
        return os.path.splitext(self.basename)[0]

    @property
    def ext(self):
        return os.path.splitext(self.basename)[1]

    @property
    def dirname(self):
        return os.path.dirname(self.strpath)

    def new(self, basename=None, ext=None, purebasename=None, dirname=None):
        name = basename or self.basename
        if purebasename is not None:
            name = purebasename + os.path.splitext(name)[1]
        if ext is not None:
            name = os.path.splitext(name)[0] + ('.' + ext.lstrip('.') if ext else '')
        return LocalPath(os.path.join(dirname or self.dirname, name))

    def parts(self, reverse=False):
        """The path and the directories above it, the root first."""
        found = [self]
        while found[-1].dirname != found[-1].strpath:
            found.append(found[-1].dirpath())
        if not reverse:
            found.reverse()
        return found

    def relto(self, relpath):
        """The way from that directory to here, '' if this is not in it."""
        base = str(relpath).rstrip(os.sep) + os.sep
        return self.strpath[len(base):] if self.strpath.startswith(base) else ''

    def bestrelpath(self, dest):
        return os.path.relpath(str(dest), self.strpath)

    def realpath(self):
        return LocalPath(os.path.realpath(self.strpath))

    def samefile(self, other):
        return os.path.realpath(self.strpath) == os.path.realpath(str(other))

    def fnmatch(self, pattern):
        return _matches(self, pattern)

    # The file system

    def check(self, **kwds):
        """Whether it exists and is what the keywords ask for: dir=1, file=1, notlink=1, ..."""
        return (os.path.exists(self.strpath) or kwds.get('exists', 1) in (0, False)) and all(
            [_test(self, name, wanted) for name, wanted in kwds.items()])

    def exists(self):
        return os.path.exists(self.strpath)

    def isdir(self):
        return os.path.isdir(self.strpath)

    def isfile(self):
        return os.path.isfile(self.strpath)

    def islink(self):
        return os.path.islink(self.strpath)

    @_system_call
    def listdir(self, fil=None, sort=None):
        """The entries that match a pattern or satisfy a function."""
        found = [self.join(name) for name in os.listdir(self.strpath)]
        if isinstance(fil, str):
            found = [entry for entry in found if _matches(entry, fil)]
        elif fil is not None:
            found = [entry for entry in found if fil(entry)]
        if callable(sort):
            found.sort(sort)
        elif sort:
            found.sort()
        return found

    def visit(self, fil=None, rec=None, ignore=None, bf=False, sort=False):
        """What is below, entries of a directory before those of its directories."""
        inner = []
        for entry in self.listdir(sort=sort):
            wanted = entry.basename if isinstance(rec, str) else entry
            if entry.isdir() and (rec is None or (
                    _matches(entry, rec) if isinstance(rec, str) else rec(wanted))):
                inner.append(entry)
            if fil is None or (_matches(entry, fil) if isinstance(fil, str) else fil(entry)):
                yield entry
        for directory in inner:
            for entry in directory.visit(fil, rec, ignore, bf, sort):
                yield entry

    @_system_call
    def size(self):
        return os.stat(self.strpath).st_size

    @_system_call
    def stat(self, raising=True):
        return _Stat(os.stat(self.strpath))

    @_system_call
    def mtime(self):
        return os.stat(self.strpath).st_mtime

    @_system_call
    def open(self, mode='r', **kwds):
        return open(self.strpath, mode)

    @_system_call
    def read(self, mode='r'):
        with open(self.strpath, mode) as f:
            return f.read()

    def read_binary(self):
        return self.read('rb')

    def readlines(self, cr=1):
        lines = self.read().split('\n')
        if cr:
            lines = [line + '\n' for line in lines[:-1]] + lines[-1:]
            if not lines[-1]:
                lines.pop()
        return lines

    @_system_call
    def write(self, data, mode='w', ensure=False):
        """Only the program sees what it writes while it loads, or while it is interpreted."""
        _make_folder(self.dirname)
        with open(self.strpath, mode) as f:
            f.write(data if isinstance(data, (str, unicode)) else str(data))

    def write_binary(self, data, ensure=False):
        self.write(data, 'wb')

    def write_text(self, data, encoding='utf-8', ensure=False):
        self.write(data.encode(encoding))

    @_system_call
    def ensure(self, *parts, **kwds):
        path = self.join(*parts)
        if kwds.get('dir'):
            _make_folder(path.strpath)
        elif not path.exists():
            path.write('')
        return path

    def ensure_dir(self, *parts):
        return self.ensure(*parts, dir=True)

    @_system_call
    def mkdir(self, *parts):
        path = self.join(*parts)
        os.mkdir(path.strpath)
        return path

    @_system_call
    def remove(self, rec=1, ignore_errors=False):
        if self.isdir():
            for entry in self.listdir():
                entry.remove()
            os.rmdir(self.strpath)
        else:
            os.unlink(self.strpath)

    @_system_call
    def rename(self, target):
        os.rename(self.strpath, str(target))

    move = rename

    def copy(self, target, mode=False):
        target = LocalPath(str(target))
        if target.isdir():
            target = target.join(self.basename)
        target.write(self.read('rb'), 'wb')

    @_system_call
    def chdir(self):
        old = LocalPath(os.getcwd())
        os.chdir(self.strpath)
        return old

    @_system_call
    def chmod(self, mode, rec=0):
        os.chmod(self.strpath, mode)

    def as_cwd(self):
        return _WorkingFolder(self)

    @staticmethod
    def sysfind(name, checker=None, paths=None):
        """The program of that name on the search path; import-time code starts none."""
        for folder in paths or os.environ.get('PATH', os.defpath).split(os.pathsep):
            found = os.path.join(str(folder), name)
            if os.path.isfile(found):
                return LocalPath(found)
        return None

    def __str__(self):
        return self.strpath

    def __repr__(self):
        return 'local(%r)' % self.strpath

    def __eq__(self, other):
        return str(self) == str(other)

    def __ne__(self, other):
        return str(self) != str(other)

    def __lt__(self, other):
        return str(self) < str(other)

    def __cmp__(self, other):
        return cmp(str(self), str(other))

    def __hash__(self):
        return hash(self.strpath)

    def __iter__(self):
        return iter(self.listdir())


class _Stat(object):
    """`os.stat()` with the names of this library."""

    def __init__(self, result):
        self._result = result

    def __getattr__(self, name):
        return getattr(self._result, 'st_' + name)


class _WorkingFolder(object):
    def __init__(self, path):
        self.path = path

    def __enter__(self):
        self.old = self.path.chdir()
        return self.old

    def __exit__(self, type, value, traceback):
        self.old.chdir()


def _make_folder(path):
    if not os.path.isdir(path):
        _make_folder(os.path.dirname(path))
        os.mkdir(path)


def _matches(path, pattern):
    """Whether the name fits the pattern; one with a separator is for the whole path."""
    name = path.strpath if os.sep in pattern else path.basename
    if os.sep in pattern and not os.path.isabs(pattern):
        pattern = '*' + os.sep + pattern
    return fnmatch.fnmatch(name, pattern)


def _test(path, name, wanted):
    negated = name.startswith('not')
    name = name[3:] if negated else name
    if name in ('dir', 'file', 'link', 'exists'):
        answer = getattr(path, name if name == 'exists' else 'is' + name)() == bool(wanted)
    elif name in ('basename', 'ext'):
        answer = getattr(path, name) == wanted
    elif name == 'dotfile':
        answer = path.basename.startswith('.') == bool(wanted)
    elif name in ('fnmatch', 'relto'):
        answer = bool(_matches(path, wanted) if name == 'fnmatch' else path.relto(wanted))
    else:
        raise TypeError("no check %r" % (name,))
    return answer != negated


# The names of texts that were compiled without one.
_COMPILED = []


class Source(object):
    def __init__(self, *parts):
        lines = []
        for part in parts:
            if isinstance(part, Source):
                lines.extend(part.lines)
            elif isinstance(part, (list, tuple)):
                lines.extend([line.rstrip('\n') for line in part])
            elif inspect.isroutine(part) or inspect.isclass(part):
                lines.extend(_dedent(inspect.getsource(part).split('\n')))
            else:
                lines.extend(_dedent(str(part).split('\n')))
        self.lines = lines

    def putaround(self, before='', after='', indent='    '):
        return Source(Source(before).lines, [indent + line for line in self.lines],
                      Source(after).lines)

    def indent(self, indent='    '):
        return Source([indent + line for line in self.lines])

    def deindent(self, offset=None):
        if offset is None:
            return Source('\n'.join(self.lines))
        return Source([line[offset:] for line in self.lines])

    def strip(self):
        """Without blank lines before and after."""
        lines = self.lines[:]
        while lines and not lines[0].strip():
            lines.pop(0)
        while lines and not lines[-1].strip():
            lines.pop()
        return Source(lines)

    def compile(self, filename=None, mode='exec'):
        """Code whose functions can be asked for their source."""
        text = str(self) + '\n'
        if filename is None:
            filename = '<source %d>' % (len(_COMPILED),)
            _COMPILED.append(filename)
        linecache.cache[filename] = len(text), None, text.splitlines(True), filename
        return compile(text, filename, mode)

    def getstatement(self, lineno, assertion=False):
        """The statement that begins in a line, to the line where its brackets are closed."""
        depth, quote = 0, None
        for end in range(lineno, len(self.lines)):
            depth, quote = inspect._scan(self.lines[end] + '\n', depth, quote)
            if depth <= 0 and quote is None and not self.lines[end].endswith('\\'):
                return Source(self.lines[lineno:end + 1]).deindent()
        return Source(self.lines[lineno:]).deindent()

    def __len__(self):
        return len(self.lines)

    def __getitem__(self, key):
        if isinstance(key, slice):
            return Source(self.lines[key])
        return self.lines[key]

    def __eq__(self, other):
        return str(self) == str(other)

    def __str__(self):
        return '\n'.join(self.lines)


def _dedent(lines):
    margins = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    margin = min(margins or [0])
    return [line[margin:] for line in lines]


class Code(object):
    """A code object, or that of a function."""

    def __init__(self, raw):
        raw = getattr(raw, 'im_func', raw)
        self.raw = getattr(raw, 'func_code', raw)
        self.name = self.raw.co_name
        self.firstlineno = self.raw.co_firstlineno - 1
        self.path = LocalPath(self.raw.co_filename)

    @property
    def fullsource(self):
        lines = linecache.getlines(self.raw.co_filename)
        return Source(lines) if lines else None

    def getargs(self, var=False):
        names = inspect.getargs(self.raw)
        return names.args + [n for n in names[1:] if var and n is not None]


class Frame(object):
    """A frame that runs, or did."""

    def __init__(self, frame):
        self.raw = frame
        self.code = Code(frame.f_code)
        self.lineno = frame.f_lineno - 1
        self.f_globals = frame.f_globals
        self.f_locals = frame.f_locals

    @property
    def statement(self):
        source = self.code.fullsource
        return Source('') if source is None else source.getstatement(self.lineno)

    def eval(self, code, **names):
        known = dict(self.f_locals)
        known.update(names)
        return eval(code, self.f_globals, known)

    def repr(self, value):
        return io.saferepr(value)

    def is_true(self, value):
        return value


class TracebackEntry(object):
    def __init__(self, raw):
        self.frame = Frame(raw.tb_frame)
        self.lineno = raw.tb_lineno - 1

    @property
    def name(self):
        return self.frame.code.raw.co_name

    @property
    def path(self):
        return self.frame.code.path

    @property
    def statement(self):
        return self.frame.code.fullsource.getstatement(self.lineno)

    def __str__(self):
        return '  File %r:%d in %s\n    %s\n' % (
            str(self.path), self.lineno + 1, self.name, str(self.statement).strip())


class Traceback(list):
    Entry = TracebackEntry

    def __init__(self, tb):
        entries = []
        while tb is not None:
            entries.append(self.Entry(tb))
            tb = tb.tb_next
        list.__init__(self, entries)


class _Code(object):
    Source = Source
    Code = Code
    Frame = Frame
    Traceback = Traceback
    ExceptionInfo = test.ExceptionInfo


class _Path(object):
    local = LocalPath


class _Std(object):
    """The standard library: `py.std.os` is `os`."""

    def __getattr__(self, name):
        try:
            return __import__(name)
        except ImportError:
            raise AttributeError(name)


code = _Code()
path = _Path()
std = _Std()


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


class TerminalWriter(object):
    """Nobody watches a program load."""

    fullwidth = 80
    hasmarkup = False

    def __init__(self, file=None, stringio=False):
        pass

    def line(self, text='', **markup):
        pass

    write = sep = line

    def markup(self, text, **markup):
        return text


class io(object):
    TerminalWriter = TerminalWriter
    get_terminal_width = staticmethod(lambda: TerminalWriter.fullwidth)
    saferepr = staticmethod(repr)
