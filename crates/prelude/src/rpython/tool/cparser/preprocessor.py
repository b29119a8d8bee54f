"""C text as tokens: without comments, with conditionals decided and macros expanded."""
import re

from rpython.tool.cparser.constants import NotConstant, evaluate, signed_integer
from rpython.tool.cparser.error import CDefError

_STRINGS = r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
_COMMENT = re.compile(r'/\*.*?\*/|//(?:\\.|[^\\\n])*|' + _STRINGS, re.DOTALL)
_TOKEN = re.compile(r'[A-Za-z_]\w*|\.?\d[\w.]*|\.\.\.|<<|>>|[<>=!]=|&&|\|\||' + _STRINGS + r'|\S')
_DIRECTIVE = re.compile(r'\s*#\s*(\w*)\s*(.*)')
_DEFINE = re.compile(r'([A-Za-z_]\w*)(\(?)(.*)')

# Directives that say nothing about declarations.
_IGNORED = ('', 'include', 'line', 'pragma', 'warning', 'ident')


def _without_comment(match):
    """A space for a comment, with as many line ends as it had, none of which ends a line."""
    text = match.group()
    if text[0] == '/':
        return ' ' + '\\\n' * text.count('\n')
    return text


class Preprocessor(object):
    """The macros that are known. Those that take arguments are not expanded."""

    def __init__(self):
        self.macros = {}      # name -> tokens, None for those with arguments
        self.new_values = []  # (name, integer or text) of macros in the order of the text
        self._open = []       # of each #if around: was the text outside of it read, and was
                              # one of its parts
        self._active = True

    def include(self, other):
        self.macros.update(other.macros)

    def tokens(self, text, where=''):
        """The tokens of a text, and a list as long with the number of the line of each."""
        tokens, numbers = [], []
        self._open, self._active = [], True
        lines = _COMMENT.sub(_without_comment, text).split('\n')
        macros = self.macros
        i, count = 0, len(lines)
        while i < count:
            line = lines[i]
            i += 1
            number = i
            if '#' in line and line.lstrip()[0] == '#':
                while line[-1:] == '\\' and i < count:
                    line = line[:-1] + ' ' + lines[i]
                    i += 1
                try:
                    self._directive(line)
                except NotConstant as e:
                    raise CDefError('%s: %s' % (place(where, number), e.args[0]))
            elif self._active:
                if line[-1:] == '\\':
                    line = line[:-1]
                for token in _TOKEN.findall(line):
                    if macros.get(token) is not None:
                        expansion = self._expansion(token, (token,))
                        tokens += expansion
                        numbers += [number] * len(expansion)
                    else:
                        tokens.append(token)
                        numbers.append(number)
        if self._open:
            raise CDefError('%s: missing #endif' % place(where, count))
        return tokens, numbers

    def _expansion(self, name, inside):
        """The tokens that a macro stands for. A macro is not expanded inside of itself."""
        found = []
        for token in self.macros[name]:
            if self.macros.get(token) is not None and token not in inside:
                found += self._expansion(token, inside + (token,))
            else:
                found.append(token)
        return found

    def _directive(self, line):
        name, rest = _DIRECTIVE.match(line).groups()
        if name == 'ifdef':
            self._begin(rest.strip() in self.macros)
        elif name == 'ifndef':
            self._begin(rest.strip() not in self.macros)
        elif name == 'if':
            self._begin(self._active and self._condition(rest))
        elif name in ('elif', 'else', 'endif'):
            self._next_part(name, rest)
        elif not self._active:
            pass
        elif name == 'define':
            self._define(rest)
        elif name == 'undef':
            self.macros.pop(rest.strip(), None)
        elif name == 'error':
            raise NotConstant('#error ' + rest)
        elif name not in _IGNORED and not name.isdigit():
            raise NotConstant("unknown directive '#%s'" % name)

    def _begin(self, condition):
        self._open.append((self._active, condition))
        self._active = self._active and condition

    def _next_part(self, name, rest):
        if not self._open:
            raise NotConstant('#%s without #if' % name)
        outside, taken = self._open.pop()
        if name == 'endif':
            self._active = outside
            return
        condition = outside and not taken and (name == 'else' or self._condition(rest))
        self._active = condition
        self._open.append((outside, taken or condition))

    def _condition(self, text):
        """Whether the expression of an #if holds."""
        text = re.sub(r'\bdefined\s*(?:\(\s*(\w+)\s*\)|(\w+))', self._is_defined, text)
        tokens = []
        for token in _TOKEN.findall(text):
            if self.macros.get(token) is not None:
                tokens += self._expansion(token, (token,))
            else:
                tokens.append(token)
        return evaluate(tokens, lambda name: 0) != 0

    def _is_defined(self, match):
        if (match.group(1) or match.group(2)) in self.macros:
            return '1'
        return '0'

    def _define(self, text):
        match = _DEFINE.match(text)
        if match is None:
            raise NotConstant("#define of no name")
        name, parenthesis, value = match.groups()
        text = parenthesis + ' '.join(value.split())
        if parenthesis:
            self.macros[name] = None
            self.new_values.append((name, text))
            return
        tokens = self.macros[name] = _TOKEN.findall(value)
        number = signed_integer(tokens)
        self.new_values.append((name, text if number is None else number))


def place(where, number):
    """How messages name a line of a text."""
    if where:
        return '%s:%d' % (where, number)
    return 'line %d' % number
