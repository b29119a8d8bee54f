//! C declarations, headers and functions that a program uses while it loads:
//! `rpython.tool.cparser`, `rffi_platform`, calls of C functions at import time.

use crate::support::{check, check_without_python};

#[test]
fn declarations_become_low_level_types() {
    check(
        r#"
from rpython.rtyper.lltypesystem import lltype, rffi
from rpython.tool.cparser import CTypeSpace, parse_source
cts = parse_source("""
    /* Two kinds of things. */
    #define HEAD \
        long count;   /* of references */ \
        struct kind *kind;
    #define LIMIT (1 << 4)
    #ifdef NOWHERE
    typedef char word_t;
    #else
    typedef unsigned short word_t;
    #endif
    typedef struct thing { HEAD word_t small; char name[6]; } thing;
    struct kind { thing base; int (*weigh)(thing *, const char *); struct kind *next; };
    typedef enum { LIGHT = 3, HEAVY } weight;
    typedef long (*visit_t)(thing *, void *);
""")
more = CTypeSpace(includes=[cts])
more.parse_source("typedef struct { HEAD double size; thing *inner; } big;")
THING, KIND, BIG = cts.gettype('thing'), cts.gettype('struct kind'), more.gettype('big')
assert THING.c_small == rffi.USHORT and rffi.sizeof(THING.c_name) == 6
assert THING.c_kind.TO == KIND and KIND.c_base == THING and KIND.c_next.TO == KIND
assert BIG.c_inner.TO == THING and BIG.c_size == rffi.DOUBLE
assert cts.gettype('visit_t').TO.ARGS == (lltype.Ptr(THING), rffi.VOIDP)
assert 'HEAD' in cts.macros and cts.gettype('const char *') == rffi.CCHARP
weigh = cts.parse_func("int weigh(thing *t, const char *how)")
assert weigh.name == 'weigh' and weigh.get_llresult(cts) == rffi.INT
assert weigh.get_llargs(cts) == [lltype.Ptr(THING), rffi.CCHARP]
def refused(text):
    try:
        CTypeSpace().parse_source(text)
    except Exception as e:
        return '%s: %s' % (e.__class__.__name__, e)
assert refused('typedef int;\ntypedef nothing x;') == "CDefError: line 2: unknown type 'nothing'"
def f(n):
    p = lltype.malloc(THING, flavor='raw', zero=True)
    p.c_small = cts.cast('word_t', n)
    q = cts.cast('thing *', cts.cast('void *', p))
    q.c_count = cts.cast('long', 10)
    total = p.c_count + rffi.cast(lltype.Signed, q.c_small)
    lltype.free(p, flavor='raw')
    return total * 100 + rffi.sizeof(more.gettype('big'))
def heavy(n):
    return cts.gettype('weight').HEAVY + n
"#,
        "
        f(5) == 1532
        f(65536) == 1032
        heavy(1) == 5
        ",
    );
}

/// Functions of C sources are called as well: some that the linker finds, and one that only its own file sees.
#[test]
fn functions_of_c_sources_are_called_while_a_program_loads() {
    check(
        "
from rpython.rtyper.lltypesystem import lltype, rffi
from rpython.translator.tool.cbuild import ExternalCompilationInfo
eci = ExternalCompilationInfo(
    post_include_bits=['Signed shifted(Signed); void fill(char *);'],
    separate_module_sources=['''
static Signed by(void) { return 40; }
Signed shifted(Signed n) { return n + by(); }
void fill(char *p) { *p = 7; }
'''])
shifted = rffi.llexternal('shifted', [lltype.Signed], lltype.Signed, compilation_info=eci)
by = rffi.llexternal('by', [], lltype.Signed, compilation_info=eci)
fill = rffi.llexternal('fill', [rffi.CCHARP], lltype.Void, compilation_info=eci)
SHIFTED = [shifted(n) for n in range(5)]
BY = by()
memory = lltype.malloc(rffi.CCHARP.TO, 1, flavor='raw', track_allocation=False)
fill(memory)
FILLED = ord(memory[0])
def f(n):
    return SHIFTED[n], BY, FILLED
",
        "
        f(1) == [41,40,7]
        f(4) == [44,40,7]
        ",
    );
}

/// A header that the program writes may be included by one that is there already.
#[test]
fn headers_that_other_headers_include() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("outer.h"),
        "#include \"inner/made.h\"\n#define TWICE (2 * MADE)\n",
    )
    .unwrap();
    let source = "
from rpython.rtyper.lltypesystem import lltype, rffi
from rpython.rtyper.tool import rffi_platform
from rpython.tool.udir import udir
from rpython.translator.tool.cbuild import ExternalCompilationInfo
udir.join('inner', 'made.h').write('#define MADE 21\\n')
eci = ExternalCompilationInfo(
    includes=['outer.h'], include_dirs=['FOLDER', udir],
    separate_module_sources=['Signed shifted(Signed n) { return n + TWICE; }'],
    post_include_bits=['Signed shifted(Signed);'])
class CConfig:
    _compilation_info_ = eci
    TWICE = rffi_platform.ConstantInteger('TWICE')
TWICE = rffi_platform.configure(CConfig)['TWICE']
shifted = rffi.llexternal('shifted', [lltype.Signed], lltype.Signed, compilation_info=eci)
def f(n):
    return TWICE * 1000 + shifted(n)
";
    let source = source.replace("FOLDER", folder.path().to_str().unwrap());
    check(&source, "f(1) == 42043");
}

#[test]
fn functions_of_c_are_called_while_a_program_loads() {
    check(
        "
from rpython.rtyper.lltypesystem import lltype, rffi
from rpython.translator.tool.cbuild import ExternalCompilationInfo
labs = rffi.llexternal('labs', [rffi.LONG], rffi.LONG)
hypot = rffi.llexternal('hypot', [rffi.DOUBLE, rffi.DOUBLE], rffi.DOUBLE)
strlen = rffi.llexternal('strlen', [rffi.CCHARP], rffi.SIZE_T)
eci = ExternalCompilationInfo(includes=['string.h', 'errno.h'])
strerror = rffi.llexternal('strerror', [rffi.INT], rffi.CCHARP, compilation_info=eci)
frexp = rffi.llexternal('frexp', [rffi.DOUBLE, rffi.INTP], rffi.DOUBLE)
LEAST = labs(-17)
LONG = hypot(3.0, 4.0)
SIZE = int(strlen('a\\xe9\"\\\\n'))
TEXT = rffi.charp2str(strerror(2))
try:
    frexp(2.0, lltype.nullptr(rffi.INTP.TO))
    WHY = ''
except NotImplementedError as e:
    WHY = str(e).split(':')[0]
def f(n):
    return LEAST + n, LONG, SIZE, TEXT, WHY
",
        "
        f(1) == [18,5.0,5,\"No such file or directory\",\"the C function frexp cannot be called while a program is imported\"]
        ",
    );
}

/// Arguments in memory are copied to the sandboxed process and back. Functions from the program's own C sources
/// can be called.
#[test]
fn functions_of_c_are_given_memory_while_a_program_loads() {
    check(
        "
from rpython.rtyper.lltypesystem import lltype, rffi
from rpython.rlib import rposix
from rpython.translator.tool.cbuild import ExternalCompilationInfo
eci = ExternalCompilationInfo(
    post_include_bits=['struct pair { int n; double x; const char *s; }; int *twice(const char *, size_t *);',
                       'void drop(int *); struct pair *half(struct pair *); long failing(void);'],
    separate_module_sources=['''
#include <stdlib.h>
#include <errno.h>
int *twice(const char *s, size_t *n) {
    int *r, i;
    *n = strlen(s);
    r = malloc(*n * sizeof(int));
    for (i = 0; i < *n; i++) r[i] = -2 * s[i];
    return r;
}
void drop(int *p) { free(p); }
static struct pair result;
struct pair *half(struct pair *p) {
    result.n = p->n / 2; result.x = p->x / 2; result.s = \"half\"; p->n = 7;
    return &result;
}
long failing(void) { errno = ENOTTY; return -1; }
'''])
PAIR = rffi.CStruct('pair', ('n', rffi.INT), ('x', rffi.DOUBLE), ('s', rffi.CCHARP))
def c(name, args, result, **kwds): return rffi.llexternal(name, args, result, compilation_info=eci, **kwds)
twice = c('twice', [rffi.CCHARP, rffi.SIZE_TP], rffi.INTP)
drop = c('drop', [rffi.INTP], lltype.Void)
half = c('half', [lltype.Ptr(PAIR)], lltype.Ptr(PAIR))
failing = c('failing', [], rffi.LONG, save_err=rffi.RFFI_SAVE_ERRNO)
frexp = rffi.llexternal('frexp', [rffi.DOUBLE, rffi.INTP], rffi.DOUBLE)
with lltype.scoped_alloc(rffi.SIZE_TP.TO, 1) as size:
    items = twice('abc', size)
    ITEMS = '%d %d %d' % (size[0], items[0], items[2])
    drop(items)
with lltype.scoped_alloc(PAIR, zero=True) as pair:
    pair.c_n, pair.c_x = rffi.cast(rffi.INT, 8), 3.0
    other = half(pair)
    HALF = '%d %s %s %d' % (other.c_n, other.c_x, rffi.charp2str(other.c_s), pair.c_n)
with lltype.scoped_alloc(rffi.INTP.TO, 1) as exponent:
    PARTS = '%s %d' % (frexp(10.0, exponent), exponent[0])
FAILED = failing(), rposix.get_saved_errno()
HINTS = rffi.CCHARP.TO._hints.get('nolength'), sorted(PAIR._flds)[0], PAIR._hints.get('nolength')
def f(): return ITEMS, HALF, PARTS, FAILED[0], FAILED[1], HINTS[0], HINTS[1], HINTS[2] is None
",
        r#"
        f() == ["3 -194 -198","4 1.5 half 7","0.625 4",-1,25,true,"c_n",true]
        "#,
    );
}

/// What C calls by a pointer whose type returns another integer than the function.
#[test]
fn callbacks_return_the_integer_that_c_wants() {
    check(
        "
from rpython.rtyper.lltypesystem import lltype, rffi
from rpython.translator.tool.cbuild import ExternalCompilationInfo
HANDLER = rffi.CCallback([rffi.INT], rffi.INT)
eci = ExternalCompilationInfo(
    post_include_bits=['int ask(int, int (*)(int));'],
    separate_module_sources=['int ask(int n, int (*f)(int)) { return f(n) + 1; }'])
ask = rffi.llexternal('ask', [rffi.INT, HANDLER], rffi.INT, compilation_info=eci)
def wide(n):
    return rffi.cast(lltype.Signed, n) * 3
def f(n):
    return ask(n, wide)
",
        "
        f(4) == 13
        ",
    );
}

#[test]
fn types_know_the_class_of_their_values() {
    check(
        "
from rpython.rlib.objectmodel import specialize
from rpython.rlib.rarithmetic import signedtype
from rpython.rlib.unroll import unrolling_iterable
from rpython.rtyper.lltypesystem import lltype, rffi
from rpython.rtyper.tool import rfficache
assert rfficache.sizeof_c_types(['char', 'short', 'void *']) == [1, 2, 8]
assert rfficache.signof_c_type('long') and not rfficache.signof_c_type('size_t')
SHORT = rfficache.platform.inttype('taipan_short', 'short', True)
assert rffi.sizeof(SHORT) == 2 and rfficache.platform.inttype('taipan_short', '?', True) == SHORT
assert lltype.Signed._type is int and lltype.Char._type is str and lltype.Bool._type is bool
TYPES = unrolling_iterable([lltype.Signed, rffi.UCHAR, rffi.SHORT, rffi.ULONG, rffi.INT])
def signs(n):
    for T in TYPES:
        n = 2 * n
        if signedtype(T._type):
            n += 1
    return n
@specialize.arg(0)
def kind(T):
    if isinstance(T, lltype.Ptr):
        return 'pointer'
    if isinstance(T, lltype.Primitive):
        return 'number' if isinstance(T, lltype.Number) else 'primitive'
    return 'container' if isinstance(T, lltype.ContainerType) else '?'
def kinds(n):
    return kind(rffi.INT), kind(rffi.VOIDP), kind(lltype.Char), kind(rffi.VOIDP.TO)
def name(n):
    return str(lltype.Signed) + ' %s' % rffi.DOUBLE
def sized(n):
    if rffi.sizeof(rffi.VOIDP) > 8:
        return n.missing
    return rffi.sizeof(rffi.INT) + n
",
        "
        signs(0) == 21
        kinds(0) == [\"number\",\"pointer\",\"primitive\",\"container\"]
        name(0) == \"Signed Float\"
        sized(1) == 5
        ",
    );
}

/// Calls of C functions keep two numbers for errno: one for the program, and one for those who
/// ask for the alternative.
#[test]
fn errno_has_an_alternative() {
    check(
        "
from rpython.rlib import rposix
from rpython.rtyper.lltypesystem import lltype, rffi
close = rffi.llexternal('close', [rffi.INT], rffi.INT, save_err=rffi.RFFI_SAVE_ERRNO)
other = rffi.llexternal('isatty', [rffi.INT], rffi.INT,
                        save_err=rffi.RFFI_SAVE_ERRNO | rffi.RFFI_ALT_ERRNO)
def f(n):
    rposix.set_saved_alterrno(n)
    close(-1)
    first = rposix.get_saved_errno(), rposix.get_saved_alterrno()
    rposix.set_saved_errno(7)
    other(-1)
    return first, (rposix.get_saved_errno(), rposix.get_saved_alterrno())
",
        "
        f(3) == [[9,3],[7,9]]
        ",
    );
}

/// Handles that C code keeps stand for objects that do not move.
#[test]
fn objects_that_do_not_move_have_addresses() {
    check_without_python(
        "
from rpython.rlib import rgc
from rpython.rlib.objectmodel import instantiate, keepalive_until_here
from rpython.rtyper.lltypesystem import llmemory, lltype, rffi
from rpython.rtyper.lltypesystem.lloperation import llop
class A(object):
    n = 0
def f(n):
    a = instantiate(A, nonmovable=True)
    a.n = n
    llop.gc_stack_bottom(lltype.Void)
    raw = rffi.cast(rffi.VOIDP, rgc.hide_nonmovable_gcref(rgc.cast_instance_to_gcref(a)))
    rgc.collect()
    gcref = rgc.reveal_gcref(rffi.cast(llmemory.Address, raw))
    b = rgc.try_cast_gcref_to_instance(A, gcref)
    same = b is a
    keepalive_until_here(a)
    return b.n if same else -1
",
        "
        f(12) == 12
        ",
    );
}

#[test]
fn low_level_types_have_declarations_in_c() {
    check(
        "
from rpython.rtyper.lltypesystem import lltype, rffi
from rpython.tool.cparser import parse_source
from rpython.translator.c.database import LowLevelDatabase
db = LowLevelDatabase()
cts = parse_source('typedef struct { long n; } plain_t; typedef struct tag { long n; } tag_t;')
S = rffi.CStruct('point', ('x', rffi.INT), ('next', rffi.VOIDP))
F = lltype.Ptr(lltype.FuncType([rffi.CCHARP, lltype.Void, lltype.Ptr(S)], rffi.INT))
TYPES = [rffi.VOIDP, rffi.CCHARP, rffi.CCHARPP, rffi.INT, rffi.UCHAR, rffi.SHORT, rffi.SIZE_T,
         lltype.Signed, rffi.DOUBLE, lltype.Void, lltype.Ptr(S), F, rffi.COpaquePtr('FILE'),
         lltype.Ptr(lltype.FixedSizeArray(rffi.INT, 3)), rffi.CArrayPtr(lltype.Ptr(S)),
         cts.gettype('plain_t *'), cts.gettype('tag_t *')]
lines = [db.gettype(T).replace('@', 'x') for T in TYPES]
try:
    db.gettype(lltype.GcStruct('G'))
except TypeError as e:
    lines.append(str(e))
text = '; '.join(lines)
def f(n):
    return text
",
        "f(0) == \"void *x; char *x; char **x; int x; unsigned char x; short x; size_t x; Signed x; double x; void x; struct point *x; int (*x)(char *, struct point *); FILE *x; int (*x)[3]; struct point **x; plain_t *x; struct tag *x; GcStruct G is no type of C\"",
    );
}
