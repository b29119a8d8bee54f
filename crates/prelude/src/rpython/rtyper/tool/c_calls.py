"""Calls of C functions while a program loads.

No C code runs in the process that loads the program: the C compiler makes a program of the
call, and what that prints is the result. So arguments and results are numbers and strings, and
a function of the same library gives the same result for the same arguments each time. In a
folder that is not trusted the program can compute, and nothing else.
"""
from rpython.rtyper.lltypesystem import lltype, rffi
from rpython.rtyper.tool.rffi_platform import CompilationError, ask_statements
from rpython.translator.tool.cbuild import FIELDS, ExternalCompilationInfo


def call(name, args, result, external, values):
    """The result of a function of these low-level types. NotImplementedError if it cannot be
    called in this way."""
    known = dict(zip(FIELDS, external)) if len(external) >= len(FIELDS) else {}
    eci = ExternalCompilationInfo(**known).merge(ExternalCompilationInfo(libraries=['m']))
    if eci.separate_module_sources or eci.separate_module_files:
        raise _refused(name, "it is in a C source of the program")
    parts = [_literal(name, T, v) for T, v in zip(args, values)]
    lines = []
    if not (eci.includes or eci.pre_include_bits or eci.post_include_bits):
        # The headers of the question may declare it otherwise.
        lines.append('extern %s taipan_callee(%s) __asm__("%s");' % (
            _c_type(name, result), ', '.join([_c_type(name, T) for T in args]) or 'void', name))
        callee = 'taipan_callee'
    else:
        callee = name
    lines.append(_say(name, result, '%s(%s)' % (callee, ', '.join(parts))))
    try:
        [said] = ask_statements(eci, lines)
    except CompilationError as e:
        raise _refused(name, str(e))
    return _read(result, said)


def _refused(name, why):
    return NotImplementedError(
        "the C function %s cannot be called while a program is imported: %s" % (name, why))

def _is_string(T):
    return T == rffi.CCHARP or T == rffi.CONST_CCHARP

def _is_integer(T):
    return T in (lltype.Char, lltype.UniChar, lltype.Bool) or (
        isinstance(T, lltype.Number) and T not in (lltype.Float, lltype.SingleFloat))

def _c_type(name, T):
    if _is_string(T):
        return 'const char *'
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
    ctype = _c_type(name, T)
    if _is_string(T):
        if not value:
            return 'NULL'
        return '"%s"' % ''.join(['\\%03o' % ord(c) for c in rffi.charp2str(value)])
    if T == lltype.Float or T == lltype.SingleFloat:
        value = float(value)
        if value - value != 0.0:
            raise _refused(name, "%r has no literal in C" % (value,))
        return '((%s)%s)' % (ctype, value.hex())
    if T in (lltype.Char, lltype.UniChar):
        value = ord(value)
    return '((%s)%dULL)' % (ctype, int(value) & 0xffffffffffffffff)

def _say(name, result, call):
    if _is_string(result):
        return ('{ const char *s = (const char *)%s; if (s) say_string("r", s); else puts("r n"); }'
                % call)
    if result == lltype.Float or result == lltype.SingleFloat:
        return 'printf("r f %%a\\n", (double)%s);' % call
    if _is_integer(result):
        _c_type(name, result)
        return 'SAY_INTEGER("r", %s);' % call
    raise _refused(name, "it returns %s" % (result,))

def _read(result, said):
    kind, text = (said + ' ').split(' ', 2)[1:]
    text = text.strip()
    if kind == 'n':
        return lltype.nullptr(result.TO)
    if kind == 's':
        return rffi.str2charp(text.decode('hex'), track_allocation=False)
    if kind == 'f':
        return rffi.cast(result, float.fromhex(text))
    return rffi.cast(result, int(text))
