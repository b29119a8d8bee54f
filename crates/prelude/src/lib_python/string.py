"""Character classes and a few functions."""
whitespace = '\t\n\x0b\x0c\r '
lowercase = ascii_lowercase = 'abcdefghijklmnopqrstuvwxyz'
uppercase = ascii_uppercase = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
letters = ascii_letters = lowercase + uppercase
digits = '0123456789'
hexdigits = digits + 'abcdef' + 'ABCDEF'
octdigits = '01234567'
punctuation = """!"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"""
printable = digits + letters + punctuation + whitespace


def maketrans(source, target):
    if len(source) != len(target):
        raise ValueError("maketrans arguments must have same length")
    table = [chr(i) for i in range(256)]
    for i in range(len(source)):
        table[ord(source[i])] = target[i]
    return ''.join(table)


def join(words, sep=' '):
    return sep.join(words)


def split(s, sep=None, maxsplit=-1):
    return s.split(sep, maxsplit)


def replace(s, old, new, maxsplit=-1):
    return s.replace(old, new, maxsplit)


def lower(s):
    return s.lower()


def upper(s):
    return s.upper()


def strip(s):
    return s.strip()


def find(s, *args):
    return s.find(*args)


def atoi(s, base=10):
    return int(s, base)


def ljust(s, width):
    return s.ljust(width)


def rjust(s, width):
    return s.rjust(width)


def zfill(s, width):
    return s.zfill(width)


def capwords(s, sep=None):
    return (sep or ' ').join([word.capitalize() for word in s.split(sep)])


class Template(object):
    def __init__(self, template):
        self.template = template

    def substitute(self, mapping=None, **kwds):
        values = dict(mapping or {})
        values.update(kwds)
        out = []
        s = self.template
        i = 0
        while i < len(s):
            if s[i] != '$':
                out.append(s[i])
                i += 1
                continue
            if s[i + 1:i + 2] == '$':
                out.append('$')
                i += 2
                continue
            braced = s[i + 1:i + 2] == '{'
            i += 2 if braced else 1
            start = i
            while i < len(s) and (s[i].isalnum() or s[i] == '_'):
                i += 1
            out.append(str(values[s[start:i]]))
            if braced:
                i += 1
        return ''.join(out)


def capitalize(s):
    return s.capitalize()


def swapcase(s):
    return s.swapcase()


def center(s, width):
    return s.center(width)


def lstrip(s):
    return s.lstrip()


def rstrip(s):
    return s.rstrip()


def rfind(s, *args):
    return s.rfind(*args)


def index(s, *args):
    return s.index(*args)


def rindex(s, *args):
    return s.rindex(*args)


def count(s, *args):
    return s.count(*args)


def translate(s, table, deletions=''):
    return s.translate(table, deletions)


def atof(s):
    return float(s)


def atol(s, base=10):
    return long(s, base)
