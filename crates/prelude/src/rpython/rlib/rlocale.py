"""The locale. Programs run in "C"."""
from rpython.rtyper.lltypesystem import lltype, rffi

LC_CTYPE = 0
LC_NUMERIC = 1
LC_TIME = 2
LC_COLLATE = 3
LC_MONETARY = 4
LC_MESSAGES = 5
LC_ALL = 6


class cConfig(object):
    """The same, as the C compiler has them."""
    LC_CTYPE = LC_CTYPE
    LC_NUMERIC = LC_NUMERIC
    LC_TIME = LC_TIME
    LC_COLLATE = LC_COLLATE
    LC_MONETARY = LC_MONETARY
    LC_MESSAGES = LC_MESSAGES
    LC_ALL = LC_ALL

HAVE_LANGINFO = True
HAVE_LIBINTL = False
HAVE_BIND_TEXTDOMAIN_CODESET = False
libraries = []


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


# What the C library says about the locale; numbers of Linux.

langinfo_names = ['CODESET', 'D_T_FMT', 'D_FMT', 'T_FMT', 'T_FMT_AMPM', 'AM_STR', 'PM_STR',
                  'RADIXCHAR', 'THOUSEP', 'YESEXPR', 'NOEXPR', 'CRNCYSTR', 'ERA', 'ERA_D_FMT',
                  'ALT_DIGITS', 'ERA_D_T_FMT', 'ERA_T_FMT']
constants = {
    'LC_CTYPE': LC_CTYPE, 'LC_NUMERIC': LC_NUMERIC, 'LC_TIME': LC_TIME,
    'LC_COLLATE': LC_COLLATE, 'LC_MONETARY': LC_MONETARY, 'LC_MESSAGES': LC_MESSAGES,
    'LC_ALL': LC_ALL, 'CHAR_MAX': 127, 'CODESET': 14, 'RADIXCHAR': 0x10000,
    'THOUSEP': 0x10001, 'D_T_FMT': 0x20028, 'D_FMT': 0x20029, 'T_FMT': 0x2002a,
    'T_FMT_AMPM': 0x2002b, 'AM_STR': 0x20026, 'PM_STR': 0x20027, 'ERA': 0x2002c,
    'ERA_D_FMT': 0x2002e, 'ALT_DIGITS': 0x2002f, 'ERA_D_T_FMT': 0x20030,
    'ERA_T_FMT': 0x20031, 'CRNCYSTR': 0x4000f, 'YESEXPR': 0x50000, 'NOEXPR': 0x50001,
}
for _i in range(7):
    constants['ABDAY_%d' % (_i + 1)] = 0x20000 + _i
    constants['DAY_%d' % (_i + 1)] = 0x20007 + _i
for _i in range(12):
    constants['ABMON_%d' % (_i + 1)] = 0x2000e + _i
    constants['MON_%d' % (_i + 1)] = 0x2001a + _i
langinfo_names += [_name for _name in sorted(constants) if _name[-1].isdigit()]
globals().update(constants)

_LCONV = rffi.CStruct('lconv', *(
    [(_name, rffi.CCHARP) for _name in (
        'decimal_point', 'thousands_sep', 'grouping', 'int_curr_symbol', 'currency_symbol',
        'mon_decimal_point', 'mon_thousands_sep', 'mon_grouping', 'positive_sign',
        'negative_sign')] +
    [(_name, rffi.UCHAR) for _name in (
        'int_frac_digits', 'frac_digits', 'p_cs_precedes', 'p_sep_by_space',
        'n_cs_precedes', 'n_sep_by_space', 'p_sign_posn', 'n_sign_posn')]))


def external(name, args, result, calling_conv='c', **kwds):
    """A function of the C library."""
    return rffi.llexternal(name, args, result, calling_conv=calling_conv, **kwds)

_c_localeconv = external('localeconv', [], lltype.Ptr(_LCONV))
_c_nl_langinfo = external('nl_langinfo', [rffi.INT], rffi.CCHARP)


def localeconv():
    """How numbers and money are written, a struct of the C library."""
    return _c_localeconv()


def nl_langinfo(key):
    """The text of one of `langinfo_names`; ValueError for other keys."""
    if key not in _langinfo_keys:
        raise ValueError
    return rffi.charp2str(_c_nl_langinfo(key))

_langinfo_keys = dict([(constants[_name], None) for _name in langinfo_names])


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
