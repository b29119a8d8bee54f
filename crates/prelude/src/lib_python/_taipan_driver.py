"""What a program's `target(driver, args)` gets as its driver: it takes settings and
gives back whatever is asked for."""


class Options(object):
    def __getattr__(self, name):
        if name.startswith('__'):
            raise AttributeError(name)
        value = Options()
        object.__setattr__(self, name, value)
        return value

    def __nonzero__(self):
        return False

    def __call__(self, *args, **kwds):
        return None

    def set(self, **kwds):
        for name in kwds:
            object.__setattr__(self, name, kwds[name])


class Driver(Options):
    exe_name = None

    def __init__(self):
        self.config = Options()
