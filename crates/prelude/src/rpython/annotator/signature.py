"""Declared argument types as an object, for `_annenforceargs_`."""


class Sig(object):
    def __init__(self, *argtypes):
        self.argtypes = argtypes


class SignatureError(Exception):
    pass
