import pytest

from machine import MachineError, assemble, run
from main import Output


def lines(text):
    output = Output()
    output.keeps = True
    run(assemble(text), output)
    return output.lines


def test_arithmetic():
    assert lines('push 7\npush 5\nsub\npush 3\nmul\nprint') == ['6']


def test_loop():
    program = '''
again:
    load i
    push 1
    add
    store i
    load i
    print
    load i
    push 3
    less
    jump-if-zero end    ; three rounds
    jump again
end:
    stop
'''
    assert lines(program) == ['1', '2', '3']


@pytest.mark.parametrize('text, message, line', [
    ('push', 'push has the wrong number of arguments', 1),
    ('push 1\nhop', 'there is no instruction hop', 2),
    ('push x', 'a number is expected', 1),
    ('jump nowhere', 'there is no label nowhere', 1),
    ('add', 'the stack is empty', 0),
    ('a:\npush 1\njump a', 'the stack is full', 0),
])
def test_errors(text, message, line):
    with pytest.raises(MachineError) as info:
        lines(text)
    assert info.value.message == message
    assert info.value.line == line
