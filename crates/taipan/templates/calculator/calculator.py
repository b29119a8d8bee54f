"""Evaluates arithmetic: numbers, + - * / ^, parentheses, and names of variables."""

import math


class CalculatorError(Exception):
    def __init__(self, message, position):
        self.message = message
        self.position = position


class Calculator(object):
    """The variables, and the text that is being evaluated.

        sum    = product {('+' | '-') product}
        product = power {('*' | '/') power}
        power  = ['-'] atom ['^' power]
        atom   = number | name | '(' sum ')'
    """

    def __init__(self):
        self.variables = {'pi': math.pi, 'e': math.e}
        self.text = ''
        self.position = 0

    def line(self, text):
        """The value of a line, which may set a variable: `x = 2 * pi`."""
        equals = text.find('=')
        self.text = text
        self.position = 0
        if equals < 0:
            return self.everything()
        name = text[:equals].strip(' ')
        if not is_name(name):
            raise CalculatorError('a variable is set', 0)
        self.position = equals + 1
        value = self.everything()
        self.variables[name] = value
        return value

    def everything(self):
        value = self.sum()
        if self.peek() != '\0':
            raise CalculatorError('an operator or the end is expected', self.position)
        return value

    def sum(self):
        value = self.product()
        while True:
            operator = self.peek()
            if operator == '+':
                self.position += 1
                value += self.product()
            elif operator == '-':
                self.position += 1
                value -= self.product()
            else:
                return value

    def product(self):
        value = self.power()
        while True:
            operator = self.peek()
            at = self.position
            if operator == '*':
                self.position += 1
                value *= self.power()
            elif operator == '/':
                self.position += 1
                divisor = self.power()
                if divisor == 0.0:
                    raise CalculatorError('division by zero', at)
                value /= divisor
            else:
                return value

    def power(self):
        if self.peek() == '-':
            self.position += 1
            return -self.power()
        value = self.atom()
        at = self.position
        if self.peek() == '^':
            self.position += 1
            try:
                return math.pow(value, self.power())
            except (OverflowError, ValueError):
                raise CalculatorError('no such power', at)
        return value

    def atom(self):
        c = self.peek()
        at = self.position
        if c == '(':
            self.position += 1
            value = self.sum()
            if self.peek() != ')':
                raise CalculatorError('a closing parenthesis is expected', self.position)
            self.position += 1
            return value
        end = at
        while end < len(self.text) and is_part(self.text[end]):
            end += 1
        word = self.text[at:end]
        self.position = end
        if is_name(word):
            if word not in self.variables:
                raise CalculatorError('there is no variable ' + word, at)
            return self.variables[word]
        try:
            return float(word)
        except ValueError:
            raise CalculatorError('a number is expected', at)

    def peek(self):
        """The next character that is no space; '\\0' at the end."""
        while self.position < len(self.text) and self.text[self.position] == ' ':
            self.position += 1
        if self.position == len(self.text):
            return '\0'
        return self.text[self.position]


def is_part(c):
    return c.isalnum() or c == '.' or c == '_'


def is_name(word):
    if not word or word[0].isdigit() or word[0] == '.':
        return False
    for c in word:
        if not is_part(c) or c == '.':
            return False
    return True
