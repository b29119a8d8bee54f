"""All interpreters in one executable: `all INTERPRETER PROGRAM N [--iterations K]`. One translation by the original
toolchain gives the tracing JIT's executable of the whole suite.
"""
import os
import boxes
import cek
import common
import cpu
import forth
import generators
import growing
import prolog
import regex
import regs
import sends
import strategies
import tree


def main(argv):
    if len(argv) < 2:
        os.write(2, 'usage: %s INTERPRETER PROGRAM N [--iterations K]\n' % argv[0])
        return 2
    name = argv[1]
    rest = [argv[0] + ' ' + name] + argv[2:]
    if name == 'boxes':
        return common.run(rest, boxes.load)
    elif name == 'cek':
        return common.run(rest, cek.load)
    elif name == 'cpu':
        return common.run(rest, cpu.load)
    elif name == 'forth':
        return common.run(rest, forth.load)
    elif name == 'generators':
        return common.run(rest, generators.load)
    elif name == 'growing':
        return common.run(rest, growing.load)
    elif name == 'prolog':
        return common.run(rest, prolog.load)
    elif name == 'regex':
        return common.run(rest, regex.load)
    elif name == 'regs':
        return common.run(rest, regs.load)
    elif name == 'sends':
        return common.run(rest, sends.load)
    elif name == 'strategies':
        return common.run(rest, strategies.load)
    elif name == 'tree':
        return common.run(rest, tree.load)
    os.write(2, 'no such interpreter: %s\n' % name)
    return 2


def target(driver, args):
    return main, None


if __name__ == '__main__':
    import sys
    sys.exit(main(sys.argv))
