"""C types, C functions and C strings.

A function of `llexternal` takes what its C function takes, and besides: numbers of other
types, byte strings where the C function wants characters, RPython functions where it wants
function pointers. `cast`, `sizeof` and `offsetof` are known to the compiler.
"""
from rpython.rlib import rarithmetic
from rpython.rlib.objectmodel import (
    keepalive_until_here, not_rpython, specialize, we_are_translated)
from rpython.rlib.rarithmetic import intmask, widen
from rpython.rlib.rstring import StringBuilder, UnicodeBuilder, assert_str0
from rpython.rtyper.annlowlevel import llhelper, llstr
from rpython.rtyper.lltypesystem import llmemory, lltype
from rpython.translator.platform import platform
from rpython.translator.tool.cbuild import ExternalCompilationInfo
from _llmalloc import cast, int_type, itemoffsetof, sizeof, offsetof

# ____________________________________________________________ numbers

SIGNED = LONG = LONGLONG = SSIZE_T = INTPTR_T = PTRDIFF_T = TIME_T = OFF_T = lltype.Signed
UNSIGNED = ULONG = ULONGLONG = SIZE_T = UINTPTR_T = INO_T = DEV_T = lltype.Unsigned
CLOCK_T = SUSECONDS_T = BLKCNT_T = lltype.Signed
SIGNEDCHAR = INT8_T = int_type(True, 8)
UCHAR = UINT8_T = int_type(False, 8)
SHORT = INT16_T = int_type(True, 16)
USHORT = UINT16_T = int_type(False, 16)
INT = INT32_T = PID_T = MODE_T = int_type(True, 32)
UINT = UINT32_T = UID_T = GID_T = int_type(False, 32)
INT_real = INT
UINT_real = UINT
INT64_T = INTMAX_T = INT_LEAST64_T = INT_FAST64_T = INT_FAST32_T = INT_FAST16_T = lltype.Signed
UINT64_T = UINTMAX_T = UINT_LEAST64_T = UINT_FAST64_T = UINT_FAST32_T = UINT_FAST16_T = lltype.Unsigned
INT_LEAST8_T, INT_LEAST16_T, INT_LEAST32_T = INT8_T, INT16_T, INT32_T
UINT_LEAST8_T, UINT_LEAST16_T, UINT_LEAST32_T = UINT8_T, UINT16_T, UINT32_T
INT_FAST8_T, UINT_FAST8_T = INT8_T, UINT8_T
__INT128_T = lltype.SignedLongLongLong
__UINT128_T = lltype.UnsignedLongLongLong
NLINK_T = lltype.Unsigned
WCHAR_T = INT
CHAR = lltype.Char
DOUBLE = lltype.Float
FLOAT = lltype.SingleFloat
LONGDOUBLE = lltype.LongFloat
BOOL = lltype.Bool

r_signedchar = rarithmetic.r_int8
r_uchar = rarithmetic.r_uint8
r_short = rarithmetic.r_int16
r_ushort = rarithmetic.r_uint16
r_int = r_int_real = rarithmetic.r_int32
r_uint = r_uint_real = rarithmetic.r_uint32
r_singlefloat = rarithmetic.r_singlefloat
r_long = r_longlong = r_ssize_t = r_time_t = rarithmetic.r_int64
r_ulong = r_ulonglong = r_size_t = rarithmetic.r_uint64

platform.numbertype_to_rclass = {
    SIGNEDCHAR: r_signedchar, UINT8_T: r_uchar, SHORT: r_short, USHORT: r_ushort, INT: r_int,
    UINT: r_uint, LONG: int, ULONG: r_ulong, lltype.SignedLongLongLong: rarithmetic.r_longlonglong,
    __UINT128_T: rarithmetic.r_ulonglonglong}

@not_rpython
def size_and_sign(TYPE):
    """Number of bytes, and whether it is unsigned."""
    unsigned = TYPE in (UINT8_T, USHORT, UINT, ULONG, __UINT128_T,
                        lltype.Char, lltype.UniChar, lltype.Bool)
    return sizeof(TYPE), unsigned or isinstance(TYPE, lltype.Ptr)

# ____________________________________________________________ structures and pointers

def CArray(tp):
    return lltype.Array(tp, hints={'nolength': True})

def CArrayPtr(tp):
    return lltype.Ptr(CArray(tp))

def CFixedArray(tp, size):
    return lltype.FixedSizeArray(tp, size)

def CStruct(name, *fields, **kwds):
    """A C struct; its fields are called `c_NAME` here."""
    hints = kwds.get('hints', {}).copy()
    fields = [('c_' + field, TYPE) for field, TYPE in fields]
    return lltype.Struct(name, *fields, **{'hints': hints})

def CStructPtr(*args, **kwds):
    return lltype.Ptr(CStruct(*args, **kwds))

def COpaque(name=None, ptr_typedef=None, hints=None, compilation_info=None):
    """A C type of which nothing is known but its size, where headers tell it."""
    if name is not None and compilation_info is not None:
        from rpython.rtyper.tool import rffi_platform
        try:
            size = rffi_platform.sizeof(name, compilation_info)
        except rffi_platform.CompilationError:
            pass
        else:
            words = lltype.FixedSizeArray(lltype.Signed, (size + 7) // 8)
            return lltype.Struct('C ' + name, ('content', words))
    return lltype.OpaqueType('C %s' % (name or ptr_typedef))

def COpaquePtr(name=None, typedef=None, compilation_info=None):
    return lltype.Ptr(COpaque(name, typedef, compilation_info=compilation_info))

def CCallback(args, res):
    return lltype.Ptr(lltype.FuncType(args, res))

CCHARP = CONST_CCHARP = CArrayPtr(lltype.Char)
CWCHARP = CONST_CWCHARP = CArrayPtr(lltype.UniChar)
CCHARPP = CONST_CCHARPP = CArrayPtr(CCHARP)
CWCHARPP = CArrayPtr(CWCHARP)
VOIDP = CONST_VOIDP = CArrayPtr(lltype.Char)
VOIDPP = CArrayPtr(VOIDP)
UCHARP = CArrayPtr(UCHAR)
SIGNEDCHARP = CArrayPtr(SIGNEDCHAR)
SHORTP = CArrayPtr(SHORT)
USHORTP = CArrayPtr(USHORT)
INTP = INT_realP = CArrayPtr(INT)
UINTP = CArrayPtr(UINT)
LONGP = SIGNEDP = LONGLONGP = SSIZE_TP = TIME_TP = CArrayPtr(LONG)
ULONGP = UNSIGNEDP = ULONGLONGP = SIZE_TP = CArrayPtr(ULONG)
SIGNEDPP = CArrayPtr(SIGNEDP)
DOUBLEP = CArrayPtr(DOUBLE)
FLOATP = CArrayPtr(FLOAT)
LONGDOUBLEP = CArrayPtr(LONGDOUBLE)
NULL = lltype.nullptr(VOIDP.TO)

# C's integer types by name, and what they are here.
TYPES = ['short', 'unsigned short', 'int', 'unsigned int', 'long', 'unsigned long',
         'signed char', 'unsigned char', 'long long', 'unsigned long long', 'size_t', 'time_t',
         'wchar_t', 'uintptr_t', 'intptr_t', 'void*', '__int128_t', '__uint128_t',
         'mode_t', 'pid_t', 'ssize_t', 'ptrdiff_t']
TYPES += ['%s_%s%d_t' % (sign, speed, bits) for speed in ('least', 'fast')
          for bits in (8, 16, 32, 64) for sign in ('int', 'uint')]
TYPES += ['intmax_t', 'uintmax_t']

NUMBER_TYPES = []
for _c_name in TYPES:
    _name = _c_name.replace('unsigned ', 'u').replace(' ', '').upper()
    _type = SIGNED if _name == 'VOID*' else globals()[_name]
    NUMBER_TYPES.append(_type)
    globals().setdefault(_name + 'P', CArrayPtr(_type))
NUMBER_TYPES += [INT_real, UINT_real]

FILEP = COpaquePtr('FILE')

@not_rpython
def make(STRUCT, **fields):
    """A struct in raw memory."""
    p = lltype.malloc(STRUCT, flavor='raw')
    for name, value in fields.items():
        setattr(p, name, value)
    return p

@specialize.ll()
def structcopy(pdst, psrc):
    """Copies all of a struct."""
    size = llmemory.sizeof(lltype.typeOf(pdst).TO)
    llmemory.raw_memcopy(llmemory.cast_ptr_to_adr(psrc), llmemory.cast_ptr_to_adr(pdst), size)

@specialize.ll_and_arg(1)
def getintfield(pdst, fieldname):
    """An integer field as Signed, whatever its type."""
    return cast(lltype.Signed, getattr(pdst, fieldname))

@specialize.ll_and_arg(1)
def setintfield(pdst, fieldname, value):
    """Sets an integer field to a value of any integer type."""
    setattr(pdst, fieldname, cast(getattr(lltype.typeOf(pdst).TO, fieldname), value))

@specialize.ll()
def getarrayitem_signed(array, index):
    return widen(array[index])

@specialize.ll()
def ptradd(ptr, n):
    return lltype.direct_ptradd(ptr, n)

# ____________________________________________________________ C functions

RFFI_SAVE_ERRNO = 1
RFFI_READSAVED_ERRNO = 2
RFFI_ZERO_ERRNO_BEFORE = 4
RFFI_FULL_ERRNO = RFFI_SAVE_ERRNO | RFFI_READSAVED_ERRNO
RFFI_FULL_ERRNO_ZERO = RFFI_SAVE_ERRNO | RFFI_ZERO_ERRNO_BEFORE
RFFI_SAVE_LASTERROR = RFFI_READSAVED_LASTERROR = RFFI_FULL_LASTERROR = 0
RFFI_SAVE_WSALASTERROR = 0
RFFI_ERR_NONE = 0
RFFI_ERR_ALL = RFFI_FULL_ERRNO
RFFI_ALT_ERRNO = 64

@specialize.argtype(0)
def _chars_in(s):
    """A byte string as a C string; any pointer, since the parameter may be a `void *`."""
    if s is None:
        return lltype.nullptr(CCHARP.TO)
    if isinstance(s, str):
        return str2charp(s)
    return cast(CCHARP, s)

@specialize.argtype(0)
def _chars_out(s, p):
    if isinstance(s, str):
        if s is not None:
            free_charp(p)

@specialize.argtype(0)
def _wide_chars_in(s):
    if s is None:
        return lltype.nullptr(CWCHARP.TO)
    if isinstance(s, unicode):
        return unicode2wcharp(s)
    return s

@specialize.argtype(0)
def _wide_chars_out(s, p):
    if isinstance(s, unicode):
        if s is not None:
            free_wcharp(p)

@not_rpython
def llexternal(name, args, result, _callable=None, compilation_info=None, sandboxsafe=False,
               releasegil='auto', _nowrapper=False, calling_conv='c',
               elidable_function=False, macro=None, random_effects_on_gcobjs='auto',
               save_err=RFFI_ERR_NONE, natural_arity=-1):
    """A function of a C library."""
    assert calling_conv == 'c', "only functions with C's calling convention"
    eci = compilation_info or ExternalCompilationInfo()
    external = eci.as_tuple(macro)
    callable = None
    if external == ():
        callable = _callable
    if releasegil == 'auto':
        releasegil = not sandboxsafe
    if releasegil and not _nowrapper:
        external = external + (True,)
    funcptr = lltype.functionptr(lltype.FuncType(args, result), name, external=external,
                                 _callable=callable)
    if _nowrapper:
        return funcptr
    return _wrapper(name, args, result, funcptr, elidable_function, save_err)

def _wrapper(name, args, result, funcptr, elidable, save_err):
    """The function around a pointer to a C function that converts the arguments."""
    before, after, passed = [], [], []
    space = {'funcptr': funcptr, 'cast': cast, 'llhelper': llhelper,
             '_chars_in': _chars_in, '_chars_out': _chars_out,
             '_wide_chars_in': _wide_chars_in, '_wide_chars_out': _wide_chars_out,
             'keep': keepalive_until_here, 'SIGNED': SIGNED, 'UNSIGNED': UNSIGNED}
    for i, TYPE in enumerate(args):
        space['T%d' % i] = TYPE
        passed.append('c%d' % i)
        if TYPE == CCHARP or TYPE == CWCHARP:
            kind = '_chars' if TYPE == CCHARP else '_wide_chars'
            before.append('c%d = %s_in(a%d)' % (i, kind, i))
            after.append('%s_out(a%d, c%d)' % (kind, i, i))
        elif isinstance(TYPE, lltype.Ptr) and isinstance(TYPE.TO, lltype.FuncType):
            before.append('c%d = llhelper(T%d, a%d)' % (i, i, i))
        elif isinstance(TYPE, lltype.Primitive) and TYPE != lltype.Void:
            before.append('c%d = cast(T%d, a%d)' % (i, i, i))
        else:
            before.append('c%d = a%d' % (i, i))
    if save_err & ~RFFI_ALT_ERRNO:
        from rpython.rlib.rposix import _errno_after, _errno_before
        space.update(_errno_after=_errno_after, _errno_before=_errno_before)
        before.append('_errno_before(%d)' % save_err)
        after.insert(0, '_errno_after(%d)' % save_err)
    call = 'funcptr(%s)' % ', '.join(passed)
    if result != lltype.Void:
        call = 'result = ' + call
        # An `int` of C comes as a number that arithmetic works on.
        wide = {INT: 'SIGNED', UINT: 'UNSIGNED'}.get(result)
        after.append('return cast(%s, result)' % wide if wide else 'return result')
    lines = ['def %s(%s):' % (_identifier(name), ', '.join('a%d' % i for i in range(len(args))))]
    lines += ['    ' + line for line in before + [call] + after]
    exec '\n'.join(lines) + '\n' in space
    wrapper = space[_identifier(name)]
    if args:
        wrapper._annspecialcase_ = 'specialize:argtype(%s)' % ', '.join(map(str, range(len(args))))
    wrapper._ptr = funcptr
    wrapper._elidable_function_ = bool(elidable)
    return wrapper

def llexternal_use_eci(compilation_info):
    """A function that does nothing, but makes the C compiler see the information."""
    eci = compilation_info.merge(ExternalCompilationInfo(
        post_include_bits=['static void taipan_nothing(void) { }\n']))
    return llexternal('taipan_nothing', [], lltype.Void, compilation_info=eci, _nowrapper=True)

def _identifier(name):
    name = ''.join([c if c.isalnum() else '_' for c in name])
    if name in ('raise', 'exec', 'print', 'yield', 'assert', 'import', 'del', 'pass'):
        # A word of Python that C may have as a function.
        return name + '_'
    return name

@not_rpython
def CExternVariable(TYPE, name, eci, _CConstantClass=None, sandboxsafe=False, _nowrapper=False,
                    c_type=None, getter_only=False, declare_as_extern=True):
    """Functions that read and write a variable of a C library."""
    c_type = c_type or _c_type(TYPE)
    getter, setter = 'taipan_get_' + name, 'taipan_set_' + name
    bits = ['extern %s %s;\n' % (c_type, name)] if declare_as_extern else []
    bits.append('static %s %s(void) { return %s; }\n' % (c_type, getter, name))
    if not getter_only:
        bits.append('static void %s(%s v) { %s = v; }\n' % (setter, c_type, name))
    eci = eci.merge(ExternalCompilationInfo(post_include_bits=bits))
    def function(name, args, result):
        return llexternal(name, args, result, compilation_info=eci, sandboxsafe=sandboxsafe,
                          _nowrapper=_nowrapper)
    get = function(getter, [], TYPE)
    if getter_only:
        return get
    return get, function(setter, [TYPE], lltype.Void)

def _c_type(TYPE):
    if isinstance(TYPE, lltype.Ptr):
        return _c_type(TYPE.TO.OF) + '*'
    names = {SIGNEDCHAR: 'signed char', UINT8_T: 'unsigned char', SHORT: 'short',
             USHORT: 'unsigned short', INT: 'int', UINT: 'unsigned int', LONG: 'long',
             ULONG: 'unsigned long', CHAR: 'char', DOUBLE: 'double', FLOAT: 'float',
             lltype.Bool: 'char', lltype.UniChar: 'wchar_t'}
    return names[TYPE]

# ____________________________________________________________ strings

def str2charp(s, track_allocation=True):
    """A copy of a byte string as a C string; to be freed with free_charp()."""
    n = len(s)
    array = lltype.malloc(CCHARP.TO, n + 1, flavor='raw')
    i = 0
    while i < n:
        array[i] = s[i]
        i += 1
    array[n] = '\x00'
    return array

def free_charp(cp, track_allocation=True):
    lltype.free(cp, flavor='raw')

def charp2str(cp):
    """A C string as a byte string."""
    n = 0
    while cp[n] != '\x00':
        n += 1
    return assert_str0(charpsize2str(cp, n))

constcharp2str = charp2str

def charpsize2str(cp, size):
    """The first characters behind a pointer."""
    b = StringBuilder(size)
    i = 0
    while i < size:
        b.append(cp[i])
        i += 1
    return b.build()

constcharpsize2str = charpsize2str

def charp2strn(cp, maxlen):
    """A C string as a byte string of at most so many characters."""
    n = 0
    while n < maxlen and cp[n] != '\x00':
        n += 1
    return assert_str0(charpsize2str(cp, n))

def str2chararray(s, array, maxsize):
    """Copies a byte string without terminating zero; answers how much was copied."""
    n = min(len(s), maxsize)
    i = 0
    while i < n:
        array[i] = s[i]
        i += 1
    return n

def unicode2wcharp(s, track_allocation=True):
    n = len(s)
    array = lltype.malloc(CWCHARP.TO, n + 1, flavor='raw')
    i = 0
    while i < n:
        array[i] = s[i]
        i += 1
    array[n] = u'\x00'
    return array

def free_wcharp(wcp, track_allocation=True):
    lltype.free(wcp, flavor='raw')

def wcharp2unicode(wcp):
    n = 0
    while wcp[n] != u'\x00':
        n += 1
    return wcharpsize2unicode(wcp, n)

def wcharpsize2unicode(wcp, size):
    b = UnicodeBuilder(size)
    i = 0
    while i < size:
        b.append(wcp[i])
        i += 1
    return b.build()

def wcharp2unicoden(wcp, maxlen):
    n = 0
    while n < maxlen and wcp[n] != u'\x00':
        n += 1
    return wcharpsize2unicode(wcp, n)

def unicode2wchararray(s, array, maxsize):
    n = min(len(s), maxsize)
    i = 0
    while i < n:
        array[i] = s[i]
        i += 1
    return n

def wcharpsize2utf8(w, size):
    """The first characters behind a pointer, encoded."""
    from rpython.rlib.rutf8 import unichr_as_utf8_append
    b = StringBuilder(size)
    i = 0
    while i < size:
        unichr_as_utf8_append(b, ord(w[i]), True)
        i += 1
    return b.build()

def wcharp2utf8(w):
    """A wide C string encoded, and its length in characters."""
    n = 0
    while w[n] != u'\x00':
        n += 1
    return wcharpsize2utf8(w, n), n

def wcharp2utf8n(w, maxlen):
    n = 0
    while n < maxlen and w[n] != u'\x00':
        n += 1
    return wcharpsize2utf8(w, n), n

def utf82wcharp(utf8, utf8len, track_allocation=True):
    """An encoded text of so many characters as a wide C string."""
    from rpython.rlib.rutf8 import codepoint_at_pos, next_codepoint_pos
    array = lltype.malloc(CWCHARP.TO, utf8len + 1, flavor='raw')
    pos = 0
    i = 0
    while i < utf8len:
        array[i] = unichr(codepoint_at_pos(utf8, pos))
        pos = next_codepoint_pos(utf8, pos)
        i += 1
    array[utf8len] = u'\x00'
    return array

def str2rawmem(s, ptr, offset, size):
    """Copies part of a byte string to raw memory."""
    i = 0
    while i < size:
        ptr[i] = s[offset + i]
        i += 1

def str2constcharp(s):
    return str2charp(s)

def liststr2charpp(l):
    """A copy of a list of byte strings as a C array that ends in NULL."""
    n = len(l)
    array = lltype.malloc(CCHARPP.TO, n + 1, flavor='raw')
    for i in range(n):
        array[i] = str2charp(l[i])
    array[n] = lltype.nullptr(CCHARP.TO)
    return array

ll_liststr2charpp = liststr2charpp

def free_charpp(ref, track_allocation=True):
    """Frees what liststr2charpp() made."""
    for i in range(_strings_in(ref)):
        free_charp(ref[i])
    lltype.free(ref, flavor='raw')

def charpp2liststr(p):
    """A list of the byte strings of a C array that ends in NULL."""
    return [charp2str(p[i]) for i in range(_strings_in(p))]

def _strings_in(p):
    count = 0
    while p[count]:
        count += 1
    return count

# Objects of the heap may move: buffers are copies.

def get_nonmovingbuffer(data):
    return str2charp(data)

def free_nonmovingbuffer(data, buf):
    free_charp(buf)

def get_nonmovingbuffer_ll(data):
    return str2charp(data), llstr(data), '\x06'

get_nonmovingbuffer_ll_final_null = get_nonmovingbuffer_ll

def free_nonmovingbuffer_ll(buf, llobj, flag):
    free_charp(buf)

def get_raw_address_of_string(string):
    """Where the characters of a string are, with a zero byte behind the last one: the same place as long as the
    string lives."""
    if we_are_translated():
        from rpython.rlib import rgc
        from rpython.rtyper.lltypesystem.rstr import STR
        string = rgc.move_out_of_nursery(string)
        s = llstr(string)
        start = llmemory.cast_ptr_to_adr(s)
        start += llmemory.offsetof(STR, 'chars') + llmemory.itemoffsetof(STR.chars, 0)
        rgc.ll_write_final_null_char(s)
        return cast(CCHARP, start)
    if string not in _addresses:
        _addresses[string] = str2charp(string)
    return _addresses[string]

# Of strings whose addresses were asked for while a program loads.
_addresses = {}

def get_nonmovingunicodebuffer(data):
    return unicode2wcharp(data)

def free_nonmovingunicodebuffer(data, buf):
    free_wcharp(buf)

def alloc_buffer(count):
    """Raw memory for a string that C code makes: pointer, and two values for
    str_from_buffer() and keep_buffer_alive_until_here()."""
    return lltype.malloc(CCHARP.TO, count, flavor='raw'), '', 1

def str_from_buffer(raw_buf, gc_buf, case_num, allocated_size, needed_size):
    assert allocated_size >= needed_size
    return charpsize2str(raw_buf, needed_size)

def keep_buffer_alive_until_here(raw_buf, gc_buf, case_num):
    lltype.free(raw_buf, flavor='raw')

def alloc_unicodebuffer(count):
    return lltype.malloc(CWCHARP.TO, count, flavor='raw'), u'', 1

def unicode_from_buffer(raw_buf, gc_buf, case_num, allocated_size, needed_size):
    return wcharpsize2unicode(raw_buf, needed_size)

def keep_unicodebuffer_alive_until_here(raw_buf, gc_buf, case_num):
    lltype.free(raw_buf, flavor='raw')


# Copies for the time of a `with` statement; None is NULL.

class scoped_str2charp:
    buf = lltype.nullptr(CCHARP.TO)

    def __init__(self, value):
        if value is not None:
            self.buf = str2charp(value)

    def __enter__(self):
        return self.buf

    def __exit__(self, *failure):
        if self.buf:
            free_charp(self.buf)

class scoped_view_charp(scoped_str2charp):
    pass

class scoped_nonmovingbuffer(scoped_str2charp):
    pass

class _scoped_wcharp:
    """Base of those of wide characters."""
    buf = lltype.nullptr(CWCHARP.TO)

    def __enter__(self):
        return self.buf

    def __exit__(self, *failure):
        if self.buf:
            free_wcharp(self.buf)

class scoped_utf82wcharp(_scoped_wcharp):
    def __init__(self, value, unicode_len):
        if value is not None:
            self.buf = utf82wcharp(value, unicode_len)

class scoped_unicode2wcharp(_scoped_wcharp):
    def __init__(self, value):
        if value is not None:
            self.buf = unicode2wcharp(value)

class scoped_nonmoving_unicodebuffer(scoped_unicode2wcharp):
    pass

class scoped_alloc_buffer:
    """Raw memory for a string that C code makes: fill `raw`, then take `str(size)`."""
    def __init__(self, size):
        self.size = size
    def __enter__(self):
        self.raw = lltype.malloc(CCHARP.TO, self.size, flavor='raw')
        return self
    def __exit__(self, *args):
        lltype.free(self.raw, flavor='raw')
    def str(self, length):
        return charpsize2str(self.raw, length)

class scoped_alloc_unicodebuffer:
    """The same for unicode."""
    def __init__(self, size):
        self.size = size

    def __enter__(self):
        self.raw = lltype.malloc(CWCHARP.TO, self.size, flavor='raw')
        return self

    def __exit__(self, *failure):
        lltype.free(self.raw, flavor='raw')

    def str(self, length):
        return wcharpsize2unicode(self.raw, length)


def c_memcpy(dest, source, size):
    llmemory.raw_memcopy(llmemory.cast_ptr_to_adr(source), llmemory.cast_ptr_to_adr(dest),
                         cast(lltype.Signed, size))
c_memcpy._annspecialcase_ = 'specialize:argtype(2)'

def c_memset(dest, byte, size):
    i = 0
    while i < size:
        dest[i] = chr(byte)
        i += 1
