"""Import-time code starts no processes."""
PIPE = -1
STDOUT = -2


class CalledProcessError(Exception):
    pass


class Popen(object):
    def __init__(self, *args, **kwds):
        raise OSError(1, "import-time code cannot start processes")


def call(*args, **kwds):
    return Popen(*args, **kwds)


check_call = check_output = call
