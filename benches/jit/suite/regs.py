"""A register machine with tagged values: a value is a pair of a reference and a payload. The reference of an integer or a
float is a tag and the payload has its bits, so numbers need no boxes anywhere: not in registers, lists or objects.
Comparisons jump; code is a list of integers, five per instruction; frames are virtualizable.
"""
import math
from rpython.rlib.jit import JitDriver, promote, hint, elidable, unroll_safe
from rpython.rlib.longlong2float import float2longlong, longlong2float
import common
import front
from common import Failure

OPS = ['CONST', 'MOVE', 'CELL', 'SETCELL', 'FREE', 'SETFREE', 'GLOBAL', 'SETGLOBAL', 'JUMP', 'LOOP', 'JFALSE',
       'JTRUE', 'JNOTLESS', 'JNOTLE', 'JNOTEQ', 'JEQ', 'NOT', 'CALL', 'SEND', 'RETURN', 'THROW', 'FN', 'NEW', 'FIELD',
       'SETFIELD', 'LIST', 'START', 'NEXT', 'ADD', 'SUB', 'MUL', 'DIV', 'MOD', 'AND', 'OR', 'XOR', 'SHL', 'SHR',
       'LESS', 'LE', 'EQ', 'NE', 'AT', 'PUT', 'PUSH', 'POP', 'LEN', 'NEWLIST', 'DICT', 'GET', 'DPUT', 'HAS', 'STR',
       'ORD', 'CHR', 'SLICE', 'FLOAT', 'INT', 'SQRT']
for _i in range(len(OPS)):
    globals()[OPS[_i]] = _i
SIMPLE = {'+': ADD, '-': SUB, '*': MUL, '/': DIV, '%': MOD, '&': AND, '|': OR, '^': XOR, '<<': SHL, '>>': SHR,
          '<': LESS, '<=': LE, '>': LESS, '>=': LE, '==': EQ, '!=': NE, 'at': AT, 'char': AT, 'put': PUT,
          'push': PUSH, 'pop': POP, 'len': LEN, 'newlist': NEWLIST, 'dict': DICT, 'get': GET, 'dput': DPUT,
          'has': HAS, 'str': STR, 'ord': ORD, 'chr': CHR, 'slice': SLICE, 'float': FLOAT, 'int': INT, 'sqrt': SQRT}
WIDTH = 5


class Ref(object):
    """What a value's reference points to: a tag or an object."""


class Tag(Ref):
    _immutable_fields_ = ['name']

    def __init__(self, name):
        self.name = name


INTEGER = Tag('int')
REAL = Tag('float')
NIL = Tag('nil')
BOOLEAN = Tag('bool')


class Pair(Ref):
    """A value where one word has to do: in dicts, cells and exceptions."""
    def __init__(self, payload, ref):
        self.payload = payload
        self.ref = ref


class Text(Ref):
    _immutable_fields_ = ['text']

    def __init__(self, text):
        self.text = text


class List(Ref):
    def __init__(self, payloads, refs):
        self.payloads = payloads
        self.refs = refs


class Dict(Ref):
    def __init__(self):
        self.integers = {}
        self.texts = {}


class Iterator(Ref):
    def __init__(self, list):
        self.list = list
        self.next = 0


class Function(Ref):
    _immutable_fields_ = ['code', 'cells[*]']

    def __init__(self, code, cells):
        self.code = code
        self.cells = cells


class Class(Ref):
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


class Object(Ref):
    _immutable_fields_ = ['cls', 'payloads', 'refs']

    def __init__(self, cls):
        self.cls = cls
        self.payloads = [0] * cls.size
        self.refs = [NIL] * cls.size

    def index(self, name):
        index = promote(self.cls).field(name)
        if index < 0:
            raise error('no field ' + name)
        return index


class Throw(Exception):
    def __init__(self, pair):
        self.pair = pair


def error(text):
    return Throw(Pair(0, Text(text)))


def show(payload, ref):
    if ref is INTEGER:
        return str(payload)
    if ref is REAL:
        return str(longlong2float(payload))
    if ref is BOOLEAN:
        return 'true' if payload else 'false'
    if isinstance(ref, Text):
        return ref.text
    return 'nil' if ref is NIL else '<object>'


def is_true(payload, ref):
    if ref is INTEGER or ref is BOOLEAN:
        return payload != 0
    if isinstance(ref, Text):
        return len(ref.text) != 0
    return ref is not NIL


def integer(payload, ref):
    if ref is INTEGER:
        return payload
    raise error('an integer was expected')


def real(payload, ref):
    if ref is REAL:
        return longlong2float(payload)
    if ref is INTEGER:
        return float(payload)
    raise error('float')


def text_of(ref):
    if isinstance(ref, Text):
        return ref.text
    raise error('a string was expected')


def list_of(ref):
    if isinstance(ref, List):
        return ref
    raise error('a list was expected')


def dict_of(ref):
    if isinstance(ref, Dict):
        return ref
    raise error('a dict was expected')


def in_range(index, length):
    if index < 0 or index >= length:
        raise error('index')
    return index


# ---- code ----

class Code(object):
    _immutable_fields_ = ['name', 'words[*]', 'payloads[*]', 'refs[*]', 'names[*]', 'arguments', 'size',
                          'celled[*]', 'sources[*]', 'handlers[*]']

    def __init__(self, name):
        self.name = name
        self.words = []
        self.payloads = []
        self.refs = []
        self.names = []
        self.arguments = 0
        self.size = 0
        self.celled = []
        self.sources = []
        self.handlers = []      # start, end, target, register

    @elidable
    def handler(self, pc):
        i = 0
        while i < len(self.handlers):
            if self.handlers[i] <= pc and pc < self.handlers[i + 1]:
                return i
            i += 4
        return -1


class Compiler(object):
    def __init__(self, machine, function):
        self.machine = machine
        self.function = function
        self.words = []
        self.payloads = []
        self.refs = []
        self.names = []
        self.handlers = []
        self.next = len(function.variables)
        self.size = self.next

    def emit(self, op, a, b, c, d):
        at = len(self.words)
        for word in [op, a, b, c, d]:
            self.words.append(word)
        return at

    def temporary(self):
        self.next += 1
        if self.next > self.size:
            self.size = self.next
        return self.next - 1

    def name(self, name):
        for i in range(len(self.names)):
            if self.names[i] == name:
                return i
        self.names.append(name)
        return len(self.names) - 1

    def constant(self, to, payload, ref):
        self.payloads.append(payload)
        self.refs.append(ref)
        self.emit(CONST, to, len(self.refs) - 1, 0, 0)

    def compile(self):
        function = self.function
        code = self.machine.codes[function.index]
        result = self.temporary()
        self.node(function.body, result)
        self.emit(RETURN, result, 0, 0, 0)
        code.words = self.words[:]
        code.payloads = self.payloads[:]
        code.refs = self.refs[:]
        code.names = self.names[:]
        code.handlers = self.handlers[:]
        code.arguments = function.arguments
        code.size = self.size
        code.celled = [variable.index for variable in function.variables if variable.captured]
        if function.outer is not None:
            code.sources = function.cell_sources()

    def operand(self, node):
        """The register with the value of a node: that of the variable, or a new one."""
        if node.kind == 'local' and not node.variable.captured:
            return node.variable.index
        register = self.temporary()
        self.node(node, register)
        return register

    def jump_unless(self, node):
        """Emits a jump for the case that the condition is false; returns where its target belongs."""
        mark = self.next
        op = JFALSE
        if node.kind == 'op':
            if node.name == '<' or node.name == '>':
                op = JNOTLESS
            elif node.name == '<=' or node.name == '>=':
                op = JNOTLE
            elif node.name == '==':
                op = JNOTEQ
            elif node.name == '!=':
                op = JEQ
        if op == JFALSE:
            at = self.emit(JFALSE, self.operand(node), 0, 0, 0)
        else:
            left = self.operand(node.kids[0])
            right = self.operand(node.kids[1])
            if node.name[0] == '>':
                left, right = right, left
            at = self.emit(op, left, right, 0, 0)
        self.next = mark
        return at + 3

    def consecutive(self, nodes, start):
        """Evaluates nodes into registers in a row; returns the first one."""
        first = self.next
        for _ in range(len(nodes) - start):
            self.temporary()
        for i in range(start, len(nodes)):
            self.node(nodes[i], first + i - start)
        return first

    def node(self, node, to):
        mark = self.next
        self.emit_node(node, to)
        self.next = mark

    def store(self, variable, register):
        if variable.captured:
            self.emit(SETCELL, variable.index, register, 0, 0)
        elif variable.index != register:
            self.emit(MOVE, variable.index, register, 0, 0)

    def emit_node(self, node, to):
        kind = node.kind
        kids = node.kids
        if kind == 'int':
            self.constant(to, node.number, INTEGER)
        elif kind == 'float':
            self.constant(to, float2longlong(node.real), REAL)
        elif kind == 'str':
            self.constant(to, 0, Text(node.name))
        elif kind == 'nil':
            self.constant(to, 0, NIL)
        elif kind == 'true':
            self.constant(to, 1, BOOLEAN)
        elif kind == 'false':
            self.constant(to, 0, BOOLEAN)
        elif kind == 'function':
            self.constant(to, 0, self.machine.functions[node.index])
        elif kind == 'local':
            if node.variable.captured:
                self.emit(CELL, to, node.variable.index, 0, 0)
            else:
                self.emit(MOVE, to, node.variable.index, 0, 0)
        elif kind == 'free':
            self.emit(FREE, to, node.index, 0, 0)
        elif kind == 'global':
            self.emit(GLOBAL, to, node.index, 0, 0)
        elif kind == 'setlocal':
            if node.variable.captured:
                self.node(kids[0], to)
                self.emit(SETCELL, node.variable.index, to, 0, 0)
            else:
                self.node(kids[0], node.variable.index)
                if to != node.variable.index:
                    self.emit(MOVE, to, node.variable.index, 0, 0)
        elif kind == 'setfree':
            self.node(kids[0], to)
            self.emit(SETFREE, node.index, to, 0, 0)
        elif kind == 'setglobal':
            self.node(kids[0], to)
            self.emit(SETGLOBAL, node.index, to, 0, 0)
        elif kind == 'op':
            b = c = d = 0
            if len(kids) > 0:
                b = self.operand(kids[0])
            if len(kids) > 1:
                c = self.operand(kids[1])
            if len(kids) > 2:
                d = self.operand(kids[2])
            if node.name == '>' or node.name == '>=':
                b, c = c, b
            self.emit(SIMPLE[node.name], to, b, c, d)
        elif kind == 'do':
            if len(kids) == 0:
                self.constant(to, 0, NIL)
            for kid in kids:
                self.node(kid, to)
        elif kind == 'if':
            otherwise = self.jump_unless(kids[0])
            self.node(kids[1], to)
            end = self.emit(JUMP, 0, 0, 0, 0) + 3
            self.words[otherwise] = len(self.words)
            self.node(kids[2], to)
            self.words[end] = len(self.words)
        elif kind == 'and' or kind == 'or':
            self.node(kids[0], to)
            op = JFALSE if kind == 'and' else JTRUE
            end = self.emit(op, to, 0, 0, 0) + 3
            self.node(kids[1], to)
            self.words[end] = len(self.words)
        elif kind == 'not':
            self.emit(NOT, to, self.operand(kids[0]), 0, 0)
        elif kind == 'while':
            start = len(self.words)
            end = self.jump_unless(kids[0])
            self.node(kids[1], to)
            self.emit(LOOP, 0, 0, start, 0)
            self.words[end] = len(self.words)
        elif kind == 'for':
            iterator = self.temporary()
            item = self.temporary()
            self.node(kids[0], iterator)
            self.emit(START, iterator, iterator, 0, 0)
            start = len(self.words)
            end = self.emit(NEXT, item, iterator, 0, 0) + 3
            self.store(node.variable, item)
            self.node(kids[1], to)
            self.emit(LOOP, 0, 0, start, 0)
            self.words[end] = len(self.words)
        elif kind == 'try':
            start = len(self.words)
            self.node(kids[0], to)
            finish = len(self.words)
            end = self.emit(JUMP, 0, 0, 0, 0) + 3
            caught = self.temporary()
            for word in [start, finish, len(self.words), caught]:
                self.handlers.append(word)
            self.store(node.variable, caught)
            self.node(kids[1], to)
            self.words[end] = len(self.words)
        elif kind == 'throw':
            self.emit(THROW, self.operand(kids[0]), 0, 0, 0)
        elif kind == 'return':
            self.emit(RETURN, self.operand(kids[0]), 0, 0, 0)
        elif kind == 'fn':
            self.refs.append(Function(self.machine.codes[node.index], []))
            self.payloads.append(0)
            self.emit(FN, to, len(self.refs) - 1, 0, 0)
        elif kind == 'call':
            function = self.operand(kids[0])
            self.emit(CALL, to, function, self.consecutive(kids, 1), len(kids) - 1)
        elif kind == 'send':
            first = self.consecutive(kids, 0)
            self.emit(SEND, to, self.name(node.name), first, len(kids))
        elif kind == 'new':
            cls = self.machine.classes[node.index]
            first = self.temporary()
            self.refs.append(cls)
            self.payloads.append(0)
            self.emit(NEW, first, len(self.refs) - 1, 0, 0)
            if 'init' in cls.methods:
                self.consecutive(kids, 0)
                self.emit(SEND, to, self.name('init'), first, len(kids) + 1)
            self.emit(MOVE, to, first, 0, 0)
        elif kind == 'field':
            self.emit(FIELD, to, self.operand(kids[0]), self.name(node.name), 0)
        elif kind == 'setfield':
            target = self.operand(kids[0])
            self.node(kids[1], to)
            self.emit(SETFIELD, target, to, self.name(node.name), 0)
        elif kind == 'list':
            self.emit(LIST, to, self.consecutive(kids, 0), len(kids), 0)
        else:
            raise Failure('not in this language: ' + kind)


# ---- the machine ----

class Frame(object):
    _virtualizable_ = ['payloads[*]', 'refs[*]', 'function']

    def __init__(self, function, size):
        self = hint(self, access_directly=True, fresh_virtualizable=True)
        self.payloads = [0] * size
        self.refs = [NIL] * size
        self.function = function

    def payload(self, index):
        assert index >= 0
        return self.payloads[index]

    def ref(self, index):
        assert index >= 0
        return self.refs[index]

    def set(self, index, payload, ref):
        assert index >= 0
        self.payloads[index] = payload
        self.refs[index] = ref

    def set_ref(self, index, ref):
        self.set(index, 0, ref)

    def set_int(self, index, value):
        self.set(index, value, INTEGER)

    def set_float(self, index, value):
        self.set(index, float2longlong(value), REAL)

    def set_bool(self, index, value):
        self.set(index, int(value), BOOLEAN)

    def cell(self, index):
        cell = self.ref(index)
        assert isinstance(cell, Pair)
        return cell

    @unroll_safe
    def make_cells(self, code):
        i = 0
        while i < len(code.celled):
            index = code.celled[i]
            self.set_ref(index, Pair(self.payload(index), self.ref(index)))
            i += 1

    @unroll_safe
    def capture(self, code):
        cells = [None] * len(code.sources)
        i = 0
        while i < len(code.sources):
            source = code.sources[i]
            if source >= 0:
                cells[i] = self.cell(source)
            else:
                cells[i] = self.function.cells[-1 - source]
            i += 1
        return Function(code, cells)

    @unroll_safe
    def list(self, first, count):
        payloads = []
        refs = []
        i = 0
        while i < count:
            payloads.append(self.payload(first + i))
            refs.append(self.ref(first + i))
            i += 1
        return List(payloads, refs)


def location(pc, code):
    return '%s %d %s' % (code.name, pc, OPS[code.words[pc]])


driver = JitDriver(greens=['pc', 'code'], reds=['frame', 'machine'], virtualizables=['frame'],
                   is_recursive=True, get_printable_location=location)


class Machine(common.Engine):
    _immutable_fields_ = ['globals']

    def __init__(self, program):
        self.globals = [Pair(0, NIL) for _ in program.global_names]
        self.codes = [Code(function.name) for function in program.functions]
        self.functions = [Function(code, []) for code in self.codes]
        self.classes = []
        self.result = 0         # the payload of what a call returns
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
        self.start(self.functions[program.initial.index], 0, False)

    def start(self, function, n, argument):
        frame = Frame(function, function.code.size)
        if argument:
            frame.set_int(0, n)
        frame.make_cells(function.code)
        try:
            ref = self.interpret(frame, function.code)
        except Throw as e:
            raise Failure('uncaught: ' + show(e.pair.payload, e.pair.ref))
        return show(self.result, ref)

    def unit(self, n):
        return self.start(self.main, n, True)

    @unroll_safe
    def call(self, caller, function, first, count):
        code = promote(function.code)
        if code.arguments != count:
            raise error('wrong number of arguments of ' + code.name)
        frame = Frame(function, code.size)
        i = 0
        while i < count:
            frame.set(i, caller.payload(first + i), caller.ref(first + i))
            i += 1
        frame.make_cells(code)
        return self.interpret(frame, code)

    def interpret(self, frame, code):
        machine = self
        pc = 0
        while True:
            driver.jit_merge_point(pc=pc, code=code, frame=frame, machine=machine)
            words = code.words
            op = words[pc]
            a = words[pc + 1]
            b = words[pc + 2]
            c = words[pc + 3]
            next = pc + WIDTH
            try:
                if op == CONST:
                    frame.set(a, code.payloads[b], code.refs[b])
                elif op == MOVE:
                    frame.set(a, frame.payload(b), frame.ref(b))
                elif op == CELL:
                    cell = frame.cell(b)
                    frame.set(a, cell.payload, cell.ref)
                elif op == SETCELL:
                    cell = frame.cell(a)
                    cell.payload = frame.payload(b)
                    cell.ref = frame.ref(b)
                elif op == FREE:
                    cell = frame.function.cells[b]
                    frame.set(a, cell.payload, cell.ref)
                elif op == SETFREE:
                    cell = frame.function.cells[a]
                    cell.payload = frame.payload(b)
                    cell.ref = frame.ref(b)
                elif op == GLOBAL:
                    cell = machine.globals[b]
                    frame.set(a, cell.payload, cell.ref)
                elif op == SETGLOBAL:
                    cell = machine.globals[a]
                    cell.payload = frame.payload(b)
                    cell.ref = frame.ref(b)
                elif op == JUMP:
                    next = c
                elif op == LOOP:
                    pc = c
                    driver.can_enter_jit(pc=pc, code=code, frame=frame, machine=machine)
                    continue
                elif op == JFALSE:
                    if not is_true(frame.payload(a), frame.ref(a)):
                        next = c
                elif op == JTRUE:
                    if is_true(frame.payload(a), frame.ref(a)):
                        next = c
                elif op == JNOTLESS:
                    if not less(frame, a, b):
                        next = c
                elif op == JNOTLE:
                    if less(frame, b, a):
                        next = c
                elif op == JNOTEQ:
                    if not equal(frame, a, b):
                        next = c
                elif op == JEQ:
                    if equal(frame, a, b):
                        next = c
                elif op == CALL:
                    function = frame.ref(b)
                    if not isinstance(function, Function):
                        raise error('not a function')
                    ref = machine.call(frame, function, c, words[pc + 4])
                    frame.set(a, machine.result, ref)
                elif op == SEND:
                    target = frame.ref(c)
                    if not isinstance(target, Object):
                        raise error('no methods')
                    function = promote(target.cls).method(code.names[b])
                    if function is None:
                        raise error('no method ' + code.names[b])
                    ref = machine.call(frame, function, c, words[pc + 4])
                    frame.set(a, machine.result, ref)
                elif op == RETURN:
                    machine.result = frame.payload(a)
                    return frame.ref(a)
                elif op == THROW:
                    raise Throw(Pair(frame.payload(a), frame.ref(a)))
                elif op == FN:
                    template = code.refs[b]
                    assert isinstance(template, Function)
                    frame.set_ref(a, frame.capture(template.code))
                elif op == NEW:
                    cls = code.refs[b]
                    assert isinstance(cls, Class)
                    frame.set_ref(a, Object(cls))
                elif op == FIELD:
                    target = frame.ref(b)
                    if not isinstance(target, Object):
                        raise error('no fields')
                    index = target.index(code.names[c])
                    frame.set(a, target.payloads[index], target.refs[index])
                elif op == SETFIELD:
                    target = frame.ref(a)
                    if not isinstance(target, Object):
                        raise error('no fields')
                    index = target.index(code.names[c])
                    target.payloads[index] = frame.payload(b)
                    target.refs[index] = frame.ref(b)
                elif op == LIST:
                    frame.set_ref(a, frame.list(b, c))
                elif op == START:
                    frame.set_ref(a, Iterator(list_of(frame.ref(b))))
                elif op == NEXT:
                    iterator = frame.ref(b)
                    assert isinstance(iterator, Iterator)
                    index = iterator.next
                    if index < len(iterator.list.refs):
                        iterator.next = index + 1
                        frame.set(a, iterator.list.payloads[index], iterator.list.refs[index])
                    else:
                        next = c
                elif op >= ADD and op <= SHR:
                    arithmetic(frame, op, a, b, c)
                else:
                    other(frame, op, a, b, c, words[pc + 4])
            except Throw as e:
                index = code.handler(pc)
                if index < 0:
                    raise
                frame.set(code.handlers[index + 3], e.pair.payload, e.pair.ref)
                next = code.handlers[index + 2]
            pc = next


def less(frame, b, c):
    left = frame.ref(b)
    right = frame.ref(c)
    if left is INTEGER and right is INTEGER:
        return frame.payload(b) < frame.payload(c)
    if isinstance(left, Text):
        return left.text < text_of(right)
    return real(frame.payload(b), left) < real(frame.payload(c), right)


def equal(frame, b, c):
    left = frame.ref(b)
    right = frame.ref(c)
    if isinstance(left, Text):
        return isinstance(right, Text) and left.text == right.text
    return left is right and frame.payload(b) == frame.payload(c)


def arithmetic(frame, op, a, b, c):
    left = frame.ref(b)
    right = frame.ref(c)
    if left is INTEGER and right is INTEGER:
        x = frame.payload(b)
        y = frame.payload(c)
        if op == ADD:
            frame.set_int(a, x + y)
        elif op == SUB:
            frame.set_int(a, x - y)
        elif op == MUL:
            frame.set_int(a, x * y)
        elif op == AND:
            frame.set_int(a, x & y)
        elif op == OR:
            frame.set_int(a, x | y)
        elif op == XOR:
            frame.set_int(a, x ^ y)
        elif op == SHL:
            frame.set_int(a, x << (y & 63))
        elif op == SHR:
            frame.set_int(a, x >> (y & 63))
        elif y == 0:
            raise error('division by zero')
        elif op == DIV:
            frame.set_int(a, x // y)
        else:
            frame.set_int(a, x % y)
        return
    if op == ADD and isinstance(left, Text):
        frame.set_ref(a, Text(left.text + text_of(right)))
        return
    f = real(frame.payload(b), left)
    g = real(frame.payload(c), right)
    if op == ADD:
        frame.set_float(a, f + g)
    elif op == SUB:
        frame.set_float(a, f - g)
    elif op == MUL:
        frame.set_float(a, f * g)
    elif op == DIV:
        if g == 0.0:
            raise error('division by zero')
        frame.set_float(a, f / g)
    else:
        raise error('an integer was expected')


def other(frame, op, a, b, c, d):
    payload = frame.payload(b)
    ref = frame.ref(b)
    if op == AT:
        index = integer(frame.payload(c), frame.ref(c))
        if isinstance(ref, Text):
            frame.set_ref(a, Text(ref.text[in_range(index, len(ref.text))]))
        else:
            list = list_of(ref)
            index = in_range(index, len(list.refs))
            frame.set(a, list.payloads[index], list.refs[index])
    elif op == PUT:
        list = list_of(ref)
        index = in_range(integer(frame.payload(c), frame.ref(c)), len(list.refs))
        list.payloads[index] = frame.payload(d)
        list.refs[index] = frame.ref(d)
        frame.set(a, frame.payload(d), frame.ref(d))
    elif op == PUSH:
        list = list_of(ref)
        list.payloads.append(frame.payload(c))
        list.refs.append(frame.ref(c))
        frame.set(a, frame.payload(c), frame.ref(c))
    elif op == POP:
        list = list_of(ref)
        in_range(0, len(list.refs))
        frame.set(a, list.payloads.pop(), list.refs.pop())
    elif op == LEN:
        if isinstance(ref, Text):
            frame.set_int(a, len(ref.text))
        elif isinstance(ref, Dict):
            frame.set_int(a, len(ref.integers) + len(ref.texts))
        else:
            frame.set_int(a, len(list_of(ref).refs))
    elif op == LESS:
        frame.set_bool(a, less(frame, b, c))
    elif op == LE:
        frame.set_bool(a, not less(frame, c, b))
    elif op == EQ:
        frame.set_bool(a, equal(frame, b, c))
    elif op == NE:
        frame.set_bool(a, not equal(frame, b, c))
    elif op == NOT:
        frame.set_bool(a, not is_true(payload, ref))
    elif op == NEWLIST:
        count = integer(payload, ref)
        frame.set_ref(a, List([frame.payload(c)] * count, [frame.ref(c)] * count))
    elif op == DICT:
        frame.set_ref(a, Dict())
    elif op == GET:
        dict = dict_of(ref)
        if frame.ref(c) is INTEGER:
            pair = dict.integers.get(frame.payload(c), None)
        else:
            pair = dict.texts.get(text_of(frame.ref(c)), None)
        if pair is None:
            frame.set(a, frame.payload(d), frame.ref(d))
        else:
            frame.set(a, pair.payload, pair.ref)
    elif op == DPUT:
        dict = dict_of(ref)
        pair = Pair(frame.payload(d), frame.ref(d))
        if frame.ref(c) is INTEGER:
            dict.integers[frame.payload(c)] = pair
        else:
            dict.texts[text_of(frame.ref(c))] = pair
        frame.set(a, pair.payload, pair.ref)
    elif op == HAS:
        dict = dict_of(ref)
        if frame.ref(c) is INTEGER:
            frame.set_bool(a, frame.payload(c) in dict.integers)
        else:
            frame.set_bool(a, text_of(frame.ref(c)) in dict.texts)
    elif op == STR:
        frame.set_ref(a, Text(show(payload, ref)))
    elif op == ORD:
        frame.set_int(a, ord(text_of(ref)[0]))
    elif op == CHR:
        frame.set_ref(a, Text(chr(integer(payload, ref) & 255)))
    elif op == SLICE:
        text = text_of(ref)
        start = integer(frame.payload(c), frame.ref(c))
        end = integer(frame.payload(d), frame.ref(d))
        if start < 0 or end < start or end > len(text):
            raise error('slice')
        frame.set_ref(a, Text(text[start:end]))
    elif op == FLOAT:
        frame.set_float(a, real(payload, ref))
    elif op == INT:
        frame.set_int(a, int(real(payload, ref)))
    elif op == SQRT:
        frame.set_float(a, math.sqrt(real(payload, ref)))


def load(text):
    return Machine(front.parse(text))


def main(argv):
    return common.run(argv, load)


def target(driver, args):
    return main, None


if __name__ == '__main__':
    import sys
    sys.exit(main(sys.argv))
