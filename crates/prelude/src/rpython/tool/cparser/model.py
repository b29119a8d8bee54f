"""C types as they are written. get_c_name(NAME) is the declaration of a NAME of the type."""
from rpython.rlib.rfile import FILEP
from rpython.rtyper.lltypesystem import lltype, rffi


class CType(object):
    """A C type; typedefs and qualifiers are kept."""

    def plain(self):
        """The type itself, without qualifiers and names for it."""
        return self

    def __repr__(self):
        return '<%s>' % self.get_c_name()


class Named(CType):
    """A type whose C name is a word or several."""

    def __init__(self, name):
        self.name = name

    def get_c_name(self, declared=''):
        if declared:
            return '%s %s' % (self.name, declared)
        return self.name


class Primitive(Named):
    """A type that C or its standard headers have, with its low-level type."""

    def __init__(self, name, TYPE):
        self.name = name
        self.TYPE = TYPE


class Typedef(Named):
    def __init__(self, name, target):
        self.name = name
        self.target = target

    def plain(self):
        return self.target.plain()


class Const(CType):
    def __init__(self, target):
        self.target = target

    def plain(self):
        return self.target.plain()

    def get_c_name(self, declared=''):
        if isinstance(self.target, Named):
            return 'const ' + self.target.get_c_name(declared)
        return self.target.get_c_name(('const ' + declared).strip())


class Pointer(CType):
    def __init__(self, target):
        self.target = target

    def get_c_name(self, declared=''):
        declared = ('* ' + declared).strip()
        if isinstance(self.target, (Array, Function)):
            declared = '(%s)' % declared
        return self.target.get_c_name(declared)


class Array(CType):
    """An array; its length is None where C does not say it."""

    def __init__(self, item, length):
        self.item = item
        self.length = length

    def get_c_name(self, declared=''):
        length = '' if self.length is None else self.length
        return self.item.get_c_name('%s[%s]' % (declared, length))


class Function(CType):
    def __init__(self, args, result, ellipsis):
        self.args = args
        self.result = result
        self.ellipsis = ellipsis

    def get_c_name(self, declared=''):
        args = [arg.get_c_name() for arg in self.args]
        if self.ellipsis:
            args.append('...')
        return self.result.get_c_name('%s(%s)' % (declared, ', '.join(args) or 'void'))


class Struct(Named):
    """A struct or union. `fields` are pairs of a name and a type, None until they are declared;
    `name` is what C calls it, None while there is no name for it; `label` is a word for it."""

    def __init__(self, kind, name, where):
        self.kind = kind
        self.name = self.label = name
        self.where = where
        self.fields = None
        # What CTypeSpace knows of it: the type, what stands for that before it is made.
        self.TYPE = None
        self.forward = None

    def __repr__(self):
        return '<%s>' % (self.name or self.kind)


# The names in C of the low-level structs that were made of declarations.
C_NAMES = {}


def name_struct(tp, expression, label):
    """Gives a struct that has no name one made of an expression of the type `tp`, which is
    the struct or an array or pointer of it."""
    while isinstance(tp, (Const, Pointer, Array)):
        if isinstance(tp, Const):
            tp = tp.target
        elif isinstance(tp, Pointer):
            expression, tp = '*(%s)' % expression, tp.target
        else:
            expression, tp = '(%s)[0]' % expression, tp.item
    if isinstance(tp, Struct) and tp.name is None:
        tp.name = '__typeof__(%s)' % expression
        tp.label = label


class Enum(Named):
    """An enum: its members are pairs of a name and a number."""

    def __init__(self, name, members):
        self.name = name
        self.members = members
        # What CTypeSpace makes of it.
        self.members_class = None


VOID = Primitive('void', lltype.Void)

_WORDS = ['char', 'signed char', 'unsigned char', 'short', 'unsigned short', 'int',
          'unsigned int', 'long', 'unsigned long', 'long long', 'unsigned long long']

# The names that the standard headers have for numbers.
_HEADERS = """size_t ssize_t ptrdiff_t intptr_t uintptr_t intmax_t uintmax_t time_t off_t mode_t
    pid_t uid_t gid_t __int128_t __uint128_t""".split()
_HEADERS += ['%sint%s%d_t' % (sign, speed, bits) for sign in ('', 'u')
             for speed in ('', '_least', '_fast') for bits in (8, 16, 32, 64)]


def _all_primitives():
    found = {}
    for name in _WORDS + _HEADERS:
        found[name] = getattr(rffi, name.replace('unsigned ', 'u').replace(' ', '').upper())
    found.update({
        'char': rffi.CHAR, 'int': rffi.INT_real, 'float': rffi.FLOAT, 'double': rffi.DOUBLE,
        'long double': rffi.LONGDOUBLE, '_Bool': lltype.Bool, 'bool': lltype.Bool,
        'wchar_t': lltype.UniChar, 'FILE': FILEP.TO})
    result = dict([(name, Primitive(name, TYPE)) for name, TYPE in found.items()])
    result['void'] = VOID
    return result

PRIMITIVES = _all_primitives()
