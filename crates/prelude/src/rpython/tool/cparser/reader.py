"""Going through a list of tokens."""
from rpython.tool.cparser.constants import NotConstant, evaluate
from rpython.tool.cparser.error import CDefError
from rpython.tool.cparser.preprocessor import place

_CLOSING = {'(': ')', '[': ']', '{': '}'}
# What a text ends with, behind its last token.
END = ''


class Reader(object):
    """Tokens and the numbers of their lines; `token` is the one that is next."""

    def __init__(self, tokens, lines, last_line, where):
        self.tokens = tokens + [END]
        self.lines = lines + [last_line]
        self.where = where
        self.go(0)

    def go(self, pos):
        self.pos = pos
        self.token = self.tokens[pos]

    def advance(self):
        """Moves behind the next token, which it returns."""
        token = self.token
        self.go(self.pos + 1)
        return token

    def error(self, message, pos=None):
        """An exception for what stands at a place, the current one if none is given."""
        number = self.lines[self.pos if pos is None else pos]
        return CDefError('%s: %s' % (place(self.where, number), message))

    def shown(self):
        if self.token == END:
            return 'the end'
        return "'%s'" % self.token

    def expect(self, token):
        if self.token != token:
            wanted = "'%s'" % token if token else 'the end'
            raise self.error('expected %s before %s' % (wanted, self.shown()))
        if token:
            self.advance()

    def skip_group(self):
        """From an opening parenthesis, bracket or brace behind the one that closes it."""
        start = self.pos
        closing = [_CLOSING[self.advance()]]
        while closing:
            if self.token == END:
                raise self.error("'%s' is not closed" % self.tokens[start], start)
            if self.token in _CLOSING:
                closing.append(_CLOSING[self.token])
            elif self.token == closing[-1]:
                closing.pop()
            self.advance()

    def expression(self, *ends):
        """The tokens before one of those that may end an expression."""
        start = self.pos
        while self.token not in ends:
            if self.token == END:
                raise self.error('an expression does not end', start)
            if self.token in _CLOSING:
                self.skip_group()
            else:
                self.advance()
        return self.tokens[start:self.pos]

    def constant(self, constants, *ends):
        """The value of the expression before one of those tokens, given those of names."""
        start = self.pos
        try:
            return evaluate(self.expression(*ends), constants.get)
        except NotConstant as e:
            raise self.error(e.args[0], start)

    def skip_attributes(self):
        while self.token in ('__attribute__', '__asm__'):
            self.advance()
            if self.token != '(':
                raise self.error("expected '(' before %s" % self.shown())
            self.skip_group()
