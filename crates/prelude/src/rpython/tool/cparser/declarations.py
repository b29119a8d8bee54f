"""Declarations of C as types: what they declare is kept in a Parser."""
from rpython.tool.cparser.constants import signed_integer
from rpython.tool.cparser.error import CDefError
from rpython.tool.cparser.model import (Array, Const, Enum, Function, Pointer, PRIMITIVES, Struct,
    Typedef, VOID, name_struct)
from rpython.tool.cparser.preprocessor import Preprocessor, place
from rpython.tool.cparser.reader import END, Reader

_NUMBER_WORDS = set(['char', 'short', 'int', 'long', 'float', 'double', 'signed', 'unsigned'])
_STORAGE = set(['extern', 'static', 'inline', '__inline', '__inline__', 'register', '_Noreturn',
                '__extension__'])
_QUALIFIERS = set(['const', '__const', 'volatile', '__volatile__', 'restrict', '__restrict',
                   '__restrict__'])
_CONST = ('const', '__const')
_KEYWORDS = _NUMBER_WORDS | _STORAGE | _QUALIFIERS | set(['typedef', 'struct', 'union', 'enum'])


def _is_name(token):
    return (token[:1].isalpha() or token[:1] == '_') and token not in _KEYWORDS


def _quoted(text):
    """How messages name a text that is one declaration."""
    return '"%s"' % ' '.join(text.split())


class Parser(object):
    """All declarations of the texts that were parsed."""

    def __init__(self):
        self.preprocessor = Preprocessor()
        self.typedefs = {}   # name -> Typedef
        self.tags = {}       # 'struct NAME' or 'enum NAME' -> Struct, Enum
        self.constants = {}  # name -> value, of the members of enums and constant integers
        # Declared by texts that were parsed here, in their order.
        self.new_typedefs = []
        self.new_structs = []
        self.own_tags = []

    def include(self, other):
        """Makes all that another parser knows known here."""
        self.preprocessor.include(other.preprocessor)
        self.typedefs.update(other.typedefs)
        self.tags.update(other.tags)
        self.constants.update(other.constants)

    def parse(self, text, where=''):
        """Reads declarations."""
        _Text(self, text, where).declarations()

    def parse_type(self, text):
        """The type that a text like `const struct x *` names."""
        reader = _Text(self, text, _quoted(text))
        _, tp = reader.declarator(reader.specifiers()[0])
        reader.expect(END)
        return tp

    def parse_func(self, text):
        """Name and type of a function, of its prototype."""
        reader = _Text(self, text, _quoted(text))
        name, tp = reader.declarator(reader.specifiers()[0])
        if reader.token == ';':
            reader.advance()
        reader.expect(END)
        if not name or not isinstance(tp, Function):
            raise CDefError('%s is no declaration of a function' % _quoted(text))
        return name, tp


class _Text(Reader):
    """The declarations of one text that is being read."""

    def __init__(self, parser, text, where):
        tokens, lines = parser.preprocessor.tokens(text, where)
        Reader.__init__(self, tokens, lines, text.count('\n') + 1, where)
        self.parser = parser

    def declarations(self):
        blocks = 0
        while self.token != END:
            if self.token == ';':
                self.advance()
            elif self.token == 'extern' and self.tokens[self.pos + 1][:1] == '"':
                self.go(self.pos + 2)
                if self.token == '{':
                    self.advance()
                    blocks += 1
            elif self.token == '}' and blocks:
                self.advance()
                blocks -= 1
            else:
                self.declaration()
        if blocks:
            raise self.error("expected '}' before the end")

    def declaration(self):
        base, is_typedef = self.specifiers()
        if self.token == ';':
            self.advance()
            return
        while True:
            start = self.pos
            name, tp = self.declarator(base)
            if not name:
                raise self.error('expected a name before %s' % self.shown())
            self.skip_attributes()
            if is_typedef:
                self.declare_typedef(name, tp, start)
            elif self.token == '=':
                self.advance()
                value = signed_integer(self.expression(',', ';'))
                if value is not None:
                    self.parser.constants[name] = value
                    self.parser.preprocessor.new_values.append((name, value))
            elif self.token == '{' and isinstance(tp, Function):
                self.skip_group()
                return
            if self.token != ',':
                break
            self.advance()
        self.expect(';')

    def declare_typedef(self, name, tp, start):
        parser = self.parser
        known = parser.typedefs.get(name)
        if known is not None:
            if known.target.get_c_name() == tp.get_c_name():
                return
            raise self.error("'%s' is declared twice, and differently" % name, start)
        if isinstance(tp, (Struct, Enum)) and tp.name is None:
            tp.name = tp.label = name
        else:
            name_struct(tp, '*(%s *)0' % name, name)
        parser.typedefs[name] = typedef = Typedef(name, tp)
        parser.new_typedefs.append(typedef)

    def specifiers(self):
        """The type that a declaration begins with, and whether it is a typedef."""
        words, tp = [], None
        is_typedef = const = False
        while True:
            token = self.token
            if token in _QUALIFIERS:
                const = const or token in _CONST
                self.advance()
            elif token in _STORAGE:
                self.advance()
            elif token == 'typedef':
                is_typedef = True
                self.advance()
            elif token == '__attribute__':
                self.skip_attributes()
            elif tp is not None:
                break
            elif token in _NUMBER_WORDS:
                words.append(self.advance())
            elif words:
                tp = self.number(words)
            elif token == 'struct' or token == 'union':
                tp = self.struct()
            elif token == 'enum':
                tp = self.enum()
            elif token in self.parser.typedefs:
                tp = self.parser.typedefs[self.advance()]
            elif token in PRIMITIVES:
                tp = PRIMITIVES[self.advance()]
            elif _is_name(token):
                raise self.error("unknown type '%s'" % token)
            else:
                raise self.error('expected a type before %s' % self.shown())
        if const:
            tp = Const(tp)
        return tp, is_typedef

    def number(self, words):
        """The type of words like `unsigned` and `int` in any order."""
        signs = [word for word in words if word in ('signed', 'unsigned')]
        sizes = [word for word in words if word in ('short', 'long')]
        kinds = [word for word in words if word not in signs + sizes] or ['int']
        if kinds == ['int'] and sizes:
            kinds = []
        if signs == ['signed'] and kinds != ['char']:
            signs = []
        name = ' '.join(signs + sizes + kinds)
        if name not in PRIMITIVES:
            raise self.error("unknown type '%s'" % ' '.join(words))
        return PRIMITIVES[name]

    def tag(self, kind):
        """The key of a struct, union or enum, None if it has no name."""
        self.skip_attributes()
        if _is_name(self.token):
            return '%s %s' % (kind, self.advance())
        return None

    def struct(self):
        start = self.pos
        kind = self.advance()
        key = self.tag(kind)
        parser = self.parser
        struct = parser.tags.get(key)
        if struct is None:
            struct = Struct(kind, key, place(self.where, self.lines[start]))
            if key is not None:
                parser.tags[key] = struct
                parser.own_tags.append(struct)
        if self.token == '{':
            if struct.fields is not None:
                raise self.error("'%s' is declared twice" % key, start)
            self.advance()
            fields = self.fields()
            struct.fields = fields
            parser.new_structs.append(struct)
        elif key is None:
            raise self.error("expected '{' before %s" % self.shown())
        return struct

    def fields(self):
        found = []
        while self.token != '}':
            if self.token == ';':
                # A macro may end with the ';' that its user writes again.
                self.advance()
                continue
            base, _ = self.specifiers()
            if self.token == ';' and not isinstance(base.plain(), Struct):
                raise self.error('expected the name of a field before %s' % self.shown())
            while True:
                name, tp = self.declarator(base)
                if self.token == ':':
                    raise self.error('bit-fields have no place that can be told')
                if not name:
                    raise self.error('expected the name of a field before %s' % self.shown())
                self.skip_attributes()
                found.append((name, tp))
                if self.token != ',':
                    break
                self.advance()
            self.expect(';')
        self.advance()
        self.skip_attributes()
        return found

    def enum(self):
        start = self.pos
        key = self.tag(self.advance())
        enum = self.parser.tags.get(key)
        if self.token == '{':
            if enum is not None:
                raise self.error("'%s' is declared twice, or used before" % key, start)
            self.advance()
            enum = Enum(key, self.members())
        elif key is None:
            raise self.error("expected '{' before %s" % self.shown())
        elif enum is None:
            enum = Enum(key, [])
        if key is not None:
            self.parser.tags[key] = enum
        return enum

    def members(self):
        found, following = [], 0
        while self.token != '}':
            if not _is_name(self.token):
                raise self.error('expected the name of a member before %s' % self.shown())
            name = self.advance()
            if self.token == '=':
                self.advance()
                following = self.constant(self.parser.constants, ',', '}')
            found.append((name, following))
            self.parser.constants[name] = following
            following += 1
            if self.token == ',':
                self.advance()
            elif self.token != '}':
                raise self.error("expected ',' or '}' before %s" % self.shown())
        self.advance()
        return found

    # ------------------------------------------------------------ declarators

    def declarator(self, tp):
        """Name, '' if there is none, and type of what stands behind a type."""
        while self.token == '*':
            tp = Pointer(tp)
            self.advance()
            while self.token in _QUALIFIERS:
                if self.advance() in _CONST:
                    tp = Const(tp)
        if self.token == '(' and self.is_nested():
            start = self.pos
            self.skip_group()
            tp = self.suffixes(tp)
            end = self.pos
            self.go(start + 1)
            name, tp = self.declarator(tp)
            self.expect(')')
            self.go(end)
            return name, tp
        name = ''
        if _is_name(self.token):
            name = self.advance()
        return name, self.suffixes(tp)

    def is_nested(self):
        """Whether a parenthesis is around a declarator, rather than parameters."""
        following = self.tokens[self.pos + 1]
        if following in ('*', '(', '['):
            return True
        return (_is_name(following) and following not in self.parser.typedefs
                and following not in PRIMITIVES)

    def suffixes(self, tp):
        if self.token == '[':
            self.advance()
            length = None
            if self.token != ']':
                length = self.constant(self.parser.constants, ']')
            self.advance()
            return Array(self.suffixes(tp), length)
        if self.token == '(':
            args, ellipsis = self.parameters()
            return Function(args, self.suffixes(tp), ellipsis)
        return tp

    def parameters(self):
        self.advance()
        args, ellipsis = [], False
        while self.token != ')':
            if self.token == '...' and args:
                ellipsis = True
                self.advance()
                break
            name, tp = self.declarator(self.specifiers()[0])
            self.skip_attributes()
            plain = tp.plain()
            if isinstance(plain, Array):
                tp = Pointer(plain.item)
            elif isinstance(plain, Function):
                tp = Pointer(tp)
            args.append(tp)
            if self.token != ',':
                break
            self.advance()
        self.expect(')')
        if len(args) == 1 and args[0].plain() is VOID and not ellipsis:
            args = []
        return args, ellipsis
