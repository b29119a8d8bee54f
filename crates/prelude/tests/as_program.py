"""A program that runs the tests of this folder one after the other, for what `taipan test` does not run them by.

usage: as_program [NAME...]     all tests but these
"""
import os

TESTS = []
for name in sorted(os.listdir(os.path.dirname(os.path.abspath(__file__)))):
    if name.startswith('test_') and name.endswith('.py'):
        module = __import__(name[:-len('.py')])
        TESTS.extend([(name, getattr(module, name)) for name in sorted(vars(module))
                      if name.startswith('test_')])


def entry_point(argv):
    for name, test in TESTS:
        if name not in argv:
            # The last name is that of the test that fails.
            print name
            test()
    print 'all passed'
    return 0

def target(driver, args):
    return entry_point, None
