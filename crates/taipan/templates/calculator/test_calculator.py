import pytest

from calculator import Calculator, CalculatorError


@pytest.mark.parametrize('text, expected', [
    ('1 + 2 * 3', 7.0),
    ('(1 + 2) * 3', 9.0),
    ('8 / 2 / 2', 2.0),
    ('2 ^ 3 ^ 2', 512.0),
    ('-2 ^ 2', -4.0),
    ('.5 + 1.', 1.5),
])
def test_arithmetic(text, expected):
    assert Calculator().line(text) == expected


def test_variables():
    calculator = Calculator()
    assert calculator.line('radius = 2') == 2.0
    assert calculator.line('radius * radius') == 4.0


@pytest.mark.parametrize('text, message, position', [
    ('1 +', 'a number is expected', 3),
    ('(1', 'a closing parenthesis is expected', 2),
    ('1 2', 'an operator or the end is expected', 2),
    ('x', 'there is no variable x', 0),
    ('1 / 0', 'division by zero', 2),
    ('2 = 3', 'a variable is set', 0),
])
def test_errors(text, message, position):
    with pytest.raises(CalculatorError) as info:
        Calculator().line(text)
    assert info.value.message == message
    assert info.value.position == position
