"""Dictionaries: `taipan_prelude.rdict`. In RPython they keep the order of insertion, which
nothing here relies on; see test_rpython_dicts.py."""
from hidden import number, real, text, wide


def squares(n):
    d = {}
    for i in range(number(n)):
        d[i] = i * i
    return d

def test_empty():
    d = squares(0)
    assert len(d) == 0
    assert not d
    assert number(1) not in d
    assert d.get(number(1), -1) == -1
    assert d.keys() == []
    for key in d:
        assert False

def test_growth():
    d = squares(2000)
    assert len(d) == 2000
    for i in range(2000):
        assert d[i] == i * i
        assert -1 - i not in d

def item(d, key):
    try:
        return d[key]
    except KeyError:
        return -1

def deleted(d, key):
    try:
        del d[key]
    except KeyError:
        return False
    return True

def test_missing_keys():
    d = squares(3)
    assert item(d, number(2)) == 4
    assert item(d, number(3)) == -1
    assert not deleted(d, number(3))
    assert deleted(d, number(0))
    assert not deleted(d, number(0))
    assert item(d, number(0)) == -1
    assert len(d) == 2

def test_overwriting():
    d = squares(3)
    d[number(1)] = 10
    assert len(d) == 3
    assert d[1] == 10

def test_keys_that_collide():
    # The same place in every small table.
    d = {}
    for i in range(50):
        d[number(i) << 20] = i
    for i in range(50):
        assert d[i << 20] == i
    for i in range(0, 50, 2):
        del d[i << 20]
    for i in range(50):
        assert ((i << 20) in d) == (i % 2 == 1)
    for i in range(50):
        d[i << 20] = -i
    assert len(d) == 50
    for i in range(50):
        assert d[i << 20] == -i

def test_extreme_keys():
    biggest = number(0x7fffffffffffffff)
    smallest = -biggest - 1
    d = {biggest: 1, smallest: 2, 0: 3, -1: 4}
    assert d[biggest] == 1
    assert d[smallest] == 2
    assert d[number(-1)] == 4
    assert number(-2) not in d
    # The number that marks deleted entries.
    marker = number(-0x7a3bd1e5c94f2687)
    assert marker not in d
    d[marker] = 5
    assert d[marker] == 5
    assert marker + 1 not in d
    d[marker + 1] = 6
    del d[marker]
    assert marker not in d
    assert d[marker + 1] == 6

def test_deleting_and_adding_for_long():
    d = {}
    for i in range(5000):
        d[i] = i
        if i >= 10:
            del d[number(i - 10)]
    assert len(d) == 10
    for i in range(4990, 5000):
        assert d[i] == i

def test_deleting_everything_and_again():
    d = squares(100)
    for i in range(100):
        del d[number(i)]
    assert len(d) == 0
    assert d.values() == []
    for i in range(100):
        d[i] = -i
    assert len(d) == 100
    assert d[99] == -99

def test_deleting_the_last_ones():
    d = squares(20)
    for i in range(19, 4, -1):
        del d[number(i)]
    assert len(d) == 5
    d[number(7)] = 1
    assert len(d) == 6
    assert d[4] == 16 and d[7] == 1

def test_get_and_setdefault():
    d = squares(2)
    assert d.get(number(1), 5) == 1
    assert d.get(number(2), 5) == 5
    assert d.setdefault(number(1), 7) == 1
    assert d.setdefault(number(2), 7) == 7
    assert d[2] == 7
    assert len(d) == 3

def popped(d, key):
    try:
        return d.pop(key)
    except KeyError:
        return -1

def test_pop():
    d = squares(4)
    assert d.pop(number(2)) == 4
    assert popped(d, number(2)) == -1
    assert d.pop(number(2), -5) == -5
    assert d.pop(number(3), -5) == 9
    assert len(d) == 2
    assert popped(squares(0), number(0)) == -1

def nothing_to_pop(d):
    try:
        d.popitem()
    except KeyError:
        return True
    return False

def test_popitem():
    d = squares(30)
    seen = 0
    while d:
        key, value = d.popitem()
        assert value == key * key
        seen += key
    assert seen == 435
    assert nothing_to_pop(d)
    d[number(1)] = 2
    assert d.popitem() == (1, 2)

def test_clear():
    d = squares(50)
    d.clear()
    assert len(d) == 0
    assert number(3) not in d
    d[number(3)] = 1
    assert d.items() == [(3, 1)]

def test_copy():
    d = squares(10)
    del d[number(4)]
    e = d.copy()
    e[number(20)] = 1
    del e[number(0)]
    assert len(d) == 9 and len(e) == 9
    assert 0 in d and 20 not in d
    assert 4 not in e
    assert squares(0).copy().keys() == []

def test_update():
    d = squares(3)
    e = {2: -2, 5: -5}
    del e[number(5)]
    e[number(7)] = -7
    d.update(e)
    assert len(d) == 4
    assert d[0] == 0 and d[1] == 1 and d[2] == -2 and d[7] == -7
    d.update(d)
    assert len(d) == 4
    d.update(squares(0))
    assert len(d) == 4

def test_views():
    d = squares(5)
    del d[number(2)]
    assert sum_of(d.keys()) == 8
    assert sum_of(d.values()) == 26
    total = 0
    for key, value in d.items():
        assert value == key * key
        total += key
    assert total == 8
    total = 0
    for key, value in d.iteritems():
        total += value - key
    assert total == 18
    total = 0
    for key in d.iterkeys():
        total += key
    for value in d.itervalues():
        total += value
    assert total == 34

def sum_of(l):
    result = 0
    for n in l:
        result += n
    return result

def test_text_keys():
    d = {}
    for i in range(300):
        d['key %d' % number(i)] = i
    assert d[text('key 17')] == 17
    assert text('key 300') not in d
    d[text('')] = -1
    assert d[''] == -1
    del d[text('key 17')]
    assert 'key 17' not in d
    assert len(d) == 300
    # The hash of the empty text is that of no other one.
    assert text('\x00') not in d

def test_wide_text_keys():
    d = {wide(u'\u20ac'): 1, wide(u'a'): 2, wide(u''): 3}
    assert d[wide(u'\u20ac')] == 1
    assert d[wide(u'')] == 3
    assert wide(u'\u20ad') not in d

def test_none_as_key():
    d = {none_or_text(number(0)): 1, 'a': 2}
    assert d[none_or_text(number(0))] == 1
    assert d[none_or_text(number(1))] == 2
    del d[none_or_text(number(0))]
    assert none_or_text(number(0)) not in d
    assert len(d) == 1

def none_or_text(n):
    if n == 0:
        return None
    return 'a'

def test_character_keys():
    d = {}
    for c in text('mississippi'):
        d[c] = d.get(c, 0) + 1
    assert len(d) == 4
    assert d['s'] == 4 and d['i'] == 4 and d['p'] == 2 and d['m'] == 1

def test_float_keys():
    d = {real(0.0): 1, 1.5: 2, 1e300: 3}
    assert d[real(-0.0)] == 1
    assert d[real(1.5)] == 2
    assert real(1.25) not in d
    infinity = real(1e300) * 1e10
    d[infinity] = 4
    d[-infinity] = 5
    assert d[infinity] == 4 and d[-infinity] == 5

def test_tuple_keys():
    d = {}
    for i in range(20):
        for j in range(20):
            d[number(i), 'x' * j] = i * j
    assert len(d) == 400
    assert d[number(7), text('xxx')] == 21
    assert (number(20), text('')) not in d
    del d[number(7), text('xxx')]
    assert (7, 'xxx') not in d
    assert (7, 'xx') in d

class Key(object):
    pass

def test_instance_keys():
    keys = [Key() for i in range(100)]
    d = {}
    for i in range(100):
        d[keys[i]] = i
    for i in range(100):
        assert d[keys[i]] == i
    assert Key() not in d
    del d[keys[number(50)]]
    assert keys[50] not in d and keys[51] in d

def test_truth_values_as_keys():
    d = {number(1) == 1: 'yes', number(1) == 2: 'no'}
    assert len(d) == 2
    assert d[number(3) == 3] == 'yes'

PREBUILT = {'one': 1, 'two': 2, 'three': 3}
ADDRESSES = {Key: 'key', object: 'object'}
DELETED_FROM = {1: 1, 2: 2, 3: 3}

def test_prebuilt_dicts():
    assert PREBUILT[text('two')] == 2
    assert text('four') not in PREBUILT
    PREBUILT[text('four')] = 4
    total = 0
    for key in PREBUILT:
        total += PREBUILT[key]
    assert total == 10
    assert PREBUILT.pop(text('one')) == 1
    assert text('one') not in PREBUILT

def test_first_use_of_a_prebuilt_dict_takes_away():
    del DELETED_FROM[number(2)]
    assert number(2) not in DELETED_FROM
    assert DELETED_FROM[number(1)] + DELETED_FROM[number(3)] == 4

def test_classes_as_keys():
    cls = Key
    if number(1) == 2:
        cls = object
    assert ADDRESSES[cls] == 'key'


class Order(object):
    seen = ''

order = Order()

def noted(n):
    order.seen += str(n)
    return n

def test_values_of_a_display_come_before_their_keys():
    order.seen = ''
    d = {noted(1): noted(2), noted(3): noted(4)}
    assert order.seen == '2143'
    assert len(d) == 2 and d[1] == 2 and d[3] == 4
