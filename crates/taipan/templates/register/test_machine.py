import pytest

from machine import MachineError, assemble, run
from main import Output


def lines(text):
    output = Output()
    output.keeps = True
    run(assemble(text), output)
    return output.lines


def test_arithmetic():
    assert lines('set a 7\nset b 5\nsub c a b\nset d 3\nmul c c d\nprint c') == ['6']


def test_loop():
    program = '''
    set one 1
    set end 3
again:
    add i i one
    print i
    less more i end
    jump-if-zero more done    ; three rounds
    jump again
done:
'''
    assert lines(program) == ['1', '2', '3']


@pytest.mark.parametrize('text, message, line', [
    ('set a', 'set has the wrong number of arguments', 1),
    ('set a 1\nhop', 'there is no instruction hop', 2),
    ('set a x', 'a number is expected', 1),
    ('jump nowhere', 'there is no label nowhere', 1),
])
def test_errors(text, message, line):
    with pytest.raises(MachineError) as info:
        lines(text)
    assert info.value.message == message
    assert info.value.line == line
