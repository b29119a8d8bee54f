"""A large list that is written to here and there, while much else is made and dies."""


class Box(object):
    def __init__(self, value):
        self.value = value
        self.before = None


class State(object):
    last = None


state = State()


def entry_point(argv):
    n = int(argv[1])
    boxes = [None] * n
    r = 12345
    for round in range(60):
        for i in range(n):
            r = (r * 1103515245 + 12345) & 0x7fffffff
            box = Box(r)
            if i % 400:
                state.last = box
                continue
            box.before = boxes[r % n]
            if box.before is not None:
                box.before.before = None
            boxes[r % n] = box
    total = 0
    count = 0
    for box in boxes:
        if box is not None:
            count += 1
            total = (total * 31 + box.value) & 0xffffffff
            if box.before is not None:
                total = (total + box.before.value) & 0xffffffff
    print count, total
    return 0


def target(driver, args):
    return entry_point, None
