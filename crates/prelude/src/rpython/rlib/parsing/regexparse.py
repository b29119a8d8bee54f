"""The notation of regular expressions.

Known are alternatives, concatenation, groups, `* + ? {n} {n,} {n,m}`, classes with
ranges and `^`, `.` (any character at all), `\\d \\s \\w` and their opposites, and
escapes: octal, `\\xHH`, `\\cX` for control characters, and those of C. Nothing is
greedy or lazy here: an automaton finds the longest match.
"""
from rpython.rlib.parsing.deterministic import ALPHABET, compress_char_set
from rpython.rlib.parsing.regex import RangeExpression, StringExpression

ESCAPES = {'a': '\a', 'b': '\b', 'e': '\x1b', 'f': '\f', 'n': '\n', 'r': '\r',
           't': '\t', 'v': '\v'}
OCTAL = '01234567'
SPECIAL = '*+()[]{|.-?^\\'

DIGITS = set('0123456789')
SPACES = set('\t\n\f\r ')
LETTERS = 'abcdefghijklmnopqrstuvwxyz'
WORD = set(LETTERS + LETTERS.upper() + '_') | DIGITS
EVERYTHING = set(ALPHABET)
CLASSES = {'d': DIGITS, 's': SPACES, 'w': WORD, 'D': EVERYTHING - DIGITS,
           'S': EVERYTHING - SPACES, 'W': EVERYTHING - WORD}


def _escape_end(text, i):
    """Where the escape ends whose backslash is at i."""
    kind = text[i + 1]
    if kind == 'x':
        return i + 4
    if kind == 'c':
        return i + 3
    end = i + 2
    if kind in OCTAL:
        while end < min(len(text), i + 4) and text[end] in OCTAL:
            end += 1
    return end


def _escaped_char(escape):
    """The character of an escape, given with its backslash."""
    kind = escape[1]
    if kind == 'x':
        return chr(int(escape[2:], 16))
    if kind == 'c':
        return chr(ord(escape[2].upper()) ^ 0x40)
    if kind in OCTAL:
        return chr(int(escape[1:], 8) & 0xFF)
    return ESCAPES.get(kind, kind)


def unescape(s):
    """The text without escapes."""
    result = []
    i = 0
    while i < len(s):
        end = i + 1
        if s[i] == '\\' and end < len(s):
            end = _escape_end(s, i)
            result.append(_escaped_char(s[i:end]))
        else:
            result.append(s[i])
        i = end
    return "".join(result)


def _one_of(chars):
    result = None
    for first, count in compress_char_set(chars):
        run = RangeExpression(first, chr(ord(first) + count - 1))
        result = run if result is None else result | run
    if result is None:
        raise ValueError("empty character class")
    return result


class _Parser(object):

    def __init__(self, text):
        self.text = text
        self.i = 0

    def peek(self):
        return self.text[self.i:self.i + 1]

    def fail(self):
        raise ValueError("cannot parse the regular expression %r at %d"
                         % (self.text, self.i))

    def take(self, char):
        if self.peek() != char:
            return False
        self.i += 1
        return True

    def need(self, char):
        if not self.take(char):
            self.fail()

    def regex(self):
        result = self.concatenation()
        if self.take('|'):
            result = result | self.regex()
        return result

    def concatenation(self):
        result = StringExpression("")
        while self.peek() and self.peek() not in '|)':
            result = result + self.repetition()
        return result

    def repetition(self):
        if self.take('{'):
            return StringExpression('{')
        item = self.primary()
        if self.take('*'):
            return item.kleene()
        if self.take('+'):
            return item + item.kleene()
        if self.take('?'):
            return StringExpression("") | item
        if self.peek() == '{':
            return self.counted(item)
        return item

    def counted(self, item):
        start = self.i
        self.i += 1
        least = self.number()
        if least is not None:
            if self.take('}'):
                return item * least
            if self.take(','):
                if self.take('}'):
                    return item * least + item.kleene()
                most = self.number()
                if most is not None and self.take('}'):
                    result = item * least
                    for i in range(most - least):
                        result = result + (StringExpression("") | item)
                    return result
        # not a count: the brace stands for itself
        self.i = start
        return item

    def number(self):
        start = self.i
        while self.peek() and self.peek() in '0123456789':
            self.i += 1
        return int(self.text[start:self.i]) if self.i > start else None

    def primary(self):
        char = self.peek()
        if self.take('('):
            result = self.regex()
            self.need(')')
            return result
        if self.take('['):
            return _one_of(self.inside_brackets())
        if self.take('.'):
            return RangeExpression(chr(0), chr(255))
        named = self.named_class()
        if named is not None:
            return _one_of(named)
        if char in '-]' or (char == '\\' and self.i + 1 == len(self.text)):
            self.i += 1
            return StringExpression(char)
        char = self.char()
        if char is None:
            self.fail()
        return StringExpression(char)

    def named_class(self):
        """The set of a `\\d` or the like, if one stands here."""
        if self.peek() == '\\':
            chars = CLASSES.get(self.text[self.i + 1:self.i + 2])
            if chars is not None:
                self.i += 2
            return chars
        return None

    def char(self):
        """A plain or escaped character, if one stands here."""
        char = self.peek()
        if char == '\\' and self.i + 1 < len(self.text):
            end = _escape_end(self.text, self.i)
            escape = self.text[self.i:end]
            if escape[1] in CLASSES:
                return None
            self.i = end
            return _escaped_char(escape)
        if not char or char in SPECIAL:
            return None
        self.i += 1
        return char

    def inside_brackets(self):
        negated = self.take('^')
        chars = set()
        if self.take(']'):
            chars.add(']')
        while not self.take(']'):
            chars |= self.element()
        return EVERYTHING - chars if negated else chars

    def element(self):
        named = self.named_class()
        if named is not None:
            return named
        first = self.char()
        if first is None:
            char = self.peek()
            if not char:
                self.fail()
            self.i += 1
            return set(char)
        start = self.i
        if self.take('-'):
            last = self.char()
            if last is not None:
                return set([chr(i) for i in range(ord(first), ord(last) + 1)])
            self.i = start
        return set(first)


def parse_regex(s):
    """The tree of a regular expression; ValueError where there is none."""
    parser = _Parser(s)
    result = parser.regex()
    if parser.peek():
        parser.fail()
    return result


def make_runner(regex, view=False):
    """A DFARunner: its recognize(s) tells whether the expression matches all of s."""
    dfa = parse_regex(regex).make_automaton().make_deterministic()
    dfa.optimize()
    return dfa.get_runner()
