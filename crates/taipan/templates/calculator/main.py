"""Minnow, a calculator. `taipan run . '2 * (3 + 4)'` evaluates its arguments, `taipan run` what is typed."""

import os

from calculator import Calculator, CalculatorError


def show(calculator, text):
    """Prints the value of a line; returns whether it has one."""
    try:
        value = calculator.line(text)
    except CalculatorError as e:
        os.write(2, text + '\n' + ' ' * e.position + '^ ' + e.message + '\n')
        return False
    print value
    return True


def read_line():
    """A line of standard input without its end; None at the end."""
    line = ''
    while True:
        c = os.read(0, 1)
        if c == '':
            if line == '':
                return None
            return line
        if c == '\n':
            return line
        line += c


def entry_point(argv):
    calculator = Calculator()
    good = True
    for text in argv[1:]:
        good = show(calculator, text) and good
    while len(argv) == 1:
        line = read_line()
        if line is None:
            break
        if line != '':
            good = show(calculator, line) and good
    if good:
        return 0
    return 1


def target(driver, args):
    return entry_point, None
