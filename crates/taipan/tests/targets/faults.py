"""Ends of programs that are no exceptions, and one that is."""

class Node(object):
    def __init__(self, v):
        self.v = v
        self.next = None

def null(n, times):
    total = 0
    for i in range(times):
        total += n.next.v * i + total
    return total

def divided(a, b):
    total = 0
    for i in range(3):
        total += a // b + i * total
    return total

def raised(n):
    if n > 2:
        raise ValueError
    return raised(n + 1) + 1

def deep(n):
    return deep(n + 1) + n

def entry_point(argv):
    n = len(argv)
    node = Node(n)
    if n > 5:
        node.next = node
    if argv[1] == 'null':
        print null(node, n)
    elif argv[1] == 'divided':
        print divided(n, n - 2)
    elif argv[1] == 'raised':
        print raised(n)
    else:
        try:
            print deep(n)
        except RuntimeError:
            return 4
    return 0

def target(driver, args):
    return entry_point
