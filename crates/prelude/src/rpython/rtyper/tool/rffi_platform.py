"""Constants, types and structures as the C compiler of the machine knows them.

configure(CConfig) answers all questions in the attributes of a class with one small C
program, which is compiled and run while the program loads.
"""
from rpython.rtyper.lltypesystem import lltype, rffi
from rpython.translator.tool.cbuild import ExternalCompilationInfo
from _taipan import ask_c_compiler


class CompilationError(Exception):
    pass


class ConfigurationError(Exception):
    pass


def eci_from_header(c_header_source, include_dirs=(), libraries=()):
    return ExternalCompilationInfo(post_include_bits=[str(c_header_source)],
                                   include_dirs=include_dirs, libraries=libraries)


# ____________________________________________________________ questions

class CConfigEntry(object):
    """A question. lines() are C statements that print `KEY VALUE` lines, answer() makes
    the result from a dict of what they printed."""


class SimpleType(CConfigEntry):
    """An integer or float type: the low-level one of its size and sign."""

    def __init__(self, name, ctype_hint=rffi.INT, ifdef=None):
        self.name = name
        self.ctype_hint = ctype_hint
        self.ifdef = ifdef

    def lines(self):
        yield 'SAY("size", sizeof(%s));' % self.name
        yield 'SAY("unsigned", ((%s)(-1)) > 0);' % self.name

    def answer(self, said):
        if not said:
            return None
        if self.ctype_hint in (lltype.Float, lltype.SingleFloat):
            return {8: lltype.Float, 4: lltype.SingleFloat}[said['size']]
        if self.ctype_hint in (lltype.Char, lltype.UniChar) or (
                isinstance(self.ctype_hint, lltype.Ptr)):
            return self.ctype_hint
        return _integer_type(said['size'], said['unsigned'])


class SizeOf(CConfigEntry):
    """The size of a type."""

    def __init__(self, name, ifdef=None):
        self.name = name
        self.ifdef = ifdef

    def lines(self):
        yield 'SAY("size", sizeof(%s));' % self.name

    def answer(self, said):
        return said.get('size')


class ConstantInteger(CConfigEntry):
    """An integer constant, which must be there."""

    def __init__(self, name):
        self.name = name

    def lines(self):
        yield 'SAY_INTEGER("value", %s);' % self.name

    def answer(self, said):
        return said['value']


class DefinedConstantInteger(CConfigEntry):
    """A macro that is an integer; None where there is no such macro."""

    def __init__(self, macro):
        self.name = self.macro = macro

    def lines(self):
        yield '#ifdef %s' % self.macro
        yield 'SAY_INTEGER("value", %s);' % self.macro
        yield '#endif'

    def answer(self, said):
        return said.get('value')


class DefinedConstantString(CConfigEntry):
    """A macro that is a string; None where there is no such macro."""

    def __init__(self, macro, name=None):
        self.macro = macro
        self.name = name or macro

    def lines(self):
        yield '#ifdef %s' % self.macro
        yield 'say_string("value", %s);' % self.name
        yield '#endif'

    def answer(self, said):
        return said.get('value')


class DefinedConstantDouble(CConfigEntry):
    """A macro that is a float; None where there is no such macro."""

    def __init__(self, macro):
        self.name = self.macro = macro

    def lines(self):
        yield '#ifdef %s' % self.macro
        yield 'printf("value f %%.17g\\n", (double)(%s));' % self.macro
        yield '#endif'

    def answer(self, said):
        return said.get('value')


class Defined(CConfigEntry):
    """Whether there is a macro of that name."""

    def __init__(self, macro):
        self.name = self.macro = macro

    def lines(self):
        yield '#ifdef %s' % self.macro
        yield 'SAY("value", 1);'
        yield '#endif'

    def answer(self, said):
        return 'value' in said


class Has(CConfigEntry):
    """Whether an expression compiles and links: asked by itself."""

    def __init__(self, name):
        self.name = name

    def ask(self, eci):
        try:
            # As in the original, what is asked may call `dump(key, value)`.
            ask_statements(eci, ['#define dump(key, value) (void)(value)', '(void)(%s);' % self.name])
        except CompilationError:
            return False
        return True


class Works(CConfigEntry):
    """Whether a C program with that header compiles and links at all."""

    def ask(self, eci):
        try:
            ask_statements(eci, [])
        except CompilationError:
            return False
        return True


class Struct(CConfigEntry):
    """A struct with the fields that are asked for, at the places where C has them. The
    type of a field may be a question itself."""

    def __init__(self, name, interesting_fields, ifdef=None):
        self.name = name
        self.interesting_fields = interesting_fields
        self.ifdef = ifdef

    def lines(self):
        yield 'SAY("size", sizeof(%s));' % self.name
        for field, TYPE in self.interesting_fields:
            yield '{ static %s s;' % self.name
            yield 'SAY("%s.offset", offsetof(%s, %s));' % (field, self.name, field)
            yield 'SAY("%s.size", sizeof(s.%s));' % (field, field)
            if _is_integer(TYPE):
                yield 's.%s = 0; s.%s = ~s.%s;' % (field, field, field)
                yield 'SAY("%s.unsigned", s.%s > 0);' % (field, field)
            if isinstance(TYPE, CConfigEntry):
                for line in TYPE.lines():
                    yield line.replace('SAY("', 'SAY("%s.type.' % field)
            yield '}'

    def answer(self, said):
        if not said:
            return None
        fields = [(said[name + '.offset'], name, self._field_type(name, TYPE, said))
                  for name, TYPE in self.interesting_fields]
        fields.sort()
        layout, end = [], 0
        for offset, name, TYPE in fields:
            size = said[name + '.size']
            if isinstance(TYPE, (lltype.Ptr, lltype.Number)) and (
                    rffi.sizeof(TYPE) != size or offset % size):
                # Where addresses have 32 bits, those of the program are larger.
                raise ConfigurationError("%s: its field %s has %d bytes at %d in C, where no field of "
                                         "type %s can be" % (self.name, name, size, offset, TYPE))
            _fill(layout, end, offset)
            layout.append(('c_' + name, TYPE))
            end = offset + size
        _fill(layout, end, said['size'])
        name = self.name
        if name.startswith('struct '):
            name = name[len('struct '):]
        return lltype.Struct(name, *layout)

    def _field_type(self, name, TYPE, said):
        size = said[name + '.size']
        if isinstance(TYPE, CConfigEntry):
            start = name + '.type.'
            return TYPE.answer(dict([(key[len(start):], value) for key, value in said.items()
                                     if key.startswith(start)]))
        if _is_integer(TYPE):
            if TYPE == lltype.Char and size == 1 and said[name + '.unsigned']:
                return TYPE
            return _integer_type(size, said[name + '.unsigned'])
        if isinstance(TYPE, lltype.FixedSizeArray) and TYPE.length * rffi.sizeof(TYPE.OF) != size:
            return lltype.FixedSizeArray(TYPE.OF, size // rffi.sizeof(TYPE.OF))
        return TYPE


def _fill(layout, start, end):
    """Padding, where the natural alignment of the next field does not make it."""
    for i in range(start, end):
        layout.append(('c__pad%d' % i, lltype.Char))

def _is_integer(TYPE):
    return TYPE in (lltype.Char, lltype.Bool) or (
        isinstance(TYPE, lltype.Number) and TYPE not in (lltype.Float, lltype.SingleFloat))

def _integer_type(size, unsigned):
    return rffi.int_type(not unsigned, 8 * size)

# ____________________________________________________________ asking

_PROGRAM = """
#include <stdio.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if __SIZEOF_POINTER__ < 8
typedef long long Signed;
typedef unsigned long long Unsigned;
#else
typedef long Signed;
typedef unsigned long Unsigned;
#endif
#define RPY_EXTERN extern
%s
#define SAY(key, value) printf("%%s i %%ld\\n", key, (long)(value))
#define SAY_INTEGER(key, value) do { \\
    if ((value) > 0 && (unsigned long long)(value) > 0x7fffffffffffffffULL) \\
        printf("%%s i %%llu\\n", key, (unsigned long long)(value)); \\
    else printf("%%s i %%lld\\n", key, (long long)(value)); } while (0)
static void say_string(const char *key, const char *s) {
    printf("%%s s ", key);
    for (; *s; s++) printf("%%02x", (unsigned char)*s);
    printf("\\n");
}
int main(void) {
%s
    return 0;
}
"""


def _header(eci):
    lines = list(eci.pre_include_bits)
    lines += ['#include <%s>' % name for name in eci.includes]
    return '\n'.join(lines + list(eci.post_include_bits))

def _options(eci):
    options = ['-I' + d for d in eci.include_dirs] + list(eci.compile_extra)
    options += ['-L' + d for d in eci.library_dirs]
    return options + ['-l' + l for l in eci.libraries] + list(eci.link_extra)

def ask_statements(eci, lines):
    """What a C program with these statements prints, line by line."""
    ok, text = ask_c_compiler(_PROGRAM % (_header(eci), '\n'.join(lines)), _options(eci),
                              eci._written_headers())
    if not ok:
        raise CompilationError(text)
    return text.splitlines()

def _value(kind, text):
    if kind == 's':
        return text.decode('hex')
    if kind == 'f':
        return float(text)
    return int(text)

def _read(lines):
    said = {}
    for line in lines:
        key, kind, text = (line + ' ').split(' ', 2)
        said[key] = _value(kind, text.strip())
    return said


def configure(CConfig, ignore_errors=False):
    """The answers to the questions among the attributes of a class, by name."""
    for attr in ['_includes_', '_libraries_', '_sources_', '_library_dirs_', '_include_dirs_',
                 '_header_']:
        assert not hasattr(CConfig, attr), "%s belongs into _compilation_info_" % attr
    eci = CConfig._compilation_info_
    result, asked, lines = {}, [], []
    for key in sorted(dir(CConfig)):
        entry = getattr(CConfig, key)
        if not isinstance(entry, CConfigEntry):
            continue
        if isinstance(entry, (Has, Works)):
            result[key] = entry.ask(eci)
            continue
        asked.append((key, entry))
        lines.append('printf("=\\n");')
        ifdef = getattr(entry, 'ifdef', None)
        if ifdef is not None:
            lines.append('#ifdef ' + ifdef)
        lines += list(entry.lines())
        if ifdef is not None:
            lines.append('#endif')
    if asked:
        parts = '\n'.join(ask_statements(eci, lines)).split('=')[1:]
        for (key, entry), part in zip(asked, parts):
            result[key] = entry.answer(_read([l for l in part.split('\n') if l]))
    return result


def _question(entry, **kwds):
    class CConfig:
        _compilation_info_ = ExternalCompilationInfo(**kwds)
        ENTRY = entry
    return configure(CConfig)['ENTRY']

def getstruct(name, c_header_source, interesting_fields):
    return _question(Struct(name, interesting_fields), post_include_bits=[c_header_source])

def getsimpletype(name, c_header_source, ctype_hint=rffi.INT):
    return _question(SimpleType(name, ctype_hint), post_include_bits=[c_header_source])

def getconstantinteger(name, c_header_source):
    return _question(ConstantInteger(name), post_include_bits=[c_header_source])

def getdefined(macro, c_header_source):
    return _question(Defined(macro), post_include_bits=[c_header_source])

def getdefineddouble(macro, c_header_source):
    return _question(DefinedConstantDouble(macro), post_include_bits=[c_header_source])

def getdefinedinteger(macro, c_header_source):
    return _question(DefinedConstantInteger(macro), post_include_bits=[c_header_source])

def getdefinedstring(macro, c_header_source):
    return _question(DefinedConstantString(macro), post_include_bits=[c_header_source])

def getintegerfunctionresult(function, args=None, c_header_source='', includes=[]):
    call = '%s(%s)' % (function, ', '.join(args or []))
    return _question(ConstantInteger(call), post_include_bits=[c_header_source],
                     includes=includes)

def has(name, c_header_source, include_dirs=None, libraries=None):
    return _question(Has(name), post_include_bits=[c_header_source],
                     include_dirs=include_dirs or [], libraries=libraries or [])

def sizeof(name, eci, **kwds):
    class CConfig:
        _compilation_info_ = eci
        SIZE = SizeOf(name)
    return configure(CConfig)['SIZE']

def checkcompiles(expression, c_header_source, include_dirs=None):
    return has(expression, c_header_source, include_dirs)

def memory_alignment():
    """The largest alignment that the members of a struct need."""
    return 16

def configure_external_library(name, eci, configurations, symbol=None, _cache={}):
    """The information itself: libraries are where the C compiler looks for them."""
    return eci

def verify_eci(eci):
    """CompilationError unless a program with that information compiles and links."""
    class CConfig:
        _compilation_info_ = eci
        WORKS = Works()
    if not configure(CConfig)['WORKS']:
        raise CompilationError("not compiling: %r" % (eci,))
