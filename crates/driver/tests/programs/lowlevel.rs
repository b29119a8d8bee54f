//! Low-level code in user programs: `lltype`, `llmemory`, `rffi`, C libraries.
//!
//! Each binary of tests with these tables defines the macro `tables` that they are given to.

tables! {
    containers_made_while_loading: "
from rpython.rtyper.lltypesystem import lltype
POINT = lltype.Struct('POINT', ('x', lltype.Signed), ('y', lltype.Signed))
NODE = lltype.GcForwardReference()
NODE.become(lltype.GcStruct('NODE', ('value', lltype.Signed), ('next', lltype.Ptr(NODE))))
WORLD = lltype.Struct('WORLD', ('origin', POINT), ('rows', lltype.FixedSizeArray(POINT, 3)),
                      ('here', lltype.Ptr(POINT)))
world = lltype.malloc(WORLD, immortal=True)
world.origin.x = 5
world.rows[1].y = 70
world.here = world.rows[1]
first = lltype.malloc(NODE)
first.value = 1
first.next = lltype.malloc(NODE)
first.next.value = 20
nothing = lltype.nullptr(NODE)
numbers = lltype.malloc(lltype.GcArray(lltype.Signed), 4)
numbers[2] = 9
third = lltype.direct_ptradd(lltype.direct_arrayitems(numbers), 2)
letters = lltype.malloc(lltype.Array(lltype.Char), 3, immortal=True)
letters[0], letters[1], letters[2] = 'a', 'b', 'c'

def prebuilt():
    return world.origin.x + world.here.y
def walk(more):
    node = nothing
    if more:
        node = first
    total = 0
    while node:
        total += node.value
        node = node.next
    return total
def same():
    return world.here == world.rows[1] and world.here != world.rows[2]
def parts():
    numbers[2] += 1
    third[1] = 5
    return third[0] * 10 + numbers[3]
def text():
    return letters[0] + letters[2] + str(len(letters))
def rows(i):
    row = world.rows[i]
    row.x = 3
    if i > 1:
        row = world.origin
    return row.x
" => "
        prebuilt() == 75
        walk(0) == 0
        walk(1) == 21
        same() == true
        parts() == 105
        text() == \"ac3\"
        rows(1) == 3
        rows(2) == 5
        ";

    parts_of_objects_of_the_heap: "
from rpython.rtyper.lltypesystem import lltype
PAIR = lltype.Struct('PAIR', ('a', lltype.Signed), ('b', lltype.Signed))
PAIRS = lltype.GcArray(PAIR)
BOX = lltype.GcStruct('BOX', ('pair', PAIR), ('five', lltype.FixedSizeArray(lltype.Signed, 5)))
NUMBERS = lltype.GcArray(lltype.Signed)
def add(pair):
    return pair.a + pair.b
def choose(n):
    pairs = lltype.malloc(PAIRS, 2)
    pairs[0].a, pairs[1].a = 10, 20
    if n:
        pair = pairs[0]
    else:
        pair = pairs[1]
    pair.b = 1
    return add(pair)
def box(n):
    box = lltype.malloc(BOX)
    five = box.five
    five[n] = 6
    five.item0 += 2
    total = 0
    for i in range(len(five)):
        total += five[i]
    return total
def field(n):
    items = lltype.direct_arrayitems(lltype.malloc(NUMBERS, n))
    items[0] = n
    return items[0]
" => "
        choose(1) == 11
        choose(0) == 21
        box(3) == 8
        box(0) == 8
        field(4) == 4
        ";

    what_the_collector_would_not_see: "
from rpython.rtyper.lltypesystem import lltype
OBJECT = lltype.GcStruct('OBJECT', ('n', lltype.Signed))
RAW = lltype.Struct('RAW', ('object', lltype.Ptr(OBJECT)))
raw = lltype.malloc(RAW, immortal=True)
raw.object = lltype.malloc(OBJECT)
raw.object.n = 4
def read():
    raw.object.n += 1
    return raw.object.n
def write():
    raw.object = lltype.malloc(OBJECT)
" => "
        read() == 5
        write() error a pointer to an object of the heap is stored in raw memory (*Struct RAW), where the collector does not look for it
        ";

    function_pointers: "
from rpython.rtyper.lltypesystem import lltype
from rpython.rtyper.annlowlevel import llhelper
FUNC = lltype.FuncType([lltype.Signed], lltype.Signed)
def double(n):
    return 2 * n
def square(n):
    return n * n
TABLE = lltype.Struct('TABLE', ('first', lltype.Ptr(FUNC)), ('second', lltype.Ptr(FUNC)))
table = lltype.malloc(TABLE, immortal=True)
table.first = llhelper(lltype.Ptr(FUNC), double)
later = lltype.functionptr(FUNC, 'square', _callable=square)
def call(n):
    if not table.second:
        table.second = later
    return table.first(n) * 100 + table.second(n)
def here(n):
    f = llhelper(lltype.Ptr(FUNC), double)
    if n > 5:
        f = later
    return f(n)
" => "
        call(3) == 609
        here(4) == 8
        here(6) == 36
        ";

    other_functions_once_translated: "
from rpython.rtyper.extfunc import register_external
def slow(n):
    return eval('n')
def quick(n):
    return n * 2
register_external(slow, [int], int, llimpl=quick, export_name='slow')
def replaced(n):
    return slow(n) + 3
def nothing(n):
    return n
def absent(n):
    raise OSError(n, '')
register_external(nothing, [int], int, llfakeimpl=absent)
def fake(n):
    try: return nothing(n)
    except OSError as e: return -e.errno
" => "
        replaced(4) == 11
        fake(2) == -2
        ";

    addresses: "
from rpython.rtyper.lltypesystem import lltype, llmemory
S = lltype.Struct('S', ('a', lltype.Char), ('b', lltype.Signed), ('c', lltype.Float))
A = lltype.Array(lltype.Signed)
offset = llmemory.offsetof(S, 'c')
def memory(n):
    adr = llmemory.raw_malloc(32)
    adr.signed[1] = n
    (adr + 16).char[2] = 'x'
    other = llmemory.raw_malloc(32, zero=True)
    llmemory.raw_memcopy(adr + 8, other, 16)
    result = other.signed[0] + ord((other + 8).char[2])
    llmemory.raw_free(adr)
    llmemory.raw_free(other)
    return result
def field(x):
    s = lltype.malloc(S, flavor='raw')
    s.c = x
    adr = llmemory.cast_ptr_to_adr(s)
    result = (adr + offset).float[0]
    lltype.free(s, flavor='raw')
    return result
def overlapping(n):
    adr = llmemory.raw_malloc(24)
    adr.signed[0], adr.signed[1] = n, n + 1
    llmemory.raw_memmove_no_free(adr, adr + 8, 16)
    result = adr.signed[0] * 100 + adr.signed[1] * 10 + adr.signed[2]
    llmemory.raw_free(adr)
    return result
def sizes():
    return (llmemory.sizeof(S), llmemory.offsetof(S, 'b'),
            llmemory.itemoffsetof(A))
def null(n):
    adr = llmemory.NULL
    if n:
        adr = adr + n
    d = {adr: n}
    return bool(adr), d[adr], adr - llmemory.NULL
" => "
        overlapping(3) == 334
        memory(7) == 127
        field(2.5) == 2.5
        sizes() == [24,8,8]
        null(0) == [false,0,0]
        null(8) == [true,8,8]
        ";

    c_strings_and_structures: "
from rpython.rtyper.lltypesystem import lltype, rffi
REC = rffi.CStruct('rec', ('size', rffi.INT), ('flags', rffi.UCHAR), ('next', rffi.VOIDP))
def back(s):
    p = rffi.str2charp(s)
    p[0] = 'J'
    result = rffi.charp2str(p) + rffi.charpsize2str(p, 2) + rffi.charp2strn(p, 3)
    rffi.free_charp(p)
    return result
def scoped(s):
    with rffi.scoped_str2charp(s) as p:
        with rffi.scoped_alloc_buffer(len(s)) as b:
            for i in range(len(s)):
                b.raw[i] = p[len(s) - 1 - i]
            return b.str(len(s))
def raw(n):
    with lltype.scoped_alloc(rffi.CArray(rffi.SHORT), n) as a:
        for i in range(n):
            a[i] = rffi.cast(rffi.SHORT, i * 20000)
        return rffi.cast(lltype.Signed, a[n - 1])
def record(n):
    r = rffi.make(REC, c_size=rffi.cast(rffi.INT, n))
    rffi.setintfield(r, 'c_size', n + 1)
    copy = lltype.malloc(REC, flavor='raw')
    rffi.structcopy(copy, r)
    result = rffi.getintfield(copy, 'c_size') + rffi.sizeof(REC)
    lltype.free(r, flavor='raw')
    lltype.free(copy, flavor='raw')
    return result
def casts(n):
    return (rffi.cast(lltype.Signed, rffi.cast(rffi.UCHAR, n)),
            rffi.cast(lltype.Signed, rffi.cast(rffi.INT, n)),
            rffi.cast(lltype.Signed, rffi.cast(rffi.DOUBLE, n)),
            float(rffi.cast(rffi.FLOAT, 0.5)))
def bytes_of(n):
    with lltype.scoped_alloc(rffi.LONGP.TO, 1) as p:
        p[0] = n
        chars = rffi.cast(rffi.CCHARP, p)
        return ord(chars[0]) * 1000 + ord(rffi.ptradd(chars, 1)[0])
def many():
    p = rffi.liststr2charpp(['ab', 'c'])
    result = rffi.charpp2liststr(p)
    rffi.free_charpp(p)
    return result
" => "
        back('Hello') == \"JelloJeJel\"
        scoped('abc') == \"cba\"
        raw(3) == -25536
        record(4) == 21
        casts(300) == [44,300,300,0.5]
        casts(4294967297) == [1,1,4294967297,0.5]
        bytes_of(513) == 1002
        many() == [\"ab\",\"c\"]
        ";

    functions_of_c_libraries: "
from rpython.rtyper.lltypesystem import lltype, rffi
from rpython.translator.tool.cbuild import ExternalCompilationInfo
from rpython.rlib.rarithmetic import intmask
from rpython.rlib.rposix import get_saved_errno
eci = ExternalCompilationInfo(
    includes=['string.h', 'errno.h'],
    post_include_bits=['#define TWICE(x) ((x) + (x))\\nint weigh(const int *, int);\\n'
                       'long apply(long (*f)(long), long x);\\nint fails(int);\\n'],
    separate_module_sources=['''
int weigh(const int *items, int n) { int sum = 0; while (n--) sum += *items++; return sum; }
long apply(long (*f)(long), long x) { return f(x) + 1; }
int fails(int code) { errno = code; return -1; }
'''])
strlen = rffi.llexternal('strlen', [rffi.CCHARP], rffi.SIZE_T, compilation_info=eci)
twice = rffi.llexternal('TWICE', [rffi.DOUBLE], rffi.DOUBLE, compilation_info=eci)
weigh = rffi.llexternal('weigh', [rffi.INTP, rffi.INT], rffi.INT, compilation_info=eci)
CALLBACK = rffi.CCallback([rffi.LONG], rffi.LONG)
apply = rffi.llexternal('apply', [CALLBACK, rffi.LONG], rffi.LONG, compilation_info=eci)
fails = rffi.llexternal('fails', [rffi.INT], rffi.INT, compilation_info=eci,
                        save_err=rffi.RFFI_SAVE_ERRNO)
labs = rffi.llexternal('labs', [rffi.LONG], rffi.LONG)
mine = rffi.llexternal('mine', [lltype.Signed], lltype.Signed, _callable=lambda n: n + 1)
def length(s):
    return intmask(strlen(s))
def macro(x):
    return twice(x)
def sum3(n):
    with lltype.scoped_alloc(rffi.INTP.TO, 3) as a:
        for i in range(3):
            a[i] = rffi.cast(rffi.INT, i + n)
        return int(weigh(a, 3))
class Kept:
    pass
kept = Kept()
kept.items = [[0]]
def remember(n):
    kept.items.append([n, n * 10])
    return kept.items[-1][1]
def callback(n):
    total = 0
    for i in range(100):
        total += apply(remember, n)
    return total + len(kept.items)
def errno(n):
    result = int(fails(n))
    return get_saved_errno() * 10 + result
def plain(n):
    return labs(n), mine(n)
" => "
        length('hello') == 5
        macro(1.25) == 2.5
        sum3(5) == 18
        callback(2) == 2201
        errno(7) == 69
        plain(-3) == [3,-2]
        ";

    headers_that_a_program_writes_while_it_loads: "
from rpython.rtyper.lltypesystem import lltype, rffi
from rpython.tool.udir import udir
from rpython.translator import cdir
from rpython.translator.tool.cbuild import ExternalCompilationInfo
header = udir.join('taipan_thrice.h')
header.write('#define FACTOR 3\\nSigned thrice(Signed, Signed (*)(Signed));\\n')
assert 'FACTOR' in header.read()
eci = ExternalCompilationInfo(
    includes=['taipan_thrice.h'], include_dirs=[str(udir), cdir],
    separate_module_sources=['''
#include \"src/precommondefs.h\"
RPY_EXTERN Signed thrice(Signed n, Signed (*f)(Signed)) { return FACTOR * f(n); }
'''])
thrice = rffi.llexternal(
    'thrice', [rffi.SIGNED, rffi.CCallback([rffi.SIGNED], rffi.SIGNED)], rffi.SIGNED,
    compilation_info=eci)
def more(n):
    return n + 1
def f(n):
    return thrice(n, more)
" => "
        f(4) == 15
        ";

    variables_and_opaque_types_of_c: "
from rpython.rtyper.lltypesystem import lltype, rffi
from rpython.translator.tool.cbuild import ExternalCompilationInfo
eci = ExternalCompilationInfo(
    post_include_bits=['typedef struct { int n; char rest[21]; } box_t; extern wchar_t *wide; extern int counter;\\n'
                       'void fill(box_t *, int); int look(box_t *);'],
    separate_module_sources=['''
#include \"src/precommondefs.h\"
#include <src/mem.h>
#include <dlfcn.h>
Dl_info all_features_of_headers;
int counter = 5;
RPY_EXTERN Signed twice_counter(void);
Signed twice_counter(void) { return 2 * counter; }
void fill(box_t *b, int n) { b->n = n; b->rest[20] = 1; counter++; }
int look(box_t *b) { return b->n + b->rest[20]; }
'''])
BOX = rffi.COpaquePtr('box_t', compilation_info=eci)
fill = rffi.llexternal('fill', [BOX, rffi.INT], lltype.Void, compilation_info=eci)
look = rffi.llexternal('look', [BOX], rffi.INT, compilation_info=eci)
get_counter, set_counter = rffi.CExternVariable(rffi.INT, 'counter', eci)
twice_counter = rffi.llexternal('twice_counter', [], lltype.Signed, compilation_info=eci)
def box(n):
    b = lltype.malloc(BOX.TO, flavor='raw')
    fill(b, n)
    result = int(look(b))
    lltype.free(b, flavor='raw')
    return result, rffi.sizeof(BOX.TO)
def variable():
    set_counter(70)
    return int(get_counter()) + twice_counter()
" => "
        box(3) == [4,32]
        variable() == 210
        ";

    what_the_c_compiler_knows: "
from rpython.rtyper.lltypesystem import lltype, rffi
from rpython.rtyper.tool import rffi_platform
from rpython.translator.tool.cbuild import ExternalCompilationInfo
class CConfig:
    _compilation_info_ = ExternalCompilationInfo(
        includes=['stdint.h', 'limits.h'],
        post_include_bits=['struct thing { char tag; short weight; int64_t far; char tail[3]; };\\n'
                           'struct pair { char tag; struct thing second; };\\n'
                           '#define GREETING \"good day\"\\n#define HALF 0.5\\n#define BIG (-5000000000L)'])
    INT_MAX = rffi_platform.ConstantInteger('INT_MAX')
    BIG = rffi_platform.DefinedConstantInteger('BIG')
    MISSING = rffi_platform.DefinedConstantInteger('NO_SUCH_MACRO')
    GREETING = rffi_platform.DefinedConstantString('GREETING')
    HALF = rffi_platform.DefinedConstantDouble('HALF')
    uint16 = rffi_platform.SimpleType('uint16_t')
    thing = rffi_platform.Struct('struct thing', [('weight', rffi.INT), ('far', rffi.INT)])
    pair = rffi_platform.Struct('struct pair', [('second', thing)])
    HAS_MAIN = rffi_platform.Has('main')
    HAS_NONE = rffi_platform.Has('no_such_function_at_all()')
config = rffi_platform.configure(CConfig)
globals().update(config)
def numbers():
    return INT_MAX, BIG, MISSING is None, HAS_MAIN, HAS_NONE
def others():
    return GREETING, HALF, rffi.sizeof(uint16)
def struct():
    p = lltype.malloc(thing, flavor='raw')
    p.c_weight = rffi.cast(rffi.SHORT, -2)
    p.c_far = 1 << 40
    result = rffi.getintfield(p, 'c_weight') + p.c_far
    lltype.free(p, flavor='raw')
    return result, rffi.sizeof(thing), rffi.offsetof(thing, 'c_far')
def nested():
    p = lltype.malloc(pair, flavor='raw')
    p.c_second.c_far = -7
    result = p.c_second.c_far
    lltype.free(p, flavor='raw')
    return result, rffi.sizeof(pair), rffi.offsetof(pair, 'c_second')
" => "
        numbers() == [2147483647,-5000000000,true,true,false]
        others() == [\"good day\",0.5,2]
        struct() == [1099511627774,24,8]
        nested() == [-7,32,8]
        ";

    types_with_methods_and_constants: "
from rpython.rtyper.lltypesystem import lltype
def double(p): return p.x * 2
def scaled(p, n): return p.double() * n + p.UNIT
POINT = lltype.GcStruct('POINT', ('x', lltype.Signed), adtmeths={
    'double': double, 'scaled': scaled, 'UNIT': 3,
    'plain': lltype.staticAdtMethod(lambda n: n + 1)})
ROW = lltype.GcArray(lltype.Signed, adtmeths={'first': lambda a: a[0]})
PLAIN = lltype.GcStruct('POINT', ('x', lltype.Signed))
early = lltype.malloc(POINT)
early.x = 10
known = early.scaled(2), POINT.UNIT, early.plain(1), POINT == PLAIN
def methods(n):
    p = lltype.malloc(POINT)
    p.x = n
    a = lltype.malloc(ROW, 1)
    a[0] = 100
    return p.scaled(10) + p.plain(1000) + a.first()
def loaded(): return known[0] * 100 + known[1] * 10 + known[2]
def apart(): return known[3]
def unit(): return POINT.UNIT
" => "
        methods(7) == 1244
        loaded() == 4332
        apart() == false
        unit() == 3
        ";

    weak_references_to_low_level_objects: "
from rpython.rlib import rgc
from rpython.rtyper.lltypesystem import llmemory, lltype
POINT = lltype.GcStruct('POINT', ('x', lltype.Signed))
def forget(n):
    p = lltype.malloc(POINT)
    p.x = n
    w = llmemory.weakref_create(p)
    assert llmemory.weakref_deref(lltype.Ptr(POINT), w).x == n
    return w
def weakly(n):
    w = forget(n)
    rgc.collect()
    return not llmemory.weakref_deref(lltype.Ptr(POINT), w)
" => "
        weakly(3) == true
        ";

    pointers_to_functions_with_star_arguments: "
from rpython.rtyper.annlowlevel import llhelper
from rpython.rtyper.lltypesystem import lltype
FUNC = lltype.Ptr(lltype.FuncType([lltype.Signed, lltype.Signed], lltype.Signed))
def stars(*args): return args[0] - args[1]
def pointed(): return llhelper(FUNC, stars)(50, 8)
" => "
        pointed() == 42
        ";

    functions_that_entries_of_the_program_describe: "
from rpython.annotator import model
from rpython.rtyper.extregistry import ExtRegistryEntry
from rpython.rtyper.lltypesystem import lltype

def width(x): raise NotImplementedError
class WidthEntry(ExtRegistryEntry):
    _about_ = width
    def compute_result_annotation(self, s_x):
        return model.SomeInteger(nonneg=True)
    def specialize_call(self, hop):
        hop.exception_cannot_occur()
        size = 1
        if isinstance(hop.args_s[0], model.SomeString): size = 2
        return hop.inputconst(lltype.Signed, size)

def negated(x): raise NotImplementedError
class NegatedEntry(ExtRegistryEntry):
    _about_ = negated
    def compute_result_annotation(self, s_x): return model.SomeInteger()
    def specialize_call(self, hop):
        v, = hop.inputargs(lltype.Signed)
        hop.exception_cannot_occur()
        return hop.genop('int_neg', [v], resulttype=lltype.Signed)

def ll_sum(x, y):
    if y < 0: raise ValueError
    return x + y
def add(x, y): raise NotImplementedError
def same(x): raise NotImplementedError
class AddEntry(ExtRegistryEntry):
    _about_ = add
    def compute_result_annotation(self, s_x, s_y): return s_x
    def specialize_call(self, hop):
        args = hop.inputargs(lltype.Signed, lltype.Signed)
        hop.exception_is_here()
        return hop.gendirectcall(ll_sum, *args)
class SameEntry(ExtRegistryEntry):
    _about_ = same
    def compute_result_annotation(self, s_x): return s_x
    def specialize_call(self, hop):
        hop.exception_cannot_occur()
        return hop.inputarg(hop.args_r[0], arg=0)

def is_text(x): raise NotImplementedError
class IsTextEntry(ExtRegistryEntry):
    _about_ = is_text
    def compute_result_annotation(self, s_x):
        return self.bookkeeper.immutablevalue(isinstance(s_x, model.SomeString))
    def specialize_call(self, hop):
        hop.exception_cannot_occur()
        return hop.inputconst(lltype.Bool, hop.s_result.const)

def bare(n): return n + 1
class BareEntry(ExtRegistryEntry):
    _about_ = bare
    s_result_annotation = model.SomeInteger()
now = bare(3)

class Thing(object):
    def __init__(self, n): self.n = n
def called(x): return Thing(x)
def through(x): raise NotImplementedError
class ThroughEntry(ExtRegistryEntry):
    _about_ = through
    def compute_result_annotation(self, s_x):
        s_called = self.bookkeeper.immutablevalue(called)
        s_thing = self.bookkeeper.emulate_pbc_call('key', s_called, [s_x])
        assert isinstance(s_thing, model.SomeInstance)
        return model.SomeInteger()
    def specialize_call(self, hop):
        hop.exception_cannot_occur()
        return hop.inputarg(lltype.Signed, arg=0)

def consts(n, s): return width(n) * 10 + width(s)
def ops(n): return negated(n) + 1
def calls(n, m):
    try:
        return add(n, m)
    except ValueError:
        return -1
def things(n): return same(Thing(n)).n
def kinds(n, s):
    if is_text(n): return n.no_such_attribute
    return is_text(s)
def asks(n): return through(n)
def loaded(): return now
def half(n): return bare(n)
" => "
        consts(5, 'abc') == 12
        ops(5) == -4
        calls(5, 6) == 11
        calls(5, -6) == -1
        things(7) == 7
        kinds(5, 'abc') == true
        asks(9) == 9
        loaded() == 4
        half(4) error specialize_call(): AttributeError: 'BareEntry' object has no attribute 'specialize_call'
        ";

    arrays_shrink: "
from rpython.rlib import rgc
from rpython.rtyper.lltypesystem import lltype
S = lltype.GcStruct('S', ('n', lltype.Signed), ('chars', lltype.Array(lltype.Char)))
A = lltype.GcArray(lltype.Signed)
def struct():
    s = lltype.malloc(S, 5)
    s.n = 77
    for i in range(5): s.chars[i] = chr(65 + i)
    t = rgc.ll_shrink_array(s, 2)
    return t.n, len(t.chars), t.chars[1]
def array():
    a = lltype.malloc(A, 3)
    a[0] = 5
    b = rgc.ll_shrink_array(a, 1)
    return len(b), b[0]
before = struct(), array()
def prebuilt(): return before
" => "
        struct() == [77,2,\"B\"]
        array() == [1,5]
        prebuilt() == [[77,2,\"B\"],[1,5]]
        ";

    lists_of_characters_and_instances_as_pointers: "
from rpython.rlib import rgc
from rpython.rtyper import rclass
from rpython.rtyper.debug import ll_assert
from rpython.rtyper.annlowlevel import cast_base_ptr_to_instance, cast_instance_to_base_ptr
from rpython.rtyper.extregistry import ExtRegistryEntry
from rpython.rtyper.lltypesystem.lltype import *
from rpython.rtyper.lltypesystem.module import ll_math
def letters(n):
    l = rgc.resizable_list_supporting_raw_ptr(['a'] * n)
    p = rgc.ll_for_resizable_list(l)
    p.items[1] = 'x'
    l.append('b')
    return ''.join(l), p.length, ord(p.items[n])
def wrong(n): return rgc.ll_for_resizable_list([n]).length
class A(object):
    def __init__(self, n): self.n = n
def instance(n):
    p = cast_instance_to_base_ptr(A(n))
    q = cast_pointer(rclass.OBJECTPTR, p)
    ll_assert(p == q, 'the same')
    return cast_base_ptr_to_instance(A, q).n
def maths(x):
    return (ll_math.ll_math_sqrt(x), ll_math.ll_math_isnan(x), ll_math.ll_math_fabs(-x),
            intmask(r_uint(3)))
class Described(object): pass
class Entry(ExtRegistryEntry):
    _type_ = Described
    def compute_annotation(self): return None
described = Described()
def of_a_type(): return described
" => r#"
        letters(3) == ["axab",4,98]
        wrong(3) error a list of characters is required, not one of an int
        instance(7) == 7
        maths(4.0) == [2.0,false,4.0,3]
        of_a_type() error a prebuilt instance of Described, which has an entry for its type: only entries for functions are known
        "#;

    /// Raw memory is written at one type and read at another, also through pointers into objects
    /// of the heap.
    memory_that_several_types_share: "
from rpython.rtyper.lltypesystem import lltype, rffi
from rpython.rtyper.lltypesystem.llmemory import cast_ptr_to_adr
NUMBER = lltype.Struct('NUMBER', ('n', lltype.Signed), ('m', lltype.Signed))
EITHER = lltype.Struct('EITHER', ('n', lltype.Signed), ('c', lltype.Char), hints={'union': True})
EMPTY = lltype.Struct('EMPTY')
BOX = lltype.GcStruct('BOX', ('n', lltype.Signed))
NUMBERS = lltype.GcArray(lltype.Signed)
either = lltype.malloc(EITHER, immortal=True)
one = lltype.malloc(EMPTY, immortal=True)
two = lltype.malloc(EMPTY, immortal=True)
def chars_as_int(x):
    p = lltype.malloc(rffi.CCHARP.TO, 8, flavor='raw')
    p[0] = 'a'
    rffi.cast(rffi.INTP, p)[0] = rffi.cast(rffi.INT, x)
    n = ord(p[0])
    lltype.free(p, flavor='raw')
    return n
def struct_as_chars(x):
    p = lltype.malloc(NUMBER, flavor='raw')
    p.n = 0
    p.m = 5
    rffi.cast(rffi.CCHARP, p)[1] = chr(x)
    n = p.n + p.m
    lltype.free(p, flavor='raw')
    return n
def union(x):
    either.n = 0x1234
    either.c = chr(x)
    return either.n
def into_objects(x):
    box, numbers = lltype.malloc(BOX), lltype.malloc(NUMBERS, 3)
    box.n, numbers[1] = 1, 2
    lltype.direct_fieldptr(box, 'n')[0] = x
    lltype.direct_ptradd(lltype.direct_arrayitems(numbers), 1)[0] = x + 1
    return box.n, numbers[1]
def empty():
    return cast_ptr_to_adr(one) == cast_ptr_to_adr(two)
" => "
        chars_as_int(98) == 98
        struct_as_chars(1) == 261
        union(1) == 4609
        into_objects(7) == [7,8]
        empty() == false
        ";

    /// Every C integer type has a name, and a type of pointers to it.
    integer_types_of_c: "
from rpython.rlib.unroll import unrolling_iterable
from rpython.rtyper.lltypesystem import lltype, rffi
number_types = unrolling_iterable(rffi.NUMBER_TYPES)
def number(x):
    total = 0
    for TYPE in number_types:
        total += rffi.cast(lltype.Signed, rffi.cast(TYPE, x))
    return total
def through_pointer(x):
    with lltype.scoped_alloc(rffi.INT_LEAST16_TP.TO, 1) as p:
        p[0] = rffi.cast(rffi.INT_LEAST16_T, x)
        return rffi.cast(lltype.Signed, p[0])
" => "
        number(1) == 42
        through_pointer(65537) == 1
        ";

    results_of_c_functions_are_numbers_to_reckon_with: "
from rpython.rlib.rarithmetic import r_uint
from rpython.rtyper.lltypesystem import rffi
absolute = rffi.llexternal('abs', [rffi.INT], rffi.INT)
process = rffi.llexternal('getpid', [], rffi.UINT)
def sum(n):
    return absolute(n) + absolute(1)
def number():
    if process():
        return process() + r_uint(1) > process()
    return False
" => "
        sum(-5) == 6
        number() == true
        ";

    /// The items of lists of characters as raw memory that stays in place.
    lists_that_stay_in_place: "
from rpython.rlib import buffer, rgc
from rpython.rtyper.lltypesystem import rffi
def letters(n):
    l = rgc.resizable_list_supporting_raw_ptr(['a'] * n)
    p = rgc.nonmoving_raw_ptr_for_resizable_list(l)
    p[1] = 'x'
    others = [[i] for i in range(100)]
    rgc.collect(0)
    p[2] = 'y'
    return ''.join(l), p[0], len(others)
def buffers(n):
    b = buffer.ByteBuffer(n)
    b.setslice(0, 'abc')
    part = buffer.SubBuffer(b, 1, 4)
    part.get_raw_address()[1] = 'z'
    part.setslice(2, '12')
    return b.as_str(), b.typed_read(rffi.SHORT, 0)
" => r#"
        letters(5) == ["axyaa","a",100]
        buffers(5) == ["abz12",25185]
        "#;

    /// Functions with `specialize:ll` take values without a low-level type unchanged.
    strings_for_low_level_helpers: "
from rpython.rlib.objectmodel import specialize
@specialize.ll()
def text(s, n):
    if isinstance(s, str):
        return s + 'x' * n
    return ''.join(s)
@specialize.ll_and_arg(1)
def upper(s, end): return s.upper() + end
def f(n): return text('ab', n) + text(['c'] * n, n) + upper('q' * n, 'z')
" => "f(3) == \"abxxxcccQQQz\"";

    timestamps: "
from rpython.rtyper.lltypesystem import lltype
from rpython.rtyper.lltypesystem.lloperation import llop
def unit():
    return llop.ll_get_timestamp_unit(lltype.Signed)
def goes_on():
    before = llop.ll_read_timestamp(lltype.Signed)
    return llop.ll_read_timestamp(lltype.Signed) >= before
" => "
        unit() == 1
        goes_on() == true
        ";
}
