"""Context managers."""
import sys
from functools import wraps


class GeneratorContextManager(object):
    def __init__(self, generator):
        self.generator = generator

    def __enter__(self):
        return self.generator.next()

    def __exit__(self, etype, value, tb):
        if etype is None:
            try:
                self.generator.next()
            except StopIteration:
                return False
            raise RuntimeError("generator didn't stop")
        try:
            self.generator.throw(etype, value)
        except StopIteration:
            return True
        except:
            if sys.exc_info()[1] is value:
                return False
            raise
        raise RuntimeError("generator didn't stop after throw()")


def contextmanager(func):
    @wraps(func)
    def helper(*args, **kwds):
        return GeneratorContextManager(func(*args, **kwds))
    return helper


class closing(object):
    def __init__(self, thing):
        self.thing = thing

    def __enter__(self):
        return self.thing

    def __exit__(self, *exc_info):
        self.thing.close()
