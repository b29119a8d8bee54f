#!/usr/bin/env python3
"""Compares what operations on constants come to with the original's flow space.

usage: constants.py compare PYPY [--number N] [--seed S] [--taipan PATH] [-v]
       constants.py table PYPY [--number N] [--seed S] > crates/flow/src/tests/folded.txt

Random expressions over constants of all plain types are the bodies of functions. The
original builds their flow graphs (CPython 2.7, `PYTHON2`): an expression becomes a
constant, always raises, or is left to run time. `compare` has Taipan compile the same
functions and prints where it differs; `table` prints what the original made of them, for
the test that needs no original.
"""
import argparse
import collections
import json
import os
import random
import subprocess
import sys
import tempfile

# What the functions see besides their own constants.
HEADER = """L = [1, 2, 3]
D = {'a': 1}
M = {'a': 1, 2: 'two', (1, 2): None, 2.5: 'half', u'e': 'e'}
class Old:
    pass
class New(object):
    pass
class Sub(New):
    pass
def fun():
    pass
"""

INTS = ["0", "1", "2", "3", "-1", "-2", "5", "7", "-7", "10", "63", "64", "65", "100", "255",
        "256", "-1024", "65536", "2147483647", "-2147483648", "4294967296",
        "9223372036854775807", "-9223372036854775807", "(-9223372036854775807 - 1)"]
LONGS = ["0L", "1L", "-1L", "2L", "7L", "-13L", "9223372036854775807L", "9223372036854775808L",
         "-9223372036854775808L", "-9223372036854775809L", "18446744073709551616L",
         "123456789012345678901234567890L", "-99999999999999999999999L",
         "9007199254740993L", "4611686018427387905L"]
FLOATS = ["0.0", "-0.0", "1.0", "-1.0", "0.5", "2.5", "-2.5", "3.0", "-7.25", "0.1", "1e16",
          "1e22", "-1e300", "1e308", "5e-324", "1e-5", "123456.789", "9007199254740993.0",
          "9.2233720368547758e18", "-1.8446744073709552e19", "1e400", "-1e400", "0.30000000000000004",
          "2.2250738585072014e-308", "1e100", "4503599627370497.5"]
BOOLS = ["True", "False"]
STRINGS = ["''", "'a'", "'ab'", "'abc'", "'A'", "'\\x00'", "'\\xe9'", "'12'", "' 7 '", "'1.5'",
           "'%d'", "'%s'", "'%r'", "'%x'", "'%5.2f|%-5d|'", "'%s %s'", "'%%'", "'%c'", "'%05d'",
           "'%+d'", "'%e'", "'%g'", "'%o'", "'%#x'", "'%i'", "'%X'", "'%10s|'", "'%-10s|'",
           "'%.2s'", "'%(a)s'", "'100%'", "'%*d'", "'%F'", "'%u'", "'% d'", "'%.3d'", "'%G'",
           "'it\\'s'", "'\"'", "'\\n\\t\\\\'"]
UNICODES = ["u''", "u'a'", "u'ab'", "u'abc'", "u'\\xe9'", "u'\\u1234'", "u'\\U00012345'",
            "u'%s'", "u'%d'", "u'%r'", "u'12'"]
TUPLES = ["()", "(1,)", "(1, 2)", "(1, 2.5)", "('a',)", "('a', 2)", "(None,)", "((1, 2), 'x')",
          "(1, 'a')", "(2.5, 1L)", "(u'a',)", "(1L, 2)", "(True, False)", "('a', 'b', 'c')"]
COMPLEX = ["1j", "(1.5+2j)", "(-0-1j)", "0j"]
OBJECTS = ["L", "D", "Old", "New", "Sub", "fun", "int", "str", "len"]
GROUPS = [INTS, INTS, LONGS, FLOATS, FLOATS, BOOLS, STRINGS, STRINGS, UNICODES, ["None"], TUPLES,
          COMPLEX, OBJECTS]
# Exponents and shift counts.
SMALL = ["0", "1", "2", "3", "-1", "5", "63", "64", "65", "True", "2L", "-3L", "0.5", "2.0",
         "-1.0", "0.0", "1e400", "-2.5", "1j", "'a'", "None", "100", "70L"]
CLASSES = ["int", "long", "float", "str", "unicode", "basestring", "tuple", "bool", "list", "New",
           "(int, str)", "object", "5", "Old", "dict"]
ATOM_BINARY = ["<<", ">>"]
BINARY = ["+", "-", "*", "/", "//", "%", "&", "|", "^", "==", "!=", "<", "<=", ">", ">="]
UNARY = ["-", "+", "~", "not "]
FUNCTIONS = ["repr", "str", "len", "abs", "hex", "oct", "bin", "ord", "bool"]


class Generator(object):
    def __init__(self, seed):
        self.random = random.Random(seed)

    def operand(self, depth):
        """A name that is bound to a constant, or an expression."""
        if depth > 0 and self.random.random() < 0.5:
            return "(%s)" % self.expression(depth - 1)
        name = "abcdefgh"[len(self.bound)] if len(self.bound) < 8 else None
        if name is None:
            return self.random.choice("abcdefgh")
        group = self.group if self.random.random() < 0.7 else GROUPS
        self.bound.append(self.random.choice(self.random.choice(group)))
        return name

    def bind(self, literals):
        if len(self.bound) >= 8:
            return self.random.choice(literals)
        self.bound.append(self.random.choice(literals))
        return "abcdefgh"[len(self.bound) - 1]

    def expression(self, depth):
        r = self.random
        kind = r.randrange(100)
        if kind < 2:
            # Not as a value: it would show the order of hashes.
            return r.choice(["M[%s]", "%s in M", "%s != len(M)"]) % self.operand(depth)
        x = self.operand(depth)
        if kind < 42:
            return "%s %s %s" % (x, r.choice(BINARY), self.operand(depth))
        if kind < 49:
            return "%s %s %s" % (x, r.choice(ATOM_BINARY), self.bind(SMALL))
        if kind < 55:
            return r.choice(UNARY) + x
        if kind < 68:
            return "%s(%s)" % (r.choice(FUNCTIONS), x)
        if kind < 72:
            return "%s(%s, %s)" % (r.choice(["divmod", "cmp", "coerce"]), x, self.operand(depth))
        if kind < 75:
            modulus = self.random.choice(["", ", " + self.bind(INTS), ", " + self.bind(LONGS),
                                          ", None"])
            return "pow(%s, %s%s)" % (x, self.bind(SMALL), modulus)
        if kind < 80:
            return "isinstance(%s, %s)" % (x, r.choice(CLASSES))
        if kind < 86:
            return "%s[%s]" % (x, self.operand(0) if r.random() < 0.3 else self.bind(INTS[:9]))
        if kind < 90:
            bounds = [r.choice(["", self.bind(INTS[:9] + ["9223372036854775807", "None", "2L"])])
                      for _ in range(2)]
            return "%s[%s:%s]" % (x, bounds[0], bounds[1])
        if kind < 94:
            return "%s in %s" % (x, self.operand(depth))
        return "%s %% %s" % (self.bind(STRINGS + UNICODES), self.operand(depth))

    def function(self, i):
        self.bound = []
        # Operands of one kind mostly: a type error needs no luck.
        self.group = self.random.choice([[INTS, LONGS, BOOLS], [INTS, FLOATS, LONGS],
                                         [STRINGS, STRINGS, INTS], [UNICODES, STRINGS],
                                         [TUPLES], [FLOATS, COMPLEX], GROUPS])
        e = self.expression(self.random.choice([0, 0, 0, 1, 1, 2]))
        return Function(i, list(zip("abcdefgh", self.bound)), e)


class Function(object):
    def __init__(self, i, bound, expression):
        self.name = "f%d" % i
        self.bound = bound
        self.expression = expression

    def source(self, result="repr(%s)"):
        lines = ["def %s():" % self.name]
        lines += ["    %s = %s" % (n, v) for n, v in self.bound if v not in OBJECTS]
        # Names of objects are used as they are: a local variable of that name is no global.
        lines += ["    %s = %s" % (n, v) for n, v in self.bound if v in OBJECTS]
        return "\n".join(lines + ["    return " + result % self.expression]) + "\n"

    def row(self):
        return "; ".join("%s = %s" % b for b in self.bound)


# Runs under CPython 2.7.
ORIGINAL = r'''
import json, re, resource, sys, warnings
warnings.simplefilter("ignore")
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
sys.path[:0] = [sys.argv[1], sys.argv[2]]
import generated
from rpython.flowspace.objspace import build_flow
from rpython.flowspace.model import Constant

def outcome(f):
    try:
        graph = build_flow(f)
    except Exception as e:
        raised = re.search(r"always raises <(?:type|class) '(?:exceptions\.)?(\w+)'>", str(e))
        if raised:
            return {"raises": raised.group(1)}
        return {"error": "%s: %s" % (type(e).__name__, e)}
    ops = [op.opname for b in graph.iterblocks() for op in b.operations]
    if ops:
        return {"recorded": ops}
    (link,) = graph.startblock.exits
    if not isinstance(link.args[0], Constant):
        return {"recorded": ["?"]}
    return {"folded": link.args[0].value.decode("latin-1")}

for name in sorted((n for n in vars(generated) if re.match(r"f\d+$", n)), key=lambda n: int(n[1:])):
    print json.dumps([name, outcome(getattr(generated, name))])
'''


def ask_original(pypy, functions, folder):
    with open(os.path.join(folder, "generated.py"), "w", encoding="latin-1") as f:
        f.write(HEADER + "".join(x.source() for x in functions))
    script = os.path.join(folder, "original.py")
    with open(script, "w") as f:
        f.write(ORIGINAL)
    python = os.environ.get("PYTHON2", "python2.7")
    out = subprocess.run([python, "-B", script, folder, pypy], stdout=subprocess.PIPE, check=True)
    return dict(json.loads(line) for line in out.stdout.decode().splitlines())


def ask_taipan(taipan, functions, folder):
    path = os.path.join(folder, "generated.py")
    cases = [json.dumps({"file": path, "func": f.name, "args": [], "id": f.name})
             for f in functions]
    out = subprocess.run([taipan, "call", "--no-cache", "--batch", "-"],
                         input="\n".join(cases).encode(), stdout=subprocess.PIPE)
    answers = {}
    for line in out.stdout.decode().splitlines():
        answer = json.loads(line)
        answers[answer.pop("id")] = answer
    return answers


def depends_on_address(text):
    return " at 0x" in text


def agrees(expected, got):
    if got is None:
        return False
    if expected.get("raises") == "MemoryError":
        # Depends on the machine.
        return True
    if "folded" in expected:
        return depends_on_address(expected["folded"]) or got.get("ok") == expected["folded"]
    if "raises" in expected:
        return "always raises " + expected["raises"] in got.get("error", "")
    return "always raises" not in got.get("error", "")


def batches(args):
    generator = Generator(args.seed)
    left, i = args.number, 0
    while left > 0:
        n = min(left, 1000)
        yield [generator.function(i + k) for k in range(n)]
        left, i = left - n, i + n


def compare(args):
    total, differing = collections.Counter(), 0
    for functions in batches(args):
        with tempfile.TemporaryDirectory() as folder:
            expected = ask_original(args.pypy, functions, folder)
            got = ask_taipan(args.taipan, functions, folder)
        for f in functions:
            e = expected[f.name]
            total[next(iter(e))] += 1
            if not agrees(e, got.get(f.name)):
                differing += 1
                print("%s | %s\n    original %s\n    taipan   %s"
                      % (f.row(), f.expression, e, got.get(f.name)))
            elif args.verbose:
                print("%s | %s\n    %s" % (f.row(), f.expression, e))
    print("%d functions (%s): %d differ"
          % (sum(total.values()), ", ".join("%s %d" % t for t in sorted(total.items())), differing))
    return 1 if differing else 0


def table(args):
    # The text of the module, a blank line, one line for each function.
    generator = random.Random(args.seed)
    print(HEADER)
    for functions in batches(args):
        with tempfile.TemporaryDirectory() as folder:
            expected = ask_original(args.pypy, functions, folder)
        for f in functions:
            kind, value = next(iter(expected[f.name].items()))
            if kind == "recorded":
                value = " ".join(value)
            if kind == "error" or value == "MemoryError" or depends_on_address(value):
                continue
            # A call of coerce is a call to Taipan; the spelling of an old-style class has its
            # address.
            if kind == "recorded" and "coerce" in value or "= Old" in f.row():
                continue
            # Of these there are plenty.
            if value == "TypeError" and generator.random() < 0.7:
                continue
            line = "%s\t%s\t%s %s" % (f.row(), f.expression, kind, value)
            if len(line) < 160 and line.replace("\t", "").isprintable() and line.isascii():
                print(line)
    return 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["compare", "table"])
    parser.add_argument("pypy")
    parser.add_argument("--number", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=1)
    here = os.path.dirname(os.path.abspath(__file__))
    parser.add_argument("--taipan", default=os.path.join(here, "../../target/release/taipan"))
    parser.add_argument("-v", "--verbose", action="store_true")
    args = parser.parse_args()
    return {"compare": compare, "table": table}[args.what](args)


if __name__ == "__main__":
    sys.exit(main())
