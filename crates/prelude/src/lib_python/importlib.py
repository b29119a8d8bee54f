"""Imports by name."""
import sys


def import_module(name, package=None):
    dots = len(name) - len(name.lstrip('.'))
    if dots:
        if not package:
            raise TypeError('relative imports need a package')
        parts = package.split('.')
        if dots > len(parts):
            raise ValueError('attempted relative import beyond top-level package')
        parent = '.'.join(parts[:len(parts) - dots + 1])
        name = '%s.%s' % (parent, name[dots:])
    __import__(name)
    return sys.modules[name]
