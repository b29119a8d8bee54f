"""Files whose paths match a pattern."""
import os

from fnmatch import fnmatchcase


def has_magic(s):
    return '*' in s or '?' in s or '[' in s


def iglob(pattern):
    return iter(glob(pattern))


def glob(pattern):
    folder, name = os.path.split(pattern)
    if not has_magic(pattern):
        return [pattern] if os.path.exists(pattern) else []
    if has_magic(folder):
        folders = glob(folder)
    else:
        folders = [folder]
    found = []
    for f in folders:
        if not has_magic(name):
            if os.path.exists(os.path.join(f, name)):
                found.append(os.path.join(f, name))
            continue
        try:
            entries = os.listdir(f or os.curdir)
        except OSError:
            continue
        for entry in entries:
            if (not entry.startswith('.') or name.startswith('.')) and fnmatchcase(entry, name):
                found.append(os.path.join(f, entry))
    return found
