#!/usr/bin/env python3
"""Compares methods, codecs, formats and conversions with the original toolchain and with CPython.

usage: methods.py record PYPY OUTCOMES [--only TEXT] [--share PERCENT] [--sample N]   outcomes of the original (CPython 2.7)
       methods.py compare OUTCOMES [--only TEXT] [--taipan PATH]

Where crossed.py is a table of operators, this is one of calls: each method of strings, unicode strings, lists
and dicts with arguments of several kinds, each codec, format and conversion, constant or not; and what
Python's order of evaluation can be seen by.

Taipan has to have the outcome of the original. For calls that the original refuses and Taipan accepts it is that of
CPython 2.7 (`docs/language/extensions.md` lists the kinds), which `record` writes as well.
"""
import itertools
import json
import os
import subprocess
import sys
import tempfile

import crossed

HEADER = """import math
from rpython.rlib.rarithmetic import r_uint, r_longlong, r_ulonglong, intmask, ovfcheck
from rpython.rtyper.lltypesystem import lltype, rffi
class Box(object):
    pass
box = Box()
log = []
def note(n):
    log.append(n)
    return n
def noted(x):
    return x, log[:]
def three(a, b=2, c=3):
    return a * 100 + b * 10 + c
"""

TEXTS = ["''", "'a'", "'a,b,,c'", "' a  b '", "'aXaXa'", "'12'", "'\\xe2\\x82'", "'\\xe2\\x82\\xac'", "'\\t a\\n\\x0b'"]
PIECES = ["''", "','", "'a'", "'Xa'", "' '", "'aa'"]
LIMITS = ["0", "1", "-1", "2"]
ENCODINGS = ["'utf-8'", "'utf8'", "'UTF-8'", "'ascii'", "'latin-1'", "'utf-16'", "'hex'"]
ERRORS = [None, "'strict'", "'ignore'", "'replace'", "'other'"]
BYTES = ["'abc'", "'\\xe2\\x82'", "'a\\xe2\\x82\\xacb\\xff'", "'\\xed\\xa0\\x80'", "'\\xf0\\x9f\\x98'"]
WIDE = ["u'abc'", "u'\\xe9'", "u'\\u20ac'", "u'\\U0001f600'", "u'\\ud83d'"]
TEXT_METHODS = [
    ("split", ["", "None", "P", "P, L", "None, L"]), ("rsplit", ["", "None", "P", "P, L", "None, L"]),
    ("find", ["P", "P, L", "P, 1, L"]), ("rfind", ["P", "P, 0, 2"]), ("count", ["P", "P, 1"]),
    ("index", ["P"]), ("strip", ["", "P"]), ("lstrip", ["P", ""]), ("rstrip", ["P"]),
    ("replace", ["P, P", "P, P, L"]), ("startswith", ["P", "P, 1"]), ("endswith", ["P", "P, 0, 1"]),
    ("join", ["['a', 'b']", "[T, T]", "('a', 'b')", "T"]), ("splitlines", ["", "True"]),
    ("upper", [""]), ("lower", [""]), ("title", [""]), ("isdigit", [""]), ("isalpha", [""]), ("isspace", [""]),
    ("isalnum", [""]), ("isupper", [""]), ("islower", [""]), ("zfill", ["5"]), ("center", ["5"]),
    ("partition", ["P"]), ("swapcase", [""]), ("__len__", [""]), ("format", ["1"]),
]
LIST_METHODS = ["append(7)", "extend([7, 8])", "insert(1, 9)", "insert(-1, 9)", "insert(9, 9)", "pop()", "pop(0)", "pop(-2)",
                "remove(2)", "remove(9)", "index(2)", "index(9)", "count(1)", "count(9)", "reverse()", "sort()"]
DICT_METHODS = ["get('a')", "get('z', 5)", "has_key('a')", "has_key('z')", "setdefault('z', 4)", "pop('a')",
                "pop('z', 3)", "popitem()", "keys()", "values()", "items()", "copy()", "clear()", "update({'q': 9})"]
TYPES = ["rffi.INT", "rffi.UINT", "rffi.SHORT", "rffi.UCHAR", "rffi.SIGNEDCHAR", "rffi.LONG", "rffi.ULONG",
         "rffi.LONGLONG", "rffi.ULONGLONG", "rffi.SIZE_T", "rffi.TIME_T", "lltype.Char", "lltype.UniChar",
         "lltype.Bool", "lltype.Float", "rffi.FLOAT"]
CONVERSIONS = ["int(x)", "float(x)", "str(x)", "long(x)", "bool(x)", "abs(x)", "-x", "~x", "hex(x)", "x + 1", "1 + x",
               "x + 1.5", "x * 2.0", "x == 1", "x < 0", "x & 3", "x << 1", "intmask(x)", "r_uint(x)", "min(x, x)",
               "'%d' % x", "rffi.cast(lltype.Float, x)", "rffi.cast(lltype.Signed, x)", "x / 2", "x % 5", "x or 5"]
NUMBERS = {"k": "-5", "n": "300", "big": "9223372036854775807", "f": "-2.5", "g": "1e300", "yes": "True", "u": "r_uint(-3)",
           "ll": "r_longlong(-7)", "c": "'c'", "s": "'text'", "none": "None", "zero": "0", "zf": "-0.0", "inf": "1e400",
           "nan": "1e400 / 1e400", "uni": "u'\\xe9t'", "list": "[1, 2]", "pair": "(1, 'a')"}
FORMATS = ["%d", "%5d", "%-5d|", "%05d", "%+d", "% d", "%i", "%u", "%x", "%X", "%#x", "%o", "%08x", "%e", "%g", "%f", "%.2f",
           "%8.3f", "%.0f", "%G", "%E", "%s", "%5s", "%.2s", "%-6s|", "%r", "%c", "%%%d", "%(a)d", "%*d"]
MATH = ["acos", "asin", "atan", "ceil", "cos", "cosh", "degrees", "exp", "expm1", "fabs", "floor", "frexp", "isinf", "isnan",
        "log", "log10", "log1p", "modf", "radians", "sin", "sinh", "sqrt", "tan", "tanh", "trunc", "erf", "gamma", "factorial"]
MATH2 = ["atan2", "copysign", "fmod", "hypot", "ldexp", "pow", "log"]
FLOATS = ["0.5", "-0.0", "2", "1e308", "1e400", "-1e400", "1e400 / 1e400", "-3.75"]
BUILTINS = ["zip(l, l)", "zip(l, [1])", "zip(l)", "zip()", "map(note, l)", "filter(None, l)", "reduce(max, l)", "sorted(l)",
            "sum(l)", "any(l)", "all(l)", "list(reversed(l))", "list(enumerate(l))", "max(l)", "min(3, 4, 5)",
            "range(3, 0, -1)", "[x for x in l if x > 1]", "dict(zip(l, l))[2]", "dict([(1, 2)])[1]", "dict(a=1)['a']",
            "tuple(l)", "l + l", "l * 2", "l == [1, 2, 3]", "l[-1]", "l[5:]", "l[1:100]", "2 in l", "l.count(2)", "cmp(1, 2)",
            "divmod(-7, 2)", "round(2.5)", "round(-2.567, 2)", "pow(2.0, 3.0)", "coerce(1, 2.0)", "isinstance(l, list)",
            "hasattr(box, 'x')", "callable(note)", "len(l)", "bytearray('ab')[0]", "bytearray(3)[1]", "''.join(list('ab'))"]
# What is seen of the order in which parts are evaluated.
ORDERS = [
    "return noted(note(1) + note(2) * note(3))", "return noted(note(1) < note(2) < note(3))",
    "return noted(note(3) < note(2) < note(1))", "return noted((note(1), note(2)))",
    "return noted(three(note(1), note(2)))", "return noted(three(note(1), c=note(2), b=note(3)))",
    "return noted(three(c=note(1), a=note(2)))", "d = {}\n    d[note(1)] = note(2)\n    return noted(len(d))",
    "l = [0, 0, 0]\n    l[note(1)] += note(2)\n    return noted(l[1])",
    "x, y = note(1), note(2)\n    return noted(x - y)", "l = [0, 0, 0]\n    l[note(0)], l[note(1)] = note(2), note(3)\n    return noted(l[0])",
    "return noted(note(1) and note(0) and note(2))", "return noted(note(0) or note(2) or note(3))",
    "return noted(note(1) if note(0) else note(2))", "d = {note(1): note(2), note(3): note(4)}\n    return noted(len(d))",
    "return noted([note(1), note(2)][note(0)])", "return noted([1, 2, 3][note(0):note(2)])",
    "return noted(max(note(1), note(2)))", "return noted('%d %d' % (note(1), note(2)))",
    "box.a = note(1)\n    box.b = box.a + note(2)\n    return noted(box.b)", "return noted(not note(0))",
    "assert note(1), note(2)\n    return noted(0)", "return noted(note(2) in [note(1), note(2)])",
    "return noted(three(*(note(1), note(2))))", "return noted(three(note(1), *(note(2),)))",
    "l = [note(1)]\n    l += [note(2)]\n    return noted(l[1])", "return noted((lambda: 0)() if False else note(1))",
    "try:\n        x = note(1) / (note(0) + len(log) - 2)\n    except ZeroDivisionError:\n        return noted(note(9))\n    return noted(x)",
    "return noted(three(note(1), b=three(note(2), c=note(3))))", "return noted(str(note(1)) + str(note(2)))",
]


def both(kind, text, body):
    """With the operand as a constant, and as a value that nothing is known of."""
    yield "constant", ["x = %s" % text, body]
    yield "variable", ["box.%s = %s" % (kind, text), "x = box.%s" % kind, body]


def widened(text):
    """The same of unicode strings."""
    return text.replace("'a', 'b'", "u'a', u'b'") if text.startswith(("[", "(")) else "u" + text


def text_methods():
    for (name, forms), t in itertools.product(TEXT_METHODS, TEXTS):
        for form in forms:
            pieces = PIECES if "P" in form else [""]
            for p, limit in itertools.product(pieces, LIMITS if "L" in form else [""]):
                args = form.replace("P", p, 1).replace("P", "'xy'").replace("L", limit)
                if "T" in args:
                    args = args.replace("True", "1").replace("T", t)
                for kind, lines in both("s", t, "return x.%s(%s)" % (name, args)):
                    yield "str.%s %s %s %s" % (name, t, args, kind), lines
                if "\\x" in t or "T" in form:
                    continue
                args = ", ".join(widened(a) if a.startswith(("'", "[", "(")) and "None" not in a else a
                                 for a in ([args] if args.startswith(("[", "(")) else args.split(", ")))
                for kind, lines in both("u", "u" + t, "return x.%s(%s)" % (name, args)):
                    yield "unicode.%s %s %s %s" % (name, t, args, kind), lines


def codecs():
    for enc, errors in itertools.product(ENCODINGS, ERRORS):
        args = enc if errors is None else "%s, %s" % (enc, errors)
        for t in BYTES:
            for kind, lines in both("s", t, "return x.decode(%s)" % args):
                yield "decode %s %s %s" % (t, args, kind), lines
            for kind, lines in both("s", t, "return unicode(x, %s)" % args):
                yield "unicode() %s %s %s" % (t, args, kind), lines
        for t in WIDE:
            for kind, lines in both("u", t, "return x.encode(%s)" % args):
                yield "encode %s %s %s" % (t, args, kind), lines


def conversions():
    for t, e, n in itertools.product(TYPES, CONVERSIONS, ["k", "n", "big", "f"]):
        for kind, lines in both("f" if n == "f" else "n", NUMBERS[n], "x = rffi.cast(%s, x)" % t):
            yield "cast %s %s %s %s" % (t, e, n, kind), lines + ["return %s" % e]
    for n, e in itertools.product(NUMBERS, CONVERSIONS):
        for kind, lines in both(n, NUMBERS[n], "return %s" % e):
            yield "convert %s %s %s" % (e, n, kind), lines


def formats():
    for f, n in itertools.product(FORMATS, NUMBERS):
        for kind, lines in both(n, NUMBERS[n], "return %r %% (x,)" % f):
            yield "format %s %s %s" % (f, n, kind), lines
        if n not in ("list", "pair"):
            for kind, lines in both(n, NUMBERS[n], "return 'a%sb' %% x" % f):
                yield "format a%sb %s %s" % (f, n, kind), lines


def maths():
    for name, f in itertools.product(MATH, FLOATS):
        for kind, lines in both("f", f, "return math.%s(x)" % name):
            yield "math.%s %s %s" % (name, f, kind), lines
    for name, f, g in itertools.product(MATH2, FLOATS, FLOATS):
        for kind, lines in both("f", f, "return math.%s(x, %s)" % (name, g)):
            yield "math.%s %s %s %s" % (name, f, g, kind), lines


def containers():
    for m in LIST_METHODS:
        for l in ("[1, 2, 3]", "[]"):
            yield "list.%s %s" % (m, l), ["l = %s" % l, "x = l.%s" % m, "return l"]
            yield "list.%s %s result" % (m, l), ["l = %s" % l, "return l.%s" % m]
    for m in DICT_METHODS:
        yield "dict.%s" % m, ["d = {'a': 1}", "x = d.%s" % m, "return len(d)"]
        yield "dict.%s result" % m, ["d = {'a': 1}", "return d.%s" % m]
    for b in BUILTINS:
        yield "builtin %s" % b, ["l = [1, 2, 3]", "return %s" % b]


def orders():
    for o in ORDERS:
        yield "order %s" % o, ["del log[:]", o]


def functions():
    """Name and lines of all functions, in a fixed order."""
    for kind in (text_methods, codecs, conversions, formats, maths, containers, orders):
        yield from kind()


def chosen(only, share=100, sample=0):
    """Those of a sample, and in the first one all of which there are few."""
    for number, (name, lines) in enumerate(functions()):
        few = sample == 0 and name.startswith(("list.", "dict.", "builtin ", "order "))
        of_sample = 0 <= crossed.place(name) - 100 * share * sample < 100 * share
        if (few or of_sample) and (only is None or only in name):
            yield name, "def f%d():\n    %s\n" % (number, "\n    ".join(lines)), "f%d" % number


# The original runs them as plain Python, too.
AS_PYTHON = r'''
def as_python(f):
    try:
        answer = values.outcome(values.plain(f()))
    except Exception as e:
        answer = {"raises": type(e).__name__}
    generated.box.__dict__.clear()
    return answer

def both(f, translated=outcome):
    answer = translated(f)
    answer["python"] = as_python(f)
    return answer

outcome = both

for line in sys.stdin:'''


def compare(args):
    known = crossed.read(args.outcomes)
    cases = [c for c in chosen(args.only)
             if known.get(c[0], {}).get("source") == crossed.without_name(c)]
    differing, beyond, other = 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        crossed.write_module(cases, folder)
        answers = crossed.taipan_says(args.taipan, cases, folder)
    for name, source, _ in cases:
        want, got = known[name], answers.get(name, {"error": "no answer (crashed)"})
        # The original's interpreter checks what its machine code does not, as `taipan call` does.
        if crossed.agrees(want, got) or "any" in want:
            continue
        want = {k: v for k, v in want.items() if k not in ("name", "source")}
        if "rejected" in want and "error" not in got:
            if crossed.agrees(want["python"], got):
                beyond += 1
                print("beyond: %s" % name)
                continue
            other += 1
        differing += 1
        print("%s: %s\n    original %s\n    taipan   %s"
              % (name, crossed.without_name((0, source)).replace("\n    ", "; ").strip(), want, got))
    print("%d functions: %d differ (%d accepted here alone, with another meaning than Python's); "
          "%d accepted here alone are as in Python" % (len(cases), differing, other, beyond))
    return 1 if differing else 0


crossed.HEADER = HEADER
crossed.chosen = chosen
crossed.compare = compare
crossed.ORIGINAL = crossed.ORIGINAL.replace("\nfor line in sys.stdin:", AS_PYTHON)

if __name__ == "__main__":
    crossed.__doc__ = __doc__
    sys.exit(crossed.main())
