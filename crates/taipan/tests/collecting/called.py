"""Objects that only a prebuilt object refers to."""


class Box(object):
    def __init__(self, value, link):
        self.value = value
        self.link = link


class Registry(object):
    first = None


registry = Registry()


def kept_in_prebuilt(n):
    registry.first = None
    for i in range(n):
        registry.first = Box(i, registry.first)
    total = 0
    box = registry.first
    while box is not None:
        total += box.value
        box = box.link
    return total
