"""Runs functions."""

from rpython.rlib.jit import JitDriver, hint, unroll_safe
from rpython.rlib.rarithmetic import ovfcheck
import os

from code import (CONSTANT, LOAD, STORE, ADD, SUB, MUL, DIV, MOD, EQ, NE, LT, LE, GT, GE,
                  JUMP, JUMP_IF_FALSE, CALL, PRINT, POP, RETURN, NAMES)
from lexer import MinnowError
from values import Integer, Text


def location(pc, function):
    return '%s:%d %s' % (function.name, function.lines[pc // 2], NAMES[function.code[pc]])


driver = JitDriver(greens=['pc', 'function'], reds=['frame'], virtualizables=['frame'],
                   get_printable_location=location)


class Frame(object):
    """The variables of a call, and what it computes with."""

    _virtualizable_ = ['slots[*]', 'stack[*]', 'depth']

    def __init__(self, function):
        self = hint(self, access_directly=True, fresh_virtualizable=True)
        self.slots = [None] * function.slots
        self.stack = [None] * function.depth
        self.depth = 0

    def push(self, value):
        depth = self.depth
        assert depth >= 0
        self.stack[depth] = value
        self.depth = depth + 1

    def pop(self):
        depth = self.depth - 1
        assert depth >= 0
        value = self.stack[depth]
        self.stack[depth] = None
        self.depth = depth
        return value


class Output(object):
    """Where `print` writes. Tests look at what has come here."""

    def __init__(self):
        self.lines = []
        self.keep = False

    def write(self, line):
        if self.keep:
            self.lines.append(line)
        else:
            os.write(1, line + '\n')


output = Output()


def arithmetic(instruction, left, right, line):
    if isinstance(left, Integer) and isinstance(right, Integer):
        a = left.number
        b = right.number
        try:
            if instruction == ADD:
                return Integer(ovfcheck(a + b))
            elif instruction == SUB:
                return Integer(ovfcheck(a - b))
            elif instruction == MUL:
                return Integer(ovfcheck(a * b))
        except OverflowError:
            raise MinnowError('this number is too large', line)
        if b == 0:
            raise MinnowError('division by zero', line)
        if b == -1:
            # The smallest number has no counterpart.
            return arithmetic(SUB, Integer(0), left, line) if instruction == DIV else Integer(0)
        if instruction == DIV:
            return Integer(a // b)
        return Integer(a % b)
    if instruction == ADD and isinstance(left, Text):
        return Text(left.string + right.text())
    raise MinnowError('this takes two numbers', line)


def compare(instruction, left, right, line):
    if instruction == EQ:
        return left.equals(right)
    if instruction == NE:
        return not left.equals(right)
    if not isinstance(left, Integer) or not isinstance(right, Integer):
        raise MinnowError('only numbers have an order', line)
    if instruction == LT:
        return left.number < right.number
    if instruction == LE:
        return left.number <= right.number
    if instruction == GT:
        return left.number > right.number
    return left.number >= right.number


@unroll_safe
def call(function, frame):
    inner = Frame(function)
    i = function.parameters - 1
    while i >= 0:
        inner.slots[i] = frame.pop()
        i -= 1
    return run(function, inner)


def run(function, frame):
    """The value that a function returns."""
    pc = 0
    while True:
        driver.jit_merge_point(pc=pc, function=function, frame=frame)
        instruction = function.code[pc]
        argument = function.code[pc + 1]
        line = function.lines[pc // 2]
        pc += 2
        if instruction == CONSTANT:
            frame.push(function.constants[argument])
        elif instruction == LOAD:
            value = frame.slots[argument]
            if value is None:
                raise MinnowError('this variable has no value yet', line)
            frame.push(value)
        elif instruction == STORE:
            frame.slots[argument] = frame.pop()
        elif ADD <= instruction <= MOD:
            right = frame.pop()
            left = frame.pop()
            frame.push(arithmetic(instruction, left, right, line))
        elif EQ <= instruction <= GE:
            right = frame.pop()
            left = frame.pop()
            frame.push(Integer(int(compare(instruction, left, right, line))))
        elif instruction == JUMP:
            if argument < pc:
                pc = argument
                driver.can_enter_jit(pc=pc, function=function, frame=frame)
            else:
                pc = argument
        elif instruction == JUMP_IF_FALSE:
            if not frame.pop().is_true():
                pc = argument
        elif instruction == CALL:
            frame.push(call(function.functions[argument], frame))
        elif instruction == PRINT:
            output.write(frame.pop().text())
        elif instruction == POP:
            frame.pop()
        else:
            assert instruction == RETURN
            return frame.pop()
