"""A Forth: threaded code in one list of integers, a data stack and a return stack of fixed length that hold machine
integers, a third stack for floats, and memory in a list. Nothing is boxed and nothing is virtualizable. The address
that EXIT takes from the return stack is promoted.

The word `main ( n -- result )` of a program is its unit of work.
"""
import math
from rpython.rlib.jit import JitDriver, promote
from rpython.rlib.rarithmetic import intmask
import common
from common import Failure

PRIMITIVES = [
    'lit', 'flit', 'branch', '0branch', 'exit', 'stop', 'caught', '(do)', '(loop)', '(+loop)', 'call',
    'dup', 'drop', 'swap', 'over', 'rot', 'nip', 'tuck', '2dup', '2drop', '+', '-', '*', '/', 'mod', 'and', 'or',
    'xor', 'lshift', 'rshift', 'negate', '1+', '1-', '=', '<>', '<', '>', '<=', '>=', '0=', '0<', 'min', 'max',
    '@', '!', '+!', '>r', 'r>', 'r@', 'i', 'j', 'unloop', 'execute', 'catch', 'throw', 'allot', 'here',
    'f+', 'f-', 'f*', 'f/', 'f<', 'fdup', 'fdrop', 'fswap', 'fover', 'fsqrt', 's>f', 'f>s', 'f@', 'f!', 'pick',
]
NUMBERS = {}
for _i in range(len(PRIMITIVES)):
    NUMBERS[PRIMITIVES[_i]] = _i
(LIT, FLIT, BRANCH, ZBRANCH, EXIT, STOP, CAUGHT, DO, LOOP, PLUSLOOP, CALL, DUP, DROP, SWAP, OVER, ROT, NIP, TUCK,
 TWODUP, TWODROP, ADD, SUB, MUL, DIV, MOD, AND, OR, XOR, LSHIFT, RSHIFT, NEGATE, INC, DEC, EQ, NE, LT, GT, LE, GE,
 ZEQ, ZLT, MIN, MAX, FETCH, STORE, ADDSTORE, TOR, FROMR, RFETCH, I, J, UNLOOP, EXECUTE, CATCH, THROW, ALLOT, HERE,
 FADD, FSUB, FMUL, FDIV, FLT, FDUP, FDROP, FSWAP, FOVER, FSQRT, STOF, FTOS, FFETCH, FSTORE,
 PICK) = range(len(PRIMITIVES))
DEPTH = 512
MEMORY = 200000
FLOATS = 5000


class Code(object):
    """Threaded code. It is complete before it runs."""
    _immutable_fields_ = ['cells[*]', 'floats[*]']

    def __init__(self, cells, floats, names):
        self.cells = cells
        self.floats = floats
        self.names = names      # address: name of the word that begins there

    def name(self, pc):
        at = pc
        while at >= 0:
            if at in self.names:
                return self.names[at]
            at -= 1
        return '?'


class Handler(object):
    def __init__(self, depth, rdepth, fdepth, pc):
        self.depth = depth
        self.rdepth = rdepth
        self.fdepth = fdepth
        self.pc = pc


class ForthError(Exception):
    def __init__(self, number):
        self.number = number


def tokens(text):
    result = []
    for line in text.split('\n'):
        for word in line.split(' '):
            if word == '\\':
                break
            if word != '':
                result.append(word)
    return expand(result)


def expand(words):
    """`copies K ... endcopies` stands for K copies."""
    result = []
    i = 0
    while i < len(words):
        if words[i] == 'copies':
            count = int(words[i + 1])
            start = i + 2
            i = start
            while words[i] != 'endcopies':
                i += 1
            for _ in range(count):
                for k in range(start, i):
                    result.append(words[k])
        else:
            result.append(words[i])
        i += 1
    return result


class Compiler(object):
    def __init__(self, text):
        self.words = tokens(text)
        self.at = 0
        self.cells = [STOP, CAUGHT]
        self.floats = []
        self.addresses = {}
        self.constants = {}
        self.names = {}
        self.marks = []
        self.leaves = []
        self.here = 16
        self.memory = [0] * MEMORY

    def word(self):
        if self.at >= len(self.words):
            raise Failure('unexpected end')
        self.at += 1
        return self.words[self.at - 1]

    def emit(self, cell):
        self.cells.append(cell)
        return len(self.cells) - 1

    def compile(self):
        stack = []
        while self.at < len(self.words):
            word = self.word()
            if word == ':':
                name = self.word()
                self.addresses[name] = len(self.cells)
                self.names[len(self.cells)] = name
                self.definition(name)
            elif word == '(':
                self.comment()
            elif word == 'variable':
                self.constants[self.word()] = self.here
                self.here += 1
            elif word == 'create':
                self.constants[self.word()] = self.here
            elif word == 'allot':
                self.here += stack.pop()
            elif word == ',':
                self.memory[self.here] = stack.pop()
                self.here += 1
            elif word == 'constant':
                self.constants[self.word()] = stack.pop()
            elif word == "'":
                stack.append(self.address(self.word()))
            elif word in self.constants:
                stack.append(self.constants[word])
            else:
                stack.append(self.number(word))
        return Code(self.cells[:], self.floats[:], self.names)

    def comment(self):
        while self.word() != ')':
            pass

    def number(self, word):
        try:
            return int(word)
        except ValueError:
            raise Failure('unknown word ' + word)

    def address(self, name):
        if name not in self.addresses:
            raise Failure('unknown word ' + name)
        return self.addresses[name]

    def forward(self, op):
        self.emit(op)
        self.marks.append(self.emit(0))

    def resolve(self):
        self.cells[self.marks.pop()] = len(self.cells)

    def definition(self, name):
        while True:
            word = self.word()
            if word == ';':
                self.emit(EXIT)
                return
            elif word == '(':
                self.comment()
            elif word == 'if':
                self.forward(ZBRANCH)
            elif word == 'else':
                mark = self.marks.pop()
                self.forward(BRANCH)
                self.cells[mark] = len(self.cells)
            elif word == 'then':
                self.resolve()
            elif word == 'begin':
                self.marks.append(len(self.cells))
            elif word == 'while':
                self.forward(ZBRANCH)
            elif word == 'repeat':
                out = self.marks.pop()
                self.emit(BRANCH)
                self.emit(self.marks.pop())
                self.cells[out] = len(self.cells)
            elif word == 'until':
                self.emit(ZBRANCH)
                self.emit(self.marks.pop())
            elif word == 'again':
                self.emit(BRANCH)
                self.emit(self.marks.pop())
            elif word == 'do':
                self.emit(DO)
                self.marks.append(len(self.cells))
                self.leaves.append(-1)
            elif word == 'leave':
                self.emit(UNLOOP)
                self.emit(BRANCH)
                self.leaves.append(self.emit(0))
            elif word == 'loop' or word == '+loop':
                self.emit(NUMBERS['(' + word + ')'])
                self.emit(self.marks.pop())
                while True:
                    leave = self.leaves.pop()
                    if leave < 0:
                        break
                    self.cells[leave] = len(self.cells)
            elif word == 'recurse':
                self.emit(CALL)
                self.emit(self.address(name))
            elif word == "[']":
                self.emit(LIT)
                self.emit(self.address(self.word()))
            elif word == '[char]':
                self.emit(LIT)
                self.emit(ord(self.word()[0]))
            elif word in self.addresses:
                self.emit(CALL)
                self.emit(self.addresses[word])
            elif word in self.constants:
                self.emit(LIT)
                self.emit(self.constants[word])
            elif word in NUMBERS:
                self.emit(NUMBERS[word])
            elif '.' in word:
                self.floats.append(float(word))
                self.emit(FLIT)
                self.emit(len(self.floats) - 1)
            else:
                self.emit(LIT)
                self.emit(self.number(word))


def location(pc, code):
    op = code.cells[pc]
    return '%s %d %s' % (code.name(pc), pc, PRIMITIVES[op])


driver = JitDriver(greens=['pc', 'code'], reds=['forth'], is_recursive=True, get_printable_location=location)


class Forth(common.Engine):
    _immutable_fields_ = ['stack', 'rstack', 'fstack', 'memory', 'fmemory', 'code']

    def __init__(self, text):
        compiler = Compiler(text)
        self.code = compiler.compile()
        self.main = compiler.address('main')
        self.stack = [0] * DEPTH
        self.depth = 0
        self.rstack = [0] * DEPTH
        self.rdepth = 0
        self.fstack = [0.0] * DEPTH
        self.fdepth = 0
        self.memory = compiler.memory
        self.fmemory = [0.0] * FLOATS
        self.here = compiler.here
        self.handlers = []

    def unit(self, n):
        self.depth = 0
        self.rdepth = 0
        self.fdepth = 0
        self.handlers = []
        here = self.here
        self.push(n)
        self.rpush(0)
        try:
            self.run(self.main)
        except ForthError as e:
            raise Failure('error %d' % e.number)
        self.here = here
        return str(self.pop())

    def push(self, value):
        depth = self.depth
        if depth >= DEPTH:
            raise ForthError(-3)
        self.stack[depth] = value
        self.depth = depth + 1

    def pop(self):
        depth = self.depth - 1
        if depth < 0:
            raise ForthError(-4)
        self.depth = depth
        return self.stack[depth]

    def peek(self, below):
        depth = self.depth - 1 - below
        if depth < 0:
            raise ForthError(-4)
        return self.stack[depth]

    def rpush(self, value):
        depth = self.rdepth
        if depth >= DEPTH:
            raise ForthError(-5)
        self.rstack[depth] = value
        self.rdepth = depth + 1

    def rpop(self):
        depth = self.rdepth - 1
        if depth < 0:
            raise ForthError(-6)
        self.rdepth = depth
        return self.rstack[depth]

    def rpeek(self, below):
        depth = self.rdepth - 1 - below
        if depth < 0:
            raise ForthError(-6)
        return self.rstack[depth]

    def fpush(self, value):
        depth = self.fdepth
        if depth >= DEPTH:
            raise ForthError(-44)
        self.fstack[depth] = value
        self.fdepth = depth + 1

    def fpop(self):
        depth = self.fdepth - 1
        if depth < 0:
            raise ForthError(-45)
        self.fdepth = depth
        return self.fstack[depth]

    def cell(self, address):
        if address < 0 or address >= MEMORY:
            raise ForthError(-9)
        return address

    def fcell(self, address):
        if address < 0 or address >= FLOATS:
            raise ForthError(-9)
        return address

    def flag(self, value):
        self.push(-1 if value else 0)

    def throw(self, number):
        """Unwinds to the last `catch`; returns where to go on."""
        if len(self.handlers) == 0:
            raise ForthError(number)
        handler = self.handlers.pop()
        self.depth = handler.depth
        self.rdepth = handler.rdepth
        self.fdepth = handler.fdepth
        self.push(number)
        return handler.pc

    def run(self, pc):
        forth = self
        code = forth.code
        while True:
            driver.jit_merge_point(pc=pc, code=code, forth=forth)
            op = code.cells[pc]
            pc += 1
            if op == LIT:
                forth.push(code.cells[pc])
                pc += 1
            elif op == FLIT:
                forth.fpush(code.floats[code.cells[pc]])
                pc += 1
            elif op == BRANCH or op == ZBRANCH:
                target = code.cells[pc]
                pc += 1
                if op == BRANCH or forth.pop() == 0:
                    if target < pc:
                        pc = target
                        driver.can_enter_jit(pc=pc, code=code, forth=forth)
                    else:
                        pc = target
            elif op == LOOP or op == PLUSLOOP:
                target = code.cells[pc]
                pc += 1
                step = 1
                if op == PLUSLOOP:
                    step = forth.pop()
                index = forth.rpop() + step
                limit = forth.rpeek(0)
                if (step > 0 and index < limit) or (step < 0 and index >= limit):
                    forth.rpush(index)
                    pc = target
                    driver.can_enter_jit(pc=pc, code=code, forth=forth)
                else:
                    forth.rpop()
            elif op == CALL:
                target = code.cells[pc]
                forth.rpush(pc + 1)
                pc = target
            elif op == EXIT:
                pc = promote(forth.rpop())
            elif op == EXECUTE:
                forth.rpush(pc)
                pc = promote(forth.pop())
            elif op == CATCH:
                target = forth.pop()
                forth.handlers.append(Handler(forth.depth, forth.rdepth, forth.fdepth, pc))
                forth.rpush(1)
                pc = promote(target)
            elif op == CAUGHT:
                pc = promote(forth.handlers.pop().pc)
                forth.push(0)
            elif op == THROW:
                number = forth.pop()
                if number != 0:
                    pc = promote(forth.throw(number))
            elif op == STOP:
                return
            elif op >= FADD:
                forth.floats(op)
            else:
                forth.primitive(op)

    def primitive(self, op):
        if op == DUP:
            self.push(self.peek(0))
        elif op == DROP:
            self.pop()
        elif op == SWAP:
            b = self.pop()
            a = self.pop()
            self.push(b)
            self.push(a)
        elif op == OVER:
            self.push(self.peek(1))
        elif op == ROT:
            c = self.pop()
            b = self.pop()
            a = self.pop()
            self.push(b)
            self.push(c)
            self.push(a)
        elif op == NIP:
            b = self.pop()
            self.pop()
            self.push(b)
        elif op == TUCK:
            b = self.pop()
            a = self.pop()
            self.push(b)
            self.push(a)
            self.push(b)
        elif op == TWODUP:
            self.push(self.peek(1))
            self.push(self.peek(1))
        elif op == TWODROP:
            self.pop()
            self.pop()
        elif op == NEGATE:
            self.push(-self.pop())
        elif op == INC:
            self.push(self.pop() + 1)
        elif op == DEC:
            self.push(self.pop() - 1)
        elif op == ZEQ:
            self.flag(self.pop() == 0)
        elif op == ZLT:
            self.flag(self.pop() < 0)
        elif op == FETCH:
            self.push(self.memory[self.cell(self.pop())])
        elif op == STORE:
            address = self.cell(self.pop())
            self.memory[address] = self.pop()
        elif op == ADDSTORE:
            address = self.cell(self.pop())
            self.memory[address] = self.memory[address] + self.pop()
        elif op == TOR:
            self.rpush(self.pop())
        elif op == FROMR:
            self.push(self.rpop())
        elif op == RFETCH or op == I:
            self.push(self.rpeek(0))
        elif op == J:
            self.push(self.rpeek(2))
        elif op == UNLOOP:
            self.rpop()
            self.rpop()
        elif op == DO:
            index = self.pop()
            self.rpush(self.pop())
            self.rpush(index)
        elif op == ALLOT:
            self.here += self.pop()
        elif op == HERE:
            self.push(self.here)
        else:
            b = self.pop()
            a = self.pop()
            self.binary(op, a, b)

    def binary(self, op, a, b):
        if op == ADD:
            self.push(a + b)
        elif op == SUB:
            self.push(a - b)
        elif op == MUL:
            self.push(intmask(a * b))
        elif op == DIV or op == MOD:
            if b == 0:
                raise ForthError(-10)
            if op == DIV:
                self.push(a // b)
            else:
                self.push(a % b)
        elif op == AND:
            self.push(a & b)
        elif op == OR:
            self.push(a | b)
        elif op == XOR:
            self.push(a ^ b)
        elif op == LSHIFT:
            self.push(intmask(a << (b & 63)))
        elif op == RSHIFT:
            self.push(a >> (b & 63))
        elif op == EQ:
            self.flag(a == b)
        elif op == NE:
            self.flag(a != b)
        elif op == LT:
            self.flag(a < b)
        elif op == GT:
            self.flag(a > b)
        elif op == LE:
            self.flag(a <= b)
        elif op == GE:
            self.flag(a >= b)
        elif op == MIN:
            self.push(a if a < b else b)
        elif op == MAX:
            self.push(a if a > b else b)

    def floats(self, op):
        if op == PICK:
            self.push(self.peek(self.pop()))
        elif op == STOF:
            self.fpush(float(self.pop()))
        elif op == FTOS:
            self.push(int(self.fpop()))
        elif op == FDUP:
            f = self.fpop()
            self.fpush(f)
            self.fpush(f)
        elif op == FDROP:
            self.fpop()
        elif op == FSQRT:
            self.fpush(math.sqrt(self.fpop()))
        elif op == FFETCH:
            self.fpush(self.fmemory[self.fcell(self.pop())])
        elif op == FSTORE:
            address = self.fcell(self.pop())
            self.fmemory[address] = self.fpop()
        else:
            g = self.fpop()
            f = self.fpop()
            if op == FADD:
                self.fpush(f + g)
            elif op == FSUB:
                self.fpush(f - g)
            elif op == FMUL:
                self.fpush(f * g)
            elif op == FDIV:
                self.fpush(f / g)
            elif op == FLT:
                self.flag(f < g)
            elif op == FSWAP:
                self.fpush(g)
                self.fpush(f)
            elif op == FOVER:
                self.fpush(f)
                self.fpush(g)
                self.fpush(f)


def load(text):
    return Forth(text)


def main(argv):
    return common.run(argv, load)


def target(driver, args):
    return main, None


if __name__ == '__main__':
    import sys
    sys.exit(main(sys.argv))
