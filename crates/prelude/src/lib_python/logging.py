"""The part of logging that programs use while they are loaded, and tests that are interpreted."""
import os
import sys
import time

CRITICAL = FATAL = 50
ERROR = 40
WARNING = WARN = 30
INFO = 20
DEBUG = 10
NOTSET = 0

_names = {CRITICAL: 'CRITICAL', ERROR: 'ERROR', WARNING: 'WARNING', INFO: 'INFO', DEBUG: 'DEBUG',
          NOTSET: 'NOTSET'}
_disabled = 0
raiseExceptions = 1


def getLevelName(level):
    if isinstance(level, str):
        return _level(level)
    return _names.get(level, 'Level %s' % (level,))


def addLevelName(level, name):
    _names[level] = name


def _level(level):
    if not isinstance(level, str):
        return level
    for number, name in _names.items():
        if name == level:
            return number
    raise ValueError('Unknown level: %r' % (level,))


class LogRecord(object):
    def __init__(self, name, level, pathname, lineno, msg, args, exc_info, func=None):
        self.name = name
        self.msg = msg
        # One dict gives the values by their names.
        if len(args) == 1 and isinstance(args[0], dict) and args[0]:
            args = args[0]
        self.args = args
        self.levelname = getLevelName(level)
        self.levelno = level
        self.pathname = pathname
        self.filename = os.path.basename(pathname)
        self.module = os.path.splitext(self.filename)[0]
        self.exc_info = exc_info
        self.exc_text = None
        self.lineno = lineno
        self.funcName = func
        self.created = time.time()
        self.msecs = (self.created - int(self.created)) * 1000
        self.process = os.getpid()

    def getMessage(self):
        text = self.msg if isinstance(self.msg, basestring) else str(self.msg)
        return text % self.args if self.args else text


class Formatter(object):
    def __init__(self, fmt=None, datefmt=None):
        self._fmt = fmt or '%(message)s'
        self.datefmt = datefmt

    def formatTime(self, record, datefmt=None):
        when = time.localtime(record.created)
        if datefmt:
            return time.strftime(datefmt, when)
        return '%s,%03d' % (time.strftime('%Y-%m-%d %H:%M:%S', when), record.msecs)

    def formatException(self, exc_info):
        kind, value = exc_info[:2]
        text = str(value)
        return '%s: %s' % (kind.__name__, text) if text else kind.__name__

    def format(self, record):
        record.message = record.getMessage()
        if '%(asctime)' in self._fmt:
            record.asctime = self.formatTime(record, self.datefmt)
        text = self._fmt % vars(record)
        if record.exc_info:
            text += '\n' + self.formatException(record.exc_info)
        return text


class Filterer(object):
    def __init__(self):
        self.filters = []

    def addFilter(self, filter):
        if filter not in self.filters:
            self.filters.append(filter)

    def removeFilter(self, filter):
        if filter in self.filters:
            self.filters.remove(filter)

    def filter(self, record):
        return all([f.filter(record) for f in self.filters])


class Filter(object):
    """Passes the records of a logger and of those below it."""

    def __init__(self, name=''):
        self.name = name

    def filter(self, record):
        return not self.name or (record.name + '.').startswith(self.name + '.')


class Handler(Filterer):
    def __init__(self, level=NOTSET):
        Filterer.__init__(self)
        self.level = _level(level)
        self.formatter = None

    def setLevel(self, level):
        self.level = _level(level)

    def setFormatter(self, formatter):
        self.formatter = formatter

    def format(self, record):
        return (self.formatter or Formatter()).format(record)

    def handle(self, record):
        if self.filter(record):
            self.emit(record)

    def emit(self, record):
        raise NotImplementedError('emit must be implemented by Handler subclasses')

    def flush(self):
        pass

    def close(self):
        pass


class NullHandler(Handler):
    def emit(self, record):
        pass


class StreamHandler(Handler):
    def __init__(self, stream=None):
        Handler.__init__(self)
        self.stream = stream

    def emit(self, record):
        # A test may have replaced it since.
        stream = self.stream or sys.stderr
        stream.write(self.format(record) + '\n')


class FileHandler(StreamHandler):
    def __init__(self, filename, mode='a', encoding=None, delay=0):
        StreamHandler.__init__(self, open(filename, mode))
        self.baseFilename = os.path.abspath(filename)

    def emit(self, record):
        StreamHandler.emit(self, record)
        self.stream.flush()

    def close(self):
        self.stream.close()


class Logger(Filterer):
    def __init__(self, name, level=NOTSET):
        Filterer.__init__(self)
        self.name = name
        self.level = _level(level)
        self.parent = None
        self.propagate = 1
        self.handlers = []
        self.disabled = 0

    def setLevel(self, level):
        self.level = _level(level)

    def getEffectiveLevel(self):
        logger = self
        while logger is not None:
            if logger.level:
                return logger.level
            logger = logger.parent
        return NOTSET

    def isEnabledFor(self, level):
        return level > _disabled and level >= self.getEffectiveLevel()

    def getChild(self, suffix):
        return getLogger(suffix if self is root else self.name + '.' + suffix)

    def addHandler(self, handler):
        if handler not in self.handlers:
            self.handlers.append(handler)

    def removeHandler(self, handler):
        if handler in self.handlers:
            self.handlers.remove(handler)

    def debug(self, msg, *args, **kwds):
        self._log(DEBUG, msg, args, **kwds)

    def info(self, msg, *args, **kwds):
        self._log(INFO, msg, args, **kwds)

    def warning(self, msg, *args, **kwds):
        self._log(WARNING, msg, args, **kwds)

    warn = warning

    def error(self, msg, *args, **kwds):
        self._log(ERROR, msg, args, **kwds)

    def exception(self, msg, *args, **kwds):
        kwds['exc_info'] = 1
        self._log(ERROR, msg, args, **kwds)

    def critical(self, msg, *args, **kwds):
        self._log(CRITICAL, msg, args, **kwds)

    fatal = critical

    def log(self, level, msg, *args, **kwds):
        self._log(level, msg, args, **kwds)

    def _log(self, level, msg, args, exc_info=None, extra=None):
        if not self.isEnabledFor(level):
            return
        if exc_info and not isinstance(exc_info, tuple):
            exc_info = sys.exc_info()
        frame = sys._getframe(1)
        while frame.f_back is not None and frame.f_globals is globals():
            frame = frame.f_back
        record = LogRecord(self.name, level, frame.f_code.co_filename, frame.f_lineno, msg, args,
                           exc_info, frame.f_code.co_name)
        for name, value in (extra or {}).items():
            setattr(record, name, value)
        self.handle(record)

    def handle(self, record):
        if self.disabled or not self.filter(record):
            return
        logger = self
        found = False
        while logger is not None:
            for handler in logger.handlers:
                found = True
                if record.levelno >= handler.level:
                    handler.handle(record)
            if not logger.propagate:
                break
            logger = logger.parent
        if not found:
            sys.stderr.write('No handlers could be found for logger "%s"\n' % (self.name,))


class RootLogger(Logger):
    def __init__(self, level):
        Logger.__init__(self, 'root', level)


class LoggerAdapter(object):
    """A logger whose records have the attributes of a dict."""

    def __init__(self, logger, extra):
        self.logger = logger
        self.extra = extra

    def __getattr__(self, name):
        method = getattr(self.logger, name)
        if name not in ('debug', 'info', 'warning', 'error', 'exception', 'critical', 'log'):
            return method

        def log(*args, **kwds):
            kwds['extra'] = self.extra
            method(*args, **kwds)
        return log


root = RootLogger(WARNING)
_loggers = {}


def getLogger(name=None):
    if not name:
        return root
    if name not in _loggers:
        logger = _loggers[name] = Logger(name)
        above = name.rpartition('.')[0]
        logger.parent = getLogger(above) if above else root
    return _loggers[name]


def basicConfig(**kwds):
    if root.handlers:
        return
    if 'filename' in kwds:
        handler = FileHandler(kwds['filename'], kwds.get('filemode', 'a'))
    else:
        handler = StreamHandler(kwds.get('stream'))
    handler.setFormatter(Formatter(kwds.get('format', '%(levelname)s:%(name)s:%(message)s'),
                                   kwds.get('datefmt')))
    root.addHandler(handler)
    if 'level' in kwds:
        root.setLevel(kwds['level'])


def disable(level):
    global _disabled
    _disabled = _level(level)


def shutdown():
    pass


def captureWarnings(capture):
    pass


def _at_root(name):
    def log(*args, **kwds):
        if not root.handlers:
            basicConfig()
        getattr(root, name)(*args, **kwds)
    log.__name__ = name
    return log


debug = _at_root('debug')
info = _at_root('info')
warning = warn = _at_root('warning')
error = _at_root('error')
exception = _at_root('exception')
critical = fatal = _at_root('critical')
log = _at_root('log')

# What the compiler says where translated code calls these.
for _function in [debug, info, warning, error, exception, critical, log, getLogger, basicConfig]:
    _function._instead_ = 'write to standard error: `os.write(2, text)`'
for _function in [Logger.debug, Logger.info, Logger.warning, Logger.error, Logger.exception,
                  Logger.critical, Logger.log]:
    _function.im_func._instead_ = 'write to standard error: `os.write(2, text)`'
