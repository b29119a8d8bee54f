"""A plain stack machine, as a first interpreter is often written: one growing Python list is the stack of all
calls, locals are below the operands, calls push records on a second list, instructions are objects in a list.
There is a driver, and no other hint.
"""
import math
from rpython.rlib.jit import JitDriver
import common
import front
from common import Failure


class Value(object):
    def show(self):
        return 'object'

    def true(self):
        return True


class Nil(Value):
    def show(self):
        return 'nil'

    def true(self):
        return False


class Bool(Value):
    def __init__(self, flag):
        self.flag = flag

    def show(self):
        if self.flag:
            return 'true'
        return 'false'

    def true(self):
        return self.flag


class Int(Value):
    def __init__(self, number):
        self.number = number

    def show(self):
        return str(self.number)

    def true(self):
        return self.number != 0


class Float(Value):
    def __init__(self, number):
        self.number = number

    def show(self):
        return str(self.number)


class Str(Value):
    def __init__(self, text):
        self.text = text

    def show(self):
        return self.text

    def true(self):
        return self.text != ''


class List(Value):
    def __init__(self, items):
        self.items = items


class Dict(Value):
    def __init__(self):
        self.entries = {}


class Cell(Value):
    def __init__(self, value):
        self.value = value


class Iterator(Value):
    def __init__(self, items):
        self.items = items
        self.next = 0


class Function(Value):
    def __init__(self, code, cells):
        self.code = code
        self.cells = cells


class Class(object):
    def __init__(self, name):
        self.name = name
        self.methods = {}


class Object(Value):
    def __init__(self, cls):
        self.cls = cls
        self.fields = {}

    def show(self):
        return '<' + self.cls.name + '>'


NIL = Nil()
TRUE = Bool(True)
FALSE = Bool(False)


def boolean(flag):
    if flag:
        return TRUE
    return FALSE


class Thrown(Exception):
    def __init__(self, value):
        self.value = value


def error(text):
    return Thrown(Str(text))


def integer(value):
    if isinstance(value, Int):
        return value.number
    raise error('an integer was expected')


def real(value):
    if isinstance(value, Float):
        return value.number
    if isinstance(value, Int):
        return float(value.number)
    raise error('float')


def string(value):
    if isinstance(value, Str):
        return value.text
    raise error('a string was expected')


def items_of(value):
    if isinstance(value, List):
        return value.items
    raise error('a list was expected')


def entries_of(value):
    if isinstance(value, Dict):
        return value.entries
    raise error('a dict was expected')


def key_of(value):
    """Dicts know strings only; numbers have a prefix."""
    if isinstance(value, Int):
        return '#' + str(value.number)
    return string(value)


# ---- code ----

class Instruction(object):
    def __init__(self, name, number, value):
        self.op = OPCODES[name]
        self.name = name
        self.number = number
        self.value = value
        self.text = ''
        self.cls = None
        self.code = None


NAMES = ['const', 'local', 'setlocal', 'cell', 'setcell', 'free', 'setfree', 'global', 'setglobal', 'pop',
         'dup', 'jump', 'back', 'false', 'and', 'or', 'not', 'call', 'return', 'throw', 'try', 'done', 'fn',
         'new', 'send', 'field', 'setfield', 'list', 'iterate', 'next']
for _name in front.OPERATORS:
    if _name not in NAMES:
        NAMES.append(_name)
NAMES.sort()
NAMES.append('poplist')     # 'pop' drops a value; the operator takes an item from a list
OPCODES = {}
for _i in range(len(NAMES)):
    OPCODES[NAMES[_i]] = _i


def op(name):
    return OPCODES[name]


(CONST, LOCAL, SETLOCAL, CELL, SETCELL, FREE, SETFREE, GLOBAL, SETGLOBAL, POP, DUP, JUMP, BACK, FALSE_JUMP,
 AND, OR, NOT, CALL, RETURN, THROW, TRY, DONE, FN, NEW, SEND, FIELD, SETFIELD, LIST, ITERATE, NEXT) = [
    op(_name) for _name in ['const', 'local', 'setlocal', 'cell', 'setcell', 'free', 'setfree', 'global',
                            'setglobal', 'pop', 'dup', 'jump', 'back', 'false', 'and', 'or', 'not', 'call',
                            'return', 'throw', 'try', 'done', 'fn', 'new', 'send', 'field', 'setfield', 'list',
                            'iterate', 'next']]
(ADD, SUB, MUL, DIV, MOD, LT, LE, GT, GE, EQ, NE, BITAND, BITOR, BITXOR, SHL, SHR) = [
    op(_name) for _name in ['+', '-', '*', '/', '%', '<', '<=', '>', '>=', '==', '!=', '&', '|', '^', '<<', '>>']]
(NEWLIST, AT, PUT, PUSH, LEN, DICT, GET, DPUT, HAS, STR, CHAR, ORD, CHR, SLICE, FLOAT, INT, SQRT) = [
    op(_name) for _name in ['newlist', 'at', 'put', 'push', 'len', 'dict', 'get', 'dput', 'has', 'str',
                            'char', 'ord', 'chr', 'slice', 'float', 'int', 'sqrt']]
POPLIST = op('poplist')


class Code(object):
    def __init__(self, name):
        self.name = name
        self.instructions = []
        self.arguments = 0
        self.size = 0
        self.celled = []
        self.sources = []


class Compiler(object):
    def __init__(self, machine, function):
        self.machine = machine
        self.function = function
        self.code = machine.codes[function.index]

    def emit(self, name, number):
        instruction = Instruction(name, number, NIL)
        self.code.instructions.append(instruction)
        return instruction

    def const(self, value):
        self.emit('const', 0).value = value

    def here(self):
        return len(self.code.instructions)

    def compile(self):
        function = self.function
        self.code.arguments = function.arguments
        self.code.size = len(function.variables)
        for variable in function.variables:
            if variable.captured:
                self.code.celled.append(variable.index)
        if function.outer is not None:
            self.code.sources = function.cell_sources()
        self.node(function.body)
        self.emit('return', 0)

    def store(self, variable):
        if variable.captured:
            self.emit('setcell', variable.index)
        else:
            self.emit('setlocal', variable.index)

    def node(self, node):
        kind = node.kind
        kids = node.kids
        if kind == 'if':
            self.node(kids[0])
            otherwise = self.emit('false', 0)
            self.node(kids[1])
            end = self.emit('jump', 0)
            otherwise.number = self.here()
            self.node(kids[2])
            end.number = self.here()
            return
        if kind == 'and' or kind == 'or':
            self.node(kids[0])
            end = self.emit(kind, 0)
            self.node(kids[1])
            end.number = self.here()
            return
        if kind == 'while':
            start = self.here()
            self.node(kids[0])
            end = self.emit('false', 0)
            self.node(kids[1])
            self.emit('pop', 0)
            self.emit('back', start)
            end.number = self.here()
            self.const(NIL)
            return
        if kind == 'for':
            self.node(kids[0])
            self.emit('iterate', 0)
            start = self.here()
            end = self.emit('next', 0)
            self.store(node.variable)
            self.node(kids[1])
            self.emit('pop', 0)
            self.emit('back', start)
            end.number = self.here()
            self.const(NIL)
            return
        if kind == 'try':
            handler = self.emit('try', 0)
            self.node(kids[0])
            self.emit('done', 0)
            end = self.emit('jump', 0)
            handler.number = self.here()
            self.store(node.variable)
            self.node(kids[1])
            end.number = self.here()
            return
        if kind == 'do':
            if len(kids) == 0:
                self.const(NIL)
            for i in range(len(kids)):
                if i > 0:
                    self.emit('pop', 0)
                self.node(kids[i])
            return
        if kind == 'new':
            cls = self.machine.classes[node.index]
            self.emit('new', 0).cls = cls
            if 'init' in cls.methods:
                self.emit('dup', 0)
                for kid in kids:
                    self.node(kid)
                self.emit('send', len(kids)).text = 'init'
                self.emit('pop', 0)
            return
        for kid in kids:
            self.node(kid)
        if kind == 'int':
            self.const(Int(node.number))
        elif kind == 'float':
            self.const(Float(node.real))
        elif kind == 'str':
            self.const(Str(node.name))
        elif kind == 'nil':
            self.const(NIL)
        elif kind == 'true':
            self.const(TRUE)
        elif kind == 'false':
            self.const(FALSE)
        elif kind == 'function':
            self.const(self.machine.functions[node.index])
        elif kind == 'local':
            if node.variable.captured:
                self.emit('cell', node.variable.index)
            else:
                self.emit('local', node.variable.index)
        elif kind == 'setlocal':
            self.emit('dup', 0)
            self.store(node.variable)
        elif kind == 'setfree' or kind == 'setglobal':
            self.emit('dup', 0)
            self.emit(kind, node.index)
        elif kind == 'free' or kind == 'global':
            self.emit(kind, node.index)
        elif kind == 'op' and node.name == 'pop':
            self.emit('poplist', 0)
        elif kind == 'op':
            self.emit(node.name, 0)
        elif kind == 'call':
            self.emit('call', len(kids) - 1)
        elif kind == 'send':
            self.emit('send', len(kids) - 1).text = node.name
        elif kind == 'field' or kind == 'setfield':
            self.emit(kind, 0).text = node.name
        elif kind == 'list':
            self.emit('list', len(kids))
        elif kind == 'fn':
            self.emit('fn', 0).code = self.machine.codes[node.index]
        elif kind == 'not' or kind == 'throw' or kind == 'return':
            self.emit(kind, 0)
        else:
            raise Failure('not in this language: ' + kind)


# ---- the machine ----

class Call(object):
    """Where a caller goes on."""
    def __init__(self, code, pc, base, function):
        self.code = code
        self.pc = pc
        self.base = base
        self.function = function


class Handler(object):
    def __init__(self, calls, depth, pc):
        self.calls = calls
        self.depth = depth
        self.pc = pc


def location(pc, code):
    return code.name + ' ' + str(pc) + ' ' + code.instructions[pc].name


driver = JitDriver(greens=['pc', 'code'], reds=['base', 'function', 'machine'], is_recursive=True,
                   get_printable_location=location)


class Machine(common.Engine):
    def __init__(self, program):
        self.globals = [NIL] * len(program.global_names)
        self.codes = [Code(function.name) for function in program.functions]
        self.functions = [Function(code, []) for code in self.codes]
        self.classes = []
        self.stack = []
        self.calls = []
        self.handlers = []
        for description in program.classes:
            cls = Class(description.name)
            for name in description.method_names:
                cls.methods[name] = self.functions[description.methods[name].index]
            self.classes.append(cls)
        for function in program.functions:
            Compiler(self, function).compile()
        self.main = self.functions[program.main()]
        self.start(self.functions[program.initial.index], NIL)

    def start(self, function, argument):
        self.stack = []
        self.calls = []
        self.handlers = []
        for _ in range(function.code.arguments):
            self.push(argument)
        self.enter(function)
        try:
            return self.run(function)
        except Thrown as e:
            raise Failure('uncaught: ' + e.value.show())

    def unit(self, n):
        return self.start(self.main, Int(n)).show()

    def push(self, value):
        self.stack.append(value)

    def pop(self):
        return self.stack.pop()

    def enter(self, function):
        """Makes the locals of a call, whose arguments are on the stack."""
        code = function.code
        for _ in range(code.size - code.arguments):
            self.stack.append(NIL)
        for index in code.celled:
            at = len(self.stack) - code.size + index
            self.stack[at] = Cell(self.stack[at])

    def drop(self, depth):
        while len(self.stack) > depth:
            self.stack.pop()

    def cell(self, index):
        cell = self.stack[index]
        assert isinstance(cell, Cell)
        return cell

    def capture(self, code, base, function):
        cells = []
        for source in code.sources:
            if source >= 0:
                cells.append(self.cell(base + source))
            else:
                cells.append(function.cells[-1 - source])
        return Function(code, cells)

    def method(self, value, name):
        if not isinstance(value, Object):
            raise error('no methods')
        if name not in value.cls.methods:
            raise error('no method ' + name)
        return value.cls.methods[name]

    def run(self, function):
        machine = self
        code = function.code
        pc = 0
        base = len(machine.stack) - code.size
        while True:
            driver.jit_merge_point(pc=pc, code=code, base=base, function=function, machine=machine)
            instruction = code.instructions[pc]
            op = instruction.op
            pc += 1
            try:
                if op == CONST:
                    machine.push(instruction.value)
                elif op == LOCAL:
                    machine.push(machine.stack[base + instruction.number])
                elif op == SETLOCAL:
                    machine.stack[base + instruction.number] = machine.pop()
                elif op == CELL:
                    machine.push(machine.cell(base + instruction.number).value)
                elif op == SETCELL:
                    machine.cell(base + instruction.number).value = machine.pop()
                elif op == FREE:
                    machine.push(function.cells[instruction.number].value)
                elif op == SETFREE:
                    function.cells[instruction.number].value = machine.pop()
                elif op == GLOBAL:
                    machine.push(machine.globals[instruction.number])
                elif op == SETGLOBAL:
                    machine.globals[instruction.number] = machine.pop()
                elif op == POP:
                    machine.pop()
                elif op == DUP:
                    machine.push(machine.stack[-1])
                elif op == JUMP:
                    pc = instruction.number
                elif op == BACK:
                    pc = instruction.number
                    driver.can_enter_jit(pc=pc, code=code, base=base, function=function, machine=machine)
                elif op == FALSE_JUMP:
                    if not machine.pop().true():
                        pc = instruction.number
                elif op == AND:
                    if machine.stack[-1].true():
                        machine.pop()
                    else:
                        pc = instruction.number
                elif op == OR:
                    if machine.stack[-1].true():
                        pc = instruction.number
                    else:
                        machine.pop()
                elif op == NOT:
                    machine.push(boolean(not machine.pop().true()))
                elif op == CALL or op == SEND:
                    count = instruction.number
                    callee = machine.stack[len(machine.stack) - 1 - count]
                    if op == SEND:
                        callee = machine.method(callee, instruction.text)
                        count += 1
                    elif not isinstance(callee, Function):
                        raise error('not a function')
                    if callee.code.arguments != count:
                        raise error('wrong number of arguments')
                    machine.calls.append(Call(code, pc, base, function))
                    function = callee
                    code = function.code
                    machine.enter(function)
                    base = len(machine.stack) - code.size
                    pc = 0
                elif op == RETURN:
                    result = machine.pop()
                    machine.drop(base)
                    if len(machine.calls) == 0:
                        return result
                    call = machine.calls.pop()
                    code = call.code
                    pc = call.pc
                    base = call.base
                    function = call.function
                    if code.instructions[pc - 1].op == CALL:
                        machine.pop()       # the function
                    machine.push(result)
                elif op == TRY:
                    machine.handlers.append(Handler(len(machine.calls), len(machine.stack), instruction.number))
                elif op == DONE:
                    machine.handlers.pop()
                elif op == THROW:
                    raise Thrown(machine.pop())
                elif op == NEXT:
                    iterator = machine.stack[-1]
                    assert isinstance(iterator, Iterator)
                    if iterator.next < len(iterator.items):
                        machine.push(iterator.items[iterator.next])
                        iterator.next += 1
                    else:
                        machine.pop()
                        pc = instruction.number
                elif op == FN:
                    machine.push(machine.capture(instruction.code, base, function))
                else:
                    machine.operate(op, instruction)
            except Thrown as e:
                if len(machine.handlers) == 0:
                    raise
                handler = machine.handlers.pop()
                while len(machine.calls) > handler.calls:
                    call = machine.calls.pop()
                    code = call.code
                    base = call.base
                    function = call.function
                machine.drop(handler.depth)
                machine.push(e.value)
                pc = handler.pc

    def operate(self, op, instruction):
        """Instructions that work on the stack alone."""
        if op == NEW:
            self.push(Object(instruction.cls))
        elif op == FIELD:
            target = self.pop()
            if not isinstance(target, Object):
                raise error('no fields')
            self.push(target.fields.get(instruction.text, NIL))
        elif op == SETFIELD:
            value = self.pop()
            target = self.pop()
            if not isinstance(target, Object):
                raise error('no fields')
            target.fields[instruction.text] = value
            self.push(value)
        elif op == LIST:
            items = []
            start = len(self.stack) - instruction.number
            for i in range(instruction.number):
                items.append(self.stack[start + i])
            self.drop(start)
            self.push(List(items))
        elif op == ITERATE:
            self.push(Iterator(items_of(self.pop())))
        elif op == POPLIST:
            items = items_of(self.pop())
            if len(items) == 0:
                raise error('pop of an empty list')
            self.push(items.pop())
        elif op == LEN:
            value = self.pop()
            if isinstance(value, Str):
                self.push(Int(len(value.text)))
            elif isinstance(value, Dict):
                self.push(Int(len(value.entries)))
            else:
                self.push(Int(len(items_of(value))))
        elif op == DICT:
            self.push(Dict())
        elif op == STR:
            self.push(Str(self.pop().show()))
        elif op == ORD:
            self.push(Int(ord(string(self.pop())[0])))
        elif op == CHR:
            self.push(Str(chr(integer(self.pop()) & 255)))
        elif op == FLOAT:
            self.push(Float(real(self.pop())))
        elif op == INT:
            self.push(Int(int(real(self.pop()))))
        elif op == SQRT:
            self.push(Float(math.sqrt(real(self.pop()))))
        elif op == PUT or op == DPUT:
            value = self.pop()
            key = self.pop()
            if op == PUT:
                items = items_of(self.pop())
                index = integer(key)
                if index < 0 or index >= len(items):
                    raise error('index')
                items[index] = value
            else:
                entries_of(self.pop())[key_of(key)] = value
            self.push(value)
        elif op == GET:
            default = self.pop()
            key = self.pop()
            self.push(entries_of(self.pop()).get(key_of(key), default))
        elif op == SLICE:
            end = integer(self.pop())
            start = integer(self.pop())
            text = string(self.pop())
            if start < 0 or end < start or end > len(text):
                raise error('slice')
            self.push(Str(text[start:end]))
        else:
            right = self.pop()
            left = self.pop()
            self.push(binary(op, left, right))


def less(left, right):
    if isinstance(left, Int) and isinstance(right, Int):
        return left.number < right.number
    if isinstance(left, Str):
        return left.text < string(right)
    return real(left) < real(right)


def same(left, right):
    if isinstance(left, Int) and isinstance(right, Int):
        return left.number == right.number
    if isinstance(left, Str):
        return isinstance(right, Str) and left.text == right.text
    return left is right


def binary(op, left, right):
    if op == LT:
        return boolean(less(left, right))
    elif op == GT:
        return boolean(less(right, left))
    elif op == LE:
        return boolean(not less(right, left))
    elif op == GE:
        return boolean(not less(left, right))
    elif op == EQ:
        return boolean(same(left, right))
    elif op == NE:
        return boolean(not same(left, right))
    elif op == AT or op == CHAR:
        index = integer(right)
        if isinstance(left, Str):
            if index < 0 or index >= len(left.text):
                raise error('index')
            return Str(left.text[index])
        items = items_of(left)
        if index < 0 or index >= len(items):
            raise error('index')
        return items[index]
    elif op == NEWLIST:
        return List([right] * integer(left))
    elif op == PUSH:
        items_of(left).append(right)
        return right
    elif op == HAS:
        return boolean(key_of(right) in entries_of(left))
    elif isinstance(left, Int) and isinstance(right, Int):
        a = left.number
        b = right.number
        if op == ADD:
            return Int(a + b)
        elif op == SUB:
            return Int(a - b)
        elif op == MUL:
            return Int(a * b)
        elif op == BITAND:
            return Int(a & b)
        elif op == BITOR:
            return Int(a | b)
        elif op == BITXOR:
            return Int(a ^ b)
        elif op == SHL:
            return Int(a << (b & 63))
        elif op == SHR:
            return Int(a >> (b & 63))
        if b == 0:
            raise error('division by zero')
        if op == DIV:
            return Int(a // b)
        return Int(a % b)
    elif op == ADD and isinstance(left, Str):
        return Str(left.text + string(right))
    a = real(left)
    b = real(right)
    if op == ADD:
        return Float(a + b)
    elif op == SUB:
        return Float(a - b)
    elif op == MUL:
        return Float(a * b)
    if b == 0.0:
        raise error('division by zero')
    return Float(a / b)


def load(text):
    return Machine(front.parse(text))


def main(argv):
    return common.run(argv, load)


def target(driver, args):
    return main, None


if __name__ == '__main__':
    import sys
    sys.exit(main(sys.argv))
