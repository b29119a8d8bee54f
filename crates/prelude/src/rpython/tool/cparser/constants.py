"""The values of integer expressions in C declarations."""


class NotConstant(Exception):
    """An expression that is no integer constant; the message says why."""


def _quotient(left, right):
    """Division as C does it, towards zero."""
    if right == 0:
        raise NotConstant("division by zero")
    result = abs(left) // abs(right)
    if (left < 0) != (right < 0):
        return -result
    return result

# How tight each operator binds, and what it computes.
_BINARY = {
    '||': (1, lambda a, b: int(bool(a or b))),
    '&&': (2, lambda a, b: int(bool(a and b))),
    '|': (3, lambda a, b: a | b),
    '^': (4, lambda a, b: a ^ b),
    '&': (5, lambda a, b: a & b),
    '==': (6, lambda a, b: int(a == b)),
    '!=': (6, lambda a, b: int(a != b)),
    '<': (7, lambda a, b: int(a < b)),
    '>': (7, lambda a, b: int(a > b)),
    '<=': (7, lambda a, b: int(a <= b)),
    '>=': (7, lambda a, b: int(a >= b)),
    '<<': (8, lambda a, b: a << b),
    '>>': (8, lambda a, b: a >> b),
    '+': (9, lambda a, b: a + b),
    '-': (9, lambda a, b: a - b),
    '*': (10, lambda a, b: a * b),
    '/': (10, _quotient),
    '%': (10, lambda a, b: a - b * _quotient(a, b)),
}

_UNARY = {
    '-': lambda a: -a,
    '+': lambda a: a,
    '~': lambda a: ~a,
    '!': lambda a: int(not a),
}

_ESCAPES = {'n': 10, 't': 9, 'r': 13, '0': 0, 'a': 7, 'b': 8, 'f': 12, 'v': 11}


def integer(token):
    """The value of a literal; None for other tokens."""
    if token[:1] == "'":
        char = token[1:-1]
        if len(char) == 1:
            return ord(char)
        if len(char) == 2 and char[0] == '\\':
            return _ESCAPES.get(char[1], ord(char[1]))
        return None
    digits = token.lower().rstrip('ul')
    if not digits[:1].isdigit():
        return None
    base = 10
    if digits.startswith('0x'):
        base = 16
    elif digits.startswith('0b'):
        base, digits = 2, digits[2:]
    elif digits.startswith('0'):
        base = 8
    try:
        return int(digits, base)
    except ValueError:
        return None


def signed_integer(tokens):
    """The value of a literal with or without a sign; None for other lists of tokens."""
    if len(tokens) == 1:
        return integer(tokens[0])
    if len(tokens) == 2 and tokens[0] == '-':
        value = integer(tokens[1])
        if value is not None:
            return -value
    return None


def evaluate(tokens, value_of_name):
    """The value of an expression. value_of_name() gives the values of identifiers, or None."""
    if len(tokens) == 1:
        value = integer(tokens[0])
        if value is not None:
            return value
    expression = _Expression(tokens, value_of_name)
    value = expression.binary(1)
    if expression.pos < len(tokens):
        raise NotConstant("unexpected '%s' in an expression" % tokens[expression.pos])
    return value


class _Expression(object):
    """What is left of an expression while it is computed."""

    def __init__(self, tokens, value_of_name):
        self.tokens = tokens
        self.value_of_name = value_of_name
        self.pos = 0

    def _next(self):
        if self.pos == len(self.tokens):
            raise NotConstant("an expression ends too early")
        self.pos += 1
        return self.tokens[self.pos - 1]

    def binary(self, tightest):
        """The value of operands and operators that bind at least so tight."""
        left = self.operand()
        while self.pos < len(self.tokens):
            level, compute = _BINARY.get(self.tokens[self.pos], (0, None))
            if level < tightest:
                break
            self.pos += 1
            left = compute(left, self.binary(level + 1))
        return left

    def operand(self):
        token = self._next()
        if token in _UNARY:
            return _UNARY[token](self.operand())
        if token == '(':
            value = self.binary(1)
            if self._next() != ')':
                raise NotConstant("missing ')' in an expression")
            return value
        value = integer(token)
        if value is None:
            value = self.value_of_name(token)
        if value is None:
            raise NotConstant("'%s' is no integer constant" % token)
        return value
