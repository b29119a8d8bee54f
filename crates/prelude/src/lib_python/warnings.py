"""Warnings are shown nowhere; `catch_warnings(record=True)` keeps them."""

# Lists of the blocks that record warnings, innermost last.
_recorders = []


class WarningMessage(object):
    """A recorded warning."""

    def __init__(self, message, category):
        self.message = message
        self.category = category

    def __repr__(self):
        return 'WarningMessage(%r)' % (self.message,)


class catch_warnings(object):
    def __init__(self, record=False, module=None):
        self.recorded = [] if record else None

    def __enter__(self):
        if self.recorded is not None:
            _recorders.append(self.recorded)
        return self.recorded

    def __exit__(self, type, value, traceback):
        if self.recorded is not None:
            _recorders.pop()


def warn(message, category=None, stacklevel=1):
    if isinstance(message, Warning):
        category = message.__class__
    else:
        category = category or UserWarning
        message = category(message)
    if _recorders:
        _recorders[-1].append(WarningMessage(message, category))


def warn_explicit(message, category, *args, **kwds):
    warn(message, category)


def filterwarnings(*args, **kwds):
    pass


def simplefilter(*args, **kwds):
    pass
