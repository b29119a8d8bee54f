"""Minnow: a small language. `taipan run main.py FILE` runs a program."""

import os

from compiler import compile
from interpreter import Frame, run
from lexer import MinnowError


def read_file(name):
    f = open(name)
    try:
        return f.read()
    finally:
        f.close()


def entry_point(argv):
    if len(argv) != 2:
        os.write(2, 'usage: ' + argv[0] + ' FILE\n')
        return 2
    try:
        source = read_file(argv[1])
    except IOError:
        os.write(2, 'cannot read ' + argv[1] + '\n')
        return 2
    try:
        function = compile(source)
        run(function, Frame(function))
    except MinnowError as e:
        os.write(2, '%s:%d: %s\n' % (argv[1], e.line, e.message))
        return 1
    return 0


def target(driver, args):
    return entry_point, None
