"""An object space with a bytecode interpreter and its compiler, run while it is imported."""


class W_Root(object):
    def is_true(self):
        return True


class W_Int(W_Root):
    _immutable_fields_ = ["value"]

    def __init__(self, value):
        self.value = value

    def add(self, other):
        if isinstance(other, W_Int):
            return W_Int(self.value + other.value)
        return None

    def lt(self, other):
        assert isinstance(other, W_Int)
        return W_Bool(self.value < other.value)


class W_Bool(W_Root):
    def __init__(self, value):
        self.value = value

    def is_true(self):
        return self.value


class Space(object):
    def wrap(self, value):
        return W_Int(value)

    def add(self, w_a, w_b):
        return w_a.add(w_b)

    def lt(self, w_a, w_b):
        return w_a.lt(w_b)

    def is_true(self, w_obj):
        return w_obj.is_true()


OPCODES = ["LOAD_CONST", "LOAD_FAST", "STORE_FAST", "ADD", "LESS", "JUMP_IF_FALSE", "JUMP", "RETURN"]
for number, name in enumerate(OPCODES):
    globals()[name] = number


class Frame(object):
    def __init__(self, space, code, consts, size):
        self.space = space
        self.code = code
        self.consts = consts
        self.locals = [None] * size
        self.stack = []
        self.pc = 0

    def push(self, w_value):
        self.stack.append(w_value)

    def pop(self):
        return self.stack.pop()

    def run(self):
        while True:
            op, arg = self.code[self.pc]
            self.pc += 1
            if op == RETURN:
                return self.pop()
            METHODS[op](self, arg)

    def op_LOAD_CONST(self, arg):
        self.push(self.consts[arg])

    def op_LOAD_FAST(self, arg):
        self.push(self.locals[arg])

    def op_STORE_FAST(self, arg):
        self.locals[arg] = self.pop()

    def op_ADD(self, arg):
        w_b = self.pop()
        w_a = self.pop()
        self.push(self.space.add(w_a, w_b))

    def op_LESS(self, arg):
        w_b = self.pop()
        w_a = self.pop()
        self.push(self.space.lt(w_a, w_b))

    def op_JUMP_IF_FALSE(self, arg):
        if not self.space.is_true(self.pop()):
            self.pc = arg

    def op_JUMP(self, arg):
        self.pc = arg


METHODS = [getattr(Frame, "op_" + name, None) for name in OPCODES]

CODE = [
    (LOAD_CONST, 0),
    (STORE_FAST, 0),
    (LOAD_FAST, 0),
    (LOAD_CONST, 1),
    (LESS, 0),
    (JUMP_IF_FALSE, 11),
    (LOAD_FAST, 0),
    (LOAD_CONST, 2),
    (ADD, 0),
    (STORE_FAST, 0),
    (JUMP, 2),
    (LOAD_FAST, 0),
    (RETURN, 0),
]

SPACE = Space()
RESULT = Frame(SPACE, CODE, [W_Int(0), W_Int(20000), W_Int(1)], 1).run().value


def main(argv):
    return 0


def target(driver, args):
    return main, None
