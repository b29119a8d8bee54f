"""The syntax of regular expressions.

`parse` gives a tree of tuples:

    ('literal', c) ('any',) ('at', where) ('ref', n)
    ('in', negate, [(0, low, high) or (1, category, 0)])
    ('sequence', [..]) ('branch', [..]) ('repeat', min, max, greedy, item)
    ('group', n, item) ('look', ahead, negate, item) ('exists', n, yes, no)
"""
from rpython.rlib.rsre.rpy.sre_constants import error
from rpython.rlib.rsre.rsre_constants import *

FLAGS = {
    'i': SRE_FLAG_IGNORECASE, 'L': SRE_FLAG_LOCALE, 'm': SRE_FLAG_MULTILINE,
    's': SRE_FLAG_DOTALL, 'u': SRE_FLAG_UNICODE, 'x': SRE_FLAG_VERBOSE,
}

# By the letter; those of unicode are further on in the same order.
CATEGORIES = {
    'd': CATEGORY_DIGIT, 'D': CATEGORY_NOT_DIGIT, 's': CATEGORY_SPACE,
    'S': CATEGORY_NOT_SPACE, 'w': CATEGORY_WORD, 'W': CATEGORY_NOT_WORD,
}
UNICODE_CATEGORIES = CATEGORY_UNI_DIGIT - CATEGORY_DIGIT

ESCAPES = {'a': 7, 'b': 8, 'f': 12, 'n': 10, 'r': 13, 't': 9, 'v': 11}
OCTAL = '01234567'
HEXADECIMAL = '0123456789abcdefABCDEF'


class Parser(object):
    def __init__(self, text, flags):
        self.text = text
        self.pos = 0
        self.flags = flags
        self.groups = 0
        self.names = {}
        self.open_groups = []

    # Characters.

    def peek(self):
        return self.text[self.pos:self.pos + 1]

    def take(self):
        c = self.peek()
        self.pos += 1
        return c

    def eat(self, expected):
        if self.text.startswith(expected, self.pos):
            self.pos += len(expected)
            return True
        return False

    def until(self, end):
        at = self.text.find(end, self.pos)
        if at < 0:
            raise error("missing %s" % end)
        result = self.text[self.pos:at]
        self.pos = at + len(end)
        return result

    def number(self):
        start = self.pos
        while self.peek() and self.peek() in '0123456789':
            self.pos += 1
        return self.text[start:self.pos]

    # The grammar.

    def whole(self):
        tree = self.branches()
        if self.pos < len(self.text):
            raise error("unbalanced parenthesis")
        return tree

    def branches(self):
        items = [self.sequence()]
        while self.eat('|'):
            items.append(self.sequence())
        if len(items) == 1:
            return items[0]
        return ('branch', items)

    def sequence(self):
        items = []
        while True:
            if self.flags & SRE_FLAG_VERBOSE:
                self.skip_blanks()
            c = self.peek()
            if c == '' or c in '|)':
                return ('sequence', items)
            item = self.item()
            if item is not None:
                items.append(self.repeated(item))

    def skip_blanks(self):
        while self.peek() and (self.peek().isspace() or self.peek() == '#'):
            if self.take() == '#':
                end = self.text.find('\n', self.pos)
                self.pos = end + 1 if end >= 0 else len(self.text)

    def repeated(self, item):
        """An item with what says how often it comes."""
        start = self.pos
        c = self.peek()
        if c == '*':
            self.pos += 1
            least, most = 0, MAXREPEAT
        elif c == '+':
            self.pos += 1
            least, most = 1, MAXREPEAT
        elif c == '?':
            self.pos += 1
            least, most = 0, 1
        elif c == '{':
            self.pos += 1
            low = self.number()
            high = low
            if self.eat(','):
                high = self.number() or str(MAXREPEAT)
            if not self.eat('}') or self.text[start:self.pos] in ('{}', '{'):
                # No count: a brace.
                self.pos = start
                return item
            least, most = int(low or '0'), min(int(high), MAXREPEAT)
            if most < least:
                raise error("bad repeat interval")
        else:
            return item
        if item[0] == 'at':
            raise error("nothing to repeat")
        greedy = not self.eat('?')
        if self.peek() and (self.peek() in '*+?'):
            raise error("multiple repeat")
        return ('repeat', least, most, greedy, item)

    def item(self):
        c = self.take()
        if c == '.':
            return ('any',)
        if c == '^':
            if self.flags & SRE_FLAG_MULTILINE:
                return ('at', AT_BEGINNING_LINE)
            return ('at', AT_BEGINNING)
        if c == '$':
            if self.flags & SRE_FLAG_MULTILINE:
                return ('at', AT_END_LINE)
            return ('at', AT_END)
        if c == '(':
            return self.parenthesis()
        if c == '[':
            return self.charset()
        if c == '\\':
            return self.escape()
        if c in '*+?':
            raise error("nothing to repeat")
        return ('literal', ord(c))

    def close(self):
        if not self.eat(')'):
            raise error("unbalanced parenthesis")

    def parenthesis(self):
        if not self.eat('?'):
            return self.group(None)
        if self.eat(':'):
            item = self.branches()
            self.close()
            return item
        if self.eat('P<'):
            return self.group(self.until('>'))
        if self.eat('P='):
            name = self.until(')')
            if name not in self.names:
                raise error("unknown group name: %r" % name)
            return ('ref', self.names[name])
        if self.eat('#'):
            self.until(')')
            return None
        for prefix, ahead, negate in [('=', True, False), ('!', True, True),
                                      ('<=', False, False), ('<!', False, True)]:
            if self.eat(prefix):
                item = self.branches()
                self.close()
                return ('look', ahead, negate, item)
        if self.eat('('):
            return self.exists()
        while self.peek() in FLAGS:
            self.flags |= FLAGS[self.take()]
        self.close()
        return None

    def group(self, name):
        self.groups += 1
        number = self.groups
        if name is not None:
            if name in self.names or not name.replace('_', 'a').isalnum() or name[0].isdigit():
                raise error("bad group name %r" % name)
            self.names[name] = number
        self.open_groups.append(number)
        item = self.branches()
        self.close()
        self.open_groups.pop()
        return ('group', number, item)

    def exists(self):
        name = self.until(')')
        if name in self.names:
            number = self.names[name]
        elif name.isdigit():
            number = int(name)
        else:
            raise error("unknown group name: %r" % name)
        yes = self.sequence()
        no = ('sequence', [])
        if self.eat('|'):
            no = self.sequence()
        self.close()
        return ('exists', number, yes, no)

    def escape(self):
        c = self.peek()
        if c == '':
            raise error("bogus escape (end of line)")
        wide = self.flags & SRE_FLAG_UNICODE
        if c in CATEGORIES:
            self.pos += 1
            return ('in', False, [self.category(c)])
        places = {'A': AT_BEGINNING_STRING, 'Z': AT_END_STRING,
                  'b': AT_UNI_BOUNDARY if wide else AT_BOUNDARY,
                  'B': AT_UNI_NON_BOUNDARY if wide else AT_NON_BOUNDARY}
        if c in places:
            self.pos += 1
            return ('at', places[c])
        digits = self.text[self.pos:self.pos + 3]
        if c in '123456789' and not (len(digits) == 3 and digits[0] in '0123' and
                                     digits[1] in OCTAL and digits[2] in OCTAL):
            self.pos += 1
            number = c
            if self.peek() and self.peek() in '0123456789':
                number += self.take()
            number = int(number)
            if number > self.groups or number in self.open_groups:
                raise error("bogus group reference: %d" % number)
            return ('ref', number)
        return ('literal', self.character())

    def category(self, letter):
        code = CATEGORIES[letter]
        if self.flags & SRE_FLAG_UNICODE:
            code += UNICODE_CATEGORIES
        return (1, code, 0)

    def character(self):
        """The character that an escape stands for."""
        c = self.take()
        if c == 'x':
            digits = self.text[self.pos:self.pos + 2]
            if len(digits) < 2 or digits[0] not in HEXADECIMAL or digits[1] not in HEXADECIMAL:
                raise error("bogus escape: \\x")
            self.pos += 2
            return int(digits, 16)
        if c in OCTAL:
            digits = c
            while len(digits) < 3 and self.peek() and self.peek() in OCTAL:
                digits += self.take()
            return int(digits, 8) & 0xff
        if c in ESCAPES:
            return ESCAPES[c]
        return ord(c)

    def charset(self):
        negate = self.eat('^')
        items = []
        first = True
        while first or self.peek() != ']':
            first = False
            low = self.set_item()
            if low[0] == 0 and self.peek() == '-' and self.text[self.pos + 1:self.pos + 2] not in ('', ']'):
                self.pos += 1
                high = self.set_item()
                if high[0] != 0 or high[1] < low[1]:
                    raise error("bad character range")
                low = (0, low[1], high[1])
            items.append(low)
        self.pos += 1
        return ('in', negate, items)

    def set_item(self):
        c = self.take()
        if c == '':
            raise error("unexpected end of regular expression")
        if c == '\\':
            c = self.peek()
            if c == '':
                raise error("unexpected end of regular expression")
            if c in CATEGORIES:
                self.pos += 1
                return self.category(c)
            code = self.character()
        else:
            code = ord(c)
        return (0, code, code)


def parse(text, flags=0):
    """The tree, the number of groups, their numbers by name, the flags."""
    parser = Parser(text, flags)
    tree = parser.whole()
    if parser.flags & ~flags:
        # Flags hold for all of the expression, also for what stands before them.
        parser = Parser(text, parser.flags)
        tree = parser.whole()
    return tree, parser.groups, parser.names, parser.flags
