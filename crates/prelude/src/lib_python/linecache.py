"""Lines of source files."""
cache = {}


def getlines(filename, module_globals=None):
    if filename in cache:
        return cache[filename][2]
    try:
        return open(filename).readlines()
    except IOError:
        return []


def getline(filename, lineno, module_globals=None):
    lines = getlines(filename)
    return lines[lineno - 1] if 1 <= lineno <= len(lines) else ''


def checkcache(filename=None):
    """Files do not change while a program is imported."""


def clearcache():
    cache.clear()
