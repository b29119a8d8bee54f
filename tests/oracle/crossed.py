#!/usr/bin/env python3
"""Compares every operation on every kind of operand with the whole original toolchain.

usage: crossed.py record PYPY OUTCOMES [--only TEXT] [--share PERCENT] [--sample N]   outcomes of the original (CPython 2.7)
       crossed.py compare OUTCOMES [--only TEXT] [--taipan PATH]

Where constants.py asks the flow space alone about random expressions, this is a table: each
operator and builtin function with each combination of operands, constant or not, in three ways:

    unused    x = a + b; return 0
    returned  return a + b
    printed   return str(a + b)

The original flows, annotates, rtypes and interprets each function by itself. `record` appends one line for
each function to OUTCOMES, unless the file has one. There are 170,000
functions: of those with several operands it takes a share (2 %), always the same ones. `--sample 1`
takes the next share, and so on. The order is mixed, so the functions of a run that is stopped are spread over the
whole table.
"""
import argparse
import collections
import itertools
import json
import os
import subprocess
import sys
import tempfile
import zlib

HEADER = """L = [1, 2, 3]
D = {'a': 1}
class New(object):
    pass
class Frozen(object):
    def _freeze_(self):
        return True
def fun():
    return 1
inst = New()
frozen = Frozen()
"""

# Name and text of operands; what a text `=` binds is a local variable.
CONSTANTS = {
    "zero": "0", "one": "1", "minus": "-1", "three": "3", "seventy": "70", "k": "-1024",
    "most": "9223372036854775807", "least": "(-9223372036854775807 - 1)", "l5": "5L",
    "big": "1180591620717411303424L", "half": "2.5", "zerof": "0.0", "huge": "1e30", "inf": "1e400",
    "yes": "True", "empty": "''", "a": "'a'", "digits": "'12'", "long_digits": "'123456789012345678901'",
    "fmt": "'%d'", "ua": "u'a'", "none": "None", "pair": "(1, 2)", "unit": "()",
    "L": "L", "D": "D", "cls": "New", "fun": "fun", "inst": "inst", "frozen": "frozen", "int": "int",
}
# Operands that are not constants.
VARIABLES = {"list": "[1, 2]", "dict": "{'a': 1}", "new": "New()", "n": "len([1, 2])", "s": "str(len([1]))",
             "f": "float(len([1]))", "c": "chr(len([1]))"}
# Enough of them for operations of three operands.
FEW = ["one", "minus", "k", "l5", "half", "a", "none", "n", "seventy"]

BINARY = {
    "add": "%s + %s", "sub": "%s - %s", "mul": "%s * %s", "div": "%s / %s", "floordiv": "%s // %s",
    "mod": "%s %% %s", "pow_op": "%s ** %s", "lshift": "%s << %s", "rshift": "%s >> %s",
    "and": "%s & %s", "or": "%s | %s", "xor": "%s ^ %s", "eq": "%s == %s", "lt": "%s < %s",
    "ge": "%s >= %s", "in": "%s in %s", "not_in": "%s not in %s", "is": "%s is %s",
    "getitem": "%s[%s]", "from": "%s[%s:]", "upto": "%s[:%s]", "divmod": "divmod(%s, %s)", "cmp": "cmp(%s, %s)",
    "pow": "pow(%s, %s)", "coerce": "coerce(%s, %s)", "isinstance": "isinstance(%s, %s)",
    "min": "min(%s, %s)", "max": "max(%s, %s)", "int2": "int(%s, %s)", "range2": "range(%s, %s)",
    "both": "%s and %s", "getattr": "getattr(%s, %s)", "hasattr": "hasattr(%s, %s)",
}
INPLACE = {"iadd": "+=", "isub": "-=", "imul": "*=", "idiv": "/=", "ifloordiv": "//=", "imod": "%=",
           "ipow": "**=", "ilshift": "<<=", "irshift": ">>=", "iand": "&=", "ior": "|=", "ixor": "^="}
UNARY = {
    "neg": "-%s", "pos": "+%s", "invert": "~%s", "not": "not %s", "call": "%s()", "attr": "%s.attr",
    "backquote": "`%s`", "all": "%s[:]",
}
FUNCTIONS = ["repr", "str", "len", "abs", "hex", "oct", "bin", "ord", "bool", "int", "long", "float", "chr",
             "unichr", "unicode", "tuple", "list", "dict", "iter", "next", "id", "hash", "type", "range", "xrange",
             "reversed", "enumerate", "sorted", "sum", "min", "max", "any", "all", "round", "callable", "complex",
             "set", "frozenset", "vars", "dir", "bytearray", "buffer", "slice", "object", "intern", "zip"]
TERNARY = {"pow3": "pow(%s, %s, %s)", "slice": "%s[%s:%s]"}
# As literals, which the bytecode compiler folds.
LITERAL = [("one", "seventy"), ("k", "seventy"), ("most", "one"), ("most", "three"), ("one", "a"), ("none", "one"),
           ("a", "a"), ("half", "zerof"), ("one", "zero"), ("huge", "three"), ("big", "one"), ("one", "big"),
           ("a", "three"), ("fmt", "a"), ("fmt", "one"), ("pair", "one"), ("pair", "seventy"), ("k", "minus"),
           ("three", "minus"), ("inf", "one"), ("ua", "a"), ("digits", "one"), ("l5", "one")]
# Whole bodies.
BODIES = {
    "dict_comprehension": "x = {i: 1 for i in range(3)}",
    "dict_comprehension_if": "x = dict((i, 1) for i in range(3))",
    "set_comprehension": "x = {i for i in range(3)}",
    "set_display": "x = {1, 2}",
    "generator": "x = (i for i in range(3))",
    "nested_list": "x = [[j for j in range(i)] for i in range(3)]",
    "star_assign": "x, y = 1",
    "unpack_few": "x, y = (1, 2, 3)",
    "unpack_str": "x, y = 'ab'",
    "unpack_none": "x, y = None",
    "del_item": "x = (1, 2)\n    del x[0]",
    "set_item": "x = (1, 2)\n    x[0] = 3",
    "set_item_str": "x = 'ab'\n    x[0] = 'c'",
    "set_attr_int": "x = 5\n    x.a = 3",
    "set_attr_none": "x = None\n    x.a = 3",
    "set_attr_fun": "x = fun\n    x.a = 3",
    "set_attr_frozen": "x = frozen\n    x.a = 3",
    "del_attr": "x = inst\n    del x.a",
    "raise_int": "x = 0\n    raise 5",
    "raise_str": "x = 0\n    raise 'a'",
    "assert_tuple": "x = 0\n    assert (x, 'always')",
    "assert_false": "x = 0\n    assert False",
    "call_none": "x = None()",
    "call_int": "x = 5(3)",
    "call_many": "x = fun(1)",
    "iter_int": "x = 0\n    for x in 5:\n        pass",
    "iter_none": "x = 0\n    for x in None:\n        pass",
    "iter_tuple": "x = 0\n    for x in (1, 2):\n        pass",
    "iter_str": "x = 0\n    for c in 'ab':\n        x += ord(c)",
    "caught": "x = 0\n    try:\n        x = 1 / x\n    except ZeroDivisionError:\n        pass",
    "caught_all": "x = 0\n    try:\n        x = 1 + 'x'\n    except Exception:\n        pass",
    "caught_index": "x = 0\n    try:\n        x = (1, 2)[5]\n    except IndexError:\n        pass",
    "caught_value": "x = 0\n    try:\n        x = int('x')\n    except ValueError:\n        pass",
    "dead_branch": "x = 0\n    if x:\n        x = 1 + 'x'",
    "guarded": "x = 0\n    if len([1]) > 1:\n        x = 1 + 'x'",
    "exec": "x = 0\n    exec 'x = 1'",
    "star_call": "x = fun(*())",
    "star_call_many": "x = fun(*(1,))",
    "extended_slice": "x = 'abc'[::2]",
    "extended_slice_list": "x = [1, 2][::2]",
    "ellipsis": "x = 'abc'[...]",
    "complex": "x = 1j",
    "lambda": "x = lambda: 1",
    "closure": "x = 0\n    y = lambda: x",
    "class": "class x(object):\n        pass",
    "import": "import nothing_of_that_name\n    x = 0",
    "import_from": "from os import nothing_of_that_name\n    x = 0",
    "undefined": "x = nothing_of_that_name",
    "global_write": "global L\n    x = 0\n    L = 5",
    "unbound": "if len([1]) > 1:\n        x = 0",
    "print_to": "x = 0\n    import sys\n    print >> sys.stderr, 5",
    "mixed_list": "x = [1, 'a']",
    "mixed_dict": "x = {1: 'a', 'b': 2}",
    "mixed_tuple": "x = (1, 'a', None)",
    "long_list": "x = [1 << 70]",
    "long_dict": "x = {1 << 70: 1}",
    "long_tuple": "x = (1 << 70,)",
    "long_arg": "x = New()\n    x.a = pow(2, 70)",
    "long_compare": "x = pow(2, 70) > len([1])",
    "long_minus": "x = pow(2, 70) - pow(2, 70) + len([1])",
    "long_and": "from rpython.rlib.rarithmetic import intmask\n    x = intmask(pow(2, 70) + 5)",
    "long_uint": "from rpython.rlib.rarithmetic import r_uint\n    x = r_uint(pow(2, 70) + 5)",
    "ovfcheck_const": "from rpython.rlib.rarithmetic import ovfcheck\n    a = 5\n    x = ovfcheck(a + 3)",
    "ovfcheck_big": "from rpython.rlib.rarithmetic import ovfcheck\n    a = 9223372036854775807\n    x = ovfcheck(a + 3)",
}
FORMS = {"unused": "x = %s\n    return 0", "returned": "return %s", "printed": "return str(%s)"}


def operands(names):
    """Lines that bind them, and their names in the function."""
    lines, used = [], []
    for i, name in enumerate(names):
        text = CONSTANTS.get(name) or VARIABLES[name]
        if text.isidentifier() and text not in ("None", "True"):
            used.append(text)
        else:
            lines.append("%s = %s" % ("abc"[i], text))
            used.append("abc"[i])
    return lines, tuple(used)


def functions():
    """Name and source of all functions, in a fixed order."""
    both = list(CONSTANTS) + list(VARIABLES)
    for op, text in UNARY.items():
        for x in both:
            yield from formed("%s %s" % (op, x), text, [x])
    for op in FUNCTIONS:
        for x in both:
            yield from formed("%s %s" % (op, x), op + "(%s)", [x])
    for op, text in BINARY.items():
        for pair in itertools.product(both, both):
            if (sum(x in VARIABLES for x in pair) < 2 or op in ("add", "getitem", "eq", "mod")):
                yield from formed("%s %s %s" % ((op,) + pair), text, pair)
    for op, text in TERNARY.items():
        for three in itertools.product(FEW, FEW, FEW):
            yield from formed("%s %s %s %s" % ((op,) + three), text, three)
    for op, sign in INPLACE.items():
        for pair in itertools.product(both, both):
            lines, (x, y) = operands(pair)
            for form in ("unused", "returned"):
                yield ("%s %s %s %s" % ((op,) + pair + (form,)),
                       lines + ["x = %s" % x, "x %s %s" % (sign, y),
                                "return " + ("0" if form == "unused" else "x")])
    for op, text in BINARY.items():
        for pair in LITERAL:
            texts = tuple(CONSTANTS[x] for x in pair)
            for form, outer in FORMS.items():
                yield ("literal %s %s %s %s" % ((op,) + pair + (form,)), [outer % ("(%s)" % (text % texts))])
    for name, body in BODIES.items():
        yield "body %s unused" % name, [body, "return 0"]
        yield "body %s returned" % name, [body, "return x"]


def formed(name, text, names):
    lines, used = operands(names)
    for form, outer in FORMS.items():
        if form == "printed" and any(n in VARIABLES for n in names):
            continue
        yield "%s %s" % (name, form), lines + [outer % ("(%s)" % (text % used))]


def chosen(only, share=100, sample=0):
    seen = set()
    for number, (name, lines) in enumerate(functions()):
        always = name.count(" ") < 3 or name.startswith("literal ")
        of_sample = 0 <= place(name) - 100 * share * sample < 100 * share
        asked = of_sample or always and sample == 0
        if asked and name not in seen and (only is None or only in name):
            seen.add(name)
            yield name, "def f%d():\n    %s\n" % (number, "\n    ".join(lines)), "f%d" % number


def place(name):
    """Where a function stands among 10,000 shares."""
    return zlib.crc32(name.encode()) % 10000


# Runs under CPython 2.7: file of functions, PYPY, names of functions on stdin.
ORIGINAL = r'''
import json, os, resource, signal, sys, warnings
warnings.simplefilter("ignore")
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
sys.path[:0] = [sys.argv[1], sys.argv[2], sys.argv[3]]
sys.dont_write_bytecode = True
import generated
from rpython.tool.ansi_print import AnsiLogger
AnsiLogger.output_disabled = True
from rpython.flowspace.flowcontext import FlowingError
from rpython.rtyper.llinterp import LLException, LLInterpreter
from rpython.translator.translator import TranslationContext, graphof
import values

class TooSlow(BaseException):
    pass

def too_slow(signum, frame):
    raise TooSlow

signal.signal(signal.SIGVTALRM, too_slow)

def raised(interpreter, e):
    try:
        return interpreter.find_exception(e).__name__
    except ValueError:
        return "".join(e.args[0].name.chars).rstrip("\0")

def outcome(f):
    stage = "flow"
    context = TranslationContext(list_comprehension_operations=True)
    try:
        TranslationContext(list_comprehension_operations=True).buildflowgraph(f)
        stage = "annotate"
        context.buildannotator().build_types(f, [])
        stage = "rtype"
        context.buildrtyper().specialize()
    except TooSlow:
        return {"unknown": "too slow"}
    except MemoryError:
        return {"unknown": "memory"}
    except Exception as e:
        lines = [l.strip() for l in str(e).decode("latin-1").split("\n") if l.strip()]
        return {"rejected": stage, "error": "%s: %s" % (type(e).__name__, lines[0][:150] if lines else "")}
    interpreter = LLInterpreter(context.rtyper)
    try:
        return values.outcome(values.plain(interpreter.eval_graph(graphof(context, f), [])))
    except LLException as e:
        return {"raises": raised(interpreter, e)}
    except TooSlow:
        return {"unknown": "too slow"}
    except Exception as e:
        # The interpreter checks what machine code does not.
        return {"any": True, "why": "%s: %s" % (type(e).__name__, e)}

for line in sys.stdin:
    name = line.strip()
    signal.setitimer(signal.ITIMER_VIRTUAL, 20)
    try:
        answer = outcome(getattr(generated, name))
    except TooSlow:
        answer = {"unknown": "too slow"}
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    try:
        text = json.dumps([name, answer], encoding="latin-1")
    except Exception:
        text = json.dumps([name, {"any": True}])
    print text
    sys.stdout.flush()
'''


def read(path):
    if not os.path.exists(path):
        return {}
    with open(path) as f:
        return {a["name"]: a for a in map(json.loads, f)}


def write_module(cases, folder):
    with open(os.path.join(folder, "generated.py"), "w", encoding="latin-1") as f:
        f.write(HEADER + "".join(source for _, source, _ in cases))


def record(args):
    known = read(args.outcomes)
    cases = [c for c in chosen(args.only, args.share, args.sample)
             if known.get(c[0], {}).get("source") != without_name(c)]
    if args.sample:
        cases.sort(key=lambda c: place(c[0]))
    python = os.environ.get("PYTHON2", "python2.7")
    here = os.path.dirname(os.path.abspath(__file__))
    with tempfile.TemporaryDirectory() as folder, open(args.outcomes, "a") as out:
        script = os.path.join(folder, "original.py")
        with open(script, "w") as f:
            f.write(ORIGINAL)
        # Contexts are never freed as a whole: a process does some hundreds.
        for start in range(0, len(cases), 500):
            some = cases[start:start + 500]
            write_module(some, folder)
            found = subprocess.run([python, "-B", script, folder, args.pypy, here],
                                   input="\n".join(c[2] for c in some).encode(),
                                   stdout=subprocess.PIPE)
            answers = {}
            for line in found.stdout.decode().splitlines():
                if line.startswith('["f'):
                    name, answer = json.loads(line)
                    answers[name] = answer
            for c in some:
                answer = answers.get(c[2], {"unknown": "crashed"})
                out.write(json.dumps(dict(name=c[0], source=without_name(c), **answer)) + "\n")
            out.flush()
            print("%d of %d" % (start + len(some), len(cases)), flush=True)


def without_name(case):
    return case[1].split("\n", 1)[1]


def agrees(expected, got):
    if "unknown" in expected:
        return True
    if "rejected" in expected:
        return "error" in got
    if "error" in got:
        return False
    if "any" in expected:
        return True
    if "raises" in expected:
        return got.get("raises") == expected["raises"]
    if "ok" not in got:
        return False
    want, have = expected["ok"], got["ok"]
    if isinstance(want, float) and isinstance(have, (int, float)):
        return want == have or abs(want - have) <= 1e-9 * max(abs(want), abs(have))
    return want == have


def taipan_says(taipan, cases, folder):
    """What Taipan gives, by name of the case."""
    answers = {}
    path = os.path.join(folder, "generated.py")
    for start in range(0, len(cases), 1000):
        lines = [json.dumps({"file": path, "func": f, "args": [], "id": name})
                 for name, _, f in cases[start:start + 1000]]
        out = subprocess.run([taipan, "call", "--no-cache", "--batch", "-"],
                             input="\n".join(lines).encode(), stdout=subprocess.PIPE)
        for line in out.stdout.decode().splitlines():
            answer = json.loads(line)
            answers[answer.pop("id")] = answer
    return answers


def compare(args):
    known = read(args.outcomes)
    cases = [c for c in chosen(args.only) if known.get(c[0], {}).get("source") == without_name(c)]
    differing = 0
    with tempfile.TemporaryDirectory() as folder:
        write_module(cases, folder)
        answers = taipan_says(args.taipan, cases, folder)
    kinds = collections.Counter()
    for name, source, _ in cases:
        e, a = known[name], answers.get(name, {"error": "no answer (crashed)"})
        if not agrees(e, a):
            differing += 1
            e = {k: v for k, v in e.items() if k not in ("name", "source")}
            kind = "original %s, taipan %s" % (e.get("rejected") or "/".join(e), "/".join(a))
            kinds[kind] += 1
            print("%s: %s\n    original %s\n    taipan   %s"
                  % (name, "; ".join(without_name((0, source)).split("\n    ")).strip(), e, a))
    print("%d functions: %d differ" % (len(cases), differing))
    for kind, n in kinds.most_common():
        print("%6d %s" % (n, kind))
    return 1 if differing else 0


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="what", required=True)
    a = commands.add_parser("record")
    a.add_argument("pypy")
    a.add_argument("--share", type=float, default=2)
    a.add_argument("--sample", type=int, default=0)
    c = commands.add_parser("compare")
    here = os.path.dirname(os.path.abspath(__file__))
    c.add_argument("--taipan", default=os.path.join(here, "../../target/release/taipan"))
    for p in (a, c):
        p.add_argument("outcomes")
        p.add_argument("--only")
    args = parser.parse_args()
    return {"compare": compare, "record": record}[args.what](args)


if __name__ == "__main__":
    sys.exit(main())
