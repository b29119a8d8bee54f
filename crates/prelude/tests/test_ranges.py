"""range() and xrange(): `taipan_prelude.rrange`."""
from hidden import natural, number

BIGGEST = 0x7fffffffffffffff


def collected(start, stop):
    return [i for i in range(start, stop)]

def test_range():
    assert collected(number(2), number(5)) == [2, 3, 4]
    assert collected(number(5), number(2)) == []
    assert collected(number(-2), number(1)) == [-2, -1, 0]
    assert len(range(number(0))) == 0
    assert len(range(number(-3))) == 0

def test_steps():
    assert [i for i in range(number(0), 10, 3)] == [0, 3, 6, 9]
    assert [i for i in range(number(10), 0, -3)] == [10, 7, 4, 1]
    assert [i for i in range(number(0), -1, -1)] == [0]
    assert [i for i in range(number(0), 5, -1)] == []

def stepped(start, stop, step):
    result = []
    for i in range(start, stop, step):
        result.append(i)
    return result

def test_steps_that_vary():
    assert stepped(number(0), number(7), number(2)) == [0, 2, 4, 6]
    assert stepped(number(7), number(0), number(-2)) == [7, 5, 3, 1]
    assert stepped(number(0), number(0), number(1)) == []
    assert stepped(number(0), number(1), number(100)) == [0]

def no_step(step):
    try:
        stepped(0, 10, step)
    except ValueError:
        return True
    return False

def test_step_zero():
    assert no_step(number(0))
    assert not no_step(number(1))

def test_at_the_ends_of_integers():
    assert stepped(number(BIGGEST - 2), number(BIGGEST), number(2)) == [BIGGEST - 2]
    count = 0
    for i in range(number(BIGGEST - 3), BIGGEST):
        count += 1
    assert count == 3
    smallest = -BIGGEST - 1
    assert stepped(number(smallest + 2), number(smallest), number(-1)) == [
        smallest + 2, smallest + 1]

def item(l, i):
    try:
        return l[i]
    except IndexError:
        return -1000

def test_items():
    l = range(number(3), number(9))
    assert l[number(0)] == 3
    assert l[number(-1)] == 8
    assert item(l, number(5)) == 8
    assert item(l, number(6)) == -1000
    assert item(l, number(-7)) == -1000
    evens = range(number(0), 10, 2)
    assert evens[number(-2)] == 6
    assert item(evens, number(5)) == -1000

def test_contains():
    l = range(number(0), 20, 3)
    assert number(18) in l
    assert number(19) not in l
    assert number(-3) not in l
    assert number(21) not in l
    assert number(0) in l

def test_range_that_becomes_a_list():
    l = range(number(3))
    l.append(7)
    assert l == [0, 1, 2, 7]
    assert range(number(2)) + [5] == [0, 1, 5]

def test_truth():
    assert range(number(1))
    assert not range(number(0))

def test_xrange():
    total = 0
    for i in xrange(number(1), number(10), 4):
        total = total * 10 + i
    assert total == 159

def test_item_at_a_natural_index():
    assert item(range(number(2), 5), natural(2)) == 4
    assert item(range(number(2), 5), natural(3)) == -1000
