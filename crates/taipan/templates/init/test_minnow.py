import pytest

from compiler import compile
from interpreter import Frame, output, run
from lexer import MinnowError


def lines(source):
    output.keep = True
    output.lines = []
    function = compile(source)
    run(function, Frame(function))
    return output.lines


@pytest.mark.parametrize('source, expected', [
    ('print 1 + 2 * 3', '7'),
    ('print (1 + 2) * 3', '9'),
    ('print -7 / 2', '-4'),
    ('print "a" + 1', 'a1'),
    ('print 2 < 3', '1'),
    ('print "a" == "b"', '0'),
])
def test_expressions(source, expected):
    assert lines(source) == [expected]


def test_while():
    assert lines('let i = 0 while i < 3 { print i let i = i + 1 }') == ['0', '1', '2']


def test_functions():
    source = 'fn fib(n) { if n < 2 { return n } return fib(n - 1) + fib(n - 2) } print fib(10)'
    assert lines(source) == ['55']


@pytest.mark.parametrize('source, message', [
    ('print x', 'there is no variable x'),
    ('f(1)', 'there is no function f'),
    ('print 1 / 0', 'division by zero'),
    ('print 9223372036854775807 + 1', 'this number is too large'),
    ('print 1 < "a"', 'only numbers have an order'),
])
def test_mistakes(source, message):
    with pytest.raises(MinnowError) as info:
        lines(source)
    assert info.value.message == message
