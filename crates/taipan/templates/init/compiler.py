"""From tokens to functions."""

from code import (CONSTANT, LOAD, STORE, ADD, SUB, MUL, DIV, MOD, EQ, NE, LT, LE, GT, GE,
                  JUMP, JUMP_IF_FALSE, CALL, PRINT, POP, RETURN, Function)
from lexer import tokenize, MinnowError, NUMBER, TEXT, NAME, SYMBOL, END
from values import Integer, Text

COMPARISONS = {'==': EQ, '!=': NE, '<': LT, '<=': LE, '>': GT, '>=': GE}
SUMS = {'+': ADD, '-': SUB}
PRODUCTS = {'*': MUL, '/': DIV, '%': MOD}


class Tokens(object):
    """The tokens of a program, and the place of the next one."""

    def __init__(self, source):
        self.tokens = tokenize(source)
        self.position = 0

    def peek(self):
        return self.tokens[self.position]

    def next(self):
        token = self.tokens[self.position]
        if token.kind != END:
            self.position += 1
        return token

    def at(self, symbol):
        token = self.peek()
        return token.kind == SYMBOL and token.text == symbol

    def accept(self, symbol):
        if self.at(symbol):
            self.next()
            return True
        return False

    def expect(self, symbol):
        if not self.accept(symbol):
            token = self.peek()
            raise MinnowError('expected %s, found %s' % (symbol, token.text), token.line)

    def expect_name(self):
        token = self.next()
        if token.kind != NAME:
            raise MinnowError('expected a name, found ' + token.text, token.line)
        return token


class Compiler(object):
    """Compiles the body of one function."""

    def __init__(self, tokens, functions, top):
        self.tokens = tokens
        self.functions = functions      # by name, of the whole program
        self.top = top                  # whether functions may be made here
        self.code = []
        self.lines = []
        self.constants = []
        self.called = []
        self.slots = {}

    def emit(self, instruction, argument=0):
        self.code.append(instruction)
        self.code.append(argument)
        self.lines.append(self.tokens.peek().line)
        return len(self.code) - 1       # where the argument stands

    def constant(self, value):
        self.constants.append(value)
        self.emit(CONSTANT, len(self.constants) - 1)

    def jump_here(self, place):
        self.code[place] = len(self.code)

    def finish(self, function):
        self.constant(Integer(0))
        self.emit(RETURN)
        function.finish(self.code, self.lines, self.constants, self.called, len(self.slots))

    # Statements

    def block(self):
        self.tokens.expect('{')
        while not self.tokens.accept('}'):
            self.statement()

    def statement(self):
        tokens = self.tokens
        if tokens.accept('fn'):
            self.function()
        elif tokens.accept('let'):
            name = tokens.expect_name().text
            tokens.expect('=')
            self.expression()
            if name not in self.slots:
                self.slots[name] = len(self.slots)
            self.emit(STORE, self.slots[name])
        elif tokens.accept('print'):
            self.expression()
            self.emit(PRINT)
        elif tokens.accept('return'):
            self.expression()
            self.emit(RETURN)
        elif tokens.accept('if'):
            self.expression()
            otherwise = self.emit(JUMP_IF_FALSE)
            self.block()
            if tokens.accept('else'):
                end = self.emit(JUMP)
                self.jump_here(otherwise)
                self.block()
                self.jump_here(end)
            else:
                self.jump_here(otherwise)
        elif tokens.accept('while'):
            start = len(self.code)
            self.expression()
            end = self.emit(JUMP_IF_FALSE)
            self.block()
            self.emit(JUMP, start)
            self.jump_here(end)
        else:
            self.expression()
            self.emit(POP)

    def function(self):
        name = self.tokens.expect_name()
        if not self.top:
            raise MinnowError('functions are made at the top level', name.line)
        inner = Compiler(self.tokens, self.functions, False)
        self.tokens.expect('(')
        while not self.tokens.accept(')'):
            parameter = self.tokens.expect_name().text
            inner.slots[parameter] = len(inner.slots)
            if not self.tokens.at(')'):
                self.tokens.expect(',')
        function = Function(name.text, len(inner.slots))
        self.functions[name.text] = function
        inner.block()
        inner.finish(function)

    # Expressions

    def expression(self):
        self.sum()
        token = self.tokens.peek()
        while token.kind == SYMBOL and token.text in COMPARISONS:
            self.tokens.next()
            self.sum()
            self.emit(COMPARISONS[token.text])
            token = self.tokens.peek()

    def sum(self):
        self.product()
        token = self.tokens.peek()
        while token.kind == SYMBOL and token.text in SUMS:
            self.tokens.next()
            self.product()
            self.emit(SUMS[token.text])
            token = self.tokens.peek()

    def product(self):
        self.atom()
        token = self.tokens.peek()
        while token.kind == SYMBOL and token.text in PRODUCTS:
            self.tokens.next()
            self.atom()
            self.emit(PRODUCTS[token.text])
            token = self.tokens.peek()

    def atom(self):
        token = self.tokens.next()
        if token.kind == NUMBER:
            try:
                number = int(token.text)
            except ValueError:
                raise MinnowError('this number is too large', token.line)
            self.constant(Integer(number))
        elif token.kind == TEXT:
            self.constant(Text(token.text))
        elif token.kind == NAME and self.tokens.accept('('):
            self.call(token)
        elif token.kind == NAME:
            if token.text not in self.slots:
                raise MinnowError('there is no variable ' + token.text, token.line)
            self.emit(LOAD, self.slots[token.text])
        elif token.kind == SYMBOL and token.text == '-':
            self.constant(Integer(0))
            self.atom()
            self.emit(SUB)
        elif token.kind == SYMBOL and token.text == '(':
            self.expression()
            self.tokens.expect(')')
        else:
            raise MinnowError('unexpected ' + token.text, token.line)

    def call(self, name):
        if name.text not in self.functions:
            raise MinnowError('there is no function ' + name.text, name.line)
        function = self.functions[name.text]
        count = 0
        while not self.tokens.accept(')'):
            self.expression()
            count += 1
            if not self.tokens.at(')'):
                self.tokens.expect(',')
        if count != function.parameters:
            raise MinnowError('%s takes %d arguments' % (name.text, function.parameters), name.line)
        self.called.append(function)
        self.emit(CALL, len(self.called) - 1)


def compile(source):
    """The function that runs a whole program."""
    tokens = Tokens(source)
    compiler = Compiler(tokens, {}, True)
    while tokens.peek().kind != END:
        compiler.statement()
    function = Function('program', 0)
    compiler.finish(function)
    return function
