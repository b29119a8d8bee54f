"""Functions whose exceptions take every way there is, and tests of identity."""
HEAD = [
    "import os",
    "class E1(Exception):",
    "    pass",
    "class E2(E1):",
    "    def __init__(self, n):",
    "        self.n = n",
    "class E3(E1):",
    "    n = 7",
    "class E4(ValueError):",
    "    pass",
    "class Log(object):",
    "    pass",
    "log = Log()",
    "PREB1 = E1()",
    "PREB2 = E2(5)",
    "PREBK = KeyError()",
    "PREBV = ValueError('x')",
    "PREBI = KeyboardInterrupt()",
    "TUPLE = (E2, KeyError)",
    "def say(n):",
    "    log.n = log.n * 10 + n",
]
CLASSES = ["E1", "E2", "E3", "E4", "KeyError", "IndexError", "LookupError", "ValueError", "Exception",
           "KeyboardInterrupt", "SystemExit", "OverflowError", "ZeroDivisionError", "ArithmeticError",
           "RuntimeError", "StopIteration", "OSError", "TypeError", "MemoryError", "StandardError",
           "BaseException", "AttributeError", "AssertionError", "NotImplementedError", "EnvironmentError", "IOError"]
RAISES = ["raise E1", "raise E1()", "raise E2(n)", "raise E3()", "raise E4()", "raise E4", "raise KeyError",
          "raise IndexError", "raise ValueError('a')", "raise PREB1", "raise PREB2", "raise PREBK", "raise PREBV",
          "raise PREBI", "raise KeyboardInterrupt", "raise KeyboardInterrupt()", "raise SystemExit",
          "raise SystemExit(n)", "raise StopIteration", "raise OverflowError", "raise ZeroDivisionError",
          "raise OSError(n, 'no')", "raise MemoryError", "raise RuntimeError('x')", "raise TypeError",
          "raise KeyError(n)", "raise ValueError, 'text'", "raise E2, 3", "raise Exception",
          "raise Exception('e')", "raise AttributeError", "raise AssertionError", "raise NotImplementedError",
          "assert n < 3", "raise IOError", "raise EOFError", "raise LookupError", "raise UnicodeError"]
FAILS = ["say(10 // (n - 2))", "say([1, 2][n])", "say({1: 1}[n])", "say(int('12x'[:n]))", "say(ord('abc'[n]))",
         "say(leaf(n))", "say(leaf(n - 1))", "log.n = ovf(log.n, n)"]


class Maker(object):
    def __init__(self, rng):
        self.rng = rng
        self.mark = 0

    def say(self):
        self.mark += 1
        return "say(%d)" % (self.mark % 9 + 1)

    def raising(self):
        rng = self.rng
        r = rng.random()
        if r < 0.4:
            return ["if n %s %d:" % (rng.choice(["==", ">", "<", "!="]), rng.randrange(4)),
                    "    " + rng.choice(RAISES)]
        if r < 0.9:
            return [rng.choice(FAILS)]
        return [rng.choice(RAISES)]

    def block(self, depth, loop=False, handler=False):
        rng = self.rng
        out = []
        for _ in range(rng.choice([1, 2, 2, 3])):
            r = rng.random()
            if r < 0.3:
                out.append(self.say())
            elif r < 0.55 or depth == 0:
                out += self.raising()
            elif r < 0.6 and handler:
                out += ["if n > %d:" % rng.randrange(4), "    raise"]
            elif r < 0.65 and loop:
                out += ["if n > %d:" % rng.randrange(4), "    " + rng.choice(["break", "continue"])]
            elif r < 0.7:
                out += ["if n == %d:" % rng.randrange(4), "    return %d" % rng.randrange(100)]
            elif r < 0.78:
                out += ["for i in range(n):"] + indent(self.block(depth - 1, True, False))
            else:
                out += self.guarded(depth - 1, loop)
        return out

    def guarded(self, depth, loop):
        rng = self.rng
        out = ["try:"] + indent(self.block(depth, loop))
        handlers = rng.choice([0, 1, 1, 1, 2, 2, 3])
        for _ in range(handlers):
            name = rng.choice(CLASSES)
            shape = rng.random()
            if shape < 0.55:
                out.append("except %s:" % name)
                body = self.block(depth, loop, True)
            elif shape < 0.7:
                out.append("except (%s, %s):" % (name, rng.choice(CLASSES)))
                body = self.block(depth, loop, True)
            elif shape < 0.75:
                out.append("except TUPLE:")
                body = [self.say()]
            else:
                out.append("except %s as e:" % name)
                body = [rng.choice(["say(1 if e is PREB1 else 2)", "say(1 if e is PREBK else 2)", "raise e",
                                    "say(1 if isinstance(e, E1) else 2)", "say(1 if isinstance(e, KeyError) else 2)",
                                    "log.s = str(e is PREB1)", "log.s = str(e is PREB2)", "log.s = str(isinstance(e, E2))",
                                    "if isinstance(e, E2): say(e.n)", "say(e.n)", "log.s = str(e)",
                                    "say(1 if e.__class__ is E1 else 2)", "log.s = str(e is not PREBV)",
                                    "log.s = e.__class__.__name__"])]
            out += indent(body)
        if handlers and rng.random() < 0.1:
            out += ["except:"] + indent(self.block(depth, loop, True))
        if handlers and rng.random() < 0.25:
            out += ["else:"] + indent(self.block(depth, loop))
        if not handlers or rng.random() < 0.25:
            out += ["finally:"] + indent([self.say()] if rng.random() < 0.6 else self.block(max(depth - 1, 0), False))
        return out


def indent(lines):
    return ["    " + l for l in lines]


def flow(rng):
    maker = Maker(rng)
    lines = HEAD + ["def ovf(x, n):", "    from rpython.rlib.rarithmetic import ovfcheck",
                    "    return ovfcheck(x * (n << 60))"]
    lines += ["def leaf(n):"] + indent(maker.raising() + maker.raising() + ["return n"])
    lines += ["def g(n):"] + indent(maker.block(2) + ["return 50"])
    lines += ["def f(n):", "    log.n = 0", "    log.s = ''", "    r = g(n)", "    return (r, log.n, log.s)"]
    return lines, [[str(n)] for n in range(5)]


OBJECTS = ["PREB1", "PREB2", "PREBK", "None", "x", "y", "z", "log", "e", "s", "t", "l", "m", "d", "c", "tup", "E1", "k",
           "n", "True", "b", "1", "'a'", "fl", "s[0]", "f1", "bm"]


def identity(rng):
    body = ["x = E2(n)", "y = x", "z = E3()", "if n > 1: y = E2(1)", "if n > 2: z = E3()", "e = PREB1",
            "if n > 2: e = PREB2", "s = 'ab' + str(n)", "t = s", "l = [1, n]", "m = l", "if n > 1: m = [2]",
            "d = {n: 1}", "c = E1", "if n > 1: c = E3", "tup = (n, 1)", "k = None", "if n > 2: k = x", "b = n > 1",
            "fl = n + 0.5", "f1 = say", "bm = log.meth"]
    left, right = rng.choice(OBJECTS), rng.choice(OBJECTS)
    test = "%s %s %s" % (left, rng.choice(["is", "is not", "is", "==", "!="]), right)
    test = rng.choice(["str(%s)", "%s", "int(%s)", "not (%s)", "'%%s' %% (%s)", "(%s) + 1", "[%s]", "'%%d' %% (%s)",
                       "'yes' if %s else 'no'", "bool(%s)", "(%s) and n > 1", "hash(%s)", "repr(%s)",
                       "(%s) == True", "(%s) is True", "float(%s)", "(%s) * 3", "-(%s)", "~(%s)",
                       "{True: 1}.get(%s, 4)", "chr(%s)", "(%s) < 1", "(%s) | b", "(%s) ^ b", "(%s) & n"]) % test
    used = [l for l in body]
    lines = [l.replace("class Log(object):", "class Log(object):") for l in HEAD]
    at = lines.index("class Log(object):")
    lines = lines[:at + 1] + ["    def meth(self):", "        return 1"] + lines[at + 2:]
    return lines + ["def f(n):"] + indent(used + ["return " + test]), [[str(n)] for n in range(5)]
