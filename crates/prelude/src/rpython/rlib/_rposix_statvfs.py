"""What the system knows of a file system: `os.statvfs()` and `os.fstatvfs()`."""
from rpython.rlib._rposix_c import _INT, _P, _c, _checked
from rpython.rlib._rposix_paths import _as_bytes0
from rpython.rlib.objectmodel import specialize
from rpython.rtyper.lltypesystem import lltype, rffi

# The C library's struct: eleven words, of which the ninth is the number of the file
# system, and room for more.
_BUFFER = rffi.CArray(lltype.Signed)
_WORDS = 14

_statvfs = _c('statvfs', [_P, lltype.Ptr(_BUFFER)], _INT)
_fstatvfs = _c('fstatvfs', [_INT, lltype.Ptr(_BUFFER)], _INT)

STATVFS_FIELDS = [(_name, lltype.Signed) for _name in (
    'f_bsize', 'f_frsize', 'f_blocks', 'f_bfree', 'f_bavail', 'f_files', 'f_ffree',
    'f_favail', 'f_flag', 'f_namemax')] + [('f_fsid', lltype.Unsigned)]
STATVFS_FIELD_TYPES = dict(STATVFS_FIELDS)
STATVFS_FIELD_NAMES = [_name for _name, _ in STATVFS_FIELDS]


class StatvfsResult(object):
    """As CPython's: attributes, and the ten numbers by their places."""

    def __init__(self, buffer):
        self.f_bsize, self.f_frsize = buffer[0], buffer[1]
        self.f_blocks, self.f_bfree, self.f_bavail = buffer[2], buffer[3], buffer[4]
        self.f_files, self.f_ffree, self.f_favail = buffer[5], buffer[6], buffer[7]
        self.f_fsid = rffi.cast(lltype.Unsigned, buffer[8])
        self.f_flag, self.f_namemax = buffer[9], buffer[10]

    def __len__(self):
        return 10

    def __getitem__(self, i):
        fields = [self.f_bsize, self.f_frsize, self.f_blocks, self.f_bfree, self.f_bavail,
                  self.f_files, self.f_ffree, self.f_favail, self.f_flag, self.f_namemax]
        if not 0 <= i < 10:
            raise IndexError
        return fields[i]


@specialize.argtype(0)
def statvfs(path):
    buffer = lltype.malloc(_BUFFER, _WORDS, flavor='raw', zero=True)
    try:
        with rffi.scoped_str2charp(_as_bytes0(path)) as name:
            _checked(_statvfs(name, buffer), 'statvfs')
        return StatvfsResult(buffer)
    finally:
        lltype.free(buffer, flavor='raw')

def fstatvfs(fd):
    buffer = lltype.malloc(_BUFFER, _WORDS, flavor='raw', zero=True)
    try:
        _checked(_fstatvfs(rffi.cast(_INT, fd), buffer), 'fstatvfs')
        return StatvfsResult(buffer)
    finally:
        lltype.free(buffer, flavor='raw')
