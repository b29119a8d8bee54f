"""A stack machine whose instructions are objects that execute themselves. Lists have strategies, as in PyPy: integers and
floats are stored unboxed in erased lists, and a list changes its strategy when something else is stored. Dicts compare keys by
value. Globals are cells that a version protects. Frames have a stack of fixed length and are not virtualizable.
"""
import math
from rpython.rlib.jit import JitDriver, promote, elidable, unroll_safe
from rpython.rlib.objectmodel import r_dict, compute_hash
from rpython.rlib.rerased import new_erasing_pair
import common
import front
from common import Failure


class Throw(Exception):
    def __init__(self, w_value):
        self.w_value = w_value


def error(text):
    return Throw(W_Str(text))


# ---- values ----

class W_Object(object):
    def text(self):
        return '<object>'

    def is_true(self):
        return True


class W_Singleton(W_Object):
    _immutable_fields_ = ['name', 'truth']

    def __init__(self, name, truth):
        self.name = name
        self.truth = truth

    def text(self):
        return self.name

    def is_true(self):
        return self.truth


class W_Int(W_Object):
    _immutable_fields_ = ['value']

    def __init__(self, value):
        self.value = value

    def text(self):
        return str(self.value)

    def is_true(self):
        return self.value != 0


class W_Float(W_Object):
    _immutable_fields_ = ['value']

    def __init__(self, value):
        self.value = value

    def text(self):
        return str(self.value)


class W_Str(W_Object):
    _immutable_fields_ = ['value']

    def __init__(self, value):
        self.value = value

    def text(self):
        return self.value

    def is_true(self):
        return len(self.value) > 0


def w_equal(w_left, w_right):
    if isinstance(w_left, W_Int) and isinstance(w_right, W_Int):
        return w_left.value == w_right.value
    if isinstance(w_left, W_Str) and isinstance(w_right, W_Str):
        return w_left.value == w_right.value
    return w_left is w_right


def w_hash(w_value):
    if isinstance(w_value, W_Int):
        return w_value.value
    if isinstance(w_value, W_Str):
        return compute_hash(w_value.value)
    return compute_hash(w_value)


class W_Dict(W_Object):
    def __init__(self):
        self.content = r_dict(w_equal, w_hash)


class W_Cell(W_Object):
    def __init__(self, w_value):
        self.w_value = w_value


class W_Iterator(W_Object):
    def __init__(self, w_list):
        self.w_list = w_list
        self.next = 0


class W_Function(W_Object):
    _immutable_fields_ = ['code', 'cells[*]']

    def __init__(self, code, cells):
        self.code = code
        self.cells = cells


class W_Class(W_Object):
    _immutable_fields_ = ['name', 'count']

    def __init__(self, name):
        self.name = name
        self.count = 0
        self.fields = {}
        self.methods = {}

    @elidable
    def field(self, name):
        return self.fields.get(name, -1)

    @elidable
    def method(self, name):
        return self.methods.get(name, None)


class W_Instance(W_Object):
    _immutable_fields_ = ['w_class', 'fields']

    def __init__(self, w_class):
        self.w_class = w_class
        self.fields = [NIL] * w_class.count

    def text(self):
        return '<' + self.w_class.name + '>'

    def index(self, name):
        index = promote(self.w_class).field(name)
        if index < 0:
            raise error('no field ' + name)
        return index


NIL = W_Singleton('nil', False)
TRUE = W_Singleton('true', True)
FALSE = W_Singleton('false', False)


def boolean(value):
    if value:
        return TRUE
    return FALSE


# ---- lists ----

class Strategy(object):
    def accepts(self, w_value):
        raise NotImplementedError

    def length(self, w_list):
        raise NotImplementedError

    def get(self, w_list, index):
        raise NotImplementedError

    def set(self, w_list, index, w_value):
        raise NotImplementedError

    def append(self, w_list, w_value):
        raise NotImplementedError

    def pop(self, w_list):
        raise NotImplementedError

    def fill(self, w_list, count, w_value):
        raise NotImplementedError

    def boxed(self, w_list):
        raise NotImplementedError


class EmptyStrategy(Strategy):
    def accepts(self, w_value):
        return False

    def length(self, w_list):
        return 0

    def get(self, w_list, index):
        raise error('index')

    def set(self, w_list, index, w_value):
        raise error('index')

    def pop(self, w_list):
        raise error('index')

    def boxed(self, w_list):
        return []


def make_strategy(name, erase, unerase, box, unbox, fits):
    class Typed(Strategy):
        def items(self, w_list):
            return unerase(w_list.storage)

        def accepts(self, w_value):
            return fits(w_value)

        def length(self, w_list):
            return len(self.items(w_list))

        def get(self, w_list, index):
            return box(self.items(w_list)[index])

        def set(self, w_list, index, w_value):
            self.items(w_list)[index] = unbox(w_value)

        def append(self, w_list, w_value):
            self.items(w_list).append(unbox(w_value))

        def pop(self, w_list):
            return box(self.items(w_list).pop())

        def fill(self, w_list, count, w_value):
            w_list.storage = erase([unbox(w_value)] * count)

        def boxed(self, w_list):
            return [box(item) for item in self.items(w_list)]

        def take(self, w_list, items_w):
            w_list.storage = erase([unbox(w_item) for w_item in items_w])
    Typed.__name__ = name
    return Typed()


def unbox_int(w_value):
    assert isinstance(w_value, W_Int)
    return w_value.value


def unbox_float(w_value):
    assert isinstance(w_value, W_Float)
    return w_value.value


erase_ints, unerase_ints = new_erasing_pair('ints')
erase_floats, unerase_floats = new_erasing_pair('floats')
erase_objects, unerase_objects = new_erasing_pair('objects')
EMPTY = EmptyStrategy()
INTS = make_strategy('IntStrategy', erase_ints, unerase_ints, W_Int, unbox_int,
                     lambda w_value: isinstance(w_value, W_Int))
FLOATS = make_strategy('FloatStrategy', erase_floats, unerase_floats, W_Float, unbox_float,
                       lambda w_value: isinstance(w_value, W_Float))
OBJECTS = make_strategy('ObjectStrategy', erase_objects, unerase_objects, lambda w_value: w_value,
                        lambda w_value: w_value, lambda w_value: True)


def strategy_for(w_value):
    if isinstance(w_value, W_Int):
        return INTS
    if isinstance(w_value, W_Float):
        return FLOATS
    return OBJECTS


class W_List(W_Object):
    def __init__(self):
        self.strategy = EMPTY
        self.storage = erase_objects([])

    def known(self):
        return promote(self.strategy)

    def length(self):
        return self.known().length(self)

    def checked(self, index):
        if index < 0 or index >= self.length():
            raise error('index')
        return index

    def at(self, index):
        return self.known().get(self, self.checked(index))

    def put(self, index, w_value):
        self.checked(index)
        self.prepare(w_value)
        self.known().set(self, index, w_value)

    def append(self, w_value):
        self.prepare(w_value)
        self.known().append(self, w_value)

    def prepare(self, w_value):
        """Changes the strategy if the present one does not take the value."""
        strategy = self.known()
        if strategy.accepts(w_value):
            return
        if strategy is EMPTY:
            self.strategy = strategy_for(w_value)
            self.strategy.take(self, [])
        else:
            self.generalize()

    def generalize(self):
        items_w = self.strategy.boxed(self)
        self.strategy = OBJECTS
        OBJECTS.take(self, items_w)


def int_of(w_value):
    if isinstance(w_value, W_Int):
        return w_value.value
    raise error('an integer was expected')


def float_of(w_value):
    if isinstance(w_value, W_Float):
        return w_value.value
    if isinstance(w_value, W_Int):
        return float(w_value.value)
    raise error('float')


def str_of(w_value):
    if isinstance(w_value, W_Str):
        return w_value.value
    raise error('a string was expected')


def list_of(w_value):
    if isinstance(w_value, W_List):
        return w_value
    raise error('a list was expected')


def content_of(w_value):
    if isinstance(w_value, W_Dict):
        return w_value.content
    raise error('a dict was expected')


# ---- globals ----

class Version(object):
    pass


class Globals(object):
    """Cells by name. New names and functions change the version, writes of variables do not."""
    _immutable_fields_ = ['version?']

    def __init__(self):
        self.cells = {}
        self.version = Version()

    def define(self, name):
        self.cells[name] = W_Cell(NIL)
        self.version = Version()

    def cell(self, name):
        return self.find(name, promote(self).version)

    @elidable
    def find(self, name, version):
        return self.cells[name]


# ---- instructions ----

class Frame(object):
    _immutable_fields_ = ['code', 'stack', 'locals', 'cells']

    def __init__(self, code, cells):
        self.code = code
        self.locals = [NIL] * code.size
        self.stack = [NIL] * code.depth
        self.cells = cells
        self.depth = 0

    def push(self, w_value):
        self.stack[self.depth] = w_value
        self.depth += 1

    def pop(self):
        self.depth -= 1
        return self.stack[self.depth]

    def peek(self, below):
        return self.stack[self.depth - 1 - below]

    @unroll_safe
    def pop_many(self, count):
        values = [NIL] * count
        while count > 0:
            count -= 1
            values[count] = self.pop()
        return values


class Instruction(object):
    """Executes itself; returns the index of the next instruction."""
    _immutable_fields_ = ['next']

    def __init__(self):
        self.next = 0

    def execute(self, frame, machine):
        raise NotImplementedError


class Jumping(Instruction):
    _immutable_fields_ = ['target']

    def __init__(self):
        self.next = 0
        self.target = 0


class Const(Instruction):
    _immutable_fields_ = ['w_value']

    def __init__(self, w_value):
        self.w_value = w_value

    def execute(self, frame, machine):
        frame.push(self.w_value)
        return self.next


class Indexed(Instruction):
    _immutable_fields_ = ['index']

    def __init__(self, index):
        self.index = index


class Local(Indexed):
    def execute(self, frame, machine):
        frame.push(frame.locals[self.index])
        return self.next


class SetLocal(Indexed):
    def execute(self, frame, machine):
        frame.locals[self.index] = frame.pop()
        return self.next


class OwnCell(Indexed):
    def execute(self, frame, machine):
        w_cell = frame.locals[self.index]
        assert isinstance(w_cell, W_Cell)
        frame.push(w_cell.w_value)
        return self.next


class SetOwnCell(Indexed):
    def execute(self, frame, machine):
        w_cell = frame.locals[self.index]
        assert isinstance(w_cell, W_Cell)
        w_cell.w_value = frame.pop()
        return self.next


class FreeCell(Indexed):
    def execute(self, frame, machine):
        frame.push(frame.cells[self.index].w_value)
        return self.next


class SetFreeCell(Indexed):
    def execute(self, frame, machine):
        frame.cells[self.index].w_value = frame.pop()
        return self.next


class Named(Instruction):
    _immutable_fields_ = ['name']

    def __init__(self, name):
        self.name = name


class Global(Named):
    def execute(self, frame, machine):
        frame.push(machine.globals.cell(self.name).w_value)
        return self.next


class SetGlobal(Named):
    def execute(self, frame, machine):
        machine.globals.cell(self.name).w_value = frame.pop()
        return self.next


class Pop(Instruction):
    def execute(self, frame, machine):
        frame.pop()
        return self.next


class Dup(Instruction):
    def execute(self, frame, machine):
        frame.push(frame.peek(0))
        return self.next


class Jump(Jumping):
    def execute(self, frame, machine):
        return self.target


class JumpIfFalse(Jumping):
    def execute(self, frame, machine):
        if frame.pop().is_true():
            return self.next
        return self.target


class Keep(Jumping):
    """Jumps with the value on the stack if it decides `and` or `or`."""
    _immutable_fields_ = ['wanted']

    def __init__(self, wanted):
        Jumping.__init__(self)
        self.wanted = wanted

    def execute(self, frame, machine):
        if frame.peek(0).is_true() == self.wanted:
            return self.target
        frame.pop()
        return self.next


class Not(Instruction):
    def execute(self, frame, machine):
        frame.push(boolean(not frame.pop().is_true()))
        return self.next


class Call(Indexed):
    def execute(self, frame, machine):
        arguments = frame.pop_many(self.index)
        w_function = frame.pop()
        if not isinstance(w_function, W_Function):
            raise error('not a function')
        frame.push(machine.call(w_function, arguments))
        return self.next


class Send(Indexed):
    _immutable_fields_ = ['name']

    def __init__(self, index, name):
        self.index = index
        self.name = name

    def execute(self, frame, machine):
        arguments = frame.pop_many(self.index)
        w_self = arguments[0]
        if not isinstance(w_self, W_Instance):
            raise error('no methods')
        w_function = promote(w_self.w_class).method(self.name)
        if w_function is None:
            raise error('no method ' + self.name)
        frame.push(machine.call(w_function, arguments))
        return self.next


class Returning(Instruction):
    def execute(self, frame, machine):
        return -1


class Throwing(Instruction):
    def execute(self, frame, machine):
        raise Throw(frame.pop())


class MakeFunction(Instruction):
    _immutable_fields_ = ['code']

    def __init__(self, code):
        self.code = code

    @unroll_safe
    def execute(self, frame, machine):
        sources = self.code.sources
        cells = [None] * len(sources)
        i = 0
        while i < len(sources):
            if sources[i] >= 0:
                w_cell = frame.locals[sources[i]]
                assert isinstance(w_cell, W_Cell)
            else:
                w_cell = frame.cells[-1 - sources[i]]
            cells[i] = w_cell
            i += 1
        frame.push(W_Function(self.code, cells))
        return self.next


class New(Instruction):
    _immutable_fields_ = ['w_class']

    def __init__(self, w_class):
        self.w_class = w_class

    def execute(self, frame, machine):
        frame.push(W_Instance(self.w_class))
        return self.next


class Field(Named):
    def execute(self, frame, machine):
        w_target = frame.pop()
        if not isinstance(w_target, W_Instance):
            raise error('no fields')
        frame.push(w_target.fields[w_target.index(self.name)])
        return self.next


class SetField(Named):
    def execute(self, frame, machine):
        w_value = frame.pop()
        w_target = frame.pop()
        if not isinstance(w_target, W_Instance):
            raise error('no fields')
        w_target.fields[w_target.index(self.name)] = w_value
        frame.push(w_value)
        return self.next


class MakeList(Indexed):
    @unroll_safe
    def execute(self, frame, machine):
        w_list = W_List()
        for w_value in frame.pop_many(self.index):
            w_list.append(w_value)
        frame.push(w_list)
        return self.next


class Iterate(Instruction):
    def execute(self, frame, machine):
        frame.push(W_Iterator(list_of(frame.pop())))
        return self.next


class Next(Jumping):
    def execute(self, frame, machine):
        w_iterator = frame.peek(0)
        assert isinstance(w_iterator, W_Iterator)
        index = w_iterator.next
        if index >= w_iterator.w_list.length():
            frame.pop()
            return self.target
        w_iterator.next = index + 1
        frame.push(w_iterator.w_list.at(index))
        return self.next


class Operator(Instruction):
    """An operator with its number of operands."""
    _immutable_fields_ = ['name', 'operands']

    def __init__(self, name, operands):
        self.name = name
        self.operands = operands

    def execute(self, frame, machine):
        w_third = w_second = w_first = NIL
        if self.operands == 3:
            w_third = frame.pop()
        if self.operands >= 2:
            w_second = frame.pop()
        if self.operands >= 1:
            w_first = frame.pop()
        if self.operands == 2:
            frame.push(binary(self.name, w_first, w_second))
        else:
            frame.push(other(self.name, w_first, w_second, w_third))
        return self.next


def arithmetic(name, w_left, w_right):
    if isinstance(w_left, W_Int) and isinstance(w_right, W_Int):
        a = w_left.value
        b = w_right.value
        if name == '+':
            return W_Int(a + b)
        elif name == '-':
            return W_Int(a - b)
        elif name == '*':
            return W_Int(a * b)
        elif name == '<':
            return boolean(a < b)
        elif name == '<=':
            return boolean(a <= b)
        elif name == '>':
            return boolean(a > b)
        elif name == '>=':
            return boolean(a >= b)
        if b == 0:
            raise error('division by zero')
        return W_Int(a // b)
    if isinstance(w_left, W_Str):
        s = w_left.value
        t = str_of(w_right)
        if name == '+':
            return W_Str(s + t)
        elif name == '<':
            return boolean(s < t)
        elif name == '<=':
            return boolean(s <= t)
        elif name == '>':
            return boolean(s > t)
        elif name == '>=':
            return boolean(s >= t)
    f = float_of(w_left)
    g = float_of(w_right)
    if name == '+':
        return W_Float(f + g)
    elif name == '-':
        return W_Float(f - g)
    elif name == '*':
        return W_Float(f * g)
    elif name == '<':
        return boolean(f < g)
    elif name == '<=':
        return boolean(f <= g)
    elif name == '>':
        return boolean(f > g)
    elif name == '>=':
        return boolean(f >= g)
    if g == 0.0:
        raise error('division by zero')
    return W_Float(f / g)


def binary(name, w_left, w_right):
    if name == 'at' or name == 'char':
        index = int_of(w_right)
        if isinstance(w_left, W_Str):
            if index < 0 or index >= len(w_left.value):
                raise error('index')
            return W_Str(w_left.value[index])
        return list_of(w_left).at(index)
    elif name == '==':
        return boolean(w_equal(w_left, w_right))
    elif name == '!=':
        return boolean(not w_equal(w_left, w_right))
    elif name == 'push':
        list_of(w_left).append(w_right)
        return w_right
    elif name == 'newlist':
        w_list = W_List()
        w_list.strategy = strategy_for(w_right)
        w_list.strategy.fill(w_list, int_of(w_left), w_right)
        return w_list
    elif name == 'has':
        return boolean(w_right in content_of(w_left))
    elif name == '%' or name == '&' or name == '|' or name == '^' or name == '<<' or name == '>>':
        a = int_of(w_left)
        b = int_of(w_right)
        if name == '&':
            return W_Int(a & b)
        elif name == '|':
            return W_Int(a | b)
        elif name == '^':
            return W_Int(a ^ b)
        elif name == '<<':
            return W_Int(a << (b & 63))
        elif name == '>>':
            return W_Int(a >> (b & 63))
        if b == 0:
            raise error('division by zero')
        return W_Int(a % b)
    return arithmetic(name, w_left, w_right)


def other(name, w_first, w_second, w_third):
    if name == 'put':
        list_of(w_first).put(int_of(w_second), w_third)
        return w_third
    elif name == 'len':
        if isinstance(w_first, W_Str):
            return W_Int(len(w_first.value))
        if isinstance(w_first, W_Dict):
            return W_Int(len(w_first.content))
        return W_Int(list_of(w_first).length())
    elif name == 'pop':
        w_list = list_of(w_first)
        w_list.checked(0)
        return w_list.known().pop(w_list)
    elif name == 'dict':
        return W_Dict()
    elif name == 'get':
        return content_of(w_first).get(w_second, w_third)
    elif name == 'dput':
        content_of(w_first)[w_second] = w_third
        return w_third
    elif name == 'str':
        return W_Str(w_first.text())
    elif name == 'ord':
        return W_Int(ord(str_of(w_first)[0]))
    elif name == 'chr':
        return W_Str(chr(int_of(w_first) & 255))
    elif name == 'float':
        return W_Float(float_of(w_first))
    elif name == 'int':
        return W_Int(int(float_of(w_first)))
    elif name == 'sqrt':
        return W_Float(math.sqrt(float_of(w_first)))
    value = str_of(w_first)
    start = int_of(w_second)
    end = int_of(w_third)
    if start < 0 or end < start or end > len(value):
        raise error('slice')
    return W_Str(value[start:end])


# ---- compiling ----

class Handler(object):
    _immutable_fields_ = ['start', 'end', 'target', 'depth']

    def __init__(self, start, end, target, depth):
        self.start = start
        self.end = end
        self.target = target
        self.depth = depth


class Code(object):
    _immutable_fields_ = ['name', 'instructions[*]', 'arguments', 'size', 'depth', 'celled[*]', 'sources[*]',
                          'handlers[*]']

    def __init__(self, name):
        self.name = name
        self.instructions = []
        self.arguments = 0
        self.size = 0
        self.depth = 0
        self.celled = []
        self.sources = []
        self.handlers = []

    @elidable
    def handler(self, index):
        for handler in self.handlers:
            if handler.start <= index and index < handler.end:
                return handler
        return None


class Compiler(object):
    def __init__(self, machine, function):
        self.machine = machine
        self.function = function
        self.instructions = []
        self.handlers = []
        self.depth = 0
        self.deepest = 1

    def emit(self, instruction, effect):
        self.instructions.append(instruction)
        instruction.next = len(self.instructions)
        self.depth += effect
        if self.depth > self.deepest:
            self.deepest = self.depth

    def jump(self, instruction, effect):
        self.emit(instruction, effect)
        return instruction

    def land(self, instruction):
        instruction.target = len(self.instructions)

    def compile(self):
        function = self.function
        code = self.machine.codes[function.index]
        self.node(function.body)
        self.emit(Returning(), 0)
        code.instructions = self.instructions[:]
        code.arguments = function.arguments
        code.size = len(function.variables)
        code.depth = self.deepest + 1
        code.celled = [variable.index for variable in function.variables if variable.captured]
        code.handlers = self.handlers[:]
        if function.outer is not None:
            code.sources = function.cell_sources()

    def store(self, variable):
        if variable.captured:
            self.emit(SetOwnCell(variable.index), -1)
        else:
            self.emit(SetLocal(variable.index), -1)

    def node(self, node):
        kind = node.kind
        kids = node.kids
        if kind == 'if':
            self.node(kids[0])
            otherwise = self.jump(JumpIfFalse(), -1)
            self.node(kids[1])
            end = self.jump(Jump(), -1)
            self.land(otherwise)
            self.node(kids[2])
            self.land(end)
        elif kind == 'and' or kind == 'or':
            self.node(kids[0])
            end = self.jump(Keep(kind == 'or'), -1)
            self.node(kids[1])
            self.land(end)
        elif kind == 'while':
            start = len(self.instructions)
            self.node(kids[0])
            end = self.jump(JumpIfFalse(), -1)
            self.node(kids[1])
            self.emit(Pop(), -1)
            self.jump(Jump(), 0).target = start
            self.land(end)
            self.emit(Const(NIL), 1)
        elif kind == 'for':
            self.node(kids[0])
            self.emit(Iterate(), 0)
            start = len(self.instructions)
            end = self.jump(Next(), 1)
            self.store(node.variable)
            self.node(kids[1])
            self.emit(Pop(), -1)
            self.jump(Jump(), -1).target = start
            self.land(end)
            self.emit(Const(NIL), 1)
        elif kind == 'try':
            depth = self.depth
            start = len(self.instructions)
            self.node(kids[0])
            finish = len(self.instructions)
            end = self.jump(Jump(), 0)
            self.handlers.append(Handler(start, finish, len(self.instructions), depth))
            self.store(node.variable)
            self.node(kids[1])
            self.land(end)
        elif kind == 'do':
            if len(kids) == 0:
                self.emit(Const(NIL), 1)
            for i in range(len(kids)):
                if i > 0:
                    self.emit(Pop(), -1)
                self.node(kids[i])
        elif kind == 'new':
            w_class = self.machine.classes[node.index]
            self.emit(New(w_class), 1)
            if 'init' in w_class.methods:
                self.emit(Dup(), 1)
                for kid in kids:
                    self.node(kid)
                self.emit(Send(len(kids) + 1, 'init'), -len(kids))
                self.emit(Pop(), -1)
        else:
            for kid in kids:
                self.node(kid)
            self.simple(node, kind, len(kids))

    def simple(self, node, kind, count):
        """Nodes whose operands are on the stack."""
        if kind == 'int':
            self.emit(Const(W_Int(node.number)), 1)
        elif kind == 'float':
            self.emit(Const(W_Float(node.real)), 1)
        elif kind == 'str':
            self.emit(Const(W_Str(node.name)), 1)
        elif kind == 'nil':
            self.emit(Const(NIL), 1)
        elif kind == 'true':
            self.emit(Const(TRUE), 1)
        elif kind == 'false':
            self.emit(Const(FALSE), 1)
        elif kind == 'function' or kind == 'global':
            self.emit(Global(node.name), 1)
        elif kind == 'local':
            if node.variable.captured:
                self.emit(OwnCell(node.variable.index), 1)
            else:
                self.emit(Local(node.variable.index), 1)
        elif kind == 'free':
            self.emit(FreeCell(node.index), 1)
        elif kind == 'setlocal':
            self.emit(Dup(), 1)
            self.store(node.variable)
        elif kind == 'setfree':
            self.emit(Dup(), 1)
            self.emit(SetFreeCell(node.index), -1)
        elif kind == 'setglobal':
            self.emit(Dup(), 1)
            self.emit(SetGlobal(node.name), -1)
        elif kind == 'op':
            self.emit(Operator(node.name, count), 1 - count)
        elif kind == 'call':
            self.emit(Call(count - 1), 1 - count)
        elif kind == 'send':
            self.emit(Send(count, node.name), 1 - count)
        elif kind == 'field':
            self.emit(Field(node.name), 0)
        elif kind == 'setfield':
            self.emit(SetField(node.name), -1)
        elif kind == 'list':
            self.emit(MakeList(count), 1 - count)
        elif kind == 'fn':
            self.emit(MakeFunction(self.machine.codes[node.index]), 1)
        elif kind == 'not':
            self.emit(Not(), 0)
        elif kind == 'throw':
            self.emit(Throwing(), 0)
        elif kind == 'return':
            self.emit(Returning(), 0)
        else:
            raise Failure('not in this language: ' + kind)


# ---- the machine ----

def location(index, code):
    return '%s %d' % (code.name, index)


driver = JitDriver(greens=['index', 'code'], reds=['frame', 'machine'], is_recursive=True,
                   get_printable_location=location)


class Machine(common.Engine):
    _immutable_fields_ = ['globals']

    def __init__(self, program):
        self.globals = Globals()
        self.codes = [Code(function.name) for function in program.functions]
        self.classes = []
        for name in program.global_names:
            self.globals.define(name)
        for name in program.function_indexes:
            self.globals.define(name)
            self.globals.cell(name).w_value = W_Function(self.codes[program.function_indexes[name]], [])
        for description in program.classes:
            w_class = W_Class(description.name)
            for field in description.fields:
                w_class.fields[field] = w_class.count
                w_class.count += 1
            for name in description.method_names:
                w_class.methods[name] = W_Function(self.codes[description.methods[name].index], [])
            self.classes.append(w_class)
        for function in program.functions:
            Compiler(self, function).compile()
        self.main = W_Function(self.codes[program.main()], [])
        self.start(W_Function(self.codes[program.initial.index], []), [])

    def start(self, w_function, arguments):
        try:
            return self.call(w_function, arguments)
        except Throw as e:
            raise Failure('uncaught: ' + e.w_value.text())

    def unit(self, n):
        return self.start(self.main, [W_Int(n)]).text()

    @unroll_safe
    def call(self, w_function, arguments):
        code = promote(w_function.code)
        if len(arguments) != code.arguments:
            raise error('wrong number of arguments of ' + code.name)
        frame = Frame(code, w_function.cells)
        i = 0
        while i < len(arguments):
            frame.locals[i] = arguments[i]
            i += 1
        i = 0
        while i < len(code.celled):
            at = code.celled[i]
            frame.locals[at] = W_Cell(frame.locals[at])
            i += 1
        return interpret(self, frame, code)


def interpret(machine, frame, code):
    index = 0
    while True:
        driver.jit_merge_point(index=index, code=code, frame=frame, machine=machine)
        try:
            next = code.instructions[index].execute(frame, machine)
        except Throw as e:
            handler = code.handler(index)
            if handler is None:
                raise
            frame.depth = handler.depth
            frame.push(e.w_value)
            next = handler.target
        if next < 0:
            return frame.pop()
        if next <= index:
            index = next
            driver.can_enter_jit(index=index, code=code, frame=frame, machine=machine)
        else:
            index = next


def load(text):
    return Machine(front.parse(text))


def main(argv):
    return common.run(argv, load)


def target(driver, args):
    return main, None


if __name__ == '__main__':
    import sys
    sys.exit(main(sys.argv))
