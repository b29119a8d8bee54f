"""A small Smalltalk: everything is an object and every operation a message. Methods are compiled to bytecode; objects have maps, blocks
are closures over their outer frames, `^` in a block returns from the method. Methods are found by the class under a version, and
arithmetic is a primitive method of Integer like any other. Only `ifTrue:` and its kin and `whileTrue:` are compiled inline.

    Name = Super ( | field field | selector = ( | local | statement. ^expression ) ... )

The method `main:` of the last class gets n.
"""
import math
from rpython.rlib.jit import JitDriver, promote, elidable, unroll_safe
import common
from common import Failure

CODES = ['CONST', 'LOCAL', 'SETLOCAL', 'OUTER', 'SETOUTER', 'FIELD', 'SETFIELD', 'GLOBAL', 'SELF', 'POP', 'DUP', 'SEND', 'SUPER',
         'BLOCK', 'RETURN', 'ANSWER', 'JUMP', 'LOOP', 'IFTRUE', 'IFFALSE']
for _i in range(len(CODES)):
    globals()[CODES[_i]] = _i


class SomError(Exception):
    def __init__(self, w_value):
        self.w_value = w_value


def error(text):
    return SomError(W_String(text))


class NonLocal(Exception):
    """A return from the method in which a block was made."""
    def __init__(self, frame, w_value):
        self.frame = frame
        self.w_value = w_value


# ---- objects ----

class W_Any(object):
    def cls(self, world):
        raise NotImplementedError

    def text(self):
        return 'an object'


class W_Integer(W_Any):
    _immutable_fields_ = ['value']

    def __init__(self, value):
        self.value = value

    def cls(self, world):
        return world.integer

    def text(self):
        return str(self.value)


class W_Double(W_Any):
    _immutable_fields_ = ['value']

    def __init__(self, value):
        self.value = value

    def cls(self, world):
        return world.double

    def text(self):
        return str(self.value)


class W_String(W_Any):
    _immutable_fields_ = ['value']

    def __init__(self, value):
        self.value = value

    def cls(self, world):
        return world.string

    def text(self):
        return self.value


class W_Array(W_Any):
    _immutable_fields_ = ['items']

    def __init__(self, items):
        self.items = items

    def cls(self, world):
        return world.array


class W_Dictionary(W_Any):
    def __init__(self):
        self.integers = {}
        self.strings = {}

    def cls(self, world):
        return world.dictionary


class W_Block(W_Any):
    _immutable_fields_ = ['code', 'outer']

    def __init__(self, code, outer):
        self.code = code
        self.outer = outer

    def cls(self, world):
        return world.block


class Map(object):
    """Which fields an object has so far; they are added when they are first written."""
    _immutable_fields_ = ['w_class', 'size']

    def __init__(self, w_class, size):
        self.w_class = w_class
        self.size = size
        self.slots = {}
        self.next = {}

    @elidable
    def slot(self, field):
        return self.slots.get(field, -1)

    @elidable
    def extended(self, field):
        if field not in self.next:
            map = Map(self.w_class, self.size + 1)
            for name in self.slots:
                map.slots[name] = self.slots[name]
            map.slots[field] = self.size
            self.next[field] = map
        return self.next[field]


class W_Object(W_Any):
    def __init__(self, map):
        self.map = map
        self.values = []

    def cls(self, world):
        return promote(self.map).w_class

    def text(self):
        return 'a ' + self.map.w_class.name

    def get(self, field, w_default):
        slot = promote(self.map).slot(field)
        if slot < 0:
            return w_default
        return self.values[slot]

    def set(self, field, w_value):
        map = promote(self.map)
        slot = map.slot(field)
        if slot < 0:
            self.map = map.extended(field)
            self.values.append(w_value)
        else:
            self.values[slot] = w_value


class Version(object):
    pass


class W_Class(W_Any):
    _immutable_fields_ = ['name', 'parent?', 'empty', 'version?']

    def __init__(self, name):
        self.name = name
        self.parent = None
        self.methods = {}
        self.fields = []
        self.empty = Map(self, 0)
        self.version = Version()

    def cls(self, world):
        return world.metaclass

    def text(self):
        return self.name

    def add(self, selector, method):
        self.methods[selector] = method
        self.version = Version()

    def find(self, selector):
        return self.find_version(selector, promote(self).version)

    @elidable
    def find_version(self, selector, version):
        w_class = self
        while w_class is not None:
            if selector in w_class.methods:
                return w_class.methods[selector]
            w_class = w_class.parent
        return None


class Method(object):
    def invoke(self, world, arguments):
        raise NotImplementedError


class Compiled(Method):
    _immutable_fields_ = ['code']

    def __init__(self, code):
        self.code = code

    def invoke(self, world, arguments):
        frame = Frame(self.code, arguments, None)
        try:
            return interpret(world, frame, self.code)
        except NonLocal as e:
            if e.frame is frame:
                return e.w_value
            raise


class Primitive(Method):
    _immutable_fields_ = ['function']

    def __init__(self, function):
        self.function = function

    def invoke(self, world, arguments):
        return self.function(world, arguments)


class Code(object):
    """The code of a method or block. `self` is the first local of a method."""
    _immutable_fields_ = ['name', 'ops[*]', 'args[*]', 'constants[*]', 'names[*]', 'codes[*]', 'arguments', 'size',
                          'depth', 'is_block', 'holder']

    def __init__(self, name, is_block, holder):
        self.name = name
        self.is_block = is_block
        self.holder = holder
        self.ops = []
        self.args = []
        self.constants = []
        self.names = []
        self.codes = []
        self.arguments = 0
        self.size = 0
        self.depth = 0


class Frame(object):
    _immutable_fields_ = ['locals', 'stack', 'outer']

    @unroll_safe
    def __init__(self, code, arguments, outer):
        self.locals = [None] * code.size
        self.stack = [None] * code.depth
        self.depth = 0
        self.outer = outer
        i = 0
        while i < len(arguments):
            self.locals[i] = arguments[i]
            i += 1

    def push(self, w_value):
        self.stack[self.depth] = w_value
        self.depth += 1

    def pop(self):
        self.depth -= 1
        return self.stack[self.depth]

    def top(self):
        return self.stack[self.depth - 1]

    @unroll_safe
    def pop_many(self, count):
        values = [None] * count
        while count > 0:
            count -= 1
            values[count] = self.pop()
        return values

    @unroll_safe
    def up(self, levels):
        frame = self
        while levels > 0:
            frame = frame.outer
            levels -= 1
        return frame

    @unroll_safe
    def home(self):
        frame = self
        while frame.outer is not None:
            frame = frame.outer
        return frame


def location(pc, code):
    return '%s %d %s' % (code.name, pc, CODES[code.ops[pc]])


driver = JitDriver(greens=['pc', 'code'], reds=['frame', 'world'], is_recursive=True,
                   get_printable_location=location)


def interpret(world, frame, code):
    pc = 0
    while True:
        driver.jit_merge_point(pc=pc, code=code, frame=frame, world=world)
        op = code.ops[pc]
        arg = code.args[pc]
        pc += 1
        if op == CONST:
            frame.push(code.constants[arg])
        elif op == LOCAL:
            w_value = frame.locals[arg]
            frame.push(world.nil if w_value is None else w_value)
        elif op == SETLOCAL:
            frame.locals[arg] = frame.top()
        elif op == OUTER:
            w_value = frame.up(arg >> 8).locals[arg & 255]
            frame.push(world.nil if w_value is None else w_value)
        elif op == SETOUTER:
            frame.up(arg >> 8).locals[arg & 255] = frame.top()
        elif op == SELF:
            frame.push(frame.home().locals[0])
        elif op == FIELD:
            w_self = frame.home().locals[0]
            assert isinstance(w_self, W_Object)
            frame.push(w_self.get(code.names[arg], world.nil))
        elif op == SETFIELD:
            w_self = frame.home().locals[0]
            assert isinstance(w_self, W_Object)
            w_self.set(code.names[arg], frame.top())
        elif op == GLOBAL:
            frame.push(world.named(code.names[arg]))
        elif op == POP:
            frame.pop()
        elif op == DUP:
            frame.push(frame.top())
        elif op == SEND or op == SUPER:
            arguments = frame.pop_many((arg & 255) + 1)
            if op == SUPER:
                w_class = code.holder.parent
            else:
                w_class = promote(arguments[0].cls(world))
            frame.push(send(world, w_class, code.names[arg >> 8], arguments))
        elif op == BLOCK:
            frame.push(W_Block(code.codes[arg], frame))
        elif op == RETURN:
            return frame.pop()
        elif op == ANSWER:
            w_value = frame.pop()
            raise NonLocal(frame.home(), w_value)
        elif op == JUMP:
            pc = arg
        elif op == LOOP:
            pc = arg
            driver.can_enter_jit(pc=pc, code=code, frame=frame, world=world)
        elif op == IFTRUE:
            if frame.pop() is world.true:
                pc = arg
        elif op == IFFALSE:
            if frame.pop() is not world.true:
                pc = arg


def send(world, w_class, selector, arguments):
    method = w_class.find(selector)
    if method is None:
        raise error(w_class.name + ' does not understand ' + selector)
    return method.invoke(world, arguments)


def call_block(world, w_block, arguments):
    if not isinstance(w_block, W_Block):
        raise error('not a block')
    code = promote(w_block.code)
    if code.arguments != len(arguments):
        raise error('wrong number of arguments of a block')
    return interpret(world, Frame(code, arguments, w_block.outer), code)


# ---- primitives ----

def integer(w_value):
    if isinstance(w_value, W_Integer):
        return w_value.value
    raise error('not an integer')


def double(w_value):
    if isinstance(w_value, W_Double):
        return w_value.value
    if isinstance(w_value, W_Integer):
        return float(w_value.value)
    raise error('not a number')


def string(w_value):
    if isinstance(w_value, W_String):
        return w_value.value
    raise error('not a string')


def array(w_value):
    if isinstance(w_value, W_Array):
        return w_value.items
    raise error('not an array')


def place(items, w_index):
    index = integer(w_index) - 1
    if index < 0 or index >= len(items):
        raise error('index')
    return index


def arithmetic(on_ints, on_doubles):
    def primitive(world, a):
        w_left = a[0]
        w_right = a[1]
        if isinstance(w_left, W_Integer) and isinstance(w_right, W_Integer):
            return W_Integer(on_ints(w_left.value, w_right.value))
        return W_Double(on_doubles(double(w_left), double(w_right)))
    return Primitive(primitive)


def comparison(on_ints, on_doubles):
    def primitive(world, a):
        w_left = a[0]
        w_right = a[1]
        if isinstance(w_left, W_Integer) and isinstance(w_right, W_Integer):
            return world.boolean(on_ints(w_left.value, w_right.value))
        return world.boolean(on_doubles(double(w_left), double(w_right)))
    return Primitive(primitive)


def bits(on_ints):
    def primitive(world, a):
        return W_Integer(on_ints(integer(a[0]), integer(a[1])))
    return Primitive(primitive)


def quotient(a, b):
    if b == 0:
        raise error('division by zero')
    return a // b


def remainder(a, b):
    if b == 0:
        raise error('division by zero')
    return a % b


def p_divide(world, a):
    if double(a[1]) == 0.0:
        raise error('division by zero')
    return W_Double(double(a[0]) / double(a[1]))


def p_same(world, a):
    w_left = a[0]
    w_right = a[1]
    if isinstance(w_left, W_Integer) and isinstance(w_right, W_Integer):
        return world.boolean(w_left.value == w_right.value)
    if isinstance(w_left, W_String) and isinstance(w_right, W_String):
        return world.boolean(w_left.value == w_right.value)
    return world.boolean(w_left is w_right)


def p_not_same(world, a):
    return world.boolean(p_same(world, a) is not world.true)


def p_value0(world, a):
    return call_block(world, a[0], [])


def p_value1(world, a):
    return call_block(world, a[0], [a[1]])


def p_value2(world, a):
    return call_block(world, a[0], [a[1], a[2]])


def p_catch(world, a):
    try:
        return call_block(world, a[0], [])
    except SomError as e:
        w_value = e.w_value
    return call_block(world, a[1], [w_value])


def p_signal(world, a):
    raise SomError(a[0])


def p_new(world, a):
    w_class = a[0]
    if not isinstance(w_class, W_Class):
        raise error('not a class')
    if w_class is world.dictionary:
        return W_Dictionary()
    return W_Object(w_class.empty)


def p_new_array(world, a):
    return W_Array([world.nil] * integer(a[1]))


def p_at(world, a):
    items = array(a[0])
    return items[place(items, a[1])]


def p_at_put(world, a):
    items = array(a[0])
    items[place(items, a[1])] = a[2]
    return a[2]


def p_size(world, a):
    return W_Integer(len(array(a[0])))


def p_string_size(world, a):
    return W_Integer(len(string(a[0])))


def p_concat(world, a):
    return W_String(string(a[0]) + string(a[1]))


def p_char(world, a):
    text = string(a[0])
    index = integer(a[1]) - 1
    if index < 0 or index >= len(text):
        raise error('index')
    return W_Integer(ord(text[index]))


def p_string_less(world, a):
    return world.boolean(string(a[0]) < string(a[1]))


def p_as_string(world, a):
    return W_String(a[0].text())


def p_as_double(world, a):
    return W_Double(double(a[0]))


def p_truncated(world, a):
    return W_Integer(int(double(a[0])))


def p_sqrt(world, a):
    return W_Double(math.sqrt(double(a[0])))


def dictionary(w_value):
    if isinstance(w_value, W_Dictionary):
        return w_value
    raise error('not a dictionary')


def p_dict_get(world, a):
    w_dictionary = dictionary(a[0])
    w_key = a[1]
    if isinstance(w_key, W_Integer):
        return w_dictionary.integers.get(w_key.value, a[2])
    return w_dictionary.strings.get(string(w_key), a[2])


def p_dict_put(world, a):
    w_dictionary = dictionary(a[0])
    w_key = a[1]
    if isinstance(w_key, W_Integer):
        w_dictionary.integers[w_key.value] = a[2]
    else:
        w_dictionary.strings[string(w_key)] = a[2]
    return a[2]


PRIMITIVES = [
    ('Object =', Primitive(p_same)), ('Object ~=', Primitive(p_not_same)), ('Object asString', Primitive(p_as_string)),
    ('Object signal', Primitive(p_signal)), ('Integer //', bits(quotient)), ('Integer %', bits(remainder)),
    ('Integer &', bits(lambda a, b: a & b)), ('Integer bitXor:', bits(lambda a, b: a ^ b)),
    ('Integer >>', bits(lambda a, b: a >> (b & 63))), ('Block value', Primitive(p_value0)),
    ('Block value:', Primitive(p_value1)), ('Block value:value:', Primitive(p_value2)),
    ('Block catch:', Primitive(p_catch)), ('Class new', Primitive(p_new)), ('Class new:', Primitive(p_new_array)),
    ('Array at:', Primitive(p_at)), ('Array at:put:', Primitive(p_at_put)), ('Array size', Primitive(p_size)),
    ('String size', Primitive(p_string_size)), ('String ,', Primitive(p_concat)), ('String at:', Primitive(p_char)),
    ('String <', Primitive(p_string_less)), ('Dictionary at:default:', Primitive(p_dict_get)),
    ('Dictionary at:put:', Primitive(p_dict_put)),
]
for _name in ['Integer', 'Double']:
    PRIMITIVES += [
        (_name + ' +', arithmetic(lambda a, b: a + b, lambda a, b: a + b)),
        (_name + ' -', arithmetic(lambda a, b: a - b, lambda a, b: a - b)),
        (_name + ' *', arithmetic(lambda a, b: a * b, lambda a, b: a * b)),
        (_name + ' <', comparison(lambda a, b: a < b, lambda a, b: a < b)),
        (_name + ' >', comparison(lambda a, b: a > b, lambda a, b: a > b)),
        (_name + ' <=', comparison(lambda a, b: a <= b, lambda a, b: a <= b)),
        (_name + ' >=', comparison(lambda a, b: a >= b, lambda a, b: a >= b)),
        (_name + ' /', Primitive(p_divide)), (_name + ' asDouble', Primitive(p_as_double)),
        (_name + ' truncated', Primitive(p_truncated)), (_name + ' sqrt', Primitive(p_sqrt)),
    ]

PRELUDE = """
Object = ( == other = ( ^self = other ) )
Integer = Object (
  to: end do: block = ( | i | i := self. [ i <= end ] whileTrue: [ block value: i. i := i + 1 ] )
  timesRepeat: block = ( | i | i := self. [ i > 0 ] whileTrue: [ block value. i := i - 1 ] )
  max: other = ( ^ self > other ifTrue: [ self ] ifFalse: [ other ] )
  isEven = ( ^ (self & 1) = 0 )
)
Array = Object (
  do: block = ( | i | i := 1. [ i <= self size ] whileTrue: [ block value: (self at: i). i := i + 1 ] )
  inject: start into: block = ( | r | r := start. self do: [ :x | r := block value: r value: x ]. ^r )
)
"""


# ---- compiling ----

def is_name(c):
    return c.isalnum() or c == '_'


def split(text):
    tokens = []
    i = 0
    while i < len(text):
        c = text[i]
        start = i
        if c == ' ' or c == '\n' or c == '\t':
            i += 1
            continue
        if c == '"':
            i += 1
            while text[i] != '"':
                i += 1
            i += 1
            continue
        if c == "'":
            i += 1
            while text[i] != "'":
                i += 1
        elif is_name(c):
            number = c.isdigit()
            while i < len(text) and (is_name(text[i]) or (number and text[i] == '.' and text[i + 1].isdigit())):
                i += 1
            if not number and i + 1 < len(text) and text[i] == ':' and text[i + 1] != '=':
                i += 1
        elif c == ':' and text[i + 1] == '=':
            i += 2
        elif c in '+-*/%<>=&~@,':
            while i < len(text) and text[i] in '+-*/%<>=&~@,':
                i += 1
        else:
            i += 1
        assert start >= 0 and i >= 0
        tokens.append(text[start:i])
        if c == "'":
            i += 1
    return tokens


class Scope(object):
    """The locals of a method or block and its code so far."""
    def __init__(self, code, outer):
        self.code = code
        self.outer = outer
        self.names = []
        self.ops = []
        self.args = []
        self.constants = []
        self.texts = []
        self.codes = []
        self.depth = 0
        self.deepest = 0

    def emit(self, op, arg, effect):
        self.ops.append(op)
        self.args.append(arg)
        self.depth += effect
        if self.depth > self.deepest:
            self.deepest = self.depth
        return len(self.ops) - 1

    def text(self, text):
        for i in range(len(self.texts)):
            if self.texts[i] == text:
                return i
        self.texts.append(text)
        return len(self.texts) - 1

    def here(self, at):
        self.args[at] = len(self.ops)

    def close(self, arguments):
        code = self.code
        code.ops = self.ops[:]
        code.args = self.args[:]
        code.constants = self.constants[:]
        code.names = self.texts[:]
        code.codes = self.codes[:]
        code.arguments = arguments
        code.size = len(self.names)
        code.depth = self.deepest + 1
        return code


class Compiler(object):
    def __init__(self, world, text):
        self.world = world
        self.tokens = split(text)
        self.at = 0
        self.w_class = None
        self.scope = None

    def peek(self):
        if self.at >= len(self.tokens):
            return ''
        return self.tokens[self.at]

    def next(self):
        token = self.peek()
        self.at += 1
        return token

    def take(self, token):
        if self.peek() == token:
            self.at += 1
            return True
        return False

    def expect(self, token):
        found = self.next()
        if found != token:
            raise Failure('expected %s, not %s' % (token, found))

    def classes(self):
        while self.peek() != '':
            w_class = self.world.define(self.next())
            self.w_class = w_class
            self.expect('=')
            w_class.parent = self.world.object
            if self.peek() != '(':
                w_class.parent = self.world.define(self.next())
            if w_class is self.world.object:
                w_class.parent = None
            self.expect('(')
            parent = w_class.parent
            if parent is not None:
                w_class.fields = [field for field in parent.fields]
            if self.take('|'):
                while not self.take('|'):
                    w_class.fields.append(self.next())
            while not self.take(')'):
                self.method()
        return self.w_class

    def method(self):
        names = ['self']
        selector = self.next()
        if selector.endswith(':'):
            names.append(self.next())
            while self.peek().endswith(':'):
                selector += self.next()
                names.append(self.next())
        elif not is_name(selector[0]):
            names.append(self.next())
        self.expect('=')
        self.expect('(')
        scope = Scope(Code(self.w_class.name + '>>' + selector, False, self.w_class), None)
        scope.names = names
        self.scope = scope
        arguments = len(names)
        self.body(')')
        scope.emit(SELF, 0, 1)
        scope.emit(RETURN, 0, 0)
        self.w_class.add(selector, Compiled(scope.close(arguments)))

    def declarations(self):
        if self.take('|'):
            while not self.take('|'):
                self.scope.names.append(self.next())

    def body(self, end):
        """Statements whose values are dropped, up to the end; returns whether the last one left its value."""
        self.declarations()
        while not self.take(end):
            if self.take('^'):
                self.expression()
                if self.scope.code.is_block:
                    self.scope.emit(ANSWER, 0, -1)
                else:
                    self.scope.emit(RETURN, 0, -1)
            else:
                self.expression()
                self.scope.emit(POP, 0, -1)
            self.take('.')

    def value_body(self, end):
        """Statements the last of which leaves its value on the stack."""
        scope = self.scope
        self.declarations()
        left = False
        while not self.take(end):
            if left:
                scope.emit(POP, 0, -1)
            if self.take('^'):
                self.expression()
                scope.emit(ANSWER if scope.code.is_block else RETURN, 0, 0)
            else:
                self.expression()
            left = True
            self.take('.')
        if not left:
            self.constant(self.world.nil)

    def constant(self, w_value):
        scope = self.scope
        scope.constants.append(w_value)
        scope.emit(CONST, len(scope.constants) - 1, 1)

    def expression(self):
        if self.at + 1 < len(self.tokens) and self.tokens[self.at + 1] == ':=':
            name = self.next()
            self.next()
            self.expression()
            self.variable(name, True)
            return
        self.keywords()

    def variable(self, name, store):
        scope = self.scope
        level = 0
        while scope is not None:
            for i in range(len(scope.names)):
                if scope.names[i] == name:
                    if level == 0:
                        self.scope.emit(SETLOCAL if store else LOCAL, i, 0 if store else 1)
                    else:
                        self.scope.emit(SETOUTER if store else OUTER, level * 256 + i, 0 if store else 1)
                    return
            scope = scope.outer
            level += 1
        scope = self.scope
        if name in self.w_class.fields:
            scope.emit(SETFIELD if store else FIELD, scope.text(name), 0 if store else 1)
        elif store:
            raise Failure('unknown variable ' + name)
        else:
            scope.emit(GLOBAL, scope.text(name), 1)

    def send(self, selector, count):
        self.scope.emit(SEND, self.scope.text(selector) * 256 + count, -count)

    def keywords(self):
        start = self.at
        is_super = self.peek() == 'super'
        if self.peek() == '[':
            # the condition of a loop?
            end = self.closing(self.at)
            if self.tokens[end + 1] == 'whileTrue:' and self.tokens[end + 2] == '[':
                self.loop()
                return
        self.binary()
        if not self.peek().endswith(':') or self.peek() == ':':
            return
        if self.peek() in ('ifTrue:', 'ifFalse:', 'and:', 'or:') and self.tokens[self.at + 1] == '[':
            self.conditional()
            return
        selector = ''
        count = 0
        while self.peek().endswith(':') and self.peek() != ':':
            selector += self.next()
            self.binary()
            count += 1
        if is_super and self.tokens[start + 1].endswith(':'):
            self.scope.emit(SUPER, self.scope.text(selector) * 256 + count, -count)
        else:
            self.send(selector, count)

    def closing(self, at):
        depth = 0
        while True:
            if self.tokens[at] == '[':
                depth += 1
            elif self.tokens[at] == ']':
                depth -= 1
                if depth == 0:
                    return at
            at += 1

    def loop(self):
        scope = self.scope
        self.expect('[')
        start = len(scope.ops)
        self.value_body(']')
        self.expect('whileTrue:')
        self.expect('[')
        end = scope.emit(IFFALSE, 0, -1)
        self.value_body(']')
        scope.emit(POP, 0, -1)
        scope.emit(LOOP, start, 0)
        scope.here(end)
        self.constant(self.world.nil)

    def conditional(self):
        scope = self.scope
        keyword = self.next()
        self.expect('[')
        if keyword == 'and:' or keyword == 'or:':
            scope.emit(DUP, 0, 1)
            end = scope.emit(IFFALSE if keyword == 'and:' else IFTRUE, 0, -1)
            scope.emit(POP, 0, -1)
            self.value_body(']')
            scope.here(end)
            return
        otherwise = scope.emit(IFFALSE if keyword == 'ifTrue:' else IFTRUE, 0, -1)
        self.value_body(']')
        end = scope.emit(JUMP, 0, -1)
        scope.here(otherwise)
        if self.peek() == 'ifTrue:' or self.peek() == 'ifFalse:':
            self.next()
            self.expect('[')
            self.value_body(']')
        else:
            self.constant(self.world.nil)
        scope.here(end)

    def binary(self):
        self.unary()
        while self.peek() != '' and self.peek()[0] in '+-*/%<>=&~@,':
            selector = self.next()
            self.unary()
            self.send(selector, 1)

    def unary(self):
        is_super = self.peek() == 'super'
        self.primary()
        while self.peek() != '' and self.peek()[0].isalpha() and not self.peek().endswith(':'):
            selector = self.next()
            if is_super:
                self.scope.emit(SUPER, self.scope.text(selector) * 256, 0)
                is_super = False
            else:
                self.send(selector, 0)

    def primary(self):
        token = self.next()
        c = token[0]
        if c == '(':
            self.expression()
            self.expect(')')
        elif c == '[':
            self.block()
        elif c == "'":
            self.constant(W_String(token[1:]))
        elif c.isdigit() or (c == '-' and self.peek()[0].isdigit()):
            if c == '-':
                token += self.next()
            if '.' in token:
                self.constant(W_Double(float(token)))
            else:
                self.constant(W_Integer(int(token)))
        elif token == 'self' or token == 'super':
            self.scope.emit(SELF, 0, 1)
        elif token == 'nil':
            self.constant(self.world.nil)
        elif token == 'true':
            self.constant(self.world.true)
        elif token == 'false':
            self.constant(self.world.false)
        else:
            self.variable(token, False)

    def block(self):
        outer = self.scope
        scope = Scope(Code('block in ' + outer.code.name, True, self.w_class), outer)
        self.scope = scope
        while self.take(':'):
            scope.names.append(self.next())
        arguments = len(scope.names)
        if arguments > 0:
            self.expect('|')
        self.value_body(']')
        scope.emit(RETURN, 0, 0)
        self.scope = outer
        outer.codes.append(scope.close(arguments))
        outer.emit(BLOCK, len(outer.codes) - 1, 1)


# ---- the world ----

class World(common.Engine):
    _immutable_fields_ = ['nil', 'true', 'false', 'integer', 'double', 'string', 'array', 'dictionary', 'block', 'metaclass',
                          'object']

    def __init__(self, text):
        self.globals = {}
        self.object = self.define('Object')
        self.integer = self.define('Integer')
        self.double = self.define('Double')
        self.string = self.define('String')
        self.array = self.define('Array')
        self.dictionary = self.define('Dictionary')
        self.block = self.define('Block')
        self.metaclass = self.define('Class')
        self.nil = W_Object(self.define('Nil').empty)
        self.true = W_Object(self.define('True').empty)
        self.false = W_Object(self.define('False').empty)
        self.primitives()
        Compiler(self, PRELUDE).classes()
        self.main = Compiler(self, text).classes()

    def define(self, name):
        if name not in self.globals:
            w_class = W_Class(name)
            if name != 'Object':
                w_class.parent = self.object
            self.globals[name] = w_class
        return self.globals[name]

    @elidable
    def named(self, name):
        if name not in self.globals:
            raise Failure('unknown name ' + name)
        return self.globals[name]

    def boolean(self, flag):
        if flag:
            return self.true
        return self.false

    def primitives(self):
        for name, primitive in PRIMITIVES:
            w_class, selector = name.split(' ')
            self.globals[w_class].add(selector, primitive)

    def unit(self, n):
        w_self = W_Object(self.main.empty)
        try:
            return send(self, self.main, 'main:', [w_self, W_Integer(n)]).text()
        except SomError as e:
            raise Failure('uncaught: ' + e.w_value.text())


def load(text):
    return World(text)


def main(argv):
    return common.run(argv, load)


def target(driver, args):
    return main, None


if __name__ == '__main__':
    import sys
    sys.exit(main(sys.argv))
