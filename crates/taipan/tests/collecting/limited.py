"""What happens where the heap has a limit: MemoryError, from small objects too."""
from rpython.rlib import rgc


class Node(object):
    def __init__(self, number, next):
        self.number = number
        self.next = next


class Plain(object):
    next = None


class Kept(object):
    node = None
    plain = None
    items = None
    passed = 0


kept = Kept()


def let_go():
    kept.node = None
    kept.plain = None
    kept.items = None


def chain():
    while True:
        kept.node = Node(1, kept.node)


def chain_plain():
    while True:
        new = Plain()
        new.next = kept.plain
        kept.plain = new


def inner():
    try:
        chain()
    finally:
        kept.passed += 1


def strings():
    kept.items = [None]
    n = 0
    while True:
        n += 1
        kept.items.append('%d bottles' % n)


def many():
    kept.items = []
    while True:
        kept.items.append('abc')


def guarded():
    # The object itself is what fails.
    while True:
        try:
            kept.node = Node(2, kept.node)
        except MemoryError:
            return True


def guarded_plain():
    while True:
        try:
            new = Plain()
        except MemoryError:
            return True
        new.next = kept.plain
        kept.plain = new


def large(n):
    kept.items = ['a'] * n


def run(how):
    if how == 'chain':
        chain()
    elif how == 'plain':
        chain_plain()
    elif how == 'finally':
        inner()
    elif how == 'strings':
        strings()
    elif how == 'many':
        many()
    elif how == 'guarded':
        result = guarded()
        let_go()
        print result
        return
    elif how == 'guarded_plain':
        result = guarded_plain()
        let_go()
        print result
        return
    else:
        large(100 * 1000 * 1000)
    print 'not reached'


def used_after():
    # There is room again.
    let_go()
    rgc.collect()
    last = None
    for i in range(100000):
        last = Node(i, last)
    return last.number


def entry_point(argv):
    how = argv[1]
    if how == 'uncaught':
        inner()
    if how == 'twice':
        try:
            chain()
        except MemoryError:
            pass
        # Nothing is let go of.
        chain()
    try:
        run(how)
    except MemoryError:
        let_go()
        print 'MemoryError', kept.passed
    print used_after()
    return 0


def target(driver, args):
    return entry_point, None
