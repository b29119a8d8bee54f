"""The paths that the fixture `tmp_path` gives: the part of pathlib that tests use."""
import fnmatch
import os


class Path(object):
    def __init__(self, *parts):
        self._path = os.path.normpath(os.path.join(*[str(p) for p in parts]))

    def __div__(self, other):
        return Path(self._path, other)

    __truediv__ = __div__

    def joinpath(self, *parts):
        return Path(self._path, *parts)

    def __str__(self):
        return self._path

    __fspath__ = as_posix = __str__

    def __repr__(self):
        return 'PosixPath(%r)' % (self._path,)

    def __eq__(self, other):
        return isinstance(other, Path) and self._path == other._path

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash(self._path)

    def __lt__(self, other):
        return self._path < other._path

    @property
    def name(self):
        return os.path.basename(self._path)

    @property
    def stem(self):
        return os.path.splitext(self.name)[0]

    @property
    def suffix(self):
        return os.path.splitext(self.name)[1]

    @property
    def parent(self):
        return Path(os.path.dirname(self._path))

    @property
    def parts(self):
        return ('/',) + tuple(self._path.strip('/').split('/'))

    def with_name(self, name):
        return self.parent / name

    def with_suffix(self, suffix):
        return self.parent / (self.stem + suffix)

    def relative_to(self, other):
        return Path(os.path.relpath(self._path, str(other)))

    def resolve(self):
        return Path(os.path.realpath(self._path))

    absolute = resolve

    def exists(self):
        return os.path.exists(self._path)

    def is_dir(self):
        return os.path.isdir(self._path)

    def is_file(self):
        return os.path.isfile(self._path)

    def mkdir(self, mode=0777, parents=False, exist_ok=False):
        if exist_ok and self.is_dir():
            return
        if parents and not self.parent.exists():
            self.parent.mkdir(mode, True, True)
        os.mkdir(self._path)

    def iterdir(self):
        return iter([self / name for name in os.listdir(self._path)])

    def glob(self, pattern):
        return iter([p for p in self.iterdir() if fnmatch.fnmatch(p.name, pattern)])

    def open(self, mode='r', *args, **kwds):
        return open(self._path, mode)

    def read_bytes(self):
        with open(self._path, 'rb') as f:
            return f.read()

    def write_bytes(self, data):
        with open(self._path, 'wb') as f:
            f.write(data)
        return len(data)

    def read_text(self, encoding='utf-8', errors='strict'):
        return self.read_bytes().decode(encoding, errors)

    def write_text(self, data, encoding='utf-8', errors='strict'):
        if isinstance(data, unicode):
            data = data.encode(encoding, errors)
        return self.write_bytes(data)

    def touch(self, mode=0666, exist_ok=True):
        with open(self._path, 'ab'):
            pass

    def unlink(self):
        os.unlink(self._path)

    def rmdir(self):
        os.rmdir(self._path)

    def rename(self, target):
        os.rename(self._path, str(target))
        return Path(str(target))

    def stat(self):
        return os.stat(self._path)
