"""Runs whole programs in the original toolchain's low-level interpreter.

Python 2.7, with a pypy checkout on PYTHONPATH: programs.py PROGRAM.py...

A program has a function `run()` that takes nothing and returns its output as a string. What
comes out is written beside it, to PROGRAM.original; where the original rejects the program,
its reason, to PROGRAM.rejected. `run.py programs` compares with Taipan.
"""
import imp
import os
import sys

from rpython.rtyper.test.test_llinterp import interpret


def outcome(number, path):
    """The ending of the file to write, and its content."""
    module = imp.load_source('program%d' % number, path)
    try:
        text = interpret(module.run, [])
    except Exception as e:
        return '.rejected', '%s: %s' % (e.__class__.__name__, e)
    return '.original', ''.join(text.chars) + '\n'


def main(paths):
    sys.dont_write_bytecode = True
    for number, path in enumerate(paths):
        ending, text = outcome(number, path)
        with open(os.path.splitext(path)[0] + ending, 'w') as f:
            f.write(text)


if __name__ == '__main__':
    main(sys.argv[1:])
