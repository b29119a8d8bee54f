"""The environment of the program, under its low-level names; `os.environ` does the same."""
import os


def r_envkeys():
    """The names of all variables."""
    return [name for name, _ in r_envitems()]


def r_envitems():
    return os.environ.items()


def r_getenv(name):
    """The value of a variable, None without one."""
    return os.environ.get(name)


def r_putenv(name, value):
    os.environ[name] = value


def r_unsetenv(name):
    try:
        del os.environ[name]
    except KeyError:
        pass
