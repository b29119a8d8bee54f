"""Names that match patterns of the shell."""
import re


def translate(pattern):
    """The pattern as a regular expression."""
    out = []
    i = 0
    while i < len(pattern):
        c = pattern[i]
        i += 1
        if c == '*':
            out.append('.*')
        elif c == '?':
            out.append('.')
        elif c == '[':
            end = pattern.find(']', i + 1)
            if end < 0:
                out.append('\\[')
                continue
            inside = pattern[i:end].replace('\\', '\\\\')
            if inside[:1] == '!':
                inside = '^' + inside[1:]
            out.append('[%s]' % inside)
            i = end + 1
        else:
            out.append(re.escape(c))
    return ''.join(out) + '$'


def fnmatchcase(name, pattern):
    return re.match(translate(pattern), name) is not None

fnmatch = fnmatchcase


def filter(names, pattern):
    return [n for n in names if fnmatchcase(n, pattern)]
