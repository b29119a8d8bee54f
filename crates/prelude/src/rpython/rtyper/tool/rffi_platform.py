"""Constants, types and structures as the C compiler of the machine knows them.

configure(CConfig) finds the answers to all questions in the attributes of a class in the object
file of one small C program. Nothing that was compiled runs, unless a value is no constant for
the C compiler.
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
    """A question. values() are what the C compiler is asked for: key, kind ('i', 'f' or 's') and
    expression, answer() makes the result from a dict of the values by key. There is nothing to
    ask where one of the macros is missing."""

    macros = ()


class _OfMacro(CConfigEntry):
    """A question about a macro: None where there is no such macro."""

    def __init__(self, macro):
        self.name = self.macro = macro
        self.macros = (macro,)

    def answer(self, said):
        return said.get('value')


class SimpleType(CConfigEntry):
    """An integer or float type: the low-level one of its size and sign."""

    def __init__(self, name, ctype_hint=rffi.INT, ifdef=None):
        self.name = name
        self.ctype_hint = ctype_hint
        self.macros = _macros(ifdef)

    def values(self):
        yield 'size', 'i', 'sizeof(%s)' % self.name
        yield 'unsigned', 'i', '((%s)(-1)) > 0' % self.name

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
        self.macros = _macros(ifdef)

    def values(self):
        yield 'size', 'i', 'sizeof(%s)' % self.name

    def answer(self, said):
        return said.get('size')


class ConstantInteger(CConfigEntry):
    """An integer constant, which must be there."""

    def __init__(self, name):
        self.name = name

    def values(self):
        yield 'value', 'i', self.name

    def answer(self, said):
        return said['value']


class DefinedConstantInteger(_OfMacro):
    """A macro that is an integer; None where there is no such macro."""

    def values(self):
        yield 'value', 'i', self.macro


class DefinedConstantString(_OfMacro):
    """A macro that is a string; None where there is no such macro."""

    def __init__(self, macro, name=None):
        _OfMacro.__init__(self, macro)
        self.name = name or macro

    def values(self):
        yield 'value', 's', self.name


class DefinedConstantDouble(_OfMacro):
    """A macro that is a float; None where there is no such macro."""

    def values(self):
        yield 'value', 'f', self.macro


class Defined(_OfMacro):
    """Whether there is a macro of that name."""

    def values(self):
        yield 'value', 'i', '1'

    def answer(self, said):
        return 'value' in said


class Has(CConfigEntry):
    """Whether an expression compiles and links: asked by itself."""

    def __init__(self, name):
        self.name = name

    def ask(self, eci):
        try:
            # As in the original, what is asked may call `dump(key, value)`.
            _ask(eci, ['#define dump(key, value) (void)(value)', '(void)(%s);' % self.name],
                 'links')
        except CompilationError:
            return False
        return True


class Works(CConfigEntry):
    """Whether a C program with that header compiles and links at all."""

    def ask(self, eci):
        try:
            _ask(eci, [], 'links')
        except CompilationError:
            return False
        return True


class Struct(CConfigEntry):
    """A struct with the fields that are asked for, at the places where C has them. The
    type of a field may be a question itself."""

    def __init__(self, name, interesting_fields, ifdef=None):
        self.name = name
        self.interesting_fields = interesting_fields
        self.macros = _macros(ifdef)

    def values(self):
        yield 'size', 'i', 'sizeof(%s)' % self.name
        for field, TYPE in self.interesting_fields:
            member = '((%s *)0)->%s' % (self.name, field)
            yield field + '.offset', 'i', 'offsetof(%s, %s)' % (self.name, field)
            yield field + '.size', 'i', 'sizeof(%s)' % member
            if _is_integer(TYPE):
                yield field + '.unsigned', 'i', '((__typeof__(%s))(-1)) > 0' % member
            if isinstance(TYPE, CConfigEntry):
                for key, kind, expression in TYPE.values():
                    yield '%s.type.%s' % (field, key), kind, expression

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


def _macros(ifdef):
    return (ifdef,) if ifdef else ()

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

_START = """
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
"""

_PROGRAM = """
#define SAY_INTEGER(key, value) do { \\
    if ((value) > 0 && (unsigned long long)(value) > 0x7fffffffffffffffULL) \\
        printf("%s i %llu\\n", key, (unsigned long long)(value)); \\
    else printf("%s i %lld\\n", key, (long long)(value)); } while (0)
static void say_string(const char *key, const char *s) {
    printf("%s s ", key);
    for (; *s; s++) printf("%02x", (unsigned char)*s);
    printf("\\n");
}
int main(void) {
"""

# A value as a constant of the object file, and as a statement that prints it.
_CONSTANTS = {
    'i': 'const long long taipan_i_%(n)d = (long long)(%(value)s);\n'
         'const char taipan_p_%(n)d = (%(value)s) > 0;',
    'f': 'const double taipan_f_%(n)d = (double)(%(value)s);',
    's': 'const char taipan_s_%(n)d[] = %(value)s;',
}
_STATEMENTS = {
    'i': 'SAY_INTEGER("%(n)d", %(value)s);',
    'f': 'printf("%(n)d f %%.17g\\n", (double)(%(value)s));',
    's': 'say_string("%(n)d", %(value)s);',
}


def _header(eci):
    lines = list(eci.pre_include_bits)
    lines += ['#include <%s>' % name for name in eci.includes]
    return '\n'.join(lines + list(eci.post_include_bits))

def _options(eci):
    options = ['-I' + d for d in eci.include_dirs] + list(eci.compile_extra)
    options += ['-L' + d for d in eci.library_dirs]
    return options + ['-l' + l for l in eci.libraries] + list(eci.link_extra)

def _ask(eci, lines, wanted, shared=''):
    """What is wanted of a C program with these lines: the constants among its declarations, or
    whether statements link, or what they print. `shared` is C code that is compiled separately."""
    parts = [_START, _header(eci)]
    if wanted == 'constants':
        parts += lines
    else:
        parts += [_PROGRAM] + lines + ['return 0;\n}\n']
    ok, text = ask_c_compiler('\n'.join(parts), _options(eci), eci._written_headers(), wanted,
                              shared)
    if not ok:
        raise CompilationError(text)
    return text.splitlines()

def ask_statements(eci, lines, shared=''):
    """What a C program with these statements prints, line by line. It runs, with no access to
    files, processes and the network unless the program's folder is trusted. `shared` is C code that
    is compiled separately."""
    return _ask(eci, lines, 'output', shared)

def shared_code(eci, texts):
    """C code behind the headers of an ExternalCompilationInfo, for `ask_statements`."""
    return '\n'.join([_START, _header(eci)] + texts)

def ask_values(eci, asked):
    """Dicts of values by key, one for each of the questions. Each has the macros that must be
    there, and values as those of CConfigEntry."""
    keys = []
    def lines(templates):
        for i, (macros, values) in enumerate(asked):
            for macro in macros:
                yield '#ifdef ' + macro
            for key, kind, expression in values:
                keys.append((i, key))
                yield templates[kind] % {'n': len(keys) - 1, 'value': expression}
            for macro in macros:
                yield '#endif'
    try:
        said = _ask(eci, list(lines(_CONSTANTS)), 'constants')
    except CompilationError:
        # The original has a program print them, and takes what is no constant.
        del keys[:]
        said = ask_statements(eci, list(lines(_STATEMENTS)))
    found = [{} for _ in asked]
    for line in said:
        number, kind, text = (line + ' ').split(' ', 2)
        i, key = keys[int(number)]
        found[i][key] = _value(kind, text.strip())
    return found

def _value(kind, text):
    if kind == 's':
        return text.decode('hex')
    if kind == 'f':
        return float(text)
    return int(text)


def configure(CConfig, ignore_errors=False):
    """The answers to the questions among the attributes of a class, by name."""
    for attr in ['_includes_', '_libraries_', '_sources_', '_library_dirs_', '_include_dirs_',
                 '_header_']:
        assert not hasattr(CConfig, attr), "%s belongs into _compilation_info_" % attr
    eci = CConfig._compilation_info_
    result, asked = {}, []
    for key in sorted(dir(CConfig)):
        entry = getattr(CConfig, key)
        if isinstance(entry, (Has, Works)):
            result[key] = entry.ask(eci)
        elif isinstance(entry, CConfigEntry):
            asked.append((key, entry))
    if asked:
        found = ask_values(eci, [(entry.macros, list(entry.values())) for _, entry in asked])
        for (key, entry), said in zip(asked, found):
            result[key] = entry.answer(said)
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
