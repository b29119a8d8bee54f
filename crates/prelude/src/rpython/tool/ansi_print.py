"""Messages of tools. What they say while a program loads goes nowhere."""


class AnsiLogger(object):
    """Takes messages as a call, or by a method that names their kind."""

    def __init__(self, name):
        self.name = name
        self.output_disabled = True

    def __call__(self, text=''):
        pass

    def __getattr__(self, kind):
        if kind.startswith('__'):
            raise AttributeError(kind)
        return self


def ansi_print(text, esc, file=None, newline=True, flush=False):
    pass


def ansi_log(msg):
    pass

ansi_log.Producer = AnsiLogger
