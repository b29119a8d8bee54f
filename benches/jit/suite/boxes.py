"""A stack machine with boxed values, in the style of PyPy: bytecode in a string, a virtualizable frame with
locals and a stack of fixed length, one frame and one call of the interpreter per call of the language,
a table of exception handlers per function.
"""
import math
from rpython.rlib.jit import JitDriver, promote, hint, elidable, unroll_safe
from rpython.rlib.rarithmetic import ovfcheck, intmask
import common
import front
from common import Failure

NAMES = [
    'CONST', 'LOCAL', 'SET_LOCAL', 'CELL', 'SET_CELL', 'GLOBAL', 'SET_GLOBAL', 'POP', 'DUP',
    'JUMP', 'JUMP_BACK', 'IF_FALSE', 'AND', 'OR', 'NOT', 'CALL', 'RETURN', 'THROW', 'FN',
    'NEW', 'SEND', 'FIELD', 'SET_FIELD', 'LIST', 'ITERATE', 'NEXT',
    'ADD', 'SUB', 'MUL', 'DIV', 'MOD', 'LT', 'LE', 'GT', 'GE', 'EQ', 'NE', 'BITAND', 'BITOR', 'BITXOR',
    'SHL', 'SHR', 'NEWLIST', 'AT', 'PUT', 'PUSH', 'POPITEM', 'LEN', 'DICT', 'GET', 'DPUT', 'HAS',
    'STR', 'CHAR', 'ORD', 'CHR', 'SLICE', 'FLOAT', 'INT', 'SQRT',
]
for _i in range(len(NAMES)):
    globals()[NAMES[_i]] = _i
OPERATIONS = {
    '+': ADD, '-': SUB, '*': MUL, '/': DIV, '%': MOD, '<': LT, '<=': LE, '>': GT, '>=': GE, '==': EQ,
    '!=': NE, '&': BITAND, '|': BITOR, '^': BITXOR, '<<': SHL, '>>': SHR, 'newlist': NEWLIST, 'at': AT,
    'put': PUT, 'push': PUSH, 'pop': POPITEM, 'len': LEN, 'dict': DICT, 'get': GET, 'dput': DPUT,
    'has': HAS, 'str': STR, 'char': CHAR, 'ord': ORD, 'chr': CHR, 'slice': SLICE, 'float': FLOAT,
    'int': INT, 'sqrt': SQRT,
}


class Throw(Exception):
    """An exception of the language."""
    def __init__(self, w_value):
        self.w_value = w_value


def error(message):
    return Throw(W_Str(message))


# ---- values ----

class W_Root(object):
    def is_true(self):
        return True

    def text(self):
        return '<object>'

    def add(self, w_other):
        raise error('+')

    def sub(self, w_other):
        raise error('-')

    def mul(self, w_other):
        raise error('*')

    def div(self, w_other):
        raise error('/')

    def less(self, w_other):
        raise error('<')

    def same(self, w_other):
        return self is w_other

    def length(self):
        raise error('len')

    def at(self, w_index):
        raise error('at')

    def as_float(self):
        raise error('float')


class W_Nil(W_Root):
    def is_true(self):
        return False

    def text(self):
        return 'nil'


class W_Bool(W_Root):
    _immutable_fields_ = ['value']

    def __init__(self, value):
        self.value = value

    def is_true(self):
        return self.value

    def text(self):
        if self.value:
            return 'true'
        return 'false'


class W_Int(W_Root):
    _immutable_fields_ = ['value']

    def __init__(self, value):
        self.value = value

    def is_true(self):
        return self.value != 0

    def text(self):
        return str(self.value)

    def as_float(self):
        return float(self.value)

    def add(self, w_other):
        if isinstance(w_other, W_Int):
            try:
                return W_Int(ovfcheck(self.value + w_other.value))
            except OverflowError:
                raise error('overflow')
        return W_Float(float(self.value) + w_other.as_float())

    def sub(self, w_other):
        if isinstance(w_other, W_Int):
            try:
                return W_Int(ovfcheck(self.value - w_other.value))
            except OverflowError:
                raise error('overflow')
        return W_Float(float(self.value) - w_other.as_float())

    def mul(self, w_other):
        if isinstance(w_other, W_Int):
            try:
                return W_Int(ovfcheck(self.value * w_other.value))
            except OverflowError:
                raise error('overflow')
        return W_Float(float(self.value) * w_other.as_float())

    def div(self, w_other):
        if isinstance(w_other, W_Int):
            if w_other.value == 0:
                raise error('division by zero')
            return W_Int(self.value // w_other.value)
        return W_Float(float(self.value)).div(w_other)

    def less(self, w_other):
        if isinstance(w_other, W_Int):
            return self.value < w_other.value
        return float(self.value) < w_other.as_float()

    def same(self, w_other):
        if isinstance(w_other, W_Int):
            return self.value == w_other.value
        return isinstance(w_other, W_Float) and float(self.value) == w_other.value


class W_Float(W_Root):
    _immutable_fields_ = ['value']

    def __init__(self, value):
        self.value = value

    def is_true(self):
        return self.value != 0.0

    def text(self):
        return str(self.value)

    def as_float(self):
        return self.value

    def add(self, w_other):
        return W_Float(self.value + w_other.as_float())

    def sub(self, w_other):
        return W_Float(self.value - w_other.as_float())

    def mul(self, w_other):
        return W_Float(self.value * w_other.as_float())

    def div(self, w_other):
        divisor = w_other.as_float()
        if divisor == 0.0:
            raise error('division by zero')
        return W_Float(self.value / divisor)

    def less(self, w_other):
        return self.value < w_other.as_float()

    def same(self, w_other):
        if isinstance(w_other, W_Int) or isinstance(w_other, W_Float):
            return self.value == w_other.as_float()
        return False


class W_Str(W_Root):
    _immutable_fields_ = ['value']

    def __init__(self, value):
        self.value = value

    def is_true(self):
        return len(self.value) != 0

    def text(self):
        return self.value

    def add(self, w_other):
        if isinstance(w_other, W_Str):
            return W_Str(self.value + w_other.value)
        raise error('+')

    def less(self, w_other):
        if isinstance(w_other, W_Str):
            return self.value < w_other.value
        raise error('<')

    def same(self, w_other):
        return isinstance(w_other, W_Str) and self.value == w_other.value

    def length(self):
        return len(self.value)

    def at(self, w_index):
        index = int_of(w_index)
        if index < 0 or index >= len(self.value):
            raise error('index')
        return W_Str(self.value[index])


class W_List(W_Root):
    def __init__(self, items):
        self.items = items

    def is_true(self):
        return len(self.items) != 0

    def length(self):
        return len(self.items)

    def at(self, w_index):
        index = int_of(w_index)
        if index < 0 or index >= len(self.items):
            raise error('index')
        return self.items[index]

    def put(self, w_index, w_value):
        index = int_of(w_index)
        if index < 0 or index >= len(self.items):
            raise error('index')
        self.items[index] = w_value


class W_Dict(W_Root):
    def __init__(self):
        self.ints = {}
        self.strings = {}

    def length(self):
        return len(self.ints) + len(self.strings)

    def get(self, w_key, w_default):
        if isinstance(w_key, W_Int):
            return self.ints.get(w_key.value, w_default)
        return self.strings.get(str_of(w_key), w_default)

    def put(self, w_key, w_value):
        if isinstance(w_key, W_Int):
            self.ints[w_key.value] = w_value
        else:
            self.strings[str_of(w_key)] = w_value


class W_Cell(W_Root):
    """A variable that several functions share."""
    def __init__(self):
        self.w_value = NIL


class W_Iterator(W_Root):
    def __init__(self, w_sequence):
        self.w_sequence = w_sequence
        self.index = 0


class W_Function(W_Root):
    _immutable_fields_ = ['code', 'cells[*]']

    def __init__(self, code, cells):
        self.code = code
        self.cells = cells


class Class(object):
    _immutable_fields_ = ['name', 'size']

    def __init__(self, name):
        self.name = name
        self.fields = {}
        self.methods = {}
        self.size = 0

    @elidable
    def field(self, name):
        return self.fields.get(name, -1)

    @elidable
    def method(self, name):
        return self.methods.get(name, None)


class W_Class(W_Root):
    """What NEW finds among the constants."""
    _immutable_fields_ = ['cls']

    def __init__(self, cls):
        self.cls = cls


class W_Object(W_Root):
    _immutable_fields_ = ['cls', 'slots']

    def __init__(self, cls):
        self.cls = cls
        self.slots = [NIL] * cls.size

    def text(self):
        return '<' + self.cls.name + '>'

    def slot(self, name):
        index = promote(self.cls).field(name)
        if index < 0:
            raise error('no field ' + name)
        return index


NIL = W_Nil()
TRUE = W_Bool(True)
FALSE = W_Bool(False)


def boolean(value):
    if value:
        return TRUE
    return FALSE


def int_of(w_value):
    if isinstance(w_value, W_Int):
        return w_value.value
    raise error('an integer was expected')


def str_of(w_value):
    if isinstance(w_value, W_Str):
        return w_value.value
    raise error('a string was expected')


def list_of(w_value):
    if isinstance(w_value, W_List):
        return w_value
    raise error('a list was expected')


def dict_of(w_value):
    if isinstance(w_value, W_Dict):
        return w_value
    raise error('a dict was expected')


# ---- code ----

class Code(object):
    _immutable_fields_ = ['name', 'code', 'constants[*]', 'names[*]', 'arguments', 'size', 'depth',
                          'sources[*]', 'celled[*]', 'handlers[*]']

    def __init__(self, name):
        self.name = name
        self.code = ''
        self.constants = []
        self.names = []
        self.arguments = 0
        self.size = 0
        self.depth = 0
        self.sources = []       # of the cells of a closure: locals, or -1 - cells
        self.celled = []        # the locals that live in cells
        self.handlers = []      # start, end, target, depth; inner ones first

    @elidable
    def handler(self, pc):
        """The index in `handlers` of the one that is in charge at pc, or -1."""
        handlers = self.handlers
        i = 0
        while i < len(handlers):
            if handlers[i] <= pc and pc < handlers[i + 1]:
                return i
            i += 4
        return -1


class Compiler(object):
    def __init__(self, machine, function):
        self.machine = machine
        self.function = function
        self.code = machine.codes[function.index]
        self.out = []
        self.constants = []
        self.names = []
        self.handlers = []
        self.depth = 0
        self.deepest = 0

    def emit(self, op, arg, effect):
        self.out.append(chr(op))
        self.out.append(chr(arg & 255))
        self.out.append(chr(arg >> 8))
        self.depth += effect
        if self.depth > self.deepest:
            self.deepest = self.depth
        return len(self.out) - 2

    def patch(self, at):
        self.out[at] = chr(len(self.out) & 255)
        self.out[at + 1] = chr(len(self.out) >> 8)

    def constant(self, w_value):
        self.constants.append(w_value)
        return len(self.constants) - 1

    def name(self, name):
        for i in range(len(self.names)):
            if self.names[i] == name:
                return i
        self.names.append(name)
        return len(self.names) - 1

    def compile(self):
        function = self.function
        code = self.code
        self.node(function.body)
        self.emit(RETURN, 0, -1)
        code.code = ''.join(self.out)
        code.constants = self.constants[:]
        code.names = self.names[:]
        code.arguments = function.arguments
        code.size = len(function.variables)
        code.depth = self.deepest + 1
        code.celled = [variable.index for variable in function.variables if variable.captured]
        code.handlers = self.handlers[:]
        if function.outer is not None:
            code.sources = function.cell_sources()

    def kids(self, node):
        for kid in node.kids:
            self.node(kid)

    def node(self, node):
        """Emits code that leaves the value of the node on the stack."""
        kind = node.kind
        if kind == 'int':
            self.emit(CONST, self.constant(W_Int(node.number)), 1)
        elif kind == 'float':
            self.emit(CONST, self.constant(W_Float(node.real)), 1)
        elif kind == 'str':
            self.emit(CONST, self.constant(W_Str(node.name)), 1)
        elif kind == 'nil':
            self.emit(CONST, self.constant(NIL), 1)
        elif kind == 'true':
            self.emit(CONST, self.constant(TRUE), 1)
        elif kind == 'false':
            self.emit(CONST, self.constant(FALSE), 1)
        elif kind == 'function':
            self.emit(CONST, self.constant(self.machine.functions[node.index]), 1)
        elif kind == 'local':
            self.emit(LOCAL, node.variable.index, 1)
            if node.variable.captured:
                self.out[len(self.out) - 3] = chr(CELL)
        elif kind == 'free':
            self.emit(CELL, len(self.function.variables) + node.index, 1)
        elif kind == 'global':
            self.emit(GLOBAL, self.name(node.name), 1)
        elif kind == 'setlocal':
            self.kids(node)
            self.emit(DUP, 0, 1)
            self.store(node.variable)
        elif kind == 'setfree':
            self.kids(node)
            self.emit(DUP, 0, 1)
            self.emit(SET_CELL, len(self.function.variables) + node.index, -1)
        elif kind == 'setglobal':
            self.kids(node)
            self.emit(DUP, 0, 1)
            self.emit(SET_GLOBAL, self.name(node.name), -1)
        elif kind == 'op':
            self.kids(node)
            self.emit(OPERATIONS[node.name], 0, 1 - len(node.kids))
        elif kind == 'do':
            self.sequence(node)
        elif kind == 'if':
            self.node(node.kids[0])
            otherwise = self.emit(IF_FALSE, 0, -1)
            self.node(node.kids[1])
            end = self.emit(JUMP, 0, -1)
            self.patch(otherwise)
            self.node(node.kids[2])
            self.patch(end)
        elif kind == 'and' or kind == 'or':
            op = AND
            if kind == 'or':
                op = OR
            self.node(node.kids[0])
            end = self.emit(op, 0, -1)
            self.node(node.kids[1])
            self.patch(end)
        elif kind == 'not':
            self.kids(node)
            self.emit(NOT, 0, 0)
        elif kind == 'while':
            start = len(self.out)
            self.node(node.kids[0])
            end = self.emit(IF_FALSE, 0, -1)
            self.node(node.kids[1])
            self.emit(POP, 0, -1)
            self.emit(JUMP_BACK, start, 0)
            self.patch(end)
            self.emit(CONST, self.constant(NIL), 1)
        elif kind == 'for':
            self.node(node.kids[0])
            self.emit(ITERATE, 0, 0)
            start = len(self.out)
            end = self.emit(NEXT, 0, 1)
            self.store(node.variable)
            self.node(node.kids[1])
            self.emit(POP, 0, -1)
            self.emit(JUMP_BACK, start, -1)
            self.patch(end)
            self.emit(CONST, self.constant(NIL), 1)
        elif kind == 'try':
            depth = self.depth
            start = len(self.out)
            self.node(node.kids[0])
            finish = len(self.out)
            end = self.emit(JUMP, 0, 0)
            for number in [start, finish, len(self.out), depth]:
                self.handlers.append(number)
            self.store(node.variable)
            self.node(node.kids[1])
            self.patch(end)
        elif kind == 'throw':
            self.kids(node)
            self.emit(THROW, 0, 0)
        elif kind == 'return':
            self.kids(node)
            self.emit(RETURN, 0, 0)
        elif kind == 'fn':
            w_code = W_Function(self.machine.codes[node.index], [])
            self.emit(FN, self.constant(w_code), 1)
        elif kind == 'call':
            self.kids(node)
            self.emit(CALL, len(node.kids) - 1, 1 - len(node.kids))
        elif kind == 'new':
            self.emit(NEW, self.constant(W_Class(self.machine.classes[node.index])), 1)
            if 'init' in self.machine.classes[node.index].methods:
                self.emit(DUP, 0, 1)
                self.kids(node)
                self.emit(SEND, self.name('init') | (len(node.kids) << 8), -len(node.kids))
                self.emit(POP, 0, -1)
        elif kind == 'send':
            self.kids(node)
            arguments = len(node.kids) - 1
            self.emit(SEND, self.name(node.name) | (arguments << 8), -arguments)
        elif kind == 'field':
            self.kids(node)
            self.emit(FIELD, self.name(node.name), 0)
        elif kind == 'setfield':
            self.kids(node)
            self.emit(SET_FIELD, self.name(node.name), -1)
        elif kind == 'list':
            self.kids(node)
            self.emit(LIST, len(node.kids), 1 - len(node.kids))
        else:
            raise Failure('not in this language: ' + kind)

    def sequence(self, node):
        count = len(node.kids)
        if count == 0:
            self.emit(CONST, self.constant(NIL), 1)
        for i in range(count):
            self.node(node.kids[i])
            if i < count - 1:
                self.emit(POP, 0, -1)

    def store(self, variable):
        if variable.captured:
            self.emit(SET_CELL, variable.index, -1)
        else:
            self.emit(SET_LOCAL, variable.index, -1)


# ---- the machine ----

class Frame(object):
    _virtualizable_ = ['code', 'depth', 'locals[*]', 'stack[*]']

    def __init__(self, code):
        self = hint(self, access_directly=True, fresh_virtualizable=True)
        self.code = code
        self.locals = [NIL] * (code.size + len(code.sources))
        self.stack = [None] * code.depth
        self.depth = 0

    def local(self, index):
        assert index >= 0
        return self.locals[index]

    def set_local(self, index, w_value):
        assert index >= 0
        self.locals[index] = w_value

    def push(self, w_value):
        depth = self.depth
        assert depth >= 0
        self.stack[depth] = w_value
        self.depth = depth + 1

    def pop(self):
        depth = self.depth - 1
        assert depth >= 0
        w_value = self.stack[depth]
        self.stack[depth] = None
        self.depth = depth
        return w_value

    def top(self):
        depth = self.depth - 1
        assert depth >= 0
        return self.stack[depth]

    def below(self, count):
        """The value under `count` others."""
        depth = self.depth - 1 - count
        assert depth >= 0
        return self.stack[depth]

    @unroll_safe
    def enter(self, w_function):
        """Makes the cells of a call; the arguments are in the locals."""
        code = promote(w_function.code)
        i = 0
        while i < len(code.celled):
            w_cell = W_Cell()
            index = code.celled[i]
            assert index >= 0
            w_cell.w_value = self.locals[index]
            self.locals[index] = w_cell
            i += 1
        i = 0
        while i < len(code.sources):
            index = code.size + i
            assert index >= 0
            self.locals[index] = w_function.cells[i]
            i += 1

    @unroll_safe
    def capture(self, code):
        cells = [None] * len(code.sources)
        i = 0
        while i < len(code.sources):
            source = code.sources[i]
            if source < 0:
                source = self.code.size + (-1 - source)
            assert source >= 0
            w_cell = self.locals[source]
            assert isinstance(w_cell, W_Cell)
            cells[i] = w_cell
            i += 1
        return W_Function(code, cells)

    @unroll_safe
    def pop_items(self, count):
        items = [None] * count
        while count > 0:
            count -= 1
            items[count] = self.pop()
        return items

    @unroll_safe
    def drop(self, depth):
        while self.depth > depth:
            self.pop()


def location(pc, code):
    return '%s %d %s' % (code.name, pc, NAMES[ord(code.code[pc])])


driver = JitDriver(greens=['pc', 'code'], reds=['frame', 'machine'], virtualizables=['frame'],
                   is_recursive=True, get_printable_location=location)


class GlobalCell(object):
    def __init__(self):
        self.w_value = NIL


class Machine(common.Engine):
    _immutable_fields_ = ['main']

    def __init__(self, program):
        self.globals = {}
        for name in program.global_names:
            self.globals[name] = GlobalCell()
        self.codes = [Code(function.name) for function in program.functions]
        self.functions = [W_Function(code, []) for code in self.codes]
        self.classes = []
        for description in program.classes:
            cls = Class(description.name)
            for field in description.fields:
                cls.fields[field] = cls.size
                cls.size += 1
            for name in description.method_names:
                cls.methods[name] = self.functions[description.methods[name].index]
            self.classes.append(cls)
        for function in program.functions:
            Compiler(self, function).compile()
        self.main = self.functions[program.main()]
        self.start(self.functions[program.initial.index], [])

    @elidable
    def global_cell(self, name):
        return self.globals[name]

    def start(self, w_function, arguments):
        frame = Frame(w_function.code)
        for i in range(len(arguments)):
            frame.locals[i] = arguments[i]
        frame.enter(w_function)
        try:
            return self.interpret(frame, w_function.code)
        except Throw as e:
            raise Failure('uncaught: ' + e.w_value.text())

    def unit(self, n):
        return self.start(self.main, [W_Int(n)]).text()

    @unroll_safe
    def call(self, caller, w_function, count, w_self):
        """Calls with `count` arguments, which are popped, and `w_self` in front if there is one."""
        code = promote(w_function.code)
        frame = Frame(code)
        shift = 0
        if w_self is not None:
            shift = 1
        if code.arguments != count + shift:
            raise error('wrong number of arguments of ' + code.name)
        i = count + shift
        while i > shift:
            i -= 1
            assert i >= 0
            frame.locals[i] = caller.pop()
        if w_self is not None:
            frame.locals[0] = w_self
        frame.enter(w_function)
        return self.interpret(frame, code)

    def call_value(self, frame, count):
        w_function = frame.below(count)
        if not isinstance(w_function, W_Function):
            raise error('not a function')
        w_result = self.call(frame, w_function, count, None)
        frame.pop()
        return w_result

    def send(self, frame, name, count):
        w_self = frame.below(count)
        if not isinstance(w_self, W_Object):
            raise error('no methods')
        w_function = promote(w_self.cls).method(name)
        if w_function is None:
            raise error('no method ' + name)
        w_result = self.call(frame, w_function, count, w_self)
        frame.pop()
        return w_result

    def interpret(self, frame, code):
        machine = self
        pc = 0
        while True:
            driver.jit_merge_point(pc=pc, code=code, frame=frame, machine=machine)
            op = ord(code.code[pc])
            arg = ord(code.code[pc + 1]) + 256 * ord(code.code[pc + 2])
            next = pc + 3
            try:
                if op == CONST:
                    frame.push(code.constants[arg])
                elif op == LOCAL:
                    frame.push(frame.local(arg))
                elif op == SET_LOCAL:
                    frame.set_local(arg, frame.pop())
                elif op == CELL:
                    w_cell = frame.local(arg)
                    assert isinstance(w_cell, W_Cell)
                    frame.push(w_cell.w_value)
                elif op == SET_CELL:
                    w_cell = frame.local(arg)
                    assert isinstance(w_cell, W_Cell)
                    w_cell.w_value = frame.pop()
                elif op == GLOBAL:
                    frame.push(machine.global_cell(code.names[arg]).w_value)
                elif op == SET_GLOBAL:
                    machine.global_cell(code.names[arg]).w_value = frame.pop()
                elif op == POP:
                    frame.pop()
                elif op == DUP:
                    frame.push(frame.top())
                elif op == JUMP:
                    next = arg
                elif op == JUMP_BACK:
                    pc = arg
                    driver.can_enter_jit(pc=pc, code=code, frame=frame, machine=machine)
                    continue
                elif op == IF_FALSE:
                    if not frame.pop().is_true():
                        next = arg
                elif op == AND:
                    if frame.top().is_true():
                        frame.pop()
                    else:
                        next = arg
                elif op == OR:
                    if frame.top().is_true():
                        next = arg
                    else:
                        frame.pop()
                elif op == NOT:
                    frame.push(boolean(not frame.pop().is_true()))
                elif op == CALL:
                    frame.push(machine.call_value(frame, arg))
                elif op == RETURN:
                    return frame.pop()
                elif op == THROW:
                    raise Throw(frame.pop())
                elif op == FN:
                    w_function = code.constants[arg]
                    assert isinstance(w_function, W_Function)
                    frame.push(frame.capture(w_function.code))
                elif op == NEW:
                    w_class = code.constants[arg]
                    assert isinstance(w_class, W_Class)
                    frame.push(W_Object(w_class.cls))
                elif op == SEND:
                    frame.push(machine.send(frame, code.names[arg & 255], arg >> 8))
                elif op == FIELD:
                    w_object = frame.pop()
                    if not isinstance(w_object, W_Object):
                        raise error('no fields')
                    frame.push(w_object.slots[w_object.slot(code.names[arg])])
                elif op == SET_FIELD:
                    w_value = frame.pop()
                    w_object = frame.pop()
                    if not isinstance(w_object, W_Object):
                        raise error('no fields')
                    w_object.slots[w_object.slot(code.names[arg])] = w_value
                    frame.push(w_value)
                elif op == LIST:
                    frame.push(W_List(frame.pop_items(arg)))
                elif op == ITERATE:
                    frame.push(W_Iterator(frame.pop()))
                elif op == NEXT:
                    w_iterator = frame.top()
                    assert isinstance(w_iterator, W_Iterator)
                    index = w_iterator.index
                    if index < w_iterator.w_sequence.length():
                        frame.push(w_iterator.w_sequence.at(W_Int(index)))
                        w_iterator.index = index + 1
                    else:
                        frame.pop()
                        next = arg
                else:
                    operation(frame, op)
            except Throw as e:
                index = code.handler(pc)
                if index < 0:
                    raise
                frame.drop(code.handlers[index + 3])
                frame.push(e.w_value)
                next = code.handlers[index + 2]
            pc = next


def operation(frame, op):
    """The operators that work on the stack alone."""
    if op <= SHR:
        w_right = frame.pop()
        w_left = frame.pop()
        frame.push(binary(op, w_left, w_right))
    elif op == NEWLIST:
        w_item = frame.pop()
        frame.push(W_List([w_item] * int_of(frame.pop())))
    elif op == AT:
        w_index = frame.pop()
        frame.push(frame.pop().at(w_index))
    elif op == PUT:
        w_value = frame.pop()
        w_index = frame.pop()
        list_of(frame.pop()).put(w_index, w_value)
        frame.push(w_value)
    elif op == PUSH:
        w_value = frame.pop()
        list_of(frame.pop()).items.append(w_value)
        frame.push(w_value)
    elif op == POPITEM:
        items = list_of(frame.pop()).items
        if len(items) == 0:
            raise error('pop of an empty list')
        frame.push(items.pop())
    elif op == LEN:
        frame.push(W_Int(frame.pop().length()))
    elif op == DICT:
        frame.push(W_Dict())
    elif op == GET:
        w_default = frame.pop()
        w_key = frame.pop()
        frame.push(dict_of(frame.pop()).get(w_key, w_default))
    elif op == DPUT:
        w_value = frame.pop()
        w_key = frame.pop()
        dict_of(frame.pop()).put(w_key, w_value)
        frame.push(w_value)
    elif op == HAS:
        w_key = frame.pop()
        frame.push(boolean(dict_of(frame.pop()).get(w_key, None) is not None))
    elif op == STR:
        frame.push(W_Str(frame.pop().text()))
    elif op == CHAR:
        w_index = frame.pop()
        frame.push(frame.pop().at(w_index))
    elif op == ORD:
        value = str_of(frame.pop())
        if len(value) != 1:
            raise error('ord')
        frame.push(W_Int(ord(value[0])))
    elif op == CHR:
        frame.push(W_Str(chr(int_of(frame.pop()) & 255)))
    elif op == SLICE:
        end = int_of(frame.pop())
        start = int_of(frame.pop())
        value = str_of(frame.pop())
        if start < 0 or end < start or end > len(value):
            raise error('slice')
        frame.push(W_Str(value[start:end]))
    elif op == FLOAT:
        frame.push(W_Float(frame.pop().as_float()))
    elif op == INT:
        frame.push(W_Int(int(frame.pop().as_float())))
    elif op == SQRT:
        frame.push(W_Float(math.sqrt(frame.pop().as_float())))


def binary(op, w_left, w_right):
    if op == ADD:
        return w_left.add(w_right)
    elif op == SUB:
        return w_left.sub(w_right)
    elif op == MUL:
        return w_left.mul(w_right)
    elif op == DIV:
        return w_left.div(w_right)
    elif op == MOD:
        right = int_of(w_right)
        if right == 0:
            raise error('division by zero')
        return W_Int(int_of(w_left) % right)
    elif op == LT:
        return boolean(w_left.less(w_right))
    elif op == LE:
        return boolean(not w_right.less(w_left))
    elif op == GT:
        return boolean(w_right.less(w_left))
    elif op == GE:
        return boolean(not w_left.less(w_right))
    elif op == EQ:
        return boolean(w_left.same(w_right))
    elif op == NE:
        return boolean(not w_left.same(w_right))
    elif op == BITAND:
        return W_Int(int_of(w_left) & int_of(w_right))
    elif op == BITOR:
        return W_Int(int_of(w_left) | int_of(w_right))
    elif op == BITXOR:
        return W_Int(int_of(w_left) ^ int_of(w_right))
    elif op == SHL:
        return W_Int(intmask(int_of(w_left) << (int_of(w_right) & 63)))
    return W_Int(int_of(w_left) >> (int_of(w_right) & 63))


def load(text):
    return Machine(front.parse(text))


def main(argv):
    return common.run(argv, load)


def target(driver, args):
    return main, None


if __name__ == '__main__':
    import sys
    sys.exit(main(sys.argv))
