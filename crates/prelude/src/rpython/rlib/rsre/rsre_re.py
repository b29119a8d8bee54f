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


@specialize.call_location()
def match(pattern, string, flags=0):
    return compile(pattern, flags).match(string)


@specialize.call_location()
def search(pattern, string, flags=0):
    return compile(pattern, flags).search(string)


@specialize.call_location()
def findall(pattern, string, flags=0):
    return compile(pattern, flags).findall(string)


@specialize.call_location()
def finditer(pattern, string, flags=0):
    return compile(pattern, flags).finditer(string)


@specialize.call_location()
def sub(pattern, repl, string, count=0):
    return compile(pattern).sub(repl, string, count)


@specialize.call_location()
def subn(pattern, repl, string, count=0):
    return compile(pattern).subn(repl, string, count)


@specialize.call_location()
def split(pattern, string, maxsplit=0):
    return compile(pattern).split(string, maxsplit)


@specialize.memo()
def compile(pattern, flags=0):
    code, flags, args = get_code(pattern, flags, allargs=True)
    return RSREPattern(pattern, code, flags, *args)


def escape(pattern):
    """The expression that matches this text only."""
    result = []
    for c in pattern:
        if not c.isalnum():
            result.append('\\')
        result.append(c)
    return ''.join(result)


class RSREPattern(object):
    def __init__(self, pattern, code, flags, num_groups, groupindex, indexgroup):
        self._code = code
        self.pattern = pattern
        self.flags = flags
        self.groups = num_groups
        self.groupindex = groupindex
        self._indexgroup = indexgroup

    def match(self, string, pos=0, endpos=sys.maxint):
        return self._make_match(rsre_core.match(self._code, string, pos, endpos))

    def search(self, string, pos=0, endpos=sys.maxint):
        return self._make_match(rsre_core.search(self._code, string, pos, endpos))

    def findall(self, string, pos=0, endpos=sys.maxint):
        """The texts of all matches, or of the group if there is one."""
        assert self.groups <= 1, "findall() of expressions with several groups"
        result = []
        scanner = self.scanner(string, pos, endpos)
        while True:
            found = scanner.search()
            if found is None:
                return result
            result.append(found.group(self.groups))

    def finditer(self, string, pos=0, endpos=sys.maxint):
        scanner = self.scanner(string, pos, endpos)
        while True:
            found = scanner.search()
            if found is None:
                break
            yield found

    def subn(self, repl, string, count=0):
        """The text with matches replaced, and how many were."""
        result = []
        start = 0
        done = 0
        scanner = self.scanner(string)
        while count == 0 or done < count:
            found = scanner.search()
            if found is None:
                break
            begin, end = found.span(0)
            if begin == end == start and done > 0:
                # Nothing, right behind the last match.
                continue
            assert start >= 0 and begin >= 0
            result.append(string[start:begin])
            result.append(found.expand(repl))
            start = end
            done += 1
        assert start >= 0
        result.append(string[start:])
        return ''.join(result), done

    def sub(self, repl, string, count=0):
        return self.subn(repl, string, count)[0]

    def split(self, string, maxsplit=0):
        """What is between matches, and the groups of these."""
        result = []
        start = 0
        done = 0
        scanner = self.scanner(string)
        while maxsplit == 0 or done < maxsplit:
            found = scanner.search()
            if found is None:
                break
            begin, end = found.span(0)
            if begin == end:
                continue
            assert start >= 0 and begin >= 0
            result.append(string[start:begin])
            for i in range(1, self.groups + 1):
                result.append(found.group(i))
            start = end
            done += 1
        assert start >= 0
        result.append(string[start:])
        return result

    def scanner(self, string, start=0, end=sys.maxint):
        return SREScanner(self, string, start, end)

    def _make_match(self, ctx):
        if ctx is None:
            return None
        return RSREMatch(self, ctx)


class RSREMatch(object):
    def __init__(self, pattern, ctx):
        self.re = pattern
        self._ctx = ctx

    def _number(self, group):
        """The number of a group. While a program is imported it may be given by name."""
        if not we_are_translated() and isinstance(group, str):
            return self.re.groupindex[group]
        return group

    def span(self, groupnum=0):
        return self._ctx.span(self._number(groupnum))

    def start(self, groupnum=0):
        return self.span(groupnum)[0]

    def end(self, groupnum=0):
        return self.span(groupnum)[1]

    def group(self, group=0):
        return self._ctx.group(self._number(group))

    def groups(self, default=None):
        result = []
        for i in range(1, self.re.groups + 1):
            text = self.group(i)
            if text is None:
                text = default
            result.append(text)
        return result

    def groupdict(self, default=None):
        result = {}
        for name, number in self.re.groupindex.iteritems():
            text = self.group(number)
            if text is None:
                text = default
            result[name] = text
        return result

    def expand(self, template):
        """The template with \\1, \\g<1> and \\g<name> replaced by groups."""
        result = []
        pos = 0
        while True:
            at = template.find('\\', pos)
            if at < 0 or at + 1 >= len(template):
                result.append(template[pos:])
                return ''.join(result)
            result.append(template[pos:at])
            c = template[at + 1]
            pos = at + 2
            if c.isdigit():
                result.append(self._text_of(c))
            elif c == 'g' and template.find('>', pos) > 0:
                end = template.find('>', pos)
                assert end >= 0
                result.append(self._text_of(template[pos + 1:end]))
                pos = end + 1
            elif c == 'n':
                result.append('\n')
            elif c == '\\':
                result.append('\\')
            else:
                result.append('\\' + c)

    def _text_of(self, name):
        if name in self.re.groupindex:
            number = self.re.groupindex[name]
        else:
            number = int(name)
        text = self.group(number)
        if text is None:
            return ''
        return text

    @property
    def regs(self):
        return [self.span(i) for i in range(self.re.groups + 1)]

    @property
    def lastindex(self):
        """The number of the group that was closed last, -1 if there is none."""
        mark = self._ctx.match_marks
        while mark is not None:
            if mark.gid & 1:
                return mark.gid // 2 + 1
            mark = mark.prev
        return -1

    @property
    def lastgroup(self):
        n = self.lastindex
        if n < 0:
            return None
        return self.re._indexgroup[n]


class SREScanner(object):
    """Goes from match to match."""

    def __init__(self, pattern, string, start, end):
        self.pattern = pattern
        self._string = string
        self._start = start
        self._end = end

    def match(self):
        return self._next(self.pattern.match(self._string, self._start, self._end))

    def search(self):
        if self._start > len(self._string):
            return None
        return self._next(self.pattern.search(self._string, self._start, self._end))

    def _next(self, found):
        if found is None:
            self._start += 1
        else:
            start, end = found.span(0)
            self._start = end
            if start == end:
                self._start += 1
        return found
