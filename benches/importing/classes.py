"""Class statements in a loop: inheritance, a metaclass, properties, slots."""


class Registry(type):
    known = []

    def __new__(meta, name, bases, attributes):
        attributes["tag"] = len(Registry.known)
        cls = type.__new__(meta, name, bases, attributes)
        Registry.known.append(cls)
        return cls


class Registered(object):
    __metaclass__ = Registry


def make(i):
    class Plain(object):
        number = i

        def get(self):
            return self._value

        def set(self, value):
            self._value = value

        value = property(get, set)

    class Derived(Plain):
        extra = i + 1

        def get(self):
            return self._value + 1

    class Known(Registered):
        number = i

    d = Derived()
    d.value = i
    return d.value + Known.tag


TOTAL = sum([make(i) for i in range(4000)])


def main(argv):
    return 0


def target(driver, args):
    return main, None
