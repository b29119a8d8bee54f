"""Digests of byte strings."""
from _taipan import digest as _digest

algorithms = ('md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512')
_BLOCK_SIZES = {'sha384': 128, 'sha512': 128}


class _Hash(object):
    def __init__(self, name, data):
        self.name = name
        self.block_size = _BLOCK_SIZES.get(name, 64)
        self._data = data
        self.digest_size = self.digestsize = len(self.digest())

    def update(self, data):
        self._data += data

    def digest(self):
        return _digest(self.name, self._data)

    def hexdigest(self):
        return ''.join(['%02x' % ord(c) for c in self.digest()])

    def copy(self):
        return _Hash(self.name, self._data)


def new(name, data=''):
    return _Hash(name, data)


def md5(data=''):
    return _Hash('md5', data)


def sha1(data=''):
    return _Hash('sha1', data)


def sha224(data=''):
    return _Hash('sha224', data)


def sha256(data=''):
    return _Hash('sha256', data)


def sha384(data=''):
    return _Hash('sha384', data)


def sha512(data=''):
    return _Hash('sha512', data)
