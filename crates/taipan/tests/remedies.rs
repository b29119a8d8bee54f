//! What messages say to write instead is applied: the mistake has to be gone then.

use std::collections::BTreeMap;
use std::process::Command;

/// Statements of an entry point in which `n` is an int, `s` a str and `words` a list of
/// strings; a part of the help that they get; and what that makes of them.
const MISTAKES: &[(&str, &str, &str)] = &[
    // What RPython does not have.
    (
        "seen = set()\nfor w in words:\n    seen.add(w)\nprint len(seen)",
        "use a dict whose values are None",
        "seen = {}\nfor w in words:\n    seen[w] = None\nprint len(seen)",
    ),
    (
        "seen = {1, n}\nprint n in seen",
        "use a dict whose values are None",
        "seen = {1: None, n: None}\nprint n in seen",
    ),
    (
        "seen = {i for i in [1, n]}\nprint n in seen",
        "use a dict whose values are None",
        "seen = {}\nfor i in [1, n]:\n    seen[i] = None\nprint n in seen",
    ),
    (
        "print sum([1, n])",
        "write a loop",
        "total = 0\nfor i in [1, n]:\n    total += i\nprint total",
    ),
    (
        "for w in sorted(words):\n    print w",
        "TimSort(copy).sort()",
        "from rpython.rlib.listsort import make_timsort_class\ncopy = words[:]\nTimSort(copy).sort()\nfor w in copy:\n    print w",
    ),
    (
        "words.sort()",
        "TimSort(list).sort()",
        "TimSort(words).sort()",
    ),
    (
        "print map(str, [1, n])",
        "write a list comprehension",
        "print [str(i) for i in [1, n]]",
    ),
    ("print input()", "os.read(0, n)", "print os.read(0, 100)"),
    (
        "print apply(len, [s])",
        "call the function itself",
        "print len(s)",
    ),
    (
        "print reduce(max, [1, n])",
        "write a loop",
        "most = 1\nfor i in [1, n]:\n    most = max(most, i)\nprint most",
    ),
    (
        "for a, b, c in zip(words, words, words):\n    print a, b, c",
        "write a loop over `range(len(list))`",
        "for i in range(len(words)):\n    print words[i], words[i], words[i]",
    ),
    (
        "print intern(s)",
        "strings are compared by their characters",
        "print s",
    ),
    ("print buffer(s, 1)", "a slice of it", "print s[1:]"),
    ("print format(n)", "\"%d\" % n", "print '%d' % n"),
    (
        "print cmp(n, 3)",
        "compare by `<`, `==` and `>`",
        "print -1 if n < 3 else int(n > 3)",
    ),
    (
        "for i in range(n / 2.0):\n    print i",
        "make an integer of it with `int()`",
        "for i in range(int(n / 2.0)):\n    print i",
    ),
    (
        "text = '%d'\ntext %= n\nprint text",
        "write it out: `s = s % values`",
        "text = '%d'\ntext = text % n\nprint text",
    ),
    (
        "print raw_input()",
        "os.read(0, n)",
        "print os.read(0, 100)",
    ),
    (
        "print round(n / 3.0)",
        "round_double(x, digits)",
        "print round_double(n / 3.0, 0)",
    ),
    (
        "d = dict([(1, n)])\nprint len(d)",
        "assign the items in a loop",
        "d = {}\nfor k, v in [(1, n)]:\n    d[k] = v\nprint len(d)",
    ),
    ("print n ** 2", "multiply", "print n * n"),
    ("print n ** 2", "math.pow()", "print math.pow(n, 2)"),
    ("print >> sys.stderr, s", "os.write()", "os.write(2, s)"),
    ("call(**{'n': n})", "write the arguments out", "call(n=n)"),
    (
        "from os import *\nprint n",
        "import the names that are used",
        "from os import getpid\nprint getpid() > n",
    ),
    // Strings.
    (
        "print 'n' + n",
        "make a string of the number",
        "print 'n' + str(n)",
    ),
    ("print 'n' + n", "\"%d\" % n", "print 'n%d' % n"),
    (
        "print n + 'n'",
        "make a string of the number",
        "print str(n) + 'n'",
    ),
    (
        "print n / 2.0 + 'n'",
        "make a string",
        "print str(n / 2.0) + 'n'",
    ),
    (
        "print len(s + u'abc')",
        "make both unicode with `.decode('utf-8')`",
        "print len(s.decode('utf-8') + u'abc')",
    ),
    (
        "print len(u'abc' + s)",
        "both bytes with `.encode('utf-8')`",
        "print len(u'abc'.encode('utf-8') + s)",
    ),
    ("print '{0}'.format(n)", "\"%d\" % n", "print '%d' % n"),
    (
        "print len(s.split())",
        "split(' ')",
        "print len(s.split(' '))",
    ),
    ("print s.encode('utf-8')", "leave it out", "print s"),
    (
        "print ','.join([1, n])",
        "[str(x) for x in items]",
        "print ','.join([str(x) for x in [1, n]])",
    ),
    (
        "print s.startswith(('a', 'b'))",
        "with `or` between",
        "print s.startswith('a') or s.startswith('b')",
    ),
    // Slices.
    (
        "print s[-3:]",
        "`start = len(x) - n`, then `assert start >= 0`",
        "start = len(s) - 3\nassert start >= 0\nprint s[start:]",
    ),
    (
        "print s[n - 3:]",
        "store it in a variable and put an `assert x >= 0` in front",
        "x = n - 3\nassert x >= 0\nprint s[x:]",
    ),
    (
        "print len(words[::-1])",
        "write a loop over `range(start, stop, step)`",
        "back = []\nfor i in range(len(words) - 1, -1, -1):\n    back.append(words[i])\nprint len(back)",
    ),
    // Variables.
    (
        "if n > 1:\n    x = 1\nprint x",
        "assign to it on every way",
        "x = 0\nif n > 1:\n    x = 1\nprint x",
    ),
    (
        "f = lambda x: x + n\nprint f(1)",
        "pass the value as an argument",
        "f = lambda x, n: x + n\nprint f(1, n)",
    ),
    // Python 3.
    ("print f'{n} items'", "use `%`", "print '%d items' % n"),
    (
        "def g(x: int):\n    return x\nprint g(n)",
        "leave them out",
        "def g(x):\n    return x\nprint g(n)",
    ),
    (
        "def g(x) -> int:\n    return x\nprint g(n)",
        "leave them out",
        "def g(x):\n    return x\nprint g(n)",
    ),
    ("x: int = n\nprint x", "leave them out", "x = n\nprint x"),
    (
        "if (m := n + 1) > 1:\n    print m",
        "assign in a statement of its own",
        "m = n + 1\nif m > 1:\n    print m",
    ),
    (
        "raise ValueError('x') from None",
        "leave `from ..` out",
        "raise ValueError('x')",
    ),
    (
        "def g():\n    yield from [1, 2]\nfor i in g():\n    print i",
        "write `for x in ..: yield x`",
        "def g():\n    for x in [1, 2]: yield x\nfor i in g():\n    print i",
    ),
    ("print 1_000", "write the digits without them", "print 1000"),
    (
        "def g(a, *, b):\n    return a + b\nprint g(n, b=1)",
        "leave it out",
        "def g(a, b):\n    return a + b\nprint g(n, b=1)",
    ),
    (
        "def g(*args, b):\n    return b\nprint g(b=1)",
        "put the parameter in front of it",
        "def g(b, *args):\n    return b\nprint g(1)",
    ),
    (
        "a, *b = words\nprint a, len(b)",
        "a, b = x[0], x[1:]",
        "a, b = words[0], words[1:]\nprint a, len(b)",
    ),
    (
        "match n:\n    case 1:\n        print n",
        "use `if` and `elif`",
        "if n == 1:\n    print n",
    ),
    (
        "async def g():\n    return 1\ng()",
        "write an ordinary function",
        "def g():\n    return 1\ng()",
    ),
    (
        "try:\n    print n\nexcept* ValueError:\n    pass",
        "use `except`",
        "try:\n    print n\nexcept ValueError:\n    pass",
    ),
    (
        "x = await call(n)\nprint x",
        "write an ordinary function",
        "x = call(n)\nprint x",
    ),
    (
        "def g(x):\n    nonlocal x\n    x += 1\ng(n)",
        "keep what changes in an attribute of an object",
        "box = Box(n)\nbox.value += 1\nprint box.value",
    ),
    ("print n @ n", "call a function", "print call(n)"),
    (
        "e = {**{'a': n}, 'b': 2}\nprint len(e)",
        "assign the items in a loop",
        "e = {'b': 2}\nfor k, v in {'a': n}.items():\n    e[k] = v\nprint len(e)",
    ),
    (
        "class M(type):\n    pass\nclass C(metaclass=M):\n    x = 1\n---\nprint C().x + n",
        "say which metaclass it is in the body of the class: `__metaclass__ = ..`",
        "class M(type):\n    pass\nclass C(object):\n    __metaclass__ = M\n    x = 1\n---\nprint C().x + n",
    ),
    // Classes and instances.
    (
        "class B(Box):\n    def __init__(self, n):\n        super().__init__(n)\n---\nprint B(n).value",
        "call the method of the base class: `Base.method(self)`",
        "class B(Box):\n    def __init__(self, n):\n        Box.__init__(self, n)\n---\nprint B(n).value",
    ),
    (
        "class B(Box):\n    def __init__(self, n):\n        super(B, self).__init__(n)\n---\nprint B(n).value",
        "call the method of the base class: `Base.method(self)`",
        "class B(Box):\n    def __init__(self, n):\n        Box.__init__(self, n)\n---\nprint B(n).value",
    ),
    (
        "class C(object):\n    x = 1\nprint C().x + n",
        "define the class at the top level of the module",
        "class C(object):\n    x = 1\n---\nprint C().x + n",
    ),
    (
        "b = Box(n)\ndel b.value",
        "assign None instead",
        "b = Box(n)\nb.other = None",
    ),
    (
        "try:\n    assert n > 2\nexcept AssertionError:\n    print s",
        "test for it, or raise another exception",
        "if n <= 2:\n    print s",
    ),
    (
        "print Box(n) < Box(1)",
        "compare an attribute of both",
        "print Box(n).value < Box(1).value",
    ),
    (
        "print Box(n) == n",
        "instances equal themselves only: compare an attribute",
        "print Box(n).value == n",
    ),
    (
        "act = Box(n).up\nif n > 1:\n    act = Box(n).down\nprint act()",
        "pass the object, and choose by `if` which method is called",
        "box = Box(n)\nprint box.down() if n > 1 else box.up()",
    ),
    (
        "marker = object()\nprint marker is None or n",
        "write a class of your own",
        "marker = Marker()\nprint marker is None or n",
    ),
    // Lists, tuples and dicts.
    (
        "x = [n] + (1, 2)\nprint len(x)",
        "make a list of the tuple's items",
        "x = [n] + [1, 2]\nprint len(x)",
    ),
    (
        "x = (1, 2) + [n]\nprint len(x)",
        "make a list of the tuple's items",
        "x = [1, 2] + [n]\nprint len(x)",
    ),
    (
        "for x in (1, 'a', n):\n    print x",
        "take its items one by one",
        "x = (1, 'a', n)\nprint x[0], x[1], x[2]",
    ),
    (
        "print s in ('a', words[0])",
        "write a list instead of the tuple",
        "print s in ['a', words[0]]",
    ),
    (
        "print (1, n)[n]",
        "use a list, if all items are of one kind",
        "print [1, n][n]",
    ),
    (
        "print words < ['a']",
        "compare the items in a loop",
        "print words[0] < 'a'",
    ),
    (
        "print {1: n} == {1: 2}",
        "compare the items in a loop",
        "print {1: n}[1] == 2",
    ),
    (
        "d = {words: n}\nprint len(d)",
        "use a tuple",
        "d = {(words[0], words[1]): n}\nprint len(d)",
    ),
    (
        "print range(n).index(3)",
        "make a list of it: `[i for i in items]`",
        "print [i for i in range(n)].index(3)",
    ),
    (
        "words[:-1] = ['a']",
        "assign to `[:x]`",
        "x = len(words) - 1\nassert x >= 0\nwords[:x] = ['a']",
    ),
    (
        "words.insert(n - 3, s)",
        "store it in a variable and put an `assert x >= 0` in front",
        "x = n - 3\nassert x >= 0\nwords.insert(x, s)",
    ),
    ("print max([1, n])", "write a loop", "print max(1, n)"),
    ("print len(tuple(words))", "use a list", "print len(words)"),
    // Texts and numbers.
    (
        "print s < n",
        "compare two numbers, or two strings: `int(s)` or `str(n)`",
        "print int(s) < n",
    ),
    (
        "print s is 'a'",
        "compare the values by `==`",
        "print s == 'a'",
    ),
    ("print s == None", "compare by `is`", "print s is None"),
    (
        "print s.replace('ab', 'c')",
        "use `replace(s, old, new)` of rpython.rlib.rstring",
        "from rpython.rlib.rstring import replace\nprint replace(s, 'ab', 'c')",
    ),
    (
        "print repr(s.decode('utf-8'))",
        "encode it first: `repr(s.encode('utf-8'))`",
        "print repr(s.decode('utf-8').encode('utf-8'))",
    ),
    (
        "print '%(a)s' % {'a': n}",
        "give the values in their order",
        "print '%s' % (n,)",
    ),
    (
        "print '%*d' % (5, n)",
        "write the width into the format string",
        "print '%5d' % n",
    ),
    ("print '%f' % s", "use `%s`", "print '%s' % s"),
    (
        "print '%x' % s",
        "make an integer of it",
        "print '%x' % int(s)",
    ),
    (
        "print '100 %' % n",
        "write `%%` for a percent sign",
        "print '%d %%' % n",
    ),
    (
        "print r_int16(n) * 2",
        "convert it first: `int(x)`",
        "print int(r_int16(n)) * 2",
    ),
    (
        "print r_uint(n) < n - 3",
        "convert one of them with `r_uint()` or `intmask()`",
        "print intmask(r_uint(n)) < n - 3",
    ),
    (
        "print int(r_uint(n))",
        "use intmask()",
        "print intmask(r_uint(n))",
    ),
    (
        "try:\n    print ovfcheck(r_uint(n) + r_uint(1))\nexcept OverflowError:\n    pass",
        "compute with plain ints",
        "try:\n    print ovfcheck(n + 1)\nexcept OverflowError:\n    pass",
    ),
    (
        "x = float(n)\nprint x % 2.0",
        "use `math.fmod(x, y)`",
        "x = float(n)\nprint math.fmod(x, 2.0)",
    ),
    (
        "x = float(n)\nprint n // x",
        "use `math.floor(x / y)`",
        "x = float(n)\nprint math.floor(n / x)",
    ),
    (
        "import re\n---\nprint re.match('a+', s) is None",
        "use `rpython.rlib.rsre` of a checkout of PyPy, or compare characters",
        "print s.startswith('a')",
    ),
    (
        "import re\nDIGITS = re.compile('[0-9]+')\n---\nprint DIGITS.match(s) is None",
        "use `rpython.rlib.rsre` of a checkout of PyPy, or compare characters",
        "print len(s) > 0 and s[0].isdigit()",
    ),
    (
        "import random\n---\nprint random.randint(1, 6)",
        "use `Random(seed)` of rpython.rlib.rrandom",
        "from rpython.rlib.rrandom import Random\n---\nprint int(Random(1).random() * 6) + 1",
    ),
    (
        "import json\n---\nprint json.dumps([n])",
        "read and write the text by hand",
        "print '[%d]' % n",
    ),
    (
        "print ', '.join(str(i) for i in range(n))",
        "make a list of the parts",
        "print ', '.join([str(i) for i in range(n)])",
    ),
    (
        "def options(**kw):\n    return len(kw)\n---\nprint options(a=1)",
        "name each keyword as a parameter, or pass a dict",
        "def options(a=0):\n    return a\n---\nprint options(a=1)",
    ),
    (
        "for w in s.split():\n    print w",
        "say which character separates the parts",
        "for w in s.split(' '):\n    print w",
    ),
    (
        "print s[-n:]",
        "count from the front: `start = len(x) - n`",
        "start = len(s) - n\nassert start >= 0\nprint s[start:]",
    ),
    (
        "print words[:-n]",
        "count from the front: `start = len(x) - n`",
        "stop = len(words) - n\nassert stop >= 0\nprint len(words[:stop])",
    ),
    (
        "print(n, end='')",
        "from __future__ import print_function",
        "FUTURE\nprint(n, end='')",
    ),
    // Habits of Python: values of several kinds, special methods, what changes at run time.
    (
        "slots = [None] * n\nslots[0] = n\nprint slots[0]",
        "use a special value instead",
        "slots = [-1] * n\nslots[0] = n\nprint slots[0]",
    ),
    (
        "x = [n, 'a']\nprint len(x)",
        "wrap each in a class with a common base",
        "x = [str(n), 'a']\nprint len(x)",
    ),
    (
        "class C(object):\n    count = 0\n    def __init__(self):\n        C.count += 1\n---\nC()",
        "keep what changes in an attribute of a global object",
        "class Counter(object):\n    count = 0\ncounter = Counter()\nclass C(object):\n    def __init__(self):\n        counter.count += 1\n---\nC()",
    ),
    (
        "sys.maxint = n\nprint n",
        "classes and modules are constants",
        "print n",
    ),
    (
        "print getattr(Box(n), s)()",
        "if name == 'a': return x.a",
        "if s == 'up':\n    print Box(n).up()\nelse:\n    print Box(n).down()",
    ),
    (
        "setattr(Box(n), s, n)",
        "use each attribute by its own",
        "b = Box(n)\nif s == 'value':\n    b.value = n",
    ),
    (
        "print hasattr(Box(n), s)",
        "use each attribute by its own",
        "print s == 'value'",
    ),
    (
        "print len(Box(n).__dict__)",
        "read each attribute by its name",
        "print Box(n).value",
    ),
    (
        "print type(n) == int",
        "which is known while compiling",
        "print n",
    ),
    (
        "print eval(s)",
        "parse the text, and compute its value",
        "print int(s)",
    ),
    (
        "def more(n):\n    n = yield n\n    yield n\n---\nfor x in more(n):\n    print x",
        "by an attribute of an instance that both sides have",
        "class Box(object):\n    value = 0\ndef more(box):\n    yield box.value\n    yield box.value\n---\nbox = Box()\nfor x in more(box):\n    print x\n    box.value = n",
    ),
    ("exec s", "parse the text, and do what it says", "print s"),
    (
        "s[0] = 'x'\nprint s",
        "make another one of its parts",
        "s = 'x' + s[1:]\nprint s",
    ),
    (
        "del s[0]\nprint s",
        "make another one of its parts",
        "s = s[1:]\nprint s",
    ),
    (
        "t = (n, 1)\nt[0] = 2\nprint t[0]",
        "use a list",
        "t = [n, 1]\nt[0] = 2\nprint t[0]",
    ),
    (
        "t = (n, 1)\nt.append(2)",
        "use a list",
        "t = [n, 1]\nt.append(2)",
    ),
    (
        "class V(object):\n    def __add__(self, other):\n        return self\n---\nprint V() + V() is None",
        "call a method of the class by its name",
        "class V(object):\n    def add(self, other):\n        return self\n---\nprint V().add(V()) is None",
    ),
    (
        "class V(object):\n    def __neg__(self):\n        return self\n---\nprint -V() is None",
        "call a method of the class by its name",
        "class V(object):\n    def neg(self):\n        return self\n---\nprint V().neg() is None",
    ),
    (
        "class V(object):\n    def __call__(self, x):\n        return x\n---\nprint V()(n)",
        "RPython calls no `__call__`",
        "class V(object):\n    def call(self, x):\n        return x\n---\nprint V().call(n)",
    ),
    (
        "print Box(n).up + 1",
        "call the function or method",
        "print Box(n).up() + 1",
    ),
    (
        "def add(a, b):\n    a + b\n---\nprint add(n, 1) + 1",
        "`return` a value in it",
        "def add(a, b):\n    return a + b\n---\nprint add(n, 1) + 1",
    ),
    (
        "class C(object):\n    def __init__(self):\n        self.total = 1\n    def up(self):\n        return total\n---\nprint C().up()",
        "did you mean `self.total`?",
        "class C(object):\n    def __init__(self):\n        self.total = 1\n    def up(self):\n        return self.total\n---\nprint C().up()",
    ),
    (
        "class C(object):\n    def step(self):\n        return 1\n    def up(self):\n        return step(self)\n---\nprint C().up()",
        "did you mean `self.step`?",
        "class C(object):\n    def step(self):\n        return 1\n    def up(self):\n        return self.step()\n---\nprint C().up()",
    ),
    (
        "OPS = {'+': lambda a, b: a + b, 'n': lambda a: -a}\n---\nprint OPS[s](n, 1)",
        "take the same arguments",
        "OPS = {'+': lambda a, b: a + b, 'n': lambda a, b: -a}\n---\nprint OPS[s](n, 1)",
    ),
    (
        "print words[n / 2.0]",
        "make an integer of the float",
        "print words[int(n / 2.0)]",
    ),
    (
        "print words - ['a']",
        "[x for x in a if x not in b]",
        "print [x for x in words if x not in ['a']]",
    ),
    ("print words > n", "len(x)", "print len(words) > n"),
    (
        "for i in n:\n    print i",
        "range(n)",
        "for i in range(n):\n    print i",
    ),
    ("print list(n)", "[x]", "print [n]"),
    ("print ord(s)", "ord(s[0])", "print ord(s[0])"),
    (
        "print s[0] > 65",
        "the number of a character is `ord(c)`",
        "print ord(s[0]) > 65",
    ),
    (
        "print '%s %s' % words",
        "(items[0], items[1])",
        "print '%s %s' % (words[0], words[1])",
    ),
    (
        "print '%d %d' % n",
        "write a tuple with a value for each",
        "print '%d %d' % (n, n)",
    ),
    (
        "words += s\nprint len(words)",
        "by `append()`",
        "words.append(s)\nprint len(words)",
    ),
    ("print words.copy()", "items[:]", "print words[:]"),
    (
        "print s.ljust(5)",
        "s + ' ' * (width - len(s))",
        "print s + ' ' * (5 - len(s))",
    ),
    (
        "print s.zfill(5)",
        "'0' * (width - len(s)) + s",
        "print '0' * (5 - len(s)) + s",
    ),
    (
        "print s.partition(':')[0]",
        "i = s.find(sep)",
        "i = s.find(':')\nif i >= 0:\n    print s[:i], s[i + 1:]",
    ),
    (
        "print s.title()",
        "s[:1].upper() + s[1:].lower()",
        "print s[:1].upper() + s[1:].lower()",
    ),
    (
        "print max(words, key=len)",
        "keeps the best item so far",
        "best = ''\nfor w in words:\n    if len(w) > len(best):\n        best = w\nprint best",
    ),
    (
        "for line in open(s):\n    print line",
        "line = f.readline()",
        "f = open(s)\nline = f.readline()\nwhile line:\n    print line\n    line = f.readline()",
    ),
    (
        "print len(open(s).readlines())",
        "line = f.readline()",
        "print len(open(s).readline())",
    ),
    (
        "print sys.stdin.readline()",
        "create_stdio()",
        "from rpython.rlib.rfile import create_stdio\n---\nprint create_stdio()[0].readline()",
    ),
    ("sys.stdout.write(s)", "os.write(1, s)", "os.write(1, s)"),
    (
        "sys.exit(n)",
        "return the exit code",
        "if n > 1:\n    return n",
    ),
    (
        "try:\n    print int(s)\nexcept ValueError:\n    print sys.exc_info()[0] is None",
        "except E as e:",
        "try:\n    print int(s)\nexcept ValueError as e:\n    print e is None",
    ),
    (
        "try:\n    raise ValueError('x')\nexcept ValueError as e:\n    print e.args[0]",
        "an exception class of your own",
        "try:\n    raise ValueError('x')\nexcept ValueError as e:\n    print 'x'",
    ),
    (
        "import collections\nPoint = collections.namedtuple('Point', 'x y')\n---\nprint Point(n, 2).x",
        "write a class with these attributes",
        "class Point(object):\n    def __init__(self, x, y):\n        self.x = x\n        self.y = y\n---\nprint Point(n, 2).x",
    ),
    (
        "from collections import defaultdict\n---\nd = defaultdict(int)\nd[s] += 1\nprint len(d)",
        "assign the first value where `key not in d`",
        "d = {}\nif s not in d:\n    d[s] = 0\nd[s] += 1\nprint len(d)",
    ),
    (
        "from collections import deque\n---\nd = deque()\nd.append(n)\nprint d.popleft()",
        "keep the index of its first item",
        "d = []\nd.append(n)\nfirst = 0\nprint d[first]",
    ),
    (
        "import functools\n---\nprint functools.partial(call, n)()",
        "write a class with the arguments as attributes",
        "class Later(object):\n    def __init__(self, n):\n        self.n = n\n    def run(self):\n        return call(self.n)\n---\nprint Later(n).run()",
    ),
    (
        "import itertools\n---\nfor a, b in itertools.product(words, words):\n    print a, b",
        "write loops",
        "for a in words:\n    for b in words:\n        print a, b",
    ),
    (
        "import copy\n---\nprint copy.copy(words)",
        "items[:]",
        "print words[:]",
    ),
    (
        "import subprocess\n---\nprint subprocess.call(['ls'])",
        "os.system(command)",
        "print os.system('ls')",
    ),
    (
        "import threading\n---\nthreading.Thread(target=call).start()",
        "start_new_thread(function, args)",
        "from rpython.rlib.rthread import start_new_thread\ndef work():\n    print 1\n---\nstart_new_thread(work, ())",
    ),
    // Modules of Python's library.
    (
        "import pickle\n---\nprint pickle.dumps(n)",
        "get_marshaller(type)",
        "from rpython.rlib.rmarshal import get_marshaller\ndump = get_marshaller(int)\n---\nbuf = []\ndump(buf, n)\nprint len(buf)",
    ),
    (
        "import datetime\n---\nprint datetime.datetime.now().year",
        "compute with `time.time()`",
        "import time\n---\nprint 1970 + int(time.time() / 31556952)",
    ),
    (
        "from datetime import datetime\n---\nprint datetime.now().year",
        "compute with `time.time()`",
        "import time\n---\nprint 1970 + int(time.time() / 31556952)",
    ),
    (
        "import argparse\n---\nprint argparse.ArgumentParser()",
        "look at the argument of the entry point",
        "print argv[1]",
    ),
    (
        "import logging\n---\nlogging.info(s)",
        "os.write(2, text)",
        "os.write(2, s)",
    ),
    (
        "import decimal\n---\nprint decimal.Decimal(s)",
        "rbigint.fromint(n)",
        "from rpython.rlib.rbigint import rbigint\n---\nprint rbigint.fromint(n).str()",
    ),
    (
        "import enum\n---\nprint n",
        "RED, GREEN = range(2)",
        "RED, GREEN = range(2)\n---\nprint n == RED",
    ),
    // Habits of Python that the compiler would take in another sense.
    (
        "print sys.argv[0]",
        "use the argument of the entry point",
        "print argv[0]",
    ),
    (
        "from sys import argv as command\n---\nfor word in command:\n    print word",
        "use the argument of the entry point",
        "for word in argv:\n    print word",
    ),
    ("exit(n)", "return the exit code", "return n"),
    (
        "print len(unicode(n))",
        "str(x).decode('utf-8')",
        "print len(str(n).decode('utf-8'))",
    ),
    (
        "print max(n, 2, 3)",
        "max(max(a, b), c)",
        "print max(max(n, 2), 3)",
    ),
    (
        "def count():\n    yield 1\n---\nprint next(count(), 0)",
        "catch StopIteration",
        "def count():\n    yield 1\n---\nitems = count()\ntry:\n    x = items.next()\nexcept StopIteration:\n    x = 0\nprint x",
    ),
    (
        "def echo():\n    yield 1\n---\ng = echo()\ng.next()\ng.send(4)",
        "keep the state in its attributes",
        "class Echo(object):\n    def __init__(self):\n        self.x = 0\n    def send(self, x):\n        self.x = x\n        return x\n---\nprint Echo().send(4)",
    ),
    (
        "b = Box(n)\nif hasattr(b, 'other'):\n    print n",
        "write `x.a is not None`",
        "class Other(object):\n    other = None\n---\nb = Other()\nif b.other is not None:\n    print n",
    ),
    (
        "for k in {s: n}.viewkeys():\n    print k",
        "iterkeys()",
        "for k in {s: n}.iterkeys():\n    print k",
    ),
    (
        "for line in sys.stdin:\n    print line",
        "whose files have `readline()`",
        "from rpython.rlib.rfile import create_stdio\n---\ni, o, e = create_stdio()\nline = i.readline()\nwhile line:\n    print line\n    line = i.readline()",
    ),
    (
        "print('a', file=n)",
        "os.write(2, text)",
        "os.write(2, 'a')",
    ),
];

/// The program of a mistake: what stands in front of `---` is at its top level.
fn program(body: &str) -> String {
    let (top, body) = body.split_once("\n---\n").unwrap_or(("", body));
    let (future, body) = match body.strip_prefix("FUTURE\n") {
        Some(body) => ("from __future__ import print_function\n", body),
        None => ("", body),
    };
    let mut text = future.to_owned();
    text += "import math, os, sys\nfrom rpython.rlib.listsort import TimSort\n";
    text += "from rpython.rlib.rfloat import round_double\n";
    text += "from rpython.rlib.rarithmetic import intmask, ovfcheck, r_int16, r_uint\n";
    text += "class Marker(object):\n    pass\n";
    text += "class Box(object):\n    def __init__(self, value):\n        self.value = value\n";
    text += "    def up(self):\n        return 1\n    def down(self):\n        return -1\n";
    text += &format!("{top}\n");
    text += "def call(n):\n    return n\n";
    text += "def entry_point(argv):\n    n = len(argv)\n    words = argv[1:]\n    s = argv[0]\n";
    text += "    call(n)\n";
    for line in body.lines() {
        text += &format!("    {line}\n");
    }
    text + "    return 0\n"
}

#[test]
fn remedies_help() {
    let folder = tempfile::tempdir().unwrap();
    let mut args = vec!["check", "--no-cache", "--format", "json"];
    let mut names = Vec::new();
    for (i, (wrong, _, right)) in MISTAKES.iter().enumerate() {
        for (kind, body) in [("wrong", wrong), ("right", right)] {
            let name = format!("p{i}_{kind}.py");
            std::fs::write(folder.path().join(&name), program(body)).unwrap();
            names.push(name);
        }
    }
    args.extend(names.iter().map(String::as_str));
    let mut command = Command::new(env!("CARGO_BIN_EXE_taipan"));
    let out = command
        .current_dir(folder.path())
        .args(args)
        .output()
        .unwrap();
    let found: Vec<serde_json::Value> = serde_json::from_slice(&out.stdout).unwrap();
    let mut told: BTreeMap<String, Vec<String>> = BTreeMap::new();
    // Each program imports what some of them need.
    let unused = |d: &serde_json::Value| d["code"].as_str().unwrap().starts_with("TP002");
    for d in found.into_iter().filter(|d| !unused(d)) {
        let file = d["file"].as_str().unwrap().rsplit('/').next().unwrap();
        let text = |key: &str| d[key].as_str().unwrap_or("-").to_owned();
        let line = format!("{} {}: {}", text("code"), text("message"), text("help"));
        told.entry(file.to_owned()).or_default().push(line);
    }
    let mut failed = String::new();
    for (i, (wrong, help, right)) in MISTAKES.iter().enumerate() {
        let none = Vec::new();
        let of_wrong = told.get(&format!("p{i}_wrong.py")).unwrap_or(&none);
        let of_right = told.get(&format!("p{i}_right.py")).unwrap_or(&none);
        if !of_wrong.iter().any(|l| l.contains(help)) {
            failed += &format!("{wrong}\n  is not told {help:?}, but {of_wrong:?}\n\n");
        }
        if !of_right.is_empty() {
            failed += &format!("{right}\n  still gives {of_right:?}\n\n");
        }
    }
    assert!(failed.is_empty(), "{failed}");
}
