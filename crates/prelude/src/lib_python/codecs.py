"""Encodings by name."""
BOM_UTF8 = "\xef\xbb\xbf"


def lookup(name):
    "".encode(name)
    return name


def encode(s, encoding="ascii", errors="strict"):
    return s.encode(encoding, errors)


def decode(s, encoding="ascii", errors="strict"):
    return s.decode(encoding, errors)


def open(name, mode="r", encoding=None, errors="strict"):
    return file(name, mode)
