//! Modules of the shipped `rpython.rlib` about text and bits: codecs, UTF-8, regular
//! expressions, packed numbers, digests, random numbers.

use crate::support::check;

#[test]
fn codecs() {
    check(
        "
from rpython.rlib import runicode
def shown(u): return ','.join([hex(ord(c)) for c in u])
def bytes(*l): return ''.join([chr(n) for n in l])
def two(a, b, final):
    s = chr(a) + chr(b)
    u, pos = runicode.str_decode_utf_8(s, 2, 'replace', final)
    return shown(u) + ' ' + str(pos)
def four(a, b, c, d, errors):
    s = chr(a) + chr(b) + chr(c) + chr(d)
    try: u, pos = runicode.str_decode_utf_8(s, 4, errors, True)
    except UnicodeDecodeError: return 'UnicodeDecodeError'
    return shown(u)
def handler(errors, encoding, msg, s, start, end):
    return unicode('%s %d-%d' % (msg, start, end)), end
def handled(a, b):
    s = 'x' + chr(a) + chr(b) + 'y'
    return str(runicode.str_decode_utf_8(s, 4, 'x', True, handler)[0])
def encoded(code, which, errors):
    u = u'a' + unichr(code)
    try:
        if which == 8: s = runicode.unicode_encode_utf_8(u, 2, errors)
        elif which == 16: s = runicode.unicode_encode_utf_16_le(u, 2, errors)
        elif which == 32: s = runicode.unicode_encode_utf_32_be(u, 2, errors)
        elif which == 1: s = runicode.unicode_encode_latin_1(u, 2, errors)
        else: s = runicode.unicode_encode_ascii(u, 2, errors)
    except UnicodeEncodeError: return 'UnicodeEncodeError'
    return ' '.join([hex(ord(c)) for c in s])
def wide(a, b, c, d):
    s = chr(a) + chr(b) + chr(c) + chr(d)
    return shown(runicode.str_decode_utf_16(s, 4, 'replace')[0])
def ascii(code, errors):
    try: return shown(runicode.str_decode_ascii('a' + chr(code), 2, errors)[0])
    except UnicodeDecodeError: return 'UnicodeDecodeError'
",
        r#"
        two(195, 169, 1) == "0xe9 2"
        two(97, 195, 1) == "0x61,0xfffd 2"
        two(97, 195, 0) == "0x61 1"
        two(192, 128, 1) == "0xfffd,0xfffd 2"
        four(240, 159, 152, 128, 'strict') == "0x1f600"
        four(237, 160, 128, 97, 'replace') == "0xfffd,0xfffd,0xfffd,0x61"
        four(240, 159, 65, 66, 'replace') == "0xfffd,0x41,0x42"
        four(240, 159, 65, 66, 'ignore') == "0x41,0x42"
        four(97, 97, 97, 255, 'strict') == "UnicodeDecodeError"
        handled(255, 97) == "xinvalid start byte 1-2ay"
        handled(226, 130) == "xinvalid continuation byte 1-3y"
        encoded(8364, 8, 'strict') == "0x61 0xe2 0x82 0xac"
        encoded(55296, 8, 'strict') == "UnicodeEncodeError"
        encoded(55296, 8, 'replace') == "0x61 0x3f"
        encoded(128512, 16, 'strict') == "0x61 0x0 0x3d 0xd8 0x0 0xde"
        encoded(128512, 32, 'strict') == "0x0 0x0 0x0 0x61 0x0 0x1 0xf6 0x0"
        encoded(233, 1, 'strict') == "0x61 0xe9"
        encoded(256, 1, 'ignore') == "0x61"
        encoded(233, 7, 'strict') == "UnicodeEncodeError"
        wide(255, 254, 97, 0) == "0x61"
        wide(254, 255, 0, 97) == "0x61"
        wide(61, 216, 0, 222) == "0x1f600"
        ascii(98, 'strict') == "0x61,0x62"
        ascii(200, 'replace') == "0x61,0xfffd"
        ascii(200, 'strict') == "UnicodeDecodeError"
        "#,
    );
}

#[test]
fn utf8() {
    check(
        r"
from rpython.rlib import rutf8
def one(code):
    s = 'a' + rutf8.unichr_as_utf8(code) + 'b'
    end = rutf8.next_codepoint_pos(s, 1)
    same = rutf8.codepoint_at_pos(s, 1) == code == rutf8.codepoint_before_pos(s, end)
    return same * 100 + end * 10 + rutf8.check_utf8(s, False)
def out_of_range(code, surrogates):
    try: return len(rutf8.unichr_as_utf8(code, surrogates))
    except rutf8.OutOfRange: return -1
def checked(a, b, c):
    try: return rutf8.check_utf8('x' + chr(a) + chr(b) + chr(c), False)
    except rutf8.CheckError as e: return -e.pos
def built(n):
    b = rutf8.Utf8StringBuilder()
    b.append_code(0x20ac)
    b.append('xyz')
    b.append_multiple_char('\xc3\xa9', n)
    total = 0
    for code, pos in rutf8.Utf8StringPosIterator(b.build()): total += code * pos
    return b.getlength() * 100000 + total
def indexed(n):
    text = '\xe2\x82\xacab' * n
    length = rutf8.codepoints_in_utf8(text)
    places = rutf8.create_utf8_index_storage(text, length)
    for i in range(length):
        pos = rutf8.codepoint_position_at_index(text, places, i)
        if rutf8.codepoint_index_at_byte_position(text, places, pos, length) != i: return -i
    return length
",
        "
        one(65) == 123
        one(233) == 133
        one(8364) == 143
        one(128512) == 153
        out_of_range(1114112, 1) == -1
        out_of_range(55296, 0) == -1
        out_of_range(55296, 1) == 3
        checked(97, 98, 99) == 4
        checked(97, 98, 195) == -3
        checked(226, 130, 172) == 2
        checked(237, 160, 128) == -1
        checked(97, 255, 97) == -2
        built(2) == 604716
        indexed(100) == 300
        ",
    );
}

#[test]
fn regular_expressions() {
    check(
        r#"
from rpython.rlib.rsre import rsre_core, rsre_re as re
from rpython.rlib.rsre.rpy import get_code
PAIR = get_code(r'(\w+)=(\d+|"[^"]*")')
GREEK = get_code(u'[\u03b1-\u03c9]+')
def span(text):
    m = re.search('a(b|c)*?d', text)
    if m is None: return 'none'
    return '%d %d %d' % (m.start(), m.end(), m.start(1))
def words(text): return '|'.join(re.findall(r'\b[a-z]\w*', text))
def replaced(text): return re.sub(r'(\d)(\d)', r'\2<\g<1>>', text)
def groups(text):
    m = re.match('(?P<sign>[-+])?(?P<digits>[0-9]+)(?:\\.([0-9]*))?$', text)
    if m is None: return 'none'
    return '|'.join(m.groups('?')) + '|' + m.groupdict('?')['digits']
def around(text):
    m = re.search('(?<=[.])(?!x)(?:(?i)abc|(.)\\1)', text)
    return -1 if m is None else m.start()
def context(text, start):
    ctx = rsre_core.StrMatchContext(text, start, len(text))
    if not rsre_core.match_context(ctx, PAIR): return 'none'
    return '%s;%s;%d' % (ctx.group(1), ctx.group(2), ctx.match_end)
def greek():
    ctx = rsre_core.search(GREEK, u'ab\u03b1\u03b2c')
    if ctx is None: return -1
    return ctx.match_start * 10 + ctx.match_end
def full(text): return rsre_core.fullmatch(PAIR, text) is not None
def pathological(n): return re.match('(?:a*)*b', 'a' * n) is None
"#,
        r#"
        span('xxabcbd') == "2 7 5"
        span('ad') == "0 2 -1"
        span('abc') == "none"
        words('one Two three_3') == "one|three_3"
        replaced('12x345') == "2<1>x4<3>5"
        groups('-12.5') == "-|12|5|12"
        groups('7') == "?|7|?|7"
        groups('a') == "none"
        around('.xx.ABC') == 4
        around('xx.yy') == 3
        around('.xy') == -1
        context('key=12 b', 0) == "key;12;6"
        context('  k=77 ', 2) == "k;77;6"
        context('key', 0) == "none"
        greek() == 24
        full('a=1') == true
        full('a=1 ') == false
        pathological(12) == true
        "#,
    );
}

#[test]
fn splitting() {
    check(
        r"
from rpython.rlib.rsre import rsre_re as re
def parts(text): return '|'.join(re.split(r'\s*;\s*', text))
",
        "
        parts('a ; b;c') == \"a|b|c\"
        parts('abc') == \"abc\"
        ",
    );
}

#[test]
fn packed_numbers() {
    check(
        r"
from rpython.rlib.rarithmetic import intmask
from rpython.rlib.rstruct.error import StructError
from rpython.rlib.rstruct.ieee import float_pack, float_unpack
from rpython.rlib.rstruct.runpack import runpack
def mixed(a):
    x, y, z = runpack('<ihB', chr(a) + '\x00\x00\x80\xff\xff\x07')
    return [x, y, z]
def aligned():
    x, y = runpack('bi', 'a\x00\x00\x00\x02\x00\x00\x00')
    return x * 10 + y
def strings():
    s, c = runpack('3sc', 'abcd')
    return c + s
def double(): return runpack('>d', '\x3f\xf8' + '\x00' * 6)
def wrong(n):
    try: return runpack('<h', 'x' * n)
    except StructError: return -1
def packed(x, size): return intmask(float_pack(x, size))
def there_and_back(x, size): return float_unpack(float_pack(x, size), size)
",
        "
        mixed(1) == [-2147483647,-1,7]
        aligned() == 972
        strings() == \"dabc\"
        double() == 1.5
        wrong(3) == -1
        wrong(2) == 30840
        packed(1.5, 4) == 1069547520
        packed(0.1, 2) == 11878
        packed(1e-40, 4) == 71362
        packed(1e300, 4) raises OverflowError
        there_and_back(-0.1, 8) == -0.1
        there_and_back(65504.0, 2) == 65504.0
        there_and_back(3e-46, 4) == 0.0
        ",
    );
}

#[test]
fn digests_and_random_numbers() {
    check(
        r"
from rpython.rlib import rmd5, rsha, rsiphash
from rpython.rlib.rarithmetic import intmask, r_uint
from rpython.rlib.rrandom import Random
def md5(text, times):
    d = rmd5.new(text)
    for _ in range(times): d.update(text)
    assert d.copy().digest() == d.digest()
    return d.hexdigest()
def sha(text, times):
    d = rsha.new(text)
    for _ in range(times): d.update(text)
    return d.hexdigest()
def sip(n):
    text = ''.join([chr(i) for i in range(n)])
    return intmask(rsiphash.siphash24_with_key(text, 0x0706050403020100, 0x0f0e0d0c0b0a0908))
def words(seed, jump):
    r = Random(r_uint(seed))
    first = intmask(r.genrand32())
    r.jumpahead(jump)
    return [first, intmask(r.genrand32())]
def by_array(n):
    r = Random()
    r.init_by_array([r_uint(i) for i in range(n)])
    return r.random()
",
        "
        md5('', 0) == \"d41d8cd98f00b204e9800998ecf8427e\"
        md5('123', 100) == \"57628378eaf38d65d5e562372c7f8134\"
        sha('', 0) == \"da39a3ee5e6b4b0d3255bfef95601890afd80709\"
        sha('123', 100) == \"5589b5d21168f7b2c59077542b646ca65b1880cc\"
        sip(15) == -6833708440360172059
        words(0, 10) == [2357136044,2341495689]
        by_array(3) == 0.2100750248198734
        ",
    );
}

#[test]
fn spelled_out_codecs() {
    check(
        "
from rpython.rlib.runicode import *
from rpython.rlib.runicode import unicode_encode_unicode_escape as escaped
class Names(object):
    def call(self, name):
        if name == 'SPACE': return 32
        return -1
names = Names()
TABLE = {'a': u'xy', 'b': u'\\u1234'}
BACK = {u'x': 'AB', u'y': 'C'}
def shown(u): return escaped(u, len(u), 'strict')
def utf_7(s, final):
    u, pos = str_decode_utf_7(s, len(s), 'replace', final)
    return shown(u) + ' ' + str(pos)
def escape(s):
    u, pos = str_decode_unicode_escape(s, len(s), 'replace', True, None, names)
    return shown(u)
def raw(s): return shown(str_decode_raw_unicode_escape(s, len(s), 'replace', True)[0])
def table(s): return shown(str_decode_charmap(s, len(s), 'ignore', True, None, TABLE)[0])
def to_7(u): return unicode_encode_utf_7(u, len(u), 'strict')
def to_raw(u): return unicode_encode_raw_unicode_escape(u, len(u), 'strict')
def to_table(u): return unicode_encode_charmap(u, len(u), 'ignore', None, BACK)
def to_digits(u): return unicode_encode_decimal(u, len(u), 'ignore')
def internal(u):
    s = unicode_encode_unicode_internal(u, len(u), 'strict')
    return shown(str_decode_unicode_internal(s, len(s), 'strict')[0])
def wide(s):
    u, pos = str_decode_utf_16_be(s, len(s), 'replace', True)
    return shown(u) + ' ' + str(pos)
def strict(u):
    try: return py3k_unicode_encode_utf_16_le(u, len(u), 'strict', None, False)
    except UnicodeEncodeError: return 'refused'
",
        r#"
        utf_7('a+AGE-b+-+2D3cAA', True) == "aab+\\U0001f400 16"
        utf_7('x+AG', False) == "x 1"
        utf_7('x+AG', True) == "x\\ufffd 4"
        utf_7('+A.x', True) == "\\ufffdx 4"
        escape('\\n\\x41\\u1234\\7\\0123\\N{SPACE}\\N{X}\\x4') == "\\nA\\u1234\\x07\\n3 \\ufffd\\ufffd"
        raw('\\u0041\\\\u0041\\x') == "A\\\\\\\\u0041\\\\x"
        table('abc') == "xy\\u1234"
        to_7(u'xy+z\u1234\U00012345-a') == "xy+-z+EjTYCN9F--a"
        to_raw(u'\xe9\u1234') == "é\\u1234"
        to_table(u'xyz') == "ABC"
        to_digits(u'\u0663\xa0a\u4000') == "3 a"
        internal(u'a\U00012345') == "a\\U00012345"
        wide('\xdc\0') == "\\ufffd 2"
        wide('\xd8\0\0a') == "\\ufffda 4"
        strict(u'\ud800') == "refused"
        "#,
    );
}

#[test]
fn patterns_in_the_format_of_sre() {
    check(
        "
from rpython.rlib.rsre.rsre_char import MAXREPEAT
from rpython.rlib.rsre.rsre_constants import *
from rpython.rlib.rsre.rsre_core import CompiledPattern, Error, StrMatchContext, search, specializectx
@specializectx
def piece(ctx, start, end):
    if isinstance(ctx, StrMatchContext): return ctx._string[start:end]
    return 'unicode'
def found(code, text):
    try: ctx = search(CompiledPattern(code, 0), text)
    except Error as e: return e.msg
    if ctx is None: return ''
    start, end = ctx.span(0)
    assert 0 <= start <= end
    return piece(ctx, start, end) + ' '.join([str(i) for i in ctx.flatten_marks()])
# (ab|c)*x
LOOP = [OPCODE_REPEAT, 21, 0, MAXREPEAT, OPCODE_MARK, 0, OPCODE_BRANCH, 7, OPCODE_LITERAL, 97,
        OPCODE_LITERAL, 98, OPCODE_JUMP, 7, 5, OPCODE_LITERAL, 99, OPCODE_JUMP, 2, 0,
        OPCODE_MARK, 1, OPCODE_MAX_UNTIL, OPCODE_LITERAL, 120, OPCODE_SUCCESS]
def loop(text): return found(LOOP, text)
def marks(text):
    ctx = search(CompiledPattern(LOOP, 0), text)
    seen, mark = [], ctx.match_marks
    while mark is not None:
        seen.append('%d at %d' % (mark.gid, mark.position))
        mark = mark.prev
    return ', '.join(seen)
# [^a-c0]+?$
def negated(text):
    return found([OPCODE_MIN_REPEAT_ONE, 13, 1, MAXREPEAT, OPCODE_IN, 8, OPCODE_NEGATE, OPCODE_RANGE,
                  97, 99, OPCODE_LITERAL, 48, OPCODE_FAILURE, OPCODE_SUCCESS, OPCODE_AT, AT_END,
                  OPCODE_SUCCESS], text)
# the same letter twice, not in front of a digit
def doubled(text):
    return found([OPCODE_MARK, 0, OPCODE_IN, 11, OPCODE_CHARSET, 0, 0, 0, 0x7fffffe, 0, 0, 0, 0,
                  OPCODE_FAILURE, OPCODE_MARK, 1, OPCODE_GROUPREF, 0, OPCODE_ASSERT_NOT, 8, 0,
                  OPCODE_IN, 4, OPCODE_CATEGORY, CATEGORY_DIGIT, OPCODE_FAILURE, OPCODE_SUCCESS,
                  OPCODE_SUCCESS], text)
def wrong(op): return found([op, 0], 'x')
",
        r#"
        loop('-abcabx') == "abcabx1 7 4 6"
        loop('abc') == ""
        marks('abcx') == "1 at 3, 0 at 2, 1 at 2, 0 at 0"
        marks('x') == ""
        negated('xa-yz') == "-yz2 5"
        doubled('xx1 yy') == "yy4 6 4 5"
        wrong(11) == "unknown operation of a regular expression"
        "#,
    );
}

#[test]
fn words_of_unicode() {
    check(
        r"
import gc
from rpython.rlib import rgc
from rpython.rlib.rstring import rsplit, split
def words(s, most): return '|'.join(split(s, None, most, 1))
def last_words(s, most): return '|'.join(rsplit(s, None, most, 1))
def wide(u): return len(split(u))
def collector():
    gc.disable()
    off = rgc.isenabled()
    rgc.enable()
    return gc.isenabled() and not off
",
        r#"
        words('b\xe1\x9a\x80b  c ', -1) == "b|b|c"
        words(' a b c ', 1) == "a|b c "
        last_words(' a b\xe3\x80\x80c d', 2) == " a b|c|d"
        last_words('a b c ', 1) == "a b|c"
        last_words(' a b', 0) == " a b"
        wide(u'a\u3000b c') == 3
        collector() == true
        "#,
    );
}

#[test]
fn a_string_that_is_not_split_is_the_same() {
    check(
        "
def split(s): return s.split('d')[0] is s, s.rsplit('d')[0] is s, s.split('dd')[0] is s
",
        "
        split('abc') == [true,true,true]
        split('abcd') == [false,false,true]
        ",
    );
}

#[test]
fn functions_of_contexts_of_any_class() {
    check(
        "
from rpython.rlib.rsre import rsre_core
@rsre_core.specializectx
def piece(ctx, a, b):
    if isinstance(ctx, rsre_core.StrMatchContext):
        return ctx._string[a:b]
    if isinstance(ctx, rsre_core.UnicodeMatchContext):
        return ctx._unicodestr[a:b].encode('ascii')
    return '?'
def pieces(n):
    ctx = rsre_core.StrMatchContext('abcdef', 0, 6)
    if n > 3:
        ctx = rsre_core.UnicodeMatchContext(u'ghijkl', 0, 6)
    return piece(ctx, 1, 3) + piece(rsre_core.StrMatchContext('xyz', 0, 3), 0, 2)
",
        "
        pieces(1) == \"bcxy\"
        pieces(5) == \"hixy\"
        ",
    );
}

#[test]
fn grammars_with_quotes_in_tokens() {
    check(
        r#"
from rpython.rlib.parsing.ebnfparse import make_parse_function, parse_ebnf
grammar = """
QUOTED: "\\"[^\\\\"]*\\"";
NUMBER: "[0-9]+";
IGNORE: " ";
main: >item*< [EOF];
item: <QUOTED> | <NUMBER>;
"""
regexs, rules, Transformer = parse_ebnf(grammar)
parse = make_parse_function(regexs, rules, eof=True)
def tokens(text):
    tree = Transformer().transform(parse(text))
    return [t.token.source for t in tree.children]
"#,
        r#"
        tokens('12 "a b" 7') == ["12","\"a b\"","7"]
        "#,
    );
}

/// Lists of characters, and characters in UTF-8, where strings are taken apart; bounds that
/// count from the end.
#[test]
fn characters_in_lists() {
    check(
        "
from rpython.rlib import rstring
def lists(n):
    l = ['a', 'b', 'a', 'b', 'c'] + ['x'] * n
    replaced, k = rstring.replace_count(l, 'ab', ['z', 'y', 'z'])
    spread, m = rstring.replace_count(l, '', '-', 3)
    parts = [''.join(p) for p in rstring.split(l, 'b')]
    last = [''.join(p) for p in rstring.rsplit(l, 'b', 1)]
    return ''.join(replaced), k, ''.join(spread), m, parts, last
def utf8(n): return rstring.replace_count('\\xc3\\xa9b', '', '.', n, True)
def ends(n):
    return (rstring.startswith('abcd', 'cd', -2), rstring.endswith('abcd', 'b', 0, -n),
            rstring.endswith('abcd', 'd', -9), rstring.startswith('abcd', 'ab', 0, -3))
",
        r#"
        lists(2) == ["zyzzyzcxx",2,"-a-b-abcxx",3,["a","a","cxx"],["aba","cxx"]]
        utf8(-1) == [".Ã©.b.",3]
        utf8(2) == [".Ã©.b",2]
        ends(2) == [true,true,true,false]
        "#,
    );
}

/// What is expected here was computed by the original's databases.
#[test]
fn characters_of_several_versions() {
    check(
        r#"
from rpython.rlib.unicodedata import unicodedb
from rpython.rlib.unicodedata import (unicodedb_3_2_0, unicodedb_5_2_0, unicodedb_9_0_0,
    unicodedb_11_0_0, unicodedb_12_1_0, unicodedb_13_0_0, unicodedb_14_0_0)
from rpython.rlib.unroll import unrolling_iterable
versions = unrolling_iterable([unicodedb_3_2_0, unicodedb_5_2_0, unicodedb_9_0_0,
    unicodedb_11_0_0, unicodedb_12_1_0, unicodedb_13_0_0, unicodedb_14_0_0])
questions = unrolling_iterable([(name, getattr(unicodedb_14_0_0, name)) for name in [
    'isspace', 'isalpha', 'islinebreak', 'isnumeric', 'isdigit', 'isdecimal', 'isalnum',
    'isupper', 'istitle', 'islower', 'iscased', 'isxidstart', 'isxidcontinue',
    'isprintable', 'mirrored', 'iscaseignorable']])
def category(code): return ' '.join([db.category(code) for db in versions])
def width(code):
    db = unicodedb_9_0_0
    return db.bidirectional(code) + ' ' + db.east_asian_width(code)
def answers(code): return ' '.join([name for name, ask in questions if ask(code)])
def upper(code): return [unicodedb_5_2_0.isupper(code), unicodedb_9_0_0.isupper(code)]
def value(code):
    db, texts = unicodedb_14_0_0, []
    try: texts.append(str(db.decimal(code)))
    except KeyError: texts.append('-')
    try: texts.append(str(db.digit(code)))
    except KeyError: texts.append('-')
    try: texts.append(str(int(db.numeric(code) * 100)))
    except KeyError: texts.append('-')
    return ' '.join(texts)
def case(code):
    db = unicodedb_14_0_0
    return [db.toupper(code), db.tolower(code), db.totitle(code)]
def full(code):
    db = unicodedb_12_1_0
    return [db.toupper_full(code), db.tolower_full(code), db.totitle_full(code)]
def folds(code):
    return [unicodedb_3_2_0.casefold_lookup(code), unicodedb_13_0_0.casefold_lookup(code)]
def consists(code):
    db = unicodedb_11_0_0
    return (db.decomposition(code), db.canon_decomposition(code),
            db.compat_decomposition(code), db.combining(code))
def together(a, b): return unicodedb_14_0_0.composition(a, b)
def beyond(code):
    try: return unicodedb_5_2_0.tolower(code)
    except KeyError: return -9
def regular(code): return unicodedb is unicodedb_5_2_0 and unicodedb.isspace(code)
def name(code, new):
    try: return unicodedb_14_0_0.name(code) if new else unicodedb_5_2_0.name(code)
    except KeyError: return '-'
def named(text): return [code_of(db, text) for db in versions]
def alias(text):
    return [unicodedb_13_0_0.lookup_with_alias(text), code_of(unicodedb_13_0_0, text)]
def code_of(db, text):
    try: return db.lookup(text)
    except KeyError: return -1
code_of._annspecialcase_ = 'specialize:arg(0)'
def sequence(text):
    code = unicodedb_13_0_0.lookup(text, with_named_sequence=True)
    text = unicodedb_13_0_0.lookup_named_sequence(code)
    assert text is not None
    return [code, unicodedb_13_0_0.lookup_named_sequence_length(code), len(text)]
"#,
        r#"
        category(65) == "Lu Lu Lu Lu Lu Lu Lu"
        category(0x32ff) == "Cn Cn Cn Cn So So So"
        category(0x20b9) == "Cn Cn Sc Sc Sc Sc Sc"
        category(0x1f970) == "Cn Cn Cn So So So So"
        category(0x1fac3) == "Cn Cn Cn Cn Cn Cn So"
        category(0x10ffff) == "Cn Cn Cn Cn Cn Cn Cn"
        width(0x3042) == "L W"
        width(0x5d0) == "R N"
        width(0x2fe0) == " N"
        answers(32) == "isspace isprintable"
        answers(0x85) == "isspace islinebreak"
        answers(95) == "isxidcontinue isprintable"
        answers(65) == "isalpha isalnum isupper iscased isxidstart isxidcontinue isprintable"
        answers(0x1c5) == "isalpha isalnum istitle iscased isxidstart isxidcontinue isprintable"
        answers(0xb2) == "isnumeric isdigit isalnum isprintable"
        answers(0x661) == "isnumeric isdigit isdecimal isalnum isxidcontinue isprintable"
        answers(0x4e00) == "isalpha isnumeric isalnum isxidstart isxidcontinue isprintable"
        answers(0x28) == "isprintable mirrored"
        answers(0x301) == "isxidcontinue isprintable iscaseignorable"
        answers(0xd800) == ""
        upper(0x24b6) == [false,true]
        value(0x37) == "7 7 700"
        value(0x2468) == "- 9 900"
        value(0xbd) == "- - 50"
        value(0x5146) == "- - 100000000000000"
        value(0x61) == "- - -"
        case(0x1c5) == [452,454,453]
        case(0x3b1) == [913,945,913]
        case(0x10d0) == [7312,4304,4304]
        case(0x1e900) == [125184,125218,125184]
        full(0xdf) == [[83,83],[223],[83,115]]
        full(0x130) == [[304],[105,775],[304]]
        full(0xfb03) == [[70,70,73],[64259],[70,102,105]]
        folds(1010) == [[963],[1010]]
        folds(7838) == [[7838],[115,115]]
        folds(0x13a0) == [[5024],[5024]]
        folds(0xab70) == [[43888],[5024]]
        consists(0x1e69) == ["1E63 0307",[115,803,775],[115,803,775],0]
        consists(0xfb03) == ["<compat> 0066 0066 0069",[],[102,102,105],0]
        consists(0x2f801) == ["4E38",[20024],[20024],0]
        consists(0x301) == ["",[],[],230]
        consists(0x61) == ["",[],[],0]
        together(101, 770) == 234
        together(69938, 69927) == 69935
        together(101, 101) raises KeyError
        together(0x115b9, 0x115af) == 71099
        beyond(0x41) == 97
        beyond(0x110000) == -9
        regular(0x2003) == true
        name(0x41, 1) == "LATIN CAPITAL LETTER A"
        name(0x32ff, 0) == "-"
        name(0x32ff, 1) == "SQUARE ERA NAME REIWA"
        name(0xd55c, 0) == "HANGUL SYLLABLE HAN"
        name(0x9faa, 0) == "CJK UNIFIED IDEOGRAPH-9FAA"
        name(0xf901, 1) == "CJK COMPATIBILITY IDEOGRAPH-F901"
        name(0x0, 1) == "-"
        name(0x18b00, 1) == "KHITAN SMALL SCRIPT CHARACTER-18B00"
        named('GOTHIC LETTER FAIHU') == [66374,66374,66374,66374,66374,66374,66374]
        named('SQUARE ERA NAME REIWA') == [-1,-1,-1,-1,13055,13055,13055]
        named('TOTO LETTER PA') == [-1,-1,-1,-1,-1,-1,123536]
        named('HANGUL SYLLABLE SSYELM') == [50118,50118,50118,50118,50118,50118,50118]
        named('HANGUL SYLLABLE XA') == [-1,-1,-1,-1,-1,-1,-1]
        named('CJK UNIFIED IDEOGRAPH-30000') == [-1,-1,-1,-1,-1,196608,196608]
        named('CJK COMPATIBILITY IDEOGRAPH-F901') == [63745,63745,63745,63745,63745,63745,63745]
        named('LATIN SMALL LETTER GHA') == [-1,-1,-1,-1,-1,-1,-1]
        named('') == [-1,-1,-1,-1,-1,-1,-1]
        alias('LATIN SMALL LETTER GHA') == [419,-1]
        alias('LATIN SMALL LETTER OI') == [419,419]
        alias('NULL') == [0,-1]
        sequence('KEYCAP DIGIT FIVE') == [983559,3,7]
        "#,
    );
}

#[test]
fn characters_at_import_time() {
    check(
        r#"
import unicodedata
from rpython.rlib.rsre import rsre_char
from rpython.rlib.unicodedata import unicodedb_9_0_0
rsre_char.set_unicode_db(unicodedb_9_0_0)
LETTERS = [unicodedata.lookup('greek small letter ' + n) for n in ['alpha', 'omega']]
TEXTS = [unicodedata.name(LETTERS[0]), unicodedata.name(u'\0', 'none')]
NORMAL = [[ord(u) for u in unicodedata.normalize(form, text)] for form, text in [
    ('NFKD', u'\ufb01\u1e69'), ('NFC', u's\u0307\u0323\u1112\u1161\u11ab')]]
def letters(): return [ord(u) for u in LETTERS]
def texts(i): return TEXTS[i]
def normal(i): return NORMAL[i]
def matched(code):
    return [rsre_char.is_uni_word(code), rsre_char.is_uni_space(code),
            rsre_char.getlower_unicode(code) != code]
"#,
        r#"
        letters() == [945,969]
        texts(0) == "GREEK SMALL LETTER ALPHA"
        texts(1) == "none"
        normal(0) == [102,105,115,803,775]
        normal(1) == [7785,54620]
        matched(0x410) == [true,false,true]
        matched(0x2003) == [false,true,false]
        matched(0x2190) == [false,false,false]
        "#,
    );
}

/// Escapes that name characters, or leave those that can be printed.
#[test]
fn characters_in_escapes() {
    check(
        r#"
from rpython.rlib import runicode, rutf8
from rpython.rlib.rarithmetic import r_uint
from rpython.rlib.unicodedata import unicodedb_13_0_0 as db
class Handler(object):
    def call(self, name):
        try: return db.lookup(name)
        except KeyError: return -1
handler = Handler()
escape, _ = runicode.make_unicode_escape_function(pass_printable=True, unicode_output=True,
                                                  quotes=True)
escape8 = rutf8.make_utf8_escape_function(pass_printable=True, quotes=True,
                                          unicodedb=db)
def named(s):
    u, pos = runicode.str_decode_unicode_escape(s, len(s), 'replace', True, None, handler)
    return [ord(c) for c in u]
def escaped(code):
    u = u'a' + unichr(code)
    return [ord(c) for c in escape(u, len(u), 'strict')]
def escaped8(code):
    return [ord(c) for c in escape8(rutf8.unichr_as_utf8(r_uint(code)))]
"#,
        r#"
        named('x\\N{GREEK SMALL LETTER ALPHA}\\N{NOTHING}') == [120,945,65533]
        escaped(0x3b1) == [39,97,945,39]
        escaped(0x200b) == [39,97,92,117,50,48,48,98,39]
        escaped8(0x3b1) == [39,206,177,39]
        escaped8(0x200b) == [39,92,117,50,48,48,98,39]
        "#,
    );
}

/// Halves of pairs: `decode()` takes them, what encodes strictly does not, even if both are there.
#[test]
fn surrogates() {
    check(
        "
from rpython.rlib import runicode
def decoded(s): return [ord(c) for c in s.decode('utf-8')]
def pair(n): return unichr(0xd83d + n) + unichr(0xde00)
def strict(n):
    u = pair(n)
    return runicode.unicode_encode_utf_8(u, len(u), 'strict')
def replaced(n):
    u = pair(n)
    return runicode.unicode_encode_utf_8(u, len(u), 'replace')
def joined(n):
    u = pair(n)
    return runicode.unicode_encode_utf_8(u, len(u), 'strict', allow_surrogates=True)
def caught(s, t):
    try: return s.split(t)
    except IndexError: return [s]
",
        "
        decoded('\\xed\\xa0\\x80') == [55296]
        decoded('\\xed\\xb0\\x80a') == [56320,97]
        decoded('\\xf5\\x80\\x80\\x80') raises UnicodeDecodeError
        strict(0) raises UnicodeEncodeError
        replaced(0) == \"??\"
        joined(0) == \"ð\u{9f}\u{98}\u{80}\"
        caught('a--b', '--') == [\"a\",\"b\"]
        ",
    );
}

#[test]
fn tables_of_formats() {
    check(
        r#"
from rpython.rlib.mutbuffer import MutableStringBuffer
from rpython.rlib.objectmodel import specialize
from rpython.rlib.rarithmetic import r_uint
from rpython.rlib.rstruct.error import StructError
from rpython.rlib.rstruct.nativefmttable import native_fmttable
from rpython.rlib.rstruct.standardfmttable import standard_fmttable

class Packer(object):
    def __init__(self, size, bigendian):
        self.wbuf = MutableStringBuffer(size)
        self.pos = 0
        self.bigendian = bigendian
        self.int, self.float, self.text = 0, 0.0, ''
    def advance(self, count): self.pos += count
    def accept_int_arg(self): return self.int
    def accept_uint_arg(self): return r_uint(self.int)
    def accept_bool_arg(self): return bool(self.int)
    def accept_float_arg(self): return self.float
    def accept_str_arg(self): return self.text
    def accept_unicode_arg(self): return self.text, 1

class Unpacker(object):
    def __init__(self, text, bigendian):
        self.text = text
        self.bigendian = bigendian
        self.result = ''
    def read(self, count): return self.text[:count]
    @specialize.argtype(1)
    def appendobj(self, value):
        if isinstance(value, str): self.result = value
        elif isinstance(value, bool): self.result = 'yes' if value else 'no'
        else: self.result = str(value)
    def append_utf8(self, code): self.result = 'U+%x' % code

def bytes(packer):
    return ' '.join(['%x' % ord(c) for c in packer.wbuf.finish()])

def both(pack, unpack, size, number, float, text, big):
    p = Packer(size, big)
    p.int, p.float, p.text = number, float, text
    try:
        if p.pos == 99: raise StructError('never here')
        pack(p)
    except StructError as e:
        return e.msg
    u = Unpacker(p.wbuf.finish(), big)
    unpack(u)
    return bytes(p) + ' = ' + u.result
both._annspecialcase_ = 'specialize:arg(0, 1)'

def make(table, code):
    entry = table[code]
    pack, unpack, size = entry['pack'], entry['unpack'], entry['size']
    def call(number, float, text, big): return both(pack, unpack, size, number, float, text, big)
    return call

PACK_S, UNPACK_S = standard_fmttable['s']['pack'], standard_fmttable['s']['unpack']
PACK_P, UNPACK_P = standard_fmttable['p']['pack'], standard_fmttable['p']['unpack']
def pack_s(p): PACK_S(p, 4)
def unpack_s(p): UNPACK_S(p, 4)
def pack_p(p): PACK_P(p, 4)
def unpack_p(p): UNPACK_P(p, 4)
def s_s(text): return both(pack_s, unpack_s, 4, 0, 0.0, text, False)
def s_p(text): return both(pack_p, unpack_p, 4, 0, 0.0, text, False)

def alignments():
    return native_fmttable['h']['alignment'] + 10 * native_fmttable['l']['alignment']

n_l, s_l, s_h, s_B = make(native_fmttable, 'l'), make(standard_fmttable, 'l'), make(standard_fmttable, 'h'), make(standard_fmttable, 'B')
n_Q, n_f, s_f, s_d, s_e = make(native_fmttable, 'Q'), make(native_fmttable, 'f'), make(standard_fmttable, 'f'), make(standard_fmttable, 'd'), make(standard_fmttable, 'e')
s_c, s_t, n_u = make(standard_fmttable, 'c'), make(standard_fmttable, '?'), make(native_fmttable, 'u')

def longs(n): return n_l(n, 0.0, '', False) + ', ' + s_l(n, 0.0, '', True)
def small(n): return s_h(n, 0.0, '', True) + ', ' + s_B(n, 0.0, '', False)
def unsigned(n): return n_Q(n, 0.0, '', True)
def floats(x): return s_f(0, x, '', True) + ', ' + s_e(0, x, '', True)
def doubles(x): return s_d(0, x, '', False)
def native(x): return n_f(0, x, '', True)
def texts(s): return s_c(0, 0.0, s, False) + ', ' + s_s(s) + ', ' + s_p(s)
def others(n, s): return s_t(n, 0.0, '', False) + ', ' + n_u(0, 0.0, s, False)
LAYOUT = alignments()
def layout(): return LAYOUT
"#,
        r#"
        longs(-2) == "fe ff ff ff ff ff ff ff = -2, ff ff ff fe = -2"
        longs(4294967296) == "0 0 0 0 1 0 0 0 = 4294967296, argument out of range for 4-bytes integer format"
        small(-1) == "ff ff = -1, argument out of range for 1-byte integer format"
        small(200) == "0 c8 = 200, c8 = 200"
        unsigned(-1) == "ff ff ff ff ff ff ff ff = 18446744073709551615"
        floats(1.5) == "3f c0 0 0 = 1.500000, 3e 0 = 1.500000"
        floats(1e300) == "float too large for format 'f', float too large for format 'e'"
        doubles(-1.5) == "0 0 0 0 0 0 f8 bf = -1.500000"
        native(1e300) == "7f 80 0 0 = inf"
        texts('a') == "61 = a, 61 0 0 0 = a\u0000\u0000\u0000, 1 61 0 0 = a"
        texts('abcdef') == "expected a string of length 1, 61 62 63 64 = abcd, 3 61 62 63 = abc"
        others(3, 'x') == "1 = yes, 78 0 0 0 = U+78"
        layout() == 82
        "#,
    );
}

/// Places are those of bytes; repetitions, references and what looks back count characters.
#[test]
fn patterns_in_utf8() {
    check(
        r#"
# -*- coding: utf-8 -*-
from rpython.rlib.rsre import rsre_utf8
from rpython.rlib.rsre.rpy import get_code
from rpython.rlib.rsre.rpy.sre_constants import OPCODES

WORDS = [get_code(p) for p in [
    ur'é{2}b', ur'(.)x\1', ur'(?<=.é)b', ur'(?<!é.)b', ur'.{2}?$', ur'[é-ü]+', ur'\bb', ur'^.$', ur'b*é']]

def find(which, text, start):
    ctx = rsre_utf8.utf8search(WORDS[which], text, start)
    if ctx is None: return 'none'
    return '%d-%d, %d' % (ctx.match_start, ctx.match_end, ctx.original_pos)
def match(which, text):
    ctx = rsre_utf8.utf8match(WORDS[which], text, fullmatch=True)
    if ctx is None: return 'none'
    return ctx.group(0)
OPERATIONS = OPCODES['failure'], OPCODES['literal'], OPCODES['min_repeat_one']
def operations(): return OPERATIONS
"#,
        r#"
        find(0, 'aééb', 0) == "1-6, 0"
        find(0, 'aéb', 0) == "none"
        find(1, 'éxe', 0) == "none"
        find(1, 'aéxé', 1) == "1-6, 1"
        find(2, 'éb', 0) == "none"
        find(2, 'aéb', 0) == "3-4, 0"
        find(3, 'éab', 0) == "none"
        find(3, 'aéb', 0) == "3-4, 0"
        find(4, 'aéü', 0) == "1-5, 0"
        find(5, 'aéüb', 0) == "1-5, 0"
        find(6, 'é b', 0) == "3-4, 0"
        match(7, 'é') == "Ã©"
        match(7, 'éé') == "none"
        match(8, 'bbé') == "bbÃ©"
        operations() == [0,19,31]
        "#,
    );
}

/// Opcodes of Python 3.11's `sre`, in an interpreter with that `CPYTHON_VERSION`.
#[test]
fn patterns_of_later_versions() {
    check(
        "
import sys, types
for name in ['pypy', 'pypy.module', 'pypy.module.sys', 'pypy.module.sys.version']:
    sys.modules[name] = types.ModuleType(name)
sys.modules['pypy.module.sys.version'].CPYTHON_VERSION = (3, 11, 9)
from rpython.rlib.rsre import rsre_core, rsre_constants as c
from rpython.rlib.rsre.rpy.sre_constants import OPCODES
MOST = 4294967295
ATOMIC = rsre_core.CompiledPattern([27, 9, 24, 6, 1, MOST, 16, 97, 1, 1, 16, 98, 1], 0)
POSSESSIVE = rsre_core.CompiledPattern([28, 7, 0, MOST, 16, 97, 16, 98, 1, 16, 97, 1], 0)
POSSESSIVE_ONE = rsre_core.CompiledPattern([29, 6, 1, 2, 16, 97, 1, 16, 97, 1], 0)
UNI = rsre_core.CompiledPattern([40, 0xe4, 39, 5, 22, 0xe0, 0xe2, 0, 1], 32)
ASCII = rsre_core.CompiledPattern([32, 107, 36, 75, 35, 4, 16, 75, 0, 1], 32)
BOUNDARY = rsre_core.CompiledPattern([6, 3, 1], 0)
def end(pattern, text):
    ctx = rsre_core.match(pattern, text)
    return -1 if ctx is None else ctx.match_end
def atomic(text): return end(ATOMIC, text)
def possessive(text): return end(POSSESSIVE, text)
def few(text): return end(POSSESSIVE_ONE, text)
def letters(): return end(UNI, u'\\xc4\\xc1'), end(UNI, u'\\xe4\\xe1'), end(UNI, u'\\xe4\\xe3'), end(ASCII, u'KkK')
def boundaries(text):
    ctx = rsre_core.StrMatchContext(text, 0, len(text))
    places = ''
    while rsre_core.search_context(ctx, BOUNDARY):
        places += str(ctx.match_start) + ' '
        ctx.reset(ctx.match_end, True)
    return places
def numbers(): return OPCODES['not_literal_uni_ignore'], OPCODES['min_repeat_one'], len(OPCODES)
",
        r#"
        atomic('aab') == 3
        atomic('b') == -1
        possessive('ababa') == 5
        possessive('abab') == -1
        few('aaa') == 3
        few('aa') == -1
        letters() == [2,2,-1,3]
        boundaries('a::bc') == "0 1 3 5 "
        numbers() == [41,26,43]
        "#,
    );
}
