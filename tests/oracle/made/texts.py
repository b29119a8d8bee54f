"""Functions over byte strings and unicode strings."""
HEAD = [
    "from rpython.rlib.rstring import (split, rsplit, replace, startswith, endswith, strip_spaces,",
    "    StringBuilder, UnicodeBuilder)",
    "from rpython.rlib.rarithmetic import string_to_int, r_uint, intmask",
    "from rpython.rlib import runicode, rutf8",
]
TEXTS = ["", "a", "b", ",", "a,b", ",a,", ",,", "a,,b", " a  b ", "  ", "\t\n a", "aXbXc", "aaa", "abab",
         "ab,ab,ab", "\x00", "abc\x00d", "\xff\xfe", "Hello World", "12", "a.b.c.", "..", "x" * 20]
SEPARATORS = [",", "a", "ab", "", ",,", ".", " ", "X", "aa", "\x00"]
BOUNDS = ["0", "1", "-1", "2", "3", "5", "-3", "100", "-100", str(2**63 - 1), str(-2**63)]


def quoted(s, unicode=False):
    out = "".join(c if " " <= c < "\x7f" and c not in "'\\" else "\\x%02x" % ord(c) for c in s)
    return ("u'" if unicode else "'") + out + "'"


def function(body, params):
    return HEAD + ["def f(%s):" % params] + ["    " + l for l in body]


def argument(rng, kind, names):
    """A variable, or a constant of the kind."""
    if rng.random() < 0.65:
        return rng.choice(names)
    return rng.choice([quoted(x) for x in SEPARATORS]) if kind == "s" else rng.choice(BOUNDS[:7])


def method(rng, prefix=""):
    s = lambda: argument(rng, "s", ["t", "t", "s"])
    n = lambda: argument(rng, "n", ["i", "j"])
    name = rng.choice(["split", "rsplit", "split1", "rsplit1", "find", "rfind", "count", "index",
                       "strip", "lstrip", "rstrip", "replace", "join", "startswith", "endswith",
                       "slice", "in", "lower", "is", "item", "cmp", "mul", "add", "splitn", "iter",
                       "reversed", "misc", "len", "lib", "list"])
    if name in ("split", "rsplit"):
        return "s.%s(%s)" % (name, s())
    if name in ("split1", "rsplit1"):
        return "s.%s(%s, %s)" % (name[:-1], s(), n())
    if name == "splitn":
        return "s.%s" % rng.choice(["split()", "rsplit()", "split(None)", "split(None, %s)" % n(),
                                    "splitlines()", "partition(%s)" % s(), "rsplit(None, %s)" % n()])
    if name in ("find", "rfind", "count", "index"):
        bounds = rng.choice(["", "", ", %s" % n(), ", %s, %s" % (n(), n())])
        return "s.%s(%s%s)" % (name, s(), bounds)
    if name in ("strip", "lstrip", "rstrip"):
        return "s.%s(%s)" % (name, rng.choice(["", s(), "t[0]", "','", "'ab'", "' '"]))
    if name == "replace":
        return "s.replace(%s, %s%s)" % (s(), s(), rng.choice(["", "", ", %s" % n()]))
    if name == "join":
        return rng.choice(["t.join([s, t, s])", "t.join([s])", "t.join(s.split(','))", "t.join(list(s))",
                           "s.join([t] * 2)", "''.join([s, t])", "t.join(s)", "t.join(['a', s[0]])"])
    if name in ("startswith", "endswith"):
        extra = rng.choice(["", "", "", ", %s" % n(), ", %s, %s" % (n(), n())])
        return "s.%s(%s%s)" % (name, rng.choice([s(), s(), "('a', 'b')", "t[0]"]), extra)
    if name == "slice":
        return rng.choice(["s[%s:%s]", "s[%s:]", "s[:%s]", "s[%s:-1]", "s[:-1]", "s[-1:]", "s[::%s]",
                           "s[-2:]", "s[1:-1]", "s[:]"]).replace("%s", n(), 1).replace("%s", n())
    if name == "in":
        return rng.choice(["%s in s", "%s not in s", "t[0] in s", "s[0] in t"]).replace("%s", s())
    if name == "lower":
        return "s.%s()" % rng.choice(["lower", "upper", "swapcase", "title", "capitalize"])
    if name == "is":
        return "%s.%s()" % (rng.choice(["s", "s[0]"]),
                            rng.choice(["isdigit", "isalpha", "isalnum", "isspace", "isupper", "islower"]))
    if name == "item":
        return rng.choice(["s[%s]", "ord(s[%s])", "s[%s] + t", "s[%s] == t", "s[%s] * 3", "s[%s] < 'b'"]) % n()
    if name == "cmp":
        return "s %s t" % rng.choice(["==", "!=", "<", "<=", ">", ">=", "is"])
    if name == "mul":
        return rng.choice(["s * %s", "%s * s", "s[:2] * %s"]) % rng.choice(["(i & 7)", "2", "0", "-1"])
    if name == "add":
        return rng.choice(["s + t", "s + 'x' + t", "s + str(i)", "t + None", "s + s[0]", "'a' + s"])
    if name == "iter":
        return rng.choice(["[c for c in s]", "[ord(c) for c in s]", "[s[k] for k in range(len(s))]"])
    if name == "reversed":
        return rng.choice(["''.join([s[len(s) - 1 - k] for k in range(len(s))])", "s[::-1]"])
    if name == "misc":
        return rng.choice(["s.zfill(5)", "s.center(5)", "s.ljust(5)", "s.expandtabs()", "s.encode('hex')",
                           "s.translate(t)", "hash(s) == hash(t)", "max(s, t)", "min(s, t)", "cmp(s, t)",
                           "bool(s)", "not s", "s or t", "s and t", "str(s)", "repr(s)", "unicode(s)", "int(s)",
                           "float(s)", "ord(s)", "chr(i)", "unichr(i)", "s is None", "sorted(s)"])
    if name == "len":
        return rng.choice(["len(s)", "len(s + t)", "len(s[%s:])" % n(), "len(s.split(t))"])
    if name == "list":
        return rng.choice(["list(s)", "tuple(s)", "[s, t]", "(s, t)", "{s: t}[s]", "s.split(',')[0]",
                           "s.split(',')[-1]", "bytearray(s)", "str(bytearray(s))", "len(bytearray(s))"])
    return rng.choice(["split(s, %s)", "split(s, %s, %n)", "rsplit(s, %s)", "rsplit(s, %s, %n)",
                       "replace(s, %s, t)", "replace(s, %s, t, %n)", "startswith(s, %s)",
                       "endswith(s, %s)", "split(s)", "rsplit(s)", "strip_spaces(s)",
                       "startswith(s, %s, %n, %n)"]).replace("%s", s()).replace("%n", n())


def calls(rng, count, unicode=False):
    out = []
    for _ in range(count):
        s = quoted(rng.choice(TEXTS), unicode)
        t = quoted(rng.choice(SEPARATORS + TEXTS[:6]), unicode)
        out.append([s, t, rng.choice(BOUNDS), rng.choice(BOUNDS)])
    return out


def caught(rng, value, names):
    if rng.random() < 0.3:
        return ["try:", "    return " + value, "except %s:" % rng.choice(names), "    raise KeyError"]
    return ["return " + value]


ERRORS = ["ValueError", "IndexError", "UnicodeDecodeError", "UnicodeEncodeError", "UnicodeError",
          "TypeError", "Exception"]


def strings(rng):
    return function(caught(rng, method(rng), ERRORS), "s, t, i, j"), calls(rng, 8)


def unicodes(rng):
    value = method(rng)
    for c in "'":
        if rng.random() < 0.9:
            value = value.replace("('", "(u'").replace(", '", ", u'").replace("+ '", "+ u'").replace(
                "['", "[u'")
    return function(caught(rng, value, ERRORS), "s, t, i, j"), calls(rng, 8, True)


NUMBERS = ["0", "1", "-1", " 12 ", "+5", "- 5", "0x1f", "0X1F", "0o17", "017", "0b101", "1e5", "1.5", ".5", "5.",
           "", " ", "12a", "z", "Zz", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
           "-9223372036854775809", "inf", "-inf", "nan", "NaN", "infinity", "1_0", "1L", "1e400", "-0", "--1",
           "+ 1", "1 2", "0x", "\x001", "1\x00", "1e", "e5", "1e-400", "0.1e1", "1.7976931348623159e308", "+.5e-3",
           "1f", "\t7\n", "\x0b7", "7\xa0"]
BASES = ["0", "2", "8", "10", "16", "36", "37", "1", "-1", "3"]


def parsing(rng):
    value = rng.choice(["int(s)", "int(s, n)", "int(s, 16)", "int(s, 0)", "int(s, 2)", "float(s)", "int(s, 10)",
                        "int(s, 36)", "string_to_int(s)", "string_to_int(s, n)", "str(float(s))", "int(float(s))",
                        "r_uint(int(s))", "long(s)", "int(s[0])", "int(s, 37)", "str(int(s))",
                        "float(s[0])", "hex(int(s))", "oct(int(s))", "int(s or '7')", "bool(s)", "float(s) + n"])
    args = [[quoted(rng.choice(NUMBERS)), rng.choice(BASES)] for _ in range(12)]
    if rng.random() < 0.3:
        args = [[a, b] for a, b in [["u" + a, b] for a, b in args] if "\\x" not in a]
    return function(caught(rng, value, ["ValueError", "OverflowError", "Exception"]), "s, n"), args


BYTES = ["", "abc", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xed\xa0\x80", "\xed\xb0\x80",
         "\xed\xa0\x80\xed\xb0\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x80\x80", "\xf0\x80\x80\x80", "\xf4\x90\x80\x80",
         "\xf5\x80\x80\x80", "\xff", "\x80", "a\x80b", "\xc3", "\xe2\x82", "\xe2", "\xf0\x9f\x98", "\xf0\x9f", "\xf0",
         "\xc3a", "\xe2\x82a", "\xe2a", "\xf0\x9f\x98a", "\xef\xbb\xbfa", "a\xed\xa0\x80b", "\xef\xbf\xbf",
         "\xe0\x9f\xbf", "\xed\x9f\xbf", "\xee\x80\x80", "\xf0\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf", "\xe9"]
POINTS = ["u''", "u'abc'", "u'\\xe9'", "u'\\u20ac'", "u'\\U0001f600'", "u'\\ud800'", "u'\\udc00'", "u'a\\udfffb'",
          "u'\\ud83d\\ude00'", "u'\\x80'", "u'\\xff\\u0100'", "u'\\uffff'", "u'\\x7f'", "u'\\x00'", "u'\\udc80'"]


def codecs(rng):
    codec = rng.choice(["'utf-8'", "'utf-8'", "'utf8'", "'latin-1'", "'ascii'", "'utf-16'", "'UTF-8'"])
    if rng.random() < 0.55:
        params = "s"
        value = rng.choice(["s.decode(%s)" % codec, "s.decode(%s, %s)" % (codec, rng.choice(
            ["'strict'", "'ignore'", "'replace'"])),
            "len(s.decode(%s))" % codec, "s.decode(%s).encode(%s)" % (codec, codec),
            "runicode.str_decode_utf_8(s, len(s), 'strict')[0]",
            "runicode.str_decode_utf_8(s, len(s), '%s', final=%s)" % (
                rng.choice(["strict", "ignore", "replace"]), rng.choice(["True", "False"])),
            "runicode.str_decode_utf_8(s, len(s), 'strict', final=True, allow_surrogates=%s)[0]" % rng.choice(
                ["True", "False"]),
            "runicode.str_decode_%s(s, len(s), '%s')[0]" % (rng.choice(
                ["latin_1", "ascii", "utf_16", "utf_32", "utf_16_le", "utf_7", "raw_unicode_escape"]), rng.choice(["strict", "ignore", "replace"])),
            "rutf8.check_utf8(s, %s)" % rng.choice(["True", "False"]),
            "rutf8.codepoints_in_utf8(s)", "rutf8.check_ascii(s)", "rutf8.has_surrogates(s)",
            "unicode(s)", "unicode(s, 'utf-8')", "s.decode()", "u'x' + s.decode(%s)" % codec])
        args = [[quoted(b)] for b in rng.sample(BYTES, 12)]
    else:
        params = "u"
        value = rng.choice(["u.encode(%s)" % codec, "u.encode(%s, %s)" % (codec, rng.choice(
            ["'strict'", "'ignore'", "'replace'"])), "str(u)", "u.encode(%s).decode(%s)" % (codec, codec),
            "runicode.unicode_encode_utf_8(u, len(u), 'strict', allow_surrogates=%s)" % rng.choice(["True", "False"]),
            "runicode.unicode_encode_utf_8(u, len(u), 'strict')",
            "runicode.unicode_encode_utf_8(u, len(u), '%s')" % rng.choice(["ignore", "replace"]),
            "runicode.unicode_encode_%s(u, len(u), '%s')" % (rng.choice(["latin_1", "ascii", "utf_16", "utf_32_be", "utf_7", "unicode_escape", "raw_unicode_escape"]),
                                                        rng.choice(["strict", "ignore", "replace"])),
            "len(u)", "[ord(c) for c in u]", "ord(u[0])", "u[0]", "u + u", "hash(u) == 0", "u[1:]", "u.lower()",
            "rutf8.unichr_as_utf8(ord(u[0]))", "rutf8.unichr_as_utf8(r_uint(ord(u[0])), True)", "u == u'abc'"])
        args = [[p] for p in POINTS]
    return function(caught(rng, value, ERRORS), params), args


def formats(rng):
    pieces = []
    values = []
    for _ in range(rng.choice([1, 1, 2, 3])):
        code = rng.choice(["%s", "%d", "%x", "%r", "%c", "%o", "%f", "%%", "%i", "%5d", "%.2f", "%X", "%g", "%u",
                           "%02x", "%-5s", "%e", "%.3s", "%8s"])
        pieces.append(rng.choice(["", "a", " "]) + code)
        if code != "%%":
            values.append(rng.choice(["i", "s", "x", "c", "b", "u", "None", "True", "i", "i", "l", "r_uint(i)"]))
    if rng.random() < 0.05:
        values.append("i")
    right = "(%s,)" % ", ".join(values) if len(values) != 1 or rng.random() < 0.5 else values[0]
    text = "%s'%s' %% %s" % ("u" if rng.random() < 0.15 else "", "".join(pieces), right)
    body = ["c = s[0]", "b = i > 3", "u = u'uni' + unichr(i & 127)", "l = [i]", "return " + text]
    args = [["'ab'", str(rng.choice([0, 1, -1, 255, 2**63 - 1, -2**63, 65])), rng.choice(["0.5", "1e20", "-2.0", "nan"])]
            for _ in range(4)]
    return function(body, "s, i, x"), args
