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
S_ISUID, S_ISGID, S_ISVTX = 04000, 02000, 01000
S_IRWXU, S_IRUSR, S_IWUSR, S_IXUSR = 0700, 0400, 0200, 0100
S_IRWXG, S_IRGRP, S_IWGRP, S_IXGRP = 0070, 0040, 0020, 0010
S_IRWXO, S_IROTH, S_IWOTH, S_IXOTH = 0007, 0004, 0002, 0001
S_IREAD, S_IWRITE, S_IEXEC = S_IRUSR, S_IWUSR, S_IXUSR
S_ENFMT = S_ISGID


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


def S_ISBLK(mode):
    return S_IFMT(mode) == S_IFBLK


def S_ISSOCK(mode):
    return S_IFMT(mode) == S_IFSOCK
