"""The entries of a folder one by one, with what the system says about them by the way."""
from rpython.rlib._rposix_c import _c, _cast, _errno_location, _failed
from rpython.rlib.rarithmetic import intmask, widen
from rpython.rtyper.lltypesystem import lltype, rffi

# The C library's `struct dirent`, up to the name; only the first of its characters is said.
DIRENT = rffi.CStruct('dirent', ('d_ino', rffi.ULONG), ('d_off', rffi.LONG),
                      ('d_reclen', rffi.USHORT), ('d_type', rffi.UCHAR),
                      ('d_name', rffi.CFixedArray(rffi.CHAR, 1)))
DIRENTP = lltype.Ptr(DIRENT)
DIRP = rffi.COpaquePtr('DIR')
NULL_DIRP = lltype.nullptr(DIRP.TO)

DT_UNKNOWN, DT_DIR, DT_REG, DT_LNK = 0, 4, 8, 10

_c_opendir = _c('opendir', [rffi.CCHARP], DIRP)
_c_fdopendir = _c('fdopendir', [rffi.INT], DIRP)
_c_rewinddir = _c('rewinddir', [DIRP], lltype.Void)
_c_readdir = _c('readdir', [DIRP], DIRENTP)
_c_close = _c('close', [rffi.INT], rffi.INT)
_c_closedir = _c('closedir', [DIRP], rffi.INT)


def opendir(path, lgt):
    return opendir_bytes(path)


def opendir_bytes(path):
    with rffi.scoped_str2charp(path) as p:
        dirp = _c_opendir(p)
        if not dirp:
            raise _failed('opendir')
        return dirp


def closedir(dirp):
    _c_closedir(dirp)


def nextentry(dirp):
    """The next entry, NULL after the last one; it is good until the next call. '.' and '..'
    are among them."""
    _errno_location()[0] = _cast(rffi.INT, 0)
    entry = _c_readdir(dirp)
    if not entry and intmask(_errno_location()[0]) != 0:
        raise _failed('readdir')
    return entry


def get_name_bytes(direntp):
    return rffi.charp2str(rffi.cast(rffi.CCHARP, direntp.c_d_name))


def get_known_type(direntp):
    """One of the DT_ numbers, DT_UNKNOWN where the file has to be asked."""
    return widen(direntp.c_d_type)


def get_inode(direntp):
    return direntp.c_d_ino


def fdlistdir(dirfd):
    """The names in the folder of a descriptor, which is closed."""
    dirp = _c_fdopendir(_cast(rffi.INT, dirfd))
    if not dirp:
        error = _failed('opendir')
        _c_close(_cast(rffi.INT, dirfd))
        raise error
    _c_rewinddir(dirp)
    names = []
    try:
        while True:
            entry = nextentry(dirp)
            if not entry:
                return names
            name = get_name_bytes(entry)
            if name != '.' and name != '..':
                names.append(name)
    finally:
        closedir(dirp)
