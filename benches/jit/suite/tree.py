"""A tree of nodes that evaluate themselves. Objects have maps (hidden classes) that grow as fields are added,
frames are plain objects with a list of slots, `return` and exceptions are exceptions of the host. One driver is for
both loops and functions: what is green is the node that is repeated, or the body of the function.
"""
import math
from rpython.rlib.jit import JitDriver, promote, elidable, unroll_safe
import common
import front
from common import Failure


class Throw(Exception):
    def __init__(self, w_value):
        self.w_value = w_value


class Return(Exception):
    def __init__(self, w_value):
        self.w_value = w_value


def error(text):
    return Throw(W_Str(text))


# ---- values ----

class W_Value(object):
    def show(self):
        return '<value>'


class W_Constant(W_Value):
    """nil, true and false."""
    _immutable_fields_ = ['name']

    def __init__(self, name):
        self.name = name

    def show(self):
        return self.name


class W_Int(W_Value):
    _immutable_fields_ = ['number']

    def __init__(self, number):
        self.number = number

    def show(self):
        return str(self.number)


class W_Float(W_Value):
    _immutable_fields_ = ['number']

    def __init__(self, number):
        self.number = number

    def show(self):
        return str(self.number)


class W_Str(W_Value):
    _immutable_fields_ = ['text']

    def __init__(self, text):
        self.text = text

    def show(self):
        return self.text


class W_List(W_Value):
    _immutable_fields_ = ['items']

    def __init__(self, items):
        self.items = items


class W_Dict(W_Value):
    def __init__(self):
        self.numbers = {}
        self.strings = {}


class W_Cell(W_Value):
    def __init__(self, w_value):
        self.w_value = w_value


class W_Function(W_Value):
    _immutable_fields_ = ['body', 'cells[*]']

    def __init__(self, body, cells):
        self.body = body
        self.cells = cells


class Class(object):
    def __init__(self, name):
        self.name = name
        self.methods = {}


class Map(object):
    """The layout of objects: where fields are, and which map comes next when one is added."""
    _immutable_fields_ = ['cls', 'size']

    def __init__(self, cls, size):
        self.cls = cls
        self.size = size
        self.indexes = {}
        self.successors = {}

    @elidable
    def index(self, name):
        return self.indexes.get(name, -1)

    @elidable
    def with_field(self, name):
        if name not in self.successors:
            map = Map(self.cls, self.size + 1)
            for known in self.indexes:
                map.indexes[known] = self.indexes[known]
            map.indexes[name] = self.size
            self.successors[name] = map
        return self.successors[name]

    @elidable
    def method(self, name):
        return self.cls.methods.get(name, None)


class W_Object(W_Value):
    def __init__(self, map):
        self.map = map
        self.storage = []

    def show(self):
        return '<' + self.map.cls.name + '>'

    def read(self, name):
        index = promote(self.map).index(name)
        if index < 0:
            return NIL
        return self.storage[index]

    def write(self, name, w_value):
        map = promote(self.map)
        index = map.index(name)
        if index < 0:
            self.map = map.with_field(name)
            self.storage.append(w_value)
        else:
            self.storage[index] = w_value


NIL = W_Constant('nil')
TRUE = W_Constant('true')
FALSE = W_Constant('false')


def boolean(flag):
    return TRUE if flag else FALSE


def true(w_value):
    if isinstance(w_value, W_Constant):
        return w_value is TRUE
    if isinstance(w_value, W_Int):
        return w_value.number != 0
    if isinstance(w_value, W_Str):
        return len(w_value.text) > 0
    return True


def number_of(w_value):
    if isinstance(w_value, W_Int):
        return w_value.number
    raise error('an integer was expected')


def real_of(w_value):
    if isinstance(w_value, W_Float):
        return w_value.number
    if isinstance(w_value, W_Int):
        return float(w_value.number)
    raise error('float')


def text_of(w_value):
    if isinstance(w_value, W_Str):
        return w_value.text
    raise error('a string was expected')


def items_of(w_value):
    if isinstance(w_value, W_List):
        return w_value.items
    raise error('a list was expected')


def checked(index, length):
    if index < 0 or index >= length:
        raise error('index')
    return index


# ---- nodes ----

class Frame(object):
    _immutable_fields_ = ['slots', 'cells']

    def __init__(self, size, cells):
        self.slots = [NIL] * size
        self.cells = cells


class Node(object):
    def eval(self, frame):
        raise NotImplementedError

    def where(self):
        return 'node'


class Repeated(Node):
    """A loop, or the body of a function. `step` returns None if there is another round."""

    def step(self, frame):
        raise NotImplementedError


def location(node):
    return node.where()


driver = JitDriver(greens=['node'], reds=['frame'], is_recursive=True, get_printable_location=location)


def repeat(node, frame):
    while True:
        driver.jit_merge_point(node=node, frame=frame)
        w_result = node.step(frame)
        if w_result is not None:
            return w_result
        driver.can_enter_jit(node=node, frame=frame)


class Body(Repeated):
    _immutable_fields_ = ['name', 'body', 'size', 'arguments', 'celled[*]', 'sources[*]']

    def __init__(self, name):
        self.name = name
        self.body = None
        self.size = 0
        self.arguments = 0
        self.celled = []
        self.sources = []

    def where(self):
        return 'function ' + self.name

    def step(self, frame):
        try:
            return self.body.eval(frame)
        except Return as e:
            return e.w_value

    @unroll_safe
    def call(self, arguments, cells):
        if len(arguments) != self.arguments:
            raise error('wrong number of arguments of ' + self.name)
        frame = Frame(self.size, cells)
        slots = frame.slots
        for i in range(len(arguments)):
            slots[i] = arguments[i]
        for index in self.celled:
            slots[index] = W_Cell(slots[index])
        return repeat(self, frame)


class While(Repeated):
    _immutable_fields_ = ['condition', 'body', 'number']

    def __init__(self, condition, body, number):
        self.condition = condition
        self.body = body
        self.number = number

    def where(self):
        return 'while %d' % self.number

    def eval(self, frame):
        return repeat(self, frame)

    def step(self, frame):
        if not true(self.condition.eval(frame)):
            return NIL
        self.body.eval(frame)
        return None


class W_Iterator(W_Value):
    _immutable_fields_ = ['items']

    def __init__(self, items):
        self.items = items
        self.index = 0


class For(Repeated):
    _immutable_fields_ = ['sequence', 'body', 'slot', 'target']

    def __init__(self, sequence, body, slot, target):
        self.sequence = sequence
        self.body = body
        self.slot = slot
        self.target = target

    def where(self):
        return 'for %d' % self.slot

    def eval(self, frame):
        frame.slots[self.slot] = W_Iterator(items_of(self.sequence.eval(frame)))
        return repeat(self, frame)

    def step(self, frame):
        w_iterator = frame.slots[self.slot]
        assert isinstance(w_iterator, W_Iterator)
        index = w_iterator.index
        if index >= len(w_iterator.items):
            return NIL
        w_iterator.index = index + 1
        self.target.write(frame, w_iterator.items[index])
        self.body.eval(frame)
        return None


class Constant(Node):
    _immutable_fields_ = ['w_value']

    def __init__(self, w_value):
        self.w_value = w_value

    def eval(self, frame):
        return self.w_value


class Variable(Node):
    def write(self, frame, w_value):
        raise NotImplementedError


class Local(Variable):
    _immutable_fields_ = ['index']

    def __init__(self, index):
        self.index = index

    def eval(self, frame):
        return frame.slots[self.index]

    def write(self, frame, w_value):
        frame.slots[self.index] = w_value


class CellOf(Variable):
    """A variable in a cell, of this function or an outer one."""
    _immutable_fields_ = ['index', 'outer']

    def __init__(self, index, outer):
        self.index = index
        self.outer = outer

    def cell(self, frame):
        if self.outer:
            return frame.cells[self.index]
        w_cell = frame.slots[self.index]
        assert isinstance(w_cell, W_Cell)
        return w_cell

    def eval(self, frame):
        return self.cell(frame).w_value

    def write(self, frame, w_value):
        self.cell(frame).w_value = w_value


class Global(Variable):
    _immutable_fields_ = ['w_cell']

    def __init__(self, w_cell):
        self.w_cell = w_cell

    def eval(self, frame):
        return self.w_cell.w_value

    def write(self, frame, w_value):
        self.w_cell.w_value = w_value


class Assign(Node):
    _immutable_fields_ = ['target', 'value']

    def __init__(self, target, value):
        self.target = target
        self.value = value

    def eval(self, frame):
        w_value = self.value.eval(frame)
        self.target.write(frame, w_value)
        return w_value


class If(Node):
    _immutable_fields_ = ['condition', 'then', 'otherwise']

    def __init__(self, condition, then, otherwise):
        self.condition = condition
        self.then = then
        self.otherwise = otherwise

    def eval(self, frame):
        if true(self.condition.eval(frame)):
            return self.then.eval(frame)
        return self.otherwise.eval(frame)


class Logical(Node):
    _immutable_fields_ = ['left', 'right', 'stops']

    def __init__(self, left, right, stops):
        self.left = left
        self.right = right
        self.stops = stops

    def eval(self, frame):
        w_left = self.left.eval(frame)
        if true(w_left) == self.stops:
            return w_left
        return self.right.eval(frame)


class Several(Node):
    """Nodes with a list of children."""
    _immutable_fields_ = ['nodes[*]']

    def __init__(self, nodes):
        self.nodes = nodes[:]

    @unroll_safe
    def all(self, frame, start):
        values = [None] * (len(self.nodes) - start)
        for i in range(start, len(self.nodes)):
            values[i - start] = self.nodes[i].eval(frame)
        return values


class Do(Several):
    @unroll_safe
    def eval(self, frame):
        w_result = NIL
        for node in self.nodes:
            w_result = node.eval(frame)
        return w_result


class MakeList(Several):
    def eval(self, frame):
        return W_List(self.all(frame, 0))


class CallStatic(Several):
    """A call of a function that is known by its name."""
    _immutable_fields_ = ['body']

    def __init__(self, body, nodes):
        Several.__init__(self, nodes)
        self.body = body

    def eval(self, frame):
        return self.body.call(self.all(frame, 1), None)


class CallValue(Several):
    def eval(self, frame):
        w_function = self.nodes[0].eval(frame)
        if not isinstance(w_function, W_Function):
            raise error('not a function')
        return promote(w_function.body).call(self.all(frame, 1), w_function.cells)


class Send(Several):
    _immutable_fields_ = ['name']

    def __init__(self, name, nodes):
        Several.__init__(self, nodes)
        self.name = name

    def eval(self, frame):
        arguments = self.all(frame, 0)
        w_self = arguments[0]
        if not isinstance(w_self, W_Object):
            raise error('no methods')
        body = promote(w_self.map).method(self.name)
        if body is None:
            raise error('no method ' + self.name)
        return body.call(arguments, None)


class New(Several):
    _immutable_fields_ = ['map']

    def __init__(self, map, nodes):
        Several.__init__(self, nodes)
        self.map = map

    @unroll_safe
    def eval(self, frame):
        w_object = W_Object(self.map)
        body = self.map.method('init')
        if body is not None:
            arguments = [None] * (len(self.nodes) + 1)
            arguments[0] = w_object
            for i in range(len(self.nodes)):
                arguments[i + 1] = self.nodes[i].eval(frame)
            body.call(arguments, None)
        return w_object


class Field(Node):
    _immutable_fields_ = ['target', 'name']

    def __init__(self, target, name):
        self.target = target
        self.name = name

    def eval(self, frame):
        w_object = self.target.eval(frame)
        if not isinstance(w_object, W_Object):
            raise error('no fields')
        return w_object.read(self.name)


class SetField(Node):
    _immutable_fields_ = ['target', 'name', 'value']

    def __init__(self, target, name, value):
        self.target = target
        self.name = name
        self.value = value

    def eval(self, frame):
        w_object = self.target.eval(frame)
        w_value = self.value.eval(frame)
        if not isinstance(w_object, W_Object):
            raise error('no fields')
        w_object.write(self.name, w_value)
        return w_value


class MakeFunction(Node):
    _immutable_fields_ = ['body']

    def __init__(self, body):
        self.body = body

    @unroll_safe
    def eval(self, frame):
        sources = self.body.sources
        cells = [None] * len(sources)
        for i in range(len(sources)):
            source = sources[i]
            if source >= 0:
                w_cell = frame.slots[source]
            else:
                w_cell = frame.cells[-1 - source]
            assert isinstance(w_cell, W_Cell)
            cells[i] = w_cell
        return W_Function(self.body, cells)


class One(Node):
    """A node with one child and an operation by name."""
    _immutable_fields_ = ['operator', 'operand']

    def __init__(self, operator, operand):
        self.operator = operator
        self.operand = operand

    def eval(self, frame):
        w_value = self.operand.eval(frame)
        operator = self.operator
        if operator == 'not':
            return boolean(not true(w_value))
        elif operator == 'return':
            raise Return(w_value)
        elif operator == 'throw':
            raise Throw(w_value)
        elif operator == 'len':
            if isinstance(w_value, W_Str):
                return W_Int(len(w_value.text))
            if isinstance(w_value, W_Dict):
                return W_Int(len(w_value.numbers) + len(w_value.strings))
            return W_Int(len(items_of(w_value)))
        elif operator == 'pop':
            items = items_of(w_value)
            if len(items) == 0:
                raise error('pop of an empty list')
            return items.pop()
        elif operator == 'str':
            return W_Str(w_value.show())
        elif operator == 'ord':
            return W_Int(ord(text_of(w_value)[0]))
        elif operator == 'chr':
            return W_Str(chr(number_of(w_value) & 255))
        elif operator == 'float':
            return W_Float(real_of(w_value))
        elif operator == 'int':
            return W_Int(int(real_of(w_value)))
        return W_Float(math.sqrt(real_of(w_value)))


class Three(Several):
    _immutable_fields_ = ['operator']

    def __init__(self, operator, nodes):
        Several.__init__(self, nodes)
        self.operator = operator

    def eval(self, frame):
        w_target, w_key, w_value = (self.nodes[0].eval(frame), self.nodes[1].eval(frame),
                                    self.nodes[2].eval(frame))
        if self.operator == 'put':
            items = items_of(w_target)
            items[checked(number_of(w_key), len(items))] = w_value
            return w_value
        if self.operator == 'slice':
            text = text_of(w_target)
            start = number_of(w_key)
            end = number_of(w_value)
            if start < 0 or end < start or end > len(text):
                raise error('slice')
            return W_Str(text[start:end])
        if not isinstance(w_target, W_Dict):
            raise error('a dict was expected')
        if self.operator == 'get':
            if isinstance(w_key, W_Int):
                return w_target.numbers.get(w_key.number, w_value)
            return w_target.strings.get(text_of(w_key), w_value)
        if isinstance(w_key, W_Int):
            w_target.numbers[w_key.number] = w_value
        else:
            w_target.strings[text_of(w_key)] = w_value
        return w_value


class MakeDict(Node):
    def eval(self, frame):
        return W_Dict()


class Two(Node):
    """Binary operators. Each is a class of its own."""
    _immutable_fields_ = ['left', 'right']

    def __init__(self, left, right):
        self.left = left
        self.right = right

    def eval(self, frame):
        w_left = self.left.eval(frame)
        return self.apply(w_left, self.right.eval(frame))

    def apply(self, w_left, w_right):
        raise NotImplementedError


def arithmetic(name, on_ints, on_floats):
    class Arithmetic(Two):
        def apply(self, w_left, w_right):
            if isinstance(w_left, W_Int) and isinstance(w_right, W_Int):
                return W_Int(on_ints(w_left.number, w_right.number))
            if name == '+' and isinstance(w_left, W_Str):
                return W_Str(w_left.text + text_of(w_right))
            return W_Float(on_floats(real_of(w_left), real_of(w_right)))
    Arithmetic.__name__ = 'Arithmetic_' + name
    return Arithmetic


def bits(name, on_ints):
    class Bits(Two):
        def apply(self, w_left, w_right):
            return W_Int(on_ints(number_of(w_left), number_of(w_right)))
    Bits.__name__ = 'Bits_' + name
    return Bits


def comparison(name, on_ints, on_floats, on_strings):
    class Comparison(Two):
        def apply(self, w_left, w_right):
            if isinstance(w_left, W_Int) and isinstance(w_right, W_Int):
                return boolean(on_ints(w_left.number, w_right.number))
            if isinstance(w_left, W_Str):
                return boolean(on_strings(w_left.text, text_of(w_right)))
            return boolean(on_floats(real_of(w_left), real_of(w_right)))
    Comparison.__name__ = 'Comparison_' + name
    return Comparison


def divide(a, b):
    if b == 0:
        raise error('division by zero')
    return a // b


def divide_floats(a, b):
    if b == 0.0:
        raise error('division by zero')
    return a / b


def remainder(a, b):
    if b == 0:
        raise error('division by zero')
    return a % b


Add = arithmetic('+', lambda a, b: a + b, lambda a, b: a + b)
Sub = arithmetic('-', lambda a, b: a - b, lambda a, b: a - b)
Mul = arithmetic('*', lambda a, b: a * b, lambda a, b: a * b)
Div = arithmetic('/', divide, divide_floats)
Mod = bits('%', remainder)
And = bits('&', lambda a, b: a & b)
Or = bits('|', lambda a, b: a | b)
Xor = bits('^', lambda a, b: a ^ b)
Shl = bits('<<', lambda a, b: a << (b & 63))
Shr = bits('>>', lambda a, b: a >> (b & 63))
Less = comparison('<', lambda a, b: a < b, lambda a, b: a < b, lambda a, b: a < b)
LessEqual = comparison('<=', lambda a, b: a <= b, lambda a, b: a <= b, lambda a, b: a <= b)


class Equal(Two):
    _immutable_fields_ = ['wanted']

    def __init__(self, left, right, wanted):
        Two.__init__(self, left, right)
        self.wanted = wanted

    def apply(self, w_left, w_right):
        if isinstance(w_left, W_Int) and isinstance(w_right, W_Int):
            same = w_left.number == w_right.number
        elif isinstance(w_left, W_Str):
            same = isinstance(w_right, W_Str) and w_left.text == w_right.text
        else:
            same = w_left is w_right
        return boolean(same == self.wanted)


class At(Two):
    def apply(self, w_left, w_right):
        index = number_of(w_right)
        if isinstance(w_left, W_Str):
            return W_Str(w_left.text[checked(index, len(w_left.text))])
        items = items_of(w_left)
        return items[checked(index, len(items))]


class Push(Two):
    def apply(self, w_left, w_right):
        items_of(w_left).append(w_right)
        return w_right


class NewList(Two):
    def apply(self, w_left, w_right):
        return W_List([w_right] * number_of(w_left))


class Has(Two):
    def apply(self, w_left, w_right):
        if not isinstance(w_left, W_Dict):
            raise error('a dict was expected')
        if isinstance(w_right, W_Int):
            return boolean(w_right.number in w_left.numbers)
        return boolean(text_of(w_right) in w_left.strings)


class Try(Node):
    _immutable_fields_ = ['body', 'target', 'handler']

    def __init__(self, body, target, handler):
        self.body = body
        self.target = target
        self.handler = handler

    def eval(self, frame):
        try:
            return self.body.eval(frame)
        except Throw as e:
            w_value = e.w_value
        self.target.write(frame, w_value)
        return self.handler.eval(frame)


# ---- building ----

class Tree(common.Engine):
    def __init__(self, program):
        self.cells = [W_Cell(NIL) for _ in program.global_names]
        self.bodies = [Body(function.name) for function in program.functions]
        self.maps = []
        self.loops = 0
        for description in program.classes:
            cls = Class(description.name)
            for name in description.method_names:
                cls.methods[name] = self.bodies[description.methods[name].index]
            self.maps.append(Map(cls, 0))
        for function in program.functions:
            self.build(function)
        self.main = self.bodies[program.main()]
        self.start(self.bodies[program.initial.index], [])

    def start(self, body, arguments):
        try:
            return body.call(arguments, None)
        except Throw as e:
            raise Failure('uncaught: ' + e.w_value.show())

    def unit(self, n):
        return self.start(self.main, [W_Int(n)]).show()

    def build(self, function):
        body = self.bodies[function.index]
        body.size = len(function.variables)
        body.arguments = function.arguments
        body.celled = [variable.index for variable in function.variables if variable.captured]
        if function.outer is not None:
            body.sources = function.cell_sources()
        body.body = self.node(function.body)

    def variable(self, variable):
        if variable.captured:
            return CellOf(variable.index, False)
        return Local(variable.index)

    def node(self, node):
        kind = node.kind
        kids = [self.node(kid) for kid in node.kids]
        if kind == 'int':
            return Constant(W_Int(node.number))
        elif kind == 'float':
            return Constant(W_Float(node.real))
        elif kind == 'str':
            return Constant(W_Str(node.name))
        elif kind == 'nil':
            return Constant(NIL)
        elif kind == 'true':
            return Constant(TRUE)
        elif kind == 'false':
            return Constant(FALSE)
        elif kind == 'function':
            return Constant(W_Function(self.bodies[node.index], []))
        elif kind == 'local':
            return self.variable(node.variable)
        elif kind == 'free':
            return CellOf(node.index, True)
        elif kind == 'global':
            return Global(self.cells[node.index])
        elif kind == 'setlocal':
            return Assign(self.variable(node.variable), kids[0])
        elif kind == 'setfree':
            return Assign(CellOf(node.index, True), kids[0])
        elif kind == 'setglobal':
            return Assign(Global(self.cells[node.index]), kids[0])
        elif kind == 'if':
            return If(kids[0], kids[1], kids[2])
        elif kind == 'and':
            return Logical(kids[0], kids[1], False)
        elif kind == 'or':
            return Logical(kids[0], kids[1], True)
        elif kind == 'while':
            self.loops += 1
            return While(kids[0], kids[1], self.loops)
        elif kind == 'for':
            return For(kids[0], kids[1], node.index, self.variable(node.variable))
        elif kind == 'do':
            return Do(kids)
        elif kind == 'not' or kind == 'return' or kind == 'throw':
            return One(kind, kids[0])
        elif kind == 'list':
            return MakeList(kids)
        elif kind == 'try':
            return Try(kids[0], self.variable(node.variable), kids[1])
        elif kind == 'fn':
            return MakeFunction(self.bodies[node.index])
        elif kind == 'call':
            if node.kids[0].kind == 'function':
                return CallStatic(self.bodies[node.kids[0].index], kids)
            return CallValue(kids)
        elif kind == 'new':
            return New(self.maps[node.index], kids)
        elif kind == 'send':
            return Send(node.name, kids)
        elif kind == 'field':
            return Field(kids[0], node.name)
        elif kind == 'setfield':
            return SetField(kids[0], node.name, kids[1])
        elif kind == 'op':
            return self.operator(node.name, kids)
        raise Failure('not in this language: ' + kind)

    def operator(self, name, kids):
        if len(kids) == 0:
            return MakeDict()
        if len(kids) == 1:
            return One(name, kids[0])
        if len(kids) == 3:
            return Three(name, kids)
        left = kids[0]
        right = kids[1]
        if name == '+':
            return Add(left, right)
        elif name == '-':
            return Sub(left, right)
        elif name == '*':
            return Mul(left, right)
        elif name == '/':
            return Div(left, right)
        elif name == '%':
            return Mod(left, right)
        elif name == '&':
            return And(left, right)
        elif name == '|':
            return Or(left, right)
        elif name == '^':
            return Xor(left, right)
        elif name == '<<':
            return Shl(left, right)
        elif name == '>>':
            return Shr(left, right)
        elif name == '<':
            return Less(left, right)
        elif name == '<=':
            return LessEqual(left, right)
        elif name == '>':
            return Less(right, left)
        elif name == '>=':
            return LessEqual(right, left)
        elif name == '==':
            return Equal(left, right, True)
        elif name == '!=':
            return Equal(left, right, False)
        elif name == 'push':
            return Push(left, right)
        elif name == 'newlist':
            return NewList(left, right)
        elif name == 'has':
            return Has(left, right)
        return At(left, right)


def load(text):
    return Tree(front.parse(text))


def main(argv):
    return common.run(argv, load)


def target(driver, args):
    return main, None


if __name__ == '__main__':
    import sys
    sys.exit(main(sys.argv))
