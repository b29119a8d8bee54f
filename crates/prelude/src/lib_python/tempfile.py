"""Import-time code writes no files."""
tempdir = '/tmp'


def gettempdir():
    return tempdir


def mkdtemp(*args, **kwds):
    raise OSError(30, "import-time code cannot write files")


mkstemp = NamedTemporaryFile = TemporaryFile = mkdtemp
