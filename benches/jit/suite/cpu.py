"""An emulator of a small processor, in the style of Pydgin: sixteen registers of 32 bits in a virtualizable list, eight
registers for floats, a memory of words, code in a memory of its own whose instructions are decoded from words. The target of
an indirect jump is promoted.

Assembler: `label:`, `op rd, ra, rb`, registers r0 to r15 (r0 is 0, r14 the stack, r15 the link), f0 to f7, numbers, labels.
`.repeat K` ... `.end` copies lines; `$` in them is the number of the copy. `main` is called with n in r1; r1 is the result.
"""
from rpython.rlib.jit import JitDriver, promote
from rpython.rlib.rarithmetic import intmask, r_uint
import common
from common import Failure

# name: operands (d, a, b: registers; F, G, H: float registers; i: 16 bits, signed; l: label)
FORMATS = [
    ('add', 'dab'), ('sub', 'dab'), ('mul', 'dab'), ('div', 'dab'), ('rem', 'dab'), ('and', 'dab'), ('or', 'dab'),
    ('xor', 'dab'), ('sll', 'dab'), ('srl', 'dab'), ('sra', 'dab'), ('slt', 'dab'), ('addi', 'dai'), ('andi', 'dai'),
    ('slli', 'dai'), ('srli', 'dai'), ('lui', 'di'), ('lw', 'dai'), ('sw', 'dai'), ('lb', 'dai'), ('sb', 'dai'),
    ('beq', 'dal'), ('bne', 'dal'), ('blt', 'dal'), ('bge', 'dal'), ('jump', 'l'), ('jal', 'l'), ('jalr', 'd'),
    ('jr', 'd'), ('la', 'dl'), ('trap', 'd'), ('tvec', 'd'), ('rett', ''), ('halt', ''),
    ('fadd', 'FGH'), ('fsub', 'FGH'), ('fmul', 'FGH'), ('fdiv', 'FGH'), ('cvtf', 'Fa'), ('cvti', 'dG'),
    ('flt', 'dGH'), ('flw', 'Fai'), ('fsw', 'Fai'), ('fmov', 'FG'),
]
NUMBERS = {}
for _i in range(len(FORMATS)):
    NUMBERS[FORMATS[_i][0]] = _i
(ADD, SUB, MUL, DIV, REM, AND, OR, XOR, SLL, SRL, SRA, SLT, ADDI, ANDI, SLLI, SRLI, LUI, LW, SW, LB, SB, BEQ, BNE, BLT,
 BGE, JUMP, JAL, JALR, JR, LA, TRAP, TVEC, RETT, HALT, FADD, FSUB, FMUL, FDIV, CVTF, CVTI, FLT, FLW, FSW,
 FMOV) = range(len(FORMATS))
WORDS = 65536
FLOATS = 4096


def signed(value):
    """The number that 32 bits stand for."""
    value &= 0xffffffff
    return value - ((value & 0x80000000) << 1)


# ---- the assembler ----

def split(line):
    words = []
    word = ''
    for c in line:
        if c == '#':
            break
        if c == ' ' or c == ',' or c == '\t':
            if word != '':
                words.append(word)
            word = ''
        else:
            word += c
    if word != '':
        words.append(word)
    return words


def substitute(word, number):
    result = ''
    for c in word:
        if c == '$':
            result += str(number)
        else:
            result += c
    return result


class Assembler(object):
    def __init__(self, text):
        lines = []
        block = []
        count = 0
        for line in text.split('\n'):
            words = split(line)
            if len(words) == 0:
                continue
            if words[0] == '.repeat':
                count = int(words[1])
                block = []
            elif words[0] == '.end':
                for k in range(count):
                    for words in block:
                        lines.append([substitute(word, k) for word in words])
                count = 0
            elif count > 0:
                block.append(words)
            else:
                lines.append(words)
        self.labels = {}
        self.names = []
        at = 0
        self.instructions = []
        for words in lines:
            name = words[0]
            end = len(name) - 1
            assert end >= 0
            if name[end] == ':':
                self.labels[name[:end]] = at
            else:
                self.instructions.append(words)
                at += 1

    def register(self, text, letter):
        if len(text) < 2 or text[0] != letter:
            raise Failure('a register was expected: ' + text)
        return int(text[1:])

    def label(self, text):
        if text not in self.labels:
            raise Failure('unknown label ' + text)
        return self.labels[text]

    def assemble(self):
        words = []
        for instruction in self.instructions:
            if instruction[0] not in NUMBERS:
                raise Failure('unknown instruction ' + instruction[0])
            number = NUMBERS[instruction[0]]
            operands = FORMATS[number][1]
            if len(instruction) != len(operands) + 1:
                raise Failure('wrong operands: ' + ' '.join(instruction))
            word = number << 40
            for i in range(len(operands)):
                kind = operands[i]
                text = instruction[i + 1]
                if kind == 'd':
                    word |= self.register(text, 'r') << 32
                elif kind == 'a':
                    word |= self.register(text, 'r') << 28
                elif kind == 'b':
                    word |= self.register(text, 'r') << 24
                elif kind == 'F':
                    word |= self.register(text, 'f') << 32
                elif kind == 'G':
                    word |= self.register(text, 'f') << 28
                elif kind == 'H':
                    word |= self.register(text, 'f') << 24
                elif kind == 'l':
                    word |= self.label(text)
                else:
                    word |= int(text) & 0xffff
            words.append(word)
        return words[:]


class Code(object):
    _immutable_fields_ = ['words[*]']

    def __init__(self, words):
        self.words = words


def location(pc, code):
    return '%d: %s' % (pc, FORMATS[code.words[pc] >> 40][0])


driver = JitDriver(greens=['pc', 'code'], reds=['cpu'], virtualizables=['cpu'], is_recursive=True, get_printable_location=location)


# ---- the processor ----

class Cpu(object):
    _virtualizable_ = ['registers[*]', 'fregisters[*]', 'trap_pc', 'vector', 'words', 'floats']

    def __init__(self, words, floats):
        self.registers = [0] * 16
        self.fregisters = [0.0] * 8
        self.trap_pc = 0
        self.vector = 0
        self.words = words
        self.floats = floats

    def get(self, index):
        assert index >= 0
        return self.registers[index]

    def set(self, index, value):
        assert index >= 0
        if index != 0:
            self.registers[index] = signed(value)

    def fget(self, index):
        assert index >= 0
        return self.fregisters[index]

    def fset(self, index, value):
        assert index >= 0
        self.fregisters[index] = value

    def word_at(self, address):
        index = address >> 2
        if index < 0 or index >= WORDS:
            raise Failure('bad address')
        return index

    def float_at(self, address):
        if address < 0 or address >= FLOATS:
            raise Failure('bad address')
        return address


def unsigned(value):
    return value & 0xffffffff


def run(pc, code, cpu):
    while True:
        driver.jit_merge_point(pc=pc, code=code, cpu=cpu)
        word = code.words[pc]
        op = word >> 40
        d = (word >> 32) & 15
        a = (word >> 28) & 15
        b = (word >> 24) & 15
        immediate = word & 0xffff
        next = pc + 1
        if op <= SLT:
            arithmetic(cpu, op, d, cpu.get(a), cpu.get(b))
        elif op <= LUI:
            with_immediate(cpu, op, d, cpu.get(a), immediate)
        elif op <= SB:
            memory(cpu, op, d, cpu.get(a) + extended(immediate))
        elif op <= BGE:
            left = cpu.get(d)
            right = cpu.get(a)
            if op == BEQ:
                taken = left == right
            elif op == BNE:
                taken = left != right
            elif op == BLT:
                taken = left < right
            else:
                taken = left >= right
            if taken:
                next = immediate
        elif op == JUMP:
            next = immediate
        elif op == JAL:
            cpu.set(15, next)
            next = immediate
        elif op == JALR:
            target = cpu.get(d)
            cpu.set(15, next)
            next = promote(target)
        elif op == JR:
            next = promote(cpu.get(d))
        elif op == LA:
            cpu.set(d, immediate)
        elif op == TVEC:
            cpu.vector = cpu.get(d)
        elif op == TRAP:
            cpu.trap_pc = next
            cpu.set(13, cpu.get(d))
            next = promote(cpu.vector)
        elif op == RETT:
            next = promote(cpu.trap_pc)
        elif op == HALT:
            return
        else:
            with_floats(cpu, op, d, a, b, immediate)
        if next <= pc:
            pc = next
            driver.can_enter_jit(pc=pc, code=code, cpu=cpu)
        else:
            pc = next


def extended(immediate):
    return immediate - ((immediate & 0x8000) << 1)


def arithmetic(cpu, op, d, x, y):
    if op == ADD:
        cpu.set(d, x + y)
    elif op == SUB:
        cpu.set(d, x - y)
    elif op == MUL:
        cpu.set(d, intmask(r_uint(x) * r_uint(y)))
    elif op == DIV or op == REM:
        if y == 0:
            raise Failure('division by zero')
        if op == DIV:
            cpu.set(d, x // y)
        else:
            cpu.set(d, x % y)
    elif op == AND:
        cpu.set(d, x & y)
    elif op == OR:
        cpu.set(d, x | y)
    elif op == XOR:
        cpu.set(d, x ^ y)
    elif op == SLL:
        cpu.set(d, intmask(x << (y & 31)))
    elif op == SRL:
        cpu.set(d, unsigned(x) >> (y & 31))
    elif op == SRA:
        cpu.set(d, x >> (y & 31))
    else:
        cpu.set(d, int(x < y))


def with_immediate(cpu, op, d, x, immediate):
    if op == ADDI:
        cpu.set(d, x + extended(immediate))
    elif op == ANDI:
        cpu.set(d, x & immediate)
    elif op == SLLI:
        cpu.set(d, intmask(x << (immediate & 31)))
    elif op == SRLI:
        cpu.set(d, unsigned(x) >> (immediate & 31))
    else:
        cpu.set(d, immediate << 16)


def memory(cpu, op, d, address):
    index = cpu.word_at(address)
    words = cpu.words
    if op == LW:
        cpu.set(d, words[index])
    elif op == SW:
        words[index] = cpu.get(d)
    else:
        shift = (address & 3) << 3
        if op == LB:
            cpu.set(d, (unsigned(words[index]) >> shift) & 255)
        else:
            kept = unsigned(words[index]) & ~(255 << shift)
            words[index] = signed(kept | ((cpu.get(d) & 255) << shift))


def with_floats(cpu, op, d, a, b, immediate):
    if op == FADD:
        cpu.fset(d & 7, cpu.fget(a & 7) + cpu.fget(b & 7))
    elif op == FSUB:
        cpu.fset(d & 7, cpu.fget(a & 7) - cpu.fget(b & 7))
    elif op == FMUL:
        cpu.fset(d & 7, cpu.fget(a & 7) * cpu.fget(b & 7))
    elif op == FDIV:
        cpu.fset(d & 7, cpu.fget(a & 7) / cpu.fget(b & 7))
    elif op == CVTF:
        cpu.fset(d & 7, float(cpu.get(a)))
    elif op == CVTI:
        cpu.set(d, int(cpu.fget(a & 7)))
    elif op == FLT:
        cpu.set(d, int(cpu.fget(a & 7) < cpu.fget(b & 7)))
    elif op == FLW:
        cpu.fset(d & 7, cpu.floats[cpu.float_at(cpu.get(a) + extended(immediate))])
    elif op == FSW:
        cpu.floats[cpu.float_at(cpu.get(a) + extended(immediate))] = cpu.fget(d & 7)
    elif op == FMOV:
        cpu.fset(d & 7, cpu.fget(a & 7))


class Board(common.Engine):
    def __init__(self, text):
        assembler = Assembler(text + '\n__stop:\nhalt\n')
        self.code = Code(assembler.assemble())
        self.main = assembler.label('main')
        self.stop = assembler.label('__stop')
        self.words = [0] * WORDS
        self.floats = [0.0] * FLOATS

    def unit(self, n):
        cpu = Cpu(self.words, self.floats)
        cpu.set(1, n)
        cpu.set(14, 4 * WORDS)
        cpu.set(15, self.stop)
        run(self.main, self.code, cpu)
        return str(cpu.get(1))


def load(text):
    return Board(text)


def main(argv):
    return common.run(argv, load)


def target(driver, args):
    return main, None


if __name__ == '__main__':
    import sys
    sys.exit(main(sys.argv))
