"""Instructions, and functions made of them."""

(CONSTANT, LOAD, STORE, ADD, SUB, MUL, DIV, MOD, EQ, NE, LT, LE, GT, GE,
 JUMP, JUMP_IF_FALSE, CALL, PRINT, POP, RETURN) = range(20)

NAMES = ['CONSTANT', 'LOAD', 'STORE', 'ADD', 'SUB', 'MUL', 'DIV', 'MOD', 'EQ', 'NE', 'LT', 'LE',
         'GT', 'GE', 'JUMP', 'JUMP_IF_FALSE', 'CALL', 'PRINT', 'POP', 'RETURN']


class Function(object):
    """A function of a Minnow program.

    An instruction is two numbers in `code`: what to do, and its argument.
    """

    _immutable_fields_ = ['name', 'parameters', 'code[*]', 'lines[*]', 'constants[*]', 'functions[*]',
                          'slots', 'depth']

    def __init__(self, name, parameters):
        self.name = name
        self.parameters = parameters

    def finish(self, code, lines, constants, functions, slots):
        self.code = code[:]
        self.lines = lines[:]
        self.constants = constants[:]
        self.functions = functions[:]
        self.slots = slots
        # No instruction makes the stack grow by more than one.
        self.depth = len(code) // 2 + 1
