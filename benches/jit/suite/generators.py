"""A stack machine with generators, in the style of CPython and PyPy: locals and operands are in one virtualizable list of fixed
length, `try` pushes blocks onto a linked list of the frame, and a generator is a frame that is entered again. Operators are looked up
in a table of functions while code is compiled.
"""
import math
from rpython.rlib.jit import JitDriver, promote, hint, elidable, unroll_safe
import common
import front
from common import Failure

CODES = ['CONST', 'LOAD', 'STORE', 'LOAD_CELL', 'STORE_CELL', 'LOAD_FREE', 'STORE_FREE', 'LOAD_GLOBAL', 'STORE_GLOBAL',
         'POP', 'DUP', 'JUMP', 'LOOP', 'UNLESS', 'UNLESS_KEEP', 'IF_KEEP', 'NOT', 'CALL', 'METHOD', 'RETURN', 'THROW',
         'SETUP', 'POP_BLOCK', 'CLOSURE', 'NEW', 'GET', 'SET', 'LIST', 'ITER', 'FOR', 'YIELD', 'ONE', 'TWO', 'THREE']
for _i in range(len(CODES)):
    globals()[CODES[_i]] = _i


class Raised(Exception):
    def __init__(self, w_value):
        self.w_value = w_value


def error(text):
    return Raised(W_Str(text))


# ---- values ----

class W_Object(object):
    def show(self):
        return '<object>'

    def truth(self):
        return True

    def number(self):
        raise error('an integer was expected')

    def real(self):
        raise error('float')

    def string(self):
        raise error('a string was expected')

    def list(self):
        raise error('a list was expected')


class W_None(W_Object):
    def show(self):
        return 'nil'

    def truth(self):
        return False


class W_Bool(W_Object):
    _immutable_fields_ = ['flag']

    def __init__(self, flag):
        self.flag = flag

    def show(self):
        if self.flag:
            return 'true'
        return 'false'

    def truth(self):
        return self.flag


class W_Int(W_Object):
    _immutable_fields_ = ['intval']

    def __init__(self, intval):
        self.intval = intval

    def show(self):
        return str(self.intval)

    def truth(self):
        return self.intval != 0

    def number(self):
        return self.intval

    def real(self):
        return float(self.intval)


class W_Float(W_Object):
    _immutable_fields_ = ['floatval']

    def __init__(self, floatval):
        self.floatval = floatval

    def show(self):
        return str(self.floatval)

    def real(self):
        return self.floatval


class W_Str(W_Object):
    _immutable_fields_ = ['strval']

    def __init__(self, strval):
        self.strval = strval

    def show(self):
        return self.strval

    def truth(self):
        return len(self.strval) > 0

    def string(self):
        return self.strval


class W_List(W_Object):
    def __init__(self, items):
        self.items = items

    def list(self):
        return self.items


class W_Dict(W_Object):
    def __init__(self):
        self.by_number = {}
        self.by_string = {}


class W_Cell(W_Object):
    def __init__(self, w_value):
        self.w_value = w_value


class W_Iterator(W_Object):
    def next(self, machine):
        """The next value, or None at the end."""
        raise NotImplementedError


class W_ListIterator(W_Iterator):
    def __init__(self, items):
        self.items = items
        self.index = 0

    def next(self, machine):
        index = self.index
        if index >= len(self.items):
            return None
        self.index = index + 1
        return self.items[index]


class W_Generator(W_Iterator):
    def __init__(self, frame):
        self.frame = frame
        self.running = False

    def next(self, machine):
        frame = self.frame
        if frame is None:
            return None
        if self.running:
            raise error('the generator is running')
        self.running = True
        try:
            w_result = machine.resume(frame)
        except Raised:
            self.frame = None
            raise
        self.running = False
        if frame.finished:
            self.frame = None
            return None
        return w_result


class W_Function(W_Object):
    _immutable_fields_ = ['code', 'cells[*]']

    def __init__(self, code, cells):
        self.code = code
        self.cells = cells


class Type(object):
    _immutable_fields_ = ['name', 'size']

    def __init__(self, name):
        self.name = name
        self.size = 0
        self.fields = {}
        self.methods = {}

    @elidable
    def field(self, name):
        return self.fields.get(name, -1)

    @elidable
    def method(self, name):
        return self.methods.get(name, None)


class W_Instance(W_Object):
    _immutable_fields_ = ['type', 'values']

    def __init__(self, type):
        self.type = type
        self.values = [NONE] * type.size

    def show(self):
        return '<' + self.type.name + '>'

    def index(self, name):
        index = promote(self.type).field(name)
        if index < 0:
            raise error('no field ' + name)
        return index


NONE = W_None()
TRUE = W_Bool(True)
FALSE = W_Bool(False)


def boolean(flag):
    if flag:
        return TRUE
    return FALSE


# ---- operators ----

def checked(w_index, length):
    index = w_index.number()
    if index < 0 or index >= length:
        raise error('index')
    return index


def both_ints(w_left, w_right):
    return isinstance(w_left, W_Int) and isinstance(w_right, W_Int)


def op_add(w_left, w_right):
    if both_ints(w_left, w_right):
        return W_Int(w_left.number() + w_right.number())
    if isinstance(w_left, W_Str):
        return W_Str(w_left.strval + w_right.string())
    return W_Float(w_left.real() + w_right.real())


def op_sub(w_left, w_right):
    if both_ints(w_left, w_right):
        return W_Int(w_left.number() - w_right.number())
    return W_Float(w_left.real() - w_right.real())


def op_mul(w_left, w_right):
    if both_ints(w_left, w_right):
        return W_Int(w_left.number() * w_right.number())
    return W_Float(w_left.real() * w_right.real())


def op_div(w_left, w_right):
    if both_ints(w_left, w_right):
        if w_right.number() == 0:
            raise error('division by zero')
        return W_Int(w_left.number() // w_right.number())
    if w_right.real() == 0.0:
        raise error('division by zero')
    return W_Float(w_left.real() / w_right.real())


def op_mod(w_left, w_right):
    if w_right.number() == 0:
        raise error('division by zero')
    return W_Int(w_left.number() % w_right.number())


def less(w_left, w_right):
    if both_ints(w_left, w_right):
        return w_left.number() < w_right.number()
    if isinstance(w_left, W_Str):
        return w_left.strval < w_right.string()
    return w_left.real() < w_right.real()


def equal(w_left, w_right):
    if both_ints(w_left, w_right):
        return w_left.number() == w_right.number()
    if isinstance(w_left, W_Str) and isinstance(w_right, W_Str):
        return w_left.strval == w_right.strval
    return w_left is w_right


def op_at(w_left, w_right):
    if isinstance(w_left, W_Str):
        return W_Str(w_left.strval[checked(w_right, len(w_left.strval))])
    items = w_left.list()
    return items[checked(w_right, len(items))]


def op_push(w_left, w_right):
    w_left.list().append(w_right)
    return w_right


def dict_get(w_dict, w_key, w_default):
    if not isinstance(w_dict, W_Dict):
        raise error('a dict was expected')
    if isinstance(w_key, W_Int):
        return w_dict.by_number.get(w_key.intval, w_default)
    return w_dict.by_string.get(w_key.string(), w_default)


def op_len(w_value):
    if isinstance(w_value, W_Str):
        return W_Int(len(w_value.strval))
    if isinstance(w_value, W_Dict):
        return W_Int(len(w_value.by_number) + len(w_value.by_string))
    return W_Int(len(w_value.list()))


def op_pop(w_value):
    items = w_value.list()
    if len(items) == 0:
        raise error('pop of an empty list')
    return items.pop()


def op_put(w_list, w_index, w_value):
    items = w_list.list()
    items[checked(w_index, len(items))] = w_value
    return w_value


def op_dput(w_dict, w_key, w_value):
    if not isinstance(w_dict, W_Dict):
        raise error('a dict was expected')
    if isinstance(w_key, W_Int):
        w_dict.by_number[w_key.intval] = w_value
    else:
        w_dict.by_string[w_key.string()] = w_value
    return w_value


def op_slice(w_text, w_start, w_end):
    text = w_text.string()
    start = w_start.number()
    end = w_end.number()
    if start < 0 or end < start or end > len(text):
        raise error('slice')
    return W_Str(text[start:end])


class Binary(object):
    """A function of two values, known when the instruction is."""
    _immutable_fields_ = ['name', 'function']

    def __init__(self, name, function):
        self.name = name
        self.function = function


BINARY = [
    Binary('+', op_add), Binary('-', op_sub), Binary('*', op_mul), Binary('/', op_div), Binary('%', op_mod),
    Binary('<', lambda w_left, w_right: boolean(less(w_left, w_right))),
    Binary('>', lambda w_left, w_right: boolean(less(w_right, w_left))),
    Binary('<=', lambda w_left, w_right: boolean(not less(w_right, w_left))),
    Binary('>=', lambda w_left, w_right: boolean(not less(w_left, w_right))),
    Binary('==', lambda w_left, w_right: boolean(equal(w_left, w_right))),
    Binary('!=', lambda w_left, w_right: boolean(not equal(w_left, w_right))),
    Binary('&', lambda w_left, w_right: W_Int(w_left.number() & w_right.number())),
    Binary('|', lambda w_left, w_right: W_Int(w_left.number() | w_right.number())),
    Binary('^', lambda w_left, w_right: W_Int(w_left.number() ^ w_right.number())),
    Binary('<<', lambda w_left, w_right: W_Int(w_left.number() << (w_right.number() & 63))),
    Binary('>>', lambda w_left, w_right: W_Int(w_left.number() >> (w_right.number() & 63))),
    Binary('at', op_at), Binary('char', op_at), Binary('push', op_push),
    Binary('newlist', lambda w_left, w_right: W_List([w_right] * w_left.number())),
    Binary('has', lambda w_left, w_right: boolean(dict_get(w_left, w_right, None) is not None)),
]


def unary(name, w_value):
    if name == 'len':
        return op_len(w_value)
    elif name == 'pop':
        return op_pop(w_value)
    elif name == 'str':
        return W_Str(w_value.show())
    elif name == 'ord':
        return W_Int(ord(w_value.string()[0]))
    elif name == 'chr':
        return W_Str(chr(w_value.number() & 255))
    elif name == 'float':
        return W_Float(w_value.real())
    elif name == 'int':
        return W_Int(int(w_value.real()))
    elif name == 'sqrt':
        return W_Float(math.sqrt(w_value.real()))
    return W_Dict()


def ternary(name, w_first, w_second, w_third):
    if name == 'put':
        return op_put(w_first, w_second, w_third)
    elif name == 'get':
        return dict_get(w_first, w_second, w_third)
    elif name == 'dput':
        return op_dput(w_first, w_second, w_third)
    return op_slice(w_first, w_second, w_third)


# ---- code ----

class Code(object):
    _immutable_fields_ = ['name', 'ops[*]', 'args[*]', 'constants[*]', 'names[*]', 'types[*]', 'arguments', 'locals',
                          'size', 'celled[*]', 'sources[*]', 'generator', 'inner[*]']

    def __init__(self, name):
        self.name = name
        self.ops = []
        self.args = []
        self.constants = []
        self.names = []
        self.types = []
        self.arguments = 0
        self.locals = 0
        self.size = 0
        self.celled = []
        self.sources = []
        self.generator = False
        self.inner = []


class Compiler(object):
    def __init__(self, machine, function):
        self.machine = machine
        self.function = function
        self.ops = []
        self.args = []
        self.constants = []
        self.names = []
        self.depth = 0
        self.deepest = 0

    def emit(self, op, arg, effect):
        self.ops.append(op)
        self.args.append(arg)
        self.depth += effect
        if self.depth > self.deepest:
            self.deepest = self.depth
        return len(self.ops) - 1

    def here(self, at):
        self.args[at] = len(self.ops)

    def constant(self, w_value):
        self.constants.append(w_value)
        self.emit(CONST, len(self.constants) - 1, 1)

    def name(self, name):
        for i in range(len(self.names)):
            if self.names[i] == name:
                return i
        self.names.append(name)
        return len(self.names) - 1

    def compile(self):
        function = self.function
        code = self.machine.codes[function.index]
        self.node(function.body)
        self.emit(RETURN, 0, 0)
        code.ops = self.ops[:]
        code.args = self.args[:]
        code.constants = self.constants[:]
        code.names = self.names[:]
        code.types = self.machine.types
        code.inner = self.machine.codes
        code.arguments = function.arguments
        code.locals = len(function.variables)
        code.size = code.locals + self.deepest + 1
        code.celled = [variable.index for variable in function.variables if variable.captured]
        code.generator = function.yields
        if function.outer is not None:
            code.sources = function.cell_sources()

    def store(self, variable):
        self.emit(STORE_CELL if variable.captured else STORE, variable.index, -1)

    def loop(self, start, end, effect):
        self.emit(POP, 0, -1)
        self.emit(LOOP, start, effect)
        self.here(end)
        self.constant(NONE)

    def node(self, node):
        kind = node.kind
        kids = node.kids
        if kind == 'if':
            self.node(kids[0])
            otherwise = self.emit(UNLESS, 0, -1)
            self.node(kids[1])
            end = self.emit(JUMP, 0, -1)
            self.here(otherwise)
            self.node(kids[2])
            self.here(end)
        elif kind == 'and' or kind == 'or':
            self.node(kids[0])
            end = self.emit(UNLESS_KEEP if kind == 'and' else IF_KEEP, 0, -1)
            self.node(kids[1])
            self.here(end)
        elif kind == 'while':
            start = len(self.ops)
            self.node(kids[0])
            end = self.emit(UNLESS, 0, -1)
            self.node(kids[1])
            self.loop(start, end, 0)
        elif kind == 'for':
            self.node(kids[0])
            self.emit(ITER, 0, 0)
            start = len(self.ops)
            end = self.emit(FOR, 0, 1)
            self.store(node.variable)
            self.node(kids[1])
            self.loop(start, end, -1)
        elif kind == 'try':
            handler = self.emit(SETUP, 0, 0)
            self.node(kids[0])
            self.emit(POP_BLOCK, 0, 0)
            end = self.emit(JUMP, 0, 0)
            self.here(handler)
            self.store(node.variable)
            self.node(kids[1])
            self.here(end)
        elif kind == 'do':
            if len(kids) == 0:
                self.constant(NONE)
            for i in range(len(kids)):
                if i > 0:
                    self.emit(POP, 0, -1)
                self.node(kids[i])
        elif kind == 'new':
            self.emit(NEW, node.index, 1)
            if 'init' in self.machine.types[node.index].methods:
                self.emit(DUP, 0, 1)
                for kid in kids:
                    self.node(kid)
                self.emit(METHOD, self.name('init') * 256 + len(kids), -len(kids))
                self.emit(POP, 0, -1)
        else:
            for kid in kids:
                self.node(kid)
            self.simple(node, kind, len(kids))

    def simple(self, node, kind, count):
        if kind == 'int':
            self.constant(W_Int(node.number))
        elif kind == 'float':
            self.constant(W_Float(node.real))
        elif kind == 'str':
            self.constant(W_Str(node.name))
        elif kind == 'nil':
            self.constant(NONE)
        elif kind == 'true':
            self.constant(TRUE)
        elif kind == 'false':
            self.constant(FALSE)
        elif kind == 'function':
            self.constant(self.machine.functions[node.index])
        elif kind == 'local':
            self.emit(LOAD_CELL if node.variable.captured else LOAD, node.variable.index, 1)
        elif kind == 'free':
            self.emit(LOAD_FREE, node.index, 1)
        elif kind == 'global':
            self.emit(LOAD_GLOBAL, node.index, 1)
        elif kind == 'setlocal':
            self.emit(DUP, 0, 1)
            self.store(node.variable)
        elif kind == 'setfree':
            self.emit(DUP, 0, 1)
            self.emit(STORE_FREE, node.index, -1)
        elif kind == 'setglobal':
            self.emit(DUP, 0, 1)
            self.emit(STORE_GLOBAL, node.index, -1)
        elif kind == 'op' and count == 2:
            for i in range(len(BINARY)):
                if BINARY[i].name == node.name:
                    self.emit(TWO, i, -1)
        elif kind == 'op':
            self.emit(THREE if count == 3 else ONE, self.name(node.name), 1 - count)
        elif kind == 'call':
            self.emit(CALL, count - 1, 1 - count)
        elif kind == 'send':
            self.emit(METHOD, self.name(node.name) * 256 + count - 1, 1 - count)
        elif kind == 'field':
            self.emit(GET, self.name(node.name), 0)
        elif kind == 'setfield':
            self.emit(SET, self.name(node.name), -1)
        elif kind == 'list':
            self.emit(LIST, count, 1 - count)
        elif kind == 'fn':
            self.emit(CLOSURE, node.index, 1)
        elif kind == 'not':
            self.emit(NOT, 0, 0)
        elif kind == 'throw':
            self.emit(THROW, 0, 0)
        elif kind == 'return':
            self.emit(RETURN, 0, 0)
        elif kind == 'yield':
            self.emit(YIELD, 0, 0)
        else:
            raise Failure('not in this language: ' + kind)


# ---- frames ----

class Block(object):
    _immutable_fields_ = ['handler', 'depth', 'outer']

    def __init__(self, handler, depth, outer):
        self.handler = handler
        self.depth = depth
        self.outer = outer


class Frame(object):
    _virtualizable_ = ['code', 'function', 'values[*]', 'depth', 'block', 'pc', 'finished']

    def __init__(self, function):
        self = hint(self, access_directly=True, fresh_virtualizable=True)
        code = promote(function.code)
        self.function = function
        self.code = code
        self.values = [NONE] * code.size
        self.depth = code.locals
        self.block = None
        self.pc = 0
        self.finished = False

    def get(self, index):
        assert index >= 0
        return self.values[index]

    def set(self, index, w_value):
        assert index >= 0
        self.values[index] = w_value

    def push(self, w_value):
        depth = self.depth
        assert depth >= 0
        self.values[depth] = w_value
        self.depth = depth + 1

    def pop(self):
        depth = self.depth - 1
        assert depth >= 0
        w_value = self.values[depth]
        self.values[depth] = NONE
        self.depth = depth
        return w_value

    def peek(self, below):
        depth = self.depth - 1 - below
        assert depth >= 0
        return self.values[depth]

    @unroll_safe
    def unwind(self, depth):
        while self.depth > depth:
            self.pop()

    @unroll_safe
    def pop_list(self, count):
        items = [None] * count
        while count > 0:
            count -= 1
            items[count] = self.pop()
        return items

    def cell(self, index):
        w_cell = self.get(index)
        assert isinstance(w_cell, W_Cell)
        return w_cell

    @unroll_safe
    def make_cells(self):
        celled = promote(self.code).celled
        i = 0
        while i < len(celled):
            self.set(celled[i], W_Cell(self.get(celled[i])))
            i += 1

    @unroll_safe
    def closure(self, code):
        cells = [None] * len(code.sources)
        i = 0
        while i < len(code.sources):
            source = code.sources[i]
            if source >= 0:
                cells[i] = self.cell(source)
            else:
                cells[i] = self.function.cells[-1 - source]
            i += 1
        return W_Function(code, cells)


def location(pc, code):
    return '%s %d %s' % (code.name, pc, CODES[code.ops[pc]])


driver = JitDriver(greens=['pc', 'code'], reds=['frame', 'machine'], virtualizables=['frame'],
                   is_recursive=True, get_printable_location=location)


class Machine(common.Engine):
    _immutable_fields_ = ['globals[*]']

    def __init__(self, program):
        self.globals = [W_Cell(NONE) for _ in program.global_names]
        self.codes = [Code(function.name) for function in program.functions]
        self.functions = [W_Function(code, []) for code in self.codes]
        types = []
        for description in program.classes:
            type = Type(description.name)
            for field in description.fields:
                type.fields[field] = type.size
                type.size += 1
            for name in description.method_names:
                type.methods[name] = self.functions[description.methods[name].index]
            types.append(type)
        self.types = types[:]
        for function in program.functions:
            Compiler(self, function).compile()
        self.main = self.functions[program.main()]
        self.start(self.functions[program.initial.index], NONE)

    def start(self, function, w_argument):
        frame = Frame(function)
        if function.code.arguments > 0:
            frame.set(0, w_argument)
        frame.make_cells()
        try:
            return self.interpret(frame, function.code, 0)
        except Raised as e:
            raise Failure('uncaught: ' + e.w_value.show())

    def unit(self, n):
        return self.start(self.main, W_Int(n)).show()

    def resume(self, frame):
        return self.interpret(frame, promote(frame.code), promote(frame.pc))

    @unroll_safe
    def call(self, caller, function, count):
        """Takes `count` arguments from the caller's stack."""
        code = promote(function.code)
        if code.arguments != count:
            raise error('wrong number of arguments of ' + code.name)
        frame = Frame(function)
        while count > 0:
            count -= 1
            frame.set(count, caller.pop())
        frame.make_cells()
        if code.generator:
            return W_Generator(frame)
        return self.interpret(frame, code, 0)

    def iterate(self, w_value):
        if isinstance(w_value, W_Iterator):
            return w_value
        return W_ListIterator(w_value.list())

    def interpret(self, frame, code, pc):
        machine = self
        while True:
            driver.jit_merge_point(pc=pc, code=code, frame=frame, machine=machine)
            op = code.ops[pc]
            arg = code.args[pc]
            pc += 1
            try:
                if op == CONST:
                    frame.push(code.constants[arg])
                elif op == LOAD:
                    frame.push(frame.get(arg))
                elif op == STORE:
                    frame.set(arg, frame.pop())
                elif op == LOAD_CELL:
                    frame.push(frame.cell(arg).w_value)
                elif op == STORE_CELL:
                    frame.cell(arg).w_value = frame.pop()
                elif op == LOAD_FREE:
                    frame.push(frame.function.cells[arg].w_value)
                elif op == STORE_FREE:
                    frame.function.cells[arg].w_value = frame.pop()
                elif op == LOAD_GLOBAL:
                    frame.push(machine.globals[arg].w_value)
                elif op == STORE_GLOBAL:
                    machine.globals[arg].w_value = frame.pop()
                elif op == POP:
                    frame.pop()
                elif op == DUP:
                    frame.push(frame.peek(0))
                elif op == JUMP:
                    pc = arg
                elif op == LOOP:
                    pc = arg
                    driver.can_enter_jit(pc=pc, code=code, frame=frame, machine=machine)
                elif op == UNLESS:
                    if not frame.pop().truth():
                        pc = arg
                elif op == UNLESS_KEEP or op == IF_KEEP:
                    if frame.peek(0).truth() == (op == IF_KEEP):
                        pc = arg
                    else:
                        frame.pop()
                elif op == CALL:
                    function = frame.peek(arg)
                    if not isinstance(function, W_Function):
                        raise error('not a function')
                    w_result = machine.call(frame, function, arg)
                    frame.pop()
                    frame.push(w_result)
                elif op == METHOD:
                    count = arg & 255
                    w_self = frame.peek(count)
                    if not isinstance(w_self, W_Instance):
                        raise error('no methods')
                    function = promote(w_self.type).method(code.names[arg >> 8])
                    if function is None:
                        raise error('no method ' + code.names[arg >> 8])
                    frame.push(machine.call(frame, function, count + 1))
                elif op == RETURN:
                    frame.finished = True
                    return frame.pop()
                elif op == YIELD:
                    frame.pc = pc
                    w_result = frame.peek(0)
                    return w_result
                elif op == THROW:
                    raise Raised(frame.pop())
                elif op == SETUP:
                    frame.block = Block(arg, frame.depth, frame.block)
                elif op == POP_BLOCK:
                    frame.block = frame.block.outer
                elif op == ITER:
                    frame.push(machine.iterate(frame.pop()))
                elif op == FOR:
                    w_iterator = frame.peek(0)
                    assert isinstance(w_iterator, W_Iterator)
                    w_value = w_iterator.next(machine)
                    if w_value is None:
                        frame.pop()
                        pc = arg
                    else:
                        frame.push(w_value)
                elif op == CLOSURE:
                    frame.push(frame.closure(code.inner[arg]))
                else:
                    operate(frame, code, op, arg)
            except Raised as e:
                block = frame.block
                if block is None:
                    frame.finished = True
                    raise
                frame.block = block.outer
                frame.unwind(block.depth)
                frame.push(e.w_value)
                pc = promote(block.handler)


def operate(frame, code, op, arg):
    """Instructions that work on the stack alone."""
    if op == TWO:
        w_right = frame.pop()
        w_left = frame.pop()
        frame.push(BINARY[arg].function(w_left, w_right))
    elif op == ONE:
        if code.names[arg] == 'dict':
            frame.push(W_Dict())
        else:
            frame.push(unary(code.names[arg], frame.pop()))
    elif op == THREE:
        w_third = frame.pop()
        w_second = frame.pop()
        frame.push(ternary(code.names[arg], frame.pop(), w_second, w_third))
    elif op == NOT:
        frame.push(boolean(not frame.pop().truth()))
    elif op == NEW:
        frame.push(W_Instance(code.types[arg]))
    elif op == GET:
        w_object = frame.pop()
        if not isinstance(w_object, W_Instance):
            raise error('no fields')
        frame.push(w_object.values[w_object.index(code.names[arg])])
    elif op == SET:
        w_value = frame.pop()
        w_object = frame.pop()
        if not isinstance(w_object, W_Instance):
            raise error('no fields')
        w_object.values[w_object.index(code.names[arg])] = w_value
        frame.push(w_value)
    elif op == LIST:
        frame.push(W_List(frame.pop_list(arg)))


def load(text):
    return Machine(front.parse(text))


def main(argv):
    return common.run(argv, load)


def target(driver, args):
    return main, None


if __name__ == '__main__':
    import sys
    sys.exit(main(sys.argv))
