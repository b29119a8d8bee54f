"""Cases from the tests of garbage collectors.

Python 2.7. These tests compile or transform all functions of a class at once, which
its methods `define_NAME` make, and run them by name. Here each function is interpreted
alone, over the original's collector; what the test then says of the result tells
whether it makes a case.
"""
import inspect


class Runs(object):
    """The calls that the running test has made of its functions."""

    def __init__(self, interpret, where, record):
        self.interpret = interpret
        self.where = where
        self.record = record
        self.made = []

    def run(self, cls, name, args):
        func = self.function(cls, name)
        args = list(args)[:len(inspect.getargspec(func)[0])]
        result = self.interpret(func, args)
        self.made.append((func, args, result, self.where(func)))
        return result

    def function(self, cls, name):
        for prefix in ('define_', 'definestr_'):
            if hasattr(cls, prefix + name):
                func = getattr(cls, prefix + name).im_func(cls)
                return func[0] if isinstance(func, tuple) else func
        raise ValueError(name)

    def finish(self, passed):
        """The test is over: what it made of the results decides."""
        if passed:
            for made in self.made:
                self.record(*made)
        self.made = []


def install(runs):
    """Has the tests' classes run their functions through `runs`."""
    import py
    from rpython.memory.test import test_transformed_gc
    from rpython.translator.c.test import test_newgc

    def nothing(cls):
        pass

    def run(self, name, *args, **kwds):
        return runs.run(type(self), name, args)

    def runner(self, name, transformer=False):
        if transformer:
            py.test.skip("looks at the transformer")
        return lambda args: runs.run(type(self), name, args)

    framework = test_newgc.UsingFrameworkTest
    framework.setup_class = nothing
    framework.teardown_class = nothing
    framework.run = framework.run_orig = run
    transformed = test_transformed_gc.GCTest
    transformed.setup_class = nothing
    transformed.runner = runner
