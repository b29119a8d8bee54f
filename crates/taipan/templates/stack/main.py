"""Minnow, a stack machine: `taipan run --jit . FILE` assembles and runs a program."""

import os

from machine import MachineError, assemble, run


class Output(object):
    def __init__(self):
        self.lines = []
        self.keeps = False

    def write(self, line):
        if self.keeps:
            self.lines.append(line)
        else:
            os.write(1, line + '\n')


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
        text = read_file(argv[1])
    except IOError:
        os.write(2, 'cannot read ' + argv[1] + '\n')
        return 2
    try:
        run(assemble(text), Output())
    except MachineError as e:
        if e.line:
            os.write(2, '%s:%d: %s\n' % (argv[1], e.line, e.message))
        else:
            os.write(2, argv[1] + ': ' + e.message + '\n')
        return 1
    return 0


def target(driver, args):
    return entry_point, None
