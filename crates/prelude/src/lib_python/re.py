"""Regular expressions."""
import _sre

I = IGNORECASE = 2
L = LOCALE = 4
M = MULTILINE = 8
S = DOTALL = 16
U = UNICODE = 32
X = VERBOSE = 64
error = ValueError


def compile(pattern, flags=0):
    """The engine that import-time code has runs in linear time; what it cannot do, rsre does,
    slowly."""
    found = _sre.compile(pattern, flags)
    if found is None:
        from rpython.rlib.rsre import rsre_re
        try:
            found = rsre_re.compile(pattern, flags)
        except rsre_re.error as e:
            raise error(str(e))
    return found


def match(pattern, string, flags=0):
    return compile(pattern, flags).match(string)


def search(pattern, string, flags=0):
    return compile(pattern, flags).search(string)


def findall(pattern, string, flags=0):
    return compile(pattern, flags).findall(string)


def finditer(pattern, string, flags=0):
    return compile(pattern, flags).finditer(string)


def split(pattern, string, maxsplit=0, flags=0):
    return compile(pattern, flags).split(string, maxsplit)


def sub(pattern, repl, string, count=0, flags=0):
    return compile(pattern, flags).sub(repl, string, count)


def subn(pattern, repl, string, count=0, flags=0):
    return compile(pattern, flags).subn(repl, string, count)


def escape(text):
    out = []
    for char in text:
        if not (char.isalnum() or char == '_'):
            out.append('\\')
        out.append(char)
    return ''.join(out)


def purge():
    pass


# What the compiler says where translated code calls these.
for _function in [compile, match, search, findall, finditer, split, sub, subn]:
    _function._instead_ = ('regular expressions are for import time: use `rpython.rlib.rsre` of a checkout of PyPy, '
                           'or compare characters')
