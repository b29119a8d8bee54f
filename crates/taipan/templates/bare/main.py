"""The program: `taipan run` compiles and runs it."""


def greeting(names):
    if not names:
        return 'Hello, world'
    return 'Hello, ' + ' and '.join(names)


def entry_point(argv):
    print greeting(argv[1:])
    return 0


def target(driver, args):
    return entry_point, None
