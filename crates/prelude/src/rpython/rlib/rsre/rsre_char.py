"""Kinds of characters, given by their codes."""
from rpython.rlib.objectmodel import specialize
from rpython.rlib.rsre._code import CATEGORY, RANGE_EITHER_CASE
from rpython.rlib.rsre.rsre_constants import *

MAGIC = 20031017
CODESIZE = 4
MAXREPEAT = 2 ** 32 - 1
MAXGROUPS = 2 ** 31 - 1

# One of the modules of rpython.rlib.unicodedata, where a program has chosen one. Without
# it, case and words are known of Latin-1, and every code beyond it is a letter.
unicodedb = None


def set_unicode_db(newunicodedb):
    """Says where to look characters up; while loading."""
    global unicodedb
    unicodedb = newunicodedb


@specialize.arg(0)
def _looked_up(function, code, otherwise):
    """What the database says of a code, or `otherwise` if it does not know that."""
    try:
        return function(code)
    except KeyError:
        return otherwise


def getlower_ascii(char_ord):
    if 0x41 <= char_ord <= 0x5a:
        return char_ord + 32
    return char_ord


def getupper_ascii(char_ord):
    if 0x61 <= char_ord <= 0x7a:
        return char_ord - 32
    return char_ord


# The locale is "C".
getlower_locale, getupper_locale = getlower_ascii, getupper_ascii


def getlower_unicode(char_ord):
    if char_ord < 128:
        return getlower_ascii(char_ord)
    if unicodedb is not None:
        return _looked_up(unicodedb.tolower, char_ord, char_ord)
    if 0xc0 <= char_ord <= 0xde and char_ord != 0xd7:
        return char_ord + 32
    return char_ord


def _first_of_upper(code):
    return unicodedb.toupper_full(code)[0]


def getupper_unicode(char_ord):
    if char_ord < 128:
        return getupper_ascii(char_ord)
    if unicodedb is not None:
        return _looked_up(_first_of_upper, char_ord, char_ord)
    if 0xe0 <= char_ord <= 0xfe and char_ord != 0xf7:
        return char_ord - 32
    return char_ord


def getlower(char_ord, flags):
    if flags & SRE_FLAG_UNICODE and not flags & SRE_FLAG_LOCALE:
        return getlower_unicode(char_ord)
    return getlower_ascii(char_ord)


def getupper(char_ord, flags):
    if flags & SRE_FLAG_UNICODE and not flags & SRE_FLAG_LOCALE:
        return getupper_unicode(char_ord)
    return getupper_ascii(char_ord)


def iscased_ascii(char_ord):
    return 0x41 <= char_ord <= 0x5a or 0x61 <= char_ord <= 0x7a


def iscased_unicode(char_ord):
    """Whether it changes in lower or upper case."""
    return char_ord != getlower_unicode(char_ord) or char_ord != getupper_unicode(char_ord)


def is_digit(code):
    return 0x30 <= code <= 0x39


def is_uni_digit(code):
    if unicodedb is not None:
        return _looked_up(unicodedb.isdecimal, code, False)
    return is_digit(code)


def is_space(code):
    return code == 0x20 or 0x09 <= code <= 0x0d


def is_uni_space(code):
    if unicodedb is not None:
        return _looked_up(unicodedb.isspace, code, False)
    return (is_space(code) or 0x1c <= code <= 0x1f or code == 0x85 or code == 0xa0 or
            code == 0x1680 or code == 0x180e or 0x2000 <= code <= 0x200a or
            code == 0x2028 or code == 0x2029 or code == 0x202f or code == 0x205f or
            code == 0x3000)


def is_word(code):
    return (0x61 <= code <= 0x7a or 0x41 <= code <= 0x5a or 0x30 <= code <= 0x39 or
            code == 0x5f)


def is_uni_word(code):
    if unicodedb is not None:
        return code == 0x5f or _looked_up(unicodedb.isalnum, code, False)
    return (is_word(code) or code == 0xaa or code == 0xb5 or code == 0xba or
            0xc0 <= code < 0x110000 and code != 0xd7 and code != 0xf7)


def is_loc_alnum(code):
    return is_word(code) and code != 0x5f


is_loc_word = is_word


def is_linebreak(code):
    return code == 0x0a


def is_uni_linebreak(code):
    if unicodedb is not None:
        return _looked_up(unicodedb.islinebreak, code, False)
    return (0x0a <= code <= 0x0d or 0x1c <= code <= 0x1e or code == 0x85 or
            code == 0x2028 or code == 0x2029)


def category_dispatch(category_code, char_code):
    """Whether a character is of a category; those with odd numbers are the opposites."""
    kind = category_code & ~1
    if kind == CATEGORY_DIGIT:
        result = is_digit(char_code)
    elif kind == CATEGORY_SPACE:
        result = is_space(char_code)
    elif kind == CATEGORY_WORD or kind == CATEGORY_LOC_WORD:
        result = is_word(char_code)
    elif kind == CATEGORY_LINEBREAK:
        result = is_linebreak(char_code)
    elif kind == CATEGORY_UNI_DIGIT:
        result = is_uni_digit(char_code)
    elif kind == CATEGORY_UNI_SPACE:
        result = is_uni_space(char_code)
    elif kind == CATEGORY_UNI_WORD:
        result = is_uni_word(char_code)
    elif kind == CATEGORY_UNI_LINEBREAK:
        result = is_uni_linebreak(char_code)
    else:
        return False
    return result != (category_code & 1 != 0)


def check_charset(pattern, ppos, char_code, flags=0):
    """Whether a character is in the set that an IN operation has at `ppos`."""
    negate = pattern[ppos] != 0
    at = ppos + 2
    for _ in range(pattern[ppos + 1]):
        kind, low, high = pattern[at], pattern[at + 1], pattern[at + 2]
        if kind == CATEGORY:
            found = category_dispatch(low, char_code)
        else:
            found = low <= char_code <= high
            if kind == RANGE_EITHER_CASE and not found:
                found = low <= getupper(char_code, flags) <= high
        if found:
            return not negate
        at += 3
    return negate
