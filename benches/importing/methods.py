"""Calls of methods: the class's own, inherited ones, class methods and static ones, through `super` and not."""


class Base(object):
    def __init__(self, value):
        self.value = value

    def get(self):
        return self.value

    def twice(self):
        return self.get() + self.get()

    @staticmethod
    def one():
        return 1

    @classmethod
    def made(cls, value):
        return cls(value)


class Middle(Base):
    def get(self):
        return Base.get(self)


class Derived(Middle):
    def thrice(self):
        return self.twice() + self.get()


def work(n):
    items = [Base(1), Derived.made(2), Derived(3)]
    total = 0
    for i in range(n):
        for item in items:
            total += item.get()
            total += item.twice()
        total += items[2].thrice() + Base.one()
    return total


TOTAL = work(60000)


def main(argv):
    return 0


def target(driver, args):
    return main, None
