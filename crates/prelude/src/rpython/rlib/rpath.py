"""Paths, with functions that annotate well in translated code."""
import os

sep = '/'
altsep = None


def risdir(s):
    return os.path.isdir(s)


def exists(s):
    return os.path.exists(s)


def risabs(s):
    return s.startswith('/')


def rnormpath(path):
    """Without double slashes, `.` and avoidable `..`."""
    if path == '':
        return '.'
    # Two leading slashes, but not three, mean something of their own in POSIX.
    root = ''
    if path.startswith('/'):
        root = '/'
        if path.startswith('//') and not path.startswith('///'):
            root = '//'
    kept = []
    for part in path.split('/'):
        if part == '' or part == '.':
            continue
        if part == '..' and len(kept) > 0 and kept[-1] != '..':
            kept.pop()
        elif part != '..' or root == '':
            kept.append(part)
    result = root + '/'.join(kept)
    if result == '':
        return '.'
    return result


def rabspath(path):
    if path == '':
        path = os.getcwd()
    else:
        try:
            if not risabs(path):
                path = rjoin(os.getcwd(), path)
        except OSError:
            pass
    return rnormpath(path)


def rjoin(a, b):
    """One path below another, or the second if it is absolute."""
    if b == '':
        if a == '' or a.endswith('/'):
            return a
        return a + '/'
    if b.startswith('/'):
        return b
    if a == '' or a.endswith('/'):
        return a + b
    return a + '/' + b


def rbasename(path):
    return path[path.rfind('/') + 1:]


def rdirname(path):
    end = path.rfind('/') + 1
    assert end >= 0
    while end > 1 and path[end - 1] == '/':
        end -= 1
    if end == 1 and path != '' and path[0] != '/':
        return path[:1]
    return path[:end]
