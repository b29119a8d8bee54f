"""Modes of files."""
ST_MODE, ST_INO, ST_DEV, ST_NLINK, ST_UID, ST_GID, ST_SIZE, ST_ATIME, ST_MTIME, ST_CTIME = range(10)
S_IFMT_MASK = 0170000
S_IFDIR = 0040000
S_IFCHR = 0020000
S_IFBLK = 0060000
S_IFREG = 0100000
S_IFIFO = 0010000
S_IFLNK = 0120000
S_IFSOCK = 0140000


def S_IMODE(mode):
    return mode & 07777


def S_IFMT(mode):
    return mode & 0170000


def S_ISDIR(mode):
    return S_IFMT(mode) == S_IFDIR


def S_ISREG(mode):
    return S_IFMT(mode) == S_IFREG


def S_ISLNK(mode):
    return S_IFMT(mode) == S_IFLNK


def S_ISCHR(mode):
    return S_IFMT(mode) == S_IFCHR


def S_ISFIFO(mode):
    return S_IFMT(mode) == S_IFIFO
