"""`/` of integers as `from __future__ import division` has it: `taipan_prelude.rmodel`."""
from __future__ import division

from hidden import number


def divided(x, y):
    try:
        return x / y
    except ZeroDivisionError:
        return -1.0

def test_division_of_integers():
    assert divided(number(7), number(2)) == 3.5
    assert divided(number(-7), number(2)) == -3.5
    assert divided(number(1), number(0)) == -1.0
    assert number(7) // number(2) == 3
