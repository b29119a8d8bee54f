class Cell(object):
    def __init__(self, value, rest):
        self.value = value
        self.rest = rest


def cells(n):
    head = None
    while n > 0:
        head = Cell(n, head)
        n -= 1
    return head
