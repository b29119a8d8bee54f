"""Functions over lists and dicts, with callbacks that raise."""
from .exceptions import indent

HEAD = [
    "from rpython.rlib.objectmodel import r_dict, r_ordereddict, newlist_hint, compute_hash",
    "from rpython.rlib import objectmodel",
    "from collections import OrderedDict",
    "class Boom(Exception):",
    "    pass",
    "class State(object):",
    "    pass",
    "state = State()",
    "state.fuse = 0",
    "def tick():",
    "    state.fuse -= 1",
    "    if state.fuse == 0:",
    "        raise %s",
    "def eq(x, y):",
    "    tick()",
    "    return x %% 10 == y %% 10",
    "def hsh(x):",
    "    return (x %% 10) & %s",
    "def hsh_raising(x):",
    "    tick()",
    "    return x %% 3",
]
RAISED = ["Boom", "Boom()", "KeyError", "IndexError", "ValueError"]
CATCH = ["Boom", "KeyError", "IndexError", "ValueError", "LookupError", "Exception"]


def head(rng):
    text = "\n".join(HEAD) % (rng.choice(RAISED), rng.choice(["1", "3", "7", "15"]))
    return text.split("\n")


def guard(rng, lines, chance=0.8):
    """The lines, in a try statement at times."""
    if rng.random() < chance:
        return ["try:"] + indent(lines) + ["except %s:" % rng.choice(CATCH), "    out.append(-99)"]
    return lines


def body_of(rng, step, count):
    body = []
    for _ in range(rng.randrange(3, count)):
        lines = guard(rng, [step(rng)])
        if rng.random() < 0.15:
            lines = ["for q in range(%d):" % rng.randrange(4)] + indent(lines)
        elif rng.random() < 0.1:
            lines = ["if n > %d:" % rng.randrange(4)] + indent(lines)
        body += lines
    return body


def index(rng):
    return rng.choice(["0", "1", "-1", "n", "-n", "n - 2", "len(l)", "2", "-2", "m", "len(l) - 1"])


def value(rng):
    return rng.choice(["0", "1", "n", "5", "n * 2", "m", "len(l)", "7"])


def bound(rng):
    return rng.choice(["0", "1", "n", "m", "len(l)", "2", "3"])


def lists(rng):
    def step(rng):
        i, v = index(rng), value(rng)
        a, b = bound(rng), bound(rng)
        return rng.choice([
            "l.append(%s)" % v, "l.insert(%s, %s)" % (i, v), "out.append(l.pop())", "out.append(l.pop(%s))" % i,
            "l.extend([%s, %s])" % (v, v), "l += [%s]" % v, "l.remove(%s)" % v, "out.append(l.index(%s))" % v,
            "l.reverse()", "out.append(l[%s])" % i, "l[%s] = %s" % (i, v), "del l[%s]" % i,
            "del l[%s:%s]" % (a, b), "l[%s:%s] = [%s]" % (a, b, v), "l = l[%s:%s]" % (a, b), "l = l[%s:]" % a,
            "l = l[:-1]", "l = l + [%s]" % v, "l = l * 2", "l *= 2", "l = list(l)", "out.append(len(l))",
            "out.append(l.count(%s))" % v, "l.sort()", "out.append(int(%s in l))" % v, "out.append(int(l == [1, 2, 3]))",
            "del l[:]", "del l[%s:]" % a, "l.extend(l)", "l = [x for x in l if x > %s]" % v, "out.append(max(l))",
            "out.append(sum(l))", "l = sorted(l)", "l = l[:%s]" % a, "l[:] = [%s, 2]" % v, "l = [0] * %s" % a,
            "out.extend(l)", "for x in l: out.append(x)", "for j, x in enumerate(l): out.append(j * x)",
            "for x in reversed(l): out.append(x)", "l = l[::-1]", "l = l[%s:%s] + l" % (a, b), "out.append(l[-1])",
            "out.append(int(not l))", "l = [x * 2 for x in l]", "for x, y in zip(l, l): out.append(x + y)",
            "l.insert(0, l.pop())", "out.append(int(l < [%s]))" % v, "l = []", "l = [%s]" % v, "l[%s] += 1" % i,
            "l.extend(range(%s))" % a, "l = range(%s)" % a, "out.append(min(%s, len(l)))" % v, "state.fuse = 2; tick()",
            "l = l[%s:%s:2]" % (a, b), "l[0], l[1] = l[1], l[0]", "l.extend((1, 2))", "l.append(l[0])"])
    lines = head(rng) + ["def f(n, m):", "    state.fuse = 0", "    l = %s" % rng.choice(["[]", "[1, 2, 3]", "[n, m]", "[n] * m", "range(n)"]),
                         "    out = [0]"]
    return lines + indent(body_of(rng, step, 9) + ["return (l, out)"]), [
        [str(rng.choice([0, 1, 2, 3, 5])), str(rng.choice([0, 1, 2, 3]))] for _ in range(5)]


def key(rng, text):
    if text:
        return rng.choice(["'a'", "'b'", "str(n)", "'a' + str(m)", "''", "'n'"])
    return rng.choice(["0", "1", "n", "m", "11", "21", "n + 10", "m + 20", "-1", "5", "15"])


def dict_step(text):
    def step(rng):
        k, k2, v = key(rng, text), key(rng, text), rng.choice(["1", "n", "m", "8", "len(d)"])
        return rng.choice([
            "d[%s] = %s" % (k, v), "d[%s] = %s" % (k, v), "d[%s] = %s" % (k, v), "out.append(d[%s])" % k, "del d[%s]" % k,
            "out.append(d.get(%s, -5))" % k, "out.append(d.setdefault(%s, %s))" % (k, v), "out.append(d.pop(%s))" % k,
            "out.append(d.pop(%s, -7))" % k, "out.append(int(%s in d))" % k, "d.update({%s: %s})" % (k, v), "d.clear()",
            "out.append(len(d))", "out.append(d.popitem()[1])", "for x in d: out.append(d[x])",
            "for x, y in d.items(): out.append(y)", "out.extend(d.values())", "for y in d.itervalues(): out.append(y)",
            "d2 = d.copy(); d2[%s] = %s; out.append(len(d2))" % (k, v), "out.append(len(d.keys()))",
            "d[%s] += %s" % (k, v), "for x in d: d[%s] = 3" % k, "for x in d.keys(): del d[x]", "state.fuse = %d" % rng.randrange(1, 6),
            "out.append(int(bool(d)))", "d.update(d)", "out.append(int(%s not in d))" % k, "state.fuse = n",
            "for x in d.iterkeys(): out.append(d.get(x, 3))", "x = d.popitem()[0]; d[x] = 4",
            "for x in d:\n        if x == %s: del d[x]" % k, "out.append(d.get(%s, d.get(%s, 0)))" % (k, k2),
            "for q in range(12): d[%s] = q" % rng.choice(["q" if not text else "str(q)"]),
            "objectmodel.move_to_end(d, %s)" % k, "objectmodel.move_to_end(d, %s, last=False)" % k,
            "d2 = d; d2[%s] = 9" % k, "objectmodel.setitem_with_hash(d, %s, compute_hash(%s), 3)" % (k, k),
            "d = d.copy()", "out.append(d.get(%s))" % k, "out.append(int(d.has_key(%s)))" % k,
            "objectmodel.delitem_if_value_is(d, %s, %s)" % (k, v)])
    return step


def dicts(rng):
    text = rng.random() < 0.4
    make = rng.choice(["{}", "{}", "OrderedDict()", "{%s: 3}" % key(rng, text), "dict()"])
    lines = head(rng) + ["def f(n, m):", "    state.fuse = 0", "    d = " + make, "    out = [0]"]
    return lines + indent(body_of(rng, dict_step(text), 11) + ["out.extend(d.values())", "return out"]), [
        [str(rng.choice([0, 1, 2, 3, 5])), str(rng.choice([0, 1, 2, 3]))] for _ in range(5)]


def r_dicts(rng):
    make = rng.choice(["r_dict(eq, hsh)"] * 3 + ["r_ordereddict(eq, hsh)", "r_dict(eq, hsh_raising)",
                                                "r_dict(eq, hsh, force_non_null=True)", "r_dict(eq, hsh, simple_hash_eq=True)"])
    lines = head(rng) + ["def f(n, m):", "    state.fuse = %s" % rng.choice(["0", "n", "m", "3", "1"]), "    d = " + make,
                         "    out = [0]"]
    return lines + indent(body_of(rng, dict_step(False), 13) + ["state.fuse = 0", "for x, y in d.items():", "    out.append(x)",
                                                      "    out.append(y)", "return out"]), [
        [str(rng.choice([0, 1, 2, 3, 5, 7])), str(rng.choice([0, 1, 2, 3, 4]))] for _ in range(6)]
