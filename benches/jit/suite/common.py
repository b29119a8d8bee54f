"""The command line that all interpreters of the suite share.

Usage: INTERPRETER PROGRAM N [--iterations K]

Calls the program's unit of work K times (once by default) with the size N. Prints the last result and a
checksum over all of them. With `--iterations` each finished unit writes a line to stderr: microseconds
since the first unit began, in wall time and in CPU time.
"""
import os
import time


class Failure(Exception):
    """An error in the program or the command line."""
    def __init__(self, message):
        self.message = message


class Engine(object):
    """A loaded program."""

    def unit(self, n):
        """Runs one unit of work of size n and returns its result as text."""
        raise NotImplementedError


def read_file(name):
    fd = os.open(name, os.O_RDONLY, 0)
    parts = []
    while True:
        part = os.read(fd, 65536)
        if part == '':
            break
        parts.append(part)
    os.close(fd)
    return ''.join(parts)


def checksum(check, text):
    for c in text:
        check = (check * 31 + ord(c)) & 0x7fffffff
    return check


def microseconds(start, now):
    return str(int((now - start) * 1000000.0))


def run(argv, load):
    """The entry point of an interpreter; `load` makes an engine of the text of a program."""
    if len(argv) < 3:
        os.write(2, 'usage: %s PROGRAM N [--iterations K]\n' % argv[0])
        return 2
    iterations = 1
    stamps = len(argv) >= 5 and argv[3] == '--iterations'
    try:
        n = int(argv[2])
        if stamps:
            iterations = int(argv[4])
    except ValueError:
        os.write(2, 'N and K are numbers\n')
        return 2
    try:
        engine = load(read_file(argv[1]))
        check = 0
        result = ''
        wall = time.time()
        cpu = time.clock()
        for _ in range(iterations):
            result = engine.unit(n)
            check = checksum(check, result)
            if stamps:
                os.write(2, '%s %s\n' % (microseconds(wall, time.time()), microseconds(cpu, time.clock())))
    except Failure as failure:
        os.write(2, failure.message + '\n')
        return 1
    except OSError:
        os.write(2, 'cannot read %s\n' % argv[1])
        return 1
    os.write(1, '%s %d\n' % (result, check))
    return 0
