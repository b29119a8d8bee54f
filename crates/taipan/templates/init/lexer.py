"""From text to tokens."""

NUMBER, TEXT, NAME, SYMBOL, END = range(5)

KEYWORDS = ['else', 'fn', 'if', 'let', 'print', 'return', 'while']
SYMBOLS = ['==', '!=', '<=', '>=', '+', '-', '*', '/', '%', '<', '>', '=', '(', ')', '{', '}', ',']


class MinnowError(Exception):
    """A mistake in a Minnow program."""

    def __init__(self, message, line):
        self.message = message
        self.line = line


class Token(object):
    def __init__(self, kind, text, line):
        self.kind = kind
        self.text = text
        self.line = line


def is_letter(c):
    return 'a' <= c <= 'z' or 'A' <= c <= 'Z' or c == '_'


def is_digit(c):
    return '0' <= c <= '9'


def symbol_at(source, position):
    for symbol in SYMBOLS:
        if source[position:position + len(symbol)] == symbol:
            return symbol
    return ''


def tokenize(source):
    tokens = []
    line = 1
    position = 0
    while position < len(source):
        c = source[position]
        start = position
        if c == '\n':
            line += 1
            position += 1
        elif c == ' ' or c == '\t' or c == '\r':
            position += 1
        elif c == '#':
            while position < len(source) and source[position] != '\n':
                position += 1
        elif is_digit(c):
            while position < len(source) and is_digit(source[position]):
                position += 1
            tokens.append(Token(NUMBER, source[start:position], line))
        elif is_letter(c):
            while position < len(source) and (is_letter(source[position]) or is_digit(source[position])):
                position += 1
            word = source[start:position]
            kind = SYMBOL if word in KEYWORDS else NAME
            tokens.append(Token(kind, word, line))
        elif c == '"':
            end = source.find('"', start + 1)
            if end < 0:
                raise MinnowError('this text has no end', line)
            tokens.append(Token(TEXT, source[start + 1:end], line))
            position = end + 1
        else:
            symbol = symbol_at(source, position)
            if not symbol:
                raise MinnowError('unexpected character ' + c, line)
            tokens.append(Token(SYMBOL, symbol, line))
            position += len(symbol)
    tokens.append(Token(END, 'the end', line))
    return tokens
