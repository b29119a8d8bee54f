"""A program with a heap that lives from call to call."""


class Node(object):
    def __init__(self, value, next):
        self.value = value
        self.next = next


class Stack(object):
    def __init__(self):
        self.top = None
        self.size = 0


stack = Stack()


def push(s):
    # type: (str) -> int
    stack.top = Node(s, stack.top)
    stack.size += 1
    return stack.size


def pop():
    # type: () -> str
    node = stack.top
    if node is None:
        raise IndexError
    stack.top = node.next
    stack.size -= 1
    return node.value


def garbage(n):
    # type: (int) -> int
    total = 0
    for i in range(n):
        node = Node(str(i), Node('x', None))
        total += len(node.value)
    return total


def depth(n):
    # type: (int) -> int
    if n == 0:
        return 0
    return depth(n - 1) + 1
