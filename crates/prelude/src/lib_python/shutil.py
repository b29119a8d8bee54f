"""Copies and removes files and folders, while a program is imported: in memory. All files are as
old and may be used alike then, so that nothing but contents is copied."""
import os


class Error(EnvironmentError):
    pass


def copyfileobj(fsrc, fdst, length=16 * 1024):
    while True:
        piece = fsrc.read(length)
        if not piece:
            return
        fdst.write(piece)


def _is_same(src, dst):
    return os.path.abspath(src) == os.path.abspath(dst)


def copyfile(src, dst):
    if _is_same(src, dst):
        raise Error("`%s` and `%s` are the same file" % (src, dst))
    with open(src, 'rb') as source:
        with open(dst, 'wb') as target:
            copyfileobj(source, target)


def copy(src, dst):
    """Copies to a file or into a folder."""
    if os.path.isdir(dst):
        dst = os.path.join(dst, os.path.basename(src))
    copyfile(src, dst)


copy2 = copy


def copytree(src, dst, symlinks=False, ignore=None):
    """Copies a folder with what is in it. `ignore` is called with each folder and the names in
    it, and returns those that are left out. Links are followed."""
    names = os.listdir(src)
    ignored = () if ignore is None else ignore(src, names)
    os.makedirs(dst)
    for name in names:
        if name in ignored:
            continue
        source, target = os.path.join(src, name), os.path.join(dst, name)
        if os.path.isdir(source):
            copytree(source, target, symlinks, ignore)
        else:
            copyfile(source, target)


def ignore_patterns(*patterns):
    """What `copytree` takes as `ignore`: names that match one of the patterns."""
    import fnmatch

    def ignored(path, names):
        found = set()
        for pattern in patterns:
            found.update(fnmatch.filter(names, pattern))
        return found
    return ignored


def rmtree(path, ignore_errors=False, onerror=None):
    try:
        for name in os.listdir(path):
            inner = os.path.join(path, name)
            if os.path.isdir(inner):
                rmtree(inner, ignore_errors, onerror)
            else:
                os.unlink(inner)
        os.rmdir(path)
    except OSError:
        if onerror is not None:
            import sys
            onerror(os.rmdir, path, sys.exc_info())
        elif not ignore_errors:
            raise


def move(src, dst):
    if os.path.isdir(dst):
        dst = os.path.join(dst, os.path.basename(src.rstrip('/')))
    os.rename(src, dst)
