"""The locale. Programs run in "C"."""

LC_CTYPE = 0
LC_NUMERIC = 1
LC_TIME = 2
LC_COLLATE = 3
LC_MONETARY = 4
LC_MESSAGES = 5
LC_ALL = 6
HAVE_LANGINFO = True
HAVE_LIBINTL = False


class LocaleError(Exception):
    def __init__(self, message):
        self.message = message


def setlocale(category, locale):
    """The name of the locale; None as name asks only. There is "C" and its other
    names."""
    if not LC_CTYPE <= category <= LC_ALL:
        raise LocaleError("invalid locale category")
    if locale is not None and locale != '' and locale != 'C' and locale != 'POSIX':
        raise LocaleError("unsupported locale setting")
    return 'C'


def numeric_formatting():
    """The decimal point, what separates groups of digits, and how large these are."""
    return '.', '', ''


def isalpha(c):
    return 0x41 <= c <= 0x5a or 0x61 <= c <= 0x7a


def isupper(c):
    return 0x41 <= c <= 0x5a


def islower(c):
    return 0x61 <= c <= 0x7a


def isalnum(c):
    return isalpha(c) or 0x30 <= c <= 0x39


def tolower(c):
    if isupper(c):
        return c + 32
    return c


def toupper(c):
    if islower(c):
        return c - 32
    return c
