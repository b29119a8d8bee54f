"""Functions that run without Python's lock."""


class Box(object):
    def __init__(self, value):
        self.value = value


class Shared(object):
    def __init__(self):
        self.boxes = {}


shared = Shared()


def spin(n, names):
    # type: (int, List[str]) -> Dict[str, int]
    total = 0
    counts = {}
    for i in range(n):
        box = Box(i)
        total ^= box.value * 7
        name = names[i % len(names)]
        counts[name] = counts.get(name, 0) + 1
    shared.boxes[names[0]] = Box(total)
    return counts
spin._releasegil_ = True


def fails(n):
    # type: (int) -> int
    if n > 2:
        raise ValueError
    return n
fails._releasegil_ = True


def held(name):
    # type: (str) -> int
    if name in shared.boxes:
        return shared.boxes[name].value
    return -1


def depth(n):
    # type: (int) -> int
    if n == 0:
        return 0
    return depth(n - 1) + 1
depth._releasegil_ = True
