"""The machine that programs are made for."""
import os


def system():
    return 'Linux'


def machine():
    return os.uname()[4]


def node():
    return 'localhost'


def architecture(executable=None):
    return ('64bit', 'ELF')


def python_version():
    return '2.7.18'


def python_version_tuple():
    return ('2', '7', '18')


def python_implementation():
    return 'CPython'


def platform():
    return 'Linux-' + machine()
