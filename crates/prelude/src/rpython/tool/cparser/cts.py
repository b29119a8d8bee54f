"""C declarations as low-level types: CTypeSpace is a set of them."""
from rpython.rlib.objectmodel import specialize
from rpython.rtyper.lltypesystem import lltype, rffi
from rpython.rtyper.tool import rffi_platform
from rpython.tool.cparser.declarations import Parser
from rpython.tool.cparser.error import CDefError
from rpython.tool.cparser.model import (
    C_NAMES, Array, Enum as EnumType, Function, Pointer, Primitive, Struct, Typedef, name_struct)
from rpython.translator.tool.cbuild import ExternalCompilationInfo


class Enum(object):
    """The base of the classes that enums become; their attributes are the members."""


class FunctionDeclaration(object):
    """A prototype. `tp` has `args`, `result` and `ellipsis`."""

    def __init__(self, name, tp):
        self.name = name
        self.tp = tp

    def get_llargs(self, cts):
        return [cts.convert_inner(arg) for arg in self.tp.args]

    def get_llresult(self, cts):
        return cts.convert_inner(self.tp.result)


class _Layout(rffi_platform.Struct):
    """Where a struct has its fields. The low-level types of the fields need not be known
    while the C compiler is asked."""

    def answer(self, said):
        self.said = said
        return self

    def struct(self, label, fields):
        """The low-level struct with those fields."""
        said = self.said
        for name, TYPE in fields:
            if name + '.unsigned' not in said and isinstance(TYPE, lltype.Primitive):
                said[name + '.unsigned'] = rffi.size_and_sign(TYPE)[1]
        self.name = label
        self.interesting_fields = fields
        return rffi_platform.Struct.answer(self, said)

    def fits(self, STRUCT):
        """Whether a low-level struct has its fields where C has them. Packed structs and
        those with a `long double`, which has 8 bytes here, do not."""
        for name, _ in self.interesting_fields:
            if rffi.offsetof(STRUCT, 'c_' + name) != self.said[name + '.offset']:
                return False
        return rffi.sizeof(STRUCT) == self.said['size']


class CTypeSpace(object):
    """Types of C texts and headers by name, laid out as the C compiler does it."""

    def __init__(self, parser=None, definitions=None, macros=None, headers=None, includes=None,
                 include_dirs=None):
        self.definitions = {} if definitions is None else definitions
        self.macros = {} if macros is None else macros
        self.structs = {}
        self.ctx = parser or Parser()
        self.headers = ['sys/types.h'] if headers is None else headers
        self.parsed_headers = []
        self.sources = []
        self.includes = []
        self.struct_typedefs = {}
        self.include_dirs = list(include_dirs or [])
        self._types = {}
        for other in includes or []:
            self.include(other)

    def _freeze_(self):
        return True

    # ------------------------------------------------------------ input

    def include(self, other):
        """Makes the types and macros of another space known here."""
        self.ctx.include(other.ctx)
        self.structs.update(other.structs)
        self.includes.append(other)

    def parse_source(self, source, configure=True):
        """Reads declarations from a text."""
        self.sources.append(source)
        self.ctx.parse(source)
        if configure:
            self.configure_types()

    def parse_header(self, header_path, configure=True):
        """Reads declarations from a file, a path object."""
        self.headers.append(str(header_path))
        self.parsed_headers.append(header_path)
        self.ctx.parse(header_path.read(), str(header_path))
        if configure:
            self.configure_types()

    def build_eci(self):
        """What a C compiler needs to know to see all the declarations."""
        sources, headers = [], list(self.headers)
        for other in self.includes:
            sources += other.sources
            headers += [header for header in other.headers if header not in headers]
        return ExternalCompilationInfo(post_include_bits=sources + self.sources,
                                       includes=headers, include_dirs=self.include_dirs)

    # ------------------------------------------------------------ structs

    def configure_types(self):
        """Makes the types that were declared since the last time."""
        parser = self.ctx
        for struct in parser.own_tags:
            if struct.fields is None:
                raise ValueError('Missing definition for %s, mentioned at %s' % (
                    struct.name, struct.where))
        structs = [struct for struct in parser.new_structs if struct.kind == 'struct']
        typedefs, values = parser.new_typedefs, parser.preprocessor.new_values
        parser.new_structs, parser.new_typedefs, parser.preprocessor.new_values = [], [], []
        parser.own_tags = []
        if structs:
            layouts = self._layouts(structs)
            # A struct inside of another one stands before it.
            for struct, layout in zip(structs, layouts):
                self._make_struct(struct, layout)
        for typedef in typedefs:
            target = typedef.target
            TYPE = self.definitions[typedef.name] = self.convert_type(target)
            if isinstance(target, Struct):
                self.struct_typedefs[typedef.name] = TYPE
        for name, value in values:
            self.macros[name] = value

    def _layouts(self, structs):
        """The layouts of structs, which the C compiler is asked for all at once."""
        for struct in reversed(structs):
            if struct.name is None:
                raise CDefError('%s: a struct that C has no name for' % struct.where)
            for name, tp in struct.fields:
                name_struct(tp, '((%s *)0)->%s' % (struct.name, name),
                            '%s_%s' % (struct.label, name))
        class CConfig:
            _compilation_info_ = self.build_eci()
        for i, struct in enumerate(structs):
            fields = [(name, self._number_type(tp)) for name, tp in struct.fields]
            setattr(CConfig, 'struct%d' % i, _Layout(struct.name, fields))
        answers = rffi_platform.configure(CConfig)
        return [answers['struct%d' % i] for i in range(len(structs))]

    def _number_type(self, tp):
        """The low-level type of a number that can be written to, None for other types."""
        while isinstance(tp, Typedef):
            tp = tp.target
        if isinstance(tp, EnumType):
            return rffi.INT_real
        if isinstance(tp, Primitive):
            return tp.TYPE
        return None

    def _make_struct(self, struct, layout):
        fields = [(name, self.convert_inner(tp)) for name, tp in struct.fields]
        struct.TYPE = layout.struct(struct.label, fields)
        if not layout.fits(struct.TYPE):
            raise CDefError("%s: no low-level struct has the layout of '%s'" % (
                struct.where, struct.label))
        self.structs[struct.name] = struct.TYPE
        C_NAMES[struct.TYPE] = struct.name
        if struct.forward is not None:
            struct.forward.become(struct.TYPE)

    def _struct_type(self, struct):
        """The struct, or something that will become it once its layout is known."""
        if struct.kind == 'union':
            raise CDefError('%s: unions have no low-level type' % struct.where)
        if struct.TYPE is not None:
            return struct.TYPE
        if struct.forward is None:
            struct.forward = lltype.ForwardReference()
        return struct.forward

    # ------------------------------------------------------------ types

    def convert_type(self, tp):
        """The low-level type of a C type; the class of an enum."""
        tp = tp.plain()
        if isinstance(tp, EnumType):
            if tp.members_class is None:
                tp.members_class = type(tp.name or 'enum', (Enum,), dict(tp.members))
            return tp.members_class
        return self.convert_inner(tp)

    def convert_inner(self, tp):
        """The low-level type of a C type inside of another one, where enums are integers."""
        tp = tp.plain()
        if isinstance(tp, Primitive):
            return tp.TYPE
        if isinstance(tp, Struct):
            return self._struct_type(tp)
        if isinstance(tp, Pointer):
            TO = self.convert_inner(tp.target)
            if TO == lltype.Void:
                return rffi.VOIDP
            if isinstance(TO, (lltype.Primitive, lltype.Ptr)):
                return rffi.CArrayPtr(TO)
            return lltype.Ptr(TO)
        if isinstance(tp, Function):
            if tp.ellipsis:
                raise CDefError("a type of functions with '...': %s" % tp.get_c_name())
            return lltype.FuncType([self.convert_inner(arg) for arg in tp.args],
                                   self.convert_inner(tp.result))
        if isinstance(tp, Array):
            if tp.length is None:
                raise CDefError('an array of unknown length: %s' % tp.get_c_name())
            return rffi.CFixedArray(self.convert_inner(tp.item), tp.length)
        assert isinstance(tp, EnumType)
        return rffi.INT_real

    @specialize.memo()
    def gettype(self, cdecl):
        """The low-level type that a text like `const struct x *` names; the class of an enum."""
        try:
            return self._types[cdecl]
        except KeyError:
            result = self._types[cdecl] = self.convert_type(self.ctx.parse_type(cdecl))
            return result

    @specialize.arg(1)
    def cast(self, cdecl, value):
        """rffi.cast to the type that a text names."""
        return rffi.cast(self.gettype(cdecl), value)

    def parse_func(self, cdecl):
        """The FunctionDeclaration that a prototype is."""
        name, tp = self.ctx.parse_func(cdecl)
        return FunctionDeclaration(name, tp)


def parse_source(source, includes=None, headers=None, configure_now=True):
    """A CTypeSpace with the declarations of a text."""
    cts = CTypeSpace(headers=headers, includes=includes)
    cts.parse_source(source, configure=configure_now)
    return cts
