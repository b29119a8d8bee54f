import unguarded as m

LEAST = -2 ** 63


def raises(exception, function, *args):
    try:
        result = function(*args)
    except exception:
        return
    raise AssertionError('%s%r gives %r' % (function.__name__, args, result))


for function in m.div, m.mod, m.quotient_and_rest, m.unsigned:
    raises(ZeroDivisionError, function, 100, 0)
raises(ZeroDivisionError, m.ratio, 1.0, 0.0)
assert (m.div(-7, 2), m.mod(-7, 2), m.quotient_and_rest(7, -2)) == (-4, 1, -4001)
raises(OverflowError, m.div, LEAST, -1)
raises(OverflowError, m.quotient_and_rest, LEAST, -1)
assert m.mod(LEAST, -1) == 0

assert m.item(-6) == 2
for n in 0, -8, 2 ** 62:
    raises(IndexError, m.item, n)
for n in -3, -1, 0, 2:
    assert m.item_of([1, 2, 3], n) == m.other_handler([1, 2, 3], n) == [1, 2, 3][n]
    assert m.char_of('abc', n) == m.wide_char_of('abc', n) == 'abc'[n]
    assert m.of_three(n) == [1, 2, 3][n] and m.of_range(3, n) == range(3)[n]
    changed, shorter = [1, 2, 3], [1, 2, 3]
    changed[n] = 7
    del shorter[n]
    assert m.set_item([1, 2, 3], n) == changed and m.del_item([1, 2, 3], n) == shorter
    assert m.pop_at([1, 2, 3], n) == [1, 2, 3][n] and m.of_bytes(n) == 5
for n in -2 ** 63, -4, 3, 2 ** 63 - 1:
    for function in m.item_of, m.set_item, m.del_item, m.pop_at, m.other_handler, m.handled:
        raises(IndexError, function, [1, 2, 3], n)
    for function in m.char_of, m.wide_char_of:
        raises(IndexError, function, 'abc', n)
    for function in m.of_three, m.of_bytes:
        raises(IndexError, function, n)
    raises(IndexError, m.of_range, 3, n)
    raises(IndexError, m.pop, [])
    assert m.caught_outside([1, 2, 3], n) == -1
assert m.caught_outside([1, 2, 3], -1) == -2
assert m.handled([1, 2, 3], 0) == -1

for a in 0, 1, 3, 5:
    for b in 0, 2, 3, 9:
        for length in 0, 1, 3:
            l = list(range(length))
            assert m.part('abc'[:length], a, b) == 'abc'[:length][a:b]
            assert m.parts(l, a, b) == l[a:b] and m.rests(l, a) == l[a:]
            shorter, changed, longer = l[:], l[:], l[:]
            del shorter[a:b]
            changed[a:b] = [1, 2]
            longer.insert(a, 9)
            assert m.del_slice(l, a, b) == shorter
            assert m.set_slice(l, a, b) == changed
            assert m.insert(l, a) == longer
raises(AssertionError, m.part, 'abc', -1, 2)

for n in -1, 256:
    raises(ValueError, m.char, n)
for n in -1, 0x110000:
    raises(ValueError, m.wide_char, n)
assert m.wide_char(0x10ffff) == chr(0x10ffff)
raises(MemoryError, m.times, [1, 2], 2 ** 62)
raises(MemoryError, m.times_text, 'ab', 2 ** 62)
raises(ValueError, m.left, 1, -1)
raises(ValueError, m.right, 1, -1)
assert m.left(3, 4) == 48 and m.right(-5, 100) == -1
for x in 2.0 ** 63, -1e300, float('inf'):
    raises(OverflowError, m.to_int, x)
raises(ValueError, m.to_int, float('nan'))
assert m.to_int(-2.0 ** 63) == LEAST and m.to_int(-1.75) == -1
raises(KeyError, m.value_of, {}, 'a')
for n in 0, 1, 3:
    raises(ValueError, m.pair, n)
raises(StopIteration, m.steps, 3)
