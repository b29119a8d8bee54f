"""Import-time code starts no processes: every attempt fails as a command would that is not
there and one that does not succeed, because programs expect either."""
PIPE = -1
STDOUT = -2


class CalledProcessError(Exception):
    def __init__(self, returncode, cmd, output=None):
        self.returncode = returncode
        self.cmd = cmd
        self.output = output

    def __str__(self):
        return "Command '%s' returned non-zero exit status %d" % (self.cmd, self.returncode)


class _NotStarted(CalledProcessError, OSError):
    errno = 1
    strerror = "import-time code cannot start processes"
    filename = None

    def __init__(self, cmd):
        CalledProcessError.__init__(self, 127, cmd)
        shown = cmd if isinstance(cmd, str) else ' '.join([str(part) for part in cmd])
        Exception.__init__(self, 'a program cannot start processes while it is imported: run `%s`'
                           ' beforehand, and leave the call out' % (shown,))

    def __str__(self):
        return "[Errno %d] %s" % (self.errno, self.strerror)


class Popen(object):
    def __init__(self, args, *others, **kwds):
        raise _NotStarted(args)


def call(*popenargs, **kwds):
    return Popen(*popenargs, **kwds)


check_call = check_output = call


# The remedy that the compiler shows where translated code calls these.
for _function in [Popen.__init__.im_func, call]:
    _function._instead_ = 'use `os.system(command)`, or `os.fork()` and `os.execv(path, args)`'
