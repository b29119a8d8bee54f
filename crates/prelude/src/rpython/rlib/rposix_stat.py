"""What the system knows of a file: `os.stat()` and its kin in translated code."""
from rpython.rlib._rposix_paths import _as_bytes0
from rpython.rlib.objectmodel import specialize
from rpython.rlib.rarithmetic import intmask
from rpython.rtyper.lltypesystem import lltype

# What a result has, and of which low-level type: the first ones by place, too.
N_INDEXABLE_FIELDS = 10
STAT_FIELDS = ALL_STAT_FIELDS = [(_name, lltype.Signed) for _name in [
    'st_mode', 'st_ino', 'st_dev', 'st_nlink', 'st_uid', 'st_gid', 'st_size', 'st_atime',
    'st_mtime', 'st_ctime', 'st_blksize', 'st_blocks', 'st_rdev', 'nsec_atime',
    'nsec_mtime', 'nsec_ctime']]
PORTABLE_STAT_FIELDS = STAT_FIELDS[:N_INDEXABLE_FIELDS]
STAT_FIELD_TYPES = dict(STAT_FIELDS)
STAT_FIELD_NAMES = [_name for _name, _ in STAT_FIELDS]


def _seconds(nanoseconds):
    """As C adds them up: the seconds are exact."""
    return float(nanoseconds // 1000000000) + 1e-9 * float(nanoseconds % 1000000000)


class StatResult(object):
    """As CPython's: attributes, and the ten numbers by their places."""
    _attrs_ = ['st_mode', 'st_ino', 'st_dev', 'st_nlink', 'st_uid', 'st_gid', 'st_size',
               'st_atime', 'st_mtime', 'st_ctime', 'st_blksize', 'st_blocks', 'st_rdev',
               'nsec_atime', 'nsec_mtime', 'nsec_ctime']

    def __init__(self, fields):
        self.st_mode = _field(fields, 0)
        self.st_ino = _field(fields, 1)
        self.st_dev = _field(fields, 2)
        self.st_nlink = _field(fields, 3)
        self.st_uid = _field(fields, 4)
        self.st_gid = _field(fields, 5)
        self.st_size = _field(fields, 6)
        self.nsec_atime = _field(fields, 7)
        self.nsec_mtime = _field(fields, 8)
        self.nsec_ctime = _field(fields, 9)
        self.st_blksize = _field(fields, 10)
        self.st_blocks = _field(fields, 11)
        self.st_rdev = _field(fields, 12)
        self.st_atime = _seconds(self.nsec_atime)
        self.st_mtime = _seconds(self.nsec_mtime)
        self.st_ctime = _seconds(self.nsec_ctime)

    def __len__(self):
        return 10

    def __getitem__(self, i):
        if i == 0:
            return self.st_mode
        if i == 1:
            return self.st_ino
        if i == 2:
            return self.st_dev
        if i == 3:
            return self.st_nlink
        if i == 4:
            return self.st_uid
        if i == 5:
            return self.st_gid
        if i == 6:
            return self.st_size
        if i == 7:
            return self.nsec_atime // 1000000000
        if i == 8:
            return self.nsec_mtime // 1000000000
        if i == 9:
            return self.nsec_ctime // 1000000000
        raise IndexError


def _fields(path, follow):
    """The fields of a path, 8 bytes each, the lowest first."""
    raise OSError(1, "not allowed while a program is imported")


def _fd_fields(fd):
    raise OSError(1, "not allowed while a program is imported")


def _field(fields, i):
    n = 0
    for k in range(8 * i + 7, 8 * i - 1, -1):
        n = intmask((n << 8) | ord(fields[k]))
    return n


@specialize.argtype(0)
def stat(path):
    return StatResult(_fields(_as_bytes0(path), True))


@specialize.argtype(0)
def lstat(path):
    return StatResult(_fields(_as_bytes0(path), False))


def fstat(fd):
    return StatResult(_fd_fields(fd))


def _getsize(path):
    return stat(path).st_size


def _islink(path):
    try:
        return lstat(path).st_mode & 0170000 == 0120000
    except OSError:
        return False


from rpython.rlib._rposix_statvfs import STATVFS_FIELDS, StatvfsResult, fstatvfs, statvfs
