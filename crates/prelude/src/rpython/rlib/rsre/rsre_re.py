"""The interface of Python's `re`, on byte strings. Expressions are constants: they are
made into code while the program is compiled."""
import sys

from rpython.rlib.objectmodel import not_rpython, specialize, we_are_translated
from rpython.rlib.rsre import rsre_core
from rpython.rlib.rsre.rpy import get_code
from rpython.rlib.rsre.rpy.sre_constants import error

I = IGNORECASE = 2
L = LOCALE = 4
M = MULTILINE = 8
S = DOTALL = 16
U = UNICODE = 32
X = VERBOSE = 64


@specialize.memo()
def compile(pattern, flags=0):
    code, flags, (groups, groupindex, indexgroup) = get_code(pattern, flags, allargs=True)
    return RSREPattern(pattern, code, flags, groups, groupindex, indexgroup)


# The pattern is a constant of each call, which compile() needs.
_with_constants = specialize.call_location()


@_with_constants
def finditer(pattern, string, flags=0):
    regex = compile(pattern, flags)
    return regex.finditer(string)


@_with_constants
def findall(pattern, string, flags=0):
    regex = compile(pattern, flags)
    return regex.findall(string)


@_with_constants
def match(pattern, string, flags=0):
    regex = compile(pattern, flags)
    return regex.match(string)


@_with_constants
def search(pattern, string, flags=0):
    regex = compile(pattern, flags)
    return regex.search(string)


@_with_constants
def split(pattern, string, maxsplit=0):
    regex = compile(pattern)
    return regex.split(string, maxsplit)


@_with_constants
def sub(pattern, repl, string, count=0):
    regex = compile(pattern)
    return regex.sub(repl, string, count)


@_with_constants
def subn(pattern, repl, string, count=0):
    regex = compile(pattern)
    return regex.subn(repl, string, count)


def escape(pattern):
    """The expression that matches this text only."""
    result = []
    for c in pattern:
        if not c.isalnum():
            result.append('\\')
        result.append(c)
    return ''.join(result)


class RSREPattern(object):
    """A compiled expression. What is given as pos and endpos are places in the string, as
    if nothing stood behind endpos."""

    def __init__(self, pattern, code, flags, num_groups, groupindex, indexgroup):
        self.pattern, self.flags = pattern, flags
        self.groups = num_groups
        # The numbers of groups by name, and the names by number.
        self.groupindex, self._indexgroup = groupindex, indexgroup
        self._code = code

    def scanner(self, string, start=0, end=sys.maxint):
        return SREScanner(self, string, start, end)

    def search(self, string, pos=0, endpos=sys.maxint):
        """The first match that begins at pos or later, or None."""
        return _match_of(self, rsre_core.search(self._code, string, pos, endpos))

    def match(self, string, pos=0, endpos=sys.maxint):
        """The match that begins at pos, or None."""
        return _match_of(self, rsre_core.match(self._code, string, pos, endpos))

    def finditer(self, string, pos=0, endpos=sys.maxint):
        matches = self.scanner(string, pos, endpos)
        found = matches.search()
        while found is not None:
            yield found
            found = matches.search()

    def findall(self, string, pos=0, endpos=sys.maxint):
        """The texts of all matches, or of the group if there is one."""
        assert self.groups <= 1, "findall() of expressions with several groups"
        texts = []
        matches = self.scanner(string, pos, endpos)
        found = matches.search()
        while found is not None:
            texts.append(found.group(self.groups))
            found = matches.search()
        return texts

    def split(self, string, maxsplit=0):
        """What is between matches that are not empty, and the groups of these."""
        pieces = []
        splits = behind = 0
        matches = self.scanner(string)
        while splits < maxsplit or maxsplit == 0:
            found = matches.search()
            if found is None:
                break
            begin, end = found.span(0)
            if begin < end:
                pieces.append(_between(string, behind, begin))
                for number in range(1, self.groups + 1):
                    pieces.append(found.group(number))
                behind = end
                splits += 1
        pieces.append(_from(string, behind))
        return pieces

    def subn(self, repl, string, count=0):
        """The text with matches replaced, and how many were."""
        pieces = []
        replaced = behind = 0
        matches = self.scanner(string)
        while replaced < count or count == 0:
            found = matches.search()
            if found is None:
                break
            begin, end = found.span(0)
            if replaced > 0 and begin == end == behind:
                # Nothing, right behind the last match.
                continue
            pieces.append(_between(string, behind, begin))
            pieces.append(found.expand(repl))
            behind = end
            replaced += 1
        pieces.append(_from(string, behind))
        return ''.join(pieces), replaced

    def sub(self, repl, string, count=0):
        text, _ = self.subn(repl, string, count)
        return text


def _between(string, start, end):
    assert start >= 0
    assert end >= 0
    return string[start:end]


def _from(string, start):
    assert start >= 0
    return string[start:]


def _match_of(pattern, ctx):
    """What a program gets of a context, which is None without a match."""
    return RSREMatch(pattern, ctx) if ctx is not None else None


class RSREMatch(object):
    """Where an expression was found. Group 0 is the whole match; a group that took no part
    in it is None, and lies at -1."""

    def __init__(self, pattern, ctx):
        self._ctx = ctx
        self.re = pattern

    def _number(self, group):
        """The number of a group. While a program is imported it may be given by name."""
        if not we_are_translated() and isinstance(group, str):
            return self.re.groupindex[group]
        return group

    def group(self, group=0):
        return self._ctx.group(self._number(group))

    def span(self, groupnum=0):
        return self._ctx.span(self._number(groupnum))

    def start(self, groupnum=0):
        start, _ = self.span(groupnum)
        return start

    def end(self, groupnum=0):
        _, end = self.span(groupnum)
        return end

    def _group_or(self, number, default):
        text = self.group(number)
        return default if text is None else text

    def groups(self, default=None):
        """The texts of all groups from 1 on; a tuple while a program is imported, where the
        number of its items need not be a constant."""
        texts = [self._group_or(number, default) for number in range(1, self.re.groups + 1)]
        return texts if we_are_translated() else tuple(texts)

    def groupdict(self, default=None):
        """The texts of groups by name."""
        texts = {}
        for name, number in self.re.groupindex.iteritems():
            texts[name] = self._group_or(number, default)
        return texts

    def expand(self, template):
        """The template with \\1, \\g<1> and \\g<name> replaced by groups."""
        pieces = []
        done = 0
        while True:
            at = template.find('\\', done)
            if at < 0 or at + 1 >= len(template):
                pieces.append(template[done:])
                return ''.join(pieces)
            pieces.append(template[done:at])
            c = template[at + 1]
            done = at + 2
            close = template.find('>', done) if c == 'g' else -1
            if c.isdigit():
                pieces.append(self._text_of(c))
            elif close > 0:
                pieces.append(self._text_of(template[done + 1:close]))
                done = close + 1
            elif c == 'n':
                pieces.append('\n')
            elif c == '\\':
                pieces.append('\\')
            else:
                pieces.append('\\' + c)

    def _text_of(self, name):
        groupindex = self.re.groupindex
        number = groupindex[name] if name in groupindex else int(name)
        text = self.group(number)
        return '' if text is None else text

    @property
    def string(self):
        """What was searched."""
        return self._ctx._string

    @property
    def pos(self):
        return self._ctx.match_start

    @property
    def endpos(self):
        return self._ctx.end

    @property
    def regs(self):
        spans = [self.span(number) for number in range(self.re.groups + 1)]
        return spans if we_are_translated() else tuple(spans)

    def _last_group(self):
        """The number of the group that was closed last, -1 if there is none."""
        mark = self._ctx.match_marks
        while mark is not None:
            if mark.gid & 1:
                return mark.gid // 2 + 1
            mark = mark.prev
        return -1

    @property
    def lastindex(self):
        """That number; while a program is imported None if there is none."""
        number = self._last_group()
        if not we_are_translated() and number < 0:
            return None
        return number

    @property
    def lastgroup(self):
        """The name of that group, None if it has none."""
        number = self._last_group()
        return self.re._indexgroup[number] if number >= 0 else None


class SREScanner(object):
    """Goes from match to match. Behind an empty one it goes on one character further."""

    def __init__(self, pattern, string, start, end):
        self._string, self._start, self._end = string, start, end
        self.pattern = pattern

    def match(self):
        return self._step_over(self.pattern.match(self._string, self._start, self._end))

    def search(self):
        if self._start <= len(self._string):
            return self._step_over(self.pattern.search(self._string, self._start, self._end))
        return None

    def _step_over(self, found):
        if found is None:
            self._start += 1
            return None
        begin, self._start = found.span(0)
        if begin == self._start:
            self._start += 1
        return found
