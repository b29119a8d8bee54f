"""Functions over integers of every width, floats, and mixtures of them."""
HEAD = [
    "import math",
    "from rpython.rtyper.lltypesystem import lltype, rffi",
    "from rpython.rlib.rarithmetic import (r_uint, r_longlong, r_ulonglong, r_singlefloat,",
    "    intmask, ovfcheck, widen, longlongmask, r_int64, LONG_BIT, int_between, is_valid_int)",
]
WORD = 64
INTS = [0, 1, -1, 2, -2, 3, 5, -7, 10, 31, 32, 33, 62, 63, 64, 65, 97, 127, 128, 129, -128, -129,
        255, 256, 257, 32767, 32768, -32768, -32769, 65535, 65536, 2**31 - 1, 2**31, -2**31,
        -2**31 - 1, 2**32 - 1, 2**32, 3037000499, 3037000500, 2**53 + 1, 2**62, -2**62,
        2**63 - 1, 2**63 - 2, -2**63, -2**63 + 1, 123456789, -987654321]
SMALL = [0, 1, -1, 2, 3, 5, 7, -3, 10, 63, 64, 65, -64]
FLOATS = ["0.0", "-0.0", "1.0", "-1.0", "0.5", "-0.5", "1.5", "2.5", "-2.5", "3.7", "-3.7", "1e10",
          "1e15", "1e16", "1e17", "1e22", "1e308", "-1e308", "5e-324", "0.1", "1e-5", "1e-4", "100.0",
          "9007199254740993.0", "9.2e18", "-9.2e18", "123456.789", "inf", "-inf", "nan"]
TYPES = ["lltype.Signed", "lltype.Unsigned", "lltype.SignedLongLong", "lltype.UnsignedLongLong",
         "lltype.SignedLongLongLong", "lltype.UnsignedLongLongLong", "lltype.Char",
         "lltype.UniChar", "lltype.Bool", "lltype.Float", "lltype.SingleFloat", "rffi.INT",
         "rffi.UINT", "rffi.SHORT", "rffi.USHORT", "rffi.SIGNEDCHAR", "rffi.UCHAR", "rffi.LONG",
         "rffi.ULONG", "rffi.LONGLONG", "rffi.ULONGLONG", "rffi.SIZE_T", "rffi.SSIZE_T",
         "rffi.TIME_T", "rffi.DOUBLE", "rffi.FLOAT", "rffi.INT_real", "rffi.MODE_T", "rffi.WCHAR_T"]
MAKERS = ["%s", "r_uint(%s)", "r_longlong(%s)", "r_ulonglong(%s)", "bool(%s)", "float(%s)",
          "chr(%s & 255)", "unichr(%s & 255)", "intmask(%s)", "str(%s)", "(%s != 0)"]
UNARY = ["-x", "~x", "+x", "not x", "abs(x)", "str(x)", "repr(x)", "hex(x)", "oct(x)", "int(x)",
         "float(x)", "bool(x)", "chr(x)", "unichr(x)", "ord(x)", "r_uint(x)", "r_longlong(x)",
         "r_ulonglong(x)", "intmask(x)", "long(x)", "'%d' % x", "'%x' % x", "'%s' % x", "'%o' % x",
         "'%r' % x", "'%f' % x", "1 if x else 2", "widen(x)", "x", "x == 0", "x is None", "hash(x)",
         "unicode(x)", "x + 1", "x - 1", "x * 2", "x << 1", "x >> 1", "x & 3", "x // 2", "x % 3",
         "1 + x", "x == 1", "x > 0", "x != 'a'", "longlongmask(x)", "len([x])", "[x, x][1]",
         "{x: 1}[x]", "(x, 1)[0]", "range(5)[x]", "'abc'[x]", "[7] * (x & 3)", "'ab' * (x & 3)", "math.floor(x)",
         "math.sqrt(x)", "x == True", "x + True", "round(x)", "math.trunc(x)",
         "rffi.cast(rffi.INT, x)", "rffi.cast(lltype.Signed, x)", "rffi.cast(lltype.Unsigned, x)",
         "rffi.cast(lltype.Float, x)", "rffi.cast(rffi.UCHAR, x)", "rffi.cast(rffi.SHORT, x)",
         "rffi.cast(lltype.Char, x)", "rffi.cast(lltype.Bool, x)", "isinstance(x, int)",
         "isinstance(x, bool)", "isinstance(x, float)", "isinstance(x, r_uint)", "cmp(x, 1)"]
BINARY = ["x + y", "x - y", "x * y", "x // y", "x % y", "x / y", "x << y", "x >> y", "x & y",
          "x | y", "x ^ y", "x == y", "x != y", "x < y", "x <= y", "x > y", "x >= y", "divmod(x, y)",
          "min(x, y)", "max(x, y)", "cmp(x, y)", "x in [y]", "[x, y][0]", "(x or y)", "(x and y)",
          "pow(x, y)", "x ** y", "(x if a > 3 else y)", "x is y", "{x: 1}.get(y, 0)", "(x, y)",
          "ovfcheck(x + y)", "ovfcheck(x * y)", "ovfcheck(x - y)", "ovfcheck(x << y)"]
# What the result of an operation is looked at through.
THROUGH = ["%s"] * 5 + ["intmask(%s)", "str(%s)", "bool(%s)", "float(%s)", "int(%s)", "'%%d' %% (%s)"]


def literal(v):
    return str(v)


def pairs(rng, count, first=INTS, second=INTS):
    return [[literal(rng.choice(first)), literal(rng.choice(second))] for _ in range(count)]


def operand(rng, name):
    """Code that makes a number of some kind out of an integer variable."""
    if rng.random() < 0.6:
        return "rffi.cast(%s, %s)" % (rng.choice(TYPES), name)
    return rng.choice(MAKERS) % name


def function(body, params="a, b"):
    return HEAD + ["def f(%s):" % params] + ["    " + l for l in body]


def cast(rng):
    body = ["x = " + operand(rng, "a"), "return " + rng.choice(THROUGH) % rng.choice(UNARY)]
    return function(body, "a"), [[literal(rng.choice(INTS))] for _ in range(6)]


def mixture(rng):
    body = ["x = " + operand(rng, "a"), "y = " + operand(rng, "b")]
    shape = rng.random()
    if shape < 0.75:
        body.append("return " + rng.choice(THROUGH) % rng.choice(BINARY))
    elif shape < 0.9:
        body += ["if a > b:", "    z = x", "else:", "    z = y",
                 "return " + rng.choice(THROUGH) % rng.choice(UNARY).replace("x", "z")
                 .replace("hez", "hex")]
    else:
        body += ["x %s= y" % rng.choice(["+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>", "**"]),
                 "return x"]
    return function(body), pairs(rng, 3) + pairs(rng, 3, INTS, SMALL)


def expression(rng, depth, names, wide=False):
    if depth == 0 or rng.random() < 0.1:
        if rng.random() < 0.8:
            return rng.choice(names)
        return str(rng.choice(SMALL))
    sub = lambda: expression(rng, depth - 1, names, wide)
    kind = rng.random()
    if kind < 0.6:
        return "(%s %s %s)" % (sub(), rng.choice(["+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>",
                                                  "/", "**", "<", "==", ">="]), sub())
    if kind < 0.7:
        return "%s(%s)" % (rng.choice(["-", "~", "abs", "intmask", "int", "not ", "+", "bool"]), sub())
    if kind < 0.8:
        return "%s(%s)" % (rng.choice(["r_uint", "r_longlong", "r_ulonglong", "intmask", "float",
                                       "long"]), sub())
    if kind < 0.9:
        return "%s(%s, %s)" % (rng.choice(["min", "max", "pow", "divmod"]), sub(), sub())
    if kind < 0.95:
        return "pow(%s, %s, %s)" % (sub(), sub(), sub())
    return "(%s if %s else %s)" % (sub(), sub(), sub())


def arithmetic(rng):
    value = expression(rng, rng.choice([1, 2, 2, 3]), ["a", "b"])
    catch = rng.choice(["ZeroDivisionError", "OverflowError", "ValueError", "Exception", None])
    if catch is None:
        body = ["return " + value]
    else:
        body = ["try:", "    return str(%s)" % value, "except %s:" % catch, "    return 'caught'"]
    return function(body), pairs(rng, 3) + pairs(rng, 2, INTS, SMALL) + pairs(rng, 2, SMALL, SMALL)


def checked(rng):
    kinds = ["a", "b", "x", "7", "-1", "-2", "u", "2"]
    op = rng.choice(["{} + {}", "{} - {}", "{} * {}", "{} // {}", "{} % {}", "{} << {}", "-{}",
                     "abs({})", "{} ** {}", "pow({}, {})", "int({})", "{} >> {}", "divmod({}, {})",
                     "{} + {} + {}", "int_between({}, {}, {})", "{} & {}", "{} / {}"])
    made = op.format(*[rng.choice(kinds) for _ in range(3)])
    inner = rng.choice(["ovfcheck(%s)"] * 4 + ["%s"]) % made
    body = ["x = a * 3", "u = %s" % rng.choice(["r_uint(b)", "r_longlong(a)", "b > 1", "a"]),
            "try:", "    c = " + inner,
            "except %s:" % rng.choice(["OverflowError", "OverflowError", "ZeroDivisionError",
                                       "(OverflowError, ZeroDivisionError)", "ArithmeticError",
                                       "Exception"]),
            "    return -42", "return c"]
    return function(body), pairs(rng, 5) + pairs(rng, 3, INTS, SMALL) + pairs(rng, 1, SMALL, SMALL)


def floats(rng):
    one = ["floor", "ceil", "sqrt", "exp", "log", "log10", "sin", "atan", "fabs", "isinf", "isnan",
           "frexp", "modf", "trunc", "log1p", "expm1", "acos", "cosh", "degrees", "radians", "asinh"]
    two = ["pow", "fmod", "atan2", "hypot", "ldexp", "copysign", "log"]
    value = rng.choice([
        "math.%s(a)" % rng.choice(one), "math.%s(a, b)" % rng.choice(two),
        "math.ldexp(a, n)", "a %s b" % rng.choice(["+", "-", "*", "/", "//", "%", "**", "<", "==", "!="]),
        "a %s n" % rng.choice(["+", "-", "*", "/", "//", "%", "**", "<", "==", ">="]),
        "n %s a" % rng.choice(["+", "-", "*", "/", "//", "%", "**", "<", "==", ">="]),
        "round(a)", "round(a, 1)", "int(a)", "long(a)", "str(a)", "repr(a)", "bool(a)", "abs(a)", "-a", "+a",
        "'%f' % a", "'%s' % a", "'%d' % a", "'%g' % a", "'%.3f' % a", "divmod(a, b)", "pow(a, b)",
        "min(a, b)", "max(a, n)", "r_longlong(a)", "r_uint(a)", "intmask(a)", "float(str(a))", "hash(a)",
        "not a", "cmp(a, b)", "int(a) + n", "r_singlefloat(a)", "float(r_singlefloat(a))",
        "[a, float(n)][1]", "a is b", "[a].index(b)", "b in [a]", "{a: 1}[b]", "sum([a, b])"])
    value = rng.choice(["%s"] * 4 + ["str(%s)", "int(%s)"]) % value
    body = ["try:", "    return " + value,
            "except %s:" % rng.choice(["OverflowError", "ValueError", "ZeroDivisionError"]),
            "    raise KeyError"] if rng.random() < 0.4 else ["return " + value]
    args = [[rng.choice(FLOATS), rng.choice(FLOATS), str(rng.choice(SMALL + [2**53 + 1, 2**63 - 1]))]
            for _ in range(8)]
    return function(body, "a, b, n"), args
