"""Digests are not computed at import time."""


def new(name, data=''):
    raise NotImplementedError("hashlib is not there at import time")


def md5(data=''):
    return new('md5', data)


def sha1(data=''):
    return new('sha1', data)


def sha256(data=''):
    return new('sha256', data)
