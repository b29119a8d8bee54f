"""Kinds of characters, given by their codes."""
from rpython.rlib.rsre.rsre_constants import *

MAGIC = 20031017
CODESIZE = 4
MAXGROUPS = MAXREPEAT / 2


def getlower_ascii(char_ord):
    if 0x41 <= char_ord <= 0x5a:
        return char_ord + 32
    return char_ord


def getupper_ascii(char_ord):
    if 0x61 <= char_ord <= 0x7a:
        return char_ord - 32
    return char_ord


def getlower(char_ord, flags):
    if flags & SRE_FLAG_UNICODE and 0xc0 <= char_ord <= 0xde and char_ord != 0xd7:
        return char_ord + 32
    return getlower_ascii(char_ord)


def getupper(char_ord, flags):
    if flags & SRE_FLAG_UNICODE and 0xe0 <= char_ord <= 0xfe and char_ord != 0xf7:
        return char_ord - 32
    return getupper_ascii(char_ord)


def is_digit(code):
    return 0x30 <= code <= 0x39


def is_space(code):
    return code == 0x20 or 0x09 <= code <= 0x0d


def is_uni_space(code):
    return (is_space(code) or 0x1c <= code <= 0x1f or code == 0x85 or code == 0xa0 or
            code == 0x1680 or code == 0x180e or 0x2000 <= code <= 0x200a or
            code == 0x2028 or code == 0x2029 or code == 0x202f or code == 0x205f or
            code == 0x3000)


def is_word(code):
    return (0x61 <= code <= 0x7a or 0x41 <= code <= 0x5a or 0x30 <= code <= 0x39 or
            code == 0x5f)


def is_uni_word(code):
    """All letters of Latin-1, and every code beyond it."""
    return (is_word(code) or code == 0xaa or code == 0xb5 or code == 0xba or
            0xc0 <= code != 0xd7 and code != 0xf7)


def is_linebreak(code):
    return code == 0x0a


def category_dispatch(category_code, char_code):
    """Whether a character is of a category."""
    if category_code == CATEGORY_DIGIT or category_code == CATEGORY_UNI_DIGIT:
        return is_digit(char_code)
    if category_code == CATEGORY_NOT_DIGIT or category_code == CATEGORY_UNI_NOT_DIGIT:
        return not is_digit(char_code)
    if category_code == CATEGORY_SPACE:
        return is_space(char_code)
    if category_code == CATEGORY_NOT_SPACE:
        return not is_space(char_code)
    if category_code == CATEGORY_WORD:
        return is_word(char_code)
    if category_code == CATEGORY_NOT_WORD:
        return not is_word(char_code)
    if category_code == CATEGORY_UNI_SPACE:
        return is_uni_space(char_code)
    if category_code == CATEGORY_UNI_NOT_SPACE:
        return not is_uni_space(char_code)
    if category_code == CATEGORY_UNI_WORD:
        return is_uni_word(char_code)
    return not is_uni_word(char_code)


def check_charset(pattern, ppos, char_code):
    """Whether a character is in the set that an IN operation has at `ppos`."""
    negate = pattern[ppos] != 0
    at = ppos + 2
    for _ in range(pattern[ppos + 1]):
        if pattern[at] == 0:
            found = pattern[at + 1] <= char_code <= pattern[at + 2]
        else:
            found = category_dispatch(pattern[at + 1], char_code)
        if found:
            return not negate
        at += 3
    return negate
