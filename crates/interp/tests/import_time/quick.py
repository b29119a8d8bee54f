# Fast paths of the interpreter, and the nearest cases outside them.


def attempt(f, *args):
    try:
        return f(*args)
    except Exception as e:
        return "%s: %s" % (e.__class__.__name__, e)


# Strings: bytes, code points, and both together.
for s in ("", "a", "Hello World", "  two  words \n", "a,b,,c", "tab\tbed", u"gr\xfc\xdfe", u""):
    print repr((s.upper(), s.lower(), s.swapcase(), s.capitalize(), s.title()))
    print repr((s.strip(), s.lstrip(), s.rstrip(), s.strip("H d"), s.strip(u"H d")))
    print repr((s.split(), s.split(None, 1), s.rsplit(None, 1), s.split(","), s.rsplit(",", 1)))
    print repr((s.split(u","), s.rsplit(u",", 1), s.partition(","), s.rpartition(u",")))
    print repr((s.find("o"), s.find("o", 5), s.rfind("o", 0, -1), s.find(""), s.rfind(""), s.count("o"), s.count("")))
    print repr((s.startswith("H"), s.startswith(("x", "a")), s.endswith(u"d"), s.endswith("", 0)))
    print repr((s.replace("l", "LL"), s.replace("", "-"), s.replace("o", u"0", 1), s.zfill(7), s.center(9, "*")))
    print repr((s.isalpha(), s.isdigit(), s.isalnum(), s.isspace(), s.isupper(), s.islower(), s.istitle()))
    print repr((s.splitlines(), s.splitlines(True), s.expandtabs(4), s.ljust(4) + s.rjust(4)))
print repr("\xa0x\xa0".strip()), "\xa0 \xe4".split() == ["\xa0", "\xe4"], "\xe4".upper() == "\xe4", "\xe4".isalpha()
print repr("one\r\ntwo\rthree\n\n".splitlines()), repr("one\r\ntwo\rthree\n\n".splitlines(True))
print "abcabcabcabcabcabcabd".find("abcabcabcabd"), "aaaaaaaab".find("aab"), ("x" * 40000 + "needle").find("needle")
print ("ab" * 20000).count("ba"), ("ab" * 20000).find("bb"), "abc".find("abcd"), "abc".find("c", 3), "abc".find("", 4)
print attempt("a".split, ""), attempt("a".index, "b"), attempt("a".join, [1])
print repr(",".join([])), repr(",".join(["a"])), repr(",".join(("a", "b"))), repr(",".join(["a", u"b"])), repr(u",".join("ab"))
print repr(",".join({"k": 1})), "abc".translate(None, "b"), "abc".translate("".join(map(chr, range(256)))), "%s" % "abc"[-1]
print ["abc"[i] for i in (0, 2, -1, -3)], attempt(lambda: "abc"[3]), attempt(lambda: "abc"[-4]), attempt(lambda: "abc"["a"])
print "a" "b" is "ab", "x" + "" == "x", u"x" + "y" == "xy", attempt(lambda: "a" + 1), attempt(lambda: u"a" + "\xff")


# Calls with a tuple of arguments.
class Old:
    step = 1
    items = []

    def __init__(self, *args):
        self.args = args

    def method(self, a, b=2):
        return a, b, self.step


class New(object):
    step = 3

    def __init__(self, *args):
        self.args = args

    def method(self, a, b=2):
        return a, b, self.step


class Catching(Old):
    def __getattr__(self, name):
        return "no " + name


def f(a, b=5, *rest):
    return a, b, rest


for args in ((), (1,), (1, 2), (1, 2, 3), [1, 2], "ab", tuple(range(70))):
    print attempt(f, *args), attempt(lambda: f(0, *args))
    print attempt(lambda: Old().method(*args)), attempt(lambda: New().method(*args)), New(*args).args == tuple(args)
print max(*(3, 1, 2)), f(*(1,), **{"b": 3}), f(b=1, *(0,))

# Attributes of instances of both kinds of classes, of functions, and of objects without a dict.
old, new, catching = Old(1), New(1), Catching(2)
for o in (old, new, catching):
    print o.args, o.step, o.method(0), attempt(lambda: o.missing), o.__class__.__name__, sorted(o.__dict__)
    o.step = o.step + 1
    o.method = len
    print o.step, o.method("abc"), o.__class__.step
print old.items is Old.items, attempt(lambda: old.method.im_self), Old().method.im_func is Old.__dict__["method"]
f.calls = 0
f.calls += 1
f.func_name = "g"
f.func_defaults = (7,)
print f.calls, f.__name__, f.func_name, f(1), sorted(f.__dict__), attempt(lambda: f.missing)
print f.__name__, f.func_code.co_name, attempt(setattr, len, "x", 1)
print "abc".upper.__name__, "abc".__class__, (1, 2).count(1), attempt(lambda: (1).upper), attempt(lambda: "a".nothing)
New.step = property(lambda self: "computed")
print New().step, attempt(setattr, New(), "step", 1)
del New.step
print attempt(lambda: New().step), attempt(lambda: new.step)


class Hooked(object):
    def __setattr__(self, name, v):
        object.__setattr__(self, name, v * 2)


h = Hooked()
h.x = 4
Hooked.__setattr__ = lambda self, name, v: None
h.x = 5
print h.x


# Conditions with and without `not`, before each kind of jump.
def tests(a, b):
    found = []
    if a < b:
        found.append("<")
    if not a < b:
        found.append(">=")
    if a == b:
        found.append("==")
    if not (a != b):
        found.append("not !=")
    if a is b:
        found.append("is")
    if a is not b:
        found.append("is not")
    if a in (b, None):
        found.append("in")
    if a not in {b: 1}:
        found.append("not in")
    if a and not b:
        found.append("and not")
    while a == b and len(found) < 9:
        found.append("while")
    return found


for a in (0, 1, -1, 2.5, True, None, "x", "", u"x", -1.5):
    for b in (0, 1, 2.5, None, "x", u"x", -1.5):
        print a, b, tests(a, b)


class Truth(object):
    def __init__(self, truth):
        self.truth = truth

    def __nonzero__(self):
        print "asked",
        return self.truth

    def __eq__(self, other):
        return Truth(self.truth)


class Sized(list):
    def __len__(self):
        return 1


def truths(values):
    for v in values:
        if v:
            print "true",
        if not v:
            print "false",
        if v == 3:
            print "equal",
    print


truths([Truth(True), Truth(False), Sized(), [], [0], {}, {1: 2}, (), set(), frozenset([1]), 0.0, 1j, object])


# Loops over containers that change, and over iterators that end early.
def numbers(n):
    for i in xrange(n):
        got = yield i
        if got:
            yield got


def loops():
    items = [1, 2, 3]
    for i in items:
        if i < 6:
            items.append(i + 3)
    print items
    for i in xrange(10, 0, -3):
        print i,
    for i in xrange(0):
        print "never"
    print i
    for i, j in enumerate((4, 5)):
        print i, j,
    for (a, b), c in [((1, 2), 3)]:
        print a, b, c
    g = numbers(3)
    print next(g), g.send("sent"), list(g), list(g)
    try:
        for i in numbers(2):
            if i:
                raise StopIteration("inside")
        print "not here"
    except StopIteration as e:
        print "stopped", e, i
    it = iter([1, 2, 3])
    for i in it:
        print i, next(it, None),
    print
    del i
    return i


print attempt(loops)


def unbound(flag):
    if flag:
        x = 1
    return x + 1


def undefined():
    return 1 + undefined_name


print attempt(unbound, True), attempt(unbound, False), attempt(undefined)
print attempt(lambda: 1 // 0), attempt(lambda: 1 % 0), 7 // -2, 7 % -2, -7 // 2, -7 % 2, 1 << 62, 1 << 63, 1 << 64, -1 >> 70, attempt(lambda: 1 << -1)
print 2 ** 62 * 2, 3037000500 * 3037000500, 2 ** 63 - 1 + 1, -2 ** 63 - 1, 5 ^ 3, 5 | 3, -5 & 3, True + True, True | 2, True & True


def unpack(v):
    a, b = v
    return b, a


print unpack((1, 2)), unpack([1, 2]), unpack("ab"), attempt(unpack, (1,)), attempt(unpack, [1, 2, 3]), attempt(unpack, 5), unpack(iter((1, 2)))


def cells():
    def get():
        return later

    print attempt(get)
    later = 1
    print get()
    later += 1
    return get()


print cells()
d = {"a": 1, 2: "two", (1, 2): 3}
print d["a"], d[2], d[1, 2], attempt(lambda: d["b"]), attempt(lambda: d[[]]), d[2L], d[2.0], d[u"a"], u"a" in d, 2.0 in d, [1] in [[1]]


# Sets of sets keep hashes; sorting compares plain values without method calls.
class Key(object):
    def __init__(self, n):
        self.n = n

    def __hash__(self):
        print "hash", self.n,
        return self.n

    def __eq__(self, other):
        print "eq", self.n, other.n,
        return self.n == other.n

    def __lt__(self, other):
        print "lt",
        return self.n < other.n


keys = set([Key(2), Key(1), Key(2)])
print len(keys), len(frozenset(keys)), len(set(frozenset(keys))), len(list(keys))
print [k.n for k in sorted(keys)], sorted([(2, "b"), (1, "c"), (2, "a"), (1,), ()]), sorted([3, 1.5, True, None, "x", (1,)])
print sorted([(1, (2, 3)), (1, (2, 1)), (1, 2)]), sorted(["b", u"a", "a", u"b"]), sorted([2, 3L, 1], reverse=True), sorted("hello", key=lambda c: -ord(c))
print sorted([float("inf"), 1, -1e400]), attempt(sorted, [1j, 2j]), sorted([[2], [1]]), sorted([1, 2], cmp=lambda a, b: b - a)
a = set([1, 2])
b = set(a)
b.add(3)
a.discard(1)
print a, b, frozenset(b) == b, frozenset(a) is a, {frozenset(a): 1}[frozenset([2])]


def chains(x, y):
    found = [1 < x < 3, 1 < x <= y < 9, x == y == 2, not x, x or y, x and y, x or [] or y, not [] and x, (x, 1) == (2, 1), (x, y) != (2, 2)]
    if (x, y) == (2, 2.0):
        found.append("equal tuples")
    if not (x, [y]) == (2, [2]):
        found.append("different tuples")
    x, y = y, x
    x, y, found = y, x, found
    d = {}
    d[1] = d[y] = found
    return d[1] is d[y], [v if not isinstance(v, Truth) else "truth" for v in found]


for x in (0, 2, "", "s", None, Truth(False)):
    print chains(x, 2)
