"""A register machine with a just-in-time compiler: an assembler, and the loop over instructions."""

from rpython.rlib.jit import JitDriver, hint

(SET, COPY, ADD, SUB, MUL, LESS, JUMP, JUMP_IF_ZERO, PRINT, STOP) = range(10)

# Names, and what each argument is: a register, a number or a label.
INSTRUCTIONS = [('set', 'rn'), ('copy', 'rr'), ('add', 'rrr'), ('sub', 'rrr'), ('mul', 'rrr'), ('less', 'rrr'),
                ('jump', 'l'), ('jump-if-zero', 'rl'), ('print', 'r'), ('stop', '')]
# Numbers of an instruction: what to do, and three arguments.
WIDTH = 4


class MachineError(Exception):
    def __init__(self, message, line):
        self.message = message
        self.line = line


class Program(object):
    """Instructions, `WIDTH` numbers each."""

    _immutable_fields_ = ['code[*]', 'registers']

    def __init__(self, code, registers):
        self.code = code
        self.registers = registers


class Assembler(object):
    """Each line has an instruction with its arguments, or a label and a colon; `;` begins a comment. Registers and
    labels are words."""

    def __init__(self):
        self.code = []
        self.registers = {}
        self.labels = {}
        self.uses = []

    def line(self, text, number):
        comment = text.find(';')
        if comment >= 0:
            text = text[:comment]
        words = [word for word in text.split(' ') if word != '']
        if not words:
            return
        name = words[0]
        if len(words) == 1 and name.endswith(':'):
            end = len(name) - 1
            assert end >= 0
            self.labels[name[:end]] = len(self.code)
            return
        operation = find_operation(name)
        if operation < 0:
            raise MachineError('there is no instruction ' + name, number)
        kinds = INSTRUCTIONS[operation][1]
        if len(words) != 1 + len(kinds):
            raise MachineError(name + ' has the wrong number of arguments', number)
        self.code.append(operation)
        for i in range(WIDTH - 1):
            argument = 0
            if i < len(kinds):
                argument = self.argument(kinds[i], words[i + 1], number)
            self.code.append(argument)

    def argument(self, kind, word, number):
        if kind == 'r':
            if word not in self.registers:
                self.registers[word] = len(self.registers)
            return self.registers[word]
        if kind == 'n':
            try:
                return int(word)
            except ValueError:
                raise MachineError('a number is expected', number)
        self.uses.append((len(self.code), word, number))
        return 0

    def program(self):
        for at, label, number in self.uses:
            if label not in self.labels:
                raise MachineError('there is no label ' + label, number)
            self.code[at] = self.labels[label]
        self.code.append(STOP)
        for _ in range(WIDTH - 1):
            self.code.append(0)
        return Program(self.code[:], len(self.registers))


def assemble(text):
    assembler = Assembler()
    lines = text.split('\n')
    for i in range(len(lines)):
        assembler.line(lines[i], i + 1)
    return assembler.program()


def find_operation(name):
    for i in range(len(INSTRUCTIONS)):
        if INSTRUCTIONS[i][0] == name:
            return i
    return -1


def location(pc, program):
    return '%d: %s' % (pc // WIDTH, INSTRUCTIONS[program.code[pc]][0])


# What decides which code runs is green; a loop is compiled for each of its values.
driver = JitDriver(greens=['pc', 'program'], reds=['frame', 'output'], virtualizables=['frame'],
                   get_printable_location=location)


class Frame(object):
    """The registers. Compiled code keeps them in those of the processor (`_virtualizable_`)."""

    _virtualizable_ = ['registers[*]']

    def __init__(self, program):
        self = hint(self, access_directly=True, fresh_virtualizable=True)
        self.registers = [0] * program.registers


def run(program, output):
    """Runs a program, which writes lines to `output`."""
    frame = Frame(program)
    pc = 0
    while True:
        driver.jit_merge_point(pc=pc, program=program, frame=frame, output=output)
        operation = program.code[pc]
        first = program.code[pc + 1]
        second = program.code[pc + 2]
        third = program.code[pc + 3]
        registers = frame.registers
        pc += WIDTH
        if operation == SET:
            registers[first] = second
        elif operation == COPY:
            registers[first] = registers[second]
        elif operation == ADD:
            registers[first] = registers[second] + registers[third]
        elif operation == SUB:
            registers[first] = registers[second] - registers[third]
        elif operation == MUL:
            registers[first] = registers[second] * registers[third]
        elif operation == LESS:
            registers[first] = int(registers[second] < registers[third])
        elif operation == JUMP:
            if first < pc:
                # A loop ends here, and may begin again as compiled code.
                pc = first
                driver.can_enter_jit(pc=pc, program=program, frame=frame, output=output)
            else:
                pc = first
        elif operation == JUMP_IF_ZERO:
            if registers[first] == 0:
                pc = second
        elif operation == PRINT:
            output.write(str(registers[first]))
        else:
            return
