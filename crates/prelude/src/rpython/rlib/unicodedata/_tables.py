"""Tables that give every character a number."""
from _taipan_unicode import column

MAX_CODE = 0x10ffff


def checked(code):
    """A code that is in the tables; those below zero count from the end, as indexes do.
    KeyError for others."""
    if code < 0:
        code += MAX_CODE + 1
        if code < 0:
            raise KeyError
    elif code > MAX_CODE:
        raise KeyError
    return code


def small_numbers(name, version):
    """A function that gives the number of a character in a column, of one byte."""
    index, pages = column(name, version)

    def number(code):
        code = checked(code)
        return ord(pages[ord(index[code >> 8]) << 8 | code & 0xff])
    return number


def large_numbers(name, version):
    """The same for numbers of two bytes."""
    index, pages = column(name, version)

    def number(code):
        code = checked(code)
        at = (ord(index[code >> 8]) << 8 | code & 0xff) << 1
        return ord(pages[at]) | ord(pages[at + 1]) << 8
    return number
