"""What a call of a generator function gives, once translated.

The flow space makes such a class for each generator function, and turns the function's
body into a function `resume`, which runs from one position to the next `yield`. A
position is an object that holds the local variables needed from there on.
"""


class GeneratorIterator(object):

    def __init__(self, entry):
        self.current = entry

    def __iter__(self):
        return self


def make_next(resume):
    def next(self):
        entry = self.current
        self.current = None
        assert entry is not None, "generator already executing"
        position, value = resume(entry)
        self.current = position
        return value
    return next
