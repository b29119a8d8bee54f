"""A stack machine with a just-in-time compiler: an assembler, and the loop over instructions."""

from rpython.rlib.jit import JitDriver, hint

(PUSH, POP, DUP, LOAD, STORE, ADD, SUB, MUL, LESS, JUMP, JUMP_IF_ZERO, PRINT, STOP) = range(13)

# Names, whether an instruction has an argument, and how many values it takes and leaves.
INSTRUCTIONS = [('push', True, 0, 1), ('pop', False, 1, 0), ('dup', False, 1, 2), ('load', True, 0, 1),
                ('store', True, 1, 0), ('add', False, 2, 1), ('sub', False, 2, 1), ('mul', False, 2, 1),
                ('less', False, 2, 1), ('jump', True, 0, 0), ('jump-if-zero', True, 1, 0),
                ('print', False, 1, 0), ('stop', False, 0, 0)]
TAKES = [takes for (_, _, takes, _) in INSTRUCTIONS]


class MachineError(Exception):
    def __init__(self, message, line):
        self.message = message
        self.line = line


class Program(object):
    """Instructions: two numbers each, what to do and its argument."""

    _immutable_fields_ = ['code[*]', 'slots', 'depth']

    def __init__(self, code, slots, depth):
        self.code = code
        self.slots = slots
        self.depth = depth


def assemble(text):
    """A program. Each line has an instruction with its argument, or a label and a colon; `;` begins a comment.
    Labels and variables are words."""
    labels = {}
    variables = {}
    code = []
    uses = []
    pushed = 0
    lines = text.split('\n')
    for number in range(len(lines)):
        line = lines[number]
        comment = line.find(';')
        if comment >= 0:
            line = line[:comment]
        words = [word for word in line.split(' ') if word != '']
        if not words:
            continue
        name = words[0]
        if len(words) == 1 and name.endswith(':'):
            end = len(name) - 1
            assert end >= 0
            labels[name[:end]] = len(code)
            continue
        operation = find_operation(name)
        if operation < 0:
            raise MachineError('there is no instruction ' + name, number + 1)
        if len(words) != 1 + int(INSTRUCTIONS[operation][1]):
            raise MachineError(name + ' has the wrong number of arguments', number + 1)
        argument = 0
        if operation == PUSH:
            try:
                argument = int(words[1])
            except ValueError:
                raise MachineError('a number is expected', number + 1)
        elif operation == LOAD or operation == STORE:
            if words[1] not in variables:
                variables[words[1]] = len(variables)
            argument = variables[words[1]]
        elif operation == JUMP or operation == JUMP_IF_ZERO:
            uses.append((len(code), words[1], number + 1))
        pushed += INSTRUCTIONS[operation][3]
        code.append(operation)
        code.append(argument)
    for at, label, number in uses:
        if label not in labels:
            raise MachineError('there is no label ' + label, number)
        code[at + 1] = labels[label]
    code.append(STOP)
    code.append(0)
    # A program that leaves values in a loop fills the stack.
    return Program(code[:], len(variables), pushed + 2)


def find_operation(name):
    for i in range(len(INSTRUCTIONS)):
        if INSTRUCTIONS[i][0] == name:
            return i
    return -1


def location(pc, program):
    return '%d: %s' % (pc // 2, INSTRUCTIONS[program.code[pc]][0])


# What decides which code runs is green; a loop is compiled for each of its values.
driver = JitDriver(greens=['pc', 'program'], reds=['frame', 'output'], virtualizables=['frame'],
                   get_printable_location=location)


class Frame(object):
    """What a program computes with. Compiled code keeps it in registers (`_virtualizable_`)."""

    _virtualizable_ = ['variables[*]', 'stack[*]', 'depth']

    def __init__(self, program):
        self = hint(self, access_directly=True, fresh_virtualizable=True)
        self.variables = [0] * program.slots
        self.stack = [0] * program.depth
        self.depth = 0

    def push(self, value):
        self.stack[self.depth] = value
        self.depth += 1

    def pop(self):
        depth = self.depth - 1
        assert depth >= 0
        self.depth = depth
        return self.stack[depth]


def run(program, output):
    """Runs a program, which writes lines to `output`."""
    frame = Frame(program)
    pc = 0
    while True:
        driver.jit_merge_point(pc=pc, program=program, frame=frame, output=output)
        operation = program.code[pc]
        argument = program.code[pc + 1]
        pc += 2
        if frame.depth < TAKES[operation]:
            raise MachineError('the stack is empty', 0)
        if frame.depth + 2 > len(frame.stack):
            raise MachineError('the stack is full', 0)
        if operation == PUSH:
            frame.push(argument)
        elif operation == POP:
            frame.pop()
        elif operation == DUP:
            value = frame.pop()
            frame.push(value)
            frame.push(value)
        elif operation == LOAD:
            frame.push(frame.variables[argument])
        elif operation == STORE:
            frame.variables[argument] = frame.pop()
        elif operation == ADD:
            right = frame.pop()
            frame.push(frame.pop() + right)
        elif operation == SUB:
            right = frame.pop()
            frame.push(frame.pop() - right)
        elif operation == MUL:
            right = frame.pop()
            frame.push(frame.pop() * right)
        elif operation == LESS:
            right = frame.pop()
            frame.push(int(frame.pop() < right))
        elif operation == JUMP:
            if argument < pc:
                # A loop ends here, and may begin again as compiled code.
                pc = argument
                driver.can_enter_jit(pc=pc, program=program, frame=frame, output=output)
            else:
                pc = argument
        elif operation == JUMP_IF_ZERO:
            if frame.pop() == 0:
                pc = argument
        elif operation == PRINT:
            output.write(str(frame.pop()))
        else:
            return
