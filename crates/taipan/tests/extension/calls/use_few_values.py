import values

for i in range(20):
    assert values.text('x' * i) == 'x' * (2 * i)
    assert values.words('a b c') == ['a', 'b', 'c']
    assert values.count(['a', 'b', 'a', str(i)]) == {'a': 2, 'b': 1, str(i): 1}
    assert values.pair((3, 'x'), True) == ('x', -3, -1.5)
    assert values.nested({'a': [(i, 'x'), (2, None)], 'b': []}) == {'a': [(i, 'x')], 'b': []}
    assert values.matrix(5) == [[k * j for j in range(5)] for k in range(5)]
    assert values.grown([1] * i) == [1] * i + [i]
    assert values.inverted({1: 'x', -5: 'y'}) == {'x': 1, 'y': -5}
    assert values.wide('a€') == '€€'
    try:
        values.text(3)
    except TypeError:
        pass
