"""From the trees of `sre_parse` to the code of `_code`."""
from rpython.rlib.rsre.rpy.sre_constants import error
from rpython.rlib.rsre.rsre_char import getlower
from rpython.rlib.rsre._code import *
from rpython.rlib.rsre.rsre_constants import *


class Compiler(object):
    def __init__(self, flags):
        self.flags = flags
        self.ignore = bool(flags & SRE_FLAG_IGNORECASE)
        self.code = []
        self.registers = 0

    def emit(self, *numbers):
        """Appends numbers; answers the place of the last one."""
        self.code.extend(numbers)
        return len(self.code) - 1

    def here(self, place):
        """The place gets the target that follows."""
        self.code[place] = len(self.code)

    def compile(self, tree):
        getattr(self, 'compile_' + tree[0])(tree)

    def compile_sequence(self, tree):
        for item in tree[1]:
            self.compile(item)

    def compile_literal(self, tree):
        if self.ignore:
            self.emit(OP_LITERAL_IGNORE, getlower(tree[1], self.flags))
        else:
            self.emit(OP_LITERAL, tree[1])

    def compile_any(self, tree):
        if self.flags & SRE_FLAG_DOTALL:
            self.emit(OP_ANY_ALL)
        else:
            self.emit(OP_ANY)

    def compile_in(self, tree):
        _, negate, items = tree
        if len(items) == 1 and items[0][0] == 0 and items[0][1] == items[0][2]:
            if not negate:
                self.compile_literal(('literal', items[0][1]))
            elif self.ignore:
                self.emit(OP_NOT_LITERAL_IGNORE, getlower(items[0][1], self.flags))
            else:
                self.emit(OP_NOT_LITERAL, items[0][1])
            return
        opcode = OP_IN_IGNORE if self.ignore else OP_IN
        self.emit(opcode, 4 + 3 * len(items), int(negate), len(items))
        for item in items:
            self.emit(*item)

    def compile_at(self, tree):
        self.emit(OP_AT, tree[1])

    def compile_ref(self, tree):
        self.emit(OP_GROUPREF_IGNORE if self.ignore else OP_GROUPREF, tree[1])

    def compile_group(self, tree):
        self.emit(OP_MARK, 2 * tree[1] - 2)
        self.compile(tree[2])
        self.emit(OP_MARK, 2 * tree[1] - 1)

    def compile_branch(self, tree):
        ends = []
        for item in tree[1][:-1]:
            second = self.split(True)
            self.compile(item)
            ends.append(self.emit(OP_JUMP, 0))
            self.here(second)
        self.compile(tree[1][-1])
        for end in ends:
            self.here(end)

    def split(self, inside_first):
        """Goes on here, first or second; answers the place of the other way's target."""
        at = len(self.code)
        if inside_first:
            self.emit(OP_SPLIT, at + 3, 0)
            return at + 2
        self.emit(OP_SPLIT, 0, at + 3)
        return at + 1

    def compile_repeat(self, tree):
        _, least, most, greedy, item = tree
        if self.is_simple(item):
            opcode = OP_REPEAT_ONE if greedy else OP_MIN_REPEAT_ONE
            following = self.emit(opcode, least, most, 0)
            self.compile(item)
            self.here(following)
            return
        for _ in range(least):
            self.compile(item)
        if most == MAXREPEAT:
            register = self.registers
            self.registers += 1
            start = len(self.code)
            out = self.split(greedy)
            self.emit(OP_LOOP_START, register)
            self.compile(item)
            check = self.emit(OP_LOOP_CHECK, register, 0)
            self.emit(OP_JUMP, start)
            self.here(out)
            self.here(check)
            return
        outs = []
        for _ in range(most - least):
            outs.append(self.split(greedy))
            self.compile(item)
        for out in outs:
            self.here(out)

    def is_simple(self, item):
        """Whether it always takes one character."""
        if item[0] == 'sequence':
            return len(item[1]) == 1 and self.is_simple(item[1][0])
        return item[0] in ('literal', 'any', 'in')

    def compile_look(self, tree):
        _, ahead, negate, item = tree
        back = 0
        if not ahead:
            low, high = width(item)
            if low != high:
                raise error("look-behind requires fixed-width pattern")
            back = low
        following = self.emit(OP_ASSERT_NOT if negate else OP_ASSERT, back, 0)
        self.compile(item)
        self.emit(OP_SUCCESS)
        self.here(following)

    def compile_exists(self, tree):
        _, number, yes, no = tree
        otherwise = self.emit(OP_GROUPREF_EXISTS, number, 0)
        self.compile(yes)
        end = self.emit(OP_JUMP, 0)
        self.here(otherwise)
        self.compile(no)
        self.here(end)


def width(tree):
    """How many characters it takes, at least and at most."""
    kind = tree[0]
    if kind in ('literal', 'any', 'in'):
        return 1, 1
    if kind in ('at', 'look'):
        return 0, 0
    if kind == 'sequence':
        widths = [width(item) for item in tree[1]]
        return sum([low for low, _ in widths]), sum([high for _, high in widths])
    if kind in ('branch', 'exists'):
        items = tree[1] if kind == 'branch' else tree[2:]
        widths = [width(item) for item in items]
        return min([low for low, _ in widths]), max([high for _, high in widths])
    if kind == 'repeat':
        low, high = width(tree[4])
        return low * tree[1], high * tree[2]
    if kind == 'group':
        return width(tree[2])
    return 0, MAXREPEAT


def code_of(tree, flags):
    compiler = Compiler(flags)
    compiler.compile(tree)
    compiler.emit(OP_SUCCESS)
    return compiler.code
