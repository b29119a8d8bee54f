"""What dictionaries do in RPython only: they keep the order of insertion, and there are
functions that know of it."""
from hidden import number, text, upto
from rpython.rlib import objectmodel
from rpython.rlib.objectmodel import r_dict


def keys_in_order(d):
    return ' '.join([str(key) for key in d.keys()])

def some():
    d = {}
    for i in upto(5):
        d[10 - i] = i
    return d

def test_order_of_insertion():
    d = some()
    assert keys_in_order(d) == '10 9 8 7 6'
    del d[number(9)]
    d[number(10)] = 7
    d[number(9)] = 8
    assert keys_in_order(d) == '10 8 7 6 9'

def test_order_outlives_growth():
    d = some()
    del d[number(8)]
    for i in range(100):
        d[100 + i] = i
    keys = d.keys()
    assert keys[0] == 10 and keys[1] == 9 and keys[2] == 7 and keys[3] == 6
    for i in range(100):
        assert keys[4 + i] == 100 + i

def test_popitem_takes_the_last():
    d = some()
    assert d.popitem() == (6, 4)
    del d[number(7)]
    assert d.popitem() == (8, 2)
    d[number(1)] = 1
    assert d.popitem() == (1, 1)

def test_copies_and_updates_keep_the_order():
    d = some()
    del d[number(8)]
    e = d.copy()
    assert keys_in_order(e) == '10 9 7 6'
    e.update({number(9): 0, number(3): 0, number(2): 0})
    assert keys_in_order(e) == '10 9 7 6 3 2'

def moved(d, key, last):
    try:
        objectmodel.move_to_end(d, key, last)
    except KeyError:
        return False
    return True

def test_move_to_end():
    d = some()
    assert moved(d, number(9), True)
    assert keys_in_order(d) == '10 8 7 6 9'
    assert moved(d, number(7), False)
    assert keys_in_order(d) == '7 10 8 6 9'
    assert moved(d, number(9), True)
    assert moved(d, number(7), False)
    assert keys_in_order(d) == '7 10 8 6 9'
    assert not moved(d, number(1), True)
    assert not moved(d, number(1), False)
    assert d[9] == 1 and d[7] == 3

def test_reversed_dict():
    d = some()
    del d[number(6)]
    del d[number(9)]
    seen = []
    for key in objectmodel.reversed_dict(d):
        seen.append(key)
    assert seen == [7, 8, 10]
    for key in objectmodel.reversed_dict({}):
        assert False

def test_functions_that_are_told_the_hash():
    d = {}
    for i in range(40):
        key = 'k%d' % number(i)
        h = objectmodel.compute_hash(key)
        objectmodel.setitem_with_hash(d, key, h, i)
    h = objectmodel.compute_hash(text('k7'))
    assert objectmodel.contains_with_hash(d, text('k7'), h)
    assert objectmodel.getitem_with_hash(d, text('k7'), h) == 7
    objectmodel.delitem_with_hash(d, text('k7'), h)
    assert not objectmodel.contains_with_hash(d, text('k7'), h)
    assert 'k7' not in d and len(d) == 39
    try:
        objectmodel.getitem_with_hash(d, text('k7'), h)
    except KeyError:
        pass
    else:
        assert False

def test_delitem_if_value_is():
    a, b = Value(), Value()
    d = {number(1): a}
    objectmodel.delitem_if_value_is(d, 1, b)
    assert 1 in d
    objectmodel.delitem_if_value_is(d, 2, a)
    assert len(d) == 1
    objectmodel.delitem_if_value_is(d, 1, a)
    assert 1 not in d

class Value(object):
    pass

def test_iterkeys_with_hash():
    d = {text('a'): 1, 'b': 2}
    for key, h in objectmodel.iterkeys_with_hash(d):
        assert h == objectmodel.compute_hash(key)
    for key, value, h in objectmodel.iteritems_with_hash(d):
        assert d[key] == value
        assert h == objectmodel.compute_hash(key)

def test_prepare_dict_update():
    d = {}
    objectmodel.prepare_dict_update(d, number(1000))
    for i in range(1000):
        d[i] = i
    objectmodel.prepare_dict_update(d, number(1))
    assert len(d) == 1000
    assert d[999] == 999

def same_parity(a, b):
    return (a - b) % 2 == 0

def parity(a):
    return a % 2

def test_r_dict():
    d = r_dict(same_parity, parity)
    d[number(3)] = 'odd'
    d[number(5)] = 'odd again'
    assert len(d) == 1
    assert d[number(-1)] == 'odd again'
    assert number(4) not in d
    assert d.keys() == [3]
    del d[number(1)]
    assert len(d) == 0

class Emptying(object):
    """Compares its keys, and empties the dict if it is told to."""
    def __init__(self):
        self.emptied = None

emptying = Emptying()

def compared(a, b):
    d = emptying.emptied
    if d is not None:
        emptying.emptied = None
        d.clear()
    return a == b

def same_hash(a):
    return 5

def test_comparison_that_empties_the_dict():
    d = r_dict(compared, same_hash, force_non_null=True)
    d[text('a')] = 1
    d[text('b')] = 2
    emptying.emptied = d
    assert text('c') not in d
    assert len(d) == 0
    d[text('a')] = 3
    emptying.emptied = d
    d[text('d')] = 4
    assert len(d) == 1
    assert d['d'] == 4

class ByParity(object):
    def __init__(self, modulus):
        self.modulus = modulus

    def same(self, a, b):
        return (a - b) % self.modulus == 0

    def hash(self, a):
        return a % self.modulus

def test_r_dict_of_methods():
    by = ByParity(number(3))
    d = r_dict(by.same, by.hash)
    d[number(1)] = 'one'
    d[number(4)] = 'four'
    d[number(2)] = 'two'
    assert len(d) == 2
    assert d[number(7)] == 'four'
    e = d.copy()
    e[number(10)] = 'ten'
    assert d[1] == 'four' and e[1] == 'ten'
    assert number(0) not in e
