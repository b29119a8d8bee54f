"""Paths."""
import posix
from posix import abspath, exists, getsize, isdir, isfile, islink

sep = '/'
altsep = None
extsep = '.'
curdir = '.'
pardir = '..'
pathsep = ':'
defpath = ':/bin:/usr/bin'
devnull = '/dev/null'
supports_unicode_filenames = False
_MOST_LINKS = 40


def lexists(path):
    try:
        posix.lstat(path)
    except OSError:
        # Import time is not told what a link is like, only whether something is there.
        return exists(path)
    return True


def realpath(path):
    """Without links, as far as they lead anywhere."""
    resolved = '/'
    links = 0
    if not path.startswith('/'):
        resolved = abspath('.')
    parts = path.split('/')
    parts.reverse()
    while parts:
        part = parts.pop()
        if part == '' or part == '.':
            continue
        if part == '..':
            resolved = dirname(resolved)
            continue
        reached = join(resolved, part)
        if links < _MOST_LINKS and islink(reached):
            links += 1
            target = posix.readlink(reached)
            if target.startswith('/'):
                resolved = '/'
            ahead = target.split('/')
            ahead.reverse()
            parts.extend(ahead)
        else:
            resolved = reached
    return resolved


def getmtime(path):
    return posix.stat(path).st_mtime


def getatime(path):
    return posix.stat(path).st_atime


def getctime(path):
    return posix.stat(path).st_ctime


def samefile(path, other):
    mine, yours = posix.stat(path), posix.stat(other)
    return mine.st_ino == yours.st_ino and mine.st_dev == yours.st_dev


def ismount(path):
    """Whether another file system starts there."""
    if islink(path):
        return False
    try:
        here, above = posix.lstat(path), posix.lstat(join(path, '..'))
    except OSError:
        return False
    return here.st_dev != above.st_dev or here.st_ino == above.st_ino


def isabs(path):
    return path.startswith('/')


def join(first, *rest):
    path = first
    for part in rest:
        if part.startswith('/'):
            path = part
        elif path == '' or path.endswith('/'):
            path += part
        else:
            path += '/' + part
    return path


def split(path):
    at = path.rfind('/') + 1
    assert at >= 0
    head, tail = path[:at], path[at:]
    if head and head != '/' * len(head):
        head = head.rstrip('/')
    return head, tail


def basename(path):
    return split(path)[1]


def dirname(path):
    return split(path)[0]


def splitext(path):
    dot = path.rfind('.')
    start = path.rfind('/') + 1
    while start < dot:
        if path[start] != '.':
            assert dot >= 0
            return path[:dot], path[dot:]
        start += 1
    return path, ''


def splitdrive(path):
    return '', path


def normcase(path):
    return path


def normpath(path):
    if path == '':
        return '.'
    slash = '/' if path.startswith('/') else ''
    parts = []
    for part in path.split('/'):
        if part in ('', '.'):
            continue
        if part != '..' or (not slash and (not parts or parts[-1] == '..')):
            parts.append(part)
        elif parts:
            parts.pop()
    return (slash + '/'.join(parts)) or '.'


def relpath(path, start='.'):
    here = [p for p in abspath(start).split('/') if p]
    there = [p for p in abspath(path).split('/') if p]
    same = 0
    while same < min(len(here), len(there)) and here[same] == there[same]:
        same += 1
    return join(*(['..'] * (len(here) - same) + there[same:] or ['.']))


def commonprefix(paths):
    if not paths:
        return ''
    low, high = min(paths), max(paths)
    for i in range(len(low)):
        if low[i] != high[i]:
            return low[:i]
    return low


def expanduser(path):
    return path


def expandvars(path):
    return path
