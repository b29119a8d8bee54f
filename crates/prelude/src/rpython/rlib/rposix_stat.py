"""What the system knows of a file: `os.stat()` and its kin in translated code."""
from rpython.rlib._rposix_c import (
    _INT, _P, AT_FDCWD, AT_SYMLINK_NOFOLLOW, _c, _checked, makedev)
from rpython.rlib._rposix_paths import _as_bytes0
from rpython.rlib.objectmodel import specialize, we_are_translated
from rpython.rlib.rarithmetic import intmask
from rpython.rtyper.lltypesystem import lltype, rffi

# What a result has, and of which low-level type: the first ones by place, too.
N_INDEXABLE_FIELDS = 10
STAT_FIELDS = ALL_STAT_FIELDS = [(_name, lltype.Signed) for _name in [
    'st_mode', 'st_ino', 'st_dev', 'st_nlink', 'st_uid', 'st_gid', 'st_size', 'st_atime',
    'st_mtime', 'st_ctime', 'st_blksize', 'st_blocks', 'st_rdev', 'nsec_atime',
    'nsec_mtime', 'nsec_ctime']]
PORTABLE_STAT_FIELDS = STAT_FIELDS[:N_INDEXABLE_FIELDS]
STAT_FIELD_TYPES = dict(STAT_FIELDS)
STAT_FIELD_NAMES = [_name for _name, _ in STAT_FIELDS]
_SECOND = 1000000000


class StatResult(object):
    """As CPython's: attributes, and the ten numbers by their places. The times are floats
    as attributes, and whole seconds by their places; the rest of a second is in `nsec_*`."""
    _attrs_ = ['st_mode', 'st_ino', 'st_dev', 'st_nlink', 'st_uid', 'st_gid', 'st_size',
               'st_atime', 'st_mtime', 'st_ctime', 'st_blksize', 'st_blocks', 'st_rdev',
               'nsec_atime', 'nsec_mtime', 'nsec_ctime', '_atime', '_mtime', '_ctime']

    def __init__(self, mode, ino, dev, nlink, uid, gid, size, blksize, blocks, rdev):
        self.st_mode, self.st_ino, self.st_dev, self.st_nlink = mode, ino, dev, nlink
        self.st_uid, self.st_gid, self.st_size = uid, gid, size
        self.st_blksize, self.st_blocks, self.st_rdev = blksize, blocks, rdev
        self._set_times(0, 0, 0, 0, 0, 0)

    def _set_times(self, atime, nsec_atime, mtime, nsec_mtime, ctime, nsec_ctime):
        self._atime, self.nsec_atime = atime, nsec_atime
        self._mtime, self.nsec_mtime = mtime, nsec_mtime
        self._ctime, self.nsec_ctime = ctime, nsec_ctime
        self.st_atime = float(atime) + 1e-9 * float(nsec_atime)
        self.st_mtime = float(mtime) + 1e-9 * float(nsec_mtime)
        self.st_ctime = float(ctime) + 1e-9 * float(nsec_ctime)

    def __len__(self):
        return N_INDEXABLE_FIELDS

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
            return self._atime
        if i == 8:
            return self._mtime
        if i == 9:
            return self._ctime
        raise IndexError


@specialize.arg(1)
def get_stat_ns_as_bigint(st, name):
    """One of the times ("atime", "mtime" or "ctime") in nanoseconds."""
    from rpython.rlib.rbigint import rbigint
    if not we_are_translated():
        return rbigint.fromfloat(getattr(st, 'st_' + name) * 1e9)
    seconds = getattr(st, '_' + name)
    return rbigint.fromint(seconds).int_mul(_SECOND).int_add(getattr(st, 'nsec_' + name))


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


def _result(fields):
    st = StatResult(_field(fields, 0), _field(fields, 1), _field(fields, 2), _field(fields, 3),
                    _field(fields, 4), _field(fields, 5), _field(fields, 6),
                    _field(fields, 10), _field(fields, 11), _field(fields, 12))
    atime, mtime, ctime = _field(fields, 7), _field(fields, 8), _field(fields, 9)
    st._set_times(atime // _SECOND, atime % _SECOND, mtime // _SECOND, mtime % _SECOND,
                  ctime // _SECOND, ctime % _SECOND)
    return st


@specialize.argtype(0)
def stat(path):
    return _result(_fields(_as_bytes0(path), True))


@specialize.argtype(0)
def lstat(path):
    return _result(_fields(_as_bytes0(path), False))


def fstat(fd):
    return _result(_fd_fields(fd))


# Python 3's, which differ on Windows only.
stat3, lstat3 = stat, lstat

# The system's `struct statx`, which is the same on every machine.
_TIME = rffi.CStruct('statx_timestamp', ('tv_sec', rffi.LONGLONG), ('tv_nsec', rffi.UINT),
                     ('reserved', rffi.INT))
_STATX = rffi.CStruct(
    'statx', ('mask', rffi.UINT), ('blksize', rffi.UINT), ('attributes', rffi.ULONGLONG),
    ('nlink', rffi.UINT), ('uid', rffi.UINT), ('gid', rffi.UINT), ('mode', rffi.USHORT),
    ('spare', rffi.USHORT), ('ino', rffi.ULONGLONG), ('size', rffi.ULONGLONG),
    ('blocks', rffi.ULONGLONG), ('attributes_mask', rffi.ULONGLONG), ('atime', _TIME),
    ('btime', _TIME), ('ctime', _TIME), ('mtime', _TIME), ('rdev_major', rffi.UINT),
    ('rdev_minor', rffi.UINT), ('dev_major', rffi.UINT), ('dev_minor', rffi.UINT),
    ('rest', rffi.CFixedArray(rffi.ULONGLONG, 14)))
_BASIC_STATS = 0x7ff
_c_statx = _c('statx', [_INT, _P, _INT, rffi.UINT, lltype.Ptr(_STATX)], _INT)


def fstatat(pathname, dir_fd=AT_FDCWD, follow_symlinks=True):
    """What the system knows of a file in an open folder."""
    flags = 0 if follow_symlinks else AT_SYMLINK_NOFOLLOW
    with rffi.scoped_str2charp(pathname) as p:
        with lltype.scoped_alloc(_STATX) as x:
            _checked(_c_statx(rffi.cast(_INT, dir_fd), p, rffi.cast(_INT, flags),
                              rffi.cast(rffi.UINT, _BASIC_STATS), x), 'fstatat')
            st = StatResult(
                intmask(x.c_mode), intmask(x.c_ino),
                makedev(intmask(x.c_dev_major), intmask(x.c_dev_minor)),
                intmask(x.c_nlink), intmask(x.c_uid), intmask(x.c_gid), intmask(x.c_size),
                intmask(x.c_blksize), intmask(x.c_blocks),
                makedev(intmask(x.c_rdev_major), intmask(x.c_rdev_minor)))
            st._set_times(intmask(x.c_atime.c_tv_sec), intmask(x.c_atime.c_tv_nsec),
                          intmask(x.c_mtime.c_tv_sec), intmask(x.c_mtime.c_tv_nsec),
                          intmask(x.c_ctime.c_tv_sec), intmask(x.c_ctime.c_tv_nsec))
            return st


def _getsize(path):
    return stat(path).st_size


def _islink(path):
    try:
        return lstat(path).st_mode & 0170000 == 0120000
    except OSError:
        return False


from rpython.rlib._rposix_statvfs import (
    STATVFS_FIELD_NAMES, STATVFS_FIELD_TYPES, STATVFS_FIELDS, StatvfsResult, fstatvfs, statvfs)
