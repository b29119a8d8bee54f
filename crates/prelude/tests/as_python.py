"""Runs the tests of files under Python itself: what they say of the language holds there,
too. Prints how many there were.

usage: as_python.py FILE...
"""
import os
import sys
import traceback


def main(paths):
    run = failed = 0
    for path in paths:
        folder, name = os.path.split(os.path.abspath(path))
        sys.path.insert(0, folder)
        module = __import__(os.path.splitext(name)[0])
        for name in sorted(vars(module)):
            if name.startswith('test_'):
                run += 1
                try:
                    getattr(module, name)()
                except Exception:
                    failed += 1
                    print >> sys.stderr, '%s::%s' % (path, name)
                    traceback.print_exc()
    print '%d of %d tests passed' % (run - failed, run)
    return failed > 0 or run == 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
