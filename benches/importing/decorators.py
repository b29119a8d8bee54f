"""Decorators and closures over thousands of functions: registration, wrapping, attributes of functions."""

TABLE = {}


def register(*names):
    def decorate(func):
        for name in names:
            TABLE[name] = func
        func.exposed = True
        return func

    return decorate


def counted(func):
    def wrapper(*args):
        wrapper.calls += 1
        return func(*args)

    wrapper.calls = 0
    wrapper.func_name = func.func_name
    return wrapper


def accumulator(start):
    state = [start]

    def add(n):
        state[0] += n
        return state[0]

    return add


def define(i):
    @register("op%d" % i, "alias%d" % i)
    @counted
    def op(a, b):
        return a + b + i

    return op


FUNCTIONS = [define(i) for i in range(10000)]
TOTAL = 0
for turn in range(10):
    for function in FUNCTIONS:
        TOTAL += function(1, 2)
ADDERS = [accumulator(i) for i in range(1000)]
for turn in range(100):
    for adder in ADDERS:
        TOTAL += adder(turn)


def main(argv):
    return 0


def target(driver, args):
    return main, None
