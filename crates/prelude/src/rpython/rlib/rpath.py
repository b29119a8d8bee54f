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


# The names that say for which system.

_posix_risabs = risabs
_posix_rnormpath = rnormpath
_posix_rabspath = rabspath
_posix_rjoin = rjoin


def _nt_rsplitdrive(p):
    """Drive letter or network share, and the rest."""
    if p[1:2] == ':':
        return p[:2], p[2:]
    plain = p.replace('/', '\\')
    if plain.startswith('\\\\') and not plain.startswith('\\\\\\'):
        machine_end = plain.find('\\', 2)
        if machine_end >= 0:
            share_end = plain.find('\\', machine_end + 1)
            if share_end == machine_end + 1:
                return '', p
            if share_end < 0:
                share_end = len(p)
            return p[:share_end], p[share_end:]
    return '', p


def _nt_risabs(s):
    _, rest = _nt_rsplitdrive(s)
    return rest != '' and (rest[0] == '/' or rest[0] == '\\')


def _nt_rnormpath(path):
    if path.startswith('\\\\.\\') or path.startswith('\\\\?\\'):
        # Names of devices, and paths that are to be taken literally.
        return path
    path = path.replace('/', '\\')
    prefix, path = _nt_rsplitdrive(path)
    if prefix == '':
        # What comes of leading backslashes is none of ours.
        while path[:1] == '\\':
            prefix += '\\'
            path = path[1:]
    elif path.startswith('\\'):
        prefix += '\\'
        path = path.lstrip('\\')
    kept = []
    for part in path.split('\\'):
        if part == '' or part == '.':
            continue
        if part == '..' and len(kept) > 0 and kept[-1] != '..':
            kept.pop()
        elif part != '..' or not prefix.endswith('\\'):
            kept.append(part)
    if prefix == '' and len(kept) == 0:
        return '.'
    return prefix + '\\'.join(kept)


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
