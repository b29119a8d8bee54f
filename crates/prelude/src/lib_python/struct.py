"""Packed binary data."""
from _struct import calcsize, pack, unpack


class error(Exception):
    pass


def unpack_from(fmt, data, offset=0):
    return unpack(fmt, data[offset:offset + calcsize(fmt)])


class Struct(object):
    def __init__(self, format):
        self.format = format
        self.size = calcsize(format)

    def pack(self, *values):
        return pack(self.format, *values)

    def unpack(self, data):
        return unpack(self.format, data)
