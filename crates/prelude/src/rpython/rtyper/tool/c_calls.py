"""Calls of C functions while a program loads.

No C code runs in the process that loads the program: the C compiler makes a program of the
call, and what that prints is the result. So a function of the same library gives the same result
for the same arguments each time. In a folder that is not trusted the program can compute, and
nothing else. Where the function is in C sources of the program that declares it, these are part of
the one that is made: all of them in one translation unit, which is compiled once for all calls, or together
with the call where it does not compile or link otherwise.

Arguments and results are numbers, and memory that holds numbers or characters. The memory of an
argument is copied into the program, and back after the call. A result that is a string is a copy
up to the first zero, one that is a struct is a copy with copies of its strings; an array has to
come from malloc(), which knows its size. What the function frees is freed. There is one errno,
which goes from call to call.
"""
import os
import struct

from rpython.rtyper.lltypesystem import lltype, rffi
from rpython.rtyper.tool.rffi_platform import CompilationError, ask_statements, shared_code
from rpython.translator.tool.cbuild import FIELDS, ExternalCompilationInfo

# The program's own malloc(). New memory is zero, and nothing is used twice: results depend on
# nothing else. A size is in front of each block, with a one behind it once the block was freed.
_MEMORY = """
#define TAIPAN_ARENA 67108864
static _Alignas(16) char taipan_arena[TAIPAN_ARENA];
static size_t taipan_used;
void *malloc(size_t size) {
    size_t *block = (size_t *)(taipan_arena + taipan_used);
    if (size > TAIPAN_ARENA - 32 || taipan_used > TAIPAN_ARENA - 32 - size) return NULL;
    taipan_used += 16 + (size + 15) / 16 * 16;
    block[0] = size;
    return (char *)block + 16;
}
static size_t *taipan_block(const void *p) {
    return (const char *)p > taipan_arena && (const char *)p < taipan_arena + taipan_used
        ? (size_t *)((char *)p - 16) : NULL;
}
void free(void *p) {
    if (taipan_block(p)) taipan_block(p)[1] = 1;
}
void *calloc(size_t n, size_t size) {
    return size && n > (size_t)-1 / size ? NULL : malloc(n * size);
}
void *realloc(void *old, size_t size) {
    void *p = malloc(size);
    if (p && taipan_block(old)) {
        memcpy(p, old, taipan_block(old)[0] < size ? taipan_block(old)[0] : size);
        free(old);
    }
    return p;
}
static void taipan_say(const char *key, const void *p) {
    size_t i, size = taipan_block(p)[0];
    if (taipan_block(p)[1]) { printf("%s d\\n", key); return; }
    printf("%s m ", key);
    for (i = 0; i < size; i++) printf("%02x", ((const unsigned char *)p)[i]);
    printf("\\n");
}
"""


def call(name, args, result, external, values):
    """The result of a function of these low-level types. NotImplementedError if it cannot be
    called in this way."""
    if name == '__errno_location':
        return _errno_memory()
    known = dict(zip(FIELDS, external)) if len(external) >= len(FIELDS) else {}
    eci = ExternalCompilationInfo(**known).merge(ExternalCompilationInfo(libraries=['m']))
    is_declared = eci.includes or eci.pre_include_bits or eci.post_include_bits
    before, after, parts = [], [], []
    memory = []
    for T, v in zip(args, values):
        if (_is_memory(T) or _is_struct(T)) and v:
            number = len(memory)
            memory.append(v)
            before += _copied(name, T, v, number)
            after.append('taipan_say("%d", m%d);' % (number, number))
            parts.append('m%d' % number)
        else:
            parts.append(_literal(name, T, v))
    eci = eci.merge(ExternalCompilationInfo(includes=['errno.h']))
    bits = [_MEMORY] if memory or _is_array(result) or _is_struct(result) else []
    if is_declared:
        callee = name
    else:
        # The headers of the question may declare it otherwise.
        before.append('extern %s taipan_callee(%s) __asm__("%s");' % (
            _c_type(name, result), ', '.join([_c_type(name, T) for T in args]) or 'void', name))
        callee = 'taipan_callee'
    before.append('errno = %d;' % _errno_memory()[0])
    before += _called(name, result, '%s(%s)' % (callee, ', '.join(parts)))
    said = _ask(name, eci, bits, before + _say(name, result) + after)
    values = {}
    for line in said:
        key, kind, text = (line + '  ').split(' ', 2)
        values[key] = kind, text.strip()
    _errno_memory()[0] = rffi.cast(rffi.INT, int(values['e'][1]))
    for i, v in enumerate(memory):
        _write_back(v, *values['%d' % i])
    return _read(name, result, values)


_errno = []

def _errno_memory():
    if not _errno:
        _errno.append(lltype.malloc(rffi.INTP.TO, 1, flavor='raw', zero=True,
                                    track_allocation=False))
    return _errno[0]


# Functions that are in C sources: the name, and what they are compiled with.
_in_sources = {}

def _ask(name, eci, bits, lines):
    """What the program prints. Many functions are in a library, whatever C sources come with
    them, so that these are only part of a program that does not link without them."""
    texts = list(eci.separate_module_sources)
    texts += ['#include "%s"' % os.path.abspath(path) for path in eci.separate_module_files]
    known = (name, eci)
    eci = eci.copy_without('separate_module_sources', 'separate_module_files')
    program = eci.merge(ExternalCompilationInfo(post_include_bits=bits))
    if known not in _in_sources:
        try:
            return ask_statements(program, lines)
        except CompilationError as e:
            if not texts:
                raise _refused(name, str(e))
        _in_sources[known] = True
    try:
        return ask_statements(program, lines, shared_code(eci, texts))
    except CompilationError:
        pass
    try:
        return ask_statements(program.merge(ExternalCompilationInfo(post_include_bits=texts)), lines)
    except CompilationError as e:
        raise _refused(name, str(e))


def _refused(name, why):
    return NotImplementedError(
        "the C function %s cannot be called while a program is imported: %s" % (name, why))

def _is_string(T):
    return T == rffi.CCHARP or T == rffi.CONST_CCHARP

def _is_array(T):
    """Whether it is memory with integers, which are not characters."""
    return _is_memory(T) and not _is_string(T)

def _is_memory(T):
    if _is_string(T):
        return True
    return (isinstance(T, lltype.Ptr) and isinstance(T.TO, lltype.Array) and
            T == rffi.CArrayPtr(T.TO.OF) and _is_integer(T.TO.OF) and
            rffi.size_and_sign(T.TO.OF)[0] <= 8)

def _is_struct(T):
    """Whether it is a struct with numbers and strings."""
    if not (isinstance(T, lltype.Ptr) and isinstance(T.TO, lltype.Struct)):
        return False
    fields = [getattr(T.TO, field) for field in T.TO._names]
    return all([_is_number(F) or _is_string(F) for F in fields])

def _is_number(T):
    return T == lltype.Float or T == lltype.SingleFloat or (
        _is_integer(T) and rffi.size_and_sign(T)[0] <= 8)

def _place(name, start, T, field):
    """A field of a struct, in C."""
    F = getattr(T, field)
    return '(*(%s *)((char *)%s + %d))' % (_c_type(name, F), start, rffi.offsetof(T, field))

def _items(p):
    """The items of memory, as far as it goes."""
    found = []
    try:
        while True:
            found.append(p[len(found)])
    except IndexError:
        return found

def _number(item):
    return ord(item) if isinstance(item, (str, unicode)) else int(item)

def _copied(name, T, p, number):
    """Statements that declare a copy of memory."""
    if _is_struct(T):
        lines = ['char *m%d = (char *)malloc(%d);' % (number, rffi.sizeof(T.TO))]
        for field in T.TO._names:
            literal = _literal(name, getattr(T.TO, field), getattr(p, field))
            lines.append('%s = %s;' % (_place(name, 'm%d' % number, T.TO, field), literal))
        return lines
    items = [_number(item) for item in _items(p)]
    ctype = _c_type(name, T.TO.OF)
    mask = (1 << 8 * rffi.size_and_sign(T.TO.OF)[0]) - 1
    lines = ['%s *m%d = (%s *)malloc(%d * sizeof(%s));' % (ctype, number, ctype, len(items), ctype)]
    if items:
        lines.append('{ static const %s of[] = {%s}; memcpy(m%d, of, sizeof(of)); }' % (
            ctype, ', '.join(['(%s)%dULL' % (ctype, item & mask) for item in items]), number))
    return lines

def _numbers(T, text):
    """The integers that hexadecimal digits are, in the order of bytes of this machine."""
    size, unsigned = rffi.size_and_sign(T)
    data = text.decode('hex')
    found = []
    for start in range(0, len(data) - size + 1, size):
        number = 0
        for i in range(size - 1, -1, -1):
            number = number << 8 | ord(data[start + i])
        if not unsigned and number >> 8 * size - 1:
            number -= 1 << 8 * size
        found.append(number)
    return found

def _scalar(T, data):
    """The number with these bytes."""
    if T == lltype.Float or T == lltype.SingleFloat:
        return rffi.cast(T, struct.unpack('d' if T == lltype.Float else 'f', data)[0])
    return _item(T, _numbers(T, data.encode('hex'))[0])

def _item(T, number):
    if T == lltype.Char:
        return chr(number & 0xff)
    if T == lltype.UniChar:
        return unichr(number)
    return rffi.cast(T, number)

def _write_back(p, kind, text):
    T = lltype.typeOf(p).TO
    if kind == 'd':
        lltype.free(p, flavor='raw', track_allocation=False)
        return
    if isinstance(T, lltype.Struct):
        data = text.decode('hex')
        for field in T._names:
            F = getattr(T, field)
            size, start = rffi.sizeof(F), rffi.offsetof(T, field)
            if _is_number(F):
                setattr(p, field, _scalar(F, data[start:start + size]))
        return
    T = T.OF
    for i, number in enumerate(_numbers(T, text)):
        item = _item(T, number)
        if p[i] != item:
            p[i] = item

def _is_integer(T):
    return T in (lltype.Char, lltype.UniChar, lltype.Bool) or (
        isinstance(T, lltype.Number) and T not in (lltype.Float, lltype.SingleFloat))

def _c_type(name, T):
    if _is_string(T):
        return 'const char *'
    if _is_array(T):
        return _c_type(name, T.TO.OF) + ' *'
    if _is_struct(T):
        return 'void *'
    if T == lltype.Void:
        return 'void'
    if T == lltype.Float:
        return 'double'
    if T == lltype.SingleFloat:
        return 'float'
    if _is_integer(T):
        size, unsigned = rffi.size_and_sign(T)
        if size <= 8:
            return '%sint%d_t' % ('u' if unsigned else '', 8 * size)
    raise _refused(name, "it takes or returns %s" % (T,))

def _literal(name, T, value):
    if _is_memory(T) or _is_struct(T):
        if value:
            raise _refused(name, "it is given a struct with pointers")
        return 'NULL'
    ctype = _c_type(name, T)
    if T == lltype.Float or T == lltype.SingleFloat:
        value = float(value)
        if value - value != 0.0:
            raise _refused(name, "%r has no literal in C" % (value,))
        return '((%s)%s)' % (ctype, value.hex())
    if T in (lltype.Char, lltype.UniChar):
        value = ord(value)
    return '((%s)%dULL)' % (ctype, int(value) & 0xffffffffffffffff)

def _called(name, result, call):
    """Statements that call the function, and keep its result and errno."""
    if result == lltype.Void:
        call += ';'
    else:
        ctype = _c_type(name, result)
        call = '%s r = (%s)%s;' % (ctype, ctype, call)
    return [call, 'printf("e i %d\\n", errno);']

def _say(name, result):
    """Statements that print the result."""
    if result == lltype.Void:
        return ['puts("r n");']
    if _is_array(result):
        return ['if (!r) puts("r n"); else if (taipan_block(r)) taipan_say("r", r); '
                'else puts("r o");']
    if _is_struct(result):
        lines = ['puts(r ? "r t" : "r n"); if (r) {']
        for field in result.TO._names:
            lines += _say_value(name, 'r.' + field, getattr(result.TO, field),
                                _place(name, 'r', result.TO, field))
        return lines + ['}']
    return _say_value(name, 'r', result, 'r')

def _say_value(name, key, T, value):
    if _is_string(T):
        return ['{ const char *s = (const char *)%s; if (s) say_string("%s", s); else puts("%s n"); }'
                % (value, key, key)]
    if T == lltype.Float or T == lltype.SingleFloat:
        return ['printf("%s f %%a\\n", (double)%s);' % (key, value)]
    if _is_integer(T):
        _c_type(name, T)
        return ['SAY_INTEGER("%s", %s);' % (key, value)]
    raise _refused(name, "it returns %s" % (T,))

def _read(name, result, values):
    kind, text = values['r']
    if kind == 't':
        p = lltype.malloc(result.TO, flavor='raw', zero=True, track_allocation=False)
        for field in result.TO._names:
            setattr(p, field, _value(getattr(result.TO, field), *values['r.' + field]))
        return p
    if kind == 'm':
        numbers = _numbers(result.TO.OF, text)
        p = lltype.malloc(result.TO, len(numbers), flavor='raw', track_allocation=False)
        for i, number in enumerate(numbers):
            p[i] = _item(result.TO.OF, number)
        return p
    if kind == 'o':
        raise _refused(name, "it returns memory that is not from malloc()")
    if result == lltype.Void:
        return None
    return _value(result, kind, text)

def _value(T, kind, text):
    if kind == 'n':
        return lltype.nullptr(T.TO)
    if kind == 's':
        return rffi.str2charp(text.decode('hex'), track_allocation=False)
    if kind == 'f':
        return rffi.cast(T, float.fromhex(text))
    if T in (lltype.Char, lltype.UniChar):
        return _item(T, int(text))
    return rffi.cast(T, int(text))
