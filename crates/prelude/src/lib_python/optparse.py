"""Options of programs are read at run time."""


class OptionParser(object):
    def __init__(self, *args, **kwds):
        pass

    def add_option(self, *args, **kwds):
        pass

    def parse_args(self, args=None):
        return self, list(args or [])
