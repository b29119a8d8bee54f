"""C functions, and what they take: words of C's size, structs, floats, callbacks."""

from rpython.rlib.rarithmetic import intmask
from rpython.rtyper.lltypesystem import lltype, rffi
from rpython.rtyper.tool import rffi_platform
from rpython.translator.tool.cbuild import ExternalCompilationInfo

eci = ExternalCompilationInfo(includes=['string.h', 'stdlib.h', 'time.h'])
strlen = rffi.llexternal('strlen', [rffi.CCHARP], rffi.SIZE_T, compilation_info=eci)
labs = rffi.llexternal('labs', [rffi.LONG], rffi.LONG, compilation_info=eci)
llabs = rffi.llexternal('llabs', [rffi.LONGLONG], rffi.LONGLONG, compilation_info=eci)
undeclared_strlen = rffi.llexternal('strlen', [rffi.CCHARP], rffi.SIZE_T)
strtol = rffi.llexternal('strtol', [rffi.CCHARP, rffi.CCHARPP, rffi.INT], rffi.LONG,
                         compilation_info=eci)


class CConfig:
    _compilation_info_ = eci
    LONG = rffi_platform.SizeOf('long')
    SIZE_T = rffi_platform.SizeOf('size_t')
    POINTER = rffi_platform.SizeOf('void *')
    LONGLONG = rffi_platform.SizeOf('long long')
    TM = rffi_platform.Struct('struct tm', [('tm_year', rffi.INT), ('tm_mon', rffi.INT)])

config = rffi_platform.configure(CConfig)
TIMEP = rffi.CArrayPtr(rffi.INT)
gmtime = rffi.llexternal('gmtime', [TIMEP], lltype.Ptr(config['TM']), compilation_info=eci)

own = ExternalCompilationInfo(
    separate_module_sources=["""
        void fill(struct pair *p, double *d) { p->a = d[0]; p->b = 2; d[1] = 3.25; p->size = sizeof *p; }
        long long negated(long long n) { return -n; }
        int applied(int n, int (*f)(int, double)) { return f(n, 0.5) + f(1, 2.0); }
        struct wider { int a; double b; };
        void widen(struct wider *w) { w->b = 1.5; }
    """],
    post_include_bits=["""
        struct pair { float a; short b; unsigned char c; double d; int size, more; };
        struct wider;
        void fill(struct pair *, double *);
        long long negated(long long);
        int applied(int, int (*)(int, double));
        void widen(struct wider *);
    """])
PAIR = rffi.CStruct('pair', ('a', rffi.FLOAT), ('b', rffi.SHORT), ('c', rffi.UCHAR), ('d', rffi.DOUBLE),
                    ('size', rffi.INT), ('more', rffi.INT))
WIDER = rffi.CStruct('wider', ('a', rffi.INT), ('b', rffi.DOUBLE))
FUNCTION = lltype.Ptr(lltype.FuncType([rffi.INT, rffi.DOUBLE], rffi.INT))
fill = rffi.llexternal('fill', [lltype.Ptr(PAIR), rffi.DOUBLEP], lltype.Void, compilation_info=own)
negated = rffi.llexternal('negated', [rffi.LONGLONG], rffi.LONGLONG, compilation_info=own)
applied = rffi.llexternal('applied', [rffi.INT, FUNCTION], rffi.INT, compilation_info=own)
widen = rffi.llexternal('widen', [lltype.Ptr(WIDER)], lltype.Void, compilation_info=own)


def called(n, x):
    return rffi.cast(rffi.INT, int(rffi.cast(lltype.Signed, n) * x * 4.0) + 1)


def bad():
    with rffi.scoped_str2charp('12') as p:
        print intmask(undeclared_strlen(p))
        print intmask(strtol(p, lltype.nullptr(rffi.CCHARPP.TO), rffi.cast(rffi.INT, 10)))
    with lltype.scoped_alloc(WIDER) as w:
        widen(w)

BAD = False


def entry_point(argv):
    with rffi.scoped_str2charp('hello') as p:
        print intmask(strlen(p)), intmask(labs(-7)), intmask(llabs(-1 << 40))
    print config['LONG'], config['SIZE_T'], config['POINTER'], config['LONGLONG']
    with lltype.scoped_alloc(TIMEP.TO, 2) as t:
        t[0] = rffi.cast(rffi.INT, 1234567890)
        t[1] = rffi.cast(rffi.INT, 0)
        tm = gmtime(t)
        print rffi.cast(lltype.Signed, tm.c_tm_year), rffi.cast(lltype.Signed, tm.c_tm_mon)
    with lltype.scoped_alloc(PAIR) as pair:
        with lltype.scoped_alloc(rffi.DOUBLEP.TO, 2) as d:
            d[0] = 1.5
            fill(pair, d)
            print rffi.cast(lltype.Float, pair.c_a), rffi.cast(lltype.Signed, pair.c_b), d[1],
            print rffi.cast(lltype.Signed, pair.c_size)
    print intmask(negated(1 << 40))
    print rffi.cast(lltype.Signed, applied(rffi.cast(rffi.INT, 4), called)), len('x' * 30)
    if BAD:
        bad()
    return 0


def target(driver, args):
    return entry_point
