"""What Minnow programs compute with."""


class Value(object):
    def text(self):
        raise NotImplementedError

    def is_true(self):
        raise NotImplementedError

    def equals(self, other):
        raise NotImplementedError


class Integer(Value):
    _immutable_fields_ = ['number']

    def __init__(self, number):
        self.number = number

    def text(self):
        return str(self.number)

    def is_true(self):
        return self.number != 0

    def equals(self, other):
        return isinstance(other, Integer) and self.number == other.number


class Text(Value):
    _immutable_fields_ = ['string']

    def __init__(self, string):
        self.string = string

    def text(self):
        return self.string

    def is_true(self):
        return len(self.string) > 0

    def equals(self, other):
        return isinstance(other, Text) and self.string == other.string
