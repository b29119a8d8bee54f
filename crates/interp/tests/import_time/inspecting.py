import inspect
class A(object):
    """Doc
string at column 0
    """
    x = [1,
2]
    def m(self):
        return 1

    # comment

    def n(self): pass
# outside

@staticmethod
def g(): return 5
def f(a,
      b=2):
    def inner():
        return "}"
    return inner
y = 1
def last():
    return 3
if __name__ != 'x':
    for o in (A, f, A.m, last, inspect.getargspec and A.n):
        print inspect.getsource(o), '---', inspect.getsourcelines(o)[1]
    print [n for n, v in inspect.getmembers(A, inspect.ismethod)]

import sys
import types
from collections import MutableMapping


class Lower(MutableMapping):
    """Keys regardless of case."""

    def __init__(self):
        self.data = {}

    def __getitem__(self, key):
        return self.data[key.lower()]

    def __setitem__(self, key, value):
        self.data[key.lower()] = value

    def __delitem__(self, key):
        del self.data[key.lower()]

    def __iter__(self):
        return iter(sorted(self.data))

    def __len__(self):
        return len(self.data)


d = Lower()
d['B'] = 2
d.update({'A': 1}, c=3)
print d.items(), d.get('C'), d.get('x', 5), 'a' in d, 'z' in d, d.pop('a'), d.keys(), len(d)
print d.setdefault('q', 7), d.values(), d == {'b': 2, 'c': 3, 'q': 7}
print sys.version_info[:2], sys.version_info.major, sys.version_info >= (2, 6)
made = types.FunctionType(f.func_code, globals(), 'made', (7,))
print made.__name__, made.func_defaults, made(1)()
print types.MethodType(len, [1, 2])()

import re
for pattern, text in [('{', 'a{b'), ('a{2}', 'caab'), ('a{,2}b', 'aab'), ('x{y}', 'x{y}'), (r'[]a[]+', 'b[]a]'),
                      (r'[^]]+', ']ab'), (r'[a&&b]+', 'x&b'), (r'\"[^"]*\"', 'say "hi"'), (r'\#\ \!', '# !'), (r'ab\Z', 'ab'),
                      (r'[\w-]+', 'a-b c'), ('}', 'a}'), (r'\{\}', '{}'), (r'[~]{2,3}', '~~~~')]:
    m = re.search(pattern, text)
    print pattern, m and m.group(0)

import hashlib
h = hashlib.sha1('abc')
h.update(bytes('def'))
print h.hexdigest(), hashlib.md5('').hexdigest(), hashlib.new('sha256', 'x').digest_size, bytes is str


def define(name):
    inspect.currentframe().f_back.f_globals[name] = name
    return sys._getframe(1).f_globals is globals()
print define(u'defined_here'), defined_here, globals()['defined_here']

import operator

# Functions of operator stand under the names of methods, too.
print inspect.getargs(f.func_code), inspect.getargs(f.func_code).args
print operator.__lt__(1, 2), operator.__and__(6, 3), operator.__not__(0)
print sorted(n for n in ('__truth__', '__is__', '__ipow__', '__inv__') if hasattr(operator, n))
numbers = [1, 2, 3]
operator.setslice(numbers, 0, 2, [7])
print numbers, operator.ifloordiv(7, 2), operator.__iadd__([1], [2])

import linecache

# The source of what was made from a text that linecache knows.
text = 'x = 1\ndef made_of_text(a):\n    return a + 1\ny = 2\n'
linecache.cache['<made>'] = len(text), None, text.splitlines(True), '<made>'
names = {}
exec compile(text, '<made>', 'exec') in names
print inspect.getsource(names['made_of_text']), names['made_of_text'](4)
try:
    compile('ok = 1\nnot ok = 2\n', 'bad.py', 'exec')
except SyntaxError as e:
    print str(e).split('(')[1]
