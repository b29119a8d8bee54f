"""Lists: `taipan_prelude.rlist`."""
from hidden import natural, number, text, upto


def test_item_at_negative_index():
    l = upto(5)
    assert l[number(-1)] == 4
    assert l[number(-5)] == 0
    l[number(-2)] = 30
    assert l == [0, 1, 2, 30, 4]

def missing(l, i):
    try:
        return l[i]
    except IndexError:
        return -1

def test_index_out_of_bounds():
    l = upto(3)
    assert missing(l, number(2)) == 2
    assert missing(l, number(3)) == -1
    assert missing(l, number(-3)) == 0
    assert missing(l, number(-4)) == -1
    assert missing(upto(0), number(0)) == -1
    assert missing(upto(0), number(-1)) == -1

def put(l, i, item):
    try:
        l[i] = item
    except IndexError:
        return False
    return True

def test_setting_out_of_bounds():
    l = upto(2)
    assert put(l, number(1), 7)
    assert not put(l, number(2), 8)
    assert put(l, number(-2), 9)
    assert not put(l, number(-3), 10)
    assert l == [9, 7]

def test_fixed_list():
    l = [number(3)] * number(4)
    l[number(-1)] = 5
    assert l[3] == 5 and l[0] == 3 and len(l) == 4
    assert missing(l, number(4)) == -1

def test_empty_lists_have_nothing_in_common():
    lists = [[] for i in range(number(3))]
    lists[0].append(1)
    lists[1].insert(natural(0), 2)
    lists[1].extend([3, 4])
    assert lists == [[1], [2, 3, 4], []]
    last = lists[2]
    last += [number(5)]
    del last[natural(0):]
    assert lists == [[1], [2, 3, 4], []]
    last.append(6)
    assert lists == [[1], [2, 3, 4], [6]]

def test_growth_and_shrinking():
    l = upto(0)
    for i in range(1000):
        l.append(i)
        assert len(l) == i + 1
        assert l[i] == i
    for i in range(1000):
        assert l[i] == i
    total = 0
    while l:
        total += l.pop()
    assert total == 499500
    assert len(l) == 0
    l.append(1)
    assert l == [1]

def test_pop():
    l = upto(6)
    assert l.pop() == 5
    assert l.pop(0) == 0
    assert l.pop(number(1)) == 2
    assert l.pop(number(-1)) == 4
    assert l.pop(number(-2)) == 1
    assert l == [3]

def popped(l):
    try:
        return l.pop()
    except IndexError:
        return -1

def popped_first(l):
    try:
        return l.pop(0)
    except IndexError:
        return -1

def popped_at(l, i):
    try:
        return l.pop(i)
    except IndexError:
        return -1

def test_pop_of_nothing():
    assert popped(upto(1)) == 0
    assert popped(upto(0)) == -1
    assert popped_first(upto(0)) == -1
    assert popped_at(upto(3), number(3)) == -1
    assert popped_at(upto(3), number(-4)) == -1
    assert popped_at(upto(3), number(-3)) == 0

def test_insert():
    l = upto(2)
    l.insert(0, 10)
    l.insert(natural(3), 20)
    l.insert(natural(1), 30)
    assert l == [10, 30, 0, 1, 20]
    for i in range(100):
        l.insert(0, i)
    assert len(l) == 105
    assert l[0] == 99 and l[99] == 0 and l[100] == 10

def test_delete_item():
    l = upto(4)
    del l[number(0)]
    del l[number(-1)]
    assert l == [1, 2]
    del l[1]
    assert l == [1]

def deleted(l, i):
    try:
        del l[i]
    except IndexError:
        return False
    return True

def test_delete_out_of_bounds():
    l = upto(2)
    assert not deleted(l, number(2))
    assert not deleted(l, number(-3))
    assert deleted(l, number(-2))
    assert l == [1]

def test_delete_slice():
    l = upto(10)
    del l[natural(8):]
    assert len(l) == 8
    del l[natural(1):natural(4)]
    assert l == [0, 4, 5, 6, 7]
    del l[natural(3):natural(100)]
    assert l == [0, 4, 5]
    del l[:-1]
    assert l == [5]
    del l[natural(1):natural(1)]
    assert l == [5]
    del l[:]
    assert l == []

def test_delete_much_gives_memory_back():
    l = upto(1000)
    del l[natural(10):natural(990)]
    assert len(l) == 20
    assert l[9] == 9 and l[10] == 990 and l[19] == 999
    for i in range(1000):
        l.append(i)
    assert len(l) == 1020 and l[20] == 0

def test_slices():
    l = upto(5)
    assert l[natural(2):] == [2, 3, 4]
    assert l[natural(1):natural(3)] == [1, 2]
    assert l[:natural(2)] == [0, 1]
    assert l[:-1] == [0, 1, 2, 3]
    assert l[:] == l
    l[:].append(5)
    assert len(l) == 5

def test_slices_past_the_end():
    l = upto(3)
    assert l[natural(1):natural(10)] == [1, 2]
    assert l[natural(3):] == []
    assert l[natural(3):natural(3)] == []
    assert l[natural(2):natural(1)] == []
    assert upto(0)[natural(0):] == []
    assert upto(0)[:natural(4)] == []

def test_set_slice():
    l = upto(5)
    l[natural(1):natural(3)] = [10, 20]
    assert l == [0, 10, 20, 3, 4]

def test_concatenation():
    assert upto(2) + upto(3) == [0, 1, 0, 1, 2]
    assert upto(0) + upto(0) == []
    l = upto(2)
    assert l + l == [0, 1, 0, 1]
    l += l
    assert l == [0, 1, 0, 1]
    l += upto(0)
    assert len(l) == 4

def test_extend_by_itself_grows():
    l = upto(3)
    for i in range(6):
        l.extend(l)
    assert len(l) == 192
    for i in range(192):
        assert l[i] == i % 3

def test_extend_by_string():
    l = ['a']
    l += text('bc')
    l += text('')
    l += text('xyz')[natural(1):natural(3)]
    assert ''.join(l) == 'abcyz'
    l += 'z' * number(3)
    l += 'q' * number(-1)
    assert ''.join(l) == 'abcyzzzz'

def test_multiplication():
    assert upto(2) * number(3) == [0, 1, 0, 1, 0, 1]
    assert upto(2) * number(0) == []
    assert upto(2) * number(-1) == []
    assert upto(0) * number(5) == []
    assert [number(7)] * number(3) == [7, 7, 7]
    l = upto(2)
    l *= number(3)
    l.append(9)
    assert l == [0, 1, 0, 1, 0, 1, 9]
    l *= number(0)
    assert l == []

def repeated(n):
    return [0, 1] * n

def too_long(n):
    try:
        # In RPython calls raise this, but no operation by itself does.
        return len(repeated(n))
    except MemoryError:
        return -1

def test_multiplication_that_does_not_fit():
    assert too_long(number(2)) == 4
    assert too_long(number(0x7fffffffffffffff)) == -1
    assert too_long(number(1 << 62)) == -1

def test_reverse():
    l = upto(0)
    l.reverse()
    assert l == []
    l = upto(1)
    l.reverse()
    assert l == [0]
    l = upto(4)
    l.reverse()
    assert l == [3, 2, 1, 0]
    l = upto(5)
    l.reverse()
    assert l == [4, 3, 2, 1, 0]

def index_of(l, item):
    try:
        return l.index(item)
    except ValueError:
        return -1

def removed(l, item):
    try:
        l.remove(item)
    except ValueError:
        return False
    return True

def test_search():
    l = [number(3), 1, 3, 2]
    assert index_of(l, number(3)) == 0
    assert index_of(l, number(2)) == 3
    assert index_of(l, number(4)) == -1
    assert number(1) in l
    assert number(4) not in l
    assert number(4) not in upto(0)
    assert l.count(number(3)) == 2
    assert l.count(number(5)) == 0
    assert removed(l, number(3))
    assert l == [1, 3, 2]
    assert not removed(l, number(7))

def test_search_of_equal_texts():
    l = [text('a'), 'b' + text('c'), '']
    assert index_of_text(l, 'bc') == 1
    assert text('') in l
    assert text('b') not in l

def index_of_text(l, item):
    try:
        return l.index(item)
    except ValueError:
        return -1

def test_equality():
    assert upto(3) == [0, 1, 2]
    assert upto(3) != [0, 1]
    assert upto(3) != [0, 1, 3]
    assert upto(0) == []
    assert [upto(2), upto(0)] == [[0, 1], []]
    assert [upto(2), upto(0)] != [[0, 1], [0]]

def none_or_list(n):
    if n < 0:
        return None
    return upto(n)

def test_comparison_with_none():
    assert none_or_list(number(-1)) != none_or_list(number(0))
    assert none_or_list(number(0)) == none_or_list(number(0))
    assert not none_or_list(number(-1))
    assert not none_or_list(number(0))
    assert none_or_list(number(1))

def test_iteration():
    total = 0
    for i in upto(5):
        total = total * 10 + i
    assert total == 1234
    for i in upto(0):
        assert False
    total = 0
    for i, item in enumerate(upto(4)):
        assert i == item
        total += i
    assert total == 6
    total = 0
    for item in reversed(upto(4)):
        total = total * 10 + item
    assert total == 3210
    for item in reversed(upto(0)):
        assert False

def test_list_that_grows_while_it_is_walked():
    l = upto(3)
    seen = 0
    for i in l:
        seen += 1
        if len(l) < 20:
            l.append(i)
    assert seen == 20

def test_list_that_shrinks_while_it_is_walked():
    l = upto(6)
    seen = 0
    for i in l:
        seen += 1
        l.pop()
    assert seen == 3

def test_iterator_that_is_used_up():
    iterator = iter(upto(1))
    assert iterator.next() == 0
    for again in range(2):
        try:
            iterator.next()
        except StopIteration:
            pass
        else:
            assert False

def test_zip():
    pairs = zip(upto(3), [10, 20])
    assert len(pairs) == 2
    assert pairs[0] == (0, 10) and pairs[1] == (1, 20)
    assert zip(upto(0), [1]) == []

def test_text_of_a_list():
    assert str(upto(0)) == '[]'
    assert str(upto(1)) == '[0]'
    assert str(upto(3)) == '[0, 1, 2]'
    assert str([number(-5), 10]) == '[-5, 10]'

class Item(object):
    pass

def test_lists_of_nothing():
    l = [None] * number(3)
    l[number(1)] = Item()
    assert l[0] is None and l[1] is not None and l[2] is None
    l = [None] * number(-1)
    assert len(l) == 0

def test_item_at_a_natural_index():
    l = upto(3)
    assert missing(l, natural(2)) == 2
    assert missing(l, natural(3)) == -1
    assert put(l, natural(0), 5)
    assert not put(l, natural(3), 5)

def test_no_memory_for_a_product():
    l = [number(1)]
    try:
        n = len(l * number(1 << 60))
    except MemoryError:
        n = -1
    assert n == -1
    try:
        l.append(len([number(1)] * number(1 << 60)))
    except MemoryError:
        n = -2
    assert n == -2 and l == [1]

def test_finally_around_a_product_without_memory():
    l = [number(1)]
    try:
        try:
            l = l * number(1 << 60)
        finally:
            l.append(number(2))
    except MemoryError:
        l.append(number(3))
    assert l == [1, 2, 3]

def test_slices_beyond_the_end():
    for start in range(6):
        l = upto(3)
        assert len(l[start:]) == max(0, 3 - start)
        del l[start:]
        assert l == upto(min(start, 3))
        for stop in range(6):
            l = upto(3)
            assert len(l[start:stop]) == max(0, min(stop, 3) - start)
            del l[start:stop]
            assert len(l) == 3 - max(0, min(stop, 3) - start)
            l = upto(3)
            l[start:stop] = [7, 8]
            assert len(l) == 5 - max(0, min(stop, 3) - start)
            assert l[min(start, 3)] == 7 and l[min(start, 3) + 1] == 8
        l = upto(3)
        l.insert(natural(start), 9)
        assert len(l) == 4 and l[min(start, 3)] == 9
    empty = upto(0)
    assert empty[:-1] == []
    del empty[:-1]
    assert empty == []
