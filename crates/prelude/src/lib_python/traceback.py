"""Tracebacks are printed by the compiler."""


def print_exc(limit=None, file=None):
    pass


def print_stack(f=None, limit=None, file=None):
    pass


def format_exc(limit=None):
    return ''


def format_exception(etype, value, tb, limit=None):
    return ['%s: %s\n' % (etype.__name__, value)]


def format_exception_only(etype, value):
    return ['%s: %s\n' % (etype.__name__, value)]


def extract_stack(f=None, limit=None):
    return []


def extract_tb(tb, limit=None):
    return []
